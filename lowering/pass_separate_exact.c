/* SPDX-License-Identifier: MIT
 * Exact pass `separate_exact`: an integer convolution whose kernel is a column times a row of integers becomes two passes.
 *
 * Why: w + h products a pixel instead of w * h. Sums and products of i32 and u32 wrap, that is they are those of a ring: every
 * order gives the same bits, whether or not something overflows on the way.
 * Requires kernels as tables, or written as products. Keeps every bit; adds stages. */
#include "lowering/pass.h"
#include "lowering/separate.h"

static bool is_integer(const convolution *c) { return c->t.kind == KIND_i32 || c->t.kind == KIND_u32; }

bool pass_separate_exact(tensor_pipe *p)
{
    return separate_all(p, is_integer);
}
