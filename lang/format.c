/* SPDX-License-Identifier: MIT
 * The canonical layout of a file. It depends on the tree alone, so formatting twice changes nothing; comments stand where
 * comments.c has put them. Definitions in neighbouring lines
 * whose `=` were written below one another are kept so. */
#include "lang/format.h"

#include <string.h>

static void write_comments(text *out, name_list comments, uint32_t column, bool trim)
{
    uint32_t count = comments.count;
    while (trim && count > 0 && !comments.items[count - 1])
        count--;
    for (uint32_t i = 0; i < count; i++)
        if (comments.items[i])
            text_printf(out, "%*s#%s\n", (int)column, "", comments.items[i]);
        else
            text_string(out, "\n");
}

static void write_doc(text *out, const char *doc, uint32_t column)
{
    while (doc) {
        const char *newline = strchr(doc, '\n');
        int n = newline ? (int)(newline - doc) : (int)strlen(doc);
        text_printf(out, "%*s##%s%.*s\n", (int)column, "", n ? " " : "", n, doc);
        doc = newline ? newline + 1 : NULL;
    }
}

static void end_line(text *out, const char *trailing)
{
    if (trailing)
        text_printf(out, "  #%s", trailing);
    text_string(out, "\n");
}

static void write_annotations(text *out, annotation_list annotations, uint32_t column)
{
    for (uint32_t i = 0; i < annotations.count; i++) {
        text_printf(out, "%*s@%s", (int)column, "", annotations.items[i].name);
        if (annotations.items[i].args.count) {
            text_string(out, "(");
            format_args(out, annotations.items[i].args, 1);
            text_string(out, ")");
        }
        text_string(out, "\n");
    }
}

/* ---- statements ------------------------------------------------------------------------------ */

static void write_dims(text *out, dimension_list dims)
{
    text_string(out, "[");
    for (uint32_t i = 0; i < dims.count; i++) {
        text_string(out, i ? ", " : "");
        format_expr(out, dims.items[i].index, 0);
        if (dims.items[i].in) {
            text_string(out, " in ");
            format_range(out, dims.items[i].in);
        }
    }
    text_string(out, "]");
}

static void write_left(text *out, const stmt *s)
{
    text_string(out, s->define.name);
    if (s->define.has_dims)
        write_dims(out, s->define.dims);
    if (s->define.has_second)
        write_dims(out, s->define.second);
    if (s->define.type) {
        text_string(out, ": ");
        format_type(out, s->define.type);
    }
}

static uint32_t left_width(const stmt *s)
{
    text left = {0};
    write_left(&left, s);
    uint32_t width = format_column(&left);
    text_free(&left);
    return width;
}

static bool continues_run(const stmt *s, const stmt *first)
{
    return s->kind == STMT_DEFINE && !s->blank_before && s->comments.count == 0 && s->annotations.count == 0 &&
           s->define.assign_column == first->define.assign_column;
}

/* The column of `=` for the definitions from `first` on that were written aligned; *end is behind the last. */
static uint32_t align_run(stmt_list statements, uint32_t first, uint32_t *end)
{
    uint32_t wide = left_width(statements.items[first]), i = first + 1;
    for (; i < statements.count && continues_run(statements.items[i], statements.items[first]); i++) {
        uint32_t width = left_width(statements.items[i]);
        if (width > wide)
            wide = width;
    }
    *end = i;
    return wide;
}

/* What is defined goes behind the `=`, or below it: if it was written there, if only that makes it fit, or if the left
 * side leaves little room. */
static void write_value(text *out, const expr *value, uint32_t column)
{
    text below = {0};
    text_printf(&below, "%*s", (int)column, "");
    bool fits = !value->new_line && format_fits(out, value, 0);
    if (value->new_line || (!fits && (format_fits(&below, value, 0) || format_column(out) > LINE_WIDTH / 2)))
        format_new_line(out, column);
    text_free(&below);
    format_expr(out, value, 0);
}

static void write_define(text *out, const stmt *s, uint32_t column, uint32_t align)
{
    text_printf(out, "%*s", (int)column, "");
    write_left(out, s);
    while (format_column(out) < column + align)
        text_string(out, " ");
    text_string(out, " = ");
    write_value(out, s->define.value, column + INDENT);
}

static void write_statements(text *out, stmt_list statements, name_list last, uint32_t column);

static void write_for(text *out, const stmt *s, uint32_t column)
{
    text_printf(out, "%*sfor %s in ", (int)column, "", s->loop.name);
    format_range(out, &s->loop.over);
    text_string(out, " {\n");
    write_statements(out, s->loop.body, s->loop.last_comments, column + INDENT);
    text_printf(out, "%*s}", (int)column, "");
}

static void write_return(text *out, const stmt *s, uint32_t column)
{
    text_printf(out, "%*sreturn ", (int)column, "");
    for (uint32_t i = 0; i < s->values.count; i++) {
        uint32_t behind = i + 1 < s->values.count ? 1 : 0;
        text_string(out, i ? ", " : "");
        if (i > 0 && (s->values.items[i]->new_line || !format_fits(out, s->values.items[i], behind)))
            format_new_line(out, column + INDENT);
        format_expr(out, s->values.items[i], behind);
    }
}

static void write_statements(text *out, stmt_list statements, name_list last, uint32_t column)
{
    uint32_t run_end = 0, align = 0;
    for (uint32_t i = 0; i < statements.count; i++) {
        const stmt *s = statements.items[i];
        if (s->blank_before && i > 0)
            text_string(out, "\n");
        write_comments(out, s->comments, column, false);
        write_annotations(out, s->annotations, column);
        switch (s->kind) {
        case STMT_DEFINE:
            if (i >= run_end)
                align = align_run(statements, i, &run_end);
            write_define(out, s, column, align);
            break;
        case STMT_FOR: write_for(out, s, column); break;
        case STMT_CONST:
            text_printf(out, "%*sconst %s = ", (int)column, "", s->constant.name);
            format_expr(out, s->constant.value, 0);
            break;
        case STMT_RETURN: write_return(out, s, column); break;
        }
        end_line(out, s->trailing);
    }
    write_comments(out, last, column, true);
}

/* ---- items ----------------------------------------------------------------------------------- */

static void write_parameter(text *out, const parameter *p)
{
    text_string(out, p->name);
    if (p->type) {
        text_string(out, ": ");
        format_type(out, p->type);
    }
    if (p->value) {
        text_string(out, " = ");
        format_expr(out, p->value, 0);
    }
    if (p->in) {
        text_string(out, " in ");
        format_range(out, p->in);
    }
}

static void write_outputs(text *out, const item *i)
{
    if (i->kind == ITEM_FN) {
        if (i->result) {
            text_string(out, " -> ");
            format_type(out, i->result);
        }
        return;
    }
    text_string(out, i->outputs_named ? " -> (" : " -> ");
    for (uint32_t k = 0; k < i->outputs.count; k++) {
        const output *o = &i->outputs.items[k];
        text_string(out, k ? ", " : "");
        if (i->outputs_named)
            text_printf(out, "%s: ", o->name);
        format_type(out, o->type);
    }
    text_string(out, i->outputs_named ? ")" : "");
}

static void write_head_on_line(text *out, const item *i)
{
    text_printf(out, "%s %s(", i->kind == ITEM_FN ? "fn" : "pipe", i->name);
    for (uint32_t k = 0; k < i->params.count; k++) {
        text_string(out, k ? ", " : "");
        write_parameter(out, &i->params.items[k]);
    }
    text_string(out, ")");
    write_outputs(out, i);
}

static void write_head_on_lines(text *out, const item *i)
{
    text_printf(out, "%s %s(", i->kind == ITEM_FN ? "fn" : "pipe", i->name);
    uint32_t column = format_column(out), count = i->params.count;
    for (uint32_t k = 0; k < count; k++) {
        const parameter *p = &i->params.items[k];
        bool above = p->doc || p->comments.count;
        if (k > 0 || above)
            text_string(out, "\n");
        write_comments(out, p->comments, column, true);
        write_doc(out, p->doc, column);
        if (k > 0 || above)
            text_printf(out, "%*s", (int)column, "");
        write_parameter(out, p);
        if (k + 1 < count)
            text_string(out, ",");
        if (p->trailing)
            text_printf(out, "  #%s", p->trailing);
        if (p->trailing && k + 1 == count)
            text_printf(out, "\n%*s", (int)column - 1, "");
    }
    text_string(out, ")");
    write_outputs(out, i);
}

static bool fits_on_line(const item *i)
{
    if (i->params_on_lines)
        return false;
    for (uint32_t k = 0; k < i->params.count; k++) {
        const parameter *p = &i->params.items[k];
        if (p->doc || p->comments.count || p->trailing)
            return false;
    }
    text head = {0};
    write_head_on_line(&head, i);
    bool fits = head.count && !memchr(head.bytes, '\n', head.count) && format_column(&head) + 2 <= LINE_WIDTH;
    text_free(&head);
    return fits;
}

static void write_callable(text *out, const item *i)
{
    bool on_line = fits_on_line(i);
    if (on_line)
        write_head_on_line(out, i);
    else
        write_head_on_lines(out, i);
    if (!i->has_block) {
        text_string(out, " = ");
        write_value(out, i->value, INDENT);
        return;
    }
    text_string(out, on_line && i->kind == ITEM_FN ? " {\n" : "\n{\n");
    write_statements(out, i->body, i->last_comments, INDENT);
    text_string(out, "}");
}

static void write_item(text *out, const item *i)
{
    write_comments(out, i->comments, 0, false);
    write_doc(out, i->doc, 0);
    write_annotations(out, i->annotations, 0);
    switch (i->kind) {
    case ITEM_IMPORT: text_printf(out, "import \"%s\"", i->name); break;
    case ITEM_CONST:
        text_printf(out, "const %s = ", i->name);
        format_expr(out, i->value, 0);
        break;
    case ITEM_FN:
    case ITEM_PIPE: write_callable(out, i); break;
    }
    end_line(out, i->trailing);
}

void format_file(const file *f, text *out)
{
    for (uint32_t k = 0; k < f->items.count; k++) {
        const item *i = f->items.items[k];
        bool blank = i->blank_before || i->has_block || (k > 0 && f->items.items[k - 1]->has_block);
        if (k > 0 && blank)
            text_string(out, "\n");
        write_item(out, i);
    }
    if (f->last_comments.count && f->items.count)
        text_string(out, "\n");
    write_comments(out, f->last_comments, 0, true);
}
