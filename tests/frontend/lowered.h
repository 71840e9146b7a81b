/* SPDX-License-Identifier: MIT
 * What the tests of frontend/ share: a script lowered, with its diagnostics as codes, and the shape of its IR. */
#ifndef HALO_TESTS_FRONTEND_LOWERED_H
#define HALO_TESTS_FRONTEND_LOWERED_H

#include "frontend/frontend.h"
#include "lowering/interpret.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

typedef struct file_text { const char *name, *text; } file_text;      /* what an import finds */

typedef struct lowered {
    arena       *memory;
    diags        d;
    script      *script;
    tensor_pipe *pipe;            /* of the script's first pipe, or NULL */
    const file_text *files;
    int          n_lookups;
} lowered;

/* `files` may be NULL; else it ends with a row of NULLs. */
void lower_script(lowered *l, const char *text, const file_text *files);
void lowered_free(lowered *l);

/* "E0201@3 W0401@5": codes and lines in order; valid until lowered_free. */
const char *codes(lowered *l);
/* Codes of a script. */
void assert_codes(const char *text, const char *expected);

const tensor_stage *stage_named(const lowered *l, const char *name);   /* fails the test when there is none */
/* "u8x3" */
const char *stage_type(lowered *l, const char *name);
/* "1..8 0..6" with all inputs 10 wide and 7 high, parameters at their defaults. */
const char *stage_domain(lowered *l, const char *name);
/* How many nodes of this op the body of a stage has, those in its folds counted, each once. */
int  count_ops(const lowered *l, const char *name, tensor_op op);

#endif
