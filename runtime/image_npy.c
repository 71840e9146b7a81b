/* SPDX-License-Identifier: MIT
 * NumPy's .npy: a header that is a Python dictionary, then the numbers. The file's axes are reversed, so that its last and
 * fastest (in C order) is dimension 0. Fortran order is turned around; big-endian numbers are swapped; f64 becomes f32 and
 * i64 becomes i32 where it fits, since these are NumPy's own defaults. */
#include "runtime/image_io.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_AXES = HALO_MAX_RANK + 1 };

typedef struct npy {
    char     type;                   /* b i u f */
    uint32_t n_item_bytes;
    bool     big_endian, fortran;
    uint32_t n_axes;
    uint64_t axes[MAX_AXES];         /* as in the file */
    const uint8_t *data;
    size_t   n_data_bytes;
} npy;

bool is_npy(const uint8_t *bytes, size_t n_bytes)
{
    return n_bytes >= 10 && memcmp(bytes, "\x93NUMPY", 6) == 0;
}

/* What stands behind 'key': in the header, or NULL. */
static const char *find_value(const char *header, const char *key)
{
    const char *at = strstr(header, key);
    if (!at)
        return NULL;
    at += strlen(key);
    while (*at == ' ' || *at == ':')
        at++;
    return at;
}

static bool read_descr(const char *header, npy *n, halo_message *error)
{
    const char *descr = find_value(header, "'descr'");
    char order;
    if (!descr || sscanf(descr, "'%c%c%u'", &order, &n->type, &n->n_item_bytes) != 3 || !strchr("<>|=", order))
        return message_fail(error, "the array's type is none that halo reads (structures are not)");
    n->big_endian = order == '>';
    static const char known[] = "b1 i1 i2 i4 i8 u1 u2 u4 f2 f4 f8 ";
    char wanted[16];
    snprintf(wanted, sizeof wanted, "%c%u ", n->type, n->n_item_bytes);
    if (!strstr(known, wanted))
        return message_fail(error, "arrays of type %c%u are not read: use bool, u1 i1 u2 i2 u4 i4 f2 or f4", n->type,
                            n->n_item_bytes);
    return true;
}

static bool read_shape(const char *header, npy *n, halo_message *error)
{
    const char *at = find_value(header, "'shape'");
    if (!at || *at++ != '(')
        return message_fail(error, "the header is damaged");
    for (;;) {
        while (*at == ' ' || *at == ',')
            at++;
        if (*at == ')')
            return true;
        char *end;
        unsigned long long size = *at >= '0' && *at <= '9' ? strtoull(at, &end, 10) : 0;
        if (!(*at >= '0' && *at <= '9') || size > INT32_MAX)
            return message_fail(error, "the header is damaged");
        if (n->n_axes == MAX_AXES)
            return message_fail(error, "the array has more than %d axes", MAX_AXES);
        if (size == 0)
            return message_fail(error, "the array is empty");
        n->axes[n->n_axes++] = size;
        at = *end == 'L' ? end + 1 : end;
    }
}

static bool read_header(const uint8_t *bytes, size_t n_bytes, npy *n, halo_message *error)
{
    size_t start = bytes[6] == 1 ? 10 : 12;
    size_t length = bytes[8] | (size_t)bytes[9] << 8;
    if (start == 12)
        length |= n_bytes >= 12 ? (size_t)bytes[10] << 16 | (size_t)bytes[11] << 24 : 0;
    if (start > n_bytes || length > n_bytes - start || length > 1 << 20)
        return message_fail(error, "the file ends early");
    char *header = malloc(length + 1);
    if (!header)
        return message_fail(error, "out of memory");
    memcpy(header, bytes + start, length);
    header[length] = '\0';
    const char *fortran = find_value(header, "'fortran_order'");
    bool sound = read_descr(header, n, error) && read_shape(header, n, error);
    n->fortran = fortran && strncmp(fortran, "True", 4) == 0;
    free(header);
    n->data = bytes + start + length;
    n->n_data_bytes = n_bytes - start - length;
    return sound;
}

static uint64_t read_item(const npy *n, const uint8_t *at)
{
    uint64_t word = 0;
    for (uint32_t i = 0; i < n->n_item_bytes; i++)
        word |= (uint64_t)at[n->big_endian ? n->n_item_bytes - 1 - i : i] << (8 * i);
    return word;
}

static halo_kind kind_of(const npy *n)
{
    if (n->type == 'b')
        return HALO_KIND_BOOL;
    if (n->type == 'f')
        return n->n_item_bytes == 2 ? HALO_KIND_F16 : HALO_KIND_F32;
    int size = n->n_item_bytes == 1 ? 0 : n->n_item_bytes == 2 ? 1 : 2;
    static const halo_kind kinds[2][3] = {{HALO_KIND_U8, HALO_KIND_U16, HALO_KIND_U32},
                                          {HALO_KIND_I8, HALO_KIND_I16, HALO_KIND_I32}};
    return kinds[n->type == 'i'][size];
}

/* One item of the file to one of the picture; false when it doesn't fit. */
static bool store_item(const npy *n, const uint8_t *from, uint8_t *to)
{
    uint64_t word = read_item(n, from);
    if (n->type == 'b')
        *to = word != 0;
    else if (n->n_item_bytes < 8)
        memcpy(to, &word, n->n_item_bytes);              /* the low bytes: this machine is little-endian */
    else if (n->type == 'f') {
        double wide;
        memcpy(&wide, &word, sizeof wide);
        float value = (float)wide;
        memcpy(to, &value, sizeof value);
    } else {
        int64_t wide = (int64_t)word;
        int32_t value = (int32_t)wide;
        memcpy(to, &value, sizeof value);
        return value == wide;
    }
    return true;
}

/* Walks the picture in its memory order (dimension 0 fastest) and picks each item where the file has it. */
static bool copy_items(const npy *n, halo_picture *p, size_t count, halo_message *error)
{
    uint64_t position[MAX_AXES] = {0}, step[MAX_AXES];             /* by dimension: axis n_axes - 1 - d */
    uint64_t items = 1;
    for (uint32_t k = 0; k < n->n_axes; k++) {
        uint32_t axis = n->fortran ? k : n->n_axes - 1 - k;
        step[n->n_axes - 1 - axis] = items;
        items *= n->axes[axis];
    }
    uint8_t *to = p->image.data;
    size_t n_bytes = (size_t)halo_kind_bytes(p->kind);
    uint64_t at = 0;
    for (size_t i = 0; i < count; i++, to += n_bytes) {
        if (!store_item(n, n->data + at * n->n_item_bytes, to))
            return message_fail(error, "a number is too large for i32");
        for (uint32_t d = 0; d < n->n_axes; d++) {
            at += step[d];
            if (++position[d] < n->axes[n->n_axes - 1 - d])
                break;
            at -= step[d] * position[d];
            position[d] = 0;
        }
    }
    return true;
}

bool decode_npy(const uint8_t *bytes, size_t n_bytes, halo_picture *picture, halo_message *error)
{
    npy n = {0};
    if (!read_header(bytes, n_bytes, &n, error))
        return false;
    uint64_t items = 1;
    for (uint32_t k = 0; k < n.n_axes; k++) {
        items *= n.axes[k];
        if (items > n.n_data_bytes / n.n_item_bytes)
            return message_fail(error, "the file ends early");
    }
    int32_t extent[MAX_AXES] = {1};
    for (uint32_t d = 0; d < n.n_axes; d++)
        extent[d] = (int32_t)n.axes[n.n_axes - 1 - d];
    int32_t lanes = 1, rank = (int32_t)n.n_axes;
    if (n.n_axes == MAX_AXES) {                                      /* only pixels have so many */
        if (extent[0] > HALO_MAX_LANES)
            return message_fail(error, "the array has more than %d axes", HALO_MAX_RANK);
        lanes = extent[0];
        rank--;
    }
    int made = halo_picture_new(picture, kind_of(&n), lanes, rank, extent + (lanes > 1 || n.n_axes == MAX_AXES));
    if (made != HALO_OK)
        return message_fail(error, "out of memory");
    picture->is_array = 1;
    if (copy_items(&n, picture, (size_t)items, error))
        return true;
    halo_picture_release(picture);
    return false;
}

bool encode_npy(const halo_picture *picture, const halo_metadata *metadata, text *out, halo_message *error)
{
    (void)metadata, (void)error;
    static const char *const types[] = {"|b1", "|u1", "|i1", "<u2", "<i2", "<u4", "<i4", "<f2", "<f4"};
    text header = {0};
    text_printf(&header, "{'descr': '%s', 'fortran_order': False, 'shape': (", types[picture->kind]);
    for (int32_t d = picture->rank - 1; d >= 0; d--)
        text_printf(&header, d + (picture->lanes > 1) > 0 ? "%d, " : "%d", picture->image.extent[d]);
    if (picture->lanes > 1)
        text_printf(&header, "%d", picture->lanes);
    else if (picture->rank == 1)
        text_string(&header, ",");
    text_string(&header, "), }");
    while ((10 + header.count + 1) % 64 != 0 && !header.failed)
        text_string(&header, " ");
    text_string(&header, "\n");
    const char start[] = {'\x93', 'N', 'U', 'M', 'P', 'Y', 1, 0, (char)(header.count & 255), (char)(header.count >> 8)};
    text_add(out, start, sizeof start);
    text_add(out, header.bytes, header.count);
    text_add(out, picture->image.data, picture_bytes(picture));
    out->failed = out->failed || header.failed;
    text_free(&header);
    return true;
}
