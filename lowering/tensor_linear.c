/* SPDX-License-Identifier: MIT
 * Linear forms of i32 expressions: constant + sum of coefficient * atom, modulo 2^32. Exact, because i32 arithmetic wraps.
 * Terms are kept in the order of their atoms' numbers, so equal forms are equal arrays. */
#include <assert.h>
#include <string.h>

#include "lowering/scalar.h"
#include "lowering/tensor.h"

enum { MAX_TERMS = sizeof((linear){ 0 }.terms) / sizeof(linear_term) };

static int32_t wrap_i32(int64_t value)
{
    return (int32_t)(uint32_t)(uint64_t)value;
}

/* form += coefficient * atom; false when there is no room. */
static bool add_term(linear *form, ref atom, int32_t coefficient)
{
    int at = 0;
    while (at < form->n_terms && form->terms[at].atom < atom)
        at++;
    if (at < form->n_terms && form->terms[at].atom == atom) {
        form->terms[at].coefficient = wrap_i32((int64_t)form->terms[at].coefficient + coefficient);
        if (form->terms[at].coefficient == 0) {
            memmove(&form->terms[at], &form->terms[at + 1], sizeof(linear_term) * (size_t)(form->n_terms - at - 1));
            form->n_terms--;
        }
        return true;
    }
    if (coefficient == 0)
        return true;
    if (form->n_terms == MAX_TERMS)
        return false;
    memmove(&form->terms[at + 1], &form->terms[at], sizeof(linear_term) * (size_t)(form->n_terms - at));
    form->terms[at] = (linear_term){ atom, coefficient };
    form->n_terms++;
    return true;
}

/* form += scale * other */
static bool add_form(linear *form, const linear *other, int32_t scale)
{
    form->constant = wrap_i32((int64_t)form->constant + (int64_t)other->constant * scale);
    for (int k = 0; k < other->n_terms; k++)
        if (!add_term(form, other->terms[k].atom, wrap_i32((int64_t)other->terms[k].coefficient * scale)))
            return false;
    return true;
}

/* A sum is walked as a tree, and shared parts can make that long: past this many steps it counts as too many terms. */
enum { MAX_STEPS = 512 };

static bool add_scaled(const tensor_pipe *p, ref r, int32_t scale, linear *out, int *steps);

/* One factor is a constant, or this is an atom. */
static bool add_product(const tensor_pipe *p, ref r, int32_t scale, linear *out, int *steps)
{
    int64_t factor;
    for (int k = 0; k < 2; k++)
        if (node_is_const(p, node_arg(p, r, k), &factor))
            return add_scaled(p, node_arg(p, r, 1 - k), wrap_i32(factor * scale), out, steps);
    return add_term(out, r, scale);
}

/* out += scale * r */
static bool add_scaled(const tensor_pipe *p, ref r, int32_t scale, linear *out, int *steps)
{
    const tensor_node *n = node_at(p, r);
    int64_t value;
    if (++*steps > MAX_STEPS)
        return false;
    switch (n->op) {
    case OP_const:
        out->constant = wrap_i32((int64_t)out->constant + wrap_i32((int64_t)(int32_t)n->payload * scale));
        return true;
    case OP_add:
    case OP_sub:
        return add_scaled(p, node_arg(p, r, 0), scale, out, steps) &&
               add_scaled(p, node_arg(p, r, 1), n->op == OP_add ? scale : wrap_i32(-(int64_t)scale), out, steps);
    case OP_neg:
        return add_scaled(p, node_arg(p, r, 0), wrap_i32(-(int64_t)scale), out, steps);
    case OP_mul:
        return add_product(p, r, scale, out, steps);
    case OP_shl:
        if (!node_is_const(p, node_arg(p, r, 1), &value))
            return add_term(out, r, scale);
        return add_scaled(p, node_arg(p, r, 0), wrap_i32(shift_left(scale, value)), out, steps);
    default:
        return add_term(out, r, scale);
    }
}

bool linear_of(const tensor_pipe *p, ref r, linear *out)
{
    assert(type_equal(node_type(p, r), type_of(KIND_i32, 1)));
    int steps = 0;
    *out = (linear){ 0 };
    if (add_scaled(p, r, 1, out, &steps))
        return true;
    *out = (linear){ .n_terms = 1, .terms = { { r, 1 } } };
    return false;
}

/* Positive terms first, so that `b - a` needs no negation. */
ref linear_build(tensor_pipe *p, const linear *form)
{
    ref sum = 0;
    for (int round = 0; round < 2; round++)
        for (int k = 0; k < form->n_terms; k++) {
            int32_t coefficient = form->terms[k].coefficient;
            bool negative = coefficient < 0 && coefficient != INT32_MIN;
            if (negative != (round == 1))
                continue;
            ref magnitude = tensor_i32(p, negative ? -coefficient : coefficient);
            ref term = tensor_op2(p, OP_mul, form->terms[k].atom, magnitude);
            if (sum)
                sum = tensor_op2(p, negative ? OP_sub : OP_add, sum, term);
            else
                sum = negative ? tensor_op1(p, OP_neg, term) : term;
        }
    ref constant = tensor_i32(p, form->constant);
    return sum ? tensor_op2(p, OP_add, sum, constant) : constant;
}

bool linear_difference(const tensor_pipe *p, ref a, ref b, int32_t *difference)
{
    linear form = { 0 };
    int steps = 0;
    if (!add_scaled(p, a, 1, &form, &steps) || !add_scaled(p, b, -1, &form, &steps) || form.n_terms > 0) {
        *difference = 0;
        return a == b;
    }
    *difference = form.constant;
    return true;
}

/* ---- normal form ------------------------------------------------------------------------------- */

/* min and max of uniform expressions at a constant distance: sizes and radii are far from where i32 wraps. */
static ref nearer(const tensor_pipe *p, tensor_op op, ref a, ref b)
{
    int32_t difference;
    if ((op != OP_min && op != OP_max) || !node_is_uniform(p, a) || !node_is_uniform(p, b) ||
        !linear_difference(p, a, b, &difference))
        return 0;
    return (difference < 0) == (op == OP_min) ? a : b;
}

enum { MOST_OPERANDS = 16 };
typedef struct operands { ref of[MOST_OPERANDS]; int n; } operands;

/* One more of a chain of min (or max): unless it is one that is there, but for a distance. */
static bool add_operand(const tensor_pipe *p, tensor_op op, operands *all, ref r)
{
    for (int k = 0; k < all->n; k++) {
        ref near = all->of[k] == r ? r : nearer(p, op, all->of[k], r);
        if (!near)
            continue;
        all->of[k] = near;
        return true;
    }
    if (all->n == MOST_OPERANDS)
        return false;
    all->of[all->n++] = r;
    return true;
}

/* Those of r + distance, which may be a chain itself: min(a, b) + 1 is min(a + 1, b + 1). */
static bool add_operands(tensor_pipe *p, tensor_op op, operands *all, ref r, int32_t distance)
{
    linear form;
    if (node_at(p, r)->op == op)
        return add_operands(p, op, all, node_arg(p, r, 0), distance) && add_operands(p, op, all, node_arg(p, r, 1), distance);
    if (linear_of(p, r, &form) && form.n_terms == 1 && form.terms[0].coefficient == 1 && node_at(p, form.terms[0].atom)->op == op)
        return add_operands(p, op, all, form.terms[0].atom, wrap_i32((int64_t)distance + form.constant));
    return add_operand(p, op, all, tensor_op2(p, OP_add, r, tensor_i32(p, distance)));
}

/* min(min(a, b), a + 1): the same bounds meet again and again where many stages do. */
static ref normalize_chain(tensor_pipe *p, tensor_op op, ref a, ref b)
{
    operands all = { .n = 0 };
    if (!add_operands(p, op, &all, a, 0) || !add_operands(p, op, &all, b, 0))
        return tensor_op2(p, op, a, b);
    ref chain = all.of[0];
    for (int k = 1; k < all.n; k++)
        chain = tensor_op2(p, op, chain, all.of[k]);
    return chain;
}

static ref normalize_atom(tensor_pipe *p, ref atom)
{
    tensor_node n = *node_at(p, atom);
    op_class class = op_get(n.op)->class;
    if (n.n_args == 0 || n.n_args > 3 || (class == CLASS_STR && n.op != OP_select))
        return atom;
    ref args[3];
    for (int k = 0; k < n.n_args; k++) {
        ref arg = node_arg(p, atom, k);
        args[k] = type_equal(node_type(p, arg), type_of(KIND_i32, 1)) ? tensor_normalize(p, arg) : arg;
    }
    if ((n.op == OP_min || n.op == OP_max) && n.uniform && type_equal(n.type, type_of(KIND_i32, 1)))
        return normalize_chain(p, n.op, args[0], args[1]);
    return node_with_args(p, atom, args);
}

ref tensor_normalize(tensor_pipe *p, ref r)
{
    linear form, sum = { 0 }, part;
    bool whole = linear_of(p, r, &form);
    sum.constant = form.constant;
    for (int k = 0; k < form.n_terms; k++) {
        ref atom = form.terms[k].atom;
        if (!whole && atom == r && op_get(node_at(p, r)->op)->class == CLASS_NUM)
            return r;                                    /* a sum of too many terms stays as it is */
        linear_of(p, normalize_atom(p, atom), &part);
        if (!add_form(&sum, &part, form.terms[k].coefficient))
            return r;
    }
    return linear_build(p, &sum);
}
