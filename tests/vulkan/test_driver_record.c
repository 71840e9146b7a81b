/* SPDX-License-Identifier: MIT
 * What the driver records, on a device that takes notes: barriers, tiles of big pictures, slices, parts, arguments. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "support_driver.h"

/* ---- barriers ------------------------------------------------------------------------------------------- */

/* a and b from the input; out from both; d from the input once more; then e, which lies where a was, and out2 from it. */
static void plan_diamond(plan_builder *p)
{
    int32_t in = plan_input(p, 4, 1), a = plan_like(p, VPLAN_ROLE_scratch, in, 4, 1), b = plan_like(p, VPLAN_ROLE_scratch, in, 4,
        1);
    int32_t out = plan_like(p, VPLAN_ROLE_output, in, 4, 1), d = plan_like(p, VPLAN_ROLE_output, in, 4, 1);
    int32_t e = plan_like(p, VPLAN_ROLE_scratch, in, 4, 1), out2 = plan_like(p, VPLAN_ROLE_output, in, 4, 1);
    int32_t makes[6] = { a, b, out, d, e, out2 }, reads[6][2] = { { in, -2 }, { in, -2 }, { a, b }, { in, -2 }, { in, -2 },
                                                                  { e, -2 } };
    for (int k = 0; k < 6; k++) {
        plan_kernel(p, makes[k]);
        for (int j = 0; j < 2; j++) if (reads[k][j] >= 0) plan_reads(p, reads[k][j], -1, 1, -1, 1, BORDER_edge);
    }
}

static bench *diamond(void)
{
    bench *b = bench_new();
    plan_diamond(&b->plan);
    bench_create(b);
    for (int k = 0; k < 4; k++) bench_picture(b, k, 20, 10, 4);
    return b;
}

/* One letter a command: dispatch d, barrier B (from transfer: T), update u; binding isn't shown. */
static const char *story(const fake *f, char *out)
{
    int n = 0;
    for (int k = 0; k < f->n_commands; k++) {
        const fake_command *c = &f->commands[k];
        if (c->kind == FAKE_dispatch) out[n++] = 'd';
        if (c->kind == FAKE_update) out[n++] = 'u';
        if (c->kind == FAKE_barrier) out[n++] = c->from == VK_PIPELINE_STAGE_TRANSFER_BIT ? 'T' : 'B';
        if (c->kind == FAKE_barrier) assert_int_equal(c->to, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT);
    }
    out[n] = 0;
    return out;
}

static void barriers_stand_between_what_depends(void **state)
{
    (void)state;
    char out[64];
    bench *b = diamond();
    assert_int_equal(bench_record(b), HALO_OK);
    assert_string_equal(story(&b->device, out), "ddBddBdBd");       /* e waits for the reader of a, whose place it takes */
    bench_end(b);
}

static void scratch_is_used_again(void **state)
{
    (void)state;
    bench *b = diamond();
    halo_vulkan_needs needs = bench_needs(b);
    assert_int_equal(needs.scratch_bytes, 2 * 1024);      /* 800 bytes each, rounded to the alignment of 256 */
    assert_int_equal(needs.sets, 6);
    assert_int_equal(needs.storage_buffers, 13);
    assert_int_equal(needs.scratch_usage, VK_BUFFER_USAGE_STORAGE_BUFFER_BIT);
    assert_int_equal(needs.first_stages, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT);
    bench_end(b);
}

/* ---- tiles and slices ------------------------------------------------------------------------------------ */

enum { GRID = 16 };

/* Counts every tile of every kernel that the commands from `from` on dispatch. */
static void count_tiles(const fake *f, int (*counts)[GRID][GRID])
{
    for (int k = 0; k < f->n_commands; k++) {
        const fake_command *c = &f->commands[k];
        if (c->kind != FAKE_dispatch) continue;
        assert_int_equal(c->push[VPLAN_PUSH_zero], 0);
        for (uint32_t y = 0; y < c->groups[1]; y++)
            for (uint32_t x = 0; x < c->groups[0]; x++) {
                uint32_t tx = c->push[VPLAN_PUSH_tile_x] + x, ty = c->push[VPLAN_PUSH_tile_y] + y;
                assert_true(tx < GRID && ty < GRID && c->groups[2] == 1 && c->push[VPLAN_PUSH_tile_z] == 0);
                counts[c->pipeline][ty][tx]++;
            }
    }
}

static bench *two_kernels(int32_t width, int32_t height, uint32_t most_workgroups)
{
    bench *b = bench_new();
    int32_t in = plan_input(&b->plan, 4, 1), t = plan_like(&b->plan, VPLAN_ROLE_scratch, in, 4, 1),
        out = plan_like(&b->plan, VPLAN_ROLE_output, in, 4, 1);
    plan_kernel(&b->plan, t);
    plan_reads(&b->plan, in, -1, 1, 0, 0, BORDER_wrap);
    b->plan.kernels[plan_kernel(&b->plan, out)].in_buffer = 1;
    plan_reads(&b->plan, t, 0, 0, -1, 1, BORDER_edge);
    plan_reads(&b->plan, -1, 0, 0, 0, 0, BORDER_none);
    for (int k = 0; k < 2; k++) b->plan.kernels[k].tile_width = b->plan.kernels[k].tile_height = 8;
    b->about.most_workgroups = most_workgroups;
    bench_create(b);
    bench_picture(b, 0, width, height, 4);
    bench_picture(b, 1, width, height, 4);
    return b;
}

static void big_pictures_take_several_dispatches(void **state)
{
    (void)state;
    for (uint32_t most = 1; most <= 6; most++) {
        static int counts[2][GRID][GRID];
        bench *b = two_kernels(35, 23, most);            /* 5 x 3 tiles of 8 x 8 */
        assert_int_equal(bench_record(b), HALO_OK);
        memset(counts, 0, sizeof counts);
        count_tiles(&b->device, counts);
        for (int k = 0; k < 2; k++)
            for (int y = 0; y < GRID; y++)
                for (int x = 0; x < GRID; x++) assert_int_equal(counts[k][y][x], x < 5 && y < 3);
        for (int k = 0; k < b->device.n_commands; k++)
            for (int d = 0; d < 2; d++) assert_true(b->device.commands[k].groups[d] <= most);
        uint32_t a_kernel = ((5 + most - 1) / most) * ((3 + most - 1) / most);
        assert_int_equal(fake_count(&b->device, FAKE_dispatch), 2 * a_kernel);
        bench_end(b);
    }
}

static void slices_make_up_the_whole(void **state)
{
    (void)state;
    bench *b = two_kernels(35, 23, 4);
    assert_int_equal(bench_needs(b).workgroups, 30);
    for (uint64_t count = 1; count <= 31; count++) {
        static int counts[2][GRID][GRID];
        memset(counts, 0, sizeof counts);
        for (uint64_t first = 0; first < 30; first += count) {
            halo_vulkan_slice slice = { first, count };
            char out[FAKE_MOST];
            b->slice = &slice;
            fake_reset(&b->device);
            assert_int_equal(bench_record(b), HALO_OK);
            count_tiles(&b->device, counts);
            story(&b->device, out);
            assert_true(out[0] == (first ? 'B' : 'u'));       /* what came before, in other submissions, is done */
            assert_int_equal(fake_count(&b->device, FAKE_update), first == 0);
            assert_int_equal(b->device.n_sets, first < 15 && first + count > 15 ? 2 : 1);
        }
        for (int k = 0; k < 2; k++)
            for (int y = 0; y < 3; y++)
                for (int x = 0; x < 5; x++) assert_int_equal(counts[k][y][x], 1);
    }
    halo_vulkan_slice none = { 30, 5 }, empty = { 3, 0 };
    for (int k = 0; k < 2; k++) {
        b->slice = k ? &none : &empty;
        fake_reset(&b->device);
        assert_int_equal(bench_record(b), HALO_OK);
        assert_int_equal(b->device.n_commands, 0);
    }
    bench_end(b);
}

static void outer_dimensions_go_along_z(void **state)
{
    (void)state;
    bench *b = bench_new();
    int32_t in = plan_input(&b->plan, 4, 1), out;
    vplan_memory *m = &b->plan.memories[in];
    m->rank = 4;
    m->hi[2] = plan_number(&b->plan, 2);
    m->hi[3] = plan_number(&b->plan, 4);
    out = plan_like(&b->plan, VPLAN_ROLE_output, in, 4, 1);
    b->plan.kernels[plan_kernel(&b->plan, out)].rank = 4;
    plan_reads(&b->plan, in, 0, 0, 0, 0, BORDER_none);
    bench_create(b);
    for (int k = 0; k < 2; k++) {
        bench_picture(b, k, 10, 10, 4);
        b->images[k].extent[2] = 3;
        b->images[k].extent[3] = 5;
        b->images[k].stride[2] = 400;
        b->images[k].stride[3] = 1200;
        b->images[k].size = 6000;
    }
    assert_int_equal(bench_record(b), HALO_OK);
    assert_int_equal(b->device.commands[1].groups[2], 15);
    halo_part part = { { 0, 0, 1, 2, 0 }, { 10, 10, 2, 3, 1 } };
    b->part = &part;
    fake_reset(&b->device);
    assert_int_equal(bench_record(b), HALO_OK);
    assert_int_equal(b->device.commands[1].groups[2], 6);
    assert_int_equal(b->device.sets[0].buffers[0].range, 2800 % 256 + 2 * 1200 + 400 + 400);      /* the part begins at byte 2800 */
    assert_int_equal(b->device.sets[0].buffers[1].range, 6000);
    bench_end(b);
}

/* ---- parts ------------------------------------------------------------------------------------------------- */

static uint32_t pushed(const bench *b, const fake_command *c, int32_t kernel, int32_t kind, int32_t which, int32_t d)
{
    return c->push[VPLAN_PUSH_slots + plan_slot(&b->plan, kernel, kind, which, d)];
}

/* Of a kernel's dispatch: the element of a memory at x, y, and whether it is bound. */
static void check_bound(const bench *b, const fake_command *c, int32_t kernel, int32_t memory, int64_t x, int64_t y)
{
    uint32_t at = pushed(b, c, kernel, VPLAN_SLOT_offset, memory, 0) + pushed(b, c, kernel, VPLAN_SLOT_stride, memory,
                                                                              0) * (uint32_t)x
                + pushed(b, c, kernel, VPLAN_SLOT_stride, memory, 1) * (uint32_t)y;
    const VkDescriptorBufferInfo *info = &b->device.sets[c->set].buffers[plan_binding(&b->plan, kernel, memory)];
    assert_true(at < info->range / 4);
    assert_int_equal(info->offset % 256, 0);
    if (memory != 0) return;
    int64_t wanted = (int64_t)b->images[0].offset + x * b->images[0].stride[0] + y * b->images[0].stride[1];
    assert_int_equal((int64_t)info->offset + 4 * (int64_t)at, wanted);
}

/* Everything that the pixels of a part read through their borders is bound, at the right place, and little more. */
static void check_part(bench *b, const halo_part *part, int32_t width, int32_t height)
{
    b->part = part;
    fake_reset(&b->device);
    assert_int_equal(bench_record(b), HALO_OK);
    const fake_command *c = &b->device.commands[1];
    assert_int_equal(c->kind, FAKE_dispatch);
    int64_t lowest = INT64_MAX, highest = 0;
    for (int y = part->start[1]; y < part->start[1] + part->extent[1]; y++)
        for (int x = part->start[0]; x < part->start[0] + part->extent[0]; x++) {
            check_bound(b, c, 0, 1, x, y);
            for (int j = -2; j <= 2; j++)
                for (int i = -2; i <= 2; i++) {
                    int64_t mx = border_map(BORDER_reflect101, x + i, 0, width - 1), my = border_map(BORDER_reflect101, y + j, 0,
                        height - 1);
                    check_bound(b, c, 0, 0, mx, my);
                    int64_t at = (int64_t)b->images[0].offset + mx * b->images[0].stride[0] + my * b->images[0].stride[1];
                    lowest = at < lowest ? at : lowest;
                    highest = at > highest ? at : highest;
                }
        }
    const VkDescriptorBufferInfo *info = &b->device.sets[c->set].buffers[plan_binding(&b->plan, 0, 0)];
    assert_int_equal(info->offset, lowest / 256 * 256);
    assert_int_equal((int64_t)(info->offset + info->range), highest + 4);
}

static void parts_bind_what_they_take(void **state)
{
    (void)state;
    uint64_t seed = 5;
    for (int n = 0; n < 300; n++) {
        int32_t r[8];
        for (int k = 0; k < 8; k++) {
            seed = seed * 6364136223846793005u + 1442695040888963407u;
            r[k] = (int32_t)(seed >> 33);
        }
        int32_t width = 1 + r[0] % 40, height = 1 + r[1] % 30;
        bench *b = bench_new();
        plan_blur(&b->plan, 4);
        bench_create(b);
        bench_picture(b, 0, width, height, 4);
        bench_picture(b, 1, width, height, 4);
        b->images[0].stride[1] += 4 * (r[2] % 5);
        b->images[0].offset = 4 * (VkDeviceSize)(r[3] % 300);
        if (r[3] % 3 == 0) {                             /* upside down */
            b->images[0].offset += (VkDeviceSize)(b->images[0].stride[1] * (height - 1));
            b->images[0].stride[1] = -b->images[0].stride[1];
        }
        b->images[0].size = 1 << 20;
        halo_part part = { { r[4] % width, r[5] % height, 0, 0, 0 }, { 1, 1, 1, 1, 1 } };
        part.extent[0] = 1 + r[6] % (width - part.start[0]);
        part.extent[1] = 1 + r[7] % (height - part.start[1]);
        check_part(b, &part, width, height);
        bench_end(b);
    }
}

/* Where values lie outside, the nearest pixel inside is read all the same: also for a part of which no read lies inside. */
static void the_edge_is_bound_for_values_outside(void **state)
{
    (void)state;
    bench *b = bench_new();
    int32_t in = plan_input(&b->plan, 4, 1), out = plan_like(&b->plan, VPLAN_ROLE_output, in, 4, 1);
    plan_kernel(&b->plan, out);
    plan_reads(&b->plan, in, 0, 0, 0, 0, BORDER_none);
    plan_reads(&b->plan, in, -20, -20, 7, 7, BORDER_value);
    bench_create(b);
    bench_picture(b, 0, 10, 10, 4);
    bench_picture(b, 1, 10, 10, 4);
    halo_part part = { { 5, 1, 0, 0, 0 }, { 4, 2, 1, 1, 1 } };
    b->part = &part;
    assert_int_equal(bench_record(b), HALO_OK);
    check_bound(b, &b->device.commands[1], 0, in, 5, 1);
    check_bound(b, &b->device.commands[1], 0, in, 0, 8);
    bench_end(b);
}

/* Each kernel of a chain makes what the later ones read of the part; stored intermediates are no larger. */
static void parts_reach_back_through_kernels(void **state)
{
    (void)state;
    bench *b = two_kernels(100, 100, 0);
    halo_part part = { { 10, 20, 0, 0, 0 }, { 30, 40, 1, 1, 1 } };
    halo_vulkan_needs whole = bench_needs(b);
    b->part = &part;
    assert_int_equal(bench_record(b), HALO_OK);
    const fake_command *c = NULL;
    for (int k = 0; k < b->device.n_commands && !c; k++)
        if (b->device.commands[k].kind == FAKE_dispatch) c = &b->device.commands[k];
    assert_int_equal(pushed(b, c, 0, VPLAN_SLOT_rect_lo, -1, 0), 10);
    assert_int_equal(pushed(b, c, 0, VPLAN_SLOT_rect_hi, -1, 0), 39);
    assert_int_equal(pushed(b, c, 0, VPLAN_SLOT_rect_lo, -1, 1), 19);
    assert_int_equal(pushed(b, c, 0, VPLAN_SLOT_rect_hi, -1, 1), 60);
    halo_vulkan_needs needs = bench_needs(b);
    assert_true(needs.scratch_bytes < 4 * 30 * 42 + 512 && whole.scratch_bytes >= 4 * 100 * 100);
    bench_end(b);
}

/* ---- arguments ------------------------------------------------------------------------------------------------ */

static void arguments_go_in_pieces(void **state)
{
    (void)state;
    enum { TABLE = 40000 };
    bench *b = bench_new();
    int32_t in = plan_input(&b->plan, 4, 1), out = plan_like(&b->plan, VPLAN_ROLE_output, in, 4, 1);
    b->plan.kernels[plan_kernel(&b->plan, out)].in_buffer = 1;
    plan_reads(&b->plan, in, 0, 0, 0, 0, BORDER_none);
    plan_reads(&b->plan, -1, 0, 0, 0, 0, BORDER_none);
    b->plan.header.n_table_words = TABLE;
    for (uint32_t k = 0; k < TABLE; k++) b->plan.table[k] = k * k;
    bench_create(b);
    for (int k = 0; k < 2; k++) bench_picture(b, k, 9, 5, 4);
    b->resources.scratch_offset = 512;
    assert_int_equal(bench_record(b), HALO_OK);
    char out_story[64];
    assert_string_equal(story(&b->device, out_story), "uuuuTd");
    VkDeviceSize at = 512;
    for (int k = 0; k < 4; k++) {
        const fake_command *u = &b->device.commands[k];
        assert_int_equal(u->at, at);
        assert_true(u->bytes <= 65536 && u->bytes % 4 == 0);
        uint32_t first = (uint32_t)(at - 512) / 4, last = first + (uint32_t)u->bytes / 4 - 1;
        if (k < 3) assert_true(u->first_word == first * first && u->last_word == last * last);
        at += u->bytes;
    }
    const fake_command *slots = &b->device.commands[3], *d = &b->device.commands[6];
    assert_int_equal(slots->bytes, 4 * b->plan.kernels[0].n_slots);
    assert_int_equal(slots->push[plan_slot(&b->plan, 0, VPLAN_SLOT_rect_hi, -1, 0)], 8);
    assert_int_equal(slots->push[plan_slot(&b->plan, 0, VPLAN_SLOT_rect_hi, -1, 1)], 4);
    assert_int_equal(d->push[VPLAN_PUSH_arguments], TABLE);
    assert_int_equal(b->device.sets[0].buffers[2].offset, 512);
    assert_int_equal(b->device.sets[0].buffers[2].range, at - 512);
    halo_vulkan_needs needs = bench_needs(b);
    assert_true(needs.scratch_usage & VK_BUFFER_USAGE_TRANSFER_DST_BIT && needs.first_stages & VK_PIPELINE_STAGE_TRANSFER_BIT);
    bench_end(b);
}

/* An input without pixels has no buffer; where a kernel reads it, whatever the index, is bound in scratch. */
static void empty_inputs_are_bound_to_scratch(void **state)
{
    (void)state;
    bench *b = bench_new();
    int32_t in = plan_input(&b->plan, 4, 1), other = plan_input(&b->plan, 4, 1), out = plan_like(&b->plan, VPLAN_ROLE_output, in, 4,
        1);
    plan_kernel(&b->plan, out);
    plan_reads(&b->plan, in, 0, 0, 0, 0, BORDER_none);
    plan_reads(&b->plan, other, -1, 1, 0, 0, BORDER_value);
    bench_create(b);
    bench_picture(b, 0, 5, 5, 4);
    bench_picture(b, 1, 0, 5, 4);
    bench_picture(b, 2, 5, 5, 4);
    b->images[1].buffer = VK_NULL_HANDLE;
    assert_int_equal(bench_record(b), HALO_OK);
    assert_true(b->device.sets[0].buffers[2].buffer == b->resources.scratch && b->device.sets[0].buffers[2].range == 64);
    for (int d = 0; d < 2; d++) assert_int_equal(pushed(b, &b->device.commands[1], 0, VPLAN_SLOT_stride, other, d), 0);
    assert_true(bench_needs(b).scratch_bytes >= 64);
    bench_end(b);
}

static void parameters_reach_the_kernel(void **state)
{
    (void)state;
    bench *b = bench_new();
    plan_parameter(&b->plan);
    int32_t in = plan_input(&b->plan, 4, 1), out = plan_like(&b->plan, VPLAN_ROLE_output, in, 4, 1);
    int32_t amount = plan_number(&b->plan, 0);
    b->plan.instructions[amount] = (vplan_instruction){ .op = OP_param, .kind = KIND_f32 };
    b->plan.instructions[plan_number(&b->plan, 0)] = (vplan_instruction){ .op = OP_add, .kind = KIND_f32, .from = KIND_f32,
                                                                          .a = amount, .b = amount };
    plan_kernel(&b->plan, out);
    b->plan.slots[b->plan.header.n_slots++] = (vplan_slot){ VPLAN_SLOT_value, amount + 1, 0 };
    b->plan.kernels[0].n_slots++;
    plan_reads(&b->plan, in, 0, 0, 0, 0, BORDER_none);
    bench_create(b);
    for (int k = 0; k < 2; k++) bench_picture(b, k, 5, 5, 4);
    struct { float amount; } given = { 0.75f };
    for (int k = 0; k < 2; k++) {
        b->params = k ? &given : NULL;
        fake_reset(&b->device);
        assert_int_equal(bench_record(b), HALO_OK);
        float twice;
        uint32_t bits = pushed(b, &b->device.commands[1], 0, VPLAN_SLOT_value, amount + 1, 0);
        memcpy(&twice, &bits, 4);
        assert_true(twice == (k ? 1.5f : 1.0f));
    }
    bench_end(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(barriers_stand_between_what_depends),
        cmocka_unit_test(scratch_is_used_again),
        cmocka_unit_test(big_pictures_take_several_dispatches),
        cmocka_unit_test(slices_make_up_the_whole),
        cmocka_unit_test(outer_dimensions_go_along_z),
        cmocka_unit_test(parts_bind_what_they_take),
        cmocka_unit_test(the_edge_is_bound_for_values_outside),
        cmocka_unit_test(parts_reach_back_through_kernels),
        cmocka_unit_test(arguments_go_in_pieces),
        cmocka_unit_test(empty_inputs_are_bound_to_scratch),
        cmocka_unit_test(parameters_reach_the_kernel),
    };
    return cmocka_run_group_tests_name("driver_record", tests, NULL, NULL);
}
