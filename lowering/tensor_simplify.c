/* SPDX-License-Identifier: MIT
 * What the builders replace by something simpler: constants, and identities that keep every bit (payloads of NaNs excepted:
 * any NaN equals any NaN). So there is no x + 0.0, x * 0.0 or x - x for f32. `muladd` is folded as the define pass `contract`
 * will compute it, and the transcendental ops not at all: their value is what `expand` makes of them, not the host's libm. */
#include <assert.h>
#include <string.h>

#include "lowering/tensor.h"
#include "lowering/tensor_build.h"

bool lane_bits(const tensor_pipe *p, ref r, int lane, uint32_t *bits)
{
    const tensor_node *n = node_at(p, r);
    if (n->op == OP_splat || n->op == OP_vec) {
        r = node_arg(p, r, n->op == OP_vec ? lane : 0);
        n = node_at(p, r);
    }
    if (n->op != OP_const)
        return false;
    *bits = n->payload;
    return true;
}

static bool all_const(const tensor_pipe *p, ref r)
{
    uint32_t bits;
    for (int lane = 0; lane < node_type(p, r).lanes; lane++)
        if (!lane_bits(p, r, lane, &bits))
            return false;
    return true;
}

/* A constant of any lanes, all equal to `value` (of the node's kind). */
static bool is_value(const tensor_pipe *p, ref r, int value)
{
    kind k = node_type(p, r).kind;
    scalar wanted = kind_is_float(k) ? (scalar){ .f = (float)value } : (scalar){ .i = value };
    uint32_t bits, wanted_bits = bits_of_scalar(k, kind_is_float(k) ? wanted : wrap_evaluate(wanted, k));
    for (int lane = 0; lane < node_type(p, r).lanes; lane++)
        if (!lane_bits(p, r, lane, &bits) || bits != wanted_bits)
            return false;
    return true;
}

static ref value_node(tensor_pipe *p, type t, scalar value)
{
    return tensor_splat(p, tensor_const(p, t.kind, bits_of_scalar(t.kind, value)), t.lanes);
}

bool kind_holds(kind into, kind from)
{
    const kind_info *i = kind_get(into), *f = kind_get(from);
    if (into == from || (into == KIND_f32 && from == KIND_f16))
        return true;
    if (kind_is_float(from))
        return false;
    if (kind_is_float(into))
        return f->bits <= (into == KIND_f32 ? 16 : 8);
    return i->lowest <= f->lowest && f->highest <= i->highest;
}

/* ---- constants ------------------------------------------------------------------------------- */

/* One canonical NaN, so that the text of folded IR is the same on every machine. An i64 that isn't an i32 can't be a node. */
static bool constant_of(tensor_pipe *p, kind k, scalar value, ref *out)
{
    if (kind_is_float(k) && value.f != value.f)
        *out = tensor_const(p, k, 0x7fc00000u);
    else if (k == KIND_i64 && value.i != (int64_t)(int32_t)value.i)
        return false;
    else
        *out = tensor_const(p, k, bits_of_scalar(k, value));
    return true;
}

static ref fold_constants(tensor_pipe *p, tensor_op op, const ref *args)
{
    const op_info *info = op_get(op);
    type t = node_type(p, args[0]);
    kind result = info->class == CLASS_CMP ? KIND_bool : (kind)t.kind;
    ref lanes[TENSOR_MAX_LANES];
    if (op == OP_muladd && !rounds_products(p))
        op = OP_fma;
    for (int lane = 0; lane < t.lanes; lane++) {
        scalar values[3];
        for (int k = 0; k < info->arity; k++) {
            uint32_t bits;
            if (!lane_bits(p, args[k], lane, &bits))
                return 0;
            values[k] = scalar_of_bits(t.kind, bits);
        }
        if (!constant_of(p, result, op_evaluate(op, t.kind, values), &lanes[lane]))
            return 0;
    }
    return tensor_vec(p, lanes, t.lanes);
}

/* op(splat a, splat b) is splat(op(a, b)): computed once. */
static ref through_splats(tensor_pipe *p, tensor_op op, const ref *args)
{
    int arity = op_get(op)->arity, lanes = node_type(p, args[0]).lanes;
    ref inner[3];
    for (int k = 0; k < arity; k++) {
        if (node_at(p, args[k])->op != OP_splat)
            return 0;
        inner[k] = node_arg(p, args[k], 0);
    }
    ref one = arity == 1 ? tensor_op1(p, op, inner[0])
            : arity == 2 ? tensor_op2(p, op, inner[0], inner[1])
                         : tensor_op3(p, op, inner[0], inner[1], inner[2]);
    return tensor_splat(p, one, lanes);
}

/* ---- identities ------------------------------------------------------------------------------ */

/* floor, ceil ... of it are itself. */
static bool is_whole(const tensor_pipe *p, ref r)
{
    switch (node_at(p, r)->op) {
    case OP_floor: case OP_ceil: case OP_trunc: case OP_round: return true;
    case OP_cast: return !kind_is_float(node_type(p, node_arg(p, r, 0)).kind);
    default: return false;
    }
}

static ref simplify_one(tensor_pipe *p, tensor_op op, ref a)
{
    const tensor_node *n = node_at(p, a);
    switch (op) {
    case OP_neg:
    case OP_not:
        return n->op == op ? node_arg(p, a, 0) : 0;
    case OP_abs:
        return n->op == OP_abs ? a : n->op == OP_neg ? tensor_op1(p, OP_abs, node_arg(p, a, 0)) : 0;
    case OP_floor: case OP_ceil: case OP_trunc: case OP_round:
        return is_whole(p, a) ? a : 0;
    default:
        return 0;
    }
}

/* (x + c1) + c2 is x + (c1 + c2); constants stand on the right, and a constant is never subtracted. */
static ref simplify_integer_sum(tensor_pipe *p, tensor_op op, ref a, ref b)
{
    if (is_value(p, b, 0))
        return a;
    if (op == OP_sub) {
        if (a == b)
            return value_node(p, node_type(p, a), (scalar){ .i = 0 });
        return all_const(p, b) ? tensor_op2(p, OP_add, a, tensor_op1(p, OP_neg, b)) : 0;
    }
    if (all_const(p, a) && !all_const(p, b))
        return tensor_op2(p, OP_add, b, a);
    if (node_at(p, a)->op == OP_add && all_const(p, b) && all_const(p, node_arg(p, a, 1)))
        return tensor_op2(p, OP_add, node_arg(p, a, 0), tensor_op2(p, OP_add, node_arg(p, a, 1), b));
    return 0;
}

static ref simplify_integer(tensor_pipe *p, tensor_op op, ref a, ref b)
{
    ref zero;
    switch (op) {
    case OP_add: case OP_sub:
        return simplify_integer_sum(p, op, a, b);
    case OP_mul:
        return is_value(p, a, 1) || is_value(p, b, 0) ? b : is_value(p, b, 1) || is_value(p, a, 0) ? a : 0;
    case OP_floordiv:
        return is_value(p, b, 1) ? a : is_value(p, b, 0) ? b : 0;
    case OP_mod:
        zero = value_node(p, node_type(p, a), (scalar){ .i = 0 });
        return is_value(p, b, 1) || is_value(p, b, 0) ? zero : 0;
    case OP_bitand:
        return a == b || is_value(p, b, -1) || is_value(p, a, 0) ? a : is_value(p, a, -1) || is_value(p, b, 0) ? b : 0;
    case OP_bitor:
        return a == b || is_value(p, b, 0) || is_value(p, a, -1) ? a : is_value(p, a, 0) || is_value(p, b, -1) ? b : 0;
    case OP_bitxor:
        if (a == b)
            return value_node(p, node_type(p, a), (scalar){ .i = 0 });
        return is_value(p, b, 0) ? a : is_value(p, a, 0) ? b : 0;
    case OP_shl: case OP_shr:
        return is_value(p, b, 0) ? a : 0;
    default:
        return 0;
    }
}

/* x == x, x < x ... for what can't be NaN. */
static ref compare_with_itself(tensor_pipe *p, tensor_op op, ref a)
{
    type t = type_of(KIND_bool, node_type(p, a).lanes);
    switch (op) {
    case OP_eq: case OP_le: return value_node(p, t, (scalar){ .i = 1 });
    case OP_ne: case OP_lt: return value_node(p, t, (scalar){ .i = 0 });
    default: return 0;
    }
}

/* min(min(x, y), y): whole numbers only, since of two reals the second is taken when one is a NaN. */
static bool is_among(const tensor_pipe *p, tensor_op op, ref a, ref r)
{
    return node_at(p, r)->op == op && (node_arg(p, r, 0) == a || node_arg(p, r, 1) == a);
}

static ref simplify_two(tensor_pipe *p, tensor_op op, ref a, ref b)
{
    bool floating = kind_is_float(node_type(p, a).kind);
    switch (op) {
    case OP_min: case OP_max:
        if (a == b) return a;
        return floating ? 0 : is_among(p, op, b, a) ? a : is_among(p, op, a, b) ? b : 0;
    case OP_and:
        return a == b || is_value(p, b, 1) || is_value(p, a, 0) ? a : is_value(p, a, 1) || is_value(p, b, 0) ? b : 0;
    case OP_or:
        return a == b || is_value(p, b, 0) || is_value(p, a, 1) ? a : is_value(p, a, 0) || is_value(p, b, 1) ? b : 0;
    case OP_eq: case OP_ne: case OP_lt: case OP_le:
        return a == b && !floating ? compare_with_itself(p, op, a) : 0;
    case OP_div:
        return is_value(p, b, 1) ? a : 0;
    case OP_mul:
        if (floating)
            return is_value(p, b, 1) ? a : is_value(p, a, 1) ? b : 0;
        return simplify_integer(p, op, a, b);
    default:
        return floating ? 0 : simplify_integer(p, op, a, b);
    }
}

ref simplify_op(tensor_pipe *p, tensor_op op, const ref *args)
{
    const op_info *info = op_get(op);
    if (info->class != CLASS_EXP) {
        ref constant = fold_constants(p, op, args);
        if (constant)
            return constant;
    }
    ref splat = through_splats(p, op, args);
    if (splat)
        return splat;
    return info->arity == 1 ? simplify_one(p, op, args[0]) : info->arity == 2 ? simplify_two(p, op, args[0], args[1]) : 0;
}

/* ---- conversions ----------------------------------------------------------------------------- */

static scalar evaluate_conversion(tensor_op op, scalar a, kind from, kind to)
{
    if (op == OP_cast)
        return cast_evaluate(a, from, to);
    return op == OP_wrap ? wrap_evaluate(a, to) : scalar_of_bits(to, bits_of_scalar(from, a));
}

static ref fold_conversion(tensor_pipe *p, tensor_op op, ref a, kind to)
{
    type t = node_type(p, a);
    ref lanes[TENSOR_MAX_LANES];
    for (int lane = 0; lane < t.lanes; lane++) {
        uint32_t bits;
        if (!lane_bits(p, a, lane, &bits))
            return 0;
        scalar value = evaluate_conversion(op, scalar_of_bits(t.kind, bits), t.kind, to);
        if (op == OP_bitcast)
            lanes[lane] = tensor_const(p, to, bits);
        else if (!constant_of(p, to, value, &lanes[lane]))
            return 0;
    }
    return tensor_vec(p, lanes, t.lanes);
}

static ref convert(tensor_pipe *p, tensor_op op, ref a, kind to)
{
    return op == OP_cast ? tensor_cast(p, a, to) : op == OP_wrap ? tensor_wrap(p, a, to) : tensor_bitcast(p, a, to);
}

ref simplify_conversion(tensor_pipe *p, tensor_op op, ref a, kind to)
{
    const tensor_node *n = node_at(p, a);
    kind from = n->type.kind;
    if (from == to)
        return a;
    ref constant = fold_conversion(p, op, a, to);
    if (constant)
        return constant;
    if (op == OP_wrap && kind_holds(to, from))
        return tensor_cast(p, a, to);
    n = node_at(p, a);
    if (n->op == OP_splat) {
        int lanes = n->type.lanes;
        return tensor_splat(p, convert(p, op, node_arg(p, a, 0), to), lanes);
    }
    if (n->op != op)
        return 0;
    ref inner = node_arg(p, a, 0);
    kind first = node_type(p, inner).kind;
    bool through = op == OP_bitcast || (op == OP_cast && kind_holds(from, first)) ||
                   (op == OP_wrap && kind_get(from)->bits >= kind_get(to)->bits);
    return through ? convert(p, op, inner, to) : 0;
}

ref simplify_select(tensor_pipe *p, ref condition, ref yes, ref no)
{
    if (yes == no || is_value(p, condition, 1))
        return yes;
    if (is_value(p, condition, 0))
        return no;
    if (all_const(p, condition)) {
        ref lanes[TENSOR_MAX_LANES];
        int n = node_type(p, yes).lanes;
        for (int lane = 0; lane < n; lane++) {
            uint32_t bits = 0;
            lane_bits(p, condition, lane, &bits);
            lanes[lane] = tensor_comp(p, bits ? yes : no, lane);
        }
        return tensor_vec(p, lanes, n);
    }
    if (node_at(p, condition)->op == OP_not)
        return tensor_select(p, node_arg(p, condition, 0), no, yes);
    if (node_type(p, yes).kind == KIND_bool && is_value(p, yes, 1) && is_value(p, no, 0))
        return condition;
    if (node_at(p, condition)->op == OP_splat && node_at(p, yes)->op == OP_splat && node_at(p, no)->op == OP_splat) {
        ref one = tensor_select(p, node_arg(p, condition, 0), node_arg(p, yes, 0), node_arg(p, no, 0));
        return tensor_splat(p, one, node_type(p, yes).lanes);
    }
    return 0;
}

/* ---- tables ---------------------------------------------------------------------------------- */

ref simplify_load(tensor_pipe *p, uint32_t stage, const ref *index, const uint8_t *border, const ref *outside, type t)
{
    const tensor_stage *s = stage_at(p, stage);
    type stored = s->type;
    if (s->kind != STAGE_table || !s->words)
        return 0;
    int64_t at = 0, step = 1;
    for (int k = 0; k < s->rank; k++) {
        int64_t i, lo, hi;
        if (!node_is_const(p, index[k], &i) || !node_is_const(p, s->lo[k], &lo) || !node_is_const(p, s->hi[k], &hi))
            return 0;
        if (border && border[k] == BORDER_value && (i < lo || i > hi))
            return outside[k];
        if (border)
            i = border_map(border[k], i, lo, hi);
        if (i < lo || i > hi)
            return 0;                        /* wrong; the verifier or the run says so */
        at += (i - lo) * step;
        step *= hi - lo + 1;
    }
    ref lanes[TENSOR_MAX_LANES];
    for (int lane = 0; lane < stored.lanes; lane++)
        lanes[lane] = tensor_const(p, stored.kind, stage_at(p, stage)->words[at * stored.lanes + lane]);
    return tensor_cast(p, tensor_vec(p, lanes, stored.lanes), t.kind);
}
