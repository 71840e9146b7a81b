/* SPDX-License-Identifier: MIT
 * Which loads are look-ups: of a small one-dimensional table, by an index that lies inside for sure. Shapes and emission ask. */
#include "backends/cpu/lookup.h"

static const cpu_edge *edge_of(const cpu_stage *c, ref load)
{
    for (uint32_t k = 0; k < c->loads.count; k++)
        if (c->loads.items[k].load == load) return &c->edges.items[c->loads.items[k].edge];
    return NULL;
}

/* What the index is a widened form of, when that is a byte and counts from the table's first entry; else 0. */
static ref byte_index(const tensor_pipe *p, ref load, int64_t lo)
{
    ref index = load_index(p, load, 0);
    if (lo != 0 || node_at(p, load)->border[0] != BORDER_none || node_at(p, index)->op != OP_cast) return 0;
    ref from = node_arg(p, index, 0);
    return node_type(p, from).kind == KIND_u8 ? from : 0;
}

bool lookup_of(const cpu_schedule *s, const cpu_stage *c, ref load, lookup *out)
{
    const tensor_pipe *p = s->pipe;
    const tensor_node *n = node_at(p, load);
    if (!s->target.byte_permutes || n->op != OP_load || n->type.lanes != 1) return false;
    const cpu_edge *e = edge_of(c, load);
    const tensor_stage *t = stage_at(p, n->payload);
    int64_t lo, hi;
    if (!e || e->kind != READ_anywhere || t->rank != 1 || t->type.lanes != 1 || n->border[0] == BORDER_value) return false;
    if (!node_is_const(p, t->lo[0], &lo) || !node_is_const(p, t->hi[0], &hi) || hi < lo || hi - lo >= LOOKUP_MOST_ENTRIES) return false;
    *out = (lookup){ .lo = (int32_t)lo, .entries = (int)(hi - lo + 1), .bytes = kind_get((kind)t->type.kind)->n_bytes };
    out->byte_index = byte_index(p, load, lo);
    if (out->bytes == 8 || (out->bytes > 1 && out->entries > 256)) return false;
    return e->memory < 0 || out->entries % 64 == 0;
}

bool lookup_is_index_only(const cpu_schedule *s, const cpu_stage *c, const ref_list *nodes, ref index)
{
    const tensor_pipe *p = s->pipe;
    bool used = false;
    if (node_at(p, index)->op != OP_cast) return false;
    for (uint32_t k = 0; k < nodes->count; k++) {
        ref r = nodes->items[k];
        const tensor_node *n = node_at(p, r);
        for (int a = 0; a < n->n_args; a++) {
            lookup l;
            if (node_arg(p, r, a) != index) continue;
            if (a > 0 || !lookup_of(s, c, r, &l) || !l.byte_index) return false;
            used = true;
        }
    }
    return used;
}
