/* SPDX-License-Identifier: MIT
 * Expressions in the canonical layout. What fits is written on one line; else the outermost construct is broken, behind a
 * comma or an operator, and its parts are written the same way. Operators have spaces around them, but for the ends of a
 * range (0..w-1) and for products and powers that were written without (2*x + 1). Line breaks that were written where
 * one may stand are kept. */
#include "lang/format.h"

#include <string.h>

static void flat_expr(text *out, const expr *e, bool in_range);
static void broken_expr(text *out, const expr *e, bool in_range, uint32_t after);

uint32_t format_column(const text *out)
{
    uint32_t column = 0;
    for (size_t i = out->count; i > 0 && out->bytes[i - 1] != '\n'; i--)
        column += ((unsigned char)out->bytes[i - 1] & 0xC0) != 0x80;
    return column;
}

void format_new_line(text *out, uint32_t column)
{
    while (out->count > 0 && out->bytes[out->count - 1] == ' ')
        out->count--;
    text_printf(out, "\n%*s", (int)column, "");
}

/* ---- on one line ----------------------------------------------------------------------------- */

static bool is_product(binary_op op)
{
    return op == BINARY_MUL || op == BINARY_DIV || op == BINARY_FLOORDIV || op == BINARY_MOD;
}

static bool is_sum(binary_op op) { return op == BINARY_ADD || op == BINARY_SUB; }

/* Products and powers keep how they were written; sums are tight only as the end of a range. */
static bool is_tight(const expr *e, bool in_range)
{
    binary_op op = e->binary.op;
    return in_range ? op >= BINARY_ADD : e->tight && (is_product(op) || op == BINARY_POW);
}

static void flat_list(text *out, expr_list list, bool in_range)
{
    for (uint32_t i = 0; i < list.count; i++) {
        text_string(out, i ? ", " : "");
        flat_expr(out, list.items[i], in_range);
    }
}

static void write_names(text *out, name_list names)
{
    for (uint32_t i = 0; i < names.count; i++)
        text_printf(out, "%s%s", i ? ", " : "", names.items[i]);
}

void format_range(text *out, const range *r)
{
    flat_expr(out, r->first, r->last != NULL);
    if (r->last) {
        text_string(out, r->half_open ? "..<" : "..");
        flat_expr(out, r->last, true);
    }
}

static void write_argument_head(text *out, const argument *a)
{
    if (a->is_function) {
        text_string(out, "fn(");
        write_names(out, a->parameters);
        text_string(out, ") = ");
    } else if (a->name) {
        text_printf(out, "%s: ", a->name);
    }
}

static void flat_args(text *out, argument_list args)
{
    for (uint32_t i = 0; i < args.count; i++) {
        text_string(out, i ? ", " : "");
        write_argument_head(out, &args.items[i]);
        flat_expr(out, args.items[i].value, false);
    }
}

static void write_binders(text *out, const expr *e)
{
    text_printf(out, "%s(", e->reduce.name);
    for (uint32_t i = 0; i < e->reduce.binders.count; i++) {
        const binder *b = &e->reduce.binders.items[i];
        text_string(out, i ? ", " : "");
        text_string(out, b->is_tuple ? "(" : "");
        write_names(out, b->names);
        text_string(out, b->is_tuple ? ") in " : " in ");
        format_range(out, &b->over);
    }
    if (e->reduce.where) {
        text_string(out, " where ");
        flat_expr(out, e->reduce.where, false);
    }
    text_string(out, ":");
}

static void write_operator(text *out, const expr *e, bool in_range)
{
    text_printf(out, is_tight(e, in_range) ? "%s" : " %s ", binary_op_spelling(e->binary.op));
}

static void write_unary(text *out, const expr *e)
{
    text_string(out, e->unary.op == UNARY_NEGATE ? "-" : "not ");
}

static void flat_expr(text *out, const expr *e, bool in_range)
{
    switch (e->kind) {
    case EXPR_NAME:    text_string(out, e->name); break;
    case EXPR_INTEGER: text_string(out, e->integer.text); break;
    case EXPR_FLOAT:   text_string(out, e->number.text); break;
    case EXPR_STRING:  text_printf(out, "\"%s\"", e->name); break;
    case EXPR_UNARY:
        write_unary(out, e);
        flat_expr(out, e->unary.operand, in_range);
        break;
    case EXPR_BINARY:
        flat_expr(out, e->binary.left, in_range);
        write_operator(out, e, in_range);
        flat_expr(out, e->binary.right, in_range);
        break;
    case EXPR_SELECT:
        flat_expr(out, e->select.condition, false);
        text_string(out, " ? ");
        flat_expr(out, e->select.yes, false);
        text_string(out, " : ");
        flat_expr(out, e->select.no, false);
        break;
    case EXPR_TUPLE:
    case EXPR_ARRAY:
        text_string(out, e->kind == EXPR_TUPLE ? "(" : "[");
        flat_list(out, e->list, false);
        text_string(out, e->kind == EXPR_TUPLE ? ")" : "]");
        break;
    case EXPR_PAREN:
        text_string(out, "(");
        flat_expr(out, e->paren, false);
        text_string(out, ")");
        break;
    case EXPR_MEMBER:
        flat_expr(out, e->member.object, in_range);
        text_printf(out, ".%s", e->member.name);
        break;
    case EXPR_METHOD:
        flat_expr(out, e->method.object, in_range);
        text_printf(out, ".%s(", e->method.name);
        flat_args(out, e->method.args);
        text_string(out, ")");
        break;
    case EXPR_INDEX:
        flat_expr(out, e->index.object, in_range);
        text_string(out, "[");
        flat_list(out, e->index.indices, false);
        text_string(out, "]");
        break;
    case EXPR_CALL:
        text_printf(out, "%s(", e->call.name);
        flat_args(out, e->call.args);
        text_string(out, ")");
        break;
    case EXPR_REDUCE:
        write_binders(out, e);
        text_string(out, " ");
        flat_expr(out, e->reduce.value, false);
        text_string(out, ")");
        break;
    case EXPR_ERROR: break;
    }
}

/* ---- does it fit? ---------------------------------------------------------------------------- */

static bool has_breaks(const expr *e);

static bool list_has_breaks(expr_list list)
{
    for (uint32_t i = 0; i < list.count; i++)
        if (list.items[i]->new_line || has_breaks(list.items[i]))
            return true;
    return false;
}

static bool args_have_breaks(argument_list args)
{
    for (uint32_t i = 0; i < args.count; i++)
        if (args.items[i].value->new_line || has_breaks(args.items[i].value))
            return true;
    return false;
}

static bool any_has_breaks(const expr *a, const expr *b)
{
    return b->new_line || has_breaks(a) || has_breaks(b);
}

/* Was a line break written inside, at a place where fmt keeps it? */
static bool has_breaks(const expr *e)
{
    switch (e->kind) {
    case EXPR_UNARY:  return has_breaks(e->unary.operand);
    case EXPR_BINARY: return any_has_breaks(e->binary.left, e->binary.right);
    case EXPR_SELECT: return has_breaks(e->select.condition) || any_has_breaks(e->select.yes, e->select.no);
    case EXPR_TUPLE:
    case EXPR_ARRAY:  return list_has_breaks(e->list);
    case EXPR_PAREN:  return has_breaks(e->paren);
    case EXPR_MEMBER: return has_breaks(e->member.object);
    case EXPR_METHOD: return has_breaks(e->method.object) || args_have_breaks(e->method.args);
    case EXPR_INDEX:  return has_breaks(e->index.object) || list_has_breaks(e->index.indices);
    case EXPR_CALL:   return args_have_breaks(e->call.args);
    case EXPR_REDUCE: return e->reduce.value->new_line || has_breaks(e->reduce.value);
    case EXPR_NAME: case EXPR_INTEGER: case EXPR_FLOAT: case EXPR_STRING: case EXPR_ERROR: break;
    }
    return false;
}

/* An expression in the source is never much shorter than its canonical form, so what is far too long isn't even tried:
 * trees with long lists would cost a try at each level. */
static bool fits(const text *out, const expr *e, bool in_range, uint32_t after)
{
    uint32_t column = format_column(out);
    if (column + after >= LINE_WIDTH || e->depth > LINE_WIDTH || has_breaks(e))
        return false;
    text trial = {0};
    flat_expr(&trial, e, in_range);
    uint32_t width = format_column(&trial);
    text_free(&trial);
    return column + width + after <= LINE_WIDTH;
}

static void any_expr(text *out, const expr *e, bool in_range, uint32_t after)
{
    if (fits(out, e, in_range, after))
        flat_expr(out, e, in_range);
    else
        broken_expr(out, e, in_range, after);
}

/* ---- on several lines ------------------------------------------------------------------------ */

static uint32_t flat_width(const expr *e)
{
    text trial = {0};
    flat_expr(&trial, e, false);
    uint32_t width = format_column(&trial);
    text_free(&trial);
    return width;
}

/* Rows of numbers of the same length, with the columns below one another; false if that isn't what `rows` is. */
static bool write_matrix(text *out, expr_list rows, uint32_t after)
{
    enum { MAX_COLUMNS = 32, MAX_WIDTH = 16 };
    uint32_t widths[MAX_COLUMNS] = {0}, total = 2, n_columns = rows.items[0]->list.count;
    if (n_columns > MAX_COLUMNS)
        return false;
    for (uint32_t i = 0; i < rows.count; i++) {
        if (rows.items[i]->kind != EXPR_ARRAY || rows.items[i]->list.count != n_columns)
            return false;
        for (uint32_t j = 0; j < n_columns; j++) {
            const expr *element = rows.items[i]->list.items[j];
            uint32_t width = element->depth > 3 || has_breaks(element) ? MAX_WIDTH + 1 : flat_width(element);
            if (width > MAX_WIDTH)
                return false;
            if (width > widths[j])
                widths[j] = width;
        }
    }
    for (uint32_t j = 0; j < n_columns; j++)
        total += widths[j] + 2;
    uint32_t column = format_column(out);
    if (column + total + after > LINE_WIDTH)
        return false;
    for (uint32_t i = 0; i < rows.count; i++) {
        if (i > 0)
            format_new_line(out, column);
        for (uint32_t j = 0; j < n_columns; j++) {
            const expr *element = rows.items[i]->list.items[j];
            text_printf(out, "%s%*s", j ? ", " : "[", (int)(widths[j] - flat_width(element)), "");
            flat_expr(out, element, false);
        }
        text_string(out, i + 1 < rows.count ? "]," : "]");
    }
    return true;
}

/* Elements behind one another as far as they fit, then below the first. */
static void fill_list(text *out, expr_list list, uint32_t after)
{
    uint32_t column = format_column(out);
    bool rows = list.items[0]->kind == EXPR_ARRAY;
    if (rows && write_matrix(out, list, after))
        return;
    for (uint32_t i = 0; i < list.count; i++) {
        uint32_t behind = i + 1 < list.count ? 1 : after;
        if (i > 0) {
            text_string(out, ", ");
            if (rows || list.items[i]->new_line || !fits(out, list.items[i], false, behind))
                format_new_line(out, column);
        }
        any_expr(out, list.items[i], false, behind);
    }
}

void format_args(text *out, argument_list args, uint32_t after)
{
    uint32_t column = format_column(out);
    for (uint32_t i = 0; i < args.count; i++) {
        const argument *a = &args.items[i];
        uint32_t behind = i + 1 < args.count ? 1 : after;
        if (i > 0) {
            text_string(out, ", ");
            text head = {0};
            write_argument_head(&head, a);
            bool fit = fits(out, a->value, false, behind + format_column(&head));
            text_free(&head);
            if (a->value->new_line || !fit)
                format_new_line(out, column);
        }
        write_argument_head(out, a);
        any_expr(out, a->value, false, behind);
    }
}

static bool same_level(binary_op a, binary_op b)
{
    return a == b || (is_sum(a) && is_sum(b)) || (is_product(a) && is_product(b));
}

/* a + b - c ...: broken behind operators of the same level, so that a long sum fills lines like words do. */
static void broken_chain(text *out, const expr *e, bool in_range, uint32_t after, uint32_t column)
{
    const binary_op op = e->binary.op;
    const expr *left = e->binary.left, *right = e->binary.right;
    uint32_t behind = (uint32_t)strlen(binary_op_spelling(op)) + 1;
    if (left->kind == EXPR_BINARY && op != BINARY_POW && same_level(left->binary.op, op))
        broken_chain(out, left, in_range, behind, column);
    else
        any_expr(out, left, in_range, behind);
    write_operator(out, e, in_range);
    if (right->new_line || !fits(out, right, in_range, after))
        format_new_line(out, column);
    any_expr(out, right, in_range, after);
}

/* A line for each choice of a chain, the last for what is left. */
static void broken_select(text *out, const expr *e, uint32_t after)
{
    uint32_t column = format_column(out);
    for (; e->kind == EXPR_SELECT; e = e->select.no) {
        any_expr(out, e->select.condition, false, 2);
        text_string(out, " ? ");
        any_expr(out, e->select.yes, false, 2);
        text_string(out, " :");
        format_new_line(out, column);
    }
    any_expr(out, e, false, after);
}

static void broken_reduce(text *out, const expr *e, uint32_t after)
{
    uint32_t column = format_column(out) + (uint32_t)strlen(e->reduce.name) + 1;
    write_binders(out, e);
    if (column > LINE_WIDTH / 2)
        column = LINE_WIDTH / 2;
    format_new_line(out, column);
    any_expr(out, e->reduce.value, false, after + 1);
    text_string(out, ")");
}

static void broken_expr(text *out, const expr *e, bool in_range, uint32_t after)
{
    switch (e->kind) {
    case EXPR_NAME: case EXPR_INTEGER: case EXPR_FLOAT: case EXPR_STRING: case EXPR_ERROR:
        flat_expr(out, e, in_range);
        break;
    case EXPR_UNARY:
        write_unary(out, e);
        any_expr(out, e->unary.operand, in_range, after);
        break;
    case EXPR_BINARY: broken_chain(out, e, in_range, after, format_column(out)); break;
    case EXPR_SELECT: broken_select(out, e, after); break;
    case EXPR_TUPLE:
    case EXPR_ARRAY:
        text_string(out, e->kind == EXPR_TUPLE ? "(" : "[");
        fill_list(out, e->list, after + 1);
        text_string(out, e->kind == EXPR_TUPLE ? ")" : "]");
        break;
    case EXPR_PAREN:
        text_string(out, "(");
        any_expr(out, e->paren, false, after + 1);
        text_string(out, ")");
        break;
    case EXPR_MEMBER:
        any_expr(out, e->member.object, in_range, after + (uint32_t)strlen(e->member.name) + 1);
        text_printf(out, ".%s", e->member.name);
        break;
    case EXPR_METHOD:
        any_expr(out, e->method.object, in_range, (uint32_t)strlen(e->method.name) + 2);
        text_printf(out, ".%s(", e->method.name);
        format_args(out, e->method.args, after + 1);
        text_string(out, ")");
        break;
    case EXPR_INDEX:
        any_expr(out, e->index.object, in_range, 1);
        text_string(out, "[");
        fill_list(out, e->index.indices, after + 1);
        text_string(out, "]");
        break;
    case EXPR_CALL:
        text_printf(out, "%s(", e->call.name);
        format_args(out, e->call.args, after + 1);
        text_string(out, ")");
        break;
    case EXPR_REDUCE: broken_reduce(out, e, after); break;
    }
}

/* ---- for format.c ---------------------------------------------------------------------------- */

void format_expr(text *out, const expr *e, uint32_t after)
{
    any_expr(out, e, false, after);
}

bool format_fits(const text *out, const expr *e, uint32_t after)
{
    return fits(out, e, false, after);
}

void format_type(text *out, const type_expr *type)
{
    text_printf(out, "%s%s", type->is_image ? "image " : "", type->element);
    if (type->extents.count) {
        text_string(out, "[");
        flat_list(out, type->extents, false);
        text_string(out, "]");
    }
}
