/* SPDX-License-Identifier: MIT
 * Counting: a division weighs as much as its latency beside a sum, a loop as a few of its elements; index arithmetic is free. */
#include "lowering/body_cost.h"

static void cost_load(tensor_pipe *p, uint32_t stage, ref load, body_cost *cost)
{
    const tensor_stage *s = stage_at(p, stage), *from = stage_at(p, node_at(p, load)->payload);
    cost->loads++;
    if (from->rank != s->rank) { cost->identity = false; return; }
    for (int d = 0; d < s->rank; d++) {
        const tensor_node *i = node_at(p, load_index(p, load, d));
        if (i->op != OP_coord || i->index != d || node_at(p, load)->border[d] != BORDER_none
            || from->lo[d] != s->lo[d] || from->hi[d] != s->hi[d]) cost->identity = false;
    }
}

body_cost body_cost_of(tensor_pipe *p, uint32_t stage)
{
    body_cost cost = { .identity = true };
    ref_list nodes = { 0 };
    reached_nodes(p, p->memory, &stage_at(p, stage)->body, 1, &nodes);
    for (uint32_t k = 0; k < nodes.count; k++) {
        ref r = nodes.items[k];
        const tensor_node *n = node_at(p, r);
        for (int a = 0; a < n->n_args && n->op != OP_load; a++)
            if (node_at(p, node_arg(p, r, a))->op == OP_coord) cost.coordinates = true;
        switch ((tensor_op)n->op) {
        case OP_load:   cost_load(p, stage, r, &cost); break;
        case OP_coord:  cost.coordinates = cost.coordinates || r == stage_at(p, stage)->body; break;
        case OP_result: cost.folds = true; cost.operations += 16; break;
        case OP_cast: case OP_wrap: case OP_bitcast: cost.casts++; break;
        case OP_div: case OP_sqrt: case OP_floordiv: case OP_mod: cost.operations += n->type.kind == KIND_f32 ? 8 : 4; break;
        case OP_const: case OP_param: case OP_dim: case OP_splat: case OP_vec: case OP_comp: break;
        default: cost.operations++; break;
        }
    }
    return cost;
}
