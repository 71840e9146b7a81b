/* SPDX-License-Identifier: MIT
 * Exact pass `split_folds`: a reduction over a whole picture becomes many short ones, where no order of its elements makes another
 * bit.
 *
 *   rows[l, y]     elements l, l + 64, l + 128 ... of row y, l in 0..63
 *   chunks[l, c]   rows 16c to 16c + 15 of that
 *   columns[l]     all chunks
 *   total          all 64 columns
 *
 * Why: written as one value the picture would be one loop, which neither vectors nor threads can share and which a graphics
 * processor may not even finish; no loop here is longer than a 64th of the picture's width or a 16th of its height. f32 sums
 * have an order of their own (order_sums), of the same shape.
 *
 * argmin and argmax look for the least element first, then for the first line that has it, and for it there.
 *
 * Which: split_plan.h. Those whose value is the same everywhere, and those of few places, each of which then has its own rows:
 * rows[k, y] is all of row y for place k.
 * What isn't there counts as the neutral element. Requires nothing; adds stages. Keeps every bit. */
#include "lowering/access.h"
#include "lowering/pass.h"
#include "lowering/pass_rewrite.h"
#include "lowering/split_plan.h"

enum { LANES = 64, CHUNK_ROWS = 16 };

/* What a result became, for the other stages that ask for it. */
typedef struct total { uint32_t fold, stage; int which; } total;

/* What the fold of a position became: the element that is the least, binders of its place, and whether there is one. */
typedef struct position { uint32_t fold; ref best, at[2], found; } position;

typedef struct splitting {
    uint32_t    stage;                /* at hand */
    split_plans plans;
    LIST(total) totals;
    LIST(position) positions;
} splitting;

/* One accumulator of a fold. */
typedef struct split {
    tensor_pipe *pipe;
    split_plan how;
    uint32_t   stage;
    tensor_op  op;
    type       t;
    ref        element, where, neutral;
    ref        last_x, last_y;        /* of the elements along x and y, from 0 on; -1: there are none */
} split;

static ref integer(tensor_pipe *p, int32_t value) { return tensor_i32(p, value); }
static ref plus(tensor_pipe *p, ref a, ref b) { return tensor_op2(p, OP_add, a, b); }
static ref minus(tensor_pipe *p, ref a, ref b) { return tensor_op2(p, OP_sub, a, b); }
static ref times(tensor_pipe *p, ref a, int32_t by) { return tensor_op2(p, OP_mul, a, integer(p, by)); }
static ref over(tensor_pipe *p, ref a, int32_t by) { return tensor_normalize(p, tensor_op2(p, OP_floordiv, a, integer(p, by))); }

/* ---- expressions in other stages ---------------------------------------------------------------------------------- */

/* binder k of the fold becomes binder[k], coordinate d of the stage at hand coordinate[d]. */
typedef struct moving { uint32_t fold; ref binder[TENSOR_MAX_BINDERS], coordinate[TENSOR_MAX_RANK]; } moving;

static ref move_visit(rewriter *w, ref r)
{
    const moving *m = w->user;
    const tensor_node *n = node_at(w->pipe, r);
    if (n->op == OP_coord) return m->coordinate[n->index];
    return n->op == OP_binder && n->payload == m->fold ? m->binder[n->index] : 0;
}

static ref moved(tensor_pipe *p, moving *m, ref r)
{
    rewriter w;
    rewriter_begin(&w, p, move_visit, m);
    return rewrite(&w, r);
}

static uint32_t new_stage(const split *s, int rank)
{
    const tensor_stage *at = stage_at(s->pipe, s->stage);
    return tensor_stage_new(s->pipe, STAGE_compute, tensor_unique_name(s->pipe, at->name), s->t, rank, at->where);
}

static ref last_lane(const split *s)
{
    return tensor_normalize(s->pipe, tensor_op2(s->pipe, OP_min, s->last_x, integer(s->pipe, LANES - 1)));
}

/* Rows have lanes or the first place along x, the row along y, then the other places. */
static int dimension_of_place(int k) { return k > 0 ? k + 1 : k; }

static void bound_stage(const split *s, uint32_t stage, ref last_row)
{
    tensor_pipe *p = s->pipe;
    ref zero = integer(p, 0), last = s->how.x >= 0 ? last_lane(s) : 0;
    tensor_stage *made = stage_at(p, stage);
    const tensor_stage *at = stage_at(p, s->stage);
    if (last) {
        made->lo[0] = zero;
        made->hi[0] = last;
    }
    for (int k = 0; k < s->how.n_places; k++) {
        made->lo[dimension_of_place(k)] = at->lo[s->how.place[k]];
        made->hi[dimension_of_place(k)] = at->hi[s->how.place[k]];
    }
    if (last_row) {
        made->lo[1] = zero;
        made->hi[1] = last_row;
    }
}

/* ---- rows ------------------------------------------------------------------------------------------------------ */

/* Steps of 64 elements, but for the last of them, which may be shorter. */
static ref last_step(const split *s) { return over(s->pipe, s->last_x, LANES); }

/* The element that is lane 0 when the lanes are the last elements of a row. */
static ref first_of_last(const split *s)
{
    tensor_pipe *p = s->pipe;
    return tensor_normalize(p, tensor_op2(p, OP_max, minus(p, s->last_x, integer(p, LANES - 1)), integer(p, 0)));
}

static ref along_x(const split *s, ref lo, ref first)
{
    return plus(s->pipe, tensor_normalize(s->pipe, plus(s->pipe, lo, first)), tensor_coord(s->pipe, 0));
}

/* Of the last lanes, those that no step had before. */
static ref is_new(const split *s)
{
    tensor_pipe *p = s->pipe;
    ref first = tensor_normalize(p, minus(p, times(p, last_step(s), LANES), first_of_last(s)));
    return tensor_op2(p, OP_le, first, tensor_coord(p, 0));
}

static ref both(tensor_pipe *p, ref a, ref b) { return a && b ? tensor_op2(p, OP_and, a, b) : a ? a : b; }

/* The elements of a row on top of `init`: with `steps` those at 64k + lane, but for the last step; without, that one; or, where
 * there are places, all. */
static ref add_elements(const split *s, bool steps, ref init)
{
    tensor_pipe *p = s->pipe;
    tensor_fold f = *fold_at(p, s->how.fold), made = { .form = FOLD_loop, .n_accs = 1, .init = { init } };
    int x = s->how.x, y = s->how.y, n_binders = f.n_binders - (y >= 0) - (x >= 0 && !steps);
    uint32_t fold = n_binders ? tensor_fold_new(p, FOLD_loop, n_binders, 1) : 0;
    moving m = { .fold = s->how.fold };
    for (int k = 0; k < s->how.n_places; k++) m.coordinate[s->how.place[k]] = tensor_coord(p, dimension_of_place(k));
    for (int b = 0; b < f.n_binders; b++) {
        if (b == y) m.binder[b] = plus(p, f.lo[b], tensor_coord(p, 1));
        else if (b == x && !steps) m.binder[b] = along_x(s, f.lo[b], first_of_last(s));
        if (m.binder[b]) continue;
        ref i = tensor_binder(p, fold, made.n_binders);
        m.binder[b] = b == x ? plus(p, along_x(s, f.lo[b], integer(p, 0)), times(p, i, LANES)) : i;
        made.lo[made.n_binders] = b == x ? integer(p, 0) : f.lo[b];
        made.hi[made.n_binders] = b == x ? tensor_normalize(p, minus(p, last_step(s), integer(p, 1))) : f.hi[b];
        made.binder_names[made.n_binders++] = f.binder_names[b];
    }
    ref acc = fold ? tensor_acc(p, fold, 0, s->t) : init;
    ref mask = x >= 0 && !steps && !is_idempotent(s->op) ? is_new(s) : 0;
    made.where = both(p, mask, s->where ? moved(p, &m, s->where) : 0);
    made.next[0] = tensor_op2(p, s->op, acc, moved(p, &m, s->element));
    if (!fold) return made.where ? tensor_select(p, made.where, made.next[0], init) : made.next[0];
    *fold_at(p, fold) = made;
    return tensor_result(p, fold, 0);
}

static uint32_t rows_stage(const split *s)
{
    ref body = add_elements(s, s->how.x >= 0, s->neutral);
    if (s->how.x >= 0) body = add_elements(s, false, body);
    uint32_t stage = new_stage(s, (s->how.x >= 0 ? 1 : s->how.n_places) + (s->how.y >= 0));
    bound_stage(s, stage, s->how.y >= 0 ? s->last_y : 0);
    stage_at(s->pipe, stage)->body = body;
    return stage;
}

/* ---- rows together, lanes together ----------------------------------------------------------------------------------- */

/* A loop from 0 to `last` over pixels of `stage`, which is read where its binder is `along` and elsewhere at `index`. */
static ref add_pixels(const split *s, uint32_t stage, ref last, uint32_t fold, const ref *index, const uint8_t *border,
                      const char *name)
{
    tensor_pipe *p = s->pipe;
    const ref outside[TENSOR_MAX_RANK] = { s->neutral, s->neutral };
    ref pixel = tensor_load(p, stage, index, border, outside, s->t);
    ref next = tensor_op2(p, s->op, tensor_acc(p, fold, 0, s->t), pixel), zero = integer(p, 0);
    tensor_fold *f = fold_at(p, fold);
    f->lo[0] = zero;
    f->hi[0] = last;
    f->init[0] = s->neutral;
    f->next[0] = next;
    f->binder_names[0] = name;
    return tensor_result(p, fold, 0);
}

static uint32_t chunks_stage(const split *s, uint32_t rows)
{
    tensor_pipe *p = s->pipe;
    int rank = stage_at(p, rows)->rank;
    uint32_t fold = tensor_fold_new(p, FOLD_loop, 1, 1);
    const uint8_t border[TENSOR_MAX_RANK] = { BORDER_none, BORDER_value };
    ref index[TENSOR_MAX_RANK];
    for (int d = 0; d < rank; d++) index[d] = tensor_coord(p, d);
    index[1] = plus(p, times(p, index[1], CHUNK_ROWS), tensor_binder(p, fold, 0));
    ref body = add_pixels(s, rows, integer(p, CHUNK_ROWS - 1), fold, index, border, "row");
    uint32_t stage = new_stage(s, rank);
    bound_stage(s, stage, over(p, s->last_y, CHUNK_ROWS));
    stage_at(p, stage)->body = body;
    return stage;
}

/* All chunks of a lane, or, where the stage at hand is at a place, of that place. */
static ref all_chunks(const split *s, uint32_t chunks)
{
    tensor_pipe *p = s->pipe;
    uint32_t fold = tensor_fold_new(p, FOLD_loop, 1, 1);
    ref index[TENSOR_MAX_RANK] = { tensor_coord(p, 0) };
    for (int k = 0; k < s->how.n_places; k++) index[dimension_of_place(k)] = tensor_coord(p, s->how.place[k]);
    index[1] = tensor_binder(p, fold, 0);
    return add_pixels(s, chunks, over(p, s->last_y, CHUNK_ROWS), fold, index, NULL, "chunk");
}

static uint32_t columns_stage(const split *s, uint32_t chunks)
{
    tensor_pipe *p = s->pipe;
    ref body = all_chunks(s, chunks);
    uint32_t stage = new_stage(s, 1);
    bound_stage(s, stage, 0);
    stage_at(p, stage)->body = body;
    return stage;
}

static uint32_t total_stage(const split *s, uint32_t columns)
{
    tensor_pipe *p = s->pipe;
    uint32_t fold = tensor_fold_new(p, FOLD_loop, 1, 1);
    ref lane = tensor_binder(p, fold, 0);
    ref body = add_pixels(s, columns, last_lane(s), fold, &lane, NULL, "lane");
    uint32_t stage = new_stage(s, 0);
    stage_at(p, stage)->body = body;
    return stage;
}

/* ---- values ------------------------------------------------------------------------------------------------------------- */

/* The value of all elements, for the stage at hand. */
static ref split_value(splitting *all, const split *s, int which)
{
    tensor_pipe *p = s->pipe;
    uint32_t stage = rows_stage(s);
    if (s->how.y >= 0) stage = chunks_stage(s, stage);
    if (s->how.x < 0) return all_chunks(s, stage);
    if (s->how.y >= 0) stage = columns_stage(s, stage);
    stage = total_stage(s, stage);
    LIST_PUSH(p->memory, all->totals, ((total){ s->how.fold, stage, which }));
    return tensor_load(p, stage, NULL, NULL, NULL, s->t);
}

static ref known_total(tensor_pipe *p, const splitting *s, uint32_t fold, int which, type t)
{
    for (uint32_t k = 0; k < s->totals.count; k++)
        if (s->totals.items[k].fold == fold && s->totals.items[k].which == which)
            return tensor_load(p, s->totals.items[k].stage, NULL, NULL, NULL, t);
    return 0;
}

static ref last_element(tensor_pipe *p, const tensor_fold *f, int b, bool lacks)
{
    if (b < 0) return 0;
    ref last = minus(p, f->hi[b], f->lo[b]);
    return tensor_normalize(p, lacks ? tensor_op2(p, OP_max, last, integer(p, -1)) : last);
}

/* ---- positions ---------------------------------------------------------------------------------------------------- */

/* The least of a binder over the elements where `holds`: a number beyond its bounds when there are none. */
static ref least_binder(splitting *all, split s, int binder, ref holds)
{
    tensor_pipe *p = s.pipe;
    tensor_fold f = *fold_at(p, s.how.fold);
    s.op = OP_min;
    s.t = type_of(KIND_i32, 1);
    s.neutral = neutral_element(p, s.op, s.t);
    s.element = tensor_binder(p, s.how.fold, binder);
    s.where = both(p, holds, s.where);
    s.last_x = last_element(p, &f, s.how.x, s.how.x_may_lack);
    s.last_y = last_element(p, &f, s.how.y, s.how.y_may_lack);
    return split_value(all, &s, TENSOR_MAX_ACCS + binder);
}

/* The second binder's loop, in the line where the first one is `at`. Where there is no such line, over nothing. */
static ref second_binder(splitting *all, split s, ref best, ref at)
{
    tensor_pipe *p = s.pipe;
    tensor_fold f = *fold_at(p, s.how.fold);
    uint32_t fold = tensor_fold_new(p, FOLD_loop, 1, 1);
    ref values[TENSOR_MAX_BINDERS] = { tensor_op2(p, OP_min, at, f.hi[0]), tensor_binder(p, fold, 0) };
    ref before = minus(p, f.lo[1], integer(p, 1));
    ref hi = tensor_select(p, tensor_op2(p, OP_le, f.lo[0], f.hi[0]), f.hi[1], before), lo = f.lo[1];
    ref element = replace_binders(p, s.element, s.how.fold, values);
    s.where = s.where ? replace_binders(p, s.where, s.how.fold, values) : 0;
    fold_at(p, fold)->lo[0] = lo;
    fold_at(p, fold)->hi[0] = hi;
    fold_at(p, fold)->binder_names[0] = f.binder_names[1];
    bool may_lack = s.how.x == 1 ? s.how.x_may_lack : s.how.y == 1 ? s.how.y_may_lack : true;
    s.how = (split_plan){ .fold = fold, .x = 0, .y = -1, .x_may_lack = may_lack };
    return least_binder(all, s, 0, tensor_op2(p, OP_eq, element, best));
}

/* The least element first; then the first line that has it, and where in that line. */
static const position *find_position(splitting *all, split s, const fold_position *form)
{
    tensor_pipe *p = s.pipe;
    tensor_fold f = *fold_at(p, s.how.fold);
    s.op = form->op;
    s.t = form->t;
    s.neutral = neutral_element(p, s.op, s.t);
    s.last_x = last_element(p, &f, s.how.x, s.how.x_may_lack);
    s.last_y = last_element(p, &f, s.how.y, s.how.y_may_lack);
    position found = { .fold = s.how.fold, .best = split_value(all, &s, 0) };
    found.at[0] = least_binder(all, s, 0, tensor_op2(p, OP_eq, s.element, found.best));
    found.at[1] = f.n_binders > 1 ? second_binder(all, s, found.best, found.at[0]) : 0;
    found.found = tensor_op2(p, OP_le, found.at[0], f.hi[0]);
    LIST_PUSH(p->memory, all->positions, found);
    return &all->positions.items[all->positions.count - 1];
}

static ref position_value(rewriter *w, const split_plan *how, int which)
{
    splitting *all = w->user;
    tensor_pipe *p = w->pipe;
    fold_position form;
    const position *at = NULL;
    tensor_fold f = *fold_at(p, how->fold);
    fold_position_of(p, how->fold, &form);
    for (uint32_t k = 0; k < all->positions.count; k++)
        if (all->positions.items[k].fold == how->fold) at = &all->positions.items[k];
    if (!at) {
        split s = { .pipe = p, .how = *how, .stage = all->stage, .element = rewrite(w, form.element) };
        s.where = f.where ? rewrite(w, f.where) : 0;
        at = find_position(all, s, &form);
    }
    if (which == 1) return at->found;
    return tensor_select(p, at->found, which == 0 ? at->best : at->at[form.binder[which]], rewrite(w, f.init[which]));
}

/* ---- all of them ----------------------------------------------------------------------------------------------------- */

static ref split_visit(rewriter *w, ref r)
{
    splitting *all = w->user;
    tensor_pipe *p = w->pipe;
    tensor_node n = *node_at(p, r);
    const split_plan *how = n.op == OP_result ? split_plan_of(&all->plans, n.payload, all->stage) : NULL;
    fold_step next;
    if (how && how->is_position) return position_value(w, how, n.index);
    if (!how || !fold_step_of(p, n.payload, n.index, &next)) return 0;
    tensor_fold f = *fold_at(p, n.payload);
    ref value = known_total(p, all, n.payload, n.index, n.type), neutral = neutral_element(p, next.op, next.t);
    if (!value) {
        split s = { .pipe = p, .how = *how, .stage = all->stage, .op = next.op, .t = next.t, .neutral = neutral };
        s.element = rewrite(w, next.element);
        if (next.negative) s.element = tensor_op1(p, OP_neg, s.element);
        s.where = f.where ? rewrite(w, f.where) : 0;
        s.last_x = last_element(p, &f, how->x, how->x_may_lack);
        s.last_y = last_element(p, &f, how->y, how->y_may_lack);
        value = split_value(all, &s, n.index);
    }
    ref init = rewrite(w, f.init[n.index]);
    return init == neutral ? value : tensor_op2(p, next.op, init, value);
}

/* A total that one value alone is made of is computed there. */
static void put_back_totals(tensor_pipe *p, const splitting *s, uint32_t n_stages)
{
    stage_loads loads = { 0 };
    for (uint32_t k = 0; k < s->totals.count; k++) {
        uint32_t readers = 0, reader = 0;
        for (uint32_t r = 1; r < p->stages.count; r++) {
            if (stage_at(p, r)->kind != STAGE_compute || !stage_reads(p, &loads, r, s->totals.items[k].stage)) continue;
            reader = r;
            readers++;
        }
        if (readers == 1 && reader < n_stages && stage_at(p, reader)->rank == 0) inline_reads(p, reader, s->totals.items[k].stage);
    }
}

bool pass_split_folds(tensor_pipe *p)
{
    splitting s = { .plans = split_plans_of(p) };
    if (s.plans.count == 0) return false;
    uint32_t n_stages = p->stages.count;
    for (s.stage = 1; s.stage < n_stages; s.stage++) {
        rewriter w;
        if (stage_at(p, s.stage)->kind != STAGE_compute) continue;
        rewriter_begin(&w, p, split_visit, &s);
        ref body = rewrite(&w, stage_at(p, s.stage)->body);
        stage_at(p, s.stage)->body = body;
    }
    put_back_totals(p, &s, n_stages);
    sort_stages(p);
    return true;
}
