/* SPDX-License-Identifier: MIT
 * Between the files of the IR printer: its state, and the pieces that both need. */
#ifndef HALO_LOWERING_TENSOR_PRINT_H
#define HALO_LOWERING_TENSOR_PRINT_H

#include "lowering/body.h"
#include "lowering/tensor_text.h"

typedef struct binding { const char *name; uint32_t fold; uint8_t op, index; } binding;

typedef struct printer {
    const tensor_pipe *pipe;
    arena *memory;
    text *out;
    body body;
    uint32_t stage;
    LIST(const char *) dim_names;
    LIST(uint32_t) locals;                /* number in the body -> number in the text */
    uint32_t n_locals;
    LIST(binding) bindings;               /* binders and accs in scope */
    const tensor_remark *remarks;
    uint32_t n_remarks;
} printer;

void print_indent(printer *w, int depth);
void print_type(printer *w, type t);
void print_bits(printer *w, kind k, uint32_t bits);         /* bare: where the kind is known from the outside */
void print_remarks(printer *w, uint32_t stage, ref node, int depth);

/* A uniform expression, in parentheses when it binds less than `at_least` (1: never). */
void print_uniform(printer *w, ref r, int at_least);
/* The lines of a compute stage's body, `yield` included. */
void print_body(printer *w, ref root);

#endif
