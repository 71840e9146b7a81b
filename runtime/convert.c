/* SPDX-License-Identifier: MIT
 * Conversions between what a file holds and what a pipe takes or gives: kinds (0..full, 0..1) and components (grey, alpha).
 * One row at a time goes through doubles, in which every 8, 16 and 32-bit value and every product of an f32 with a full
 * value of up to 24 bits is exact; so a value is rounded once. Same kind and same components are copied, never computed. */
#include "runtime/image_io.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

float f32_of_f16(uint16_t bits)
{
    uint32_t sign = (uint32_t)(bits & 0x8000u) << 16, exponent = (bits >> 10) & 31u, fraction = bits & 0x3FFu;
    float value;
    if (exponent == 0) {
        value = ldexpf((float)fraction, -24);
        return sign ? -value : value;
    }
    uint32_t word = exponent == 31 ? sign | 0x7F800000u | fraction << 13 : sign | (exponent + 112) << 23 | fraction << 13;
    memcpy(&value, &word, sizeof value);
    return value;
}

uint16_t f16_of_f32(float value)
{
    uint32_t word;
    memcpy(&word, &value, sizeof word);
    uint16_t sign = (uint16_t)(word >> 16 & 0x8000u);
    word &= 0x7FFFFFFFu;
    if (word > 0x7F800000u)
        return (uint16_t)(sign | 0x7E00u);
    if (word >= 0x47800000u)                                      /* 65536 and above; what rounds up to it follows below */
        return (uint16_t)(sign | 0x7C00u);
    if (word < 0x38800000u) {                                     /* below 2^-14: a multiple of 2^-24 */
        float magnitude;
        memcpy(&magnitude, &word, sizeof magnitude);
        return (uint16_t)(sign | (uint16_t)lrintf(ldexpf(magnitude, 24)));
    }
    uint32_t kept = word - 0x38000000u, rest = kept & 0x1FFFu;
    kept >>= 13;
    return (uint16_t)(sign | (kept + (rest > 0x1000u || (rest == 0x1000u && (kept & 1u)))));
}

/* The value that means 1.0 in a picture. */
static double full_value(halo_kind kind)
{
    static const double full[] = {1, 255, 127, 65535, 32767, 4294967295.0, 2147483647.0, 1, 1};
    return full[kind];
}

static bool is_float(halo_kind kind) { return kind == HALO_KIND_F16 || kind == HALO_KIND_F32; }

#define EACH(type, expression)                                                                \
    do {                                                                                      \
        const type *v = memory;                                                               \
        for (size_t i = 0; i < n; i++)                                                        \
            row[i] = (expression);                                                            \
    } while (0)

static void load_row(const void *memory, halo_kind kind, size_t n, double *row)
{
    switch (kind) {
    case HALO_KIND_BOOL: EACH(uint8_t, v[i] != 0); break;
    case HALO_KIND_U8:   EACH(uint8_t, v[i]); break;
    case HALO_KIND_I8:   EACH(int8_t, v[i]); break;
    case HALO_KIND_U16:  EACH(uint16_t, v[i]); break;
    case HALO_KIND_I16:  EACH(int16_t, v[i]); break;
    case HALO_KIND_U32:  EACH(uint32_t, v[i]); break;
    case HALO_KIND_I32:  EACH(int32_t, v[i]); break;
    case HALO_KIND_F16:  EACH(uint16_t, (double)f32_of_f16(v[i])); break;
    case HALO_KIND_F32:  EACH(float, (double)v[i]); break;
    }
}
#undef EACH

#define EACH(type, expression)                                                                \
    do {                                                                                      \
        type *v = memory;                                                                     \
        for (size_t i = 0; i < n; i++)                                                        \
            v[i] = (type)(expression);                                                        \
    } while (0)

static void store_row(const double *row, halo_kind kind, size_t n, void *memory)
{
    switch (kind) {
    case HALO_KIND_BOOL: EACH(uint8_t, row[i] != 0); break;
    case HALO_KIND_U8:   EACH(uint8_t, row[i]); break;
    case HALO_KIND_I8:   EACH(int8_t, row[i]); break;
    case HALO_KIND_U16:  EACH(uint16_t, row[i]); break;
    case HALO_KIND_I16:  EACH(int16_t, row[i]); break;
    case HALO_KIND_U32:  EACH(uint32_t, row[i]); break;
    case HALO_KIND_I32:  EACH(int32_t, row[i]); break;
    case HALO_KIND_F16:  EACH(uint16_t, f16_of_f32((float)row[i])); break;
    case HALO_KIND_F32:  EACH(float, row[i]); break;
    }
}
#undef EACH

/* From 0..full of one kind to 0..full of another; what becomes an integer is clamped, NaN is 0. */
static void rescale(double *row, size_t n, halo_kind from, halo_kind to)
{
    double up = full_value(to), down = full_value(from);
    if (is_float(to)) {
        if (!is_float(from))
            for (size_t i = 0; i < n; i++)
                row[i] /= down;
        return;
    }
    for (size_t i = 0; i < n; i++) {
        double v = row[i];
        row[i] = !(v > 0) ? 0 : v >= down ? up : nearbyint(v * up / down);
    }
}

/* Components of one row. A lost alpha and a lost colour are noted by the caller. */
static void mix_lanes(const double *from, int n_from, double *to, int n_to, size_t width, double full)
{
    int colours = n_from == 2 || n_from == 4 ? n_from - 1 : n_from;
    int wanted = n_to == 2 || n_to == 4 ? n_to - 1 : n_to;
    for (size_t x = 0; x < width; x++, from += n_from, to += n_to) {
        if (colours == wanted)
            for (int k = 0; k < wanted; k++)
                to[k] = from[k];
        else if (colours == 1)
            to[0] = to[1] = to[2] = from[0];
        else
            to[0] = 0.2126 * from[0] + 0.7152 * from[1] + 0.0722 * from[2];
        if (wanted < n_to)
            to[wanted] = colours < n_from ? from[colours] : full;
    }
}

static bool convert_rows(const halo_picture *from, halo_picture *to, halo_message *error)
{
    size_t width = (size_t)from->image.extent[0];
    double *row = malloc(width * HALO_MAX_LANES * 2 * sizeof *row);
    if (!row)
        return message_fail(error, "out of memory");
    double *mixed = row + width * HALO_MAX_LANES;
    for (int32_t y = 0; y < from->image.extent[1]; y++) {
        load_row((char *)from->image.data + y * from->image.stride[1], from->kind, width * (size_t)from->lanes, row);
        const double *result = row;
        if (from->lanes != to->lanes) {
            mix_lanes(row, from->lanes, mixed, to->lanes, width, full_value(from->kind));
            result = mixed;
        }
        if (from->kind != to->kind)
            rescale((double *)result, width * (size_t)to->lanes, from->kind, to->kind);
        else if (from->lanes >= 3 && to->lanes <= 2 && !is_float(to->kind))      /* luma has a fraction */
            for (size_t i = 0; i < width * (size_t)to->lanes; i++)
                mixed[i] = nearbyint(mixed[i]);
        store_row(result, to->kind, width * (size_t)to->lanes, (char *)to->image.data + y * to->image.stride[1]);
    }
    free(row);
    return true;
}

bool picture_adapt(const halo_picture *from, halo_kind kind, int32_t lanes, halo_picture *to, halo_message *error)
{
    if (!picture_new_2d(to, kind, lanes, (uint64_t)from->image.extent[0], (uint64_t)from->image.extent[1], error))
        return false;
    if (kind == from->kind && lanes == from->lanes)
        memcpy(to->image.data, from->image.data, picture_bytes(from));
    else if (!convert_rows(from, to, error)) {
        halo_picture_release(to);
        return false;
    }
    return true;
}

/* ---- arrays ---------------------------------------------------------------------------------- */

/* Every value of `from` is one of `to`. */
static bool kind_holds(halo_kind to, halo_kind from)
{
    enum { B = 1 << HALO_KIND_BOOL, U8 = 1 << HALO_KIND_U8, I8 = 1 << HALO_KIND_I8, U16 = 1 << HALO_KIND_U16,
           I16 = 1 << HALO_KIND_I16, F16 = 1 << HALO_KIND_F16 };
    static const int held[] = {[HALO_KIND_U8] = B, [HALO_KIND_I8] = B, [HALO_KIND_U16] = B | U8, [HALO_KIND_I16] = B | U8 | I8,
                               [HALO_KIND_U32] = B | U8 | U16, [HALO_KIND_I32] = B | U8 | I8 | U16 | I16,
                               [HALO_KIND_F16] = B | U8 | I8, [HALO_KIND_F32] = B | U8 | I8 | U16 | I16 | F16};
    return to == from || (held[to] >> from & 1);
}

static void describe_extents(const halo_picture *p, char *out, size_t room)
{
    size_t used = 0;
    out[0] = '\0';
    for (int32_t d = 0; d < p->rank && used < room; d++)
        used += (size_t)snprintf(out + used, room - used, d ? " x %d" : "%d", p->image.extent[d]);
}

static bool convert_array(const halo_picture *from, halo_kind kind, int32_t lanes, int32_t rank, halo_picture *to,
                          halo_message *error)
{
    /* The last axis in the file is dimension 0: of a pixel's type it is the components. */
    bool has_axis = from->lanes == 1 && from->rank == rank + 1 && from->image.extent[0] == lanes;
    if (!has_axis && !(from->lanes == lanes && from->rank == rank)) {
        char shape[80];
        describe_extents(from, shape, sizeof shape);
        return message_fail(error, "the array is %s of %s%s%.0d, which is no %d-dimensional array of %d component%s", shape,
                            halo_kind_name(from->kind), from->lanes > 1 ? "x" : "", from->lanes > 1 ? from->lanes : 0, rank,
                            lanes, lanes > 1 ? "s" : "");
    }
    if (!kind_holds(kind, from->kind))
        return message_fail(error, "the array holds %s, which %s cannot hold exactly: convert it in the file",
                            halo_kind_name(from->kind), halo_kind_name(kind));
    const int32_t *extent = from->image.extent + has_axis;
    int made = halo_picture_new(to, kind, lanes, rank, extent);
    double *row = made == HALO_OK ? malloc(4096 * sizeof *row) : NULL;
    if (!row) {
        if (made == HALO_OK)
            halo_picture_release(to);
        return message_fail(error, made == HALO_ERROR_SIZE ? "the array is empty" : "out of memory");
    }
    size_t n = picture_bytes(to) / (size_t)halo_kind_bytes(kind), n_from = (size_t)halo_kind_bytes(from->kind);
    if (kind == from->kind)
        memcpy(to->image.data, from->image.data, picture_bytes(to));
    else
        for (size_t i = 0; i < n; i += 4096) {
            size_t count = n - i < 4096 ? n - i : 4096;
            load_row((char *)from->image.data + i * n_from, from->kind, count, row);
            store_row(row, kind, count, (char *)to->image.data + i * (size_t)halo_kind_bytes(kind));
        }
    free(row);
    to->is_array = 1;
    return true;
}

int halo_picture_convert(const halo_picture *from, halo_kind kind, int32_t lanes, int32_t rank, halo_picture *to,
                         halo_message *note, halo_message *error)
{
    message_clear(note);
    if (from->is_array)
        return convert_array(from, kind, lanes, rank, to, error) ? HALO_OK : 1;
    if (rank != 2) {
        message_fail(error, "a picture has two dimensions, and this input %d: give a .npy or .cube file", rank);
        return 1;
    }
    if (lanes == 2 && from->lanes != 2) {
        message_fail(error, "a picture of %d component%s has no meaning for an input of 2: give a .npy file", from->lanes,
                     from->lanes > 1 ? "s" : "");
        return 1;
    }
    bool has_alpha = from->lanes == 2 || from->lanes == 4, takes_alpha = lanes == 2 || lanes == 4;
    if (!picture_adapt(from, kind, lanes, to, error))
        return 1;
    if (from->lanes >= 3 && lanes <= 2)
        message_add(note, "colour became luma");
    if (has_alpha && !takes_alpha)
        message_add(note, "alpha was dropped");
    return HALO_OK;
}
