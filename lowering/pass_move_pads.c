/* SPDX-License-Identifier: MIT
 * move_pads: a stage made over columns outside its source's domain, only to feed a pass along x, is made inside it alone, and
 * its readers get the source's border instead.
 *
 *   mid[x in -r..W-1+r, y] = f(pad(src, m)[x, y + j])     becomes     mid[x in 0..W-1, y] = f(src[x, y + j])
 *   out[x, y] = g(mid[x + i, y])                                      out[x, y] = g(pad(mid, m)[x + i, y])
 *
 * The middle of a separated convolution is of this kind. Its columns outside are copies of columns inside, bit for bit, because
 * x maps by itself (edge, reflect, reflect101, wrap) and f reads no other column and not x. What is gained: the source needs
 * no filled ends and the middle row is made over W columns; its ends are copied once per row.
 *
 * Requires: nothing. Keeps: every value. A constant border stays where it is (its outside depends on f). */
#include "lowering/access.h"
#include "lowering/pass.h"

typedef struct column_view {
    tensor_pipe *pipe;
    depends     *all;
    uint32_t     stage;
    bool         fits;
    int          mode;             /* the common border along x, or -1 */
    ref          lo, hi;           /* the common domain along x of what is read */
    bool         plain_coordinate; /* coordinate 0 occurs outside of x indices */
} column_view;

static bool is_coordinate(tensor_pipe *p, ref r, int d)
{
    return node_at(p, r)->op == OP_coord && node_at(p, r)->index == d;
}

/* Counts a load that follows the column; others must not depend on it. */
static void look_at_load(column_view *v, ref load)
{
    tensor_pipe *p = v->pipe;
    const tensor_stage *s = stage_at(p, node_at(p, load)->payload);
    if (s->rank == 0) return;
    ref x = load_index(p, load, 0);
    bool follows = (depends_of(p, v->all, x)->coords & 1) != 0;
    for (int d = 1; d < s->rank; d++) if (depends_of(p, v->all, load_index(p, load, d))->coords & 1) v->fits = false;
    if (!follows) return;
    int mode = node_at(p, load)->border[0];
    bool movable = mode == BORDER_edge || mode == BORDER_reflect || mode == BORDER_reflect101 || mode == BORDER_wrap;
    if (!is_coordinate(p, x, 0) || !movable || node_at(p, load)->border[1] == BORDER_value) { v->fits = false; return; }
    if (v->mode < 0) { v->mode = mode; v->lo = s->lo[0]; v->hi = s->hi[0]; }
    else if (v->mode != mode || v->lo != s->lo[0] || v->hi != s->hi[0]) v->fits = false;
}

/* Does coordinate 0 occur other than as the x index of a load? */
static bool uses_column_itself(tensor_pipe *p, const ref_list *nodes)
{
    for (uint32_t k = 0; k < nodes->count; k++) {
        const tensor_node *n = node_at(p, nodes->items[k]);
        int skip = n->op == OP_load ? 0 : -1;
        for (int a = 0; a < n->n_args; a++)
            if (a != skip && is_coordinate(p, node_arg(p, nodes->items[k], a), 0)) return true;
    }
    return false;
}

/* The body qualifies and the domain is another than the source's. Which is wider does not matter: any column is answered by
 * the one inside that the border maps it to, and only columns that are asked for are made. */
static bool body_fits(column_view *v)
{
    tensor_pipe *p = v->pipe;
    const tensor_stage *s = stage_at(p, v->stage);
    ref_list nodes = { 0 };
    reached_nodes(p, p->memory, &s->body, 1, &nodes);
    for (uint32_t k = 0; k < nodes.count && v->fits; k++)
        if (node_at(p, nodes.items[k])->op == OP_load) look_at_load(v, nodes.items[k]);
    if (!v->fits || v->mode < 0 || uses_column_itself(p, &nodes)) return false;
    s = stage_at(p, v->stage);
    return s->lo[0] != v->lo || s->hi[0] != v->hi;
}

static bool readers_are_plain(tensor_pipe *p, stage_loads *loads, uint32_t stage)
{
    for (uint32_t r = stage + 1; r < p->stages.count; r++) {
        if (stage_at(p, r)->kind != STAGE_compute) continue;
        const ref_list *of = loads_of_stage(p, loads, r);
        for (uint32_t k = 0; k < of->count; k++) {
            const tensor_node *n = node_at(p, of->items[k]);
            if (n->payload == stage && n->border[0] != BORDER_none) return false;
        }
    }
    return true;
}

/* Changes the x border of loads: of the moved stage's own loads to none, of its readers' loads to the mode. */
typedef struct border_change { uint32_t stage; bool own; int mode; } border_change;

static ref change_border(rewriter *w, ref r)
{
    const border_change *c = w->user;
    tensor_node n = *node_at(w->pipe, r);
    if (n.op != OP_load || stage_at(w->pipe, n.payload)->rank == 0) return 0;
    if (c->own ? !is_coordinate(w->pipe, node_arg(w->pipe, r, 0), 0) || n.border[0] == BORDER_none : n.payload != c->stage) return 0;
    int rank = stage_at(w->pipe, n.payload)->rank;
    ref index[TENSOR_MAX_RANK], outside[TENSOR_MAX_RANK];
    for (int d = 0; d < rank; d++) {
        index[d] = rewrite(w, load_index(w->pipe, r, d));
        ref value = load_outside(w->pipe, r, d);
        outside[d] = value ? rewrite(w, value) : 0;
    }
    n.border[0] = (uint8_t)(c->own ? BORDER_none : c->mode);
    return tensor_load(w->pipe, n.payload, index, n.border, outside, n.type);
}

static void change_body(tensor_pipe *p, uint32_t stage, border_change *change)
{
    rewriter w;
    rewriter_begin(&w, p, change_border, change);
    ref body = rewrite(&w, stage_at(p, stage)->body);
    stage_at(p, stage)->body = body;
}

static bool move_one(tensor_pipe *p, depends *all, stage_loads *loads, uint32_t stage)
{
    column_view v = { .pipe = p, .all = all, .stage = stage, .fits = true, .mode = -1 };
    if (stage_at(p, stage)->rank < 2 || tensor_is_output(p, stage) || !body_fits(&v) || !readers_are_plain(p, loads, stage)) return false;
    tensor_note_add(p, stage, "its border along x moved to its readers, who copy ends instead of computing them");
    stage_at(p, stage)->lo[0] = v.lo;
    stage_at(p, stage)->hi[0] = v.hi;
    border_change own = { stage, true, v.mode }, readers = { stage, false, v.mode };
    change_body(p, stage, &own);
    for (uint32_t r = stage + 1; r < p->stages.count; r++)
        if (stage_at(p, r)->kind == STAGE_compute && stage_reads(p, loads, r, stage)) change_body(p, r, &readers);
    return true;
}

bool pass_move_pads(tensor_pipe *p)
{
    depends all = { 0 };
    stage_loads loads = { 0 };
    bool changed = false;
    for (uint32_t s = 1; s < p->stages.count; s++)
        if (stage_at(p, s)->kind == STAGE_compute && move_one(p, &all, &loads, s)) changed = true;
    return changed;
}
