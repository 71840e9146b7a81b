/* SPDX-License-Identifier: MIT
 * bokeh16: into linear light, four filters of 33 rows, four of 33 columns, and back. */
#include "bench/plain.h"

enum { RADIUS = 16, TAPS = 2 * RADIUS + 1, COMPONENTS = 2 };

/* A component's filters: along y for the real and the imaginary part, and along x for each of their results. */
typedef struct filters { float column[2][TAPS], row[2][TAPS], mass; } filters;

static filters filters_of(float a, float b, float real_part, float imaginary_part)
{
    filters f;
    float c = 0, d = 0;
    for (int i = 0; i < TAPS; i++) {
        float t = 1.2f * (i - RADIUS) / RADIUS;
        float real = plain_exp(-a * t * t) * plain_cos(b * t * t), imaginary = plain_exp(-a * t * t) * plain_sin(b * t * t);
        f.column[0][i] = real;
        f.column[1][i] = imaginary;
        f.row[0][i] = fmaf(imaginary_part, imaginary, real_part * real);
        f.row[1][i] = fmaf(-real_part, imaginary, imaginary_part * real);
        c += real;
        d += imaginary;
    }
    f.mass = fmaf(imaginary_part, 2 * c * d, real_part * fmaf(-d, d, c * c));
    return f;
}

static float smoothstep(float lo, float hi, float v)
{
    float t = plain_clamp((v - lo) / (hi - lo), 0, 1);
    return t * t * fmaf(-2, t, 3);
}

/* The picture in linear light, and with its highlights made brighter. */
static void lighten(const halo_image *src, float *light, float *bright)
{
    int width = src->extent[0], height = src->extent[1];
    float linear[256];
    for (int v = 0; v < 256; v++) linear[v] = plain_srgb_to_linear(v / 255.0f);
#pragma omp parallel for
    for (int y = 0; y < height; y++) {
        const uint8_t *in = row_of(src, y);
        float *l = light + (size_t)y * width * 3, *b = bright + (size_t)y * width * 3;
        for (int x = 0; x < 3 * width; x += 3) {
            for (int c = 0; c < 3; c++) l[x + c] = linear[in[x + c]];
            float gain = fmaf(4, smoothstep(0.6f, 1, plain_luma(l[x], l[x + 1], l[x + 2])), 1);
            for (int c = 0; c < 3; c++) b[x + c] = l[x + c] * gain;
        }
    }
}

/* Taps that are zero are left out; the first one is a product. */
static void add_scaled(float weight, const float *in, int n, float *sum, int *taps)
{
    if (weight == 0) return;
    if ((*taps)++ == 0) for (int x = 0; x < n; x++) sum[x] = weight * in[x];
    else for (int x = 0; x < n; x++) sum[x] = fmaf(weight, in[x], sum[x]);
}

/* One row of one filter pair: down the columns into `line`, whose ends are repeated, then along the line. */
static void filter_row(const float *bright, int width, int height, int y, const float *column, const float *row, float *line, float *sum)
{
    int taps = 0, n = 3 * width;
    float *middle = line + 3 * RADIUS;
    for (int j = 0; j < TAPS; j++)
        add_scaled(column[j], bright + (size_t)clamp_index(y + j - RADIUS, 0, height - 1) * n, n, middle, &taps);
    for (int i = 1; i <= 3 * RADIUS; i++) {
        middle[-i] = middle[2 - (i + 2) % 3];
        middle[n - 1 + i] = middle[n - 3 + (i - 1) % 3];
    }
    taps = 0;
    for (int i = 0; i < TAPS; i++) add_scaled(row[i], line + 3 * i, n, sum, &taps);
}

void plain(const halo_image *images)
{
    int width = images[0].extent[0], height = images[0].extent[1], n = 3 * width;
    filters f[COMPONENTS] = { filters_of(0.886528f, 5.268909f, 0.411259f, -0.548794f),
                              filters_of(1.960518f, 1.558213f, 0.513282f, 4.561110f) };
    float total = f[0].mass + f[1].mass;
    float *light = malloc(sizeof(float) * n * height), *bright = malloc(sizeof(float) * n * height);
    lighten(&images[0], light, bright);
#pragma omp parallel for
    for (int y = 0; y < height; y++) {
        float line[n + 6 * RADIUS], sum[COMPONENTS][2][n];
        const float *depth = row_of(&images[1], y), *l = light + (size_t)y * n;
        uint8_t *out = row_of(&images[2], y);
        for (int k = 0; k < COMPONENTS; k++)
            for (int part = 0; part < 2; part++)
                filter_row(bright, width, height, y, f[k].column[part], f[k].row[part], line, sum[k][part]);
        for (int x = 0; x < n; x++) {
            float blurred = ((sum[0][0][x] + sum[0][1][x]) + (sum[1][0][x] + sum[1][1][x])) / total;
            out[x] = plain_u8(plain_linear_to_srgb(plain_mix(l[x], blurred, depth[x / 3])) * 255);
        }
    }
    free(light);
    free(bright);
}
