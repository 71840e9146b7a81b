/* SPDX-License-Identifier: MIT
 * Images: content that grows by lifting, becomes a stage when it has to, and is read at coordinates. */
#include "frontend/builder.h"

/* ---- content ----------------------------------------------------------------------------------------------- */

content *content_new(builder *b, int rank, type t, span where)
{
    content *c = ARENA_NEW(b->memory, content);
    c->rank = (uint8_t)rank;
    c->type = t;
    c->where = where;
    return c;
}

value content_value(builder *b, content *c)
{
    image *im = ARENA_NEW(b->memory, image);
    im->content = c;
    return (value){ .kind = VALUE_image, .type = c->type, .image = im };
}

image *image_copy(builder *b, const image *im)
{
    image *copy = ARENA_NEW(b->memory, image);
    *copy = *im;
    return copy;
}

static ref load_at(builder *b, uint32_t stage, const ref *index)
{
    return tensor_load(b->pipe, stage, index, NULL, NULL, stage_at(b->pipe, stage)->type);
}

uint32_t stage_new(builder *b, const char *name, const content *c, ref body)
{
    tensor_pipe *p = b->pipe;
    uint32_t s = tensor_stage_new(p, STAGE_compute, tensor_unique_name(p, name), node_type(p, body), c->rank, c->where);
    tensor_stage *stage = stage_at(p, s);
    for (int k = 0; k < c->rank; k++) {
        stage->lo[k] = c->lo[k];
        stage->hi[k] = c->hi[k];
        check_extent(b, c->lo[k], c->hi[k], c->where);
    }
    stage->body = body;
    list_grow(b->memory, &b->stage_pixels, 1, s + 1);
    while (b->stage_pixels.count <= s)
        b->stage_pixels.items[b->stage_pixels.count++] = 0;
    b->stage_pixels.items[s] = node_uses_pixels(b, body);
    return s;
}

/* Unnamed images are called after the definition they stand in: name.1, name.2 ... */
static const char *derived_name(builder *b)
{
    return arena_printf(b->memory, "%s.%d", b->defining ? b->defining : "image", ++b->n_derived);
}

uint32_t content_stage(builder *b, content *c)
{
    if (c->stage)
        return c->stage;
    const char *name = c->name ? c->name : derived_name(b);
    c->stage = c->elements ? elements_stage(b, c, name) : stage_new(b, name, c, c->body);
    ref at[TENSOR_MAX_RANK];
    for (int k = 0; k < c->rank; k++)
        at[k] = tensor_coord(b->pipe, k);
    c->body = load_at(b, c->stage, at);
    return c->stage;
}

ref content_body(builder *b, content *c)
{
    if (!c->body)
        content_stage(b, c);
    return c->body;
}

bool content_uses_pixels(builder *b, content *c)
{
    if (c->elements) {
        bool found = false;
        for (uint32_t k = 0; k < element_count(b, c) && !found; k++)
            found = node_uses_pixels(b, c->elements[k].node);
        return found;
    }
    return node_uses_pixels(b, content_body(b, c));
}

/* ---- pads ------------------------------------------------------------------------------------------------------ */

/* What the pad of axis k says at outside coordinates `index`. */
static value outside_value(builder *b, const image *im, int axis, const ref *index, span where)
{
    const pad_axis *pad = &im->axis[axis];
    if (!pad->function)
        return pad->constant;
    ref moved[TENSOR_MAX_RANK];
    for (int k = 0; k < im->content->rank; k++)
        moved[k] = im->moved[k] ? node_add(b, index[k], im->moved[k]) : index[k];
    value v = call_closure(b, pad->function, pad->scope, moved, im->content->rank, where);
    if (!is_scalar(v) && !is_error(v))
        return fail(b, DIAG_E0310, pad->function->where, "a pad's function gives one pixel, not %s", value_words(b, v));
    return v;
}

/* The common type of the pixels and what the pads supply. A literal takes the pixels' type where it fits. */
static bool padded_type(builder *b, const image *im, const value *outside, type *t, span where)
{
    *t = im->content->type;
    for (int k = 0; k < im->content->rank; k++)
        if (im->axis[k].mode == BORDER_value) {
            if (is_error(outside[k]))
                return false;
            type other = outside[k].type;
            if (literal_fits(b, outside[k], (enum kind)t->kind))
                other.kind = t->kind;
            if (!common_type(b, *t, other, t, where))
                return false;
        }
    return true;
}

/* A function's type is found by trying it at unknown coordinates; what it reads there is forgotten again. */
static value sample_outside(builder *b, const image *im, int axis, span where)
{
    ref index[TENSOR_MAX_RANK];
    uint32_t n_reads = b->at->reads.count;
    for (int k = 0; k < im->content->rank; k++)
        index[k] = tensor_coord(b->pipe, k);
    value v = outside_value(b, im, axis, index, where);
    b->at->reads.count = n_reads;
    return v;
}

type image_type(builder *b, const image *im, span where)
{
    value outside[TENSOR_MAX_RANK] = { 0 };
    type t;
    for (int k = 0; k < im->content->rank; k++)
        if (im->axis[k].mode == BORDER_value)
            outside[k] = im->axis[k].function ? sample_outside(b, im, k, where) : im->axis[k].constant;
    return padded_type(b, im, outside, &t, where) ? t : type_of(KIND_COUNT, 1);
}

value image_value(builder *b, image *im, span where)
{
    type t = im->padded ? image_type(b, im, where) : im->content->type;
    if (t.kind == KIND_COUNT)
        return error_value();
    return (value){ .kind = VALUE_image, .type = t, .image = im };
}

value image_pixel(builder *b, const image *im)
{
    if (im->content->heavy)
        content_stage(b, im->content);
    return scalar_value(b, content_body(b, im->content));
}

/* ---- lifting -------------------------------------------------------------------------------------------------------- */

static bool is_kernel(builder *b, const value *v)
{
    return is_image(*v) && v->image->content->rank == 2 && !content_uses_pixels(b, v->image->content);
}

/* Kernels are combined tap by tap, so they have to have the same taps. */
static void check_kernels(builder *b, const content *a, const content *c, span where)
{
    for (int k = 0; k < 2; k++) {
        const char *message = "these kernels have different %s";
        const char *what = k == 0 ? "columns" : "rows";
        int64_t never;
        ref same = tensor_op2(b->pipe, OP_and, tensor_op2(b->pipe, OP_eq, normal(b, a->lo[k]), normal(b, c->lo[k])),
                              tensor_op2(b->pipe, OP_eq, normal(b, a->hi[k]), normal(b, c->hi[k])));
        int32_t d_lo, d_hi;
        if (linear_difference(b->pipe, a->lo[k], c->lo[k], &d_lo) && linear_difference(b->pipe, a->hi[k], c->hi[k], &d_hi) &&
            d_lo == 0 && d_hi == 0)
            continue;
        if (node_is_const(b->pipe, same, &never) && !never) {
            fail(b, DIAG_E0308, where, message, what);
            diag_note(b->d, "operators on kernels work tap by tap: both need the same size and the same origin");
            return;
        }
        require(b, same, DIAG_E0608, where, message, what);
    }
}

static bool meet_domains(builder *b, content *out, const value *operands, int n, span where)
{
    const value *first = NULL;
    for (int k = 0; k < n; k++) {
        if (!is_image(operands[k]))
            continue;
        content *c = operands[k].image->content;
        if (!first) {
            first = &operands[k];
            for (int d = 0; d < c->rank; d++) {
                out->lo[d] = c->lo[d];
                out->hi[d] = c->hi[d];
            }
            continue;
        }
        if (c->rank != out->rank) {
            fail(b, DIAG_E0304, where, "an operator can't combine %d and %d dimensions", out->rank, c->rank);
            return false;
        }
        if (first->image->content == c)
            continue;
        if (is_kernel(b, first) && is_kernel(b, &operands[k]))
            check_kernels(b, out, c, where);
        for (int d = 0; d < c->rank; d++) {
            out->lo[d] = normal(b, tensor_op2(b->pipe, OP_max, out->lo[d], c->lo[d]));
            out->hi[d] = normal(b, tensor_op2(b->pipe, OP_min, out->hi[d], c->hi[d]));
        }
    }
    return true;
}

static bool check_operand(builder *b, const value *v, bool images, span where)
{
    if (is_error(*v))
        return false;
    if (!is_scalar(*v) && !is_image(*v)) {
        fail(b, DIAG_E0224, where, "%s can't be an operand", value_words(b, *v));
        return false;
    }
    if (images && is_scalar(*v) && !node_is_closed(b, v->node)) {
        fail(b, DIAG_E0226, where, "this mixes a whole image with a value that changes from pixel to pixel");
        diag_help(b->d, "read the image at coordinates, as in src[x, y]");
        return false;
    }
    return true;
}

value lift(builder *b, pixel_function f, const value *operands, int n, intptr_t how, span where)
{
    int rank = -1;
    for (int k = 0; k < n; k++)
        if (is_image(operands[k]) && rank < 0)
            rank = operands[k].image->content->rank;
    for (int k = 0; k < n; k++)
        if (!check_operand(b, &operands[k], rank >= 0, where))
            return error_value();
    if (b->gave_up)
        return error_value();
    if (rank < 0)
        return f(b, operands, n, how, where);
    if (elements_apply(b, operands, n))
        return lift_elements(b, f, operands, n, how, where);
    content *out = content_new(b, rank, type_of(KIND_bool, 1), where);
    value pixels[MAX_OPERANDS];
    if (!meet_domains(b, out, operands, n, where))
        return error_value();
    for (int k = 0; k < n; k++) {
        pixels[k] = operands[k];
        if (is_image(operands[k])) {
            pixels[k] = image_pixel(b, operands[k].image);
            pixels[k] = spread(b, convert(b, pixels[k], (kind)operands[k].type.kind), operands[k].type.lanes);
        }
    }
    value pixel = f(b, pixels, n, how, where);
    if (is_error(pixel))
        return pixel;
    out->type = pixel.type;
    out->body = pixel.node;
    if (node_depth(b, out->body) > MAX_BODY_DEPTH)
        content_stage(b, out);
    return content_value(b, out);
}

/* ---- reading ----------------------------------------------------------------------------------------------------------- */

coordinates *coordinates_push(builder *b, int count)
{
    coordinates *at = ARENA_NEW(b->memory, coordinates);
    at->outer = b->at;
    at->count = count;
    b->at = at;
    return at;
}

void coordinates_pop(builder *b)
{
    b->at = b->at->outer;
}

void stage_begin(builder *b, int rank, const ref *lo, const ref *hi)
{
    coordinates *at = coordinates_push(b, rank);
    for (int k = 0; k < rank; k++) {
        at->lo[k] = lo[k];
        at->hi[k] = hi[k];
    }
}

content *stage_end(builder *b, value body, span where)
{
    coordinates *at = b->at;
    coordinates_pop(b);
    if (is_error(body))
        return NULL;
    check_reads(b, at);
    content *c = content_new(b, at->count, body.type, where);
    for (int k = 0; k < at->count; k++) {
        c->lo[k] = at->lo[k];
        c->hi[k] = at->hi[k];
    }
    c->body = body.node;
    return c;
}

/* Content that is only a body can be read at the coordinates at hand without becoming a stage. */
static bool is_same_place(builder *b, const content *c, const ref *index)
{
    for (int k = 0; k < c->rank; k++)
        if (index[k] != tensor_coord(b->pipe, k))
            return false;
    return true;
}

static ref load_padded(builder *b, const image *im, const ref *index, span where)
{
    uint8_t border[TENSOR_MAX_RANK];
    ref outside[TENSOR_MAX_RANK] = { 0 };
    value values[TENSOR_MAX_RANK] = { 0 };
    type t;
    for (int k = 0; k < im->content->rank; k++) {
        border[k] = im->axis[k].mode;
        if (border[k] == BORDER_value)
            values[k] = outside_value(b, im, k, index, where);
    }
    if (!padded_type(b, im, values, &t, where))
        return 0;
    for (int k = 0; k < im->content->rank; k++)
        if (border[k] == BORDER_value)
            outside[k] = spread(b, convert(b, values[k], (enum kind)t.kind), t.lanes).node;
    return tensor_load(b->pipe, content_stage(b, im->content), index, border, outside, t);
}

value image_read(builder *b, const image *im, const ref *index, const expr *const *written, bool proved, span where)
{
    content *c = im->content;
    value v;
    if (!im->padded && elements_at(b, c, index, &v))
        return v;
    read r = { .image = im, .where = where, .counts = b->at->in_condition == 0 };
    for (int k = 0; k < c->rank; k++) {
        r.index[k] = index[k];
        r.written[k] = written ? written[k] : NULL;
    }
    if (!proved)
        LIST_PUSH(b->memory, b->at->reads, r);
    if (!im->padded && !c->stage && c->body && is_same_place(b, c, index))
        return scalar_value(b, c->body);
    uint32_t stage = content_stage(b, c);
    ref load = im->padded ? load_padded(b, im, index, where) : load_at(b, stage, index);
    return load ? scalar_value(b, load) : error_value();
}

/* One i32 per dimension, from a value of any integer type; an index pixel's component `lane`. */
static ref index_node(builder *b, value v, int lane)
{
    return tensor_cast(b->pipe, v.type.lanes == 1 ? v.node : tensor_comp(b->pipe, v.node, lane), KIND_i32);
}

typedef struct index_request { const image *object; const expr *e; bool as_image; } index_request;

/* The pixel function behind a[i, j]: operands are the indices. Index pixels look up component by component. */
static value read_at(builder *b, const value *operands, int n, intptr_t how, span where)
{
    const index_request *request = (const index_request *)how;
    const expr *written[TENSOR_MAX_RANK];
    ref components[TENSOR_MAX_LANES], index[TENSOR_MAX_RANK];
    int lanes = 1;
    for (int k = 0; k < n; k++) {
        written[k] = request->e ? request->e->index.indices.items[k] : NULL;
        if (!kind_is_integer(operands[k].type.kind)) {
            value v = fail(b, DIAG_E0406, where, "an index is a whole number, not %s", type_name(b, operands[k].type));
            diag_help(b->d, "i32(v) rounds, i32(floor(v)) goes down");
            return v;
        }
        if (operands[k].type.lanes > 1)
            lanes = operands[k].type.lanes;
    }
    for (int lane = 0; lane < lanes; lane++) {
        for (int k = 0; k < n; k++)
            index[k] = index_node(b, operands[k], lane);
        value v = image_read(b, request->object, index, written, false, where);
        if (is_error(v))
            return v;
        if (lanes > 1 && v.type.lanes != 1 && v.type.lanes != lanes)
            return fail(b, DIAG_E0402, where, "an index of %d components into pixels of %d", lanes, v.type.lanes);
        components[lane] = lanes > 1 && v.type.lanes > 1 ? tensor_comp(b->pipe, v.node, lane) : v.node;
    }
    return scalar_value(b, lanes == 1 ? components[0] : tensor_vec(b->pipe, components, lanes));
}

/* curve[src]: every pixel of the index images is looked up, so a stage-like frame of coordinates checks the reads. */
static value look_up_image(builder *b, const value *indices, int n, index_request *request, span where)
{
    const content *place = NULL;
    for (int k = 0; k < n; k++)
        if (is_image(indices[k])) {
            place = indices[k].image->content;
            break;
        }
    coordinates *at = coordinates_push(b, place->rank);
    value v = lift(b, read_at, indices, n, (intptr_t)request, where);
    coordinates_pop(b);
    if (is_error(v))
        return v;
    for (int k = 0; k < place->rank; k++) {
        at->lo[k] = v.image->content->lo[k];
        at->hi[k] = v.image->content->hi[k];
    }
    check_reads(b, at);
    return v;
}

value index_image(builder *b, value object, const value *indices, int n, const expr *e)
{
    const image *im = object.image;
    if (n != im->content->rank) {
        value v = fail(b, DIAG_E0303, e->where, "`%s` has %d dimension%s, but is read with %d ind%s",
                       written_text(b, e->index.object->where), im->content->rank, im->content->rank == 1 ? "" : "s", n,
                       n == 1 ? "ex" : "ices");
        return v;
    }
    index_request request = { .object = im, .e = e };
    for (int k = 0; k < n; k++) {
        if (is_error(indices[k]))
            return error_value();
        if (!is_scalar(indices[k]) && !is_image(indices[k]))
            return fail(b, DIAG_E0406, e->where, "an index is a whole number, not %s", value_words(b, indices[k]));
        request.as_image = request.as_image || is_image(indices[k]);
    }
    if (request.as_image)
        return look_up_image(b, indices, n, &request, e->where);
    return read_at(b, indices, n, (intptr_t)&request, e->where);
}
