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
/* Worth asking at all? */
bool has_window(tensor_pipe *p, uint32_t stage);

#endif
