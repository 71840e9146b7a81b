/* SPDX-License-Identifier: MIT
 * The shape of what is lowered: which products may be contracted, what becomes a stage, which checks are left to the run, what
 * imports bring in, and the limits that keep a script from being too much. */
#include "tests/frontend/lowered.h"

#include <stdio.h>
#include <string.h>

/* ---- contraction: only a written product beside + or - ------------------------------------------------------------------- */

static const struct { const char *expression; int muladd, mul; } products[] = {
    { "a * b + c", 1, 0 },
    { "c + a * b", 1, 0 },
    { "c - a * b", 1, 0 },
    { "a * b - c", 1, 0 },
    { "(a * b) + c", 1, 0 },
    { "a * b + b * c", 1, 1 },            /* the left product is plain, the right one fused */
    { "a * b * c + a", 1, 1 },
    { "-(a * b) + c", 0, 1 },             /* the operand is a negation */
    { "-a * b + c", 1, 0 },
    { "twice(a) + c", 0, 1 },             /* calls and names are barriers */
    { "m + c", 0, 1 },
    { "a / b + c", 0, 0 },
    { "a ** 2 + c", 0, 1 },
    { "i * i + c", 0, 1 },                /* a product of integers */
    { "i * i + i", 0, 1 },
    { "abs(a * b) + c", 0, 1 },
    { "dot((a, b, c), (b, c, a))", 2, 1 },
    { "a - b * floor(a / b)", 1, 0 },
    { "a % b + c", 0, 1 },
    { "sum(k in 0..2: a * b)", 0, 1 },
    { "(a * b, c) + c", 0, 1 },
};

static void products_are_contracted_as_written(void **state)
{
    (void)state;
    for (size_t k = 0; k < sizeof products / sizeof *products; k++) {
        char text[1024];
        snprintf(text, sizeof text,
                 "fn twice(v) = v * 2\nfn value(a, b, c, i) {\n    m = a * b\n    return %s\n}\n"
                 "pipe p(src: image f32, ints: image i32) -> image f32 {\n"
                 "    q[x, y] = value(src[x, y], src[x + 1, y], src[x, y + 1], ints[x, y])\n    return src\n}\n",
                 products[k].expression);
        lowered l;
        lower_script(&l, text, NULL);
        int muladd = count_ops(&l, "q", OP_muladd), mul = count_ops(&l, "q", OP_mul);
        if (muladd != products[k].muladd || mul != products[k].mul)
            fail_msg("%s: %d contracted and %d plain products, should be %d and %d", products[k].expression, muladd, mul,
                     products[k].muladd, products[k].mul);
        lowered_free(&l);
    }
}

/* ---- stages ------------------------------------------------------------------------------------------------------------------ */

static uint32_t stages_of(const char *body)
{
    char text[1024];
    lowered l;
    snprintf(text, sizeof text, "pipe p(src: image f32, s: f32 = 1.5 in 0..4) -> image f32 {\n%s\n}\n", body);
    lower_script(&l, text, NULL);
    assert_string_equal(codes(&l), "");
    uint32_t count = l.pipe->stages.count - 1 - l.pipe->n_inputs;
    lowered_free(&l);
    return count;
}

static void unnamed_operators_meet_in_one_stage(void **state)
{
    (void)state;
    assert_int_equal(stages_of("return src * 2 + src / 3 - sqrt(src)"), 1);
    assert_int_equal(stages_of("a = src * 2\nb = a + 1\nreturn b"), 2);
    assert_int_equal(stages_of("a = src\nb = a\nreturn src"), 1);                       /* other names for an image; the output's copy */
    assert_int_equal(stages_of("return conv(pad(src * 2, edge), [[1, 2, 1]])"), 3);     /* what is padded, the kernel, the result */
    assert_int_equal(stages_of("a = pad(src * 2, edge)\nreturn conv(a, [[1]]) + conv(a, [[1], [1]])"), 6);
    assert_int_equal(stages_of("k = 3.0 * s\nreturn src * k"), 1);                      /* a number is no stage */
    assert_int_equal(stages_of("t = sum((x, y) in src: src[x, y])\nreturn src * t"), 2);
    assert_int_equal(stages_of("q[x, y] = sum(i in 0..2: src[x + i, y])\nreturn q"), 1);
}

static void folds_have_their_forms(void **state)
{
    lowered l;
    (void)state;
    lower_script(&l,
                 "pipe p(src: image f32, ints: image u8) -> image f32 {\n    a = conv(src, [[1, 2, 3]])\n"
                 "    b = sum((x, y) in src: src[x, y])\n    c = sum((x, y) in ints: ints[x, y])\n"
                 "    d[x, y] = median(i in 0..2: src[x + i, y])\n    e[x, y] = sum(j in 0..1, i in 0..2: src[x + i, y + j])\n"
                 "    return src\n}\n",
                 NULL);
    assert_string_equal(codes(&l), "");
    static const struct { const char *stage; fold_form form; } forms[] = {
        { "a", FOLD_conv }, { "b", FOLD_image_sum }, { "c", FOLD_loop }, { "d", FOLD_median }, { "e", FOLD_loop },
    };
    for (size_t k = 0; k < sizeof forms / sizeof *forms; k++) {
        const tensor_node *body = node_at(l.pipe, stage_named(&l, forms[k].stage)->body);
        assert_int_equal(body->op, OP_result);
        assert_int_equal(fold_at(l.pipe, body->payload)->form, forms[k].form);
    }
    lowered_free(&l);
}

static void constants_choose_and_fold(void **state)
{
    lowered l;
    (void)state;
    lower_script(&l,
                 "const mode = 2\nfn pick(a) = mode == 1 ? nothing_like_this(a) : a * mode\n"
                 "pipe p(src: image f32) -> image f32 {\n    k = [[1, 2, 1]] / 4\n    return pick(conv(src, k))\n}\n",
                 NULL);
    assert_string_equal(codes(&l), "E0202@2");        /* the name is missed all the same, by script_check alone */
    lowered_free(&l);
    lower_script(&l, "pipe p(src: image f32) -> image f32 {\n    k = [[1, 2, 1]] / 4\n    return conv(src, k)\n}\n", NULL);
    const tensor_stage *k = stage_named(&l, "k");
    assert_int_equal(k->kind, STAGE_table);
    assert_float_equal(scalar_of_bits(KIND_f32, k->words[1]).f, 0.5, 0);
    lowered_free(&l);
}

/* ---- checks that are left to the run --------------------------------------------------------------------------------------------- */

static void sizes_are_checked_before_the_run(void **state)
{
    static const struct { const char *body; diag_code code; } rows[] = {
        { "q = crop(src, 3, 3, 4, 4)\nreturn q", DIAG_E0606 },
        { "q = concat(src, other, 0)\nreturn q", DIAG_E0605 },
        { "q[x in 0..50, y] = src[x, y]\nreturn q", DIAG_E0601 },
        { "return src + src[3, 0]", DIAG_E0601 },
        { "return conv(src, [[1, 1, 1]])", DIAG_E0602 },
        { "return conv(pad(src, edge), [[1, 1, 1]])", DIAG_E0604 },
        { "return conv(src, anchor(box(n), n - 1, 0))", DIAG_E0608 },
    };
    (void)state;
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        char text[1024];
        lowered l;
        bool found = false;
        snprintf(text, sizeof text, "pipe p(src: image f32, other: image f32, n: i32 = 3) -> image f32 {\n%s\n}\n", rows[k].body);
        lower_script(&l, text, NULL);
        assert_string_equal(codes(&l), "");
        for (uint32_t c = 0; c < l.pipe->checks.count; c++)
            found = found || l.pipe->checks.items[c].code == rows[k].code;
        if (!found)
            fail_msg("%s leaves no check %s", rows[k].body, diag_code_name(rows[k].code));
        lowered_free(&l);
    }
}

static void what_always_holds_is_not_checked(void **state)
{
    lowered l;
    (void)state;
    lower_script(&l, "pipe p(t: f32[16], src: image u8) -> f32[16] {\n    p = pad(t, edge)\n    q[i] = p[i + 1] + t[i]\n    return q\n}\n", NULL);
    assert_string_equal(codes(&l), "");
    assert_int_equal(l.pipe->checks.count, 1);         /* the stated extent */
    assert_int_equal(l.pipe->checks.items[0].code, DIAG_E0603);
    lowered_free(&l);
}

/* ---- modules ------------------------------------------------------------------------------------------------------------------------ */

static void imports_bring_items_in(void **state)
{
    static const file_text files[] = {
        { "a", "import \"b\"\nfn f(v) = g(v) + 1\nconst ten = 10\n" },
        { "b", "import \"a\"\nfn g(v) = v * ten\nfn gaussian(v) = 5\n" },                 /* a cycle */
        { NULL, NULL },
    };
    lowered l;
    (void)state;
    lower_script(&l, "import \"a\"\nimport \"a\"\npipe p(src: image f32) -> image f32 { return f(src) * ten }\n", files);
    assert_string_equal(codes(&l), "");
    lowered_free(&l);
    lower_script(&l, "import \"a\"\npipe p(src: image f32) -> image f32 { return g(src) }\n", files);
    assert_string_equal(codes(&l), "E0202@2");                                              /* what an import imports stays there */
    lowered_free(&l);
    lower_script(&l, "import \"b\"\npipe p(src: image f32) -> image f32 { return src * gaussian(1) }\n", files);
    assert_string_equal(codes(&l), "");                                                     /* an import hides the prelude */
    lowered_free(&l);
    lower_script(&l, "import \"missing\"\npipe p(src: image f32) -> image f32 { return src }\n", files);
    assert_string_equal(codes(&l), "E0205@1");
    lowered_free(&l);
}

static void a_name_from_two_imports_is_an_error(void **state)
{
    static const file_text files[] = { { "a", "fn f(v) = 1\n" }, { "b", "fn f(v) = 2\n" }, { NULL, NULL } };
    lowered l;
    (void)state;
    lower_script(&l, "import \"a\"\nimport \"b\"\npipe p(src: image f32) -> image f32 { return src }\n", files);
    assert_string_equal(codes(&l), "E0206@2");
    lowered_free(&l);
    lower_script(&l, "import \"a\"\nimport \"b\"\nfn f(v) = 3\npipe p(src: image f32) -> image f32 { return src * f(1) }\n", files);
    assert_string_equal(codes(&l), "");                                                     /* its own hides both */
    lowered_free(&l);
}

static void errors_in_the_prelude_are_shown_at_the_call(void **state)
{
    (void)state;
    assert_codes("pipe p(src: image u8) -> image f32 {\n    a = 3\n    b = gaussian_blur(a, 2)\n    return f32(src)\n}\n", "E0310@3");
}

/* ---- limits --------------------------------------------------------------------------------------------------------------------------- */

static void deep_expressions_become_stages(void **state)
{
    lowered l;
    (void)state;
    lower_script(&l,
                 "fn chain(a) = a + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1\nfn longer(a) = chain(chain(chain(chain(chain(a * 2.5)))))\n"
                 "fn longest(a) = longer(longer(longer(longer(longer(longer(a))))))\n"
                 "pipe p(src: image f32) -> image f32 { return longest(longest(longest(longest(src)))) }\n",
                 NULL);
    assert_string_equal(codes(&l), "");
    assert_true(l.pipe->stages.count > 3);
    lowered_free(&l);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(products_are_contracted_as_written),
        cmocka_unit_test(unnamed_operators_meet_in_one_stage),
        cmocka_unit_test(folds_have_their_forms),
        cmocka_unit_test(constants_choose_and_fold),
        cmocka_unit_test(sizes_are_checked_before_the_run),
        cmocka_unit_test(what_always_holds_is_not_checked),
        cmocka_unit_test(imports_bring_items_in),
        cmocka_unit_test(a_name_from_two_imports_is_an_error),
        cmocka_unit_test(errors_in_the_prelude_are_shown_at_the_call),
        cmocka_unit_test(deep_expressions_become_stages),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
