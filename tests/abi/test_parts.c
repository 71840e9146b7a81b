/* SPDX-License-Identifier: MIT
 * x_part and x_needs: parts tile a picture and give the whole run's pixels; a part is computed with nothing mapped of the
 * inputs but what x_needs says, and nothing of the outputs but the part. Borders begin at the picture's edge. */
#include "support.h"

#include <sys/mman.h>

static const int32_t SIZES[][2] = { { 1, 1 }, { 7, 5 }, { 20, 3 }, { 33, 27 } };
static const int32_t PARTS[][2] = { { 1, 1 }, { 8, 4 }, { 5, 100 }, { 100, 3 }, { 17, 13 } };

/* All outputs have one part: the pipes with outputs of several sizes are asked for what the smallest has. */
static void common_extent(const call *c, int32_t *extent)
{
    pixel_extent(&c->out[0], extent);
    for (int k = 1; k < c->filter->n_outputs; k++) {
        int32_t other[5];
        pixel_extent(&c->out[k], other);
        for (int d = 0; d < 5; d++) if (other[d] < extent[d]) extent[d] = other[d];
    }
}

static void whole_of(const picture *p, halo_part *part)
{
    *part = (halo_part){ 0 };
    pixel_extent(p, part->extent);
}

static bool inside(const halo_part *part, const halo_part *whole)
{
    for (int d = 0; d < 5; d++)
        if (part->start[d] < 0 || part->extent[d] < 0 || part->start[d] + part->extent[d] > whole->extent[d]) return false;
    return true;
}

static void ask_needs(const call *c, const halo_part *part, halo_part *needs)
{
    halo_part *pointers[MOST_IMAGES] = { needs, needs + 1, needs + 2, needs + 3, needs + 4, needs + 5 }, whole;
    halo_image unread[MOST_IMAGES];
    const halo_image *in[MOST_IMAGES];
    for (int k = 0; k < c->filter->n_inputs; k++) {
        unread[k] = c->in[k].image;
        unread[k].data = NULL;               /* the data is not looked at */
        in[k] = &unread[k];
    }
    assert_int_equal(c->filter->needs(in, c->params, part, pointers), HALO_OK);
    for (int k = 0; k < c->filter->n_inputs; k++) {
        whole_of(&c->in[k], &whole);
        assert_true(inside(&needs[k], &whole));
    }
}

/* The pixels left and right of the part are still poison. */
static void check_beside(const picture *out, const halo_part *part)
{
    halo_part rows = *part;
    for (int side = 0; side < 2; side++) {
        rows.start[0] = side ? part->start[0] + part->extent[0] : 0;
        rows.extent[0] = side ? out->image.extent[0] - rows.start[0] : part->start[0];
        if (rows.extent[0] == 0) continue;
        picture untouched = picture_new(&out->type, out->image.extent, PLACE_ends);
        assert_true(picture_equal_in(out, &untouched, &rows));
        picture_free(&untouched);
    }
}

/* Runs one part in memory that holds nothing else. */
static void check_alone(const call *whole, const halo_part *part, const halo_exec *exec)
{
    call alone;
    halo_part needs[MOST_IMAGES];
    call_move(&alone, whole, PLACE_rows_end);
    ask_needs(&alone, part, needs);
    for (int k = 0; k < alone.filter->n_inputs; k++) picture_protect_outside(&alone.in[k], &needs[k]);
    for (int k = 0; k < alone.filter->n_outputs; k++) picture_protect_outside(&alone.out[k], part);
    say_where("a part alone", &alone, part->start[0] + 1000 * part->start[1]);
    int code = call_run(&alone, part, exec);
    if (code != HALO_OK) fail_msg("%s: %s", alone.filter->name, alone.filter->error(code));
    for (int k = 0; k < alone.filter->n_outputs; k++) {
        assert_true(picture_equal_in(&alone.out[k], &whole->expected[k], part));
        check_beside(&alone.out[k], part);
    }
    call_end(&alone);
}

static bool next_part(halo_part *part, const int32_t *extent, const int32_t *size)
{
    for (int d = 0; d < 5; d++) {
        part->start[d] += size[d];
        if (part->start[d] < extent[d]) {
            for (int e = 0; e <= d; e++)
                part->extent[e] = extent[e] - part->start[e] < size[e] ? extent[e] - part->start[e] : size[e];
            return true;
        }
        part->start[d] = 0;
    }
    return false;
}

/* Tiles of the size fill the picture; a few of them are computed alone as well. */
static void tile(call *c, const int32_t *tile_size, const halo_exec *exec)
{
    int32_t extent[5], size[5] = { tile_size[0], tile_size[1], 1, 1, 1 };
    common_extent(c, extent);
    for (int k = 0; k < c->filter->n_outputs; k++) picture_poison(&c->out[k]);
    halo_part part = { 0 }, whole = { 0 };
    for (int d = 0; d < 5; d++) part.extent[d] = size[d] < extent[d] ? size[d] : extent[d];
    memcpy(whole.extent, extent, sizeof extent);
    int number = 0;
    do {
        say_where("tiles", c, number);
        int code = call_run(c, &part, exec);
        if (code != HALO_OK) fail_msg("%s: %s", c->filter->name, c->filter->error(code));
        for (int k = 0; k < c->filter->n_outputs; k++) assert_true(picture_equal_in(&c->out[k], &c->expected[k], &part));
        if (number++ % 5 == 0) check_alone(c, &part, exec);
    } while (next_part(&part, extent, size));
    for (int k = 0; k < c->filter->n_outputs; k++) {
        assert_true(picture_equal_in(&c->out[k], &c->expected[k], &whole));
        assert_true(picture_outside_is_poison(&c->out[k]));
    }
}

static void parts_tile(void **state)
{
    halo_exec exec = { .parallel_for = backward, .workers = 3 };
    for (size_t s = 0; s < sizeof SIZES / sizeof *SIZES; s++) {
        call c;
        if (!call_begin(&c, *state, SIZES[s][0], SIZES[s][1], PLACE_ends)) continue;
        for (size_t k = 0; k < sizeof PARTS / sizeof *PARTS; k++)
            if (k > 0 || s < 2) tile(&c, PARTS[k], k % 2 ? &exec : NULL);
        call_end(&c);
    }
}

/* A part that isn't inside the outputs, or is empty, is refused before anything is written. */
static void wrong_parts(void **state)
{
    call c;
    if (!call_begin(&c, *state, 17, 5, PLACE_ends)) return;
    int32_t extent[5];
    common_extent(&c, extent);
    for (int d = 0; d < c.filter->outputs[0].rank; d++)
        for (int kind = 0; kind < 4; kind++) {
            halo_part part = { 0 }, needs[MOST_IMAGES], *pointers[MOST_IMAGES] = { needs, needs + 1, needs + 2, needs + 3, needs + 4, needs + 5 };
            memcpy(part.extent, extent, sizeof extent);
            if (kind == 0) part.extent[d] = 0;
            if (kind == 1) part.extent[d]++;
            if (kind == 2) part.start[d] = -1;
            if (kind == 3) part.start[d] = INT32_MAX;
            assert_int_equal(call_run(&c, &part, NULL), HALO_ERROR_SIZE);
            if (c.filter->n_inputs) assert_int_equal(c.filter->needs(c.in_images, NULL, &part, pointers), HALO_ERROR_SIZE);
        }
    for (int k = 0; k < c.filter->n_outputs; k++) {
        picture untouched = picture_new(&c.filter->outputs[k], c.out[k].image.extent, PLACE_ends);
        assert_true(picture_equal(&c.out[k], &untouched));
        picture_free(&untouched);
    }
    call_end(&c);
}

/* A part in the middle doesn't take the whole picture. */
static void needs_are_small(void **state)
{
    (void)state;
    static const struct { const char *name; int32_t reach[4]; } CASES[] = {      /* left, right, up, down */
        { "blur_edge", { 2, 2, 2, 2 } }, { "blur_reflect", { 1, 1, 1, 1 } }, { "blur_reflect101", { 2, 2, 1, 1 } }, { "tone", { 0, 0, 0, 0 } },
        { "median3", { 1, 1, 1, 1 } }, { "dilated", { 3, 3, 3, 3 } }, { "dilation", { 3, 3, 3, 3 } },
    };
    for (size_t k = 0; k < sizeof CASES / sizeof *CASES; k++) {
        call c;
        halo_part part = { { 20, 12 }, { 4, 5, 1, 1, 1 } }, needs[MOST_IMAGES];
        assert_true(call_begin(&c, find_filter(CASES[k].name), 60, 40, PLACE_ends));
        ask_needs(&c, &part, needs);
        assert_int_equal(needs[0].start[0], 20 - CASES[k].reach[0]);
        assert_int_equal(needs[0].extent[0], 4 + CASES[k].reach[0] + CASES[k].reach[1]);
        assert_int_equal(needs[0].start[1], 12 - CASES[k].reach[2]);
        assert_int_equal(needs[0].extent[1], 5 + CASES[k].reach[2] + CASES[k].reach[3]);
        call_end(&c);
    }
}

/* ---- huge pictures ---------------------------------------------------------------------------------- */

enum { HUGE_SIDE = 150000 };

/* A picture of 150000 x 150000 pixels of which only `part` is in memory. */
static picture huge_picture(const image_type *type, const halo_part *part)
{
    picture p = { .type = *type };
    ptrdiff_t pixel = type->bytes * type->lanes;
    p.image = (halo_image){ NULL, { HUGE_SIDE, HUGE_SIDE, 1, 1, 1 }, { pixel, pixel * HUGE_SIDE } };
    p.map_bytes = (size_t)(pixel * HUGE_SIDE) * HUGE_SIDE;
    p.map = mmap(NULL, p.map_bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    assert_true(p.map != MAP_FAILED);
    p.image.data = p.map;
    for (int32_t y = 0; y < part->extent[1]; y++) {
        uintptr_t first = (uintptr_t)component_at(&p, (int32_t[5]){ part->start[0], part->start[1] + y }, 0) & ~(uintptr_t)4095;
        uintptr_t last = (uintptr_t)component_at(&p, (int32_t[5]){ part->start[0] + part->extent[0], part->start[1] + y }, 0);
        assert_int_equal(mprotect((void *)first, last - first, PROT_READ | PROT_WRITE), 0);
    }
    return p;
}

static size_t most_bytes;

static void *allocate(void *user, size_t bytes, size_t alignment)
{
    (void)user;
    if (bytes > most_bytes) most_bytes = bytes;
    return aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
}

static void release(void *user, void *memory)
{
    (void)user;
    free(memory);
}

/* A part of a picture that no memory holds takes what the part takes, and has the pixels of a small picture. */
static void huge_pictures(void **state)
{
    (void)state;
    static const char *const NAMES[] = { "blur_edge", "blur_reflect", "blur_wrap", "chain", "dilated", "median3", "gauss", "tone" };
    for (size_t k = 0; k < sizeof NAMES / sizeof *NAMES; k++) {
        const filter *f = find_filter(NAMES[k]);
        halo_part part = { { 70001, 90007 }, { 24, 10, 1, 1, 1 } }, need, *need_at = &need;
        halo_image large = { NULL, { HUGE_SIDE, HUGE_SIDE, 1, 1, 1 }, { 0 } };
        const halo_image *large_at = &large;
        assert_int_equal(f->needs(&large_at, NULL, &part, &need_at), HALO_OK);
        assert_in_range(need.extent[0] * need.extent[1], 1, 10000);
        call small;
        assert_true(call_begin(&small, f, need.extent[0], need.extent[1], PLACE_ends));
        picture in = huge_picture(&f->inputs[0], &need), out = huge_picture(&f->outputs[0], &part);
        picture in_window = in, out_window = out;
        in_window.image.data = component_at(&in, need.start, 0);
        memcpy(in_window.image.extent, need.extent, sizeof need.extent);
        out_window.image.data = component_at(&out, part.start, 0);
        picture_copy(&in_window, &small.in[0]);
        const halo_image *in_at = &in.image, *out_at = &out.image;
        halo_exec exec = { .allocate = allocate, .release = release };
        most_bytes = 0;
        say_where("a part of a huge picture", &small, 0);
        assert_int_equal(f->run(&in_at, NULL, &out_at, &part, &exec), HALO_OK);
        assert_true(most_bytes < 1 << 20);
        halo_part inner = { { part.start[0] - need.start[0], part.start[1] - need.start[1] }, { 24, 10, 1, 1, 1 } };
        picture expected = small.expected[0];
        expected.image.data = component_at(&small.expected[0], inner.start, 0);
        inner = (halo_part){ { 0 }, { 24, 10, 1, 1, 1 } };
        assert_true(picture_equal_in(&out_window, &expected, &inner));
        munmap(in.map, in.map_bytes);
        munmap(out.map, out.map_bytes);
        call_end(&small);
    }
}

int main(void)
{
    catch_faults();
    assert_in_range(N_FILTERS, 1, MOST_FILTERS);
    struct CMUnitTest tests[2 + 2 * MOST_FILTERS] = { cmocka_unit_test(needs_are_small), cmocka_unit_test(huge_pictures) };
    size_t n = 2;
    for (size_t k = 0; k < N_FILTERS; k++) {
        tests[n++] = (struct CMUnitTest){ FILTERS[k].name, parts_tile, NULL, NULL, (void *)(uintptr_t)&FILTERS[k] };
        tests[n++] = (struct CMUnitTest){ FILTERS[k].name, wrong_parts, NULL, NULL, (void *)(uintptr_t)&FILTERS[k] };
    }
    return _cmocka_run_group_tests("parts", tests, n, NULL, NULL);
}
