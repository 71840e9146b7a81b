/* SPDX-License-Identifier: MIT
 * Netpbm, PFM, npy and cube: files spelled out here, what they have to mean, and what damaged ones say. */
#include "check.h"

#include <math.h>
#include <stdio.h>

static halo_picture read_text(const char *name, const char *content, size_t n_bytes)
{
    halo_picture p;
    halo_message error;
    if (decode_exactly(name, content, n_bytes, &p, &error) != HALO_OK)
        fail_msg("%s", error.text);
    return p;
}

static void expect_error(const char *name, const void *content, size_t n_bytes, const char *words)
{
    halo_picture p;
    halo_message error;
    assert_int_not_equal(decode_exactly(name, content, n_bytes, &p, &error), HALO_OK);
    if (!strstr(error.text, words) || strncmp(error.text, name, strlen(name)) != 0)
        fail_msg("`%s` does not name the file and `%s`", error.text, words);
    assert_null(p.image.data);
}

#define READ(name, content) read_text(name, content, sizeof(content) - 1)
#define REFUSE(name, content, words) expect_error(name, content, sizeof(content) - 1, words)

/* ---- Netpbm ---------------------------------------------------------------------------------- */

static void test_pnm_8(void **state)
{
    (void)state;
    static const uint8_t values[] = {0, 127, 255, 1, 2, 3};
    halo_picture p = READ("x.ppm", "P6\n# made by hand\n2 1\n255\n\x00\x7F\xFF\x01\x02\x03");
    assert_int_equal(p.lanes, 3);
    assert_int_equal(p.kind, HALO_KIND_U8);
    assert_memory_equal(p.image.data, values, sizeof values);
    halo_picture_release(&p);
    p = READ("x.pgm", "P2 3 2 255  0 127\n255 # and\n1 2 3");
    assert_int_equal(p.lanes, 1);
    assert_int_equal(p.image.extent[0], 3);
    assert_memory_equal(p.image.data, values, sizeof values);
    halo_picture_release(&p);
    p = READ("x.ppm", "P3 2 1 255 0 127 255 1 2 3\n");
    assert_memory_equal(p.image.data, values, sizeof values);
    halo_picture_release(&p);
}

static void test_pnm_16_and_maximum(void **state)
{
    (void)state;
    halo_picture p = READ("x.pgm", "P5 3 1 65535\n\x00\x01\x80\x00\xFF\xFF");
    assert_int_equal(p.kind, HALO_KIND_U16);
    assert_int_equal(((uint16_t *)p.image.data)[0], 1);
    assert_int_equal(((uint16_t *)p.image.data)[1], 32768);
    assert_int_equal(((uint16_t *)p.image.data)[2], 65535);
    halo_picture_release(&p);
    p = READ("x.pgm", "P5 3 1 15\n\x00\x05\x0F");                         /* scaled to the full range */
    assert_int_equal(((uint8_t *)p.image.data)[1], 85);
    assert_int_equal(((uint8_t *)p.image.data)[2], 255);
    halo_picture_release(&p);
    p = READ("x.pgm", "P5 2 1 1023\n\x03\xFF\x01\x00");
    assert_int_equal(((uint16_t *)p.image.data)[0], 65535);
    assert_int_equal(((uint16_t *)p.image.data)[1], lrint(256 * 65535.0 / 1023));
    halo_picture_release(&p);
}

static void test_pnm_damaged(void **state)
{
    (void)state;
    REFUSE("x.pgm", "P5 2 2 255\n\x01\x02\x03", "ends early");
    REFUSE("x.pgm", "P2 2 2 255 1 2 3", "ends early");
    REFUSE("x.pgm", "P2 2 2 255 1 2 x 4", "no number");
    REFUSE("x.pgm", "P5 0 2 255\n", "empty");
    REFUSE("x.pgm", "P5 2 2 0\n....", "damaged");
    REFUSE("x.pgm", "P5 2000000000 2000000000 255\n....", "ends early");
    REFUSE("x.pgm", "P5 99999999999999999999 1 255\n....", "damaged");
    REFUSE("x.pgm", "", "empty");
    REFUSE("x.pgm", "hello, world", "no pgm");
    REFUSE("x.txt", "hello, world", "no picture");
    static const char whole[] = "P6\n# c\n3 2\n255\nabcdefghijklmnopqr";
    check_hostile("x.ppm", (const uint8_t *)whole, sizeof whole - 1, 2000, 1);
}

/* ---- PFM ------------------------------------------------------------------------------------- */

static void test_pfm(void **state)
{
    (void)state;
    /* Two rows of one column, from the bottom up, little-endian then big-endian: 1.0 below, -2.5 above. */
    halo_picture p = READ("x.pfm", "Pf\n1 2\n-1.0\n\x00\x00\x80\x3F\x00\x00\x20\xC0");
    assert_int_equal(p.kind, HALO_KIND_F32);
    assert_true(((float *)p.image.data)[0] == -2.5f && ((float *)p.image.data)[1] == 1.0f);
    halo_picture_release(&p);
    p = READ("x.pfm", "Pf\n1 2\n1.0\n\x3F\x80\x00\x00\xC0\x20\x00\x00");
    assert_true(((float *)p.image.data)[0] == -2.5f && ((float *)p.image.data)[1] == 1.0f);
    void *bytes;
    size_t n_bytes;
    halo_message error;
    assert_int_equal(halo_picture_encode("y.pfm", &p, NULL, &bytes, &n_bytes, NULL, &error), HALO_OK);
    halo_picture_release(&p);
    p = read_text("y.pfm", bytes, n_bytes);
    assert_true(((float *)p.image.data)[0] == -2.5f && ((float *)p.image.data)[1] == 1.0f);
    check_hostile("y.pfm", bytes, n_bytes, 1000, 1);
    halo_free(bytes);
    halo_picture_release(&p);
    REFUSE("x.pfm", "PF\n1 1\n-1\n\x00\x00\x80\x3F", "ends early");
    REFUSE("x.pfm", "PF\n1 1\n0\n............", "damaged");
}

/* ---- npy ------------------------------------------------------------------------------------- */

/* A version 1 file around a dictionary and data. */
static size_t make_npy(char *out, const char *dictionary, const void *data, size_t n_data)
{
    size_t n = strlen(dictionary) + 1, padded = (10 + n + 63) / 64 * 64 - 10;
    memcpy(out, "\x93NUMPY\x01\x00", 8);
    out[8] = (char)(padded & 255), out[9] = (char)(padded >> 8);
    memset(out + 10, ' ', padded);
    memcpy(out + 10, dictionary, n - 1);
    out[10 + padded - 1] = '\n';
    memcpy(out + 10 + padded, data, n_data);
    return 10 + padded + n_data;
}

static void test_npy_orders(void **state)
{
    (void)state;
    char file[512];
    /* shape (2, 3): 2 rows of 3 columns */
    static const int16_t rows[] = {1, 2, 3, 4, 5, 6}, columns[] = {1, 4, 2, 5, 3, 6};
    static const uint8_t swapped[] = {0, 1, 0, 2, 0, 3, 0, 4, 0, 5, 0, 6};
    static const struct { const char *dictionary; const void *data; } files[] = {
        {"{'descr': '<i2', 'fortran_order': False, 'shape': (2, 3), }", rows},
        {"{'descr': '<i2', 'fortran_order': True, 'shape': (2, 3), }", columns},
        {"{'descr': '>i2', 'fortran_order': False, 'shape': (2, 3), }", swapped}};
    for (size_t i = 0; i < 3; i++) {
        size_t n = make_npy(file, files[i].dictionary, files[i].data, 12);
        halo_picture p = read_text("x.npy", file, n);
        assert_int_equal(p.kind, HALO_KIND_I16);
        assert_int_equal(p.rank, 2);
        assert_int_equal(p.image.extent[0], 3);
        assert_int_equal(p.image.extent[1], 2);
        assert_memory_equal(p.image.data, rows, sizeof rows);
        halo_picture_release(&p);
    }
}

/* Every kind is written and read back with the same bits, pixels and ranks included. */
static void test_npy_round_trip(void **state)
{
    (void)state;
    for (int kind = HALO_KIND_BOOL; kind <= HALO_KIND_F32; kind++)
        for (int32_t rank = 1; rank <= HALO_MAX_RANK; rank++)
            for (int32_t lanes = 1; lanes <= 4; lanes += 2) {
                static const int32_t extent[] = {3, 2, 4, 1, 2};
                halo_picture p, back, pixels;
                halo_message error;
                assert_int_equal(halo_picture_new(&p, (halo_kind)kind, lanes, rank, extent), HALO_OK);
                size_t n_bytes = (size_t)(halo_kind_bytes((halo_kind)kind) * lanes), n_file;
                for (int32_t d = 0; d < rank; d++)
                    n_bytes *= (size_t)extent[d];
                uint32_t random = (uint32_t)(kind * 31 + rank);
                for (size_t i = 0; i < n_bytes; i++)
                    ((uint8_t *)p.image.data)[i] = kind ? (uint8_t)next_random(&random) : next_random(&random) & 1;
                void *bytes;
                assert_int_equal(halo_picture_encode("x.npy", &p, NULL, &bytes, &n_file, NULL, &error), HALO_OK);
                back = read_text("x.npy", bytes, n_file);
                if (halo_picture_convert(&back, (halo_kind)kind, lanes, rank, &pixels, NULL, &error) != HALO_OK)
                    fail_msg("%s", error.text);
                assert_memory_equal(pixels.image.extent, p.image.extent, sizeof p.image.extent);
                assert_memory_equal(pixels.image.data, p.image.data, n_bytes);
                halo_free(bytes);
                halo_picture_release(&pixels);
                halo_picture_release(&back);
                halo_picture_release(&p);
            }
}

static void test_npy_wide(void **state)
{
    (void)state;
    char file[512];
    static const double reals[] = {0.1, -3.5};
    static const int64_t whole[] = {7, -2000000000}, large[] = {7, 3000000000};
    size_t n = make_npy(file, "{'descr': '<f8', 'fortran_order': False, 'shape': (2,), }", reals, 16);
    halo_picture p = read_text("x.npy", file, n);
    assert_true(p.kind == HALO_KIND_F32 && ((float *)p.image.data)[0] == 0.1f && ((float *)p.image.data)[1] == -3.5f);
    halo_picture_release(&p);
    n = make_npy(file, "{'descr': '<i8', 'fortran_order': False, 'shape': (2,), }", whole, 16);
    p = read_text("x.npy", file, n);
    assert_true(p.kind == HALO_KIND_I32 && ((int32_t *)p.image.data)[1] == -2000000000);
    halo_picture_release(&p);
    n = make_npy(file, "{'descr': '<i8', 'fortran_order': False, 'shape': (2,), }", large, 16);
    expect_error("x.npy", file, n, "too large for i32");
}

static void test_npy_damaged(void **state)
{
    (void)state;
    char file[1024];
    uint8_t data[64] = {0};
    static const struct { const char *dictionary, *words; } bad[] = {
        {"{'descr': '<c8', 'fortran_order': False, 'shape': (2,), }", "c8"},
        {"{'descr': [('a', '<i2')], 'fortran_order': False, 'shape': (2,), }", "type"},
        {"{'descr': '<i2', 'fortran_order': False, 'shape': (100, 100), }", "ends early"},
        {"{'descr': '<i2', 'fortran_order': False, 'shape': (2000000000, 2000000000, 2000000000, 4), }", "ends early"},
        {"{'descr': '<i2', 'fortran_order': False, 'shape': (1, 1, 1, 1, 1, 1, 1), }", "axes"},
        {"{'descr': '<i2', 'fortran_order': False, 'shape': (0, 3), }", "empty"},
        {"{'descr': '<i2', 'fortran_order': False, 'shape': (-1,), }", "damaged"},
        {"{'descr': '<i2', 'fortran_order': False, 'shape': (2, ", "damaged"},
        {"{'descr': '<i2', 'fortran_order': False}", "damaged"}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        size_t n = make_npy(file, bad[i].dictionary, data, sizeof data);
        expect_error("x.npy", file, n, bad[i].words);
    }
    size_t n = make_npy(file, "{'descr': '<i2', 'fortran_order': True, 'shape': (4, 2, 4), }", data, sizeof data);
    check_hostile("x.npy", (const uint8_t *)file, n, 4000, 1);
}

static void test_array_conversion(void **state)
{
    (void)state;
    char file[512];
    static const uint8_t bytes[] = {1, 2, 3, 4, 5, 255};
    size_t n = make_npy(file, "{'descr': '|u1', 'fortran_order': False, 'shape': (1, 2, 3), }", bytes, 6);
    halo_picture p = read_text("x.npy", file, n), q;
    halo_message error;
    /* The last axis is the components of a pixel's type; numbers are never rescaled. */
    assert_int_equal(halo_picture_convert(&p, HALO_KIND_F32, 3, 2, &q, NULL, &error), HALO_OK);
    assert_true(q.image.extent[0] == 2 && q.image.extent[1] == 1 && ((float *)q.image.data)[5] == 255.0f);
    halo_picture_release(&q);
    assert_int_equal(halo_picture_convert(&p, HALO_KIND_U8, 1, 3, &q, NULL, &error), HALO_OK);
    assert_true(q.image.extent[0] == 3 && q.image.extent[1] == 2 && q.image.extent[2] == 1);
    halo_picture_release(&q);
    assert_int_not_equal(halo_picture_convert(&p, HALO_KIND_I8, 1, 3, &q, NULL, &error), HALO_OK);
    assert_non_null(strstr(error.text, "u8, which i8 cannot hold"));
    assert_int_not_equal(halo_picture_convert(&p, HALO_KIND_U8, 4, 2, &q, NULL, &error), HALO_OK);
    assert_non_null(strstr(error.text, "3 x 2 x 1"));
    halo_picture_release(&p);
}

/* ---- cube ------------------------------------------------------------------------------------ */

static void test_cube(void **state)
{
    (void)state;
    halo_picture p = READ("x.cube", "TITLE \"two\"\n# red is fastest\nLUT_3D_SIZE 2\r\nDOMAIN_MIN 0 0 0\nDOMAIN_MAX 1.0 1 1\n\n"
                                    "0 0 0\n1 0 0\n0 1 0\n1 1 0\n0 0 1\n1 0 1\n0 1 1\n1 0.5 1e-1\n");
    assert_true(p.kind == HALO_KIND_F32 && p.lanes == 3 && p.rank == 3 && p.image.extent[2] == 2);
    const float *v = p.image.data;
    assert_true(v[3] == 1 && v[4] == 0 && v[21] == 1 && v[22] == 0.5f && v[23] == 0.1f);
    halo_picture_release(&p);
    REFUSE("x.cube", "LUT_3D_SIZE 2\n0 0 0\n", "1 of 8 lines");
    REFUSE("x.cube", "LUT_3D_SIZE 2\n0 0 zero\n", "line 2");
    REFUSE("x.cube", "LUT_3D_SIZE 100000\n", "size");
    REFUSE("x.cube", "0 0 0\n", "before its size");
    REFUSE("x.cube", "LUT_3D_SIZE 2\nDOMAIN_MAX 2 2 2\n", "0..1");
    REFUSE("x.cube", "hello\n", "before its size");
    REFUSE("x.cube", "LUT_1D_SIZE 2\n0 0 0\n1 1 1\n2 2 2\n", "more lines");
    static const char whole[] = "LUT_1D_SIZE 3\n0 0 0\n0.5 0.5 0.5\n1 1 1\n";
    check_hostile("x.cube", (const uint8_t *)whole, sizeof whole - 1, 2000, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pnm_8), cmocka_unit_test(test_pnm_16_and_maximum), cmocka_unit_test(test_pnm_damaged),
        cmocka_unit_test(test_pfm), cmocka_unit_test(test_npy_orders), cmocka_unit_test(test_npy_round_trip),
        cmocka_unit_test(test_npy_wide), cmocka_unit_test(test_npy_damaged), cmocka_unit_test(test_array_conversion),
        cmocka_unit_test(test_cube)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
