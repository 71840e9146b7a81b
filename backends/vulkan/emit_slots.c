/* SPDX-License-Identifier: MIT
 * What a kernel is told: slots, bindings. They are numbered as they are first asked for. */
#include "backends/vulkan/emit.h"
#include "backends/vulkan/images.h"

static uint32_t slot_number(emitter *e, vplan_slot slot)
{
    for (uint32_t k = 0; k < e->k->slots.count; k++) {
        const vplan_slot *s = &e->k->slots.items[k];
        if (s->kind == slot.kind && s->which == slot.which && s->d == slot.d) return k;
    }
    LIST_PUSH(e->memory, e->k->slots, slot);
    return e->k->slots.count - 1;
}

spv_id shader_slot(emitter *e, vplan_slot slot)
{
    uint32_t k = slot_number(e, slot);
    return k < e->n_slots ? e->slots[k] : shader_i32(e, 0);
}

/* The one-lane node that a lane of a uniform node is, where pixels were only put together. */
static ref lane_of(const tensor_pipe *p, ref r, int *lane)
{
    for (;;) {
        const tensor_node *n = node_at(p, r);
        if (n->op == OP_vec) r = node_arg(p, r, *lane);
        else if (n->op == OP_splat) r = node_arg(p, r, 0);
        else if (n->op == OP_comp && node_at(p, node_arg(p, r, 0))->op != OP_param) { *lane = n->index; r = node_arg(p, r, 0); continue; }
        else return r;
        *lane = 0;
    }
}

spv_id shader_uniform(emitter *e, ref r, int lane)
{
    if (node_type(e->pipe, r).lanes == 1) lane = 0;
    r = lane_of(e->pipe, r, &lane);
    kind k = (kind)node_type(e->pipe, r).kind;
    int64_t known;
    if (node_is_const(e->pipe, r, &known)) return shader_constant(e->m, k, (uint32_t)known);
    if (node_at(e->pipe, r)->op == OP_const) return shader_hidden(e->m, e->zero, shader_constant(e->m, k, node_at(e->pipe, r)->payload));
    spv_id word = shader_slot(e, (vplan_slot){ VPLAN_SLOT_value, value_of(&e->s->values, r, lane), 0 });
    if (k == KIND_bool) return spirv_op2(e->m, SpvOpINotEqual, e->boolean, word, shader_i32(e, 0));
    return kind_is_float(k) ? spirv_op1(e->m, SpvOpBitcast, e->f32, word) : word;
}

spv_id shader_bound(emitter *e, uint32_t stage, int d, bool hi)
{
    const tensor_stage *s = stage_at(e->pipe, stage);
    return shader_uniform(e, hi ? s->hi[d] : s->lo[d], 0);
}

static uint32_t binding_number(emitter *e, int memory)
{
    for (uint32_t k = 0; k < e->k->bindings.count; k++) if (e->k->bindings.items[k].memory == memory) return k;
    vplan_binding b = { .memory = memory };
    for (uint32_t j = 0; j < e->k->stages.count; j++)
        if (memory >= 0 && e->k->stages.items[j].sink && e->k->stages.items[j].memory == memory) b.is_written = 1;
    LIST_PUSH(e->memory, e->k->bindings, b);
    return e->k->bindings.count - 1;
}

static int element_bytes(const emitter *e, int memory)
{
    if (memory < 0 || e->s->memories.items[memory].role == VPLAN_ROLE_scratch) return 4;
    int bytes = kind_get((kind)stage_at(e->pipe, e->s->memories.items[memory].stage)->type.kind)->n_bytes;
    return e->words ? 4 : bytes;
}

static const char *memory_name(const emitter *e, int memory)
{
    return memory < 0 ? "arguments" : stage_at(e->pipe, e->s->memories.items[memory].stage)->name;
}

spv_buffer shader_buffer(emitter *e, int memory)
{
    uint32_t binding = binding_number(e, memory);
    int bytes = element_bytes(e, memory);
    if (bytes == 1) e->k->needs |= VPLAN_NEEDS_8bit;
    if (bytes == 2) e->k->needs |= VPLAN_NEEDS_16bit;
    return spirv_buffer(e->m, binding, bytes, e->k->bindings.items[binding].is_written, memory_name(e, memory));
}

spv_image shader_image(emitter *e, int memory)
{
    const vulkan_memory *m = &e->s->memories.items[memory];
    uint32_t binding = binding_number(e, memory);
    SpvImageFormat format = m->layout == VPLAN_LAYOUT_sampled ? SpvImageFormatUnknown
                          : vulkan_format_of(stage_at(e->pipe, m->stage)->type)->spirv;
    if (spirv_format_is_extended(format)) e->k->needs |= VPLAN_NEEDS_image_extended;
    return spirv_image(e->m, binding, format, e->k->bindings.items[binding].is_written, memory_name(e, memory));
}
