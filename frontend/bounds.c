/* SPDX-License-Identifier: MIT
 * Decides comparisons of uniform expressions for every size and parameter: from their difference in linear form, extents being
 * at least 0 and parameters inside of their ranges. And keeps extents that parameters decide within what a picture may have. */
#include "frontend/builder.h"

enum { MAX_LEVEL = 6 };

#define BEYOND (INT64_C(1) << 40)            /* "no bound on this side" */

typedef struct bounds { int64_t lo, hi; } bounds;

static bounds bounds_of(builder *b, ref r, int level);

static int64_t scaled(int64_t v, int32_t by)
{
    bool endless = v <= -BEYOND || v >= BEYOND;
    return endless ? ((v > 0) == (by > 0) ? BEYOND : -BEYOND) : v * by;
}

static int64_t added(int64_t a, int64_t c, int64_t endless)
{
    return a == endless || c == endless ? endless : a + c;
}

static bounds divided(bounds a, int64_t by)
{
    return (bounds){ a.lo <= -BEYOND ? -BEYOND : floor_div_i64(a.lo, by), a.hi >= BEYOND ? BEYOND : floor_div_i64(a.hi, by) };
}

static bounds atom_bounds(builder *b, ref r, int level)
{
    const tensor_node n = *node_at(b->pipe, r);
    int64_t by;
    bounds x = { -BEYOND, BEYOND }, y = x;
    if (n.op == OP_dim)
        return (bounds){ 0, BEYOND };
    if (n.op == OP_param && b->pipe->params.items[n.payload].has_range)
        return (bounds){ (int64_t)b->pipe->params.items[n.payload].lo, (int64_t)b->pipe->params.items[n.payload].hi };
    if (level == 0 || n.n_args != 2)
        return x;
    x = bounds_of(b, node_arg(b->pipe, r, 0), level - 1);
    if (n.op == OP_floordiv && node_is_const(b->pipe, node_arg(b->pipe, r, 1), &by) && by > 0)
        return divided(x, by);
    y = bounds_of(b, node_arg(b->pipe, r, 1), level - 1);
    if (n.op == OP_max)
        return (bounds){ x.lo > y.lo ? x.lo : y.lo, x.hi > y.hi ? x.hi : y.hi };
    if (n.op == OP_min)
        return (bounds){ x.lo < y.lo ? x.lo : y.lo, x.hi < y.hi ? x.hi : y.hi };
    return (bounds){ -BEYOND, BEYOND };
}

static bounds bounds_of(builder *b, ref r, int level)
{
    linear form;
    if (node_type(b->pipe, r).kind != KIND_i32 || !linear_of(b->pipe, r, &form))
        return (bounds){ -BEYOND, BEYOND };
    bounds sum = { form.constant, form.constant };
    for (int k = 0; k < form.n_terms; k++) {
        int32_t c = form.terms[k].coefficient;
        bounds atom = atom_bounds(b, form.terms[k].atom, level);
        sum.lo = added(sum.lo, scaled(c > 0 ? atom.lo : atom.hi, c), -BEYOND);
        sum.hi = added(sum.hi, scaled(c > 0 ? atom.hi : atom.lo, c), BEYOND);
    }
    return sum;
}

int known_less_equal(builder *b, ref a, ref c)
{
    int64_t known;
    if (node_is_const(b->pipe, tensor_op2(b->pipe, OP_le, a, c), &known))
        return (int)known;
    bounds difference = bounds_of(b, node_sub(b, c, a), MAX_LEVEL);
    if (difference.lo >= 0)
        return 1;
    return difference.hi < 0 ? 0 : -1;
}

/* Pictures have at most so many pixels along a dimension; a script's own extents have no more, or a kernel with a mistyped
 * radius would run for hours. What follows from the extents of pictures alone is as large as it has to be. */
void check_extent(builder *b, ref lo, ref hi, span where)
{
    enum { LARGEST_EXTENT = 1 << 28 };
    int64_t first, last;
    if (node_is_const(b->pipe, lo, &first) && node_is_const(b->pipe, hi, &last)) {
        if (last - first >= LARGEST_EXTENT)
            fail(b, DIAG_E0506, where, "this has an extent of %lld, and at most %d is possible", (long long)(last - first + 1),
                 LARGEST_EXTENT);
        return;
    }
    ref extent = node_extent(b, lo, hi), largest = tensor_i32(b->pipe, LARGEST_EXTENT);
    if (node_uses_parameters(b, extent) && known_less_equal(b, extent, largest) != 1)
        require(b, tensor_op2(b->pipe, OP_le, extent, largest), DIAG_E0608, where,
                "an extent of %s is too large at these parameters: at most %d is possible", uniform_text(b, extent), LARGEST_EXTENT);
}
