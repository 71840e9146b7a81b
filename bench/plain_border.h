/* SPDX-License-Identifier: MIT
 * The 5 x 5 binomial blur of the border rows, under whichever border is defined: BORDER_edge, BORDER_reflect, ... */
#include "bench/plain.h"

enum { OUTSIDE = -1, CONSTANT = 40 };

/* Where the border takes coordinate i of 0..<n from; pictures are larger than the kernel here. */
static int source_of(int i, int n)
{
    if (i >= 0 && i < n)
        return i;
#if defined BORDER_edge
    return i < 0 ? 0 : n - 1;
#elif defined BORDER_reflect
    return i < 0 ? -1 - i : 2 * n - 1 - i;
#elif defined BORDER_reflect101
    return i < 0 ? -i : 2 * n - 2 - i;
#elif defined BORDER_wrap
    return i < 0 ? i + n : i - n;
#else
    return OUTSIDE;
#endif
}

/* Every sum is exact in integers, and in f32 just the same. */
static int sum_along(const halo_image *src, int x, int y, int c)
{
    static const int weights[5] = {1, 4, 6, 4, 1};
    int sum = 0;
    for (int j = -2; j <= 2; j++) {
        int from_y = source_of(y + j, src->extent[1]);
        for (int i = -2; i <= 2; i++) {
            int from_x = source_of(x + i, src->extent[0]);
            int v = from_x == OUTSIDE || from_y == OUTSIDE ? CONSTANT : ((const uint8_t *)row_of(src, from_y))[3 * from_x + c];
            sum += weights[j + 2] * weights[i + 2] * v;
        }
    }
    return sum;
}

void plain(const halo_image *images)
{
    const halo_image *src = &images[0], *out = &images[2];
#pragma omp parallel for
    for (int y = 0; y < out->extent[1]; y++) {
        uint8_t *to = row_of(out, y);
        for (int i = 0; i < 3 * out->extent[0]; i++)
            to[i] = plain_u8((float)sum_along(src, i / 3, y, i % 3) / 256);
    }
}
