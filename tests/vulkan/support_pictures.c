/* SPDX-License-Identifier: MIT */
#include "support_pictures.h"

#include <string.h>

static bool is_image(const picture *p) { return p->layout == VPLAN_LAYOUT_image || p->layout == VPLAN_LAYOUT_sampled; }

static VkFormat format_of(type t)
{
#define ROW(a, b, d) { VK_FORMAT_##a, VK_FORMAT_##b, VK_FORMAT_##d, VK_FORMAT_##d }
    static const VkFormat bytes[] = ROW(R8_UNORM, R8G8_UNORM, R8G8B8A8_UNORM);
    static const VkFormat words[] = ROW(R16_UNORM, R16G16_UNORM, R16G16B16A16_UNORM);
    static const VkFormat halves[] = ROW(R16_SFLOAT, R16G16_SFLOAT, R16G16B16A16_SFLOAT);
    static const VkFormat reals[] = ROW(R32_SFLOAT, R32G32_SFLOAT, R32G32B32A32_SFLOAT);
#undef ROW
    return (t.kind == KIND_u8 ? bytes : t.kind == KIND_u16 ? words : t.kind == KIND_f16 ? halves : reals)[t.lanes - 1];
}

/* ---- making ------------------------------------------------------------------------------------------------- */

static void make_image(test_device *d, picture *p, type t)
{
    VkImageUsageFlags usage = p->layout == VPLAN_LAYOUT_image ? VK_IMAGE_USAGE_STORAGE_BIT : VK_IMAGE_USAGE_SAMPLED_BIT;
    VkImageCreateInfo info = { .sType = VK_STRUCTURE_TYPE_IMAGE_CREATE_INFO, .imageType = VK_IMAGE_TYPE_2D, .format = format_of(t),
        .extent = { (uint32_t)p->width, (uint32_t)p->height, 1 }, .mipLevels = 1, .arrayLayers = 1,
        .samples = VK_SAMPLE_COUNT_1_BIT, .usage = usage | VK_IMAGE_USAGE_TRANSFER_SRC_BIT | VK_IMAGE_USAGE_TRANSFER_DST_BIT };
    if (vkCreateImage(d->device, &info, NULL, &p->image) != VK_SUCCESS) return;
    VkMemoryRequirements needs;
    vkGetImageMemoryRequirements(d->device, p->image, &needs);
    uint32_t which = 0;
    while (which < 31 && !(needs.memoryTypeBits >> which & 1)) which++;
    VkMemoryAllocateInfo allocation = { .sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO, .allocationSize = needs.size,
        .memoryTypeIndex = which };
    if (vkAllocateMemory(d->device, &allocation, NULL, &p->memory) != VK_SUCCESS) return;
    vkBindImageMemory(d->device, p->image, p->memory, 0);
    VkImageViewCreateInfo view = { .sType = VK_STRUCTURE_TYPE_IMAGE_VIEW_CREATE_INFO, .image = p->image,
        .viewType = VK_IMAGE_VIEW_TYPE_2D, .format = info.format, .subresourceRange = { VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 0, 1 } };
    vkCreateImageView(d->device, &view, NULL, &p->abi.view);
}

static void describe_buffer(picture *p)
{
    int64_t pixel = p->layout == VPLAN_LAYOUT_planar ? p->bytes : (int64_t)p->bytes * p->lanes;
    p->abi.buffer = p->buffer.buffer;
    p->abi.size = p->buffer.n_bytes;
    p->abi.stride[0] = pixel;
    p->abi.stride[1] = pixel * p->width;
    p->abi.padded_rows = p->width * pixel % 4 != 0 && p->height == 1;
    if (p->layout != VPLAN_LAYOUT_planar) return;
    p->abi.stride[2] = pixel * p->width * p->height;
    p->abi.extent[2] = p->lanes;
}

picture picture_new(test_device *d, int layout, type t, int32_t width, int32_t height)
{
    picture p = { .layout = layout, .bytes = kind_get((kind)t.kind)->n_bytes, .lanes = t.lanes, .width = width, .height = height,
                  .abi = { .extent = { width, height, 1, 1, 1 } } };
    if (is_image(&p) && t.lanes == 3) p.lanes = 4;
    uint64_t n_bytes = (uint64_t)width * (uint64_t)height * (uint64_t)(p.bytes * p.lanes);
    p.buffer = test_buffer_new(d, (n_bytes + 3) / 4 * 4);
    memset(p.buffer.bytes, 0x5a, p.buffer.n_bytes);
    if (is_image(&p)) make_image(d, &p, t);
    else describe_buffer(&p);
    return p;
}

void picture_free(test_device *d, picture *p)
{
    vkDestroyImageView(d->device, p->abi.view, NULL);
    vkDestroyImage(d->device, p->image, NULL);
    vkFreeMemory(d->device, p->memory, NULL);
    test_buffer_free(d, &p->buffer);
}

/* ---- pixels ------------------------------------------------------------------------------------------------- */

uint8_t *picture_component(const picture *p, int32_t x, int32_t y, int l)
{
    if (p->layout == VPLAN_LAYOUT_bgra && p->lanes >= 3 && l < 3) l = 2 - l;
    int64_t pixel = (int64_t)y * p->width + x;
    int64_t at = p->layout == VPLAN_LAYOUT_planar ? (int64_t)l * p->width * p->height + pixel : pixel * p->lanes + l;
    return (uint8_t *)p->buffer.bytes + at * p->bytes;
}

void picture_put(picture *p, type t, const uint8_t *dense)
{
    for (int32_t y = 0; y < p->height; y++)
        for (int32_t x = 0; x < p->width; x++)
            for (int l = 0; l < t.lanes; l++, dense += p->bytes) memcpy(picture_component(p, x, y, l), dense, (size_t)p->bytes);
}

void picture_get(const picture *p, type t, uint8_t *dense)
{
    for (int32_t y = 0; y < p->height; y++)
        for (int32_t x = 0; x < p->width; x++)
            for (int l = 0; l < t.lanes; l++, dense += p->bytes) memcpy(dense, picture_component(p, x, y, l), (size_t)p->bytes);
}

/* ---- commands ----------------------------------------------------------------------------------------------- */

VkCommandBuffer commands_begin(test_device *d)
{
    VkCommandBuffer commands = NULL;
    VkCommandBufferAllocateInfo allocation = { .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO, .commandPool = d->pool,
        .level = VK_COMMAND_BUFFER_LEVEL_PRIMARY, .commandBufferCount = 1 };
    VkCommandBufferBeginInfo begin = { .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO,
        .flags = VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT };
    vkAllocateCommandBuffers(d->device, &allocation, &commands);
    vkBeginCommandBuffer(commands, &begin);
    return commands;
}

typedef struct moment { VkPipelineStageFlags stage; VkAccessFlags access; VkImageLayout layout; } moment;

static void change(const picture *p, VkCommandBuffer commands, moment from, moment to)
{
    VkImageMemoryBarrier barrier = { .sType = VK_STRUCTURE_TYPE_IMAGE_MEMORY_BARRIER, .srcAccessMask = from.access,
        .dstAccessMask = to.access, .oldLayout = from.layout, .newLayout = to.layout,
        .srcQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED, .dstQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED, .image = p->image,
        .subresourceRange = { VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 0, 1 } };
    vkCmdPipelineBarrier(commands, from.stage, to.stage, 0, 0, NULL, 0, NULL, 1, &barrier);
}

static VkBufferImageCopy all_of(const picture *p)
{
    return (VkBufferImageCopy){ .imageSubresource = { VK_IMAGE_ASPECT_COLOR_BIT, 0, 0, 1 },
                                .imageExtent = { (uint32_t)p->width, (uint32_t)p->height, 1 } };
}

static moment in_shaders(const picture *p)
{
    VkImageLayout layout = p->layout == VPLAN_LAYOUT_image ? VK_IMAGE_LAYOUT_GENERAL
                         : p->abi.view_layout ? p->abi.view_layout : VK_IMAGE_LAYOUT_SHADER_READ_ONLY_OPTIMAL;
    return (moment){ VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, VK_ACCESS_SHADER_READ_BIT | VK_ACCESS_SHADER_WRITE_BIT, layout };
}

void picture_before(picture *p, VkCommandBuffer commands)
{
    if (!is_image(p)) return;
    moment nothing = { VK_PIPELINE_STAGE_TOP_OF_PIPE_BIT, 0, VK_IMAGE_LAYOUT_UNDEFINED };
    moment copied = { VK_PIPELINE_STAGE_TRANSFER_BIT, VK_ACCESS_TRANSFER_WRITE_BIT, VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL };
    VkBufferImageCopy whole = all_of(p);
    change(p, commands, nothing, copied);
    vkCmdCopyBufferToImage(commands, p->buffer.buffer, p->image, copied.layout, 1, &whole);
    change(p, commands, copied, in_shaders(p));
}

void picture_after(picture *p, VkCommandBuffer commands)
{
    if (!is_image(p)) return;
    moment copied = { VK_PIPELINE_STAGE_TRANSFER_BIT, VK_ACCESS_TRANSFER_READ_BIT, VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL };
    VkBufferImageCopy whole = all_of(p);
    change(p, commands, in_shaders(p), copied);
    vkCmdCopyImageToBuffer(commands, p->image, copied.layout, p->buffer.buffer, 1, &whole);
}

bool commands_run(test_device *d, VkCommandBuffer commands)
{
    VkMemoryBarrier barrier = { .sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER,
        .srcAccessMask = VK_ACCESS_SHADER_WRITE_BIT | VK_ACCESS_TRANSFER_WRITE_BIT, .dstAccessMask = VK_ACCESS_HOST_READ_BIT };
    VkPipelineStageFlags stages = VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT | VK_PIPELINE_STAGE_TRANSFER_BIT;
    vkCmdPipelineBarrier(commands, stages, VK_PIPELINE_STAGE_HOST_BIT, 0, 1, &barrier, 0, NULL, 0, NULL);
    vkEndCommandBuffer(commands);
    VkSubmitInfo info = { .sType = VK_STRUCTURE_TYPE_SUBMIT_INFO, .commandBufferCount = 1, .pCommandBuffers = &commands };
    bool good = vkQueueSubmit(d->queue, 1, &info, VK_NULL_HANDLE) == VK_SUCCESS && vkQueueWaitIdle(d->queue) == VK_SUCCESS;
    vkFreeCommandBuffers(d->device, d->pool, 1, &commands);
    return good;
}
