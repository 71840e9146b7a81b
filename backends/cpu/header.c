/* SPDX-License-Identifier: MIT
 * The C header of a generated library: C99 and C++, includes nothing of ours, and can stand beside other generated headers
 * (the shared text is guarded and the same everywhere). */
#include "backends/common/header_text.h"
#include "backends/cpu/module.h"

/* Word for word what runtime/include/halo/abi.h has between its guards (a test compares them). */
static const char ABI_TEXT[] =
#include "halo_abi_text.h"
;

/* Inputs, params, outputs. */
static void common_arguments(text *out, const tensor_pipe *p, const char *output)
{
    text all = { 0 };
    header_arguments(&all, p, "const halo_image *", output);
    if (all.count > 2) text_add(out, all.bytes + 2, all.count - 2);
    text_free(&all);
}

static const char *layout_name(const void *user, uint32_t position, type t)
{
    const cpu_options *options = user;
    if (t.lanes == 1 || !options->layouts) return "";
    return options->layouts[position] == CPU_LAYOUT_planar ? "components in planes: the dimension after the last"
         : options->layouts[position] == CPU_LAYOUT_bgra ? "blue first" : "";
}

static void in_place_note(text *out, tensor_pipe *p, const cpu_options *options)
{
    arena *memory = arena_scratch(p->memory);
    cpu_schedule *s = cpu_schedule_make(p, options, (cpu_target){ 32, true, true, true, false, NULL }, memory);
    for (uint32_t k = 0; k < s->memories.count; k++) {
        const cpu_memory *m = &s->memories.items[k];
        if (m->role != MEMORY_output || m->may_alias < 0) continue;
        int which = 0;
        for (uint32_t i = 1; i < p->stages.count; i++)
            if (p->stages.items[i].kind == STAGE_input && which++ == m->may_alias)
                text_printf(out, " * The output may be the memory of `%s`, with the same strides: every pixel depends on the same pixel alone.\n", p->stages.items[i].name);
    }
    arena_free(memory);
}

static void pipe_header(text *out, tensor_pipe *p, const cpu_options *options)
{
    header_introduction(out, p, layout_name, options);
    in_place_note(out, p, options);
    text_string(out, " * Returns HALO_OK or a code for NAME_error. May be called from any number of threads at a time. */\n");
    text_printf(out, "int %s(", p->name);
    common_arguments(out, p, "const halo_image *");
    text_string(out, ", const halo_exec *exec);\n");
    text_printf(out, "/* Computes `part` of the output only. Images describe the whole pictures; of `out` only the part is written, of the\n"
                     " * inputs only what %s_needs says is read. */\nint %s_part(", p->name, p->name);
    common_arguments(out, p, "const halo_image *");
    text_string(out, ", const halo_part *part, const halo_exec *exec);\n");
    if (p->n_inputs) {
        text_printf(out, "/* Which part of each input a part of the output takes; the images' data is not looked at. */\nint %s_needs(", p->name);
        common_arguments(out, p, NULL);
        text_string(out, ", const halo_part *part");
        header_inputs(out, p, ", halo_part *%s_part");
        text_string(out, ");\n");
    }
    text_printf(out, "/* Fills the extents that the outputs must have. */\nint %s_size(", p->name);
    common_arguments(out, p, "halo_image *");
    text_printf(out, ");\n/* What a code means. */\nconst char *%s_error(int code);\n\n", p->name);
}

void cpu_header(tensor_pipe **pipes, uint32_t n_pipes, const cpu_options *options, const char *file_name, text *out)
{
    text_string(out, "/* Made by halo. */\n#ifndef ");
    header_guard(out, file_name);
    text_string(out, "\n#define ");
    header_guard(out, file_name);
    text_string(out, "\n#include <stdbool.h>\n#include <stddef.h>\n#include <stdint.h>\n");
    text_string(out, ABI_TEXT);
    text_string(out, "\n#ifdef __cplusplus\nextern \"C\" {\n#endif\n\n");
    for (uint32_t k = 0; k < n_pipes; k++) pipe_header(out, pipes[k], options);
    text_string(out, "#ifdef __cplusplus\n}\n#endif\n#endif\n");
}
