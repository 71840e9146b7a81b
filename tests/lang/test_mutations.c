/* SPDX-License-Identifier: MIT
 * No text crashes the parser: scripts of the repository with bytes and words changed, removed, repeated and swapped, from
 * seeds. What parses without an error is formatted and printed too. Best run under the sanitizers (HALO_SANITIZE). */
#include "script.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROUNDS = 6000, MAX_BYTES = 1 << 16 };

static uint32_t next_random(uint32_t *seed, uint32_t below)
{
    *seed = *seed * 1664525u + 1013904223u;
    return below ? (*seed >> 8) % below : 0;
}

static const char *const words[] = {
    "(", ")", "[", "]", "{", "}", "\n", ",", ":", "=", "==", "..", "..<", "?", "@", "@inline", "in", "where", "return", "for",
    "pipe", "fn", "const", "import", "image", "and", "or", "not", "-", "**", "//", "%", "#", "##", "\"", "0x", "1.", ".5", "1e",
    "4294967296", "1e99", "->", "_", ";", "&&", "!", "\xC3\xA9", "\xFF", "\t", "\r", "sum(i in 0..3: i)", "fn(x, y) = x", "'",
    "((((((((((((((((((((", "[[[[[[[[[[[[", "----------", "{\n{\n{\n",
};

typedef struct buffer { char bytes[MAX_BYTES]; size_t count; } buffer;

static void replace(buffer *b, size_t at, size_t n_removed, const char *inserted, size_t n_inserted)
{
    if (at + n_removed > b->count)
        n_removed = b->count - at;
    if (b->count - n_removed + n_inserted > MAX_BYTES)
        return;
    memmove(b->bytes + at + n_inserted, b->bytes + at + n_removed, b->count - at - n_removed);
    memcpy(b->bytes + at, inserted, n_inserted);
    b->count = b->count - n_removed + n_inserted;
}

static void mutate(buffer *b, uint32_t *seed)
{
    size_t at = next_random(seed, (uint32_t)b->count + 1);
    const char *word = words[next_random(seed, sizeof words / sizeof *words)];
    char byte = (char)next_random(seed, 256), piece[64];
    size_t n = next_random(seed, sizeof piece);
    switch (next_random(seed, 6)) {
    case 0: replace(b, at, 0, word, strlen(word)); break;
    case 1: replace(b, at, next_random(seed, 12), word, strlen(word)); break;
    case 2: replace(b, at, 1, &byte, 1); break;
    case 3: replace(b, at, n, "", 0); break;
    case 4: b->count = at; break;
    case 5:                                           /* a piece from elsewhere */
        if (at + n > b->count)
            n = b->count - at;
        memcpy(piece, b->bytes + at, n);
        replace(b, next_random(seed, (uint32_t)b->count + 1), 0, piece, n);
        break;
    }
}

static void try_text(const buffer *b)
{
    parsed_script s = parse_bytes(b->bytes, b->count);
    char *errors = diagnostics_of(&s);
    assert_true(s.diagnostics.n_errors == 0 || errors[0]);
    free(errors);
    text json = {0};
    diags_render_json(&s.diagnostics, &json);
    text_free(&json);
    free(tree_of(&s));
    if (s.diagnostics.n_errors == 0)
        free(formatted(&s));
    script_free(&s);
}

static void mutated_scripts_never_crash(void **state)
{
    (void)state;
    path_list scripts = find_scripts();
    assert_true(scripts.count > 10);
    buffer *b = malloc(sizeof *b);
    for (uint32_t round = 0; round < ROUNDS; round++) {
        uint32_t seed = round * 2654435761u;
        size_t n_bytes;
        char *bytes = read_whole(scripts.paths[round % scripts.count], &n_bytes);
        b->count = n_bytes < MAX_BYTES ? n_bytes : MAX_BYTES;
        memcpy(b->bytes, bytes, b->count);
        free(bytes);
        for (uint32_t n = 1 + next_random(&seed, 8); n > 0; n--)
            mutate(b, &seed);
        try_text(b);
    }
    free(b);
    path_list_free(&scripts);
}

/* Sequences of words alone reach what mutations of good scripts don't. */
static void random_words_never_crash(void **state)
{
    (void)state;
    buffer *b = malloc(sizeof *b);
    for (uint32_t round = 0; round < ROUNDS; round++) {
        uint32_t seed = round * 2246822519u + 1;
        b->count = 0;
        for (uint32_t n = next_random(&seed, 60); n > 0; n--) {
            const char *word = words[next_random(&seed, sizeof words / sizeof *words)];
            replace(b, b->count, 0, word, strlen(word));
            replace(b, b->count, 0, next_random(&seed, 4) ? " a " : "\n", next_random(&seed, 4) ? 1 : 0);
        }
        try_text(b);
    }
    free(b);
}

static void every_byte_alone(void **state)
{
    (void)state;
    buffer *b = malloc(sizeof *b);
    for (int c = 0; c < 256; c++) {
        b->bytes[0] = (char)c;
        b->count = 1;
        try_text(b);
        b->count = 0;
        replace(b, 0, 0, "const a = 1 ", 12);
        char byte = (char)c;
        replace(b, 12, 0, &byte, 1);
        try_text(b);
    }
    free(b);
}

int main(int n_arguments, char **arguments)
{
    if (n_arguments > 1)
        repository = arguments[1];
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(mutated_scripts_never_crash),
        cmocka_unit_test(random_words_never_crash),
        cmocka_unit_test(every_byte_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
