/* SPDX-License-Identifier: MIT
 * What a call refuses, with which code, and that nothing is written then: null pointers, extents, strides, overlaps,
 * parameters. And what it must not refuse: strides of 0 on inputs, rows upside down or mirrored, parts of one picture beside
 * one another, the same memory where the header allows it. */
#include "support.h"

#include <math.h>
#include <sys/mman.h>

#include "filters.h"

static void outputs_are_poison(const call *c)
{
    for (int k = 0; k < c->filter->n_outputs; k++) {
        picture untouched = picture_new(&c->filter->outputs[k], c->out[k].image.extent, PLACE_ends);
        assert_true(picture_equal(&c->out[k], &untouched));
        picture_free(&untouched);
    }
}

/* ---- for every pipe ------------------------------------------------------------------------------- */

static void null_pointers(call *c)
{
    for (int side = 0; side < 2; side++)
        for (int k = 0; k < (side ? c->filter->n_outputs : c->filter->n_inputs); k++) {
            const halo_image **image = side ? &c->out_images[k] : &c->in_images[k], *saved = *image;
            *image = NULL;
            assert_int_equal(call_run(c, NULL, NULL), HALO_ERROR_NULL);
            halo_image without = *saved;
            without.data = NULL;
            *image = &without;
            assert_int_equal(call_run(c, NULL, NULL), HALO_ERROR_NULL);
            *image = saved;
        }
}

static void null_pointers_of_size_and_needs(call *c)
{
    halo_image stated[MOST_IMAGES], *stated_images[MOST_IMAGES] = { stated, stated + 1, stated + 2, stated + 3, stated + 4, stated + 5 };
    halo_part needs[MOST_IMAGES], *parts[MOST_IMAGES] = { needs, needs + 1, needs + 2, needs + 3, needs + 4, needs + 5 }, part = { { 0 }, { 1, 1, 1, 1, 1 } };
    stated_images[0] = NULL;
    assert_int_equal(c->filter->size(c->in_images, NULL, stated_images), HALO_ERROR_NULL);
    stated_images[0] = stated;
    if (c->filter->n_inputs == 0) return;
    parts[0] = NULL;
    assert_int_equal(c->filter->needs(c->in_images, NULL, &part, parts), HALO_ERROR_NULL);
    parts[0] = needs;
    c->in_images[0] = NULL;
    assert_int_equal(c->filter->size(c->in_images, NULL, stated_images), HALO_ERROR_NULL);
    assert_int_equal(c->filter->needs(c->in_images, NULL, &part, parts), HALO_ERROR_NULL);
    c->in_images[0] = &c->in[0].image;
}

static void wrong_extents(call *c)
{
    for (int k = 0; k < c->filter->n_outputs; k++)
        for (int d = 0; d < memory_rank(&c->out[k].type); d++)
            for (int change = -1; change <= 1; change += 2) {
                c->out[k].image.extent[d] += change;
                assert_int_equal(call_run(c, NULL, NULL), HALO_ERROR_SIZE);
                c->out[k].image.extent[d] -= change;
            }
    static const int32_t HOSTILE[] = { -1, INT32_MIN, INT32_MAX };
    for (int k = 0; k < c->filter->n_inputs; k++)
        for (size_t h = 0; h < sizeof HOSTILE / sizeof *HOSTILE; h++) {
            int32_t *extent = &c->in[k].image.extent[0], saved = *extent;
            *extent = HOSTILE[h];
            assert_int_equal(call_run(c, NULL, NULL), HALO_ERROR_SIZE);
            *extent = saved;
        }
}

static void expect_stride(call *c, ptrdiff_t *stride, ptrdiff_t value, int code)
{
    ptrdiff_t saved = *stride;
    *stride = value;
    assert_int_equal(call_run(c, NULL, NULL), code);
    *stride = saved;
}

static void wrong_strides(call *c)
{
    for (int side = 0; side < 2; side++)
        for (int k = 0; k < (side ? c->filter->n_outputs : c->filter->n_inputs); k++) {
            picture *p = side ? &c->out[k] : &c->in[k];
            if (p->type.bytes == 1) continue;
            p->image.data = (char *)p->image.data + 1;
            assert_int_equal(call_run(c, NULL, NULL), HALO_ERROR_STRIDE);
            p->image.data = (char *)p->image.data - 1;
            for (int d = 0; d < memory_rank(&p->type); d++) expect_stride(c, &p->image.stride[d], p->image.stride[d] + 1, HALO_ERROR_STRIDE);
        }
    for (int k = 0; k < c->filter->n_outputs; k++) {
        picture *p = &c->out[k];
        int32_t n = p->type.bytes;
        for (int d = 0; d < memory_rank(&p->type); d++) {
            if (p->image.extent[d] < 2) continue;
            expect_stride(c, &p->image.stride[d], 0, HALO_ERROR_STRIDE);
            expect_stride(c, &p->image.stride[d], p->image.stride[d] - n, HALO_ERROR_STRIDE);
            expect_stride(c, &p->image.stride[d], -p->image.stride[d] + n, HALO_ERROR_STRIDE);
            expect_stride(c, &p->image.stride[d], PTRDIFF_MAX - (PTRDIFF_MAX % n), HALO_ERROR_STRIDE);
        }
    }
}

static bool same_shape(const picture *a, const picture *b)
{
    return strcmp(a->type.kind, b->type.kind) == 0 && a->type.lanes == b->type.lanes && a->type.rank == b->type.rank && a->type.layout == b->type.layout
        && memcmp(a->image.extent, b->image.extent, sizeof a->image.extent) == 0;
}

/* Output over input, in the same place and one pixel off. */
static void output_over_input(call *c)
{
    for (int k = 0; k < c->filter->n_inputs; k++) {
        if (!same_shape(&c->in[k], &c->out[0])) continue;
        halo_image over = c->in[k].image;
        c->out_images[0] = &over;
        bool allowed = c->filter->in_place && strcmp(c->filter->in_place, c->in[k].type.name) == 0;
        if (!allowed) assert_int_equal(call_run(c, NULL, NULL), HALO_ERROR_OVERLAP);
        over.data = (char *)over.data + over.stride[0];
        assert_int_equal(call_run(c, NULL, NULL), HALO_ERROR_OVERLAP);
        over.data = (char *)over.data - over.stride[0] + over.stride[1];
        if (over.extent[1] > 1) assert_int_equal(call_run(c, NULL, NULL), HALO_ERROR_OVERLAP);
        c->out_images[0] = &c->out[0].image;
    }
    for (int k = 1; k < c->filter->n_outputs; k++) {
        halo_image over = c->out[k].image;
        over.data = (void *)(((uintptr_t)c->out[0].image.data + 3) & ~(uintptr_t)3);
        c->out_images[k] = &over;
        assert_int_equal(call_run(c, NULL, NULL), HALO_ERROR_OVERLAP);
        c->out_images[k] = &c->out[k].image;
    }
}

static void refused(void **state)
{
    static const int32_t SIZES[][2] = { { 17, 5 }, { 8, 9 } };
    for (size_t s = 0; s < 2; s++) {
        call c;
        if (!call_begin(&c, *state, SIZES[s][0], SIZES[s][1], PLACE_ends)) continue;
        say_where("refused", &c, 0);
        null_pointers(&c);
        null_pointers_of_size_and_needs(&c);
        wrong_extents(&c);
        wrong_strides(&c);
        outputs_are_poison(&c);
        output_over_input(&c);
        outputs_are_poison(&c);
        call_end(&c);
    }
    const filter *f = *state;
    for (int code = HALO_OK; code <= HALO_CANCELLED; code++) {
        assert_true(strlen(f->error(code)) > 3);
        for (int other = HALO_OK; other < code; other++) assert_string_not_equal(f->error(code), f->error(other));
    }
    assert_non_null(f->error(-7));
    assert_non_null(f->error(1000));
}

/* An empty input is refused by all but those that need no pixel of it. */
static void empty_inputs(void **state)
{
    const filter *f = *state;
    call c = { .filter = f };
    halo_image in[MOST_IMAGES], out[MOST_IMAGES] = { 0 };
    for (int k = 0; k < f->n_inputs; k++) {
        in[k] = (halo_image){ 0 };
        input_extents(&f->inputs[k], 0, 4, in[k].extent);
        c.in_images[k] = &in[k];
    }
    for (int k = 0; k < f->n_outputs; k++) {
        out[k].extent[0] = 0;
        for (int d = 1; d < 5; d++) out[k].extent[d] = 4;
        c.out_images[k] = &out[k];
    }
    if (f->n_inputs) assert_int_not_equal(call_run(&c, NULL, NULL), HALO_OK);
}

/* ---- strides that are fine --------------------------------------------------------------------------- */

/* A picture like `p` in a buffer with room around each pixel, or each component of a plane; mirrored along all axes. */
typedef struct loose { unsigned char *bytes; size_t n; halo_image image; } loose;

static loose loosen(const picture *p, bool mirrored)
{
    loose l = { .image = p->image };
    ptrdiff_t step = p->type.bytes * (p->type.layout == LAYOUT_planar ? 2 : p->type.lanes + 1);
    int rank = memory_rank(&p->type);
    l.n = 64;
    for (int d = 0; d < rank; d++) {
        l.image.stride[d] = step;
        step *= l.image.extent[d];
        if (d == 0) step += 3 * p->type.bytes;
    }
    l.n += (size_t)step;
    l.bytes = malloc(l.n);
    memset(l.bytes, POISON, l.n);
    l.image.data = l.bytes;
    for (int d = 0; d < rank && mirrored; d++) {
        l.image.data = (char *)l.image.data + l.image.stride[d] * (l.image.extent[d] - 1);
        l.image.stride[d] = -l.image.stride[d];
    }
    return l;
}

static void check_loose_outside(const picture *as_picture, loose *l)
{
    picture poison = picture_new(&as_picture->type, l->image.extent, PLACE_ends), over = *as_picture;
    picture_copy(&over, &poison);
    picture_free(&poison);
    for (size_t k = 0; k < l->n; k++) assert_int_equal(l->bytes[k], POISON);
}

static void loose_pixels(void **state)
{
    for (int mirrored = 0; mirrored < 2; mirrored++) {
        call c;
        if (!call_begin(&c, *state, 19, 7, PLACE_ends)) continue;
        loose in[MOST_IMAGES], out[MOST_IMAGES];
        for (int k = 0; k < c.filter->n_inputs; k++) {
            in[k] = loosen(&c.in[k], mirrored);
            picture target = { .image = in[k].image, .type = c.in[k].type };
            picture_copy(&target, &c.in[k]);
            c.in_images[k] = &in[k].image;
        }
        for (int k = 0; k < c.filter->n_outputs; k++) {
            out[k] = loosen(&c.out[k], mirrored);
            c.out_images[k] = &out[k].image;
        }
        say_where("loose pixels", &c, mirrored);
        assert_int_equal(call_run(&c, NULL, NULL), HALO_OK);
        for (int k = 0; k < c.filter->n_outputs; k++) {
            picture result = { .image = out[k].image, .type = c.out[k].type };
            assert_true(picture_equal(&result, &c.expected[k]));
            check_loose_outside(&result, &out[k]);
            free(out[k].bytes);
        }
        for (int k = 0; k < c.filter->n_inputs; k++) free(in[k].bytes);
        call_end(&c);
    }
}

/* Rows more than four gigabytes apart: nothing may be computed in 32 bits. */
static picture far_rows(const picture *like)
{
    picture p = { .image = like->image, .type = like->type };
    const ptrdiff_t APART = ((ptrdiff_t)1 << 32) + 8192;
    int64_t rows = 1;
    for (int d = 1; d < 5; d++) {
        p.image.stride[d] = APART * rows;
        rows *= p.image.extent[d];
    }
    p.map_bytes = (size_t)(rows * APART);
    p.map = mmap(NULL, p.map_bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    assert_true(p.map != MAP_FAILED);
    for (int64_t k = 0; k < rows; k++) assert_int_equal(mprotect(p.map + k * APART, 8192, PROT_READ | PROT_WRITE), 0);
    p.image.data = p.map + 4096;
    return p;
}

static void far_apart(void **state)
{
    call c;
    if (!call_begin(&c, *state, 19, 7, PLACE_ends)) return;
    picture in[MOST_IMAGES], out[MOST_IMAGES];
    for (int k = 0; k < c.filter->n_inputs; k++) {
        in[k] = far_rows(&c.in[k]);
        picture_copy(&in[k], &c.in[k]);
        c.in_images[k] = &in[k].image;
    }
    for (int k = 0; k < c.filter->n_outputs; k++) {
        out[k] = far_rows(&c.out[k]);
        c.out_images[k] = &out[k].image;
    }
    say_where("far rows", &c, 0);
    assert_int_equal(call_run(&c, NULL, NULL), HALO_OK);
    for (int k = 0; k < c.filter->n_outputs; k++) assert_true(picture_equal(&out[k], &c.expected[k]));
    for (int k = 0; k < c.filter->n_outputs; k++) munmap(out[k].map, out[k].map_bytes);
    for (int k = 0; k < c.filter->n_inputs; k++) munmap(in[k].map, in[k].map_bytes);
    call_end(&c);
}

/* One row for all, one pixel for all, rows that overlap: inputs may. */
static void input_strides_of_zero(void **state)
{
    for (int variant = 0; variant < 3; variant++) {
        call c;
        if (!call_begin(&c, *state, 19, 7, PLACE_ends)) continue;
        for (int k = 0; k < c.filter->n_inputs; k++) {
            halo_image *image = &c.in[k].image;
            if (variant == 0 && c.in[k].type.rank > 1) image->stride[1] = 0;
            if (variant == 1) image->stride[0] = 0;
            if (variant == 2 && c.in[k].type.rank > 1) image->stride[1] = 2 * image->stride[0];
        }
        call_expect(&c);
        say_where("input strides", &c, variant);
        call_check(&c, NULL);
        call_end(&c);
    }
}

/* ---- overlaps ------------------------------------------------------------------------------------------ */

static void in_place(void **state)
{
    (void)state;
    int found = 0;
    for (size_t k = 0; k < N_FILTERS; k++) {
        const filter *f = &FILTERS[k];
        if (!f->in_place) continue;
        found++;
        for (int32_t width = 1; width <= 70; width += 3)
            for (int variant = 0; variant < 4; variant++) {
                call c;
                halo_exec exec = { .parallel_for = backward, .workers = 3 };
                assert_true(call_begin(&c, f, width, 6, variant & 1 ? PLACE_upward : PLACE_wide_ends));
                c.out_images[0] = c.in_images[0];
                say_where("in place", &c, variant);
                assert_int_equal(call_run(&c, NULL, variant & 2 ? &exec : NULL), HALO_OK);
                assert_true(picture_equal(&c.in[0], &c.expected[0]));
                assert_true(picture_outside_is_poison(&c.in[0]));
                call_end(&c);
            }
    }
    assert_true(found >= 2);
    assert_non_null(find_filter("tone")->in_place);
    assert_non_null(find_filter("sepia")->in_place);
    assert_null(find_filter("blur_edge")->in_place);
    assert_null(find_filter("flipped")->in_place);
    assert_null(find_filter("curve")->in_place && strcmp(find_filter("curve")->in_place, "src") ? "" : NULL);
}

/* In place only with the same strides: the same bytes read upside down are an overlap. */
static void in_place_with_other_strides(void **state)
{
    (void)state;
    call c;
    assert_true(call_begin(&c, find_filter("tone"), 16, 6, PLACE_ends));
    halo_image other = c.in[0].image;
    other.data = (char *)other.data + 5 * other.stride[1];
    other.stride[1] = -other.stride[1];
    c.out_images[0] = &other;
    assert_int_equal(call_run(&c, NULL, NULL), HALO_ERROR_OVERLAP);
    call_end(&c);
}

typedef struct layout_in_one { ptrdiff_t in_at, out_at, in_stride[2], out_stride[2]; int code; const char *what; } layout_in_one;

/* Input and output of `tone` or `median3` (both 10 x 4 pixels, 3 bytes and 1 byte) in one buffer. */
static const layout_in_one COLOUR[] = {
    { 0, 30, { 3, 60 }, { 3, 60 }, HALO_OK, "left and right half" },
    { 30, 0, { 3, 60 }, { 3, 60 }, HALO_OK, "right and left half" },
    { 0, 29, { 3, 60 }, { 3, 60 }, HALO_ERROR_OVERLAP, "halves that share a byte" },
    { 30, 1, { 3, 60 }, { 3, 60 }, HALO_ERROR_OVERLAP, "halves that share a byte, the other way round" },
    { 0, 60, { 3, 120 }, { 3, 120 }, HALO_OK, "every other row" },
    { 0, 240, { 3, 60 }, { 3, 60 }, HALO_OK, "one below the other" },
    { 0, 120, { 3, 60 }, { 3, 60 }, HALO_ERROR_OVERLAP, "two rows in common" },
    { 180, 30, { 3, -60 }, { 3, 60 }, HALO_OK, "halves, one upside down" },
    { 180, 27, { 3, -60 }, { 3, 60 }, HALO_ERROR_OVERLAP, "halves with a column in common, one upside down" },
    { 27, 30, { -3, 60 }, { 3, 60 }, HALO_OK, "halves, one mirrored" },
    { 0, 3, { 6, 60 }, { 6, 60 }, HALO_OK, "every other pixel" },
    { 0, 4, { 6, 60 }, { 6, 60 }, HALO_ERROR_OVERLAP, "every other pixel, a byte off" },
    { 0, 60, { 6, 120 }, { 3, 120 }, HALO_OK, "every other row, other pixels" },
};
static const layout_in_one GREY[] = {
    { 0, 1, { 4, 40 }, { 4, 40 }, HALO_OK, "two channels of four" },
    { 0, 3, { 4, 40 }, { 4, 40 }, HALO_OK, "the first and the last channel of four" },
    { 1, 1, { 4, 40 }, { 4, 40 }, HALO_ERROR_OVERLAP, "the same channel" },
    { 0, 40, { 1, 80 }, { 4, 80 }, HALO_OK, "every other row, of other pixels" },
};

static void check_layout(const filter *f, const layout_in_one *l)
{
    call c;
    assert_true(call_begin(&c, f, 10, 4, PLACE_ends));
    unsigned char bytes[1024];
    memset(bytes, POISON, sizeof bytes);
    picture in = { .image = c.in[0].image, .type = c.in[0].type }, out = { .image = c.out[0].image, .type = c.out[0].type };
    in.image.data = bytes + 64 + l->in_at;
    out.image.data = bytes + 64 + l->out_at;
    for (int d = 0; d < 2; d++) {
        in.image.stride[d] = l->in_stride[d];
        out.image.stride[d] = l->out_stride[d];
    }
    picture_copy(&in, &c.in[0]);
    c.in_images[0] = &in.image;
    c.out_images[0] = &out.image;
    int code = call_run(&c, NULL, NULL);
    if (code != l->code) fail_msg("%s, %s: %s", f->name, l->what, f->error(code));
    if (code == HALO_OK) assert_true(picture_equal(&out, &c.expected[0]));
    if (code == HALO_OK) assert_true(picture_equal(&in, &c.in[0]));
    call_end(&c);
}

static void two_in_one(void **state)
{
    (void)state;
    for (size_t k = 0; k < sizeof COLOUR / sizeof *COLOUR; k++) {
        check_layout(find_filter("tone"), &COLOUR[k]);
        check_layout(find_filter("blur_edge"), &COLOUR[k]);
    }
    for (size_t k = 0; k < sizeof GREY / sizeof *GREY; k++) check_layout(find_filter("median3"), &GREY[k]);
}

/* Inputs may be one picture. And a part of an output may lie over what is not needed of an input. */
static void inputs_may_be_one(void **state)
{
    (void)state;
    call c;
    assert_true(call_begin(&c, find_filter("two_levels"), 20, 9, PLACE_ends));
    picture_copy(&c.in[1], &c.in[0]);
    call_expect(&c);
    c.in_images[1] = c.in_images[0];
    call_check(&c, NULL);
    call_end(&c);
}

static void inputs_that_disagree(void **state)
{
    (void)state;
    call c;
    assert_true(call_begin(&c, find_filter("two_levels"), 20, 9, PLACE_ends));
    c.in[1].image.extent[0]--;
    assert_int_equal(call_run(&c, NULL, NULL), HALO_ERROR_SIZE);
    outputs_are_poison(&c);
    call_end(&c);
}

/* ---- parameters --------------------------------------------------------------------------------------------- */

static void parameters(void **state)
{
    (void)state;
    call c;
    assert_true(call_begin(&c, find_filter("gauss"), 12, 7, PLACE_ends));
    assert_true(gauss_defaults.sigma == 1.3f);
    static const float WRONG[] = { -0.001f, 9.001f, -INFINITY, INFINITY, NAN };
    gauss_params p = gauss_defaults;
    c.params = &p;
    for (size_t k = 0; k < sizeof WRONG / sizeof *WRONG; k++) {
        p.sigma = WRONG[k];
        assert_int_equal(call_run(&c, NULL, NULL), HALO_ERROR_PARAMETER);
        halo_image *out = &c.out[0].image;
        halo_part part = { { 0 }, { 1, 1, 1, 1, 1 } }, needs, *needs_at = &needs;
        assert_int_equal(c.filter->size(c.in_images, &p, &out), HALO_ERROR_PARAMETER);
        assert_int_equal(c.filter->needs(c.in_images, &p, &part, &needs_at), HALO_ERROR_PARAMETER);
    }
    outputs_are_poison(&c);
    static const float RIGHT[] = { 0.0f, -0.0f, 1.3f, 4.25f, 9.0f };
    for (size_t k = 0; k < sizeof RIGHT / sizeof *RIGHT; k++) {
        p.sigma = RIGHT[k];
        call_expect(&c);
        call_check(&c, NULL);
    }
    call_end(&c);
    ramp_params r = { 0, 5 };
    assert_true(call_begin(&c, find_filter("ramp"), 1, 1, PLACE_ends));
    c.params = &r;
    assert_int_equal(call_run(&c, NULL, NULL), HALO_ERROR_PARAMETER);
    r = (ramp_params){ 4001, 5 };
    assert_int_equal(call_run(&c, NULL, NULL), HALO_ERROR_PARAMETER);
    r = (ramp_params){ 12, 5 };
    assert_int_equal(call_run(&c, NULL, NULL), HALO_ERROR_SIZE);        /* the output is still that of the defaults */
    call_end(&c);
    assert_true(call_begin_with(&c, find_filter("ramp"), 1, 1, PLACE_ends, &r));
    assert_int_equal(c.out[0].image.extent[0], 12);
    call_check(&c, NULL);
    call_end(&c);
}

int main(void)
{
    catch_faults();
    assert_in_range(N_FILTERS, 1, MOST_FILTERS);
    struct CMUnitTest tests[6 + 5 * MOST_FILTERS] = {
        cmocka_unit_test(in_place), cmocka_unit_test(in_place_with_other_strides), cmocka_unit_test(two_in_one),
        cmocka_unit_test(inputs_may_be_one), cmocka_unit_test(inputs_that_disagree), cmocka_unit_test(parameters),
    };
    static const struct { const char *name; CMUnitTestFunction function; } EACH[] = {
        { "refused", refused }, { "empty inputs", empty_inputs }, { "loose pixels", loose_pixels }, { "far rows", far_apart },
        { "input strides of zero", input_strides_of_zero },
    };
    static char names[6 + 5 * MOST_FILTERS][64];
    size_t n = 6;
    for (size_t e = 0; e < sizeof EACH / sizeof *EACH; e++)
        for (size_t k = 0; k < N_FILTERS; k++, n++) {
            snprintf(names[n], sizeof names[n], "%s: %s", FILTERS[k].name, EACH[e].name);
            tests[n] = (struct CMUnitTest){ names[n], EACH[e].function, NULL, NULL, (void *)(uintptr_t)&FILTERS[k] };
        }
    return _cmocka_run_group_tests("checks", tests, n, NULL, NULL);
}
