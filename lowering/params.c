/* SPDX-License-Identifier: MIT
 * Where each parameter lies in the struct that the C headers declare. */
#include "lowering/params.h"

#include <string.h>

#include "lowering/scalar.h"

size_t params_layout(const tensor_pipe *p, int32_t *offsets)
{
    size_t at = 0, widest = 1;
    for (uint32_t k = 0; k < p->params.count; k++) {
        type t = p->params.items[k].type;
        size_t bytes = kind_get((enum kind)t.kind)->n_bytes;
        at = (at + bytes - 1) / bytes * bytes;
        if (offsets) offsets[k] = (int32_t)at;
        at += bytes * t.lanes;
        if (bytes > widest) widest = bytes;
    }
    return (at + widest - 1) / widest * widest;
}

static void pack_component(kind k, uint32_t bits, char *at)
{
    scalar v = scalar_of_bits(k, bits);
    if (k == KIND_bool) bits = v.i != 0;
    if (k == KIND_f16) bits = f16_bits_of_f32(v.f);
    memcpy(at, &bits, kind_get(k)->n_bytes);
}

size_t params_pack(const tensor_pipe *p, const uint32_t (*params)[TENSOR_MAX_LANES], void *out)
{
    size_t at = 0;
    for (uint32_t k = 0; out && k < p->params.count; k++) {
        type t = p->params.items[k].type;
        size_t bytes = kind_get((kind)t.kind)->n_bytes;
        at = (at + bytes - 1) / bytes * bytes;
        for (int c = 0; c < t.lanes; c++, at += bytes) pack_component((kind)t.kind, params[k][c], (char *)out + at);
    }
    return params_layout(p, NULL);
}

bool params_pack_defaults(const tensor_pipe *p, void *out)
{
    uint32_t (*values)[TENSOR_MAX_LANES] = arena_alloc(p->memory, sizeof *values * (p->params.count + 1));
    bool all = true;
    for (uint32_t k = 0; k < p->params.count; k++) {
        const tensor_param *param = &p->params.items[k];
        if (param->has_default) memcpy(values[k], param->value, sizeof values[k]);
        all = all && param->has_default;
    }
    params_pack(p, (const uint32_t (*)[TENSOR_MAX_LANES])values, out);
    return all;
}
