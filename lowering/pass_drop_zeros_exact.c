/* SPDX-License-Identifier: MIT
 * Exact pass `drop_zeros_exact`: taps that are zero leave an integer convolution, where they change nothing. It stands after
 * `separate_exact`, which looks for kernels in their full shape.
 * Requires kernels as tables. Keeps every bit. */
#include "lowering/pass.h"
#include "lowering/tap_list.h"

bool pass_drop_zeros_exact(tensor_pipe *p)
{
    return drop_zero_taps(p, false);
}
