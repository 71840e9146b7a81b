/* SPDX-License-Identifier: MIT
 * One run of a pipe on a device: pictures to its buffers, the recorded kernels, results back. What a run needs is kept for the next
 * (command buffer, fence, descriptor sets, buffers that grow); runs on several threads have one each, and meet only where the queue
 * is handed work. */
#include "runtime/vulkan.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MARK_begin, MARK_uploaded, MARK_computed, MARK_end, N_MARKS };

struct vulkan_run {
    vulkan_run      *next;
    VkCommandPool    commands_pool;
    VkCommandBuffer  commands;
    VkFence          fence;
    VkQueryPool      marks;                  /* timestamps */
    VkDescriptorPool sets;
    uint32_t         n_sets, n_storage_buffers;      /* its room */
    vulkan_buffer   *buffers;                /* inputs, then outputs */
    vulkan_picture  *pictures;
    halo_vulkan_image *images;
    const halo_vulkan_image **image_at;
    vulkan_buffer    scratch, upload, download;
    halo_image      *outputs;                /* the host's, of the run at hand */
    halo_part        part;
    bool             has_part;
    const halo_exec *exec;
    bool             is_done;                /* nothing to wait for */
    halo_times       times;
};

double vulkan_now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static int code_of(VkResult result)
{
    bool is_memory = result == VK_ERROR_OUT_OF_HOST_MEMORY || result == VK_ERROR_OUT_OF_DEVICE_MEMORY;
    return result == VK_SUCCESS ? HALO_OK : is_memory ? HALO_ERROR_MEMORY : HALO_VULKAN_ERROR_DEVICE;
}

static size_t n_inputs(const vulkan_pipe *pipe) { return pipe->signature->n_inputs; }
static size_t n_pictures(const vulkan_pipe *pipe) { return pipe->signature->n_inputs + pipe->signature->n_outputs; }

/* ---- life ------------------------------------------------------------------------------------------ */

static void run_free(vulkan_pipe *pipe, vulkan_run *run)
{
    halo_device *device = pipe->device;
    for (size_t i = 0; run->buffers && i < n_pictures(pipe); i++)
        vulkan_buffer_free(device, &run->buffers[i]);
    vulkan_buffer_free(device, &run->scratch);
    vulkan_buffer_free(device, &run->upload);
    vulkan_buffer_free(device, &run->download);
    device->DestroyDescriptorPool(device->handle, run->sets, NULL);
    device->DestroyQueryPool(device->handle, run->marks, NULL);
    device->DestroyFence(device->handle, run->fence, NULL);
    device->DestroyCommandPool(device->handle, run->commands_pool, NULL);
    free(run->buffers);
    free(run->pictures);
    free(run->images);
    free(run->image_at);
    free(run->outputs);
    free(run);
}

static VkResult run_create(vulkan_pipe *pipe, vulkan_run *run)
{
    halo_device *device = pipe->device;
    VkCommandPoolCreateInfo pool = {.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO, .flags = VK_COMMAND_POOL_CREATE_TRANSIENT_BIT,
                                    .queueFamilyIndex = device->physical.family};
    VkFenceCreateInfo fence = {.sType = VK_STRUCTURE_TYPE_FENCE_CREATE_INFO};
    VkQueryPoolCreateInfo marks = {.sType = VK_STRUCTURE_TYPE_QUERY_POOL_CREATE_INFO, .queryType = VK_QUERY_TYPE_TIMESTAMP,
                                   .queryCount = N_MARKS};
    VkResult result = device->CreateCommandPool(device->handle, &pool, NULL, &run->commands_pool);
    VkCommandBufferAllocateInfo buffer = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO, .commandPool = run->commands_pool,
                                          .level = VK_COMMAND_BUFFER_LEVEL_PRIMARY, .commandBufferCount = 1};
    if (result == VK_SUCCESS)
        result = device->AllocateCommandBuffers(device->handle, &buffer, &run->commands);
    if (result == VK_SUCCESS)
        result = device->CreateFence(device->handle, &fence, NULL, &run->fence);
    if (result == VK_SUCCESS && device->physical.timestamp_bits > 0)
        result = device->CreateQueryPool(device->handle, &marks, NULL, &run->marks);
    return result;
}

static vulkan_run *run_new(vulkan_pipe *pipe, int *code)
{
    size_t n = n_pictures(pipe) + 1;
    vulkan_run *run = calloc(1, sizeof *run);
    *code = HALO_ERROR_MEMORY;
    if (!run)
        return NULL;
    run->buffers = calloc(n, sizeof *run->buffers);
    run->pictures = calloc(n, sizeof *run->pictures);
    run->images = calloc(n, sizeof *run->images);
    run->image_at = calloc(n, sizeof *run->image_at);
    run->outputs = calloc(n, sizeof *run->outputs);
    if (run->buffers && run->pictures && run->images && run->image_at && run->outputs)
        *code = code_of(run_create(pipe, run));
    if (*code == HALO_OK)
        return run;
    run_free(pipe, run);
    return NULL;
}

static vulkan_run *run_take(vulkan_pipe *pipe, int *code)
{
    pthread_mutex_lock(&pipe->lock);
    vulkan_run *run = pipe->idle;
    if (run)
        pipe->idle = run->next;
    pthread_mutex_unlock(&pipe->lock);
    *code = HALO_OK;
    return run ? run : run_new(pipe, code);
}

/* One that failed isn't kept: nobody knows what state it is in. */
static void run_give_back(vulkan_pipe *pipe, vulkan_run *run, int code)
{
    if (code != HALO_OK) {
        pthread_mutex_lock(&pipe->device->queue_lock);
        pipe->device->DeviceWaitIdle(pipe->device->handle);
        pthread_mutex_unlock(&pipe->device->queue_lock);
        run_free(pipe, run);
        return;
    }
    pthread_mutex_lock(&pipe->lock);
    run->next = pipe->idle;
    pipe->idle = run;
    pthread_mutex_unlock(&pipe->lock);
}

void vulkan_runs_free(vulkan_pipe *pipe)
{
    while (pipe->idle) {
        vulkan_run *run = pipe->idle;
        pipe->idle = run->next;
        run_free(pipe, run);
    }
}

/* ---- buffers ----------------------------------------------------------------------------------------- */

/* What the host says of dimensions that a picture doesn't have is nobody's. */
static halo_image only_rank(const halo_image *image, int32_t rank)
{
    halo_image out = *image;
    for (int d = rank; d < HALO_MAX_RANK; d++) {
        out.extent[d] = 1;
        out.stride[d] = 0;
    }
    return out;
}

static halo_part part_of_rank(const halo_part *part, int32_t rank)
{
    halo_part out = *part;
    for (int d = rank; d < HALO_MAX_RANK; d++) {
        out.start[d] = 0;
        out.extent[d] = 1;
    }
    return out;
}

static VkResult place_picture(vulkan_pipe *pipe, vulkan_run *run, size_t i, const halo_image *image, halo_kind kind, int32_t lanes)
{
    vulkan_picture *p = &run->pictures[i];
    *p = vulkan_picture_of(image->extent, halo_kind_bytes(kind) * lanes);
    VkResult result = vulkan_buffer_reserve(pipe->device, &run->buffers[i], VULKAN_PLACE_device, p->bytes);
    halo_vulkan_image *v = &run->images[i];
    *v = (halo_vulkan_image){.buffer = run->buffers[i].handle, .size = p->bytes, .padded_rows = 1};
    memcpy(v->extent, p->extent, sizeof v->extent);
    memcpy(v->stride, p->stride, sizeof v->stride);
    run->image_at[i] = v;
    return result;
}

static VkResult place_pictures(vulkan_pipe *pipe, vulkan_run *run, const halo_image *inputs, const halo_image *outputs)
{
    const halo_signature *s = pipe->signature;
    VkDeviceSize upload = 0, download = 0;
    VkResult result = VK_SUCCESS;
    for (size_t i = 0; i < s->n_inputs && result == VK_SUCCESS; i++) {
        halo_image image = only_rank(&inputs[i], s->inputs[i].rank);
        result = place_picture(pipe, run, i, &image, s->inputs[i].kind, s->inputs[i].lanes);
        upload += run->pictures[i].bytes;
    }
    for (size_t i = 0; i < s->n_outputs && result == VK_SUCCESS; i++) {
        size_t k = s->n_inputs + i;
        run->outputs[i] = only_rank(&outputs[i], s->outputs[i].rank);
        result = place_picture(pipe, run, k, &run->outputs[i], s->outputs[i].kind, s->outputs[i].lanes);
        download += run->pictures[k].bytes;
    }
    if (pipe->device->direct || result != VK_SUCCESS)
        return result;
    result = vulkan_buffer_reserve(pipe->device, &run->upload, VULKAN_PLACE_upload, upload > 0 ? upload : 4);
    return result == VK_SUCCESS ? vulkan_buffer_reserve(pipe->device, &run->download, VULKAN_PLACE_download, download) : result;
}

static void take_inputs(vulkan_pipe *pipe, vulkan_run *run, const halo_image *inputs)
{
    double start = vulkan_now_ms();
    VkDeviceSize at = 0;
    for (size_t i = 0; i < n_inputs(pipe); i++) {
        halo_image image = only_rank(&inputs[i], pipe->signature->inputs[i].rank);
        char *to = pipe->device->direct ? run->buffers[i].mapped : (char *)run->upload.mapped + at;
        vulkan_picture_upload(&run->pictures[i], &image, to);
        at += run->pictures[i].bytes;
    }
    run->times.upload = vulkan_now_ms() - start;
}

static void give_outputs(vulkan_pipe *pipe, vulkan_run *run)
{
    double start = vulkan_now_ms();
    VkDeviceSize at = 0;
    for (size_t i = 0; i < pipe->signature->n_outputs; i++) {
        size_t k = n_inputs(pipe) + i;
        halo_part part = part_of_rank(&run->part, pipe->signature->outputs[i].rank);
        char *from = pipe->device->direct ? run->buffers[k].mapped : (char *)run->download.mapped + at;
        vulkan_picture_download(&run->pictures[k], run->has_part ? &part : NULL, from, &run->outputs[i]);
        at += run->pictures[k].bytes;
    }
    run->times.download += vulkan_now_ms() - start;
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

int vulkan_size(const vulkan_pipe *pipe, const halo_image *inputs, const void *params, halo_image *outputs, int32_t *failed)
{
    size_t n = n_pictures(pipe), first_output = n_inputs(pipe);
    halo_vulkan_image *images = calloc(n, sizeof *images), **at = calloc(n, sizeof *at);
    int code = images && at ? HALO_OK : HALO_ERROR_MEMORY;
    for (size_t i = 0; i < n && code == HALO_OK; i++) {
        at[i] = &images[i];
        if (i < first_output)
            memcpy(images[i].extent, inputs[i].extent, sizeof images[i].extent);
    }
    if (code == HALO_OK)
        code = haloi_vulkan_size(&pipe->module->code, (const halo_vulkan_image *const *)at, params, at + first_output, failed);
    for (size_t i = first_output; i < n && code == HALO_OK; i++)
        memcpy(outputs[i - first_output].extent, images[i].extent, sizeof images[i].extent);
    free(images);
    free(at);
    return code;
}

/* ---- recording ----------------------------------------------------------------------------------------- */

typedef struct recording {
    vulkan_pipe       *pipe;
    vulkan_run        *run;
    const void        *params;
    halo_vulkan_needs  needs;
    halo_vulkan_slice  slice;
    bool               is_first, is_last;    /* of the submissions of this run: inputs go in, outputs come out */
    bool               whole;                /* the slice is all */
    int32_t           *failed;
} recording;

static void barrier(const recording *r, VkPipelineStageFlags from, VkAccessFlags wrote, VkPipelineStageFlags to, VkAccessFlags reads)
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
        VkBufferCopy copy = {at, 0, r->run->pictures[i].bytes};
        device->CmdCopyBuffer(r->run->commands, r->run->upload.handle, r->run->buffers[i].handle, 1, &copy);
        at += copy.size;
    }
    barrier(r, VK_PIPELINE_STAGE_TRANSFER_BIT, VK_ACCESS_TRANSFER_WRITE_BIT, r->needs.first_stages, r->needs.first_accesses);
}

static void record_downloads(const recording *r)
{
    halo_device *device = r->pipe->device;
    VkDeviceSize at = 0;
    barrier(r, r->needs.last_stages, r->needs.last_accesses, VK_PIPELINE_STAGE_TRANSFER_BIT, VK_ACCESS_TRANSFER_READ_BIT);
    for (size_t i = n_inputs(r->pipe); i < n_pictures(r->pipe); i++) {
        halo_part part = part_of_rank(&r->run->part, r->pipe->signature->outputs[i - n_inputs(r->pipe)].rank);
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
    halo_vulkan_resources resources = {.pool = run->sets, .scratch = r->needs.scratch_bytes > 0 ? run->scratch.handle : VK_NULL_HANDLE};
    return haloi_vulkan_record(r->pipe->handle, run->commands, run->image_at, r->params, run->image_at + n_inputs(r->pipe),
                               run->has_part ? &run->part : NULL, r->whole ? NULL : &r->slice, &resources, r->failed);
}

/* A submission that isn't the first continues from what earlier ones wrote. */
static int record(const recording *r)
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
        return code_of(result);
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
    return code != HALO_OK ? code : code_of(result);
}

static int submit(const recording *r)
{
    halo_device *device = r->pipe->device;
    VkSubmitInfo info = {.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO, .commandBufferCount = 1, .pCommandBuffers = &r->run->commands};
    VkResult result = device->ResetFences(device->handle, 1, &r->run->fence);
    pthread_mutex_lock(&device->queue_lock);
    if (result == VK_SUCCESS)
        result = device->QueueSubmit(device->queue, 1, &info, r->run->fence);
    pthread_mutex_unlock(&device->queue_lock);
    return code_of(result);
}

static double milliseconds(const vulkan_pipe *pipe, uint64_t from, uint64_t to)
{
    uint32_t bits = pipe->device->physical.timestamp_bits;
    uint64_t mask = bits < 64 ? ((uint64_t)1 << bits) - 1 : UINT64_MAX;
    return (double)((to - from) & mask) * (double)pipe->device->about.limits.timestampPeriod / 1e6;
}

/* Adds what the submission took. */
static int wait(vulkan_pipe *pipe, vulkan_run *run)
{
    halo_device *device = pipe->device;
    VkResult result = device->WaitForFences(device->handle, 1, &run->fence, VK_TRUE, UINT64_MAX);
    uint64_t t[N_MARKS];
    if (result == VK_SUCCESS && run->marks)
        result = device->GetQueryPoolResults(device->handle, run->marks, 0, N_MARKS, sizeof t, t, sizeof *t,
                                             VK_QUERY_RESULT_64_BIT | VK_QUERY_RESULT_WAIT_BIT);
    if (result != VK_SUCCESS || !run->marks)
        return code_of(result);
    run->times.upload += milliseconds(pipe, t[MARK_begin], t[MARK_uploaded]);
    run->times.device += milliseconds(pipe, t[MARK_uploaded], t[MARK_computed]);
    run->times.download += milliseconds(pipe, t[MARK_computed], t[MARK_end]);
    return HALO_OK;
}

/* ---- runs ------------------------------------------------------------------------------------------------ */

static int submit_and_wait(recording *r)
{
    int code = submit(r);
    return code == HALO_OK ? wait(r->pipe, r->run) : code;
}

static bool is_cancelled(const halo_exec *exec) { return exec && exec->cancelled && exec->cancelled(exec->user); }

/* All but the end, which is told when the outputs are there. */
static void tell(const halo_exec *exec, uint64_t done, uint64_t all)
{
    if (exec && exec->progress && done < all)
        exec->progress(exec->user, (float)done / (float)all);
}

/* Where the host wants to be asked or told: several submissions of some ten milliseconds each, one after another. */
static int run_slices(recording *r, const halo_exec *exec)
{
    uint64_t all = r->needs.workgroups, at_once = all / 64 + 1;
    r->whole = false;
    while (r->slice.first < all) {
        if (is_cancelled(exec))
            return HALO_CANCELLED;
        r->slice.count = at_once < all - r->slice.first ? at_once : all - r->slice.first;
        r->is_first = r->slice.first == 0;
        r->is_last = r->slice.first + r->slice.count == all;
        double start = vulkan_now_ms();
        int code = record(r);
        code = code == HALO_OK ? submit_and_wait(r) : code;
        if (code != HALO_OK)
            return code;
        double spent = vulkan_now_ms() - start;
        at_once = spent < 5 ? at_once * 2 : spent > 20 ? at_once / 2 + 1 : at_once;
        r->slice.first += r->slice.count;
        tell(exec, r->slice.first, all);
    }
    return HALO_OK;
}

static int prepare(recording *r)
{
    vulkan_pipe *pipe = r->pipe;
    vulkan_run *run = r->run;
    int code = haloi_vulkan_needs(pipe->handle, run->image_at, r->params, run->has_part ? &run->part : NULL, &r->needs, r->failed);
    if (code != HALO_OK)
        return code;
    r->slice = (halo_vulkan_slice){0, r->needs.workgroups};
    r->whole = r->is_first = r->is_last = true;
    return code_of(vulkan_buffer_reserve(pipe->device, &run->scratch, VULKAN_PLACE_device, r->needs.scratch_bytes));
}

/* What is more than a device binds at a time is run in bands of the outputs, along their last dimension; bands get thinner until
 * what they take can be bound. */
static int run_bands(recording *r, const halo_exec *exec)
{
    vulkan_run *run = r->run;
    const halo_image *out = run->outputs;
    int d = HALO_MAX_RANK - 1;
    while (d > 0 && out->extent[d] == 1)
        d--;
    for (size_t i = 1; i < r->pipe->signature->n_outputs; i++)
        if (memcmp(out[i].extent, out->extent, sizeof out->extent) != 0)
            return HALO_VULKAN_ERROR_RANGE;
    int32_t all = out->extent[d], thickness = (all + 1) / 2;
    run->has_part = true;
    memcpy(run->part.extent, out->extent, sizeof out->extent);
    for (int32_t at = 0; at < all;) {
        if (is_cancelled(exec))
            return HALO_CANCELLED;
        run->part.start[d] = at;
        run->part.extent[d] = thickness < all - at ? thickness : all - at;
        int code = prepare(r);
        r->is_first = at == 0;
        code = code == HALO_OK ? record(r) : code;
        if (code == HALO_VULKAN_ERROR_RANGE && thickness > 1) {
            thickness = (thickness + 1) / 2;
            continue;
        }
        code = code == HALO_OK ? submit_and_wait(r) : code;
        if (code != HALO_OK)
            return code;
        at += run->part.extent[d];
        tell(exec, (uint64_t)at, (uint64_t)all);
    }
    run->has_part = false;
    return HALO_OK;
}

static int start(vulkan_pipe *pipe, vulkan_run *run, const halo_image *inputs, const void *params, const halo_image *outputs,
                 int32_t *failed)
{
    recording r = {.pipe = pipe, .run = run, .params = params, .failed = failed};
    const halo_exec *exec = run->exec;
    int code = code_of(place_pictures(pipe, run, inputs, outputs));
    if (code != HALO_OK)
        return code;
    take_inputs(pipe, run, inputs);
    code = prepare(&r);
    run->is_done = exec && (exec->cancelled || exec->progress);
    if (code == HALO_OK)
        code = run->is_done ? run_slices(&r, exec) : record(&r);
    if (code == HALO_VULKAN_ERROR_RANGE && !run->has_part) {
        run->is_done = true;
        return run_bands(&r, exec);
    }
    return code == HALO_OK && !run->is_done ? submit(&r) : code;
}

vulkan_run *vulkan_begin(vulkan_pipe *pipe, const halo_image *inputs, const void *params, const halo_image *outputs,
                         const halo_part *part, const halo_exec *exec, int *code, int32_t *failed)
{
    vulkan_run *run = run_take(pipe, code);
    if (!run)
        return NULL;
    run->times = (halo_times){.pipelines = pipe->create_ms};
    run->exec = exec;
    run->has_part = part != NULL;
    run->part = part ? *part : (halo_part){0};
    *code = start(pipe, run, inputs, params, outputs, failed);
    if (*code == HALO_OK)
        return run;
    run_give_back(pipe, run, *code);
    return NULL;
}

int vulkan_end(vulkan_pipe *pipe, vulkan_run *run, halo_times *times)
{
    const halo_exec *exec = run->exec;
    int code = run->is_done ? HALO_OK : wait(pipe, run);
    if (code == HALO_OK)
        give_outputs(pipe, run);
    if (times)
        *times = run->times;
    run_give_back(pipe, run, code);
    if (code == HALO_OK && exec && exec->progress)
        exec->progress(exec->user, 1);
    return code;
}
