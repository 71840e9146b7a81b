/* SPDX-License-Identifier: MIT
 * pow and cbrt in plain ops.
 *
 * pow is 2^(y * log2 x). The product reaches 128, so for a result right to the last places the logarithm needs 32 bits: it is
 * kept as a head of 12 bits, whose product with a head of y is exact, and a rest in f32. This is what every transfer curve runs
 * per component, so there is no table and one division, and all that concerns y folds away where y is a constant. */
#include "lowering/expand.h"

typedef struct two_parts { ref hi, lo; } two_parts;

/* (m - b) / (m + b), the first part of 12 bits; the rest comes from what is left of m - b, with m + b in two parts. */
static two_parts half_tangent(expander *e, ref m, ref b)
{
    ref top = minus(e, m, b), bottom = plus(e, m, b), inverse = over(e, real(e, 1.0f), bottom);
    ref s = head(e, times(e, top, inverse));
    ref bottom_hi = head(e, bottom), bottom_lo = minus(e, m, minus(e, bottom_hi, b));
    ref remainder = minus(e, minus(e, top, times(e, s, bottom_hi)), times(e, s, bottom_lo));
    return (two_parts){ s, times(e, remainder, inverse) };
}

/* log2 of a positive finite x: k + log2 b + 2/log 2 * (s + s^3 P(s^2)), s = (m - b) / (m + b), with x = 2^k * m, m in
 * sqrt 3/4 .. sqrt 3, and b = 1 or 3/2, whichever is nearer. Constants in two parts: sums and products of the first are exact. */
static two_parts log2_in_parts(expander *e, ref x)
{
    const float scale_hi = 0x1.714p+1f, scale_lo = 0x1.47652cp-11f, scale = 2.88539008f;
    split_real w = split_positive(e, x, 0x3f5db3d7);
    ref upper = less(e, real(e, 1.22474487f), w.fraction);
    two_parts s = half_tangent(e, w.fraction, choose(e, upper, real(e, 1.5f), real(e, 1.0f)));
    ref sum = plus(e, s.hi, s.lo), square = times(e, sum, sum);
    ref tail = times(e, times(e, sum, square), horner(e, POLYNOMIAL_pow_log, square));
    ref product = times(e, s.hi, real(e, scale_hi));
    ref low = plus(e, times(e, s.hi, real(e, scale_lo)), times(e, s.lo, real(e, scale)));
    low = plus(e, plus(e, low, choose(e, upper, real(e, 0x1.a39fbep-20f), real(e, 0.0f))), tail);
    ref base = plus(e, w.exponent, choose(e, upper, real(e, 0x1.2b8p-1f), real(e, 0.0f)));
    ref hi = plus(e, base, product);
    return (two_parts){ hi, plus(e, minus(e, product, minus(e, hi, base)), low) };
}

/* A constant, the same for all components. */
static bool is_constant(const expander *e, ref r, float *value)
{
    if (node_at(e->pipe, r)->op == OP_splat) r = node_arg(e->pipe, r, 0);
    return node_is_f32(e->pipe, r, value);
}

/* 2^(y * l), |l| <= 150. Beyond 2^33 any y gives infinity or 0, or 1 where l is 0: clamped, nothing overflows on the way. */
static ref exp2_of_product(expander *e, ref y, two_parts l)
{
    y = least(e, real(e, 0x1p33f), most(e, real(e, -0x1p33f), y));
    ref y_hi = head(e, y), y_lo = minus(e, y, y_hi);
    ref l_hi = head(e, l.hi), l_lo = plus(e, minus(e, l.hi, l_hi), l.lo);
    ref hi = times(e, y_hi, l_hi);
    float constant, largest = is_constant(e, y, &constant) ? 150 * fabsf(constant) : INFINITY;
    return exp2_parts(e, hi, plus(e, times(e, y_lo, l_hi), times(e, y, l_lo)), largest);
}

/* Whether a real is whole, and odd. */
typedef struct parity { ref is_whole, is_odd; } parity;
static parity parity_of(expander *e, ref y)
{
    ref half = times(e, y, real(e, 0.5f));
    ref is_whole = equal(e, rounded_down(e, y), y), is_even = equal(e, rounded_down(e, half), half);
    return (parity){ is_whole, both(e, is_whole, opposite(e, is_even)) };
}

/* For finite x: NaN below 0 unless y is whole. 0 and infinity to a positive power are themselves, to a negative one each other.
 * Odd powers keep the sign. Anything to 0 and 1 to anything is 1, NaN included. */
ref expand_pow(expander *e, const ref *args)
{
    ref x = args[0], y = args[1], a = magnitude(e, x);
    ref zero = real(e, 0.0f), one = real(e, 1.0f), nan = real(e, NAN);
    parity whole_y = parity_of(e, y);
    ref inside = exp2_of_product(e, y, log2_in_parts(e, a));
    inside = choose(e, both(e, less(e, x, zero), opposite(e, whole_y.is_whole)), nan, inside);
    ref at_ends = choose(e, less(e, zero, y), a, choose(e, less(e, y, zero), over(e, one, a), nan));
    ref ordinary = both(e, less(e, zero, a), less(e, a, real(e, INFINITY)));
    ref result = choose(e, ordinary, inside, at_ends);
    result = with_sign(e, result, choose(e, whole_y.is_odd, sign_bit(e, x), whole(e, 0)));
    ref is_one = equal(e, y, zero);
    float constant;
    if (!is_constant(e, y, &constant) || constant != constant) is_one = either(e, is_one, equal(e, x, one));
    return choose(e, equal(e, y, one), x, choose(e, is_one, one, result));
}

/* A guess from a third of the bits, within 4 %; two of Halley's steps, each of which triples the right digits, the second as
 * a small correction, so that its rounding hardly counts. Scaled by 2^24 or 2^-24, so that nothing is denormal or overflows. */
ref expand_cbrt(expander *e, const ref *args)
{
    ref a = magnitude(e, args[0]), small = less(e, a, real(e, 1.0f));
    ref m = times(e, a, choose(e, small, real(e, 0x1p24f), real(e, 0x1p-24f)));
    ref third = tensor_cast(e->pipe, times(e, real_of_whole(e, bits_of(e, m)), real(e, 1.0f / 3)), KIND_i32);
    ref y = real_of_bits(e, plus(e, third, whole(e, 709921077)));
    for (int step = 0; step < 2; step++) {
        ref cube = times(e, times(e, y, y), y), difference = minus(e, cube, m);
        ref bottom = plus(e, plus(e, cube, cube), m);
        y = minus(e, y, times(e, y, over(e, difference, bottom)));
    }
    y = times(e, y, choose(e, small, real(e, 0x1p-8f), real(e, 0x1p8f)));
    ref ordinary = both(e, less(e, real(e, 0.0f), a), less(e, a, real(e, INFINITY)));
    return with_sign(e, choose(e, ordinary, y, a), sign_bit(e, args[0]));
}
