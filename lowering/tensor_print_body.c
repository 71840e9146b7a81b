/* SPDX-License-Identifier: MIT
 * Prints what is inside a stage: its body, one op per line, folds as blocks; and uniform expressions, inline. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "lowering/tensor_print.h"

const char *const tensor_coord_names[TENSOR_MAX_RANK] = { "x", "y", "z", "u", "v" };
const char *const tensor_fold_names[N_FOLD_FORMS] = { "loop", "conv", "image_sum", "median" };

/* ---- leaves and uniform expressions -------------------------------------------------------------- */

static void print_binding(printer *w, const tensor_node *n)
{
    for (uint32_t k = w->bindings.count; k-- > 0;) {
        const binding *b = &w->bindings.items[k];
        if (b->fold == n->payload && b->op == n->op && b->index == n->index) {
            text_printf(w->out, "%%%s", b->name);
            return;
        }
    }
    text_printf(w->out, "%%stray_%s.%u.%d", op_get(n->op)->name, n->payload, n->index);
}

/* As an operand the kind must be seen: `5` is i32, `5.0` f32, all else says its kind. */
static void print_const(printer *w, kind k, uint32_t bits)
{
    bool bare = k == KIND_i32 || (k == KIND_f32 && isfinite(scalar_of_bits(k, bits).f));
    if (!bare)
        text_printf(w->out, "%s(", kind_get(k)->name);
    print_bits(w, k, bits);
    if (!bare)
        text_string(w->out, ")");
}

static void print_leaf(printer *w, const tensor_node *n)
{
    const tensor_pipe *p = w->pipe;
    switch (n->op) {
    case OP_const: print_const(w, n->type.kind, n->payload); break;
    case OP_param: text_printf(w->out, "@%s", n->payload < p->params.count ? p->params.items[n->payload].name : "?"); break;
    case OP_dim:   text_string(w->out, n->payload < p->dims.count ? w->dim_names.items[n->payload] : "?"); break;
    case OP_coord: text_printf(w->out, "%%%s", tensor_coord_names[n->index]); break;
    default:       print_binding(w, n); break;
    }
}

static bool is_leaf(const tensor_node *n)
{
    return n->n_args == 0 && n->op != OP_load && n->op != OP_result;
}

static bool is_constant_i32(const tensor_pipe *p, ref r, int64_t *value)
{
    return node_is_const(p, r, value) && node_type(p, r).kind == KIND_i32;
}

/* 2 for a product, 1 for a sum written infix; 3 for all else. `a - 5` is the sum of a and -5. */
static int precedence(const tensor_pipe *p, ref r)
{
    const tensor_node *n = node_at(p, r);
    int64_t value;
    if (!type_equal(n->type, type_of(KIND_i32, 1)))
        return 3;
    if (n->op == OP_sub)
        return is_constant_i32(p, node_arg(p, r, 1), &value) ? 3 : 1;
    return n->op == OP_add ? 1 : n->op == OP_mul ? 2 : 3;
}

static void print_call(printer *w, ref r)
{
    const tensor_node *n = node_at(w->pipe, r);
    text_string(w->out, op_get(n->op)->name);
    if (op_get(n->op)->class == CLASS_TYP)
        text_printf(w->out, ".%s", kind_get(n->type.kind)->name);
    else if (n->op == OP_splat || n->op == OP_comp)
        text_printf(w->out, ".%d", n->op == OP_comp ? n->index : n->type.lanes);
    text_string(w->out, "(");
    for (int k = 0; k < n->n_args; k++) {
        text_string(w->out, k ? ", " : "");
        print_uniform(w, node_arg(w->pipe, r, k), 1);
    }
    text_string(w->out, ")");
}

static void print_infix(printer *w, ref r, int own)
{
    const tensor_node *n = node_at(w->pipe, r);
    ref right = node_arg(w->pipe, r, 1);
    int64_t value;
    print_uniform(w, node_arg(w->pipe, r, 0), own);
    if (n->op == OP_add && is_constant_i32(w->pipe, right, &value) && value < 0 && value != INT32_MIN) {
        text_printf(w->out, " - %" PRId64, -value);
        return;
    }
    text_string(w->out, n->op == OP_add ? " + " : n->op == OP_sub ? " - " : " * ");
    print_uniform(w, right, own + 1);
}

void print_uniform(printer *w, ref r, int at_least)
{
    const tensor_node *n = node_at(w->pipe, r);
    int own = precedence(w->pipe, r);
    if (r == 0 || n->op == OP_load || n->op == OP_result)
        text_string(w->out, "?");
    else if (is_leaf(n))
        print_leaf(w, n);
    else if (own == 3)
        print_call(w, r);
    else {
        text_string(w->out, own < at_least ? "(" : "");
        print_infix(w, r, own);
        text_string(w->out, own < at_least ? ")" : "");
    }
}

/* ---- bodies ------------------------------------------------------------------------------------ */

static void print_operand(printer *w, ref r)
{
    const tensor_node *n = node_at(w->pipe, r);
    if (r && is_leaf(n)) {
        print_leaf(w, n);
        return;
    }
    uint32_t number = r ? body_number(&w->body, r) : BODY_NONE;
    if (number == BODY_NONE)
        text_string(w->out, "?");
    else
        text_printf(w->out, "%%%u", w->locals.items[number]);
}

static void name_local(printer *w, uint32_t number)
{
    while (w->locals.count <= number)
        LIST_PUSH(w->memory, w->locals, 0);
    w->locals.items[number] = w->n_locals++;
}

static void print_load(printer *w, ref r)
{
    const tensor_node *n = node_at(w->pipe, r);
    const tensor_stage *s = stage_at(w->pipe, n->payload);
    bool bordered = false;
    for (int k = 0; k < s->rank; k++)
        bordered = bordered || n->border[k] != BORDER_none;
    text_printf(w->out, " %%%s", s->name);
    for (int k = 0; bordered && k < s->rank; k++) {
        text_string(w->out, k ? ", " : " [");
        text_string(w->out, border_name(n->border[k]));
        if (n->border[k] == BORDER_value) {
            text_string(w->out, " ");
            print_operand(w, load_outside(w->pipe, r, k));
        }
    }
    text_string(w->out, bordered ? "] (" : " (");
    for (int k = 0; k < s->rank; k++) {
        text_string(w->out, k ? ", " : "");
        print_operand(w, load_index(w->pipe, r, k));
    }
    text_string(w->out, ")");
}

static void print_node(printer *w, uint32_t number, int depth)
{
    ref r = w->body.nodes.items[number].node;
    const tensor_node *n = node_at(w->pipe, r);
    name_local(w, number);
    print_indent(w, depth);
    text_printf(w->out, "%%%u = %s ", w->locals.items[number], op_get(n->op)->name);
    print_type(w, n->type);
    if (n->op == OP_load) {
        print_load(w, r);
    } else {
        for (int k = 0; k < n->n_args; k++) {
            text_string(w->out, k ? ", " : " ");
            print_operand(w, node_arg(w->pipe, r, k));
        }
        if (n->op == OP_comp)
            text_printf(w->out, " index=%d", n->index);
    }
    text_string(w->out, "\n");
    print_remarks(w, w->stage, r, depth);
}

/* ---- folds ----------------------------------------------------------------------------------- */

static bool name_in_scope(const printer *w, const char *name)
{
    for (int k = 0; k < TENSOR_MAX_RANK; k++)
        if (strcmp(tensor_coord_names[k], name) == 0)
            return true;
    for (uint32_t k = 0; k < w->bindings.count; k++)
        if (strcmp(w->bindings.items[k].name, name) == 0)
            return true;
    return false;
}

static void bind(printer *w, const char *wanted, tensor_op op, uint32_t fold, int index)
{
    const char *name = wanted;
    for (int k = 1; name_in_scope(w, name); k++)
        name = arena_printf(w->memory, "%s.%d", wanted, k);
    LIST_PUSH(w->memory, w->bindings, ((binding){ name, fold, (uint8_t)op, (uint8_t)index }));
}

static const char *binder_name(const tensor_fold *fold, int k)
{
    static const char *const plain[TENSOR_MAX_BINDERS] = { "i", "j", "k", "l", "m", "n", "o", "p" };
    return fold->binder_names[k] ? fold->binder_names[k] : plain[k];
}

static void print_results(printer *w, const body_scope *scope, int n_accs)
{
    for (int k = 0; k < n_accs; k++) {
        text_string(w->out, k ? ", " : "");
        if (scope->results[k] == BODY_NONE) {
            text_string(w->out, "_");
            continue;
        }
        name_local(w, scope->results[k]);
        text_printf(w->out, "%%%u", w->locals.items[scope->results[k]]);
    }
}

static void print_fold_head(printer *w, uint32_t scope_number, uint32_t f)
{
    const tensor_fold *fold = fold_at(w->pipe, f);
    print_results(w, &w->body.scopes.items[scope_number], fold->n_accs);
    text_printf(w->out, " = fold %s (", tensor_fold_names[fold->form]);
    for (int k = 0; k < fold->n_binders; k++) {
        bind(w, binder_name(fold, k), OP_binder, f, k);
        text_printf(w->out, "%s%%%s in ", k ? ", " : "", w->bindings.items[w->bindings.count - 1].name);
        print_uniform(w, fold->lo[k], 1);
        text_string(w->out, "..");
        print_uniform(w, fold->hi[k], 1);
    }
    text_string(w->out, ") acc ");
    for (int k = 0; k < fold->n_accs; k++) {
        text_string(w->out, k ? ", " : "");
        print_type(w, node_type(w->pipe, fold->init[k]));
        bind(w, "acc", OP_acc, f, k);
        text_printf(w->out, " %%%s = ", w->bindings.items[w->bindings.count - 1].name);
        print_operand(w, fold->init[k]);
    }
    text_string(w->out, " {\n");
}

static void print_scope(printer *w, uint32_t scope_number, int depth);

static void print_fold(printer *w, uint32_t scope_number, int depth)
{
    uint32_t f = w->body.scopes.items[scope_number].fold, n_bindings = w->bindings.count;
    const tensor_fold *fold = fold_at(w->pipe, f);
    print_indent(w, depth);
    print_fold_head(w, scope_number, f);
    print_scope(w, scope_number, depth + 1);
    print_indent(w, depth + 1);
    text_string(w->out, "next ");
    for (int k = 0; k < fold->n_accs; k++) {
        text_string(w->out, k ? ", " : "");
        print_operand(w, fold->next[k]);
    }
    text_string(w->out, "\n");
    print_indent(w, depth);
    text_string(w->out, "}\n");
    w->bindings.count = n_bindings;
    for (int k = 0; k < fold->n_accs; k++) {
        uint32_t number = w->body.scopes.items[scope_number].results[k];
        if (number != BODY_NONE)
            print_remarks(w, w->stage, w->body.nodes.items[number].node, depth);
    }
}

/* A fold stands where the first of its results does. */
static bool runs_here(const printer *w, uint32_t number, uint32_t *scope)
{
    *scope = body_fold_scope(&w->body, node_at(w->pipe, w->body.nodes.items[number].node)->payload);
    const uint32_t *results = w->body.scopes.items[*scope].results;
    for (int k = 0; k < TENSOR_MAX_ACCS; k++)
        if (results[k] < number)
            return false;
    return true;
}

static void print_where(printer *w, const body_scope *scope, int depth)
{
    ref where = scope->fold ? fold_at(w->pipe, scope->fold)->where : 0;
    if (!where)
        return;
    print_indent(w, depth);
    text_string(w->out, "where ");
    print_operand(w, where);
    text_string(w->out, "\n");
}

static void print_scope(printer *w, uint32_t scope_number, int depth)
{
    const body_scope *scope = &w->body.scopes.items[scope_number];
    for (uint32_t k = 0; k <= scope->nodes.count; k++) {
        if (k == scope->n_where)
            print_where(w, scope, depth);
        if (k == scope->nodes.count)
            break;
        uint32_t number = scope->nodes.items[k], inner;
        const tensor_node *n = node_at(w->pipe, w->body.nodes.items[number].node);
        if (is_leaf(n))
            continue;
        if (n->op != OP_result)
            print_node(w, number, depth);
        else if (runs_here(w, number, &inner))
            print_fold(w, inner, depth);
    }
}

void print_body(printer *w, ref root)
{
    body_clear(&w->body);
    body_add(&w->body, root);
    w->n_locals = 0;
    print_scope(w, 0, 2);
    text_string(w->out, "    yield ");
    print_operand(w, root);
    text_string(w->out, "\n");
}
