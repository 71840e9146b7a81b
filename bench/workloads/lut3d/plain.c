/* SPDX-License-Identifier: MIT
 * lut3d: eight entries of the table around each colour, the nearer ones counting more. */
#include "bench/plain.h"

enum { SIZE = 33 };

void plain(const halo_image *images)
{
    int width = images[0].extent[0], height = images[0].extent[1];
    const char *table = images[1].data;
    const ptrdiff_t *stride = images[1].stride;
#pragma omp parallel for
    for (int y = 0; y < height; y++) {
        const uint8_t *in = row_of(&images[0], y);
        uint8_t *out = row_of(&images[2], y);
        for (int x = 0; x < width; x++, in += 3, out += 3) {
            float t[3];
            ptrdiff_t at[3], step[3];
            for (int c = 0; c < 3; c++) {
                float place = in[c] / 255.0f * 32, whole = floorf(place);
                t[c] = place - whole;
                at[c] = (int)whole * stride[c];
                step[c] = whole < SIZE - 1 ? stride[c] : 0;
            }
            const char *corner = table + at[0] + at[1] + at[2];
            for (int c = 0; c < 3; c++) {
                float plane[2];
                for (int b = 0; b < 2; b++) {
                    const char *p = corner + b * step[2] + 4 * c;
                    float row0 = plain_mix(*(const float *)p, *(const float *)(p + step[0]), t[0]);
                    p += step[1];
                    float row1 = plain_mix(*(const float *)p, *(const float *)(p + step[0]), t[0]);
                    plane[b] = plain_mix(row0, row1, t[1]);
                }
                out[c] = plain_u8(plain_mix(plane[0], plane[1], t[2]) * 255.0f);
            }
        }
    }
}
