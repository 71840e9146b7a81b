/* SPDX-License-Identifier: MIT
 * Every op on every kind, every conversion, as a device computes them, against the interpreter's values bit for bit (any NaN
 * equals any NaN). Operands are all pairs of special values, and random ones. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "device.h"
#include "support_spirv.h"

#include "backends/vulkan/emit_ops.h"
#include "lowering/scalar.h"

enum { N_OPERANDS = 8192, GROUP = 64, MOST_CASES = 1600, MOST_SPECIAL = 80 };

typedef struct fixture { test_device device; bool is_open; } fixture;

/* ---- operands --------------------------------------------------------------------------------------------- */

typedef struct operands { kind k; scalar values[3][N_OPERANDS]; } operands;

static uint64_t next_random(uint64_t *state)
{
    *state += 0x9e3779b97f4a7c15u;
    uint64_t z = *state;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

static float real_of(uint32_t bits)
{
    return scalar_of_bits(KIND_f32, bits).f;
}

static int special_reals(scalar *out)
{
    static const float list[] = { 0, 1, 0.5f, 1.5f, 2.5f, 0.1f, 3, 254.5f, 255.5f, 127.5f, 32767.5f, 65535.5f, 65504, 65519.996f,
        65520, 8388607.5f,
        8388608, 16777217, 0x1.fffffep30f, 0x1p31f, 0x1.fffffep31f, 0x1p32f, 0x1.fffffep62f, 0x1p63f, 1e20f, 1e-20f,
            0x1.fffffep127f, INFINITY, NAN,
        0x1p-24f, 0x1p-25f, 0x1.000002p-25f, 0x1.8p-24f, 0x1.ffcp-15f, 0x1.fffffep-15f, 0x1p-14f, 0x1p-126f, 0x1.fffffcp-127f,
            0x1p-149f };
    int n = 0;
    for (size_t k = 0; k < sizeof list / sizeof *list; k++) {
        out[n++].f = list[k];
        out[n++].f = -list[k];
    }
    return n;
}

static int special_wholes(kind k, scalar *out)
{
    static const int64_t list[] = { 0, 1, 2, 3, 7, 31, 32, 33, 63, 64, 100, 127, 128, 255, 256, 32767, 32768, 65535, 65536,
        16777217, INT32_MAX,
        (int64_t)INT32_MAX + 1, UINT32_MAX, (int64_t)1 << 40, 0x7fffff4000000001, 0x7fffffbfffffffff, INT64_MAX };
    int n = 0;
    for (size_t j = 0; j < sizeof list / sizeof *list; j++) {
        out[n++] = wrap_evaluate((scalar){ .i = list[j] }, k);
        out[n++] = wrap_evaluate((scalar){ .i = -list[j] }, k);
        out[n++] = wrap_evaluate((scalar){ .i = -list[j] - 1 }, k);
    }
    return n;
}

/* Numbers of all sizes, and now and then ones that f16 rounds in a tie. */
static scalar random_value(uint64_t *state, kind k)
{
    uint64_t bits = next_random(state);
    if (kind_is_float(k)) {
        float a = real_of((uint32_t)bits);
        if (bits >> 60 < 8) a = real_of(((uint32_t)bits & 0x80ffffffu) + 0x33000000u + (uint32_t)(bits >> 33 & 0x0fff0000u));
        if (bits >> 60 == 1) a = real_of(((uint32_t)bits & 0x80fff000u) + 0x38000000u);
        return (scalar){ .f = k == KIND_f16 ? f32_to_f16_and_back(a) : a };
    }
    int64_t whole = (int64_t)bits;
    return wrap_evaluate((scalar){ .i = whole >> (next_random(state) & 63) }, k);
}

/* What makes sums cancel: near minus the product. */
static float near_product(uint64_t *state, float a, float b)
{
    uint32_t bits = bits_of_scalar(KIND_f32, (scalar){ .f = -(a * b) });
    uint64_t r = next_random(state);
    if (r & 1) bits += (uint32_t)(r >> 8 & 7) - 3;
    if (r & 2) bits += (uint32_t)(r >> 16 & 63) << 23;
    if (r & 4) bits -= (uint32_t)(r >> 16 & 63) << 23;
    return real_of(r & 8 ? bits ^ 0x80000000u : bits);
}

static void fill_operands(operands *o, kind k)
{
    scalar special[MOST_SPECIAL + 20];
    int n = k == KIND_bool ? 2 : kind_is_float(k) ? special_reals(special) : special_wholes(k, special);
    if (k == KIND_bool) special[0].i = 0, special[1].i = 1;
    for (int j = 0; j < n && k == KIND_f16; j++) special[j].f = f32_to_f16_and_back(special[j].f);
    uint64_t state = (uint64_t)k;
    o->k = k;
    for (int j = 0; j < N_OPERANDS; j++) {
        bool paired = j < n * n;
        o->values[0][j] = paired ? special[j / n] : random_value(&state, k);
        o->values[1][j] = paired ? special[j % n] : random_value(&state, k);
        o->values[2][j] = next_random(&state) % 3 ? random_value(&state, k) : special[next_random(&state) % (uint64_t)n];
        if (kind_is_float(k) && next_random(&state) % 4) o->values[2][j].f =
            near_product(&state, o->values[0][j].f, o->values[1][j].f);
        if (k == KIND_f16) o->values[2][j].f = f32_to_f16_and_back(o->values[2][j].f);
    }
    assert_true(n * n <= N_OPERANDS);
}

static uint64_t bits_of_value(kind k, scalar v)
{
    return k == KIND_i64 ? (uint64_t)v.i : bits_of_scalar(k, v);
}

/* ---- a shader of many cases ---------------------------------------------------------------------------------- */

/* One value per invocation. `wanted`: 64 bits each. */
typedef struct test_case { char name[96]; kind k; uint64_t *wanted; } test_case;

typedef struct bench {
    fixture    *f;
    arena      *memory;
    spirv      *m;
    spv_buffer  in, out;
    spv_id      at, zero, args[3];
    operands   *o;
    test_case   cases[MOST_CASES];
    uint32_t    n_cases;
} bench;

/* Words of operand `which` are at 2 * (which * N + invocation). */
static spv_id operand(bench *b, int which)
{
    spv_id u32 = spirv_type_u32(b->m), one = spirv_u32(b->m, 1);
    spv_id first = spirv_op2(b->m, SpvOpIAdd, u32, b->at, spirv_u32(b->m, (uint32_t)which * N_OPERANDS));
    first = spirv_op2(b->m, SpvOpShiftLeftLogical, u32, first, one);
    spv_id word = spirv_buffer_load(b->m, b->in, first);
    if (kind_is_float(b->o->k)) return spirv_op1(b->m, SpvOpBitcast, spirv_type_f32(b->m), word);
    if (b->o->k == KIND_bool) return spirv_op2(b->m, SpvOpINotEqual, spirv_type_bool(b->m), word, spirv_u32(b->m, 0));
    if (b->o->k != KIND_i64) return word;
    spv_id u64 = spirv_type_u64(b->m), high = spirv_buffer_load(b->m, b->in, spirv_op2(b->m, SpvOpIAdd, u32, first, one));
    high = spirv_op2(b->m, SpvOpShiftLeftLogical, u64, spirv_op1(b->m, SpvOpUConvert, u64, high), spirv_u32(b->m, 32));
    return spirv_op2(b->m, SpvOpBitwiseOr, u64, high, spirv_op1(b->m, SpvOpUConvert, u64, word));
}

static bench *bench_new(fixture *f, arena *memory, kind k)
{
    bench *b = ARENA_NEW(memory, bench);
    *b = (bench){ .f = f, .memory = memory, .m = spirv_new(memory, false), .o = ARENA_NEW(memory, operands) };
    fill_operands(b->o, k);
    b->in = spirv_buffer(b->m, 0, 4, false, "in");
    b->out = spirv_buffer(b->m, 1, 4, true, "out");
    spv_id u32 = spirv_type_u32(b->m), group = spirv_built_in(b->m, SpvBuiltInWorkgroupId, 0);
    spv_id local = spirv_built_in(b->m, SpvBuiltInLocalInvocationIndex, 0);
    spirv_workgroup_size(b->m, 0, GROUP);
    b->at = spirv_op2(b->m, SpvOpIAdd, u32, spirv_op2(b->m, SpvOpIMul, u32, group, spirv_u32(b->m, GROUP)), local);
    b->zero = spirv_push_word(b->m, 0);
    for (int a = 0; a < 3; a++) b->args[a] = operand(b, a);
    return b;
}

static uint64_t *add_case(bench *b, kind k, spv_id value, const char *name)
{
    spirv *m = b->m;
    assert_true(b->n_cases < MOST_CASES);
    test_case *c = &b->cases[b->n_cases];
    c->k = k;
    snprintf(c->name, sizeof c->name, "%s", name);
    c->wanted = ARENA_ARRAY(b->memory, uint64_t, N_OPERANDS);
    spv_id u32 = spirv_type_u32(m), first = spirv_op2(m, SpvOpIAdd, u32, b->at, spirv_u32(m, b->n_cases * N_OPERANDS));
    first = spirv_op2(m, SpvOpShiftLeftLogical, u32, first, spirv_u32(m, 1));
    if (k == KIND_bool) value = spirv_op3(m, SpvOpSelect, u32, value, spirv_u32(m, 1), spirv_u32(m, 0));
    else if (kind_is_float(k)) value = spirv_op1(m, SpvOpBitcast, u32, value);
    if (k == KIND_i64) {
        spv_id high = spirv_op2(m, SpvOpShiftRightLogical, spirv_type_u64(m), value, spirv_u32(m, 32));
        spv_id next = spirv_op2(m, SpvOpIAdd, u32, first, spirv_u32(m, 1));
        spirv_buffer_store(m, b->out, next, spirv_op1(m, SpvOpUConvert, u32, high));
        value = spirv_op1(m, SpvOpUConvert, u32, value);
    }
    spirv_buffer_store(m, b->out, first, value);
    b->n_cases++;
    return c->wanted;
}

static bool is_same(kind k, uint64_t a, uint64_t b)
{
    return a == b || (kind_is_float(k) && isnan(real_of((uint32_t)a)) && isnan(real_of((uint32_t)b)));
}

/* The first difference of each case; returns how many cases differ. */
static int compare(bench *b, const uint32_t *got)
{
    int n_wrong = 0;
    for (uint32_t c = 0; c < b->n_cases; c++) {
        const test_case *t = &b->cases[c];
        int differ = 0;
        for (uint32_t j = 0; j < N_OPERANDS; j++) {
            const uint32_t *words = got + 2 * ((uint64_t)c * N_OPERANDS + j);
            uint64_t value = words[0] | (t->k == KIND_i64 ? (uint64_t)words[1] << 32 : 0);
            if (is_same(t->k, value, t->wanted[j]) || differ++) continue;
            fprintf(stderr, "%s: of 0x%llx, 0x%llx, 0x%llx: wanted 0x%llx, got 0x%llx", t->name,
                    (unsigned long long)bits_of_value(b->o->k, b->o->values[0][j]),
                        (unsigned long long)bits_of_value(b->o->k, b->o->values[1][j]),
                    (unsigned long long)bits_of_value(b->o->k, b->o->values[2][j]), (unsigned long long)t->wanted[j],
                        (unsigned long long)value);
        }
        if (differ) fprintf(stderr, " (%d values)\n", differ);
        n_wrong += differ > 0;
    }
    return n_wrong;
}

static void bench_run(bench *b)
{
    test_device *d = &b->f->device;
    uint32_t n_words, zero = 0;
    const uint32_t *words = spirv_finish(b->m, &n_words);
    const char *why = spirv_problem(b->memory, words, n_words);
    if (why) fail_msg("%s", why);
    test_buffer buffers[2] = { test_buffer_new(d, 3 * N_OPERANDS * 8), test_buffer_new(d, (uint64_t)b->n_cases * N_OPERANDS * 8) };
    assert_true(buffers[0].bytes && buffers[1].bytes);
    for (int a = 0; a < 3; a++)
        for (int j = 0; j < N_OPERANDS; j++) {
            uint64_t bits = bits_of_value(b->o->k, b->o->values[a][j]);
            memcpy((uint64_t *)buffers[0].bytes + a * N_OPERANDS + j, &bits, sizeof bits);
        }
    bool ran = test_device_run(d, words, n_words, buffers, 2, &zero, 1, N_OPERANDS / GROUP);
    int n_wrong = ran ? compare(b, buffers[1].bytes) : 0;
    for (int k = 0; k < 2; k++) test_buffer_free(d, &buffers[k]);
    assert_true(ran);
    assert_int_equal(n_wrong, 0);
    assert_int_equal(d->n_messages, 0);
}

/* ---- ops --------------------------------------------------------------------------------------------------- */

static bool has_op(tensor_op op, kind k)
{
    bool whole = kind_is_integer(k);
    switch (op_get(op)->class) {
    case CLASS_NUM: return whole || k == KIND_f32;
    case CLASS_SEL: return true;
    case CLASS_INT: return whole && k != KIND_i64;
    case CLASS_FLT: return k == KIND_f32;
    case CLASS_CMP: return k != KIND_i64;
    case CLASS_LOG: return k == KIND_bool;
    default: return false;
    }
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
    uint64_t *wanted = add_case(b, result, shader_op(b->m, b->zero, op, k, args), name);
    for (int j = 0; j < N_OPERANDS; j++) {
        scalar v[3] = { b->o->values[0][j], b->o->values[1][j], b->o->values[2][j] };
        if (fixed >= 0) v[fixed] = value;
        wanted[j] = bits_of_value(result, op_evaluate(op, k, v));
    }
}

static void run_ops(fixture *f, kind k)
{
    arena *memory = arena_new(NULL);
    bench *b = bench_new(f, memory, k);
    for (int op = 1; op < OP_COUNT; op++) if (has_op((tensor_op)op, k)) add_op(b, (tensor_op)op, -1, (scalar){ 0 });
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
        bench *b = bench_new(f, memory, (kind)k);
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
    uint64_t *wanted = add_case(b, to, value, name);
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
    uint64_t *wanted = add_case(b, KIND_u32, stored, name);
    for (int j = 0; j < N_OPERANDS; j++) {
        wanted[j] = memory_bits(b->o->values[0][j], k);
        if (k == KIND_f32) continue;
        if (k == KIND_f16 && isnan(b->o->values[0][j].f)) wanted[j] =
            (bits_of_scalar(k, b->o->values[0][j]) >> 16 & 0x8000) | 0x7e00;
    }
    snprintf(name, sizeof name, "through memory %s", kind_get(k)->name);
    wanted = add_case(b, k, shader_from_memory(b->m, stored, k), name);
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
        bench *b = bench_new(f, memory, (kind)k);
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
    bench *b = bench_new(f, memory, KIND_u32);
    for (uint32_t part = 0; part < 65536 / N_OPERANDS; part++) {
        spv_id bits = spirv_op2(b->m, SpvOpIAdd, spirv_type_u32(b->m), b->at, spirv_u32(b->m, part * N_OPERANDS));
        spv_id value = shader_from_memory(b->m, bits, KIND_f16);
        uint64_t *wanted = add_case(b, KIND_f32, value, "half from memory");
        for (uint32_t j = 0; j < N_OPERANDS; j++) wanted[j] =
            bits_of_scalar(KIND_f32, (scalar){ .f = f32_of_f16_bits((uint16_t)(part * N_OPERANDS + j)) });
        wanted = add_case(b, KIND_u32, shader_to_memory(b->m, value, KIND_f16), "half to memory");
        for (uint32_t j = 0; j < N_OPERANDS; j++) wanted[j] = f16_bits_of_f32(f32_of_f16_bits((uint16_t)(part * N_OPERANDS + j)));
    }
    bench_run(b);
    arena_free(memory);
}

/* ---- the device --------------------------------------------------------------------------------------------------- */

static int open_device(void **state)
{
    static fixture f;
    f.is_open = test_device_open(&f.device);
    *state = &f;
    return 0;
}

static int close_device(void **state)
{
    fixture *f = *state;
    if (f->is_open) test_device_close(&f->device);
    return f->device.n_messages;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_op_on_every_kind), cmocka_unit_test(literal_operands), cmocka_unit_test(every_conversion),
            cmocka_unit_test(every_half),
    };
    return cmocka_run_group_tests(tests, open_device, close_device);
}
