/* SPDX-License-Identifier: MIT
 * The schedule as text: `dispatch` (what lowering would fuse), `kernel` (what each kernel makes, where, and how far it reads),
 * `spirv` (the modules, disassembled), `explain` (for people: what was fused and cut, and why). */
#include "backends/vulkan/compile.h"
#include "backends/vulkan/images.h"

#include <spirv-tools/libspirv.h>
#include <string.h>

#include "lowering/plan_text.h"

static const char *name_of(vulkan_schedule *s, uint32_t stage) { return stage_at(s->pipe, stage)->name; }

/* ---- kernel ------------------------------------------------------------------------------------------------ */

static void span_text(char axis, const vulkan_span *x, text *out)
{
    const char *open = x->q == 1 ? "" : "(";
    text_printf(out, " %c %s%lld*%c", axis, open, (long long)x->p, axis);
    text_printf(out, " %lld..%lld", (long long)x->low, (long long)x->high);
    if (x->q != 1) text_printf(out, ")//%lld", (long long)x->q);
}

static void reach_text(vulkan_schedule *s, const vulkan_reach *r, text *out)
{
    text_printf(out, "    read %%%s %c (%d*%c + ", name_of(s, r->stage), r->axis ? 'y' : 'x', r->p, r->axis ? 'y' : 'x');
    range_text(s->pipe, r->lo, r->hi, out);
    text_printf(out, ")//%d %s from %s\n", r->q, border_name((border)r->border), r->producer >= 0 ? "workgroup" : "memory");
}

static void stage_text(vulkan_schedule *s, const vulkan_kernel *k, int stage, text *out)
{
    const vulkan_stage *c = &k->stages.items[stage];
    tensor_stage t = *stage_at(s->pipe, c->stage);
    text_printf(out, "  stage %%%s ", t.name);
    type_text(out, t.type);
    text_string(out, " (");
    for (int d = 0; d < t.rank; d++) {
        if (d) text_string(out, ", ");
        range_text(s->pipe, t.lo[d], t.hi[d], out);
    }
    if (c->sink) {
        text_string(out, ") to memory {\n");
    } else {
        text_printf(out, ") to workgroup words=%d pass=%d..%d", c->words, c->depth, c->last_depth);
        span_text('x', &c->span[0], out);
        if (t.rank > 1) span_text('y', &c->span[1], out);
        text_string(out, " {\n");
    }
    for (uint32_t j = 0; j < k->reaches.count; j++) if (k->reaches.items[j].reader == stage) reach_text(s, &k->reaches.items[j], out);
    text_string(out, "  }\n");
}

static const char *const SLOT_NAMES[] = { "value", "rect.lo", "rect.hi", "offset", "stride", "component" };

static void slots_text(vulkan_schedule *s, const vulkan_kernel *k, text *out)
{
    text_printf(out, "  slots %u in %s\n", k->slots.count, k->in_buffer ? "arguments" : "push constants");
    for (uint32_t j = 0; j < k->slots.count; j++) {
        const vplan_slot *slot = &k->slots.items[j];
        bool memory = slot->kind == VPLAN_SLOT_offset || slot->kind == VPLAN_SLOT_stride || slot->kind == VPLAN_SLOT_component;
        text_printf(out, "    %u %s ", j, SLOT_NAMES[slot->kind]);
        if (memory) text_printf(out, "%%%s", name_of(s, s->memories.items[slot->which].stage));
        else if (slot->kind == VPLAN_SLOT_value) expression_text(s->pipe, s->values.made_of.items[slot->which], out);
        else text_printf(out, slot->which < 0 ? "all" : "%d", slot->which);
        if (slot->kind != VPLAN_SLOT_value && slot->kind != VPLAN_SLOT_offset && slot->kind != VPLAN_SLOT_component)
            text_printf(out, " %d", slot->d);
        text_string(out, "\n");
    }
}

static void layout_text(vulkan_schedule *s, const vulkan_memory *m, text *out)
{
    if (m->layout != VPLAN_LAYOUT_interleaved) text_printf(out, " %s", vulkan_layout_name(m->layout));
    if (vulkan_is_image(m)) text_printf(out, " %s", vulkan_format_of(stage_at(s->pipe, m->stage)->type)->name);
}

static void kernel_text(vulkan_schedule *s, text *out)
{
    for (uint32_t k = 0; k < s->kernels.count; k++) {
        const vulkan_kernel *kernel = &s->kernels.items[k];
        text_printf(out, "kernel 1 @%s.%u bodies=%d granule=%d {\n", s->pipe->name, k, kernel->variants, kernel->granule);
        for (uint32_t j = 0; j < kernel->bindings.count; j++) {
            int memory = kernel->bindings.items[j].memory;
            text_printf(out, "  binding %u %s%s%s", j, memory < 0 ? "" : "%",
                        memory < 0 ? "arguments" : name_of(s, s->memories.items[memory].stage),
                        kernel->bindings.items[j].is_written ? " written" : "");
            if (memory >= 0) layout_text(s, &s->memories.items[memory], out);
            text_string(out, "\n");
        }
        slots_text(s, kernel, out);
        for (uint32_t j = 0; j < kernel->stages.count; j++) stage_text(s, kernel, (int)j, out);
        text_string(out, "}\n");
    }
}

/* ---- spirv --------------------------------------------------------------------------------------------------- */

static bool disassemble(const uint32_t *words, uint32_t n, text *out)
{
    spv_context context = spvContextCreate(SPV_ENV_VULKAN_1_1);
    spv_text made = NULL;
    spv_result_t result = spvBinaryToText(context, words, n, SPV_BINARY_TO_TEXT_OPTION_INDENT | SPV_BINARY_TO_TEXT_OPTION_FRIENDLY_NAMES
                                          | SPV_BINARY_TO_TEXT_OPTION_NO_HEADER, &made, NULL);
    if (result == SPV_SUCCESS) text_add(out, made->str, made->length);
    spvTextDestroy(made);
    spvContextDestroy(context);
    return result == SPV_SUCCESS;
}

static bool spirv_text(vulkan_schedule *s, text *out)
{
    bool good = true;
    for (uint32_t k = 0; k < s->kernels.count; k++)
        for (int words = 0; words < 2; words++) {
            const vulkan_kernel *kernel = &s->kernels.items[k];
            if (!kernel->code[words]) continue;
            text_printf(out, "; kernel %u of %s%s, %u words\n", k, s->pipe->name, words ? ", 8 and 16-bit memory by words" : "",
                        kernel->n_code[words]);
            good = disassemble(kernel->code[words], kernel->n_code[words], out) && good;
        }
    return good;
}

/* ---- explain --------------------------------------------------------------------------------------------------- */

/* Tables that depend on sizes and parameters alone are no dispatches over a picture. */
static bool is_table(vulkan_schedule *s, const vulkan_kernel *k)
{
    return s->plan.why[k->stages.items[k->stages.count - 1].stage] == CUT_table;
}

static const char *why_stored(vulkan_schedule *s, uint32_t stage)
{
    if (s->cut[stage] != VULKAN_CUT_none) return vulkan_cut_text(s->cut[stage]);
    return s->plan.why[stage] == CUT_none ? "" : cut_text(s->plan.why[stage]);
}

static uint32_t stored_for(vulkan_schedule *s, uint32_t stage)
{
    return s->cut[stage] != VULKAN_CUT_none ? s->cut_by[stage] : s->plan.because[stage];
}

static void explain_reads(vulkan_schedule *s, const vulkan_kernel *k, int stage, text *out)
{
    for (uint32_t j = 0; j < k->reaches.count; j++) {
        const vulkan_reach *r = &k->reaches.items[j];
        if (r->reader != stage) continue;
        char axis = r->axis ? 'y' : 'x';
        text_printf(out, "      reads `%s` at %c ", name_of(s, r->stage), axis);
        range_text(s->pipe, r->lo, r->hi, out);
        if (r->q != 1) text_printf(out, " of %d*%c, divided by %d", r->p, axis, r->q);
        else if (r->p != 1) text_printf(out, " of %d*%c", r->p, axis);
        if (r->border != BORDER_none) text_printf(out, "; border %s", border_name((border)r->border));
        text_string(out, "\n");
    }
}

/* Pixels that tiles of 32 x 32 compute for each that is needed. */
static double repeated(const vulkan_stage *c)
{
    double out = 1;
    for (int d = 0; d < 2; d++) {
        double needed = c->span[d].p ? 32.0 * (double)c->span[d].p / (double)c->span[d].q : 1;
        out *= (double)vulkan_most_pixels(&c->span[d], 32) / needed;
    }
    return out < 1 ? 1 : out;
}

static void explain_stage(vulkan_schedule *s, const vulkan_kernel *k, int stage, text *out)
{
    const vulkan_stage *c = &k->stages.items[stage];
    tensor_stage t = *stage_at(s->pipe, c->stage);
    text_printf(out, "    `%s` (", t.name);
    type_text(out, t.type);
    if (c->sink) {
        text_printf(out, "): stored, because %s", why_stored(s, c->stage));
        if (stored_for(s, c->stage)) text_printf(out, " (`%s`)", name_of(s, stored_for(s, c->stage)));
    } else {
        int64_t w = vulkan_most_pixels(&c->span[0], 32), h = vulkan_most_pixels(&c->span[1], 32);
        text_printf(out, "): in workgroup memory; a tile of 32x32 takes %lldx%lld of it, %lld bytes, and "
                    "computes %.2f pixels for one that is needed",
                    (long long)w, (long long)h, (long long)(4 * c->words * w * h), repeated(c));
    }
    text_string(out, "\n");
    explain_reads(s, k, stage, out);
}

static const char *bodies_text(const vulkan_schedule *s, const vulkan_kernel *k)
{
    if (k->variants == 4) return "bulk, sides and corners have bodies of their own";
    if (k->variants == 2) return "bulk and border have bodies of their own";
    if (!k->mapped[0] && !k->mapped[1]) return "one body: no read is outside";
    return s->options->force_border ? "one body, which maps every index" : "one body: border maps are a small part of it";
}

static void explain_text(vulkan_schedule *s, text *out)
{
    uint32_t n_tables = 0, number = 0;
    for (uint32_t k = 0; k < s->kernels.count; k++) n_tables += is_table(s, &s->kernels.items[k]);
    uint32_t n = s->kernels.count - n_tables;
    text_printf(out, "%s on vulkan: %u dispatch%s", s->pipe->name, n, n == 1 ? "" : "es");
    if (n_tables) text_printf(out, ", and %u for tables made once per run", n_tables);
    text_string(out, "\n");
    for (uint32_t k = 0; k < s->kernels.count; k++) {
        const vulkan_kernel *kernel = &s->kernels.items[k];
        if (is_table(s, kernel)) text_string(out, "  table\n");
        else text_printf(out, "  dispatch %u: %u stage%s, %d stored; %s\n", number++, kernel->stages.count,
                         kernel->stages.count == 1 ? "" : "s",
                         kernel->n_sinks, bodies_text(s, kernel));
        text_printf(out, "    %u words of SPIR-V, %u words of arguments in %s\n", kernel->n_code[0], kernel->slots.count,
                    kernel->in_buffer ? "a buffer" : "push constants");
        for (uint32_t j = 0; j < kernel->stages.count; j++) explain_stage(s, kernel, (int)j, out);
    }
    for (uint32_t k = 0; k < s->pipe->notes.count; k++)
        text_printf(out, "  `%s` %s\n", s->pipe->notes.items[k].stage, s->pipe->notes.items[k].text);
}

static void json_reads(vulkan_schedule *s, const vulkan_kernel *k, int stage, text *out)
{
    bool first = true;
    text_string(out, "[");
    for (uint32_t j = 0; j < k->reaches.count; j++) {
        const vulkan_reach *r = &k->reaches.items[j];
        if (r->reader != stage) continue;
        text_printf(out, "%s{\"from\": \"%s\", \"axis\": \"%c\", \"p\": %d, \"q\": %d, \"reach\": \"",
                    first ? "" : ", ", name_of(s, r->stage),
                    r->axis ? 'y' : 'x', r->p, r->q);
        range_text(s->pipe, r->lo, r->hi, out);
        text_printf(out, "\", \"border\": \"%s\"}", border_name((border)r->border));
        first = false;
    }
    text_string(out, "]");
}

static void json_kernel(vulkan_schedule *s, const vulkan_kernel *k, text *out)
{
    text_printf(out, "{\"table\": %s, \"bodies\": %d, \"spirv_words\": %u, \"spirv_words_by_words\": %u, "
                "\"arguments\": %u, \"arguments_in\": \"%s\", \"stages\": [",
                is_table(s, k) ? "true" : "false", k->variants, k->n_code[0], k->n_code[1], k->slots.count,
                k->in_buffer ? "buffer" : "push constants");
    for (uint32_t j = 0; j < k->stages.count; j++) {
        const vulkan_stage *c = &k->stages.items[j];
        text_printf(out, "%s{\"name\": \"%s\", \"stored\": %s, \"why\": \"%s\", \"workgroup_words\": %d, \"reads\": ",
                    j ? ", " : "", name_of(s, c->stage),
                    c->sink ? "true" : "false", c->sink ? why_stored(s, c->stage) : "", c->words);
        json_reads(s, k, (int)j, out);
        text_string(out, "}");
    }
    text_string(out, "]}");
}

static void explain_json(vulkan_schedule *s, text *out)
{
    text_printf(out, "{\"pipe\": \"%s\", \"on\": \"vulkan\", \"kernels\": [", s->pipe->name);
    for (uint32_t k = 0; k < s->kernels.count; k++) {
        if (k) text_string(out, ", ");
        json_kernel(s, &s->kernels.items[k], out);
    }
    text_string(out, "], \"notes\": [");
    for (uint32_t k = 0; k < s->pipe->notes.count; k++)
        text_printf(out, "%s{\"stage\": \"%s\", \"text\": \"%s\"}", k ? ", " : "", s->pipe->notes.items[k].stage,
                    s->pipe->notes.items[k].text);
    text_string(out, "]}\n");
}

bool vulkan_show(tensor_pipe *p, const vulkan_options *options, vulkan_text what, text *out, diags *d)
{
    if (!vulkan_layouts_fit(p, options->layouts, d)) return false;
    arena *memory = arena_scratch(p->memory);
    vulkan_schedule *s = vulkan_schedule_compiled(p, options, d, memory);
    bool good = true;
    switch (what) {
    case VULKAN_TEXT_dispatch:     dispatch_text(s->pipe, &s->plan, out); break;
    case VULKAN_TEXT_kernel:       kernel_text(s, out); break;
    case VULKAN_TEXT_spirv:        good = spirv_text(s, out); break;
    case VULKAN_TEXT_explain_json: explain_json(s, out); break;
    default:                       explain_text(s, out); break;
    }
    if (!good) diag_add(d, DIAG_E0910, p->where, "the SPIR-V can't be disassembled");
    arena_free(memory);
    return good;
}
