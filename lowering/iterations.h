/* SPDX-License-Identifier: MIT
 * How long the loops of a pixel are: for targets that end an invocation after so many rounds. */
#ifndef HALO_LOWERING_ITERATIONS_H
#define HALO_LOWERING_ITERATIONS_H

#include "lowering/tensor.h"

enum { ITERATIONS_MOST = (1 << 30) - 1 };      /* this many or more: two of them can be added in an i32 */

/* Rounds that the loops of all folds take in one pixel of the stage, the outer and the inner ones of every nest, and in each loop the
 * one that finds it over: a uniform i32 from 0 to ITERATIONS_MOST. A fold counts as often as the folds run whose binders or accumulators it depends on, as code does that
 * computes what doesn't change before a loop. Folds that a backend unrolls are counted too, unless it has done so before. */
ref stage_iterations(tensor_pipe *p, uint32_t stage);
/* How many loops there are. */
int32_t stage_loops(tensor_pipe *p, uint32_t stage);

/* Sums and products of such numbers, uniform i32 from 0 on, that stop at ITERATIONS_MOST. */
ref iterations_add(tensor_pipe *p, ref a, ref b);
ref iterations_mul(tensor_pipe *p, ref a, ref b);
/* Elements from lo to hi, both included: 0 where hi < lo. */
ref iterations_between(tensor_pipe *p, ref lo, ref hi);

#endif
