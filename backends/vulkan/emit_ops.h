/* SPDX-License-Identifier: MIT
 * The value of one op on one component as SPIR-V, to the bit what op_evaluate, cast_evaluate and wrap_evaluate (lowering/scalar.h)
 * compute. In registers every whole number is 32 bits: u8 and u16 with zeros above, i8 and i16 with copies of their sign; i64 is
 * 64 bits; f16 is an f32 that f16 can hold; bool is a bool. */
#ifndef HALO_BACKENDS_VULKAN_EMIT_OPS_H
#define HALO_BACKENDS_VULKAN_EMIT_OPS_H

#include "backends/vulkan/spirv.h"
#include "lowering/tensor.h"

spv_id shader_kind_type(spirv *m, kind k);
spv_id shader_constant(spirv *m, kind k, uint32_t bits);
/* `zero`: a u32 0 that no compiler can see is one. Drivers fold 0.0 + x, x * 0.0 and x / 0.0 wrongly even under NoContraction, so
 * where an operand of + - * / is a literal zero, one made of `zero` stands in its place; where it could become one inside the
 * driver (an accumulator's first value, an arm of a select) it has to be hidden when it is made. Other values stay as they are. */
spv_id shader_hidden(spirv *m, spv_id zero, spv_id v);
/* NUM SEL INT FLT CMP LOG; k: of the operands. */
spv_id shader_op(spirv *m, spv_id zero, tensor_op op, kind k, const spv_id *args);
spv_id shader_cast(spirv *m, spv_id v, kind from, kind to);
spv_id shader_wrap(spirv *m, spv_id v, kind from, kind to);
spv_id shader_bitcast(spirv *m, spv_id v, kind from, kind to);
/* Between a register and the component's bits in memory, with zeros above in a u32 (bool: 0 or 1; f16: its 16 bits). */
spv_id shader_from_memory(spirv *m, spv_id bits, kind k);
spv_id shader_to_memory(spirv *m, spv_id v, kind k);

#endif
