/* SPDX-License-Identifier: MIT
 * What is checked before a pixel is written: null pointers, extents, strides, overlaps, the part asked for. */
#ifndef HALO_BACKENDS_CPU_DRIVER_CHECKS_H
#define HALO_BACKENDS_CPU_DRIVER_CHECKS_H

#include "backends/common/footprint.h"
#include "backends/cpu/driver_regions.h"

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

/* Strides are multiples of the component's size; an output's pixels and rows don't overlap. */
static inline int check_strides(const plan_memory *m, const int32_t *slots, const halo_image *image)
{
    int64_t stride[5], extent[5];
    int rank = image_rank(m);
    for (int d = 0; d < rank; d++) {
        stride[d] = image->stride[d];
        extent[d] = image_extent(m, slots, d);
    }
    if ((uintptr_t)image->data % (uintptr_t)m->component_bytes) return HALO_ERROR_STRIDE;
    if (!strides_are_whole(stride, extent, rank, m->component_bytes)) return HALO_ERROR_STRIDE;
    if (m->role == PLAN_ROLE_output && pixels_overlap(stride, extent, rank, image_pixel_bytes(m))) return HALO_ERROR_STRIDE;
    return HALO_OK;
}

/* ---- overlap --------------------------------------------------------------------------------------- */

/* 0 when the rectangle is empty. */
static inline int footprint_of(const plan_memory *m, const int32_t *slots, const halo_image *image, const region *part, footprint *out)
{
    int64_t first = (int64_t)(intptr_t)image->data;
    out->n = 0;
    int rank = image_rank(m);
    for (int d = 0; d < rank; d++) {
        int own = m->planar && d == m->rank;
        span32 s = own ? (span32){ 0, m->lanes - 1 } : part->axis[d];
        int64_t count = span_count(s), stride = image->stride[d];
        if (count == 0) return 0;
        if (!own) first += ((int64_t)s.lo - slots[m->lo[d]]) * stride;
        if (stride < 0) first += stride * (count - 1);
        if (count > 1) footprint_axis(out, magnitude(stride), count);
    }
    footprint_end(out, first, image_pixel_bytes(m));
    return 1;
}

static inline int same_memory(const plan_memory *m, const halo_image *a, const halo_image *b)
{
    if (a->data != b->data) return 0;
    for (int d = 0; d < image_rank(m); d++) if (a->stride[d] != b->stride[d]) return 0;
    return 1;
}

#endif
