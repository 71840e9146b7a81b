/* SPDX-License-Identifier: MIT
 * What the subcommands share: reports, options with their help, and compiling a script with its messages shown. */
#ifndef HALO_CLI_CLI_H
#define HALO_CLI_CLI_H

#include "halo/halo.h"
#include "halo/picture.h"

#include <getopt.h>
#include <stdbool.h>
#include <stdio.h>

/* Exit statuses. */
enum { EXIT_FINE = 0, EXIT_PROBLEM = 1, EXIT_USAGE = 2 };

#define COMMAND(name, summary) int command_##name(int argc, char **argv);
#include "cli/commands.def"
#undef COMMAND

/* ---- reports --------------------------------------------------------------------------------- */

/* Where errors and notes go: to stderr, or, in a batch, into `text` (the first one). */
typedef struct report {
    bool capture, quiet;            /* quiet: no notes */
    bool bar;                       /* a progress bar stands on the line: it is wiped first */
    char text[HALO_MESSAGE_BYTES];
} report;

/* "halo: ..." and a newline; returns EXIT_PROBLEM. */
int  report_error(report *r, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* The same, EXIT_USAGE. */
int  report_usage(report *r, const char *format, ...) __attribute__((format(printf, 2, 3)));
void report_note(report *r, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Text that is whole lines already (diagnostics). */
void report_text(report *r, const char *text);

/* ---- options --------------------------------------------------------------------------------- */

/* One row of a command's table, from which both the parser and --help are made. */
typedef struct option_row {
    int         id;                 /* what options_next returns; from 1 */
    const char *name;               /* long */
    char        letter;             /* or 0 */
    const char *value;              /* what stands for the argument in the help; NULL: takes none; "[...]": may be left out */
    const char *help;
} option_row;

enum { OPTION_END = 0, OPTION_BAD = -1, OPTION_HELP = 1000, MOST_OPTIONS = 40 };

typedef struct options {
    const option_row *rows;         /* ends with id 0; --help is added */
    int           argc;
    char        **argv;
    report       *report;
    struct option longs[MOST_OPTIONS];
    char          shorts[MOST_OPTIONS * 3];
} options;

void options_begin(options *o, const option_row *rows, int argc, char **argv, report *r);
/* The id of the next option, its value in *value; OPTION_END: the rest is argv[*rest...]; OPTION_BAD was reported. */
int  options_next(options *o, const char **value, int *rest);
void options_help(const option_row *rows, const char *usage, const char *about, const char *examples);

/* Whole numbers of an option: false was reported. */
bool parse_count(report *r, const char *option, const char *text, int32_t lowest, int32_t *value);
bool parse_tile(report *r, const char *text, int32_t *width, int32_t *rows);
bool parse_stream(report *r, const char *text, halo_stream *stream);

double now_ms(void);

/* ---- lists of strings ------------------------------------------------------------------------ */

typedef struct strings { const char **items; size_t count; } strings;
void strings_add(strings *list, const char *item);     /* ends the command when memory is out */
/* "a,b,c"; the parts are allocated and never freed: they live as long as the command. */
void strings_add_parts(strings *list, const char *text);

void *must(void *memory);                              /* ends the command when it is NULL */

/* ---- scripts --------------------------------------------------------------------------------- */

/* Compiles and shows the messages; NULL when there were errors. A name ending in .ir is read as tensor IR. `tuned`: with the
 * tuning file beside the script, if there is one. */
halo_program *open_script(report *r, const char *path, const halo_options *o, bool tuned);
/* Those that came after the first `before`, if any. */
void report_later(report *r, const halo_program *program, size_t before);
/* The name of a script's tuning file, for free. */
char *tuning_path(const char *script);
/* A script of several pipes where one is meant: wrong usage, with their names. */
int report_several_pipes(report *r, const char *path, const halo_program *program);
bool ends_with(const char *text, const char *end);

#endif
