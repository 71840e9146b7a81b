/* SPDX-License-Identifier: MIT
 * Emitting nodes: the memo, what is hoisted, and the instances of each op. */
#include "backends/cpu/emit.h"

#include <assert.h>
#include <string.h>

int emit_components(const emitter *e, ref r) { return e->flat ? 1 : node_type(e->pipe, r).lanes; }

/* A fold varies along the row with a column that it uses, or with the accumulators of a varying fold around it. */
bool emit_fold_varies(emitter *e, uint32_t fold)
{
    ref result = tensor_result(e->pipe, fold, 0);
    if (e->varying[result]) return e->varying[result] == 2;
    const depend *d = depends_of(e->pipe, e->all, result);
    bool varies = (d->coords & 1) != 0;
    if (!varies && depend_is_open(d)) {
        tensor_fold f = *fold_at(e->pipe, fold);
        ref roots[2 * TENSOR_MAX_ACCS + 1];
        uint32_t n = 0;
        if (f.where) roots[n++] = f.where;
        for (int a = 0; a < f.n_accs; a++) { roots[n++] = f.init[a]; roots[n++] = f.next[a]; }
        ref_list nodes = { 0 };
        reached_nodes(e->pipe, e->m->memory, roots, n, &nodes);
        for (uint32_t k = 0; k < nodes.count && !varies; k++) {
            const tensor_node *acc = node_at(e->pipe, nodes.items[k]);
            uint32_t around = acc->payload;
            varies = acc->op == OP_acc && depend_on_fold(depends_of(e->pipe, e->all, result), around) && emit_fold_varies(e, around);
        }
    }
    e->varying[result] = varies ? 2 : 1;
    return varies;
}

/* Along the row: through the column, or through an accumulator of a fold that varies. */
bool emit_varies(emitter *e, ref r)
{
    tensor_node n = *node_at(e->pipe, r);
    if (n.op == OP_acc || n.op == OP_result) return emit_fold_varies(e, n.payload);
    if (e->varying[r]) return e->varying[r] == 2;
    bool varies = (depends_of(e->pipe, e->all, r)->coords & 1) != 0;
    if (!varies && depend_is_open(depends_of(e->pipe, e->all, r)))
        for (int k = 0; k < n.n_args && !varies; k++) varies = emit_varies(e, node_arg(e->pipe, r, k));
    e->varying[r] = varies ? 2 : 1;
    return varies;
}

void emit_remember(emitter *e, ref r, LLVMValueRef *parts, int count, bool varies)
{
    node_value v = { .parts = ARENA_ARRAY(e->m->memory, LLVMValueRef, count), .scope = e->scope, .varies = varies };
    memcpy(v.parts, parts, sizeof *parts * (size_t)count);
    e->values[r] = v;
    if (v.scope >= 2) LIST_PUSH(e->m->memory, e->scoped, r);
}

LLVMBasicBlockRef emit_hoist_begin(emitter *e)
{
    LLVMBasicBlockRef back = LLVMGetInsertBlock(e->builder);
    LLVMPositionBuilderAtEnd(e->builder, e->entry);
    return back;
}

void emit_hoist_end(emitter *e, LLVMBasicBlockRef back) { LLVMPositionBuilderAtEnd(e->builder, back); }

LLVMValueRef emit_known_entry(const emitter *e, entry_kind kind, int edge, int32_t number, int plane)
{
    for (uint32_t k = 0; k < e->rows.count; k++) {
        const row_entry *r = &e->rows.items[k];
        if (r->kind == kind && r->edge == edge && r->number == number && r->plane == plane) return r->value;
    }
    return NULL;
}

LLVMValueRef emit_keep_entry(emitter *e, row_entry entry)
{
    LIST_PUSH(e->m->memory, e->rows, entry);
    return entry.value;
}

void emit_forget(emitter *e, uint32_t scope)
{
    while (e->scoped.count) {
        node_value *v = &e->values[e->scoped.items[e->scoped.count - 1]];
        if (v->scope < scope) break;
        v->scope = 0;
        e->scoped.count--;
    }
}

LLVMValueRef emit_part(emitter *e, ref r, int u, int row, int component, bool as_vector)
{
    node_value *v = emit_node(e, r);
    int n = emit_components(e, r);
    if (component >= n) component = n - 1;
    if (v->varies) return v->parts[(u * e->group + row) * n + component];
    LLVMValueRef scalar = v->parts[row * n + component];
    return as_vector ? emit_splat(e, scalar) : scalar;
}

LLVMValueRef emit_scalar(emitter *e, ref r, int row)
{
    node_value *v = emit_node(e, r);
    assert(!v->varies);
    return v->parts[row * emit_components(e, r)];
}

/* ---- leaves ----------------------------------------------------------------------------------------------------- */

static LLVMValueRef column_value(emitter *e, int u)
{
    LLVMValueRef x = LLVMBuildTrunc(e->builder, e->x, LLVMInt32TypeInContext(emit_context(e)), "");
    if (e->lanes == 1) return u ? LLVMBuildAdd(e->builder, x, emit_i32(e, u), "") : x;
    return LLVMBuildAdd(e->builder, emit_splat(e, x), emit_iota(e, u * e->lanes), "");
}

static LLVMValueRef coordinate(emitter *e, int d, int u, int row)
{
    if (d == 0) return column_value(e, u);
    if (d == 1) return row ? LLVMBuildAdd(e->builder, e->y, emit_i32(e, row), "") : e->y;
    return emit_frame_field(e, offsetof(haloi_frame, outer) + 4 * (size_t)(d - 2), LLVMInt32TypeInContext(emit_context(e)), "outer");
}

static LLVMValueRef param_value(emitter *e, uint32_t which, int component)
{
    LLVMTypeRef pointer = LLVMPointerTypeInContext(emit_context(e), 0);
    int kind = e->pipe->params.items[which].type.kind;
    size_t at = (size_t)e->m->param_offsets[which] + (size_t)component * kind_get((enum kind)kind)->n_bytes;
    LLVMValueRef base = emit_frame_field(e, offsetof(haloi_frame, params), pointer, "params");
    return emit_from_memory(e, emit_field(e, base, at, emit_memory_type(emit_context(e), kind), e->pipe->params.items[which].name), kind);
}

static LLVMValueRef dim_value(emitter *e, uint32_t which)
{
    LLVMTypeRef pointer = LLVMPointerTypeInContext(emit_context(e), 0);
    LLVMValueRef base = emit_frame_field(e, offsetof(haloi_frame, dims), pointer, "dims");
    return emit_field(e, base, 4 * (size_t)which, LLVMInt32TypeInContext(emit_context(e)), e->pipe->dims.items[which].name);
}

/* ---- ops ---------------------------------------------------------------------------------------------------------- */

/* One instance of an op node; operands of a varying node are vectors, of another scalars. */
static LLVMValueRef instance_of(emitter *e, ref r, int u, int row, int c, bool vector)
{
    tensor_node n = *node_at(e->pipe, r);
    const ref *args = node_args(e->pipe, r);
    LLVMValueRef v[4] = { 0 };
    switch ((tensor_op)n.op) {
    case OP_const: return emit_constant(e, n.type.kind, n.payload);
    case OP_param: return param_value(e, n.payload, c);
    case OP_dim:   return dim_value(e, n.payload);
    case OP_coord: return coordinate(e, n.index, u, row);
    case OP_splat: return emit_part(e, args[0], u, row, 0, vector);
    case OP_vec:   return emit_part(e, args[c], u, row, 0, vector);
    case OP_comp:
        if (node_at(e->pipe, args[0])->op != OP_param) return emit_part(e, args[0], u, row, n.index, vector);
        return param_value(e, node_at(e->pipe, args[0])->payload, n.index);       /* a flat line keeps but one component of a pixel */
    case OP_select:
        for (int k = 0; k < 3; k++) v[k] = emit_part(e, node_arg(e->pipe, r, k), u, row, c, vector);
        return LLVMBuildSelect(e->builder, v[0], v[1], v[2], "");
    case OP_cast: {
        int from = node_type(e->pipe, args[0]).kind;
        return emit_cast(e, emit_part(e, args[0], u, row, c, vector), from, n.type.kind);
    }
    case OP_wrap: {
        LLVMValueRef a = emit_part(e, args[0], u, row, c, vector);
        LLVMTypeRef t = emit_vector_type(emit_kind_type(emit_context(e), n.type.kind), vector ? e->lanes : 1);
        unsigned from = LLVMGetIntTypeWidth(LLVMGetTypeKind(LLVMTypeOf(a)) == LLVMVectorTypeKind ? LLVMGetElementType(LLVMTypeOf(a)) : LLVMTypeOf(a));
        unsigned to = kind_get((enum kind)n.type.kind)->bits;
        if (from == to) return a;
        if (from > to) return LLVMBuildTrunc(e->builder, a, t, "");
        bool sign = kind_get((enum kind)node_type(e->pipe, node_arg(e->pipe, r, 0)).kind)->class == 'I';
        return sign ? LLVMBuildSExt(e->builder, a, t, "") : LLVMBuildZExt(e->builder, a, t, "");
    }
    case OP_mul:
        v[3] = emit_scaled(e, r, u, row, c, vector);
        if (v[3]) return v[3];
        break;
    case OP_bitcast: {
        LLVMTypeRef t = emit_vector_type(emit_kind_type(emit_context(e), n.type.kind), vector ? e->lanes : 1);
        return LLVMBuildBitCast(e->builder, emit_part(e, args[0], u, row, c, vector), t, "");
    }
    default: break;
    }
    for (int k = 0; k < n.n_args; k++) v[k] = emit_part(e, node_arg(e->pipe, r, k), u, row, c, vector);
    return emit_op(e, (tensor_op)n.op, node_type(e->pipe, node_arg(e->pipe, r, 0)).kind, v);
}

static void emit_instances(emitter *e, ref r, node_value *out)
{
    int n = emit_components(e, r), n_u = out->varies ? e->unroll : 1;
    int op = node_at(e->pipe, r)->op;
    bool row_alike = !out->varies && !(depends_of(e->pipe, e->all, r)->coords & 2) && (op == OP_const || op == OP_param || op == OP_dim);
    /* Operands first: emitting them may move the memo, not what is kept here. */
    int n_args = op == OP_vec && e->flat ? 1 : node_at(e->pipe, r)->n_args;        /* one component stands for all */
    for (int k = 0; k < n_args; k++) emit_node(e, node_arg(e->pipe, r, k));
    for (int u = 0; u < n_u; u++)
        for (int row = 0; row < e->group; row++)
            for (int c = 0; c < n; c++)
                out->parts[(u * e->group + row) * n + c] =
                    row > 0 && row_alike ? out->parts[c] : instance_of(e, r, u, row, c, out->varies);
}

/* Does evaluating the node run a loop? */
static bool holds_fold(emitter *e, ref r)
{
    if (e->looping[r]) return e->looping[r] == 2;
    tensor_node n = *node_at(e->pipe, r);
    bool holds = n.op == OP_result;
    for (int k = 0; k < n.n_args && !holds; k++) holds = holds_fold(e, node_arg(e->pipe, r, k));
    e->looping[r] = holds ? 2 : 1;
    return holds;
}

/* A number that the run's setup computed. */
static LLVMValueRef slot_value(emitter *e, ref r)
{
    int kind = node_type(e->pipe, r).kind;
    LLVMTypeRef t = emit_kind_type(emit_context(e), kind), i32 = LLVMInt32TypeInContext(emit_context(e));
    LLVMValueRef slots = emit_frame_field(e, offsetof(haloi_frame, slots), LLVMPointerTypeInContext(emit_context(e), 0), "slots");
    LLVMValueRef v = emit_field(e, slots, 4 * (size_t)(e->slot_of[r] - 1), kind == KIND_f32 ? t : i32, "uniform");
    return kind == KIND_f32 || t == i32 ? v : LLVMBuildTrunc(e->builder, v, t, "");
}

static void emit_parts(emitter *e, ref r, node_value *made)
{
    tensor_op op = (tensor_op)node_at(e->pipe, r)->op;
    made->scope = e->scope;
    if (e->slot_of[r]) {
        made->parts[0] = slot_value(e, r);
        for (int row = 1; row < e->group; row++) made->parts[row] = made->parts[0];
    }
    else if (op == OP_load) emit_load(e, r, made);
    else if (op == OP_result) emit_fold(e, node_at(e->pipe, r)->payload);      /* remembers all its results */
    else emit_instances(e, r, made);
}

/* What is the same for the whole row is made once, before its columns: in the entry, or after it when that takes a loop. */
static void emit_hoisted(emitter *e, ref r, node_value *made)
{
    bool loop = holds_fold(e, r);
    uint32_t scope = e->scope;
    LLVMBasicBlockRef back = LLVMGetInsertBlock(e->builder);
    LLVMPositionBuilderAtEnd(e->builder, loop ? e->prologue : e->entry);
    e->scope = 1;
    e->in_prologue = e->in_prologue || loop;
    emit_parts(e, r, made);
    if (loop) { e->prologue = LLVMGetInsertBlock(e->builder); e->in_prologue = false; }
    e->scope = scope;
    LLVMPositionBuilderAtEnd(e->builder, back);
}

node_value *emit_node(emitter *e, ref r)
{
    node_value *known = &e->values[r];
    if (known->scope) return known;
    node_value made = { .varies = emit_varies(e, r) };
    int count = (made.varies ? e->unroll : 1) * e->group * emit_components(e, r);
    made.parts = ARENA_ARRAY(e->m->memory, LLVMValueRef, count);
    bool uniform = !made.varies && !depend_is_open(depends_of(e->pipe, e->all, r)) && e->prologue;
    if (uniform && !(e->in_prologue && holds_fold(e, r))) emit_hoisted(e, r, &made);
    else emit_parts(e, r, &made);
    if (node_at(e->pipe, r)->op == OP_result) return &e->values[r];
    e->values[r] = made;
    if (made.scope >= 2) LIST_PUSH(e->m->memory, e->scoped, r);
    return &e->values[r];
}
