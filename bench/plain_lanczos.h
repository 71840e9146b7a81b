/* Halo's resize(src, width, height, lanczos) of u8x3 as a plain loop nest, with Halo's bits: down or up, then across. */
#ifndef BENCH_PLAIN_LANCZOS_H
#define BENCH_PLAIN_LANCZOS_H
#include "bench/plain.h"
#include "bench/plain_math.h"

/* For each of `to` pixels the first source pixel and the weights of `taps` from there on. */
typedef struct taps { int n, *first; float *weight; } taps;

static inline float sin_pi(float t)
{
    float n = rintf(t), s = plain_sin(3.14159265358979f * (t - n));
    return (int)n % 2 == 0 ? s : -s;
}

static inline float lanczos_weight(float t)
{
    const float pi = 3.14159265358979f;
    float d = fabsf(t);
    return d == 0 ? 1.0f : d < 3 ? 3 * sin_pi(d) * sin_pi(d / 3) / (pi * pi * d * d) : 0.0f;
}

static inline taps taps_new(int from, int to)
{
    float scale = plain_max((float)from / (float)to, 1.0f);
    int reach = (int)ceilf(3 * scale);
    taps t = { 2 * reach, malloc(sizeof(int) * (size_t)to), malloc(sizeof(float) * (size_t)to * 2 * (size_t)reach) };
    for (int i = 0; i < to; i++) {
        int64_t place = (int64_t)(2 * i + 1) * from;
        int whole = (int)(place / (2 * to)), part = (int)(place % (2 * to));
        float fraction = (float)(part < to ? part + to : part - to) / (float)(2 * to), total = 0;
        float *weight = t.weight + (size_t)i * (size_t)t.n;
        t.first[i] = (part < to ? whole - 1 : whole) + 1 - reach;
        for (int j = 0; j < t.n; j++) total += weight[j] = lanczos_weight(((float)(j + 1 - reach) - fraction) / scale);
        for (int j = 0; j < t.n; j++) weight[j] = weight[j] / total;
    }
    return t;
}

static inline void plain_lanczos(const halo_image *src, const halo_image *dst)
{
    const int width = dst->extent[0], height = dst->extent[1], from = src->extent[0];
    taps column = taps_new(src->extent[1], height), row = taps_new(from, width);
    #pragma omp parallel
    {
        float *tall = malloc(sizeof(float) * 3 * (size_t)from);
        #pragma omp for
        for (int y = 0; y < height; y++) {
            for (int x = 0; x < 3 * from; x++) tall[x] = 0;
            for (int j = 0; j < column.n; j++) {
                const uint8_t *in = row_of(src, clamp_index(column.first[y] + j, 0, src->extent[1] - 1));
                float weight = column.weight[(size_t)y * (size_t)column.n + (size_t)j];
                for (int x = 0; x < 3 * from; x++) tall[x] += weight * (float)in[x];
            }
            uint8_t *out = row_of(dst, y);
            for (int x = 0; x < width; x++) {
                const float *weight = row.weight + (size_t)x * (size_t)row.n;
                float sum[3] = { 0 };
                for (int i = 0; i < row.n; i++) {
                    const float *in = tall + 3 * clamp_index(row.first[x] + i, 0, from - 1);
                    for (int c = 0; c < 3; c++) sum[c] += weight[i] * in[c];
                }
                for (int c = 0; c < 3; c++) out[3 * x + c] = plain_u8(sum[c]);
            }
        }
        free(tall);
    }
    free(column.first), free(column.weight), free(row.first), free(row.weight);
}

#endif
