/* SPDX-License-Identifier: MIT
 * PNG: every colour type and depth, written here by libpng from known samples and compared with the rule: full range, palette
 * and transparency expanded. Chunks that go along; damaged files. */
#include "check.h"

#include <png.h>

enum { WIDTH = 13, HEIGHT = 7 };

typedef struct file { uint8_t bytes[1 << 16]; size_t count; } file;

static void add_bytes(png_structp png, png_bytep bytes, size_t n)
{
    file *f = png_get_io_ptr(png);
    assert_true(f->count + n <= sizeof f->bytes);
    memcpy(f->bytes + f->count, bytes, n);
    f->count += n;
}

static void no_flush(png_structp png) { (void)png; }

/* Sample k of the picture, of `depth` bits: all values come up for small depths. */
static unsigned sample(int x, int y, int k, int depth)
{
    unsigned v = (unsigned)(x * 7 + y * 13 + k * 5) * (depth == 16 ? 4099u : depth == 8 ? 3u : 1u);
    return v & ((1u << depth) - 1);
}

static const png_color palette[] = {{10, 20, 30}, {255, 0, 1}, {0, 200, 90}, {77, 66, 55}, {1, 2, 3}, {9, 8, 7}, {100, 110, 120},
                                    {250, 251, 252}, {5, 6, 7}, {15, 16, 17}, {25, 26, 27}, {35, 36, 37}, {45, 46, 47},
                                    {55, 56, 57}, {65, 66, 67}, {75, 76, 77}};
static const uint8_t palette_alpha[] = {0, 128, 7};

static int palette_size(int depth) { return depth >= 4 ? 16 : 1 << depth; }

/* Which index a palette picture has at a place: in range also for 8 bit. */
static unsigned palette_index(int x, int y, int depth) { return sample(x, y, 0, depth > 4 ? 4 : depth); }

static void make_row(uint8_t *row, int y, int type, int depth, int channels)
{
    memset(row, 0, 256);
    for (int x = 0; x < WIDTH; x++)
        for (int k = 0; k < channels; k++) {
            unsigned v = type == PNG_COLOR_TYPE_PALETTE ? palette_index(x, y, depth) : sample(x, y, k, depth);
            int i = x * channels + k;
            if (depth == 16)
                row[2 * i] = (uint8_t)(v >> 8), row[2 * i + 1] = (uint8_t)v;
            else if (depth == 8)
                row[i] = (uint8_t)v;
            else
                row[i * depth / 8] |= (uint8_t)(v << (8 - depth - i * depth % 8));
        }
}

static int channels_of(int type)
{
    return type == PNG_COLOR_TYPE_RGB ? 3 : type == PNG_COLOR_TYPE_RGB_ALPHA ? 4 : type == PNG_COLOR_TYPE_GRAY_ALPHA ? 2 : 1;
}

static void set_chunks(png_structp png, png_infop info)
{
    png_set_gAMA_fixed(png, info, 50000);
    png_set_cHRM_fixed(png, info, 31270, 32900, 64000, 33000, 30000, 60000, 15000, 6000);
    png_text text[] = {{.compression = PNG_TEXT_COMPRESSION_NONE, .key = "Title", .text = "a test"},
                       {.compression = PNG_ITXT_COMPRESSION_NONE, .key = "Author", .text = "J\xC3\xBCrgen", .lang = "de", .lang_key = "Autor"}};
    png_set_text(png, info, text, 2);
}

static void write_file(file *f, int type, int depth, int transparent, int interlace, int chunks)
{
    f->count = 0;
    png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, NULL, NULL, NULL);
    png_infop info = png_create_info_struct(png);
    assert_non_null(info);
    if (setjmp(png_jmpbuf(png)))
        fail_msg("libpng refuses type %d depth %d", type, depth);
    png_set_write_fn(png, f, add_bytes, no_flush);
    png_set_IHDR(png, info, WIDTH, HEIGHT, depth, type, interlace, PNG_COMPRESSION_TYPE_BASE, PNG_FILTER_TYPE_BASE);
    if (type == PNG_COLOR_TYPE_PALETTE)
        png_set_PLTE(png, info, palette, palette_size(depth));
    png_color_16 key = {.gray = (png_uint_16)sample(3, 2, 0, depth), .red = (png_uint_16)sample(3, 2, 0, depth),
                        .green = (png_uint_16)sample(3, 2, 1, depth), .blue = (png_uint_16)sample(3, 2, 2, depth)};
    if (transparent && type == PNG_COLOR_TYPE_PALETTE)
        png_set_tRNS(png, info, palette_alpha, palette_size(depth) < 3 ? palette_size(depth) : 3, NULL);
    else if (transparent)
        png_set_tRNS(png, info, NULL, 0, &key);
    if (chunks)
        set_chunks(png, info);
    uint8_t rows[HEIGHT][256];
    png_bytep pointers[HEIGHT];
    for (int y = 0; y < HEIGHT; y++) {
        make_row(rows[y], y, type, depth, channels_of(type));
        pointers[y] = rows[y];
    }
    png_set_rows(png, info, pointers);
    png_write_png(png, info, PNG_TRANSFORM_IDENTITY, NULL);
    png_destroy_write_struct(&png, &info);
}

/* What component k of the decoded picture has to be. */
static unsigned expected(int x, int y, int k, int type, int depth, int transparent)
{
    unsigned full = depth == 16 ? 65535 : 255;
    int colours = type == PNG_COLOR_TYPE_PALETTE ? 3 : type & PNG_COLOR_MASK_COLOR ? 3 : 1;
    if (type == PNG_COLOR_TYPE_PALETTE) {
        unsigned index = palette_index(x, y, depth);
        const uint8_t rgb[] = {palette[index].red, palette[index].green, palette[index].blue};
        return k < 3 ? rgb[k] : index < sizeof palette_alpha ? palette_alpha[index] : 255;
    }
    if (k < colours || !transparent)                           /* a colour, or alpha that is stored */
        return sample(x, y, k, depth) * (depth < 8 ? 255u / ((1u << depth) - 1) : 1u);
    for (int c = 0; c < colours; c++)
        if (sample(x, y, c, depth) != sample(3, 2, c, depth))
            return full;
    return 0;
}

static void check_file(const file *f, int type, int depth, int transparent, int interlace)
{
    halo_picture p;
    halo_message error;
    if (decode_exactly("x.png", f->bytes, f->count, &p, &error) != HALO_OK)
        fail_msg("type %d depth %d: %s", type, depth, error.text);
    int lanes = type == PNG_COLOR_TYPE_PALETTE ? 3 : channels_of(type);
    lanes += transparent != 0;
    assert_int_equal(p.lanes, lanes);
    assert_int_equal(p.kind, depth == 16 ? HALO_KIND_U16 : HALO_KIND_U8);
    assert_int_equal(p.image.extent[0], WIDTH);
    assert_int_equal(p.image.extent[1], HEIGHT);
    for (int y = 0; y < HEIGHT; y++)
        for (int x = 0; x < WIDTH; x++)
            for (int k = 0; k < lanes; k++) {
                size_t i = (size_t)((y * WIDTH + x) * lanes + k);
                unsigned v = depth == 16 ? ((uint16_t *)p.image.data)[i] : ((uint8_t *)p.image.data)[i];
                if (v != expected(x, y, k, type, depth, transparent))
                    fail_msg("type %d depth %d tRNS %d interlace %d: component %d at (%d, %d) is %u, not %u", type, depth,
                             transparent, interlace, k, x, y, v, expected(x, y, k, type, depth, transparent));
            }
    halo_picture_release(&p);
}

static void test_matrix(void **state)
{
    (void)state;
    static const struct { int type, depths[6]; } types[] = {
        {PNG_COLOR_TYPE_GRAY, {1, 2, 4, 8, 16}}, {PNG_COLOR_TYPE_GRAY_ALPHA, {8, 16}}, {PNG_COLOR_TYPE_RGB, {8, 16}},
        {PNG_COLOR_TYPE_RGB_ALPHA, {8, 16}}, {PNG_COLOR_TYPE_PALETTE, {1, 2, 4, 8}}};
    file f;
    for (size_t t = 0; t < sizeof types / sizeof *types; t++)
        for (const int *depth = types[t].depths; *depth; depth++)
            for (int transparent = 0; transparent <= !(types[t].type & PNG_COLOR_MASK_ALPHA); transparent++)
                for (int interlace = 0; interlace < 2; interlace++) {
                    write_file(&f, types[t].type, *depth, transparent, interlace, 0);
                    check_file(&f, types[t].type, *depth, transparent, interlace);
                }
}

/* Every kind and number of components that an output can have, written and read back. */
static void test_round_trip(void **state)
{
    (void)state;
    for (int kind = 0; kind < 2; kind++)
        for (int32_t lanes = 1; lanes <= 4; lanes++) {
            halo_picture p, back;
            int32_t extent[] = {9, 5};
            halo_message error;
            assert_int_equal(halo_picture_new(&p, kind ? HALO_KIND_U16 : HALO_KIND_U8, lanes, 2, extent), HALO_OK);
            size_t n_bytes = (size_t)(45 * lanes * (kind ? 2 : 1)), n_file;
            uint32_t random = 5;
            for (size_t i = 0; i < n_bytes; i++)
                ((uint8_t *)p.image.data)[i] = (uint8_t)next_random(&random);
            void *bytes;
            assert_int_equal(halo_picture_encode("x.png", &p, NULL, &bytes, &n_file, NULL, &error), HALO_OK);
            assert_int_equal(decode_exactly("x.png", bytes, n_file, &back, &error), HALO_OK);
            assert_int_equal(back.kind, p.kind);
            assert_int_equal(back.lanes, lanes);
            assert_memory_equal(back.image.data, p.image.data, n_bytes);
            halo_free(bytes);
            halo_picture_release(&back);
            halo_picture_release(&p);
        }
}

static void find_chunks(const void *bytes, size_t n_bytes, png_structp *png, png_infop *info, FILE **stream)
{
    *stream = tmpfile();
    assert_non_null(*stream);
    assert_int_equal(fwrite(bytes, 1, n_bytes, *stream), n_bytes);
    rewind(*stream);
    *png = png_create_read_struct(PNG_LIBPNG_VER_STRING, NULL, NULL, NULL);
    *info = png_create_info_struct(*png);
    png_init_io(*png, *stream);
    png_read_png(*png, *info, PNG_TRANSFORM_IDENTITY, NULL);
}

static void test_chunks_kept(void **state)
{
    (void)state;
    file f;
    halo_picture p;
    halo_message error;
    write_file(&f, PNG_COLOR_TYPE_RGB, 8, 0, 0, 1);
    assert_int_equal(decode_exactly("x.png", f.bytes, f.count, &p, &error), HALO_OK);
    halo_write_options options = {.metadata = p.metadata};
    void *bytes;
    size_t n_bytes;
    assert_int_equal(halo_picture_encode("y.png", &p, &options, &bytes, &n_bytes, NULL, &error), HALO_OK);
    png_structp png;
    png_infop info;
    FILE *stream;
    find_chunks(bytes, n_bytes, &png, &info, &stream);
    png_fixed_point gamma, c[8];
    assert_true(png_get_gAMA_fixed(png, info, &gamma));
    assert_int_equal(gamma, 50000);
    assert_true(png_get_cHRM_fixed(png, info, &c[0], &c[1], &c[2], &c[3], &c[4], &c[5], &c[6], &c[7]));
    assert_int_equal(c[0], 31270);
    assert_int_equal(c[7], 6000);
    png_textp texts;
    int n;
    png_get_text(png, info, &texts, &n);
    assert_int_equal(n, 2);
    assert_string_equal(texts[0].key, "Title");
    assert_string_equal(texts[0].text, "a test");
    assert_string_equal(texts[1].text, "J\xC3\xBCrgen");
    assert_string_equal(texts[1].lang, "de");
    png_destroy_read_struct(&png, &info, NULL);
    fclose(stream);
    halo_free(bytes);
    halo_picture_release(&p);
}

static void test_damaged(void **state)
{
    (void)state;
    file f;
    write_file(&f, PNG_COLOR_TYPE_PALETTE, 4, 1, 1, 1);
    check_hostile("x.png", f.bytes, f.count, 3000, 1);
    write_file(&f, PNG_COLOR_TYPE_RGB_ALPHA, 16, 0, 0, 1);
    check_hostile("x.png", f.bytes, f.count, 3000, 1);
}

/* A header that promises 2^31 pixels in a file of some bytes takes no memory. */
static void test_bomb(void **state)
{
    (void)state;
    file f;
    halo_picture p;
    halo_message error;
    write_file(&f, PNG_COLOR_TYPE_GRAY, 8, 0, 0, 0);
    static const uint8_t huge[] = {0x00, 0x7F, 0xFF, 0xFF};
    memcpy(f.bytes + 16, huge, 4);
    memcpy(f.bytes + 20, huge, 4);
    uint32_t crc = 0xFFFFFFFFu;
    for (size_t i = 12; i < 29; i++) {
        crc ^= f.bytes[i];
        for (int bit = 0; bit < 8; bit++)
            crc = crc & 1 ? crc >> 1 ^ 0xEDB88320u : crc >> 1;
    }
    crc = ~crc;
    for (int i = 0; i < 4; i++)
        f.bytes[29 + i] = (uint8_t)(crc >> (24 - 8 * i));
    assert_int_not_equal(decode_exactly("x.png", f.bytes, f.count, &p, &error), HALO_OK);
    assert_string_equal(error.text, "x.png: the file ends early");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_matrix), cmocka_unit_test(test_round_trip),
                                       cmocka_unit_test(test_chunks_kept), cmocka_unit_test(test_damaged),
                                       cmocka_unit_test(test_bomb)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
