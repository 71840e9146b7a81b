/* SPDX-License-Identifier: MIT
 * Walks bodies in order and gives every node an interval. Rounding is monotonic, so an f32 result lies between the rounded
 * bounds of the exact one; bounds are computed in double and moved outwards by an ulp of f32 unless they are exact. Where a fold
 * is not one of the known sums or extrema, its accumulators may be anything of their kind. */
#include "lowering/ranges.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "lowering/ranges_internal.h"

/* ---- intervals --------------------------------------------------------------------------------- */

range kind_range(kind k)
{
    const kind_info *info = kind_get(k);
    if (kind_is_float(k))
        return (range){ -INFINITY, INFINITY, true, true, SCALE_NONE };
    return whole_range((double)info->lowest, (double)info->highest);
}

uint8_t scale_of_real(double v)
{
    for (int scale = 0; scale <= SCALE_MOST && isfinite(v); scale++, v *= 2)
        if (v == floor(v))
            return (uint8_t)scale;
    return SCALE_NONE;
}

bool range_is_exact(range a, double most)
{
    return a.scale != SCALE_NONE && ldexp(fmax(fabs(a.lo), fabs(a.hi)), a.scale) <= most;
}

static uint8_t coarser(uint8_t a, uint8_t b)             /* both have it: the larger scale, SCALE_NONE with any */
{
    return a > b ? a : b;
}

range range_both(range a, range b)
{
    return (range){ fmin(a.lo, b.lo), fmax(a.hi, b.hi), a.maybe_nan || b.maybe_nan, a.minus_zero || b.minus_zero, coarser(a.scale, b.scale) };
}

static bool is_finite(range a)
{
    return a.lo > -INFINITY && a.hi < INFINITY;
}

static bool has_zero(range a)
{
    return a.lo <= 0 && a.hi >= 0;
}

static bool maybe_negative(range a)                      /* by its sign bit */
{
    return a.lo < 0 || a.minus_zero;
}

/* What an exact interval is after the op has rounded or wrapped it. What is rounded may fall to a zero of its sign. */
range range_rounded(kind k, range exact)
{
    range all = kind_range(k);
    if (!kind_is_float(k))
        return exact.lo >= all.lo && exact.hi <= all.hi ? whole_range(exact.lo, exact.hi) : all;
    if (isnan(exact.lo) || isnan(exact.hi))
        return all;
    if (range_is_exact(exact, 16777216))
        return exact;
    exact.scale = SCALE_NONE;
    exact.minus_zero = exact.minus_zero || exact.lo < 0;
    exact.lo = exact.lo > -FLT_MAX ? (double)nextafterf((float)exact.lo, -INFINITY) : -INFINITY;
    exact.hi = exact.hi < FLT_MAX ? (double)nextafterf((float)exact.hi, INFINITY) : INFINITY;
    return exact;
}

/* A sum is -0 only when both are. */
range range_add(range a, range b)
{
    bool nan = a.maybe_nan || b.maybe_nan || !is_finite(a) || !is_finite(b);
    return (range){ a.lo + b.lo, a.hi + b.hi, nan, a.minus_zero && b.minus_zero, coarser(a.scale, b.scale) };
}

static range negated(range a)
{
    return (range){ -a.hi, -a.lo, a.maybe_nan, has_zero(a), a.scale };
}

/* Corners; 0 times infinity counts as 0 for the bounds, the NaN that it is being noted. */
static double product(double a, double b)
{
    return a == 0 || b == 0 ? 0 : a * b;
}

range range_mul(range a, range b)
{
    double corner[4] = { product(a.lo, b.lo), product(a.lo, b.hi), product(a.hi, b.lo), product(a.hi, b.hi) };
    bool nan = a.maybe_nan || b.maybe_nan || !is_finite(a) || !is_finite(b);
    int scale = a.scale + b.scale;                       /* SCALE_NONE is larger than any sum of two */
    return (range){ fmin(fmin(corner[0], corner[1]), fmin(corner[2], corner[3])),
                    fmax(fmax(corner[0], corner[1]), fmax(corner[2], corner[3])), nan,
                    (has_zero(a) || has_zero(b)) && (maybe_negative(a) || maybe_negative(b)),
                    (uint8_t)(scale <= SCALE_MOST ? scale : SCALE_NONE) };
}

static range absolute(range a)
{
    double most = fmax(fabs(a.lo), fabs(a.hi)), least = a.lo <= 0 && a.hi >= 0 ? 0 : fmin(fabs(a.lo), fabs(a.hi));
    return (range){ least, most, a.maybe_nan, false, a.scale };
}

/* ---- division ---------------------------------------------------------------------------------- */

/* Of a quotient of reals: a divisor 2^n moves the point. */
static uint8_t scale_of_quotient(range a, range b)
{
    int exponent;
    if (b.lo != b.hi || a.scale == SCALE_NONE || fabs(frexp(b.lo, &exponent)) != 0.5)
        return SCALE_NONE;
    int scale = a.scale + exponent - 1;
    return (uint8_t)(scale <= 0 ? 0 : scale <= SCALE_MOST ? scale : SCALE_NONE);
}

static range quotient(range a, range b, bool floored)
{
    if (b.lo <= 0 && b.hi >= 0)
        return kind_range(KIND_f32);                     /* the caller's kind cuts it */
    double corner[4] = { a.lo / b.lo, a.lo / b.hi, a.hi / b.lo, a.hi / b.hi };
    bool nan = a.maybe_nan || b.maybe_nan || !is_finite(a) || !is_finite(b);
    range q = { corner[0], corner[0], nan, !floored && (maybe_negative(a) || maybe_negative(b)), floored ? 0 : scale_of_quotient(a, b) };
    for (int k = 0; k < 4; k++) {
        if (isnan(corner[k]))
            return kind_range(KIND_f32);
        q.lo = fmin(q.lo, floored ? floor(corner[k]) : corner[k]);
        q.hi = fmax(q.hi, floored ? floor(corner[k]) : corner[k]);
    }
    return q;
}

static range floor_quotient(kind k, range a, range b)
{
    if (b.lo > 0 || b.hi < 0)
        return quotient(a, b, true);
    double most = fmax(fabs(a.lo), fabs(a.hi));          /* by 0 is 0, by anything else no larger than a */
    return k == KIND_u32 ? whole_range(0, a.hi) : whole_range(-most, most);
}

static range remainder_range(range a, range b)
{
    if (a.lo >= 0 && b.lo > a.hi)
        return a;
    range positive = whole_range(0, fmax(b.hi - 1, 0)), negative = whole_range(fmin(b.lo + 1, 0), 0);
    return range_both(whole_range(0, 0), b.lo >= 0 ? positive : b.hi <= 0 ? negative : range_both(positive, negative));
}

/* ---- ops ------------------------------------------------------------------------------------- */

static range whole_steps(tensor_op op, range a)
{
    double (*step)(double) = op == OP_floor ? floor : op == OP_ceil ? ceil : op == OP_trunc ? trunc : rint;
    bool minus_zero = a.minus_zero || (op != OP_floor && a.lo < 0);
    return (range){ step(a.lo), step(a.hi), a.maybe_nan, minus_zero, is_finite(a) ? 0 : SCALE_NONE };
}

static range bits_of(tensor_op op, kind k, range a, range b)
{
    bool positive = a.lo >= 0 && b.lo >= 0;
    if (op == OP_bitand && (a.lo >= 0 || b.lo >= 0))
        return whole_range(0, positive ? fmin(a.hi, b.hi) : a.lo >= 0 ? a.hi : b.hi);
    if (!positive)
        return kind_range(k);
    double limit = 1;
    while (limit <= fmax(a.hi, b.hi))
        limit *= 2;
    return whole_range(0, limit - 1);
}

static range shifted(tensor_op op, kind k, range a, range by)
{
    if (by.lo < 0 || by.hi > 31)
        return kind_range(k);
    range factors = whole_range(ldexp(1, (int)by.lo), ldexp(1, (int)by.hi));
    return op == OP_shl ? range_mul(a, factors) : quotient(a, factors, true);
}

/* min and max take the second operand when the comparison is false, as it is beside a NaN. */
static range extremum(tensor_op op, range a, range b)
{
    if (a.maybe_nan || b.maybe_nan)
        return range_both(a, b);
    bool low = op == OP_min;
    return (range){ low ? fmin(a.lo, b.lo) : fmax(a.lo, b.lo), low ? fmin(a.hi, b.hi) : fmax(a.hi, b.hi), false,
                    a.minus_zero || b.minus_zero, coarser(a.scale, b.scale) };
}

static range transcendental(tensor_op op)
{
    range all = kind_range(KIND_f32);
    if (op == OP_sin || op == OP_cos || op == OP_tanh)
        return (range){ -1.000001, 1.000001, true, true, SCALE_NONE };
    if (op == OP_exp || op == OP_exp2 || op == OP_cosh)
        all.lo = 0;
    return all;
}

static range square_root(range a)
{
    bool nan = a.maybe_nan || a.lo < 0;
    return (range){ sqrt(fmax(a.lo, 0)), sqrt(fmax(a.hi, 0)), nan, a.minus_zero, SCALE_NONE };
}

range range_of_op(tensor_op op, kind k, const range *a)
{
    switch (op) {
    case OP_add:      return range_rounded(k, range_add(a[0], a[1]));
    case OP_sub:      return range_rounded(k, range_add(a[0], negated(a[1])));
    case OP_mul:      return range_rounded(k, range_mul(a[0], a[1]));
    case OP_muladd:   /* one rounding or two: the second time covers both */
    case OP_fma:      return range_rounded(k, range_add(range_rounded(k, range_mul(a[0], a[1])), a[2]));
    case OP_neg:      return kind_is_float(k) ? negated(a[0]) : range_rounded(k, negated(a[0]));
    case OP_abs:      return kind_is_float(k) ? absolute(a[0]) : range_rounded(k, absolute(a[0]));
    case OP_floordiv: return range_rounded(k, floor_quotient(k, a[0], a[1]));
    case OP_mod:      return range_rounded(k, remainder_range(a[0], a[1]));
    case OP_div:      return range_rounded(k, quotient(a[0], a[1], false));
    case OP_sqrt:     return range_rounded(k, square_root(a[0]));
    case OP_floor: case OP_ceil: case OP_trunc: case OP_round: return whole_steps(op, a[0]);
    case OP_min: case OP_max: return extremum(op, a[0], a[1]);
    case OP_bitand: case OP_bitor: case OP_bitxor: return range_rounded(k, bits_of(op, k, a[0], a[1]));
    case OP_shl: case OP_shr: return range_rounded(k, shifted(op, k, a[0], a[1]));
    default:
        if (op_get(op)->class == CLASS_CMP || op_get(op)->class == CLASS_LOG)
            return kind_range(KIND_bool);
        return op_get(op)->class == CLASS_EXP ? transcendental(op) : kind_range(k);
    }
}

/* ---- conversions ----------------------------------------------------------------------------- */

range range_of_cast(range a, kind from, kind to)
{
    range all = kind_range(to);
    if (to == KIND_bool)
        return all;
    if (kind_is_float(to)) {
        double exact = to == KIND_f16 ? 2048 : 16777216;
        if (kind_holds(to, from) || (range_is_exact(a, exact) && a.scale <= 24))      /* f16 ends at 2^-24 */
            return a;
        range wider = range_rounded(KIND_f32, a);
        /* To f16 half an ulp of 2^-11, or of the smallest step. */
        if (to == KIND_f16) {
            wider.lo = wider.lo < -65504 ? -INFINITY : wider.lo - fmax(fabs(wider.lo) / 1024, 0x1p-24);
            wider.hi = wider.hi > 65504 ? INFINITY : wider.hi + fmax(fabs(wider.hi) / 1024, 0x1p-24);
        }
        return wider;
    }
    range b = whole_range(fmin(fmax(rint(a.lo), all.lo), all.hi), fmin(fmax(rint(a.hi), all.lo), all.hi));
    return a.maybe_nan ? range_both(b, whole_range(0, 0)) : b;
}
