/* SPDX-License-Identifier: MIT
 * Exact pass `recompute`: a stage of few operations on the pixels of inputs, whose readers can't share its rows, is computed once
 * for each of them instead of being stored.
 *
 * Why: readers that advance at different speeds (the levels of a pyramid) or stand in different dispatches would get it through
 * memory, which costs more than reading the input again: a picture of u8 divided by 255 is four times as large.
 * How: dispatches are formed to see which stages would be stored, and each set of readers that goes through the same dispatch at
 * the same speed gets a copy. Copies may free others from being stored, so this is done a few times.
 * Requires nothing; before `inline`, which puts a copy that is read at one place where it is read. Keeps every bit. */
#include "lowering/body_cost.h"
#include "lowering/dispatch.h"
#include "lowering/pass.h"
#include "lowering/pass_rewrite.h"

/* A vector of pixels that is written to memory and read again takes the time of about 40 operations on it. */
enum { MOST_OPERATIONS = 40, MOST_LOADS = 4, LOOK_UP_OPERATIONS = 4, MOST_INLINED_OPERATIONS = 96, MOST_ROUNDS = 4 };

typedef struct redirection { uint32_t from, to; } redirection;

static ref redirect(rewriter *w, ref r, const ref *args)
{
    const redirection *d = w->user;
    tensor_node n = *node_at(w->pipe, r);
    if (n.op != OP_load || n.payload != d->from) return 0;
    ref outside[TENSOR_MAX_RANK] = { 0 };
    int at = stage_at(w->pipe, d->from)->rank;
    for (int k = 0; k < TENSOR_MAX_RANK; k++)
        if (n.border[k] == BORDER_value) outside[k] = args[at++];
    return tensor_load(w->pipe, d->to, args, n.border, outside, n.type);
}

static uint32_t copy_stage(tensor_pipe *p, uint32_t stage)
{
    tensor_stage s = *stage_at(p, stage);
    const char *name = tensor_unique_name(p, s.name);
    uint32_t copy = tensor_stage_new(p, STAGE_compute, name, s.type, s.rank, s.where);
    const char *unique = stage_at(p, copy)->name;
    *stage_at(p, copy) = s;
    stage_at(p, copy)->name = unique;
    return copy;
}

static void read_instead(tensor_pipe *p, uint32_t reader, uint32_t stage, uint32_t copy)
{
    redirection d = { stage, copy };
    rewriter w;
    rewriter_begin(&w, p, NULL, &d);
    w.rebuild = redirect;
    ref body = rewrite(&w, stage_at(p, reader)->body);
    stage_at(p, reader)->body = body;
}

/* Read at the pixel's own coordinates, as many as the producer has. */
static bool is_own_pixel(tensor_pipe *p, uint32_t stage, ref load)
{
    const tensor_stage *s = stage_at(p, stage), *from = stage_at(p, node_at(p, load)->payload);
    for (int d = 0; d < from->rank; d++) {
        const tensor_node *i = node_at(p, load_index(p, load, d));
        if (i->op != OP_coord || i->index != d || node_at(p, load)->border[d] != BORDER_none) return false;
        if (from->lo[d] != s->lo[d] || from->hi[d] != s->hi[d]) return false;
    }
    return true;
}

typedef struct counting { tensor_pipe *pipe; stage_loads *loads; bool *seen; } counting;

/* Each stage once: their common parts are computed once too. */
static int count_operations(counting *c, uint32_t stage)
{
    tensor_pipe *p = c->pipe;
    const tensor_stage *s = stage_at(p, stage);
    if (s->kind == STAGE_input || c->seen[stage]) return 0;
    c->seen[stage] = true;
    if (s->kind != STAGE_compute || s->materialize || s->rank < 2) return MOST_OPERATIONS + 1;
    body_cost cost = body_cost_of(p, stage);
    if (cost.folds || cost.loads > MOST_LOADS) return MOST_OPERATIONS + 1;
    int total = cost.operations;
    const ref_list *reads = loads_of_stage(p, c->loads, stage);
    for (uint32_t k = 0; k < reads->count && total <= MOST_OPERATIONS; k++) {
        uint32_t from = node_at(p, reads->items[k])->payload;
        if (stage_at(p, from)->rank < 2) total += LOOK_UP_OPERATIONS;            /* a table: wherever it is read */
        else total += is_own_pixel(p, stage, reads->items[k]) ? count_operations(c, from) : MOST_OPERATIONS + 1;
    }
    return total;
}

/* Operations from the inputs to the stage's pixel; more than MOST_OPERATIONS when anything else stands between. */
static int operations_from_inputs(tensor_pipe *p, stage_loads *loads, uint32_t stage)
{
    counting c = { p, loads, ARENA_ARRAY(p->memory, bool, p->stages.count) };
    return count_operations(&c, stage);
}

/* Stages of a dispatch that `reader` depends on through one that advances more slowly than itself. */
typedef struct slow_search { tensor_pipe *pipe; stage_loads *loads; const dispatch_plan *plan; uint8_t *seen; double slope; uint32_t wanted; } slow_search;

static bool depends_slowly(slow_search *c, uint32_t stage, bool slowly)
{
    uint8_t mark = slowly ? 2 : 1;
    if (stage == c->wanted) return slowly;
    if (c->seen[stage] & mark) return false;
    c->seen[stage] |= mark;
    if (stage_at(c->pipe, stage)->kind != STAGE_compute) return false;
    const ref_list *reads = loads_of_stage(c->pipe, c->loads, stage);
    for (uint32_t k = 0; k < reads->count; k++) {
        uint32_t from = node_at(c->pipe, reads->items[k])->payload;
        if (c->plan->of_stage[from] != c->plan->of_stage[stage]) continue;
        if (depends_slowly(c, from, slowly || c->plan->slope[from] < c->slope)) return true;
    }
    return false;
}

/* Other dispatches, other speeds; and of one speed when the later reader waits for smaller levels of a pyramid that are made from
 * the earlier one: then hundreds of rows would be kept for it. */
static bool is_apart(tensor_pipe *p, stage_loads *loads, const dispatch_plan *plan, uint32_t a, uint32_t b)
{
    if (plan->of_stage[a] != plan->of_stage[b] || plan->slope[a] != plan->slope[b]) return true;
    slow_search c = { p, loads, plan, ARENA_ARRAY(p->memory, uint8_t, p->stages.count), plan->slope[b], a };
    return depends_slowly(&c, b, false);
}

/* A reader at places that don't slide, such as a plane that depends on the pixel, could only read a copy from memory too. */
static bool inline_where_it_jumps(tensor_pipe *p, stage_loads *loads, uint32_t stage, uint32_t reader)
{
    depends all = { 0 };
    const ref_list *reads = loads_of_stage(p, loads, reader);
    int count = 0;
    bool slides = true;
    for (uint32_t k = 0; k < reads->count; k++) {
        ref load = reads->items[k];
        if (node_at(p, load)->payload != stage) continue;
        count++;
        slides = slides && load_slides(p, &all, reader, load, reader) == CUT_none;
        for (int d = 0; d < stage_at(p, stage)->rank; d++)
            if (node_at(p, load)->border[d] != BORDER_none || depend_is_open(depends_of(p, &all, load_index(p, load, d)))) return false;
    }
    if (slides || count * operations_from_inputs(p, loads, stage) > MOST_INLINED_OPERATIONS) return false;
    inline_reads(p, reader, stage);
    return true;
}

/* A copy for every set of readers but the first; false when all go together. */
static bool copy_for_readers(tensor_pipe *p, stage_loads *loads, const dispatch_plan *plan, uint32_t stage, uint32_t n_stages)
{
    LIST(redirection) copies = { 0 };          /* from: the first reader of the set */
    bool inlined = false;
    for (uint32_t r = stage + 1; r < n_stages; r++) {
        if (stage_at(p, r)->kind != STAGE_compute || !stage_reads(p, loads, r, stage)) continue;
        if (inline_where_it_jumps(p, loads, stage, r)) { inlined = true; continue; }
        uint32_t found = 0;
        for (uint32_t k = 0; k < copies.count && !found; k++)
            if (!is_apart(p, loads, plan, copies.items[k].from, r)) found = copies.items[k].to;
        if (!found) {
            found = copies.count ? copy_stage(p, stage) : stage;
            LIST_PUSH(p->memory, copies, ((redirection){ r, found }));
        }
        if (found != stage) read_instead(p, r, stage, found);
    }
    return inlined || copies.count > 1;
}

static bool recompute_round(tensor_pipe *p)
{
    depends all = { 0 };
    stage_loads loads = { 0 };
    dispatch_plan plan;
    uint32_t n_stages = p->stages.count;
    bool changed = false;
    form_dispatches(p, &all, true, p->memory, &plan);
    for (uint32_t s = 1; s < n_stages; s++) {
        cut_reason why = plan.why[s];
        bool can_help = why == CUT_slopes || why == CUT_readers || why == CUT_rank || why == CUT_anywhere || why == CUT_none;
        if (!can_help || plan.of_stage[s] == UINT32_MAX) continue;
        if (operations_from_inputs(p, &loads, s) > MOST_OPERATIONS || !copy_for_readers(p, &loads, &plan, s, n_stages)) continue;
        tensor_note_add(p, s, "computed again for readers that can't share its rows: cheaper than to store it");
        changed = true;
    }
    if (changed) sort_stages(p);
    return changed;
}

bool pass_recompute(tensor_pipe *p)
{
    bool changed = false;
    for (int round = 0; round < MOST_ROUNDS && recompute_round(p); round++) changed = true;
    return changed;
}
