/* SPDX-License-Identifier: MIT
 * What an expression of a script can be while it is lowered: a pixel, an image with its pad, a list, a called pipe's outputs.
 *
 * An image is two things: its *content* (pixels over a rectangle, shared by everybody who names it) and its pad (who answers
 * outside, a property of the value). Content stays a bare expression over its own coordinates as long as it is only used pixel
 * by pixel, so that chains of operators meet in one stage; it becomes a stage once somebody needs it at other coordinates. */
#ifndef HALO_FRONTEND_VALUES_H
#define HALO_FRONTEND_VALUES_H

#include "frontend/frontend.h"

enum {
    MAX_DEPTH = 1200,            /* nested expressions, calls included: keeps the C stack small */
    MAX_CALLS = 120,             /* nested calls of functions and pipes */
    MAX_ROUNDS = 10000,          /* of all `for`s of a pipe */
    MAX_NODE_DEPTH = 4000,       /* of the expression of one pixel */
    MAX_BODY_DEPTH = 600,        /* a deeper image becomes a stage, so that nobody who walks a body needs much stack */
    MAX_NODES = 2000000,         /* of a pipe's IR */
    MAX_EVALUATIONS = 8000000,   /* of expressions, those of functions counted at every call */
    MAX_ELEMENTS = 65536,        /* of an array literal */
    MAX_OPERANDS = 8             /* of one lifted operation */
};

typedef struct scope scope;
typedef struct module module;
typedef struct image image;
typedef struct value_list value_list;
typedef struct output_values output_values;

typedef enum value_kind {
    VALUE_error,        /* was reported; silences whatever uses it */
    VALUE_scalar,       /* node: a number or pixel, the same everywhere or in the coordinates at hand */
    VALUE_image,        /* image */
    VALUE_list,         /* list */
    VALUE_outputs       /* outputs of a called pipe with several */
} value_kind;

typedef struct value {
    uint8_t kind;
    bool    literal;             /* scalar: made of whole-number literals alone, so it takes the other side's type where it fits */
    type    type;                /* scalar; image: what a read gives (with its pad) */
    ref     node;                /* scalar */
    union {
        image         *image;
        value_list    *list;
        output_values *outputs;
    };
} value;

/* Pixels over a rectangle. */
typedef struct content {
    uint8_t     rank;
    type        type;
    ref         lo[TENSOR_MAX_RANK], hi[TENSOR_MAX_RANK];    /* the domain: uniform, inclusive */
    ref         body;            /* over coord(0) ... coord(rank-1); 0 while only `elements` exist */
    bool        heavy;           /* a convolution: never copied into the bodies that use it */
    uint32_t    stage;           /* 0: not a stage so far */
    value      *elements;        /* of an array literal, dimension 0 fastest; else NULL */
    const char *name;            /* for messages and stage names; NULL: unnamed */
    span        where;
} content;

/* Who answers outside along one axis. */
typedef struct pad_axis {
    uint8_t         mode;        /* border */
    value           constant;    /* BORDER_value without a function */
    const argument *function;    /* BORDER_value: `fn(x, y) = e`, in the names of `scope` */
    scope          *scope;
} pad_axis;

struct image {
    content  *content;
    bool      padded;            /* some axis has a mode */
    pad_axis  axis[TENSOR_MAX_RANK];
    ref       moved[TENSOR_MAX_RANK];   /* what to add to a coordinate before a pad's function sees it (origin); 0: nothing */
};

struct value_list { const char *name; LIST(int32_t) indices; LIST(value) values; };
struct output_values { const item *pipe; const char **names; value *values; int count; };

static inline value error_value(void) { return (value){ .kind = VALUE_error }; }
static inline bool is_error(value v) { return v.kind == VALUE_error; }
static inline bool is_scalar(value v) { return v.kind == VALUE_scalar; }
static inline bool is_image(value v) { return v.kind == VALUE_image; }

#endif
