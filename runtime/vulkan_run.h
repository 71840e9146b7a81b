/* SPDX-License-Identifier: MIT
 * A run on a device from the inside: what vulkan_run.c keeps, and vulkan_record.c records and submits. */
#ifndef HALO_RUNTIME_VULKAN_RUN_H
#define HALO_RUNTIME_VULKAN_RUN_H

#include "runtime/vulkan.h"

enum { MARK_begin, MARK_uploaded, MARK_computed, MARK_end, N_MARKS };

struct vulkan_run {
    vulkan_run      *next;
    VkCommandPool    commands_pool;
    VkCommandBuffer  commands;
    VkFence          fence;
    VkQueryPool      marks;                  /* timestamps */
    VkDescriptorPool sets;
    uint32_t         n_sets, n_storage_buffers;      /* its room */
    vulkan_buffer   *buffers;                /* inputs, then outputs */
    vulkan_picture  *pictures;
    halo_vulkan_image *images;
    const halo_vulkan_image **image_at;
    vulkan_buffer    scratch, upload, download;
    halo_image      *outputs;                /* the host's, of the run at hand */
    halo_part        part;
    bool             has_part;
    halo_part       *taken;                  /* of each input */
    halo_exec        exec;                   /* the host's callbacks, which it may have on its stack while the run begins */
    bool             is_done;                /* nothing to wait for */
    halo_times       times;
};

typedef struct recording {
    vulkan_pipe       *pipe;
    vulkan_run        *run;
    const void        *params;
    halo_vulkan_needs  needs;
    halo_vulkan_slice  slice;
    bool               is_first, is_last;    /* of the submissions of this run: inputs go in, outputs come out */
    bool               whole;                /* the slice is all */
    int32_t           *failed;
} recording;

static inline size_t n_inputs(const vulkan_pipe *pipe) { return pipe->signature->n_inputs; }
static inline size_t n_pictures(const vulkan_pipe *pipe) { return pipe->signature->n_inputs + pipe->signature->n_outputs; }

/* Dimensions that a picture doesn't have are none of a part's. */
halo_part vulkan_part_of_rank(const halo_part *part, int32_t rank);
int       vulkan_code(VkResult result);                    /* of halo.h */

/* A code of halo.h each. */
int vulkan_record(const recording *r);
int vulkan_submit(const recording *r);
int vulkan_wait(vulkan_pipe *pipe, vulkan_run *run);       /* adds what the submission took to the run's times */

#endif
