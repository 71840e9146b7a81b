/* SPDX-License-Identifier: MIT
 * median5_u8: each round takes the least and the largest of the values at hand away, neither of which can be the median, and
 * takes one more in. Done for 64 pixels at a time. */
#include "bench/plain.h"

enum { SIZE = 5, COUNT = SIZE * SIZE, START = COUNT / 2 + 2, BLOCK = 64 };

typedef uint8_t block[BLOCK];

static void order(uint8_t *restrict a, uint8_t *restrict b)
{
    for (int x = 0; x < BLOCK; x++) {
        uint8_t low = a[x] < b[x] ? a[x] : b[x], high = a[x] < b[x] ? b[x] : a[x];
        a[x] = low, b[x] = high;
    }
}

/* The least of `count` values comes first, the largest last. */
static void extremes(block *v, int count)
{
    for (int i = 0; i < count / 2; i++) order(v[i], v[count - 1 - i]);
    for (int i = 1; i < (count + 1) / 2; i++) order(v[0], v[i]);
    for (int i = count / 2; i < count - 1; i++) order(v[i], v[count - 1]);
}

static void load(const halo_image *src, int x, int y, int n, block to)
{
    int width = src->extent[0], i = n % SIZE - 2, j = n / SIZE - 2;
    const uint8_t *in = row_of(src, clamp_index(y + j, 0, src->extent[1] - 1));
    if (x + i >= 0 && x + i + BLOCK <= width) memcpy(to, in + x + i, BLOCK);
    else for (int k = 0; k < BLOCK; k++) to[k] = in[clamp_index(x + i + k, 0, width - 1)];
}

static void medians(const halo_image *src, int x, int y, block median)
{
    block v[START];
    for (int n = 0; n < START; n++) load(src, x, y, n, v[n]);
    for (int count = START; count > 3; count--) {
        extremes(v, count);
        load(src, x, y, COUNT + 3 - count, v[0]);
    }
    extremes(v, 3);
    memcpy(median, v[1], BLOCK);
}

void plain(const halo_image *images)
{
    int width = images[0].extent[0], height = images[0].extent[1];
#pragma omp parallel for
    for (int y = 0; y < height; y++) {
        uint8_t *out = row_of(&images[1], y);
        for (int x = 0; x < width; x += BLOCK) {
            block median;
            medians(&images[0], x, y, median);
            memcpy(out + x, median, x + BLOCK <= width ? BLOCK : width - x);
        }
    }
}
