/* SPDX-License-Identifier: MIT
 * tone: a chain on each pixel. All but the saturation is a table of the 256 values. */
#include "bench/plain.h"

static float filmic(float v)
{
    return plain_clamp(v * fmaf(2.51f, v, 0.03f) / fmaf(v, fmaf(2.43f, v, 0.59f), 0.14f), 0, 1);
}

static float display_of(int v)
{
    float light = plain_srgb_to_linear(v / 255.0f) * plain_exp2(0.7f);
    return fmaf(plain_linear_to_srgb(filmic(light)) - 0.5f, 1.15f, 0.5f);
}

void plain(const halo_image *images)
{
    float display[256];
    for (int v = 0; v < 256; v++) display[v] = display_of(v);
    int width = images[0].extent[0], height = images[0].extent[1];
#pragma omp parallel for
    for (int y = 0; y < height; y++) {
        const uint8_t *in = row_of(&images[0], y);
        uint8_t *out = row_of(&images[1], y);
        for (int x = 0; x < width; x++, in += 3, out += 3) {
            float r = display[in[0]], g = display[in[1]], b = display[in[2]], grey = plain_luma(r, g, b);
            out[0] = plain_u8(fmaf(r - grey, 1.2f, grey) * 255.0f);
            out[1] = plain_u8(fmaf(g - grey, 1.2f, grey) * 255.0f);
            out[2] = plain_u8(fmaf(b - grey, 1.2f, grey) * 255.0f);
        }
    }
}
