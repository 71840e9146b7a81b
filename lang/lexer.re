/* SPDX-License-Identifier: MIT
 * Bytes to raw tokens. One function with one small block of rules; what is malformed is reported here and replaced by
 * the token that was meant, so that the parser goes on. `re2c:eof` makes a NUL inside the text a byte like any other. */
#include "lang/parse.h"

#include "grammar.h"

#include <string.h>

typedef struct scanner {
    parse_context       *p;
    const unsigned char *at, *start, *limit;
} scanner;

static span here(const scanner *s)
{
    const unsigned char *text = (const unsigned char *)s->p->text;
    return (span){s->p->source, (uint32_t)(s->start - text), (uint32_t)(s->at - text)};
}

/* A spelling of another language: said, and read as what it means here. 0: read as nothing. */
static int foreign(scanner *s, int meant, const char *help)
{
    diag_add(s->p->diagnostics, DIAG_E0109, here(s), "`%.*s` isn't an operator of this language",
             (int)(s->at - s->start), (const char *)s->start);
    diag_help(s->p->diagnostics, "%s", help);
    return meant;
}

static int bad_number(scanner *s, int meant, const char *help)
{
    diag_add(s->p->diagnostics, DIAG_E0106, here(s), "`%.*s` isn't a number", (int)(s->at - s->start), (const char *)s->start);
    diag_help(s->p->diagnostics, "%s", help);
    return meant;
}

/* Typographic characters that editors and web pages put in the place of ASCII. */
static const struct { uint32_t character; int token; const char *help; } typographic[] = {
    {0x00D7, TOKEN_STAR, "write `*`"},      {0x2212, TOKEN_MINUS, "write `-`"},  {0x2013, TOKEN_MINUS, "write `-`"},
    {0x00F7, TOKEN_SLASH, "write `/`"},     {0x2264, TOKEN_LE, "write `<=`"},    {0x2265, TOKEN_GE, "write `>=`"},
    {0x2260, TOKEN_NE, "write `!=`"},       {0x2192, TOKEN_ARROW, "write `->`"}, {0x2026, TOKEN_DOTDOT, "write `..`"},
    {0x00A0, 0, "this is a no-break space: write a plain one"},
    {0x201C, 0, "write straight quotes: \""}, {0x201D, 0, "write straight quotes: \""},
    {0x2018, 0, "write straight quotes: \""}, {0x2019, 0, "write straight quotes: \""},
};

static int find_typographic(uint32_t c)
{
    for (int i = 0; i < (int)(sizeof typographic / sizeof *typographic); i++)
        if (typographic[i].character == c)
            return i;
    return -1;
}

static int bad_character(scanner *s)
{
    uint32_t c;
    s->at = s->start + utf8_character((const char *)s->start, (const char *)s->limit, &c);
    diags *d = s->p->diagnostics;
    if (c < 0x20 || c == 0x7F) {
        diag_add(d, DIAG_E0101, here(s), c ? "a control character (byte %u) inside the text" : "a NUL byte inside the text", c);
        return 0;
    }
    diag_add(d, DIAG_E0101, here(s), "no token starts with `%.*s`", (int)(s->at - s->start), (const char *)s->start);
    int known = find_typographic(c);
    if (known >= 0)
        diag_help(d, "%s", typographic[known].help);
    return known >= 0 ? typographic[known].token : 0;
}

/* A word with letters beyond ASCII is read as a name; one that only touches a typographic operator ends before it. */
static int foreign_word(scanner *s)
{
    const unsigned char *end = s->at;
    for (const unsigned char *at = s->start; at < end;) {
        uint32_t c;
        size_t n_bytes = utf8_character((const char *)at, (const char *)end, &c);
        if (find_typographic(c) >= 0) {
            s->at = at;
            break;
        }
        at += n_bytes;
    }
    if (s->at == s->start)
        return bad_character(s);
    for (const unsigned char *at = s->start; at < s->at; at++)
        if (*at >= 0x80) {
            diag_add(s->p->diagnostics, DIAG_E0101, here(s), "`%.*s` isn't a name", (int)(s->at - s->start), (const char *)s->start);
            diag_help(s->p->diagnostics, "names are ASCII letters, digits and `_`; other characters may stand in comments and strings");
            break;
        }
    return TOKEN_ID;
}

static int bad_string(scanner *s, const char *message, const char *help)
{
    diag_add(s->p->diagnostics, DIAG_E0105, here(s), "%s", message);
    diag_help(s->p->diagnostics, "%s", help);
    return TOKEN_STRING;
}

static int block_comment(scanner *s)
{
    diag_add(s->p->diagnostics, DIAG_E0109, here(s), "`/*` doesn't start a comment");
    diag_help(s->p->diagnostics, "a comment is `#` and the rest of the line");
    for (; s->at < s->limit; s->at++)
        if (s->at[0] == '*' && s->at + 1 < s->limit && s->at[1] == '/') {
            s->at += 2;
            break;
        }
    return 0;
}

/* The next token's kind; TOKEN_END at the end, 0 for something reported that leaves no token. */
enum { TOKEN_END = -4 };

static int scan(scanner *s)
{
    const unsigned char *YYCURSOR = s->at, *YYLIMIT = s->limit, *YYMARKER;
#define TAKE(result) do { s->at = YYCURSOR; return (result); } while (0)
    s->start = YYCURSOR;
    /*!re2c
    re2c:define:YYCTYPE = "unsigned char";
    re2c:yyfill:enable = 0;
    re2c:eof = 0;

    digits = [0-9] ("_"? [0-9])*;
    word   = [A-Za-z_][A-Za-z0-9_]*;
    power  = [eE] [+-]? digits;

    $                    { TAKE(TOKEN_END); }
    [ \t\r\f\v]+         { TAKE(0); }
    "\n"                 { TAKE(RAW_NEWLINE); }
    "##" [^\n]*          { TAKE(RAW_DOC); }
    "#" [^\n]*           { TAKE(RAW_COMMENT); }

    "import"             { TAKE(TOKEN_IMPORT); }
    "const"              { TAKE(TOKEN_CONST); }
    "fn"                 { TAKE(TOKEN_FN); }
    "pipe"               { TAKE(TOKEN_PIPE); }
    "image"              { TAKE(TOKEN_IMAGE); }
    "for"                { TAKE(TOKEN_FOR); }
    "in"                 { TAKE(TOKEN_IN); }
    "where"              { TAKE(TOKEN_WHERE); }
    "return"             { TAKE(TOKEN_RETURN); }
    "and"                { TAKE(TOKEN_AND); }
    "or"                 { TAKE(TOKEN_OR); }
    "not"                { TAKE(TOKEN_NOT); }
    word                 { TAKE(TOKEN_ID); }
    [A-Za-z_\x80-\xff][A-Za-z0-9_\x80-\xff]* { s->at = YYCURSOR; return foreign_word(s); }

    digits                                    { TAKE(TOKEN_INTEGER); }
    "0" [xX] [0-9A-Fa-f] ("_"? [0-9A-Fa-f])*  { TAKE(TOKEN_INTEGER); }
    digits "." digits power?                  { TAKE(TOKEN_FLOAT); }
    digits power                              { TAKE(TOKEN_FLOAT); }
    digits "." / [^.0-9A-Za-z_]   { s->at = YYCURSOR; return bad_number(s, TOKEN_FLOAT, "digits stand on both sides of the point: write `1.0`"); }
    "." digits power?             { s->at = YYCURSOR; return bad_number(s, TOKEN_FLOAT, "digits stand on both sides of the point: write `0.5`"); }
    [0-9][0-9A-Za-z_]* | digits "." [0-9][0-9A-Za-z_]* {
        s->at = YYCURSOR;
        return bad_number(s, TOKEN_FLOAT, "numbers have no suffixes, and a product is written with `*`: 0.5, 12, 1e-3, 0xff, 2*x");
    }

    ["] [^"\n]* ["]      { TAKE(TOKEN_STRING); }
    ["] [^"\n]*          { s->at = YYCURSOR; return bad_string(s, "this string isn't closed on its line", "add the closing `\"`"); }
    ['] [^'\n]* [']      { s->at = YYCURSOR; return bad_string(s, "strings have double quotes", "write \"...\""); }

    "("   { TAKE(TOKEN_LPAREN); }     ")"   { TAKE(TOKEN_RPAREN); }
    "["   { TAKE(TOKEN_LBRACKET); }   "]"   { TAKE(TOKEN_RBRACKET); }
    "{"   { TAKE(TOKEN_LBRACE); }     "}"   { TAKE(TOKEN_RBRACE); }
    ","   { TAKE(TOKEN_COMMA); }      ":"   { TAKE(TOKEN_COLON); }
    "?"   { TAKE(TOKEN_QUESTION); }   "@"   { TAKE(TOKEN_AT); }
    "."   { TAKE(TOKEN_DOT); }        "->"  { TAKE(TOKEN_ARROW); }
    ";"   { TAKE(TOKEN_SEMI); }
    ".."  { TAKE(TOKEN_DOTDOT); }     "..<" { TAKE(TOKEN_DOTDOTLT); }
    "="   { TAKE(TOKEN_ASSIGN); }     "=="  { TAKE(TOKEN_EQ); }
    "!="  { TAKE(TOKEN_NE); }         "<"   { TAKE(TOKEN_LT); }
    "<="  { TAKE(TOKEN_LE); }         ">"   { TAKE(TOKEN_GT); }
    ">="  { TAKE(TOKEN_GE); }         "+"   { TAKE(TOKEN_PLUS); }
    "-"   { TAKE(TOKEN_MINUS); }      "*"   { TAKE(TOKEN_STAR); }
    "/"   { TAKE(TOKEN_SLASH); }      "//"  { TAKE(TOKEN_FLOORDIV); }
    "%"   { TAKE(TOKEN_PERCENT); }    "**"  { TAKE(TOKEN_POW); }

    "/*"  { s->at = YYCURSOR; return block_comment(s); }
    "&&"  { s->at = YYCURSOR; return foreign(s, TOKEN_AND, "write `and`"); }
    "||"  { s->at = YYCURSOR; return foreign(s, TOKEN_OR, "write `or`"); }
    "!"   { s->at = YYCURSOR; return foreign(s, TOKEN_NOT, "write `not`"); }
    "===" { s->at = YYCURSOR; return foreign(s, TOKEN_EQ, "write `==`"); }
    "<>"  { s->at = YYCURSOR; return foreign(s, TOKEN_NE, "write `!=`"); }
    ":="  { s->at = YYCURSOR; return foreign(s, TOKEN_ASSIGN, "write `=`"); }
    "=>"  { s->at = YYCURSOR; return foreign(s, TOKEN_ASSIGN, "a function's body follows `=`: fn(x, y) = x + y"); }
    "..=" { s->at = YYCURSOR; return foreign(s, TOKEN_DOTDOT, "`a..b` has both ends, `a..<b` is without b"); }
    "..." { s->at = YYCURSOR; return foreign(s, TOKEN_DOTDOT, "`a..b` has both ends, `a..<b` is without b"); }
    "^"   { s->at = YYCURSOR; return foreign(s, TOKEN_POW, "power is `**`; bits are bit_xor(a, b)"); }
    "&"   { s->at = YYCURSOR; return foreign(s, TOKEN_STAR, "bits are bit_and(a, b); conditions are joined by `and`"); }
    "|"   { s->at = YYCURSOR; return foreign(s, TOKEN_PLUS, "bits are bit_or(a, b); conditions are joined by `or`"); }
    "<<"  { s->at = YYCURSOR; return foreign(s, TOKEN_STAR, "write shift_left(a, n)"); }
    ">>"  { s->at = YYCURSOR; return foreign(s, TOKEN_SLASH, "write shift_right(a, n)"); }
    "+=" | "-=" | "*=" | "/=" | "%=" | "**=" | "//=" {
        s->at = YYCURSOR;
        return foreign(s, TOKEN_ASSIGN, "a value is defined once: give the new value a new name");
    }
    *     { s->at = YYCURSOR; return bad_character(s); }
    */
#undef TAKE
}

void scan_tokens(parse_context *p)
{
    const unsigned char *text = (const unsigned char *)p->text;
    scanner s = {.p = p, .at = text, .limit = text + p->n_bytes};
    list_grow(p->memory, &p->raw, sizeof *p->raw.items, p->n_bytes / 4 + 16);      /* a guess that spares most copies */
    if (p->n_bytes >= 3 && memcmp(text, "\xEF\xBB\xBF", 3) == 0)
        s.at += 3;                                  /* a byte order mark */
    for (;;) {
        int kind = scan(&s);
        if (kind == TOKEN_END)
            return;
        if (kind != 0)
            LIST_PUSH(p->memory, p->raw, ((token){.kind = kind, .start = here(&s).start, .end = here(&s).end}));
    }
}
