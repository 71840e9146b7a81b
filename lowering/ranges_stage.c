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
        return (range){ INFINITY, -INFINITY, true, false, SCALE_NONE };      /* nothing but NaN */
    return (range){ v, v, false, kind_is_float(k) && signbit(v) && v == 0, scale_of_real(v) };
}

static range of_param(const tensor_param *param)
{
    range all = kind_range(param->type.kind);
    if (param->has_range)
        all = (range){ fmax(all.lo, param->lo), fmin(all.hi, param->hi), false, all.minus_zero, all.scale };
    return all;
}

/* From the least of the one to the most of the other: a coordinate, a binder. */
static range between(range lo, range hi)
{
    return whole_range(lo.lo, fmax(hi.hi, lo.lo));
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
    range all = whole_range(INFINITY, -INFINITY);
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
            lo = whole_range(0, 0), hi = whole_range(apart, apart);
        *least *= fmax(hi.lo - lo.hi + 1, 0);
        *most *= fmax(hi.hi - lo.lo + 1, 0);
    }
    if (f->where)
        *least = 0;
}

static bool keeps_values(const ranges *r, ref node)
{
    if (node_at(r->pipe, node)->op != OP_cast)
        return false;
    ref arg = node_arg(r->pipe, node, 0);
    kind to = node_type(r->pipe, node).kind;
    return kind_holds(to, node_type(r->pipe, arg).kind) || (to == KIND_f32 && range_is_exact(of(r, arg), 16777216));
}

/* Is every pixel of this table a weight at most once? Its indices are the fold's binders, each once, or the only one there is. */
static uint32_t weights_of(const ranges *r, uint32_t fold, ref weight)
{
    const tensor_pipe *p = r->pipe;
    while (node_at(p, weight)->op == OP_splat || keeps_values(r, weight))
        weight = node_arg(p, weight, 0);
    const tensor_node *n = node_at(p, weight);
    if (n->op != OP_load || stage_at(p, n->payload)->kind != STAGE_table || !table_pixels(p, stage_at(p, n->payload)))
        return 0;
    const tensor_stage *s = stage_at(p, n->payload);
    unsigned seen = 0;
    for (int k = 0; k < s->rank; k++) {
        const tensor_node *i = node_at(p, load_index(p, weight, k));
        bool is_only = i->op == OP_const && s->lo[k] == s->hi[k];
        if (is_only)
            continue;
        if (n->border[k] != BORDER_none || i->op != OP_binder || i->payload != fold || seen >> i->index & 1)
            return 0;
        seen |= 1u << i->index;
    }
    return seen == (1u << fold_at(p, fold)->n_binders) - 1 ? n->payload : 0;
}

/* What is added up: `all` is the sum of all elements, the sum of any of them lies in least..most. */
typedef struct sum { range all; double least, most; } sum;

static void add_term(sum *s, range term, bool is_taken)
{
    s->least += fmin(term.lo, 0);
    s->most += fmax(term.hi, 0);
    s->all = range_add(s->all, is_taken ? term : range_both(term, whole_range(0, 0)));
}

static range of_weight(const tensor_stage *table, int64_t pixel)
{
    range all = of_bits(table->type.kind, table->words[pixel * table->type.lanes]);
    for (int lane = 1; lane < table->type.lanes; lane++)
        all = range_both(all, of_bits(table->type.kind, table->words[pixel * table->type.lanes + lane]));
    return all;
}

/* Each weight times the element's interval. */
static sum weighted_sum(const tensor_pipe *p, uint32_t table, range element, double least, double most)
{
    const tensor_stage *s = stage_at(p, table);
    sum total = { whole_range(0, 0), 0, 0 };
    int64_t n = table_pixels(p, s);
    bool all_taken = least == most && most == (double)n;
    total.all.minus_zero = true;                         /* that is the neutral one */
    for (int64_t k = 0; k < n; k++)
        add_term(&total, range_mul(of_weight(s, k), element), all_taken);
    if (!all_taken)
        total.all.minus_zero = true;
    return total;
}

/* So many elements alike. */
static sum repeated_sum(range one, double least, double most)
{
    sum total = { range_mul(one, whole_range(least, most)), fmin(one.lo, 0) * most, fmax(one.hi, 0) * most };
    total.all.minus_zero = one.minus_zero || least == 0;
    return total;
}

/* Sums of n elements as kind `k` has them: the sum from `init`, and every partial sum, with what roundings may add. */
static void add_up(kind k, range init, sum s, double n, range *total, range *partial)
{
    *total = range_add(init, s.all);
    *partial = (range){ init.lo + s.least, init.hi + s.most, total->maybe_nan, init.minus_zero, total->scale };
    if (kind_is_float(k) && !range_is_exact(*partial, 16777216)) {
        double largest = fmax(fabs(init.lo), fabs(init.hi)) + s.most - s.least;
        if (!(largest < FLT_MAX)) {                      /* a partial sum may overflow */
            *total = *partial = kind_range(k);
            return;
        }
        double slack = (n + 1) * (largest * 0x1p-22 + 0x1p-140);
        total->lo -= slack, partial->lo -= slack;
        total->hi += slack, partial->hi += slack;
        total->scale = partial->scale = SCALE_NONE;
    }
    *total = range_rounded(k, *total);
    *partial = range_rounded(k, *partial);
}

summand summand_of(const tensor_pipe *p, uint32_t fold, int which)
{
    summand s = { 0, 0, 0 };
    ref next = fold_at(p, fold)->next[which];
    tensor_op op = node_at(p, next)->op;
    if (op == OP_muladd || op == OP_fma) {
        s = (summand){ node_arg(p, next, 2), node_arg(p, next, 0), node_arg(p, next, 1) };
    } else if (op == OP_add) {
        bool first = node_at(p, node_arg(p, next, 0))->op == OP_acc;
        s.acc = node_arg(p, next, first ? 0 : 1);
        s.element = node_arg(p, next, first ? 1 : 0);
        if (node_at(p, s.element)->op == OP_mul)
            s = (summand){ s.acc, node_arg(p, s.element, 0), node_arg(p, s.element, 1) };
    }
    const tensor_node *acc = node_at(p, s.acc);
    bool is_sum = acc->op == OP_acc && acc->payload == fold && acc->index == which;
    return is_sum ? s : (summand){ 0, 0, 0 };
}

/* False when `next` is something else than a sum. */
static bool of_sum(const ranges *r, uint32_t fold, int which, range *out)
{
    const tensor_pipe *p = r->pipe;
    const tensor_fold *f = fold_at(p, fold);
    ref next = f->next[which];
    summand s = summand_of(p, fold, which);
    if (!s.acc)
        return false;
    double least, most;
    count_elements(r, f, &least, &most);
    if (!isfinite(most))
        return false;
    uint32_t table = s.weight ? weights_of(r, fold, s.weight) : 0;
    if (s.weight && !table && (table = weights_of(r, fold, s.element)) != 0)
        s = (summand){ s.acc, s.element, s.weight };
    range one = s.weight ? range_mul(of(r, s.weight), of(r, s.element)) : of(r, s.element), partial;
    sum all = table ? weighted_sum(p, table, of(r, s.element), least, most) : repeated_sum(one, least, most);
    add_up(node_type(p, next).kind, of(r, f->init[which]), all, most, out, &partial);
    r->nodes.items[body_number(&r->body, s.acc)] = r->nodes.items[body_number(&r->body, next)] = partial;
    return true;
}

/* The accumulator of a minimum or maximum is the start or an element, and so is what comes out. */
static bool of_extremum(const ranges *r, uint32_t fold, int which, range *out)
{
    const tensor_pipe *p = r->pipe;
    ref next = fold_at(p, fold)->next[which];
    tensor_op op = (tensor_op)node_at(p, next)->op;
    for (int k = 0; (op == OP_min || op == OP_max) && k < 2; k++) {
        ref acc = node_arg(p, next, k);
        const tensor_node *n = node_at(p, acc);
        if (n->op != OP_acc || n->payload != fold || n->index != which)
            continue;
        *out = range_both(of(r, fold_at(p, fold)->init[which]), of(r, node_arg(p, next, 1 - k)));
        r->nodes.items[body_number(&r->body, acc)] = r->nodes.items[body_number(&r->body, next)] = *out;
        return true;
    }
    return false;
}

/* An operand that depends on the accumulator itself was looked at with any value of its kind (of_leaf). */
static range of_result(const ranges *r, const tensor_node *n)
{
    const tensor_fold *f = fold_at(r->pipe, n->payload);
    range init = of(r, f->init[n->index]), next = of(r, f->next[n->index]), sum;
    if (f->form != FOLD_median && (of_sum(r, n->payload, n->index, &sum) || of_extremum(r, n->payload, n->index, &sum)))
        return sum;
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
    case OP_dim:    return whole_range(0, INT32_MAX);
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

static void look_at_nodes(ranges *r)
{
    for (uint32_t k = 0; k < r->body.nodes.count; k++) {
        range value = of_node(r, r->body.nodes.items[k].node);
        LIST_PUSH(r->body.memory, r->nodes, value);
    }
}

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
    look_at_nodes(r);
}

range uniform_range(arena *memory, const tensor_pipe *p, ref uniform)
{
    ranges r = { .pipe = p };
    body_begin(&r.body, memory, p);
    body_add(&r.body, uniform);
    look_at_nodes(&r);
    return of(&r, uniform);
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
