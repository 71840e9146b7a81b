/* SPDX-License-Identifier: MIT
 * Halo at run time: compile a .pipe script, ask what it takes, run it on pictures in memory.
 *
 *   halo_program *program = halo_compile_file("unsharp.pipe", NULL);        script to machine code
 *   if (!halo_program_ok(program)) { char *text = halo_program_messages(program); ... halo_free(text); }
 *   halo_pipe *pipe = halo_program_pipe(program, 0);
 *   halo_arguments *arguments = halo_arguments_new(pipe);                   parameters, at their defaults
 *   double sigma = 2;
 *   halo_arguments_set(arguments, "sigma", &sigma, 1, &error);
 *   halo_image in = {pixels, {width, height, 1, 1, 1}, {3, 3 * width}};
 *   halo_image out = {result, {width, height, 1, 1, 1}, {3, 3 * width}};
 *   if (halo_run(pipe, &in, arguments, &out, NULL, NULL, &error) != HALO_OK) puts(error.text);
 *   halo_arguments_free(arguments);
 *   halo_program_free(program);
 *
 * Ownership. A program owns its pipes, signatures and diagnostics; they live until halo_program_free. What a function
 * returns as `char *` or `void *` is the caller's, for halo_free. Strings and images that are handed in are only read while
 * the call runs, and never kept.
 *
 * Threads. Any number of threads may run, size and describe pipes of one program at a time. Compiling, halo_show, halo_build
 * and freeing want the program for themselves. Different programs are independent. There is no global state.
 *
 * Errors. Nothing prints or exits. What is wrong with a script is in the program's diagnostics; what is wrong with a run is
 * in its halo_message. Where memory runs out, a function returns NULL or HALO_ERROR_MEMORY. */
#ifndef HALO_HALO_H
#define HALO_HALO_H

#include "halo/types.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct halo_program halo_program;      /* a compiled script */
typedef struct halo_pipe halo_pipe;            /* one pipe of a program, owned by it */
typedef struct halo_device halo_device;        /* a Vulkan device that Halo has opened */

/* ---- Vulkan devices -------------------------------------------------------------------------- */

/* What a device is and can do. Its strings live as long as the list, or the device, that it was asked of. */
typedef struct halo_device_info {
    const char *name, *driver;          /* "AMD Radeon RX 6800 (RADV NAVI21)", "radv Mesa 22.3.6" */
    const char *kind;                   /* "discrete", "integrated", "virtual", "cpu" or "other" */
    int32_t     api[3];                 /* version of Vulkan: major, minor, patch */
    uint64_t    memory_bytes;           /* of its own */
    uint64_t    buffer_bytes;           /* the most that is read or written of one picture at a time; larger ones are run in bands */
    uint32_t    shared_bytes, invocations;      /* the most of one workgroup: memory, invocations */
    uint32_t    workgroups;             /* the most of one dispatch in one dimension; larger pictures take several */
    int         storage_8bit, storage_16bit;    /* u8 and u16 are read and written as such, else by words */
    int         int64;                  /* 64-bit numbers; some pipes need them */
    int         timestamps;             /* the device's own time can be told */
    const char *missing;                /* what pipes need and it hasn't; NULL: nothing */
} halo_device_info;

/* All of this machine, in Vulkan's order, which may be none; for halo_devices_free. NULL: there is no Vulkan, see the message. The
 * loader of Vulkan is looked for when this, or halo_device_open, is called; nothing else needs it. */
typedef struct halo_devices halo_devices;
halo_devices *halo_devices_new(halo_message *error);
void          halo_devices_free(halo_devices *devices);                         /* NULL is fine */
size_t        halo_devices_count(const halo_devices *devices);
const halo_device_info *halo_devices_at(const halo_devices *devices, size_t which);   /* NULL beyond the last */

/* Start from {0}. Everything is copied. */
typedef struct halo_device_options {
    const char *name;                   /* a number in halo_devices's order, or a part of a name, in any case; NULL: the first
                                         * discrete one, or integrated, virtual, other, cpu */
    const char *cache_folder;           /* made if need be: compiled pipelines are kept here from process to process. NULL: not kept */

    /* For tests: none of these changes a bit of a result. 0: as the device has it. */
    int         no_storage_8bit, no_storage_16bit;
    int32_t     most_shared_bytes, most_invocations;      /* Vulkan guarantees 16384 and 128 */
    int32_t     most_workgroups, most_buffer_bytes;
    int         staging;                /* pictures take the way through staging buffers where the device shares the host's memory, too */
    /* Asks for Vulkan's validation layer: what it says comes here, on any thread that uses the device. NULL: no such layer. */
    void      (*validation)(void *user, const char *text);
    void       *validation_user;
} halo_device_options;

/* NULL: see the message. `options` may be NULL. Any number of threads may run pipes on one device. */
halo_device *halo_device_open(const halo_device_options *options, halo_message *error);
/* After the programs that were compiled for it are freed. NULL is fine. */
void         halo_device_close(halo_device *device);
const halo_device_info *halo_device_about(const halo_device *device);           /* with what the options hide taken off */

/* ---- compiling ------------------------------------------------------------------------------- */

/* What runs a pipe. All give the same bits but HALO_ENGINE_WRITTEN (where the pipe is strict, HALO_ENGINE_VULKAN being so always). */
typedef enum halo_engine {
    HALO_ENGINE_CPU,            /* machine code for this computer */
    HALO_ENGINE_VULKAN,         /* a Vulkan device; always strict arithmetic */
    HALO_ENGINE_INTERPRETER,    /* the reference interpreter on the defined IR: slow, the oracle */
    HALO_ENGINE_WRITTEN,        /* the interpreter on what the script says, in double precision */
    HALO_ENGINE_NONE            /* nothing: for signatures, texts and libraries */
} halo_engine;

/* When rows of outputs and stored intermediates are written past the caches: chosen from the pictures' sizes and the last
 * cache's at run time. */
typedef enum halo_stream { HALO_STREAM_CHOSEN, HALO_STREAM_ALWAYS, HALO_STREAM_NEVER } halo_stream;

/* Finds the text of `import "path"` written in the source called `from`. Returns bytes that stay alive until the compiling
 * call is done, their count, and the name to show (the same for the same file); NULL when there is no such file. */
typedef const char *halo_import(void *user, const char *from, const char *path, const char **name, size_t *n_bytes);

/* Start from {0}. Everything is copied. */
typedef struct halo_options {
    halo_engine engine;
    int         strict;                 /* no product is contracted with a sum, no f32 kernel is split into two passes */
    int         no_fma;                 /* only the first of these */
    const char *pipe;                   /* compile this one only; NULL: all of the script's own */
    halo_import *import;                /* NULL: files, relative to the importing one */
    void       *import_user;
    halo_device *device;                /* HALO_ENGINE_VULKAN: runs here. Has to outlive the program */
    int         for_vulkan;             /* what halo_show shows is on the way to Vulkan, and libraries are for it; so with
                                         * HALO_ENGINE_VULKAN. Tuning, processors and streaming are of the CPU */

    /* What halo_show and the halo_build functions aim at; layouts don't change how halo_run sees pictures. */
    const char *target;                 /* LLVM triple; NULL: this machine's */
    const char *const *cpus;            /* processors, the plainest first, or "native"; NULL: x86-64-v3 (to run and show: native). To
                                         * run, the first counts, and this machine has to be able to run its code */
    size_t      n_cpus;
    const char *const *layouts;         /* "src=planar", "out=bgra"; for Vulkan "src=sampled", "out=image" too */
    size_t      n_layouts;

    /* What `halo tune` found: the text of a tuning file, and its name for messages. NULL: none. Changes no bit of a result. */
    const char *tuning, *tuning_name;

    int         debug;                  /* SPIR-V keeps the names of values and the lines of the script */

    /* For tests: none of these changes a bit of a result. */
    const char *const *skip;            /* exact passes that are not run */
    size_t      n_skip;
    int         no_fuse;                /* every stage is stored */
    int         force_border;           /* every read goes through its border map */
    int32_t     tile_width, tile_rows;  /* column block and strip height; 0: chosen */
    halo_stream stream;                 /* when rows are stored past the caches */
    int         no_verify;              /* don't check the IR after every pass: for timing */
    int         reparse;                /* replace the IR by its reread text after every pass */
} halo_options;

/* Compile a file, or text in memory (`name` is shown in messages; imports of text are looked up relative to it). NULL only
 * when memory is out; else a program to be freed, whose diagnostics say whether it can be used. `options` may be NULL. */
halo_program *halo_compile_file(const char *path, const halo_options *options);
halo_program *halo_compile_text(const char *name, const char *text, size_t n_bytes, const halo_options *options);
/* The same for tensor IR as halo_show prints it: a program of one pipe. */
halo_program *halo_compile_ir(const char *name, const char *text, size_t n_bytes, const halo_options *options);
void          halo_program_free(halo_program *program);                        /* NULL is fine */

/* Only parses, and gives the script's canonical layout. NULL when it has errors; then *messages (may be NULL) is their text,
 * for halo_free, or NULL when memory is out. */
char *halo_format(const char *name, const char *text, size_t n_bytes, char **messages);

/* ---- diagnostics ----------------------------------------------------------------------------- */

typedef enum halo_severity { HALO_SEVERITY_ERROR, HALO_SEVERITY_WARNING, HALO_SEVERITY_NOTE } halo_severity;

typedef struct halo_diagnostic {
    halo_severity severity;
    const char   *code;                 /* "E0301" */
    const char   *file;                 /* "" when it has no place */
    uint32_t      line, column, end_line, end_column;      /* from 1, columns in characters, the end behind the last */
    const char   *message;              /* one line */
    const char *const *notes;           /* a fix starts with "help: " */
    size_t        n_notes;
} halo_diagnostic;

int    halo_program_ok(const halo_program *program);                            /* not NULL, and no errors */
size_t halo_program_diagnostic_count(const halo_program *program);
halo_diagnostic halo_program_diagnostic(const halo_program *program, size_t which);
/* All of them, for people (with the source lines) and for editors. "" and "[]" when there are none. */
char  *halo_program_messages(const halo_program *program);
char  *halo_program_messages_json(const halo_program *program);

/* ---- what a pipe takes and gives ------------------------------------------------------------- */

typedef struct halo_input {
    const char *name, *doc;             /* doc: NULL when there is none */
    const char *type;                   /* as written in a script: "image u8x3", "f32[256]" */
    halo_kind   kind;
    int32_t     lanes, rank;
    int         is_image;               /* declared `image` */
    const char *extents[HALO_MAX_RANK]; /* "256", a name, or "_" */
    int         has_range;              /* `in low..high`: values outside are clamped */
    double      low, high;
} halo_input;

typedef struct halo_parameter {
    const char *name, *doc, *type;
    halo_kind   kind;
    int32_t     lanes;
    int         has_default;
    double      value[HALO_MAX_LANES];  /* the default */
    int         has_range, half_open;   /* low..high, or low..<high */
    double      low, high;
} halo_parameter;

typedef struct halo_output {
    const char *name, *doc, *type;
    halo_kind   kind;
    int32_t     lanes, rank;
    int         is_image;
} halo_output;

typedef struct halo_signature {
    const char *name, *doc;
    int         strict;
    const halo_input     *inputs;      size_t n_inputs;        /* in the script's order */
    const halo_parameter *parameters;  size_t n_parameters;
    const halo_output    *outputs;     size_t n_outputs;
} halo_signature;

size_t     halo_program_pipe_count(const halo_program *program);               /* compiled ones; 0 after an error */
halo_pipe *halo_program_pipe(const halo_program *program, size_t which);       /* NULL beyond the last */
halo_pipe *halo_program_find_pipe(const halo_program *program, const char *name);
const halo_signature *halo_pipe_signature(const halo_pipe *pipe);

/* ---- parameters ------------------------------------------------------------------------------ */

/* Values for a pipe's parameters. One thread at a time; a run only reads it. */
typedef struct halo_arguments halo_arguments;

halo_arguments *halo_arguments_new(const halo_pipe *pipe);                      /* the defaults; NULL: out of memory */
void            halo_arguments_free(halo_arguments *arguments);                 /* NULL is fine */
/* Sets one by its name; one value goes to all components. Numbers that the type doesn't have, or outside the range, are
 * HALO_ERROR_PARAMETER with the range in the message, and change nothing. */
int halo_arguments_set(halo_arguments *arguments, const char *name, const double *values, size_t n_values, halo_message *error);
/* From text as in a script: "1.5", "true", "(0.2, 0.7, 0.1)"; the brackets may be left out. */
int halo_arguments_set_text(halo_arguments *arguments, const char *name, const char *text, halo_message *error);
/* From the struct that the pipe's generated header declares (`unsharp_params`). */
int halo_arguments_set_struct(halo_arguments *arguments, const void *params, halo_message *error);

/* ---- running --------------------------------------------------------------------------------- */

/* Fills the extents of every output (`outputs` has one per output), and dense strides where stride[0] is 0 on entry. Only the
 * extents of the inputs are read. `arguments` NULL: the defaults. */
int halo_size(const halo_pipe *pipe, const halo_image *inputs, const halo_arguments *arguments, halo_image *outputs,
              halo_message *error);

/* Runs the pipe. Images hold components of the kinds in the signature, pixels' components side by side; extents beyond the
 * rank are 1. `part` NULL: the whole outputs; else only that part of every output is written, in images that describe the
 * whole (HALO_ENGINE_CPU and HALO_ENGINE_VULKAN): pixels outside the part, and outside what halo_needs says, need not be there
 * in memory. `exec` NULL: on the calling thread. HALO_ENGINE_VULKAN asks `exec` for its cancelled and progress alone, a few times
 * a second. HALO_OK, or an error with a message that names what doesn't fit. */
int halo_run(const halo_pipe *pipe, const halo_image *inputs, const halo_arguments *arguments, const halo_image *outputs,
             const halo_part *part, const halo_exec *exec, halo_message *error);

/* The same in two steps, so that a device works while the host gets the next pictures: when halo_run_begin returns HALO_OK, the
 * inputs have been taken and *task is the run; halo_run_end waits, fills the outputs and frees the task, whatever it returns.
 * Several may be under way; each is ended once, on any thread, before the program is freed; `exec->user` stays until then. Other
 * engines than HALO_ENGINE_VULKAN do all in halo_run_begin. */
typedef struct halo_task halo_task;
/* Milliseconds. What an engine hasn't is 0. */
typedef struct halo_times {
    double pipelines;                   /* compiling the pipe's pipelines, once, with the program */
    double upload, device, download;    /* the inputs' way, the device's work by its own clock, the outputs' way */
} halo_times;
int halo_run_begin(const halo_pipe *pipe, const halo_image *inputs, const halo_arguments *arguments, const halo_image *outputs,
                   const halo_part *part, const halo_exec *exec, halo_task **task, halo_message *error);
int halo_run_end(halo_task *task, halo_times *times, halo_message *error);       /* `times` may be NULL */

/* Which part of each input a part of the outputs takes (one of `needs` per input; extents 0: nothing of it). Only
 * HALO_ENGINE_CPU and HALO_ENGINE_VULKAN, which may take more or less. */
int halo_needs(const halo_pipe *pipe, const halo_image *inputs, const halo_arguments *arguments, const halo_part *part,
               halo_part *needs, halo_message *error);

const char *halo_error_text(int code);                                          /* "sizes do not fit"; never NULL */

/* ---- a pool of threads, for hosts without one ------------------------------------------------ */

/* Nothing else in this library starts a thread. */
typedef struct halo_threads halo_threads;

halo_threads *halo_threads_new(int32_t n);          /* n threads work, the caller's being one; 0: one per processor. NULL: none to be had */
void          halo_threads_free(halo_threads *threads);                         /* NULL is fine */
int32_t       halo_threads_count(const halo_threads *threads);
/* parallel_for, workers and user are set, all else is 0; a copy may be completed as long as `user` stays. Calls from several
 * threads take turns. */
halo_exec     halo_threads_exec(halo_threads *threads);

/* ---- looking inside -------------------------------------------------------------------------- */

/* Stages on the way to machine code, all as text: "ast", "tensor", "dispatch", "kernel", "spirv", "llvm", "asm", and "explain",
 * "explain-json": what was fused, split and buffered, and why; "choices": lines for a tuning file. A row of {name, what it is} each; NULL beyond the last. */
const char *const *halo_stage_at(size_t which);

/* A pass over the tensor IR: name, "define" (may change rounding, always runs) or "exact" (keeps every bit), purpose. */
typedef struct halo_pass { const char *name, *kind, *purpose; } halo_pass;
halo_pass halo_pass_at(size_t which);                                           /* names are NULL beyond the last */

/* The text of a stage of one pipe. `after` (stage "tensor" only, else NULL): the IR after that pass, or "written" for the IR
 * before the first; NULL: after the last. NULL: see the message, or the program's diagnostics when the message is "". */
char *halo_show(halo_program *program, const halo_pipe *pipe, const char *stage, const char *after, halo_message *error);
/* The tensor IR of a pipe of halo_compile_ir after this one pass alone. */
char *halo_replay(halo_program *program, const halo_pipe *pipe, const char *pass, halo_message *error);
/* The IR after each pass that changed it, with headers that name the pass. */
char *halo_show_passes(halo_program *program, const halo_pipe *pipe, halo_message *error);

/* ---- libraries ------------------------------------------------------------------------------- */

/* An object file with all of the program's pipes (`pipe` NULL) or one, for options.target and .cpus. NULL as for halo_show. */
void *halo_build_object(halo_program *program, const halo_pipe *pipe, size_t *n_bytes, halo_message *error);
/* The same library as text: "llvm" or "asm". */
char *halo_build_text(halo_program *program, const halo_pipe *pipe, const char *stage, halo_message *error);
/* The C and C++ header that goes with it; `file_name` makes its include guard. */
char *halo_build_header(halo_program *program, const halo_pipe *pipe, const char *file_name, halo_message *error);
/* For Vulkan: the bare SPIR-V module of a pipe's kernel; no bytes (and not NULL) beyond the last. They are for devices with 8 and
 * 16-bit storage where the pipe has such pictures. */
void *halo_build_spirv(halo_program *program, const halo_pipe *pipe, size_t kernel, size_t *n_bytes, halo_message *error);
/* What running those modules takes: bindings, push constants, specialization constants, dispatches. `file_name`, "x.spv", is that of
 * the module of the only kernel; of several they are x.1.spv, x.2.spv ... */
char *halo_build_spirv_json(halo_program *program, const halo_pipe *pipe, const char *file_name, halo_message *error);

#ifdef __cplusplus
}
#endif
#endif
