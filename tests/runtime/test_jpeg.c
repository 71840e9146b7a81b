/* SPDX-License-Identifier: MIT
 * JPEG, BMP, TGA and HDR: small files made here, EXIF's eight orientations against the standard's words, damaged files. */
#include "check.h"

#include <math.h>

enum { WIDTH = 48, HEIGHT = 32, MARK = 16 };

/* A grey picture with a white square at its top left. */
static void *make_jpeg(int32_t lanes, size_t *n_bytes)
{
    halo_picture p;
    halo_message error;
    void *bytes;
    int32_t extent[] = {WIDTH, HEIGHT};
    assert_int_equal(halo_picture_new(&p, HALO_KIND_U8, lanes, 2, extent), HALO_OK);
    for (int y = 0; y < HEIGHT; y++)
        for (int x = 0; x < WIDTH * lanes; x++)
            ((uint8_t *)p.image.data)[y * WIDTH * lanes + x] = x < MARK * lanes && y < MARK ? 250 : 20;
    assert_int_equal(halo_picture_encode("x.jpg", &p, NULL, &bytes, n_bytes, NULL, &error), HALO_OK);
    halo_picture_release(&p);
    return bytes;
}

/* The same file with an EXIF block behind its first marker. */
static uint8_t *with_exif(const void *jpeg, size_t n_bytes, int orientation, int big_endian, size_t *n_out)
{
    static const uint8_t little[] = {0xFF, 0xE1, 0, 34, 'E', 'x', 'i', 'f', 0, 0, 'I', 'I', 42, 0, 8, 0, 0, 0, 1, 0,
                                     0x12, 0x01, 3, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0};
    static const uint8_t big[] = {0xFF, 0xE1, 0, 34, 'E', 'x', 'i', 'f', 0, 0, 'M', 'M', 0, 42, 0, 0, 0, 8, 0, 1,
                                  0x01, 0x12, 0, 3, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0};
    uint8_t *out = malloc(n_bytes + sizeof little);
    assert_non_null(out);
    memcpy(out, jpeg, 2);
    memcpy(out + 2, big_endian ? big : little, sizeof little);
    out[2 + (big_endian ? 29 : 28)] = (uint8_t)orientation;
    memcpy(out + 2 + sizeof little, (const uint8_t *)jpeg + 2, n_bytes - 2);
    *n_out = n_bytes + sizeof little;
    return out;
}

/* Where EXIF says that the stored picture's first row and first column are when it is shown. */
typedef enum side { TOP, RIGHT, BOTTOM, LEFT } side;
static const struct { side row, column; } shown[] = {{TOP, LEFT}, {TOP, LEFT}, {TOP, RIGHT}, {BOTTOM, RIGHT}, {BOTTOM, LEFT},
                                                     {LEFT, TOP}, {RIGHT, TOP}, {RIGHT, BOTTOM}, {LEFT, BOTTOM}};

static int brightness(const halo_picture *p, int x, int y)
{
    return ((uint8_t *)p->image.data)[y * p->image.stride[1] + x * p->image.stride[0]];
}

static void check_orientation(const void *jpeg, size_t n_bytes, int orientation, int big_endian)
{
    size_t n;
    uint8_t *bytes = with_exif(jpeg, n_bytes, orientation, big_endian, &n);
    halo_picture p;
    halo_message error;
    if (decode_exactly("x.jpg", bytes, n, &p, &error) != HALO_OK)
        fail_msg("%s", error.text);
    int turned = orientation >= 5;
    assert_int_equal(p.image.extent[0], turned ? HEIGHT : WIDTH);
    assert_int_equal(p.image.extent[1], turned ? WIDTH : HEIGHT);
    int right = shown[orientation].row == RIGHT || shown[orientation].column == RIGHT;
    int below = shown[orientation].row == BOTTOM || shown[orientation].column == BOTTOM;
    for (int corner = 0; corner < 4; corner++) {
        int x = corner & 1 ? p.image.extent[0] - 4 : 4, y = corner & 2 ? p.image.extent[1] - 4 : 4;
        int is_mark = (corner & 1) == right && (corner >> 1) == below;
        if ((brightness(&p, x, y) > 128) != is_mark)
            fail_msg("orientation %d: corner %d is %d", orientation, corner, brightness(&p, x, y));
    }
    halo_picture_release(&p);
    free(bytes);
}

static void test_orientations(void **state)
{
    (void)state;
    size_t n_bytes;
    void *jpeg = make_jpeg(3, &n_bytes);
    for (int orientation = 1; orientation <= 8; orientation++)
        for (int big_endian = 0; big_endian < 2; big_endian++)
            check_orientation(jpeg, n_bytes, orientation, big_endian);
    halo_free(jpeg);
}

static void test_jpeg(void **state)
{
    (void)state;
    halo_message error;
    for (int32_t lanes = 1; lanes <= 3; lanes += 2) {
        size_t n_bytes, n_exif;
        halo_picture p;
        uint8_t *jpeg = make_jpeg(lanes, &n_bytes);
        assert_int_equal(decode_exactly("x.jpg", jpeg, n_bytes, &p, &error), HALO_OK);
        assert_true(p.lanes == 3 || lanes == 1);
        assert_true(abs(brightness(&p, 5, 5) - 250) < 8 && abs(brightness(&p, 40, 25) - 20) < 8);
        halo_picture_release(&p);
        check_hostile("x.jpg", jpeg, n_bytes, 300, 1);
        uint8_t *exif = with_exif(jpeg, n_bytes, 6, 1, &n_exif);
        check_hostile("x.jpg", exif, 60, 3000, 1);                     /* the EXIF block and the headers */
        free(exif);
        halo_free(jpeg);
    }
}

static void test_hdr(void **state)
{
    (void)state;
    halo_picture p, back;
    halo_message error;
    int32_t extent[] = {20, 3};
    assert_int_equal(halo_picture_new(&p, HALO_KIND_F32, 3, 2, extent), HALO_OK);
    float *v = p.image.data;
    for (int i = 0; i < 180; i++)
        v[i] = 0.25f + (float)(i / 3) * 3.0f;
    void *bytes;
    size_t n_bytes;
    assert_int_equal(halo_picture_encode("x.hdr", &p, NULL, &bytes, &n_bytes, NULL, &error), HALO_OK);
    assert_int_equal(decode_exactly("x.hdr", bytes, n_bytes, &back, &error), HALO_OK);
    assert_int_equal(back.kind, HALO_KIND_F32);
    for (int i = 0; i < 180; i++)
        assert_true(fabsf(((float *)back.image.data)[i] - v[i]) <= v[i] / 128);        /* 8 bits of fraction */
    check_hostile("x.hdr", bytes, n_bytes, 500, 1);
    halo_free(bytes);
    halo_picture_release(&back);
    halo_picture_release(&p);
}

/* 2 x 2, 24 bit, from the bottom up: blue, green; red, white. */
static const uint8_t bmp[] = {'B', 'M', 70, 0, 0, 0, 0, 0, 0, 0, 54, 0, 0, 0, 40, 0, 0, 0, 2, 0, 0, 0, 2, 0, 0, 0, 1, 0, 24, 0, 0, 0,
                              0, 0, 16, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
                              255, 0, 0, 0, 255, 0, 0, 0, 0, 0, 255, 255, 255, 255, 0, 0};
static const uint8_t tga[] = {0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2, 0, 2, 0, 24, 0, 255, 0, 0, 0, 255, 0, 0, 0, 255, 255, 255, 255};

static void test_bmp_and_tga(void **state)
{
    (void)state;
    static const uint8_t expected[] = {255, 0, 0, 255, 255, 255, 0, 0, 255, 0, 255, 0};
    halo_picture p;
    halo_message error;
    assert_int_equal(decode_exactly("x.bmp", bmp, sizeof bmp, &p, &error), HALO_OK);
    assert_memory_equal(p.image.data, expected, sizeof expected);
    halo_picture_release(&p);
    assert_int_equal(decode_exactly("x.tga", tga, sizeof tga, &p, &error), HALO_OK);
    assert_memory_equal(p.image.data, expected, sizeof expected);
    halo_picture_release(&p);
    check_hostile("x.bmp", bmp, sizeof bmp - 2, 2000, 1);            /* the last row's padding may be missing */
    check_hostile("x.tga", tga, sizeof tga, 2000, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_orientations), cmocka_unit_test(test_jpeg), cmocka_unit_test(test_hdr),
                                       cmocka_unit_test(test_bmp_and_tga)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
