/* SPDX-License-Identifier: MIT
 * Sizes, parts and runs, by machine code, on a device, or by the interpreter. What doesn't fit is said with names and numbers: a
 * failed check of the script at its line, with the sizes of the inputs. */
#include "runtime/program.h"

#include "lowering/interpret.h"
#include "lowering/params.h"

#include <stdlib.h>
#include <string.h>

/* What a call needs of its parameters: bits for the interpreter, the header's struct for the code. */
typedef struct prepared {
    uint32_t (*bits)[TENSOR_MAX_LANES];
    void      *packed;
} prepared;

static void unprepare(prepared *p)
{
    free(p->bits);
    free(p->packed);
}

static int prepare(const halo_pipe *pipe, const halo_arguments *arguments, prepared *p, halo_message *error)
{
    size_t n = pipe->signature.n_parameters;
    *p = (prepared){.bits = calloc(n + 1, sizeof *p->bits)};
    if (p->bits && !arguments_bits(pipe, arguments, p->bits, error)) {
        unprepare(p);
        return HALO_ERROR_PARAMETER;
    }
    bool packs = n > 0 && (pipe->code || pipe->vulkan);
    if (p->bits && packs) {
        p->packed = calloc(1, params_pack(pipe->ir, p->bits, NULL));
        if (p->packed)
            params_pack(pipe->ir, p->bits, p->packed);
    }
    if (p->bits && (p->packed || !packs))
        return HALO_OK;
    unprepare(p);
    message_fail(error, "out of memory");
    return HALO_ERROR_MEMORY;
}

/* ---- messages -------------------------------------------------------------------------------- */

static void add_extents(text *out, const int32_t *extent, int rank)
{
    for (int d = 0; d < rank; d++)
        text_printf(out, d ? " x %d" : "%d", extent[d]);
}

static void take_message(text *t, halo_message *error)
{
    while (t->count > 0 && t->bytes[t->count - 1] == '\n')
        t->count--;
    message_fail(error, "%.*s", (int)t->count, t->failed ? "" : t->bytes);
    text_free(t);
}

/* A check of the script that failed, as a diagnostic at its place. */
static void explain_check(const halo_pipe *pipe, uint32_t which, const halo_image *inputs, halo_message *error)
{
    const tensor_check *check = &pipe->ir->checks.items[which];
    diag item = {.code = check->code, .where = check->where, .message = check->message};
    text t = {0};
    diag_render(&pipe->program->messages, &item, &t);
    for (size_t i = 0; i < pipe->signature.n_inputs; i++) {
        const halo_input *input = &pipe->signature.inputs[i];
        text_printf(&t, "     = `%s` is ", input->name);
        add_extents(&t, inputs[i].extent, input->rank);
        text_string(&t, "\n");
    }
    take_message(&t, error);
}

static int explain_code(const halo_pipe *pipe, int code, int64_t failed, const halo_image *inputs, halo_message *error)
{
    bool is_check = (code == HALO_ERROR_SIZE || code == HALO_ERROR_PARAMETER) && failed >= 0 && failed < pipe->ir->checks.count;
    if (is_check)
        explain_check(pipe, (uint32_t)failed, inputs, error);
    else if (code >= HALO_VULKAN_ERROR_DEVICE)
        message_fail(error, "`%s` on %s: %s; the processor can run it (--on cpu)", pipe->signature.name,
                     halo_device_about(pipe->vulkan->device)->name, halo_error_text(code));
    else if (code != HALO_OK)
        message_fail(error, "%s", halo_error_text(code));
    return code;
}

/* ---- checks of the images -------------------------------------------------------------------- */

static int check_inputs(const halo_pipe *pipe, const halo_image *inputs, halo_message *error)
{
    for (size_t i = 0; i < pipe->signature.n_inputs; i++) {
        const halo_input *input = &pipe->signature.inputs[i];
        const tensor_stage *stage = stage_at(pipe->ir, (uint32_t)i + 1);
        for (int d = 0; d < input->rank; d++) {
            int64_t last;
            int32_t extent = inputs[i].extent[d];
            if (extent < 1) {
                message_fail(error, "input `%s` is empty", input->name);
                return HALO_ERROR_SIZE;
            }
            if (node_is_const(pipe->ir, stage->hi[d], &last) && last + 1 != extent) {
                message_fail(error, "input `%s` is %s, and what was given has %d along dimension %d", input->name, input->type,
                             extent, d);
                return HALO_ERROR_SIZE;
            }
        }
    }
    return HALO_OK;
}

static int check_outputs(const halo_pipe *pipe, const halo_image *wanted, const halo_image *outputs,
                         halo_message *error)
{
    for (size_t i = 0; i < pipe->signature.n_outputs; i++) {
        const halo_output *output = &pipe->signature.outputs[i];
        const int32_t *extent = wanted[i].extent;
        if (memcmp(outputs[i].extent, extent, sizeof(int32_t) * (size_t)output->rank) == 0)
            continue;
        text t = {0};
        text_printf(&t, "output `%s` has to be ", output->name);
        add_extents(&t, extent, output->rank);
        text_string(&t, ", not ");
        add_extents(&t, outputs[i].extent, output->rank);
        take_message(&t, error);
        return HALO_ERROR_SIZE;
    }
    return HALO_OK;
}

static int check_data(const halo_pipe *pipe, const halo_image *inputs, const halo_image *outputs, halo_message *error)
{
    for (size_t i = 0; i < pipe->signature.n_inputs; i++)
        if (!inputs[i].data) {
            message_fail(error, "input `%s` has no data", pipe->signature.inputs[i].name);
            return HALO_ERROR_NULL;
        }
    for (size_t i = 0; i < pipe->signature.n_outputs; i++)
        if (!outputs[i].data) {
            message_fail(error, "output `%s` has no data", pipe->signature.outputs[i].name);
            return HALO_ERROR_NULL;
        }
    return HALO_OK;
}

/* ---- sizes ----------------------------------------------------------------------------------- */

static void fill_dense(const halo_pipe *pipe, halo_image *outputs)
{
    for (size_t i = 0; i < pipe->signature.n_outputs; i++) {
        const halo_output *o = &pipe->signature.outputs[i];
        ptrdiff_t step = (ptrdiff_t)halo_kind_bytes(o->kind) * o->lanes;
        bool dense = outputs[i].stride[0] == 0;
        for (int d = 0; d < HALO_MAX_RANK; d++) {
            if (d >= o->rank)
                outputs[i].extent[d] = 1;
            if (dense)
                outputs[i].stride[d] = step;
            step *= outputs[i].extent[d];
        }
    }
}

static int size_interpreted(const halo_pipe *pipe, const halo_image *inputs, const prepared *p, halo_image *outputs,
                            halo_message *error)
{
    run_values values = {inputs, (const uint32_t(*)[TENSOR_MAX_LANES])p->bits};
    uint32_t failed = UINT32_MAX;
    int code = run_check(pipe->ir, &values, &failed);
    if (code != HALO_OK)
        return explain_code(pipe, code, failed, inputs, error);
    for (size_t i = 0; i < pipe->signature.n_outputs; i++) {
        int32_t lo[TENSOR_MAX_RANK];
        stage_bounds(pipe->ir, pipe->ir->outputs.items[i].stage, &values, lo, outputs[i].extent);
        if (outputs[i].extent[0] < 1 && pipe->signature.outputs[i].rank > 0)        /* an empty output fails its check */
            return explain_code(pipe, HALO_ERROR_MEMORY, -1, inputs, error);
    }
    return HALO_OK;
}

static int size_prepared(const halo_pipe *pipe, const halo_image *inputs, const prepared *p, halo_image *outputs,
                         halo_message *error)
{
    int code = check_inputs(pipe, inputs, error);
    if (code != HALO_OK)
        return code;
    if (pipe->code || pipe->vulkan) {
        int32_t failed = -1;
        code = pipe->code ? cpu_size(pipe->code, inputs, p->packed, outputs, &failed)
                          : vulkan_size(pipe->vulkan, inputs, p->packed, outputs, &failed);
        explain_code(pipe, code, failed, inputs, error);
    } else {
        code = size_interpreted(pipe, inputs, p, outputs, error);
    }
    if (code == HALO_OK)
        fill_dense(pipe, outputs);
    return code;
}

int halo_size(const halo_pipe *pipe, const halo_image *inputs, const halo_arguments *arguments, halo_image *outputs,
              halo_message *error)
{
    prepared p;
    int code = prepare(pipe, arguments, &p, error);
    if (code != HALO_OK)
        return code;
    code = size_prepared(pipe, inputs, &p, outputs, error);
    unprepare(&p);
    return code;
}

/* ---- runs ------------------------------------------------------------------------------------ */

static int interpret_prepared(const halo_pipe *pipe, const halo_image *inputs, const prepared *p, const halo_image *outputs,
                              halo_message *error)
{
    run_values values = {inputs, (const uint32_t(*)[TENSOR_MAX_LANES])p->bits};
    text problem = {0};
    int code = interpret(pipe->ir, &values, outputs, pipe->program->options.engine == HALO_ENGINE_WRITTEN, &problem);
    if (code != HALO_OK && problem.count > 0)
        take_message(&problem, error);
    else
        explain_code(pipe, code, -1, inputs, error);
    text_free(&problem);
    return code;
}

struct halo_task { const halo_pipe *pipe; vulkan_run *run; };       /* no run: it's done */

static int check_run(const halo_pipe *pipe, const halo_image *inputs, const prepared *p, const halo_image *outputs,
                     halo_message *error)
{
    halo_image *wanted = calloc(pipe->signature.n_outputs, sizeof *wanted);
    if (!wanted) {
        message_fail(error, "out of memory");
        return HALO_ERROR_MEMORY;
    }
    int code = size_prepared(pipe, inputs, p, wanted, error);
    if (code == HALO_OK)
        code = check_outputs(pipe, wanted, outputs, error);
    if (code == HALO_OK)
        code = check_data(pipe, inputs, outputs, error);
    free(wanted);
    return code;
}

static int begin_prepared(const halo_pipe *pipe, const halo_image *inputs, const prepared *p, const halo_image *outputs,
                          const halo_part *part, const halo_exec *exec, halo_task *task, halo_message *error)
{
    int code = check_run(pipe, inputs, p, outputs, error);
    if (code != HALO_OK)
        return code;
    int32_t failed = -1;
    if (pipe->vulkan)
        task->run = vulkan_begin(pipe->vulkan, inputs, p->packed, outputs, part, exec, &code, &failed);
    else if (pipe->code)
        code = cpu_run(pipe->code, inputs, p->packed, outputs, part, exec, &failed);
    else
        return interpret_prepared(pipe, inputs, p, outputs, error);
    return explain_code(pipe, code, failed, inputs, error);
}

/* Parts need machine code or a device; a program without an engine runs nothing. */
static int check_engine(const halo_pipe *pipe, bool wants_part, halo_message *error)
{
    if (pipe->code || pipe->vulkan || (!wants_part && pipe->program->options.engine != HALO_ENGINE_NONE))
        return HALO_OK;
    message_fail(error, wants_part ? "parts are computed by HALO_ENGINE_CPU and HALO_ENGINE_VULKAN only"
                                   : "the program was compiled with HALO_ENGINE_NONE");
    return HALO_ERROR_NULL;
}

static int begin(const halo_pipe *pipe, const halo_image *inputs, const halo_arguments *arguments, const halo_image *outputs,
                 const halo_part *part, const halo_exec *exec, halo_task *task, halo_message *error)
{
    prepared p;
    int code = check_engine(pipe, part != NULL, error);
    if (code == HALO_OK)
        code = prepare(pipe, arguments, &p, error);
    if (code != HALO_OK)
        return code;
    *task = (halo_task){.pipe = pipe};
    code = begin_prepared(pipe, inputs, &p, outputs, part, exec, task, error);
    unprepare(&p);
    return code;
}

static int end(const halo_task *task, halo_times *times, halo_message *error)
{
    if (times)
        *times = (halo_times){0};
    if (!task->run)
        return HALO_OK;
    return explain_code(task->pipe, vulkan_end(task->pipe->vulkan, task->run, times), -1, NULL, error);
}

int halo_run(const halo_pipe *pipe, const halo_image *inputs, const halo_arguments *arguments, const halo_image *outputs,
             const halo_part *part, const halo_exec *exec, halo_message *error)
{
    halo_task task;
    int code = begin(pipe, inputs, arguments, outputs, part, exec, &task, error);
    return code == HALO_OK ? end(&task, NULL, error) : code;
}

int halo_run_begin(const halo_pipe *pipe, const halo_image *inputs, const halo_arguments *arguments, const halo_image *outputs,
                   const halo_part *part, const halo_exec *exec, halo_task **task, halo_message *error)
{
    *task = malloc(sizeof **task);
    if (!*task) {
        message_fail(error, "out of memory");
        return HALO_ERROR_MEMORY;
    }
    int code = begin(pipe, inputs, arguments, outputs, part, exec, *task, error);
    if (code == HALO_OK)
        return code;
    free(*task);
    *task = NULL;
    return code;
}

int halo_run_end(halo_task *task, halo_times *times, halo_message *error)
{
    int code = end(task, times, error);
    free(task);
    return code;
}

int halo_needs(const halo_pipe *pipe, const halo_image *inputs, const halo_arguments *arguments, const halo_part *part,
               halo_part *needs, halo_message *error)
{
    prepared p;
    int code = check_engine(pipe, true, error);
    if (code == HALO_OK)
        code = check_inputs(pipe, inputs, error);
    if (code == HALO_OK)
        code = prepare(pipe, arguments, &p, error);
    if (code != HALO_OK)
        return code;
    int32_t failed = -1;
    code = pipe->code ? cpu_needs(pipe->code, inputs, p.packed, part, needs, &failed)
                      : vulkan_needs(pipe->vulkan, inputs, p.packed, part, needs, &failed);
    unprepare(&p);
    return explain_code(pipe, code, failed, inputs, error);
}
