/* Binomial blur of 5 x 5 pixels: down the columns into a row, then along the row. Every sum is exact in f32. */
#include "bench/plain.h"

void plain(const halo_image *images)
{
    const halo_image *src = &images[0], *out = &images[1];
    int width = src->extent[0], height = src->extent[1];
    #pragma omp parallel
    {
        float *middle = malloc(sizeof(float) * 3 * (size_t)(width + 4));
        #pragma omp for
        for (int y = 0; y < height; y++) {
            const uint8_t *a = row_of(src, clamp_index(y - 2, 0, height - 1)), *b = row_of(src, clamp_index(y - 1, 0, height - 1));
            const uint8_t *c = row_of(src, y);
            const uint8_t *d = row_of(src, clamp_index(y + 1, 0, height - 1)), *e = row_of(src, clamp_index(y + 2, 0, height - 1));
            for (int i = 0; i < 3 * width; i++)
                middle[6 + i] = (float)(a[i] + e[i] + 4 * (b[i] + d[i]) + 6 * c[i]);
            for (int i = 0; i < 6; i++) {
                middle[i] = middle[6 + i % 3];
                middle[6 + 3 * width + i] = middle[3 + 3 * width + i % 3];
            }
            uint8_t *to = row_of(out, y);
            for (int i = 0; i < 3 * width; i++) {
                const float *m = middle + i;
                to[i] = plain_u8((m[0] + m[12] + 4 * (m[3] + m[9]) + 6 * m[6]) / 256);
            }
        }
        free(middle);
    }
}
