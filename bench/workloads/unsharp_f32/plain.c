/* Sharpen brightness, on planes: a plane of grey, its Gaussian by columns and rows, then the ratio for each component. */
#include "bench/plain.h"

enum { R = 3, TAPS = 2 * R + 1 };

static void grey_plane(const halo_image *src, float *grey)
{
    int width = src->extent[0], height = src->extent[1];
    #pragma omp parallel for
    for (int y = 0; y < height; y++) {
        const float *r = plane_row(src, y, 0), *g = plane_row(src, y, 1), *b = plane_row(src, y, 2);
        for (int x = 0; x < width; x++)
            grey[(size_t)y * (size_t)width + (size_t)x] = fmaf(b[x], 0.114f, fmaf(g[x], 0.587f, r[x] * 0.299f));
    }
}

void plain(const halo_image *images)
{
    const halo_image *src = &images[0], *out = &images[1];
    int width = src->extent[0], height = src->extent[1];
    float *grey = malloc(sizeof(float) * (size_t)width * (size_t)height), w[TAPS];
    for (int i = 0; i < TAPS; i++)
        w[i] = plain_exp((float)-((i - R) * (i - R)) / 4.5f) / (sqrtf(2 * (float)M_PI) * 1.5f);
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
            const float *from[3] = {plane_row(src, y, 0), plane_row(src, y, 1), plane_row(src, y, 2)};
            float       *to[3] = {plane_row(out, y, 0), plane_row(out, y, 1), plane_row(out, y, 2)};
            for (int x = 0; x < width; x++) {
                float sum = w[0] * middle[x];
                for (int j = 1; j < TAPS; j++)
                    sum = fmaf(w[j], middle[x + j], sum);
                float ratio = (2 * row[R][x] - sum) / row[R][x];
                for (int c = 0; c < 3; c++)
                    to[c][x] = ratio * from[c][x];
            }
        }
        free(middle);
    }
    free(grey);
}
