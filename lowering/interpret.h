/* SPDX-License-Identifier: MIT
 * The reference interpreter: slow, obvious, and the oracle for everything else. Runs any tensor IR, before or after any pass. */
#ifndef HALO_LOWERING_INTERPRET_H
#define HALO_LOWERING_INTERPRET_H

#include "halo/abi.h"
#include "lowering/tensor.h"

/* What a run is given. Images hold the stage types' bytes; pixels interleaved, components in order; any strides. */
typedef struct run_values {
    const halo_image *inputs;                       /* one per input stage */
    const uint32_t  (*params)[TENSOR_MAX_LANES];    /* one per parameter: bits per lane */
} run_values;

/* The value of a uniform one-lane expression. */
scalar uniform_evaluate(const tensor_pipe *p, ref r, const run_values *values);
/* Parameter ranges, the inputs' extents, and every check. HALO_OK, or a code and in *failed (may be NULL) what failed first:
 * below checks.count a check; from there on input 0, 1 ... whose extents aren't its stage's; then parameter 0, 1 ... out of range. */
int  run_check(const tensor_pipe *p, const run_values *values, uint32_t *failed);
void stage_bounds(const tensor_pipe *p, uint32_t stage, const run_values *values, int32_t lo[TENSOR_MAX_RANK],
                  int32_t extent[TENSOR_MAX_RANK]);

/* Writes every output (extents as stage_bounds says; dense or strided). `as_written`: real numbers are double, f16 and f32
 * stores are rounded only at the outputs. HALO_OK, HALO_ERROR_MEMORY, or the code of run_check. A read outside a stage that
 * no border answers is a bug of a pass: *problem says which, and HALO_ERROR_SIZE is returned. */
int  interpret(const tensor_pipe *p, const run_values *values, const halo_image *outputs, bool as_written, text *problem);

#endif
