/* SPDX-License-Identifier: MIT
 * Statements: definitions, lists, `for`, constants, return; and the hints before a definition. */
#include <string.h>

#include "frontend/builder.h"

/* ---- hints ---------------------------------------------------------------------------------------------------------- */

static bool tile_size(builder *b, const annotation *a, int32_t size[2])
{
    if (a->args.count != 2)
        return false;
    for (int k = 0; k < 2; k++) {
        const argument *arg = &a->args.items[k];
        if (arg->name || arg->is_function || !evaluate_constant_i32(b, arg->value, "the size of a tile", &size[k]))
            return false;
        if (size[k] < 1 || size[k] > 65536)
            return false;
    }
    return true;
}

static void apply_hint(builder *b, const annotation *a, uint32_t stage)
{
    static const char *const known[] = { "materialize", "inline", "tile" };
    int32_t size[2] = { 0, 0 };
    bool takes_none = strcmp(a->name, "tile") != 0;
    if (strcmp(a->name, "materialize") != 0 && strcmp(a->name, "inline") != 0 && takes_none) {
        fail(b, DIAG_E0215, a->where, "there is no hint @%s", a->name);
        const char *near = nearest_name(a->name, known, 3);
        if (near)
            diag_help(b->d, "did you mean @%s?", near);
        else
            diag_note(b->d, "there are @materialize, @inline and @tile(width, height), and @strict before a pipe");
        return;
    }
    if (takes_none ? a->args.count > 0 : !tile_size(b, a, size)) {
        fail(b, DIAG_E0215, a->where, takes_none ? "@%s takes no arguments" : "@%s takes a width and a height, as in @tile(64, 16)",
             a->name);
        return;
    }
    if (!stage)
        return;
    tensor_stage *s = stage_at(b->pipe, stage);
    s->materialize = s->materialize || a->name[0] == 'm';
    s->inline_hint = s->inline_hint || a->name[0] == 'i';
    if (a->name[0] == 't') {
        s->tile_width = size[0];
        s->tile_height = size[1];
    }
}

void apply_hints(builder *b, const annotation_list *hints, uint32_t stage)
{
    for (uint32_t k = 0; k < hints->count; k++)
        apply_hint(b, &hints->items[k], stage);
}

/* ---- definitions -------------------------------------------------------------------------------------------------------- */

bool resolve_type(builder *b, const type_expr *t, type *element)
{
    if (find_type(t->element, element))
        return true;
    static const char *const names[] = { "bool", "u8", "i8", "u16", "i16", "u32", "i32", "f16", "f32",
                                         "u8x3", "u8x4", "u16x3", "f32x2", "f32x3", "f32x4" };
    fail(b, DIAG_E0409, t->where, "there is no type `%s`", t->element);
    const char *near = nearest_name(t->element, names, sizeof names / sizeof *names);
    if (near)
        diag_help(b->d, "did you mean `%s`?", near);
    else
        diag_note(b->d, "types are bool u8 i8 u16 i16 u32 i32 f16 f32, and pixels of 2 to 4 of them, as in u8x3");
    return false;
}

/* A reduction that became a stage of its own takes the name of the value that it is. */
static void name_scalar(builder *b, value v, const char *name)
{
    const tensor_node n = *node_at(b->pipe, v.node);
    if (n.op != OP_load)
        return;
    const tensor_stage *s = stage_at(b->pipe, n.payload);
    size_t length = strlen(name);
    if (s->rank == 0 && strncmp(s->name, name, length) == 0 && s->name[length] == '.')
        tensor_stage_rename(b->pipe, n.payload, name);
}

/* A named image is a stage (a literal only when its pixels are needed); another name for one isn't a new stage. */
value name_value(builder *b, value v, const char *name, span where, const annotation_list *hints)
{
    uint32_t stage = 0;
    if (is_scalar(v))
        name_scalar(b, v, name);
    if (is_image(v)) {
        content *c = v.image->content;
        if (!c->name && !c->stage) {
            c->name = name;
            c->where = where;
        }
        if (!c->elements)
            stage = content_stage(b, c);
    }
    if (hints)
        apply_hints(b, hints, stage);
    return v;
}

static value evaluate_definition(builder *b, const stmt *s)
{
    type t;
    value v = evaluate(b, s->define.value);
    if (s->define.type && !is_error(v)) {
        if (!resolve_type(b, s->define.type, &t))
            return error_value();
        v = convert_implicit(b, v, t, s->define.value->where, arena_printf(b->memory, "`%s`", s->define.name));
    }
    return v;
}

static void define_value(builder *b, const stmt *s)
{
    value v = evaluate_definition(b, s);
    v = name_value(b, v, s->define.name, s->define.name_where, &s->annotations);
    scope_define(b, b->scope, s->define.name, SYMBOL_value, v, s->define.name_where);
}

/* ---- lists ------------------------------------------------------------------------------------------------------------------ */

/* Elements go out of the rounds of all `for`s, so that they are there afterwards. */
static value_list *list_for(builder *b, const stmt *s)
{
    const char *name = s->define.name;
    symbol *y = scope_find(b, name);
    if (y && y->value.kind == VALUE_list)
        return y->value.list;
    if (y && is_error(y->value))
        return NULL;
    scope *around = b->scope;
    while (around->is_round && around->outer)
        around = around->outer;
    value v = { .kind = VALUE_list, .list = ARENA_NEW(b->memory, value_list) };
    v.list->name = name;
    return scope_define(b, around, name, SYMBOL_value, v, s->define.name_where) ? v.list : NULL;
}

static void define_element(builder *b, const stmt *s)
{
    int32_t index;
    const dimension_list *dims = &s->define.dims;
    if (dims->count != 1) {
        fail(b, DIAG_E0211, s->define.name_where, "a list has one index");
        diag_help(b->d, "write `%s[k][x, y] = ...` for an image per element", s->define.name);
        return;
    }
    if (!evaluate_constant_i32(b, dims->items[0].index, "the index of a list", &index))
        return;
    const char *name = arena_printf(b->memory, "%s%d", s->define.name, index);
    value v;
    b->defining = name;
    if (s->define.has_second)
        v = indexed_definition(b, s, &s->define.second, name);
    else
        v = name_value(b, evaluate_definition(b, s), name, s->define.name_where, &s->annotations);
    value_list *list = list_for(b, s);
    if (!list)
        return;
    for (uint32_t k = 0; k < list->indices.count; k++)
        if (list->indices.items[k] == index) {
            fail(b, DIAG_E0212, s->define.name_where, "the element %s[%d] is defined twice", s->define.name, index);
            return;
        }
    LIST_PUSH(b->memory, list->indices, index);
    LIST_PUSH(b->memory, list->values, v);
}

/* ---- coordinates or list index ------------------------------------------------------------------------------------------------ */

static bool is_new_name(builder *b, const expr *e)
{
    return e->kind == EXPR_NAME && !is_compile_time_name(b, e->name);
}

typedef enum dims_meaning { DIMS_coordinates, DIMS_list, DIMS_wrong } dims_meaning;

static dims_meaning meaning_of(builder *b, const stmt *s)
{
    const dimension_list *dims = &s->define.dims;
    uint32_t n_coordinates = 0;
    for (uint32_t k = 0; k < dims->count; k++) {
        const expr *e = strip_parens(dims->items[k].index);
        n_coordinates += dims->items[k].in || e->kind == EXPR_TUPLE || is_new_name(b, e);
    }
    if (n_coordinates == 0)
        return DIMS_list;
    if (n_coordinates == dims->count && !s->define.has_second)
        return DIMS_coordinates;
    fail(b, DIAG_E0216, s->define.name_where, "the indices left of `=` mix coordinates and the index of a list");
    diag_help(b->d, "write `%s[k][x, y] = ...`", s->define.name);
    return DIMS_wrong;
}

static void define(builder *b, const stmt *s)
{
    b->defining = s->define.name;
    b->n_derived = 0;
    if (!s->define.has_dims) {
        define_value(b, s);
        return;
    }
    value v = error_value();
    switch (meaning_of(b, s)) {
    case DIMS_list:
        define_element(b, s);
        return;
    case DIMS_coordinates:
        v = indexed_definition(b, s, &s->define.dims, s->define.name);
        break;
    case DIMS_wrong: return;
    }
    scope_define(b, b->scope, s->define.name, SYMBOL_value, v, s->define.name_where);
}

/* ---- the other statements --------------------------------------------------------------------------------------------------------- */

static void define_constant(builder *b, const stmt *s)
{
    value v = evaluate(b, s->constant.value);
    if (is_scalar(v) && node_at(b->pipe, tensor_comp(b->pipe, v.node, 0))->op != OP_const)
        v = fail(b, DIAG_E0210, s->constant.value->where, "a constant has to be known when the script is compiled");
    else if (is_image(v) && !v.image->content->elements)
        v = fail(b, DIAG_E0210, s->constant.value->where, "a constant is a number, a pixel or an array literal");
    name_value(b, v, s->constant.name, s->where, NULL);
    scope_define(b, b->scope, s->constant.name, SYMBOL_constant, v, s->where);
}

static void run_loop(builder *b, const stmt *s)
{
    int32_t first, last;
    const range *over = &s->loop.over;
    if (!over->last) {
        fail(b, DIAG_E0210, over->where, "a `for` runs over a..b or a..<b");
        return;
    }
    if (!evaluate_constant_i32(b, over->first, "the bounds of a `for`", &first) ||
        !evaluate_constant_i32(b, over->last, "the bounds of a `for`", &last))
        return;
    int64_t end = (int64_t)last + (over->half_open ? 0 : 1);
    uint32_t n_errors = b->d->n_errors;
    for (int64_t k = first; k < end && !b->gave_up && b->d->n_errors == n_errors; k++) {
        if (++b->rounds > MAX_ROUNDS) {
            fail(b, DIAG_E0213, s->where, "the `for`s of this pipe run more than %d rounds", MAX_ROUNDS);
            b->gave_up = true;
            return;
        }
        block_result inner = { 0 };
        scope_push(b, true);
        scope_define(b, b->scope, s->loop.name, SYMBOL_constant, scalar_value(b, tensor_i32(b->pipe, (int32_t)k)), s->where);
        run_block(b, &s->loop.body, &inner, true);
        scope_pop(b);
    }
}

static void run_return(builder *b, const stmt *s, block_result *result, bool is_round)
{
    enum { MAX_RETURNED = sizeof result->values / sizeof *result->values };
    if (is_round) {
        fail(b, DIAG_E0214, s->where, "a `return` can't stand in a `for`");
        b->gave_up = true;
        return;
    }
    if (s->values.count > MAX_RETURNED) {
        fail(b, DIAG_E0214, s->where, "at most %d values can be returned", MAX_RETURNED);
        return;
    }
    b->defining = "out";
    b->n_derived = 0;
    for (uint32_t k = 0; k < s->values.count; k++) {
        result->values[k] = evaluate(b, s->values.items[k]);
        result->where[k] = s->values.items[k]->where;
    }
    result->count = (int)s->values.count;
    result->returned = true;
}

void run_block(builder *b, const stmt_list *body, block_result *result, bool is_round)
{
    for (uint32_t k = 0; k < body->count && !b->gave_up; k++) {
        const stmt *s = body->items[k];
        if (result->returned) {
            fail(b, DIAG_E0214, s->where, "nothing after `return` is reached");
            return;
        }
        switch (s->kind) {
        case STMT_DEFINE: define(b, s); break;
        case STMT_FOR: run_loop(b, s); break;
        case STMT_CONST: define_constant(b, s); break;
        case STMT_RETURN: run_return(b, s, result, is_round); break;
        }
    }
}
