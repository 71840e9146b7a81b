/* SPDX-License-Identifier: MIT */
#include "support_pipe.h"

#include <math.h>
#include <string.h>

#include "lowering/scalar.h"

/* ---- random pipes ------------------------------------------------------------------------------ */

enum { MAX_POOL = 64, MAX_EXTENT = 80 };

typedef struct builder {
    random_source random;
    tensor_pipe *pipe;
    ref pool[MAX_POOL];                   /* what the expression at hand may use */
    int n_pool;
    int depth;
} builder;

static int below(builder *b, int n) { return random_below(&b->random, n); }

static void keep(builder *b, ref r)
{
    if (b->n_pool < MAX_POOL)
        b->pool[b->n_pool++] = r;
}

/* Something of this type from the pool, often of the latest so that expressions grow deep, or a constant. */
static ref pick(builder *b, type wanted)
{
    for (int tries = 0; tries < 20 && b->n_pool; tries++) {
        int recent = b->n_pool < 6 ? b->n_pool : 6;
        ref r = b->pool[below(b, 3) ? b->n_pool - 1 - below(b, recent) : below(b, b->n_pool)];
        if (type_equal(node_type(b->pipe, r), wanted))
            return r;
    }
    return tensor_splat(b->pipe, tensor_const(b->pipe, wanted.kind, random_of_kind(&b->random, wanted.kind)), wanted.lanes);
}

static void add_op(builder *b)
{
    tensor_op op = (tensor_op)(1 + below(b, OP_cast - 1));
    const op_info *info = op_get(op);
    static const kind nums[] = { KIND_i32, KIND_f32, KIND_u32 };
    kind k = info->class == CLASS_LOG ? KIND_bool : info->class == CLASS_FLT || info->class == CLASS_EXP ? KIND_f32
           : info->class == CLASS_INT ? (below(b, 2) ? KIND_i32 : KIND_u32) : nums[below(b, 3)];
    type t = type_of(k, below(b, 3) ? 1 : 2);
    ref x = pick(b, t), y = pick(b, t), z = pick(b, t);
    keep(b, info->arity == 1 ? tensor_op1(b->pipe, op, x) : info->arity == 2 ? tensor_op2(b->pipe, op, x, y) : tensor_op3(b->pipe, op, x, y, z));
}

static void add_structure(builder *b)
{
    static const kind kinds[] = { KIND_i32, KIND_f32, KIND_bool, KIND_u8, KIND_u32, KIND_i64, KIND_f16 };
    kind k = kinds[below(b, 3)];
    ref x = pick(b, type_of(k, 1)), y = pick(b, type_of(k, 1)), pair = pick(b, type_of(k, 2));
    switch (below(b, 5)) {
    case 0:  keep(b, tensor_vec(b->pipe, (ref[]){ x, y }, 2)); break;
    case 1:  keep(b, tensor_comp(b->pipe, pair, below(b, 2))); break;
    case 2:  keep(b, tensor_splat(b->pipe, x, 2)); break;
    case 3:  keep(b, tensor_select(b->pipe, pick(b, type_of(KIND_bool, below(b, 2) ? 1 : 2)), pair, pick(b, type_of(k, 2)))); break;
    default: keep(b, tensor_cast(b->pipe, x, kinds[below(b, 7)])); break;
    }
}

static ref small_index(builder *b)
{
    ref any = pick(b, type_of(KIND_i32, 1)), offset = tensor_i32(b->pipe, below(b, 9) - 4);
    return tensor_op2(b->pipe, OP_add, below(b, 2) ? any : tensor_coord(b->pipe, below(b, 2)), offset);
}

/* Any stage of two dimensions; the first one is. */
static uint32_t random_picture(builder *b)
{
    uint32_t s = 1 + (uint32_t)below(b, (int)b->pipe->stages.count - 1);
    while (stage_at(b->pipe, s)->rank != 2) s--;
    return s;
}

static void add_load(builder *b, uint32_t before)
{
    uint32_t s = 1 + (uint32_t)below(b, (int)before - 1);
    const tensor_stage *stage = stage_at(b->pipe, s);
    type t = type_of(below(b, 2) ? KIND_f32 : stage->type.kind, stage->type.lanes);
    int rank = stage->rank;
    uint8_t modes[TENSOR_MAX_RANK];
    ref index[TENSOR_MAX_RANK], outside[TENSOR_MAX_RANK];
    for (int k = 0; k < rank; k++) {
        modes[k] = (uint8_t)(BORDER_edge + below(b, BORDER_COUNT - 1));
        index[k] = small_index(b);
        outside[k] = pick(b, t);
    }
    keep(b, tensor_load(b->pipe, s, index, modes, outside, t));
}

static void add_nodes(builder *b, uint32_t before, int count);

static ref uniform_bound(builder *b, int low)
{
    ref dim = tensor_dim_node(b->pipe, (uint32_t)below(b, 2));
    ref bounded = tensor_op2(b->pipe, OP_min, tensor_op2(b->pipe, OP_sub, dim, tensor_i32(b->pipe, below(b, 4))), tensor_i32(b->pipe, 3));
    return below(b, 2) ? tensor_i32(b->pipe, low + below(b, 3)) : bounded;
}

static void add_fold(builder *b, uint32_t before)
{
    static const kind kinds[] = { KIND_i32, KIND_f32 };
    bool median = below(b, 4) == 0;
    int n_binders = 1 + below(b, 2), n_accs = median ? 1 : 1 + below(b, 2), old_pool = b->n_pool;
    uint32_t f = tensor_fold_new(b->pipe, median ? FOLD_median : FOLD_loop, n_binders, n_accs);
    tensor_fold fold = *fold_at(b->pipe, f);
    b->depth++;
    for (int k = 0; k < n_binders; k++) {
        fold.lo[k] = tensor_i32(b->pipe, below(b, 3) - 1);
        fold.hi[k] = uniform_bound(b, 0);
        fold.binder_names[k] = below(b, 2) ? "i" : below(b, 2) ? "dx" : NULL;
        keep(b, tensor_binder(b->pipe, f, k));
    }
    type types[2];
    for (int k = 0; k < n_accs; k++) {
        types[k] = type_of(kinds[below(b, 2)], 1 + below(b, 2));
        b->n_pool -= n_binders;                         /* an initial value doesn't know the binders */
        fold.init[k] = pick(b, types[k]);
        b->n_pool += n_binders;
    }
    int inside = b->n_pool;
    add_nodes(b, before, 2);
    fold.where = below(b, 2) ? pick(b, type_of(KIND_bool, 1)) : 0;
    b->n_pool = inside;
    for (int k = 0; !median && k < n_accs; k++)
        keep(b, tensor_acc(b->pipe, f, k, types[k]));
    add_nodes(b, before, 4);
    for (int k = 0; k < n_accs; k++)
        fold.next[k] = pick(b, types[k]);
    *fold_at(b->pipe, f) = fold;
    b->n_pool = old_pool;
    b->depth--;
    keep(b, tensor_result(b->pipe, f, below(b, n_accs)));
    keep(b, tensor_result(b->pipe, f, n_accs - 1));
}

static void add_nodes(builder *b, uint32_t before, int count)
{
    for (int k = 0; k < count; k++) {
        int what = below(b, 12);
        if (what == 0 && b->depth < 3)
            add_fold(b, before);
        else if (what < 4)
            add_structure(b);
        else if (what < 6)
            add_load(b, before);
        else
            add_op(b);
    }
}

/* A stage with this body, stored as `stored`, over a picture a little larger or smaller than the input. */
static void add_body(builder *b, ref body, kind stored)
{
    tensor_pipe *p = b->pipe;
    body = tensor_cast(p, body, stored);
    uint32_t s = tensor_stage_new(p, STAGE_compute, below(b, 2) ? "blur" : "edges", type_of(stored, node_type(p, body).lanes), 2, (span){ 0 });
    for (int k = 0; k < 2; k++) {
        ref lo = tensor_i32(p, below(b, 3) ? 0 : below(b, 4) - 2);
        ref hi = tensor_op2(p, OP_add, tensor_dim_node(p, (uint32_t)k), tensor_i32(p, below(b, 3) ? -1 : below(b, 3)));
        stage_at(p, s)->lo[k] = lo;
        stage_at(p, s)->hi[k] = hi;
    }
    tensor_stage *stage = stage_at(p, s);
    stage->body = body;
    stage->materialize = below(b, 4) == 0;
    stage->inline_hint = below(b, 4) == 0;
    stage->tile_width = stage->tile_height = below(b, 3) == 0 ? 16 : 0;
}

static void add_output(builder *b, uint32_t s)
{
    LIST_PUSH(b->pipe->memory, b->pipe->outputs,
              ((tensor_output){ .name = stage_at(b->pipe, s)->name, .stage = s, .is_image = below(b, 2), .doc = below(b, 2) ? "a \"doc\"\nof two" : NULL }));
}

static void add_stage(builder *b)
{
    static const kind kinds[] = { KIND_i32, KIND_f32, KIND_u8, KIND_f16, KIND_bool, KIND_u32, KIND_i16 };
    uint32_t before = b->pipe->stages.count;
    b->n_pool = 0;
    for (int k = 0; k < 2; k++) {
        keep(b, tensor_coord(b->pipe, k));
        keep(b, tensor_dim_node(b->pipe, (uint32_t)k));
        keep(b, tensor_param_node(b->pipe, (uint32_t)k));
    }
    add_nodes(b, before, 12);
    type t = type_of(below(b, 2) ? KIND_f32 : KIND_i32, 1 + below(b, 2));
    ref body = pick(b, t);
    add_body(b, body, below(b, 2) ? (kind)t.kind : kinds[below(b, 7)]);
}

/* ---- windows: convolutions, medians, extrema, whole-picture sums ------------------------------------- */

/* 3x3 taps: anything, an outer product, or with zeros; small whole numbers, so that i32 has them too. */
static uint32_t add_taps(builder *b, bool floating)
{
    uint32_t words[9];
    int shape = below(b, 3), row[3], column[3];
    for (int k = 0; k < 3; k++) {
        row[k] = below(b, 7) - 3;
        column[k] = below(b, 5) - 1;
    }
    for (int k = 0; k < 9; k++) {
        int tap = shape == 0 ? row[k % 3] * column[k / 3] : shape == 1 ? below(b, 9) - 4 : below(b, 3) - 1;
        words[k] = floating ? bits_of_scalar(KIND_f32, (scalar){ .f = (float)tap / 8 }) : (uint32_t)tap;
    }
    return tensor_table_new(b->pipe, "kernel", type_of(floating ? KIND_f32 : KIND_i32, 1), 2, (int32_t[]){ -1, -1 }, (int32_t[]){ 3, 3 },
                            words, (span){ 0 });
}

/* The element of source stage `s` at an offset from the coordinates, all of one random border. */
static ref window_element(builder *b, uint32_t s, ref dx, ref dy, type t)
{
    tensor_pipe *p = b->pipe;
    ref index[2] = { tensor_op2(p, OP_add, tensor_coord(p, 0), dx), tensor_op2(p, OP_add, tensor_coord(p, 1), dy) };
    uint8_t modes[2] = { (uint8_t)(BORDER_edge + below(b, BORDER_COUNT - 1)), (uint8_t)(BORDER_edge + below(b, BORDER_COUNT - 1)) };
    ref value = tensor_splat(p, tensor_const(p, t.kind, random_of_kind(&b->random, t.kind)), t.lanes), outside[2] = { value, value };
    return tensor_load(p, s, index, modes, outside, t);
}

static ref add_convolution(builder *b, uint32_t source, bool floating, type t)
{
    tensor_pipe *p = b->pipe;
    uint32_t taps = add_taps(b, floating), f = tensor_fold_new(p, FOLD_conv, 2, 1);
    ref j = tensor_binder(p, f, 0), i = tensor_binder(p, f, 1), low = tensor_i32(p, -1), high = tensor_i32(p, 1);
    ref weight = tensor_splat(p, tensor_load(p, taps, (ref[]){ i, j }, NULL, NULL, type_of(t.kind, 1)), t.lanes);
    ref element = window_element(b, source, i, j, t), acc = tensor_acc(p, f, 0, t);
    ref init = tensor_splat(p, floating ? tensor_f32(p, -0.0f) : tensor_i32(p, 0), t.lanes);
    ref next = floating ? tensor_op3(p, OP_muladd, weight, element, acc) : tensor_op2(p, OP_add, acc, tensor_op2(p, OP_mul, weight, element));
    *fold_at(p, f) = (tensor_fold){ .form = FOLD_conv, .n_binders = 2, .n_accs = 1, .lo = { low, low }, .hi = { high, high },
                                    .init = { init }, .next = { next } };
    return tensor_result(p, f, 0);
}

static ref add_rank(builder *b, uint32_t source, type t)
{
    tensor_pipe *p = b->pipe;
    bool median = below(b, 2);
    uint32_t f = tensor_fold_new(p, median ? FOLD_median : FOLD_loop, 2, 1);
    ref i = tensor_binder(p, f, 0), j = tensor_binder(p, f, 1), low = tensor_i32(p, -below(b, 2)), high = tensor_i32(p, below(b, 2));
    ref element = window_element(b, source, i, j, t), acc = tensor_acc(p, f, 0, t);
    ref init = tensor_splat(p, tensor_const(p, t.kind, random_of_kind(&b->random, t.kind)), t.lanes);
    ref next = median ? element : tensor_op2(p, below(b, 2) ? OP_min : OP_max, element, acc);
    *fold_at(p, f) = (tensor_fold){ .form = median ? FOLD_median : FOLD_loop, .n_binders = 2, .n_accs = 1, .lo = { low, low }, .hi = { high, high },
                                    .init = { init }, .next = { next } };
    return tensor_result(p, f, 0);
}

/* What the language's min and max are: elements in order (NaN as the identity, -0 as +0), a rectangle or a disk of them. */
static ref add_extremum(builder *b, uint32_t source, type t)
{
    tensor_pipe *p = b->pipe;
    bool most = below(b, 2), floating = kind_is_float(t.kind);
    uint32_t f = tensor_fold_new(p, FOLD_loop, 2, 1);
    ref i = tensor_binder(p, f, 0), j = tensor_binder(p, f, 1), low[2], high[2];
    for (int k = 0; k < 2; k++) {
        low[k] = tensor_i32(p, -below(b, 6));
        high[k] = tensor_i32(p, below(b, 14));
    }
    ref element = window_element(b, source, i, j, t), acc = tensor_acc(p, f, 0, t);
    ref identity = floating ? tensor_f32(p, most ? -INFINITY : INFINITY) : tensor_i32(p, most ? INT32_MIN : INT32_MAX);
    identity = tensor_splat(p, identity, t.lanes);
    if (floating) {
        ref zero = tensor_splat(p, tensor_f32(p, 0), t.lanes);
        element = tensor_select(p, tensor_op2(p, OP_ne, element, element), identity, element);
        element = tensor_select(p, tensor_op2(p, OP_eq, element, zero), zero, element);
    }
    ref distance = tensor_op2(p, OP_add, tensor_op2(p, OP_mul, i, i), tensor_op2(p, OP_mul, j, j));
    ref where = below(b, 2) ? tensor_op2(p, OP_le, distance, tensor_i32(p, 30)) : 0;
    ref next = tensor_op2(p, most ? OP_max : OP_min, acc, element);
    *fold_at(p, f) = (tensor_fold){ .form = FOLD_loop, .n_binders = 2, .n_accs = 1, .lo = { low[0], low[1] }, .hi = { high[0], high[1] },
                                    .where = where, .init = { identity }, .next = { next } };
    return tensor_result(p, f, 0);
}

/* A sum of something that two pixels have alike, whichever is which. */
static ref add_pair_sum(builder *b, uint32_t source, type t)
{
    tensor_pipe *p = b->pipe;
    uint32_t f = tensor_fold_new(p, FOLD_loop, 2, 1);
    ref i = tensor_binder(p, f, 0), j = tensor_binder(p, f, 1), low = tensor_i32(p, -1 - below(b, 2)), high = tensor_i32(p, 1 + below(b, 2));
    ref moved = window_element(b, source, i, j, t), acc = tensor_acc(p, f, 0, t), one = tensor_splat(p, tensor_f32(p, 1), t.lanes);
    ref outside[2] = { load_outside(p, moved, 0), load_outside(p, moved, 1) };
    uint8_t border[TENSOR_MAX_RANK];
    memcpy(border, node_at(p, moved)->border, sizeof border);
    ref here = tensor_load(p, source, (ref[]){ tensor_coord(p, 0), tensor_coord(p, 1) }, border, outside, t);
    ref difference = tensor_op2(p, OP_sub, moved, here), square = tensor_op2(p, OP_mul, difference, difference), value = square;
    for (int k = 0; k < 4; k++) value = tensor_op2(p, OP_div, square, tensor_op2(p, OP_add, value, one));
    if (below(b, 2)) value = tensor_op2(p, OP_add, value, tensor_op1(p, OP_abs, difference));
    ref scale = tensor_splat(p, tensor_cast(p, tensor_op2(p, OP_add, i, j), KIND_f32), t.lanes);
    ref next = tensor_op2(p, OP_add, acc, tensor_op2(p, OP_mul, tensor_op2(p, OP_mul, value, scale), moved));
    *fold_at(p, f) = (tensor_fold){ .form = FOLD_loop, .n_binders = 2, .n_accs = 1, .lo = { low, low }, .hi = { high, high },
                                    .init = { one }, .next = { next } };
    return tensor_result(p, f, 0);
}

static ref add_image_sum(builder *b, uint32_t source, type t)
{
    tensor_pipe *p = b->pipe;
    uint32_t f = tensor_fold_new(p, FOLD_image_sum, 2, 1);
    ref x = tensor_binder(p, f, 0), y = tensor_binder(p, f, 1), acc = tensor_acc(p, f, 0, t);
    ref element = tensor_load(p, source, (ref[]){ x, y }, NULL, NULL, t);
    ref init = tensor_splat(p, tensor_f32(p, -0.0f), t.lanes), next = tensor_op2(p, OP_add, acc, element);
    const tensor_stage *s = stage_at(p, source);
    *fold_at(p, f) = (tensor_fold){ .form = FOLD_image_sum, .n_binders = 2, .n_accs = 1, .lo = { s->lo[0], s->lo[1] },
                                    .hi = { s->hi[0], s->hi[1] }, .init = { init }, .next = { next } };
    return tensor_result(p, f, 0);
}

/* A sum of sums: the inner one knows the outer binder and accumulator, and its condition compares both binders. */
static void add_nested_stage(builder *b)
{
    tensor_pipe *p = b->pipe;
    uint32_t source = random_picture(b);
    type t = type_of(KIND_f32, stage_at(p, source)->type.lanes);
    uint32_t outer = tensor_fold_new(p, FOLD_loop, 1, 1), inner = tensor_fold_new(p, FOLD_loop, 1 + below(b, 2), 1);
    ref i = tensor_binder(p, outer, 0), j = tensor_binder(p, inner, 0), acc = tensor_acc(p, inner, 0, t);
    ref product = tensor_op2(p, OP_mul, i, j), shifted = tensor_op2(p, OP_add, product, tensor_i32(p, below(b, 3)));
    ref element = window_element(b, source, i, below(b, 2) ? j : product, t);
    ref scaled = tensor_op2(p, OP_mul, element, tensor_splat(p, tensor_cast(p, shifted, KIND_f32), t.lanes));
    ref low = tensor_i32(p, -1), high = uniform_bound(b, 0), start = tensor_splat(p, tensor_f32(p, 0.5f), t.lanes);
    *fold_at(p, inner) = (tensor_fold){ .form = FOLD_loop, .n_binders = fold_at(p, inner)->n_binders, .n_accs = 1, .lo = { low, low },
                                        .hi = { high, tensor_i32(p, 1) }, .where = below(b, 2) ? tensor_op2(p, OP_le, i, j) : 0,
                                        .init = { below(b, 2) ? tensor_acc(p, outer, 0, t) : start },
                                        .next = { tensor_op2(p, OP_add, acc, scaled) } };
    ref next = tensor_op2(p, OP_add, tensor_result(p, inner, 0), tensor_acc(p, outer, 0, t));
    *fold_at(p, outer) = (tensor_fold){ .form = FOLD_loop, .n_binders = 1, .n_accs = 1, .lo = { low }, .hi = { tensor_i32(p, 2) },
                                        .init = { start }, .next = { next }, .binder_names = { "j" } };
    add_body(b, tensor_result(p, outer, 0), KIND_f32);
}

/* A stage over distances from -n to n, large enough for every reader. */
static uint32_t add_distances(builder *b, const char *name, ref body, int n)
{
    tensor_pipe *p = b->pipe;
    uint32_t s = tensor_stage_new(p, STAGE_compute, tensor_unique_name(p, name), node_type(p, body), 4, (span){ 0 });
    for (int k = 0; k < 4; k++) {
        ref lo = tensor_i32(p, k < 2 ? -6 : -n);
        ref hi = k < 2 ? tensor_op2(p, OP_add, tensor_dim_node(p, (uint32_t)k), tensor_i32(p, 6)) : tensor_i32(p, n);
        stage_at(p, s)->lo[k] = lo;
        stage_at(p, s)->hi[k] = hi;
    }
    stage_at(p, s)->body = body;
    return s;
}

/* How unlike two pixels are, for all distances; something pixel by pixel of that; a sum over the distances. */
static void add_mirrored_stage(builder *b, uint32_t source)
{
    tensor_pipe *p = b->pipe;
    type t = type_of(KIND_f32, stage_at(p, source)->type.lanes);
    ref place[4], one = tensor_splat(p, tensor_f32(p, 1), t.lanes);
    for (int d = 0; d < 4; d++) place[d] = tensor_coord(p, d);
    ref moved = window_element(b, source, place[2], place[3], t), outside[2] = { load_outside(p, moved, 0), load_outside(p, moved, 1) };
    uint8_t border[TENSOR_MAX_RANK];
    memcpy(border, node_at(p, moved)->border, sizeof border);
    ref difference = tensor_op2(p, OP_sub, tensor_load(p, source, place, border, outside, t), moved);
    int n = 1 + below(b, 2);
    bool squared = below(b, 4);
    uint32_t unlike = add_distances(b, "unlike", squared ? tensor_op2(p, OP_mul, difference, difference) : tensor_op2(p, OP_add, difference, one), n);
    place[1] = tensor_op2(p, OP_add, place[1], tensor_i32(p, below(b, 3) - 1));
    ref near = tensor_load(p, unlike, place, NULL, NULL, t);
    place[1] = tensor_coord(p, 1);
    /* the reader stays two pixels away from the ends */
    uint32_t around = add_distances(b, "around", tensor_op2(p, OP_add, near, one), n);
    for (int k = 0; k < 2; k++) {
        ref lo = tensor_i32(p, -4), hi = tensor_op2(p, OP_add, tensor_dim_node(p, (uint32_t)k), tensor_i32(p, 4));
        stage_at(p, around)->lo[k] = lo;
        stage_at(p, around)->hi[k] = hi;
    }
    uint32_t f = tensor_fold_new(p, FOLD_loop, 2, 1);
    ref i = tensor_binder(p, f, 0), j = tensor_binder(p, f, 1), low = tensor_i32(p, -n), high = tensor_i32(p, below(b, 3) ? n : 0);
    ref pixel = tensor_load(p, around, (ref[]){ place[0], place[1], j, i }, NULL, NULL, t), value = pixel;
    for (int k = 0; k < 5; k++) value = tensor_op2(p, OP_div, pixel, tensor_op2(p, OP_add, value, one));
    if (below(b, 4) == 0) value = tensor_op2(p, OP_mul, value, tensor_splat(p, tensor_cast(p, i, KIND_f32), t.lanes));
    ref next = tensor_op2(p, OP_add, tensor_acc(p, f, 0, t), tensor_op2(p, OP_mul, value, window_element(b, source, j, i, t)));
    *fold_at(p, f) = (tensor_fold){ .form = FOLD_loop, .n_binders = 2, .n_accs = 1, .lo = { low, low }, .hi = { high, high },
                                    .init = { one }, .next = { next } };
    ref total = tensor_result(p, f, 0);
    if (below(b, 6) == 0) total = tensor_op2(p, OP_add, total, tensor_load(p, around, (ref[]){ place[0], place[1], low, low }, NULL, NULL, t));
    add_body(b, total, KIND_f32);
}

static void add_window_stage(builder *b)
{
    uint32_t source = random_picture(b);
    type stored = stage_at(b->pipe, source)->type;
    bool floating = kind_is_float(stored.kind) || stored.kind == KIND_u32 || below(b, 2);
    type t = type_of(floating ? KIND_f32 : KIND_i32, stored.lanes);
    int what = below(b, 8);
    if (what == 7 && stored.kind == KIND_f32 && stage_at(b->pipe, source)->rank == 2) { add_mirrored_stage(b, source); return; }
    ref body = what >= 5 && stored.kind == KIND_f32 ? add_pair_sum(b, source, t) :
              what < 2 ? add_convolution(b, source, floating, t)
             : what == 4 ? add_extremum(b, source, t)
             : what == 2 || !floating ? add_rank(b, source, t) : add_image_sum(b, source, t);
    add_body(b, body, below(b, 2) ? (kind)t.kind : KIND_u8);
}

/* A long computation on one 8-bit number, sometimes with a parameter in it, which other nodes may use halfway. */
static void add_curve_stage(builder *b)
{
    tensor_pipe *p = b->pipe;
    uint32_t source = random_picture(b);
    type t = stage_at(p, source)->type;
    kind small = below(b, 3) ? KIND_u8 : KIND_i8;
    ref zero = tensor_i32(p, 0), element = tensor_cast(p, window_element(b, source, zero, zero, t), small);
    ref x = tensor_cast(p, element, KIND_f32), one = tensor_splat(p, tensor_f32(p, 1), t.lanes), half = x;
    ref gain = below(b, 2) ? tensor_comp(p, tensor_param_node(p, 1), 0) : tensor_f32(p, 0.3f);
    for (int n = 2 + below(b, 3); n > 0; n--) {
        ref more = tensor_op3(p, OP_muladd, x, tensor_splat(p, gain, t.lanes), one);
        x = tensor_op2(p, OP_div, below(b, 2) ? more : tensor_op1(p, OP_sqrt, tensor_op1(p, OP_abs, x)), tensor_op3(p, OP_muladd, x, x, one));
        if (below(b, 2)) half = x;
    }
    ref column = tensor_op2(p, OP_div, tensor_cast(p, tensor_wrap(p, tensor_coord(p, 0), KIND_i16), KIND_f32), tensor_f32(p, below(b, 2) ? 4 : 7));
    ref unlike = tensor_op2(p, OP_mul, half, tensor_splat(p, column, t.lanes));
    add_body(b, below(b, 2) ? x : tensor_op2(p, OP_add, x, unlike), below(b, 2) ? KIND_f32 : KIND_u8);
}

/* ---- whole pictures ------------------------------------------------------------------------------------ */

/* One accumulator of a reduction whose order has no say, of an element `e` of kind i32 or f32; its value, in bits of i32. */
static ref add_unordered(builder *b, uint32_t fold, int which, ref e, int lanes)
{
    tensor_pipe *p = b->pipe;
    static const tensor_op ops[] = { OP_add, OP_mul, OP_min, OP_max, OP_bitand, OP_bitor, OP_bitxor, OP_and, OP_or, OP_sub, OP_add, OP_add };
    tensor_op op = ops[below(b, 12)];
    bool floating = kind_is_float(node_type(p, e).kind), extreme = op == OP_min || op == OP_max;
    bool logic = op == OP_and || op == OP_or, is_long = (op == OP_add || op == OP_sub) && !floating && below(b, 4);
    kind k = logic ? KIND_bool : floating && extreme ? KIND_f32 : is_long ? KIND_i64 : below(b, 2) ? KIND_i32 : KIND_u32;
    ref zero = tensor_splat(p, tensor_const(p, node_type(p, e).kind, 0), lanes);
    ref start = tensor_splat(p, tensor_const(p, k, !floating && below(b, 2)), lanes);
    if (logic) e = tensor_op2(p, OP_lt, zero, e);
    else if (k != KIND_f32) e = tensor_cast(p, e, k);
    else {
        e = tensor_select(p, tensor_op2(p, OP_ne, e, e), start, e);
        e = tensor_select(p, tensor_op2(p, OP_eq, e, zero), zero, e);
    }
    ref acc = tensor_acc(p, fold, which, type_of(k, lanes));
    ref next = below(b, 2) || op == OP_sub ? tensor_op2(p, op, acc, e) : tensor_op2(p, op, e, acc);
    fold_at(p, fold)->init[which] = start;
    fold_at(p, fold)->next[which] = next;
    ref result = tensor_result(p, fold, which);
    if (k == KIND_f32) return tensor_bitcast(p, result, KIND_i32);
    if (k == KIND_bool) return tensor_cast(p, result, KIND_i32);
    ref low = tensor_wrap(p, result, KIND_i32);
    return is_long ? tensor_op2(p, OP_add, low, tensor_bitcast(p, tensor_cast(p, result, KIND_f32), KIND_i32)) : low;
}

/* A picture that depends on what a whole picture holds: one value, or one for each of a few places. */
static void add_whole_stage(builder *b)
{
    tensor_pipe *p = b->pipe;
    uint32_t source = random_picture(b);
    int lanes = stage_at(p, source)->type.lanes, n_places = below(b, 3) ? 0 : 1 + below(b, 3);
    int n_accs = 1 + below(b, 2), x = below(b, 2);
    kind stored = (kind)stage_at(p, source)->type.kind;
    type t = type_of(kind_is_float(stored) || stored == KIND_u32 || below(b, 2) ? KIND_f32 : KIND_i32, lanes);
    uint32_t f = tensor_fold_new(p, FOLD_loop, 2, n_accs);
    ref binder[2] = { tensor_binder(p, f, x), tensor_binder(p, f, 1 - x) }, index[2], outside[2];
    uint8_t modes[2];
    for (int d = 0; d < 2; d++) {
        ref lo = stage_at(p, source)->lo[d], hi = stage_at(p, source)->hi[d];
        if (below(b, 4) == 0) hi = tensor_op2(p, OP_sub, hi, tensor_i32(p, below(b, 70)));      /* perhaps less than nothing */
        fold_at(p, f)->lo[d == 0 ? x : 1 - x] = lo;
        fold_at(p, f)->hi[d == 0 ? x : 1 - x] = hi;
        modes[d] = (uint8_t)(BORDER_edge + below(b, BORDER_COUNT - 1));
        index[d] = tensor_op2(p, OP_add, binder[d], d == 0 && n_places ? tensor_coord(p, 0) : tensor_i32(p, below(b, 3) - 1));
        outside[d] = tensor_splat(p, tensor_const(p, t.kind, random_of_kind(&b->random, t.kind)), lanes);
    }
    ref e = tensor_load(p, source, index, modes, outside, t), value = 0;
    ref sum = tensor_op2(p, OP_add, binder[0], n_places > 1 ? tensor_op2(p, OP_mul, binder[1], tensor_coord(p, 1)) : binder[1]);
    fold_at(p, f)->where = below(b, 2) ? tensor_op2(p, OP_ne, tensor_op2(p, OP_mod, sum, tensor_i32(p, 3)), tensor_i32(p, 1)) : 0;
    for (int k = 0; k < n_accs; k++) {
        ref bits = add_unordered(b, f, k, e, lanes);
        value = value ? tensor_op2(p, OP_add, tensor_op2(p, OP_mul, value, tensor_splat(p, tensor_i32(p, 31), lanes)), bits) : bits;
    }
    type whole = type_of(KIND_i32, lanes);
    uint32_t s = tensor_stage_new(p, STAGE_compute, tensor_unique_name(p, "whole"), whole, n_places, (span){ 0 });
    ref zero = tensor_i32(p, 0), last = tensor_i32(p, 2), place[3];
    for (int d = 0; d < n_places; d++) {
        stage_at(p, s)->lo[d] = zero;
        stage_at(p, s)->hi[d] = last;
        place[d] = tensor_op2(p, OP_mod, tensor_coord(p, d % 2), tensor_i32(p, 3));
    }
    stage_at(p, s)->body = value;
    ref here = tensor_load(p, s, place, NULL, NULL, whole), column = tensor_splat(p, tensor_coord(p, 0), lanes);
    add_body(b, tensor_op2(p, OP_add, here, column), KIND_i32);
}

tensor_pipe *random_pipe(arena *memory, uint64_t seed)
{
    builder b = { .random = { seed }, .pipe = tensor_pipe_new(memory, "random") };
    tensor_pipe *p = b.pipe;
    p->strict = below(&b, 2);
    LIST_PUSH(memory, p->params, ((tensor_param){ .name = "radius", .type = type_of(KIND_i32, 1), .has_default = true, .value = { 2 },
                                                  .has_range = true, .half_open = true, .lo = 0, .hi = 4294967295.0 }));
    LIST_PUSH(memory, p->params, ((tensor_param){ .name = "gain", .doc = "How \\ much.", .type = type_of(KIND_f32, 2), .has_default = true,
                                                  .value = { 0x3dcccccd, 0xff800000 }, .has_range = true, .lo = -INFINITY, .hi = 0.3 }));
    static const kind kinds[] = { KIND_u8, KIND_u8, KIND_u16, KIND_i16, KIND_f32, KIND_f32, KIND_f16, KIND_i32, KIND_bool, KIND_u32 };
    type t = type_of(kinds[below(&b, 10)], below(&b, 2) ? 2 : 1 + below(&b, 4));
    uint32_t s = tensor_stage_new(p, STAGE_input, "src", t, 2, (span){ 0 });
    p->n_inputs = 1;
    stage_at(p, s)->is_image = true;
    stage_at(p, s)->has_range = true;
    stage_at(p, s)->range_hi = 200;
    for (int k = 0; k < 2; k++) {
        LIST_PUSH(memory, p->dims, ((tensor_dim){ .name = "W", .stage = s, .dimension = (uint8_t)k }));
        ref lo = tensor_i32(p, 0), hi = tensor_op2(p, OP_sub, tensor_dim_node(p, (uint32_t)k), tensor_i32(p, 1));
        stage_at(p, s)->lo[k] = lo;
        stage_at(p, s)->hi[k] = hi;
    }
    uint32_t words[6];
    kind k = (kind[]){ KIND_f32, KIND_i8, KIND_f16 }[below(&b, 3)];
    for (int w = 0; w < 6; w++)
        words[w] = random_of_kind(&b.random, k);
    tensor_table_new(p, "taps", type_of(k, 1), 2, (int32_t[]){ -1, 0 }, (int32_t[]){ 3, 2 }, words, (span){ 0 });
    ref narrow = tensor_op2(p, OP_lt, tensor_f32(p, 0.5f), tensor_comp(p, tensor_param_node(p, 1), 0));
    LIST_PUSH(memory, p->checks, ((tensor_check){ tensor_op1(p, OP_not, narrow), true, DIAG_E0301, { 0 }, "too \"wide\"" }));
    for (int n = 1 + below(&b, 5); n > 0; n--) {
        int what = below(&b, 5);
        if (what < 2)
            add_window_stage(&b);
        else if (what == 2)
            add_nested_stage(&b);
        else
            add_stage(&b);
        if (n == 1 || below(&b, 3) == 0)
            add_output(&b, p->stages.count - 1);
    }
    if (below(&b, 4) == 0) {
        add_curve_stage(&b);
        add_output(&b, p->stages.count - 1);
    }
    if (below(&b, 3) == 0) {
        add_whole_stage(&b);
        add_output(&b, p->stages.count - 1);
    }
    return p;
}

/* ---- a run ----------------------------------------------------------------------------------- */

static void unify_nans(type t, uint8_t *bytes, size_t n_bytes)
{
    for (size_t k = 0; t.kind == KIND_f32 && k < n_bytes; k += 4) {
        float value;
        memcpy(&value, bytes + k, 4);
        if (isnan(value))
            memset(bytes + k, 0xff, 4);
    }
    for (size_t k = 0; t.kind == KIND_f16 && k < n_bytes; k += 2)
        if ((bytes[k + 1] & 0x7c) == 0x7c && (bytes[k] || bytes[k + 1] & 3))
            memset(bytes + k, 0xff, 2);
}

/* Small, or wide or high enough for whole vectors and several strips. */
void random_pipe_size(uint64_t seed, int *width, int *height)
{
    random_source r = { seed };
    int shape = random_below(&r, 4);
    *width = shape == 0 ? 16 + random_below(&r, MAX_EXTENT - 15) : 2 + random_below(&r, 8);
    *height = shape == 1 ? 16 + random_below(&r, MAX_EXTENT - 15) : 2 + random_below(&r, 8);
}

/* Mostly small numbers, so that sums differ from one another; in some pictures anything, NaN and infinities too. */
static void fill_input(random_source *r, kind k, uint8_t *to, size_t count)
{
    bool wild = random_below(r, 3) == 0;
    for (size_t c = 0; c < count; c++) {
        int small = random_below(r, 256);
        uint32_t bits = k == KIND_bool ? (uint32_t)small % 2
                      : wild           ? random_of_kind(r, k)
                      : bits_of_scalar(k, kind_is_float(k) ? (scalar){ .f = (float)small / 8 } : (scalar){ .i = small });
        if (k == KIND_f16)
            bits = f16_bits_of_f32(scalar_of_bits(KIND_f32, bits).f);
        memcpy(to + c * kind_get(k)->n_bytes, &bits, kind_get(k)->n_bytes);
    }
}

void random_pipe_run_by(const tensor_pipe *p, uint64_t seed, uint8_t out[RANDOM_PIPE_BYTES], pipe_runner runner, const void *code)
{
    int width, height;
    static _Alignas(8) uint8_t in[MAX_EXTENT * MAX_EXTENT * 16];
    random_source r = { seed + 1 };
    random_pipe_size(seed, &width, &height);
    type source = stage_at(p, 1)->type;
    size_t pixel_bytes = (size_t)kind_get(source.kind)->n_bytes * source.lanes;
    fill_input(&r, source.kind, in, (size_t)width * (size_t)height * source.lanes);
    halo_image input = image_of(in, pixel_bytes, width, height), outputs[8];
    run_values values = { &input, NULL };
    size_t at = 0, bytes[8];
    for (uint32_t k = 0; k < p->outputs.count; k++) {
        int32_t lo[TENSOR_MAX_RANK], extent[TENSOR_MAX_RANK];
        type t = stage_at(p, p->outputs.items[k].stage)->type;
        stage_bounds(p, p->outputs.items[k].stage, &values, lo, extent);
        outputs[k] = image_of(out + at, (size_t)kind_get(t.kind)->n_bytes * t.lanes, extent[0], extent[1]);
        bytes[k] = (size_t)kind_get(t.kind)->n_bytes * t.lanes * (size_t)extent[0] * (size_t)extent[1];
        at += (bytes[k] + 7) / 8 * 8;
        assert_true(at <= RANDOM_PIPE_BYTES);
    }
    if (runner)
        assert_int_equal(runner(code, &input, outputs), HALO_OK);
    else
        ir_run(p, &input, NULL, outputs);
    for (uint32_t k = 0; k < p->outputs.count; k++)
        unify_nans(stage_at(p, p->outputs.items[k].stage)->type, outputs[k].data, bytes[k]);
}

void random_pipe_run(const tensor_pipe *p, uint64_t seed, uint8_t out[RANDOM_PIPE_BYTES])
{
    random_pipe_run_by(p, seed, out, NULL, NULL);
}
