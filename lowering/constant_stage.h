/* SPDX-License-Identifier: MIT
 * Stages whose pixels are known when the script is compiled: kernels, curves, tables of constants. */
#ifndef HALO_LOWERING_CONSTANT_STAGE_H
#define HALO_LOWERING_CONSTANT_STAGE_H

#include "lowering/tensor.h"

typedef struct constant_stages { bool *known; uint32_t count; } constant_stages;

/* Tables, and compute stages of constant bounds that use nothing but constants, coordinates and such stages, as long as they are
 * small: at most 65536 pixels and half a million steps of the interpreter. */
constant_stages constant_stages_of(tensor_pipe *p);
/* The words of a known stage, as a table has them; computed now unless it is a table. NULL when that fails. */
const uint32_t *constant_words(tensor_pipe *p, uint32_t stage);
/* The bounds of a known stage. */
void constant_bounds(const tensor_pipe *p, uint32_t stage, int32_t *lo, int32_t *extent);

#endif
