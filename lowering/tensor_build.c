/* SPDX-License-Identifier: MIT
 * The tensor IR's builders: each checks its operands' types (assertions: callers type-check first), asks the simplifier for a
 * simpler equal, and else makes the node. */
#include <assert.h>
#include <string.h>

#include "lowering/tensor.h"
#include "lowering/tensor_build.h"

/* ---- leaves ---------------------------------------------------------------------------------- */

ref tensor_const(tensor_pipe *p, kind k, uint32_t bits)
{
    return node_make(p, (tensor_node){ .op = OP_const, .type = type_of(k, 1), .payload = bits }, NULL, 0);
}

ref tensor_i32(tensor_pipe *p, int32_t value)
{
    return tensor_const(p, KIND_i32, (uint32_t)value);
}

ref tensor_u32(tensor_pipe *p, uint32_t value)
{
    return tensor_const(p, KIND_u32, value);
}

ref tensor_f32(tensor_pipe *p, float value)
{
    return tensor_const(p, KIND_f32, bits_of_scalar(KIND_f32, (scalar){ .f = value }));
}

ref tensor_bool(tensor_pipe *p, bool value)
{
    return tensor_const(p, KIND_bool, value);
}

static ref leaf(tensor_pipe *p, tensor_op op, type t, uint32_t payload, int index)
{
    return node_make(p, (tensor_node){ .op = (uint8_t)op, .type = t, .payload = payload, .index = (uint8_t)index }, NULL, 0);
}

ref tensor_param_node(tensor_pipe *p, uint32_t which)
{
    assert(which < p->params.count);
    return leaf(p, OP_param, p->params.items[which].type, which, 0);
}

ref tensor_dim_node(tensor_pipe *p, uint32_t which)
{
    assert(which < p->dims.count);
    return leaf(p, OP_dim, type_of(KIND_i32, 1), which, 0);
}

ref tensor_coord(tensor_pipe *p, int dimension)
{
    assert(dimension >= 0 && dimension < TENSOR_MAX_RANK);
    return leaf(p, OP_coord, type_of(KIND_i32, 1), 0, dimension);
}

ref tensor_binder(tensor_pipe *p, uint32_t fold, int which)
{
    assert(fold > 0 && fold < p->folds.count && which >= 0 && which < fold_at(p, fold)->n_binders);
    return leaf(p, OP_binder, type_of(KIND_i32, 1), fold, which);
}

ref tensor_acc(tensor_pipe *p, uint32_t fold, int which, type t)
{
    assert(fold > 0 && fold < p->folds.count && which >= 0 && which < fold_at(p, fold)->n_accs);
    return leaf(p, OP_acc, t, fold, which);
}

ref tensor_result(tensor_pipe *p, uint32_t fold, int which)
{
    assert(fold > 0 && fold < p->folds.count && which >= 0 && which < fold_at(p, fold)->n_accs);
    assert(fold_at(p, fold)->init[which] && fold_at(p, fold)->next[which]);
    return leaf(p, OP_result, node_type(p, fold_at(p, fold)->init[which]), fold, which);
}

/* ---- elementwise ops --------------------------------------------------------------------------- */

bool class_takes(op_class class, kind k)
{
    switch (class) {
    case CLASS_NUM: return kind_is_integer(k) || k == KIND_f32;
    case CLASS_INT: return kind_is_integer(k) && k != KIND_i64;
    case CLASS_FLT:
    case CLASS_EXP: return k == KIND_f32;
    case CLASS_CMP: return k != KIND_i64;
    case CLASS_LOG: return k == KIND_bool;
    default:        return true;
    }
}

static ref build_op(tensor_pipe *p, tensor_op op, const ref *args, int n_args)
{
    const op_info *info = op_get(op);
    type t = node_type(p, args[0]);
    assert(info->arity == n_args && class_takes(info->class, t.kind));
    for (int k = 1; k < n_args; k++)
        assert(type_equal(node_type(p, args[k]), t));
    ref simple = simplify_op(p, op, args);
    if (simple)
        return simple;
    if (info->class == CLASS_CMP)
        t.kind = KIND_bool;
    return node_make(p, (tensor_node){ .op = (uint8_t)op, .type = t }, args, n_args);
}

ref tensor_op1(tensor_pipe *p, tensor_op op, ref a)
{
    return build_op(p, op, &a, 1);
}

ref tensor_op2(tensor_pipe *p, tensor_op op, ref a, ref b)
{
    return build_op(p, op, (ref[]){ a, b }, 2);
}

ref tensor_op3(tensor_pipe *p, tensor_op op, ref a, ref b, ref c)
{
    return op == OP_select ? tensor_select(p, a, b, c) : build_op(p, op, (ref[]){ a, b, c }, 3);
}

static ref build_conversion(tensor_pipe *p, tensor_op op, ref a, kind to)
{
    ref simple = simplify_conversion(p, op, a, to);
    type t = type_of(to, node_type(p, a).lanes);
    return simple ? simple : node_make(p, (tensor_node){ .op = (uint8_t)op, .type = t }, &a, 1);
}

ref tensor_cast(tensor_pipe *p, ref a, kind to)
{
    return build_conversion(p, OP_cast, a, to);
}

ref tensor_wrap(tensor_pipe *p, ref a, kind to)
{
    assert(!kind_is_float(node_type(p, a).kind) && !kind_is_float(to));
    return build_conversion(p, OP_wrap, a, to);
}

ref tensor_bitcast(tensor_pipe *p, ref a, kind to)
{
    int from = node_type(p, a).kind;
    assert(kind_get(from)->bits == 32 && kind_get(to)->bits == 32);
    (void)from;
    return build_conversion(p, OP_bitcast, a, to);
}

ref tensor_select(tensor_pipe *p, ref condition, ref yes, ref no)
{
    type t = node_type(p, yes);
    assert(type_equal(t, node_type(p, no)) && node_type(p, condition).kind == KIND_bool);
    if (node_type(p, condition).lanes == 1)
        condition = tensor_splat(p, condition, t.lanes);
    assert(node_type(p, condition).lanes == t.lanes);
    ref simple = simplify_select(p, condition, yes, no);
    return simple ? simple : node_make(p, (tensor_node){ .op = OP_select, .type = t }, (ref[]){ condition, yes, no }, 3);
}

/* ---- pixels ---------------------------------------------------------------------------------- */

ref tensor_splat(tensor_pipe *p, ref a, int lanes)
{
    type t = node_type(p, a);
    assert(lanes >= 1 && lanes <= TENSOR_MAX_LANES && (t.lanes == 1 || t.lanes == lanes));
    if (t.lanes == lanes)
        return a;
    return node_make(p, (tensor_node){ .op = OP_splat, .type = type_of(t.kind, lanes) }, &a, 1);
}

/* vec of comp 0, 1 ... of one pixel of as many components: that pixel, else 0. */
static ref vec_source(const tensor_pipe *p, const ref *components, int n)
{
    ref source = 0;
    for (int k = 0; k < n; k++) {
        const tensor_node *c = node_at(p, components[k]);
        if (c->op != OP_comp || c->index != k)
            return 0;
        ref pixel = node_arg(p, components[k], 0);
        if (k > 0 && pixel != source)
            return 0;
        source = pixel;
    }
    return node_type(p, source).lanes == n ? source : 0;
}

ref tensor_vec(tensor_pipe *p, const ref *components, int n)
{
    assert(n >= 1 && n <= TENSOR_MAX_LANES);
    if (n == 1)
        return components[0];
    type t = node_type(p, components[0]);
    bool alike = true;
    for (int k = 0; k < n; k++) {
        assert(type_equal(node_type(p, components[k]), t) && t.lanes == 1);
        alike = alike && components[k] == components[0];
    }
    if (alike)
        return tensor_splat(p, components[0], n);
    ref source = vec_source(p, components, n);
    return source ? source : node_make(p, (tensor_node){ .op = OP_vec, .type = type_of(t.kind, n) }, components, n);
}

ref tensor_comp(tensor_pipe *p, ref a, int which)
{
    const tensor_node *n = node_at(p, a);
    assert(which >= 0 && which < n->type.lanes);
    if (n->type.lanes == 1)
        return a;
    if (n->op == OP_splat)
        return node_arg(p, a, 0);
    if (n->op == OP_vec)
        return node_arg(p, a, which);
    return node_make(p, (tensor_node){ .op = OP_comp, .type = type_of(n->type.kind, 1), .index = (uint8_t)which }, &a, 1);
}

/* ---- loads ----------------------------------------------------------------------------------- */

ref tensor_load(tensor_pipe *p, uint32_t stage, const ref *index, const uint8_t *border, const ref *outside, type t)
{
    assert(stage > 0 && stage < p->stages.count);
    int rank = stage_at(p, stage)->rank, n_args = rank;
    assert(t.lanes == stage_at(p, stage)->type.lanes);
    ref simple = simplify_load(p, stage, index, border, outside, t);
    if (simple)
        return simple;
    tensor_node node = { .op = OP_load, .type = t, .payload = stage };
    ref args[2 * TENSOR_MAX_RANK];
    for (int k = 0; k < rank; k++) {
        assert(type_equal(node_type(p, index[k]), type_of(KIND_i32, 1)));
        args[k] = index[k];
        node.border[k] = border ? border[k] : BORDER_none;
        if (node.border[k] != BORDER_value)
            continue;
        assert(outside && outside[k] && type_equal(node_type(p, outside[k]), t));
        args[n_args++] = outside[k];
    }
    return node_make(p, node, args, n_args);
}

ref load_index(const tensor_pipe *p, ref load, int dimension)
{
    return node_arg(p, load, dimension);
}

ref load_outside(const tensor_pipe *p, ref load, int dimension)
{
    const tensor_node *n = node_at(p, load);
    if (n->border[dimension] != BORDER_value)
        return 0;
    int at = stage_at(p, n->payload)->rank;
    for (int k = 0; k < dimension; k++)
        at += n->border[k] == BORDER_value;
    return node_arg(p, load, at);
}

/* ---- the same on other arguments ---------------------------------------------------------------- */

static ref load_with_args(tensor_pipe *p, ref r, const ref *args)
{
    tensor_node n = *node_at(p, r);
    int rank = stage_at(p, n.payload)->rank, at = rank;
    ref outside[TENSOR_MAX_RANK] = { 0 };
    for (int k = 0; k < rank; k++)
        if (n.border[k] == BORDER_value)
            outside[k] = args[at++];
    return tensor_load(p, n.payload, args, n.border, outside, n.type);
}

ref node_with_args(tensor_pipe *p, ref r, const ref *args)
{
    tensor_node n = *node_at(p, r);
    if (n.n_args == 0 || memcmp(args, node_args(p, r), sizeof *args * n.n_args) == 0)
        return n.op == OP_load ? load_with_args(p, r, args) : r;
    switch (n.op) {
    case OP_cast:    return tensor_cast(p, args[0], n.type.kind);
    case OP_wrap:    return tensor_wrap(p, args[0], n.type.kind);
    case OP_bitcast: return tensor_bitcast(p, args[0], n.type.kind);
    case OP_select:  return tensor_select(p, args[0], args[1], args[2]);
    case OP_splat:   return tensor_splat(p, args[0], n.type.lanes);
    case OP_vec:     return tensor_vec(p, args, n.n_args);
    case OP_comp:    return tensor_comp(p, args[0], n.index);
    case OP_load:    return load_with_args(p, r, args);
    default:         return build_op(p, n.op, args, n.n_args);
    }
}
