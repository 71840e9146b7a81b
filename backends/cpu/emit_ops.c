/* SPDX-License-Identifier: MIT
 * One op on registers. Each case is the LLVM spelling of a row of lowering/ops.def, chosen so that vectors select to a few
 * instructions and nothing traps: saturation clamps first and converts then, division is guarded. No fast-math flag is ever
 * set, and fma only where the IR says fma. */
#include "backends/cpu/emit.h"

#include <assert.h>
#include <math.h>
#include <string.h>

static bool is_signed(int kind) { return kind_get((kind == KIND_bool ? KIND_u8 : (enum kind)kind))->class == 'I'; }

/* A constant of the same type (vector or not) as `like`. */
static LLVMValueRef integer_like(LLVMValueRef like, int64_t value)
{
    LLVMTypeRef t = LLVMTypeOf(like), element = LLVMGetTypeKind(t) == LLVMVectorTypeKind ? LLVMGetElementType(t) : t;
    LLVMValueRef one = LLVMConstInt(element, (uint64_t)value, 1), all[64];
    if (element == t) return one;
    for (unsigned k = 0; k < LLVMGetVectorSize(t); k++) all[k] = one;
    return LLVMConstVector(all, LLVMGetVectorSize(t));
}

static LLVMValueRef real_like(LLVMValueRef like, double value)
{
    LLVMTypeRef t = LLVMTypeOf(like), element = LLVMGetTypeKind(t) == LLVMVectorTypeKind ? LLVMGetElementType(t) : t;
    LLVMValueRef one = LLVMConstReal(element, value), all[64];
    if (element == t) return one;
    for (unsigned k = 0; k < LLVMGetVectorSize(t); k++) all[k] = one;
    return LLVMConstVector(all, LLVMGetVectorSize(t));
}

static LLVMTypeRef type_like(LLVMValueRef v, LLVMTypeRef element)
{
    LLVMTypeRef t = LLVMTypeOf(v);
    return LLVMGetTypeKind(t) == LLVMVectorTypeKind ? LLVMVectorType(element, LLVMGetVectorSize(t)) : element;
}

static LLVMValueRef pick(emitter *e, LLVMValueRef condition, LLVMValueRef yes, LLVMValueRef no)
{
    return LLVMBuildSelect(e->builder, condition, yes, no, "");
}

/* ---- integers ------------------------------------------------------------------------------------------------ */

/* A constant power of two in all lanes: its exponent, else -1. */
static int exponent_of(LLVMValueRef b)
{
    bool vector = LLVMGetTypeKind(LLVMTypeOf(b)) == LLVMVectorTypeKind;
    if (!LLVMIsConstant(b)) return -1;
    LLVMValueRef first = vector ? LLVMGetAggregateElement(b, 0) : b;
    for (unsigned k = 1; vector && k < LLVMGetVectorSize(LLVMTypeOf(b)); k++) if (LLVMGetAggregateElement(b, k) != first) return -1;
    if (!first || !LLVMIsAConstantInt(first)) return -1;
    unsigned long long value = LLVMConstIntGetZExtValue(first);
    for (int k = 0; k < 31; k++) if (value == 1ull << k) return k;
    return -1;
}

/* Shifts of signed numbers round down, as // does, and so do masks. */
static LLVMValueRef power_division(emitter *e, int kind, LLVMValueRef a, int exponent, bool remainder)
{
    if (remainder) return LLVMBuildAnd(e->builder, a, integer_like(a, ((int64_t)1 << exponent) - 1), "");
    LLVMValueRef by = integer_like(a, exponent);
    return is_signed(kind) ? LLVMBuildAShr(e->builder, a, by, "") : LLVMBuildLShr(e->builder, a, by, "");
}

static LLVMValueRef floor_division(emitter *e, int kind, LLVMValueRef a, LLVMValueRef b, bool remainder)
{
    LLVMBuilderRef x = e->builder;
    int bits = kind_get((enum kind)kind)->bits, exponent = exponent_of(b);
    if (exponent >= 0 && exponent < bits - is_signed(kind)) return power_division(e, kind, a, exponent, remainder);
    LLVMValueRef zero = integer_like(a, 0), one = integer_like(a, 1);
    bool is_constant = LLVMIsConstant(b) && !LLVMIsNull(b);
    LLVMValueRef is_zero = LLVMBuildICmp(x, LLVMIntEQ, b, zero, ""), safe = is_constant ? b : pick(e, is_zero, one, b);
    LLVMValueRef result;
    if (!is_signed(kind)) {
        result = remainder ? LLVMBuildURem(x, a, safe, "") : LLVMBuildUDiv(x, a, safe, "");
    } else {
        /* The one quotient that overflows, lowest // -1, wraps: dividing by 1 gives it. A constant -1 needs no division. */
        LLVMValueRef minus = integer_like(a, -1);
        if (b == minus) return remainder ? zero : LLVMBuildNeg(x, a, "");
        LLVMValueRef lowest = integer_like(a, kind_get((enum kind)kind)->lowest);
        LLVMValueRef overflow = LLVMBuildAnd(x, LLVMBuildICmp(x, LLVMIntEQ, a, lowest, ""), LLVMBuildICmp(x, LLVMIntEQ, safe, minus, ""), "");
        if (!is_constant) safe = pick(e, overflow, one, safe);
        LLVMValueRef q = LLVMBuildSDiv(x, a, safe, ""), r = LLVMBuildSub(x, a, LLVMBuildMul(x, q, safe, ""), "");
        LLVMValueRef off = LLVMBuildAnd(x, LLVMBuildICmp(x, LLVMIntNE, r, zero, ""),
                                        LLVMBuildICmp(x, LLVMIntSLT, LLVMBuildXor(x, r, safe, ""), zero, ""), "");
        result = remainder ? LLVMBuildAdd(x, r, pick(e, off, safe, zero), "") : LLVMBuildSub(x, q, pick(e, off, one, zero), "");
    }
    return is_constant ? result : pick(e, is_zero, zero, result);
}

static LLVMValueRef shift(emitter *e, tensor_op op, int kind, LLVMValueRef a, LLVMValueRef b)
{
    LLVMBuilderRef x = e->builder;
    LLVMValueRef most = integer_like(b, kind_get((enum kind)kind)->bits - 1), zero = integer_like(a, 0);
    LLVMValueRef beyond = LLVMBuildICmp(x, LLVMIntUGT, b, most, ""), count = pick(e, beyond, most, b);
    if (op == OP_shl) return pick(e, beyond, zero, LLVMBuildShl(x, a, count, ""));
    if (is_signed(kind)) return LLVMBuildAShr(x, a, count, "");
    return pick(e, beyond, zero, LLVMBuildLShr(x, a, count, ""));
}

static LLVMValueRef integer_compare(emitter *e, tensor_op op, int kind, LLVMValueRef a, LLVMValueRef b)
{
    bool s = is_signed(kind);
    LLVMIntPredicate p = op == OP_eq ? LLVMIntEQ : op == OP_ne ? LLVMIntNE
        : op == OP_lt || op == OP_min ? (s ? LLVMIntSLT : LLVMIntULT) : op == OP_max ? (s ? LLVMIntSGT : LLVMIntUGT) : s ? LLVMIntSLE : LLVMIntULE;
    return LLVMBuildICmp(e->builder, p, a, b, "");
}

static LLVMValueRef integer_op(emitter *e, tensor_op op, int kind, LLVMValueRef *v)
{
    LLVMBuilderRef x = e->builder;
    switch (op) {
    case OP_add: return LLVMBuildAdd(x, v[0], v[1], "");
    case OP_sub: return LLVMBuildSub(x, v[0], v[1], "");
    case OP_mul: return LLVMBuildMul(x, v[0], v[1], "");
    case OP_neg: return LLVMBuildNeg(x, v[0], "");
    case OP_abs: {
        if (!is_signed(kind)) return v[0];
        LLVMValueRef negative = LLVMBuildICmp(x, LLVMIntSLT, v[0], integer_like(v[0], 0), "");
        return pick(e, negative, LLVMBuildNeg(x, v[0], ""), v[0]);
    }
    case OP_floordiv: return floor_division(e, kind, v[0], v[1], false);
    case OP_mod:      return floor_division(e, kind, v[0], v[1], true);
    case OP_min: case OP_max: return pick(e, integer_compare(e, op, kind, v[0], v[1]), v[0], v[1]);
    case OP_bitand: case OP_and: return LLVMBuildAnd(x, v[0], v[1], "");
    case OP_bitor: case OP_or:   return LLVMBuildOr(x, v[0], v[1], "");
    case OP_bitxor: return LLVMBuildXor(x, v[0], v[1], "");
    case OP_not:    return LLVMBuildNot(x, v[0], "");
    case OP_shl: case OP_shr: return shift(e, op, kind, v[0], v[1]);
    default: return integer_compare(e, op, kind, v[0], v[1]);
    }
}

/* ---- reals ------------------------------------------------------------------------------------------------------ */

static LLVMValueRef real_op(emitter *e, tensor_op op, LLVMValueRef *v)
{
    LLVMBuilderRef x = e->builder;
    switch (op) {
    case OP_add: return LLVMBuildFAdd(x, v[0], v[1], "");
    case OP_sub: return LLVMBuildFSub(x, v[0], v[1], "");
    case OP_mul: return LLVMBuildFMul(x, v[0], v[1], "");
    case OP_div: return LLVMBuildFDiv(x, v[0], v[1], "");
    case OP_neg: return LLVMBuildFNeg(x, v[0], "");
    case OP_abs: return emit_intrinsic(e, "llvm.fabs", v, 1);
    case OP_sqrt:  return emit_intrinsic(e, "llvm.sqrt", v, 1);
    case OP_floor: return emit_intrinsic(e, "llvm.floor", v, 1);
    case OP_ceil:  return emit_intrinsic(e, "llvm.ceil", v, 1);
    case OP_trunc: return emit_intrinsic(e, "llvm.trunc", v, 1);
    case OP_round: return emit_intrinsic(e, "llvm.roundeven", v, 1);
    case OP_fma:   return emit_intrinsic(e, "llvm.fma", v, 3);
    case OP_muladd: return LLVMBuildFAdd(x, LLVMBuildFMul(x, v[0], v[1], ""), v[2], "");
    case OP_min: return pick(e, LLVMBuildFCmp(x, LLVMRealOLT, v[0], v[1], ""), v[0], v[1]);
    case OP_max: return pick(e, LLVMBuildFCmp(x, LLVMRealOGT, v[0], v[1], ""), v[0], v[1]);
    case OP_eq: return LLVMBuildFCmp(x, LLVMRealOEQ, v[0], v[1], "");
    case OP_ne: return LLVMBuildFCmp(x, LLVMRealUNE, v[0], v[1], "");
    case OP_lt: return LLVMBuildFCmp(x, LLVMRealOLT, v[0], v[1], "");
    case OP_le: return LLVMBuildFCmp(x, LLVMRealOLE, v[0], v[1], "");
    default: assert(!"an op that the define passes should have expanded"); return v[0];
    }
}

LLVMValueRef emit_op(emitter *e, tensor_op op, int kind, LLVMValueRef *args)
{
    return kind_is_float(kind) ? real_op(e, op, args) : integer_op(e, op, kind, args);
}

/* ---- conversions -------------------------------------------------------------------------------------------------- */

static LLVMValueRef lanes_from(emitter *e, LLVMValueRef a, LLVMValueRef b, unsigned first, unsigned n)
{
    LLVMValueRef mask[64];
    for (unsigned k = 0; k < n; k++) mask[k] = emit_i32(e, (int32_t)(first + k));
    return LLVMBuildShuffleVector(e->builder, a, b, LLVMConstVector(mask, n), "");
}

/* The nearest whole number by the processor's own conversion of `n` reals at once (halves to even: tasks set the rounding mode). */
static LLVMValueRef convert_register(emitter *e, LLVMValueRef v, unsigned n)
{
    LLVMContextRef c = emit_context(e);
    const char *name = n == 16 ? "llvm.x86.avx512.mask.cvtps2dq.512" : n == 8 ? "llvm.x86.avx.cvt.ps2dq.256" : "llvm.x86.sse2.cvtps2dq";
    LLVMValueRef none = LLVMConstNull(LLVMVectorType(LLVMInt32TypeInContext(c), n)), all = LLVMConstAllOnes(LLVMInt16TypeInContext(c));
    LLVMValueRef args[4] = { v, none, all, emit_i32(e, 4) };             /* 4: by the mode */
    unsigned id = LLVMLookupIntrinsicID(name, strlen(name));
    LLVMValueRef f = LLVMGetIntrinsicDeclaration(e->m->module, id, NULL, 0);
    return LLVMBuildCall2(e->builder, LLVMIntrinsicGetType(c, id, NULL, 0), f, args, n == 16 ? 4 : 1, "");
}

/* The nearest whole number, INT32_MIN for NaN and all that i32 doesn't hold; NULL where the processor has no such vectors. */
static LLVMValueRef nearest_i32(emitter *e, LLVMValueRef v)
{
    if (LLVMGetTypeKind(LLVMTypeOf(v)) != LLVMVectorTypeKind || LLVMIsConstant(v)) return NULL;
    unsigned n = LLVMGetVectorSize(LLVMTypeOf(v)), most = (unsigned)e->m->schedule->target.vector_bytes / 4, width = n < most ? n : most;
    if (width < 4 || n % width) return NULL;
    LLVMValueRef parts[16];
    for (unsigned k = 0; k < n / width; k++) parts[k] = convert_register(e, n == width ? v : lanes_from(e, v, v, k * width, width), width);
    for (; width < n; width *= 2)
        for (unsigned k = 0; k < n / width / 2; k++) parts[k] = lanes_from(e, parts[2 * k], parts[2 * k + 1], 0, 2 * width);
    return parts[0];
}

/* To u8 and u16: the processor's conversion gives what is too large a large unsigned number, which narrowing cuts. */
static LLVMValueRef nearest_unsigned(emitter *e, LLVMValueRef v, const kind_info *k, LLVMTypeRef element)
{
    LLVMValueRef zero = real_like(v, 0), positive = pick(e, LLVMBuildFCmp(e->builder, LLVMRealOGT, v, zero, ""), v, zero);
    LLVMValueRef i = k->lowest == 0 && e->m->schedule->target.rounding ? nearest_i32(e, positive) : NULL;
    if (!i) return NULL;
    LLVMValueRef most = integer_like(i, k->highest);
    return LLVMBuildTrunc(e->builder, pick(e, LLVMBuildICmp(e->builder, LLVMIntULT, i, most, ""), i, most), type_like(v, element), "");
}

static LLVMValueRef nearest_signed(emitter *e, LLVMValueRef v)
{
    LLVMValueRef i = nearest_i32(e, v);
    if (!i) return NULL;
    LLVMValueRef too_high = LLVMBuildFCmp(e->builder, LLVMRealOGE, v, real_like(v, 2147483648.0), "");
    LLVMValueRef is_number = LLVMBuildFCmp(e->builder, LLVMRealORD, v, v, "");
    return pick(e, is_number, pick(e, too_high, integer_like(i, INT32_MAX), i), integer_like(i, 0));
}

static LLVMValueRef real_to_integer(emitter *e, LLVMValueRef v, int to)
{
    LLVMBuilderRef x = e->builder;
    const kind_info *k = kind_get((enum kind)to);
    LLVMTypeRef element = emit_kind_type(emit_context(e), to);
    LLVMValueRef nearest = k->bits <= 16 ? nearest_unsigned(e, v, k, element) : to == KIND_i32 ? nearest_signed(e, v) : NULL;
    if (nearest) return nearest;
    if (k->bits <= 16) {                     /* both ends are exact: clamp (NaN falls to 0), round, convert, narrow */
        LLVMValueRef low = real_like(v, (double)k->lowest), high = real_like(v, (double)k->highest);
        if (k->lowest < 0) v = pick(e, LLVMBuildFCmp(x, LLVMRealORD, v, v, ""), v, real_like(v, 0));
        v = pick(e, LLVMBuildFCmp(x, LLVMRealOGT, v, low, ""), v, low);
        v = pick(e, LLVMBuildFCmp(x, LLVMRealOLT, v, high, ""), v, high);
        v = emit_intrinsic(e, "llvm.roundeven", &v, 1);
        v = LLVMBuildFPToSI(x, v, type_like(v, LLVMInt32TypeInContext(emit_context(e))), "");
        return LLVMBuildTrunc(x, v, type_like(v, element), "");
    }
    LLVMValueRef r = emit_intrinsic(e, "llvm.roundeven", &v, 1);
    double low = (double)k->lowest, beyond = (double)k->highest + 1.0;
    LLVMValueRef is_low = LLVMBuildFCmp(x, LLVMRealOLT, r, real_like(r, low), "");
    LLVMValueRef is_high = LLVMBuildFCmp(x, LLVMRealOGE, r, real_like(r, beyond), "");
    LLVMValueRef is_number = LLVMBuildFCmp(x, LLVMRealORD, r, r, "");
    LLVMValueRef inside = LLVMBuildAnd(x, is_number, LLVMBuildNot(x, LLVMBuildOr(x, is_low, is_high, ""), ""), "");
    LLVMValueRef safe = pick(e, inside, r, real_like(r, 0));
    LLVMValueRef i = to == KIND_u32 ? LLVMBuildFPToUI(x, safe, type_like(r, element), "") : LLVMBuildFPToSI(x, safe, type_like(r, element), "");
    i = pick(e, is_low, integer_like(i, k->lowest), i);
    return pick(e, is_high, integer_like(i, k->highest), i);
}

static LLVMValueRef resize(emitter *e, LLVMValueRef v, int from, int to)
{
    LLVMTypeRef t = type_like(v, emit_kind_type(emit_context(e), to));
    int a = from == KIND_bool ? 1 : kind_get((enum kind)from)->bits, b = to == KIND_bool ? 1 : kind_get((enum kind)to)->bits;
    if (a == b) return v;
    if (a > b) return LLVMBuildTrunc(e->builder, v, t, "");
    return is_signed(from) && from != KIND_bool ? LLVMBuildSExt(e->builder, v, t, "") : LLVMBuildZExt(e->builder, v, t, "");
}

static LLVMValueRef integer_to_integer(emitter *e, LLVMValueRef v, int from, int to)
{
    const kind_info *a = kind_get((enum kind)from), *b = kind_get((enum kind)to);
    LLVMBuilderRef x = e->builder;
    bool s = is_signed(from);
    if (from != KIND_bool && a->lowest < b->lowest) {
        LLVMValueRef low = integer_like(v, b->lowest);
        v = pick(e, LLVMBuildICmp(x, s ? LLVMIntSGT : LLVMIntUGT, v, low, ""), v, low);
    }
    if (from != KIND_bool && a->highest > b->highest) {
        LLVMValueRef high = integer_like(v, b->highest);
        v = pick(e, LLVMBuildICmp(x, s ? LLVMIntSLT : LLVMIntULT, v, high, ""), v, high);
    }
    return resize(e, v, from, to);
}

LLVMValueRef emit_cast(emitter *e, LLVMValueRef v, int from, int to)
{
    LLVMContextRef c = emit_context(e);
    if (from == to) return v;
    if (kind_is_float(from)) {
        if (to == KIND_f32) return v;
        if (to == KIND_f16) return emit_half_to_float(e, emit_float_to_half(e, v));
        if (to == KIND_bool) return LLVMBuildFCmp(e->builder, LLVMRealUNE, v, real_like(v, 0), "");
        return real_to_integer(e, v, to);
    }
    if (kind_is_float(to)) {
        LLVMTypeRef t = type_like(v, LLVMFloatTypeInContext(c));
        bool s = from != KIND_bool && is_signed(from);
        LLVMValueRef f = s ? LLVMBuildSIToFP(e->builder, v, t, "") : LLVMBuildUIToFP(e->builder, v, t, "");
        return to == KIND_f16 ? emit_cast(e, f, KIND_f32, KIND_f16) : f;
    }
    if (to == KIND_bool) return LLVMBuildICmp(e->builder, LLVMIntNE, v, integer_like(v, 0), "");
    return integer_to_integer(e, v, from, to);
}

LLVMValueRef emit_constant(emitter *e, int kind, uint32_t bits)
{
    LLVMTypeRef t = emit_kind_type(emit_context(e), kind);
    if (!kind_is_float(kind)) return LLVMConstInt(t, (uint64_t)scalar_of_bits((enum kind)kind, bits).i, 1);
    LLVMValueRef i = LLVMConstInt(LLVMInt32TypeInContext(emit_context(e)), bits, 0);
    return LLVMConstBitCast(i, t);
}
