/* SPDX-License-Identifier: MIT
 * Variables with one value go, with every bit kept: in convolutions, with conditions, with several accumulators. */
#include "support_pass.h"

static const char folds[] =
    "pipeline 1 @t { param @r i32 = 2 dim W = %src[0] dim H = %src[1] input %src f32 (0..W - 1, 0..H - 1)\n"
    "stage %k f32 (0..0, neg(@r)..@r) { $y = cast f32 %y $w = mul f32 $y, 0.3 yield $w }\n"
    "stage %a f32 (0..W - 1, 0..H - 1) {\n"
    "  $c = fold conv (%j in neg(@r)..@r, %i in 0..0) acc f32 %acc = -0.0 { $w = load f32 %k (%i, %j) $x = add i32 %x, %i $y = add i32 %y, %j\n"
    "    $e = load f32 %src [edge, edge] ($x, $y) $n = muladd f32 $w, $e, %acc next $n } yield $c }\n"
    "stage %b f32 (0..W - 1, 0..H - 1) {\n"
    "  $p, $q = fold loop (%i in @r..@r, %j in -1..1, %k in 5..5) acc f32 %p = 1.0, f32 %q = 0.5 { $x = add i32 %x, %i $y = add i32 %y, %j\n"
    "    $e = load f32 %src [wrap, reflect] ($x, $y) $t = lt bool $e, 100.0 where $t $kf = cast f32 %k $n = mul f32 %p, $e $m = add f32 %q, $kf $o = add f32 $m, %p next $n, $o }\n"
    "  $s = add f32 $p, $q yield $s }\n"
    "stage %c f32 (0..W - 1, 0..H - 1) {\n"
    "  $v = fold loop (%i in -1..-1, %j in 2..2) acc f32 %v = 7.0 { $x = add i32 %x, %i $y = add i32 %y, %j $e = load f32 %src [edge, edge] ($x, $y)\n"
    "    $t = lt bool 0.0, $e where $t $n = sub f32 %v, $e next $n } yield $v }\n"
    "output %a as \"a\" output %b as \"b\" output %c as \"c\" }";

static void single_values_go(void **state)
{
    (void)state;
    arena *memory = arena_new(NULL);
    for (uint32_t r = 0; r < 4; r++) {
        const uint32_t params[1][TENSOR_MAX_LANES] = { { r } };
        expect_same_bits(folds, PASS_thin_folds, 7, 5, params, r);
    }
    tensor_pipe *p = after_pass(memory, folds, PASS_thin_folds);
    assert_int_equal(count_folds(p, FOLD_conv, 1), 1);
    assert_int_equal(count_folds(p, FOLD_loop, 1), 2);               /* two results of one */
    assert_int_equal(count_op(p, OP_result), 3);                     /* and none in %c */
    assert_false(pass_thin_folds(p));
    arena_free(memory);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(single_values_go) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
