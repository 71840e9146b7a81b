/* SPDX-License-Identifier: MIT
 * What the tests of the tensor IR share: IR from text, runs of it, random numbers. */
#ifndef HALO_TESTS_SUPPORT_IR_H
#define HALO_TESTS_SUPPORT_IR_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "lowering/interpret.h"

/* Fails the test, with the diagnostics, when the text isn't sound IR. */
tensor_pipe *ir_from_text(arena *memory, const char *source);
/* The diagnostics of a text that must not be read. */
char *ir_errors(arena *memory, const char *source);
char *ir_text(arena *memory, const tensor_pipe *p);

/* Dense images over `data`, extents per dimension (0 ends the list). */
halo_image image_of(void *data, size_t pixel_bytes, int width, int height);

/* Runs and fails the test unless the code is HALO_OK. */
void ir_run(const tensor_pipe *p, const halo_image *inputs, const uint32_t (*params)[TENSOR_MAX_LANES], const halo_image *outputs);

typedef struct random_source { uint64_t state; } random_source;
uint32_t random_bits(random_source *r);
int random_below(random_source *r, int n);
uint32_t random_of_kind(random_source *r, kind k);         /* bits; special values often */
bool same_bits(kind k, uint32_t a, uint32_t b);             /* any NaN equals any NaN */

#endif
