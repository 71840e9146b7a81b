/* SPDX-License-Identifier: MIT
 * The shape of every row function: whether pixels are treated as one flat line of components, how many vector lanes and
 * vectors a step takes, how many rows are made at once. The cost model is here and nowhere else; it never changes a bit. */
#include "backends/cpu/lookup.h"
#include "backends/cpu/plan.h"
#include "backends/cpu/schedule.h"

#include <string.h>

/* Loops whose elements take more than this are bound by arithmetic: sharing loads gains nothing, and registers run out. */
enum { LIGHT_NODES = 24, LONG_ROW = 12, HEAVY_NODES = 8 };      /* heavy: a load, and long chains that wait for themselves */

typedef struct shape_maker { cpu_schedule *s; cpu_section *section; } shape_maker;

/* ---- flat --------------------------------------------------------------------------------------------------------- */

static const cpu_read *read_of(const cpu_stage *c, ref load)
{
    for (uint32_t k = 0; k < c->loads.count; k++) if (c->loads.items[k].load == load) return &c->loads.items[k];
    return NULL;
}

/* One component all the way down: a flat line keeps a single one of every pixel, so nothing may be taken out of a pixel but of
 * a parameter, whose components are in memory. */
static bool components_apart(shape_maker *m, ref r)
{
    ref_list nodes = { 0 };
    reached_nodes(m->s->pipe, m->s->memory, &r, 1, &nodes);
    for (uint32_t k = 0; k < nodes.count; k++) {
        const tensor_node *n = node_at(m->s->pipe, nodes.items[k]);
        if (n->type.lanes > 1 && (n->op != OP_param || nodes.items[k] == r)) return false;
    }
    return true;
}

/* Steps of comparing two components' expressions, which share what they like: longer ones aren't for look-ups. */
enum { COMPONENT_STEPS = 64 };

/* b is a with component `which` in every place of component 0: one expression of each component. */
static bool follows_component(shape_maker *m, ref a, ref b, int which, int *steps)
{
    const tensor_pipe *p = m->s->pipe;
    if (a == b) return !(depends_of(m->s->pipe, &m->s->all, a)->coords & 1);
    tensor_node n = *node_at(p, a), other = *node_at(p, b);
    if (n.op == OP_comp && other.op == OP_comp) return n.index == 0 && other.index == which && node_arg(p, a, 0) == node_arg(p, b, 0);
    if (n.op != other.op || !type_equal(n.type, other.type) || n.index != other.index || n.payload != other.payload || n.n_args != other.n_args
        || n.op == OP_result || n.n_args == 0 || memcmp(n.border, other.border, sizeof n.border) != 0 || --*steps < 0) return false;
    for (int k = 0; k < n.n_args; k++) if (!follows_component(m, node_arg(p, a, k), node_arg(p, b, k), which, steps)) return false;
    return true;
}

/* (f(p.r), f(p.g), f(p.b)), as look-ups of a pixel's components are: what is done for component 0 does for all. */
static bool is_componentwise(shape_maker *m, ref vec)
{
    int steps = COMPONENT_STEPS;
    for (int k = 1; k < node_at(m->s->pipe, vec)->n_args; k++)
        if (!follows_component(m, node_arg(m->s->pipe, vec, 0), node_arg(m->s->pipe, vec, k), k, &steps)) return false;
    return true;
}

static bool is_table_lookup(shape_maker *m, const cpu_stage *c, ref load)
{
    const cpu_edge *e = &c->edges.items[read_of(c, load)->edge];
    const tensor_stage *t = stage_at(m->s->pipe, e->stage);
    return e->kind == READ_anywhere && t->rank == 1 && t->type.lanes == 1 && node_at(m->s->pipe, load)->border[0] != BORDER_value;
}

/* The same operations for every component, whose neighbours are the same component: then a row is a line of components. */
static bool node_is_flat(shape_maker *m, const cpu_stage *c, ref r, int lanes)
{
    tensor_pipe *p = m->s->pipe;
    const tensor_node *n = node_at(p, r);
    if (!(depends_of(p, &m->s->all, r)->coords & 1))
        return n->op == OP_acc || components_apart(m, n->op == OP_splat ? node_arg(p, r, 0) : r);
    switch ((tensor_op)n->op) {
    case OP_coord: return true;                          /* as an index; value_uses_column asks about the rest */
    case OP_vec: case OP_comp: case OP_splat: return lanes == 1;
    case OP_load: {
        const cpu_read *read = read_of(c, r);
        const cpu_edge *e = &c->edges.items[read->edge];
        if (e->kind != READ_row || e->p_x != 1 || e->q_x != 1 || n->type.lanes != lanes) return false;
        const cpu_memory *memory = e->memory >= 0 ? &m->s->memories.items[e->memory] : NULL;
        return !memory || !(memory->planar || memory->bgra);
    }
    default: return true;
    }
}

static bool values_are_flat(shape_maker *m, const cpu_stage *c, ref r, int lanes, uint8_t *seen);

/* An expression of component 0, which is to be done for all. */
static bool component_is_flat(shape_maker *m, const cpu_stage *c, ref r, int lanes, uint8_t *seen)
{
    tensor_pipe *p = m->s->pipe;
    tensor_node n = *node_at(p, r);
    if (!(depends_of(p, &m->s->all, r)->coords & 1)) return n.op != OP_acc && components_apart(m, r);
    switch ((tensor_op)n.op) {
    case OP_comp: return n.index == 0 && node_type(p, node_arg(p, r, 0)).lanes == lanes && values_are_flat(m, c, node_arg(p, r, 0), lanes, seen);
    case OP_load: return is_table_lookup(m, c, r) && component_is_flat(m, c, node_arg(p, r, 0), lanes, seen);
    case OP_vec: case OP_splat: case OP_coord: case OP_acc: case OP_binder: case OP_result: return false;
    default:
        for (int k = 0; k < n.n_args; k++) if (!component_is_flat(m, c, node_arg(p, r, k), lanes, seen)) return false;
        return true;
    }
}

/* Index arithmetic is one lane wide and must not be mistaken for a value: walk values only. */
static bool values_are_flat(shape_maker *m, const cpu_stage *c, ref r, int lanes, uint8_t *seen)
{
    tensor_pipe *p = m->s->pipe;
    if (r == 0 || seen[r]) return true;
    seen[r] = 1;
    const tensor_node *n = node_at(p, r);
    if (n->op == OP_vec && lanes > 1 && n->n_args == lanes && is_componentwise(m, r))
        return component_is_flat(m, c, node_arg(p, r, 0), lanes, seen);
    if (!node_is_flat(m, c, r, lanes)) return false;
    if (!(depends_of(p, &m->s->all, r)->coords & 1)) return true;
    if (n->op == OP_load) return true;
    if (n->op == OP_coord) return false;
    for (int k = 0; k < n->n_args; k++) if (!values_are_flat(m, c, node_arg(p, r, k), lanes, seen)) return false;
    if (n->op != OP_result) return true;
    tensor_fold f = *fold_at(p, n->payload);
    if (f.where && !values_are_flat(m, c, f.where, lanes, seen)) return false;
    for (int a = 0; a < f.n_accs; a++)
        if (!values_are_flat(m, c, f.init[a], lanes, seen) || !values_are_flat(m, c, f.next[a], lanes, seen)) return false;
    return true;
}

static bool all_one_lane(shape_maker *m, ref body)
{
    ref_list nodes = { 0 };
    reached_nodes(m->s->pipe, m->s->memory, &body, 1, &nodes);
    for (uint32_t k = 0; k < nodes.count; k++) if (node_type(m->s->pipe, nodes.items[k]).lanes > 1) return false;
    return true;
}

static bool stage_is_flat(shape_maker *m, const cpu_stage *c)
{
    tensor_pipe *p = m->s->pipe;
    const tensor_stage *t = stage_at(p, c->stage);
    if (t->type.lanes == 1) return all_one_lane(m, t->body);
    if (c->sink) {
        const cpu_memory *out = &m->s->memories.items[c->memory];
        if (out->planar || out->bgra) return false;
    }
    /* A flat line is filled with one component: the lanes of what is outside must be alike. */
    if (c->value_x && node_at(p, c->value_x)->op != OP_splat) return false;
    if (c->value_y && node_at(p, c->value_y)->op != OP_splat) return false;
    uint8_t *seen = ARENA_ARRAY(m->s->memory, uint8_t, p->nodes.count);
    return values_are_flat(m, c, t->body, t->type.lanes, seen);
}

/* Many loads of interleaved pixels are as many times taken apart; their sum is so once. */
static bool pays_apart(shape_maker *m, const cpu_stage *c)
{
    ref_list nodes = { 0 };
    if (stage_at(m->s->pipe, c->stage)->type.lanes > 4) return false;
    reached_nodes(m->s->pipe, m->s->memory, &stage_at(m->s->pipe, c->stage)->body, 1, &nodes);
    for (uint32_t k = 0; k < nodes.count; k++) if (node_at(m->s->pipe, nodes.items[k])->op == OP_result) return true;
    return false;
}

/* A line between two stages lies one way: both are flat or neither, or what is made flat is taken apart. */
static void settle_flat(shape_maker *m)
{
    cpu_section *section = m->section;
    for (uint32_t k = 0; k < section->stages.count; k++) {
        cpu_stage *c = section_stage(section, (int)k);
        c->flat = stage_is_flat(m, c) && !tuning_wants_planes(m->s, c);
        c->apart = false;
    }
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t k = 0; k < section->stages.count; k++) {
            cpu_stage *c = section_stage(section, (int)k);
            for (uint32_t j = 0; j < c->edges.count; j++) {
                int producer = c->edges.items[j].producer;
                if (producer < 0) continue;
                cpu_stage *from = section_stage(section, producer);
                int lanes = stage_at(m->s->pipe, from->stage)->type.lanes;
                if (lanes == 1) continue;
                bool reads_flat = c->flat && stage_at(m->s->pipe, c->stage)->type.lanes == lanes;
                if (reads_flat == (from->flat && !from->apart)) continue;
                changed = true;
                if (reads_flat) c->flat = c->apart = false;
                else if (pays_apart(m, from)) from->apart = true;
                else from->flat = false;
            }
        }
    }
}

/* ---- cost ----------------------------------------------------------------------------------------------------------- */

static double fold_elements(tensor_pipe *p, uint32_t fold)
{
    tensor_fold f = *fold_at(p, fold);
    double n = 1;
    for (int b = 0; b < f.n_binders; b++) {
        int64_t lo, hi;
        n *= node_is_const(p, f.lo[b], &lo) && node_is_const(p, f.hi[b], &hi) ? (double)(hi - lo + 1) : 15;
    }
    return n;
}

typedef struct body_facts { double operations; int widest_bytes; int vector_nodes; bool loops, looks_up; } body_facts;

static body_facts facts_of(shape_maker *m, const cpu_stage *c, const ref *bodies, uint32_t n_bodies)
{
    tensor_pipe *p = m->s->pipe;
    body_facts f = { .widest_bytes = 1 };
    ref_list nodes = { 0 };
    computed_nodes(m->s, c, bodies, n_bodies, &nodes);
    for (uint32_t k = 0; k < nodes.count; k++) {
        const tensor_node *n = node_at(p, nodes.items[k]);
        const depend *d = depends_of(p, &m->s->all, nodes.items[k]);
        if (n->op == OP_result) f.loops = true;
        if (!node_is_per_pixel(p, &m->s->all, nodes.items[k]) || lookup_is_index_only(m->s, c, &nodes, nodes.items[k])) continue;
        lookup l;
        f.looks_up = f.looks_up || (n->op == OP_load && lookup_of(m->s, c, nodes.items[k], &l));
        double times = 1;
        for (int fold = 0; fold < d->n_open; fold++) times *= fold_elements(p, d->open[fold]);
        f.operations += node_operations(n) * times;
        f.vector_nodes++;
        int bytes = n->type.kind == KIND_f16 ? 4 : kind_get((kind)n->type.kind)->n_bytes;
        if (bytes > f.widest_bytes) f.widest_bytes = bytes;
    }
    return f;
}

/* ---- folds down the rows ----------------------------------------------------------------------------------------------- */

static bool follows_binder(shape_maker *m, const cpu_stage *c, uint32_t fold)
{
    tensor_pipe *p = m->s->pipe;
    ref binder = tensor_binder(p, fold, 0);
    for (uint32_t k = 0; k < c->loads.count; k++) {
        const cpu_read *read = &c->loads.items[k];
        const cpu_edge *e = &c->edges.items[read->edge];
        linear form;
        if (e->kind != READ_row || e->p_y != 1 || e->q_y != 1 || !linear_of(p, read->rest_y, &form)) continue;
        for (int t = 0; t < form.n_terms; t++) if (form.terms[t].atom == binder && form.terms[t].coefficient == 1) return true;
    }
    return false;
}

/* Folds that can be walked row by row for a whole group, each row read once for all of them. */
static void find_skewed(shape_maker *m, cpu_stage *c)
{
    tensor_pipe *p = m->s->pipe;
    ref_list nodes = { 0 };
    reached_nodes(p, m->s->memory, &stage_at(p, c->stage)->body, 1, &nodes);
    for (uint32_t k = 0; k < nodes.count; k++) {
        const tensor_node *n = node_at(p, nodes.items[k]);
        if (n->op != OP_result || n->index != 0) continue;
        uint32_t fold = n->payload;
        if (fold_at(p, fold)->n_binders == 0 || !follows_binder(m, c, fold)) continue;
        tensor_fold f = *fold_at(p, fold);
        ref rows = tensor_op2(p, OP_add, tensor_op2(p, OP_sub, f.hi[0], f.lo[0]), tensor_i32(p, 1));
        c->group_rows = c->group_rows ? tensor_op2(p, OP_min, c->group_rows, rows) : rows;
        LIST_PUSH(m->s->memory, c->skewed, fold);
    }
}

static int row_reach(shape_maker *m, const cpu_stage *c)
{
    int most = 0;
    for (uint32_t k = 0; k < c->edges.count; k++) {
        const cpu_edge *e = &c->edges.items[k];
        int32_t reach;
        if (e->kind == READ_anywhere || e->finds_rows || e->p_y == 0) continue;
        if (linear_difference(m->s->pipe, e->hi_y, e->lo_y, &reach) && reach > most) most = reach;
    }
    return most;
}

/* One load of a row's table: what it reads, but for the row. */
static int32_t row_of_read(shape_maker *m, const cpu_read *read, const cpu_edge *e)
{
    int32_t row;
    return linear_difference(m->s->pipe, read->rest_y, e->lo_y, &row) ? row : INT32_MIN;
}

static bool same_plane(shape_maker *m, ref load, ref other)
{
    tensor_pipe *p = m->s->pipe;
    for (int d = 2; d < stage_at(p, node_at(p, load)->payload)->rank; d++) if (load_index(p, load, d) != load_index(p, other, d)) return false;
    return true;
}

/* The fewest rows from a read down to another of the same columns: so many rows later the group reads it once more. */
static int32_t nearest_below(shape_maker *m, const cpu_stage *c, const cpu_read *read)
{
    const cpu_edge *e = &c->edges.items[read->edge];
    int32_t row = row_of_read(m, read, e), nearest = INT32_MAX;
    for (uint32_t k = 0; k < c->loads.count && row != INT32_MIN; k++) {
        const cpu_read *other = &c->loads.items[k];
        if (other->edge != read->edge || other->rest_x != read->rest_x || !same_plane(m, read->load, other->load)) continue;
        int32_t below = row_of_read(m, other, e) - row;
        if (below > 0 && below % e->p_y == 0 && below / e->p_y < nearest) nearest = below / e->p_y;
    }
    return nearest;
}

/* Rows at once pay when they read much of the same: a quarter of the loads at least. */
static bool rows_are_shared(shape_maker *m, const cpu_stage *c, int group)
{
    int64_t loads = 0, shared = 0;
    for (uint32_t k = 0; k < c->loads.count; k++) {
        const cpu_edge *e = &c->edges.items[c->loads.items[k].edge];
        if (e->kind == READ_anywhere || e->finds_rows) continue;
        int32_t nearest = e->p_y > 0 ? nearest_below(m, c, &c->loads.items[k]) : 0;
        loads += group;
        if (nearest < group) shared += group - nearest;
    }
    return 4 * shared >= loads;
}

/* The most loads of one row of one producer, side by side. */
static int row_taps(const cpu_stage *c)
{
    int most = 0;
    for (uint32_t k = 0; k < c->loads.count; k++) {
        const cpu_read *read = &c->loads.items[k];
        if (c->edges.items[read->edge].kind != READ_row) continue;
        int n = 0;
        for (uint32_t j = 0; j < c->loads.count; j++) n += c->loads.items[j].edge == read->edge && c->loads.items[j].rest_y == read->rest_y;
        if (n > most) most = n;
    }
    return most;
}

/* Many taps along a row are as many unaligned loads, and those of 64 bytes all cross cache lines: half as wide, of which every other
 * does, and many sums at once, or each waits for its own last tap. */
static void long_row(shape_maker *m, cpu_stage *c, int nodes)
{
    if (nodes > 160) return;                   /* so many sums don't fit */
    if (m->s->target.vector_bytes == 64 && c->lanes >= 8) c->lanes /= 2;
    c->unroll = nodes <= 80 ? 8 : 2;
}

enum { MOST_JOINED = 256 };              /* elements of one store (emit_interleave) */

/* As wide as the widest of what is computed for one row or the other. */
static void choose_phase_shape(shape_maker *m, cpu_stage *c)
{
    const tensor_stage *t = stage_at(m->s->pipe, c->stage);
    cpu_phases *phases = c->phases;
    int nodes = 0, widest = t->type.kind == KIND_f16 ? 4 : kind_get((kind)t->type.kind)->n_bytes;
    double operations = 0;
    for (int row = 0; row < phases->rows; row++) {
        body_facts f = facts_of(m, phases->as, phases->body + row * phases->columns, (uint32_t)phases->columns);
        if (f.widest_bytes > widest) widest = f.widest_bytes;
        if (f.vector_nodes > nodes) nodes = f.vector_nodes;
        operations += f.operations / (phases->rows * phases->columns);
    }
    c->lanes = m->s->target.vector_bytes / widest;
    while (c->lanes * phases->columns * t->type.lanes > MOST_JOINED) c->lanes /= 2;
    phases->as->lanes = c->lanes;
    phases->as->group = c->group = 1;
    phases->as->unroll = c->unroll = nodes * t->type.lanes <= 48 ? 2 : 1;
    phases->as->planes = c->planes;
    c->operations = operations < 1 ? 1 : operations;
}

static void choose_shape(shape_maker *m, cpu_stage *c)
{
    body_facts f = facts_of(m, c, &stage_at(m->s->pipe, c->stage)->body, 1);
    const tensor_stage *t = stage_at(m->s->pipe, c->stage);
    int bytes = kind_get((kind)t->type.kind)->n_bytes;
    if (t->type.kind == KIND_f16) bytes = 4;
    if (bytes > f.widest_bytes) f.widest_bytes = bytes;
    c->lanes = c->most_lanes = m->s->target.vector_bytes / f.widest_bytes;
    c->planes = slab_of(m->s->pipe, c->stage, section_sink(m->section)) ? slab_planes(m->s->pipe, c->stage) : 1;
    int reach = row_reach(m, c), planes = c->flat ? 1 : t->type.lanes;
    c->group = 1;
    if (!f.loops && t->rank > 1) {
        if (reach >= 14 && m->s->target.vector_bytes == 64) c->group = 8;      /* with 32 registers */
        else if (reach >= 4) c->group = 4;
        else if (reach >= 1) c->group = 2;
        if (!rows_are_shared(m, c, c->group)) c->group = 1;
        while (c->group > 1 && f.vector_nodes * c->group * (c->flat ? 1 : planes) > 1200) c->group /= 2;
    }
    c->unroll = 1;
    if (f.loops && t->rank > 1) find_skewed(m, c);
    if (c->skewed.count && f.vector_nodes * planes <= LIGHT_NODES) {
        c->group = 4;
        c->unroll = planes >= 3 ? 1 : planes == 2 ? 2 : 4;
    }
    else if (f.loops) c->unroll = f.vector_nodes * planes <= LIGHT_NODES ? 4 : planes == 1 ? 6 : 3;

    else if (f.looks_up && c->group == 1 && c->lanes < LOOKUP_REGISTER && f.vector_nodes * planes <= 160)
        c->unroll = LOOKUP_REGISTER / c->lanes < 4 ? LOOKUP_REGISTER / c->lanes : 4;     /* as many indices as one look-up takes */
    else if (c->group == 1 && f.vector_nodes * planes <= 48 && f.vector_nodes >= HEAVY_NODES * (int)c->loads.count) c->unroll = 6;
    else if (c->group == 1 && f.vector_nodes * planes <= 48) c->unroll = 2;
    if (!f.loops && c->group == 1 && row_taps(c) >= LONG_ROW) long_row(m, c, f.vector_nodes * planes);
    if (t->rank == 1) c->unroll = 1;           /* one row, once a run: not worth the code */
    c->operations = f.operations < 1 ? 1 : f.operations;
    c->vector_nodes = f.vector_nodes;
    c->phases = phases_make(m->s, c);
    if (c->phases) choose_phase_shape(m, c);
    tuning_shape(m->s, c);
    if (c->apart) c->unroll = t->type.lanes * (c->unroll > t->type.lanes ? 2 : 1);      /* whole pixels */
}

/* ---- memory between dispatches ------------------------------------------------------------------------------------------ */

/* Rows of planes are read as they are wherever components go different ways: taking pixels apart costs a shuffle a vector. Where
 * pixels are fetched from anywhere they stay together, for the sake of the cache. */
static bool wants_planes(const cpu_schedule *s, int memory)
{
    bool apart = false;
    for (uint32_t k = 0; k < s->sections.count; k++) {
        const cpu_section *section = &s->sections.items[k];
        for (uint32_t j = 0; j < section->stages.count; j++) {
            const cpu_stage *c = &section->stages.items[j];
            if (c->sink && c->memory == memory) apart = apart || !c->flat;
            for (uint32_t i = 0; i < c->edges.count; i++) {
                const cpu_edge *e = &c->edges.items[i];
                if (e->producer >= 0 || e->memory != memory) continue;
                if (e->kind != READ_row) return false;
                apart = apart || !c->flat;
            }
        }
    }
    return apart;
}

static bool spread_planes(cpu_schedule *s)
{
    bool changed = false;
    for (uint32_t k = 0; k < s->memories.count; k++) {
        cpu_memory *m = &s->memories.items[k];
        if (m->role != MEMORY_scratch || m->planar || stage_at(s->pipe, m->stage)->type.lanes == 1 || !wants_planes(s, (int)k)) continue;
        m->planar = changed = true;
    }
    return changed;
}

/* A vector of the bulk is stored in pieces of a power of two of bytes. Below 16 there is no vector store that streams; below
 * half a vector it was computed in so many more bytes than are stored that arithmetic binds, and streaming loses 2 to 15 %; with
 * many operations a pixel likewise, and their loop is left alone. */
static int stream_bytes(shape_maker *m, const cpu_stage *c)
{
    type t = stage_at(m->s->pipe, c->stage)->type;
    if (!c->sink || c->lanes == 1 || c->phases) return 0;
    bool side_by_side = !c->flat && !m->s->memories.items[c->memory].planar;
    int bytes = c->lanes * kind_get((kind)t.kind)->n_bytes * (side_by_side ? t.lanes : 1), piece = bytes & -bytes;
    if (piece > m->s->target.vector_bytes) piece = m->s->target.vector_bytes;
    int pixel = kind_get((enum kind)t.kind)->n_bytes * t.lanes;
    double operands = c->operations * m->s->target.vector_bytes / c->lanes;
    return piece < 16 || piece < m->s->target.vector_bytes / 2 || operands > 2 * PLAN_STREAM_OPERANDS * pixel ? 0 : piece;
}

static bool is_zero(const tensor_pipe *p, ref r)
{
    int64_t v;
    return node_is_const(p, r, &v) && v == 0;
}

/* Rows of a border value are only in the line, with the line's distance of planes. */
static bool copies_rows(cpu_schedule *s, const cpu_stage *c)
{
    if (!c->loader || c->sink || c->planes > 1 || c->edges.count != 1 || c->edges.items[0].memory < 0) return false;
    const cpu_edge *e = &c->edges.items[0];
    const cpu_memory *m = &s->memories.items[e->memory];
    type t = stage_at(s->pipe, c->stage)->type;
    if (!type_equal(t, stage_at(s->pipe, e->stage)->type) || stage_at(s->pipe, e->stage)->rank != 2) return false;
    if (e->finds_rows || e->kind != READ_row || e->p_x != 1 || e->q_x != 1 || e->p_y != 1 || e->q_y != 1) return false;
    if (!is_zero(s->pipe, e->lo_x) || !is_zero(s->pipe, e->hi_x) || !is_zero(s->pipe, e->lo_y) || !is_zero(s->pipe, e->hi_y)) return false;
    return t.lanes == 1 || (c->flat ? !m->planar && !m->bgra : m->planar && !c->value_y);
}

/* Where stages take turns, the processor's own prefetching starts anew at every turn; a single stage needs no help. Of copied
 * rows the readers ask for the next. */
static bool asks_ahead(cpu_schedule *s, const cpu_section *section, const cpu_edge *e)
{
    if (section->stages.count < 2 || e->finds_rows || e->kind != READ_row || e->p_x != 1 || e->q_x != 1 || e->p_y < 1 || e->q_y != 1) return false;
    if (e->producer >= 0) return section->stages.items[e->producer].copies;
    return e->memory >= 0 && stage_at(s->pipe, e->stage)->rank == 2;
}

void schedule_shapes(cpu_schedule *s)
{
    do
        for (uint32_t k = 0; k < s->sections.count; k++) settle_flat(&(shape_maker){ s, &s->sections.items[k] });
    while (spread_planes(s));
    for (uint32_t k = 0; k < s->sections.count; k++) {
        cpu_section *section = &s->sections.items[k];
        for (uint32_t j = 0; j < section->stages.count; j++) {
            shape_maker m = { s, section };
            cpu_stage *c = section_stage(section, (int)j);
            choose_shape(&m, c);
            c->stream_bytes = stream_bytes(&m, c);
            c->copies = copies_rows(s, c);
            for (uint32_t i = 0; i < c->edges.count; i++) c->edges.items[i].ahead = !c->copies && asks_ahead(s, section, &c->edges.items[i]);
        }
    }
}
