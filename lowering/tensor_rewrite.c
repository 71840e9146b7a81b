/* SPDX-License-Identifier: MIT
 * Rebuilding expressions. The walk keeps its own stack (a chain of a thousand taps must not need a thousand frames) and a memo,
 * so shared parts are rewritten once. A fold is rewritten with its own binders first; only when a part changed is it copied,
 * and then the copy's parts get its binders and accs in a second walk. */
#include <assert.h>
#include <string.h>

#include "lowering/tensor.h"

enum { IN_PROGRESS = UINT32_MAX };          /* memo: visited, arguments under way */

typedef LIST(ref) ref_list;

void rewriter_begin(rewriter *w, tensor_pipe *p, ref (*visit)(rewriter *w, ref r), void *user)
{
    *w = (rewriter){ .pipe = p, .visit = visit, .user = user };
}

/* ---- the memo: an open hash table, so that rewriting ten nodes of a pipe of a million costs ten ------------- */

static uint32_t place_of(const rewrite_memo *m, uint32_t key)
{
    uint32_t at = key * 2654435769u & (m->capacity - 1);            /* 2^32 / golden ratio, after Knuth */
    while (m->slots[at].key && m->slots[at].key != key)
        at = (at + 1) & (m->capacity - 1);
    return at;
}

static void memo_grow(arena *a, rewrite_memo *m)
{
    rewrite_memo larger = { .count = m->count, .capacity = m->capacity ? 2 * m->capacity : 32 };
    larger.slots = arena_alloc(a, sizeof *larger.slots * larger.capacity);
    for (uint32_t k = 0; k < m->capacity; k++)
        if (m->slots[k].key)
            larger.slots[place_of(&larger, m->slots[k].key)] = m->slots[k];
    *m = larger;
}

/* The value of a key, 0 when it is new; good until the next call. */
static uint32_t *slot_of(arena *a, rewrite_memo *m, uint32_t key)
{
    if (2 * m->count >= m->capacity)
        memo_grow(a, m);
    uint32_t at = place_of(m, key);
    if (!m->slots[at].key) {
        m->slots[at].key = key;
        m->count++;
    }
    return &m->slots[at].value;
}

static uint32_t *done_slot(rewriter *w, ref r)
{
    return slot_of(w->pipe->memory, &w->done, r);
}

/* ---- folds ----------------------------------------------------------------------------------- */

/* Every part of a fold, 0 for the absent ones. */
typedef struct fold_parts { ref *at[2 * TENSOR_MAX_BINDERS + 2 * TENSOR_MAX_ACCS + 1]; int n; } fold_parts;

static fold_parts parts_of(tensor_fold *f)
{
    fold_parts parts = { .n = 0 };
    for (int k = 0; k < f->n_binders; k++) {
        parts.at[parts.n++] = &f->lo[k];
        parts.at[parts.n++] = &f->hi[k];
    }
    parts.at[parts.n++] = &f->where;
    for (int k = 0; k < f->n_accs; k++) {
        parts.at[parts.n++] = &f->init[k];
        parts.at[parts.n++] = &f->next[k];
    }
    return parts;
}

typedef struct renaming { uint32_t from, to; } renaming;

static ref rename_visit(rewriter *w, ref r)
{
    const renaming *names = w->user;
    tensor_node n = *node_at(w->pipe, r);
    if (n.op == OP_binder && n.payload == names->from)
        return tensor_binder(w->pipe, names->to, n.index);
    if (n.op == OP_acc && n.payload == names->from)
        return tensor_acc(w->pipe, names->to, n.index, n.type);
    return 0;
}

/* A new fold with these parts, which still speak of `from`'s binders and accs. */
static uint32_t copy_fold(tensor_pipe *p, uint32_t from, tensor_fold copy)
{
    renaming names = { from, tensor_fold_new(p, copy.form, copy.n_binders, copy.n_accs) };
    rewriter w;
    rewriter_begin(&w, p, rename_visit, &names);
    fold_parts parts = parts_of(&copy);
    for (int k = 0; k < parts.n; k++)
        if (*parts.at[k])
            *parts.at[k] = rewrite(&w, *parts.at[k]);
    *fold_at(p, names.to) = copy;
    return names.to;
}

/* The fold whose parts are all in the memo. */
static uint32_t rebuilt_fold(rewriter *w, uint32_t f)
{
    uint32_t *known = slot_of(w->pipe->memory, &w->folds, f);
    if (*known)
        return *known;
    tensor_fold copy = *fold_at(w->pipe, f);
    bool changed = false;
    fold_parts parts = parts_of(&copy);
    for (int k = 0; k < parts.n; k++)
        if (*parts.at[k]) {
            ref now = *done_slot(w, *parts.at[k]);
            changed = changed || now != *parts.at[k];
            *parts.at[k] = now;
        }
    uint32_t to = changed ? copy_fold(w->pipe, f, copy) : f;
    *slot_of(w->pipe->memory, &w->folds, f) = to;
    return to;
}

/* ---- nodes ----------------------------------------------------------------------------------- */

static void push_pending(rewriter *w, ref_list *stack, ref r)
{
    uint32_t done = r ? *done_slot(w, r) : r;
    if (r && (done == 0 || done == IN_PROGRESS))
        LIST_PUSH(w->pipe->memory, *stack, r);
}

static void push_arguments(rewriter *w, ref_list *stack, ref r)
{
    const tensor_node *n = node_at(w->pipe, r);
    if (n->op == OP_result) {
        tensor_fold fold = *fold_at(w->pipe, n->payload);
        fold_parts parts = parts_of(&fold);
        for (int k = parts.n; k-- > 0;)
            push_pending(w, stack, *parts.at[k]);
        return;
    }
    for (int k = n->n_args; k-- > 0;)
        push_pending(w, stack, node_arg(w->pipe, r, k));
}

static ref rebuild(rewriter *w, ref r)
{
    tensor_node n = *node_at(w->pipe, r);
    if (n.op == OP_result) {
        uint32_t fold = rebuilt_fold(w, n.payload);
        ref now = fold == n.payload ? r : tensor_result(w->pipe, fold, n.index);
        ref replacement = w->rebuild ? w->rebuild(w, now, NULL) : 0;
        return replacement ? replacement : now;
    }
    ref args[2 * TENSOR_MAX_RANK];
    bool changed = false;
    for (int k = 0; k < n.n_args; k++) {
        ref old = node_arg(w->pipe, r, k);
        args[k] = *done_slot(w, old);
        changed = changed || args[k] != old;
    }
    ref replacement = w->rebuild ? w->rebuild(w, r, args) : 0;
    if (replacement)
        return replacement;
    return changed ? node_with_args(w->pipe, r, args) : r;
}

ref rewrite(rewriter *w, ref root)
{
    ref_list stack = { 0 };
    push_pending(w, &stack, root);
    while (stack.count) {
        ref r = stack.items[stack.count - 1];
        uint32_t done = *done_slot(w, r);
        if (done != 0 && done != IN_PROGRESS) {
            stack.count--;
            continue;
        }
        if (done == 0) {
            ref replacement = w->visit ? w->visit(w, r) : 0;
            *done_slot(w, r) = replacement ? replacement : IN_PROGRESS;
            if (!replacement) {
                push_arguments(w, &stack, r);
                continue;
            }
        } else {
            ref now = rebuild(w, r);
            *done_slot(w, r) = now;
        }
        stack.count--;
    }
    return root ? *done_slot(w, root) : 0;
}

/* The places are found again after each rewriting: it may have moved the lists. */
bool rewrite_pipe(rewriter *w)
{
    tensor_pipe *p = w->pipe;
    bool changed = false;
    for (uint32_t s = 1; s < p->stages.count; s++) {
        tensor_stage now = *stage_at(p, s);
        for (int k = 0; k < now.rank; k++) {
            now.lo[k] = rewrite(w, now.lo[k]);
            now.hi[k] = rewrite(w, now.hi[k]);
        }
        now.body = rewrite(w, now.body);
        tensor_stage *place = stage_at(p, s);
        changed = changed || now.body != place->body || memcmp(now.lo, place->lo, sizeof now.lo) != 0 ||
                  memcmp(now.hi, place->hi, sizeof now.hi) != 0;
        place->body = now.body;
        memcpy(place->lo, now.lo, sizeof now.lo);
        memcpy(place->hi, now.hi, sizeof now.hi);
    }
    for (uint32_t k = 0; k < p->checks.count; k++) {
        ref now = rewrite(w, p->checks.items[k].condition);
        changed = changed || now != p->checks.items[k].condition;
        p->checks.items[k].condition = now;
    }
    return changed;
}

static ref substitute_visit(rewriter *w, ref r)
{
    const ref *coordinates = w->user;
    const tensor_node *n = node_at(w->pipe, r);
    if (n->op == OP_coord)
        return coordinates[n->index];
    return n->uniform ? r : 0;
}

ref tensor_substitute(tensor_pipe *p, ref body, const ref *coordinates)
{
    rewriter w;
    rewriter_begin(&w, p, substitute_visit, (void *)(uintptr_t)coordinates);
    return rewrite(&w, body);
}
