/* SPDX-License-Identifier: MIT
 * Interval arithmetic over stages: between which bounds every component of a value lies, for every picture, size and parameter
 * that a run may be given. For proofs that a read is inside, that a sum stays within its kind, that narrower lanes hold it. */
#ifndef HALO_LOWERING_RANGES_H
#define HALO_LOWERING_RANGES_H

#include "lowering/body.h"

/* Scale: what isn't NaN is k * 2^-scale, k a whole number; -0 counts as 0. So 0 is for whole numbers, 8 for 256ths. */
enum { SCALE_NONE = 255, SCALE_MOST = 100 };

typedef struct range {
    double  lo, hi;             /* both inclusive; infinities stand for themselves. Bounds beyond 2^53 are rounded outwards */
    bool    maybe_nan;
    bool    minus_zero;         /* may be -0 (reals only) */
    uint8_t scale;              /* 0 to SCALE_MOST; SCALE_NONE where no scale is known (infinities have none) */
} range;

typedef struct ranges {
    const tensor_pipe *pipe;
    body   body;                /* of the stage at hand */
    uint32_t stage;
    range *stages;              /* every stage's pixels */
    LIST(range) nodes;          /* by number in the body */
} ranges;

/* Looks at every stage once, in order. */
void  ranges_begin(ranges *r, arena *memory, const tensor_pipe *p);
range stage_range(const ranges *r, uint32_t stage);
/* Makes `stage` the one that node_range asks about. */
void  ranges_enter(ranges *r, uint32_t stage);
/* Of a node reached from the body of the stage at hand; inside a fold, over all of its elements. The accumulator of a sum lies
 * between the least and the most of its partial sums, that of a minimum or maximum where the result lies. */
range node_range(const ranges *r, ref node);

/* Of an expression of sizes and parameters alone. */
range uniform_range(arena *memory, const tensor_pipe *p, ref uniform);

range kind_range(kind k);       /* all values of a kind */
bool  range_is_exact(range a, double most);      /* the scale is known and every |k| <= most */

/* The operands of next = acc + element or acc + weight * element; all 0 for another form. The weight is the first factor. */
typedef struct summand { ref acc, weight, element; } summand;
summand summand_of(const tensor_pipe *p, uint32_t fold, int which);

#endif
