/* SPDX-License-Identifier: MIT
 * Objects and headers of the ahead-of-time library, and the backend's options from the program's. */
#include "runtime/program.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* ---- options of the backend -------------------------------------------------------------------- */

static_assert((int)HALO_STREAM_ALWAYS == CPU_STREAM_always && (int)HALO_STREAM_NEVER == CPU_STREAM_never, "choices keep their numbers");

bool program_cpu_options(halo_program *program, const tensor_pipe *pipe, cpu_options *options)
{
    const halo_options *o = &program->options;
    *options = (cpu_options){.triple = o->target, .cpus = o->cpus, .n_cpus = (int)o->n_cpus, .no_fuse = o->no_fuse,
                             .force_border = o->force_border, .tile_width = o->tile_width, .tile_rows = o->tile_rows,
                             .stream = (cpu_stream)o->stream, .tunings = program->tunings, .n_tunings = program->n_tunings};
    const int32_t *layouts;
    if (!program_layouts(program, pipe, &layouts))
        return false;
    if (!layouts)
        return true;
    cpu_layout *all = ARENA_ARRAY(program->memory, cpu_layout, pipe->n_inputs + pipe->outputs.count);
    for (uint32_t i = 0; i < pipe->n_inputs + pipe->outputs.count; i++)
        all[i] = (cpu_layout)layouts[i];
    options->layouts = all;
    return true;
}

bool program_vulkan_options(halo_program *program, const tensor_pipe *pipe, vulkan_options *options)
{
    const halo_options *o = &program->options;
    *options = (vulkan_options){.no_fuse = o->no_fuse, .force_border = o->force_border, .tile_width = o->tile_width,
                                .tile_height = o->tile_rows, .debug = o->debug, .triple = o->target};
    return program_layouts(program, pipe, &options->layouts);
}

/* ---- objects and headers ------------------------------------------------------------------------ */

typedef enum build_form { FORM_OBJECT, FORM_HEADER, FORM_LLVM, FORM_ASM, FORM_SPIRV, FORM_SPIRV_JSON } build_form;

typedef struct build_request {
    const halo_pipe *pipe;
    build_form  form;
    const char *name;                /* header: of its file; json: of the modules' files */
    size_t      kernel;              /* spirv */
    text        out;
    bool        done;
} build_request;

static bool build_for_processor(halo_program *program, tensor_pipe **pipes, uint32_t n, build_request *r)
{
    cpu_options options;
    if (!program_cpu_options(program, pipes[0], &options))
        return false;
    if (r->form == FORM_OBJECT)
        return cpu_object(pipes, n, &options, &r->out, &program->messages);
    if (r->form != FORM_HEADER)
        return cpu_library_text(pipes, n, &options, r->form == FORM_ASM ? CPU_TEXT_asm : CPU_TEXT_llvm, &r->out, &program->messages);
    cpu_header(pipes, n, &options, r->name, &r->out);
    return program->messages.n_errors == 0;
}

/* "x.2.spv" of "x.spv" and kernel 1, when there are several. */
static const char *module_name(halo_program *program, const char *name, size_t kernel, size_t n_kernels)
{
    const char *dot = strrchr(name, '.');
    int n = (int)(dot ? (size_t)(dot - name) : strlen(name));
    return n_kernels == 1 ? name : arena_printf(program->memory, "%.*s.%zu%s", n, name, kernel + 1, dot ? dot : "");
}

static bool build_modules(halo_program *program, tensor_pipe *pipe, const vulkan_options *options, build_request *r)
{
    const vulkan_module *m = vulkan_compile(pipe, options, program->memory, &program->messages);
    if (!m)
        return false;
    size_t n = vulkan_kernel_count(m);
    if (r->form == FORM_SPIRV) {
        size_t n_words = 0;
        const uint32_t *words = r->kernel < n ? vulkan_kernel_words(m, (uint32_t)r->kernel, &n_words) : NULL;
        text_add(&r->out, (const char *)words, 4 * n_words);
        return true;
    }
    const char **files = ARENA_ARRAY(program->memory, const char *, n);
    for (size_t i = 0; i < n; i++)
        files[i] = module_name(program, r->name, i, n);
    vulkan_json(m, pipe, files, &r->out);
    return true;
}

static bool build_for_vulkan(halo_program *program, tensor_pipe **pipes, uint32_t n, build_request *r)
{
    vulkan_options options;
    if (!program_vulkan_options(program, pipes[0], &options))
        return false;
    if (r->form == FORM_OBJECT)
        return vulkan_object(pipes, n, &options, &r->out, &program->messages);
    if (r->form != FORM_HEADER)
        return build_modules(program, pipes[0], &options, r);
    vulkan_header(pipes, n, &options, r->name, &r->out);
    return program->messages.n_errors == 0;
}

static void build(halo_program *program, void *user)
{
    build_request *r = user;
    tensor_pipe **pipes = ARENA_ARRAY(program->memory, tensor_pipe *, program->n_pipes);
    uint32_t n = 0;
    pass_options passes;
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
    bool of_one = r->form == FORM_SPIRV || r->form == FORM_SPIRV_JSON;
    if ((program->options.n_layouts > 0 || of_one) && n > 1) {
        diag_add(&program->messages, DIAG_E0552, (span){0}, "%s are for one pipe, and the script has %u", of_one ? "modules" : "layouts", n);
        diag_help(&program->messages, "choose one with --pipe NAME");
        return;
    }
    if (program_check_names(program, pipes, n))
        r->done = program_for_vulkan(program) ? build_for_vulkan(program, pipes, n, r) : build_for_processor(program, pipes, n, r);
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

/* Not every form is made for every machine. */
static bool check_form(const halo_program *program, build_form form, halo_message *error)
{
    bool vulkan = program_for_vulkan(program), of_vulkan = form == FORM_SPIRV || form == FORM_SPIRV_JSON;
    if (vulkan && (form == FORM_LLVM || form == FORM_ASM))
        return message_fail(error, "code of the processor isn't made for Vulkan: build a .spv, or leave --vulkan out");
    if (!vulkan && of_vulkan)
        return message_fail(error, "SPIR-V is made for Vulkan only (--vulkan)");
    return true;
}

void *halo_build_object(halo_program *program, const halo_pipe *pipe, size_t *n_bytes, halo_message *error)
{
    return run_request(program, &(build_request){.pipe = pipe, .form = FORM_OBJECT}, n_bytes, error);
}

char *halo_build_text(halo_program *program, const halo_pipe *pipe, const char *stage, halo_message *error)
{
    bool is_asm = strcmp(stage, "asm") == 0;
    if (!is_asm && strcmp(stage, "llvm") != 0) {
        message_fail(error, "a library is \"llvm\" or \"asm\" as text, not `%s`", stage);
        return NULL;
    }
    build_request r = {.pipe = pipe, .form = is_asm ? FORM_ASM : FORM_LLVM};
    return check_form(program, r.form, error) ? run_request(program, &r, NULL, error) : NULL;
}

char *halo_build_header(halo_program *program, const halo_pipe *pipe, const char *file_name, halo_message *error)
{
    return run_request(program, &(build_request){.pipe = pipe, .form = FORM_HEADER, .name = file_name}, NULL, error);
}

void *halo_build_spirv(halo_program *program, const halo_pipe *pipe, size_t kernel, size_t *n_bytes, halo_message *error)
{
    build_request r = {.pipe = pipe, .form = FORM_SPIRV, .kernel = kernel};
    return check_form(program, r.form, error) ? run_request(program, &r, n_bytes, error) : NULL;
}

char *halo_build_spirv_json(halo_program *program, const halo_pipe *pipe, const char *file_name, halo_message *error)
{
    build_request r = {.pipe = pipe, .form = FORM_SPIRV_JSON, .name = file_name};
    return check_form(program, r.form, error) ? run_request(program, &r, NULL, error) : NULL;
}
