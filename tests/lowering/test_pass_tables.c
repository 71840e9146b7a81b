/* SPDX-License-Identifier: MIT
 * Stages of constants become tables with the bits that they compute; literal zero taps leave convolutions. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "support_pass.h"

/* ---- tables ---------------------------------------------------------------------------------------------- */

static const char curves[] =
    "pipeline 1 @t { param @gain f32 = 2.0 dim W = %src[0] input %src u8 (0..W - 1)\n"
    "table %given i32 (-1..1) { 7, -5, 3 }\n"
    "stage %raw f32 (-2..2) { $x = cast f32 %x $s = mul f32 $x, $x $d = sub f32 0.0, $s $e = muladd f32 $d, 0.3, 1.7 yield $e }\n"
    "stage %total f32 () { $t = fold loop (%i in -2..2) acc f32 %acc = 0.0 { $w = load f32 %raw (%i) $n = add f32 %acc, $w next $n } yield $t }\n"
    "stage %w f32 (-2..2) { $a = load f32 %raw (%x) $b = load f32 %total () $q = div f32 $a, $b yield $q }\n"
    "stage %bytes u8x2 (0..3, 0..1) { $y = mul i32 %y, 100 $v = add i32 %x, $y $m = load i32 %given [edge] (%x) $p = vec i32x2 $v, $m $u = cast u8x2 $p yield $u }\n"
    "stage %large i32 (0..300, 0..300) { yield %x }\n"
    "stage %scaled f32 (-2..2) { $a = load f32 %raw (%x) $q = mul f32 $a, @gain yield $q }\n"
    "stage %sized i32 (0..W) { yield %x }\n"
    "stage %out f32 (0..W - 1) { $c = load f32 %w (1) $p = load u8x2 %bytes (2, 1) $g = comp u8 $p index=0 $h = cast f32 $g $r = mul f32 $c, $h\n"
    "  $s = load f32 %scaled [edge] (%x) $t = add f32 $r, $s $l = load i32 %large [edge, edge] (%x, %x) $k = cast f32 $l $v = add f32 $t, $k\n"
    "  $z = load i32 %sized (%x) $zz = cast f32 $z $last = add f32 $v, $zz yield $last }\n"
    "output %out as \"out\" }";

static void constants_become_tables(void **state)
{
    (void)state;
    arena *memory = arena_new(NULL);
    tensor_pipe *p = after_pass(memory, curves, PASS_fold_tables);
    static const struct { const char *name; stage_kind kind; } stages[] = {
        { "raw", STAGE_table }, { "total", STAGE_table }, { "w", STAGE_table }, { "bytes", STAGE_table },
        { "large", STAGE_compute }, { "scaled", STAGE_compute }, { "sized", STAGE_compute }, { "out", STAGE_compute } };
    for (int k = 0; k < 8; k++)
        if (stage_at(p, find_stage(p, stages[k].name))->kind != stages[k].kind) fail_msg("%s", stages[k].name);
    float raw[5], total = 0;
    for (int i = 0; i < 5; i++) raw[i] = fmaf(-(float)((i - 2) * (i - 2)), 0.3f, 1.7f), total += raw[i];
    const uint32_t *words = stage_at(p, find_stage(p, "w"))->words;
    for (int i = 0; i < 5; i++) {
        float value = raw[i] / total;
        assert_memory_equal(&value, &words[i], 4);
    }
    const uint32_t bytes[16] = { 0, 0, 1, 3, 2, 3, 3, 3, 100, 0, 101, 3, 102, 3, 103, 3 };      /* -5 saturates to 0 */
    assert_memory_equal(stage_at(p, find_stage(p, "bytes"))->words, bytes, sizeof bytes);
    assert_int_equal(count_op(p, OP_load), 1 + 3);          /* w[1] and bytes[2, 1] are literals in %out */
    arena_free(memory);
    const uint32_t params[1][TENSOR_MAX_LANES] = { { 0x40000000 } };
    expect_same_bits(curves, PASS_fold_tables, 5, 1, params, 1);
}

static void outputs_stay_stages(void **state)
{
    (void)state;
    const char *source = "pipeline 1 @t { stage %out i32 (0..3) { yield %x } output %out as \"out\" }";
    arena *memory = arena_new(NULL);
    tensor_pipe *p = after_pass(memory, source, PASS_fold_tables);
    assert_int_equal(stage_at(p, 1)->kind, STAGE_compute);
    arena_free(memory);
}

/* ---- zero taps -------------------------------------------------------------------------------------------- */

static const char convolution[] =
    "pipeline 1 @t { dim W = %%src[0] dim H = %%src[1] input %%src %s (0..W - 1, 0..H - 1)\n"
    "table %%k %s (-1..1, 0..2) { %s }\n"
    "stage %%out %s (0..W - 1, 0..H - 1) {\n"
    "  $c = fold conv (%%j in 0..2, %%i in -1..1) acc %s %%acc = %s {\n"
    "    $w = load %s %%k (%%i, %%j) $x = add i32 %%x, %%i $y = add i32 %%y, %%j $e = load %s %%src [edge, edge] ($x, $y)\n"
    "    %s next $n } yield $c }\n"
    "output %%out as \"out\" }";

static char *f32_convolution(arena *memory, const char *weights)
{
    return arena_printf(memory, convolution, "f32", "f32", weights, "f32", "f32", "-0.0", "f32", "f32", "$n = muladd f32 $w, $e, %acc");
}

static char *i32_convolution(arena *memory, const char *weights)
{
    return arena_printf(memory, convolution, "u8", "i32", weights, "i32", "i32", "0", "i32", "i32", "$p = mul i32 $w, $e $n = add i32 %acc, $p");
}

static void zero_taps_have_no_say(void **state)
{
    (void)state;
    arena *memory = arena_new(NULL);
    tensor_pipe *p = after_pass(memory, f32_convolution(memory, "0.0, 2.5, 0.0, 1.5, -0.0, 3.5, 0.0, 0.5, 0.0"), PASS_drop_zeros);
    assert_int_equal(count_folds(p, FOLD_conv, 2), 0);
    assert_int_equal(count_folds(p, FOLD_conv, 1), 1);
    enum { W = 5, H = 4 };
    float in[W * H], out[W * H];
    for (int k = 0; k < W * H; k++) in[k] = (float)k * 1.1f;
    in[1 * W + 2] = INFINITY;
    halo_image input = image_of(in, 4, W, H), output = image_of(out, 4, W, H);
    ir_run(p, &input, NULL, &output);
    static const struct { int i, j; float w; } taps[] = { { 0, 0, 2.5f }, { -1, 1, 1.5f }, { 1, 1, 3.5f }, { 0, 2, 0.5f } };
    for (int at = 0; at < W * H; at++) {
        float sum = -0.0f;
        for (int t = 0; t < 4; t++) {
            int x = at % W + taps[t].i, y = at / W + taps[t].j;
            sum = fmaf(taps[t].w, in[(y >= H ? H - 1 : y) * W + (x < 0 ? 0 : x >= W ? W - 1 : x)], sum);
        }
        assert_memory_equal(&out[at], &sum, 4);
    }
    assert_true(isfinite(out[2]));              /* its tap on the infinity is a zero */
    arena_free(memory);
}

static void kernels_without_and_of_zeros(void **state)
{
    (void)state;
    arena *memory = arena_new(NULL);
    tensor_pipe *p = after_pass(memory, f32_convolution(memory, "1.0, 2.5, 3.0, 1.5, 4.0, 3.5, 5.0, 0.5, 6.0"), PASS_drop_zeros);
    assert_int_equal(count_folds(p, FOLD_conv, 2), 1);
    p = after_pass(memory, f32_convolution(memory, "0.0, 0.0, 0.0, 0.0, -0.0, 0.0, 0.0, 0.0, 0.0"), PASS_drop_zeros);
    float value;
    assert_true(node_is_f32(p, stage_at(p, find_stage(p, "out"))->body, &value) && value == 0 && !signbit(value));
    arena_free(memory);
}

static void integer_taps_keep_every_bit(void **state)
{
    (void)state;
    arena *memory = arena_new(NULL);
    char *source = i32_convolution(memory, "0, 0, 0, -100000, 2147483647, 0, 0, 0, 3");
    tensor_pipe *p = after_pass(memory, source, PASS_drop_zeros_exact);
    assert_int_equal(count_folds(p, FOLD_conv, 2), 0);
    expect_same_bits(source, PASS_drop_zeros_exact, 7, 5, NULL, 9);
    expect_same_bits(i32_convolution(memory, "0, 0, 0, 0, 0, 0, 0, 0, 0"), PASS_drop_zeros_exact, 7, 5, NULL, 9);
    expect_same_bits(i32_convolution(memory, "0, 0, 0, 0, 0, 0, 0, 1, 0"), PASS_drop_zeros_exact, 7, 5, NULL, 9);
    p = after_pass(memory, source, PASS_drop_zeros);
    assert_int_equal(count_folds(p, FOLD_conv, 2), 1);       /* the define pass leaves integers to the exact one */
    arena_free(memory);
}

/* A lane may have zeros where another has none: then the tap stays, with its zeros. */
static void taps_go_when_all_components_are_zero(void **state)
{
    (void)state;
    arena *memory = arena_new(NULL);
    char *source = arena_printf(memory, convolution, "f32x2", "f32x2", "0.0, 1.0, 0.0, 0.0, 2.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0",
                                "f32x2", "f32x2", "$zero", "f32x2", "f32x2", "$n = muladd f32x2 $w, $e, %acc");
    char *with_zero = arena_alloc(memory, strlen(source) + 64), *at = strstr(source, "$c = fold");
    strncat(with_zero, source, (size_t)(at - source));
    strcat(with_zero, "$zero = splat f32x2 -0.0 ");
    strcat(with_zero, at);
    tensor_pipe *p = after_pass(memory, with_zero, PASS_drop_zeros);
    assert_int_equal(count_folds(p, FOLD_conv, 1), 1);
    int n_two = 0;
    for (uint32_t s = 1; s < p->stages.count; s++) {
        int64_t hi;
        n_two += stage_at(p, s)->kind == STAGE_table && stage_at(p, s)->rank == 1 && node_is_const(p, stage_at(p, s)->hi[0], &hi) && hi == 1;
    }
    assert_int_equal(n_two, 2);                              /* two taps: weights and x offsets; y is the same in both */
    arena_free(memory);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(constants_become_tables), cmocka_unit_test(outputs_stay_stages), cmocka_unit_test(zero_taps_have_no_say),
        cmocka_unit_test(kernels_without_and_of_zeros), cmocka_unit_test(integer_taps_keep_every_bit),
        cmocka_unit_test(taps_go_when_all_components_are_zero),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
