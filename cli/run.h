/* SPDX-License-Identifier: MIT
 * One `halo run`: what its command line says (run.c), and doing it (run_job.c). */
#ifndef HALO_CLI_RUN_H
#define HALO_CLI_RUN_H

#include "cli/place.h"

typedef struct assignment { char *name; const char *value; } assignment;

typedef struct run_line {
    const char  *script;
    strings      pictures;
    assignment  *assignments; size_t n_assignments;      /* name=value: files and parameters */
    assignment  *outputs; size_t n_outputs;              /* -o: the name is NULL for `-o FILE` */
    halo_options compile;
    strings      skip;
    int32_t      threads, repeat, depth;
    bool         time, no_tune;
    place_kind   on;
    halo_device_options device;
    bool         validate;
    kept_device *kept;
    uint64_t     given;                                  /* options: a bit per id */
    report      *report;
} run_line;

/* The script compiled for its place; NULL was reported. */
halo_program *open_in_place(const run_line *line, bool *on_device);

/* Compiles and runs; an exit status. */
int run_job(const run_line *line);

/* Where `=` ends a name: "sigma=2" gives 5, "./a=b.png" 0. */
size_t name_length(const char *argument);
void   add_assignment(assignment **list, size_t *count, const char *argument, size_t n_name);
/* A file as an input takes it; `metadata`: where what comes with it goes, or NULL. An exit status. */
int load_input(report *r, const char *path, const halo_input *input, halo_picture *to, halo_metadata **metadata);

/* Arguments of one line of a batch, as a shell would split them (quotes and backslashes); NULL: a quote is not closed. */
char **split_arguments(char *line, int *argc);
int    run_batch(const char *path, int (*run)(int argc, char **argv, report *r, kept_device *kept), kept_device *kept);

#endif
