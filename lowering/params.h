/* SPDX-License-Identifier: MIT
 * The struct of a pipe's parameters, as C lays it out: natural alignment, members in order. */
#ifndef HALO_LOWERING_PARAMS_H
#define HALO_LOWERING_PARAMS_H

#include "lowering/tensor.h"

/* Returns the struct's size in bytes; offsets, one per parameter, may be NULL. */
size_t params_layout(const tensor_pipe *p, int32_t *offsets);
/* Writes parameters, 4 words of bits each, as that struct. Returns its size; `out` may be NULL. */
size_t params_pack(const tensor_pipe *p, const uint32_t (*params)[TENSOR_MAX_LANES], void *out);
/* The defaults, 0 for parameters without one; false when there are such. */
bool params_pack_defaults(const tensor_pipe *p, void *out);

#endif
