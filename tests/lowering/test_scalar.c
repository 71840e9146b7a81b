/* SPDX-License-Identifier: MIT
 * The value of single ops, conversions and border maps, against their definitions computed another way. */
#include <math.h>
#include <string.h>

#include "support_ir.h"

#include "lowering/scalar.h"

static float bits_float(uint32_t bits)
{
    return scalar_of_bits(KIND_f32, bits).f;
}

static void f16_rounds_as_the_compiler_does(void **state)
{
    (void)state;
    random_source r = { 1 };
    for (int n = 0; n < 2000000; n++) {
        /* Exponents around f16's range, every rounding pattern. */
        uint32_t bits = (random_bits(&r) & 0x80000000u) | (uint32_t)(95 + random_below(&r, 52)) << 23 | (random_bits(&r) & 0x7fffffu);
        if (n % 3 == 0)
            bits &= 0xfffff000u;                   /* many exact ties */
        float a = bits_float(bits), wanted = (float)(_Float16)a, got = f32_to_f16_and_back(a);
        if (memcmp(&wanted, &got, sizeof got) != 0)
            fail_msg("%a: wanted %a, got %a", (double)a, (double)wanted, (double)got);
    }
    assert_true(isnan(f32_to_f16_and_back(NAN)));
    assert_true(isinf(f32_to_f16_and_back(65520.0f)));
    assert_true(f32_to_f16_and_back(65519.996f) == 65504.0f);
}

static void every_f16_survives_memory(void **state)
{
    (void)state;
    for (uint32_t bits = 0; bits < 65536; bits++) {
        _Float16 half;
        uint16_t word = (uint16_t)bits;
        memcpy(&half, &word, sizeof half);
        float value = f32_of_f16_bits(word);
        if (isnan((float)half)) {
            assert_true(isnan(value) && isnan(f32_of_f16_bits(f16_bits_of_f32(value))));
            continue;
        }
        assert_true(value == (float)half && signbit(value) == signbit((float)half));
        assert_int_equal(f16_bits_of_f32(value), word);
    }
}

static void floor_division_by_its_definition(void **state)
{
    (void)state;
    random_source r = { 2 };
    for (int n = 0; n < 100000; n++) {
        int64_t a = (int32_t)random_of_kind(&r, KIND_i32), b = (int32_t)random_of_kind(&r, KIND_i32);
        if (b == 0) {
            assert_true(floor_div(a, b) == 0 && floor_mod(a, b) == 0);
            continue;
        }
        int64_t q = floor_div(a, b), rest = floor_mod(a, b);
        assert_true(q * b + rest == a);
        assert_true(b > 0 ? rest >= 0 && rest < b : rest <= 0 && rest > b);
    }
    scalar args[2] = { { .i = INT32_MIN }, { .i = -1 } };
    assert_true(op_evaluate(OP_floordiv, KIND_i32, args).i == INT32_MIN);
    assert_true(op_evaluate(OP_mod, KIND_i32, args).i == 0);
    assert_true(floor_div(INT64_MIN, -1) == INT64_MIN && floor_mod(INT64_MIN, -1) == 0);
}

static void shifts_beyond_the_word(void **state)
{
    (void)state;
    scalar by[] = { { .i = 31 }, { .i = 32 }, { .i = -1 } };
    int64_t left[] = { INT32_MIN, 0, 0 }, right[] = { -1, -1, -1 };
    for (int k = 0; k < 3; k++) {
        scalar args[2] = { { .i = -3 }, by[k] };
        assert_true(op_evaluate(OP_shl, KIND_i32, args).i == left[k]);
        assert_true(op_evaluate(OP_shr, KIND_i32, args).i == right[k]);
    }
    scalar args[2] = { { .i = 4294967295 }, { .i = 4 } };
    assert_true(op_evaluate(OP_shr, KIND_u32, args).i == 268435455);
    args[1].i = 32;
    assert_true(op_evaluate(OP_shr, KIND_u32, args).i == 0);
}

static void conversions_saturate_and_round_to_even(void **state)
{
    (void)state;
    const struct { float from; kind to; int64_t value; } rows[] = {
        { NAN, KIND_u8, 0 }, { INFINITY, KIND_u8, 255 }, { -INFINITY, KIND_u8, 0 }, { 1e20f, KIND_u8, 255 },
        { 0.5f, KIND_u8, 0 }, { 1.5f, KIND_u8, 2 }, { 2.5f, KIND_u8, 2 }, { -0.5f, KIND_i8, 0 }, { -1.5f, KIND_i8, -2 },
        { -128.5f, KIND_i8, -128 }, { 127.5f, KIND_i8, 127 }, { 65535.5f, KIND_u16, 65535 }, { -32769.0f, KIND_i16, -32768 },
        { 2147483648.0f, KIND_i32, INT32_MAX }, { -2147483904.0f, KIND_i32, INT32_MIN }, { 2147483520.0f, KIND_i32, 2147483520 },
        { 4294967296.0f, KIND_u32, 4294967295 }, { -1.0f, KIND_u32, 0 }, { 4294967040.0f, KIND_u32, 4294967040 },
        { INFINITY, KIND_i64, INT64_MAX }, { 0x1p63f, KIND_i64, INT64_MAX }, { -1e30f, KIND_i64, INT64_MIN }, { -9.0f, KIND_i64, -9 },
        { 0.25f, KIND_bool, 1 }, { -0.0f, KIND_bool, 0 }, { NAN, KIND_bool, 1 }, { -3.0f, KIND_bool, 1 },
    };
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++)
        if (cast_evaluate((scalar){ .f = rows[k].from }, KIND_f32, rows[k].to).i != rows[k].value)
            fail_msg("row %zu", k);
    assert_true(cast_evaluate((scalar){ .i = -5 }, KIND_i32, KIND_u8).i == 0);
    assert_true(cast_evaluate((scalar){ .i = -5 }, KIND_i32, KIND_bool).i == 1);
    assert_true(cast_evaluate((scalar){ .i = 70000 }, KIND_i32, KIND_u16).i == 65535);
    assert_true(cast_evaluate((scalar){ .i = 16777217 }, KIND_i32, KIND_f32).f == 16777216.0f);
    assert_true(wrap_evaluate((scalar){ .i = 300 }, KIND_u8).i == 44);
    assert_true(wrap_evaluate((scalar){ .i = 200 }, KIND_i8).i == -56);
}

/* Walks from inside the line towards `index`, one step at a time, the way each mode folds back. */
static int64_t walk(border mode, int64_t index, int64_t n)
{
    int64_t at = index < 0 ? 0 : n - 1, steps = index < 0 ? -index : index - (n - 1), direction = index < 0 ? 1 : -1;
    if (index >= 0 && index < n)
        return index;
    if (mode == BORDER_edge)
        return at;
    for (int64_t k = 0; k < steps; k++) {
        if (mode == BORDER_wrap) {
            at = index < 0 ? (at == 0 ? n - 1 : at - 1) : (at == n - 1 ? 0 : at + 1);
        } else if (mode == BORDER_reflect) {       /* the end counts twice */
            if (k == 0)
                continue;
            if (at + direction < 0 || at + direction >= n)
                direction = -direction;
            else
                at += direction;
        } else if (n > 1) {
            if (at + direction < 0 || at + direction >= n)
                direction = -direction;
            at += direction;
        }
    }
    return at;
}

static void borders_at_any_distance(void **state)
{
    (void)state;
    const border modes[] = { BORDER_edge, BORDER_reflect, BORDER_reflect101, BORDER_wrap };
    for (int m = 0; m < 4; m++)
        for (int64_t n = 1; n <= 6; n++)
            for (int64_t i = -40; i < 40; i++)
                for (int64_t lo = -3; lo <= 3; lo += 3)
                    if (border_map(modes[m], lo + i, lo, lo + n - 1) != lo + walk(modes[m], i, n))
                        fail_msg("%s: %lld of %lld gives %lld, not %lld", border_name(modes[m]), (long long)i, (long long)n,
                                 (long long)(border_map(modes[m], lo + i, lo, lo + n - 1) - lo), (long long)walk(modes[m], i, n));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(f16_rounds_as_the_compiler_does), cmocka_unit_test(every_f16_survives_memory),
        cmocka_unit_test(floor_division_by_its_definition), cmocka_unit_test(shifts_beyond_the_word),
        cmocka_unit_test(conversions_saturate_and_round_to_even), cmocka_unit_test(borders_at_any_distance),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
