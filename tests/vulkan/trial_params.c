/* SPDX-License-Identifier: MIT */
#include "trial_params.h"

#include <string.h>

#include "backends/vulkan/driver_plan.h"
#include "lowering/scalar.h"

static void fill(uint8_t *to, const tensor_param *p, const uint32_t *bits)
{
    size_t bytes = kind_get((kind)p->type.kind)->n_bytes;
    for (int lane = 0; lane < p->type.lanes; lane++) {
        uint32_t word = p->type.kind == KIND_f16 ? f16_bits_of_f32(scalar_of_bits(KIND_f32, bits[lane]).f) : bits[lane];
        memcpy(to + (size_t)lane * bytes, &word, bytes);
    }
}

void *trial_params(const int32_t *words, const tensor_pipe *p, const uint32_t (*bits)[TENSOR_MAX_LANES], arena *memory)
{
    vulkan_plan plan;
    plan_open(words, &plan);
    uint8_t *all = arena_alloc(memory, (size_t)plan.header->params_bytes + 1);
    for (uint32_t k = 0; k < p->params.count; k++) fill(all + plan.params[k].offset, &p->params.items[k], bits ? bits[k] : p->params.items[k].value);
    return all;
}
