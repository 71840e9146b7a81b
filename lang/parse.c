/* SPDX-License-Identifier: MIT
 * Parses one source: the stages of parse.h in order. */
#include "lang/parse.h"

#include <string.h>

/* Whether the text is UTF-8; what isn't is reported once, and nothing else is said about such a file. */
static bool check_encoding(parse_context *p)
{
    const char *end = p->text + p->n_bytes;
    for (const char *at = p->text; at < end;) {
        uint32_t c;
        size_t n_bytes = utf8_character(at, end, &c);
        if (c == 0xFFFD && n_bytes == 1) {
            uint32_t offset = (uint32_t)(at - p->text);
            diag_add(p->diagnostics, DIAG_E0104, (span){p->source, offset, offset + 1},
                     "this file isn't UTF-8: byte 0x%02x starts no character", (unsigned char)*at);
            diag_help(p->diagnostics, "save it as UTF-8");
            return false;
        }
        at += n_bytes;
    }
    return true;
}

void report_too_deep(parse_context *p, span where)
{
    where.end = where.start + 1;
    diag_add(p->diagnostics, DIAG_E0108, where, "this is nested too deeply");
    diag_help(p->diagnostics, "give parts of it names of their own");
}

/* Lexer, layout and parser each report in the order of the text; together they should be too. */
static void sort_diagnostics(diags *d, uint32_t first)
{
    for (uint32_t i = first + 1; i < d->items.count; i++) {
        diag item = d->items.items[i];
        uint32_t k = i;
        for (; k > first && d->items.items[k - 1].where.start > item.where.start; k--)
            d->items.items[k] = d->items.items[k - 1];
        d->items.items[k] = item;
    }
}

file *parse_file(arena *memory, interner *names, diags *d, uint32_t source_index)
{
    const source *s = &d->sources.items[source_index];
    parse_context *p = ARENA_NEW(memory, parse_context);
    *p = (parse_context){.memory = memory, .names = names, .diagnostics = d, .source = source_index, .text = s->text};
    p->result = ARENA_NEW(memory, file);
    p->result->source = source_index;
    if (s->n_bytes > UINT32_MAX / 4) {
        diag_add(d, DIAG_E0108, (span){source_index, 0, 0}, "this file is larger than 1 GiB");
        return p->result;
    }
    p->n_bytes = (uint32_t)s->n_bytes;
    if (!check_encoding(p))
        return p->result;

    uint32_t errors_before = d->n_errors, first_diagnostic = d->items.count;
    scan_tokens(p);
    lay_out_tokens(p);
    if (!p->stopped)
        run_parser(p);
    attach_comments(p);
    sort_diagnostics(d, first_diagnostic);
    if (p->result->items.count == 0 && d->n_errors == errors_before)
        diag_add(d, DIAG_E0110, (span){source_index, 0, 0}, "this file has no pipe, no function and no constant");
    return p->result;
}
