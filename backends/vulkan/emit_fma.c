/* SPDX-License-Identifier: MIT
 * a * b + c rounded once, in whole numbers: a device's own Fma may round twice, and few have doubles. Scripts ask for it by name
 * only, so it may be slow.
 * Product and summand are brought to 64 bits (pairs of words), the one with the smaller exponent shifted to the other's; what is
 * shifted out is kept as a lowest bit, which is all that rounding asks about it. */
#include "backends/vulkan/emit_helpers.h"

typedef struct pair { spv_id hi, lo; } pair;
/* A number other than 0: mantissa from 2^23 below 2^24, times 2^(exponent - 150). */
typedef struct split { spv_id mantissa, exponent; } split;

static spv_id truth_op(spirv *m, SpvOp op, spv_id a, spv_id b)
{
    return spirv_op2(m, op, spirv_type_bool(m), a, b);
}

static spv_id bit_of(spirv *m, spv_id condition)
{
    return pick(m, condition, word(m, 1), word(m, 0));
}

static spv_id highest_bit(spirv *m, spv_id v)
{
    return spirv_ext1(m, GLSLstd450FindUMsb, spirv_type_u32(m), v);
}

/* ---- 64 bits -------------------------------------------------------------------------------------------------- */

static pair pair_add(spirv *m, pair a, pair b)
{
    spv_id lo = word_op(m, SpvOpIAdd, a.lo, b.lo), carry = bit_of(m, test(m, SpvOpULessThan, lo, a.lo));
    return (pair){ word_op(m, SpvOpIAdd, word_op(m, SpvOpIAdd, a.hi, b.hi), carry), lo };
}

static pair pair_subtract(spirv *m, pair a, pair b)
{
    spv_id borrow = bit_of(m, test(m, SpvOpULessThan, a.lo, b.lo));
    return (pair){ word_op(m, SpvOpISub, word_op(m, SpvOpISub, a.hi, b.hi), borrow), word_op(m, SpvOpISub, a.lo, b.lo) };
}

static pair pair_pick(spirv *m, spv_id condition, pair yes, pair no)
{
    return (pair){ pick(m, condition, yes.hi, no.hi), pick(m, condition, yes.lo, no.lo) };
}

static spv_id pair_less(spirv *m, pair a, pair b)
{
    spv_id equal = test(m, SpvOpIEqual, a.hi, b.hi), low = truth_op(m, SpvOpLogicalAnd, equal, test(m, SpvOpULessThan, a.lo, b.lo));
    return truth_op(m, SpvOpLogicalOr, test(m, SpvOpULessThan, a.hi, b.hi), low);
}

/* Counts are below 32, and the shift the other way by 32 - count in two steps, since 32 is too much for one. */
static spv_id crossing_down(spirv *m, spv_id hi, spv_id count)
{
    spv_id rest = word_op(m, SpvOpISub, word(m, 31), count);
    return word_op(m, SpvOpShiftLeftLogical, word_with(m, SpvOpShiftLeftLogical, hi, 1), rest);
}

static spv_id crossing_up(spirv *m, spv_id lo, spv_id count)
{
    spv_id rest = word_op(m, SpvOpISub, word(m, 31), count);
    return word_op(m, SpvOpShiftRightLogical, word_with(m, SpvOpShiftRightLogical, lo, 1), rest);
}

/* By 0 to 31. `lost`: a word that isn't 0 where something other than 0 was shifted out. */
static pair shift_down_short(spirv *m, pair a, spv_id count, spv_id *lost)
{
    *lost = crossing_down(m, a.lo, count);
    spv_id lo = word_op(m, SpvOpBitwiseOr, word_op(m, SpvOpShiftRightLogical, a.lo, count), crossing_down(m, a.hi, count));
    return (pair){ word_op(m, SpvOpShiftRightLogical, a.hi, count), lo };
}

/* By any count, what is shifted out kept in the lowest bit. */
static pair shift_down(spirv *m, pair a, spv_id count)
{
    spv_id zero = word(m, 0), lost, lost_word;
    count = spirv_ext2(m, GLSLstd450UMin, spirv_type_u32(m), count, word(m, 63));
    spv_id long_way = test_with(m, SpvOpUGreaterThanEqual, count, 32);
    lost_word = pick(m, long_way, a.lo, zero);
    a = pair_pick(m, long_way, (pair){ zero, a.hi }, a);
    a = shift_down_short(m, a, word_with(m, SpvOpBitwiseAnd, count, 31), &lost);
    spv_id sticky = bit_of(m, test(m, SpvOpINotEqual, word_op(m, SpvOpBitwiseOr, lost, lost_word), zero));
    return (pair){ a.hi, word_op(m, SpvOpBitwiseOr, a.lo, sticky) };
}

/* Both factors are below 2^24; by halves of 12 bits nothing overflows. */
static pair product_of(spirv *m, spv_id a, spv_id b)
{
    spv_id a_lo = word_with(m, SpvOpBitwiseAnd, a, 0xfff), a_hi = word_with(m, SpvOpShiftRightLogical, a, 12);
    spv_id b_lo = word_with(m, SpvOpBitwiseAnd, b, 0xfff), b_hi = word_with(m, SpvOpShiftRightLogical, b, 12);
    spv_id low = word_op(m, SpvOpIMul, a_lo, b_lo), high = word_op(m, SpvOpIMul, a_hi, b_hi);
    spv_id middle = word_op(m, SpvOpIAdd, word_op(m, SpvOpIMul, a_lo, b_hi), word_op(m, SpvOpIMul, a_hi, b_lo));
    pair highs = { word_with(m, SpvOpShiftRightLogical, high, 8), word_with(m, SpvOpShiftLeftLogical, high, 24) };
    pair middles = { word_with(m, SpvOpShiftRightLogical, middle, 20), word_with(m, SpvOpShiftLeftLogical, middle, 12) };
    return pair_add(m, pair_add(m, highs, middles), (pair){ word(m, 0), low });
}

/* ---- reals ------------------------------------------------------------------------------------------------------- */

static split split_of(spirv *m, spv_id magnitude)
{
    spv_id exponent = word_with(m, SpvOpShiftRightLogical, magnitude, 23);
    spv_id fraction = word_with(m, SpvOpBitwiseAnd, magnitude, 0x7fffff);
    spv_id is_small = test_with(m, SpvOpIEqual, exponent, 0);
    /* Denormal: the first bit moves to where a normal number has its hidden one. A fraction of 0 doesn't matter. */
    spv_id up = word_op(m, SpvOpISub, word(m, 23), highest_bit(m, word_with(m, SpvOpBitwiseOr, fraction, 1)));
    spv_id normal = word_with(m, SpvOpBitwiseOr, fraction, 0x800000), moved = word_op(m, SpvOpShiftLeftLogical, fraction, up);
    return (split){ pick(m, is_small, moved, normal), pick(m, is_small, word_op(m, SpvOpISub, word(m, 1), up), exponent) };
}

/* Shifted so that its highest bit is bit 63; the high word, with what the low one has in the lowest bit. */
static spv_id normalized(spirv *m, pair a, spv_id *highest)
{
    spv_id is_short = test_with(m, SpvOpIEqual, a.hi, 0);
    pair up = pair_pick(m, is_short, (pair){ a.lo, word(m, 0) }, a);
    spv_id top = highest_bit(m, word_with(m, SpvOpBitwiseOr, up.hi, 1)), count = word_op(m, SpvOpISub, word(m, 31), top);
    *highest = word_op(m, SpvOpIAdd, top, pick(m, is_short, word(m, 0), word(m, 32)));
    spv_id hi = word_op(m, SpvOpBitwiseOr, word_op(m, SpvOpShiftLeftLogical, up.hi, count), crossing_up(m, up.lo, count));
    spv_id lo = word_op(m, SpvOpShiftLeftLogical, up.lo, count);
    return word_op(m, SpvOpBitwiseOr, hi, bit_of(m, test_with(m, SpvOpINotEqual, lo, 0)));
}

/* Magnitude of the real `word` * 2^(exponent - 158), where the word has bit 31 set; exponent as a real has it. */
static spv_id rounded(spirv *m, spv_id v, spv_id exponent)
{
    spv_id one = word(m, 1), zero = word(m, 0), is_small = test(m, SpvOpSLessThan, exponent, one), lost;
    spv_id down = pick(m, is_small, word_op(m, SpvOpISub, one, exponent), zero);
    down = spirv_ext2(m, GLSLstd450UMin, spirv_type_u32(m), down, word(m, 31));
    lost = crossing_down(m, v, down);
    v = word_op(m, SpvOpBitwiseOr, word_op(m, SpvOpShiftRightLogical, v, down), bit_of(m, test(m, SpvOpINotEqual, lost, zero)));
    spv_id kept = word_with(m, SpvOpShiftRightLogical, v, 8), rest = word_with(m, SpvOpBitwiseAnd, v, 0xff);
    spv_id odd = word_with(m, SpvOpBitwiseAnd, kept, 1);
    spv_id up = bit_of(m, test_with(m, SpvOpUGreaterThan, word_op(m, SpvOpIAdd, rest, odd), 0x80));
    spv_id steps = pick(m, is_small, zero, word_op(m, SpvOpISub, exponent, one));
    spv_id bits = word_op(m, SpvOpIAdd, word_with(m, SpvOpShiftLeftLogical, steps, 23), word_op(m, SpvOpIAdd, kept, up));
    spv_id beyond = test(m, SpvOpSLessThan, word(m, 254), exponent);
    return pick(m, beyond, word(m, REAL_INFINITY), bits);
}

/* Of three numbers that are neither 0 nor infinite. */
static spv_id fused(spirv *m, spv_id product_sign, spv_id a, spv_id b, spv_id c, spv_id c_sign)
{
    split x = split_of(m, a), y = split_of(m, b), z = split_of(m, c);
    /* Both from 2^60 below 2^62; the values are these times 2^(exponent - 187). */
    pair product = product_of(m, x.mantissa, y.mantissa);
    spv_id hi = word_op(m, SpvOpBitwiseOr, word_with(m, SpvOpShiftLeftLogical, product.hi, 14),
        word_with(m, SpvOpShiftRightLogical, product.lo, 18));
    product = (pair){ hi, word_with(m, SpvOpShiftLeftLogical, product.lo, 14) };
    pair summand = { word_with(m, SpvOpShiftLeftLogical, z.mantissa, 5), word(m, 0) };
    spv_id exponent = word_with(m, SpvOpISub, word_op(m, SpvOpIAdd, x.exponent, y.exponent), 127);
    spv_id ahead = word_op(m, SpvOpISub, exponent, z.exponent), is_behind = test(m, SpvOpSLessThan, ahead, word(m, 0));
    pair larger = pair_pick(m, is_behind, summand, product), smaller = pair_pick(m, is_behind, product, summand);
    exponent = pick(m, is_behind, z.exponent, exponent);
    smaller = shift_down(m, smaller, pick(m, is_behind, word_op(m, SpvOpISub, word(m, 0), ahead), ahead));
    spv_id larger_sign = pick(m, is_behind, c_sign, product_sign);
    spv_id against = test(m, SpvOpINotEqual, product_sign, c_sign);
    spv_id turns = truth_op(m, SpvOpLogicalAnd, against, pair_less(m, larger, smaller));
    pair difference = pair_pick(m, turns, pair_subtract(m, smaller, larger), pair_subtract(m, larger, smaller));
    pair total = pair_pick(m, against, difference, pair_add(m, larger, smaller));
    spv_id sign = word_op(m, SpvOpBitwiseXor, larger_sign, pick(m, turns, word(m, REAL_SIGN), word(m, 0)));
    spv_id highest, top = normalized(m, total, &highest);
    exponent = word_with(m, SpvOpISub, word_op(m, SpvOpIAdd, exponent, highest), 60);
    spv_id bits = word_op(m, SpvOpBitwiseOr, rounded(m, top, exponent), sign);
    spv_id nothing = test_with(m, SpvOpIEqual, word_op(m, SpvOpBitwiseOr, total.hi, total.lo), 0);
    return pick(m, nothing, word(m, 0), bits);
}

/* With a 0 or something infinite, or NaN, one of the plain operations is exact. */
spv_id shader_fma(spirv *m, spv_id a, spv_id b, spv_id c)
{
    spv_id bits[3] = { bits_of_real(m, a), bits_of_real(m, b), bits_of_real(m, c) }, positive[3];
    for (int k = 0; k < 3; k++) positive[k] = word_with(m, SpvOpBitwiseAnd, bits[k], REAL_MAGNITUDE);
    spv_id product_sign = word_with(m, SpvOpBitwiseAnd, word_op(m, SpvOpBitwiseXor, bits[0], bits[1]), REAL_SIGN);
    spv_id c_sign = word_with(m, SpvOpBitwiseAnd, bits[2], REAL_SIGN);
    spv_id largest = spirv_ext2(m, GLSLstd450UMax, spirv_type_u32(m), positive[0], positive[1]);
    spv_id least = spirv_ext2(m, GLSLstd450UMin, spirv_type_u32(m), positive[0], positive[1]);
    spv_id product = real_op(m, SpvOpFMul, a, b), plain = bits_of_real(m, real_op(m, SpvOpFAdd, product, c));
    spv_id result = fused(m, product_sign, positive[0], positive[1], positive[2], c_sign);
    spv_id c_is_zero = test_with(m, SpvOpIEqual, positive[2], 0), product_is_zero = test_with(m, SpvOpIEqual, least, 0);
    result = pick(m, c_is_zero, bits_of_real(m, product), result);
    result = pick(m, product_is_zero, pick(m, c_is_zero, plain, bits[2]), result);
    result = pick(m, test_with(m, SpvOpUGreaterThanEqual, positive[2], REAL_INFINITY), bits[2], result);
    result = pick(m, test_with(m, SpvOpUGreaterThanEqual, largest, REAL_INFINITY), plain, result);
    return real_of_bits(m, result);
}
