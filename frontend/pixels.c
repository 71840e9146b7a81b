/* SPDX-License-Identifier: MIT
 * Operators on pixels: from operands of any types to IR nodes. What is done to one pixel here is done to images by lift().
 *
 * Contraction is decided here, from what was written: pixel_muladd is called for `+` and `-` with an operand that is itself
 * written as a product, and only a product of f32 may be contracted. */
#include "frontend/builder.h"

/* ---- arithmetic --------------------------------------------------------------------------------------------- */

static value made(builder *b, ref node, bool literal)
{
    value v = scalar_value(b, node);
    v.literal = literal && kind_is_integer(v.type.kind);
    return v;
}

/* floor(a / b) and a - b * floor(a / b) of f32, never contracted. */
static ref float_floordiv(builder *b, ref a, ref c)
{
    return tensor_op1(b->pipe, OP_floor, tensor_op2(b->pipe, OP_div, a, c));
}

static ref float_modulo(builder *b, ref a, ref c)
{
    return tensor_op2(b->pipe, OP_sub, a, tensor_op2(b->pipe, OP_mul, c, float_floordiv(b, a, c)));
}

/* `a ** n` with a whole constant n >= 0 is ((a * a) * a) ..., else pow. */
static value power(builder *b, const value *operands, span where)
{
    enum { LARGEST_EXPONENT = 1000 };
    int64_t n;
    value v[2] = { operands[0], operands[1] };
    bool whole = v[1].type.lanes == 1 && kind_is_integer(v[1].type.kind) && node_is_const(b->pipe, v[1].node, &n) && n >= 0;
    if (whole && n > LARGEST_EXPONENT) {
        value error = fail(b, DIAG_E0406, where, "a whole constant exponent is at most %d, since it is that many products", LARGEST_EXPONENT);
        diag_help(b->d, "pow(a, %lld.0) is one operation in f32", (long long)n);
        return error;
    }
    if (whole) {
        if (!unify(b, RULE_arithmetic, v, 1, where))
            return error_value();
        ref product = v[0].node;
        if (n == 0)
            product = tensor_splat(b->pipe, constant_of(b, (kind)v[0].type.kind, 1), v[0].type.lanes);
        for (int64_t k = 1; k < n; k++)
            product = tensor_op2(b->pipe, OP_mul, product, v[0].node);
        return made(b, product, operands[0].literal && operands[1].literal);
    }
    if (!unify(b, RULE_float, v, 2, where))
        return error_value();
    return made(b, tensor_op2(b->pipe, OP_pow, v[0].node, v[1].node), false);
}

static value compare(builder *b, value *v, binary_op op, span where)
{
    if (!unify(b, RULE_comparison, v, 2, where))
        return error_value();
    switch (op) {
    case BINARY_EQ: return made(b, tensor_op2(b->pipe, OP_eq, v[0].node, v[1].node), false);
    case BINARY_NE: return made(b, tensor_op2(b->pipe, OP_ne, v[0].node, v[1].node), false);
    case BINARY_LT: return made(b, tensor_op2(b->pipe, OP_lt, v[0].node, v[1].node), false);
    case BINARY_LE: return made(b, tensor_op2(b->pipe, OP_le, v[0].node, v[1].node), false);
    case BINARY_GT: return made(b, tensor_op2(b->pipe, OP_lt, v[1].node, v[0].node), false);
    default:        return made(b, tensor_op2(b->pipe, OP_le, v[1].node, v[0].node), false);
    }
}

static value arithmetic(builder *b, value *v, binary_op op, span where)
{
    bool literal = v[0].literal && v[1].literal;
    if (!unify(b, op == BINARY_DIV ? RULE_float : RULE_arithmetic, v, 2, where))
        return error_value();
    ref a = v[0].node, c = v[1].node;
    bool floating = kind_is_float(v[0].type.kind);
    switch (op) {
    case BINARY_ADD: return made(b, tensor_op2(b->pipe, OP_add, a, c), literal);
    case BINARY_SUB: return made(b, tensor_op2(b->pipe, OP_sub, a, c), literal);
    case BINARY_MUL: return made(b, tensor_op2(b->pipe, OP_mul, a, c), literal);
    case BINARY_DIV: return made(b, tensor_op2(b->pipe, OP_div, a, c), false);
    case BINARY_FLOORDIV:
        return made(b, floating ? float_floordiv(b, a, c) : tensor_op2(b->pipe, OP_floordiv, a, c), literal);
    default:
        return made(b, floating ? float_modulo(b, a, c) : tensor_op2(b->pipe, OP_mod, a, c), literal);
    }
}

value pixel_binary(builder *b, const value *operands, int n, intptr_t how, span where)
{
    value v[2] = { operands[0], operands[1] };
    binary_op op = (binary_op)how;
    (void)n;
    switch (op) {
    case BINARY_OR:
    case BINARY_AND:
        if (!unify(b, RULE_bool, v, 2, where))
            return error_value();
        return made(b, tensor_op2(b->pipe, op == BINARY_OR ? OP_or : OP_and, v[0].node, v[1].node), false);
    case BINARY_EQ: case BINARY_NE: case BINARY_LT: case BINARY_LE: case BINARY_GT: case BINARY_GE:
        return compare(b, v, op, where);
    case BINARY_POW:
        return power(b, operands, where);
    default:
        return arithmetic(b, v, op, where);
    }
}

value pixel_negate(builder *b, const value *operands, int n, intptr_t how, span where)
{
    value v = operands[0];
    (void)how;
    bool literal = v.literal;
    if (!unify(b, RULE_arithmetic, &v, n, where))
        return error_value();
    if (literal && v.type.kind == KIND_u32) {               /* -2147483648 is written with a literal above 2^31-1 */
        int64_t bits;
        if (node_is_const(b->pipe, v.node, &bits) && bits == INT64_C(2147483648))
            return made(b, tensor_i32(b->pipe, INT32_MIN), true);
    }
    return made(b, tensor_op1(b->pipe, OP_neg, v.node), literal);
}

value pixel_not(builder *b, const value *operands, int n, intptr_t how, span where)
{
    value v = operands[0];
    (void)how;
    if (!unify(b, RULE_bool, &v, n, where))
        return error_value();
    return made(b, tensor_op1(b->pipe, OP_not, v.node), false);
}

/* ---- products and sums ------------------------------------------------------------------------------------------ */

/* x (of the sum's type) + or - a * c, the product being f32 and contractible. */
static ref fused(builder *b, value *sum_operand, value a, value c, bool negate_product, bool negate_sum)
{
    int lanes = sum_operand->type.lanes > a.type.lanes ? sum_operand->type.lanes : a.type.lanes;
    ref x = spread(b, *sum_operand, lanes).node;
    ref first = spread(b, a, lanes).node, second = spread(b, c, lanes).node;
    if (negate_product)
        first = tensor_op1(b->pipe, OP_neg, first);
    if (negate_sum)
        x = tensor_op1(b->pipe, OP_neg, x);
    return tensor_op3(b->pipe, OP_muladd, first, second, x);
}

/* operands: for each side one value, or two when it is a written product. Of two products the left one is plain. */
value pixel_muladd(builder *b, const value *operands, int n, intptr_t how, span where)
{
    bool left = how & MULADD_left_product, right = how & MULADD_right_product, subtract = how & MULADD_subtract;
    int sides = left ? 2 : 1;
    value product[2] = { operands[right ? sides : 0], operands[right ? sides + 1 : 1] };
    value other = right ? operands[0] : operands[2];
    (void)n;
    if (left && right)
        other = pixel_binary(b, operands, 2, BINARY_MUL, where);
    value whole = pixel_binary(b, product, 2, BINARY_MUL, where);
    if (is_error(whole) || is_error(other))
        return error_value();
    if (whole.type.kind != KIND_f32) {
        bool left_is_f32_product = left && right && other.type.kind == KIND_f32;
        if (left_is_f32_product) {                          /* f32 * f32 + int * int: only the left one can be fused */
            value x = convert(b, whole, KIND_f32), v[2] = { operands[0], operands[1] };
            if (!unify(b, RULE_arithmetic, v, 2, where))
                return error_value();
            value check[2] = { x, other };
            if (!unify(b, RULE_arithmetic, check, 2, where))
                return error_value();
            return made(b, fused(b, &x, v[0], v[1], false, subtract), false);
        }
        value plain[2] = { right ? other : whole, right ? whole : other };
        return pixel_binary(b, plain, 2, subtract ? BINARY_SUB : BINARY_ADD, where);
    }
    value sum[2] = { other, whole };
    if (!unify(b, RULE_arithmetic, product, 2, where) || !unify(b, RULE_arithmetic, sum, 2, where))
        return error_value();
    return made(b, fused(b, &sum[0], product[0], product[1], subtract && right, subtract && !right), false);
}

/* ---- choices --------------------------------------------------------------------------------------------------------- */

value pixel_select(builder *b, const value *operands, int n, intptr_t how, span where)
{
    value v[2] = { operands[1], operands[2] }, condition = operands[0];
    (void)n;
    (void)how;
    bool literal = v[0].literal && v[1].literal;
    if (!unify(b, RULE_bool, &condition, 1, where) || !unify(b, RULE_selection, v, 2, where))
        return error_value();
    int lanes = condition.type.lanes;
    if (lanes > 1 && v[0].type.lanes == 1) {
        v[0] = spread(b, v[0], lanes);
        v[1] = spread(b, v[1], lanes);
    }
    if (lanes > 1 && v[0].type.lanes != lanes)
        return fail(b, DIAG_E0402, where, "a condition of %d components chooses between pixels of %d", lanes, v[0].type.lanes);
    return made(b, tensor_select(b->pipe, condition.node, v[0].node, v[1].node), literal);
}

/* Can't be NaN, as far as a short look says. */
static bool never_nan(builder *b, ref node, int depth)
{
    const tensor_node n = *node_at(b->pipe, node);
    float f;
    if (!kind_is_float(n.type.kind))
        return true;
    switch ((tensor_op)n.op) {
    case OP_const: return !node_is_f32(b->pipe, node, &f) || f == f;
    case OP_cast:
    case OP_splat:
    case OP_neg:
    case OP_abs:
    case OP_floor: return depth > 0 && never_nan(b, node_arg(b->pipe, node, 0), depth - 1);
    case OP_vec:
        for (int k = 0; k < n.n_args; k++)
            if (depth == 0 || !never_nan(b, node_arg(b->pipe, node, k), depth - 1))
                return false;
        return true;
    case OP_min:
    case OP_max: return depth > 0 && never_nan(b, node_arg(b->pipe, node, 1), depth - 1);
    default: return false;
    }
}

/* min is `a < b ? a : b`: it ignores a NaN on the left by itself; one on the right has to be looked for. */
ref minimum(builder *b, tensor_op op, ref a, ref c)
{
    ref plain = tensor_op2(b->pipe, op, a, c);
    if (never_nan(b, c, 6))
        return plain;
    return tensor_select(b->pipe, tensor_op2(b->pipe, OP_ne, c, c), a, plain);
}

value pixel_minmax(builder *b, const value *operands, int n, intptr_t op, span where)
{
    value v[MAX_OPERANDS];
    bool literal = true;
    for (int k = 0; k < n; k++) {
        v[k] = operands[k];
        literal = literal && v[k].literal;
    }
    if (!unify(b, RULE_selection, v, n, where))
        return error_value();
    if (v[0].type.kind == KIND_bool)
        return fail(b, DIAG_E0406, where, "min, max and clamp are for numbers, not for bool");
    ref best = v[0].node;
    for (int k = 1; k < n; k++)
        best = minimum(b, (tensor_op)op, best, v[k].node);
    return made(b, best, literal);
}

ref clean_float(builder *b, ref element, ref identity)
{
    type t = node_type(b->pipe, element);
    if (!kind_is_float(t.kind))
        return element;
    ref zero = tensor_splat(b->pipe, constant_of(b, (kind)t.kind, 0), t.lanes);
    if (!never_nan(b, element, 6))
        element = tensor_select(b->pipe, tensor_op2(b->pipe, OP_ne, element, element), identity, element);
    return tensor_select(b->pipe, tensor_op2(b->pipe, OP_eq, element, zero), zero, element);
}

/* ---- making and taking apart ---------------------------------------------------------------------------------------------- */

/* (a, b, c); pixels among them give all their components, as in (p.rgb, 1). */
value pixel_tuple(builder *b, const value *operands, int n, intptr_t how, span where)
{
    value v[TENSOR_MAX_LANES];
    ref components[TENSOR_MAX_LANES];
    int count = 0;
    (void)how;
    for (int k = 0; k < n; k++)
        for (int c = 0; c < operands[k].type.lanes; c++) {
            if (count == TENSOR_MAX_LANES)
                return fail(b, DIAG_E0402, where, "a pixel has 2 to %d components, and these are more", TENSOR_MAX_LANES);
            v[count] = made(b, tensor_comp(b->pipe, operands[k].node, c), operands[k].literal);
            count++;
        }
    bool literal = true;
    for (int k = 0; k < count; k++)
        literal = literal && v[k].literal;
    if (!unify(b, RULE_selection, v, count, where))
        return error_value();
    for (int k = 0; k < count; k++)
        components[k] = v[k].node;
    return made(b, tensor_vec(b->pipe, components, count), literal);
}

/* which: one base-8 digit per component, +1, first component lowest. */
value pixel_swizzle(builder *b, const value *operands, int n, intptr_t which, span where)
{
    ref components[TENSOR_MAX_LANES];
    int count = 0;
    (void)n;
    (void)where;
    for (; which; which >>= 3)
        components[count++] = tensor_comp(b->pipe, operands[0].node, (int)(which & 7) - 1);
    return made(b, tensor_vec(b->pipe, components, count), operands[0].literal);
}

/* how: the kind, and 16 times the number of components to spread to (0: as many as there are) */
value pixel_convert(builder *b, const value *operands, int n, intptr_t how, span where)
{
    int lanes = (int)(how >> 4);
    (void)n;
    value v = convert(b, operands[0], (enum kind)(how & 15));
    v.literal = false;
    if (lanes > 1 && v.type.lanes != 1 && v.type.lanes != lanes)
        return fail(b, DIAG_E0402, where, "%s can't become a pixel of %d components", type_name(b, v.type), lanes);
    return lanes > 1 ? spread(b, v, lanes) : v;
}

/* trunc(v) modulo 2^32: what is left of the magnitude is exact, and one of the two conversions gives 0. NaN and infinities: 0. */
static value low_bits(builder *b, value v)
{
    tensor_pipe *p = b->pipe;
    ref two_32 = tensor_splat(p, tensor_f32(p, 0x1p32f), v.type.lanes), whole = tensor_op1(p, OP_trunc, v.node);
    ref above = tensor_op1(p, OP_trunc, tensor_op2(p, OP_mul, whole, tensor_splat(p, tensor_f32(p, 0x1p-32f), v.type.lanes)));
    ref rest = tensor_op2(p, OP_sub, whole, tensor_op2(p, OP_mul, above, two_32));
    return scalar_value(b, tensor_op2(p, OP_sub, tensor_cast(p, rest, KIND_u32),
                                      tensor_cast(p, tensor_op1(p, OP_neg, rest), KIND_u32)));
}

/* wrap_u8(v): without its fraction, then the low bits. */
value pixel_wrap(builder *b, const value *operands, int n, intptr_t kind, span where)
{
    value v = operands[0];
    (void)n;
    (void)where;
    if (kind_is_float(v.type.kind))
        v = low_bits(b, convert(b, v, KIND_f32));
    if (v.type.kind == KIND_bool)
        v = convert(b, v, KIND_i32);
    return made(b, v.type.kind == kind ? v.node : tensor_wrap(b->pipe, v.node, (enum kind)kind), false);
}
