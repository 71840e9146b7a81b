/* SPDX-License-Identifier: MIT
 * Running one stage's body, pixel by pixel, from a plan made once. */
#ifndef HALO_LOWERING_INTERPRET_BODY_H
#define HALO_LOWERING_INTERPRET_BODY_H

#include "lowering/body.h"
#include "lowering/interpret_value.h"
#include "lowering/uniform.h"

/* A stage's pixels in memory. */
typedef struct stage_memory {
    int32_t   lo[TENSOR_MAX_RANK], extent[TENSOR_MAX_RANK];
    ptrdiff_t stride[TENSOR_MAX_RANK];
    char     *data;                       /* the pixel at lo */
    void     *owned;                      /* to be freed, or NULL */
    encoding  encoding;
    uint32_t  last_reader;                /* the last stage that loads from it; UINT32_MAX: an output */
} stage_memory;

typedef struct run {
    const tensor_pipe *pipe;
    arena       *memory;
    arithmetic   how;
    uniforms     uniforms;
    stage_memory *stages;
    body         body;
    text        *problem;
    bool         failed;                  /* a read outside: *problem says where */
} run;

/* The address of the pixel of stage s at `index` (absolute coordinates, inside). */
char *pixel_address(const stage_memory *s, int rank, const int64_t *index);

/* Computes stage `s` (a STAGE_compute) over its bounds into its memory. */
void run_stage(run *r, uint32_t s);

#endif
