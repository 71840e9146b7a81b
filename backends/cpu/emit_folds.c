/* SPDX-License-Identifier: MIT
 * Folds whose bounds are known only at run time, or that are too long to unroll: nested loops with the accumulators in
 * registers, each summing its elements in order; several columns and rows at once are the independent chains that keep the
 * machine busy. What does not change inside is emitted before. */
#include "backends/cpu/emit.h"

#include <string.h>

#include "lowering/ranges.h"

typedef struct fold_emitter {
    emitter    *e;
    uint32_t    number;
    tensor_fold fold;
    bool        varies, skewed;
    int         components[TENSOR_MAX_ACCS], count[TENSOR_MAX_ACCS], total;
} fold_emitter;

/* Everything that r waits for is a loop that runs around this one. */
static bool is_available(emitter *e, const depend *d)
{
    for (int k = 0; k < d->n_open; k++) {
        bool found = false;
        for (int j = 0; j < e->n_open_folds; j++) found = found || e->open_folds[j] == d->open[k];
        if (!found) return false;
    }
    return d->n_open < DEPEND_MAX_OPEN;
}

/* Values that the elements use but that are the same for all of them, before the loops. */
static void emit_invariants(emitter *e, ref r, uint8_t *seen)
{
    if (r == 0 || seen[r]) return;
    seen[r] = 1;
    const depend *d = depends_of(e->pipe, e->all, r);
    tensor_node n = *node_at(e->pipe, r);
    if (is_available(e, d)) {
        if (n.op != OP_coord && n.op != OP_const) emit_node(e, r);
        return;
    }
    if (n.op == OP_load) {
        for (int d = 0; d < stage_at(e->pipe, n.payload)->rank; d++)
            if (emit_computes_index(e, r, d)) emit_invariants(e, load_index(e->pipe, r, d), seen);
        return;
    }
    for (int k = 0; k < n.n_args; k++) emit_invariants(e, node_arg(e->pipe, r, k), seen);
    if (n.op != OP_result) return;
    tensor_fold f = *fold_at(e->pipe, n.payload);
    emit_invariants(e, f.where, seen);
    for (int a = 0; a < f.n_accs; a++) { emit_invariants(e, f.init[a], seen); emit_invariants(e, f.next[a], seen); }
}

/* In a skewed fold row r of the group is r elements behind row 0, so that all rows read the same row of the source. */
static void remember_binder(fold_emitter *f, int b, LLVMValueRef i)
{
    LLVMValueRef parts[EMIT_MAX_ROWS];
    for (int r = 0; r < f->e->group; r++)
        parts[r] = f->skewed && b == 0 && r > 0 ? LLVMBuildSub(f->e->builder, i, emit_i32(f->e, r), "") : i;
    emit_remember(f->e, tensor_binder(f->e->pipe, f->number, b), parts, f->e->group, false);
}

/* The accumulators of one step; an acc node has the varying of its fold whatever depends_of says of the node itself. */
static void remember_accs(fold_emitter *f, LLVMValueRef *accs)
{
    for (int a = 0, at = 0; a < f->fold.n_accs; at += f->count[a], a++) {
        ref acc = tensor_acc(f->e->pipe, f->number, a, node_type(f->e->pipe, f->fold.init[a]));
        emit_remember(f->e, acc, accs + at, f->count[a], f->varies);
    }
}

static void gather_parts(fold_emitter *f, const ref *from, LLVMValueRef *out)
{
    int at = 0, n_u = f->varies ? f->e->unroll : 1;
    for (int a = 0; a < f->fold.n_accs; a++) {
        emit_node(f->e, from[a]);
        for (int u = 0; u < n_u; u++)
            for (int r = 0; r < f->e->group; r++)
                for (int c = 0; c < f->components[a]; c++) out[at++] = emit_part(f->e, from[a], u, r, c, f->varies);
    }
}

static void apply_where(fold_emitter *f, LLVMValueRef *accs, LLVMValueRef *next)
{
    int at = 0, n_u = f->varies ? f->e->unroll : 1;
    for (int a = 0; a < f->fold.n_accs; a++)
        for (int u = 0; u < n_u; u++)
            for (int r = 0; r < f->e->group; r++)
                for (int c = 0; c < f->components[a]; c++, at++) {
                    LLVMValueRef holds = emit_part(f->e, f->fold.where, u, r, 0, f->varies);
                    next[at] = LLVMBuildSelect(f->e->builder, holds, next[at], accs[at], "");
                }
}

static LLVMBasicBlockRef new_block(emitter *e, const char *name)
{
    return LLVMAppendBasicBlockInContext(emit_context(e), e->function, name);
}

static void fold_element(fold_emitter *f, LLVMValueRef *accs)
{
    emitter *e = f->e;
    LLVMValueRef *next = ARENA_ARRAY(e->m->memory, LLVMValueRef, f->total);
    remember_accs(f, accs);
    bool skip = f->fold.where && !f->skewed && !emit_varies(e, f->fold.where) && !(depends_of(e->pipe, e->all, f->fold.where)->coords & 2);
    if (!skip) {
        gather_parts(f, f->fold.next, next);
        if (f->fold.where) apply_where(f, accs, next);
        memcpy(accs, next, sizeof *next * (size_t)f->total);
        return;
    }
    /* The condition is the same for the whole row: a branch, outside of every vector. */
    LLVMValueRef holds = emit_scalar(e, f->fold.where, 0);
    LLVMBasicBlockRef from = LLVMGetInsertBlock(e->builder), element = new_block(e, "element"), join = new_block(e, "join");
    LLVMBuildCondBr(e->builder, holds, element, join);
    LLVMPositionBuilderAtEnd(e->builder, element);
    e->scope++;
    gather_parts(f, f->fold.next, next);
    emit_forget(e, e->scope);
    e->scope--;
    LLVMBasicBlockRef end = LLVMGetInsertBlock(e->builder);
    LLVMBuildBr(e->builder, join);
    LLVMPositionBuilderAtEnd(e->builder, join);
    for (int k = 0; k < f->total; k++) {
        LLVMValueRef phi = LLVMBuildPhi(e->builder, LLVMTypeOf(accs[k]), "");
        LLVMAddIncoming(phi, (LLVMValueRef[]){ accs[k], next[k] }, (LLVMBasicBlockRef[]){ from, end }, 2);
        accs[k] = phi;
    }
}

static void fold_loop(fold_emitter *f, int b, LLVMValueRef *accs);

/* Where the last may be the greatest number that there is, what comes after it is the lowest. */
static LLVMValueRef goes_on(fold_emitter *f, int b, LLVMValueRef first, LLVMValueRef last, LLVMValueRef i)
{
    LLVMBuilderRef builder = f->e->builder;
    LLVMValueRef holds = LLVMBuildICmp(builder, LLVMIntSLE, i, last, "");
    if (uniform_range(f->e->m->memory, f->e->pipe, f->fold.hi[b]).hi < INT32_MAX) return holds;
    return LLVMBuildAnd(builder, LLVMBuildICmp(builder, LLVMIntSLE, first, i, ""), holds, "");
}

/* The loop over binder b from first to last and those inside it; accs are taken and given. */
static void fold_range(fold_emitter *f, int b, LLVMValueRef first, LLVMValueRef last, LLVMValueRef *accs)
{
    emitter *e = f->e;
    LLVMBasicBlockRef before = LLVMGetInsertBlock(e->builder);
    LLVMBasicBlockRef head = new_block(e, "fold"), body = new_block(e, "fold.body"), done = new_block(e, "fold.done");
    LLVMBuildBr(e->builder, head);
    LLVMPositionBuilderAtEnd(e->builder, head);
    LLVMValueRef i = LLVMBuildPhi(e->builder, LLVMInt32TypeInContext(emit_context(e)), f->fold.binder_names[b] ? f->fold.binder_names[b] : "i");
    LLVMValueRef *phis = ARENA_ARRAY(e->m->memory, LLVMValueRef, f->total), *inner = ARENA_ARRAY(e->m->memory, LLVMValueRef, f->total);
    for (int k = 0; k < f->total; k++) phis[k] = LLVMBuildPhi(e->builder, LLVMTypeOf(accs[k]), "acc");
    LLVMBuildCondBr(e->builder, goes_on(f, b, first, last, i), body, done);
    LLVMPositionBuilderAtEnd(e->builder, body);
    e->scope++;
    remember_binder(f, b, i);
    memcpy(inner, phis, sizeof *phis * (size_t)f->total);
    fold_loop(f, b + 1, inner);
    emit_forget(e, e->scope);
    e->scope--;
    LLVMBasicBlockRef latch = LLVMGetInsertBlock(e->builder);
    LLVMAddIncoming(i, (LLVMValueRef[]){ first, LLVMBuildAdd(e->builder, i, emit_i32(e, 1), "") }, (LLVMBasicBlockRef[]){ before, latch }, 2);
    for (int k = 0; k < f->total; k++)
        LLVMAddIncoming(phis[k], (LLVMValueRef[]){ accs[k], inner[k] }, (LLVMBasicBlockRef[]){ before, latch }, 2);
    LLVMBuildBr(e->builder, head);
    LLVMPositionBuilderAtEnd(e->builder, done);
    memcpy(accs, phis, sizeof *phis * (size_t)f->total);
}

static void fold_loop(fold_emitter *f, int b, LLVMValueRef *accs)
{
    if (b == f->fold.n_binders) fold_element(f, accs);
    else fold_range(f, b, emit_scalar(f->e, f->fold.lo[b], 0), emit_scalar(f->e, f->fold.hi[b], 0), accs);
}

/* ---- skewed folds --------------------------------------------------------------------------------------------------
 * For a group of R rows the first binder runs over the rows of the source: at k, row r of the group takes its element k - r.
 * A row of the source is loaded once and used R times, and every output still takes its own elements in their own order. The
 * first R - 1 and the last R - 1 rows serve only some of the group: they are peeled. */

/* One peeled row: rows from..to of the group take their element at - row, the others none. */
static void peeled_row(fold_emitter *f, LLVMValueRef at, int from, int to, LLVMValueRef *accs)
{
    emitter *e = f->e;
    LLVMValueRef *inner = ARENA_ARRAY(e->m->memory, LLVMValueRef, f->total), parts[EMIT_MAX_ROWS];
    memcpy(inner, accs, sizeof *accs * (size_t)f->total);
    e->scope++;
    for (int r = 0; r < e->group; r++) {
        int valid = r < from ? from : r > to ? to : r;         /* the others do what a valid one does, and are dropped */
        parts[r] = valid ? LLVMBuildSub(e->builder, at, emit_i32(e, valid), "") : at;
    }
    emit_remember(e, tensor_binder(e->pipe, f->number, 0), parts, e->group, false);
    fold_loop(f, 1, inner);
    emit_forget(e, e->scope);
    e->scope--;
    int part = 0, n_u = f->varies ? e->unroll : 1;
    for (int a = 0; a < f->fold.n_accs; a++)
        for (int u = 0; u < n_u; u++)
            for (int r = 0; r < e->group; r++)
                for (int c = 0; c < f->components[a]; c++, part++) if (r >= from && r <= to) accs[part] = inner[part];
}

static void skewed_fold(fold_emitter *f, LLVMValueRef *accs)
{
    emitter *e = f->e;
    int last_row = e->group - 1;
    LLVMValueRef lo = emit_scalar(e, f->fold.lo[0], 0), hi = emit_scalar(e, f->fold.hi[0], 0);
    for (int k = 0; k < last_row; k++) peeled_row(f, LLVMBuildAdd(e->builder, lo, emit_i32(e, k), ""), 0, k, accs);
    fold_range(f, 0, LLVMBuildAdd(e->builder, lo, emit_i32(e, last_row), ""), hi, accs);
    for (int k = 1; k <= last_row; k++) peeled_row(f, LLVMBuildAdd(e->builder, hi, emit_i32(e, k), ""), k, last_row, accs);
}

static bool is_skewed(const emitter *e, uint32_t fold)
{
    if (!e->stage || e->group == 1) return false;
    for (uint32_t k = 0; k < e->stage->skewed.count; k++) if (e->stage->skewed.items[k] == fold) return true;
    return false;
}

void emit_fold(emitter *e, uint32_t number)
{
    fold_emitter f = { .e = e, .number = number, .fold = *fold_at(e->pipe, number) };
    f.varies = emit_fold_varies(e, number);
    for (int a = 0; a < f.fold.n_accs; a++) {
        f.components[a] = emit_components(e, f.fold.init[a]);
        f.count[a] = (f.varies ? e->unroll : 1) * e->group * f.components[a];
        f.total += f.count[a];
    }
    uint8_t *seen = ARENA_ARRAY(e->m->memory, uint8_t, e->pipe->nodes.count);
    for (int a = 0; a < f.fold.n_accs; a++) emit_invariants(e, f.fold.next[a], seen);
    emit_invariants(e, f.fold.where, seen);
    LLVMValueRef *accs = ARENA_ARRAY(e->m->memory, LLVMValueRef, f.total + 1);
    gather_parts(&f, f.fold.init, accs);
    e->open_folds[e->n_open_folds++] = number;
    f.skewed = f.varies && is_skewed(e, number);
    if (f.skewed) skewed_fold(&f, accs);
    else fold_loop(&f, 0, accs);
    e->n_open_folds--;
    for (int a = 0, at = 0; a < f.fold.n_accs; at += f.count[a], a++)
        emit_remember(e, tensor_result(e->pipe, number, a), accs + at, f.count[a], f.varies);
}
