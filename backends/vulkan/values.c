/* SPDX-License-Identifier: MIT
 * Uniform nodes, lane by lane, to instructions; equal nodes are one node already, so nothing is computed twice. */
#include "backends/vulkan/values.h"

static int32_t add(vulkan_values *v, vplan_instruction i, ref r)
{
    LIST_PUSH(v->memory, v->code, i);
    LIST_PUSH(v->memory, v->made_of, r);
    return (int32_t)v->code.count - 1;
}

void values_begin(vulkan_values *v, arena *memory, tensor_pipe *p)
{
    *v = (vulkan_values){ .memory = memory, .pipe = p };
    add(v, (vplan_instruction){ .op = OP_const, .kind = KIND_i32 }, tensor_i32(p, 0));
}

static int32_t *known(vulkan_values *v, ref r, int lane)
{
    uint32_t at = r * TENSOR_MAX_LANES + (uint32_t)lane;
    while (v->of.count <= at) LIST_PUSH(v->memory, v->of, 0);
    return &v->of.items[at];
}

static int32_t make_value(vulkan_values *v, ref r, int lane)
{
    tensor_node n = *node_at(v->pipe, r);
    vplan_instruction i = { .op = n.op, .kind = n.type.kind };
    switch ((tensor_op)n.op) {
    case OP_const: i.a = (int32_t)n.payload; return add(v, i, r);
    case OP_param: i.a = (int32_t)n.payload; i.b = lane; return add(v, i, r);
    case OP_dim:   i.a = (int32_t)n.payload; return add(v, i, r);
    case OP_splat: return value_of(v, node_arg(v->pipe, r, 0), 0);
    case OP_vec:   return value_of(v, node_arg(v->pipe, r, lane), 0);
    case OP_comp:  return value_of(v, node_arg(v->pipe, r, 0), n.index);
    default: break;
    }
    int32_t args[3] = { 0 };
    for (int k = 0; k < n.n_args && k < 3; k++) args[k] = value_of(v, node_arg(v->pipe, r, k), lane);
    if (n.n_args) i.from = node_type(v->pipe, node_arg(v->pipe, r, 0)).kind;
    i.a = args[0];
    i.b = args[1];
    i.c = args[2];
    return add(v, i, r);
}

int32_t value_of(vulkan_values *v, ref r, int lane)
{
    if (node_type(v->pipe, r).lanes == 1) lane = 0;
    if (!*known(v, r, lane)) {
        int32_t value = make_value(v, r, lane);
        *known(v, r, lane) = value + 1;
    }
    return *known(v, r, lane) - 1;
}
