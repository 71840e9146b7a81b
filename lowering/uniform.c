/* SPDX-License-Identifier: MIT
 * What is known before a pixel is computed: uniform expressions, bounds, and the checks of a run. */
#include "lowering/uniform.h"

#include <stdlib.h>

bool uniforms_begin(uniforms *u, const tensor_pipe *p, const run_values *values, uint32_t limit)
{
    *u = (uniforms){ p, values, calloc(limit, sizeof(pixel)), calloc(limit, sizeof(bool)) };
    if (u->known && u->is_known)
        return true;
    uniforms_end(u);
    return false;
}

void uniforms_end(uniforms *u)
{
    free(u->known);
    free(u->is_known);
    u->known = NULL;
    u->is_known = NULL;
}

uint32_t param_bits(const tensor_pipe *p, const run_values *values, uint32_t which, int lane)
{
    return values->params ? values->params[which][lane] : p->params.items[which].value[lane];
}

static void evaluate_leaf(const uniforms *u, const tensor_node *n, pixel *out)
{
    const tensor_pipe *p = u->pipe;
    arithmetic how = { false, rounds_products(p) };
    if (n->op == OP_const) {
        out->lane[0] = cell_of_bits(how, n->type.kind, n->payload);
    } else if (n->op == OP_dim) {
        const tensor_dim *dim = &p->dims.items[n->payload];
        out->lane[0].i = u->values->inputs[dim->stage - 1].extent[dim->dimension];
    } else if (n->op == OP_param) {
        for (int lane = 0; lane < n->type.lanes; lane++)
            out->lane[lane] = cell_of_bits(how, n->type.kind, param_bits(p, u->values, n->payload, lane));
    }
}

/* Depth first with a stack of its own: operands have smaller numbers than what uses them, so the depth is at most `r`; the stack
 * is threaded through the nodes still to do, in `known` (a node on it has no value yet). */
const pixel *uniforms_get(uniforms *u, ref r)
{
    if (u->is_known[r])
        return &u->known[r];
    const tensor_pipe *p = u->pipe;
    arithmetic how = { false, rounds_products(p) };
    ref top = r;
    u->known[r].lane[0].i = 0;
    while (top) {
        const tensor_node *n = node_at(p, top);
        ref pending = 0;
        const pixel *args[TENSOR_MAX_LANES] = { NULL };
        for (int k = 0; k < n->n_args && k < TENSOR_MAX_LANES && !pending; k++) {
            ref arg = node_arg(p, top, k);
            args[k] = &u->known[arg];
            pending = u->is_known[arg] ? 0 : arg;
        }
        if (pending) {
            u->known[pending].lane[0].i = top;
            top = pending;
            continue;
        }
        ref below = (ref)u->known[top].lane[0].i;
        if (n->n_args)
            node_evaluate(how, n, node_type(p, node_arg(p, top, 0)), args, &u->known[top]);
        else
            evaluate_leaf(u, n, &u->known[top]);
        u->is_known[top] = true;
        top = below;
    }
    return &u->known[r];
}

void uniforms_bounds(uniforms *u, uint32_t stage, int32_t lo[TENSOR_MAX_RANK], int32_t extent[TENSOR_MAX_RANK])
{
    const tensor_stage *s = stage_at(u->pipe, stage);
    for (int k = 0; k < TENSOR_MAX_RANK; k++) {
        lo[k] = k < s->rank ? (int32_t)uniforms_get(u, s->lo[k])->lane[0].i : 0;
        int64_t n = k < s->rank ? uniforms_get(u, s->hi[k])->lane[0].i - lo[k] + 1 : 1;
        extent[k] = n < 0 ? 0 : n > INT32_MAX ? INT32_MAX : (int32_t)n;
    }
}

/* ---- the public questions ----------------------------------------------------------------------- */

scalar uniform_evaluate(const tensor_pipe *p, ref r, const run_values *values)
{
    uniforms u;
    if (!uniforms_begin(&u, p, values, r + 1))
        return (scalar){ 0 };
    cell value = uniforms_get(&u, r)->lane[0];
    uniforms_end(&u);
    return kind_is_float(node_type(p, r).kind) ? (scalar){ .f = value.f } : (scalar){ .i = value.i };
}

void stage_bounds(const tensor_pipe *p, uint32_t stage, const run_values *values, int32_t lo[TENSOR_MAX_RANK],
                  int32_t extent[TENSOR_MAX_RANK])
{
    uniforms u;
    for (int k = 0; k < TENSOR_MAX_RANK; k++)
        lo[k] = extent[k] = 0;
    if (!uniforms_begin(&u, p, values, p->nodes.count))
        return;
    uniforms_bounds(&u, stage, lo, extent);
    uniforms_end(&u);
}

static bool param_in_range(const tensor_pipe *p, const run_values *values, uint32_t which)
{
    const tensor_param *param = &p->params.items[which];
    for (int lane = 0; param->has_range && lane < param->type.lanes; lane++) {
        scalar value = scalar_of_bits(param->type.kind, param_bits(p, values, which, lane));
        double v = kind_is_float(param->type.kind) ? (double)value.f : (double)value.i;
        if (!(v >= param->lo && (param->half_open ? v < param->hi : v <= param->hi)))
            return false;
    }
    return true;
}

static bool input_fits(uniforms *u, uint32_t stage)
{
    int32_t lo[TENSOR_MAX_RANK], extent[TENSOR_MAX_RANK];
    const halo_image *image = &u->values->inputs[stage - 1];
    for (int k = 0; k < stage_at(u->pipe, stage)->rank; k++)
        if (image->extent[k] < 0)
            return false;
    uniforms_bounds(u, stage, lo, extent);
    for (int k = 0; k < stage_at(u->pipe, stage)->rank; k++)
        if (image->extent[k] != extent[k])
            return false;
    return true;
}

static int check_all(uniforms *u, uint32_t *failed)
{
    const tensor_pipe *p = u->pipe;
    for (uint32_t k = 0; k < p->params.count; k++)
        if (!param_in_range(p, u->values, k)) {
            *failed = p->checks.count + p->n_inputs + k;
            return HALO_ERROR_PARAMETER;
        }
    for (uint32_t s = 1; s <= p->n_inputs; s++)
        if (!input_fits(u, s)) {
            *failed = p->checks.count + s - 1;
            return HALO_ERROR_SIZE;
        }
    for (uint32_t k = 0; k < p->checks.count; k++)
        if (!uniforms_get(u, p->checks.items[k].condition)->lane[0].i) {
            *failed = k;
            return p->checks.items[k].is_parameter ? HALO_ERROR_PARAMETER : HALO_ERROR_SIZE;
        }
    return HALO_OK;
}

int run_check(const tensor_pipe *p, const run_values *values, uint32_t *failed)
{
    uniforms u;
    uint32_t ignored;
    if (!uniforms_begin(&u, p, values, p->nodes.count))
        return HALO_ERROR_MEMORY;
    int code = check_all(&u, failed ? failed : &ignored);
    uniforms_end(&u);
    return code;
}
