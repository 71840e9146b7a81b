/* SPDX-License-Identifier: MIT
 * Divisions by constants: by powers of two for every real, by others where what is divided was a small integer, with every bit kept. */
#include "support_pass.h"

/* %a by 255 and 0.3; %b a sum of bytes, by 765; %c by -8 and by 3, which stays; %d too large to try out; by nothing, and what overflows. */
static const char divisions[] =
    "pipeline 1 @t { %s dim W = %%src[0] dim H = %%src[1] input %%src %s (0..W - 1, 0..H - 1)\n"
    "stage %%a f32 (0..W - 1, 0..H - 1) { $p = load %s %%src (%%x, %%y) $v = cast f32 $p $q = div f32 $v, 255.0 $s = div f32 $v, 0.3 $o = sub f32 $q, $s yield $o }\n"
    "stage %%b f32 (0..W - 1, 0..H - 1) { $p = load %s %%src (%%x, %%y) $i = cast i32 $p $j = mul i32 $i, 3 $v = cast f32 $j $q = div f32 $v, 765.0 yield $q }\n"
    "stage %%c f32 (0..W - 1, 0..H - 1) { $p = load %s %%src (%%x, %%y) $v = cast f32 $p $s = sqrt f32 $v $q = div f32 $s, -8.0 $t = div f32 $q, 3.0 yield $t }\n"
    "stage %%d f32 (0..W - 1, 0..H - 1) { $p = load %s %%src (%%x, %%y) $i = cast i32 $p $j = mul i32 $i, 70000 $v = cast f32 $j $q = div f32 $v, 7.0 yield $q }\n"
    "stage %%e f32 (0..W - 1, 0..H - 1) { $p = load %s %%src (%%x, %%y) $v = cast f32 $p $q = div f32 $v, 0.0 $s = div f32 $v, 1e-44 $o = add f32 $q, $s yield $o }\n"
    "output %%a as \"a\" output %%b as \"b\" output %%c as \"c\" output %%d as \"d\" output %%e as \"e\" }";

static const char *pipe_of(arena *memory, const char *kind, const char *head)
{
    return arena_printf(memory, divisions, head, kind, kind, kind, kind, kind, kind);
}

static void quotients_stay(void **state)
{
    (void)state;
    arena *memory = arena_new(NULL);
    static const char *const kinds[] = { "u8", "i8", "u16", "i16" };
    for (uint64_t k = 0; k < 4; k++) {
        expect_same_bits(pipe_of(memory, kinds[k], ""), PASS_reciprocals, 70, 50, NULL, k);
        tensor_pipe *p = after_pass(memory, pipe_of(memory, kinds[k], ""), PASS_reciprocals);
        bool small = k < 2;                                     /* 3 * 65535 is too large */
        assert_int_equal(count_op(p, OP_div), 4 + !small);
        assert_int_equal(count_op(p, OP_fma), 4 + 2 * small);
        assert_false(pass_reciprocals(p));
    }
    expect_same_bits(pipe_of(memory, "f32", ""), PASS_reciprocals, 70, 50, NULL, 9);
    tensor_pipe *p = after_pass(memory, pipe_of(memory, "f32", ""), PASS_reciprocals);
    assert_int_equal(count_op(p, OP_fma), 0);
    arena_free(memory);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(quotients_stay) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
