/* SPDX-License-Identifier: MIT
 * The lists of a plan, filled one by one and then written one after another as plan.h says. */
#include "support_plan.h"

#include <string.h>

#include "backends/vulkan/driver_values.h"

void plan_begin(plan_builder *b)
{
    memset(b, 0, sizeof *b);
    plan_number(b, 0);
}

static int32_t add_instruction(plan_builder *b, vplan_instruction i)
{
    b->instructions[b->header.n_instructions] = i;
    return b->header.n_instructions++;
}

int32_t plan_value(plan_builder *b, int32_t op, int32_t x, int32_t y)
{
    return add_instruction(b, (vplan_instruction){ .op = op, .kind = VALUE_KIND_i32, .from = VALUE_KIND_i32, .a = x, .b = y });
}

int32_t plan_number(plan_builder *b, int32_t number) { return plan_value(b, VALUE_OP_const, number, 0); }

static int32_t last_of_dim(plan_builder *b, int32_t input, int32_t d)
{
    int32_t n = b->header.n_dims++;
    b->dims[2 * n] = input;
    b->dims[2 * n + 1] = d;
    return plan_value(b, VALUE_OP_sub, plan_value(b, VALUE_OP_dim, n, 0), plan_number(b, 1));
}

int32_t plan_input(plan_builder *b, int32_t component_bytes, int32_t lanes)
{
    int32_t which = b->header.n_inputs++, n = b->header.n_memories++;
    b->memories[n] = (vplan_memory){ .role = VPLAN_ROLE_input, .which = which, .rank = 2, .component_bytes = component_bytes,
                                     .lanes = lanes };
    for (int d = 0; d < 2; d++) b->memories[n].hi[d] = last_of_dim(b, which, d);
    return n;
}

int32_t plan_like(plan_builder *b, int32_t role, int32_t like, int32_t component_bytes, int32_t lanes)
{
    int32_t n = b->header.n_memories++;
    b->memories[n] = b->memories[like];
    b->memories[n].role = role;
    b->memories[n].which = role == VPLAN_ROLE_output ? b->header.n_outputs++ : 0;
    b->memories[n].component_bytes = component_bytes;
    b->memories[n].lanes = lanes;
    b->memories[n].pixel_words = lanes;
    return n;
}

static void add_slot(plan_builder *b, int32_t kind, int32_t which, int32_t d)
{
    b->slots[b->header.n_slots++] = (vplan_slot){ kind, which, d };
    b->kernels[b->header.n_kernels - 1].n_slots++;
}

static void add_binding(plan_builder *b, int32_t memory, int32_t is_written)
{
    b->bindings[b->header.n_bindings++] = (vplan_binding){ memory, is_written };
    b->kernels[b->header.n_kernels - 1].n_bindings++;
    if (memory < 0) return;
    add_slot(b, VPLAN_SLOT_offset, memory, 0);
    for (int d = 0; d < 2; d++) add_slot(b, VPLAN_SLOT_stride, memory, d);
}

int32_t plan_kernel(plan_builder *b, int32_t sink)
{
    int32_t n = b->header.n_kernels++;
    b->kernels[n] = (vplan_kernel){ .first_slot = b->header.n_slots, .first_shared = b->header.n_shared,
                                    .first_binding = b->header.n_bindings,
                                    .first_read = b->header.n_reads, .first_sink = b->header.n_sinks, .n_sinks = 1, .rank = 2,
                                        .granule = 1,
                                    .n_code_words = 4, .first_word_code = 4, .n_word_code_words = 4 };
    b->sinks[b->header.n_sinks++] = sink;
    for (int d = 0; d < 2; d++) {
        add_slot(b, VPLAN_SLOT_rect_lo, -1, d);
        add_slot(b, VPLAN_SLOT_rect_hi, -1, d);
    }
    add_binding(b, sink, 1);
    return n;
}

void plan_reads(plan_builder *b, int32_t memory, int32_t lo_x, int32_t hi_x, int32_t lo_y, int32_t hi_y, int32_t border)
{
    add_binding(b, memory, 0);
    if (memory < 0) return;
    b->reads[b->header.n_reads++] = (vplan_read){ .memory = memory, .p_x = 1, .q_x = 1, .lo_x = plan_number(b, lo_x),
                                                  .hi_x = plan_number(b, hi_x),
                                                  .border_x = border, .p_y = 1, .q_y = 1, .lo_y = plan_number(b, lo_y),
                                                  .hi_y = plan_number(b, hi_y), .border_y = border };
    b->kernels[b->header.n_kernels - 1].n_reads++;
}

void plan_shares(plan_builder *b, int32_t words, int32_t halo, int32_t first_pass, int32_t last_pass)
{
    b->shared[b->header.n_shared++] = (vplan_shared){ .words = words, .p_x = 1, .q_x = 1, .reach_x = 2 * halo, .p_y = 1, .q_y = 1,
                                                      .reach_y = 2 * halo,
                                                      .first_pass = first_pass, .last_pass = last_pass };
    b->kernels[b->header.n_kernels - 1].n_shared++;
}

void plan_parameter(plan_builder *b)
{
    b->params[b->header.n_params++] = (vplan_param){ .kind = VALUE_KIND_f32, .lanes = 1, .has_range = 1, .lo = { 0, 0 },
                                                     .hi = { 0, 0x3ff00000 } };
    b->defaults.amount = 0.5f;
    b->code.defaults = &b->defaults;
}

static void append(plan_builder *b, size_t *n, const void *bytes, size_t n_bytes)
{
    memcpy(b->words + *n, bytes, n_bytes);
    *n += n_bytes / 4;
}

const haloi_vulkan_code *plan_end(plan_builder *b)
{
    const vplan_header *h = &b->header;
    size_t n = 0;
    append(b, &n, h, sizeof *h);
    append(b, &n, b->memories, sizeof *b->memories * (size_t)h->n_memories);
    append(b, &n, b->kernels, sizeof *b->kernels * (size_t)h->n_kernels);
    append(b, &n, b->instructions, sizeof *b->instructions * (size_t)h->n_instructions);
    append(b, &n, b->slots, sizeof *b->slots * (size_t)h->n_slots);
    append(b, &n, b->shared, sizeof *b->shared * (size_t)h->n_shared);
    append(b, &n, b->bindings, sizeof *b->bindings * (size_t)h->n_bindings);
    append(b, &n, b->reads, sizeof *b->reads * (size_t)h->n_reads);
    append(b, &n, b->sinks, 4 * (size_t)h->n_sinks);
    append(b, &n, b->params, sizeof *b->params * (size_t)h->n_params);
    append(b, &n, b->checks, sizeof *b->checks * (size_t)h->n_checks);
    append(b, &n, b->dims, 8 * (size_t)h->n_dims);
    append(b, &n, b->table, 4 * (size_t)h->n_table_words);
    b->code.plan = b->words;
    b->code.spirv = b->spirv;
    return &b->code;
}

int plan_slot(const plan_builder *b, int32_t kernel, int32_t kind, int32_t which, int32_t d)
{
    const vplan_kernel *k = &b->kernels[kernel];
    for (int j = 0; j < k->n_slots; j++) {
        const vplan_slot *s = &b->slots[k->first_slot + j];
        if (s->kind == kind && s->which == which && s->d == d) return j;
    }
    return -1;
}

int plan_binding(const plan_builder *b, int32_t kernel, int32_t memory)
{
    const vplan_kernel *k = &b->kernels[kernel];
    for (int j = 0; j < k->n_bindings; j++) if (b->bindings[k->first_binding + j].memory == memory) return j;
    return -1;
}
