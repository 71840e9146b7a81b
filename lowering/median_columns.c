/* SPDX-License-Identifier: MIT
 * The median of a rectangle from its columns, each sorted once: pixels side by side share all their columns but one, so the sorted
 * columns are stages of their own (of up to four components, one for each place in the order). What is left is to merge
 * sorted lists, by Batcher's odd-even merge, and of the last two merges only what the middle one depends on: 120
 * comparisons for 5 x 5 where sorting all of it takes 200. */
#include "lowering/median_columns.h"

#include <string.h>

#include "lowering/pass_rewrite.h"
#include "lowering/window.h"

enum { MAX_ITEMS = 49, MAX_ROWS = 16, MAX_COLUMNS = 16 };

/* ---- the columns --------------------------------------------------------------------------------------------- */

typedef struct columns {
    window w;
    int    n_columns, n_rows;
    int    n_stages, each;                             /* places in the order, `each` to a stage */
    window_source of[MAX_ROWS];
} columns;

/* One-component pixels: up to four places go into one stage, which sorts once for all of them. */
static void make_columns(columns *c)
{
    tensor_pipe *p = c->w.pipe;
    window_source from = window_source_of(&c->w);
    from.border[0] = BORDER_none;                      /* a column lies inside; the border across comes when it is read */
    from.outside[0] = 0;
    ref items[MAX_ROWS];
    for (int k = 0; k < c->n_rows; k++) items[k] = window_element(&c->w, &from, 0, c->w.lo[1] + k);
    sort_network(p, items, c->n_rows);
    c->each = c->w.t.lanes == 1 ? TENSOR_MAX_LANES : 1;
    window_source read = window_source_of(&c->w);
    read.border[1] = BORDER_none;
    read.outside[1] = 0;
    for (int first = 0; first < c->n_rows; first += c->each) {
        int n = c->n_rows - first < c->each ? c->n_rows - first : c->each;
        window_source *s = &c->of[c->n_stages++];
        *s = read;
        s->t = type_of((kind)c->w.t.kind, c->w.t.lanes * n);
        if (n > 1 && s->outside[0]) s->outside[0] = tensor_splat(p, s->outside[0], n);
        ref body = c->each == 1 ? items[first] : tensor_vec(p, items + first, n);
        s->stage = stage_like(p, c->w.stage, s->t);
        tensor_stage *made = stage_at(p, s->stage), *source = stage_at(p, read.stage);
        made->lo[0] = source->lo[0];
        made->hi[0] = source->hi[0];
        made->tile_width = made->tile_height = 0;
        made->body = body;
    }
}

static void read_column(const columns *c, int column, ref *items)
{
    tensor_pipe *p = c->w.pipe;
    for (int k = 0; k < c->n_rows; k++) {
        ref pixel = window_element(&c->w, &c->of[k / c->each], c->w.lo[0] + column, 0);
        items[k] = c->each == 1 ? pixel : tensor_comp(p, pixel, k % c->each);
    }
}

/* ---- merging --------------------------------------------------------------------------------------------------- */

typedef struct list { int n; ref items[MAX_ITEMS]; } list;

static list every_second(const list *a, int first)
{
    list half = { 0 };
    for (int k = first; k < a->n; k += 2) half.items[half.n++] = a->items[k];
    return half;
}

/* Batcher: merge the even ones and the odd ones, then compare neighbours. */
static list merged(tensor_pipe *p, const list *a, const list *b)
{
    list out = { 0 };
    if (a->n == 0 || b->n == 0) return a->n ? *a : *b;
    if (a->n == 1 && b->n == 1) {
        out.n = 2;
        out.items[0] = median_lower(p, a->items[0], b->items[0]);
        out.items[1] = median_upper(p, a->items[0], b->items[0]);
        return out;
    }
    list a_even = every_second(a, 0), b_even = every_second(b, 0), a_odd = every_second(a, 1), b_odd = every_second(b, 1);
    list even = merged(p, &a_even, &b_even), odd = merged(p, &a_odd, &b_odd);
    out.items[out.n++] = even.items[0];
    for (int k = 0; k < odd.n; k++) {
        bool paired = k + 1 < even.n;
        out.items[out.n++] = paired ? median_lower(p, odd.items[k], even.items[k + 1]) : odd.items[k];
        if (paired) out.items[out.n++] = median_upper(p, odd.items[k], even.items[k + 1]);
    }
    for (int k = odd.n + 1; k < even.n; k++) out.items[out.n++] = even.items[k];
    return out;
}

/* Number `rank` of two sorted lists: the least, over all ways to take rank + 1 from the fronts of both, of the larger end. */
static ref ranked(tensor_pipe *p, const list *a, const list *b, int rank)
{
    ref value = 0;
    for (int from_b = 0; from_b <= b->n && from_b <= rank + 1; from_b++) {
        int from_a = rank + 1 - from_b;
        if (from_a > a->n) continue;
        ref end = from_a == 0 ? b->items[from_b - 1] : from_b == 0 ? a->items[from_a - 1]
                : median_upper(p, a->items[from_a - 1], b->items[from_b - 1]);
        value = value ? median_lower(p, value, end) : end;
    }
    return value;
}

static ref middle_of_columns(const columns *c)
{
    tensor_pipe *p = c->w.pipe;
    list *lists = ARENA_ARRAY(p->memory, list, c->n_columns);
    int n = c->n_columns;
    for (int k = 0; k < n; k++) {
        lists[k].n = c->n_rows;
        read_column(c, k, lists[k].items);
    }
    /* Pairs of columns, then pairs of those: the lists that are merged are about as long; two are left for the end. */
    while (n > 2) {
        int half = 0;
        for (int k = 0; k + 1 < n; k += 2) lists[half++] = merged(p, &lists[k], &lists[k + 1]);
        if (n % 2) lists[half++] = lists[n - 1];
        n = half;
    }
    return ranked(p, &lists[0], &lists[1], (c->n_columns * c->n_rows - 1) / 2);
}

ref median_by_columns(tensor_pipe *p, depends *all, uint32_t stage, uint32_t fold, ref element)
{
    columns c = { .w = { .pipe = p, .stage = stage, .t = node_type(p, element), .element = element } };
    if (node_at(p, element)->op != OP_load || fold_at(p, fold)->where || c.w.t.kind == KIND_bool) return 0;
    if (!window_place(&c.w, all, fold, MAX_ITEMS)) return 0;
    if (c.w.extent[0] < 2 || c.w.extent[0] > MAX_COLUMNS || c.w.extent[1] < 2 || c.w.extent[1] > MAX_ROWS) return 0;
    if (c.w.extent[0] * c.w.extent[1] <= 9) return 0;            /* sorted faster than lines are written and read */
    c.n_columns = (int)c.w.extent[0];
    c.n_rows = (int)c.w.extent[1];
    make_columns(&c);
    tensor_note_add(p, stage, arena_printf(p->memory, "a median of %d columns that are sorted once, in `%s`", c.n_columns, stage_at(p, c.of[0].stage)->name));
    return middle_of_columns(&c);
}
