/* SPDX-License-Identifier: MIT
 * The Vulkan host path below the facade: the loader, found at run time; devices; buffers; and the pipes that run there.
 * Nothing here is shared between devices, and there is no global state. */
#ifndef HALO_RUNTIME_VULKAN_H
#define HALO_RUNTIME_VULKAN_H

#include "backends/vulkan/vulkan.h"
#include "halo/halo.h"

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

/* ---- buffers (vulkan_buffer.c) ------------------------------------------------------------------ */

typedef enum vulkan_place {
    VULKAN_PLACE_device,                 /* fastest for the device; mapped where `device->direct` */
    VULKAN_PLACE_upload,                 /* written by the host */
    VULKAN_PLACE_download                /* read by the host */
} vulkan_place;

typedef struct vulkan_buffer {
    VkBuffer       handle;
    VkDeviceMemory memory;
    VkDeviceSize   bytes;
    void          *mapped;               /* or NULL */
} vulkan_buffer;

/* At least so large from now on; what it held is lost when it has to grow. A code of Vulkan. */
VkResult vulkan_buffer_reserve(halo_device *device, vulkan_buffer *b, vulkan_place place, VkDeviceSize bytes);
void     vulkan_buffer_free(halo_device *device, vulkan_buffer *b);

/* ---- pictures in buffers (vulkan_picture.c) ------------------------------------------------------ */

/* A dense picture as it lies in a buffer: rows begin at whole words. */
typedef struct vulkan_picture {
    int32_t      extent[HALO_MAX_RANK];
    int64_t      stride[HALO_MAX_RANK];
    int32_t      pixel_bytes;
    VkDeviceSize bytes;                  /* a multiple of 4 */
} vulkan_picture;

vulkan_picture vulkan_picture_of(const int32_t *extent, int32_t pixel_bytes);
/* Pixels of a part (NULL: all) from the host's picture to a buffer, and back. */
void vulkan_picture_upload(const vulkan_picture *p, const halo_part *part, const halo_image *from, void *to);
void vulkan_picture_download(const vulkan_picture *p, const halo_part *part, const void *from, const halo_image *to);
/* The bytes of the buffer from the part's first pixel to its last. */
void vulkan_picture_range(const vulkan_picture *p, const halo_part *part, VkDeviceSize *first, VkDeviceSize *count);

/* ---- pipes (vulkan_pipe.c, vulkan_run.c) --------------------------------------------------------- */

typedef struct vulkan_run vulkan_run;    /* all that one run needs, kept for the next */

typedef struct vulkan_pipe {
    halo_device         *device;
    const vulkan_module *module;
    haloi_vulkan        *handle;
    double               create_ms;      /* compiling the pipelines */
    const halo_signature *signature;
    pthread_mutex_t      lock;
    vulkan_run          *idle;           /* a list */
} vulkan_pipe;

/* Starts a run: what is in `inputs` has been taken when it returns. NULL: *code says why. `params`, `failed` as for the driver. */
vulkan_run *vulkan_begin(vulkan_pipe *pipe, const halo_image *inputs, const void *params, const halo_image *outputs,
                         const halo_part *part, const halo_exec *exec, int *code, int32_t *failed);
/* Waits for it and fills the outputs. */
int  vulkan_end(vulkan_pipe *pipe, vulkan_run *run, halo_times *times);
/* Of each input, what a part of the outputs takes. */
int  vulkan_needs(const vulkan_pipe *pipe, const halo_image *inputs, const void *params, const halo_part *part, halo_part *needs,
                  int32_t *failed);
/* Extents of the outputs. */
int  vulkan_size(const vulkan_pipe *pipe, const halo_image *inputs, const void *params, halo_image *outputs, int32_t *failed);
/* Frees those that are idle. */
void vulkan_runs_free(vulkan_pipe *pipe);
double vulkan_now_ms(void);

#endif
