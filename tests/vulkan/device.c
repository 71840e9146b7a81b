/* SPDX-License-Identifier: MIT */
#include "device.h"

#include <stdio.h>
#include <string.h>

enum { MOST_DEVICES = 16, MOST_FAMILIES = 16, MOST_BUFFERS = 8 };
static const char *const LAYER = "VK_LAYER_KHRONOS_validation";

static VKAPI_ATTR VkBool32 VKAPI_CALL on_message(VkDebugUtilsMessageSeverityFlagBitsEXT severity,
                                                 VkDebugUtilsMessageTypeFlagsEXT types,
                                                 const VkDebugUtilsMessengerCallbackDataEXT *data, void *user)
{
    (void)severity;
    /* General ones are the loader's, about drivers that aren't there. */
    if (types == VK_DEBUG_UTILS_MESSAGE_TYPE_GENERAL_BIT_EXT) return VK_FALSE;
    ((test_device *)user)->n_messages++;
    fprintf(stderr, "validation: %s\n", data->pMessage);
    return VK_FALSE;
}

static VkDebugUtilsMessengerCreateInfoEXT messenger_info(test_device *d)
{
    return (VkDebugUtilsMessengerCreateInfoEXT){
        .sType = VK_STRUCTURE_TYPE_DEBUG_UTILS_MESSENGER_CREATE_INFO_EXT,
        .messageSeverity = VK_DEBUG_UTILS_MESSAGE_SEVERITY_WARNING_BIT_EXT | VK_DEBUG_UTILS_MESSAGE_SEVERITY_ERROR_BIT_EXT,
        .messageType = VK_DEBUG_UTILS_MESSAGE_TYPE_GENERAL_BIT_EXT | VK_DEBUG_UTILS_MESSAGE_TYPE_VALIDATION_BIT_EXT,
        .pfnUserCallback = on_message, .pUserData = d };
}

static bool make_instance(test_device *d)
{
    const char *extension = VK_EXT_DEBUG_UTILS_EXTENSION_NAME;
    VkApplicationInfo application = { .sType = VK_STRUCTURE_TYPE_APPLICATION_INFO, .apiVersion = VK_API_VERSION_1_1 };
    VkDebugUtilsMessengerCreateInfoEXT messages = messenger_info(d);
    VkInstanceCreateInfo info = { .sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO, .pNext = &messages,
        .pApplicationInfo = &application,
        .enabledLayerCount = 1, .ppEnabledLayerNames = &LAYER, .enabledExtensionCount = 1, .ppEnabledExtensionNames = &extension };
    if (vkCreateInstance(&info, NULL, &d->instance) != VK_SUCCESS) return false;
    PFN_vkCreateDebugUtilsMessengerEXT create =
        (PFN_vkCreateDebugUtilsMessengerEXT)vkGetInstanceProcAddr(d->instance, "vkCreateDebugUtilsMessengerEXT");
    return create(d->instance, &messages, NULL, &d->messenger) == VK_SUCCESS;
}

static bool pick_physical(test_device *d)
{
    VkPhysicalDevice all[MOST_DEVICES];
    uint32_t n = MOST_DEVICES;
    vkEnumeratePhysicalDevices(d->instance, &n, all);
    for (uint32_t k = 0; k < n; k++) {
        VkPhysicalDeviceProperties properties;
        vkGetPhysicalDeviceProperties(all[k], &properties);
        if (d->physical && properties.deviceType != VK_PHYSICAL_DEVICE_TYPE_CPU) continue;
        d->physical = all[k];
        d->properties = properties;
    }
    return d->physical != NULL;
}

static bool pick_family(test_device *d)
{
    VkQueueFamilyProperties families[MOST_FAMILIES];
    uint32_t n = MOST_FAMILIES;
    vkGetPhysicalDeviceQueueFamilyProperties(d->physical, &n, families);
    for (d->family = 0; d->family < n; d->family++)
        if (families[d->family].queueFlags & VK_QUEUE_COMPUTE_BIT) return true;
    return false;
}

static bool has_extension(test_device *d, const char *name)
{
    static VkExtensionProperties all[512];
    uint32_t n = 512;
    vkEnumerateDeviceExtensionProperties(d->physical, NULL, &n, all);
    for (uint32_t k = 0; k < n; k++) if (strcmp(all[k].extensionName, name) == 0) return true;
    return false;
}

static bool make_device(test_device *d)
{
    VkPhysicalDevice8BitStorageFeatures bytes = { .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_8BIT_STORAGE_FEATURES };
    VkPhysicalDevice16BitStorageFeatures halves = { .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_16BIT_STORAGE_FEATURES };
    VkPhysicalDeviceFeatures2 features = { .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2, .pNext = &halves };
    bool has_bytes = has_extension(d, VK_KHR_8BIT_STORAGE_EXTENSION_NAME);
    if (has_bytes) halves.pNext = &bytes;
    vkGetPhysicalDeviceFeatures2(d->physical, &features);
    d->int64 = features.features.shaderInt64;
    d->storage8 = bytes.storageBuffer8BitAccess;
    d->storage16 = halves.storageBuffer16BitAccess;
    d->image_formats = features.features.shaderStorageImageExtendedFormats;
    features.features = (VkPhysicalDeviceFeatures){ .shaderInt64 = d->int64, .shaderStorageImageExtendedFormats = d->image_formats };
    bytes = (VkPhysicalDevice8BitStorageFeatures){ .sType = bytes.sType, .storageBuffer8BitAccess = d->storage8 };
    halves = (VkPhysicalDevice16BitStorageFeatures){ .sType = halves.sType, .pNext = halves.pNext,
        .storageBuffer16BitAccess = d->storage16 };
    const char *extension = VK_KHR_8BIT_STORAGE_EXTENSION_NAME;
    float priority = 1;
    VkDeviceQueueCreateInfo queue = { .sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO, .queueFamilyIndex = d->family,
        .queueCount = 1,
        .pQueuePriorities = &priority };
    VkDeviceCreateInfo info = { .sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO, .pNext = &features, .queueCreateInfoCount = 1,
        .pQueueCreateInfos = &queue, .enabledExtensionCount = has_bytes, .ppEnabledExtensionNames = &extension };
    if (vkCreateDevice(d->physical, &info, NULL, &d->device) != VK_SUCCESS) return false;
    vkGetDeviceQueue(d->device, d->family, 0, &d->queue);
    VkCommandPoolCreateInfo pool = { .sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO, .queueFamilyIndex = d->family };
    return vkCreateCommandPool(d->device, &pool, NULL, &d->pool) == VK_SUCCESS;
}

bool test_device_open(test_device *d)
{
    *d = (test_device){ 0 };
    const char *missing = !make_instance(d) ? "instance with the validation layer" : !pick_physical(d) ? "device" :
        !pick_family(d) ? "queue for compute shaders" : !make_device(d) ? "logical device" : NULL;
    if (!missing) return true;
    fprintf(stderr, "SKIPPED: there is no Vulkan %s (Debian: mesa-vulkan-drivers, vulkan-validationlayers)\n", missing);
    test_device_close(d);
    return false;
}

void test_device_close(test_device *d)
{
    if (d->device) {
        vkDestroyCommandPool(d->device, d->pool, NULL);
        vkDestroyDevice(d->device, NULL);
    }
    if (d->messenger)
        ((PFN_vkDestroyDebugUtilsMessengerEXT)vkGetInstanceProcAddr(d->instance, "vkDestroyDebugUtilsMessengerEXT"))(d->instance,
            d->messenger, NULL);
    if (d->instance) vkDestroyInstance(d->instance, NULL);
    d->device = NULL;
    d->messenger = NULL;
    d->instance = NULL;
}

/* ---- buffers ----------------------------------------------------------------------------------------------- */

static uint32_t mapped_type(test_device *d, uint32_t allowed)
{
    VkMemoryPropertyFlags wanted = VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
    VkPhysicalDeviceMemoryProperties memory;
    vkGetPhysicalDeviceMemoryProperties(d->physical, &memory);
    for (uint32_t k = 0; k < memory.memoryTypeCount; k++)
        if ((allowed >> k & 1) && (memory.memoryTypes[k].propertyFlags & wanted) == wanted) return k;
    return 0;
}

test_buffer test_buffer_new(test_device *d, uint64_t n_bytes)
{
    test_buffer b = { .n_bytes = n_bytes };
    VkBufferCreateInfo info = { .sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO, .size = n_bytes,
        .usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_TRANSFER_SRC_BIT | VK_BUFFER_USAGE_TRANSFER_DST_BIT };
    if (vkCreateBuffer(d->device, &info, NULL, &b.buffer) != VK_SUCCESS) return b;
    VkMemoryRequirements needs;
    vkGetBufferMemoryRequirements(d->device, b.buffer, &needs);
    VkMemoryAllocateInfo allocation = { .sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO, .allocationSize = needs.size,
        .memoryTypeIndex = mapped_type(d, needs.memoryTypeBits) };
    if (vkAllocateMemory(d->device, &allocation, NULL, &b.memory) != VK_SUCCESS) return b;
    vkBindBufferMemory(d->device, b.buffer, b.memory, 0);
    vkMapMemory(d->device, b.memory, 0, VK_WHOLE_SIZE, 0, &b.bytes);
    return b;
}

void test_buffer_free(test_device *d, test_buffer *b)
{
    vkDestroyBuffer(d->device, b->buffer, NULL);
    vkFreeMemory(d->device, b->memory, NULL);
    *b = (test_buffer){ 0 };
}

/* ---- runs -------------------------------------------------------------------------------------------------- */

typedef struct made { VkShaderModule module; VkDescriptorSetLayout set_layout; VkPipelineLayout layout; VkPipeline pipeline;
                      VkDescriptorPool pool; VkDescriptorSet set; VkCommandBuffer commands; } made;

static bool make_pipeline(test_device *d, made *m, const uint32_t *spirv, uint32_t n_words, uint32_t n_buffers, uint32_t n_push)
{
    VkDescriptorSetLayoutBinding bindings[MOST_BUFFERS];
    for (uint32_t k = 0; k < n_buffers; k++)
        bindings[k] = (VkDescriptorSetLayoutBinding){ k, VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, 1, VK_SHADER_STAGE_COMPUTE_BIT, NULL };
    VkShaderModuleCreateInfo module = { .sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO, .codeSize = (size_t)n_words * 4,
        .pCode = spirv };
    VkDescriptorSetLayoutCreateInfo set = { .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO, .bindingCount = n_buffers,
        .pBindings = bindings };
    if (vkCreateShaderModule(d->device, &module, NULL, &m->module) != VK_SUCCESS) return false;
    if (vkCreateDescriptorSetLayout(d->device, &set, NULL, &m->set_layout) != VK_SUCCESS) return false;
    VkPushConstantRange range = { VK_SHADER_STAGE_COMPUTE_BIT, 0, n_push * 4 };
    VkPipelineLayoutCreateInfo layout = { .sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO, .setLayoutCount = 1,
        .pSetLayouts = &m->set_layout,
        .pushConstantRangeCount = n_push > 0, .pPushConstantRanges = &range };
    if (vkCreatePipelineLayout(d->device, &layout, NULL, &m->layout) != VK_SUCCESS) return false;
    VkComputePipelineCreateInfo pipeline = { .sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO, .layout = m->layout,
        .stage = { .sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO, .stage = VK_SHADER_STAGE_COMPUTE_BIT,
            .module = m->module, .pName = "main" } };
    return vkCreateComputePipelines(d->device, VK_NULL_HANDLE, 1, &pipeline, NULL, &m->pipeline) == VK_SUCCESS;
}

static bool make_set(test_device *d, made *m, const test_buffer *buffers, uint32_t n_buffers)
{
    VkDescriptorPoolSize size = { VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, n_buffers };
    VkDescriptorPoolCreateInfo pool = { .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO, .maxSets = 1, .poolSizeCount = 1,
        .pPoolSizes = &size };
    if (vkCreateDescriptorPool(d->device, &pool, NULL, &m->pool) != VK_SUCCESS) return false;
    VkDescriptorSetAllocateInfo info = { .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO, .descriptorPool = m->pool,
        .descriptorSetCount = 1,
        .pSetLayouts = &m->set_layout };
    if (vkAllocateDescriptorSets(d->device, &info, &m->set) != VK_SUCCESS) return false;
    for (uint32_t k = 0; k < n_buffers; k++) {
        VkDescriptorBufferInfo about = { buffers[k].buffer, 0, VK_WHOLE_SIZE };
        VkWriteDescriptorSet write = { .sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET, .dstSet = m->set, .dstBinding = k,
            .descriptorCount = 1,
            .descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, .pBufferInfo = &about };
        vkUpdateDescriptorSets(d->device, 1, &write, 0, NULL);
    }
    return true;
}

static bool submit(test_device *d, made *m, const uint32_t *push, uint32_t n_push, uint32_t n_groups)
{
    VkCommandBufferAllocateInfo allocation = { .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO, .commandPool = d->pool,
        .level = VK_COMMAND_BUFFER_LEVEL_PRIMARY, .commandBufferCount = 1 };
    if (vkAllocateCommandBuffers(d->device, &allocation, &m->commands) != VK_SUCCESS) return false;
    VkCommandBufferBeginInfo begin = { .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO,
        .flags = VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT };
    vkBeginCommandBuffer(m->commands, &begin);
    vkCmdBindPipeline(m->commands, VK_PIPELINE_BIND_POINT_COMPUTE, m->pipeline);
    vkCmdBindDescriptorSets(m->commands, VK_PIPELINE_BIND_POINT_COMPUTE, m->layout, 0, 1, &m->set, 0, NULL);
    if (n_push) vkCmdPushConstants(m->commands, m->layout, VK_SHADER_STAGE_COMPUTE_BIT, 0, n_push * 4, push);
    vkCmdDispatch(m->commands, n_groups, 1, 1);
    VkMemoryBarrier barrier = { .sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER, .srcAccessMask = VK_ACCESS_SHADER_WRITE_BIT,
        .dstAccessMask = VK_ACCESS_HOST_READ_BIT };
    vkCmdPipelineBarrier(m->commands, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, VK_PIPELINE_STAGE_HOST_BIT, 0, 1, &barrier, 0, NULL,
        0, NULL);
    vkEndCommandBuffer(m->commands);
    VkSubmitInfo info = { .sType = VK_STRUCTURE_TYPE_SUBMIT_INFO, .commandBufferCount = 1, .pCommandBuffers = &m->commands };
    return vkQueueSubmit(d->queue, 1, &info, VK_NULL_HANDLE) == VK_SUCCESS && vkQueueWaitIdle(d->queue) == VK_SUCCESS;
}

static void drop(test_device *d, made *m)
{
    if (m->commands) vkFreeCommandBuffers(d->device, d->pool, 1, &m->commands);
    vkDestroyDescriptorPool(d->device, m->pool, NULL);
    vkDestroyPipeline(d->device, m->pipeline, NULL);
    vkDestroyPipelineLayout(d->device, m->layout, NULL);
    vkDestroyDescriptorSetLayout(d->device, m->set_layout, NULL);
    vkDestroyShaderModule(d->device, m->module, NULL);
}

bool test_device_run(test_device *d, const uint32_t *spirv, uint32_t n_words, const test_buffer *buffers, uint32_t n_buffers,
                     const uint32_t *push, uint32_t n_push, uint32_t n_groups)
{
    made m = { 0 };
    bool good = n_buffers <= MOST_BUFFERS && make_pipeline(d, &m, spirv, n_words, n_buffers, n_push) &&
        make_set(d, &m, buffers, n_buffers) &&
        submit(d, &m, push, n_push, n_groups);
    drop(d, &m);
    return good;
}
