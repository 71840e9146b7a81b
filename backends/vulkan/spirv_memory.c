/* SPDX-License-Identifier: MIT
 * What a module shares with its surroundings: storage buffers, push constants, workgroup memory, built-in inputs. Push constants
 * and inputs are the same throughout a run of the function, so each is loaded once, at its start. */
#include "backends/vulkan/spirv_internal.h"

#include <assert.h>

spv_id spirv_global(spirv *m, SpvStorageClass storage, spv_id type)
{
    uint32_t operand = (uint32_t)storage;
    return spirv_put_result(m, &m->globals, SpvOpVariable, spirv_type_pointer(m, storage, type), 1, &operand);
}

static void decorate_member(spirv *m, spv_id block, SpvDecoration decoration, uint32_t operand)
{
    uint32_t words[] = { block, 0, (uint32_t)decoration, operand };
    spirv_put(m, &m->decorations, SpvOpMemberDecorate, 4, words);
}

/* A struct decorated Block of one member, `array`, whose elements lie `stride` bytes apart. */
static spv_id block_of(spirv *m, spv_id array, uint32_t stride)
{
    spv_id block = spirv_new_id(m, 0);
    spirv_put(m, &m->globals, SpvOpTypeStruct, 2, (uint32_t[]){ block, array });
    spirv_decorate(m, array, SpvDecorationArrayStride, 1, &stride);
    spirv_decorate(m, block, SpvDecorationBlock, 0, NULL);
    decorate_member(m, block, SpvDecorationOffset, 0);
    return block;
}

/* ---- storage buffers ------------------------------------------------------------------------------------ */

/* Narrow elements are loaded, stored and converted, nothing else, for which the capabilities of storage are enough. */
static spv_id element_type(spirv *m, int bytes)
{
    if (bytes == 4) return spirv_type_u32(m);
    if (bytes == 1) {
        spirv_capability(m, SpvCapabilityStorageBuffer8BitAccess);
        spirv_extension(m, "SPV_KHR_8bit_storage");          /* in 1.3; 16-bit storage has no need of its name */
    } else {
        spirv_capability(m, SpvCapabilityStorageBuffer16BitAccess);
    }
    return spirv_interned(m, SpvOpTypeInt, 0, 2, (uint32_t[]){ (uint32_t)bytes * 8, 0 });
}

static spv_id buffer_block(spirv *m, int bytes)
{
    spv_id *known = &m->block_of[bytes / 2];
    if (*known) return *known;
    spv_id element = element_type(m, bytes), array = spirv_new_id(m, 0);
    spirv_put(m, &m->globals, SpvOpTypeRuntimeArray, 2, (uint32_t[]){ array, element });
    return *known = block_of(m, array, (uint32_t)bytes);
}

spv_buffer spirv_buffer(spirv *m, uint32_t binding, int element_bytes, bool is_written, const char *name)
{
    assert(element_bytes == 1 || element_bytes == 2 || element_bytes == 4);
    for (uint32_t k = 0; k < m->buffers.count; k++) {
        spv_bound_buffer *b = &m->buffers.items[k];
        if (b->binding != binding || b->buffer.bytes != element_bytes) continue;
        b->is_written = b->is_written || is_written;
        return b->buffer;
    }
    spv_id element = element_type(m, element_bytes);
    spv_id variable = spirv_global(m, SpvStorageClassStorageBuffer, buffer_block(m, element_bytes));
    spv_buffer buffer = { variable, element, spirv_type_pointer(m, SpvStorageClassStorageBuffer, element), element_bytes };
    spv_bound_buffer bound = { buffer, binding, is_written };
    LIST_PUSH(m->memory, m->buffers, bound);
    spirv_decorate(m, variable, SpvDecorationDescriptorSet, 1, (uint32_t[]){ 0 });
    spirv_decorate(m, variable, SpvDecorationBinding, 1, &binding);
    spirv_name(m, variable, "%s", name);
    return buffer;
}

static spv_id element_at(spirv *m, spv_buffer b, spv_id index)
{
    return spirv_op3(m, SpvOpAccessChain, b.element_pointer, b.variable, spirv_u32(m, 0), index);
}

spv_id spirv_buffer_load(spirv *m, spv_buffer b, spv_id index)
{
    spv_id value = spirv_op1(m, SpvOpLoad, b.element, element_at(m, b, index));
    return b.bytes == 4 ? value : spirv_op1(m, SpvOpUConvert, spirv_type_u32(m), value);
}

void spirv_buffer_store(spirv *m, spv_buffer b, spv_id index, spv_id value)
{
    if (b.bytes != 4) value = spirv_op1(m, SpvOpUConvert, b.element, value);
    spirv_store(m, element_at(m, b, index), value);
}

/* Only now is it known what is written, and what is one memory under two types. */
void spirv_finish_buffers(spirv *m)
{
    for (uint32_t k = 0; k < m->buffers.count; k++) {
        const spv_bound_buffer *b = &m->buffers.items[k];
        bool is_shared = false;
        for (uint32_t j = 0; j < m->buffers.count; j++)
            is_shared = is_shared || (j != k && m->buffers.items[j].binding == b->binding);
        if (!b->is_written) spirv_decorate(m, b->buffer.variable, SpvDecorationNonWritable, 0, NULL);
        if (is_shared) spirv_decorate(m, b->buffer.variable, SpvDecorationAliased, 0, NULL);
    }
}

/* ---- push constants ---------------------------------------------------------------------------------------- */

spv_id spirv_push_word(spirv *m, uint32_t which)
{
    while (m->push_words.count <= which) LIST_PUSH(m->memory, m->push_words, 0);
    spv_id *word = &m->push_words.items[which];
    if (*word) return *word;
    if (!m->push_block) m->push_block = spirv_new_id(m, 0);
    spv_id u32 = spirv_type_u32(m), pointer = spirv_type_pointer(m, SpvStorageClassPushConstant, u32);
    uint32_t path[] = { m->push_block, spirv_u32(m, 0), spirv_u32(m, which) };
    spv_id at = spirv_put_result(m, &m->loads, SpvOpAccessChain, pointer, 3, path);
    return *word = spirv_put_result(m, &m->loads, SpvOpLoad, u32, 1, &at);
}

void spirv_finish_push(spirv *m)
{
    if (!m->push_block) return;
    spv_id length = spirv_u32(m, m->push_words.count), u32 = spirv_type_u32(m), array = spirv_new_id(m, 0);
    spirv_put(m, &m->globals, SpvOpTypeArray, 3, (uint32_t[]){ array, u32, length });
    spv_id type = spirv_type_pointer(m, SpvStorageClassPushConstant, block_of(m, array, 4));
    spirv_put(m, &m->globals, SpvOpVariable, 3, (uint32_t[]){ type, m->push_block, SpvStorageClassPushConstant });
    spirv_name(m, m->push_block, "push");
}

/* ---- workgroup memory ------------------------------------------------------------------------------------------- */

void spirv_shared_declare(spirv *m, spv_id length)
{
    assert(!m->shared);
    spv_id u32 = spirv_type_u32(m), array = spirv_interned(m, SpvOpTypeArray, 0, 2, (uint32_t[]){ u32, length });
    m->shared = spirv_global(m, SpvStorageClassWorkgroup, array);
    m->shared_element = spirv_type_pointer(m, SpvStorageClassWorkgroup, u32);
    spirv_name(m, m->shared, "shared");
}

spv_id spirv_shared_load(spirv *m, spv_id index)
{
    return spirv_load(m, spirv_op2(m, SpvOpAccessChain, m->shared_element, m->shared, index));
}

void spirv_shared_store(spirv *m, spv_id index, spv_id word)
{
    spirv_store(m, spirv_op2(m, SpvOpAccessChain, m->shared_element, m->shared, index), word);
}

/* Acquire and release of workgroup memory: semantics 0x108. */
void spirv_barrier(spirv *m)
{
    spv_id workgroup = spirv_u32(m, SpvScopeWorkgroup);
    spv_id semantics = spirv_u32(m, SpvMemorySemanticsAcquireReleaseMask | SpvMemorySemanticsWorkgroupMemoryMask);
    spirv_do(m, SpvOpControlBarrier, 3, (spv_id[]){ workgroup, workgroup, semantics });
}

/* ---- the workgroup's shape, and where the invocation is -------------------------------------------------------------- */

spv_id spirv_workgroup_size(spirv *m, uint32_t spec_id, uint32_t otherwise)
{
    spv_id x = spirv_spec(m, spec_id, otherwise), one = spirv_u32(m, 1);
    if (m->workgroup_size) return x;
    spv_id three = spirv_type_vector(m, spirv_type_u32(m), 3);
    m->workgroup_size = spirv_put_result(m, &m->globals, SpvOpSpecConstantComposite, three, 3, (uint32_t[]){ x, one, one });
    m->workgroup_otherwise = otherwise;
    spirv_decorate(m, m->workgroup_size, SpvDecorationBuiltIn, 1, (uint32_t[]){ SpvBuiltInWorkgroupSize });
    return x;
}

static spv_input *input_of(spirv *m, SpvBuiltIn which, spv_id type)
{
    for (uint32_t k = 0; k < m->inputs.count; k++)
        if (m->inputs.items[k].which == which) return &m->inputs.items[k];
    spv_input input = { .which = which, .variable = spirv_global(m, SpvStorageClassInput, type) };
    spirv_decorate(m, input.variable, SpvDecorationBuiltIn, 1, (uint32_t[]){ (uint32_t)which });
    input.value = spirv_put_result(m, &m->loads, SpvOpLoad, type, 1, &input.variable);
    LIST_PUSH(m->memory, m->inputs, input);
    return &m->inputs.items[m->inputs.count - 1];
}

spv_id spirv_built_in(spirv *m, SpvBuiltIn which, int component)
{
    spv_id u32 = spirv_type_u32(m);
    bool is_scalar = which == SpvBuiltInLocalInvocationIndex;
    spv_input *input = input_of(m, which, is_scalar ? u32 : spirv_type_vector(m, u32, 3));
    if (is_scalar) return input->value;
    spv_id *part = &input->parts[component];
    if (!*part) *part = spirv_put_result(m, &m->loads, SpvOpCompositeExtract, u32, 2,
        (uint32_t[]){ input->value, (uint32_t)component });
    return *part;
}
