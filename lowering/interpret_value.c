/* SPDX-License-Identifier: MIT
 * One op on one pixel, in either arithmetic. The double column of ops.def is instantiated here, the float one in scalar.c. */
#include "lowering/interpret_value.h"

#include <math.h>
#include <string.h>

#include "lowering/scalar.h"

/* ---- double for `real` ------------------------------------------------------------------------ */

typedef double real;

static double real_mod(double a, double b) { return a - b * floor(a / b); }
static double real_muladd(double a, double b, double c) { return a * b + c; }
#define real_abs   fabs
#define real_floor floor
#define real_ceil  ceil
#define real_trunc trunc
#define real_round rint
#define real_sqrt  sqrt
#define real_fma   fma
#define real_exp   exp
#define real_exp2  exp2
#define real_log   log
#define real_log2  log2
#define real_pow   pow
#define real_sin   sin
#define real_cos   cos
#define real_tan   tan
#define real_asin  asin
#define real_acos  acos
#define real_atan  atan
#define real_atan2 atan2
#define real_sinh  sinh
#define real_cosh  cosh
#define real_tanh  tanh
#define real_cbrt  cbrt

static cell evaluate_double(tensor_op op, real a, real b, real c)
{
    switch (op) {
#define OP(name, arity, class, integer, floating, meaning)                     \
    case OP_##name:                                                            \
        return CLASS_##class == CLASS_CMP ? (cell){ .i = (int64_t)(floating) } \
                                          : (cell){ .d = (real)(floating) };
#include "lowering/ops.def"
#undef OP
    default:
        return (cell){ 0 };
    }
}

/* ---- conversions ----------------------------------------------------------------------------- */

static scalar scalar_of(kind k, cell a)
{
    return kind_is_float(k) ? (scalar){ .f = a.f } : (scalar){ .i = a.i };
}

static cell cell_of(kind k, scalar a)
{
    return kind_is_float(k) ? (cell){ .f = a.f } : (cell){ .i = a.i };
}

cell cell_of_bits(arithmetic how, kind k, uint32_t bits)
{
    scalar value = scalar_of_bits(k, bits);
    return how.as_written && kind_is_float(k) ? (cell){ .d = (double)value.f } : cell_of(k, value);
}

/* As written, reals keep what they have until an output stores them; only whole numbers are made of them here. */
static cell cast_written(cell a, kind from, kind to)
{
    if (!kind_is_float(from))
        return kind_is_float(to) ? (cell){ .d = (double)a.i } : cell_of(to, cast_evaluate((scalar){ .i = a.i }, from, to));
    if (kind_is_float(to))
        return a;
    if (to == KIND_bool)
        return (cell){ .i = a.d != 0 };
    const kind_info *info = kind_get(to);
    double rounded = rint(a.d);
    if (isnan(rounded))
        return (cell){ .i = 0 };
    if (rounded <= (double)info->lowest)
        return (cell){ .i = info->lowest };
    return (cell){ .i = rounded >= (double)info->highest ? info->highest : (int64_t)rounded };
}

cell cell_cast(arithmetic how, cell a, kind from, kind to)
{
    if (from == to)
        return a;
    return how.as_written ? cast_written(a, from, to) : cell_of(to, cast_evaluate(scalar_of(from, a), from, to));
}

static cell bitcast(arithmetic how, cell a, kind from, kind to)
{
    if (how.as_written && kind_is_float(from))
        a.f = (float)a.d;
    return cell_of_bits(how, to, bits_of_scalar(from, scalar_of(from, a)));
}

static cell convert(arithmetic how, tensor_op op, cell a, kind from, kind to)
{
    switch (op) {
    case OP_cast: return cell_cast(how, a, from, to);
    case OP_wrap: return cell_of(to, wrap_evaluate((scalar){ .i = a.i }, to));
    default:      return bitcast(how, a, from, to);
    }
}

/* ---- ops ------------------------------------------------------------------------------------- */

/* What `contract` will make of a muladd is what it means: one rounding, or two under strict. */
static void evaluate_lanes(arithmetic how, tensor_op op, type from, const pixel *const *args, int arity, pixel *out)
{
    bool real64 = how.as_written && kind_is_float(from.kind);
    if (op == OP_muladd && !how.strict)
        op = OP_fma;
    for (int lane = 0; lane < from.lanes; lane++) {
        cell a[3] = { { 0 } };
        for (int k = 0; k < arity; k++)
            a[k] = args[k]->lane[lane];
        if (real64) {
            out->lane[lane] = evaluate_double(op, a[0].d, a[1].d, a[2].d);
            continue;
        }
        scalar values[3];
        for (int k = 0; k < arity; k++)
            values[k] = scalar_of(from.kind, a[k]);
        scalar value = op_evaluate(op, from.kind, values);
        out->lane[lane] = op_get(op)->class == CLASS_CMP ? (cell){ .i = value.i } : cell_of(from.kind, value);
    }
}

void node_evaluate(arithmetic how, const tensor_node *n, type from, const pixel *const *args, pixel *out)
{
    int lanes = n->type.lanes;
    switch (n->op) {
    case OP_cast:
    case OP_wrap:
    case OP_bitcast:
        for (int lane = 0; lane < lanes; lane++)
            out->lane[lane] = convert(how, n->op, args[0]->lane[lane], from.kind, n->type.kind);
        return;
    case OP_select:
        for (int lane = 0; lane < lanes; lane++)
            out->lane[lane] = args[args[0]->lane[lane].i ? 1 : 2]->lane[lane];
        return;
    case OP_splat:
        for (int lane = 0; lane < lanes; lane++)
            out->lane[lane] = args[0]->lane[0];
        return;
    case OP_vec:
        for (int lane = 0; lane < lanes; lane++)
            out->lane[lane] = args[lane]->lane[0];
        return;
    case OP_comp:
        out->lane[0] = args[0]->lane[n->index];
        return;
    default:
        evaluate_lanes(how, n->op, from, args, n->n_args, out);
    }
}

/* ---- memory ---------------------------------------------------------------------------------- */

int encoded_bytes(encoding e, kind k)
{
    return e == ENCODING_double ? (int)sizeof(double) : kind_get(k)->n_bytes;
}

/* Bytes are copied, so alignment doesn't matter; the little end first, as every machine this runs on has it. */
cell cell_decode(arithmetic how, encoding e, kind k, const void *at)
{
    uint32_t word = 0;
    cell value = { 0 };
    if (e == ENCODING_double || k == KIND_i64) {
        memcpy(&value, at, sizeof value);
        return value;
    }
    const uint8_t *bytes = at;
    word = bytes[0];
    for (int b = 1; b < kind_get(k)->n_bytes; b++)
        word |= (uint32_t)bytes[b] << (8 * b);
    if (k == KIND_f16)
        word = bits_of_scalar(KIND_f32, (scalar){ .f = f32_of_f16_bits((uint16_t)word) });
    else if (k == KIND_bool)
        word = word != 0;
    else if (k == KIND_i8 || k == KIND_i16)
        word = bits_of_scalar(k, wrap_evaluate((scalar){ .i = word }, k));
    return cell_of_bits(how, k, word);
}

void cell_encode(arithmetic how, encoding e, kind k, cell value, void *at)
{
    if (e == ENCODING_double || k == KIND_i64) {
        memcpy(at, &value, sizeof value);
        return;
    }
    if (how.as_written && kind_is_float(k))
        value.f = (float)value.d;
    uint32_t word = k == KIND_f16 ? f16_bits_of_f32(value.f) : bits_of_scalar(k, scalar_of(k, value));
    memcpy(at, &word, kind_get(k)->n_bytes);
}
