/* SPDX-License-Identifier: MIT
 * The C header of a generated library: C99 and C++, includes nothing of ours, and can stand beside other generated headers
 * (the shared text is guarded and the same everywhere). */
#include "backends/cpu/module.h"

#include <ctype.h>
#include <string.h>

/* Word for word what runtime/include/halo/abi.h has between its guards (a test compares them). */
static const char ABI_TEXT[] =
#include "halo_abi_text.h"
;

static const char *c_type(int kind)
{
    switch ((enum kind)kind) {
    case KIND_bool: return "bool";
    case KIND_u8: return "uint8_t";
    case KIND_i8: return "int8_t";
    case KIND_u16: case KIND_f16: return "uint16_t";
    case KIND_i16: return "int16_t";
    case KIND_u32: return "uint32_t";
    case KIND_f32: return "float";
    default: return "int32_t";
    }
}

/* Text inside a comment: nothing in it ends the comment or looks like the start of another. */
static void comment_text(text *out, const char *indent, const char *doc)
{
    for (const char *at = doc; *at; at++) {
        if (*at == '\n') text_printf(out, "\n%s * ", indent);
        else text_add(out, at, 1);
        if ((at[0] == '*' && at[1] == '/') || (at[0] == '/' && at[1] == '*')) text_string(out, " ");
    }
}

static void doc_comment(text *out, const char *indent, const char *doc)
{
    if (!doc || !*doc) return;
    text_printf(out, "%s/* ", indent);
    comment_text(out, indent, doc);
    text_string(out, " */\n");
}

static void number(text *out, double v)
{
    if (v == (double)(int64_t)v) text_printf(out, "%lld", (long long)v);
    else text_f32(out, (float)v);
}

static void describe_param(text *out, const tensor_param *p)
{
    doc_comment(out, "    ", p->doc);
    text_printf(out, "    %s %s", c_type(p->type.kind), p->name);
    if (p->type.lanes > 1) text_printf(out, "[%d]", p->type.lanes);
    text_string(out, ";");
    if (p->has_range || p->type.kind == KIND_f16) text_string(out, "    /*");
    if (p->has_range) {
        text_string(out, " ");
        number(out, p->lo);
        text_string(out, p->half_open ? " ..< " : " .. ");
        number(out, p->hi);
    }
    if (p->type.kind == KIND_f16) text_string(out, " half-precision bits");
    if (p->has_range || p->type.kind == KIND_f16) text_string(out, " */");
    text_string(out, "\n");
}

static void params_struct(text *out, const tensor_pipe *p)
{
    if (p->params.count == 0) return;
    text_printf(out, "typedef struct %s_params {\n", p->name);
    for (uint32_t k = 0; k < p->params.count; k++) describe_param(out, &p->params.items[k]);
    text_printf(out, "} %s_params;\nextern const %s_params %s_defaults;", p->name, p->name, p->name);
    text needed = { 0 };
    for (uint32_t k = 0; k < p->params.count; k++)
        if (!p->params.items[k].has_default) text_printf(&needed, "%s%s", needed.count ? ", " : "", p->params.items[k].name);
    if (needed.count) text_printf(out, "    /* no default, 0 here: %.*s; so NULL for params is HALO_ERROR_NULL */", (int)needed.count, needed.bytes);
    text_free(&needed);
    text_string(out, "\n\n");
}

static void inputs_list(text *out, const tensor_pipe *p, const char *pattern)
{
    for (uint32_t s = 1; s < p->stages.count; s++)
        if (p->stages.items[s].kind == STAGE_input) text_printf(out, pattern, p->stages.items[s].name);
}

/* Separated by commas: inputs, params, outputs. */
static void common_arguments(text *out, const tensor_pipe *p, const char *output)
{
    text all = { 0 };
    for (uint32_t s = 1; s < p->stages.count; s++)
        if (p->stages.items[s].kind == STAGE_input) text_printf(&all, ", const halo_image *%s", p->stages.items[s].name);
    if (p->params.count) text_printf(&all, ", const %s_params *params", p->name);
    for (uint32_t k = 0; output && k < p->outputs.count; k++)
        text_printf(&all, ", %s%s", output, p->outputs.items[k].name ? p->outputs.items[k].name : "out");
    if (all.count > 2) text_add(out, all.bytes + 2, all.count - 2);
    text_free(&all);
}

static const char *layout_name(const cpu_options *options, uint32_t position, type t)
{
    if (t.lanes == 1 || !options->layouts) return "";
    return options->layouts[position] == CPU_LAYOUT_planar ? ", components in planes: the dimension after the last"
         : options->layouts[position] == CPU_LAYOUT_bgra ? ", blue first" : "";
}

static void describe_image(text *out, const tensor_pipe *p, const tensor_stage *s, const char *name, const char *what, const char *layout)
{
    (void)p;
    text_printf(out, " *   %s: %s, %s", name, what, kind_get((enum kind)s->type.kind)->name);
    if (s->type.lanes > 1) text_printf(out, "x%d", s->type.lanes);
    text_printf(out, ", %d dimension%s%s\n", s->rank, s->rank == 1 ? "" : "s", layout);
}

static void describe_images(text *out, const tensor_pipe *p, const cpu_options *options)
{
    uint32_t position = 0;
    for (uint32_t k = 1; k < p->stages.count; k++)
        if (p->stages.items[k].kind == STAGE_input) {
            const tensor_stage *s = &p->stages.items[k];
            describe_image(out, p, s, s->name, "input", layout_name(options, position++, s->type));
        }
    for (uint32_t k = 0; k < p->outputs.count; k++) {
        const tensor_stage *s = &p->stages.items[p->outputs.items[k].stage];
        describe_image(out, p, s, p->outputs.items[k].name ? p->outputs.items[k].name : "out", "output", layout_name(options, position++, s->type));
    }
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
    text_printf(out, "/* ---- %s ---- */\n\n", p->name);
    params_struct(out, p);
    text_string(out, "/* ");
    if (p->doc) {
        comment_text(out, "", p->doc);
        text_string(out, "\n * ");
    }
    text_string(out, "Images:\n");
    describe_images(out, p, options);
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
        inputs_list(out, p, ", halo_part *%s_part");
        text_string(out, ");\n");
    }
    text_printf(out, "/* Fills the extents that the outputs must have. */\nint %s_size(", p->name);
    common_arguments(out, p, "halo_image *");
    text_printf(out, ");\n/* What a code means. */\nconst char *%s_error(int code);\n\n", p->name);
}

static void guard_name(text *out, const char *file_name)
{
    const char *base = strrchr(file_name, '/');
    text_string(out, "HALO_GENERATED_");
    for (const char *at = base ? base + 1 : file_name; *at; at++) {
        char c = isalnum((unsigned char)*at) ? (char)toupper((unsigned char)*at) : '_';
        text_add(out, &c, 1);
    }
}

void cpu_header(tensor_pipe **pipes, uint32_t n_pipes, const cpu_options *options, const char *file_name, text *out)
{
    text_string(out, "/* Made by halo. */\n#ifndef ");
    guard_name(out, file_name);
    text_string(out, "\n#define ");
    guard_name(out, file_name);
    text_string(out, "\n#include <stdbool.h>\n#include <stddef.h>\n#include <stdint.h>\n");
    text_string(out, ABI_TEXT);
    text_string(out, "\n#ifdef __cplusplus\nextern \"C\" {\n#endif\n\n");
    for (uint32_t k = 0; k < n_pipes; k++) pipe_header(out, pipes[k], options);
    text_string(out, "#ifdef __cplusplus\n}\n#endif\n#endif\n");
}
