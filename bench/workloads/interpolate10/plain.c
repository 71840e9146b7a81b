#include "bench/plain.h"

enum { LEVELS = 10 };

/* Pixels of four floats, side by side. */
typedef struct pixels { int width, height; float (*data)[4]; } pixels;

static pixels pixels_new(int width, int height)
{
    return (pixels){ width, height, malloc(sizeof(float[4]) * (size_t)width * (size_t)height) };
}

static float (*pixels_row(pixels p, int y))[4] { return p.data + (size_t)y * (size_t)p.width; }

static pixels premultiplied(const halo_image *src)
{
    pixels p = pixels_new(src->extent[0], src->extent[1]);
    #pragma omp parallel for
    for (int y = 0; y < p.height; y++) {
        const float *r = plane_row(src, y, 0), *g = plane_row(src, y, 1), *b = plane_row(src, y, 2), *a = plane_row(src, y, 3);
        float (*out)[4] = pixels_row(p, y);
        for (int x = 0; x < p.width; x++) {
            out[x][0] = r[x] * a[x];
            out[x][1] = g[x] * a[x];
            out[x][2] = b[x] * a[x];
            out[x][3] = a[x];
        }
    }
    return p;
}

static float binomial(float a, float b, float c) { return fmaf(0.25f, c, fmaf(0.5f, b, 0.25f * a)); }

static pixels halved(pixels a)
{
    pixels across = pixels_new((a.width + 1) / 2, a.height), both = pixels_new(across.width, (a.height + 1) / 2);
    #pragma omp parallel for
    for (int y = 0; y < across.height; y++) {
        float (*in)[4] = pixels_row(a, y), (*out)[4] = pixels_row(across, y);
        for (int x = 0; x < across.width; x++) {
            int left = clamp_index(2 * x - 1, 0, a.width - 1), right = clamp_index(2 * x + 1, 0, a.width - 1);
            for (int c = 0; c < 4; c++) out[x][c] = binomial(in[left][c], in[2 * x][c], in[right][c]);
        }
    }
    #pragma omp parallel for
    for (int y = 0; y < both.height; y++) {
        float (*upper)[4] = pixels_row(across, clamp_index(2 * y - 1, 0, a.height - 1));
        float (*middle)[4] = pixels_row(across, 2 * y), (*out)[4] = pixels_row(both, y);
        float (*lower)[4] = pixels_row(across, clamp_index(2 * y + 1, 0, a.height - 1));
        for (int x = 0; x < both.width; x++)
            for (int c = 0; c < 4; c++) out[x][c] = binomial(upper[x][c], middle[x][c], lower[x][c]);
    }
    free(across.data);
    return both;
}

/* What is known, and beneath it the coarser picture at twice the size. */
static pixels filled(pixels known, pixels coarser)
{
    pixels p = pixels_new(known.width, known.height);
    #pragma omp parallel for
    for (int y = 0; y < p.height; y++) {
        float (*in)[4] = pixels_row(known, y), (*out)[4] = pixels_row(p, y), (*upper)[4] = pixels_row(coarser, y / 2);
        float (*lower)[4] = pixels_row(coarser, clamp_index((y + 1) / 2, 0, coarser.height - 1));
        for (int x = 0; x < p.width; x++) {
            int left = x / 2, right = clamp_index((x + 1) / 2, 0, coarser.width - 1);
            for (int c = 0; c < 4; c++) {
                float above = (upper[left][c] + upper[right][c]) / 2, below = (lower[left][c] + lower[right][c]) / 2;
                out[x][c] = fmaf(1 - in[x][3], (above + below) / 2, in[x][c]);
            }
        }
    }
    return p;
}

void plain(const halo_image *images)
{
    pixels known[LEVELS];
    known[0] = premultiplied(&images[0]);
    for (int k = 1; k < LEVELS; k++) known[k] = halved(known[k - 1]);
    for (int k = LEVELS - 2; k >= 0; k--) {
        pixels p = filled(known[k], known[k + 1]);
        free(known[k].data);
        known[k] = p;
    }
    #pragma omp parallel for
    for (int y = 0; y < known[0].height; y++) {
        float (*in)[4] = pixels_row(known[0], y);
        float *r = plane_row(&images[1], y, 0), *g = plane_row(&images[1], y, 1), *b = plane_row(&images[1], y, 2);
        for (int x = 0; x < known[0].width; x++) {
            r[x] = in[x][0] / in[x][3];
            g[x] = in[x][1] / in[x][3];
            b[x] = in[x][2] / in[x][3];
        }
    }
    for (int k = 0; k < LEVELS; k++) free(known[k].data);
}
