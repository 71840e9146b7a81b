/* SPDX-License-Identifier: MIT
 * A trial on the device. All pictures lie in one buffer, between bytes that nothing may change; what must come out is laid into a
 * copy of that buffer, and the whole of both is compared. Scratch is full of garbage before. */
#include <stdlib.h>
#include <string.h>

#include "backends/vulkan/vulkan.h"
#include "lowering/scalar.h"
#include "trial.h"
#include "trial_params.h"

enum { GUARD_BYTES = 4096, GARBAGE = 0xEB, LLVMPIPE_LOOPS = 65535 };

typedef struct run {
    test_device     *d;
    const trial     *t;
    trial_choices    c;
    arena           *memory;
    text            *why;
    random_source    random;
    const vulkan_module *module;
    haloi_vulkan    *code;
    halo_vulkan_device about;
    void            *params;
    placed_picture   pictures[TRIAL_MOST_PICTURES];           /* inputs, then outputs */
    halo_vulkan_image images[TRIAL_MOST_PICTURES];
    const halo_vulkan_image *pointers[TRIAL_MOST_PICTURES];
    int              n_inputs, n_pictures;
    halo_part        parts[TRIAL_MOST_PARTS];
    int              n_parts;                                  /* at least 1; without choices.parts it is all */
    test_buffer      pool, scratch;
    int64_t          pool_bytes;
    uint8_t         *wanted, *free_to_change;                  /* per byte of the pool */
    halo_vulkan_needs needs[TRIAL_MOST_PARTS];
    VkDescriptorPool sets;
    VkCommandBuffer  commands[TRIAL_MOST_PARTS * TRIAL_MOST_SLICES];
    uint32_t         n_commands;
} run;

static trial_result wrong(run *r, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    text_vprintf(r->why, format, args);
    va_end(args);
    return TRIAL_wrong;
}

/* ---- what has to come out ---------------------------------------------------------------------------------------- */

static void add_picture(run *r, uint32_t stage, const int32_t *extent)
{
    const tensor_stage *s = stage_at(r->t->pipe, stage);
    placed_picture *p = &r->pictures[r->n_pictures];
    *p = (placed_picture){ .t = s->type, .rank = s->rank, .output = r->n_pictures >= r->n_inputs };
    for (int d = 0; d < TENSOR_MAX_RANK; d++) p->extent[d] = d < s->rank ? extent[d] : 1;
    p->dense = arena_alloc(r->memory, (size_t)(picture_pixels(p) * p->t.lanes * kind_bytes(p->t)) + 1);
    r->n_pictures++;
}

static halo_image dense_image(const placed_picture *p)
{
    halo_image image = { .data = p->dense };
    ptrdiff_t step = (ptrdiff_t)(kind_bytes(p->t) * p->t.lanes);
    for (int d = 0; d < TENSOR_MAX_RANK; d++) {
        image.extent[d] = p->extent[d];
        image.stride[d] = step;
        step *= p->extent[d];
    }
    return image;
}

/* By the interpreter; its code. */
static int run_reference(run *r, text *problem)
{
    const tensor_pipe *p = r->t->pipe;
    halo_image inputs[TRIAL_MOST_PICTURES], outputs[TRIAL_MOST_PICTURES];
    run_values values = { inputs, r->t->params };
    r->n_inputs = (int)p->n_inputs;
    for (uint32_t k = 0; k < p->n_inputs; k++) {
        add_picture(r, k + 1, r->t->extents[k]);
        picture_fill(&r->pictures[k], &r->random);
        inputs[k] = dense_image(&r->pictures[k]);
    }
    uint32_t failed;
    int code = run_check(p, &values, &failed);
    for (uint32_t k = 0; code == HALO_OK && k < p->outputs.count; k++) {
        int32_t lo[TENSOR_MAX_RANK], extent[TENSOR_MAX_RANK];
        stage_bounds(p, p->outputs.items[k].stage, &values, lo, extent);
        for (int d = 0; d < stage_at(p, p->outputs.items[k].stage)->rank; d++) if (extent[d] < 1) return HALO_ERROR_SIZE;
        add_picture(r, p->outputs.items[k].stage, extent);
        outputs[k] = dense_image(&r->pictures[r->n_inputs + (int)k]);
    }
    return code == HALO_OK ? interpret(p, &values, outputs, false, problem) : code;
}

/* ---- compiling ------------------------------------------------------------------------------------------------------ */

static void choose_about(run *r)
{
    VkPhysicalDeviceLimits *l = &r->about.limits;
    r->about = (halo_vulkan_device){ .limits = r->d->properties.limits, .storage_8bit = r->d->storage8, .storage_16bit = r->d->storage16,
                                     .shader_int64 = r->d->int64, .most_workgroups = (uint32_t)r->c.most_workgroups,
                                     .most_loop_iterations = LLVMPIPE_LOOPS };
    if (r->c.words) r->about.storage_8bit = r->about.storage_16bit = VK_FALSE;
    if (!r->c.least_limits) return;
    l->maxComputeWorkGroupInvocations = l->maxComputeWorkGroupSize[0] = l->maxComputeWorkGroupSize[1] = 128;
    l->maxComputeWorkGroupSize[2] = 64;
    l->maxComputeSharedMemorySize = 16384;
    l->maxPerStageDescriptorStorageBuffers = 4;
    l->maxPushConstantsSize = 128;
    l->minStorageBufferOffsetAlignment = 256;
}

static void compile(run *r)
{
    int32_t layouts[TRIAL_MOST_PICTURES];
    vulkan_options options = { .layouts = layouts, .no_fuse = r->c.no_fuse, .force_border = r->c.force_border,
                               .tile_width = r->c.tile_width, .tile_height = r->c.tile_height };
    for (int k = 0; k < r->n_pictures; k++) layouts[k] = r->pictures[k].layout;
    diags d;
    diags_init(&d, r->memory);
    r->module = vulkan_compile(r->t->pipe, &options, r->memory, &d);
}

/* A tile that was asked for may not fit, and few pipes do with four buffers: then with less of that. */
static trial_result make_code(run *r)
{
    choose_about(r);
    for (;;) {
        compile(r);
        if (!r->module) return wrong(r, "it does not compile");
        int code = haloi_vulkan_create(&r->module->code, r->d->device, vkGetDeviceProcAddr, &r->about, VK_NULL_HANDLE, &r->code);
        if (code == HALO_OK) return TRIAL_right;
        const char *missing = code == HALO_VULKAN_ERROR_FEATURE ? haloi_vulkan_missing(&r->module->code, &r->about) : "";
        if (strcmp(missing, "maxPerStageDescriptorStorageBuffers") == 0 && r->about.limits.maxPerStageDescriptorStorageBuffers == 4)
            r->about.limits.maxPerStageDescriptorStorageBuffers = r->d->properties.limits.maxPerStageDescriptorStorageBuffers;
        else if (strcmp(missing, "maxComputeSharedMemorySize") == 0 && r->c.tile_width * r->c.tile_height > 1) {
            r->c.tile_width = (r->c.tile_width + 1) / 2;
            r->c.tile_height = (r->c.tile_height + 1) / 2;
        } else
            return wrong(r, "it can't be made: %s %s", haloi_vulkan_error(code), missing);
    }
}

/* ---- parts ------------------------------------------------------------------------------------------------------------ */

/* Along one axis of all outputs. By words, parts begin at words and end at one, or where every row ends. */
static void choose_span(run *r, int axis, int32_t *start, int32_t *extent)
{
    int32_t least = INT32_MAX, most = 0, unit = r->c.words && axis == 0 ? 4 : 1;
    for (int k = r->n_inputs; k < r->n_pictures; k++) {
        const placed_picture *p = &r->pictures[k];
        if (axis >= p->rank) continue;
        if (p->extent[axis] < least) least = p->extent[axis];
        if (p->extent[axis] > most) most = p->extent[axis];
    }
    *start = 0;
    *extent = 1;
    if (most == 0) return;
    *start = random_below(&r->random, least) / unit * unit;
    *extent = (1 + random_below(&r->random, least - *start)) / unit * unit;
    if (*extent == 0 && (unit == 1 || least == most)) *extent = least - *start;
    if (*extent == 0) *start = -1;                     /* no such part */
}

static bool choose_part(run *r, halo_part *part)
{
    for (int d = 0; d < TENSOR_MAX_RANK; d++) {
        choose_span(r, d, &part->start[d], &part->extent[d]);
        if (part->start[d] < 0) return false;
    }
    return true;
}

static void choose_parts(run *r)
{
    for (int k = 0; k < r->c.parts; k++) {
        if (!choose_part(r, &r->parts[r->n_parts])) continue;
        r->n_parts++;
    }
    if (r->n_parts == 0) {
        r->c.parts = 0;
        r->n_parts = 1;
    }
}

static const halo_part *part_of(const run *r, int k) { return r->c.parts ? &r->parts[k] : NULL; }

static bool in_parts(const run *r, const placed_picture *p, int64_t pixel)
{
    int32_t at[TENSOR_MAX_RANK];
    picture_coordinates(p, pixel, at);
    if (!r->c.parts) return true;
    for (int k = 0; k < r->n_parts; k++) {
        bool inside = true;
        for (int d = 0; d < p->rank; d++)
            inside &= at[d] >= r->parts[k].start[d] && at[d] < r->parts[k].start[d] + r->parts[k].extent[d];
        if (inside) return true;
    }
    return false;
}

/* ---- buffers ------------------------------------------------------------------------------------------------------------ */

static void place_pictures(run *r)
{
    int64_t at = GUARD_BYTES;
    int first = random_below(&r->random, r->n_pictures);
    for (int k = 0; k < r->n_pictures; k++) picture_place(&r->pictures[(k + first) % r->n_pictures], &r->random, &r->c, &at);
    r->pool_bytes = (at + GUARD_BYTES) / 4 * 4;
}

static void copy_in(const placed_picture *p, uint8_t *pool)
{
    int64_t bytes = kind_bytes(p->t), n = picture_pixels(p);
    for (int64_t pixel = 0; pixel < n; pixel++)
        for (int lane = 0; lane < p->t.lanes; lane++)
            memcpy(pool + picture_byte(p, pixel, lane), p->dense + (pixel * p->t.lanes + lane) * bytes, (size_t)bytes);
}

/* The rest of the last word of every row that a part writes to its end: more than what is overwritten, never a pixel. */
static void free_padding(run *r, const placed_picture *p)
{
    int64_t bytes = kind_bytes(p->t);
    for (int64_t pixel = 0; pixel < picture_pixels(p); pixel++)
        for (int lane = 0; lane < p->t.lanes; lane++)
            for (int64_t byte = picture_byte(p, pixel, lane) + bytes; byte % 4; byte++) r->free_to_change[byte] = 1;
    for (int64_t pixel = 0; pixel < picture_pixels(p); pixel++)
        for (int lane = 0; lane < p->t.lanes; lane++) memset(r->free_to_change + picture_byte(p, pixel, lane), 0, (size_t)bytes);
}

static void fill_image(run *r, int k)
{
    const placed_picture *p = &r->pictures[k];
    bool tight = r->c.strides;
    int64_t first = r->c.words ? p->first / 4 * 4 : p->first, end = r->c.words ? (p->end + 3) / 4 * 4 : p->end;
    halo_vulkan_image *image = &r->images[k];
    *image = (halo_vulkan_image){ .buffer = r->pool.buffer, .offset = (VkDeviceSize)p->base, .first = tight ? (VkDeviceSize)first : 0,
                                  .size = (VkDeviceSize)(tight ? end - first : r->pool_bytes), .padded_rows = p->padded };
    for (int d = 0; d < TENSOR_MAX_RANK; d++) {
        image->extent[d] = d < p->rank ? p->extent[d] : d < p->n_axes ? p->t.lanes : 1;
        image->stride[d] = d < p->n_axes ? p->stride[d] : 0;
    }
    r->pointers[k] = image;
}

static bool make_pool(run *r)
{
    r->pool = test_buffer_new(r->d, (uint64_t)r->pool_bytes);
    if (!r->pool.bytes) return false;
    r->wanted = arena_alloc(r->memory, (size_t)r->pool_bytes);
    r->free_to_change = arena_alloc(r->memory, (size_t)r->pool_bytes);
    for (int64_t k = 0; k < r->pool_bytes; k++) r->wanted[k] = (uint8_t)(k * 37 + 11);
    for (int k = 0; k < r->n_inputs; k++) copy_in(&r->pictures[k], r->wanted);
    memcpy(r->pool.bytes, r->wanted, (size_t)r->pool_bytes);
    for (int k = 0; k < r->n_pictures; k++) {
        fill_image(r, k);
        if (r->pictures[k].padded) free_padding(r, &r->pictures[k]);
    }
    return true;
}

/* ---- running ---------------------------------------------------------------------------------------------------------------- */

static int find_needs(run *r)
{
    VkDeviceSize scratch = 0;
    uint32_t n_sets = 0, n_buffers = 0, slices = 1 + (uint32_t)r->c.slices;
    for (int k = 0; k < r->n_parts; k++) {
        halo_vulkan_needs *n = &r->needs[k];
        int code = haloi_vulkan_needs(r->code, r->pointers, r->params, part_of(r, k), n, NULL);
        if (code != HALO_OK) return code;
        if (n->scratch_bytes > scratch) scratch = n->scratch_bytes;
        n_sets += slices * n->sets;
        n_buffers += slices * n->storage_buffers;
    }
    r->scratch = test_buffer_new(r->d, scratch + 3 * GUARD_BYTES);
    memset(r->scratch.bytes, GARBAGE, r->scratch.n_bytes);
    VkDescriptorPoolSize size = { VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, n_buffers ? n_buffers : 1 };
    VkDescriptorPoolCreateInfo info = { .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO, .maxSets = n_sets ? n_sets : 1,
                                        .poolSizeCount = 1, .pPoolSizes = &size };
    return vkCreateDescriptorPool(r->d->device, &info, NULL, &r->sets) == VK_SUCCESS ? HALO_OK : HALO_VULKAN_ERROR_DEVICE;
}

static VkCommandBuffer begin_commands(run *r)
{
    VkCommandBufferAllocateInfo allocation = { .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO, .commandPool = r->d->pool,
                                               .commandBufferCount = 1 };
    VkCommandBufferBeginInfo begin = { .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO,
                                       .flags = VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT };
    VkCommandBuffer *commands = &r->commands[r->n_commands++];
    vkAllocateCommandBuffers(r->d->device, &allocation, commands);
    vkBeginCommandBuffer(*commands, &begin);
    return *commands;
}

static void barrier(VkCommandBuffer commands, VkPipelineStageFlags from, VkAccessFlags written, VkPipelineStageFlags to, VkAccessFlags then)
{
    VkMemoryBarrier b = { .sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER, .srcAccessMask = written, .dstAccessMask = then };
    vkCmdPipelineBarrier(commands, from, to, 0, 1, &b, 0, NULL, 0, NULL);
}

/* Ends of the slices among a part's workgroups, in order. */
static void cut_slices(run *r, uint64_t workgroups, uint64_t ends[TRIAL_MOST_SLICES])
{
    for (int k = 0; k < r->c.slices; k++) {
        uint64_t at = random_bits(&r->random) % (workgroups + 1);
        int j = k;
        for (; j > 0 && ends[j - 1] > at; j--) ends[j] = ends[j - 1];
        ends[j] = at;
    }
    ends[r->c.slices] = UINT64_MAX;
}

static int record_part(run *r, VkCommandBuffer commands, int part, const halo_vulkan_slice *slice)
{
    VkDeviceSize alignment = r->needs[part].scratch_alignment ? r->needs[part].scratch_alignment : 1;
    halo_vulkan_resources resources = { r->sets, r->scratch.buffer, (GUARD_BYTES / 2 + alignment - 1) / alignment * alignment };
    return haloi_vulkan_record(r->code, commands, r->pointers, r->params, r->pointers + r->n_inputs, part_of(r, part), slice, &resources, NULL);
}

static int record_slices(run *r, VkCommandBuffer *commands, int part)
{
    uint64_t ends[TRIAL_MOST_SLICES], first = 0;
    cut_slices(r, r->needs[part].workgroups, ends);
    for (int k = 0; k <= r->c.slices; k++) {
        halo_vulkan_slice slice = { first, ends[k] - first };
        if (k > 0) {
            vkEndCommandBuffer(*commands);
            *commands = begin_commands(r);
        }
        int code = record_part(r, *commands, part, &slice);
        if (code != HALO_OK) return code;
        first = ends[k];
    }
    return HALO_OK;
}

static int record(run *r)
{
    VkCommandBuffer commands = begin_commands(r);
    int code = HALO_OK;
    for (int k = 0; k < r->n_parts && code == HALO_OK; k++) {
        const halo_vulkan_needs *n = &r->needs[k];
        if (k > 0) barrier(commands, r->needs[k - 1].last_stages, r->needs[k - 1].last_accesses, n->first_stages, n->first_accesses);
        code = r->c.slices ? record_slices(r, &commands, k) : record_part(r, commands, k, NULL);
        if (k + 1 == r->n_parts) barrier(commands, n->last_stages, n->last_accesses, VK_PIPELINE_STAGE_HOST_BIT, VK_ACCESS_HOST_READ_BIT);
    }
    vkEndCommandBuffer(commands);
    return code;
}

static bool submit(run *r)
{
    for (uint32_t k = 0; k < r->n_commands; k++) {
        VkSubmitInfo info = { .sType = VK_STRUCTURE_TYPE_SUBMIT_INFO, .commandBufferCount = 1, .pCommandBuffers = &r->commands[k] };
        if (vkQueueSubmit(r->d->queue, 1, &info, VK_NULL_HANDLE) != VK_SUCCESS) return false;
    }
    return vkQueueWaitIdle(r->d->queue) == VK_SUCCESS;
}

/* ---- comparing ---------------------------------------------------------------------------------------------------------------- */

static uint32_t bits_at(const uint8_t *bytes, type t)
{
    uint32_t bits = 0;
    memcpy(&bits, bytes, (size_t)kind_bytes(t));
    return t.kind == KIND_f16 ? bits_of_scalar(KIND_f32, (scalar){ .f = f32_of_f16_bits((uint16_t)bits) }) : bits;
}

static trial_result compare_output(run *r, int k)
{
    const placed_picture *p = &r->pictures[k];
    const uint8_t *got = r->pool.bytes;
    int64_t n_wrong = 0, first = 0;
    int first_lane = 0;
    for (int64_t pixel = 0; pixel < picture_pixels(p); pixel++) {
        if (!in_parts(r, p, pixel)) continue;
        for (int lane = 0; lane < p->t.lanes; lane++) {
            int64_t byte = picture_byte(p, pixel, lane);
            memset(r->free_to_change + byte, 1, (size_t)kind_bytes(p->t));
            if (same_bits((kind)p->t.kind, bits_at(got + byte, p->t), bits_at(p->dense + (pixel * p->t.lanes + lane) * kind_bytes(p->t), p->t))) continue;
            if (n_wrong++ == 0) { first = pixel; first_lane = lane; }
        }
    }
    if (n_wrong == 0) return TRIAL_right;
    int32_t at[TENSOR_MAX_RANK] = { 0 };
    picture_coordinates(p, first, at);
    return wrong(r, "output %d: %lld of %lld components differ, first at (%d, %d, %d, %d, %d).%d: bits %08x, the interpreter has %08x",
                 k - r->n_inputs, (long long)n_wrong, (long long)(picture_pixels(p) * p->t.lanes), at[0], at[1], at[2], at[3], at[4], first_lane,
                 bits_at(got + picture_byte(p, first, first_lane), p->t),
                 bits_at(p->dense + (first * p->t.lanes + first_lane) * kind_bytes(p->t), p->t));
}

static trial_result compare(run *r)
{
    for (int k = r->n_inputs; k < r->n_pictures; k++) if (compare_output(r, k) != TRIAL_right) return TRIAL_wrong;
    const uint8_t *got = r->pool.bytes;
    for (int64_t k = 0; k < r->pool_bytes; k++)
        if (!r->free_to_change[k] && got[k] != r->wanted[k])
            return wrong(r, "byte %lld of %lld was overwritten, which is nobody's or of a pixel outside the part", (long long)k, (long long)r->pool_bytes);
    const uint8_t *scratch = r->scratch.bytes;
    for (uint64_t k = 0; k < GUARD_BYTES / 2; k++)
        if (scratch[k] != GARBAGE || scratch[r->scratch.n_bytes - 1 - k] != GARBAGE) return wrong(r, "bytes beside scratch were overwritten");
    return TRIAL_right;
}

/* ---- one trial -------------------------------------------------------------------------------------------------------------------- */

static trial_result check_refusal(run *r, int wanted)
{
    halo_vulkan_image sized[TRIAL_MOST_PICTURES] = { 0 }, *outputs[TRIAL_MOST_PICTURES];
    trial_result made = make_code(r);
    if (made != TRIAL_right) return made;
    r->params = trial_params(r->module->code.plan, r->t->pipe, r->t->params, r->memory);
    for (int k = 0; k < TRIAL_MOST_PICTURES; k++) outputs[k] = &sized[k];
    for (int k = 0; k < r->n_inputs; k++) fill_image(r, k);
    int code = haloi_vulkan_size(&r->module->code, r->pointers, r->params, outputs, NULL);
    if (code == wanted) return TRIAL_refused;
    return wrong(r, "the interpreter refuses it: %s; the driver says: %s", haloi_vulkan_error(wanted), haloi_vulkan_error(code));
}

static trial_result try(run *r)
{
    text problem = { 0 };
    int code = run_reference(r, &problem);
    if (problem.count) return wrong(r, "the interpreter: %s", text_take(&problem));
    if (code != HALO_OK) return check_refusal(r, code);
    place_pictures(r);
    trial_result made = make_code(r);
    if (made != TRIAL_right) return made;
    r->params = trial_params(r->module->code.plan, r->t->pipe, r->t->params, r->memory);
    choose_parts(r);
    if (!make_pool(r)) return wrong(r, "no memory for %lld bytes of pictures", (long long)r->pool_bytes);
    code = find_needs(r);
    if (code == HALO_OK) code = record(r);
    if (code == HALO_VULKAN_ERROR_LOOPS) return TRIAL_refused;
    if (code != HALO_OK) return wrong(r, "it can't be recorded: %s", haloi_vulkan_error(code));
    if (!submit(r)) return wrong(r, "it can't be submitted");
    return compare(r);
}

static void drop(run *r)
{
    if (r->n_commands) vkFreeCommandBuffers(r->d->device, r->d->pool, r->n_commands, r->commands);
    vkDestroyDescriptorPool(r->d->device, r->sets, NULL);
    haloi_vulkan_destroy(r->code);
    test_buffer_free(r->d, &r->pool);
    test_buffer_free(r->d, &r->scratch);
    arena_free(r->memory);
}

trial_result trial_run(test_device *d, const trial *t, const trial_choices *choices, text *why)
{
    run *r = calloc(1, sizeof *r);
    *r = (run){ .d = d, .t = t, .c = *choices, .memory = arena_new(NULL), .why = why, .random = { t->seed * 3 + 5 } };
    int messages = d->n_messages;
    trial_result result = try(r);
    if (d->n_messages > messages && result != TRIAL_wrong) result = wrong(r, "the validation layer has something to say");
    drop(r);
    free(r);
    return result;
}
