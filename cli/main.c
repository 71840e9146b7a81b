/* SPDX-License-Identifier: MIT
 * halo: the table of subcommands. */
#include "cli/cli.h"

#include <string.h>

static const struct { const char *name, *summary; int (*run)(int argc, char **argv); } commands[] = {
#define COMMAND(name, summary) {#name, summary, command_##name},
#include "cli/commands.def"
#undef COMMAND
};
enum { N_COMMANDS = sizeof commands / sizeof *commands };

static void print_help(FILE *to)
{
    fprintf(to, "usage: halo COMMAND ...\n\n"
                "Compiles image-processing scripts (.pipe) to fast code, and runs them on pictures.\n\ncommands:\n");
    for (int i = 0; i < N_COMMANDS; i++)
        fprintf(to, "  %-10s %s\n", commands[i].name, commands[i].summary);
    fprintf(to, "\n`halo COMMAND --help` has the options and an example.\n"
                "Exit status: 0 fine, 1 an error in a script, picture or file, 2 wrong usage.\n");
}

static int unknown_command(const char *word)
{
    const char *names[N_COMMANDS];
    for (int i = 0; i < N_COMMANDS; i++)
        names[i] = commands[i].name;
    const char *near = halo_nearest_name(word, names, N_COMMANDS);
    if (near)
        fprintf(stderr, "halo: unknown command `%s`, did you mean `%s`?\n", word, near);
    else
        fprintf(stderr, "halo: unknown command `%s`; `halo --help` lists them\n", word);
    return EXIT_USAGE;
}

int main(int argc, char **argv)
{
    if (argc < 2) {
        print_help(stderr);
        return EXIT_USAGE;
    }
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0 || strcmp(argv[1], "help") == 0) {
        print_help(stdout);
        return EXIT_FINE;
    }
    for (int i = 0; i < N_COMMANDS; i++)
        if (strcmp(argv[1], commands[i].name) == 0)
            return commands[i].run(argc - 1, argv + 1);
    return unknown_command(argv[1]);
}
