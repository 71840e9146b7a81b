/* SPDX-License-Identifier: MIT
 * The nodes under an expression in an order to compute them: operands first, and each in the innermost fold whose binders or
 * accumulators it depends on. What doesn't depend on a fold stands outside it, so it is computed once. Printer, interpreter
 * and backends walk bodies this way. */
#ifndef HALO_LOWERING_BODY_H
#define HALO_LOWERING_BODY_H

#include "lowering/tensor.h"

typedef struct body_scope {
    uint32_t fold;                        /* 0: scope 0, the expression itself */
    uint32_t parent;                      /* the scope that runs this fold */
    LIST(uint32_t) nodes;                 /* numbers in body.nodes, in order; the first of a fold's results is where it runs */
    uint32_t n_where;                     /* so many nodes at the start are what `where` needs */
    uint32_t results[TENSOR_MAX_ACCS];    /* numbers of the result nodes; BODY_NONE when nobody asks for that one */
} body_scope;

typedef struct scope_set { uint32_t n; uint32_t items[]; } scope_set;

typedef struct body_node {
    ref node;
    uint32_t scope;                       /* where it is computed */
    const scope_set *needs;               /* every scope it depends on, ascending; NULL for none */
} body_node;

enum { BODY_NONE = UINT32_MAX };

/* Sparse sets, so that a pipe of ten thousand stages needs one pair of big arrays. */
typedef struct body {
    arena *memory;
    const tensor_pipe *pipe;
    LIST(body_node)  nodes;
    LIST(body_scope) scopes;
    uint32_t *number_of_node, *scope_of_fold;
    LIST(ref) stack;
    bool skip_bounds;                     /* leave out folds' bounds (uniform, so they decide nothing); set after body_begin */
} body;

/* The pipe may not change between begin and the last use. */
void body_begin(body *b, arena *memory, const tensor_pipe *p);
void body_clear(body *b);
void body_add(body *b, ref root);                       /* after body_clear: as many roots as you like */
uint32_t body_number(const body *b, ref r);             /* BODY_NONE when it isn't in the body */
uint32_t body_fold_scope(const body *b, uint32_t fold); /* BODY_NONE likewise */

#endif
