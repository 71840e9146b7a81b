/* SPDX-License-Identifier: MIT
 * dilate5_u8: the largest of 25 pixels, columns first. */
#include "bench/plain.h"

static uint8_t larger(uint8_t a, uint8_t b) { return a > b ? a : b; }

void plain(const halo_image *images)
{
    int width = images[0].extent[0], height = images[0].extent[1];
#pragma omp parallel for
    for (int y = 0; y < height; y++) {
        const uint8_t *in[5];
        uint8_t column[width + 4], *out = row_of(&images[1], y);
        for (int j = 0; j < 5; j++) in[j] = row_of(&images[0], clamp_index(y + j - 2, 0, height - 1));
        for (int x = 0; x < width; x++)
            column[x + 2] = larger(larger(larger(in[0][x], in[1][x]), larger(in[2][x], in[3][x])), in[4][x]);
        column[0] = column[1] = column[2];
        column[width + 3] = column[width + 2] = column[width + 1];
        for (int x = 0; x < width; x++)
            out[x] = larger(larger(larger(column[x], column[x + 1]), larger(column[x + 2], column[x + 3])), column[x + 4]);
    }
}
