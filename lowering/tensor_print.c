/* SPDX-License-Identifier: MIT
 * Tensor IR as text. Canonical: what prints the same means the same, and tensor_parse gives back what was printed, byte for
 * byte. One op per line in a stage's body, leaves written in place; uniform expressions (bounds, checks) written inline.
 *
 *   pipeline 1 @blur {
 *     param @radius i32 = 2 in 0..9
 *     dim W = %src[0]
 *     input %src u8 (0..W - 1) image
 *     stage %mean f32 (0..W - 1) {
 *       %0 = fold loop (%i in -1..1) acc f32 %acc = 0.0 {
 *         %1 = add i32 %x, %i
 *         %2 = load f32 %src [edge] (%1)
 *         %3 = add f32 %acc, %2
 *         next %3
 *       }
 *       yield %0
 *     }
 *     output %mean as "out" image
 *   }
 *
 * Nodes that the verifier wouldn't pass still print: that is when one wants to see them. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "lowering/tensor_print.h"

/* ---- small pieces ---------------------------------------------------------------------------- */

void print_indent(printer *w, int depth)
{
    text_printf(w->out, "%*s", 2 * depth, "");
}

static void print_string(printer *w, const char *string)
{
    text_string(w->out, "\"");
    for (const unsigned char *c = (const unsigned char *)string; *c; c++) {
        if (*c == '"' || *c == '\\')
            text_printf(w->out, "\\%c", *c);
        else if (*c == '\n')
            text_string(w->out, "\\n");
        else if (*c < ' ')
            text_printf(w->out, "\\x%02x", *c);
        else
            text_printf(w->out, "%c", *c);
    }
    text_string(w->out, "\"");
}

static void print_doc(printer *w, const char *doc)
{
    if (!doc)
        return;
    text_string(w->out, " doc ");
    print_string(w, doc);
}

void print_type(printer *w, type t)
{
    text_string(w->out, t.kind < KIND_COUNT ? kind_get(t.kind)->name : "?");
    if (t.lanes != 1)
        text_printf(w->out, "x%d", t.lanes);
}

void print_bits(printer *w, kind k, uint32_t bits)
{
    scalar value = scalar_of_bits(k, bits);
    if (!kind_is_float(k))
        text_printf(w->out, "%" PRId64, value.i);
    else if (isfinite(value.f))
        text_f32(w->out, value.f);
    else
        text_printf(w->out, "0x%08" PRIx32, bits);
}

/* A bound of a range: whole numbers as such, else as the f32 that it is, else its bits. */
static void print_real(printer *w, double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    if (fabs(value) < 1e15 && value == floor(value) && !(value == 0 && signbit(value)))
        text_printf(w->out, "%" PRId64, (int64_t)value);
    else if (isfinite(value) && (double)(float)value == value)
        text_f32(w->out, (float)value);
    else
        text_printf(w->out, "0x%016" PRIx64, bits);
}

static void print_range(printer *w, double lo, double hi, bool half_open)
{
    text_string(w->out, " in ");
    print_real(w, lo);
    text_string(w->out, half_open ? "..<" : "..");
    print_real(w, hi);
}

void print_remarks(printer *w, uint32_t stage, ref node, int depth)
{
    for (uint32_t k = 0; k < w->n_remarks; k++)
        if (w->remarks[k].stage == stage && w->remarks[k].node == node) {
            print_indent(w, depth);
            text_printf(w->out, "; ^ error E0901: %s\n", w->remarks[k].message);
        }
}

/* ---- stages and the pipe ----------------------------------------------------------------------- */

static void print_bounds(printer *w, const tensor_stage *s)
{
    text_string(w->out, " (");
    for (int k = 0; k < s->rank; k++) {
        text_string(w->out, k ? ", " : "");
        print_uniform(w, s->lo[k], 1);
        text_string(w->out, "..");
        print_uniform(w, s->hi[k], 1);
    }
    text_string(w->out, ")");
}

static void print_table(printer *w, const tensor_stage *s)
{
    int64_t n_words = s->type.lanes, row, lo = 0, hi = 0;
    for (int k = 0; k < s->rank; k++)
        if (node_is_const(w->pipe, s->lo[k], &lo) && node_is_const(w->pipe, s->hi[k], &hi))
            n_words *= hi - lo + 1;
    row = s->rank && node_is_const(w->pipe, s->lo[0], &lo) && node_is_const(w->pipe, s->hi[0], &hi) ? hi - lo + 1 : 1;
    row *= s->type.lanes;
    text_string(w->out, " {");
    for (int64_t k = 0; s->words && k < n_words; k++) {
        text_string(w->out, k == 0 ? "\n    " : k % row == 0 ? ",\n    " : ", ");
        print_bits(w, s->type.kind, s->words[k]);
    }
    text_string(w->out, "\n  }\n");
}

static void print_input(printer *w, const tensor_stage *s)
{
    text_string(w->out, s->is_image ? " image" : "");
    if (s->has_range)
        print_range(w, s->range_lo, s->range_hi, false);
    print_doc(w, s->doc);
    text_string(w->out, "\n");
}

static void print_compute(printer *w, const tensor_stage *s)
{
    text_string(w->out, s->materialize ? " materialize" : "");
    text_string(w->out, s->inline_hint ? " inline" : "");
    if (s->tile_width)
        text_printf(w->out, " tile %d %d", s->tile_width, s->tile_height);
    text_string(w->out, " {\n");
    if (s->body)
        print_body(w, s->body);
    text_string(w->out, "  }\n");
}

static void print_stage(printer *w, uint32_t number)
{
    static const char *const words[] = { [STAGE_input] = "input", [STAGE_table] = "table", [STAGE_compute] = "stage" };
    const tensor_stage *s = stage_at(w->pipe, number);
    w->stage = number;
    text_printf(w->out, "  %s %%%s ", words[s->kind], s->name);
    print_type(w, s->type);
    print_bounds(w, s);
    if (s->kind == STAGE_input)
        print_input(w, s);
    else if (s->kind == STAGE_table)
        print_table(w, s);
    else
        print_compute(w, s);
    print_remarks(w, number, 0, 1);
}

static void print_param(printer *w, const tensor_param *param)
{
    text_printf(w->out, "  param @%s ", param->name);
    print_type(w, param->type);
    for (int k = 0; param->has_default && k < param->type.lanes; k++) {
        text_string(w->out, k ? ", " : " = ");
        print_bits(w, param->type.kind, param->value[k]);
    }
    if (param->has_range)
        print_range(w, param->lo, param->hi, param->half_open);
    print_doc(w, param->doc);
    text_string(w->out, "\n");
}

/* Extents without a name of their own, or with the same, still need one here. */
static void name_dims(printer *w)
{
    for (uint32_t k = 0; k < w->pipe->dims.count; k++) {
        const char *wanted = w->pipe->dims.items[k].name ? w->pipe->dims.items[k].name : "n", *name = wanted;
        for (uint32_t same = 0, try = 1; same < k; same++)
            if (strcmp(w->dim_names.items[same], name) == 0) {
                name = arena_printf(w->memory, "%s.%u", wanted, try++);
                same = UINT32_MAX;               /* from the start again */
            }
        LIST_PUSH(w->memory, w->dim_names, name);
    }
}

static void print_tail(printer *w)
{
    const tensor_pipe *p = w->pipe;
    for (uint32_t k = 0; k < p->checks.count; k++) {
        const tensor_check *check = &p->checks.items[k];
        text_printf(w->out, "  check %s %s ", check->is_parameter ? "parameter" : "size", diag_code_name(check->code));
        print_uniform(w, check->condition, 1);
        text_string(w->out, " ");
        print_string(w, check->message ? check->message : "");
        text_string(w->out, "\n");
    }
    for (uint32_t k = 0; k < p->outputs.count; k++) {
        const tensor_output *output = &p->outputs.items[k];
        text_printf(w->out, "  output %%%s as ", output->stage < p->stages.count ? stage_at(p, output->stage)->name : "?");
        print_string(w, output->name);
        text_string(w->out, output->is_image ? " image" : "");
        print_doc(w, output->doc);
        text_string(w->out, "\n");
    }
}

static void print_pipe(printer *w)
{
    const tensor_pipe *p = w->pipe;
    text_printf(w->out, "pipeline 1 @%s%s%s", p->name, p->strict ? " strict" : "", p->no_fma ? " no_fma" : "");
    print_doc(w, p->doc);
    text_string(w->out, " {\n");
    print_remarks(w, 0, 0, 1);
    name_dims(w);
    for (uint32_t k = 0; k < p->params.count; k++)
        print_param(w, &p->params.items[k]);
    for (uint32_t k = 0; k < p->dims.count; k++)
        text_printf(w->out, "  dim %s = %%%s[%d]\n", w->dim_names.items[k],
                    p->dims.items[k].stage < p->stages.count ? stage_at(p, p->dims.items[k].stage)->name : "?",
                    p->dims.items[k].dimension);
    for (uint32_t s = 1; s < p->stages.count; s++)
        print_stage(w, s);
    print_tail(w);
    text_string(w->out, "}\n");
}

void tensor_print_remarks(const tensor_pipe *p, const tensor_remark *remarks, uint32_t n_remarks, text *out)
{
    jmp_buf no_memory;
    arena *memory = arena_new(NULL);
    if (!memory || setjmp(no_memory)) {
        out->failed = true;
        arena_free(memory);
        return;
    }
    arena_set_failure(memory, &no_memory);
    printer w = { .pipe = p, .memory = memory, .out = out, .remarks = remarks, .n_remarks = n_remarks };
    body_begin(&w.body, memory, p);
    w.body.skip_bounds = true;
    print_pipe(&w);
    arena_free(memory);
}

void tensor_print(const tensor_pipe *p, text *out)
{
    tensor_print_remarks(p, NULL, 0, out);
}
