/* SPDX-License-Identifier: MIT
 * Raw tokens to the tokens of the grammar: where statements end, which brackets belong together, what `##` lines document.
 * Brackets are matched here, before the parser: it then never sees one that is missing, so a forgotten `)` is one error
 * where it was forgotten instead of nonsense until the end of the file. What begins a statement or an item for certain
 * (`return`, `pipe name`, `name =`, ...) cannot stand inside brackets; there an open one is known to be forgotten. */
#include "lang/parse.h"

#include "grammar.h"

enum { MAX_OPEN = 200 };

typedef struct opener { token bracket; bool is_parameters; } opener;

typedef struct layout {
    parse_context *p;
    opener   open[MAX_OPEN];
    uint32_t n_open;
    token    last;             /* last token put out; kind 0 at the start */
    uint32_t doc, n_docs;      /* `##` lines since then */
} layout;

static void put(layout *l, token t)
{
    t.doc = l->doc;
    t.n_docs = l->n_docs;
    l->doc = l->n_docs = 0;
    LIST_PUSH(l->p->memory, l->p->tokens, t);
    l->last = t;
}

/* A token that isn't written: empty, right after the last one. */
static void put_missing(layout *l, int kind)
{
    uint32_t doc = l->doc, n_docs = l->n_docs;
    l->doc = l->n_docs = 0;
    put(l, (token){.kind = kind, .start = l->last.end, .end = l->last.end});
    l->doc = doc;
    l->n_docs = n_docs;
}

static bool in_statement(const layout *l)
{
    return l->last.kind != 0 && l->last.kind != TOKEN_SEMI && l->last.kind != TOKEN_LBRACE;
}

static int closer_of(int kind)
{
    return kind == TOKEN_LPAREN ? TOKEN_RPAREN : kind == TOKEN_LBRACKET ? TOKEN_RBRACKET : TOKEN_RBRACE;
}

static bool is_closer(int kind) { return kind == TOKEN_RPAREN || kind == TOKEN_RBRACKET || kind == TOKEN_RBRACE; }
static bool is_opener(int kind) { return kind == TOKEN_LPAREN || kind == TOKEN_LBRACKET || kind == TOKEN_LBRACE; }

static int top(const layout *l)
{
    return l->n_open ? l->open[l->n_open - 1].bracket.kind : 0;
}

static bool can_end_statement(int kind)
{
    return kind == TOKEN_ID || kind == TOKEN_IMAGE || kind == TOKEN_INTEGER || kind == TOKEN_FLOAT || kind == TOKEN_STRING ||
           is_closer(kind);
}

/* ---- looking ahead in the raw tokens --------------------------------------------------------- */

static int kind_at(const layout *l, uint32_t i)
{
    return i < l->p->raw.count ? l->p->raw.items[i].kind : 0;
}

/* The first token after the `]` that closes the `[` at raw token i, 0 if there is none on this line. */
static uint32_t after_index(const layout *l, uint32_t i)
{
    int depth = 0;
    for (; i < l->p->raw.count && kind_at(l, i) != RAW_NEWLINE; i++) {
        depth += kind_at(l, i) == TOKEN_LBRACKET;
        depth -= kind_at(l, i) == TOKEN_RBRACKET;
        if (depth == 0)
            return i + 1;
    }
    return 0;
}

/* Does a statement or an item surely begin at raw token i, the first of its line? */
static bool begins_statement(const layout *l, uint32_t i, bool in_parameters)
{
    int kind = kind_at(l, i), next = kind_at(l, i + 1);
    if (kind == TOKEN_IMPORT || kind == TOKEN_CONST || kind == TOKEN_RETURN || kind == TOKEN_FOR || kind == TOKEN_PIPE)
        return true;
    if (kind == TOKEN_FN)
        return next == TOKEN_ID;
    if (kind != TOKEN_ID || in_parameters || !can_end_statement(l->last.kind))
        return false;                  /* after a comma, `name =` is somebody's idea of a named argument */
    if (next == TOKEN_LBRACKET) {
        uint32_t after = after_index(l, i + 1);
        return after && kind_at(l, after) == TOKEN_ASSIGN;
    }
    return next == TOKEN_ASSIGN;
}

/* Items cannot stand in a block. */
static bool begins_item(const layout *l, uint32_t i)
{
    int kind = kind_at(l, i);
    return kind == TOKEN_IMPORT || ((kind == TOKEN_FN || kind == TOKEN_PIPE) && kind_at(l, i + 1) == TOKEN_ID);
}

/* ---- brackets -------------------------------------------------------------------------------- */

static void end_statement(layout *l)
{
    if (in_statement(l))
        put_missing(l, TOKEN_SEMI);
}

/* The innermost bracket is never closed: says so after the last token and closes it. */
static void close_forgotten(layout *l)
{
    parse_context *p = l->p;
    token bracket = l->open[--l->n_open].bracket;
    uint32_t line, column;
    diag_position(p->diagnostics, token_span(p, bracket), &line, &column);
    char open = p->text[bracket.start], close = open == '(' ? ')' : open == '[' ? ']' : '}';
    span where = {p->source, l->last.end, l->last.end};
    diag_add(p->diagnostics, DIAG_E0103, where, "expected `%c` to close the `%c` at line %u", close, open, line);
    if (bracket.kind == TOKEN_LBRACE)
        end_statement(l);
    put_missing(l, closer_of(bracket.kind));
}

static bool is_open(const layout *l, int opener_kind, bool within_block)
{
    for (uint32_t i = l->n_open; i-- > 0;) {
        int kind = l->open[i].bracket.kind;
        if (kind == opener_kind)
            return true;
        if (within_block && kind == TOKEN_LBRACE)
            return false;
    }
    return false;
}

static void put_closer(layout *l, token t)
{
    parse_context *p = l->p;
    int opener_kind = t.kind == TOKEN_RPAREN ? TOKEN_LPAREN : t.kind == TOKEN_RBRACKET ? TOKEN_LBRACKET : TOKEN_LBRACE;
    if (!is_open(l, opener_kind, t.kind != TOKEN_RBRACE)) {
        span where = token_span(p, t);
        if (top(l) == 0 || top(l) == TOKEN_LBRACE || t.kind == TOKEN_RBRACE) {
            diag_add(p->diagnostics, DIAG_E0103, where, "nothing is open for this `%c` to close", p->text[t.start]);
            l->last = t;                            /* dropped, but a statement may end here */
            return;
        }
        int meant = closer_of(top(l));
        diag_add(p->diagnostics, DIAG_E0103, where, "expected `%c` here, found `%c`", meant == TOKEN_RPAREN ? ')' : ']',
                 p->text[t.start]);
        t.kind = meant;
        opener_kind = top(l);
    }
    while (top(l) != opener_kind)
        close_forgotten(l);
    if (t.kind == TOKEN_RBRACE)
        end_statement(l);
    l->n_open--;
    put(l, t);
}

/* A `(` after `fn name` or `pipe name` holds parameters, where `name = value` is a default. */
static bool opens_parameters(const layout *l, uint32_t raw_index)
{
    return raw_index >= 2 && kind_at(l, raw_index - 1) == TOKEN_ID &&
           (kind_at(l, raw_index - 2) == TOKEN_FN || kind_at(l, raw_index - 2) == TOKEN_PIPE);
}

static void put_opener(layout *l, token t, uint32_t raw_index)
{
    if (t.kind == TOKEN_LBRACE)
        while (top(l) == TOKEN_LPAREN || top(l) == TOKEN_LBRACKET)
            close_forgotten(l);
    if (l->n_open == MAX_OPEN) {
        report_too_deep(l->p, token_span(l->p, t));
        l->p->stopped = true;
        return;
    }
    l->open[l->n_open++] = (opener){t, t.kind == TOKEN_LPAREN && opens_parameters(l, raw_index)};
    put(l, t);
}

/* ---- lines ----------------------------------------------------------------------------------- */

/* Before the first token of a line. */
static void begin_line(layout *l, uint32_t i)
{
    while ((top(l) == TOKEN_LPAREN || top(l) == TOKEN_LBRACKET) &&
           begins_statement(l, i, l->open[l->n_open - 1].is_parameters))
        close_forgotten(l);
    bool between = top(l) == 0 || top(l) == TOKEN_LBRACE;
    if (between && can_end_statement(l->last.kind) && kind_at(l, i) != TOKEN_LBRACE)
        put_missing(l, TOKEN_SEMI);
    while (top(l) == TOKEN_LBRACE && begins_item(l, i)) {
        close_forgotten(l);
        put_missing(l, TOKEN_SEMI);
    }
}

static void keep_comment(layout *l, token t)
{
    parse_context *p = l->p;
    uint32_t end = t.end;
    while (end > t.start && (p->text[end - 1] == '\r' || p->text[end - 1] == ' ' || p->text[end - 1] == '\t'))
        end--;
    bool is_doc = t.kind == RAW_DOC;
    LIST_PUSH(p->memory, p->comments, ((comment){t.start, end, is_doc, false}));
    if (is_doc && l->n_docs++ == 0)
        l->doc = p->comments.count;
}

/* `;` ends a statement in other languages. */
static void put_semicolon(layout *l, token t)
{
    diag_add(l->p->diagnostics, DIAG_E0109, token_span(l->p, t), "a statement ends at the end of its line, without `;`");
    if (top(l) == 0 || top(l) == TOKEN_LBRACE)
        end_statement(l);
}

void lay_out_tokens(parse_context *p)
{
    layout *l = ARENA_NEW(p->memory, layout);
    l->p = p;
    list_grow(p->memory, &p->tokens, sizeof *p->tokens.items, p->raw.count + 16);
    bool new_line = false;
    for (uint32_t i = 0; i < p->raw.count && !p->stopped; i++) {
        token t = p->raw.items[i];
        if (t.kind == RAW_NEWLINE) {
            new_line = true;
        } else if (t.kind == RAW_COMMENT || t.kind == RAW_DOC) {
            keep_comment(l, t);
        } else {
            if (new_line)
                begin_line(l, i);
            new_line = false;
            if (t.kind == TOKEN_SEMI)
                put_semicolon(l, t);
            else if (is_closer(t.kind))
                put_closer(l, t);
            else if (is_opener(t.kind))
                put_opener(l, t, i);
            else
                put(l, t);
        }
    }
    while (l->n_open > 0 && !p->stopped)
        close_forgotten(l);
    end_statement(l);
    put_missing(l, 0);
}
