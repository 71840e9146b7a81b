/* SPDX-License-Identifier: MIT
 * What passes share: binders replaced, and stages brought into order. */
#ifndef HALO_LOWERING_PASS_REWRITE_H
#define HALO_LOWERING_PASS_REWRITE_H

#include "lowering/tensor.h"

/* Was a fold of this form ever made? If not, a pass about such folds is done. */
bool any_fold(const tensor_pipe *p, fold_form form);

/* `r` with binder(s) of a fold replaced: binder k by values[k]. */
ref replace_binders(tensor_pipe *p, ref r, uint32_t fold, const ref *values);

/* Every read of `stage` in the body of `reader` becomes the body of `stage` there. A pad goes to the loads of that body, so they
 * have to be at its own coordinates, from stages of its domain. */
void inline_reads(tensor_pipe *p, uint32_t reader, uint32_t stage);

/* Stages that a pass appended move before their readers; the others keep their order. */
void sort_stages(tensor_pipe *p);

#endif
