/* SPDX-License-Identifier: MIT
 * Stages that no output reads, directly or through others, go away. Inputs stay: they are the pipe's signature. The stages keep
 * their order, so what is left only gets smaller numbers. */
#include "lowering/body.h"
#include "lowering/pass.h"

static bool *find_live(tensor_pipe *p)
{
    bool *live = ARENA_ARRAY(p->memory, bool, p->stages.count);
    body b;
    body_begin(&b, p->memory, p);
    for (uint32_t k = 0; k < p->outputs.count; k++)
        live[p->outputs.items[k].stage] = true;
    for (uint32_t s = p->stages.count; s-- > 1;) {          /* a stage loads only from earlier ones */
        live[s] = live[s] || s <= p->n_inputs;
        if (!live[s] || stage_at(p, s)->kind != STAGE_compute)
            continue;
        body_clear(&b);
        body_add(&b, stage_at(p, s)->body);
        for (uint32_t k = 0; k < b.nodes.count; k++) {
            const tensor_node *n = node_at(p, b.nodes.items[k].node);
            if (n->op == OP_load)
                live[n->payload] = true;
        }
    }
    return live;
}

/* Loads from renumbered stages; the copy in `user` maps old numbers to new ones. */
static ref renumber(rewriter *w, ref r, const ref *args)
{
    const tensor_pipe *p = w->pipe;
    const uint32_t *number = w->user;
    tensor_node n = *node_at(p, r);
    if (n.op != OP_load || number[n.payload] == n.payload)
        return 0;
    ref outside[TENSOR_MAX_RANK] = { 0 };
    int next = stage_at(p, number[n.payload])->rank;       /* it has moved there already */
    for (int k = 0; k < TENSOR_MAX_RANK; k++)
        if (n.border[k] == BORDER_value)
            outside[k] = args[next++];
    return tensor_load(w->pipe, number[n.payload], args, n.border, outside, n.type);
}

bool pass_clean(tensor_pipe *p)
{
    bool *live = find_live(p);
    uint32_t *number = ARENA_ARRAY(p->memory, uint32_t, p->stages.count), n_live = 1;
    for (uint32_t s = 1; s < p->stages.count; s++)
        if (live[s])
            number[s] = n_live++;
    if (n_live == p->stages.count)
        return false;
    rewriter w;
    rewriter_begin(&w, p, NULL, number);
    w.rebuild = renumber;
    /* A stage moves down before a reader's loads are made, and nothing later needs what it overwrites. */
    for (uint32_t s = 1; s < p->stages.count; s++) {
        if (!live[s])
            continue;
        ref body = rewrite(&w, stage_at(p, s)->body);
        tensor_stage moved = *stage_at(p, s);
        moved.body = body;
        *stage_at(p, number[s]) = moved;
    }
    for (uint32_t k = 0; k < p->outputs.count; k++)
        p->outputs.items[k].stage = number[p->outputs.items[k].stage];
    p->stages.count = n_live;
    return true;
}
