/* SPDX-License-Identifier: MIT
 * Which pictures can be VkImages, and in which format. */
#ifndef HALO_BACKENDS_VULKAN_IMAGES_H
#define HALO_BACKENDS_VULKAN_IMAGES_H

#include "backends/vulkan/schedule.h"
#include "backends/vulkan/spirv.h"

typedef struct vulkan_format { SpvImageFormat spirv; const char *name; /* VK_FORMAT_ */ } vulkan_format;
/* NULL: no image holds such pixels. Three components lie in four. */
const vulkan_format *vulkan_format_of(type t);

static inline bool vulkan_is_image(const vulkan_memory *m)
{
    return m->layout == VPLAN_LAYOUT_image || m->layout == VPLAN_LAYOUT_sampled;
}

#endif
