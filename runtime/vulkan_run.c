/* SPDX-License-Identifier: MIT
 * One run of a pipe on a device: pictures to its buffers, the recorded kernels, results back. What a run needs is kept for the next
 * (command buffer, fence, descriptor sets, buffers that grow); runs on several threads have one each, and meet only where the queue
 * is handed work. */
#include "runtime/vulkan_run.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

double vulkan_now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

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
    free(run->taken);
    free(run);
}

/* What a call that failed leaves in its result is anything: only handles that were made are kept. */
static VkResult run_create(vulkan_pipe *pipe, vulkan_run *run)
{
    halo_device *device = pipe->device;
    VkCommandPoolCreateInfo pool = {.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
                                    .flags = VK_COMMAND_POOL_CREATE_TRANSIENT_BIT, .queueFamilyIndex = device->physical.family};
    VkFenceCreateInfo fence = {.sType = VK_STRUCTURE_TYPE_FENCE_CREATE_INFO};
    VkQueryPoolCreateInfo marks = {.sType = VK_STRUCTURE_TYPE_QUERY_POOL_CREATE_INFO, .queryType = VK_QUERY_TYPE_TIMESTAMP,
                                   .queryCount = N_MARKS};
    VkResult result = device->CreateCommandPool(device->handle, &pool, NULL, &run->commands_pool);
    if (result != VK_SUCCESS)
        run->commands_pool = VK_NULL_HANDLE;
    VkCommandBufferAllocateInfo buffer = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
                                          .commandPool = run->commands_pool, .level = VK_COMMAND_BUFFER_LEVEL_PRIMARY, .commandBufferCount = 1};
    if (result == VK_SUCCESS)
        result = device->AllocateCommandBuffers(device->handle, &buffer, &run->commands);
    if (result == VK_SUCCESS && (result = device->CreateFence(device->handle, &fence, NULL, &run->fence)) != VK_SUCCESS)
        run->fence = VK_NULL_HANDLE;
    bool timed = result == VK_SUCCESS && device->physical.timestamp_bits > 0;
    if (timed && (result = device->CreateQueryPool(device->handle, &marks, NULL, &run->marks)) != VK_SUCCESS)
        run->marks = VK_NULL_HANDLE;
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
    run->taken = calloc(n, sizeof *run->taken);
    if (run->buffers && run->pictures && run->images && run->image_at && run->outputs && run->taken)
        *code = vulkan_code(run_create(pipe, run));
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
        if (run->taken[i].extent[0] > 0)
            vulkan_picture_upload(&run->pictures[i], &run->taken[i], &image, to);
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
        halo_part part = vulkan_part_of_rank(&run->part, pipe->signature->outputs[i].rank);
        char *from = pipe->device->direct ? run->buffers[k].mapped : (char *)run->download.mapped + at;
        vulkan_picture_download(&run->pictures[k], run->has_part ? &part : NULL, from, &run->outputs[i]);
        at += run->pictures[k].bytes;
    }
    run->times.download += vulkan_now_ms() - start;
}

/* What the driver reads of pictures before there are buffers: NULL when memory is out. Two arrays, for free(). */
static halo_vulkan_image *extents_of(const vulkan_pipe *pipe, const halo_image *inputs, halo_vulkan_image ***at)
{
    halo_vulkan_image *images = calloc(n_pictures(pipe), sizeof *images);
    *at = calloc(n_pictures(pipe), sizeof **at);
    for (size_t i = 0; images && *at && i < n_pictures(pipe); i++) {
        (*at)[i] = &images[i];
        if (i < n_inputs(pipe))
            memcpy(images[i].extent, inputs[i].extent, sizeof images[i].extent);
    }
    if (images && *at)
        return images;
    free(images);
    free(*at);
    return NULL;
}

/* haloi_vulkan_inputs, with parts that lie one after another. */
static int take_parts(const vulkan_pipe *pipe, const halo_vulkan_image *const *inputs, const void *params, const halo_part *part,
                      halo_part *parts, int32_t *failed)
{
    halo_part **at = malloc(sizeof *at * (n_inputs(pipe) + 1));
    if (!at)
        return HALO_ERROR_MEMORY;
    for (size_t i = 0; i < n_inputs(pipe); i++)
        at[i] = &parts[i];
    int code = haloi_vulkan_inputs(pipe->handle, inputs, params, part, at, failed);
    free(at);
    return code;
}

int vulkan_needs(const vulkan_pipe *pipe, const halo_image *inputs, const void *params, const halo_part *part, halo_part *needs,
                 int32_t *failed)
{
    halo_vulkan_image **at, *images = extents_of(pipe, inputs, &at);
    if (!images)
        return HALO_ERROR_MEMORY;
    int code = take_parts(pipe, (const halo_vulkan_image *const *)at, params, part, needs, failed);
    free(images);
    free(at);
    return code;
}

int vulkan_size(const vulkan_pipe *pipe, const halo_image *inputs, const void *params, halo_image *outputs, int32_t *failed)
{
    size_t first_output = n_inputs(pipe);
    halo_vulkan_image **at, *images = extents_of(pipe, inputs, &at);
    if (!images)
        return HALO_ERROR_MEMORY;
    int code = haloi_vulkan_size(&pipe->module->code, (const halo_vulkan_image *const *)at, params, at + first_output, failed);
    for (size_t i = first_output; i < n_pictures(pipe) && code == HALO_OK; i++)
        memcpy(outputs[i - first_output].extent, images[i].extent, sizeof images[i].extent);
    free(images);
    free(at);
    return code;
}

/* ---- runs ------------------------------------------------------------------------------------------------ */

static int submit_and_wait(recording *r)
{
    int code = vulkan_submit(r);
    return code == HALO_OK ? vulkan_wait(r->pipe, r->run) : code;
}

static bool is_cancelled(const halo_exec *exec) { return exec->cancelled && exec->cancelled(exec->user); }

/* All but the end, which is told when the outputs are there. */
static void tell(const halo_exec *exec, uint64_t done, uint64_t all)
{
    if (exec->progress && done < all)
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
        int code = vulkan_record(r);
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
    return vulkan_code(vulkan_buffer_reserve(pipe->device, &run->scratch, VULKAN_PLACE_device, r->needs.scratch_bytes));
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
        code = code == HALO_OK ? vulkan_record(r) : code;
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
    const halo_exec *exec = &run->exec;
    int code = vulkan_code(place_pictures(pipe, run, inputs, outputs));
    if (code != HALO_OK)
        return code;
    code = take_parts(pipe, run->image_at, params, run->has_part ? &run->part : NULL, run->taken, failed);
    if (code != HALO_OK)
        return code;
    take_inputs(pipe, run, inputs);
    code = prepare(&r);
    run->is_done = exec->cancelled || exec->progress;
    if (code == HALO_OK)
        code = run->is_done ? run_slices(&r, exec) : vulkan_record(&r);
    if (code == HALO_VULKAN_ERROR_RANGE && !run->has_part) {
        run->is_done = true;
        return run_bands(&r, exec);
    }
    return code == HALO_OK && !run->is_done ? vulkan_submit(&r) : code;
}

vulkan_run *vulkan_begin(vulkan_pipe *pipe, const halo_image *inputs, const void *params, const halo_image *outputs,
                         const halo_part *part, const halo_exec *exec, int *code, int32_t *failed)
{
    vulkan_run *run = run_take(pipe, code);
    if (!run)
        return NULL;
    run->times = (halo_times){.pipelines = pipe->create_ms};
    run->exec = exec ? *exec : (halo_exec){0};
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
    halo_exec exec = run->exec;
    int code = run->is_done ? HALO_OK : vulkan_wait(pipe, run);
    if (code == HALO_OK)
        give_outputs(pipe, run);
    if (times)
        *times = run->times;
    run_give_back(pipe, run, code);
    if (code == HALO_OK && exec.progress)
        exec.progress(exec.user, 1);
    return code;
}
