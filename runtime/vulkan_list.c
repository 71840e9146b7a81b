/* SPDX-License-Identifier: MIT
 * What the Vulkan devices of this machine are and can do: halo_devices, and what opening one looks at. */
#include "runtime/vulkan.h"

#include "runtime/message.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- one device -------------------------------------------------------------------------------- */

static bool has_extension(const vulkan_instance *v, VkPhysicalDevice device, const char *name)
{
    uint32_t n = 0;
    v->EnumerateDeviceExtensionProperties(device, NULL, &n, NULL);
    VkExtensionProperties *all = calloc(n + 1, sizeof *all);
    bool found = false;
    if (all && v->EnumerateDeviceExtensionProperties(device, NULL, &n, all) == VK_SUCCESS)
        for (uint32_t i = 0; i < n; i++)
            found |= strcmp(all[i].extensionName, name) == 0;
    free(all);
    return found;
}

/* A queue that computes: one that draws as well is what drivers optimize for, and copies too. */
static bool find_queue(const vulkan_instance *v, vulkan_physical *p)
{
    uint32_t n = 0;
    v->GetPhysicalDeviceQueueFamilyProperties(p->handle, &n, NULL);
    VkQueueFamilyProperties *all = calloc(n + 1, sizeof *all);
    bool found = false;
    if (all)
        v->GetPhysicalDeviceQueueFamilyProperties(p->handle, &n, all);
    for (uint32_t i = 0; all && i < n; i++) {
        bool draws = all[i].queueFlags & VK_QUEUE_GRAPHICS_BIT;
        if (!(all[i].queueFlags & VK_QUEUE_COMPUTE_BIT) || (found && !draws))
            continue;
        found = true;
        p->family = i;
        p->timestamp_bits = all[i].timestampValidBits;
        if (draws)
            break;
    }
    free(all);
    return found;
}

static void find_features(const vulkan_instance *v, vulkan_physical *p)
{
    VkPhysicalDevice16BitStorageFeatures halves = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_16BIT_STORAGE_FEATURES};
    VkPhysicalDevice8BitStorageFeaturesKHR bytes = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_8BIT_STORAGE_FEATURES_KHR};
    if (has_extension(v, p->handle, VK_KHR_8BIT_STORAGE_EXTENSION_NAME))
        halves.pNext = &bytes;
    VkPhysicalDeviceFeatures2 features = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2, .pNext = &halves};
    v->GetPhysicalDeviceFeatures2(p->handle, &features);
    p->storage_8bit = bytes.storageBuffer8BitAccess;
    p->storage_16bit = halves.storageBuffer16BitAccess;
    p->int64 = features.features.shaderInt64;
}

static void find_driver(const vulkan_instance *v, vulkan_physical *p)
{
    VkPhysicalDeviceDriverPropertiesKHR driver = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_DRIVER_PROPERTIES_KHR};
    VkPhysicalDeviceProperties2 properties = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2, .pNext = &driver};
    if (!has_extension(v, p->handle, VK_KHR_DRIVER_PROPERTIES_EXTENSION_NAME)) {
        snprintf(p->driver, sizeof p->driver, "vendor %04x, version %u", p->properties.vendorID, p->properties.driverVersion);
        return;
    }
    v->GetPhysicalDeviceProperties2(p->handle, &properties);
    snprintf(p->driver, sizeof p->driver, "%s%s%s", driver.driverName, driver.driverInfo[0] ? " " : "", driver.driverInfo);
    p->is_llvmpipe = driver.driverID == VK_DRIVER_ID_MESA_LLVMPIPE;
}

static const char *kind_of(VkPhysicalDeviceType type)
{
    switch (type) {
    case VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU:   return "discrete";
    case VK_PHYSICAL_DEVICE_TYPE_INTEGRATED_GPU: return "integrated";
    case VK_PHYSICAL_DEVICE_TYPE_VIRTUAL_GPU:    return "virtual";
    case VK_PHYSICAL_DEVICE_TYPE_CPU:            return "cpu";
    default:                                     return "other";
    }
}

static uint64_t largest_local_heap(const VkPhysicalDeviceMemoryProperties *memory)
{
    uint64_t most = 0;
    for (uint32_t i = 0; i < memory->memoryHeapCount; i++)
        if (memory->memoryHeaps[i].flags & VK_MEMORY_HEAP_DEVICE_LOCAL_BIT && memory->memoryHeaps[i].size > most)
            most = memory->memoryHeaps[i].size;
    return most;
}

static void describe(const vulkan_instance *v, vulkan_physical *p)
{
    v->GetPhysicalDeviceProperties(p->handle, &p->properties);
    v->GetPhysicalDeviceMemoryProperties(p->handle, &p->memory);
    uint32_t api = p->properties.apiVersion;
    const VkPhysicalDeviceLimits *limits = &p->properties.limits;
    const char *missing = NULL;
    if (api < VK_API_VERSION_1_1) {
        missing = "Vulkan 1.1";
    } else {
        find_features(v, p);
        find_driver(v, p);
    }
    if (!find_queue(v, p))
        missing = missing ? missing : "a queue that computes";
    p->info = (halo_device_info){
        .name = p->properties.deviceName, .driver = p->driver, .kind = kind_of(p->properties.deviceType),
        .api = {(int32_t)VK_API_VERSION_MAJOR(api), (int32_t)VK_API_VERSION_MINOR(api), (int32_t)VK_API_VERSION_PATCH(api)},
        .memory_bytes = largest_local_heap(&p->memory), .buffer_bytes = limits->maxStorageBufferRange,
        .shared_bytes = limits->maxComputeSharedMemorySize, .invocations = limits->maxComputeWorkGroupInvocations,
        .workgroups = limits->maxComputeWorkGroupCount[0], .storage_8bit = p->storage_8bit, .storage_16bit = p->storage_16bit,
        .int64 = p->int64, .timestamps = p->timestamp_bits > 0, .missing = missing};
}

vulkan_physical *vulkan_physicals(const vulkan_instance *v, uint32_t *n, halo_message *error)
{
    *n = 0;
    VkResult result = v->EnumeratePhysicalDevices(v->handle, n, NULL);
    VkPhysicalDevice *handles = calloc(*n + 1, sizeof *handles);
    vulkan_physical *all = calloc(*n + 1, sizeof *all);
    if (result == VK_SUCCESS && handles && all)
        result = v->EnumeratePhysicalDevices(v->handle, n, handles);
    if (result == VK_ERROR_INITIALIZATION_FAILED)                      /* what the loader says where all drivers failed */
        *n = 0;
    bool sound = handles && all && (result >= 0 || result == VK_ERROR_INITIALIZATION_FAILED);
    for (uint32_t i = 0; sound && i < *n; i++) {
        all[i].handle = handles[i];
        describe(v, &all[i]);
    }
    free(handles);
    if (sound)
        return all;
    free(all);
    message_fail(error, "the Vulkan devices can't be listed (vkEnumeratePhysicalDevices: %d)", result);
    return NULL;
}

/* ---- the list ------------------------------------------------------------------------------------ */

struct halo_devices { uint32_t count; vulkan_physical *items; };

halo_devices *halo_devices_new(halo_message *error)
{
    vulkan_instance instance;
    halo_devices *devices = calloc(1, sizeof *devices);
    message_clear(error);
    if (devices && vulkan_instance_open(&instance, NULL, error))
        devices->items = vulkan_physicals(&instance, &devices->count, error);
    else if (!devices)
        return message_fail(error, "out of memory"), NULL;
    vulkan_instance_close(&instance);
    if (devices->items)
        return devices;
    free(devices);
    return NULL;
}

void halo_devices_free(halo_devices *devices)
{
    if (!devices)
        return;
    free(devices->items);
    free(devices);
}

size_t halo_devices_count(const halo_devices *devices) { return devices ? devices->count : 0; }

const halo_device_info *halo_devices_at(const halo_devices *devices, size_t which)
{
    return which < halo_devices_count(devices) ? &devices->items[which].info : NULL;
}
