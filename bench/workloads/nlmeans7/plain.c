/* SPDX-License-Identifier: MIT
 * nlmeans7: for each of 49 displacements the difference of the picture and its displaced self, summed over 7 by 7 pixels
 * (columns, then rows), gives the weight of the displaced pixel. */
#include "bench/plain.h"

enum { REACH = 3, MARGIN = 2 * REACH };

/* The sum over a column of 7 of the squared distance of pixel (x, y) and the one (dx, dy) from it; line begins at x = -3. */
static void column_line(const halo_image *src, int y, int dx, int dy, float *line)
{
    int width = src->extent[0], height = src->extent[1];
    for (int x = 0; x < width + MARGIN; x++) line[x] = 0;
    for (int j = -REACH; j <= REACH; j++) {
        const float *a[3], *b[3];
        for (int c = 0; c < 3; c++) {
            a[c] = plane_row(src, clamp_index(y + j, 0, height - 1), c);
            b[c] = plane_row(src, clamp_index(y + j + dy, 0, height - 1), c);
        }
        for (int x = 0; x < width + MARGIN; x++) {
            int from = clamp_index(x - REACH, 0, width - 1), to = clamp_index(x - REACH + dx, 0, width - 1);
            float r = a[0][from] - b[0][to], g = a[1][from] - b[1][to], blue = a[2][from] - b[2][to];
            line[x] += fmaf(blue, blue, fmaf(g, g, r * r));
        }
    }
}

static void add_displaced(const halo_image *src, int y, int dx, int dy, float *line, float *total)
{
    int width = src->extent[0], height = src->extent[1];
    const float *in[3];
    for (int c = 0; c < 3; c++) in[c] = plane_row(src, clamp_index(y + dy, 0, height - 1), c);
    column_line(src, y, dx, dy, line);
    for (int x = 0; x < width; x++) {
        float unlike = 0;
        for (int i = 0; i <= 2 * REACH; i++) unlike += line[x + i];
        float weight = plain_exp(unlike * (-1 / (0.12f * 0.12f * 49)));
        int at = clamp_index(x + dx, 0, width - 1);
        for (int c = 0; c < 3; c++) total[c * width + x] += weight * in[c][at];
        total[3 * width + x] += weight;
    }
}

void plain(const halo_image *images)
{
    int width = images[0].extent[0], height = images[0].extent[1];
#pragma omp parallel for
    for (int y = 0; y < height; y++) {
        float line[width + MARGIN], total[4 * width];
        memset(total, 0, sizeof total);
        for (int dy = -REACH; dy <= REACH; dy++)
            for (int dx = -REACH; dx <= REACH; dx++) add_displaced(&images[0], y, dx, dy, line, total);
        for (int c = 0; c < 3; c++) {
            float *out = plane_row(&images[1], y, c);
            for (int x = 0; x < width; x++) out[x] = plain_clamp(total[c * width + x] / total[3 * width + x], 0, 1);
        }
    }
}
