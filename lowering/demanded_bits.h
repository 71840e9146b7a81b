/* SPDX-License-Identifier: MIT
 * How many low bits of every stage's whole-number pixels its readers look at. Sums and products pass the question on to their
 * operands; whoever compares, divides, saturates or converts to a real number looks at all of them. */
#ifndef HALO_LOWERING_DEMANDED_BITS_H
#define HALO_LOWERING_DEMANDED_BITS_H

#include "lowering/tensor.h"

enum { ALL_BITS = 64 };

/* One number a stage, in `memory`; 0 for a stage that nobody reads. */
const uint8_t *demanded_bits(tensor_pipe *p, arena *memory);

#endif
