/* SPDX-License-Identifier: MIT
 * Private to lang/: what format.c (items, statements, comments) needs of format_expr.c (expressions, broken into lines). */
#ifndef HALO_LANG_FORMAT_H
#define HALO_LANG_FORMAT_H

#include "lang/ast.h"

enum { LINE_WIDTH = 120, INDENT = 4 };

/* Columns, in characters, of the last line of `out`. */
uint32_t format_column(const text *out);
void     format_new_line(text *out, uint32_t column);

/* Writes `e` at the end of `out`; on lines of its own when it doesn't fit before the line's end. `after` columns are kept
 * free behind it. */
void format_expr(text *out, const expr *e, uint32_t after);
bool format_fits(const text *out, const expr *e, uint32_t after);
void format_range(text *out, const range *r);
void format_args(text *out, argument_list args, uint32_t after);
void format_type(text *out, const type_expr *type);

#endif
