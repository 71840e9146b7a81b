/* SPDX-License-Identifier: MIT
 * The pass manager, and what it promises of every pass: random pipes compute the same bits after the exact passes as after the
 * define passes alone, whichever of them are skipped, and when the IR is replaced by its reread text after every pass. */
#include <string.h>

#include "lowering/pass.h"
#include "support_pipe.h"

enum { N_SEEDS = 240 };

static tensor_pipe *run_passes(arena *memory, tensor_pipe *p, pass_options options, uint64_t seed)
{
    diags d;
    diags_init(&d, memory);
    if (!passes_run(&p, &options, &d)) {
        text out = { 0 };
        diags_render(&d, &out);
        fail_msg("seed %u: %s", (unsigned)seed, out.bytes ? out.bytes : "");
    }
    return p;
}

static pass_options all_passes(void)
{
    return (pass_options){ .stop_after = PASS_COUNT };
}

static void expect_same(arena *memory, const tensor_pipe *defined, const tensor_pipe *other, uint64_t seed, const char *how)
{
    static uint8_t wanted[RANDOM_PIPE_BYTES], got[RANDOM_PIPE_BYTES];
    memset(wanted, 0, sizeof wanted);
    memset(got, 0, sizeof got);
    random_pipe_run(defined, seed, wanted);
    random_pipe_run(other, seed, got);
    if (memcmp(wanted, got, sizeof got) != 0)
        fail_msg("seed %u, %s: other bits. Defined:\n%s\nthen:\n%s", (unsigned)seed, how, ir_text(memory, defined), ir_text(memory, other));
}

static void count_changes(const char *dump, int changes[PASS_COUNT], arena *memory)
{
    for (int id = 0; id < PASS_COUNT; id++) {
        const char *name = pass_get((pass_id)id)->name;
        changes[id] += strstr(dump, arena_printf(memory, "; after %s (%d/%d), changed", name, id + 1, PASS_COUNT)) != NULL;
    }
}

static void exact_passes_keep_every_bit(void **state)
{
    (void)state;
    int changes[PASS_COUNT] = { 0 };
    for (uint64_t seed = 0; seed < N_SEEDS; seed++) {
        arena *memory = arena_new(NULL);
        text dump = { 0 };
        pass_options define = all_passes(), every = all_passes(), some = all_passes();
        define.only_define = true;
        every.dump = &dump;
        random_source r = { seed };
        for (int id = 0; id < PASS_COUNT; id++)
            some.skip[id] = pass_get((pass_id)id)->kind == PASS_KIND_exact && random_below(&r, 2);
        tensor_pipe *defined = run_passes(memory, random_pipe(memory, seed), define, seed);
        expect_same(memory, defined, run_passes(memory, random_pipe(memory, seed), every, seed), seed, "all passes");
        expect_same(memory, defined, run_passes(memory, random_pipe(memory, seed), some, seed), seed, "some passes");
        text_add(&dump, "", 1);
        count_changes(dump.bytes, changes, memory);
        text_free(&dump);
        arena_free(memory);
    }
    for (int id = 0; id < PASS_COUNT; id++)
        if (changes[id] < 1)
            fail_msg("`%s` had nothing to do", pass_get((pass_id)id)->name);
}

static void the_text_says_all_there_is(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < N_SEEDS; seed++) {
        arena *memory = arena_new(NULL);
        pass_options reparse = all_passes();
        reparse.reparse = true;
        tensor_pipe *plain = run_passes(memory, random_pipe(memory, seed), all_passes(), seed);
        expect_same(memory, plain, run_passes(memory, random_pipe(memory, seed), reparse, seed), seed, "reread");
        arena_free(memory);
    }
}

static void names_and_kinds(void **state)
{
    (void)state;
    assert_int_equal(pass_find("contract"), PASS_contract);
    assert_int_equal(pass_find("no such pass"), PASS_COUNT);
    bool exact = false;
    for (int id = 0; id < PASS_COUNT; id++) {
        assert_int_equal(pass_find(pass_get((pass_id)id)->name), id);
        assert_true(!exact || pass_get((pass_id)id)->kind == PASS_KIND_exact);      /* define passes come first */
        exact = pass_get((pass_id)id)->kind == PASS_KIND_exact;
    }
}

static const char small[] = "pipeline 1 @t { param @a f32 stage %dead i32 () { yield 1 }\n"
                            "stage %b f32 (0..3) { %0 = cast f32 %x %1 = muladd f32 @a, %0, 0.5 yield %1 } output %b as \"b\" }";

static void dumps_and_stops(void **state)
{
    (void)state;
    arena *memory = arena_new(NULL);
    text dump = { 0 };
    pass_options options = all_passes();
    options.dump = &dump;
    options.stop_after = PASS_contract;
    tensor_pipe *p = run_passes(memory, ir_from_text(memory, small), options, 0);
    text_add(&dump, "", 1);
    char *header = arena_printf(memory, "; after contract (%d/%d), changed\npipeline 1 @t {\n", PASS_contract + 1, PASS_COUNT);
    assert_non_null(strstr(dump.bytes, header));
    assert_non_null(strstr(dump.bytes, arena_printf(memory, "; after expand (1/%d), unchanged\n;", PASS_COUNT)));
    assert_null(strstr(dump.bytes, "after clean"));
    assert_non_null(strstr(ir_text(memory, p), "%dead"));
    text_free(&dump);
    options = all_passes();
    p = run_passes(memory, ir_from_text(memory, small), options, 0);
    assert_null(strstr(ir_text(memory, p), "%dead"));
    options.skip[PASS_clean] = options.skip[PASS_contract] = true;                     /* a define pass can't be skipped */
    p = run_passes(memory, ir_from_text(memory, small), options, 0);
    assert_non_null(strstr(ir_text(memory, p), "%dead"));
    assert_null(strstr(ir_text(memory, p), "muladd"));
    arena_free(memory);
}

static void places_survive_rereading(void **state)
{
    (void)state;
    arena *memory = arena_new(NULL);
    tensor_pipe *p = ir_from_text(memory, small);
    stage_at(p, 2)->where = (span){ 3, 14, 15 };
    p->params.items[0].where = (span){ 3, 1, 2 };
    pass_options options = all_passes();
    options.reparse = true;
    p = run_passes(memory, p, options, 0);
    assert_int_equal(stage_at(p, 1)->where.start, 14);
    assert_int_equal(p->params.items[0].where.end, 2);
    arena_free(memory);
}

static void a_wrong_pass_is_named(void **state)
{
    (void)state;
    arena *memory = arena_new(NULL);
    tensor_pipe *p = ir_from_text(memory, small);
    stage_at(p, 1)->type = type_of(KIND_f32, 1);                                       /* as if the first pass had done it */
    pass_options options = all_passes();
    diags d;
    diags_init(&d, memory);
    assert_false(passes_run(&p, &options, &d));
    text out = { 0 };
    diags_render(&d, &out);
    text_add(&out, "", 1);
    assert_non_null(strstr(out.bytes, "error[E0901]: the pass `expand` left the IR of `t` unsound"));
    assert_non_null(strstr(out.bytes, "; ^ error E0901: the body is i32, the stage f32"));
    text_free(&out);
    arena_free(memory);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_and_kinds), cmocka_unit_test(dumps_and_stops), cmocka_unit_test(places_survive_rereading),
        cmocka_unit_test(a_wrong_pass_is_named), cmocka_unit_test(exact_passes_keep_every_bit),
        cmocka_unit_test(the_text_says_all_there_is),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
