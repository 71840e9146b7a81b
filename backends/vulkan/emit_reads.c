/* SPDX-License-Identifier: MIT
 * Reading stages: the index through the border's map (where the region at hand needs it), the address in a buffer, in workgroup
 * memory or in a table of constants, and the components there. And storing pixels, the other way. */
#include "backends/vulkan/emit.h"
#include "backends/vulkan/images.h"

#include <string.h>

/* ---- indices ------------------------------------------------------------------------------------------- */

typedef struct place { spv_id index[TENSOR_MAX_RANK]; spv_id inside[TENSOR_MAX_RANK]; /* 0: always */ } place;

static bool goes_through_map(const emitter *e, ref load, int d)
{
    if (node_at(e->pipe, load)->border[d] == BORDER_none) return false;
    bool follows = load < e->s->follows.count && (e->s->follows.items[load] & (1 << d));
    return d >= 2 || e->mapped[d] || !follows;
}

static int shared_stage(const emitter *e, uint32_t stage)
{
    for (uint32_t j = 0; j < e->k->stages.count; j++)
        if (e->k->stages.items[j].stage == stage && !e->k->stages.items[j].sink) return (int)j;
    return -1;
}

/* A value outside is chosen after the read. Of a stage in workgroup memory the tile may need no pixel at all; then what was made
 * begins far from the picture's edge, and its first place, which is always there, is as good as any. */
static spv_id map_index(emitter *e, ref load, int d, spv_id index)
{
    tensor_node n = *node_at(e->pipe, load);
    int shared = d < 2 ? shared_stage(e, n.payload) : -1;
    if (shared < 0 || n.border[d] != BORDER_value)
        return shader_border_map(e, (border)n.border[d], index, shader_bound(e, n.payload, d, false),
                                 shader_bound(e, n.payload, d, true));
    return shader_max(e, shader_min(e, index, e->regions[shared][d].hi), e->regions[shared][d].lo);
}

static place find_place(emitter *e, ref load)
{
    place at = { 0 };
    tensor_node n = *node_at(e->pipe, load);
    for (int d = 0; d < stage_at(e->pipe, n.payload)->rank; d++) {
        spv_id index = shader_node(e, load_index(e->pipe, load, d)).id[0];
        if (goes_through_map(e, load, d)) {
            spv_id lo = shader_bound(e, n.payload, d, false), hi = shader_bound(e, n.payload, d, true);
            if (n.border[d] == BORDER_value) at.inside[d] = shader_both(e, shader_at_most(e, lo, index), shader_at_most(e, index, hi));
            index = map_index(e, load, d, index);
        }
        at.index[d] = index;
    }
    return at;
}

/* ---- words to components ---------------------------------------------------------------------------------- */

static int component_bits(type t) { return kind_get((kind)t.kind)->n_bytes * 8; }

/* `bits` bits at a place of a word that is known when compiling. */
static spv_id field_of(emitter *e, spv_id word, int at, int bits)
{
    if (bits == 32) return word;
    spv_id shifted = at ? spirv_op2(e->m, SpvOpShiftRightLogical, e->u32, word, shader_i32(e, at)) : word;
    return at + bits == 32 ? shifted : spirv_op2(e->m, SpvOpBitwiseAnd, e->u32, shifted, spirv_u32(e->m, (1u << bits) - 1));
}

static spv_id join_u64(emitter *e, spv_id low, spv_id high)
{
    spv_id u64 = spirv_type_u64(e->m);
    spv_id upper = spirv_op2(e->m, SpvOpShiftLeftLogical, u64, spirv_op1(e->m, SpvOpUConvert, u64, high), spirv_u32(e->m, 32));
    return spirv_op2(e->m, SpvOpBitwiseOr, u64, upper, spirv_op1(e->m, SpvOpUConvert, u64, low));
}

/* Pixels in workgroup and scratch memory: components side by side in as few words as they fill. */
static lanes unpack(emitter *e, type t, const spv_id *words)
{
    lanes out = { 0 };
    int bits = component_bits(t);
    for (int l = 0; l < t.lanes; l++) {
        if (bits == 64) { out.id[l] = join_u64(e, words[2 * l], words[2 * l + 1]); continue; }
        int at = l * bits;
        out.id[l] = shader_from_memory(e->m, field_of(e, words[at / 32], at % 32, bits), (kind)t.kind);
    }
    return out;
}

static void pack(emitter *e, type t, lanes pixel, spv_id *words)
{
    int bits = component_bits(t);
    memset(words, 0, sizeof *words * (size_t)vulkan_pixel_words(t));
    for (int l = 0; l < t.lanes; l++) {
        if (bits == 64) {
            words[2 * l] = spirv_op1(e->m, SpvOpUConvert, e->u32, pixel.id[l]);
            spv_id high = spirv_op2(e->m, SpvOpShiftRightLogical, spirv_type_u64(e->m), pixel.id[l], spirv_u32(e->m, 32));
            words[2 * l + 1] = spirv_op1(e->m, SpvOpUConvert, e->u32, high);
            continue;
        }
        int at = l * bits;
        spv_id v = shader_to_memory(e->m, pixel.id[l], (kind)t.kind);
        if (at % 32) v = spirv_op2(e->m, SpvOpShiftLeftLogical, e->u32, v, shader_i32(e, at % 32));
        words[at / 32] = words[at / 32] ? spirv_op2(e->m, SpvOpBitwiseOr, e->u32, words[at / 32], v) : v;
    }
}

/* ---- workgroup memory --------------------------------------------------------------------------------------- */

static int shared_number(const emitter *e, int stage)
{
    int number = 0;
    for (int j = 0; j < stage; j++) number += !e->k->stages.items[j].sink;
    return number;
}

spv_id shader_shared_spec(emitter *e, int stage, int which)
{
    return spirv_spec(e->m, (uint32_t)(SPEC_shared + 3 * shared_number(e, stage) + which), 1);
}

/* Word 0 of the pixel at (x, y), and how far it is to the next word. */
static spv_id shared_address(emitter *e, int stage, spv_id x, spv_id y, spv_id *plane)
{
    spv_id w = shader_shared_spec(e, stage, 0), h = shader_shared_spec(e, stage, 1);
    spv_id at = shader_add(e, shader_shared_spec(e, stage, 2), shader_sub(e, x, e->regions[stage][0].lo));
    if (y) at = shader_add(e, at, shader_mul(e, shader_sub(e, y, e->regions[stage][1].lo), w));
    *plane = e->k->stages.items[stage].words > 1 ? shader_mul(e, w, h) : 0;
    return at;
}

static spv_id word_after(emitter *e, spv_id at, spv_id plane, int w)
{
    return w == 0 ? at : shader_add(e, at, w == 1 ? plane : shader_mul(e, plane, shader_i32(e, w)));
}

static lanes load_shared(emitter *e, int stage, const place *at)
{
    spv_id words[2 * TENSOR_MAX_LANES], plane;
    type t = stage_at(e->pipe, e->k->stages.items[stage].stage)->type;
    spv_id first = shared_address(e, stage, at->index[0], at->index[1], &plane);
    for (int w = 0; w < e->k->stages.items[stage].words; w++) words[w] = spirv_shared_load(e->m, word_after(e, first, plane, w));
    return unpack(e, t, words);
}

void shader_shared_store(emitter *e, int stage, spv_id x, spv_id y, lanes pixel)
{
    spv_id words[2 * TENSOR_MAX_LANES], plane;
    spv_id first = shared_address(e, stage, x, y, &plane);
    pack(e, stage_at(e->pipe, e->k->stages.items[stage].stage)->type, pixel, words);
    for (int w = 0; w < e->k->stages.items[stage].words; w++) spirv_shared_store(e->m, word_after(e, first, plane, w), words[w]);
}

/* ---- buffers -------------------------------------------------------------------------------------------------- */

bool memory_by_words(const emitter *e, int memory)
{
    const vulkan_memory *m = &e->s->memories.items[memory];
    return e->words && m->role != VPLAN_ROLE_scratch && !vulkan_is_image(m) && component_bits(stage_at(e->pipe, m->stage)->type) < 32;
}

spv_id shader_from_lo(emitter *e, int memory, const spv_id *coords, int d)
{
    uint32_t stage = e->s->memories.items[memory].stage;
    int64_t lo;
    bool is_zero = node_is_const(e->pipe, stage_at(e->pipe, stage)->lo[d], &lo) && lo == 0;
    return is_zero ? coords[d] : shader_sub(e, coords[d], shader_bound(e, stage, d, false));
}

spv_id shader_address(emitter *e, int memory, const spv_id *coords)
{
    int rank = stage_at(e->pipe, e->s->memories.items[memory].stage)->rank;
    spv_id at = shader_slot(e, (vplan_slot){ VPLAN_SLOT_offset, memory, 0 });
    for (int d = 0; d < rank; d++) {
        spv_id i = shader_from_lo(e, memory, coords, d);
        at = shader_add(e, at, shader_mul(e, i, shader_slot(e, (vplan_slot){ VPLAN_SLOT_stride, memory, d })));
    }
    return at;
}

/* Component l of the pixel that begins at `at`. */
static spv_id component_address(emitter *e, int memory, spv_id at, int l)
{
    const vulkan_memory *m = &e->s->memories.items[memory];
    type t = stage_at(e->pipe, m->stage)->type;
    if (m->layout == VPLAN_LAYOUT_bgra && l < 3) l = 2 - l;
    if (l == 0) return at;
    if (m->layout == VPLAN_LAYOUT_planar) {
        spv_id plane = shader_slot(e, (vplan_slot){ VPLAN_SLOT_component, memory, 0 });
        return shader_add(e, at, l == 1 ? plane : shader_mul(e, plane, shader_i32(e, l)));
    }
    return shader_add(e, at, shader_i32(e, memory_by_words(e, memory) ? l * component_bits(t) / 8 : l));
}

/* The component that begins at byte `at`, which is a multiple of its size. */
static spv_id load_by_words(emitter *e, spv_buffer b, spv_id at, int bits)
{
    spv_id word = spirv_buffer_load(e->m, b, spirv_op2(e->m, SpvOpShiftRightLogical, e->u32, at, shader_i32(e, 2)));
    spv_id byte = spirv_op2(e->m, SpvOpBitwiseAnd, e->u32, at, shader_i32(e, 3));
    spv_id bit = spirv_op2(e->m, SpvOpShiftLeftLogical, e->u32, byte, shader_i32(e, 3));
    spv_id shifted = spirv_op2(e->m, SpvOpShiftRightLogical, e->u32, word, bit);
    return spirv_op2(e->m, SpvOpBitwiseAnd, e->u32, shifted, spirv_u32(e->m, (1u << bits) - 1));
}

static lanes load_scratch(emitter *e, int memory, spv_id at, type t)
{
    spv_id words[2 * TENSOR_MAX_LANES];
    spv_buffer b = shader_buffer(e, memory);
    for (int w = 0; w < vulkan_pixel_words(t); w++) words[w] = spirv_buffer_load(e->m, b, w ? shader_add(e, at, shader_i32(e, w)) : at);
    return unpack(e, t, words);
}

static lanes load_memory(emitter *e, int memory, const spv_id *coords)
{
    lanes out = { 0 };
    if (vulkan_is_image(&e->s->memories.items[memory])) return shader_image_load(e, memory, coords);
    type t = stage_at(e->pipe, e->s->memories.items[memory].stage)->type;
    spv_id at = shader_address(e, memory, coords);
    if (e->s->memories.items[memory].role == VPLAN_ROLE_scratch) return load_scratch(e, memory, at, t);
    spv_buffer b = shader_buffer(e, memory);
    for (int l = 0; l < t.lanes; l++) {
        spv_id element = component_address(e, memory, at, l);
        spv_id bits = memory_by_words(e, memory) ? load_by_words(e, b, element, component_bits(t)) : spirv_buffer_load(e->m, b, element);
        out.id[l] = shader_from_memory(e->m, bits, (kind)t.kind);
    }
    return out;
}

static void store_packed(emitter *e, spv_buffer b, spv_id first, type t, lanes pixel)
{
    spv_id words[2 * TENSOR_MAX_LANES];
    pack(e, t, pixel, words);
    for (int w = 0; w < vulkan_pixel_words(t); w++)
        spirv_buffer_store(e->m, b, w ? shader_add(e, first, shader_i32(e, w)) : first, words[w]);
}

static lanes blue_first(lanes pixel) { return (lanes){ { pixel.id[2], pixel.id[1], pixel.id[0], pixel.id[3] } }; }

void shader_store(emitter *e, int memory, const spv_id *coords, lanes pixel)
{
    if (vulkan_is_image(&e->s->memories.items[memory])) { shader_image_store(e, memory, coords, pixel); return; }
    type t = stage_at(e->pipe, e->s->memories.items[memory].stage)->type;
    spv_id at = shader_address(e, memory, coords);
    spv_buffer b = shader_buffer(e, memory);
    if (e->s->memories.items[memory].role == VPLAN_ROLE_scratch) {
        store_packed(e, b, at, t, pixel);
        return;
    }
    if (memory_by_words(e, memory)) {                      /* a pixel that fills whole words by itself */
        at = spirv_op2(e->m, SpvOpShiftRightLogical, e->u32, at, shader_i32(e, 2));
        store_packed(e, b, at, t, e->s->memories.items[memory].layout == VPLAN_LAYOUT_bgra ? blue_first(pixel) : pixel);
        return;
    }
    for (int l = 0; l < t.lanes; l++)
        spirv_buffer_store(e->m, b, component_address(e, memory, at, l), shader_to_memory(e->m, pixel.id[l], (kind)t.kind));
}

/* ---- runs of pixels as whole words ------------------------------------------------------------------------------ */

static type run_type(const emitter *e, const shader_run *r) { return stage_at(e->pipe, e->s->memories.items[r->memory].stage)->type; }
static bool run_is_planar(const emitter *e, const shader_run *r) { return e->s->memories.items[r->memory].layout == VPLAN_LAYOUT_planar; }

void shader_run_begin(emitter *e, shader_run *r)
{
    type t = run_type(e, r);
    bool planar = run_is_planar(e, r);
    r->n_planes = planar ? t.lanes : 1;
    r->pixel_bits = component_bits(t) * (planar ? 1 : t.lanes);
    r->n_words = r->pixel_bits * e->granule / 32;
    for (int w = 0; w < r->n_planes * r->n_words; w++) {
        r->words[w] = spirv_variable(e->m, e->u32, "word");
        spirv_store(e->m, r->words[w], shader_i32(e, 0));
    }
}

/* The component's bits into the word in which they lie: `at` says where. */
static void add_bits(emitter *e, const shader_run *r, int plane, spv_id at, spv_id bits)
{
    spv_id number = spirv_op2(e->m, SpvOpShiftRightLogical, e->u32, at, shader_i32(e, 5));
    spv_id moved = spirv_op2(e->m, SpvOpShiftLeftLogical, e->u32, bits, spirv_op2(e->m, SpvOpBitwiseAnd, e->u32, at, shader_i32(e, 31)));
    for (int w = 0; w < r->n_words; w++) {
        spv_id variable = r->words[plane * r->n_words + w], zero = shader_i32(e, 0);
        spv_id own = moved;
        if (r->n_words > 1) own = shader_choose(e, spirv_op2(e->m, SpvOpIEqual, e->boolean, number, shader_i32(e, w)), moved, zero);
        spirv_store(e->m, variable, spirv_op2(e->m, SpvOpBitwiseOr, e->u32, spirv_load(e->m, variable), own));
    }
}

void shader_run_add(emitter *e, const shader_run *r, spv_id number, lanes pixel)
{
    type t = run_type(e, r);
    bool bgra = e->s->memories.items[r->memory].layout == VPLAN_LAYOUT_bgra, planar = run_is_planar(e, r);
    spv_id first = shader_mul(e, number, shader_i32(e, r->pixel_bits));
    for (int l = 0; l < t.lanes; l++) {
        int place = planar ? 0 : component_bits(t) * (bgra && l < 3 ? 2 - l : l);
        spv_id bits = shader_to_memory(e->m, pixel.id[l], (kind)t.kind);
        add_bits(e, r, planar ? l : 0, place ? shader_add(e, first, shader_i32(e, place)) : first, bits);
    }
}

/* A word is stored when some pixel in it exists. */
void shader_run_store(emitter *e, const shader_run *r, const spv_id *coords, spv_id count)
{
    spv_id at = shader_address(e, r->memory, coords);
    spv_buffer b = shader_buffer(e, r->memory);
    for (int plane = 0; plane < r->n_planes; plane++) {
        spv_id byte = plane ? component_address(e, r->memory, at, plane) : at;
        spv_id first = spirv_op2(e->m, SpvOpShiftRightLogical, e->u32, byte, shader_i32(e, 2));
        for (int w = 0; w < r->n_words; w++) {
            spv_if there;
            int pixel = 32 * w / r->pixel_bits;
            if (pixel > 0) spirv_if(e->m, &there, shader_less(e, shader_i32(e, pixel), count));
            spirv_buffer_store(e->m, b, w ? shader_add(e, first, shader_i32(e, w)) : first,
                               spirv_load(e->m, r->words[plane * r->n_words + w]));
            if (pixel > 0) spirv_end_if(e->m, &there);
        }
    }
}

/* ---- tables of constants ------------------------------------------------------------------------------------- */

static lanes load_table(emitter *e, uint32_t stage, const place *where)
{
    lanes out = { 0 };
    tensor_stage t = *stage_at(e->pipe, stage);
    spv_id at = shader_i32(e, 0);
    int64_t lo, hi, step = t.type.lanes;
    for (int d = 0; d < t.rank; d++) {
        node_is_const(e->pipe, t.lo[d], &lo);
        node_is_const(e->pipe, t.hi[d], &hi);
        spv_id i = lo ? shader_sub(e, where->index[d], shader_i32(e, (int32_t)lo)) : where->index[d];
        at = shader_add(e, at, step == 1 ? i : shader_mul(e, i, shader_i32(e, (int32_t)step)));
        step *= hi - lo + 1;
    }
    spv_buffer b = shader_buffer(e, -1);
    for (int l = 0; l < t.type.lanes; l++) {
        spv_id word = spirv_buffer_load(e->m, b, shader_add(e, at, shader_i32(e, vulkan_table(e->s, stage) + l)));
        kind k = (kind)t.type.kind;
        out.id[l] = k == KIND_bool ? spirv_op2(e->m, SpvOpINotEqual, e->boolean, word, shader_i32(e, 0))
                  : kind_is_float(k) ? spirv_op1(e->m, SpvOpBitcast, e->f32, word) : word;
    }
    return out;
}

/* One entry, where all indices are constants. */
static bool table_entry(emitter *e, ref load, lanes *out)
{
    tensor_node n = *node_at(e->pipe, load);
    tensor_stage t = *stage_at(e->pipe, n.payload);
    int64_t lo, hi, index, at = 0, step = t.type.lanes;
    for (int d = 0; d < t.rank; d++) {
        if (!node_is_const(e->pipe, load_index(e->pipe, load, d), &index)) return false;
        node_is_const(e->pipe, t.lo[d], &lo);
        node_is_const(e->pipe, t.hi[d], &hi);
        if (index < lo || index > hi) return false;
        at += (index - lo) * step;
        step *= hi - lo + 1;
    }
    for (int l = 0; l < t.type.lanes; l++)
        out->id[l] = shader_hidden(e->m, e->zero, shader_constant(e->m, (kind)t.type.kind, t.words[at + l]));
    return true;
}

/* ---- loads ------------------------------------------------------------------------------------------------------ */

lanes shader_load(emitter *e, ref load)
{
    tensor_node n = *node_at(e->pipe, load);
    tensor_stage s = *stage_at(e->pipe, n.payload);
    lanes out = { 0 };
    bool known = s.kind == STAGE_table && table_entry(e, load, &out);
    int shared = shared_stage(e, n.payload);
    place at = { 0 };
    if (!known) {
        at = find_place(e, load);
        out = s.kind == STAGE_table ? load_table(e, n.payload, &at) : shared >= 0 ? load_shared(e, shared, &at)
            : load_memory(e, e->s->memory_of[n.payload], at.index);
    }
    for (int l = 0; l < s.type.lanes; l++)
        if (s.type.kind != n.type.kind) out.id[l] = shader_cast(e->m, out.id[l], (kind)s.type.kind, (kind)n.type.kind);
    for (int d = s.rank - 1; d >= 0; d--) {
        if (!at.inside[d]) continue;
        lanes outside = shader_node(e, load_outside(e->pipe, load, d));
        for (int l = 0; l < s.type.lanes; l++) out.id[l] = shader_choose(e, at.inside[d], out.id[l], outside.id[l]);
    }
    return out;
}
