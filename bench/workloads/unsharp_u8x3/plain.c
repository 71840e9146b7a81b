/* Sharpen brightness: a plane of grey, its Gaussian by columns and rows, then the detail added to each component. */
#include "bench/plain.h"

enum { R = 3, TAPS = 2 * R + 1 };

static void grey_plane(const halo_image *src, float *grey)
{
    int width = src->extent[0], height = src->extent[1];
    #pragma omp parallel for
    for (int y = 0; y < height; y++) {
        const uint8_t *p = row_of(src, y);
        for (int x = 0; x < width; x++, p += 3)
            grey[(size_t)y * (size_t)width + (size_t)x] = fmaf(p[2], 0.114f, fmaf(p[1], 0.587f, (float)p[0] * 0.299f));
    }
}

void plain(const halo_image *images)
{
    const halo_image *src = &images[0], *out = &images[1];
    int width = src->extent[0], height = src->extent[1];
    float *grey = malloc(sizeof(float) * (size_t)width * (size_t)height), w[TAPS], total = 0;
    for (int i = 0; i < TAPS; i++)
        total += w[i] = plain_exp((float)-((i - R) * (i - R)) / 4.5f);
    for (int i = 0; i < TAPS; i++)
        w[i] /= total;
    grey_plane(src, grey);
    #pragma omp parallel
    {
        float *middle = malloc(sizeof(float) * (size_t)(width + 2 * R));
        #pragma omp for
        for (int y = 0; y < height; y++) {
            const float *row[TAPS];
            for (int j = 0; j < TAPS; j++)
                row[j] = grey + (size_t)clamp_index(y + j - R, 0, height - 1) * (size_t)width;
            for (int x = 0; x < width; x++) {
                float sum = w[0] * row[0][x];
                for (int j = 1; j < TAPS; j++)
                    sum = fmaf(w[j], row[j][x], sum);
                middle[R + x] = sum;
            }
            for (int i = 0; i < R; i++) {
                middle[i] = middle[R];
                middle[R + width + i] = middle[R + width - 1];
            }
            const uint8_t *from = row_of(src, y);
            uint8_t       *to = row_of(out, y);
            for (int x = 0; x < width; x++) {
                float sum = w[0] * middle[x];
                for (int j = 1; j < TAPS; j++)
                    sum = fmaf(w[j], middle[x + j], sum);
                float detail = row[R][x] - sum;
                for (int c = 0; c < 3; c++)
                    to[3 * x + c] = plain_u8(fmaf(0.8f, detail, from[3 * x + c]));
            }
        }
        free(middle);
    }
    free(grey);
}
