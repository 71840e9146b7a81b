/* SPDX-License-Identifier: MIT
 * How pictures lie: side by side, in planes, blue first, in images that are stored to or sampled. Whatever the layout, the bytes
 * are the interpreter's. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support_bench.h"
#include "support_pictures.h"

#include "backends/vulkan/compile.h"
#include "frontend/frontend.h"
#include "lowering/interpret.h"
#include "lowering/pass.h"
#include "lowering/scalar.h"

enum { IN_ROWS = VPLAN_LAYOUT_interleaved, BLUE_FIRST = VPLAN_LAYOUT_bgra, IMAGE = VPLAN_LAYOUT_image,
       SAMPLED = VPLAN_LAYOUT_sampled, GUARD = 0x5a };

/* ---- programs ----------------------------------------------------------------------------------------------- */

typedef struct program {
    fixture     *f;
    arena       *memory;
    diags        d;
    tensor_pipe *defined, *pipe;
    type         from, to;                     /* of the only input and output */
    halo_vulkan_device about;
    const vulkan_module *module;
    haloi_vulkan *v;
} program;

static program *program_new(fixture *f, const char *text)
{
    arena *memory = arena_new(NULL);
    program *p = ARENA_NEW(memory, program);
    p->f = f;
    p->memory = memory;
    diags_init(&p->d, memory);
    script *s = script_load(memory, interner_new(memory), &p->d, "layouts.pipe", text, strlen(text), NULL, NULL);
    p->defined = script_lower(s, 0);
    if (!p->defined) {
        struct text all = { 0 };
        diags_render(&p->d, &all);
        fail_msg("%s", all.bytes);
    }
    p->defined->strict = true;
    p->pipe = tensor_clone(p->defined, memory);
    assert_true(passes_run(&p->defined, &(pass_options){ .only_define = true, .stop_after = PASS_COUNT }, &p->d));
    assert_true(passes_run(&p->pipe, &(pass_options){ .stop_after = PASS_COUNT }, &p->d));
    p->from = stage_at(p->pipe, 1)->type;
    p->to = stage_at(p->pipe, p->pipe->outputs.items[0].stage)->type;
    const test_device *device = &f->device;
    p->about = (halo_vulkan_device){ .limits = device->properties.limits, .storage_8bit = device->storage8,
                                     .storage_16bit = device->storage16, .shader_int64 = device->int64,
                                     .storage_image_extended = device->image_formats };
    return p;
}

static void program_free(program *p)
{
    haloi_vulkan_destroy(p->v);
    assert_int_equal(p->f->device.n_messages, 0);
    arena_free(p->memory);
}

static void compile(program *p, const int32_t *layouts)
{
    p->module = vulkan_compile(p->pipe, &(vulkan_options){ .layouts = layouts }, p->memory, &p->d);
    assert_non_null(p->module);
    const vplan_header *h = (const vplan_header *)p->module->code.plan;
    const vplan_kernel *kernels = (const vplan_kernel *)((const vplan_memory *)(h + 1) + h->n_memories);
    for (int32_t k = 0; k < h->n_kernels; k++) {
        const uint32_t *words = p->module->code.spirv + kernels[k].first_code;
        const char *why = spirv_problem(p->memory, words, (uint32_t)kernels[k].n_code_words);
        if (why) fail_msg("%s", why);
    }
    haloi_vulkan_destroy(p->v);
    p->v = NULL;
}

static void create_with(program *p, const int32_t *layouts)
{
    compile(p, layouts);
    const char *missing = haloi_vulkan_missing(&p->module->code, &p->about);
    if (missing) fail_msg("the device lacks %s", missing);
    int result = haloi_vulkan_create(&p->module->code, p->f->device.device, vkGetDeviceProcAddr, &p->about, VK_NULL_HANDLE, &p->v);
    assert_int_equal(result, HALO_OK);
}

static void create(program *p, int from, int to) { create_with(p, (int32_t[]){ from, to }); }

/* ---- runs --------------------------------------------------------------------------------------------------- */

static size_t pixel_bytes(type t) { return (size_t)kind_get((kind)t.kind)->n_bytes * t.lanes; }

static VkDescriptorPool pool_for(test_device *d, const halo_vulkan_needs *needs)
{
    VkDescriptorPoolSize sizes[3];
    uint32_t n = 0;
    if (needs->storage_buffers) sizes[n++] = (VkDescriptorPoolSize){ VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, needs->storage_buffers };
    if (needs->storage_images) sizes[n++] = (VkDescriptorPoolSize){ VK_DESCRIPTOR_TYPE_STORAGE_IMAGE, needs->storage_images };
    if (needs->sampled_images) sizes[n++] = (VkDescriptorPoolSize){ VK_DESCRIPTOR_TYPE_SAMPLED_IMAGE, needs->sampled_images };
    VkDescriptorPoolCreateInfo info = { .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO, .maxSets = needs->sets,
                                        .poolSizeCount = n, .pPoolSizes = sizes };
    VkDescriptorPool pool = VK_NULL_HANDLE;
    vkCreateDescriptorPool(d->device, &info, NULL, &pool);
    return pool;
}

static VkImageUsageFlags usage_of(const picture *p)
{
    return p->layout == IMAGE ? VK_IMAGE_USAGE_STORAGE_BIT : p->layout == SAMPLED ? VK_IMAGE_USAGE_SAMPLED_BIT : 0;
}

enum { MOST_PICTURES = 3 };
typedef struct pictures { picture *in[MOST_PICTURES], *out[MOST_PICTURES]; int n_in, n_out; } pictures;

static VkImageUsageFlags list(picture *const *all, int n, const halo_vulkan_image **images)
{
    VkImageUsageFlags usage = 0;
    for (int k = 0; k < n; k++) {
        images[k] = &all[k]->abi;
        usage |= usage_of(all[k]);
    }
    return usage;
}

/* What the driver says to it; the pictures are copied both ways in between. */
static int record_all(program *p, const pictures *all, const halo_part *part)
{
    test_device *d = &p->f->device;
    const halo_vulkan_image *inputs[MOST_PICTURES], *outputs[MOST_PICTURES];
    VkImageUsageFlags input_usage = list(all->in, all->n_in, inputs), output_usage = list(all->out, all->n_out, outputs);
    halo_vulkan_needs needs;
    int result = haloi_vulkan_needs(p->v, inputs, p->module->code.defaults, part, &needs, NULL);
    if (result != HALO_OK) return result;
    assert_int_equal(needs.input_image_usage, input_usage);
    assert_int_equal(needs.output_image_usage, output_usage);
    test_buffer scratch = test_buffer_new(d, needs.scratch_bytes + 16);
    halo_vulkan_resources resources = { pool_for(d, &needs), scratch.buffer, 0 };
    VkCommandBuffer commands = commands_begin(d);
    for (int k = 0; k < all->n_in; k++) picture_before(all->in[k], commands);
    for (int k = 0; k < all->n_out; k++)
        if (all->out[k] != all->in[0]) picture_before(all->out[k], commands);
    result = haloi_vulkan_record(p->v, commands, inputs, p->module->code.defaults, outputs, part, NULL, &resources, NULL);
    for (int k = 0; k < all->n_out; k++) picture_after(all->out[k], commands);
    assert_true(commands_run(d, commands));
    vkDestroyDescriptorPool(d->device, resources.pool, NULL);
    test_buffer_free(d, &scratch);
    return result;
}

static int record(program *p, picture *in, picture *out, const halo_part *part)
{
    return record_all(p, &(pictures){ { in }, { out }, 1, 1 }, part);
}

/* Random bytes, or random reals, so that none is NaN or infinite. */
static uint8_t *random_pixels(type t, size_t n_pixels, uint64_t seed)
{
    size_t bytes = n_pixels * pixel_bytes(t), n = n_pixels * t.lanes;
    uint8_t *out = malloc(bytes);
    for (size_t k = 0; k < n; k++) {
        uint64_t random = next_random(&seed);
        float real = (float)(random % 65536) / 16384 - 2;
        uint16_t half = f16_bits_of_f32(real);
        size_t size = bytes / n;
        memcpy(out + k * size, t.kind == KIND_f32 ? (void *)&real : t.kind == KIND_f16 ? (void *)&half : (void *)&random, size);
    }
    return out;
}

static halo_image dense_image(void *data, type t, const int32_t extent[2])
{
    ptrdiff_t pixel = (ptrdiff_t)pixel_bytes(t);
    return (halo_image){ data, { extent[0], extent[1], 1, 1, 1 }, { pixel, pixel * extent[0] } };
}

/* The interpreter's output, and its extents. */
static uint8_t *interpreted(program *p, uint8_t *pixels, const int32_t size[2], int32_t extent[2])
{
    halo_image in = dense_image(pixels, p->from, size);
    run_values values = { .inputs = &in };
    int32_t lo[TENSOR_MAX_RANK], extents[TENSOR_MAX_RANK];
    stage_bounds(p->defined, p->defined->outputs.items[0].stage, &values, lo, extents);
    memcpy(extent, extents, 2 * sizeof *extent);
    uint8_t *out = malloc(pixel_bytes(p->to) * (size_t)extent[0] * (size_t)extent[1]);
    halo_image image = dense_image(out, p->to, extent);
    text problem = { 0 };
    assert_int_equal(interpret(p->defined, &values, &image, false, &problem), HALO_OK);
    return out;
}

typedef struct way { int from, to; const char *what; } way;

static void assert_same(program *p, const uint8_t *wanted, const uint8_t *got, const int32_t extent[2], way w)
{
    size_t size = (size_t)kind_get((kind)p->to.kind)->n_bytes, n = (size_t)extent[0] * (size_t)extent[1] * p->to.lanes;
    for (size_t k = 0; k < n; k++)
        if (memcmp(wanted + k * size, got + k * size, size) != 0)
            fail_msg("%s from %s to %s, %dx%d: component %zu of %zu is %02x.. and should be %02x..", w.what,
                     vulkan_layout_name(w.from), vulkan_layout_name(w.to), extent[0], extent[1], k, n,
                     got[k * size], wanted[k * size]);
}

/* Bytes of the format that the picture has no component for: alpha is 1. */
static void assert_alpha(const picture *out)
{
    static const uint8_t bytes[] = { 255 }, words[] = { 255, 255 }, halves[] = { 0x00, 0x3c }, reals[] = { 0, 0, 0x80, 0x3f };
    bool is_float = out->bytes == 4 || picture_component(out, 0, 0, 3)[1] == halves[1];
    const uint8_t *wanted = out->bytes == 1 ? bytes : out->bytes == 4 ? reals : is_float ? halves : words;
    for (int32_t y = 0; y < out->height; y++)
        for (int32_t x = 0; x < out->width; x++) assert_memory_equal(picture_component(out, x, y, 3), wanted, (size_t)out->bytes);
}

static void check(program *p, int from, int to, int32_t width, int32_t height, const char *what)
{
    test_device *d = &p->f->device;
    int32_t size[2] = { width, height }, extent[2];
    uint8_t *pixels = random_pixels(p->from, (size_t)width * (size_t)height, (uint64_t)(width * 100 + height));
    uint8_t *wanted = interpreted(p, pixels, size, extent);
    uint8_t *got = malloc(pixel_bytes(p->to) * (size_t)extent[0] * (size_t)extent[1]);
    picture in = picture_new(d, from, p->from, width, height), out = picture_new(d, to, p->to, extent[0], extent[1]);
    picture_put(&in, p->from, pixels);
    assert_int_equal(record(p, &in, &out, NULL), HALO_OK);
    picture_get(&out, p->to, got);
    assert_same(p, wanted, got, extent, (way){ from, to, what });
    if (out.lanes > p->to.lanes) assert_alpha(&out);
    picture_free(d, &in);
    picture_free(d, &out);
    free(pixels);
    free(wanted);
    free(got);
}

/* ---- tests: images -------------------------------------------------------------------------------------------- */

static const kind KINDS[] = { KIND_u8, KIND_u16, KIND_f16, KIND_f32 };
static const int32_t SIZES[][2] = { { 1, 1 }, { 7, 5 }, { 70, 50 } };

/* A sum of 3 x 3 pixels whose weights differ, mirrored at the edges. */
static program *stencil(fixture *f, kind k, int lanes)
{
    const char *name = kind_get(k)->name;
    char script[256], type[16];
    snprintf(type, sizeof type, lanes == 1 ? "%s" : "%sx%d", name, lanes);
    snprintf(script, sizeof script, "pipe p(src: image %s) -> image %s {\n"
             "    return %s(conv(pad(src, reflect), [[1, 2, 3], [4, 5, 6], [7, 8, 9]] / 45))\n}\n", type, type, name);
    return program_new(f, script);
}

static void a_stencil_over_every_kind_of_image(void **state)
{
    fixture *f = *state;
    if (!f->is_open) skip();
    for (int k = 0; k < 4; k++)
        for (int lanes = 1; lanes <= 4; lanes++) {
            program *p = stencil(f, KINDS[k], lanes);
            for (int from = IMAGE; from <= SAMPLED; from++) {
                create(p, from, IMAGE);
                for (int s = 0; s < 3; s++) check(p, from, IMAGE, SIZES[s][0], SIZES[s][1], kind_get(KINDS[k])->name);
            }
            program_free(p);
        }
}

/* All bit patterns of 16 or 8 bits, one component or four. NaNs are left out: an image need not keep their bits. */
static size_t all_values(type t, uint8_t *out)
{
    size_t size = (size_t)kind_get((kind)t.kind)->n_bytes, n = 0;
    for (uint32_t v = 0; v < 1u << 8 * size; v++) {
        bool nan = t.kind == KIND_f16 && (v & 0x7fff) > 0x7c00;
        uint32_t bits = nan ? 0 : v;
        memcpy(out + n++ * size, &bits, size);
    }
    return n;
}

static void every_value(fixture *f, const char *type, int from, int to)
{
    char script[128];
    snprintf(script, sizeof script, "pipe p(src: image %s) -> image %s {\n    return src\n}\n", type, type);
    program *p = program_new(f, script);
    test_device *d = &f->device;
    uint8_t *values = malloc(1 << 18), *got = malloc(1 << 18);
    size_t n = all_values(p->from, values) / p->from.lanes;
    int32_t width = n > 256 ? 256 : 16, height = (int32_t)(n / (size_t)width);
    create(p, from, to);
    picture in = picture_new(d, from, p->from, width, height), out = picture_new(d, to, p->to, width, height);
    picture_put(&in, p->from, values);
    assert_int_equal(record(p, &in, &out, NULL), HALO_OK);
    picture_get(&out, p->to, got);
    assert_same(p, values, got, (int32_t[]){ width, height }, (way){ from, to, type });
    picture_free(d, &in);
    picture_free(d, &out);
    free(values);
    free(got);
    program_free(p);
}

static void every_value_goes_into_an_image_and_comes_out_of_one(void **state)
{
    static const char *const types[] = { "u8", "u8x4", "u16", "u16x2", "u16x4", "f16", "f16x4" };
    fixture *f = *state;
    if (!f->is_open) skip();
    for (int k = 0; k < 7; k++) {
        every_value(f, types[k], IN_ROWS, IMAGE);
        every_value(f, types[k], IMAGE, IN_ROWS);
        every_value(f, types[k], SAMPLED, IN_ROWS);
        every_value(f, types[k], SAMPLED, IMAGE);
    }
}

/* A domain that begins at 1 begins at pixel 0 of its image; and intermediates lie in scratch. */
static void domains_begin_at_pixel_0(void **state)
{
    fixture *f = *state;
    if (!f->is_open) skip();
    program *p = program_new(f, "pipe p(src: image u8) -> image u8 {\n"
                                "    return u8(conv(src, [[1, 2], [3, 4], [0, 1]] / 11))\n}\n");
    create(p, SAMPLED, IMAGE);
    check(p, SAMPLED, IMAGE, 7, 5, "no pad");
    program_free(p);
    p = program_new(f, "pipe p(src: image u8) -> image f32 {\n    a = pad(src, reflect)\n    b = pad(src, wrap)\n"
                       "    far[x in 0..<src.width, y in 0..<src.height] = a[x * 3, y] + a[x, y * 2] * 0.5 - b[x - 5, y + 3]\n"
                       "    return far\n}\n");
    create(p, IMAGE, IMAGE);
    check(p, IMAGE, IMAGE, 70, 50, "far reads");
    program_free(p);
}

/* Outputs in images and in rows beside one another, read by others too, wanted in part; the rows also by words. */
static void check_several(program *p, const int32_t layouts[5], const int32_t size[2], const halo_part *part)
{
    test_device *d = &p->f->device;
    picture all[5];
    pictures these = { { &all[0], &all[1] }, { &all[2], &all[3], &all[4] }, 2, 3 };
    halo_image images[5];
    uint8_t *pixels[5], *got = malloc((size_t)size[0] * (size_t)size[1] * 16);
    text problem = { 0 };
    for (int k = 0; k < 5; k++) {
        uint32_t stage = k < 2 ? (uint32_t)k + 1 : p->defined->outputs.items[k - 2].stage;
        type t = stage_at(p->defined, stage)->type;
        all[k] = picture_new(d, layouts[k], t, size[0], size[1]);
        pixels[k] = random_pixels(t, (size_t)size[0] * (size_t)size[1], (uint64_t)k);
        images[k] = dense_image(pixels[k], t, size);
        if (k < 2) picture_put(&all[k], t, pixels[k]);
    }
    assert_int_equal(interpret(p->defined, &(run_values){ .inputs = images }, images + 2, false, &problem), HALO_OK);
    assert_int_equal(record_all(p, &these, part), HALO_OK);
    for (int k = 2; k < 5; k++) {
        type t = stage_at(p->defined, p->defined->outputs.items[k - 2].stage)->type;
        picture_get(&all[k], t, got);
        size_t bytes = pixel_bytes(t);
        for (int32_t y = 0; y < size[1]; y++)
            for (int32_t x = 0; x < size[0]; x++) {
                int32_t dx = x - part->start[0], dy = y - part->start[1];
                bool inside = dx >= 0 && dx < part->extent[0] && dy >= 0 && dy < part->extent[1];
                size_t at = ((size_t)y * (size_t)size[0] + (size_t)x) * bytes;
                for (size_t j = at; j < at + bytes; j++) assert_int_equal(got[j], inside ? pixels[k][j] : GUARD);
            }
    }
    for (int k = 0; k < 5; k++) {
        picture_free(d, &all[k]);
        free(pixels[k]);
    }
    free(got);
}

static void several_pictures_at_once(void **state)
{
    fixture *f = *state;
    if (!f->is_open) skip();
    for (int words = 0; words < 2; words++) {
        program *p = program_new(f, "pipe p(src: image u8x3, other: image f16) -> (a: image u8x3, b: image u8, c: image f32x2) {\n"
                                    "    a = u8(conv(pad(src, reflect), [[1, 2, 1], [2, 4, 2], [1, 2, 1]] / 16))\n"
                                    "    b = u8(conv(pad(a.g, wrap), [[1], [2], [3]] / 6) + other)\n"
                                    "    return a, b, (f32(a.r) * 0.5, f32(b) + 0.25)\n}\n");
        if (words) p->about.storage_8bit = p->about.storage_16bit = VK_FALSE;
        for (int rows = 2; rows < 5; rows++) {
            int32_t layouts[5] = { SAMPLED, IMAGE, IMAGE, IMAGE, IMAGE };
            layouts[rows] = IN_ROWS;
            create_with(p, layouts);
            check_several(p, layouts, (int32_t[]){ 40, 20 }, &(halo_part){ .extent = { 40, 20, 1, 1, 1 } });
            check_several(p, layouts, (int32_t[]){ 40, 20 }, &(halo_part){ .start = { 4, 3 }, .extent = { 32, 9, 1, 1, 1 } });
        }
        program_free(p);
    }
}

/* Of a sampled image only the numbers count, not how they lie: here a view exchanges red and blue. */
static void sampled_views_may_swizzle(void **state)
{
    fixture *f = *state;
    if (!f->is_open) skip();
    program *p = program_new(f, "pipe p(src: image u8x3) -> image u8x3 {\n    return src\n}\n");
    test_device *d = &f->device;
    uint8_t *pixels = random_pixels(p->from, 12, 3), got[36];
    create(p, SAMPLED, IN_ROWS);
    picture in = picture_new(d, SAMPLED, p->from, 4, 3), out = picture_new(d, IN_ROWS, p->to, 4, 3);
    VkComponentMapping exchanged = { VK_COMPONENT_SWIZZLE_B, VK_COMPONENT_SWIZZLE_G, VK_COMPONENT_SWIZZLE_R,
                                     VK_COMPONENT_SWIZZLE_ONE };
    VkImageViewCreateInfo view = { .sType = VK_STRUCTURE_TYPE_IMAGE_VIEW_CREATE_INFO, .image = in.image,
        .viewType = VK_IMAGE_VIEW_TYPE_2D, .format = VK_FORMAT_R8G8B8A8_UNORM, .components = exchanged,
        .subresourceRange = { VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 0, 1 } };
    vkDestroyImageView(d->device, in.abi.view, NULL);
    assert_int_equal(vkCreateImageView(d->device, &view, NULL, &in.abi.view), VK_SUCCESS);
    picture_put(&in, p->from, pixels);
    assert_int_equal(record(p, &in, &out, NULL), HALO_OK);
    picture_get(&out, p->to, got);
    for (int k = 0; k < 36; k++) assert_int_equal(got[k], pixels[k - k % 3 + 2 - k % 3]);
    picture_free(d, &in);
    picture_free(d, &out);
    free(pixels);
    program_free(p);
}

static void parts_leave_the_rest_alone(void **state)
{
    fixture *f = *state;
    if (!f->is_open) skip();
    program *p = program_new(f, "pipe p(src: image u8) -> image u8 {\n    return u8(conv(src, [[1, 2, 1]] / 4))\n}\n");
    test_device *d = &f->device;
    int32_t size[2] = { 40, 9 }, extent[2];
    uint8_t *pixels = random_pixels(p->from, 360, 7), *wanted = interpreted(p, pixels, size, extent);
    create(p, SAMPLED, IMAGE);
    picture in = picture_new(d, SAMPLED, p->from, size[0], size[1]), out = picture_new(d, IMAGE, p->to, extent[0], extent[1]);
    in.abi.view_layout = VK_IMAGE_LAYOUT_GENERAL;
    picture_put(&in, p->from, pixels);
    halo_part part = { .start = { 3, 2 }, .extent = { 30, 5 } };
    assert_int_equal(record(p, &in, &out, &part), HALO_OK);
    for (int32_t y = 0; y < extent[1]; y++)
        for (int32_t x = 0; x < extent[0]; x++) {
            bool inside = x >= 3 && x < 33 && y >= 2 && y < 7;
            assert_int_equal(*picture_component(&out, x, y, 0), inside ? wanted[y * extent[0] + x] : GUARD);
        }
    picture_free(d, &in);
    picture_free(d, &out);
    free(pixels);
    free(wanted);
    program_free(p);
}

/* ---- tests: buffers ---------------------------------------------------------------------------------------------- */

static void planes_and_blue_first(void **state)
{
    static const struct { kind kind; int lanes; } types[] = {
        { KIND_u8, 3 }, { KIND_u8, 4 }, { KIND_u16, 2 }, { KIND_f16, 3 }, { KIND_f32, 3 } };
    fixture *f = *state;
    if (!f->is_open) skip();
    for (int k = 0; k < 5; k++)
        for (int words = 0; words < 2; words++) {
            program *p = stencil(f, types[k].kind, types[k].lanes);
            if (words) p->about.storage_8bit = p->about.storage_16bit = VK_FALSE;
            for (int from = IN_ROWS; from <= BLUE_FIRST; from++) {
                int to = (from + 1) % 3;
                create(p, from, to);
                check(p, from, to, 8, 5, kind_get(types[k].kind)->name);
                check(p, from, to, 40, 3, kind_get(types[k].kind)->name);
            }
            program_free(p);
        }
}

/* ---- tests: what is refused ---------------------------------------------------------------------------------------- */

static void calls_that_are_refused(void **state)
{
    fixture *f = *state;
    if (!f->is_open) skip();
    program *p = program_new(f, "pipe p(src: image u8x4) -> image u8x4 {\n"
                                "    return u8(conv(pad(src, edge), [[1, 2, 1]] / 4))\n}\n");
    test_device *d = &f->device;
    create(p, IMAGE, IMAGE);
    picture in = picture_new(d, IMAGE, p->from, 6, 4), out = picture_new(d, IMAGE, p->to, 6, 4);
    assert_int_equal(record(p, &in, &in, NULL), HALO_ERROR_OVERLAP);
    VkImageView view = out.abi.view;
    out.abi.view = VK_NULL_HANDLE;
    assert_int_equal(record(p, &in, &out, NULL), HALO_ERROR_NULL);
    out.abi.view = view;
    out.abi.extent[0] = 7;
    assert_int_equal(record(p, &in, &out, NULL), HALO_ERROR_SIZE);
    picture_free(d, &in);
    picture_free(d, &out);
    program_free(p);
}

/* Formats beyond those that every device stores to are a feature; sampled ones need none. */
static void formats_that_devices_may_lack(void **state)
{
    static const struct { const char *type; bool from, to; } cases[] = {
        { "u8", true, true }, { "u8x3", false, false }, { "u8x4", false, false }, { "u16x4", true, true }, { "f16x2", true, true },
        { "f16x4", false, false }, { "f32", false, false }, { "f32x2", true, true }, { "f32x4", false, false } };
    char script[128];
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        snprintf(script, sizeof script, "pipe p(src: image %s) -> image %s {\n    return src\n}\n", cases[k].type, cases[k].type);
        program *p = program_new(*state, script);
        p->about.limits.maxPerStageDescriptorStorageImages = p->about.limits.maxPerStageDescriptorSampledImages = 4;
        p->about.storage_image_extended = VK_FALSE;
        for (int layouts = 0; layouts < 3; layouts++) {
            int from = layouts == 0 ? IMAGE : SAMPLED, to = layouts == 1 ? IMAGE : IN_ROWS;
            bool lacks = layouts == 0 ? cases[k].from : layouts == 1 && cases[k].to;
            compile(p, (int32_t[]){ from, to });
            const char *missing = haloi_vulkan_missing(&p->module->code, &p->about);
            if (lacks) assert_string_equal(missing, "shaderStorageImageExtendedFormats");
            else assert_null(missing);
        }
        program_free(p);
    }
}

static void assert_refused(fixture *f, const char *text, int from, int to, const char *message)
{
    program *p = program_new(f, text);
    assert_null(vulkan_compile(p->pipe, &(vulkan_options){ .layouts = (int32_t[]){ from, to } }, p->memory, &p->d));
    assert_int_equal(p->d.n_errors, 1);
    struct text all = { 0 };
    diags_render(&p->d, &all);
    if (!strstr(all.bytes, message)) fail_msg("%s\ndoesn't say %s", all.bytes, message);
    assert_non_null(strstr(all.bytes, "E0552"));
    assert_non_null(strstr(all.bytes, "layouts.pipe:1:"));
    text_free(&all);
    program_free(p);
}

static void what_no_image_holds(void **state)
{
    fixture *f = *state;
    assert_refused(f, "pipe p(src: image i32) -> image u8 { return u8(src) }", IMAGE, IN_ROWS, "u8, u16, f16 and f32 can be in");
    assert_refused(f, "pipe p(src: image u8) -> image bool { return src > 3 }", SAMPLED, IMAGE, "holds the bool of");
    assert_refused(f, "pipe p(src: image u8) -> image u8 { return src }", IN_ROWS, SAMPLED, "can't be a sampled image");
    assert_refused(f, "pipe p(src: u8[W, H, N]) -> u8[W, H, N] { return src }", IMAGE, IN_ROWS, "has 3 dimensions");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_stencil_over_every_kind_of_image),
        cmocka_unit_test(every_value_goes_into_an_image_and_comes_out_of_one),
        cmocka_unit_test(domains_begin_at_pixel_0),
        cmocka_unit_test(several_pictures_at_once),
        cmocka_unit_test(sampled_views_may_swizzle),
        cmocka_unit_test(parts_leave_the_rest_alone),
        cmocka_unit_test(planes_and_blue_first),
        cmocka_unit_test(calls_that_are_refused),
        cmocka_unit_test(formats_that_devices_may_lack),
        cmocka_unit_test(what_no_image_holds),
    };
    return cmocka_run_group_tests(tests, open_device, close_device);
}
