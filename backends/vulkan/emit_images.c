/* SPDX-License-Identifier: MIT
 * Pictures that are images of the device. u8 and u16 are UNORM there: the shader sees c / 255 or c / 65535, within a few units in
 * the last place, far less than half a step. So rounding brings every c back; and what is written as c / 255 is rounded to c. */
#include "backends/vulkan/emit.h"
#include "backends/vulkan/images.h"

#include <string.h>

/* 0: reals, which stand in the image as they are. */
static int64_t whole_range(kind k) { return kind_is_float(k) ? 0 : kind_get(k)->highest; }

static spv_id real_constant(emitter *e, float v)
{
    uint32_t bits;
    memcpy(&bits, &v, sizeof bits);
    return spirv_f32(e->m, bits);
}

static spv_id scaled(emitter *e, spv_id v, float by) { return spirv_op2(e->m, SpvOpFMul, e->f32, v, real_constant(e, by)); }

/* Saturated, so that no image, of whatever format, gives what isn't of the kind. */
static spv_id from_image(emitter *e, spv_id v, kind k)
{
    int64_t range = whole_range(k);
    return range ? shader_cast(e->m, scaled(e, v, (float)range), KIND_f32, k) : v;
}

static spv_id to_image(emitter *e, spv_id v, kind k)
{
    int64_t range = whole_range(k);
    return range ? scaled(e, shader_cast(e->m, v, k, KIND_f32), 1 / (float)range) : v;
}

lanes shader_image_load(emitter *e, int memory, const spv_id *coords)
{
    lanes out = { 0 };
    type t = stage_at(e->pipe, e->s->memories.items[memory].stage)->type;
    spv_id x = shader_from_lo(e, memory, coords, 0), y = shader_from_lo(e, memory, coords, 1);
    spirv_image_load(e->m, shader_image(e, memory), x, y, t.lanes, out.id);
    for (int l = 0; l < t.lanes; l++) out.id[l] = from_image(e, out.id[l], (kind)t.kind);
    return out;
}

/* Components that the format has and the picture hasn't: alpha is 1. */
void shader_image_store(emitter *e, int memory, const spv_id *coords, lanes pixel)
{
    type t = stage_at(e->pipe, e->s->memories.items[memory].stage)->type;
    spv_id texel[4], x = shader_from_lo(e, memory, coords, 0), y = shader_from_lo(e, memory, coords, 1);
    for (int l = 0; l < 4; l++) texel[l] = l < t.lanes ? to_image(e, pixel.id[l], (kind)t.kind) : real_constant(e, l == 3 ? 1 : 0);
    spirv_image_store(e->m, shader_image(e, memory), x, y, texel);
}
