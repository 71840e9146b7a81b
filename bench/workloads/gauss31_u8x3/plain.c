/* A Gaussian of 31 taps, sigma 5: down the columns into a row, then along the row. */
#include "bench/plain.h"

enum { R = 15, TAPS = 2 * R + 1 };

void plain(const halo_image *images)
{
    const halo_image *src = &images[0], *out = &images[1];
    int width = src->extent[0], height = src->extent[1];
    float w[TAPS], total = 0;
    for (int i = 0; i < TAPS; i++)
        total += w[i] = plain_exp((float)-((i - R) * (i - R)) / 50.0f);
    for (int i = 0; i < TAPS; i++)
        w[i] /= total;
    #pragma omp parallel
    {
        float *middle = malloc(sizeof(float) * 3 * (size_t)(width + 2 * R)), *line = middle + 3 * R;
        float *sum = malloc(sizeof(float) * 3 * (size_t)width);
        #pragma omp for
        for (int y = 0; y < height; y++) {
            for (int j = 0; j < TAPS; j++) {
                const uint8_t *row = row_of(src, clamp_index(y + j - R, 0, height - 1));
                for (int i = 0; i < 3 * width; i++)
                    line[i] = j == 0 ? w[0] * row[i] : fmaf(w[j], row[i], line[i]);
            }
            for (int i = 0; i < 3 * R; i++) {
                middle[i] = line[i % 3];
                line[3 * width + i] = line[3 * width - 3 + i % 3];
            }
            uint8_t *to = row_of(out, y);
            for (int j = 0; j < TAPS; j++)
                for (int i = 0; i < 3 * width; i++)
                    sum[i] = j == 0 ? w[0] * middle[i] : fmaf(w[j], middle[i + 3 * j], sum[i]);
            for (int i = 0; i < 3 * width; i++)
                to[i] = plain_u8(sum[i]);
        }
        free(sum);
        free(middle);
    }
}
