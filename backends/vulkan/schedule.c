/* SPDX-License-Identifier: MIT
 * From a pipe to kernels: outputs get stages of their own, short folds are unrolled, dispatches are formed, and each becomes one
 * kernel or several. Then memories, tables, and how many bodies each kernel has. */
#include "backends/vulkan/schedule.h"

#include <string.h>

#include "lowering/body.h"

enum {
    UNROLLED_ELEMENTS = 9, UNROLLED_NODES = 400,     /* longer code makes drivers slow to compile, and gains nothing on a GPU */
    FOUR_BODIES_NODES = 150,                          /* kernels of no more nodes get sides of their own, where maps are dear */
    CHEAP_MAP_NODES = 1, DEAR_MAP_NODES = 15,         /* what a border's map is beside the other nodes */
    LOOP_ROUNDS = 8,                                  /* for weighing what is in a loop */
    RARE_MAPS = 20                                    /* one node in so many, and regions without maps don't pay */
};

/* ---- memories ------------------------------------------------------------------------------------------------ */

static void add_memory(vulkan_schedule *s, int role, int which, uint32_t stage, int layout)
{
    type t = stage_at(s->pipe, stage)->type;
    if ((layout == VPLAN_LAYOUT_planar && t.lanes == 1) || (layout == VPLAN_LAYOUT_bgra && t.lanes < 3)) layout = VPLAN_LAYOUT_interleaved;
    vulkan_memory m = { role, which, stage, layout, vulkan_pixel_words(t) };
    LIST_PUSH(s->memory, s->memories, m);
    s->memory_of[stage] = (int)s->memories.count - 1;
}

static int layout_of(const vulkan_schedule *s, uint32_t position)
{
    return s->options->layouts ? s->options->layouts[position] : VPLAN_LAYOUT_interleaved;
}

static void make_memories(vulkan_schedule *s)
{
    tensor_pipe *p = s->pipe;
    s->memory_of = ARENA_ARRAY(s->memory, int, p->stages.count);
    for (uint32_t k = 0; k < p->stages.count; k++) s->memory_of[k] = -1;
    uint32_t n_inputs = 0;
    for (uint32_t k = 1; k < p->stages.count; k++)
        if (stage_at(p, k)->kind == STAGE_input) { add_memory(s, VPLAN_ROLE_input, (int)n_inputs, k, layout_of(s, n_inputs)); n_inputs++; }
    for (uint32_t k = 0; k < p->outputs.count; k++)
        add_memory(s, VPLAN_ROLE_output, (int)k, p->outputs.items[k].stage, layout_of(s, p->n_inputs + k));
    for (uint32_t k = 0; k < s->kernels.count; k++)
        for (uint32_t j = 0; j < s->kernels.items[k].stages.count; j++) {
            vulkan_stage *c = &s->kernels.items[k].stages.items[j];
            if (c->sink && s->memory_of[c->stage] < 0) add_memory(s, VPLAN_ROLE_scratch, 0, c->stage, VPLAN_LAYOUT_interleaved);
            if (c->sink) c->memory = s->memory_of[c->stage];
        }
}

/* ---- tables ----------------------------------------------------------------------------------------------------- */

int32_t vulkan_table(vulkan_schedule *s, uint32_t stage)
{
    tensor_pipe *p = s->pipe;
    const tensor_stage *t = stage_at(p, stage);
    if (s->table_at[stage] >= 0) return s->table_at[stage];
    s->table_at[stage] = (int32_t)s->table_words.count;
    int64_t count = t->type.lanes, lo, hi;
    for (int d = 0; d < t->rank; d++) if (node_is_const(p, t->lo[d], &lo) && node_is_const(p, t->hi[d], &hi)) count *= hi - lo + 1;
    for (int64_t w = 0; w < count; w++) LIST_PUSH(s->memory, s->table_words, t->words[w]);
    return s->table_at[stage];
}

static void no_tables(vulkan_schedule *s)
{
    s->table_at = ARENA_ARRAY(s->memory, int32_t, s->pipe->stages.count);
    for (uint32_t k = 0; k < s->pipe->stages.count; k++) s->table_at[k] = -1;
}

/* ---- bodies ----------------------------------------------------------------------------------------------------- */

/* What the bodies of a kernel's stages hold: nodes; and what a pixel takes of them, those in loops counted several times, and of border
 * maps that a region inside of the picture does without. */
typedef struct body_sizes { uint32_t nodes; uint64_t work, maps; bool dear; } body_sizes;

static bool is_dear(int border) { return border == BORDER_wrap || border == BORDER_reflect || border == BORDER_reflect101; }

static void add_maps(const vulkan_schedule *s, ref load, uint64_t times, body_sizes *sizes)
{
    if (load >= s->follows.count) return;
    for (int d = 0; d < 2; d++) {
        int border = node_at(s->pipe, load)->border[d];
        if (border == BORDER_none || !(s->follows.items[load] & (1 << d))) continue;
        sizes->maps += times * (is_dear(border) ? DEAR_MAP_NODES : CHEAP_MAP_NODES);
        sizes->dear |= is_dear(border);
    }
}

static uint64_t times_run(const body *b, uint32_t scope)
{
    uint64_t times = 1;
    for (; scope && times < UINT32_MAX; scope = b->scopes.items[scope].parent) times *= LOOP_ROUNDS;
    return times;
}

/* And whether some need 64-bit numbers. */
static body_sizes measure_bodies(vulkan_schedule *s, vulkan_kernel *k)
{
    body_sizes sizes = { 0 };
    body b;
    body_begin(&b, s->memory, s->pipe);
    for (uint32_t j = 0; j < k->stages.count; j++) {
        body_clear(&b);
        body_add(&b, stage_at(s->pipe, k->stages.items[j].stage)->body);
        for (uint32_t i = 0; i < b.nodes.count; i++) {
            const tensor_node *n = node_at(s->pipe, b.nodes.items[i].node);
            uint64_t times = times_run(&b, b.nodes.items[i].scope);
            if (n->type.kind == KIND_i64) k->needs |= VPLAN_NEEDS_int64;
            if (n->op == OP_load) add_maps(s, b.nodes.items[i].node, times, &sizes);
            if (n->uniform || n->op == OP_const) continue;
            sizes.nodes++;
            sizes.work += times;
        }
    }
    return sizes;
}

/* Tiles that lie inside of the picture have a body without border maps, where these are some of the work; `force_border`: none has.
 * What it saves on AMD's RDNA 2, by the cycles that Mesa's compiler counts: 12 to 25 % of a 3 x 3 stencil or a level of a pyramid with
 * clamped edges, 10 % of a separable blur of 5 taps, three quarters of it with mirrored edges, under 3 % where maps are rare. It takes no
 * registers from the other bodies, but makes code twice as long. Rows and columns at a side get bodies of their own only where maps
 * are dear (mirrors, wrapping: a division a read) and the code short: at a clamped edge that is 6 % of the time of few tiles. */
static void choose_variants(vulkan_schedule *s, vulkan_kernel *k)
{
    for (uint32_t j = 0; j < k->reaches.count; j++)
        if (k->reaches.items[j].border != BORDER_none) k->mapped[k->reaches.items[j].axis] = true;
    bool both = k->mapped[0] && k->mapped[1];
    body_sizes sizes = measure_bodies(s, k);
    bool rare = sizes.maps * RARE_MAPS < sizes.work;
    k->variants = !sizes.maps || rare || s->options->force_border ? 1 : both && sizes.dear && sizes.nodes <= FOUR_BODIES_NODES ? 4 : 2;
}

vulkan_schedule *vulkan_schedule_make(tensor_pipe *p, const vulkan_options *options, const diags *d, arena *memory)
{
    vulkan_schedule *s = ARENA_NEW(memory, vulkan_schedule);
    s->memory = memory;
    s->pipe = tensor_clone(p, memory);
    s->options = options;
    s->d = d;
    separate_outputs(s->pipe);
    unroll_folds(s->pipe, &s->all, (unroll_limits){ .elements = UNROLLED_ELEMENTS, .nodes = UNROLLED_NODES });
    form_dispatches(s->pipe, &s->all, !options->no_fuse, memory, &s->plan);
    s->cut = ARENA_ARRAY(memory, vulkan_cut, s->pipe->stages.count);
    s->cut_by = ARENA_ARRAY(memory, uint32_t, s->pipe->stages.count);
    values_begin(&s->values, memory, s->pipe);
    vulkan_form_kernels(s);
    make_memories(s);
    no_tables(s);
    for (uint32_t k = 0; k < s->kernels.count; k++) choose_variants(s, &s->kernels.items[k]);
    return s;
}
