/* SPDX-License-Identifier: MIT
 * How pictures can lie, and those in VkImages: the formats, and what doesn't go. All formats are of reals in the shader, so that
 * one kind of image does; bytes and 16-bit numbers are fractions of their highest value there, from which they come back exactly
 * (emit_images.c). */
#include "backends/vulkan/images.h"

#include <string.h>

#define FORMATS(X)                                                                                      \
    X(u8,  1, R8,   R8_UNORM)     X(u8,  2, Rg8,   R8G8_UNORM)      X(u8,  4, Rgba8,   R8G8B8A8_UNORM)          \
    X(u16, 1, R16,  R16_UNORM)    X(u16, 2, Rg16,  R16G16_UNORM)    X(u16, 4, Rgba16,  R16G16B16A16_UNORM)      \
    X(f16, 1, R16f, R16_SFLOAT)   X(f16, 2, Rg16f, R16G16_SFLOAT)   X(f16, 4, Rgba16f, R16G16B16A16_SFLOAT)     \
    X(f32, 1, R32f, R32_SFLOAT)   X(f32, 2, Rg32f, R32G32_SFLOAT)   X(f32, 4, Rgba32f, R32G32B32A32_SFLOAT)

const vulkan_format *vulkan_format_of(type t)
{
    static const struct { kind kind; int lanes; vulkan_format format; } all[] = {
#define X(kind, lanes, spirv, vulkan) { KIND_##kind, lanes, { SpvImageFormat##spirv, "VK_FORMAT_" #vulkan } },
        FORMATS(X)
#undef X
    };
    int lanes = t.lanes == 3 ? 4 : t.lanes;
    for (size_t k = 0; k < sizeof all / sizeof *all; k++)
        if (all[k].kind == (kind)t.kind && all[k].lanes == lanes) return &all[k].format;
    return NULL;
}

static const char *const LAYOUTS[] = {
#define X(name) #name,
    VPLAN_LAYOUTS(X)
#undef X
};

const char *vulkan_layout_name(int32_t layout) { return LAYOUTS[layout]; }

int32_t vulkan_layout_find(const char *name)
{
    for (int32_t k = 0; k < VPLAN_LAYOUT_COUNT; k++)
        if (strcmp(LAYOUTS[k], name) == 0) return k;
    return -1;
}

/* ---- what doesn't go ------------------------------------------------------------------------------------- */

static bool fits(const tensor_stage *s, const char *name, int32_t layout, bool is_output, diags *d)
{
    if (layout != VPLAN_LAYOUT_image && layout != VPLAN_LAYOUT_sampled) return true;
    if (is_output && layout == VPLAN_LAYOUT_sampled) {
        diag_add(d, DIAG_E0552, s->where, "the output `%s` can't be a sampled image: those are only read", name);
        diag_help(d, "write %s=image for a storage image", name);
    } else if (s->rank != 2) {
        diag_add(d, DIAG_E0552, s->where, "`%s` has %d dimension%s, and images of the device have 2 here", name, s->rank,
                 s->rank == 1 ? "" : "s");
        diag_help(d, "leave it in a buffer (%s=interleaved)", name);
    } else if (!vulkan_format_of(s->type)) {
        diag_add(d, DIAG_E0552, s->where, "no image of the device holds the %s of `%s`: u8, u16, f16 and f32 can be in images",
                 kind_get((kind)s->type.kind)->name, name);
        diag_help(d, "leave it in a buffer (%s=interleaved), or convert it to one of those", name);
    } else {
        return true;
    }
    return false;
}

bool vulkan_layouts_fit(const tensor_pipe *p, const int32_t *layouts, diags *d)
{
    bool good = true;
    uint32_t n_inputs = 0;
    if (!layouts) return true;
    for (uint32_t k = 1; k < p->stages.count; k++) {
        const tensor_stage *s = &p->stages.items[k];
        if (s->kind == STAGE_input) good = fits(s, s->name, layouts[n_inputs++], false, d) && good;
    }
    for (uint32_t k = 0; k < p->outputs.count; k++) {
        const tensor_output *o = &p->outputs.items[k];
        good = fits(&p->stages.items[o->stage], o->name ? o->name : "out", layouts[n_inputs + k], true, d) && good;
    }
    return good;
}
