/* SPDX-License-Identifier: MIT */
#include "support_bench.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { GROUP = 64, MOST_SPECIAL = 100 };

/* ---- operands --------------------------------------------------------------------------------------------- */

uint64_t next_random(uint64_t *state)
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
    static const float list[] = { 0, 1, 0.5f, 1.5f, 2.5f, 0.1f, 3, 254.5f, 255.5f, 127.5f, 32767.5f, 65535.5f, 65504,
        65519.996f, 65520, 8388607.5f, 8388608, 16777217, 0x1.fffffep30f, 0x1p31f, 0x1.fffffep31f, 0x1p32f, 0x1.fffffep62f,
        0x1p63f, 1e20f, 1e-20f, 0x1.fffffep127f, INFINITY, NAN, 0x1p-24f, 0x1p-25f, 0x1.000002p-25f, 0x1.8p-24f, 0x1.ffcp-15f,
        0x1.fffffep-15f, 0x1p-14f, 0x1p-126f, 0x1.fffffcp-127f, 0x1p-149f };
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
        16777217, INT32_MAX, (int64_t)INT32_MAX + 1, UINT32_MAX, (int64_t)1 << 40, 0x7fffff4000000001, 0x7fffffbfffffffff,
        INT64_MAX };
    int n = 0;
    for (size_t j = 0; j < sizeof list / sizeof *list; j++) {
        out[n++] = wrap_evaluate((scalar){ .i = list[j] }, k);
        out[n++] = wrap_evaluate((scalar){ .i = -list[j] }, k);
        out[n++] = wrap_evaluate((scalar){ .i = -list[j] - 1 }, k);
    }
    return n;
}

/* Numbers of all sizes, and now and then ones that f16 rounds in a tie. */
scalar random_value(uint64_t *state, kind k)
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

static void fill_operands(operands *o, kind k, uint64_t seed)
{
    scalar special[MOST_SPECIAL];
    int n = k == KIND_bool ? 2 : kind_is_float(k) ? special_reals(special) : special_wholes(k, special);
    if (k == KIND_bool) special[0].i = 0, special[1].i = 1;
    for (int j = 0; j < n && k == KIND_f16; j++) special[j].f = f32_to_f16_and_back(special[j].f);
    uint64_t state = seed + (uint64_t)k;
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

void bench_randomize(bench *b, int j)
{
    operands *o = b->o;
    for (int a = 0; a < 3; a++) o->values[a][j] = random_value(&b->random, o->k);
    if (kind_is_float(o->k) && next_random(&b->random) % 4) o->values[2][j].f =
        near_product(&b->random, o->values[0][j].f, o->values[1][j].f);
}

uint64_t bits_of_value(kind k, scalar v)
{
    return k == KIND_i64 ? (uint64_t)v.i : bits_of_scalar(k, v);
}

/* ---- a shader of many cases ---------------------------------------------------------------------------------- */

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

bench *bench_new(fixture *f, arena *memory, kind k, uint64_t seed)
{
    bench *b = ARENA_NEW(memory, bench);
    *b = (bench){ .f = f, .memory = memory, .m = spirv_new(memory, false), .o = ARENA_NEW(memory, operands), .random = seed };
    fill_operands(b->o, k, seed);
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

uint64_t *bench_add(bench *b, kind k, spv_id value, const char *name)
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

void bench_run(bench *b)
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

/* ---- the device ------------------------------------------------------------------------------------------------ */

int open_device(void **state)
{
    static fixture f;
    f.is_open = test_device_open(&f.device);
    *state = &f;
    return 0;
}

int close_device(void **state)
{
    fixture *f = *state;
    if (f->is_open) test_device_close(&f->device);
    return f->device.n_messages;
}
