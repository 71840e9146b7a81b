/* SPDX-License-Identifier: MIT
 * Cuts IR text into tokens. */
#include "lowering/tensor_lex.h"

#include <ctype.h>
#include <string.h>

typedef struct reader { const char *text; size_t n_bytes; uint32_t at; } reader;

static int peek(const reader *r, uint32_t ahead)
{
    return r->at + ahead < r->n_bytes ? (unsigned char)r->text[r->at + ahead] : 0;
}

static void skip_blanks(reader *r)
{
    while (r->at < r->n_bytes) {
        if (peek(r, 0) == ';')
            while (r->at < r->n_bytes && peek(r, 0) != '\n')
                r->at++;
        else if (isspace(peek(r, 0)))
            r->at++;
        else
            break;
    }
}

/* A dot belongs to a name or number when something of it follows: `W..3` is W and a range. */
static void skip_word(reader *r)
{
    for (;; r->at++) {
        int c = peek(r, 0);
        bool dot = c == '.' && (isalnum(peek(r, 1)) || peek(r, 1) == '_');
        if (!isalnum(c) && c != '_' && !dot)
            break;
    }
}

static void skip_number(reader *r)
{
    bool hexadecimal = peek(r, 0) == '0' && peek(r, 1) == 'x';
    skip_word(r);
    if (!hexadecimal && r->text[r->at - 1] == 'e' && (peek(r, 0) == '-' || peek(r, 0) == '+')) {
        r->at++;
        skip_word(r);
    }
}

static int hex_digit(int c)
{
    return isdigit(c) ? c - '0' : tolower(c) - 'a' + 10;
}

/* The unescaped characters; false when the closing quote is missing. */
static bool read_string(reader *r, arena *memory, const char **out)
{
    char *to = arena_alloc(memory, r->n_bytes - r->at + 1);
    *out = to;
    for (r->at++; r->at < r->n_bytes && peek(r, 0) != '"'; r->at++) {
        int c = peek(r, 0);
        if (c == '\\') {
            r->at++;
            c = peek(r, 0);
            if (c == 'n') {
                c = '\n';
            } else if (c == 'x' && isxdigit(peek(r, 1)) && isxdigit(peek(r, 2))) {
                c = hex_digit(peek(r, 1)) * 16 + hex_digit(peek(r, 2));
                r->at += 2;
            }
        }
        *to++ = (char)c;
    }
    if (r->at >= r->n_bytes)
        return false;
    r->at++;
    return true;
}

static token_kind lex_dots(reader *r)
{
    bool half_open = peek(r, 2) == '<';
    r->at += half_open ? 3 : 2;
    return half_open ? TOKEN_half_open : TOKEN_range;
}

token tensor_lex(arena *memory, const char *text, size_t n_bytes, uint32_t at)
{
    reader r = { text, n_bytes, at };
    skip_blanks(&r);
    token t = { .kind = TOKEN_bad, .start = r.at };
    int c = peek(&r, 0), next = peek(&r, 1);
    uint32_t first = r.at;
    if (r.at >= n_bytes) {
        t.kind = TOKEN_end;
    } else if (c == '"') {
        t.kind = read_string(&r, memory, &t.text) ? TOKEN_string : TOKEN_bad;
    } else if (c == '.' && next == '.') {
        t.kind = lex_dots(&r);
    } else if (isdigit(c)) {
        t.kind = TOKEN_number;
        skip_number(&r);
    } else if (isalpha(c) || c == '_') {
        t.kind = TOKEN_name;
        skip_word(&r);
    } else if ((c == '%' || c == '@') && (isalnum(next) || next == '_')) {
        t.kind = c == '@' ? TOKEN_param : isdigit(next) ? TOKEN_local : TOKEN_value;
        first = ++r.at;
        skip_word(&r);
    } else {
        t.kind = strchr("{}()[]=,+-*", c) && c ? TOKEN_punctuation : TOKEN_bad;
        r.at++;
    }
    t.end = r.at;
    if (t.kind != TOKEN_string)
        t.text = arena_string(memory, text + first, r.at - first);
    return t;
}
