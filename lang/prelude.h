/* SPDX-License-Identifier: MIT
 * The prelude's scripts (lang/prelude/), embedded at build time so that the library needs no files at run time. */
#ifndef HALO_LANG_PRELUDE_H
#define HALO_LANG_PRELUDE_H

#include <stddef.h>

typedef struct prelude_script {
    const char *name;      /* "prelude/blur.pipe" */
    const char *text;      /* NUL-terminated */
} prelude_script;

extern const prelude_script prelude_scripts[];    /* by name; a row of NULLs at the end */
extern const size_t         n_prelude_scripts;

#endif
