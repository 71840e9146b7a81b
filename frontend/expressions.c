/* SPDX-License-Identifier: MIT
 * Expressions, apart from calls and reductions. Every function here looks at one kind of syntax. */
#include <string.h>

#include "frontend/builder.h"

const expr *strip_parens(const expr *e)
{
    while (e->kind == EXPR_PAREN)
        e = e->paren;
    return e;
}

/* ---- operators ---------------------------------------------------------------------------------------------------- */

static const expr *product_in(const expr *e)
{
    e = strip_parens(e);
    return e->kind == EXPR_BINARY && e->binary.op == BINARY_MUL ? e : NULL;
}

/* `+` or `-` of which a side is written as a product. */
static value evaluate_muladd(builder *b, const expr *e, const expr *left, const expr *right)
{
    value operands[4];
    int n = 0;
    if (left)
        operands[n++] = evaluate(b, left->binary.left);
    operands[n++] = evaluate(b, left ? left->binary.right : e->binary.left);
    if (right)
        operands[n++] = evaluate(b, right->binary.left);
    operands[n++] = evaluate(b, right ? right->binary.right : e->binary.right);
    intptr_t how = (left ? MULADD_left_product : 0) | (right ? MULADD_right_product : 0) |
                   (e->binary.op == BINARY_SUB ? MULADD_subtract : 0);
    return lift(b, pixel_muladd, operands, n, how, e->where);
}

static value evaluate_binary(builder *b, const expr *e)
{
    if (e->binary.op == BINARY_ADD || e->binary.op == BINARY_SUB) {
        const expr *left = product_in(e->binary.left), *right = product_in(e->binary.right);
        if (left || right)
            return evaluate_muladd(b, e, left, right);
    }
    value operands[2] = { evaluate(b, e->binary.left), evaluate(b, e->binary.right) };
    return lift(b, pixel_binary, operands, 2, e->binary.op, e->where);
}

value evaluate_condition(builder *b, const expr *e)
{
    b->at->in_condition++;
    value v = evaluate(b, e);
    b->at->in_condition--;
    return v;
}

/* A condition known when the script is compiled chooses; the other branch is not even looked at. */
static value evaluate_select(builder *b, const expr *e)
{
    value condition = evaluate_condition(b, e->select.condition);
    int64_t known;
    if (is_scalar(condition) && condition.type.kind == KIND_bool && condition.type.lanes == 1 &&
        node_is_const(b->pipe, condition.node, &known))
        return evaluate(b, known ? e->select.yes : e->select.no);
    value operands[3] = { condition, evaluate(b, e->select.yes), evaluate(b, e->select.no) };
    return lift(b, pixel_select, operands, 3, 0, e->where);
}

static value evaluate_tuple(builder *b, const expr *e)
{
    value operands[TENSOR_MAX_LANES];
    if (e->list.count > TENSOR_MAX_LANES)
        return fail(b, DIAG_E0402, e->where, "a pixel has 2 to 4 components, not %u", e->list.count);
    for (uint32_t k = 0; k < e->list.count; k++)
        operands[k] = evaluate(b, e->list.items[k]);
    return lift(b, pixel_tuple, operands, (int)e->list.count, 0, e->where);
}

/* ---- members ---------------------------------------------------------------------------------------------------------- */

/* One base-8 digit per component; 0 when the name is no swizzle of one set of letters. */
static intptr_t swizzle_of(const char *name)
{
    static const char *const sets[] = { "rgba", "xyzw" };
    size_t n = strlen(name);
    for (int s = 0; s < 2 && n <= TENSOR_MAX_LANES; s++) {
        intptr_t which = 0;
        size_t k = 0;
        for (; k < n; k++) {
            const char *letter = strchr(sets[s], name[k]);
            if (!letter)
                break;
            which |= (intptr_t)(letter - sets[s] + 1) << (3 * k);
        }
        if (k == n)
            return which;
    }
    return 0;
}

static value component(builder *b, const expr *e, value object)
{
    intptr_t which = swizzle_of(e->member.name);
    if (!is_scalar(object) && !is_image(object))
        return fail(b, DIAG_E0221, e->where, "%s has no `.%s`", value_words(b, object), e->member.name);
    if (which == 0) {
        static const char *const known[] = { "width", "height", "r", "g", "b", "a", "x", "y", "z", "w" };
        value v = fail(b, DIAG_E0221, e->where, "%s has no `.%s`", value_words(b, object), e->member.name);
        const char *near = nearest_name(e->member.name, known, sizeof known / sizeof *known);
        if (near)
            diag_help(b->d, "did you mean `.%s`?", near);
        else
            diag_note(b->d, "components are .r .g .b .a or .x .y .z .w, also several: .bgr");
        return v;
    }
    for (intptr_t rest = which; rest; rest >>= 3)
        if ((rest & 7) > object.type.lanes || object.type.lanes == 1) {
            if (object.type.lanes == 1)
                return fail(b, DIAG_E0405, e->where, "%s has no components", type_name(b, object.type));
            return fail(b, DIAG_E0405, e->where, "%s has %d components; `.%s` asks for more", type_name(b, object.type),
                        object.type.lanes, e->member.name);
        }
    return lift(b, pixel_swizzle, &object, 1, which, e->where);
}

static value output_member(builder *b, const expr *e, const output_values *outputs)
{
    for (int k = 0; k < outputs->count; k++)
        if (outputs->names[k] == e->member.name)
            return outputs->values[k];
    value v = fail(b, DIAG_E0221, e->where, "pipe `%s` has no output `%s`", outputs->pipe->name, e->member.name);
    const char *near = nearest_name(e->member.name, outputs->names, (size_t)outputs->count);
    diag_help(b->d, "did you mean `%s`?", near ? near : outputs->names[0]);
    return v;
}

static value evaluate_member(builder *b, const expr *e)
{
    value object = evaluate(b, e->member.object);
    if (is_error(object))
        return object;
    if (object.kind == VALUE_outputs)
        return output_member(b, e, object.outputs);
    int dimension = strcmp(e->member.name, "width") == 0 ? 0 : strcmp(e->member.name, "height") == 0 ? 1 : -1;
    if (dimension < 0)
        return component(b, e, object);
    if (!is_image(object) || object.image->content->rank <= dimension)
        return fail(b, DIAG_E0221, e->where, "%s has no %s", value_words(b, object), e->member.name);
    const content *c = object.image->content;
    return scalar_value(b, node_extent(b, c->lo[dimension], c->hi[dimension]));
}

/* a.extent(k) and a.start(k). */
static value evaluate_method(builder *b, const expr *e)
{
    value object = evaluate(b, e->method.object);
    bool extent = strcmp(e->method.name, "extent") == 0;
    int32_t dimension = 0;
    if (is_error(object))
        return object;
    if (!extent && strcmp(e->method.name, "start") != 0) {
        value v = fail(b, DIAG_E0221, e->where, "%s has no `.%s(...)`", value_words(b, object), e->method.name);
        diag_note(b->d, "there are .extent(k) and .start(k); functions are called as %s(a, ...)", e->method.name);
        return v;
    }
    if (!is_image(object))
        return fail(b, DIAG_E0221, e->where, "only images and arrays have .%s, not %s", e->method.name, value_words(b, object));
    if (e->method.args.count != 1 || e->method.args.items[0].name || e->method.args.items[0].is_function)
        return fail(b, DIAG_E0207, e->where, ".%s(k) takes the number of a dimension", e->method.name);
    if (!evaluate_constant_i32(b, e->method.args.items[0].value, "the number of a dimension", &dimension))
        return error_value();
    const content *c = object.image->content;
    if (dimension < 0 || dimension >= c->rank)
        return fail(b, DIAG_E0303, e->method.args.items[0].where, "there is no dimension %d: %s has %d, counted from 0", dimension,
                    value_words(b, object), c->rank);
    return scalar_value(b, extent ? node_extent(b, c->lo[dimension], c->hi[dimension]) : c->lo[dimension]);
}

/* ---- indexing ------------------------------------------------------------------------------------------------------------ */

static value list_element(builder *b, const expr *e, const value_list *list)
{
    int32_t index;
    if (e->index.indices.count != 1)
        return fail(b, DIAG_E0211, e->where, "the list `%s` has one index", list->name);
    if (!evaluate_constant_i32(b, e->index.indices.items[0], "the index of a list", &index))
        return error_value();
    int32_t least = INT32_MAX, greatest = INT32_MIN;
    for (uint32_t k = 0; k < list->indices.count; k++) {
        if (list->indices.items[k] == index)
            return list->values.items[k];
        least = list->indices.items[k] < least ? list->indices.items[k] : least;
        greatest = list->indices.items[k] > greatest ? list->indices.items[k] : greatest;
    }
    value v = fail(b, DIAG_E0212, e->where, "the list `%s` has no element %d", list->name, index);
    diag_note(b->d, "it has elements from %d to %d so far", least, greatest);
    return v;
}

static value evaluate_index(builder *b, const expr *e)
{
    const expr *object_expr = strip_parens(e->index.object);
    value indices[TENSOR_MAX_RANK];
    if (object_expr->kind == EXPR_NAME && b->indexed_name && object_expr->name == b->indexed_name && !scope_find(b, b->indexed_name)) {
        value v = fail(b, DIAG_E0222, e->where, "`%s` reads itself: recursive definitions (scans) aren't supported yet", b->indexed_name);
        diag_help(b->d, "write it as a reduction where that is possible");
        return v;
    }
    value object = evaluate(b, e->index.object);
    if (is_error(object))
        return object;
    if (object.kind == VALUE_list)
        return list_element(b, e, object.list);
    if (!is_image(object)) {
        value v = fail(b, DIAG_E0224, e->where, "%s can't be indexed", value_words(b, object));
        if (is_scalar(object) && object.type.lanes > 1)
            diag_help(b->d, "take a component by name: .r .g .b .a");
        return v;
    }
    if (e->index.indices.count > TENSOR_MAX_RANK)
        return fail(b, DIAG_E0303, e->where, "there are at most %d dimensions", TENSOR_MAX_RANK);
    for (uint32_t k = 0; k < e->index.indices.count; k++)
        indices[k] = evaluate(b, e->index.indices.items[k]);
    return index_image(b, object, indices, (int)e->index.indices.count, e);
}

/* ---- all kinds -------------------------------------------------------------------------------------------------------------- */

static value evaluate_literal(builder *b, const expr *e)
{
    if (e->kind == EXPR_FLOAT)
        return scalar_value(b, tensor_f32(b->pipe, e->number.value));
    value v = scalar_value(b, e->integer.value > INT32_MAX ? tensor_u32(b->pipe, e->integer.value)
                                                           : tensor_i32(b->pipe, (int32_t)e->integer.value));
    v.literal = true;
    return v;
}

static value evaluate_unary(builder *b, const expr *e)
{
    value operand = evaluate(b, e->unary.operand);
    return lift(b, e->unary.op == UNARY_NOT ? pixel_not : pixel_negate, &operand, 1, 0, e->where);
}

static value evaluate_kind(builder *b, const expr *e)
{
    switch (e->kind) {
    case EXPR_NAME: return lookup_value(b, e->name, e->where);
    case EXPR_INTEGER:
    case EXPR_FLOAT: return evaluate_literal(b, e);
    case EXPR_STRING: return fail(b, DIAG_E0224, e->where, "a text is no value; only an import has one");
    case EXPR_UNARY: return evaluate_unary(b, e);
    case EXPR_BINARY: return evaluate_binary(b, e);
    case EXPR_SELECT: return evaluate_select(b, e);
    case EXPR_TUPLE: return evaluate_tuple(b, e);
    case EXPR_ARRAY: return evaluate_array(b, e);
    case EXPR_PAREN: return evaluate(b, e->paren);
    case EXPR_MEMBER: return evaluate_member(b, e);
    case EXPR_METHOD: return evaluate_method(b, e);
    case EXPR_INDEX: return evaluate_index(b, e);
    case EXPR_CALL: return evaluate_call(b, e);
    case EXPR_REDUCE: return evaluate_reduction(b, e);
    case EXPR_ERROR: break;
    }
    return error_value();
}

value evaluate(builder *b, const expr *e)
{
    if (b->gave_up)
        return error_value();
    if (b->depth >= MAX_DEPTH) {
        b->gave_up = true;
        return fail(b, DIAG_E0220, e->where, "this is nested too deeply");
    }
    if (b->pipe->nodes.count > MAX_NODES) {
        b->gave_up = true;
        return fail(b, DIAG_E0219, e->where, "this pipe gets too large: more than %d operations", MAX_NODES);
    }
    if (++b->n_evaluations > MAX_EVALUATIONS) {
        b->gave_up = true;
        return fail(b, DIAG_E0219, e->where, "this pipe takes too long to compile: more than %d expressions", MAX_EVALUATIONS);
    }
    b->depth++;
    value v = evaluate_kind(b, e);
    b->depth--;
    if (is_scalar(v) && node_depth(b, v.node) > MAX_NODE_DEPTH) {
        b->gave_up = true;
        return fail(b, DIAG_E0220, e->where, "the expression of one pixel gets too deep: more than %d operations after one another",
                    MAX_NODE_DEPTH);
    }
    return v;
}

/* ---- expressions of which something is asked -------------------------------------------------------------------------------- */

value evaluate_scalar(builder *b, const expr *e, const char *what)
{
    value v = evaluate(b, e);
    if (is_error(v) || is_scalar(v))
        return v;
    if (is_image(v)) {
        value error = fail(b, DIAG_E0224, e->where, "%s is one number or pixel, not %s", what, value_words(b, v));
        if (v.image->content->name)
            diag_help(b->d, "read it at coordinates, as in %s[%s]", v.image->content->name,
                      v.image->content->rank == 1 ? "i" : "x, y");
        return error;
    }
    return fail(b, DIAG_E0224, e->where, "%s is one number or pixel, not %s", what, value_words(b, v));
}

ref value_uniform_i32(builder *b, value v, span where, const char *what)
{
    if (is_error(v))
        return 0;
    if (!is_scalar(v) || v.type.lanes != 1 || !kind_is_integer(v.type.kind)) {
        fail(b, DIAG_E0406, where, "%s is a whole number, not %s", what, value_words(b, v));
        if (is_scalar(v) && kind_is_float(v.type.kind))
            diag_help(b->d, "convert it: i32(ceil(...)) or i32(floor(...))");
        return 0;
    }
    if (!node_is_closed(b, v.node)) {
        fail(b, DIAG_E0226, where, "%s is the same everywhere, but this changes from pixel to pixel", what);
        diag_note(b->d, "constants, parameters and sizes can be in it; what depends on pixels can stand in a condition or `where`");
        return 0;
    }
    if (!node_is_uniform(b->pipe, v.node)) {
        fail(b, DIAG_E0306, where, "%s can depend on constants, parameters and sizes only", what);
        diag_note(b->d, "it has to be known before the first pixel is computed");
        return 0;
    }
    return normal(b, tensor_cast(b->pipe, v.node, KIND_i32));
}

ref uniform_i32(builder *b, const expr *e, const char *what)
{
    return value_uniform_i32(b, evaluate(b, e), e->where, what);
}

bool evaluate_constant_i32(builder *b, const expr *e, const char *what, int32_t *v)
{
    value found = evaluate(b, e);
    int64_t whole;
    if (is_error(found))
        return false;
    if (is_scalar(found) && found.type.lanes == 1 && kind_is_integer(found.type.kind) && node_is_const(b->pipe, found.node, &whole) &&
        whole >= INT32_MIN && whole <= INT32_MAX) {
        *v = (int32_t)whole;
        return true;
    }
    fail(b, DIAG_E0210, e->where, "%s has to be a whole number that is known when the script is compiled", what);
    return false;
}

bool evaluate_range(builder *b, const range *r, const char *what, ref *lo, ref *hi)
{
    if (!r->last) {
        fail(b, DIAG_E0306, r->where, "%s needs two ends: a..b, or a..<b without the last", what);
        return false;
    }
    ref first = uniform_i32(b, r->first, what), last = uniform_i32(b, r->last, what);
    if (!first || !last)
        return false;
    *lo = first;
    *hi = r->half_open ? node_sub(b, last, tensor_i32(b->pipe, 1)) : last;
    return true;
}
