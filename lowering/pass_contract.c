/* SPDX-License-Identifier: MIT
 * Contraction: every `muladd` becomes an `fma`, or under strict and no_fma a product and a sum. Where a muladd stands is the language's rule
 * (a product as operand of + or - in one written expression; the taps of a conv) and was decided when it was made; from here on
 * only `fma` rounds once. */
#include "lowering/pass.h"

static ref contract(rewriter *w, ref r, const ref *args)
{
    tensor_pipe *p = w->pipe;
    if (node_at(p, r)->op != OP_muladd)
        return 0;
    if (!rounds_products(p))
        return tensor_op3(p, OP_fma, args[0], args[1], args[2]);
    return tensor_op2(p, OP_add, tensor_op2(p, OP_mul, args[0], args[1]), args[2]);
}

bool pass_contract(tensor_pipe *p)
{
    rewriter w;
    rewriter_begin(&w, p, NULL, NULL);
    w.rebuild = contract;
    return rewrite_pipe(&w);
}
