/* SPDX-License-Identifier: MIT
 * Short names for the SPIR-V that values are computed with: words (u32), reals (f32), truths (bool). */
#ifndef HALO_BACKENDS_VULKAN_EMIT_HELPERS_H
#define HALO_BACKENDS_VULKAN_EMIT_HELPERS_H

#include "backends/vulkan/emit_ops.h"

#define REAL_SIGN 0x80000000u
enum { REAL_MAGNITUDE = 0x7fffffff, REAL_INFINITY = 0x7f800000 };

static inline spv_id word(spirv *m, uint32_t value)
{
    return spirv_u32(m, value);
}

static inline spv_id word_op(spirv *m, SpvOp op, spv_id a, spv_id b)
{
    return spirv_op2(m, op, spirv_type_u32(m), a, b);
}

static inline spv_id word_with(spirv *m, SpvOp op, spv_id a, uint32_t b)
{
    return word_op(m, op, a, word(m, b));
}

static inline spv_id real_op(spirv *m, SpvOp op, spv_id a, spv_id b)
{
    return spirv_op2(m, op, spirv_type_f32(m), a, b);
}

static inline spv_id test(spirv *m, SpvOp op, spv_id a, spv_id b)
{
    return spirv_op2(m, op, spirv_type_bool(m), a, b);
}

static inline spv_id test_with(spirv *m, SpvOp op, spv_id a, uint32_t b)
{
    return test(m, op, a, word(m, b));
}

static inline spv_id pick(spirv *m, spv_id condition, spv_id yes, spv_id no)
{
    return spirv_op3(m, SpvOpSelect, spirv_type_of(m, yes), condition, yes, no);
}

static inline spv_id bits_of_real(spirv *m, spv_id a)
{
    return spirv_op1(m, SpvOpBitcast, spirv_type_u32(m), a);
}

static inline spv_id real_of_bits(spirv *m, spv_id a)
{
    return spirv_op1(m, SpvOpBitcast, spirv_type_f32(m), a);
}

static inline spv_id round_even(spirv *m, spv_id a)
{
    return spirv_ext1(m, GLSLstd450RoundEven, spirv_type_f32(m), a);
}

static inline bool kind_is_signed(kind k)
{
    return kind_get(k)->class == 'I';
}

/* a * b + c rounded once, in whole numbers. */
spv_id shader_fma(spirv *m, spv_id a, spv_id b, spv_id c);

#endif
