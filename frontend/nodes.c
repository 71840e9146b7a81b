/* SPDX-License-Identifier: MIT
 * Questions about nodes, and small arithmetic on uniform ones.
 *
 * `traits` of a node is a set: which kinds of things its value depends on. Bits 0..59 say "variables or accumulators of the
 * reduction that has n reductions around it": a result of that reduction no longer has its bit, so a node without any is
 * closed. Siblings may share a bit because a node with a reduction's variable never escapes from it. */
#include "frontend/builder.h"

enum { MAX_OPEN_FOLDS = 59 };
#define TRAIT_LOAD   (UINT64_C(1) << 60)
#define TRAIT_KNOWN  (UINT64_C(1) << 61)
#define TRAIT_PIXELS (UINT64_C(1) << 62)
#define TRAIT_COORD  (UINT64_C(1) << 63)

value scalar_value(builder *b, ref node)
{
    return (value){ .kind = VALUE_scalar, .type = node_type(b->pipe, node), .node = node };
}

static uint64_t fold_bit(builder *b, uint32_t fold)
{
    return UINT64_C(1) << (fold < b->fold_depth.count ? b->fold_depth.items[fold] : 0);
}

static uint64_t traits_of(builder *b, ref node);

static uint64_t fold_traits(builder *b, uint32_t fold)
{
    const tensor_fold f = *fold_at(b->pipe, fold);
    uint64_t inside = f.where ? traits_of(b, f.where) : 0, outside = 0;
    for (int k = 0; k < f.n_binders; k++)
        inside |= traits_of(b, f.lo[k]) | traits_of(b, f.hi[k]);
    for (int k = 0; k < f.n_accs; k++) {
        inside |= traits_of(b, f.next[k]);
        outside |= traits_of(b, f.init[k]);
    }
    return (inside & ~fold_bit(b, fold)) | outside;
}

static uint64_t traits_of(builder *b, ref node)
{
    if (node == 0)
        return 0;
    if (b->traits.count <= node) {
        list_grow(b->memory, &b->traits, sizeof(uint64_t), b->pipe->nodes.count + 1024);
        while (b->traits.count < b->pipe->nodes.count)
            b->traits.items[b->traits.count++] = 0;
    }
    if (b->traits.items[node] & TRAIT_KNOWN)
        return b->traits.items[node] & ~TRAIT_KNOWN;
    const tensor_node n = *node_at(b->pipe, node);
    uint64_t traits = 0;
    switch ((tensor_op)n.op) {
    case OP_coord: traits = TRAIT_COORD; break;
    case OP_binder:
    case OP_acc: traits = fold_bit(b, n.payload); break;
    case OP_result: traits = fold_traits(b, n.payload); break;
    case OP_load:
        if (n.payload < b->stage_pixels.count && b->stage_pixels.items[n.payload])
            traits = TRAIT_PIXELS;
        traits |= TRAIT_LOAD;
        break;
    default: break;
    }
    for (int k = 0; k < n.n_args; k++)
        traits |= traits_of(b, node_arg(b->pipe, node, k));
    b->traits.items[node] = traits | TRAIT_KNOWN;
    return traits;
}

bool node_is_closed(builder *b, ref node)
{
    return (traits_of(b, node) & ~(TRAIT_PIXELS | TRAIT_LOAD)) == 0;
}

bool node_uses_pixels(builder *b, ref node)
{
    return (traits_of(b, node) & TRAIT_PIXELS) != 0;
}

bool node_has_load(builder *b, ref node)
{
    return (traits_of(b, node) & TRAIT_LOAD) != 0;
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

int known_less_equal(builder *b, ref a, ref c)
{
    int64_t known;
    int32_t difference;
    if (node_is_const(b->pipe, tensor_op2(b->pipe, OP_le, a, c), &known))
        return (int)known;
    if (linear_difference(b->pipe, a, c, &difference))
        return difference <= 0;
    return -1;
}

ref constant_of(builder *b, kind k, double v)
{
    if (kind_is_float(k)) {
        float f = (float)v;
        return tensor_const(b->pipe, k, bits_of_scalar(KIND_f32, (scalar){ .f = f }));
    }
    return tensor_const(b->pipe, k, bits_of_scalar(k, (scalar){ .i = (int64_t)v }));
}
