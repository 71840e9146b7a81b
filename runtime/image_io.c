/* SPDX-License-Identifier: MIT
 * Picture files: which format, what it can hold, and the file's name in front of every message. Formats are rows of
 * image_formats.def. */
#include "runtime/image_io.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { ONE = 1, TWO = 2, THREE = 4, FOUR = 8 };
enum { IN_u8 = 1 << HALO_KIND_U8, IN_u16 = 1 << HALO_KIND_U16, IN_f32 = 1 << HALO_KIND_F32, IN_any = 0xFFFF };

typedef struct picture_format {
    const char *name, *endings;
    bool (*starts)(const uint8_t *bytes, size_t n_bytes);
    picture_decoder *decode;
    picture_encoder *encode;
    int kinds, lanes;
} picture_format;

static bool by_name(const uint8_t *bytes, size_t n_bytes)
{
    (void)bytes, (void)n_bytes;
    return false;
}

static const picture_format formats[] = {
#define FORMAT(name, endings, starts, decode, encode, kinds, lanes) {#name, endings, starts, decode, encode, kinds, lanes},
#include "runtime/image_formats.def"
#undef FORMAT
};
enum { N_FORMATS = sizeof formats / sizeof *formats };

const char *halo_picture_readable(void)
{
    return (""
#define FORMAT(name, endings, starts, decode, encode, kinds, lanes) " " endings
#include "runtime/image_formats.def"
#undef FORMAT
            ) + 1;
}

const char *halo_picture_writable(void) { return ".png .jpg .jpeg .pgm .ppm .pnm .pfm .hdr .npy"; }

static const picture_format *format_of_name(const char *name)
{
    const char *slash = strrchr(name, '/'), *dot = strrchr(slash ? slash : name, '.');
    if (!dot)
        return NULL;
    size_t n = strlen(dot);
    for (int i = 0; i < N_FORMATS; i++)
        for (const char *at = formats[i].endings; *at; at += strspn(at, " ")) {
            size_t n_ending = strcspn(at, " ");
            if (n_ending == n && strncasecmp(at, dot, n) == 0)
                return &formats[i];
            at += n_ending;
        }
    return NULL;
}

/* ---- reading --------------------------------------------------------------------------------- */

int halo_picture_decode(const char *name, const void *bytes, size_t n_bytes, halo_picture *picture, halo_message *error)
{
    *picture = (halo_picture){0};
    const picture_format *format = NULL;
    for (int i = 0; i < N_FORMATS && !format; i++)
        if (formats[i].starts(bytes, n_bytes))
            format = &formats[i];
    const picture_format *named = format_of_name(name);
    if (!format && named && named->starts == by_name)
        format = named;
    halo_message reason;
    message_clear(&reason);
    if (n_bytes == 0)
        message_fail(&reason, "the file is empty");
    else if (!format && named)
        message_fail(&reason, "this is no %s file", named->name);
    else if (!format)
        message_fail(&reason, "this is no picture that halo reads (%s)", halo_picture_readable());
    else if (format->decode(bytes, n_bytes, picture, &reason))
        return HALO_OK;
    message_fail(error, "%s: %s", name, reason.text);
    return 1;
}

int halo_picture_read(const char *path, halo_picture *picture, halo_message *error)
{
    *picture = (halo_picture){0};
    size_t n_bytes;
    void *bytes = halo_read_file(path, &n_bytes, error);
    if (!bytes)
        return 1;
    int result = halo_picture_decode(path, bytes, n_bytes, picture, error);
    free(bytes);
    return result;
}

/* ---- writing --------------------------------------------------------------------------------- */

/* The kind that the file gets, or false: no file of this format holds such numbers. */
static bool choose_kind(const picture_format *f, halo_kind kind, int32_t depth, halo_kind *chosen)
{
    bool wide = kind == HALO_KIND_U16, real = kind == HALO_KIND_F32 || kind == HALO_KIND_F16;
    if (f->kinds >> kind & 1)
        *chosen = kind;
    else if (!real && !wide && kind != HALO_KIND_U8 && kind != HALO_KIND_BOOL)
        return false;
    else if (f->kinds & IN_f32)
        *chosen = HALO_KIND_F32;
    else
        *chosen = (f->kinds & IN_u16) && (wide || (real && depth == 16)) ? HALO_KIND_U16 : HALO_KIND_U8;
    return true;
}

static bool choose_lanes(const picture_format *f, int32_t lanes, int32_t *chosen)
{
    int32_t without_alpha = lanes == 2 || lanes == 4 ? lanes - 1 : lanes;
    int32_t candidates[] = {lanes, without_alpha, without_alpha == 1 ? 3 : without_alpha};
    for (int i = 0; i < 3; i++)
        if (f->lanes >> (candidates[i] - 1) & 1) {
            *chosen = candidates[i];
            return true;
        }
    return false;
}

int halo_picture_can_write(const char *name, halo_kind kind, int32_t lanes, int32_t rank)
{
    const picture_format *f = format_of_name(name);
    halo_kind as_kind;
    int32_t as_lanes;
    return f && f->encode && (f->kinds == IN_any || (rank == 2 && choose_kind(f, kind, 8, &as_kind) && choose_lanes(f, lanes, &as_lanes)));
}

static bool encode(const picture_format *f, const halo_picture *p, const halo_write_options *options, text *out,
                   halo_message *note, halo_message *error)
{
    halo_kind kind;
    int32_t lanes;
    if (p->rank != 2 && f->kinds != IN_any)
        return message_fail(error, "a picture has two dimensions and this array %d: write a .npy file", p->rank);
    if (!choose_kind(f, p->kind, options ? options->depth : 0, &kind))
        return message_fail(error, "%s values don't fit into a picture: write a .npy file", halo_kind_name(p->kind));
    if (!choose_lanes(f, p->lanes, &lanes))
        return message_fail(error, "a %s file can't hold %d components a pixel", f->name, p->lanes);
    if (lanes < p->lanes)
        message_add(note, "alpha was dropped");
    if (kind == HALO_KIND_U8 && p->kind == HALO_KIND_U16)
        message_add(note, "16 bit became 8");
    const halo_metadata *metadata = options ? options->metadata : NULL;
    if (kind == p->kind && lanes == p->lanes)
        return f->encode(p, metadata, out, error);
    halo_picture adapted = {0};
    bool done = picture_adapt(p, kind, lanes, &adapted, error) && f->encode(&adapted, metadata, out, error);
    halo_picture_release(&adapted);
    return done;
}

int halo_picture_encode(const char *name, const halo_picture *picture, const halo_write_options *options, void **bytes,
                        size_t *n_bytes, halo_message *note, halo_message *error)
{
    message_clear(note);
    halo_message reason;
    message_clear(&reason);
    text out = {0};
    const picture_format *format = format_of_name(name);
    bool done = false;
    if (!format || !format->encode)
        message_fail(&reason, "the name has to end in one of %s", halo_picture_writable());
    else
        done = encode(format, picture, options, &out, note, &reason);
    if (done && out.failed)
        done = message_fail(&reason, "out of memory");
    if (done) {
        *n_bytes = out.count;
        *bytes = text_take(&out);
        return HALO_OK;
    }
    text_free(&out);
    message_fail(error, "%s: %s", name, reason.text);
    return 1;
}

int halo_picture_write(const char *path, const halo_picture *picture, const halo_write_options *options,
                       halo_message *note, halo_message *error)
{
    void *bytes;
    size_t n_bytes;
    int result = halo_picture_encode(path, picture, options, &bytes, &n_bytes, note, error);
    if (result != HALO_OK)
        return result;
    result = halo_write_file(path, bytes, n_bytes, error);
    free(bytes);
    return result;
}
