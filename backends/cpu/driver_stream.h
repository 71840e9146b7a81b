/* SPDX-License-Identifier: MIT
 * Streaming stores: rows of pictures that don't stay in the last cache go past it. A plain store first reads the line that it
 * overwrites and later writes it back, pushing out input rows meanwhile; without it a copy moves two thirds of the bytes.
 *
 * Whether is asked once a dispatch: when all that it reads and writes is more than three eighths of the last cache, what it
 * stores will mostly be gone before anybody reads it anyway: other processors share that cache, and what ran before is still in
 * it (measured in 32 MiB: a 5 x 5 maximum and a 3 x 3 blur of 16 MB gain 1.6, one of 8 MB loses 1.05 to 1.4). An intermediate is streamed only if it outgrows the cache by itself. And only where memory
 * binds: next to much arithmetic plain stores cost nothing, while streamed ones fill the store queue (measured: pointwise f32
 * gains 1.6 with 5 operations a pixel, 1.2 with 20, nothing with 40, and loses 1.15 with 60). Row functions have
 * streaming stores (emit_row.c); the driver looks for the columns where all rows of the destination have whole cache lines, and
 * has those on either side made with plain stores. */
#ifndef HALO_BACKENDS_CPU_DRIVER_STREAM_H
#define HALO_BACKENDS_CPU_DRIVER_STREAM_H

#include "backends/cpu/driver_checks.h"

enum {
    STREAM_NEVER_BELOW = 8 << 20,     /* no last cache is smaller that has to be asked about: cpuid costs microseconds in a guest */
    STREAM_USUAL_CACHE = 32 << 20,    /* where the processor doesn't say */
    STREAM_WORKERS = 2,               /* so many share the memory's bandwidth, but not their arithmetic */
    STREAM_LEAST_COLUMNS = 256,
    STREAM_STEP = 64, STREAM_SIDE = 16,
    CACHE_LINE = 64,
};

#if defined(__x86_64__)
/* The largest cache that a cpuid leaf of deterministic cache parameters lists, or 0. */
static int64_t largest_cache(uint32_t leaf)
{
    int64_t most = 0;
    for (uint32_t k = 0; k < 16; k++) {
        uint32_t a, b, c, d;
        __asm__ volatile("cpuid" : "=a"(a), "=b"(b), "=c"(c), "=d"(d) : "a"(leaf), "c"(k));
        if ((a & 31) == 0) break;
        int64_t bytes = ((int64_t)(b >> 22) + 1) * ((b >> 12 & 0x3ff) + 1) * ((b & 0xfff) + 1) * ((int64_t)c + 1);
        most = max64(most, bytes);
    }
    return most;
}

static int64_t last_cache_bytes(void)
{
    uint32_t basic, extended, b, c, d;
    __asm__ volatile("cpuid" : "=a"(basic), "=b"(b), "=c"(c), "=d"(d) : "a"(0), "c"(0));
    int64_t bytes = basic >= 4 ? largest_cache(4) : 0;                        /* Intel */
    if (bytes > 0) return bytes;
    __asm__ volatile("cpuid" : "=a"(extended), "=b"(b), "=c"(c), "=d"(d) : "a"(0x80000000u), "c"(0));
    if (extended >= 0x8000001du) bytes = largest_cache(0x8000001du);          /* AMD */
    return bytes > 0 ? bytes : STREAM_USUAL_CACHE;
}

static void end_streaming(void) { __asm__ volatile("sfence" : : : "memory"); }
#else
static int64_t last_cache_bytes(void) { return STREAM_USUAL_CACHE; }
static void end_streaming(void) { }
#endif

static int64_t region_bytes(const plan_memory *m, const region *part)
{
    int64_t bytes = (int64_t)m->component_bytes * m->lanes;
    for (int d = 0; d < 5; d++) bytes *= span_count(part->axis[d]);
    return bytes;
}

static int section_touches(const plan_view *plan, const plan_section *section, int memory)
{
    for (int k = section->first_stage; k < section->first_stage + section->n_stages; k++) {
        const plan_stage *s = &plan->stages[k];
        if (s->memory == memory) return 1;
        for (int j = s->first_edge; j < s->first_edge + s->n_edges; j++)
            if (plan->edges[j].producer < 0 && plan->edges[j].memory == memory) return 1;
    }
    return 0;
}

/* Bytes of operands that the section's arithmetic takes: what it costs, whatever the vector's width. */
static int64_t section_operands(const plan_view *plan, const plan_section *section, const int32_t *slots, const region *regions)
{
    const plan_stage *stages = &plan->stages[section->first_stage];
    int64_t a_pixel = 0, pixels = 1;
    for (int k = 0; k < section->n_stages; k++) a_pixel += (int64_t)slots[stages[k].cost] * stages[k].operand_bytes;
    for (int d = 0; d < 5; d++) pixels *= span_count(regions[stages[section->n_stages - section->n_sinks].memory].axis[d]);
    return a_pixel < INT64_MAX / max64(pixels, 1) ? a_pixel * pixels : INT64_MAX;
}

/* Into streams[], one a memory: whether the section's sinks stream there. */
static void choose_streams(const plan_view *plan, const plan_section *section, const int32_t *slots, const region *regions,
                           int32_t workers, int32_t *streams)
{
    int64_t all = 0;
    for (int k = 0; k < plan->header->n_memories; k++) {
        streams[k] = plan->header->stream == PLAN_STREAM_always;
        if (section_touches(plan, section, k)) all += region_bytes(&plan->memories[k], &regions[k]);
    }
    if (plan->header->stream != PLAN_STREAM_chosen || all < STREAM_NEVER_BELOW) return;
    if (section_operands(plan, section, slots, regions) / PLAN_STREAM_OPERANDS > all * min64(workers, STREAM_WORKERS)) return;
    int64_t cache = last_cache_bytes();
    for (int k = 0; k < plan->header->n_memories; k++) {
        const plan_memory *m = &plan->memories[k];
        streams[k] = m->role == PLAN_ROLE_output ? all > cache / 8 * 3 : region_bytes(m, &regions[k]) > cache;
    }
}

/* The first column from x0 on that begins a cache line in every row of the destination; INT32_MAX: there is none. */
static int32_t aligned_column(const plan_memory *m, const haloi_view *view, const char *row, int32_t n_rows, int64_t x0)
{
    int64_t mask = CACHE_LINE - 1, pixel = image_pixel_bytes(m);
    if ((n_rows > 1 && (view->stride[1] & mask)) || (m->planar && (view->plane_bytes & mask))) return INT32_MAX;
    for (int64_t x = x0; x < x0 + CACHE_LINE; x++)
        if ((((int64_t)(intptr_t)row + x * pixel) & mask) == 0) return x < INT32_MAX ? (int32_t)x : INT32_MAX;
    return INT32_MAX;
}

/* The columns of x that can be streamed in rows whose column 0 is at `row`: whole lines, since half a line costs more than a row
 * gains, and whole vectors, of which 64 columns are a multiple. What is left on either side is nothing or, so that vectors
 * make it, some columns. Empty: no columns. */
static span32 streamed_columns(const plan_stage *s, const plan_memory *m, const haloi_view *view, const char *row, int32_t n_rows, span32 x,
                               int always)
{
    int64_t side = max64(always ? 1 : STREAM_SIDE, s->group_columns), end = (int64_t)x.hi + 1;
    if (span_count(x) < (always ? 1 : STREAM_LEAST_COLUMNS)) return EMPTY_SPAN;
    int64_t from = aligned_column(m, view, row, n_rows, x.lo);
    if (from > x.lo && from < INT32_MAX) from = aligned_column(m, view, row, n_rows, x.lo + side);
    if (from >= end) return EMPTY_SPAN;
    int64_t to = from + (end - from) / STREAM_STEP * STREAM_STEP;
    if (to < end && end - to < side) to -= STREAM_STEP;
    return to > from ? (span32){ (int32_t)from, (int32_t)(to - 1) } : EMPTY_SPAN;
}

#endif
