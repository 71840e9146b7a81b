/* SPDX-License-Identifier: MIT
 * Shared by the printer and the verifier: the printer may be asked to annotate lines. */
#ifndef HALO_LOWERING_TENSOR_TEXT_H
#define HALO_LOWERING_TENSOR_TEXT_H

#include "lowering/tensor.h"

/* A remark on a stage (its number; node 0), on a node of a stage's body, or on the pipe (stage 0). */
typedef struct tensor_remark { uint32_t stage; ref node; const char *message; } tensor_remark;

/* The text with every remark as a comment, `; ^ error E0901: ...`, under its line. */
void tensor_print_remarks(const tensor_pipe *p, const tensor_remark *remarks, uint32_t n_remarks, text *out);

/* What coordinates are called in IR text. */
extern const char *const tensor_coord_names[TENSOR_MAX_RANK];
/* What the forms of folds are called, by fold_form. */
enum { N_FOLD_FORMS = FOLD_median + 1 };
extern const char *const tensor_fold_names[N_FOLD_FORMS];

#endif
