/* SPDX-License-Identifier: MIT
 * Random sound pipes, to hold passes, printer and interpreter against each other. */
#ifndef HALO_TESTS_SUPPORT_PIPE_H
#define HALO_TESTS_SUPPORT_PIPE_H

#include "support_ir.h"

enum { RANDOM_PIPE_BYTES = 1 << 17 };

tensor_pipe *random_pipe(arena *memory, uint64_t seed);
void random_pipe_size(uint64_t seed, int *width, int *height);
/* Runs such a pipe on a picture that follows from the seed; all outputs one after another, NaNs made alike. */
void random_pipe_run(const tensor_pipe *p, uint64_t seed, uint8_t out[RANDOM_PIPE_BYTES]);
/* The same by something else than the interpreter. */
typedef int (*pipe_runner)(const void *code, const halo_image *inputs, const halo_image *outputs);
void random_pipe_run_by(const tensor_pipe *p, uint64_t seed, uint8_t out[RANDOM_PIPE_BYTES], pipe_runner runner, const void *code);

#endif
