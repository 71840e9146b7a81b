/* SPDX-License-Identifier: MIT
 * Words of generated headers. A pipe's parameters may stand in the headers of two backends: the struct is guarded by a name that
 * has its own text in it, so that two different pipes of one name still clash, as they should. */
#include "backends/common/header_text.h"

#include <ctype.h>
#include <string.h>

void header_guard(text *out, const char *file_name)
{
    const char *base = strrchr(file_name, '/');
    text_string(out, "HALO_GENERATED_");
    for (const char *at = base ? base + 1 : file_name; *at; at++) {
        char c = isalnum((unsigned char)*at) ? (char)toupper((unsigned char)*at) : '_';
        text_add(out, &c, 1);
    }
}

/* ---- comments ---------------------------------------------------------------------------------------------- */

/* Text inside a comment: nothing in it ends the comment or looks like the start of another. */
static void header_comment(text *out, const char *indent, const char *doc)
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
    header_comment(out, indent, doc);
    text_string(out, " */\n");
}

/* ---- parameters --------------------------------------------------------------------------------------------- */

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
    text_printf(out, "typedef struct %s_params {\n", p->name);
    for (uint32_t k = 0; k < p->params.count; k++) describe_param(out, &p->params.items[k]);
    text_printf(out, "} %s_params;\nextern const %s_params %s_defaults;", p->name, p->name, p->name);
    text needed = { 0 };
    for (uint32_t k = 0; k < p->params.count; k++)
        if (!p->params.items[k].has_default) text_printf(&needed, "%s%s", needed.count ? ", " : "", p->params.items[k].name);
    if (needed.count) text_printf(out, "    /* no default, 0 here: %.*s; so NULL for params is HALO_ERROR_NULL */",
                                  (int)needed.count, needed.bytes);
    text_free(&needed);
}

static uint32_t hash_of(const text *t)      /* FNV-1a */
{
    uint32_t hash = 2166136261u;
    for (size_t k = 0; k < t->count; k++) hash = (hash ^ (unsigned char)t->bytes[k]) * 16777619u;
    return hash;
}

static void header_params(text *out, const tensor_pipe *p)
{
    if (p->params.count == 0) return;
    text all = { 0 };
    params_struct(&all, p);
    uint32_t hash = hash_of(&all);
    text_printf(out, "#ifndef HALO_PARAMS_%s_%08x\n#define HALO_PARAMS_%s_%08x\n", p->name, hash, p->name, hash);
    text_add(out, all.bytes, all.count);
    text_string(out, "\n#endif\n\n");
    text_free(&all);
}

/* ---- pictures ------------------------------------------------------------------------------------------------ */

const char *header_output_name(const tensor_pipe *p, uint32_t which)
{
    return p->outputs.items[which].name ? p->outputs.items[which].name : "out";
}

void header_inputs(text *out, const tensor_pipe *p, const char *pattern)
{
    for (uint32_t s = 1; s < p->stages.count; s++)
        if (p->stages.items[s].kind == STAGE_input) text_printf(out, pattern, p->stages.items[s].name);
}

void header_arguments(text *out, const tensor_pipe *p, const char *image, const char *output)
{
    for (uint32_t s = 1; s < p->stages.count; s++)
        if (p->stages.items[s].kind == STAGE_input) text_printf(out, ", %s%s", image, p->stages.items[s].name);
    if (p->params.count) text_printf(out, ", const %s_params *params", p->name);
    for (uint32_t k = 0; output && k < p->outputs.count; k++) text_printf(out, ", %s%s", output, header_output_name(p, k));
}

static void describe_image(text *out, const tensor_stage *s, const char *name, const char *what, const char *layout)
{
    text_printf(out, " *   %s: %s, %s", name, what, kind_get((enum kind)s->type.kind)->name);
    if (s->type.lanes > 1) text_printf(out, "x%d", s->type.lanes);
    text_printf(out, ", %d dimension%s%s%s\n", s->rank, s->rank == 1 ? "" : "s", *layout ? ", " : "", layout);
}

static void header_images(text *out, const tensor_pipe *p, header_layout *layout, const void *user)
{
    uint32_t position = 0;
    for (uint32_t k = 1; k < p->stages.count; k++) {
        const tensor_stage *s = &p->stages.items[k];
        if (s->kind == STAGE_input) describe_image(out, s, s->name, "input", layout(user, position++, s->type));
    }
    for (uint32_t k = 0; k < p->outputs.count; k++) {
        const tensor_stage *s = &p->stages.items[p->outputs.items[k].stage];
        describe_image(out, s, header_output_name(p, k), "output", layout(user, position++, s->type));
    }
}

void header_introduction(text *out, const tensor_pipe *p, header_layout *layout, const void *user)
{
    text_printf(out, "/* ---- %s ---- */\n\n", p->name);
    header_params(out, p);
    text_string(out, "/* ");
    if (p->doc) {
        header_comment(out, "", p->doc);
        text_string(out, "\n * ");
    }
    text_string(out, "Images:\n");
    header_images(out, p, layout, user);
}
