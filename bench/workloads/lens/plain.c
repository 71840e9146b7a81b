/* SPDX-License-Identifier: MIT
 * lens: each pixel from the four around its place in the distorted picture. */
#include "bench/plain.h"

static float pixel(const halo_image *a, int x, int y, int c)
{
    int inside = x >= 0 && x < a->extent[0] && y >= 0 && y < a->extent[1];
    return inside ? ((const uint8_t *)a->data)[x * a->stride[0] + y * a->stride[1] + c] : 0;
}

void plain(const halo_image *images)
{
    int width = images[0].extent[0], height = images[0].extent[1];
    float cx = (width - 1) / 2.0f, cy = (height - 1) / 2.0f;
    float corner = plain_max(fmaf(cy, cy, cx * cx), 0.25f);
#pragma omp parallel for
    for (int y = 0; y < height; y++) {
        uint8_t *out = row_of(&images[1], y);
        for (int x = 0; x < width; x++, out += 3) {
            float dx = x - cx, dy = y - cy, r2 = fmaf(dy, dy, dx * dx) / corner;
            float stretch = fmaf(r2, fmaf(0.02f, r2, -0.1f), 1.0f);
            float u = fmaf(dx, stretch, cx), v = fmaf(dy, stretch, cy);
            int left = (int)floorf(u), top = (int)floorf(v);
            for (int c = 0; c < 3; c++) {
                float row0 = plain_mix(pixel(images, left, top, c), pixel(images, left + 1, top, c), u - left);
                float row1 = plain_mix(pixel(images, left, top + 1, c), pixel(images, left + 1, top + 1, c), u - left);
                out[c] = plain_u8(plain_mix(row0, row1, v - top));
            }
        }
    }
}
