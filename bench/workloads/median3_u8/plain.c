/* SPDX-License-Identifier: MIT
 * median3_u8: the columns are put in order; the median is the middle one of the largest of the least, the middle of
 * the middle and the least of the largest of three columns. */
#include "bench/plain.h"

static uint8_t least(uint8_t a, uint8_t b) { return a < b ? a : b; }
static uint8_t most(uint8_t a, uint8_t b) { return a > b ? a : b; }
static uint8_t middle(uint8_t a, uint8_t b, uint8_t c) { return most(least(a, b), least(most(a, b), c)); }

void plain(const halo_image *images)
{
    int width = images[0].extent[0], height = images[0].extent[1];
#pragma omp parallel for
    for (int y = 0; y < height; y++) {
        const uint8_t *a = row_of(&images[0], clamp_index(y - 1, 0, height - 1)), *b = row_of(&images[0], y);
        const uint8_t *c = row_of(&images[0], clamp_index(y + 1, 0, height - 1));
        uint8_t low[width + 2], mid[width + 2], high[width + 2], *out = row_of(&images[1], y);
        for (int x = 0; x < width; x++) {
            low[x + 1] = least(least(a[x], b[x]), c[x]);
            mid[x + 1] = middle(a[x], b[x], c[x]);
            high[x + 1] = most(most(a[x], b[x]), c[x]);
        }
        low[0] = low[1], mid[0] = mid[1], high[0] = high[1];
        low[width + 1] = low[width], mid[width + 1] = mid[width], high[width + 1] = high[width];
        for (int x = 0; x < width; x++)
            out[x] = middle(most(most(low[x], low[x + 1]), low[x + 2]), middle(mid[x], mid[x + 1], mid[x + 2]),
                            least(least(high[x], high[x + 1]), high[x + 2]));
    }
}
