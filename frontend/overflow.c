/* SPDX-License-Identifier: MIT
 * Warns of integer sums and convolutions whose value range can leave 32 bits.
 *
 * Ranges are numbers, found in one sweep over the nodes in order of making, as the traits in nodes.c are. A range that covers
 * all of i32 or u32 is no knowledge: without a bound on its elements a sum says nothing, and there is no warning. */
#include "frontend/builder.h"

static value_range kind_range(int k)
{
    const kind_info *info = kind_get((kind)k);
    if (kind_is_float(k) || k == KIND_i64)
        return (value_range){ INT32_MIN, INT32_MAX, false };
    return (value_range){ info->lowest, info->highest, info->bits < 32 };
}

/* What wraps can be anything. */
static value_range fitted(value_range r, int k)
{
    value_range all = kind_range(k);
    return r.known && r.lo >= all.lo && r.hi <= all.hi ? r : all;
}

static value_range hull(value_range a, value_range c)
{
    return (value_range){ a.lo < c.lo ? a.lo : c.lo, a.hi > c.hi ? a.hi : c.hi, a.known && c.known };
}

/* Held within 2^46: far beyond 32 bits, which is all that is asked, and 65536 of them still add up in 64. */
static int64_t product(int64_t a, int64_t b)
{
    const int64_t most = (int64_t)1 << 46;
    int64_t r;
    if (__builtin_mul_overflow(a, b, &r)) r = (a < 0) == (b < 0) ? most : -most;
    return r > most ? most : r < -most ? -most : r;
}

static value_range products(value_range a, value_range c)
{
    int64_t p[4] = { product(a.lo, c.lo), product(a.lo, c.hi), product(a.hi, c.lo), product(a.hi, c.hi) };
    value_range r = { p[0], p[0], a.known && c.known };
    for (int k = 1; k < 4; k++)
        r = hull(r, (value_range){ p[k], p[k], r.known });
    return r;
}

static value_range clamped_to(value_range a, int k)
{
    value_range all = kind_range(k);
    if (!a.known || all.known)
        a = a.known ? a : all;
    return (value_range){ a.lo < all.lo ? all.lo : a.lo > all.hi ? all.hi : a.lo,
                          a.hi > all.hi ? all.hi : a.hi < all.lo ? all.lo : a.hi, a.known || all.known };
}

/* ---- stages ------------------------------------------------------------------------------------------------------------ */

static int64_t table_pixels(builder *b, const tensor_stage *s)
{
    int64_t count = 1, lo, hi;
    for (int k = 0; k < s->rank; k++)
        if (node_is_const(b->pipe, s->lo[k], &lo) && node_is_const(b->pipe, s->hi[k], &hi))
            count *= hi - lo + 1;
    return count;
}

static value_range table_range(builder *b, const tensor_stage *s)
{
    int64_t n = table_pixels(b, s) * s->type.lanes;
    value_range r = { INT64_MAX, INT64_MIN, n > 0 && !kind_is_float(s->type.kind) };
    for (int64_t k = 0; k < n; k++) {
        int64_t v = scalar_of_bits((kind)s->type.kind, s->words[k]).i;
        r = hull(r, (value_range){ v, v, r.known });
    }
    return r.known ? r : kind_range(s->type.kind);
}

static value_range stage_range(builder *b, const tensor_stage *s)
{
    switch ((stage_kind)s->kind) {
    case STAGE_input:
        return s->has_range && kind_is_integer(s->type.kind) ? (value_range){ (int64_t)s->range_lo, (int64_t)s->range_hi, true }
                                                             : kind_range(s->type.kind);
    case STAGE_table: return table_range(b, s);
    case STAGE_compute: break;
    }
    return s->body < b->ranges.count ? b->ranges.items[s->body] : kind_range(s->type.kind);
}

static value_range load_range(builder *b, ref node)
{
    const tensor_node *n = node_at(b->pipe, node);
    const tensor_stage *s = stage_at(b->pipe, n->payload);
    value_range r = stage_range(b, s);
    for (int k = 0; k < s->rank; k++)
        if (load_outside(b->pipe, node, k))
            r = hull(r, b->ranges.items[load_outside(b->pipe, node, k)]);
    return clamped_to(r, n->type.kind);
}

/* ---- folds ---------------------------------------------------------------------------------------------------------------- */

/* How many elements a fold has at most; 0: not known. */
static int64_t most_elements(builder *b, const tensor_fold *f)
{
    int64_t count = 1;
    for (int k = 0; k < f->n_binders; k++) {
        value_range lo = b->ranges.items[f->lo[k]], hi = b->ranges.items[f->hi[k]];
        int64_t extent = hi.hi - lo.lo + 1;
        if (!lo.known || !hi.known || extent > INT32_MAX)
            return 0;
        count *= extent < 0 ? 0 : extent;
        if (count > INT32_MAX)
            return 0;
    }
    return count;
}

/* The exact range over the taps of a literal kernel. */
static bool tap_range(builder *b, ref weight, value_range pixel, value_range *total)
{
    const tensor_node *n = node_at(b->pipe, weight);
    while (n->op == OP_cast || n->op == OP_splat)
        n = node_at(b->pipe, weight = node_arg(b->pipe, weight, 0));
    const tensor_stage *s = n->op == OP_load ? stage_at(b->pipe, n->payload) : NULL;
    if (!s || s->kind != STAGE_table || s->type.lanes != 1)
        return false;
    *total = (value_range){ 0, 0, pixel.known };
    for (int64_t k = 0; k < table_pixels(b, s); k++) {
        int64_t w = scalar_of_bits((kind)s->type.kind, s->words[k]).i;
        value_range tap = products((value_range){ w, w, true }, pixel);
        *total = (value_range){ total->lo + tap.lo, total->hi + tap.hi, pixel.known };
    }
    return true;
}

/* What `acc + element`, repeated, can reach; not yet wrapped. */
static value_range sum_range(builder *b, const tensor_fold *f, ref element)
{
    value_range e = b->ranges.items[element], total;
    const tensor_node *n = node_at(b->pipe, element);
    if (f->form == FOLD_conv && n->op == OP_mul &&
        tap_range(b, node_arg(b->pipe, element, 0), b->ranges.items[node_arg(b->pipe, element, 1)], &total))
        return total;
    int64_t count = most_elements(b, f);
    if (count == 0 || !e.known)
        return (value_range){ 0, 0, false };
    return (value_range){ e.lo < 0 ? e.lo * count : 0, e.hi > 0 ? e.hi * count : 0, true };
}

static value_range result_range(builder *b, const tensor_node *n)
{
    const tensor_fold *f = fold_at(b->pipe, n->payload);
    const tensor_node *next = node_at(b->pipe, f->next[n->index]);
    value_range all = kind_range(n->type.kind);
    if (f->form == FOLD_median)
        return hull(b->ranges.items[f->init[0]], b->ranges.items[f->next[0]]);
    if (next->op != OP_add && next->op != OP_min && next->op != OP_max)
        return all;
    ref element = node_arg(b->pipe, f->next[n->index], 1);
    if (node_at(b->pipe, element)->op == OP_acc)
        element = node_arg(b->pipe, f->next[n->index], 0);
    return next->op == OP_add ? fitted(sum_range(b, f, element), n->type.kind)
                              : hull(b->ranges.items[f->init[n->index]], b->ranges.items[element]);
}

/* ---- nodes ------------------------------------------------------------------------------------------------------------------ */

static value_range arithmetic_range(tensor_op op, value_range x, value_range y)
{
    bool known = x.known && y.known;
    switch (op) {
    case OP_add: return (value_range){ x.lo + y.lo, x.hi + y.hi, known };
    case OP_sub: return (value_range){ x.lo - y.hi, x.hi - y.lo, known };
    case OP_mul: return products(x, y);
    case OP_neg: return (value_range){ -x.hi, -x.lo, x.known };
    case OP_abs: return (value_range){ x.lo > 0 ? x.lo : x.hi < 0 ? -x.hi : 0, -x.lo > x.hi ? -x.lo : x.hi, x.known };
    case OP_min: return (value_range){ x.lo < y.lo ? x.lo : y.lo, x.hi < y.hi ? x.hi : y.hi, known };
    case OP_max: return (value_range){ x.lo > y.lo ? x.lo : y.lo, x.hi > y.hi ? x.hi : y.hi, known };
    case OP_floordiv:
        return (value_range){ y.lo > 0 ? floor_div_i64(x.lo, y.lo) : 0, y.lo > 0 ? floor_div_i64(x.hi, y.lo) : 0,
                              known && y.lo == y.hi && y.lo > 0 };
    case OP_mod: return (value_range){ 0, y.hi - 1, y.known && y.lo > 0 };
    case OP_bitand: return (value_range){ 0, y.hi, y.known && y.lo >= 0 };
    default: return (value_range){ 0, 0, false };
    }
}

static value_range node_range(builder *b, ref node)
{
    const tensor_node *n = node_at(b->pipe, node);
    value_range x = { 0 }, y = { 0 }, all = kind_range(n->type.kind);
    if (kind_is_float(n->type.kind))
        return all;
    if (n->n_args > 0)
        x = b->ranges.items[node_arg(b->pipe, node, 0)];
    if (n->n_args > 1)
        y = b->ranges.items[node_arg(b->pipe, node, 1)];
    switch ((tensor_op)n->op) {
    case OP_const: {
        int64_t v = scalar_of_bits((kind)n->type.kind, n->payload).i;
        return (value_range){ v, v, true };
    }
    case OP_param: {
        const tensor_param *p = &b->pipe->params.items[n->payload];
        return p->has_range ? (value_range){ (int64_t)p->lo, (int64_t)p->hi, true } : all;
    }
    case OP_binder: {
        const tensor_fold *f = fold_at(b->pipe, n->payload);
        return hull(b->ranges.items[f->lo[n->index]], b->ranges.items[f->hi[n->index]]);
    }
    case OP_load: return load_range(b, node);
    case OP_result: return result_range(b, n);
    case OP_cast: return clamped_to(x, n->type.kind);
    case OP_splat:
    case OP_comp: return x;
    case OP_vec:
        for (int k = 1; k < n->n_args; k++)
            x = hull(x, b->ranges.items[node_arg(b->pipe, node, k)]);
        return x;
    case OP_select: return hull(y, b->ranges.items[node_arg(b->pipe, node, 2)]);
    default: return fitted(arithmetic_range((tensor_op)n->op, x, y), n->type.kind);
    }
}

static void sweep(builder *b, ref node)
{
    list_grow(b->memory, &b->ranges, sizeof(value_range), node + 1);
    while (b->ranges.count <= node) {
        ref next = b->ranges.count;
        value_range r = next == 0 ? (value_range){ 0 } : node_range(b, next);
        b->ranges.items[b->ranges.count++] = r;
    }
}

void warn_overflow(builder *b, const char *what, uint32_t fold, ref element, span where)
{
    const tensor_fold *f = fold_at(b->pipe, fold);
    ref last = element;
    int k = node_type(b->pipe, element).kind;
    if (kind_is_float(k))
        return;
    for (int n = 0; n < f->n_binders; n++) {
        last = f->lo[n] > last ? f->lo[n] : last;
        last = f->hi[n] > last ? f->hi[n] : last;
    }
    sweep(b, last);
    value_range total = sum_range(b, f, element), all = kind_range(k);
    if (!total.known || (total.lo >= all.lo && total.hi <= all.hi))
        return;
    fail(b, DIAG_W0401, where, "%s can reach %lld..%lld, which %s doesn't hold: it wraps around", what, (long long)total.lo,
         (long long)total.hi, kind_get((kind)k)->name);
    diag_help(b->d, "convert to f32 first, or scale the values down");
}
