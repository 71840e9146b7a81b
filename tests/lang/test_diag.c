/* SPDX-License-Identifier: MIT
 * Diagnostics as people and as editors see them. */
#include "script.h"

#include <stdlib.h>
#include <string.h>

typedef struct fixture {
    arena *memory;
    diags  d;
} fixture;

static int set_up(void **state)
{
    fixture *f = calloc(1, sizeof *f);
    f->memory = arena_new(NULL);
    diags_init(&f->d, f->memory);
    *state = f;
    return 0;
}

static int tear_down(void **state)
{
    fixture *f = *state;
    arena_free(f->memory);
    free(f);
    return 0;
}

/* The span of the first `word` in a text. */
static span find(fixture *f, uint32_t source, const char *word)
{
    const char *all = f->d.sources.items[source].text, *at = strstr(all, word);
    assert_non_null(at);
    uint32_t start = (uint32_t)(at - all);
    return (span){source, start, start + (uint32_t)strlen(word)};
}

static void check_render(fixture *f, const char *expected)
{
    text out = {0};
    diags_render(&f->d, &out);
    char *rendered = text_take(&out);
    assert_string_equal(rendered, expected);
    free(rendered);
}

static void line_carets_and_notes(void **state)
{
    fixture *f = *state;
    const char *script = "a\nb\nc\nd\ne\nf\n    gx[x in 0..<lin.width, y] = lin[x + 2, y] - lin[x - 2, y]\n";
    uint32_t source = diags_add_source(&f->d, "blur.pipe", script, strlen(script));
    diag_add(&f->d, DIAG_E0301, find(f, source, "lin[x + 2, y]"), "this reads %d pixels outside `%s`", 2, "lin");
    diag_note(&f->d, "`lin` covers 0..<W; x + 2 reaches W + 1");
    diag_help(&f->d, "say what is outside: pad(lin, edge)[x + 2, y]");
    check_render(f, "blur.pipe:7:33: error[E0301]: this reads 2 pixels outside `lin`\n"
                    "   7 |     gx[x in 0..<lin.width, y] = lin[x + 2, y] - lin[x - 2, y]\n"
                    "     |                                 ^^^^^^^^^^^^^\n"
                    "     = `lin` covers 0..<W; x + 2 reaches W + 1\n"
                    "     = help: say what is outside: pad(lin, edge)[x + 2, y]\n");
}

static void tabs_and_wide_characters_keep_carets_in_place(void **state)
{
    fixture *f = *state;
    const char *script = "\tx = \xC3\xA9\xE6\xBC\xA2 bad\r\n";
    uint32_t source = diags_add_source(&f->d, "t.pipe", script, strlen(script));
    diag_add(&f->d, DIAG_E0101, find(f, source, "bad"), "no");
    check_render(f, "t.pipe:1:9: error[E0101]: no\n"
                    "   1 | \tx = \xC3\xA9\xE6\xBC\xA2 bad\n"
                    "     | \t        ^^^\n");
}

static void control_characters_and_broken_bytes_are_replaced(void **state)
{
    fixture *f = *state;
    const char *script = "a\x1b[31m\xFF bad";
    uint32_t source = diags_add_source(&f->d, "t.pipe", script, strlen(script));
    diag_add(&f->d, DIAG_E0101, find(f, source, "bad"), "no");
    check_render(f, "t.pipe:1:9: error[E0101]: no\n"
                    "   1 | a\xEF\xBF\xBD[31m\xEF\xBF\xBD bad\n"
                    "     |         ^^^\n");
}

static void spans_end_with_their_line(void **state)
{
    fixture *f = *state;
    uint32_t source = diags_add_source(&f->d, "t.pipe", "ab cd\nef", 8);
    diag_add(&f->d, DIAG_E0101, (span){source, 3, 8}, "two lines");
    diag_add(&f->d, DIAG_E0102, (span){source, 8, 8}, "at the end");
    diag_add(&f->d, DIAG_E0103, (span){source, 5, 5}, "at the end of a line");
    check_render(f, "t.pipe:1:4: error[E0101]: two lines\n   1 | ab cd\n     |    ^^\n"
                    "t.pipe:2:3: error[E0102]: at the end\n   2 | ef\n     |   ^\n"
                    "t.pipe:1:6: error[E0103]: at the end of a line\n   1 | ab cd\n     |      ^\n");
}

static void long_lines_are_cut(void **state)
{
    fixture *f = *state;
    char *script = malloc(5001);
    memset(script, 'x', 5000);
    script[5000] = 0;
    memcpy(script + 3000, "bad", 3);
    uint32_t source = diags_add_source(&f->d, "t.pipe", script, 5000);
    diag_add(&f->d, DIAG_E0101, find(f, source, "bad"), "no");
    text out = {0};
    diags_render(&f->d, &out);
    assert_true(out.count < 600);
    char *rendered = text_take(&out);
    assert_non_null(strstr(rendered, "xbadx"));
    free(rendered);
    free(script);
}

static void without_a_place(void **state)
{
    fixture *f = *state;
    diag_add(&f->d, DIAG_E0101, (span){0}, "nowhere");
    check_render(f, "error[E0101]: nowhere\n");
}

static void repetitions_and_floods_are_dropped(void **state)
{
    fixture *f = *state;
    uint32_t source = diags_add_source(&f->d, "t.pipe", "abc", 3);
    diag_add(&f->d, DIAG_E0101, (span){source, 1, 2}, "once");
    diag_add(&f->d, DIAG_E0101, (span){source, 1, 3}, "twice");
    diag_note(&f->d, "of the dropped one");
    assert_int_equal(f->d.items.count, 1);
    assert_int_equal(f->d.items.items[0].notes.count, 0);
    diag_add(&f->d, DIAG_E0102, (span){source, 1, 2}, "another code");
    assert_int_equal(f->d.items.count, 2);
    for (int i = 0; i < 100; i++)
        diag_add(&f->d, DIAG_E0101, (span){0}, "flood");
    assert_int_equal(f->d.n_errors, 50);
    assert_int_equal(f->d.items.count, 50);
}

static void json(void **state)
{
    fixture *f = *state;
    uint32_t source = diags_add_source(&f->d, "a\"b.pipe", "x\n  y \xC3\xA9 z", 10);
    diag_add(&f->d, DIAG_E0101, find(f, source, "z"), "say \"%s\" \\ \xFF", "hi\n");
    diag_help(&f->d, "do");
    diag_add(&f->d, DIAG_E0102, (span){0}, "nowhere");
    text out = {0};
    diags_render_json(&f->d, &out);
    char *rendered = text_take(&out);
    assert_string_equal(rendered,
        "[{\"file\": \"a\\\"b.pipe\", \"line\": 2, \"column\": 7, \"end_line\": 2, \"end_column\": 8, \"severity\": \"error\", "
        "\"code\": \"E0101\", \"message\": \"say \\\"hi\\n\\\" \\\\ \\ufffd\", \"notes\": [\"help: do\"]},\n"
        " {\"file\": null, \"line\": 0, \"column\": 0, \"end_line\": 0, \"end_column\": 0, \"severity\": \"error\", "
        "\"code\": \"E0102\", \"message\": \"nowhere\", \"notes\": []}]\n");
    free(rendered);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(line_carets_and_notes, set_up, tear_down),
        cmocka_unit_test_setup_teardown(tabs_and_wide_characters_keep_carets_in_place, set_up, tear_down),
        cmocka_unit_test_setup_teardown(control_characters_and_broken_bytes_are_replaced, set_up, tear_down),
        cmocka_unit_test_setup_teardown(spans_end_with_their_line, set_up, tear_down),
        cmocka_unit_test_setup_teardown(long_lines_are_cut, set_up, tear_down),
        cmocka_unit_test_setup_teardown(without_a_place, set_up, tear_down),
        cmocka_unit_test_setup_teardown(repetitions_and_floods_are_dropped, set_up, tear_down),
        cmocka_unit_test_setup_teardown(json, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
