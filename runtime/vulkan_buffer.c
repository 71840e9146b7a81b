/* SPDX-License-Identifier: MIT
 * Buffers that grow and are kept: for pictures and scratch on the device, and for what passes between it and the host. */
#include "runtime/vulkan.h"

/* Most wanted first; every device has memory of the last row of each. */
enum { LOCAL = VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT,
       COHERENT = VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT,
       CACHED = VK_MEMORY_PROPERTY_HOST_CACHED_BIT };
static const VkMemoryPropertyFlags direct[] = {LOCAL | COHERENT | CACHED, COHERENT | CACHED, COHERENT},
                                   staged[] = {LOCAL, 0, 0},
                                   upload[] = {COHERENT, COHERENT, COHERENT},
                                   download[] = {COHERENT | CACHED, COHERENT, COHERENT};

static const VkMemoryPropertyFlags *wanted(const halo_device *device, vulkan_place place)
{
    if (place == VULKAN_PLACE_device)
        return device->direct ? direct : staged;
    return place == VULKAN_PLACE_upload ? upload : download;
}

/* The device lists memory of the same properties fastest first. */
static uint32_t choose_type(const halo_device *device, vulkan_place place, uint32_t allowed)
{
    const VkPhysicalDeviceMemoryProperties *memory = &device->physical.memory;
    const VkMemoryPropertyFlags *flags = wanted(device, place);
    for (int row = 0; row < 3; row++)
        for (uint32_t i = 0; i < memory->memoryTypeCount; i++)
            if (allowed >> i & 1 && (memory->memoryTypes[i].propertyFlags & flags[row]) == flags[row])
                return i;
    return UINT32_MAX;
}

static VkResult allocate(halo_device *device, vulkan_buffer *b, vulkan_place place)
{
    VkMemoryRequirements needs;
    device->GetBufferMemoryRequirements(device->handle, b->handle, &needs);
    VkMemoryAllocateInfo info = {.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO, .allocationSize = needs.size,
                                 .memoryTypeIndex = choose_type(device, place, needs.memoryTypeBits)};
    if (info.memoryTypeIndex == UINT32_MAX)
        return VK_ERROR_OUT_OF_DEVICE_MEMORY;
    VkResult result = device->AllocateMemory(device->handle, &info, NULL, &b->memory);
    if (result == VK_SUCCESS)
        result = device->BindBufferMemory(device->handle, b->handle, b->memory, 0);
    bool maps = place != VULKAN_PLACE_device || device->direct;
    if (result == VK_SUCCESS && maps)
        result = device->MapMemory(device->handle, b->memory, 0, VK_WHOLE_SIZE, 0, &b->mapped);
    return result;
}

VkResult vulkan_buffer_reserve(halo_device *device, vulkan_buffer *b, vulkan_place place, VkDeviceSize bytes)
{
    if (bytes <= b->bytes)
        return VK_SUCCESS;
    vulkan_buffer_free(device, b);
    VkBufferUsageFlags usage = VK_BUFFER_USAGE_TRANSFER_SRC_BIT | VK_BUFFER_USAGE_TRANSFER_DST_BIT;
    if (place == VULKAN_PLACE_device)
        usage |= VK_BUFFER_USAGE_STORAGE_BUFFER_BIT;
    VkBufferCreateInfo info = {.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO, .size = bytes, .usage = usage,
                               .sharingMode = VK_SHARING_MODE_EXCLUSIVE};
    VkResult result = device->CreateBuffer(device->handle, &info, NULL, &b->handle);
    if (result == VK_SUCCESS)
        result = allocate(device, b, place);
    if (result == VK_SUCCESS)
        b->bytes = bytes;
    else
        vulkan_buffer_free(device, b);
    return result;
}

void vulkan_buffer_free(halo_device *device, vulkan_buffer *b)
{
    device->DestroyBuffer(device->handle, b->handle, NULL);
    device->FreeMemory(device->handle, b->memory, NULL);             /* which unmaps it */
    *b = (vulkan_buffer){0};
}
