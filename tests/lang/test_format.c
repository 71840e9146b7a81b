/* SPDX-License-Identifier: MIT
 * The canonical layout: what it makes of odd ones, that it changes nothing twice and no tree ever. */
#include "script.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void check_format(const char *source, const char *expected)
{
    parsed_script s = parse_string(source);
    if (s.diagnostics.n_errors)
        fail_msg("an error in: %s", source);
    char *found = formatted(&s);
    assert_string_equal(found, expected);
    free(found);
    script_free(&s);
}

/* The formatted text parses to the same tree and is its own formatted text. */
static void check_round_trip(const char *name, const char *bytes, size_t n_bytes)
{
    parsed_script s = parse_bytes(bytes, n_bytes);
    if (s.diagnostics.n_errors == 0) {
        char *once = formatted(&s);
        parsed_script again = parse_string(once);
        if (again.diagnostics.n_errors) {
            char *errors = diagnostics_of(&again);
            fail_msg("%s: formatted, it has errors:\n%s\n%s", name, errors, once);
        }
        char *twice = formatted(&again), *tree = tree_of(&s), *tree_again = tree_of(&again);
        if (strcmp(tree, tree_again) != 0)
            fail_msg("%s: formatting changed the tree", name);
        if (strcmp(once, twice) != 0)
            fail_msg("%s: formatted twice, it differs:\n%s\n---\n%s", name, once, twice);
        free(once);
        free(twice);
        free(tree);
        free(tree_again);
        script_free(&again);
    }
    script_free(&s);
}

static void spaces(void **state)
{
    (void)state;
    check_format("const   a=1+2 *3\n", "const a = 1 + 2 * 3\n");
    check_format("const a = b*c+d **2- - e\n", "const a = b*c + d ** 2 - -e\n");
    check_format("fn f(a,b : f32=2 in 0 .. 3)->f32=a [x+1 , 2*y].rgb\n", "fn f(a, b: f32 = 2 in 0..3) -> f32 = a[x + 1, 2*y].rgb\n");
    check_format("fn f(a)=sum( i in 0 ..< a.width - 1,( x ,y )in a where i==x :1 )\n",
                 "fn f(a) = sum(i in 0..<a.width-1, (x, y) in a where i == x: 1)\n");
    check_format("fn f(a)=pad(pad(a,x:wrap,y:edge),fn(x,y)=-x)\n", "fn f(a) = pad(pad(a, x: wrap, y: edge), fn(x, y) = -x)\n");
    check_format("fn f(a)=not a?(1,2):[[1,2],[3,4]]\n", "fn f(a) = not a ? (1, 2) : [[1, 2], [3, 4]]\n");
}

static void blocks_and_blank_lines(void **state)
{
    (void)state;
    check_format("\n\n\nfn f(a) { return a }\nfn g(a) = a\nfn h(a) = a\n\n\n\nconst x = 1\n",
                 "fn f(a) {\n    return a\n}\n\nfn g(a) = a\nfn h(a) = a\n\nconst x = 1\n");
    check_format("pipe p() -> (a: image u8, b: u8[3, _]) {\n\n\n x = 1\n\n\n for k in 1..3 { g[k] = x }\n return x, y }",
                 "pipe p() -> (a: image u8, b: u8[3, _])\n{\n    x = 1\n\n    for k in 1..3 {\n        g[k] = x\n    }\n"
                 "    return x, y\n}\n");
}

static void comments(void **state)
{
    (void)state;
    check_format("# top\n\n# of f\nfn f(a) { # brace\n b = a # b\n\n # alone\n return b # r\n # end\n} # f\n# last",
                 "# top\n\n# of f\nfn f(a) {\n    # brace\n    b = a  # b\n\n    # alone\n    return b  # r\n    # end\n}  # f\n"
                 "\n# last\n");
    check_format("fn f(a) {\n  return g(a, # inside\n    2)\n}\n", "fn f(a) {\n    # inside\n    return g(a,\n             2)\n}\n");
    check_format("##  Doc\n\n@strict pipe p(a: f32, # of a\n # over b\n ## doc b\n b: f32 # of b\n) -> image u8 { return a }\n",
                 "##  Doc\n@strict\npipe p(a: f32,  # of a\n       # over b\n       ## doc b\n       b: f32  # of b\n      ) -> image u8\n"
                 "{\n    return a\n}\n");
}

static void aligned_definitions_stay_aligned(void **state)
{
    (void)state;
    check_format("fn f(a) {\n  lin   = a\n  b[x]  =   2\n  c = 3\n}\n", "fn f(a) {\n    lin  = a\n    b[x] = 2\n    c = 3\n}\n");
}

static void matrices_have_columns(void **state)
{
    (void)state;
    check_format("const k = [[1, 20],\n [300, -4]] /16\n", "const k = [[  1, 20],\n           [300, -4]] / 16\n");
}

static void long_lines_are_broken(void **state)
{
    (void)state;
    parsed_script s = parse_string("fn f(a) {\n  b = first_function_name(argument_number_one, argument_number_two, argument_number_three, "
                            "argument_number_four, argument_number_five) + something_else_that_is_long * another_factor\n"
                            "  return b\n}\n");
    char *found = formatted(&s);
    size_t width = 0;
    for (const char *c = found; *c; c++) {
        width = *c == '\n' ? 0 : width + 1;
        assert_true(width <= 120);
    }
    free(found);
    script_free(&s);
}

static void every_script_of_the_repository(void **state)
{
    (void)state;
    path_list scripts = find_scripts();
    assert_true(scripts.count > 10);
    for (size_t i = 0; i < scripts.count; i++) {
        size_t n_bytes;
        char *bytes = read_whole(scripts.paths[i], &n_bytes);
        assert_non_null(bytes);
        check_round_trip(scripts.paths[i], bytes, n_bytes);
        free(bytes);
    }
    path_list_free(&scripts);
}

/* Expressions too long for a line, of every kind, made from a seed. */
static uint32_t next_random(uint32_t *seed, uint32_t below)
{
    *seed = *seed * 1664525u + 1013904223u;
    return (*seed >> 8) % below;
}

static void random_expression(text *out, uint32_t *seed, int depth)
{
    static const char *const operators[] = {" + ", " - ", "*", " * ", " / ", "//", " % ", "**", " and ", " or ", " == "};
    static const char *const breaks[] = {"", "", "", "\n    ", " # note\n    "};
    const char *line = breaks[next_random(seed, 5)];
    if (depth == 0) {
        static const char *const leaves[] = {"a", "value", "3", "0.25", "a_rather_long_name", "p[x, y]"};
        text_string(out, leaves[next_random(seed, 6)]);
        return;
    }
    uint32_t kind = next_random(seed, 9);
    text_string(out, "(");            /* so that breaks are legal everywhere and precedence can't matter */
    if (kind == 0)
        text_string(out, next_random(seed, 2) ? "-" : "not ");
    if (kind == 1)
        text_printf(out, "sum(i in 0..%u, (x, y) in src where i > 1: %s", next_random(seed, 9), line);
    if (kind == 2 || kind == 3)
        text_printf(out, kind == 2 ? "call_of(named: " : "a.method(");
    if (kind == 4)
        text_string(out, "[");
    random_expression(out, seed, depth - 1);
    if (kind >= 2 && kind <= 5) {
        for (uint32_t n = next_random(seed, 5); n > 0; n--) {
            text_printf(out, ", %s", line);
            random_expression(out, seed, depth - 1);
        }
    } else if (kind == 6) {
        text_printf(out, " ? %s", line);
        random_expression(out, seed, depth - 1);
        text_printf(out, " : %s", line);
        random_expression(out, seed, depth - 1);
    } else if (kind >= 7) {
        text_string(out, operators[next_random(seed, 10)]);
        text_string(out, line);
        random_expression(out, seed, depth - 1);
    }
    text_string(out, kind == 4 ? "]" : kind >= 1 && kind <= 3 ? ")" : "");
    text_string(out, ")");
}

static void random_expressions(void **state)
{
    (void)state;
    for (uint32_t round = 0; round < 1500; round++) {
        uint32_t seed = round;
        text out = {0};
        text_string(&out, "pipe p(src: image u8) -> image u8 {\n    b = ");
        random_expression(&out, &seed, 1 + (int)(round % 5));
        text_string(&out, "\n    long_name[x, y in 0..3]: f32 = ");
        random_expression(&out, &seed, 1 + (int)(round % 3));
        text_string(&out, "\n    return ");
        random_expression(&out, &seed, 2);
        text_string(&out, ", ");
        random_expression(&out, &seed, 2);
        text_string(&out, "\n}\n");
        char *source = text_take(&out);
        parsed_script s = parse_string(source);
        if (s.diagnostics.n_errors) {
            char *errors = diagnostics_of(&s);
            fail_msg("seed %u:\n%s", round, errors);
        }
        script_free(&s);
        char name[40];
        snprintf(name, sizeof name, "seed %u", round);
        check_round_trip(name, source, strlen(source));
        free(source);
    }
}

int main(int n_arguments, char **arguments)
{
    if (n_arguments > 1)
        repository = arguments[1];
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(spaces),
        cmocka_unit_test(blocks_and_blank_lines),
        cmocka_unit_test(comments),
        cmocka_unit_test(aligned_definitions_stay_aligned),
        cmocka_unit_test(matrices_have_columns),
        cmocka_unit_test(long_lines_are_broken),
        cmocka_unit_test(every_script_of_the_repository),
        cmocka_unit_test(random_expressions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
