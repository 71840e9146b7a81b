/* SPDX-License-Identifier: MIT
 * Which part of every stage and every memory a part of the outputs takes: needs run backwards, from readers to what they
 * read, through border maps. The same walk sizes line buffers, plans strips and answers x_needs. */
#ifndef HALO_BACKENDS_CPU_DRIVER_REGIONS_H
#define HALO_BACKENDS_CPU_DRIVER_REGIONS_H

#include "backends/cpu/plan.h"

typedef struct region { span32 axis[5]; } region;

typedef struct plan_view {            /* a plan's words, taken apart */
    const plan_header  *header;
    const plan_memory  *memories;
    const plan_stage   *stages;
    const plan_edge    *edges;
    const plan_section *sections;
    const int32_t      *dims;
} plan_view;

static inline plan_view plan_open(const int32_t *words)
{
    plan_view v;
    v.header = (const plan_header *)words;
    v.memories = (const plan_memory *)(v.header + 1);
    v.stages = (const plan_stage *)(v.memories + v.header->n_memories);
    v.edges = (const plan_edge *)(v.stages + v.header->n_stages);
    v.sections = (const plan_section *)(v.edges + v.header->n_edges);
    v.dims = (const int32_t *)(v.sections + v.header->n_sections);
    return v;
}

/* What one run of a section asks of one stage. */
typedef struct stage_need {
    span32 x, y;                      /* pixels to make */
    span32 ends;                      /* columns its rows must hold, borders included */
    span32 direct;                    /* columns whose reads of copied rows (plan_stage.copies) go to the memory; of such a
                                       * line: columns that nobody asks it for then */
} stage_need;

static const span32 EMPTY_SPAN = { 0, -1 };

static inline span32 bounds_of(const int32_t *slots, const int32_t *lo, const int32_t *hi, int axis)
{
    return (span32){ slots[lo[axis]], slots[hi[axis]] };
}

static inline void region_bounds(region *r, const int32_t *slots, const int32_t *lo, const int32_t *hi)
{
    for (int d = 0; d < 5; d++) r->axis[d] = bounds_of(slots, lo, hi, d);
}

static inline void region_clear(region *r) { for (int d = 0; d < 5; d++) r->axis[d] = EMPTY_SPAN; }

static inline void region_add(region *r, int axis, span32 s) { r->axis[axis] = span_union(r->axis[axis], s); }

/* The memory's part that `edge` reads for pixels x, y of its stage. */
static inline void need_memory(const plan_view *plan, const int32_t *slots, const plan_edge *e, span32 x, span32 y, region *memory)
{
    const plan_memory *m = &plan->memories[e->memory];
    region whole;
    region_bounds(&whole, slots, m->lo, m->hi);
    if (e->kind == PLAN_EDGE_row) {
        span32 columns = index_span(e->p_x, e->q_x, x, slots[e->lo_x], slots[e->hi_x]);
        whole.axis[0] = map_span(e->border_x, columns, whole.axis[0]);
    }
    if (e->kind != PLAN_EDGE_anywhere) {
        span32 rows = index_span(e->p_y, e->q_y, y, slots[e->lo_y], slots[e->hi_y]);
        whole.axis[1] = map_span(e->border_y, rows, whole.axis[1]);
    }
    for (int d = 0; d < 5; d++) region_add(memory, d, whole.axis[d]);
}

/* Rows that a line has for an edge. All rows outside are alike under a border value: one above and one below stand for them. */
typedef struct row_map { span32 rows; int32_t border; } row_map;

static inline row_map rows_of_line(const plan_stage *s, const int32_t *slots, const plan_edge *e)
{
    row_map m = { bounds_of(slots, s->lo, s->hi, 1), e->border_y };
    if (!s->value_y || e->border_y != PLAN_BORDER_value) return m;
    return (row_map){ { m.rows.lo - 1, m.rows.hi + 1 }, PLAN_BORDER_edge };
}

static inline void need_stage(const plan_stage *s, const int32_t *slots, const plan_edge *e, span32 x, span32 y, stage_need *need)
{
    span32 dx = bounds_of(slots, s->lo, s->hi, 0);
    row_map m = rows_of_line(s, slots, e);
    need->y = span_union(need->y, map_span(m.border, index_span(e->p_y, e->q_y, y, slots[e->lo_y], slots[e->hi_y]), m.rows));
    if (e->kind == PLAN_EDGE_row_gather) {
        need->x = span_union(need->x, dx);
        need->ends = span_union(need->ends, dx);
        return;
    }
    span32 columns = index_span(e->p_x, e->q_x, x, slots[e->lo_x], slots[e->hi_x]);
    if (e->border_x == PLAN_BORDER_none) columns = span_intersection(columns, dx);
    need->ends = span_union(need->ends, columns);
    need->x = span_union(need->x, map_span(e->border_x, columns, dx));
}

/* needs[] has one entry a stage of the section, with the sinks' x and y filled in; regions[] one a memory (NULL: not asked). */
static inline void section_needs(const plan_view *plan, const plan_section *section, const int32_t *slots, stage_need *needs, region *regions)
{
    for (int k = section->n_stages - 1; k >= 0; k--) {
        const plan_stage *s = &plan->stages[section->first_stage + k];
        if (s->memory < 0) needs[k].ends = span_union(needs[k].ends, needs[k].x);
        if (span_is_empty(needs[k].x) || span_is_empty(needs[k].y)) continue;
        for (int j = 0; j < s->n_edges; j++) {
            const plan_edge *e = &plan->edges[s->first_edge + j];
            if (e->producer >= 0)
                need_stage(&plan->stages[section->first_stage + e->producer], slots, e, needs[k].x, needs[k].y, &needs[e->producer]);
            else if (regions && e->memory >= 0)
                need_memory(plan, slots, e, needs[k].x, needs[k].y, &regions[e->memory]);
        }
    }
}

static inline void needs_clear(stage_need *needs, int count)
{
    for (int k = 0; k < count; k++) needs[k].x = needs[k].y = needs[k].ends = needs[k].direct = EMPTY_SPAN;
}

/* From the wanted parts of the outputs (already in regions[]) to what is wanted of every memory. `needs` is working space for
 * the largest section. */
static inline void plan_needs(const plan_view *plan, const int32_t *slots, stage_need *needs, region *regions)
{
    for (int k = plan->header->n_sections - 1; k >= 0; k--) {
        const plan_section *section = &plan->sections[k];
        needs_clear(needs, section->n_stages);
        for (int j = section->n_stages - section->n_sinks; j < section->n_stages; j++) {
            const region *wanted = &regions[plan->stages[section->first_stage + j].memory];
            needs[j].x = wanted->axis[0];
            needs[j].y = wanted->axis[1];
        }
        section_needs(plan, section, slots, needs, regions);
    }
}

#endif
