/* SPDX-License-Identifier: MIT
 * Writing a schedule down as the words that the driver reads (plan.h). */
#include "backends/cpu/module.h"

#include <assert.h>
#include <string.h>

static_assert((int)PLAN_BORDER_none == BORDER_none && (int)PLAN_BORDER_edge == BORDER_edge && (int)PLAN_BORDER_reflect == BORDER_reflect
              && (int)PLAN_BORDER_reflect101 == BORDER_reflect101 && (int)PLAN_BORDER_wrap == BORDER_wrap
              && (int)PLAN_BORDER_value == BORDER_value, "the driver numbers borders as border.def does");
static_assert((int)PLAN_EDGE_row == READ_row && (int)PLAN_EDGE_row_gather == READ_row_gather && (int)PLAN_EDGE_anywhere == READ_anywhere,
              "the driver numbers edges as schedule.h does");
static_assert((int)PLAN_STREAM_chosen == CPU_STREAM_chosen && (int)PLAN_STREAM_always == CPU_STREAM_always && (int)PLAN_STREAM_never == CPU_STREAM_never,
              "the driver numbers choices as cpu.h does");
static_assert((int)PLAN_ROLE_input == MEMORY_input && (int)PLAN_ROLE_output == MEMORY_output && (int)PLAN_ROLE_scratch == MEMORY_scratch,
              "the driver numbers roles as schedule.h does");

static void bounds_slots(cpu_schedule *s, uint32_t stage, int32_t *lo, int32_t *hi)
{
    tensor_stage t = *stage_at(s->pipe, stage);
    for (int d = 0; d < 5; d++) {
        lo[d] = d < t.rank ? schedule_slot(s, t.lo[d]) : 0;
        hi[d] = d < t.rank ? schedule_slot(s, t.hi[d]) : 0;
    }
}

static plan_memory write_memory(cpu_schedule *s, const cpu_memory *m)
{
    const tensor_stage *t = stage_at(s->pipe, m->stage);
    plan_memory w = { .role = (int32_t)m->role, .which = m->which, .rank = t->rank, .component_bytes = kind_get((enum kind)t->type.kind)->n_bytes,
                      .lanes = t->type.lanes, .planar = m->planar, .may_alias = m->may_alias };
    bounds_slots(s, m->stage, w.lo, w.hi);
    return w;
}

static plan_edge write_edge(cpu_schedule *s, const cpu_edge *e)
{
    return (plan_edge){ .kind = e->finds_rows ? PLAN_EDGE_anywhere : (int32_t)e->kind, .producer = e->producer, .memory = e->memory, .p_y = e->p_y, .q_y = e->q_y,
                        .lo_y = schedule_slot(s, e->lo_y), .hi_y = schedule_slot(s, e->hi_y), .border_y = e->border_y,
                        .p_x = e->p_x, .q_x = e->q_x, .lo_x = schedule_slot(s, e->lo_x), .hi_x = schedule_slot(s, e->hi_x),
                        .border_x = e->kind == READ_row ? e->border_x : BORDER_none };
}

static bool line_is_flat(const cpu_stage *c) { return c->flat && !c->apart; }

static plan_stage write_stage(cpu_schedule *s, const cpu_stage *c, int32_t first_edge, int32_t *function)
{
    const tensor_stage *t = stage_at(s->pipe, c->stage);
    int bytes = kind_get((enum kind)t->type.kind)->n_bytes;
    plan_stage w = { .group = c->group, .group_columns = group_columns(c, t->type.lanes), .memory = c->sink ? c->memory : -1, .rank = t->rank, .first_edge = first_edge,
                     .pixel_bytes = line_is_flat(c) ? bytes * t->type.lanes : bytes, .planes = line_is_flat(c) ? 1 : t->type.lanes, .slab = c->planes,
                     .border_x = c->border_x, .value_y = c->value_y != 0, .fill_x = -1, .fill_y = -1,
                     .ends_stay = c->value_x && depends_of(s->pipe, &s->all, c->value_x)->coords == 0,
                     .cost = schedule_slot(s, stage_work(s, c)), .operand_bytes = s->target.vector_bytes / c->lanes, .streams = c->stream_bytes > 0,
                     .copies = c->copies, .group_rows = c->group_rows ? schedule_slot(s, c->group_rows) : -1 };
    w.row_function = (*function)++;
    w.group_function = c->group > 1 ? (*function)++ : w.row_function;
    if (c->value_x) w.fill_x = (*function)++;
    if (c->value_y) w.fill_y = (*function)++;
    bounds_slots(s, c->stage, w.lo, w.hi);
    w.uniforms = (int32_t)s->slots.count;
    for (uint32_t k = 0; k < c->uniforms.count; k++) LIST_PUSH(s->memory, s->slots, c->uniforms.items[k]);
    return w;
}

static void append(cpu_schedule *s, plan_words *w, const void *bytes, size_t n_bytes)
{
    uint32_t n = (uint32_t)(n_bytes / 4);
    int32_t *all = ARENA_ARRAY(s->memory, int32_t, w->count + n);
    if (w->count) memcpy(all, w->words, 4 * (size_t)w->count);
    memcpy(all + w->count, bytes, n_bytes);
    w->words = all;
    w->count += n;
}

plan_words plan_write(cpu_schedule *s)
{
    LIST(plan_memory) memories = { 0 };
    LIST(plan_stage) stages = { 0 };
    LIST(plan_edge) edges = { 0 };
    LIST(plan_section) sections = { 0 };
    int32_t function = 0;
    for (uint32_t k = 0; k < s->memories.count; k++) LIST_PUSH(s->memory, memories, write_memory(s, &s->memories.items[k]));
    for (uint32_t k = 0; k < s->sections.count; k++) {
        cpu_section *section = &s->sections.items[k];
        plan_section w = { .first_stage = (int32_t)stages.count, .n_stages = (int32_t)section->stages.count, .n_sinks = section->n_sinks };
        for (uint32_t j = section->stages.count - (uint32_t)section->n_sinks; j < section->stages.count; j++) {
            const tensor_stage *sink = stage_at(s->pipe, section_stage(section, (int)j)->stage);
            if (sink->tile_width > 0) w.tile_width = sink->tile_width;
            if (sink->tile_height > 0) w.tile_rows = sink->tile_height;
        }
        for (uint32_t j = 0; j < section->stages.count; j++) {
            const cpu_stage *c = section_stage(section, (int)j);
            plan_stage stage = write_stage(s, c, (int32_t)edges.count, &function);
            stage.n_edges = (int32_t)c->edges.count;
            for (uint32_t i = 0; i < c->edges.count; i++) LIST_PUSH(s->memory, edges, write_edge(s, &c->edges.items[i]));
            LIST_PUSH(s->memory, stages, stage);
        }
        LIST_PUSH(s->memory, sections, w);
    }
    plan_header h = { .n_inputs = (int32_t)s->pipe->n_inputs, .n_outputs = (int32_t)s->pipe->outputs.count, .n_memories = (int32_t)memories.count,
                      .n_stages = (int32_t)stages.count, .n_edges = (int32_t)edges.count, .n_sections = (int32_t)sections.count,
                      .n_slots = (int32_t)s->slots.count, .n_dims = (int32_t)s->pipe->dims.count, .n_functions = function,
                      .tile_width = s->options->tile_width, .tile_rows = s->options->tile_rows, .stream = s->options->stream,
                      .has_params = s->pipe->params.count > 0 };
    tuning_plan(s, &h.tile_width, &h.tile_rows, &h.stream);
    plan_words w = { .n_functions = (uint32_t)function };
    append(s, &w, &h, sizeof h);
    append(s, &w, memories.items, sizeof *memories.items * memories.count);
    append(s, &w, stages.items, sizeof *stages.items * stages.count);
    if (edges.count) append(s, &w, edges.items, sizeof *edges.items * edges.count);
    append(s, &w, sections.items, sizeof *sections.items * sections.count);
    for (uint32_t k = 0; k < s->pipe->dims.count; k++) {
        int32_t dim[2] = { -1, s->pipe->dims.items[k].dimension };
        for (uint32_t j = 0; j < s->memories.count; j++)
            if (s->memories.items[j].role == MEMORY_input && s->memories.items[j].stage == s->pipe->dims.items[k].stage) dim[0] = s->memories.items[j].which;
        append(s, &w, dim, sizeof dim);
    }
    return w;
}
