/* SPDX-License-Identifier: MIT
 * One `halo tune`: what is measured (tune.c) and how better choices are found (tune_search.c). */
#ifndef HALO_CLI_TUNE_H
#define HALO_CLI_TUNE_H

#include "cli/run.h"

typedef struct tuner {
    const char  *script, *cpu;
    char        *path;                       /* of the tuning file */
    strings      pictures;
    assignment  *assignments; size_t n_assignments;
    halo_options compile;
    int32_t      width, height, n_threads, seconds;
    report      *report;

    char        *pipe_line;                  /* "pipe NAME cpu PROCESSOR" */
    char        *had, *had_lines;            /* the file's text, and its choices for this pipe and processor; NULL: none */
    const halo_signature *signature;
    halo_arguments *arguments;
    halo_picture *inputs;
    halo_image   *in;
    halo_threads *threads;
    int           n_tries;
} tuner;

/* The lines of choices that are faster than the compiler's own, for free; NULL when none are. An exit status. */
int tune_search(tuner *t, char **lines, double *before_ms, double *after_ms);

#endif
