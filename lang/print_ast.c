/* SPDX-License-Identifier: MIT
 * The tree as indented text, one node per line: `halo show --stage ast`, and what the parser's tests compare. */
#include "lang/ast.h"

typedef struct printer {
    text *out;
    int   indent;
} printer;

static const char *const binary_spellings[] = {
    [BINARY_OR] = "or",  [BINARY_AND] = "and", [BINARY_EQ] = "==",  [BINARY_NE] = "!=",  [BINARY_LT] = "<",
    [BINARY_LE] = "<=",  [BINARY_GT] = ">",    [BINARY_GE] = ">=",  [BINARY_ADD] = "+",  [BINARY_SUB] = "-",
    [BINARY_MUL] = "*",  [BINARY_DIV] = "/",   [BINARY_MOD] = "%",  [BINARY_POW] = "**", [BINARY_FLOORDIV] = "//",
};

const char *binary_op_spelling(binary_op op)
{
    return binary_spellings[op];
}

__attribute__((format(printf, 2, 3))) static void line(printer *w, const char *format, ...)
{
    text_printf(w->out, "%*s", 2 * w->indent, "");
    va_list args;
    va_start(args, format);
    text_vprintf(w->out, format, args);
    va_end(args);
    text_string(w->out, "\n");
}

static void print_expr(printer *w, const expr *e);

static void print_list(printer *w, const char *title, expr_list list)
{
    line(w, "%s", title);
    w->indent++;
    for (uint32_t i = 0; i < list.count; i++)
        print_expr(w, list.items[i]);
    w->indent--;
}

static void print_range(printer *w, const char *title, range r)
{
    line(w, "%s %s", title, !r.last ? "of" : r.half_open ? "..<" : "..");
    w->indent++;
    print_expr(w, r.first);
    if (r.last)
        print_expr(w, r.last);
    w->indent--;
}

static void print_names(printer *w, const char *title, name_list names)
{
    text_printf(w->out, "%*s%s", 2 * w->indent, "", title);
    for (uint32_t i = 0; i < names.count; i++)
        text_printf(w->out, " %s", names.items[i]);
    text_string(w->out, "\n");
}

static void print_args(printer *w, argument_list args)
{
    w->indent++;
    for (uint32_t i = 0; i < args.count; i++) {
        const argument *a = &args.items[i];
        if (a->is_function)
            print_names(w, "fn", a->parameters);
        else if (a->name)
            line(w, "argument %s", a->name);
        bool nested = a->is_function || a->name;
        w->indent += nested;
        print_expr(w, a->value);
        w->indent -= nested;
    }
    w->indent--;
}

static void print_reduce(printer *w, const expr *e)
{
    line(w, "reduce %s", e->reduce.name);
    w->indent++;
    for (uint32_t i = 0; i < e->reduce.binders.count; i++) {
        const binder *b = &e->reduce.binders.items[i];
        print_names(w, b->is_tuple ? "binder tuple" : "binder", b->names);
        w->indent++;
        print_range(w, "in", b->over);
        w->indent--;
    }
    if (e->reduce.where) {
        line(w, "where");
        w->indent++;
        print_expr(w, e->reduce.where);
        w->indent--;
    }
    print_expr(w, e->reduce.value);
    w->indent--;
}

static void print_children(printer *w, const expr *a, const expr *b, const expr *c)
{
    w->indent++;
    print_expr(w, a);
    if (b)
        print_expr(w, b);
    if (c)
        print_expr(w, c);
    w->indent--;
}

static void print_float(printer *w, const expr *e)
{
    text_printf(w->out, "%*sfloat %s = ", 2 * w->indent, "", e->number.text);
    text_f32(w->out, e->number.value);
    text_string(w->out, "\n");
}

static void print_expr(printer *w, const expr *e)
{
    switch (e->kind) {
    case EXPR_NAME:    line(w, "name %s", e->name); break;
    case EXPR_INTEGER: line(w, "integer %s = %u", e->integer.text, e->integer.value); break;
    case EXPR_FLOAT:   print_float(w, e); break;
    case EXPR_STRING:  line(w, "string \"%s\"", e->name); break;
    case EXPR_UNARY:
        line(w, "unary %s", e->unary.op == UNARY_NEGATE ? "-" : "not");
        print_children(w, e->unary.operand, NULL, NULL);
        break;
    case EXPR_BINARY:
        line(w, "binary %s", binary_op_spelling(e->binary.op));
        print_children(w, e->binary.left, e->binary.right, NULL);
        break;
    case EXPR_SELECT:
        line(w, "select");
        print_children(w, e->select.condition, e->select.yes, e->select.no);
        break;
    case EXPR_TUPLE: print_list(w, "tuple", e->list); break;
    case EXPR_ARRAY: print_list(w, "array", e->list); break;
    case EXPR_PAREN:
        line(w, "paren");
        print_children(w, e->paren, NULL, NULL);
        break;
    case EXPR_MEMBER:
        line(w, "member .%s", e->member.name);
        print_children(w, e->member.object, NULL, NULL);
        break;
    case EXPR_METHOD:
        line(w, "method .%s", e->method.name);
        print_children(w, e->method.object, NULL, NULL);
        print_args(w, e->method.args);
        break;
    case EXPR_INDEX:
        line(w, "index");
        print_children(w, e->index.object, NULL, NULL);
        w->indent++;
        print_list(w, "at", e->index.indices);
        w->indent--;
        break;
    case EXPR_CALL:
        line(w, "call %s", e->call.name);
        print_args(w, e->call.args);
        break;
    case EXPR_REDUCE: print_reduce(w, e); break;
    case EXPR_ERROR:  line(w, "error"); break;
    }
}

static void print_type(printer *w, const char *title, const type_expr *type)
{
    if (!type)
        return;
    line(w, "%s%s%s", title, type->is_image ? "image " : "", type->element);
    w->indent++;
    for (uint32_t i = 0; i < type->extents.count; i++)
        print_expr(w, type->extents.items[i]);
    w->indent--;
}

static void print_annotations(printer *w, annotation_list annotations)
{
    for (uint32_t i = 0; i < annotations.count; i++) {
        line(w, "annotation @%s", annotations.items[i].name);
        print_args(w, annotations.items[i].args);
    }
}

static void print_dims(printer *w, dimension_list dims)
{
    line(w, "dimensions");
    w->indent++;
    for (uint32_t i = 0; i < dims.count; i++) {
        print_expr(w, dims.items[i].index);
        w->indent++;
        if (dims.items[i].in)
            print_range(w, "in", *dims.items[i].in);
        w->indent--;
    }
    w->indent--;
}

static void print_statements(printer *w, stmt_list statements);

static void print_stmt(printer *w, const stmt *s)
{
    print_annotations(w, s->annotations);
    switch (s->kind) {
    case STMT_DEFINE:
        line(w, "define %s", s->define.name);
        w->indent++;
        if (s->define.has_dims)
            print_dims(w, s->define.dims);
        if (s->define.has_second)
            print_dims(w, s->define.second);
        print_type(w, "type ", s->define.type);
        print_expr(w, s->define.value);
        w->indent--;
        break;
    case STMT_FOR:
        line(w, "for %s", s->loop.name);
        w->indent++;
        print_range(w, "in", s->loop.over);
        print_statements(w, s->loop.body);
        w->indent--;
        break;
    case STMT_CONST:
        line(w, "const %s", s->constant.name);
        print_children(w, s->constant.value, NULL, NULL);
        break;
    case STMT_RETURN: print_list(w, "return", s->values); break;
    }
}

static void print_statements(printer *w, stmt_list statements)
{
    for (uint32_t i = 0; i < statements.count; i++)
        print_stmt(w, statements.items[i]);
}

static void print_doc(printer *w, const char *doc)
{
    if (!doc)
        return;
    text_printf(w->out, "%*sdoc \"", 2 * w->indent, "");
    for (; *doc; doc++)
        text_printf(w->out, *doc == '\n' ? "\\n" : "%c", *doc);
    text_string(w->out, "\"\n");
}

static void print_params(printer *w, parameter_list params)
{
    for (uint32_t i = 0; i < params.count; i++) {
        const parameter *p = &params.items[i];
        line(w, "parameter %s", p->name);
        w->indent++;
        print_doc(w, p->doc);
        print_type(w, "type ", p->type);
        if (p->value) {
            line(w, "default");
            print_children(w, p->value, NULL, NULL);
        }
        if (p->in)
            print_range(w, "in", *p->in);
        w->indent--;
    }
}

static void print_item(printer *w, const item *i)
{
    static const char *const kinds[] = {"import", "const", "fn", "pipe"};
    print_annotations(w, i->annotations);
    line(w, "%s %s", kinds[i->kind], i->name);
    w->indent++;
    print_doc(w, i->doc);
    print_params(w, i->params);
    print_type(w, "result ", i->result);
    for (uint32_t k = 0; k < i->outputs.count; k++) {
        line(w, "output %s", i->outputs.items[k].name ? i->outputs.items[k].name : "");
        w->indent++;
        print_type(w, "type ", i->outputs.items[k].type);
        w->indent--;
    }
    if (i->value)
        print_expr(w, i->value);
    print_statements(w, i->body);
    w->indent--;
}

void print_ast(const file *f, text *out)
{
    printer w = {.out = out};
    for (uint32_t i = 0; i < f->items.count; i++)
        print_item(&w, f->items.items[i]);
}
