/* SPDX-License-Identifier: MIT
 * A pipe to a module: schedule, SPIR-V of every kernel in both ways of storage, plan. */
#include "backends/vulkan/compile.h"
#include "backends/vulkan/images.h"

#include <assert.h>
#include <string.h>
#include <time.h>

static bool is_narrow(vulkan_schedule *s, const vulkan_kernel *k)
{
    for (uint32_t j = 0; j < k->bindings.count; j++) {
        int memory = k->bindings.items[j].memory;
        if (memory < 0 || s->memories.items[memory].role == VPLAN_ROLE_scratch || vulkan_is_image(&s->memories.items[memory])) continue;
        if (kind_get((kind)stage_at(s->pipe, s->memories.items[memory].stage)->type.kind)->n_bytes < 4) return true;
    }
    return false;
}

/* Both modules share one list of slots: it has to be whole before either is made for good. */
static void compile_kernel(vulkan_schedule *s, vulkan_kernel *k)
{
    shader_kernel_probe(s, k, false);
    bool narrow = is_narrow(s, k);
    if (narrow) shader_kernel_probe(s, k, true);
    k->in_buffer = k->slots.count > VPLAN_PUSH_MOST - VPLAN_PUSH_slots;
    k->code[0] = shader_kernel(s, k, false, &k->n_code[0]);
    if (narrow) k->code[1] = shader_kernel(s, k, true, &k->n_code[1]);
}

vulkan_schedule *vulkan_schedule_compiled(tensor_pipe *p, const vulkan_options *options, const diags *d, arena *memory)
{
    vulkan_schedule *s = vulkan_schedule_make(p, options, d, memory);
    for (uint32_t k = 0; k < s->kernels.count; k++) compile_kernel(s, &s->kernels.items[k]);
    return s;
}

static_assert((int)DISPATCH_MAX_STAGES <= (int)VPLAN_SHARED_MOST, "a kernel is a part of a dispatch");

/* The driver, which takes memory for nothing else, has room for so many. */
static bool bindings_fit(vulkan_schedule *s, diags *d)
{
    uint32_t most = 0;
    for (uint32_t k = 0; k < s->kernels.count; k++)
        if (s->kernels.items[k].bindings.count > most) most = s->kernels.items[k].bindings.count;
    if (most <= VPLAN_BINDINGS_MOST) return true;
    diag_add(d, DIAG_E0554, s->pipe->where, "a dispatch of `%s` takes %u buffers and images, and no more than %d can be bound",
             s->pipe->name, most, VPLAN_BINDINGS_MOST);
    diag_help(d, "put several into one picture of more components or dimensions, or take it apart into pipes");
    return false;
}

static double now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

const vulkan_module *vulkan_compile(tensor_pipe *p, const vulkan_options *options, arena *memory, diags *d)
{
    if (!vulkan_layouts_fit(p, options->layouts, d)) return NULL;
    double start = now_ms();
    vulkan_schedule *s = vulkan_schedule_compiled(p, options, d, memory);
    if (!bindings_fit(s, d)) return NULL;
    vulkan_module *m = ARENA_NEW(memory, vulkan_module);
    vulkan_plan_write(s, m);
    m->compile_ms = now_ms() - start;
    return m;
}
