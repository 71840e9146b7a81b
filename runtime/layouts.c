/* SPDX-License-Identifier: MIT
 * "src=planar": how pictures of a library lie in memory, or whether they are images of a device. */
#include "runtime/program.h"

#include <assert.h>
#include <string.h>

static_assert((int)CPU_LAYOUT_interleaved == VPLAN_LAYOUT_interleaved && (int)CPU_LAYOUT_planar == VPLAN_LAYOUT_planar &&
              (int)CPU_LAYOUT_bgra == VPLAN_LAYOUT_bgra, "the backends number buffers alike");

enum { NO_PICTURE = UINT32_MAX };

static bool is_image(int32_t layout) { return layout == VPLAN_LAYOUT_image || layout == VPLAN_LAYOUT_sampled; }

static bool refuse_name(halo_program *program, const char *option)
{
    diag_add(&program->messages, DIAG_E0552, (span){0}, "the layout `%s` is not understood", option);
    diag_help(&program->messages, "write NAME=interleaved, NAME=planar%s", program_for_vulkan(program)
              ? ", NAME=bgra, NAME=image or NAME=sampled" : " or NAME=bgra");
    return false;
}

/* Its place among inputs and outputs, and its type. */
static uint32_t find_picture(const tensor_pipe *pipe, const char *name, size_t n, const tensor_stage **stage)
{
    for (uint32_t i = 0; i < pipe->n_inputs + pipe->outputs.count; i++) {
        const tensor_output *o = i < pipe->n_inputs ? NULL : &pipe->outputs.items[i - pipe->n_inputs];
        *stage = stage_at(pipe, o ? o->stage : i + 1);
        const char *own = !o ? (*stage)->name : o->name ? o->name : "out";
        if (strlen(own) == n && memcmp(own, name, n) == 0)
            return i;
    }
    return NO_PICTURE;
}

static bool set_layout(halo_program *program, const tensor_pipe *pipe, const char *option, int32_t *layouts)
{
    const char *equals = strchr(option, '=');
    int32_t layout = equals ? vulkan_layout_find(equals + 1) : -1;
    const tensor_stage *stage;
    if (layout < 0)
        return refuse_name(program, option);
    int n = (int)(equals - option);
    uint32_t which = find_picture(pipe, option, (size_t)n, &stage);
    if (which == NO_PICTURE) {
        diag_add(&program->messages, DIAG_E0552, (span){0}, "`%s` has no input or output `%.*s`", pipe->name, n, option);
    } else if (is_image(layout) && !program_for_vulkan(program)) {
        diag_add(&program->messages, DIAG_E0552, (span){0}, "`%s`: images are of Vulkan devices, and this is for the processor",
                 option);
        diag_help(&program->messages, "ask for Vulkan (build --vulkan, show --on vulkan), or write %.*s=interleaved, %.*s=planar "
                  "or %.*s=bgra", n, option, n, option, n, option);
    } else if (layout == VPLAN_LAYOUT_bgra && stage->type.lanes < 3) {
        diag_add(&program->messages, DIAG_E0552, (span){0}, "`%.*s` has %d component%s: blue first is for 3 and 4", n, option,
                 stage->type.lanes, stage->type.lanes == 1 ? "" : "s");
    } else {
        layouts[which] = layout;
        return true;
    }
    return false;
}

bool program_layouts(halo_program *program, const tensor_pipe *pipe, const int32_t **layouts)
{
    const halo_options *o = &program->options;
    *layouts = NULL;
    if (o->n_layouts == 0)
        return true;
    int32_t *all = ARENA_ARRAY(program->memory, int32_t, pipe->n_inputs + pipe->outputs.count);
    for (size_t i = 0; i < o->n_layouts; i++)
        if (!set_layout(program, pipe, o->layouts[i], all))
            return false;
    *layouts = all;
    return vulkan_layouts_fit(pipe, all, &program->messages);
}
