/* SPDX-License-Identifier: MIT
 * Define pass `drop_zeros`: taps that are literally zero leave an f32 convolution; one without any other tap is 0.
 *
 * Why: disks, diamonds and derivatives are full of them. It is part of the meaning, as 0 * inf would be NaN: what stands under a
 * zero tap has no say. Without a zero the loops stay as they are.
 * Requires kernels as tables (`fold_tables`). Keeps the order of taps. Breaks nothing. */
#include "lowering/pass.h"
#include "lowering/tap_list.h"

bool pass_drop_zeros(tensor_pipe *p)
{
    return drop_zero_taps(p, true);
}
