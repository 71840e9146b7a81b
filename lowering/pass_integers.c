/* SPDX-License-Identifier: MIT
 * Exact pass `integers`: f32 values that are k * 2^-s for a k of 16 bits become computations of k in i32.
 *
 * Why: a picture of 8 bits under a binomial of 256ths needs no f32. As whole numbers its sums are those of a ring, free of order,
 * and the pass `narrow` finds that they fit lanes of 16 bits: twice as many of them, and no conversions. The f32 results have no
 * roundings (integers_plan.c proves it), so k has every bit of them; the last conversion, which rounds half to even, becomes
 *   (k + (half - 1) + ((k >> s) & 1)) >> s.
 * A zero's sign is lost, so nothing that may be -0 goes back to f32.
 *
 * Requires: contracted products, kernels as tables. Keeps: every bit, and FOLD_conv, so that `separate_exact` sees convolutions.
 * Changes the type of stages in between; tables of reals get a copy in whole numbers. */
#include <math.h>
#include <string.h>

#include "lowering/integers.h"
#include "lowering/pass.h"
#include "lowering/pass_rewrite.h"

typedef struct scaled_table { uint32_t table; int scale; uint32_t whole; } scaled_table;

typedef struct integers {
    tensor_pipe *pipe;
    integer_plan plan;
    LIST(scaled_table) tables;
    rewriter     others;             /* of the stage at hand: what isn't k */
} integers;

/* ---- arithmetic ------------------------------------------------------------------------------ */

static ref number(tensor_pipe *p, int32_t value, int lanes)
{
    return tensor_splat(p, tensor_i32(p, value), lanes);
}

static ref op2(tensor_pipe *p, tensor_op op, ref a, int32_t b)
{
    return tensor_op2(p, op, a, number(p, b, node_type(p, a).lanes));
}

/* In 16 bits; so what is moved further is 0. */
static ref times_power(tensor_pipe *p, ref k, int exponent)
{
    return op2(p, OP_mul, k, exponent > 16 ? 0 : (int32_t)1 << exponent);
}

/* The node's k at a scale that is no smaller than its own. */
static ref k_at(integers *w, ref r, int scale)
{
    const integer_fact *f = integer_fact_of(&w->plan, r);
    return times_power(w->pipe, f->k, scale - f->value.scale);
}

static ref k_of(integers *w, ref r)
{
    return integer_fact_of(&w->plan, r)->k;
}

static int scale_of(integers *w, ref r)
{
    return integer_fact_of(&w->plan, r)->value.scale;
}

/* The nearest whole number, of two the even one. */
static ref to_nearest(tensor_pipe *p, ref k, int scale)
{
    if (scale == 0)
        return k;
    ref odd = op2(p, OP_bitand, op2(p, OP_shr, k, scale), 1);
    ref nearly_half = op2(p, OP_add, odd, (int32_t)(1 << (scale - 1)) - 1);
    return op2(p, OP_shr, tensor_op2(p, OP_add, k, nearly_half), scale);
}

static ref stepped(tensor_pipe *p, tensor_op op, ref k, int scale)
{
    int32_t below_one = (int32_t)(1 << scale) - 1;
    switch (op) {
    case OP_floor: return op2(p, OP_shr, k, scale);
    case OP_ceil:  return op2(p, OP_shr, op2(p, OP_add, k, below_one), scale);
    case OP_trunc: return op2(p, OP_shr, tensor_op2(p, OP_add, k, op2(p, OP_bitand, op2(p, OP_shr, k, 31), below_one)), scale);
    default:       return to_nearest(p, k, scale);
    }
}

/* As the f32 that it stands for. */
static ref back_to_real(tensor_pipe *p, ref k, int scale)
{
    ref real = tensor_cast(p, k, KIND_f32);
    return tensor_op2(p, OP_mul, real, tensor_splat(p, tensor_f32(p, ldexpf(1, -scale)), node_type(p, k).lanes));
}

/* ---- tables and loads ------------------------------------------------------------------------ */

/* A table of reals, times 2^scale. */
static uint32_t whole_table(integers *w, uint32_t table, int scale)
{
    tensor_pipe *p = w->pipe;
    for (uint32_t k = 0; k < w->tables.count; k++)
        if (w->tables.items[k].table == table && w->tables.items[k].scale == scale)
            return w->tables.items[k].whole;
    tensor_stage s = *stage_at(p, table);
    int32_t lo[TENSOR_MAX_RANK], extent[TENSOR_MAX_RANK];
    size_t n = s.type.lanes;
    for (int d = 0; d < s.rank; d++) {
        int64_t first, last;
        node_is_const(p, s.lo[d], &first);
        node_is_const(p, s.hi[d], &last);
        lo[d] = (int32_t)first;
        extent[d] = (int32_t)(last - first + 1);
        n *= (size_t)extent[d];
    }
    uint32_t *words = ARENA_ARRAY(p->memory, uint32_t, n);
    for (size_t k = 0; k < n; k++)
        words[k] = (uint32_t)(int32_t)ldexpf(scalar_of_bits(KIND_f32, s.words[k]).f, scale);
    type t = type_of(KIND_i32, s.type.lanes);
    scaled_table made = { table, scale, tensor_table_new(p, tensor_unique_name(p, s.name), t, s.rank, lo, extent, words, s.where) };
    LIST_PUSH(p->memory, w->tables, made);
    return made.whole;
}

static ref whole_load(integers *w, const integer_fact *f)
{
    tensor_pipe *p = w->pipe;
    tensor_node n = *node_at(p, f->node);
    bool is_table = stage_at(p, n.payload)->kind == STAGE_table && stage_at(p, n.payload)->type.kind == KIND_f32;
    int rank = stage_at(p, n.payload)->rank;
    ref index[TENSOR_MAX_RANK], outside[TENSOR_MAX_RANK] = { 0 };
    for (int d = 0; d < rank; d++) {
        index[d] = rewrite(&w->others, load_index(p, f->node, d));
        ref value = load_outside(p, f->node, d);
        if (value)
            outside[d] = k_at(w, value, f->value.scale);
    }
    uint32_t from = is_table ? whole_table(w, n.payload, f->value.scale) : n.payload;
    /* i32 doesn't hold u32, but what is loaded is known to be small. */
    kind loaded = stage_at(p, from)->type.kind == KIND_u32 ? KIND_u32 : KIND_i32;
    for (int d = 0; d < rank; d++)
        if (outside[d])
            outside[d] = tensor_wrap(p, outside[d], loaded);
    return tensor_wrap(p, tensor_load(p, from, index, n.border, outside, type_of(loaded, n.type.lanes)), KIND_i32);
}

/* ---- sums ------------------------------------------------------------------------------------ */

static ref whole_sum(integers *w, uint32_t fold)
{
    tensor_pipe *p = w->pipe;
    tensor_fold f = *fold_at(p, fold);
    summand s = summand_of(p, fold, 0);
    int scale = scale_of(w, s.element) + (s.weight ? scale_of(w, s.weight) : 0);
    uint32_t made = tensor_fold_new(p, f.form, f.n_binders, 1);
    ref binder[TENSOR_MAX_BINDERS], element = k_of(w, s.element);
    if (s.weight)
        element = tensor_op2(p, OP_mul, k_of(w, s.weight), element);
    for (int b = 0; b < f.n_binders; b++) {
        f.lo[b] = rewrite(&w->others, f.lo[b]);
        f.hi[b] = rewrite(&w->others, f.hi[b]);
        binder[b] = tensor_binder(p, made, b);
    }
    if (f.where)
        f.where = replace_binders(p, rewrite(&w->others, f.where), fold, binder);
    f.init[0] = k_at(w, f.init[0], scale);
    f.next[0] = tensor_op2(p, OP_add, tensor_acc(p, made, 0, node_type(p, element)), replace_binders(p, element, fold, binder));
    *fold_at(p, made) = f;
    return tensor_result(p, made, 0);
}

/* ---- nodes ----------------------------------------------------------------------------------- */

static ref whole_quotient(integers *w, const integer_fact *f)
{
    tensor_pipe *p = w->pipe;
    ref a = node_arg(p, f->node, 0);
    int exponent;
    bool negative;
    integer_power_of_two(integer_fact_of(&w->plan, node_arg(p, f->node, 1))->value, &exponent, &negative);
    ref k = times_power(p, k_of(w, a), f->value.scale - scale_of(w, a) - exponent);
    return negative ? tensor_op1(p, OP_neg, k) : k;
}

static ref whole_product(integers *w, const integer_fact *f)
{
    tensor_pipe *p = w->pipe;
    ref a = node_arg(p, f->node, 0), b = node_arg(p, f->node, 1);
    ref product = tensor_op2(p, OP_mul, k_of(w, a), k_of(w, b));
    if (node_at(p, f->node)->n_args == 2)
        return product;
    product = times_power(p, product, f->value.scale - scale_of(w, a) - scale_of(w, b));
    return tensor_op2(p, OP_add, product, k_at(w, node_arg(p, f->node, 2), f->value.scale));
}

static ref whole_constant(tensor_pipe *p, const integer_fact *f)
{
    return tensor_i32(p, (int32_t)ldexp(f->value.lo, f->value.scale));
}

/* Ops on operands at the scale of the result. */
static ref whole_op(integers *w, const integer_fact *f)
{
    tensor_pipe *p = w->pipe;
    tensor_node n = *node_at(p, f->node);
    ref k[TENSOR_MAX_LANES] = { 0 };
    for (int i = n.op == OP_select; i < n.n_args; i++)
        k[i] = k_at(w, node_arg(p, f->node, i), f->value.scale);
    switch ((tensor_op)n.op) {
    case OP_splat:  return tensor_splat(p, k[0], n.type.lanes);
    case OP_vec:    return tensor_vec(p, k, n.n_args);
    case OP_comp:   return tensor_comp(p, k[0], n.index);
    case OP_select: return tensor_select(p, rewrite(&w->others, node_arg(p, f->node, 0)), k[1], k[2]);
    default:        return n.n_args == 1 ? tensor_op1(p, n.op, k[0]) : tensor_op2(p, n.op, k[0], k[1]);
    }
}

/* The operands' k are there: facts are in order. */
static ref whole(integers *w, const integer_fact *f)
{
    tensor_pipe *p = w->pipe;
    tensor_node n = *node_at(p, f->node);
    ref first = n.n_args ? node_arg(p, f->node, 0) : 0;
    switch ((tensor_op)n.op) {
    case OP_const:  return whole_constant(p, f);
    case OP_load:   return whole_load(w, f);
    case OP_result: return whole_sum(w, n.payload);
    case OP_cast:   return tensor_cast(p, rewrite(&w->others, first), KIND_i32);
    case OP_div:    return whole_quotient(w, f);
    case OP_mul: case OP_fma: case OP_muladd: return whole_product(w, f);
    case OP_floor: case OP_ceil: case OP_trunc: case OP_round: return stepped(p, n.op, k_of(w, first), scale_of(w, first));
    default:        return whole_op(w, f);
    }
}

/* ---- where they end -------------------------------------------------------------------------- */

static ref converted(integers *w, ref from, kind to)
{
    tensor_pipe *p = w->pipe;
    const integer_fact *f = integer_fact_of(&w->plan, from);
    if (to == KIND_bool)
        return op2(p, OP_ne, f->k, 0);
    ref nearest = to_nearest(p, f->k, f->value.scale);
    bool holds = rint(f->value.lo) >= (double)kind_get(to)->lowest && rint(f->value.hi) <= (double)kind_get(to)->highest;
    return holds ? tensor_wrap(p, nearest, to) : tensor_cast(p, nearest, to);
}

static ref compared(integers *w, ref r)
{
    tensor_pipe *p = w->pipe;
    ref a = node_arg(p, r, 0), b = node_arg(p, r, 1);
    int scale = scale_of(w, a) > scale_of(w, b) ? scale_of(w, a) : scale_of(w, b);
    return tensor_op2(p, node_at(p, r)->op, k_at(w, a, scale), k_at(w, b, scale));
}

/* A stage of its own, so that bodies with reals, and their wide lanes, stay apart from sums. */
static ref kept(integers *w, ref k)
{
    tensor_pipe *p = w->pipe;
    tensor_stage of = *stage_at(p, w->plan.stage);
    type t = node_type(p, k);
    uint32_t s = tensor_stage_new(p, STAGE_compute, tensor_unique_name(p, of.name), t, of.rank, of.where);
    memcpy(stage_at(p, s)->lo, of.lo, sizeof of.lo);
    memcpy(stage_at(p, s)->hi, of.hi, sizeof of.hi);
    stage_at(p, s)->body = k;
    ref here[TENSOR_MAX_RANK];
    for (int d = 0; d < of.rank; d++)
        here[d] = tensor_coord(p, d);
    return tensor_load(p, s, here, NULL, NULL, t);
}

static ref end(rewriter *others, ref r)
{
    integers *w = others->user;
    const integer_fact *f = integer_fact_of(&w->plan, r);
    if (f && f->escapes)
        return back_to_real(w->pipe, f->has_sum ? kept(w, f->k) : f->k, f->value.scale);
    if (!f || !f->absorbs)
        return 0;
    tensor_node n = *node_at(w->pipe, r);
    return n.op == OP_cast ? converted(w, node_arg(w->pipe, r, 0), n.type.kind) : compared(w, r);
}

/* ---- stages ---------------------------------------------------------------------------------- */

static void note(const integers *w, uint32_t stage)
{
    const integer_stage *s = &w->plan.stages[stage];
    int scale = 0;
    for (uint32_t k = 0; k < s->facts.count; k++)
        if (s->facts.items[k].used_as_integer && s->facts.items[k].value.scale > scale)
            scale = s->facts.items[k].value.scale;
    tensor_note_add(w->pipe, stage, scale ? arena_printf(w->pipe->memory, "computed in whole numbers: its reals are those times 2^-%d", scale)
                                          : "computed in whole numbers, which its reals are");
}

static bool change_stage(integers *w, uint32_t stage)
{
    tensor_pipe *p = w->pipe;
    integer_stage *s = &w->plan.stages[stage];
    bool changed = false;
    integer_plan_enter(&w->plan, stage);
    rewriter_begin(&w->others, p, end, w);
    for (uint32_t k = 0; k < s->facts.count; k++)
        if (s->facts.items[k].used_as_integer) {
            ref made = whole(w, &s->facts.items[k]);
            s->facts.items[k].k = made;
            changed = true;
        }
    if (!changed)
        return false;
    const integer_fact *yielded = integer_fact_of(&w->plan, stage_at(p, stage)->body);
    ref body = s->becomes_integer ? yielded->k : rewrite(&w->others, stage_at(p, stage)->body);
    stage_at(p, stage)->body = body;
    if (s->becomes_integer)
        stage_at(p, stage)->type.kind = KIND_i32;
    note(w, stage);
    return true;
}

bool pass_integers(tensor_pipe *p)
{
    integers w = { .pipe = p };
    if (!integer_plan_make(&w.plan, p))
        return false;
    bool changed = false;
    uint32_t n_stages = p->stages.count;
    for (uint32_t s = 1; s < n_stages; s++)
        changed = change_stage(&w, s) || changed;
    sort_stages(p);
    return changed;
}
