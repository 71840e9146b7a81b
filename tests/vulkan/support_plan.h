/* SPDX-License-Identifier: MIT
 * Plans written by hand, for tests of the driver alone. */
#ifndef HALO_TESTS_VULKAN_SUPPORT_PLAN_H
#define HALO_TESTS_VULKAN_SUPPORT_PLAN_H

#include "backends/vulkan/plan.h"

enum { PLAN_MOST = 64, PLAN_MOST_WORDS = 65536 };

typedef struct plan_builder {
    vplan_header      header;
    vplan_memory      memories[PLAN_MOST];
    vplan_kernel      kernels[PLAN_MOST];
    vplan_instruction instructions[PLAN_MOST];
    vplan_slot        slots[PLAN_MOST];
    vplan_shared      shared[PLAN_MOST];
    vplan_binding     bindings[PLAN_MOST];
    vplan_read        reads[PLAN_MOST];
    int32_t           sinks[PLAN_MOST];
    vplan_param       params[PLAN_MOST];
    vplan_check       checks[PLAN_MOST];
    int32_t           dims[2 * PLAN_MOST];
    uint32_t          table[PLAN_MOST_WORDS];
    int32_t           words[PLAN_MOST_WORDS * 2];
    uint32_t          spirv[8];
    struct { float amount; } defaults;
    haloi_vulkan_code code;
} plan_builder;

/* Value 0 is 0, then the numbers that are asked for. */
void    plan_begin(plan_builder *b);
int32_t plan_value(plan_builder *b, int32_t op, int32_t x, int32_t y);      /* of i32 */
int32_t plan_number(plan_builder *b, int32_t number);
/* An input of rank 2 (its dims are new), and one with bounds of other memory: 0 to the same ends. */
int32_t plan_input(plan_builder *b, int32_t component_bytes, int32_t lanes);
int32_t plan_like(plan_builder *b, int32_t role, int32_t like, int32_t component_bytes, int32_t lanes);
/* A kernel that makes `sink` and reads nothing yet. It has slots for its rectangle. */
int32_t plan_kernel(plan_builder *b, int32_t sink);
/* The newest kernel reads memory: x + lo_x .. x + hi_x and so y. Adds a binding, a read, and slots for offset and strides. */
void    plan_reads(plan_builder *b, int32_t memory, int32_t lo_x, int32_t hi_x, int32_t lo_y, int32_t hi_y, int32_t border);
/* It has a stage in workgroup memory, as large as the tile and a halo. */
void    plan_shares(plan_builder *b, int32_t words, int32_t halo, int32_t first_pass, int32_t last_pass);
/* A parameter f32 `amount` in 0..1, default 0.5. */
void    plan_parameter(plan_builder *b);
const haloi_vulkan_code *plan_end(plan_builder *b);

/* The number of a slot of a kernel; -1: it has none. */
int plan_slot(const plan_builder *b, int32_t kernel, int32_t kind, int32_t which, int32_t d);
/* The number of a kernel's binding of a memory. */
int plan_binding(const plan_builder *b, int32_t kernel, int32_t memory);

#endif
