/* SPDX-License-Identifier: MIT
 * The CPU backend as the layers above see it: a pipe's defined tensor IR in, machine code out. */
#ifndef HALO_BACKENDS_CPU_CPU_H
#define HALO_BACKENDS_CPU_CPU_H

#include "halo/abi.h"
#include "lowering/tensor.h"

/* How an input or output lies in the host's memory. */
typedef enum cpu_layout { CPU_LAYOUT_interleaved, CPU_LAYOUT_planar, CPU_LAYOUT_bgra } cpu_layout;

/* Streaming stores: chosen by the driver from the pictures' sizes; always and never are for tests. `always` also reads copied rows
 * where they lie in pictures too narrow to gain from it. */
typedef enum cpu_stream { CPU_STREAM_chosen, CPU_STREAM_always, CPU_STREAM_never } cpu_stream;

/* A choice of the cost model that a measurement made better (choices.def): one line of a tuning file. */
#define CHOICE(word, operands, lowest, highest, meaning) CHOICE_##word,
typedef enum cpu_choice_kind {
#include "backends/cpu/choices.def"
    N_CHOICES
} cpu_choice_kind;
#undef CHOICE

typedef struct cpu_choice {
    cpu_choice_kind kind;
    const char *word, *name, *line;    /* its kind's word; a stage, "*", a pass or ""; all of it */
    int32_t     value, rows;           /* rows: of a tile, whose width is the value */
    span        where;
} cpu_choice;

/* The choices for one pipe on one processor, and what was measured, in words. */
typedef struct cpu_tuning { const char *pipe, *cpu, *measured; span where; const cpu_choice *choices; int n_choices; } cpu_tuning;

/* Test switches and targets. None but `strict` (of the pipe) changes a bit of any result. */
typedef struct cpu_options {
    const char *triple;                /* NULL: this machine's */
    const char *const *cpus;           /* names of processors, the plainest first; NULL: "native" for the JIT, x86-64-v3 else */
    int         n_cpus;
    const cpu_layout *layouts;         /* one per input, then per output; NULL: all interleaved */
    bool        no_fuse;               /* every stage is stored */
    bool        force_border;          /* every read goes through its border map */
    int32_t     tile_width, tile_rows; /* column block and strip height; 0: chosen */
    cpu_stream  stream;
    const cpu_tuning *tunings;         /* for any pipes and processors */
    int         n_tunings;
} cpu_options;

/* The name of the processor that "native" is. */
const char *cpu_native_name(arena *memory);

typedef enum cpu_text { CPU_TEXT_dispatch, CPU_TEXT_kernel, CPU_TEXT_llvm, CPU_TEXT_asm, CPU_TEXT_explain, CPU_TEXT_explain_json,
               CPU_TEXT_choices } cpu_text;      /* choices: the lines that a tuning file could have instead of what was chosen */

/* Everything below may be called from several threads on different pipes. Errors are added to `d` and give false/NULL. */

/* Any intermediate stage as text. The pipe must have been through passes_run. */
bool cpu_show(tensor_pipe *p, const cpu_options *options, cpu_text what, text *out, diags *d);

/* An object file (PIC, no dependency but a short list of memory functions); external symbols are those of the header:
 * NAME, NAME_part, NAME_needs, NAME_size, NAME_error, NAME_defaults. Several pipes may share one object. */
bool cpu_object(tensor_pipe **pipes, uint32_t n_pipes, const cpu_options *options, text *object, diags *d);
/* The same library as text: `what` is CPU_TEXT_llvm or CPU_TEXT_asm. */
bool cpu_library_text(tensor_pipe **pipes, uint32_t n_pipes, const cpu_options *options, cpu_text what, text *out, diags *d);
/* The C header that goes with it. */
void cpu_header(tensor_pipe **pipes, uint32_t n_pipes, const cpu_options *options, const char *file_name, text *out);

/* Code loaded into this process. Thread-safe once made. */
typedef struct cpu_code cpu_code;
cpu_code *cpu_load(tensor_pipe *p, const cpu_options *options, diags *d);
void      cpu_unload(cpu_code *code);
/* `params`: the struct that the header would declare (see lowering/params.h), or NULL for the defaults.
 * `part` may be NULL. *failed: the number of the check that failed when the code is HALO_ERROR_SIZE or _PARAMETER, else -1. */
int  cpu_run(const cpu_code *code, const halo_image *inputs, const void *params, const halo_image *outputs,
             const halo_part *part, const halo_exec *exec, int32_t *failed);
/* Fills outputs' extents (and dense strides when stride[0] is 0 on entry). */
int  cpu_size(const cpu_code *code, const halo_image *inputs, const void *params, halo_image *outputs, int32_t *failed);
/* Which part of each input a part of the outputs takes. */
int  cpu_needs(const cpu_code *code, const halo_image *inputs, const void *params, const halo_part *part, halo_part *needs, int32_t *failed);
/* What the driver runs (plan.h): for tests that count its calls. */
const struct haloi_code *cpu_code_entry(const cpu_code *code);

#endif
