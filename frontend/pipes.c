/* SPDX-License-Identifier: MIT
 * Pipes: inputs, parameters and outputs, of the pipe that is compiled and of pipes that it calls. */
#include <math.h>
#include <string.h>

#include "frontend/builder.h"
#include "frontend/size_checks.h"

/* ---- extents ------------------------------------------------------------------------------------------------------- */

static ref dim_symbol(builder *b, const char *name, uint32_t stage, int dimension)
{
    tensor_dim d = { .name = name, .stage = stage, .dimension = (uint8_t)dimension };
    LIST_PUSH(b->pipe->memory, b->pipe->dims, d);
    return tensor_dim_node(b->pipe, b->pipe->dims.count - 1);
}

typedef struct extent_request { const expr *e; ref actual; const char *array; int dimension; } extent_request;

/* A stated extent against the actual one: `_` says nothing, a new name becomes the extent, all else has to be equal. */
static bool bind_extent(builder *b, const extent_request *r)
{
    const expr *e = strip_parens(r->e);
    if (e->kind == EXPR_NAME && strcmp(e->name, "_") == 0)
        return true;
    const module *home;
    if (e->kind == EXPR_NAME && !scope_find(b, e->name)) {
        const item *constant = find_item(b->script, b->scope->module, e->name, NAMES_values, &home);
        if (!constant || home->is_prelude)
            return scope_define(b, b->scope, e->name, SYMBOL_parameter, scalar_value(b, r->actual), e->where);
    }
    ref stated = uniform_i32(b, e, "an extent");
    if (!stated)
        return false;
    int32_t difference;
    if (!linear_difference(b->pipe, stated, r->actual, &difference)) {
        require(b, tensor_op2(b->pipe, OP_eq, stated, r->actual), DIAG_E0603, e->where,
                "dimension %d of `%s` has to be %s", r->dimension, r->array, uniform_text(b, stated));
        return true;
    }
    if (difference != 0)
        fail(b, DIAG_E0506, e->where, "dimension %d of `%s` is %s, not %s", r->dimension, r->array, uniform_text(b, r->actual),
             uniform_text(b, stated));
    return difference == 0;
}

/* ---- ranges ----------------------------------------------------------------------------------------------------------- */

typedef struct limits { bool given, half_open; double lo, hi; value first, last; } limits;

static bool end_value(builder *b, const expr *e, type t, value *v, double *out)
{
    float f;
    int64_t whole;
    *v = convert_implicit(b, evaluate(b, e), type_of((kind)t.kind, 1), e->where, "the end of a range");
    if (is_error(*v))
        return false;
    if (node_is_const(b->pipe, v->node, &whole))
        *out = (double)whole;
    else if (kind_is_float(t.kind) && node_at(b->pipe, v->node)->op == OP_const) {
        f = scalar_of_bits(KIND_f32, node_at(b->pipe, v->node)->payload).f;
        *out = f;
    } else {
        fail(b, DIAG_E0505, e->where, "the range of a parameter or input is made of constants");
        return false;
    }
    return true;
}

static bool read_limits(builder *b, const parameter *p, type t, limits *out)
{
    *out = (limits){ 0 };
    if (!p->in)
        return true;
    if (!p->in->last || t.kind == KIND_bool) {
        fail(b, DIAG_E0505, p->in->where, p->in->last ? "a bool has no range" : "a range needs two ends: a..b");
        return false;
    }
    if (!end_value(b, p->in->first, t, &out->first, &out->lo) || !end_value(b, p->in->last, t, &out->last, &out->hi))
        return false;
    out->given = true;
    out->half_open = p->in->half_open;
    if (out->half_open && kind_is_integer(t.kind)) {
        out->half_open = false;
        out->hi -= 1;
        out->last = scalar_value(b, constant_of(b, (kind)t.kind, out->hi));
    }
    if (!(out->lo <= out->hi)) {
        fail(b, DIAG_E0505, p->in->where, "this range is empty");
        return false;
    }
    return true;
}

/* An image with a range: values outside are clamped as they are loaded. */
static value clamp_image(builder *b, value im, const limits *range, span where)
{
    value low[2] = { im, range->first };
    value raised = lift(b, pixel_minmax, low, 2, OP_max, where);
    value high[2] = { raised, range->last };
    return lift(b, pixel_minmax, high, 2, OP_min, where);
}

/* ---- inputs and parameters of the pipe that is compiled ------------------------------------------------------------------ */

static value input_image(builder *b, uint32_t s, span where, const char *name)
{
    const tensor_stage stage = *stage_at(b->pipe, s);
    content *c = content_new(b, stage.rank, stage.type, where);
    for (int k = 0; k < stage.rank; k++) {
        c->lo[k] = stage.lo[k];
        c->hi[k] = stage.hi[k];
    }
    c->name = name;
    c->stage = s;
    ref at[TENSOR_MAX_RANK];
    for (int k = 0; k < stage.rank; k++)
        at[k] = tensor_coord(b->pipe, k);
    c->body = tensor_load(b->pipe, s, at, NULL, NULL, stage.type);
    return content_value(b, c);
}

/* A number or constant as extent makes constant bounds; the actual extent is then only checked. */
static bool input_bounds(builder *b, const parameter *p, uint32_t s)
{
    tensor_pipe *t = b->pipe;
    for (int k = 0; k < stage_at(t, s)->rank; k++) {
        const expr *e = p->type->is_image ? NULL : strip_parens(p->type->extents.items[k]);
        bool named = e && e->kind == EXPR_NAME && strcmp(e->name, "_") != 0 && !scope_find(b, e->name) &&
                     !is_compile_time_name(b, e->name);
        ref actual = dim_symbol(b, named ? e->name : arena_printf(b->memory, "%s.%d", p->name, k), s, k), extent = actual;
        extent_request request = { e, actual, p->name, k };
        if (e && !bind_extent(b, &request))
            return false;
        if (e && !named && !(e->kind == EXPR_NAME && strcmp(e->name, "_") == 0))
            extent = uniform_i32(b, e, "an extent");
        int64_t known;
        if (!extent || (node_is_const(t, extent, &known) && known < 1)) {
            fail(b, DIAG_E0506, p->type->where, "an extent is at least 1");
            return false;
        }
        stage_at(t, s)->lo[k] = tensor_i32(t, 0);
        stage_at(t, s)->hi[k] = node_sub(b, extent, tensor_i32(t, 1));
    }
    return true;
}

static void declare_input(builder *b, const parameter *p, type t)
{
    limits range;
    int rank = p->type->is_image ? 2 : (int)p->type->extents.count;
    value v = error_value();
    if (rank > TENSOR_MAX_RANK) {
        fail(b, DIAG_E0506, p->type->where, "an array has at most %d dimensions", TENSOR_MAX_RANK);
    } else {
        uint32_t s = tensor_stage_new(b->pipe, STAGE_input, tensor_unique_name(b->pipe, p->name), t, rank, p->where);
        b->pipe->n_inputs++;
        list_grow(b->memory, &b->stage_pixels, 1, s + 1);
        while (b->stage_pixels.count <= s)
            b->stage_pixels.items[b->stage_pixels.count++] = 1;
        stage_at(b->pipe, s)->doc = p->doc;
        stage_at(b->pipe, s)->is_image = p->type->is_image;
        if (p->value)
            fail(b, DIAG_E0502, p->value->where, "an image has no default");
        if (input_bounds(b, p, s) && read_limits(b, p, t, &range)) {
            v = input_image(b, s, p->where, p->name);
            stage_at(b->pipe, s)->has_range = range.given;
            stage_at(b->pipe, s)->range_lo = range.lo;
            stage_at(b->pipe, s)->range_hi = range.hi;
        }
    }
    scope_define(b, b->scope, p->name, SYMBOL_parameter, v, p->where);
}

/* Inputs are stages before all others, so the clamps come after the last of them. */
static void clamp_input(builder *b, const parameter *p, type t)
{
    limits range;
    symbol *y = scope_find(b, p->name);
    if (!p->in || !y || !is_image(y->value) || !read_limits(b, p, t, &range))
        return;
    b->defining = p->name;
    y->value = clamp_image(b, y->value, &range, p->where);
    if (is_image(y->value)) {
        y->value.image->content->name = p->name;
        content_stage(b, y->value.image->content);
    }
}

static bool read_default(builder *b, const parameter *p, const limits *range, tensor_param *out)
{
    if (!p->value)
        return true;
    value v = convert_implicit(b, evaluate(b, p->value), out->type, p->value->where, arena_printf(b->memory, "the default of `%s`", p->name));
    if (is_error(v))
        return false;
    for (int k = 0; k < out->type.lanes; k++) {
        ref component = tensor_comp(b->pipe, v.node, k);
        if (!is_scalar(v) || node_at(b->pipe, component)->op != OP_const) {
            fail(b, DIAG_E0502, p->value->where, "the default of a parameter is a constant");
            return false;
        }
        out->value[k] = node_at(b->pipe, component)->payload;
        scalar s = scalar_of_bits((kind)out->type.kind, out->value[k]);
        double number = kind_is_float(out->type.kind) ? (double)s.f : (double)s.i;
        if (range->given && !(number >= range->lo && (range->half_open ? number < range->hi : number <= range->hi))) {
            fail(b, DIAG_E0502, p->value->where, "the default of `%s` is outside of its range", p->name);
            return false;
        }
    }
    out->has_default = true;
    return true;
}

static void declare_parameter(builder *b, const parameter *p, type t)
{
    limits range;
    value v = error_value();
    tensor_param out = { .name = p->name, .doc = p->doc, .type = t, .where = p->where };
    if (read_limits(b, p, t, &range) && read_default(b, p, &range, &out)) {
        out.has_range = range.given;
        out.half_open = range.half_open;
        out.lo = range.lo;
        out.hi = range.hi;
        LIST_PUSH(b->pipe->memory, b->pipe->params, out);
        v = scalar_value(b, tensor_param_node(b->pipe, b->pipe->params.count - 1));
    }
    scope_define(b, b->scope, p->name, SYMBOL_parameter, v, p->where);
}

static bool is_array(const parameter *p)
{
    return p->type->is_image || p->type->extents.count > 0;
}

static void declare_all(builder *b, const item *pipe)
{
    type t;
    for (int pass = 0; pass < 3; pass++)               /* images, then their clamps, then numbers */
        for (uint32_t k = 0; k < pipe->params.count; k++) {
            const parameter *p = &pipe->params.items[k];
            if (!p->type) {
                if (pass == 0) {
                    fail(b, DIAG_E0501, p->where, "the parameter `%s` of a pipe needs a type", p->name);
                    diag_help(b->d, "%s: image u8x3, or %s: f32", p->name, p->name);
                    scope_define(b, b->scope, p->name, SYMBOL_parameter, error_value(), p->where);
                }
                continue;
            }
            if (is_array(p) == (pass == 2))
                continue;
            if (pass != 1 && !resolve_type(b, p->type, &t)) {
                scope_define(b, b->scope, p->name, SYMBOL_parameter, error_value(), p->where);
                continue;
            }
            if (pass == 0)
                declare_input(b, p, t);
            else if (pass == 2)
                declare_parameter(b, p, t);
            else if (find_type(p->type->element, &t))
                clamp_input(b, p, t);
        }
}

/* ---- outputs --------------------------------------------------------------------------------------------------------------- */

static bool check_extents(builder *b, const output *o, const content *c, const char *name)
{
    for (uint32_t k = 0; !o->type->is_image && k < o->type->extents.count; k++) {
        const expr *e = strip_parens(o->type->extents.items[k]);
        if (e->kind == EXPR_NAME && strcmp(e->name, "_") == 0)
            continue;
        extent_request r = { e, node_extent(b, c->lo[k], c->hi[k]), name, (int)k };
        ref stated = uniform_i32(b, e, "an extent");
        if (!stated || !bind_extent(b, &r))
            return false;
    }
    return true;
}

/* A returned value as what the output states: an image of exactly that type and number of dimensions. */
static value output_image(builder *b, const output *o, value v, span where)
{
    type t;
    const char *name = o->name ? o->name : "the result";
    if (is_error(v) || !resolve_type(b, o->type, &t))
        return error_value();
    int rank = o->type->is_image ? 2 : (int)o->type->extents.count;
    if (rank == 0) {
        fail(b, DIAG_E0504, o->type->where, "an output is an image or an array");
        diag_help(b->d, "write `image %s`, or `%s[1]` for a single value", o->type->element, o->type->element);
        return error_value();
    }
    if (!is_image(v) || v.image->content->rank != rank)
        return fail(b, DIAG_E0504, where, "%s is %s, and has to be %s of %d dimension%s", name, value_words(b, v),
                    o->type->is_image ? "an image" : "an array", rank, rank == 1 ? "" : "s");
    v = convert_implicit(b, v, t, where, name);
    if (is_image(v) && v.image->padded)
        v = lift(b, pixel_convert, &v, 1, t.kind, where);       /* an output has no outside, but the type with its pad's values */
    return is_error(v) || !check_extents(b, o, v.image->content, name) ? error_value() : v;
}

static void check_output_size(builder *b, const content *c, span where)
{
    for (int k = 0; k < c->rank; k++) {
        int known = known_less_equal(b, c->lo[k], c->hi[k]);
        if (known == 0) {
            fail(b, DIAG_E0305, where, "this output is empty: along dimension %d it would go from %s to %s", k,
                 uniform_text(b, c->lo[k]), uniform_text(b, c->hi[k]));
            return;
        }
        if (known < 0)
            require(b, tensor_op2(b->pipe, OP_le, c->lo[k], c->hi[k]), DIAG_E0602, where,
                    "this output is empty at this size: along dimension %d it would go from %s to %s", k,
                    uniform_text(b, c->lo[k]), uniform_text(b, c->hi[k]));
    }
}

/* Every output is a stage of its own; an input or a stage that is an output already is copied. */
static uint32_t output_stage(builder *b, value v, const char *name)
{
    content *c = v.image->content;
    bool taken = c->stage && stage_at(b->pipe, c->stage)->kind != STAGE_compute;
    for (uint32_t k = 0; c->stage && k < b->pipe->outputs.count; k++)
        taken = taken || b->pipe->outputs.items[k].stage == c->stage;
    if (!taken && !c->name)
        c->name = name;
    if (c->elements)
        content_stage(b, c);
    if (!taken && content_stage(b, c) && stage_at(b->pipe, c->stage)->kind == STAGE_compute)
        return c->stage;
    return stage_new(b, name, c, content_body(b, c));
}

static void declare_outputs(builder *b, const item *pipe, const block_result *result)
{
    if (!result->returned) {
        if (!b->gave_up)
            fail(b, DIAG_E0503, pipe->name_where, "the pipe `%s` doesn't return anything", pipe->name);
        return;
    }
    if ((uint32_t)result->count != pipe->outputs.count) {
        fail(b, DIAG_E0503, result->count ? result->where[0] : pipe->name_where, "the pipe `%s` has %u output%s, but returns %d value%s",
             pipe->name, pipe->outputs.count, pipe->outputs.count == 1 ? "" : "s", result->count, result->count == 1 ? "" : "s");
        return;
    }
    for (uint32_t k = 0; k < pipe->outputs.count; k++) {
        const output *o = &pipe->outputs.items[k];
        value v = output_image(b, o, result->values[k], result->where[k]);
        if (is_error(v))
            continue;
        check_output_size(b, v.image->content, result->where[k]);
        const char *name = o->name ? o->name : "out";
        tensor_output out = { .name = name, .stage = output_stage(b, v, name), .is_image = o->type->is_image };
        LIST_PUSH(b->pipe->memory, b->pipe->outputs, out);
    }
}

/* ---- calling a pipe ------------------------------------------------------------------------------------------------------------ */

static value image_argument(builder *b, const parameter *p, value v, type t, span where)
{
    limits range;
    int rank = p->type->is_image ? 2 : (int)p->type->extents.count;
    if (!is_image(v) || v.image->content->rank != rank || !type_equal(v.image->content->type, t)) {
        value error = fail(b, DIAG_E0507, where, "`%s` is %s of %s with %d dimension%s, not %s", p->name,
                           p->type->is_image ? "an image" : "an array", type_name(b, t), rank, rank == 1 ? "" : "s", value_words(b, v));
        if (is_image(v) && v.image->content->rank == rank && v.type.lanes == t.lanes)
            diag_help(b->d, "a pipe takes exactly its types; convert it: %s(%s)", kind_get((kind)t.kind)->name, written_text(b, where));
        return error;
    }
    v = move_to_origin(b, v.image, false, where);
    for (uint32_t k = 0; !is_error(v) && k < p->type->extents.count; k++) {
        const content *c = v.image->content;
        extent_request r = { p->type->extents.items[k], node_extent(b, c->lo[k], c->hi[k]), p->name, (int)k };
        if (!bind_extent(b, &r))
            return error_value();
    }
    if (is_error(v) || !read_limits(b, p, t, &range) || !range.given)
        return v;
    return clamp_image(b, v, &range, where);
}

/* What is known when the script is compiled is an error, what depends on parameters is checked before the run. */
bool check_in_range(builder *b, const parameter *p, value v, span where)
{
    tensor_pipe *t = b->pipe;
    int64_t known;
    if (!p->in || !is_scalar(v) || !node_is_uniform(t, v.node))
        return true;
    if (!p->in->last) {
        fail(b, DIAG_E0505, p->in->where, "a range needs two ends: a..b");
        return false;
    }
    value ends[2] = { evaluate_scalar(b, p->in->first, "the end of a range"), evaluate_scalar(b, p->in->last, "the end of a range") };
    for (int k = 0; k < v.type.lanes; k++) {
        value low[2] = { ends[0], scalar_value(b, tensor_comp(t, v.node, k)) }, high[2] = { low[1], ends[1] };
        if (!unify(b, RULE_comparison, low, 2, where) || !unify(b, RULE_comparison, high, 2, where))
            return false;
        ref holds = tensor_op2(t, OP_and, tensor_op2(t, OP_le, low[0].node, low[1].node),
                               tensor_op2(t, p->in->half_open ? OP_lt : OP_le, high[0].node, high[1].node));
        const char *format = "`%s` is %s, outside of its range %s..%s%s";
        const char *given = uniform_text(b, low[1].node), *first = uniform_text(b, ends[0].node), *last = uniform_text(b, ends[1].node);
        if (node_is_const(t, holds, &known) && !known) {
            fail(b, DIAG_E0507, where, format, p->name, given, first, p->in->half_open ? "<" : "", last);
            return false;
        }
        require(b, holds, DIAG_E0607, where, format, p->name, given, first, p->in->half_open ? "<" : "", last);
    }
    return true;
}

static value number_argument(builder *b, const parameter *p, value v, type t, span where)
{
    limits range;
    v = convert_implicit(b, v, t, where, arena_printf(b->memory, "`%s`", p->name));
    if (is_error(v) || !read_limits(b, p, t, &range))
        return error_value();
    if (is_image(v))
        return fail(b, DIAG_E0507, where, "`%s` is one %s, not %s", p->name, type_name(b, t), value_words(b, v));
    if (range.given && !node_is_uniform(b->pipe, v.node))
        return fail(b, DIAG_E0507, where, "`%s` has a range, so its value has to be known before the first pixel is computed", p->name);
    return check_in_range(b, p, v, where) ? v : error_value();
}

static void bind_pipe_argument(builder *b, const parameter *p, value v, span where)
{
    type t;
    if (!is_error(v) && (!p->type || !resolve_type(b, p->type, &t)))
        v = error_value();
    if (!is_error(v))
        v = is_array(p) ? image_argument(b, p, v, t, where) : number_argument(b, p, v, t, where);
    scope_define(b, b->scope, p->name, SYMBOL_parameter, v, p->where);
}

static value called_outputs(builder *b, const item *pipe, const block_result *result)
{
    if (!result->returned || (uint32_t)result->count != pipe->outputs.count)
        return b->gave_up ? error_value()
                          : fail(b, DIAG_E0503, pipe->name_where, "the pipe `%s` has %u output%s, but returns %d value%s", pipe->name,
                                 pipe->outputs.count, pipe->outputs.count == 1 ? "" : "s", result->count, result->count == 1 ? "" : "s");
    output_values *all = ARENA_NEW(b->memory, output_values);
    *all = (output_values){ .pipe = pipe, .count = result->count };
    all->names = ARENA_ARRAY(b->memory, const char *, all->count);
    all->values = ARENA_ARRAY(b->memory, value, all->count);
    for (int k = 0; k < all->count; k++) {
        const output *o = &pipe->outputs.items[k];
        value v = output_image(b, o, result->values[k], result->where[k]);
        all->names[k] = o->name;
        all->values[k] = is_error(v) ? v : move_to_origin(b, v.image, false, result->where[k]);
    }
    return all->count == 1 ? all->values[0] : (value){ .kind = VALUE_outputs, .outputs = all };
}

value call_pipe(builder *b, const item *pipe, const module *home, const expr *e)
{
    enum { MAX_PARAMETERS = 64 };
    const char *names[MAX_PARAMETERS] = { 0 };
    const argument *slots[MAX_PARAMETERS];
    value values[MAX_PARAMETERS];
    int n = (int)pipe->params.count, required = 0;
    if (n > MAX_PARAMETERS)
        return fail(b, DIAG_E0207, e->where, "a pipe that is called has at most %d parameters", MAX_PARAMETERS);
    for (int k = 0; k < n; k++) {
        names[k] = pipe->params.items[k].name;
        required = pipe->params.items[k].value ? required : k + 1;
    }
    if (!bind_arguments(b, &e->call.args, names, n, required, slots, pipe->name, e->where))
        return error_value();
    for (int k = 0; k < n; k++)
        if (slots[k])
            values[k] = slots[k]->is_function ? fail(b, DIAG_E0224, slots[k]->where, "a function can only be given to pad")
                                              : evaluate(b, slots[k]->value);
    scope *caller = b->scope;
    const char *defining = b->defining, *indexed_name = b->indexed_name;
    b->indexed_name = NULL;
    b->scope = NULL;
    scope_push(b, false)->module = home;
    for (int k = 0; k < n; k++) {
        const parameter *p = &pipe->params.items[k];
        bind_pipe_argument(b, p, slots[k] ? values[k] : evaluate(b, p->value), slots[k] ? slots[k]->where : p->where);
    }
    block_result result = { 0 };
    run_block(b, &pipe->body, &result, false);
    value v = called_outputs(b, pipe, &result);
    b->scope = caller;
    b->defining = defining;
    b->indexed_name = indexed_name;
    return v;
}

/* ---- one pipe from beginning to end ------------------------------------------------------------------------------------------------ */

static bool read_annotations(builder *b, const item *pipe)
{
    bool strict = false;
    for (uint32_t k = 0; k < pipe->annotations.count; k++) {
        const annotation *a = &pipe->annotations.items[k];
        if (strcmp(a->name, "strict") == 0 && a->args.count == 0) {
            strict = true;
            continue;
        }
        fail(b, DIAG_E0215, a->where, strcmp(a->name, "strict") == 0 ? "@%s takes no arguments" : "there is no @%s before a pipe", a->name);
        diag_note(b->d, "@strict before a pipe: nothing is contracted");
    }
    return strict;
}

static void verify(builder *b, const item *pipe)
{
    text problems = { 0 };
    if (!tensor_verify(b->pipe, &problems))
        fail(b, DIAG_E0901, pipe->name_where, "the compiler made wrong code of this (please report it): %s",
             problems.bytes ? problems.bytes : "");
    text_free(&problems);
}

tensor_pipe *script_lower(script *s, uint32_t which)
{
    const item *pipe = script_pipe(s, which);
    if (!pipe || s->n_errors > 0)
        return NULL;
    check_names(s);
    uint32_t n_errors = s->d->n_errors;
    builder b = { .script = s, .memory = s->memory, .d = s->d, .pipe = tensor_pipe_new(s->memory, pipe->name) };
    call here = { .item = pipe };
    b.calls = &here;
    b.pipe->doc = pipe->doc;
    b.pipe->where = pipe->name_where;
    coordinates_push(&b, 0);
    scope_push(&b, false)->module = s->modules.items[0];
    b.pipe->strict = read_annotations(&b, pipe);
    block_result result = { 0 };
    declare_all(&b, pipe);
    run_block(&b, &pipe->body, &result, false);
    if (!b.gave_up)
        declare_outputs(&b, pipe, &result);
    check_reads(&b, b.at);
    if (s->d->n_errors == n_errors) {
        check_sizes(&b);
        verify(&b, pipe);
    }
    return s->d->n_errors == n_errors && !s->has_doubles ? b.pipe : NULL;
}
