/* SPDX-License-Identifier: MIT
 * What passes share: one rewriter led over every expression of a pipe. */
#ifndef HALO_LOWERING_PASS_REWRITE_H
#define HALO_LOWERING_PASS_REWRITE_H

#include "lowering/tensor.h"

/* Bounds and bodies of all stages, and the checks. Operands are visited before what uses them, so a `visit` that calls
 * rewrite() for its node's arguments finds them done and no chain of operations, however long, needs a deep stack.
 * Returns whether anything changed. */
bool rewrite_everything(rewriter *w);
bool rewrite_bodies(rewriter *w);          /* the bodies alone */
ref  rewrite_upward(rewriter *w, ref root);

#endif
