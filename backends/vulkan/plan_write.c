/* SPDX-License-Identifier: MIT
 * Writing a schedule down as the words that the driver reads (plan.h). */
#include "backends/vulkan/compile.h"

#include <string.h>

#include "lowering/iterations.h"
#include "lowering/params.h"

typedef struct writer {
    vulkan_schedule *s;
    LIST(vplan_kernel)  kernels;
    LIST(vplan_slot)    slots;
    LIST(vplan_shared)  shared;
    LIST(vplan_binding) bindings;
    LIST(vplan_read)    reads;
    LIST(int32_t)       sinks;
    LIST(uint32_t)      code;
    LIST(int32_t)       words;
} writer;

static int32_t value(writer *w, ref r) { return value_of(&w->s->values, r, 0); }

/* ---- memories -------------------------------------------------------------------------------------------- */

static vplan_memory write_memory(writer *w, const vulkan_memory *m)
{
    tensor_stage t = *stage_at(w->s->pipe, m->stage);
    vplan_memory out = { .role = m->role, .which = m->which, .rank = t.rank, .layout = m->layout,
                         .component_bytes = kind_get((kind)t.type.kind)->n_bytes,
                         .lanes = t.type.lanes, .pixel_words = m->pixel_words };
    for (int d = 0; d < t.rank; d++) {
        out.lo[d] = value(w, t.lo[d]);
        out.hi[d] = value(w, t.hi[d]);
    }
    return out;
}

/* ---- reads of stored memory ---------------------------------------------------------------------------------- */

/* The reach of a kernel's stage, from the tile's place instead of the stage's own: for sinks they are the same. */
typedef struct tile_reach { int32_t p, q, lo, hi, border; } tile_reach;

static tile_reach reach_of_tile(writer *w, const vulkan_kernel *k, const vulkan_reach *r)
{
    tensor_pipe *p = w->s->pipe;
    const vulkan_stage *reader = &k->stages.items[r->reader];
    const vulkan_span *from = &reader->span[r->axis];
    ref lo = r->lo, hi = r->hi;
    if (!reader->sink) {
        ref slack = tensor_i32(p, (int32_t)(r->p * from->low - from->q * (r->q - 1))), q = tensor_i32(p, (int32_t)from->q);
        lo = tensor_op2(p, OP_add, tensor_op2(p, OP_mul, lo, q), slack);
        hi = tensor_op2(p, OP_add, tensor_op2(p, OP_mul, hi, q), tensor_i32(p, (int32_t)(r->p * from->high)));
    }
    return (tile_reach){ (int32_t)(r->p * from->p), (int32_t)(r->q * from->q), value(w, lo), value(w, hi), r->border };
}

static bool reads_anywhere(vulkan_schedule *s, const vulkan_kernel *k, uint32_t producer)
{
    tensor_pipe *p = s->pipe;
    int axes = stage_at(p, producer)->rank < 2 ? stage_at(p, producer)->rank : 2;
    for (uint32_t j = 0; j < k->stages.count; j++) {
        const ref_list *loads = loads_of_stage(p, &s->loads, k->stages.items[j].stage);
        for (uint32_t i = 0; i < loads->count; i++) {
            ref load = loads->items[i];
            if (node_at(p, load)->payload != producer) continue;
            uint8_t follows = load < s->follows.count ? s->follows.items[load] : 0;
            if (follows != (1 << axes) - 1) return true;
        }
    }
    return false;
}

static void write_memory_reads(writer *w, vplan_kernel *out, const vulkan_kernel *k, int memory)
{
    uint32_t producer = w->s->memories.items[memory].stage;
    if (stage_at(w->s->pipe, producer)->rank == 0 || reads_anywhere(w->s, k, producer)) {
        LIST_PUSH(w->s->memory, w->reads, ((vplan_read){ .memory = memory, .anywhere = 1, .q_x = 1, .q_y = 1 }));
        out->n_reads++;
        return;
    }
    bool flat = stage_at(w->s->pipe, producer)->rank < 2;
    for (uint32_t i = 0; i < k->reaches.count; i++) {
        const vulkan_reach *x = &k->reaches.items[i];
        if (x->producer >= 0 || x->stage != producer || x->axis != 0) continue;
        tile_reach rx = reach_of_tile(w, k, x);
        for (uint32_t j = 0; j < (flat ? 1 : k->reaches.count); j++) {
            const vulkan_reach *y = &k->reaches.items[j];
            if (!flat && (y->producer >= 0 || y->stage != producer || y->axis != 1 || y->reader != x->reader)) continue;
            tile_reach ry = flat ? (tile_reach){ 0, 1, 0, 0, BORDER_none } : reach_of_tile(w, k, y);
            LIST_PUSH(w->s->memory, w->reads, ((vplan_read){ memory, 0, rx.p, rx.q, rx.lo, rx.hi, rx.border,
                                                                ry.p, ry.q, ry.lo, ry.hi, ry.border }));
            out->n_reads++;
        }
    }
}

/* ---- kernels ------------------------------------------------------------------------------------------------------ */

static void write_shared(writer *w, const vulkan_stage *c)
{
    const vulkan_span *x = &c->span[0], *y = &c->span[1];
    vplan_shared out = { c->words, (int32_t)x->p, (int32_t)x->q, (int32_t)(x->high - x->low),
                         (int32_t)y->p, (int32_t)y->q, (int32_t)(y->high - y->low),
                         c->depth, c->last_depth, value(w, stage_iterations(w->s->pipe, c->stage)) };
    LIST_PUSH(w->s->memory, w->shared, out);
}

static void write_code(writer *w, const uint32_t *code, uint32_t n, int32_t *first, int32_t *count)
{
    *first = (int32_t)w->code.count;
    *count = (int32_t)n;
    for (uint32_t k = 0; k < n; k++) LIST_PUSH(w->s->memory, w->code, code[k]);
}

static void write_codes(writer *w, const vulkan_kernel *k, vplan_kernel *out)
{
    write_code(w, k->code[0], k->n_code[0], &out->first_code, &out->n_code_words);
    out->first_word_code = out->first_code;
    out->n_word_code_words = out->n_code_words;
    if (k->code[1]) write_code(w, k->code[1], k->n_code[1], &out->first_word_code, &out->n_word_code_words);
}

static void write_stage(writer *w, vplan_kernel *out, const vulkan_stage *c, ref *iterations)
{
    const tensor_stage *t = stage_at(w->s->pipe, c->stage);
    if (!c->sink) {
        write_shared(w, c);
        out->n_shared++;
        return;
    }
    LIST_PUSH(w->s->memory, w->sinks, c->memory);
    out->n_sinks++;
    out->rank = t->rank;
    if (t->tile_width > 0) out->tile_width = t->tile_width;
    if (t->tile_height > 0) out->tile_height = t->tile_height;
    *iterations = iterations_add(w->s->pipe, *iterations, stage_iterations(w->s->pipe, c->stage));
}

/* Loops of the bodies for other regions: a driver that masks what isn't taken finds each of them over once. */
static int32_t other_loops(vulkan_schedule *s, const vulkan_kernel *k)
{
    int32_t n = 0;
    for (uint32_t j = 0; j < k->stages.count; j++)      /* and over pixels, over a granule */
        n += 2 + stage_loops(s->pipe, k->stages.items[j].stage);
    return n * (k->variants - 1);
}

static void write_kernel(writer *w, const vulkan_kernel *k)
{
    vplan_kernel out = { .first_slot = (int32_t)w->slots.count, .n_slots = (int32_t)k->slots.count, .in_buffer = k->in_buffer,
                         .first_shared = (int32_t)w->shared.count, .first_binding = (int32_t)w->bindings.count,
                         .n_bindings = (int32_t)k->bindings.count,
                         .first_read = (int32_t)w->reads.count, .first_sink = (int32_t)w->sinks.count,
                         .tile_width = w->s->options->tile_width, .tile_height = w->s->options->tile_height,
                         .granule = k->granule, .needs = k->needs };
    ref iterations = tensor_i32(w->s->pipe, 0);
    for (uint32_t j = 0; j < k->stages.count; j++) write_stage(w, &out, &k->stages.items[j], &iterations);
    out.iterations = value(w, iterations_add(w->s->pipe, iterations, tensor_i32(w->s->pipe, other_loops(w->s, k))));
    for (uint32_t j = 0; j < k->slots.count; j++) LIST_PUSH(w->s->memory, w->slots, k->slots.items[j]);
    for (uint32_t j = 0; j < k->bindings.count; j++) {
        LIST_PUSH(w->s->memory, w->bindings, k->bindings.items[j]);
        int memory = k->bindings.items[j].memory;
        if (memory >= 0 && !k->bindings.items[j].is_written) write_memory_reads(w, &out, k, memory);
    }
    write_codes(w, k, &out);
    LIST_PUSH(w->s->memory, w->kernels, out);
}

/* ---- parameters ----------------------------------------------------------------------------------------------------- */

static void split_double(double v, int32_t out[2]) { memcpy(out, &v, sizeof v); }

static vplan_param write_param(const tensor_param *p, int32_t offset)
{
    vplan_param out = { .offset = offset, .kind = p->type.kind, .lanes = p->type.lanes,
                        .has_range = p->has_range, .half_open = p->half_open };
    split_double(p->lo, out.lo);
    split_double(p->hi, out.hi);
    return out;
}

/* The struct of defaults; NULL when some parameter has none. */
static const void *write_defaults(writer *w, size_t n_bytes)
{
    char *out = arena_alloc(w->s->memory, n_bytes + 1);
    return params_pack_defaults(w->s->pipe, out) ? out : NULL;
}

/* ---- all of it --------------------------------------------------------------------------------------------------------- */

static void append(writer *w, const void *words, size_t n_bytes)
{
    const int32_t *from = words;
    for (size_t k = 0; k < n_bytes / 4; k++) LIST_PUSH(w->s->memory, w->words, from[k]);
}

#define APPEND(w, list) append((w), (list).items, sizeof *(list).items * (list).count)

static void append_params(writer *w, const int32_t *offsets)
{
    for (uint32_t k = 0; k < w->s->pipe->params.count; k++) {
        vplan_param param = write_param(&w->s->pipe->params.items[k], offsets[k]);
        append(w, &param, sizeof param);
    }
}

static void append_checks(writer *w, const int32_t *values)
{
    for (uint32_t k = 0; k < w->s->pipe->checks.count; k++) {
        vplan_check check = { values[k], w->s->pipe->checks.items[k].is_parameter };
        append(w, &check, sizeof check);
    }
}

static void append_dims(writer *w)
{
    for (uint32_t k = 0; k < w->s->pipe->dims.count; k++) {
        const tensor_dim *dim = &w->s->pipe->dims.items[k];
        int32_t out[2] = { w->s->memories.items[w->s->memory_of[dim->stage]].which, dim->dimension };
        append(w, out, sizeof out);
    }
}

void vulkan_plan_write(vulkan_schedule *s, vulkan_module *m)
{
    tensor_pipe *p = s->pipe;
    writer w = { .s = s };
    LIST(vplan_memory) memories = { 0 };
    int32_t *offsets = ARENA_ARRAY(s->memory, int32_t, p->params.count + 1), *checks = ARENA_ARRAY(s->memory, int32_t, p->checks.count + 1);
    for (uint32_t k = 0; k < s->memories.count; k++) LIST_PUSH(s->memory, memories, write_memory(&w, &s->memories.items[k]));
    for (uint32_t k = 0; k < s->kernels.count; k++) write_kernel(&w, &s->kernels.items[k]);
    for (uint32_t k = 0; k < p->checks.count; k++) checks[k] = value(&w, p->checks.items[k].condition);
    vplan_header h = { .n_inputs = (int32_t)p->n_inputs, .n_outputs = (int32_t)p->outputs.count, .n_memories = (int32_t)memories.count,
                       .n_kernels = (int32_t)w.kernels.count, .n_instructions = (int32_t)s->values.code.count,
                       .n_slots = (int32_t)w.slots.count,
                       .n_shared = (int32_t)w.shared.count, .n_bindings = (int32_t)w.bindings.count, .n_reads = (int32_t)w.reads.count,
                       .n_sinks = (int32_t)w.sinks.count, .n_params = (int32_t)p->params.count, .n_checks = (int32_t)p->checks.count,
                       .n_dims = (int32_t)p->dims.count, .n_table_words = (int32_t)s->table_words.count,
                       .params_bytes = p->params.count ? (int32_t)params_layout(p, offsets) : 0 };
    append(&w, &h, sizeof h);
    APPEND(&w, memories);
    APPEND(&w, w.kernels);
    APPEND(&w, s->values.code);
    APPEND(&w, w.slots);
    APPEND(&w, w.shared);
    APPEND(&w, w.bindings);
    APPEND(&w, w.reads);
    APPEND(&w, w.sinks);
    append_params(&w, offsets);
    append_checks(&w, checks);
    append_dims(&w);
    APPEND(&w, s->table_words);
    m->code = (haloi_vulkan_code){ .plan = w.words.items, .spirv = w.code.items,
                                   .defaults = p->params.count ? write_defaults(&w, (size_t)h.params_bytes) : NULL };
    m->n_plan_words = w.words.count;
    m->n_spirv_words = w.code.count;
}
