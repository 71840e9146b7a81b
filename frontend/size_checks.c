/* SPDX-License-Identifier: MIT
 * Sizes are i32 and wrap as all integers do. A check such as `x + w - 1 <= src.width - 1` would hold for a w near 2^31, and
 * the pipe read outside of its pictures. So every sum and product that bounds and checks are made of, and that the ranges
 * of parameters don't keep within 32 bits, gets a check of its own. */
#include "frontend/size_checks.h"

/* A picture's width or height: more pixels in a row than any host has, and small enough for the sums that windows make. */
#define LARGEST_EXTENT (INT64_C(1) << 30)

typedef struct size_range { int64_t lo, hi; } size_range;

typedef struct sizes {
    builder    *b;
    uint32_t    count;          /* nodes at the beginning: the checks make more */
    bool       *is_needed;
    span       *where;          /* what a needed node belongs to */
    size_range *ranges;
} sizes;

static const size_range any = { INT32_MIN, INT32_MAX };

static void need(sizes *s, ref r, span where)
{
    if (r && !s->is_needed[r]) {
        s->is_needed[r] = true;
        s->where[r] = where;
    }
}

/* Extents have to exist before nodes are counted. */
static void make_extents(builder *b)
{
    for (uint32_t k = 1; k < b->pipe->stages.count; k++)
        for (int d = 0; d < stage_at(b->pipe, k)->rank; d++)
            node_extent(b, stage_at(b->pipe, k)->lo[d], stage_at(b->pipe, k)->hi[d]);
}

static void need_bounds(sizes *s)
{
    const tensor_pipe *p = s->b->pipe;
    for (uint32_t k = 0; k < p->checks.count; k++)
        need(s, p->checks.items[k].condition, p->checks.items[k].where);
    for (uint32_t k = 1; k < p->stages.count; k++)
        for (int d = 0; d < stage_at(p, k)->rank; d++) {
            ref lo = stage_at(p, k)->lo[d], hi = stage_at(p, k)->hi[d];
            need(s, lo, stage_at(p, k)->where);
            need(s, hi, stage_at(p, k)->where);
            need(s, node_extent(s->b, lo, hi), stage_at(p, k)->where);      /* made before: the same node again */
        }
    for (uint32_t k = 1; k < p->folds.count; k++)
        for (int d = 0; d < fold_at(p, k)->n_binders; d++) {
            need(s, fold_at(p, k)->lo[d], p->where);
            need(s, fold_at(p, k)->hi[d], p->where);
        }
}

/* Operands have smaller numbers than what uses them. A choice's branches are left out: the one not taken may wrap. */
static void need_operands(sizes *s)
{
    const tensor_pipe *p = s->b->pipe;
    for (ref r = s->count - 1; r > 0; r--)
        for (int k = 0; s->is_needed[r] && k < node_at(p, r)->n_args; k++)
            if (node_at(p, r)->op != OP_select || k == 0)
                need(s, node_arg(p, r, k), s->where[r]);
}

static size_range product(size_range a, size_range c)
{
    int64_t all[] = { a.lo * c.lo, a.lo * c.hi, a.hi * c.lo, a.hi * c.hi };
    size_range out = { all[0], all[0] };
    for (int k = 1; k < 4; k++) {
        out.lo = all[k] < out.lo ? all[k] : out.lo;
        out.hi = all[k] > out.hi ? all[k] : out.hi;
    }
    return out;
}

static size_range parameter_range(const tensor_param *p)
{
    bool is_small = p->has_range && p->lo >= INT32_MIN && p->hi <= INT32_MAX;
    return is_small ? (size_range){ (int64_t)p->lo, (int64_t)p->hi } : any;
}

/* As if there were no wrapping. */
static size_range exact_range(sizes *s, ref r)
{
    const tensor_pipe *p = s->b->pipe;
    const tensor_node *n = node_at(p, r);
    int64_t value;
    if (node_is_const(p, r, &value))
        return (size_range){ value, value };
    if (n->op == OP_dim)
        return (size_range){ 0, LARGEST_EXTENT };
    if (n->op == OP_param)
        return parameter_range(&p->params.items[n->payload]);
    size_range a = n->n_args > 0 ? s->ranges[node_arg(p, r, 0)] : any, c = n->n_args > 1 ? s->ranges[node_arg(p, r, 1)] : any;
    switch (n->op) {
    case OP_add: return (size_range){ a.lo + c.lo, a.hi + c.hi };
    case OP_sub: return (size_range){ a.lo - c.hi, a.hi - c.lo };
    case OP_neg: return (size_range){ -a.hi, -a.lo };
    case OP_mul: return product(a, c);
    case OP_min: return (size_range){ a.lo < c.lo ? a.lo : c.lo, a.hi < c.hi ? a.hi : c.hi };
    case OP_max: return (size_range){ a.lo > c.lo ? a.lo : c.lo, a.hi > c.hi ? a.hi : c.hi };
    case OP_floordiv: return c.lo > 0 ? (size_range){ a.lo < 0 ? a.lo : 0, a.hi > 0 ? a.hi : 0 } : any;
    case OP_mod: return c.lo > 0 ? (size_range){ 0, c.hi - 1 } : any;
    }
    return any;
}

/* Does r = a op c not wrap? */
static ref holds(tensor_pipe *p, tensor_op op, ref r, ref a, ref c)
{
    ref zero = tensor_i32(p, 0), lowest = tensor_i32(p, INT32_MIN);
    if (op == OP_add)           /* a sum that wraps has the sign of neither */
        return tensor_op2(p, OP_le, zero, tensor_op2(p, OP_bitand, tensor_op2(p, OP_bitxor, a, r), tensor_op2(p, OP_bitxor, c, r)));
    if (op == OP_sub)
        return tensor_op2(p, OP_le, zero, tensor_op2(p, OP_bitand, tensor_op2(p, OP_bitxor, a, c), tensor_op2(p, OP_bitxor, a, r)));
    if (op == OP_neg)
        return tensor_op2(p, OP_ne, a, lowest);
    ref divides = tensor_op2(p, OP_or, tensor_op2(p, OP_eq, c, zero), tensor_op2(p, OP_eq, tensor_op2(p, OP_floordiv, r, c), a));
    ref is_negated = tensor_op2(p, OP_and, tensor_op2(p, OP_eq, c, tensor_i32(p, -1)), tensor_op2(p, OP_eq, a, lowest));
    return tensor_op2(p, OP_and, divides, tensor_op1(p, OP_not, is_negated));
}

static void check_node(sizes *s, ref r)
{
    tensor_pipe *p = s->b->pipe;
    type t = node_type(p, r);
    if (t.kind != KIND_i32 || t.lanes != 1) {
        s->ranges[r] = any;
        return;
    }
    size_range exact = exact_range(s, r);
    bool fits = exact.lo >= INT32_MIN && exact.hi <= INT32_MAX;
    s->ranges[r] = fits ? exact : any;
    tensor_op op = (tensor_op)node_at(p, r)->op;
    if (fits || (op != OP_add && op != OP_sub && op != OP_neg && op != OP_mul))
        return;
    ref a = node_arg(p, r, 0), c = op == OP_neg ? 0 : node_arg(p, r, 1);
    require(s->b, holds(p, op, r, a, c), DIAG_E0608, s->where[r], "a size is too large at these parameters: %s leaves 32 bits",
            uniform_text(s->b, r));
}

void check_sizes(builder *b)
{
    make_extents(b);
    uint32_t count = b->pipe->nodes.count;
    arena *memory = arena_scratch(b->memory);
    sizes s = { b, count, ARENA_ARRAY(memory, bool, count), ARENA_ARRAY(memory, span, count), ARENA_ARRAY(memory, size_range, count) };
    need_bounds(&s);
    need_operands(&s);
    for (ref r = 1; r < count; r++)
        if (s.is_needed[r])
            check_node(&s, r);
    arena_free(memory);
}
