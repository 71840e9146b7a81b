/* SPDX-License-Identifier: MIT
 * What the tests of lang/ share: a parsed text, its tree and diagnostics as strings, the repository's scripts. */
#ifndef HALO_TESTS_LANG_SCRIPT_H
#define HALO_TESTS_LANG_SCRIPT_H

#include "lang/ast.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

typedef struct parsed_script {
    arena *memory;
    diags  diagnostics;
    file  *tree;
} parsed_script;

parsed_script parse_bytes(const char *bytes, size_t n_bytes);
parsed_script parse_string(const char *text);
void   script_free(parsed_script *s);

/* To be freed. */
char *tree_of(const parsed_script *s);
char *formatted(const parsed_script *s);
char *diagnostics_of(const parsed_script *s);

/* "E0102@3 E0103@5": codes and lines in order. To be freed. */
char *codes_of(const char *text);

/* Whole files; `path` is below the repository's root, which is the test's first argument. To be freed. */
extern const char *repository;
char *read_whole(const char *path, size_t *n_bytes);
typedef struct path_list { char **paths; size_t count; } path_list;
path_list find_scripts(void);                 /* every *.pipe in the repository, sorted */
void      path_list_free(path_list *list);

#endif
