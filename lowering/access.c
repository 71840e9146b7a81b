/* SPDX-License-Identifier: MIT
 * Index analysis: which coordinate an index follows, with which slope, and the uniform bounds of what is added to it.
 * Fusion, line buffers and vector loads are all decided from these forms, never from the names of operations. */
#include "lowering/access.h"

#include <stdlib.h>
#include <string.h>

/* ---- dependence ------------------------------------------------------------------------------- */

static void open_fold(depend *d, uint32_t fold)
{
    if (depend_on_fold(d, fold) || d->n_open == DEPEND_MAX_OPEN) return;
    d->open[d->n_open++] = fold;
}

static void close_fold(depend *d, uint32_t fold)
{
    if (d->n_open == DEPEND_MAX_OPEN) return;        /* some may be missing from the list: never closed */
    for (int k = 0; k < d->n_open; k++) if (d->open[k] == fold) { d->open[k] = d->open[--d->n_open]; return; }
}

static depend merged(depend a, depend b)
{
    a.coords |= b.coords;
    a.loads = a.loads || b.loads;
    for (int k = 0; k < b.n_open; k++) open_fold(&a, b.open[k]);
    return a;
}

static depend fold_depend(const tensor_pipe *p, const depend *done, uint32_t fold)
{
    const tensor_fold *f = &p->folds.items[fold];
    depend d = { 0 };
    for (int b = 0; b < f->n_binders; b++) d = merged(merged(d, done[f->lo[b]]), done[f->hi[b]]);
    for (int a = 0; a < f->n_accs; a++) d = merged(merged(d, done[f->init[a]]), done[f->next[a]]);
    d = merged(d, done[f->where]);
    close_fold(&d, fold);
    return d;
}

static depend own_depend(const tensor_pipe *p, const depend *done, ref r)
{
    const tensor_node *n = node_at(p, r);
    depend d = { 0 };
    for (int k = 0; k < n->n_args; k++) d = merged(d, done[node_arg(p, r, k)]);
    switch ((tensor_op)n->op) {
    case OP_coord:  d.coords |= (uint8_t)(1u << n->index); break;
    case OP_load:   d.loads = true; break;
    case OP_binder:
    case OP_acc:    open_fold(&d, n->payload); break;
    case OP_result: d = merged(d, fold_depend(p, done, n->payload)); break;
    default: break;
    }
    return d;
}

const depend *depends_of(tensor_pipe *p, depends *all, ref r)
{
    if (all->capacity < p->nodes.count) {
        uint32_t capacity = p->nodes.count * 2;
        depend *items = ARENA_ARRAY(p->memory, depend, capacity);
        if (all->count) memcpy(items, all->items, sizeof(depend) * all->count);
        all->items = items;
        all->capacity = capacity;
    }
    for (; all->count <= r; all->count++) all->items[all->count] = own_depend(p, all->items, all->count);
    return &all->items[r];
}

/* ---- walking ---------------------------------------------------------------------------------- */

typedef struct walk { tensor_pipe *pipe; arena *memory; uint8_t *seen; ref_list *out; } walk;

static void walk_node(walk *w, ref r);

static void walk_fold(walk *w, uint32_t fold)
{
    const tensor_fold *f = fold_at(w->pipe, fold);
    for (int b = 0; b < f->n_binders; b++) { walk_node(w, f->lo[b]); walk_node(w, f->hi[b]); }
    walk_node(w, f->where);
    for (int a = 0; a < f->n_accs; a++) { walk_node(w, f->init[a]); walk_node(w, f->next[a]); }
}

static void walk_node(walk *w, ref r)
{
    if (r == 0 || w->seen[r]) return;
    w->seen[r] = 1;
    const tensor_node *n = node_at(w->pipe, r);
    for (int k = 0; k < n->n_args; k++) walk_node(w, node_arg(w->pipe, r, k));
    if (n->op == OP_result) walk_fold(w, n->payload);
    LIST_PUSH(w->memory, *w->out, r);
}

void reached_nodes(tensor_pipe *p, arena *memory, const ref *roots, uint32_t n_roots, ref_list *out)
{
    walk w = { p, memory, calloc(p->nodes.count, 1), out };
    if (!w.seen) arena_fail(memory);
    for (uint32_t k = 0; k < n_roots; k++) walk_node(&w, roots[k]);
    free(w.seen);
}

void for_each_load(tensor_pipe *p, ref root, void (*visit)(void *user, ref load), void *user)
{
    ref_list nodes = { 0 };
    reached_nodes(p, p->memory, &root, 1, &nodes);
    for (uint32_t k = 0; k < nodes.count; k++)
        if (node_at(p, nodes.items[k])->op == OP_load) visit(user, nodes.items[k]);
}

typedef struct load_keeper { arena *memory; ref_list *out; } load_keeper;

static void keep_load(void *user, ref load)
{
    load_keeper *keep = user;
    LIST_PUSH(keep->memory, *keep->out, load);
}

const ref_list *loads_of_stage(tensor_pipe *p, stage_loads *all, uint32_t stage)
{
    if (all->count < p->stages.count) {
        void *items = arena_alloc(p->memory, sizeof *all->of * p->stages.count * 2);
        if (all->count) memcpy(items, all->of, sizeof *all->of * all->count);
        all->of = items;
        all->count = p->stages.count * 2;
    }
    ref body = stage_at(p, stage)->body;
    if (body != all->of[stage].body) {
        load_keeper keep = { p->memory, &all->of[stage].loads };
        all->of[stage].body = body;
        all->of[stage].loads.count = 0;
        for_each_load(p, body, keep_load, &keep);
    }
    return &all->of[stage].loads;
}

bool stage_reads(tensor_pipe *p, stage_loads *all, uint32_t reader, uint32_t stage)
{
    const ref_list *loads = loads_of_stage(p, all, reader);
    for (uint32_t k = 0; k < loads->count; k++) if (node_at(p, loads->items[k])->payload == stage) return true;
    return false;
}

/* ---- bounds ----------------------------------------------------------------------------------- */

static bool table_bounds(tensor_pipe *p, ref load, ref *lo, ref *hi)
{
    const tensor_stage *s = stage_at(p, node_at(p, load)->payload);
    if (s->kind != STAGE_table || s->type.lanes != 1 || !kind_is_integer(s->type.kind)) return false;
    int64_t count = 1, first, last;
    for (int d = 0; d < s->rank; d++) {
        if (!node_is_const(p, s->lo[d], &first) || !node_is_const(p, s->hi[d], &last)) return false;
        count *= last - first + 1;
    }
    if (count < 1) return false;
    int64_t smallest = INT64_MAX, largest = INT64_MIN;
    for (int64_t k = 0; k < count; k++) {
        int64_t v = scalar_of_bits(s->type.kind, s->words[k]).i;
        if (v < smallest) smallest = v;
        if (v > largest) largest = v;
    }
    *lo = tensor_i32(p, (int32_t)smallest);
    *hi = tensor_i32(p, (int32_t)largest);
    return true;
}

static bool bounds_in(tensor_pipe *p, depends *all, uint32_t stage, ref r, ref *lo, ref *hi);

static bool product_bounds(tensor_pipe *p, depends *all, uint32_t stage, const linear_term *t, ref *lo, ref *hi)
{
    ref a, b;
    if (!bounds_in(p, all, stage, t->atom, &a, &b)) return false;
    ref c = tensor_i32(p, t->coefficient);
    a = tensor_op2(p, OP_mul, a, c);
    b = tensor_op2(p, OP_mul, b, c);
    *lo = t->coefficient >= 0 ? a : b;
    *hi = t->coefficient >= 0 ? b : a;
    return true;
}

static bool atom_bounds(tensor_pipe *p, depends *all, uint32_t stage, ref r, ref *lo, ref *hi)
{
    tensor_node n = *node_at(p, r);
    if (node_is_uniform(p, r)) { *lo = *hi = r; return true; }
    if (n.op == OP_binder) {
        *lo = fold_at(p, n.payload)->lo[n.index];
        *hi = fold_at(p, n.payload)->hi[n.index];
        return node_is_uniform(p, *lo) && node_is_uniform(p, *hi);
    }
    if (n.op == OP_coord && stage && n.index >= 2) {
        *lo = stage_at(p, stage)->lo[n.index];
        *hi = stage_at(p, stage)->hi[n.index];
        return true;
    }
    if (n.op == OP_load) return table_bounds(p, r, lo, hi);
    if (n.op == OP_cast && kind_is_integer(node_type(p, node_arg(p, r, 0)).kind))
        return bounds_in(p, all, stage, node_arg(p, r, 0), lo, hi);
    int64_t q;
    if (n.op == OP_floordiv && node_is_const(p, node_arg(p, r, 1), &q) && q > 0) {
        ref a, b, divisor = node_arg(p, r, 1);
        if (!bounds_in(p, all, stage, node_arg(p, r, 0), &a, &b)) return false;
        *lo = tensor_op2(p, OP_floordiv, a, divisor);
        *hi = tensor_op2(p, OP_floordiv, b, divisor);
        return true;
    }
    return false;
}

static bool bounds_in(tensor_pipe *p, depends *all, uint32_t stage, ref r, ref *lo, ref *hi)
{
    linear form;
    if (node_type(p, r).kind != KIND_i32 || !linear_of(p, r, &form)) return false;
    if (form.n_terms == 1 && form.constant == 0 && form.terms[0].atom == r) return atom_bounds(p, all, stage, r, lo, hi);
    *lo = *hi = tensor_i32(p, form.constant);
    for (int k = 0; k < form.n_terms; k++) {
        ref a, b;
        if (!product_bounds(p, all, stage, &form.terms[k], &a, &b)) return false;
        *lo = tensor_op2(p, OP_add, *lo, a);
        *hi = tensor_op2(p, OP_add, *hi, b);
    }
    *lo = tensor_normalize(p, *lo);
    *hi = tensor_normalize(p, *hi);
    return true;
}

bool uniform_bounds(tensor_pipe *p, depends *all, ref r, ref *lo, ref *hi) { return bounds_in(p, all, 0, r, lo, hi); }

/* ---- index forms ------------------------------------------------------------------------------- */

/* The coordinates that an index follows: within a slab those beyond the first two are only more that is added. */
static bool follows(tensor_pipe *p, depends *all, uint32_t slab, ref r) { return depends_of(p, all, r)->coords & (slab ? 3 : 0xff); }

static void set_rest(tensor_pipe *p, depends *all, uint32_t slab, index_form *out, ref rest)
{
    out->rest = rest;
    out->bounded = !follows(p, all, slab, rest) && bounds_in(p, all, slab, rest, &out->lo, &out->hi);
}

/* The one term that has coordinates, or -1; the others must be free of them. */
static int coordinate_term(tensor_pipe *p, depends *all, uint32_t slab, const linear *form)
{
    int found = -1;
    for (int k = 0; k < form->n_terms; k++) {
        if (!follows(p, all, slab, form->terms[k].atom)) continue;
        if (found >= 0) return -1;
        found = k;
    }
    return found;
}

static ref without_term(tensor_pipe *p, const linear *form, int term, int32_t scale)
{
    linear rest = { .constant = (int32_t)((uint32_t)form->constant * (uint32_t)scale) };
    for (int k = 0; k < form->n_terms; k++)
        if (k != term) {
            rest.terms[rest.n_terms] = form->terms[k];
            rest.terms[rest.n_terms].coefficient = (int32_t)((uint32_t)form->terms[k].coefficient * (uint32_t)scale);
            rest.n_terms++;
        }
    return linear_build(p, &rest);
}

static bool affine_of(tensor_pipe *p, depends *all, uint32_t slab, ref index, index_form *out)
{
    linear form;
    if (!linear_of(p, index, &form)) return false;
    int term = coordinate_term(p, all, slab, &form);
    if (term < 0) return false;
    ref atom = form.terms[term].atom;
    int32_t coefficient = form.terms[term].coefficient;
    tensor_node n = *node_at(p, atom);
    if (n.op == OP_coord && coefficient > 0) {
        *out = (index_form){ .kind = INDEX_affine, .dimension = n.index, .p = coefficient, .q = 1 };
        set_rest(p, all, slab, out, without_term(p, &form, term, 1));
        return true;
    }
    int64_t q;
    if (n.op == OP_floordiv && coefficient == 1 && node_is_const(p, node_arg(p, atom, 1), &q) && q > 0 && q < 1024) {
        index_form inner;
        if (!affine_of(p, all, slab, node_arg(p, atom, 0), &inner) || inner.q != 1) return false;
        *out = inner;
        out->q = (int32_t)q;
        set_rest(p, all, slab, out, tensor_op2(p, OP_add, inner.rest, without_term(p, &form, term, (int32_t)q)));
        return true;
    }
    return false;
}

void index_form_of(tensor_pipe *p, depends *all, uint32_t slab, ref index, index_form *out)
{
    *out = (index_form){ .kind = INDEX_data, .p = 0, .q = 1 };
    if (!follows(p, all, slab, index)) {
        out->kind = INDEX_fixed;
        set_rest(p, all, slab, out, index);
        return;
    }
    if (!affine_of(p, all, slab, index, out) || !out->bounded) *out = (index_form){ .kind = INDEX_data, .p = 0, .q = 1 };
}

bool always_le(tensor_pipe *p, ref a, ref b)
{
    if (a == b) return true;
    int32_t difference;
    return linear_difference(p, b, a, &difference) && difference >= 0;
}
