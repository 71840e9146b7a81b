/* SPDX-License-Identifier: MIT
 * What values an index expression can have: an interval whose ends are uniform expressions (sizes and parameters included).
 *
 * Only what can be shown is claimed: an unknown interval makes an unpadded read an error. Ends are built with the same
 * operations as the expression, which is right because all of them are monotone, in f32 as well. */
#include <math.h>

#include "frontend/builder.h"

enum { MAX_LOOKS = 4000, MAX_LEVEL = 48 };

typedef struct look {
    builder *b;
    const coordinates *at;       /* ranges of the coordinates at hand */
    const tensor_stage *stage;   /* or those of a stage whose body is looked into */
    int lane;                    /* of pixels: the component that is asked about */
    int n_looks, level;
} look;

static const interval unknown = { 0, 0 };

static interval look_at(look *l, ref node);

static ref part(look *l, ref r)
{
    return node_type(l->b->pipe, r).lanes == 1 ? r : tensor_comp(l->b->pipe, r, l->lane);
}

static bool is_known(interval i)
{
    return i.lo != 0 && i.hi != 0;
}

static interval between(look *l, kind k, double lo, double hi)
{
    return (interval){ constant_of(l->b, k, lo), constant_of(l->b, k, hi) };
}

static ref tidy(look *l, ref r)
{
    return node_type(l->b->pipe, r).kind == KIND_i32 ? normal(l->b, r) : r;
}

/* Of two constants, the result must be the true one, not one modulo 2^32. Of i32, sizes are taken to be far from where that wraps. */
static bool wraps(look *l, tensor_op op, ref a, ref c)
{
    int64_t x, y;
    const kind_info *info = kind_get((kind)node_type(l->b->pipe, a).kind);
    bool modular = op == OP_add || op == OP_sub || op == OP_mul;
    if (!node_is_const(l->b->pipe, a, &x) || !node_is_const(l->b->pipe, c, &y))
        return modular && info->class == 'U';
    int64_t exact = op == OP_add ? x + y : op == OP_sub ? x - y : op == OP_mul ? x * y : 0;
    return exact < info->lowest || exact > info->highest;
}

static interval apply(look *l, tensor_op op, ref lo_a, ref lo_b, ref hi_a, ref hi_b)
{
    tensor_pipe *p = l->b->pipe;
    if (wraps(l, op, lo_a, lo_b) || wraps(l, op, hi_a, hi_b))
        return unknown;
    return (interval){ tidy(l, tensor_op2(p, op, lo_a, lo_b)), tidy(l, tensor_op2(p, op, hi_a, hi_b)) };
}

static interval hull(look *l, interval a, interval c)
{
    if (!is_known(a) || !is_known(c) || node_type(l->b->pipe, a.lo).kind != node_type(l->b->pipe, c.lo).kind)
        return unknown;
    tensor_pipe *p = l->b->pipe;
    return (interval){ tidy(l, tensor_op2(p, OP_min, a.lo, c.lo)), tidy(l, tensor_op2(p, OP_max, a.hi, c.hi)) };
}

static interval kind_interval(look *l, int k)
{
    const kind_info *info = kind_get((kind)k);
    if (k == KIND_bool || (kind_is_integer(k) && info->bits <= 16))
        return between(l, (kind)k, (double)info->lowest, (double)info->highest);
    return unknown;
}

/* The sign of a constant factor: 1, -1, or 0 when it isn't a constant. */
static int constant_sign(look *l, ref r)
{
    int64_t whole;
    float f;
    if (node_is_const(l->b->pipe, r, &whole))
        return whole >= 0 ? 1 : -1;
    if (node_is_f32(l->b->pipe, r, &f) && isfinite(f) && f != 0)
        return f > 0 ? 1 : -1;
    return 0;
}

static interval scaled(look *l, tensor_op op, interval a, ref factor)
{
    factor = part(l, factor);
    int sign = constant_sign(l, factor);
    if (!is_known(a) || sign == 0)
        return unknown;
    return sign > 0 ? apply(l, op, a.lo, factor, a.hi, factor) : apply(l, op, a.hi, factor, a.lo, factor);
}

static interval product(look *l, ref a, ref c)
{
    return constant_sign(l, part(l, c)) != 0 ? scaled(l, OP_mul, look_at(l, a), c) : scaled(l, OP_mul, look_at(l, c), a);
}

/* a % n lies between n + 1 and 0, or 0 and n - 1, whatever a is. */
static interval modulo(look *l, ref n)
{
    tensor_pipe *p = l->b->pipe;
    n = part(l, n);
    if (!node_is_uniform(p, n))
        return unknown;
    ref zero = tensor_i32(p, 0), one = tensor_i32(p, 1);
    if (node_type(p, n).kind == KIND_u32) {
        zero = tensor_u32(p, 0), one = tensor_u32(p, 1);
        return (interval){ zero, tensor_op2(p, OP_sub, tensor_op2(p, OP_max, n, one), one) };
    }
    if (node_type(p, n).kind != KIND_i32)
        return unknown;
    return (interval){ tidy(l, tensor_op2(p, OP_min, node_add(l->b, n, one), zero)),
                       tidy(l, tensor_op2(p, OP_max, node_sub(l->b, n, one), zero)) };
}

/* bit_and with a constant that has no sign keeps some of its bits; shift_right of a u32 leaves its upper ones. */
static interval low_bits(look *l, tensor_op op, ref a, ref c)
{
    tensor_pipe *p = l->b->pipe;
    kind k = (kind)node_type(p, a).kind;
    int64_t mask;
    if (op == OP_bitand && (node_is_const(p, part(l, c), &mask) || node_is_const(p, part(l, a), &mask)) && mask >= 0)
        return between(l, k, 0, (double)mask);
    if (op == OP_shr && k == KIND_u32 && node_is_const(p, part(l, c), &mask))
        return between(l, k, 0, mask >= 0 && mask < 32 ? (double)(UINT32_MAX >> mask) : 0);
    return unknown;
}

static interval cast_interval(look *l, ref node, ref from)
{
    int to = node_type(l->b->pipe, node).kind;
    interval a = look_at(l, from);
    if (!is_known(a))
        return to == KIND_i32 || to == KIND_f32 ? kind_interval(l, node_type(l->b->pipe, from).kind) : kind_interval(l, to);
    return (interval){ tidy(l, tensor_cast(l->b->pipe, a.lo, (kind)to)), tidy(l, tensor_cast(l->b->pipe, a.hi, (kind)to)) };
}

/* A NaN on the left is ignored by the op itself, and pixels.c never leaves one on the right. */
static interval min_or_max(look *l, tensor_op op, ref a, ref c)
{
    interval x = look_at(l, a), y = look_at(l, c);
    return is_known(x) && is_known(y) ? apply(l, op, x.lo, y.lo, x.hi, y.hi) : unknown;
}

/* max(min(v, hi), lo) and min(max(v, lo), hi) are inside whatever v is. */
static interval clamped(look *l, tensor_op op, ref a, ref c)
{
    tensor_pipe *p = l->b->pipe;
    tensor_op other = op == OP_min ? OP_max : OP_min;
    for (int side = 0; side < 2; side++) {
        ref inner = side ? c : a, limit = side ? a : c;
        if (node_at(p, inner)->op != other)
            continue;
        interval outer = look_at(l, limit);
        for (int k = 0; k < 2 && is_known(outer); k++) {
            interval in = look_at(l, node_arg(p, inner, 1 - k));
            if (!is_known(in))
                continue;
            /* min(max(v, lo), hi): between min(lo, hi) and hi */
            return op == OP_min ? (interval){ tidy(l, tensor_op2(p, OP_min, in.lo, outer.lo)), outer.hi }
                                : (interval){ outer.lo, tidy(l, tensor_op2(p, OP_max, in.hi, outer.hi)) };
        }
    }
    return unknown;
}

static interval load_interval(look *l, ref node)
{
    tensor_pipe *p = l->b->pipe;
    const tensor_stage stage = *stage_at(p, node_at(p, node)->payload);
    interval inside = kind_interval(l, stage.type.kind);
    if (stage.kind == STAGE_compute) {
        look deeper = { .b = l->b, .stage = &stage, .lane = l->lane, .n_looks = l->n_looks, .level = l->level };
        interval body = look_at(&deeper, stage.body);
        l->n_looks = deeper.n_looks;
        if (is_known(body))
            inside = body;
    }
    int to = node_type(p, node).kind;
    if (is_known(inside) && to != stage.type.kind)
        inside = (interval){ tensor_cast(p, inside.lo, (kind)to), tensor_cast(p, inside.hi, (kind)to) };
    for (int k = 0; k < stage.rank && is_known(inside); k++)
        if (load_outside(p, node, k))
            inside = hull(l, inside, look_at(l, load_outside(p, node, k)));
    return inside;
}

/* One component of a pixel. */
static interval component(look *l, ref pixel, int lane)
{
    int outer = l->lane;
    l->lane = lane;
    interval i = look_at(l, pixel);
    l->lane = outer;
    return i;
}

static interval variable(look *l, const tensor_node *n)
{
    if (n->op == OP_binder) {
        const tensor_fold *f = fold_at(l->b->pipe, n->payload);
        return (interval){ f->lo[n->index], f->hi[n->index] };
    }
    if (l->stage)
        return (interval){ l->stage->lo[n->index], l->stage->hi[n->index] };
    if (l->at && n->index < l->at->count)
        return (interval){ l->at->lo[n->index], l->at->hi[n->index] };
    return unknown;
}

/* The result of a loop that keeps either its accumulator or a new value. */
static interval result_interval(look *l, const tensor_node *n)
{
    tensor_pipe *p = l->b->pipe;
    const tensor_fold f = *fold_at(p, n->payload);
    if (f.form != FOLD_loop)
        return unknown;
    ref next = f.next[n->index], acc = tensor_acc(p, n->payload, n->index, n->type);
    tensor_op op = (tensor_op)node_at(p, next)->op;
    interval first = look_at(l, f.init[n->index]);
    if (op == OP_select && node_arg(p, next, 2) == acc)
        return hull(l, first, look_at(l, node_arg(p, next, 1)));
    return unknown;
}

/* An end in f32 may only be made of numbers that are no NaN: constants and parameters with a range. */
static bool is_number(look *l, ref node, int depth)
{
    tensor_pipe *p = l->b->pipe;
    const tensor_node n = *node_at(p, node);
    if (!kind_is_float(n.type.kind))
        return true;
    if (n.op == OP_const) {
        float f;
        return node_is_f32(p, node, &f) && isfinite(f);
    }
    if (n.op == OP_param)
        return p->params.items[n.payload].has_range;
    if (n.op == OP_cast || n.op == OP_floor || n.op == OP_ceil || n.op == OP_round || n.op == OP_trunc || n.op == OP_neg ||
        n.op == OP_add || n.op == OP_sub || n.op == OP_mul || n.op == OP_min || n.op == OP_max || n.op == OP_abs) {
        for (int k = 0; k < n.n_args; k++)
            if (depth == 0 || !is_number(l, node_arg(p, node, k), depth - 1))
                return false;
        return true;
    }
    return false;
}

static interval look_inside(look *l, ref node)
{
    tensor_pipe *p = l->b->pipe;
    const tensor_node n = *node_at(p, node);
    ref a = n.n_args > 0 ? node_arg(p, node, 0) : 0, c = n.n_args > 1 ? node_arg(p, node, 1) : 0;
    interval x, y;
    switch ((tensor_op)n.op) {
    case OP_coord:
    case OP_binder: return variable(l, &n);
    case OP_result: return result_interval(l, &n);
    case OP_load: return load_interval(l, node);
    case OP_cast: return cast_interval(l, node, a);
    case OP_mul: return product(l, a, c);
    case OP_comp: return component(l, a, n.index);
    case OP_splat: return look_at(l, a);
    case OP_vec: return look_at(l, node_arg(p, node, l->lane));
    case OP_floordiv: return constant_sign(l, part(l, c)) > 0 ? scaled(l, OP_floordiv, look_at(l, a), c) : unknown;
    case OP_div: return scaled(l, OP_div, look_at(l, a), c);
    case OP_mod: return modulo(l, c);
    case OP_bitand:
    case OP_shr: return low_bits(l, (tensor_op)n.op, a, c);
    case OP_add:
        x = look_at(l, a);
        y = look_at(l, c);
        return is_known(x) && is_known(y) ? apply(l, OP_add, x.lo, y.lo, x.hi, y.hi) : unknown;
    case OP_sub:
        x = look_at(l, a);
        y = look_at(l, c);
        return is_known(x) && is_known(y) ? apply(l, OP_sub, x.lo, y.hi, x.hi, y.lo) : unknown;
    case OP_neg:
        x = n.type.kind == KIND_u32 ? unknown : look_at(l, a);
        return is_known(x) ? (interval){ tidy(l, tensor_op1(p, OP_neg, x.hi)), tidy(l, tensor_op1(p, OP_neg, x.lo)) } : unknown;
    case OP_floor: case OP_ceil: case OP_trunc: case OP_round:
        x = look_at(l, a);
        return is_known(x) ? (interval){ tensor_op1(p, (tensor_op)n.op, x.lo), tensor_op1(p, (tensor_op)n.op, x.hi) } : unknown;
    case OP_min:
    case OP_max:
        x = clamped(l, (tensor_op)n.op, a, c);
        return is_known(x) ? x : min_or_max(l, (tensor_op)n.op, a, c);
    case OP_select: return hull(l, look_at(l, c), look_at(l, node_arg(p, node, 2)));
    default: return unknown;
    }
}

/* Ends that could have wrapped around or overflowed say nothing. */
static bool is_safe_end(look *l, ref end)
{
    enum { LARGEST_CONSTANT = 1 << 30, LARGEST_FACTOR = 1 << 10 };
    linear form;
    float f;
    if (node_is_f32(l->b->pipe, end, &f))
        return isfinite(f);
    if (node_type(l->b->pipe, end).kind != KIND_i32 || !linear_of(l->b->pipe, end, &form))
        return true;
    for (int k = 0; k < form.n_terms; k++)
        if (form.terms[k].coefficient > LARGEST_FACTOR || form.terms[k].coefficient < -LARGEST_FACTOR)
            return false;
    return form.constant <= LARGEST_CONSTANT && form.constant >= -LARGEST_CONSTANT;
}

static interval look_at(look *l, ref node)
{
    if (++l->n_looks > MAX_LOOKS || l->level > MAX_LEVEL)
        return unknown;
    if (node_is_uniform(l->b->pipe, node)) {
        ref end = part(l, node);
        return is_number(l, end, 8) ? (interval){ end, end } : unknown;
    }
    l->level++;
    interval i = look_inside(l, node);
    l->level--;
    if (is_known(i) && is_safe_end(l, i.lo) && is_safe_end(l, i.hi))
        return i;
    return kind_interval(l, node_type(l->b->pipe, node).kind);
}

interval interval_of(builder *b, ref node, const coordinates *at)
{
    look l = { .b = b, .at = at };
    return look_at(&l, node);
}
