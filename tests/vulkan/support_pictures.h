/* SPDX-License-Identifier: MIT
 * Pictures on a device in every layout: filled from dense pixels of the host and read back to such, components side by side. */
#ifndef HALO_TESTS_VULKAN_SUPPORT_PICTURES_H
#define HALO_TESTS_VULKAN_SUPPORT_PICTURES_H

#include "device.h"

#include "backends/vulkan/plan.h"
#include "lowering/tensor.h"

typedef struct picture {
    int               layout;          /* VPLAN_LAYOUT_ */
    int               bytes, lanes;    /* of a component; in memory */
    int32_t           width, height;
    test_buffer       buffer;          /* the pixels, or what is copied into and out of the image */
    VkImage           image;
    VkDeviceMemory    memory;
    halo_vulkan_image abi;             /* as the driver is given it */
} picture;

/* Every byte is 0x5a. Images: 3 components lie in 4. */
picture picture_new(test_device *d, int layout, type t, int32_t width, int32_t height);
void    picture_free(test_device *d, picture *p);
/* Component `l` of a pixel in the buffer. */
uint8_t *picture_component(const picture *p, int32_t x, int32_t y, int l);
void     picture_put(picture *p, type t, const uint8_t *dense);
void     picture_get(const picture *p, type t, uint8_t *dense);

/* A command buffer that copies into images before, and back into buffers after. */
VkCommandBuffer commands_begin(test_device *d);
void picture_before(picture *p, VkCommandBuffer commands);
void picture_after(picture *p, VkCommandBuffer commands);
bool commands_run(test_device *d, VkCommandBuffer commands);

#endif
