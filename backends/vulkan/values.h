/* SPDX-License-Identifier: MIT
 * The uniform program: what depends on sizes and parameters alone, as the instructions that the driver runs before a dispatch. */
#ifndef HALO_BACKENDS_VULKAN_VALUES_H
#define HALO_BACKENDS_VULKAN_VALUES_H

#include "backends/vulkan/plan.h"
#include "lowering/tensor.h"

typedef struct vulkan_values {
    arena       *memory;
    tensor_pipe *pipe;
    LIST(vplan_instruction) code;      /* instruction 0 makes 0 */
    LIST(ref)    made_of;              /* per instruction: the node */
    LIST(int32_t) of;                  /* per node and lane: 1 + the value, or 0 */
} vulkan_values;

void values_begin(vulkan_values *v, arena *memory, tensor_pipe *p);
/* The number of the value of a lane of a uniform node. */
int32_t value_of(vulkan_values *v, ref r, int lane);

#endif
