/* SPDX-License-Identifier: MIT
 * Between integers_plan.c (which reals can and should be whole numbers) and pass_integers.c (which makes them that). */
#ifndef HALO_LOWERING_INTEGERS_H
#define HALO_LOWERING_INTEGERS_H

#include "lowering/ranges.h"

/* What is known of one node of a body, and what becomes of it. */
typedef struct integer_fact {
    ref   node;
    range value;
    bool  in_fold;             /* depends on a binder */
    bool  is_integer;          /* an f32 value k * 2^-scale that can be computed as k, in 16 bits, from such values */
    bool  has_sum;             /* there is a sum in what it is computed from */
    bool  has_load;            /* a load of a stage that becomes one of whole numbers */
    bool  used;                /* as it is */
    bool  used_as_integer;     /* as k */
    bool  escapes;             /* computed as k, used as f32 */
    bool  absorbs;             /* a comparison or conversion of such values */
    ref   k;                   /* pass_integers.c: the new node */
} integer_fact;

typedef struct integer_stage {
    LIST(integer_fact) facts;  /* operands first */
    bool  becomes_integer;     /* all of its pixels, at the scale of its range */
    int   escapes;             /* loads of it that would convert back */
} integer_stage;

typedef struct integer_plan {
    tensor_pipe   *pipe;
    ranges         known;
    integer_stage *stages;
    uint32_t      *number_of_node;      /* of the stage at hand */
    uint32_t       n_nodes;             /* older ones: those that have numbers */
    uint32_t       stage;
} integer_plan;

/* Decides for the whole pipe; false when there is nothing to do. */
bool          integer_plan_make(integer_plan *plan, tensor_pipe *p);
/* Makes `stage` the one that integer_fact_of asks about. */
void          integer_plan_enter(integer_plan *plan, uint32_t stage);
integer_fact *integer_fact_of(const integer_plan *plan, ref r);       /* NULL for a node that isn't part of the body */

/* The node's argument that stands for a quotient's divisor 2^n: n, and whether it is negative. */
bool integer_power_of_two(range divisor, int *exponent, bool *negative);

#endif
