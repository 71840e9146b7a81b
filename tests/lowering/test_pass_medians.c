/* SPDX-License-Identifier: MIT
 * Medians as networks and bit by bit have the bits of the sorted list, in every kind, with NaN, infinities, -0, `where`, run-time
 * radii and empty windows. */
#include <string.h>

#include "support_pass.h"

static const char *const kinds[] = { "bool", "u8", "i8", "u16", "i16", "u32", "i32", "f16", "f32", "u8x3", "f32x2" };
enum { N_KINDS = sizeof kinds / sizeof *kinds };

static char *window(arena *memory, const char *kind, const char *x_range, const char *y_range, const char *border, const char *where)
{
    char plain[8] = "";
    memcpy(plain, kind, strcspn(kind, "x"));
    bool lanes = strchr(kind, 'x') != NULL;
    const char *number = kind[0] == 'f' ? "7.0" : kind[0] == 'b' ? "1" : "7";
    char *seven = strcmp(plain, "f32") && strcmp(plain, "i32") ? arena_printf(memory, "%s(%s)", plain, number) : arena_printf(memory, "%s", number);
    char *init = lanes ? arena_printf(memory, "$init = splat %s %s", kind, seven) : "";
    return arena_printf(memory,
        "pipeline 1 @t { param @r i32 = 1 dim W = %%src[0] dim H = %%src[1] input %%src %s (0..W - 1, 0..H - 1)\n"
        "stage %%out %s (0..W - 1, 0..H - 1) { %s\n"
        "  $m = fold median (%%j in %s, %%i in %s) acc %s %%acc = %s { %s\n"
        "    $px = add i32 %%x, %%i $py = add i32 %%y, %%j $e = load %s %%src [%s] ($px, $py) next $e } yield $m }\n"
        "output %%out as \"out\" }",
        kind, kind, init, y_range, x_range, kind, lanes ? "$init" : seven, where, kind, border);
}

static void check(const char *kind, const char *x_range, const char *y_range, const char *border, const char *where, int radius, bool network)
{
    arena *memory = arena_new(NULL);
    char *source = window(memory, kind, x_range, y_range, border, where);
    uint32_t params[1][TENSOR_MAX_LANES] = { { (uint32_t)radius } };
    static const int sizes[][2] = { { 1, 1 }, { 2, 3 }, { 9, 7 } };
    for (int k = 0; k < 3; k++) expect_same_bits(source, PASS_medians, sizes[k][0], sizes[k][1], params, (uint64_t)k + 5);
    tensor_pipe *p = after_pass(memory, source, PASS_medians);
    for (int binders = 1; binders <= 2; binders++) assert_int_equal(count_folds(p, FOLD_median, binders), 0);
    assert_true(network == (count_folds(p, FOLD_loop, 1) + count_folds(p, FOLD_loop, 2) == 0));
    arena_free(memory);
}

static void few_elements(void **state)
{
    (void)state;
    for (int k = 0; k < N_KINDS; k++) {
        check(kinds[k], "-1..1", "-1..1", "edge, edge", "", 1, true);
        check(kinds[k], "0..1", "-1..1", "reflect101, wrap", "", 1, true);        /* an even number: the lower middle one */
    }
    static const char *const ranges[] = { "0..0", "0..1", "0..2", "-1..2", "-2..2", "-3..3" };
    for (int a = 0; a < 6; a++)
        for (int b = 0; b < 6; b++) check("f32", ranges[a], ranges[b], "edge, edge", "", 1, true);
    check("u8", "1..0", "0..2", "edge, edge", "", 1, true);                             /* of nothing */
}

static void many_elements(void **state)
{
    (void)state;
    for (int k = 0; k < N_KINDS; k++) check(kinds[k], "-5..4", "-2..2", "edge, edge", "", 1, false);
}

static void run_time_radius(void **state)
{
    (void)state;
    for (int k = 0; k < N_KINDS; k++)
        for (int radius = -1; radius <= 2; radius++) check(kinds[k], "neg(@r)..@r", "neg(@r)..@r", "wrap, edge", "", radius, false);
}

static void with_a_condition(void **state)
{
    (void)state;
    const char *disk = "$a = mul i32 %i, %i $b = mul i32 %j, %j $c = add i32 $a, $b $d = mul i32 @r, @r $e = le bool $c, $d where $e\n";
    const char *moving = "$a = add i32 %x, %i $b = mod i32 $a, 3 $e = eq bool $b, 0 where $e\n";       /* empty windows among them */
    for (int k = 0; k < N_KINDS; k++) {
        check(kinds[k], "-2..2", "-2..2", "edge, edge", disk, 2, false);
        check(kinds[k], "0..1", "0..0", "edge, edge", moving, 1, false);
    }
}

static void outside_values_are_compared_too(void **state)
{
    (void)state;
    arena *memory = arena_new(NULL);
    const char *values[] = { "0.5", "f32(0x7fc00000)", "-0.0", "f32(0xff800000)" };
    for (int k = 0; k < 4; k++)
        check("f32", "-1..1", "-1..1", arena_printf(memory, "value %s, value %s", values[k], values[3 - k]), "", 1, true);
    arena_free(memory);
}

/* Nothing is sorted that the middle one doesn't need. */
static void networks_are_small(void **state)
{
    (void)state;
    static const struct { const char *range; int most; } rows[] = { { "-1..1", 30 }, { "-2..2", 128 }, { "-3..3", 400 } };
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        arena *memory = arena_new(NULL);
        tensor_pipe *p = after_pass(memory, window(memory, "u8", rows[k].range, rows[k].range, "edge, edge", ""), PASS_medians);
        int n = count_op(p, OP_min) + count_op(p, OP_max);
        if (n > rows[k].most) fail_msg("%d comparisons for %s, expected at most %d", n, rows[k].range, rows[k].most);
        arena_free(memory);
    }
}

/* Keys of reals are made once a pixel, not once a tap, and once for all windows over a picture. */
static void keys_are_shared(void **state)
{
    (void)state;
    arena *memory = arena_new(NULL);
    tensor_pipe *p = after_pass(memory, window(memory, "f32", "-1..1", "-1..1", "edge, edge", ""), PASS_medians);
    assert_int_equal(p->stages.count - 1, 3);
    assert_int_equal(count_op(p, OP_load), 1 + 9);
    arena_free(memory);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(few_elements), cmocka_unit_test(many_elements), cmocka_unit_test(run_time_radius),
        cmocka_unit_test(with_a_condition), cmocka_unit_test(outside_values_are_compared_too), cmocka_unit_test(networks_are_small),
        cmocka_unit_test(keys_are_shared),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
