/* SPDX-License-Identifier: MIT
 * The Vulkan backend as the layers above see it: a pipe's defined tensor IR in, SPIR-V and the plan of a run out. Nothing here
 * talks to a device. Products are never contracted with sums: give it pipes that went through the passes as strict ones. */
#ifndef HALO_BACKENDS_VULKAN_VULKAN_H
#define HALO_BACKENDS_VULKAN_VULKAN_H

#include "backends/vulkan/plan.h"
#include "lowering/tensor.h"

/* None changes a bit of any result. */
typedef struct vulkan_options {
    const int32_t *layouts;            /* VPLAN_LAYOUT_, one per input, then per output; NULL: all interleaved */
    bool        no_fuse;               /* every stage is a dispatch */
    bool        force_border;          /* no bulk regions: every read goes through its border map */
    int32_t     tile_width, tile_height;      /* 0, or what a device has no room for: chosen from its limits */
    bool        debug;                 /* names of values and lines of the script in the SPIR-V */
    const char *triple;                /* of an object's host; NULL: this machine */
} vulkan_options;

/* "planar": VPLAN_LAYOUT_planar; the number is -1 when there is no such layout. */
const char *vulkan_layout_name(int32_t layout);
int32_t     vulkan_layout_find(const char *name);
/* Whether pictures can lie as `layouts` says (NULL: they can); else false with diagnostics. The functions below ask it too. */
bool vulkan_layouts_fit(const tensor_pipe *p, const int32_t *layouts, diags *d);

/* One pipe, compiled: what the driver takes, and its lengths. */
typedef struct vulkan_module {
    haloi_vulkan_code code;
    uint32_t n_plan_words, n_spirv_words;
    double   compile_ms;               /* schedule and SPIR-V */
} vulkan_module;

/* Lives in `memory`. NULL with diagnostics. */
const vulkan_module *vulkan_compile(tensor_pipe *p, const vulkan_options *options, arena *memory, diags *d);

typedef enum vulkan_text {
    VULKAN_TEXT_dispatch, VULKAN_TEXT_kernel, VULKAN_TEXT_spirv, VULKAN_TEXT_explain, VULKAN_TEXT_explain_json
} vulkan_text;
bool vulkan_show(tensor_pipe *p, const vulkan_options *options, vulkan_text what, text *out, diags *d);

/* An object with the plan, the SPIR-V, the driver and the entries NAME_vulkan_create, _needs, _size, _record, _record_part,
 * _inputs, _destroy, _missing, _error of the header. */
bool vulkan_object(tensor_pipe **pipes, uint32_t n_pipes, const vulkan_options *options, text *object, diags *d);
void vulkan_header(tensor_pipe **pipes, uint32_t n_pipes, const vulkan_options *options, const char *file_name, text *out);
uint32_t vulkan_kernel_count(const vulkan_module *module);
/* The SPIR-V of a kernel: with 8 and 16-bit storage, where it has narrow pictures. */
const uint32_t *vulkan_kernel_words(const vulkan_module *module, uint32_t kernel, size_t *n_words);
/* What a host that wants the raw modules has to know of a kernel: bindings, push constants, specialization constants, dispatch size. */
void vulkan_json(const vulkan_module *module, tensor_pipe *p, const char *const *spv_files, text *out);

#endif
