/* SPDX-License-Identifier: MIT
 * Unique names without looking through all stages. One hash table holds two sorts of keys: `blur` and `blur.2`, names, with the
 * stage's number; and `blur.`, with the largest number behind `blur` so far. */
#include "lowering/tensor_names.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

static uint32_t hash_of(const char *text, size_t n_bytes)
{
    uint32_t hash = 2166136261u;             /* FNV-1a */
    for (size_t k = 0; k < n_bytes; k++)
        hash = (hash ^ (unsigned char)text[k]) * 16777619u;
    return hash;
}

/* The key's entry, or the free one where it belongs. */
static name_entry *find_entry(const struct tensor_names *names, const char *text, size_t n_bytes)
{
    uint32_t hash = hash_of(text, n_bytes);
    for (uint32_t at = hash & (names->capacity - 1);; at = (at + 1) & (names->capacity - 1)) {
        name_entry *e = &names->entries[at];
        if (!e->text || (e->hash == hash && e->n_bytes == n_bytes && memcmp(e->text, text, n_bytes) == 0))
            return e;
    }
}

static void grow(tensor_pipe *p)
{
    struct tensor_names *names = p->names, old = *names;
    names->capacity = old.capacity ? 2 * old.capacity : 64;
    names->entries = ARENA_ARRAY(p->memory, name_entry, names->capacity);
    for (uint32_t k = 0; k < old.capacity; k++)
        if (old.entries[k].text)
            *find_entry(names, old.entries[k].text, old.entries[k].n_bytes) = old.entries[k];
}

static uint32_t *number_of(tensor_pipe *p, const char *text, size_t n_bytes)
{
    if (!p->names)
        p->names = ARENA_NEW(p->memory, struct tensor_names);
    if (2 * p->names->count >= p->names->capacity)
        grow(p);
    name_entry *e = find_entry(p->names, text, n_bytes);
    if (!e->text) {
        *e = (name_entry){ arena_string(p->memory, text, n_bytes), (uint32_t)n_bytes, hash_of(text, n_bytes), 0 };
        p->names->count++;
    }
    return &e->number;
}

uint32_t tensor_stage_named(const tensor_pipe *p, const char *name)
{
    return p->names ? find_entry(p->names, name, strlen(name))->number : 0;
}

/* The length of `name` up to the dot of a last `.digits`, that dot included; 0 when there is none. */
static size_t numbered_length(const char *name)
{
    size_t n = strlen(name), end = n;
    while (end > 0 && isdigit((unsigned char)name[end - 1]))
        end--;
    return end > 1 && end < n && n - end < 9 && name[end - 1] == '.' ? end : 0;
}

const char *tensor_unique_name(tensor_pipe *p, const char *name)
{
    if (tensor_stage_named(p, name) == 0)
        return name;
    size_t n = numbered_length(name);
    const char *base = n ? arena_string(p->memory, name, n) : arena_printf(p->memory, "%s.", name);
    return arena_printf(p->memory, "%s%u", base, *number_of(p, base, strlen(base)) + 1);
}

void tensor_stage_rename(tensor_pipe *p, uint32_t stage, const char *name)
{
    const char *old = stage_at(p, stage)->name;
    if (old && tensor_stage_named(p, old) == stage)
        *number_of(p, old, strlen(old)) = 0;
    const char *unique = tensor_unique_name(p, name);
    stage_at(p, stage)->name = unique;
    *number_of(p, unique, strlen(unique)) = stage;
    size_t n = numbered_length(unique);
    if (n == 0)
        return;
    uint32_t number = (uint32_t)strtoul(unique + n, NULL, 10), *last = number_of(p, unique, n);
    if (number > *last)
        *last = number;
}
