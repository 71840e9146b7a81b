/* SPDX-License-Identifier: MIT
 * Reading copied rows where they lie. A line of copies exists for the sake of its ends, where a border answers; between them its
 * readers' row functions are given the memory's own rows, and the line is made at the ends alone. That saves a copy, and the
 * processor sees the memory read without pauses. Rows of a border value stay in the line. */
#ifndef HALO_BACKENDS_CPU_DRIVER_DIRECT_H
#define HALO_BACKENDS_CPU_DRIVER_DIRECT_H

#include "backends/cpu/driver_regions.h"

/* Columns on either side that are made from the line, so that whole vectors make them; the least between that is worth two calls
 * more, in bytes that aren't copied. */
enum { DIRECT_SIDE = 64, DIRECT_LEAST_BYTES = 8192 };

/* Columns of a reader whose reads through the edge stay inside the memory. */
static span32 inside_columns(const plan_stage *line, const int32_t *slots, const plan_edge *e, span32 x, int64_t side)
{
    span32 domain = bounds_of(slots, line->lo, line->hi, 0);
    if (e->kind != PLAN_EDGE_row || e->p_x != 1 || e->q_x != 1) return EMPTY_SPAN;
    int64_t lo = (int64_t)domain.lo - slots[e->lo_x], hi = (int64_t)domain.hi - slots[e->hi_x];
    lo = lo > x.lo ? max64(lo, (int64_t)x.lo + side) : x.lo;
    hi = hi < x.hi ? min64(hi, (int64_t)x.hi - side) : x.hi;
    return lo <= hi ? (span32){ (int32_t)lo, (int32_t)hi } : EMPTY_SPAN;
}

/* Which columns the line at `line` needn't have: those that only direct reads of its readers touch, and no end repeats. */
static span32 columns_unread(const plan_view *plan, const plan_section *section, const int32_t *slots, const stage_need *needs, int line)
{
    const plan_stage *stages = &plan->stages[section->first_stage];
    span32 x = needs[line].x, domain = bounds_of(slots, stages[line].lo, stages[line].hi, 0);
    int64_t reach = max64(0, max64((int64_t)domain.lo - needs[line].ends.lo, (int64_t)needs[line].ends.hi - domain.hi));
    int64_t lo = max64(x.lo, domain.lo + reach + 1), hi = min64(x.hi, domain.hi - reach - 1);
    if (reach == 0) { lo = x.lo; hi = x.hi; }
    for (int k = line + 1; k < section->n_stages; k++) {
        if (span_is_empty(needs[k].x)) continue;
        for (int j = stages[k].first_edge; j < stages[k].first_edge + stages[k].n_edges; j++) {
            const plan_edge *e = &plan->edges[j];
            if (e->producer != line) continue;
            if (span_is_empty(needs[k].direct)) return EMPTY_SPAN;
            if (needs[k].direct.lo > needs[k].x.lo) lo = max64(lo, (int64_t)needs[k].direct.lo + slots[e->hi_x]);
            if (needs[k].direct.hi < needs[k].x.hi) hi = min64(hi, (int64_t)needs[k].direct.hi + slots[e->lo_x]);
        }
    }
    return lo <= hi ? (span32){ (int32_t)lo, (int32_t)hi } : EMPTY_SPAN;
}

static int reads_copies(const plan_view *plan, const plan_section *section, const plan_edge *e)
{
    return e->producer >= 0 && plan->stages[section->first_stage + e->producer].copies;
}

/* For the needs of one strip. `always`: however few columns there are. */
static void choose_direct(const plan_view *plan, const plan_section *section, const int32_t *slots, int always, stage_need *needs)
{
    const plan_stage *stages = &plan->stages[section->first_stage];
    for (int k = 0; k < section->n_stages; k++) {
        int64_t bytes = 0, side = max64(always ? 1 : DIRECT_SIDE, stages[k].group_columns);
        span32 direct = needs[k].x;
        for (int j = stages[k].first_edge; j < stages[k].first_edge + stages[k].n_edges; j++) {
            const plan_edge *e = &plan->edges[j];
            if (!reads_copies(plan, section, e)) continue;
            direct = span_intersection(direct, inside_columns(&stages[e->producer], slots, e, needs[k].x, side));
            bytes += span_count(direct) * stages[e->producer].pixel_bytes * stages[e->producer].planes;
        }
        if (stages[k].slab == 1 && bytes >= (always ? 1 : DIRECT_LEAST_BYTES) && span_count(direct) >= side) needs[k].direct = direct;
    }
    for (int k = 0; k < section->n_stages; k++)
        if (stages[k].copies && !span_is_empty(needs[k].x)) needs[k].direct = columns_unread(plan, section, slots, needs, k);
}

#endif
