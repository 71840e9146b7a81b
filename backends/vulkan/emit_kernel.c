/* SPDX-License-Identifier: MIT
 * A kernel: where the tile lies, what it needs of every fused stage, then the bodies, once per kind of region. The region is the
 * same for all invocations of a workgroup, so barriers may stand inside the branch. In it, the fused stages are made pass by
 * pass, each spread over the invocations, with a barrier after each pass; then the sinks. */
#include "backends/vulkan/emit.h"

#include <string.h>

enum { UNROLLED_BODY = 40 };      /* numbers in a body that is so short that looping over the pixels of a word costs more */

/* ---- loops over pixels -------------------------------------------------------------------------------- */

/* for (i = invocation; i < width * height; i += invocations) with x = i mod width, y = i over width. */
typedef struct pixel_loop { spv_loop loop; spv_id i, x, y; } pixel_loop;

static void pixels_begin(emitter *e, pixel_loop *l, spv_id width, spv_id height)
{
    l->i = spirv_variable(e->m, e->u32, "i");
    spirv_store(e->m, l->i, spirv_built_in(e->m, SpvBuiltInLocalInvocationIndex, 0));
    spv_id count = shader_mul(e, width, height);
    spirv_loop_begin(e->m, &l->loop, false);
    spv_id i = spirv_load(e->m, l->i);
    spirv_loop_while(e->m, &l->loop, spirv_op2(e->m, SpvOpULessThan, e->boolean, i, count));
    l->y = spirv_op2(e->m, SpvOpUDiv, e->u32, i, width);
    l->x = shader_sub(e, i, shader_mul(e, l->y, width));
}

static void pixels_end(emitter *e, pixel_loop *l)
{
    spirv_line(e->m, "", 0, 0);
    spirv_loop_next(e->m, &l->loop);
    spirv_store(e->m, l->i, shader_add(e, spirv_load(e->m, l->i), spirv_workgroup_size(e->m, SPEC_invocations, 64)));
    spirv_loop_end(e->m, &l->loop);
}

static void begin_body(emitter *e, const ref *roots, uint32_t n_roots)
{
    body_clear(&e->body);
    for (uint32_t k = 0; k < n_roots; k++) body_add(&e->body, roots[k]);
    e->values = ARENA_ARRAY(e->memory, lanes, e->body.nodes.count + 1);
}

static void shader_pixel(emitter *e) { shader_scope(e, 0, 0, e->body.scopes.items[0].nodes.count); }

/* The code from here on makes pixels of the stage. */
static void shader_line(emitter *e, uint32_t stage)
{
    uint32_t line = 0, column = 0;
    span where = stage_at(e->pipe, stage)->where;
    if (!e->s->options->debug) return;
    bool known = where.source > 0 && where.source < e->s->d->sources.count;
    if (known) diag_position(e->s->d, where, &line, &column);
    spirv_line(e->m, known ? e->s->d->sources.items[where.source].name : "", line, column);
}

/* ---- fused stages ---------------------------------------------------------------------------------------- */

static void shader_fused(emitter *e, int stage)
{
    ref root = stage_at(e->pipe, e->k->stages.items[stage].stage)->body;
    bool flat = stage_at(e->pipe, e->k->stages.items[stage].stage)->rank < 2;
    const interval *r = e->regions[stage];
    pixel_loop loop;
    spv_if there;
    spv_id width = shader_shared_spec(e, stage, 0), height = shader_shared_spec(e, stage, 1);
    pixels_begin(e, &loop, width, height);
    e->coords[0] = shader_add(e, r[0].lo, loop.x);
    spv_id holds = shader_at_most(e, e->coords[0], r[0].hi);
    if (!flat) {
        e->coords[1] = shader_add(e, r[1].lo, loop.y);
        holds = shader_both(e, holds, shader_at_most(e, e->coords[1], r[1].hi));
    }
    spirv_if(e->m, &there, holds);
    shader_line(e, e->k->stages.items[stage].stage);
    begin_body(e, &root, 1);
    shader_pixel(e);
    shader_shared_store(e, stage, e->coords[0], flat ? 0 : e->coords[1], shader_node(e, root));
    spirv_end_if(e->m, &there);
    pixels_end(e, &loop);
}

/* ---- sinks ------------------------------------------------------------------------------------------------- */

static int rank_of(const emitter *e) { return stage_at(e->pipe, e->k->stages.items[e->k->stages.count - 1].stage)->rank; }

/* Pixels that fill whole words together. */
static int granule_of(const emitter *e, const vulkan_stage *sink)
{
    if (!memory_by_words(e, sink->memory)) return 1;
    type t = stage_at(e->pipe, sink->stage)->type;
    int bytes = kind_get((kind)t.kind)->n_bytes * (e->s->memories.items[sink->memory].layout == VPLAN_LAYOUT_planar ? 1 : t.lanes);
    return bytes % 4 == 0 ? 1 : bytes % 2 == 0 ? 2 : 4;
}

/* Of several sinks, one may be wanted in a smaller part than all together. 0: always. */
static spv_id in_own_part(emitter *e, int sink, spv_id x)
{
    if (e->k->n_sinks == 1) return 0;
    spv_id holds = 0;
    for (int d = 0; d < rank_of(e); d++) {
        spv_id at = d == 0 ? x : e->coords[d], lo = shader_slot(e, (vplan_slot){ VPLAN_SLOT_rect_lo, sink, d });
        spv_id hi = shader_slot(e, (vplan_slot){ VPLAN_SLOT_rect_hi, sink, d });
        spv_id inside = shader_both(e, shader_at_most(e, lo, at), shader_at_most(e, at, hi));
        holds = holds ? shader_both(e, holds, inside) : inside;
    }
    return holds;
}

/* A sink that is stored by words: the words that the pixels of a granule fill, plane by plane. */
typedef struct sink_writer { ref root; bool by_granule; shader_run run; } sink_writer;

static void store_sink(emitter *e, int sink, lanes pixel)
{
    const vulkan_stage *c = &e->k->stages.items[e->k->stages.count - (uint32_t)e->k->n_sinks + (uint32_t)sink];
    spv_id holds = in_own_part(e, sink, e->coords[0]);
    spv_if own;
    if (holds) spirv_if(e->m, &own, holds);
    shader_store(e, c->memory, e->coords, pixel);
    if (holds) spirv_end_if(e->m, &own);
}

static void store_sink_words(emitter *e, const sink_writer *w, int sink, spv_id x, spv_id x_last)
{
    spv_id holds = in_own_part(e, sink, x), last = x_last;
    spv_if own;
    if (holds) {
        last = shader_min(e, last, shader_slot(e, (vplan_slot){ VPLAN_SLOT_rect_hi, sink, 0 }));
        spirv_if(e->m, &own, holds);
    }
    e->coords[0] = x;
    shader_run_store(e, &w->run, e->coords, shader_add(e, shader_sub(e, last, x), shader_i32(e, 1)));
    if (holds) spirv_end_if(e->m, &own);
}

static void sink_pixel(emitter *e, sink_writer *w, spv_id x, spv_id number, const interval tile[2])
{
    spv_id own = number ? shader_add(e, x, number) : x;
    spv_if there;
    bool some = false;
    e->coords[0] = number ? shader_min(e, own, tile[0].hi) : own;
    shader_pixel(e);
    for (int sink = 0; sink < e->k->n_sinks; sink++) {
        lanes pixel = shader_node(e, w[sink].root);
        if (w[sink].by_granule) { shader_run_add(e, &w[sink].run, number, pixel); continue; }
        if (number && !some) spirv_if(e->m, &there, shader_at_most(e, own, tile[0].hi));
        some = true;
        store_sink(e, sink, pixel);
    }
    if (number && some) spirv_end_if(e->m, &there);
}

/* A loop: where bodies are long, several in a row would take scalar registers without end. */
static void sink_granule(emitter *e, sink_writer *w, spv_id x, const interval tile[2])
{
    spv_loop loop;
    spv_id number = spirv_variable(e->m, e->u32, "pixel");
    for (int sink = 0; sink < e->k->n_sinks; sink++)
        if (w[sink].by_granule) shader_run_begin(e, &w[sink].run);
    spirv_store(e->m, number, shader_i32(e, 0));
    spirv_loop_begin(e->m, &loop, e->body.nodes.count <= UNROLLED_BODY);
    spirv_loop_while(e->m, &loop, shader_less(e, spirv_load(e->m, number), shader_i32(e, e->granule)));
    sink_pixel(e, w, x, spirv_load(e->m, number), tile);
    spirv_loop_next(e->m, &loop);
    spirv_store(e->m, number, shader_add(e, spirv_load(e->m, number), shader_i32(e, 1)));
    spirv_loop_end(e->m, &loop);
    for (int sink = 0; sink < e->k->n_sinks; sink++)
        if (w[sink].by_granule) store_sink_words(e, &w[sink], sink, x, tile[0].hi);
}

static sink_writer *sink_writers(emitter *e, int first)
{
    sink_writer *w = ARENA_ARRAY(e->memory, sink_writer, (uint32_t)e->k->n_sinks);
    for (int sink = 0; sink < e->k->n_sinks; sink++) {
        const vulkan_stage *c = &e->k->stages.items[first + sink];
        w[sink] = (sink_writer){ .root = stage_at(e->pipe, c->stage)->body, .by_granule = granule_of(e, c) > 1, .run.memory = c->memory };
    }
    return w;
}

static void shader_sinks(emitter *e, const interval tile[2])
{
    int first = (int)e->k->stages.count - e->k->n_sinks;
    sink_writer *w = sink_writers(e, first);
    ref *roots = ARENA_ARRAY(e->memory, ref, (uint32_t)e->k->n_sinks);
    for (int sink = 0; sink < e->k->n_sinks; sink++) roots[sink] = w[sink].root;
    pixel_loop loop;
    spv_if there;
    spv_id width = spirv_spec(e->m, SPEC_tile_width, 16), height = spirv_spec(e->m, SPEC_tile_height, 16);
    spv_id granule = shader_i32(e, e->granule);
    pixels_begin(e, &loop, e->granule > 1 ? spirv_op2(e->m, SpvOpUDiv, e->u32, width, granule) : width, height);
    spv_id x = shader_add(e, tile[0].lo, e->granule > 1 ? shader_mul(e, loop.x, granule) : loop.x);
    e->coords[1] = shader_add(e, tile[1].lo, loop.y);
    spirv_if(e->m, &there, shader_both(e, shader_at_most(e, x, tile[0].hi), shader_at_most(e, e->coords[1], tile[1].hi)));
    shader_line(e, e->k->stages.items[first].stage);
    begin_body(e, roots, (uint32_t)e->k->n_sinks);
    if (e->granule > 1) sink_granule(e, w, x, tile);
    else sink_pixel(e, w, x, 0, tile);
    spirv_end_if(e->m, &there);
    pixels_end(e, &loop);
}

/* ---- regions -------------------------------------------------------------------------------------------------- */

static void shader_region(emitter *e, bool map_x, bool map_y, const interval tile[2])
{
    e->mapped[0] = map_x;
    e->mapped[1] = map_y;
    for (int depth = 0; depth < e->k->n_depths; depth++) {
        for (int j = 0; j < (int)e->k->stages.count; j++) {
            const vulkan_stage *c = &e->k->stages.items[j];
            if (!c->sink && c->depth == depth) shader_fused(e, j);
        }
        spirv_barrier(e->m);
    }
    shader_sinks(e, tile);
}

static void shader_all_regions(emitter *e, const interval tile[2])
{
    bool x = e->k->mapped[0], y = e->k->mapped[1];
    if (e->k->variants == 1) { shader_region(e, x, y, tile); return; }
    spv_if bulk, side;
    spv_id all = x && y ? shader_both(e, e->inside[0], e->inside[1]) : x ? e->inside[0] : e->inside[1];
    spirv_if(e->m, &bulk, all);
    shader_region(e, false, false, tile);
    spirv_else(e->m, &bulk);
    if (e->k->variants == 4) {
        spv_if other;
        spirv_if(e->m, &side, e->inside[0]);
        shader_region(e, false, true, tile);
        spirv_else(e->m, &side);
        spirv_if(e->m, &other, e->inside[1]);
        shader_region(e, true, false, tile);
        spirv_else(e->m, &other);
        shader_region(e, true, true, tile);
        spirv_end_if(e->m, &other);
        spirv_end_if(e->m, &side);
    } else {
        shader_region(e, x, y, tile);
    }
    spirv_end_if(e->m, &bulk);
}

/* ---- the tile ---------------------------------------------------------------------------------------------------- */

static spv_id rect(emitter *e, int d, bool hi)
{
    return shader_slot(e, (vplan_slot){ hi ? VPLAN_SLOT_rect_hi : VPLAN_SLOT_rect_lo, -1, d });
}

static interval tile_along(emitter *e, int axis)
{
    if (axis >= rank_of(e)) return (interval){ shader_i32(e, 0), shader_i32(e, 0) };
    spv_id tile = shader_add(e, spirv_built_in(e->m, SpvBuiltInWorkgroupId, axis),
                             spirv_push_word(e->m, (uint32_t)(VPLAN_PUSH_tile_x + axis)));
    spv_id extent = spirv_spec(e->m, axis ? SPEC_tile_height : SPEC_tile_width, 16);
    spv_id first = shader_add(e, rect(e, axis, false), shader_mul(e, tile, extent));
    return (interval){ first, shader_min(e, shader_sub(e, shader_add(e, first, extent), shader_i32(e, 1)), rect(e, axis, true)) };
}

/* The outer coordinates, one z tile each, dimension 2 fastest. */
static void outer_coordinates(emitter *e)
{
    if (rank_of(e) <= 2) return;
    spv_id z = shader_add(e, spirv_built_in(e->m, SpvBuiltInWorkgroupId, 2), spirv_push_word(e->m, VPLAN_PUSH_tile_z));
    for (int d = 2; d < rank_of(e); d++) {
        spv_id at = z;
        if (d + 1 < rank_of(e)) {
            spv_id n = shader_add(e, shader_sub(e, rect(e, d, true), rect(e, d, false)), shader_i32(e, 1));
            spv_id quotient = spirv_op2(e->m, SpvOpUDiv, e->u32, z, n);
            at = shader_sub(e, z, shader_mul(e, quotient, n));
            z = quotient;
        }
        e->coords[d] = shader_add(e, rect(e, d, false), at);
    }
}

/* ---- the module ---------------------------------------------------------------------------------------------------- */

static void load_slots(emitter *e, uint32_t n_slots)
{
    e->slots = ARENA_ARRAY(e->memory, spv_id, n_slots + 1);
    e->n_slots = n_slots;
    spv_id first = e->k->in_buffer ? spirv_push_word(e->m, VPLAN_PUSH_arguments) : 0;
    for (uint32_t k = 0; k < n_slots; k++)
        e->slots[k] = first ? spirv_buffer_load(e->m, shader_buffer(e, -1), shader_add(e, first, shader_i32(e, (int32_t)k)))
                            : spirv_push_word(e->m, VPLAN_PUSH_slots + k);
}

static const uint32_t *shader_round(vulkan_schedule *s, vulkan_kernel *k, bool words, uint32_t n_slots, uint32_t *n_words)
{
    emitter e = { .m = spirv_new(s->memory, s->options->debug), .memory = s->memory, .s = s, .pipe = s->pipe, .k = k, .words = words,
                  .granule = words ? k->granule : 1 };
    e.u32 = spirv_type_u32(e.m);
    e.boolean = spirv_type_bool(e.m);
    e.f32 = spirv_type_f32(e.m);
    body_begin(&e.body, s->memory, s->pipe);
    e.regions = arena_alloc(s->memory, sizeof *e.regions * k->stages.count);
    spirv_workgroup_size(e.m, SPEC_invocations, 64);
    if (k->n_depths) spirv_shared_declare(e.m, spirv_spec(e.m, SPEC_shared_words, 1));
    e.zero = spirv_push_word(e.m, VPLAN_PUSH_zero);
    load_slots(&e, n_slots);
    interval tile[2] = { tile_along(&e, 0), tile_along(&e, 1) };
    outer_coordinates(&e);
    shader_regions(&e, tile);
    shader_all_regions(&e, tile);
    return spirv_finish(e.m, n_words);
}

void shader_kernel_probe(vulkan_schedule *s, vulkan_kernel *k, bool words)
{
    emitter probe = { .s = s, .pipe = s->pipe, .k = k, .words = words };
    uint32_t n_words;
    for (uint32_t j = 0; words && j < k->stages.count; j++) {
        int own = k->stages.items[j].sink ? granule_of(&probe, &k->stages.items[j]) : 1;
        if (own > k->granule) k->granule = own;
    }
    shader_round(s, k, words, 0, &n_words);
}

const uint32_t *shader_kernel(vulkan_schedule *s, vulkan_kernel *k, bool words, uint32_t *n_words)
{
    return shader_round(s, k, words, k->slots.count, n_words);
}
