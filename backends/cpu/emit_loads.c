/* SPDX-License-Identifier: MIT
 * Loads. Three ways (schedule_reads.c decides): whole rows through the driver's row pointers, with no check and no map; rows
 * with computed columns; and memory anywhere, with the border maps of each axis done in vector arithmetic. */
#include "backends/cpu/emit_loads.h"

#include <assert.h>
#include <string.h>

/* ---- where an edge's rows lie ------------------------------------------------------------------------------------ */

storage emit_storage_of(emitter *e, const cpu_edge *edge)
{
    type t = stage_at(e->pipe, edge->stage)->type;
    storage s = { .kind = t.kind, .bytes = kind_get((enum kind)t.kind)->n_bytes, .lanes = t.lanes };
    if (edge->producer >= 0) s.planes = t.lanes > 1 && !e->flat;
    else if (edge->memory >= 0) {
        const cpu_memory *m = &e->m->schedule->memories.items[edge->memory];
        s.planes = m->planar;
        s.bgra = m->bgra;
    }
    s.pixel_step = e->flat || s.planes ? 1 : t.lanes;
    return s;
}

static LLVMTypeRef pointer_type(emitter *e) { return LLVMPointerTypeInContext(emit_context(e), 0); }
static LLVMTypeRef i64_type(emitter *e) { return LLVMInt64TypeInContext(emit_context(e)); }

/* Fields don't change while a row is made: they are read in the entry, once. */
LLVMValueRef emit_edge_field(emitter *e, int edge, size_t offset, LLVMTypeRef t)
{
    LLVMValueRef known = emit_known_entry(e, ENTRY_field, edge, (int32_t)offset, 0);
    if (known) return known;
    LLVMBasicBlockRef back = emit_hoist_begin(e);
    LLVMValueRef rows = emit_frame_field(e, offsetof(haloi_frame, rows), pointer_type(e), "edges");
    LLVMValueRef field = emit_field(e, rows, sizeof(haloi_rows) * (size_t)edge + offset, t, "");
    emit_hoist_end(e, back);
    return emit_keep_entry(e, (row_entry){ ENTRY_field, edge, (int32_t)offset, 0, field });
}

/* plane_bytes * component, likewise. */
static LLVMValueRef plane_distance(emitter *e, int edge, int component)
{
    LLVMValueRef known = emit_known_entry(e, ENTRY_plane, edge, 0, component);
    if (known) return known;
    LLVMValueRef plane = emit_edge_field(e, edge, offsetof(haloi_rows, plane_bytes), i64_type(e));
    LLVMBasicBlockRef back = emit_hoist_begin(e);
    LLVMValueRef distance = LLVMBuildMul(e->builder, plane, emit_i64(e, component), "");
    emit_hoist_end(e, back);
    return emit_keep_entry(e, (row_entry){ ENTRY_plane, edge, 0, component, distance });
}

/* Slabs hold the rows of all outer coordinates, the first of those fastest (call_rows in driver_strips.h). */
static LLVMValueRef slab_offset(emitter *e, ref load, int edge, int row)
{
    const cpu_edge *from = &e->stage->edges.items[edge];
    tensor_stage s = *stage_at(e->pipe, from->stage);
    LLVMValueRef plane = NULL;
    int64_t lo, hi, planes = 1;
    for (int d = 2; d < s.rank; d++) {
        node_is_const(e->pipe, s.lo[d], &lo);
        node_is_const(e->pipe, s.hi[d], &hi);
        LLVMValueRef index = LLVMBuildSub(e->builder, emit_scalar(e, load_index(e->pipe, load, d), row), emit_i32(e, (int32_t)lo), "");
        index = LLVMBuildMul(e->builder, index, emit_i32(e, (int32_t)planes), "");
        plane = plane ? LLVMBuildAdd(e->builder, plane, index, "") : index;
        planes *= hi - lo + 1;
    }
    LLVMValueRef bytes = plane_distance(e, edge, e->flat ? 1 : s.type.lanes);
    return LLVMBuildMul(e->builder, LLVMBuildSExt(e->builder, plane, i64_type(e), ""), bytes, "plane");
}

/* The byte distance that outer coordinates add, in memory of more than two dimensions and in slabs. */
static LLVMValueRef outer_offset(emitter *e, ref load, int edge_number, int row)
{
    const cpu_edge *edge = &e->stage->edges.items[edge_number];
    LLVMValueRef total = NULL;
    if (edge->producer >= 0 && edge->slab) return slab_offset(e, load, edge_number, row);
    if (edge->producer >= 0) return NULL;
    for (int d = 2; d < stage_at(e->pipe, edge->stage)->rank; d++) {
        LLVMValueRef views = emit_frame_field(e, offsetof(haloi_frame, views), pointer_type(e), "views");
        LLVMValueRef stride = emit_field(e, views, sizeof(haloi_view) * (size_t)edge->memory + offsetof(haloi_view, stride) + 8 * (size_t)d, i64_type(e), "stride");
        LLVMValueRef index = LLVMBuildSExt(e->builder, emit_scalar(e, load_index(e->pipe, load, d), row), i64_type(e), "");
        LLVMValueRef step = LLVMBuildMul(e->builder, index, stride, "");
        total = total ? LLVMBuildAdd(e->builder, total, step, "") : step;
    }
    return total;
}

/* A row whose number is computed, border and all: it lies in memory, the same for all columns. */
static LLVMValueRef found_row(emitter *e, const cpu_read *read, int row, int plane)
{
    LLVMValueRef base = emit_view_field(e, read->edge, offsetof(haloi_view, data), pointer_type(e));
    LLVMValueRef stride = emit_view_field(e, read->edge, offsetof(haloi_view, stride) + sizeof(int64_t), i64_type(e));
    LLVMValueRef y = LLVMBuildSExt(e->builder, emit_axis_index(e, read->load, 1, 0, row, false).index, i64_type(e), "");
    LLVMValueRef at = emit_byte_offset(e, base, LLVMBuildMul(e->builder, y, stride, ""));
    LLVMValueRef outer = outer_offset(e, read->load, read->edge, row);
    if (outer) at = emit_byte_offset(e, at, outer);
    if (plane == 0) return at;
    LLVMValueRef bytes = emit_view_field(e, read->edge, offsetof(haloi_view, plane_bytes), i64_type(e));
    return emit_byte_offset(e, at, LLVMBuildMul(e->builder, bytes, emit_i64(e, plane), ""));
}

static LLVMValueRef plane_offset(emitter *e, int edge, LLVMValueRef row_pointer, int component)
{
    if (component == 0) return row_pointer;
    return emit_byte_offset(e, row_pointer, plane_distance(e, edge, component));
}

/* The table's entry for `row` of the group: a number known now, or computed. */
static LLVMValueRef row_index(emitter *e, const cpu_read *read, const cpu_edge *edge, int row, int64_t *known)
{
    int32_t difference;
    *known = -1;
    if (linear_difference(e->pipe, read->rest_y, edge->lo_y, &difference)) { *known = (int64_t)difference + (int64_t)edge->p_y * row; return NULL; }
    LLVMValueRef c = LLVMBuildSub(e->builder, emit_scalar(e, read->rest_y, row), emit_scalar(e, edge->lo_y, 0), "");
    return row && edge->p_y ? LLVMBuildAdd(e->builder, c, emit_i32(e, edge->p_y * row), "") : c;
}

static LLVMValueRef table_entry(emitter *e, int edge, LLVMValueRef index_i64)
{
    LLVMValueRef table = emit_edge_field(e, edge, offsetof(haloi_rows, row), pointer_type(e));
    LLVMValueRef at = LLVMBuildGEP2(e->builder, pointer_type(e), table, &index_i64, 1, "");
    return LLVMBuildLoad2(e->builder, pointer_type(e), at, "row");
}

static LLVMValueRef known_row_pointer(emitter *e, const cpu_read *read, int32_t entry, int plane)
{
    LLVMValueRef known = emit_known_entry(e, ENTRY_row, read->edge, entry, plane);
    if (known) return known;
    LLVMBasicBlockRef back = emit_hoist_begin(e);
    LLVMValueRef row = plane_offset(e, read->edge, table_entry(e, read->edge, emit_i64(e, entry)), plane);
    emit_hoist_end(e, back);
    return emit_keep_entry(e, (row_entry){ ENTRY_row, read->edge, entry, plane, row });
}

/* Is the row the same for all columns and elements, so that its pointer can be found before them? */
static bool row_is_fixed(emitter *e, const cpu_read *read, const cpu_edge *edge)
{
    if (!e->prologue || depend_is_open(depends_of(e->pipe, e->all, read->rest_y))) return false;
    for (int d = 2; d < stage_at(e->pipe, edge->stage)->rank; d++) {
        ref index = load_index(e->pipe, read->load, d);
        if (depend_is_open(depends_of(e->pipe, e->all, index)) || depends_of(e->pipe, e->all, index)->loads) return false;
    }
    return !depends_of(e->pipe, e->all, read->rest_y)->loads;
}

static LLVMValueRef find_row(emitter *e, const cpu_read *read, int row, int plane)
{
    const cpu_edge *edge = &e->stage->edges.items[read->edge];
    int64_t known;
    LLVMValueRef index = row_index(e, read, edge, row, &known), pointer;
    if (!index) pointer = known_row_pointer(e, read, (int32_t)known, plane);
    else {
        pointer = table_entry(e, read->edge, LLVMBuildSExt(e->builder, index, i64_type(e), ""));
        pointer = plane_offset(e, read->edge, pointer, plane);
    }
    LLVMValueRef outer = outer_offset(e, read->load, read->edge, row);
    return outer ? emit_byte_offset(e, pointer, outer) : pointer;
}

/* Pointer to column 0 of the row that `row` of the group reads, in plane `plane`. */
LLVMValueRef emit_row_pointer(emitter *e, const cpu_read *read, int row, int plane)
{
    const cpu_edge *edge = &e->stage->edges.items[read->edge];
    if (edge->finds_rows) return found_row(e, read, row, plane);
    if (!row_is_fixed(e, read, edge)) return find_row(e, read, row, plane);
    LLVMValueRef known = emit_known_entry(e, ENTRY_moved_row, row, (int32_t)read->load, plane);
    if (known) return known;
    LLVMBasicBlockRef back = emit_hoist_begin(e);
    LLVMValueRef pointer = find_row(e, read, row, plane);
    emit_hoist_end(e, back);
    return emit_keep_entry(e, (row_entry){ ENTRY_moved_row, row, (int32_t)read->load, plane, pointer });
}

/* ---- whole rows ---------------------------------------------------------------------------------------------------- */

static LLVMValueRef memory_load(emitter *e, const storage *s, LLVMTypeRef t, LLVMValueRef at)
{
    LLVMValueRef v = LLVMBuildLoad2(e->builder, t, at, "");
    LLVMSetAlignment(v, (unsigned)s->bytes);
    return v;
}

static LLVMValueRef element_pointer(emitter *e, const storage *s, LLVMValueRef base, LLVMValueRef index_i64)
{
    return LLVMBuildGEP2(e->builder, emit_memory_type(emit_context(e), s->kind), base, &index_i64, 1, "");
}

/* The number among components of the first pixel that phase `phase` of instance u reads: (p * x + rest) // q * step + component. */
static LLVMValueRef first_of_phase(emitter *e, const cpu_read *read, const cpu_edge *edge, const storage *s, int u, int row, int component, int phase)
{
    LLVMBuilderRef b = e->builder;
    LLVMValueRef x = e->x, r = LLVMBuildSExt(b, emit_scalar(e, read->rest_x, row), i64_type(e), "");
    if (edge->p_x != 1) x = LLVMBuildMul(b, x, emit_i64(e, edge->p_x), "");
    int64_t constant = (int64_t)edge->p_x * ((int64_t)u * e->lanes * edge->q_x + phase);
    x = LLVMBuildAdd(b, LLVMBuildAdd(b, x, emit_i64(e, constant), ""), r, "");
    x = LLVMBuildAShr(b, x, emit_i64(e, edge->q_x == 2 ? 1 : 2), "");       /* rounds down, as // does */
    if (s->pixel_step != 1) x = LLVMBuildMul(b, x, emit_i64(e, s->pixel_step), "");
    return component ? LLVMBuildAdd(b, x, emit_i64(e, component), "") : x;
}

/* Component index of the first pixel that instance u reads: (p * x + rest) * step + component. */
static LLVMValueRef first_element(emitter *e, const cpu_read *read, const cpu_edge *edge, const storage *s, int u, int row, int component, int phase)
{
    LLVMBuilderRef b = e->builder;
    if (edge->q_x > 1) return first_of_phase(e, read, edge, s, u, row, component, phase);
    LLVMValueRef x = e->x;
    int scale = s->pixel_step, rest_scale = e->flat ? s->lanes : s->pixel_step;
    if (edge->p_x * scale != 1) x = LLVMBuildMul(b, x, emit_i64(e, (int64_t)edge->p_x * scale), "");
    int64_t constant = (int64_t)u * e->lanes * edge->p_x * scale + component, rest;
    if (node_is_const(e->pipe, read->rest_x, &rest)) constant += rest * rest_scale;
    else {
        LLVMValueRef r = LLVMBuildSExt(b, emit_scalar(e, read->rest_x, row), i64_type(e), "");
        x = LLVMBuildAdd(b, x, rest_scale == 1 ? r : LLVMBuildMul(b, r, emit_i64(e, rest_scale), ""), "");
    }
    return constant ? LLVMBuildAdd(b, x, emit_i64(e, constant), "") : x;
}

/* Every second element, from two loads of which neither goes beyond the last element that is used. */
static LLVMValueRef load_every_second(emitter *e, const storage *s, LLVMValueRef at)
{
    LLVMTypeRef t = LLVMVectorType(emit_memory_type(emit_context(e), s->kind), (unsigned)e->lanes);
    LLVMValueRef low = memory_load(e, s, t, at);
    LLVMValueRef high = memory_load(e, s, t, element_pointer(e, s, at, emit_i64(e, e->lanes - 1)));
    LLVMValueRef mask[64];
    for (int k = 0; k < e->lanes; k++) mask[k] = emit_i32(e, k < e->lanes / 2 ? 2 * k : 2 * k + 1);
    return LLVMBuildShuffleVector(e->builder, low, high, LLVMConstVector(mask, (unsigned)e->lanes), "");
}

static LLVMValueRef gather(emitter *e, const storage *s, LLVMValueRef base, LLVMValueRef index);

static LLVMValueRef strided_load(emitter *e, const storage *s, LLVMValueRef base, LLVMValueRef first, int step)
{
    LLVMValueRef at = element_pointer(e, s, base, first);
    LLVMTypeRef element = emit_memory_type(emit_context(e), s->kind);
    if (e->lanes == 1 || step == 1) return memory_load(e, s, emit_vector_type(element, e->lanes), at);
    if (step == 2) return load_every_second(e, s, at);
    LLVMValueRef index = LLVMBuildMul(e->builder, emit_iota(e, 0), emit_splat(e, emit_i32(e, step)), "");
    return gather(e, s, at, index);
}

/* All components of interleaved pixels: one wide load, one shuffle each. */
static void load_interleaved(emitter *e, const storage *s, LLVMValueRef base, LLVMValueRef first, LLVMValueRef *out)
{
    unsigned wide = (unsigned)(e->lanes * s->lanes);
    LLVMTypeRef t = LLVMVectorType(emit_memory_type(emit_context(e), s->kind), wide);
    LLVMValueRef all = memory_load(e, s, t, element_pointer(e, s, base, first));
    for (int c = 0; c < s->lanes; c++) {
        LLVMValueRef mask[64];
        for (int k = 0; k < e->lanes; k++) mask[k] = emit_i32(e, k * s->lanes + component_place(s, c));
        out[c] = LLVMBuildShuffleVector(e->builder, all, LLVMGetPoison(t), LLVMConstVector(mask, (unsigned)e->lanes), "");
    }
}

static void load_phase(emitter *e, const cpu_read *read, int u, int row, int phase, LLVMValueRef *out)
{
    const cpu_edge *edge = &e->stage->edges.items[read->edge];
    storage s = emit_storage_of(e, edge);
    int n = e->flat ? 1 : s.lanes;
    if (s.pixel_step > 1 && edge->p_x == 1 && e->lanes > 1 && e->lanes * s.lanes <= 256) {
        load_interleaved(e, &s, emit_row_pointer(e, read, row, 0), first_element(e, read, edge, &s, u, row, 0, phase), out);
        return;
    }
    for (int c = 0; c < n; c++) {
        int place = component_place(&s, c);
        LLVMValueRef base = emit_row_pointer(e, read, row, s.planes ? place : 0);
        LLVMValueRef first = first_element(e, read, edge, &s, u, row, s.planes || e->flat ? 0 : place, phase);
        out[c] = strided_load(e, &s, base, first, edge->p_x * s.pixel_step);
    }
}

/* Lane by lane, where a vector has fewer lanes than a division has phases twice. */
static void load_lanes(emitter *e, const cpu_read *read, int row, int lanes, int u, int n, LLVMValueRef *out)
{
    for (int k = 0; k < lanes; k++) {
        LLVMValueRef one[TENSOR_MAX_LANES];
        load_phase(e, read, 0, row, u * lanes + k, one);
        for (int c = 0; c < n; c++) {
            LLVMValueRef into = k ? out[c] : LLVMGetPoison(LLVMVectorType(LLVMTypeOf(one[c]), (unsigned)lanes));
            out[c] = LLVMBuildInsertElement(e->builder, into, one[c], emit_i32(e, k), "");
        }
    }
}

/* Columns (p * x + c) // q: those of one remainder of x are p apart, so each remainder is a (strided) row of its own. */
static void load_row(emitter *e, const cpu_read *read, int u, int row, LLVMValueRef *out)
{
    const cpu_edge *edge = &e->stage->edges.items[read->edge];
    int q = edge->q_x, lanes = e->lanes, n = e->flat ? 1 : stage_at(e->pipe, edge->stage)->type.lanes;
    if (q == 1 || lanes == 1) { load_phase(e, read, u, row, 0, out); return; }
    LLVMValueRef phases[4][TENSOR_MAX_LANES];
    bool few = lanes < 2 * q;
    e->lanes = few ? 1 : lanes / q;
    if (few) load_lanes(e, read, row, lanes, u, n, out);
    for (int k = 0; k < q && !few; k++) load_phase(e, read, u, row, k, phases[k]);
    for (int c = 0; c < n && !few; c++) {
        LLVMValueRef parts[4];
        for (int k = 0; k < q; k++) parts[k] = phases[k][c];
        out[c] = emit_interleave(e, parts, q);
    }
    e->lanes = lanes;
}

/* ---- ahead ------------------------------------------------------------------------------------------------------------- */

static void prefetch(emitter *e, LLVMValueRef at)
{
    enum { LINE_TO_SECOND_CACHE = 2 };
    LLVMTypeRef over = pointer_type(e);
    unsigned id = LLVMLookupIntrinsicID("llvm.prefetch", 13);
    LLVMValueRef args[4] = { at, emit_i32(e, 0), emit_i32(e, LINE_TO_SECOND_CACHE), emit_i32(e, 1) };
    LLVMValueRef f = LLVMGetIntrinsicDeclaration(e->m->module, id, &over, 1);
    LLVMBuildCall2(e->builder, LLVMIntrinsicGetType(emit_context(e), id, &over, 1), f, args, 4, "");
}

/* Spread over the loop, so that memory works while the arithmetic does: all at once they wait for one another. */
static void ahead_of_edge(emitter *e, int k)
{
    enum { CACHE_LINE = 64 };
    const cpu_edge *edge = &e->stage->edges.items[k];
    storage s = emit_storage_of(e, edge);
    LLVMBuilderRef b = e->builder;
    LLVMValueRef first = emit_edge_field(e, k, offsetof(haloi_rows, ahead), pointer_type(e));
    LLVMValueRef apart = emit_edge_field(e, k, offsetof(haloi_rows, ahead_bytes), i64_type(e));
    LLVMValueRef column = s.pixel_step == 1 ? e->x : LLVMBuildMul(b, e->x, emit_i64(e, s.pixel_step), "");
    int step = e->lanes * e->unroll * s.pixel_step * s.bytes;
    for (int row = 0; row < edge->p_y * e->group; row++)
        for (int plane = 0; plane < (s.planes ? s.lanes : 1); plane++) {
            LLVMValueRef base = row ? emit_byte_offset(e, first, LLVMBuildMul(b, apart, emit_i64(e, row), "")) : first;
            LLVMValueRef at = element_pointer(e, &s, plane_offset(e, k, base, plane), column);
            for (int line = 0; line < step; line += CACHE_LINE) prefetch(e, line ? emit_byte_offset(e, at, emit_i64(e, line)) : at);
        }
}

void emit_ahead(emitter *e)
{
    for (uint32_t k = 0; k < e->stage->edges.count; k++) if (e->stage->edges.items[k].ahead) ahead_of_edge(e, (int)k);
}

/* ---- gathers ---------------------------------------------------------------------------------------------------------- */

LLVMValueRef emit_gather(emitter *e, LLVMTypeRef element, int alignment, LLVMValueRef base, LLVMValueRef index)
{
    LLVMContextRef c = emit_context(e);
    LLVMValueRef at = LLVMBuildGEP2(e->builder, element, base, &index, 1, "");
    LLVMTypeRef t = LLVMVectorType(element, (unsigned)e->lanes), over[2] = { t, LLVMTypeOf(at) };
    unsigned id = LLVMLookupIntrinsicID("llvm.masked.gather", 18);
    LLVMValueRef ones[64];
    for (int k = 0; k < e->lanes; k++) ones[k] = LLVMConstInt(LLVMInt1TypeInContext(c), 1, 0);
    LLVMValueRef args[4] = { at, emit_i32(e, alignment), LLVMConstVector(ones, (unsigned)e->lanes), LLVMGetPoison(t) };
    LLVMValueRef f = LLVMGetIntrinsicDeclaration(e->m->module, id, over, 2);
    return LLVMBuildCall2(e->builder, LLVMIntrinsicGetType(c, id, over, 2), f, args, 4, "");
}

/* index: elements, i32 or i64, scalar or vector, from `base`. */
static LLVMValueRef gather(emitter *e, const storage *s, LLVMValueRef base, LLVMValueRef index)
{
    LLVMTypeRef element = emit_memory_type(emit_context(e), s->kind);
    if (LLVMGetTypeKind(LLVMTypeOf(index)) == LLVMVectorTypeKind) return emit_gather(e, element, s->bytes, base, index);
    return memory_load(e, s, element, LLVMBuildGEP2(e->builder, element, base, &index, 1, ""));
}

static LLVMValueRef pick(emitter *e, LLVMValueRef c, LLVMValueRef a, LLVMValueRef b) { return LLVMBuildSelect(e->builder, c, a, b, ""); }

static LLVMValueRef smaller(emitter *e, LLVMValueRef a, LLVMValueRef b) { return pick(e, LLVMBuildICmp(e->builder, LLVMIntSLT, a, b, ""), a, b); }
static LLVMValueRef larger(emitter *e, LLVMValueRef a, LLVMValueRef b) { return pick(e, LLVMBuildICmp(e->builder, LLVMIntSGT, a, b, ""), a, b); }

/* k mod n for n > 0, through an exact quotient in double: |k| < 2^31 is far inside 53 bits, and vectors have no division. */
static LLVMValueRef modulo(emitter *e, LLVMValueRef k, LLVMValueRef n)
{
    LLVMTypeRef i = LLVMTypeOf(k), f = LLVMDoubleTypeInContext(emit_context(e));
    if (LLVMGetTypeKind(i) == LLVMVectorTypeKind) f = LLVMVectorType(f, LLVMGetVectorSize(i));
    LLVMValueRef q = LLVMBuildFDiv(e->builder, LLVMBuildSIToFP(e->builder, k, f, ""), LLVMBuildSIToFP(e->builder, n, f, ""), "");
    q = LLVMBuildFPToSI(e->builder, emit_intrinsic(e, "llvm.floor", &q, 1), i, "");
    return LLVMBuildSub(e->builder, k, LLVMBuildMul(e->builder, q, n, ""), "");
}

/* i - lo mod n, without a difference that may leave 32 bits. */
static LLVMValueRef distance_modulo(emitter *e, LLVMValueRef i, LLVMValueRef lo, LLVMValueRef n)
{
    LLVMValueRef m = modulo(e, i, n);
    if (LLVMIsNull(lo)) return m;
    LLVMValueRef apart = LLVMBuildSub(e->builder, m, modulo(e, lo, n), "");
    LLVMValueRef negative = LLVMBuildICmp(e->builder, LLVMIntSLT, apart, LLVMConstNull(LLVMTypeOf(apart)), "");
    return pick(e, negative, LLVMBuildAdd(e->builder, apart, n, ""), apart);
}

/* lowering/tensor.h border_map, on i32 scalars or vectors. */
static LLVMValueRef map_border(emitter *e, int mode, LLVMValueRef i, LLVMValueRef lo, LLVMValueRef hi)
{
    LLVMBuilderRef b = e->builder;
    if (mode == BORDER_none) return i;
    if (mode == BORDER_edge || mode == BORDER_value) return smaller(e, larger(e, i, lo), hi);
    bool vector = LLVMGetTypeKind(LLVMTypeOf(i)) == LLVMVectorTypeKind;
    LLVMValueRef one = vector ? emit_splat(e, emit_i32(e, 1)) : emit_i32(e, 1);
    LLVMValueRef n = LLVMBuildAdd(b, LLVMBuildSub(b, hi, lo, ""), one, "");
    if (mode == BORDER_wrap) return LLVMBuildAdd(b, lo, distance_modulo(e, i, lo, n), "");
    LLVMValueRef twice = LLVMBuildAdd(b, n, n, "");
    LLVMValueRef period = mode == BORDER_reflect ? twice : LLVMBuildSub(b, twice, LLVMBuildAdd(b, one, one, ""), "");
    LLVMValueRef m = distance_modulo(e, i, lo, larger(e, period, one));
    LLVMValueRef back = LLVMBuildSub(b, period, m, "");
    if (mode == BORDER_reflect) back = LLVMBuildSub(b, back, one, "");
    m = pick(e, LLVMBuildICmp(b, LLVMIntSLT, m, n, ""), m, back);
    return LLVMBuildAdd(b, lo, m, "");
}

static axis_index bounded_index(emitter *e, ref load, int d, LLVMValueRef lo, LLVMValueRef hi, int u, int row, bool vector)
{
    int mode = node_at(e->pipe, load)->border[d];
    axis_index a = { emit_part(e, load_index(e->pipe, load, d), u, row, 0, vector), NULL };
    if (mode == BORDER_value)
        a.inside = LLVMBuildAnd(e->builder, LLVMBuildICmp(e->builder, LLVMIntSGE, a.index, lo, ""),
                                LLVMBuildICmp(e->builder, LLVMIntSLE, a.index, hi, ""), "");
    a.index = map_border(e, mode, a.index, lo, hi);
    return a;
}

axis_index emit_axis_index(emitter *e, ref load, int d, int u, int row, bool vector)
{
    tensor_stage s = *stage_at(e->pipe, node_at(e->pipe, load)->payload);
    if (node_at(e->pipe, load)->border[d] == BORDER_none) return (axis_index){ emit_part(e, load_index(e->pipe, load, d), u, row, 0, vector), NULL };
    return bounded_index(e, load, d, emit_part(e, s.lo[d], 0, 0, 0, vector), emit_part(e, s.hi[d], 0, 0, 0, vector), u, row, vector);
}

/* Along a row the driver says where the columns begin and end: so stages of different extents share their code. */
void emit_column_bounds(emitter *e, const cpu_read *read, LLVMValueRef *lo, LLVMValueRef *hi)
{
    const cpu_edge *edge = &e->stage->edges.items[read->edge];
    LLVMTypeRef i32 = LLVMInt32TypeInContext(emit_context(e));
    tensor_stage s = *stage_at(e->pipe, edge->stage);
    *lo = edge->finds_rows ? emit_scalar(e, s.lo[0], 0) : emit_edge_field(e, read->edge, offsetof(haloi_rows, first_column), i32);
    *hi = edge->finds_rows ? emit_scalar(e, s.hi[0], 0) : emit_edge_field(e, read->edge, offsetof(haloi_rows, last_column), i32);
}

axis_index emit_column_index(emitter *e, const cpu_read *read, int u, int row, bool vector)
{
    if (node_at(e->pipe, read->load)->border[0] == BORDER_none)
        return (axis_index){ emit_part(e, load_index(e->pipe, read->load, 0), u, row, 0, vector), NULL };
    LLVMValueRef lo, hi;
    emit_column_bounds(e, read, &lo, &hi);
    if (vector) { lo = emit_splat(e, lo); hi = emit_splat(e, hi); }
    return bounded_index(e, read->load, 0, lo, hi, u, row, vector);
}

/* Puts the border values over what was loaded: x is asked last here, so that it wins. */
LLVMValueRef emit_border_values(emitter *e, ref load, int rank, const axis_index *axes, LLVMValueRef v, int u, int row, int c, bool vector)
{
    for (int d = rank - 1; d >= 0; d--) {
        ref value = load_outside(e->pipe, load, d);
        if (!value || !axes[d].inside) continue;
        v = pick(e, axes[d].inside, v, emit_part(e, value, u, row, c, vector));
    }
    return v;
}

LLVMValueRef emit_table_word(emitter *e, const tensor_stage *s, int64_t k)
{
    LLVMTypeRef element = emit_memory_type(emit_context(e), s->type.kind), half = LLVMHalfTypeInContext(emit_context(e));
    if (s->type.kind == KIND_f16) return LLVMConstBitCast(LLVMConstReal(half, (double)scalar_of_bits(KIND_f16, s->words[k]).f), element);
    return s->type.kind == KIND_bool ? LLVMConstInt(element, s->words[k], 0) : emit_constant(e, s->type.kind, s->words[k]);
}

static LLVMValueRef table_global(emitter *e, uint32_t stage)
{
    emit_module *m = e->m;
    if (m->tables[stage]) return m->tables[stage];
    tensor_stage s = *stage_at(e->pipe, stage);
    int64_t count = s.type.lanes, lo, hi;
    for (int d = 0; d < s.rank; d++) {
        node_is_const(e->pipe, s.lo[d], &lo);
        node_is_const(e->pipe, s.hi[d], &hi);
        count *= hi - lo + 1;
    }
    LLVMTypeRef element = emit_memory_type(m->context, s.type.kind);
    LLVMValueRef *words = ARENA_ARRAY(m->memory, LLVMValueRef, count + 1);
    for (int64_t k = 0; k < count; k++) words[k] = emit_table_word(e, &s, k);
    LLVMTypeRef t = LLVMArrayType2(element, (uint64_t)count);
    LLVMValueRef g = LLVMAddGlobal(m->module, t, s.name);
    LLVMSetInitializer(g, LLVMConstArray2(element, words, (uint64_t)count));
    LLVMSetGlobalConstant(g, 1);
    LLVMSetLinkage(g, LLVMPrivateLinkage);
    LLVMSetUnnamedAddress(g, LLVMGlobalUnnamedAddr);
    LLVMSetAlignment(g, 16);
    return m->tables[stage] = g;
}

/* Element index inside a table: constant bounds, dimension 0 fastest. */
static LLVMValueRef table_index(emitter *e, const tensor_stage *s, const axis_index *axes, bool vector)
{
    LLVMBuilderRef b = e->builder;
    LLVMValueRef total = vector ? emit_splat(e, emit_i32(e, 0)) : emit_i32(e, 0);
    int64_t step = s->type.lanes;
    for (int d = 0; d < s->rank; d++) {
        int64_t lo = 0, hi = 0;
        node_is_const(e->pipe, s->lo[d], &lo);
        node_is_const(e->pipe, s->hi[d], &hi);
        LLVMValueRef first = emit_i32(e, (int32_t)lo), scale = emit_i32(e, (int32_t)step);
        if (vector) { first = emit_splat(e, first); scale = emit_splat(e, scale); }
        total = LLVMBuildAdd(b, total, LLVMBuildMul(b, LLVMBuildSub(b, axes[d].index, first, ""), scale, ""), "");
        step *= hi - lo + 1;
    }
    return total;
}

static LLVMValueRef widen_index(emitter *e, LLVMValueRef i)
{
    LLVMTypeRef t = i64_type(e);
    if (LLVMGetTypeKind(LLVMTypeOf(i)) == LLVMVectorTypeKind) t = LLVMVectorType(t, (unsigned)e->lanes);
    return LLVMBuildSExt(e->builder, i, t, "");
}

/* A field of the view that an edge reads anywhere in; the driver hands it over where other edges have their row table. */
LLVMValueRef emit_view_field(emitter *e, int edge, size_t offset, LLVMTypeRef t)
{
    LLVMValueRef known = emit_known_entry(e, ENTRY_view, edge, (int32_t)offset, 0);
    if (known) return known;
    LLVMValueRef view = emit_edge_field(e, edge, offsetof(haloi_rows, row), pointer_type(e));
    LLVMBasicBlockRef back = emit_hoist_begin(e);
    LLVMValueRef field = emit_field(e, view, offset, t, "view");
    emit_hoist_end(e, back);
    return emit_keep_entry(e, (row_entry){ ENTRY_view, edge, (int32_t)offset, 0, field });
}

/* Byte offset of a pixel inside memory; every axis but x has a stride that is known at run time only. */
static LLVMValueRef memory_offset(emitter *e, int edge, const storage *s, const axis_index *axes, int rank, bool vector)
{
    LLVMBuilderRef b = e->builder;
    LLVMValueRef total = NULL;
    for (int d = 0; d < rank; d++) {
        LLVMValueRef stride = d == 0 ? emit_i64(e, (int64_t)s->bytes * (s->planes ? 1 : s->lanes))
                                     : emit_view_field(e, edge, offsetof(haloi_view, stride) + 8 * (size_t)d, i64_type(e));
        LLVMValueRef step = LLVMBuildMul(b, widen_index(e, axes[d].index), vector ? emit_splat(e, stride) : stride, "");
        total = total ? LLVMBuildAdd(b, total, step, "") : step;
    }
    return total ? total : emit_i64(e, 0);
}

static void load_anywhere(emitter *e, const cpu_read *read, int u, int row, bool vector, LLVMValueRef *out)
{
    const cpu_edge *edge = &e->stage->edges.items[read->edge];
    tensor_stage t = *stage_at(e->pipe, edge->stage);
    storage s = emit_storage_of(e, edge);
    axis_index axes[TENSOR_MAX_RANK];
    for (int d = 0; d < t.rank; d++) axes[d] = emit_axis_index(e, read->load, d, u, row, vector);
    vector = vector && e->lanes > 1;
    for (int c = 0; c < s.lanes; c++) {
        LLVMValueRef v;
        if (t.kind == STAGE_table) {
            LLVMValueRef base = element_pointer(e, &s, table_global(e, edge->stage), emit_i64(e, c));
            v = gather(e, &s, base, table_index(e, &t, axes, vector));
        } else {
            LLVMValueRef base = emit_view_field(e, read->edge, offsetof(haloi_view, data), pointer_type(e));
            int place = component_place(&s, c);
            if (s.planes && place) {
                LLVMValueRef plane = emit_view_field(e, read->edge, offsetof(haloi_view, plane_bytes), i64_type(e));
                base = emit_byte_offset(e, base, LLVMBuildMul(e->builder, plane, emit_i64(e, place), ""));
            } else if (place) base = emit_byte_offset(e, base, emit_i64(e, (int64_t)place * s.bytes));
            storage bytes = s;
            LLVMValueRef offset = memory_offset(e, read->edge, &s, axes, t.rank, vector);
            LLVMTypeRef byte = LLVMInt8TypeInContext(emit_context(e));
            LLVMValueRef at = LLVMBuildGEP2(e->builder, byte, base, &offset, 1, "");
            LLVMValueRef zero = vector ? LLVMConstNull(LLVMTypeOf(offset)) : emit_i64(e, 0);
            v = gather(e, &bytes, at, zero);
        }
        v = emit_from_memory(e, v, s.kind);
        v = emit_cast(e, v, s.kind, node_type(e->pipe, read->load).kind);
        out[c] = emit_border_values(e, read->load, t.rank, axes, v, u, row, c, vector || e->lanes == 1);
        if (e->flat) break;
    }
}

/* Rows through the driver's pointers, columns computed (and mapped here). */
static void load_row_gather(emitter *e, const cpu_read *read, int u, int row, bool vector, LLVMValueRef *out)
{
    const cpu_edge *edge = &e->stage->edges.items[read->edge];
    storage s = emit_storage_of(e, edge);
    axis_index x = emit_column_index(e, read, u, row, vector);
    vector = vector && e->lanes > 1;
    for (int c = 0; c < s.lanes; c++) {
        int place = component_place(&s, c);
        LLVMValueRef base = emit_row_pointer(e, read, row, s.planes ? place : 0);
        if (!s.planes && place) base = emit_byte_offset(e, base, emit_i64(e, (int64_t)place * s.bytes));
        LLVMValueRef index = x.index;
        if (s.pixel_step > 1) {
            LLVMValueRef step = emit_i32(e, s.pixel_step);
            index = LLVMBuildMul(e->builder, index, vector ? emit_splat(e, step) : step, "");
        }
        LLVMValueRef v = emit_from_memory(e, gather(e, &s, base, index), s.kind);
        v = emit_cast(e, v, s.kind, node_type(e->pipe, read->load).kind);
        axis_index axes[TENSOR_MAX_RANK] = { x };
        out[c] = emit_border_values(e, read->load, 1, axes, v, u, row, c, vector || e->lanes == 1);
    }
}

void emit_row_gather(emitter *e, const cpu_read *read, LLVMValueRef *parts)
{
    int n = emit_components(e, read->load);
    for (int k = 0; k < e->unroll * e->group; k++) load_row_gather(e, read, k / e->group, k % e->group, true, parts + k * n);
}

/* ---- a load node --------------------------------------------------------------------------------------------------------- */

static const cpu_read *find_read(emitter *e, ref r)
{
    for (uint32_t k = 0; k < e->stage->loads.count; k++) if (e->stage->loads.items[k].load == r) return &e->stage->loads.items[k];
    return NULL;
}

bool emit_computes_index(emitter *e, ref load, int d)
{
    const cpu_edge *edge = &e->stage->edges.items[find_read(e, load)->edge];
    return d == 0 ? edge->kind != READ_row : edge->kind == READ_anywhere || edge->finds_rows;
}

void emit_load(emitter *e, ref r, node_value *out)
{
    const cpu_read *read = find_read(e, r);
    assert(read && "a load that the schedule doesn't know");
    const cpu_edge *edge = &e->stage->edges.items[read->edge];
    int n = emit_components(e, r), n_u = out->varies ? e->unroll : 1;
    if (out->varies && (emit_lookup(e, read, out->parts) || emit_pixels(e, read, out->parts) || emit_near(e, read, out->parts))) return;
    for (int u = 0; u < n_u; u++)
        for (int row = 0; row < e->group; row++) {
            LLVMValueRef parts[TENSOR_MAX_LANES];
            if (edge->kind == READ_row) {
                load_row(e, read, u, row, parts);
                for (int c = 0; c < n; c++) {
                    parts[c] = emit_from_memory(e, parts[c], stage_at(e->pipe, edge->stage)->type.kind);
                    parts[c] = emit_cast(e, parts[c], stage_at(e->pipe, edge->stage)->type.kind, node_type(e->pipe, r).kind);
                }
            }
            else if (edge->kind == READ_row_gather) load_row_gather(e, read, u, row, out->varies, parts);
            else load_anywhere(e, read, u, row, out->varies, parts);
            memcpy(out->parts + (u * e->group + row) * n, parts, sizeof *parts * (size_t)n);
        }
}
