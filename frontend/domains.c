/* SPDX-License-Identifier: MIT
 * Where an indexed definition is defined, and whether its reads stay inside.
 *
 * A dimension without a range gets the largest one for which every read is inside (unpadded images: the whole index; padded
 * ones: the coordinate's own part). Each read *asks* for a range by solving lo <= index <= hi for its coordinate, step by step
 * through `c*v + rest` and `(...) // n`. What didn't ask is checked afterwards: shown to hold, shown never to hold (an error
 * with the fix), or left to a check before the run. */
#include <string.h>

#include "frontend/builder.h"

enum { MAX_STEPS = 8 };

/* ---- taking an index apart ------------------------------------------------------------------------------------ */

/* A step inwards: `inner // by`, or `inner * by` with a uniform factor, by > 0 for every size and parameter. */
typedef struct step { ref inner, by; bool divides; } step;

static bool step_into(builder *b, ref atom, step *out)
{
    const tensor_node n = *node_at(b->pipe, atom);
    if (n.op != OP_floordiv && n.op != OP_mul)
        return false;
    ref first = node_arg(b->pipe, atom, 0), second = node_arg(b->pipe, atom, 1);
    bool swapped = n.op == OP_mul && node_is_uniform(b->pipe, first);
    *out = (step){ swapped ? second : first, swapped ? first : second, n.op == OP_floordiv };
    return node_is_uniform(b->pipe, out->by) && known_less_equal(b, tensor_i32(b->pipe, 1), out->by) == 1;
}

/* A coordinate itself, or one inside of steps: what an index can be solved for. */
static bool is_solvable(builder *b, const coordinates *at, ref atom, int level)
{
    const tensor_node n = *node_at(b->pipe, atom);
    step inwards;
    linear inner;
    if (n.op == OP_coord)
        return n.index < at->count && at->lo[n.index] == 0;
    if (level == 0 || !step_into(b, atom, &inwards) || !linear_of(b->pipe, inwards.inner, &inner))
        return false;
    for (int k = 0; k < inner.n_terms; k++)
        if (is_solvable(b, at, inner.terms[k].atom, level - 1))
            return true;
    return false;
}

static bool is_ranged_coordinate(builder *b, const coordinates *at, ref atom)
{
    const tensor_node *n = node_at(b->pipe, atom);
    return n->op == OP_coord && n->index < at->count && at->lo[n->index] != 0;
}

typedef struct question {
    builder *b;
    const coordinates *at;
    bool padded;
    bool counts;                  /* padded: the coordinate counts downward, so the rest of the index counts */
    int  coordinate;              /* the answer: which one, and between what; -1: nothing is asked */
    ref  lo, hi;
} question;

/* The rest of an index besides the solvable term: its least and greatest value. For padded reads: 0, or where the coordinate
 * counts downward the uniform part. */
static bool rest_interval(question *q, const linear *form, int skip, interval *rest)
{
    builder *b = q->b;
    ref zero = tensor_i32(b->pipe, 0);
    rest->lo = rest->hi = q->padded && !q->counts ? zero : tensor_i32(b->pipe, form->constant);
    for (int k = 0; k < form->n_terms; k++) {
        ref atom = form->terms[k].atom;
        int32_t c = form->terms[k].coefficient;
        if (k == skip)
            continue;
        if (q->padded) {
            if (q->counts && node_is_uniform(b->pipe, atom))
                rest->lo = rest->hi = node_add(b, rest->lo, node_scale(b, atom, c));
            continue;
        }
        interval i = interval_of(b, atom, q->at);
        if (!i.lo || !i.hi)
            return false;
        rest->lo = node_add(b, rest->lo, node_scale(b, c > 0 ? i.lo : i.hi, c));
        rest->hi = node_add(b, rest->hi, node_scale(b, c > 0 ? i.hi : i.lo, c));
    }
    return true;
}

/* The one term to solve for; -1 when there is none or several. */
static int solvable_term(question *q, const linear *form)
{
    int found = -1, others = 0;
    for (int k = 0; k < form->n_terms; k++) {
        if (is_solvable(q->b, q->at, form->terms[k].atom, MAX_STEPS)) {
            others += found >= 0;
            found = k;
        }
        others += q->padded && is_ranged_coordinate(q->b, q->at, form->terms[k].atom);
    }
    return others ? -1 : found;
}

/* Whether the index falls as its coordinate grows. */
static bool counts_downward(question *q, ref index)
{
    bool downward = false;
    for (int level = 0; level < MAX_STEPS; level++) {
        linear form;
        step inwards;
        int which = linear_of(q->b->pipe, index, &form) ? solvable_term(q, &form) : -1;
        if (which < 0)
            return downward;
        downward ^= form.terms[which].coefficient < 0;
        if (!step_into(q->b, form.terms[which].atom, &inwards))
            return downward;
        index = inwards.inner;
    }
    return downward;
}

/* lo <= c * u <= hi, solved for u. */
static void divide_bounds(builder *b, ref *lo, ref *hi, int32_t c)
{
    if (c < 0) {
        ref swapped = *lo;
        *lo = node_scale(b, *hi, -1);
        *hi = node_scale(b, swapped, -1);
        c = -c;
    }
    *lo = ceil_div(b, *lo, c);
    *hi = floor_div(b, *hi, c);
}

/* lo <= u <= hi for u = inner // by or inner * by, solved for inner. */
static void undo_step(builder *b, const step *s, ref *lo, ref *hi)
{
    tensor_pipe *p = b->pipe;
    ref less = node_sub(b, s->by, tensor_i32(p, 1));
    if (s->divides) {
        *lo = normal(b, tensor_op2(p, OP_mul, *lo, s->by));
        *hi = node_add(b, tensor_op2(p, OP_mul, *hi, s->by), less);
    } else {
        *lo = normal(b, tensor_op2(p, OP_floordiv, node_add(b, *lo, less), s->by));
        *hi = normal(b, tensor_op2(p, OP_floordiv, *hi, s->by));
    }
}

/* lo <= index <= hi, solved for the coordinate in it. */
static bool solve(question *q, ref index, ref lo, ref hi)
{
    builder *b = q->b;
    q->counts = q->padded && counts_downward(q, index);
    for (int level = 0; level <= MAX_STEPS; level++) {
        linear form;
        interval rest;
        step inwards;
        int which = linear_of(b->pipe, index, &form) ? solvable_term(q, &form) : -1;
        if (which < 0 || form.terms[which].coefficient == INT32_MIN || !rest_interval(q, &form, which, &rest))
            return false;
        lo = node_sub(b, lo, rest.lo);
        hi = node_sub(b, hi, rest.hi);
        divide_bounds(b, &lo, &hi, form.terms[which].coefficient);
        const tensor_node n = *node_at(b->pipe, form.terms[which].atom);
        if (n.op == OP_coord) {
            q->coordinate = n.index;
            q->lo = lo;
            q->hi = hi;
            return true;
        }
        if (!step_into(b, form.terms[which].atom, &inwards))
            return false;
        undo_step(b, &inwards, &lo, &hi);
        index = inwards.inner;
    }
    return false;
}

/* ---- finding the ranges ------------------------------------------------------------------------------------------- */

typedef struct asked_range { ref lo, hi; } asked_range;

static void meet(builder *b, asked_range *r, ref lo, ref hi)
{
    r->lo = r->lo ? normal(b, tensor_op2(b->pipe, OP_max, r->lo, lo)) : lo;
    r->hi = r->hi ? normal(b, tensor_op2(b->pipe, OP_min, r->hi, hi)) : hi;
}

static void ask(builder *b, const coordinates *at, read *r, asked_range *ranges)
{
    const content *c = r->image->content;
    for (int k = 0; k < c->rank; k++) {
        question q = { .b = b, .at = at, .padded = r->image->axis[k].mode != BORDER_none, .coordinate = -1 };
        if (!r->counts || !solve(&q, normal(b, r->index[k]), c->lo[k], c->hi[k]))
            continue;
        meet(b, &ranges[q.coordinate], q.lo, q.hi);
        r->asked[k] = true;
    }
}

/* An unpadded index with two free coordinates, to point at when a dimension has no range. */
static bool mentions(builder *b, ref index, int dimension)
{
    linear form;
    if (!linear_of(b->pipe, index, &form))
        return false;
    for (int k = 0; k < form.n_terms; k++)
        if (form.terms[k].atom == tensor_coord(b->pipe, dimension))
            return true;
    return false;
}

/* The condition in which this dimension is read, which doesn't count. */
static const read *read_in_condition(builder *b, const coordinates *at, int dimension)
{
    for (uint32_t n = 0; n < at->reads.count; n++)
        for (int k = 0; k < at->reads.items[n].image->content->rank; k++)
            if (!at->reads.items[n].counts && mentions(b, at->reads.items[n].index[k], dimension))
                return &at->reads.items[n];
    return NULL;
}

static void report_unranged(builder *b, const coordinates *at, int dimension)
{
    const char *name = at->names[dimension];
    for (uint32_t n = 0; n < at->reads.count; n++) {
        const read *r = &at->reads.items[n];
        for (int k = 0; k < r->image->content->rank; k++)
            if (r->counts && r->image->axis[k].mode == BORDER_none && mentions(b, r->index[k], dimension)) {
                fail(b, DIAG_E0302, r->where, "`%s` alone doesn't say how far `%s` goes", written_text(b, r->where), name);
                diag_help(b->d, "give a range: %s in 0..<n", name);
                return;
            }
    }
    const read *condition = read_in_condition(b, at, dimension);
    fail(b, DIAG_E0302, at->where[dimension], condition ? "nothing says how far `%s` goes" :
         "nothing says how far `%s` goes: no image is read along it", name);
    if (condition)
        diag_note(b->d, "`%s` stands in a condition or a pad, which don't count", written_text(b, condition->where));
    diag_help(b->d, "give it a range, as in %s in 0..<256, or (x, y) in src", name);
}

bool find_domain(builder *b, coordinates *at)
{
    asked_range ranges[TENSOR_MAX_RANK] = { 0 };
    bool open = false, good = true;
    for (int k = 0; k < at->count; k++)
        open = open || at->lo[k] == 0;
    for (uint32_t n = 0; open && n < at->reads.count; n++)
        ask(b, at, &at->reads.items[n], ranges);
    for (int k = 0; k < at->count; k++) {
        if (at->lo[k] != 0)
            continue;
        if (ranges[k].lo == 0) {
            report_unranged(b, at, k);
            good = false;
            continue;
        }
        at->lo[k] = ranges[k].lo;
        at->hi[k] = ranges[k].hi;
    }
    return good;
}

/* ---- checking what didn't ask --------------------------------------------------------------------------------------- */

static const char *image_name(builder *b, const image *im)
{
    return im->content->name ? im->content->name : written_text(b, im->content->where);
}

static const char *domain_text(builder *b, ref lo, ref hi)
{
    return arena_printf(b->memory, "%s..<%s", uniform_text(b, lo), uniform_text(b, node_add(b, hi, tensor_i32(b->pipe, 1))));
}

static const char *index_text(builder *b, const read *r, int axis)
{
    return r->written[axis] ? written_text(b, r->written[axis]->where) : "the index";
}

static void suggest_pad(builder *b, const read *r)
{
    const char *name = r->image->content->name;
    if (name && r->written[0]) {
        span indices = { r->where.source, r->written[0]->where.start, r->where.end };
        diag_help(b->d, "say what is outside: pad(%s, edge)[%s", name, written_text(b, indices));
    } else {
        diag_help(b->d, "say what is outside, as in pad(%s, edge)", name ? name : "a");
    }
}

/* `end` of the index is beyond the domain's end, whatever the sizes. */
static void report_outside(builder *b, const read *r, int axis, ref end, bool is_low)
{
    const content *c = r->image->content;
    int32_t by;
    bool counted = linear_difference(b->pipe, end, is_low ? c->lo[axis] : c->hi[axis], &by);
    by = counted ? (by < 0 ? -by : by) : 0;
    if (counted)
        fail(b, DIAG_E0301, r->where, "this reads %d pixel%s outside `%s`", by, by == 1 ? "" : "s", image_name(b, r->image));
    else
        fail(b, DIAG_E0301, r->where, "this reads outside `%s`", image_name(b, r->image));
    const char *index = index_text(b, r, axis), *reached = uniform_text(b, end);
    const char *domain = domain_text(b, c->lo[axis], c->hi[axis]);
    if (strcmp(index, reached) == 0)
        diag_note(b->d, "`%s` covers %s, which %s isn't in", image_name(b, r->image), domain, index);
    else
        diag_note(b->d, "`%s` covers %s; %s reaches %s", image_name(b, r->image), domain, index, reached);
    suggest_pad(b, r);
}

static void report_unproved(builder *b, const read *r, int axis, ref end)
{
    const content *c = r->image->content;
    fail(b, DIAG_E0307, r->where, "nothing shows that this read of `%s` stays inside", image_name(b, r->image));
    diag_note(b->d, "`%s` covers %s, and %s can be %s", image_name(b, r->image), domain_text(b, c->lo[axis], c->hi[axis]),
              index_text(b, r, axis), end ? uniform_text(b, end) : "anything");
    suggest_pad(b, r);
    diag_help(b->d, "or clamp the index: clamp(%s, 0, n - 1)", index_text(b, r, axis));
}

static bool depends_on_data(builder *b, const read *r, int axis)
{
    return node_has_load(b, r->index[axis]);
}

/* What data can be has to be shown to be inside: by a type or range, which gives a number, for every size. */
static bool is_unproved(builder *b, int holds, ref end)
{
    int64_t number;
    return holds == 0 || (holds < 0 && node_is_const(b->pipe, end, &number));
}

static void check_axis(builder *b, const coordinates *at, const read *r, int axis)
{
    const content *c = r->image->content;
    interval i = interval_of(b, normal(b, r->index[axis]), at);
    if (!i.lo || !i.hi) {
        report_unproved(b, r, axis, 0);
        return;
    }
    int low = known_less_equal(b, c->lo[axis], i.lo), high = known_less_equal(b, i.hi, c->hi[axis]);
    if (depends_on_data(b, r, axis) && (is_unproved(b, low, i.lo) || is_unproved(b, high, i.hi))) {
        report_unproved(b, r, axis, is_unproved(b, low, i.lo) ? i.lo : i.hi);
        return;
    }
    if (low == 0 || high == 0) {
        report_outside(b, r, axis, low == 0 ? i.lo : i.hi, low == 0);
        return;
    }
    const char *format = "%s of `%s` reaches %s, which is outside at this size";
    if (low < 0)
        require(b, tensor_op2(b->pipe, OP_le, c->lo[axis], i.lo), DIAG_E0601, r->where, format, index_text(b, r, axis),
                image_name(b, r->image), uniform_text(b, i.lo));
    if (high < 0)
        require(b, tensor_op2(b->pipe, OP_le, i.hi, c->hi[axis]), DIAG_E0601, r->where, format, index_text(b, r, axis),
                image_name(b, r->image), uniform_text(b, i.hi));
}

void check_reads(builder *b, const coordinates *at)
{
    for (uint32_t n = 0; n < at->reads.count; n++) {
        const read *r = &at->reads.items[n];
        for (int k = 0; k < r->image->content->rank; k++)
            if (r->image->axis[k].mode == BORDER_none && !r->asked[k])
                check_axis(b, at, r, k);
    }
}
