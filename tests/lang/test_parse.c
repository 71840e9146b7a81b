/* SPDX-License-Identifier: MIT
 * Tokens, statement ends, documentation, trees and syntax errors. Trees of whole scripts stand in ast/: NAME.pipe and the
 * NAME.ast it gives (HALO_UPDATE=1 rewrites those). */
#include "script.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- expressions, through the tree of `const x = ...` ---- */

/* An expression as nested lists: 1 + 2*3 is (+ 1 (* 2 3)). */
static void lisp(text *out, const expr *e)
{
    switch (e->kind) {
    case EXPR_NAME:    text_string(out, e->name); break;
    case EXPR_INTEGER: text_printf(out, "%u", e->integer.value); break;
    case EXPR_FLOAT:   text_f32(out, e->number.value); break;
    case EXPR_PAREN:   text_string(out, "["), lisp(out, e->paren), text_string(out, "]"); break;
    case EXPR_UNARY:
        text_string(out, e->unary.op == UNARY_NOT ? "(not " : "(neg ");
        lisp(out, e->unary.operand);
        text_string(out, ")");
        break;
    case EXPR_BINARY:
        text_printf(out, "(%s ", binary_op_spelling(e->binary.op));
        lisp(out, e->binary.left);
        text_string(out, " ");
        lisp(out, e->binary.right);
        text_string(out, ")");
        break;
    case EXPR_SELECT:
        text_string(out, "(? ");
        lisp(out, e->select.condition);
        text_string(out, " ");
        lisp(out, e->select.yes);
        text_string(out, " ");
        lisp(out, e->select.no);
        text_string(out, ")");
        break;
    default: text_printf(out, "<%d>", e->kind); break;
    }
}

static void check_expression(const char *source, const char *expected)
{
    char script_text[500];
    snprintf(script_text, sizeof script_text, "const x = %s\n", source);
    parsed_script s = parse_string(script_text);
    if (s.diagnostics.n_errors) {
        char *errors = diagnostics_of(&s);
        print_error("%s", errors);
        free(errors);
    }
    assert_int_equal(s.diagnostics.n_errors, 0);
    text out = {0};
    lisp(&out, s.tree->items.items[0]->value);
    char *found = text_take(&out);
    assert_string_equal(found, expected);
    free(found);
    script_free(&s);
}

static void precedence(void **state)
{
    (void)state;
    check_expression("a ? b : c ? d : e", "(? a b (? c d e))");
    check_expression("a or b and not c == d", "(or a (and b (not (== c d))))");
    check_expression("a < b + c * d", "(< a (+ b (* c d)))");
    check_expression("a - b - c", "(- (- a b) c)");
    check_expression("a / b // c % d * e", "(* (% (// (/ a b) c) d) e)");
    check_expression("-a ** b", "(neg (** a b))");
    check_expression("a ** -b ** c", "(** a (neg (** b c)))");
    check_expression("a ** b ** c", "(** a (** b c))");
    check_expression("-a * b", "(* (neg a) b)");
    check_expression("- - a", "(neg (neg a))");
    check_expression("not not a", "(not (not a))");
    check_expression("a - (b - c)", "(- a [(- b c)])");
    check_expression("a > 1 ? b + 1 : c", "(? (> a 1) (+ b 1) c)");
}

static void numbers(void **state)
{
    (void)state;
    check_expression("1_000", "1000");
    check_expression("0xFF", "255");
    check_expression("0Xdead_beef", "3735928559");
    check_expression("4294967295", "4294967295");
    check_expression("1.5", "1.5");
    check_expression("1e3", "1000.0");
    check_expression("2.5E-3", "0.0025");
    check_expression("1_0.0_1", "10.01");
    check_expression("16777217.0", "16777216.0");      /* the nearest f32 */
    check_expression("1e-60", "0.0");
    check_expression("007", "7");
}

/* ---- statement ends ---- */

static void check_codes(const char *source, const char *expected)
{
    char *found = codes_of(source);
    if (strcmp(found, expected) != 0)
        print_error("in:\n%s\n", source);
    assert_string_equal(found, expected);
    free(found);
}

static void check_same_tree(const char *a, const char *b)
{
    parsed_script first = parse_string(a), second = parse_string(b);
    char *errors = diagnostics_of(&first), *tree_a = tree_of(&first), *tree_b = tree_of(&second);
    assert_string_equal(errors, "");
    assert_int_equal(second.diagnostics.n_errors, 0);
    assert_string_equal(tree_a, tree_b);
    free(errors);
    free(tree_a);
    free(tree_b);
    script_free(&first);
    script_free(&second);
}

static void statement_ends(void **state)
{
    (void)state;
    const char *plain = "fn f(a) {\n    b = a + 1\n    return b\n}\n";
    check_same_tree("fn f(a)\n{\n b = a +\n 1\n return b }", plain);
    check_same_tree("fn f(a) { b = a + 1 # c\n\n\n return b # d\n} # e", plain);
    check_same_tree("fn f(a) { # c\n b = a + 1\n return b\n # d\n}\n\n", plain);
}

static void lines_that_go_on(void **state)
{
    (void)state;
    const char *plain = "fn f(a) { b = g(a, [1, 2])\n return b }\n";
    check_same_tree("fn f(a) {\n b = g(a,\n [1,\n\n # comment\n 2]\n )\n return\n b\n}", plain);
    check_same_tree("fn f(\na\n)\n\n{ b =\n\n g(a, [1, 2])\r\n return b }", plain);
    check_same_tree("\xEF\xBB\xBF" "fn f(a) { b = g(a, [1, 2],)\n return b }", plain);
    check_codes("fn f(a) {\n    b = a\n      + 1\n    return b\n}\n", "E0102@3");
    check_codes("fn f(a) { return a } fn g(a) = a\n", "E0102@1");
}

static void trailing_commas(void **state)
{
    (void)state;
    check_same_tree("fn f(a, b,) = g(a, b,)[1] + [1, 2,]", "fn f(a, b) = g(a, b)[1] + [1, 2]");
    check_codes("const a = (1, 2,)\n", "E0102@1");
}

/* `image` is a keyword only before an element. */
static void image_is_also_a_name(void **state)
{
    (void)state;
    check_codes("pipe p(image: image u8) -> image u8 {\n    return image\n}\n", "");
}

/* ---- documentation ---- */

static void docs_go_to_items_and_parameters(void **state)
{
    (void)state;
    parsed_script s = parse_string("## First\n##\n##  indented\n# not this\n\n## last\n@strict\n"
                            "pipe p(## about a\n a: f32, ## stray\n ## about b\n b: f32) -> image u8 {\n"
                            "    ## not a doc\n    return a\n}\n## of f\nfn f(a) = a\n");
    assert_int_equal(s.diagnostics.n_errors, 0);
    const item *p = s.tree->items.items[0], *f = s.tree->items.items[1];
    assert_string_equal(p->doc, "First\n\n indented\nlast");
    assert_string_equal(p->params.items[0].doc, "about a");
    assert_string_equal(p->params.items[1].doc, "stray\nabout b");
    assert_string_equal(p->body.items[0]->comments.items[0], "# not a doc");
    assert_string_equal(f->doc, "of f");
    assert_null(f->params.items[0].doc);
    script_free(&s);
}

/* ---- trees ---- */

static void check_tree_file(const char *name)
{
    char path[1000];
    size_t n_bytes;
    snprintf(path, sizeof path, "%s/tests/lang/ast/%s.pipe", repository, name);
    char *source = read_whole(path, &n_bytes);
    assert_non_null(source);
    parsed_script s = parse_bytes(source, n_bytes);
    assert_int_equal(s.diagnostics.n_errors, 0);
    char *tree = tree_of(&s);
    snprintf(path, sizeof path, "%s/tests/lang/ast/%s.ast", repository, name);
    if (getenv("HALO_UPDATE")) {
        FILE *f = fopen(path, "wb");
        assert_non_null(f);
        fputs(tree, f);
        fclose(f);
    }
    char *expected = read_whole(path, &n_bytes);
    assert_non_null(expected);
    assert_string_equal(tree, expected);
    free(source);
    free(tree);
    free(expected);
    script_free(&s);
}

static void trees(void **state)
{
    (void)state;
    check_tree_file("definitions");
    check_tree_file("reductions");
    check_tree_file("items");
}

/* Locations are exact: the text of a node is what its span covers. */
static void check_text(const parsed_script *s, span where, const char *expected)
{
    const char *source = s->diagnostics.sources.items[where.source].text;
    assert_int_equal(where.end - where.start, strlen(expected));
    assert_memory_equal(source + where.start, expected, strlen(expected));
}

static void locations(void **state)
{
    (void)state;
    parsed_script s = parse_string("fn f(a: image u8 = 3 in 0..5) -> f32x3 {\n  @inline g[x, y in 1..2] = -h(a, b: (c))[1].r * 2\n}\n");
    assert_int_equal(s.diagnostics.n_errors, 0);
    const item *f = s.tree->items.items[0];
    const stmt *g = f->body.items[0];
    const expr *product = g->define.value;
    check_text(&s, f->name_where, "f");
    check_text(&s, f->params.items[0].where, "a: image u8 = 3 in 0..5");
    check_text(&s, f->params.items[0].type->where, "image u8");
    check_text(&s, f->params.items[0].in->where, "0..5");
    check_text(&s, f->result->where, "f32x3");
    check_text(&s, g->where, "@inline g[x, y in 1..2] = -h(a, b: (c))[1].r * 2");
    check_text(&s, g->annotations.items[0].where, "@inline");
    check_text(&s, g->define.name_where, "g");
    check_text(&s, g->define.dims.items[1].where, "y in 1..2");
    check_text(&s, product->where, "-h(a, b: (c))[1].r * 2");
    const expr *member = product->binary.left->unary.operand;
    check_text(&s, member->where, "h(a, b: (c))[1].r");
    const expr *call = member->member.object->index.object;
    check_text(&s, call->where, "h(a, b: (c))");
    check_text(&s, call->call.name_where, "h");
    check_text(&s, call->call.args.items[1].where, "b: (c)");
    check_text(&s, f->where,
               "fn f(a: image u8 = 3 in 0..5) -> f32x3 {\n  @inline g[x, y in 1..2] = -h(a, b: (c))[1].r * 2\n}");
    script_free(&s);
}

/* ---- errors ---- */

static void errors(void **state)
{
    (void)state;
    check_codes("", "E0110@1");
    check_codes("# only a comment\n", "E0110@1");
    check_codes("const a = 1 + \xC3\xA9t\xC3\xA9 + b\xC3\x97" "c + \xE2\x88\x92" "d\n", "E0101@1 E0101@1 E0101@1");
    check_codes("const a = 1 $ 2\n", "E0101@1 E0102@1");
    check_codes("const a = 4294967296\n", "E0107@1");
    check_codes("const a = 1e39\n", "E0107@1");
    check_codes("const a = 1.5f\n", "E0106@1");
    check_codes("const a = .5 + 1.\n", "E0106@1 E0106@1");
    check_codes("import \"a.pipe\nconst b = 1\n", "E0105@1");
    check_codes("import 'a.pipe'\n", "E0105@1");
    check_codes("const a = 1;\nconst b = 2\n", "E0109@1");
    check_codes("const a = b && c || !d\n", "E0109@1 E0109@1 E0109@1");
    check_codes("const a = 1 < 2 < 3\n", "E0102@1");
    check_codes("const a = (1 < 2) == (2 < 3)\n", "");
    check_codes("x = 3\n", "E0102@1");
    check_codes("fn f(a) = sum(3 in 0..4: a)\n", "E0102@1");
    check_codes("\xFF\xFE" "const a = 1\n", "E0104@1");
}

/* One mistake is one error, and what follows is still checked. */
static void recovery(void **state)
{
    (void)state;
    check_codes("fn f(a) {\n  b = (1 + 2\n  c = 2\n  d = )\n  return b }\nfn g(a = \nconst x = 1 1\n",
                "E0103@2 E0103@4 E0102@4 E0103@6 E0102@6 E0102@7");
    check_codes("pipe p(a image u8) -> image u8 {\n  b = = 1\n  return b\n}\nconst c = *\n", "E0102@1 E0102@2 E0102@5");
    check_codes("fn f(a) {\n  b = a\nfn g(a) = a + \n\nfn h(a) = a\n", "E0103@2 E0102@5");
    check_codes("fn f(a) {\n  x = g(a, h(a, 1)\n  y = 2\n  z = g[1, 2\n  w[x] = 3\n}\n", "E0103@2 E0103@4");
    check_codes("fn f(a) = (a]\n", "E0103@1");
    check_codes("fn f(a) = a)\n", "E0103@1");
    check_codes("fn f(a) = a }\nfn g(a) = a\n", "E0103@1");
}

static void a_broken_definition_keeps_its_name(void **state)
{
    (void)state;
    parsed_script s = parse_string("fn f(a) {\n  b = 1 + / 2\n  c[x, y] = * 3\n  return b\n}\n");
    assert_int_equal(s.diagnostics.n_errors, 2);
    const item *f = s.tree->items.items[0];
    assert_int_equal(f->body.count, 3);
    assert_string_equal(f->body.items[0]->define.name, "b");
    script_free(&s);
}

static void check_message(const char *source, const char *part)
{
    parsed_script s = parse_string(source);
    char *all = diagnostics_of(&s);
    if (!strstr(all, part))
        fail_msg("no \"%s\" in:\n%s", part, all);
    free(all);
    script_free(&s);
}

static void messages_offer_the_fix(void **state)
{
    (void)state;
    check_message("fn f(a) {\n  b = (a +\n  3\n  return b\n}\n", "expected `)` to close the `(` at line 2");
    check_message("fn f(a) = a == 1 && a > 2\n", "help: write `and`");
    check_message("fn f(a) = a < 1 < 2\n", "help: write `a < b and b < c`");
    check_message("fn f(a) = a = 1 ? 2 : 3\n", "a comparison is `==`");
    check_message("fn f(a) = g(a, k = 3)\n", "a named argument is written `k: value`");
    check_message("const a = 1 // one and\nconst b = 2\n", "`//` is floor division; a comment starts with `#`");
    check_message("// hello\nfn f(a) = a\n", "`//` is floor division; a comment starts with `#`");
    check_message("/* hello */ fn f(a) = a\n", "a comment is `#` and the rest of the line");
    check_message("fn f(a) {\n  if a > 1\n  return a\n}\n", "a choice is an expression: condition ? a : b");
    check_message("fn f(a) {\n  b = a\n    * 2\n}\n", "put the `*` at its end");
    check_message("pipe p(a: image u8)\n  -> image u8 {\n return a }\n", "`->` stands on the line of the `)`");
    check_message("pipe p(a image u8) -> image u8 {\n return a }\n", "a type follows a `:`");
    check_message("fn f(a) {\n  a += 1\n  return a\n}\n", "a value is defined once");
    check_message("const a = 2x\n", "2*x");
    check_message("const a = b \xE2\x89\xA4 c\n", "write `<=`");
    check_message("fn f(a) = sum(i in 0..2)\n", "a reduction ends with what it reduces");
    check_message("fn f(a) {\n  b = a c = 2\n}\n", "a new statement starts on a line of its own");
    check_message("x = 3\n", "a constant is: const name = value");
}

/* ---- depth ---- */

static char *repeat(const char *before, const char *part, size_t count, const char *after)
{
    text out = {0};
    text_string(&out, before);
    for (size_t i = 0; i < count; i++)
        text_string(&out, part);
    text_string(&out, after);
    return text_take(&out);
}

static void check_depth(const char *before, const char *part, size_t count, const char *after, const char *expected)
{
    char *source = repeat(before, part, count, after);
    char *found = codes_of(source);
    assert_string_equal(found, expected);
    free(found);
    free(source);
}

static void deep_nesting_is_an_error(void **state)
{
    (void)state;
    check_depth("const a = ", "(", 150, "1", "E0103@1");
    check_depth("const a = ", "(", 100000, "1", "E0108@1");
    check_depth("const a = ", "[", 100000, "1", "E0108@1");
    check_depth("const a = ", "f(", 100000, "1", "E0108@1");
    check_depth("const a = ", "-", 100000, "1", "E0108@1");
    check_depth("const a = ", "not ", 100000, "1", "E0108@1");
    check_depth("const a = 1", " + 1", 100000, "\n", "E0108@1");
    check_depth("const a = 1", " + 1", 900, "\n", "");
    check_depth("const a = 1", " ** 1", 100000, "\n", "E0108@1");
    check_depth("const a = ", "b ? 1 : ", 100000, "1\n", "E0108@1");
    check_depth("const a = b", ".r", 100000, "\n", "E0108@1");
    check_depth("const a = b", "[1]", 100000, "\n", "E0108@1");
    check_depth("fn f(a) {\n", "for i in 0..1 {\n", 100000, "\n", "E0108@201");
}

static void a_long_file_is_fine(void **state)
{
    (void)state;
    check_depth("fn f(a) {\n", "  b = a + [1, 2, 3][1] # c\n", 20000, "}\n", "");
    check_depth("const a = [1", ", 1", 100000, "]\n", "");
}

int main(int n_arguments, char **arguments)
{
    if (n_arguments > 1)
        repository = arguments[1];
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(precedence),
        cmocka_unit_test(numbers),
        cmocka_unit_test(statement_ends),
        cmocka_unit_test(lines_that_go_on),
        cmocka_unit_test(trailing_commas),
        cmocka_unit_test(image_is_also_a_name),
        cmocka_unit_test(docs_go_to_items_and_parameters),
        cmocka_unit_test(trees),
        cmocka_unit_test(locations),
        cmocka_unit_test(errors),
        cmocka_unit_test(recovery),
        cmocka_unit_test(a_broken_definition_keeps_its_name),
        cmocka_unit_test(messages_offer_the_fix),
        cmocka_unit_test(deep_nesting_is_an_error),
        cmocka_unit_test(a_long_file_is_fine),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
