/* SPDX-License-Identifier: MIT
 * halo fmt: the canonical layout of scripts, to stdout or in place. */
#include "cli/cli.h"

#include <string.h>

enum { OPT_CHECK = 1, OPT_IN_PLACE };
static const option_row rows[] = {
    {OPT_CHECK, "check", 0, NULL, "write nothing; name the files that are laid out otherwise, status 1 if any"},
    {OPT_IN_PLACE, "in-place", 'i', NULL, "rewrite the files"},
    {0}};

static void help(void)
{
    options_help(rows, "halo fmt [--check | -i] SCRIPT...", "Gives scripts their canonical layout, on stdout.",
                 "  halo fmt -i examples/unsharp.pipe\n");
}

static int format_one(report *r, const char *path, bool check, bool in_place)
{
    halo_message error;
    size_t n_bytes;
    char *messages = NULL, *bytes = halo_read_file(path, &n_bytes, &error);
    if (!bytes)
        return report_error(r, "%s", error.text);
    char *result = halo_format(path, bytes, n_bytes, &messages);
    int status = EXIT_FINE;
    if (!result) {
        report_text(r, messages ? messages : "halo: out of memory\n");
        status = EXIT_PROBLEM;
    } else if (check || in_place) {
        bool same = strlen(result) == n_bytes && memcmp(result, bytes, n_bytes) == 0;
        if (check && !same) {
            printf("%s\n", path);
            status = EXIT_PROBLEM;
        } else if (in_place && !same && halo_write_file(path, result, strlen(result), &error) != HALO_OK) {
            status = report_error(r, "%s", error.text);
        }
    } else {
        fputs(result, stdout);
    }
    halo_free(result);
    halo_free(messages);
    halo_free(bytes);
    return status;
}

int command_fmt(int argc, char **argv)
{
    report r = {0};
    options o;
    const char *value;
    int rest, id, status = EXIT_FINE;
    bool check = false, in_place = false;
    options_begin(&o, rows, argc, argv, &r);
    while ((id = options_next(&o, &value, &rest)) != OPTION_END) {
        if (id == OPTION_HELP)
            return help(), EXIT_FINE;
        if (id == OPTION_BAD)
            return EXIT_USAGE;
        check = check || id == OPT_CHECK;
        in_place = in_place || id == OPT_IN_PLACE;
    }
    if (rest == argc)
        return report_usage(&r, "format which script? `halo fmt --help` shows how");
    if (check && in_place)
        return report_usage(&r, "--check writes nothing, -i writes: choose one");
    for (; rest < argc; rest++)
        if (format_one(&r, argv[rest], check, in_place) != EXIT_FINE)
            status = EXIT_PROBLEM;
    return status;
}
