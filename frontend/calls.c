/* SPDX-License-Identifier: MIT
 * Calls: who is meant, which argument goes where, and inlining of functions.
 *
 * A function's body is evaluated where it stands (the names of its own file) with the arguments as they are: images, lists
 * of nothing in particular, numbers in the coordinates at hand. It is checked anew at each call. */
#include <string.h>

#include "frontend/builder.h"

/* ---- arguments ---------------------------------------------------------------------------------------------------- */

static int slot_of(const char *const *names, int n, const char *name)
{
    for (int k = 0; k < n; k++)
        if (strcmp(names[k], name) == 0)
            return k;
    return -1;
}

static void report_count(builder *b, const char *function, const char *const *names, int n, int required, uint32_t given, span where)
{
    fail(b, DIAG_E0207, where, "`%s` takes %s%d argument%s, not %u", function, required < n ? "up to " : "", n, n == 1 ? "" : "s", given);
    text list = { 0 };
    for (int k = 0; k < n; k++)
        text_printf(&list, "%s%s%s", k ? ", " : "", names[k], k >= required ? " (may be left out)" : "");
    if (n > 0 && list.bytes)
        diag_note(b->d, "they are: %s", list.bytes);
    text_free(&list);
}

static bool bind_named(builder *b, const argument *a, const char *const *names, int n, const argument **slots, const char *function)
{
    int slot = slot_of(names, n, a->name);
    if (slot < 0) {
        fail(b, DIAG_E0208, a->where, "`%s` has no argument named `%s`", function, a->name);
        const char *near = nearest_name(a->name, names, (size_t)n);
        if (near)
            diag_help(b->d, "did you mean `%s`?", near);
        return false;
    }
    if (slots[slot]) {
        fail(b, DIAG_E0208, a->where, "the argument `%s` is given twice", a->name);
        return false;
    }
    slots[slot] = a;
    return true;
}

bool bind_arguments(builder *b, const argument_list *args, const char *const *names, int n_names, int n_required,
                    const argument **slots, const char *function, span where)
{
    int position = 0;
    bool good = true;
    memset(slots, 0, sizeof *slots * (size_t)n_names);
    for (uint32_t k = 0; k < args->count; k++) {
        const argument *a = &args->items[k];
        if (a->name) {
            good = bind_named(b, a, names, n_names, slots, function) && good;
            continue;
        }
        if (position >= n_names) {
            report_count(b, function, names, n_names, n_required, args->count, where);
            return false;
        }
        if (slots[position]) {
            fail(b, DIAG_E0208, a->where, "an argument without a name follows the named `%s`", names[position]);
            good = false;
        }
        slots[position++] = a;
    }
    for (int k = 0; k < n_required && good; k++)
        if (!slots[k]) {
            if (args->count == 0 || position == k)
                report_count(b, function, names, n_names, n_required, args->count, where);
            else
                fail(b, DIAG_E0207, where, "`%s` misses its argument `%s`", function, names[k]);
            good = false;
        }
    return good;
}

/* ---- functions -------------------------------------------------------------------------------------------------------- */

static bool enter_call(builder *b, call *c, const item *f, span where)
{
    for (const call *outer = b->calls; outer; outer = outer->outer)
        if (outer->item == f) {
            fail(b, DIAG_E0209, where, "`%s` reaches itself", f->name);
            diag_note(b->d, "functions and pipes are written out where they are called, so they can't be recursive");
            return false;
        }
    if (b->n_calls >= MAX_CALLS) {
        fail(b, DIAG_E0220, where, "calls are nested more than %d deep", MAX_CALLS);
        return false;
    }
    *c = (call){ b->calls, f, where };
    b->calls = c;
    b->n_calls++;
    return true;
}

static void leave_call(builder *b)
{
    b->calls = b->calls->outer;
    b->n_calls--;
}

/* An argument against its parameter's type. An image for a number lifts the function: it works pixel by pixel. Where the number
 * has a range it has to be one number, as a radius has. */
static value check_argument(builder *b, const parameter *p, value v, span where)
{
    type t;
    if (!p->type || is_error(v))
        return v;
    if (!resolve_type(b, p->type, &t))
        return error_value();
    bool wants_image = p->type->is_image || p->type->extents.count > 0;
    bool lifts = !wants_image && is_image(v) && !p->in;
    if (wants_image != is_image(v) && !lifts)
        return fail(b, DIAG_E0403, where, "`%s` is %s%s, not %s", p->name, wants_image ? "an image of " : "", type_name(b, t),
                    value_words(b, v));
    int rank = p->type->is_image ? 2 : (int)p->type->extents.count;
    if (wants_image && v.image->content->rank != rank)
        return fail(b, DIAG_E0403, where, "`%s` has %d dimensions, not %d", p->name, rank, v.image->content->rank);
    if (is_image(v) && type_equal(v.type, t))
        return v;                                          /* keeps its pad */
    return convert_implicit(b, v, t, where, arena_printf(b->memory, "`%s`", p->name));
}

static value run_function(builder *b, const item *f)
{
    value result = error_value();
    if (f->has_block) {
        block_result returned = { 0 };
        run_block(b, &f->body, &returned, false);
        if (!returned.returned) {
            if (!b->gave_up)
                fail(b, DIAG_E0214, f->name_where, "the function `%s` doesn't return anything", f->name);
            return error_value();
        }
        if (returned.count != 1)
            return fail(b, DIAG_E0214, f->name_where, "the function `%s` returns %d values; only a pipe has several", f->name,
                        returned.count);
        result = returned.values[0];
    } else {
        result = evaluate(b, f->value);
    }
    type t;
    if (f->result && !is_error(result) && resolve_type(b, f->result, &t) && !type_equal(result.type, t))
        result = convert_implicit(b, result, t, f->has_block ? f->name_where : f->value->where,
                                  arena_printf(b->memory, "the result of `%s`", f->name));
    return result;
}

value call_function(builder *b, const item *f, const module *home, const expr *e)
{
    enum { MAX_PARAMETERS = 64 };
    const char *names[MAX_PARAMETERS] = { 0 };
    const argument *slots[MAX_PARAMETERS];
    value values[MAX_PARAMETERS];
    int n = (int)f->params.count, required = 0;
    if (n > MAX_PARAMETERS)
        return fail(b, DIAG_E0207, e->where, "a function has at most %d parameters", MAX_PARAMETERS);
    for (int k = 0; k < n; k++) {
        names[k] = f->params.items[k].name;
        if (!f->params.items[k].value)
            required = k + 1;
    }
    if (!bind_arguments(b, &e->call.args, names, n, required, slots, f->name, e->where))
        return error_value();
    for (int k = 0; k < n; k++) {
        if (slots[k] && slots[k]->is_function)
            return fail(b, DIAG_E0224, slots[k]->where, "a function can only be given to pad");
        if (slots[k])
            values[k] = evaluate(b, slots[k]->value);
    }
    call here;
    if (!enter_call(b, &here, f, e->where))
        return error_value();
    scope *caller = b->scope;
    const char *defining = b->defining, *indexed_name = b->indexed_name;
    b->indexed_name = NULL;
    b->scope = NULL;
    scope_push(b, false)->module = home;
    for (int k = 0; k < n; k++) {
        const parameter *p = &f->params.items[k];
        if (!slots[k])
            values[k] = evaluate(b, p->value);
        span where = slots[k] ? slots[k]->where : p->where;
        values[k] = check_argument(b, p, values[k], where);
        if (!check_in_range(b, p, values[k], where))
            values[k] = error_value();
        scope_define(b, b->scope, p->name, SYMBOL_parameter, values[k], p->where);
    }
    value result = run_function(b, f);
    b->scope = caller;
    b->defining = defining;
    b->indexed_name = indexed_name;
    leave_call(b);
    result.literal = false;
    return result;
}

/* `fn(x, y) = e` of a pad, at given coordinates. */
value call_closure(builder *b, const argument *function, scope *names, const ref *coordinates, int n, span where)
{
    if ((int)function->parameters.count != n)
        return fail(b, DIAG_E0310, function->where, "a pad's function of an image with %d dimensions takes %d coordinates, not %u", n, n,
                    function->parameters.count);
    if (b->n_calls >= MAX_CALLS)
        return fail(b, DIAG_E0220, where, "calls are nested more than %d deep", MAX_CALLS);
    scope *caller = b->scope;
    b->n_calls++;
    b->scope = names;
    scope_push(b, false);
    for (int k = 0; k < n; k++)
        scope_define(b, b->scope, function->parameters.items[k], SYMBOL_value, scalar_value(b, coordinates[k]), function->where);
    b->at->in_condition++;                                  /* what a pad reads doesn't ask for a domain */
    value v = evaluate(b, function->value);
    b->at->in_condition--;
    b->scope = caller;
    b->n_calls--;
    return v;
}

/* ---- who is called --------------------------------------------------------------------------------------------------------- */

static void collect_names(builder *b, const module *m, const char ***names, uint32_t *count)
{
    LIST(const char *) all = { 0 };
    builtin_names(&all.items, &all.count, b->memory);
    all.capacity = all.count;
    for (uint32_t f = 0; f <= m->imports.count + b->script->prelude.count; f++) {
        const module *from = f == 0 ? m : f <= m->imports.count ? m->imports.items[f - 1].target
                                                                : b->script->prelude.items[f - 1 - m->imports.count];
        for (uint32_t k = 0; k < from->file->items.count; k++) {
            const item *i = from->file->items.items[k];
            if (i->kind == ITEM_FN || i->kind == ITEM_PIPE)
                LIST_PUSH(b->memory, all, i->name);
        }
    }
    *names = all.items;
    *count = all.count;
}

value unknown_function(builder *b, const expr *e)
{
    const char *name = e->call.name;
    int n_reductions;
    const char *const *reductions = reduction_names(&n_reductions);
    for (int k = 0; k < n_reductions; k++)
        if (strcmp(reductions[k], name) == 0) {
            value v = fail(b, DIAG_E0202, e->where, "`%s` is a reduction: it needs to know over what", name);
            diag_help(b->d, "%s((x, y) in src: src[x, y]), or %s(i in -2..2: p[x + i, y])", name, name);
            return v;
        }
    value v = fail(b, DIAG_E0202, e->call.name_where, "there is no function named `%s`", name);
    const char **names;
    uint32_t count;
    collect_names(b, b->scope->module, &names, &count);
    const char *near = nearest_name(name, names, count);
    if (near)
        diag_help(b->d, "did you mean `%s`?", near);
    else if (scope_find(b, name))
        diag_help(b->d, "`%s` is a value; it is read with brackets: %s[...]", name, name);
    return v;
}

/* u8x3(v): converts, and spreads a single number. */
static value make_pixel(builder *b, const expr *e, type t)
{
    const argument_list *args = &e->call.args;
    if (args->count != 1 || args->items[0].name || args->items[0].is_function) {
        value v = fail(b, DIAG_E0207, e->where, "`%s` converts one value", e->call.name);
        diag_help(b->d, "a pixel of several numbers is written (a, b, c)");
        return v;
    }
    value v = evaluate(b, args->items[0].value);
    return lift(b, pixel_convert, &v, 1, t.kind | t.lanes << 4, e->where);
}

value evaluate_call(builder *b, const expr *e)
{
    const module *home;
    const item *f = find_item(b->script, b->scope->module, e->call.name, NAMES_functions, &home);
    if (f && f->kind == ITEM_PIPE) {
        call here;
        if (!enter_call(b, &here, f, e->where))
            return error_value();
        value v = call_pipe(b, f, home, e);
        leave_call(b);
        return v;
    }
    if (f)
        return call_function(b, f, home, e);
    const builtin *known = find_builtin(e->call.name);
    type t;
    if (known)
        return call_builtin(b, known, e);
    return find_type(e->call.name, &t) ? make_pixel(b, e, t) : unknown_function(b, e);
}
