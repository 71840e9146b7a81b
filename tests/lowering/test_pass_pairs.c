/* SPDX-License-Identifier: MIT
 * What a sum computes of two pixels is computed once for both, with every bit kept: conditions, off-centre windows, colours, borders;
 * and is left alone where the two aren't alike. */
#include "support_pass.h"

static const char *const borders[] = { "[edge, edge]", "[reflect, wrap]", "[value 0.5, reflect101]", "[wrap, value -1.0]" };

/* value: $v of $d = moved - here, $a = moved, $b = here. */
static char *sum_of(arena *memory, const char *bounds, const char *where, const char *border, const char *value)
{
    return arena_printf(memory,
        "pipeline 1 @t { dim W = %%src[0] dim H = %%src[1] input %%src f32 (0..W - 1, 0..H - 1)\n"
        "stage %%out f32 (0..W - 1, 0..H - 1) {\n"
        "  $p, $q = fold loop (%s) acc f32 %%p = 0.5, f32 %%q = 0.0 { %s $x = add i32 %%x, %%i $y = add i32 %%y, %%j\n"
        "    $a = load f32 %%src %s ($x, $y) $b = load f32 %%src (%%x, %%y) $d = sub f32 $a, $b %s\n"
        "    $i = cast f32 %%i $w = mul f32 $v, $i $n = fma f32 $w, $a, %%p $m = add f32 %%q, $w next $n, $m }\n"
        "  $r = sub f32 $p, $q yield $r }\n"
        "output %%out as \"out\" }", bounds, where, border, value);
}

#define SQUARES "$s = mul f32 $d, $d $t = mul f32 $s, -0.75 $e = add f32 $t, 1.0 $f = mul f32 $e, $t $g = add f32 $f, $s $h = div f32 $g, $e "
static const char alike[] = SQUARES "$u = add f32 $a, $b $v = mul f32 $h, $u";
static const char sizes[] = "$s = abs f32 $d $t = mul f32 $s, -0.75 $e = add f32 $t, 1.0 $f = mul f32 $e, $t $g = add f32 $f, $s $h = div f32 $g, $e $v = sqrt f32 $h";

static void check(const char *bounds, const char *where, const char *value, bool paired)
{
    arena *memory = arena_new(NULL);
    for (int k = 0; k < 4; k++) {
        char *source = sum_of(memory, bounds, where, borders[k], value);
        expect_same_bits(source, PASS_pairs, 1, 1, NULL, 1);
        expect_same_bits(source, PASS_pairs, 5, 3, NULL, 2);
        expect_same_bits(source, PASS_pairs, 19, 17, NULL, 3);
        tensor_pipe *p = after_pass(memory, source, PASS_pairs);
        assert_int_equal(count_folds(p, FOLD_loop, 1), 2 * paired);              /* two results of one */
        assert_int_equal(count_folds(p, FOLD_loop, 2), 2 * !paired);
        assert_false(pass_get(PASS_pairs)->run(p));
    }
    arena_free(memory);
}

static void alike_both_ways(void **state)
{
    (void)state;
    const char *disk = "$ii = mul i32 %i, %i $jj = mul i32 %j, %j $rr = add i32 $ii, $jj $in = le bool $rr, 10 where $in ";
    check("%i in -2..2, %j in -2..2", "", alike, true);
    check("%j in -3..3, %i in -3..3", disk, sizes, true);
    check("%i in -2..2, %j in -2..2", "", SQUARES "$o = cast f32 %x $v = mul f32 $h, $o", true);    /* the rest may know its place */
    check("%j in -4..3, %i in -3..3", "", sizes, true);                       /* those at -4 have no opposite */
}

static void not_alike(void **state)
{
    (void)state;
    check("%i in 0..4, %j in 0..4", "", alike, false);                            /* no opposites */
    check("%i in -2..2, %j in -2..2", "", SQUARES "$v = mul f32 $h, $d", false);         /* changes its sign */
    check("%i in -2..2, %j in -2..2", "", SQUARES "$v = mul f32 $h, $a", false);         /* weighs one of the two */
    check("%i in -2..2, %j in -2..2", "", "$v = mul f32 $d, $d", false);                 /* is not worth a store */
}

static void colours(void **state)
{
    (void)state;
    static const char source[] =
        "pipeline 1 @t { dim W = %src[0] dim H = %src[1] input %src f32x2 (0..W - 1, 0..H - 1)\n"
        "stage %out f32x2 (0..W - 1, 0..H - 1) { $none = splat f32x2 0.0\n"
        "  $s = fold loop (%j in -1..1, %i in -2..2) acc f32x2 %s = $none { $x = add i32 %x, %i $y = add i32 %y, %j\n"
        "    $a = load f32x2 %src [edge, reflect] ($x, $y) $b = load f32x2 %src (%x, %y) $d = sub f32x2 $a, $b\n"
        "    $r = comp f32 $d index=0 $g = comp f32 $d index=1 $rr = mul f32 $r, $r $n = fma f32 $g, $g, $rr $q = sqrt f32 $n $t = add f32 $q, 1.0\n"
        "    $u = div f32 $n, $t $v = mul f32 $u, $t $w = sub f32 $v, $q $k = mul f32 $w, $u $weight = splat f32x2 $k\n"
        "    $e = fma f32x2 $weight, $a, %s next $e } yield $s }\n"
        "output %out as \"out\" }";
    arena *memory = arena_new(NULL);
    expect_same_bits(source, PASS_pairs, 2, 1, NULL, 4);
    expect_same_bits(source, PASS_pairs, 11, 9, NULL, 5);
    assert_int_equal(count_folds(after_pass(memory, source, PASS_pairs), FOLD_loop, 1), 1);
    arena_free(memory);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(alike_both_ways), cmocka_unit_test(not_alike), cmocka_unit_test(colours) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
