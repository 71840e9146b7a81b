/* SPDX-License-Identifier: MIT
 * Long functions of one byte become tables, with every bit kept: of constants or made once per run, shared by what is alike; short ones,
 * functions of two bytes and of other kinds stay. */
#include "support_pass.h"

/* Two divisions and more: %a twice over, %b with a parameter, %c of two bytes, %d too short. */
static const char curves[] =
    "pipeline 1 @t { param @g f32 = 0.25 dim W = %src[0] dim H = %src[1] input %src u8x2 (0..W - 1, 0..H - 1)\n"
    "stage %a f32x2 (0..W - 1, 0..H - 1) { $p = load u8x2 %src (%x, %y) $v = cast f32x2 $p $c = splat f32x2 3.0 $q = div f32x2 $v, $c\n"
    "  $s = sqrt f32x2 $q $t = add f32x2 $s, $c $u = div f32x2 $q, $t $r = comp f32 $u index=1 $w = splat f32x2 $r $o = sub f32x2 $u, $w yield $o }\n"
    "stage %b f32 (0..W - 1, 0..H - 1) { $p = load u8x2 %src [edge, none] (%x, %y) $g = comp u8 $p index=1 $v = cast f32 $g $q = div f32 $v, @g\n"
    "  $s = sqrt f32 $q $t = add f32 $s, 1.0 $u = div f32 $q, $t yield $u }\n"
    "stage %c f32 (0..W - 1, 0..H - 1) { $p = load u8x2 %src (%x, %y) $f = cast f32x2 $p $g = comp f32 $f index=0 $h = comp f32 $f index=1\n"
    "  $q = div f32 $g, 3.0 $s = sqrt f32 $h $t = add f32 $s, 1.0 $u = div f32 $q, $t yield $u }\n"
    "stage %d f32 (0..W - 1, 0..H - 1) { $p = load u8x2 %src (%x, %y) $g = comp u8 $p index=1 $v = cast f32 $g $q = div f32 $v, 7.0 $s = add f32 $q, 1.0 yield $s }\n"
    "stage %e f32x2 (0..W - 1, 0..H - 1) { $p = load u8x2 %src [reflect, edge] (%y, %x) $v = cast f32x2 $p $c = splat f32x2 3.0 $q = div f32x2 $v, $c\n"
    "  $s = sqrt f32x2 $q $t = add f32x2 $s, $c $u = div f32x2 $q, $t yield $u }\n"
    "output %a as \"a\" output %b as \"b\" output %c as \"c\" output %d as \"d\" output %e as \"e\" }";

static void long_functions_become_tables(void **state)
{
    (void)state;
    arena *memory = arena_new(NULL);
    for (uint32_t k = 0; k < 3; k++) {
        const uint32_t params[1][TENSOR_MAX_LANES] = { { (uint32_t[]){ 0x3e800000, 0, 0xff800000 }[k] } };
        expect_same_bits(curves, PASS_tabulate, 7, 5, params, k);
    }
    tensor_pipe *p = after_pass(memory, curves, PASS_tabulate);
    uint32_t constant = find_stage(p, "a.values"), made = find_stage(p, "b.values");
    assert_int_equal(stage_at(p, constant)->kind, STAGE_table);
    assert_int_equal(stage_at(p, made)->kind, STAGE_compute);
    assert_int_equal(stage_at(p, made)->rank, 1);
    assert_int_equal(p->stages.count, 1 + 1 + 5 + 2);        /* %e has %a's table; %c and %d have none */
    assert_int_equal(count_op(p, OP_div), 2 + 2 + 1);        /* in %b's table, %c and %d */
    assert_int_equal(count_op(p, OP_load), 1 + 2 + 1 + 1 + 1 + 1 + 1 + 2);
    assert_false(pass_tabulate(p));
    arena_free(memory);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(long_functions_become_tables) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
