/* SPDX-License-Identifier: MIT
 * The bytes that strided rectangles of pictures take: do a picture's own pixels overlap, do two rectangles meet? */
#ifndef HALO_BACKENDS_COMMON_FOOTPRINT_H
#define HALO_BACKENDS_COMMON_FOOTPRINT_H

#include "backends/common/driver_math.h"

#define ADDRESSES ((int64_t)1 << 58)      /* more than any picture spans; sums of a few stay in 64 bits */

static inline int64_t magnitude(int64_t a) { return a < 0 ? -a : a; }

static inline int strides_are_whole(const int64_t *stride, const int64_t *extent, int rank, int component_bytes)
{
    for (int d = 0; d < rank; d++) {
        if (stride[d] % component_bytes) return 0;
        if (extent[d] > 1 && (stride[d] < -ADDRESSES / extent[d] || stride[d] > ADDRESSES / extent[d])) return 0;
    }
    return 1;
}

/* Not when each axis, by growing stride, steps over all that the smaller ones span. */
static inline int pixels_overlap(const int64_t *stride, const int64_t *extent, int rank, int64_t pixel_bytes)
{
    int64_t span = pixel_bytes;
    int done[5] = { 0, 0, 0, 0, 0 };
    for (int step = 0; step < rank; step++) {
        int axis = -1;
        for (int d = 0; d < rank; d++)
            if (!done[d] && (axis < 0 || magnitude(stride[d]) < magnitude(stride[axis]))) axis = d;
        done[axis] = 1;
        if (extent[axis] <= 1) continue;
        if (magnitude(stride[axis]) < span) return 1;
        span += magnitude(stride[axis]) * (extent[axis] - 1);
    }
    return 0;
}

/* The bytes of a rectangle of an image: axes of more than one pixel by growing stride, and what a pixel and each axis more
 * spans. Strides count upward from the lowest byte. */
typedef struct footprint { int64_t first, stride[5], count[5], span[6]; int n; } footprint;

static inline void footprint_axis(footprint *f, int64_t stride, int64_t count)
{
    int at = f->n++;
    for (; at > 0 && f->stride[at - 1] > stride; at--) {
        f->stride[at] = f->stride[at - 1];
        f->count[at] = f->count[at - 1];
    }
    f->stride[at] = stride;
    f->count[at] = count;
}

/* All axes are there. */
static inline void footprint_end(footprint *f, int64_t first, int64_t pixel_bytes)
{
    f->first = first;
    f->span[0] = pixel_bytes;
    for (int k = 0; k < f->n; k++) f->span[k + 1] = f->span[k] + f->stride[k] * (f->count[k] - 1);
}

/* Do the first n_a axes of a meet the first n_b of b, whose lowest byte lies at `distance` from a's? The widest stride divides
 * memory into rows; what is narrower lies in one row of it or the next, and is asked about there. Where something is wider
 * than a row, bytes between the first and the last count as touched. */
static inline int boxes_meet(const footprint *a, int n_a, const footprint *b, int n_b, int64_t distance)
{
    if (distance >= a->span[n_a] || distance + b->span[n_b] <= 0) return 0;
    int64_t stride_a = n_a ? a->stride[n_a - 1] : 0, stride_b = n_b ? b->stride[n_b - 1] : 0, row = max64(stride_a, stride_b);
    int in_a = row == stride_a && n_a, in_b = row == stride_b && n_b;
    if (row == 0 || a->span[n_a - in_a] > row || b->span[n_b - in_b] > row) return 1;
    int64_t rows_a = in_a ? a->count[n_a - 1] : 1, rows_b = in_b ? b->count[n_b - 1] : 1;
    int64_t apart = -floor_quotient(distance, row);       /* of a row of b that begins in a row of a: their numbers' difference */
    for (int k = 0; k < 2; k++, apart--)
        if (apart > -rows_a && apart < rows_b && boxes_meet(a, n_a - in_a, b, n_b - in_b, distance + apart * row)) return 1;
    return 0;
}

/* Two parts side by side of one picture are disjoint though their byte ranges interleave; so are the colours and the alpha
 * of one, or every other row. */
static inline int footprints_meet(const footprint *a, const footprint *b)
{
    return boxes_meet(a, a->n, b, b->n, b->first - a->first);
}

#endif
