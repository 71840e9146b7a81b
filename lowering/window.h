/* SPDX-License-Identifier: MIT
 * Recognising the largest (smallest) pixel of a fixed window. */
#ifndef HALO_LOWERING_WINDOW_H
#define HALO_LOWERING_WINDOW_H

#include "lowering/access.h"

/* A loop whose only accumulator becomes min (max) of itself and one element, which comes from one load at
 * (coord 0 + dx, coord 1 + dy), for each (dx, dy) of a window that is known when the script is compiled. */
typedef struct window {
    tensor_pipe *pipe;
    uint32_t     stage;               /* where it stands */
    tensor_op    op;
    type         t;
    ref          element, load;
    int64_t      lo[2], extent[2];    /* the rectangle around the window, in distances on both axes */
    uint8_t     *holds;               /* [y * extent[0] + x]: is it in the window? */
} window;

bool window_match(tensor_pipe *p, depends *all, uint32_t stage, uint32_t fold, int64_t max_elements, window *out);
/* The same for pipe, stage, type and element that the caller has set: where the element lies, and which there are. */
bool window_place(window *w, depends *all, uint32_t fold, int64_t max_elements);
/* Its parts. index = coord d + binder of the fold + constant, or without a binder (then *binder is -1): */
bool window_axis(const tensor_pipe *p, uint32_t fold, ref index, int d, int *binder, int64_t *constant);
/* Which elements there are, when axis d follows binder[d]: bounds are constant, and the condition depends on binders alone. */
bool window_elements(window *w, uint32_t fold, const int *binder, const int64_t *constant, int64_t max_elements);
/* Worth asking at all? */
bool has_window(tensor_pipe *p, uint32_t stage);

/* A stage whose pixels are the elements, and the borders that reads of it have. */
typedef struct window_source { uint32_t stage; uint8_t border[2]; ref outside[2]; type t; } window_source;

/* The stage that is read where elements are its pixels, else one that is made of it. */
window_source window_source_of(const window *w);
/* The element at the reader's place moved by (dx, dy). */
ref window_element(const window *w, const window_source *s, int64_t dx, int64_t dy);
/* The element of another pixel than the one that is loaded. */
ref window_element_of(const window *w, ref by);
/* A stage still without body, with the bounds of another. */
uint32_t stage_like(tensor_pipe *p, uint32_t like, type t);

#endif
