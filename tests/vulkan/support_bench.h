/* SPDX-License-Identifier: MIT
 * Many values computed by one shader, each from three operands that invocations read from memory, against what they should be. */
#ifndef HALO_TESTS_SUPPORT_BENCH_H
#define HALO_TESTS_SUPPORT_BENCH_H

#include "device.h"
#include "support_spirv.h"

#include "backends/vulkan/emit_ops.h"

enum { N_OPERANDS = 8192, MOST_CASES = 1600 };

typedef struct fixture { test_device device; bool is_open; } fixture;

/* Of one kind: all pairs of special values, then random ones. */
typedef struct operands { kind k; scalar values[3][N_OPERANDS]; } operands;

/* One value per invocation. `wanted`: 64 bits each. */
typedef struct test_case { char name[96]; kind k; uint64_t *wanted; } test_case;

typedef struct bench {
    fixture    *f;
    arena      *memory;
    spirv      *m;
    spv_buffer  in, out;
    spv_id      at, zero, args[3];
    operands   *o;
    test_case   cases[MOST_CASES];
    uint32_t    n_cases;
    uint64_t    random;
} bench;

/* `seed`: of the random operands. */
bench *bench_new(fixture *f, arena *memory, kind k, uint64_t seed);
/* Random operands instead for invocation `j`. */
void bench_randomize(bench *b, int j);
/* A value of the shader; gives where the values that are wanted go, one per invocation. */
uint64_t *bench_add(bench *b, kind k, spv_id value, const char *name);
/* Runs the shader; the test fails where a value differs (any NaN equals any NaN) or the validation layer had something to say. */
void bench_run(bench *b);

uint64_t bits_of_value(kind k, scalar v);
uint64_t next_random(uint64_t *state);
scalar   random_value(uint64_t *state, kind k);

/* Group set-up and tear-down: the state is a fixture. */
int open_device(void **state);
int close_device(void **state);

#endif
