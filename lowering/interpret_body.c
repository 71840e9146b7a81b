/* SPDX-License-Identifier: MIT
 * One stage's body over all of its pixels. The body is ordered once (body.h) into steps; what is uniform is computed once per
 * stage, the rest once per pixel, and a fold's own nodes once per element. Both branches of a select are computed, as every
 * backend does: a read must be inside whether or not its value is used. */
#include "lowering/interpret_body.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct step {
    const tensor_node *node;                   /* the pool doesn't change during a run */
    type from;                                 /* of the first operand */
    uint32_t slot;
    uint32_t args[2 * TENSOR_MAX_RANK];        /* slots */
    uint32_t scope;                            /* a fold to run here, or BODY_NONE */
} step;

typedef struct plan_scope {
    step    *steps;
    uint32_t n_steps, n_where;
    const tensor_fold *fold;
    uint32_t binder_slots[TENSOR_MAX_BINDERS], acc_slots[TENSOR_MAX_ACCS];      /* BODY_NONE: nobody reads it */
    uint32_t lo[TENSOR_MAX_BINDERS], hi[TENSOR_MAX_BINDERS], where;             /* slots */
    uint32_t init[TENSOR_MAX_ACCS], next[TENSOR_MAX_ACCS];
    const uint32_t *results;
} plan_scope;

typedef struct plan {
    run        *run;
    uint32_t    stage;
    pixel      *slots;                         /* per node of the body */
    plan_scope *scopes;
    uint32_t    coord_slots[TENSOR_MAX_RANK];
    int64_t     coords[TENSOR_MAX_RANK];
    pixel      *elements;                      /* of the medians under way, an inner one's behind an outer one's */
    size_t      n_kept, room;
    double     *sorted;                        /* as much room */
} plan;

/* ---- making the plan ----------------------------------------------------------------------------- */

static uint32_t slot_of(const plan *p, ref r)
{
    return r ? body_number(&p->run->body, r) : BODY_NONE;
}

/* A node's value is known before the first pixel. */
static void fill_uniform(plan *p, uint32_t slot, ref r)
{
    run *run = p->run;
    const tensor_node *n = node_at(run->pipe, r);
    if (!run->how.as_written || !kind_is_float(n->type.kind)) {
        p->slots[slot] = *uniforms_get(&run->uniforms, r);
        return;
    }
    if (n->n_args == 0) {
        for (int lane = 0; lane < n->type.lanes; lane++)
            p->slots[slot].lane[lane].d = (double)uniforms_get(&run->uniforms, r)->lane[lane].f;
        return;
    }
    const pixel *args[TENSOR_MAX_LANES] = { NULL };
    for (int k = 0; k < n->n_args && k < TENSOR_MAX_LANES; k++)
        args[k] = &p->slots[slot_of(p, node_arg(run->pipe, r, k))];
    node_evaluate(run->how, n, node_type(run->pipe, node_arg(run->pipe, r, 0)), args, &p->slots[slot]);
}

static bool first_result(const body *b, uint32_t scope, uint32_t number)
{
    for (int k = 0; k < TENSOR_MAX_ACCS; k++)
        if (b->scopes.items[scope].results[k] < number)
            return false;
    return true;
}

/* Adds the step that computes node `number`, if it takes one. */
static void plan_node(plan *p, plan_scope *out, uint32_t number)
{
    const body *b = &p->run->body;
    const tensor_pipe *pipe = p->run->pipe;
    ref r = b->nodes.items[number].node;
    const tensor_node *n = node_at(pipe, r);
    step s = { .node = n, .slot = number, .scope = BODY_NONE };
    if (n->uniform) {
        fill_uniform(p, number, r);
        return;
    }
    switch (n->op) {
    case OP_coord:
        p->coord_slots[n->index] = number;
        return;
    case OP_binder:
        out->binder_slots[n->index] = number;
        return;
    case OP_acc:
        out->acc_slots[n->index] = number;
        return;
    case OP_result:
        s.scope = body_fold_scope(b, n->payload);
        if (!first_result(b, s.scope, number))
            return;
        break;
    default:
        for (int k = 0; k < n->n_args; k++)
            s.args[k] = slot_of(p, node_arg(pipe, r, k));
        if (n->n_args)
            s.from = node_type(pipe, node_arg(pipe, r, 0));
    }
    out->steps[out->n_steps++] = s;
}

static void plan_fold(const plan *p, plan_scope *out, uint32_t f)
{
    const tensor_fold *fold = fold_at(p->run->pipe, f);
    out->fold = fold;
    out->where = slot_of(p, fold->where);
    for (int k = 0; k < fold->n_binders; k++) {
        out->lo[k] = slot_of(p, fold->lo[k]);
        out->hi[k] = slot_of(p, fold->hi[k]);
    }
    for (int k = 0; k < fold->n_accs; k++) {
        out->init[k] = slot_of(p, fold->init[k]);
        out->next[k] = slot_of(p, fold->next[k]);
    }
}

static void plan_scopes(plan *p)
{
    const body *b = &p->run->body;
    p->slots = ARENA_ARRAY(p->run->memory, pixel, b->nodes.count);
    p->scopes = ARENA_ARRAY(p->run->memory, plan_scope, b->scopes.count);
    memset(p->coord_slots, 0xff, sizeof p->coord_slots);
    for (uint32_t s = 0; s < b->scopes.count; s++) {
        const body_scope *from = &b->scopes.items[s];
        plan_scope *out = &p->scopes[s];
        out->steps = ARENA_ARRAY(p->run->memory, step, from->nodes.count);
        out->results = from->results;
        memset(out->binder_slots, 0xff, sizeof out->binder_slots);
        memset(out->acc_slots, 0xff, sizeof out->acc_slots);
        if (from->fold)
            plan_fold(p, out, from->fold);
        for (uint32_t k = 0; k < from->nodes.count; k++) {
            if (k == from->n_where)
                out->n_where = out->n_steps;
            plan_node(p, out, from->nodes.items[k]);
        }
        if (from->n_where == from->nodes.count)
            out->n_where = out->n_steps;
    }
}

/* ---- loads ----------------------------------------------------------------------------------- */

char *pixel_address(const stage_memory *s, int rank, const int64_t *index)
{
    char *at = s->data;
    for (int k = 0; k < rank; k++)
        at += (ptrdiff_t)(index[k] - s->lo[k]) * s->stride[k];
    return at;
}

static void text_coords(text *out, const int64_t *coords, int rank)
{
    text_string(out, "(");
    for (int k = 0; k < rank; k++)
        text_printf(out, "%s%lld", k ? ", " : "", (long long)coords[k]);
    text_string(out, ")");
}

static void report_outside(plan *p, const tensor_node *load, const int64_t *index)
{
    const tensor_pipe *pipe = p->run->pipe;
    const tensor_stage *reader = stage_at(pipe, p->stage), *source = stage_at(pipe, load->payload);
    const stage_memory *s = &p->run->stages[load->payload];
    text *out = p->run->problem;
    p->run->failed = true;
    if (!out)
        return;
    text_printf(out, "stage `%s` at ", reader->name);
    text_coords(out, p->coords, reader->rank);
    text_printf(out, " reads `%s` at ", source->name);
    text_coords(out, index, source->rank);
    text_string(out, ", outside ");
    for (int k = 0; k < source->rank; k++)
        text_printf(out, "%s%d..%lld", k ? ", " : "", s->lo[k], (long long)s->lo[k] + s->extent[k] - 1);
    text_string(out, "\n");
}

/* x is asked first: an axis that supplies a value settles it, and the others aren't asked. */
static void run_load(plan *p, const step *step)
{
    const tensor_pipe *pipe = p->run->pipe;
    const tensor_node *n = step->node;
    pixel *out = &p->slots[step->slot];
    const stage_memory *s = &p->run->stages[n->payload];
    type stored = stage_at(pipe, n->payload)->type;
    int rank = stage_at(pipe, n->payload)->rank, next_outside = rank;
    int64_t index[TENSOR_MAX_RANK];
    for (int k = 0; k < rank; k++)
        index[k] = p->slots[step->args[k]].lane[0].i;
    for (int k = 0; k < rank; k++) {
        int64_t lo = s->lo[k], hi = lo + s->extent[k] - 1;
        bool inside = index[k] >= lo && index[k] <= hi;
        if (n->border[k] == BORDER_value) {
            uint32_t outside = step->args[next_outside++];
            if (inside)
                continue;
            *out = p->slots[outside];
            return;
        }
        if (!inside && (n->border[k] == BORDER_none || s->extent[k] == 0)) {
            report_outside(p, n, index);
            return;
        }
        index[k] = border_map(n->border[k], index[k], lo, hi);
    }
    const char *at = pixel_address(s, rank, index);
    int n_bytes = encoded_bytes(s->encoding, stored.kind);
    for (int lane = 0; lane < stored.lanes; lane++) {
        cell value = cell_decode(p->run->how, s->encoding, stored.kind, at + lane * n_bytes);
        out->lane[lane] = cell_cast(p->run->how, value, stored.kind, n->type.kind);
    }
}

/* ---- folds ----------------------------------------------------------------------------------- */

static void run_steps(plan *p, const plan_scope *scope, uint32_t from, uint32_t to);

static void set_binders(plan *p, const plan_scope *scope, const int64_t *at)
{
    for (int k = 0; k < scope->fold->n_binders; k++)
        if (scope->binder_slots[k] != BODY_NONE)
            p->slots[scope->binder_slots[k]].lane[0].i = at[k];
}

/* The next element, last binder fastest; false after the last. */
static bool advance(const plan *p, const plan_scope *scope, int64_t *at)
{
    for (int k = scope->fold->n_binders; k-- > 0;) {
        if (++at[k] <= p->slots[scope->hi[k]].lane[0].i)
            return true;
        at[k] = p->slots[scope->lo[k]].lane[0].i;
    }
    return false;
}

static void keep_element(plan *p, const pixel *element)
{
    if (p->n_kept == p->room) {
        size_t larger = p->room ? 2 * p->room : 256;
        pixel *moved = ARENA_ARRAY(p->run->memory, pixel, larger);
        if (p->room)
            memcpy(moved, p->elements, sizeof *moved * p->n_kept);
        p->elements = moved;
        p->sorted = ARENA_ARRAY(p->run->memory, double, larger);
        p->room = larger;
    }
    p->elements[p->n_kept++] = *element;
}

static int compare_i64(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* NaN last. */
static int compare_double(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    if (isnan(x) || isnan(y))
        return isnan(x) - isnan(y);
    return (x > y) - (x < y);
}

/* Any float is a double, so both arithmetics sort doubles. */
static cell median_of_lane(plan *p, kind k, int lane, const pixel *elements, size_t count)
{
    double *reals = p->sorted;
    int64_t *whole = (int64_t *)(void *)reals;
    bool floating = kind_is_float(k), written = p->run->how.as_written;
    size_t middle = (count - 1) / 2;
    for (size_t i = 0; i < count; i++) {
        cell c = elements[i].lane[lane];
        if (floating)
            reals[i] = (written ? c.d : (double)c.f) + 0.0;          /* -0 is 0 here */
        else
            whole[i] = c.i;
    }
    qsort(reals, count, sizeof *reals, floating ? compare_double : compare_i64);
    if (!floating)
        return (cell){ .i = whole[middle] };
    return written ? (cell){ .d = reals[middle] } : (cell){ .f = (float)reals[middle] };
}

static void finish_median(plan *p, size_t first, const plan_scope *scope, pixel *acc)
{
    type t = node_type(p->run->pipe, scope->fold->init[0]);
    for (int lane = 0; p->n_kept > first && lane < t.lanes; lane++)
        acc->lane[lane] = median_of_lane(p, t.kind, lane, p->elements + first, p->n_kept - first);
    p->n_kept = first;
}

static void run_element(plan *p, const plan_scope *scope, pixel *acc)
{
    const tensor_fold *fold = scope->fold;
    for (int k = 0; k < fold->n_accs; k++)
        if (scope->acc_slots[k] != BODY_NONE)
            p->slots[scope->acc_slots[k]] = acc[k];
    run_steps(p, scope, 0, scope->n_where);
    if (scope->where != BODY_NONE && !p->slots[scope->where].lane[0].i)
        return;
    run_steps(p, scope, scope->n_where, scope->n_steps);
    if (fold->form == FOLD_median) {
        keep_element(p, &p->slots[scope->next[0]]);
        return;
    }
    for (int k = 0; k < fold->n_accs; k++)
        acc[k] = p->slots[scope->next[k]];
}

static void run_fold(plan *p, const plan_scope *scope)
{
    const tensor_fold *fold = scope->fold;
    pixel acc[TENSOR_MAX_ACCS];
    int64_t at[TENSOR_MAX_BINDERS];
    bool nothing = false;
    size_t first = p->n_kept;
    for (int k = 0; k < fold->n_accs; k++)
        acc[k] = p->slots[scope->init[k]];
    for (int k = 0; k < fold->n_binders; k++) {
        at[k] = p->slots[scope->lo[k]].lane[0].i;
        nothing = nothing || p->slots[scope->hi[k]].lane[0].i < at[k];
    }
    if (!nothing)
        do {
            set_binders(p, scope, at);
            run_element(p, scope, acc);
        } while (!p->run->failed && advance(p, scope, at));
    if (fold->form == FOLD_median)
        finish_median(p, first, scope, &acc[0]);
    for (int k = 0; k < fold->n_accs; k++)
        if (scope->results[k] != BODY_NONE)
            p->slots[scope->results[k]] = acc[k];
}

/* ---- pixels ---------------------------------------------------------------------------------- */

static void run_steps(plan *p, const plan_scope *scope, uint32_t from, uint32_t to)
{
    const run *run = p->run;
    for (uint32_t k = from; k < to && !run->failed; k++) {
        const step *s = &scope->steps[k];
        if (s->scope != BODY_NONE) {
            run_fold(p, &p->scopes[s->scope]);
            continue;
        }
        if (s->node->op == OP_load) {
            run_load(p, s);
            continue;
        }
        const pixel *args[TENSOR_MAX_LANES];
        for (int a = 0; a < s->node->n_args; a++)
            args[a] = &p->slots[s->args[a]];
        node_evaluate(run->how, s->node, s->from, args, &p->slots[s->slot]);
    }
}

static void store(plan *p, uint32_t slot)
{
    run *run = p->run;
    const stage_memory *s = &run->stages[p->stage];
    type t = stage_at(run->pipe, p->stage)->type;
    char *at = pixel_address(s, stage_at(run->pipe, p->stage)->rank, p->coords);
    int n_bytes = encoded_bytes(s->encoding, t.kind);
    for (int lane = 0; lane < t.lanes; lane++)
        cell_encode(run->how, s->encoding, t.kind, p->slots[slot].lane[lane], at + lane * n_bytes);
}

void run_stage(run *r, uint32_t s)
{
    const tensor_stage *stage = stage_at(r->pipe, s);
    const stage_memory *memory = &r->stages[s];
    body_clear(&r->body);
    body_add(&r->body, stage->body);
    plan p = { .run = r, .stage = s };
    plan_scopes(&p);
    for (int k = 0; k < TENSOR_MAX_RANK; k++) {
        p.coords[k] = memory->lo[k];
        if (memory->extent[k] == 0)
            return;
    }
    for (;;) {
        for (int k = 0; k < TENSOR_MAX_RANK; k++)
            if (p.coord_slots[k] != BODY_NONE)
                p.slots[p.coord_slots[k]].lane[0].i = p.coords[k];
        run_steps(&p, &p.scopes[0], 0, p.scopes[0].n_steps);
        if (r->failed)
            return;
        store(&p, slot_of(&p, stage->body));
        int k = 0;
        while (k < TENSOR_MAX_RANK && ++p.coords[k] == (int64_t)memory->lo[k] + memory->extent[k]) {
            p.coords[k] = memory->lo[k];
            k++;
        }
        if (k == TENSOR_MAX_RANK)
            return;
    }
}
