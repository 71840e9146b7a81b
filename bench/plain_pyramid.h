/* SPDX-License-Identifier: MIT
 * Halo's prelude functions pyramid_down and pyramid_up as plain loop nests over planes of floats, with Halo's bits. */
#ifndef BENCH_PLAIN_PYRAMID_H
#define BENCH_PLAIN_PYRAMID_H

#include <math.h>
#include <stddef.h>
#include <stdlib.h>

typedef struct plane { int width, height; float *data; } plane;

static inline plane plane_new(int width, int height)
{
    return (plane){ width, height, malloc(sizeof(float) * (size_t)width * (size_t)height) };
}

static inline float *pyramid_row(plane p, int y) { return p.data + (size_t)y * (size_t)p.width; }

/* The index inside of 0..n-1 that the border repeats. */
static inline int inside(int i, int n) { return i < 0 ? 0 : i >= n ? n - 1 : i; }

/* Half the size, rounded up: 1 3 3 1 along x, then along y. */
static inline plane plane_down(plane a)
{
    plane across = plane_new((a.width + 1) / 2, a.height), down = plane_new(across.width, (a.height + 1) / 2);
    #pragma omp parallel for
    for (int y = 0; y < across.height; y++) {
        const float *in = pyramid_row(a, y);
        float *out = pyramid_row(across, y);
        for (int x = 0; x < across.width; x++) {
            float sum = 0.125f * in[inside(2 * x - 1, a.width)];
            sum = fmaf(0.375f, in[2 * x], sum);
            sum = fmaf(0.375f, in[inside(2 * x + 1, a.width)], sum);
            out[x] = fmaf(0.125f, in[inside(2 * x + 2, a.width)], sum);
        }
    }
    #pragma omp parallel for
    for (int y = 0; y < down.height; y++) {
        const float *in[4];
        for (int j = 0; j < 4; j++) in[j] = pyramid_row(across, inside(2 * y - 1 + j, across.height));
        float *out = pyramid_row(down, y);
        for (int x = 0; x < down.width; x++) {
            float sum = 0.125f * in[0][x];
            sum = fmaf(0.375f, in[1][x], sum);
            sum = fmaf(0.375f, in[2][x], sum);
            out[x] = fmaf(0.125f, in[3][x], sum);
        }
    }
    free(across.data);
    return down;
}

/* Even pixels take 1/4 of the one before and 3/4 of the one behind, odd ones the other way round. */
static inline float between(int i, float before, float behind)
{
    return i % 2 == 0 ? fmaf(0.75f, behind, 0.25f * before) : fmaf(0.25f, behind, 0.75f * before);
}

/* Pixel (x, y) of a picture of twice the size. */
static inline float plane_up_at(plane a, int x, int y)
{
    const float *upper = pyramid_row(a, inside((y + 1) / 2 - 1, a.height));
    const float *lower = pyramid_row(a, inside((y + 1) / 2, a.height));
    int left = inside((x + 1) / 2 - 1, a.width), right = inside((x + 1) / 2, a.width);
    return between(x, between(y, upper[left], lower[left]), between(y, upper[right], lower[right]));
}

#endif
