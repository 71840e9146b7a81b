/* SPDX-License-Identifier: MIT
 * Picture files and raw arrays: reading, writing, and the conversions between them and what a pipe takes and gives.
 *
 *   halo_picture photo = {0}, source = {0};
 *   halo_message error;
 *   if (halo_picture_read("photo.png", &photo, &error) != HALO_OK) ...
 *   if (halo_picture_convert(&photo, HALO_KIND_F32, 3, 2, &source, NULL, &error) != HALO_OK) ...
 *   ... source.image is a halo_image, dense, of f32x3 ...
 *   halo_picture_release(&source);
 *   halo_picture_release(&photo);
 *
 * Thread-safety: no function keeps state; different pictures may be used from different threads.
 * Errors: every function returns HALO_OK or another value and says in `error` (which may be NULL) what was wrong. */
#ifndef HALO_PICTURE_H
#define HALO_PICTURE_H

#include "halo/types.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What a PNG carries beside its pixels: gamma, colour profile, texts. */
typedef struct halo_metadata halo_metadata;

/* A picture or array in memory that this library allocated. Start from {0}; release each one. */
typedef struct halo_picture {
    halo_image     image;       /* dense; image.data is owned by the picture */
    halo_kind      kind;
    int32_t        lanes;       /* components of a pixel, 1 to 4 */
    int32_t        rank;        /* dimensions of `image` */
    int            is_array;    /* numbers (.npy, .cube), never rescaled; else a picture, whose integers mean 0..full */
    halo_metadata *metadata;    /* owned; NULL: none */
} halo_picture;

/* Allocates a dense picture of zeros. HALO_ERROR_MEMORY or HALO_ERROR_SIZE when that can't be. */
int  halo_picture_new(halo_picture *picture, halo_kind kind, int32_t lanes, int32_t rank, const int32_t *extent);
/* Frees what the picture owns and makes it {0} again. */
void halo_picture_release(halo_picture *picture);

/* Reads PNG, JPEG (turned as its EXIF orientation says), BMP, TGA, HDR, PGM, PPM, PFM, .npy or .cube; the format is told by
 * the content, where it can't be (TGA, .cube) by the name. An array's last axis in the file is dimension 0; a .cube is
 * f32x3[N, N, N] with red as dimension 0. */
int halo_picture_read(const char *path, halo_picture *picture, halo_message *error);
/* The same for a file in memory; `name` is for messages and for the formats that are told by their name. */
int halo_picture_decode(const char *name, const void *bytes, size_t n_bytes, halo_picture *picture, halo_message *error);

/* A new picture as an input of `lanes` components of `kind` and `rank` dimensions takes it.
 * Pictures: integers to floats are scaled to 0..1, integers to integers rescaled with rounding (8 to 16 bit by 257), floats
 * to integers clamped to 0..1 and rounded half to even (NaN is 0); the same kind is left alone. Grey is repeated for three
 * components, three become luma for one, alpha is added full or dropped.
 * Arrays: only to a kind that holds every value of theirs; a last axis in the file of `lanes` becomes the components.
 * `note` says what was lost; its text is "" when nothing was. */
int halo_picture_convert(const halo_picture *from, halo_kind kind, int32_t lanes, int32_t rank, halo_picture *to,
                         halo_message *note, halo_message *error);

typedef struct halo_write_options {
    int32_t              depth;       /* bits that f32 and f16 get in an integer file: 8 or 16; 0 means 8 */
    const halo_metadata *metadata;    /* goes along into a PNG; NULL: none */
} halo_write_options;

/* Writes PNG, JPEG, PGM, PPM, PFM, HDR or .npy, by the name's ending; whole or not at all. `options` may be NULL. `note` says
 * what was lost. Floats in integer files are clamped to 0..1 and rounded half to even, NaN is 0; bool is 0 and full. */
int halo_picture_write(const char *path, const halo_picture *picture, const halo_write_options *options,
                       halo_message *note, halo_message *error);
/* The same into memory; the caller frees *bytes with halo_free. */
int halo_picture_encode(const char *name, const halo_picture *picture, const halo_write_options *options, void **bytes,
                        size_t *n_bytes, halo_message *note, halo_message *error);

/* Whether a file of this name can hold such values as they are or rounded to its depth (not: what has to become .npy). */
int halo_picture_can_write(const char *name, halo_kind kind, int32_t lanes, int32_t rank);
/* The endings, for messages: ".png .jpg ...". */
const char *halo_picture_readable(void);
const char *halo_picture_writable(void);

#ifdef __cplusplus
}
#endif
#endif
