/* SPDX-License-Identifier: MIT
 * Phases: a stage whose body asks whether its column or row is even (mosaics, pictures enlarged by two) gets one body for each
 * answer, in which the question is gone and with it the work for the other answer. A row is then made from vectors of even and
 * vectors of odd columns that are joined as they are stored; what is read at x // 2 are neighbours in memory for both.
 *
 * Emission alone knows phases: for the driver the stage reads what it always read. Only columns of loads that follow the row
 * change their form, by rule: (p*x + c) // q at x = 2*h + k is (p*h + (p*k + c) // 2) // (q / 2) where q is even, and
 * (2*p*h + p*k + c) // q where it isn't. */
#include "backends/cpu/schedule.h"
#include "lowering/parity.h"

typedef struct phase_maker {
    cpu_schedule    *s;
    const cpu_stage *from;
    cpu_stage       *as;
    int  columns, odd_x, odd_y;     /* odd_y: -1 when rows are all made alike */
    bool failed;
} phase_maker;

static ref i32_op(tensor_pipe *p, tensor_op op, ref a, int32_t b) { return tensor_op2(p, op, a, tensor_i32(p, b)); }

/* The column in terms of the phase's own. */
static ref column(const phase_maker *m)
{
    tensor_pipe *p = m->s->pipe;
    ref x = tensor_coord(p, 0);
    return m->columns == 1 ? x : i32_op(p, OP_add, i32_op(p, OP_mul, x, 2), m->odd_x);
}

/* ---- loads -------------------------------------------------------------------------------------------------------- */

static ref phase_rest(const phase_maker *m, const cpu_edge *e, ref rest)
{
    tensor_pipe *p = m->s->pipe;
    if (m->columns == 1) return rest;
    rest = tensor_normalize(p, i32_op(p, OP_add, rest, e->p_x * m->odd_x));
    return e->q_x % 2 == 0 ? i32_op(p, OP_floordiv, rest, 2) : rest;
}

static void phase_edge(const phase_maker *m, cpu_edge *e)
{
    if (m->columns == 1 || e->kind != READ_row) return;
    if (e->q_x % 2 == 0) e->q_x /= 2;
    else e->p_x *= 2;
}

static const cpu_read *read_of(const phase_maker *m, ref load)
{
    for (uint32_t k = 0; k < m->from->loads.count; k++) if (m->from->loads.items[k].load == load) return &m->from->loads.items[k];
    return NULL;
}

/* Several loads may become one, as long as they read alike. */
static void add_phase_read(phase_maker *m, cpu_read read)
{
    for (uint32_t k = 0; k < m->as->loads.count; k++) {
        if (m->as->loads.items[k].load != read.load) continue;
        if (m->as->edges.items[m->as->loads.items[k].edge].kind != m->as->edges.items[read.edge].kind) m->failed = true;
        return;
    }
    LIST_PUSH(m->s->memory, m->as->loads, read);
}

static ref phase_load(phase_maker *m, rewriter *w, ref load)
{
    tensor_pipe *p = m->s->pipe;
    tensor_node n = *node_at(p, load);
    const cpu_read *known = read_of(m, load);
    if (!known) { m->failed = true; return load; }
    cpu_read read = *known;
    const cpu_edge *e = &m->as->edges.items[read.edge];
    int rank = stage_at(p, n.payload)->rank;
    ref index[TENSOR_MAX_RANK], outside[TENSOR_MAX_RANK] = { 0 };
    for (int d = 0; d < rank; d++) {
        ref value = load_outside(p, load, d);
        index[d] = rewrite(w, load_index(p, load, d));
        outside[d] = value ? rewrite(w, value) : 0;
    }
    if (e->kind == READ_row) {
        read.rest_x = phase_rest(m, &m->from->edges.items[read.edge], read.rest_x);
        ref inside = tensor_op2(p, OP_add, i32_op(p, OP_mul, tensor_coord(p, 0), e->p_x), read.rest_x);
        index[0] = e->q_x == 1 ? inside : i32_op(p, OP_floordiv, inside, e->q_x);      /* one node for all phases that read this */
    }
    read.load = tensor_load(p, n.payload, index, n.border, outside, n.type);
    if (node_at(p, read.load)->op == OP_load) add_phase_read(m, read);
    return read.load;
}

/* ---- bodies ------------------------------------------------------------------------------------------------------- */

/* (x + c) // 2, in the phase's columns. */
static ref halved_column(const phase_maker *m, ref r)
{
    enum { NEAR = 1 << 16 };
    tensor_pipe *p = m->s->pipe;
    int64_t by;
    int32_t distance;
    if (m->columns == 1 || node_at(p, r)->op != OP_floordiv || !type_equal(node_type(p, r), type_of(KIND_i32, 1))) return 0;
    if (!node_is_const(p, node_arg(p, r, 1), &by) || by != 2) return 0;
    if (!linear_difference(p, node_arg(p, r, 0), tensor_coord(p, 0), &distance) || distance < -NEAR || distance > NEAR) return 0;
    return i32_op(p, OP_add, tensor_coord(p, 0), (int32_t)floor_div_i64(distance + m->odd_x, 2));
}

static ref phase_visit(rewriter *w, ref r)
{
    phase_maker *m = w->user;
    tensor_pipe *p = m->s->pipe;
    const tensor_node *n = node_at(p, r);
    if (n->uniform || m->failed) return r;
    if (n->op == OP_coord) return n->index == 0 ? column(m) : r;
    if (n->op == OP_load) return phase_load(m, w, r);
    int asks = parity_coordinates(p, r), known = (m->columns == 2 ? PARITY_x : 0) | (m->odd_y >= 0 ? PARITY_y : 0);
    if (asks && (asks & ~known) == 0) return tensor_i32(p, parity_value(p, r, m->odd_x, m->odd_y));
    return halved_column(m, r);
}

static bool has_folds(cpu_schedule *s, ref body)
{
    ref_list nodes = { 0 };
    reached_nodes(s->pipe, s->memory, &body, 1, &nodes);
    for (uint32_t k = 0; k < nodes.count; k++) if (node_at(s->pipe, nodes.items[k])->op == OP_result) return true;
    return false;
}

cpu_phases *phases_make(cpu_schedule *s, const cpu_stage *c)
{
    tensor_pipe *p = s->pipe;
    ref body = stage_at(p, c->stage)->body;
    int asks = parity_choices(p, body);
    if (!asks || s->options->force_border || stage_at(p, c->stage)->rank < 2 || (c->flat && stage_at(p, c->stage)->type.lanes > 1)
        || has_folds(s, body)) return NULL;
    cpu_phases *phases = ARENA_NEW(s->memory, cpu_phases);
    phases->columns = asks & PARITY_x ? 2 : 1;
    phases->rows = asks & PARITY_y ? 2 : 1;
    phases->as = ARENA_NEW(s->memory, cpu_stage);
    *phases->as = *c;
    phases->as->edges.items = NULL;
    phases->as->edges.count = phases->as->edges.capacity = 0;
    phases->as->loads.items = NULL;
    phases->as->loads.count = phases->as->loads.capacity = 0;
    phase_maker m = { .s = s, .from = c, .as = phases->as, .columns = phases->columns };
    for (uint32_t k = 0; k < c->edges.count; k++) {
        cpu_edge e = c->edges.items[k];
        phase_edge(&m, &e);
        LIST_PUSH(s->memory, phases->as->edges, e);
    }
    for (int k = 0; k < phases->rows * phases->columns; k++) {
        rewriter w;
        m.odd_x = k % phases->columns;
        m.odd_y = phases->rows == 1 ? -1 : k / phases->columns;
        rewriter_begin(&w, p, phase_visit, &m);
        phases->body[k] = rewrite(&w, body);
    }
    return m.failed ? NULL : phases;
}
