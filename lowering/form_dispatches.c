/* SPDX-License-Identifier: MIT
 * Forming dispatches: from the last stage to the first, a stage joins the dispatch of its readers when every reader is in that
 * one dispatch and every read slides: row index (p * y + c) // q with bounded c, the same outer coordinates, no wrap on rows.
 * Readers in several dispatches of one domain are merged first when no stored stage leads from one to the other. Greedy from
 * the end is maximal here, because joining never takes a choice away from an earlier stage: its readers only come closer. */
#include "lowering/dispatch.h"

#include <string.h>

#define X(name, text) text,
static const char *const CUT_TEXTS[] = { CUT_REASONS(X) };
#undef X

const char *cut_text(cut_reason why) { return CUT_TEXTS[why]; }

typedef struct former {
    tensor_pipe *pipe;
    depends     *all;
    bool         fuse;
    arena       *memory;
    uint32_t    *group;                 /* per stage: representative group number (resolved) */
    uint32_t     n_groups;
    uint32_t    *driver;                /* per group: a stage whose domain all its sinks have */
    uint32_t    *size;                  /* per group: stages in it */
    double      *slope;                 /* per stage: rows per driver row */
    bool        *is_output;
    LIST(ref)   *loads;                 /* per stage: the loads of its body */
    dispatch_plan *out;
} former;

/* ---- reads ------------------------------------------------------------------------------------------ */

static bool same_bounds(const tensor_stage *a, const tensor_stage *b)
{
    if (a->rank != b->rank) return false;
    for (int d = 0; d < a->rank; d++) if (a->lo[d] != b->lo[d] || a->hi[d] != b->hi[d]) return false;
    return true;
}

static bool outer_alike(tensor_pipe *p, uint32_t reader, uint32_t producer, ref load)
{
    const tensor_stage *r = stage_at(p, reader), *s = stage_at(p, producer);
    if (r->rank != s->rank) return false;
    for (int d = 2; d < s->rank; d++) {
        const tensor_node *n = node_at(p, load_index(p, load, d));
        if (n->op != OP_coord || n->index != d || r->lo[d] != s->lo[d] || r->hi[d] != s->hi[d]) return false;
    }
    return true;
}

int slab_planes(const tensor_pipe *p, uint32_t stage)
{
    const tensor_stage *s = &p->stages.items[stage];
    int64_t planes = 1, lo, hi;
    for (int d = 2; d < s->rank; d++) {
        if (!node_is_const(p, s->lo[d], &lo) || !node_is_const(p, s->hi[d], &hi) || hi < lo || hi - lo >= SLAB_MAX_PLANES) return 0;
        planes *= hi - lo + 1;
    }
    return planes <= SLAB_MAX_PLANES ? (int)planes : 0;
}

/* Outer indices that choose a plane of the producer's slabs, the same for the whole row and always one that there is: whatever
 * border they have, it has nothing to do. */
static bool chooses_plane(tensor_pipe *p, depends *all, uint32_t reader, ref load, uint32_t sink)
{
    uint32_t producer = node_at(p, load)->payload;
    for (int d = 2; d < stage_at(p, producer)->rank; d++) {
        index_form form;
        index_form_of(p, all, slab_of(p, reader, sink), load_index(p, load, d), &form);
        if (form.kind != INDEX_fixed || !form.bounded) return false;
        if (!always_le(p, stage_at(p, producer)->lo[d], form.lo) || !always_le(p, form.hi, stage_at(p, producer)->hi[d])) return false;
    }
    return true;
}

static bool outer_serves(tensor_pipe *p, depends *all, uint32_t reader, ref load, uint32_t sink)
{
    uint32_t producer = node_at(p, load)->payload;
    if (stage_at(p, sink)->rank > 2) return outer_alike(p, reader, producer, load);
    if (stage_at(p, producer)->rank <= 2) return stage_at(p, producer)->rank == (slab_of(p, reader, sink) ? 2 : stage_at(p, reader)->rank);
    return slab_planes(p, producer) > 0 && chooses_plane(p, all, reader, load, sink);
}

static bool values_uniform(tensor_pipe *p, ref load)
{
    for (int d = 0; d < stage_at(p, node_at(p, load)->payload)->rank; d++) {
        ref value = load_outside(p, load, d);
        if (!value) continue;
        const tensor_node *n = node_at(p, value);
        bool uniform = node_is_uniform(p, value);
        for (int k = 0; !uniform && n->op == OP_vec && k < n->n_args; k++) {
            if (!node_is_uniform(p, node_arg(p, value, k))) return false;
            if (k == n->n_args - 1) uniform = true;
        }
        if (!uniform) return false;
    }
    return true;
}

cut_reason load_slides(tensor_pipe *p, depends *all, uint32_t reader, ref load, uint32_t sink)
{
    uint32_t producer = node_at(p, load)->payload;
    int rank = stage_at(p, producer)->rank;
    if (rank == 0) return CUT_table;
    if (!outer_serves(p, all, reader, load, sink)) return CUT_rank;
    if (!values_uniform(p, load)) return CUT_border;
    if (rank == 1) return CUT_none;
    index_form y;
    index_form_of(p, all, slab_of(p, reader, sink), load_index(p, load, 1), &y);
    if (y.kind != INDEX_affine || y.dimension != 1) return CUT_anywhere;
    if (node_at(p, load)->border[1] == BORDER_wrap) return CUT_wrap;
    return CUT_none;
}

static double load_slope(former *f, ref load, uint32_t slab)
{
    if (stage_at(f->pipe, node_at(f->pipe, load)->payload)->rank < 2) return 1;
    index_form y;
    index_form_of(f->pipe, f->all, slab, load_index(f->pipe, load, 1), &y);
    return (double)y.p / y.q;
}

/* ---- groups ------------------------------------------------------------------------------------------ */

static bool reads_group(former *f, uint32_t stage, uint32_t group)
{
    for (uint32_t k = 0; k < f->loads[stage].count; k++) {
        uint32_t producer = node_at(f->pipe, f->loads[stage].items[k])->payload;
        if (f->group[producer] == group) return true;
    }
    return false;
}

/* Does a path lead from group `from` to group `to` (a stage of `to` needs, through other groups, one of `from`)? */
static bool leads_to(former *f, uint32_t from, uint32_t to, bool *seen)
{
    for (uint32_t s = 1; s < f->pipe->stages.count; s++) {
        uint32_t g = f->group[s];
        if (g == UINT32_MAX || g == from || seen[g] || !reads_group(f, s, from)) continue;
        seen[g] = true;
        if (g == to || leads_to(f, g, to, seen)) return true;
    }
    return false;
}

static bool independent(former *f, uint32_t a, uint32_t b)
{
    bool *seen = ARENA_ARRAY(f->memory, bool, f->n_groups + 1);
    if (leads_to(f, a, b, seen)) return false;
    memset(seen, 0, sizeof(bool) * f->n_groups);
    return !leads_to(f, b, a, seen);
}

static void merge_groups(former *f, uint32_t into, uint32_t from)
{
    for (uint32_t s = 1; s < f->pipe->stages.count; s++) if (f->group[s] == from) f->group[s] = into;
    f->size[into] += f->size[from];
}

static uint32_t new_group(former *f, uint32_t stage, cut_reason why, uint32_t because)
{
    uint32_t g = f->n_groups++;
    f->group[stage] = g;
    f->driver[g] = stage;
    f->size[g] = 1;
    f->slope[stage] = 1;
    f->out->why[stage] = f->is_output[stage] ? CUT_output : why;
    f->out->because[stage] = f->is_output[stage] ? 0 : because;
    return g;
}

/* Checks one reader's loads of s: why it can't be fused, and the slope that s would have. */
static cut_reason check_reader(former *f, uint32_t s, uint32_t reader, double *slope)
{
    for (uint32_t k = 0; k < f->loads[reader].count; k++) {
        ref load = f->loads[reader].items[k];
        if (node_at(f->pipe, load)->payload != s) continue;
        uint32_t sink = f->group[reader] == UINT32_MAX ? reader : f->driver[f->group[reader]];
        cut_reason why = load_slides(f->pipe, f->all, reader, load, sink);
        if (why != CUT_none) return why;
        double own = f->slope[reader] * load_slope(f, load, slab_of(f->pipe, reader, sink));
        if (*slope != 0 && own != *slope) return CUT_slopes;
        *slope = own;
    }
    return CUT_none;
}

static bool is_reader(former *f, uint32_t reader, uint32_t s)
{
    for (uint32_t k = 0; k < f->loads[reader].count; k++)
        if (node_at(f->pipe, f->loads[reader].items[k])->payload == s) return true;
    return false;
}

static bool depends_on_pixels(former *f, uint32_t s)
{
    for (uint32_t k = 0; k < f->loads[s].count; k++) {
        uint32_t producer = node_at(f->pipe, f->loads[s].items[k])->payload;
        const tensor_stage *t = stage_at(f->pipe, producer);
        if (t->kind == STAGE_input) return true;
        if (t->kind == STAGE_compute && f->out->why[producer] != CUT_table) return true;
    }
    return false;
}

/* A picture that is made from coordinates alone has rank 2 and is read like a picture; a table is read at fixed places. */
static bool is_table(former *f, uint32_t s)
{
    const tensor_stage *stage = stage_at(f->pipe, s);
    if (stage->rank == 0) return true;
    bool fixed_reads = false;
    for (uint32_t r = s + 1; r < f->pipe->stages.count; r++)
        for (uint32_t k = 0; k < f->loads[r].count; k++) {
            ref load = f->loads[r].items[k];
            if (node_at(f->pipe, load)->payload != s) continue;
            bool fixed = true;
            for (int d = 0; d < stage->rank; d++)
                if (depends_of(f->pipe, f->all, load_index(f->pipe, load, d))->coords) fixed = false;
            fixed_reads = fixed_reads || fixed;
        }
    return fixed_reads && !depends_on_pixels(f, s);
}

static cut_reason try_join(former *f, uint32_t s, uint32_t *because)
{
    uint32_t group = UINT32_MAX;
    double slope = 0;
    *because = 0;
    for (uint32_t r = s + 1; r < f->pipe->stages.count; r++) {
        if (!is_reader(f, r, s)) continue;
        *because = r;
        cut_reason why = check_reader(f, s, r, &slope);
        if (why != CUT_none) return why;
        if (f->group[r] == UINT32_MAX) continue;
        if (group == UINT32_MAX) { group = f->group[r]; continue; }
        if (f->group[r] == group) continue;
        uint32_t other = f->group[r];
        if (!same_bounds(stage_at(f->pipe, f->driver[group]), stage_at(f->pipe, f->driver[other]))) return CUT_readers;
        if (f->size[group] + f->size[other] > DISPATCH_MAX_STAGES) return CUT_depth;
        if (!independent(f, group, other)) return CUT_readers;
        merge_groups(f, group, other);
    }
    if (group == UINT32_MAX) return CUT_output;
    if (f->size[group] >= DISPATCH_MAX_STAGES) return CUT_depth;
    bool seen_out = f->is_output[s];
    if (seen_out && (slope != 1 || !same_bounds(stage_at(f->pipe, s), stage_at(f->pipe, f->driver[group])))) return CUT_output;
    f->group[s] = group;
    f->size[group]++;
    f->slope[s] = slope;
    *because = 0;
    return CUT_none;
}

static void place_stage(former *f, uint32_t s)
{
    const tensor_stage *stage = stage_at(f->pipe, s);
    uint32_t because = 0;
    cut_reason why = CUT_none;
    if (!f->fuse) why = CUT_fusion_off;
    else if (stage->materialize) why = CUT_hint;
    else if (is_table(f, s)) why = CUT_table;
    else why = try_join(f, s, &because);
    if (why != CUT_none) new_group(f, s, why, because);
}

/* ---- order --------------------------------------------------------------------------------------------- */

static void emit_group(former *f, uint32_t group, uint8_t *state)
{
    if (state[group]) return;
    state[group] = 1;
    for (uint32_t s = 1; s < f->pipe->stages.count; s++) {
        if (f->group[s] != group) continue;
        for (uint32_t k = 0; k < f->loads[s].count; k++) {
            uint32_t g = f->group[node_at(f->pipe, f->loads[s].items[k])->payload];
            if (g != UINT32_MAX && g != group) emit_group(f, g, state);
        }
    }
    dispatch d = { 0 };
    uint32_t number = f->out->dispatches.count;
    for (uint32_t s = 1; s < f->pipe->stages.count; s++) {
        if (f->group[s] != group) continue;
        LIST_PUSH(f->memory, d.stages, s);
        if (f->out->why[s] != CUT_none || f->is_output[s]) LIST_PUSH(f->memory, d.sinks, s);
        f->out->of_stage[s] = number;
    }
    LIST_PUSH(f->memory, f->out->dispatches, d);
}

typedef struct load_collector { former *former; uint32_t stage; } load_collector;

static void collect_load(void *user, ref load)
{
    load_collector *c = user;
    LIST_PUSH(c->former->memory, c->former->loads[c->stage], load);
}

void form_dispatches(tensor_pipe *p, depends *all, bool fuse, arena *memory, dispatch_plan *out)
{
    uint32_t n = p->stages.count;
    former f = { .pipe = p, .all = all, .fuse = fuse, .memory = memory, .out = out };
    f.group = ARENA_ARRAY(memory, uint32_t, n);
    f.driver = ARENA_ARRAY(memory, uint32_t, n + 1);
    f.size = ARENA_ARRAY(memory, uint32_t, n + 1);
    f.is_output = ARENA_ARRAY(memory, bool, n);
    f.loads = arena_alloc(memory, sizeof *f.loads * n);
    *out = (dispatch_plan){ 0 };
    out->of_stage = ARENA_ARRAY(memory, uint32_t, n);
    out->why = ARENA_ARRAY(memory, cut_reason, n);
    out->because = ARENA_ARRAY(memory, uint32_t, n);
    f.slope = out->slope = ARENA_ARRAY(memory, double, n);
    for (uint32_t s = 0; s < n; s++) f.group[s] = out->of_stage[s] = UINT32_MAX;
    for (uint32_t k = 0; k < p->outputs.count; k++) f.is_output[p->outputs.items[k].stage] = true;
    /* From the outputs backwards: what nobody reads takes no part, whether or not `clean` ran. */
    bool *live = ARENA_ARRAY(memory, bool, n);
    for (uint32_t s = n - 1; s >= 1; s--) {
        load_collector c = { &f, s };
        live[s] = live[s] || f.is_output[s];
        if (!live[s] || stage_at(p, s)->kind != STAGE_compute) continue;
        for_each_load(p, stage_at(p, s)->body, collect_load, &c);
        for (uint32_t k = 0; k < f.loads[s].count; k++) live[node_at(p, f.loads[s].items[k])->payload] = true;
    }
    /* Tables first: whether a stage depends on pixels is known only once its producers are. */
    for (uint32_t s = 1; s < n; s++)
        if (live[s] && stage_at(p, s)->kind == STAGE_compute && is_table(&f, s)) out->why[s] = CUT_table;
    for (uint32_t s = n - 1; s >= 1; s--)
        if (live[s] && stage_at(p, s)->kind == STAGE_compute) place_stage(&f, s);
    uint8_t *state = ARENA_ARRAY(memory, uint8_t, f.n_groups + 1);
    for (uint32_t s = 1; s < n; s++) if (f.group[s] != UINT32_MAX) emit_group(&f, f.group[s], state);
}
