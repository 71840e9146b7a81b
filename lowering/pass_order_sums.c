/* SPDX-License-Identifier: MIT
 * Define pass `order_sums`: an f32 sum over a whole picture gets an order that vectors and threads can keep.
 *
 *   lanes[l, r]  = element l + element l + 16 + element l + 32 ... of row r, l in 0..15
 *   chunks[c]    = row 64c + row 64c + 1 + ... + row 64c + 63, a row being the 16 lanes added 8-4-2-1
 *   tree.k[c]    = 32 neighbours pairwise; five times, which reaches 2^25 chunks; the last is the sum
 *
 * Why: a plain loop's order is one long chain of roundings that nothing can run in parallel; this one is fixed by the picture's
 * size alone, so no thread count, strip or vector width is ever seen in the result, and its rounding errors are smaller.
 * What isn't there (the end of a short row, chunk or tree) counts as -0.0, the one number that changes nothing when added.
 *
 * Requires FOLD_image_sum with next = add(acc, element). A sum that depends on where it stands (on coordinates, on an outer
 * reduction) stays a loop in the order written. Leaves no FOLD_image_sum; adds stages; breaks nothing. */
#include "lowering/access.h"
#include "lowering/pass.h"
#include "lowering/pass_rewrite.h"

enum { LANES = 16, CHUNK_ROWS = 64, TREE_WIDTH = 32, TREE_LEVELS = 5 };

typedef struct ordering { uint32_t stage; bool changed; depends all; } ordering;

static ref integer(tensor_pipe *p, int32_t value) { return tensor_i32(p, value); }
static ref plus(tensor_pipe *p, ref a, ref b) { return tensor_op2(p, OP_add, a, b); }
static ref minus(tensor_pipe *p, ref a, ref b) { return tensor_op2(p, OP_sub, a, b); }
static ref floor_over(tensor_pipe *p, ref a, int32_t by) { return tensor_op2(p, OP_floordiv, a, integer(p, by)); }
static ref nothing(tensor_pipe *p, type t) { return tensor_splat(p, tensor_f32(p, -0.0f), t.lanes); }

static uint32_t new_stage(tensor_pipe *p, uint32_t of, type t, int rank)
{
    const char *name = tensor_unique_name(p, stage_at(p, of)->name);
    return tensor_stage_new(p, STAGE_compute, name, t, rank, stage_at(p, of)->where);
}

/* ---- lanes of rows --------------------------------------------------------------------------------------- */

typedef struct whole_sum { uint32_t fold; ref element, where, x_lo, x_hi, y_lo, width, height; type t; } whole_sum;

/* A loop over k = from..to of elements x_lo + 16k + lane of a row, on top of `init`. In the tail the last of them may lie
 * beyond the row: they are left out, and their index stays inside. */
static ref lane_loop(tensor_pipe *p, const whole_sum *s, ref from, ref to, bool is_tail, ref init)
{
    uint32_t fold = tensor_fold_new(p, FOLD_loop, 1, 1);
    ref step = tensor_op2(p, OP_mul, tensor_binder(p, fold, 0), integer(p, LANES));
    ref x = plus(p, plus(p, s->x_lo, tensor_coord(p, 0)), step), inside = tensor_op2(p, OP_le, x, s->x_hi);
    if (is_tail) x = tensor_op2(p, OP_min, x, s->x_hi);
    ref at[2] = { x, plus(p, s->y_lo, tensor_coord(p, 1)) };
    ref where = s->where ? replace_binders(p, s->where, s->fold, at) : 0;
    if (is_tail) where = where ? tensor_op2(p, OP_and, inside, where) : inside;
    ref next = plus(p, tensor_acc(p, fold, 0, s->t), replace_binders(p, s->element, s->fold, at));
    tensor_fold *f = fold_at(p, fold);
    f->lo[0] = from;
    f->hi[0] = to;
    f->where = where;
    f->init[0] = init;
    f->next[0] = next;
    f->binder_names[0] = "k";
    return tensor_result(p, fold, 0);
}

static uint32_t lanes_stage(tensor_pipe *p, const whole_sum *s, uint32_t of)
{
    ref full = tensor_normalize(p, floor_over(p, s->width, LANES));
    ref last = tensor_normalize(p, floor_over(p, minus(p, s->width, integer(p, 1)), LANES));
    ref main = lane_loop(p, s, integer(p, 0), minus(p, full, integer(p, 1)), false, nothing(p, s->t));
    ref body = lane_loop(p, s, full, last, true, main);
    uint32_t stage = new_stage(p, of, s->t, 2);
    ref zero = integer(p, 0), last_lane = integer(p, LANES - 1), last_row = tensor_normalize(p, minus(p, s->height, integer(p, 1)));
    tensor_stage *made = stage_at(p, stage);
    made->lo[0] = made->lo[1] = zero;
    made->hi[0] = last_lane;
    made->hi[1] = last_row;
    made->body = body;
    return stage;
}

/* ---- chunks of rows, and the tree over them ---------------------------------------------------------------- */

/* terms[0..n-1] with n a power of two: the upper half onto the lower until one is left. */
static ref halved(tensor_pipe *p, ref *terms, int n)
{
    for (int half = n / 2; half >= 1; half /= 2)
        for (int k = 0; k < half; k++) terms[k] = plus(p, terms[k], terms[k + half]);
    return terms[0];
}

/* Neighbours first: (0 + 1) + (2 + 3) ... */
static ref pairwise(tensor_pipe *p, ref *terms, int n)
{
    for (; n > 1; n /= 2)
        for (int k = 0; k < n / 2; k++) terms[k] = plus(p, terms[2 * k], terms[2 * k + 1]);
    return terms[0];
}

static uint32_t chunks_stage(tensor_pipe *p, const whole_sum *s, uint32_t lanes, uint32_t of, ref count)
{
    uint32_t fold = tensor_fold_new(p, FOLD_loop, 1, 1);
    ref row = plus(p, tensor_op2(p, OP_mul, tensor_coord(p, 0), integer(p, CHUNK_ROWS)), tensor_binder(p, fold, 0));
    const uint8_t border[2] = { BORDER_none, BORDER_value };
    const ref outside[2] = { 0, nothing(p, s->t) };
    ref terms[LANES];
    for (int l = 0; l < LANES; l++) {
        ref index[2] = { integer(p, l), row };
        terms[l] = tensor_load(p, lanes, index, border, outside, s->t);
    }
    ref next = plus(p, tensor_acc(p, fold, 0, s->t), halved(p, terms, LANES));
    ref zero = integer(p, 0), last = integer(p, CHUNK_ROWS - 1), init = nothing(p, s->t);
    tensor_fold *f = fold_at(p, fold);
    f->lo[0] = zero;
    f->hi[0] = last;
    f->init[0] = init;
    f->next[0] = next;
    f->binder_names[0] = "row";
    ref body = tensor_result(p, fold, 0), hi = tensor_normalize(p, minus(p, count, integer(p, 1)));
    uint32_t stage = new_stage(p, of, s->t, 1);
    tensor_stage *made = stage_at(p, stage);
    made->lo[0] = zero;
    made->hi[0] = hi;
    made->body = body;
    return stage;
}

/* rank 1 over 0..count-1, or 0 for the last level. */
static uint32_t tree_stage(tensor_pipe *p, uint32_t below, uint32_t of, int rank, ref count)
{
    type t = stage_at(p, below)->type;
    ref first = rank ? tensor_op2(p, OP_mul, tensor_coord(p, 0), integer(p, TREE_WIDTH)) : integer(p, 0);
    const uint8_t border[1] = { BORDER_value };
    const ref outside[1] = { nothing(p, t) };
    ref terms[TREE_WIDTH];
    for (int k = 0; k < TREE_WIDTH; k++) {
        ref index = plus(p, first, integer(p, k));
        terms[k] = tensor_load(p, below, &index, border, outside, t);
    }
    ref body = pairwise(p, terms, TREE_WIDTH), zero = integer(p, 0);
    ref hi = tensor_normalize(p, minus(p, count, integer(p, 1)));
    uint32_t stage = new_stage(p, of, t, rank);
    tensor_stage *made = stage_at(p, stage);
    if (rank) {
        made->lo[0] = zero;
        made->hi[0] = hi;
    }
    made->body = body;
    return stage;
}

static ref parts_of(tensor_pipe *p, ref count, int32_t size)
{
    return tensor_normalize(p, floor_over(p, plus(p, count, integer(p, size - 1)), size));
}

/* The stages of a sum that stands nowhere in particular; the value of the last. */
static ref staged(tensor_pipe *p, const whole_sum *s, uint32_t of, ref init)
{
    uint32_t lanes = lanes_stage(p, s, of);
    ref count = parts_of(p, s->height, CHUNK_ROWS);
    uint32_t stage = chunks_stage(p, s, lanes, of, count);
    for (int level = 1; level <= TREE_LEVELS; level++) {
        count = parts_of(p, count, TREE_WIDTH);
        stage = tree_stage(p, stage, of, level < TREE_LEVELS ? 1 : 0, count);
    }
    ref total = tensor_load(p, stage, NULL, NULL, NULL, s->t);
    return init == nothing(p, s->t) ? total : plus(p, init, total);
}

/* ---- finding them -------------------------------------------------------------------------------------------- */

/* What next adds to the accumulator, or 0. */
static ref element_of(const tensor_pipe *p, uint32_t fold)
{
    ref next = p->folds.items[fold].next[0];
    if (node_at(p, next)->op != OP_add) return 0;
    for (int k = 0; k < 2; k++) {
        const tensor_node *acc = node_at(p, node_arg(p, next, k));
        if (acc->op == OP_acc && acc->payload == fold) return node_arg(p, next, 1 - k);
    }
    return 0;
}

static ref order_result(rewriter *w, ref r, const ref *args)
{
    (void)args;
    tensor_pipe *p = w->pipe;
    ordering *o = w->user;
    tensor_node n = *node_at(p, r);
    if (n.op != OP_result || fold_at(p, n.payload)->form != FOLD_image_sum) return 0;
    tensor_fold f = *fold_at(p, n.payload);
    whole_sum s = { .fold = n.payload, .element = element_of(p, n.payload), .where = f.where, .t = n.type };
    o->changed = true;
    if (!s.element || f.n_binders != 2 || depends_of(p, &o->all, r)->coords || depend_is_open(depends_of(p, &o->all, r))) {
        fold_at(p, n.payload)->form = FOLD_loop;
        return 0;
    }
    ref one = integer(p, 1);
    s.x_lo = f.lo[0];
    s.x_hi = f.hi[0];
    s.y_lo = f.lo[1];
    s.width = tensor_normalize(p, plus(p, minus(p, f.hi[0], f.lo[0]), one));
    s.height = tensor_normalize(p, plus(p, minus(p, f.hi[1], f.lo[1]), one));
    return staged(p, &s, o->stage, f.init[0]);
}

bool pass_order_sums(tensor_pipe *p)
{
    if (!any_fold(p, FOLD_image_sum)) return false;
    ordering o = { 0 };
    rewriter w;
    rewriter_begin(&w, p, NULL, &o);
    w.rebuild = order_result;
    uint32_t n_stages = p->stages.count;
    for (o.stage = 1; o.stage < n_stages; o.stage++) {
        ref body = rewrite(&w, stage_at(p, o.stage)->body);
        stage_at(p, o.stage)->body = body;
    }
    sort_stages(p);
    return o.changed;
}
