/* SPDX-License-Identifier: MIT
 * Exact pass `mirrors`: planes of distances between pixels are computed for half of the distances.
 *
 *   unlike[x, y, dx, dy] = e(p[x, y], p[x + dx, y + dy])           e(a, b) and e(b, a) have the same bits
 *   patch[x, y, dx, dy]  = sums of unlike around (x, y), in the same plane
 *   total[x, y]          = sum over dx, dy: f(patch[x, y, dx, dy]) * ...
 *
 * Then patch[x, y, dx, dy] is patch[x + dx, y + dy, -dx, -dy]: the same pixels, added up in the same order. The stages lose their
 * planes of dy < 0 and become as much wider and taller as those look aside, and the reduction reads the mirrored ones there. What
 * it computes of a pixel of the last one alone (an exponential) goes into a stage too, instead of being done twice.
 *
 * Requires distances from -n to n on both axes and stages that nobody else reads. Keeps every bit and the order of elements. */
#include "lowering/access.h"
#include "lowering/pairs.h"
#include "lowering/pass.h"
#include "lowering/pass_rewrite.h"
#include "lowering/window.h"

#include <string.h>

enum { MAX_DISTANCE = 16, MAX_CHAIN = 8, LEAST_OPERATIONS = 8 };

typedef struct mirrors {
    tensor_pipe *pipe;
    uint32_t     fold;
    ref          load;                     /* what the reduction reads of the last stage */
    int          binder[2];                /* of the fold: dx, dy */
    int64_t      n[2];
    uint32_t     chain[MAX_CHAIN];         /* from the last stage to the one of two pixels */
    int          n_chain;
} mirrors;

/* ---- stages of distances ------------------------------------------------------------------------------------------ */

static bool is_coord(const tensor_pipe *p, ref r, int d) { return node_at(p, r)->op == OP_coord && node_at(p, r)->index == d; }

/* Distances from -n to n. */
static bool has_distances(const tensor_pipe *p, uint32_t stage, int64_t n[2])
{
    const tensor_stage *s = &p->stages.items[stage];
    int64_t lo;
    if (s->kind != STAGE_compute || s->rank != 4 || s->materialize || tensor_is_output(p, stage)) return false;
    for (int d = 0; d < 2; d++)
        if (!node_is_const(p, s->lo[2 + d], &lo) || !node_is_const(p, s->hi[2 + d], &n[d]) || lo != -n[d] || n[d] < 1 || n[d] > MAX_DISTANCE) return false;
    return true;
}

/* Of a stage's body: its loads, and whether coordinates stand anywhere but in their indices. */
typedef struct body_loads { ref_list loads; bool elsewhere; } body_loads;

static body_loads loads_of(tensor_pipe *p, uint32_t stage)
{
    body_loads b = { 0 };
    ref_list nodes = { 0 };
    ref body = stage_at(p, stage)->body;
    reached_nodes(p, p->memory, &body, 1, &nodes);
    uint8_t *in_value = ARENA_ARRAY(p->memory, uint8_t, p->nodes.count);
    in_value[body] = 1;
    for (uint32_t k = nodes.count; k-- > 0;) {                     /* users first */
        ref r = nodes.items[k];
        const tensor_node *n = node_at(p, r);
        if (n->op == OP_load) { LIST_PUSH(p->memory, b.loads, r); continue; }
        if (n->op == OP_result) {
            const tensor_fold *f = fold_at(p, n->payload);
            if (f->where) in_value[f->where] = 1;
            for (int a = 0; a < f->n_accs; a++) in_value[f->init[a]] = in_value[f->next[a]] = 1;
        }
        if (!in_value[r]) continue;
        if (n->op == OP_coord) b.elsewhere = true;
        for (int a = 0; a < n->n_args; a++) in_value[node_arg(p, r, a)] = 1;
    }
    return b;
}

/* A load of another stage of distances around the place, in the same plane. */
static bool is_around(tensor_pipe *p, depends *all, ref load)
{
    for (int d = 0; d < 4; d++) {
        ref index = load_index(p, load, d);
        linear form;
        if (d >= 2 && !is_coord(p, index, d)) return false;
        if (d >= 2) continue;
        bool place = false;
        if (node_at(p, load)->border[d] != BORDER_none || !linear_of(p, index, &form)) return false;
        for (int t = 0; t < form.n_terms; t++) {
            if (is_coord(p, form.terms[t].atom, d) && form.terms[t].coefficient == 1) { place = true; continue; }
            const depend *other = depends_of(p, all, form.terms[t].atom);
            if (other->coords || other->loads) return false;
        }
        if (!place) return false;
    }
    return true;
}

/* e(p[x, y], p[x + dx, y + dy]), p as far as one likes. */
static bool is_of_two_pixels(tensor_pipe *p, const body_loads *b, uint32_t stage)
{
    ref here = 0, moved = 0;
    if (b->loads.count != 2) return false;
    for (int k = 0; k < 2; k++) {
        ref load = b->loads.items[k];
        linear x, y;
        const tensor_node *n = node_at(p, load);
        if (stage_at(p, n->payload)->rank != 2 || n->border[0] == BORDER_none || n->border[1] == BORDER_none) return false;
        for (int d = 0; d < 2; d++) {
            ref value = load_outside(p, load, d);
            if (value && !node_is_uniform(p, value)) return false;
        }
        if (is_coord(p, load_index(p, load, 0), 0) && is_coord(p, load_index(p, load, 1), 1)) { here = load; continue; }
        if (!linear_of(p, load_index(p, load, 0), &x) || !linear_of(p, load_index(p, load, 1), &y)) return false;
        const linear *forms[2] = { &x, &y };
        for (int d = 0; d < 2; d++) {
            if (forms[d]->constant || forms[d]->n_terms != 2) return false;
            for (int t = 0; t < 2; t++) {
                ref atom = forms[d]->terms[t].atom;
                if (forms[d]->terms[t].coefficient != 1 || !(is_coord(p, atom, d) || is_coord(p, atom, 2 + d))) return false;
            }
        }
        moved = load;
    }
    if (!here || !moved) return false;
    const tensor_node *a = node_at(p, here), *m = node_at(p, moved);
    bool same = a->payload == m->payload && type_equal(a->type, m->type) && memcmp(a->border, m->border, 2) == 0
        && load_outside(p, here, 0) == load_outside(p, moved, 0) && load_outside(p, here, 1) == load_outside(p, moved, 1);
    return same && alike_both_ways(p, stage_at(p, stage)->body, here, moved);
}

static int count_readers(tensor_pipe *p, stage_loads *loads, uint32_t stage)
{
    int n = 0;
    for (uint32_t r = stage + 1; r < p->stages.count; r++) n += stage_at(p, r)->body && stage_reads(p, loads, r, stage);
    return n;
}

static bool find_chain(mirrors *m, depends *all, stage_loads *loads)
{
    tensor_pipe *p = m->pipe;
    uint32_t stage = node_at(p, m->load)->payload;
    for (m->n_chain = 0; m->n_chain < MAX_CHAIN;) {
        int64_t n[2];
        if (!has_distances(p, stage, n) || (m->n_chain && (n[0] != m->n[0] || n[1] != m->n[1])) || count_readers(p, loads, stage) != 1) return false;
        memcpy(m->n, n, sizeof n);
        m->chain[m->n_chain++] = stage;
        body_loads b = loads_of(p, stage);
        if (b.elsewhere || b.loads.count == 0) return false;
        if (is_of_two_pixels(p, &b, stage)) return true;
        uint32_t from = node_at(p, b.loads.items[0])->payload;
        for (uint32_t k = 0; k < b.loads.count; k++) {
            ref load = b.loads.items[k];
            if (node_at(p, load)->payload != from || stage_at(p, from)->rank != 4 || !is_around(p, all, load)) return false;
        }
        stage = from;
    }
    return false;
}

/* Nothing else of the reduction's stage reads it. */
static bool is_only_read(const mirrors *m, stage_loads *loads, uint32_t reader)
{
    const ref_list *of = loads_of_stage(m->pipe, loads, reader);
    for (uint32_t k = 0; k < of->count; k++)
        if (of->items[k] != m->load && node_at(m->pipe, of->items[k])->payload == node_at(m->pipe, m->load)->payload) return false;
    return true;
}

/* ---- the reduction -------------------------------------------------------------------------------------------------- */

/* Its only read of a stage of distances: at its own place, in the plane that its binders say, all of them once. */
static bool find_load(mirrors *m)
{
    tensor_pipe *p = m->pipe;
    tensor_fold f = *fold_at(p, m->fold);
    ref_list nodes = { 0 };
    if (f.form != FOLD_loop || f.n_binders != 2) return false;
    reached_nodes(p, p->memory, f.next, f.n_accs, &nodes);
    for (uint32_t k = 0; k < nodes.count; k++) {
        const tensor_node *n = node_at(p, nodes.items[k]);
        if (n->op != OP_load || stage_at(p, n->payload)->rank != 4) continue;
        if (m->load) return false;
        m->load = nodes.items[k];
    }
    if (!m->load) return false;
    for (int d = 0; d < 2; d++) {
        const tensor_node *plane = node_at(p, load_index(p, m->load, 2 + d));
        if (!is_coord(p, load_index(p, m->load, d), d) || plane->op != OP_binder || plane->payload != m->fold) return false;
        m->binder[d] = plane->index;
        int64_t lo, hi, n;
        const tensor_stage *s = stage_at(p, node_at(p, m->load)->payload);
        if (!node_is_const(p, f.lo[plane->index], &lo) || !node_is_const(p, f.hi[plane->index], &hi) || !node_is_const(p, s->hi[2 + d], &n)) return false;
        if (lo < -n || hi > n) return false;
    }
    return m->binder[0] != m->binder[1];
}

static ref without_value(rewriter *w, ref r)
{
    const ref *pair = w->user;
    return r == pair[0] ? pair[1] : 0;
}

/* Is the load needed for nothing but `value`? */
static bool covers_load(const mirrors *m, ref value)
{
    tensor_pipe *p = m->pipe;
    tensor_fold f = *fold_at(p, m->fold);
    uint32_t scratch = tensor_fold_new(p, FOLD_loop, 1, 1);
    ref pair[2] = { value, tensor_acc(p, scratch, 0, node_type(p, value)) }, roots[TENSOR_MAX_ACCS + 1];
    uint32_t n = 0;
    rewriter w;
    rewriter_begin(&w, p, without_value, pair);
    for (int a = 0; a < f.n_accs; a++) roots[n++] = rewrite(&w, f.next[a]);
    if (f.where) roots[n++] = rewrite(&w, f.where);
    ref_list nodes = { 0 };
    reached_nodes(p, p->memory, roots, n, &nodes);
    for (uint32_t k = 0; k < nodes.count; k++) if (nodes.items[k] == m->load) return false;
    return true;
}

/* The largest expression of the loaded pixel and constants alone that the load is needed for. */
static ref value_of_load(const mirrors *m)
{
    tensor_pipe *p = m->pipe;
    tensor_fold f = *fold_at(p, m->fold);
    ref_list nodes = { 0 };
    reached_nodes(p, p->memory, f.next, f.n_accs, &nodes);
    uint8_t *of = ARENA_ARRAY(p->memory, uint8_t, p->nodes.count);        /* 1: of the load; 2: of something else that moves */
    ref best = m->load;
    int most = LEAST_OPERATIONS - 1;
    for (uint32_t k = 0; k < nodes.count; k++) {
        ref r = nodes.items[k];
        const tensor_node *n = node_at(p, r);
        if (r == m->load) { of[r] = 1; continue; }
        bool moves = n->op == OP_load || n->op == OP_coord || n->op == OP_binder || n->op == OP_acc || n->op == OP_result;
        if (moves) { of[r] = 2; continue; }
        for (int a = 0; a < n->n_args; a++) of[r] |= of[node_arg(p, r, a)];
        int operations = of[r] == 1 ? operations_under(p, r) : 0;
        if (operations > most && kind_is_float(n->type.kind)) { most = operations; best = r; }
    }
    return covers_load(m, best) ? best : m->load;
}

/* ---- doing it --------------------------------------------------------------------------------------------------------- */

static void halve_planes(mirrors *m)
{
    tensor_pipe *p = m->pipe;
    for (int k = 0; k < m->n_chain; k++) {
        tensor_stage s = *stage_at(p, m->chain[k]);
        ref x = tensor_i32(p, (int32_t)m->n[0]), y = tensor_i32(p, (int32_t)m->n[1]), zero = tensor_i32(p, 0);
        ref left = tensor_normalize(p, tensor_op2(p, OP_sub, s.lo[0], x)), right = tensor_normalize(p, tensor_op2(p, OP_add, s.hi[0], x));
        ref above = tensor_normalize(p, tensor_op2(p, OP_sub, s.lo[1], y));
        tensor_stage *to = stage_at(p, m->chain[k]);
        to->lo[0] = left;
        to->hi[0] = right;
        to->lo[1] = above;
        to->lo[3] = zero;
    }
}

typedef enum table_of { TABLE_x, TABLE_y, TABLE_dx, TABLE_dy } table_of;

/* What an element of the reduction reads, by its distances. */
static ref read_from_table(const mirrors *m, uint32_t fold, table_of what)
{
    tensor_pipe *p = m->pipe;
    const int32_t lo[2] = { (int32_t)-m->n[0], (int32_t)-m->n[1] }, extent[2] = { (int32_t)(2 * m->n[0] + 1), (int32_t)(2 * m->n[1] + 1) };
    uint32_t words[(2 * MAX_DISTANCE + 1) * (2 * MAX_DISTANCE + 1)], *to = words;
    for (int32_t dy = lo[1]; dy <= -lo[1]; dy++)
        for (int32_t dx = lo[0]; dx <= -lo[0]; dx++) {
            bool mirrored = dy < 0;
            int32_t value = what == TABLE_x ? (mirrored ? dx : 0) : what == TABLE_y ? (mirrored ? dy : 0) : what == TABLE_dx ? (mirrored ? -dx : dx) : (mirrored ? -dy : dy);
            *to++ = (uint32_t)value;
        }
    uint32_t table = tensor_table_new(p, tensor_unique_name(p, "mirror"), type_of(KIND_i32, 1), 2, lo, extent, words, (span){ 0 });
    ref index[2] = { tensor_binder(p, fold, m->binder[0]), tensor_binder(p, fold, m->binder[1]) };
    return tensor_load(p, table, index, NULL, NULL, type_of(KIND_i32, 1));
}

static uint32_t stage_of_value(const mirrors *m, ref value)
{
    tensor_pipe *p = m->pipe;
    uint32_t last = m->chain[0];
    if (value == m->load) return last;
    ref index[4];
    for (int d = 0; d < 4; d++) index[d] = tensor_coord(p, d);
    window w = { .pipe = p, .element = value, .load = m->load };
    ref body = window_element_of(&w, tensor_load(p, last, index, NULL, NULL, node_type(p, m->load)));
    uint32_t made = stage_like(p, last, node_type(p, body));
    stage_at(p, made)->body = body;
    return made;
}

typedef struct replacement { const mirrors *m; uint32_t fold; ref value, by; } replacement;

static ref replace(rewriter *w, ref r)
{
    const replacement *u = w->user;
    tensor_node n = *node_at(w->pipe, r);
    if (r == u->value) return u->by;
    if (n.op == OP_binder && n.payload == u->m->fold) return tensor_binder(w->pipe, u->fold, n.index);
    return n.op == OP_acc && n.payload == u->m->fold ? tensor_acc(w->pipe, u->fold, n.index, n.type) : 0;
}

static uint32_t mirrored_fold(mirrors *m)
{
    tensor_pipe *p = m->pipe;
    ref value = value_of_load(m), index[4];
    halve_planes(m);
    uint32_t stage = stage_of_value(m, value);
    tensor_fold f = *fold_at(p, m->fold), made = f;
    replacement u = { .m = m, .fold = tensor_fold_new(p, f.form, 2, f.n_accs), .value = value };
    for (int d = 0; d < 2; d++) {
        index[d] = tensor_op2(p, OP_add, tensor_coord(p, d), read_from_table(m, u.fold, d == 0 ? TABLE_x : TABLE_y));
        index[2 + d] = read_from_table(m, u.fold, d == 0 ? TABLE_dx : TABLE_dy);
    }
    u.by = tensor_load(p, stage, index, NULL, NULL, node_type(p, value));
    rewriter w;
    rewriter_begin(&w, p, replace, &u);
    if (f.where) made.where = rewrite(&w, f.where);
    for (int a = 0; a < f.n_accs; a++) made.next[a] = rewrite(&w, f.next[a]);
    *fold_at(p, u.fold) = made;
    return u.fold;
}

/* ---- all of them -------------------------------------------------------------------------------------------------------- */

typedef struct mirroring { uint32_t stage; depends all; stage_loads loads; bool changed; LIST(uint32_t) from; LIST(uint32_t) to; } mirroring;

static ref mirrored_result(rewriter *w, ref r, const ref *args)
{
    (void)args;
    tensor_pipe *p = w->pipe;
    mirroring *all = w->user;
    tensor_node n = *node_at(p, r);
    if (n.op != OP_result) return 0;
    for (uint32_t k = 0; k < all->from.count; k++)
        if (all->from.items[k] == n.payload) return all->to.items[k] ? tensor_result(p, all->to.items[k], n.index) : 0;
    mirrors m = { .pipe = p, .fold = n.payload };
    uint32_t made = find_load(&m) && is_only_read(&m, &all->loads, all->stage) && find_chain(&m, &all->all, &all->loads) ? mirrored_fold(&m) : 0;
    LIST_PUSH(p->memory, all->from, n.payload);
    LIST_PUSH(p->memory, all->to, made);
    all->changed = all->changed || made;
    return made ? tensor_result(p, made, n.index) : 0;
}

bool pass_mirrors(tensor_pipe *p)
{
    uint32_t n_stages = p->stages.count;
    bool any = false, changed = false;
    for (uint32_t s = 1; s < n_stages; s++) any = any || stage_at(p, s)->rank == 4;
    for (uint32_t s = 1; s < n_stages && any; s++) {
        if (stage_at(p, s)->kind != STAGE_compute || stage_at(p, s)->rank != 2) continue;
        mirroring all = { .stage = s };
        rewriter w;
        rewriter_begin(&w, p, NULL, &all);
        w.rebuild = mirrored_result;
        ref body = rewrite(&w, stage_at(p, s)->body);
        stage_at(p, s)->body = body;
        if (all.changed) tensor_note_add(p, s, "planes of distances are computed for one of each two opposite ones");
        changed = changed || all.changed;
    }
    if (changed) sort_stages(p);
    return changed;
}
