/* SPDX-License-Identifier: MIT
 * The uniform program of a run: what depends on sizes and parameters alone. The values are those of lowering/scalar.c to the bit,
 * from the same table, but without a library: rounding, square root and fma are a few lines here. */
#ifndef HALO_BACKENDS_VULKAN_DRIVER_VALUES_H
#define HALO_BACKENDS_VULKAN_DRIVER_VALUES_H

#include "backends/vulkan/plan.h"
#include "lowering/half.h"
#include "lowering/scalar.h"

typedef union value { int64_t i; float f; } value;      /* f for f16 and f32 */

#define OP(name, arity, class, integer, floating, meaning) VALUE_OP_##name,
enum { VALUE_OP_none,
#include "lowering/ops.def"
};
#undef OP

#define KIND(name, bytes, class, bits, lowest, highest) VALUE_KIND_##name,
enum {
#include "lowering/types.def"
};
#undef KIND

typedef struct value_kind { char class; int32_t bytes, bits; int64_t lowest, highest; } value_kind;

static inline value_kind value_kind_of(int32_t kind)
{
#define KIND(name, bytes, class, bits, lowest, highest) { #class[0], bytes, bits, lowest, highest },
    static const value_kind all[] = {
#include "lowering/types.def"
    };
#undef KIND
    return all[kind];
}

static inline int value_is_float(int32_t kind) { return kind == VALUE_KIND_f32 || kind == VALUE_KIND_f16; }

/* ---- float for `real` ------------------------------------------------------------------------------ */

typedef float real;

static inline float real_abs(float a) { return float_of_bits(float_bits(a) & 0x7fffffffu); }
static inline float real_muladd(float a, float b, float c) { float product = a * b; return product + c; }

static inline float real_signed_as(float magnitude, float a)
{
    return float_of_bits(float_bits(magnitude) | (float_bits(a) & 0x80000000u));
}

/* From 2^23 on all floats are whole numbers; NaN stays too. */
static inline float real_trunc(float a) { return real_abs(a) < 0x1p23f ? real_signed_as((float)(int32_t)real_abs(a), a) : a; }
static inline float real_floor(float a) { float t = real_trunc(a); return t > a ? t - 1 : t; }
static inline float real_ceil(float a) { return -real_floor(-a); }

static inline float real_round(float a)      /* adding 2^23 rounds to a whole number, half to even */
{
    float magnitude = real_abs(a), shifted = magnitude + 0x1p23f;
    return magnitude < 0x1p23f ? real_signed_as(shifted - 0x1p23f, a) : a;
}

static inline float real_sqrt(float a)
{
#if defined(__x86_64__)
    float root;
    __asm__("sqrtss %1, %0" : "=x"(root) : "x"(a));
    return root;
#else
    return __builtin_sqrtf(a);
#endif
}

static inline float real_mod(float a, float b)
{
    float product = b * real_floor(a / b);
    return a - product;
}

/* The product is exact in double. The total is rounded to odd there, after which rounding to float is as if there had been no
 * rounding before (Boldo and Melquiond, Emulation of FMA and correctly rounded sums, 2008). */
static inline float real_fma(float a, float b, float c)
{
    double product = (double)a * (double)b, total = product + (double)c, part = total - product;
    double error = (product - (total - part)) + ((double)c - part);
    union { double d; uint64_t bits; } odd = { total };
    if ((error < 0 || error > 0) && !(odd.bits & 1)) odd.bits += (error > 0) == (total > 0) ? 1 : (uint64_t)-1;
    return (float)odd.d;
}

/* ---- one op ---------------------------------------------------------------------------------------- */

/* Operations that no plan has (EXP was expanded) or that are done below (TYP, STR) have no case here. */
#define VALUE_F_NUM(name, e) case VALUE_OP_##name: out.f = (real)(e); break;
#define VALUE_F_SEL VALUE_F_NUM
#define VALUE_F_INT VALUE_F_NUM
#define VALUE_F_FLT VALUE_F_NUM
#define VALUE_F_CMP(name, e) case VALUE_OP_##name: out.i = (e); break;
#define VALUE_F_LOG(name, e)
#define VALUE_F_EXP(name, e)
#define VALUE_F_TYP(name, e)
#define VALUE_F_STR(name, e)

static inline value value_of_floats(int32_t op, float a, float b, float c)
{
    value out = { 0 };
    switch (op) {
#define OP(name, arity, class, integer, floating, meaning) VALUE_F_##class(name, floating)
#include "lowering/ops.def"
#undef OP
    default: break;
    }
    return out;
}

static inline int64_t value_of_integers(int32_t op, int64_t a, int64_t b)
{
    switch (op) {
#define OP(name, arity, class, integer, floating, meaning) case VALUE_OP_##name: return (integer);
#include "lowering/ops.def"
#undef OP
    default: return 0;
    }
}

static inline int value_op_compares(int32_t op)
{
    return op == VALUE_OP_eq || op == VALUE_OP_ne || op == VALUE_OP_lt || op == VALUE_OP_le;
}

static inline value value_wrapped(value a, int32_t to)
{
    value_kind k = value_kind_of(to);
    if (k.bits == 64) return a;
    uint64_t low = (uint64_t)a.i & (((uint64_t)1 << k.bits) - 1);
    int negative = k.class == 'I' && low >> (k.bits - 1) != 0;
    return (value){ .i = negative ? (int64_t)low - ((int64_t)1 << k.bits) : (int64_t)low };
}

/* To the nearest integer of the kind; only i64's bounds aren't doubles, and its upper one rounds to 2^63, which is outside. */
static inline int64_t value_saturated_real(double a, value_kind k)
{
    if (a != a) return 0;
    double magnitude = a < 0 ? -a : a, shifted = magnitude + 0x1p52;
    if (magnitude < 0x1p52) a = a < 0 ? -(shifted - 0x1p52) : shifted - 0x1p52;
    if (a <= (double)k.lowest) return k.lowest;
    return a >= (double)k.highest ? k.highest : (int64_t)a;
}

static inline value value_cast(value a, int32_t from, int32_t to)
{
    value_kind k = value_kind_of(to);
    if (to == VALUE_KIND_bool) return (value){ .i = value_is_float(from) ? a.f != 0 : a.i != 0 };
    if (value_is_float(to)) {
        float f = value_is_float(from) ? a.f : (float)a.i;
        return (value){ .f = to == VALUE_KIND_f16 ? half_rounded(f) : f };
    }
    if (value_is_float(from)) return (value){ .i = value_saturated_real((double)a.f, k) };
    return (value){ .i = a.i < k.lowest ? k.lowest : a.i > k.highest ? k.highest : a.i };
}

static inline value value_of_bits(int32_t kind, uint32_t bits)
{
    if (value_is_float(kind)) return (value){ .f = float_of_bits(bits) };
    return (value){ .i = value_kind_of(kind).class == 'I' ? (int64_t)(int32_t)bits : (int64_t)bits };
}

static inline uint32_t value_bits(int32_t kind, value a) { return value_is_float(kind) ? float_bits(a.f) : (uint32_t)a.i; }

/* ---- parameters ------------------------------------------------------------------------------------- */

/* A component of the params struct; nothing there need be aligned. */
static inline value value_of_parameter(const vplan_param *p, const void *params, int lane)
{
    value_kind k = value_kind_of(p->kind);
    const unsigned char *at = (const unsigned char *)params + p->offset + lane * k.bytes;
    uint32_t bits = 0;
    for (int j = 0; j < k.bytes; j++) bits |= (uint32_t)at[j] << 8 * j;
    if (p->kind == VALUE_KIND_bool) return (value){ .i = bits != 0 };
    if (p->kind == VALUE_KIND_f16) return (value){ .f = float_of_half((uint16_t)bits) };
    if (p->kind == VALUE_KIND_f32) return (value){ .f = float_of_bits(bits) };
    return value_wrapped((value){ .i = bits }, p->kind);
}

static inline double value_double(const int32_t words[2])
{
    union { uint64_t bits; double d; } same = { (uint64_t)(uint32_t)words[1] << 32 | (uint32_t)words[0] };
    return same.d;
}

static inline int value_in_range(const vplan_param *p, value v)      /* NaN is outside */
{
    double lo = value_double(p->lo), hi = value_double(p->hi);
    if (value_is_float(p->kind)) return (double)v.f >= lo && (p->half_open ? (double)v.f < hi : (double)v.f <= hi);
    return v.i >= (int64_t)lo && (p->half_open ? v.i < (int64_t)hi : v.i <= (int64_t)hi);
}

/* ---- the program ------------------------------------------------------------------------------------ */

typedef struct value_source { const vplan_param *params; const void *struct_of_params; const int32_t *dims; } value_source;

static inline value value_of_instruction(const vplan_instruction *n, const value_source *from, const value *v)
{
    switch (n->op) {
    case VALUE_OP_const:   return value_of_bits(n->kind, (uint32_t)n->a);
    case VALUE_OP_param:   return value_of_parameter(&from->params[n->a], from->struct_of_params, n->b);
    case VALUE_OP_dim:     return (value){ .i = from->dims[n->a] };
    case VALUE_OP_select:  return v[n->a].i ? v[n->b] : v[n->c];
    case VALUE_OP_cast:    return value_cast(v[n->a], n->from, n->kind);
    case VALUE_OP_wrap:    return value_wrapped(v[n->a], n->kind);
    case VALUE_OP_bitcast: return value_of_bits(n->kind, value_bits(n->from, v[n->a]));
    default: break;
    }
    int compares = value_op_compares(n->op);
    if (value_is_float(compares ? n->from : n->kind)) return value_of_floats(n->op, v[n->a].f, v[n->b].f, v[n->c].f);
    value out = { .i = value_of_integers(n->op, v[n->a].i, v[n->b].i) };
    return compares ? out : value_wrapped(out, n->kind);
}

#endif
