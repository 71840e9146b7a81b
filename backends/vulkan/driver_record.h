/* SPDX-License-Identifier: MIT
 * Recording: descriptor sets, the arguments' bytes, and dispatches with barriers between those of which one needs the other.
 *
 * Workgroups are counted over all kernels, in the order in which they run, x fastest. A slice is a range of them. It records the
 * arguments' bytes when it has workgroup 0; later slices find them in scratch. A barrier is a memory barrier: one at the start of
 * a slice that has earlier workgroups covers all slices that were submitted before. */
#ifndef HALO_BACKENDS_VULKAN_DRIVER_RECORD_H
#define HALO_BACKENDS_VULKAN_DRIVER_RECORD_H

#include "backends/vulkan/driver_scratch.h"
#include "backends/vulkan/driver_shapes.h"

enum { UPDATE_WORDS_MOST = 16384 };      /* 65536 bytes in one vkCmdUpdateBuffer */

/* ---- tiles ------------------------------------------------------------------------------------------------ */

typedef struct tile_grid { int64_t count[3]; } tile_grid;

static inline tile_grid grid_of(const call *c, int kernel)
{
    const region *r = &c->rectangles[kernel];
    tile_grid g = { { 0, 0, 0 } };
    if (region_is_empty(r)) return g;
    for (int d = 0; d < 2; d++) {
        int64_t tile = c->v->kernels[kernel].shape.tile[d];
        g.count[d] = (span_count(r->axis[d]) + tile - 1) / tile;
    }
    g.count[2] = span_count(r->axis[2]) * span_count(r->axis[3]) * span_count(r->axis[4]);
    return g;
}

/* Negative: more than can be counted. */
static inline int64_t grid_workgroups(const tile_grid *g)
{
    int64_t row = g->count[0] * g->count[1];
    return g->count[2] > 0 && row > INT64_MAX / 4096 / g->count[2] ? -1 : row * g->count[2];
}

/* ---- slots ------------------------------------------------------------------------------------------------- */

static inline uint32_t slot_word(const call *c, int kernel, const vplan_slot *s)
{
    const vplan_kernel *k = &c->plan.kernels[kernel];
    int by_words = c->v->kernels[kernel].shape.by_words;
    const region *r = &c->rectangles[kernel];
    switch (s->kind) {
    case VPLAN_SLOT_value:
        return value_bits(c->plan.instructions[s->which].kind, c->values[s->which]);
    case VPLAN_SLOT_rect_lo:
    case VPLAN_SLOT_rect_hi:
        if (s->which >= 0) r = &c->regions[c->plan.sinks[k->first_sink + s->which]];
        return (uint32_t)(s->kind == VPLAN_SLOT_rect_lo ? r->axis[s->d].lo : r->axis[s->d].hi);
    case VPLAN_SLOT_offset:
        return (uint32_t)element_offset(c, s->which, by_words);
    case VPLAN_SLOT_stride:
        return (uint32_t)element_stride(c, s->which, by_words, s->d);
    default:
        return (uint32_t)element_stride(c, s->which, by_words, c->plan.memories[s->which].rank);
    }
}

/* Where the kernel's slots begin in the arguments buffer. */
static inline int64_t slots_at(const call *c, int kernel)
{
    int64_t at = c->plan.header->n_table_words;
    for (int k = 0; k < kernel; k++) if (c->plan.kernels[k].in_buffer) at += c->plan.kernels[k].n_slots;
    return at;
}

/* The slots of all kernels that have them in the arguments buffer. */
static inline void fill_slots(const call *c, uint32_t *out)
{
    for (int k = 0; k < c->plan.header->n_kernels; k++) {
        const vplan_kernel *kernel = &c->plan.kernels[k];
        if (!kernel->in_buffer) continue;
        for (int j = 0; j < kernel->n_slots; j++)
            *out++ = region_is_empty(&c->rectangles[k]) ? 0 : slot_word(c, k, &c->plan.slots[kernel->first_slot + j]);
    }
}

/* ---- descriptor sets ---------------------------------------------------------------------------------------- */

static inline VkDescriptorType descriptor_type(const vulkan_plan *p, int32_t memory)
{
    if (memory < 0) return VK_DESCRIPTOR_TYPE_STORAGE_BUFFER;
    int32_t layout = p->memories[memory].layout;
    return layout == VPLAN_LAYOUT_image ? VK_DESCRIPTOR_TYPE_STORAGE_IMAGE
         : layout == VPLAN_LAYOUT_sampled ? VK_DESCRIPTOR_TYPE_SAMPLED_IMAGE : VK_DESCRIPTOR_TYPE_STORAGE_BUFFER;
}

static inline VkDescriptorImageInfo view_info(const call *c, const vplan_memory *m)
{
    const halo_vulkan_image *image = image_of(c, m);
    VkImageLayout layout = m->layout == VPLAN_LAYOUT_image ? VK_IMAGE_LAYOUT_GENERAL
                         : image->view_layout ? image->view_layout : VK_IMAGE_LAYOUT_SHADER_READ_ONLY_OPTIMAL;
    return (VkDescriptorImageInfo){ VK_NULL_HANDLE, image->view, layout };
}

static inline void write_set(const call *c, int kernel, VkDescriptorSet set)
{
    const vplan_kernel *k = &c->plan.kernels[kernel];
    for (int j = 0; j < k->n_bindings; j++) {
        int32_t memory = c->plan.bindings[k->first_binding + j].memory;
        VkWriteDescriptorSet w = { .sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET, .dstSet = set, .dstBinding = (uint32_t)j,
                                   .descriptorCount = 1, .descriptorType = descriptor_type(&c->plan, memory) };
        VkDescriptorBufferInfo buffer;
        VkDescriptorImageInfo view;
        if (w.descriptorType == VK_DESCRIPTOR_TYPE_STORAGE_BUFFER) {
            bound b;
            bind_memory(c, memory, c->v->kernels[kernel].shape.by_words, &b);
            buffer = (VkDescriptorBufferInfo){ b.buffer, (VkDeviceSize)b.offset, (VkDeviceSize)b.bytes };
            w.pBufferInfo = &buffer;
        } else {
            view = view_info(c, &c->plan.memories[memory]);
            w.pImageInfo = &view;
        }
        c->v->vk.UpdateDescriptorSets(c->v->device, 1, &w, 0, NULL);
    }
}

/* ---- what has to wait for what --------------------------------------------------------------------------------- */

/* Bytes or a view that a dispatch reads or writes: as they are bound, which is how the validation layers see it too. */
typedef struct use { VkBuffer buffer; VkImageView view; int64_t first, end; int is_written; } use;

static inline int uses_of(const call *c, int kernel, use *out)
{
    const vplan_kernel *k = &c->plan.kernels[kernel];
    for (int j = 0; j < k->n_bindings; j++) {
        const vplan_binding *binding = &c->plan.bindings[k->first_binding + j];
        bound b = { VK_NULL_HANDLE, 0, 0 };
        int view = binding->memory >= 0 && is_view(&c->plan.memories[binding->memory]);
        if (!view) bind_memory(c, binding->memory, c->v->kernels[kernel].shape.by_words, &b);
        out[j].buffer = b.buffer;
        out[j].view = view ? image_of(c, &c->plan.memories[binding->memory])->view : VK_NULL_HANDLE;
        out[j].first = b.offset;
        out[j].end = b.offset + b.bytes;
        out[j].is_written = binding->is_written;
    }
    return k->n_bindings;
}

static inline int uses_clash(const use *a, const use *b)
{
    if (!a->is_written && !b->is_written) return 0;
    if (a->view || b->view) return a->view == b->view;
    return a->buffer == b->buffer && a->first < b->end && b->first < a->end;
}

static inline int kernels_clash(const call *c, int a, int b)
{
    use of_a[VPLAN_BINDINGS_MOST], of_b[VPLAN_BINDINGS_MOST];
    int n_a = uses_of(c, a, of_a), n_b = uses_of(c, b, of_b);
    for (int i = 0; i < n_a; i++)
        for (int j = 0; j < n_b; j++) if (uses_clash(&of_a[i], &of_b[j])) return 1;
    return 0;
}

/* ---- commands ---------------------------------------------------------------------------------------------------- */

typedef struct recorder {
    const call      *c;
    VkCommandBuffer  commands;
    int64_t         *begins;                    /* per kernel, and at the end: how many workgroups come before */
    VkDescriptorSet *sets;                      /* per kernel of the slice */
    VkDescriptorSet *made;
    VkDescriptorSetLayout *layouts;
    uint32_t        *slots;                     /* those in the arguments buffer */
    int64_t          first, end;                /* workgroups of the slice */
    int              open;                      /* the first kernel that was dispatched since the last barrier, */
    int              last;                      /* and the last; -1: none */
    int              earlier;                   /* other slices may have work under way */
} recorder;

static inline int slice_has(const recorder *r, int kernel)
{
    return max64(r->first, r->begins[kernel]) < min64(r->end, r->begins[kernel + 1]);
}

static inline void barrier(recorder *r, VkPipelineStageFlags from, VkAccessFlags written)
{
    VkMemoryBarrier b = { .sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER, .srcAccessMask = written,
                          .dstAccessMask = VK_ACCESS_SHADER_READ_BIT | VK_ACCESS_SHADER_WRITE_BIT };
    r->c->v->vk.CmdPipelineBarrier(r->commands, from, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, 0, 1, &b, 0, NULL, 0, NULL);
}

/* Before a dispatch of `kernel`. Two dispatches of one kernel write different pixels of one binding: nothing says so to others, so
 * they get a barrier too. They are rare: a picture of more tiles than a dispatch may have, or a slice that ends in a row. */
static inline void wait_for_earlier(recorder *r, int kernel)
{
    int clash = r->earlier;
    for (int k = r->open; k <= r->last && !clash; k++)
        clash = !region_is_empty(&r->c->rectangles[k]) && kernels_clash(r->c, k, kernel);
    if (clash) barrier(r, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, VK_ACCESS_SHADER_WRITE_BIT);
    if (clash || r->last < 0) r->open = kernel;
    r->last = kernel;
    r->earlier = 0;
}

static inline void update(recorder *r, int64_t at, const uint32_t *words, int64_t n_words)
{
    const halo_vulkan_resources *to = r->c->resources;
    for (int64_t done = 0; done < n_words; done += UPDATE_WORDS_MOST) {
        VkDeviceSize bytes = 4 * (VkDeviceSize)min64(n_words - done, UPDATE_WORDS_MOST);
        r->c->v->vk.CmdUpdateBuffer(r->commands, to->scratch, to->scratch_offset + 4 * (VkDeviceSize)(at + done), bytes,
                                    words + done);
    }
}

static inline void record_arguments(recorder *r)
{
    const call *c = r->c;
    int64_t n_table = c->plan.header->n_table_words;
    if (c->argument_words == 0) return;
    update(r, 0, c->plan.table, n_table);
    update(r, n_table, r->slots, c->argument_words - n_table);
    barrier(r, VK_PIPELINE_STAGE_TRANSFER_BIT, VK_ACCESS_TRANSFER_WRITE_BIT);
}

/* Tiles from `at` on, `count` along each axis, in as many dispatches as the device's limits ask for. */
static inline void record_tiles(recorder *r, int kernel, const int64_t at[3], const int64_t count[3])
{
    const haloi_vulkan *v = r->c->v;
    int64_t most[3], from[3];
    for (int d = 0; d < 3; d++) {
        most[d] = v->about.limits.maxComputeWorkGroupCount[d];
        if (v->about.most_workgroups) most[d] = min64(most[d], v->about.most_workgroups);
    }
    for (from[2] = 0; from[2] < count[2]; from[2] += most[2])
    for (from[1] = 0; from[1] < count[1]; from[1] += most[1])
    for (from[0] = 0; from[0] < count[0]; from[0] += most[0]) {
        uint32_t base[3], n[3];
        for (int d = 0; d < 3; d++) {
            base[d] = (uint32_t)(at[d] + from[d]);
            n[d] = (uint32_t)min64(count[d] - from[d], most[d]);
        }
        wait_for_earlier(r, kernel);
        v->vk.CmdPushConstants(r->commands, v->kernels[kernel].layout, VK_SHADER_STAGE_COMPUTE_BIT, 4 * VPLAN_PUSH_tile_x,
                               sizeof base, base);
        v->vk.CmdDispatch(r->commands, n[0], n[1], n[2]);
    }
}

static inline void bind_kernel(recorder *r, int kernel)
{
    const haloi_vulkan *v = r->c->v;
    const vplan_kernel *k = &r->c->plan.kernels[kernel];
    uint32_t words[VPLAN_PUSH_MOST] = { 0 };
    uint32_t n = VPLAN_PUSH_slots;
    words[VPLAN_PUSH_arguments] = (uint32_t)slots_at(r->c, kernel);
    for (int j = 0; j < k->n_slots && !k->in_buffer; j++)
        words[n++] = slot_word(r->c, kernel, &r->c->plan.slots[k->first_slot + j]);
    v->vk.CmdBindPipeline(r->commands, VK_PIPELINE_BIND_POINT_COMPUTE, v->kernels[kernel].pipeline);
    v->vk.CmdBindDescriptorSets(r->commands, VK_PIPELINE_BIND_POINT_COMPUTE, v->kernels[kernel].layout, 0, 1, &r->sets[kernel], 0,
                                NULL);
    v->vk.CmdPushConstants(r->commands, v->kernels[kernel].layout, VK_SHADER_STAGE_COMPUTE_BIT, 0, 4 * n, words);
}

/* Workgroups [first, end) of a kernel's grid: the rest of a row, rows, slices of rows, and so back. */
static inline void record_kernel(recorder *r, int kernel, const tile_grid *g, int64_t first, int64_t end)
{
    int64_t row = g->count[0], plane = g->count[0] * g->count[1];
    bind_kernel(r, kernel);
    while (first < end) {
        int64_t at[3] = { first % row, first / row % g->count[1], first / plane }, count[3] = { 1, 1, 1 };
        if (at[0] || end - first < row) {
            count[0] = min64(row - at[0], end - first);
        } else if (at[1] || end - first < plane) {
            count[0] = row;
            count[1] = min64(g->count[1] - at[1], (end - first) / row);
        } else {
            count[0] = row;
            count[1] = g->count[1];
            count[2] = (end - first) / plane;
        }
        record_tiles(r, kernel, at, count);
        first += count[0] * count[1] * count[2];
    }
}

static inline void record_kernels(recorder *r)
{
    for (int k = 0; k < r->c->plan.header->n_kernels; k++) {
        tile_grid g = grid_of(r->c, k);
        int64_t begin = r->begins[k];
        if (slice_has(r, k)) record_kernel(r, k, &g, max64(r->first - begin, 0), min64(r->end, r->begins[k + 1]) - begin);
    }
}

#endif
