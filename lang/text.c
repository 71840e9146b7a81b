/* SPDX-License-Identifier: MIT
 * Growing text, numbers as text and back, near names. Numbers never pass through the locale's decimal point: they are
 * read and written as `digits` and `exponent`, which printf and strtof treat alike everywhere. */
#include "lang/base.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- text buffer ----------------------------------------------------------------------------- */

/* Room for n_bytes more and a NUL. */
static bool text_reserve(text *t, size_t n_bytes)
{
    if (t->failed)
        return false;
    if (t->capacity - t->count > n_bytes)
        return true;
    size_t capacity = t->capacity ? t->capacity : 256;
    while (capacity - t->count <= n_bytes)
        capacity *= 2;
    char *bytes = realloc(t->bytes, capacity);
    if (!bytes) {
        t->failed = true;
        return false;
    }
    t->bytes = bytes;
    t->capacity = capacity;
    return true;
}

void text_add(text *t, const char *bytes, size_t n_bytes)
{
    if (!text_reserve(t, n_bytes))
        return;
    if (n_bytes)
        memcpy(t->bytes + t->count, bytes, n_bytes);
    t->count += n_bytes;
    t->bytes[t->count] = 0;
}

void text_string(text *t, const char *string)
{
    text_add(t, string, strlen(string));
}

void text_vprintf(text *t, const char *format, va_list args)
{
    va_list again;
    va_copy(again, args);
    int n = vsnprintf(NULL, 0, format, again);
    va_end(again);
    if (n < 0) {
        t->failed = true;
    } else if (text_reserve(t, (size_t)n)) {
        vsnprintf(t->bytes + t->count, (size_t)n + 1, format, args);
        t->count += (size_t)n;
    }
}

void text_printf(text *t, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    text_vprintf(t, format, args);
    va_end(args);
}

char *text_take(text *t)
{
    text_add(t, "", 0);
    char *bytes = t->failed ? NULL : t->bytes;
    if (t->failed)
        free(t->bytes);
    *t = (text){0};
    return bytes;
}

void text_free(text *t)
{
    free(t->bytes);
    *t = (text){0};
}

/* ---- f32 and text ---------------------------------------------------------------------------- */

enum { MAX_DIGITS = 9 };      /* any f32 is told from its neighbours by nine */

/* value = 0.d1d2d3... * 10^point with the fewest digits that read back as the same f32. */
static int shortest_digits(float value, char digits[MAX_DIGITS + 1], int *point)
{
    for (int n = 1;; n++) {
        char scientific[64], plain[64];
        snprintf(scientific, sizeof scientific, "%.*e", n - 1, (double)value);
        int count = 0;
        const char *at = scientific;
        for (; *at && *at != 'e'; at++)
            if (isdigit((unsigned char)*at) && count < MAX_DIGITS)
                digits[count++] = *at;
        digits[count] = 0;
        int exponent = *at == 'e' ? atoi(at + 1) : 0;
        snprintf(plain, sizeof plain, "%se%d", digits, exponent - (count - 1));
        if (n == MAX_DIGITS || strtof(plain, NULL) == value) {
            *point = exponent + 1;
            while (count > 1 && digits[count - 1] == '0')
                digits[--count] = 0;
            return count;
        }
    }
}

void text_f32(text *t, float value)
{
    if (isnan(value)) {
        text_string(t, "nan");
        return;
    }
    if (signbit(value))
        text_string(t, "-");
    if (isinf(value)) {
        text_string(t, "inf");
        return;
    }
    if (value == 0) {
        text_string(t, "0.0");
        return;
    }
    char digits[MAX_DIGITS + 1];
    int point, count = shortest_digits(fabsf(value), digits, &point);
    if (point < -4 || point > 9)
        text_printf(t, "%c.%se%d", digits[0], count > 1 ? digits + 1 : "0", point - 1);
    else if (point <= 0)
        text_printf(t, "0.%.*s%s", -point, "00000000", digits);
    else if (count <= point)
        text_printf(t, "%s%.*s.0", digits, point - count, "000000000");
    else
        text_printf(t, "%.*s.%s", point, digits, digits + point);
}

bool parse_f32(const char *number, size_t n_bytes, float *value)
{
    char stack[128];
    char *plain = n_bytes + 24 <= sizeof stack ? stack : malloc(n_bytes + 24);
    if (!plain)
        return false;
    size_t count = 0, i = 0;
    long exponent = 0;
    bool fraction = false, digit = false, well_formed = true;
    if (i < n_bytes && (number[i] == '-' || number[i] == '+'))
        plain[count++] = number[i++];
    for (; i < n_bytes && number[i] != 'e' && number[i] != 'E'; i++) {
        if (isdigit((unsigned char)number[i])) {
            plain[count++] = number[i];
            exponent -= fraction;
            digit = true;
        } else if (number[i] == '.' && !fraction) {
            fraction = true;
        } else if (number[i] != '_') {
            well_formed = false;
        }
    }
    if (i < n_bytes) {                      /* e, a sign, digits; far beyond any f32 the size no longer matters */
        bool negative = ++i < n_bytes && number[i] == '-';
        if (i < n_bytes && (number[i] == '-' || number[i] == '+'))
            i++;
        long written = 0;
        well_formed = well_formed && i < n_bytes;
        for (; i < n_bytes; i++) {
            if (!isdigit((unsigned char)number[i]))
                well_formed = false;
            else if (written < 100000000)
                written = written * 10 + (number[i] - '0');
        }
        exponent += negative ? -written : written;
    }
    snprintf(plain + count, 24, "e%ld", exponent);
    *value = well_formed && digit ? strtof(plain, NULL) : 0;
    if (plain != stack)
        free(plain);
    return well_formed && digit && isfinite(*value);
}

/* ---- UTF-8 ----------------------------------------------------------------------------------- */

size_t utf8_character(const char *at, const char *end, uint32_t *code_point)
{
    const unsigned char *s = (const unsigned char *)at;
    size_t left = (size_t)(end - at);
    size_t n = s[0] < 0x80 ? 1 : s[0] >= 0xC2 && s[0] < 0xE0 ? 2 : (s[0] & 0xF0) == 0xE0 ? 3 : s[0] >= 0xF0 && s[0] < 0xF5 ? 4 : 0;
    uint32_t value = n == 1 ? s[0] : n ? s[0] & (0x7Fu >> n) : 0;
    for (size_t i = 1; i < n; i++) {
        if (i >= left || (s[i] & 0xC0) != 0x80) {
            n = 0;
            break;
        }
        value = value << 6 | (s[i] & 0x3F);
    }
    bool too_long = (n == 3 && value < 0x800) || (n == 4 && value < 0x10000);
    if (n == 0 || too_long || value > 0x10FFFF || (value >= 0xD800 && value < 0xE000)) {
        *code_point = 0xFFFD;
        return 1;
    }
    *code_point = value;
    return n;
}

/* ---- near names ------------------------------------------------------------------------------ */

enum { LONGEST_NAME = 40 };

/* Edit distance where swapping two neighbours is one step; a difference of case alone counts nothing. */
static unsigned edit_distance(const char *a, size_t n_a, const char *b, size_t n_b)
{
    unsigned rows[3][LONGEST_NAME + 1];
    unsigned *before = rows[0], *above = rows[1], *row = rows[2];
    for (size_t j = 0; j <= n_b; j++)
        above[j] = (unsigned)j;
    memset(before, 0, sizeof rows[0]);
    for (size_t i = 1; i <= n_a; i++) {
        row[0] = (unsigned)i;
        for (size_t j = 1; j <= n_b; j++) {
            int ca = tolower((unsigned char)a[i - 1]), cb = tolower((unsigned char)b[j - 1]);
            unsigned best = above[j - 1] + (ca != cb);
            if (above[j] + 1 < best)
                best = above[j] + 1;
            if (row[j - 1] + 1 < best)
                best = row[j - 1] + 1;
            if (i > 1 && j > 1 && ca == tolower((unsigned char)b[j - 2]) && cb == tolower((unsigned char)a[i - 2]) &&
                before[j - 2] + 1 < best)
                best = before[j - 2] + 1;
            row[j] = best;
        }
        unsigned *free_row = before;
        before = above, above = row, row = free_row;
    }
    return above[n_b];
}

const char *nearest_name(const char *word, const char *const *names, size_t n_names)
{
    size_t n_word = strlen(word);
    if (n_word == 0 || n_word > LONGEST_NAME)
        return NULL;
    unsigned limit = n_word <= 2 ? 1 : n_word <= 5 ? 2 : (unsigned)n_word / 3 + 1;
    const char *best = NULL;
    unsigned best_distance = limit + 1;
    for (size_t i = 0; i < n_names; i++) {
        size_t n_name = names[i] ? strlen(names[i]) : 0;
        if (n_name == 0 || n_name > LONGEST_NAME || strcmp(names[i], word) == 0)
            continue;
        unsigned distance = edit_distance(word, n_word, names[i], n_name);
        unsigned shorter = (unsigned)(n_word < n_name ? n_word : n_name);
        if (distance < best_distance && distance < shorter) {      /* something must remain in common */
            best = names[i];
            best_distance = distance;
        }
    }
    return best;
}
