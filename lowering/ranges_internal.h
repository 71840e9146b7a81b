/* SPDX-License-Identifier: MIT
 * Between ranges.c (intervals) and ranges_stage.c (stages and folds). */
#ifndef HALO_LOWERING_RANGES_INTERNAL_H
#define HALO_LOWERING_RANGES_INTERNAL_H

#include "lowering/ranges.h"
#include "lowering/tensor_build.h"

static inline range whole_range(double lo, double hi) { return (range){ .lo = lo, .hi = hi, .scale = 0 }; }
uint8_t scale_of_real(double v);                       /* the smallest; SCALE_NONE where that is too large or v isn't finite */
range range_both(range a, range b);                    /* the least that holds both */
range range_add(range a, range b);                     /* exact */
range range_mul(range a, range b);
range range_rounded(kind k, range exact);              /* what is left of an exact interval in kind `k` */
range range_of_op(tensor_op op, kind k, const range *args);
range range_of_cast(range a, kind from, kind to);

#endif
