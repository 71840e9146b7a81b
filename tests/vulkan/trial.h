/* SPDX-License-Identifier: MIT
 * One run of a pipe on a Vulkan device, under choices that must not change a bit, held against the interpreter. */
#ifndef HALO_TESTS_VULKAN_TRIAL_H
#define HALO_TESTS_VULKAN_TRIAL_H

#include "device.h"
#include "support_ir.h"

enum { TRIAL_MOST_PICTURES = 16, TRIAL_MOST_PARTS = 2, TRIAL_MOST_SLICES = 4 };

typedef struct trial {
    tensor_pipe   *pipe;                             /* through the passes, strict */
    uint64_t       seed;                             /* of choices and pictures */
    int32_t      (*extents)[TENSOR_MAX_RANK];        /* per input; 1 beyond the rank */
    const uint32_t (*params)[TENSOR_MAX_LANES];      /* NULL: the defaults */
} trial;

/* What a trial switches. Everything 0 is the plain way. */
typedef struct trial_choices {
    int no_fuse, force_border;
    int tile_width, tile_height;                     /* 0: by the device's limits */
    int least_limits;                                /* 128 invocations, 16 KiB, four buffers, offsets of 256 */
    int most_workgroups;
    int words;                                       /* no 8 and 16-bit storage */
    int strides;                                     /* gaps, negative strides, axes in any order */
    int layouts;                                     /* planar and bgra pictures */
    int parts;                                       /* 0: all; else random rectangles, recorded one after another */
    int slices;                                      /* submissions beside the first */
} trial_choices;

typedef enum trial_result { TRIAL_right, TRIAL_wrong, TRIAL_refused } trial_result;

trial_choices trial_choose(const trial *t);
/* `why`: what was wrong, or why the driver rightly refused. */
trial_result trial_run(test_device *d, const trial *t, const trial_choices *choices, text *why);
/* Those of a wrong trial's choices that it needs to be wrong. */
trial_choices trial_blame(test_device *d, const trial *t, const trial_choices *choices);
void trial_print_choices(const trial_choices *choices, text *out);

/* ---- pictures ------------------------------------------------------------------------------------------------ */

/* A picture or array somewhere in one buffer that all of a trial's pictures share. */
typedef struct placed_picture {
    type    t;
    int     rank, n_axes;                            /* n_axes: one more for planes */
    int     layout;                                  /* VPLAN_LAYOUT_ */
    bool    output;
    int32_t extent[TENSOR_MAX_RANK];
    int64_t base, stride[TENSOR_MAX_RANK];           /* bytes */
    int64_t first, end;                              /* bytes that it covers, whole words where they are written by words */
    bool    padded;                                  /* the rest of a row's last word may be overwritten */
    uint8_t *dense;                                  /* interleaved: what goes in, or has to come out */
} placed_picture;

static inline int64_t kind_bytes(type t) { return kind_get((kind)t.kind)->n_bytes; }
int64_t picture_pixels(const placed_picture *p);
/* Chooses layout, strides and place from *at on, which moves behind. */
void picture_place(placed_picture *p, random_source *r, const trial_choices *choices, int64_t *at);
void picture_fill(placed_picture *p, random_source *r);
/* The byte of a component of pixel number `pixel`, dimension 0 fastest. */
int64_t picture_byte(const placed_picture *p, int64_t pixel, int lane);
void picture_coordinates(const placed_picture *p, int64_t pixel, int32_t at[TENSOR_MAX_RANK]);

#endif
