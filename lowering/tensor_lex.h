/* SPDX-License-Identifier: MIT
 * Tokens of IR text. Lines mean nothing; `;` starts a comment. */
#ifndef HALO_LOWERING_TENSOR_LEX_H
#define HALO_LOWERING_TENSOR_LEX_H

#include "lowering/tensor.h"

typedef enum token_kind {
    TOKEN_end, TOKEN_name,               /* W, cast.f32 */
    TOKEN_local, TOKEN_value,            /* %12, %acc */
    TOKEN_param,                         /* @radius */
    TOKEN_number, TOKEN_string,
    TOKEN_range, TOKEN_half_open,        /* .. ..< */
    TOKEN_punctuation, TOKEN_bad
} token_kind;

typedef struct token {
    token_kind kind;
    const char *text;                    /* without % or @; strings unescaped; NUL-terminated, in the arena */
    uint32_t start, end;
} token;

/* The token at `at` or after the blanks there; `end` is where the next one starts looking. */
token tensor_lex(arena *memory, const char *text, size_t n_bytes, uint32_t at);

#endif
