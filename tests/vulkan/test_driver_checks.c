/* SPDX-License-Identifier: MIT
 * What the driver refuses, before it records anything: every code, and the nearest call that is fine. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "support_driver.h"

static bench *blur(int32_t bytes, int32_t width, int32_t height)
{
    bench *b = bench_new();
    plan_blur(&b->plan, bytes);
    b->plan.kernels[0].granule = 4 / bytes;
    b->plan.kernels[0].needs = bytes == 1 ? VPLAN_NEEDS_8bit : bytes == 2 ? VPLAN_NEEDS_16bit : 0;
    for (int k = 0; k < 2; k++) bench_picture(b, k, width, height, bytes);
    return b;
}

static void expect(bench *b, int code)
{
    fake_reset(&b->device);
    assert_int_equal(bench_record(b), code);
    if (code) assert_true(b->device.n_commands == 0 && b->device.n_sets == 0);
    else assert_true(b->device.n_commands > 0);
    assert_true(strlen(haloi_vulkan_error(code)) > 5 && strcmp(haloi_vulkan_error(code), haloi_vulkan_error(-1)) != 0);
}

static void null_pointers(void **state)
{
    (void)state;
    bench *b = blur(4, 12, 9);
    bench_create(b);
    expect(b, HALO_OK);
    b->inputs[0] = NULL;
    expect(b, HALO_ERROR_NULL);
    b->inputs[0] = &b->images[0];
    b->outputs[0] = NULL;
    expect(b, HALO_ERROR_NULL);
    b->outputs[0] = &b->images[1];
    b->images[1].buffer = VK_NULL_HANDLE;
    expect(b, HALO_ERROR_NULL);
    b->images[1].buffer = buffer_number(2);
    assert_int_equal(haloi_vulkan_record(b->v, NULL, b->inputs, NULL, b->outputs, NULL, NULL, &b->resources, NULL),
                     HALO_ERROR_NULL);
    assert_int_equal(haloi_vulkan_record(b->v, fake_commands(&b->device), b->inputs, NULL, b->outputs, NULL, NULL, NULL, NULL),
                     HALO_ERROR_NULL);
    expect(b, HALO_OK);
    bench_end(b);
}

static void extents_and_parts(void **state)
{
    (void)state;
    bench *b = blur(4, 12, 9);
    bench_create(b);
    b->images[1].extent[0] = 11;
    expect(b, HALO_ERROR_SIZE);
    b->images[1].extent[0] = 12;
    b->images[0].extent[1] = -1;
    expect(b, HALO_ERROR_SIZE);
    b->images[0].extent[1] = (1 << 28) + 1;
    expect(b, HALO_ERROR_SIZE);
    b->images[0].extent[1] = 9;
    halo_part part = { { 3, 4, 0, 0, 0 }, { 9, 5, 1, 1, 1 } };
    b->part = &part;
    expect(b, HALO_OK);
    part.extent[0] = 10;
    expect(b, HALO_ERROR_SIZE);
    part.extent[0] = 0;
    expect(b, HALO_ERROR_SIZE);
    part.extent[0] = 9;
    part.start[1] = -1;
    expect(b, HALO_ERROR_SIZE);
    b->part = NULL;
    halo_vulkan_image out = { 0 }, *outs[1] = { &out };
    assert_int_equal(haloi_vulkan_size(&b->plan.code, b->inputs, NULL, outs, NULL), HALO_OK);
    assert_true(out.extent[0] == 12 && out.extent[1] == 9 && out.extent[2] == 1);
    b->images[0].extent[0] = b->images[1].extent[0] = 0;
    assert_int_equal(haloi_vulkan_size(&b->plan.code, b->inputs, NULL, outs, NULL), HALO_ERROR_SIZE);
    expect(b, HALO_ERROR_SIZE);
    bench_end(b);
}

static void strides_and_offsets(void **state)
{
    (void)state;
    bench *b = blur(4, 12, 9);
    bench_create(b);
    b->images[0].size = b->images[1].size = 1 << 20;
    b->images[0].stride[1] = 50;
    expect(b, HALO_ERROR_STRIDE);
    b->images[0].stride[1] = 0;                          /* an input may repeat a row */
    expect(b, HALO_OK);
    b->images[0].stride[1] = 48;
    b->images[0].offset = 2;
    expect(b, HALO_ERROR_STRIDE);
    b->images[0].offset = 4;
    expect(b, HALO_OK);
    b->images[1].stride[1] = 44;                         /* an output's rows may not overlap */
    expect(b, HALO_ERROR_STRIDE);
    b->images[1].stride[1] = 48;
    b->images[1].stride[0] = 32;
    b->images[1].stride[1] = 4;                          /* but columns may lie as rows do */
    expect(b, HALO_ERROR_STRIDE);
    b->images[1].stride[0] = 36;
    expect(b, HALO_OK);
    bench_end(b);
}

static void bytes_of_the_buffer(void **state)
{
    (void)state;
    bench *b = blur(4, 12, 9);
    bench_create(b);
    b->images[0].offset = 8;
    expect(b, HALO_VULKAN_ERROR_BUFFER);                 /* 8 bytes beyond the end */
    b->images[0].first = 8;
    expect(b, HALO_OK);
    b->images[0].first = 12;
    expect(b, HALO_VULKAN_ERROR_BUFFER);
    b->images[0].first = 0;
    b->images[0].size = VK_WHOLE_SIZE;
    expect(b, HALO_OK);
    b->images[0].stride[1] = -48;
    expect(b, HALO_VULKAN_ERROR_BUFFER);
    halo_part first_row = { { 0, 0, 0, 0, 0 }, { 12, 1, 1, 1, 1 } };
    b->images[0].offset = 96;                            /* whose 5x5 reads three rows, upward */
    b->part = &first_row;
    expect(b, HALO_OK);
    b->images[0].offset = 92;
    expect(b, HALO_VULKAN_ERROR_BUFFER);
    bench_end(b);
}

static void overlaps(void **state)
{
    (void)state;
    bench *b = blur(4, 12, 9);
    bench_create(b);
    b->images[0].size = b->images[1].size = 1 << 20;
    b->images[1].buffer = b->images[0].buffer;
    expect(b, HALO_ERROR_OVERLAP);
    b->images[1].offset = 12 * 9 * 4 - 4;
    expect(b, HALO_ERROR_OVERLAP);
    b->images[1].offset = 12 * 9 * 4;
    expect(b, HALO_OK);
    b->images[0].stride[1] = b->images[1].stride[1] = 2 * 48;        /* side by side in one picture */
    b->images[1].offset = 48;
    expect(b, HALO_OK);
    b->images[1].offset = 44;
    expect(b, HALO_ERROR_OVERLAP);
    halo_part last = { { 0, 8, 0, 0, 0 }, { 12, 1, 1, 1, 1 } };      /* reads rows 6 to 8 */
    b->part = &last;
    b->images[0].stride[1] = b->images[1].stride[1] = 48;
    b->images[1].offset = 0;
    expect(b, HALO_ERROR_OVERLAP);
    b->images[0].offset = 4800;
    expect(b, HALO_OK);
    bench_end(b);
}

static void ranges_that_cannot_be_bound(void **state)
{
    (void)state;
    bench *b = blur(4, 6000, 6000);                      /* 144 MB; 128 MiB is what every device has */
    bench_create(b);
    expect(b, HALO_VULKAN_ERROR_RANGE);
    halo_part half = { { 0, 3000, 0, 0, 0 }, { 6000, 3000, 1, 1, 1 } };
    b->part = &half;
    for (int k = 0; k < 2; k++) b->images[k].size = 6000ull * 6000 * 4;
    expect(b, HALO_OK);
    bench_end(b);
    b = blur(1, 60000, 40000);                           /* more than 2^31 bytes */
    b->about.limits.maxStorageBufferRange = UINT32_MAX;
    for (int k = 0; k < 2; k++) b->images[k].size = 60000ull * 40000, b->images[k].stride[1] = 60000;
    bench_create(b);
    expect(b, HALO_VULKAN_ERROR_RANGE);
    bench_end(b);
}

static void words(void **state)
{
    (void)state;
    bench *b = blur(1, 12, 9);
    b->about.storage_8bit = VK_FALSE;
    bench_create(b);
    for (int k = 0; k < 2; k++) b->images[k].size = 1 << 20;
    expect(b, HALO_OK);
    uint32_t rest = b->device.commands[1].push[VPLAN_PUSH_slots + plan_slot(&b->plan, 0, VPLAN_SLOT_stride, 0, 1)];
    assert_int_equal(rest, 12);                          /* in bytes */
    b->images[0].offset = 3;                             /* inputs may lie anywhere */
    b->images[0].stride[1] = 13;
    b->images[0].stride[0] = 1;
    expect(b, HALO_OK);
    b->images[1].offset = 2;
    expect(b, HALO_VULKAN_ERROR_WORDS);
    b->images[1].offset = 8;
    b->images[1].stride[1] = 14;
    expect(b, HALO_VULKAN_ERROR_WORDS);
    b->images[1].stride[1] = 16;
    expect(b, HALO_OK);
    b->images[1].stride[0] = 2;
    b->images[1].stride[1] = 32;
    expect(b, HALO_VULKAN_ERROR_WORDS);
    b->images[1].stride[0] = 1;
    halo_part part = { { 4, 0, 0, 0, 0 }, { 4, 9, 1, 1, 1 } };
    b->part = &part;
    expect(b, HALO_OK);
    part.start[0] = 3;
    expect(b, HALO_VULKAN_ERROR_WORDS);
    part.start[0] = 4;
    part.extent[0] = 6;
    b->images[1].padded_rows = 1;                        /* what follows are pixels, no padding */
    expect(b, HALO_VULKAN_ERROR_WORDS);
    bench_end(b);
}

/* Rows of 11 bytes: only with padding, which is then the library's, up to its last byte. */
static void words_and_padding(void **state)
{
    (void)state;
    bench *b = blur(1, 11, 9);
    b->about.storage_8bit = VK_FALSE;
    bench_create(b);
    for (int k = 0; k < 2; k++) b->images[k].stride[1] = 12, b->images[k].size = 12 * 9;
    expect(b, HALO_VULKAN_ERROR_WORDS);
    b->images[1].padded_rows = 1;
    expect(b, HALO_OK);
    b->images[1].size = 12 * 9 - 1;
    expect(b, HALO_VULKAN_ERROR_BUFFER);
    b->images[1].size = 12 * 9;
    b->images[0].size = 12 * 9 - 1;                      /* the word with the last pixel is read too */
    expect(b, HALO_VULKAN_ERROR_BUFFER);
    b->images[0].size = 1 << 20;
    b->images[0].buffer = b->images[1].buffer;
    b->images[0].offset = 11;                            /* a column of an input in the padding */
    b->images[0].stride[0] = 12 * 9;
    expect(b, HALO_ERROR_OVERLAP);
    bench_end(b);
}

static void scratch(void **state)
{
    (void)state;
    bench *b = bench_new();
    int32_t in = plan_input(&b->plan, 4, 1), t = plan_like(&b->plan, VPLAN_ROLE_scratch, in, 4, 1),
        out = plan_like(&b->plan, VPLAN_ROLE_output, in, 4, 1);
    plan_kernel(&b->plan, t);
    plan_reads(&b->plan, in, 0, 0, 0, 0, BORDER_none);
    plan_kernel(&b->plan, out);
    plan_reads(&b->plan, t, 0, 0, 0, 0, BORDER_none);
    for (int k = 0; k < 2; k++) bench_picture(b, k, 10, 10, 4);
    bench_create(b);
    halo_vulkan_needs needs = bench_needs(b);
    assert_int_equal(needs.scratch_alignment, 256);
    b->resources.scratch_offset = 128;
    expect(b, HALO_VULKAN_ERROR_SCRATCH);
    b->resources.scratch_offset = 256;
    expect(b, HALO_OK);
    b->resources.scratch = b->images[1].buffer;
    b->images[1].size = 1 << 20;
    expect(b, HALO_ERROR_OVERLAP);
    b->images[1].offset = 256 + needs.scratch_bytes;
    expect(b, HALO_OK);
    b->resources.scratch = VK_NULL_HANDLE;
    expect(b, HALO_VULKAN_ERROR_SCRATCH);
    bench_end(b);
}

static void loops(void **state)
{
    (void)state;
    bench *b = blur(4, 100, 100);
    plan_shares(&b->plan, 1, 2, 0, 1);
    b->plan.kernels[0].tile_width = b->plan.kernels[0].tile_height = 16;
    b->plan.kernels[0].iterations = plan_number(&b->plan, 25);
    b->plan.shared[0].iterations = plan_number(&b->plan, 3);
    b->about.most_loop_iterations = 1 + 2 * (1 + 25) + 1 + 4 * (1 + 3);      /* 256 and 400 pixels by 128 invocations */
    bench_create(b);
    expect(b, HALO_OK);
    bench_end(b);
    b = blur(4, 100, 100);
    plan_shares(&b->plan, 1, 2, 0, 1);
    b->plan.kernels[0].tile_width = b->plan.kernels[0].tile_height = 16;
    b->plan.kernels[0].iterations = plan_number(&b->plan, 25);
    b->plan.shared[0].iterations = plan_number(&b->plan, 3);
    b->about.most_loop_iterations = 1 + 2 * (1 + 25) + 1 + 4 * (1 + 3) - 1;
    bench_create(b);
    expect(b, HALO_VULKAN_ERROR_LOOPS);
    bench_end(b);
}

static void parameters_and_checks(void **state)
{
    (void)state;
    bench *b = blur(4, 10, 10);
    plan_parameter(&b->plan);
    int32_t width = plan_value(&b->plan, OP_dim, 0, 0), small = plan_value(&b->plan, OP_lt, width, plan_number(&b->plan, 11));
    b->plan.instructions[small].kind = KIND_bool;
    b->plan.checks[b->plan.header.n_checks++] = (vplan_check){ .value = small };
    int32_t even = plan_value(&b->plan, OP_eq, plan_value(&b->plan, OP_mod, width, plan_number(&b->plan, 2)), 0);
    b->plan.instructions[even].kind = KIND_bool;
    b->plan.checks[b->plan.header.n_checks++] = (vplan_check){ .value = even, .is_parameter = 1 };
    bench_create(b);
    expect(b, HALO_OK);
    assert_int_equal(b->failed, 77);
    static const float outside[] = { -0.001f, 1.001f, NAN };
    for (int k = 0; k < 3; k++) {
        b->params = &outside[k];
        expect(b, HALO_ERROR_PARAMETER);
        assert_int_equal(b->failed, -1);
    }
    b->params = NULL;
    for (int k = 0; k < 2; k++) bench_picture(b, k, 12, 10, 4);
    expect(b, HALO_ERROR_SIZE);
    assert_int_equal(b->failed, 0);
    for (int k = 0; k < 2; k++) bench_picture(b, k, 9, 10, 4);
    expect(b, HALO_ERROR_PARAMETER);
    assert_int_equal(b->failed, 1);
    b->plan.code.defaults = NULL;
    expect(b, HALO_ERROR_NULL);
    bench_end(b);
}

static void the_pool_is_exhausted(void **state)
{
    (void)state;
    bench *b = blur(4, 10, 10);
    bench_create(b);
    fake_reset(&b->device);
    b->device.pool_sets = 0;
    assert_int_equal(bench_record(b), HALO_VULKAN_ERROR_DEVICE);
    assert_int_equal(b->device.n_commands, 0);
    b->device.pool_sets = 1;
    assert_int_equal(bench_record(b), HALO_OK);
    bench_end(b);
}

static void views(void **state)
{
    (void)state;
    bench *b = blur(4, 10, 10);
    b->plan.memories[0].layout = VPLAN_LAYOUT_sampled;
    b->plan.memories[1].layout = VPLAN_LAYOUT_image;
    bench_create(b);
    uint64_t numbers[2] = { 41, 42 };
    for (int k = 0; k < 2; k++) {
        b->images[k].buffer = VK_NULL_HANDLE;
        expect(b, HALO_ERROR_NULL);
        memcpy(&b->images[k].view, &numbers[k], 8);
    }
    expect(b, HALO_OK);
    const fake_set *s = &b->device.sets[0];
    assert_int_equal(s->types[1], VK_DESCRIPTOR_TYPE_SAMPLED_IMAGE);
    assert_int_equal(s->views[1].imageLayout, VK_IMAGE_LAYOUT_SHADER_READ_ONLY_OPTIMAL);
    assert_true(s->types[0] == VK_DESCRIPTOR_TYPE_STORAGE_IMAGE && s->views[0].imageLayout == VK_IMAGE_LAYOUT_GENERAL);
    b->images[0].view_layout = VK_IMAGE_LAYOUT_GENERAL;
    expect(b, HALO_OK);
    assert_true(b->device.sets[0].views[1].imageLayout == VK_IMAGE_LAYOUT_GENERAL);
    halo_vulkan_needs needs = bench_needs(b);
    assert_true(needs.storage_images == 1 && needs.sampled_images == 1 && needs.storage_buffers == 0);
    b->images[1].view = b->images[0].view;
    expect(b, HALO_ERROR_OVERLAP);
    bench_end(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(null_pointers),
        cmocka_unit_test(extents_and_parts),
        cmocka_unit_test(strides_and_offsets),
        cmocka_unit_test(bytes_of_the_buffer),
        cmocka_unit_test(overlaps),
        cmocka_unit_test(ranges_that_cannot_be_bound),
        cmocka_unit_test(words),
        cmocka_unit_test(words_and_padding),
        cmocka_unit_test(scratch),
        cmocka_unit_test(loops),
        cmocka_unit_test(parameters_and_checks),
        cmocka_unit_test(the_pool_is_exhausted),
        cmocka_unit_test(views),
    };
    return cmocka_run_group_tests_name("driver_checks", tests, NULL, NULL);
}
