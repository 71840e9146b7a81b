/* SPDX-License-Identifier: MIT
 * Between the files of the IR reader: its state, and the pieces that expressions and bodies share. */
#ifndef HALO_LOWERING_TENSOR_PARSE_H
#define HALO_LOWERING_TENSOR_PARSE_H

#include "lowering/tensor.h"
#include "lowering/tensor_lex.h"

typedef struct parsed_name { const char *name; ref node; } parsed_name;

typedef struct parser {
    arena *memory;
    tensor_pipe *pipe;
    diags *d;
    uint32_t source;
    const char *text;
    size_t n_bytes;
    token token;                          /* the next one */
    bool failed;                          /* the first error ends the reading: everything after it returns at once */
    int depth;                            /* of parentheses and folds: a text must not outgrow the stack */
    LIST(ref) locals;                     /* %0 ... of the stage at hand */
    LIST(parsed_name) names;              /* binders and accs in scope */
} parser;

void parse_error(parser *p, const char *format, ...) __attribute__((format(printf, 2, 3)));
void parse_advance(parser *p);
bool parse_at(const parser *p, const char *text);         /* the next token is this name or punctuation */
bool parse_accept(parser *p, const char *text);
/* Around everything that recurses; false, with an error, when it is too deep. */
bool parse_enter(parser *p);
void parse_expect(parser *p, const char *text);
const char *parse_word(parser *p, token_kind k, const char *what);
int64_t parse_integer(parser *p);
type parse_type(parser *p);
uint32_t parse_bits(parser *p, kind k);
uint32_t parse_stage_name(parser *p);

/* A leaf or a local. */
ref parse_operand(parser *p);
/* An expression of parameters and extents, with + - * and calls. */
ref parse_uniform(parser *p);
/* The lines of a stage's body up to `yield`, and the yielded node. */
ref parse_body(parser *p);

#endif
