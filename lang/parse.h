/* SPDX-License-Identifier: MIT
 * Private to lang/: what the lexer, the layout, the grammar's actions and the error messages share while one file is
 * parsed. Text goes through them in this order:
 *   lexer.re    bytes to raw tokens (newlines and comments are tokens)
 *   layout.c    statement ends, brackets that match, documentation attached to tokens
 *   grammar.y   tokens to tree, each action one call of build_ast.c; syntax_error.c says what was expected
 *   comments.c  `#` comments to the statements they belong to */
#ifndef HALO_LANG_PARSE_H
#define HALO_LANG_PARSE_H

#include "lang/ast.h"

/* A token; kinds are TOKEN_... of the generated grammar.h, and the three below that only the layout sees. */
typedef struct token {
    int      kind;
    uint32_t start, end;       /* bytes */
    uint32_t doc;              /* 1 + index of the first `##` line above it in `comments`, or 0 */
    uint32_t n_docs;
} token;

enum { RAW_NEWLINE = -1, RAW_COMMENT = -2, RAW_DOC = -3 };

typedef struct comment {
    uint32_t start, end;
    bool     is_doc;           /* `##` */
    bool     is_used;          /* became documentation */
} comment;

typedef struct parse_context {
    arena      *memory;
    interner   *names;
    diags      *diagnostics;
    uint32_t    source;
    const char *text;
    uint32_t    n_bytes;
    LIST(token)   raw;
    LIST(token)   tokens;
    LIST(comment) comments;
    uint32_t    at;            /* the token that the parser looks at */
    bool        stopped;       /* nothing sensible can follow */
    file       *result;
} parse_context;

/* Bodies of pipes, functions and loops. */
typedef struct block { stmt_list statements; span where; } block;

static inline span token_span(const parse_context *p, token t)
{
    return (span){p->source, t.start, t.end};
}

/* From the start of one to the end of the other. */
static inline span span_join(span a, span b)
{
    return (span){a.source, a.start, b.end};
}

void scan_tokens(parse_context *p);                 /* lexer.re: fills raw */
void lay_out_tokens(parse_context *p);              /* layout.c: raw to tokens */
void run_parser(parse_context *p);                  /* grammar.y: tokens to result */
void attach_comments(parse_context *p);             /* comments.c */

/* `expected` has bit k set for each token kind k that could stand here. */
void report_syntax_error(parse_context *p, token unexpected, uint64_t expected);
struct yyParser;
uint64_t find_expected_tokens(const struct yyParser *parser);      /* grammar.y */
void report_too_deep(parse_context *p, span where);

/* ---- build_ast.c: one call for each rule of the grammar ---- */

const char *token_name(parse_context *p, token t);

expr *build_name(parse_context *p, token t);
expr *build_integer(parse_context *p, token t);
expr *build_float(parse_context *p, token t);
expr *build_string(parse_context *p, token t);
expr *build_unary(parse_context *p, token op, unary_op kind, expr *operand);
expr *build_binary(parse_context *p, binary_op op, expr *left, expr *right);
expr *build_select(parse_context *p, expr *condition, expr *yes, expr *no);
expr *build_tuple(parse_context *p, token open, expr *first, expr_list rest, token close);
expr *build_array(parse_context *p, token open, expr_list items, token close);
expr *build_paren(parse_context *p, token open, expr *inner, token close);
expr *build_member(parse_context *p, expr *object, token name);
expr *build_method(parse_context *p, expr *object, token name, argument_list args, token close);
expr *build_index(parse_context *p, expr *object, expr_list indices, token close);
expr *build_call(parse_context *p, token name, argument_list args, token close);
expr *build_reduce(parse_context *p, token name, binder_list binders, expr *where, expr *value, token close);
expr *build_error(parse_context *p, token at);

range  build_range(parse_context *p, expr *first, expr *last, bool half_open);
range *build_range_copy(parse_context *p, range r);
binder build_binder(parse_context *p, expr *names, range over);
argument build_argument(expr *value);
argument build_named_argument(parse_context *p, token name, expr *value);
argument build_function_argument(parse_context *p, token fn, name_list parameters, expr *body);

type_expr *build_type(parse_context *p, token element);
type_expr *build_image_type(parse_context *p, token image, token element);
type_expr *build_array_type(parse_context *p, token element, expr_list extents, token close);
parameter  build_parameter(parse_context *p, token name, type_expr *type, expr *value, range *in);
output     build_output(parse_context *p, token name, type_expr *type);

annotation build_annotation(parse_context *p, token at, token name, argument_list args, token last);
dimension  build_dimension(parse_context *p, expr *index, range *in);
stmt *build_define(parse_context *p, annotation_list annotations, token name, type_expr *type, token assign, expr *value);
stmt *build_define_dims(parse_context *p, annotation_list annotations, token name, dimension_list dims, type_expr *type,
                        token assign, expr *value);
stmt *add_second_dims(stmt *s, dimension_list second);
stmt *build_for(parse_context *p, token keyword, token name, range over, block body);
stmt *build_const(parse_context *p, token keyword, token name, expr *value);
stmt *build_return(parse_context *p, token keyword, expr_list values);

item *build_import(parse_context *p, token keyword, token path);
item *build_const_item(parse_context *p, token keyword, token name, expr *value);
item *build_fn(parse_context *p, token keyword, token name, parameter_list params, type_expr *result, token last);
item *set_fn_value(parse_context *p, item *fn, expr *value);
item *set_body(item *fn_or_pipe, block body);
item *build_pipe(parse_context *p, annotation_list annotations, token keyword, token name, parameter_list params);

#endif
