/* SPDX-License-Identifier: MIT
 * Kernels of known values: is the matrix of weights a column times a row, exactly?
 *
 * Every weight is an odd integer times a power of two, so products compare exactly. The row is made primitive (its odd parts
 * without a common factor, its smallest power 2^0); by Gauss's lemma the column then is a vector of such numbers too, if there
 * is one. Both must fit the weights' kind, so nothing is rounded: w + 1e-7 somewhere, and the kernel stays whole. */
#include <math.h>
#include <stdlib.h>

#include "lowering/separate.h"

typedef struct dyadic { int64_t odd; int exponent; } dyadic;         /* odd * 2^exponent; odd is 0 for 0 */

static dyadic dyadic_of(kind k, scalar value)
{
    dyadic d = { 0, 0 };
    if (kind_is_float(k)) {
        d.odd = (int64_t)ldexpf(frexpf(value.f, &d.exponent), 24);
        d.exponent -= 24;
    } else {
        d.odd = value.i;
    }
    if (d.odd == 0) return (dyadic){ 0, 0 };
    for (; d.odd % 2 == 0; d.odd /= 2) d.exponent++;
    return d;
}

/* False when the kind can't hold it. */
static bool scalar_of(kind k, dyadic d, scalar *value)
{
    if (!kind_is_float(k)) {
        if (d.exponent < 0 || d.exponent > 31) return false;
        value->i = (int64_t)((uint64_t)d.odd << d.exponent);
        return wrap_evaluate(*value, k).i == value->i;
    }
    double exact = ldexp((double)d.odd, d.exponent);
    value->f = (float)exact;
    return (double)value->f == exact && llabs(d.odd) < 1 << 24;
}

static int64_t common_divisor(int64_t a, int64_t b)
{
    a = llabs(a);
    b = llabs(b);
    while (b) {
        int64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

/* ---- the matrix of weights -------------------------------------------------------------------------- */

typedef struct matrix { kind k; int lanes, width, height; int32_t x_lo, y_lo; dyadic *at; } matrix;   /* at[(y * width + x) * lanes + lane] */

static bool binder_range(const convolution *c, int binder, int32_t *lo, int *count)
{
    const tensor_fold *f = fold_at(c->pipe, c->fold);
    int64_t first, last;
    if (!node_is_const(c->pipe, f->lo[binder], &first) || !node_is_const(c->pipe, f->hi[binder], &last)) return false;
    if (last < first || last - first >= 65536) return false;
    *lo = (int32_t)first;
    *count = (int)(last - first + 1);
    return true;
}

/* The weight with what stands between the kernel and the product: conversions. */
static scalar weight_value(const convolution *c, const uint32_t *words, int64_t pixel, int lane, int lanes)
{
    kind k = stage_at(c->pipe, c->kernel)->type.kind;
    scalar value = scalar_of_bits(k, words[pixel * lanes + lane]);
    kind chain[16];
    int n = 0;
    for (ref r = c->weight; n < 16; r = node_arg(c->pipe, r, 0)) {
        if (node_at(c->pipe, r)->op == OP_cast) chain[n++] = node_type(c->pipe, r).kind;
        if (r == c->weight_load) {
            chain[n++] = node_type(c->pipe, r).kind;
            break;
        }
    }
    while (n-- > 0) {
        value = cast_evaluate(value, k, chain[n]);
        k = chain[n];
    }
    return value;
}

static bool read_matrix(const convolution *c, matrix *m)
{
    tensor_pipe *p = c->pipe;
    if (!binder_range(c, c->x, &m->x_lo, &m->width) || !binder_range(c, c->y, &m->y_lo, &m->height)) return false;
    if ((int64_t)m->width * m->height > 65536) return false;
    const uint32_t *words = constant_words(p, c->kernel);
    if (!words) return false;
    int32_t lo[TENSOR_MAX_RANK], extent[TENSOR_MAX_RANK];
    constant_bounds(p, c->kernel, lo, extent);
    m->k = c->t.kind;
    m->lanes = stage_at(p, c->kernel)->type.lanes;
    m->at = ARENA_ARRAY(p->memory, dyadic, (size_t)m->width * m->height * m->lanes);
    for (int k = 0; k < m->width * m->height; k++) {
        int64_t binder[2], index[2];
        binder[c->x] = m->x_lo + k % m->width;
        binder[c->y] = m->y_lo + k / m->width;
        for (int d = 0; d < 2; d++) {
            const linear *form = &c->kernel_index[d];
            index[d] = form->constant + form->terms[0].coefficient * binder[c->kernel_binder[d]] - lo[d];
            if (index[d] < 0 || index[d] >= extent[d]) return false;
        }
        for (int lane = 0; lane < m->lanes; lane++) {
            scalar value = weight_value(c, words, index[1] * extent[0] + index[0], lane, m->lanes);
            if (kind_is_float(m->k) && !isfinite(value.f)) return false;
            m->at[k * m->lanes + lane] = dyadic_of(m->k, value);
        }
    }
    return true;
}

static dyadic weight_at(const matrix *m, int x, int y, int lane) { return m->at[(y * m->width + x) * m->lanes + lane]; }

/* ---- its rank ----------------------------------------------------------------------------------------- */

static bool products_agree(dyadic a, dyadic b, dyadic c, dyadic d)
{
    if (a.odd == 0 || b.odd == 0 || c.odd == 0 || d.odd == 0) return (a.odd == 0 || b.odd == 0) && (c.odd == 0 || d.odd == 0);
    return (__int128)a.odd * b.odd == (__int128)c.odd * d.odd && a.exponent + b.exponent == c.exponent + d.exponent;
}

/* Weights of one lane as row[x] * column[y]. */
static bool factor_lane(const matrix *m, int lane, scalar *row, scalar *column)
{
    int px = -1, py = -1;
    for (int k = 0; k < m->width * m->height && px < 0; k++)
        if (weight_at(m, k % m->width, k / m->width, lane).odd) { px = k % m->width; py = k / m->width; }
    if (px < 0) return true;                                   /* all zero: both stay 0 */
    dyadic pivot = weight_at(m, px, py, lane);
    int64_t divisor = 0;
    int smallest = INT32_MAX;
    for (int x = 0; x < m->width; x++) {
        dyadic w = weight_at(m, x, py, lane);
        divisor = common_divisor(divisor, w.odd);
        if (w.odd && w.exponent < smallest) smallest = w.exponent;
    }
    for (int x = 0; x < m->width; x++) {
        dyadic w = weight_at(m, x, py, lane), part = { w.odd / divisor, w.odd ? w.exponent - smallest : 0 };
        if (!scalar_of(m->k, part, &row[x * m->lanes + lane])) return false;
        for (int y = 0; y < m->height; y++)
            if (!products_agree(weight_at(m, x, y, lane), pivot, w, weight_at(m, px, y, lane))) return false;
    }
    int64_t pivot_part = pivot.odd / divisor;
    for (int y = 0; y < m->height; y++) {
        dyadic w = weight_at(m, px, y, lane), part = { w.odd / pivot_part, w.odd ? w.exponent - (pivot.exponent - smallest) : 0 };
        if (w.odd % pivot_part || !scalar_of(m->k, part, &column[y * m->lanes + lane])) return false;
    }
    return true;
}

static int nonzero(kind k, const scalar *v, int count, int lanes)
{
    int n = 0;
    for (int i = 0; i < count; i++) {
        bool any = false;
        for (int lane = 0; lane < lanes; lane++) any = any || dyadic_of(k, v[i * lanes + lane]).odd;
        n += any;
    }
    return n;
}

static int nonzero_taps(const matrix *m)
{
    int n = 0;
    for (int k = 0; k < m->width * m->height; k++) {
        bool any = false;
        for (int lane = 0; lane < m->lanes; lane++) any = any || m->at[k * m->lanes + lane].odd;
        n += any;
    }
    return n;
}

static ref vector_read(const convolution *c, const matrix *m, const scalar *values, int32_t lo, int32_t count)
{
    tensor_pipe *p = c->pipe;
    uint32_t *words = ARENA_ARRAY(p->memory, uint32_t, (size_t)count * m->lanes);
    for (int k = 0; k < count * m->lanes; k++) words[k] = bits_of_scalar(m->k, values[k]);
    const char *name = tensor_unique_name(p, stage_at(p, c->kernel)->name);
    type t = type_of(m->k, m->lanes);
    uint32_t table = tensor_table_new(p, name, t, 1, &lo, &count, words, stage_at(p, c->kernel)->where);
    ref index = tensor_coord(p, 0);
    return tensor_load(p, table, &index, NULL, NULL, t);
}

bool factor_constant(const convolution *c, const constant_stages *constant, factors *out)
{
    matrix m = { 0 };
    if (c->kernel >= constant->count || !constant->known[c->kernel] || !read_matrix(c, &m)) return false;
    scalar *row = ARENA_ARRAY(c->pipe->memory, scalar, (size_t)m.width * m.lanes);
    scalar *column = ARENA_ARRAY(c->pipe->memory, scalar, (size_t)m.height * m.lanes);
    for (int lane = 0; lane < m.lanes; lane++)
        if (!factor_lane(&m, lane, row, column)) return false;
    int n_row = nonzero(m.k, row, m.width, m.lanes), n_column = nonzero(m.k, column, m.height, m.lanes);
    if (n_row == 0 || !fewer_taps(c, n_row, n_column, nonzero_taps(&m))) return false;
    out->x = vector_read(c, &m, row, m.x_lo, m.width);
    out->y = vector_read(c, &m, column, m.y_lo, m.height);
    return true;
}
