/* SPDX-License-Identifier: MIT
 * Objects and headers of the ahead-of-time library, and the backend's options from the program's. */
#include "runtime/program.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* ---- options of the backend -------------------------------------------------------------------- */

static bool parse_layout(const char *name, cpu_layout *layout)
{
    static const char *const names[] = {"interleaved", "planar", "bgra"};
    for (int i = 0; i < 3; i++)
        if (strcmp(name, names[i]) == 0) {
            *layout = (cpu_layout)i;
            return true;
        }
    return false;
}

/* "src=planar": the picture's place among inputs and outputs. */
static bool set_layout(halo_program *program, const tensor_pipe *pipe, const char *option, cpu_layout *layouts)
{
    const char *equals = strchr(option, '=');
    size_t n = equals ? (size_t)(equals - option) : 0;
    cpu_layout layout;
    if (!equals || !parse_layout(equals + 1, &layout)) {
        diag_add(&program->messages, DIAG_E0552, (span){0}, "the layout `%s` is not understood", option);
        diag_help(&program->messages, "write NAME=interleaved, NAME=planar or NAME=bgra");
        return false;
    }
    for (uint32_t i = 0; i < pipe->n_inputs + pipe->outputs.count; i++) {
        const char *name = i < pipe->n_inputs ? stage_at(pipe, i + 1)->name : pipe->outputs.items[i - pipe->n_inputs].name;
        if (strlen(name) == n && memcmp(name, option, n) == 0) {
            layouts[i] = layout;
            return true;
        }
    }
    diag_add(&program->messages, DIAG_E0552, (span){0}, "`%s` has no input or output `%.*s`", pipe->name, (int)n, option);
    return false;
}

static_assert((int)HALO_STREAM_ALWAYS == CPU_STREAM_always && (int)HALO_STREAM_NEVER == CPU_STREAM_never, "choices keep their numbers");

bool program_cpu_options(halo_program *program, const tensor_pipe *pipe, cpu_options *options)
{
    const halo_options *o = &program->options;
    *options = (cpu_options){.triple = o->target, .cpus = o->cpus, .n_cpus = (int)o->n_cpus, .no_fuse = o->no_fuse,
                             .force_border = o->force_border, .tile_width = o->tile_width, .tile_rows = o->tile_rows,
                             .stream = (cpu_stream)o->stream, .tunings = program->tunings, .n_tunings = program->n_tunings};
    if (o->n_layouts == 0)
        return true;
    cpu_layout *layouts = ARENA_ARRAY(program->memory, cpu_layout, pipe->n_inputs + pipe->outputs.count);
    for (size_t i = 0; i < o->n_layouts; i++)
        if (!set_layout(program, pipe, o->layouts[i], layouts))
            return false;
    options->layouts = layouts;
    return true;
}

/* ---- objects and headers ------------------------------------------------------------------------ */

typedef struct build_request {
    const halo_pipe *pipe;
    const char *header_name;         /* or NULL */
    bool        is_text;             /* `form` instead of an object */
    cpu_text    form;
    text        out;
    bool        done;
} build_request;

static void build(halo_program *program, void *user)
{
    build_request *r = user;
    tensor_pipe **pipes = ARENA_ARRAY(program->memory, tensor_pipe *, program->n_pipes);
    uint32_t n = 0;
    pass_options passes;
    cpu_options options;
    if (!program_pass_options(program, &passes))
        return;
    passes.only_define = false;
    for (uint32_t i = 0; i < program->n_pipes; i++) {
        if (r->pipe && r->pipe != &program->pipes[i])
            continue;
        pipes[n] = program_lower(program, program->pipes[i].which);
        if (!pipes[n] || !program_run_passes(program, &pipes[n], &passes, "x86-64-v3"))
            return;
        n++;
    }
    if (program->options.n_layouts > 0 && n > 1) {
        diag_add(&program->messages, DIAG_E0552, (span){0}, "layouts are for one pipe, and the script has %u", n);
        diag_help(&program->messages, "choose one with --pipe NAME");
        return;
    }
    if (!program_check_names(program, pipes, n) || !program_cpu_options(program, pipes[0], &options))
        return;
    if (r->header_name) {
        cpu_header(pipes, n, &options, r->header_name, &r->out);
        r->done = program->messages.n_errors == 0;
    } else if (r->is_text) {
        r->done = cpu_library_text(pipes, n, &options, r->form, &r->out, &program->messages);
    } else {
        r->done = cpu_object(pipes, n, &options, &r->out, &program->messages);
    }
}

static char *run_request(halo_program *program, build_request *r, size_t *n_bytes, halo_message *error)
{
    message_clear(error);
    if (program->n_pipes == 0) {
        message_fail(error, "the script has no pipe");
        return NULL;
    }
    bool whole = program_guard(program, build, r);
    if (!whole)
        message_fail(error, "out of memory");
    if (n_bytes)
        *n_bytes = r->out.count;
    char *result = text_take(&r->out);
    if (whole && r->done)
        return result;
    free(result);
    return NULL;
}

void *halo_build_object(halo_program *program, const halo_pipe *pipe, size_t *n_bytes, halo_message *error)
{
    return run_request(program, &(build_request){.pipe = pipe}, n_bytes, error);
}

char *halo_build_text(halo_program *program, const halo_pipe *pipe, const char *stage, halo_message *error)
{
    bool is_asm = strcmp(stage, "asm") == 0;
    if (!is_asm && strcmp(stage, "llvm") != 0) {
        message_fail(error, "a library is \"llvm\" or \"asm\" as text, not `%s`", stage);
        return NULL;
    }
    build_request r = {.pipe = pipe, .is_text = true, .form = is_asm ? CPU_TEXT_asm : CPU_TEXT_llvm};
    return run_request(program, &r, NULL, error);
}

char *halo_build_header(halo_program *program, const halo_pipe *pipe, const char *file_name, halo_message *error)
{
    return run_request(program, &(build_request){.pipe = pipe, .header_name = file_name}, NULL, error);
}
