/* SPDX-License-Identifier: MIT
 * The words in which backends tell people what they have planned. */
#ifndef HALO_LOWERING_PLAN_TEXT_H
#define HALO_LOWERING_PLAN_TEXT_H

#include "lowering/dispatch.h"

void type_text(text *out, type t);                                          /* u8x3 */
void expression_text(const tensor_pipe *p, ref r, text *out);                  /* W - 1 */
void range_text(const tensor_pipe *p, ref lo, ref hi, text *out);           /* -2..2, or 0 */
/* Which stages run together, and why each stored one is. */
void dispatch_text(const tensor_pipe *p, const dispatch_plan *plan, text *out);

#endif
