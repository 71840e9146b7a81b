/* SPDX-License-Identifier: MIT
 * Radiance HDR (RGBE), read here because stb's reader never ends on some damaged files. Rows are plain, or have their four
 * components run-length coded one after the other. */
#include "runtime/image_io.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct reader { const uint8_t *at, *end; } reader;

bool is_hdr(const uint8_t *bytes, size_t n_bytes)
{
    return n_bytes >= 11 && (memcmp(bytes, "#?RADIANCE\n", 11) == 0 || memcmp(bytes, "#?RGBE\n", 7) == 0);
}

/* The next line without its end, cut to `room`; false at the end of the file. */
static bool read_line(reader *r, char *line, size_t room)
{
    const uint8_t *stop = memchr(r->at, '\n', (size_t)(r->end - r->at));
    if (!stop)
        return false;
    size_t n = (size_t)(stop - r->at) < room - 1 ? (size_t)(stop - r->at) : room - 1;
    memcpy(line, r->at, n);
    line[n] = '\0';
    r->at = stop + 1;
    return true;
}

static bool read_header(reader *r, int *width, int *height, halo_message *error)
{
    char line[128];
    for (;;) {
        if (!read_line(r, line, sizeof line))
            return message_fail(error, "the file ends early");
        if (!line[0])
            break;
        if (strncmp(line, "FORMAT=", 7) == 0 && strcmp(line, "FORMAT=32-bit_rle_rgbe") != 0)
            return message_fail(error, "its colours are not RGB (%s)", line);
    }
    if (!read_line(r, line, sizeof line))
        return message_fail(error, "the file ends early");
    if (sscanf(line, "-Y %d +X %d", height, width) != 2 || *width < 1 || *height < 1)
        return message_fail(error, "rows that don't run from left to right, top to bottom, are not read (%s)", line);
    return true;
}

/* Runs (above 128: that many times the next byte) and stretches of one component. */
static bool read_component(reader *r, uint8_t *to, int width)
{
    for (int x = 0; x < width;) {
        if (r->end - r->at < 2)
            return false;
        int count = *r->at++, is_run = count > 128;
        count -= is_run ? 128 : 0;
        if (count == 0 || count > width - x || (!is_run && count > r->end - r->at))
            return false;
        for (int i = 0; i < count; i++)
            to[4 * x++] = is_run ? r->at[0] : r->at[i];
        r->at += is_run ? 1 : count;
    }
    return true;
}

/* One row as RGBE: four bytes a pixel. */
static bool read_row(reader *r, uint8_t *row, int width)
{
    const uint8_t *c = r->at;
    bool coded = width >= 8 && width < 32768 && r->end - c >= 4 && c[0] == 2 && c[1] == 2 && c[2] < 128 && (c[2] << 8 | c[3]) == width;
    if (!coded) {
        if ((r->end - c) / 4 < width)
            return false;
        memcpy(row, c, (size_t)width * 4);
        r->at += (size_t)width * 4;
        return true;
    }
    r->at += 4;
    for (int k = 0; k < 4; k++)
        if (!read_component(r, row + k, width))
            return false;
    return true;
}

static void to_floats(const uint8_t *row, int width, float *out)
{
    for (int x = 0; x < width; x++, row += 4, out += 3) {
        float scale = row[3] ? ldexpf(1.0f, row[3] - 136) : 0.0f;
        for (int k = 0; k < 3; k++)
            out[k] = (float)row[k] * scale;
    }
}

bool decode_hdr(const uint8_t *bytes, size_t n_bytes, halo_picture *picture, halo_message *error)
{
    reader r = {bytes, bytes + n_bytes};
    int width, height;
    if (!read_header(&r, &width, &height, error))
        return false;
    /* A coded row takes a run of at most 127 pixels per two bytes and component. */
    if ((uint64_t)width * (uint64_t)height / 127 * 8 > (uint64_t)(r.end - r.at) + 16)
        return message_fail(error, "the file ends early");
    uint8_t *row = malloc((size_t)width * 4);
    if (!row)
        return message_fail(error, "out of memory");
    bool read = picture_new_2d(picture, HALO_KIND_F32, 3, (uint64_t)width, (uint64_t)height, error);
    for (int y = 0; read && y < height; y++) {
        if (!read_row(&r, row, width))
            read = message_fail(error, r.at == r.end ? "the file ends early" : "a row is damaged");
        else
            to_floats(row, width, (float *)((char *)picture->image.data + y * picture->image.stride[1]));
    }
    free(row);
    if (!read)
        halo_picture_release(picture);
    return read;
}
