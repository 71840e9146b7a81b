/* SPDX-License-Identifier: MIT
 * One convolution of two binders into two of one, columns of taps first:
 *
 *   middle[u, y..] = sum over j: column[j] * source[u, y's index]        u: every column that the rows of taps read
 *   fold           = sum over i: row[i] * middle[x's index, y..]
 *
 * Columns first, so that the first pass has no unaligned loads and the second fills the ends of one row. The middle reads the
 * source with the borders that the fold had, at the columns themselves, so it needs no pad and a border's values pass
 * through the first half of the taps as they must. */
#include <stdlib.h>
#include <string.h>

#include "lowering/pass_rewrite.h"
#include "lowering/separate.h"

static ref splat_to(tensor_pipe *p, ref r, type t) { return node_type(p, r).lanes == t.lanes ? r : tensor_splat(p, r, t.lanes); }

/* weight * element + acc as the fold had it, in a fold of one binder over [lo, hi]. */
static ref weighted_sum(const convolution *c, uint32_t fold, int old_binder, ref weights, ref element, ref init)
{
    tensor_pipe *p = c->pipe;
    ref binder = tensor_binder(p, fold, 0);
    ref weight = splat_to(p, tensor_substitute(p, weights, &binder), c->t), acc = tensor_acc(p, fold, 0, c->t);
    tensor_op op = node_at(p, fold_at(p, c->fold)->next[0])->op;
    ref next = op == OP_add ? tensor_op2(p, OP_add, acc, tensor_op2(p, OP_mul, weight, element)) : tensor_op3(p, op, weight, element, acc);
    const tensor_fold *old = fold_at(p, c->fold);
    tensor_fold *f = fold_at(p, fold);
    f->lo[0] = old->lo[old_binder];
    f->hi[0] = old->hi[old_binder];
    f->binder_names[0] = old->binder_names[old_binder];
    f->init[0] = init;
    f->next[0] = next;
    return tensor_result(p, fold, 0);
}

/* ---- the middle ------------------------------------------------------------------------------------------- */

typedef struct column { const convolution *c; ref x_index, stand_in, y_binder; } column;

/* The x index becomes a stand-in, so that a coordinate 0 that is left is seen to be another. */
static ref to_column(rewriter *w, ref r)
{
    const column *v = w->user;
    const tensor_node *n = node_at(w->pipe, r);
    if (r == v->x_index) return v->stand_in;
    return n->op == OP_binder && n->payload == v->c->fold && n->index == v->c->y ? v->y_binder : 0;
}

static ref to_coordinate(rewriter *w, ref r)
{
    const column *v = w->user;
    return r == v->stand_in ? tensor_coord(w->pipe, 0) : 0;
}

/* The element at column coord(0) with the fold's row binder; 0 when it depends on the place in some other way. */
static ref element_in_column(const convolution *c, uint32_t fold)
{
    tensor_pipe *p = c->pipe;
    uint32_t scratch = tensor_fold_new(p, FOLD_loop, 1, 1);
    column v = { c, load_index(p, c->element_load, c->x_dimension), tensor_binder(p, scratch, 0), tensor_binder(p, fold, 0) };
    rewriter w;
    rewriter_begin(&w, p, to_column, &v);
    ref moved = rewrite(&w, c->element);
    ref_list nodes = { 0 };
    reached_nodes(p, p->memory, &moved, 1, &nodes);
    for (uint32_t k = 0; k < nodes.count; k++) {
        const tensor_node *n = node_at(p, nodes.items[k]);
        bool left_over = (n->op == OP_coord && n->index == 0) || (n->op == OP_binder && n->payload == c->fold);
        if (left_over) return 0;
    }
    rewriter_begin(&w, p, to_coordinate, &v);
    return rewrite(&w, moved);
}

/* The columns that are read: every term at its ends. */
static void column_bounds(const convolution *c, ref *lo, ref *hi)
{
    tensor_pipe *p = c->pipe;
    const tensor_fold *f = fold_at(p, c->fold);
    const tensor_stage *s = stage_at(p, c->stage);
    ref from[2] = { s->lo[0], f->lo[c->x] }, to[2] = { s->hi[0], f->hi[c->x] };
    *lo = *hi = tensor_i32(p, c->x_index.constant);
    for (int k = 0; k < c->x_index.n_terms; k++) {
        linear_term term = c->x_index.terms[k];
        tensor_op op = node_at(p, term.atom)->op;
        ref low = term.atom, high = term.atom, factor = tensor_i32(p, term.coefficient);
        if (op == OP_coord || op == OP_binder) {
            bool rising = term.coefficient > 0;
            low = (rising ? from : to)[op == OP_binder];
            high = (rising ? to : from)[op == OP_binder];
        }
        *lo = tensor_op2(p, OP_add, *lo, tensor_op2(p, OP_mul, low, factor));
        *hi = tensor_op2(p, OP_add, *hi, tensor_op2(p, OP_mul, high, factor));
    }
    int64_t first, last;
    bool has_taps = node_is_const(p, from[1], &first) && node_is_const(p, to[1], &last) && first <= last;
    if (!has_taps || abs(c->step) != 1)                        /* nothing to read: empty, never less */
        *hi = tensor_op2(p, OP_max, *hi, tensor_op2(p, OP_sub, *lo, tensor_i32(p, 1)));
    *lo = tensor_normalize(p, *lo);
    *hi = tensor_normalize(p, *hi);
}

static uint32_t middle_stage(const convolution *c, const factors *f, ref zero)
{
    tensor_pipe *p = c->pipe;
    uint32_t fold = tensor_fold_new(p, FOLD_conv, 1, 1);
    ref element = element_in_column(c, fold), lo, hi;
    if (!element) return 0;
    ref body = weighted_sum(c, fold, c->y, f->y, element, zero);
    column_bounds(c, &lo, &hi);
    const tensor_stage *of = stage_at(p, c->stage);
    uint32_t s = tensor_stage_new(p, STAGE_compute, tensor_unique_name(p, of->name), c->t, of->rank, of->where);
    tensor_stage *middle = stage_at(p, s);
    of = stage_at(p, c->stage);
    memcpy(middle->lo, of->lo, sizeof middle->lo);
    memcpy(middle->hi, of->hi, sizeof middle->hi);
    middle->lo[0] = lo;
    middle->hi[0] = hi;
    middle->body = body;
    return s;
}

ref convolution_split(const convolution *c, const factors *f)
{
    tensor_pipe *p = c->pipe;
    ref zero = tensor_splat(p, kind_is_float(c->t.kind) ? tensor_f32(p, -0.0f) : tensor_const(p, c->t.kind, 0), c->t.lanes);
    uint32_t middle = middle_stage(c, f, zero);
    if (!middle) return 0;
    uint32_t fold = tensor_fold_new(p, FOLD_conv, 1, 1);
    ref values[TENSOR_MAX_BINDERS] = { 0 }, index[TENSOR_MAX_RANK], init = fold_at(p, c->fold)->init[0];
    values[c->x] = tensor_binder(p, fold, 0);
    index[0] = replace_binders(p, load_index(p, c->element_load, c->x_dimension), c->fold, values);
    for (int d = 1; d < stage_at(p, middle)->rank; d++) index[d] = tensor_coord(p, d);
    ref element = tensor_load(p, middle, index, NULL, NULL, c->t);
    tensor_note_add(p, c->stage, arena_printf(p->memory, "separated: the taps down the rows first, in `%s`, then along the row", stage_at(p, middle)->name));
    return weighted_sum(c, fold, c->x, f->x, element, init);
}

/* ---- all of them ------------------------------------------------------------------------------------------- */

typedef struct separation {
    depends all;
    constant_stages constant;
    bool (*accepts)(const convolution *c);
    uint32_t stage;
    bool changed;
} separation;

static ref separate_result(rewriter *w, ref r, const ref *args)
{
    (void)args;
    tensor_pipe *p = w->pipe;
    separation *s = w->user;
    const tensor_node *n = node_at(p, r);
    convolution c;
    factors f;
    if (n->op != OP_result || !convolution_match(p, &s->all, s->stage, n->payload, &c) || !s->accepts(&c)) return 0;
    if (!factor_written(&c, &f) && !factor_constant(&c, &s->constant, &f)) return 0;
    ref split = convolution_split(&c, &f);
    s->changed = s->changed || split;
    return split;
}

static bool has_convolution(tensor_pipe *p, uint32_t stage)
{
    ref_list nodes = { 0 };
    ref body = stage_at(p, stage)->body;
    reached_nodes(p, p->memory, &body, body ? 1 : 0, &nodes);
    for (uint32_t k = 0; k < nodes.count; k++) {
        const tensor_node *n = node_at(p, nodes.items[k]);
        if (n->op == OP_result && fold_at(p, n->payload)->form == FOLD_conv && fold_at(p, n->payload)->n_binders == 2) return true;
    }
    return false;
}

/* A memo per stage: the same fold over another domain has another middle. */
bool separate_all(tensor_pipe *p, bool (*accepts)(const convolution *c))
{
    if (!any_fold(p, FOLD_conv)) return false;
    separation s = { .constant = constant_stages_of(p), .accepts = accepts };
    uint32_t n_stages = p->stages.count;
    for (s.stage = 1; s.stage < n_stages; s.stage++) {
        if (!has_convolution(p, s.stage)) continue;
        rewriter w;
        rewriter_begin(&w, p, NULL, &s);
        w.rebuild = separate_result;
        ref body = rewrite(&w, stage_at(p, s.stage)->body);
        stage_at(p, s.stage)->body = body;
    }
    sort_stages(p);
    return s.changed;
}
