/* SPDX-License-Identifier: MIT
 * What every layer stands on: an arena, interned strings, growable arrays and a text buffer.
 * All compile state hangs from one arena, so nothing inside the compiler is freed singly. */
#ifndef HALO_LANG_BASE_H
#define HALO_LANG_BASE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- arena --------------------------------------------------------------------------------- */

typedef struct arena arena;

/* NULL when memory is out. `on_failure` (may be NULL: abort) is where a later failed allocation
 * jumps to, so that no caller in the compiler has to check; the facade sets it once per call. */
arena *arena_new(jmp_buf *on_failure);
/* A short-lived arena beside `parent`: an allocation that fails in it fails as in the parent, and it is freed with the
 * parent unless it was before. Never NULL. */
arena *arena_scratch(arena *parent);
void   arena_set_failure(arena *a, jmp_buf *on_failure);
_Noreturn void arena_fail(arena *a);                          /* as if an allocation failed: for what malloc refused */
void   arena_free(arena *a);                                  /* NULL is fine */
void  *arena_alloc(arena *a, size_t n_bytes);                 /* zeroed, 16-byte aligned */
void  *arena_copy(arena *a, const void *bytes, size_t n_bytes);
char  *arena_string(arena *a, const char *text, size_t n_bytes);   /* NUL added */
char  *arena_printf(arena *a, const char *format, ...) __attribute__((format(printf, 2, 3)));
char  *arena_vprintf(arena *a, const char *format, va_list args);

#define ARENA_NEW(a, type)          ((type *)arena_alloc((a), sizeof(type)))
#define ARENA_ARRAY(a, type, count) ((type *)arena_alloc((a), sizeof(type) * (size_t)(count)))

/* ---- growable arrays in an arena: struct { T *items; uint32_t count, capacity; } ------------- */

#define LIST(type) struct { type *items; uint32_t count, capacity; }

void list_grow(arena *a, void *list, size_t item_bytes, uint32_t count);   /* room for `count` */

#define LIST_PUSH(a, list, value)                                                  \
    (list_grow((a), &(list), sizeof *(list).items, (list).count + 1),              \
     (list).items[(list).count++] = (value))

/* ---- interned strings: equal text, equal pointer --------------------------------------------- */

typedef struct interner interner;
interner   *interner_new(arena *a);
const char *intern(interner *table, const char *text, size_t n_bytes);
const char *intern_text(interner *table, const char *text);

/* ---- text buffer (malloc: it outlives an arena when the caller takes it) --------------------- */

typedef struct text { char *bytes; size_t count, capacity; bool failed; } text;

void  text_add(text *t, const char *bytes, size_t n_bytes);
void  text_string(text *t, const char *string);
void  text_printf(text *t, const char *format, ...) __attribute__((format(printf, 2, 3)));
void  text_vprintf(text *t, const char *format, va_list args);
void  text_f32(text *t, float value);       /* shortest that reads back the same, always a float */
/* The f32 nearest to `1`, `2.5`, `-1_000.25e-3`; false when it isn't a number or is beyond f32. Independent of the locale. */
bool  parse_f32(const char *number, size_t n_bytes, float *value);
char *text_take(text *t);                   /* NUL-terminated, the caller frees; NULL on failure */
void  text_free(text *t);

/* The character of UTF-8 at `at` (before `end`): its length in bytes; 1 and 0xFFFD for a byte that starts none. */
size_t utf8_character(const char *at, const char *end, uint32_t *code_point);

/* The name in `names` nearest to `word` by edit distance, or NULL when none is near. */
const char *nearest_name(const char *word, const char *const *names, size_t n_names);

#endif
