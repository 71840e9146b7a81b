/* SPDX-License-Identifier: MIT
 * What a pixel of a stage costs, in operations: to choose shapes, and at run time to know when a millisecond of work has
 * gone by and how much is done. Loops whose length depends on sizes and parameters make the second an expression of those. */
#include "backends/cpu/schedule.h"

#include <string.h>

enum {
    GATHER_OPERATIONS = 16,           /* what fetching one pixel from anywhere takes, mostly waiting for memory */
    UNKNOWN_ELEMENTS = 15,            /* of a loop whose bounds depend on the pixel */
    MOST_ELEMENTS = 1 << 12,          /* of one loop, and of a nest, and operations of a term: products stay in 31 bits */
    MOST_NESTED = 1 << 18,
    MOST_OPERATIONS = 1 << 12,
    MOST_WORK = 1 << 27
};

double node_operations(const tensor_node *n)
{
    switch ((tensor_op)n->op) {
    case OP_const: case OP_param: case OP_dim: case OP_coord: case OP_binder: case OP_acc: case OP_result:
    case OP_splat: case OP_vec: case OP_comp: case OP_load: return 0;
    case OP_fma: case OP_muladd: return 2.0 * n->type.lanes;
    default: return n->type.lanes;
    }
}

bool node_is_per_pixel(tensor_pipe *p, depends *all, ref r)
{
    const tensor_node *n = node_at(p, r);
    if (!(depends_of(p, all, r)->coords & 1) || n->op == OP_coord) return false;
    bool index = n->type.kind == KIND_i32 && n->type.lanes == 1 && n->op == OP_add && node_at(p, node_arg(p, r, 0))->op == OP_coord;
    return !index;
}

/* ---- what is computed ------------------------------------------------------------------------------------------------ */

typedef struct computing { cpu_schedule *s; const cpu_stage *stage; uint8_t *seen; ref_list *out; } computing;

/* The edge of a load whose columns are no more than addresses, or NULL. */
static const cpu_edge *row_edge(const cpu_stage *c, ref load)
{
    for (uint32_t k = 0; k < c->loads.count; k++) {
        const cpu_edge *e = &c->edges.items[c->loads.items[k].edge];
        if (c->loads.items[k].load == load) return e->kind == READ_row ? e : NULL;
    }
    return NULL;
}

static void compute_node(computing *c, ref r)
{
    tensor_pipe *p = c->s->pipe;
    if (r == 0 || c->seen[r]) return;
    c->seen[r] = 1;
    tensor_node n = *node_at(p, r);
    const cpu_edge *row = n.op == OP_load ? row_edge(c->stage, r) : NULL;
    if (row && row->finds_rows) compute_node(c, load_index(p, r, 1));
    if (row)
        for (int d = 0; d < stage_at(p, n.payload)->rank; d++) compute_node(c, load_outside(p, r, d));
    else for (int k = 0; k < n.n_args; k++) compute_node(c, node_arg(p, r, k));
    if (n.op == OP_result) {
        tensor_fold f = *fold_at(p, n.payload);
        for (int b = 0; b < f.n_binders; b++) { compute_node(c, f.lo[b]); compute_node(c, f.hi[b]); }
        compute_node(c, f.where);
        for (int a = 0; a < f.n_accs; a++) { compute_node(c, f.init[a]); compute_node(c, f.next[a]); }
    }
    LIST_PUSH(c->s->memory, *c->out, r);
}

void computed_nodes(cpu_schedule *s, const cpu_stage *stage, const ref *roots, uint32_t n_roots, ref_list *out)
{
    computing c = { s, stage, ARENA_ARRAY(s->memory, uint8_t, s->pipe->nodes.count), out };
    for (uint32_t k = 0; k < n_roots; k++) compute_node(&c, roots[k]);
}

/* ---- at run time ------------------------------------------------------------------------------------------------- */

/* Operations inside one nest of loops. */
typedef struct work_term { uint32_t folds[DEPEND_MAX_OPEN]; int n_folds; double operations; } work_term;
typedef struct work_terms { arena *memory; LIST(work_term) terms; } work_terms;

static void add_term(work_terms *w, const depend *d, double operations)
{
    for (uint32_t k = 0; k < w->terms.count; k++) {
        work_term *t = &w->terms.items[k];
        if (t->n_folds != d->n_open || memcmp(t->folds, d->open, sizeof *d->open * d->n_open) != 0) continue;
        t->operations += operations;
        return;
    }
    work_term t = { .n_folds = d->n_open, .operations = operations };
    memcpy(t.folds, d->open, sizeof *d->open * d->n_open);
    LIST_PUSH(w->memory, w->terms, t);
}

static ref at_most(tensor_pipe *p, ref r, int32_t most) { return tensor_op2(p, OP_min, r, tensor_i32(p, most)); }

static ref loop_elements(tensor_pipe *p, uint32_t fold)
{
    tensor_fold f = *fold_at(p, fold);
    ref all = tensor_i32(p, 1);
    for (int b = 0; b < f.n_binders; b++) {
        ref n = tensor_i32(p, UNKNOWN_ELEMENTS);
        if (node_is_uniform(p, f.lo[b]) && node_is_uniform(p, f.hi[b]))
            n = tensor_op2(p, OP_add, tensor_op2(p, OP_sub, f.hi[b], f.lo[b]), tensor_i32(p, 1));
        n = at_most(p, tensor_op2(p, OP_max, n, tensor_i32(p, 0)), MOST_ELEMENTS);
        all = at_most(p, tensor_op2(p, OP_mul, all, n), MOST_NESTED);
    }
    return all;
}

static ref term_work(tensor_pipe *p, const work_term *t)
{
    ref elements = tensor_i32(p, 1);
    for (int k = 0; k < t->n_folds; k++) {
        ref n = at_most(p, loop_elements(p, t->folds[k]), MOST_ELEMENTS);
        elements = at_most(p, tensor_op2(p, OP_mul, elements, n), MOST_NESTED);
    }
    double operations = t->operations < MOST_OPERATIONS ? t->operations + 0.5 : MOST_OPERATIONS;
    return at_most(p, tensor_op2(p, OP_mul, elements, tensor_i32(p, (int32_t)operations)), MOST_WORK);
}

static bool is_gather(const cpu_stage *c, ref load)
{
    for (uint32_t k = 0; k < c->loads.count; k++)
        if (c->loads.items[k].load == load) return c->edges.items[c->loads.items[k].edge].kind != READ_row;
    return false;
}

ref stage_work(cpu_schedule *s, const cpu_stage *c)
{
    tensor_pipe *p = s->pipe;
    work_terms w = { .memory = s->memory };
    ref_list nodes = { 0 };
    reached_nodes(p, s->memory, &stage_at(p, c->stage)->body, 1, &nodes);
    for (uint32_t k = 0; k < nodes.count; k++) {
        ref r = nodes.items[k];
        if (!node_is_per_pixel(p, &s->all, r)) continue;
        double operations = node_at(p, r)->op == OP_load && is_gather(c, r) ? GATHER_OPERATIONS : node_operations(node_at(p, r));
        if (operations > 0) add_term(&w, depends_of(p, &s->all, r), operations);
    }
    ref all = tensor_i32(p, 0);
    for (uint32_t k = 0; k < w.terms.count; k++) all = at_most(p, tensor_op2(p, OP_add, all, term_work(p, &w.terms.items[k])), MOST_WORK);
    all = at_most(p, tensor_op2(p, OP_mul, at_most(p, all, MOST_WORK / SLAB_MAX_PLANES), tensor_i32(p, c->planes)), MOST_WORK);
    return tensor_normalize(p, tensor_op2(p, OP_max, all, tensor_i32(p, 1)));
}
