/* SPDX-License-Identifier: MIT
 * What is said about a token that cannot stand where it does: what was expected there, what was found, and for mistakes
 * that people make often, what they probably meant. */
#include "lang/parse.h"

#include "grammar.h"

#include <string.h>

/* Tokens worth naming in "expected ...", in this order. Operators are not: they can follow any expression. */
static const struct { int kind; const char *spelling; } spellings[] = {
    {TOKEN_PIPE, "`pipe`"},    {TOKEN_FN, "`fn`"},          {TOKEN_CONST, "`const`"},    {TOKEN_IMPORT, "`import`"},
    {TOKEN_SEMI, "the end of the statement"},
    {TOKEN_ID, "a name"},      {TOKEN_STRING, "a string"},  {TOKEN_ASSIGN, "`=`"},       {TOKEN_COMMA, "`,`"},
    {TOKEN_COLON, "`:`"},      {TOKEN_IN, "`in`"},          {TOKEN_ARROW, "`->`"},       {TOKEN_RPAREN, "`)`"},
    {TOKEN_RBRACKET, "`]`"},   {TOKEN_LPAREN, "`(`"},       {TOKEN_LBRACE, "`{`"},       {TOKEN_RBRACE, "`}`"},
    {TOKEN_DOTDOT, "`..`"},    {TOKEN_WHERE, "`where`"},    {TOKEN_RETURN, "`return`"},  {TOKEN_FOR, "`for`"},
};

enum { N_SPELLINGS = sizeof spellings / sizeof *spellings, MAX_NAMED = 4 };

static bool has(uint64_t set, int kind) { return set >> kind & 1; }

/* "an expression", "`,` or `)`", ...; NULL when there is nothing to say. */
static const char *describe_expected(parse_context *p, uint64_t expected)
{
    if (has(expected, TOKEN_RETURN))
        return "a statement";
    if (has(expected, TOKEN_IMPORT))
        return "`pipe`, `fn`, `const` or `import`";
    const char *words[N_SPELLINGS + 1];
    uint32_t n_words = 0;
    bool is_expression = has(expected, TOKEN_INTEGER) && has(expected, TOKEN_LPAREN);
    if (is_expression)
        words[n_words++] = "an expression";
    for (uint32_t i = 0; i < N_SPELLINGS && n_words < MAX_NAMED; i++) {
        int kind = spellings[i].kind;
        bool part_of_expression = kind == TOKEN_ID || kind == TOKEN_STRING || kind == TOKEN_LPAREN || kind == TOKEN_FN;
        bool may_be_called = kind == TOKEN_LPAREN && has(expected, TOKEN_SLASH);    /* after a name: not what is missing */
        if (has(expected, kind) && !may_be_called && !(is_expression && part_of_expression))
            words[n_words++] = spellings[i].spelling;
    }
    const char *list = n_words ? words[0] : NULL;
    for (uint32_t i = 1; i < n_words; i++)
        list = arena_printf(p->memory, "%s%s%s", list, i + 1 == n_words ? " or " : ", ", words[i]);
    return list;
}

static const char *describe_token(parse_context *p, token t)
{
    if (t.kind == 0 || (t.kind == TOKEN_SEMI && t.end == p->n_bytes))
        return "the end of the file";
    if (t.kind == TOKEN_SEMI)
        return "the end of the statement";
    return arena_printf(p->memory, "`%.*s`", (int)(t.end - t.start), p->text + t.start);
}

/* ---- what was probably meant ----------------------------------------------------------------- */

static token token_before(const parse_context *p, uint32_t n)
{
    return p->at >= n ? p->tokens.items[p->at - n] : (token){0};
}

static bool is_word(const parse_context *p, token t, const char *word)
{
    return t.kind == TOKEN_ID && t.end - t.start == strlen(word) && memcmp(p->text + t.start, word, t.end - t.start) == 0;
}

static bool is_comparison(int kind)
{
    return kind == TOKEN_EQ || kind == TOKEN_NE || kind == TOKEN_LT || kind == TOKEN_LE || kind == TOKEN_GT || kind == TOKEN_GE;
}

static bool is_first_of_line(const parse_context *p, token t)
{
    uint32_t i = t.start;
    while (i > 0 && (p->text[i - 1] == ' ' || p->text[i - 1] == '\t'))
        i--;
    return i == 0 || p->text[i - 1] == '\n';
}

/* A `//` before the token, on its line or on that of the one before: a comment of another language? */
static bool is_after_slashes(const parse_context *p, token t)
{
    uint32_t end = token_before(p, 1).end;
    for (uint32_t i = p->at + 1; i-- > 0;) {
        token before = p->tokens.items[i];
        if (before.kind == TOKEN_FLOORDIV)
            return before.start > end || !memchr(p->text + before.start, '\n', end - before.start);
        if (before.kind == TOKEN_SEMI && before.start < t.start)
            break;
    }
    return false;
}

/* Words that begin statements elsewhere. */
static const struct { const char *word, *help; } foreign_words[] = {
    {"if", "a choice is an expression: condition ? a : b"},
    {"else", "a choice is an expression: condition ? a : b"},
    {"while", "there are no loops over pixels: an indexed definition or a reduction says what each pixel is"},
    {"let", "a definition has no keyword: name = value"},
    {"var", "a definition has no keyword: name = value"},
    {"auto", "a definition has no keyword: name = value"},
    {"float", "a type follows the name: name: f32 = value"},
    {"int", "a type follows the name: name: i32 = value"},
    {"def", "a function starts with `fn`, a pipe with `pipe`"},
    {"func", "a function starts with `fn`, a pipe with `pipe`"},
    {"function", "a function starts with `fn`, a pipe with `pipe`"},
    {"include", "another file comes in with: import \"file.pipe\""},
    {"lambda", "a function literal is an argument: fn(x, y) = x + y"},
};

static const char *find_foreign_word(const parse_context *p)
{
    for (uint32_t n = 0; n <= 1; n++)
        for (size_t i = 0; i < sizeof foreign_words / sizeof *foreign_words; i++)
            if (is_word(p, token_before(p, n), foreign_words[i].word))
                return foreign_words[i].help;
    return NULL;
}

static bool begins_operand_less_line(const parse_context *p, token t)
{
    bool operator = t.kind == TOKEN_PLUS || t.kind == TOKEN_MINUS || t.kind == TOKEN_STAR || t.kind == TOKEN_SLASH ||
                    t.kind == TOKEN_PERCENT || t.kind == TOKEN_POW || t.kind == TOKEN_QUESTION || t.kind == TOKEN_COLON ||
                    t.kind == TOKEN_AND || t.kind == TOKEN_OR || t.kind == TOKEN_DOT || is_comparison(t.kind);
    return operator && token_before(p, 1).kind == TOKEN_SEMI && is_first_of_line(p, t);
}

static void help_with_assign(parse_context *p)
{
    diags *d = p->diagnostics;
    token name = token_before(p, 1), before = token_before(p, 2);
    if (name.kind == TOKEN_ID && is_first_of_line(p, name) && before.kind != TOKEN_SEMI && before.kind != TOKEN_COMMA &&
        before.kind != TOKEN_LPAREN)
        diag_help(d, "the line above isn't finished: `%.*s` wants something after it", (int)(before.end - before.start),
                  p->text + before.start);
    else if (name.kind == TOKEN_ID && (before.kind == TOKEN_COMMA || before.kind == TOKEN_LPAREN))
        diag_help(d, "a named argument is written `%.*s: value`; a comparison is `==`", (int)(name.end - name.start),
                  p->text + name.start);
    else
        diag_help(d, "`=` defines a name; a comparison is `==`");
}

static void help_with_item(parse_context *p, token t)
{
    if (t.kind == TOKEN_ID || t.kind == TOKEN_FOR || t.kind == TOKEN_RETURN)
        diag_help(p->diagnostics, "statements stand in the `{ }` of a pipe or a function; a constant is: const name = value");
}

static void add_help(parse_context *p, token t, uint64_t expected)
{
    diags *d = p->diagnostics;
    const char *foreign = find_foreign_word(p);
    if (t.kind == TOKEN_FLOORDIV || is_after_slashes(p, t))
        diag_help(d, "`//` is floor division; a comment starts with `#`");
    else if (foreign)
        diag_help(d, "%s", foreign);
    else if (t.kind == TOKEN_SEMI && has(expected, TOKEN_ARROW) && p->tokens.items[p->at + 1].kind == TOKEN_ARROW)
        diag_help(d, "`->` stands on the line of the `)`, else the line break ends the item");
    else if (begins_operand_less_line(p, t))
        diag_help(d, "the line above is complete, so the statement ended there: put the `%.*s` at its end, or use brackets",
                  (int)(t.end - t.start), p->text + t.start);
    else if (t.kind == TOKEN_ASSIGN)
        help_with_assign(p);
    else if (t.kind == TOKEN_IMAGE && has(expected, TOKEN_COLON))
        diag_help(d, "a type follows a `:` after the name: name: image u8");
    else if (has(expected, TOKEN_IMPORT))
        help_with_item(p, t);
    else if (has(expected, TOKEN_SEMI) && (t.kind == TOKEN_ID || t.kind == TOKEN_RETURN || t.kind == TOKEN_FOR))
        diag_help(d, "a new statement starts on a line of its own");
    else if (t.kind == TOKEN_SEMI && has(expected, TOKEN_ASSIGN) && !has(expected, TOKEN_SEMI))
        diag_help(d, "a statement defines something: name = value");
    else if (t.kind == TOKEN_RPAREN && has(expected, TOKEN_COLON) && has(expected, TOKEN_WHERE))
        diag_help(d, "a reduction ends with what it reduces: sum(i in -1..1: p[x + i, y])");
}

void report_syntax_error(parse_context *p, token unexpected, uint64_t expected)
{
    diags *d = p->diagnostics;
    span where = token_span(p, unexpected);
    const char *wanted = describe_expected(p, expected), *found = describe_token(p, unexpected);
    if (wanted)
        diag_add(d, DIAG_E0102, where, "expected %s, found %s", wanted, found);
    else
        diag_add(d, DIAG_E0102, where, "unexpected %s", found);
    add_help(p, unexpected, expected);
}
