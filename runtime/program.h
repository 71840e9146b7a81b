/* SPDX-License-Identifier: MIT
 * What a program is inside the facade. Everything that compiles hangs from the program's arena; compiling calls run under
 * program_guard, which turns a failed allocation anywhere below into HALO_ERROR_MEMORY. */
#ifndef HALO_RUNTIME_PROGRAM_H
#define HALO_RUNTIME_PROGRAM_H

#include "backends/cpu/cpu.h"
#include "frontend/frontend.h"
#include "halo/halo.h"
#include "lowering/pass.h"
#include "runtime/message.h"
#include "runtime/vulkan.h"

struct halo_pipe {
    halo_program  *program;
    uint32_t       which;            /* of the script's own pipes */
    tensor_pipe   *ir;               /* for the program's engine */
    cpu_code      *code;             /* HALO_ENGINE_CPU */
    vulkan_pipe   *vulkan;           /* HALO_ENGINE_VULKAN */
    halo_signature signature;
};

struct halo_program {
    arena       *memory;
    interner    *names;
    diags        messages;
    halo_options options;            /* a deep copy */
    cpu_tuning  *tunings;
    int          n_tunings;
    script      *script;             /* or, for IR: NULL and the source's index */
    uint32_t     ir_source;
    halo_pipe   *pipes;
    uint32_t     n_pipes;
    void        *pending;            /* malloc'ed, freed when an allocation of the arena fails meanwhile */
};

/* Runs body(program, user), false when memory ran out. */
bool program_guard(halo_program *program, void (*body)(halo_program *program, void *user), void *user);

/* Below: only inside program_guard. */

void import_options(halo_program *program, const halo_options *options);
/* The look-up for import_lookup, `user` being the program. */
const char *import_file(void *user, const char *from, const char *path, const char **name, size_t *n_bytes);

/* A fresh copy of a pipe's IR as written; NULL with diagnostics. */
tensor_pipe *program_lower(halo_program *program, uint32_t which);
/* From passes.def by the program's options; false with diagnostics. */
bool program_pass_options(halo_program *program, pass_options *options);
/* The same IR after the passes; `options` may be NULL for the program's own. `cpu`: aimed at when the options name none. */
bool program_run_passes(halo_program *program, tensor_pipe **pipe, const pass_options *options, const char *cpu);

/* tuning.c: the text of options.tuning into program->tunings, and a look at the pipes' names; wrong lines are diagnostics. */
void tuning_read(halo_program *program);
void tuning_check_pipes(halo_program *program, const char *const *names, uint32_t n_names);
/* The name of a processor that is aimed at; `cpu` stands for all when the options name none. */
const char *tuning_processor(const halo_program *program, size_t which, const char *cpu);
/* Adds the passes to skip for a pipe: those that all processors aimed at are better off without. */
void tuning_skips(halo_program *program, const char *pipe, const char *cpu, bool *skip);

/* layouts.c: VPLAN_LAYOUT_ numbers, one per input, then per output; NULL when the options name none. False with diagnostics. */
bool program_layouts(halo_program *program, const tensor_pipe *pipe, const int32_t **layouts);
/* The backend's options for one pipe; false with diagnostics (a layout of something that the pipe doesn't have). */
bool program_cpu_options(halo_program *program, const tensor_pipe *pipe, cpu_options *options);
bool program_vulkan_options(halo_program *program, const tensor_pipe *pipe, vulkan_options *options);

/* vulkan_pipe.c. Whether texts, libraries and runs are Vulkan's; and what that means for passes. */
bool program_for_vulkan(const halo_program *program);
void vulkan_skips(bool *skip);
/* NULL with diagnostics. */
vulkan_pipe *vulkan_pipe_new(halo_program *program, tensor_pipe *ir, const halo_signature *signature);
void         vulkan_pipe_free(vulkan_pipe *v);

/* Whether C and C++ can have the names of the pipes, their pictures and parameters; false with diagnostics. */
bool program_check_names(halo_program *program, tensor_pipe *const *pipes, uint32_t n_pipes);

void describe_pipe(arena *memory, const tensor_pipe *ir, halo_signature *signature);

/* For runs: bits of all parameters, checked; `bits` has one row per parameter. */
bool arguments_bits(const halo_pipe *pipe, const halo_arguments *arguments, uint32_t (*bits)[TENSOR_MAX_LANES], halo_message *error);

#endif
