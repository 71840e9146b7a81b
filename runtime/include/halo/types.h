/* SPDX-License-Identifier: MIT
 * What halo.h and picture.h share: component kinds, messages, and how names and files are handled. */
#ifndef HALO_TYPES_H
#define HALO_TYPES_H

#include "halo/abi.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The kind of one component of a pixel. In memory a bool is one byte, 0 or 1; f16 is IEEE half precision. */
typedef enum halo_kind {
    HALO_KIND_BOOL, HALO_KIND_U8, HALO_KIND_I8, HALO_KIND_U16, HALO_KIND_I16, HALO_KIND_U32, HALO_KIND_I32,
    HALO_KIND_F16, HALO_KIND_F32
} halo_kind;

const char *halo_kind_name(halo_kind kind);       /* "u8"; never NULL */
int32_t     halo_kind_bytes(halo_kind kind);      /* in memory */

enum { HALO_MAX_RANK = 5, HALO_MAX_LANES = 4, HALO_MESSAGE_BYTES = 2048 };

/* Where a function says what went wrong, or what a person should know. The caller owns it, so that saying it needs no
 * memory. Functions write it only when they have something to say; a message that is too long is cut. Any
 * `halo_message *` argument may be NULL. */
typedef struct halo_message { char text[HALO_MESSAGE_BYTES]; } halo_message;

/* The name in `names` nearest to `word`, or NULL when none is near: for "did you mean". */
const char *halo_nearest_name(const char *word, const char *const *names, size_t n_names);

/* Frees bytes or text that a function of this library gave away. NULL is fine. */
void halo_free(void *memory);

/* The whole file, with a NUL behind it (not counted). The caller frees it with halo_free. NULL: see the message. */
void *halo_read_file(const char *path, size_t *n_bytes, halo_message *error);

/* Writes a file whole or not at all: into a temporary file in the same folder that takes the name when all is written.
 * (What isn't a regular file, such as a pipe, is written directly.) Returns HALO_OK, or 1 and a message. */
int halo_write_file(const char *path, const void *bytes, size_t n_bytes, halo_message *error);

#ifdef __cplusplus
}
#endif
#endif
