/* SPDX-License-Identifier: MIT
 * halo check: the diagnostics of scripts, and nothing else. */
#include "cli/cli.h"

#include <string.h>

enum { OPT_JSON = 1 };
static const option_row rows[] = {{OPT_JSON, "json", 0, NULL, "as a JSON array, on stdout"}, {0}};

static void help(void)
{
    options_help(rows, "halo check [--json] SCRIPT...", "Says what is wrong with scripts, and where. Status 1 when there are errors.",
                 "  halo check examples/unsharp.pipe\n");
}

/* The objects inside "[...]\n". */
static void print_objects(const char *json, bool *first)
{
    const char *start = strchr(json, '['), *end = strrchr(json, ']');
    if (!start || !end || end <= start + 1)
        return;
    printf("%s%.*s", *first ? "" : ",\n ", (int)(end - start - 1), start + 1);
    *first = false;
}

static int check_one(report *r, const char *path, bool json, bool *first)
{
    halo_options o = {.engine = HALO_ENGINE_NONE};
    halo_program *program = halo_compile_file(path, &o);
    char *messages = program ? (json ? halo_program_messages_json(program) : halo_program_messages(program)) : NULL;
    if (!messages) {
        halo_program_free(program);
        return report_error(r, "out of memory");
    }
    if (json)
        print_objects(messages, first);
    else
        report_text(r, messages);
    int status = halo_program_ok(program) ? EXIT_FINE : EXIT_PROBLEM;
    halo_free(messages);
    halo_program_free(program);
    return status;
}

int command_check(int argc, char **argv)
{
    report r = {0};
    options o;
    const char *value;
    int rest, id, status = EXIT_FINE;
    bool json = false, first = true;
    options_begin(&o, rows, argc, argv, &r);
    while ((id = options_next(&o, &value, &rest)) != OPTION_END) {
        if (id == OPTION_HELP)
            return help(), EXIT_FINE;
        if (id == OPTION_BAD)
            return EXIT_USAGE;
        json = true;
    }
    if (rest == argc)
        return report_usage(&r, "check which script? `halo check --help` shows how");
    if (json)
        printf("[");
    for (; rest < argc; rest++)
        if (check_one(&r, argv[rest], json, &first) != EXIT_FINE)
            status = EXIT_PROBLEM;
    if (json)
        printf("]\n");
    return status;
}
