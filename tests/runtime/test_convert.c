/* SPDX-License-Identifier: MIT
 * Conversions between pictures and what pipes take and give, against values worked out by hand. */
#include "check.h"

#include <math.h>
#include <stdio.h>

static halo_picture make(halo_kind kind, int32_t lanes, int32_t width, const void *data)
{
    halo_picture p;
    int32_t extent[] = {width, 1};
    assert_int_equal(halo_picture_new(&p, kind, lanes, 2, extent), HALO_OK);
    memcpy(p.image.data, data, (size_t)(halo_kind_bytes(kind) * lanes * width));
    return p;
}

/* Converts `width` pixels; the result's bytes have to be `expected`, the note contain `words` (or be empty). */
static void check(halo_kind from, int32_t from_lanes, const void *data, halo_kind to, int32_t to_lanes, const void *expected,
                  int32_t width, const char *words)
{
    halo_picture p = make(from, from_lanes, width, data), q;
    halo_message note, error;
    if (halo_picture_convert(&p, to, to_lanes, 2, &q, &note, &error) != HALO_OK)
        fail_msg("%s", error.text);
    assert_int_equal(q.lanes, to_lanes);
    assert_int_equal(q.image.extent[0], width);
    assert_memory_equal(q.image.data, expected, (size_t)(halo_kind_bytes(to) * to_lanes * width));
    if (words ? !strstr(note.text, words) : note.text[0] != 0)
        fail_msg("the note is `%s`, wanted `%s`", note.text, words ? words : "");
    halo_picture_release(&p);
    halo_picture_release(&q);
}

static void test_same_kind_is_untouched(void **state)
{
    (void)state;
    static const uint32_t odd[] = {0x7FC12345u, 0xFF800000u, 0x00000001u, 0x80000000u};       /* NaN, -inf, denormal, -0 */
    check(HALO_KIND_F32, 1, odd, HALO_KIND_F32, 1, odd, 4, NULL);
    static const uint16_t words[] = {0, 1, 999, 65535};
    check(HALO_KIND_U16, 2, words, HALO_KIND_U16, 2, words, 2, NULL);
}

static void test_integers_to_f32(void **state)
{
    (void)state;
    uint8_t bytes[256];
    float expected[256];
    for (int i = 0; i < 256; i++)
        bytes[i] = (uint8_t)i, expected[i] = (float)i / 255.0f;
    check(HALO_KIND_U8, 1, bytes, HALO_KIND_F32, 1, expected, 256, NULL);
    static uint16_t words[65536];
    static float wide[65536];
    for (int i = 0; i < 65536; i++)
        words[i] = (uint16_t)i, wide[i] = (float)i / 65535.0f;
    check(HALO_KIND_U16, 1, words, HALO_KIND_F32, 1, wide, 65536, NULL);
}

static void test_integers_to_integers(void **state)
{
    (void)state;
    uint8_t bytes[256];
    uint16_t wide[256];
    for (int i = 0; i < 256; i++)
        bytes[i] = (uint8_t)i, wide[i] = (uint16_t)(i * 257);
    check(HALO_KIND_U8, 1, bytes, HALO_KIND_U16, 1, wide, 256, NULL);
    static const uint16_t from[] = {0, 128, 129, 257, 385, 386, 65535};
    static const uint8_t to[] = {0, 0, 1, 1, 1, 2, 255};
    check(HALO_KIND_U16, 1, from, HALO_KIND_U8, 1, to, 7, NULL);
    static const uint8_t some[] = {0, 127, 128, 255};
    static const int16_t signed_to[] = {0, 16319, 16448, 32767};               /* 127 * 32767 / 255 = 16319.25.. */
    static const uint8_t flags[] = {0, 0, 1, 1};
    check(HALO_KIND_U8, 1, some, HALO_KIND_I16, 1, signed_to, 4, NULL);
    check(HALO_KIND_U8, 1, some, HALO_KIND_BOOL, 1, flags, 4, NULL);
    int32_t exact[4];
    for (int i = 0; i < 4; i++)
        exact[i] = (int32_t)(((int64_t)some[i] * 2147483647 * 2 + 255) / 510);
    check(HALO_KIND_U8, 1, some, HALO_KIND_I32, 1, exact, 4, NULL);
}

static void test_f32_to_integers(void **state)
{
    (void)state;
    /* 127.5 and 32767.5 are halves: to even. */
    static const float values[] = {0.0f, -1.0f, 2.0f, 1.0f, 0.5f, NAN, INFINITY, -INFINITY, 0.25f};
    static const uint8_t bytes[] = {0, 0, 255, 255, 128, 0, 255, 0, 64};
    static const uint16_t words[] = {0, 0, 65535, 65535, 32768, 0, 65535, 0, 16384};
    check(HALO_KIND_F32, 1, values, HALO_KIND_U8, 1, bytes, 9, NULL);
    check(HALO_KIND_F32, 1, values, HALO_KIND_U16, 1, words, 9, NULL);
    float steps[256];
    uint8_t back[256];
    for (int i = 0; i < 256; i++)
        steps[i] = (float)i / 255.0f, back[i] = (uint8_t)i;
    check(HALO_KIND_F32, 1, steps, HALO_KIND_U8, 1, back, 256, NULL);
}

static void test_half(void **state)
{
    (void)state;
    static const uint8_t bytes[] = {0, 255, 51};
    static const uint16_t halves[] = {0x0000, 0x3C00, 0x3266};                   /* 0.2 */
    check(HALO_KIND_U8, 1, bytes, HALO_KIND_F16, 1, halves, 3, NULL);
    static const uint16_t from[] = {0x3C00, 0x0001, 0x7C00, 0xBC00, 0x3800};
    static const uint8_t to[] = {255, 0, 255, 0, 128};
    check(HALO_KIND_F16, 1, from, HALO_KIND_U8, 1, to, 5, NULL);
}

/* Every f16 survives the way through f32, by C's own conversion. */
static void test_all_halves(void **state)
{
    (void)state;
    static uint16_t halves[65536], back[65536];
    static float singles[65536];
    for (int i = 0; i < 65536; i++)
        halves[i] = (uint16_t)i;
    halo_picture p = make(HALO_KIND_F16, 1, 65536, halves), q;
    halo_message error;
    assert_int_equal(halo_picture_convert(&p, HALO_KIND_F32, 1, 2, &q, NULL, &error), HALO_OK);
    memcpy(singles, q.image.data, sizeof singles);
    halo_picture_release(&p);
    assert_int_equal(halo_picture_convert(&q, HALO_KIND_F16, 1, 2, &p, NULL, &error), HALO_OK);
    memcpy(back, p.image.data, sizeof back);
    for (int i = 0; i < 65536; i++) {
        if ((i & 0x7FFF) > 0x7C00) {
            assert_true(isnan(singles[i]) && (back[i] & 0x7FFF) > 0x7C00);
            continue;
        }
        int exponent = i >> 10 & 31, fraction = i & 1023;
        double magnitude = exponent == 31 ? (double)INFINITY : exponent ? ldexp(1024 + fraction, exponent - 25) : ldexp(fraction, -24);
        assert_true((double)singles[i] == (i & 0x8000 ? -magnitude : magnitude));
        assert_int_equal(back[i], i);
    }
    halo_picture_release(&p);
    halo_picture_release(&q);
}

static void test_halves_round_to_even(void **state)
{
    (void)state;
    static const float values[] = {1.0f + 1.0f / 2048, 1.0f + 3.0f / 2048, 65519.0f, 65520.0f, 5.9604645e-8f, 2.9802322e-8f, 8.9406967e-8f};
    static const uint16_t halves[] = {0x3C00, 0x3C02, 0x7BFF, 0x7C00, 0x0001, 0x0000, 0x0002};
    check(HALO_KIND_F32, 1, values, HALO_KIND_F16, 1, halves, 7, NULL);
}

static void test_lanes(void **state)
{
    (void)state;
    static const uint8_t grey[] = {10, 200}, grey_alpha[] = {10, 5, 200, 6}, rgb[] = {10, 20, 30, 255, 0, 0},
                         rgba[] = {10, 20, 30, 7, 255, 0, 0, 8};
    static const uint8_t three[] = {10, 10, 10, 200, 200, 200}, four[] = {10, 10, 10, 255, 200, 200, 200, 255},
                         with_alpha[] = {10, 10, 10, 5, 200, 200, 200, 6}, full[] = {10, 20, 30, 255, 255, 0, 0, 255};
    static const uint8_t luma[] = {19, 54};         /* 0.2126 * 10 + 0.7152 * 20 + 0.0722 * 30 = 18.596; 54.213 */
    check(HALO_KIND_U8, 1, grey, HALO_KIND_U8, 3, three, 2, NULL);
    check(HALO_KIND_U8, 1, grey, HALO_KIND_U8, 4, four, 2, NULL);
    check(HALO_KIND_U8, 2, grey_alpha, HALO_KIND_U8, 1, grey, 2, "alpha");
    check(HALO_KIND_U8, 2, grey_alpha, HALO_KIND_U8, 3, three, 2, "alpha");
    check(HALO_KIND_U8, 2, grey_alpha, HALO_KIND_U8, 4, with_alpha, 2, NULL);
    check(HALO_KIND_U8, 3, rgb, HALO_KIND_U8, 1, luma, 2, "luma");
    check(HALO_KIND_U8, 3, rgb, HALO_KIND_U8, 4, full, 2, NULL);
    check(HALO_KIND_U8, 4, rgba, HALO_KIND_U8, 3, rgb, 2, "alpha");
    check(HALO_KIND_U8, 4, rgba, HALO_KIND_U8, 1, luma, 2, "luma");
    static const float full_f32[] = {1, 0, 0, 1};
    check(HALO_KIND_U8, 3, rgb + 3, HALO_KIND_F32, 4, full_f32, 1, NULL);
    /* Luma of f32 isn't rounded twice. */
    static const float luma_f32[] = {(float)((0.2126 * 10 + 0.7152 * 20 + 0.0722 * 30) / 255)};
    check(HALO_KIND_U8, 3, rgb, HALO_KIND_F32, 1, luma_f32, 1, "luma");
}

static void test_refusals(void **state)
{
    (void)state;
    static const uint8_t rgb[] = {1, 2, 3};
    halo_picture p = make(HALO_KIND_U8, 3, 1, rgb), q;
    halo_message error;
    assert_int_not_equal(halo_picture_convert(&p, HALO_KIND_U8, 2, 2, &q, NULL, &error), HALO_OK);
    assert_int_not_equal(halo_picture_convert(&p, HALO_KIND_U8, 3, 3, &q, NULL, &error), HALO_OK);
    assert_non_null(strstr(error.text, ".npy"));
    halo_picture_release(&p);
}

/* What a file gets: the first bytes of a PGM tell its depth. */
static void expect_header(const char *name, halo_kind kind, int32_t lanes, int32_t depth, const char *header)
{
    static const uint8_t zeros[16] = {0};
    halo_picture p = make(kind, lanes, 1, zeros);
    halo_write_options options = {.depth = depth};
    halo_message note, error;
    void *bytes;
    size_t n_bytes;
    int code = halo_picture_encode(name, &p, &options, &bytes, &n_bytes, &note, &error);
    if (!header) {
        assert_int_not_equal(code, HALO_OK);
        assert_non_null(strstr(error.text, name));
        assert_false(halo_picture_can_write(name, kind, lanes, 2));
    } else {
        assert_int_equal(code, HALO_OK);
        assert_true(halo_picture_can_write(name, kind, lanes, 2));
        if (strncmp(bytes, header, strlen(header)) != 0)
            fail_msg("%s starts with %.12s", name, (char *)bytes);
        halo_free(bytes);
    }
    halo_picture_release(&p);
}

static void test_depth_of_files(void **state)
{
    (void)state;
    expect_header("x.pgm", HALO_KIND_F32, 1, 0, "P5\n1 1\n255\n");
    expect_header("x.pgm", HALO_KIND_F32, 1, 16, "P5\n1 1\n65535\n");
    expect_header("x.pgm", HALO_KIND_U16, 1, 0, "P5\n1 1\n65535\n");
    expect_header("x.pgm", HALO_KIND_U8, 1, 16, "P5\n1 1\n255\n");
    expect_header("x.pgm", HALO_KIND_BOOL, 1, 16, "P5\n1 1\n255\n");
    expect_header("x.PPM", HALO_KIND_U8, 1, 0, "P6\n1 1\n255\n");
    expect_header("x.ppm", HALO_KIND_U8, 4, 0, "P6\n1 1\n255\n");
    expect_header("x.pfm", HALO_KIND_F16, 3, 0, "PF\n1 1\n-1.0\n");
    expect_header("x.pgm", HALO_KIND_U8, 3, 0, NULL);
    expect_header("x.png", HALO_KIND_I32, 1, 0, NULL);
    expect_header("x.png", HALO_KIND_I16, 1, 16, NULL);
    expect_header("x.bmp", HALO_KIND_U8, 3, 0, NULL);
    expect_header("x", HALO_KIND_U8, 3, 0, NULL);
    expect_header("x.npy", HALO_KIND_I32, 1, 0, "\x93NUMPY");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_same_kind_is_untouched), cmocka_unit_test(test_integers_to_f32),
        cmocka_unit_test(test_integers_to_integers), cmocka_unit_test(test_f32_to_integers), cmocka_unit_test(test_half),
        cmocka_unit_test(test_all_halves), cmocka_unit_test(test_halves_round_to_even), cmocka_unit_test(test_lanes),
        cmocka_unit_test(test_refusals), cmocka_unit_test(test_depth_of_files)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
