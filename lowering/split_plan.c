/* SPDX-License-Identifier: MIT
 * Looks for reductions over many elements that have the same bits in any order. Everything is decided before the pipe is changed,
 * since intervals are known of the pipe as it is.
 * An order isn't seen by sums and products of whole numbers, which are those of a ring; by and, or, xor; by min and max of whole
 * numbers, and of reals that are never NaN nor -0, as the language makes them (NaN as the identity, -0 as +0): of two reals that
 * are equal it then doesn't matter which is taken. */
#include "lowering/split_plan.h"

#include <math.h>
#include <string.h>

#include "lowering/access.h"
#include "lowering/ranges.h"

enum { FEW_ELEMENTS = 4096, FEW_OF_A_BINDER = 64, MOST_PLACES = 512, MOST_EXTENT = 1 << 28 };

typedef struct planning {
    tensor_pipe *pipe;
    depends      all;
    ranges       ranges;
    uint32_t     stage;               /* at hand */
    split_plans  plans;
} planning;

/* ---- the form ---------------------------------------------------------------------------------------------------- */

static bool is_acc(const tensor_pipe *p, ref r, uint32_t fold, int which)
{
    const tensor_node *n = node_at(p, r);
    return n->op == OP_acc && n->payload == fold && n->index == which;
}

static bool uses_accs(tensor_pipe *p, ref r, uint32_t fold)
{
    ref_list nodes = { 0 };
    reached_nodes(p, p->memory, &r, 1, &nodes);
    for (uint32_t k = 0; k < nodes.count; k++)
        if (node_at(p, nodes.items[k])->op == OP_acc && node_at(p, nodes.items[k])->payload == fold) return true;
    return false;
}

static ref under_splat(const tensor_pipe *p, ref r) { return node_at(p, r)->op == OP_splat ? node_arg(p, r, 0) : r; }

/* select(value == 0, 0, value): -0 becomes +0. The value, or 0. */
static ref without_minus_zero(const tensor_pipe *p, ref r)
{
    if (node_at(p, r)->op != OP_select) return 0;
    ref is = node_arg(p, r, 0), value = node_arg(p, r, 2);
    const tensor_node *zero = node_at(p, under_splat(p, node_arg(p, r, 1)));
    bool matches = node_at(p, is)->op == OP_eq && node_arg(p, is, 0) == value && node_arg(p, is, 1) == node_arg(p, r, 1)
        && zero->op == OP_const && zero->payload == 0;
    return matches ? value : 0;
}

/* select(value != value, a number, value). */
static bool replaces_nan(const tensor_pipe *p, ref r)
{
    if (node_at(p, r)->op != OP_select) return false;
    ref isnt = node_arg(p, r, 0), value = node_arg(p, r, 2);
    float number;
    return node_at(p, isnt)->op == OP_ne && node_arg(p, isnt, 0) == value && node_arg(p, isnt, 1) == value
        && node_is_f32(p, under_splat(p, node_arg(p, r, 1)), &number) && number == number;
}

/* Reals that are ordered as whole numbers are: of two that are equal it doesn't matter which one is taken. */
static bool is_ordered(const planning *s, ref r)
{
    if (!kind_is_float(node_type(s->pipe, r).kind)) return true;
    ref value = without_minus_zero(s->pipe, r);
    if (!value && node_range(&s->ranges, r).minus_zero) return false;
    return !node_range(&s->ranges, r).maybe_nan || replaces_nan(s->pipe, value ? value : r);
}

/* The value that changes nothing; false: the order of elements is seen. */
static bool neutral_value(tensor_op op, kind k, scalar *v)
{
    bool extreme = op == OP_min || op == OP_max;
    if (kind_is_float(k)) {
        v->f = op == OP_min ? INFINITY : -INFINITY;
        return extreme;
    }
    switch (op) {
    case OP_add: case OP_bitor: case OP_bitxor: case OP_or: v->i = 0; return true;
    case OP_mul: case OP_and: v->i = 1; return true;
    case OP_bitand: *v = wrap_evaluate((scalar){ .i = -1 }, k); return true;
    case OP_min: v->i = kind_get(k)->highest; return k != KIND_i64;      /* no constant node holds that one */
    case OP_max: v->i = kind_get(k)->lowest; return k != KIND_i64;
    default: return false;
    }
}

ref neutral_element(tensor_pipe *p, tensor_op op, type t)
{
    scalar v = { 0 };
    neutral_value(op, (kind)t.kind, &v);
    return tensor_splat(p, tensor_const(p, (kind)t.kind, bits_of_scalar((kind)t.kind, v)), t.lanes);
}

bool is_idempotent(tensor_op op) { return op != OP_add && op != OP_mul && op != OP_bitxor; }

bool fold_step_of(tensor_pipe *p, uint32_t fold, int which, fold_step *out)
{
    scalar ignored;
    ref next = fold_at(p, fold)->next[which];
    tensor_node n = *node_at(p, next);
    if (n.n_args != 2) return false;
    bool first = is_acc(p, node_arg(p, next, 0), fold, which);
    if (!first && (n.op == OP_sub || !is_acc(p, node_arg(p, next, 1), fold, which))) return false;
    *out = (fold_step){ n.op == OP_sub ? OP_add : (tensor_op)n.op, n.type, node_arg(p, next, first), n.op == OP_sub };
    return neutral_value(out->op, (kind)n.type.kind, &ignored) && !uses_accs(p, out->element, fold);
}

/* not found, or better than the one before */
static bool match_better(const tensor_pipe *p, uint32_t fold, ref take, fold_position *out)
{
    const tensor_node *n = node_at(p, take);
    if (n->op != OP_or) return false;
    ref first = node_arg(p, take, 0), better = node_arg(p, take, 1);
    if (node_at(p, first)->op != OP_not || !is_acc(p, node_arg(p, first, 0), fold, 1)) return false;
    if (node_at(p, better)->op != OP_lt) return false;
    bool least = is_acc(p, node_arg(p, better, 1), fold, 0);
    out->op = least ? OP_min : OP_max;
    return node_arg(p, better, least ? 0 : 1) == out->element && is_acc(p, node_arg(p, better, least), fold, 0);
}

bool fold_position_of(const tensor_pipe *p, uint32_t fold, fold_position *out)
{
    const tensor_fold *f = &p->folds.items[fold];
    int64_t found, start;
    scalar ignored;
    const tensor_node *best = node_at(p, f->next[0]);
    if (f->n_accs < 3 || best->op != OP_select || best->type.lanes != 1 || best->type.kind == KIND_bool) return false;
    if (!node_is_const(p, f->init[1], &start) || start || !node_is_const(p, f->next[1], &found) || !found) return false;
    ref take = node_arg(p, f->next[0], 0);
    *out = (fold_position){ .t = best->type, .element = node_arg(p, f->next[0], 1) };
    if (!is_acc(p, node_arg(p, f->next[0], 2), fold, 0) || !match_better(p, fold, take, out)) return false;
    for (int k = 2; k < f->n_accs; k++) {
        ref next = f->next[k];
        if (node_at(p, next)->op != OP_select || node_arg(p, next, 0) != take) return false;
        if (!is_acc(p, node_arg(p, next, 2), fold, k)) return false;
        const tensor_node *binder = node_at(p, node_arg(p, next, 1));
        if (binder->op != OP_binder || binder->payload != fold) return false;
        out->binder[k] = binder->index;
    }
    return neutral_value(out->op, (kind)out->t.kind, &ignored);
}

/* ---- how large, and along which axes ------------------------------------------------------------------------------ */

/* What a linear form may be, without wrapping. Sizes are far from where an i32 does. */
static range range_of_form(const planning *s, const linear *form)
{
    range all = { form->constant, form->constant, .scale = 0 };
    for (int t = 0; t < form->n_terms; t++) {
        range atom = node_range(&s->ranges, form->terms[t].atom);
        double by = form->terms[t].coefficient;
        if (node_at(s->pipe, form->terms[t].atom)->op == OP_dim) atom.hi = MOST_EXTENT;
        all.lo += by * (by > 0 ? atom.lo : atom.hi);
        all.hi += by * (by > 0 ? atom.hi : atom.lo);
    }
    return all;
}

static int32_t wrapping_minus(int32_t a, int32_t b) { return (int32_t)((uint32_t)a - (uint32_t)b); }

static void subtract_term(linear *form, const linear_term *term)
{
    for (int t = 0; t < form->n_terms; t++) {
        if (form->terms[t].atom != term->atom) continue;
        form->terms[t].coefficient = wrapping_minus(form->terms[t].coefficient, term->coefficient);
        return;
    }
    form->terms[form->n_terms++] = (linear_term){ term->atom, wrapping_minus(0, term->coefficient) };
}

/* hi - lo of a binder; false where an i32 may not say it. */
static bool distance_of(const planning *s, const tensor_fold *f, int b, range *out)
{
    linear lo, hi;
    linear_of(s->pipe, f->lo[b], &lo);
    linear_of(s->pipe, f->hi[b], &hi);
    range first = range_of_form(s, &lo), last = range_of_form(s, &hi);
    bool wraps = first.lo < INT32_MIN || first.hi > INT32_MAX || last.lo < INT32_MIN || last.hi > INT32_MAX;
    if (wraps || lo.n_terms + hi.n_terms > (int)(sizeof hi.terms / sizeof *hi.terms)) return false;
    double constant = (double)hi.constant - lo.constant;
    hi.constant = 0;
    for (int t = 0; t < lo.n_terms; t++) subtract_term(&hi, &lo.terms[t]);
    *out = range_of_form(s, &hi);
    out->lo += constant;
    out->hi += constant;
    return out->lo >= INT32_MIN && out->hi <= INT32_MAX;
}

/* The binder, one of `large`, that the columns (d = 0) or rows (d = 1) of what is read follow, or -1. */
static int binder_along(tensor_pipe *p, uint32_t fold, unsigned large, int d)
{
    const tensor_fold *f = fold_at(p, fold);
    ref roots[TENSOR_MAX_ACCS + 1] = { f->where };
    memcpy(roots + 1, f->next, sizeof *roots * f->n_accs);
    ref_list nodes = { 0 };
    reached_nodes(p, p->memory, roots, f->n_accs + 1u, &nodes);
    for (uint32_t k = 0; k < nodes.count; k++) {
        linear form;
        const tensor_node *n = node_at(p, nodes.items[k]);
        if (n->op != OP_load || stage_at(p, n->payload)->rank <= d) continue;
        if (!linear_of(p, load_index(p, nodes.items[k], d), &form)) continue;
        for (int t = 0; t < form.n_terms; t++) {
            const tensor_node *atom = node_at(p, form.terms[t].atom);
            if (atom->op == OP_binder && atom->payload == fold && large >> atom->index & 1) return atom->index;
        }
    }
    return -1;
}

static int last_of(unsigned set)
{
    int last = -1;
    for (int b = 0; b < TENSOR_MAX_BINDERS; b++) if (set >> b & 1) last = b;
    return last;
}

static unsigned without(unsigned set, int b) { return b < 0 ? set : set & ~(1u << b); }

/* The places that the elements depend on: few, and known beforehand. */
static bool find_places(const planning *s, split_plan *out, unsigned coords)
{
    tensor_pipe *p = s->pipe;
    const tensor_stage *at = stage_at(p, s->stage);
    int64_t n = 1, lo, hi;
    for (int d = 0; d < at->rank; d++) {
        if (!(coords >> d & 1)) continue;
        if (!node_is_const(p, at->lo[d], &lo) || !node_is_const(p, at->hi[d], &hi)) return false;
        n *= hi - lo + 1;
        if (n < 1 || n > MOST_PLACES) return false;
        out->place[out->n_places++] = d;
    }
    return out->n_places < TENSOR_MAX_RANK;
}

static bool choose_axes(const planning *s, split_plan *out)
{
    const tensor_fold *f = fold_at(s->pipe, out->fold);
    unsigned large = 0;
    double all = 1;
    bool may_lack[TENSOR_MAX_BINDERS] = { false };
    for (int b = 0; b < f->n_binders; b++) {
        range distance = { .hi = INFINITY };
        bool is_known = distance_of(s, f, b, &distance);
        if (is_known && distance.hi + 1 >= FEW_OF_A_BINDER) large |= 1u << b;
        may_lack[b] = distance.lo < -1;
        all *= fmax(distance.hi + 1, 0);
    }
    if (!large || all <= FEW_ELEMENTS) return false;
    int x = binder_along(s->pipe, out->fold, large, 0), y = binder_along(s->pipe, out->fold, without(large, x), 1);
    if (x < 0) x = last_of(without(large, y));
    if (y < 0) y = last_of(without(large, x));
    out->x = x < 0 ? y : x;
    out->y = x < 0 ? -1 : y;
    if (out->n_places && out->y < 0) return false;
    if (out->n_places) out->x = -1;
    out->x_may_lack = out->x >= 0 && may_lack[out->x];
    out->y_may_lack = out->y >= 0 && may_lack[out->y];
    return true;
}

static bool is_closed(planning *s, uint32_t fold, ref r, unsigned *coords)
{
    const depend *d = depends_of(s->pipe, &s->all, r);
    *coords |= d->coords;
    return d->n_open == 0 || (d->n_open == 1 && d->open[0] == fold);
}

/* Where a fold has several accumulators, all of them are taken apart, or none. */
static bool plan_accumulators(planning *s, uint32_t fold, unsigned *coords)
{
    tensor_fold f = *fold_at(s->pipe, fold);
    for (int k = 0; k < f.n_accs; k++) {
        fold_step next;
        if (!fold_step_of(s->pipe, fold, k, &next) || !is_closed(s, fold, next.element, coords)) return false;
        if (!is_ordered(s, next.element) || !is_ordered(s, f.init[k])) return false;
    }
    return true;
}

/* For a number beyond the bounds of one or two binders. */
static bool has_room(const planning *s, const tensor_fold *f)
{
    for (int b = 0; b < f->n_binders; b++) {
        linear lo, hi;
        linear_of(s->pipe, f->lo[b], &lo);
        linear_of(s->pipe, f->hi[b], &hi);
        if (range_of_form(s, &lo).lo <= INT32_MIN || range_of_form(s, &hi).hi >= INT32_MAX) return false;
    }
    return f->n_binders <= 2;
}

static bool plan_position(planning *s, uint32_t fold, unsigned *coords)
{
    fold_position at;
    if (!fold_position_of(s->pipe, fold, &at) || uses_accs(s->pipe, at.element, fold)) return false;
    bool is_same_everywhere = is_closed(s, fold, at.element, coords) && !*coords;
    return is_same_everywhere && is_ordered(s, at.element) && has_room(s, fold_at(s->pipe, fold));
}

static bool plan_fold(planning *s, uint32_t fold, split_plan *out)
{
    tensor_fold f = *fold_at(s->pipe, fold);
    unsigned coords = 0, sums = 0;
    if (f.form != FOLD_loop || (f.where && !is_closed(s, fold, f.where, &coords))) return false;
    bool is_position = plan_position(s, fold, &coords);
    if (!is_position && !plan_accumulators(s, fold, &sums)) return false;
    coords |= sums;
    *out = (split_plan){ .fold = fold, .stage = coords ? s->stage : 0, .is_position = is_position };
    return find_places(s, out, coords) && choose_axes(s, out);
}

const split_plan *split_plan_of(const split_plans *plans, uint32_t fold, uint32_t stage)
{
    for (uint32_t k = 0; k < plans->count; k++) {
        const split_plan *have = &plans->items[k];
        if (have->fold == fold && (have->stage == 0 || have->stage == stage)) return have;
    }
    return NULL;
}

static void plan_stage(planning *s)
{
    ref_list nodes = { 0 };
    reached_nodes(s->pipe, s->pipe->memory, &stage_at(s->pipe, s->stage)->body, 1, &nodes);
    ranges_enter(&s->ranges, s->stage);
    for (uint32_t k = 0; k < nodes.count; k++) {
        split_plan found;
        const tensor_node *n = node_at(s->pipe, nodes.items[k]);
        if (n->op != OP_result || split_plan_of(&s->plans, n->payload, s->stage) || !plan_fold(s, n->payload, &found)) continue;
        LIST_PUSH(s->pipe->memory, s->plans, found);
    }
}

/* Worth looking closer? */
static bool any_long_loop(const tensor_pipe *p)
{
    for (uint32_t f = 1; f < p->folds.count; f++) {
        int64_t lo, hi;
        const tensor_fold *fold = &p->folds.items[f];
        for (int b = 0; b < fold->n_binders && fold->form == FOLD_loop; b++) {
            bool is_constant = node_is_const(p, fold->lo[b], &lo) && node_is_const(p, fold->hi[b], &hi);
            if (!is_constant || hi - lo + 1 >= FEW_OF_A_BINDER) return true;
        }
    }
    return false;
}

split_plans split_plans_of(tensor_pipe *p)
{
    planning s = { .pipe = p };
    if (!any_long_loop(p)) return s.plans;
    ranges_begin(&s.ranges, p->memory, p);
    for (s.stage = 1; s.stage < p->stages.count; s.stage++)
        if (stage_at(p, s.stage)->kind == STAGE_compute) plan_stage(&s);
    return s.plans;
}
