/* SPDX-License-Identifier: MIT
 * What computing a pixel of a stage takes, for passes that weigh computing again against keeping. */
#ifndef HALO_LOWERING_BODY_COST_H
#define HALO_LOWERING_BODY_COST_H

#include "lowering/access.h"

/* coordinates: one is used as a value, so that a pad can't move to the loads (f(map(x), src[map(x)]) is not f(x, src[map(x)])).
 * identity: every load is at the stage's own coordinates, unpadded, from a stage of the same domain. */
typedef struct body_cost { int operations, loads, casts; bool folds, coordinates, identity; } body_cost;

body_cost body_cost_of(tensor_pipe *p, uint32_t stage);

#endif
