/* SPDX-License-Identifier: MIT
 * Nodes of the tree, one function for each rule of the grammar. Nodes are born with their location and their depth; an
 * expression deeper than MAX_EXPR_DEPTH becomes an EXPR_ERROR, so whoever walks the tree may recurse. */
#include "lang/parse.h"

#include <string.h>

const char *token_name(parse_context *p, token t)
{
    return intern(p->names, p->text + t.start, t.end - t.start);
}

/* ---- expressions ----------------------------------------------------------------------------- */

static expr *new_expr(parse_context *p, expr_kind kind, span where)
{
    expr *e = ARENA_NEW(p->memory, expr);
    e->kind = kind;
    e->where = where;
    e->depth = 1;
    return e;
}

/* `e` is about to hold `child`. */
static void deepen(parse_context *p, expr *e, const expr *child)
{
    if (!child || child->depth < e->depth)
        return;
    e->depth = child->depth + 1;
    if (e->depth > MAX_EXPR_DEPTH) {
        report_too_deep(p, e->where);
        e->kind = EXPR_ERROR;
        e->depth = 1;
    }
}

static void deepen_list(parse_context *p, expr *e, expr_list children)
{
    for (uint32_t i = 0; i < children.count; i++)
        deepen(p, e, children.items[i]);
}

static bool is_line_between(const parse_context *p, uint32_t from, uint32_t to)
{
    return to > from && memchr(p->text + from, '\n', to - from);
}

/* Marks `e` if a line break stands between it and what ends at `from`. */
static void mark_new_line(const parse_context *p, uint32_t from, expr *e)
{
    e->new_line = is_line_between(p, from, e->where.start);
}

static void mark_list(const parse_context *p, expr_list list)
{
    for (uint32_t i = 1; i < list.count; i++)
        mark_new_line(p, list.items[i - 1]->where.end, list.items[i]);
}

static void mark_args(const parse_context *p, argument_list args)
{
    for (uint32_t i = 1; i < args.count; i++)
        args.items[i].value->new_line = is_line_between(p, args.items[i - 1].where.end, args.items[i].where.start);
}

static void deepen_args(parse_context *p, expr *e, argument_list args)
{
    for (uint32_t i = 0; i < args.count; i++)
        deepen(p, e, args.items[i].value);
}

expr *build_name(parse_context *p, token t)
{
    expr *e = new_expr(p, EXPR_NAME, token_span(p, t));
    e->name = token_name(p, t);
    return e;
}

static bool read_integer(const char *text, size_t n_bytes, uint32_t *value)
{
    bool hex = n_bytes > 2 && (text[1] == 'x' || text[1] == 'X');
    uint64_t total = 0;
    for (size_t i = hex ? 2 : 0; i < n_bytes; i++) {
        char c = text[i];
        if (c == '_')
            continue;
        uint64_t digit = (uint64_t)(c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10);
        total = total * (hex ? 16 : 10) + digit;
        if (total > UINT32_MAX)
            return false;
    }
    *value = (uint32_t)total;
    return true;
}

expr *build_integer(parse_context *p, token t)
{
    expr *e = new_expr(p, EXPR_INTEGER, token_span(p, t));
    e->integer.text = token_name(p, t);
    if (!read_integer(p->text + t.start, t.end - t.start, &e->integer.value)) {
        diag_add(p->diagnostics, DIAG_E0107, e->where, "this integer is above 4294967295, the largest `u32`");
        diag_help(p->diagnostics, "write it as an `f32`: %s.0", e->integer.text);
        e->kind = EXPR_ERROR;
    }
    return e;
}

expr *build_float(parse_context *p, token t)
{
    expr *e = new_expr(p, EXPR_FLOAT, token_span(p, t));
    e->number.text = token_name(p, t);
    if (!parse_f32(p->text + t.start, t.end - t.start, &e->number.value)) {
        if (e->number.value != 0)      /* infinite; a token that isn't a number was reported by the lexer */
            diag_add(p->diagnostics, DIAG_E0107, e->where, "this number is above 3.4028235e38, the largest `f32`");
        e->kind = EXPR_ERROR;
    }
    return e;
}

expr *build_string(parse_context *p, token t)
{
    expr *e = new_expr(p, EXPR_STRING, token_span(p, t));
    bool closed = t.end - t.start >= 2 && p->text[t.end - 1] == p->text[t.start];
    e->name = intern(p->names, p->text + t.start + 1, t.end - t.start - 1 - closed);
    return e;
}

expr *build_unary(parse_context *p, token op, unary_op kind, expr *operand)
{
    expr *e = new_expr(p, EXPR_UNARY, span_join(token_span(p, op), operand->where));
    e->unary.op = kind;
    e->unary.operand = operand;
    deepen(p, e, operand);
    return e;
}

static bool is_comparison(const expr *e)
{
    return e->kind == EXPR_BINARY && e->binary.op >= BINARY_EQ && e->binary.op <= BINARY_GE;
}

expr *build_binary(parse_context *p, binary_op op, expr *left, expr *right)
{
    expr *e = new_expr(p, EXPR_BINARY, span_join(left->where, right->where));
    e->binary.op = op;
    e->binary.left = left;
    e->binary.right = right;
    mark_new_line(p, left->where.end, right);
    e->tight = strchr("*/%", p->text[left->where.end]) != NULL;
    if (is_comparison(e) && is_comparison(left)) {
        diag_add(p->diagnostics, DIAG_E0102, e->where, "comparisons don't chain");
        diag_help(p->diagnostics, "write `a < b and b < c`, or brackets if a comparison is to be compared");
    }
    deepen(p, e, left);
    deepen(p, e, right);
    return e;
}

expr *build_select(parse_context *p, expr *condition, expr *yes, expr *no)
{
    expr *e = new_expr(p, EXPR_SELECT, span_join(condition->where, no->where));
    e->select.condition = condition;
    e->select.yes = yes;
    e->select.no = no;
    mark_new_line(p, yes->where.end, no);
    deepen(p, e, condition);
    deepen(p, e, yes);
    deepen(p, e, no);
    return e;
}

expr *build_tuple(parse_context *p, token open, expr *first, expr_list rest, token close)
{
    expr *e = new_expr(p, EXPR_TUPLE, span_join(token_span(p, open), token_span(p, close)));
    LIST_PUSH(p->memory, e->list, first);
    for (uint32_t i = 0; i < rest.count; i++)
        LIST_PUSH(p->memory, e->list, rest.items[i]);
    mark_list(p, e->list);
    deepen_list(p, e, e->list);
    return e;
}

expr *build_array(parse_context *p, token open, expr_list items, token close)
{
    expr *e = new_expr(p, EXPR_ARRAY, span_join(token_span(p, open), token_span(p, close)));
    e->list = items;
    mark_list(p, items);
    deepen_list(p, e, items);
    return e;
}

expr *build_paren(parse_context *p, token open, expr *inner, token close)
{
    expr *e = new_expr(p, EXPR_PAREN, span_join(token_span(p, open), token_span(p, close)));
    e->paren = inner;
    deepen(p, e, inner);
    return e;
}

expr *build_member(parse_context *p, expr *object, token name)
{
    expr *e = new_expr(p, EXPR_MEMBER, span_join(object->where, token_span(p, name)));
    e->member.object = object;
    e->member.name = token_name(p, name);
    deepen(p, e, object);
    return e;
}

expr *build_method(parse_context *p, expr *object, token name, argument_list args, token close)
{
    expr *e = new_expr(p, EXPR_METHOD, span_join(object->where, token_span(p, close)));
    e->method.object = object;
    e->method.name = token_name(p, name);
    e->method.args = args;
    deepen(p, e, object);
    mark_args(p, args);
    deepen_args(p, e, args);
    return e;
}

expr *build_index(parse_context *p, expr *object, expr_list indices, token close)
{
    expr *e = new_expr(p, EXPR_INDEX, span_join(object->where, token_span(p, close)));
    e->index.object = object;
    e->index.indices = indices;
    mark_list(p, indices);
    deepen(p, e, object);
    deepen_list(p, e, indices);
    return e;
}

expr *build_call(parse_context *p, token name, argument_list args, token close)
{
    expr *e = new_expr(p, EXPR_CALL, span_join(token_span(p, name), token_span(p, close)));
    e->call.name = token_name(p, name);
    e->call.name_where = token_span(p, name);
    e->call.args = args;
    mark_args(p, args);
    deepen_args(p, e, args);
    return e;
}

expr *build_reduce(parse_context *p, token name, binder_list binders, expr *where, expr *value, token close)
{
    expr *e = new_expr(p, EXPR_REDUCE, span_join(token_span(p, name), token_span(p, close)));
    e->reduce.name = token_name(p, name);
    e->reduce.name_where = token_span(p, name);
    e->reduce.binders = binders;
    e->reduce.where = where;
    e->reduce.value = value;
    const binder *last = &binders.items[binders.count - 1];
    mark_new_line(p, where ? where->where.end : last->where.end, value);
    for (uint32_t i = 0; i < binders.count; i++) {
        deepen(p, e, binders.items[i].over.first);
        deepen(p, e, binders.items[i].over.last);
    }
    deepen(p, e, where);
    deepen(p, e, value);
    return e;
}

expr *build_error(parse_context *p, token at)
{
    return new_expr(p, EXPR_ERROR, token_span(p, at));
}

/* ---- parts of expressions -------------------------------------------------------------------- */

range build_range(parse_context *p, expr *first, expr *last, bool half_open)
{
    (void)p;
    return (range){first, last, half_open, last ? span_join(first->where, last->where) : first->where};
}

range *build_range_copy(parse_context *p, range r)
{
    return arena_copy(p->memory, &r, sizeof r);
}

static bool add_binder_name(parse_context *p, binder *b, const expr *name)
{
    if (name->kind == EXPR_NAME) {
        LIST_PUSH(p->memory, b->names, name->name);
        return true;
    }
    if (name->kind != EXPR_ERROR) {
        diag_add(p->diagnostics, DIAG_E0102, name->where, "expected a name or a tuple of names before `in`");
        diag_help(p->diagnostics, "write `i in a..b` or `(x, y) in image`");
    }
    return false;
}

binder build_binder(parse_context *p, expr *names, range over)
{
    binder b = {.over = over, .where = span_join(names->where, over.where)};
    if (names->kind == EXPR_TUPLE) {
        b.is_tuple = true;
        for (uint32_t i = 0; i < names->list.count; i++)
            add_binder_name(p, &b, names->list.items[i]);
    } else {
        add_binder_name(p, &b, names);
    }
    return b;
}

argument build_argument(expr *value)
{
    return (argument){.value = value, .where = value->where};
}

argument build_named_argument(parse_context *p, token name, expr *value)
{
    return (argument){.name = token_name(p, name), .value = value, .where = span_join(token_span(p, name), value->where)};
}

argument build_function_argument(parse_context *p, token fn, name_list parameters, expr *body)
{
    return (argument){.value = body, .is_function = true, .parameters = parameters,
                      .where = span_join(token_span(p, fn), body->where)};
}

dimension build_dimension(parse_context *p, expr *index, range *in)
{
    (void)p;
    return (dimension){index, in, in ? span_join(index->where, in->where) : index->where};
}

/* ---- types and parameters -------------------------------------------------------------------- */

type_expr *build_type(parse_context *p, token element)
{
    type_expr *t = ARENA_NEW(p->memory, type_expr);
    t->element = token_name(p, element);
    t->where = token_span(p, element);
    return t;
}

type_expr *build_image_type(parse_context *p, token image, token element)
{
    type_expr *t = build_type(p, element);
    t->is_image = true;
    t->where = span_join(token_span(p, image), t->where);
    return t;
}

type_expr *build_array_type(parse_context *p, token element, expr_list extents, token close)
{
    type_expr *t = build_type(p, element);
    t->extents = extents;
    t->where = span_join(t->where, token_span(p, close));
    return t;
}

/* The text of a `##` line, without the space that follows the marks. */
static const char *doc_line(const parse_context *p, const comment *c, uint32_t *n_bytes)
{
    uint32_t start = c->start + 2;
    if (start < c->end && p->text[start] == ' ')
        start++;
    *n_bytes = c->end - start;
    return p->text + start;
}

/* The `##` lines before a token, joined by newlines; NULL when there are none. Built in the arena, so that nothing is lost
 * when memory is out. */
static const char *take_doc(parse_context *p, token t)
{
    if (t.n_docs == 0)
        return NULL;
    uint32_t first = t.doc - 1, last = first, n_bytes, total = 0;
    for (uint32_t left = t.n_docs; left > 0; last++)
        if (p->comments.items[last].is_doc) {
            doc_line(p, &p->comments.items[last], &n_bytes);
            total += n_bytes + 1;
            left--;
        }
    char *doc = arena_alloc(p->memory, total), *at = doc;
    for (uint32_t i = first; i < last; i++) {
        comment *c = &p->comments.items[i];
        if (!c->is_doc)
            continue;
        const char *line = doc_line(p, c, &n_bytes);
        memcpy(at, line, n_bytes);
        at += n_bytes;
        *at++ = '\n';
        c->is_used = true;
    }
    at[-1] = 0;
    return doc;
}

parameter build_parameter(parse_context *p, token name, type_expr *type, expr *value, range *in)
{
    parameter result = {.name = token_name(p, name), .doc = take_doc(p, name), .type = type, .value = value, .in = in};
    result.where = token_span(p, name);
    if (in)
        result.where = span_join(result.where, in->where);
    else if (value)
        result.where = span_join(result.where, value->where);
    else if (type)
        result.where = span_join(result.where, type->where);
    return result;
}

output build_output(parse_context *p, token name, type_expr *type)
{
    return (output){token_name(p, name), type, span_join(token_span(p, name), type->where)};
}

/* ---- statements ------------------------------------------------------------------------------ */

annotation build_annotation(parse_context *p, token at, token name, argument_list args, token last)
{
    return (annotation){token_name(p, name), args, span_join(token_span(p, at), token_span(p, last))};
}

static stmt *new_stmt(parse_context *p, stmt_kind kind, span where)
{
    stmt *s = ARENA_NEW(p->memory, stmt);
    s->kind = kind;
    s->where = where;
    return s;
}

stmt *build_define(parse_context *p, annotation_list annotations, token name, type_expr *type, token assign, expr *value)
{
    span first = annotations.count ? annotations.items[0].where : token_span(p, name);
    stmt *s = new_stmt(p, STMT_DEFINE, span_join(first, value->where));
    s->annotations = annotations;
    s->define.name = token_name(p, name);
    s->define.name_where = token_span(p, name);
    for (uint32_t i = assign.start; i > 0 && p->text[i - 1] != '\n'; i--)
        s->define.assign_column++;
    s->define.type = type;
    s->define.value = value;
    mark_new_line(p, assign.end, value);
    return s;
}

stmt *build_define_dims(parse_context *p, annotation_list annotations, token name, dimension_list dims, type_expr *type,
                        token assign, expr *value)
{
    stmt *s = build_define(p, annotations, name, type, assign, value);
    s->define.has_dims = true;
    s->define.dims = dims;
    return s;
}

stmt *add_second_dims(stmt *s, dimension_list second)
{
    s->define.has_second = true;
    s->define.second = second;
    return s;
}

stmt *build_for(parse_context *p, token keyword, token name, range over, block body)
{
    stmt *s = new_stmt(p, STMT_FOR, span_join(token_span(p, keyword), body.where));
    s->loop.name = token_name(p, name);
    s->loop.over = over;
    s->loop.body = body.statements;
    return s;
}

stmt *build_const(parse_context *p, token keyword, token name, expr *value)
{
    stmt *s = new_stmt(p, STMT_CONST, span_join(token_span(p, keyword), value->where));
    s->constant.name = token_name(p, name);
    s->constant.value = value;
    return s;
}

stmt *build_return(parse_context *p, token keyword, expr_list values)
{
    stmt *s = new_stmt(p, STMT_RETURN, span_join(token_span(p, keyword), values.items[values.count - 1]->where));
    s->values = values;
    mark_list(p, values);
    return s;
}

/* ---- items ----------------------------------------------------------------------------------- */

static item *new_item(parse_context *p, item_kind kind, token keyword, token name)
{
    item *i = ARENA_NEW(p->memory, item);
    i->kind = kind;
    i->where = span_join(token_span(p, keyword), token_span(p, name));
    i->name_where = token_span(p, name);
    i->doc = take_doc(p, keyword);
    if (kind != ITEM_IMPORT)
        i->name = token_name(p, name);
    return i;
}

item *build_import(parse_context *p, token keyword, token path)
{
    item *i = new_item(p, ITEM_IMPORT, keyword, path);
    i->name = build_string(p, path)->name;
    return i;
}

item *build_const_item(parse_context *p, token keyword, token name, expr *value)
{
    return set_fn_value(p, new_item(p, ITEM_CONST, keyword, name), value);
}

static void set_params(parse_context *p, item *i, parameter_list params)
{
    i->params = params;
    if (params.count > 1)
        i->params_on_lines = is_line_between(p, params.items[0].where.end, params.items[params.count - 1].where.start);
}

item *build_fn(parse_context *p, token keyword, token name, parameter_list params, type_expr *result, token last)
{
    item *i = new_item(p, ITEM_FN, keyword, name);
    i->where = span_join(i->where, result ? result->where : token_span(p, last));
    set_params(p, i, params);
    i->result = result;
    return i;
}

item *set_fn_value(parse_context *p, item *fn, expr *value)
{
    mark_new_line(p, fn->where.end, value);
    fn->value = value;
    fn->where = span_join(fn->where, value->where);
    return fn;
}

item *set_body(item *fn_or_pipe, block body)
{
    fn_or_pipe->body = body.statements;
    fn_or_pipe->has_block = true;
    fn_or_pipe->where = span_join(fn_or_pipe->where, body.where);
    return fn_or_pipe;
}

item *build_pipe(parse_context *p, annotation_list annotations, token keyword, token name, parameter_list params)
{
    item *i = new_item(p, ITEM_PIPE, keyword, name);
    i->annotations = annotations;
    set_params(p, i, params);
    if (annotations.count) {
        i->where = span_join(annotations.items[0].where, i->where);
        for (token *t = p->tokens.items; t < p->tokens.items + p->at && !i->doc; t++)
            if (t->start == annotations.items[0].where.start)
                i->doc = take_doc(p, *t);
    }
    return i;
}
