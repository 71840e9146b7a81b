/* SPDX-License-Identifier: MIT
 * The ops of lowering/ops.def on one component. Nothing is left to what Vulkan leaves open: no division by 0, no shift by 32 and
 * more, no FMin, FMax or FClamp, whose NaN is anybody's. */
#include "backends/vulkan/emit_helpers.h"

#include <assert.h>

spv_id shader_kind_type(spirv *m, kind k)
{
    return k == KIND_bool ? spirv_type_bool(m) : kind_is_float(k) ? spirv_type_f32(m) : k == KIND_i64 ? spirv_type_u64(m) :
        spirv_type_u32(m);
}

spv_id shader_constant(spirv *m, kind k, uint32_t bits)
{
    if (k == KIND_bool) return spirv_bool(m, bits != 0);
    if (k == KIND_i64) return spirv_u64(m, (uint64_t)(int64_t)(int32_t)bits);
    return kind_is_float(k) ? spirv_f32(m, bits) : spirv_u32(m, bits);
}

/* ---- whole numbers --------------------------------------------------------------------------------------- */

/* A constant power of two: its exponent, else -1. */
static int exponent_of(spirv *m, spv_id b)
{
    uint32_t bits;
    if (!spirv_is_constant(m, b, &bits)) return -1;
    for (int k = 0; k < 31; k++) if (bits == 1u << k) return k;
    return -1;
}

/* Shifts of signed numbers round down, as // does, and so do masks. */
static spv_id power_division(spirv *m, kind k, spv_id a, int exponent, bool remainder)
{
    if (remainder) return word_with(m, SpvOpBitwiseAnd, a, (1u << exponent) - 1);
    return word_with(m, kind_is_signed(k) ? SpvOpShiftRightArithmetic : SpvOpShiftRightLogical, a, (uint32_t)exponent);
}

/* The machine's division rounds to zero. Lowest // -1 wraps: dividing by 1 gives that. */
static spv_id signed_division(spirv *m, spv_id a, spv_id b, bool is_constant, bool remainder)
{
    spv_id zero = word(m, 0), one = word(m, 1), minus = word(m, UINT32_MAX);
    if (!is_constant) {
        spv_id overflow = spirv_op2(m, SpvOpLogicalAnd, spirv_type_bool(m), test_with(m, SpvOpIEqual, a, 0x80000000u),
            test(m, SpvOpIEqual, b, minus));
        b = pick(m, overflow, one, b);
    }
    spv_id q = word_op(m, SpvOpSDiv, a, b), rest = word_op(m, SpvOpISub, a, word_op(m, SpvOpIMul, q, b));
    spv_id against = test(m, SpvOpSLessThan, word_op(m, SpvOpBitwiseXor, rest, b), zero);
    spv_id off = spirv_op2(m, SpvOpLogicalAnd, spirv_type_bool(m), test(m, SpvOpINotEqual, rest, zero), against);
    return remainder ? word_op(m, SpvOpIAdd, rest, pick(m, off, b, zero)) : word_op(m, SpvOpISub, q, pick(m, off, one, zero));
}

static spv_id floor_division(spirv *m, kind k, spv_id a, spv_id b, bool remainder)
{
    int exponent = exponent_of(m, b);
    if (exponent >= 0) return power_division(m, k, a, exponent, remainder);
    uint32_t bits;
    spv_id zero = word(m, 0), one = word(m, 1);
    bool is_constant = spirv_is_constant(m, b, &bits);
    if (is_constant && bits == 0) return zero;
    if (is_constant && bits == UINT32_MAX && kind_is_signed(k)) return remainder ? zero : word_op(m, SpvOpISub, zero, a);
    spv_id is_zero = is_constant ? 0 : test(m, SpvOpIEqual, b, zero), safe = is_constant ? b : pick(m, is_zero, one, b), result;
    if (kind_is_signed(k)) result = signed_division(m, a, safe, is_constant, remainder);
    else result = word_op(m, remainder ? SpvOpUMod : SpvOpUDiv, a, safe);
    return is_constant ? result : pick(m, is_zero, zero, result);
}

/* Beyond 31 everything is shifted out; a negative count is a large one. What is 0 for a literal count stays hidden too. */
static spv_id shift(spirv *m, spv_id zero, tensor_op op, kind k, spv_id a, spv_id b)
{
    spv_id most = word(m, 31), count = spirv_ext2(m, GLSLstd450UMin, spirv_type_u32(m), b, most);
    if (op == OP_shr && kind_is_signed(k)) return word_op(m, SpvOpShiftRightArithmetic, a, count);
    spv_id shifted = word_op(m, op == OP_shl ? SpvOpShiftLeftLogical : SpvOpShiftRightLogical, a, count);
    uint32_t known;
    if (spirv_is_constant(m, b, &known)) return known <= 31 ? shifted : zero;
    return pick(m, test(m, SpvOpUGreaterThan, b, most), word(m, 0), shifted);
}

static spv_id integer_compare(spirv *m, tensor_op op, kind k, spv_id a, spv_id b)
{
    bool s = kind_is_signed(k);
    switch (op) {
    case OP_eq: return test(m, SpvOpIEqual, a, b);
    case OP_ne: return test(m, SpvOpINotEqual, a, b);
    case OP_lt: return test(m, s ? SpvOpSLessThan : SpvOpULessThan, a, b);
    default:    return test(m, s ? SpvOpSLessThanEqual : SpvOpULessThanEqual, a, b);
    }
}

static spv_id integer_least(spirv *m, tensor_op op, kind k, spv_id a, spv_id b)
{
    bool s = kind_is_signed(k), least = op == OP_min;
    if (k == KIND_i64) return pick(m, test(m, least ? SpvOpSLessThan : SpvOpSGreaterThan, a, b), a, b);
    return spirv_ext2(m, s ? (least ? GLSLstd450SMin : GLSLstd450SMax) : least ? GLSLstd450UMin : GLSLstd450UMax,
        spirv_type_u32(m), a, b);
}

static spv_id integer_op(spirv *m, spv_id hidden, tensor_op op, kind k, const spv_id *v)
{
    spv_id t = shader_kind_type(m, k), zero = shader_constant(m, k, 0);
    switch (op) {
    case OP_add: return spirv_op2(m, SpvOpIAdd, t, v[0], v[1]);
    case OP_sub: return spirv_op2(m, SpvOpISub, t, v[0], v[1]);
    case OP_mul: return spirv_op2(m, SpvOpIMul, t, v[0], v[1]);
    case OP_neg: return spirv_op2(m, SpvOpISub, t, zero, v[0]);
    case OP_abs:
        if (!kind_is_signed(k)) return v[0];
        return pick(m, test(m, SpvOpSLessThan, v[0], zero), spirv_op2(m, SpvOpISub, t, zero, v[0]), v[0]);
    case OP_floordiv: return floor_division(m, k, v[0], v[1], false);
    case OP_mod:      return floor_division(m, k, v[0], v[1], true);
    case OP_min: case OP_max: return integer_least(m, op, k, v[0], v[1]);
    case OP_bitand: return word_op(m, SpvOpBitwiseAnd, v[0], v[1]);
    case OP_bitor:  return word_op(m, SpvOpBitwiseOr, v[0], v[1]);
    case OP_bitxor: return word_op(m, SpvOpBitwiseXor, v[0], v[1]);
    case OP_shl: case OP_shr: return shift(m, hidden, op, k, v[0], v[1]);
    case OP_eq: case OP_ne: case OP_lt: case OP_le: return integer_compare(m, op, k, v[0], v[1]);
    default: assert(!"an op that whole numbers don't have"); return v[0];
    }
}

/* What can leave the kind that registers of 32 bits hold; quotients by lowest // -1. */
static bool overflows(tensor_op op)
{
    switch (op) {
    case OP_add: case OP_sub: case OP_mul: case OP_neg: case OP_abs: case OP_shl: case OP_floordiv: return true;
    default: return false;
    }
}

/* ---- truths ------------------------------------------------------------------------------------------------- */

static spv_id truth_op(spirv *m, tensor_op op, const spv_id *v)
{
    spv_id t = spirv_type_bool(m);
    switch (op) {
    case OP_and: case OP_min: return spirv_op2(m, SpvOpLogicalAnd, t, v[0], v[1]);
    case OP_or: case OP_max:  return spirv_op2(m, SpvOpLogicalOr, t, v[0], v[1]);
    case OP_not: return spirv_op1(m, SpvOpLogicalNot, t, v[0]);
    case OP_eq:  return spirv_op2(m, SpvOpLogicalEqual, t, v[0], v[1]);
    case OP_ne:  return spirv_op2(m, SpvOpLogicalNotEqual, t, v[0], v[1]);
    case OP_lt:  return spirv_op2(m, SpvOpLogicalAnd, t, spirv_op1(m, SpvOpLogicalNot, t, v[0]), v[1]);
    case OP_le:  return spirv_op2(m, SpvOpLogicalOr, t, spirv_op1(m, SpvOpLogicalNot, t, v[0]), v[1]);
    default: assert(!"an op that truths don't have"); return v[0];
    }
}

/* ---- reals ---------------------------------------------------------------------------------------------------- */

spv_id shader_hidden(spirv *m, spv_id zero, spv_id v)
{
    uint32_t bits;
    bool is_literal = spirv_is_constant(m, v, &bits) && spirv_type_of(m, v) == spirv_type_f32(m);
    if (!is_literal || (bits & REAL_MAGNITUDE)) return v;
    return real_of_bits(m, bits ? word_with(m, SpvOpBitwiseOr, zero, REAL_SIGN) : zero);
}

static spv_id arithmetic(spirv *m, spv_id zero, SpvOp op, const spv_id *v)
{
    return real_op(m, op, shader_hidden(m, zero, v[0]), shader_hidden(m, zero, v[1]));
}

static spv_id real_value(spirv *m, spv_id zero, tensor_op op, const spv_id *v)
{
    spv_id t = spirv_type_f32(m);
    switch (op) {
    case OP_add: return arithmetic(m, zero, SpvOpFAdd, v);
    case OP_sub: return arithmetic(m, zero, SpvOpFSub, v);
    case OP_mul: return arithmetic(m, zero, SpvOpFMul, v);
    case OP_div: return arithmetic(m, zero, SpvOpFDiv, v);
    case OP_muladd: {
        spv_id terms[] = { arithmetic(m, zero, SpvOpFMul, v), v[2] };
        return arithmetic(m, zero, SpvOpFAdd, terms);
    }
    case OP_neg:   return spirv_op1(m, SpvOpFNegate, t, v[0]);
    case OP_abs:   return real_of_bits(m, word_with(m, SpvOpBitwiseAnd, bits_of_real(m, v[0]), REAL_MAGNITUDE));
    case OP_fma:   return shader_fma(m, v[0], v[1], v[2]);
    case OP_sqrt:  return spirv_ext1(m, GLSLstd450Sqrt, t, v[0]);
    case OP_floor: return spirv_ext1(m, GLSLstd450Floor, t, v[0]);
    case OP_ceil:  return spirv_ext1(m, GLSLstd450Ceil, t, v[0]);
    case OP_trunc: return spirv_ext1(m, GLSLstd450Trunc, t, v[0]);
    case OP_round: return round_even(m, v[0]);
    case OP_min:   return pick(m, test(m, SpvOpFOrdLessThan, v[0], v[1]), v[0], v[1]);
    case OP_max:   return pick(m, test(m, SpvOpFOrdGreaterThan, v[0], v[1]), v[0], v[1]);
    case OP_eq:    return test(m, SpvOpFOrdEqual, v[0], v[1]);
    case OP_ne:    return test(m, SpvOpFUnordNotEqual, v[0], v[1]);
    case OP_lt:    return test(m, SpvOpFOrdLessThan, v[0], v[1]);
    case OP_le:    return test(m, SpvOpFOrdLessThanEqual, v[0], v[1]);
    default: assert(!"an op that the define passes should have expanded"); return v[0];
    }
}

spv_id shader_op(spirv *m, spv_id zero, tensor_op op, kind k, const spv_id *args)
{
    if (kind_is_float(k)) return real_value(m, zero, op, args);
    if (k == KIND_bool) return truth_op(m, op, args);
    spv_id v = integer_op(m, zero, op, k, args);
    return kind_get(k)->bits < 32 && overflows(op) ? shader_wrap(m, v, KIND_i32, k) : v;
}
