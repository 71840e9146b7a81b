/* SPDX-License-Identifier: MIT
 * Which rectangle every kernel makes, and of every memory is read or written, for a part of the outputs: backwards from readers to
 * what they read, through border maps. */
#ifndef HALO_BACKENDS_VULKAN_DRIVER_REGIONS_H
#define HALO_BACKENDS_VULKAN_DRIVER_REGIONS_H

#include "backends/vulkan/driver_plan.h"

static const span32 EMPTY_SPAN = { 0, -1 };

static inline void region_clear(region *r) { for (int d = 0; d < 5; d++) r->axis[d] = EMPTY_SPAN; }

static inline void region_add(region *r, const region *more)
{
    if (region_is_empty(more)) return;
    for (int d = 0; d < 5; d++) r->axis[d] = span_union(r->axis[d], more->axis[d]);
}

static inline void region_whole(const call *c, const vplan_memory *m, region *out)
{
    for (int d = 0; d < 5; d++) out->axis[d] = bounds_of(c, m, d);
}

/* A value outside of a picture is chosen after the read, which goes to the nearest pixel inside: that one is taken. */
static inline int32_t border_of_read(int32_t border) { return border == PLAN_BORDER_value ? PLAN_BORDER_edge : border; }

static inline void region_read(const call *c, const vplan_read *r, const region *made, region *out)
{
    region_whole(c, &c->plan.memories[r->memory], out);
    if (r->anywhere) return;
    span32 x = index_span(r->p_x, r->q_x, made->axis[0], number_of(c, r->lo_x), number_of(c, r->hi_x));
    span32 y = index_span(r->p_y, r->q_y, made->axis[1], number_of(c, r->lo_y), number_of(c, r->hi_y));
    out->axis[0] = map_span(border_of_read(r->border_x), x, out->axis[0]);
    out->axis[1] = map_span(border_of_read(r->border_y), y, out->axis[1]);
}

/* From what is wanted of the outputs, in regions[], to everything else. */
static inline void find_rectangles(call *c)
{
    const vulkan_plan *p = &c->plan;
    for (int k = p->header->n_kernels - 1; k >= 0; k--) {
        const vplan_kernel *kernel = &p->kernels[k];
        region *made = &c->rectangles[k], read;
        region_clear(made);
        for (int j = 0; j < kernel->n_sinks; j++) region_add(made, &c->regions[p->sinks[kernel->first_sink + j]]);
        if (region_is_empty(made)) continue;
        for (int j = 0; j < kernel->n_sinks; j++) {      /* room for all that is made, wanted or not */
            int32_t sink = p->sinks[kernel->first_sink + j];
            if (p->memories[sink].role == VPLAN_ROLE_scratch) c->regions[sink] = *made;
        }
        for (int j = 0; j < kernel->n_reads; j++) {
            const vplan_read *r = &p->reads[kernel->first_read + j];
            region_read(c, r, made, &read);
            region_add(&c->regions[r->memory], &read);
        }
    }
}

static inline int want_outputs(call *c, const halo_part *part)
{
    const vulkan_plan *p = &c->plan;
    for (int k = 0; k < p->header->n_memories; k++) {
        const vplan_memory *m = &p->memories[k];
        region_clear(&c->regions[k]);
        if (m->role != VPLAN_ROLE_output) continue;
        region_whole(c, m, &c->regions[k]);
        if (region_is_empty(&c->regions[k])) return HALO_ERROR_SIZE;
        for (int d = 0; part && d < m->rank; d++) {
            span32 whole = c->regions[k].axis[d];
            int64_t first = (int64_t)whole.lo + part->start[d], last = first + part->extent[d] - 1;
            if (part->start[d] < 0 || part->extent[d] < 1 || last > whole.hi) return HALO_ERROR_SIZE;
            c->regions[k].axis[d] = (span32){ (int32_t)first, (int32_t)last };
        }
    }
    find_rectangles(c);
    return HALO_OK;
}

#endif
