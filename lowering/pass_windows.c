/* SPDX-License-Identifier: MIT
 * Exact pass `windows`: the largest (smallest) of a fixed window in fewer comparisons.
 *
 *   a rectangle       the largest of each column into a stage of its own, then the largest of those: w + h instead of w * h
 *   any other shape   cut into runs down the rows. The largest of 2, 4, 8 ... rows below one another are stages, each made of
 *                     the one before; a run is covered by two of them that overlap. So a disk of radius r takes 4 r comparisons
 *   a long line       the same with one run
 *
 * min and max of the language take every element as one that is ordered (NaN as the identity, -0 as +0) and then don't mind the
 * order nor an element that comes twice; other loops over min and max are left alone. Where elements are made of pixels, they
 * are made once per pixel, in a stage of their own.
 * Requires nothing. Keeps every bit; adds stages. */
#include "lowering/access.h"
#include "lowering/pass.h"
#include "lowering/pass_rewrite.h"
#include "lowering/window.h"

#include <string.h>

enum { LONG_LINE = 10, SHARED_RUNS = 6, MAX_ELEMENTS = 65536, MAX_LEVELS = 16 };

static ref better(const window *w, ref a, ref b) { return !a || a == b ? b : tensor_op2(w->pipe, w->op, a, b); }

/* ---- doubling ----------------------------------------------------------------------------------------------- */

/* Level k holds the best of 2^k elements one after another along `axis`, from that of its own place on. */
typedef struct levels {
    const window  *w;
    int            axis, count;
    window_source of[MAX_LEVELS];
    int64_t        lo[MAX_LEVELS], hi[MAX_LEVELS];      /* where it is read, from the reader's place */
} levels;

static int level_for(int64_t length)
{
    int k = 0;
    while ((int64_t)2 << k <= length) k++;
    return k;
}

static void levels_begin(levels *l, const window *w, window_source from, int axis)
{
    *l = (levels){ .w = w, .axis = axis, .count = 1, .of = { from } };
    for (int k = 0; k < MAX_LEVELS; k++) { l->lo[k] = INT64_MAX; l->hi[k] = INT64_MIN; }
}

static void note_read(levels *l, int k, int64_t at)
{
    if (at < l->lo[k]) l->lo[k] = at;
    if (at > l->hi[k]) l->hi[k] = at;
}

static void note_run(levels *l, int64_t first, int64_t length)
{
    int k = level_for(length);
    note_read(l, k, first);
    note_read(l, k, first + length - ((int64_t)1 << k));
    if (k >= l->count) l->count = k + 1;
}

static ref moved_bound(tensor_pipe *p, ref bound, int64_t by)
{
    return tensor_normalize(p, tensor_op2(p, OP_add, bound, tensor_i32(p, (int32_t)by)));
}

static void make_level(levels *l, int k)
{
    const window *w = l->w;
    tensor_pipe *p = w->pipe;
    window_source below = l->of[k - 1];
    int other = 1 - l->axis;
    window_source inside = below;                     /* the level has the source's extent across, and no border there */
    inside.border[other] = BORDER_none;
    inside.outside[other] = 0;
    int64_t half = (int64_t)1 << (k - 1);
    ref a = window_element(w, &inside, 0, 0), b = window_element(w, &inside, l->axis == 0 ? half : 0, l->axis == 1 ? half : 0);
    ref body = better(w, a, b);
    ref lo = moved_bound(p, stage_at(p, w->stage)->lo[l->axis], l->lo[k]), hi = moved_bound(p, stage_at(p, w->stage)->hi[l->axis], l->hi[k]);
    uint32_t made = stage_like(p, w->stage, w->t);
    tensor_stage *s = stage_at(p, made);
    s->lo[l->axis] = lo;
    s->hi[l->axis] = hi;
    if (other < s->rank) { s->lo[other] = stage_at(p, below.stage)->lo[other]; s->hi[other] = stage_at(p, below.stage)->hi[other]; }
    s->body = body;
    s->tile_width = s->tile_height = 0;
    l->of[k] = below;
    l->of[k].stage = made;
    l->of[k].border[l->axis] = BORDER_none;
    l->of[k].outside[l->axis] = 0;
}

/* After all runs are noted. */
static void make_levels(levels *l)
{
    for (int k = l->count - 1; k > 1; k--) {
        if (l->lo[k] > l->hi[k]) continue;
        note_read(l, k - 1, l->lo[k]);
        note_read(l, k - 1, l->hi[k] + ((int64_t)1 << (k - 1)));
    }
    for (int k = 1; k < l->count; k++) make_level(l, k);
}

/* The best of a run at a distance `across` on the other axis, added to `so_far` (0: nothing). */
static ref add_run(const levels *l, ref so_far, int64_t across, int64_t first, int64_t length)
{
    int k = level_for(length);
    int64_t at[2] = { first, first + length - ((int64_t)1 << k) };
    for (int i = 0; i < 2; i++) {
        if (i == 1 && at[1] == at[0]) break;
        ref e = l->axis == 1 ? window_element(l->w, &l->of[k], across, at[i]) : window_element(l->w, &l->of[k], at[i], across);
        so_far = better(l->w, so_far, e);
    }
    return so_far;
}

/* ---- a line --------------------------------------------------------------------------------------------------- */

/* The best of `length` elements along an axis: one after another, or by doubling. */
static ref line_value(const window *w, window_source from, int axis, int64_t across, int64_t first, int64_t length)
{
    if (length >= LONG_LINE) {
        levels l;
        levels_begin(&l, w, from, axis);
        note_run(&l, first, length);
        make_levels(&l);
        return add_run(&l, 0, across, first, length);
    }
    ref value = 0;
    for (int64_t k = first; k < first + length; k++) {
        ref e = axis == 1 ? window_element(w, &from, across, k) : window_element(w, &from, k, across);
        value = better(w, value, e);
    }
    return value;
}

/* ---- shapes ----------------------------------------------------------------------------------------------------- */

/* Columns of the source and rows of the reader: the border across comes when it is read. */
static uint32_t line_stage(const window *w, uint32_t source, ref body)
{
    tensor_pipe *p = w->pipe;
    uint32_t made = stage_like(p, w->stage, w->t);
    tensor_stage *s = stage_at(p, made);
    s->lo[0] = stage_at(p, source)->lo[0];
    s->hi[0] = stage_at(p, source)->hi[0];
    s->tile_width = s->tile_height = 0;
    s->body = body;
    return made;
}

static ref rectangle(const window *w)
{
    tensor_pipe *p = w->pipe;
    window_source from = window_source_of(w);
    uint32_t made = line_stage(w, from.stage, line_value(w, from, 1, 0, w->lo[1], w->extent[1]));
    window_source across = from;
    across.stage = made;
    across.border[1] = BORDER_none;
    across.outside[1] = 0;
    tensor_note_add(p, w->stage, arena_printf(p->memory, "a rectangle: first the columns, in `%s`, then the rows", stage_at(p, made)->name));
    return line_value(w, across, 0, 0, w->lo[0], w->extent[0]);
}

typedef struct run { int64_t across, first, length; } run;

/* Runs down the rows, of one column after another. */
static int runs_of(const window *w, run *runs)
{
    int n = 0;
    for (int64_t x = 0; x < w->extent[0]; x++)
        for (int64_t y = 0; y < w->extent[1]; y++) {
            if (!w->holds[y * w->extent[0] + x]) continue;
            int64_t first = y;
            while (y + 1 < w->extent[1] && w->holds[(y + 1) * w->extent[0] + x]) y++;
            runs[n++] = (run){ w->lo[0] + x, w->lo[1] + first, y - first + 1 };
        }
    return n;
}

/* Longest first, and what is read from the same rows one after another: their pointers stay at hand. */
static void sort_runs(run *runs, int n)
{
    for (int k = 1; k < n; k++)
        for (int j = k; j > 0; j--) {
            run *a = &runs[j - 1], *b = &runs[j], t = *a;
            if (a->length > b->length || (a->length == b->length && a->first <= b->first)) break;
            *a = *b;
            *b = t;
        }
}

static ref add_runs(const levels *l, ref value, const run *runs, int n)
{
    for (int k = 0; k < n; k++) value = add_run(l, value, runs[k].across, runs[k].first, runs[k].length);
    return value;
}

/* A run that many columns have becomes a line of its own: read once a column, and along the row where columns are side by side. */
static ref add_shared_runs(const levels *l, ref value, const run *runs, int n)
{
    const window *w = l->w;
    ref body = add_run(l, 0, 0, runs->first, runs->length);
    window_source from = l->of[level_for(runs->length)];
    uint32_t made = line_stage(w, from.stage, body);
    from.stage = made;
    from.border[1] = BORDER_none;
    from.outside[1] = 0;
    for (int k = 0, side; k < n; k += side) {                     /* sorted: columns from left to right */
        for (side = 1; k + side < n && runs[k + side].across == runs[k].across + side;) side++;
        value = better(w, value, line_value(w, from, 0, 0, runs[k].across, side));
    }
    return value;
}

static ref shape_in_runs(const window *w)
{
    tensor_pipe *p = w->pipe;
    run *runs = ARENA_ARRAY(p->memory, run, (size_t)w->extent[0] * (size_t)w->extent[1]);
    int n = runs_of(w, runs), elements = 0, reads = 0;
    for (int k = 0; k < n; k++) {
        elements += (int)runs[k].length;
        reads += runs[k].length == (int64_t)1 << level_for(runs[k].length) ? 1 : 2;
    }
    if (n == 0 || 2 * reads > elements || reads > 400) return 0;
    sort_runs(runs, n);
    levels l;
    levels_begin(&l, w, window_source_of(w), 1);
    for (int k = 0; k < n; k++) note_run(&l, runs[k].first, runs[k].length);
    make_levels(&l);
    ref value = 0;
    for (int k = 0, same; k < n; k += same) {
        for (same = 1; k + same < n && runs[k + same].first == runs[k].first && runs[k + same].length == runs[k].length;) same++;
        value = same >= SHARED_RUNS && runs[k].length > 1 ? add_shared_runs(&l, value, runs + k, same) : add_runs(&l, value, runs + k, same);
    }
    tensor_note_add(p, w->stage, arena_printf(p->memory, "a window of %d elements in %d runs down the rows, from lines of the best of up to %d rows",
                                              elements, n, 1 << (l.count - 1)));
    return value;
}

static ref window_value(const window *w)
{
    int64_t n = w->extent[0] * w->extent[1], held = 0;
    for (int64_t k = 0; k < n; k++) held += w->holds[k];
    bool full = held == n;
    /* Across rows first, the value outside rows would win over that outside columns. */
    bool values_apart = node_at(w->pipe, w->load)->border[0] == BORDER_value && stage_at(w->pipe, node_at(w->pipe, w->load)->payload)->rank > 1
        && node_at(w->pipe, w->load)->border[1] == BORDER_value && load_outside(w->pipe, w->load, 0) != load_outside(w->pipe, w->load, 1);
    if (full && w->extent[0] == 1) return n >= LONG_LINE ? line_value(w, window_source_of(w), 1, w->lo[0], w->lo[1], w->extent[1]) : 0;
    if (full && w->extent[1] == 1)
        return n >= LONG_LINE && !values_apart ? line_value(w, window_source_of(w), 0, w->lo[1], w->lo[0], w->extent[0]) : 0;
    if (full && w->extent[0] + w->extent[1] + 1 < n) return rectangle(w);
    return shape_in_runs(w);
}

/* ---- all of them -------------------------------------------------------------------------------------------------- */

typedef struct windows { depends all; uint32_t stage; bool changed; } windows;

static ref window_result(rewriter *w, ref r, const ref *args)
{
    (void)args;
    windows *all = w->user;
    window found;
    if (node_at(w->pipe, r)->op != OP_result) return 0;
    if (!window_match(w->pipe, &all->all, all->stage, node_at(w->pipe, r)->payload, MAX_ELEMENTS, &found)) return 0;
    ref value = window_value(&found);
    all->changed = all->changed || value;
    return value;
}

/* A memo per stage: the same fold over another domain has other lines. */
bool pass_windows(tensor_pipe *p)
{
    windows all = { 0 };
    uint32_t n_stages = p->stages.count;
    for (all.stage = 1; all.stage < n_stages; all.stage++) {
        if (!has_window(p, all.stage)) continue;
        rewriter w;
        rewriter_begin(&w, p, NULL, &all);
        w.rebuild = window_result;
        ref body = rewrite(&w, stage_at(p, all.stage)->body);
        stage_at(p, all.stage)->body = body;
    }
    if (all.changed) sort_stages(p);
    return all.changed;
}
