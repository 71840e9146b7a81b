/* SPDX-License-Identifier: MIT
 * What a backend does to a pipe before it makes its schedule: on a copy of its own, so that the pipe stays as the passes left it. */
#ifndef HALO_LOWERING_PREPARE_H
#define HALO_LOWERING_PREPARE_H

#include "lowering/access.h"

/* A private copy in `memory` whose nodes, folds and stages have the same numbers. */
tensor_pipe *tensor_clone(const tensor_pipe *p, arena *memory);

/* Afterwards an output is a stage that is computed, stored once and read by nobody. */
void separate_outputs(tensor_pipe *p);

/* Replaces folds of few constant iterations by their chains, everywhere: those of at most so many elements, which add at most so
 * many nodes. */
typedef struct unroll_limits { int64_t elements, nodes; } unroll_limits;
void unroll_folds(tensor_pipe *p, depends *all, unroll_limits limits);

#endif
