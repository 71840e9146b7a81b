/* SPDX-License-Identifier: MIT
 * What can be said about a script without a call: its constants, and the names in functions that perhaps nobody calls.
 *
 * A function has no types of its own, so only names are followed here: every value is an error value, which silences
 * everything but "there is no such name". What a call finds again at the same place is dropped by the diagnostics. */
#include <string.h>

#include "frontend/builder.h"

static void walk(builder *b, const expr *e);

static void define_silently(builder *b, const char *name, span where)
{
    if (!scope_find(b, name))
        scope_define(b, b->scope, name, SYMBOL_value, error_value(), where);
}

static void walk_list(builder *b, const expr_list *list)
{
    for (uint32_t k = 0; k < list->count; k++)
        walk(b, list->items[k]);
}

static void walk_argument(builder *b, const argument *a, bool is_mode)
{
    const expr *e = a->is_function ? NULL : strip_parens(a->value);
    if (a->is_function) {
        scope_push(b, false);
        for (uint32_t k = 0; k < a->parameters.count; k++)
            define_silently(b, a->parameters.items[k], a->where);
        walk(b, a->value);
        scope_pop(b);
    } else if (is_mode && e->kind == EXPR_CALL) {
        for (uint32_t k = 0; k < e->call.args.count; k++)
            walk_argument(b, &e->call.args.items[k], false);
    } else if (!is_mode || e->kind != EXPR_NAME) {
        walk(b, a->value);
    }
}

/* pad(a, mode, size), pad(a, x: mode, left: size) */
static bool is_mode_argument(const argument *a, uint32_t position)
{
    return a->name ? a->name[1] == 0 : position == 1;
}

static void walk_call(builder *b, const expr *e)
{
    const module *home;
    type t;
    bool known = find_item(b->script, b->scope->module, e->call.name, NAMES_functions, &home) || find_builtin(e->call.name) ||
                 find_type(e->call.name, &t);
    bool pads = known && strcmp(e->call.name, "pad") == 0;
    if (!known)
        unknown_function(b, e);
    for (uint32_t k = 0; k < e->call.args.count; k++)
        walk_argument(b, &e->call.args.items[k], pads && is_mode_argument(&e->call.args.items[k], k));
}

static void walk_range(builder *b, const range *r)
{
    walk(b, r->first);
    if (r->last)
        walk(b, r->last);
}

static void walk_reduction(builder *b, const expr *e)
{
    for (uint32_t k = 0; k < e->reduce.binders.count; k++)
        walk_range(b, &e->reduce.binders.items[k].over);
    scope_push(b, false);
    for (uint32_t k = 0; k < e->reduce.binders.count; k++)
        for (uint32_t n = 0; n < e->reduce.binders.items[k].names.count; n++)
            define_silently(b, e->reduce.binders.items[k].names.items[n], e->where);
    if (e->reduce.where)
        walk(b, e->reduce.where);
    walk(b, e->reduce.value);
    scope_pop(b);
}

static void walk_parts(builder *b, const expr *e)
{
    switch (e->kind) {
    case EXPR_NAME: lookup_value(b, e->name, e->where); break;
    case EXPR_UNARY: walk(b, e->unary.operand); break;
    case EXPR_BINARY:
        walk(b, e->binary.left);
        walk(b, e->binary.right);
        break;
    case EXPR_SELECT:
        walk(b, e->select.condition);
        walk(b, e->select.yes);
        walk(b, e->select.no);
        break;
    case EXPR_TUPLE:
    case EXPR_ARRAY: walk_list(b, &e->list); break;
    case EXPR_PAREN: walk(b, e->paren); break;
    case EXPR_MEMBER: walk(b, e->member.object); break;
    case EXPR_METHOD:
        walk(b, e->method.object);
        for (uint32_t k = 0; k < e->method.args.count; k++)
            walk_argument(b, &e->method.args.items[k], false);
        break;
    case EXPR_INDEX:
        walk(b, e->index.object);
        walk_list(b, &e->index.indices);
        break;
    case EXPR_CALL: walk_call(b, e); break;
    case EXPR_REDUCE: walk_reduction(b, e); break;
    case EXPR_INTEGER: case EXPR_FLOAT: case EXPR_STRING: case EXPR_ERROR: break;
    }
}

static void walk(builder *b, const expr *e)
{
    if (b->depth >= MAX_DEPTH)
        return;
    b->depth++;
    walk_parts(b, e);
    b->depth--;
}

/* ---- statements ------------------------------------------------------------------------------------------------------ */

/* The coordinates of an indexed definition, or the index of a list element: known names are looked at, new ones defined. */
static void walk_dimensions(builder *b, const dimension_list *dims)
{
    for (uint32_t k = 0; k < dims->count; k++) {
        const expr *e = strip_parens(dims->items[k].index);
        if (dims->items[k].in)
            walk_range(b, dims->items[k].in);
        if (e->kind == EXPR_NAME && (dims->items[k].in || !is_compile_time_name(b, e->name)))
            define_silently(b, e->name, e->where);
        for (uint32_t n = 0; e->kind == EXPR_TUPLE && n < e->list.count; n++)
            if (strip_parens(e->list.items[n])->kind == EXPR_NAME)
                define_silently(b, strip_parens(e->list.items[n])->name, e->where);
        if (e->kind != EXPR_NAME && e->kind != EXPR_TUPLE)
            walk(b, e);
    }
}

static void walk_block(builder *b, const stmt_list *body);

static void walk_definition(builder *b, const stmt *s)
{
    scope *around = b->scope;
    scope_push(b, false);
    walk_dimensions(b, &s->define.dims);
    walk_dimensions(b, &s->define.second);
    if (s->define.has_dims && !s->define.has_second)
        define_silently(b, s->define.name, s->define.name_where);      /* a recursive definition is another error */
    walk(b, s->define.value);
    scope_pop(b);
    while (s->define.has_dims && around->is_round && around->outer)
        around = around->outer;
    if (!scope_find(b, s->define.name))
        scope_define(b, around, s->define.name, SYMBOL_value, error_value(), s->define.name_where);
}

static void walk_statement(builder *b, const stmt *s)
{
    switch (s->kind) {
    case STMT_DEFINE: walk_definition(b, s); break;
    case STMT_FOR:
        walk_range(b, &s->loop.over);
        scope_push(b, true);
        if (!scope_find(b, s->loop.name))
            scope_define(b, b->scope, s->loop.name, SYMBOL_constant, error_value(), s->where);
        walk_block(b, &s->loop.body);
        scope_pop(b);
        break;
    case STMT_CONST:
        walk(b, s->constant.value);
        define_silently(b, s->constant.name, s->where);
        break;
    case STMT_RETURN: walk_list(b, &s->values); break;
    }
}

static void walk_block(builder *b, const stmt_list *body)
{
    for (uint32_t k = 0; k < body->count; k++)
        walk_statement(b, body->items[k]);
}

static void walk_function(builder *b, const item *f)
{
    scope_push(b, false);
    for (uint32_t k = 0; k < f->params.count; k++) {
        if (f->params.items[k].value)
            walk(b, f->params.items[k].value);
        define_silently(b, f->params.items[k].name, f->params.items[k].where);
    }
    if (f->has_block)
        walk_block(b, &f->body);
    else
        walk(b, f->value);
    scope_pop(b);
}

void script_check(script *s)
{
    if (s->n_errors > 0)
        return;
    check_names(s);
    for (uint32_t m = 0; m < s->modules.count; m++) {
        const module *home = s->modules.items[m];
        builder b = { .script = s, .memory = s->memory, .d = s->d, .pipe = tensor_pipe_new(s->memory, "check") };
        call here = { 0 };
        b.calls = &here;
        coordinates_push(&b, 0);
        scope_push(&b, false)->module = home;
        for (uint32_t k = 0; k < home->file->items.count; k++) {
            const item *i = home->file->items.items[k];
            if (i->kind == ITEM_FN)
                walk_function(&b, i);
            else if (i->kind == ITEM_CONST)
                item_constant(&b, i, home);
        }
    }
}
