/* SPDX-License-Identifier: MIT
 * The shape of a kernel's workgroups on a device: how many invocations, which tile, and where its stages lie in workgroup memory.
 *
 * Invocations are 256 where the limits allow: enough to hide latency, few enough that several workgroups share a processor. The
 * tile comes from a short list, by a cost a pixel:
 *     pixels computed for a pixel of the tile, halos included (what a small tile computes again),
 *     times 5/4 when less than two workgroups have room in workgroup memory (nobody computes while others wait at a barrier),
 *     times invocations / pixels of the tile when some have no pixel.
 * Without stages in workgroup memory nothing is computed again, and the first of the list it is: four pixels an invocation. */
#ifndef HALO_BACKENDS_VULKAN_DRIVER_SHAPES_H
#define HALO_BACKENDS_VULKAN_DRIVER_SHAPES_H

#include "backends/vulkan/driver_plan.h"

enum { MOST_INVOCATIONS = 256 };

typedef struct tile_size { int16_t width, height; } tile_size;

/* Wider rather than higher: rows of a picture lie together in memory. */
static const tile_size TILES[] = { { 32, 32 }, { 64, 16 }, { 64, 32 }, { 32, 16 }, { 64, 8 }, { 16, 16 }, { 32, 8 }, { 16, 8 },
                                   { 8, 8 }, { 8, 4 }, { 4, 4 }, { 4, 2 }, { 4, 1 }, { 2, 2 }, { 1, 1 } };
enum { MOST_PIXELS = 64 * 32 };          /* of these; where rounds of loops are counted, more may not be wished for */
static const tile_size LINES[] = { { 1024, 1 }, { 512, 1 }, { 256, 1 }, { 128, 1 }, { 64, 1 }, { 32, 1 }, { 16, 1 }, { 8, 1 },
                                   { 4, 1 }, { 1, 1 } };

static inline int64_t shared_width(const vplan_shared *s, int64_t tile) { return (s->p_x * (tile - 1) + s->reach_x) / s->q_x + 1; }
static inline int64_t shared_height(const vplan_shared *s, int64_t tile) { return (s->p_y * (tile - 1) + s->reach_y) / s->q_y + 1; }
static inline int64_t shared_words(const vplan_shared *s, const int32_t tile[2])
{
    return s->words * shared_width(s, tile[0]) * shared_height(s, tile[1]);
}

static inline int lives_meet(const vplan_shared *a, const vplan_shared *b)
{
    return a->first_pass <= b->last_pass && b->first_pass <= a->last_pass;
}

/* Where each stage begins: as low as those allow that were placed before and live at the same time. Returns the words of all. */
static inline int64_t place_shared(const vplan_shared *all, int n, const int32_t tile[2], int64_t *at)
{
    int64_t end = 1;
    for (int k = 0; k < n; k++) {
        int64_t words = shared_words(&all[k], tile);
        at[k] = 0;
        for (int moved = 1; moved;) {
            moved = 0;
            for (int j = 0; j < k; j++) {
                if (!lives_meet(&all[j], &all[k])) continue;
                int64_t other = shared_words(&all[j], tile);
                if (at[k] >= at[j] + other || at[j] >= at[k] + words) continue;
                at[k] = at[j] + other;
                moved = 1;
            }
        }
        end = max64(end, at[k] + words);
    }
    return end;
}

static inline int kernel_by_words(const vplan_kernel *k, const halo_vulkan_device *about)
{
    return ((k->needs & VPLAN_NEEDS_8bit) && !about->storage_8bit) || ((k->needs & VPLAN_NEEDS_16bit) && !about->storage_16bit);
}

/* A power of two that the limits allow. */
static inline int32_t most_invocations(const VkPhysicalDeviceLimits *l)
{
    int32_t n = MOST_INVOCATIONS;
    while (n > 1 && ((uint32_t)n > l->maxComputeWorkGroupInvocations || (uint32_t)n > l->maxComputeWorkGroupSize[0])) n /= 2;
    return n;
}

static inline int32_t rounded_up(int64_t n, int64_t to) { return (int32_t)((n + to - 1) / to * to); }

static inline double tile_cost(const vplan_shared *shared, int n_shared, const int32_t tile[2], int64_t words,
                               const VkPhysicalDeviceLimits *limits)
{
    int64_t pixels = (int64_t)tile[0] * tile[1], computed = pixels;
    for (int k = 0; k < n_shared; k++) computed += shared_width(&shared[k], tile[0]) * shared_height(&shared[k], tile[1]);
    double cost = (double)computed / (double)pixels;
    if (8 * words > limits->maxComputeSharedMemorySize) cost *= 1.25;
    if (pixels < most_invocations(limits)) cost *= (double)most_invocations(limits) / (double)pixels;
    return cost;
}

/* 0 when no tile fits. `wished`: of the size that was asked for. */
static inline int choose_tile(const vplan_kernel *k, const vplan_shared *shared, const halo_vulkan_device *about, int wished,
                              kernel_shape *out)
{
    int64_t at[VPLAN_SHARED_MOST];
    int lines = k->rank < 2, n = (int)(lines ? sizeof LINES / sizeof *LINES : sizeof TILES / sizeof *TILES);
    int32_t granule = out->by_words && k->granule > 1 ? k->granule : 1;
    int32_t width = wished ? k->tile_width : 0, height = wished ? k->tile_height : 0;
    int given = width > 0 || height > 0, found = 0;
    double best = 0;
    for (int j = 0; j < n; j++) {
        const tile_size *candidate = lines ? &LINES[j] : &TILES[j];
        int32_t tile[2] = { rounded_up(width > 0 ? width : candidate->width, granule), height > 0 ? height : candidate->height };
        int64_t words = place_shared(shared, k->n_shared, tile, at);
        if (4 * words > about->limits.maxComputeSharedMemorySize) continue;
        if (about->most_loop_iterations && (int64_t)tile[0] * tile[1] > MOST_PIXELS) continue;
        double cost = tile_cost(shared, k->n_shared, tile, words, &about->limits);
        if (found && cost >= best) continue;
        found = 1;
        best = cost;
        out->tile[0] = tile[0];
        out->tile[1] = tile[1];
        out->shared_words = (int32_t)words;
        if (k->n_shared == 0 && !given) break;
    }
    return found;
}

static inline int64_t most_pixels(const vplan_shared *shared, int n_shared, const int32_t tile[2])
{
    int64_t most = (int64_t)tile[0] * tile[1];
    for (int k = 0; k < n_shared; k++) most = max64(most, shared_width(&shared[k], tile[0]) * shared_height(&shared[k], tile[1]));
    return most;
}

static inline int choose_shape(const vulkan_plan *p, const vplan_kernel *k, const halo_vulkan_device *about, kernel_shape *out)
{
    const vplan_shared *shared = p->shared + k->first_shared;
    out->by_words = kernel_by_words(k, about);
    out->invocations = most_invocations(&about->limits);
    /* A hint that a device has no room for is as good as none: scripts name tiles with other machines in mind. */
    if (!choose_tile(k, shared, about, 1, out) && !choose_tile(k, shared, about, 0, out)) return 0;
    while (out->invocations > 32 && out->invocations / 2 >= most_pixels(shared, k->n_shared, out->tile)) out->invocations /= 2;
    return 1;
}

/* Rounds of all loops in one invocation, those that find a loop over included, when every invocation has as many pixels as the
 * busiest. */
static inline int64_t loop_rounds(const call *c, const vplan_kernel *k, const kernel_shape *shape)
{
    const vplan_shared *shared = c->plan.shared + k->first_shared;
    int32_t granule = shape->by_words && k->granule > 1 ? k->granule : 1;
    int64_t pixels = (int64_t)shape->tile[0] / granule * shape->tile[1];
    int64_t steps = (pixels + shape->invocations - 1) / shape->invocations;
    int64_t rounds = 1 + steps * (1 + (granule > 1) + granule * ((granule > 1) + max64(0, c->values[k->iterations].i)));
    for (int j = 0; j < k->n_shared; j++) {
        pixels = shared_width(&shared[j], shape->tile[0]) * shared_height(&shared[j], shape->tile[1]);
        steps = (pixels + shape->invocations - 1) / shape->invocations;
        rounds += 1 + steps * (1 + max64(0, c->values[shared[j].iterations].i));
    }
    return rounds;
}

#endif
