/* SPDX-License-Identifier: MIT
 * Arena, interner, numbers as text, near names. */
#include "script.h"

#include <locale.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static void arena_gives_zeroed_aligned_memory(void **state)
{
    (void)state;
    arena *a = arena_new(NULL);
    for (size_t n = 0; n < 300000; n = n * 3 + 1) {
        unsigned char *bytes = arena_alloc(a, n);
        assert_int_equal((uintptr_t)bytes % 16, 0);
        for (size_t i = 0; i < n; i++)
            assert_int_equal(bytes[i], 0);
        memset(bytes, 0xAB, n);
    }
    arena_free(a);
    arena_free(NULL);
}

static void arena_jumps_when_memory_is_out(void **state)
{
    (void)state;
    jmp_buf failed;
    arena *a = arena_new(&failed);
    if (setjmp(failed) == 0) {
        arena_alloc(a, SIZE_MAX - 100);
        fail_msg("an impossible allocation succeeded");
    }
    arena_free(a);
}

static void lists_keep_their_items(void **state)
{
    (void)state;
    arena *a = arena_new(NULL);
    LIST(uint32_t) list = {0};
    for (uint32_t i = 0; i < 5000; i++)
        LIST_PUSH(a, list, i * i);
    assert_int_equal(list.count, 5000);
    for (uint32_t i = 0; i < 5000; i++)
        assert_int_equal(list.items[i], i * i);
    arena_free(a);
}

static void equal_text_is_one_pointer(void **state)
{
    (void)state;
    arena *a = arena_new(NULL);
    interner *names = interner_new(a);
    const char *first[2000];
    for (int i = 0; i < 2000; i++)
        first[i] = intern_text(names, arena_printf(a, "name%d", i));
    for (int i = 0; i < 2000; i++) {
        char *again = arena_printf(a, "name%dtail", i);
        assert_ptr_equal(first[i], intern(names, again, strlen(again) - 4));
        assert_ptr_not_equal(first[i], intern_text(names, again));
    }
    arena_free(a);
}

static void check_f32(float value, const char *expected)
{
    text t = {0};
    text_f32(&t, value);
    char *written = text_take(&t);
    assert_string_equal(written, expected);
    free(written);
}

static void floats_are_short_and_have_a_point(void **state)
{
    (void)state;
    check_f32(0, "0.0");
    check_f32(-0.0f, "-0.0");
    check_f32(1, "1.0");
    check_f32(-100, "-100.0");
    check_f32(0.1f, "0.1");
    check_f32(0.0001f, "0.0001");
    check_f32(16777216, "16777216.0");
    check_f32(123456789.0f, "123456790.0");
    check_f32(1e10f, "1.0e10");
    check_f32(1.5e-10f, "1.5e-10");
    check_f32(3.4028235e38f, "3.4028235e38");
    check_f32(1.4e-45f, "1.0e-45");
    check_f32(INFINITY, "inf");
    check_f32(-INFINITY, "-inf");
    check_f32(NAN, "nan");
}

/* Any f32 comes back bit for bit, and agrees with the C library's reader. */
static void floats_read_back(void **state)
{
    (void)state;
    uint32_t bits = 12345;
    for (int i = 0; i < 20000; i++) {
        bits = bits * 1664525u + 1013904223u;
        float value, read;
        memcpy(&value, &bits, sizeof value);
        if (!isfinite(value))
            continue;
        text t = {0};
        text_f32(&t, value);
        char *written = text_take(&t);
        assert_true(parse_f32(written, strlen(written), &read));
        assert_memory_equal(&read, &value, sizeof value);
        float expected = strtof(written, NULL);
        assert_memory_equal(&read, &expected, sizeof value);
        free(written);
    }
}

static void odd_numbers(void **state)
{
    (void)state;
    float value;
    assert_true(parse_f32("1_000.5", 7, &value));
    assert_true(value == 1000.5f);
    assert_true(parse_f32("-2e-3", 5, &value));
    assert_true(value == -2e-3f);
    assert_true(parse_f32("12", 2, &value));
    assert_true(value == 12);
    assert_false(parse_f32("1e999", 5, &value));
    assert_false(parse_f32("", 0, &value));
    assert_false(parse_f32("1e", 2, &value));
    assert_false(parse_f32("1.2.3", 5, &value));
    assert_false(parse_f32("0x10", 4, &value));
    assert_false(parse_f32("nan", 3, &value));
    char digits[1001] = "";
    memset(digits, '9', 1000);
    assert_false(parse_f32(digits, 1000, &value));
    digits[1] = '.';
    assert_true(parse_f32(digits, 1000, &value));
    assert_true(value == 10);
}

/* A host program may have set a locale with a decimal comma. */
static void the_locale_does_not_matter(void **state)
{
    (void)state;
    static const char *const with_comma[] = {"de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8", "de_DE"};
    bool set = false;
    for (size_t i = 0; i < 4 && !set; i++)
        set = setlocale(LC_ALL, with_comma[i]) != NULL;
    if (!set)
        skip();
    float value;
    assert_true(parse_f32("0.25", 4, &value));
    assert_true(value == 0.25f);
    check_f32(0.3f, "0.3");
    setlocale(LC_ALL, "C");
}

static void near_names(void **state)
{
    (void)state;
    static const char *const names[] = {"gaussian", "median", "reflect", "reflect101", "edge", "u8", "x"};
    const size_t n = sizeof names / sizeof *names;
    assert_string_equal(nearest_name("gausian", names, n), "gaussian");
    assert_string_equal(nearest_name("Edge", names, n), "edge");
    assert_string_equal(nearest_name("egde", names, n), "edge");
    assert_string_equal(nearest_name("reflct", names, n), "reflect");
    assert_string_equal(nearest_name("reflect01", names, n), "reflect101");
    assert_null(nearest_name("convolve", names, n));
    assert_null(nearest_name("y", names, n));
    assert_null(nearest_name("", names, n));
}

static void utf8(void **state)
{
    (void)state;
    static const struct { const char *bytes; size_t n_bytes; uint32_t character; } cases[] = {
        {"a", 1, 'a'},           {"\xC3\xA9", 2, 0xE9},    {"\xE2\x82\xAC", 3, 0x20AC}, {"\xF0\x9F\x98\x80", 4, 0x1F600},
        {"\x80", 1, 0xFFFD},     {"\xC0\x80", 1, 0xFFFD},  {"\xE0\x80\x80", 1, 0xFFFD}, {"\xED\xA0\x80", 1, 0xFFFD},
        {"\xF5\x80\x80\x80", 1, 0xFFFD}, {"\xE2\x82", 1, 0xFFFD}, {"\xF4\x90\x80\x80", 1, 0xFFFD},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint32_t c;
        const char *end = cases[i].bytes + strlen(cases[i].bytes);
        assert_int_equal(utf8_character(cases[i].bytes, end, &c), cases[i].n_bytes);
        assert_int_equal(c, cases[i].character);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(arena_gives_zeroed_aligned_memory),
        cmocka_unit_test(arena_jumps_when_memory_is_out),
        cmocka_unit_test(lists_keep_their_items),
        cmocka_unit_test(equal_text_is_one_pointer),
        cmocka_unit_test(floats_are_short_and_have_a_point),
        cmocka_unit_test(floats_read_back),
        cmocka_unit_test(odd_numbers),
        cmocka_unit_test(the_locale_does_not_matter),
        cmocka_unit_test(near_names),
        cmocka_unit_test(utf8),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
