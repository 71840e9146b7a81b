/* SPDX-License-Identifier: MIT
 * Planes of opposite distances are computed once, with every bit kept; and all of them where opposite ones differ or somebody else
 * reads them. */
#include "support_pass.h"

/* unlike: $v of $d, the difference; aside: what reads around beside the sum. */
static char *script(arena *memory, const char *border, const char *unlike, const char *planes, const char *element, const char *aside)
{
    return arena_printf(memory,
        "pipeline 1 @t { dim W = %%src[0] dim H = %%src[1] input %%src f32 (0..W - 1, 0..H - 1)\n"
        "stage %%unlike f32 (-4..W + 3, -3..H + 2, -2..2, -1..1) { $x = add i32 %%x, %%z $y = add i32 %%y, %%u\n"
        "  $a = load f32 %%src %s (%%x, %%y) $b = load f32 %%src %s ($x, $y) $d = sub f32 $a, $b %s yield $v }\n"
        "stage %%around f32 (-1..W, 0..H - 1, -2..2, -1..1) {\n"
        "  $s = fold loop (%%j in -2..2) acc f32 %%acc = 0.5 { $y = add i32 %%y, %%j $x = sub i32 %%x, 1 $e = load f32 %%unlike ($x, $y, %%z, %%u)\n"
        "    $n = fma f32 %%acc, 0.7, $e next $n } yield $s }\n"
        "stage %%out f32 (0..W - 1, 0..H - 1) {\n"
        "  $t = fold loop (%s) acc f32 %%t = 0.0 { $p = load f32 %%around (%%x, %%y, %%dx, %%dy) $x = add i32 %%x, %%dx $y = add i32 %%y, %%dy\n"
        "    $q = load f32 %%src [edge, reflect] ($x, $y) $one = add f32 $p, 1.0 %s $w = mul f32 $e, $q $n = add f32 %%t, $w next $n }\n"
        "  %s yield $r }\n"
        "output %%out as \"out\" }", border, border, unlike, planes, element, aside);
}

#define LONG "$f = div f32 $p, $one $g = mul f32 $f, $f $h = add f32 $g, 0.25 $k = div f32 $one, $h $l = sqrt f32 $k $m = add f32 $l, $g $o = mul f32 $m, $m $e = sub f32 $o, $f "
static const char all[] = "%dy in -1..1, %dx in -2..2", squares[] = "$v = mul f32 $d, $d", same[] = "$r = add f32 $t, 0.0";

static void check(const char *border, const char *unlike, const char *planes, const char *element, const char *aside, bool halved, bool stage)
{
    arena *memory = arena_new(NULL);
    char *source = script(memory, border, unlike, planes, element, aside);
    expect_same_bits(source, PASS_mirrors, 1, 1, NULL, 1);
    expect_same_bits(source, PASS_mirrors, 6, 4, NULL, 2);
    expect_same_bits(source, PASS_mirrors, 23, 11, NULL, 3);
    tensor_pipe *p = after_pass(memory, source, PASS_mirrors);
    static const char *const names[] = { "unlike", "around" };
    for (int k = 0; k < 2; k++) {
        int64_t first;
        assert_true(node_is_const(p, stage_at(p, find_stage(p, names[k]))->lo[3], &first));
        assert_int_equal(first, halved ? 0 : -1);
    }
    assert_int_equal(find_stage(p, "around.1") != 0, stage);
    assert_false(pass_get(PASS_mirrors)->run(p));
    arena_free(memory);
}

static void opposite_planes(void **state)
{
    (void)state;
    check("[edge, edge]", squares, all, LONG, same, true, true);
    check("[reflect, value 0.5]", "$v = abs f32 $d", all, LONG, same, true, true);
    check("[wrap, reflect101]", squares, "%dx in -2..1, %dy in -1..0", "$e = mul f32 $one, $p", same, true, false);
    check("[edge, edge]", squares, all, LONG "$e2 = mul f32 $e, $p $e3 = cast f32 %dx $e = mul f32 $e2, $e3", same, true, true);
    check("[edge, edge]", squares, all, LONG "$e2 = cast f32 %dx $e3 = mul f32 $p, $e2 $e = add f32 $e3, $o", same, true, false);
}

static void others(void **state)
{
    (void)state;
    check("[edge, edge]", "$v = add f32 $d, 1.0", all, LONG, same, false, false);                                        /* changes its sign */
    check("[edge, edge]", "$s = mul f32 $d, $d $v = mul f32 $s, $a", all, LONG, same, false, false);                      /* weighs one of the two */
    check("[edge, edge]", "$s = mul f32 $d, $d $f = cast f32 %x $v = mul f32 $s, $f", all, LONG, same, false, false);     /* knows its place */
    check("[edge, edge]", "$s = mul f32 $d, $d $f = cast f32 %u $v = mul f32 $s, $f", all, LONG, same, false, false);     /* and its distance */
    check("[edge, edge]", squares, all, LONG, "$o = load f32 %around (%x, %y, 0, -1) $r = add f32 $t, $o", false, false);  /* is read beside */
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(opposite_planes), cmocka_unit_test(others) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
