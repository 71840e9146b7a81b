/* SPDX-License-Identifier: MIT
 * Running one section: strips of rows are dealt to workers; inside a strip rows slide. A stage is asked for rows up to some
 * y (`ensure_rows`), asks its producers for the rows that takes, and makes what is missing, in order, each once. Its line
 * buffer keeps the last `slots` rows: enough for every reader, whatever border maps do, because the tasks were run dry first
 * to count them (plan_lines of driver.c), but for the many steps in a strip's middle that are alike. */
#ifndef HALO_BACKENDS_CPU_DRIVER_STRIPS_H
#define HALO_BACKENDS_CPU_DRIVER_STRIPS_H

#include "backends/common/float_mode.h"
#include "backends/cpu/driver_direct.h"
#include "backends/cpu/driver_stream.h"

enum { WORK_QUANTUM = 1 << 22 };      /* operations between two looks at `cancelled`: about a millisecond */

/* One call, shared by its workers. */
typedef struct driver_run {
    plan_view          plan;
    const haloi_code  *code;
    const void        *params;
    const int32_t     *slots, *dims;
    const haloi_view  *views;
    const int32_t     *streams;           /* per memory: sinks of the section at hand stream there */
    const halo_exec   *exec;
    int                no_overlap;
    int                stop;              /* atomic: somebody cancelled */
    int                reporting;         /* atomic: a worker is in progress() */
    int64_t            work_done, work_total;   /* atomic; operations of all sections */
    float              reported;
} driver_run;

typedef struct line {                     /* a stage's rows in one strip */
    int32_t next, first;                  /* next row to make; the row of slot 0 */
    int32_t before;                       /* dry: `next` a step ago */
    int32_t slots;
    char   *base;                         /* column 0 (virtual) of slot 0 */
    int64_t row_bytes, plane_bytes;
} line;

typedef struct section_run {
    driver_run         *run;
    const plan_section *section;
    const plan_stage   *stages;
    span32  x, y, outer[3];               /* the driver's (first sink's) pixels */
    int32_t block_width, strip_rows;
    int32_t batch;                        /* rows asked for at a time: the largest group of the section's stages */
    int32_t n_blocks, n_strips;
    int64_t n_tasks;
    int64_t next_task;                    /* atomic: the shared counter */
    int64_t line_offset_bytes;            /* where the lines' bytes begin in a worker's scratch */
    int64_t worker_bytes;
    char   *scratch;                      /* worker_bytes for each worker */
    const region *regions;
    const int32_t *line_slots;            /* per stage */
} section_run;

typedef struct worker {
    section_run *section;
    stage_need  *needs;
    line        *lines;
    haloi_rows  *edge_rows;               /* one per edge of the section */
    haloi_rows   destination;
    haloi_frame  frame;
    int64_t      work;
    int32_t     *dry;                     /* not NULL: nothing is made; rows that each line must keep are noted here */
} worker;

/* ---- progress and cancel ------------------------------------------------------------------------- */

static void report_progress(driver_run *run, int64_t done)
{
    if (!run->exec || !run->exec->progress) return;
    if (__atomic_exchange_n(&run->reporting, 1, __ATOMIC_ACQUIRE)) return;
    float part = run->work_total > 0 ? (float)done / (float)run->work_total : 0.0f;
    if (part > 0.999f) part = 0.999f;     /* 1 is said at the end, by the calling thread */
    if (part > run->reported) {
        run->reported = part;
        run->exec->progress(run->exec->user, part);
    }
    __atomic_store_n(&run->reporting, 0, __ATOMIC_RELEASE);
}

static int is_cancelled(driver_run *run)
{
    if (__atomic_load_n(&run->stop, __ATOMIC_RELAXED)) return 1;
    if (!run->exec || !run->exec->cancelled || !run->exec->cancelled(run->exec->user)) return 0;
    __atomic_store_n(&run->stop, 1, __ATOMIC_RELAXED);
    return 1;
}

static void account(worker *w, int64_t operations)
{
    w->work += operations;
    if (w->work < WORK_QUANTUM) return;
    driver_run *run = w->section->run;
    int64_t done = __atomic_add_fetch(&run->work_done, w->work, __ATOMIC_RELAXED);
    w->work = 0;
    is_cancelled(run);
    report_progress(run, done);
}

/* ---- rows ------------------------------------------------------------------------------------------ */

/* A build with HALOI_CHECK_ROWS stops where a line no longer (or not yet) holds the row that is asked for. */
static inline void check_row(const line *l, int64_t y)
{
#ifdef HALOI_CHECK_ROWS
    if (y < l->first || y >= l->next || y < (int64_t)l->next - l->slots) __builtin_trap();
#else
    (void)l;
    (void)y;
#endif
}

/* Rows count from the line's first, in 32 bits: a division of 64 takes twice as long. */
static int64_t line_slot(const line *l, int64_t y) { return (uint32_t)(y - l->first) % (uint32_t)l->slots; }

static char *line_row(const line *l, int64_t y)
{
    return l->base + line_slot(l, y) * l->row_bytes;
}

static void point_at_lines(const line *l, const plan_edge *e, row_map m, int64_t index, int64_t count, char **rows)
{
    int64_t last = index + count - 1;
    if (e->q_y == 1 && (m.border == PLAN_BORDER_none || (index >= m.rows.lo && last <= m.rows.hi))) {
        int64_t slot = line_slot(l, index);
        char *row = l->base + slot * l->row_bytes;
        for (int64_t k = 0; k < count; k++) {
            check_row(l, index + k);
            rows[k] = row;
            row += l->row_bytes;
            if (++slot == l->slots) { slot = 0; row = l->base; }
        }
        return;
    }
    for (int64_t k = 0; k < count; k++) {
        int64_t y = floor_quotient(index + k, e->q_y);
        if (m.border != PLAN_BORDER_none) y = map_index(m.border, y, m.rows);
        check_row(l, y);
        rows[k] = line_row(l, y);
    }
}

static void point_at_memory(const haloi_view *view, const plan_edge *e, span32 domain, int64_t index, int64_t count, char **rows)
{
    for (int64_t k = 0; k < count; k++) {
        int64_t y = floor_quotient(index + k, e->q_y);
        if (e->border_y != PLAN_BORDER_none) y = map_index(e->border_y, y, domain);
        rows[k] = view->data + y * view->stride[1];
    }
}

/* Where the `count` rows of a memory from `row` on lie, which the next call reads first; where there are not so many, the
 * first row there is. */
static void point_ahead(const plan_memory *m, const haloi_view *view, const int32_t *slots, int64_t row, int64_t count, haloi_rows *table)
{
    int there = row >= slots[m->lo[1]] && row + count - 1 <= slots[m->hi[1]];
    table->ahead = view->data + (there ? row : slots[m->lo[1]]) * view->stride[1];
    table->ahead_bytes = there ? view->stride[1] : 0;
}

/* To the rows that the line of stage `p` copies, where they lie; rows of a border value are in the line. */
static void point_at_copied(const worker *w, const plan_stage *p, const plan_edge *e, int64_t index, int64_t count, haloi_rows *table)
{
    const driver_run *run = w->section->run;
    const plan_edge *copied = &run->plan.edges[p->first_edge];
    const plan_memory *m = &run->plan.memories[copied->memory];
    span32 domain = bounds_of(run->slots, p->lo, p->hi, 1), rows = bounds_of(run->slots, m->lo, m->hi, 1);
    row_map map = rows_of_line(p, run->slots, e);
    for (int64_t k = 0; k < count; k++) {
        int64_t y = floor_quotient(index + k, e->q_y);
        if (map.border != PLAN_BORDER_none) y = map_index(map.border, y, map.rows);
        if (p->value_y && (y < domain.lo || y > domain.hi)) { table->row[k] = line_row(&w->lines[e->producer], y); continue; }
        if (copied->border_y != PLAN_BORDER_none) y = map_index(copied->border_y, y, rows);
        table->row[k] = run->views[copied->memory].data + y * run->views[copied->memory].stride[1];
    }
    table->plane_bytes = run->views[copied->memory].plane_bytes;
}

/* Fills the row table of every edge of stage `s` for rows y .. y + n_rows - 1. Entry k stands for c = lo + k. */
static void point_edges(worker *w, const plan_stage *s, int32_t y, int32_t n_rows)
{
    driver_run *run = w->section->run;
    const plan_stage *stages = w->section->stages;
    const int32_t *slots = run->slots;
    int32_t first = s->first_edge - stages[0].first_edge;
    const stage_need *need = &w->needs[s - stages];
    int more = y + n_rows <= need->y.hi;
    for (int j = 0; j < s->n_edges; j++) {
        const plan_edge *e = &run->plan.edges[s->first_edge + j];
        if (e->kind == PLAN_EDGE_anywhere) continue;
        haloi_rows *table = &w->edge_rows[first + j];
        int64_t index = (int64_t)e->p_y * y + slots[e->lo_y];
        int64_t count = (int64_t)slots[e->hi_y] - slots[e->lo_y] + 1 + (int64_t)e->p_y * (n_rows - 1);
        if (e->producer >= 0) {
            const plan_stage *p = &stages[e->producer];
            table->first_column = slots[p->lo[0]];
            table->last_column = slots[p->hi[0]];
            table->plane_bytes = w->lines[e->producer].plane_bytes;
            point_at_lines(&w->lines[e->producer], e, rows_of_line(p, slots, e), index, count, table->row);
            if (p->copies) {
                int32_t memory = run->plan.edges[p->first_edge].memory;
                point_ahead(&run->plan.memories[memory], &run->views[memory], slots, more ? index + count : FARTHEST, (int64_t)e->p_y * n_rows, table);
            }
        } else {
            const plan_memory *m = &run->plan.memories[e->memory];
            table->first_column = slots[m->lo[0]];
            table->last_column = slots[m->hi[0]];
            table->plane_bytes = run->views[e->memory].plane_bytes;
            point_at_memory(&run->views[e->memory], e, bounds_of(slots, m->lo, m->hi, 1), index, count, table->row);
            point_ahead(m, &run->views[e->memory], slots, more ? index + count : FARTHEST, (int64_t)e->p_y * n_rows, table);
        }
    }
    w->frame.rows = w->edge_rows + first;
    w->frame.slots = slots + s->uniforms;
}

/* Tables that point_edges filled, for columns whose copied rows are read where they lie. */
static void point_direct(worker *w, const plan_stage *s, int32_t y, int32_t n_rows)
{
    driver_run *run = w->section->run;
    for (int j = 0; j < s->n_edges; j++) {
        const plan_edge *e = &run->plan.edges[s->first_edge + j];
        if (!reads_copies(&run->plan, w->section->section, e)) continue;
        int64_t index = (int64_t)e->p_y * y + run->slots[e->lo_y];
        int64_t count = (int64_t)run->slots[e->hi_y] - run->slots[e->lo_y] + 1 + (int64_t)e->p_y * (n_rows - 1);
        point_at_copied(w, &w->section->stages[e->producer], e, index, count, (haloi_rows *)&w->frame.rows[j]);
    }
}

static inline void copy_pixel(char *to, const char *from, int32_t n_bytes)
{
    for (; n_bytes >= 4; n_bytes -= 4, to += 4, from += 4) __builtin_memcpy(to, from, 4);
    if (n_bytes >= 2) {
        __builtin_memcpy(to, from, 2);
        to += 2;
        from += 2;
    }
    if (n_bytes & 1) *to = *from;
}

/* Columns beyond the domain repeat columns inside it, as the readers' border says. */
static void fill_ends(const plan_stage *s, const stage_need *need, span32 domain, const line *l, char *row)
{
    for (int32_t plane = 0; plane < s->planes * s->slab; plane++, row += l->plane_bytes) {
        for (int64_t x = need->ends.lo; x < domain.lo && x <= need->ends.hi; x++)
            copy_pixel(row + x * s->pixel_bytes, row + (int64_t)map_index(s->border_x, x, domain) * s->pixel_bytes, s->pixel_bytes);
        for (int64_t x = max64(domain.hi + 1, need->ends.lo); x <= need->ends.hi; x++)
            copy_pixel(row + x * s->pixel_bytes, row + (int64_t)map_index(s->border_x, x, domain) * s->pixel_bytes, s->pixel_bytes);
    }
}

/* One function over columns of n_rows rows, for every plane of a slab. */
static void call_rows(worker *w, const plan_stage *s, int32_t function, int32_t y, int32_t n_rows, int64_t x0, int64_t x1)
{
    haloi_row_function f = w->section->run->code->functions[function];
    if (x0 >= x1) return;
    w->frame.slots = w->section->run->slots + s->uniforms;
    if (s->slab == 1) { f(&w->frame, y, (int32_t)x0, (int32_t)x1); return; }
    const int32_t *slots = w->section->run->slots;
    int64_t bytes = w->destination.plane_bytes * s->planes;
    int32_t outer[3], lo[3], hi[3];
    for (int d = 0; d < 3; d++) {
        outer[d] = w->frame.outer[d];
        lo[d] = w->frame.outer[d] = slots[s->lo[2 + d]];
        hi[d] = slots[s->hi[2 + d]];
    }
    for (int32_t plane = 0; plane < s->slab; plane++) {                       /* as slab_offset in emit_loads.c counts them */
        f(&w->frame, y, (int32_t)x0, (int32_t)x1);
        for (int32_t r = 0; r < n_rows; r++) w->destination.row[r] += bytes;
        for (int d = 0; d < 3 && ++w->frame.outer[d] > hi[d]; d++) w->frame.outer[d] = lo[d];
    }
    for (int32_t r = 0; r < n_rows; r++) w->destination.row[r] -= bytes * s->slab;
    for (int d = 0; d < 3; d++) w->frame.outer[d] = outer[d];
}

/* The rows that edges point at, moved to those of `by` rows further on. */
static void move_edges(worker *w, const plan_stage *s, int32_t by)
{
    haloi_rows *tables = w->edge_rows + (s->first_edge - w->section->stages[0].first_edge);
    for (int j = 0; j < s->n_edges; j++) {
        const plan_edge *e = &w->section->run->plan.edges[s->first_edge + j];
        if (e->kind != PLAN_EDGE_anywhere) tables[j].row += (int64_t)e->p_y * by;
    }
}

/* A part of rows: one after the other where it has fewer columns than the group's function wants. */
static void call_part(worker *w, const plan_stage *s, int32_t y, int32_t n_rows, int64_t x0, int64_t x1)
{
    int group = n_rows == s->group && n_rows > 1;
    if (!group || x1 - x0 >= s->group_columns) { call_rows(w, s, group ? s->group_function : s->row_function, y, n_rows, x0, x1); return; }
    char **made = w->destination.row;
    for (int32_t r = 0; r < n_rows; r++) {
        w->destination.row = made + r;
        call_rows(w, s, s->row_function, y + r, 1, x0, x1);
        move_edges(w, s, 1);
    }
    move_edges(w, s, -n_rows);
    w->destination.row = made;
}

/* Columns of a sink's rows, past the caches where that was chosen. */
static void sink_columns(worker *w, const plan_stage *s, int32_t y, int32_t n_rows, span32 x)
{
    const driver_run *run = w->section->run;
    int32_t x0 = x.lo, end = x.hi + 1;
    span32 past = EMPTY_SPAN;
    if (run->streams[s->memory] && s->streams && !run->no_overlap)
        past = streamed_columns(s, &run->plan.memories[s->memory], &run->views[s->memory], w->destination.row[0], n_rows, x,
                                run->plan.header->stream == PLAN_STREAM_always);
    if (!span_is_empty(past)) {
        call_part(w, s, y, n_rows, x0, past.lo);
        w->frame.streaming = 1;
        x0 = past.hi + 1;
        call_part(w, s, y, n_rows, past.lo, x0);
        w->frame.streaming = 0;
    }
    call_part(w, s, y, n_rows, x0, end);
}

static void make_columns(worker *w, const plan_stage *s, int32_t y, int32_t n_rows, span32 x)
{
    if (s->memory >= 0) sink_columns(w, s, y, n_rows, x);
    else call_part(w, s, y, n_rows, x.lo, (int64_t)x.hi + 1);
}

/* Rows of a stage, to the destination: from lines, but for the columns that are read from memory directly, or, of a line of
 * copies, that nobody reads. */
static void make_rows(worker *w, const plan_stage *s, int32_t y, int32_t n_rows)
{
    const stage_need *need = &w->needs[s - w->section->stages];
    point_edges(w, s, y, n_rows);
    account(w, (int64_t)w->section->run->slots[s->cost] * span_count(need->x) * n_rows);
    if (span_is_empty(need->direct)) { make_columns(w, s, y, n_rows, need->x); return; }
    span32 left = { need->x.lo, need->direct.lo - 1 }, right = { need->direct.hi + 1, need->x.hi };
    if (!span_is_empty(left)) make_columns(w, s, y, n_rows, left);
    if (!span_is_empty(right)) make_columns(w, s, y, n_rows, right);
    if (s->copies) return;
    point_direct(w, s, y, n_rows);
    make_columns(w, s, y, n_rows, need->direct);
}

/* Ends, and rows outside, of a line whose border is a value. */
static void fill_value_ends(worker *w, const plan_stage *s, const stage_need *need, span32 domain, int32_t y)
{
    call_rows(w, s, s->fill_x, y, 1, need->ends.lo, min64(domain.lo, (int64_t)need->ends.hi + 1));
    call_rows(w, s, s->fill_x, y, 1, max64((int64_t)domain.hi + 1, need->ends.lo), (int64_t)need->ends.hi + 1);
}

static void make_line_rows(worker *w, int k, int32_t y, int32_t n_rows)
{
    const plan_stage *s = &w->section->stages[k];
    const stage_need *need = &w->needs[k];
    const int32_t *slots = w->section->run->slots;
    line *l = &w->lines[k];
    span32 dx = bounds_of(slots, s->lo, s->hi, 0), dy = bounds_of(slots, s->lo, s->hi, 1);
    for (int32_t r = 0; r < n_rows; r++) w->destination.row[r] = line_row(l, y + r);
    w->destination.plane_bytes = l->plane_bytes;
    if (s->value_y && (y < dy.lo || y > dy.hi)) {
        call_rows(w, s, s->fill_y, y, 1, need->ends.lo, (int64_t)need->ends.hi + 1);
        if (s->border_x == PLAN_BORDER_value) fill_value_ends(w, s, need, dx, y);
        return;
    }
    if (!span_is_empty(need->x)) make_rows(w, s, y, n_rows);
    char **made = w->destination.row;
    for (int32_t r = 0; r < n_rows; r++) {
        if (s->border_x == PLAN_BORDER_none) break;
        if (s->border_x != PLAN_BORDER_value) { fill_ends(s, need, dx, l, made[r]); continue; }
        if (s->ends_stay && (int64_t)y + r - l->first >= l->slots) continue;
        w->destination.row = made + r;
        fill_value_ends(w, s, need, dx, y + r);
    }
    w->destination.row = made;
}

static void make_sink_rows(worker *w, int k, int32_t y, int32_t n_rows)
{
    const plan_stage *s = &w->section->stages[k];
    driver_run *run = w->section->run;
    const haloi_view *view = &run->views[s->memory];
    char *row = view->data + (int64_t)y * view->stride[1];
    for (int d = 0; d < 3; d++) row += (int64_t)w->frame.outer[d] * view->stride[2 + d];
    for (int32_t r = 0; r < n_rows; r++) w->destination.row[r] = row + r * view->stride[1];
    w->destination.plane_bytes = view->plane_bytes;
    make_rows(w, s, y, n_rows);
}

static void ensure_rows(worker *w, int k, int64_t upto);

/* Rows of the producer's line that rows y .. y + n_rows - 1 of a stage read through an edge. */
static span32 rows_read(const worker *w, const plan_edge *e, int32_t y, int32_t n_rows)
{
    const int32_t *slots = w->section->run->slots;
    row_map m = rows_of_line(&w->section->stages[e->producer], slots, e);
    return map_span(m.border, index_span(e->p_y, e->q_y, (span32){ y, y + n_rows - 1 }, slots[e->lo_y], slots[e->hi_y]), m.rows);
}

static void ensure_producers(worker *w, const plan_stage *s, int32_t y, int32_t n_rows)
{
    for (int j = 0; j < s->n_edges; j++) {
        const plan_edge *e = &w->section->run->plan.edges[s->first_edge + j];
        if (e->producer < 0) continue;
        span32 rows = rows_read(w, e, y, n_rows);
        if (!span_is_empty(rows)) ensure_rows(w, e->producer, rows.hi);
    }
}

/* Rows of its producers' lines that a stage needs for its own: each line keeps all since the oldest of them. */
static void note_reads(worker *w, const plan_stage *s, int32_t y, int32_t n_rows)
{
    span32 dy = bounds_of(w->section->run->slots, s->lo, s->hi, 1);
    if (s->value_y && (y < dy.lo || y > dy.hi)) return;
    for (int j = 0; j < s->n_edges; j++) {
        const plan_edge *e = &w->section->run->plan.edges[s->first_edge + j];
        if (e->producer < 0) continue;
        span32 rows = rows_read(w, e, y, n_rows);
        int64_t kept = span_is_empty(rows) ? 0 : (int64_t)w->lines[e->producer].next - rows.lo;
        if (kept > w->dry[e->producer]) w->dry[e->producer] = (int32_t)min64(kept, INT32_MAX);
    }
}

/* How many rows the next call makes: a whole group where one fits and lies on one side of the domain's edges. */
static int32_t rows_at_once(worker *w, const plan_stage *s, const stage_need *need, int32_t y, int64_t upto)
{
    if (s->group <= 1 || upto - y + 1 < s->group) return 1;
    if (s->group_columns && (w->section->run->no_overlap || span_count(need->x) < s->group_columns)) return 1;
    if (s->group_rows >= 0 && w->section->run->slots[s->group_rows] < s->group) return 1;
    if (s->value_y) {
        span32 dy = bounds_of(w->section->run->slots, s->lo, s->hi, 1);
        if (y < dy.lo || y + s->group - 1 > dy.hi) return 1;
    }
    return s->group;
}

static void ensure_rows(worker *w, int k, int64_t upto)
{
    const plan_stage *s = &w->section->stages[k];
    line *l = &w->lines[k];
    if (upto > w->needs[k].y.hi) upto = w->needs[k].y.hi;
    while (l->next <= upto) {
        int64_t last = min64(upto, (int64_t)l->next + w->section->batch - 1);
        ensure_producers(w, s, l->next, (int32_t)(last - l->next + 1));
        while (l->next <= last) {
            int32_t n_rows = rows_at_once(w, s, &w->needs[k], l->next, last);
            if (w->dry) note_reads(w, s, l->next, n_rows);
            else if (s->memory < 0) make_line_rows(w, k, l->next, n_rows);
            else make_sink_rows(w, k, l->next, n_rows);
            l->next += n_rows;
        }
    }
}

/* ---- one task: a strip of a column block ------------------------------------------------------------- */

/* Where every line's rows lie for the needs at hand; returns the bytes they take (base may be NULL: measured only). */
static int64_t place_lines(const plan_stage *stages, int n_stages, const stage_need *needs, const int32_t *line_slots, line *lines, char *base)
{
    int64_t at = 0;
    for (int k = 0; k < n_stages; k++) {
        const plan_stage *s = &stages[k];
        lines[k].next = lines[k].first = lines[k].before = needs[k].y.lo;
        if (s->memory >= 0 || span_is_empty(needs[k].ends)) { lines[k].slots = 1; continue; }
        int64_t lead = ((int64_t)needs[k].x.lo - needs[k].ends.lo) * s->pixel_bytes;      /* the first made pixel is aligned */
        if (span_is_empty(needs[k].x) || lead < 0) lead = 0;
        int64_t front = (lead + 63) / 64 * 64;
        /* The same for every block, wherever its first pixel lies: what is measured for some holds for all. */
        int64_t plane = (63 + span_count(needs[k].ends) * s->pixel_bytes + 63) / 64 * 64 + 64;
        lines[k].slots = (int32_t)max64(1, min64(line_slots[k], span_count(needs[k].y)));
        lines[k].plane_bytes = plane;
        lines[k].row_bytes = plane * s->planes * s->slab;
        lines[k].base = base ? base + at + (front - lead) - (int64_t)needs[k].ends.lo * s->pixel_bytes : NULL;
        at += lines[k].row_bytes * lines[k].slots;
    }
    return at;
}

static void task_needs(const section_run *r, span32 x, span32 y, stage_need *needs)
{
    const plan_section *section = r->section;
    needs_clear(needs, section->n_stages);
    const plan_stage *driver = &r->stages[section->n_stages - section->n_sinks];
    const int32_t *slots = r->run->slots;
    for (int k = section->n_stages - section->n_sinks; k < section->n_stages; k++) {
        const plan_stage *s = &r->stages[k];
        int32_t dx = slots[s->lo[0]] - slots[driver->lo[0]], dy = slots[s->lo[1]] - slots[driver->lo[1]];
        const region *wanted = &r->regions[s->memory];
        needs[k].x = span_intersection((span32){ x.lo + dx, x.hi + dx }, wanted->axis[0]);
        needs[k].y = span_intersection((span32){ y.lo + dy, y.hi + dy }, wanted->axis[1]);
    }
    section_needs(&r->run->plan, section, slots, needs, NULL);
}

/* How many rows further stage k does as it did in the step that made the rows before its next: its reads stay clear of
 * borders, and nothing that is asked of a producer ends. 0: it did otherwise, or rates differ. */
static int64_t rows_alike(const worker *w, int k, int32_t step)
{
    const section_run *r = w->section;
    const plan_stage *s = &r->stages[k];
    const int32_t *slots = r->run->slots;
    const line *l = &w->lines[k];
    span32 own = bounds_of(slots, s->lo, s->hi, 1);
    if ((int64_t)l->next - l->before != step || (s->value_y && l->before < own.lo)) return 0;
    int64_t ahead = l->next + 2ll * step, alike = min64(w->needs[k].y.hi, own.hi) - ahead;
    for (int j = s->first_edge; j < s->first_edge + s->n_edges; j++) {
        const plan_edge *e = &r->run->plan.edges[j];
        if (e->producer < 0) continue;
        const plan_stage *p = &r->stages[e->producer];
        span32 rows = bounds_of(slots, p->lo, p->hi, 1);
        if (e->p_y != 1 || e->q_y != 1 || (int64_t)l->before + slots[e->lo_y] < rows.lo) return 0;
        alike = min64(alike, min64(rows.hi, w->needs[e->producer].y.hi) - (ahead + slots[e->hi_y]));
    }
    return max64(alike, 0);
}

/* Once all stages do in a step what they did in the step before, a dry run skips to where one of them will do otherwise. */
static int64_t skip_alike(worker *w, int32_t step, int64_t left)
{
    int n = w->section->section->n_stages;
    int64_t skip = left - step;
    for (int k = 0; k < n && skip > 0; k++) if (!span_is_empty(w->needs[k].y)) skip = min64(skip, rows_alike(w, k, step));
    skip = skip > 0 ? skip / step * step : 0;
    for (int k = 0; k < n; k++) {
        w->lines[k].before = w->lines[k].next;
        if (!span_is_empty(w->needs[k].y)) w->lines[k].next += (int32_t)skip;
    }
    return skip;
}

static void run_strip(worker *w, span32 x, span32 y)
{
    section_run *r = w->section;
    const plan_section *section = r->section;
    int driver = section->n_stages - section->n_sinks;
    const int32_t *slots = r->run->slots;
    task_needs(r, x, y, w->needs);
    for (int k = driver; k < section->n_stages && !w->dry; k++)
        for (int d = 0; d < 3; d++) {
            span32 wanted = r->regions[r->stages[k].memory].axis[2 + d];
            if (w->frame.outer[d] < wanted.lo || w->frame.outer[d] > wanted.hi) w->needs[k].x = EMPTY_SPAN;
        }
    if (!w->dry) choose_direct(&r->run->plan, section, slots, r->run->plan.header->stream == PLAN_STREAM_always, w->needs);
    place_lines(r->stages, section->n_stages, w->needs, r->line_slots, w->lines, (char *)w->lines + r->line_offset_bytes);
    int32_t step = r->batch;
    for (int64_t row = y.lo; row <= y.hi && !__atomic_load_n(&r->run->stop, __ATOMIC_RELAXED); row += step) {
        if (w->dry) row += skip_alike(w, step, y.hi - row);
        for (int k = driver; k < section->n_stages; k++) {
            int64_t shift = (int64_t)slots[r->stages[k].lo[1]] - slots[r->stages[driver].lo[1]];
            if (!span_is_empty(w->needs[k].x)) ensure_rows(w, k, min64(row + step - 1, y.hi) + shift);
        }
    }
}

static void run_task(worker *w, int64_t task)
{
    section_run *r = w->section;
    int64_t strip = task % r->n_strips, rest = task / r->n_strips;
    int64_t block = rest % r->n_blocks;
    rest /= r->n_blocks;
    for (int d = 0; d < 3; d++) {
        int64_t n = span_count(r->outer[d]);
        w->frame.outer[d] = (int32_t)(r->outer[d].lo + rest % n);
        rest /= n;
    }
    span32 x = { (int32_t)(r->x.lo + block * r->block_width), (int32_t)min64(r->x.hi, r->x.lo + (block + 1) * (int64_t)r->block_width - 1) };
    span32 y = { (int32_t)(r->y.lo + strip * r->strip_rows), (int32_t)min64(r->y.hi, r->y.lo + (strip + 1) * (int64_t)r->strip_rows - 1) };
    run_strip(w, x, y);
}

/* What a worker keeps: needs, lines, edge tables, row tables, then the lines' bytes. */
static void worker_begin(worker *w, section_run *r, int32_t index)
{
    char *at = r->scratch + index * r->worker_bytes;
    const plan_section *section = r->section;
    w->section = r;
    w->work = 0;
    w->dry = NULL;
    w->lines = (line *)(void *)at;
    at += sizeof(line) * (size_t)section->n_stages;
    w->needs = (stage_need *)(void *)at;
    at += sizeof(stage_need) * (size_t)section->n_stages;
    int32_t n_edges = 0, most_rows = 1;
    for (int k = 0; k < section->n_stages; k++) {
        n_edges += r->stages[k].n_edges;
        most_rows = r->stages[k].group > most_rows ? r->stages[k].group : most_rows;
    }
    w->edge_rows = (haloi_rows *)(void *)at;
    at += sizeof(haloi_rows) * (size_t)n_edges;
    w->destination.row = (char **)(void *)at;
    at += sizeof(char *) * (size_t)most_rows;
    int j = 0;
    for (int k = 0; k < section->n_stages; k++)
        for (int e = 0; e < r->stages[k].n_edges; e++, j++) {
            const plan_edge *edge = &r->run->plan.edges[r->stages[k].first_edge + e];
            w->edge_rows[j].row = (char **)(void *)at;
            if (edge->kind == PLAN_EDGE_anywhere) {
                if (edge->memory >= 0) w->edge_rows[j].row = (char **)(uintptr_t)&r->run->views[edge->memory];
                continue;
            }
            int64_t reach = max64(0, (int64_t)r->run->slots[edge->hi_y] - r->run->slots[edge->lo_y] + 1);
            at += (int64_t)sizeof(char *) * (reach + (int64_t)edge->p_y * r->stages[k].group);
        }
    w->frame.slots = r->run->slots;
    w->frame.params = r->run->params;
    w->frame.dims = r->run->dims;
    w->frame.views = r->run->views;
    w->frame.destination = &w->destination;
    w->frame.no_overlap = r->run->no_overlap;
    w->frame.streaming = 0;
    for (int d = 0; d < 3; d++) w->frame.outer[d] = 0;
}

static int64_t tables_bytes(const section_run *r)
{
    int64_t at = (int64_t)(sizeof(line) + sizeof(stage_need)) * r->section->n_stages;
    int32_t most_rows = 1;
    for (int k = 0; k < r->section->n_stages; k++) {
        const plan_stage *s = &r->stages[k];
        most_rows = s->group > most_rows ? s->group : most_rows;
        for (int e = 0; e < s->n_edges; e++) {
            const plan_edge *edge = &r->run->plan.edges[s->first_edge + e];
            int64_t reach = max64(0, (int64_t)r->run->slots[edge->hi_y] - r->run->slots[edge->lo_y] + 1);
            at += (int64_t)sizeof(haloi_rows);
            if (edge->kind != PLAN_EDGE_anywhere) at += (int64_t)sizeof(char *) * (reach + (int64_t)edge->p_y * s->group);
        }
    }
    return (at + (int64_t)sizeof(char *) * most_rows + 63) / 64 * 64;
}

static void section_task(void *context, int32_t index)
{
    section_run *r = context;
    worker w;
    if (is_cancelled(r->run)) return;
    uint32_t mode = enter_float_mode();
    worker_begin(&w, r, index);
    while (!__atomic_load_n(&r->run->stop, __ATOMIC_RELAXED)) {
        int64_t task = __atomic_fetch_add(&r->next_task, 1, __ATOMIC_RELAXED);
        if (task >= r->n_tasks) break;
        run_task(&w, task);
    }
    __atomic_add_fetch(&r->run->work_done, w.work, __ATOMIC_RELAXED);
    end_streaming();
    leave_float_mode(mode);
}

#endif
