/* SPDX-License-Identifier: MIT
 * p * 2^n of the exponentials (`scaled` in lowering/expand_exp.c) as the one instruction that AVX-512 has for it, where the IR builds
 * two powers of two from the bits of a rounded number and multiplies twice. Both round once, at the end: as long as half
 * of n is the exponent of an f32, the first product is exact. */
#include "backends/cpu/emit.h"

#include <math.h>
#include <string.h>

/* Adding it to a number of at most 2^22 leaves the nearest whole one in the low bits. */
static const float ROUNDER = 12582912.0f;
enum { MOST_EXPONENT = 252 };

static ref argument(const tensor_pipe *p, ref r, tensor_op op, int k)
{
    return r && node_at(p, r)->op == op ? node_arg(p, r, k) : 0;
}

static bool is_real(const tensor_pipe *p, ref r, float *value)
{
    const tensor_node *n = node_at(p, r);
    return node_is_f32(p, n->op == OP_splat ? node_arg(p, r, 0) : r, value);
}

static bool is_whole(const tensor_pipe *p, ref r, int64_t value)
{
    int64_t v;
    const tensor_node *n = node_at(p, r);
    return node_is_const(p, n->op == OP_splat ? node_arg(p, r, 0) : r, &v) && v == value;
}

/* The exponent's bits h in the f32 2^h, built as (h << 23) + (127 << 23); or 0. */
static ref exponent_of_power(const tensor_pipe *p, ref power)
{
    ref biased = argument(p, power, OP_bitcast, 0), shifted = argument(p, biased, OP_add, 0);
    if (!shifted || !is_whole(p, node_arg(p, biased, 1), 127 << 23)) return 0;
    ref exponent = argument(p, shifted, OP_shl, 0);
    return exponent && is_whole(p, node_arg(p, shifted, 1), 23) ? exponent : 0;
}

/* |r| <= most, or NaN: a number between constants, or that times a constant. */
static bool is_bounded(const tensor_pipe *p, ref r, double most)
{
    float hi, lo, factor;
    if (node_at(p, r)->op == OP_mul && is_real(p, node_arg(p, r, 1), &factor)) return is_bounded(p, node_arg(p, r, 0), most / fabs((double)factor));
    if (node_at(p, r)->op != OP_min || !is_real(p, node_arg(p, r, 0), &hi)) return false;
    ref inner = node_arg(p, r, 1);
    return node_at(p, inner)->op == OP_max && is_real(p, node_arg(p, inner, 0), &lo) && fabs((double)hi) <= most && fabs((double)lo) <= most;
}

/* r = (p * 2^(n >> 1)) * 2^(n - (n >> 1)), n the low bits of a number and ROUNDER added up: p and those. */
static bool match_scaled(const tensor_pipe *p, ref r, ref *factor, ref *rounded)
{
    ref inner = node_arg(p, r, 0), second = exponent_of_power(p, node_arg(p, r, 1));
    if (!second || node_at(p, inner)->op != OP_mul) return false;
    ref half = exponent_of_power(p, node_arg(p, inner, 1)), bits = argument(p, second, OP_sub, 0);
    if (!half || !bits || node_arg(p, second, 1) != half) return false;
    if (argument(p, half, OP_shr, 0) != bits || !is_whole(p, node_arg(p, half, 1), 1)) return false;
    *rounded = argument(p, bits, OP_bitcast, 0);
    float rounder;
    if (!*rounded || node_at(p, *rounded)->op != OP_add || !is_real(p, node_arg(p, *rounded, 1), &rounder) || rounder != ROUNDER) return false;
    *factor = node_arg(p, inner, 0);
    return is_bounded(p, node_arg(p, *rounded, 0), MOST_EXPONENT);
}

LLVMValueRef emit_scaled(emitter *e, ref r, int u, int row, int component, bool vector)
{
    ref factor, rounded;
    if (!vector || e->lanes != 16 || e->m->schedule->target.vector_bytes != 64 || node_type(e->pipe, r).kind != KIND_f32) return NULL;
    if (!match_scaled(e->pipe, r, &factor, &rounded)) return NULL;
    LLVMValueRef p = emit_part(e, factor, u, row, component, true), s = emit_part(e, rounded, u, row, component, true);
    LLVMTypeRef t = LLVMTypeOf(p), mask = LLVMInt16TypeInContext(emit_context(e));
    LLVMValueRef n = LLVMBuildFSub(e->builder, s, emit_splat(e, LLVMConstReal(LLVMFloatTypeInContext(emit_context(e)), ROUNDER)), "");
    const char *name = "llvm.x86.avx512.mask.scalef.ps.512";
    LLVMTypeRef types[5] = { t, t, t, mask, LLVMInt32TypeInContext(emit_context(e)) };
    LLVMTypeRef function = LLVMFunctionType(t, types, 5, 0);
    LLVMValueRef f = LLVMGetNamedFunction(e->m->module, name);
    if (!f) f = LLVMAddFunction(e->m->module, name, function);
    LLVMValueRef args[5] = { p, n, LLVMGetPoison(t), LLVMConstAllOnes(mask), emit_i32(e, 4) };       /* 4: rounds as MXCSR says */
    return LLVMBuildCall2(e->builder, function, f, args, 5, "");
}
