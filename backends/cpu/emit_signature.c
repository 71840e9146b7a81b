/* SPDX-License-Identifier: MIT
 * What a row function would be, as text: two stages with equal text share one function. A chain of thirty alike stages then
 * costs the compiler one. Producers, memories and rows are reached through the frame by number, so their names don't matter;
 * everything that ends up in the code does. */
#include "backends/cpu/emit.h"

/* local: per node, its place in the text, from 1; slots: of those that rows read from the frame, whose values don't matter. */
typedef struct numbering { uint32_t *local, *slots, count; LIST(uint32_t) folds; text *out; emit_module *m; cpu_stage *stage; } numbering;

static uint32_t fold_number(numbering *n, uint32_t fold)
{
    for (uint32_t k = 0; k < n->folds.count; k++) if (n->folds.items[k] == fold) return k;
    LIST_PUSH(n->m->memory, n->folds, fold);
    return n->folds.count - 1;
}

static void describe_edge(numbering *n, const cpu_edge *e)
{
    const tensor_stage *s = stage_at(n->m->schedule->pipe, e->stage);
    text_printf(n->out, " edge%s %d%s %d t%d.%d p%d.%d.%d.%d lo%u", e->ahead ? " ahead" : "", e->kind, e->finds_rows ? "f" : "", e->producer >= 0,
                s->type.kind, s->type.lanes, e->p_x, e->q_x, e->p_y, e->q_y, e->lo_y);
    for (int d = 2; d < s->rank && e->producer >= 0; d++) text_printf(n->out, " %u..%u", s->lo[d], s->hi[d]);
    if (e->producer >= 0) return;
    if (e->memory < 0) { text_printf(n->out, " table %u", e->stage); return; }
    const cpu_memory *m = &n->m->schedule->memories.items[e->memory];
    text_printf(n->out, " m%d.%d", m->planar, m->bgra);
    bool whole = e->kind == READ_anywhere || e->finds_rows;
    if (e->kind != READ_anywhere && s->rank > 2) text_printf(n->out, " #%d", e->memory);
    for (int d = 0; d < s->rank && whole; d++) if (edge_uses_bounds(e, d)) text_printf(n->out, " %u..%u", s->lo[d], s->hi[d]);
}

static void describe_fold(numbering *n, uint32_t fold)
{
    tensor_fold f = *fold_at(n->m->schedule->pipe, fold);
    text_printf(n->out, " fold %u f%d", fold_number(n, fold), f.form);
    for (int b = 0; b < f.n_binders; b++) text_printf(n->out, " %u..%u", n->local[f.lo[b]], n->local[f.hi[b]]);
    for (uint32_t k = 0; k < n->stage->skewed.count; k++) if (n->stage->skewed.items[k] == fold) text_string(n->out, " skewed");
    text_printf(n->out, " w%u", n->local[f.where]);
    for (int a = 0; a < f.n_accs; a++) text_printf(n->out, " %u>%u", n->local[f.init[a]], n->local[f.next[a]]);
}

static void describe_load(numbering *n, ref r)
{
    const tensor_node *node = node_at(n->m->schedule->pipe, r);
    for (uint32_t k = 0; k < n->stage->loads.count; k++) {
        if (n->stage->loads.items[k].load != r) continue;
        text_printf(n->out, " e%d", n->stage->loads.items[k].edge);
        const cpu_edge *e = &n->stage->edges.items[n->stage->loads.items[k].edge];
        if (e->kind == READ_row && !e->finds_rows) return;
    }
    for (int d = 0; d < TENSOR_MAX_RANK; d++) text_printf(n->out, ".%d", node->border[d]);
}

static void describe_node(numbering *n, ref r)
{
    const tensor_pipe *p = n->m->schedule->pipe;
    const tensor_node *node = node_at(p, r);
    text_printf(n->out, "\n%d %d.%d i%d", node->op, node->type.kind, node->type.lanes, node->index);
    switch ((tensor_op)node->op) {
    case OP_load: describe_load(n, r); break;
    case OP_result: describe_fold(n, node->payload); break;
    case OP_binder: case OP_acc: text_printf(n->out, " f%u", fold_number(n, node->payload)); break;
    default: text_printf(n->out, " %u", node->payload); break;
    }
    for (int k = 0; k < node->n_args; k++) text_printf(n->out, " %u", n->local[node_arg(p, r, k)]);
}

static void describe(numbering *n, ref r)
{
    const tensor_pipe *p = n->m->schedule->pipe;
    if (r == 0 || n->local[r]) return;
    const tensor_node *node = node_at(p, r);
    if (n->slots[r]) {
        text_printf(n->out, "\nslot %u %d", n->slots[r], node->type.kind);
        n->local[r] = ++n->count;
        return;
    }
    for (int k = 0; k < node->n_args; k++) describe(n, node_arg(p, r, k));
    if (node->op == OP_result) {
        tensor_fold f = *fold_at(p, node->payload);
        for (int b = 0; b < f.n_binders; b++) { describe(n, f.lo[b]); describe(n, f.hi[b]); }
        describe(n, f.where);
        for (int a = 0; a < f.n_accs; a++) { describe(n, f.init[a]); describe(n, f.next[a]); }
    }
    describe_node(n, r);
    n->local[r] = ++n->count;
}

char *emit_signature(emit_module *m, cpu_stage *stage, ref body, int group, int unroll)
{
    tensor_pipe *p = m->schedule->pipe;
    text out = { 0 };
    uint32_t n_nodes = p->nodes.count;
    numbering n = { .local = ARENA_ARRAY(m->memory, uint32_t, n_nodes), .slots = ARENA_ARRAY(m->memory, uint32_t, n_nodes), .out = &out, .m = m, .stage = stage };
    for (uint32_t k = 0; k < stage->uniforms.count; k++) n.slots[stage->uniforms.items[k]] = k + 1;
    const cpu_memory *to = stage->sink ? &m->schedule->memories.items[stage->memory] : NULL;
    text_printf(&out, "lanes %d stream %d unroll %d rows %d flat %d.%d planes %d bgra %d type %d.%d", stage->lanes, stage->stream_bytes, unroll, group, stage->flat, stage->apart,
                to ? to->planar : !stage->flat, to ? to->bgra : 0, node_type(p, body).kind, node_type(p, body).lanes);
    if (stage->phases) text_printf(&out, " phases %d.%d", stage->phases->columns, stage->phases->rows);
    for (uint32_t k = 0; k < stage->edges.count; k++) describe_edge(&n, &stage->edges.items[k]);
    describe(&n, body);
    char *copy = arena_string(m->memory, out.bytes ? out.bytes : "", out.count);
    text_free(&out);
    return copy;
}
