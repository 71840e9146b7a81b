/* SPDX-License-Identifier: MIT
 * A Vulkan device of Halo's own: chosen, opened with the features that pipes ask for, and closed. */
#include "runtime/vulkan.h"

#include "runtime/message.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* Mesa's llvmpipe leaves loops, without a word, after 65535 iterations of all loops of an invocation together. */
enum { LLVMPIPE_LOOP_ITERATIONS = 60000 };

/* ---- choice -------------------------------------------------------------------------------------- */

/* Where the name is a whole number: that number; else -1. */
static long number_of(const char *name)
{
    char *end;
    long number = strtol(name, &end, 10);
    return isdigit((unsigned char)name[0]) && !*end ? number : -1;
}

static bool contains(const char *text, const char *part)
{
    size_t n = strlen(part);
    for (; *text; text++)
        if (strncasecmp(text, part, n) == 0)
            return true;
    return n == 0;
}

static int rank_of(const vulkan_physical *p)
{
    static const char *const kinds[] = {"discrete", "integrated", "virtual", "other", "cpu"};
    int rank = 0;
    while (rank < 4 && strcmp(p->info.kind, kinds[rank]) != 0)
        rank++;
    return rank;
}

static void list_devices(const vulkan_physical *all, uint32_t n, halo_message *error)
{
    for (uint32_t i = 0; i < n; i++)
        message_add(error, "%u is %s%s%s", i, all[i].info.name, all[i].info.missing ? ", which lacks " : "",
                    all[i].info.missing ? all[i].info.missing : "");
}

static bool choose(const vulkan_physical *all, uint32_t n, const char *name, uint32_t *which, halo_message *error)
{
    long number = name ? number_of(name) : -1;
    bool found = false;
    for (uint32_t i = 0; i < n; i++) {
        bool meant = !name || (number >= 0 ? number == (long)i : contains(all[i].info.name, name));
        if (!meant || (all[i].info.missing && !name))
            continue;
        if (!found || rank_of(&all[i]) < rank_of(&all[*which]))
            *which = i;
        found = true;
    }
    if (found && !all[*which].info.missing)
        return true;
    if (n == 0)
        return message_fail(error, "this machine has no Vulkan device");
    if (found)
        return message_fail(error, "%s can't run pipes: it lacks %s", all[*which].info.name, all[*which].info.missing);
    message_fail(error, name ? "there is no Vulkan device `%s`" : "no Vulkan device of this machine can run pipes", name);
    list_devices(all, n, error);
    return false;
}

/* ---- opening ------------------------------------------------------------------------------------- */

static uint32_t least(uint32_t limit, int32_t mask) { return mask > 0 && (uint32_t)mask < limit ? (uint32_t)mask : limit; }

/* What the device has, less what the options hide. */
static void decide(halo_device *device, const halo_device_options *o)
{
    vulkan_physical *p = &device->physical;
    VkPhysicalDeviceLimits limits = p->properties.limits;
    p->info.name = p->properties.deviceName;
    p->info.driver = p->driver;
    p->info.shared_bytes = limits.maxComputeSharedMemorySize = least(limits.maxComputeSharedMemorySize, o->most_shared_bytes);
    p->info.invocations = limits.maxComputeWorkGroupInvocations = least(limits.maxComputeWorkGroupInvocations, o->most_invocations);
    p->info.buffer_bytes = limits.maxStorageBufferRange = least(limits.maxStorageBufferRange, o->most_buffer_bytes);
    p->info.workgroups = least(p->info.workgroups, o->most_workgroups);
    p->info.storage_8bit = p->storage_8bit = p->storage_8bit && !o->no_storage_8bit;
    p->info.storage_16bit = p->storage_16bit = p->storage_16bit && !o->no_storage_16bit;
    device->about = (halo_vulkan_device){
        .limits = limits, .storage_8bit = p->storage_8bit, .storage_16bit = p->storage_16bit, .shader_int64 = p->int64,
        .most_workgroups = o->most_workgroups > 0 ? (uint32_t)o->most_workgroups : 0,
        .most_loop_iterations = p->is_llvmpipe ? LLVMPIPE_LOOP_ITERATIONS : 0};
    VkPhysicalDeviceType type = p->properties.deviceType;
    device->direct = (type == VK_PHYSICAL_DEVICE_TYPE_INTEGRATED_GPU || type == VK_PHYSICAL_DEVICE_TYPE_CPU) && !o->staging;
}

static bool create(halo_device *device, halo_message *error)
{
    const vulkan_physical *p = &device->physical;
    static const char *const extensions[] = {VK_KHR_8BIT_STORAGE_EXTENSION_NAME};
    float priority = 1;
    VkDeviceQueueCreateInfo queue = {.sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO, .queueFamilyIndex = p->family,
                                     .queueCount = 1, .pQueuePriorities = &priority};
    VkPhysicalDevice8BitStorageFeaturesKHR bytes = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_8BIT_STORAGE_FEATURES_KHR,
                                                    .storageBuffer8BitAccess = VK_TRUE};
    VkPhysicalDevice16BitStorageFeatures halves = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_16BIT_STORAGE_FEATURES,
                                                   .pNext = p->storage_8bit ? &bytes : NULL,
                                                   .storageBuffer16BitAccess = p->storage_16bit};
    VkPhysicalDeviceFeatures2 features = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2, .pNext = &halves,
                                          .features = {.shaderInt64 = p->int64}};
    VkDeviceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO, .pNext = &features, .queueCreateInfoCount = 1,
                               .pQueueCreateInfos = &queue, .enabledExtensionCount = p->storage_8bit,
                               .ppEnabledExtensionNames = extensions};
    VkResult result = device->instance.CreateDevice(p->handle, &info, NULL, &device->handle);
    if (result != VK_SUCCESS)
        return message_fail(error, "%s can't be opened (vkCreateDevice: %d)", p->info.name, result);
#define GLOBAL(name)
#define INSTANCE(name)
#define DEVICE(function)                                                                                                           \
    device->function = (PFN_vk##function)device->instance.GetDeviceProcAddr(device->handle, "vk" #function);                       \
    if (!device->function)                                                                                                         \
        return message_fail(error, "%s has no vk" #function, p->info.name);
#include "runtime/vulkan_functions.def"
#undef GLOBAL
#undef INSTANCE
#undef DEVICE
    device->GetDeviceQueue(device->handle, p->family, 0, &device->queue);
    return true;
}

static bool open_device(halo_device *device, halo_message *error)
{
    uint32_t n, which = 0;
    const halo_device_options *o = &device->options;
    if (!vulkan_instance_open(&device->instance, o, error))
        return false;
    vulkan_physical *all = vulkan_physicals(&device->instance, &n, error);
    bool found = all && choose(all, n, o->name, &which, error);
    if (found)
        device->physical = all[which];
    free(all);
    if (!found)
        return false;
    decide(device, o);
    return create(device, error);
}

halo_device *halo_device_open(const halo_device_options *options, halo_message *error)
{
    halo_device *device = calloc(1, sizeof *device);
    message_clear(error);
    if (!device || pthread_mutex_init(&device->queue_lock, NULL) != 0) {
        free(device);
        message_fail(error, "out of memory");
        return NULL;
    }
    device->options = options ? *options : (halo_device_options){0};
    if (!open_device(device, error)) {
        halo_device_close(device);
        return NULL;
    }
    if (options && options->cache_folder)
        vulkan_cache_open(device, options->cache_folder);
    device->options.name = device->options.cache_folder = NULL;      /* the caller's */
    return device;
}

void halo_device_close(halo_device *device)
{
    if (!device)
        return;
    vulkan_cache_close(device);
    if (device->DestroyDevice)
        device->DestroyDevice(device->handle, NULL);
    vulkan_instance_close(&device->instance);
    pthread_mutex_destroy(&device->queue_lock);
    free(device);
}

const halo_device_info *halo_device_about(const halo_device *device) { return &device->physical.info; }
