/* SPDX-License-Identifier: MIT
 * Recognising the largest (smallest) pixel of a fixed window: the form of the loop, where its one load goes, and the loop's
 * condition evaluated for every element. */
#include "lowering/window.h"

#include <math.h>
#include <string.h>

/* ---- the form ---------------------------------------------------------------------------------------------- */

static bool is_identity(const tensor_pipe *p, ref init, tensor_op op)
{
    tensor_node n = *node_at(p, init);
    if (n.op == OP_splat) n = *node_at(p, node_arg(p, init, 0));
    if (n.op != OP_const) return false;
    scalar v = scalar_of_bits((kind)n.type.kind, n.payload);
    if (kind_is_float(n.type.kind)) return v.f == (op == OP_max ? -INFINITY : INFINITY);
    const kind_info *k = kind_get((kind)n.type.kind);
    return v.i == (op == OP_max ? k->lowest : k->highest);
}

static ref under_splat(const tensor_pipe *p, ref r) { return node_at(p, r)->op == OP_splat ? node_arg(p, r, 0) : r; }

static bool is_zero(const tensor_pipe *p, ref r)
{
    const tensor_node *n = node_at(p, under_splat(p, r));
    return n->op == OP_const && n->payload == 0;
}

/* NaN as the identity, -0 as +0: then reals are ordered as whole numbers are. */
static bool is_ordered(const tensor_pipe *p, ref element, ref identity)
{
    if (!kind_is_float(node_type(p, element).kind)) return true;
    if (node_at(p, element)->op != OP_select) return false;
    ref is = node_arg(p, element, 0), inner = node_arg(p, element, 2);
    if (node_at(p, is)->op != OP_eq || node_arg(p, is, 0) != inner || !is_zero(p, node_arg(p, is, 1)) || !is_zero(p, node_arg(p, element, 1))) return false;
    if (node_at(p, inner)->op != OP_select) return false;
    ref isnt = node_arg(p, inner, 0), value = node_arg(p, inner, 2);
    return node_at(p, isnt)->op == OP_ne && node_arg(p, isnt, 0) == value && node_arg(p, isnt, 1) == value && node_arg(p, inner, 1) == identity;
}

static bool is_acc(const tensor_pipe *p, ref r, uint32_t fold)
{
    const tensor_node *n = node_at(p, r);
    return n->op == OP_acc && n->payload == fold;
}

static bool match_form(window *w, uint32_t fold)
{
    tensor_pipe *p = w->pipe;
    const tensor_fold *f = fold_at(p, fold);
    if (f->form != FOLD_loop || f->n_accs != 1 || f->n_binders < 1 || f->n_binders > 2) return false;
    tensor_node next = *node_at(p, f->next[0]);
    if (next.op != OP_min && next.op != OP_max) return false;
    ref a = node_arg(p, f->next[0], 0), b = node_arg(p, f->next[0], 1);
    if (!is_acc(p, a, fold) && !is_acc(p, b, fold)) return false;
    w->op = (tensor_op)next.op;
    w->t = next.type;
    w->element = is_acc(p, a, fold) ? b : a;
    return is_identity(p, f->init[0], w->op) && is_ordered(p, w->element, f->init[0]);
}

/* ---- the load ------------------------------------------------------------------------------------------------ */

typedef struct only_load { const tensor_pipe *pipe; ref load; int count; } only_load;

static void count_load(void *user, ref load)
{
    only_load *o = user;
    o->load = load;
    o->count++;
}

static ref stand_in(rewriter *w, ref r)
{
    const ref *pair = w->user;
    return r == pair[0] ? pair[1] : 0;
}

/* Everything but the load is the same for every element and place. */
static bool find_load(window *w)
{
    tensor_pipe *p = w->pipe;
    only_load o = { .pipe = p };
    for_each_load(p, w->element, count_load, &o);
    if (o.count != 1) return false;
    w->load = o.load;
    if (o.load == w->element) return true;
    uint32_t scratch = tensor_fold_new(p, FOLD_loop, 1, 1);
    ref pair[2] = { o.load, tensor_acc(p, scratch, 0, node_type(p, o.load)) };
    rewriter to;
    rewriter_begin(&to, p, stand_in, pair);
    ref rest = rewrite(&to, w->element);
    ref_list nodes = { 0 };
    reached_nodes(p, p->memory, &rest, 1, &nodes);
    for (uint32_t k = 0; k < nodes.count; k++) {
        tensor_op op = (tensor_op)node_at(p, nodes.items[k])->op;
        if (nodes.items[k] != pair[1] && (op == OP_coord || op == OP_binder || op == OP_acc || op == OP_result || op == OP_load)) return false;
    }
    return true;
}

bool window_axis(const tensor_pipe *p, uint32_t fold, ref index, int d, int *binder, int64_t *constant)
{
    linear form;
    bool coordinate = false;
    *binder = -1;
    if (!linear_of(p, index, &form)) return false;
    *constant = form.constant;
    for (int t = 0; t < form.n_terms; t++) {
        const tensor_node *n = node_at(p, form.terms[t].atom);
        if (form.terms[t].coefficient != 1) return false;
        if (n->op == OP_coord && n->index == d) coordinate = true;
        else if (n->op == OP_binder && n->payload == fold && *binder < 0) *binder = n->index;
        else return false;
    }
    return coordinate;
}

/* Outer dimensions go along, as they do in the lines to be made: with the reader's extent. */
static bool outer_alike(const tensor_pipe *p, uint32_t reader, ref load)
{
    const tensor_stage *r = &p->stages.items[reader], *s = &p->stages.items[node_at(p, load)->payload];
    if (r->rank != s->rank) return false;
    for (int d = 2; d < s->rank; d++) {
        const tensor_node *n = node_at(p, load_index(p, load, d));
        if (n->op != OP_coord || n->index != d || node_at(p, load)->border[d] != BORDER_none || r->lo[d] != s->lo[d] || r->hi[d] != s->hi[d]) return false;
    }
    return true;
}

/* ---- the condition --------------------------------------------------------------------------------------------- */

typedef struct evaluation { const tensor_pipe *pipe; ref_list nodes; scalar *values; } evaluation;      /* values: per node */

/* One-lane arithmetic over binders of the fold and constants, and nothing else. */
static bool can_evaluate(evaluation *v, uint32_t fold)
{
    for (uint32_t k = 0; k < v->nodes.count; k++) {
        const tensor_node *n = node_at(v->pipe, v->nodes.items[k]);
        if (n->type.lanes != 1 || n->type.kind == KIND_i64) return false;
        if (n->op == OP_const || (n->op == OP_binder && n->payload == fold) || n->op == OP_cast || n->op == OP_select) continue;
        op_class class = op_get((tensor_op)n->op)->class;
        if (class != CLASS_NUM && class != CLASS_SEL && class != CLASS_INT && class != CLASS_FLT && class != CLASS_CMP && class != CLASS_LOG) return false;
    }
    return true;
}

static bool evaluate(evaluation *v, const int64_t *binder)
{
    const tensor_pipe *p = v->pipe;
    ref last = 0;
    for (uint32_t k = 0; k < v->nodes.count; k++) {
        ref r = last = v->nodes.items[k];
        const tensor_node *n = node_at(p, r);
        scalar args[3] = { { 0 } };
        for (int a = 0; a < n->n_args && a < 3; a++) args[a] = v->values[node_arg(p, r, a)];
        int from = n->n_args ? node_type(p, node_arg(p, r, 0)).kind : 0;
        switch ((tensor_op)n->op) {
        case OP_const:  v->values[r] = scalar_of_bits((kind)n->type.kind, n->payload); break;
        case OP_binder: v->values[r].i = binder[n->index]; break;
        case OP_cast:   v->values[r] = cast_evaluate(args[0], (kind)from, (kind)n->type.kind); break;
        case OP_select: v->values[r] = args[0].i ? args[1] : args[2]; break;
        default:        v->values[r] = op_evaluate((tensor_op)n->op, (kind)from, args); break;
        }
    }
    return last ? v->values[last].i != 0 : true;
}

bool window_elements(window *w, uint32_t fold, const int *binder, const int64_t *constant, int64_t max_elements)
{
    tensor_pipe *p = w->pipe;
    tensor_fold f = *fold_at(p, fold);
    int64_t lo[2] = { 0 }, n[2] = { 1, 1 }, hi;
    for (int d = 0; d < 2; d++) {
        w->lo[d] = constant[d];
        w->extent[d] = 1;
        if (binder[d] < 0) continue;
        int b = binder[d];
        if (!node_is_const(p, f.lo[b], &lo[b]) || !node_is_const(p, f.hi[b], &hi)) return false;
        n[b] = hi - lo[b] + 1;
        if (n[b] < 1 || n[b] > max_elements) return false;
        w->lo[d] += lo[b];
        w->extent[d] = n[b];
        if (w->lo[d] < -max_elements || w->lo[d] > max_elements) return false;
    }
    if (w->extent[0] * w->extent[1] > max_elements) return false;
    evaluation v = { .pipe = p };
    if (f.where) reached_nodes(p, p->memory, &f.where, 1, &v.nodes);
    if (!can_evaluate(&v, fold)) return false;
    v.values = ARENA_ARRAY(p->memory, scalar, p->nodes.count);
    w->holds = ARENA_ARRAY(p->memory, uint8_t, (size_t)(w->extent[0] * w->extent[1]));
    for (int64_t y = 0; y < w->extent[1]; y++)
        for (int64_t x = 0; x < w->extent[0]; x++) {
            int64_t at[2] = { 0 };
            if (binder[0] >= 0) at[binder[0]] = lo[binder[0]] + x;
            if (binder[1] >= 0) at[binder[1]] = lo[binder[1]] + y;
            w->holds[y * w->extent[0] + x] = !f.where || evaluate(&v, at);
        }
    return true;
}

/* ---- where elements come from -------------------------------------------------------------------------------- */

ref window_element_of(const window *w, ref by)
{
    ref pair[2] = { w->load, by };
    rewriter to;
    rewriter_begin(&to, w->pipe, stand_in, pair);
    return rewrite(&to, w->element);
}

static ref own_coordinates_load(tensor_pipe *p, uint32_t stage, type t)
{
    ref index[TENSOR_MAX_RANK];
    for (int d = 0; d < stage_at(p, stage)->rank; d++) index[d] = tensor_coord(p, d);
    return tensor_load(p, stage, index, NULL, NULL, t);
}

uint32_t stage_like(tensor_pipe *p, uint32_t like, type t)
{
    tensor_stage s = *stage_at(p, like);
    uint32_t made = tensor_stage_new(p, STAGE_compute, tensor_unique_name(p, s.name), t, s.rank, s.where);
    memcpy(stage_at(p, made)->lo, s.lo, sizeof s.lo);
    memcpy(stage_at(p, made)->hi, s.hi, sizeof s.hi);
    return made;
}

window_source window_source_of(const window *w)
{
    tensor_pipe *p = w->pipe;
    tensor_node n = *node_at(p, w->load);
    window_source s = { .stage = n.payload, .t = w->t };
    for (int d = 0; d < 2 && d < stage_at(p, n.payload)->rank; d++) {
        s.border[d] = n.border[d];
        if (n.border[d] == BORDER_value) s.outside[d] = window_element_of(w, load_outside(p, w->load, d));
    }
    if (w->element == w->load) return s;
    ref body = window_element_of(w, own_coordinates_load(p, n.payload, n.type));
    s.stage = stage_like(p, n.payload, w->t);
    stage_at(p, s.stage)->body = body;
    return s;
}

ref window_element(const window *w, const window_source *s, int64_t dx, int64_t dy)
{
    tensor_pipe *p = w->pipe;
    int rank = stage_at(p, s->stage)->rank;
    ref index[TENSOR_MAX_RANK], outside[TENSOR_MAX_RANK] = { s->outside[0], s->outside[1] };
    uint8_t border[TENSOR_MAX_RANK] = { s->border[0], s->border[1] };
    int64_t move[2] = { dx, dy };
    for (int d = 0; d < rank; d++) {
        index[d] = tensor_coord(p, d);
        if (d < 2 && move[d]) index[d] = tensor_op2(p, OP_add, index[d], tensor_i32(p, (int32_t)move[d]));
    }
    return tensor_load(p, s->stage, index, border, outside, s->t);
}

/* ---- both -------------------------------------------------------------------------------------------------------- */

bool window_place(window *out, depends *all, uint32_t fold, int64_t max_elements)
{
    tensor_pipe *p = out->pipe;
    if (!find_load(out)) return false;
    int rank = stage_at(p, node_at(p, out->load)->payload)->rank, binder[2] = { -1, -1 }, used = 0;
    int64_t constant[2] = { 0 };
    if (rank < 1 || !outer_alike(p, out->stage, out->load)) return false;
    for (int d = 0; d < rank && d < 2; d++) {
        if (!window_axis(p, fold, load_index(p, out->load, d), d, &binder[d], &constant[d])) return false;
        used += binder[d] >= 0;
    }
    if (binder[0] == binder[1] || used != fold_at(p, fold)->n_binders) return false;
    /* The values outside must be the same everywhere too. */
    for (int d = 0; d < rank; d++) {
        ref value = load_outside(p, out->load, d);
        if (value && (depends_of(p, all, value)->coords || depend_is_open(depends_of(p, all, value)) || depends_of(p, all, value)->loads)) return false;
    }
    return window_elements(out, fold, binder, constant, max_elements);
}

bool window_match(tensor_pipe *p, depends *all, uint32_t stage, uint32_t fold, int64_t max_elements, window *out)
{
    *out = (window){ .pipe = p, .stage = stage };
    return match_form(out, fold) && window_place(out, all, fold, max_elements);
}

bool has_window(tensor_pipe *p, uint32_t stage)
{
    ref body = stage_at(p, stage)->body;
    if (!body || stage_at(p, stage)->kind != STAGE_compute) return false;
    ref_list nodes = { 0 };
    reached_nodes(p, p->memory, &body, 1, &nodes);
    for (uint32_t k = 0; k < nodes.count; k++) {
        if (node_at(p, nodes.items[k])->op != OP_result) continue;
        const tensor_fold *f = fold_at(p, node_at(p, nodes.items[k])->payload);
        tensor_op next = (tensor_op)node_at(p, f->next[0])->op;
        if (f->form == FOLD_loop && f->n_accs == 1 && (next == OP_min || next == OP_max)) return true;
    }
    return false;
}
