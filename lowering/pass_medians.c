/* SPDX-License-Identifier: MIT
 * Exact pass `medians`: the median of a window becomes comparisons.
 *
 * The pixels of a rectangle: from its columns, sorted once (median_columns.c).
 * Up to 49 others in fixed number: Batcher's merge exchange, of which only what the middle one depends on is left once the
 * pool drops what nobody reads. min and max in the elements' own kind, so u8 stays u8 in vectors.
 * Else (a radius that is a parameter, a `where`, many elements): the bits of the median from the top, one more each round when at
 * most half of the elements are below. As many rounds as the kind has bits, each a plain count over the window; no memory.
 *
 * Reals are compared as whole numbers in the same order, with NaN last and -0 as +0; where the element is a pixel of a stage,
 * the numbers are made once per pixel, in a stage of their own.
 * Requires nothing. Keeps every bit; leaves no FOLD_median. */
#include "lowering/median_columns.h"
#include "lowering/pass.h"
#include "lowering/pass_rewrite.h"

enum { NETWORK_MAX = 49 };

static ref i32_of(tensor_pipe *p, int32_t value, int lanes) { return tensor_splat(p, tensor_i32(p, value), lanes); }

/* ---- reals as whole numbers ----------------------------------------------------------------------------- */

/* Negative reals have their lower bits turned over, and back by the same. */
static ref turned(tensor_pipe *p, ref bits)
{
    int lanes = node_type(p, bits).lanes;
    ref sign = tensor_op2(p, OP_shr, bits, i32_of(p, 31, lanes));
    return tensor_op2(p, OP_bitxor, bits, tensor_op2(p, OP_bitand, sign, i32_of(p, INT32_MAX, lanes)));
}

static ref key_of_real(tensor_pipe *p, ref x)
{
    ref nan = i32_of(p, 0x7fc00000, node_type(p, x).lanes);
    return tensor_select(p, tensor_op2(p, OP_eq, x, x), turned(p, tensor_bitcast(p, x, KIND_i32)), nan);
}

/* -0 stands just below +0 among the keys: which of the two the middle one is doesn't matter, it comes out as +0. */
static ref real_of_key(tensor_pipe *p, ref key)
{
    ref x = tensor_bitcast(p, turned(p, key), KIND_f32), zero = tensor_splat(p, tensor_f32(p, 0), node_type(p, x).lanes);
    return tensor_select(p, tensor_op2(p, OP_eq, x, zero), zero, x);
}

/* Key stages by their source, for the stages that were there when the pass began. */
typedef struct key_stages { uint32_t *of; uint32_t count; } key_stages;

/* The keys of a stage's pixels, made once however many medians ask. */
static uint32_t key_stage(tensor_pipe *p, key_stages *keys, uint32_t of, type loaded)
{
    if (of < keys->count && keys->of[of]) return keys->of[of];
    ref index[TENSOR_MAX_RANK];
    for (int d = 0; d < stage_at(p, of)->rank; d++) index[d] = tensor_coord(p, d);
    ref body = key_of_real(p, tensor_load(p, of, index, NULL, NULL, loaded));
    const tensor_stage *s = stage_at(p, of);
    uint32_t made = tensor_stage_new(p, STAGE_compute, tensor_unique_name(p, s->name), node_type(p, body), s->rank, s->where);
    s = stage_at(p, of);
    for (int d = 0; d < s->rank; d++) {
        stage_at(p, made)->lo[d] = s->lo[d];
        stage_at(p, made)->hi[d] = s->hi[d];
    }
    stage_at(p, made)->body = body;
    if (of < keys->count) keys->of[of] = made;
    return made;
}

/* ---- an element, comparable ------------------------------------------------------------------------------- */

/* Made once per fold: an element in which NaN, -0 and signs need no more thought. */
static ref comparable(tensor_pipe *p, key_stages *all, ref element)
{
    type t = node_type(p, element);
    tensor_node n = *node_at(p, element);
    if (!kind_is_float(t.kind)) return element;
    if (n.op != OP_load || t.kind != KIND_f32) return key_of_real(p, tensor_cast(p, element, KIND_f32));
    ref index[TENSOR_MAX_RANK], outside[TENSOR_MAX_RANK];
    for (int d = 0; d < stage_at(p, n.payload)->rank; d++) {
        index[d] = load_index(p, element, d);
        outside[d] = load_outside(p, element, d);
        if (outside[d]) outside[d] = key_of_real(p, outside[d]);
    }
    uint32_t keys = key_stage(p, all, n.payload, t);
    return tensor_load(p, keys, index, n.border, outside, stage_at(p, keys)->type);
}

static ref from_comparable(tensor_pipe *p, ref value, type t)
{
    return kind_is_float(t.kind) ? tensor_cast(p, real_of_key(p, value), t.kind) : value;
}

/* ---- few: a network ------------------------------------------------------------------------------------------ */

ref median_lower(tensor_pipe *p, ref a, ref b)
{
    return tensor_op2(p, node_type(p, a).kind == KIND_bool ? OP_and : OP_min, a, b);
}

ref median_upper(tensor_pipe *p, ref a, ref b)
{
    return tensor_op2(p, node_type(p, a).kind == KIND_bool ? OP_or : OP_max, a, b);
}

static void exchange(tensor_pipe *p, ref *a, ref *b)
{
    ref low = median_lower(p, *a, *b);
    *b = median_upper(p, *a, *b);
    *a = low;
}

/* Knuth 5.2.2, algorithm M. */
void sort_network(tensor_pipe *p, ref *items, int n)
{
    int top = 1;
    while (2 * top < n) top *= 2;
    for (int part = top; part > 0; part /= 2) {
        int distance = part, rest = 0;
        for (int q = top;; q /= 2) {
            for (int i = 0; i + distance < n; i++)
                if ((i & part) == rest) exchange(p, &items[i], &items[i + distance]);
            if (q == part) break;
            distance = q - part;
            rest = part;
        }
    }
}

static ref middle_of_three(tensor_pipe *p, ref a, ref b, ref c)
{
    exchange(p, &a, &b);
    return median_upper(p, a, median_lower(p, b, c));
}

/* 30 comparisons where the sort leaves 36, for the window that is used most: with three groups sorted, the median is that of
 * the largest minimum, the middle one of the middle ones and the smallest maximum. */
static ref middle_of_nine(tensor_pipe *p, ref *items)
{
    for (int k = 0; k < 9; k += 3) {
        exchange(p, &items[k], &items[k + 1]);
        exchange(p, &items[k + 1], &items[k + 2]);
        exchange(p, &items[k], &items[k + 1]);
    }
    ref low = median_upper(p, median_upper(p, items[0], items[3]), items[6]);
    ref high = median_lower(p, median_lower(p, items[2], items[5]), items[8]);
    return middle_of_three(p, low, middle_of_three(p, items[1], items[4], items[7]), high);
}

/* The number of elements when all bounds are constant; -1 otherwise. */
static int64_t constant_count(const tensor_pipe *p, const tensor_fold *f, int64_t *lo, int64_t *extent)
{
    int64_t total = 1, hi;
    for (int b = 0; b < f->n_binders; b++) {
        if (!node_is_const(p, f->lo[b], &lo[b]) || !node_is_const(p, f->hi[b], &hi)) return -1;
        extent[b] = hi < lo[b] ? 0 : hi - lo[b] + 1;
        total *= extent[b];
        if (total > INT32_MAX) return -1;
    }
    return total;
}

static ref by_network(tensor_pipe *p, uint32_t fold, ref element, int n, const int64_t *lo, const int64_t *extent)
{
    ref items[NETWORK_MAX], values[TENSOR_MAX_BINDERS];
    int n_binders = fold_at(p, fold)->n_binders;
    for (int k = 0; k < n; k++) {
        int64_t rest = k;
        for (int b = n_binders - 1; b >= 0; b--) {
            values[b] = tensor_i32(p, (int32_t)(lo[b] + rest % extent[b]));
            rest /= extent[b];
        }
        items[k] = replace_binders(p, element, fold, values);
    }
    if (n == 9) return middle_of_nine(p, items);
    sort_network(p, items, n);
    return items[(n - 1) / 2];
}

/* ---- many: bit by bit -------------------------------------------------------------------------------------------- */

/* A loop over the same elements as `from`, its parts still to be set. */
static uint32_t same_window(tensor_pipe *p, uint32_t from, ref values[TENSOR_MAX_BINDERS])
{
    int n_binders = fold_at(p, from)->n_binders;
    uint32_t fold = tensor_fold_new(p, FOLD_loop, n_binders, 1);
    for (int b = 0; b < n_binders; b++) values[b] = tensor_binder(p, fold, b);
    ref where = fold_at(p, from)->where ? replace_binders(p, fold_at(p, from)->where, from, values) : 0;
    const tensor_fold *old = fold_at(p, from);
    tensor_fold *f = fold_at(p, fold);
    for (int b = 0; b < n_binders; b++) {
        f->lo[b] = old->lo[b];
        f->hi[b] = old->hi[b];
        f->binder_names[b] = old->binder_names[b];
    }
    f->where = where;
    return fold;
}

static ref set_sum(tensor_pipe *p, uint32_t fold, ref term)
{
    int lanes = node_type(p, term).lanes;
    ref next = tensor_op2(p, OP_add, tensor_acc(p, fold, 0, node_type(p, term)), term), init = i32_of(p, 0, lanes);
    fold_at(p, fold)->init[0] = init;
    fold_at(p, fold)->next[0] = next;
    return tensor_result(p, fold, 0);
}

/* How many elements there are: i32, one lane. */
static ref element_count(tensor_pipe *p, uint32_t of)
{
    ref values[TENSOR_MAX_BINDERS], one = tensor_i32(p, 1), total = one;
    if (fold_at(p, of)->where) return set_sum(p, same_window(p, of, values), one);
    for (int b = 0; b < fold_at(p, of)->n_binders; b++) {
        ref lo = fold_at(p, of)->lo[b], hi = fold_at(p, of)->hi[b];
        ref extent = tensor_op2(p, OP_add, tensor_op2(p, OP_sub, hi, lo), one);
        total = tensor_op2(p, OP_mul, total, tensor_op2(p, OP_max, extent, tensor_i32(p, 0)));
    }
    return total;
}

/* How many are below `limit`, per component. */
static ref count_below(tensor_pipe *p, uint32_t of, ref element, ref limit)
{
    ref values[TENSOR_MAX_BINDERS];
    uint32_t fold = same_window(p, of, values);
    ref here = replace_binders(p, element, of, values);
    return set_sum(p, fold, tensor_cast(p, tensor_op2(p, OP_lt, here, limit), KIND_i32));
}

/* Element number `rank` in order: the largest value with at most that many below it. Elements are i32 of `bits` bits from `lowest`. */
static ref by_bits(tensor_pipe *p, uint32_t of, ref element, ref rank, int bits, int32_t lowest)
{
    type t = node_type(p, element);
    uint32_t fold = tensor_fold_new(p, FOLD_loop, 1, 1);
    ref place = tensor_op2(p, OP_sub, tensor_i32(p, bits - 1), tensor_binder(p, fold, 0));
    ref bit = tensor_splat(p, tensor_op2(p, OP_shl, tensor_i32(p, 1), place), t.lanes);
    ref so_far = tensor_acc(p, fold, 0, t), larger = tensor_op2(p, OP_add, so_far, bit);
    ref enough = tensor_op2(p, OP_le, count_below(p, of, element, larger), tensor_splat(p, rank, t.lanes));
    ref next = tensor_select(p, enough, larger, so_far), init = i32_of(p, lowest, t.lanes);
    ref first = tensor_i32(p, 0), last = tensor_i32(p, bits - 1);
    tensor_fold *f = fold_at(p, fold);
    f->lo[0] = first;
    f->hi[0] = last;
    f->binder_names[0] = "bit";
    f->init[0] = init;
    f->next[0] = next;
    return tensor_result(p, fold, 0);
}

static ref median_by_bits(tensor_pipe *p, uint32_t fold, ref element, int64_t known_count)
{
    type t = node_type(p, element);
    const kind_info *k = kind_get(t.kind);
    ref wide = t.kind == KIND_u32 ? tensor_bitcast(p, element, KIND_i32) : tensor_cast(p, element, KIND_i32);
    ref top = i32_of(p, INT32_MIN, t.lanes);
    if (t.kind == KIND_u32) wide = tensor_op2(p, OP_bitxor, wide, top);
    int32_t lowest = t.kind == KIND_u32 ? INT32_MIN : (int32_t)k->lowest;
    ref count = known_count >= 0 ? tensor_i32(p, (int32_t)known_count) : element_count(p, fold);
    ref rank = tensor_op2(p, OP_floordiv, tensor_op2(p, OP_sub, count, tensor_i32(p, 1)), tensor_i32(p, 2));
    ref value = by_bits(p, fold, wide, rank, k->bits, lowest);
    if (t.kind == KIND_u32) return tensor_bitcast(p, tensor_op2(p, OP_bitxor, value, top), KIND_u32);
    if (t.kind == KIND_bool) return tensor_op2(p, OP_ne, value, i32_of(p, 0, t.lanes));
    return tensor_wrap(p, value, t.kind);
}

/* ---- all of them ----------------------------------------------------------------------------------------------------- */

typedef struct medians { key_stages keys; depends all; uint32_t stage; } medians;

static bool is_median(const tensor_pipe *p, ref r)
{
    return node_at(p, r)->op == OP_result && p->folds.items[node_at(p, r)->payload].form == FOLD_median;
}

static ref rectangle_result(rewriter *w, ref r, const ref *args)
{
    (void)args;
    tensor_pipe *p = w->pipe;
    medians *m = w->user;
    if (!is_median(p, r)) return 0;
    tensor_node n = *node_at(p, r);
    ref value = median_by_columns(p, &m->all, m->stage, n.payload, comparable(p, &m->keys, fold_at(p, n.payload)->next[0]));
    return value ? from_comparable(p, value, n.type) : 0;
}

static ref median_result(rewriter *w, ref r, const ref *args)
{
    (void)args;
    tensor_pipe *p = w->pipe;
    medians *m = w->user;
    if (!is_median(p, r)) return 0;
    tensor_node n = *node_at(p, r);
    tensor_fold f = *fold_at(p, n.payload);
    int64_t lo[TENSOR_MAX_BINDERS], extent[TENSOR_MAX_BINDERS], count = f.where ? -1 : constant_count(p, &f, lo, extent);
    if (count == 0) return f.init[0];
    ref element = comparable(p, &m->keys, f.next[0]);
    if (count > 0 && count <= NETWORK_MAX)
        return from_comparable(p, by_network(p, n.payload, element, (int)count, lo, extent), n.type);
    ref value = from_comparable(p, median_by_bits(p, n.payload, element, count), n.type);
    if (count > 0) return value;
    ref empty = tensor_op2(p, OP_le, element_count(p, n.payload), tensor_i32(p, 0));
    return tensor_select(p, empty, f.init[0], value);
}

static bool has_median(tensor_pipe *p, uint32_t stage)
{
    ref_list nodes = { 0 };
    ref body = stage_at(p, stage)->body;
    reached_nodes(p, p->memory, &body, body ? 1 : 0, &nodes);
    for (uint32_t k = 0; k < nodes.count; k++) if (is_median(p, nodes.items[k])) return true;
    return false;
}

/* Rectangles first, stage by stage: the same fold over another domain has other columns. */
bool pass_medians(tensor_pipe *p)
{
    if (!any_fold(p, FOLD_median)) return false;
    medians m = { .keys = { ARENA_ARRAY(p->memory, uint32_t, p->stages.count), p->stages.count } };
    uint32_t n_stages = p->stages.count;
    rewriter w;
    for (m.stage = 1; m.stage < n_stages; m.stage++) {
        if (!has_median(p, m.stage)) continue;
        rewriter_begin(&w, p, NULL, &m);
        w.rebuild = rectangle_result;
        ref body = rewrite(&w, stage_at(p, m.stage)->body);
        stage_at(p, m.stage)->body = body;
    }
    rewriter_begin(&w, p, NULL, &m);
    w.rebuild = median_result;
    bool changed = rewrite_pipe(&w);
    sort_stages(p);
    return changed || p->stages.count > n_stages;
}
