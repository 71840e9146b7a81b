/* SPDX-License-Identifier: MIT
 * How every load of a section reads.
 *
 * A load that follows the row (y slides, x affine) reads whole rows. From a line buffer it may reach beyond the domain: the
 * line's ends are filled once per row, with one border per line, so a second border gets a copy of the line. From memory it
 * must stay inside; where it needs a border along x, a *loader* stage copies the rows into a line first, its rows numbered as
 * the reader asks for them (the border along y is applied as rows are fetched). Everything else is gathered. */
#include "backends/cpu/schedule.h"

#include <string.h>

typedef struct reads_maker { cpu_schedule *s; cpu_section *section; } reads_maker;

/* ---- rewriting loads ----------------------------------------------------------------------------------------- */

typedef struct redirect { ref load; uint32_t to; uint8_t border_x, border_y; type type; } redirect;

static ref redirect_visit(rewriter *w, ref r)
{
    const redirect *d = w->user;
    if (r != d->load) return 0;
    tensor_node n = *node_at(w->pipe, r);
    int rank = stage_at(w->pipe, n.payload)->rank;
    ref index[TENSOR_MAX_RANK], outside[TENSOR_MAX_RANK] = { 0 };
    for (int k = 0; k < rank; k++) {
        index[k] = rewrite(w, load_index(w->pipe, r, k));
        ref value = load_outside(w->pipe, r, k);
        outside[k] = value ? value : 0;
    }
    n.border[0] = d->border_x;
    if (rank > 1) n.border[1] = d->border_y;
    for (int k = 0; k < rank; k++) if (n.border[k] != BORDER_value) outside[k] = 0;
    return tensor_load(w->pipe, d->to, index, n.border, outside, n.type);
}

static void redirect_load(cpu_schedule *s, uint32_t reader, redirect d)
{
    rewriter w;
    rewriter_begin(&w, s->pipe, redirect_visit, &d);
    ref body = rewrite(&w, stage_at(s->pipe, reader)->body);
    stage_at(s->pipe, reader)->body = body;
}

typedef struct load_list { arena *memory; LIST(ref) loads; } load_list;

static void push_load(void *user, ref load)
{
    load_list *l = user;
    LIST_PUSH(l->memory, l->loads, load);
}

static load_list loads_of(cpu_schedule *s, uint32_t stage)
{
    load_list l = { .memory = s->memory };
    for_each_load(s->pipe, stage_at(s->pipe, stage)->body, push_load, &l);
    return l;
}

static int position_of(const cpu_section *section, uint32_t stage)
{
    for (uint32_t k = 0; k < section->stages.count; k++) if (section->stages.items[k].stage == stage && !section->stages.items[k].sink) return (int)k;
    return -1;
}

/* ---- classification ------------------------------------------------------------------------------------------- */

typedef struct read_form { read_kind kind; bool finds_rows; index_form x, y; } read_form;

static bool same_outer(cpu_schedule *s, uint32_t reader, ref load)
{
    tensor_pipe *p = s->pipe;
    uint32_t from = node_at(p, load)->payload;
    for (int d = 2; d < stage_at(p, from)->rank; d++) {
        const tensor_node *n = node_at(p, load_index(p, load, d));
        if (n->op != OP_coord || n->index != d || d >= stage_at(p, reader)->rank) return false;
    }
    return true;
}

/* Outer indices may be anything that is the same along a row when rows come from memory. */
static bool outer_fixed_along_x(cpu_schedule *s, ref load)
{
    tensor_pipe *p = s->pipe;
    for (int d = 2; d < stage_at(p, node_at(p, load)->payload)->rank; d++) {
        if (depends_of(p, &s->all, load_index(p, load, d))->coords & 1) return false;
        if (node_at(p, load)->border[d] != BORDER_none) return false;
    }
    return true;
}

/* A line has columns from its pixels to all that is read: what is far away is gathered. */
static bool is_near(const tensor_pipe *p, const index_form *x)
{
    int64_t lo, hi;
    enum { NEAR = 1 << 16 };
    return !node_is_const(p, x->lo, &lo) || !node_is_const(p, x->hi, &hi) || (lo >= -NEAR && hi <= NEAR);
}

/* Near columns, few strides, and divisions by what divides every vector: then a row's columns are q rows of its source, end to end. */
static bool reads_columns(const tensor_pipe *p, const index_form *x)
{
    return x->kind == INDEX_affine && x->dimension == 0 && (x->q == 1 || x->q == 2 || x->q == 4) && x->p <= 4 && is_near(p, x);
}

static read_form form_of(const reads_maker *m, uint32_t reader, ref load)
{
    cpu_schedule *s = m->s;
    tensor_pipe *p = s->pipe;
    uint32_t slab = slab_of(p, reader, section_sink(m->section));
    int rank = stage_at(p, node_at(p, load)->payload)->rank;
    read_form f = { .kind = READ_anywhere };
    if (rank == 0 || s->options->force_border) return f;
    index_form_of(p, &s->all, slab, load_index(p, load, 0), &f.x);
    if (rank == 1) f.y = (index_form){ .kind = INDEX_affine, .dimension = 1, .p = 0, .q = 1, .rest = tensor_i32(p, 0), .bounded = true,
                                       .lo = tensor_i32(p, 0), .hi = tensor_i32(p, 0) };
    else index_form_of(p, &s->all, slab, load_index(p, load, 1), &f.y);
    bool rows = f.y.kind == INDEX_affine && f.y.dimension == 1;
    if (rows) f.kind = reads_columns(p, &f.x) ? READ_row : READ_row_gather;
    return f;
}

/* The reader's columns, mapped by the index, never leave the memory's domain. */
static bool inside_along_x(cpu_schedule *s, uint32_t reader, ref load, const read_form *f)
{
    tensor_pipe *p = s->pipe;
    const tensor_stage *r = stage_at(p, reader);
    uint32_t from = node_at(p, load)->payload;
    ref lo = tensor_op2(p, OP_add, tensor_op2(p, OP_mul, r->lo[0], tensor_i32(p, f->x.p)), f->x.lo);
    r = stage_at(p, reader);
    ref hi = tensor_op2(p, OP_add, tensor_op2(p, OP_mul, r->hi[0], tensor_i32(p, f->x.p)), f->x.hi);
    const tensor_stage *m = stage_at(p, from);
    if (f->x.q == 1) return always_le(p, m->lo[0], lo) && always_le(p, hi, m->hi[0]);
    /* (a // q) <= b where a <= q * b + q - 1. */
    ref q = tensor_i32(p, f->x.q), rest = tensor_i32(p, f->x.q - 1), first = m->lo[0], last = m->hi[0];
    return always_le(p, tensor_op2(p, OP_mul, first, q), lo) && always_le(p, hi, tensor_op2(p, OP_add, tensor_op2(p, OP_mul, last, q), rest));
}

static bool plain_outside(const reads_maker *m, uint32_t reader, ref load)
{
    cut_reason why = load_slides(m->s->pipe, &m->s->all, reader, load, section_sink(m->section));
    return why == CUT_none || why == CUT_wrap;
}

/* ---- loaders ------------------------------------------------------------------------------------------------------ */

/* As far as the driver counts (FARTHEST in backends/common/driver_math.h). */
static ref virtual_row(tensor_pipe *p, bool low) { return tensor_i32(p, low ? 65535 - INT32_MAX : INT32_MAX - 65535); }

/* A line that holds the memory's rows as `load` asks for them. */
static uint32_t make_loader(reads_maker *m, ref load)
{
    tensor_pipe *p = m->s->pipe;
    tensor_node n = *node_at(p, load);
    tensor_stage from = *stage_at(p, n.payload);
    char *name = arena_printf(p->memory, "%s.rows", from.name);
    uint32_t loader = tensor_stage_new(p, STAGE_compute, tensor_unique_name(p, name), n.type, from.rank, from.where);
    uint8_t border[TENSOR_MAX_RANK] = { 0 };
    ref index[TENSOR_MAX_RANK] = { 0 };
    for (int d = 0; d < from.rank; d++) index[d] = tensor_coord(p, d);
    bool maps_y = from.rank > 1 && n.border[1] != BORDER_value && n.border[1] != BORDER_none;
    if (maps_y) border[1] = n.border[1];
    ref body = tensor_load(p, n.payload, index, border, NULL, from.type);
    if (n.type.kind != from.type.kind) body = tensor_cast(p, body, n.type.kind);
    ref low = virtual_row(p, true), high = virtual_row(p, false);
    tensor_stage *s = stage_at(p, loader);
    memcpy(s->lo, from.lo, sizeof s->lo);
    memcpy(s->hi, from.hi, sizeof s->hi);
    if (maps_y) { s->lo[1] = low; s->hi[1] = high; }
    s->body = body;
    return loader;
}

/* slope: of the loader's rows; readers that advance at different speeds would need ever more rows of one line. */
typedef struct loader_key { ref value_x, value_y; uint32_t from; uint8_t border_x, border_y; type type; double slope; } loader_key;
typedef struct loader_entry { loader_key key; uint32_t loader; } loader_entry;
typedef LIST(loader_entry) loader_list;

static bool same_loader(const loader_key *a, const loader_key *b)
{
    return a->value_x == b->value_x && a->value_y == b->value_y && a->from == b->from && a->border_x == b->border_x
        && a->border_y == b->border_y && type_equal(a->type, b->type) && a->slope == b->slope;
}

static uint32_t loader_for(reads_maker *m, loader_list *known, uint32_t reader, ref load, const read_form *f)
{
    tensor_pipe *p = m->s->pipe;
    const tensor_node *n = node_at(p, load);
    bool two = stage_at(p, n->payload)->rank > 1;
    loader_key key = { load_outside(p, load, 0), two ? load_outside(p, load, 1) : 0, n->payload, n->border[0],
                       two ? n->border[1] : 0, n->type, m->s->plan.slope[reader] * f->y.p / f->y.q };
    for (uint32_t k = 0; k < known->count; k++) if (same_loader(&known->items[k].key, &key)) return known->items[k].loader;
    loader_entry entry = { key, make_loader(m, load) };
    LIST_PUSH(m->s->memory, *known, entry);
    return entry.loader;
}

static bool needs_loader(reads_maker *m, uint32_t reader, ref load, const read_form *f)
{
    tensor_pipe *p = m->s->pipe;
    const tensor_node *n = node_at(p, load);
    if (f->kind != READ_row || stage_at(p, n->payload)->kind == STAGE_table) return false;
    if (n->border[0] == BORDER_none && n->border[1] != BORDER_value) return false;
    if (n->border[1] != BORDER_value && n->border[0] != BORDER_value && inside_along_x(m->s, reader, load, f)) return false;
    int rank = stage_at(p, n->payload)->rank;
    bool alike = slab_of(p, reader, section_sink(m->section)) ? rank == 2 : rank == stage_at(p, reader)->rank;
    return alike && same_outer(m->s, reader, load) && plain_outside(m, reader, load);
}

static bool is_padded(const tensor_pipe *p, ref load)
{
    for (int d = 0; d < TENSOR_MAX_RANK; d++) if (node_at(p, load)->border[d] != BORDER_none) return true;
    return false;
}

/* Inserts stage `stage` at `position`; producers stay before readers. */
static void insert_stage(reads_maker *m, int position, cpu_stage stage)
{
    LIST_PUSH(m->s->memory, m->section->stages, stage);
    cpu_stage *items = m->section->stages.items;
    for (int k = (int)m->section->stages.count - 1; k > position; k--) items[k] = items[k - 1];
    items[position] = stage;
}

static void add_loaders(reads_maker *m)
{
    cpu_schedule *s = m->s;
    loader_list known = { 0 };
    for (uint32_t k = 0; k < m->section->stages.count; k++) {
        uint32_t reader = m->section->stages.items[k].stage;
        load_list loads = loads_of(s, reader);
        for (uint32_t j = 0; j < loads.loads.count; j++) {
            ref load = loads.loads.items[j];
            uint32_t from = node_at(s->pipe, load)->payload;
            if (position_of(m->section, from) >= 0 || !is_padded(s->pipe, load)) continue;
            read_form f = form_of(m, reader, load);
            if (!needs_loader(m, reader, load, &f)) continue;
            uint32_t before = known.count;
            uint32_t loader = loader_for(m, &known, reader, load, &f);
            if (known.count > before) {
                cpu_stage c = { .stage = loader, .memory = -1, .loader = true, .group = 1, .unroll = 1 };
                insert_stage(m, 0, c);
                k++;
            }
            uint8_t y = node_at(s->pipe, load)->border[1];
            redirect d = { load, loader, node_at(s->pipe, load)->border[0], y == BORDER_value ? y : BORDER_none, node_type(s->pipe, load) };
            redirect_load(s, reader, d);
            loads = loads_of(s, reader);       /* the other loads may have been rebuilt around it */
            j = UINT32_MAX;
        }
    }
}

/* ---- one border per line --------------------------------------------------------------------------------------------- */

typedef struct line_view { uint8_t border_x; bool value_rows; ref value_x, value_y; type type; } line_view;

static line_view view_of(cpu_schedule *s, ref load, const read_form *f)
{
    tensor_pipe *p = s->pipe;
    const tensor_node *n = node_at(p, load);
    bool two = stage_at(p, n->payload)->rank > 1;
    line_view v = { .type = n->type };
    if (f->kind == READ_row) { v.border_x = n->border[0]; v.value_x = load_outside(p, load, 0); }
    if (two && n->border[1] == BORDER_value) { v.value_rows = true; v.value_y = load_outside(p, load, 1); }
    return v;
}

static bool view_is_plain(const line_view *v) { return v->border_x == BORDER_none && !v->value_rows; }

static bool same_view(const line_view *a, const line_view *b)
{
    return a->border_x == b->border_x && a->value_rows == b->value_rows && a->value_x == b->value_x && a->value_y == b->value_y
        && type_equal(a->type, b->type);
}

typedef struct line_copy { line_view view; uint32_t stage; } line_copy;

static uint32_t make_copy(reads_maker *m, uint32_t of, const line_view *v)
{
    tensor_pipe *p = m->s->pipe;
    tensor_stage from = *stage_at(p, of);
    uint32_t copy = tensor_stage_new(p, STAGE_compute, tensor_unique_name(p, arena_printf(p->memory, "%s.pad", from.name)), v->type, from.rank, from.where);
    ref index[TENSOR_MAX_RANK] = { 0 };
    for (int d = 0; d < from.rank; d++) index[d] = tensor_coord(p, d);
    ref body = tensor_load(p, of, index, NULL, NULL, from.type);
    if (v->type.kind != from.type.kind) body = tensor_cast(p, body, v->type.kind);
    tensor_stage *s = stage_at(p, copy);
    memcpy(s->lo, from.lo, sizeof s->lo);
    memcpy(s->hi, from.hi, sizeof s->hi);
    s->body = body;
    return copy;
}

static void set_view(cpu_stage *line, const line_view *v)
{
    line->border_x = v->border_x;
    line->value_x = v->value_x;
    line->value_y = v->value_y;
}

/* Gives the line at `position` the first border its readers ask for, and every other border a copy of the line. */
static void split_views(reads_maker *m, int position)
{
    cpu_schedule *s = m->s;
    uint32_t line = section_stage(m->section, position)->stage;
    type own = stage_at(s->pipe, line)->type;
    LIST(line_copy) copies = { 0 };
    for (uint32_t k = (uint32_t)position + 1; k < m->section->stages.count; k++) {
        uint32_t reader = m->section->stages.items[k].stage;
        bool is_copy = false;
        for (uint32_t c = 0; c < copies.count; c++) if (copies.items[c].stage == reader) is_copy = true;
        load_list loads = loads_of(s, reader);
        for (uint32_t j = 0; j < loads.loads.count && !is_copy; j++) {
            ref load = loads.loads.items[j];
            if (node_at(s->pipe, load)->payload != line) continue;
            read_form f = form_of(m, reader, load);
            line_view v = view_of(s, load, &f);
            if (view_is_plain(&v)) continue;
            uint32_t found = 0;
            for (uint32_t c = 0; c < copies.count; c++) if (same_view(&copies.items[c].view, &v)) found = copies.items[c].stage;
            if (!found) {
                bool first = copies.count == 0 && type_equal(own, v.type);
                found = first ? line : make_copy(m, line, &v);
                line_copy entry = { v, found };
                LIST_PUSH(s->memory, copies, entry);
                cpu_stage c = { .stage = found, .memory = -1, .loader = true, .group = 1, .unroll = 1 };
                set_view(first ? section_stage(m->section, position) : &c, &v);
                if (!first) { insert_stage(m, position + 1, c); k++; }
            }
            if (found == line) continue;
            const tensor_node *n = node_at(s->pipe, load);
            redirect_load(s, reader, (redirect){ load, found, n->border[0], n->border[1], n->type });
            loads = loads_of(s, reader);
            j = UINT32_MAX;
        }
    }
}

/* ---- edges ------------------------------------------------------------------------------------------------------------- */

static bool same_edge(const cpu_edge *a, const cpu_edge *b)
{
    return a->kind == b->kind && a->producer == b->producer && a->memory == b->memory && a->stage == b->stage && a->border_x == b->border_x
        && a->border_y == b->border_y && a->finds_rows == b->finds_rows && a->p_x == b->p_x && a->q_x == b->q_x && a->p_y == b->p_y
        && a->q_y == b->q_y;
}

static ref wider(tensor_pipe *p, tensor_op op, ref a, ref b)
{
    return a == b ? a : tensor_normalize(p, tensor_op2(p, op, a, b));
}

static int add_edge(cpu_schedule *s, cpu_stage *stage, cpu_edge e)
{
    for (uint32_t k = 0; k < stage->edges.count; k++) {
        cpu_edge *old = &stage->edges.items[k];
        if (!same_edge(old, &e)) continue;
        old->lo_x = wider(s->pipe, OP_min, old->lo_x, e.lo_x);
        old->hi_x = wider(s->pipe, OP_max, old->hi_x, e.hi_x);
        old->lo_y = wider(s->pipe, OP_min, old->lo_y, e.lo_y);
        old->hi_y = wider(s->pipe, OP_max, old->hi_y, e.hi_y);
        return (int)k;
    }
    LIST_PUSH(s->memory, stage->edges, e);
    return (int)stage->edges.count - 1;
}

/* The row is a number that is computed, but the same for all columns: of coordinates but x, parameters, tables and binders. */
static bool has_one_row(cpu_schedule *s, ref load)
{
    tensor_pipe *p = s->pipe;
    if (stage_at(p, node_at(p, load)->payload)->rank < 2) return false;
    ref row = load_index(p, load, 1);
    ref_list nodes = { 0 };
    if (depends_of(p, &s->all, row)->coords & 1) return false;
    reached_nodes(p, s->memory, &row, 1, &nodes);
    for (uint32_t k = 0; k < nodes.count; k++) if (node_at(p, nodes.items[k])->op == OP_acc) return false;      /* which may vary along the row */
    return true;
}

/* Such a row's columns are read like those of rows that slide. */
static void find_rows(reads_maker *m, uint32_t reader, ref load, read_form *f)
{
    cpu_schedule *s = m->s;
    if (s->options->force_border || f->kind != READ_anywhere || !has_one_row(s, load)) return;
    if (!(depends_of(s->pipe, &s->all, load_index(s->pipe, load, 0))->coords & 1)) return;
    f->finds_rows = true;
    f->kind = reads_columns(s->pipe, &f->x) && inside_along_x(s, reader, load, f) ? READ_row : READ_row_gather;
    f->y = (index_form){ .kind = INDEX_fixed, .p = 0, .q = 1, .rest = tensor_i32(s->pipe, 0), .lo = tensor_i32(s->pipe, 0), .hi = tensor_i32(s->pipe, 0) };
}

/* A load from memory reads rows only when no border along x and no border value is left to apply. */
static void settle_memory_read(reads_maker *m, uint32_t reader, ref load, read_form *f)
{
    cpu_schedule *s = m->s;
    const tensor_node *n = node_at(s->pipe, load);
    bool value = n->border[0] == BORDER_value || n->border[1] == BORDER_value;
    if (stage_at(s->pipe, n->payload)->kind == STAGE_table || !outer_fixed_along_x(s, load) || value) { f->kind = READ_anywhere; return; }
    find_rows(m, reader, load, f);
    if (f->kind == READ_row && n->border[0] != BORDER_none && !inside_along_x(s, reader, load, f)) f->kind = READ_row_gather;
    bool is_table = stage_at(s->pipe, node_at(s->pipe, load)->payload)->rank == 1;         /* it has no rows to point at */
    if (f->kind == READ_row_gather && (is_table || !(depends_of(s->pipe, &s->all, load)->coords & 1))) f->kind = READ_anywhere;
}

static void add_read(reads_maker *m, cpu_stage *stage, ref load)
{
    cpu_schedule *s = m->s;
    uint32_t from = node_at(s->pipe, load)->payload;
    read_form f = form_of(m, stage->stage, load);
    cpu_edge e = { .producer = position_of(m->section, from), .memory = -1, .stage = from, .p_x = 1, .q_x = 1, .q_y = 1 };
    if (e.producer < 0) {
        settle_memory_read(m, stage->stage, load, &f);
        e.memory = s->memory_of[from];
    }
    else e.slab = slab_of(s->pipe, from, section_sink(m->section)) != 0;
    const tensor_node *n = node_at(s->pipe, load);
    e.kind = f.kind;
    e.finds_rows = f.finds_rows;
    e.border_x = n->border[0];
    e.border_y = stage_at(s->pipe, from)->rank > 1 ? n->border[1] : BORDER_none;
    ref zero = tensor_i32(s->pipe, 0);
    e.lo_x = e.hi_x = e.lo_y = e.hi_y = zero;
    cpu_read read = { .load = load };
    if (f.kind != READ_anywhere) {
        e.p_y = f.y.p;
        e.q_y = f.y.q;
        e.lo_y = f.y.lo;
        e.hi_y = f.y.hi;
        read.rest_y = f.y.rest;
    }
    if (f.kind == READ_row) {
        e.p_x = f.x.p;
        e.q_x = f.x.q;
        e.lo_x = f.x.lo;
        e.hi_x = f.x.hi;
        read.rest_x = f.x.rest;
    }
    read.edge = add_edge(s, stage, e);
    LIST_PUSH(s->memory, stage->loads, read);
}

void schedule_reads(cpu_schedule *s, cpu_section *section)
{
    reads_maker m = { s, section };
    add_loaders(&m);
    for (uint32_t k = 0; k < section->stages.count; k++)
        if (!section->stages.items[k].sink) split_views(&m, (int)k);
    for (uint32_t k = 0; k < section->stages.count; k++) {
        load_list loads = loads_of(s, section->stages.items[k].stage);
        for (uint32_t j = 0; j < loads.loads.count; j++) add_read(&m, section_stage(section, (int)k), loads.loads.items[j]);
    }
}
