/* SPDX-License-Identifier: MIT
 * PNG through libpng, on memory. Every colour type comes as 1 to 4 components of 8 or 16 bit: palettes and tRNS are expanded,
 * 1, 2 and 4 bit scaled to the full range, nothing else is touched. Gamma, colour profile and texts are kept aside, since
 * they say what the numbers mean and a filter doesn't change that. libpng reports errors by a jump: everything that is
 * released after one lives in a structure outside the function that jumps. */
#include "runtime/image_io.h"

#include <png.h>
#include <stdlib.h>
#include <string.h>

bool is_png(const uint8_t *bytes, size_t n_bytes)
{
    return n_bytes >= 8 && png_sig_cmp(bytes, 0, 8) == 0;
}

typedef struct png_state {
    png_structp    png;
    png_infop      info;
    const uint8_t *bytes;            /* reading */
    size_t         n_bytes, used;
    text          *out;              /* writing */
    png_bytep     *rows;
    halo_message  *error;
} png_state;

static void on_error(png_structp png, png_const_charp text)
{
    png_state *s = png_get_error_ptr(png);
    message_fail(s->error, "%s", text);
    png_longjmp(png, 1);
}

static void on_warning(png_structp png, png_const_charp text)
{
    (void)png, (void)text;
}

static void read_bytes(png_structp png, png_bytep to, size_t n_bytes)
{
    png_state *s = png_get_io_ptr(png);
    if (n_bytes > s->n_bytes - s->used)
        png_error(png, "the file ends early");
    memcpy(to, s->bytes + s->used, n_bytes);
    s->used += n_bytes;
}

static void write_bytes(png_structp png, png_bytep from, size_t n_bytes)
{
    png_state *s = png_get_io_ptr(png);
    text_add(s->out, (const char *)from, n_bytes);
}

static void flush_bytes(png_structp png) { (void)png; }

static bool make_rows(png_state *s, const halo_picture *p)
{
    s->rows = malloc((size_t)p->image.extent[1] * sizeof *s->rows);
    if (!s->rows)
        return message_fail(s->error, "out of memory");
    for (int32_t y = 0; y < p->image.extent[1]; y++)
        s->rows[y] = (png_bytep)p->image.data + y * p->image.stride[1];
    return true;
}

/* ---- chunks that go along -------------------------------------------------------------------- */

static char *copy_string(const char *string)
{
    size_t n = string ? strlen(string) + 1 : 1;
    char *copy = malloc(n);
    if (copy)
        memcpy(copy, string ? string : "", n);
    return copy;
}

static bool keep_texts(png_state *s, halo_metadata *m)
{
    png_textp texts;
    int n = 0;
    png_get_text(s->png, s->info, &texts, &n);
    if (n <= 0)
        return true;
    m->texts = calloc((size_t)n, sizeof *m->texts);
    if (!m->texts)
        return false;
    for (int i = 0; i < n; i++) {
        metadata_text *t = &m->texts[m->n_texts++];
        *t = (metadata_text){copy_string(texts[i].key), copy_string(texts[i].text), copy_string(texts[i].lang),
                             copy_string(texts[i].lang_key), texts[i].compression};
        if (!t->key || !t->value || !t->language || !t->translated_key)
            return false;
    }
    return true;
}

static bool keep_profile(png_state *s, halo_metadata *m)
{
    png_charp name;
    png_bytep profile;
    png_uint_32 n_bytes;
    int compression;
    if (!png_get_iCCP(s->png, s->info, &name, &compression, &profile, &n_bytes))
        return true;
    m->profile_name = copy_string(name);
    m->profile = malloc(n_bytes);
    if (!m->profile_name || !m->profile)
        return false;
    memcpy(m->profile, profile, n_bytes);
    m->n_profile_bytes = n_bytes;
    m->profile_is_grey = n_bytes >= 20 && memcmp(profile + 16, "GRAY", 4) == 0;
    return true;
}

static bool keep_chunks(png_state *s, halo_picture *p)
{
    halo_metadata *m = p->metadata = calloc(1, sizeof *m);
    if (!m)
        return false;
    png_fixed_point gamma, c[8];
    m->has_gamma = png_get_gAMA_fixed(s->png, s->info, &gamma) != 0;
    if (m->has_gamma)
        m->gamma = gamma;
    m->has_srgb = png_get_sRGB(s->png, s->info, &m->srgb_intent) != 0;
    m->has_chromaticities = png_get_valid(s->png, s->info, PNG_INFO_cHRM) &&
        png_get_cHRM_fixed(s->png, s->info, &c[0], &c[1], &c[2], &c[3], &c[4], &c[5], &c[6], &c[7]) != 0;
    for (int i = 0; m->has_chromaticities && i < 8; i++)
        m->chromaticities[i] = c[i];
    png_uint_32 x, y;
    m->has_resolution = png_get_pHYs(s->png, s->info, &x, &y, &m->resolution_unit) != 0;
    if (m->has_resolution)
        m->resolution[0] = x, m->resolution[1] = y;
    return keep_texts(s, m) && keep_profile(s, m);
}

static void write_chunks(png_state *s, const halo_metadata *m, bool is_grey)
{
    if (m->has_gamma)
        png_set_gAMA_fixed(s->png, s->info, m->gamma);
    const int32_t *c = m->chromaticities;
    if (m->has_chromaticities)
        png_set_cHRM_fixed(s->png, s->info, c[0], c[1], c[2], c[3], c[4], c[5], c[6], c[7]);
    if (m->has_resolution)
        png_set_pHYs(s->png, s->info, m->resolution[0], m->resolution[1], m->resolution_unit);
    if (m->has_srgb)
        png_set_sRGB(s->png, s->info, m->srgb_intent);
    else if (m->profile && m->profile_is_grey == is_grey)          /* a profile is for grey or for colour */
        png_set_iCCP(s->png, s->info, m->profile_name, PNG_COMPRESSION_TYPE_BASE, m->profile, m->n_profile_bytes);
    for (uint32_t i = 0; i < m->n_texts; i++) {
        const metadata_text *t = &m->texts[i];
        png_text text = {.compression = t->compression, .key = t->key, .text = t->value, .lang = t->language,
                         .lang_key = t->translated_key};
        png_set_text(s->png, s->info, &text, 1);
    }
}

/* ---- reading --------------------------------------------------------------------------------- */

static halo_kind set_transforms(png_state *s)
{
    png_set_expand(s->png);                                         /* palette to RGB, 1 2 4 bit to 8, tRNS to alpha */
    if (png_get_bit_depth(s->png, s->info) == 16)
        png_set_swap(s->png);                                       /* to this machine's order */
    png_set_interlace_handling(s->png);
    png_read_update_info(s->png, s->info);
    return png_get_bit_depth(s->png, s->info) == 16 ? HALO_KIND_U16 : HALO_KIND_U8;
}

static bool read_picture(png_state *s, halo_picture *p)
{
    if (setjmp(png_jmpbuf(s->png)))
        return false;
    png_set_read_fn(s->png, s, read_bytes);
    png_set_user_limits(s->png, 0x7FFFFFFF, 0x7FFFFFFF);
    png_set_chunk_malloc_max(s->png, 8 << 20);
    png_read_info(s->png, s->info);
    uint64_t width = png_get_image_width(s->png, s->info), height = png_get_image_height(s->png, s->info);
    uint64_t bits = (uint64_t)png_get_bit_depth(s->png, s->info) * png_get_channels(s->png, s->info);
    /* Deflate packs 1032 times at best, so a small file can't hold a huge picture. */
    if (((width * bits + 7) / 8 + 1) > (uint64_t)s->n_bytes * 1032 / height + 1)
        return message_fail(s->error, "the file ends early");
    halo_kind kind = set_transforms(s);
    if (!picture_new_2d(p, kind, png_get_channels(s->png, s->info), width, height, s->error) || !make_rows(s, p))
        return false;
    png_read_image(s->png, s->rows);
    png_read_end(s->png, s->info);
    return keep_chunks(s, p) || message_fail(s->error, "out of memory");
}

/* Every chunk up to IEND lies inside the file; libpng would take memory for what a damaged length promises. */
static bool chunks_fit(const uint8_t *bytes, size_t n_bytes)
{
    for (size_t at = 8; n_bytes - at >= 12;) {
        const uint8_t *c = bytes + at;
        size_t length = (size_t)c[0] << 24 | (size_t)c[1] << 16 | (size_t)c[2] << 8 | c[3];
        if (length > n_bytes - at - 12)
            return false;
        if (memcmp(c + 4, "IEND", 4) == 0)
            return true;
        at += 12 + length;
    }
    return false;
}

bool decode_png(const uint8_t *bytes, size_t n_bytes, halo_picture *picture, halo_message *error)
{
    if (!chunks_fit(bytes, n_bytes))
        return message_fail(error, "the file ends early");
    png_state s = {.bytes = bytes, .n_bytes = n_bytes, .error = error};
    s.png = png_create_read_struct(PNG_LIBPNG_VER_STRING, &s, on_error, on_warning);
    s.info = s.png ? png_create_info_struct(s.png) : NULL;
    bool read = s.info ? read_picture(&s, picture) : message_fail(error, "out of memory");
    png_destroy_read_struct(&s.png, &s.info, NULL);
    free(s.rows);
    if (!read)
        halo_picture_release(picture);
    return read;
}

/* ---- writing --------------------------------------------------------------------------------- */

static bool write_picture(png_state *s, const halo_picture *p, const halo_metadata *m)
{
    static const int colours[] = {0, PNG_COLOR_TYPE_GRAY, PNG_COLOR_TYPE_GRAY_ALPHA, PNG_COLOR_TYPE_RGB, PNG_COLOR_TYPE_RGB_ALPHA};
    if (setjmp(png_jmpbuf(s->png)))
        return false;
    bool wide = p->kind == HALO_KIND_U16;
    png_set_write_fn(s->png, s, write_bytes, flush_bytes);
    png_set_user_limits(s->png, 0x7FFFFFFF, 0x7FFFFFFF);
    png_set_benign_errors(s->png, 1);                               /* a doubtful chunk is left out */
    png_set_compression_level(s->png, 4);
    png_set_filter(s->png, PNG_FILTER_TYPE_BASE, PNG_FILTER_SUB | PNG_FILTER_UP);
    png_set_IHDR(s->png, s->info, (png_uint_32)p->image.extent[0], (png_uint_32)p->image.extent[1], wide ? 16 : 8,
                 colours[p->lanes], PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_BASE, PNG_FILTER_TYPE_BASE);
    if (m)
        write_chunks(s, m, p->lanes <= 2);
    png_write_info(s->png, s->info);
    if (wide)
        png_set_swap(s->png);
    png_write_image(s->png, s->rows);
    png_write_end(s->png, s->info);
    return true;
}

bool encode_png(const halo_picture *picture, const halo_metadata *metadata, text *out, halo_message *error)
{
    png_state s = {.out = out, .error = error};
    s.png = png_create_write_struct(PNG_LIBPNG_VER_STRING, &s, on_error, on_warning);
    s.info = s.png ? png_create_info_struct(s.png) : NULL;
    bool written = s.info ? make_rows(&s, picture) && write_picture(&s, picture, metadata) : message_fail(error, "out of memory");
    png_destroy_write_struct(&s.png, &s.info);
    free(s.rows);
    return written;
}
