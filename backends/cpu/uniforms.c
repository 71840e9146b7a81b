/* SPDX-License-Identifier: MIT
 * The numbers of a stage that are the same for a whole run, from sizes and parameters. A run's setup computes them once and rows
 * read them, instead of computing them again in every row; and stages that differ in such numbers alone, as those of a separable
 * resize do, are one function. */
#include "backends/cpu/schedule.h"

typedef struct collector { cpu_schedule *schedule; cpu_stage *stage; uint8_t *seen, *left; } collector;

/* Numbers that fit a slot and are more than a constant. */
static bool fits_slot(const tensor_pipe *p, ref r)
{
    const tensor_node *n = node_at(p, r);
    if (n->op == OP_const || n->type.lanes != 1 || n->type.kind == KIND_f16) return false;
    return n->type.kind == KIND_f32 || (!kind_is_float(n->type.kind) && kind_get((kind)n->type.kind)->n_bytes <= 4);
}

static void collect(collector *c, ref r)
{
    const tensor_pipe *p = c->schedule->pipe;
    if (r == 0 || c->seen[r]) return;
    c->seen[r] = 1;
    if (node_is_uniform(p, r) && !c->left[r] && fits_slot(p, r)) {
        LIST_PUSH(c->schedule->memory, c->stage->uniforms, r);
        return;
    }
    tensor_node n = *node_at(p, r);
    for (int k = 0; k < n.n_args; k++) collect(c, node_arg(p, r, k));
    if (n.op != OP_result) return;
    tensor_fold f = *fold_at(p, n.payload);
    for (int b = 0; b < f.n_binders; b++) { collect(c, f.lo[b]); collect(c, f.hi[b]); }
    collect(c, f.where);
    for (int a = 0; a < f.n_accs; a++) { collect(c, f.init[a]); collect(c, f.next[a]); }
}

/* Of indices and bounds the shape of the expression decides how rows are read, not only its value: those stay as they are. */
static void leave(collector *c, ref r)
{
    ref_list nodes = { 0 };
    if (r) reached_nodes(c->schedule->pipe, c->schedule->memory, &r, 1, &nodes);
    for (uint32_t k = 0; k < nodes.count; k++) c->left[nodes.items[k]] = 1;
}

static void leave_reads(collector *c)
{
    const tensor_pipe *p = c->schedule->pipe;
    for (uint32_t k = 0; k < c->stage->loads.count; k++) {
        const cpu_read *read = &c->stage->loads.items[k];
        leave(c, read->rest_x);
        leave(c, read->rest_y);
        for (int d = 0; d < stage_at(p, node_at(p, read->load)->payload)->rank; d++) leave(c, load_index(p, read->load, d));
    }
    for (uint32_t k = 0; k < c->stage->edges.count; k++) {
        const cpu_edge *e = &c->stage->edges.items[k];
        leave(c, e->lo_y);
        for (int d = 0; d < stage_at(p, e->stage)->rank; d++) if (edge_uses_bounds(e, d)) { leave(c, stage_at(p, e->stage)->lo[d]); leave(c, stage_at(p, e->stage)->hi[d]); }
    }
}

void schedule_uniforms(cpu_schedule *s)
{
    uint32_t n = s->pipe->nodes.count;
    for (uint32_t k = 0; k < s->sections.count; k++)
        for (uint32_t j = 0; j < s->sections.items[k].stages.count; j++) {
            cpu_stage *stage = section_stage(&s->sections.items[k], (int)j);
            if (stage->phases) continue;                 /* whose bodies were simplified by what these numbers are made of */
            collector c = { s, stage, ARENA_ARRAY(s->memory, uint8_t, n), ARENA_ARRAY(s->memory, uint8_t, n) };
            leave_reads(&c);
            collect(&c, stage_at(s->pipe, stage->stage)->body);
            collect(&c, stage->value_x);
            collect(&c, stage->value_y);
        }
}
