/* SPDX-License-Identifier: MIT
 * The driver's uniform program against lowering/scalar.c, which it has no part of: every op, kind and conversion, on numbers from
 * everywhere and on those where rounding, saturation and signs change. Numbers that are no numbers are alike. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>

#include "lowering/tensor.h"

#include "backends/vulkan/driver_values.h"

enum { ROUNDS = 20000 };

static uint64_t next_bits(uint64_t *state)
{
    *state += 0x9e3779b97f4a7c15u;
    uint64_t z = *state;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

static const uint32_t EDGES[] = {
    0x00000000, 0x80000000, 0x3f800000, 0xbf800000, 0x3f000000, 0xbf000000, 0x3fc00000, 0xbfc00000, 0x40200000, 0x4b000000,
    0x4b000001, 0x4affffff, 0xcb000000, 0x4f000000, 0xcf000000, 0x4f7fffff, 0x4f800000, 0x5f000000, 0xdf000000, 0x7f7fffff,
    0xff7fffff, 0x7f800000, 0xff800000, 0x7fc00000, 0x00000001, 0x80000001, 0x007fffff, 0x00800000, 0x477fefff, 0x477ff000,
    0x33000000, 0x33000001, 0x387fffff, 0x437f0000, 0x437f8000, 0x43000000, 0x42ff0000, 0x3effffff, 0x00ff00ff, 0x0000001f,
    0x00000020, 0x7fffffff, 0xffffffff, 0xfffffffe };

/* A value that the kind has. */
static scalar any_value(kind k, uint64_t *state)
{
    uint64_t bits = next_bits(state);
    if (next_bits(state) % 3 == 0) bits = EDGES[bits % (sizeof EDGES / sizeof *EDGES)];
    else if (bits % 5 == 0) bits = bits >> 32 & 31;
    if (k == KIND_f16) return cast_evaluate(scalar_of_bits(KIND_f32, (uint32_t)bits), KIND_f32, KIND_f16);
    if (k == KIND_f32) return scalar_of_bits(k, (uint32_t)bits);
    return wrap_evaluate((scalar){ .i = (int64_t)bits }, k);
}

static bool same(kind k, scalar a, value b)
{
    if (!kind_is_float(k)) return a.i == b.i;
    return (isnan(a.f) && isnan(b.f)) || scalar_of_bits(KIND_u32, bits_of_scalar(k, a)).i == (int64_t)value_bits(k, b);
}

static value to_value(kind k, scalar a) { return kind_is_float(k) ? (value){ .f = a.f } : (value){ .i = a.i }; }

static void check_op(tensor_op op, kind k, uint64_t *state)
{
    kind out = op_get(op)->class == CLASS_CMP ? KIND_bool : k;
    for (int n = 0; n < ROUNDS; n++) {
        scalar args[3];
        value v[3];
        for (int j = 0; j < 3; j++) {
            args[j] = any_value(k, state);
            v[j] = to_value(k, args[j]);
        }
        vplan_instruction i = { .op = (int32_t)op, .kind = out, .from = k, .a = 0, .b = 1, .c = 2 };
        scalar wanted = op_evaluate(op, k, args);
        value got = value_of_instruction(&i, NULL, v);
        if (!same(out, wanted, got))
            fail_msg("%s of %s (%llx, %llx, %llx): wanted %llx, got %llx", op_get(op)->name, kind_get(k)->name, (long long)v[0].i,
                     (long long)v[1].i, (long long)v[2].i, (long long)wanted.i, (long long)got.i);
    }
}

/* Which kinds a class takes, as ops.def says. */
static bool takes(op_class class, kind k)
{
    switch (class) {
    case CLASS_NUM: return kind_is_integer(k) || k == KIND_f32;
    case CLASS_SEL: return k != KIND_f16;
    case CLASS_INT: return (kind_is_integer(k) && k != KIND_i64) || k == KIND_f32;
    case CLASS_FLT: return k == KIND_f32;
    case CLASS_CMP: return k != KIND_i64 && k != KIND_f16;
    case CLASS_LOG: return k == KIND_bool;
    default: return false;
    }
}

static void ops_are_those_of_the_interpreter(void **state)
{
    (void)state;
    uint64_t seed = 1;
    int checked = 0;
    for (int op = 1; op < OP_COUNT; op++)
        for (int k = 0; k < KIND_COUNT; k++) {
            if (!takes(op_get((tensor_op)op)->class, (kind)k)) continue;
            check_op((tensor_op)op, (kind)k, &seed);
            checked++;
        }
    assert_true(checked > 100);
}

static void conversions_are_those_of_the_interpreter(void **state)
{
    (void)state;
    uint64_t seed = 2;
    for (int from = 0; from < KIND_COUNT; from++)
        for (int to = 0; to < KIND_COUNT; to++)
            for (int n = 0; n < ROUNDS; n++) {
                scalar a = any_value((kind)from, &seed);
                value v = to_value((kind)from, a);
                vplan_instruction cast = { .op = OP_cast, .kind = to, .from = from },
                    wrap = { .op = OP_wrap, .kind = to, .from = from };
                if (!same((kind)to, cast_evaluate(a, (kind)from, (kind)to), value_of_instruction(&cast, NULL, &v)))
                    fail_msg("cast %s to %s of %llx", kind_get((kind)from)->name, kind_get((kind)to)->name, (long long)v.i);
                if (kind_is_float(from) || kind_is_float(to)) continue;
                if (!same((kind)to, wrap_evaluate(a, (kind)to), value_of_instruction(&wrap, NULL, &v)))
                    fail_msg("wrap %s to %s of %llx", kind_get((kind)from)->name, kind_get((kind)to)->name, (long long)v.i);
            }
}

static void bits_and_choices(void **state)
{
    (void)state;
    value v[3] = { { .f = -1.5f }, { .i = 1 }, { .i = 7 } };
    vplan_instruction to_i32 = { .op = OP_bitcast, .kind = KIND_i32, .from = KIND_f32 },
        choose = { .op = OP_select, .kind = KIND_i32, .a = 1, .b = 2, .c = 1 };
    assert_true(value_of_instruction(&to_i32, NULL, v).i == (int32_t)0xbfc00000);
    assert_true(value_of_instruction(&choose, NULL, v).i == 7);
    v[1].i = 0;
    assert_true(value_of_instruction(&choose, NULL, v).i == 0);
    vplan_instruction minus = { .op = OP_const, .kind = KIND_i32, .a = -3 }, large = { .op = OP_const, .kind = KIND_u32, .a = -3 };
    assert_true(value_of_instruction(&minus, NULL, v).i == -3 && value_of_instruction(&large, NULL, v).i == 4294967293);
}

/* Natural alignment, as a C compiler lays the struct out that the header declares. */
static void parameters_are_read_as_c_writes_them(void **state)
{
    (void)state;
    struct { uint8_t flag; int8_t small[2]; uint16_t half; int16_t low; uint32_t large; float real[2]; int32_t count; } s =
        { 1, { -5, 5 }, 0xc500, -300, 4000000000u, { 0.5f, -2.0f }, -7 };
    uint64_t gap = 0;
    memcpy(&gap, &(double){ 0.25 }, 8);
    vplan_param params[] = {
        { .offset = (int32_t)offsetof(__typeof__(s), flag), .kind = KIND_bool, .lanes = 1 },
        { .offset = (int32_t)offsetof(__typeof__(s), small), .kind = KIND_i8, .lanes = 2 },
        { .offset = (int32_t)offsetof(__typeof__(s), half), .kind = KIND_f16, .lanes = 1 },
        { .offset = (int32_t)offsetof(__typeof__(s), low), .kind = KIND_i16, .lanes = 1 },
        { .offset = (int32_t)offsetof(__typeof__(s), large), .kind = KIND_u32, .lanes = 1 },
        { .offset = (int32_t)offsetof(__typeof__(s), real), .kind = KIND_f32, .lanes = 2, .has_range = 1, .half_open = 1,
          .lo = { (int32_t)gap, (int32_t)(gap >> 32) }, .hi = { 0, 0x3fe00000 } },
        { .offset = (int32_t)offsetof(__typeof__(s), count), .kind = KIND_i32, .lanes = 1 } };
    assert_true(value_of_parameter(&params[0], &s, 0).i == 1);
    assert_true(value_of_parameter(&params[1], &s, 0).i == -5 && value_of_parameter(&params[1], &s, 1).i == 5);
    assert_true(value_of_parameter(&params[2], &s, 0).f == -5.0f);
    assert_true(value_of_parameter(&params[3], &s, 0).i == -300);
    assert_true(value_of_parameter(&params[4], &s, 0).i == 4000000000);
    assert_true(value_of_parameter(&params[5], &s, 1).f == -2.0f);
    assert_true(value_of_parameter(&params[6], &s, 0).i == -7);
    const vplan_param *range = &params[5];      /* 0.25 ..< 0.5 */
    assert_true(value_in_range(range, (value){ .f = 0.25f }) && value_in_range(range, (value){ .f = 0.4999f }));
    assert_false(value_in_range(range, (value){ .f = 0.5f }) || value_in_range(range, (value){ .f = 0.2499f }));
    assert_false(value_in_range(range, (value){ .f = NAN }));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ops_are_those_of_the_interpreter),
        cmocka_unit_test(conversions_are_those_of_the_interpreter),
        cmocka_unit_test(bits_and_choices),
        cmocka_unit_test(parameters_are_read_as_c_writes_them),
    };
    return cmocka_run_group_tests_name("values", tests, NULL, NULL);
}
