/* SPDX-License-Identifier: MIT
 * What the passes `drop_zeros` and `drop_zeros_exact` share. */
#ifndef HALO_LOWERING_TAP_LIST_H
#define HALO_LOWERING_TAP_LIST_H

#include "lowering/tensor.h"

/* In convolutions of reals, or in those of integers. Whether there were any. */
bool drop_zero_taps(tensor_pipe *p, bool reals);

#endif
