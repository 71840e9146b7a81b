/* A Vulkan app's use of a filter that was compiled ahead of time: the app has a device, a queue, buffers and command buffers of its
 * own, and the filter only adds its commands to them. Build and run it, from the repository's root, with
 *
 *     build/halo build examples/unsharp.pipe --vulkan -o unsharp_vulkan.a --header unsharp_vulkan.h
 *     cc -I. -o sharpen examples/embed_vulkan.c unsharp_vulkan.a -lvulkan
 *     build/halo run examples/scene.pipe -o picture=scene.ppm
 *     ./sharpen scene.ppm sharp.ppm 2.0 1.5
 *     ./sharpen scene.ppm sharp.ppm 2.0 1.5 10          the same in ten submissions, each of them short
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <vulkan/vulkan.h>

#include "unsharp_vulkan.h"

enum { MOST_DEVICES = 16, MOST_FAMILIES = 16, MOST_EXTENSIONS = 512 };

typedef struct buffer {
    VkBuffer       handle;
    VkDeviceMemory memory;
} buffer;

typedef struct app {
    VkInstance         instance;
    VkPhysicalDevice   physical;
    VkDevice           device;
    VkQueue            queue;
    uint32_t           family;
    halo_vulkan_device about;             /* What the filter may count on. */
    float              timestamp_period;  /* Nanoseconds a tick. */

    unsharp_vulkan *filter;
    VkCommandPool   pool;
    VkCommandBuffer commands;
    VkDescriptorPool descriptors;
    VkQueryPool     times;
    VkFence         fence;
    buffer          upload, from, to, scratch, download;
} app;

/* Every Vulkan call goes through here; the first failure is the one that is told. */
static int works(VkResult result, const char *what)
{
    if (result == VK_SUCCESS)
        return 1;
    fprintf(stderr, "sharpen: %s: Vulkan error %d\n", what, (int)result);
    return 0;
}

static int filter_works(int code, const char *what)
{
    if (code == HALO_OK)
        return 1;
    fprintf(stderr, "sharpen: %s: %s\n", what, unsharp_vulkan_error(code));
    return 0;
}

/* --- The app's device, with the features that the filter likes if they are there. --- */

static int make_instance(app *a)
{
    VkApplicationInfo    application = {.sType = VK_STRUCTURE_TYPE_APPLICATION_INFO, .apiVersion = VK_API_VERSION_1_1};
    VkInstanceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO, .pApplicationInfo = &application};
    return works(vkCreateInstance(&info, NULL, &a->instance), "vkCreateInstance");
}

static int pick_device(app *a)
{
    VkPhysicalDevice devices[MOST_DEVICES];
    uint32_t         n_devices = MOST_DEVICES;
    VkResult         result = vkEnumeratePhysicalDevices(a->instance, &n_devices, devices);
    if (result != VK_INCOMPLETE && !works(result, "vkEnumeratePhysicalDevices"))
        return 0;
    for (uint32_t i = 0; i < n_devices; i++) {
        VkQueueFamilyProperties families[MOST_FAMILIES];
        uint32_t                n_families = MOST_FAMILIES;
        vkGetPhysicalDeviceQueueFamilyProperties(devices[i], &n_families, families);
        for (uint32_t k = 0; k < n_families; k++)
            if (families[k].queueFlags & VK_QUEUE_COMPUTE_BIT) {
                a->physical = devices[i];
                a->family = k;
                return 1;
            }
    }
    fprintf(stderr, "sharpen: there is no Vulkan device with a compute queue\n");
    return 0;
}

static int has_extension(const app *a, const char *name)
{
    static VkExtensionProperties all[MOST_EXTENSIONS];
    uint32_t                     n = MOST_EXTENSIONS;
    vkEnumerateDeviceExtensionProperties(a->physical, NULL, &n, all);
    for (uint32_t i = 0; i < n; i++)
        if (strcmp(all[i].extensionName, name) == 0)
            return 1;
    return 0;
}

static void describe_device(app *a)
{
    VkPhysicalDeviceProperties properties;
    vkGetPhysicalDeviceProperties(a->physical, &properties);
    a->about.limits = properties.limits;
    a->timestamp_period = properties.limits.timestampPeriod;
    /* Mesa's device of processors ends an invocation after so many rounds of loops, and says nothing. */
    if (properties.deviceType == VK_PHYSICAL_DEVICE_TYPE_CPU)
        a->about.most_loop_iterations = 65535;
    fprintf(stderr, "sharpen: on %s\n", properties.deviceName);
}

static int make_device(app *a)
{
    const char *extension = VK_KHR_8BIT_STORAGE_EXTENSION_NAME;
    int         has_8bit = has_extension(a, extension);
    VkPhysicalDevice8BitStorageFeatures  bytes = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_8BIT_STORAGE_FEATURES};
    VkPhysicalDevice16BitStorageFeatures shorts = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_16BIT_STORAGE_FEATURES,
                                                   .pNext = has_8bit ? &bytes : NULL};
    VkPhysicalDeviceFeatures2 features = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2, .pNext = &shorts};
    vkGetPhysicalDeviceFeatures2(a->physical, &features);
    a->about.storage_8bit = bytes.storageBuffer8BitAccess;
    a->about.storage_16bit = shorts.storageBuffer16BitAccess;
    a->about.shader_int64 = features.features.shaderInt64;

    features.features = (VkPhysicalDeviceFeatures){.shaderInt64 = a->about.shader_int64};
    bytes.uniformAndStorageBuffer8BitAccess = bytes.storagePushConstant8 = VK_FALSE;
    shorts.uniformAndStorageBuffer16BitAccess = shorts.storagePushConstant16 = shorts.storageInputOutput16 = VK_FALSE;
    float                   priority = 1;
    VkDeviceQueueCreateInfo queue = {.sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO, .queueFamilyIndex = a->family,
                                     .queueCount = 1, .pQueuePriorities = &priority};
    VkDeviceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO, .pNext = &features, .queueCreateInfoCount = 1,
                               .pQueueCreateInfos = &queue, .enabledExtensionCount = (uint32_t)has_8bit,
                               .ppEnabledExtensionNames = &extension};
    if (!works(vkCreateDevice(a->physical, &info, NULL, &a->device), "vkCreateDevice"))
        return 0;
    vkGetDeviceQueue(a->device, a->family, 0, &a->queue);
    return 1;
}

/* --- The filter: pipelines for this device, made once. --- */

static int make_filter(app *a)
{
    int code = unsharp_vulkan_create(a->device, vkGetDeviceProcAddr, &a->about, VK_NULL_HANDLE, &a->filter);
    if (code == HALO_VULKAN_ERROR_FEATURE)
        fprintf(stderr, "sharpen: the device lacks %s\n", unsharp_vulkan_missing(&a->about));
    return filter_works(code, "making the filter");
}

/* --- Memory: pictures where the device likes them, and two buffers that the app can write and read. --- */

static int find_memory(const app *a, uint32_t allowed, VkMemoryPropertyFlags wanted, uint32_t *type)
{
    VkPhysicalDeviceMemoryProperties memory;
    vkGetPhysicalDeviceMemoryProperties(a->physical, &memory);
    for (*type = 0; *type < memory.memoryTypeCount; ++*type)
        if (allowed >> *type & 1 && (memory.memoryTypes[*type].propertyFlags & wanted) == wanted)
            return 1;
    fprintf(stderr, "sharpen: no memory of the device fits\n");
    return 0;
}

static int make_buffer(const app *a, buffer *b, VkDeviceSize bytes, VkBufferUsageFlags usage, VkMemoryPropertyFlags wanted)
{
    VkBufferCreateInfo info = {.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO, .size = bytes, .usage = usage};
    if (!works(vkCreateBuffer(a->device, &info, NULL, &b->handle), "vkCreateBuffer"))
        return 0;
    VkMemoryRequirements needs;
    vkGetBufferMemoryRequirements(a->device, b->handle, &needs);
    VkMemoryAllocateInfo memory = {.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO, .allocationSize = needs.size};
    return find_memory(a, needs.memoryTypeBits, wanted, &memory.memoryTypeIndex) &&
           works(vkAllocateMemory(a->device, &memory, NULL, &b->memory), "vkAllocateMemory") &&
           works(vkBindBufferMemory(a->device, b->handle, b->memory, 0), "vkBindBufferMemory");
}

static void free_buffer(const app *a, buffer *b)
{
    vkDestroyBuffer(a->device, b->handle, NULL);
    vkFreeMemory(a->device, b->memory, NULL);
}

/* Rows begin at whole words, and what lies between them may be overwritten: so the filter runs on any device. */
static int64_t row_bytes(int width) { return ((int64_t)width * 3 + 3) / 4 * 4; }

static halo_vulkan_image view(const buffer *b, int width, int height)
{
    return (halo_vulkan_image){.buffer = b->handle, .size = (VkDeviceSize)(row_bytes(width) * height),
                               .extent = {width, height, 1, 1, 1}, .stride = {3, row_bytes(width)}, .padded_rows = 1};
}

static int make_memory(app *a, VkDeviceSize picture, const halo_vulkan_needs *needs)
{
    const VkMemoryPropertyFlags mapped = VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
    return make_buffer(a, &a->upload, picture, VK_BUFFER_USAGE_TRANSFER_SRC_BIT, mapped) &&
           make_buffer(a, &a->download, picture, VK_BUFFER_USAGE_TRANSFER_DST_BIT, mapped) &&
           make_buffer(a, &a->from, picture, needs->input_usage | VK_BUFFER_USAGE_TRANSFER_DST_BIT,
                       VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT) &&
           make_buffer(a, &a->to, picture, needs->output_usage | VK_BUFFER_USAGE_TRANSFER_SRC_BIT,
                       VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT) &&
           (needs->scratch_bytes == 0 ||
            make_buffer(a, &a->scratch, needs->scratch_bytes, needs->scratch_usage, VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT));
}

/* --- Commands. --- */

/* `recordings`: how often descriptor sets are taken from the pool before it is reset. */
static int make_commands(app *a, const halo_vulkan_needs *needs, uint32_t recordings)
{
    VkDescriptorPoolSize size = {VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, needs->storage_buffers * recordings};
    VkDescriptorPoolCreateInfo descriptors = {.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO,
                                              .maxSets = needs->sets * recordings, .poolSizeCount = 1, .pPoolSizes = &size};
    VkCommandPoolCreateInfo pool = {.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO, .queueFamilyIndex = a->family,
                                    .flags = VK_COMMAND_POOL_CREATE_RESET_COMMAND_BUFFER_BIT};
    VkQueryPoolCreateInfo times = {.sType = VK_STRUCTURE_TYPE_QUERY_POOL_CREATE_INFO, .queryType = VK_QUERY_TYPE_TIMESTAMP,
                                   .queryCount = 2};
    VkFenceCreateInfo     fence = {.sType = VK_STRUCTURE_TYPE_FENCE_CREATE_INFO};
    if (!works(vkCreateDescriptorPool(a->device, &descriptors, NULL, &a->descriptors), "vkCreateDescriptorPool") ||
        !works(vkCreateCommandPool(a->device, &pool, NULL, &a->pool), "vkCreateCommandPool") ||
        !works(vkCreateQueryPool(a->device, &times, NULL, &a->times), "vkCreateQueryPool") ||
        !works(vkCreateFence(a->device, &fence, NULL, &a->fence), "vkCreateFence"))
        return 0;
    VkCommandBufferAllocateInfo commands = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO, .commandPool = a->pool,
                                            .level = VK_COMMAND_BUFFER_LEVEL_PRIMARY, .commandBufferCount = 1};
    return works(vkAllocateCommandBuffers(a->device, &commands, &a->commands), "vkAllocateCommandBuffers");
}

static int begin(const app *a)
{
    VkCommandBufferBeginInfo info = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO,
                                     .flags = VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT};
    return works(vkBeginCommandBuffer(a->commands, &info), "vkBeginCommandBuffer");
}

static int submit(const app *a)
{
    VkSubmitInfo info = {.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO, .commandBufferCount = 1, .pCommandBuffers = &a->commands};
    return works(vkEndCommandBuffer(a->commands), "vkEndCommandBuffer") &&
           works(vkQueueSubmit(a->queue, 1, &info, a->fence), "vkQueueSubmit") &&
           works(vkWaitForFences(a->device, 1, &a->fence, VK_TRUE, UINT64_MAX), "vkWaitForFences") &&
           works(vkResetFences(a->device, 1, &a->fence), "vkResetFences");
}

static void barrier(const app *a, VkPipelineStageFlags from, VkAccessFlags done, VkPipelineStageFlags to, VkAccessFlags next)
{
    VkMemoryBarrier all = {.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER, .srcAccessMask = done, .dstAccessMask = next};
    vkCmdPipelineBarrier(a->commands, from, to, 0, 1, &all, 0, NULL, 0, NULL);
}

/* The app's own commands before the filter's: here an upload, elsewhere whatever made the picture. */
static void record_before(const app *a, VkDeviceSize bytes, const halo_vulkan_needs *needs)
{
    VkBufferCopy whole = {0, 0, bytes};
    vkCmdResetQueryPool(a->commands, a->times, 0, 2);
    vkCmdCopyBuffer(a->commands, a->upload.handle, a->from.handle, 1, &whole);
    barrier(a, VK_PIPELINE_STAGE_TRANSFER_BIT, VK_ACCESS_TRANSFER_WRITE_BIT, needs->first_stages, needs->first_accesses);
    vkCmdWriteTimestamp(a->commands, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, a->times, 0);
}

static void record_after(const app *a, VkDeviceSize bytes, const halo_vulkan_needs *needs)
{
    VkBufferCopy whole = {0, 0, bytes};
    vkCmdWriteTimestamp(a->commands, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, a->times, 1);
    barrier(a, needs->last_stages, needs->last_accesses, VK_PIPELINE_STAGE_TRANSFER_BIT, VK_ACCESS_TRANSFER_READ_BIT);
    vkCmdCopyBuffer(a->commands, a->to.handle, a->download.handle, 1, &whole);
    barrier(a, VK_PIPELINE_STAGE_TRANSFER_BIT, VK_ACCESS_TRANSFER_WRITE_BIT, VK_PIPELINE_STAGE_HOST_BIT, VK_ACCESS_HOST_READ_BIT);
}

/* All in one submission, or in several short ones: a long filter must not keep a screen waiting, and could be given up here. */
static int sharpen(const app *a, const halo_vulkan_image *in, const unsharp_params *params, const halo_vulkan_image *out,
                   const halo_vulkan_needs *needs, uint64_t slices)
{
    halo_vulkan_resources resources = {.pool = a->descriptors, .scratch = a->scratch.handle};
    uint64_t              count = (needs->workgroups + slices - 1) / slices;
    for (uint64_t first = 0; first < needs->workgroups; first += count) {
        halo_vulkan_slice slice = {first, count};
        uint64_t          last = first + count;
        if (!begin(a))
            return 0;
        if (first == 0)
            record_before(a, in->size, needs);
        int code = slices == 1 ? unsharp_vulkan_record(a->filter, a->commands, in, params, out, &resources)
                               : unsharp_vulkan_record_part(a->filter, a->commands, in, params, out, NULL, &slice, &resources);
        if (!filter_works(code, "recording"))
            return 0;
        if (last >= needs->workgroups)
            record_after(a, out->size, needs);
        if (!submit(a))
            return 0;
        if (slices > 1)
            fprintf(stderr, "\rsharpening: %3.0f %%",
                    last < needs->workgroups ? 100.0 * (double)last / (double)needs->workgroups : 100.0);
    }
    if (slices > 1)
        fputc('\n', stderr);
    return 1;
}

static void tell_time(const app *a)
{
    uint64_t ticks[2];
    VkResult result = vkGetQueryPoolResults(a->device, a->times, 0, 2, sizeof ticks, ticks, sizeof *ticks, VK_QUERY_RESULT_64_BIT);
    if (result == VK_SUCCESS)
        fprintf(stderr, "sharpen: %.2f ms on the device\n", (double)(ticks[1] - ticks[0]) * a->timestamp_period * 1e-6);
}

/* --- PPM files, straight into and out of mapped memory. --- */

static int read_pixels(const app *a, FILE *file, int width, int height)
{
    char *rows;
    if (!works(vkMapMemory(a->device, a->upload.memory, 0, VK_WHOLE_SIZE, 0, (void **)&rows), "vkMapMemory"))
        return 0;
    int good = 1;
    for (int y = 0; y < height && good; y++)
        good = fread(rows + row_bytes(width) * y, 3, (size_t)width, file) == (size_t)width;
    vkUnmapMemory(a->device, a->upload.memory);
    if (!good)
        fprintf(stderr, "sharpen: the picture ends early\n");
    return good;
}

static int write_picture(const app *a, const char *path, int width, int height)
{
    char *rows;
    FILE *file = fopen(path, "wb");
    if (!file || !works(vkMapMemory(a->device, a->download.memory, 0, VK_WHOLE_SIZE, 0, (void **)&rows), "vkMapMemory")) {
        fprintf(stderr, "sharpen: cannot write %s\n", path);
        return 0;
    }
    fprintf(file, "P6\n%d %d\n255\n", width, height);
    for (int y = 0; y < height; y++)
        fwrite(rows + row_bytes(width) * y, 3, (size_t)width, file);
    vkUnmapMemory(a->device, a->download.memory);
    int good = !ferror(file);
    return fclose(file) == 0 && good;
}

static int run(app *a, FILE *file, int width, int height, const char *path, const unsharp_params *params, uint64_t slices)
{
    halo_vulkan_image in = view(&a->from, width, height), out = in;
    halo_vulkan_needs needs;
    if (!filter_works(unsharp_vulkan_size(&in, params, &out), "the picture") ||
        !filter_works(unsharp_vulkan_needs(a->filter, &in, params, NULL, &needs), "the picture") ||
        !make_memory(a, in.size, &needs) || !make_commands(a, &needs, (uint32_t)slices) || !read_pixels(a, file, width, height))
        return 0;
    in = view(&a->from, width, height);
    out = view(&a->to, width, height);
    if (!sharpen(a, &in, params, &out, &needs, slices))
        return 0;
    tell_time(a);
    return write_picture(a, path, width, height);
}

static void end(app *a)
{
    buffer *all[] = {&a->upload, &a->from, &a->to, &a->scratch, &a->download};
    if (a->device) {
        vkDeviceWaitIdle(a->device);
        for (int i = 0; i < 5; i++)
            free_buffer(a, all[i]);
        vkDestroyFence(a->device, a->fence, NULL);
        vkDestroyQueryPool(a->device, a->times, NULL);
        vkDestroyCommandPool(a->device, a->pool, NULL);
        vkDestroyDescriptorPool(a->device, a->descriptors, NULL);
        unsharp_vulkan_destroy(a->filter);
        vkDestroyDevice(a->device, NULL);
    }
    if (a->instance)
        vkDestroyInstance(a->instance, NULL);
}

int main(int argc, char **argv)
{
    if (argc < 3) {
        fprintf(stderr, "usage: sharpen IN.ppm OUT.ppm [SIGMA [AMOUNT [SUBMISSIONS]]]\n");
        return 2;
    }
    unsharp_params params = unsharp_defaults;
    if (argc > 3)
        params.sigma = (float)atof(argv[3]);
    if (argc > 4)
        params.amount = (float)atof(argv[4]);
    long  slices = argc > 5 ? atol(argv[5]) : 1;
    app   a = {0};
    int   width, height, status = 1;
    FILE *file = fopen(argv[1], "rb");
    if (!file || fscanf(file, "P6 %d %d 255", &width, &height) != 2 || fgetc(file) == EOF || width < 1 || height < 1)
        fprintf(stderr, "sharpen: %s is no PPM picture of 8 bits that could be read\n", argv[1]);
    else if (make_instance(&a) && pick_device(&a) && (describe_device(&a), make_device(&a)) && make_filter(&a))
        status = !run(&a, file, width, height, argv[2], &params, (uint64_t)(slices > 0 ? slices : 1));
    end(&a);
    if (file)
        fclose(file);
    return status;
}
