/* SPDX-License-Identifier: MIT
 * Define pass `separate`: an f32 convolution whose kernel is a column times a row becomes two passes, columns of taps first.
 *
 * Why: w + h products a pixel instead of w * h. The sum is rounded differently, so this is part of what the program means: it looks
 * at the script alone, at the kernel's structure or its exact values, never at a target or at sizes. Under strict every
 * convolution is computed as it is written.
 * Requires `expand`, and stands before `fold_tables`, after which a kernel's structure is gone. Keeps domains and borders; adds
 * stages; kernels that nobody reads any more are left to `clean`. */
#include "lowering/pass.h"
#include "lowering/separate.h"

static bool is_real(const convolution *c) { return c->t.kind == KIND_f32; }

bool pass_separate(tensor_pipe *p)
{
    return !p->strict && separate_all(p, is_real);
}
