/* SPDX-License-Identifier: MIT
 * Names of values, and how errors are said. */
#include <string.h>

#include "frontend/builder.h"

/* ---- errors ---------------------------------------------------------------------------------------- */

const char *written_text(builder *b, span where)
{
    enum { SHOWN = 40 };
    if (where.source == 0 || where.source >= b->d->sources.count)
        return "this";
    const source *s = &b->d->sources.items[where.source];
    size_t n = 0;
    char text[SHOWN + 1];
    bool cut = false;
    for (uint32_t k = where.start; k < where.end && k < s->n_bytes; k++) {
        char c = s->text[k] == '\n' || s->text[k] == '\t' ? ' ' : s->text[k];
        if (c == ' ' && n > 0 && text[n - 1] == ' ')
            continue;
        if (n == SHOWN) {
            cut = true;
            break;
        }
        text[n++] = c;
    }
    text[n] = 0;
    return arena_printf(b->memory, cut ? "%s ..." : "%s", text);
}

static bool in_prelude(const builder *b, span where)
{
    for (uint32_t k = 0; k < b->script->prelude.count; k++)
        if (b->script->prelude.items[k]->source == where.source)
            return true;
    return false;
}

static void note_place(builder *b, const char *words, const char *name, const char *where_word, span where)
{
    uint32_t line, column;
    diag_position(b->d, where, &line, &column);
    const char *file = b->d->sources.items[where.source].name;
    diag_note(b->d, "%s `%s` %s %s:%u", words, name, where_word, file, line);
}

/* An error inside of a function says who called it; one inside of the prelude is shown where the script calls that. */
value fail(builder *b, diag_code code, span where, const char *format, ...)
{
    enum { SHOWN_CALLS = 3 };
    va_list args;
    va_start(args, format);
    const char *message = arena_vprintf(b->memory, format, args);
    va_end(args);
    const call *from = b->calls;
    span shown = where;
    while (from && from->outer && in_prelude(b, shown)) {
        shown = from->where;
        from = from->outer;
    }
    diag_add(b->d, code, shown, "%s", message);
    if (shown.source != where.source || shown.start != where.start)
        note_place(b, "it is about", written_text(b, where), "in", where);
    for (int k = 0; k < SHOWN_CALLS && from && from->outer; k++, from = from->outer)
        note_place(b, "in", from->item->name, "called at", from->where);
    return error_value();
}

const char *value_words(builder *b, value v)
{
    switch ((value_kind)v.kind) {
    case VALUE_scalar: return type_name(b, v.type);
    case VALUE_image:
        return arena_printf(b->memory, v.image->content->rank == 2 ? "an image of %s" : "an array of %s", type_name(b, v.type));
    case VALUE_list: return "a list";
    case VALUE_outputs: return arena_printf(b->memory, "the outputs of pipe `%s`", v.outputs->pipe->name);
    case VALUE_error: break;
    }
    return "an error";
}

void require(builder *b, ref condition, diag_code code, span where, const char *format, ...)
{
    int64_t known;
    if (node_is_const(b->pipe, condition, &known) && known)
        return;
    for (uint32_t k = 0; k < b->pipe->checks.count; k++)
        if (b->pipe->checks.items[k].condition == condition)
            return;
    va_list args;
    va_start(args, format);
    tensor_check check = { .condition = condition, .code = code, .where = where };
    check.message = arena_vprintf(b->memory, format, args);
    va_end(args);
    LIST_PUSH(b->pipe->memory, b->pipe->checks, check);
}

/* ---- scopes ------------------------------------------------------------------------------------------- */

scope *scope_push(builder *b, bool is_round)
{
    scope *s = ARENA_NEW(b->memory, scope);
    s->outer = b->scope;
    s->module = b->scope ? b->scope->module : NULL;
    s->at = b->at;
    s->is_round = is_round;
    b->scope = s;
    return s;
}

void scope_pop(builder *b)
{
    b->scope = b->scope->outer;
}

static symbol *find_in(const scope *s, const char *name, const scope **holder)
{
    for (; s; s = s->outer)
        for (symbol *y = s->symbols; y; y = y->next)
            if (y->name == name) {
                *holder = s;
                return y;
            }
    return NULL;
}

symbol *scope_find(builder *b, const char *name)
{
    const scope *holder;
    return find_in(b->scope, name, &holder);
}

bool scope_define(builder *b, scope *into, const char *name, symbol_kind kind, value v, span where)
{
    const scope *holder;
    const symbol *old = find_in(into, name, &holder);
    const module *home;
    const item *constant = into->module && !into->module->is_prelude
                         ? find_item(b->script, into->module, name, NAMES_values, &home) : NULL;
    if (old || (constant && home == into->module)) {
        uint32_t line, column;
        diag_position(b->d, old ? old->where : constant->where, &line, &column);
        fail(b, DIAG_E0203, where, "`%s` is defined already", name);
        diag_note(b->d, "it was defined first in line %u; a value is defined once, and inner blocks may not redefine it", line);
        return false;
    }
    v.literal = false;                                      /* a name holds a value of a type, no literal */
    symbol *y = ARENA_NEW(b->memory, symbol);
    *y = (symbol){ .next = into->symbols, .name = name, .kind = kind, .value = v, .where = where };
    into->symbols = y;
    return true;
}

/* ---- looking up ------------------------------------------------------------------------------------------ */

value item_constant(builder *b, const item *i, const module *home)
{
    for (constant *c = b->constants; c; c = c->next)
        if (c->item == i) {
            if (c->busy)
                return fail(b, DIAG_E0209, i->name_where, "the constant `%s` is defined by itself", i->name);
            return c->value;
        }
    constant *c = ARENA_NEW(b->memory, constant);
    *c = (constant){ .next = b->constants, .item = i, .busy = true };
    b->constants = c;
    scope *outside = b->scope;
    coordinates *at = b->at;
    b->scope = NULL;
    b->at = NULL;
    coordinates_push(b, 0);
    scope_push(b, false)->module = home;
    c->value = evaluate(b, i->value);
    coordinates_pop(b);
    b->scope = outside;
    b->at = at;
    bool is_literal_array = is_image(c->value) && c->value.image->content->elements;
    if (is_scalar(c->value) && !node_is_uniform(b->pipe, c->value.node))
        c->value = fail(b, DIAG_E0210, i->value->where, "a constant has to be known when the script is compiled");
    else if (!is_scalar(c->value) && !is_literal_array && !is_error(c->value))
        c->value = fail(b, DIAG_E0210, i->value->where, "a constant is a number, a pixel or an array literal, not %s",
                        value_words(b, c->value));
    if (is_literal_array)
        c->value.image->content->name = i->name;
    c->busy = false;
    c->value.literal = false;
    return c->value;
}

static void suggest(builder *b, const char *name)
{
    LIST(const char *) names = { 0 };
    for (const scope *s = b->scope; s; s = s->outer)
        for (const symbol *y = s->symbols; y; y = y->next)
            LIST_PUSH(b->memory, names, y->name);
    const module *m = b->scope->module;
    for (uint32_t k = 0; k < m->file->items.count; k++)
        if (m->file->items.items[k]->kind == ITEM_CONST)
            LIST_PUSH(b->memory, names, m->file->items.items[k]->name);
    const char *near = nearest_name(name, names.items, names.count);
    const module *home;
    if (near)
        diag_help(b->d, "did you mean `%s`?", near);
    else if (find_item(b->script, m, name, NAMES_functions, &home) || find_builtin(name))
        diag_note(b->d, "`%s` is a function: call it, %s(...)", name, name);
}

value lookup_value(builder *b, const char *name, span where)
{
    const scope *holder;
    const symbol *y = find_in(b->scope, name, &holder);
    if (y) {
        if (is_scalar(y->value) && holder->at != b->at && !node_is_closed(b, y->value.node)) {
            value v = fail(b, DIAG_E0226, where, "`%s` changes from pixel to pixel, so an image can't be made with it here", name);
            diag_help(b->d, "make the image outside, and read it at coordinates");
            return v;
        }
        return y->value;
    }
    const module *home;
    const item *i = find_item(b->script, b->scope->module, name, NAMES_values, &home);
    if (i)
        return item_constant(b, i, home);
    if (strcmp(name, "true") == 0 || strcmp(name, "false") == 0)
        return scalar_value(b, tensor_bool(b->pipe, name[0] == 't'));
    fail(b, DIAG_E0201, where, "there is no value named `%s` here", name);
    suggest(b, name);
    return error_value();
}

bool is_compile_time_name(builder *b, const char *name)
{
    const symbol *y = scope_find(b, name);
    if (y)
        return y->kind == SYMBOL_constant;
    const module *home;
    const item *i = find_item(b->script, b->scope->module, name, NAMES_values, &home);
    return i && !home->is_prelude;
}
