/* SPDX-License-Identifier: MIT
 * How the elementary functions are written in plain ops: a few short names over tensor.h, so that an expander reads like
 * the formula it is. Everything works on all lanes of a pixel at once; constants are splatted here.
 *
 * The rules of every expander: only ops that each target rounds alike (no fma, no host libm, no product with a literal
 * zero, which drivers fold); no loop and no branch, as the code runs in vector lanes; special values come out by `choose`.
 * `least` and `most` give their second operand when the comparison is false, so with the constant first a NaN goes through. */
#ifndef HALO_LOWERING_EXPAND_H
#define HALO_LOWERING_EXPAND_H

#include <math.h>

#include "lowering/tensor.h"

typedef struct expander { tensor_pipe *pipe; int lanes; } expander;

#define EXPAND(op, arity, ulps, note) ref expand_##op(expander *e, const ref *args);
#include "lowering/expand.def"
#undef EXPAND

#define POLYNOMIAL(name, n, ...) POLYNOMIAL_##name,
typedef enum polynomial {
#include "lowering/expand_polynomials.def"
    POLYNOMIAL_COUNT
} polynomial;
#undef POLYNOMIAL

/* c[0] + x * (c[1] + x * (c[2] ...)), a product and a sum a step. */
ref horner(expander *e, polynomial which, ref x);

/* Parts that several functions share. */
ref exp_scaled(expander *e, ref x, int exponent);   /* e^x * 2^exponent, exponent 0 or -1 */
ref exp2_parts(expander *e, ref hi, ref lo, float largest);    /* 2^(hi + lo), |hi + lo| <= largest; |lo| small beside |hi| */
/* A positive x = 2^exponent * fraction, fraction in [b, 2b) for the b whose bits are `start`; both are f32. */
typedef struct split_real { ref exponent, fraction; } split_real;
split_real split_positive(expander *e, ref x, int32_t start);

static inline ref real(expander *e, float value) { return tensor_splat(e->pipe, tensor_f32(e->pipe, value), e->lanes); }
static inline ref whole(expander *e, int32_t value) { return tensor_splat(e->pipe, tensor_i32(e->pipe, value), e->lanes); }
static inline ref natural(expander *e, uint32_t value) { return tensor_splat(e->pipe, tensor_u32(e->pipe, value), e->lanes); }

#define EXPAND_OP2(name, op) static inline ref name(expander *e, ref a, ref b) { return tensor_op2(e->pipe, op, a, b); }
EXPAND_OP2(plus, OP_add)
EXPAND_OP2(minus, OP_sub)
EXPAND_OP2(times, OP_mul)
EXPAND_OP2(over, OP_div)
EXPAND_OP2(least, OP_min)
EXPAND_OP2(most, OP_max)
EXPAND_OP2(less, OP_lt)
EXPAND_OP2(equal, OP_eq)
EXPAND_OP2(both, OP_and)
EXPAND_OP2(either, OP_or)
EXPAND_OP2(bits_and, OP_bitand)
EXPAND_OP2(bits_or, OP_bitor)
EXPAND_OP2(bits_xor, OP_bitxor)
#undef EXPAND_OP2

static inline ref magnitude(expander *e, ref a) { return tensor_op1(e->pipe, OP_abs, a); }
static inline ref root(expander *e, ref a) { return tensor_op1(e->pipe, OP_sqrt, a); }
static inline ref rounded_down(expander *e, ref a) { return tensor_op1(e->pipe, OP_floor, a); }
static inline ref negated(expander *e, ref a) { return tensor_op1(e->pipe, OP_neg, a); }
static inline ref opposite(expander *e, ref a) { return tensor_op1(e->pipe, OP_not, a); }
static inline ref choose(expander *e, ref condition, ref yes, ref no) { return tensor_select(e->pipe, condition, yes, no); }

static inline ref bits_of(expander *e, ref a) { return tensor_bitcast(e->pipe, a, KIND_i32); }      /* of an f32 or u32 */
static inline ref natural_bits_of(expander *e, ref a) { return tensor_bitcast(e->pipe, a, KIND_u32); }
static inline ref real_of_bits(expander *e, ref a) { return tensor_bitcast(e->pipe, a, KIND_f32); }
static inline ref real_of_whole(expander *e, ref a) { return tensor_cast(e->pipe, a, KIND_f32); }

/* Shifts by a constant of i32 (sign kept to the right) or u32. */
static inline ref shifted(expander *e, tensor_op op, ref a, int32_t count)
{
    bool natural_kind = node_type(e->pipe, a).kind == KIND_u32;
    return tensor_op2(e->pipe, op, a, natural_kind ? natural(e, (uint32_t)count) : whole(e, count));
}
static inline ref left(expander *e, ref a, int32_t count) { return shifted(e, OP_shl, a, count); }
static inline ref right(expander *e, ref a, int32_t count) { return shifted(e, OP_shr, a, count); }

static inline ref sign_bit(expander *e, ref a) { return bits_and(e, bits_of(e, a), whole(e, INT32_MIN)); }
/* a, not negative, with `sign` (0 or the sign bit) put on. */
static inline ref with_sign(expander *e, ref a, ref sign) { return real_of_bits(e, bits_xor(e, bits_of(e, a), sign)); }
/* The first 12 of 24 bits: products of two such heads are exact. */
static inline ref head(expander *e, ref a) { return real_of_bits(e, bits_and(e, bits_of(e, a), whole(e, ~0xfff))); }

/* Rounds |x| < 2^22 to a whole number without a conversion: adding 1.5 * 2^23 pushes the fraction out, and the low bits of
 * the sum are then the number itself (plus 0x4b400000). */
typedef struct rounded { ref value, bits; } rounded;
static inline rounded rounded_of(expander *e, ref x)
{
    ref sum = plus(e, x, real(e, 12582912.0f));
    return (rounded){ minus(e, sum, real(e, 12582912.0f)), bits_of(e, sum) };
}

#endif
