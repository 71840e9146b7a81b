/* SPDX-License-Identifier: MIT
 * Netpbm's grey and colour maps (P2 P3 P5 P6, 8 and 16 bit) and PFM. A maximum below 255 or 65535 is scaled to the full
 * range; PFM's rows run upward. */
#include "runtime/image_io.h"

#include <limits.h>
#include <string.h>

typedef struct reader { const uint8_t *at, *end; } reader;

static bool is_space(int c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

/* Spaces and `# ...` comments; at least one unless `optional`. */
static void skip_space(reader *r)
{
    while (r->at < r->end && (is_space(*r->at) || *r->at == '#'))
        if (*r->at++ == '#')
            while (r->at < r->end && *r->at != '\n' && *r->at != '\r')
                r->at++;
}

static bool read_number(reader *r, uint32_t *value)
{
    skip_space(r);
    uint64_t n = 0;
    const uint8_t *start = r->at;
    for (; r->at < r->end && *r->at >= '0' && *r->at <= '9'; r->at++) {
        n = n * 10 + (uint64_t)(*r->at - '0');
        if (n > INT_MAX)
            return false;
    }
    *value = (uint32_t)n;
    return r->at > start;
}

bool is_pnm(const uint8_t *bytes, size_t n_bytes)
{
    return n_bytes > 2 && bytes[0] == 'P' && strchr("2356", bytes[1]) && bytes[1] && (is_space(bytes[2]) || bytes[2] == '#');
}

/* v of 0..maximum to 0..full, rounded (half up: full is odd and the halves are never met for the usual maxima). */
static uint32_t scale_sample(uint32_t v, uint32_t maximum, uint32_t full)
{
    return v >= maximum ? full : (v * full + maximum / 2) / maximum;
}

static bool read_plain(reader *r, halo_picture *p, size_t n, uint32_t maximum, uint32_t full, halo_message *error)
{
    for (size_t i = 0; i < n; i++) {
        uint32_t v;
        if (!read_number(r, &v))
            return message_fail(error, r->at == r->end ? "the file ends early" : "a sample is no number");
        v = scale_sample(v, maximum, full);
        if (full == 255)
            ((uint8_t *)p->image.data)[i] = (uint8_t)v;
        else
            ((uint16_t *)p->image.data)[i] = (uint16_t)v;
    }
    return true;
}

static void read_binary(const uint8_t *from, halo_picture *p, size_t n, uint32_t maximum, uint32_t full)
{
    if (full == 255)
        for (size_t i = 0; i < n; i++)
            ((uint8_t *)p->image.data)[i] = (uint8_t)scale_sample(from[i], maximum, full);
    else
        for (size_t i = 0; i < n; i++)
            ((uint16_t *)p->image.data)[i] = (uint16_t)scale_sample((uint32_t)from[2 * i] << 8 | from[2 * i + 1], maximum, full);
}

bool decode_pnm(const uint8_t *bytes, size_t n_bytes, halo_picture *picture, halo_message *error)
{
    reader r = {bytes + 2, bytes + n_bytes};
    uint32_t width, height, maximum;
    if (!read_number(&r, &width) || !read_number(&r, &height) || !read_number(&r, &maximum) || maximum == 0 || maximum > 65535)
        return message_fail(error, "the header is damaged");
    int lanes = bytes[1] == '3' || bytes[1] == '6' ? 3 : 1;
    bool plain = bytes[1] <= '3';
    uint32_t full = maximum > 255 ? 65535 : 255;
    if (!plain && r.at < r.end)
        r.at++;
    /* A plain sample takes a digit and, but for the last, a space. */
    uint64_t pixels = (uint64_t)width * height, n = pixels * (uint64_t)lanes, left = (uint64_t)(r.end - r.at);
    if (pixels > left + 1 || (plain ? n * 2 > left + 1 : n * (full > 255 ? 2 : 1) > left))
        return message_fail(error, "the file ends early");
    if (!picture_new_2d(picture, full > 255 ? HALO_KIND_U16 : HALO_KIND_U8, lanes, width, height, error))
        return false;
    if (!plain) {
        read_binary(r.at, picture, (size_t)n, maximum, full);
        return true;
    }
    if (read_plain(&r, picture, (size_t)n, maximum, full, error))
        return true;
    halo_picture_release(picture);
    return false;
}

bool encode_pnm(const halo_picture *picture, const halo_metadata *metadata, text *out, halo_message *error)
{
    (void)metadata, (void)error;
    bool wide = picture->kind == HALO_KIND_U16;
    text_printf(out, "P%c\n%d %d\n%d\n", picture->lanes == 3 ? '6' : '5', picture->image.extent[0], picture->image.extent[1],
                wide ? 65535 : 255);
    if (!wide) {
        text_add(out, picture->image.data, picture_bytes(picture));
        return true;
    }
    const uint16_t *v = picture->image.data;
    char big_endian[4096];
    size_t n = picture_bytes(picture) / 2, used = 0;
    for (size_t i = 0; i < n; i++) {
        big_endian[used++] = (char)(v[i] >> 8);
        big_endian[used++] = (char)(v[i] & 255);
        if (used == sizeof big_endian || i + 1 == n) {
            text_add(out, big_endian, used);
            used = 0;
        }
    }
    return true;
}

/* ---- PFM ------------------------------------------------------------------------------------- */

bool is_pfm(const uint8_t *bytes, size_t n_bytes)
{
    return n_bytes > 2 && bytes[0] == 'P' && (bytes[1] == 'F' || bytes[1] == 'f') && is_space(bytes[2]);
}

static float read_float(const uint8_t *at, bool big_endian)
{
    uint32_t word = big_endian ? (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3]
                               : (uint32_t)at[3] << 24 | (uint32_t)at[2] << 16 | (uint32_t)at[1] << 8 | at[0];
    float value;
    memcpy(&value, &word, sizeof value);
    return value;
}

/* The scale's sign is the byte order; its size is a unit that viewers ignore, and so do we. */
static bool read_scale(reader *r, bool *big_endian)
{
    skip_space(r);
    const uint8_t *start = r->at;
    while (r->at < r->end && !is_space(*r->at))
        r->at++;
    float scale;
    if (!parse_f32((const char *)start, (size_t)(r->at - start), &scale) || scale == 0)
        return false;
    *big_endian = scale > 0;
    return true;
}

bool decode_pfm(const uint8_t *bytes, size_t n_bytes, halo_picture *picture, halo_message *error)
{
    reader r = {bytes + 2, bytes + n_bytes};
    uint32_t width, height;
    bool big_endian;
    if (!read_number(&r, &width) || !read_number(&r, &height) || !read_scale(&r, &big_endian))
        return message_fail(error, "the header is damaged");
    if (r.at < r.end)
        r.at++;
    int lanes = bytes[1] == 'F' ? 3 : 1;
    uint64_t pixels = (uint64_t)width * height, left = (uint64_t)(r.end - r.at);
    if (pixels > left || pixels * (uint64_t)lanes * 4 > left)
        return message_fail(error, "the file ends early");
    if (!picture_new_2d(picture, HALO_KIND_F32, lanes, width, height, error))
        return false;
    size_t row = (size_t)width * (size_t)lanes;
    for (uint32_t y = 0; y < height; y++)
        for (size_t i = 0; i < row; i++)
            ((float *)picture->image.data)[(height - 1 - y) * row + i] = read_float(r.at + 4 * (y * row + i), big_endian);
    return true;
}

bool encode_pfm(const halo_picture *picture, const halo_metadata *metadata, text *out, halo_message *error)
{
    (void)metadata, (void)error;
    int32_t height = picture->image.extent[1];
    text_printf(out, "P%c\n%d %d\n-1.0\n", picture->lanes == 3 ? 'F' : 'f', picture->image.extent[0], height);
    for (int32_t y = height - 1; y >= 0; y--)
        text_add(out, (char *)picture->image.data + y * picture->image.stride[1], (size_t)picture->image.stride[1]);
    return true;
}
