/* SPDX-License-Identifier: MIT
 * Generated Vulkan libraries as demanding hosts use them, held against the library for the processor in the same program: bytes
 * around every picture, two recordings in one command buffer, threads, parts, slices, devices that can do little. The validation
 * layer is on, with synchronization validation, and any message fails the test that caused it. Without a device all is skipped. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "device.h"
#include "unsharp.h"
#include "unsharp_vulkan.h"

enum { WIDTH = 61, HEIGHT = 43, ROW = 61 * 3 + 9, PICTURE = ROW * HEIGHT, GUARD = 4096, WHOLE = GUARD + PICTURE + GUARD,
       THREADS = 4 };

typedef struct host {
    test_device        device;
    halo_vulkan_device about;
    unsharp_vulkan    *filter;
} host;

/* What one recording works with. The pictures lie amid bytes that are nobody's. */
typedef struct job {
    host            *h;
    VkCommandPool    pool;
    VkCommandBuffer  commands;
    VkDescriptorPool descriptors;
    test_buffer      from, to, scratch;
    halo_vulkan_image in, out;
    halo_vulkan_needs needs;
    unsharp_params   params;
    VkDeviceSize     scratch_at;
} job;

/* ---- pictures ---------------------------------------------------------------------------------------------- */

static uint8_t pixel(int x, int y, int c) { return (uint8_t)((x * 7 + y * 13 + c * 50 + (x * y) / 5) ^ (x / 9 * 64)); }

static void fill(uint8_t *bytes)
{
    for (int k = 0; k < WHOLE; k++) bytes[k] = (uint8_t)(k * 31 + 7);
}

static void draw(uint8_t *bytes)
{
    for (int y = 0; y < HEIGHT; y++)
        for (int x = 0; x < WIDTH; x++)
            for (int c = 0; c < 3; c++) bytes[GUARD + y * ROW + x * 3 + c] = pixel(x, y, c);
}

/* What the processor makes of it, and everything outside as fill() left it. */
static uint8_t *wanted(const unsharp_params *params)
{
    uint8_t *from = malloc(WHOLE), *to = malloc(WHOLE);
    fill(from);
    draw(from);
    fill(to);
    halo_image in = { from + GUARD, { WIDTH, HEIGHT, 1, 1, 1 }, { 3, ROW } }, out = in;
    out.data = to + GUARD;
    assert_int_equal(unsharp(&in, params, &out, NULL), HALO_OK);
    free(from);
    return to;
}

/* ---- jobs --------------------------------------------------------------------------------------------------- */

static halo_vulkan_image view(const test_buffer *b)
{
    return (halo_vulkan_image){ .buffer = b->buffer, .offset = GUARD, .first = GUARD, .size = PICTURE,
                                .extent = { WIDTH, HEIGHT, 1, 1, 1 }, .stride = { 3, ROW } };
}

static void make_pools(job *j, uint32_t recordings)
{
    test_device *d = &j->h->device;
    VkDescriptorPoolSize size = { VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, j->needs.storage_buffers * recordings };
    VkDescriptorPoolCreateInfo sets = { .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO,
                                        .maxSets = j->needs.sets * recordings, .poolSizeCount = 1, .pPoolSizes = &size };
    assert_int_equal(vkCreateDescriptorPool(d->device, &sets, NULL, &j->descriptors), VK_SUCCESS);
    VkCommandPoolCreateInfo pool = { .sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO, .queueFamilyIndex = d->family,
                                     .flags = VK_COMMAND_POOL_CREATE_RESET_COMMAND_BUFFER_BIT };
    assert_int_equal(vkCreateCommandPool(d->device, &pool, NULL, &j->pool), VK_SUCCESS);
    VkCommandBufferAllocateInfo info = { .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO, .commandPool = j->pool,
                                         .level = VK_COMMAND_BUFFER_LEVEL_PRIMARY, .commandBufferCount = 1 };
    assert_int_equal(vkAllocateCommandBuffers(d->device, &info, &j->commands), VK_SUCCESS);
}

static void job_begin(job *j, host *h, float sigma, uint32_t recordings)
{
    *j = (job){ .h = h, .params = { .sigma = sigma, .amount = 1.25f } };
    j->from = test_buffer_new(&h->device, WHOLE);
    j->to = test_buffer_new(&h->device, WHOLE);
    fill(j->from.bytes);
    draw(j->from.bytes);
    fill(j->to.bytes);
    j->in = view(&j->from);
    j->out = view(&j->to);
    assert_int_equal(unsharp_vulkan_needs(h->filter, &j->in, &j->params, NULL, &j->needs), HALO_OK);
    j->scratch_at = j->needs.scratch_alignment * 3;
    j->scratch = test_buffer_new(&h->device, j->scratch_at + j->needs.scratch_bytes + GUARD);
    memset(j->scratch.bytes, 0x5a, j->scratch.n_bytes);
    make_pools(j, recordings);
}

static halo_vulkan_resources resources_of(const job *j)
{
    return (halo_vulkan_resources){ .pool = j->descriptors, .scratch = j->scratch.buffer, .scratch_offset = j->scratch_at };
}

static void open_commands(const job *j)
{
    VkCommandBufferBeginInfo begin = { .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO };
    assert_int_equal(vkBeginCommandBuffer(j->commands, &begin), VK_SUCCESS);
}

static void barrier(const job *j, VkPipelineStageFlags to, VkAccessFlags next)
{
    VkMemoryBarrier all = { .sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER, .srcAccessMask = j->needs.last_accesses,
                            .dstAccessMask = next };
    vkCmdPipelineBarrier(j->commands, j->needs.last_stages, to, 0, 1, &all, 0, NULL, 0, NULL);
}

static void submit(const job *j)
{
    barrier(j, VK_PIPELINE_STAGE_HOST_BIT, VK_ACCESS_HOST_READ_BIT);
    assert_int_equal(vkEndCommandBuffer(j->commands), VK_SUCCESS);
    VkSubmitInfo info = { .sType = VK_STRUCTURE_TYPE_SUBMIT_INFO, .commandBufferCount = 1, .pCommandBuffers = &j->commands };
    assert_int_equal(vkQueueSubmit(j->h->device.queue, 1, &info, VK_NULL_HANDLE), VK_SUCCESS);
    assert_int_equal(vkQueueWaitIdle(j->h->device.queue), VK_SUCCESS);
}

static void check_picture(const job *j)
{
    uint8_t *expected = wanted(&j->params), *before = malloc(WHOLE);
    fill(before);
    draw(before);
    assert_memory_equal(j->to.bytes, expected, WHOLE);
    assert_memory_equal(j->from.bytes, before, WHOLE);
    const uint8_t *scratch = j->scratch.bytes;
    for (uint64_t k = 0; k < j->scratch_at; k++) assert_int_equal(scratch[k], 0x5a);
    for (uint64_t k = j->scratch_at + j->needs.scratch_bytes; k < j->scratch.n_bytes; k++) assert_int_equal(scratch[k], 0x5a);
    free(expected);
    free(before);
}

static void job_end(job *j)
{
    VkDevice d = j->h->device.device;
    vkDestroyCommandPool(d, j->pool, NULL);
    vkDestroyDescriptorPool(d, j->descriptors, NULL);
    test_buffer *all[] = { &j->from, &j->to, &j->scratch };
    for (int k = 0; k < 3; k++) test_buffer_free(&j->h->device, all[k]);
    assert_int_equal(j->h->device.n_messages, 0);
}

static void record(const job *j)
{
    halo_vulkan_resources resources = resources_of(j);
    assert_int_equal(unsharp_vulkan_record(j->h->filter, j->commands, &j->in, &j->params, &j->out, &resources), HALO_OK);
}

static void run_whole(host *h, float sigma)
{
    job j;
    job_begin(&j, h, sigma, 1);
    open_commands(&j);
    record(&j);
    submit(&j);
    check_picture(&j);
    job_end(&j);
}

/* ---- hosts ---------------------------------------------------------------------------------------------------- */

static void make_filter(host *h, unsharp_vulkan **filter)
{
    int code = unsharp_vulkan_create(h->device.device, vkGetDeviceProcAddr, &h->about, VK_NULL_HANDLE, filter);
    if (code) fail_msg("create: %s (%s)", unsharp_vulkan_error(code), unsharp_vulkan_missing(&h->about));
}

static int open_host(void **state)
{
    host *h = calloc(1, sizeof *h);
    *state = h;
    if (!test_device_open(&h->device)) return 0;
    h->about = (halo_vulkan_device){ .limits = h->device.properties.limits, .storage_8bit = h->device.storage8,
                                     .storage_16bit = h->device.storage16,
                                     .shader_int64 = h->device.int64, .most_loop_iterations = 65535 };
    make_filter(h, &h->filter);
    return 0;
}

static int close_host(void **state)
{
    host *h = *state;
    unsharp_vulkan_destroy(h->filter);
    test_device_close(&h->device);
    int bad = h->device.n_messages;
    free(h);
    return bad;
}

static host *host_of(void **state)
{
    host *h = *state;
    if (!h->device.device) skip();
    return h;
}

static void one_recording(void **state)
{
    host *h = host_of(state);
    for (int k = 0; k < 3; k++) run_whole(h, 0.3f + 1.5f * (float)k);
}

/* With scratch of their own, nothing has to stand between them; with the same, a barrier. */
static void two_recordings_in_one_command_buffer(void **state)
{
    job a, b;
    job_begin(&a, host_of(state), 1.0f, 2);
    job_begin(&b, a.h, 2.5f, 1);
    open_commands(&a);
    record(&a);
    VkCommandBuffer own = b.commands;
    b.commands = a.commands;
    record(&b);
    barrier(&a, a.needs.first_stages, a.needs.first_accesses);
    record(&a);
    submit(&a);
    b.commands = own;
    check_picture(&a);
    check_picture(&b);
    job_end(&a);
    job_end(&b);
}

/* As the library for the processor says. */
static void check_inputs(const job *j, const halo_part *part)
{
    halo_image in = { NULL, { WIDTH, HEIGHT, 1, 1, 1 }, { 3, ROW } };
    halo_part expected, got;
    assert_int_equal(unsharp_needs(&in, &j->params, part, &expected), HALO_OK);
    assert_int_equal(unsharp_vulkan_inputs(j->h->filter, &j->in, &j->params, part, &got), HALO_OK);
    assert_memory_equal(&got, &expected, sizeof got);
}

static void parts_make_up_the_picture(void **state)
{
    enum { TILES = 4 * 3 };
    job j;
    job_begin(&j, host_of(state), 1.5f, TILES);
    halo_vulkan_resources resources = resources_of(&j);
    open_commands(&j);
    for (int y = 0; y < HEIGHT; y += 17)
        for (int x = 0; x < WIDTH; x += 19) {
            halo_part part = { { x, y, 0, 0, 0 }, { x + 19 > WIDTH ? WIDTH - x : 19, y + 17 > HEIGHT ? HEIGHT - y : 17, 1, 1, 1 } };
            halo_vulkan_needs needs;
            assert_int_equal(unsharp_vulkan_needs(j.h->filter, &j.in, &j.params, &part, &needs), HALO_OK);
            assert_true(needs.scratch_bytes <= j.needs.scratch_bytes && needs.sets <= j.needs.sets);
            check_inputs(&j, &part);
            assert_int_equal(unsharp_vulkan_record_part(j.h->filter, j.commands, &j.in, &j.params, &j.out, &part, NULL, &resources),
                             HALO_OK);
            barrier(&j, j.needs.first_stages, j.needs.first_accesses);
        }
    submit(&j);
    check_picture(&j);
    job_end(&j);
}

static void slices_in_submissions_of_their_own(void **state)
{
    job j;
    host *h = host_of(state);
    job_begin(&j, h, 2.0f, 64);
    halo_vulkan_resources resources = resources_of(&j);
    uint64_t count = (j.needs.workgroups + 10) / 11;
    for (uint64_t first = 0; first < j.needs.workgroups; first += count) {
        halo_vulkan_slice slice = { first, count };
        open_commands(&j);
        assert_int_equal(unsharp_vulkan_record_part(h->filter, j.commands, &j.in, &j.params, &j.out, NULL, &slice, &resources),
                         HALO_OK);
        submit(&j);
    }
    check_picture(&j);
    job_end(&j);
}

/* ---- threads ---------------------------------------------------------------------------------------------------- */

typedef struct worker { pthread_t thread; job j; int code; } worker;

static void *work(void *data)
{
    worker *w = data;
    halo_vulkan_resources resources = resources_of(&w->j);
    for (int k = 0; k < 8 && w->code == HALO_OK; k++) {
        vkResetDescriptorPool(w->j.h->device.device, w->j.descriptors, 0);
        vkBeginCommandBuffer(w->j.commands, &(VkCommandBufferBeginInfo){ .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO });
        w->code = unsharp_vulkan_record(w->j.h->filter, w->j.commands, &w->j.in, &w->j.params, &w->j.out, &resources);
        if (k < 7) vkResetCommandBuffer(w->j.commands, 0);
    }
    return NULL;
}

static void threads_record_at_a_time(void **state)
{
    host *h = host_of(state);
    static worker workers[THREADS];
    for (int k = 0; k < THREADS; k++) {
        job_begin(&workers[k].j, h, 0.5f + 0.75f * (float)k, 1);
        workers[k].code = HALO_OK;
    }
    for (int k = 0; k < THREADS; k++) assert_int_equal(pthread_create(&workers[k].thread, NULL, work, &workers[k]), 0);
    for (int k = 0; k < THREADS; k++) {
        pthread_join(workers[k].thread, NULL);
        assert_int_equal(workers[k].code, HALO_OK);
    }
    for (int k = 0; k < THREADS; k++) {
        submit(&workers[k].j);
        check_picture(&workers[k].j);
        job_end(&workers[k].j);
    }
}

/* ---- other devices, and what is refused ------------------------------------------------------------------------ */

static void with_other_filter(host *h, void (*body)(host *h))
{
    unsharp_vulkan *own = h->filter;
    halo_vulkan_device about = h->about;
    make_filter(h, &h->filter);
    body(h);
    unsharp_vulkan_destroy(h->filter);
    h->filter = own;
    h->about = about;
}

static void run_one(host *h) { run_whole(h, 1.75f); }

static void devices_that_can_do_little(void **state)
{
    host *h = host_of(state);
    halo_vulkan_device about = h->about;
    VkPhysicalDeviceLimits *l = &h->about.limits;
    l->maxComputeWorkGroupInvocations = l->maxComputeWorkGroupSize[0] = l->maxComputeWorkGroupSize[1] = 128;
    l->maxComputeSharedMemorySize = 16384;
    l->maxPerStageDescriptorStorageBuffers = 4;
    l->minStorageBufferOffsetAlignment = 256;
    with_other_filter(h, run_one);
    h->about = about;
    h->about.most_workgroups = 1;
    with_other_filter(h, run_one);
    h->about = about;
}

/* By words rows have to be whole words, or what is behind them the library's. */
static void run_words(host *h)
{
    job j;
    job_begin(&j, h, 1.0f, 1);
    halo_vulkan_resources resources = resources_of(&j);
    open_commands(&j);
    assert_int_equal(unsharp_vulkan_record(h->filter, j.commands, &j.in, &j.params, &j.out, &resources), HALO_VULKAN_ERROR_WORDS);
    halo_part part = { { 4, 3, 0, 0, 0 }, { 48, 30, 1, 1, 1 } };
    assert_int_equal(unsharp_vulkan_record_part(h->filter, j.commands, &j.in, &j.params, &j.out, &part, NULL, &resources), HALO_OK);
    submit(&j);
    uint8_t *expected = wanted(&j.params), *to = j.to.bytes, *before = malloc(WHOLE);
    fill(before);
    for (int y = 0; y < HEIGHT; y++) {
        bool inside = y >= 3 && y < 33;
        uint8_t *row = to + GUARD + y * ROW, *untouched = before + GUARD + y * ROW;
        if (inside) assert_memory_equal(row + 12, expected + GUARD + y * ROW + 12, 144);
        assert_memory_equal(row, untouched, 12);
        assert_memory_equal(row + 156, untouched + 156, ROW - 156);
    }
    free(expected);
    free(before);
    job_end(&j);
}

static void devices_without_8_bit_storage(void **state)
{
    host *h = host_of(state);
    h->about.storage_8bit = VK_FALSE;
    with_other_filter(h, run_words);
    h->about.storage_8bit = h->device.storage8;
}

static void what_is_refused_is_not_recorded(void **state)
{
    job j;
    host *h = host_of(state);
    job_begin(&j, h, 1.0f, 1);
    halo_vulkan_resources resources = resources_of(&j), none = resources;
    none.scratch = VK_NULL_HANDLE;
    open_commands(&j);
    halo_vulkan_image bad = j.out;
    bad.size = PICTURE - (ROW - WIDTH * 3) - 1;
    assert_int_equal(unsharp_vulkan_record(h->filter, j.commands, &j.in, &j.params, &bad, &resources), HALO_VULKAN_ERROR_BUFFER);
    assert_int_equal(unsharp_vulkan_record(h->filter, j.commands, &j.in, &j.params, &j.in, &resources), HALO_ERROR_OVERLAP);
    assert_int_equal(unsharp_vulkan_record(h->filter, j.commands, NULL, &j.params, &j.out, &resources), HALO_ERROR_NULL);
    if (j.needs.scratch_bytes)
        assert_int_equal(unsharp_vulkan_record(h->filter, j.commands, &j.in, &j.params, &j.out, &none), HALO_VULKAN_ERROR_SCRATCH);
    unsharp_params outside = { .sigma = 100 };
    assert_int_equal(unsharp_vulkan_record(h->filter, j.commands, &j.in, &outside, &j.out, &resources), HALO_ERROR_PARAMETER);
    submit(&j);
    uint8_t *before = malloc(WHOLE);
    fill(before);
    assert_memory_equal(j.to.bytes, before, WHOLE);
    free(before);
    job_end(&j);
}

/* The layer is there and looks at hazards: a copy into the output just before, without a barrier, is one. */
static void a_missing_barrier_is_noticed(void **state)
{
    job j;
    host *h = host_of(state);
    job_begin(&j, h, 1.0f, 2);
    open_commands(&j);
    vkCmdFillBuffer(j.commands, j.to.buffer, 0, VK_WHOLE_SIZE, 0);
    record(&j);
    submit(&j);
    assert_true(h->device.n_messages > 0);
    h->device.n_messages = 0;
    job_end(&j);
}

/* Whatever is given: the layer looks at something else than hazards. */
int main(int argc, char **argv)
{
    (void)argv;
    if (argc > 1) cmocka_set_skip_filter("a_missing_barrier_*");
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_recording),
        cmocka_unit_test(two_recordings_in_one_command_buffer),
        cmocka_unit_test(parts_make_up_the_picture),
        cmocka_unit_test(slices_in_submissions_of_their_own),
        cmocka_unit_test(threads_record_at_a_time),
        cmocka_unit_test(devices_that_can_do_little),
        cmocka_unit_test(devices_without_8_bit_storage),
        cmocka_unit_test(what_is_refused_is_not_recorded),
        cmocka_unit_test(a_missing_barrier_is_noticed),
    };
    return cmocka_run_group_tests_name("vulkan_host", tests, open_host, close_host);
}
