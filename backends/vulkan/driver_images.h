/* SPDX-License-Identifier: MIT
 * The host's pictures: what is checked before anything is recorded, and which bytes of a buffer a kernel is given. */
#ifndef HALO_BACKENDS_VULKAN_DRIVER_IMAGES_H
#define HALO_BACKENDS_VULKAN_DRIVER_IMAGES_H

#include "backends/common/footprint.h"
#include "backends/vulkan/driver_plan.h"

static inline int64_t rounded_down_to(int64_t n, int64_t to) { return n - (n % to + to) % to; }      /* to > 0 */
static inline int64_t rounded_up_to(int64_t n, int64_t to) { return -rounded_down_to(-n, to); }

static inline int64_t host_stride(const vplan_memory *m, const halo_vulkan_image *image, int axis)
{
    return axis < image_rank(m) ? image->stride[axis] : 0;
}

/* ---- shape -------------------------------------------------------------------------------------------- */

static inline int check_extents(const call *c, const vplan_memory *m, const halo_vulkan_image *image)
{
    for (int d = 0; d < image_rank(m); d++) if (image->extent[d] != image_extent(c, m, d)) return HALO_ERROR_SIZE;
    return HALO_OK;
}

static inline int check_strides(const call *c, const vplan_memory *m, const halo_vulkan_image *image)
{
    int64_t extent[5];
    int rank = image_rank(m);
    for (int d = 0; d < rank; d++) extent[d] = image_extent(c, m, d);
    if (image->offset % (uint64_t)m->component_bytes) return HALO_ERROR_STRIDE;
    if (!strides_are_whole(image->stride, extent, rank, m->component_bytes)) return HALO_ERROR_STRIDE;
    if (m->role == VPLAN_ROLE_output && pixels_overlap(image->stride, extent, rank, pixel_bytes(m))) return HALO_ERROR_STRIDE;
    return HALO_OK;
}

static inline int check_image(const call *c, const vplan_memory *m, const region *used)
{
    const halo_vulkan_image *image = image_of(c, m);
    if (!image) return HALO_ERROR_NULL;
    int code = check_extents(c, m, image);
    if (code) return code;
    if (is_view(m)) return image->view ? HALO_OK : HALO_ERROR_NULL;
    if (!image->buffer && !region_is_empty(used)) return HALO_ERROR_NULL;
    return check_strides(c, m, image);
}

/* ---- bytes -------------------------------------------------------------------------------------------- */

typedef struct byte_range { int64_t first, end; } byte_range;

static inline int64_t pixel_at(const call *c, const vplan_memory *m, const halo_vulkan_image *image, const region *r)
{
    int64_t at = (int64_t)image->offset;
    for (int d = 0; d < m->rank; d++) at += host_stride(m, image, d) * ((int64_t)r->axis[d].lo - bounds_of(c, m, d).lo);
    return at;
}

static inline byte_range bytes_of(const call *c, const vplan_memory *m, const halo_vulkan_image *image, const region *r)
{
    byte_range b = { pixel_at(c, m, image, r), 0 };
    b.end = b.first + pixel_bytes(m);
    for (int d = 0; d < image_rank(m); d++) {
        int64_t n = d < m->rank ? span_count(r->axis[d]) : m->lanes, span = host_stride(m, image, d) * (n - 1);
        if (span < 0) b.first += span;
        else b.end += span;
    }
    return b;
}

/* ---- by words ----------------------------------------------------------------------------------------- */

/* An output that is stored by words: pixels side by side, every row that is written begins at a word and ends at one, or where the
 * rest of the word is the library's. */
static inline int check_words(const call *c, const vplan_memory *m, const region *r)
{
    const halo_vulkan_image *image = image_of(c, m);
    int64_t row = span_count(r->axis[0]) * pixel_bytes(m);
    if (m->rank > 0 && span_count(r->axis[0]) > 1 && image->stride[0] != pixel_bytes(m)) return HALO_VULKAN_ERROR_WORDS;
    if (pixel_at(c, m, image, r) % 4) return HALO_VULKAN_ERROR_WORDS;
    for (int d = m->rank > 0; d < image_rank(m); d++) {
        int64_t n = d < m->rank ? span_count(r->axis[d]) : m->lanes;
        if (n > 1 && image->stride[d] % 4) return HALO_VULKAN_ERROR_WORDS;
    }
    int at_end = r->axis[0].hi == bounds_of(c, m, 0).hi;
    return row % 4 == 0 || (image->padded_rows && at_end) ? HALO_OK : HALO_VULKAN_ERROR_WORDS;
}

static inline int stored_by_words(const call *c, int32_t memory)
{
    const vulkan_plan *p = &c->plan;
    if (!is_narrow(&p->memories[memory])) return 0;
    for (int k = 0; k < p->header->n_kernels; k++)
        for (int j = 0; j < p->kernels[k].n_sinks; j++)
            if (p->sinks[p->kernels[k].first_sink + j] == memory) return c->v->kernels[k].shape.by_words;
    return 0;
}

/* ---- overlap -------------------------------------------------------------------------------------------- */

/* 0 when no byte of the picture is used. */
static inline int footprint_of(const call *c, int32_t memory, footprint *out)
{
    const vplan_memory *m = &c->plan.memories[memory];
    const region *r = &c->regions[memory];
    if (is_view(m) || region_is_empty(r)) return 0;
    const halo_vulkan_image *image = image_of(c, m);
    int64_t first = pixel_at(c, m, image, r), pixel = pixel_bytes(m);
    int words = m->role == VPLAN_ROLE_output && stored_by_words(c, memory) && m->rank > 0;
    out->n = 0;
    if (words) pixel = rounded_up_to(pixel * span_count(r->axis[0]), 4);      /* the padding is written too */
    for (int d = words; d < image_rank(m); d++) {
        int64_t n = d < m->rank ? span_count(r->axis[d]) : m->lanes, stride = image->stride[d];
        if (stride < 0) first += stride * (n - 1);
        if (n > 1) footprint_axis(out, magnitude(stride), n);
    }
    footprint_end(out, first, pixel);
    return 1;
}

static inline int images_meet(const call *c, int32_t output, int32_t other)
{
    const vplan_memory *a = &c->plan.memories[output], *b = &c->plan.memories[other];
    footprint fa, fb;
    if (is_view(a) || is_view(b)) return is_view(a) && is_view(b) && image_of(c, a)->view == image_of(c, b)->view;
    if (image_of(c, a)->buffer != image_of(c, b)->buffer) return 0;
    return footprint_of(c, output, &fa) && footprint_of(c, other, &fb) && footprints_meet(&fa, &fb);
}

static inline int check_overlaps(const call *c)
{
    const vulkan_plan *p = &c->plan;
    for (int o = 0; o < p->header->n_memories; o++) {
        if (p->memories[o].role != VPLAN_ROLE_output) continue;
        for (int k = 0; k < p->header->n_memories; k++) {
            const vplan_memory *m = &p->memories[k];
            if (k == o || m->role == VPLAN_ROLE_scratch || (m->role == VPLAN_ROLE_output && k < o)) continue;
            if (images_meet(c, o, k)) return HALO_ERROR_OVERLAP;
        }
    }
    return HALO_OK;
}

/* Scratch is nobody else's. */
static inline int check_scratch_apart(const call *c)
{
    int64_t first = c->resources ? (int64_t)c->resources->scratch_offset : 0, end = first + c->scratch_bytes;
    for (int k = 0; k < c->plan.header->n_memories && c->scratch_bytes > 0; k++) {
        const vplan_memory *m = &c->plan.memories[k];
        if (m->role == VPLAN_ROLE_scratch || is_view(m) || region_is_empty(&c->regions[k])) continue;
        if (image_of(c, m)->buffer != c->resources->scratch) continue;
        byte_range b = bytes_of(c, m, image_of(c, m), &c->regions[k]);
        if (b.first < end && first < b.end) return HALO_ERROR_OVERLAP;
    }
    return HALO_OK;
}

/* ---- what is bound -------------------------------------------------------------------------------------- */

/* The unit of offsets and strides of a memory in a kernel, in bytes. */
static inline int64_t element_bytes(const vplan_memory *m, int by_words)
{
    if (m->role == VPLAN_ROLE_scratch) return 4;
    return by_words && is_narrow(m) ? 1 : m->component_bytes;
}

static inline int64_t binding_alignment(const call *c)
{
    return max64((int64_t)c->v->about.limits.minStorageBufferOffsetAlignment, 4);
}

static inline int check_bound(const call *c, const bound *b, int64_t element)
{
    int fits = (uint64_t)b->bytes <= c->v->about.limits.maxStorageBufferRange && b->bytes / element <= INT32_MAX;
    return fits ? HALO_OK : HALO_VULKAN_ERROR_RANGE;
}

static inline int bind_scratch(const call *c, int64_t at, int64_t bytes, bound *out)
{
    out->buffer = c->resources->scratch;
    out->offset = (int64_t)c->resources->scratch_offset + at;
    out->bytes = bytes;
    return check_bound(c, out, 4);
}

static inline int64_t region_pixels(const region *r)      /* -1: too many to count */
{
    int64_t n = 1;
    for (int d = 0; d < 5; d++) {
        int64_t count = span_count(r->axis[d]);
        if (count > 0 && n > ((int64_t)1 << 40) / count) return -1;
        n *= count;
    }
    return n;
}

static inline int bind_picture(const call *c, const vplan_memory *m, const region *r, int by_words, bound *out)
{
    const halo_vulkan_image *image = image_of(c, m);
    byte_range b = bytes_of(c, m, image, r);
    if (by_words && is_narrow(m)) b = (byte_range){ rounded_down_to(b.first, 4), rounded_up_to(b.end, 4) };
    if (b.first < (int64_t)image->first || (uint64_t)(b.end - (int64_t)image->first) > image->size) return HALO_VULKAN_ERROR_BUFFER;
    out->buffer = image->buffer;
    out->offset = rounded_down_to(b.first, binding_alignment(c));
    out->bytes = b.end - out->offset;
    return check_bound(c, out, element_bytes(m, by_words));
}

/* Of memory without pixels one is read all the same, where values lie outside of it: every pixel is the one in the spare place. */
enum { SPARE_BYTES = 64 };

/* The bytes of a buffer for a memory of a kernel (not for views). */
static inline int bind_memory(const call *c, int32_t memory, int by_words, bound *out)
{
    if (memory < 0) return bind_scratch(c, 0, 4 * c->argument_words, out);
    const vplan_memory *m = &c->plan.memories[memory];
    const region *r = &c->regions[memory];
    if (region_is_empty(r)) return bind_scratch(c, c->spare, SPARE_BYTES, out);
    if (m->role == VPLAN_ROLE_scratch) return bind_scratch(c, c->scratch[memory], 4 * m->pixel_words * region_pixels(r), out);
    return bind_picture(c, m, r, by_words, out);
}

/* Strides of a memory in elements: dense in scratch. `component` is from plane to plane. */
static inline int64_t element_stride(const call *c, int32_t memory, int by_words, int axis)
{
    const vplan_memory *m = &c->plan.memories[memory];
    if (region_is_empty(&c->regions[memory])) return 0;
    if (m->role != VPLAN_ROLE_scratch) return host_stride(m, image_of(c, m), axis) / element_bytes(m, by_words);
    int64_t step = m->pixel_words;
    for (int d = 0; d < axis; d++) step *= span_count(c->regions[memory].axis[d]);
    return step;
}

/* Element number of the pixel at index 0 of the bounds, counted from the start of what is bound. */
static inline int64_t element_offset(const call *c, int32_t memory, int by_words)
{
    const vplan_memory *m = &c->plan.memories[memory];
    const region *r = &c->regions[memory];
    bound b;
    if (region_is_empty(r)) return 0;
    if (m->role != VPLAN_ROLE_scratch) {
        bind_picture(c, m, r, by_words, &b);
        return ((int64_t)image_of(c, m)->offset - b.offset) / element_bytes(m, by_words);
    }
    int64_t at = 0;
    for (int d = 0; d < m->rank; d++)
        at -= element_stride(c, memory, by_words, d) * ((int64_t)r->axis[d].lo - bounds_of(c, m, d).lo);
    return at;
}

#endif
