/* SPDX-License-Identifier: MIT
 * How many rounds the loops of a pixel take, against nests of loops that are run and counted. */
#include "support_pass.h"

#include "lowering/iterations.h"

enum { MOST_PARAMS = 6 };

/* `body` yields an i32; parameters @p0, @p1 ... are i32 without a range. */
static int64_t counted(const char *body, int n_params, const int32_t *params)
{
    arena *memory = arena_new(NULL);
    char *source = arena_printf(memory, "pipeline 1 @t {\n");
    for (int k = 0; k < n_params; k++) source = arena_printf(memory, "%sparam @p%d i32 = 0\n", source, k);
    source = arena_printf(memory, "%sstage %%out i32 (0..9, 0..9) {\n%s}\noutput %%out as \"out\" }", source, body);
    tensor_pipe *p = ir_from_text(memory, ir_numbered(memory, source));
    uint32_t bits[MOST_PARAMS][TENSOR_MAX_LANES] = { { 0 } };
    for (int k = 0; k < n_params; k++) bits[k][0] = (uint32_t)params[k];
    ref n = stage_iterations(p, find_stage(p, "out"));
    assert_true(node_is_uniform(p, n));
    run_values values = { NULL, (const uint32_t (*)[TENSOR_MAX_LANES])bits };
    int64_t value = uniform_evaluate(p, n, &values).i;
    arena_free(memory);
    return value;
}

static void no_loop(void **state)
{
    (void)state;
    assert_int_equal(counted("$a = mul i32 %x, %y yield $a", 0, NULL), 0);
}

/* Every round of every loop counts, also those whose inner loop is over nothing, and those that find a loop over. */
static void a_loop_per_binder(void **state)
{
    (void)state;
    static const char body[] =
        "$r = fold loop (%i in 2..@p0, %j in @p1..5, %k in 0..@p2 - 1) acc i32 %a = 0 {\n"
        "  $w = lt bool %k, %j where $w $n = add i32 %a, %k next $n }\n"
        "$s = add i32 $r, %x yield $s";
    random_source r = { 4 };
    for (int round = 0; round < 100; round++) {
        int32_t p[3] = { random_below(&r, 7) - 1, random_below(&r, 9) - 1, random_below(&r, 4) };
        int rounds = 1;
        for (int i = 2; i <= p[0]; i++, rounds += 2)
            for (int j = p[1]; j <= 5; j++, rounds += 2)
                for (int k = 0; k <= p[2] - 1; k++) rounds++;
        assert_int_equal(counted(body, 3, p), rounds);
    }
}

/* The second fold waits for i, the third for both i and j; the fourth for neither, so that it is computed once. What has two
 * results is one fold. */
static void nests_and_sums(void **state)
{
    (void)state;
    static const char body[] =
        "$r = fold loop (%i in 1..@p0) acc i32 %a = 0 {\n"
        "  $s = fold loop (%j in 1..@p1) acc i32 %b = 0 {\n"
        "    $t = fold loop (%k in 1..@p2) acc i32 %c = 0 { $u = mul i32 %i, %k $v = add i32 $u, %j $w = add i32 %c, $v next $w }\n"
        "    $o, $q = fold loop (%l in 1..@p3, %m in -1..1) acc i32 %d = 1, i32 %e = 2 {\n"
        "      $f = add i32 %d, %l $g = mul i32 %e, %m next $f, $g }\n"
        "    $h = add i32 %b, $t $y = add i32 $o, $q $z = add i32 $h, $y next $z }\n"
        "  $aa = add i32 $s, %i $ab = add i32 %a, $aa next $ab }\n"
        "$ac = fold loop (%n in 1..@p4) acc i32 %f = 0 { $ad = add i32 %f, %n next $ad }\n"
        "$ae = add i32 $r, $ac yield $ae";
    random_source r = { 5 };
    for (int round = 0; round < 100; round++) {
        int32_t p[5];
        for (int k = 0; k < 5; k++) p[k] = random_below(&r, 5);
        int rounds = (1 + p[3] + p[3] + 3 * p[3]) + (1 + p[4]) + 1;
        for (int i = 1; i <= p[0]; i++, rounds += 2)
            for (int j = 1; j <= p[1]; j++, rounds += 2)
                for (int k = 1; k <= p[2]; k++) rounds++;
        assert_int_equal(counted(body, 5, p), rounds);
    }
}

static void nests_of_six(void **state)
{
    (void)state;
    static const char body[] =
        "$a = fold loop (%i in 1..@p0) acc i32 %a = 0 { $b = fold loop (%j in 1..2) acc i32 %b = 0 {\n"
        "$c = fold loop (%k in 1..@p1) acc i32 %c = 0 { $d = fold loop (%l in 1..3) acc i32 %d = 0 {\n"
        "$e = fold loop (%m in 1..@p2) acc i32 %e = 0 { $f = fold loop (%n in 1..2) acc i32 %f = 0 {\n"
        "$ij = mul i32 %i, %j $kl = mul i32 %k, %l $mn = mul i32 %m, %n $g = add i32 $ij, $kl\n"
        "$h = add i32 $g, $mn $o = add i32 %f, $h next $o }\n"
        "$q = add i32 %e, $f next $q } $r = add i32 %d, $e next $r } $s = add i32 %c, $d next $s } $t = add i32 %b, $c next $t }\n"
        "$u = add i32 %a, $b next $u } yield $a";
    int32_t p[3] = { 3, 2, 4 };
    int rounds = 1;
    for (int i = 0; i < 3; i++, rounds += 2)
        for (int j = 0; j < 2; j++, rounds += 2)
            for (int k = 0; k < 2; k++, rounds += 2)
                for (int l = 0; l < 3; l++, rounds += 2)
                    for (int m = 0; m < 4; m++, rounds += 2)
                        for (int n = 0; n < 2; n++) rounds++;
    assert_int_equal(counted(body, 3, p), rounds);
}

/* Too many is ITERATIONS_MOST whatever is multiplied and added. */
static void it_saturates(void **state)
{
    (void)state;
    static const char two[] =
        "$r = fold loop (%i in @p0..@p1, %j in @p2..@p3) acc i32 %a = 0 { $n = add i32 %a, %j next $n } yield $r";
    static const int32_t ends[] = { INT32_MIN, INT32_MIN + 1, -70000, -1, 0, 1, 2, 40000, 46340, 46341, 70000,
                                    ITERATIONS_MOST - 1, ITERATIONS_MOST, ITERATIONS_MOST + 1, INT32_MAX - 1, INT32_MAX };
    enum { N = sizeof ends / sizeof *ends };
    random_source r = { 6 };
    for (int round = 0; round < 1000; round++) {
        int32_t p[4];
        for (int k = 0; k < 4; k++) p[k] = ends[random_below(&r, N)];
        int64_t columns = (int64_t)p[1] - p[0] + 1, rows = (int64_t)p[3] - p[2] + 1;
        if (columns < 0) columns = 0;
        if (rows < 0) rows = 0;
        /* up to 2^32 each: real numbers are exact enough for "too many" */
        int64_t wanted = (double)columns * ((double)rows + 2) + 1 >= ITERATIONS_MOST ? ITERATIONS_MOST : 1 + 2 * columns + columns * rows;
        assert_int_equal(counted(two, 4, p), wanted);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_loop), cmocka_unit_test(a_loop_per_binder), cmocka_unit_test(nests_and_sums),
        cmocka_unit_test(nests_of_six), cmocka_unit_test(it_saturates),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
