/* SPDX-License-Identifier: MIT
 * Ranges hold every value that a run computes, for random pipes; and they are as narrow as they are meant to be. */
#include <math.h>
#include <string.h>

#include "lowering/pass.h"
#include "lowering/ranges.h"
#include "support_pipe.h"

/* ---- sound --------------------------------------------------------------------------------------- */

static void expect_inside(const tensor_pipe *p, uint32_t stage, const range *known, kind k, const uint8_t *at, uint64_t seed)
{
    uint32_t word = 0;
    memcpy(&word, at, kind_get(k)->n_bytes);
    if (k == KIND_f16) {
        _Float16 half;
        memcpy(&half, at, 2);
        word = bits_of_scalar(KIND_f32, (scalar){ .f = (float)half });
    }
    scalar value = scalar_of_bits(k, k == KIND_i8 || k == KIND_i16 ? (uint32_t)wrap_evaluate((scalar){ .i = word }, k).i : word);
    double v = kind_is_float(k) ? (double)value.f : (double)value.i;
    bool inside = isnan(v) ? known->maybe_nan : v >= known->lo && v <= known->hi && (known->scale == SCALE_NONE || ldexp(v, known->scale) == floor(ldexp(v, known->scale)));
    if (inside && v == 0 && signbit(v) && kind_is_float(k))
        inside = known->minus_zero;
    if (!inside) {
        text printed = { 0 };
        tensor_print(p, &printed);
        fail_msg("seed %u: `%s` has %.17g, range %.17g..%.17g%s, scale %d%s\n%.6000s", (unsigned)seed, stage_at(p, stage)->name, v, known->lo, known->hi,
                 known->maybe_nan ? " or NaN" : "", known->scale, known->minus_zero ? ", -0 too" : "", printed.bytes);
    }
}

/* Every stage becomes an output. Returns how many ranges are narrower than their kind. */
static int check_pipe(arena *memory, tensor_pipe *p, uint64_t seed)
{
    static uint8_t out[RANDOM_PIPE_BYTES];
    ranges known;
    int narrow = 0;
    ranges_begin(&known, memory, p);
    int width, height;
    random_pipe_size(seed, &width, &height);
    for (uint32_t s = p->n_inputs + 1; s < p->stages.count; s++) {
        p->outputs.count = 0;
        LIST_PUSH(memory, p->outputs, ((tensor_output){ .name = "out", .stage = s }));
        type t = stage_at(p, s)->type;
        if (stage_at(p, s)->rank != 2)
            continue;
        memset(out, 0, sizeof out);
        random_pipe_run(p, seed, out);
        halo_image input = { .extent = { width, height, 1, 1, 1 } };
        run_values values = { &input, NULL };
        int32_t lo[TENSOR_MAX_RANK], extent[TENSOR_MAX_RANK];
        stage_bounds(p, s, &values, lo, extent);
        range value = stage_range(&known, s), all = kind_range(t.kind);
        narrow += value.lo > all.lo || value.hi < all.hi;
        for (int64_t k = 0; k < (int64_t)extent[0] * extent[1] * t.lanes; k++)
            expect_inside(p, s, &value, t.kind, out + k * kind_get(t.kind)->n_bytes, seed);
    }
    return narrow;
}

static void every_value_is_inside(void **state)
{
    (void)state;
    int narrow = 0;
    for (uint64_t seed = 0; seed < 80; seed++) {
        arena *memory = arena_new(NULL);
        narrow += check_pipe(memory, random_pipe(memory, seed), seed);
        tensor_pipe *p = random_pipe(memory, seed);
        diags d;
        diags_init(&d, memory);
        pass_options options = { .stop_after = PASS_drop_zeros_exact };
        assert_true(passes_run(&p, &options, &d));
        narrow += check_pipe(memory, p, seed);
        arena_free(memory);
    }
    assert_true(narrow > 30);
}

/* ---- narrow -------------------------------------------------------------------------------------- */

static const char *in_a_pipe(arena *memory, const char *stages, const char *output)
{
    return arena_printf(memory, "pipeline 1 @t { param @r i32 in 1..9 param @gain f32 in 0.5..2 dim W = %%src[0] dim H = %%src[1]\n"
                                "input %%src u8 (0..W - 1, 0..H - 1) input %%real f32 (0..W - 1, 0..H - 1)\n"
                                "table %%k f32 (-1..1) { 0.25, 0.5, 0.25 } table %%d i32 (-1..1) { -1, 0, 1 } table %%minus f32 (-1..0) { -1.0, -2.5 }\n"
                                "table %%w u8 (0..0, -1..1) { 64, 128, 64 } %s output %%%s as \"out\" }", stages, output);
}

static void expect_range(const char *stages, const char *name, double lo, double hi, int scale, bool maybe_nan)
{
    arena *memory = arena_new(NULL);
    tensor_pipe *p = ir_from_text(memory, in_a_pipe(memory, stages, name));
    ranges known;
    ranges_begin(&known, memory, p);
    for (uint32_t s = 1; s < p->stages.count; s++) {
        range r = stage_range(&known, s);
        if (strcmp(stage_at(p, s)->name, name) != 0)
            continue;
        double slack = scale != SCALE_NONE ? 0 : 1e-4 * fmax(fabs(lo), fabs(hi));
        if (r.lo > lo || r.lo < lo - slack || r.hi < hi || r.hi > hi + slack || r.scale != scale || r.maybe_nan != maybe_nan)
            fail_msg("%s: %.17g..%.17g, scale %d, NaN %d", stages, r.lo, r.hi, r.scale, r.maybe_nan);
    }
    arena_free(memory);
}

static void known_ranges(void **state)
{
    (void)state;
#define BODY(type, lines) "stage %a " type " (0..W - 1, 0..H - 1) { " lines " }"
    expect_range(BODY("i32", "%0 = load i32 %src (%x, %y) %1 = mul i32 %0, -3 %2 = add i32 %1, 7 yield %2"), "a", -758, 7, 0, false);
    expect_range(BODY("i32", "%0 = load i32 %src (%x, %y) %1 = sub i32 %0, 128 %2 = abs i32 %1 yield %2"), "a", 0, 128, 0, false);
    expect_range(BODY("i32", "%0 = load i32 %src (%x, %y) %1 = mul i32 %0, %0 %2 = mul i32 %1, %1 yield %2"), "a", INT32_MIN, INT32_MAX, 0, false);
    expect_range(BODY("i32", "%0 = load i32 %src (%x, %y) %1 = sub i32 %0, 10 %2 = floordiv i32 %1, 4 yield %2"), "a", -3, 61, 0, false);
    expect_range(BODY("i32", "%0 = load i32 %src (%x, %y) %1 = mod i32 %0, @r yield %1"), "a", 0, 8, 0, false);
    expect_range(BODY("i32", "%0 = load i32 %src (%x, %y) %1 = shl i32 %0, 2 %2 = bitand i32 %1, 255 yield %2"), "a", 0, 255, 0, false);
    expect_range(BODY("i32", "%0 = load i32 %src [value -1, edge] (%x, %y) %1 = max i32 %0, 5 %2 = min i32 %1, 100 yield %2"), "a", 5, 100, 0, false);
    expect_range(BODY("f32", "%0 = load f32 %src (%x, %y) %1 = div f32 %0, 255.0 yield %1"), "a", 0, 1, SCALE_NONE, false);
    expect_range(BODY("f32", "%0 = load f32 %src (%x, %y) %1 = sqrt f32 %0 yield %1"), "a", 0, sqrt(255), SCALE_NONE, false);
    expect_range(BODY("f32", "%0 = load f32 %real (%x, %y) %1 = sqrt f32 %0 yield %1"), "a", 0, INFINITY, SCALE_NONE, true);
    expect_range(BODY("f32", "%0 = load f32 %src (%x, %y) %1 = mul f32 %0, @gain yield %1"), "a", 0, 510, SCALE_NONE, false);
    expect_range(BODY("f32", "%0 = load f32 %src (%x, %y) %1 = add f32 %0, %0 yield %1"), "a", 0, 510, 0, false);
    expect_range(BODY("u8", "%0 = load f32 %real (%x, %y) %1 = cast u8 %0 yield %1"), "a", 0, 255, 0, false);
    expect_range(BODY("f32", "%0 = load f32 %real (%x, %y) %1 = sub f32 %0, %0 yield %1"), "a", -INFINITY, INFINITY, SCALE_NONE, true);
    expect_range(BODY("i32", "%0 = add i32 %x, %y yield %0"), "a", INT32_MIN, INT32_MAX, 0, false);
    expect_range(BODY("i32", "yield %x"), "a", 0, INT32_MAX - 1, 0, false);

    /* Sums: a blur stays where its input is; a derivative; counts; a radius that is a parameter; a condition. */
    expect_range(BODY("f32", "%0 = fold conv (%i in -1..1) acc f32 %acc = -0.0 { %1 = load f32 %k (%i) %2 = add i32 %x, %i\n"
                             "%3 = load f32 %src [edge, edge] (%2, %y) %4 = muladd f32 %1, %3, %acc next %4 } yield %0"), "a", 0, 255, 2, false);
    expect_range(BODY("i32", "%0 = fold conv (%i in -1..1) acc i32 %acc = 0 { %1 = load i32 %d (%i) %2 = add i32 %x, %i\n"
                             "%3 = load i32 %src [edge, edge] (%2, %y) %4 = mul i32 %1, %3 %5 = add i32 %acc, %4 next %5 } yield %0"), "a", -255, 255, 0, false);
    expect_range(BODY("i32", "%0 = fold loop (%i in 0..4, %j in 0..4) acc i32 %acc = 0 { %1 = add i32 %acc, 1 next %1 } yield %0"), "a", 25, 25, 0, false);
    expect_range(BODY("i32", "%0 = fold loop (%i in neg(@r)..@r) acc i32 %acc = 0 { %1 = load i32 %src [edge, edge] (%i, %y) %2 = add i32 %1, %acc next %2 } yield %0"),
                 "a", 0, 19 * 255, 0, false);
    expect_range(BODY("i32", "%0 = fold loop (%i in 1..4) acc i32 %acc = 50 { %1 = lt bool %i, %x where %1 %2 = sub i32 0, %i %3 = add i32 %acc, %2 next %3 } yield %0"),
                 "a", 34, 50, 0, false);
    expect_range(BODY("u8", "%0 = fold loop (%i in -1..1) acc u8 %acc = u8(7) { %1 = load u8 %src [edge, edge] (%i, %y) %2 = max u8 %acc, %1 next %2 } yield %0"),
                 "a", 0, 255, 0, false);
    expect_range(BODY("i32", "%0 = fold loop (%i in 0..3) acc i32 %acc = 1 { %1 = mul i32 %acc, 2 next %1 } yield %0"), "a", INT32_MIN, INT32_MAX, 0, false);
    expect_range(BODY("i32", "%0 = fold median (%i in 2..6) acc i32 %acc = 0 { next %i } yield %0"), "a", 0, 6, 0, false);

    /* Scales: constants, powers of two, sums; gone where an f32 would have to round. */
    expect_range(BODY("f32", "%0 = load f32 %src (%x, %y) %1 = mul f32 %0, 0.375 yield %1"), "a", 0, 95.625, 3, false);
    expect_range(BODY("f32", "%0 = load f32 %src (%x, %y) %1 = div f32 %0, -8.0 %2 = add f32 %1, 0.5 yield %2"), "a", -31.375, 0.5, 3, false);
    expect_range(BODY("f32", "%0 = load f32 %src (%x, %y) %1 = div f32 %0, 0.25 yield %1"), "a", 0, 1020, 0, false);
    expect_range(BODY("f32", "%0 = load f32 %src (%x, %y) %1 = mul f32 %0, 0.0000152587890625 yield %1"), "a", 0, 255 * 0x1p-16, 16, false);
    expect_range(BODY("f32", "%0 = load f32 %src (%x, %y) %1 = add f32 %0, 0.00000762939453125 yield %1"), "a", 0.0000077, 255, SCALE_NONE, false);
    expect_range(BODY("f32", "%0 = load f32 %src [value 0.5, edge] (%x, %y) %1 = floor f32 %0 yield %1"), "a", 0, 255, 0, false);

    /* A binomial of 256ths, its exact rounding to even, and what the accumulator holds on the way. */
    expect_range(BODY("u8", "%0 = fold conv (%i in -1..1, %j in 0..0) acc i32 %acc = 0 { %1 = load i32 %w (%j, %i) %2 = add i32 %x, %i\n"
                            "%3 = load i32 %src [edge, edge] (%2, %y) %4 = mul i32 %3, %1 %5 = add i32 %acc, %4 next %5 }\n"
                            "%6 = shr i32 %0, 8 %7 = bitand i32 %6, 1 %8 = add i32 %7, 127 %9 = add i32 %0, %8 %10 = shr i32 %9, 8 %11 = wrap u8 %10 yield %11"),
                 "a", 0, 255, 0, false);
    expect_range(BODY("i32", "%0 = fold loop (%i in 0..2) acc i32 %acc = 5 { %1 = load i32 %src [edge, edge] (%i, %y) %2 = sub i32 %1, 100 %3 = add i32 %2, %acc\n"
                             "next %3 } yield %0"), "a", 5 - 300, 5 + 3 * 155, 0, false);
#undef BODY
}

/* The sign of a zero, and the ways to lose it. */
static void known_zeros(void **state)
{
    (void)state;
    static const struct { const char *body; bool minus_zero; } cases[] = {
        { "%0 = load f32 %src (%x, %y) yield %0", false },
        { "%0 = load f32 %real (%x, %y) yield %0", true },
        { "%0 = load f32 %src (%x, %y) %1 = mul f32 %0, 0.5 yield %1", false },
        { "%0 = load f32 %src (%x, %y) %1 = mul f32 %0, -0.5 yield %1", true },
        { "%0 = load f32 %src (%x, %y) %1 = mul f32 %0, -0.5 %2 = add f32 %1, 0.0 yield %2", false },
        { "%0 = load f32 %src (%x, %y) %1 = neg f32 %0 yield %1", true },
        { "%0 = load f32 %src (%x, %y) %1 = add f32 %0, 1.0 %2 = neg f32 %1 yield %2", false },
        { "%0 = load f32 %src (%x, %y) %1 = sub f32 %0, %0 yield %1", false },
        { "%0 = load f32 %src (%x, %y) %1 = sub f32 -0.0, %0 yield %1", true },
        { "%0 = load f32 %src (%x, %y) %1 = sub f32 %0, 9.5 %2 = floor f32 %1 yield %2", false },
        { "%0 = load f32 %src (%x, %y) %1 = sub f32 %0, 9.5 %2 = round f32 %1 yield %2", true },
        { "%0 = load f32 %src (%x, %y) %1 = div f32 %0, -3.0 %2 = abs f32 %1 yield %2", false },
        { "%0 = fold conv (%i in -1..1) acc f32 %acc = -0.0 { %1 = load f32 %k (%i) %2 = load f32 %src [edge, edge] (%i, %y) %3 = muladd f32 %1, %2, %acc next %3 } yield %0", false },
        { "%0 = fold conv (%i in -1..1) acc f32 %acc = -0.0 { %1 = load i32 %d (%i) %2 = cast f32 %1 %3 = load f32 %src [edge, edge] (%i, %y)\n"
          "%4 = muladd f32 %2, %3, %acc next %4 } yield %0", false },                              /* one weight is 1 */
        { "%0 = fold conv (%i in -1..0) acc f32 %acc = -0.0 { %1 = load f32 %minus (%i) %2 = load f32 %src [edge, edge] (%i, %y) %3 = muladd f32 %1, %2, %acc next %3 } yield %0", true },
        { "%0 = fold loop (%i in 1..@r) acc f32 %acc = -0.0 { %1 = load f32 %src [edge, edge] (%i, %y) %2 = add f32 %acc, %1 next %2 } yield %0", false },
        { "%0 = fold loop (%i in 2..@r) acc f32 %acc = -0.0 { %1 = load f32 %src [edge, edge] (%i, %y) %2 = add f32 %acc, %1 next %2 } yield %0", true },      /* of nothing */
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        arena *memory = arena_new(NULL);
        tensor_pipe *p = ir_from_text(memory, in_a_pipe(memory, arena_printf(memory, "stage %%a f32 (0..W - 1, 0..H - 1) { %s }", cases[k].body), "a"));
        ranges known;
        ranges_begin(&known, memory, p);
        if (stage_range(&known, p->outputs.items[0].stage).minus_zero != cases[k].minus_zero)
            fail_msg("%s", cases[k].body);
        arena_free(memory);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(known_ranges), cmocka_unit_test(known_zeros), cmocka_unit_test(every_value_is_inside) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
