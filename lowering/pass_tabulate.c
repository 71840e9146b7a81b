/* SPDX-License-Identifier: MIT
 * Exact pass `tabulate`: a long computation on one small whole number becomes a look-up in a table of its 256 results.
 *
 * Why: photographs come as bytes, and curves (gamma, tone, powers) cost a hundred operations where a look-up costs a few. The table
 * is a stage of rank 1; where nothing but constants goes in it is computed now, with the interpreter's own arithmetic, else
 * (parameters, sizes) once per run, as stages are that depend on those alone.
 *
 * In each body every node is a *function of a seed* (an 8-bit number, or the components of an 8-bit pixel, each for itself) when all
 * it uses is uniform or such a function of the same seed. Where something else uses such a node, it is a candidate; it is
 * replaced when it does more than a gather costs on any processor.
 * Requires `inline` and `clean` before it, so that chains stand in one body and no table is made for nobody. Keeps every bit. */
#include "lowering/access.h"
#include "lowering/constant_stage.h"
#include "lowering/pass.h"
#include "lowering/pass_rewrite.h"

enum {
    LEAST_OPERATIONS = 20,            /* 16 gathered numbers take as long as about 20 operations on 16 (measured) */
    SLOW_OPERATIONS = 8,
    UNKNOWN = 0                       /* not a function of one seed */
};

typedef struct made_table { ref body; int32_t lo, hi; uint32_t stage; } made_table;
typedef LIST(made_table) made_tables;

typedef struct tabulator {
    tensor_pipe *pipe;
    uint32_t     n_nodes;             /* nodes that were there when the pass began: no stage's body has others when its turn comes */
    ref         *seed;                /* per node: what it is a function of, or UNKNOWN */
    made_tables  made;
    /* Of the stage at hand: */
    uint32_t     stage;
    ref_list     nodes;               /* arguments first */
    bool        *is_used;             /* per node: by something that isn't a function of the same seed */
    uint32_t    *table;               /* per node: the stage that holds its values, or 0 */
    ref         *counted_for;         /* per node: the last candidate whose operations it was among */
} tabulator;

/* ---- functions of a seed ------------------------------------------------------------------------------- */

static bool is_byte(int k) { return k == KIND_u8 || k == KIND_i8; }

/* The kind whose values a node takes, when those are few. A load may widen what is stored, but not what a border gives. */
static bool small_kind(const tensor_pipe *p, ref r, kind *small)
{
    const tensor_node *n = node_at(p, r);
    *small = (kind)n->type.kind;
    if (n->op != OP_load || is_byte(n->type.kind)) return is_byte(n->type.kind);
    const tensor_stage *s = stage_at(p, n->payload);
    *small = (kind)s->type.kind;
    for (int d = 0; d < s->rank; d++) if (n->border[d] == BORDER_value) return false;
    return is_byte(s->type.kind);
}

/* The same for every component, so that one table serves all. */
static bool is_alike(const tensor_pipe *p, ref uniform)
{
    return node_type(p, uniform).lanes == 1 || node_at(p, uniform)->op == OP_splat;
}

static bool is_pointwise(const tensor_node *n)
{
    op_class class = op_get((tensor_op)n->op)->class;
    return class != CLASS_EXP && (class != CLASS_STR || n->op == OP_select);
}

/* Of one-component numbers: a table of constants read at places that a seed decides, without borders. */
static bool is_constant_lookup(const tensor_pipe *p, ref r)
{
    const tensor_node *n = node_at(p, r);
    if (n->op != OP_load || n->type.lanes != 1 || stage_at(p, n->payload)->kind != STAGE_table) return false;
    return true;
}

static ref seed_of(const tabulator *t, ref r)
{
    const tensor_pipe *p = t->pipe;
    const tensor_node *n = node_at(p, r);
    ref seed = UNKNOWN;
    if (is_pointwise(n) || is_constant_lookup(p, r))
        for (int k = 0; k < n->n_args; k++) {
            ref arg = node_arg(p, r, k);
            if (node_is_uniform(p, arg) && is_alike(p, arg)) continue;
            if (t->seed[arg] == UNKNOWN || (seed != UNKNOWN && seed != t->seed[arg])) { seed = UNKNOWN; break; }
            seed = t->seed[arg];
        }
    if (seed != UNKNOWN) return seed;
    kind small;
    return small_kind(p, r, &small) && !node_is_uniform(p, r) ? r : UNKNOWN;
}

static void mark_use(tabulator *t, ref user, ref used)
{
    if (used && t->seed[used] != UNKNOWN && (!user || t->seed[user] != t->seed[used])) t->is_used[used] = true;
}

static void mark_uses(tabulator *t, ref r)
{
    const tensor_pipe *p = t->pipe;
    const tensor_node *n = node_at(p, r);
    for (int k = 0; k < n->n_args; k++) mark_use(t, r, node_arg(p, r, k));
    if (n->op != OP_result) return;
    const tensor_fold *f = &p->folds.items[n->payload];
    mark_use(t, 0, f->where);
    for (int k = 0; k < f->n_accs; k++) {
        mark_use(t, 0, f->init[k]);
        mark_use(t, 0, f->next[k]);
    }
}

/* ---- is it worth a table? --------------------------------------------------------------------------------- */

static int operations_of(const tensor_pipe *p, ref r)
{
    const tensor_node *n = node_at(p, r);
    switch ((tensor_op)n->op) {
    case OP_div: case OP_sqrt: case OP_floordiv: case OP_mod: case OP_load: return SLOW_OPERATIONS;
    case OP_cast: return kind_is_float(node_type(p, node_arg(p, r, 0)).kind) && !kind_is_float(n->type.kind) ? 4 : 1;
    case OP_bitcast: return 0;
    default: return 1;
    }
}

/* What is left to do for `candidate` when those that have tables are looked up. */
static int count_operations(tabulator *t, ref candidate, ref r)
{
    if (t->counted_for[r] == candidate || node_is_uniform(t->pipe, r) || t->seed[r] == r || t->table[r]) return 0;
    t->counted_for[r] = candidate;
    int n = operations_of(t->pipe, r);
    for (int k = 0; k < node_at(t->pipe, r)->n_args; k++) n += count_operations(t, candidate, node_arg(t->pipe, r, k));
    return n;
}

static bool is_candidate(const tabulator *t, ref r)
{
    int k = node_type(t->pipe, r).kind;
    return t->is_used[r] && t->seed[r] != r && k != KIND_bool && k != KIND_f16 && k != KIND_i64;
}

/* ---- the table ------------------------------------------------------------------------------------------------ */

/* One component of a function of `seed`, on the value that the table's coordinate stands for. */
typedef struct single { ref seed, value; } single;

static ref single_visit(rewriter *w, ref r)
{
    const single *s = w->user;
    tensor_pipe *p = w->pipe;
    if (r == s->seed) return s->value;
    if (node_is_uniform(p, r)) return tensor_comp(p, r, 0);
    return 0;
}

/* The conversions of node_with_args look at kinds only, so ops become as narrow as their arguments; select and loads likewise. */
static ref single_of(tensor_pipe *p, ref r, ref seed, kind small)
{
    ref value = tensor_cast(p, tensor_coord(p, 0), small);
    single s = { seed, tensor_cast(p, value, node_type(p, seed).kind) };
    rewriter w;
    rewriter_begin(&w, p, single_visit, &s);
    return rewrite(&w, r);
}

static bool is_constant(tensor_pipe *p, ref body)
{
    ref_list nodes = { 0 };
    reached_nodes(p, p->memory, &body, 1, &nodes);
    for (uint32_t k = 0; k < nodes.count; k++) {
        int op = node_at(p, nodes.items[k])->op;
        if (op == OP_param || op == OP_dim) return false;
    }
    return true;
}

static uint32_t table_stage(tabulator *t, ref r)
{
    tensor_pipe *p = t->pipe;
    kind small;
    small_kind(p, t->seed[r], &small);
    ref body = single_of(p, r, t->seed[r], small);
    int32_t lo = (int32_t)kind_get(small)->lowest, hi = (int32_t)kind_get(small)->highest;
    for (uint32_t k = 0; k < t->made.count; k++) {
        const made_table *old = &t->made.items[k];
        if (old->body == body && old->lo == lo && old->hi == hi) return old->stage;
    }
    const tensor_stage *s = stage_at(p, t->stage);
    uint32_t made = tensor_stage_new(p, STAGE_compute, tensor_unique_name(p, arena_printf(p->memory, "%s.values", s->name)),
                                     node_type(p, body), 1, s->where);
    ref first = tensor_i32(p, lo), last = tensor_i32(p, hi);
    tensor_stage *table = stage_at(p, made);
    table->lo[0] = first;
    table->hi[0] = last;
    table->body = body;
    const uint32_t *words = is_constant(p, body) ? constant_words(p, made) : NULL;
    table = stage_at(p, made);
    if (words) {
        table->kind = STAGE_table;
        table->words = words;
        table->body = 0;
    }
    made_table entry = { body, lo, hi, made };
    LIST_PUSH(p->memory, t->made, entry);
    return made;
}

/* ---- doing it --------------------------------------------------------------------------------------------------- */

static ref lookup_visit(rewriter *w, ref r)
{
    const tabulator *t = w->user;
    tensor_pipe *p = w->pipe;
    if (r >= t->n_nodes || !t->table[r]) return 0;
    type of = node_type(p, r);
    ref seed = rewrite(w, t->seed[r]), components[TENSOR_MAX_LANES];
    for (int k = 0; k < of.lanes; k++) {
        ref index = tensor_cast(p, tensor_comp(p, seed, k), KIND_i32);
        components[k] = tensor_load(p, t->table[r], &index, NULL, NULL, type_of(of.kind, 1));
    }
    return tensor_vec(p, components, of.lanes);
}

static void note_table(tabulator *t, ref r, int operations)
{
    tensor_pipe *p = t->pipe;
    const tensor_stage *table = stage_at(p, t->table[r]);
    tensor_note_add(p, t->stage, arena_printf(p->memory, "%d operations on one small number are looked up in `%s`, %s", operations, table->name,
                                              table->kind == STAGE_table ? "a table of constants" : "a table that is made once per run"));
}

/* Candidates in order, so that one which does little more than another reads that one's table. */
static bool make_tables(tabulator *t)
{
    bool changed = false;
    for (uint32_t k = 0; k < t->nodes.count; k++) {
        ref r = t->nodes.items[k];
        int operations = is_candidate(t, r) ? count_operations(t, r, r) : 0;
        if (operations < LEAST_OPERATIONS) continue;
        t->table[r] = table_stage(t, r);
        note_table(t, r, operations);
        changed = true;
    }
    return changed;
}

static bool tabulate_stage(tabulator *t, uint32_t stage)
{
    tensor_pipe *p = t->pipe;
    ref body = stage_at(p, stage)->body;
    t->stage = stage;
    t->nodes.count = 0;
    reached_nodes(p, p->memory, &body, 1, &t->nodes);
    for (uint32_t k = 0; k < t->nodes.count; k++) {
        ref r = t->nodes.items[k];
        t->seed[r] = seed_of(t, r);
        t->is_used[r] = false;
        t->table[r] = t->counted_for[r] = 0;
    }
    for (uint32_t k = 0; k < t->nodes.count; k++) mark_uses(t, t->nodes.items[k]);
    mark_use(t, 0, body);
    if (!make_tables(t)) return false;
    rewriter w;
    rewriter_begin(&w, p, lookup_visit, t);
    body = rewrite(&w, body);
    stage_at(p, stage)->body = body;
    return true;
}

bool pass_tabulate(tensor_pipe *p)
{
    tabulator t = { .pipe = p, .n_nodes = p->nodes.count };
    t.seed = ARENA_ARRAY(p->memory, ref, t.n_nodes);
    t.is_used = ARENA_ARRAY(p->memory, bool, t.n_nodes);
    t.table = ARENA_ARRAY(p->memory, uint32_t, t.n_nodes);
    t.counted_for = ARENA_ARRAY(p->memory, ref, t.n_nodes);
    bool changed = false;
    for (uint32_t s = 1, n = p->stages.count; s < n; s++)
        if (stage_at(p, s)->kind == STAGE_compute && stage_at(p, s)->rank > 1) changed = tabulate_stage(&t, s) || changed;
    if (changed) sort_stages(p);
    return changed;
}
