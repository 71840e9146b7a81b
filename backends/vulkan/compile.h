/* SPDX-License-Identifier: MIT
 * Inside the backend: a schedule whose kernels have code, and writing it down. */
#ifndef HALO_BACKENDS_VULKAN_COMPILE_H
#define HALO_BACKENDS_VULKAN_COMPILE_H

#include "backends/vulkan/emit.h"

vulkan_schedule *vulkan_schedule_compiled(tensor_pipe *p, const vulkan_options *options, const diags *d, arena *memory);
/* plan_write.c: fills the module. */
void vulkan_plan_write(vulkan_schedule *s, vulkan_module *m);

#endif
