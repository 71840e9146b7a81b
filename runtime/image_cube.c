/* SPDX-License-Identifier: MIT
 * Colour tables in Adobe's .cube text: f32x3[N, N, N] with red as dimension 0, or f32x3[N] for a one-dimensional one. */
#include "runtime/image_io.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_3D = 256, MAX_1D = 65536 };

typedef struct cube {
    int32_t  size, rank;
    uint64_t count, expected;
    float   *values;
    uint32_t line;
} cube;

/* The next word of a line, or an empty one. */
static size_t next_word(const char **at, const char *end, const char **word)
{
    while (*at < end && (**at == ' ' || **at == '\t'))
        (*at)++;
    *word = *at;
    while (*at < end && **at != ' ' && **at != '\t')
        (*at)++;
    return (size_t)(*at - *word);
}

static bool word_is(const char *word, size_t n, const char *text) { return strlen(text) == n && memcmp(word, text, n) == 0; }

static bool read_three(const char **at, const char *end, float *v)
{
    for (int k = 0; k < 3; k++) {
        const char *word;
        size_t n = next_word(at, end, &word);
        if (n > 0 && *word == '+')
            word++, n--;
        if (!parse_f32(word, n, &v[k]))
            return false;
    }
    return true;
}

static bool read_size(cube *c, int32_t rank, const char *at, const char *end, halo_picture *p, halo_message *error)
{
    const char *word;
    size_t n = next_word(&at, end, &word);
    float size;
    int limit = rank == 3 ? MAX_3D : MAX_1D;
    if (c->size || !parse_f32(word, n, &size) || size < 2 || size > (float)limit || size != (float)(int32_t)size)
        return message_fail(error, "line %u: the table's size has to be one number from 2 to %d", c->line, limit);
    c->size = (int32_t)size;
    c->rank = rank;
    int32_t extent[3] = {c->size, c->size, c->size};
    c->expected = rank == 3 ? (uint64_t)c->size * (uint64_t)c->size * (uint64_t)c->size : (uint64_t)c->size;
    if (halo_picture_new(p, HALO_KIND_F32, 3, rank, extent) != HALO_OK)
        return message_fail(error, "out of memory");
    c->values = p->image.data;
    return true;
}

/* DOMAIN_MIN and DOMAIN_MAX: only 0 and 1, the domain that a script sees. */
static bool read_domain(cube *c, float wanted, const char *at, const char *end, halo_message *error)
{
    float v[3];
    if (!read_three(&at, end, v))
        return message_fail(error, "line %u: a domain has three numbers", c->line);
    if (v[0] != wanted || v[1] != wanted || v[2] != wanted)
        return message_fail(error, "line %u: only tables over the domain 0..1 are read", c->line);
    return true;
}

static bool read_line(cube *c, const char *at, const char *end, halo_picture *p, halo_message *error)
{
    const char *start = at, *word;
    size_t n = next_word(&at, end, &word);
    if (n == 0 || *word == '#' || word_is(word, n, "TITLE") || word_is(word, n, "LUT_3D_INPUT_RANGE") ||
        word_is(word, n, "LUT_1D_INPUT_RANGE"))
        return true;
    if (word_is(word, n, "LUT_3D_SIZE"))
        return read_size(c, 3, at, end, p, error);
    if (word_is(word, n, "LUT_1D_SIZE"))
        return read_size(c, 1, at, end, p, error);
    if (word_is(word, n, "DOMAIN_MIN"))
        return read_domain(c, 0, at, end, error);
    if (word_is(word, n, "DOMAIN_MAX"))
        return read_domain(c, 1, at, end, error);
    if (!c->size)
        return message_fail(error, "line %u: the table starts before its size is given", c->line);
    if (c->count == c->expected)
        return message_fail(error, "line %u: more lines than the table has", c->line);
    if (!read_three(&start, end, c->values + 3 * c->count++))
        return message_fail(error, "line %u: expected three numbers", c->line);
    return true;
}

bool decode_cube(const uint8_t *bytes, size_t n_bytes, halo_picture *picture, halo_message *error)
{
    cube c = {0};
    const char *at = (const char *)bytes, *end = at + n_bytes;
    bool sound = true;
    while (sound && at < end) {
        const char *stop = memchr(at, '\n', (size_t)(end - at));
        const char *next = stop ? stop + 1 : end;
        stop = stop ? stop : end;
        if (stop > at && stop[-1] == '\r')
            stop--;
        c.line++;
        sound = read_line(&c, at, stop, picture, error);
        at = next;
    }
    if (sound && !c.size)
        sound = message_fail(error, "no LUT_3D_SIZE: this is no .cube table");
    else if (sound && c.count < c.expected)
        sound = message_fail(error, "the file ends early: %lu of %lu lines of the table", (unsigned long)c.count,
                             (unsigned long)c.expected);
    if (!sound)
        halo_picture_release(picture);
    else
        picture->is_array = 1;
    return sound;
}
