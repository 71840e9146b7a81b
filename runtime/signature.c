/* SPDX-License-Identifier: MIT
 * What a pipe takes and gives, read off its tensor IR. */
#include "runtime/program.h"

#include <string.h>

/* The script's name for an extent; those with a point (`src.0`) are the compiler's. */
static const char *written_name(const tensor_dim *dim)
{
    char first = dim->name ? (char)(dim->name[0] | 32) : '\0';
    return first >= 'a' && first <= 'z' && !strchr(dim->name, '.') ? dim->name : NULL;
}

/* "256" for a constant extent, a name that the script gives it, or "_". A bound is `N - 1`, with N the place that bound the
 * name also where it stands again. */
static const char *extent_text(arena *memory, const tensor_pipe *ir, uint32_t stage, int dimension)
{
    ref hi = stage_at(ir, stage)->hi[dimension];
    int64_t value;
    if (node_is_const(ir, hi, &value))
        return arena_printf(memory, "%lld", (long long)value + 1);
    const tensor_node *bound = node_at(ir, hi), *symbol = bound->n_args == 2 ? node_at(ir, node_arg(ir, hi, 0)) : NULL;
    bool is_symbol = symbol && bound->op == OP_add && symbol->op == OP_dim && node_is_const(ir, node_arg(ir, hi, 1), &value) && value == -1;
    const char *name = is_symbol ? written_name(&ir->dims.items[symbol->payload]) : NULL;
    return name ? name : "_";
}

static const char *pixel_text(arena *memory, type t)
{
    const char *name = kind_get(t.kind)->name;
    return t.lanes > 1 ? arena_printf(memory, "%sx%d", name, t.lanes) : name;
}

static const char *array_text(arena *memory, type t, bool is_image, int rank, const char *const *extents)
{
    if (is_image)
        return arena_printf(memory, "image %s", pixel_text(memory, t));
    if (rank == 0)
        return pixel_text(memory, t);
    const char *all = "";
    for (int d = 0; d < rank; d++)
        all = arena_printf(memory, d ? "%s, %s" : "%s%s", all, extents ? extents[d] : "_");
    return arena_printf(memory, "%s[%s]", pixel_text(memory, t), all);
}

static void describe_input(arena *memory, const tensor_pipe *ir, uint32_t stage, halo_input *out)
{
    const tensor_stage *s = stage_at(ir, stage);
    *out = (halo_input){.name = s->name, .doc = s->doc, .kind = (halo_kind)s->type.kind, .lanes = s->type.lanes,
                        .rank = s->rank, .is_image = s->is_image, .has_range = s->has_range, .low = s->range_lo,
                        .high = s->range_hi};
    for (int d = 0; d < s->rank; d++)
        out->extents[d] = extent_text(memory, ir, stage, d);
    out->type = array_text(memory, s->type, s->is_image, s->rank, out->extents);
}

static double number_of_bits(type t, uint32_t bits)
{
    scalar value = scalar_of_bits(t.kind, bits);
    return kind_is_float(t.kind) ? (double)value.f : (double)value.i;
}

static void describe_parameter(arena *memory, const tensor_param *p, halo_parameter *out)
{
    *out = (halo_parameter){.name = p->name, .doc = p->doc, .type = pixel_text(memory, p->type),
                            .kind = (halo_kind)p->type.kind, .lanes = p->type.lanes, .has_default = p->has_default,
                            .has_range = p->has_range, .half_open = p->half_open, .low = p->lo, .high = p->hi};
    for (int k = 0; k < p->type.lanes; k++)
        out->value[k] = number_of_bits(p->type, p->value[k]);
}

void describe_pipe(arena *memory, const tensor_pipe *ir, halo_signature *signature)
{
    halo_input *inputs = ARENA_ARRAY(memory, halo_input, ir->n_inputs);
    halo_parameter *parameters = ARENA_ARRAY(memory, halo_parameter, ir->params.count);
    halo_output *outputs = ARENA_ARRAY(memory, halo_output, ir->outputs.count);
    for (uint32_t i = 0; i < ir->n_inputs; i++)
        describe_input(memory, ir, i + 1, &inputs[i]);
    for (uint32_t i = 0; i < ir->params.count; i++)
        describe_parameter(memory, &ir->params.items[i], &parameters[i]);
    for (uint32_t i = 0; i < ir->outputs.count; i++) {
        const tensor_output *o = &ir->outputs.items[i];
        const tensor_stage *s = stage_at(ir, o->stage);
        outputs[i] = (halo_output){.name = o->name, .doc = o->doc, .kind = (halo_kind)s->type.kind, .lanes = s->type.lanes,
                                   .rank = s->rank, .is_image = o->is_image};
        outputs[i].type = array_text(memory, s->type, o->is_image, s->rank, NULL);
    }
    *signature = (halo_signature){.name = ir->name, .doc = ir->doc, .strict = ir->strict, .inputs = inputs,
                                  .n_inputs = ir->n_inputs, .parameters = parameters, .n_parameters = ir->params.count,
                                  .outputs = outputs, .n_outputs = ir->outputs.count};
}
