/* SPDX-License-Identifier: MIT
 * From syntax trees to verified tensor IR: names, types, domains, compile-time evaluation, diagnostics. Knows no target. */
#ifndef HALO_FRONTEND_FRONTEND_H
#define HALO_FRONTEND_FRONTEND_H

#include "lang/ast.h"
#include "lowering/tensor.h"

/* Finds the text of an import: `path` as written, `from` the name of the importing source. Returns bytes that stay alive
 * until the script is lowered (and their count), and the name to show in *name (resolved, so that one file is read once);
 * NULL when there is no such file. */
typedef const char *(*import_lookup)(void *user, const char *from, const char *path, const char **name, size_t *n_bytes);

/* A script, its imports and the prelude, parsed and with names collected. */
typedef struct script script;

/* NULL never; errors are in `d`. The script's own text is source `name`. */
script *script_load(arena *memory, interner *names, diags *d, const char *name, const char *text, size_t n_bytes,
                    import_lookup lookup, void *user);

const file *script_file(const script *s);                     /* the script's own file */
uint32_t    script_pipe_count(const script *s);               /* its own pipes, in order; imported ones are not counted */
const item *script_pipe(const script *s, uint32_t which);

/* Checks what no pipe reaches (functions without types are checked at each call only). */
void script_check(script *s);

/* The tensor IR of one pipe *as written* (before the define passes); NULL with errors in the script's diags. Warnings
 * (a sum that can leave 32 bits) are added there too. */
tensor_pipe *script_lower(script *s, uint32_t which);

#endif
