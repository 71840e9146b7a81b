/* SPDX-License-Identifier: MIT
 * sin, cos and tan in plain ops.
 *
 * The angle is reduced to r in -pi/4..pi/4 and a quadrant. Up to 2^17 that is Cody and Waite's way: pi/2 in parts so short
 * that a whole number of quarter turns times a part is exact. Beyond, where the spacing of f32 passes 2^-6 and nobody reads
 * single pixels off a sine, it is Payne and Hanek's in 64-bit fixed point: the bits of 2/pi that matter for the exponent at hand
 * are chosen, and a product modulo one turn leaves quadrant and fraction. Always computed both: vector lanes don't branch. */
#include "lowering/expand.h"

/* pi/2: five parts whose products with n <= 83443 = 2^17 * 2/pi are exact, and the rest. */
static const float half_pi_parts[] = { 0x1.92p+0f, 0x1.f8p-12f, 0x1.a8p-19f, 0x1.1p-26f, 0x1.0ap-34f, 0x1.4611a6p-42f };
static const float reduction_limit = 0x1p17f;

typedef struct angle { ref rest, quadrant; } angle;      /* quadrant: i32, its low two bits count */

static angle reduced_small(expander *e, ref a)
{
    rounded n = rounded_of(e, times(e, a, real(e, 0.636619772f)));
    ref r = a, lost = 0;
    for (int i = 0; i < 5; i++) {
        ref part = times(e, n.value, real(e, half_pi_parts[i])), before = r;
        r = minus(e, before, part);
        if (i < 3) continue;                                            /* exact so far */
        ref error = minus(e, minus(e, before, r), part);
        lost = i == 3 ? error : plus(e, lost, error);
    }
    ref low = minus(e, lost, times(e, n.value, real(e, half_pi_parts[5])));
    return (angle){ plus(e, r, low), n.bits };
}

/* Word `first` + j of 2/pi, with eight zero bits before its point's first bit, j = 0..3 as `word` says. */
static ref two_over_pi(expander *e, const ref at_least[3], int first)
{
    static const uint32_t words[6] = { 0x00a2f983, 0x6e4e4415, 0x29fc2757, 0xd1f534dd, 0xc0db6295, 0x993c4390 };
    ref word = natural(e, words[first]);
    for (int j = 0; j < 3; j++) word = choose(e, at_least[j], natural(e, words[first + j + 1]), word);
    return word;
}

/* a = M * 2^E, M of 24 bits, 2^17 <= a: M * 2^E * (2/pi) / 4 modulo 1, times 2^32. */
static ref turns_of_large(expander *e, ref a)
{
    ref bits = bits_of(e, a);
    ref offset = minus(e, right(e, bits, 23), whole(e, 150 + 2 - 8));         /* of the first bit of 2/pi that counts */
    ref at_least[3];
    for (int j = 0; j < 3; j++) at_least[j] = less(e, whole(e, 32 * (j + 1) - 1), offset);
    ref shift = natural_bits_of(e, bits_and(e, offset, whole(e, 31)));
    ref unshift = minus(e, natural(e, 32), shift);
    ref w0 = two_over_pi(e, at_least, 0), w1 = two_over_pi(e, at_least, 1), w2 = two_over_pi(e, at_least, 2);
    tensor_pipe *p = e->pipe;
    ref high = bits_or(e, tensor_op2(p, OP_shl, w0, shift), tensor_op2(p, OP_shr, w1, unshift));
    ref low  = bits_or(e, tensor_op2(p, OP_shl, w1, shift), tensor_op2(p, OP_shr, w2, unshift));
    ref m = natural_bits_of(e, bits_or(e, bits_and(e, bits, whole(e, 0x7fffff)), whole(e, 0x800000)));
    /* M * high modulo 2^32, and of M * low what reaches over 2^32: by halves of M and the upper 16 and next 12 bits of `low` */
    ref m_hi = right(e, m, 12), m_lo = bits_and(e, m, natural(e, 0xfff));
    ref top = right(e, low, 16), next = bits_and(e, right(e, low, 4), natural(e, 0xfff));
    ref middle = plus(e, times(e, m_lo, top), times(e, m_hi, next));
    ref reach = plus(e, times(e, m_hi, top), right(e, middle, 12));
    return plus(e, times(e, m, high), right(e, reach, 4));
}

static angle reduced_large(expander *e, ref a)
{
    ref turns = turns_of_large(e, a);
    ref quadrant = right(e, plus(e, turns, natural(e, 1u << 29)), 30);
    ref rest = bits_of(e, minus(e, turns, left(e, quadrant, 30)));
    return (angle){ times(e, real_of_whole(e, rest), real(e, 1.46291807926716e-9f)), bits_of(e, quadrant) };
}

/* Of a >= 0; NaN for infinity and NaN. */
static angle reduced(expander *e, ref a)
{
    angle near = reduced_small(e, a), far = reduced_large(e, a);
    ref is_near = less(e, a, real(e, reduction_limit));
    ref rest = choose(e, less(e, a, real(e, INFINITY)), far.rest, real(e, NAN));
    return (angle){ choose(e, is_near, near.rest, rest), choose(e, is_near, near.quadrant, far.quadrant) };
}

static ref sin_near_zero(expander *e, ref r, ref square)
{
    return plus(e, r, times(e, times(e, r, square), horner(e, POLYNOMIAL_sin, square)));
}

static ref cos_near_zero(expander *e, ref square)
{
    ref rest = times(e, times(e, square, square), horner(e, POLYNOMIAL_cos, square));
    return plus(e, minus(e, real(e, 1.0f), times(e, square, real(e, 0.5f))), rest);
}

static ref is_odd(expander *e, ref quadrant)
{
    return equal(e, bits_and(e, quadrant, whole(e, 1)), whole(e, 1));
}

/* The sine of r + quadrant * pi/2, with one more sign to put on. */
static ref sin_in_quadrant(expander *e, ref r, ref quadrant, ref sign)
{
    ref square = times(e, r, r);
    ref value = choose(e, is_odd(e, quadrant), cos_near_zero(e, square), sin_near_zero(e, r, square));
    ref lower = left(e, bits_and(e, quadrant, whole(e, 2)), 30);
    return with_sign(e, with_sign(e, value, lower), sign);
}

ref expand_sin(expander *e, const ref *args)
{
    angle w = reduced(e, magnitude(e, args[0]));
    return sin_in_quadrant(e, w.rest, w.quadrant, sign_bit(e, args[0]));
}

ref expand_cos(expander *e, const ref *args)
{
    angle w = reduced(e, magnitude(e, args[0]));
    return sin_in_quadrant(e, w.rest, plus(e, w.quadrant, whole(e, 1)), whole(e, 0));
}

/* sin / cos, or -cos / sin in the odd quadrants. */
ref expand_tan(expander *e, const ref *args)
{
    angle w = reduced(e, magnitude(e, args[0]));
    ref square = times(e, w.rest, w.rest), odd = is_odd(e, w.quadrant);
    ref s = sin_near_zero(e, w.rest, square), c = cos_near_zero(e, square);
    ref quotient = over(e, choose(e, odd, negated(e, c), s), choose(e, odd, s, c));
    return with_sign(e, quotient, sign_bit(e, args[0]));
}
