/* SPDX-License-Identifier: MIT
 * median5_u8: 25 pixels in the order of a network that leaves the middle one at its place (Paeth, "Median finding on a
 * 3x3 grid", and its kin: of k values, one less than half of them may be forgotten from either end at a time). */
#include "bench/plain.h"

enum { SIZE = 5, COUNT = SIZE * SIZE };

static void order(uint8_t *a, uint8_t *b)
{
    uint8_t low = *a < *b ? *a : *b, high = *a < *b ? *b : *a;
    *a = low, *b = high;
}

/* The least of v[from .. to] comes to v[from], the largest to v[to]. */
static void extremes(uint8_t *v, int from, int to)
{
    for (int i = from, k = to; i < k; i++, k--) order(&v[i], &v[k]);
    for (int i = from + 1; i <= (from + to) / 2; i++) order(&v[from], &v[i]);
    for (int i = (from + to + 1) / 2; i < to; i++) order(&v[i], &v[to]);
}

/* 14 of 25 values: neither the least nor the largest of them is the median. Each round forgets both and takes in another. */
static uint8_t median(const uint8_t *value)
{
    uint8_t v[COUNT / 2 + 2];
    int count = COUNT / 2 + 2;
    for (int i = 0; i < count; i++) v[i] = value[i];
    for (int next = count; next < COUNT; next++) {
        extremes(v, 0, count - 1);
        v[0] = value[next];
        count--;
    }
    extremes(v, 0, 2);
    return v[1];
}

void plain(const halo_image *images)
{
    int width = images[0].extent[0], height = images[0].extent[1];
#pragma omp parallel for
    for (int y = 0; y < height; y++) {
        const uint8_t *in[SIZE];
        uint8_t *out = row_of(&images[1], y);
        for (int j = 0; j < SIZE; j++) in[j] = row_of(&images[0], clamp_index(y + j - 2, 0, height - 1));
        for (int x = 0; x < width; x++) {
            uint8_t value[COUNT];
            for (int j = 0; j < SIZE; j++)
                for (int i = 0; i < SIZE; i++) value[j * SIZE + i] = in[j][clamp_index(x + i - 2, 0, width - 1)];
            out[x] = median(value);
        }
    }
}
