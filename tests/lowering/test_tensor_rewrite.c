/* SPDX-License-Identifier: MIT
 * Rewriting: what doesn't change stays the same node, shared parts are visited once, folds are copied with names of their own;
 * and the small passes that are little more than a rewriting. */
#include <string.h>

#include "lowering/pass.h"
#include "support_ir.h"

static const char nested[] =
    "pipeline 1 @t { dim W = %src[0] input %src i32 (0..W - 1)\n"
    "stage %a i32 (0..W - 1) {\n"
    "  %0 = fold loop (%i in 0..2) acc i32 %acc = %x {\n"
    "    %1 = fold loop (%j in 0..1) acc i32 %inner = %acc {\n"
    "      %2 = add i32 %i, %j %3 = add i32 %2, %x %4 = load i32 %src [edge] (%3) %5 = mul i32 %inner, 3 %6 = add i32 %5, %4 next %6 }\n"
    "    next %1 }\n"
    "  %7 = mul i32 %0, %0 %8 = fold loop (%k in 1..2) acc i32 %sum = 0 { %9 = add i32 %sum, %k next %9 } %10 = add i32 %7, %8 yield %10 }\n"
    "output %a as \"a\" }";

typedef struct counter { int visits; ref from, to; } counter;

static ref count_visit(rewriter *w, ref r)
{
    counter *c = w->user;
    c->visits++;
    return r == c->from ? c->to : 0;
}

static void nothing_changes_without_a_reason(void **state)
{
    (void)state;
    arena *memory = arena_new(NULL);
    tensor_pipe *p = ir_from_text(memory, nested);
    uint32_t n_nodes = p->nodes.count, n_folds = p->folds.count;
    counter c = { 0 };
    rewriter w;
    rewriter_begin(&w, p, count_visit, &c);
    assert_int_equal(rewrite(&w, stage_at(p, 2)->body), stage_at(p, 2)->body);
    int visits = c.visits;
    assert_int_equal(rewrite(&w, stage_at(p, 2)->body), stage_at(p, 2)->body);
    assert_int_equal(c.visits, visits);                       /* all in the memo */
    assert_true(visits <= (int)n_nodes);
    assert_int_equal(p->nodes.count, n_nodes);
    assert_int_equal(p->folds.count, n_folds);
    assert_false(rewrite_pipe(&w));
    arena_free(memory);
}

static void run_a(const tensor_pipe *p, int32_t out[5])
{
    int32_t in[5] = { 3, -1, 4, 1, -5 };
    halo_image input = image_of(in, 4, 5, 1), output = image_of(out, 4, 5, 1);
    ir_run(p, &input, NULL, &output);
}

/* The value of `nested` at x, with x' for the coordinate that its body sees. */
static int32_t nested_value(int32_t x)
{
    const int32_t in[5] = { 3, -1, 4, 1, -5 };
    int32_t acc = x;
    for (int i = 0; i <= 2; i++)
        for (int j = 0; j <= 1; j++) {
            int at = i + j + x;
            acc = acc * 3 + in[at < 0 ? 0 : at > 4 ? 4 : at];
        }
    return acc * acc + 3;
}

static void substitution_renames_only_folds_that_change(void **state)
{
    (void)state;
    arena *memory = arena_new(NULL);
    tensor_pipe *p = ir_from_text(memory, nested);
    int32_t out[5];
    run_a(p, out);
    for (int x = 0; x < 5; x++)
        assert_int_equal(out[x], nested_value(x));
    ref shifted = tensor_op2(p, OP_sub, tensor_op2(p, OP_mul, tensor_coord(p, 0), tensor_i32(p, 2)), tensor_i32(p, 3));
    ref left = tensor_substitute(p, stage_at(p, 2)->body, &shifted), other = tensor_i32(p, 2);
    ref right = tensor_substitute(p, stage_at(p, 2)->body, &other);
    ref both = tensor_op2(p, OP_sub, left, right);            /* two copies, with binders of their own, side by side */
    stage_at(p, 2)->body = both;
    text problems = { 0 };
    if (!tensor_verify(p, &problems))
        fail_msg("%s", problems.bytes);
    run_a(p, out);
    for (int x = 0; x < 5; x++)
        assert_int_equal(out[x], nested_value(2 * x - 3) - nested_value(2));
    /* The sum over k doesn't know x: one fold, still shared. */
    char *printed = ir_text(memory, p);
    assert_non_null(strstr(printed, "%k in 1..2"));
    assert_null(strstr(strstr(printed, "%k in 1..2") + 1, "%k in 1..2"));
    arena_free(memory);
}

static ref halve_constants(rewriter *w, ref r, const ref *args)
{
    int64_t value;
    if (!args || node_at(w->pipe, r)->op != OP_mul || !node_is_const(w->pipe, args[1], &value))
        return 0;
    return tensor_op2(w->pipe, OP_mul, args[0], tensor_i32(w->pipe, (int32_t)value / 2));
}

static void the_second_hook_sees_new_arguments(void **state)
{
    (void)state;
    arena *memory = arena_new(NULL);
    tensor_pipe *p = tensor_pipe_new(memory, "t");
    ref x = tensor_coord(p, 0), product = x;
    for (int k = 0; k < 100000; k++)                           /* deep: no recursion per node */
        product = tensor_op2(p, OP_add, tensor_op2(p, OP_mul, product, tensor_i32(p, 6)), x);
    rewriter w;
    rewriter_begin(&w, p, NULL, NULL);
    w.rebuild = halve_constants;
    ref got = rewrite(&w, product), wanted = x;
    for (int k = 0; k < 100000; k++)
        wanted = tensor_op2(p, OP_add, tensor_op2(p, OP_mul, wanted, tensor_i32(p, 3)), x);
    assert_int_equal(got, wanted);
    arena_free(memory);
}

static void contraction(void **state)
{
    (void)state;
    arena *memory = arena_new(NULL);
    const char *source =
        "pipeline 1 @t %s { param @r f32 stage %%a f32 (0..cast.i32(muladd(@r, 2.0, 0.5))) { %%0 = cast f32 %%x\n"
        "%%1 = fold conv (%%i in 0..1) acc f32 %%acc = -0.0 { %%2 = cast f32 %%i %%3 = muladd f32 %%2, %%0, %%acc next %%3 } yield %%1 } output %%a as \"a\" }";
    for (int strict = 0; strict < 2; strict++) {
        tensor_pipe *p = ir_from_text(memory, arena_printf(memory, source, strict ? "strict" : ""));
        assert_true(pass_contract(p));
        assert_false(pass_contract(p));
        assert_true(tensor_verify(p, NULL));
        char *printed = ir_text(memory, p);
        assert_null(strstr(printed, "muladd"));
        assert_true((strstr(printed, "fma f32") != NULL) == !strict);
        assert_true((strstr(printed, "cast.i32(fma(@r") != NULL) == !strict);
    }
    arena_free(memory);
}

static void cleaning(void **state)
{
    (void)state;
    arena *memory = arena_new(NULL);
    tensor_pipe *p = ir_from_text(memory,
        "pipeline 1 @t { dim W = %src[0] input %unused u8 (0..1) input %src i32 (0..W - 1)\n"
        "stage %dead i32 () { yield 1 } stage %a i32x2 (0..W - 1, 0..1) { %0 = load i32 %src [value %y] (%x) %1 = splat i32x2 %0 yield %1 }\n"
        "stage %deader i32 (0..W - 1) { %0 = load i32 %dead () yield %0 }\n"
        "stage %b i32 (0..W - 1) { %0 = load i32x2 %a [edge, edge] (%x, 1) %1 = comp i32 %0 index=0 yield %1 }\n"
        "stage %c i32 (0..W - 1) { %0 = load i32 %b [reflect] (%x) %1 = load i32 %src [wrap] (%0) yield %1 } output %c as \"c\" }");
    assert_true(pass_clean(p));
    assert_false(pass_clean(p));
    assert_true(tensor_verify(p, NULL));
    assert_string_equal(ir_text(memory, p),
        "pipeline 1 @t {\n  dim W = %src[0]\n  input %unused u8 (0..1)\n  input %src i32 (0..W - 1)\n"
        "  stage %a i32x2 (0..W - 1, 0..1) {\n    %0 = load i32 %src [value %y] (%x)\n    %1 = splat i32x2 %0\n    yield %1\n  }\n"
        "  stage %b i32 (0..W - 1) {\n    %0 = load i32x2 %a [edge, edge] (%x, 1)\n    %1 = comp i32 %0 index=0\n    yield %1\n  }\n"
        "  stage %c i32 (0..W - 1) {\n    %0 = load i32 %b [reflect] (%x)\n    %1 = load i32 %src [wrap] (%0)\n    yield %1\n  }\n"
        "  output %c as \"c\"\n}\n");
    arena_free(memory);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_changes_without_a_reason), cmocka_unit_test(substitution_renames_only_folds_that_change),
        cmocka_unit_test(the_second_hook_sees_new_arguments), cmocka_unit_test(contraction), cmocka_unit_test(cleaning),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
