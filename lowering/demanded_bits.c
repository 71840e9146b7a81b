/* SPDX-License-Identifier: MIT
 * From the last stage to the first, and in each body from the result to the operands. An accumulator is asked for as many bits as
 * its result; where the loop asks it for more, the result is asked again. */
#include "lowering/demanded_bits.h"

#include "lowering/access.h"
#include "lowering/tensor_build.h"

typedef struct demand { tensor_pipe *pipe; uint8_t *stages, *nodes; } demand;

static int bits_of(const tensor_pipe *p, ref r) { return kind_get((kind)node_type(p, r).kind)->bits; }

static void ask(demand *d, ref r, int bits)
{
    if (r && d->nodes[r] < bits) d->nodes[r] = (uint8_t)bits;
}

static void ask_all_args(demand *d, ref r, int bits)
{
    for (int k = 0; k < node_at(d->pipe, r)->n_args; k++) ask(d, node_arg(d->pipe, r, k), bits);
}

/* Truncation and extension leave the bits that both kinds have where they are; above them the sign is looked at. */
static void ask_converted(demand *d, ref r, int bits)
{
    tensor_pipe *p = d->pipe;
    const tensor_node *n = node_at(p, r);
    ref from = node_arg(p, r, 0);
    kind a = (kind)node_type(p, from).kind, b = (kind)n->type.kind;
    bool plain = kind_is_integer(a) && kind_is_integer(b) && (n->op == OP_wrap || kind_holds(b, a));
    ask(d, from, plain && bits <= bits_of(p, from) ? bits : ALL_BITS);
}

static void ask_load(demand *d, ref r, int bits)
{
    tensor_pipe *p = d->pipe;
    const tensor_node *n = node_at(p, r);
    int rank = stage_at(p, n->payload)->rank;
    for (int k = 0; k < n->n_args; k++) ask(d, node_arg(p, r, k), k < rank ? ALL_BITS : bits);
    if (!kind_is_integer(n->type.kind)) bits = ALL_BITS;
    if (d->stages[n->payload] < bits) d->stages[n->payload] = (uint8_t)bits;
}

static void ask_fold(demand *d, const tensor_node *n, int bits)
{
    tensor_fold f = *fold_at(d->pipe, n->payload);
    if (f.form == FOLD_median) bits = ALL_BITS;
    ask(d, f.where, ALL_BITS);
    for (int b = 0; b < f.n_binders; b++) { ask(d, f.lo[b], ALL_BITS); ask(d, f.hi[b], ALL_BITS); }
    ask(d, f.init[n->index], bits);
    ask(d, f.next[n->index], bits);
}

static void ask_operands(demand *d, ref r)
{
    const tensor_node *n = node_at(d->pipe, r);
    bool whole = kind_is_integer(n->type.kind);
    int bits = whole && bits_of(d->pipe, r) < d->nodes[r] ? bits_of(d->pipe, r) : d->nodes[r];       /* there are no more */
    switch (n->op) {
    case OP_add: case OP_sub: case OP_mul: case OP_neg: case OP_bitand: case OP_bitor: case OP_bitxor:
    case OP_splat: case OP_vec: case OP_comp:
        ask_all_args(d, r, whole ? bits : ALL_BITS);
        break;
    case OP_shl:
        ask(d, node_arg(d->pipe, r, 0), bits);
        ask(d, node_arg(d->pipe, r, 1), ALL_BITS);
        break;
    case OP_select:
        ask(d, node_arg(d->pipe, r, 0), ALL_BITS);
        for (int k = 1; k < 3; k++) ask(d, node_arg(d->pipe, r, k), whole ? bits : ALL_BITS);
        break;
    case OP_cast: case OP_wrap: ask_converted(d, r, bits); break;
    case OP_load:   ask_load(d, r, bits); break;
    case OP_result: ask_fold(d, n, bits); break;
    default:        ask_all_args(d, r, ALL_BITS); break;
    }
}

/* Accumulators that were asked for more than their results; false when there are none. */
static bool ask_results(demand *d, const ref_list *nodes)
{
    bool more = false;
    for (uint32_t k = 0; k < nodes->count; k++) {
        const tensor_node *n = node_at(d->pipe, nodes->items[k]);
        if (n->op != OP_acc) continue;
        for (uint32_t j = 0; j < nodes->count; j++) {
            const tensor_node *result = node_at(d->pipe, nodes->items[j]);
            if (result->op != OP_result || result->payload != n->payload) continue;
            /* Every result of the loop: what one of its accumulators is asked for may reach the others. */
            if (d->nodes[nodes->items[j]] >= d->nodes[nodes->items[k]]) continue;
            d->nodes[nodes->items[j]] = d->nodes[nodes->items[k]];
            more = true;
        }
    }
    return more;
}

static void ask_stage(demand *d, arena *memory, uint32_t stage)
{
    const tensor_stage *s = stage_at(d->pipe, stage);
    ref_list nodes = { 0 };
    reached_nodes(d->pipe, memory, &s->body, 1, &nodes);
    for (uint32_t k = 0; k < nodes.count; k++) d->nodes[nodes.items[k]] = 0;
    ask(d, s->body, d->stages[stage]);
    do
        for (uint32_t k = nodes.count; k-- > 0;) ask_operands(d, nodes.items[k]);
    while (ask_results(d, &nodes));
}

const uint8_t *demanded_bits(tensor_pipe *p, arena *memory)
{
    demand d = { .pipe = p, .stages = ARENA_ARRAY(memory, uint8_t, p->stages.count), .nodes = ARENA_ARRAY(memory, uint8_t, p->nodes.count) };
    for (uint32_t k = 0; k < p->outputs.count; k++) d.stages[p->outputs.items[k].stage] = ALL_BITS;
    for (uint32_t s = p->stages.count - 1; s >= 1; s--) {
        if (stage_at(p, s)->kind != STAGE_compute || d.stages[s] == 0) continue;
        if (!kind_is_integer(stage_at(p, s)->type.kind)) d.stages[s] = ALL_BITS;
        ask_stage(&d, memory, s);
    }
    return d.stages;
}
