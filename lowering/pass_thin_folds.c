/* SPDX-License-Identifier: MIT
 * Exact pass `thin_folds`: a variable of a reduction that takes one value only becomes that value, and a reduction over one
 * element that element.
 *
 * Why: a column of taps is written as a kernel one wide. Left alone, every tap of it would run a loop of one round, and read its
 * weight and its pixel at an index that looks as if it moved.
 * Requires nothing. Keeps the order of elements and every bit. */
#include "lowering/pass.h"

typedef LIST(uint32_t) fold_list;
typedef struct thinning { fold_list from, to; bool changed; } thinning;      /* pairs: folds with several results are made once */

typedef struct substitution { uint32_t from; ref binder[TENSOR_MAX_BINDERS], acc[TENSOR_MAX_ACCS]; } substitution;

static ref substitute(rewriter *w, ref r)
{
    const substitution *s = w->user;
    const tensor_node *n = node_at(w->pipe, r);
    if (n->op == OP_binder && n->payload == s->from) return s->binder[n->index];
    return n->op == OP_acc && n->payload == s->from ? s->acc[n->index] : 0;
}

static bool is_single(const tensor_fold *f, int b) { return f->lo[b] == f->hi[b]; }

static int moving_binders(const tensor_fold *f)
{
    int n = 0;
    for (int b = 0; b < f->n_binders; b++) n += !is_single(f, b);
    return n;
}

/* Over one element: what `next` makes of `init`, where the condition holds. */
static ref only_element(tensor_pipe *p, uint32_t fold, int which)
{
    tensor_fold f = *fold_at(p, fold);
    substitution s = { .from = fold };
    for (int b = 0; b < f.n_binders; b++) s.binder[b] = f.lo[b];
    for (int a = 0; a < f.n_accs; a++) s.acc[a] = f.init[a];
    rewriter w;
    rewriter_begin(&w, p, substitute, &s);
    ref value = rewrite(&w, f.next[which]);
    return f.where ? tensor_select(p, rewrite(&w, f.where), value, f.init[which]) : value;
}

static uint32_t thinned(tensor_pipe *p, uint32_t fold)
{
    tensor_fold f = *fold_at(p, fold), thin = f;
    uint32_t made = tensor_fold_new(p, f.form, moving_binders(&f), f.n_accs);
    substitution s = { .from = fold };
    thin.n_binders = 0;
    for (int b = 0; b < f.n_binders; b++) {
        s.binder[b] = is_single(&f, b) ? f.lo[b] : tensor_binder(p, made, thin.n_binders);
        if (is_single(&f, b)) continue;
        thin.lo[thin.n_binders] = f.lo[b];
        thin.hi[thin.n_binders] = f.hi[b];
        thin.binder_names[thin.n_binders++] = f.binder_names[b];
    }
    for (int a = 0; a < f.n_accs; a++) s.acc[a] = tensor_acc(p, made, a, node_type(p, f.init[a]));
    rewriter w;
    rewriter_begin(&w, p, substitute, &s);
    if (f.where) thin.where = rewrite(&w, f.where);
    for (int a = 0; a < f.n_accs; a++) thin.next[a] = rewrite(&w, f.next[a]);
    *fold_at(p, made) = thin;
    return made;
}

static ref thin_result(rewriter *w, ref r, const ref *args)
{
    (void)args;
    tensor_pipe *p = w->pipe;
    thinning *t = w->user;
    tensor_node n = *node_at(p, r);
    if (n.op != OP_result) return 0;
    const tensor_fold *f = fold_at(p, n.payload);
    int moving = moving_binders(f);
    if (moving == f->n_binders || (moving == 0 && f->form == FOLD_median)) return 0;
    t->changed = true;
    if (moving == 0) return only_element(p, n.payload, n.index);
    for (uint32_t k = 0; k < t->from.count; k++)
        if (t->from.items[k] == n.payload) return tensor_result(p, t->to.items[k], n.index);
    LIST_PUSH(p->memory, t->from, n.payload);
    uint32_t made = thinned(p, n.payload);
    LIST_PUSH(p->memory, t->to, made);
    return tensor_result(p, made, n.index);
}

static bool any_single(const tensor_pipe *p)
{
    for (uint32_t f = 1; f < p->folds.count; f++)
        if (moving_binders(&p->folds.items[f]) < p->folds.items[f].n_binders) return true;
    return false;
}

bool pass_thin_folds(tensor_pipe *p)
{
    if (!any_single(p)) return false;
    thinning t = { 0 };
    rewriter w;
    rewriter_begin(&w, p, NULL, &t);
    w.rebuild = thin_result;
    rewrite_pipe(&w);
    return t.changed;
}
