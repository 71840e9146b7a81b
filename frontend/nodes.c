/* SPDX-License-Identifier: MIT
 * Questions about nodes, and small arithmetic on uniform ones.
 *
 * The trait of a node says which kinds of things its value depends on, and how deep its expression is. Bits 0..59 say "variables or accumulators of the
 * reduction that has n reductions around it": a result of that reduction no longer has its bit, so a node without any is
 * closed. Siblings may share a bit because a node with a reduction's variable never escapes from it. */
#include "frontend/builder.h"

enum { MAX_OPEN_FOLDS = 59 };

#define DEPENDS_load       (UINT64_C(1) << 60)
#define DEPENDS_pixels     (UINT64_C(1) << 61)
#define DEPENDS_coordinate (UINT64_C(1) << 62)
#define DEPENDS_parameter  (UINT64_C(1) << 63)

value scalar_value(builder *b, ref node)
{
    return (value){ .kind = VALUE_scalar, .type = node_type(b->pipe, node), .node = node };
}

static uint64_t fold_bit(builder *b, uint32_t fold)
{
    return UINT64_C(1) << (fold < b->fold_depth.count ? b->fold_depth.items[fold] : 0);
}

static const trait *trait_at(const builder *b, ref node)
{
    return &b->traits.items[node];
}

static void join(const builder *b, trait *t, ref node)
{
    const trait *part = trait_at(b, node);
    t->depends |= part->depends;
    t->depth = part->depth > t->depth ? part->depth : t->depth;
}

/* A fold's result no longer depends on its own variables, but for what it starts with. */
static void join_fold(builder *b, trait *t, uint32_t fold)
{
    const tensor_fold *f = fold_at(b->pipe, fold);
    join(b, t, f->where);
    for (int k = 0; k < f->n_binders; k++) {
        join(b, t, f->lo[k]);
        join(b, t, f->hi[k]);
    }
    for (int k = 0; k < f->n_accs; k++)
        join(b, t, f->next[k]);
    t->depends &= ~fold_bit(b, fold);
    for (int k = 0; k < f->n_accs; k++)
        join(b, t, f->init[k]);
}

static trait find_trait(builder *b, ref node)
{
    const tensor_node *n = node_at(b->pipe, node);
    trait t = { 0 };
    switch ((tensor_op)n->op) {
    case OP_coord: t.depends = DEPENDS_coordinate; break;
    case OP_param: t.depends = DEPENDS_parameter; break;
    case OP_binder:
    case OP_acc: t.depends = fold_bit(b, n->payload); break;
    case OP_result: join_fold(b, &t, n->payload); break;
    case OP_load:
        t.depends = DEPENDS_load;
        if (n->payload < b->stage_pixels.count && b->stage_pixels.items[n->payload])
            t.depends |= DEPENDS_pixels;
        break;
    default: break;
    }
    for (int k = 0; k < n->n_args; k++)
        join(b, &t, node_arg(b->pipe, node, k));
    t.depth++;
    return t;
}

/* Parts of a node are made before it, so one sweep in order of making answers for all without recursion. */
static trait trait_of(builder *b, ref node)
{
    list_grow(b->memory, &b->traits, sizeof(trait), node + 1);
    while (b->traits.count <= node) {
        ref next = b->traits.count;
        trait t = next == 0 ? (trait){ 0 } : find_trait(b, next);
        b->traits.items[b->traits.count++] = t;
    }
    return b->traits.items[node];
}

bool node_is_closed(builder *b, ref node)
{
    return (trait_of(b, node).depends & ~(DEPENDS_pixels | DEPENDS_load | DEPENDS_parameter)) == 0;
}

bool node_uses_pixels(builder *b, ref node)
{
    return (trait_of(b, node).depends & DEPENDS_pixels) != 0;
}

bool node_has_load(builder *b, ref node)
{
    return (trait_of(b, node).depends & DEPENDS_load) != 0;
}

bool node_uses_parameters(builder *b, ref node)
{
    return (trait_of(b, node).depends & DEPENDS_parameter) != 0;
}

uint32_t node_depth(builder *b, ref node)
{
    return trait_of(b, node).depth;
}

/* Copies of reductions inside of `now` have depths that nobody gave them, so what it depends on is taken over. */
void node_renamed(builder *b, ref before, ref now)
{
    trait t = trait_of(b, before);
    trait_of(b, now);
    b->traits.items[now].depends = t.depends;
}

void fold_opened(builder *b, uint32_t fold)
{
    list_grow(b->memory, &b->fold_depth, 1, fold + 1);
    while (b->fold_depth.count <= fold)
        b->fold_depth.items[b->fold_depth.count++] = 0;
    b->fold_depth.items[fold] = (uint8_t)(b->open_folds < MAX_OPEN_FOLDS ? b->open_folds : MAX_OPEN_FOLDS);
    b->open_folds++;
}

void fold_closed(builder *b)
{
    b->open_folds--;
}

/* ---- arithmetic on i32 nodes ------------------------------------------------------------------------------ */

ref normal(builder *b, ref r)
{
    return tensor_normalize(b->pipe, r);
}

ref node_add(builder *b, ref a, ref c)
{
    return normal(b, tensor_op2(b->pipe, OP_add, a, c));
}

ref node_sub(builder *b, ref a, ref c)
{
    return normal(b, tensor_op2(b->pipe, OP_sub, a, c));
}

ref node_scale(builder *b, ref a, int32_t factor)
{
    return normal(b, tensor_op2(b->pipe, OP_mul, a, tensor_i32(b->pipe, factor)));
}

ref node_extent(builder *b, ref lo, ref hi)
{
    return node_add(b, node_sub(b, hi, lo), tensor_i32(b->pipe, 1));
}

ref floor_div(builder *b, ref a, int32_t n)
{
    return n == 1 ? a : normal(b, tensor_op2(b->pipe, OP_floordiv, a, tensor_i32(b->pipe, n)));
}

ref ceil_div(builder *b, ref a, int32_t n)
{
    return n == 1 ? a : floor_div(b, node_add(b, a, tensor_i32(b->pipe, n - 1)), n);
}

ref constant_of(builder *b, kind k, double v)
{
    if (kind_is_float(k)) {
        float f = (float)v;
        return tensor_const(b->pipe, k, bits_of_scalar(KIND_f32, (scalar){ .f = f }));
    }
    return tensor_const(b->pipe, k, bits_of_scalar(k, (scalar){ .i = (int64_t)v }));
}
