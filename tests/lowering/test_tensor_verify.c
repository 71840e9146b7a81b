/* SPDX-License-Identifier: MIT
 * Every rule of the verifier is broken once; the annotated text names the problem under the right line. */
#include <string.h>

#include "support_ir.h"

/* What the verifier says about a text with one thing wrong. */
static void unsound_texts(void **state)
{
    (void)state;
    arena *memory = arena_new(NULL);
    const struct { const char *line, *says; } rows[] = {
        { "%0 = add f32 1, 2 yield %0", "%0 = add f32 1, 2\n    ; ^ error E0901: the result is f32, must be i32" },
        { "%0 = add i32 1, u32(2) yield %0", "an operand is u32, must be i32" },
        { "%0 = add i32 1, 2, 3 yield %0", "takes 2 operands, has 3" },
        { "%0 = sqrt i32 4 yield %0", "`sqrt` doesn't take i32" },
        { "%0 = lt i32 1, 2 yield %0", "the result is i32, must be bool" },
        { "%0 = cast i32x2 4 %1 = comp i32 %0 index=0 yield %1", "a conversion keeps the lanes" },
        { "%0 = wrap i32 4.0 yield %0", "`wrap` is for whole numbers" },
        { "%0 = bitcast u8 4 %1 = cast i32 %0 yield %1", "`bitcast` is between" },
        { "%0 = select i32 1, 2, 3 yield %0", "the condition is i32, must be bool" },
        { "%0 = splat i32x3 %x %1 = comp i32 %0 index=3 yield %1", "there is no component 3 in i32x3" },
        { "%0 = vec i32x3 %x, 1 %1 = comp i32 %0 index=1 yield %1", "takes 3 operands, has 2" },
        { "%0 = load u8 %src (%x) %1 = cast i32 %0 yield %1", "u8 can't hold the u16 of `src`" },
        { "%0 = load i32 %src (1.5) yield %0", "an index is f32, must be i32" },
        { "%0 = load i32 %src [value 1.5] (%x) yield %0", "an outside value is f32, must be i32" },
        { "yield %y", "the stage has no dimension 1" },
        { "yield 1.5", "the body is f32, the stage i32" },
        { "%0 = fold loop (%i in 0..1) acc i32 %acc = 0 { %1 = cast f32 %i next %1 } yield %0", "the next value is f32, must be i32" },
        { "%0 = fold loop (%i in 0.5..1) acc i32 %acc = 0 { next %i } yield %0", "the bounds of binder 0 must be uniform i32" },
        { "%0 = fold loop (%i in 0..1) acc i32 %acc = 0 { where %i next %i } yield %0", "`where` is i32, must be bool" },
        { "%0 = fold loop (%i in 0..1) acc i32 %acc = 0 { %1 = lt bool %acc, 3 where %1 next %i } yield %0", "`where` depends on an accumulator" },
        { "%0 = fold median (%i in 0..1) acc i32 %acc = 0 { next %acc } yield %0", "a median's elements depend on its accumulator" },
        { "%0, _ = fold conv (%i in 0..1) acc i32 %a = 0, i32 %b = 0 { next %i, %i } yield %0", "this form of fold has one accumulator" },
        { "%0 = fold image_sum (%i in 0..1) acc i32 %a = 0 { next %i } yield %0", "an image sum runs over x and y" },
    };
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        char *source = arena_printf(memory, "pipeline 1 @t { dim W = %%src[0] input %%src u16 (0..W - 1) stage %%a i32 (0..3) { %s } output %%a as \"a\" }",
                                    rows[k].line);
        char *errors = ir_errors(memory, source);
        if (!strstr(errors, rows[k].says))
            fail_msg("%s\ngave\n%s", rows[k].line, errors);
    }
    arena_free(memory);
}

/* ---- what no text can say ------------------------------------------------------------------------ */

static tensor_pipe *sound_pipe(arena *memory)
{
    return ir_from_text(memory,
        "pipeline 1 @t { param @r i32 dim W = %src[0] input %src u8 (0..W - 1) table %k i32 (0..1) { 5, 6 }\n"
        "stage %a i32 (0..W - 1) { %0 = fold loop (%i in 0..1) acc i32 %acc = 0 { %1 = load i32 %k (%i) %2 = add i32 %acc, %1 next %2 }\n"
        "  yield %0 }\n"
        "stage %b i32 (0..W - 1) { %0 = load i32 %a (%x) yield %0 } check size E0301 lt(0, W) \"empty\" output %b as \"b\" }");
}

static void expect_problem(const tensor_pipe *p, const char *says)
{
    text problems = { 0 };
    assert_false(tensor_verify(p, &problems));
    if (!problems.bytes || !strstr(problems.bytes, says))
        fail_msg("`%s` isn't in\n%s", says, problems.bytes ? problems.bytes : "nothing");
    text_free(&problems);
}

static ref load_node(const tensor_pipe *p, uint32_t stage)
{
    for (ref r = 1; r < p->nodes.count; r++)
        if (node_at(p, r)->op == OP_load && node_at(p, r)->payload == stage)
            return r;
    fail();
    return 0;
}

enum { SRC = 1, TABLE, A, B };

static void sound_until_something_is_changed(void **state)
{
    (void)state;
    arena *memory = arena_new(NULL);
    tensor_pipe *p = sound_pipe(memory);
    text problems = { 0 };
    assert_true(tensor_verify(p, &problems));
    assert_int_equal(problems.count, 0);

    p = sound_pipe(memory);
    stage_at(p, A)->body = stage_at(p, B)->body;
    expect_problem(p, "loads from `a`, which isn't before this stage");

    p = sound_pipe(memory);
    stage_at(p, B)->name = "a";
    expect_problem(p, "two stages are called `a`");

    p = sound_pipe(memory);
    stage_at(p, B)->hi[0] = tensor_coord(p, 0);
    expect_problem(p, "an upper bound must be uniform i32");

    p = sound_pipe(memory);
    stage_at(p, TABLE)->hi[0] = tensor_dim_node(p, 0);
    expect_problem(p, "a table's bounds must be constants");

    p = sound_pipe(memory);
    p->outputs.items[0].stage = 9;
    expect_problem(p, "output `b` has no stage");

    p = sound_pipe(memory);
    p->dims.items[0].dimension = 1;
    expect_problem(p, "extent `W` isn't a dimension of an input");

    p = sound_pipe(memory);
    p->checks.items[0].condition = tensor_i32(p, 1);
    expect_problem(p, "a check's condition must be uniform bool");
    arena_free(memory);
}

static void binders_outside_their_fold(void **state)
{
    (void)state;
    arena *memory = arena_new(NULL);
    tensor_pipe *p = sound_pipe(memory);
    uint32_t fold = node_at(p, stage_at(p, A)->body)->payload;
    ref sum = tensor_op2(p, OP_add, stage_at(p, A)->body, tensor_binder(p, fold, 0));
    stage_at(p, A)->body = sum;
    expect_problem(p, "uses a binder or accumulator of fold");

    p = sound_pipe(memory);
    stage_at(p, B)->body = tensor_acc(p, fold, 0, type_of(KIND_i32, 1));
    expect_problem(p, "outside its fold");

    p = sound_pipe(memory);
    fold_at(p, fold)->init[0] = tensor_binder(p, fold, 0);
    expect_problem(p, "an initial value depends on the fold's own binders");
    arena_free(memory);
}

static void broken_references_are_told_without_a_walk(void **state)
{
    (void)state;
    arena *memory = arena_new(NULL);
    tensor_pipe *p = sound_pipe(memory);
    p->args.items[node_at(p, load_node(p, TABLE))->first_arg] = 1000000;
    expect_problem(p, "is not an earlier node");

    p = sound_pipe(memory);
    p->nodes.items[load_node(p, TABLE)].payload = 77;
    expect_problem(p, "refers to number 77, which doesn't exist");

    p = sound_pipe(memory);
    stage_at(p, A)->body = 0;
    expect_problem(p, "the body of a is missing");

    p = sound_pipe(memory);
    fold_at(p, node_at(p, stage_at(p, A)->body)->payload)->next[0] = 0;
    expect_problem(p, "a next value of fold");

    p = sound_pipe(memory);
    p->nodes.items[load_node(p, A)].op = 250;
    expect_problem(p, "has no op or no type");
    arena_free(memory);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(unsound_texts), cmocka_unit_test(sound_until_something_is_changed),
        cmocka_unit_test(binders_outside_their_fold), cmocka_unit_test(broken_references_are_told_without_a_walk),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
