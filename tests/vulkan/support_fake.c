/* SPDX-License-Identifier: MIT
 * Handles are pointers to the fake, or numbers that count from 1. */
#include "support_fake.h"

#include <stdint.h>
#include <string.h>

static fake *of_device(VkDevice device) { return (fake *)(void *)device; }
static fake *of_commands(VkCommandBuffer commands) { return (fake *)(void *)commands; }

void fake_begin(fake *f)
{
    memset(f, 0, sizeof *f);
    f->pool_sets = FAKE_MOST_SETS;
}

void fake_reset(fake *f)
{
    f->n_commands = f->n_sets = 0;
    f->pool_sets = FAKE_MOST_SETS;
    f->bound_pipeline = f->bound_set = -1;
}

static VkResult make(fake *f, uint64_t *handle)
{
    *handle = UINT64_MAX;                            /* as is allowed where it fails */
    if (++f->n_made == f->fail_at) return VK_ERROR_OUT_OF_DEVICE_MEMORY;
    f->alive++;
    *handle = (uint64_t)f->n_made;
    return VK_SUCCESS;
}

#define MAKER(name, info, handle)                                                                                            \
    static VKAPI_ATTR VkResult VKAPI_CALL create_##name(VkDevice d, const info *i, const VkAllocationCallbacks *a, handle *out) \
    {                                                                                                                        \
        (void)i; (void)a;                                                                                                    \
        return make(of_device(d), (uint64_t *)(void *)out);                                                                  \
    }
MAKER(set_layout, VkDescriptorSetLayoutCreateInfo, VkDescriptorSetLayout)
MAKER(layout, VkPipelineLayoutCreateInfo, VkPipelineLayout)

/* Modules are their infos' code, for the pipeline that is made from one. */
static VKAPI_ATTR VkResult VKAPI_CALL create_module(VkDevice d, const VkShaderModuleCreateInfo *i, const VkAllocationCallbacks *a,
                                                    VkShaderModule *out)
{
    (void)a;
    fake *f = of_device(d);
    f->pipelines[f->n_pipelines].code = i->pCode;
    f->pipelines[f->n_pipelines].code_bytes = i->codeSize;
    return make(f, (uint64_t *)(void *)out);
}

static VKAPI_ATTR VkResult VKAPI_CALL create_pipelines(VkDevice d, VkPipelineCache cache, uint32_t n,
                                                       const VkComputePipelineCreateInfo *i,
                                                       const VkAllocationCallbacks *a, VkPipeline *out)
{
    (void)cache; (void)a; (void)n;
    fake *f = of_device(d);
    uint64_t handle;
    if (make(f, &handle) != VK_SUCCESS) return VK_ERROR_OUT_OF_DEVICE_MEMORY;
    fake_pipeline *p = &f->pipelines[f->n_pipelines];
    const VkSpecializationInfo *s = i->stage.pSpecializationInfo;
    p->n_constants = s->mapEntryCount;
    for (uint32_t k = 0; k < s->mapEntryCount; k++)
        memcpy(&p->constants[s->pMapEntries[k].constantID], (const char *)s->pData + s->pMapEntries[k].offset,
               s->pMapEntries[k].size);
    *(uint64_t *)(void *)out = (uint64_t)++f->n_pipelines;
    return VK_SUCCESS;
}

#define UNMAKER(name, handle)                                                                                  \
    static VKAPI_ATTR void VKAPI_CALL destroy_##name(VkDevice d, handle h, const VkAllocationCallbacks *a)        \
    {                                                                                                          \
        (void)a;                                                                                               \
        if (h) of_device(d)->alive--;                                                                          \
    }
UNMAKER(set_layout, VkDescriptorSetLayout)
UNMAKER(layout, VkPipelineLayout)
UNMAKER(module, VkShaderModule)
UNMAKER(pipeline, VkPipeline)

static VKAPI_ATTR VkResult VKAPI_CALL allocate_sets(VkDevice d, const VkDescriptorSetAllocateInfo *i, VkDescriptorSet *out)
{
    fake *f = of_device(d);
    if ((int)i->descriptorSetCount > f->pool_sets) return VK_ERROR_OUT_OF_POOL_MEMORY;
    f->pool_sets -= (int)i->descriptorSetCount;
    for (uint32_t k = 0; k < i->descriptorSetCount; k++) {
        memset(&f->sets[f->n_sets], 0, sizeof *f->sets);
        *(uint64_t *)(void *)&out[k] = (uint64_t)++f->n_sets;
    }
    return VK_SUCCESS;
}

static VKAPI_ATTR void VKAPI_CALL update_sets(VkDevice d, uint32_t n, const VkWriteDescriptorSet *w, uint32_t n_copies,
                                              const VkCopyDescriptorSet *c)
{
    (void)n_copies; (void)c;
    for (uint32_t k = 0; k < n; k++) {
        fake_set *s = &of_device(d)->sets[(uint64_t)w[k].dstSet - 1];
        s->types[w[k].dstBinding] = w[k].descriptorType;
        if (w[k].pBufferInfo) s->buffers[w[k].dstBinding] = *w[k].pBufferInfo;
        if (w[k].pImageInfo) s->views[w[k].dstBinding] = *w[k].pImageInfo;
        s->n++;
    }
}

static fake_command *add(fake *f, fake_kind kind)
{
    fake_command *c = &f->commands[f->n_commands < FAKE_MOST - 1 ? f->n_commands++ : f->n_commands];
    memset(c, 0, sizeof *c);
    c->kind = kind;
    c->pipeline = f->bound_pipeline;
    c->set = f->bound_set;
    memcpy(c->push, f->push, sizeof c->push);
    return c;
}

static VKAPI_ATTR void VKAPI_CALL bind_pipeline(VkCommandBuffer b, VkPipelineBindPoint point, VkPipeline p)
{
    (void)point;
    of_commands(b)->bound_pipeline = (int)(uint64_t)p - 1;
    add(of_commands(b), FAKE_bind);
}

static VKAPI_ATTR void VKAPI_CALL bind_sets(VkCommandBuffer b, VkPipelineBindPoint point, VkPipelineLayout layout, uint32_t first,
                                            uint32_t n,
                                            const VkDescriptorSet *sets, uint32_t n_offsets, const uint32_t *offsets)
{
    (void)point; (void)layout; (void)first; (void)n; (void)n_offsets; (void)offsets;
    of_commands(b)->bound_set = (int)(uint64_t)sets[0] - 1;
}

static VKAPI_ATTR void VKAPI_CALL push_constants(VkCommandBuffer b, VkPipelineLayout layout, VkShaderStageFlags stages, uint32_t at,
                                                 uint32_t bytes,
                                                 const void *words)
{
    (void)layout; (void)stages;
    memcpy((char *)of_commands(b)->push + at, words, bytes);
}

static VKAPI_ATTR void VKAPI_CALL dispatch(VkCommandBuffer b, uint32_t x, uint32_t y, uint32_t z)
{
    fake_command *c = add(of_commands(b), FAKE_dispatch);
    c->groups[0] = x;
    c->groups[1] = y;
    c->groups[2] = z;
}

static VKAPI_ATTR void VKAPI_CALL pipeline_barrier(VkCommandBuffer b, VkPipelineStageFlags from, VkPipelineStageFlags to,
                                                   VkDependencyFlags flags,
                                                   uint32_t n, const VkMemoryBarrier *all, uint32_t n_b,
                                                       const VkBufferMemoryBarrier *of_b, uint32_t n_i,
                                                   const VkImageMemoryBarrier *of_i)
{
    (void)flags; (void)n; (void)all; (void)n_b; (void)of_b; (void)n_i; (void)of_i;
    fake_command *c = add(of_commands(b), FAKE_barrier);
    c->from = from;
    c->to = to;
}

static VKAPI_ATTR void VKAPI_CALL update_buffer(VkCommandBuffer b, VkBuffer buffer, VkDeviceSize at, VkDeviceSize bytes,
                                                const void *data)
{
    (void)buffer;
    fake_command *c = add(of_commands(b), FAKE_update);
    c->at = at;
    c->bytes = bytes;
    memcpy(&c->first_word, data, 4);
    memcpy(&c->last_word, (const char *)data + bytes - 4, 4);
    if (bytes <= sizeof c->push) memcpy(c->push, data, bytes);
}

typedef struct entry { const char *name; PFN_vkVoidFunction function; } entry;

VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL fake_loader(VkDevice device, const char *name)
{
    static const entry all[] = {
#define ENTRY(name, function) { "vk" #name, (PFN_vkVoidFunction)function }
        ENTRY(CreateShaderModule, create_module), ENTRY(DestroyShaderModule, destroy_module),
        ENTRY(CreateDescriptorSetLayout, create_set_layout), ENTRY(DestroyDescriptorSetLayout, destroy_set_layout),
        ENTRY(CreatePipelineLayout, create_layout), ENTRY(DestroyPipelineLayout, destroy_layout),
        ENTRY(CreateComputePipelines, create_pipelines), ENTRY(DestroyPipeline, destroy_pipeline),
        ENTRY(AllocateDescriptorSets, allocate_sets), ENTRY(UpdateDescriptorSets, update_sets),
        ENTRY(CmdBindPipeline, bind_pipeline), ENTRY(CmdBindDescriptorSets, bind_sets), ENTRY(CmdPushConstants, push_constants),
        ENTRY(CmdDispatch, dispatch), ENTRY(CmdPipelineBarrier, pipeline_barrier), ENTRY(CmdUpdateBuffer, update_buffer),
    };
    if (of_device(device)->lacks && strcmp(name, of_device(device)->lacks) == 0) return NULL;
    for (size_t k = 0; k < sizeof all / sizeof *all; k++) if (strcmp(name, all[k].name) == 0) return all[k].function;
    return NULL;
}

halo_vulkan_device fake_least_device(void)
{
    halo_vulkan_device d = { .storage_8bit = VK_TRUE, .storage_16bit = VK_TRUE };
    VkPhysicalDeviceLimits *l = &d.limits;
    l->maxComputeSharedMemorySize = 16384;
    l->maxComputeWorkGroupInvocations = 128;
    l->maxComputeWorkGroupSize[0] = l->maxComputeWorkGroupSize[1] = 128;
    l->maxComputeWorkGroupSize[2] = 64;
    for (int k = 0; k < 3; k++) l->maxComputeWorkGroupCount[k] = 65535;
    l->maxStorageBufferRange = 1u << 27;
    l->maxPushConstantsSize = 128;
    l->minStorageBufferOffsetAlignment = 256;
    l->maxPerStageDescriptorStorageBuffers = l->maxPerStageDescriptorStorageImages = 4;
    l->maxPerStageDescriptorSampledImages = 16;
    l->maxPerStageResources = 128;
    l->maxBoundDescriptorSets = 4;
    return d;
}

int fake_count(const fake *f, fake_kind kind)
{
    int n = 0;
    for (int k = 0; k < f->n_commands; k++) n += f->commands[k].kind == kind;
    return n;
}
