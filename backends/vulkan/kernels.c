/* SPDX-License-Identifier: MIT
 * Which stages of a dispatch one kernel makes. Lowering's dispatches are what can be fused where rows slide; a tile can hold less:
 * both axes of every read have to follow it, and what it needs of all fused stages has to fit into the 16 KiB of workgroup
 * memory that every device has (the SPIR-V is made before the device is known). From the last stage to the first, a stage joins
 * the kernel of its readers when it can; else it is stored, by a kernel of its own. */
#include "backends/vulkan/schedule.h"

#include <string.h>

#include "lowering/body_cost.h"

enum {
    LEAST_SHARED_BYTES = 16384,       /* VkPhysicalDeviceLimits::maxComputeSharedMemorySize is no less */
    SMALL_TILE_WIDTH = 16, SMALL_TILE_HEIGHT = 8,
    USUAL_TILE = 32,                  /* for judging how much is computed twice */
    MOST_REPEATED = 4,                /* pixels of a fused stage computed for one that is needed */
    FEW_OPERATIONS = 6                /* stages of fewer may be computed more often */
};

typedef struct former {
    vulkan_schedule *s;
    uint32_t *kernel_of;              /* per stage: kernel or UINT32_MAX */
} former;

static bool reads(former *f, uint32_t reader, uint32_t stage) { return stage_reads(f->s->pipe, &f->s->loads, reader, stage); }

static uint32_t new_kernel(former *f)
{
    vulkan_kernel k = { .variants = 1, .granule = 1 };
    LIST_PUSH(f->s->memory, f->s->kernels, k);
    return f->s->kernels.count - 1;
}

/* In front of the kernel's other stages: producers come first. */
static void put_first(former *f, uint32_t kernel, vulkan_stage stage)
{
    vulkan_kernel *k = &f->s->kernels.items[kernel];
    LIST_PUSH(f->s->memory, k->stages, stage);
    memmove(k->stages.items + 1, k->stages.items, sizeof stage * (k->stages.count - 1));
    k->stages.items[0] = stage;
    f->kernel_of[stage.stage] = kernel;
}

static vulkan_stage sink_stage(uint32_t stage)
{
    vulkan_span tile = { 1, 1, 0, 0 };
    return (vulkan_stage){ .stage = stage, .sink = true, .memory = -1, .span = { tile, tile } };
}

/* ---- does it fit? ----------------------------------------------------------------------------------------- */

/* A stage lives from the pass in which it is made to the last one that reads it. */
static void find_depths(former *f, vulkan_kernel *k)
{
    k->n_depths = 0;
    for (uint32_t j = 0; j < k->stages.count; j++) {
        vulkan_stage *c = &k->stages.items[j];
        c->depth = 0;
        for (uint32_t i = 0; i < j; i++) {
            vulkan_stage *producer = &k->stages.items[i];
            if (!producer->sink && reads(f, c->stage, producer->stage) && producer->depth >= c->depth) c->depth = producer->depth + 1;
        }
        if (!c->sink && c->depth >= k->n_depths) k->n_depths = c->depth + 1;
    }
    for (uint32_t j = 0; j < k->stages.count; j++) {
        if (k->stages.items[j].sink) k->stages.items[j].depth = k->n_depths;
        k->stages.items[j].last_depth = k->stages.items[j].depth;
    }
    for (uint32_t j = 0; j < k->stages.count; j++)
        for (uint32_t i = 0; i < j; i++) {
            vulkan_stage *producer = &k->stages.items[i], *c = &k->stages.items[j];
            if (!producer->sink && c->depth > producer->last_depth && reads(f, c->stage, producer->stage)) producer->last_depth = c->depth;
        }
}

/* Bytes that are alive at the fullest time. */
static int64_t shared_bytes(const vulkan_kernel *k, int64_t width, int64_t height)
{
    int64_t most = 0;
    for (int at = 0; at <= k->n_depths; at++) {
        int64_t bytes = 0;
        for (uint32_t j = 0; j < k->stages.count; j++) {
            const vulkan_stage *c = &k->stages.items[j];
            if (c->sink || at < c->depth || at > c->last_depth) continue;
            bytes += 4 * c->words * vulkan_most_pixels(&c->span[0], width) * vulkan_most_pixels(&c->span[1], height);
        }
        if (bytes > most) most = bytes;
    }
    return most;
}

static vulkan_cut check_room(former *f, vulkan_kernel *k, const vulkan_stage *c)
{
    if (shared_bytes(k, SMALL_TILE_WIDTH, SMALL_TILE_HEIGHT) > LEAST_SHARED_BYTES) return VULKAN_CUT_room;
    double repeated = 1;
    for (int d = 0; d < 2; d++) {
        double needed = (double)c->span[d].p / (double)c->span[d].q * USUAL_TILE;
        repeated *= (double)vulkan_most_pixels(&c->span[d], USUAL_TILE) / (needed < 1 ? 1 : needed);
    }
    body_cost cost = body_cost_of(f->s->pipe, c->stage);
    bool cheap = !cost.folds && cost.operations + cost.loads <= FEW_OPERATIONS;
    return repeated > MOST_REPEATED && !cheap ? VULKAN_CUT_work : VULKAN_CUT_none;
}

/* ---- joining ------------------------------------------------------------------------------------------------ */

static vulkan_cut check_reads(former *f, uint32_t stage, uint32_t *kernel, uint32_t *by)
{
    vulkan_schedule *s = f->s;
    *kernel = UINT32_MAX;
    for (uint32_t r = stage + 1; r < s->pipe->stages.count; r++) {
        if (stage_at(s->pipe, r)->kind != STAGE_compute || !reads(f, r, stage)) continue;
        *by = r;
        if (*kernel != UINT32_MAX && f->kernel_of[r] != *kernel) return VULKAN_CUT_readers;
        *kernel = f->kernel_of[r];
        const ref_list *loads = loads_of_stage(s->pipe, &s->loads, r);
        for (uint32_t j = 0; j < loads->count; j++) {
            if (node_at(s->pipe, loads->items[j])->payload != stage) continue;
            vulkan_cut why = vulkan_load_tiles(s, r, loads->items[j]);
            if (why != VULKAN_CUT_none) return why;
        }
    }
    return VULKAN_CUT_none;
}

/* With the stage in front; taken out again when it doesn't go. */
static vulkan_cut try_stage(former *f, uint32_t kernel, uint32_t stage)
{
    vulkan_schedule *s = f->s;
    vulkan_stage c = { .stage = stage, .memory = -1, .words = vulkan_pixel_words(stage_at(s->pipe, stage)->type) };
    put_first(f, kernel, c);
    vulkan_kernel *k = &s->kernels.items[kernel];
    vulkan_find_reaches(s, k);
    find_depths(f, k);
    vulkan_cut why = vulkan_span_of(s, k, 0, k->stages.items[0].span);
    if (why == VULKAN_CUT_none) why = check_room(f, k, &k->stages.items[0]);
    if (why == VULKAN_CUT_none) return why;
    memmove(k->stages.items, k->stages.items + 1, sizeof c * (k->stages.count - 1));
    k->stages.count--;
    f->kernel_of[stage] = UINT32_MAX;
    return why;
}

static void place(former *f, uint32_t stage)
{
    vulkan_schedule *s = f->s;
    uint32_t kernel = UINT32_MAX, by = 0;
    vulkan_cut why = check_reads(f, stage, &kernel, &by);
    if (why == VULKAN_CUT_none) why = try_stage(f, kernel, stage);
    if (why == VULKAN_CUT_none) return;
    s->cut[stage] = why;
    s->cut_by[stage] = by;
    put_first(f, new_kernel(f), sink_stage(stage));
}

/* The sinks of a dispatch have one domain: one kernel stores them all. */
static void place_sinks(former *f, uint32_t dispatch)
{
    const struct dispatch *d = &f->s->plan.dispatches.items[dispatch];
    uint32_t kernel = new_kernel(f);
    for (uint32_t j = d->sinks.count; j-- > 0;) put_first(f, kernel, sink_stage(d->sinks.items[j]));
}

/* ---- order ---------------------------------------------------------------------------------------------------- */

static void order_kernel(former *f, uint32_t kernel, uint8_t *done, vulkan_kernel *out, uint32_t *count)
{
    if (done[kernel]) return;
    done[kernel] = 1;
    vulkan_kernel *k = &f->s->kernels.items[kernel];
    for (uint32_t j = 0; j < k->stages.count; j++) {
        const ref_list *loads = loads_of_stage(f->s->pipe, &f->s->loads, k->stages.items[j].stage);
        for (uint32_t i = 0; i < loads->count; i++) {
            uint32_t needed = f->kernel_of[node_at(f->s->pipe, loads->items[i])->payload];
            if (needed != UINT32_MAX && needed != kernel) order_kernel(f, needed, done, out, count);
        }
    }
    out[(*count)++] = *k;
}

static void order_kernels(former *f)
{
    uint32_t n = f->s->kernels.count, count = 0;
    vulkan_kernel *out = ARENA_ARRAY(f->s->memory, vulkan_kernel, n + 1);
    uint8_t *done = ARENA_ARRAY(f->s->memory, uint8_t, n + 1);
    for (uint32_t k = 0; k < n; k++) order_kernel(f, k, done, out, &count);
    memcpy(f->s->kernels.items, out, sizeof *out * n);
}

void vulkan_form_kernels(vulkan_schedule *s)
{
    former f = { .s = s, .kernel_of = ARENA_ARRAY(s->memory, uint32_t, s->pipe->stages.count) };
    memset(f.kernel_of, 0xff, sizeof *f.kernel_of * s->pipe->stages.count);
    for (uint32_t d = 0; d < s->plan.dispatches.count; d++) place_sinks(&f, d);
    for (uint32_t stage = s->pipe->stages.count; stage-- > 1;)
        if (stage_at(s->pipe, stage)->kind == STAGE_compute && f.kernel_of[stage] == UINT32_MAX && s->plan.of_stage[stage] != UINT32_MAX)
            place(&f, stage);
    for (uint32_t k = 0; k < s->kernels.count; k++) {
        vulkan_kernel *kernel = &s->kernels.items[k];
        vulkan_find_reaches(s, kernel);
        find_depths(&f, kernel);
        for (uint32_t j = 0; j < kernel->stages.count; j++) kernel->n_sinks += kernel->stages.items[j].sink;
    }
    order_kernels(&f);
}
