/* SPDX-License-Identifier: MIT
 * The bodies of stages: nodes in the order of lowering/body.h, one id per component. Folds are loops with variables for
 * accumulators and binders; what depends on nothing inside stands before them. */
#include "backends/vulkan/emit.h"

#include <assert.h>
#include <string.h>

#include "lowering/ranges.h"

static bool is_uniform(const emitter *e, ref r)
{
    const tensor_node *n = node_at(e->pipe, r);
    return n->op == OP_const || (n->uniform && n->type.kind != KIND_i64);
}

lanes shader_node(emitter *e, ref r)
{
    lanes out = { 0 };
    if (!is_uniform(e, r)) {
        uint32_t number = body_number(&e->body, r);
        assert(number != BODY_NONE);
        return e->values[number];
    }
    for (int l = 0; l < node_type(e->pipe, r).lanes; l++) out.id[l] = shader_uniform(e, r, l);
    return out;
}

/* ---- folds --------------------------------------------------------------------------------------------- */

typedef struct fold_emitter {
    emitter    *e;
    uint32_t    number, scope;
    tensor_fold fold;
    spv_id      binder[TENSOR_MAX_BINDERS];                     /* variables */
    spv_id      acc[TENSOR_MAX_ACCS][TENSOR_MAX_LANES];
} fold_emitter;

static void fold_begin(fold_emitter *f)
{
    emitter *e = f->e;
    for (int a = 0; a < f->fold.n_accs; a++) {
        lanes init = shader_node(e, f->fold.init[a]);
        for (int l = 0; l < node_type(e->pipe, f->fold.init[a]).lanes; l++) {
            f->acc[a][l] = spirv_variable(e->m, spirv_type_of(e->m, init.id[l]), "acc");
            spirv_store(e->m, f->acc[a][l], init.id[l]);
        }
    }
    for (int b = 0; b < f->fold.n_binders; b++)
        f->binder[b] = spirv_variable(e->m, e->u32, f->fold.binder_names[b] ? f->fold.binder_names[b] : "i");
}

/* Binders and accumulators are loaded once per element. */
static void fold_leaves(fold_emitter *f)
{
    emitter *e = f->e;
    const body_scope *scope = &e->body.scopes.items[f->scope];
    for (uint32_t k = 0; k < scope->nodes.count; k++) {
        uint32_t number = scope->nodes.items[k];
        const tensor_node *n = node_at(e->pipe, e->body.nodes.items[number].node);
        if (n->op == OP_binder && n->payload == f->number) e->values[number].id[0] = spirv_load(e->m, f->binder[n->index]);
        if (n->op == OP_acc && n->payload == f->number)
            for (int l = 0; l < n->type.lanes; l++) e->values[number].id[l] = spirv_load(e->m, f->acc[n->index][l]);
    }
}

static void fold_element(fold_emitter *f)
{
    emitter *e = f->e;
    const body_scope *scope = &e->body.scopes.items[f->scope];
    uint32_t n_where = scope->n_where, n_all = scope->nodes.count;
    spv_if where;
    fold_leaves(f);
    shader_scope(e, f->scope, 0, n_where);
    if (f->fold.where) spirv_if(e->m, &where, shader_node(e, f->fold.where).id[0]);
    shader_scope(e, f->scope, n_where, n_all);
    lanes next[TENSOR_MAX_ACCS];
    for (int a = 0; a < f->fold.n_accs; a++) next[a] = shader_node(e, f->fold.next[a]);
    for (int a = 0; a < f->fold.n_accs; a++)
        for (int l = 0; l < node_type(e->pipe, f->fold.init[a]).lanes; l++) spirv_store(e->m, f->acc[a][l], next[a].id[l]);
    if (f->fold.where) spirv_end_if(e->m, &where);
}

/* Where the last may be the greatest number that there is, what comes after it is the lowest. */
static spv_id goes_on(emitter *e, ref first, ref last, spv_id i)
{
    spv_id holds = shader_at_most(e, i, shader_node(e, last).id[0]);
    if (uniform_range(e->memory, e->pipe, last).hi < INT32_MAX) return holds;
    return shader_both(e, shader_at_most(e, shader_node(e, first).id[0], i), holds);
}

static void fold_loop(fold_emitter *f, int b)
{
    if (b == f->fold.n_binders) { fold_element(f); return; }
    emitter *e = f->e;
    spv_loop loop;
    spirv_store(e->m, f->binder[b], shader_node(e, f->fold.lo[b]).id[0]);
    spirv_loop_begin(e->m, &loop, false);
    spirv_loop_while(e->m, &loop, goes_on(e, f->fold.lo[b], f->fold.hi[b], spirv_load(e->m, f->binder[b])));
    fold_loop(f, b + 1);
    spirv_loop_next(e->m, &loop);
    spirv_store(e->m, f->binder[b], shader_add(e, spirv_load(e->m, f->binder[b]), shader_i32(e, 1)));
    spirv_loop_end(e->m, &loop);
}

static void shader_fold(emitter *e, uint32_t number)
{
    fold_emitter f = { .e = e, .number = number, .scope = body_fold_scope(&e->body, number), .fold = *fold_at(e->pipe, number) };
    fold_begin(&f);
    fold_loop(&f, 0);
    const uint32_t *results = e->body.scopes.items[f.scope].results;
    for (int a = 0; a < f.fold.n_accs; a++)
        for (int l = 0; results[a] != BODY_NONE && l < node_type(e->pipe, f.fold.init[a]).lanes; l++)
            e->values[results[a]].id[l] = spirv_load(e->m, f.acc[a][l]);
}

/* The result with the smallest number is where the fold runs. */
static bool runs_fold(const emitter *e, uint32_t number, uint32_t fold)
{
    const uint32_t *results = e->body.scopes.items[body_fold_scope(&e->body, fold)].results;
    for (int a = 0; a < TENSOR_MAX_ACCS; a++) if (results[a] < number) return false;
    return true;
}

/* ---- nodes ----------------------------------------------------------------------------------------------- */

static spv_id component_of(emitter *e, const tensor_node *n, ref r, int lane)
{
    lanes args[3];
    spv_id operands[3] = { 0 };
    kind from = n->n_args ? (kind)node_type(e->pipe, node_arg(e->pipe, r, 0)).kind : KIND_i32;
    for (int k = 0; k < n->n_args && k < 3; k++) {
        args[k] = shader_node(e, node_arg(e->pipe, r, k));
        operands[k] = args[k].id[node_type(e->pipe, node_arg(e->pipe, r, k)).lanes == 1 ? 0 : lane];
    }
    switch ((tensor_op)n->op) {
    case OP_cast:    return shader_cast(e->m, operands[0], from, (kind)n->type.kind);
    case OP_wrap:    return shader_wrap(e->m, operands[0], from, (kind)n->type.kind);
    case OP_bitcast: return shader_bitcast(e->m, operands[0], from, (kind)n->type.kind);
    case OP_select:  return shader_choose(e, operands[0], operands[1], operands[2]);
    case OP_splat:   return args[0].id[0];
    case OP_vec:     return shader_node(e, node_arg(e->pipe, r, lane)).id[0];
    case OP_comp:    return args[0].id[n->index];
    default:         return shader_op(e->m, e->zero, (tensor_op)n->op, from, operands);
    }
}

static void shader_number(emitter *e, uint32_t number)
{
    ref r = e->body.nodes.items[number].node;
    tensor_node n = *node_at(e->pipe, r);
    if (is_uniform(e, r) || n.op == OP_binder || n.op == OP_acc) return;
    lanes *out = &e->values[number];
    if (n.op == OP_coord) out->id[0] = e->coords[n.index];
    else if (n.op == OP_load) *out = shader_load(e, r);
    else if (n.op == OP_result) { if (runs_fold(e, number, n.payload)) shader_fold(e, n.payload); }
    else for (int l = 0; l < n.type.lanes; l++) out->id[l] = component_of(e, &n, r, l);
}

void shader_scope(emitter *e, uint32_t scope, uint32_t from, uint32_t to)
{
    for (uint32_t k = from; k < to; k++) shader_number(e, e->body.scopes.items[scope].nodes.items[k]);
}
