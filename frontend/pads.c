/* SPDX-License-Identifier: MIT
 * pad(a, ...): who answers outside of an image. A view; with sizes it is a larger image instead. */
#include <string.h>

#include "frontend/builder.h"

typedef struct mode_name { const char *name; border mode; } mode_name;

static const mode_name modes[] = {
    { "edge", BORDER_edge }, { "replicate", BORDER_edge }, { "clamp", BORDER_edge },
    { "reflect", BORDER_reflect }, { "symmetric", BORDER_reflect }, { "reflect101", BORDER_reflect101 },
    { "wrap", BORDER_wrap }, { "zero", BORDER_value }, { "constant", BORDER_value }, { "none", BORDER_none },
};

enum { N_MODES = sizeof modes / sizeof *modes, N_NAMED = N_MODES - 1 /* `none` isn't written */ };

static border find_mode(const char *name)
{
    for (int k = 0; k < N_NAMED; k++)
        if (strcmp(modes[k].name, name) == 0)
            return modes[k].mode;
    return BORDER_COUNT;
}

static bool unknown_mode(builder *b, const char *name, span where)
{
    const char *names[N_NAMED];
    for (int k = 0; k < N_NAMED; k++)
        names[k] = modes[k].name;
    fail(b, DIAG_E0218, where, name ? "there is no border mode `%s`" : "this is no border mode", name);
    const char *near = name ? nearest_name(name, names, N_NAMED) : NULL;
    if (near)
        diag_help(b->d, "did you mean `%s`?", near);
    else
        diag_note(b->d, "modes are edge, reflect, reflect101, wrap, zero, constant(v) and fn(x, y) = e");
    return false;
}

static bool constant_mode(builder *b, const expr *e, pad_axis *out)
{
    const argument_list *args = &e->call.args;
    if (args->count != 1 || args->items[0].name || args->items[0].is_function) {
        fail(b, DIAG_E0207, e->where, "constant(v) takes the value outside");
        return false;
    }
    out->constant = evaluate_scalar(b, args->items[0].value, "the value outside");
    if (is_scalar(out->constant) && !node_is_closed(b, out->constant.node)) {
        fail(b, DIAG_E0226, e->where, "the value outside is the same everywhere, but this changes from pixel to pixel");
        diag_help(b->d, "fn(x, y) = e gives a value for each place outside");
        return false;
    }
    return !is_error(out->constant);
}

static bool read_mode(builder *b, const argument *a, pad_axis *out)
{
    *out = (pad_axis){ 0 };
    if (a->is_function) {
        *out = (pad_axis){ .mode = BORDER_value, .function = a, .scope = b->scope };
        return true;
    }
    const expr *e = strip_parens(a->value);
    if (e->kind == EXPR_CALL && strcmp(e->call.name, "constant") == 0) {
        out->mode = BORDER_value;
        return constant_mode(b, e, out);
    }
    if (e->kind != EXPR_NAME)
        return unknown_mode(b, NULL, e->where);
    border mode = find_mode(e->name);
    if (strcmp(e->name, "constant") == 0) {
        fail(b, DIAG_E0218, e->where, "`constant` needs the value outside: constant(0)");
        return false;
    }
    if (mode == BORDER_COUNT)
        return unknown_mode(b, e->name, e->where);
    out->mode = (uint8_t)mode;
    if (mode == BORDER_value) {
        out->constant = scalar_value(b, tensor_i32(b->pipe, 0));
        out->constant.literal = true;
    }
    return true;
}

/* ---- arguments --------------------------------------------------------------------------------------------------------- */

typedef struct pad_request {
    image *im;
    bool   sized, has_mode;
    ref    before[TENSOR_MAX_RANK], after[TENSOR_MAX_RANK];      /* how much larger; 0: not at all */
} pad_request;

static const char *const side_names[] = { "left", "right", "top", "bottom" };
static const char *const axis_names[] = { "x", "y", "z", "w", "v" };

static int index_in(const char *const *names, int n, const char *name)
{
    for (int k = 0; k < n; k++)
        if (strcmp(names[k], name) == 0)
            return k;
    return -1;
}

static ref read_amount(builder *b, const argument *a)
{
    ref amount = uniform_i32(b, a->value, "the size of a pad");
    int64_t known;
    if (!amount)
        return 0;
    if (node_is_const(b->pipe, amount, &known) && known < 0) {
        fail(b, DIAG_E0310, a->where, "a pad makes an image larger, so its size isn't negative (crop makes it smaller)");
        return 0;
    }
    require(b, tensor_op2(b->pipe, OP_le, tensor_i32(b->pipe, 0), amount), DIAG_E0608, a->where, "the size of this pad, %s, is negative",
            uniform_text(b, amount));
    return amount;
}

static bool pad_positional(builder *b, pad_request *r, const argument *a, int position)
{
    int rank = r->im->content->rank;
    if (position == 1) {
        pad_axis mode;
        if (!read_mode(b, a, &mode))
            return false;
        for (int k = 0; k < rank; k++)
            r->im->axis[k] = mode;
        r->has_mode = true;
        return true;
    }
    if (position > 2) {
        fail(b, DIAG_E0207, a->where, "`pad` takes an image, a mode and a size");
        return false;
    }
    ref amount = read_amount(b, a);
    for (int k = 0; k < rank && k < 2; k++)                 /* the picture grows, not how many of them there are */
        r->before[k] = r->after[k] = amount;
    r->sized = true;
    return amount != 0;
}

static bool pad_named(builder *b, pad_request *r, const argument *a)
{
    int rank = r->im->content->rank, axis = index_in(axis_names, TENSOR_MAX_RANK, a->name), side = index_in(side_names, 4, a->name);
    if (axis >= 0 && axis < rank) {
        r->has_mode = true;
        return read_mode(b, a, &r->im->axis[axis]);
    }
    if (side < 0 || side / 2 >= rank) {
        fail(b, DIAG_E0208, a->where, "`pad` has no argument named `%s`", a->name);
        diag_note(b->d, "axes: x: mode, y: mode; sizes: left, right, top, bottom");
        return false;
    }
    ref amount = read_amount(b, a);
    *(side % 2 ? &r->after[side / 2] : &r->before[side / 2]) = amount;
    r->sized = true;
    return amount != 0;
}

/* ---- the result ---------------------------------------------------------------------------------------------------------- */

/* Nothing can be repeated, mirrored or wrapped around an empty image. */
static void check_not_empty(builder *b, const image *im, span where)
{
    for (int k = 0; k < im->content->rank; k++) {
        int mode = im->axis[k].mode;
        if (mode == BORDER_none || mode == BORDER_value)
            continue;
        int known = known_less_equal(b, im->content->lo[k], im->content->hi[k]);
        if (known == 0)
            fail(b, DIAG_E0305, where, "this image is empty, so nothing of it can be repeated outside");
        else if (known < 0)
            require(b, tensor_op2(b->pipe, OP_le, im->content->lo[k], im->content->hi[k]), DIAG_E0604, where,
                    "this image is empty at this size, so nothing of it can be repeated outside");
    }
}

static value larger_image(builder *b, const pad_request *r, span where)
{
    const content *c = r->im->content;
    ref lo[TENSOR_MAX_RANK], hi[TENSOR_MAX_RANK], index[TENSOR_MAX_RANK];
    for (int k = 0; k < c->rank; k++) {
        lo[k] = r->before[k] ? node_sub(b, c->lo[k], r->before[k]) : c->lo[k];
        hi[k] = r->after[k] ? node_add(b, c->hi[k], r->after[k]) : c->hi[k];
        index[k] = tensor_coord(b->pipe, k);
    }
    stage_begin(b, c->rank, lo, hi);
    content *larger = stage_end(b, image_read(b, r->im, index, NULL, false, where), where);
    return larger ? content_value(b, larger) : error_value();
}

value builtin_pad(builder *b, const expr *e)
{
    const argument_list *args = &e->call.args;
    pad_request r = { 0 };
    if (args->count < 2 || args->items[0].name || args->items[0].is_function)
        return fail(b, DIAG_E0207, e->where, "`pad` takes an image and a mode, as in pad(src, edge)");
    value a = evaluate(b, args->items[0].value);
    if (is_error(a))
        return a;
    if (!is_image(a))
        return fail(b, DIAG_E0310, args->items[0].where, "only images and arrays have a border, not %s", value_words(b, a));
    r.im = ARENA_NEW(b->memory, image);
    r.im->content = a.image->content;
    int position = 1;
    for (uint32_t k = 1; k < args->count; k++) {
        const argument *arg = &args->items[k];
        if (!(arg->name ? pad_named(b, &r, arg) : pad_positional(b, &r, arg, position++)))
            return error_value();
    }
    if (!r.has_mode)
        return fail(b, DIAG_E0310, e->where, "`pad` needs a mode: what is outside?");
    for (int k = 0; k < r.im->content->rank; k++)
        r.im->padded = r.im->padded || r.im->axis[k].mode != BORDER_none;
    check_not_empty(b, r.im, e->where);
    value padded = image_value(b, r.im, e->where);
    if (!is_error(padded) && padded.type.lanes > r.im->content->type.lanes) {
        value bare = content_value(b, r.im->content);         /* pixels outside of an image of numbers: those are spread */
        int spread_type = r.im->content->type.kind | padded.type.lanes << 4;
        r.im->content = lift(b, pixel_convert, &bare, 1, spread_type, e->where).image->content;
    }
    return r.sized && !is_error(padded) ? larger_image(b, &r, e->where) : padded;
}
