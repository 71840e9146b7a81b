/* SPDX-License-Identifier: MIT
 * Define pass `expand`: exp, log, pow, sin ... become sums, products and bit operations (the table is expand.def).
 *
 * Why: the language promises the same bits on every target. No two libraries' elementary functions agree, and GPUs' built-in
 * ones are off by thousands of places; plain ops are rounded alike everywhere. Functions of constants are constants after
 * this pass, by the builders' folding. It runs first, so that no later pass knows these ops.
 * Requires nothing. Keeps stages and bounds. Breaks nothing; leaves no op of class EXP. */
#include "lowering/expand.h"
#include "lowering/pass.h"

#define POLYNOMIAL(name, n, ...) static const float polynomial_##name[n] = { __VA_ARGS__ };
#include "lowering/expand_polynomials.def"
#undef POLYNOMIAL

ref horner(expander *e, polynomial which, ref x)
{
#define POLYNOMIAL(name, n, ...) { polynomial_##name, n },
    static const struct { const float *coefficients; int n; } table[] = {
#include "lowering/expand_polynomials.def"
    };
#undef POLYNOMIAL
    const float *c = table[which].coefficients;
    int k = table[which].n - 1;
    ref value = real(e, c[k]);
    while (k-- > 0) value = plus(e, times(e, value, x), real(e, c[k]));
    return value;
}

static ref expanded(expander *e, tensor_op op, const ref *args)
{
    switch (op) {
#define EXPAND(name, arity, ulps, note) case OP_##name: return expand_##name(e, args);
#include "lowering/expand.def"
#undef EXPAND
    default: return 0;
    }
}

static ref expand_node(rewriter *w, ref r, const ref *args)
{
    tensor_node n = *node_at(w->pipe, r);
    expander e = { w->pipe, n.type.lanes };
    return op_get(n.op)->class == CLASS_EXP ? expanded(&e, n.op, args) : 0;
}

static bool has_any(const tensor_pipe *p)
{
    for (uint32_t r = 1; r < p->nodes.count; r++)
        if (op_get(node_at(p, r)->op)->class == CLASS_EXP) return true;
    return false;
}

bool pass_expand(tensor_pipe *p)
{
    if (!has_any(p)) return false;
    rewriter w;
    rewriter_begin(&w, p, NULL, NULL);
    w.rebuild = expand_node;
    return rewrite_pipe(&w);
}
