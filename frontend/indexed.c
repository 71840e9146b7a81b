/* SPDX-License-Identifier: MIT
 * Indexed definitions: gx[x, y] = p[x + 1, y] - p[x - 1, y]. The names become coordinates of a new stage, the right side its
 * body, and the reads in it say how far it goes. */
#include "frontend/builder.h"

typedef struct dims {
    int         count;
    const char *names[TENSOR_MAX_RANK];
    span        where[TENSOR_MAX_RANK];
    ref         lo[TENSOR_MAX_RANK], hi[TENSOR_MAX_RANK];
} dims;

static bool add_dim(builder *b, dims *all, const expr *name, ref lo, ref hi)
{
    if (name->kind != EXPR_NAME) {
        fail(b, DIAG_E0217, name->where, "left of `=`, a coordinate is a new name");
        return false;
    }
    if (all->count == TENSOR_MAX_RANK) {
        fail(b, DIAG_E0303, name->where, "there are at most %d dimensions", TENSOR_MAX_RANK);
        return false;
    }
    const symbol *taken = scope_find(b, name->name);
    if (taken) {
        uint32_t line, column;
        diag_position(b->d, taken->where, &line, &column);
        fail(b, DIAG_E0217, name->where, "`%s` is %s already, so it can't be a coordinate", name->name,
             taken->kind == SYMBOL_parameter ? "a parameter" : "a value");
        diag_note(b->d, "it was defined in line %u", line);
        return false;
    }
    all->names[all->count] = name->name;
    all->where[all->count] = name->where;
    all->lo[all->count] = lo;
    all->hi[all->count++] = hi;
    return true;
}

/* `(x, y) in src`, or `i in curve`: the domain of an image. */
static bool add_domain(builder *b, dims *all, const dimension *d)
{
    const expr *names = strip_parens(d->index);
    value v = evaluate(b, d->in->first);
    uint32_t n = names->kind == EXPR_TUPLE ? names->list.count : 1;
    if (is_error(v))
        return false;
    if (!is_image(v) || v.image->content->rank != n) {
        fail(b, DIAG_E0303, d->where, "%s is no range for %u name%s", value_words(b, v), n, n == 1 ? "" : "s");
        diag_help(b->d, n == 1 ? "a range is a..b or a..<b" : "(x, y) in src takes the domain of an image");
        return false;
    }
    for (uint32_t k = 0; k < n; k++) {
        const expr *name = names->kind == EXPR_TUPLE ? strip_parens(names->list.items[k]) : names;
        if (!add_dim(b, all, name, v.image->content->lo[k], v.image->content->hi[k]))
            return false;
    }
    return true;
}

static bool collect_dims(builder *b, const dimension_list *list, dims *all)
{
    for (uint32_t k = 0; k < list->count; k++) {
        const dimension *d = &list->items[k];
        const expr *name = strip_parens(d->index);
        ref lo = 0, hi = 0;
        if (d->in && !d->in->last) {
            if (!add_domain(b, all, d))
                return false;
            continue;
        }
        if (name->kind == EXPR_TUPLE) {
            fail(b, DIAG_E0217, d->where, "several coordinates at once take an image's domain: (x, y) in src");
            return false;
        }
        if (d->in && !evaluate_range(b, d->in, "the range of a coordinate", &lo, &hi))
            return false;
        if (!add_dim(b, all, name, lo, hi))
            return false;
    }
    return true;
}

static value evaluate_body(builder *b, const stmt *s, const dims *all)
{
    value v = evaluate(b, s->define.value);
    type t;
    if (is_image(v)) {
        v = fail(b, DIAG_E0224, s->define.value->where, "the value of a pixel is needed here, but this is %s", value_words(b, v));
        diag_help(b->d, "read it at coordinates, as in a[%s%s%s]", all->names[0], all->count > 1 ? ", " : "",
                  all->count > 1 ? all->names[1] : "");
        return v;
    }
    if (!is_error(v) && !is_scalar(v))
        return fail(b, DIAG_E0224, s->define.value->where, "the value of a pixel is needed here, but this is %s", value_words(b, v));
    if (!s->define.type || is_error(v))
        return v;
    if (s->define.type->is_image || s->define.type->extents.count > 0)
        return fail(b, DIAG_E0403, s->define.type->where, "the type of an indexed definition is that of one pixel");
    if (!resolve_type(b, s->define.type, &t))
        return error_value();
    return convert_implicit(b, v, t, s->define.value->where, arena_printf(b->memory, "`%s`", s->define.name));
}

static value close_definition(builder *b, const stmt *s, value body, const char *name)
{
    bool found = !is_error(body) && find_domain(b, b->at);
    content *c = stage_end(b, found ? body : error_value(), s->define.name_where);
    if (!c) {
        apply_hints(b, &s->annotations, 0);
        return error_value();
    }
    c->name = name;
    uint32_t stage = content_stage(b, c);
    apply_hints(b, &s->annotations, stage);
    return content_value(b, c);
}

value indexed_definition(builder *b, const stmt *s, const dimension_list *list, const char *name)
{
    dims all = { 0 };
    if (!collect_dims(b, list, &all))
        return error_value();
    stage_begin(b, all.count, all.lo, all.hi);
    scope_push(b, false);
    bool good = true;
    for (int k = 0; k < all.count; k++) {
        b->at->names[k] = all.names[k];
        b->at->where[k] = all.where[k];
        good = scope_define(b, b->scope, all.names[k], SYMBOL_coordinate, scalar_value(b, tensor_coord(b->pipe, k)), all.where[k]) && good;
    }
    const char *outer = b->indexed_name;
    b->indexed_name = s->define.name;
    value body = good ? evaluate_body(b, s, &all) : error_value();
    b->indexed_name = outer;
    scope_pop(b);
    return close_definition(b, s, body, name);
}
