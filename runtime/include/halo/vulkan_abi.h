/* SPDX-License-Identifier: MIT
 * The plain data shared by generated Vulkan libraries and their hosts. The text between the guards stands, word for word, in
 * every generated NAME_vulkan.h, beside that of abi.h. Include <vulkan/vulkan_core.h> (or vulkan.h) first, or have it here. */
#ifndef HALO_VULKAN_ABI_H
#define HALO_VULKAN_ABI_H
#include <vulkan/vulkan_core.h>
#include "halo/abi.h"
#ifndef HALO_VULKAN_ABI_1
#define HALO_VULKAN_ABI_1

/* A picture or array in a VkBuffer, or in a VkImage where the library was built for one (--layout NAME=image or =sampled).
 * The library keeps neither. */
typedef struct halo_vulkan_image {
    VkBuffer     buffer;       /* usage STORAGE_BUFFER; VK_NULL_HANDLE for images */
    VkDeviceSize offset;       /* of the pixel at (0, 0, ...), in bytes; a multiple of the component's size */
    VkDeviceSize size;         /* bytes of the buffer that may be read (written), counted from `first` */
    VkDeviceSize first;        /* where those begin: 0, unless the bytes before are none of the library's business */
    int32_t      extent[5];    /* width, height, ... in pixels; 1 beyond the rank */
    int64_t      stride[5];    /* bytes from one pixel to the next along each dimension; may be negative */
    int32_t      padded_rows;  /* outputs: the bytes from a row's end to the next whole word are the library's to overwrite. Only
                                * devices without 8 or 16-bit storage want this, for rows whose length is no multiple of 4 */
    VkImageView  view;         /* for images: 2-D, one level, one layer, with pixel (0, 0, ...) at (0, 0); buffer fields are 0. A storage
                                * image has the format that NAME_vulkan.h says; a sampled one that, or another whose components are the
                                * same numbers (B8G8R8A8_UNORM, say). In layout GENERAL, if sampled in `view_layout`, whenever the
                                * recorded commands run. Of an output no view overlaps an input or other output: only equal views are
                                * found out */
    VkImageLayout view_layout; /* sampled: GENERAL, or 0 for SHADER_READ_ONLY_OPTIMAL */
} halo_vulkan_image;

/* What the library may count on. */
typedef struct halo_vulkan_device {
    VkPhysicalDeviceLimits limits;       /* as the device reports them (or less) */
    VkBool32 storage_8bit;               /* enabled: storageBuffer8BitAccess */
    VkBool32 storage_16bit;              /* enabled: storageBuffer16BitAccess */
    VkBool32 shader_int64;               /* enabled: shaderInt64 (only pipes that say so need it) */
    VkBool32 storage_image_extended;     /* enabled: shaderStorageImageExtendedFormats (only for images of some formats) */
    uint32_t most_workgroups;            /* in one dimension of one dispatch, when less than the limits say; 0: as they say */
    uint32_t most_loop_iterations;       /* of one invocation, in all loops together, where a driver stops after so many (llvmpipe:
                                          * 65535); 0: no limit */
    const VkAllocationCallbacks *allocator;      /* may be NULL */
} halo_vulkan_device;

/* What one recording takes. The pool's flags are the host's business; sets are allocated with vkAllocateDescriptorSets and never
 * freed: reset the pool when the command buffer is done. */
typedef struct halo_vulkan_needs {
    VkDeviceSize scratch_bytes;          /* of a buffer with scratch_usage; 0: none */
    VkDeviceSize scratch_alignment;      /* of the offset into it */
    VkBufferUsageFlags scratch_usage;
    VkBufferUsageFlags input_usage, output_usage;                        /* of those in buffers */
    VkImageUsageFlags  input_image_usage, output_image_usage;            /* of those in images, taken together */
    uint32_t sets, storage_buffers, storage_images, sampled_images;      /* in a pool, for one recording */
    uint64_t workgroups;                 /* of all dispatches, one after another: what halo_vulkan_slice counts */
    /* First use and last write of inputs, outputs and scratch: for the host's barriers around the recorded commands. */
    VkPipelineStageFlags first_stages, last_stages;
    VkAccessFlags        first_accesses, last_accesses;
} halo_vulkan_needs;

typedef struct halo_vulkan_resources {
    VkDescriptorPool pool;               /* one per thread */
    VkBuffer         scratch;            /* VK_NULL_HANDLE when none is needed. Not to be used by two recordings at a time */
    VkDeviceSize     scratch_offset;
} halo_vulkan_resources;

/* Workgroups `first` to `first + count - 1` of a recording only: so a long run becomes several short submissions, in order, with
 * the same arguments and scratch, and can be given up between them. */
typedef struct halo_vulkan_slice { uint64_t first, count; } halo_vulkan_slice;

/* Codes beside those of halo_image's functions. */
enum { HALO_VULKAN_ERROR_DEVICE = 100,   /* a Vulkan function failed (out of memory, device lost, pool exhausted) */
       HALO_VULKAN_ERROR_FEATURE,        /* a feature or limit that the pipe needs is missing: NAME_vulkan_missing says which */
       HALO_VULKAN_ERROR_RANGE,          /* what is taken of a picture is more than maxStorageBufferRange, or than 2^31 components */
       HALO_VULKAN_ERROR_BUFFER,         /* what is taken of a picture doesn't lie between its `first` byte and first + size */
       HALO_VULKAN_ERROR_WORDS,          /* without 8 or 16-bit storage: an output's rows don't begin, or end, at whole words */
       HALO_VULKAN_ERROR_LOOPS,          /* more loop iterations than most_loop_iterations */
       HALO_VULKAN_ERROR_SCRATCH };      /* scratch is missing or misaligned */

#endif
#endif
