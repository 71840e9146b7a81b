/* SPDX-License-Identifier: MIT
 * Many uniform expressions of one run, each shared part evaluated once. */
#ifndef HALO_LOWERING_UNIFORM_H
#define HALO_LOWERING_UNIFORM_H

#include "lowering/interpret.h"
#include "lowering/interpret_value.h"

typedef struct uniforms {
    const tensor_pipe *pipe;
    const run_values *values;
    pixel *known;              /* per node; calloc, so that untouched pages cost nothing */
    bool *is_known;
} uniforms;

/* For nodes below `limit`. false when memory is out. */
bool uniforms_begin(uniforms *u, const tensor_pipe *p, const run_values *values, uint32_t limit);
void uniforms_end(uniforms *u);
const pixel *uniforms_get(uniforms *u, ref r);          /* in f32 arithmetic, always: domains don't depend on how a run computes */
void uniforms_bounds(uniforms *u, uint32_t stage, int32_t lo[TENSOR_MAX_RANK], int32_t extent[TENSOR_MAX_RANK]);

/* Parameter `which`, lane by lane: the run's value or the default. */
uint32_t param_bits(const tensor_pipe *p, const run_values *values, uint32_t which, int lane);

#endif
