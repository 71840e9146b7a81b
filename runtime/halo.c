/* SPDX-License-Identifier: MIT
 * The facade: from a script to a program that can be described and run. Here is the life of a program and its diagnostics;
 * the other parts of halo.h are in signature.c, arguments.c, run.c, show.c, build.c and threads.c. */
#include "runtime/program.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

static_assert((int)HALO_KIND_BOOL == KIND_bool && (int)HALO_KIND_U8 == KIND_u8 && (int)HALO_KIND_I8 == KIND_i8 &&
              (int)HALO_KIND_U16 == KIND_u16 && (int)HALO_KIND_I16 == KIND_i16 && (int)HALO_KIND_U32 == KIND_u32 &&
              (int)HALO_KIND_I32 == KIND_i32 && (int)HALO_KIND_F16 == KIND_f16 && (int)HALO_KIND_F32 == KIND_f32,
              "halo_kind and kind are one enumeration");
static_assert((int)HALO_SEVERITY_ERROR == SEVERITY_error && (int)HALO_SEVERITY_WARNING == SEVERITY_warning &&
              (int)HALO_SEVERITY_NOTE == SEVERITY_note, "halo_severity and diag_severity are one enumeration");
static_assert((int)HALO_MAX_RANK == TENSOR_MAX_RANK && (int)HALO_MAX_LANES == TENSOR_MAX_LANES, "the limits are the same");

/* ---- life ------------------------------------------------------------------------------------ */

bool program_guard(halo_program *program, void (*body)(halo_program *program, void *user), void *user)
{
    jmp_buf failure;
    if (setjmp(failure)) {
        arena_set_failure(program->memory, NULL);
        free(program->pending);
        program->pending = NULL;
        return false;
    }
    arena_set_failure(program->memory, &failure);
    body(program, user);
    arena_set_failure(program->memory, NULL);
    return true;
}

static halo_program *program_new(void)
{
    halo_program *program = calloc(1, sizeof *program);
    if (program)
        program->memory = arena_new(NULL);
    if (program && !program->memory) {
        free(program);
        return NULL;
    }
    return program;
}

void halo_program_free(halo_program *program)
{
    if (!program)
        return;
    for (uint32_t i = 0; i < program->n_pipes; i++) {
        cpu_unload(program->pipes[i].code);
        vulkan_pipe_free(program->pipes[i].vulkan);
    }
    arena_free(program->memory);
    free(program);
}

/* ---- compiling ------------------------------------------------------------------------------- */

typedef struct request {
    const char *name, *text;
    size_t      n_bytes;
    const char *problem;             /* the file can't be read: why */
    const halo_options *options;
    bool        is_ir;
} request;

static void prepare(halo_program *program, const request *r)
{
    program->names = interner_new(program->memory);
    diags_init(&program->messages, program->memory);
    import_options(program, r->options);
    tuning_read(program);
}

tensor_pipe *program_lower(halo_program *program, uint32_t which)
{
    tensor_pipe *pipe = program->script ? script_lower(program->script, which)
                                        : tensor_parse(program->memory, &program->messages, program->ir_source);
    /* Vulkan rounds products: its pipes mean what they mean under strict, or, where that is asked for, with no_fma. */
    if (pipe && (program->options.strict || (program_for_vulkan(program) && !program->options.no_fma)))
        pipe->strict = true;
    if (pipe && program->options.no_fma)
        pipe->no_fma = true;
    return pipe;
}

/* The names of a program's pipes, for "did you mean". */
static void unknown_pipe(halo_program *program, const char *name, const char **names, uint32_t n_names)
{
    diag_add(&program->messages, DIAG_E0550, (span){0}, "there is no pipe `%s`", name);
    const char *near = nearest_name(name, names, n_names);
    if (near)
        diag_help(&program->messages, "did you mean `%s`?", near);
    for (uint32_t i = 0; i < n_names && !near; i++)
        diag_note(&program->messages, "the script has `%s`", names[i]);
}

static void make_pipe(halo_program *program, uint32_t which)
{
    tensor_pipe *ir = program_lower(program, which);
    if (!ir)
        return;
    halo_pipe *pipe = &program->pipes[program->n_pipes];
    *pipe = (halo_pipe){.program = program, .which = which, .ir = ir};
    describe_pipe(program->memory, ir, &pipe->signature);
    halo_engine engine = program->options.engine;
    bool sound = true;
    bool compiles = engine == HALO_ENGINE_CPU || engine == HALO_ENGINE_VULKAN;
    if (compiles || (engine == HALO_ENGINE_INTERPRETER && program->script))
        sound = program_run_passes(program, &pipe->ir, NULL, "native");
    if (sound && engine == HALO_ENGINE_CPU && program->messages.n_errors == 0) {
        cpu_options options;
        sound = program_cpu_options(program, pipe->ir, &options);
        options.layouts = NULL;                          /* they are for libraries */
        pipe->code = sound ? cpu_load(pipe->ir, &options, &program->messages) : NULL;
        sound = pipe->code != NULL;
    }
    if (sound && engine == HALO_ENGINE_VULKAN && program->messages.n_errors == 0) {
        pipe->vulkan = vulkan_pipe_new(program, pipe->ir, &pipe->signature);
        sound = pipe->vulkan != NULL;
    }
    program->n_pipes += sound;
}

static void make_pipes(halo_program *program)
{
    uint32_t n = program->script ? script_pipe_count(program->script) : 1;
    const char **names = ARENA_ARRAY(program->memory, const char *, n);
    const char *wanted = program->script ? program->options.pipe : NULL;
    bool found = !wanted;
    program->pipes = ARENA_ARRAY(program->memory, halo_pipe, n);
    for (uint32_t i = 0; i < n; i++) {
        names[i] = program->script ? script_pipe(program->script, i)->name : "";
        if (wanted && strcmp(wanted, names[i]) != 0)
            continue;
        found = true;
        make_pipe(program, i);
    }
    if (!found)
        unknown_pipe(program, wanted, names, n);
    tuning_check_pipes(program, names, n);
}

static void compile(halo_program *program, void *user)
{
    const request *r = user;
    prepare(program, r);
    if (r->problem) {
        diag_add(&program->messages, DIAG_E0701, (span){0}, "%s", r->problem);
        return;
    }
    if (r->is_ir) {
        program->ir_source = diags_add_source(&program->messages, r->name, r->text, r->n_bytes);
    } else {
        program->script = script_load(program->memory, program->names, &program->messages, r->name, r->text, r->n_bytes,
                                      import_file, program);
        if (program->messages.n_errors > 0)
            return;
        script_check(program->script);
    }
    make_pipes(program);
}

static halo_program *compile_request(const request *r)
{
    halo_program *program = program_new();
    if (program && !program_guard(program, compile, (void *)r)) {
        halo_program_free(program);
        return NULL;
    }
    return program;
}

halo_program *halo_compile_text(const char *name, const char *text, size_t n_bytes, const halo_options *options)
{
    return compile_request(&(request){.name = name, .text = text, .n_bytes = n_bytes, .options = options});
}

halo_program *halo_compile_ir(const char *name, const char *text, size_t n_bytes, const halo_options *options)
{
    return compile_request(&(request){.name = name, .text = text, .n_bytes = n_bytes, .options = options, .is_ir = true});
}

halo_program *halo_compile_file(const char *path, const halo_options *options)
{
    halo_message problem;
    size_t n_bytes = 0;
    char *text = halo_read_file(path, &n_bytes, &problem);
    halo_program *program = compile_request(&(request){.name = path, .text = text, .n_bytes = n_bytes,
                                                       .problem = text ? NULL : problem.text, .options = options});
    free(text);
    return program;
}

/* ---- layout ---------------------------------------------------------------------------------- */

typedef struct format_request { request source; text result, messages; } format_request;

static void format_source(halo_program *program, void *user)
{
    format_request *f = user;
    prepare(program, &f->source);
    uint32_t source = diags_add_source(&program->messages, f->source.name, f->source.text, f->source.n_bytes);
    const file *parsed = parse_file(program->memory, program->names, &program->messages, source);
    if (program->messages.n_errors > 0)
        diags_render(&program->messages, &f->messages);
    else
        format_file(parsed, &f->result);
}

char *halo_format(const char *name, const char *text, size_t n_bytes, char **messages)
{
    if (messages)
        *messages = NULL;
    halo_program *program = program_new();
    if (!program)
        return NULL;
    format_request f = {.source = {.name = name, .text = text, .n_bytes = n_bytes}};
    bool done = program_guard(program, format_source, &f);
    bool sound = done && program->messages.n_errors == 0;
    halo_program_free(program);
    if (done && !sound && messages)
        *messages = text_take(&f.messages);
    text_free(&f.messages);
    char *result = sound ? text_take(&f.result) : NULL;
    text_free(&f.result);
    return result;
}

/* ---- diagnostics ----------------------------------------------------------------------------- */

int halo_program_ok(const halo_program *program) { return program && program->messages.n_errors == 0; }

size_t halo_program_diagnostic_count(const halo_program *program) { return program ? program->messages.items.count : 0; }

halo_diagnostic halo_program_diagnostic(const halo_program *program, size_t which)
{
    halo_diagnostic out = {.code = "", .file = "", .message = ""};
    if (which >= halo_program_diagnostic_count(program))
        return out;
    const diags *d = &program->messages;
    const diag *item = &d->items.items[which];
    out.severity = (halo_severity)diag_code_severity(item->code);
    out.code = diag_code_name(item->code);
    out.message = item->message;
    out.notes = item->notes.items;
    out.n_notes = item->notes.count;
    if (item->where.source > 0 && item->where.source < d->sources.count) {
        span end = {item->where.source, item->where.end, item->where.end};
        out.file = d->sources.items[item->where.source].name;
        diag_position(d, item->where, &out.line, &out.column);
        diag_position(d, end, &out.end_line, &out.end_column);
    }
    return out;
}

char *halo_program_messages(const halo_program *program)
{
    text out = {0};
    if (program)
        diags_render(&program->messages, &out);
    text_string(&out, "");
    return text_take(&out);
}

char *halo_program_messages_json(const halo_program *program)
{
    text out = {0};
    if (program)
        diags_render_json(&program->messages, &out);
    else
        text_string(&out, "[]\n");
    return text_take(&out);
}

/* ---- pipes ----------------------------------------------------------------------------------- */

size_t halo_program_pipe_count(const halo_program *program) { return halo_program_ok(program) ? program->n_pipes : 0; }

halo_pipe *halo_program_pipe(const halo_program *program, size_t which)
{
    return which < halo_program_pipe_count(program) ? &program->pipes[which] : NULL;
}

halo_pipe *halo_program_find_pipe(const halo_program *program, const char *name)
{
    for (size_t i = 0; i < halo_program_pipe_count(program); i++)
        if (strcmp(program->pipes[i].signature.name, name) == 0)
            return &program->pipes[i];
    return NULL;
}

const halo_signature *halo_pipe_signature(const halo_pipe *pipe) { return &pipe->signature; }

const char *halo_error_text(int code)
{
    static const char *const texts[] = {"done", "a pointer is NULL", "sizes do not fit", "a stride does not fit",
                                        "an output overlaps another picture", "a parameter is out of its range",
                                        "out of memory", "cancelled"};
    if (code >= HALO_VULKAN_ERROR_DEVICE)
        return haloi_vulkan_error(code);
    return code >= 0 && code < (int)(sizeof texts / sizeof *texts) ? texts[code] : "unknown error";
}
