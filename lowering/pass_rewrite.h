/* SPDX-License-Identifier: MIT
 * What passes share: one rewriter led over every expression of a pipe. */
#ifndef HALO_LOWERING_PASS_REWRITE_H
#define HALO_LOWERING_PASS_REWRITE_H

#include "lowering/tensor.h"

/* Bounds and bodies of all stages, and the checks; the bodies alone. Return whether anything changed. */
bool rewrite_everything(rewriter *w);
bool rewrite_bodies(rewriter *w);

#endif
