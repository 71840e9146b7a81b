/* SPDX-License-Identifier: MIT
 * Rounding and f16 for processors that have no instruction for them, where LLVM would call functions of libm and
 * compiler-rt. Plain arithmetic with the bits of the instructions (but which NaN it is). */
#include "backends/cpu/emit.h"

#include <string.h>

static LLVMTypeRef like(LLVMValueRef v, LLVMTypeRef element)
{
    LLVMTypeRef t = LLVMTypeOf(v);
    return LLVMGetTypeKind(t) == LLVMVectorTypeKind ? LLVMVectorType(element, LLVMGetVectorSize(t)) : element;
}

static LLVMValueRef splat(LLVMTypeRef t, LLVMValueRef scalar)
{
    if (LLVMGetTypeKind(t) != LLVMVectorTypeKind) return scalar;
    LLVMValueRef all[64];
    for (unsigned k = 0; k < LLVMGetVectorSize(t); k++) all[k] = scalar;
    return LLVMConstVector(all, LLVMGetVectorSize(t));
}

static LLVMTypeRef element_of(LLVMTypeRef t) { return LLVMGetTypeKind(t) == LLVMVectorTypeKind ? LLVMGetElementType(t) : t; }
static LLVMValueRef real(LLVMTypeRef t, double v) { return splat(t, LLVMConstReal(element_of(t), v)); }
static LLVMValueRef whole(LLVMTypeRef t, uint32_t v) { return splat(t, LLVMConstInt(element_of(t), v, 0)); }

/* ---- rounding -------------------------------------------------------------------------------------------------- */

static LLVMValueRef unary(emitter *e, const char *name, LLVMValueRef v) { return emit_intrinsic(e, name, &v, 1); }

static LLVMValueRef with_sign_of(emitter *e, LLVMValueRef magnitude, LLVMValueRef sign)
{
    LLVMValueRef both[2] = { magnitude, sign };
    return emit_intrinsic(e, "llvm.copysign", both, 2);
}

/* Numbers from 2^23 (2^52) on are whole; below, adding that number rounds in the unit of its last bit. */
static LLVMValueRef round_even(emitter *e, LLVMValueRef v)
{
    LLVMBuilderRef b = e->builder;
    LLVMTypeRef t = LLVMTypeOf(v);
    LLVMValueRef all_whole = real(t, element_of(t) == LLVMDoubleTypeInContext(emit_context(e)) ? 0x1p52 : 0x1p23);
    LLVMValueRef a = unary(e, "llvm.fabs", v);
    LLVMValueRef r = LLVMBuildFSub(b, LLVMBuildFAdd(b, a, all_whole, ""), all_whole, "");
    return LLVMBuildSelect(b, LLVMBuildFCmp(b, LLVMRealOLT, a, all_whole, ""), with_sign_of(e, r, v), v, "");
}

/* The whole number beside the nearest one where that lies on the wrong side; zeros keep v's sign. */
static LLVMValueRef round_toward(emitter *e, LLVMValueRef v, bool up)
{
    LLVMBuilderRef b = e->builder;
    LLVMValueRef r = round_even(e, v), one = real(LLVMTypeOf(v), 1);
    LLVMValueRef wrong = LLVMBuildFCmp(b, up ? LLVMRealOLT : LLVMRealOGT, r, v, "");
    LLVMValueRef next = up ? LLVMBuildFAdd(b, r, one, "") : LLVMBuildFSub(b, r, one, "");
    return with_sign_of(e, LLVMBuildSelect(b, wrong, next, r, ""), v);
}

LLVMValueRef emit_expanded(emitter *e, const char *intrinsic, LLVMValueRef v)
{
    if (e->m->schedule->target.rounding) return NULL;
    if (strcmp(intrinsic, "llvm.roundeven") == 0) return round_even(e, v);
    if (strcmp(intrinsic, "llvm.floor") == 0) return round_toward(e, v, false);
    if (strcmp(intrinsic, "llvm.ceil") == 0) return round_toward(e, v, true);
    if (strcmp(intrinsic, "llvm.trunc") == 0) return with_sign_of(e, round_toward(e, unary(e, "llvm.fabs", v), false), v);
    return NULL;
}

/* ---- f16 --------------------------------------------------------------------------------------------------------- */

/* Halves are their bits everywhere else: without instructions for them, LLVM calls functions even to move vectors of them. */
LLVMValueRef emit_half_to_float(emitter *e, LLVMValueRef half)
{
    LLVMBuilderRef b = e->builder;
    LLVMContextRef c = emit_context(e);
    LLVMTypeRef f = like(half, LLVMFloatTypeInContext(c)), i = like(half, LLVMInt32TypeInContext(c)), h = like(half, LLVMHalfTypeInContext(c));
    if (e->m->schedule->target.f16c) return LLVMBuildFPExt(b, LLVMBuildBitCast(b, half, h, ""), f, "");
    LLVMValueRef bits = LLVMBuildZExt(b, half, i, "");
    LLVMValueRef magnitude = LLVMBuildAnd(b, bits, whole(i, 0x7fff), ""), sign = LLVMBuildShl(b, LLVMBuildAnd(b, bits, whole(i, 0x8000), ""), whole(i, 16), "");
    LLVMValueRef moved = LLVMBuildShl(b, magnitude, whole(i, 13), "");
    /* The exponent's bias differs by 112; as a product, denormals come out right too. */
    LLVMValueRef number = LLVMBuildFMul(b, LLVMBuildBitCast(b, moved, f, ""), real(f, 0x1p112), "");
    LLVMValueRef special = LLVMBuildOr(b, moved, whole(i, 0x7f800000), "");
    LLVMValueRef is_number = LLVMBuildICmp(b, LLVMIntULT, magnitude, whole(i, 0x7c00), "");
    LLVMValueRef r = LLVMBuildSelect(b, is_number, LLVMBuildBitCast(b, number, i, ""), special, "");
    return LLVMBuildBitCast(b, LLVMBuildOr(b, r, sign, ""), f, "");
}

LLVMValueRef emit_float_to_half(emitter *e, LLVMValueRef v)
{
    LLVMBuilderRef b = e->builder;
    LLVMContextRef c = emit_context(e);
    LLVMTypeRef f = LLVMTypeOf(v), i = like(v, LLVMInt32TypeInContext(c)), h = like(v, LLVMHalfTypeInContext(c)), s = like(v, LLVMInt16TypeInContext(c));
    if (e->m->schedule->target.f16c) return LLVMBuildBitCast(b, LLVMBuildFPTrunc(b, v, h, ""), s, "");
    LLVMValueRef bits = LLVMBuildBitCast(b, v, i, ""), a = LLVMBuildAnd(b, bits, whole(i, 0x7fffffff), "");
    LLVMValueRef sign = LLVMBuildLShr(b, LLVMBuildAnd(b, bits, whole(i, 0x80000000u), ""), whole(i, 16), "");
    /* Below 2^-14 the unit is 2^-24, that of numbers from 1/2 on: adding 1/2 rounds. */
    LLVMValueRef shifted = LLVMBuildFAdd(b, LLVMBuildBitCast(b, a, f, ""), real(f, 0.5), "");
    LLVMValueRef small = LLVMBuildSub(b, LLVMBuildBitCast(b, shifted, i, ""), whole(i, 0x3f000000), "");
    /* 13 bits go: half of their unit less one, and the last bit that stays, carry into it; too large becomes infinity by that. */
    LLVMValueRef last = LLVMBuildAnd(b, LLVMBuildLShr(b, a, whole(i, 13), ""), whole(i, 1), "");
    LLVMValueRef carried = LLVMBuildAdd(b, LLVMBuildAdd(b, a, whole(i, 0xfff), ""), last, "");
    LLVMValueRef usual = LLVMBuildLShr(b, LLVMBuildSub(b, carried, whole(i, 112u << 23), ""), whole(i, 13), "");
    LLVMValueRef special = LLVMBuildSelect(b, LLVMBuildICmp(b, LLVMIntUGT, a, whole(i, 0x7f800000), ""), whole(i, 0x7e00), whole(i, 0x7c00), "");
    LLVMValueRef r = LLVMBuildSelect(b, LLVMBuildICmp(b, LLVMIntULT, a, whole(i, 0x47800000), ""), usual, special, "");
    r = LLVMBuildSelect(b, LLVMBuildICmp(b, LLVMIntULT, a, whole(i, 0x38800000), ""), small, r, "");
    return LLVMBuildTrunc(b, LLVMBuildOr(b, r, sign, ""), s, "");
}
