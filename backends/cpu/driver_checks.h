/* SPDX-License-Identifier: MIT
 * What is checked before a pixel is written: null pointers, extents, strides, overlaps, the part asked for. */
#ifndef HALO_BACKENDS_CPU_DRIVER_CHECKS_H
#define HALO_BACKENDS_CPU_DRIVER_CHECKS_H

#include "backends/cpu/driver_regions.h"

static inline int64_t magnitude(int64_t a) { return a < 0 ? -a : a; }

/* Axes of the host's image: the memory's, and one more for components in planes. */
static inline int image_rank(const plan_memory *m) { return m->rank + (m->planar && m->rank < 5 ? 1 : 0); }

static inline int64_t image_extent(const plan_memory *m, const int32_t *slots, int axis)
{
    if (m->planar && axis == m->rank) return m->lanes;
    return axis < m->rank ? span_count(bounds_of(slots, m->lo, m->hi, axis)) : 1;
}

static inline int64_t image_pixel_bytes(const plan_memory *m) { return (int64_t)m->component_bytes * (m->planar ? 1 : m->lanes); }

static inline int image_is_empty(const plan_memory *m, const int32_t *slots)
{
    for (int d = 0; d < m->rank; d++) if (image_extent(m, slots, d) == 0) return 1;
    return 0;
}

static inline int check_extents(const plan_memory *m, const int32_t *slots, const halo_image *image)
{
    for (int d = 0; d < image_rank(m); d++) if (image->extent[d] != image_extent(m, slots, d)) return HALO_ERROR_SIZE;
    return HALO_OK;
}

/* What a stage reads lies where the driver can count. */
static inline int check_reach(const plan_view *plan, const int32_t *slots)
{
    for (int k = 0; k < plan->header->n_stages; k++) {
        const plan_stage *s = &plan->stages[k];
        span32 x = bounds_of(slots, s->lo, s->hi, 0), y = bounds_of(slots, s->lo, s->hi, 1);
        for (int j = s->first_edge; j < s->first_edge + s->n_edges; j++) {
            const plan_edge *e = &plan->edges[j];
            if (e->kind == PLAN_EDGE_anywhere) continue;
            int64_t low = (int64_t)e->p_y * y.lo + slots[e->lo_y], high = (int64_t)e->p_y * y.hi + slots[e->hi_y];
            if (e->kind == PLAN_EDGE_row) {
                low = min64(low, (int64_t)e->p_x * x.lo + slots[e->lo_x]);
                high = max64(high, (int64_t)e->p_x * x.hi + slots[e->hi_x]);
            }
            if (low < -FARTHEST || high > FARTHEST) return HALO_ERROR_SIZE;
        }
    }
    return HALO_OK;
}

#define ADDRESSES ((int64_t)1 << 58)      /* more than any picture spans; sums of a few stay in 64 bits */

/* Strides are multiples of the component's size; an output's pixels and rows don't overlap: each axis, by growing stride,
 * steps over all that the smaller ones span. */
static inline int check_strides(const plan_memory *m, const int32_t *slots, const halo_image *image)
{
    if ((uintptr_t)image->data % (uintptr_t)m->component_bytes) return HALO_ERROR_STRIDE;
    int rank = image_rank(m);
    for (int d = 0; d < rank; d++) {
        int64_t n = image_extent(m, slots, d);
        if (image->stride[d] % m->component_bytes) return HALO_ERROR_STRIDE;
        if (n > 1 && (image->stride[d] < -ADDRESSES / n || image->stride[d] > ADDRESSES / n)) return HALO_ERROR_STRIDE;
    }
    if (m->role != PLAN_ROLE_output) return HALO_OK;
    int64_t span = image_pixel_bytes(m);
    int done[5] = { 0, 0, 0, 0, 0 };
    for (int step = 0; step < rank; step++) {
        int axis = -1;
        for (int d = 0; d < rank; d++)
            if (!done[d] && (axis < 0 || magnitude(image->stride[d]) < magnitude(image->stride[axis]))) axis = d;
        done[axis] = 1;
        int64_t n = image_extent(m, slots, axis);
        if (n <= 1) continue;
        if (magnitude(image->stride[axis]) < span) return HALO_ERROR_STRIDE;
        span += magnitude(image->stride[axis]) * (n - 1);
    }
    return HALO_OK;
}

/* ---- overlap --------------------------------------------------------------------------------------- */

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

/* 0 when the rectangle is empty. */
static inline int footprint_of(const plan_memory *m, const int32_t *slots, const halo_image *image, const region *part, footprint *out)
{
    out->first = (int64_t)(intptr_t)image->data;
    out->n = 0;
    int rank = image_rank(m);
    for (int d = 0; d < rank; d++) {
        int own = m->planar && d == m->rank;
        span32 s = own ? (span32){ 0, m->lanes - 1 } : part->axis[d];
        int64_t count = span_count(s), stride = image->stride[d];
        if (count == 0) return 0;
        if (!own) out->first += ((int64_t)s.lo - slots[m->lo[d]]) * stride;
        if (stride < 0) out->first += stride * (count - 1);
        if (count > 1) footprint_axis(out, magnitude(stride), count);
    }
    out->span[0] = image_pixel_bytes(m);
    for (int k = 0; k < out->n; k++) out->span[k + 1] = out->span[k] + out->stride[k] * (out->count[k] - 1);
    return 1;
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

static inline int same_memory(const plan_memory *m, const halo_image *a, const halo_image *b)
{
    if (a->data != b->data) return 0;
    for (int d = 0; d < image_rank(m); d++) if (a->stride[d] != b->stride[d]) return 0;
    return 1;
}

#endif
