/* SPDX-License-Identifier: MIT
 * Pictures between the host's memory, with any strides, and buffers, where they are dense and rows begin at whole words: so
 * devices that address nothing smaller than words can write them. */
#include "runtime/vulkan.h"

#include <string.h>

vulkan_picture vulkan_picture_of(const int32_t *extent, int32_t pixel_bytes)
{
    vulkan_picture p = {.pixel_bytes = pixel_bytes};
    int64_t step = pixel_bytes;
    for (int d = 0; d < HALO_MAX_RANK; d++) {
        p.extent[d] = extent[d];
        p.stride[d] = step;
        step *= extent[d];
        if (d == 0)
            step = (step + 3) / 4 * 4;
    }
    p.bytes = (VkDeviceSize)step;
    return p;
}

static halo_part whole_of(const vulkan_picture *p)
{
    halo_part all = {0};
    memcpy(all.extent, p->extent, sizeof all.extent);
    return all;
}

void vulkan_picture_range(const vulkan_picture *p, const halo_part *part, VkDeviceSize *first, VkDeviceSize *count)
{
    halo_part all = whole_of(p);
    part = part ? part : &all;
    int64_t start = 0, end = p->pixel_bytes;
    for (int d = 0; d < HALO_MAX_RANK; d++) {
        start += part->start[d] * p->stride[d];
        end += (part->start[d] + part->extent[d] - 1) * p->stride[d];
    }
    *first = (VkDeviceSize)start / 4 * 4;
    *count = (VkDeviceSize)(end + 3) / 4 * 4 - *first;
}

static void copy_row(char *to, ptrdiff_t to_stride, const char *from, ptrdiff_t from_stride, int32_t n, size_t bytes)
{
    if (to_stride == (ptrdiff_t)bytes && from_stride == (ptrdiff_t)bytes) {
        memcpy(to, from, (size_t)n * bytes);
        return;
    }
    for (int32_t i = 0; i < n; i++)
        memcpy(to + i * to_stride, from + i * from_stride, bytes);
}

/* All rows of a part, from one side to the other: where each begins is a sum over the dimensions beyond the first. */
static void copy_rows(const vulkan_picture *p, const halo_part *part, const halo_image *image, char *buffer, bool to_buffer)
{
    int32_t at[HALO_MAX_RANK] = {0};
    for (;;) {
        int64_t in_buffer = part->start[0] * p->stride[0];
        ptrdiff_t in_image = part->start[0] * image->stride[0];
        for (int d = 1; d < HALO_MAX_RANK; d++) {
            in_buffer += (part->start[d] + at[d]) * p->stride[d];
            in_image += (part->start[d] + at[d]) * image->stride[d];
        }
        char *row = buffer + in_buffer, *pixels = (char *)image->data + in_image;
        if (to_buffer)
            copy_row(row, p->stride[0], pixels, image->stride[0], part->extent[0], (size_t)p->pixel_bytes);
        else
            copy_row(pixels, image->stride[0], row, p->stride[0], part->extent[0], (size_t)p->pixel_bytes);
        int d = 1;
        while (d < HALO_MAX_RANK && ++at[d] == part->extent[d])
            at[d++] = 0;
        if (d == HALO_MAX_RANK)
            return;
    }
}

void vulkan_picture_upload(const vulkan_picture *p, const halo_part *part, const halo_image *from, void *to)
{
    halo_part all = whole_of(p);
    copy_rows(p, part ? part : &all, from, to, true);
}

void vulkan_picture_download(const vulkan_picture *p, const halo_part *part, const void *from, const halo_image *to)
{
    halo_part all = whole_of(p);
    copy_rows(p, part ? part : &all, to, (char *)from, false);
}
