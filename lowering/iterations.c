/* SPDX-License-Identifier: MIT
 * Counts the rounds of loops as an expression of sizes and parameters, since bounds are. Every fold contributes its own rounds
 * times the elements of the folds that it stands in; each is found once, since nodes are shared. */
#include "lowering/iterations.h"

#include "lowering/access.h"

static ref most(tensor_pipe *p) { return tensor_i32(p, ITERATIONS_MOST); }

ref iterations_add(tensor_pipe *p, ref a, ref b) { return tensor_op2(p, OP_min, tensor_op2(p, OP_add, a, b), most(p)); }

/* The product where it fits: a <= most / b. */
ref iterations_mul(tensor_pipe *p, ref a, ref b)
{
    ref one = tensor_i32(p, 1);
    if (a == one || b == one) return a == one ? b : a;
    ref largest = tensor_op2(p, OP_floordiv, most(p), tensor_op2(p, OP_max, b, one));
    return tensor_select(p, tensor_op2(p, OP_le, a, largest), tensor_op2(p, OP_mul, a, b), most(p));
}

/* The difference as u32 is right for any two with lo <= hi. */
ref iterations_between(tensor_pipe *p, ref lo, ref hi)
{
    int32_t apart;
    if (linear_difference(p, hi, lo, &apart))
        return tensor_i32(p, apart < 0 ? 0 : apart < ITERATIONS_MOST ? apart + 1 : ITERATIONS_MOST);
    ref difference = tensor_op2(p, OP_sub, tensor_wrap(p, hi, KIND_u32), tensor_wrap(p, lo, KIND_u32));
    ref less = tensor_wrap(p, tensor_op2(p, OP_min, difference, tensor_u32(p, ITERATIONS_MOST - 1)), KIND_i32);
    return tensor_select(p, tensor_op2(p, OP_le, lo, hi), tensor_op2(p, OP_add, less, tensor_i32(p, 1)), tensor_i32(p, 0));
}

/* ---- folds ------------------------------------------------------------------------------------------------- */

typedef LIST(uint32_t) fold_list;
typedef struct counting { tensor_pipe *pipe; depends all; fold_list folds; LIST(ref) results; } counting;

static ref elements_of(tensor_pipe *p, uint32_t fold)
{
    tensor_fold f = *fold_at(p, fold);
    ref n = tensor_i32(p, 1);
    for (int b = 0; b < f.n_binders; b++) n = iterations_mul(p, n, iterations_between(p, f.lo[b], f.hi[b]));
    return n;
}

/* Of a loop per binder, one in another: n0 + n0 n1 + n0 n1 n2 ... and whenever a loop is left, 1 + n0 + n0 n1 ... */
static ref rounds_of(tensor_pipe *p, uint32_t fold)
{
    tensor_fold f = *fold_at(p, fold);
    ref n = tensor_i32(p, 1), all = tensor_i32(p, 0);
    for (int b = 0; b < f.n_binders; b++) {
        all = iterations_add(p, all, n);
        n = iterations_mul(p, n, iterations_between(p, f.lo[b], f.hi[b]));
        all = iterations_add(p, all, n);
    }
    return all;
}

/* Is `inner` reached from what the fold computes for every element? */
static bool encloses(tensor_pipe *p, uint32_t fold, ref inner)
{
    tensor_fold f = *fold_at(p, fold);
    ref roots[TENSOR_MAX_ACCS + 1] = { f.where };
    for (int a = 0; a < f.n_accs; a++) roots[a + 1] = f.next[a];
    ref_list nodes = { 0 };
    reached_nodes(p, p->memory, roots, (uint32_t)f.n_accs + 1, &nodes);
    for (uint32_t k = 0; k < nodes.count; k++) if (nodes.items[k] == inner) return true;
    return false;
}

static bool holds(const fold_list *list, uint32_t fold)
{
    for (uint32_t k = 0; k < list->count; k++) if (list->items[k] == fold) return true;
    return false;
}

static ref result_of(const counting *c, uint32_t fold)
{
    for (uint32_t k = 0; k < c->folds.count; k++) if (c->folds.items[k] == fold) return c->results.items[k];
    return 0;
}

/* The folds around a result: those that it waits for, and those around them. Nests too deep for `depends`: all that enclose it. */
static fold_list around(counting *c, ref result)
{
    tensor_pipe *p = c->pipe;
    fold_list out = { 0 };
    uint32_t own = node_at(p, result)->payload, next = 0;
    for (ref r = result; r; r = next < out.count ? result_of(c, out.items[next++]) : 0) {
        depend d = *depends_of(p, &c->all, r);
        bool deep = d.n_open == DEPEND_MAX_OPEN;
        for (int k = 0; k < d.n_open && !deep; k++)
            if (d.open[k] != own && !holds(&out, d.open[k])) LIST_PUSH(p->memory, out, d.open[k]);
        for (uint32_t k = 0; k < c->folds.count && deep; k++) {
            uint32_t f = c->folds.items[k];
            if (f != own && !holds(&out, f) && encloses(p, f, r)) LIST_PUSH(p->memory, out, f);
        }
    }
    return out;
}

static counting folds_of(tensor_pipe *p, uint32_t stage)
{
    counting c = { .pipe = p };
    ref_list nodes = { 0 };
    reached_nodes(p, p->memory, &stage_at(p, stage)->body, 1, &nodes);
    for (uint32_t k = 0; k < nodes.count; k++) {
        const tensor_node *n = node_at(p, nodes.items[k]);
        if (n->op != OP_result || holds(&c.folds, n->payload)) continue;
        LIST_PUSH(p->memory, c.folds, n->payload);
        LIST_PUSH(p->memory, c.results, nodes.items[k]);
    }
    return c;
}

int32_t stage_loops(tensor_pipe *p, uint32_t stage)
{
    counting c = folds_of(p, stage);
    int32_t n = 0;
    for (uint32_t k = 0; k < c.folds.count; k++) n += fold_at(p, c.folds.items[k])->n_binders;
    return n;
}

ref stage_iterations(tensor_pipe *p, uint32_t stage)
{
    counting c = folds_of(p, stage);
    ref all = tensor_i32(p, 0);
    for (uint32_t k = 0; k < c.folds.count; k++) {
        ref rounds = rounds_of(p, c.folds.items[k]);
        fold_list outer = around(&c, c.results.items[k]);
        for (uint32_t o = 0; o < outer.count; o++) rounds = iterations_mul(p, rounds, elements_of(p, outer.items[o]));
        all = iterations_add(p, all, rounds);
    }
    return tensor_normalize(p, all);
}
