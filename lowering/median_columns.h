/* SPDX-License-Identifier: MIT
 * The median of a rectangle from its columns, each sorted once. */
#ifndef HALO_LOWERING_MEDIAN_COLUMNS_H
#define HALO_LOWERING_MEDIAN_COLUMNS_H

#include "lowering/access.h"

/* The value of a FOLD_median of `stage` whose elements are `element`, which needs no more thought about NaN and -0; 0 when they aren't
 * the pixels of a rectangle around the place, or when it is a line or of 9 pixels at most. */
ref median_by_columns(tensor_pipe *p, depends *all, uint32_t stage, uint32_t fold, ref element);

/* What both networks are made of. */
ref median_lower(tensor_pipe *p, ref a, ref b);
ref median_upper(tensor_pipe *p, ref a, ref b);
void sort_network(tensor_pipe *p, ref *items, int n);

#endif
