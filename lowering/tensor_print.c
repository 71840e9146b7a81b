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

#include "lowering/body.h"
#include "lowering/tensor.h"
#include "lowering/tensor_text.h"

const char *const tensor_coord_names[TENSOR_MAX_RANK] = { "x", "y", "z", "u", "v" };
static const char *const fold_form_names[] = { "loop", "conv", "image_sum", "median" };

typedef struct binding { const char *name; uint32_t fold; uint8_t op, index; } binding;

typedef struct printer {
    const tensor_pipe *pipe;
    arena *memory;
    text *out;
    body body;
    uint32_t stage;
    LIST(const char *) dim_names;
    LIST(uint32_t) locals;                /* number in the body -> number in the text */
    uint32_t n_locals;
    LIST(binding) bindings;               /* binders and accs in scope */
    const tensor_remark *remarks;
    uint32_t n_remarks;
} printer;

/* ---- small pieces ---------------------------------------------------------------------------- */

static void indent(printer *w, int depth)
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

static void print_type(printer *w, type t)
{
    text_string(w->out, t.kind < KIND_COUNT ? kind_get(t.kind)->name : "?");
    if (t.lanes != 1)
        text_printf(w->out, "x%d", t.lanes);
}

/* Bare where the kind is known from the outside. */
static void print_bits(printer *w, kind k, uint32_t bits)
{
    scalar value = scalar_of_bits(k, bits);
    if (!kind_is_float(k))
        text_printf(w->out, "%" PRId64, value.i);
    else if (isfinite(value.f))
        text_f32(w->out, value.f);
    else
        text_printf(w->out, "0x%08" PRIx32, bits);
}

/* As an operand the kind must be seen: `5` is i32, `5.0` f32, all else says its kind. */
static void print_const(printer *w, kind k, uint32_t bits)
{
    bool bare = k == KIND_i32 || (k == KIND_f32 && isfinite(scalar_of_bits(k, bits).f));
    if (!bare)
        text_printf(w->out, "%s(", kind_get(k)->name);
    print_bits(w, k, bits);
    if (!bare)
        text_string(w->out, ")");
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

static void print_remarks(printer *w, uint32_t stage, ref node, int depth)
{
    for (uint32_t k = 0; k < w->n_remarks; k++)
        if (w->remarks[k].stage == stage && w->remarks[k].node == node) {
            indent(w, depth);
            text_printf(w->out, "; ^ error E0901: %s\n", w->remarks[k].message);
        }
}

/* ---- leaves and uniform expressions -------------------------------------------------------------- */

static void print_binding(printer *w, const tensor_node *n)
{
    for (uint32_t k = w->bindings.count; k-- > 0;) {
        const binding *b = &w->bindings.items[k];
        if (b->fold == n->payload && b->op == n->op && b->index == n->index) {
            text_printf(w->out, "%%%s", b->name);
            return;
        }
    }
    text_printf(w->out, "%%stray_%s.%u.%d", op_get(n->op)->name, n->payload, n->index);
}

static void print_leaf(printer *w, const tensor_node *n)
{
    const tensor_pipe *p = w->pipe;
    switch (n->op) {
    case OP_const: print_const(w, n->type.kind, n->payload); break;
    case OP_param: text_printf(w->out, "@%s", n->payload < p->params.count ? p->params.items[n->payload].name : "?"); break;
    case OP_dim:   text_string(w->out, n->payload < p->dims.count ? w->dim_names.items[n->payload] : "?"); break;
    case OP_coord: text_printf(w->out, "%%%s", tensor_coord_names[n->index]); break;
    default:       print_binding(w, n); break;
    }
}

static bool is_leaf(const tensor_node *n)
{
    return n->n_args == 0 && n->op != OP_load && n->op != OP_result;
}

static bool is_constant_i32(const tensor_pipe *p, ref r, int64_t *value)
{
    return node_is_const(p, r, value) && node_type(p, r).kind == KIND_i32;
}

/* 2 for a product, 1 for a sum written infix; 3 for all else. `a - 5` is the sum of a and -5. */
static int precedence(const tensor_pipe *p, ref r)
{
    const tensor_node *n = node_at(p, r);
    int64_t value;
    if (!type_equal(n->type, type_of(KIND_i32, 1)))
        return 3;
    if (n->op == OP_sub)
        return is_constant_i32(p, node_arg(p, r, 1), &value) ? 3 : 1;
    return n->op == OP_add ? 1 : n->op == OP_mul ? 2 : 3;
}

static void print_uniform(printer *w, ref r, int at_least);

static void print_call(printer *w, ref r)
{
    const tensor_node *n = node_at(w->pipe, r);
    text_string(w->out, op_get(n->op)->name);
    if (op_get(n->op)->class == CLASS_TYP)
        text_printf(w->out, ".%s", kind_get(n->type.kind)->name);
    else if (n->op == OP_splat || n->op == OP_comp)
        text_printf(w->out, ".%d", n->op == OP_comp ? n->index : n->type.lanes);
    text_string(w->out, "(");
    for (int k = 0; k < n->n_args; k++) {
        text_string(w->out, k ? ", " : "");
        print_uniform(w, node_arg(w->pipe, r, k), 1);
    }
    text_string(w->out, ")");
}

static void print_infix(printer *w, ref r, int own)
{
    const tensor_node *n = node_at(w->pipe, r);
    ref right = node_arg(w->pipe, r, 1);
    int64_t value;
    print_uniform(w, node_arg(w->pipe, r, 0), own);
    if (n->op == OP_add && is_constant_i32(w->pipe, right, &value) && value < 0 && value != INT32_MIN) {
        text_printf(w->out, " - %" PRId64, -value);
        return;
    }
    text_string(w->out, n->op == OP_add ? " + " : n->op == OP_sub ? " - " : " * ");
    print_uniform(w, right, own + 1);
}

/* In parentheses when it binds less than `at_least`. */
static void print_uniform(printer *w, ref r, int at_least)
{
    const tensor_node *n = node_at(w->pipe, r);
    int own = precedence(w->pipe, r);
    if (r == 0 || n->op == OP_load || n->op == OP_result)
        text_string(w->out, "?");
    else if (is_leaf(n))
        print_leaf(w, n);
    else if (own == 3)
        print_call(w, r);
    else {
        text_string(w->out, own < at_least ? "(" : "");
        print_infix(w, r, own);
        text_string(w->out, own < at_least ? ")" : "");
    }
}

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

/* ---- bodies ------------------------------------------------------------------------------------ */

static void print_operand(printer *w, ref r)
{
    const tensor_node *n = node_at(w->pipe, r);
    if (r && is_leaf(n)) {
        print_leaf(w, n);
        return;
    }
    uint32_t number = r ? body_number(&w->body, r) : BODY_NONE;
    if (number == BODY_NONE)
        text_string(w->out, "?");
    else
        text_printf(w->out, "%%%u", w->locals.items[number]);
}

static void name_local(printer *w, uint32_t number)
{
    while (w->locals.count <= number)
        LIST_PUSH(w->memory, w->locals, 0);
    w->locals.items[number] = w->n_locals++;
}

static void print_load(printer *w, ref r)
{
    const tensor_node *n = node_at(w->pipe, r);
    const tensor_stage *s = stage_at(w->pipe, n->payload);
    bool bordered = false;
    for (int k = 0; k < s->rank; k++)
        bordered = bordered || n->border[k] != BORDER_none;
    text_printf(w->out, " %%%s", s->name);
    for (int k = 0; bordered && k < s->rank; k++) {
        text_string(w->out, k ? ", " : " [");
        text_string(w->out, border_name(n->border[k]));
        if (n->border[k] == BORDER_value) {
            text_string(w->out, " ");
            print_operand(w, load_outside(w->pipe, r, k));
        }
    }
    text_string(w->out, bordered ? "] (" : " (");
    for (int k = 0; k < s->rank; k++) {
        text_string(w->out, k ? ", " : "");
        print_operand(w, load_index(w->pipe, r, k));
    }
    text_string(w->out, ")");
}

static void print_node(printer *w, uint32_t number, int depth)
{
    ref r = w->body.nodes.items[number].node;
    const tensor_node *n = node_at(w->pipe, r);
    name_local(w, number);
    indent(w, depth);
    text_printf(w->out, "%%%u = %s ", w->locals.items[number], op_get(n->op)->name);
    print_type(w, n->type);
    if (n->op == OP_load) {
        print_load(w, r);
    } else {
        for (int k = 0; k < n->n_args; k++) {
            text_string(w->out, k ? ", " : " ");
            print_operand(w, node_arg(w->pipe, r, k));
        }
        if (n->op == OP_comp)
            text_printf(w->out, " index=%d", n->index);
    }
    text_string(w->out, "\n");
    print_remarks(w, w->stage, r, depth);
}

/* ---- folds ----------------------------------------------------------------------------------- */

static bool name_in_scope(const printer *w, const char *name)
{
    for (int k = 0; k < TENSOR_MAX_RANK; k++)
        if (strcmp(tensor_coord_names[k], name) == 0)
            return true;
    for (uint32_t k = 0; k < w->bindings.count; k++)
        if (strcmp(w->bindings.items[k].name, name) == 0)
            return true;
    return false;
}

static void bind(printer *w, const char *wanted, tensor_op op, uint32_t fold, int index)
{
    const char *name = wanted;
    for (int k = 1; name_in_scope(w, name); k++)
        name = arena_printf(w->memory, "%s.%d", wanted, k);
    LIST_PUSH(w->memory, w->bindings, ((binding){ name, fold, (uint8_t)op, (uint8_t)index }));
}

static const char *binder_name(const tensor_fold *fold, int k)
{
    static const char *const plain[TENSOR_MAX_BINDERS] = { "i", "j", "k", "l", "m", "n", "o", "p" };
    return fold->binder_names[k] ? fold->binder_names[k] : plain[k];
}

static void print_results(printer *w, const body_scope *scope, int n_accs)
{
    for (int k = 0; k < n_accs; k++) {
        text_string(w->out, k ? ", " : "");
        if (scope->results[k] == BODY_NONE) {
            text_string(w->out, "_");
            continue;
        }
        name_local(w, scope->results[k]);
        text_printf(w->out, "%%%u", w->locals.items[scope->results[k]]);
    }
}

static void print_fold_head(printer *w, uint32_t scope_number, uint32_t f)
{
    const tensor_fold *fold = fold_at(w->pipe, f);
    print_results(w, &w->body.scopes.items[scope_number], fold->n_accs);
    text_printf(w->out, " = fold %s (", fold_form_names[fold->form]);
    for (int k = 0; k < fold->n_binders; k++) {
        bind(w, binder_name(fold, k), OP_binder, f, k);
        text_printf(w->out, "%s%%%s in ", k ? ", " : "", w->bindings.items[w->bindings.count - 1].name);
        print_uniform(w, fold->lo[k], 1);
        text_string(w->out, "..");
        print_uniform(w, fold->hi[k], 1);
    }
    text_string(w->out, ") acc ");
    for (int k = 0; k < fold->n_accs; k++) {
        text_string(w->out, k ? ", " : "");
        print_type(w, node_type(w->pipe, fold->init[k]));
        bind(w, "acc", OP_acc, f, k);
        text_printf(w->out, " %%%s = ", w->bindings.items[w->bindings.count - 1].name);
        print_operand(w, fold->init[k]);
    }
    text_string(w->out, " {\n");
}

static void print_scope(printer *w, uint32_t scope_number, int depth);

static void print_fold(printer *w, uint32_t scope_number, int depth)
{
    uint32_t f = w->body.scopes.items[scope_number].fold, n_bindings = w->bindings.count;
    const tensor_fold *fold = fold_at(w->pipe, f);
    indent(w, depth);
    print_fold_head(w, scope_number, f);
    print_scope(w, scope_number, depth + 1);
    indent(w, depth + 1);
    text_string(w->out, "next ");
    for (int k = 0; k < fold->n_accs; k++) {
        text_string(w->out, k ? ", " : "");
        print_operand(w, fold->next[k]);
    }
    text_string(w->out, "\n");
    indent(w, depth);
    text_string(w->out, "}\n");
    w->bindings.count = n_bindings;
    for (int k = 0; k < fold->n_accs; k++) {
        uint32_t number = w->body.scopes.items[scope_number].results[k];
        if (number != BODY_NONE)
            print_remarks(w, w->stage, w->body.nodes.items[number].node, depth);
    }
}

/* A fold stands where the first of its results does. */
static bool runs_here(const printer *w, uint32_t number, uint32_t *scope)
{
    *scope = body_fold_scope(&w->body, node_at(w->pipe, w->body.nodes.items[number].node)->payload);
    const uint32_t *results = w->body.scopes.items[*scope].results;
    for (int k = 0; k < TENSOR_MAX_ACCS; k++)
        if (results[k] < number)
            return false;
    return true;
}

static void print_where(printer *w, const body_scope *scope, int depth)
{
    ref where = scope->fold ? fold_at(w->pipe, scope->fold)->where : 0;
    if (!where)
        return;
    indent(w, depth);
    text_string(w->out, "where ");
    print_operand(w, where);
    text_string(w->out, "\n");
}

static void print_scope(printer *w, uint32_t scope_number, int depth)
{
    const body_scope *scope = &w->body.scopes.items[scope_number];
    for (uint32_t k = 0; k <= scope->nodes.count; k++) {
        if (k == scope->n_where)
            print_where(w, scope, depth);
        if (k == scope->nodes.count)
            break;
        uint32_t number = scope->nodes.items[k], inner;
        const tensor_node *n = node_at(w->pipe, w->body.nodes.items[number].node);
        if (is_leaf(n))
            continue;
        if (n->op != OP_result)
            print_node(w, number, depth);
        else if (runs_here(w, number, &inner))
            print_fold(w, inner, depth);
    }
}

/* ---- stages and the pipe ----------------------------------------------------------------------- */

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
    if (s->body) {
        body_clear(&w->body);
        body_add(&w->body, s->body);
        w->n_locals = 0;
        print_scope(w, 0, 2);
        text_string(w->out, "    yield ");
        print_operand(w, s->body);
        text_string(w->out, "\n");
    }
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
    text_printf(w->out, "pipeline 1 @%s%s", p->name, p->strict ? " strict" : "");
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
