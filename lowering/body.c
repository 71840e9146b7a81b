/* SPDX-License-Identifier: MIT
 * Orders the nodes under an expression and assigns them to folds. Scopes are numbered as their folds are entered, and a fold that
 * depends on another's binders is only reachable through that other, so the innermost of several scopes is the largest number. */
#include "lowering/body.h"

#include <string.h>

void body_begin(body *b, arena *memory, const tensor_pipe *p)
{
    *b = (body){ .memory = memory, .pipe = p };
    b->number_of_node = ARENA_ARRAY(memory, uint32_t, p->nodes.count);
    b->scope_of_fold = ARENA_ARRAY(memory, uint32_t, p->folds.count);
    body_clear(b);
}

static uint32_t new_scope(body *b, uint32_t fold)
{
    body_scope scope = { .fold = fold };
    memset(scope.results, 0xff, sizeof scope.results);
    LIST_PUSH(b->memory, b->scopes, scope);
    b->scope_of_fold[fold] = b->scopes.count - 1;
    return b->scopes.count - 1;
}

void body_clear(body *b)
{
    b->nodes.count = b->scopes.count = b->stack.count = 0;
    new_scope(b, 0);
}

uint32_t body_number(const body *b, ref r)
{
    uint32_t number = b->number_of_node[r];
    return number < b->nodes.count && b->nodes.items[number].node == r ? number : BODY_NONE;
}

uint32_t body_fold_scope(const body *b, uint32_t fold)
{
    uint32_t scope = b->scope_of_fold[fold];
    return scope < b->scopes.count && b->scopes.items[scope].fold == fold ? scope : BODY_NONE;
}

/* ---- sets of scopes ---------------------------------------------------------------------------- */

static bool contains(const scope_set *set, uint32_t scope)
{
    for (uint32_t k = 0; set && k < set->n; k++)
        if (set->items[k] == scope)
            return true;
    return false;
}

static bool covers(const scope_set *set, const scope_set *part)
{
    for (uint32_t k = 0; part && k < part->n; k++)
        if (!contains(set, part->items[k]))
            return false;
    return true;
}

static scope_set *new_set(body *b, uint32_t capacity)
{
    return arena_alloc(b->memory, sizeof(scope_set) + sizeof(uint32_t) * capacity);
}

static const scope_set *both(body *b, const scope_set *x, const scope_set *y)
{
    if (covers(x, y))
        return x;
    if (covers(y, x))
        return y;
    scope_set *set = new_set(b, x->n + y->n);
    for (uint32_t i = 0, j = 0; i < x->n || j < y->n;) {
        uint32_t next = j == y->n || (i < x->n && x->items[i] <= y->items[j]) ? x->items[i] : y->items[j];
        i += i < x->n && x->items[i] == next;
        j += j < y->n && y->items[j] == next;
        set->items[set->n++] = next;
    }
    return set;
}

static const scope_set *without(body *b, const scope_set *set, uint32_t scope)
{
    if (!contains(set, scope))
        return set;
    if (set->n == 1)
        return NULL;
    scope_set *rest = new_set(b, set->n - 1);
    for (uint32_t k = 0; k < set->n; k++)
        if (set->items[k] != scope)
            rest->items[rest->n++] = set->items[k];
    return rest;
}

static const scope_set *only(body *b, uint32_t scope)
{
    scope_set *set = new_set(b, 1);
    set->n = 1;
    set->items[0] = scope;
    return set;
}

/* ---- the walk ------------------------------------------------------------------------------------ */

static void finish(body *b, ref r, const scope_set *needs)
{
    uint32_t scope = needs ? needs->items[needs->n - 1] : 0, number = b->nodes.count;
    LIST_PUSH(b->memory, b->nodes, ((body_node){ r, scope, needs }));
    LIST_PUSH(b->memory, b->scopes.items[scope].nodes, number);
    b->number_of_node[r] = number;
}

static const scope_set *needs_of(const body *b, ref r)
{
    return r ? b->nodes.items[body_number(b, r)].needs : NULL;
}

/* What a fold depends on besides its own binders; its parts are in the body. */
static const scope_set *fold_needs(body *b, uint32_t f, uint32_t scope)
{
    const tensor_fold *fold = fold_at(b->pipe, f);
    const scope_set *needs = needs_of(b, fold->where);
    for (int k = 0; !b->skip_bounds && k < fold->n_binders; k++)
        needs = both(b, needs, both(b, needs_of(b, fold->lo[k]), needs_of(b, fold->hi[k])));
    for (int k = 0; k < fold->n_accs; k++)
        needs = both(b, needs, both(b, needs_of(b, fold->init[k]), needs_of(b, fold->next[k])));
    return without(b, needs, scope);
}

static void enter_fold(body *b, uint32_t f)
{
    const tensor_fold *fold = fold_at(b->pipe, f);
    uint32_t scope = new_scope(b, f);
    for (int k = 0; !b->skip_bounds && k < fold->n_binders; k++) {
        body_add(b, fold->lo[k]);
        body_add(b, fold->hi[k]);
    }
    if (fold->where)
        body_add(b, fold->where);
    b->scopes.items[scope].n_where = b->scopes.items[scope].nodes.count;
    for (int k = 0; k < fold->n_accs; k++) {
        body_add(b, fold->init[k]);
        body_add(b, fold->next[k]);
    }
    const scope_set *needs = fold_needs(b, f, scope);
    b->scopes.items[scope].parent = needs ? needs->items[needs->n - 1] : 0;
}

/* Leaves and results; 0 for what has operands to visit first. */
static bool finish_leaf(body *b, ref r)
{
    const tensor_node *n = node_at(b->pipe, r);
    if (n->op == OP_result) {
        if (body_fold_scope(b, n->payload) == BODY_NONE)
            enter_fold(b, n->payload);
        uint32_t scope = body_fold_scope(b, n->payload);
        b->scopes.items[scope].results[n->index] = b->nodes.count;
        finish(b, r, fold_needs(b, n->payload, scope));
        return true;
    }
    if (n->op == OP_binder || n->op == OP_acc) {
        uint32_t scope = body_fold_scope(b, n->payload);
        finish(b, r, scope == BODY_NONE ? NULL : only(b, scope));    /* a stray binder is the verifier's to report */
        return true;
    }
    if (n->n_args == 0)
        finish(b, r, NULL);
    return n->n_args == 0;
}

void body_add(body *b, ref root)
{
    uint32_t base = b->stack.count;
    LIST_PUSH(b->memory, b->stack, root);
    while (b->stack.count > base) {
        ref r = b->stack.items[b->stack.count - 1];
        if (body_number(b, r) != BODY_NONE || finish_leaf(b, r)) {
            b->stack.count--;
            continue;
        }
        uint32_t before = b->stack.count;
        int n_args = node_at(b->pipe, r)->n_args;
        for (int k = n_args; k-- > 0;)
            if (body_number(b, node_arg(b->pipe, r, k)) == BODY_NONE)
                LIST_PUSH(b->memory, b->stack, node_arg(b->pipe, r, k));
        if (b->stack.count > before)
            continue;
        const scope_set *needs = NULL;
        for (int k = 0; k < n_args; k++)
            needs = both(b, needs, needs_of(b, node_arg(b->pipe, r, k)));
        finish(b, r, needs);
        b->stack.count--;
    }
}
