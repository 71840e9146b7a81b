/* SPDX-License-Identifier: MIT
 * A convolution by a table with zeros runs over a list of its other taps: weights and offsets in tables, in the old order, so
 * that an unrolled loop sees literals and a rolled one three small reads. */
#include "lowering/tap_list.h"

#include "lowering/pass_rewrite.h"
#include "lowering/separate.h"

enum { MAX_TAPS = 65536 };

typedef struct taps {
    tensor_pipe *pipe;
    depends     *all;
    uint32_t     fold, table;
    ref          weight_load;
    linear       index[TENSOR_MAX_RANK];           /* of the table, in the fold's binders */
    int32_t      lo[TENSOR_MAX_BINDERS], extent[TENSOR_MAX_BINDERS];
    int          total, kept;
    int32_t     *at[TENSOR_MAX_BINDERS];           /* binder values of the taps that are kept */
    uint32_t    *weights;
} taps;

static bool constant_binders(taps *t)
{
    const tensor_fold *f = fold_at(t->pipe, t->fold);
    int64_t total = 1, lo, hi;
    for (int b = 0; b < f->n_binders; b++) {
        if (!node_is_const(t->pipe, f->lo[b], &lo) || !node_is_const(t->pipe, f->hi[b], &hi) || hi < lo) return false;
        t->lo[b] = (int32_t)lo;
        t->extent[b] = (int32_t)(hi - lo + 1);
        total *= hi - lo + 1;
        if (total > MAX_TAPS) return false;
    }
    t->total = (int)total;
    return true;
}

/* One of the factors is a table at indices in the fold's binders and nothing else. */
static bool find_weight(taps *t)
{
    tensor_pipe *p = t->pipe;
    ref factor[2];
    if (!conv_factors(p, t->fold, &factor[0], &factor[1])) return false;
    for (int k = 0; k < 2; k++) {
        ref load = load_under(p, factor[k]);
        if (!load || depends_of(p, t->all, load)->coords) continue;
        tensor_node n = *node_at(p, load);
        const tensor_stage *s = stage_at(p, n.payload);
        bool fits = s->kind == STAGE_table && s->rank > 0;
        for (int d = 0; d < s->rank && fits; d++) {
            fits = n.border[d] == BORDER_none && linear_of(p, load_index(p, load, d), &t->index[d]);
            for (int i = 0; i < t->index[d].n_terms && fits; i++) {
                const tensor_node *atom = node_at(p, t->index[d].terms[i].atom);
                fits = atom->op == OP_binder && atom->payload == t->fold;
            }
        }
        if (!fits) continue;
        t->weight_load = load;
        t->table = n.payload;
        return true;
    }
    return false;
}

/* The place of a tap's weight in the table; -1 outside. */
static int64_t table_place(const taps *t, const int32_t *binder)
{
    const tensor_pipe *p = t->pipe;
    int32_t lo[TENSOR_MAX_RANK], extent[TENSOR_MAX_RANK];
    constant_bounds(p, t->table, lo, extent);
    int64_t place = 0, step = 1;
    for (int d = 0; d < stage_at(p, t->table)->rank; d++) {
        int64_t i = t->index[d].constant;
        for (int k = 0; k < t->index[d].n_terms; k++)
            i += (int64_t)t->index[d].terms[k].coefficient * binder[node_at(p, t->index[d].terms[k].atom)->index];
        if (i < lo[d] || i - lo[d] >= extent[d]) return -1;
        place += (i - lo[d]) * step;
        step *= extent[d];
    }
    return place;
}

static bool is_zero(kind k, uint32_t bits)
{
    scalar value = scalar_of_bits(k, bits);
    return kind_is_float(k) ? value.f == 0 : value.i == 0;
}

/* In order, the last binder fastest. */
static bool list_taps(taps *t)
{
    tensor_pipe *p = t->pipe;
    type w = stage_at(p, t->table)->type;
    int n_binders = fold_at(p, t->fold)->n_binders;
    t->weights = ARENA_ARRAY(p->memory, uint32_t, (size_t)t->total * w.lanes);
    for (int b = 0; b < n_binders; b++) t->at[b] = ARENA_ARRAY(p->memory, int32_t, t->total);
    for (int k = 0; k < t->total; k++) {
        int32_t binder[TENSOR_MAX_BINDERS];
        for (int b = n_binders - 1, rest = k; b >= 0; b--) {
            binder[b] = t->lo[b] + rest % t->extent[b];
            rest /= t->extent[b];
        }
        int64_t place = table_place(t, binder);
        if (place < 0) return false;
        bool zero = true;
        for (int lane = 0; lane < w.lanes; lane++) {
            uint32_t bits = stage_at(p, t->table)->words[place * w.lanes + lane];
            t->weights[t->kept * w.lanes + lane] = bits;
            zero = zero && is_zero(w.kind, bits);
        }
        if (zero) continue;
        for (int b = 0; b < n_binders; b++) t->at[b][t->kept] = binder[b];
        t->kept++;
    }
    return true;
}

/* ---- the loop over the list ------------------------------------------------------------------------------ */

static ref list_read(const taps *t, type of, const uint32_t *words, uint32_t new_fold, type as)
{
    tensor_pipe *p = t->pipe;
    const int32_t lo = 0, extent = t->kept;
    const char *name = tensor_unique_name(p, stage_at(p, t->table)->name);
    uint32_t table = tensor_table_new(p, name, of, 1, &lo, &extent, words, stage_at(p, t->table)->where);
    ref index = tensor_binder(p, new_fold, 0);
    return tensor_load(p, table, &index, NULL, NULL, as);
}

/* A binder that is the same in every tap is that number. */
static ref binder_value(const taps *t, int b, uint32_t new_fold)
{
    bool same = true;
    for (int k = 1; k < t->kept; k++) same = same && t->at[b][k] == t->at[b][0];
    if (same) return tensor_i32(t->pipe, t->at[b][0]);
    return list_read(t, type_of(KIND_i32, 1), (const uint32_t *)t->at[b], new_fold, type_of(KIND_i32, 1));
}

typedef struct listing { const taps *t; uint32_t fold; ref weight, binder[TENSOR_MAX_BINDERS]; } listing;

static ref to_list(rewriter *w, ref r)
{
    const listing *l = w->user;
    tensor_node n = *node_at(w->pipe, r);
    if (r == l->t->weight_load) return l->weight;
    if (n.op == OP_binder && n.payload == l->t->fold) return l->binder[n.index];
    if (n.op == OP_acc && n.payload == l->t->fold) return tensor_acc(w->pipe, l->fold, n.index, n.type);
    return 0;
}

static ref loop_over_list(const taps *t)
{
    tensor_pipe *p = t->pipe;
    listing l = { .t = t, .fold = tensor_fold_new(p, FOLD_conv, 1, 1) };
    l.weight = list_read(t, stage_at(p, t->table)->type, t->weights, l.fold, node_type(p, t->weight_load));
    for (int b = 0; b < fold_at(p, t->fold)->n_binders; b++) l.binder[b] = binder_value(t, b, l.fold);
    rewriter w;
    rewriter_begin(&w, p, to_list, &l);
    ref next = rewrite(&w, fold_at(p, t->fold)->next[0]), init = fold_at(p, t->fold)->init[0];
    ref first = tensor_i32(p, 0), last = tensor_i32(p, t->kept - 1);
    tensor_fold *f = fold_at(p, l.fold);
    f->lo[0] = first;
    f->hi[0] = last;
    f->binder_names[0] = "tap";
    f->init[0] = init;
    f->next[0] = next;
    return tensor_result(p, l.fold, 0);
}

/* ---- all of them ------------------------------------------------------------------------------------------- */

typedef struct dropping { depends all; bool reals, changed; } dropping;

static ref drop(rewriter *w, ref r, const ref *args)
{
    (void)args;
    tensor_pipe *p = w->pipe;
    dropping *d = w->user;
    tensor_node n = *node_at(p, r);
    if (n.op != OP_result || fold_at(p, n.payload)->form != FOLD_conv || fold_at(p, n.payload)->where) return 0;
    if (kind_is_float(n.type.kind) != d->reals) return 0;
    taps t = { .pipe = p, .all = &d->all, .fold = n.payload };
    if (!constant_binders(&t) || !find_weight(&t) || !list_taps(&t) || t.kept == t.total) return 0;
    d->changed = true;
    if (t.kept) return loop_over_list(&t);
    return tensor_splat(p, tensor_const(p, n.type.kind, 0), n.type.lanes);
}

bool drop_zero_taps(tensor_pipe *p, bool reals)
{
    if (!any_fold(p, FOLD_conv)) return false;
    dropping d = { .reals = reals };
    rewriter w;
    rewriter_begin(&w, p, NULL, &d);
    w.rebuild = drop;
    rewrite_pipe(&w);
    sort_stages(p);
    return d.changed;
}
