/* SPDX-License-Identifier: MIT
 * Unrolling: a fold of few elements with constant bounds becomes the chain that it stands for, in its own order, so that taps
 * become constant offsets and their weights literals. Longer folds stay loops: code never grows with a kernel's size. */
#include "lowering/prepare.h"

#include <string.h>

enum { MOST_POOL_NODES = 400000 };

typedef struct unroller { depends *all; unroll_limits limits; bool changed; uint32_t fold; ref binder[TENSOR_MAX_BINDERS], acc[TENSOR_MAX_ACCS]; } unroller;

static bool constant_bounds(const tensor_pipe *p, uint32_t fold, int64_t most, int64_t *lo, int64_t *hi, int64_t *count)
{
    const tensor_fold *f = fold_at((tensor_pipe *)(uintptr_t)p, fold);
    *count = 1;
    for (int b = 0; b < f->n_binders; b++) {
        if (!node_is_const(p, f->lo[b], &lo[b]) || !node_is_const(p, f->hi[b], &hi[b])) return false;
        int64_t n = hi[b] - lo[b] + 1;
        if (n < 0) n = 0;
        *count *= n;
        if (*count > most) return false;
    }
    return true;
}

/* Nodes that one element adds: what depends on the fold's binders or accs. */
static uint32_t element_nodes(tensor_pipe *p, depends *all, uint32_t fold)
{
    tensor_fold f = *fold_at(p, fold);
    ref roots[TENSOR_MAX_ACCS + 1];
    uint32_t n_roots = 0, count = 0;
    for (int a = 0; a < f.n_accs; a++) roots[n_roots++] = f.next[a];
    if (f.where) roots[n_roots++] = f.where;
    ref_list nodes = { 0 };
    reached_nodes(p, p->memory, roots, n_roots, &nodes);
    for (uint32_t k = 0; k < nodes.count; k++)
        if (depend_is_open(depends_of(p, all, nodes.items[k]))) count++;
    return count;
}

static ref element_visit(rewriter *w, ref r)
{
    const unroller *u = w->user;
    tensor_node n = *node_at(w->pipe, r);
    if (n.op == OP_binder && n.payload == u->fold) return u->binder[n.index];
    if (n.op == OP_acc && n.payload == u->fold) return u->acc[n.index];
    return 0;
}

static void unroll_element(tensor_pipe *p, unroller *u, const int64_t *at)
{
    tensor_fold f = *fold_at(p, u->fold);
    rewriter w;
    ref next[TENSOR_MAX_ACCS], where = 0;
    for (int b = 0; b < f.n_binders; b++) u->binder[b] = tensor_i32(p, (int32_t)at[b]);
    rewriter_begin(&w, p, element_visit, u);
    if (f.where) where = rewrite(&w, f.where);
    for (int a = 0; a < f.n_accs; a++) {
        next[a] = rewrite(&w, f.next[a]);
        if (where) next[a] = tensor_select(p, where, next[a], u->acc[a]);
    }
    memcpy(u->acc, next, sizeof next);
}

static ref unroll_fold(tensor_pipe *p, uint32_t fold, int which, const int64_t *lo, const int64_t *hi, int64_t count)
{
    tensor_fold f = *fold_at(p, fold);
    unroller u = { .fold = fold };
    int64_t at[TENSOR_MAX_BINDERS];
    for (int a = 0; a < f.n_accs; a++) u.acc[a] = f.init[a];
    memcpy(at, lo, sizeof at);
    for (int64_t k = 0; k < count; k++) {
        unroll_element(p, &u, at);
        for (int b = f.n_binders - 1; b >= 0 && ++at[b] > hi[b]; b--) at[b] = lo[b];
    }
    return u.acc[which];
}

static ref fold_visit(rewriter *w, ref r)
{
    unroller *u = w->user;
    tensor_node n = *node_at(w->pipe, r);
    int64_t lo[TENSOR_MAX_BINDERS] = { 0 }, hi[TENSOR_MAX_BINDERS] = { 0 }, count;
    if (n.op != OP_result || !constant_bounds(w->pipe, n.payload, u->limits.elements, lo, hi, &count)) return 0;
    if (w->pipe->nodes.count > MOST_POOL_NODES) return 0;
    if (count > 1 && count * element_nodes(w->pipe, u->all, n.payload) > u->limits.nodes) return 0;
    u->changed = true;
    return unroll_fold(w->pipe, n.payload, n.index, lo, hi, count);
}

void unroll_folds(tensor_pipe *p, depends *all, unroll_limits limits)
{
    for (uint32_t s = 1; s < p->stages.count; s++) {
        if (stage_at(p, s)->kind != STAGE_compute) continue;
        for (int round = 0; round < 6; round++) {
            unroller u = { .all = all, .limits = limits };
            rewriter w;
            rewriter_begin(&w, p, fold_visit, &u);
            ref body = rewrite(&w, stage_at(p, s)->body);
            stage_at(p, s)->body = body;
            if (!u.changed) break;
        }
    }
}
