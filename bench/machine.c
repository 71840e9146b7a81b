/* The machine's limits, measured: what a copy with streaming stores moves, and how many f32 operations fused multiply-adds
 * make. A workload's roofline is the larger of its bytes over the first and its operations over the second. */
#include "bench/measure.h"

#include <immintrin.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

enum { COPY_BYTES = 96 << 20, COPIES = 40, FMA_ROUNDS = 400000, FMA_TRIES = 60 };

static void copy_streaming(uint8_t *to, const uint8_t *from, size_t bytes)
{
#ifdef __AVX512F__
    for (size_t i = 0; i < bytes; i += 64)
        _mm512_stream_si512((void *)(to + i), _mm512_load_si512((const void *)(from + i)));
#else
    for (size_t i = 0; i < bytes; i += 16)
        _mm_stream_si128((__m128i *)(to + i), _mm_load_si128((const __m128i *)(from + i)));
#endif
    _mm_sfence();
}

double machine_copy_bandwidth(int threads)
{
    uint8_t *from = aligned_alloc(4096, COPY_BYTES), *to = aligned_alloc(4096, COPY_BYTES);
    double   best = 1e9;
    if (from == NULL || to == NULL)
        return 0;
    memset(from, 1, COPY_BYTES);
    memset(to, 2, COPY_BYTES);
    size_t part = COPY_BYTES / (size_t)threads / 4096 * 4096;
    for (int i = 0; i < COPIES; i++) {
        double start = now();
#pragma omp parallel num_threads(threads)
        copy_streaming(to + part * (size_t)omp_get_thread_num(), from + part * (size_t)omp_get_thread_num(), part);
        double took = now() - start;
        best = took < best ? took : best;
    }
    free(from);
    free(to);
    return 2.0 * (double)part * threads / best * 1e-9;
}

typedef float lanes __attribute__((vector_size(64)));

/* Twelve independent sums hide the latency of two units. The barrier keeps the compiler from working ahead. */
static float many_fmas(int rounds)
{
    lanes sum[12], factor, shift;
    for (int i = 0; i < 16; i++)
        factor[i] = 0.999f, shift[i] = 0.001f;
    for (int i = 0; i < 12; i++)
        sum[i] = shift * (float)(i + 1);
    for (int r = 0; r < rounds; r++) {
#pragma GCC unroll 12
        for (int i = 0; i < 12; i++)
            sum[i] = sum[i] * factor + shift;
    }
    for (int i = 1; i < 12; i++)
        sum[0] += sum[i];
    return sum[0][0] + sum[0][5];
}

double machine_fma_peak(int threads)
{
    double best = 1e9;
    volatile float keep[256];
    for (int i = 0; i < FMA_TRIES; i++) {
        double start = now();
#pragma omp parallel num_threads(threads)
        keep[omp_get_thread_num()] = many_fmas(FMA_ROUNDS);
        double took = now() - start;
        best = took < best ? took : best;
    }
    (void)keep;
    return 2.0 * 16 * 12 * FMA_ROUNDS * threads / best * 1e-9;
}
