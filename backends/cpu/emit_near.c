/* SPDX-License-Identifier: MIT
 * Columns that are computed, from rows of numbers of 4 bytes: where the lanes of a vector read pixels that lie near each other, as
 * they do when a picture is resampled, one or two plain loads and a permutation take them sixteen at a time; a gather takes them
 * one by one. Whether they lie near is asked at run time, once for all vectors of a step. Where the column is a sum of which only
 * one part varies along the row, as in first[x] + tap, the distances between lanes are found once for all taps.
 *
 * Both loads stay inside the row, so columns at its ends, where borders have something to do, are gathered. */
#include "backends/cpu/emit_loads.h"

#include <string.h>

enum { NEAR_WINDOWS = 2, NEAR_LANES = 16, NEAR_INSTANCES = EMIT_MAX_UNROLL * EMIT_MAX_ROWS };

typedef struct near_load {
    emitter        *e;
    const cpu_read *read;
    storage         storage;
    int             instances, components;                            /* unroll x rows */
    near_columns    columns[NEAR_INSTANCES];
    LLVMValueRef    base[NEAR_INSTANCES];                             /* i64 column of lane 0 */
    LLVMValueRef    rows[EMIT_MAX_ROWS][TENSOR_MAX_LANES];
} near_load;

static LLVMTypeRef i64_type(emitter *e) { return LLVMInt64TypeInContext(emit_context(e)); }

static bool is_near_load(near_load *l)
{
    emitter *e = l->e;
    const cpu_edge *edge = &e->stage->edges.items[l->read->edge];
    if (edge->kind != READ_row_gather || l->storage.bytes != 4 || l->storage.pixel_step != 1) return false;
    if (l->storage.kind == KIND_bool || e->unroll * e->group > NEAR_INSTANCES) return false;
    int bytes = e->m->schedule->target.vector_bytes;
    return e->lanes * 4 == bytes && (bytes == 64 || bytes == 32);
}

/* ---- the columns of one vector ------------------------------------------------------------------------------------------- */

/* Right after the instruction that makes v, so that all that comes later may use it. */
static void position_after(emitter *e, LLVMValueRef v)
{
    LLVMValueRef next = LLVMGetNextInstruction(v);
    while (next && LLVMIsAPHINode(next)) next = LLVMGetNextInstruction(next);
    if (next) LLVMPositionBuilderBefore(e->builder, next);
    else LLVMPositionBuilderAtEnd(e->builder, LLVMGetInstructionParent(v));
}

/* Do all lanes read less than `limit` columns from lane 0, and none before it? */
static LLVMValueRef all_below(emitter *e, LLVMValueRef offsets, int limit)
{
    LLVMValueRef below = LLVMBuildICmp(e->builder, LLVMIntULT, offsets, emit_splat(e, emit_i32(e, limit)), "");
    LLVMTypeRef bits = LLVMIntTypeInContext(emit_context(e), (unsigned)e->lanes);
    return LLVMBuildICmp(e->builder, LLVMIntEQ, LLVMBuildBitCast(e->builder, below, bits, ""), LLVMConstAllOnes(bits), "");
}

static near_columns columns_of(emitter *e, LLVMValueRef varying)
{
    for (uint32_t k = 0; k < e->near.count; k++) if (e->near.items[k].varying == varying) return e->near.items[k];
    near_columns n = { .varying = varying };
    LLVMBasicBlockRef back = LLVMGetInsertBlock(e->builder);
    if (LLVMIsAInstruction(varying)) position_after(e, varying);
    LLVMValueRef zeros = LLVMConstNull(LLVMVectorType(LLVMInt32TypeInContext(emit_context(e)), (unsigned)e->lanes));
    n.first = LLVMBuildSExt(e->builder, LLVMBuildExtractElement(e->builder, varying, emit_i32(e, 0), ""), i64_type(e), "first");
    LLVMValueRef all_first = LLVMBuildShuffleVector(e->builder, varying, LLVMGetPoison(LLVMTypeOf(varying)), zeros, "");
    n.offsets = LLVMBuildSub(e->builder, varying, all_first, "offsets");
    for (int w = 0; w < NEAR_WINDOWS; w++) n.within[w] = all_below(e, n.offsets, (w + 1) * e->lanes);
    LLVMPositionBuilderAtEnd(e->builder, back);
    LIST_PUSH(e->m->memory, e->near, n);
    return n;
}

/* The column as a varying part and what is added to it, the same for all lanes (i64, modulo 2^32 at most away from the index). */
static void split_column(emitter *e, ref index, int u, int row, LLVMValueRef *varying, LLVMValueRef *rest)
{
    linear form;
    int term = -1;
    bool alone = linear_of(e->pipe, index, &form);
    for (int k = 0; k < form.n_terms && alone; k++) {
        if (!emit_varies(e, form.terms[k].atom)) continue;
        alone = term < 0 && form.terms[k].coefficient == 1;
        term = k;
    }
    *rest = emit_i64(e, 0);
    if (!alone || term < 0) { *varying = emit_part(e, index, u, row, 0, true); return; }
    *varying = emit_part(e, form.terms[term].atom, u, row, 0, true);
    *rest = emit_i64(e, form.constant);
    for (int k = 0; k < form.n_terms; k++) {
        if (k == term) continue;
        LLVMValueRef v = LLVMBuildSExt(e->builder, emit_scalar(e, form.terms[k].atom, row), i64_type(e), "");
        v = LLVMBuildMul(e->builder, v, emit_i64(e, form.terms[k].coefficient), "");
        *rest = LLVMBuildAdd(e->builder, *rest, v, "");
    }
}

/* ---- both ways --------------------------------------------------------------------------------------------------------------- */

/* Do all instances read within `windows` vectors from their first column, and those inside the row? */
static LLVMValueRef reads_within(near_load *l, int windows, LLVMValueRef first, LLVMValueRef last)
{
    emitter *e = l->e;
    LLVMValueRef holds = NULL;
    for (int k = 0; k < l->instances; k++) {
        LLVMValueRef end = LLVMBuildAdd(e->builder, l->base[k], emit_i64(e, windows * e->lanes - 1), "");
        LLVMValueRef inside = LLVMBuildAnd(e->builder, LLVMBuildICmp(e->builder, LLVMIntSGE, l->base[k], first, ""),
                                           LLVMBuildICmp(e->builder, LLVMIntSLE, end, last, ""), "");
        inside = LLVMBuildAnd(e->builder, inside, l->columns[k].within[windows - 1], "");
        holds = holds ? LLVMBuildAnd(e->builder, holds, inside, "") : inside;
    }
    return holds;
}

static LLVMValueRef call(emitter *e, const char *name, LLVMValueRef *args, int n)
{
    LLVMTypeRef none = NULL;
    unsigned id = LLVMLookupIntrinsicID(name, strlen(name));
    LLVMValueRef f = LLVMGetIntrinsicDeclaration(e->m->module, id, &none, 0);
    return LLVMBuildCall2(e->builder, LLVMIntrinsicGetType(emit_context(e), id, &none, 0), f, args, (unsigned)n, "");
}

/* Lane k is element offsets[k] of one vector, or of two. */
static LLVMValueRef permute(emitter *e, LLVMValueRef low, LLVMValueRef high, LLVMValueRef offsets)
{
    if (e->lanes == NEAR_LANES && !high) return call(e, "llvm.x86.avx512.permvar.sf.512", (LLVMValueRef[]){ low, offsets }, 2);
    if (e->lanes == NEAR_LANES) return call(e, "llvm.x86.avx512.vpermi2var.ps.512", (LLVMValueRef[]){ low, offsets, high }, 3);
    LLVMValueRef of_low = call(e, "llvm.x86.avx2.permps", (LLVMValueRef[]){ low, offsets }, 2);
    if (!high) return of_low;
    LLVMValueRef of_high = call(e, "llvm.x86.avx2.permps", (LLVMValueRef[]){ high, offsets }, 2);
    LLVMValueRef is_low = LLVMBuildICmp(e->builder, LLVMIntULT, offsets, emit_splat(e, emit_i32(e, e->lanes)), "");
    return LLVMBuildSelect(e->builder, is_low, of_low, of_high, "");
}

static LLVMValueRef load_vector(emitter *e, LLVMValueRef row, LLVMValueRef base, int at)
{
    LLVMTypeRef real = LLVMFloatTypeInContext(emit_context(e));
    LLVMValueRef first = at ? LLVMBuildAdd(e->builder, base, emit_i64(e, at), "") : base;
    LLVMValueRef v = LLVMBuildLoad2(e->builder, LLVMVectorType(real, (unsigned)e->lanes), LLVMBuildGEP2(e->builder, real, row, &first, 1, ""), "");
    LLVMSetAlignment(v, 4);
    return v;
}

static void load_windows(near_load *l, int windows, LLVMValueRef *parts)
{
    emitter *e = l->e;
    LLVMTypeRef t = LLVMVectorType(emit_memory_type(emit_context(e), l->storage.kind), (unsigned)e->lanes);
    int kind = node_type(e->pipe, l->read->load).kind;
    for (int k = 0; k < l->instances; k++)
        for (int c = 0; c < l->components; c++) {
            LLVMValueRef row = l->rows[k % e->group][c], low = load_vector(e, row, l->base[k], 0);
            LLVMValueRef high = windows > 1 ? load_vector(e, row, l->base[k], e->lanes) : NULL;
            LLVMValueRef v = LLVMBuildBitCast(e->builder, permute(e, low, high, l->columns[k].offsets), t, "");
            parts[k * l->components + c] = emit_cast(e, v, l->storage.kind, kind);
        }
}

static void find_columns(near_load *l)
{
    emitter *e = l->e;
    ref index = load_index(e->pipe, l->read->load, 0);
    for (int k = 0; k < l->instances; k++) {
        LLVMValueRef varying, rest;
        split_column(e, index, k / e->group, k % e->group, &varying, &rest);
        l->columns[k] = columns_of(e, varying);
        l->base[k] = LLVMBuildAdd(e->builder, l->columns[k].first, rest, "");
    }
    for (int row = 0; row < e->group; row++)
        for (int c = 0; c < l->components; c++)
            l->rows[row][c] = emit_row_pointer(e, l->read, row, l->storage.planes ? component_place(&l->storage, c) : 0);
}

static LLVMBasicBlockRef new_block(emitter *e, const char *name) { return LLVMAppendBasicBlockInContext(emit_context(e), e->function, name); }

bool emit_near(emitter *e, const cpu_read *read, LLVMValueRef *parts)
{
    near_load l = { .e = e, .read = read, .storage = emit_storage_of(e, &e->stage->edges.items[read->edge]) };
    if (!is_near_load(&l)) return false;
    l.instances = e->unroll * e->group;
    l.components = emit_components(e, read->load);
    find_columns(&l);
    LLVMValueRef first, last, *made[NEAR_WINDOWS + 1];
    emit_column_bounds(e, read, &first, &last);
    first = LLVMBuildSExt(e->builder, first, i64_type(e), "");
    last = LLVMBuildSExt(e->builder, last, i64_type(e), "");
    LLVMBasicBlockRef join = new_block(e, "join"), ends[NEAR_WINDOWS + 1];
    int n = l.instances * l.components;
    for (int w = 0; w <= NEAR_WINDOWS; w++) {
        made[w] = ARENA_ARRAY(e->m->memory, LLVMValueRef, n);
        if (w < NEAR_WINDOWS) {
            LLVMBasicBlockRef near = new_block(e, "near"), farther = new_block(e, "farther");
            LLVMBuildCondBr(e->builder, reads_within(&l, w + 1, first, last), near, farther);
            LLVMPositionBuilderAtEnd(e->builder, near);
            load_windows(&l, w + 1, made[w]);
            LLVMBuildBr(e->builder, join);
            ends[w] = near;
            LLVMPositionBuilderAtEnd(e->builder, farther);
            continue;
        }
        e->scope++;
        emit_row_gather(e, read, made[w]);
        emit_forget(e, e->scope);
        e->scope--;
        ends[w] = LLVMGetInsertBlock(e->builder);
        LLVMBuildBr(e->builder, join);
    }
    LLVMPositionBuilderAtEnd(e->builder, join);
    for (int k = 0; k < n; k++) {
        parts[k] = LLVMBuildPhi(e->builder, LLVMTypeOf(made[0][k]), "");
        LLVMAddIncoming(parts[k], (LLVMValueRef[]){ made[0][k], made[1][k], made[2][k] }, ends, NEAR_WINDOWS + 1);
    }
    return true;
}
