/* SPDX-License-Identifier: MIT
 * Mutated scripts go through names, types, domains and lowering to tensor IR: nothing crashes or hangs, what isn't lowered has
 * an error, and what is lowered is sound. (tests/lang has the same for the parser alone, with bytes instead of words: those
 * rarely get beyond it.) HALO_ROUNDS=100000 runs longer, HALO_FIRST=1234 HALO_ROUNDS=1 one seed again. */
#include "frontend/frontend.h"
#include "tests/lang/script.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { ROUNDS = 3000, MAX_BYTES = 1 << 16, SECONDS_PER_SCRIPT = 60 };

static const char *const words[] = {
    "(", ")", "[", "]", "{", "}", "\n", ",", ":", "=", "==", "..", "..<", "?", "in", "where", "return", "for", "k", "x", "y", "-",
    "**", "//", "%", "0", "1", "2", "-1", "1000000", "4294967295", "1.5", "1e30", "pad(src, edge)", "src", "conv", "u8", "u32",
    "f32", "f16", "bool", "true", "u8x3", "image u8", "[[1, 2, 1]]", "(1, 2)", "(1, 2, 3)", "sum(i in 0..3: i)", "fn(x, y) = x",
    ".width", ".r", ".rgb", ".extent(0)", "wrap", "reflect101", "constant(3)", "zero", "gaussian(2)", "anchor(", "flip(",
    "crop(src, 1, 1, 5, 5)", "concat(src, src, 0)", "paste(src, src, 1, 1)", "origin(", "median(", "argmin(", "mean(", "@inline ",
    "[x, y]", "[0]", "[k]", "[x + 1, y]", "[y, x]", "[2*x, y // 2]", "stride: 2", "dilation: 3", "x: wrap", "left: 4", " and ",
    " or ", " not ", "< 3", "import \"x\"\n", "const q = 3\n", "pi", "f(", "fn f(a) = f(a)\n", "for k in 0..99999 { g[k] = k }\n",
};

typedef struct buffer { char bytes[MAX_BYTES + 1]; size_t count; } buffer;

static uint32_t next_random(uint32_t *seed, uint32_t below)
{
    *seed = *seed * 1664525u + 1013904223u;
    return below ? (*seed >> 8) % below : 0;
}

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

static bool is_word(const buffer *b, size_t at)
{
    return at < b->count && (isalnum((unsigned char)b->bytes[at]) || b->bytes[at] == '_');
}

/* Where a word or a mark begins, and where it ends. */
static size_t choose_token(const buffer *b, uint32_t *seed, size_t *end)
{
    size_t at = next_random(seed, (uint32_t)b->count + 1);
    while (at > 0 && is_word(b, at) && is_word(b, at - 1))
        at--;
    *end = at + (at < b->count);
    while (is_word(b, at) && is_word(b, *end))
        ++*end;
    return at;
}

static void mutate(buffer *b, uint32_t *seed)
{
    size_t end, other_end, at = choose_token(b, seed, &end), other = choose_token(b, seed, &other_end);
    const char *word = words[next_random(seed, sizeof words / sizeof *words)];
    char copy[64];
    size_t n = other_end - other < sizeof copy ? other_end - other : sizeof copy;
    memcpy(copy, b->bytes + other, n);
    switch (next_random(seed, 4)) {
    case 0: replace(b, at, 0, word, strlen(word)); break;
    case 1: replace(b, at, end - at, word, strlen(word)); break;
    case 2: replace(b, at, end - at, "", 0); break;
    case 3: replace(b, at, end - at, copy, n); break;
    }
}

static void try_script(const buffer *b, uint32_t round)
{
    arena *memory = arena_new(NULL);
    diags d;
    diags_init(&d, memory);
    alarm(SECONDS_PER_SCRIPT);
    script *s = script_load(memory, interner_new(memory), &d, "mutated.pipe", b->bytes, b->count, NULL, NULL);
    if (d.n_errors == 0)
        script_check(s);
    uint32_t n_pipes = d.n_errors == 0 ? script_pipe_count(s) : 0;
    for (uint32_t i = 0; i < n_pipes; i++) {
        tensor_pipe *lowered = script_lower(s, i);
        if (!lowered && d.n_errors == 0)
            fail_msg("round %u: not lowered, and no error says why", round);
        text problems = {0};
        if (lowered && !tensor_verify(lowered, &problems))
            fail_msg("round %u: unsound IR: %s", round, problems.bytes ? problems.bytes : "");
        text_free(&problems);
    }
    text out = {0};
    diags_render(&d, &out);
    text_free(&out);
    arena_free(memory);
    alarm(0);
}

static uint32_t number_from_environment(const char *name, uint32_t otherwise)
{
    const char *value = getenv(name);
    return value ? (uint32_t)strtoul(value, NULL, 10) : otherwise;
}

static void mutated_scripts_are_lowered_or_refused(void **state)
{
    (void)state;
    uint32_t first = number_from_environment("HALO_FIRST", 0), rounds = number_from_environment("HALO_ROUNDS", ROUNDS);
    path_list scripts = find_scripts();
    assert_true(scripts.count > 10);
    buffer *b = malloc(sizeof *b);
    for (uint32_t round = first; round < first + rounds; round++) {
        uint32_t seed = round * 2654435761u + 7;
        size_t n_bytes;
        char *bytes = read_whole(scripts.paths[round % scripts.count], &n_bytes);
        assert_non_null(bytes);
        b->count = n_bytes < MAX_BYTES ? n_bytes : MAX_BYTES;
        memcpy(b->bytes, bytes, b->count);
        free(bytes);
        for (uint32_t n = round % 4 ? 1 : 3; n > 0; n--)
            mutate(b, &seed);
        b->bytes[b->count] = 0;
        try_script(b, round);
    }
    free(b);
    path_list_free(&scripts);
}

int main(int n_arguments, char **arguments)
{
    if (n_arguments > 1)
        repository = arguments[1];
    const struct CMUnitTest tests[] = {cmocka_unit_test(mutated_scripts_are_lowered_or_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
