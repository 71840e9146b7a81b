/* SPDX-License-Identifier: MIT
 * Arena, lists and interned strings: memory that lives as long as one compile. Chunks come zeroed from the system and are
 * never reused, so allocation is a bump of a pointer and clearing costs nothing. Text buffers are in text.c. */
#include "lang/base.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- arena --------------------------------------------------------------------------------- */

enum { CHUNK_BYTES = 64 * 1024, ALIGNMENT = 16 };

typedef struct chunk {
    struct chunk *previous;
    size_t        used, capacity;       /* of `bytes` */
    _Alignas(ALIGNMENT) unsigned char bytes[];
} chunk;

struct arena {
    chunk   *last;
    jmp_buf *on_failure;
    arena   *parent, *scratch, *next;       /* of a scratch arena; the first scratch arena, and the next beside this one */
};

static chunk *chunk_new(chunk *previous, size_t capacity)
{
    chunk *c = calloc(1, sizeof *c + capacity);
    if (c) {
        c->previous = previous;
        c->capacity = capacity;
    }
    return c;
}

arena *arena_new(jmp_buf *on_failure)
{
    arena *a = calloc(1, sizeof *a);
    if (!a)
        return NULL;
    a->on_failure = on_failure;
    a->last = chunk_new(NULL, CHUNK_BYTES);
    if (!a->last) {
        free(a);
        return NULL;
    }
    return a;
}

void arena_set_failure(arena *a, jmp_buf *on_failure)
{
    a->on_failure = on_failure;
}

void arena_free(arena *a)
{
    if (!a)
        return;
    while (a->scratch)
        arena_free(a->scratch);
    if (a->parent) {
        arena **link = &a->parent->scratch;
        while (*link != a)
            link = &(*link)->next;
        *link = a->next;
    }
    for (chunk *c = a->last; c;) {
        chunk *previous = c->previous;
        free(c);
        c = previous;
    }
    free(a);
}

_Noreturn void arena_fail(arena *a)
{
    while (a->parent)
        a = a->parent;
    if (!a->on_failure)
        abort();
    longjmp(*a->on_failure, 1);
}

arena *arena_scratch(arena *parent)
{
    arena *a = arena_new(NULL);
    if (!a)
        arena_fail(parent);
    a->parent = parent;
    a->next = parent->scratch;
    parent->scratch = a;
    return a;
}

void *arena_alloc(arena *a, size_t n_bytes)
{
    if (n_bytes > SIZE_MAX / 2)
        arena_fail(a);
    size_t size = (n_bytes + ALIGNMENT - 1) & ~(size_t)(ALIGNMENT - 1);
    if (a->last->capacity - a->last->used < size) {
        chunk *c = chunk_new(a->last, size > CHUNK_BYTES ? size : CHUNK_BYTES);
        if (!c)
            arena_fail(a);
        a->last = c;
    }
    void *memory = a->last->bytes + a->last->used;
    a->last->used += size;
    return memory;
}

void *arena_copy(arena *a, const void *bytes, size_t n_bytes)
{
    void *memory = arena_alloc(a, n_bytes);
    if (n_bytes)
        memcpy(memory, bytes, n_bytes);
    return memory;
}

char *arena_string(arena *a, const char *text, size_t n_bytes)
{
    char *copy = arena_alloc(a, n_bytes + 1);
    if (n_bytes)
        memcpy(copy, text, n_bytes);
    return copy;
}

char *arena_vprintf(arena *a, const char *format, va_list args)
{
    va_list again;
    va_copy(again, args);
    int n = vsnprintf(NULL, 0, format, again);
    va_end(again);
    if (n < 0)
        arena_fail(a);
    char *string = arena_alloc(a, (size_t)n + 1);
    vsnprintf(string, (size_t)n + 1, format, args);
    return string;
}

char *arena_printf(arena *a, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    char *string = arena_vprintf(a, format, args);
    va_end(args);
    return string;
}

/* ---- lists ----------------------------------------------------------------------------------- */

/* The list's type is unknown here, so its fields are read and written as bytes (no aliasing rule is bent). */
void list_grow(arena *a, void *list, size_t item_bytes, uint32_t count)
{
    typedef LIST(void) any_list;
    void *items;
    uint32_t used, capacity;
    memcpy(&items, list, sizeof items);
    memcpy(&used, (char *)list + offsetof(any_list, count), sizeof used);
    memcpy(&capacity, (char *)list + offsetof(any_list, capacity), sizeof capacity);
    if (count <= capacity)
        return;
    if (count > UINT32_MAX / 2)
        arena_fail(a);
    uint32_t larger = capacity < 4 ? 4 : capacity * 2;
    if (larger < count)
        larger = count;
    void *moved = arena_alloc(a, item_bytes * larger);
    if (used)
        memcpy(moved, items, item_bytes * used);
    memcpy(list, &moved, sizeof moved);
    memcpy((char *)list + offsetof(any_list, capacity), &larger, sizeof larger);
}

/* ---- interned strings ------------------------------------------------------------------------ */

typedef struct entry { const char *text; size_t n_bytes; uint32_t hash; } entry;

struct interner {
    arena   *memory;
    entry   *entries;          /* open addressing, a power of two, at most half full */
    uint32_t count, capacity;
};

interner *interner_new(arena *a)
{
    interner *table = ARENA_NEW(a, interner);
    table->memory = a;
    table->capacity = 256;
    table->entries = ARENA_ARRAY(a, entry, table->capacity);
    return table;
}

static uint32_t hash_bytes(const char *text, size_t n_bytes)
{
    uint32_t hash = 2166136261u;       /* FNV-1a */
    for (size_t i = 0; i < n_bytes; i++)
        hash = (hash ^ (unsigned char)text[i]) * 16777619u;
    return hash;
}

static entry *find_entry(entry *entries, uint32_t capacity, const char *text, size_t n_bytes, uint32_t hash)
{
    for (uint32_t i = hash & (capacity - 1);; i = (i + 1) & (capacity - 1)) {
        entry *e = &entries[i];
        if (!e->text || (e->hash == hash && e->n_bytes == n_bytes && memcmp(e->text, text, n_bytes) == 0))
            return e;
    }
}

static void interner_grow(interner *table)
{
    uint32_t capacity = table->capacity * 2;
    entry *entries = ARENA_ARRAY(table->memory, entry, capacity);
    for (uint32_t i = 0; i < table->capacity; i++) {
        const entry *e = &table->entries[i];
        if (e->text)
            *find_entry(entries, capacity, e->text, e->n_bytes, e->hash) = *e;
    }
    table->entries = entries;
    table->capacity = capacity;
}

const char *intern(interner *table, const char *text, size_t n_bytes)
{
    if (table->count * 2 >= table->capacity)
        interner_grow(table);
    uint32_t hash = hash_bytes(text, n_bytes);
    entry *e = find_entry(table->entries, table->capacity, text, n_bytes, hash);
    if (!e->text) {
        e->text = arena_string(table->memory, text, n_bytes);
        e->n_bytes = n_bytes;
        e->hash = hash;
        table->count++;
    }
    return e->text;
}

const char *intern_text(interner *table, const char *text)
{
    return intern(table, text, strlen(text));
}
