/* SPDX-License-Identifier: MIT
 * IR text: what is printed reads back as the same text and the same values, for random pipes; broken texts give errors. */
#include <stdlib.h>
#include <string.h>

#include "support_ir.h"
#include "support_pipe.h"

/* ---- what must hold ---------------------------------------------------------------------------- */

static void random_pipes_read_back(void **state)
{
    (void)state;
    static uint8_t first[RANDOM_PIPE_BYTES], second[RANDOM_PIPE_BYTES];
    for (uint64_t seed = 0; seed < 150; seed++) {
        arena *memory = arena_new(NULL);
        tensor_pipe *p = random_pipe(memory, seed);
        text problems = { 0 };
        if (!tensor_verify(p, &problems))
            fail_msg("seed %u: %s", (unsigned)seed, problems.bytes);
        char *printed = ir_text(memory, p);
        tensor_pipe *again = ir_from_text(memory, printed);
        char *reprinted = ir_text(memory, again);
        if (strcmp(printed, reprinted) != 0)
            fail_msg("seed %u:\n%s\nand then\n%s", (unsigned)seed, printed, reprinted);
        memset(first, 0, sizeof first);
        memset(second, 0, sizeof second);
        random_pipe_run(p, seed, first);
        random_pipe_run(again, seed, second);
        if (memcmp(first, second, sizeof first) != 0)
            fail_msg("seed %u: other values after reading\n%s", (unsigned)seed, printed);
        arena_free(memory);
    }
}

static const char everything[] =
    "pipeline 1 @all strict doc \"Says \\\"all\\\".\" {\n"
    "  param @sigma f32 = 1.5 in 0.25..<8\n"
    "  param @tint u8x3 = 1, 2, 255 doc \"Colour.\"\n"
    "  dim W = %src[0]\n"
    "  dim H = %src[1]\n"
    "  input %src u16x3 (0..W - 1, 0..H - 1) image in 0..1023 doc \"Raw.\"\n"
    "  table %taps f32 (-1..1) {\n"
    "    0.25, 0x7fc00000, -0.0\n"
    "  }\n"
    "  stage %a f32 (-2..(W + H) * 2 - floordiv(W, 2), sub(H, 1)..min(W - H, cast.i32(@sigma)) + -2147483648) materialize inline tile 64 16 {\n"
    "    %0 = cast i32x3 @tint\n"
    "    %1, _ = fold conv (%i in -1..1, %x.1 in 0..W - 1) acc i32x3 %acc = %0, f32 %acc.1 = f32(0x7f800000) {\n"
    "      %2 = lt bool %i, %x.1\n"
    "      where %2\n"
    "      %3 = load i32x3 %src [reflect101, value %0] (%x, %i)\n"
    "      %4 = add i32x3 %acc, %3\n"
    "      %5 = load f32 %taps (%i)\n"
    "      %6 = muladd f32 %5, 0.1, %acc.1\n"
    "      next %4, %6\n"
    "    }\n"
    "    %7 = comp i32 %1 index=2\n"
    "    %8 = cast f32 %7\n"
    "    yield %8\n"
    "  }\n"
    "  stage %a.1 bool () {\n"
    "    yield bool(1)\n"
    "  }\n"
    "  check parameter E0301 and(lt(@sigma, 9.0), eq(comp.1(@tint), u8(3))) \"no\\nway \\x07\"\n"
    "  output %a as \"a\"\n"
    "  output %a.1 as \"b\" image doc \"B\"\n"
    "}\n";

static void the_canonical_text_is_kept(void **state)
{
    (void)state;
    arena *memory = arena_new(NULL);
    char *source = arena_string(memory, everything, sizeof everything - 1), *at = strstr(source, "fold conv");
    memcpy(at, "fold loop", 9);                       /* a conv has one accumulator */
    assert_string_equal(ir_text(memory, ir_from_text(memory, source)), source);
    arena_free(memory);
}

static void comments_and_blanks_mean_nothing(void **state)
{
    (void)state;
    arena *memory = arena_new(NULL);
    tensor_pipe *p = ir_from_text(memory, "; hello\npipeline 1 @t{stage %a i32(0..3)\n;x\n{%0=add i32 %x,1;y\nyield %0}output %a as\"a\"}");
    assert_string_equal(ir_text(memory, p), "pipeline 1 @t {\n  stage %a i32 (0..3) {\n    %0 = add i32 %x, 1\n    yield %0\n  }\n  output %a as \"a\"\n}\n");
    arena_free(memory);
}

static void nodes_stay_as_written(void **state)
{
    (void)state;
    arena *memory = arena_new(NULL);
    const char *source = "pipeline 1 @t {\n  stage %a i32 (0..3) {\n    %0 = add i32 %x, 0\n    %1 = mul i32 %0, 1\n    yield %1\n  }\n  output %a as \"a\"\n}\n";
    assert_string_equal(ir_text(memory, ir_from_text(memory, source)), source);
    arena_free(memory);
}

static void errors_say_where_and_what(void **state)
{
    (void)state;
    arena *memory = arena_new(NULL);
    const struct { const char *source, *says; } rows[] = {
        { "pipeline 2 @t {}", "test.ir:1:12: error[E0902]: this reads version 1" },
        { "pipeline 1 @t { stage %a i32 (0..W) { yield 1 } }", "test.ir:1:34: error[E0902]: there is no extent `W`" },
        { "pipeline 1 @t { stage %a i32 () { %0 = frob i32 1\n yield %0 } }", "error[E0902]: there is no op `frob`" },
        { "pipeline 1 @t { stage %a i32 () { %0 = add i32 1, %1 yield %0 } }", "test.ir:1:51: error[E0902]: this isn't defined above" },
        { "pipeline 1 @t { stage %a i32 () { %3 = add i32 1, 2 yield %3 } }", "the next number is %0" },
        { "pipeline 1 @t { stage %a i32 () { yield 1 } stage %a i32 () { yield 1 } }", "two stages are called `a`" },
        { "pipeline 1 @t { stage %a u8 () { yield u8(256) } }", "256 is not a value of u8" },
        { "pipeline 1 @t { stage %a i32 () { %0 = load i32 %a () yield %0 } }", "loads from `a`, which isn't before this stage" },
        { "pipeline 1 @t { stage %a i32 () { %0 = load i32 %b () yield %0 } }", "there is no stage `b` above" },
        { "pipeline 1 @t { table %k u8 (0..2) { 1, 2 } }", "the table has 2 words, its bounds hold 3" },
        { "pipeline 1 @t { output \"k", "no token starts with this" },
        { "pipeline 1 @t { stage %a i32 () { yield 1 }", "expected param, dim, input" },
        { "pipeline 1 @t { stage %a i32 () { yield %i } }", "no coordinate, binder or accumulator `i`" },
        { "pipeline 1 @t { dim W = %a[0] stage %a i32 () { yield 1 } }", "an extent is a dimension of an input" },
        { "pipeline 1 @t { stage %a i32 (neg.3(1)..2) { yield 1 } }", "no op is called so with 1 operands" },
        { "pipeline 1 @t { } x", "expected the end" },
        { "pipeline 1 @t { stage %a i32 () { %0, %1 = fold loop (%i in 0..1) acc i32 %acc = 0 { next %i } yield %0 } }", "a fold gives a result for each" },
        { "pipeline 1 @t { stage %a f32 () { %0 = add f32 1, 2.0 yield %0 } }", "error[E0903]" },
    };
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        char *errors = ir_errors(memory, rows[k].source);
        if (!strstr(errors, rows[k].says))
            fail_msg("%s\ngave\n%s", rows[k].source, errors);
    }
    char deep[4096] = "pipeline 1 @t { stage %a i32 (";
    memset(deep + strlen(deep), '(', 4000);
    assert_non_null(strstr(ir_errors(memory, deep), "nested too deeply"));
    arena_free(memory);
}

/* Nothing but a diagnostic may come of a damaged text; when it still reads, it must still print the same twice. */
static void damaged_texts(void **state)
{
    (void)state;
    random_source r = { 77 };
    for (int round = 0; round < 3000; round++) {
        arena *memory = arena_new(NULL);
        char *source = round % 3 ? arena_string(memory, everything, sizeof everything - 1) : ir_text(memory, random_pipe(memory, (uint64_t)round % 40));
        int n = (int)strlen(source);
        for (int damage = 1 + random_below(&r, 3); damage > 0; damage--) {
            int at = random_below(&r, n), from = random_below(&r, n), count = random_below(&r, 12);
            if (random_below(&r, 2))
                source[at] = "%@0123456789.,(){}[]=ifxu\" -"[random_below(&r, 28)];
            else if (at + count < n && from + count < n)
                memmove(source + at, source + from, (size_t)count);
        }
        diags d;
        diags_init(&d, memory);
        tensor_pipe *p = tensor_parse(memory, &d, diags_add_source(&d, "damaged.ir", source, (size_t)n));
        assert_true((p == NULL) == (d.n_errors > 0));
        if (p) {
            char *printed = ir_text(memory, p);
            assert_string_equal(ir_text(memory, ir_from_text(memory, printed)), printed);
        }
        arena_free(memory);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_canonical_text_is_kept), cmocka_unit_test(random_pipes_read_back),
        cmocka_unit_test(comments_and_blanks_mean_nothing), cmocka_unit_test(nodes_stay_as_written),
        cmocka_unit_test(errors_say_where_and_what), cmocka_unit_test(damaged_texts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
