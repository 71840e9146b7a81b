/* SPDX-License-Identifier: MIT
 * Conversions: between kinds, and between registers and memory. A real is converted to a whole number only after whole-number
 * comparisons of its bits have brought it into range, since what a device makes of the others, and of NaN, is open. f16 is
 * whole-number arithmetic too, and products by powers of two, which are exact: no device needs halves of its own for it. */
#include "backends/vulkan/emit_helpers.h"

#include <string.h>

static uint32_t bits_of(float a)
{
    uint32_t bits;
    memcpy(&bits, &a, sizeof bits);
    return bits;
}

static spv_id magnitude(spirv *m, spv_id bits)
{
    return word_with(m, SpvOpBitwiseAnd, bits, REAL_MAGNITUDE);
}

static spv_id least_word(spirv *m, spv_id a, uint32_t b)
{
    return spirv_ext2(m, GLSLstd450UMin, spirv_type_u32(m), a, word(m, b));
}

static spv_id is_nan(spirv *m, spv_id magnitude)
{
    return test_with(m, SpvOpUGreaterThan, magnitude, REAL_INFINITY);
}

static spv_id scaled(spirv *m, spv_id v, float by)
{
    return real_op(m, SpvOpFMul, v, spirv_f32(m, bits_of(by)));
}

/* ---- f16 -------------------------------------------------------------------------------------------------- */

enum { HALF_LEAST_NORMAL = 0x38800000, HALF_BEYOND = 0x47800000, HALF_BIAS = 0x38000000 };   /* f32 bits of 2^-14, of 2^16,
    of 2^-15 */

/* Below 2^-14 f16 holds the multiples of 2^-24; above, numbers of eleven bits. */
static spv_id round_to_half(spirv *m, spv_id v)
{
    spv_id bits = bits_of_real(m, v), positive = magnitude(m, bits), sign = word_with(m, SpvOpBitwiseAnd, bits, REAL_SIGN);
    spv_id small = least_word(m, positive, HALF_LEAST_NORMAL);
    small = scaled(m, round_even(m, scaled(m, real_of_bits(m, small), 0x1p24f)), 0x1p-24f);
    spv_id odd = word_with(m, SpvOpBitwiseAnd, word_with(m, SpvOpShiftRightLogical, positive, 13), 1);
    spv_id rounded = word_op(m, SpvOpIAdd, word_with(m, SpvOpIAdd, positive, 0xfff), odd);
    rounded = word_with(m, SpvOpBitwiseAnd, rounded, ~0x1fffu);
    rounded = pick(m, test_with(m, SpvOpUGreaterThanEqual, rounded, HALF_BEYOND), word(m, REAL_INFINITY), rounded);
    spv_id result = pick(m, test_with(m, SpvOpULessThan, positive, HALF_LEAST_NORMAL), bits_of_real(m, small), rounded);
    result = pick(m, is_nan(m, positive), bits, word_op(m, SpvOpBitwiseOr, result, sign));
    return real_of_bits(m, result);
}

/* Of an f32 that f16 can hold. */
static spv_id half_bits(spirv *m, spv_id v)
{
    spv_id bits = bits_of_real(m, v), positive = magnitude(m, bits);
    spv_id sign = word_with(m, SpvOpBitwiseAnd, word_with(m, SpvOpShiftRightLogical, bits, 16), 0x8000);
    spv_id small = real_of_bits(m, least_word(m, positive, HALF_LEAST_NORMAL));
    small = spirv_op1(m, SpvOpConvertFToU, spirv_type_u32(m), scaled(m, small, 0x1p24f));
    spv_id normal = word_with(m, SpvOpShiftRightLogical, word_with(m, SpvOpISub, positive, HALF_BIAS), 13);
    spv_id result = pick(m, test_with(m, SpvOpULessThan, positive, HALF_LEAST_NORMAL), small, normal);
    spv_id special = pick(m, is_nan(m, positive), word(m, 0x7e00), word(m, 0x7c00));
    result = pick(m, test_with(m, SpvOpUGreaterThanEqual, positive, REAL_INFINITY), special, result);
    return word_op(m, SpvOpBitwiseOr, result, sign);
}

static spv_id real_of_half(spirv *m, spv_id bits)
{
    spv_id sign = word_with(m, SpvOpShiftLeftLogical, word_with(m, SpvOpBitwiseAnd, bits, 0x8000), 16);
    spv_id positive = word_with(m, SpvOpBitwiseAnd, bits, 0x7fff), fraction = word_with(m, SpvOpBitwiseAnd, bits, 0x3ff);
    spv_id shifted = word_with(m, SpvOpShiftLeftLogical, positive, 13);
    spv_id normal = word_with(m, SpvOpIAdd, shifted, HALF_BIAS), special = word_with(m, SpvOpBitwiseOr, shifted, REAL_INFINITY);
    spv_id small = bits_of_real(m, scaled(m, spirv_op1(m, SpvOpConvertUToF, spirv_type_f32(m), fraction), 0x1p-24f));
    spv_id result = pick(m, test_with(m, SpvOpULessThan, positive, 0x400), small, normal);
    result = pick(m, test_with(m, SpvOpUGreaterThanEqual, positive, 0x7c00), special, result);
    return real_of_bits(m, word_op(m, SpvOpBitwiseOr, result, sign));
}

/* ---- reals to whole numbers ------------------------------------------------------------------------------- */

/* To u8 and u16. The bits of what is negative, and of every NaN, are more than infinity's; those of the others are in order. */
static spv_id real_to_small_unsigned(spirv *m, spv_id v, const kind_info *to)
{
    spv_id bits = bits_of_real(m, v);
    bits = pick(m, test_with(m, SpvOpUGreaterThan, bits, REAL_INFINITY), word(m, 0), bits);
    bits = least_word(m, bits, bits_of((float)to->highest));
    return spirv_op1(m, SpvOpConvertFToU, spirv_type_u32(m), round_even(m, real_of_bits(m, bits)));
}

/* To i8 and i16. One more than the highest is in range of i32. */
static spv_id real_to_small_signed(spirv *m, spv_id v, const kind_info *to)
{
    spv_id bits = bits_of_real(m, v), positive = magnitude(m, bits), sign = word_with(m, SpvOpBitwiseAnd, bits, REAL_SIGN);
    positive = pick(m, is_nan(m, positive), word(m, 0), least_word(m, positive, bits_of((float)to->highest + 1)));
    spv_id near = round_even(m, real_of_bits(m, word_op(m, SpvOpBitwiseOr, positive, sign)));
    spv_id whole = spirv_op1(m, SpvOpConvertFToS, spirv_type_u32(m), near);
    return spirv_ext2(m, GLSLstd450SMin, spirv_type_u32(m), whole, word(m, (uint32_t)to->highest));
}

static spv_id real_to_u32(spirv *m, spv_id v)
{
    spv_id near = round_even(m, v), bits = bits_of_real(m, near), inside = test_with(m, SpvOpULessThan, bits, bits_of(0x1p32f));
    spv_id safe = real_of_bits(m, pick(m, inside, bits, word(m, 0)));
    spv_id beyond = pick(m, test_with(m, SpvOpUGreaterThan, bits, REAL_INFINITY), word(m, 0), word(m, UINT32_MAX));
    return pick(m, inside, spirv_op1(m, SpvOpConvertFToU, spirv_type_u32(m), safe), beyond);
}

/* To i32 and i64: the lowest is the highest + 1, which is added where the sign is set. */
static spv_id real_to_signed(spirv *m, spv_id v, kind to)
{
    bool wide = to == KIND_i64;
    spv_id t = shader_kind_type(m, to), near = round_even(m, v), bits = bits_of_real(m, near), positive = magnitude(m, bits);
    spv_id inside = test_with(m, SpvOpULessThan, positive, bits_of(wide ? 0x1p63f : 0x1p31f));
    spv_id safe = real_of_bits(m, pick(m, inside, bits, word(m, 0)));
    spv_id highest = wide ? spirv_u64(m, INT64_MAX) : word(m, INT32_MAX);
    spv_id lowest = wide ? spirv_u64(m, 1ull << 63) : word(m, 1u << 31);
    spv_id beyond = pick(m, test_with(m, SpvOpULessThan, bits, REAL_SIGN), highest, lowest);
    beyond = pick(m, is_nan(m, positive), shader_constant(m, to, 0), beyond);
    return pick(m, inside, spirv_op1(m, SpvOpConvertFToS, t, safe), beyond);
}

static spv_id real_to_whole(spirv *m, spv_id v, kind to)
{
    const kind_info *info = kind_get(to);
    if (info->bits <= 16) return kind_is_signed(to) ? real_to_small_signed(m, v, info) : real_to_small_unsigned(m, v, info);
    return to == KIND_u32 ? real_to_u32(m, v) : real_to_signed(m, v, to);
}

/* ---- whole numbers ------------------------------------------------------------------------------------------ */

static spv_id to_i64(spirv *m, spv_id v, kind from)
{
    return spirv_op1(m, kind_is_signed(from) ? SpvOpSConvert : SpvOpUConvert, spirv_type_u64(m), v);
}

static spv_id clamp_i64(spirv *m, spv_id v, const kind_info *to)
{
    spv_id low = spirv_u64(m, (uint64_t)to->lowest), high = spirv_u64(m, (uint64_t)to->highest);
    v = pick(m, test(m, SpvOpSLessThan, v, low), low, v);
    v = pick(m, test(m, SpvOpSLessThan, high, v), high, v);
    return spirv_op1(m, SpvOpUConvert, spirv_type_u32(m), v);
}

static spv_id whole_to_whole(spirv *m, spv_id v, kind from, kind to)
{
    const kind_info *a = kind_get(from), *b = kind_get(to);
    if (to == KIND_i64) return to_i64(m, v, from);
    if (from == KIND_i64) return clamp_i64(m, v, b);
    spv_id t = spirv_type_u32(m);
    bool s = kind_is_signed(from);
    if (a->lowest < b->lowest) v = spirv_ext2(m, GLSLstd450SMax, t, v, word(m, (uint32_t)b->lowest));
    if (a->highest > b->highest) v = spirv_ext2(m, s ? GLSLstd450SMin : GLSLstd450UMin, t, v, word(m, (uint32_t)b->highest));
    return v;
}

static spv_id to_bool(spirv *m, spv_id v, kind from)
{
    if (kind_is_float(from)) return test_with(m, SpvOpINotEqual, magnitude(m, bits_of_real(m, v)), 0);
    return test(m, SpvOpINotEqual, v, shader_constant(m, from, 0));
}

static spv_id bool_to(spirv *m, spv_id v, kind to)
{
    return pick(m, v, shader_constant(m, to, kind_is_float(to) ? bits_of(1) : 1), shader_constant(m, to, 0));
}

spv_id shader_cast(spirv *m, spv_id v, kind from, kind to)
{
    if (from == to) return v;
    if (to == KIND_bool) return to_bool(m, v, from);
    if (from == KIND_bool) return bool_to(m, v, to);
    if (!kind_is_float(to)) return kind_is_float(from) ? real_to_whole(m, v, to) : whole_to_whole(m, v, from, to);
    if (!kind_is_float(from)) v = spirv_op1(m, kind_is_signed(from) ? SpvOpConvertSToF : SpvOpConvertUToF, spirv_type_f32(m), v);
    return to == KIND_f16 ? round_to_half(m, v) : v;
}

static spv_id sign_from(spirv *m, spv_id v, uint32_t bits)
{
    return word_with(m, SpvOpShiftRightArithmetic, word_with(m, SpvOpShiftLeftLogical, v, 32 - bits), 32 - bits);
}

spv_id shader_wrap(spirv *m, spv_id v, kind from, kind to)
{
    const kind_info *info = kind_get(to);
    if (from == to) return v;
    if (from == KIND_bool) return bool_to(m, v, to);
    if (to == KIND_i64) return to_i64(m, v, from);
    if (from == KIND_i64) v = spirv_op1(m, SpvOpUConvert, spirv_type_u32(m), v);
    if (to == KIND_bool) return test_with(m, SpvOpINotEqual, word_with(m, SpvOpBitwiseAnd, v, 1), 0);
    if (info->bits == 32) return v;
    return kind_is_signed(to) ? sign_from(m, v, info->bits) : word_with(m, SpvOpBitwiseAnd, v, (1u << info->bits) - 1);
}

spv_id shader_bitcast(spirv *m, spv_id v, kind from, kind to)
{
    return kind_is_float(from) == kind_is_float(to) ? v : kind_is_float(to) ? real_of_bits(m, v) : bits_of_real(m, v);
}

/* ---- memory --------------------------------------------------------------------------------------------------- */

spv_id shader_from_memory(spirv *m, spv_id bits, kind k)
{
    switch (k) {
    case KIND_bool: return test_with(m, SpvOpINotEqual, bits, 0);
    case KIND_f16:  return real_of_half(m, bits);
    case KIND_f32:  return real_of_bits(m, bits);
    default: return kind_is_signed(k) && kind_get(k)->bits < 32 ? sign_from(m, bits, kind_get(k)->bits) : bits;
    }
}

spv_id shader_to_memory(spirv *m, spv_id v, kind k)
{
    switch (k) {
    case KIND_bool: return bool_to(m, v, KIND_u32);
    case KIND_f16:  return half_bits(m, v);
    case KIND_f32:  return bits_of_real(m, v);
    default: return kind_is_signed(k) && kind_get(k)->bits < 32 ? word_with(m, SpvOpBitwiseAnd, v,
        (1u << kind_get(k)->bits) - 1) : v;
    }
}
