/* SPDX-License-Identifier: MIT
 * The struct of parameters that a compiled pipe takes. Apart from the rest, because the driver's headers have names of their own. */
#ifndef HALO_TESTS_VULKAN_TRIAL_PARAMS_H
#define HALO_TESTS_VULKAN_TRIAL_PARAMS_H

#include "lowering/tensor.h"

/* `bits` NULL: the defaults. Lives in `memory`. */
void *trial_params(const int32_t *plan, const tensor_pipe *p, const uint32_t (*bits)[TENSOR_MAX_LANES], arena *memory);

#endif
