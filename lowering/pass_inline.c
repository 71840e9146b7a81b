/* SPDX-License-Identifier: MIT
 * inline: a stage goes into its readers where computing it again costs less than keeping it: when it is read at one place only,
 * when it is a mere shift of another stage, or a conversion that is cheaper than a buffer of the wider type.
 *
 * Bits don't change: a body is the same expression wherever it is evaluated, since contraction was decided before. A read
 * under a pad is inlined only when the pad can move to what the body reads: same domain, same coordinates, a border that maps
 * indices (f(src)[map(x)] = f(src[map(x)])). Whole numbers whose even and odd columns are made differently stay apart: they
 * alone are then computed by halves of a row (and narrow, if they are), not all that the reader does.
 *
 * Requires: the define passes have run. Leaves stages that nobody reads to `clean`. */
#include "lowering/body_cost.h"
#include "lowering/parity.h"
#include "lowering/pass.h"
#include "lowering/pass_rewrite.h"

typedef struct inliner {
    tensor_pipe *pipe;
    depends      all;
    stage_loads  loads;
    bool        *gone;                 /* per stage: inlined already, so that what it reads doesn't count */
} inliner;

typedef struct reads {
    tensor_pipe *pipe;
    depends     *all;
    uint32_t     stage;
    uint32_t     count, readers;       /* distinct loads by reader; readers */
    bool         in_fold;              /* some index has an open binder */
    bool         x_varies;             /* a reader reads several columns */
    bool         jumps;                /* its plane depends on what a pixel holds */
    bool         padded, value_padded;
    bool         each_row;             /* a reader with rows reads it along x, though it has none: computed anew for every row */
    bool         moved;                /* some x index is not the reader's column but for a distance */
    ref          reader_x;             /* x index within the reader at hand */
    bool         reader_has;
} reads;

static void count_read(reads *c, uint32_t reader, ref load)
{
    tensor_pipe *p = c->pipe;
    const tensor_node *n = node_at(p, load);
    if (n->payload != c->stage) return;
    c->count++;
    if (!c->reader_has) c->readers++;
    c->reader_has = true;
    int rank = stage_at(p, c->stage)->rank;
    for (int d = 0; d < rank; d++) {
        if (node_at(p, load)->border[d] != BORDER_none) c->padded = true;
        if (node_at(p, load)->border[d] == BORDER_value) c->value_padded = true;
        if (depend_is_open(depends_of(p, c->all, load_index(p, load, d)))) c->in_fold = true;
        if (d >= 2 && depends_of(p, c->all, load_index(p, load, d))->loads) c->jumps = true;
    }
    if (rank == 0) return;
    if (rank == 1 && stage_at(p, reader)->rank > 1 && (depends_of(p, c->all, load_index(p, load, 0))->coords & 1)) c->each_row = true;
    ref x = load_index(p, load, 0);
    int32_t distance;
    if (!linear_difference(p, x, tensor_coord(p, 0), &distance)) c->moved = true;
    if (depend_is_open(depends_of(p, c->all, x)) || (c->reader_x && c->reader_x != x)) c->x_varies = true;
    c->reader_x = x;
}

static reads count_reads(inliner *i, uint32_t stage)
{
    tensor_pipe *p = i->pipe;
    reads c = { .pipe = p, .all = &i->all, .stage = stage };
    for (uint32_t r = stage + 1; r < p->stages.count; r++) {
        if (stage_at(p, r)->kind != STAGE_compute || i->gone[r]) continue;
        c.reader_has = false;
        c.reader_x = 0;
        const ref_list *of = loads_of_stage(p, &i->loads, r);
        for (uint32_t k = 0; k < of->count; k++) count_read(&c, r, of->items[k]);
    }
    return c;
}

/* ---- when it pays ---------------------------------------------------------------------------------------- */

/* Index arithmetic of a shifted load is not work: count only what is done to values. */
static bool is_shift(tensor_pipe *p, uint32_t stage)
{
    ref body = stage_at(p, stage)->body;
    if (node_at(p, body)->op != OP_load) return false;
    const tensor_stage *from = stage_at(p, node_at(p, body)->payload);
    for (int d = 0; d < from->rank; d++) {
        if (node_at(p, body)->border[d] == BORDER_value) return false;
        const tensor_node *i = node_at(p, load_index(p, body, d));
        bool shifted = i->op == OP_coord || (i->op == OP_add && node_at(p, node_arg(p, load_index(p, body, d), 0))->op == OP_coord);
        if (!shifted) return false;
    }
    return true;
}

static bool has_reals(tensor_pipe *p, uint32_t stage)
{
    ref_list nodes = { 0 };
    reached_nodes(p, p->memory, &stage_at(p, stage)->body, 1, &nodes);
    for (uint32_t k = 0; k < nodes.count; k++)
        if (kind_is_float(node_type(p, nodes.items[k]).kind)) return true;
    return false;
}

/* Sums of whole numbers may fit narrow lanes, unless they share a body with reals. */
static bool sums_stay_apart(inliner *i, uint32_t stage)
{
    tensor_pipe *p = i->pipe;
    if (!kind_is_integer(stage_at(p, stage)->type.kind)) return false;
    for (uint32_t r = stage + 1; r < p->stages.count; r++)
        if (stage_at(p, r)->kind == STAGE_compute && !i->gone[r] && stage_reads(p, &i->loads, r, stage) && has_reals(p, r)) return true;
    return false;
}

/* How many pixels lie behind one another, as far as it is known; else 1. */
static int64_t planes_of(tensor_pipe *p, uint32_t stage)
{
    const tensor_stage *s = stage_at(p, stage);
    int64_t n = 1, lo, hi;
    for (int d = 2; d < s->rank; d++) {
        if (!node_is_const(p, s->lo[d], &lo) || !node_is_const(p, s->hi[d], &hi)) return 1;
        n *= hi - lo + 1;
    }
    return n;
}

/* Why a stage goes into its readers, or NULL. */
static const char *worth_inlining(inliner *i, uint32_t stage)
{
    tensor_pipe *p = i->pipe;
    const tensor_stage *s = stage_at(p, stage);
    if (s->kind != STAGE_compute || i->gone[stage] || s->materialize || tensor_is_output(p, stage)) return NULL;
    reads r = count_reads(i, stage);
    if (r.count == 0) return NULL;
    body_cost cost = body_cost_of(p, stage);
    if (r.value_padded || (r.padded && (!cost.identity || cost.folds))) return NULL;
    if (r.padded && cost.coordinates) return NULL;
    if (stage_at(p, stage)->inline_hint) return "@inline asks for it";
    bool is_cheap = !cost.folds && cost.loads == 0 && cost.operations <= 4;
    if (s->rank == 0) return is_cheap ? "it is a few operations on numbers" : NULL;
    if (is_shift(p, stage) && !r.padded) return "it only shifts what it reads";
    if (r.each_row && !is_cheap) return NULL;
    if (!r.moved && kind_is_integer(s->type.kind) && (parity_choices(p, s->body) & PARITY_x)) return NULL;
    bool is_kept = cost.folds && sums_stay_apart(i, stage);
    if (r.count == 1 && !r.in_fold && !r.padded && !is_kept) return "it is read at one place";
    if (cost.folds) return NULL;
    if (r.jumps && !r.padded && !r.in_fold && 2 * r.count <= planes_of(p, stage)) return "few of its planes are read for a pixel";
    if (cost.loads == 1 && cost.identity && cost.operations == 0) return r.x_varies ? NULL : "it only converts, which is cheaper than a buffer of the wider type";
    /* Rows of a group are read together, so down the rows a product costs what reading a row does. */
    if (cost.operations <= 1 && cost.loads <= 2 && r.readers == 1 && !r.x_varies && !r.padded) return "one operation is as fast as a line that is written and read";
    bool is_small = cost.loads <= 1 && cost.operations <= 2 && r.count <= 2 && !r.in_fold && !r.padded;
    return is_small ? "it is cheaper to compute twice than to keep" : NULL;
}

/* ---- doing it --------------------------------------------------------------------------------------------- */

static void inline_stage(inliner *i, uint32_t stage)
{
    tensor_pipe *p = i->pipe;
    for (uint32_t r = stage + 1; r < p->stages.count; r++) {
        if (stage_at(p, r)->kind != STAGE_compute || i->gone[r] || !stage_reads(p, &i->loads, r, stage)) continue;
        inline_reads(p, r, stage);
    }
}

static bool inline_round(inliner *i)
{
    tensor_pipe *p = i->pipe;
    bool changed = false;
    for (uint32_t s = 1; s < p->stages.count; s++) {
        const char *why = worth_inlining(i, s);
        if (!why) continue;
        tensor_note_add(p, s, arena_printf(p->memory, "inlined into its readers: %s", why));
        inline_stage(i, s);
        i->gone[s] = changed = true;
    }
    return changed;
}

/* Again while something changes: two readers of a stage may have become one. */
bool pass_inline(tensor_pipe *p)
{
    inliner i = { .pipe = p, .gone = ARENA_ARRAY(p->memory, bool, p->stages.count) };
    bool changed = false;
    for (int round = 0; round < 4 && inline_round(&i); round++) changed = true;
    return changed;
}
