/* SPDX-License-Identifier: MIT
 * Types, constants and small building blocks of emission. */
#include "backends/cpu/emit.h"

#include <string.h>

LLVMTypeRef emit_kind_type(LLVMContextRef c, int kind)
{
    switch (kind) {
    case KIND_bool: return LLVMInt1TypeInContext(c);
    case KIND_u8: case KIND_i8: return LLVMInt8TypeInContext(c);
    case KIND_u16: case KIND_i16: return LLVMInt16TypeInContext(c);
    case KIND_f16: case KIND_f32: return LLVMFloatTypeInContext(c);
    case KIND_i64: return LLVMInt64TypeInContext(c);
    default: return LLVMInt32TypeInContext(c);
    }
}

LLVMTypeRef emit_memory_type(LLVMContextRef c, int kind)
{
    if (kind == KIND_bool) return LLVMInt8TypeInContext(c);
    if (kind == KIND_f16) return LLVMInt16TypeInContext(c);
    return emit_kind_type(c, kind);
}

LLVMTypeRef emit_vector_type(LLVMTypeRef element, int lanes)
{
    return lanes == 1 ? element : LLVMVectorType(element, (unsigned)lanes);
}

LLVMValueRef emit_i32(emitter *e, int32_t v) { return LLVMConstInt(LLVMInt32TypeInContext(emit_context(e)), (uint32_t)v, 0); }
LLVMValueRef emit_i64(emitter *e, int64_t v) { return LLVMConstInt(LLVMInt64TypeInContext(emit_context(e)), (uint64_t)v, 0); }

static LLVMValueRef build_splat(emitter *e, LLVMValueRef scalar)
{
    LLVMTypeRef t = LLVMVectorType(LLVMTypeOf(scalar), (unsigned)e->lanes), i32 = LLVMInt32TypeInContext(emit_context(e));
    LLVMValueRef first = LLVMBuildInsertElement(e->builder, LLVMGetPoison(t), scalar, emit_i64(e, 0), "");
    return LLVMBuildShuffleVector(e->builder, first, LLVMGetPoison(t), LLVMConstNull(LLVMVectorType(i32, (unsigned)e->lanes)), "");
}

static LLVMValueRef constant_splat(emitter *e, LLVMValueRef scalar)
{
    LLVMValueRef all[64];
    for (int k = 0; k < e->lanes; k++) all[k] = scalar;
    return LLVMConstVector(all, (unsigned)e->lanes);
}

/* Is the value made in the entry block (or an argument)? Then its splat can live there too. */
static bool is_hoisted(emitter *e, LLVMValueRef v)
{
    if (LLVMIsAArgument(v)) return true;
    return LLVMIsAInstruction(v) && LLVMGetInstructionParent(v) == e->entry;
}

LLVMValueRef emit_splat(emitter *e, LLVMValueRef scalar)
{
    if (e->lanes == 1) return scalar;
    if (LLVMIsConstant(scalar)) return constant_splat(e, scalar);
    if (!is_hoisted(e, scalar)) return build_splat(e, scalar);
    for (uint32_t k = 0; k < e->splats.count; k++)
        if (e->splats.items[k].scalar == scalar && e->splats.items[k].lanes == e->lanes) return e->splats.items[k].vector;
    LLVMBasicBlockRef back = emit_hoist_begin(e);
    splat_entry entry = { scalar, build_splat(e, scalar), e->lanes };
    emit_hoist_end(e, back);
    LIST_PUSH(e->m->memory, e->splats, entry);
    return entry.vector;
}

LLVMValueRef emit_iota(emitter *e, int first)
{
    if (e->lanes == 1) return emit_i32(e, first);
    LLVMValueRef all[64];
    for (int k = 0; k < e->lanes; k++) all[k] = emit_i32(e, first + k);
    return LLVMConstVector(all, (unsigned)e->lanes);
}

LLVMValueRef emit_intrinsic(emitter *e, const char *name, LLVMValueRef *args, int n_args)
{
    LLVMValueRef expanded = emit_expanded(e, name, args[0]);
    if (expanded) return expanded;
    unsigned id = LLVMLookupIntrinsicID(name, strlen(name));
    LLVMTypeRef over = LLVMTypeOf(args[0]);
    LLVMValueRef f = LLVMGetIntrinsicDeclaration(e->m->module, id, &over, 1);
    return LLVMBuildCall2(e->builder, LLVMIntrinsicGetType(emit_context(e), id, &over, 1), f, args, (unsigned)n_args, "");
}

/* Two values end to end. */
static LLVMValueRef join(emitter *e, LLVMValueRef a, LLVMValueRef b)
{
    unsigned n = LLVMGetVectorSize(LLVMTypeOf(a));
    LLVMValueRef mask[256];
    for (unsigned k = 0; k < 2 * n; k++) mask[k] = emit_i32(e, (int32_t)k);
    return LLVMBuildShuffleVector(e->builder, a, b, LLVMConstVector(mask, 2 * n), "");
}

LLVMValueRef emit_interleave(emitter *e, LLVMValueRef *parts, int n)
{
    LLVMTypeRef t = LLVMTypeOf(parts[0]);
    LLVMValueRef low = n > 2 ? join(e, parts[0], parts[1]) : parts[0], high = n == 2 ? parts[1] : join(e, parts[2], n > 3 ? parts[3] : LLVMGetPoison(t));
    LLVMValueRef mask[256];
    for (int k = 0; k < e->lanes * n; k++) mask[k] = emit_i32(e, k % n * e->lanes + k / n);
    return LLVMBuildShuffleVector(e->builder, low, high, LLVMConstVector(mask, (unsigned)(e->lanes * n)), "");
}

void emit_take_apart(emitter *e, LLVMValueRef *line, int n, LLVMValueRef *out)
{
    if (e->lanes == 1) { memcpy(out, line, sizeof *line * (size_t)n); return; }
    LLVMValueRef none = LLVMGetPoison(LLVMTypeOf(line[0])), mask[64];
    LLVMValueRef low = join(e, line[0], line[1]), high = join(e, n > 2 ? line[2] : none, n > 3 ? line[3] : none);
    for (int c = 0; c < n; c++) {
        for (int k = 0; k < e->lanes; k++) mask[k] = emit_i32(e, k * n + c);
        out[c] = LLVMBuildShuffleVector(e->builder, low, high, LLVMConstVector(mask, (unsigned)e->lanes), "");
    }
}

static LLVMTypeRef like(LLVMValueRef v, LLVMTypeRef element)
{
    LLVMTypeRef t = LLVMTypeOf(v);
    return LLVMGetTypeKind(t) == LLVMVectorTypeKind ? LLVMVectorType(element, LLVMGetVectorSize(t)) : element;
}

LLVMValueRef emit_from_memory(emitter *e, LLVMValueRef v, int kind)
{
    if (kind == KIND_bool) return LLVMBuildICmp(e->builder, LLVMIntNE, v, LLVMConstNull(LLVMTypeOf(v)), "");
    if (kind == KIND_f16) return emit_half_to_float(e, v);
    return v;
}

LLVMValueRef emit_to_memory(emitter *e, LLVMValueRef v, int kind)
{
    LLVMContextRef c = emit_context(e);
    if (kind == KIND_bool) return LLVMBuildZExt(e->builder, v, like(v, LLVMInt8TypeInContext(c)), "");
    if (kind == KIND_f16) return emit_float_to_half(e, v);
    return v;
}

LLVMValueRef emit_byte_offset(emitter *e, LLVMValueRef pointer, LLVMValueRef offset_i64)
{
    return LLVMBuildGEP2(e->builder, LLVMInt8TypeInContext(emit_context(e)), pointer, &offset_i64, 1, "");
}

LLVMValueRef emit_field(emitter *e, LLVMValueRef base, size_t offset, LLVMTypeRef t, const char *name)
{
    LLVMValueRef at = offset ? emit_byte_offset(e, base, emit_i64(e, (int64_t)offset)) : base;
    return LLVMBuildLoad2(e->builder, t, at, name);
}

LLVMValueRef emit_frame_field(emitter *e, size_t offset, LLVMTypeRef t, const char *name)
{
    return emit_field(e, e->frame, offset, t, name);
}
