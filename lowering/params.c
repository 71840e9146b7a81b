/* SPDX-License-Identifier: MIT
 * Where each parameter lies in the struct that the C headers declare. */
#include "lowering/params.h"

size_t params_layout(const tensor_pipe *p, int32_t *offsets)
{
    size_t at = 0, widest = 1;
    for (uint32_t k = 0; k < p->params.count; k++) {
        type t = p->params.items[k].type;
        size_t bytes = kind_get((enum kind)t.kind)->n_bytes;
        at = (at + bytes - 1) / bytes * bytes;
        if (offsets) offsets[k] = (int32_t)at;
        at += bytes * t.lanes;
        if (bytes > widest) widest = bytes;
    }
    return (at + widest - 1) / widest * widest;
}
