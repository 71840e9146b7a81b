/* SPDX-License-Identifier: MIT
 * Names of a script that a generated header or library can't have: refused here, at their place, instead of by the host's
 * compiler later. */
#include "runtime/program.h"

#include <string.h>

static bool is_taken(const char *name)
{
    static const char *const taken[] = {
#define TAKEN(name) name,
#include "runtime/taken_names.def"
#undef TAKEN
    };
    for (size_t i = 0; i < sizeof taken / sizeof *taken; i++)
        if (strcmp(taken[i], name) == 0)
            return true;
    return false;
}

static void refuse(halo_program *program, span where, const char *what, const char *name, const char *why)
{
    diag_add(&program->messages, DIAG_E0553, where, "%s can't be named `%s` in a library: %s", what, name, why);
    diag_help(&program->messages, "rename it; `run` takes any name");
}

/* `name` is `stem` and one of the endings that the header adds. */
static bool is_derived(const char *name, const char *stem, const char *const *endings)
{
    size_t n = strlen(stem);
    if (strncmp(name, stem, n) != 0)
        return false;
    for (; *endings; endings++)
        if (strcmp(name + n, *endings) == 0)
            return true;
    return false;
}

/* An input or output is an argument beside others: `params`, `part` and `exec`, and in NAME_needs (NAME_vulkan_inputs) each input's
 * INPUT_part; for Vulkan `made` and what is recorded with. */
static void check_image(halo_program *program, const tensor_pipe *pipe, const char *name, span where, const char *what)
{
    static const char *const of_processor[] = {"params", "part", "exec", NULL}, *const endings[] = {"_part", NULL},
                      *const of_vulkan[] = {"params", "part", "made", "commands", "slice", "resources", "needs", NULL};
    bool vulkan = program_for_vulkan(program);
    if (is_taken(name))
        refuse(program, where, what, name, "C or C++ has that word");
    for (const char *const *argument = vulkan ? of_vulkan : of_processor; *argument; argument++)
        if (strcmp(name, *argument) == 0)
            refuse(program, where, what, name, "another argument is called that");
    for (uint32_t i = 0; i < pipe->n_inputs; i++)
        if (is_derived(name, stage_at(pipe, i + 1)->name, endings))
            refuse(program, where, what, name, "another argument is called that");
}

static void check_pipe(halo_program *program, const tensor_pipe *pipe)
{
    if (is_taken(pipe->name))
        refuse(program, pipe->where, "a pipe", pipe->name, "C or C++ has that word");
    for (uint32_t i = 0; i < pipe->n_inputs; i++)
        check_image(program, pipe, stage_at(pipe, i + 1)->name, stage_at(pipe, i + 1)->where, "an input");
    for (uint32_t i = 0; i < pipe->params.count; i++)
        if (is_taken(pipe->params.items[i].name))
            refuse(program, pipe->params.items[i].where, "a parameter", pipe->params.items[i].name, "C or C++ has that word");
    for (uint32_t i = 0; i < pipe->outputs.count; i++) {
        const tensor_output *o = &pipe->outputs.items[i];
        check_image(program, pipe, o->name, stage_at(pipe, o->stage)->where, "an output");
        for (uint32_t k = 0; k < pipe->n_inputs; k++)
            if (strcmp(o->name, stage_at(pipe, k + 1)->name) == 0)
                refuse(program, pipe->where, "an output", o->name, "an input is called that");
    }
}

bool program_check_names(halo_program *program, tensor_pipe *const *pipes, uint32_t n_pipes)
{
    static const char *const of_processor[] = {"_part", "_needs", "_size", "_error", "_defaults", "_params", NULL};
    static const char *const of_vulkan[] = {"_vulkan", "_vulkan_create", "_vulkan_destroy", "_vulkan_missing", "_vulkan_size",
                                            "_vulkan_needs", "_vulkan_inputs", "_vulkan_record", "_vulkan_record_part", "_vulkan_error", "_defaults",
                                            "_params", NULL};
    const char *const *endings = program_for_vulkan(program) ? of_vulkan : of_processor;
    uint32_t before = program->messages.n_errors;
    for (uint32_t i = 0; i < n_pipes; i++) {
        check_pipe(program, pipes[i]);
        for (uint32_t k = 0; k < n_pipes; k++)
            if (is_derived(pipes[i]->name, pipes[k]->name, endings))
                refuse(program, pipes[i]->where, "a pipe", pipes[i]->name, "another pipe's functions have that name");
    }
    return program->messages.n_errors == before;
}
