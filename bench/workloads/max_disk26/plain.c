/* SPDX-License-Identifier: MIT
 * max_disk26: the largest of the 2121 pixels of a disk, row by row of it. */
#include "bench/plain.h"

enum { RADIUS = 26 };

/* Widens `best` by what the row `in` has up to `reach` pixels to either side. */
static void widen(const float *in, int width, int reach, float *best)
{
    for (int i = -reach; i <= reach; i++) {
        int from = i < 0 ? -i : 0, to = i < 0 ? width : width - i;
        for (int x = from; x < to; x++) best[x] = best[x] > in[x + i] ? best[x] : in[x + i];
    }
}

void plain(const halo_image *images)
{
    int width = images[0].extent[0], height = images[0].extent[1];
#pragma omp parallel for
    for (int y = 0; y < height; y++)
        for (int c = 0; c < 3; c++) {
            float *out = plane_row(&images[1], y, c);
            for (int x = 0; x < width; x++) out[x] = -INFINITY;
            for (int j = -RADIUS; j <= RADIUS; j++) {
                int reach = (int)sqrtf(RADIUS * RADIUS - j * j);
                if (y + j >= 0 && y + j < height) widen(plane_row(&images[0], y + j, c), width, reach, out);
            }
        }
}
