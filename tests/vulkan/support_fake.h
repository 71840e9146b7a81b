/* SPDX-License-Identifier: MIT
 * A Vulkan device that does nothing but take notes: what was made and unmade, which commands stand in a command buffer. */
#ifndef HALO_TESTS_VULKAN_SUPPORT_FAKE_H
#define HALO_TESTS_VULKAN_SUPPORT_FAKE_H

#include <stdbool.h>

#include "halo/vulkan_abi.h"

enum { FAKE_MOST = 4096, FAKE_MOST_SETS = 512, FAKE_MOST_PIPELINES = 32 };

typedef enum fake_kind { FAKE_bind, FAKE_dispatch, FAKE_barrier, FAKE_update } fake_kind;

typedef struct fake_command {
    fake_kind  kind;
    int        pipeline;                       /* bind, dispatch: number, in the order in which they were made */
    int        set;                            /* dispatch: number of the set that is bound */
    uint32_t   push[32];                       /* dispatch: as they are then */
    uint32_t   groups[3];
    VkPipelineStageFlags from, to;             /* barrier */
    VkDeviceSize at, bytes;                    /* update */
    uint32_t   first_word, last_word;
} fake_command;

typedef struct fake_pipeline {
    uint32_t constants[256], n_constants;
    size_t   code_bytes;
    const uint32_t *code;
} fake_pipeline;

typedef struct fake_set {
    VkDescriptorBufferInfo buffers[96];
    VkDescriptorImageInfo  views[96];
    VkDescriptorType       types[96];
    int n;
} fake_set;

typedef struct fake {
    fake_command commands[FAKE_MOST];
    int          n_commands;
    fake_pipeline pipelines[FAKE_MOST_PIPELINES];
    int          n_pipelines;
    fake_set     sets[FAKE_MOST_SETS];
    int          n_sets;
    int          alive;                        /* made and not destroyed: modules, layouts, pipelines */
    int          fail_at;                      /* the making call that fails, from 1 on; 0: none */
    int          n_made;
    int          pool_sets;                    /* sets that the pool has left */
    const char  *lacks;                        /* a function that the loader doesn't find */
    int          bound_pipeline, bound_set;
    uint32_t     push[32];
} fake;

void fake_begin(fake *f);
static inline VkDevice fake_device(fake *f) { return (VkDevice)(void *)f; }
static inline VkCommandBuffer fake_commands(fake *f) { return (VkCommandBuffer)(void *)f; }
/* Forgets commands and sets. */
void fake_reset(fake *f);
VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL fake_loader(VkDevice device, const char *name);

/* A device with the limits that every one has at least. */
halo_vulkan_device fake_least_device(void);
int fake_count(const fake *f, fake_kind kind);

#endif
