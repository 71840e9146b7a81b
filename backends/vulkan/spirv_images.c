/* SPDX-License-Identifier: MIT
 * Images of a module: two dimensions, one sample, one level, reals in the shader. They are read and written at whole coordinates,
 * without samplers. An image's handle is the same throughout a run of the function, so it is loaded once, at its start. */
#include "backends/vulkan/spirv_internal.h"

bool spirv_format_is_extended(SpvImageFormat format)
{
    switch (format) {
    case SpvImageFormatUnknown:
    case SpvImageFormatRgba32f: case SpvImageFormatRgba16f: case SpvImageFormatR32f: case SpvImageFormatRgba8:
    case SpvImageFormatRgba8Snorm: return false;
    default: return true;
    }
}

/* Sampled: 1 with samplers or fetched, 2 read and written. */
static spv_id image_type(spirv *m, SpvImageFormat format)
{
    enum { DEPTH = 0, ARRAYED = 0, MULTISAMPLED = 0 };
    if (spirv_format_is_extended(format)) spirv_capability(m, SpvCapabilityStorageImageExtendedFormats);
    uint32_t sampled = format == SpvImageFormatUnknown ? 1 : 2;
    uint32_t operands[] = { spirv_type_f32(m), SpvDim2D, DEPTH, ARRAYED, MULTISAMPLED, sampled, format };
    return spirv_interned(m, SpvOpTypeImage, 0, SPIRV_COUNT(operands), operands);
}

spv_image spirv_image(spirv *m, uint32_t binding, SpvImageFormat format, bool is_written, const char *name)
{
    for (uint32_t k = 0; k < m->images.count; k++)
        if (m->images.items[k].binding == binding) return m->images.items[k].image;
    spv_id type = image_type(m, format), variable = spirv_global(m, SpvStorageClassUniformConstant, type);
    spirv_decorate(m, variable, SpvDecorationDescriptorSet, 1, (uint32_t[]){ 0 });
    spirv_decorate(m, variable, SpvDecorationBinding, 1, &binding);
    SpvDecoration one_way = is_written ? SpvDecorationNonReadable : SpvDecorationNonWritable;
    if (format != SpvImageFormatUnknown) spirv_decorate(m, variable, one_way, 0, NULL);
    spirv_name(m, variable, "%s", name);
    spv_bound_image bound = { { spirv_put_result(m, &m->loads, SpvOpLoad, type, 1, &variable), format }, binding };
    LIST_PUSH(m->memory, m->images, bound);
    return bound.image;
}

static spv_id point(spirv *m, spv_id x, spv_id y)
{
    return spirv_op2(m, SpvOpCompositeConstruct, spirv_type_vector(m, spirv_type_u32(m), 2), x, y);
}

void spirv_image_load(spirv *m, spv_image image, spv_id x, spv_id y, int n, spv_id *components)
{
    spv_id four = spirv_type_vector(m, spirv_type_f32(m), 4), at = point(m, x, y);
    spv_id level[] = { image.handle, at, SpvImageOperandsLodMask, spirv_u32(m, 0) };
    spv_id texel = image.format == SpvImageFormatUnknown ? spirv_op(m, SpvOpImageFetch, four, SPIRV_COUNT(level), level)
                                                         : spirv_op2(m, SpvOpImageRead, four, image.handle, at);
    for (int k = 0; k < n; k++) components[k] = spirv_op2(m, SpvOpCompositeExtract, spirv_type_f32(m), texel, (uint32_t)k);
}

void spirv_image_store(spirv *m, spv_image image, spv_id x, spv_id y, const spv_id components[4])
{
    spv_id texel = spirv_op(m, SpvOpCompositeConstruct, spirv_type_vector(m, spirv_type_f32(m), 4), 4, components);
    spirv_do(m, SpvOpImageWrite, 3, (spv_id[]){ image.handle, point(m, x, y), texel });
}
