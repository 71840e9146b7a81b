/* SPDX-License-Identifier: MIT
 * How far reads reach, relative to the tile. For a fused stage this is a proof: wherever the tile lies, and whatever the border
 * maps make of the indices, the pixels that are read lie within the interval. Maps other than wrap bring two indices no farther
 * apart, so an interval is mapped to one that is no longer; it may only move, by as much as a reader's pixels can lie outside
 * of the producer, which has to be known when compiling. Where parameters say how far, their ranges do. */
#include "backends/vulkan/schedule.h"

#include <string.h>

#include "lowering/ranges.h"

#define X(name, text) text,
static const char *const CUT_TEXTS[] = { VULKAN_CUTS(X) };
#undef X

const char *vulkan_cut_text(vulkan_cut why) { return CUT_TEXTS[why]; }

enum { FARTHEST_REACH = 4096 };

static int64_t floor_quotient(int64_t a, int64_t b) { return a / b - (a % b != 0 && (a < 0) != (b < 0)); }

/* ---- bounds of differences ------------------------------------------------------------------------------- */

/* What is sought: the most that form / scale can be, its terms coming down to a constant. Every step replaces one atom by something
 * that is no less:
 *     k * (e // q)   between  k / q * (e - q + 1)  and  k / q * e     (first the form times q, where q doesn't divide k)
 *     min(a, b)      either of them where it counts upwards; downwards both are tried, and the greater result is it; max likewise
 *     others         the end of their range, where parameters bound them */
typedef struct bound { vulkan_schedule *s; tensor_pipe *pipe; linear form; int64_t scale; int steps; } bound;

enum { MOST_STEPS = 24, MOST_SCALE = 1 << 16 };

static bool most_of(bound b, int64_t *most);

static bool is_solvable(const tensor_pipe *p, ref atom)
{
    const tensor_node *n = node_at(p, atom);
    int64_t q;
    if (n->op == OP_floordiv) return node_is_const(p, node_arg(p, atom, 1), &q) && q > 0;
    return n->op == OP_min || n->op == OP_max;
}

/* The form with `instead` times the coefficient in the place of term `at`. */
static bool replaced(bound *b, int at, int32_t coefficient, ref instead)
{
    tensor_pipe *p = b->pipe;
    linear rest = b->form;
    memmove(&rest.terms[at], &rest.terms[at + 1], sizeof rest.terms[0] * (size_t)(rest.n_terms - at - 1));
    rest.n_terms--;
    ref product = tensor_op2(p, OP_mul, instead, tensor_i32(p, coefficient));
    return linear_of(p, tensor_op2(p, OP_add, product, linear_build(p, &rest)), &b->form);
}

/* Times q it is still far from what 32 bits hold. */
static bool scales(const linear *form, int64_t q)
{
    int64_t most = INT32_MAX / 4 / q;
    for (int k = 0; k < form->n_terms; k++) if (form->terms[k].coefficient > most || form->terms[k].coefficient < -most) return false;
    return form->constant <= most && form->constant >= -most;
}

static bool most_through_division(bound b, int at, int64_t *most)
{
    ref atom = b.form.terms[at].atom;
    int64_t q = 1;
    node_is_const(b.pipe, node_arg(b.pipe, atom, 1), &q);
    if (b.form.terms[at].coefficient % q != 0) {
        if (b.scale * q > MOST_SCALE || !scales(&b.form, q)) return false;
        b.scale *= q;
        b.form.constant *= (int32_t)q;
        for (int k = 0; k < b.form.n_terms; k++) b.form.terms[k].coefficient *= (int32_t)q;
    }
    int32_t factor = (int32_t)(b.form.terms[at].coefficient / q);
    if (factor < 0) b.form.constant += (int32_t)(-factor * (q - 1));
    return replaced(&b, at, factor, node_arg(b.pipe, atom, 0)) && most_of(b, most);
}

static bool most_through_choice(bound b, int at, int64_t *most)
{
    ref atom = b.form.terms[at].atom;
    int32_t coefficient = b.form.terms[at].coefficient;
    bool either = (node_at(b.pipe, atom)->op == OP_min) == (coefficient > 0), known[2];
    int64_t each[2];
    for (int k = 0; k < 2; k++) {
        bound one = b;
        known[k] = replaced(&one, at, coefficient, node_arg(b.pipe, atom, k)) && most_of(one, &each[k]);
    }
    if (!known[0] && !known[1]) return false;
    if (!either && !(known[0] && known[1])) return false;
    *most = !known[1] || (known[0] && (each[0] < each[1]) == either) ? each[0] : each[1];
    return true;
}

/* What a uniform number lies between, where that isn't far apart. */
static bool bounded_values(vulkan_schedule *s, ref r, int64_t *lo, int64_t *hi)
{
    range v = uniform_range(s->memory, s->pipe, r);
    if (v.maybe_nan || v.lo < -FARTHEST_REACH || v.hi > FARTHEST_REACH) return false;
    *lo = (int64_t)v.lo;
    *hi = (int64_t)v.hi;
    return true;
}

static bool most_through_range(bound b, int at, int64_t *most)
{
    int64_t lo, hi;
    int32_t coefficient = b.form.terms[at].coefficient;
    if (!bounded_values(b.s, b.form.terms[at].atom, &lo, &hi)) return false;
    return replaced(&b, at, coefficient, tensor_i32(b.pipe, (int32_t)(coefficient > 0 ? hi : lo))) && most_of(b, most);
}

static bool most_of(bound b, int64_t *most)
{
    if (b.form.n_terms == 0) {
        *most = floor_quotient(b.form.constant, b.scale);
        return true;
    }
    if (++b.steps > MOST_STEPS) return false;
    for (int k = 0; k < b.form.n_terms; k++) {
        if (!is_solvable(b.pipe, b.form.terms[k].atom)) continue;
        bool divides = node_at(b.pipe, b.form.terms[k].atom)->op == OP_floordiv;
        return divides ? most_through_division(b, k, most) : most_through_choice(b, k, most);
    }
    return most_through_range(b, 0, most);
}

static bool most_difference(vulkan_schedule *s, ref above, ref below, int64_t *most)
{
    bound b = { .s = s, .pipe = s->pipe, .scale = 1 };
    return linear_of(s->pipe, tensor_op2(s->pipe, OP_sub, above, below), &b.form) && most_of(b, most);
}

/* (p * at + shift) // q */
static ref index_at(tensor_pipe *p, const vulkan_reach *r, ref at, ref shift)
{
    ref product = tensor_op2(p, OP_mul, at, tensor_i32(p, r->p));
    return tensor_normalize(p, tensor_op2(p, OP_floordiv, tensor_op2(p, OP_add, product, shift), tensor_i32(p, r->q)));
}

/* How far the mapped interval can lie above (below) the unmapped one. False: unknown. */
static bool moves(vulkan_schedule *s, const tensor_stage *reader, const tensor_stage *producer, const vulkan_reach *r,
                  int64_t *below, int64_t *above)
{
    tensor_pipe *p = s->pipe;
    ref first_lo = index_at(p, r, reader->lo[r->axis], r->lo), first_hi = index_at(p, r, reader->lo[r->axis], r->hi);
    ref last_lo = index_at(p, r, reader->hi[r->axis], r->lo), last_hi = index_at(p, r, reader->hi[r->axis], r->hi);
    ref lo = producer->lo[r->axis], hi = producer->hi[r->axis];
    *below = *above = 0;
    if (r->border == BORDER_none) return true;
    if (r->border == BORDER_reflect || r->border == BORDER_reflect101) {
        ref twice_lo = tensor_op2(p, OP_add, lo, lo), twice_hi = tensor_op2(p, OP_add, hi, hi);
        if (!most_difference(s, twice_lo, tensor_op2(p, OP_add, first_lo, first_hi), above)
            || !most_difference(s, tensor_op2(p, OP_add, last_lo, last_hi), twice_hi, below)) return false;
    } else if (!most_difference(s, lo, first_hi, above) || !most_difference(s, last_lo, hi, below)) {
        return false;
    }
    if (*above < 0) *above = 0;
    if (*below < 0) *below = 0;
    return true;
}

/* ---- intervals ------------------------------------------------------------------------------------------------ */

static int64_t common_divisor(int64_t a, int64_t b) { return b ? common_divisor(b, a % b) : a; }

static vulkan_cut span_through(vulkan_schedule *s, const vulkan_kernel *k, const vulkan_reach *r, vulkan_span *out)
{
    tensor_pipe *p = s->pipe;
    const vulkan_stage *reader = &k->stages.items[r->reader];
    int64_t lo, hi, below, above, ignored;
    if (!bounded_values(s, r->lo, &lo, &ignored) || !bounded_values(s, r->hi, &ignored, &hi)) return VULKAN_CUT_reach;
    tensor_stage a = *stage_at(p, reader->stage), b = *stage_at(p, r->stage);
    if (!moves(s, &a, &b, r, &below, &above)) return VULKAN_CUT_far;
    const vulkan_span *from = &reader->span[r->axis];
    vulkan_span to = { r->p * from->p, r->q * from->q, 0, 0 };
    to.low = r->p * from->low + from->q * (lo - (r->q - 1)) - below * to.q;
    to.high = r->p * from->high + from->q * hi + above * to.q;
    int64_t g = common_divisor(to.p, to.q);
    to = (vulkan_span){ to.p / g, to.q / g, floor_quotient(to.low, g), -floor_quotient(-to.high, g) };
    if (to.p > 256 || to.q > 256 || to.low < -FARTHEST_REACH * to.q || to.high > FARTHEST_REACH * to.q) return VULKAN_CUT_far;
    *out = to;
    return VULKAN_CUT_none;
}

static bool is_map(uint8_t border) { return border == BORDER_edge || border == BORDER_reflect || border == BORDER_reflect101; }

vulkan_cut vulkan_span_of(vulkan_schedule *s, const vulkan_kernel *k, int producer, vulkan_span span[2])
{
    uint8_t border[2] = { BORDER_none, BORDER_none };
    bool seen[2] = { false, false };
    span[0] = span[1] = (vulkan_span){ 0, 1, 0, 0 };         /* an axis that the stage doesn't have */
    for (uint32_t j = 0; j < k->reaches.count; j++) {
        const vulkan_reach *r = &k->reaches.items[j];
        if (r->producer != producer) continue;
        vulkan_span own, *all = &span[r->axis];
        vulkan_cut why = span_through(s, k, r, &own);
        if (why != VULKAN_CUT_none) return why;
        if (is_map(r->border)) {
            if (is_map(border[r->axis]) && border[r->axis] != r->border) return VULKAN_CUT_borders;
            border[r->axis] = r->border;
        }
        if (seen[r->axis] && (own.p != all->p || own.q != all->q)) return VULKAN_CUT_slopes;
        if (!seen[r->axis]) *all = own;
        if (own.low < all->low) all->low = own.low;
        if (own.high > all->high) all->high = own.high;
        seen[r->axis] = true;
    }
    return VULKAN_CUT_none;
}

/* ---- reads of a kernel ------------------------------------------------------------------------------------------ */

static void add_reach(vulkan_schedule *s, vulkan_kernel *k, vulkan_reach r)
{
    tensor_pipe *p = s->pipe;
    for (uint32_t j = 0; j < k->reaches.count; j++) {
        vulkan_reach *o = &k->reaches.items[j];
        bool same = o->reader == r.reader && o->stage == r.stage && o->axis == r.axis && o->border == r.border;
        if (!same || o->p != r.p || o->q != r.q) continue;
        o->lo = tensor_op2(p, OP_min, o->lo, r.lo);
        o->hi = tensor_op2(p, OP_max, o->hi, r.hi);
        return;
    }
    LIST_PUSH(s->memory, k->reaches, r);
}

static int position_of(const vulkan_kernel *k, uint32_t stage)
{
    for (uint32_t j = 0; j < k->stages.count; j++) if (k->stages.items[j].stage == stage && !k->stages.items[j].sink) return (int)j;
    return -1;
}

void vulkan_find_reaches(vulkan_schedule *s, vulkan_kernel *k)
{
    tensor_pipe *p = s->pipe;
    k->reaches.count = 0;
    for (uint32_t j = 0; j < k->stages.count; j++) {
        const ref_list *loads = loads_of_stage(p, &s->loads, k->stages.items[j].stage);
        for (uint32_t i = 0; i < loads->count; i++) {
            ref load = loads->items[i];
            tensor_node n = *node_at(p, load);
            if (stage_at(p, n.payload)->kind == STAGE_table) continue;
            for (int d = 0; d < 2 && d < stage_at(p, n.payload)->rank; d++) {
                index_form form;
                index_form_of(p, &s->all, 0, load_index(p, load, d), &form);
                if (form.kind != INDEX_affine || form.dimension != d) continue;
                while (s->follows.count <= load) LIST_PUSH(s->memory, s->follows, 0);
                s->follows.items[load] |= (uint8_t)(1 << d);
                add_reach(s, k, (vulkan_reach){ (int)j, position_of(k, n.payload), n.payload, d,
                                                form.p, form.q, form.lo, form.hi, n.border[d] });
            }
        }
    }
}

/* ---- one load ------------------------------------------------------------------------------------------------------ */

vulkan_cut vulkan_load_tiles(vulkan_schedule *s, uint32_t reader, ref load)
{
    tensor_pipe *p = s->pipe;
    tensor_node n = *node_at(p, load);
    int rank = stage_at(p, n.payload)->rank;
    if (rank == 0 || rank != stage_at(p, reader)->rank) return VULKAN_CUT_rank;
    for (int d = 0; d < rank; d++) {
        ref index = load_index(p, load, d);
        if (d >= 2) {
            const tensor_node *i = node_at(p, index);
            const tensor_stage *a = stage_at(p, reader), *b = stage_at(p, n.payload);
            if (i->op != OP_coord || i->index != d || a->lo[d] != b->lo[d] || a->hi[d] != b->hi[d]) return VULKAN_CUT_rank;
            continue;
        }
        index_form form;
        index_form_of(p, &s->all, 0, index, &form);
        if (form.kind != INDEX_affine || form.dimension != d) return VULKAN_CUT_gather;
        if (n.border[d] == BORDER_wrap) return VULKAN_CUT_wrap;
    }
    return VULKAN_CUT_none;
}

int vulkan_pixel_words(type t)
{
    int bits = kind_get((kind)t.kind)->n_bytes * 8;
    return (bits * t.lanes + 31) / 32;
}
