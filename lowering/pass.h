/* SPDX-License-Identifier: MIT
 * The pass manager: runs passes.def over a pipe, verifies after each, can skip, stop and dump. */
#ifndef HALO_LOWERING_PASS_H
#define HALO_LOWERING_PASS_H

#include "lowering/tensor.h"

typedef enum pass_kind { PASS_KIND_define, PASS_KIND_exact } pass_kind;

#define PASS(name, kind, purpose) PASS_##name,
typedef enum pass_id {
#include "lowering/passes.def"
    PASS_COUNT
} pass_id;
#undef PASS

typedef struct pass_info { const char *name; pass_kind kind; bool (*run)(tensor_pipe *p); const char *purpose; } pass_info;
const pass_info *pass_get(pass_id id);
pass_id          pass_find(const char *name);      /* PASS_COUNT when there is none */

/* Each pass: changes the pipe in place, returns whether it changed anything. In lowering/pass_NAME.c. */
#define PASS(name, kind, purpose) bool pass_##name(tensor_pipe *p);
#include "lowering/passes.def"
#undef PASS

typedef struct pass_options {
    bool     skip[PASS_COUNT];       /* of exact passes; a define pass can't be skipped */
    bool     only_define;            /* stop at the defined IR */
    pass_id  stop_after;             /* PASS_COUNT: run all */
    bool     no_verify;              /* for timing only */
    bool     reparse;                /* stress: replace the IR by its reread text after every pass */
    bool    *changed;                /* when not NULL: per pass, set when it changed anything */
    text    *dump;                   /* when not NULL: the IR after every pass that changed it, with headers */
} pass_options;

/* false: the verifier found a pass wrong; the message (E0901) with the annotated IR is in `d`. */
bool passes_run(tensor_pipe **p, const pass_options *options, diags *d);

#endif
