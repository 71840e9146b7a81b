/* SPDX-License-Identifier: MIT
 * Collects diagnostics and shows them, for people (the source line, carets below it) and for editors (JSON). What is shown
 * of a source is always valid UTF-8 without control characters, whatever bytes the file has. */
#include "lang/diag.h"

#include <string.h>

enum { MAX_ERRORS = 50, MAX_SHOWN_COLUMNS = 200, SHOWN_BEFORE = 60 };

static const struct { const char *name; diag_severity severity; } codes[] = {
#define DIAG(code, severity, summary) {#code, SEVERITY_##severity},
#include "lang/diag.def"
#undef DIAG
};

static const char *const severity_names[] = {"error", "warning", "note"};

void diags_init(diags *d, arena *memory)
{
    *d = (diags){.memory = memory};
    LIST_PUSH(memory, d->sources, ((source){"", "", 0}));
}

uint32_t diags_add_source(diags *d, const char *name, const char *text, size_t n_bytes)
{
    source s = {arena_string(d->memory, name, strlen(name)), arena_string(d->memory, text, n_bytes), n_bytes};
    LIST_PUSH(d->memory, d->sources, s);
    return d->sources.count - 1;
}

const char *diag_code_name(diag_code code) { return codes[code].name; }
diag_severity diag_code_severity(diag_code code) { return codes[code].severity; }

/* ---- collecting ------------------------------------------------------------------------------ */

static bool is_repetition(const diags *d, diag_code code, span where)
{
    if (where.source == 0)
        return false;
    for (uint32_t i = 0; i < d->items.count; i++) {
        const diag *other = &d->items.items[i];
        if (other->code == code && other->where.source == where.source && other->where.start == where.start)
            return true;
    }
    return false;
}

void diag_add(diags *d, diag_code code, span where, const char *format, ...)
{
    bool is_error = codes[code].severity == SEVERITY_error;
    d->last_dropped = (is_error && d->n_errors >= MAX_ERRORS) || is_repetition(d, code, where);
    if (d->last_dropped)
        return;
    va_list args;
    va_start(args, format);
    diag item = {.code = code, .where = where, .message = arena_vprintf(d->memory, format, args)};
    va_end(args);
    LIST_PUSH(d->memory, d->items, item);
    d->n_errors += is_error;
}

static void add_note(diags *d, const char *prefix, const char *format, va_list args)
{
    if (d->last_dropped || d->items.count == 0)
        return;
    diag *last = &d->items.items[d->items.count - 1];
    const char *note = arena_vprintf(d->memory, format, args);
    LIST_PUSH(d->memory, last->notes, arena_printf(d->memory, "%s%s", prefix, note));
}

void diag_note(diags *d, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    add_note(d, "", format, args);
    va_end(args);
}

void diag_help(diags *d, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    add_note(d, "help: ", format, args);
    va_end(args);
}

/* ---- positions ------------------------------------------------------------------------------- */

/* Columns that a terminal gives to a character. */
static unsigned character_width(uint32_t c)
{
    if ((c >= 0x300 && c < 0x370) || c == 0x200B || c == 0x200D || (c >= 0xFE00 && c < 0xFE10))
        return 0;
    bool wide = (c >= 0x1100 && c < 0x1160) || (c >= 0x2E80 && c < 0xA4D0) || (c >= 0xAC00 && c < 0xD7A4) ||
                (c >= 0xF900 && c < 0xFB00) || (c >= 0xFE30 && c < 0xFE70) || (c >= 0xFF00 && c < 0xFF61) ||
                (c >= 0xFFE0 && c < 0xFFE7) || (c >= 0x1F300 && c < 0x1FB00) || (c >= 0x20000 && c < 0x3FFFE);
    return wide ? 2 : 1;
}

typedef struct line_view { const char *start, *end; uint32_t number; } line_view;

/* The line with byte `offset`; its end is before "\n" or "\r\n". */
static line_view find_line(const source *s, size_t offset)
{
    if (offset > s->n_bytes)
        offset = s->n_bytes;
    line_view line = {s->text, s->text, 1};
    for (size_t i = 0; i < offset; i++)
        if (s->text[i] == '\n') {
            line.start = s->text + i + 1;
            line.number++;
        }
    const char *limit = s->text + s->n_bytes;
    const char *newline = memchr(line.start, '\n', (size_t)(limit - line.start));
    line.end = newline ? newline : limit;
    if (line.end > line.start && line.end[-1] == '\r')
        line.end--;
    return line;
}

static uint32_t column_of(line_view line, const char *at)
{
    uint32_t column = 1, code_point;
    for (const char *p = line.start; p < at && p < line.end; column++)
        p += utf8_character(p, line.end, &code_point);
    return column;
}

void diag_position(const diags *d, span where, uint32_t *line, uint32_t *column)
{
    *line = *column = 0;
    if (where.source == 0 || where.source >= d->sources.count)
        return;
    const source *s = &d->sources.items[where.source];
    line_view view = find_line(s, where.start);
    *line = view.number;
    *column = column_of(view, s->text + where.start);
}

/* ---- text ------------------------------------------------------------------------------------ */

/* A character of the source as it is shown; the width goes to the caret line. */
static unsigned show_character(text *out, const char *at, size_t n_bytes, uint32_t c)
{
    bool control = c < 0x20 || (c >= 0x7F && c < 0xA0) || c == 0x2028 || c == 0x2029 || (c >= 0x202A && c <= 0x202E) ||
                   (c >= 0x2066 && c <= 0x2069);
    if (control || c == 0xFFFD) {
        text_string(out, "\xEF\xBF\xBD");
        return 1;
    }
    text_add(out, at, n_bytes);
    return character_width(c);
}

/* The source line, and a line with carets below start..end (at least one). Tabs are repeated, so the two lines agree
 * whatever a terminal makes of them. Of a very long line only what is near `start` is shown. */
static void render_line(const source *s, span where, line_view line, text *out)
{
    const char *start = s->text + where.start, *end = s->text + where.end;
    const char *from = line.start, *until = line.end;
    if (line.end - line.start > MAX_SHOWN_COLUMNS && start - line.start > SHOWN_BEFORE) {
        from = start - SHOWN_BEFORE;
        while (from < start && ((unsigned char)*from & 0xC0) == 0x80)
            from++;
    }
    if (until - from > MAX_SHOWN_COLUMNS)
        until = from + MAX_SHOWN_COLUMNS;

    text carets = {0};
    bool marked = false;
    text_printf(out, "%4u | ", line.number);
    for (const char *at = from; at < until;) {
        uint32_t c;
        size_t n_bytes = utf8_character(at, line.end, &c);
        bool inside = at + n_bytes > start && (at < end || !marked);
        if (c == '\t')
            text_string(out, "\t"), text_string(&carets, "\t");
        else
            for (unsigned width = show_character(out, at, n_bytes, c); width > 0; width--)
                text_string(&carets, inside ? "^" : " ");
        marked = marked || (inside && c != '\t');
        at += n_bytes;
    }
    if (!marked)
        text_string(&carets, "^");
    while (carets.count > 0 && (carets.bytes[carets.count - 1] == ' ' || carets.bytes[carets.count - 1] == '\t'))
        carets.count--;
    text_printf(out, "\n%*s | ", line.number > 9999 ? 5 : 4, "");
    text_add(out, carets.bytes, carets.count);
    text_string(out, "\n");
    text_free(&carets);
}

void diag_render(const diags *d, const diag *item, text *out)
{
    bool located = item->where.source > 0 && item->where.source < d->sources.count;
    const source *s = located ? &d->sources.items[item->where.source] : NULL;
    if (located) {
        uint32_t line, column;
        diag_position(d, item->where, &line, &column);
        text_printf(out, "%s:%u:%u: ", s->name, line, column);
    }
    text_printf(out, "%s[%s]: %s\n", severity_names[codes[item->code].severity], codes[item->code].name, item->message);
    if (located)
        render_line(s, item->where, find_line(s, item->where.start), out);
    for (uint32_t i = 0; i < item->notes.count; i++)
        text_printf(out, "     = %s\n", item->notes.items[i]);
}

void diags_render(const diags *d, text *out)
{
    for (uint32_t i = 0; i < d->items.count; i++)
        diag_render(d, &d->items.items[i], out);
}

/* ---- JSON ------------------------------------------------------------------------------------ */

static void json_string(text *out, const char *string)
{
    const char *end = string + strlen(string);
    text_string(out, "\"");
    for (const char *at = string; at < end;) {
        uint32_t c;
        size_t n_bytes = utf8_character(at, end, &c);
        if (c == '"' || c == '\\')
            text_printf(out, "\\%c", (int)c);
        else if (c == '\n')
            text_string(out, "\\n");
        else if (c < 0x20 || c == 0x7F)
            text_printf(out, "\\u%04x", c);
        else if (c == 0xFFFD)
            text_string(out, "\\ufffd");
        else
            text_add(out, at, n_bytes);
        at += n_bytes;
    }
    text_string(out, "\"");
}

static void render_json(const diags *d, const diag *item, text *out)
{
    uint32_t line, column, end_line, end_column;
    span end = item->where;
    end.start = end.end;
    diag_position(d, item->where, &line, &column);
    diag_position(d, end, &end_line, &end_column);
    text_string(out, "{\"file\": ");
    if (item->where.source > 0 && item->where.source < d->sources.count)
        json_string(out, d->sources.items[item->where.source].name);
    else
        text_string(out, "null");
    text_printf(out, ", \"line\": %u, \"column\": %u, \"end_line\": %u, \"end_column\": %u", line, column, end_line, end_column);
    text_printf(out, ", \"severity\": \"%s\", \"code\": \"%s\", \"message\": ", severity_names[codes[item->code].severity],
                codes[item->code].name);
    json_string(out, item->message);
    text_string(out, ", \"notes\": [");
    for (uint32_t i = 0; i < item->notes.count; i++) {
        text_string(out, i ? ", " : "");
        json_string(out, item->notes.items[i]);
    }
    text_string(out, "]}");
}

void diags_render_json(const diags *d, text *out)
{
    text_string(out, "[");
    for (uint32_t i = 0; i < d->items.count; i++) {
        text_string(out, i ? ",\n " : "");
        render_json(d, &d->items.items[i], out);
    }
    text_string(out, "]\n");
}
