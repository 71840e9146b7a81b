/* SPDX-License-Identifier: MIT
 * asin, acos, atan and atan2 in plain ops: one polynomial each after a reduction to a short interval, by
 * asin(x) = pi/2 - 2 asin(sqrt((1 - x) / 2)) and atan(x) = pi/2 - atan(1 / x). */
#include "lowering/expand.h"

static const float half_pi = 1.57079633f, pi = 3.14159265f;
static const float half_pi_rest = -4.37113883e-8f, pi_rest = -8.74227766e-8f;       /* what f32 leaves of pi/2 and pi */

/* asin of sqrt(square) = s. */
static ref asin_near_zero(expander *e, ref s, ref square)
{
    return plus(e, s, times(e, times(e, s, square), horner(e, POLYNOMIAL_asin, square)));
}

/* The asin of |x| for |x| <= 1/2; else that of sqrt((1 - |x|) / 2). NaN beyond 1 comes from the root. */
typedef struct arc { ref near, value; } arc;
static arc asin_reduced(expander *e, ref a)
{
    ref near = less(e, a, real(e, 0.5f));
    ref square = choose(e, near, times(e, a, a), times(e, minus(e, real(e, 1.0f), a), real(e, 0.5f)));
    ref s = choose(e, near, a, root(e, square));
    return (arc){ near, asin_near_zero(e, s, square) };
}

ref expand_asin(expander *e, const ref *args)
{
    arc w = asin_reduced(e, magnitude(e, args[0]));
    ref far = minus(e, real(e, half_pi), minus(e, plus(e, w.value, w.value), real(e, half_pi_rest)));
    return with_sign(e, choose(e, w.near, w.value, far), sign_bit(e, args[0]));
}

ref expand_acos(expander *e, const ref *args)
{
    ref x = args[0], negative = less(e, x, real(e, 0.0f));
    arc w = asin_reduced(e, magnitude(e, x));
    ref near = minus(e, real(e, half_pi), minus(e, with_sign(e, w.value, sign_bit(e, x)), real(e, half_pi_rest)));
    ref twice = plus(e, w.value, w.value);
    ref far = choose(e, negative, minus(e, real(e, pi), minus(e, twice, real(e, pi_rest))), twice);
    return choose(e, w.near, near, far);
}

/* The angle of (dx, dy), both >= 0: of the smaller over the larger, mirrored at the diagonal. */
static ref first_quadrant(expander *e, ref dy, ref dx)
{
    ref small = least(e, dy, dx), large = most(e, dy, dx);
    ref a = over(e, small, large);
    a = choose(e, equal(e, small, large), choose(e, equal(e, large, real(e, 0.0f)), large, real(e, 1.0f)), a);
    ref square = times(e, a, a);
    ref angle = plus(e, a, times(e, times(e, a, square), horner(e, POLYNOMIAL_atan, square)));
    ref mirrored = minus(e, real(e, half_pi), minus(e, angle, real(e, half_pi_rest)));
    return choose(e, less(e, dx, dy), mirrored, angle);
}

/* 1 / |x| makes the mirrored quotient here; NaN is passed on by `least` and `most` only from one side, so it's asked for. */
ref expand_atan(expander *e, const ref *args)
{
    ref angle = first_quadrant(e, magnitude(e, args[0]), real(e, 1.0f));
    angle = choose(e, equal(e, args[0], args[0]), angle, real(e, NAN));
    return with_sign(e, angle, sign_bit(e, args[0]));
}

ref expand_atan2(expander *e, const ref *args)
{
    ref y = args[0], x = args[1];
    ref angle = first_quadrant(e, magnitude(e, y), magnitude(e, x));
    ref left_side = less(e, bits_of(e, x), whole(e, 0));                       /* -0 counts as negative */
    angle = choose(e, left_side, minus(e, real(e, pi), minus(e, angle, real(e, pi_rest))), angle);
    ref ordered = both(e, equal(e, x, x), equal(e, y, y));
    return with_sign(e, choose(e, ordered, angle, real(e, NAN)), sign_bit(e, y));
}
