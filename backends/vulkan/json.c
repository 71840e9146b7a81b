/* SPDX-License-Identifier: MIT
 * What a host has to do itself when it runs the bare modules: the plan that the driver reads, as JSON. Numbers that depend on sizes
 * and parameters are a little program, `values`, one instruction a value; everything else names values by their number. */
#include "backends/vulkan/driver_plan.h"
#include "backends/vulkan/images.h"

#include <string.h>

typedef struct json_writer {
    text              *out;
    const tensor_pipe *p;
    vulkan_plan        plan;
} json_writer;

static void quoted(text *out, const char *s)
{
    text_string(out, "\"");
    for (; *s; s++) {
        if (*s == '"' || *s == '\\') text_printf(out, "\\%c", *s);
        else if ((unsigned char)*s < 32) text_printf(out, "\\u%04x", (unsigned char)*s);
        else text_add(out, s, 1);
    }
    text_string(out, "\"");
}

/* Between the members of a list. */
static void next(text *out, int k, const char *indent) { text_printf(out, "%s\n%s", k ? "," : "", indent); }

static const char *memory_name(const json_writer *w, int32_t memory)
{
    if (memory < 0) return "arguments";
    const vplan_memory *m = &w->plan.memories[memory];
    if (m->role == VPLAN_ROLE_scratch) return "scratch";
    if (m->role == VPLAN_ROLE_output) return w->p->outputs.items[m->which].name ? w->p->outputs.items[m->which].name : "out";
    return stage_at(w->p, (uint32_t)m->which + 1)->name;
}

/* ---- values ------------------------------------------------------------------------------------------------ */

static void json_constant(json_writer *w, const vplan_instruction *n)
{
    value v = value_of_bits(n->kind, (uint32_t)n->a);
    if (value_is_float(n->kind)) text_printf(w->out, ", \"bits\": %u", (uint32_t)n->a);
    else text_printf(w->out, ", \"number\": %lld", (long long)v.i);
}

static void json_value(json_writer *w, const vplan_instruction *n)
{
    const op_info *op = op_get((tensor_op)n->op);
    text_printf(w->out, "{\"op\": \"%s\", \"kind\": \"%s\"", op->name, kind_get((kind)n->kind)->name);
    if (n->op == OP_const) {
        json_constant(w, n);
    } else if (n->op == OP_param) {
        text_printf(w->out, ", \"parameter\": \"%s\", \"component\": %d", w->p->params.items[n->a].name, n->b);
    } else if (n->op == OP_dim) {
        const int32_t *dim = &w->plan.dims[2 * n->a];
        text_printf(w->out, ", \"extent\": %d, \"of\": \"%s\"", dim[1], stage_at(w->p, (uint32_t)dim[0] + 1)->name);
    } else {
        int arity = op->class == CLASS_STR ? 3 : op->arity;
        text_printf(w->out, ", \"args\": [%d", n->a);
        if (arity > 1) text_printf(w->out, ", %d", n->b);
        if (arity > 2) text_printf(w->out, ", %d", n->c);
        text_string(w->out, "]");
        if (op->class == CLASS_TYP || op->class == CLASS_CMP)
            text_printf(w->out, ", \"of\": \"%s\"", kind_get((kind)n->from)->name);
    }
    text_string(w->out, "}");
}

static void json_values(json_writer *w)
{
    text_string(w->out, "  \"values\": [");
    for (int k = 0; k < w->plan.header->n_instructions; k++) {
        next(w->out, k, "    ");
        json_value(w, &w->plan.instructions[k]);
    }
    text_string(w->out, "\n  ],\n  \"checks\": [");
    for (int k = 0; k < w->plan.header->n_checks; k++) {
        next(w->out, k, "    ");
        text_printf(w->out, "{\"value\": %d, \"message\": ", w->plan.checks[k].value);
        quoted(w->out, w->p->checks.items[k].message ? w->p->checks.items[k].message : "");
        text_string(w->out, "}");
    }
    text_string(w->out, "\n  ],\n");
}

/* ---- memories ---------------------------------------------------------------------------------------------- */

static void json_picture(json_writer *w, const vplan_memory *m)
{
    uint32_t stage = m->role == VPLAN_ROLE_input ? (uint32_t)m->which + 1 : w->p->outputs.items[m->which].stage;
    type t = stage_at(w->p, stage)->type;
    text_printf(w->out, "\"kind\": \"%s\", \"component_bytes\": %d, \"components\": %d, \"layout\": \"%s\"",
                kind_get((kind)t.kind)->name,
                m->component_bytes, m->lanes, vulkan_layout_name(m->layout));
    if (is_view(m)) text_printf(w->out, ", \"format\": \"%s\"", vulkan_format_of(t)->name);
    text_string(w->out, "}");
}

static void json_memory(json_writer *w, int k)
{
    static const char *const roles[] = { "input", "output", "scratch" };
    const vplan_memory *m = &w->plan.memories[k];
    text_printf(w->out, "{\"role\": \"%s\", \"name\": \"%s\", \"bounds\": [", roles[m->role], memory_name(w, k));
    for (int d = 0; d < m->rank; d++) text_printf(w->out, "%s[%d, %d]", d ? ", " : "", m->lo[d], m->hi[d]);
    text_string(w->out, "], ");
    if (m->role == VPLAN_ROLE_scratch) text_printf(w->out, "\"pixel_words\": %d}", m->pixel_words);
    else json_picture(w, m);
}

static void json_memories(json_writer *w)
{
    text_string(w->out, "  \"memories\": [");
    for (int k = 0; k < w->plan.header->n_memories; k++) {
        next(w->out, k, "    ");
        json_memory(w, k);
    }
    text_string(w->out, "\n  ],\n  \"table\": [");
    for (int k = 0; k < w->plan.header->n_table_words; k++)
        text_printf(w->out, "%s%s%u", k ? "," : "", k % 16 ? " " : "\n    ", w->plan.table[k]);
    text_string(w->out, "\n  ],\n");
}

/* ---- kernels ----------------------------------------------------------------------------------------------- */

static void json_slot(json_writer *w, const vplan_slot *s)
{
    switch (s->kind) {
    case VPLAN_SLOT_value:     text_printf(w->out, "{\"value\": %d}", s->which); break;
    case VPLAN_SLOT_rect_lo:
    case VPLAN_SLOT_rect_hi:
        text_printf(w->out, "{\"rectangle\": \"%s\", \"dimension\": %d", s->kind == VPLAN_SLOT_rect_lo ? "first" : "last", s->d);
        if (s->which >= 0) text_printf(w->out, ", \"sink\": %d", s->which);
        text_string(w->out, "}");
        break;
    case VPLAN_SLOT_offset:    text_printf(w->out, "{\"offset\": %d}", s->which); break;
    case VPLAN_SLOT_stride:    text_printf(w->out, "{\"stride\": %d, \"dimension\": %d}", s->which, s->d); break;
    case VPLAN_SLOT_component: text_printf(w->out, "{\"plane\": %d}", s->which); break;
    default:                   text_printf(w->out, "{\"tiles\": %d}", s->d); break;
    }
}

static void json_bindings(json_writer *w, const vplan_kernel *k)
{
    text_string(w->out, "      \"bindings\": [");
    for (int j = 0; j < k->n_bindings; j++) {
        const vplan_binding *b = &w->plan.bindings[k->first_binding + j];
        int32_t layout = b->memory < 0 ? VPLAN_LAYOUT_interleaved : w->plan.memories[b->memory].layout;
        const char *type = layout == VPLAN_LAYOUT_image ? "STORAGE_IMAGE"
                         : layout == VPLAN_LAYOUT_sampled ? "SAMPLED_IMAGE" : "STORAGE_BUFFER";
        next(w->out, j, "        ");
        text_printf(w->out, "{\"binding\": %d, \"type\": \"%s\", \"memory\": %d, \"name\": \"%s\", \"access\": \"%s\"}", j, type,
                    b->memory, memory_name(w, b->memory), b->is_written ? "write" : "read");
    }
    text_string(w->out, "\n      ],\n");
}

static void json_push(json_writer *w, const vplan_kernel *k)
{
    text_printf(w->out, "      \"push_constants\": {\"bytes\": %d, \"words\": [\"zero\", \"first tile x\", \"first tile y\", "
                        "\"first tile z\", \"word of slot 0 in arguments\"]},\n", 4 * (VPLAN_PUSH_slots + (k->in_buffer ? 0 : k->n_slots)));
    text_printf(w->out, "      \"slots_in\": \"%s\",\n      \"slots\": [", k->in_buffer ? "arguments" : "push_constants");
    for (int j = 0; j < k->n_slots; j++) {
        next(w->out, j, "        ");
        json_slot(w, &w->plan.slots[k->first_slot + j]);
    }
    text_string(w->out, "\n      ],\n");
}

/* The words that a stage takes of workgroup memory are width * height * words; where it begins is the host's choice. */
static void json_constants(json_writer *w, const vplan_kernel *k)
{
    static const char *const shape[] = { "invocations", "tile_width", "tile_height", "shared_words" };
    text_string(w->out, "      \"specialization\": [");
    for (int j = 0; j < 4; j++) text_printf(w->out, "%s\n        {\"id\": %d, \"is\": \"%s\"}", j ? "," : "", j, shape[j]);
    for (int j = 0; j < k->n_shared; j++) {
        const vplan_shared *s = &w->plan.shared[k->first_shared + j];
        text_printf(w->out, ",\n        {\"id\": %d, \"is\": \"(%d * (tile_width - 1) + %d) / %d + 1\"}", 4 + 3 * j, s->p_x,
                    s->reach_x, s->q_x);
        text_printf(w->out, ",\n        {\"id\": %d, \"is\": \"(%d * (tile_height - 1) + %d) / %d + 1\"}", 5 + 3 * j, s->p_y,
                    s->reach_y, s->q_y);
        text_printf(w->out, ",\n        {\"id\": %d, \"is\": \"first word\", \"words\": %d, \"lives\": [%d, %d]}", 6 + 3 * j,
                    s->words, s->first_pass, s->last_pass);
    }
    text_string(w->out, "\n      ],\n");
}

static void json_needs(json_writer *w, const vplan_kernel *k)
{
    static const struct { int32_t need; const char *feature; } all[] = {
        { VPLAN_NEEDS_int64, "shaderInt64" }, { VPLAN_NEEDS_8bit, "storageBuffer8BitAccess" },
        { VPLAN_NEEDS_16bit, "storageBuffer16BitAccess" }, { VPLAN_NEEDS_image_extended, "shaderStorageImageExtendedFormats" } };
    int n = 0;
    text_string(w->out, "      \"features\": [");
    for (size_t j = 0; j < sizeof all / sizeof *all; j++)
        if (k->needs & all[j].need) text_printf(w->out, "%s\"%s\"", n++ ? ", " : "", all[j].feature);
    text_string(w->out, "],\n");
}

static void json_kernel(json_writer *w, int number, const char *file)
{
    const vplan_kernel *k = &w->plan.kernels[number];
    text_string(w->out, "{\n      \"spirv\": ");
    quoted(w->out, file);
    text_string(w->out, ",\n      \"entry\": \"main\",\n");
    json_needs(w, k);
    text_string(w->out, "      \"sinks\": [");
    for (int j = 0; j < k->n_sinks; j++) text_printf(w->out, "%s%d", j ? ", " : "", w->plan.sinks[k->first_sink + j]);
    text_string(w->out, "],\n");
    json_bindings(w, k);
    json_push(w, k);
    json_constants(w, k);
    text_string(w->out, "      \"workgroup\": [\"invocations\", 1, 1],\n"
                        "      \"dispatch\": [\"(last[0] - first[0]) / tile_width + 1\", ");
    text_printf(w->out, "\"%s\", \"%s\"]\n    }", k->rank > 1 ? "(last[1] - first[1]) / tile_height + 1" : "1",
                k->rank > 2 ? "product over d = 2.. of (last[d] - first[d] + 1)" : "1");
}

void vulkan_json(const vulkan_module *module, tensor_pipe *p, const char *const *spv_files, text *out)
{
    json_writer w = { .out = out, .p = p };
    plan_open(module->code.plan, &w.plan);
    text_printf(out, "{\n  \"pipe\": \"%s\",\n", p->name);
    json_values(&w);
    json_memories(&w);
    text_string(out, "  \"kernels\": [");
    for (int k = 0; k < w.plan.header->n_kernels; k++) {
        next(out, k, "    ");
        json_kernel(&w, k, spv_files[k]);
    }
    text_string(out, "\n  ]\n}\n");
}

uint32_t vulkan_kernel_count(const vulkan_module *module) { return (uint32_t)((const vplan_header *)module->code.plan)->n_kernels; }

const uint32_t *vulkan_kernel_words(const vulkan_module *module, uint32_t kernel, size_t *n_words)
{
    vulkan_plan plan;
    plan_open(module->code.plan, &plan);
    *n_words = (size_t)plan.kernels[kernel].n_code_words;
    return module->code.spirv + plan.kernels[kernel].first_code;
}
