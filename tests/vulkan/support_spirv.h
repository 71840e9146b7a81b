/* SPDX-License-Identifier: MIT
 * SPIR-V as the validator of SPIRV-Tools sees it. */
#ifndef HALO_TESTS_SUPPORT_SPIRV_H
#define HALO_TESTS_SUPPORT_SPIRV_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "backends/vulkan/spirv.h"

/* NULL when Vulkan 1.1 takes the module; else the reason and the module as text. */
const char *spirv_problem(arena *memory, const uint32_t *words, uint32_t n_words);
/* The module as text, ids by number. */
const char *spirv_text(arena *memory, const uint32_t *words, uint32_t n_words);
/* Ends the module; the test fails unless it is valid. */
const char *spirv_finish_valid(arena *memory, spirv *m);

#endif
