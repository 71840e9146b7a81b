/* SPDX-License-Identifier: MIT
 * Gives each `#` comment to the item, statement or parameter that it stands above or beside, so that `fmt` can put it back.
 * A walk over the tree in source order with one cursor over the comments. A comment inside a statement moves above it. */
#include "lang/parse.h"

#include <string.h>

typedef struct walk {
    parse_context *p;
    uint32_t next;             /* the first comment not given away */
} walk;

static comment *peek(walk *w)
{
    const parse_context *p = w->p;
    while (w->next < p->comments.count && p->comments.items[w->next].is_used)
        w->next++;
    return w->next < p->comments.count ? &p->comments.items[w->next] : NULL;
}

static const char *take(walk *w)
{
    const comment *c = &w->p->comments.items[w->next++];
    return arena_string(w->p->memory, w->p->text + c->start + 1, c->end - c->start - 1);
}

/* Is the line after the one with byte `at` empty? */
static bool is_blank_below(const parse_context *p, uint32_t at)
{
    const char *newline = memchr(p->text + at, '\n', p->n_bytes - at);
    if (!newline)
        return false;
    const char *next = newline + 1;
    while (*next == ' ' || *next == '\t' || *next == '\r')
        next++;
    return *next == '\n';
}

/* Those before `limit`; an empty line below one that stands above `start` is kept as a NULL. */
static void take_before(walk *w, uint32_t start, uint32_t limit, name_list *into)
{
    for (const comment *c; (c = peek(w)) && c->start < limit;) {
        bool blank = c->start < start && is_blank_below(w->p, c->end);
        LIST_PUSH(w->p->memory, *into, take(w));
        if (blank)
            LIST_PUSH(w->p->memory, *into, NULL);
    }
}

static bool same_line(const parse_context *p, uint32_t from, uint32_t to)
{
    return to >= from && !memchr(p->text + from, '\n', to - from);
}

/* A comment on the rest of the line on which something ends. */
static const char *take_trailing(walk *w, uint32_t end, uint32_t limit)
{
    const comment *c = peek(w);
    return c && c->start >= end && c->start < limit && same_line(w->p, end, c->start) ? take(w) : NULL;
}

/* Is the line above `at`, or above the comments and `##` lines over it, empty? */
static bool is_blank_above(const parse_context *p, uint32_t at)
{
    for (uint32_t line = at;;) {
        while (line > 0 && p->text[line - 1] != '\n')
            line--;
        if (line == 0)
            return false;
        uint32_t above = line - 1;
        while (above > 0 && p->text[above - 1] != '\n')
            above--;
        uint32_t first = above;
        while (first < line - 1 && (p->text[first] == ' ' || p->text[first] == '\t' || p->text[first] == '\r'))
            first++;
        if (first == line - 1)
            return true;
        if (p->text[first] != '#')
            return false;
        line = above;
    }
}

/* Where what belongs to a node begins: its first comment, if that stands above it. */
static uint32_t first_line(walk *w, uint32_t start)
{
    const comment *c = peek(w);
    return c && c->start < start ? c->start : start;
}

static void walk_statements(walk *w, stmt_list statements, uint32_t end, name_list *last)
{
    for (uint32_t i = 0; i < statements.count; i++) {
        stmt *s = statements.items[i];
        uint32_t start = s->where.start, next = i + 1 < statements.count ? statements.items[i + 1]->where.start : end;
        s->blank_before = is_blank_above(w->p, first_line(w, start));
        if (s->kind == STMT_FOR) {
            take_before(w, start, s->loop.over.where.end, &s->comments);
            walk_statements(w, s->loop.body, s->where.end - 1, &s->loop.last_comments);
        } else {
            take_before(w, start, s->where.end, &s->comments);
        }
        s->trailing = take_trailing(w, s->where.end, next);
    }
    take_before(w, end, end, last);
}

static void walk_parameters(walk *w, item *i)
{
    for (uint32_t k = 0; k < i->params.count; k++) {
        parameter *param = &i->params.items[k];
        uint32_t next = k + 1 < i->params.count ? i->params.items[k + 1].where.start : i->where.end;
        take_before(w, 0, param->where.end, &param->comments);
        uint32_t end = param->where.end;                /* behind the comma, but not behind the `)` */
        while (end < next && strchr(", \t", w->p->text[end]))
            end++;
        if (peek(w) && peek(w)->start == end)
            param->trailing = take_trailing(w, end, next);
    }
}

static void walk_item(walk *w, item *i, uint32_t next)
{
    uint32_t start = i->where.start;
    i->blank_before = is_blank_above(w->p, first_line(w, start));
    bool has_params = i->kind == ITEM_FN || i->kind == ITEM_PIPE;
    take_before(w, start, has_params ? i->name_where.end : i->where.end, &i->comments);
    walk_parameters(w, i);
    if (i->has_block)
        walk_statements(w, i->body, i->where.end - 1, &i->last_comments);
    else
        take_before(w, 0, i->where.end, &i->comments);
    i->trailing = take_trailing(w, i->where.end, next);
}

void attach_comments(parse_context *p)
{
    walk w = {.p = p};
    file *f = p->result;
    for (uint32_t i = 0; i < f->items.count; i++)
        walk_item(&w, f->items.items[i], i + 1 < f->items.count ? f->items.items[i + 1]->where.start : p->n_bytes);
    take_before(&w, p->n_bytes, p->n_bytes, &f->last_comments);
}
