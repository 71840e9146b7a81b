/* SPDX-License-Identifier: MIT
 * Diagnostics: coded, located, collected; rendered as text or JSON by whoever shows them.
 * Texts and codes live in diag.def, one row per diagnostic. */
#ifndef HALO_LANG_DIAG_H
#define HALO_LANG_DIAG_H

#include "lang/base.h"

/* One file (or text in memory) that was read. */
typedef struct source {
    const char *name;       /* as the user gave it */
    const char *text;       /* NUL-terminated copy */
    size_t      n_bytes;
} source;

/* A half-open range of bytes in a source; source 0 is "nowhere" (built in). */
typedef struct span { uint32_t source, start, end; } span;

#define DIAG(code, severity, summary) DIAG_##code,
typedef enum diag_code {
#include "lang/diag.def"
    DIAG_COUNT
} diag_code;
#undef DIAG

typedef enum diag_severity { SEVERITY_error, SEVERITY_warning, SEVERITY_note } diag_severity;

typedef struct diag {
    diag_code   code;
    span        where;
    const char *message;                 /* one line */
    LIST(const char *) notes;            /* lines shown as "= ..."; a fix starts with "help: " */
} diag;

typedef struct diags {
    arena *memory;
    LIST(source) sources;                /* index 0 is unused */
    LIST(diag) items;
    uint32_t n_errors;
    bool last_dropped;                   /* the last diag_add was a repetition: its notes are dropped too */
} diags;

void     diags_init(diags *d, arena *memory);
uint32_t diags_add_source(diags *d, const char *name, const char *text, size_t n_bytes);

/* Adds a diagnostic. Errors at the same place with the same code are dropped; at most 50 errors are kept. */
void diag_add(diags *d, diag_code code, span where, const char *format, ...) __attribute__((format(printf, 4, 5)));
/* A note under the last diagnostic added. */
void diag_note(diags *d, const char *format, ...) __attribute__((format(printf, 2, 3)));
void diag_help(diags *d, const char *format, ...) __attribute__((format(printf, 2, 3)));

const char   *diag_code_name(diag_code code);           /* "E0301" */
diag_severity diag_code_severity(diag_code code);
void diag_position(const diags *d, span where, uint32_t *line, uint32_t *column);   /* from 1, columns in characters */

void diag_render(const diags *d, const diag *item, text *out);        /* as language.md section 9 shows */
void diags_render(const diags *d, text *out);
void diags_render_json(const diags *d, text *out);                    /* an array of objects */

#endif
