/* SPDX-License-Identifier: MIT
 * Exact pass `reciprocals`: divisions by constants become products where that gives every bit.
 *
 * By a power of two always: both results are the rounded value of the same real number. By another constant c when what is divided
 * is a whole number in a small range, with a correction by the remainder, which fma has exactly:
 *     q = x * r,  r = 1 / c rounded;   q + (x - q * c) * r
 * Whether that is x / c for every x of the range is not argued but tried out (it was for every 8- and 16-bit number and every
 * constant that came by). A division takes a processor as long as ten such operations.
 * Not under strict and no_fma, where processors without fma have to do. Keeps every bit. */
#include <math.h>

#include "lowering/access.h"
#include "lowering/pass.h"
#include "lowering/ranges.h"
#include "lowering/tensor_build.h"

enum { MOST = 65536, MOST_TRIED = 256 };      /* magnitudes; constants that are tried out */

typedef struct trial { float divisor; int32_t lo, hi; bool good; } trial;

typedef struct division { uint32_t stage; ref node; uint8_t how; } division;

typedef struct divider {
    tensor_pipe *pipe;
    ranges       known;
    bool         has_ranges;
    uint32_t     stage, n_nodes;          /* the one at hand; nodes that there were in the beginning */
    LIST(division) divisions;             /* that are to be products, by stage */
    uint8_t     *how;                     /* per node of the body at hand: 1 a product, 2 with a correction */
    LIST(trial)  trials;
} divider;

/* ---- which divisions ---------------------------------------------------------------------------------- */

/* The divisor, when it is the same constant for all components. */
static bool constant_divisor(const tensor_pipe *p, ref r, float *divisor)
{
    uint32_t bits, other;
    for (int lane = 0; lane < node_type(p, r).lanes; lane++) {
        if (!lane_bits(p, r, lane, lane ? &other : &bits) || (lane && other != bits)) return false;
    }
    *divisor = scalar_of_bits(KIND_f32, bits).f;
    return true;
}

static bool is_power_of_two(float c)
{
    int exponent;
    return isfinite(c) && frexpf(fabsf(c), &exponent) == 0.5f && exponent > -120 && exponent < 120;
}

/* A number that was an integer: it is no NaN and no -0. */
static bool integer_range(divider *d, ref r, int32_t *lo, int32_t *hi)
{
    tensor_pipe *p = d->pipe;
    if (node_at(p, r)->op != OP_cast) return false;
    ref from = node_arg(p, r, 0);
    kind k = (kind)node_type(p, from).kind;
    if (!kind_is_integer(k) || k == KIND_i64) return false;
    range of = kind_range(k);
    if (kind_get(k)->bits > 16) {
        if (!d->has_ranges) ranges_begin(&d->known, p->memory, p);
        if (!d->has_ranges || d->known.stage != d->stage) ranges_enter(&d->known, d->stage);
        d->has_ranges = true;
        of = node_range(&d->known, from);
    }
    if (!(of.lo >= -MOST && of.hi <= MOST)) return false;
    *lo = (int32_t)of.lo;
    *hi = (int32_t)of.hi;
    return true;
}

static float corrected(float x, float c, float r)
{
    float q = x * r;
    return fmaf(fmaf(q, -c, x), r, q);
}

/* Every number of the range, once for a constant. */
static bool holds_everywhere(divider *d, float c, int32_t lo, int32_t hi)
{
    for (uint32_t k = 0; k < d->trials.count; k++) {
        const trial *t = &d->trials.items[k];
        if (t->divisor == c && t->lo <= lo && hi <= t->hi && (t->good || (t->lo == lo && t->hi == hi))) return t->good;
    }
    if (d->trials.count >= MOST_TRIED) return false;
    float r = 1 / c;
    bool good = isnormal(c) && isnormal(r);
    for (int32_t x = lo; x <= hi && good; x++) good = corrected((float)x, c, r) == (float)x / c;
    trial t = { c, lo, hi, good };
    LIST_PUSH(d->pipe->memory, d->trials, t);
    return good;
}

static uint8_t way_of(divider *d, ref r)
{
    tensor_pipe *p = d->pipe;
    float c;
    int32_t lo, hi;
    if (node_at(p, r)->op != OP_div || node_is_uniform(p, r) || !constant_divisor(p, node_arg(p, r, 1), &c)) return 0;
    if (is_power_of_two(c)) return 1;
    return !rounds_products(p) && integer_range(d, node_arg(p, r, 0), &lo, &hi) && holds_everywhere(d, c, lo, hi) ? 2 : 0;
}

/* ---- doing it --------------------------------------------------------------------------------------------- */

static ref divide(rewriter *w, ref r, const ref *args)
{
    const divider *d = w->user;
    tensor_pipe *p = w->pipe;
    float c;
    if (!args || r >= d->n_nodes || !d->how[r] || !constant_divisor(p, args[1], &c)) return 0;
    int lanes = node_type(p, r).lanes;
    ref reciprocal = tensor_splat(p, tensor_f32(p, 1 / c), lanes), q = tensor_op2(p, OP_mul, args[0], reciprocal);
    if (d->how[r] == 1) return q;
    ref rest = tensor_op3(p, OP_fma, q, tensor_splat(p, tensor_f32(p, -c), lanes), args[0]);
    return tensor_op3(p, OP_fma, rest, reciprocal, q);
}

static void find_divisions(divider *d, uint32_t stage)
{
    tensor_pipe *p = d->pipe;
    ref body = stage_at(p, stage)->body;
    ref_list nodes = { 0 };
    d->stage = stage;
    reached_nodes(p, p->memory, &body, 1, &nodes);
    for (uint32_t k = 0; k < nodes.count; k++) {
        division found = { stage, nodes.items[k], way_of(d, nodes.items[k]) };
        if (found.how) LIST_PUSH(p->memory, d->divisions, found);
    }
}

/* The divisions first..end - 1 are all of one stage. */
static void divide_stage(divider *d, uint32_t first, uint32_t end)
{
    tensor_pipe *p = d->pipe;
    uint32_t stage = d->divisions.items[first].stage;
    rewriter w;
    for (uint32_t k = first; k < end; k++) d->how[d->divisions.items[k].node] = d->divisions.items[k].how;
    rewriter_begin(&w, p, NULL, d);
    w.rebuild = divide;
    ref body = rewrite(&w, stage_at(p, stage)->body);
    stage_at(p, stage)->body = body;
    for (uint32_t k = first; k < end; k++) d->how[d->divisions.items[k].node] = 0;
}

/* The stages are looked at first and rewritten after: ranges know the pipe as it was. */
bool pass_reciprocals(tensor_pipe *p)
{
    divider d = { .pipe = p, .n_nodes = p->nodes.count };
    for (uint32_t s = 1; s < p->stages.count; s++)
        if (stage_at(p, s)->kind == STAGE_compute) find_divisions(&d, s);
    d.how = ARENA_ARRAY(p->memory, uint8_t, d.n_nodes);
    for (uint32_t k = 0, end; k < d.divisions.count; k = end) {
        for (end = k; end < d.divisions.count && d.divisions.items[end].stage == d.divisions.items[k].stage;) end++;
        divide_stage(&d, k, end);
    }
    return d.divisions.count > 0;
}
