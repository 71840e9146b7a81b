/* SPDX-License-Identifier: MIT
 * The reference interpreter: every stage in order, over all of its bounds, its pixels kept until the last stage that reads them.
 * Inputs are read where the host has them and outputs written there; nothing is fused, skipped or vectorised. */
#include "lowering/interpret.h"

#include <stdlib.h>
#include <string.h>

#include "lowering/interpret_body.h"

/* ---- memory of stages -------------------------------------------------------------------------- */

static bool allocate_stage(run *r, uint32_t s)
{
    const tensor_stage *stage = stage_at(r->pipe, s);
    stage_memory *memory = &r->stages[s];
    memory->encoding = r->how.as_written && kind_is_float(stage->type.kind) ? ENCODING_double : ENCODING_kind;
    size_t bytes = (size_t)encoded_bytes(memory->encoding, stage->type.kind) * stage->type.lanes;
    for (int k = 0; k < TENSOR_MAX_RANK; k++) {
        memory->stride[k] = (ptrdiff_t)bytes;
        if (__builtin_mul_overflow(bytes, (size_t)memory->extent[k], &bytes))
            return false;
    }
    memory->data = memory->owned = malloc(bytes ? bytes : 1);
    return memory->owned != NULL;
}

static void release_stage(run *r, uint32_t s)
{
    free(r->stages[s].owned);
    r->stages[s].owned = NULL;
}

static void place_input(run *r, uint32_t s, const halo_image *image)
{
    stage_memory *memory = &r->stages[s];
    memory->data = image->data;
    memcpy(memory->stride, image->stride, sizeof memory->stride);
}

static bool place_table(run *r, uint32_t s)
{
    const tensor_stage *stage = stage_at(r->pipe, s);
    if (!allocate_stage(r, s))
        return false;
    stage_memory *memory = &r->stages[s];
    size_t n_words = stage->type.lanes;
    int n_bytes = encoded_bytes(memory->encoding, stage->type.kind);
    for (int k = 0; k < stage->rank; k++)
        n_words *= (size_t)memory->extent[k];
    for (size_t k = 0; k < n_words; k++) {
        cell value = cell_of_bits(r->how, stage->type.kind, stage->words[k]);
        cell_encode(r->how, memory->encoding, stage->type.kind, value, memory->data + k * (size_t)n_bytes);
    }
    return true;
}

/* Who reads whom last. One pass over all nodes of every body. */
static void find_last_readers(run *r)
{
    const tensor_pipe *p = r->pipe;
    for (uint32_t s = 1; s < p->stages.count; s++) {
        if (stage_at(p, s)->kind != STAGE_compute)
            continue;
        body_clear(&r->body);
        body_add(&r->body, stage_at(p, s)->body);
        for (uint32_t k = 0; k < r->body.nodes.count; k++) {
            const tensor_node *n = node_at(p, r->body.nodes.items[k].node);
            if (n->op == OP_load)
                r->stages[n->payload].last_reader = s;
        }
    }
    for (uint32_t k = 0; k < p->outputs.count; k++)
        r->stages[p->outputs.items[k].stage].last_reader = UINT32_MAX;
}

static void release_read(run *r, uint32_t reader)
{
    for (uint32_t s = 1; s <= reader; s++)
        if (r->stages[s].owned && r->stages[s].last_reader <= reader)
            release_stage(r, s);
}

/* ---- outputs --------------------------------------------------------------------------------- */

static void write_output(run *r, uint32_t s, const halo_image *image)
{
    const tensor_stage *stage = stage_at(r->pipe, s);
    const stage_memory *memory = &r->stages[s];
    int from_bytes = encoded_bytes(memory->encoding, stage->type.kind), to_bytes = kind_get(stage->type.kind)->n_bytes;
    int64_t at[TENSOR_MAX_RANK], offset[TENSOR_MAX_RANK] = { 0 };
    for (int k = 0; k < TENSOR_MAX_RANK; k++)
        if (memory->extent[k] == 0)
            return;
    for (int k = 0; k < TENSOR_MAX_RANK;) {
        char *to = image->data;
        for (k = 0; k < stage->rank; k++) {
            at[k] = memory->lo[k] + offset[k];
            to += offset[k] * image->stride[k];
        }
        const char *from = pixel_address(memory, stage->rank, at);
        for (int lane = 0; lane < stage->type.lanes; lane++) {
            cell value = cell_decode(r->how, memory->encoding, stage->type.kind, from + lane * from_bytes);
            cell_encode(r->how, ENCODING_kind, stage->type.kind, value, to + lane * to_bytes);
        }
        for (k = 0; k < TENSOR_MAX_RANK && ++offset[k] == memory->extent[k]; k++)
            offset[k] = 0;
    }
}

/* ---- a run ----------------------------------------------------------------------------------- */

static bool prepare_stage(run *r, uint32_t s, const run_values *values)
{
    stage_memory *memory = &r->stages[s];
    uniforms_bounds(&r->uniforms, s, memory->lo, memory->extent);
    switch (stage_at(r->pipe, s)->kind) {
    case STAGE_input: place_input(r, s, &values->inputs[s - 1]); return true;
    case STAGE_table: return place_table(r, s);
    default:          return allocate_stage(r, s);
    }
}

static int run_stages(run *r, const run_values *values)
{
    find_last_readers(r);
    for (uint32_t s = 1; s < r->pipe->stages.count; s++) {
        if (!prepare_stage(r, s, values))
            return HALO_ERROR_MEMORY;
        if (stage_at(r->pipe, s)->kind == STAGE_compute)
            run_stage(r, s);
        if (r->failed)
            return HALO_ERROR_SIZE;
        release_read(r, s);
    }
    return HALO_OK;
}

/* The arena of a run, so that a failed allocation comes back here. */
static int run_in(run *r, const run_values *values, const halo_image *outputs)
{
    jmp_buf no_memory;
    if (setjmp(no_memory))
        return HALO_ERROR_MEMORY;
    arena_set_failure(r->memory, &no_memory);
    r->stages = ARENA_ARRAY(r->memory, stage_memory, r->pipe->stages.count);
    body_begin(&r->body, r->memory, r->pipe);
    int code = run_stages(r, values);
    for (uint32_t k = 0; code == HALO_OK && k < r->pipe->outputs.count; k++)
        write_output(r, r->pipe->outputs.items[k].stage, &outputs[k]);
    return code;
}

int interpret(const tensor_pipe *p, const run_values *values, const halo_image *outputs, bool as_written, text *problem)
{
    int code = run_check(p, values, NULL);
    if (code != HALO_OK)
        return code;
    run r = { .pipe = p, .how = { as_written, rounds_products(p) }, .problem = problem, .memory = arena_new(NULL) };
    code = HALO_ERROR_MEMORY;
    if (r.memory && uniforms_begin(&r.uniforms, p, values, p->nodes.count))
        code = run_in(&r, values, outputs);
    for (uint32_t s = 1; r.stages && s < p->stages.count; s++)
        free(r.stages[s].owned);
    uniforms_end(&r.uniforms);
    arena_free(r.memory);
    return code;
}
