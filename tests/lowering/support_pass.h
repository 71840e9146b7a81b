/* SPDX-License-Identifier: MIT
 * What the tests of passes share: one pass over IR from text, verified and read again; runs of both; what is left in the IR. */
#ifndef HALO_TESTS_SUPPORT_PASS_H
#define HALO_TESTS_SUPPORT_PASS_H

#include "support_ir.h"

#include "lowering/pass.h"

/* IR text with names for values, `$sum = add i32 $a, 1`, turned into the numbers that the text wants. */
char *ir_numbered(arena *memory, const char *source);

/* Runs the passes in order, verifies after each, and goes through the text, as `reparse` does (source may have names). Returns what came out. */
tensor_pipe *after_passes(arena *memory, const char *source, const pass_id *passes, int n);
tensor_pipe *after_pass(arena *memory, const char *source, pass_id pass);

/* The one input's random pixels (of its kind, special values often) through the pipe before and after `pass`: all outputs have the
 * same bits. Extents are those of the input; params as interpret takes them. */
void expect_same_bits(const char *source, pass_id pass, int width, int height, const uint32_t (*params)[TENSOR_MAX_LANES], uint64_t seed);

int count_folds(const tensor_pipe *p, fold_form form, int n_binders);      /* reached from stages' bodies */
int count_op(const tensor_pipe *p, tensor_op op);                          /* nodes of it reached from bodies */
uint32_t find_stage(const tensor_pipe *p, const char *name);               /* 0 when there is none */

#endif
