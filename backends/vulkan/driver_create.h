/* SPDX-License-Identifier: MIT
 * Making and unmaking what lives as long as the host wants: descriptor set layouts, pipeline layouts and pipelines, one of each a
 * kernel. And what a device has to have for that. */
#ifndef HALO_BACKENDS_VULKAN_DRIVER_CREATE_H
#define HALO_BACKENDS_VULKAN_DRIVER_CREATE_H

#include "backends/vulkan/driver_record.h"

static inline uint32_t count_bindings(const vulkan_plan *p, const vplan_kernel *k, VkDescriptorType type)
{
    uint32_t n = 0;
    for (int j = 0; j < k->n_bindings; j++) n += descriptor_type(p, p->bindings[k->first_binding + j].memory) == type;
    return n;
}

static inline uint32_t push_bytes(const vplan_kernel *k)
{
    return 4 * (VPLAN_PUSH_slots + (k->in_buffer ? 0 : (uint32_t)k->n_slots));
}

static inline const char *kernel_missing(const vulkan_plan *p, const vplan_kernel *k, const halo_vulkan_device *about)
{
    const VkPhysicalDeviceLimits *l = &about->limits;
    kernel_shape shape;
    if ((k->needs & VPLAN_NEEDS_int64) && !about->shader_int64) return "shaderInt64";
    if ((k->needs & VPLAN_NEEDS_image_extended) && !about->storage_image_extended) return "shaderStorageImageExtendedFormats";
    if (count_bindings(p, k, VK_DESCRIPTOR_TYPE_STORAGE_BUFFER) > l->maxPerStageDescriptorStorageBuffers)
        return "maxPerStageDescriptorStorageBuffers";
    if (count_bindings(p, k, VK_DESCRIPTOR_TYPE_STORAGE_IMAGE) > l->maxPerStageDescriptorStorageImages)
        return "maxPerStageDescriptorStorageImages";
    if (count_bindings(p, k, VK_DESCRIPTOR_TYPE_SAMPLED_IMAGE) > l->maxPerStageDescriptorSampledImages)
        return "maxPerStageDescriptorSampledImages";
    if ((uint32_t)k->n_bindings > l->maxPerStageResources) return "maxPerStageResources";
    if (push_bytes(k) > l->maxPushConstantsSize) return "maxPushConstantsSize";
    if (!choose_shape(p, k, about, &shape)) return "maxComputeSharedMemorySize";
    return NULL;
}

static inline const char *plan_missing(const vulkan_plan *p, const halo_vulkan_device *about)
{
    for (int k = 0; k < p->header->n_kernels; k++) {
        const char *missing = kernel_missing(p, &p->kernels[k], about);
        if (missing) return missing;
    }
    return NULL;
}

static inline int load_functions(haloi_vulkan *v, PFN_vkGetDeviceProcAddr loader)
{
    int all = 1;
#define X(name) v->vk.name = (PFN_vk##name)loader(v->device, "vk" #name); all &= v->vk.name != NULL;
    VULKAN_FUNCTIONS(X)
#undef X
    if (!all) v->vk.DestroyPipeline = NULL;       /* nothing will have been made */
    return all;
}

/* What a call that failed leaves in its result is anything: only handles that were made are kept. */
static inline VkResult make_set_layout(haloi_vulkan *v, int kernel)
{
    const vplan_kernel *k = &v->plan.kernels[kernel];
    VkDescriptorSetLayoutBinding all[VPLAN_BINDINGS_MOST];
    for (int j = 0; j < k->n_bindings; j++)
        all[j] = (VkDescriptorSetLayoutBinding){
            (uint32_t)j, descriptor_type(&v->plan, v->plan.bindings[k->first_binding + j].memory), 1,
            VK_SHADER_STAGE_COMPUTE_BIT, NULL };
    VkDescriptorSetLayoutCreateInfo info = { .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO,
                                             .bindingCount = (uint32_t)k->n_bindings,
                                             .pBindings = all };
    VkDescriptorSetLayout made;
    VkResult result = v->vk.CreateDescriptorSetLayout(v->device, &info, v->about.allocator, &made);
    if (result == VK_SUCCESS) v->kernels[kernel].set_layout = made;
    return result;
}

static inline VkResult make_layout(haloi_vulkan *v, int kernel)
{
    VkPushConstantRange range = { VK_SHADER_STAGE_COMPUTE_BIT, 0, push_bytes(&v->plan.kernels[kernel]) };
    VkPipelineLayoutCreateInfo info = { .sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO, .setLayoutCount = 1,
                                        .pSetLayouts = &v->kernels[kernel].set_layout,
                                        .pushConstantRangeCount = 1, .pPushConstantRanges = &range };
    VkPipelineLayout made;
    VkResult result = v->vk.CreatePipelineLayout(v->device, &info, v->about.allocator, &made);
    if (result == VK_SUCCESS) v->kernels[kernel].layout = made;
    return result;
}

/* The words of the specialization constants, in their order. */
static inline uint32_t specialize(const haloi_vulkan *v, int kernel, uint32_t *out)
{
    const vplan_kernel *k = &v->plan.kernels[kernel];
    const kernel_shape *shape = &v->kernels[kernel].shape;
    const vplan_shared *shared = v->plan.shared + k->first_shared;
    int64_t at[VPLAN_SHARED_MOST];
    place_shared(shared, k->n_shared, shape->tile, at);
    out[0] = (uint32_t)shape->invocations;
    out[1] = (uint32_t)shape->tile[0];
    out[2] = (uint32_t)shape->tile[1];
    out[3] = (uint32_t)shape->shared_words;
    for (int j = 0; j < k->n_shared; j++) {
        out[4 + 3 * j] = (uint32_t)shared_width(&shared[j], shape->tile[0]);
        out[5 + 3 * j] = (uint32_t)shared_height(&shared[j], shape->tile[1]);
        out[6 + 3 * j] = (uint32_t)at[j];
    }
    return 4 + 3 * (uint32_t)k->n_shared;
}

static inline VkResult make_module(haloi_vulkan *v, int kernel, VkShaderModule *out)
{
    const vplan_kernel *k = &v->plan.kernels[kernel];
    int words = v->kernels[kernel].shape.by_words;
    VkShaderModuleCreateInfo info = { .sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO,
                                      .codeSize = 4 * (size_t)(words ? k->n_word_code_words : k->n_code_words),
                                      .pCode = v->code->spirv + (words ? k->first_word_code : k->first_code) };
    return v->vk.CreateShaderModule(v->device, &info, v->about.allocator, out);
}

static inline VkResult make_pipeline(haloi_vulkan *v, int kernel, VkPipelineCache cache)
{
    enum { MOST = 4 + 3 * VPLAN_SHARED_MOST };
    uint32_t words[MOST];
    VkSpecializationMapEntry entries[MOST];
    uint32_t n = specialize(v, kernel, words);
    for (uint32_t j = 0; j < n; j++) entries[j] = (VkSpecializationMapEntry){ j, 4 * j, 4 };
    VkSpecializationInfo constants = { n, entries, 4 * (size_t)n, words };
    VkShaderModule module;
    VkResult result = make_module(v, kernel, &module);
    if (result != VK_SUCCESS) return result;
    VkComputePipelineCreateInfo info = { .sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO,
                                         .layout = v->kernels[kernel].layout,
                                         .basePipelineIndex = -1,
                                         .stage = { .sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
                                                    .stage = VK_SHADER_STAGE_COMPUTE_BIT,
                                                    .module = module, .pName = "main", .pSpecializationInfo = &constants } };
    result = v->vk.CreateComputePipelines(v->device, cache, 1, &info, v->about.allocator, &v->kernels[kernel].pipeline);
    v->vk.DestroyShaderModule(v->device, module, v->about.allocator);
    return result;
}

static inline int make_kernels(haloi_vulkan *v, VkPipelineCache cache)
{
    for (int k = 0; k < v->plan.header->n_kernels; k++) {
        choose_shape(&v->plan, &v->plan.kernels[k], &v->about, &v->kernels[k].shape);
        if (make_set_layout(v, k) != VK_SUCCESS || make_layout(v, k) != VK_SUCCESS || make_pipeline(v, k, cache) != VK_SUCCESS)
            return HALO_VULKAN_ERROR_DEVICE;
    }
    return HALO_OK;
}

#endif
