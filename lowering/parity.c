/* SPDX-License-Identifier: MIT
 * Remainders by 2 of coordinates, found in bodies. */
#include "lowering/parity.h"

#include "lowering/access.h"

/* x % 2, (3*x + 2*n + 1) % 2, (x + y) & 1: all atoms but coordinates are doubled. */
int parity_coordinates(const tensor_pipe *p, ref r)
{
    const tensor_node *n = node_at(p, r);
    int64_t by;
    linear form;
    int which = 0;
    if ((n->op != OP_mod && n->op != OP_bitand) || !type_equal(n->type, type_of(KIND_i32, 1))) return 0;
    if (!node_is_const(p, node_arg(p, r, 1), &by) || by != (n->op == OP_mod ? 2 : 1)) return 0;
    linear_of(p, node_arg(p, r, 0), &form);
    for (int k = 0; k < form.n_terms; k++) {
        const tensor_node *atom = node_at(p, form.terms[k].atom);
        if (form.terms[k].coefficient % 2 == 0) continue;
        if (atom->op != OP_coord || atom->index > 1) return 0;
        which |= 1 << atom->index;
    }
    return which;
}

int parity_value(const tensor_pipe *p, ref r, int odd_x, int odd_y)
{
    linear form;
    linear_of(p, node_arg(p, r, 0), &form);
    int value = form.constant & 1;
    for (int k = 0; k < form.n_terms; k++)
        if (form.terms[k].coefficient % 2 != 0) value ^= node_at(p, form.terms[k].atom)->index == 0 ? odd_x : odd_y;
    return value;
}

enum { CONDITION_STEPS = 64 };           /* longer conditions aren't looked through: shared parts would be walked again and again */

/* Coordinates whose remainders decide `r`; -1: something else counts too. */
static int deciding(const tensor_pipe *p, ref r, int *steps)
{
    const tensor_node *n = node_at(p, r);
    int which = parity_coordinates(p, r);
    if (which || n->uniform) return which;
    if (n->n_args == 0 || n->op == OP_load || --*steps < 0) return -1;
    for (int k = 0; k < n->n_args; k++) {
        int of = deciding(p, node_arg(p, r, k), steps);
        if (of < 0) return -1;
        which |= of;
    }
    return which;
}

static int deciding_of(const tensor_pipe *p, ref r)
{
    int steps = CONDITION_STEPS;
    return deciding(p, r, &steps);
}

bool is_of_parity(const tensor_pipe *p, ref r) { return deciding_of(p, r) > 0; }

int parity_choices(tensor_pipe *p, ref body)
{
    ref_list nodes = { 0 };
    int which = 0;
    reached_nodes(p, p->memory, &body, 1, &nodes);
    for (uint32_t k = 0; k < nodes.count; k++) {
        if (node_at(p, nodes.items[k])->op != OP_select) continue;
        int of = deciding_of(p, node_arg(p, nodes.items[k], 0));
        if (of > 0) which |= of;
    }
    return which;
}
