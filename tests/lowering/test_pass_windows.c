/* SPDX-License-Identifier: MIT
 * Largest and smallest pixels of fixed windows: every shape, kind and border keeps its bits, in fewer comparisons. */
#include "support_pass.h"

#include <stdio.h>

#define ORDERED(load) load " $isnt = ne bool $v, $v $number = select f32 $isnt, f32(0xff800000), $v $zero = eq bool $number, 0.0 $e = select f32 $zero, 0.0, $number "
#define PLACE " $x = add i32 %%x, %%i $y = add i32 %%y, %%j "

static const char head[] = "pipeline 1 @t { dim W = %src[0] dim H = %src[1] input %src f32 (0..W - 1, 0..H - 1)\n";
static const char bytes_head[] = "pipeline 1 @t { dim W = %src[0] dim H = %src[1] input %src u8 (0..W - 1, 0..H - 1)\n";

/* Two pictures' sizes: smaller than the windows, and larger. */
static tensor_pipe *check(arena *memory, const char *pipe_head, const char *stages)
{
    char *source = arena_printf(memory, "%s%s output %%a as \"a\" }", pipe_head, stages);
    expect_same_bits(source, PASS_windows, 4, 3, NULL, 1);
    expect_same_bits(source, PASS_windows, 31, 37, NULL, 2);
    expect_same_bits(source, PASS_windows, 1, 1, NULL, 3);
    tensor_pipe *p = after_pass(memory, source, PASS_windows);
    assert_false(pass_get(PASS_windows)->run(p));
    return p;
}

static void shapes_in_runs(void **state)
{
    (void)state;
    static const char *const borders[] = { "[edge, edge]", "[reflect, wrap]", "[reflect101, reflect]", "[wrap, value 3.0]", "[value -2.0, value 1.0]" };
    arena *memory = arena_new(NULL);
    for (int k = 0; k < 5; k++) {
        /* a disk, and a ring, whose columns are two runs */
        for (int ring = 0; ring < 2; ring++) {
            char *stages = arena_printf(memory,
                "stage %%a f32 (0..W - 1, 0..H - 1) {\n"
                "  $m = fold loop (%%i in -7..7, %%j in -7..7) acc f32 %%acc = f32(0xff800000) { $ii = mul i32 %%i, %%i $jj = mul i32 %%j, %%j $rr = add i32 $ii, $jj\n"
                "    $in = le bool $rr, 50 $out = le bool %d, $rr $w = and bool $in, $out where $w" PLACE
                ORDERED("$v = load f32 %%src %s ($x, $y)") "$n = max f32 %%acc, $e next $n } yield $m }\n", ring ? 9 : 0, borders[k]);
            tensor_pipe *p = check(memory, head, stages);
            assert_int_equal(count_folds(p, FOLD_loop, 2), 0);
            assert_in_range(count_op(p, OP_max), 10, ring ? 60 : 35);          /* not the 149 of a disk */
        }
        /* a cross: sixteen columns have one run, which becomes a line */
        char *cross = arena_printf(memory,
            "stage %%a f32 (0..W - 1, 0..H - 1) {\n"
            "  $m = fold loop (%%i in -9..9, %%j in -7..8) acc f32 %%acc = f32(0xff800000) { $ii = mul i32 %%i, %%i $jj = mul i32 %%j, %%j\n"
            "    $flat = le bool $jj, 9 $tall = le bool $ii, 1 $w = or bool $flat, $tall where $w" PLACE
            ORDERED("$v = load f32 %%src %s ($x, $y)") "$n = max f32 %%acc, $e next $n } yield $m }\n", borders[k]);
        tensor_pipe *p = check(memory, head, cross);
        assert_int_equal(count_folds(p, FOLD_loop, 2), 0);
        assert_in_range(count_op(p, OP_max), 10, 30);                          /* 38 with two for every column */
    }
    arena_free(memory);
}

static void rectangles_and_lines(void **state)
{
    (void)state;
    static const char *const borders[] = { "[edge, edge]", "[reflect, wrap]", "[value u8(7), reflect101]", "[value u8(9), value u8(200)]" };
    /* binders' bounds, comparisons that are left at most (0: not touched) */
    static const struct { const char *bounds; int most; } shapes[] = {
        { "%i in -2..2, %j in -2..2", 8 }, { "%i in -3..13, %j in 2..30", 12 }, { "%i in 0..0, %j in -5..6", 4 },
        { "%i in -6..6, %j in 1..1", 5 }, { "%i in -1..1, %j in 0..0", 0 }, { "%i in -4..-4, %j in -20..-3", 5 } };
    arena *memory = arena_new(NULL);
    for (int k = 0; k < 4; k++)
        for (int s = 0; s < 6; s++) {
            char *stages = arena_printf(memory, "stage %%a u8 (0..W - 1, 0..H - 1) {\n"
                "  $m = fold loop (%s) acc u8 %%acc = u8(255) {" PLACE "$e = load u8 %%src %s ($x, $y) $n = min u8 $e, %%acc next $n } yield $m }\n",
                shapes[s].bounds, borders[k]);
            tensor_pipe *p = check(memory, bytes_head, stages);
            /* along the rows of a picture with two border values, lines across would get the wrong one at the corners */
            bool left = !shapes[s].most || (k == 3 && s == 3);
            assert_int_equal(count_folds(p, FOLD_loop, 2), left);
            if (!left) assert_in_range(count_op(p, OP_min), 1, shapes[s].most);
        }
    arena_free(memory);
}

/* What isn't the language's min and max, or isn't the same window everywhere. */
static void others_are_left(void **state)
{
    (void)state;
    static const char *const folds[] = {
        /* NaN and -0 as they come: the order matters */
        "(%%i in -5..5, %%j in -5..5) acc f32 %%acc = f32(0xff800000) {" PLACE "$e = load f32 %%src [edge, edge] ($x, $y) $n = max f32 %%acc, $e next $n }",
        /* it begins at something else */
        "(%%i in -5..5, %%j in -5..5) acc f32 %%acc = 0.5 {" PLACE ORDERED("$v = load f32 %%src [edge, edge] ($x, $y)") "$n = max f32 %%acc, $e next $n }",
        /* the window grows along the picture */
        "(%%i in -5..5, %%j in -5..5) acc f32 %%acc = f32(0xff800000) { $c = le bool %%i, %%x where $c" PLACE ORDERED("$v = load f32 %%src [edge, edge] ($x, $y)")
        "$n = max f32 %%acc, $e next $n }",
        /* an element knows where it is */
        "(%%i in -5..5, %%j in -5..5) acc f32 %%acc = f32(0xff800000) {" PLACE ORDERED("$p = load f32 %%src [edge, edge] ($x, $y) $f = cast f32 %%x $v = add f32 $p, $f")
        "$n = max f32 %%acc, $e next $n }",
        /* every second column */
        "(%%i in -5..5, %%j in -5..5) acc f32 %%acc = f32(0xff800000) { $x = add i32 %%x, %%i $i2 = add i32 $x, %%i $y = add i32 %%y, %%j"
        ORDERED("$v = load f32 %%src [edge, edge] ($i2, $y)") "$n = max f32 %%acc, $e next $n }" };
    arena *memory = arena_new(NULL);
    for (int k = 0; k < 5; k++) {
        char *stages = arena_printf(memory, "stage %%a f32 (0..W - 1, 0..H - 1) { $m = fold loop %s yield $m }\n", arena_printf(memory, folds[k]));
        tensor_pipe *p = check(memory, head, stages);
        assert_int_equal(count_folds(p, FOLD_loop, 2), 1);
    }
    arena_free(memory);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shapes_in_runs), cmocka_unit_test(rectangles_and_lines), cmocka_unit_test(others_are_left) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
