/* SPDX-License-Identifier: MIT
 * The value of one op on one component, generated from ops.def: what the constant folder and the reference interpreter
 * compute with, and so what every backend is compared with. Conversions to and from f16 are whole-number arithmetic: they
 * give the same bits with any compiler and processor. */
#include "lowering/scalar.h"

#include <assert.h>

#include "lowering/half.h"
#include "lowering/tensor.h"

/* ---- float for `real` ------------------------------------------------------------------------ */

typedef float real;

static float real_abs(float a) { return fabsf(a); }
static float real_floor(float a) { return floorf(a); }
static float real_ceil(float a) { return ceilf(a); }
static float real_trunc(float a) { return truncf(a); }
static float real_round(float a) { return rintf(a); }
static float real_sqrt(float a) { return sqrtf(a); }
static float real_fma(float a, float b, float c) { return fmaf(a, b, c); }

/* Not contracted: the build pins -ffp-contract=off, and the product is stored to say so here too. */
static float real_muladd(float a, float b, float c)
{
    float product = a * b;
    return product + c;
}

static float real_mod(float a, float b)
{
    float product = b * floorf(a / b);
    return a - product;
}

/* Only IR before the define pass `expand` has these; good to about half an ulp. */
#define THROUGH_DOUBLE(name) static float real_##name(float a) { return (float)name((double)a); }
THROUGH_DOUBLE(exp)
THROUGH_DOUBLE(exp2)
THROUGH_DOUBLE(log)
THROUGH_DOUBLE(log2)
THROUGH_DOUBLE(sin)
THROUGH_DOUBLE(cos)
THROUGH_DOUBLE(tan)
THROUGH_DOUBLE(asin)
THROUGH_DOUBLE(acos)
THROUGH_DOUBLE(atan)
THROUGH_DOUBLE(sinh)
THROUGH_DOUBLE(cosh)
THROUGH_DOUBLE(tanh)
THROUGH_DOUBLE(cbrt)
static float real_pow(float a, float b) { return (float)pow((double)a, (double)b); }
static float real_atan2(float a, float b) { return (float)atan2((double)a, (double)b); }

/* ---- ops ------------------------------------------------------------------------------------- */

static scalar evaluate_floating(tensor_op op, real a, real b, real c)
{
    (void)c;
    switch (op) {
#define OP(name, arity, class, integer, floating, meaning)                       \
    case OP_##name:                                                              \
        return CLASS_##class == CLASS_CMP ? (scalar){ .i = (int64_t)(floating) } \
                                          : (scalar){ .f = (real)(floating) };
#include "lowering/ops.def"
#undef OP
    default:
        return (scalar){ 0 };
    }
}

static int64_t evaluate_integer(tensor_op op, int64_t a, int64_t b)
{
    switch (op) {
#define OP(name, arity, class, integer, floating, meaning) case OP_##name: return (integer);
#include "lowering/ops.def"
#undef OP
    default:
        return 0;
    }
}

scalar op_evaluate(tensor_op op, kind k, const scalar *args)
{
    int arity = op_get(op)->arity;
    scalar zero = { 0 };
    scalar a = args[0], b = arity > 1 ? args[1] : zero, c = arity > 2 ? args[2] : zero;
    if (kind_is_float(k))
        return evaluate_floating(op, a.f, b.f, c.f);
    scalar value = { .i = evaluate_integer(op, a.i, b.i) };
    return op_get(op)->class == CLASS_CMP ? value : wrap_evaluate(value, k);
}

/* ---- conversions ----------------------------------------------------------------------------- */

float    f32_to_f16_and_back(float a) { return half_rounded(a); }
uint16_t f16_bits_of_f32(float a) { return half_of_float(a); }
float    f32_of_f16_bits(uint16_t bits) { return float_of_half(bits); }

static int64_t saturate(int64_t value, kind to)
{
    const kind_info *info = kind_get(to);
    return value < info->lowest ? info->lowest : value > info->highest ? info->highest : value;
}

/* Of the kinds only i64's bounds aren't doubles; its upper one rounds to 2^63, which is already outside. */
static int64_t saturate_real(double value, kind to)
{
    const kind_info *info = kind_get(to);
    double rounded = rint(value);
    if (isnan(rounded))
        return 0;
    if (rounded <= (double)info->lowest)
        return info->lowest;
    return rounded >= (double)info->highest ? info->highest : (int64_t)rounded;
}

scalar cast_evaluate(scalar a, kind from, kind to)
{
    if (to == KIND_bool)
        return (scalar){ .i = kind_is_float(from) ? a.f != 0 : a.i != 0 };
    if (kind_is_float(to)) {
        float value = kind_is_float(from) ? a.f : (float)a.i;
        return (scalar){ .f = to == KIND_f16 ? f32_to_f16_and_back(value) : value };
    }
    return (scalar){ .i = kind_is_float(from) ? saturate_real((double)a.f, to) : saturate(a.i, to) };
}

scalar wrap_evaluate(scalar a, kind to)
{
    const kind_info *info = kind_get(to);
    if (info->bits == 64)
        return a;
    uint64_t low = (uint64_t)a.i & (((uint64_t)1 << info->bits) - 1);
    bool negative = info->class == 'I' && (low >> (info->bits - 1)) != 0;
    return (scalar){ .i = negative ? (int64_t)low - ((int64_t)1 << info->bits) : (int64_t)low };
}

scalar scalar_of_bits(kind k, uint32_t bits)
{
    if (kind_is_float(k))
        return (scalar){ .f = float_of_bits(bits) };
    return (scalar){ .i = kind_get(k)->class == 'I' ? (int64_t)(int32_t)bits : (int64_t)bits };
}

uint32_t bits_of_scalar(kind k, scalar a)
{
    return kind_is_float(k) ? float_bits(a.f) : (uint32_t)a.i;
}

/* ---- whole numbers for every layer ------------------------------------------------------------- */

int64_t floor_div_i64(int64_t a, int64_t b)
{
    return floor_div(a, b);
}

int64_t border_map(border mode, int64_t index, int64_t lo, int64_t hi)
{
    int64_t n = hi - lo + 1, i = index - lo, m;
    assert(n > 0);
    if (i >= 0 && i < n)
        return index;
    switch (mode) {
    case BORDER_edge:
        return i < 0 ? lo : hi;
    case BORDER_reflect:
        m = floor_mod(i, 2 * n);
        return lo + (m < n ? m : 2 * n - 1 - m);
    case BORDER_reflect101:
        if (n == 1)
            return lo;
        m = floor_mod(i, 2 * (n - 1));
        return lo + (m < n ? m : 2 * (n - 1) - m);
    case BORDER_wrap:
        return lo + floor_mod(i, n);
    default:
        return index;
    }
}
