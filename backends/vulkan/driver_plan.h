/* SPDX-License-Identifier: MIT
 * A plan's words, taken apart; what a driver keeps between calls, and what one call knows. */
#ifndef HALO_BACKENDS_VULKAN_DRIVER_PLAN_H
#define HALO_BACKENDS_VULKAN_DRIVER_PLAN_H

#include "backends/common/driver_math.h"
#include "backends/vulkan/driver_values.h"

typedef struct vulkan_plan {
    const vplan_header      *header;
    const vplan_memory      *memories;
    const vplan_kernel      *kernels;
    const vplan_instruction *instructions;
    const vplan_slot        *slots;
    const vplan_shared      *shared;
    const vplan_binding     *bindings;
    const vplan_read        *reads;
    const int32_t           *sinks;
    const vplan_param       *params;
    const vplan_check       *checks;
    const int32_t           *dims;
    const uint32_t          *table;
} vulkan_plan;

static inline void plan_open(const int32_t *words, vulkan_plan *p)
{
    const vplan_header *h = p->header = (const vplan_header *)words;
    p->memories = (const vplan_memory *)(h + 1);
    p->kernels = (const vplan_kernel *)(p->memories + h->n_memories);
    p->instructions = (const vplan_instruction *)(p->kernels + h->n_kernels);
    p->slots = (const vplan_slot *)(p->instructions + h->n_instructions);
    p->shared = (const vplan_shared *)(p->slots + h->n_slots);
    p->bindings = (const vplan_binding *)(p->shared + h->n_shared);
    p->reads = (const vplan_read *)(p->bindings + h->n_bindings);
    p->sinks = (const int32_t *)(p->reads + h->n_reads);
    p->params = (const vplan_param *)(p->sinks + h->n_sinks);
    p->checks = (const vplan_check *)(p->params + h->n_params);
    p->dims = (const int32_t *)(p->checks + h->n_checks);
    p->table = (const uint32_t *)(p->dims + 2 * h->n_dims);
}

/* ---- between calls ------------------------------------------------------------------------------------ */

#define VULKAN_FUNCTIONS(X)                                                                                             \
    X(CreateShaderModule) X(DestroyShaderModule) X(CreateDescriptorSetLayout) X(DestroyDescriptorSetLayout)             \
    X(CreatePipelineLayout) X(DestroyPipelineLayout) X(CreateComputePipelines) X(DestroyPipeline)                       \
    X(AllocateDescriptorSets) X(UpdateDescriptorSets) X(CmdBindPipeline) X(CmdBindDescriptorSets) X(CmdPushConstants)   \
    X(CmdDispatch) X(CmdPipelineBarrier) X(CmdUpdateBuffer)

#define X(name) PFN_vk##name name;
typedef struct vulkan_functions { VULKAN_FUNCTIONS(X) } vulkan_functions;
#undef X

/* What a kernel is on this device. */
typedef struct kernel_shape {
    int32_t tile[2], invocations, shared_words;
    int32_t by_words;                          /* the second module */
} kernel_shape;

typedef struct device_kernel {
    kernel_shape          shape;
    VkDescriptorSetLayout set_layout;
    VkPipelineLayout      layout;
    VkPipeline            pipeline;
} device_kernel;

struct haloi_vulkan {
    vulkan_plan           plan;
    const haloi_vulkan_code *code;
    VkDevice              device;
    halo_vulkan_device    about;
    VkAllocationCallbacks callbacks;           /* of the host; about.allocator points here, or is NULL */
    vulkan_functions      vk;
    device_kernel         kernels[];
};

/* ---- host memory ---------------------------------------------------------------------------------------- */

void *malloc(size_t bytes);
void  free(void *memory);

static inline void *driver_take(const VkAllocationCallbacks *a, size_t bytes, VkSystemAllocationScope scope)
{
    unsigned char *all = a ? a->pfnAllocation(a->pUserData, bytes, 16, scope) : malloc(bytes);
    for (size_t k = 0; all && k < bytes; k++) all[k] = 0;
    return all;
}

static inline void driver_give(const VkAllocationCallbacks *a, void *memory)
{
    if (!memory) return;
    if (a) a->pfnFree(a->pUserData, memory);
    else free(memory);
}

/* ---- one call ------------------------------------------------------------------------------------------- */

typedef struct region { span32 axis[5]; } region;

/* Bytes of a buffer that a kernel is given, from an aligned place on. */
typedef struct bound { VkBuffer buffer; int64_t offset, bytes; } bound;

typedef struct call {
    vulkan_plan         plan;
    const haloi_vulkan *v;                      /* NULL where only sizes are asked for */
    const halo_vulkan_image *const *inputs, *const *outputs;
    const halo_vulkan_resources *resources;
    int32_t *dims;
    value   *values;
    region  *regions;                           /* per memory: what is read or written */
    region  *rectangles;                        /* per kernel: what it makes */
    int64_t *scratch;                           /* per memory of that role: bytes from the start of scratch */
    int64_t  scratch_bytes;
    int64_t  argument_words;                    /* tables and slots, at the start of scratch */
    int64_t  spare;                             /* where in scratch a place is bound for memory without pixels; -1: nowhere */
} call;

static inline int32_t number_of(const call *c, int32_t value) { return (int32_t)c->values[value].i; }

static inline span32 bounds_of(const call *c, const vplan_memory *m, int axis)
{
    return (span32){ number_of(c, m->lo[axis]), number_of(c, m->hi[axis]) };
}

static inline const halo_vulkan_image *image_of(const call *c, const vplan_memory *m)
{
    return m->role == VPLAN_ROLE_input ? c->inputs[m->which] : c->outputs[m->which];
}

static inline int is_view(const vplan_memory *m) { return m->layout == VPLAN_LAYOUT_image || m->layout == VPLAN_LAYOUT_sampled; }
static inline int is_planar(const vplan_memory *m) { return m->layout == VPLAN_LAYOUT_planar; }
static inline int is_narrow(const vplan_memory *m) { return m->role != VPLAN_ROLE_scratch && m->component_bytes < 4; }

/* The host's axes of a picture: the memory's, and one more for components in planes. */
static inline int image_rank(const vplan_memory *m) { return m->rank + (is_planar(m) && m->rank < 5 ? 1 : 0); }
static inline int64_t pixel_bytes(const vplan_memory *m) { return (int64_t)m->component_bytes * (is_planar(m) ? 1 : m->lanes); }

static inline int64_t image_extent(const call *c, const vplan_memory *m, int axis)
{
    if (is_planar(m) && axis == m->rank) return m->lanes;
    return axis < m->rank ? span_count(bounds_of(c, m, axis)) : 1;
}

static inline int region_is_empty(const region *r)
{
    for (int d = 0; d < 5; d++) if (span_is_empty(r->axis[d])) return 1;
    return 0;
}

#endif
