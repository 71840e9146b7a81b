/* The sum of both Sobel derivatives, saturated. */
#include "bench/plain.h"

void plain(const halo_image *images)
{
    const halo_image *src = &images[0], *out = &images[1];
    int width = src->extent[0], height = src->extent[1];
    #pragma omp parallel
    {
        uint8_t *row[3];
        for (int j = 0; j < 3; j++)
            row[j] = malloc((size_t)width + 2);
        #pragma omp for
        for (int y = 0; y < height; y++) {
            for (int j = 0; j < 3; j++) {
                const uint8_t *from = row_of(src, clamp_index(y + j - 1, 0, height - 1));
                for (int x = 0; x < width; x++)
                    row[j][x + 1] = from[x];
                row[j][0] = from[0];
                row[j][width + 1] = from[width - 1];
            }
            const uint8_t *a = row[0], *b = row[1], *c = row[2];
            uint8_t       *to = row_of(out, y);
            for (int x = 0; x < width; x++) {
                int gx = (a[x + 2] - a[x]) + 2 * (b[x + 2] - b[x]) + (c[x + 2] - c[x]);
                int gy = (c[x] - a[x]) + 2 * (c[x + 1] - a[x + 1]) + (c[x + 2] - a[x + 2]);
                int sum = abs(gx) + abs(gy);
                to[x] = (uint8_t)(sum > 255 ? 255 : sum);
            }
        }
        for (int j = 0; j < 3; j++)
            free(row[j]);
    }
}
