/* SPDX-License-Identifier: MIT
 * exp, exp2, log, log2, sinh, cosh and tanh in plain ops.
 *
 * Exponentials take the nearest whole power of two out and a polynomial of the rest; the power goes back in by two
 * products, so that a denormal result is rounded once. Logarithms take the exponent out through the bits, as
 * x = 2^k * (1 + f) with 1 + f around 1, so that near 1 nothing cancels. */
#include "lowering/expand.h"

/* The f32 2^n; low bits of `bits`: n. */
static ref power_of_two(expander *e, ref bits)
{
    return real_of_bits(e, plus(e, left(e, bits, 23), whole(e, 127 << 23)));
}

/* p * 2^n in two steps of half the way each: exact until the last, also when the result is denormal or infinite. */
static ref scaled(expander *e, ref p, ref n_bits)
{
    ref half = right(e, n_bits, 1);
    return times(e, times(e, p, power_of_two(e, half)), power_of_two(e, minus(e, n_bits, half)));
}

static ref exp2_near_zero(expander *e, ref r)
{
    return plus(e, times(e, r, horner(e, POLYNOMIAL_exp2, r)), real(e, 1.0f));
}

static ref clamped(expander *e, float lo, ref x, float hi)
{
    return least(e, real(e, hi), most(e, real(e, lo), x));
}

/* 2^129 is infinite and 2^-151 is 0: what lies beyond needs no answer of its own. */
ref expand_exp2(expander *e, const ref *args)
{
    ref x = clamped(e, -151.0f, args[0], 129.0f);
    rounded n = rounded_of(e, x);
    return scaled(e, exp2_near_zero(e, minus(e, x, n.value)), n.bits);
}

/* Without clamps and second steps where nothing so large or small can come. */
ref exp2_parts(expander *e, ref hi, ref lo, float largest)
{
    ref sum = plus(e, hi, lo);
    rounded n = rounded_of(e, largest > 151.0f ? clamped(e, -151.0f, sum, 129.0f) : sum);
    ref r = plus(e, minus(e, hi, n.value), lo);
    ref p = exp2_near_zero(e, largest > 151.0f ? clamped(e, -1.0f, r, 1.0f) : r);
    return largest > 125.0f ? scaled(e, p, n.bits) : times(e, p, power_of_two(e, n.bits));
}

/* log 2 in two parts: n times the first, of 9 bits, is exact. */
static const float log_2_hi = 0.693359375f, log_2_lo = -2.12194440e-4f;

ref exp_scaled(expander *e, ref x, int exponent)
{
    x = clamped(e, -105.0f, x, 90.0f);
    rounded n = rounded_of(e, times(e, x, real(e, 1.44269504f)));
    ref r = minus(e, minus(e, x, times(e, n.value, real(e, log_2_hi))), times(e, n.value, real(e, log_2_lo)));
    ref rest = times(e, times(e, r, r), horner(e, POLYNOMIAL_exp, r));
    ref p = plus(e, plus(e, r, rest), real(e, 1.0f));
    return scaled(e, p, exponent == 0 ? n.bits : plus(e, n.bits, whole(e, exponent)));
}

ref expand_exp(expander *e, const ref *args) { return exp_scaled(e, args[0], 0); }

/* The bits of b are taken off, so that the exponent changes there. For x <= 0, infinite or NaN the parts mean nothing. */
split_real split_positive(expander *e, ref x, int32_t start)
{
    ref tiny = less(e, x, real(e, 0x1p-126f));
    ref bits = minus(e, bits_of(e, choose(e, tiny, times(e, x, real(e, 0x1p24f)), x)), whole(e, start));
    ref fraction = real_of_bits(e, plus(e, bits_and(e, bits, whole(e, 0x7fffff)), whole(e, start)));
    ref k = plus(e, right(e, bits, 23), choose(e, tiny, whole(e, -24), whole(e, 0)));
    return (split_real){ real_of_whole(e, k), fraction };
}

static const int32_t root_of_half = 0x3f3504f3;

/* -inf for 0, NaN below, infinity and NaN themselves. */
static ref log_special(expander *e, ref x, ref inside)
{
    ref result = choose(e, less(e, x, real(e, INFINITY)), inside, x);
    result = choose(e, less(e, x, real(e, 0.0f)), real(e, NAN), result);
    return choose(e, equal(e, x, real(e, 0.0f)), real(e, -INFINITY), result);
}

/* log(1 + f) = f + what comes out here. */
static ref log_rest(expander *e, ref f)
{
    ref square = times(e, f, f);
    ref cubic = times(e, times(e, square, f), horner(e, POLYNOMIAL_log, f));
    return minus(e, cubic, times(e, square, real(e, 0.5f)));
}

ref expand_log(expander *e, const ref *args)
{
    split_real s = split_positive(e, args[0], root_of_half);
    ref f = minus(e, s.fraction, real(e, 1.0f));
    ref low = plus(e, log_rest(e, f), times(e, s.exponent, real(e, log_2_lo)));
    ref sum = plus(e, times(e, s.exponent, real(e, log_2_hi)), plus(e, f, low));
    return log_special(e, args[0], sum);
}

/* (f + rest) / log 2, with 1 / log 2 = 1 + 0.4427: f itself goes in unrounded. */
ref expand_log2(expander *e, const ref *args)
{
    const float beyond_1 = 0.442695041f;
    split_real s = split_positive(e, args[0], root_of_half);
    ref f = minus(e, s.fraction, real(e, 1.0f)), rest = log_rest(e, f);
    ref low = plus(e, times(e, rest, real(e, beyond_1)), times(e, f, real(e, beyond_1)));
    ref sum = plus(e, s.exponent, plus(e, f, plus(e, rest, low)));
    return log_special(e, args[0], sum);
}

/* Half of e^|x| and a quarter over it: the halves keep the sum finite as long as it is. */
ref expand_cosh(expander *e, const ref *args)
{
    ref half = exp_scaled(e, magnitude(e, args[0]), -1);
    return plus(e, half, over(e, real(e, 0.25f), half));
}

ref expand_sinh(expander *e, const ref *args)
{
    ref a = magnitude(e, args[0]), half = exp_scaled(e, a, -1), square = times(e, a, a);
    ref near = plus(e, a, times(e, times(e, a, square), horner(e, POLYNOMIAL_sinh, square)));
    ref far = minus(e, half, over(e, real(e, 0.25f), half));
    return with_sign(e, choose(e, less(e, a, real(e, 1.0f)), near, far), sign_bit(e, args[0]));
}

ref expand_tanh(expander *e, const ref *args)
{
    ref a = magnitude(e, args[0]), square = times(e, a, a);
    ref near = plus(e, a, times(e, times(e, a, square), horner(e, POLYNOMIAL_tanh, square)));
    ref twice = exp_scaled(e, plus(e, a, a), 0);
    ref far = minus(e, real(e, 1.0f), over(e, real(e, 2.0f), plus(e, twice, real(e, 1.0f))));
    return with_sign(e, choose(e, less(e, a, real(e, 0.625f)), near, far), sign_bit(e, args[0]));
}
