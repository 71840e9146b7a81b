/* SPDX-License-Identifier: MIT
 * Values inside the interpreter: one cell per component, in f32 arithmetic or, run "as written", with doubles for reals. */
#ifndef HALO_LOWERING_INTERPRET_VALUE_H
#define HALO_LOWERING_INTERPRET_VALUE_H

#include "lowering/tensor.h"

typedef union cell { int64_t i; float f; double d; } cell;    /* d instead of f when run as written */

typedef struct pixel { cell lane[TENSOR_MAX_LANES]; } pixel;

typedef struct arithmetic { bool as_written, strict; } arithmetic;

cell cell_of_bits(arithmetic how, kind k, uint32_t bits);
cell cell_cast(arithmetic how, cell a, kind from, kind to);

/* Ops of every class but the structural leaves, load and result. `from`: the type of the first operand. */
void node_evaluate(arithmetic how, const tensor_node *n, type from, const pixel *const *args, pixel *out);

/* How a stage's components lie in memory: as its kind, or as doubles. */
typedef enum encoding { ENCODING_kind, ENCODING_double } encoding;
int  encoded_bytes(encoding e, kind k);
cell cell_decode(arithmetic how, encoding e, kind k, const void *at);
void cell_encode(arithmetic how, encoding e, kind k, cell value, void *at);

#endif
