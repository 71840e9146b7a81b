/* SPDX-License-Identifier: MIT
 * JPEG, BMP and TGA through stb's one-file libraries, on memory, and HDR's writer. Bytes are handed over by a call-back, which
 * notices when a decoder asks for more than the file has: stb would fill the rest with grey and say nothing. */
#include "runtime/image_io.h"

#include <stdlib.h>
#include <string.h>

/* stb's headers declare what the switches below leave out. */
#pragma GCC diagnostic ignored "-Wunused-function"
#define STBI_ONLY_JPEG
#define STBI_ONLY_BMP
#define STBI_ONLY_TGA
#define STBI_NO_LINEAR
#define STBI_NO_STDIO
#define STB_IMAGE_STATIC
#define STB_IMAGE_IMPLEMENTATION
#include "stb_image.h"
#define STB_IMAGE_WRITE_STATIC
#define STB_IMAGE_WRITE_IMPLEMENTATION
#include "stb_image_write.h"

typedef struct stream { const uint8_t *bytes; size_t n_bytes, used; bool ended_early; } stream;

static int stream_read(void *user, char *to, int n)
{
    stream *s = user;
    size_t left = s->n_bytes - s->used, count = (size_t)n < left ? (size_t)n : left;
    if (count == 0)
        s->ended_early = true;
    memcpy(to, s->bytes + s->used, count);
    s->used += count;
    return (int)count;
}

static void stream_skip(void *user, int n)
{
    stream *s = user;
    if (n < 0)
        s->used -= (size_t)-n < s->used ? (size_t)-n : s->used;
    else if ((size_t)n > s->n_bytes - s->used)
        s->used = s->n_bytes, s->ended_early = true;
    else
        s->used += (size_t)n;
}

static int stream_end(void *user)
{
    stream *s = user;
    return s->used >= s->n_bytes;
}

static const stbi_io_callbacks callbacks = {stream_read, stream_skip, stream_end};

bool is_jpeg(const uint8_t *bytes, size_t n_bytes) { return n_bytes >= 3 && memcmp(bytes, "\xFF\xD8\xFF", 3) == 0; }
bool is_bmp(const uint8_t *bytes, size_t n_bytes) { return n_bytes >= 18 && memcmp(bytes, "BM", 2) == 0; }

/* Moves what stb allocated into a picture of ours. */
static bool take_pixels(void *pixels, const stream *s, int width, int height, int lanes, halo_picture *p, halo_message *error)
{
    bool read = pixels && !s->ended_early;
    if (!pixels)
        message_fail(error, s->ended_early ? "the file ends early" : "the file is damaged (%s)", stbi_failure_reason());
    else if (s->ended_early)
        message_fail(error, "the file ends early");
    else
        read = picture_new_2d(p, HALO_KIND_U8, lanes, (uint64_t)width, (uint64_t)height, error);
    if (read)
        memcpy(p->image.data, pixels, picture_bytes(p));
    stbi_image_free(pixels);
    return read;
}

/* Even the best packed pixels take some of the file: 512 a byte in a JPEG (one bit for 64), 128 in a run-length TGA. */
static bool size_is_plausible(const uint8_t *bytes, size_t n_bytes, halo_message *error)
{
    stream s = {bytes, n_bytes, 0, false};
    int width, height, lanes;
    if (!stbi_info_from_callbacks(&callbacks, &s, &width, &height, &lanes))
        return message_fail(error, s.ended_early ? "the file ends early" : "the file is damaged (%s)", stbi_failure_reason());
    uint64_t rows = (uint64_t)llabs((long long)height);              /* below 0: a BMP from the top down */
    if ((uint64_t)width * rows / 512 > n_bytes)
        return message_fail(error, "the file ends early");
    return true;
}

bool decode_8bit(const uint8_t *bytes, size_t n_bytes, halo_picture *picture, halo_message *error)
{
    if (!size_is_plausible(bytes, n_bytes, error))
        return false;
    stream s = {bytes, n_bytes, 0, false};
    int width, height, lanes;
    void *pixels = stbi_load_from_callbacks(&callbacks, &s, &width, &height, &lanes, 0);
    return take_pixels(pixels, &s, width, height, lanes, picture, error);
}

bool decode_jpeg(const uint8_t *bytes, size_t n_bytes, halo_picture *picture, halo_message *error)
{
    if (!decode_8bit(bytes, n_bytes, picture, error))
        return false;
    if (picture_orient(picture, exif_orientation(bytes, n_bytes)))
        return true;
    halo_picture_release(picture);
    return message_fail(error, "out of memory");
}

/* ---- writing --------------------------------------------------------------------------------- */

static void write_bytes(void *user, void *bytes, int n)
{
    text_add(user, bytes, (size_t)n);
}

static bool size_fits(const halo_picture *p, int limit, halo_message *error)
{
    if (p->image.extent[0] > limit || p->image.extent[1] > limit)
        return message_fail(error, "this format holds at most %d x %d pixels", limit, limit);
    return true;
}

bool encode_jpeg(const halo_picture *picture, const halo_metadata *metadata, text *out, halo_message *error)
{
    enum { QUALITY = 95 };
    (void)metadata;
    return size_fits(picture, 65535, error) &&
           (stbi_write_jpg_to_func(write_bytes, out, picture->image.extent[0], picture->image.extent[1], picture->lanes,
                                   picture->image.data, QUALITY) || message_fail(error, "out of memory"));
}

bool encode_hdr(const halo_picture *picture, const halo_metadata *metadata, text *out, halo_message *error)
{
    (void)metadata;
    return size_fits(picture, 1 << 24, error) &&
           (stbi_write_hdr_to_func(write_bytes, out, picture->image.extent[0], picture->image.extent[1], picture->lanes,
                                   picture->image.data) || message_fail(error, "out of memory"));
}
