/* SPDX-License-Identifier: MIT
 * The syntax tree of a .pipe file: kind + common fields + a union by kind. It says what was written, not what it means:
 * every spelling that matters for meaning or for `fmt` (parentheses, argument names, number text) is still here. */
#ifndef HALO_LANG_AST_H
#define HALO_LANG_AST_H

#include "lang/diag.h"

typedef struct expr expr;
typedef struct stmt stmt;
typedef LIST(expr *) expr_list;
typedef LIST(stmt *) stmt_list;
typedef LIST(const char *) name_list;

/* ---- expressions ----------------------------------------------------------------------------- */

typedef enum expr_kind {
    EXPR_NAME,        /* name */
    EXPR_INTEGER,     /* integer: value and text; above 2^32-1 is an error of the lexer */
    EXPR_FLOAT,       /* number: value (f32 nearest to the text) and text */
    EXPR_STRING,      /* name: the text without quotes */
    EXPR_UNARY,       /* unary: op is TOKEN-like: '-' or not */
    EXPR_BINARY,      /* binary */
    EXPR_SELECT,      /* select: c ? a : b */
    EXPR_TUPLE,       /* list: (a, b, ...), at least two: a pixel */
    EXPR_ARRAY,       /* list: [a, b, ...], rows of a kernel are nested arrays */
    EXPR_PAREN,       /* paren: (e): kept for fmt; the frontend looks through it */
    EXPR_MEMBER,      /* member: e.name */
    EXPR_METHOD,      /* method: e.name(args): a.extent(2) */
    EXPR_INDEX,       /* index: e[i, j] */
    EXPR_CALL,        /* call: name(args) */
    EXPR_REDUCE,      /* reduce: name(binders where cond: e) */
    EXPR_ERROR        /* a place where parsing failed; never reaches the frontend without an error */
} expr_kind;

typedef enum binary_op {
    BINARY_OR, BINARY_AND, BINARY_EQ, BINARY_NE, BINARY_LT, BINARY_LE, BINARY_GT, BINARY_GE,
    BINARY_ADD, BINARY_SUB, BINARY_MUL, BINARY_DIV, BINARY_FLOORDIV, BINARY_MOD, BINARY_POW
} binary_op;

typedef enum unary_op { UNARY_NEGATE, UNARY_NOT } unary_op;

/* a..b (inclusive), a..<b (half open) or a lone expression (an image, whose domain it is). */
typedef struct range {
    expr *first;
    expr *last;            /* NULL: a lone expression */
    bool  half_open;
    span  where;
} range;

/* One argument of a call: positional (name NULL), named, or a function literal `fn(x, y) = e`. */
typedef struct argument {
    const char *name;              /* NULL: positional */
    expr       *value;             /* the value, or the body of the function literal */
    bool        is_function;
    name_list parameters; /* of the function literal */
    span        where;
} argument;
typedef LIST(argument) argument_list;

/* `i in a..b` or `(x, y) in src`. */
typedef struct binder {
    name_list names;
    bool  is_tuple;
    range over;
    span  where;
} binder;
typedef LIST(binder) binder_list;

/* No tree is deeper than this: what would be is an error of the parser, so that walkers may recurse. */
enum { MAX_EXPR_DEPTH = 1000 };

struct expr {
    expr_kind kind;
    uint32_t  depth;       /* 1 for a leaf */
    bool      new_line;    /* written on another line than what stands before it in its list, operator or definition, for fmt */
    bool      tight;       /* of a product or power: written without spaces, for fmt */
    span      where;
    union {
        const char *name;
        struct { uint32_t value; const char *text; } integer;
        struct { float value; const char *text; } number;
        struct { unary_op op; expr *operand; } unary;
        struct { binary_op op; expr *left, *right; } binary;
        struct { expr *condition, *yes, *no; } select;
        expr_list list;
        expr *paren;
        struct { expr *object; const char *name; } member;
        struct { expr *object; const char *name; argument_list args; } method;
        struct { expr *object; expr_list indices; } index;
        struct { const char *name; argument_list args; span name_where; } call;
        struct { const char *name; binder_list binders; expr *where; expr *value; span name_where; } reduce;
    };
};

/* ---- types and parameters -------------------------------------------------------------------- */

/* `u8x3`, `image u8x3`, `f32[C, W, _]`; the element's name is resolved by the frontend. */
typedef struct type_expr {
    const char *element;
    bool        is_image;
    expr_list   extents;      /* of an array; `_` is an EXPR_NAME "_" */
    span        where;
} type_expr;

typedef struct parameter {
    const char *name;
    const char *doc;           /* joined ## lines, or NULL */
    type_expr  *type;          /* NULL: not given */
    expr       *value;         /* the default, or NULL */
    range      *in;            /* or NULL */
    name_list   comments;      /* `#` lines above */
    const char *trailing;      /* a `#` comment on the same line, or NULL */
    span        where;
} parameter;
typedef LIST(parameter) parameter_list;

/* ---- statements ------------------------------------------------------------------------------ */

typedef struct annotation { const char *name; argument_list args; span where; } annotation;
typedef LIST(annotation) annotation_list;

/* One dimension on the left of an indexed definition: `x`, `z in 0..<32`, `(x, y) in src`, or a list index `k - 1`. */
typedef struct dimension { expr *index; range *in; span where; } dimension;
typedef LIST(dimension) dimension_list;

typedef enum stmt_kind {
    STMT_DEFINE,      /* define: name [dims] [dims] [: type] = value */
    STMT_FOR,         /* loop */
    STMT_CONST,       /* constant */
    STMT_RETURN       /* values */
} stmt_kind;

struct stmt {
    stmt_kind       kind;
    span            where;
    annotation_list annotations;
    name_list comments;   /* `#` lines above, for fmt; without the leading #; NULL is an empty line */
    const char     *trailing;      /* a `#` comment on the same line, or NULL */
    bool            blank_before;  /* a blank line stood above, for fmt */
    union {
        struct {
            const char *name; span name_where;
            uint32_t assign_column;            /* of the `=`, for fmt */
            bool has_dims, has_second;         /* name[..] = , name[..][..] = */
            dimension_list dims, second;
            type_expr *type; expr *value;
        } define;
        struct { const char *name; range over; stmt_list body; name_list last_comments; } loop;   /* comments above `}` */
        struct { const char *name; expr *value; } constant;
        expr_list values;
    };
};

/* ---- items ----------------------------------------------------------------------------------- */

typedef enum item_kind { ITEM_IMPORT, ITEM_CONST, ITEM_FN, ITEM_PIPE } item_kind;

typedef struct output { const char *name; type_expr *type; span where; } output;   /* name NULL: the only one */
typedef LIST(output) output_list;

typedef struct item {
    item_kind       kind;
    span            where, name_where;
    const char     *name;          /* of a const, fn or pipe; the path of an import */
    const char     *doc;           /* or NULL */
    annotation_list annotations;   /* of a pipe */
    name_list comments;
    const char     *trailing;
    bool            blank_before;
    parameter_list  params;        /* fn, pipe */
    bool            params_on_lines;   /* written with a line for each, for fmt */
    output_list     outputs;       /* pipe */
    bool            outputs_named;
    type_expr      *result;        /* fn, or NULL */
    expr           *value;         /* const; fn written with `=` */
    stmt_list       body;          /* fn or pipe written with a block */
    bool            has_block;
    name_list       last_comments; /* above the `}` of the block */
} item;

typedef struct file {
    uint32_t   source;             /* index in diags.sources */
    LIST(item *) items;
    name_list last_comments;   /* after the last item */
} file;

/* Parses one source; errors go to `d`, and what could be read is returned all the same. */
file *parse_file(arena *memory, interner *names, diags *d, uint32_t source_index);

const char *binary_op_spelling(binary_op op);      /* "+", "and" */

/* The canonical layout (`halo fmt`); only for files that parsed without errors. */
void format_file(const file *f, text *out);

/* The tree as an indented text (`halo show --stage ast`). */
void print_ast(const file *f, text *out);

#endif
