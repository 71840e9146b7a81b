/* SPDX-License-Identifier: MIT
 * Which reductions the pass `split_folds` takes apart, and along which of their binders. */
#ifndef HALO_LOWERING_SPLIT_PLAN_H
#define HALO_LOWERING_SPLIT_PLAN_H

#include "lowering/tensor.h"

typedef struct split_plan {
    uint32_t fold, stage;             /* the stage where it stands; 0: its value is the same everywhere */
    int      x, y;                    /* binders that go along rows and from row to row, or -1; without x there are places */
    bool     is_position;             /* fold_position_of: with one binder or two */
    bool     x_may_lack, y_may_lack;  /* bounds may be further apart than empty: hi < lo - 1 */
    int      n_places, place[TENSOR_MAX_RANK];     /* coordinates of the stage that elements depend on */
} split_plan;
typedef LIST(split_plan) split_plans;

/* All of a pipe. */
split_plans split_plans_of(tensor_pipe *p);
/* That of a fold where it stands in this stage, or NULL. */
const split_plan *split_plan_of(const split_plans *plans, uint32_t fold, uint32_t stage);

/* next = acc op element, or acc - element. */
typedef struct fold_step { tensor_op op; type t; ref element; bool negative; } fold_step;

/* False: in another order there would be other bits. */
bool fold_step_of(tensor_pipe *p, uint32_t fold, int which, fold_step *out);
/* The first place of the least (greatest) element, as argmin makes it: accumulators are that element, whether there is one, and
 * binders of its place: binder[k] for accumulator k from 2 on. */
typedef struct fold_position { tensor_op op; type t; ref element; int binder[TENSOR_MAX_ACCS]; } fold_position;
bool fold_position_of(const tensor_pipe *p, uint32_t fold, fold_position *out);

/* The value that changes nothing. */
ref  neutral_element(tensor_pipe *p, tensor_op op, type t);
/* Twice the same element is once the element. */
bool is_idempotent(tensor_op op);

#endif
