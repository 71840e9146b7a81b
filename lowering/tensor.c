/* SPDX-License-Identifier: MIT
 * The tensor IR's storage: one pool of hash-consed nodes per pipe, its folds and its stages. Open addressing over node
 * numbers: a node is never removed, so equal expressions stay equal numbers for the pipe's whole life. */
#include "lowering/tensor.h"

#include <assert.h>
#include <string.h>

#include "lowering/tensor_build.h"

tensor_pipe *tensor_pipe_new(arena *memory, const char *name)
{
    tensor_pipe *p = ARENA_NEW(memory, tensor_pipe);
    p->memory = memory;
    p->name = name;
    LIST_PUSH(memory, p->nodes, ((tensor_node){ .op = OP_none }));
    LIST_PUSH(memory, p->folds, (tensor_fold){ 0 });
    LIST_PUSH(memory, p->stages, (tensor_stage){ 0 });
    p->n_buckets = 256;
    p->buckets = ARENA_ARRAY(memory, uint32_t, p->n_buckets);
    return p;
}

/* ---- nodes ----------------------------------------------------------------------------------- */

static uint32_t mix(uint32_t hash, uint32_t word)
{
    hash = (hash ^ word) * 0x9e3779b1u;
    return hash ^ (hash >> 15);
}

static uint32_t node_hash(const tensor_node *n, const ref *args)
{
    uint32_t hash = mix(n->op | (uint32_t)n->index << 8 | (uint32_t)n->type.kind << 16 | (uint32_t)n->type.lanes << 24, n->payload);
    for (int k = 0; k < TENSOR_MAX_RANK; k++)
        hash = mix(hash, n->border[k]);
    for (int k = 0; k < n->n_args; k++)
        hash = mix(hash, args[k]);
    return hash;
}

static bool node_equal(const tensor_pipe *p, ref r, const tensor_node *n, const ref *args)
{
    const tensor_node *m = node_at(p, r);
    return m->op == n->op && m->n_args == n->n_args && m->index == n->index && m->payload == n->payload &&
           type_equal(m->type, n->type) && memcmp(m->border, n->border, sizeof m->border) == 0 &&
           (n->n_args == 0 || memcmp(node_args(p, r), args, sizeof *args * n->n_args) == 0);
}

static void buckets_grow(tensor_pipe *p)
{
    p->n_buckets *= 2;
    p->buckets = ARENA_ARRAY(p->memory, uint32_t, p->n_buckets);
    for (ref r = 1; r < p->nodes.count; r++) {
        uint32_t at = node_hash(node_at(p, r), node_args(p, r)) & (p->n_buckets - 1);
        while (p->buckets[at])
            at = (at + 1) & (p->n_buckets - 1);
        p->buckets[at] = r;
    }
}

static bool always_uniform(const tensor_pipe *p, tensor_op op, const ref *args, int n_args)
{
    if (op == OP_coord || op == OP_load || op == OP_binder || op == OP_acc || op == OP_result)
        return false;
    for (int k = 0; k < n_args; k++)
        if (!node_at(p, args[k])->uniform)
            return false;
    return true;
}

ref node_make(tensor_pipe *p, tensor_node node, const ref *args, int n_args)
{
    node.n_args = (uint8_t)n_args;
    if (p->nodes.count * 2 >= p->n_buckets)
        buckets_grow(p);
    uint32_t at = node_hash(&node, args) & (p->n_buckets - 1);
    for (; p->buckets[at]; at = (at + 1) & (p->n_buckets - 1))
        if (node_equal(p, p->buckets[at], &node, args))
            return p->buckets[at];
    node.uniform = always_uniform(p, node.op, args, n_args);
    node.first_arg = p->args.count;
    for (int k = 0; k < n_args; k++)
        LIST_PUSH(p->memory, p->args, args[k]);
    p->buckets[at] = p->nodes.count;
    LIST_PUSH(p->memory, p->nodes, node);
    return p->nodes.count - 1;
}

bool node_is_uniform(const tensor_pipe *p, ref r)
{
    return node_at(p, r)->uniform;
}

bool node_is_const(const tensor_pipe *p, ref r, int64_t *value)
{
    const tensor_node *n = node_at(p, r);
    if (n->op != OP_const || kind_is_float(n->type.kind))
        return false;
    *value = scalar_of_bits(n->type.kind, n->payload).i;
    return true;
}

bool node_is_f32(const tensor_pipe *p, ref r, float *value)
{
    const tensor_node *n = node_at(p, r);
    if (n->op != OP_const || n->type.kind != KIND_f32)
        return false;
    *value = scalar_of_bits(KIND_f32, n->payload).f;
    return true;
}

/* ---- folds and stages ------------------------------------------------------------------------- */

uint32_t tensor_fold_new(tensor_pipe *p, fold_form form, int n_binders, int n_accs)
{
    assert(n_binders <= TENSOR_MAX_BINDERS && n_accs >= 1 && n_accs <= TENSOR_MAX_ACCS);
    tensor_fold fold = { .form = (uint8_t)form, .n_binders = (uint8_t)n_binders, .n_accs = (uint8_t)n_accs };
    LIST_PUSH(p->memory, p->folds, fold);
    return p->folds.count - 1;
}

uint32_t tensor_stage_new(tensor_pipe *p, stage_kind k, const char *name, type t, int rank, span where)
{
    assert(rank >= 0 && rank <= TENSOR_MAX_RANK && t.lanes >= 1 && t.lanes <= TENSOR_MAX_LANES);
    tensor_stage stage = { .kind = (uint8_t)k, .rank = (uint8_t)rank, .type = t, .where = where };
    LIST_PUSH(p->memory, p->stages, stage);
    tensor_stage_rename(p, p->stages.count - 1, name);
    return p->stages.count - 1;
}

uint32_t tensor_table_new(tensor_pipe *p, const char *name, type t, int rank, const int32_t *lo, const int32_t *extent,
                          const uint32_t *words, span where)
{
    uint32_t s = tensor_stage_new(p, STAGE_table, name, t, rank, where);
    size_t n_words = t.lanes;
    for (int k = 0; k < rank; k++) {
        ref first = tensor_i32(p, lo[k]), last = tensor_i32(p, lo[k] + (extent[k] - 1));
        stage_at(p, s)->lo[k] = first;
        stage_at(p, s)->hi[k] = last;
        n_words *= (size_t)extent[k];
    }
    stage_at(p, s)->words = n_words ? arena_copy(p->memory, words, n_words * sizeof *words) : NULL;
    return s;
}

void tensor_note_add(tensor_pipe *p, uint32_t stage, const char *text)
{
    tensor_note note = { stage_at(p, stage)->name, text };
    LIST_PUSH(p->memory, p->notes, note);
}

bool tensor_is_output(const tensor_pipe *p, uint32_t stage)
{
    for (uint32_t k = 0; k < p->outputs.count; k++)
        if (p->outputs.items[k].stage == stage) return true;
    return false;
}
