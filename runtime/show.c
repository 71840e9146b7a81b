/* SPDX-License-Identifier: MIT
 * Any stage of a pipe as text. Each call lowers the pipe afresh, so that what runs is never touched. */
#include "runtime/program.h"

#include <stdlib.h>
#include <string.h>

/* In the order of stages.def. */
typedef enum stage_id { STAGE_AST, STAGE_TENSOR, STAGE_DISPATCH, STAGE_KERNEL, STAGE_SPIRV, STAGE_LLVM, STAGE_ASM, STAGE_EXPLAIN,
                        STAGE_EXPLAIN_JSON, STAGE_CHOICES, N_STAGES } stage_id;

static const char *const stages[][2] = {
#define STAGE(name, meaning) {name, meaning},
#include "runtime/stages.def"
#undef STAGE
};

const char *const *halo_stage_at(size_t which) { return which < N_STAGES ? stages[which] : NULL; }

halo_pass halo_pass_at(size_t which)
{
    if (which >= PASS_COUNT)
        return (halo_pass){0};
    const pass_info *info = pass_get((pass_id)which);
    return (halo_pass){info->name, info->kind == PASS_KIND_define ? "define" : "exact", info->purpose};
}

/* ---- names ----------------------------------------------------------------------------------- */

static bool fail_name(halo_message *error, const char *what, const char *name, const char *const *names, size_t n)
{
    const char *near = nearest_name(name, names, n);
    text all = {0};
    for (size_t i = 0; i < n; i++)
        text_printf(&all, "%s%s", i ? ", " : "", names[i]);
    if (near)
        message_fail(error, "there is no %s `%s`, did you mean `%s`?", what, name, near);
    else
        message_fail(error, "there is no %s `%s`; there are %.*s", what, name, (int)all.count, all.failed ? "" : all.bytes);
    text_free(&all);
    return false;
}

static bool find_stage(const char *name, stage_id *stage, halo_message *error)
{
    const char *names[N_STAGES];
    for (int i = 0; i < N_STAGES; i++) {
        names[i] = stages[i][0];
        if (strcmp(names[i], name) == 0) {
            *stage = (stage_id)i;
            return true;
        }
    }
    return fail_name(error, "stage", name, names, N_STAGES);
}

static bool find_pass(const char *name, pass_id *pass, halo_message *error)
{
    *pass = pass_find(name);
    if (*pass != PASS_COUNT)
        return true;
    const char *names[PASS_COUNT];
    for (int i = 0; i < PASS_COUNT; i++)
        names[i] = pass_get((pass_id)i)->name;
    return fail_name(error, "pass", name, names, PASS_COUNT);
}

/* ---- passes by the program's options ------------------------------------------------------------ */

bool program_pass_options(halo_program *program, pass_options *options)
{
    const halo_options *o = &program->options;
    *options = (pass_options){.only_define = o->engine == HALO_ENGINE_INTERPRETER, .stop_after = PASS_COUNT,
                              .no_verify = o->no_verify, .reparse = o->reparse};
    for (size_t i = 0; i < o->n_skip; i++) {
        halo_message problem;
        pass_id pass;
        if (!find_pass(o->skip[i], &pass, &problem)) {
            diag_add(&program->messages, DIAG_E0550, (span){0}, "%s", problem.text);
            return false;
        }
        if (pass_get(pass)->kind == PASS_KIND_define) {
            diag_add(&program->messages, DIAG_E0551, (span){0}, "the pass `%s` can't be skipped: it defines what the script means",
                     o->skip[i]);
            return false;
        }
        options->skip[pass] = true;
    }
    return true;
}

bool program_run_passes(halo_program *program, tensor_pipe **pipe, const pass_options *options, const char *cpu)
{
    pass_options own;
    if (options)
        own = *options;
    else if (!program_pass_options(program, &own))
        return false;
    if (program_for_vulkan(program))
        vulkan_skips(own.skip);
    else
        tuning_skips(program, (*pipe)->name, cpu, own.skip);
    return passes_run(pipe, &own, &program->messages);
}

/* ---- stages ---------------------------------------------------------------------------------- */

typedef struct show_request {
    const halo_pipe *pipe;
    stage_id stage;
    bool     written;                /* before all passes */
    pass_id  after, only;            /* PASS_COUNT: none such */
    bool     each;                   /* after each pass */
    text     out, problems;
    bool     done;
} show_request;

static bool show_tensor(halo_program *program, tensor_pipe *ir, show_request *r)
{
    pass_options options;
    if (!program_pass_options(program, &options))
        return false;
    options.only_define = false;
    options.stop_after = r->after;
    options.dump = r->each ? &r->out : NULL;
    if (r->only != PASS_COUNT) {
        pass_get(r->only)->run(ir);
        if (!tensor_verify(ir, &r->problems))
            return false;
    } else if (!r->written && !program_run_passes(program, &ir, &options, "native")) {
        return false;
    }
    if (!r->each)
        tensor_print(ir, &r->out);
    return true;
}

static bool show_code(halo_program *program, tensor_pipe *ir, show_request *r)
{
    static const cpu_text texts[N_STAGES] = {
        [STAGE_DISPATCH] = CPU_TEXT_dispatch, [STAGE_KERNEL] = CPU_TEXT_kernel, [STAGE_LLVM] = CPU_TEXT_llvm,
        [STAGE_ASM] = CPU_TEXT_asm, [STAGE_EXPLAIN] = CPU_TEXT_explain, [STAGE_EXPLAIN_JSON] = CPU_TEXT_explain_json,
        [STAGE_CHOICES] = CPU_TEXT_choices};
    pass_options passes;
    if (!program_pass_options(program, &passes))
        return false;
    passes.only_define = false;
    cpu_options options;
    bool changed[PASS_COUNT] = {false};
    passes.changed = changed;
    if (!program_run_passes(program, &ir, &passes, "native"))
        return false;
    if (r->stage == STAGE_CHOICES)
        text_printf(&r->out, "pipe %s cpu %s\n", ir->name, tuning_processor(program, 0, "native"));
    for (int id = 0; id < PASS_COUNT && r->stage == STAGE_CHOICES; id++)
        if (changed[id] && pass_get((pass_id)id)->kind == PASS_KIND_exact)
            text_printf(&r->out, "skip %s\n", pass_get((pass_id)id)->name);
    return program_cpu_options(program, ir, &options) &&
           cpu_show(ir, &options, texts[r->stage], &r->out, &program->messages);
}

static bool show_vulkan(halo_program *program, tensor_pipe *ir, show_request *r)
{
    static const vulkan_text texts[N_STAGES] = {
        [STAGE_DISPATCH] = VULKAN_TEXT_dispatch, [STAGE_KERNEL] = VULKAN_TEXT_kernel, [STAGE_SPIRV] = VULKAN_TEXT_spirv,
        [STAGE_EXPLAIN] = VULKAN_TEXT_explain, [STAGE_EXPLAIN_JSON] = VULKAN_TEXT_explain_json};
    pass_options passes;
    vulkan_options options;
    if (!program_pass_options(program, &passes))
        return false;
    passes.only_define = false;
    if (!program_run_passes(program, &ir, &passes, "native"))
        return false;
    if (!program_vulkan_options(program, ir, &options))
        return false;
    options.debug = true;
    return vulkan_show(ir, &options, texts[r->stage], &r->out, &program->messages);
}

/* Not every stage is on the way to every machine. */
static bool check_target(const halo_program *program, stage_id stage, halo_message *error)
{
    bool of_cpu = stage == STAGE_LLVM || stage == STAGE_ASM || stage == STAGE_CHOICES;
    if (program_for_vulkan(program) && of_cpu)
        return message_fail(error, "the stage `%s` is of the processor (--on cpu); Vulkan's are dispatch, kernel, spirv and explain",
                            stages[stage][0]);
    if (!program_for_vulkan(program) && stage == STAGE_SPIRV)
        return message_fail(error, "the stage `spirv` is of Vulkan: --on vulkan shows it");
    return true;
}

static void show(halo_program *program, void *user)
{
    show_request *r = user;
    if (r->stage == STAGE_AST) {
        if (program->script)
            print_ast(script_file(program->script), &r->out);
        r->done = program->script != NULL;
        return;
    }
    tensor_pipe *ir = program_lower(program, r->pipe->which);
    if (ir && r->stage == STAGE_TENSOR)
        r->done = show_tensor(program, ir, r);
    else if (ir)
        r->done = program_for_vulkan(program) ? show_vulkan(program, ir, r) : show_code(program, ir, r);
}

static char *run_request(halo_program *program, show_request *r, halo_message *error)
{
    message_clear(error);
    bool whole = program_guard(program, show, r);
    if (!whole)
        message_fail(error, "out of memory");
    else if (!r->done && r->problems.count > 0)
        message_fail(error, "%.*s", (int)r->problems.count, r->problems.bytes);
    else if (!r->done && r->stage == STAGE_AST)
        message_fail(error, "IR has no syntax tree");
    text_free(&r->problems);
    text_string(&r->out, "");
    char *result = text_take(&r->out);
    if (whole && r->done)
        return result;
    free(result);
    return NULL;
}

char *halo_show(halo_program *program, const halo_pipe *pipe, const char *stage, const char *after, halo_message *error)
{
    show_request r = {.pipe = pipe, .after = PASS_COUNT, .only = PASS_COUNT};
    if (!find_stage(stage, &r.stage, error) || !check_target(program, r.stage, error))
        return NULL;
    if (after && r.stage != STAGE_TENSOR) {
        message_fail(error, "passes work on the stage `tensor`, not on `%s`", stage);
        return NULL;
    }
    r.written = after && strcmp(after, "written") == 0;
    if (after && !r.written && !find_pass(after, &r.after, error))
        return NULL;
    return run_request(program, &r, error);
}

char *halo_replay(halo_program *program, const halo_pipe *pipe, const char *pass, halo_message *error)
{
    show_request r = {.pipe = pipe, .stage = STAGE_TENSOR, .after = PASS_COUNT};
    return find_pass(pass, &r.only, error) ? run_request(program, &r, error) : NULL;
}

char *halo_show_passes(halo_program *program, const halo_pipe *pipe, halo_message *error)
{
    return run_request(program, &(show_request){.pipe = pipe, .stage = STAGE_TENSOR, .after = PASS_COUNT, .only = PASS_COUNT,
                                                .each = true}, error);
}
