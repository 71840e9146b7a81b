/* SPDX-License-Identifier: MIT
 * What the tests of runtime/ share. */
#ifndef HALO_TESTS_RUNTIME_CHECK_H
#define HALO_TESTS_RUNTIME_CHECK_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "halo/halo.h"
#include "halo/picture.h"

/* The same numbers on every machine. */
static inline uint32_t next_random(uint32_t *state)
{
    *state = *state * 1664525u + 1013904223u;
    return *state >> 8;
}

/* A copy that ends where its allocation ends, so that a sanitizer sees every read beyond. */
static inline int decode_exactly(const char *name, const void *bytes, size_t n_bytes, halo_picture *picture, halo_message *error)
{
    void *copy = malloc(n_bytes ? n_bytes : 1);
    assert_non_null(copy);
    memcpy(copy, bytes, n_bytes);
    error->text[0] = '\0';
    int code = halo_picture_decode(name, copy, n_bytes, picture, error);
    free(copy);
    return code;
}

/* Decodes every prefix of a file, and copies of it with changed bytes: each gives a picture or a message, never a crash. */
static inline void check_hostile(const char *name, const uint8_t *bytes, size_t n_bytes, unsigned n_mutations, int prefixes_fail)
{
    halo_picture p;
    halo_message error;
    size_t step = n_bytes > 600 ? n_bytes / 300 : 1;
    for (size_t n = 0; n < n_bytes; n += step) {
        int code = decode_exactly(name, bytes, n, &p, &error);
        if (prefixes_fail && code == HALO_OK)
            fail_msg("%s: %zu of %zu bytes were read as whole", name, n, n_bytes);
        assert_true(code == HALO_OK || strlen(error.text) > strlen(name));
        halo_picture_release(&p);
    }
    uint32_t state = 12345;
    uint8_t *changed = malloc(n_bytes);
    assert_non_null(changed);
    for (unsigned i = 0; i < n_mutations; i++) {
        memcpy(changed, bytes, n_bytes);
        for (unsigned k = 0; k < 1 + i % 4; k++)
            changed[next_random(&state) % (i % 2 ? n_bytes : n_bytes < 64 ? n_bytes : 64)] = (uint8_t)next_random(&state);
        int code = decode_exactly(name, changed, n_bytes, &p, &error);
        assert_true(code == HALO_OK || error.text[0]);
        halo_picture_release(&p);
    }
    free(changed);
}

#endif
