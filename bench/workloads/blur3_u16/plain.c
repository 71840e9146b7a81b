/* Thirds of three pixels along the row, then thirds of three rows of those. */
#include "bench/plain.h"

void plain(const halo_image *images)
{
    const halo_image *src = &images[0], *out = &images[1];
    int width = src->extent[0], height = src->extent[1];
    #pragma omp parallel
    {
        uint16_t *third[3];
        for (int j = 0; j < 3; j++)
            third[j] = malloc(sizeof(uint16_t) * (size_t)width);
        #pragma omp for
        for (int y = 0; y < height; y++) {
            for (int j = 0; j < 3; j++) {
                const uint16_t *in = row_of(src, clamp_index(y + j - 1, 0, height - 1));
                for (int x = 1; x < width - 1; x++)
                    third[j][x] = (uint16_t)((in[x - 1] + in[x] + in[x + 1]) / 3);
                int last = width - 1;
                third[j][0] = (uint16_t)((2 * in[0] + in[width > 1]) / 3);
                third[j][last] = (uint16_t)((in[last - (width > 1)] + 2 * in[last]) / 3);
            }
            uint16_t *to = row_of(out, y);
            for (int x = 0; x < width; x++)
                to[x] = (uint16_t)((third[0][x] + third[1][x] + third[2][x]) / 3);
        }
        for (int j = 0; j < 3; j++)
            free(third[j]);
    }
}
