/* 43 taps in Q16, down the columns into a row, then along the row; each sum is rounded to whole numbers. */
#include "bench/plain.h"

enum { R = 21, TAPS = 2 * R + 1 };

static const int32_t weight[TAPS] = {
    42, 63, 94, 137, 196, 275, 377, 507, 667, 861, 1089, 1349, 1638, 1948, 2270, 2592, 2900, 3179, 3414, 3593, 3705, 3744,
    3705, 3593, 3414, 3179, 2900, 2592, 2270, 1948, 1638, 1349, 1089, 861, 667, 507, 377, 275, 196, 137, 94, 63, 42};

void plain(const halo_image *images)
{
    const halo_image *src = &images[0], *out = &images[1];
    int width = src->extent[0], height = src->extent[1];
    #pragma omp parallel
    {
        int32_t *middle = malloc(sizeof(int32_t) * (size_t)(width + 2 * R)), *line = middle + R;
        int32_t *sum = malloc(sizeof(int32_t) * (size_t)width);
        #pragma omp for
        for (int y = 0; y < height; y++) {
            for (int j = 0; j < TAPS; j++) {
                const uint8_t *row = row_of(src, clamp_index(y + j - R, 0, height - 1));
                for (int x = 0; x < width; x++)
                    line[x] = (j == 0 ? 32768 : line[x]) + weight[j] * row[x];
            }
            for (int x = 0; x < width; x++)
                line[x] >>= 16;
            for (int i = 0; i < R; i++) {
                middle[i] = line[0];
                line[width + i] = line[width - 1];
            }
            for (int j = 0; j < TAPS; j++)
                for (int x = 0; x < width; x++)
                    sum[x] = (j == 0 ? 32768 : sum[x]) + weight[j] * middle[x + j];
            uint8_t *to = row_of(out, y);
            for (int x = 0; x < width; x++)
                to[x] = (uint8_t)(sum[x] >> 16 > 255 ? 255 : sum[x] >> 16);
        }
        free(sum);
        free(middle);
    }
}
