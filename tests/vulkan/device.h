/* SPDX-License-Identifier: MIT
 * A Vulkan device for tests: compute shaders over words, run to the end. The validation layer is on, and every message counts as
 * a failure of the test. */
#ifndef HALO_TESTS_VULKAN_DEVICE_H
#define HALO_TESTS_VULKAN_DEVICE_H

#include <stdbool.h>
#include <stdint.h>

#include <vulkan/vulkan_core.h>

typedef struct test_device {
    VkInstance       instance;
    VkDebugUtilsMessengerEXT messenger;
    VkPhysicalDevice physical;
    VkDevice         device;
    VkQueue          queue;
    uint32_t         family;
    VkCommandPool    pool;
    VkPhysicalDeviceProperties properties;
    bool             int64, storage8, storage16, image_formats;      /* what there was, and is enabled */
    int              n_messages;                       /* of the validation layer, printed on stderr */
} test_device;

/* Prefers a device of the processor's: only there division and roots have to be exact. False, after a line on stderr, when there
 * is none. */
bool test_device_open(test_device *d);
void test_device_close(test_device *d);

/* A storage buffer, mapped. */
typedef struct test_buffer { VkBuffer buffer; VkDeviceMemory memory; void *bytes; uint64_t n_bytes; } test_buffer;
test_buffer test_buffer_new(test_device *d, uint64_t n_bytes);
void        test_buffer_free(test_device *d, test_buffer *b);

/* Runs `main` of the module with buffer k at binding k, and waits. */
bool test_device_run(test_device *d, const uint32_t *spirv, uint32_t n_words, const test_buffer *buffers, uint32_t n_buffers,
                     const uint32_t *push, uint32_t n_push, uint32_t n_groups);

#endif
