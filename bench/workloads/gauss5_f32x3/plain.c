/* Binomial blur of 5 x 5 pixels: down the columns into a row, then along the row. */
#include "bench/plain.h"

void plain(const halo_image *images)
{
    const halo_image *src = &images[0], *out = &images[1];
    static const float tall[5] = {1 / 256.0f, 4 / 256.0f, 6 / 256.0f, 4 / 256.0f, 1 / 256.0f}, wide[5] = {1, 4, 6, 4, 1};
    int width = src->extent[0], height = src->extent[1];
    #pragma omp parallel
    {
        float *middle = malloc(sizeof(float) * 3 * (size_t)(width + 4));
        #pragma omp for
        for (int y = 0; y < height; y++) {
            const float *row[5];
            for (int j = 0; j < 5; j++)
                row[j] = row_of(src, clamp_index(y + j - 2, 0, height - 1));
            for (int i = 0; i < 3 * width; i++) {
                float sum = tall[0] * row[0][i];
                for (int j = 1; j < 5; j++)
                    sum = fmaf(tall[j], row[j][i], sum);
                middle[6 + i] = sum;
            }
            for (int i = 0; i < 6; i++) {
                middle[i] = middle[6 + i % 3];
                middle[6 + 3 * width + i] = middle[3 + 3 * width + i % 3];
            }
            float *to = row_of(out, y);
            for (int i = 0; i < 3 * width; i++) {
                float sum = wide[0] * middle[i];
                for (int j = 1; j < 5; j++)
                    sum = fmaf(wide[j], middle[i + 3 * j], sum);
                to[i] = sum;
            }
        }
        free(middle);
    }
}
