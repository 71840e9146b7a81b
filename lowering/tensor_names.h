/* SPDX-License-Identifier: MIT
 * The stages' names of one pipe: which are in use, and the largest number that was put behind each. */
#ifndef HALO_LOWERING_TENSOR_NAMES_H
#define HALO_LOWERING_TENSOR_NAMES_H

#include "lowering/tensor.h"

typedef struct name_entry { const char *text; uint32_t n_bytes, hash, number; } name_entry;
struct tensor_names { name_entry *entries; uint32_t count, capacity; };

/* The stage that got this name, or 0. Renumbering (`clean`) isn't followed: only for pipes under construction. */
uint32_t tensor_stage_named(const tensor_pipe *p, const char *name);

#endif
