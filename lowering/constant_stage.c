/* SPDX-License-Identifier: MIT
 * Computes constant stages with the reference interpreter's own body runner, so a table holds the very bits that the stage
 * would have computed. */
#include "lowering/constant_stage.h"

#include <stdlib.h>
#include <string.h>

#include "lowering/access.h"
#include "lowering/interpret_body.h"

enum { MAX_PIXELS = 65536, MAX_STEPS = 1 << 19 };

/* ---- which are known --------------------------------------------------------------------------------- */

static bool constant_range(const tensor_pipe *p, ref lo, ref hi, int64_t *first, int64_t *count)
{
    int64_t last;
    if (!node_is_const(p, lo, first) || !node_is_const(p, hi, &last)) return false;
    *count = last < *first ? 0 : last - *first + 1;
    return true;
}

/* How often the inside of a fold runs; -1 when unknown. */
static int64_t fold_count(const tensor_pipe *p, uint32_t fold)
{
    const tensor_fold *f = &p->folds.items[fold];
    int64_t total = 1, first, count;
    for (int b = 0; b < f->n_binders; b++) {
        if (!constant_range(p, f->lo[b], f->hi[b], &first, &count)) return -1;
        total *= count;
        if (total > MAX_STEPS) return -1;
    }
    return total;
}

static int64_t pixel_count(const tensor_pipe *p, uint32_t stage)
{
    const tensor_stage *s = stage_at(p, stage);
    int64_t total = 1, first, count;
    for (int d = 0; d < s->rank; d++) {
        if (!constant_range(p, s->lo[d], s->hi[d], &first, &count)) return -1;
        total *= count;
        if (total > MAX_PIXELS) return -1;
    }
    return total;
}

/* Every node counts as often as all folds of the body together run: too much for what stands outside, never too little. */
static bool body_is_known(tensor_pipe *p, uint32_t stage, const bool *known)
{
    ref_list nodes = { 0 };
    ref body = stage_at(p, stage)->body;
    reached_nodes(p, p->memory, &body, 1, &nodes);
    int64_t steps = pixel_count(p, stage) * nodes.count;
    for (uint32_t k = 0; k < nodes.count; k++) {
        const tensor_node *n = node_at(p, nodes.items[k]);
        if (n->op == OP_param || n->op == OP_dim || (n->op == OP_load && !known[n->payload])) return false;
        if (n->op != OP_result) continue;
        int64_t count = fold_count(p, n->payload);
        if (count < 0) return false;
        steps *= count ? count : 1;
        if (steps > MAX_STEPS) return false;
    }
    return steps <= MAX_STEPS;
}

constant_stages constant_stages_of(tensor_pipe *p)
{
    constant_stages c = { ARENA_ARRAY(p->memory, bool, p->stages.count), p->stages.count };
    for (uint32_t s = 1; s < p->stages.count; s++) {
        if (stage_at(p, s)->kind == STAGE_table) c.known[s] = pixel_count(p, s) > 0;
        else if (stage_at(p, s)->kind == STAGE_compute) c.known[s] = pixel_count(p, s) > 0 && body_is_known(p, s, c.known);
    }
    return c;
}

void constant_bounds(const tensor_pipe *p, uint32_t stage, int32_t *lo, int32_t *extent)
{
    const tensor_stage *s = stage_at(p, stage);
    for (int d = 0; d < s->rank; d++) {
        int64_t first = 0, count = 0;
        constant_range(p, s->lo[d], s->hi[d], &first, &count);
        lo[d] = (int32_t)first;
        extent[d] = (int32_t)count;
    }
}

/* ---- their values --------------------------------------------------------------------------------------- */

static void prepare(run *r, uint32_t stage)
{
    const tensor_stage *s = stage_at(r->pipe, stage);
    stage_memory *m = &r->stages[stage];
    size_t component = (size_t)kind_get(s->type.kind)->n_bytes, bytes = component * s->type.lanes;
    uniforms_bounds(&r->uniforms, stage, m->lo, m->extent);
    m->encoding = ENCODING_kind;
    for (int d = 0; d < TENSOR_MAX_RANK; d++) {
        m->stride[d] = (ptrdiff_t)bytes;
        bytes *= (size_t)m->extent[d];
    }
    m->data = arena_alloc(r->memory, bytes + 1);
    for (size_t k = 0; s->kind == STAGE_table && k < bytes / component; k++)
        cell_encode(r->how, ENCODING_kind, s->type.kind, cell_of_bits(r->how, s->type.kind, s->words[k]), m->data + k * component);
}

/* Depth is that of constant stages reading constant stages; `nodes` of one body at a time. */
static void evaluate(run *r, uint32_t stage)
{
    if (r->stages[stage].data) return;
    prepare(r, stage);
    ref body = stage_at(r->pipe, stage)->body;
    if (stage_at(r->pipe, stage)->kind == STAGE_table) return;
    body_clear(&r->body);
    body_add(&r->body, body);
    LIST(uint32_t) reads = { 0 };
    for (uint32_t k = 0; k < r->body.nodes.count; k++) {
        const tensor_node *n = node_at(r->pipe, r->body.nodes.items[k].node);
        if (n->op == OP_load) LIST_PUSH(r->memory, reads, n->payload);
    }
    for (uint32_t k = 0; k < reads.count; k++) evaluate(r, reads.items[k]);
    if (!r->failed) run_stage(r, stage);
}

static const uint32_t *words_of(run *r, uint32_t stage, arena *memory)
{
    const tensor_stage *s = stage_at(r->pipe, stage);
    const stage_memory *m = &r->stages[stage];
    size_t n = s->type.lanes, component = (size_t)kind_get(s->type.kind)->n_bytes;
    for (int d = 0; d < s->rank; d++) n *= (size_t)m->extent[d];
    uint32_t *words = ARENA_ARRAY(memory, uint32_t, n ? n : 1);
    for (size_t k = 0; k < n; k++) {
        cell c = cell_decode(r->how, ENCODING_kind, s->type.kind, m->data + k * component);
        scalar value = kind_is_float(s->type.kind) ? (scalar){ .f = c.f } : (scalar){ .i = c.i };
        words[k] = bits_of_scalar(s->type.kind, value);
    }
    return words;
}

const uint32_t *constant_words(tensor_pipe *p, uint32_t stage)
{
    if (stage_at(p, stage)->kind == STAGE_table) return stage_at(p, stage)->words;
    text problem = { 0 };
    run r = { .pipe = p, .how = { false, rounds_products(p) }, .problem = &problem, .memory = arena_scratch(p->memory) };
    const run_values nothing = { 0 };
    const uint32_t *words = NULL;
    if (!uniforms_begin(&r.uniforms, p, &nothing, p->nodes.count)) arena_fail(r.memory);
    r.stages = ARENA_ARRAY(r.memory, stage_memory, p->stages.count);
    body_begin(&r.body, r.memory, p);
    evaluate(&r, stage);
    if (!r.failed) words = words_of(&r, stage, p->memory);
    uniforms_end(&r.uniforms);
    arena_free(r.memory);
    text_free(&problem);
    return words;
}
