/* SPDX-License-Identifier: MIT
 * Views: crop, paste, concat, origin, flip, anchor. Each is a stage whose body is a shifted read, which costs nothing where
 * it is fused. Reads of paste and concat carry an edge border, so that the branch that isn't taken stays inside, too. */
#include "frontend/builder.h"

static value evaluate_image(builder *b, const argument *a, const char *function)
{
    if (a->is_function)
        return fail(b, DIAG_E0224, a->where, "a function can only be given to pad");
    value v = evaluate(b, a->value);
    if (is_error(v) || is_image(v))
        return v;
    return fail(b, DIAG_E0312, a->where, "`%s` works on images and arrays, not on %s", function, value_words(b, v));
}

static const image *with_edges(builder *b, const image *im)
{
    image *copy = ARENA_NEW(b->memory, image);
    copy->content = im->content;
    copy->padded = true;
    for (int k = 0; k < im->content->rank; k++)
        copy->axis[k].mode = BORDER_edge;
    return copy;
}

/* A stage over 0..extent-1 that reads `im` moved by `first`. */
static value shifted(builder *b, const image *im, const ref *lo, const ref *hi, const ref *by, int sign, bool proved, span where)
{
    ref index[TENSOR_MAX_RANK];
    int rank = im->content->rank;
    stage_begin(b, rank, lo, hi);
    for (int k = 0; k < rank; k++)
        index[k] = node_add(b, by[k], node_scale(b, tensor_coord(b->pipe, k), sign));
    value pixel = image_read(b, im, index, NULL, proved, where);
    content *c = stage_end(b, pixel, where);
    return c ? content_value(b, c) : error_value();
}

/* ---- origin, flip, anchor ------------------------------------------------------------------------------------------------ */

/* Elements of a literal with their place changed; false when it isn't one. */
static bool move_elements(builder *b, const image *im, const ref *lo, const ref *hi, bool turned, value *out)
{
    int32_t first[TENSOR_MAX_RANK], extent[TENSOR_MAX_RANK];
    content *from = im->content;
    if (!from->elements || im->padded || !constant_extents(b, from, first, extent))
        return false;
    content *c = content_new(b, from->rank, from->type, from->where);
    uint32_t count = 1;
    for (int k = 0; k < from->rank; k++) {
        c->lo[k] = lo[k];
        c->hi[k] = hi[k];
        count *= (uint32_t)extent[k];
    }
    c->elements = ARENA_ARRAY(b->memory, value, count);
    for (uint32_t n = 0; n < count; n++)
        c->elements[n] = from->elements[turned ? count - 1 - n : n];
    *out = content_value(b, c);
    return true;
}

value move_to_origin(builder *b, const image *im, bool keep_pad, span where)
{
    const content *c = im->content;
    ref lo[TENSOR_MAX_RANK], hi[TENSOR_MAX_RANK];
    value v;
    image bare = { .content = im->content };
    bool there = true;
    int64_t first;
    for (int k = 0; k < c->rank; k++) {
        lo[k] = tensor_i32(b->pipe, 0);
        hi[k] = node_sub(b, c->hi[k], c->lo[k]);
        there = there && node_is_const(b->pipe, c->lo[k], &first) && first == 0;
    }
    if (there)
        v = content_value(b, im->content);
    else if (!move_elements(b, &bare, lo, hi, false, &v))
        v = shifted(b, &bare, lo, hi, c->lo, 1, true, where);
    if (is_error(v) || !keep_pad || !im->padded)
        return v;
    image *moved = image_copy(b, im);
    moved->content = v.image->content;
    for (int k = 0; k < c->rank; k++)
        moved->moved[k] = im->moved[k] ? node_add(b, im->moved[k], c->lo[k]) : c->lo[k];
    return image_value(b, moved, where);
}

value builtin_origin(builder *b, const expr *e)
{
    static const char *const names[] = { "a" };
    const argument *slots[1];
    if (!bind_arguments(b, &e->call.args, names, 1, 1, slots, "origin", e->where))
        return error_value();
    value v = evaluate_image(b, slots[0], "origin");
    return is_error(v) ? v : move_to_origin(b, v.image, true, e->where);
}

value builtin_flip(builder *b, const expr *e)
{
    static const char *const names[] = { "k" };
    const argument *slots[1];
    if (!bind_arguments(b, &e->call.args, names, 1, 1, slots, "flip", e->where))
        return error_value();
    value v = evaluate_image(b, slots[0], "flip"), turned;
    if (is_error(v))
        return v;
    ref lo[TENSOR_MAX_RANK], hi[TENSOR_MAX_RANK], zero[TENSOR_MAX_RANK];
    image bare = { .content = v.image->content };
    for (int k = 0; k < bare.content->rank; k++) {
        lo[k] = node_scale(b, bare.content->hi[k], -1);
        hi[k] = node_scale(b, bare.content->lo[k], -1);
        zero[k] = tensor_i32(b->pipe, 0);
    }
    if (move_elements(b, &bare, lo, hi, true, &turned))
        return turned;
    return shifted(b, &bare, lo, hi, zero, -1, true, e->where);
}

/* Tap `at` (counted from 0) must exist. */
static bool check_tap(builder *b, ref at, ref extent, const char *axis, span where)
{
    tensor_pipe *p = b->pipe;
    ref zero = tensor_i32(p, 0), last = node_sub(b, extent, tensor_i32(p, 1));
    int low = known_less_equal(b, zero, at), high = known_less_equal(b, at, last);
    const char *format = "tap %s along %s doesn't exist: the kernel has taps 0..%s";
    if (low == 0 || high == 0) {
        fail(b, DIAG_E0309, where, format, uniform_text(b, at), axis, uniform_text(b, last));
        return false;
    }
    if (low < 0 || high < 0)
        require(b, tensor_op2(p, OP_and, tensor_op2(p, OP_le, zero, at), tensor_op2(p, OP_le, at, last)), DIAG_E0608, where, format,
                uniform_text(b, at), axis, uniform_text(b, last));
    return true;
}

value builtin_anchor(builder *b, const expr *e)
{
    static const char *const names[] = { "k", "x", "y" };
    const argument *slots[3];
    if (!bind_arguments(b, &e->call.args, names, 3, 3, slots, "anchor", e->where))
        return error_value();
    value v = evaluate_image(b, slots[0], "anchor"), moved;
    if (is_error(v))
        return v;
    image bare = { .content = v.image->content };
    if (bare.content->rank != 2)
        return fail(b, DIAG_E0311, slots[0]->where, "a kernel has two dimensions, not %d", bare.content->rank);
    ref lo[2], hi[2], by[2];
    for (int k = 0; k < 2; k++) {
        ref at = uniform_i32(b, slots[k + 1]->value, "the number of a tap");
        ref extent = node_extent(b, bare.content->lo[k], bare.content->hi[k]);
        if (!at || !check_tap(b, at, extent, names[k + 1], slots[k + 1]->where))
            return error_value();
        lo[k] = node_scale(b, at, -1);
        hi[k] = node_sub(b, node_sub(b, extent, tensor_i32(b->pipe, 1)), at);
        by[k] = node_add(b, bare.content->lo[k], at);
    }
    if (move_elements(b, &bare, lo, hi, false, &moved))
        return moved;
    return shifted(b, &bare, lo, hi, by, 1, true, e->where);
}

/* ---- crop --------------------------------------------------------------------------------------------------------------------- */

static bool crop_stays_inside(builder *b, const image *im, const ref *first, const ref *hi, span where)
{
    for (int k = 0; k < 2; k++) {
        const content *c = im->content;
        if (im->axis[k].mode != BORDER_none)
            continue;
        ref last = node_add(b, first[k], hi[k]);
        int low = known_less_equal(b, c->lo[k], first[k]), high = known_less_equal(b, last, c->hi[k]);
        const char *format = "this crop reaches %s = %s, outside of the image (%s..%s)", *axis = k == 0 ? "x" : "y";
        const char *from = uniform_text(b, c->lo[k]), *to = uniform_text(b, c->hi[k]);
        if (low == 0 || high == 0) {
            fail(b, DIAG_E0301, where, format, axis, uniform_text(b, low == 0 ? first[k] : last), from, to);
            diag_help(b->d, "say what is outside: crop(pad(a, edge), ...)");
            return false;
        }
        if (low < 0)
            require(b, tensor_op2(b->pipe, OP_le, c->lo[k], first[k]), DIAG_E0606, where, format, axis, uniform_text(b, first[k]), from, to);
        if (high < 0)
            require(b, tensor_op2(b->pipe, OP_le, last, c->hi[k]), DIAG_E0606, where, format, axis, uniform_text(b, last), from, to);
    }
    return true;
}

value builtin_crop(builder *b, const expr *e)
{
    static const char *const names[] = { "a", "x", "y", "w", "h" };
    const argument *slots[5];
    if (!bind_arguments(b, &e->call.args, names, 5, 5, slots, "crop", e->where))
        return error_value();
    value v = evaluate_image(b, slots[0], "crop");
    if (is_error(v))
        return v;
    const content *c = v.image->content;
    if (c->rank < 2)
        return fail(b, DIAG_E0312, slots[0]->where, "crop takes x, y, width and height, so it needs two dimensions");
    ref lo[TENSOR_MAX_RANK], hi[TENSOR_MAX_RANK], first[TENSOR_MAX_RANK];
    for (int k = 0; k < c->rank; k++) {
        lo[k] = tensor_i32(b->pipe, 0);
        first[k] = k < 2 ? uniform_i32(b, slots[k + 1]->value, "the place of a crop") : c->lo[k];
        ref size = k < 2 ? uniform_i32(b, slots[k + 3]->value, "the size of a crop") : node_extent(b, c->lo[k], c->hi[k]);
        if (!first[k] || !size)
            return error_value();
        hi[k] = node_sub(b, size, tensor_i32(b->pipe, 1));
        int64_t known;
        if (k < 2 && node_is_const(b->pipe, size, &known) && known < 0)
            return fail(b, DIAG_E0312, slots[k + 3]->where, "the size of a crop is not negative");
    }
    if (!crop_stays_inside(b, v.image, first, hi, e->where))
        return error_value();
    return shifted(b, v.image, lo, hi, first, 1, true, e->where);
}

/* ---- paste, concat ------------------------------------------------------------------------------------------------------------------ */

static bool same_rank(builder *b, value a, value c, const char *function, span where)
{
    if (is_error(a) || is_error(c))
        return false;
    if (a.image->content->rank == c.image->content->rank)
        return true;
    fail(b, DIAG_E0304, where, "`%s` can't combine %d and %d dimensions", function, a.image->content->rank, c.image->content->rank);
    return false;
}

/* inside ? inner[inner_index] : outer[outer_index], over 0..hi */
static value either(builder *b, const image *inner, const ref *inner_index, const image *outer, const ref *outer_index, ref inside,
                    span where)
{
    value operands[3] = { scalar_value(b, inside), image_read(b, with_edges(b, inner), inner_index, NULL, true, where),
                          image_read(b, with_edges(b, outer), outer_index, NULL, true, where) };
    if (is_error(operands[1]) || is_error(operands[2]))
        return error_value();
    return pixel_select(b, operands, 3, 0, where);
}

value builtin_paste(builder *b, const expr *e)
{
    static const char *const names[] = { "a", "b", "x", "y" };
    const argument *slots[4];
    if (!bind_arguments(b, &e->call.args, names, 4, 4, slots, "paste", e->where))
        return error_value();
    value a = evaluate_image(b, slots[0], "paste"), pasted = evaluate_image(b, slots[1], "paste");
    if (!same_rank(b, a, pasted, "paste", e->where))
        return error_value();
    const content *under = a.image->content, *over = pasted.image->content;
    if (under->rank < 2)
        return fail(b, DIAG_E0312, e->where, "paste takes x and y, so it needs two dimensions");
    tensor_pipe *p = b->pipe;
    ref lo[TENSOR_MAX_RANK], hi[TENSOR_MAX_RANK], index[TENSOR_MAX_RANK], over_index[TENSOR_MAX_RANK], inside = tensor_bool(p, true);
    for (int k = 0; k < under->rank; k++) {
        ref at = k < 2 ? uniform_i32(b, slots[k + 2]->value, "the place to paste at") : tensor_i32(p, 0);
        if (!at)
            return error_value();
        lo[k] = tensor_i32(p, 0);
        hi[k] = node_sub(b, under->hi[k], under->lo[k]);
        index[k] = node_add(b, tensor_coord(p, k), under->lo[k]);
        over_index[k] = node_add(b, node_sub(b, tensor_coord(p, k), at), over->lo[k]);
        ref from = tensor_op2(p, OP_le, over->lo[k], over_index[k]), to = tensor_op2(p, OP_le, over_index[k], over->hi[k]);
        inside = tensor_op2(p, OP_and, inside, tensor_op2(p, OP_and, from, to));
    }
    stage_begin(b, under->rank, lo, hi);
    content *c = stage_end(b, either(b, pasted.image, over_index, a.image, index, inside, e->where), e->where);
    return c ? content_value(b, c) : error_value();
}

static bool check_fits(builder *b, const content *first, const content *second, int axis, span where)
{
    for (int k = 0; k < first->rank; k++) {
        ref one = node_extent(b, first->lo[k], first->hi[k]), other = node_extent(b, second->lo[k], second->hi[k]);
        int32_t difference;
        if (k == axis)
            continue;
        const char *format = "these don't fit together: along %s, one has %s pixels and the other %s";
        const char *name = k == 0 ? "x" : k == 1 ? "y" : "another dimension";
        if (!linear_difference(b->pipe, one, other, &difference)) {
            require(b, tensor_op2(b->pipe, OP_eq, one, other), DIAG_E0605, where, format, name, uniform_text(b, one),
                    uniform_text(b, other));
        } else if (difference != 0) {
            fail(b, DIAG_E0312, where, format, name, uniform_text(b, one), uniform_text(b, other));
            return false;
        }
    }
    return true;
}

value builtin_concat(builder *b, const expr *e)
{
    static const char *const names[] = { "a", "b", "axis" };
    const argument *slots[3];
    int32_t axis;
    if (!bind_arguments(b, &e->call.args, names, 3, 3, slots, "concat", e->where))
        return error_value();
    value a = evaluate_image(b, slots[0], "concat"), c = evaluate_image(b, slots[1], "concat");
    if (!same_rank(b, a, c, "concat", e->where) || !evaluate_constant_i32(b, slots[2]->value, "the axis of concat", &axis))
        return error_value();
    const content *first = a.image->content, *second = c.image->content;
    if (axis < 0 || axis >= first->rank)
        return fail(b, DIAG_E0312, slots[2]->where, "there is no axis %d: %s has axes 0..%d", axis, value_words(b, a), first->rank - 1);
    if (!check_fits(b, first, second, axis, e->where))
        return error_value();
    tensor_pipe *p = b->pipe;
    ref lo[TENSOR_MAX_RANK], hi[TENSOR_MAX_RANK], index[TENSOR_MAX_RANK], after[TENSOR_MAX_RANK];
    ref extent = node_extent(b, first->lo[axis], first->hi[axis]);
    for (int k = 0; k < first->rank; k++) {
        ref x = tensor_coord(p, k);
        lo[k] = tensor_i32(p, 0);
        hi[k] = node_sub(b, first->hi[k], first->lo[k]);
        index[k] = node_add(b, x, first->lo[k]);
        after[k] = node_add(b, k == axis ? node_sub(b, x, extent) : x, second->lo[k]);
    }
    hi[axis] = node_add(b, hi[axis], node_extent(b, second->lo[axis], second->hi[axis]));
    ref inside = tensor_op2(p, OP_lt, tensor_coord(p, axis), extent);
    stage_begin(b, first->rank, lo, hi);
    content *joined = stage_end(b, either(b, a.image, index, c.image, after, inside, e->where), e->where);
    return joined ? content_value(b, joined) : error_value();
}
