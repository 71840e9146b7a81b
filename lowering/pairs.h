/* SPDX-License-Identifier: MIT
 * Values of two pixels that are the same whichever comes first. */
#ifndef HALO_LOWERING_PAIRS_H
#define HALO_LOWERING_PAIRS_H

#include "lowering/tensor.h"

/* `value` has the same bits when the loads a and b, both reached from it, are exchanged. */
bool alike_both_ways(const tensor_pipe *p, ref value, ref a, ref b);
/* How many operations the value takes, loads and conversions not counted. */
int operations_under(tensor_pipe *p, ref value);

#endif
