/* SPDX-License-Identifier: MIT
 * The commands of one submission of a run: inputs to the device's buffers, the pipe's kernels, outputs back, with barriers between
 * them and timestamps. */
#include "runtime/vulkan_run.h"

int vulkan_code(VkResult result)
{
    bool is_memory = result == VK_ERROR_OUT_OF_HOST_MEMORY || result == VK_ERROR_OUT_OF_DEVICE_MEMORY;
    return result == VK_SUCCESS ? HALO_OK : is_memory ? HALO_ERROR_MEMORY : HALO_VULKAN_ERROR_DEVICE;
}

halo_part vulkan_part_of_rank(const halo_part *part, int32_t rank)
{
    halo_part out = *part;
    for (int d = rank; d < HALO_MAX_RANK; d++) {
        out.start[d] = 0;
        out.extent[d] = 1;
    }
    return out;
}

static VkResult reserve_sets(vulkan_pipe *pipe, vulkan_run *run, const halo_vulkan_needs *needs)
{
    halo_device *device = pipe->device;
    if (needs->sets <= run->n_sets && needs->storage_buffers <= run->n_storage_buffers)
        return device->ResetDescriptorPool(device->handle, run->sets, 0);
    device->DestroyDescriptorPool(device->handle, run->sets, NULL);
    run->sets = VK_NULL_HANDLE;
    VkDescriptorPoolSize sizes = {VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, needs->storage_buffers};
    VkDescriptorPoolCreateInfo info = {.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO, .maxSets = needs->sets,
                                       .poolSizeCount = 1, .pPoolSizes = &sizes};
    VkResult result = device->CreateDescriptorPool(device->handle, &info, NULL, &run->sets);
    run->n_sets = result == VK_SUCCESS ? needs->sets : 0;
    run->n_storage_buffers = result == VK_SUCCESS ? needs->storage_buffers : 0;
    return result;
}

static void barrier(const recording *r, VkPipelineStageFlags from, VkAccessFlags wrote, VkPipelineStageFlags to,
                    VkAccessFlags reads)
{
    VkMemoryBarrier memory = {.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER, .srcAccessMask = wrote, .dstAccessMask = reads};
    r->pipe->device->CmdPipelineBarrier(r->run->commands, from, to, 0, 1, &memory, 0, NULL, 0, NULL);
}

static void mark(const recording *r, uint32_t which)
{
    if (r->run->marks)
        r->pipe->device->CmdWriteTimestamp(r->run->commands, VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT, r->run->marks, which);
}

static void record_uploads(const recording *r)
{
    halo_device *device = r->pipe->device;
    VkDeviceSize at = 0;
    for (size_t i = 0; i < n_inputs(r->pipe); i++) {
        VkBufferCopy copy;
        vulkan_picture_range(&r->run->pictures[i], &r->run->taken[i], &copy.dstOffset, &copy.size);
        copy.srcOffset = at + copy.dstOffset;
        if (r->run->taken[i].extent[0] > 0)
            device->CmdCopyBuffer(r->run->commands, r->run->upload.handle, r->run->buffers[i].handle, 1, &copy);
        at += r->run->pictures[i].bytes;
    }
    barrier(r, VK_PIPELINE_STAGE_TRANSFER_BIT, VK_ACCESS_TRANSFER_WRITE_BIT, r->needs.first_stages, r->needs.first_accesses);
}

static void record_downloads(const recording *r)
{
    halo_device *device = r->pipe->device;
    VkDeviceSize at = 0;
    barrier(r, r->needs.last_stages, r->needs.last_accesses, VK_PIPELINE_STAGE_TRANSFER_BIT, VK_ACCESS_TRANSFER_READ_BIT);
    for (size_t i = n_inputs(r->pipe); i < n_pictures(r->pipe); i++) {
        halo_part part = vulkan_part_of_rank(&r->run->part, r->pipe->signature->outputs[i - n_inputs(r->pipe)].rank);
        VkBufferCopy copy;
        vulkan_picture_range(&r->run->pictures[i], r->run->has_part ? &part : NULL, &copy.srcOffset, &copy.size);
        copy.dstOffset = at + copy.srcOffset;
        device->CmdCopyBuffer(r->run->commands, r->run->buffers[i].handle, r->run->download.handle, 1, &copy);
        at += r->run->pictures[i].bytes;
    }
    barrier(r, VK_PIPELINE_STAGE_TRANSFER_BIT, VK_ACCESS_TRANSFER_WRITE_BIT, VK_PIPELINE_STAGE_HOST_BIT, VK_ACCESS_HOST_READ_BIT);
}

static int record_kernels(const recording *r)
{
    vulkan_run *run = r->run;
    halo_vulkan_resources resources = {.pool = run->sets,
                                       .scratch = r->needs.scratch_bytes > 0 ? run->scratch.handle : VK_NULL_HANDLE};
    return haloi_vulkan_record(r->pipe->handle, run->commands, run->image_at, r->params, run->image_at + n_inputs(r->pipe),
                               run->has_part ? &run->part : NULL, r->whole ? NULL : &r->slice, &resources, r->failed);
}

/* A submission that isn't the first continues from what earlier ones wrote. */
int vulkan_record(const recording *r)
{
    halo_device *device = r->pipe->device;
    vulkan_run *run = r->run;
    VkCommandBufferBeginInfo begin = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO,
                                      .flags = VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT};
    VkResult result = device->ResetCommandPool(device->handle, run->commands_pool, 0);
    if (result == VK_SUCCESS)
        result = reserve_sets(r->pipe, run, &r->needs);
    if (result == VK_SUCCESS)
        result = device->BeginCommandBuffer(run->commands, &begin);
    if (result != VK_SUCCESS)
        return vulkan_code(result);
    if (run->marks)
        device->CmdResetQueryPool(run->commands, run->marks, 0, N_MARKS);
    mark(r, MARK_begin);
    if (r->is_first && !device->direct)
        record_uploads(r);
    if (!r->is_first)
        barrier(r, r->needs.last_stages, r->needs.last_accesses, r->needs.first_stages, r->needs.first_accesses);
    mark(r, MARK_uploaded);
    int code = record_kernels(r);
    mark(r, MARK_computed);
    if (r->is_last && device->direct)
        barrier(r, r->needs.last_stages, r->needs.last_accesses, VK_PIPELINE_STAGE_HOST_BIT, VK_ACCESS_HOST_READ_BIT);
    else if (r->is_last)
        record_downloads(r);
    mark(r, MARK_end);
    result = device->EndCommandBuffer(run->commands);
    return code != HALO_OK ? code : vulkan_code(result);
}

int vulkan_submit(const recording *r)
{
    halo_device *device = r->pipe->device;
    VkSubmitInfo info = {.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO, .commandBufferCount = 1, .pCommandBuffers = &r->run->commands};
    VkResult result = device->ResetFences(device->handle, 1, &r->run->fence);
    pthread_mutex_lock(&device->queue_lock);
    if (result == VK_SUCCESS)
        result = device->QueueSubmit(device->queue, 1, &info, r->run->fence);
    pthread_mutex_unlock(&device->queue_lock);
    return vulkan_code(result);
}

static double milliseconds(const vulkan_pipe *pipe, uint64_t from, uint64_t to)
{
    uint32_t bits = pipe->device->physical.timestamp_bits;
    uint64_t mask = bits < 64 ? ((uint64_t)1 << bits) - 1 : UINT64_MAX;
    return (double)((to - from) & mask) * (double)pipe->device->about.limits.timestampPeriod / 1e6;
}

/* Adds what the submission took. */
int vulkan_wait(vulkan_pipe *pipe, vulkan_run *run)
{
    halo_device *device = pipe->device;
    VkResult result = device->WaitForFences(device->handle, 1, &run->fence, VK_TRUE, UINT64_MAX);
    uint64_t t[N_MARKS];
    if (result == VK_SUCCESS && run->marks)
        result = device->GetQueryPoolResults(device->handle, run->marks, 0, N_MARKS, sizeof t, t, sizeof *t,
                                             VK_QUERY_RESULT_64_BIT | VK_QUERY_RESULT_WAIT_BIT);
    if (result != VK_SUCCESS || !run->marks)
        return vulkan_code(result);
    run->times.upload += milliseconds(pipe, t[MARK_begin], t[MARK_uploaded]);
    run->times.device += milliseconds(pipe, t[MARK_uploaded], t[MARK_computed]);
    run->times.download += milliseconds(pipe, t[MARK_computed], t[MARK_end]);
    return HALO_OK;
}
