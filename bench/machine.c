/* The machine's limits, measured: what a copy with streaming stores moves, and how many f32 operations fused multiply-adds
 * make. A workload's roofline is the larger of its bytes over the first and its operations over the second. */
#include "bench/measure.h"

#include <immintrin.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

enum { COPY_BYTES = 96 << 20, FMA_ROUNDS = 400000 };

static const double SECONDS = 0.6;   /* of trying: the best try counts, since others may use the machine too */

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

/* All threads at a time, each through its part of memory that no cache holds. A single thread is timed piece by piece,
 * because it needs no others and pieces are less often interrupted. */
double machine_copy_bandwidth(int threads)
{
    uint8_t *from = aligned_alloc(4096, COPY_BYTES), *to = aligned_alloc(4096, COPY_BYTES);
    double   best = 1e9;
    if (from == NULL || to == NULL)
        return 0;
    memset(from, 1, COPY_BYTES);
    memset(to, 2, COPY_BYTES);
    size_t piece = (size_t)threads > 1 ? COPY_BYTES / (size_t)threads / 4096 * 4096 : COPY_BYTES / 8, at = 0;
    for (double end = now() + SECONDS; now() < end;) {
        double start = now();
#pragma omp parallel num_threads(threads)
        {
            size_t here = at + piece * (size_t)omp_get_thread_num();
            copy_streaming(to + here, from + here, piece);
        }
        double took = now() - start;
        best = took < best ? took : best;
        at = threads > 1 || at + 2 * piece > COPY_BYTES ? 0 : at + piece;
    }
    free(from);
    free(to);
    return 2.0 * (double)piece * threads / best * 1e-9;
}

typedef float lanes __attribute__((vector_size(64)));

/* Twelve independent sums hide the latency of two units. */
static float many_fmas(int rounds)
{
    lanes sum[12], factor, shift;
    for (int i = 0; i < 16; i++)
        factor[i] = 0.999f, shift[i] = 0.001f;
    __asm__ volatile("" : "+m"(rounds));   /* or the compiler would take one call for all */
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

/* The sum of each thread's best: what they reach when each has a processor of its own. */
double machine_fma_peak(int threads)
{
    double total = 0;
#pragma omp parallel num_threads(threads) reduction(+ : total)
    {
        volatile float keep;
        double best = 1e9;
        for (double end = now() + SECONDS; now() < end;) {
            double start = now();
            keep = many_fmas(FMA_ROUNDS);
            double took = now() - start;
            best = took < best ? took : best;
        }
        (void)keep;
        total += 2.0 * 16 * 12 * FMA_ROUNDS / best * 1e-9;
    }
    return total;
}
