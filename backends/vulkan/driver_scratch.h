/* SPDX-License-Identifier: MIT
 * What lies where in scratch: first the arguments (tables of constants, then the slots of the kernels that have too many for push
 * constants), then the stored intermediates, each as low as those allow that live at the same time. */
#ifndef HALO_BACKENDS_VULKAN_DRIVER_SCRATCH_H
#define HALO_BACKENDS_VULKAN_DRIVER_SCRATCH_H

#include "backends/vulkan/driver_images.h"

/* Kernels from the first that binds the memory to the last. */
typedef struct lifetime { int first, last; } lifetime;

static inline lifetime lifetime_of(const vulkan_plan *p, int32_t memory)
{
    lifetime l = { INT32_MAX, -1 };
    for (int k = 0; k < p->header->n_kernels; k++)
        for (int j = 0; j < p->kernels[k].n_bindings; j++)
            if (p->bindings[p->kernels[k].first_binding + j].memory == memory) {
                if (l.last < 0) l.first = k;
                l.last = k;
            }
    return l;
}

static inline int64_t scratch_alignment(const call *c) { return max64(binding_alignment(c), 16); }

static inline int64_t bytes_in_scratch(const call *c, int32_t memory)
{
    const vplan_memory *m = &c->plan.memories[memory];
    return m->role == VPLAN_ROLE_scratch ? rounded_up_to(4 * m->pixel_words * region_pixels(&c->regions[memory]),
                                                         scratch_alignment(c)) : 0;
}

static inline void place_memory(call *c, int32_t memory, int64_t bytes, int64_t start)
{
    lifetime l = lifetime_of(&c->plan, memory);
    int64_t at = start;
    for (int moved = 1; moved;) {
        moved = 0;
        for (int32_t j = 0; j < memory; j++) {
            int64_t other = bytes_in_scratch(c, j);
            lifetime o = lifetime_of(&c->plan, j);
            if (other == 0 || o.first > l.last || l.first > o.last) continue;
            if (at >= c->scratch[j] + other || c->scratch[j] >= at + bytes) continue;
            at = c->scratch[j] + other;
            moved = 1;
        }
    }
    c->scratch[memory] = at;
    c->scratch_bytes = max64(c->scratch_bytes, at + bytes);
}

static inline int binds_nothing(const call *c)
{
    const vulkan_plan *p = &c->plan;
    for (int k = 0; k < p->header->n_kernels; k++)
        for (int j = 0; j < p->kernels[k].n_bindings; j++) {
            int32_t memory = p->bindings[p->kernels[k].first_binding + j].memory;
            if (memory >= 0 && !is_view(&p->memories[memory]) && region_is_empty(&c->regions[memory])) return 1;
        }
    return 0;
}

static inline int place_scratch(call *c)
{
    const vplan_header *h = c->plan.header;
    c->argument_words = h->n_table_words;
    for (int k = 0; k < h->n_kernels; k++) if (c->plan.kernels[k].in_buffer) c->argument_words += c->plan.kernels[k].n_slots;
    int64_t start = rounded_up_to(4 * c->argument_words, scratch_alignment(c));
    c->spare = -1;
    if (binds_nothing(c)) {
        c->spare = start;
        start += rounded_up_to(SPARE_BYTES, scratch_alignment(c));
    }
    c->scratch_bytes = start;
    for (int k = 0; k < h->n_memories; k++) {
        const vplan_memory *m = &c->plan.memories[k];
        if (m->role != VPLAN_ROLE_scratch) continue;
        if (region_pixels(&c->regions[k]) < 0) return HALO_VULKAN_ERROR_RANGE;
        int64_t bytes = bytes_in_scratch(c, k);
        if (bytes > 0) place_memory(c, k, bytes, start);
    }
    return HALO_OK;
}

#endif
