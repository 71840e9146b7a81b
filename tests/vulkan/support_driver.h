/* SPDX-License-Identifier: MIT
 * What the tests of the driver share: pipes of a few kernels, pictures that fit them, calls. Include cmocka before. */
#ifndef HALO_TESTS_VULKAN_SUPPORT_DRIVER_H
#define HALO_TESTS_VULKAN_SUPPORT_DRIVER_H

#include <stdlib.h>
#include <string.h>

#include "backends/vulkan/driver_values.h"
#include "lowering/tensor.h"
#include "support_fake.h"
#include "support_plan.h"

typedef struct bench {
    fake               device;
    plan_builder       plan;
    halo_vulkan_device about;
    haloi_vulkan      *v;
    halo_vulkan_image  images[8];              /* inputs, then outputs */
    const halo_vulkan_image *inputs[8], *outputs[8];
    const void        *params;
    const halo_part   *part;
    const halo_vulkan_slice *slice;
    halo_vulkan_resources resources;
    int32_t            failed;
} bench;

static inline VkBuffer buffer_number(uint64_t n) { VkBuffer b; memcpy(&b, &n, sizeof b); return b; }

static inline bench *bench_new(void)
{
    bench *b = calloc(1, sizeof *b);
    assert_non_null(b);
    fake_begin(&b->device);
    plan_begin(&b->plan);
    b->about = fake_least_device();
    b->resources.scratch = buffer_number(99);
    return b;
}

static inline void bench_create(bench *b)
{
    const haloi_vulkan_code *code = plan_end(&b->plan);
    int result = haloi_vulkan_create(code, fake_device(&b->device), fake_loader, &b->about, VK_NULL_HANDLE, &b->v);
    assert_int_equal(result, HALO_OK);
    fake_reset(&b->device);
}

static inline void bench_end(bench *b)
{
    haloi_vulkan_destroy(b->v);
    assert_int_equal(b->device.alive, 0);
    free(b);
}

/* A dense picture in a buffer of its own, with nothing to spare. */
static inline void bench_picture(bench *b, int which, int32_t width, int32_t height, int64_t pixel_bytes)
{
    b->images[which] = (halo_vulkan_image){ .buffer = buffer_number((uint64_t)which + 1),
                                            .size = (VkDeviceSize)((int64_t)width * height * pixel_bytes),
                                            .extent = { width, height, 1, 1, 1 },
                                            .stride = { pixel_bytes, (int64_t)width * pixel_bytes } };
    int n_inputs = b->plan.header.n_inputs;
    if (which < n_inputs) b->inputs[which] = &b->images[which];
    else b->outputs[which - n_inputs] = &b->images[which];
}

static inline int bench_record(bench *b)
{
    b->failed = 77;
    return haloi_vulkan_record(b->v, fake_commands(&b->device), b->inputs, b->params, b->outputs, b->part, b->slice, &b->resources,
                               &b->failed);
}

static inline halo_vulkan_needs bench_needs(bench *b)
{
    halo_vulkan_needs needs;
    assert_int_equal(haloi_vulkan_needs(b->v, b->inputs, b->params, b->part, &needs, NULL), HALO_OK);
    return needs;
}

/* One kernel: 5x5 around every pixel. */
static inline void plan_blur(plan_builder *p, int32_t bytes)
{
    int32_t in = plan_input(p, bytes, 1), out = plan_like(p, VPLAN_ROLE_output, in, bytes, 1);
    plan_kernel(p, out);
    plan_reads(p, in, -2, 2, -2, 2, BORDER_reflect101);
}

#endif
