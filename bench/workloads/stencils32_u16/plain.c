/* 32 filters of 5 x 5 pixels behind one another, modulo 2^16: the picture with 64 repeated pixels at each side, then each
 * filter down the columns into a row, and along the row, from one plane to the other. Each pass makes two pixels less. */
#include "bench/plain.h"

enum { STAGES = 32, PAD = 2 * STAGES };

static void enlarge(const halo_image *src, uint16_t *to, int width, int height)
{
    #pragma omp parallel for
    for (int y = 0; y < height; y++) {
        const uint16_t *from = row_of(src, clamp_index(y - PAD, 0, src->extent[1] - 1));
        for (int x = 0; x < width; x++)
            to[(size_t)y * (size_t)width + (size_t)x] = from[clamp_index(x - PAD, 0, src->extent[0] - 1)];
    }
}

static void filter_row(const uint16_t *from, int width, int pitch, uint16_t *middle, uint16_t *to)
{
    const uint16_t *a = from - 2 * pitch, *b = from - pitch, *c = from, *d = from + pitch, *e = from + 2 * pitch;
    for (int x = 0; x < width + 4; x++)
        middle[x] = (uint16_t)(a[x] + 2 * b[x] + 3 * c[x] + 4 * d[x] + 5 * e[x]);
    for (int x = 0; x < width; x++)
        to[x] = (uint16_t)(middle[x] + 2 * middle[x + 1] + 3 * middle[x + 2] + 4 * middle[x + 3] + 5 * middle[x + 4]);
}

void plain(const halo_image *images)
{
    const halo_image *src = &images[0], *out = &images[1];
    int       width = src->extent[0] + 2 * PAD, height = src->extent[1] + 2 * PAD;
    size_t    size = (size_t)width * (size_t)height;
    uint16_t *from = malloc(sizeof(uint16_t) * 2 * size), *to = from + size, *both = from;
    enlarge(src, from, width, height);
    #pragma omp parallel
    {
        uint16_t *middle = malloc(sizeof(uint16_t) * (size_t)width);
        for (int stage = 0; stage < STAGES; stage++) {
            int             side = 2 * stage;
            const uint16_t *f = stage % 2 ? to : from;
            uint16_t       *t = stage % 2 ? from : to;
            #pragma omp for
            for (int y = side + 2; y < height - side - 2; y++) {
                uint16_t *row = stage == STAGES - 1 ? row_of(out, y - PAD)
                                                    : t + (size_t)y * (size_t)width + (size_t)(side + 2);
                filter_row(f + (size_t)y * (size_t)width + (size_t)side, width - 2 * side - 4, width, middle, row);
            }
        }
        free(middle);
    }
    free(both);
}
