/* SPDX-License-Identifier: MIT
 * halo run --batch: many runs in one process, one line each, for tests that need thousands. */
#include "cli/run.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* One word, unquoted in place; NULL when a quote isn't closed. *next is behind it. */
static char *take_word(char *at, char **next)
{
    char *start = at, *out = at, quote = 0;
    for (; *at && (quote || !isspace((unsigned char)*at)); at++) {
        if (quote ? *at == quote : *at == '\'' || *at == '"')
            quote = quote ? 0 : *at;
        else if (*at == '\\' && quote != '\'' && at[1])
            *out++ = *++at;
        else
            *out++ = *at;
    }
    *next = *at ? at + 1 : at;
    *out = '\0';
    return quote ? NULL : start;
}

char **split_arguments(char *line, int *argc)
{
    strings words = {0};
    strings_add(&words, "run");
    for (char *at = line;;) {
        while (isspace((unsigned char)*at))
            at++;
        if (!*at)
            break;
        char *word = take_word(at, &at);
        if (!word) {
            free(words.items);
            return NULL;
        }
        strings_add(&words, word);
    }
    *argc = (int)words.count;
    strings_add(&words, NULL);
    return (char **)words.items;
}

/* A message of several lines on one. */
static void print_flat(const char *text)
{
    size_t n = strlen(text);
    while (n > 0 && text[n - 1] == '\n')
        n--;
    printf("error: ");
    for (size_t i = 0; i < n; i++)
        if (text[i] == '\n')
            printf("\\n");
        else
            putchar(text[i]);
    putchar('\n');
}

static int run_batch_line(char *text, int (*run)(int argc, char **argv, report *r, kept_device *kept), kept_device *kept)
{
    report r = {.capture = true};
    int argc;
    char **argv = split_arguments(text, &argc);
    int status = argv ? run(argc, argv, &r, kept) : report_usage(&r, "a quote is not closed");
    free(argv);
    if (status == EXIT_FINE)
        printf("ok\n");
    else
        print_flat(r.text);
    fflush(stdout);
    return status;
}

int run_batch(const char *path, int (*run)(int argc, char **argv, report *r, kept_device *kept), kept_device *kept)
{
    report to_user = {0};
    FILE *file = strcmp(path, "-") == 0 ? stdin : fopen(path, "r");
    if (!file)
        return report_error(&to_user, "%s: %s", path, strerror(errno));
    char *text = NULL;
    size_t room = 0;
    int status = EXIT_FINE;
    while (getline(&text, &room, file) >= 0) {
        const char *first = text + strspn(text, " \t\r\n");
        if (*first && *first != '#' && run_batch_line(text, run, kept) != EXIT_FINE)
            status = EXIT_PROBLEM;
    }
    free(text);
    if (file != stdin)
        fclose(file);
    return status;
}
