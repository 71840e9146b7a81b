/* SPDX-License-Identifier: MIT
 * The built-in scalar functions, and the table of all built-in ones (builtins.def). */
#include <string.h>

#include "frontend/builder.h"

static value made(builder *b, ref node)
{
    return scalar_value(b, node);
}

static value apply_op(builder *b, tensor_op op, const value *v, int n)
{
    return made(b, n == 1   ? tensor_op1(b->pipe, op, v[0].node)
                   : n == 2 ? tensor_op2(b->pipe, op, v[0].node, v[1].node)
                            : tensor_op3(b->pipe, op, v[0].node, v[1].node, v[2].node));
}

static bool unified(builder *b, type_rule rule, const value *operands, int n, value *v, span where)
{
    for (int k = 0; k < n; k++)
        v[k] = operands[k];
    return unify(b, rule, v, n, where);
}

static value apply_float(builder *b, const value *operands, int n, intptr_t op, span where)
{
    value v[3];
    return unified(b, RULE_float, operands, n, v, where) ? apply_op(b, (tensor_op)op, v, n) : error_value();
}

static value apply_number(builder *b, const value *operands, int n, intptr_t op, span where)
{
    value v[3];
    if (!unified(b, RULE_arithmetic, operands, n, v, where))
        return error_value();
    value out = apply_op(b, (tensor_op)op, v, n);
    out.literal = operands[0].literal && n == 1;
    return out;
}

static value apply_bits(builder *b, const value *operands, int n, intptr_t op, span where)
{
    value v[3];
    return unified(b, RULE_bits, operands, n, v, where) ? apply_op(b, (tensor_op)op, v, n) : error_value();
}

/* The number of bits doesn't decide the type; a negative one is beyond 31 as a u32, too. */
static value shift(builder *b, const value *operands, int n, intptr_t op, span where)
{
    value v[2] = { operands[0], operands[1] };
    if (!unify(b, RULE_bits, &v[0], 1, where) || !unify(b, RULE_bits, &v[1], 1, where))
        return error_value();
    if (v[1].type.kind != v[0].type.kind)
        v[1] = made(b, tensor_wrap(b->pipe, v[1].node, (kind)v[0].type.kind));
    v[1].literal = v[0].literal = false;
    return unify(b, RULE_bits, v, n, where) ? apply_op(b, (tensor_op)op, v, n) : error_value();
}

static value clamp_between(builder *b, const value *operands, int n, intptr_t how, span where)
{
    value v[3];
    (void)how;
    if (!unified(b, RULE_selection, operands, n, v, where))
        return error_value();
    if (v[0].type.kind == KIND_bool)
        return fail(b, DIAG_E0406, where, "min, max and clamp are for numbers, not for bool");
    return made(b, minimum(b, OP_min, minimum(b, OP_max, v[0].node, v[1].node), v[2].node));
}

/* v > 0 ? 1 : v < 0 ? -1 : 0, so NaN gives 0. */
static value sign_of(builder *b, const value *operands, int n, intptr_t how, span where)
{
    value v;
    (void)how;
    if (!unified(b, RULE_arithmetic, operands, n, &v, where))
        return error_value();
    tensor_pipe *p = b->pipe;
    kind k = (kind)v.type.kind;
    ref zero = tensor_splat(p, constant_of(b, k, 0), v.type.lanes), one = tensor_splat(p, constant_of(b, k, 1), v.type.lanes);
    ref result = zero;
    if (k != KIND_u32)
        result = tensor_select(p, tensor_op2(p, OP_lt, v.node, zero), tensor_op1(p, OP_neg, one), zero);
    return made(b, tensor_select(p, tensor_op2(p, OP_lt, zero, v.node), one, result));
}

static value fraction(builder *b, const value *operands, int n, intptr_t how, span where)
{
    value v;
    (void)how;
    if (!unified(b, RULE_float, operands, n, &v, where))
        return error_value();
    return made(b, tensor_op2(b->pipe, OP_sub, v.node, tensor_op1(b->pipe, OP_floor, v.node)));
}

/* ---- pixels --------------------------------------------------------------------------------------------------------- */

static bool need_pixel(builder *b, const value *v, int lanes, const char *function, span where)
{
    if (lanes ? v->type.lanes == lanes : v->type.lanes > 1)
        return true;
    fail(b, DIAG_E0406, where, lanes ? "%s needs pixels with 3 components, not %s" : "%s needs a pixel, not %s", function,
         type_name(b, v->type));
    return false;
}

/* As written: a.x * b.x + a.y * b.y + ..., so each product but the first is contracted. */
static ref dot_node(builder *b, ref a, ref c)
{
    type t = node_type(b->pipe, a);
    ref sum = tensor_op2(b->pipe, OP_mul, tensor_comp(b->pipe, a, 0), tensor_comp(b->pipe, c, 0));
    for (int k = 1; k < t.lanes; k++) {
        ref x = tensor_comp(b->pipe, a, k), y = tensor_comp(b->pipe, c, k);
        sum = t.kind == KIND_f32 ? tensor_op3(b->pipe, OP_muladd, x, y, sum)
                                 : tensor_op2(b->pipe, OP_add, sum, tensor_op2(b->pipe, OP_mul, x, y));
    }
    return sum;
}

static value dot_product(builder *b, const value *operands, int n, intptr_t how, span where)
{
    value v[2];
    (void)how;
    if (!unified(b, RULE_arithmetic, operands, n, v, where) || !need_pixel(b, &v[0], 0, "dot", where))
        return error_value();
    return made(b, dot_node(b, v[0].node, v[1].node));
}

static value length_of(builder *b, const value *operands, int n, intptr_t how, span where)
{
    value v;
    (void)how;
    if (!unified(b, RULE_float, operands, n, &v, where) || !need_pixel(b, &v, 0, "length", where))
        return error_value();
    return made(b, tensor_op1(b->pipe, OP_sqrt, dot_node(b, v.node, v.node)));
}

static value normalized(builder *b, const value *operands, int n, intptr_t how, span where)
{
    value length = length_of(b, operands, n, how, where), v;
    if (is_error(length) || !unified(b, RULE_float, operands, n, &v, where))
        return error_value();
    return made(b, tensor_op2(b->pipe, OP_div, v.node, tensor_splat(b->pipe, length.node, v.type.lanes)));
}

/* a * d - e * c: of two written products the right one is fused. */
static ref product_difference(builder *b, ref a, ref d, ref e, ref c)
{
    ref plain = tensor_op2(b->pipe, OP_mul, a, d);
    if (node_type(b->pipe, a).kind != KIND_f32)
        return tensor_op2(b->pipe, OP_sub, plain, tensor_op2(b->pipe, OP_mul, e, c));
    return tensor_op3(b->pipe, OP_muladd, tensor_op1(b->pipe, OP_neg, e), c, plain);
}

static value cross_product(builder *b, const value *operands, int n, intptr_t how, span where)
{
    value v[2];
    (void)how;
    if (!unified(b, RULE_arithmetic, operands, n, v, where) || !need_pixel(b, &v[0], 3, "cross", where))
        return error_value();
    ref components[3];
    for (int k = 0; k < 3; k++) {
        int y = (k + 1) % 3, z = (k + 2) % 3;
        tensor_pipe *p = b->pipe;
        components[k] = product_difference(b, tensor_comp(p, v[0].node, y), tensor_comp(p, v[1].node, z),
                                           tensor_comp(p, v[0].node, z), tensor_comp(p, v[1].node, y));
    }
    return made(b, tensor_vec(b->pipe, components, 3));
}

static value collapse(builder *b, const value *operands, int n, intptr_t op, span where)
{
    value v;
    if (!unified(b, RULE_bool, operands, n, &v, where))
        return error_value();
    ref all = tensor_comp(b->pipe, v.node, 0);
    if (v.type.lanes == 1)
        all = v.node;
    for (int k = 1; k < v.type.lanes; k++)
        all = tensor_op2(b->pipe, (tensor_op)op, all, tensor_comp(b->pipe, v.node, k));
    return made(b, all);
}

/* ---- the table --------------------------------------------------------------------------------------------------------- */

struct builtin {
    const char    *name;
    int            least, most;
    pixel_function function;                          /* or */
    value        (*whole)(builder *b, const expr *e);
    intptr_t       how;
    const char    *words;
};

#define PIXELS(name, least, most, function, how, words) { #name, least, most, function, NULL, how, words },
#define WHOLE(name, function, words) { #name, 0, 0, NULL, function, 0, words },
static const builtin builtins[] = {
#include "frontend/builtins.def"
};
#undef PIXELS
#undef WHOLE

enum { N_BUILTINS = sizeof builtins / sizeof *builtins };

const builtin *find_builtin(const char *name)
{
    for (int k = 0; k < N_BUILTINS; k++)
        if (strcmp(builtins[k].name, name) == 0)
            return &builtins[k];
    return NULL;
}

void builtin_names(const char ***names, uint32_t *count, arena *memory)
{
    *names = ARENA_ARRAY(memory, const char *, N_BUILTINS);
    for (*count = 0; *count < N_BUILTINS; ++*count)
        (*names)[*count] = builtins[*count].name;
}

/* max(image) is most likely meant as a reduction. */
static value suggest_reduction(builder *b, const builtin *f, const expr *e, value v)
{
    const char *name = v.image->content->name ? v.image->content->name : "src";
    bool flat = v.image->content->rank == 1;
    value error = fail(b, DIAG_E0207, e->where, "`%s` of one image: over which pixels?", f->name);
    diag_help(b->d, flat ? "the largest of all: %s(i in %s: %s[i])" : "over the whole image: %s((x, y) in %s: %s[x, y])", f->name, name,
              name);
    return error;
}

value call_builtin(builder *b, const builtin *f, const expr *e)
{
    value operands[MAX_OPERANDS];
    const argument_list *args = &e->call.args;
    if (f->whole)
        return f->whole(b, e);
    for (uint32_t k = 0; k < args->count; k++)
        if (args->items[k].name || args->items[k].is_function)
            return fail(b, DIAG_E0208, args->items[k].where, "the arguments of `%s` have no names: %s", f->name, f->words);
    if ((int)args->count < f->least || (int)args->count > f->most || args->count > MAX_OPERANDS) {
        value v = fail(b, DIAG_E0207, e->where, "`%s` takes %d argument%s, not %u", f->name, f->least, f->least == 1 ? "" : "s",
                       args->count);
        diag_note(b->d, "%s", f->words);
        return v;
    }
    for (uint32_t k = 0; k < args->count; k++)
        operands[k] = evaluate(b, args->items[k].value);
    if (args->count == 1 && (f->function == pixel_minmax || f->function == collapse)) {
        bool asks_components = f->function == collapse && is_image(operands[0]) && operands[0].type.lanes > 1;
        if (is_image(operands[0]) && !asks_components)
            return suggest_reduction(b, f, e, operands[0]);
        if (f->function == pixel_minmax && !is_error(operands[0]))
            return fail(b, DIAG_E0207, e->where, "`%s` of one value; the components are compared as %s(v.r, %s(v.g, v.b))", f->name,
                        f->name, f->name);
    }
    return lift(b, f->function, operands, (int)args->count, f->how, e->where);
}
