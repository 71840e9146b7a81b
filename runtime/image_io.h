/* SPDX-License-Identifier: MIT
 * Picture files inside the runtime: one decoder and encoder per format, all on memory, listed in image_formats.def. They
 * give the reason when they fail; image_io.c puts the file's name before it. What a hostile file promises is compared with
 * its size before memory is taken for it. */
#ifndef HALO_RUNTIME_IMAGE_IO_H
#define HALO_RUNTIME_IMAGE_IO_H

#include "halo/picture.h"
#include "lang/base.h"
#include "runtime/message.h"

/* PNG chunks that go along; strings and profiles are owned. */
typedef struct metadata_text { char *key, *value, *language, *translated_key; int compression; } metadata_text;
struct halo_metadata {
    bool     has_gamma, has_srgb, has_chromaticities, has_resolution;
    int32_t  gamma;                     /* times 100000 */
    int      srgb_intent;
    int32_t  chromaticities[8];         /* white, red, green, blue; x and y times 100000 */
    uint32_t resolution[2];
    int      resolution_unit;
    char    *profile_name;
    uint8_t *profile;
    uint32_t n_profile_bytes;
    bool     profile_is_grey;
    metadata_text *texts;
    uint32_t       n_texts;
};
void metadata_free(halo_metadata *metadata);

/* Makes a rank-2 picture; false with the reason when it is empty, too large or memory is out. */
bool picture_new_2d(halo_picture *picture, halo_kind kind, int32_t lanes, uint64_t width, uint64_t height, halo_message *error);
size_t picture_bytes(const halo_picture *picture);

float    f32_of_f16(uint16_t bits);
uint16_t f16_of_f32(float value);

/* What a file holds is adapted to: the picture as `kind` and `lanes`, by the rules of halo_picture_write. */
bool picture_adapt(const halo_picture *from, halo_kind kind, int32_t lanes, halo_picture *to, halo_message *error);

bool is_png(const uint8_t *bytes, size_t n_bytes);
bool is_jpeg(const uint8_t *bytes, size_t n_bytes);
bool is_pnm(const uint8_t *bytes, size_t n_bytes);
bool is_pfm(const uint8_t *bytes, size_t n_bytes);
bool is_hdr(const uint8_t *bytes, size_t n_bytes);
bool is_npy(const uint8_t *bytes, size_t n_bytes);
bool is_bmp(const uint8_t *bytes, size_t n_bytes);

typedef bool picture_decoder(const uint8_t *bytes, size_t n_bytes, halo_picture *picture, halo_message *error);
picture_decoder decode_png, decode_jpeg, decode_8bit, decode_hdr, decode_pnm, decode_pfm, decode_npy, decode_cube;

/* The picture is of a kind and of lanes that the format's row allows. */
typedef bool picture_encoder(const halo_picture *picture, const halo_metadata *metadata, text *out, halo_message *error);
picture_encoder encode_png, encode_jpeg, encode_hdr, encode_pnm, encode_pfm, encode_npy;

/* The orientation (1 to 8) that a JPEG's EXIF block states; 1 when there is none or it is damaged. */
int  exif_orientation(const uint8_t *jpeg, size_t n_bytes);
/* Turns a rank-2 picture upright in place; false when memory is out. */
bool picture_orient(halo_picture *picture, int orientation);

#endif
