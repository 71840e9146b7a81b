/* SPDX-License-Identifier: MIT
 * Exact pass `pairs`: what a reduction computes of two pixels, and would of the same two the other way round, is computed once.
 *
 *   sum over d: w[d] * e(p[x + d], p[x]) * ...          e(a, b) and e(b, a) have the same bits, d and -d both are in the window
 *
 * becomes a stage pair[x, k] = e(p[x + h[k]], p[x]) for half of the distances, h, and a sum that reads pair[x, k] for d = h[k]
 * and pair[x + d, k] for d = -h[k]. Why: a bilateral filter takes the exponential of every difference twice.
 *
 * The expression has to be worth a store and two loads. It depends on the two pixels and on nothing else that moves, so that
 * it means the same at the other one's place; distances differ in sign only where that is squared or its size taken.
 * Requires tables. Keeps every bit and the order of elements; adds a stage of one dimension more (its rows are slabs). */
#include "lowering/access.h"
#include "lowering/pairs.h"
#include "lowering/pass.h"
#include "lowering/pass_rewrite.h"
#include "lowering/tensor_build.h"
#include "lowering/window.h"

#include <string.h>

enum { MAX_ELEMENTS = 256, MAX_PLANES = 128, LEAST_OPERATIONS = 8, MAX_COMPARED = 4000 };

typedef struct pairs {
    tensor_pipe *pipe;
    uint32_t     stage, fold;
    ref          moved, here;                /* the loads: of the pixel at a distance, and of the one in place */
    ref          value;                      /* what is computed of both */
    int          binder[2];                  /* of the fold, along each axis */
    window       elements;
    int          n;                          /* elements in order */
    int32_t      at[TENSOR_MAX_BINDERS][MAX_ELEMENTS];           /* their binders */
    int          n_half;
    int32_t      half[2][MAX_PLANES];        /* distances that are computed */
    int32_t      plane[MAX_ELEMENTS], from[2][MAX_ELEMENTS];     /* where an element's value lies */
} pairs;

/* ---- the same both ways ---------------------------------------------------------------------------------------- */

typedef struct comparing { const tensor_pipe *pipe; ref a, b; int left; } comparing;

static bool is_mirrored(comparing *c, ref r, ref s);

/* r with the pixels as they are is minus s with them exchanged. */
static bool is_opposite(comparing *c, ref r, ref s)
{
    const tensor_node *n = node_at(c->pipe, r), *m = node_at(c->pipe, s);
    if (c->left-- <= 0 || n->op != m->op) return false;
    if (n->op == OP_sub && kind_is_float(n->type.kind))
        return is_mirrored(c, node_arg(c->pipe, r, 0), node_arg(c->pipe, s, 1)) && is_mirrored(c, node_arg(c->pipe, r, 1), node_arg(c->pipe, s, 0));
    if (n->op == OP_comp) return n->index == m->index && is_opposite(c, node_arg(c->pipe, r, 0), node_arg(c->pipe, s, 0));
    return n->op == OP_splat && is_opposite(c, node_arg(c->pipe, r, 0), node_arg(c->pipe, s, 0));
}

static bool both(comparing *c, bool (*holds)(comparing *, ref, ref), ref r, ref s, int k, int j)
{
    return holds(c, node_arg(c->pipe, r, 0), node_arg(c->pipe, s, k)) && holds(c, node_arg(c->pipe, r, 1), node_arg(c->pipe, s, j));
}

/* r with the pixels as they are is s with them exchanged. */
static bool is_mirrored(comparing *c, ref r, ref s)
{
    const tensor_node *n = node_at(c->pipe, r), *m = node_at(c->pipe, s);
    if (c->left-- <= 0) return false;
    if (r == c->a || r == c->b) return s == (r == c->a ? c->b : c->a);
    if (n->op == OP_load || n->op != m->op || !type_equal(n->type, m->type) || n->n_args != m->n_args || n->index != m->index) return false;
    if (n->n_args == 0) return r == s;
    if (n->payload != m->payload) return false;
    bool factors = n->op == OP_mul || n->op == OP_fma || n->op == OP_muladd, real_kind = kind_is_float(n->type.kind);
    bool third = n->n_args < 3 || is_mirrored(c, node_arg(c->pipe, r, 2), node_arg(c->pipe, s, 2));
    if (factors && real_kind && third && both(c, is_opposite, r, s, 0, 1)) return true;
    if ((factors || n->op == OP_add) && third && both(c, is_mirrored, r, s, 1, 0)) return true;
    if (n->op == OP_abs && real_kind && is_opposite(c, node_arg(c->pipe, r, 0), node_arg(c->pipe, s, 0))) return true;
    for (int k = 0; k < n->n_args; k++) if (!is_mirrored(c, node_arg(c->pipe, r, k), node_arg(c->pipe, s, k))) return false;
    return true;
}

bool alike_both_ways(const tensor_pipe *p, ref value, ref a, ref b)
{
    comparing c = { p, a, b, MAX_COMPARED };
    return is_mirrored(&c, value, value);
}

int operations_under(tensor_pipe *p, ref value)
{
    ref_list nodes = { 0 };
    int n = 0;
    reached_nodes(p, p->memory, &value, 1, &nodes);
    for (uint32_t k = 0; k < nodes.count; k++) {
        op_class class = op_get((tensor_op)node_at(p, nodes.items[k])->op)->class;
        n += class != CLASS_STR && class != CLASS_TYP;
    }
    return n;
}

/* ---- the value ---------------------------------------------------------------------------------------------------- */

/* load of the source at coord + binder on both axes, or at coord. */
static bool find_places(pairs *w, ref load)
{
    tensor_pipe *p = w->pipe;
    uint32_t source = node_at(p, load)->payload;
    int binder[2];
    int64_t constant;
    if (stage_at(p, source)->rank != 2 || stage_at(p, source)->kind == STAGE_table) return false;
    for (int d = 0; d < 2; d++)
        if (!window_axis(p, w->fold, load_index(p, load, d), d, &binder[d], &constant) || constant != 0) return false;
    if (binder[0] < 0 && binder[1] < 0) { w->here = load; return true; }
    if (binder[0] < 0 || binder[1] < 0 || binder[0] == binder[1]) return false;
    w->moved = load;
    memcpy(w->binder, binder, sizeof binder);
    return true;
}

static bool values_fixed(const tensor_pipe *p, ref load)
{
    for (int d = 0; d < 2; d++) {
        ref value = load_outside(p, load, d);
        if (value && !node_is_uniform(p, value) && node_at(p, value)->op != OP_splat) return false;
    }
    return true;
}

/* Both loads read the same picture in the same way; in place no border has anything to do. */
static bool same_source(const pairs *w)
{
    const tensor_node *a = node_at(w->pipe, w->moved), *b = node_at(w->pipe, w->here);
    if (a->payload != b->payload || !type_equal(a->type, b->type) || !values_fixed(w->pipe, w->moved)) return false;
    for (int d = 0; d < 2; d++)
        if (b->border[d] != BORDER_none && (b->border[d] != a->border[d] || load_outside(w->pipe, w->here, d) != load_outside(w->pipe, w->moved, d))) return false;
    return true;
}

enum { OF_nothing = 0, OF_moved = 1, OF_here = 2, OF_others = 4 };

/* What a node is made of. Index expressions are the loads' own business. */
static uint8_t made_of(const pairs *w, const uint8_t *of, ref r)
{
    const tensor_node *n = node_at(w->pipe, r);
    uint8_t all = OF_nothing;
    if (r == w->moved) return OF_moved;
    if (r == w->here) return OF_here;
    switch ((tensor_op)n->op) {
    case OP_load: case OP_coord: case OP_binder: case OP_acc: case OP_result: return OF_others;
    default: break;
    }
    for (int k = 0; k < n->n_args; k++) all |= of[node_arg(w->pipe, r, k)];
    return all;
}

/* The largest expression of the two pixels that something else uses. */
static bool find_value(pairs *w)
{
    tensor_pipe *p = w->pipe;
    tensor_fold f = *fold_at(p, w->fold);
    ref_list nodes = { 0 };
    reached_nodes(p, p->memory, f.next, f.n_accs, &nodes);
    for (uint32_t k = 0; k < nodes.count; k++)
        if (node_at(p, nodes.items[k])->op == OP_load) find_places(w, nodes.items[k]);
    if (!w->moved || !w->here || !same_source(w)) return false;
    uint8_t *of = ARENA_ARRAY(p->memory, uint8_t, p->nodes.count);
    int most = LEAST_OPERATIONS - 1;
    for (uint32_t k = 0; k < nodes.count; k++) {
        ref r = nodes.items[k];
        of[r] = made_of(w, of, r);
        if (!(of[r] & OF_others) || node_at(p, r)->op == OP_load) continue;
        for (int a = 0; a < node_at(p, r)->n_args; a++) {
            ref value = node_arg(p, r, a);
            if (of[value] != (OF_moved | OF_here)) continue;
            int n = operations_under(p, value);
            if (n <= most || !kind_is_float(node_type(p, value).kind) || !alike_both_ways(p, value, w->moved, w->here)) continue;
            most = n;
            w->value = value;
        }
    }
    return w->value != 0;
}

/* ---- distances ------------------------------------------------------------------------------------------------------ */

static int find_half(const pairs *w, int32_t x, int32_t y)
{
    for (int k = 0; k < w->n_half; k++) if (w->half[0][k] == x && w->half[1][k] == y) return k;
    return -1;
}

/* In the fold's order; every distance is computed itself unless its opposite was met before. */
static bool list_elements(pairs *w)
{
    tensor_fold f = *fold_at(w->pipe, w->fold);
    window *e = &w->elements;
    int64_t extent[2] = { e->extent[w->binder[0] == 0 ? 0 : 1], e->extent[w->binder[0] == 0 ? 1 : 0] };      /* by binder */
    if (f.n_binders != 2) return false;
    for (int64_t k = 0; k < extent[0] * extent[1]; k++) {
        int64_t of_binder[2] = { k / extent[1], k % extent[1] }, x = of_binder[w->binder[0]], y = of_binder[w->binder[1]];
        if (!e->holds[y * e->extent[0] + x]) continue;
        int32_t d[2] = { (int32_t)(e->lo[0] + x), (int32_t)(e->lo[1] + y) };
        if (w->n == MAX_ELEMENTS) return false;
        int opposite = find_half(w, -d[0], -d[1]);
        if (opposite < 0 && w->n_half == MAX_PLANES) return false;
        for (int axis = 0; axis < 2; axis++) {
            w->at[w->binder[axis]][w->n] = d[axis];
            w->from[axis][w->n] = opposite < 0 ? 0 : d[axis];
            if (opposite < 0) w->half[axis][w->n_half] = d[axis];
        }
        w->plane[w->n++] = opposite < 0 ? w->n_half++ : opposite;
    }
    return w->n > 4 && 10 * w->n_half <= 6 * w->n;
}

/* ---- the stage and the loop -------------------------------------------------------------------------------------------- */

static ref listed(const pairs *w, const int32_t *values, int n, ref index)
{
    tensor_pipe *p = w->pipe;
    const int32_t lo = 0;
    int32_t extent = n;
    uint32_t table = tensor_table_new(p, tensor_unique_name(p, "pairs"), type_of(KIND_i32, 1), 1, &lo, &extent, (const uint32_t *)values,
                                      stage_at(p, w->stage)->where);
    return tensor_load(p, table, &index, NULL, NULL, type_of(KIND_i32, 1));
}

typedef struct at_places { const pairs *w; ref moved, here; } at_places;

static ref to_places(rewriter *w, ref r)
{
    const at_places *a = w->user;
    return r == a->w->moved ? a->moved : r == a->w->here ? a->here : 0;
}

static ref load_at(const pairs *w, ref x, ref y)
{
    tensor_pipe *p = w->pipe;
    tensor_node n = *node_at(p, w->moved);
    ref index[2] = { x, y }, outside[2] = { load_outside(p, w->moved, 0), load_outside(p, w->moved, 1) };
    return tensor_load(p, n.payload, index, n.border, outside, n.type);
}

static int32_t extreme(const int32_t *values, int n, bool most)
{
    int32_t value = 0;
    for (int k = 0; k < n; k++) if (most ? values[k] > value : values[k] < value) value = values[k];
    return value;
}

static uint32_t pair_stage(const pairs *w)
{
    tensor_pipe *p = w->pipe;
    tensor_stage of = *stage_at(p, w->stage);
    ref place[2], plane = tensor_coord(p, 2), lo[3], hi[3];
    for (int d = 0; d < 2; d++) {
        place[d] = tensor_op2(p, OP_add, tensor_coord(p, d), listed(w, w->half[d], w->n_half, plane));
        lo[d] = tensor_normalize(p, tensor_op2(p, OP_add, of.lo[d], tensor_i32(p, extreme(w->from[d], w->n, false))));
        hi[d] = tensor_normalize(p, tensor_op2(p, OP_add, of.hi[d], tensor_i32(p, extreme(w->from[d], w->n, true))));
    }
    at_places a = { w, load_at(w, place[0], place[1]), load_at(w, tensor_coord(p, 0), tensor_coord(p, 1)) };
    rewriter to;
    rewriter_begin(&to, p, to_places, &a);
    ref body = rewrite(&to, w->value);
    lo[2] = tensor_i32(p, 0);
    hi[2] = tensor_i32(p, w->n_half - 1);
    uint32_t made = tensor_stage_new(p, STAGE_compute, tensor_unique_name(p, of.name), node_type(p, body), 3, of.where);
    memcpy(stage_at(p, made)->lo, lo, sizeof lo);
    memcpy(stage_at(p, made)->hi, hi, sizeof hi);
    stage_at(p, made)->body = body;
    return made;
}

typedef struct relisting { const pairs *w; uint32_t fold; ref value, binder[2]; } relisting;

static ref to_list(rewriter *w, ref r)
{
    const relisting *l = w->user;
    tensor_node n = *node_at(w->pipe, r);
    if (r == l->w->value) return l->value;
    if (n.op == OP_binder && n.payload == l->w->fold) return l->binder[n.index];
    if (n.op == OP_acc && n.payload == l->w->fold) return tensor_acc(w->pipe, l->fold, n.index, n.type);
    return 0;
}

static uint32_t loop_over_pairs(const pairs *w)
{
    tensor_pipe *p = w->pipe;
    uint32_t stage = pair_stage(w);
    tensor_fold f = *fold_at(p, w->fold);
    relisting l = { .w = w, .fold = tensor_fold_new(p, f.form, 1, f.n_accs) };
    ref number = tensor_binder(p, l.fold, 0), index[3];
    for (int d = 0; d < 2; d++) {
        index[d] = tensor_op2(p, OP_add, tensor_coord(p, d), listed(w, w->from[d], w->n, number));
        l.binder[d] = listed(w, w->at[d], w->n, number);
    }
    index[2] = listed(w, w->plane, w->n, number);
    l.value = tensor_load(p, stage, index, NULL, NULL, stage_at(p, stage)->type);
    rewriter to;
    rewriter_begin(&to, p, to_list, &l);
    tensor_fold made = { .form = f.form, .n_binders = 1, .n_accs = f.n_accs, .binder_names = { "pair" } };
    for (int a = 0; a < f.n_accs; a++) {
        made.init[a] = f.init[a];
        made.next[a] = rewrite(&to, f.next[a]);
    }
    made.lo[0] = tensor_i32(p, 0);
    made.hi[0] = tensor_i32(p, w->n - 1);
    *fold_at(p, l.fold) = made;
    tensor_note_add(p, w->stage, arena_printf(p->memory, "%d of %d pairs of pixels are computed once for both, in `%s`", w->n - w->n_half, w->n,
                                              stage_at(p, stage)->name));
    return l.fold;
}

/* ---- all of them ----------------------------------------------------------------------------------------------------------- */

typedef struct pairing { uint32_t stage; bool changed; LIST(uint32_t) from; LIST(uint32_t) to; } pairing;

static ref pair_result(rewriter *r, ref node, const ref *args)
{
    (void)args;
    tensor_pipe *p = r->pipe;
    pairing *all = r->user;
    tensor_node n = *node_at(p, node);
    if (n.op != OP_result) return 0;
    for (uint32_t k = 0; k < all->from.count; k++)
        if (all->from.items[k] == n.payload) return all->to.items[k] ? tensor_result(p, all->to.items[k], n.index) : 0;
    uint32_t made = 0;
    pairs *w = ARENA_NEW(p->memory, pairs);
    *w = (pairs){ .pipe = p, .stage = all->stage, .fold = n.payload };
    const tensor_fold *f = fold_at(p, n.payload);
    const int64_t none[2] = { 0 };
    if (f->form == FOLD_loop && f->n_binders == 2 && stage_at(p, all->stage)->rank == 2 && find_value(w)) {
        w->elements = (window){ .pipe = p, .stage = all->stage };
        if (window_elements(&w->elements, w->fold, w->binder, none, MAX_ELEMENTS) && list_elements(w)) made = loop_over_pairs(w);
    }
    LIST_PUSH(p->memory, all->from, n.payload);
    LIST_PUSH(p->memory, all->to, made);
    all->changed = all->changed || made;
    return made ? tensor_result(p, made, n.index) : 0;
}

static bool has_loop(tensor_pipe *p, uint32_t stage)
{
    ref_list nodes = { 0 };
    ref body = stage_at(p, stage)->body;
    if (stage_at(p, stage)->rank != 2 || !body) return false;
    reached_nodes(p, p->memory, &body, 1, &nodes);
    for (uint32_t k = 0; k < nodes.count; k++)
        if (node_at(p, nodes.items[k])->op == OP_result && fold_at(p, node_at(p, nodes.items[k])->payload)->n_binders == 2) return true;
    return false;
}

bool pass_pairs(tensor_pipe *p)
{
    uint32_t n_stages = p->stages.count;
    bool changed = false;
    for (uint32_t stage = 1; stage < n_stages; stage++) {
        if (!has_loop(p, stage)) continue;
        pairing all = { .stage = stage };
        rewriter w;
        rewriter_begin(&w, p, NULL, &all);
        w.rebuild = pair_result;
        ref body = rewrite(&w, stage_at(p, stage)->body);
        stage_at(p, stage)->body = body;
        changed = changed || all.changed;
    }
    if (changed) sort_stages(p);
    return changed;
}
