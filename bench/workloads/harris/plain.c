/* Corners, on planes: grey, the two derivatives, sums of their products over 3 x 3, the response. Three whole pictures in
 * between; the sums are taken down the columns into rows, then along the rows. */
#include "bench/plain.h"

/* Grey, all of the picture. */
static void make_grey(const halo_image *src, float *grey)
{
    int width = src->extent[0], height = src->extent[1];
    #pragma omp parallel for
    for (int y = 0; y < height; y++) {
        const float *r = plane_row(src, y, 0), *g = plane_row(src, y, 1), *b = plane_row(src, y, 2);
        for (int x = 0; x < width; x++)
            grey[(size_t)y * (size_t)width + (size_t)x] = fmaf(b[x], 0.114f, fmaf(g[x], 0.587f, r[x] * 0.299f));
    }
}

/* Derivatives, all but one pixel at each side. */
static void make_gradients(int width, int height, const float *grey, float *gx, float *gy)
{
    #pragma omp parallel
    {
        float *tall = malloc(sizeof(float) * 2 * (size_t)width), *difference = tall + width;
        #pragma omp for
        for (int y = 1; y < height - 1; y++) {
            size_t       start = (size_t)y * (size_t)width;
            const float *b = grey + start, *a = b - width, *c = b + width;
            for (int x = 0; x < width; x++) {
                tall[x] = fmaf(1 / 12.0f, c[x], fmaf(2 / 12.0f, b[x], 1 / 12.0f * a[x]));
                difference[x] = fmaf(-1 / 12.0f, c[x], 1 / 12.0f * a[x]);
            }
            for (int x = 1; x < width - 1; x++) {
                gx[start + (size_t)x] = tall[x + 1] - tall[x - 1];
                gy[start + (size_t)x] = fmaf(-1, difference[x + 1], fmaf(-2, difference[x], -1 * difference[x - 1]));
            }
        }
        free(tall);
    }
}

/* One row of the response from three rows of derivatives. */
static void response_row(int width, const float *gx, const float *gy, float *sums, float *to)
{
    float *sxx = sums, *syy = sums + width, *sxy = sums + 2 * width;
    for (int x = 1; x < width - 1; x++) {
        float xa = gx[x - width], xb = gx[x], xc = gx[x + width], ya = gy[x - width], yb = gy[x], yc = gy[x + width];
        sxx[x] = xa * xa + xb * xb + xc * xc;
        syy[x] = ya * ya + yb * yb + yc * yc;
        sxy[x] = xa * ya + xb * yb + xc * yc;
    }
    for (int x = 2; x < width - 2; x++) {
        float xx = sxx[x - 1] + sxx[x] + sxx[x + 1];
        float yy = syy[x - 1] + syy[x] + syy[x + 1];
        float xy = sxy[x - 1] + sxy[x] + sxy[x + 1];
        float trace = xx + yy;
        to[x - 2] = fmaf(-(0.04f * trace), trace, fmaf(-xy, xy, xx * yy));
    }
}

void plain(const halo_image *images)
{
    const halo_image *src = &images[0], *out = &images[1];
    int    width = src->extent[0], height = src->extent[1];
    size_t size = (size_t)width * (size_t)height;
    float *grey = malloc(sizeof(float) * 3 * size), *gx = grey + size, *gy = gx + size;
    make_grey(src, grey);
    make_gradients(width, height, grey, gx, gy);
    #pragma omp parallel
    {
        float *sums = malloc(sizeof(float) * 3 * (size_t)width);
        #pragma omp for
        for (int y = 2; y < height - 2; y++) {
            size_t start = (size_t)y * (size_t)width;
            response_row(width, gx + start, gy + start, sums, row_of(out, y - 2));
        }
        free(sums);
    }
    free(grey);
}
