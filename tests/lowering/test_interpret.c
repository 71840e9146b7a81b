/* SPDX-License-Identifier: MIT
 * The interpreter on small pipes whose values were worked out by hand or by a plain loop beside it. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "support_ir.h"

/* ---- one line of whole numbers in, one out -------------------------------------------------------- */

/* `out` is the line from -before to n-1+after of the input read with `mode`; `{mode}` may carry a value. */
static void run_line(const char *mode, const int32_t *in, int n, int before, int after, int32_t *out)
{
    arena *memory = arena_new(NULL);
    char *source = arena_printf(memory,
        "pipeline 1 @line { dim W = %%src[0]\n input %%src i32 (0..W - 1)\n"
        "  stage %%out i32 (%d..W + %d) { %%0 = load i32 %%src [%s] (%%x) yield %%0 }\n output %%out as \"out\" }", -before, after - 1, mode);
    tensor_pipe *p = ir_from_text(memory, source);
    halo_image input = image_of((void *)(uintptr_t)in, 4, n, 1), output = image_of(out, 4, n + before + after, 1);
    ir_run(p, &input, NULL, &output);
    arena_free(memory);
}

#define EXPECT_LINE(mode, before, after, in, wanted)                                                  \
    do {                                                                                              \
        const int32_t line[] = in, expected[] = wanted;                                               \
        int32_t got[64];                                                                              \
        assert_int_equal(sizeof expected / 4, sizeof line / 4 + (before) + (after));                  \
        run_line(mode, line, sizeof line / 4, before, after, got);                                    \
        assert_memory_equal(got, expected, sizeof expected);                                          \
    } while (0)
#define LINE(...) { __VA_ARGS__ }

static void borders_of_a_line(void **state)
{
    (void)state;
    EXPECT_LINE("reflect101", 5, 5, LINE(10, 20, 30), LINE(20, 10, 20, 30, 20, 10, 20, 30, 20, 10, 20, 30, 20));
    EXPECT_LINE("wrap", 5, 5, LINE(1, 2), LINE(2, 1, 2, 1, 2, 1, 2, 1, 2, 1, 2, 1));
    EXPECT_LINE("wrap", 4, 4, LINE(1, 2, 3), LINE(3, 1, 2, 3, 1, 2, 3, 1, 2, 3, 1));
    EXPECT_LINE("reflect", 4, 0, LINE(0, 1), LINE(0, 1, 1, 0, 0, 1));
    EXPECT_LINE("edge", 3, 3, LINE(7), LINE(7, 7, 7, 7, 7, 7, 7));
    EXPECT_LINE("reflect", 3, 3, LINE(7), LINE(7, 7, 7, 7, 7, 7, 7));
    EXPECT_LINE("reflect101", 3, 3, LINE(7), LINE(7, 7, 7, 7, 7, 7, 7));
    EXPECT_LINE("wrap", 3, 3, LINE(7), LINE(7, 7, 7, 7, 7, 7, 7));
    EXPECT_LINE("value 9", 3, 3, LINE(7), LINE(9, 9, 9, 7, 9, 9, 9));
}

static void a_border_belongs_to_its_stage(void **state)
{
    (void)state;
    arena *memory = arena_new(NULL);
    const char *sum3 = "%%%d = fold loop (%%i in -1..1) acc i32 %%acc = 0 { %%%d = add i32 %%x, %%i\n %%%d = load i32 %%%s [edge] (%%%d)\n"
                       " %%%d = add i32 %%acc, %%%d\n next %%%d } yield %%0";
    char *first = arena_printf(memory, sum3, 0, 1, 2, "src", 1, 3, 2, 3), *second = arena_printf(memory, sum3, 0, 1, 2, "a", 1, 3, 2, 3);
    char *source = arena_printf(memory, "pipeline 1 @t { dim W = %%src[0] input %%src u8 (0..W - 1) stage %%a i32 (0..W - 1) { %s }"
                                        " stage %%b i32 (0..W - 1) { %s } output %%b as \"b\" }", first, second);
    uint8_t in[] = { 1, 2, 4 };
    int32_t out[3], wanted[] = { 15, 21, 27 };
    halo_image input = image_of(in, 1, 3, 1), output = image_of(out, 4, 3, 1);
    ir_run(ir_from_text(memory, source), &input, NULL, &output);
    assert_memory_equal(out, wanted, sizeof out);
    arena_free(memory);
}

static const char convolution[] =
    "pipeline 1 @t { dim W = %src[0] dim H = %src[1] input %src u8 (0..W - 1, 0..H - 1)\n"
    "table %k i32 (-1..1, -1..1) { 1, 2, 1, 2, 4, 2, 1, 2, 1 }\n"
    "stage %out i32 (0..W - 1, 0..H - 1) {\n"
    "  %0 = fold conv (%j in -1..1, %i in -1..1) acc i32 %acc = 0 {\n"
    "    %1 = load i32 %k (%i, %j) %2 = add i32 %x, %i %3 = add i32 %y, %j\n"
    "    %4 = load i32 %src [value 10, value 10] (%2, %3)\n"
    "    %5 = mul i32 %1, %4 %6 = add i32 %acc, %5 next %6 } yield %0 }\n"
    "output %out as \"out\" }";

static void a_constant_border_counts_in_both_directions(void **state)
{
    (void)state;
    arena *memory = arena_new(NULL);
    uint8_t in[4] = { 1, 1, 1, 1 };
    int32_t out[4];
    halo_image input = image_of(in, 1, 2, 2), output = image_of(out, 4, 2, 2);
    ir_run(ir_from_text(memory, convolution), &input, NULL, &output);
    for (int k = 0; k < 4; k++)
        assert_int_equal(out[k], 79);
    arena_free(memory);
}

static void axes_have_modes_of_their_own(void **state)
{
    (void)state;
    arena *memory = arena_new(NULL);
    const char *source =
        "pipeline 1 @t { dim W = %src[0] dim H = %src[1] input %src u8 (0..W - 1, 0..H - 1)\n"
        "stage %a u8 (-1..W, -1..H) { %0 = load u8 %src [wrap, edge] (%x, %y) yield %0 }\n"
        "stage %b i32 (-1..W, -1..H) { %0 = mul i32 %x, 10 %1 = add i32 %0, %y %2 = mul i32 %y, 100\n"
        "  %3 = load i32 %src [value %1, value %2] (%x, %y) yield %3 }\n"
        "output %a as \"a\" output %b as \"b\" }";
    uint8_t in[] = { 1, 2, 3, 4, 5, 6 }, a[5 * 4];
    int32_t b[5 * 4];
    halo_image input = image_of(in, 1, 3, 2), outputs[] = { image_of(a, 1, 5, 4), image_of(b, 4, 5, 4) };
    ir_run(ir_from_text(memory, source), &input, NULL, outputs);
    const uint8_t wanted[] = { 3, 1, 2, 3, 1, 3, 1, 2, 3, 1, 6, 4, 5, 6, 4, 6, 4, 5, 6, 4 };
    assert_memory_equal(a, wanted, sizeof a);
    assert_int_equal(b[0], -11);                    /* outside on both axes: x answers */
    assert_int_equal(b[1], -100);                   /* on y alone */
    assert_int_equal(b[5 + 4], 30);                 /* on x alone: 3 * 10 + 0 */
    assert_int_equal(b[3 * 5 + 4], 32);
    assert_int_equal(b[2 * 5 + 2], 5);
    arena_free(memory);
}

/* ---- folds ----------------------------------------------------------------------------------- */

static void folds_run_in_order_where_the_condition_holds(void **state)
{
    (void)state;
    arena *memory = arena_new(NULL);
    /* Digits i j of the elements with i != j, in order; beside it their number; over nothing; over an inner fold. */
    const char *source =
        "pipeline 1 @t { param @n i32\n"
        "stage %a i32 () { %0, %1 = fold loop (%i in 1..@n, %j in 1..@n) acc i32 %all = 0, i32 %count = 0 {\n"
        "  %2 = ne bool %i, %j where %2 %3 = mul i32 %all, 7 %4 = mul i32 %i, 3 %5 = add i32 %4, %j %6 = add i32 %3, %5\n"
        "  %7 = add i32 %count, 1 next %6, %7 } %8 = mul i32 %1, 1000000 %9 = add i32 %0, %8 yield %9 }\n"
        "stage %b i32 () { %0 = fold loop (%i in 1..0) acc i32 %acc = 17 { next %i } yield %0 }\n"
        "stage %c i32 (0..2) { %0 = fold loop (%i in 1..3) acc i32 %acc = 0 {\n"
        "   %1 = fold loop (%j in 0..2) acc i32 %inner = %i { %2 = mul i32 %i, %j %3 = add i32 %2, %inner %4 = add i32 %3, %x next %4 }\n"
        "   %5 = add i32 %acc, %1 next %5 } yield %0 }\n"
        "output %a as \"a\" output %b as \"b\" output %c as \"c\" }";
    int32_t a, b, c[3], all = 0, count = 0;
    uint32_t params[1][TENSOR_MAX_LANES] = { { 3 } };
    halo_image outputs[] = { image_of(&a, 4, 1, 1), image_of(&b, 4, 1, 1), image_of(c, 4, 3, 1) };
    ir_run(ir_from_text(memory, source), NULL, params, outputs);
    for (int i = 1; i <= 3; i++)
        for (int j = 1; j <= 3; j++)
            if (i != j) {
                all = all * 7 + i * 3 + j;
                count++;
            }
    assert_int_equal(a, all + 1000000 * count);
    assert_int_equal(b, 17);
    for (int x = 0; x < 3; x++) {
        int sum = 0;
        for (int i = 1; i <= 3; i++)
            sum += i + 3 * i + 3 * x;               /* i, then i*0 + i*1 + i*2 + 3x */
        assert_int_equal(c[x], sum);
    }
    arena_free(memory);
}

static const char median_source[] =
    "pipeline 1 @t { dim W = %src[0] input %src f32x2 (0..W - 1)\n"
    "stage %m f32x2 () { %0 = splat f32x2 f32(0x7f800000)\n"
    "  %1 = fold median (%i in 0..W - 1) acc f32x2 %acc = %0 { %2 = load f32x2 %src (%i) next %2 } yield %1 }\n"
    "stage %b i32 () { %0 = fold median (%i in 0..W - 1) acc i32 %acc = -7 {\n"
    "  %1 = mod i32 %i, 2 %2 = eq bool %1, 0 where %2 %3 = neg i32 %i next %3 } yield %0 }\n"
    "output %m as \"m\" output %b as \"b\" }";

static void medians(void **state)
{
    (void)state;
    arena *memory = arena_new(NULL);
    tensor_pipe *p = ir_from_text(memory, median_source);
    const float in[] = { NAN, 5, 3, -0.0f, -INFINITY, 2, 1, INFINITY };      /* lane 0: NaN 3 -inf 1; lane 1: 5 -0 2 inf */
    float out[2];
    int32_t b;
    halo_image input = image_of((void *)(uintptr_t)in, 8, 4, 1), outputs[] = { image_of(out, 8, 1, 1), image_of(&b, 4, 1, 1) };
    ir_run(p, &input, NULL, outputs);
    assert_true(out[0] == 1 && out[1] == 2);
    assert_int_equal(b, -2);                        /* of 0, -2 */
    input.extent[0] = 1;
    ir_run(p, &input, NULL, outputs);
    assert_true(isnan(out[0]) && out[1] == 5);
    const float zero[] = { -0.0f, -0.0f };
    input = image_of((void *)(uintptr_t)zero, 8, 1, 1);
    ir_run(p, &input, NULL, outputs);
    assert_true(out[0] == 0 && !signbit(out[0]));
    input.extent[0] = 0;
    ir_run(p, &input, NULL, outputs);
    assert_true(isinf(out[0]));
    assert_int_equal(b, -7);
    arena_free(memory);
}

static void muladd_rounds_as_the_pipe_says(void **state)
{
    (void)state;
    arena *memory = arena_new(NULL);
    const float x = 1.0f + 0x1p-12f, in[] = { x, -(x * x) };
    for (int strict = 0; strict < 2; strict++) {
        char *source = arena_printf(memory, "pipeline 1 @t %s { input %%src f32 (0..1) stage %%out f32 () {"
                                            " %%0 = load f32 %%src (0) %%1 = load f32 %%src (1) %%2 = muladd f32 %%0, %%0, %%1 yield %%2 }"
                                            " output %%out as \"out\" }", strict ? "strict" : "");
        float out;
        halo_image input = image_of((void *)(uintptr_t)in, 4, 2, 1), output = image_of(&out, 4, 1, 1);
        ir_run(ir_from_text(memory, source), &input, NULL, &output);
        assert_true(strict ? out == 0 : out == 0x1p-24f);
    }
    arena_free(memory);
}

/* ---- memory ---------------------------------------------------------------------------------- */

static void any_strides_and_every_kind(void **state)
{
    (void)state;
    arena *memory = arena_new(NULL);
    static const struct { const char *kind; int bytes; } kinds[] = {
        { "bool", 1 }, { "u8", 1 }, { "i8", 1 }, { "u16", 2 }, { "i16", 2 }, { "u32", 4 }, { "i32", 4 }, { "f16", 2 }, { "f32", 4 },
    };
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        char *source = arena_printf(memory, "pipeline 1 @t { dim W = %%src[0] dim H = %%src[1] input %%src %sx2 (0..W - 1, 0..H - 1)\n"
                                            "stage %%out %sx2 (0..W - 1, 0..H - 1) { %%0 = load %sx2 %%src (%%x, %%y) yield %%0 }"
                                            "output %%out as \"out\" }", kinds[k].kind, kinds[k].kind, kinds[k].kind);
        enum { W = 5, H = 3 };
        uint8_t in[256], out[256], n = (uint8_t)(2 * kinds[k].bytes);
        for (int i = 0; i < 256; i++)
            in[i] = (uint8_t)(kinds[k].kind[0] == 'b' ? i % 2 : i * 37 % 120);          /* no NaN */
        memset(out, 0xaa, sizeof out);
        /* Read from right to left in rows of 64 bytes; written with a gap of a byte between pixels. */
        halo_image input = { .data = in + (W - 1) * n, .extent = { W, H, 1, 1, 1 }, .stride = { -n, 64 } };
        halo_image output = { .data = out + 3, .extent = { W, H, 1, 1, 1 }, .stride = { n + 1, 80 } };
        ir_run(ir_from_text(memory, source), &input, NULL, &output);
        for (int y = 0; y < H; y++)
            for (int x = 0; x < W; x++) {
                assert_memory_equal(out + 3 + x * (n + 1) + y * 80, in + (W - 1 - x) * n + y * 64, n);
                assert_int_equal(out[3 + x * (n + 1) + n + y * 80], 0xaa);
            }
    }
    arena_free(memory);
}

static void stored_kinds_convert(void **state)
{
    (void)state;
    arena *memory = arena_new(NULL);
    const char *source =
        "pipeline 1 @t { input %src i16 (0..2) stage %h f16 (0..2) { %0 = load f32 %src (%x) %1 = mul f32 %0, 1.001 %2 = cast f16 %1 yield %2 }\n"
        "stage %out f32 (0..2) { %0 = load f32 %h (%x) yield %0 } output %out as \"out\" output %h as \"h\" }";
    int16_t in[] = { -3, 2049, 32767 };
    float out[3];
    uint16_t half[3];
    halo_image input = image_of(in, 2, 3, 1), outputs[] = { image_of(out, 4, 3, 1), image_of(half, 2, 3, 1) };
    tensor_pipe *p = ir_from_text(memory, source);
    ir_run(p, &input, NULL, outputs);
    for (int k = 0; k < 3; k++)
        assert_true(out[k] == (float)(_Float16)((float)in[k] * 1.001f));
    run_values values = { &input, NULL };
    assert_int_equal(interpret(p, &values, outputs, true, NULL), HALO_OK);
    for (int k = 0; k < 3; k++)
        assert_true(out[k] == (float)((double)in[k] * (double)1.001f));            /* as written: rounded at the outputs only */
    arena_free(memory);
}

/* ---- what can go wrong --------------------------------------------------------------------------- */

static void a_read_outside_is_reported(void **state)
{
    (void)state;
    arena *memory = arena_new(NULL);
    const char *source = "pipeline 1 @t { dim W = %src[0] input %src u8 (0..W - 1)\n"
                         "stage %out u8 (0..W - 1) { %0 = add i32 %x, 1 %1 = load u8 %src (%0) yield %1 } output %out as \"out\" }";
    uint8_t in[3] = { 1, 2, 3 }, out[3];
    halo_image input = image_of(in, 1, 3, 1), output = image_of(out, 1, 3, 1);
    run_values values = { &input, NULL };
    text problem = { 0 };
    assert_int_equal(interpret(ir_from_text(memory, source), &values, &output, false, &problem), HALO_ERROR_SIZE);
    assert_string_equal(problem.bytes, "stage `out` at (2) reads `src` at (3), outside 0..2\n");
    text_free(&problem);
    arena_free(memory);
}

static void checks_come_first(void **state)
{
    (void)state;
    arena *memory = arena_new(NULL);
    const char *source = "pipeline 1 @t { param @a f32 = 0.5 in 0..<1 param @b i32x2 = 1, 2 in -3..3 dim W = %src[0]\n"
                         "input %src u8 (0..W - 1, 0..3) check size E0301 lt(2, W) \"too small\" check parameter E0301 lt(@a, 0.75) \"too large\"\n"
                         "output %src as \"out\" }";
    tensor_pipe *p = ir_from_text(memory, source);
    uint8_t in[64] = { 0 };
    halo_image input = image_of(in, 1, 4, 4);
    uint32_t params[2][TENSOR_MAX_LANES] = { { 0x3f000000 }, { 1, 2 } }, failed = 99;
    run_values values = { &input, params };
    assert_int_equal(run_check(p, &values, &failed), HALO_OK);
    const struct { uint32_t a, b; int width, height, code; uint32_t failed; } rows[] = {
        { 0x3f000000, 2, 2, 4, HALO_ERROR_SIZE, 0 },            /* check 0 */
        { 0x3f600000, 2, 4, 4, HALO_ERROR_PARAMETER, 1 },       /* 0.875: check 1 */
        { 0x3f000000, 2, 4, 5, HALO_ERROR_SIZE, 2 },            /* the input */
        { 0x3f800000, 2, 4, 4, HALO_ERROR_PARAMETER, 3 },       /* 1.0 is excluded */
        { 0x7fc00000, 2, 4, 4, HALO_ERROR_PARAMETER, 3 },
        { 0x3f000000, (uint32_t)-4, 4, 4, HALO_ERROR_PARAMETER, 4 },
    };
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        params[0][0] = rows[k].a;
        params[1][1] = rows[k].b;
        input.extent[0] = rows[k].width;
        input.extent[1] = rows[k].height;
        assert_int_equal(run_check(p, &values, &failed), rows[k].code);
        assert_int_equal(failed, rows[k].failed);
    }
    arena_free(memory);
}

static void bounds_from_sizes_and_parameters(void **state)
{
    (void)state;
    arena *memory = arena_new(NULL);
    const char *source = "pipeline 1 @t { param @r f32 = 1.5 dim W = %src[0] input %src u8 (0..W - 1)\n"
                         "stage %out i32 (1 - cast.i32(ceil(mul(@r, 2.25)))..floordiv(W - 1, 2) * 3) { yield %x } output %out as \"out\" }";
    tensor_pipe *p = ir_from_text(memory, source);
    uint8_t in[6];
    halo_image input = image_of(in, 1, 6, 1);
    uint32_t params[1][TENSOR_MAX_LANES] = { { 0x40000000 } };           /* 2.0 */
    run_values values = { &input, params };
    int32_t lo[TENSOR_MAX_RANK], extent[TENSOR_MAX_RANK];
    stage_bounds(p, 2, &values, lo, extent);
    assert_int_equal(lo[0], -4);
    assert_int_equal(extent[0], 6 + 4 + 1);
    values.params = NULL;                                                 /* the default: 3.375 */
    stage_bounds(p, 2, &values, lo, extent);
    assert_int_equal(lo[0], -3);
    arena_free(memory);
}

static void a_thousand_stages_and_taps(void **state)
{
    (void)state;
    arena *memory = arena_new(NULL);
    tensor_pipe *p = tensor_pipe_new(memory, "t");
    uint32_t s = tensor_stage_new(p, STAGE_compute, "s", type_of(KIND_i32, 1), 0, (span){ 0 });
    stage_at(p, s)->body = tensor_i32(p, 1);
    for (int k = 0; k < 1000; k++) {
        ref one = tensor_load(p, s, NULL, NULL, NULL, type_of(KIND_i32, 1));
        s = tensor_stage_new(p, STAGE_compute, "s", type_of(KIND_i32, 1), 0, (span){ 0 });
        ref sum = tensor_op2(p, OP_add, one, tensor_i32(p, 1));
        stage_at(p, s)->body = sum;
    }
    ref chain = tensor_load(p, s, NULL, NULL, NULL, type_of(KIND_i32, 1)), first = chain;
    for (int k = 0; k < 100000; k++)
        chain = tensor_op2(p, OP_bitxor, tensor_op2(p, OP_mul, chain, tensor_i32(p, 3)), first);
    s = tensor_stage_new(p, STAGE_compute, "s", type_of(KIND_i32, 1), 0, (span){ 0 });
    stage_at(p, s)->body = chain;
    LIST_PUSH(memory, p->outputs, ((tensor_output){ .name = "out", .stage = s }));
    assert_true(tensor_verify(p, NULL));
    int32_t out;
    halo_image output = image_of(&out, 4, 1, 1);
    ir_run(p, NULL, NULL, &output);
    uint32_t wanted = 1001;
    for (int k = 0; k < 100000; k++)
        wanted = wanted * 3 ^ 1001;
    assert_int_equal((uint32_t)out, wanted);
    arena_free(memory);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(borders_of_a_line), cmocka_unit_test(a_border_belongs_to_its_stage),
        cmocka_unit_test(a_constant_border_counts_in_both_directions), cmocka_unit_test(axes_have_modes_of_their_own),
        cmocka_unit_test(folds_run_in_order_where_the_condition_holds), cmocka_unit_test(medians),
        cmocka_unit_test(muladd_rounds_as_the_pipe_says), cmocka_unit_test(any_strides_and_every_kind),
        cmocka_unit_test(stored_kinds_convert), cmocka_unit_test(a_read_outside_is_reported), cmocka_unit_test(checks_come_first),
        cmocka_unit_test(bounds_from_sizes_and_parameters), cmocka_unit_test(a_thousand_stages_and_taps),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
