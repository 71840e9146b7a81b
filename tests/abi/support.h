/* SPDX-License-Identifier: MIT
 * Hosts for generated libraries: pictures that lie against unmapped memory, a table of all pipes under test (generated from
 * `halo info`, so that no test knows a pipe by name), and the interpreter's results to compare with. */
#ifndef HALO_TESTS_ABI_SUPPORT_H
#define HALO_TESTS_ABI_SUPPORT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "halo/abi.h"

enum { MOST_IMAGES = 6, MOST_FILTERS = 80, POISON = 0xA5 };

/* ---- pipes ------------------------------------------------------------------------------------- */

typedef enum layout { LAYOUT_interleaved, LAYOUT_planar, LAYOUT_bgra } layout;

typedef struct image_type {
    layout      layout;
    const char *name, *kind;
    int32_t     bytes, lanes, rank;      /* of a component; components a pixel; dimensions */
    const char *extents[5];              /* "_", a letter or a number, as declared */
} image_type;

typedef const halo_image *const *images;

typedef struct filter {
    const char *name, *script;           /* path of the script it comes from */
    int         n_inputs, n_outputs, n_dispatches;
    image_type  inputs[MOST_IMAGES], outputs[MOST_IMAGES];
    const void *defaults;                /* the parameters' struct; NULL when there are none */
    const char *in_place;                /* the input whose memory the output may be, as the header says; NULL: none */
    int (*run)(images in, const void *params, images out, const halo_part *part, const halo_exec *exec);
    int (*size)(images in, const void *params, halo_image *const *out);
    int (*needs)(images in, const void *params, const halo_part *part, halo_part *const *needs);
    const char *(*error)(int code);
} filter;

extern const filter FILTERS[];
extern const size_t N_FILTERS;
extern const bool FILTERS_ARE_STRICT;    /* built with --strict, for a processor without FMA */

const filter *find_filter(const char *name);

/* ---- pictures ---------------------------------------------------------------------------------- */

/* Where a picture lies in its mapping, whose first and last page are unmapped. */
typedef enum placement {
    PLACE_ends,          /* dense rows; the last byte is the last before an unmapped page */
    PLACE_begins,        /* dense rows; the first byte is the first behind an unmapped page */
    PLACE_rows_end,      /* every row ends at an unmapped page */
    PLACE_rows_begin,    /* every row begins behind an unmapped page */
    PLACE_wide_ends,     /* rows apart, the last one ending at an unmapped page */
    PLACE_upward,        /* negative row stride, the last row in memory ending at an unmapped page */
    PLACE_COUNT
} placement;

typedef struct picture {
    halo_image     image;
    image_type     type;
    unsigned char *map;                  /* everything, unmapped pages included */
    size_t         map_bytes;
    unsigned char *inside;               /* per byte of the map: 0 unmapped, 1 outside of the extents, 2 inside */
} picture;

/* Poisoned. Extents beyond the type's rank are 1. */
picture picture_new(const image_type *type, const int32_t *extent, placement where);
void    picture_free(picture *p);
void    picture_fill(picture *p, uint32_t seed);            /* noise; f32 and f16 between -1 and 3 */
void    picture_poison(picture *p);
bool    picture_outside_is_poison(const picture *p);
void    picture_copy(picture *to, const picture *from);     /* pixels */
/* Bit for bit, any NaN like any other. Says the first difference on stdout. */
bool    picture_equal(const picture *a, const picture *b);
bool    picture_equal_in(const picture *a, const picture *b, const halo_part *part);
unsigned char *component_at(const picture *p, const int32_t *at, int lane);
int     memory_rank(const image_type *type);                /* dimensions in memory: planes are one */
void    pixel_extent(const picture *p, int32_t *extent);    /* without planes */
/* Makes all but the pages that hold pixels of `part` inaccessible; each row of the picture has pages of its own. */
void    picture_protect_outside(picture *p, const halo_part *part);

/* ---- a call ------------------------------------------------------------------------------------- */

/* Inputs, outputs and the interpreter's results for one filter and size. */
typedef struct call {
    const filter *filter;
    picture in[MOST_IMAGES], out[MOST_IMAGES], expected[MOST_IMAGES];
    const halo_image *in_images[MOST_IMAGES], *out_images[MOST_IMAGES];
    const void *params;                  /* NULL: the defaults */
} call;

/* False when the pipe has no result of this size (then library and interpreter agree about that). */
bool call_begin(call *c, const filter *f, int32_t width, int32_t height, placement where);
bool call_begin_with(call *c, const filter *f, int32_t width, int32_t height, placement where, const void *params);
void call_expect(call *c);               /* the interpreter again, on what the inputs hold now */
/* The same pixels and expected results, lying elsewhere; outputs poisoned. */
void call_move(call *to, const call *from, placement where);
void call_end(call *c);                  /* not `expected` of a moved one */
int  call_run(call *c, const halo_part *part, const halo_exec *exec);
/* Poisons the outputs, runs, and asserts the interpreter's pixels and nothing else. */
void call_check(call *c, const halo_exec *exec);
void input_extents(const image_type *type, int32_t width, int32_t height, int32_t *extent);

/* What a signal handler prints when memory outside is touched. */
void say_where(const char *test, const call *c, int variant);
void catch_faults(void);

/* ---- threads ------------------------------------------------------------------------------------- */

/* parallel_for that runs tasks one after another, last first. */
void backward(void *user, int32_t count, void (*task)(void *context, int32_t index), void *context);
/* parallel_for with a thread a task; fails where one uses more than 16 KiB of its stack. */
void on_small_stacks(void *user, int32_t count, void (*task)(void *context, int32_t index), void *context);

#endif
