/* SPDX-License-Identifier: MIT
 * What the driver makes for a device: shapes within its limits, the module for its features; nothing stays when it fails. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "support_driver.h"

/* Three stages in workgroup memory: the first and the third don't live at the same time. */
static void plan_stages(plan_builder *p, int32_t words, int32_t halo)
{
    plan_blur(p, 1);
    plan_shares(p, words, 2 * halo, 0, 1);
    plan_shares(p, words, halo, 1, 2);
    plan_shares(p, words, halo, 2, 3);
    p->kernels[0].needs = VPLAN_NEEDS_8bit;
    p->kernels[0].granule = 4;
}

static const uint32_t *constants_of(const bench *b) { return b->device.pipelines[0].constants; }

/* Constants as plan.h says: what a stage needs at most, nothing beyond the whole, and no two stages in one place at a time. */
static void check_shape(const bench *b, int32_t words, int32_t halo)
{
    const uint32_t *k = constants_of(b);
    const VkPhysicalDeviceLimits *l = &b->about.limits;
    assert_int_equal(b->device.pipelines[0].n_constants, 13);
    assert_true(k[0] >= 1 && k[0] <= l->maxComputeWorkGroupInvocations && k[0] <= l->maxComputeWorkGroupSize[0]);
    assert_true(k[3] >= 1 && 4 * k[3] <= l->maxComputeSharedMemorySize);
    for (int j = 0; j < 3; j++) {
        uint32_t own = j ? (uint32_t)halo : 2 * (uint32_t)halo;
        assert_int_equal(k[4 + 3 * j], k[1] + 2 * own);
        assert_int_equal(k[5 + 3 * j], k[2] + 2 * own);
        assert_true(k[6 + 3 * j] + k[4 + 3 * j] * k[5 + 3 * j] * (uint32_t)words <= k[3]);
    }
    for (int j = 0; j < 2; j++) {
        uint32_t a = k[6 + 3 * j], a_end = a + (uint32_t)words * k[4 + 3 * j] * k[5 + 3 * j];
        uint32_t b_at = k[9 + 3 * j], b_end = b_at + (uint32_t)words * k[7 + 3 * j] * k[8 + 3 * j];
        assert_true(a_end <= b_at || b_end <= a);
    }
    int32_t shape[4];
    haloi_vulkan_shape(b->v, 0, shape);
    assert_true((uint32_t)shape[0] == k[1] && (uint32_t)shape[1] == k[2] && (uint32_t)shape[2] == k[0]
                && (uint32_t)shape[3] == k[3]);
}

static void shapes_fit_the_limits(void **state)
{
    (void)state;
    static const uint32_t invocations[] = { 1, 16, 100, 128, 256, 1024 }, shared[] = { 1024, 4096, 16384, 32768, 65536 };
    for (int i = 0; i < 6; i++)
        for (int j = 0; j < 5; j++)
            for (int32_t halo = 0; halo <= 3; halo++) {
                bench *b = bench_new();
                plan_stages(&b->plan, 1, halo);
                b->about.limits.maxComputeWorkGroupInvocations = invocations[i];
                b->about.limits.maxComputeWorkGroupSize[0] = 1024;
                b->about.limits.maxComputeSharedMemorySize = shared[j];
                bench_create(b);
                check_shape(b, 1, halo);
                uint32_t most = invocations[i] == 100 ? 64 : invocations[i] > 256 ? 256 : invocations[i],
                    pixels = constants_of(b)[1] * constants_of(b)[2];
                assert_true(constants_of(b)[0] == most || pixels <= most / 2 || pixels == constants_of(b)[0]);
                bench_end(b);
            }
}

static uint32_t chosen_pixels(int32_t words, int32_t halo, uint32_t shared_bytes)
{
    bench *b = bench_new();
    plan_blur(&b->plan, 4);
    plan_shares(&b->plan, words, halo, 0, 1);
    b->about.limits.maxComputeSharedMemorySize = shared_bytes;
    bench_create(b);
    uint32_t pixels = constants_of(b)[1] * constants_of(b)[2];
    assert_true(4 * constants_of(b)[3] <= shared_bytes);
    bench_end(b);
    return pixels;
}

/* A wide halo is worth a tile that leaves no room for a second workgroup; a narrow one isn't. */
static void tiles_weigh_halo_against_room(void **state)
{
    (void)state;
    assert_true(chosen_pixels(1, 8, 16384) > chosen_pixels(1, 1, 16384));
    assert_true(chosen_pixels(1, 1, 16384) >= 1024 && chosen_pixels(4, 1, 16384) >= 128);
    assert_true(chosen_pixels(1, 1, 65536) > chosen_pixels(1, 1, 16384));
}

static void tiles_that_are_asked_for(void **state)
{
    (void)state;
    static const int32_t asked[][2] = { { 1, 1 }, { 5, 3 }, { 7, 0 }, { 0, 9 }, { 40, 2 }, { 33, 11 } };
    for (int k = 0; k < 6; k++)
        for (int by_words = 0; by_words < 2; by_words++) {
            bench *b = bench_new();
            plan_stages(&b->plan, 1, 1);
            b->plan.kernels[0].tile_width = asked[k][0];
            b->plan.kernels[0].tile_height = asked[k][1];
            b->about.storage_8bit = !by_words;
            bench_create(b);
            check_shape(b, 1, 1);
            uint32_t width = (uint32_t)asked[k][0];
            if (width) assert_int_equal(constants_of(b)[1], by_words ? (width + 3) / 4 * 4 : width);
            if (asked[k][1]) assert_int_equal(constants_of(b)[2], asked[k][1]);
            if (by_words) assert_int_equal(constants_of(b)[1] % 4, 0);
            bench_end(b);
        }
}

/* One that there is no room for, or, where rounds of loops are counted, no time, is as good as none. */
static void tiles_that_do_not_fit(void **state)
{
    (void)state;
    for (int limit = 0; limit < 2; limit++) {
        uint32_t chosen[2][2];
        for (int asks = 0; asks < 2; asks++) {
            bench *b = bench_new();
            plan_stages(&b->plan, 1, 1);
            b->plan.kernels[0].tile_width = asks ? limit ? 65 : 640 : 0;
            b->plan.kernels[0].tile_height = asks ? limit ? 32 : 480 : 0;
            b->about.limits.maxComputeSharedMemorySize = limit ? 1 << 20 : 16384;
            b->about.most_loop_iterations = limit ? 60000 : 0;
            bench_create(b);
            check_shape(b, 1, 1);
            chosen[asks][0] = constants_of(b)[1];
            chosen[asks][1] = constants_of(b)[2];
            bench_end(b);
        }
        assert_memory_equal(chosen[0], chosen[1], sizeof chosen[0]);
    }
}

static void the_module_follows_the_features(void **state)
{
    (void)state;
    for (int k = 0; k < 4; k++) {
        bench *b = bench_new();
        plan_blur(&b->plan, 2);
        b->plan.kernels[0].needs = VPLAN_NEEDS_16bit;
        b->plan.kernels[0].n_word_code_words = 3;
        b->about.storage_8bit = k & 1;
        b->about.storage_16bit = k >> 1;
        bench_create(b);
        assert_true(b->device.pipelines[0].code == b->plan.spirv + (k >> 1 ? 0 : 4));
        assert_int_equal(b->device.pipelines[0].code_bytes, k >> 1 ? 16 : 12);
        bench_end(b);
    }
}

/* ---- what is missing ------------------------------------------------------------------------------------------ */

static void missing_is(bench *b, const char *name)
{
    const haloi_vulkan_code *code = plan_end(&b->plan);
    const char *missing = haloi_vulkan_missing(code, &b->about);
    if (!name) assert_null(missing);
    else assert_string_equal(missing, name);
    int before = b->device.n_made, result = haloi_vulkan_create(code, fake_device(&b->device), fake_loader, &b->about,
                                                                VK_NULL_HANDLE, &b->v);
    assert_int_equal(result, name ? HALO_VULKAN_ERROR_FEATURE : HALO_OK);
    if (name) assert_true(b->v == NULL && b->device.n_made == before);
    haloi_vulkan_destroy(b->v);
    b->v = NULL;
}

static void what_is_missing_is_named(void **state)
{
    (void)state;
    bench *b = bench_new();
    plan_stages(&b->plan, 1, 1);
    vplan_kernel *k = &b->plan.kernels[0];
    missing_is(b, NULL);
    k->needs |= VPLAN_NEEDS_int64;
    missing_is(b, "shaderInt64");
    b->about.shader_int64 = VK_TRUE;
    k->needs |= VPLAN_NEEDS_image_extended;
    missing_is(b, "shaderStorageImageExtendedFormats");
    b->about.storage_image_extended = VK_TRUE;
    b->about.limits.maxPerStageDescriptorStorageBuffers = 1;
    missing_is(b, "maxPerStageDescriptorStorageBuffers");
    b->plan.memories[0].layout = VPLAN_LAYOUT_sampled;
    missing_is(b, NULL);
    b->about.limits.maxPerStageDescriptorSampledImages = 0;
    missing_is(b, "maxPerStageDescriptorSampledImages");
    b->plan.memories[0].layout = VPLAN_LAYOUT_image;
    b->about.limits.maxPerStageDescriptorStorageImages = 0;
    missing_is(b, "maxPerStageDescriptorStorageImages");
    b->about.limits.maxPerStageDescriptorStorageImages = 1;
    b->about.limits.maxPushConstantsSize = 32;
    missing_is(b, "maxPushConstantsSize");
    k->in_buffer = 1;                                    /* slots are elsewhere then */
    missing_is(b, NULL);
    k->tile_width = k->tile_height = 64;                 /* too large: it is chosen instead */
    missing_is(b, NULL);
    b->about.limits.maxComputeSharedMemorySize = 4;
    missing_is(b, "maxComputeSharedMemorySize");
    bench_end(b);
}

/* ---- failures ------------------------------------------------------------------------------------------------- */

static void failures_leave_nothing(void **state)
{
    (void)state;
    for (int n = 1; n <= 9; n++) {
        bench *b = bench_new();
        plan_blur(&b->plan, 4);
        plan_kernel(&b->plan, 1);
        b->device.fail_at = n;
        int result = haloi_vulkan_create(plan_end(&b->plan), fake_device(&b->device), fake_loader, &b->about, VK_NULL_HANDLE,
                                         &b->v);
        assert_int_equal(result, n < 9 ? HALO_VULKAN_ERROR_DEVICE : HALO_OK);      /* two kernels of four things each */
        bench_end(b);
    }
}

static void functions_that_are_not_there(void **state)
{
    (void)state;
    static const char *const names[] = { "vkCreateShaderModule", "vkDestroyPipeline", "vkDestroyPipelineLayout",
                                         "vkCmdUpdateBuffer" };
    for (int n = 0; n < 4; n++) {
        bench *b = bench_new();
        plan_blur(&b->plan, 4);
        b->device.lacks = names[n];
        int result = haloi_vulkan_create(plan_end(&b->plan), fake_device(&b->device), fake_loader, &b->about, VK_NULL_HANDLE,
                                         &b->v);
        assert_int_equal(result, HALO_VULKAN_ERROR_DEVICE);
        assert_int_equal(b->device.n_made, 0);
        bench_end(b);
    }
}

static void null_arguments_of_create(void **state)
{
    (void)state;
    bench *b = bench_new();
    plan_blur(&b->plan, 4);
    const haloi_vulkan_code *code = plan_end(&b->plan);
    VkDevice d = fake_device(&b->device);
    assert_int_equal(haloi_vulkan_create(code, NULL, fake_loader, &b->about, VK_NULL_HANDLE, &b->v), HALO_ERROR_NULL);
    assert_int_equal(haloi_vulkan_create(code, d, NULL, &b->about, VK_NULL_HANDLE, &b->v), HALO_ERROR_NULL);
    assert_int_equal(haloi_vulkan_create(code, d, fake_loader, NULL, VK_NULL_HANDLE, &b->v), HALO_ERROR_NULL);
    assert_int_equal(haloi_vulkan_create(code, d, fake_loader, &b->about, VK_NULL_HANDLE, NULL), HALO_ERROR_NULL);
    bench_end(b);
}

/* ---- the host's allocator ---------------------------------------------------------------------------------------- */

typedef struct tally { int alive, calls, fail_at; } tally;

static void *VKAPI_CALL allocate(void *user, size_t bytes, size_t alignment, VkSystemAllocationScope scope)
{
    (void)scope;
    tally *t = user;
    if (++t->calls == t->fail_at) return NULL;
    t->alive++;
    return aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
}

static void VKAPI_CALL release(void *user, void *memory)
{
    ((tally *)user)->alive--;
    free(memory);
}

static void memory_is_the_hosts(void **state)
{
    (void)state;
    tally t = { 0 };
    VkAllocationCallbacks callbacks = { .pUserData = &t, .pfnAllocation = allocate, .pfnFree = release };
    bench *b = bench_new();
    plan_blur(&b->plan, 4);
    b->about.allocator = &callbacks;
    bench_create(b);
    memset(&callbacks, 0, sizeof callbacks);             /* the driver has a copy */
    assert_int_equal(t.alive, 1);
    for (int k = 0; k < 2; k++) bench_picture(b, k, 30, 30, 4);
    assert_int_equal(bench_record(b), HALO_OK);
    assert_int_equal(t.alive, 1);
    assert_true(t.calls > 1);
    int used = t.calls - 1;
    for (int n = 1; n <= used; n++) {
        t.fail_at = t.calls + n;
        fake_reset(&b->device);
        assert_int_equal(bench_record(b), HALO_ERROR_MEMORY);
        assert_true(b->device.n_commands == 0 && t.alive == 1);
    }
    bench_end(b);
    assert_int_equal(t.alive, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shapes_fit_the_limits),
        cmocka_unit_test(tiles_weigh_halo_against_room),
        cmocka_unit_test(tiles_that_are_asked_for),
        cmocka_unit_test(tiles_that_do_not_fit),
        cmocka_unit_test(the_module_follows_the_features),
        cmocka_unit_test(what_is_missing_is_named),
        cmocka_unit_test(failures_leave_nothing),
        cmocka_unit_test(functions_that_are_not_there),
        cmocka_unit_test(null_arguments_of_create),
        cmocka_unit_test(memory_is_the_hosts),
    };
    return cmocka_run_group_tests_name("driver_create", tests, NULL, NULL);
}
