/* SPDX-License-Identifier: MIT
 * From a pipe to sections: outputs get stages of their own, short folds are unrolled, dispatches are formed, and each becomes a
 * section whose reads and row shapes are then settled (schedule_reads.c, schedule_shape.c). */
#include "backends/cpu/schedule.h"

#include <string.h>

int schedule_slot(cpu_schedule *s, ref uniform)
{
    for (uint32_t k = 0; k < s->slots.count; k++) if (s->slots.items[k] == uniform) return (int)k;
    LIST_PUSH(s->memory, s->slots, uniform);
    return (int)s->slots.count - 1;
}

/* ---- memories ---------------------------------------------------------------------------------------------- */

static int add_memory(cpu_schedule *s, memory_role role, int which, uint32_t stage, cpu_layout layout)
{
    cpu_memory m = { role, which, stage, layout == CPU_LAYOUT_planar, layout == CPU_LAYOUT_bgra, -1 };
    if (stage_at(s->pipe, stage)->type.lanes == 1) m.planar = m.bgra = false;
    LIST_PUSH(s->memory, s->memories, m);
    if (stage < s->n_memory_of) s->memory_of[stage] = (int)s->memories.count - 1;
    return (int)s->memories.count - 1;
}

static cpu_layout layout_of(const cpu_schedule *s, uint32_t position)
{
    return s->options->layouts ? s->options->layouts[position] : CPU_LAYOUT_interleaved;
}

static void make_memories(cpu_schedule *s)
{
    tensor_pipe *p = s->pipe;
    s->n_memory_of = p->stages.count;
    s->memory_of = ARENA_ARRAY(s->memory, int, p->stages.count);
    for (uint32_t k = 0; k < p->stages.count; k++) s->memory_of[k] = -1;
    int n_inputs = 0;
    for (uint32_t k = 1; k < p->stages.count; k++)
        if (stage_at(p, k)->kind == STAGE_input) { add_memory(s, MEMORY_input, n_inputs, k, layout_of(s, (uint32_t)n_inputs)); n_inputs++; }
    for (uint32_t k = 0; k < p->outputs.count; k++)
        add_memory(s, MEMORY_output, (int)k, p->outputs.items[k].stage, layout_of(s, p->n_inputs + k));
    for (uint32_t d = 0; d < s->plan.dispatches.count; d++)
        for (uint32_t k = 0; k < s->plan.dispatches.items[d].sinks.count; k++) {
            uint32_t stage = s->plan.dispatches.items[d].sinks.items[k];
            if (!tensor_is_output(p, stage)) add_memory(s, MEMORY_scratch, 0, stage, CPU_LAYOUT_interleaved);
        }
}

/* ---- in place ------------------------------------------------------------------------------------------------ */

/* Can output `out` be the memory of input `in`? Only when the one section reads that input at the same pixel alone and
 * nothing is read of it once a row is stored: one section, no line buffers, every read at the stage's own coordinates. */
static bool same_pixel_only(cpu_schedule *s, const cpu_stage *stage, int memory)
{
    tensor_pipe *p = s->pipe;
    for (uint32_t k = 0; k < stage->loads.count; k++) {
        ref load = stage->loads.items[k].load;
        const cpu_edge *e = &stage->edges.items[stage->loads.items[k].edge];
        if (e->memory != memory || e->producer >= 0) continue;
        if (e->kind != READ_row) return false;
        for (int d = 0; d < stage_at(p, e->stage)->rank; d++) {
            const tensor_node *i = node_at(p, load_index(p, load, d));
            if (i->op != OP_coord || i->index != d) return false;
        }
    }
    return true;
}

static bool same_domain(const tensor_stage *a, const tensor_stage *b)
{
    if (a->rank != b->rank || !type_equal(a->type, b->type)) return false;
    for (int d = 0; d < a->rank; d++) if (a->lo[d] != b->lo[d] || a->hi[d] != b->hi[d]) return false;
    return true;
}

static void allow_in_place(cpu_schedule *s)
{
    if (s->sections.count != 1 || s->sections.items[0].stages.count != 1) return;
    const cpu_stage *sink = section_stage(&s->sections.items[0], 0);
    cpu_memory *out = &s->memories.items[sink->memory];
    for (uint32_t k = 0; k < s->memories.count; k++) {
        const cpu_memory *in = &s->memories.items[k];
        if (in->role != MEMORY_input || in->planar != out->planar || in->bgra != out->bgra) continue;
        if (!same_domain(stage_at(s->pipe, in->stage), stage_at(s->pipe, out->stage)) || !same_pixel_only(s, sink, (int)k)) continue;
        out->may_alias = in->which;
        return;
    }
}

/* ---- sections -------------------------------------------------------------------------------------------------- */

static bool is_sink(const dispatch *d, uint32_t stage)
{
    for (uint32_t k = 0; k < d->sinks.count; k++) if (d->sinks.items[k] == stage) return true;
    return false;
}

static void make_section(cpu_schedule *s, uint32_t which)
{
    const dispatch *d = &s->plan.dispatches.items[which];
    cpu_section section = { .dispatch = which };
    for (int sinks = 0; sinks < 2; sinks++)
        for (uint32_t k = 0; k < d->stages.count; k++) {
            uint32_t stage = d->stages.items[k];
            if (is_sink(d, stage) != (sinks == 1)) continue;
            cpu_stage c = { .stage = stage, .sink = sinks == 1, .memory = sinks ? s->memory_of[stage] : -1, .group = 1, .unroll = 1 };
            LIST_PUSH(s->memory, section.stages, c);
            section.n_sinks += sinks;
        }
    schedule_reads(s, &section);
    LIST_PUSH(s->memory, s->sections, section);
}

cpu_schedule *cpu_schedule_make(tensor_pipe *p, const cpu_options *options, cpu_target target, arena *memory)
{
    cpu_schedule *s = ARENA_NEW(memory, cpu_schedule);
    s->memory = memory;
    s->pipe = tensor_clone(p, memory);
    s->options = options;
    s->target = target;
    schedule_slot(s, tensor_i32(s->pipe, 0));
    separate_outputs(s->pipe);
    unroll_folds(s->pipe, &s->all, (unroll_limits){ .elements = 128, .nodes = 1600 });
    form_dispatches(s->pipe, &s->all, !options->no_fuse && !options->force_border, memory, &s->plan);
    make_memories(s);
    for (uint32_t k = 0; k < s->plan.dispatches.count; k++) make_section(s, k);
    schedule_shapes(s);
    allow_in_place(s);
    schedule_uniforms(s);
    return s;
}
