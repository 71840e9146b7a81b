/* SPDX-License-Identifier: MIT
 * Whole-number helpers of the drivers: floor division, border maps on one index and on a range of them. */
#ifndef HALO_BACKENDS_COMMON_DRIVER_MATH_H
#define HALO_BACKENDS_COMMON_DRIVER_MATH_H

#include <stddef.h>
#include <stdint.h>

/* BORDER_none, edge, reflect, reflect101, wrap, value of lowering/border.def, in that order (asserted where plans are written). */
enum { PLAN_BORDER_none, PLAN_BORDER_edge, PLAN_BORDER_reflect, PLAN_BORDER_reflect101, PLAN_BORDER_wrap, PLAN_BORDER_value };

typedef struct span32 { int32_t lo, hi; } span32;        /* both inclusive; hi < lo is empty */

static inline int64_t min64(int64_t a, int64_t b) { return a < b ? a : b; }
static inline int64_t max64(int64_t a, int64_t b) { return a > b ? a : b; }

static inline int64_t floor_quotient(int64_t a, int64_t b)      /* b > 0 */
{
    if (b == 1) return a;
    int64_t q = a / b;
    return q * b > a ? q - 1 : q;
}

static inline int span_is_empty(span32 s) { return s.hi < s.lo; }
static inline int64_t span_count(span32 s) { return s.hi < s.lo ? 0 : (int64_t)s.hi - s.lo + 1; }

static inline span32 span_union(span32 a, span32 b)
{
    if (span_is_empty(a)) return b;
    if (span_is_empty(b)) return a;
    return (span32){ (int32_t)min64(a.lo, b.lo), (int32_t)max64(a.hi, b.hi) };
}

static inline span32 span_intersection(span32 a, span32 b)
{
    return (span32){ (int32_t)max64(a.lo, b.lo), (int32_t)min64(a.hi, b.hi) };
}

/* The index inside `d` that answers for `i` (not for none and value; d is not empty). */
static inline int32_t map_index(int32_t border, int64_t i, span32 d)
{
    if (i >= d.lo && i <= d.hi) return (int32_t)i;
    int64_t n = span_count(d), k = i - d.lo, m;
    switch (border) {
    case PLAN_BORDER_reflect:
        m = k - floor_quotient(k, 2 * n) * 2 * n;
        return (int32_t)(d.lo + (m < n ? m : 2 * n - 1 - m));
    case PLAN_BORDER_reflect101:
        if (n == 1) return d.lo;
        m = k - floor_quotient(k, 2 * n - 2) * (2 * n - 2);
        return (int32_t)(d.lo + (m < n ? m : 2 * n - 2 - m));
    case PLAN_BORDER_wrap:
        return (int32_t)(d.lo + (k - floor_quotient(k, n) * n));
    default:
        return i < d.lo ? d.lo : d.hi;
    }
}

/* Everything inside `d` that the indices `r` are answered by. */
static inline span32 map_span(int32_t border, span32 r, span32 d)
{
    if (span_is_empty(r) || (r.lo >= d.lo && r.hi <= d.hi)) return r;
    if (border == PLAN_BORDER_none || border == PLAN_BORDER_value || span_is_empty(d)) return span_intersection(r, d);
    if (border == PLAN_BORDER_wrap) return d;
    int64_t n = span_count(d);
    if (border != PLAN_BORDER_edge && (r.lo < d.lo - n + 1 || r.hi > d.hi + n - 1)) return d;
    span32 out = span_intersection(r, d);
    if (r.lo < d.lo) {
        int32_t last = (int32_t)min64(r.hi, (int64_t)d.lo - 1);
        span32 ends = { map_index(border, last, d), map_index(border, r.lo, d) };
        out = span_union(out, ends);
    }
    if (r.hi > d.hi) {
        int32_t first = (int32_t)max64(r.lo, (int64_t)d.hi + 1);
        span32 ends = { map_index(border, r.hi, d), map_index(border, first, d) };
        out = span_union(out, ends);
    }
    return out;
}

/* Rows and columns are counted within this, far as they may lie from a picture: sums with a few rows more stay in 32 bits. */
enum { FARTHEST = INT32_MAX - 65535 };

/* Indices (p * i + c) // q for i in r and c in lo..hi. */
static inline span32 index_span(int32_t p, int32_t q, span32 r, int32_t lo, int32_t hi)
{
    if (span_is_empty(r)) return r;
    int64_t a = floor_quotient((int64_t)p * r.lo + lo, q), b = floor_quotient((int64_t)p * r.hi + hi, q);
    return (span32){ (int32_t)max64(-FARTHEST, min64(a, FARTHEST)), (int32_t)max64(-FARTHEST, min64(b, FARTHEST)) };
}

#endif
