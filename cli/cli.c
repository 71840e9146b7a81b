/* SPDX-License-Identifier: MIT
 * What the subcommands share; see cli.h. */
#include "cli/cli.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* ---- reports --------------------------------------------------------------------------------- */

#define WIPE "\r\x1b[K"

static void report_line(report *r, const char *before, const char *format, va_list args)
{
    if (r->capture) {
        if (!r->text[0])
            vsnprintf(r->text, sizeof r->text, format, args);
        return;
    }
    fprintf(stderr, "%s%s", r->bar ? WIPE : "", before);
    vfprintf(stderr, format, args);
    fprintf(stderr, "\n");
}

int report_error(report *r, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    report_line(r, "halo: ", format, args);
    va_end(args);
    return EXIT_PROBLEM;
}

int report_usage(report *r, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    report_line(r, "halo: ", format, args);
    va_end(args);
    return EXIT_USAGE;
}

void report_note(report *r, const char *format, ...)
{
    if (r->capture || r->quiet)
        return;
    va_list args;
    va_start(args, format);
    report_line(r, "note: ", format, args);
    va_end(args);
}

void report_text(report *r, const char *text)
{
    if (!r->capture)
        fprintf(stderr, "%s%s", r->bar ? WIPE : "", text);
    else if (!r->text[0])
        snprintf(r->text, sizeof r->text, "%s", text);
}

/* ---- options --------------------------------------------------------------------------------- */

void options_begin(options *o, const option_row *rows, int argc, char **argv, report *r)
{
    *o = (options){.rows = rows, .argc = argc, .argv = argv, .report = r};
    size_t n = 0, n_shorts = 0;
    o->shorts[n_shorts++] = ':';                                   /* a missing argument is told from an unknown option */
    for (const option_row *row = rows; row->id; row++) {
        int argument = !row->value ? no_argument : row->value[0] == '[' ? optional_argument : required_argument;
        o->longs[n++] = (struct option){row->name, argument, NULL, row->id};
        if (row->letter) {
            o->shorts[n_shorts++] = row->letter;
            for (int k = 0; k < argument; k++)
                o->shorts[n_shorts++] = ':';
        }
    }
    o->longs[n++] = (struct option){"help", no_argument, NULL, OPTION_HELP};
    o->shorts[n_shorts++] = 'h';
    optind = 0;
    opterr = 0;
}

static int report_unknown(options *o)
{
    const char *word = o->argv[optind - 1];
    if (word[0] != '-' || word[1] != '-')
        return report_usage(o->report, "unknown option -%c; --help lists them", optopt ? optopt : '?');
    const char *names[MOST_OPTIONS];
    size_t n = 0;
    for (; o->longs[n].name; n++)
        names[n] = o->longs[n].name;
    char name[64];
    snprintf(name, sizeof name, "%.*s", (int)strcspn(word + 2, "="), word + 2);
    for (size_t i = 0; i < n; i++)
        if (strcmp(names[i], name) == 0)
            return report_usage(o->report, "--%s takes no value", name);
    const char *near = halo_nearest_name(name, names, n);
    if (near)
        return report_usage(o->report, "unknown option --%s, did you mean --%s?", name, near);
    return report_usage(o->report, "unknown option --%s; --help lists them", name);
}

int options_next(options *o, const char **value, int *rest)
{
    int id = getopt_long(o->argc, o->argv, o->shorts, o->longs, NULL);
    *value = optarg;
    *rest = optind;
    if (id == -1)
        return OPTION_END;
    if (id == 'h' || id == OPTION_HELP)
        return OPTION_HELP;
    if (id == ':')
        report_usage(o->report, "%s needs a value", o->argv[optind - 1]);
    else if (id == '?')
        report_unknown(o);
    if (id == ':' || id == '?')
        return OPTION_BAD;
    for (const option_row *row = o->rows; row->id; row++)
        if (id == row->id || (row->letter && id == row->letter))
            return row->id;
    return OPTION_BAD;
}

void options_help(const option_row *rows, const char *usage, const char *about, const char *examples)
{
    printf("usage: %s\n\n%s\n\noptions:\n", usage, about);
    for (const option_row *row = rows; row->id; row++) {
        char left[64];
        bool maybe = row->value && row->value[0] == '[';
        snprintf(left, sizeof left, "%c%c%s--%s%s%s", row->letter ? '-' : ' ', row->letter ? row->letter : ' ',
                 row->letter ? ", " : "  ", row->name, row->value && !maybe ? " " : "", row->value ? row->value : "");
        printf("  %-28s %s\n", left, row->help);
    }
    printf("  %-28s %s\n\nexample:\n%s", "-h, --help", "show this", examples);
}

bool parse_count(report *r, const char *option, const char *text, int32_t lowest, int32_t *value)
{
    char *end;
    long number = strtol(text, &end, 10);
    if (end == text || *end || number < lowest || number > 1 << 30) {
        report_usage(r, "%s takes a whole number from %d on, not `%s`", option, lowest, text);
        return false;
    }
    *value = (int32_t)number;
    return true;
}

bool parse_tile(report *r, const char *text, int32_t *width, int32_t *rows)
{
    char *x, *end;
    long long w = strtoll(text, &x, 10), h = *x == 'x' ? strtoll(x + 1, &end, 10) : -1;
    if (x != text && *x == 'x' && end != x + 1 && !*end && w >= 0 && h >= 0 && w <= 1 << 30 && h <= 1 << 30) {
        *width = (int32_t)w;
        *rows = (int32_t)h;
        return true;
    }
    report_usage(r, "--tile takes WIDTHxROWS, such as 512x32 (0 leaves one to the compiler), not `%s`", text);
    return false;
}

bool parse_stream(report *r, const char *text, halo_stream *stream)
{
    *stream = strcmp(text, "always") == 0 ? HALO_STREAM_ALWAYS : strcmp(text, "never") == 0 ? HALO_STREAM_NEVER : HALO_STREAM_CHOSEN;
    if (*stream == HALO_STREAM_CHOSEN)
        report_usage(r, "--stream is always or never, not `%s`", text);
    return *stream != HALO_STREAM_CHOSEN;
}

double now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

/* ---- lists of strings ------------------------------------------------------------------------ */

void *must(void *memory)
{
    if (!memory) {
        fputs("halo: out of memory\n", stderr);
        exit(EXIT_PROBLEM);
    }
    return memory;
}

void strings_add(strings *list, const char *item)
{
    list->items = must(realloc(list->items, (list->count + 1) * sizeof *list->items));
    list->items[list->count++] = item;
}

void strings_add_parts(strings *list, const char *text)
{
    for (;;) {
        size_t n = strcspn(text, ",");
        strings_add(list, must(strndup(text, n)));
        if (!text[n])
            return;
        text += n + 1;
    }
}

/* ---- scripts --------------------------------------------------------------------------------- */

bool ends_with(const char *text, const char *end)
{
    size_t n = strlen(text), n_end = strlen(end);
    return n >= n_end && strcmp(text + n - n_end, end) == 0;
}

static halo_program *compile(report *r, const char *path, const halo_options *o)
{
    if (!ends_with(path, ".ir"))
        return halo_compile_file(path, o);
    halo_message error;
    size_t n_bytes;
    char *bytes = halo_read_file(path, &n_bytes, &error);
    if (!bytes) {
        report_error(r, "%s", error.text);
        return NULL;
    }
    halo_program *program = halo_compile_ir(path, bytes, n_bytes, o);
    halo_free(bytes);
    if (!program)
        report_error(r, "out of memory");
    return program;
}

char *tuning_path(const char *script)
{
    char *path = must(malloc(strlen(script) + sizeof ".tune"));
    sprintf(path, "%s.tune", script);
    return path;
}

static halo_program *compile_tuned(report *r, const char *script, const halo_options *o)
{
    halo_options tuned = *o;
    halo_message error;
    halo_program *program = NULL;
    char *path = tuning_path(script), *text = NULL;
    size_t n;
    bool exists = access(path, F_OK) == 0;
    if (exists && !(text = halo_read_file(path, &n, &error))) {
        report_error(r, "%s", error.text);
    } else {
        for (size_t i = 0; exists && i < n; i++)
            text[i] = text[i] ? text[i] : '\1';                     /* nothing behind a NUL is overlooked: no line may have either */
        tuned.tuning = text;
        tuned.tuning_name = path;
        program = compile(r, script, &tuned);
    }
    halo_free(text);
    free(path);
    return program;
}

void report_later(report *r, const halo_program *program, size_t before)
{
    if (halo_program_diagnostic_count(program) <= before)
        return;
    char *messages = must(halo_program_messages(program));
    report_text(r, messages);
    halo_free(messages);
}

halo_program *open_script(report *r, const char *path, const halo_options *o, bool tuned)
{
    halo_program *program = tuned ? compile_tuned(r, path, o) : compile(r, path, o);
    if (!program)
        return NULL;
    if (halo_program_diagnostic_count(program) > 0 && !(r->capture && halo_program_ok(program))) {
        char *messages = must(halo_program_messages(program));
        report_text(r, messages);
        halo_free(messages);
    }
    if (halo_program_ok(program))
        return program;
    halo_program_free(program);
    return NULL;
}

int report_several_pipes(report *r, const char *path, const halo_program *program)
{
    char names[400] = "";
    size_t count = 0;
    for (size_t i = 0; i < halo_program_pipe_count(program) && count < sizeof names; i++) {
        const char *name = halo_pipe_signature(halo_program_pipe(program, i))->name;
        int n = snprintf(names + count, sizeof names - count, "%s%s", i ? ", " : "", name);
        count += n > 0 ? (size_t)n : 0;
    }
    return report_usage(r, "%s has several pipes: choose one with --pipe: %s", path, names);
}
