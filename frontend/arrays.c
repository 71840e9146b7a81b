/* SPDX-License-Identifier: MIT
 * Array literals: kernels and small tables. Their elements stay apart as long as they only meet numbers and each other, so
 * [[1, 2, 1]] / 4 is a table of constants, not a computation. */
#include "frontend/builder.h"

typedef struct literal { int rank; int32_t extent[TENSOR_MAX_RANK]; LIST(value) elements; } literal;

static bool shape_of(builder *b, const expr *e, literal *out)
{
    for (const expr *row = e; row->kind == EXPR_ARRAY; row = strip_parens(row->list.items[0])) {
        if (out->rank == TENSOR_MAX_RANK) {
            fail(b, DIAG_E0408, e->where, "an array has at most %d dimensions", TENSOR_MAX_RANK);
            return false;
        }
        out->extent[out->rank++] = (int32_t)row->list.count;
        if (row->list.count == 0)
            return false;
    }
    int64_t total = 1;
    for (int k = 0; k < out->rank; k++)
        total *= out->extent[k];
    if (total > MAX_ELEMENTS) {
        fail(b, DIAG_E0408, e->where, "an array literal has at most %d elements", MAX_ELEMENTS);
        return false;
    }
    for (int k = 0; k < out->rank / 2; k++) {               /* rows are written outermost; dimension 0 is the fastest */
        int32_t swapped = out->extent[k];
        out->extent[k] = out->extent[out->rank - 1 - k];
        out->extent[out->rank - 1 - k] = swapped;
    }
    return true;
}

static bool collect(builder *b, const expr *e, literal *out, int level)
{
    e = strip_parens(e);
    if (level == 0) {
        value v = evaluate_scalar(b, e, "an element of an array literal");
        LIST_PUSH(b->memory, out->elements, v);
        if (is_scalar(v) && !node_is_closed(b, v.node)) {
            fail(b, DIAG_E0226, e->where, "an element of an array literal can't change from pixel to pixel");
            return false;
        }
        return !is_error(v);
    }
    if (e->kind != EXPR_ARRAY || (int32_t)e->list.count != out->extent[level - 1]) {
        if (e->kind != EXPR_ARRAY)
            fail(b, DIAG_E0408, e->where, "this should be a row of %d elements, like the first one", out->extent[level - 1]);
        else
            fail(b, DIAG_E0408, e->where, "this row has %u element%s, but the first one has %d", e->list.count,
                 e->list.count == 1 ? "" : "s", out->extent[level - 1]);
        return false;
    }
    bool good = true;
    for (uint32_t k = 0; k < e->list.count; k++)
        good = collect(b, e->list.items[k], out, level - 1) && good;
    return good;
}

/* All elements to one type: the common one. */
static bool level_elements(builder *b, value *elements, uint32_t n, span where)
{
    for (uint32_t done = 0; done < n; done++) {
        value pair[2] = { elements[0], elements[done] };
        if (!unify(b, RULE_selection, pair, 2, where))
            return false;
        elements[0] = pair[0];
        elements[0].literal = elements[0].literal && elements[done].literal;
    }
    type t = elements[0].type;
    for (uint32_t k = 1; k < n; k++) {
        bool literal = elements[k].literal;
        elements[k] = spread(b, convert(b, elements[k], (enum kind)t.kind), t.lanes);
        elements[k].literal = literal;
    }
    return true;
}

value evaluate_array(builder *b, const expr *e)
{
    literal all = { 0 };
    if (!shape_of(b, e, &all) || !collect(b, e, &all, all.rank) ||
        !level_elements(b, all.elements.items, all.elements.count, e->where))
        return error_value();
    content *c = content_new(b, all.rank, all.elements.items[0].type, e->where);
    c->elements = all.elements.items;
    for (int k = 0; k < all.rank; k++) {
        int32_t origin = all.rank == 2 ? all.extent[k] / 2 : 0;
        c->lo[k] = tensor_i32(b->pipe, -origin);
        c->hi[k] = tensor_i32(b->pipe, all.extent[k] - 1 - origin);
    }
    return content_value(b, c);
}

/* ---- element by element ------------------------------------------------------------------------------------------ */

bool constant_extents(builder *b, const content *c, int32_t *lo, int32_t *extent)
{
    for (int k = 0; k < c->rank; k++) {
        int64_t first, last;
        if (!node_is_const(b->pipe, c->lo[k], &first) || !node_is_const(b->pipe, c->hi[k], &last))
            return false;
        lo[k] = (int32_t)first;
        extent[k] = (int32_t)(last - first + 1);
    }
    return true;
}

uint32_t element_count(builder *b, const content *c)
{
    int32_t lo[TENSOR_MAX_RANK], extent[TENSOR_MAX_RANK];
    uint32_t count = 1;
    constant_extents(b, c, lo, extent);
    for (int k = 0; k < c->rank; k++)
        count *= (uint32_t)extent[k];
    return count;
}

bool elements_apply(builder *b, const value *operands, int n)
{
    const content *first = NULL;
    for (int k = 0; k < n; k++) {
        if (!is_image(operands[k]))
            continue;
        const content *c = operands[k].image->content;
        if (!c->elements || operands[k].image->padded)
            return false;
        if (!first)
            first = c;
        if (c->rank != first->rank)
            return false;
        for (int d = 0; d < c->rank; d++)
            if (c->lo[d] != first->lo[d] || c->hi[d] != first->hi[d])
                return false;
    }
    (void)b;
    return first != NULL;
}

value lift_elements(builder *b, pixel_function f, const value *operands, int n, intptr_t how, span where)
{
    const content *like = NULL;
    for (int k = 0; k < n && !like; k++)
        like = is_image(operands[k]) ? operands[k].image->content : NULL;
    uint32_t count = element_count(b, like);
    content *out = content_new(b, like->rank, like->type, where);
    out->elements = ARENA_ARRAY(b->memory, value, count);
    for (uint32_t e = 0; e < count; e++) {
        value pixels[MAX_OPERANDS];
        for (int k = 0; k < n; k++)
            pixels[k] = is_image(operands[k]) ? operands[k].image->content->elements[e] : operands[k];
        out->elements[e] = f(b, pixels, n, how, where);
        if (is_error(out->elements[e]))
            return error_value();
    }
    if (!level_elements(b, out->elements, count, where))
        return error_value();
    out->type = out->elements[0].type;
    for (int d = 0; d < like->rank; d++) {
        out->lo[d] = like->lo[d];
        out->hi[d] = like->hi[d];
    }
    return content_value(b, out);
}

bool elements_at(builder *b, const content *c, const ref *index, value *v)
{
    int32_t lo[TENSOR_MAX_RANK], extent[TENSOR_MAX_RANK];
    int64_t at, place = 0, step = 1;
    if (!c->elements || !constant_extents(b, c, lo, extent))
        return false;
    for (int k = 0; k < c->rank; k++) {
        if (!node_is_const(b->pipe, index[k], &at) || at < lo[k] || at - lo[k] >= extent[k])
            return false;
        place += (at - lo[k]) * step;
        step *= extent[k];
    }
    *v = c->elements[place];
    return true;
}

/* ---- when a stage is needed ------------------------------------------------------------------------------------------ */

static bool constant_words(builder *b, const content *c, uint32_t count, uint32_t *words)
{
    for (uint32_t e = 0; e < count; e++)
        for (int lane = 0; lane < c->type.lanes; lane++) {
            ref component = tensor_comp(b->pipe, c->elements[e].node, lane);
            if (node_at(b->pipe, component)->op != OP_const)
                return false;
            words[e * c->type.lanes + lane] = node_at(b->pipe, component)->payload;
        }
    return true;
}

/* Elements that depend on parameters: a choice by coordinate, halved at each step. */
static ref choose_element(builder *b, const content *c, ref place, uint32_t first, uint32_t count)
{
    if (count == 1)
        return c->elements[first].node;
    uint32_t half = count / 2;
    ref yes = choose_element(b, c, place, first, half), no = choose_element(b, c, place, first + half, count - half);
    ref is_before = tensor_op2(b->pipe, OP_lt, place, tensor_i32(b->pipe, (int32_t)(first + half)));
    return tensor_select(b->pipe, is_before, yes, no);
}

uint32_t elements_stage(builder *b, content *c, const char *name)
{
    int32_t lo[TENSOR_MAX_RANK], extent[TENSOR_MAX_RANK];
    constant_extents(b, c, lo, extent);
    uint32_t count = element_count(b, c);
    uint32_t *words = ARENA_ARRAY(b->memory, uint32_t, count * c->type.lanes);
    if (constant_words(b, c, count, words)) {
        uint32_t s = tensor_table_new(b->pipe, tensor_unique_name(b->pipe, name), c->type, c->rank, lo, extent, words, c->where);
        list_grow(b->memory, &b->stage_pixels, 1, s + 1);
        while (b->stage_pixels.count <= s)
            b->stage_pixels.items[b->stage_pixels.count++] = 0;
        return s;
    }
    ref place = tensor_i32(b->pipe, 0);
    int32_t step = 1;
    for (int k = 0; k < c->rank; k++) {
        ref offset = node_sub(b, tensor_coord(b->pipe, k), tensor_i32(b->pipe, lo[k]));
        place = node_add(b, place, node_scale(b, offset, step));
        step *= extent[k];
    }
    return stage_new(b, name, c, choose_element(b, c, place, 0, count));
}
