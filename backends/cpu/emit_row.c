/* SPDX-License-Identifier: MIT
 * Whole functions. A row function walks the columns [x0, x1) three ways: steps of several vectors; then single vectors, the
 * last of which starts early enough to end at x1 (it computes some pixels a second time, which is harmless but in place);
 * then, for rows narrower than a vector or in place, one pixel at a time. The bulk has no branch but the loop's and, where a
 * picture's row is stored, whether its vectors go past the caches: one well-predicted branch a step, around the stores alone. */
#include "backends/cpu/emit_loads.h"

#include <string.h>

static LLVMTypeRef void_type(emit_module *m) { return LLVMVoidTypeInContext(m->context); }
static LLVMTypeRef i32_type(emit_module *m) { return LLVMInt32TypeInContext(m->context); }
static LLVMTypeRef i64_type(emit_module *m) { return LLVMInt64TypeInContext(m->context); }
static LLVMTypeRef pointer_type(emit_module *m) { return LLVMPointerTypeInContext(m->context, 0); }

static void add_attribute(emit_module *m, LLVMValueRef f, unsigned index, const char *name)
{
    unsigned kind = LLVMGetEnumAttributeKindForName(name, strlen(name));
    LLVMAddAttributeAtIndex(f, index, LLVMCreateEnumAttribute(m->context, kind, 0));
}

static void begin(emitter *e, emit_module *m, cpu_stage *stage, const char *name, LLVMTypeRef type)
{
    cpu_schedule *s = m->schedule;
    *e = (emitter){ .m = m, .pipe = s->pipe, .all = &s->all, .stage = stage, .lanes = 1, .unroll = 1, .group = 1, .flat_lanes = 1, .scope = 1 };
    e->n_values = s->pipe->nodes.count + s->pipe->folds.count * (TENSOR_MAX_BINDERS + 2 * TENSOR_MAX_ACCS) + 4096;
    e->values = ARENA_ARRAY(m->memory, node_value, e->n_values);
    e->varying = ARENA_ARRAY(m->memory, uint8_t, e->n_values);
    e->looping = ARENA_ARRAY(m->memory, uint8_t, e->n_values);
    e->slot_of = ARENA_ARRAY(m->memory, uint16_t, e->n_values);
    for (uint32_t k = 0; stage && k < stage->uniforms.count && k < UINT16_MAX; k++) e->slot_of[stage->uniforms.items[k]] = (uint16_t)(k + 1);
    e->function = LLVMAddFunction(m->module, name, type);
    LLVMSetLinkage(e->function, LLVMInternalLinkage);
    add_attribute(m, e->function, (unsigned)LLVMAttributeFunctionIndex, "nounwind");
    add_attribute(m, e->function, 1, "noalias");
    e->frame = LLVMGetParam(e->function, 0);
    e->entry = LLVMAppendBasicBlockInContext(m->context, e->function, "entry");
    e->builder = LLVMCreateBuilderInContext(m->context);
    LLVMPositionBuilderAtEnd(e->builder, e->entry);
}

static LLVMBasicBlockRef block(emitter *e, const char *name) { return LLVMAppendBasicBlockInContext(e->m->context, e->function, name); }

/* ---- stores ---------------------------------------------------------------------------------------------------------- */

static bool stores_planes(emitter *e)
{
    if (e->flat) return false;
    if (!e->stage->sink) return true;
    return e->m->schedule->memories.items[e->stage->memory].planar;
}

static LLVMValueRef destination_row(emitter *e, int row, int plane)
{
    LLVMValueRef known = emit_known_entry(e, ENTRY_destination, 0, row, plane);
    if (known) return known;
    emit_module *m = e->m;
    LLVMBasicBlockRef back = emit_hoist_begin(e);
    LLVMValueRef destination = emit_frame_field(e, offsetof(haloi_frame, destination), pointer_type(m), "destination");
    LLVMValueRef rows = emit_field(e, destination, offsetof(haloi_rows, row), pointer_type(m), "rows");
    LLVMValueRef at = emit_field(e, rows, sizeof(char *) * (size_t)row, pointer_type(m), "out");
    if (plane) {
        LLVMValueRef bytes = emit_field(e, destination, offsetof(haloi_rows, plane_bytes), i64_type(m), "plane");
        at = emit_byte_offset(e, at, LLVMBuildMul(e->builder, bytes, emit_i64(e, plane), ""));
    }
    emit_hoist_end(e, back);
    return emit_keep_entry(e, (row_entry){ ENTRY_destination, 0, row, plane, at });
}

static void store_elements(emitter *e, LLVMValueRef row, LLVMValueRef element, LLVMValueRef v, int kind)
{
    LLVMValueRef at = LLVMBuildGEP2(e->builder, emit_memory_type(e->m->context, kind), row, &element, 1, "");
    LIST_PUSH(e->m->memory, e->stores, ((row_store){ at, v, kind_get((enum kind)kind)->n_bytes }));
}

static void write_stores(emitter *e)
{
    for (uint32_t k = 0; k < e->stores.count; k++) {
        const row_store *s = &e->stores.items[k];
        LLVMSetAlignment(LLVMBuildStore(e->builder, s->value, s->at), (unsigned)s->element_bytes);
    }
}

/* In pieces as large as the alignment that the driver vouches for, before the ways part: a value that is no register's width and
 * goes from one block into another is taken apart element by element. */
static void split_stores(emitter *e)
{
    uint32_t n_stores = e->stores.count;
    row_store *whole = ARENA_ARRAY(e->m->memory, row_store, n_stores);
    memcpy(whole, e->stores.items, sizeof *whole * n_stores);
    e->stores.count = 0;
    for (uint32_t k = 0; k < n_stores; k++) {
        LLVMTypeRef t = LLVMTypeOf(whole[k].value);
        unsigned n = LLVMGetVectorSize(t), piece = (unsigned)(e->stage->stream_bytes / whole[k].element_bytes);
        LLVMValueRef mask[64];
        for (unsigned at = 0; at < n; at += piece) {
            row_store part = whole[k];
            LLVMValueRef index = emit_i64(e, at);
            for (unsigned j = 0; j < piece; j++) mask[j] = emit_i32(e, (int32_t)(at + j));
            if (piece < n) part.value = LLVMBuildShuffleVector(e->builder, part.value, LLVMGetPoison(t), LLVMConstVector(mask, piece), "");
            if (at) part.at = LLVMBuildGEP2(e->builder, LLVMGetElementType(t), part.at, &index, 1, "");
            LIST_PUSH(e->m->memory, e->stores, part);
        }
    }
}

static void stream_store(emitter *e, const row_store *s)
{
    LLVMContextRef c = e->m->context;
    LLVMMetadataRef one = LLVMValueAsMetadata(emit_i32(e, 1));
    LLVMValueRef store = LLVMBuildStore(e->builder, s->value, s->at);
    LLVMSetAlignment(store, (unsigned)e->stage->stream_bytes);
    LLVMSetMetadata(store, LLVMGetMDKindIDInContext(c, "nontemporal", 11), LLVMMetadataAsValue(c, LLVMMDNodeInContext2(c, &one, 1)));
}

/* Past the caches when `streaming` (NULL: never). */
static void finish_stores(emitter *e, LLVMValueRef streaming)
{
    if (streaming) {
        LLVMBasicBlockRef past = block(e, "past"), through = block(e, "through"), done = block(e, "stored");
        split_stores(e);
        LLVMBuildCondBr(e->builder, streaming, past, through);
        LLVMPositionBuilderAtEnd(e->builder, past);
        for (uint32_t k = 0; k < e->stores.count; k++) stream_store(e, &e->stores.items[k]);
        LLVMBuildBr(e->builder, done);
        LLVMPositionBuilderAtEnd(e->builder, through);
        write_stores(e);
        LLVMBuildBr(e->builder, done);
        LLVMPositionBuilderAtEnd(e->builder, done);
    } else write_stores(e);
    e->stores.count = 0;
}

static void store_pixels(emitter *e, LLVMValueRef *parts, int n, int kind, int u, int row)
{
    bool bgra = e->stage->sink && e->m->schedule->memories.items[e->stage->memory].bgra;
    LLVMValueRef x = u ? LLVMBuildAdd(e->builder, e->x, emit_i64(e, (int64_t)u * e->lanes), "") : e->x;
    if (bgra && n >= 3) { LLVMValueRef t = parts[0]; parts[0] = parts[2]; parts[2] = t; }
    if (n == 1 || stores_planes(e)) {
        for (int c = 0; c < n; c++) store_elements(e, destination_row(e, row, c), x, parts[c], kind);
        return;
    }
    LLVMValueRef first = LLVMBuildMul(e->builder, x, emit_i64(e, n), ""), out = destination_row(e, row, 0);
    if (e->lanes > 1) { store_elements(e, out, first, emit_interleave(e, parts, n), kind); return; }
    for (int c = 0; c < n; c++) store_elements(e, out, LLVMBuildAdd(e->builder, first, emit_i64(e, c), ""), parts[c], kind);
}

/* ---- bodies ----------------------------------------------------------------------------------------------------------- */

/* What is made of a column: one pixel, or (phases.c) one pixel of each remainder, side by side. */
typedef struct row_body { const ref *phase; int phases; type t; } row_body;

/* A component of all pixels of instance u, in the order of memory. */
static LLVMValueRef body_part(emitter *e, const row_body *body, int u, int row, int component)
{
    LLVMValueRef parts[2];
    for (int k = 0; k < body->phases; k++) parts[k] = emit_to_memory(e, emit_part(e, body->phase[k], u, row, component, true), body->t.kind);
    return body->phases > 1 ? emit_interleave(e, parts, body->phases) : parts[0];
}

static void store_body(emitter *e, const row_body *body, int u, int row)
{
    LLVMValueRef parts[TENSOR_MAX_LANES], x = e->x;
    int n = e->flat ? 1 : body->t.lanes, lanes = e->lanes;
    for (int c = 0; c < n; c++) parts[c] = body_part(e, body, u, row, c);
    if (body->phases > 1) e->x = LLVMBuildMul(e->builder, x, emit_i64(e, body->phases), "");
    e->lanes = lanes * body->phases;
    store_pixels(e, parts, n, body->t.kind, u, row);
    e->lanes = lanes;
    e->x = x;
}

/* The components of whole pixels, from as many vectors of a flat line. */
static void store_apart(emitter *e, const row_body *body, int u, int row)
{
    int n = e->flat_lanes;
    LLVMValueRef line[TENSOR_MAX_LANES], parts[TENSOR_MAX_LANES], x = LLVMBuildExactSDiv(e->builder, e->x, emit_i64(e, n), "");
    if (u) x = LLVMBuildAdd(e->builder, x, emit_i64(e, (int64_t)(u / n) * e->lanes), "");
    for (int k = 0; k < n; k++) line[k] = body_part(e, body, u + k, row, 0);
    emit_take_apart(e, line, n, parts);
    for (int c = 0; c < n; c++) store_elements(e, destination_row(e, row, c), x, parts[c], body->t.kind);
}

static int vectors_together(const emitter *e) { return e->stage->apart ? e->flat_lanes : 1; }

static void emit_body(emitter *e, const row_body *body, int lanes, int unroll, LLVMValueRef streaming)
{
    e->lanes = lanes;
    e->unroll = unroll;
    e->scope = 2;
    for (int k = 0; k < body->phases; k++) emit_node(e, body->phase[k]);
    if (lanes > 1 && e->reads) emit_ahead(e);
    for (int u = 0; u < unroll; u += vectors_together(e))
        for (int row = 0; row < e->group; row++) {
            if (e->stage->apart) store_apart(e, body, u, row);
            else store_body(e, body, u, row);
            if (!streaming) finish_stores(e, NULL);
        }
    finish_stores(e, streaming);
    emit_forget(e, 2);
}

/* Whether the driver asks to stream; NULL in functions that can't. */
static LLVMValueRef asked_to_stream(emitter *e)
{
    if (e->stage->stream_bytes == 0) return NULL;
    LLVMBasicBlockRef back = emit_hoist_begin(e);
    LLVMValueRef flag = emit_frame_field(e, offsetof(haloi_frame, streaming), i64_type(e->m), "streaming");
    flag = LLVMBuildICmp(e->builder, LLVMIntNE, flag, emit_i64(e, 0), "");
    emit_hoist_end(e, back);
    return flag;
}

/* while (x + step <= limit) { body; x += step }; returns x after it. */
static LLVMValueRef steps_loop(emitter *e, const row_body *body, int lanes, int unroll, LLVMValueRef x, LLVMValueRef limit)
{
    LLVMBuilderRef b = e->builder;
    LLVMBasicBlockRef before = LLVMGetInsertBlock(b), head = block(e, "steps"), inside = block(e, "steps.body"), done = block(e, "steps.done");
    LLVMValueRef step = emit_i64(e, (int64_t)lanes * unroll);
    LLVMBuildBr(b, head);
    LLVMPositionBuilderAtEnd(b, head);
    LLVMValueRef i = LLVMBuildPhi(b, i64_type(e->m), "x"), next = LLVMBuildAdd(b, i, step, "");
    LLVMBuildCondBr(b, LLVMBuildICmp(b, LLVMIntSLE, next, limit, ""), inside, done);
    LLVMPositionBuilderAtEnd(b, inside);
    e->x = i;
    emit_body(e, body, lanes, unroll, lanes > 1 ? asked_to_stream(e) : NULL);
    LLVMAddIncoming(i, (LLVMValueRef[]){ x, next }, (LLVMBasicBlockRef[]){ before, LLVMGetInsertBlock(b) }, 2);
    LLVMBuildBr(b, head);
    LLVMPositionBuilderAtEnd(b, done);
    return i;
}

/* Single vectors (or as many as make whole pixels) to the end; the last one starts at limit - lanes where that is allowed. Returns x after it. */
static LLVMValueRef vectors_loop(emitter *e, const row_body *body, int lanes, LLVMValueRef x, LLVMValueRef start, LLVMValueRef limit)
{
    LLVMBuilderRef b = e->builder;
    LLVMBasicBlockRef back = emit_hoist_begin(e);
    int together = vectors_together(e), width = lanes * together;
    LLVMValueRef in_place = emit_frame_field(e, offsetof(haloi_frame, no_overlap), i64_type(e->m), "no_overlap");
    LLVMValueRef last = LLVMBuildSub(b, limit, emit_i64(e, width), "last");
    LLVMValueRef wide = LLVMBuildICmp(b, LLVMIntSGE, last, start, "");
    LLVMValueRef overlap = LLVMBuildAnd(b, wide, LLVMBuildICmp(b, LLVMIntEQ, in_place, emit_i64(e, 0), ""), "overlap");
    /* In place only whole vectors fit: then the loop ends at `last`, else at the limit. */
    LLVMValueRef end = LLVMBuildSelect(b, overlap, LLVMBuildSub(b, limit, emit_i64(e, 1), ""), last, "end");
    emit_hoist_end(e, back);
    LLVMBasicBlockRef before = LLVMGetInsertBlock(b), head = block(e, "vectors"), inside = block(e, "vectors.body"), done = block(e, "vectors.done");
    LLVMBuildBr(b, head);
    LLVMPositionBuilderAtEnd(b, head);
    LLVMValueRef i = LLVMBuildPhi(b, i64_type(e->m), "x");
    LLVMBuildCondBr(b, LLVMBuildICmp(b, LLVMIntSLE, i, end, ""), inside, done);
    LLVMPositionBuilderAtEnd(b, inside);
    LLVMValueRef late = LLVMBuildICmp(b, LLVMIntSGT, i, last, "");
    e->x = LLVMBuildSelect(b, late, last, i, "");
    LLVMValueRef next = LLVMBuildAdd(b, e->x, emit_i64(e, width), "");
    /* The last vector overlaps what was streamed, unaligned. */
    LLVMValueRef streaming = asked_to_stream(e);
    emit_body(e, body, lanes, together, streaming ? LLVMBuildAnd(b, streaming, LLVMBuildNot(b, late, ""), "") : NULL);
    LLVMAddIncoming(i, (LLVMValueRef[]){ x, next }, (LLVMBasicBlockRef[]){ before, LLVMGetInsertBlock(b) }, 2);
    LLVMBuildBr(b, head);
    LLVMPositionBuilderAtEnd(b, done);
    return i;
}

static LLVMValueRef column(emitter *e, unsigned argument)
{
    LLVMValueRef x = LLVMBuildSExt(e->builder, LLVMGetParam(e->function, argument), i64_type(e->m), "");
    return e->flat_lanes > 1 ? LLVMBuildMul(e->builder, x, emit_i64(e, e->flat_lanes), "") : x;
}

/* Where vectors end: where nothing can be fetched by words, they don't begin. */
static LLVMValueRef vectors_limit(emitter *e, const row_body *body, LLVMValueRef start, LLVMValueRef limit)
{
    LLVMValueRef guard = emit_pixels_guard(e, body->phase, (uint32_t)body->phases);
    if (!guard) return limit;
    LLVMBasicBlockRef back = emit_hoist_begin(e);
    LLVMValueRef end = LLVMBuildSelect(e->builder, guard, limit, start, "vectors.end");
    emit_hoist_end(e, back);
    return end;
}

static LLVMValueRef vector_columns(emitter *e, const row_body *body, int lanes, int unroll, LLVMValueRef start, LLVMValueRef limit)
{
    LLVMValueRef x = start;
    if (lanes > 1) limit = vectors_limit(e, body, start, limit);
    if (unroll > 1) x = steps_loop(e, body, lanes, unroll, x, limit);
    return lanes > 1 ? vectors_loop(e, body, lanes, x, start, limit) : x;
}

/* The rows' bodies, one of which is for this row. Returns the column after the last that was made. */
static LLVMValueRef phase_rows(emitter *e, const cpu_phases *phases, type t, LLVMValueRef start, LLVMValueRef limit)
{
    LLVMBuilderRef b = e->builder;
    const cpu_stage *as = phases->as;
    row_body body = { phases->body, phases->columns, t };
    if (phases->rows == 1) return vector_columns(e, &body, as->lanes, as->unroll, start, limit);
    LLVMBasicBlockRef rows[2] = { block(e, "even"), block(e, "odd") }, done = block(e, "made"), from[2];
    LLVMValueRef x[2], odd = LLVMBuildTrunc(b, e->y, LLVMInt1TypeInContext(e->m->context), "");
    LLVMBuildCondBr(b, odd, rows[1], rows[0]);
    for (int k = 0; k < 2; k++) {
        LLVMPositionBuilderAtEnd(b, rows[k]);
        body.phase = phases->body + k * phases->columns;
        x[k] = vector_columns(e, &body, as->lanes, as->unroll, start, limit);
        from[k] = LLVMGetInsertBlock(b);
        LLVMBuildBr(b, done);
    }
    LLVMPositionBuilderAtEnd(b, done);
    LLVMValueRef after = LLVMBuildPhi(b, i64_type(e->m), "x");
    LLVMAddIncoming(after, x, from, 2);
    return after;
}

/* By twos from an even column on. An odd one before them is made alone, and so is what remains after them: by one loop, which is
 * gone through twice, so that the body of all columns is in the code once. */
static void phase_columns(emitter *e, const cpu_phases *phases, const row_body *whole, LLVMValueRef start, LLVMValueRef limit)
{
    LLVMBuilderRef b = e->builder;
    cpu_stage *stage = e->stage;
    LLVMTypeRef bit = LLVMInt1TypeInContext(e->m->context);
    LLVMBasicBlockRef back = emit_hoist_begin(e);
    LLVMValueRef one = emit_i64(e, phases->columns - 1);                  /* a column, and a halving; or none of both */
    LLVMValueRef even = LLVMBuildAdd(b, start, LLVMBuildAnd(b, start, one, ""), "even");      /* at most the limit, which is beyond the start */
    LLVMValueRef first = LLVMBuildAShr(b, even, one, ""), last = LLVMBuildAShr(b, limit, one, "");
    emit_hoist_end(e, back);
    LLVMBasicBlockRef before = LLVMGetInsertBlock(b), alone = block(e, "alone"), together = block(e, "together"), done = block(e, "done");
    LLVMBuildBr(b, alone);
    LLVMPositionBuilderAtEnd(b, alone);
    LLVMValueRef x = LLVMBuildPhi(b, i64_type(e->m), "x"), until = LLVMBuildPhi(b, i64_type(e->m), "until"), again = LLVMBuildPhi(b, bit, "again");
    steps_loop(e, whole, 1, 1, x, until);
    LLVMBuildCondBr(b, again, done, together);
    LLVMPositionBuilderAtEnd(b, together);
    e->stage = phases->as;
    LLVMValueRef after = LLVMBuildShl(b, phase_rows(e, phases, whole->t, first, last), one, "");
    e->stage = stage;
    LLVMBasicBlockRef from[2] = { before, LLVMGetInsertBlock(b) };
    LLVMAddIncoming(x, (LLVMValueRef[]){ start, after }, from, 2);
    LLVMAddIncoming(until, (LLVMValueRef[]){ even, limit }, from, 2);
    LLVMAddIncoming(again, (LLVMValueRef[]){ LLVMConstInt(bit, 0, 0), LLVMConstInt(bit, 1, 0) }, from, 2);
    LLVMBuildBr(b, alone);
    LLVMPositionBuilderAtEnd(b, done);
}

static LLVMValueRef emit_columns(emit_module *m, cpu_stage *stage, int group, ref pixel, type t, const char *name, int unroll)
{
    emitter e;
    LLVMTypeRef args[4] = { pointer_type(m), i32_type(m), i32_type(m), i32_type(m) };
    begin(&e, m, stage, name, LLVMFunctionType(void_type(m), args, 4, 0));
    e.group = group;
    e.flat = stage->flat;
    e.reads = pixel == stage_at(m->schedule->pipe, stage->stage)->body;
    e.flat_lanes = stage->flat ? t.lanes : 1;
    e.y = LLVMGetParam(e.function, 1);
    LLVMValueRef start = column(&e, 2), limit = column(&e, 3);
    LLVMBasicBlockRef prologue = block(&e, "prologue"), first = block(&e, "columns");
    e.prologue = prologue;
    LLVMPositionBuilderAtEnd(e.builder, first);
    e.scope = 2;
    row_body body = { &pixel, 1, t };
    bool in_phases = stage->phases && pixel == stage_at(m->schedule->pipe, stage->stage)->body;
    if (in_phases) phase_columns(&e, stage->phases, &body, start, limit);
    else {
        LLVMValueRef x = vector_columns(&e, &body, stage->lanes, unroll, start, limit);
        if (group == 1 || group_columns(stage, t.lanes) == 0) steps_loop(&e, &body, 1, vectors_together(&e), x, limit);
    }
    LLVMBuildRetVoid(e.builder);
    LLVMPositionBuilderAtEnd(e.builder, e.entry);
    LLVMBuildBr(e.builder, prologue);
    LLVMPositionBuilderAtEnd(e.builder, e.prologue);
    LLVMBuildBr(e.builder, first);
    LLVMDisposeBuilder(e.builder);
    return e.function;
}

static LLVMValueRef shared_columns(emit_module *m, cpu_stage *stage, int group, ref body, const char *name, int unroll)
{
    type t = stage_at(m->schedule->pipe, stage->stage)->type;
    emitted_function entry = { .signature = emit_signature(m, stage, body, group, unroll) };
    for (uint32_t k = 0; k < m->emitted.count; k++)
        if (strcmp(m->emitted.items[k].signature, entry.signature) == 0) return m->emitted.items[k].function;
    entry.function = emit_columns(m, stage, group, body, t, name, unroll);
    LIST_PUSH(m->memory, m->emitted, entry);
    return entry.function;
}

LLVMValueRef emit_row_function(emit_module *m, cpu_stage *stage, int group, const char *name)
{
    return shared_columns(m, stage, group, stage_at(m->schedule->pipe, stage->stage)->body, name, stage->unroll);
}

LLVMValueRef emit_fill_function(emit_module *m, cpu_stage *stage, ref value, const char *name)
{
    return shared_columns(m, stage, 1, value, name, 1);
}

/* ---- setup -------------------------------------------------------------------------------------------------------------- */

static void return_unless(emitter *e, LLVMValueRef holds, int32_t code)
{
    LLVMBasicBlockRef bad = block(e, "bad"), good = block(e, "good");
    LLVMBuildCondBr(e->builder, holds, good, bad);
    LLVMPositionBuilderAtEnd(e->builder, bad);
    LLVMBuildRet(e->builder, emit_i32(e, code));
    LLVMPositionBuilderAtEnd(e->builder, good);
    e->entry = good;
}

/* lo <= v and v <= hi (v < hi), false for NaN. */
static LLVMValueRef in_range(emitter *e, LLVMValueRef v, const tensor_param *p)
{
    LLVMBuilderRef b = e->builder;
    if (kind_is_float(p->type.kind)) {
        LLVMTypeRef d = LLVMDoubleTypeInContext(e->m->context);
        v = LLVMBuildFPExt(b, v, d, "");
        LLVMValueRef low = LLVMBuildFCmp(b, LLVMRealOGE, v, LLVMConstReal(d, p->lo), "");
        LLVMValueRef high = LLVMBuildFCmp(b, p->half_open ? LLVMRealOLT : LLVMRealOLE, v, LLVMConstReal(d, p->hi), "");
        return LLVMBuildAnd(b, low, high, "");
    }
    LLVMTypeRef i = i64_type(e->m);
    bool sign = kind_get((enum kind)p->type.kind)->class == 'I';
    v = sign ? LLVMBuildSExt(b, v, i, "") : LLVMBuildZExt(b, v, i, "");
    LLVMValueRef low = LLVMBuildICmp(b, LLVMIntSGE, v, emit_i64(e, (int64_t)p->lo), "");
    LLVMValueRef high = LLVMBuildICmp(b, p->half_open ? LLVMIntSLT : LLVMIntSLE, v, emit_i64(e, (int64_t)p->hi), "");
    return LLVMBuildAnd(b, low, high, "");
}

static void check_parameters(emitter *e)
{
    for (uint32_t k = 0; k < e->pipe->params.count; k++) {
        tensor_param p = e->pipe->params.items[k];
        if (!p.has_range) continue;
        ref node = tensor_param_node(e->pipe, k);
        for (int c = 0; c < p.type.lanes; c++)
            return_unless(e, in_range(e, emit_part(e, node, 0, 0, c, false), &p), -1 - (int32_t)k);
    }
}

LLVMValueRef emit_setup_function(emit_module *m, const char *name)
{
    emitter e;
    LLVMTypeRef args[2] = { pointer_type(m), pointer_type(m) };
    begin(&e, m, NULL, name, LLVMFunctionType(i32_type(m), args, 2, 0));
    check_parameters(&e);
    for (uint32_t k = 0; k < e.pipe->checks.count; k++)
        return_unless(&e, emit_scalar(&e, e.pipe->checks.items[k].condition, 0), 1 + (int32_t)k);
    for (uint32_t k = 0; k < m->schedule->slots.count; k++) {
        LLVMValueRef v = emit_scalar(&e, m->schedule->slots.items[k], 0);
        bool sign = kind_get((kind)node_type(e.pipe, m->schedule->slots.items[k]).kind)->class == 'I';
        if (LLVMTypeOf(v) != LLVMFloatTypeInContext(m->context)) v = LLVMBuildIntCast2(e.builder, v, i32_type(m), sign, "");
        LLVMValueRef at = emit_byte_offset(&e, LLVMGetParam(e.function, 1), emit_i64(&e, 4 * (int64_t)k));
        LLVMBuildStore(e.builder, v, at);
    }
    LLVMBuildRet(e.builder, emit_i32(&e, 0));
    LLVMDisposeBuilder(e.builder);
    return e.function;
}
