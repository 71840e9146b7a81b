/* SPDX-License-Identifier: MIT
 * Every op on every kind, every conversion, as a device computes them, against the interpreter's values bit for bit. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "support_bench.h"

#include "lowering/scalar.h"
#include "lowering/tensor_build.h"

/* ---- ops --------------------------------------------------------------------------------------------------- */

static bool has_op(tensor_op op, kind k)
{
    op_class c = op_get(op)->class;
    return c <= CLASS_LOG && class_takes(c, k);
}

static kind result_of(tensor_op op, kind k)
{
    return op_get(op)->class == CLASS_CMP ? KIND_bool : k;
}

/* `fixed`: operand that is `value` for all invocations; -1: none. */
static void add_op(bench *b, tensor_op op, int fixed, scalar value)
{
    kind k = b->o->k, result = result_of(op, k);
    spv_id args[3];
    memcpy(args, b->args, sizeof args);
    char name[96];
    snprintf(name, sizeof name, fixed < 0 ? "%s.%s" : "%s.%s with operand %d 0x%x", op_get(op)->name, kind_get(k)->name, fixed,
             fixed < 0 ? 0 : bits_of_scalar(k, value));
    if (fixed >= 0) args[fixed] = shader_constant(b->m, k, bits_of_scalar(k, value));
    uint64_t *wanted = bench_add(b, result, shader_op(b->m, b->zero, op, k, args), name);
    for (int j = 0; j < N_OPERANDS; j++) {
        scalar v[3] = { b->o->values[0][j], b->o->values[1][j], b->o->values[2][j] };
        if (fixed >= 0) v[fixed] = value;
        wanted[j] = bits_of_value(result, op_evaluate(op, k, v));
    }
}

/* x - x is NaN for infinities, and x < x is false. */
static void add_op_on_itself(bench *b, tensor_op op)
{
    kind k = b->o->k, result = result_of(op, k);
    char name[96];
    snprintf(name, sizeof name, "%s.%s of one operand", op_get(op)->name, kind_get(k)->name);
    spv_id args[3] = { b->args[0], b->args[0], b->args[0] };
    uint64_t *wanted = bench_add(b, result, shader_op(b->m, b->zero, op, k, args), name);
    for (int j = 0; j < N_OPERANDS; j++) {
        scalar a = b->o->values[0][j];
        wanted[j] = bits_of_value(result, op_evaluate(op, k, (scalar[]){ a, a, a }));
    }
}

static void run_ops(fixture *f, kind k)
{
    arena *memory = arena_new(NULL);
    bench *b = bench_new(f, memory, k, 0);
    for (int op = 1; op < OP_COUNT; op++) {
        if (!has_op((tensor_op)op, k)) continue;
        add_op(b, (tensor_op)op, -1, (scalar){ 0 });
        add_op_on_itself(b, (tensor_op)op);
    }
    bench_run(b);
    arena_free(memory);
}

static void every_op_on_every_kind(void **state)
{
    fixture *f = *state;
    if (!f->is_open) skip();
    for (int k = 0; k < KIND_COUNT; k++) if (k != KIND_i64 || f->device.int64) run_ops(f, (kind)k);
}

/* Literals, which compilers of drivers love to fold. */
static void literal_operands(void **state)
{
    fixture *f = *state;
    if (!f->is_open) skip();
    static const float reals[] = { 0, -0.0f, 1, -1, 2, 0.5f, INFINITY, NAN, 255 };
    static const int64_t wholes[] = { 0, 1, -1, 2, 8, 3, -5, 31, 32, INT32_MIN, INT32_MAX };
    for (int k = 0; k < KIND_COUNT; k++) {
        if (k == KIND_bool || k == KIND_f16 || k == KIND_i64) continue;
        arena *memory = arena_new(NULL);
        bench *b = bench_new(f, memory, (kind)k, 0);
        size_t n = k == KIND_f32 ? sizeof reals / sizeof *reals : sizeof wholes / sizeof *wholes;
        for (int op = 1; op < OP_COUNT; op++)
            for (size_t j = 0; has_op((tensor_op)op, (kind)k) && op != OP_fma && op_get((tensor_op)op)->arity == 2 && j < n; j++)
                for (int fixed = 0; fixed < 2; fixed++)
                    add_op(b, (tensor_op)op, fixed, k == KIND_f32 ? (scalar){ .f = reals[j] } :
                        wrap_evaluate((scalar){ .i = wholes[j] }, (kind)k));
        bench_run(b);
        arena_free(memory);
    }
}

/* ---- conversions --------------------------------------------------------------------------------------------- */

static void add_conversion(bench *b, const char *what, kind to, spv_id value, scalar (*meaning)(scalar, kind, kind))
{
    char name[96];
    snprintf(name, sizeof name, "%s %s to %s", what, kind_get(b->o->k)->name, kind_get(to)->name);
    uint64_t *wanted = bench_add(b, to, value, name);
    for (int j = 0; j < N_OPERANDS; j++) wanted[j] = bits_of_value(to, meaning(b->o->values[0][j], b->o->k, to));
}

static scalar wrap_meaning(scalar a, kind from, kind to)
{
    (void)from;
    return wrap_evaluate(a, to);
}

static scalar bitcast_meaning(scalar a, kind from, kind to)
{
    return scalar_of_bits(to, bits_of_scalar(from, a));
}

static uint32_t memory_bits(scalar a, kind k)
{
    uint32_t bits = bits_of_scalar(k, a), n = kind_get(k)->n_bytes;
    if (k == KIND_f16) return f16_bits_of_f32(a.f);
    return n < 4 ? bits & ((1u << 8 * n) - 1) : bits;
}

/* To memory; and back. */
static void add_memory(bench *b)
{
    kind k = b->o->k;
    char name[96];
    snprintf(name, sizeof name, "to memory %s", kind_get(k)->name);
    spv_id stored = shader_to_memory(b->m, b->args[0], k);
    uint64_t *wanted = bench_add(b, KIND_u32, stored, name);
    for (int j = 0; j < N_OPERANDS; j++) {
        wanted[j] = memory_bits(b->o->values[0][j], k);
        if (k == KIND_f32) continue;
        if (k == KIND_f16 && isnan(b->o->values[0][j].f)) wanted[j] =
            (bits_of_scalar(k, b->o->values[0][j]) >> 16 & 0x8000) | 0x7e00;
    }
    snprintf(name, sizeof name, "through memory %s", kind_get(k)->name);
    wanted = bench_add(b, k, shader_from_memory(b->m, stored, k), name);
    for (int j = 0; j < N_OPERANDS; j++) wanted[j] = bits_of_value(k, b->o->values[0][j]);
}

static void add_conversions(bench *b, bool int64)
{
    kind k = b->o->k;
    bool is_word = k == KIND_i32 || k == KIND_u32 || k == KIND_f32;
    for (int to = 0; to < KIND_COUNT; to++) {
        if (to == KIND_i64 && !int64) continue;
        add_conversion(b, "cast", (kind)to, shader_cast(b->m, b->args[0], k, (kind)to), cast_evaluate);
        if (!kind_is_float(k) && !kind_is_float(to)) add_conversion(b, "wrap", (kind)to, shader_wrap(b->m, b->args[0], k, (kind)to),
            wrap_meaning);
        if (is_word && (to == KIND_i32 || to == KIND_u32 || to == KIND_f32))
            add_conversion(b, "bitcast", (kind)to, shader_bitcast(b->m, b->args[0], k, (kind)to), bitcast_meaning);
    }
    if (k != KIND_i64) add_memory(b);
}

static void every_conversion(void **state)
{
    fixture *f = *state;
    if (!f->is_open) skip();
    for (int k = 0; k < KIND_COUNT; k++) {
        if (k == KIND_i64 && !f->device.int64) continue;
        arena *memory = arena_new(NULL);
        bench *b = bench_new(f, memory, (kind)k, 0);
        add_conversions(b, f->device.int64);
        bench_run(b);
        arena_free(memory);
    }
}

/* All bit patterns of halves, as memory has them. */
static void every_half(void **state)
{
    fixture *f = *state;
    if (!f->is_open) skip();
    arena *memory = arena_new(NULL);
    bench *b = bench_new(f, memory, KIND_u32, 0);
    for (uint32_t part = 0; part < 65536 / N_OPERANDS; part++) {
        spv_id bits = spirv_op2(b->m, SpvOpIAdd, spirv_type_u32(b->m), b->at, spirv_u32(b->m, part * N_OPERANDS));
        spv_id value = shader_from_memory(b->m, bits, KIND_f16);
        uint64_t *wanted = bench_add(b, KIND_f32, value, "half from memory");
        for (uint32_t j = 0; j < N_OPERANDS; j++) wanted[j] =
            bits_of_scalar(KIND_f32, (scalar){ .f = f32_of_f16_bits((uint16_t)(part * N_OPERANDS + j)) });
        wanted = bench_add(b, KIND_u32, shader_to_memory(b->m, value, KIND_f16), "half to memory");
        for (uint32_t j = 0; j < N_OPERANDS; j++) wanted[j] = f16_bits_of_f32(f32_of_f16_bits((uint16_t)(part * N_OPERANDS + j)));
    }
    bench_run(b);
    arena_free(memory);
}

/* ---- traps -------------------------------------------------------------------------------------------------- */

static spv_id op1(bench *b, tensor_op op, spv_id a)
{
    return shader_op(b->m, b->zero, op, KIND_f32, &a);
}

static spv_id op2(bench *b, tensor_op op, spv_id x, spv_id y)
{
    return shader_op(b->m, b->zero, op, KIND_f32, (spv_id[]){ x, y });
}

/* What drivers were seen to get wrong: each takes -0 for 0 somewhere, or forgets NaN. */
static void traps(void **state)
{
    fixture *f = *state;
    if (!f->is_open) skip();
    arena *memory = arena_new(NULL);
    bench *b = bench_new(f, memory, KIND_f32, 0);
    spv_id x = b->args[0], y = b->args[1], less = op2(b, OP_lt, x, y), f32 = spirv_type_f32(b->m);
    spv_id nothing = shader_hidden(b->m, b->zero, spirv_f32(b->m, 0)), minus = spirv_f32(b->m, 0xbf800000u);
    uint64_t *root = bench_add(b, KIND_f32, op1(b, OP_abs, op1(b, OP_sqrt, x)), "|sqrt x|");
    uint64_t *sign = bench_add(b, KIND_f32, spirv_op3(b->m, SpvOpSelect, f32, less, nothing, minus), "x < y ? 0 : -1");
    spv_id not_less = shader_op(b->m, b->zero, OP_not, KIND_bool, &less);
    uint64_t *other = bench_add(b, KIND_f32, spirv_op3(b->m, SpvOpSelect, f32, not_less, y, x), "not (x < y) ? y : x");
    spv_id picked = spirv_op3(b->m, SpvOpSelect, f32, less, nothing, y);
    uint64_t *product = bench_add(b, KIND_f32, op2(b, OP_mul, x, picked), "x * (x < y ? 0 : y)");
    for (int j = 0; j < N_OPERANDS; j++) {
        float p = b->o->values[0][j].f, q = b->o->values[1][j].f;
        root[j] = bits_of_scalar(KIND_f32, (scalar){ .f = fabsf(sqrtf(p)) });
        sign[j] = bits_of_scalar(KIND_f32, (scalar){ .f = p < q ? 0.0f : -1.0f });
        other[j] = bits_of_scalar(KIND_f32, (scalar){ .f = !(p < q) ? q : p });
        product[j] = bits_of_scalar(KIND_f32, (scalar){ .f = p * (p < q ? 0.0f : q) });
    }
    bench_run(b);
    arena_free(memory);
}

/* Sums that cancel, results that underflow: the random operands of several seeds. */
static void fused_products(void **state)
{
    fixture *f = *state;
    if (!f->is_open) skip();
    for (uint64_t seed = 1; seed <= 8; seed++) {
        arena *memory = arena_new(NULL);
        bench *b = bench_new(f, memory, KIND_f32, seed << 32);
        for (int j = 0; seed > 1 && j < N_OPERANDS; j++) bench_randomize(b, j);
        add_op(b, OP_fma, -1, (scalar){ 0 });
        bench_run(b);
        arena_free(memory);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_op_on_every_kind), cmocka_unit_test(literal_operands), cmocka_unit_test(every_conversion),
            cmocka_unit_test(every_half),
        cmocka_unit_test(traps), cmocka_unit_test(fused_products),
    };
    return cmocka_run_group_tests(tests, open_device, close_device);
}
