/* SPDX-License-Identifier: MIT
 * The Vulkan host path below the facade: the loader, found at run time; devices; buffers; and the pipes that run there.
 * Nothing here is shared between devices, and there is no global state. */
#ifndef HALO_RUNTIME_VULKAN_H
#define HALO_RUNTIME_VULKAN_H

#include "halo/halo.h"
#include "halo/vulkan_abi.h"

#include <pthread.h>
#include <stdbool.h>

/* ---- instances (vulkan_instance.c) ------------------------------------------------------------- */

typedef struct vulkan_instance {
    void      *library;                  /* libvulkan */
    VkInstance handle;
    PFN_vkGetInstanceProcAddr find;
    VkDebugUtilsMessengerEXT messenger;
#define GLOBAL(name) PFN_vk##name name;
#define INSTANCE(name) PFN_vk##name name;
#define DEVICE(name)
#include "runtime/vulkan_functions.def"
#undef GLOBAL
#undef INSTANCE
#undef DEVICE
} vulkan_instance;

/* `o` (may be NULL): who hears what the validation layer says. False with a message; close it all the same. */
bool vulkan_instance_open(vulkan_instance *v, const halo_device_options *o, halo_message *error);
void vulkan_instance_close(vulkan_instance *v);

/* ---- what devices can do (vulkan_list.c) ------------------------------------------------------- */

typedef struct vulkan_physical {
    VkPhysicalDevice           handle;
    VkPhysicalDeviceProperties properties;
    VkPhysicalDeviceMemoryProperties memory;
    uint32_t                   family;             /* of the queue that computes */
    uint32_t                   timestamp_bits;
    bool                       is_llvmpipe;
    bool                       storage_8bit, storage_16bit, int64;
    halo_device_info           info;               /* its strings are below */
    char                       driver[VK_MAX_DRIVER_NAME_SIZE + VK_MAX_DRIVER_INFO_SIZE];
} vulkan_physical;

/* All devices of an instance, for free(). NULL with a message; none at all is no error. */
vulkan_physical *vulkan_physicals(const vulkan_instance *v, uint32_t *n, halo_message *error);

/* ---- devices (vulkan_device.c) ----------------------------------------------------------------- */

struct halo_device {
    halo_device_options options;                  /* without its strings */
    vulkan_instance    instance;
    vulkan_physical    physical;
    halo_vulkan_device about;                      /* what the driver of pipes may count on */
    VkDevice           handle;
    VkQueue            queue;
    pthread_mutex_t    queue_lock;                 /* one submission at a time */
    VkPipelineCache    cache;
    char              *cache_path;                 /* its file, or NULL */
    uint64_t           cache_hash;                 /* of what was read from there */
    bool               direct;                     /* the host writes and reads the device's own memory */
#define GLOBAL(name)
#define INSTANCE(name)
#define DEVICE(name) PFN_vk##name name;
#include "runtime/vulkan_functions.def"
#undef GLOBAL
#undef INSTANCE
#undef DEVICE
};

/* ---- the file of compiled pipelines (vulkan_cache.c) ------------------------------------------- */

void vulkan_cache_open(halo_device *device, const char *folder);       /* what can't be read is as if it weren't there */
void vulkan_cache_close(halo_device *device);                          /* writes it when it has changed */

#endif
