/* SPDX-License-Identifier: MIT
 * Options copied into a program, and imports found: by the host's look-up, or as files relative to the importing one. */
#include "runtime/program.h"

#include <stdlib.h>
#include <string.h>

static const char *copy_string(arena *memory, const char *string)
{
    return string ? arena_string(memory, string, strlen(string)) : NULL;
}

static const char *const *copy_strings(arena *memory, const char *const *strings, size_t n)
{
    if (n == 0 || !strings)
        return NULL;
    const char **copies = ARENA_ARRAY(memory, const char *, n);
    for (size_t i = 0; i < n; i++)
        copies[i] = copy_string(memory, strings[i]);
    return copies;
}

void import_options(halo_program *program, const halo_options *options)
{
    if (!options)
        return;
    arena *memory = program->memory;
    halo_options *o = &program->options;
    *o = *options;
    o->pipe = copy_string(memory, options->pipe);
    o->target = copy_string(memory, options->target);
    o->cpus = copy_strings(memory, options->cpus, options->n_cpus);
    o->layouts = copy_strings(memory, options->layouts, options->n_layouts);
    o->skip = copy_strings(memory, options->skip, options->n_skip);
    o->tuning = copy_string(memory, options->tuning);
    o->tuning_name = copy_string(memory, options->tuning_name);
}

/* "a/b/from.pipe" and "../x.pipe" give "a/x.pipe": one file has one name, so that it is read once. */
static char *join_path(arena *memory, const char *from, const char *path)
{
    const char *slash = strrchr(from, '/');
    size_t n_folder = slash && path[0] != '/' ? (size_t)(slash - from) + 1 : 0;
    char *whole = arena_printf(memory, "%.*s%s", (int)n_folder, from, path);
    char *out = whole;                                   /* behind the last part that is kept */
    for (const char *at = whole; *at;) {
        size_t n = strcspn(at, "/");
        const char *next = at[n] ? at + n + 1 : at + n;
        bool is_here = n == 1 && at[0] == '.', is_up = n == 2 && at[0] == '.' && at[1] == '.';
        char *previous = out;                            /* the start of the part before, if there is one to leave */
        if (is_up && out > whole) {
            previous = out - 1;
            while (previous > whole && previous[-1] != '/')
                previous--;
        }
        bool leaves = previous < out - 1 && strncmp(previous, "../", 3) != 0;
        if (leaves)
            out = previous;
        else if (!(is_here && at[n])) {
            memmove(out, at, (size_t)(next - at));
            out += next - at;
        }
        at = next;
    }
    *out = '\0';
    return whole;
}

const char *import_file(void *user, const char *from, const char *path, const char **name, size_t *n_bytes)
{
    halo_program *program = user;
    if (program->options.import)
        return program->options.import(program->options.import_user, from, path, name, n_bytes);
    char *file = join_path(program->memory, from, path);
    char *bytes = halo_read_file(file, n_bytes, NULL);
    if (!bytes)
        return NULL;
    program->pending = bytes;
    const char *copy = arena_string(program->memory, bytes, *n_bytes);
    program->pending = NULL;
    free(bytes);
    *name = file;
    return copy;
}
