/* SPDX-License-Identifier: MIT
 * Pictures in memory: made, freed, turned upright. */
#include "runtime/image_io.h"

#include <stdlib.h>
#include <string.h>

size_t picture_bytes(const halo_picture *picture)
{
    size_t n_bytes = (size_t)halo_kind_bytes(picture->kind) * (size_t)picture->lanes;
    for (int32_t d = 0; d < picture->rank; d++)
        n_bytes *= (size_t)picture->image.extent[d];
    return n_bytes;
}

int halo_picture_new(halo_picture *picture, halo_kind kind, int32_t lanes, int32_t rank, const int32_t *extent)
{
    halo_picture made = {.kind = kind, .lanes = lanes, .rank = rank};
    uint64_t n_bytes = (uint64_t)halo_kind_bytes(kind) * (uint64_t)lanes;
    if (n_bytes == 0 || lanes < 1 || lanes > HALO_MAX_LANES || rank < 0 || rank > HALO_MAX_RANK)
        return HALO_ERROR_SIZE;
    for (int32_t d = 0; d < HALO_MAX_RANK; d++) {
        int32_t size = d < rank ? extent[d] : 1;
        if (size < 1)
            return HALO_ERROR_SIZE;
        made.image.extent[d] = size;
        made.image.stride[d] = (ptrdiff_t)n_bytes;
        if (n_bytes > (uint64_t)(PTRDIFF_MAX / 2) / (uint64_t)size)
            return HALO_ERROR_MEMORY;
        n_bytes *= (uint64_t)size;
    }
    made.image.data = calloc(1, (size_t)n_bytes);
    if (!made.image.data)
        return HALO_ERROR_MEMORY;
    *picture = made;
    return HALO_OK;
}

void halo_picture_release(halo_picture *picture)
{
    if (!picture)
        return;
    free(picture->image.data);
    metadata_free(picture->metadata);
    *picture = (halo_picture){0};
}

bool picture_new_2d(halo_picture *picture, halo_kind kind, int32_t lanes, uint64_t width, uint64_t height, halo_message *error)
{
    if (width == 0 || height == 0)
        return message_fail(error, "the picture is empty");
    if (width > INT32_MAX || height > INT32_MAX)
        return message_fail(error, "the picture is too large");
    int32_t extent[2] = {(int32_t)width, (int32_t)height};
    if (halo_picture_new(picture, kind, lanes, 2, extent) != HALO_OK)
        return message_fail(error, "out of memory for %lu x %lu pixels", (unsigned long)width, (unsigned long)height);
    return true;
}

void metadata_free(halo_metadata *metadata)
{
    if (!metadata)
        return;
    for (uint32_t i = 0; i < metadata->n_texts; i++) {
        free(metadata->texts[i].key);
        free(metadata->texts[i].value);
        free(metadata->texts[i].language);
        free(metadata->texts[i].translated_key);
    }
    free(metadata->texts);
    free(metadata->profile_name);
    free(metadata->profile);
    free(metadata);
}

/* EXIF's orientations as: is the stored picture turned (rows are columns), then mirrored in x, in y. */
bool picture_orient(halo_picture *picture, int orientation)
{
    if (orientation <= 1 || orientation > 8)
        return true;
    bool turned = orientation >= 5;
    bool mirror_x = orientation == 2 || orientation == 3 || orientation == 6 || orientation == 7;
    bool mirror_y = orientation == 3 || orientation == 4 || orientation == 7 || orientation == 8;
    int32_t width = picture->image.extent[turned ? 1 : 0], height = picture->image.extent[turned ? 0 : 1];
    halo_picture upright;
    int32_t extent[2] = {width, height};
    if (halo_picture_new(&upright, picture->kind, picture->lanes, 2, extent) != HALO_OK)
        return false;
    size_t pixel = (size_t)upright.image.stride[0];
    const ptrdiff_t *from_stride = picture->image.stride;
    for (int32_t y = 0; y < height; y++)
        for (int32_t x = 0; x < width; x++) {
            int32_t u = mirror_x ? width - 1 - x : x, v = mirror_y ? height - 1 - y : y;
            const char *from = (const char *)picture->image.data +
                               (turned ? v * from_stride[0] + u * from_stride[1] : u * from_stride[0] + v * from_stride[1]);
            memcpy((char *)upright.image.data + x * upright.image.stride[0] + y * upright.image.stride[1], from, pixel);
        }
    upright.metadata = picture->metadata;
    picture->metadata = NULL;
    halo_picture_release(picture);
    *picture = upright;
    return true;
}
