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

/* Strides are multiples of the component's size; an output's pixels and rows don't overlap: each axis, by growing stride,
 * steps over all that the smaller ones span. */
static inline int check_strides(const plan_memory *m, const int32_t *slots, const halo_image *image)
{
    if ((uintptr_t)image->data % (uintptr_t)m->component_bytes) return HALO_ERROR_STRIDE;
    int rank = image_rank(m);
    for (int d = 0; d < rank; d++) if (image->stride[d] % m->component_bytes) return HALO_ERROR_STRIDE;
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

/* The bytes of a rectangle of an image: first and last, and as rows of `width` bytes at a pitch when it is that simple. */
typedef struct footprint { int64_t first, last; int64_t pitch, width, rows; int simple; } footprint;

static inline int footprint_of(const plan_memory *m, const int32_t *slots, const halo_image *image, const region *part, footprint *out)
{
    int64_t first = (int64_t)(intptr_t)image->data, last;
    last = first + image_pixel_bytes(m) - 1;
    int rank = image_rank(m);
    int64_t n[5], stride[5];
    for (int d = 0; d < rank; d++) {
        int own = m->planar && d == m->rank;
        span32 s = own ? (span32){ 0, m->lanes - 1 } : part->axis[d];
        int64_t from = own ? 0 : (int64_t)s.lo - slots[m->lo[d]];
        n[d] = span_count(s);
        stride[d] = image->stride[d];
        if (n[d] == 0) return 0;
        first += from * stride[d];
        last += from * stride[d];
        if (stride[d] >= 0) last += stride[d] * (n[d] - 1);
        else first += stride[d] * (n[d] - 1);
    }
    out->first = first;
    out->last = last;
    out->simple = rank == 2 && magnitude(stride[0]) >= 1;
    out->pitch = rank == 2 ? magnitude(stride[1]) : 0;
    out->width = rank == 2 ? magnitude(stride[0]) * (n[0] - 1) + image_pixel_bytes(m) : 0;
    out->rows = rank == 2 ? n[1] : 0;
    return 1;
}

static inline int rows_meet(int64_t a_width, int64_t a_rows, int64_t column, int64_t row, int64_t b_width, int64_t b_rows)
{
    return column < a_width && column + b_width > 0 && row < a_rows && row + b_rows > 0;
}

/* Two parts side by side of one picture are disjoint though their byte ranges interleave. */
static inline int footprints_meet(const footprint *a, const footprint *b)
{
    if (a->last < b->first || b->last < a->first) return 0;
    if (!a->simple || !b->simple || a->pitch != b->pitch || a->pitch == 0 || a->width > a->pitch || b->width > b->pitch) return 1;
    int64_t distance = b->first - a->first;
    int64_t row = floor_quotient(distance, a->pitch), column = distance - row * a->pitch;
    return rows_meet(a->width, a->rows, column, row, b->width, b->rows)
        || rows_meet(a->width, a->rows, column - a->pitch, row + 1, b->width, b->rows);
}

static inline int same_memory(const plan_memory *m, const halo_image *a, const halo_image *b)
{
    if (a->data != b->data) return 0;
    for (int d = 0; d < image_rank(m); d++) if (a->stride[d] != b->stride[d]) return 0;
    return 1;
}

#endif
