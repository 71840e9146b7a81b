/* SPDX-License-Identifier: MIT
 * Ranges of stages: leaves, loads and folds. A sum over a table's weights adds each weight's own interval, so that a blur of
 * 0..255 is known to stay there (and a little, for rounding). */
#include "lowering/ranges.h"

#include <float.h>
#include <math.h>

#include "lowering/ranges_internal.h"

static range of(const ranges *r, ref node)
{
    return r->nodes.items[body_number(&r->body, node)];
}

/* ---- leaves ---------------------------------------------------------------------------------- */

static range of_bits(kind k, uint32_t bits)
{
    scalar value = scalar_of_bits(k, bits);
    double v = kind_is_float(k) ? (double)value.f : (double)value.i;
    if (isnan(v))
        return (range){ INFINITY, -INFINITY, true, false };                  /* nothing but NaN */
    return (range){ v, v, false, v == floor(v) && isfinite(v) };
}

static range of_param(const tensor_param *param)
{
    range all = kind_range(param->type.kind);
    if (param->has_range)
        all = (range){ fmax(all.lo, param->lo), fmin(all.hi, param->hi), false, all.whole };
    return all;
}

/* From the least of the one to the most of the other: a coordinate, a binder. */
static range between(range lo, range hi)
{
    return (range){ lo.lo, fmax(hi.hi, lo.lo), false, true };
}

/* How many pixels a table has. */
static int64_t table_pixels(const tensor_pipe *p, const tensor_stage *s)
{
    int64_t n = 1, lo, hi;
    for (int k = 0; k < s->rank; k++)
        n *= node_is_const(p, s->lo[k], &lo) && node_is_const(p, s->hi[k], &hi) && hi >= lo ? hi - lo + 1 : 0;
    return s->words ? n : 0;
}

static range of_table(const tensor_pipe *p, const tensor_stage *s)
{
    int64_t n = table_pixels(p, s) * s->type.lanes;
    range all = { INFINITY, -INFINITY, false, true };
    for (int64_t k = 0; k < n; k++)
        all = range_both(all, of_bits(s->type.kind, s->words[k]));
    return n ? all : kind_range(s->type.kind);
}

static range of_load(const ranges *r, ref node)
{
    const tensor_node *n = node_at(r->pipe, node);
    const tensor_stage *s = stage_at(r->pipe, n->payload);
    range value = range_of_cast(r->stages[n->payload], s->type.kind, n->type.kind);
    for (int k = 0; k < s->rank; k++)
        if (n->border[k] == BORDER_value)
            value = range_both(value, of(r, load_outside(r->pipe, node, k)));
    return value;
}

/* ---- folds ----------------------------------------------------------------------------------- */

/* At least and at most so many elements. */
static void count_elements(const ranges *r, const tensor_fold *f, double *least, double *most)
{
    *least = *most = 1;
    for (int k = 0; k < f->n_binders; k++) {
        range lo = of(r, f->lo[k]), hi = of(r, f->hi[k]);
        int32_t apart;
        if (linear_difference(r->pipe, f->hi[k], f->lo[k], &apart))
            lo = (range){ 0, 0, false, true }, hi = (range){ apart, apart, false, true };
        *least *= fmax(hi.lo - lo.hi + 1, 0);
        *most *= fmax(hi.hi - lo.lo + 1, 0);
    }
    if (f->where)
        *least = 0;
}

/* The table whose every word is a weight at most once: its indices are the fold's binders, each once. 0: no such thing. */
static uint32_t weights_of(const tensor_pipe *p, uint32_t fold, ref weight)
{
    if (node_at(p, weight)->op == OP_splat)
        weight = node_arg(p, weight, 0);
    const tensor_node *n = node_at(p, weight);
    if (n->op != OP_load || stage_at(p, n->payload)->kind != STAGE_table || stage_at(p, n->payload)->type.lanes != 1)
        return 0;
    unsigned seen = 0;
    for (int k = 0; k < stage_at(p, n->payload)->rank; k++) {
        const tensor_node *i = node_at(p, load_index(p, weight, k));
        if (n->border[k] != BORDER_none || i->op != OP_binder || i->payload != fold || seen >> i->index & 1)
            return 0;
        seen |= 1u << i->index;
    }
    return seen == (1u << fold_at(p, fold)->n_binders) - 1 ? n->payload : 0;
}

/* Each word times the element's interval; a word that may be left out counts as 0 too. */
static range weighted_sum(const tensor_pipe *p, uint32_t table, range element, bool all_taken)
{
    const tensor_stage *s = stage_at(p, table);
    range sum = { 0, 0, element.maybe_nan, element.whole };
    int64_t n = table_pixels(p, s);
    for (int64_t k = 0; k < n; k++) {
        range term = range_mul(of_bits(s->type.kind, s->words[k]), element);
        sum = range_add(sum, all_taken ? term : range_both(term, (range){ 0, 0, false, true }));
    }
    return sum;
}

/* The sum, and what the roundings of n products and partial sums may add to it. */
static range total(kind k, range init, range sum, double n, double largest)
{
    range exact = range_add(init, sum);
    double most = n * largest + fmax(fabs(init.lo), fabs(init.hi));
    if (kind_is_float(k) && !(exact.whole && most <= 16777216)) {
        if (!(most < FLT_MAX))
            return kind_range(k);                        /* a partial sum may overflow */
        double slack = (n + 1) * (most * 0x1p-22 + 0x1p-140);
        exact.lo -= slack;
        exact.hi += slack;
        exact.whole = false;
    }
    return range_rounded(k, exact);
}

static double magnitude(range a)
{
    return fmax(fabs(a.lo), fabs(a.hi));
}

/* acc + element or acc + weight * element, over all elements; false when `next` is something else. */
static bool of_sum(const ranges *r, uint32_t fold, int which, range *out)
{
    const tensor_pipe *p = r->pipe;
    const tensor_fold *f = fold_at(p, fold);
    const tensor_node *next = node_at(p, f->next[which]);
    type t = next->type;
    ref acc = 0, weight = 0, element = 0;
    if (next->op == OP_muladd || next->op == OP_fma) {
        weight = node_arg(p, f->next[which], 0);
        element = node_arg(p, f->next[which], 1);
        acc = node_arg(p, f->next[which], 2);
    } else if (next->op == OP_add) {
        for (int k = 0; k < 2 && !(acc && node_at(p, acc)->op == OP_acc); k++) {
            acc = node_arg(p, f->next[which], k);
            element = node_arg(p, f->next[which], 1 - k);
        }
        if (node_at(p, element)->op == OP_mul) {
            weight = node_arg(p, element, 0);
            element = node_arg(p, element, 1);
        }
    }
    if (!acc || node_at(p, acc)->op != OP_acc || node_at(p, acc)->payload != fold || node_at(p, acc)->index != which)
        return false;
    double least, most;
    count_elements(r, f, &least, &most);
    range one = weight ? range_mul(of(r, weight), of(r, element)) : of(r, element), sum;
    uint32_t table = weight ? weights_of(p, fold, weight) : 0;
    if (table)
        sum = weighted_sum(p, table, of(r, element), least == most && most == (double)table_pixels(p, stage_at(p, table)));
    else
        sum = range_mul(one, (range){ least, most, false, true });
    *out = total(t.kind, of(r, f->init[which]), sum, most, magnitude(one));
    return isfinite(most);
}

/* An operand that depends on the accumulator itself was looked at with any value of its kind (of_leaf). */
static range of_result(const ranges *r, const tensor_node *n)
{
    const tensor_fold *f = fold_at(r->pipe, n->payload);
    range init = of(r, f->init[n->index]), next = of(r, f->next[n->index]), sum;
    if (f->form != FOLD_median && of_sum(r, n->payload, n->index, &sum))
        return sum;
    const tensor_node *top = node_at(r->pipe, f->next[n->index]);
    if (top->op == OP_min || top->op == OP_max)
        for (int k = 0; k < 2; k++) {
            const tensor_node *acc = node_at(r->pipe, node_arg(r->pipe, f->next[n->index], k));
            if (acc->op == OP_acc && acc->payload == n->payload && acc->index == n->index)
                return range_both(init, of(r, node_arg(r->pipe, f->next[n->index], 1 - k)));
        }
    return range_both(init, next);
}

/* ---- nodes ----------------------------------------------------------------------------------- */

static range of_leaf(const ranges *r, const tensor_node *n)
{
    const tensor_pipe *p = r->pipe;
    const tensor_fold *f = n->op == OP_binder || n->op == OP_acc ? fold_at(p, n->payload) : NULL;
    switch (n->op) {
    case OP_const:  return of_bits(n->type.kind, n->payload);
    case OP_param:  return of_param(&p->params.items[n->payload]);
    case OP_dim:    return (range){ 0, INT32_MAX, false, true };
    case OP_coord:  return between(of(r, stage_at(p, r->stage)->lo[n->index]), of(r, stage_at(p, r->stage)->hi[n->index]));
    case OP_binder: return between(of(r, f->lo[n->index]), of(r, f->hi[n->index]));
    default:        return kind_range(n->type.kind);                         /* acc: anything */
    }
}

static range of_structure(const ranges *r, ref node)
{
    const tensor_node *n = node_at(r->pipe, node);
    range value = of(r, node_arg(r->pipe, node, n->op == OP_select));
    if (n->op == OP_comp && node_at(r->pipe, node_arg(r->pipe, node, 0))->op == OP_vec)
        return of(r, node_arg(r->pipe, node_arg(r->pipe, node, 0), n->index));
    for (int k = n->op == OP_select ? 2 : 1; k < n->n_args; k++)
        value = range_both(value, of(r, node_arg(r->pipe, node, k)));
    return value;
}

static range of_conversion(const ranges *r, ref node)
{
    const tensor_node *n = node_at(r->pipe, node);
    ref arg = node_arg(r->pipe, node, 0);
    kind from = node_type(r->pipe, arg).kind;
    range a = of(r, arg);
    if (n->op == OP_cast)
        return range_of_cast(a, from, n->type.kind);
    return n->op == OP_wrap ? range_rounded(n->type.kind, a) : kind_range(n->type.kind);
}

static range of_node(const ranges *r, ref node)
{
    const tensor_node *n = node_at(r->pipe, node);
    range args[3];
    switch (op_get(n->op)->class) {
    case CLASS_TYP:
        return of_conversion(r, node);
    case CLASS_STR:
        if (n->op == OP_load)
            return of_load(r, node);
        if (n->op == OP_result)
            return of_result(r, n);
        return n->n_args ? of_structure(r, node) : of_leaf(r, n);
    default:
        for (int k = 0; k < n->n_args; k++)
            args[k] = of(r, node_arg(r->pipe, node, k));
        return range_of_op(n->op, node_type(r->pipe, node_arg(r->pipe, node, 0)).kind, args);
    }
}

/* ---- stages ---------------------------------------------------------------------------------- */

void ranges_enter(ranges *r, uint32_t stage)
{
    const tensor_stage *s = stage_at(r->pipe, stage);
    r->stage = stage;
    r->nodes.count = 0;
    body_clear(&r->body);
    for (int k = 0; k < s->rank; k++) {
        body_add(&r->body, s->lo[k]);
        body_add(&r->body, s->hi[k]);
    }
    if (s->kind == STAGE_compute)
        body_add(&r->body, s->body);
    for (uint32_t k = 0; k < r->body.nodes.count; k++) {
        range value = of_node(r, r->body.nodes.items[k].node);
        LIST_PUSH(r->body.memory, r->nodes, value);
    }
}

static range of_stage(ranges *r, uint32_t stage)
{
    const tensor_stage *s = stage_at(r->pipe, stage);
    if (s->kind == STAGE_input)
        return kind_range(s->type.kind);             /* a declared range is a clamp in a stage of its own */
    if (s->kind == STAGE_table)
        return of_table(r->pipe, s);
    ranges_enter(r, stage);
    return of(r, s->body);
}

void ranges_begin(ranges *r, arena *memory, const tensor_pipe *p)
{
    *r = (ranges){ .pipe = p };
    body_begin(&r->body, memory, p);
    r->stages = ARENA_ARRAY(memory, range, p->stages.count);
    for (uint32_t s = 1; s < p->stages.count; s++)
        r->stages[s] = of_stage(r, s);
}

range stage_range(const ranges *r, uint32_t stage)
{
    return r->stages[stage];
}

range node_range(const ranges *r, ref node)
{
    return of(r, node);
}
