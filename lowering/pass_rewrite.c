/* SPDX-License-Identifier: MIT
 * What passes share: binders replaced by values, stages inlined, and stages that a pass appended brought before their readers. */
#include "lowering/pass_rewrite.h"

#include "lowering/access.h"
#include "lowering/tensor_build.h"

bool any_fold(const tensor_pipe *p, fold_form form)
{
    for (uint32_t f = 1; f < p->folds.count; f++)
        if (p->folds.items[f].form == form) return true;
    return false;
}

/* ---- binders ------------------------------------------------------------------------------------------ */

typedef struct binder_values { uint32_t fold; const ref *values; } binder_values;

static ref replace_binder(rewriter *w, ref r)
{
    const binder_values *b = w->user;
    const tensor_node *n = node_at(w->pipe, r);
    return n->op == OP_binder && n->payload == b->fold ? b->values[n->index] : 0;
}

ref replace_binders(tensor_pipe *p, ref r, uint32_t fold, const ref *values)
{
    binder_values b = { fold, values };
    rewriter w;
    rewriter_begin(&w, p, replace_binder, &b);
    return rewrite(&w, r);
}

/* ---- inlining ------------------------------------------------------------------------------------------ */

/* The pad of the read that is being inlined, put on the loads of the body. */
static ref pad_visit(rewriter *w, ref r)
{
    tensor_node n = *node_at(w->pipe, r);
    const tensor_node *outer = node_at(w->pipe, *(const ref *)w->user);
    if (n.op != OP_load) return 0;
    uint8_t border[TENSOR_MAX_RANK];
    ref index[TENSOR_MAX_RANK];
    int rank = stage_at(w->pipe, n.payload)->rank;
    for (int d = 0; d < TENSOR_MAX_RANK; d++) border[d] = outer->border[d];
    for (int d = 0; d < rank; d++) index[d] = load_index(w->pipe, r, d);
    return tensor_load(w->pipe, n.payload, index, border, NULL, n.type);
}

static ref inline_visit(rewriter *w, ref r)
{
    uint32_t stage = *(const uint32_t *)w->user;
    tensor_pipe *p = w->pipe;
    tensor_node n = *node_at(p, r);
    if (n.op != OP_load || n.payload != stage) return 0;
    ref coordinates[TENSOR_MAX_RANK] = { 0 };
    bool padded = false;
    for (int d = 0; d < stage_at(p, stage)->rank; d++) {
        coordinates[d] = rewrite(w, load_index(p, r, d));
        padded = padded || n.border[d] != BORDER_none;
    }
    ref body = stage_at(p, stage)->body;
    if (padded) {
        rewriter pads;
        ref outer = r;
        rewriter_begin(&pads, p, pad_visit, &outer);
        body = rewrite(&pads, body);
    }
    return tensor_cast(p, tensor_substitute(p, body, coordinates), n.type.kind);      /* a load may widen what is stored */
}

void inline_reads(tensor_pipe *p, uint32_t reader, uint32_t stage)
{
    rewriter w;
    rewriter_begin(&w, p, inline_visit, &stage);
    ref body = rewrite(&w, stage_at(p, reader)->body);
    stage_at(p, reader)->body = body;
}

/* ---- the order of stages ------------------------------------------------------------------------------ */

typedef struct sorting { tensor_pipe *pipe; uint32_t *number; LIST(uint32_t) order; } sorting;     /* number: 0 is "not yet" */

static void place(sorting *s, uint32_t stage);

static void place_read(void *user, ref load)
{
    sorting *s = user;
    place(s, node_at(s->pipe, load)->payload);
}

/* Stages already in order find everything they read placed: only appended ones recurse. */
static void place(sorting *s, uint32_t stage)
{
    if (s->number[stage]) return;
    for_each_load(s->pipe, stage_at(s->pipe, stage)->body, place_read, s);
    LIST_PUSH(s->pipe->memory, s->order, stage);
    s->number[stage] = s->order.count;
}

/* The stages already stand where they will: a fold that is copied on the way rebuilds loads by their new numbers. */
static ref renumber(rewriter *w, ref r, const ref *args)
{
    const uint32_t *number = w->user;
    tensor_node n = *node_at(w->pipe, r);
    if (n.op != OP_load || number[n.payload] == n.payload) return 0;
    n.payload = number[n.payload];
    return node_make(w->pipe, n, args, n.n_args);
}

void sort_stages(tensor_pipe *p)
{
    sorting s = { .pipe = p, .number = ARENA_ARRAY(p->memory, uint32_t, p->stages.count) };
    bool sorted = true;
    for (uint32_t k = 1; k < p->stages.count; k++) {
        place(&s, k);
        sorted = sorted && s.number[k] == k;
    }
    if (sorted) return;
    tensor_stage *moved = ARENA_ARRAY(p->memory, tensor_stage, p->stages.count);
    for (uint32_t k = 0; k < s.order.count; k++) moved[k + 1] = *stage_at(p, s.order.items[k]);
    for (uint32_t k = 1; k < p->stages.count; k++) *stage_at(p, k) = moved[k];
    rewriter w;
    rewriter_begin(&w, p, NULL, s.number);
    w.rebuild = renumber;
    rewrite_pipe(&w);
    for (uint32_t k = 0; k < p->outputs.count; k++) p->outputs.items[k].stage = s.number[p->outputs.items[k].stage];
}
