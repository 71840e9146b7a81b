/* SPDX-License-Identifier: MIT
 * Is this fold a convolution that two passes could compute? Only a product of one weight and one pixel is looked for, with the
 * indices of the pixel apart: one follows the column and one binder, another the other binder. */
#include "lowering/separate.h"

bool conv_factors(const tensor_pipe *p, uint32_t fold, ref *a, ref *b)
{
    ref next = p->folds.items[fold].next[0], product = next, acc = 0;
    tensor_op op = node_at(p, next)->op;
    if (op == OP_muladd || op == OP_fma) {
        acc = node_arg(p, next, 2);
    } else if (op == OP_add) {
        bool first = node_at(p, node_arg(p, next, 0))->op == OP_acc;
        acc = node_arg(p, next, first ? 0 : 1);
        product = node_arg(p, next, first ? 1 : 0);
        if (node_at(p, product)->op != OP_mul) return false;
    } else {
        return false;
    }
    *a = node_arg(p, product, 0);
    *b = node_arg(p, product, 1);
    return node_at(p, acc)->op == OP_acc && node_at(p, acc)->payload == fold;
}

ref load_under(const tensor_pipe *p, ref r)
{
    while (node_at(p, r)->op == OP_cast || node_at(p, r)->op == OP_splat) r = node_arg(p, r, 0);
    return node_at(p, r)->op == OP_load ? r : 0;
}

/* The only binder of the fold in an expression; -1 for none, -2 for several. */
static int binder_in(tensor_pipe *p, ref r, uint32_t fold)
{
    ref_list nodes = { 0 };
    reached_nodes(p, p->memory, &r, 1, &nodes);
    int found = -1;
    for (uint32_t k = 0; k < nodes.count; k++) {
        const tensor_node *n = node_at(p, nodes.items[k]);
        if (n->op == OP_binder && n->payload == fold && found != n->index) found = found == -1 ? n->index : -2;
    }
    return found;
}

/* A kernel of two dimensions, each index linear in a binder of its own. */
static bool match_weight(convolution *c)
{
    tensor_pipe *p = c->pipe;
    c->weight_load = load_under(p, c->weight);
    if (!c->weight_load) return false;
    const tensor_node *n = node_at(p, c->weight_load);
    c->kernel = n->payload;
    if (stage_at(p, c->kernel)->rank != 2 || n->border[0] != BORDER_none || n->border[1] != BORDER_none) return false;
    for (int d = 0; d < 2; d++) {
        linear *form = &c->kernel_index[d];
        if (!linear_of(p, load_index(p, c->weight_load, d), form) || form->n_terms != 1) return false;
        const tensor_node *atom = node_at(p, form->terms[0].atom);
        if (atom->op != OP_binder || atom->payload != c->fold) return false;
        c->kernel_binder[d] = atom->index;
    }
    return c->kernel_binder[0] != c->kernel_binder[1];
}

/* step * coord(0) + d * binder + something uniform. */
static bool match_x_index(convolution *c, ref index)
{
    tensor_pipe *p = c->pipe;
    bool has_binder = false;
    c->step = 0;
    if (!linear_of(p, index, &c->x_index)) return false;
    for (int k = 0; k < c->x_index.n_terms; k++) {
        const tensor_node *atom = node_at(p, c->x_index.terms[k].atom);
        if (atom->op == OP_coord && atom->index == 0) {
            c->step = c->x_index.terms[k].coefficient;
        } else if (atom->op == OP_binder && atom->payload == c->fold) {
            has_binder = true;
            c->x = atom->index;
        } else if (!node_is_uniform(p, c->x_index.terms[k].atom)) {
            return false;
        }
    }
    return has_binder && c->step != 0;
}

static bool match_element(convolution *c)
{
    tensor_pipe *p = c->pipe;
    c->element_load = load_under(p, c->element);
    if (!c->element_load) return false;
    int rank = stage_at(p, node_at(p, c->element_load)->payload)->rank, n_x = 0, n_y = 0;
    for (int d = 0; d < rank; d++) {
        ref index = load_index(p, c->element_load, d);
        int binder = binder_in(p, index, c->fold);
        bool follows_column = depends_of(p, c->all, index)->coords & 1;
        if (binder == -2 || (binder == -1 && follows_column)) return false;
        if (binder == -1) continue;
        if (follows_column) {
            n_x++;
            c->x_dimension = d;
        } else {
            n_y++;
            c->y = binder;
        }
    }
    return n_x == 1 && n_y == 1 && match_x_index(c, load_index(p, c->element_load, c->x_dimension)) && c->x != c->y;
}

bool convolution_match(tensor_pipe *p, depends *all, uint32_t stage, uint32_t fold, convolution *out)
{
    convolution *c = out;
    *c = (convolution){ .pipe = p, .all = all, .stage = stage, .fold = fold };
    const tensor_fold *f = fold_at(p, fold);
    if (f->form != FOLD_conv || f->n_binders != 2 || f->n_accs != 1 || f->where || stage_at(p, stage)->rank == 0) return false;
    c->t = node_type(p, f->next[0]);
    if (depend_is_open(depends_of(p, all, tensor_result(p, fold, 0))) || !conv_factors(p, fold, &c->weight, &c->element)) return false;
    if (depends_of(p, all, c->weight)->coords) {
        ref swapped = c->weight;
        c->weight = c->element;
        c->element = swapped;
    }
    return !depends_of(p, all, c->weight)->coords && match_weight(c) && match_element(c);
}
