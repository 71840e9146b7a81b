/* SPDX-License-Identifier: MIT
 * The struct of a pipe's parameters, as C lays it out: natural alignment, members in order. */
#ifndef HALO_LOWERING_PARAMS_H
#define HALO_LOWERING_PARAMS_H

#include "lowering/tensor.h"

/* Returns the struct's size in bytes; offsets, one per parameter, may be NULL. */
size_t params_layout(const tensor_pipe *p, int32_t *offsets);

#endif
