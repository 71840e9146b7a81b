/* SPDX-License-Identifier: MIT
 * The one EXIF tag that changes what a JPEG shows: its orientation. Everything read is checked against the block's end. */
#include "runtime/image_io.h"

#include <string.h>

enum { MARKER_APP1 = 0xE1, MARKER_START_OF_SCAN = 0xDA, MARKER_END = 0xD9, TAG_ORIENTATION = 0x0112, TYPE_SHORT = 3 };

typedef struct block { const uint8_t *bytes; size_t n_bytes; bool big_endian; } block;

static bool read_u16(const block *b, size_t at, uint32_t *value)
{
    if (b->n_bytes < 2 || at > b->n_bytes - 2)
        return false;
    const uint8_t *p = b->bytes + at;
    *value = b->big_endian ? (uint32_t)p[0] << 8 | p[1] : (uint32_t)p[1] << 8 | p[0];
    return true;
}

static bool read_u32(const block *b, size_t at, uint32_t *value)
{
    uint32_t first, second;
    if (!read_u16(b, at, &first) || !read_u16(b, at + 2, &second))
        return false;
    *value = b->big_endian ? first << 16 | second : second << 16 | first;
    return true;
}

/* A TIFF header, then a directory of 12-byte entries: tag, type, count, value. */
static int tiff_orientation(block b)
{
    if (b.n_bytes < 8 || (memcmp(b.bytes, "II*\0", 4) != 0 && memcmp(b.bytes, "MM\0*", 4) != 0))
        return 1;
    b.big_endian = b.bytes[0] == 'M';
    uint32_t directory, n_entries, tag, type, value;
    if (!read_u32(&b, 4, &directory) || !read_u16(&b, directory, &n_entries))
        return 1;
    for (uint32_t i = 0; i < n_entries; i++) {
        size_t at = (size_t)directory + 2 + 12 * (size_t)i;
        if (!read_u16(&b, at, &tag) || !read_u16(&b, at + 2, &type) || !read_u16(&b, at + 8, &value))
            return 1;
        if (tag == TAG_ORIENTATION)
            return type == TYPE_SHORT && value >= 1 && value <= 8 ? (int)value : 1;
    }
    return 1;
}

int exif_orientation(const uint8_t *jpeg, size_t n_bytes)
{
    size_t at = 2;
    while (at + 4 <= n_bytes && jpeg[at] == 0xFF) {
        uint8_t marker = jpeg[at + 1];
        if (marker == 0xFF) {                                       /* fill bytes may stand before a marker */
            at++;
            continue;
        }
        size_t length = (size_t)jpeg[at + 2] << 8 | jpeg[at + 3];
        if (marker == MARKER_START_OF_SCAN || marker == MARKER_END || length < 2 || length > n_bytes - at - 2)
            return 1;
        const uint8_t *content = jpeg + at + 4;
        if (marker == MARKER_APP1 && length >= 8 && memcmp(content, "Exif\0\0", 6) == 0)
            return tiff_orientation((block){content + 6, length - 8, false});
        at += 2 + length;
    }
    return 1;
}
