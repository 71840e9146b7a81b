/* SPDX-License-Identifier: MIT
 * conv(a, k, stride: s, dilation: d): correlation, component by component, rows of the kernel outermost. */
#include "frontend/builder.h"

typedef struct steps { int32_t along[2]; } steps;

static bool read_steps(builder *b, const argument *a, const char *what, steps *out)
{
    out->along[0] = out->along[1] = 1;
    if (!a)
        return true;
    value v = a->is_function ? error_value() : evaluate_scalar(b, a->value, what);
    if (!is_scalar(v))
        return false;
    for (int k = 0; k < 2; k++) {
        int64_t step;
        ref component = v.type.lanes == 1 ? v.node : tensor_comp(b->pipe, v.node, k);
        if (v.type.lanes > 2 || !kind_is_integer(v.type.kind) || !node_is_const(b->pipe, component, &step) || step < 1 || step > 65535) {
            fail(b, DIAG_E0311, a->where, "%s is a constant whole number from 1 on, or two of them: (2, 1)", what);
            return false;
        }
        out->along[k] = (int32_t)step;
    }
    return true;
}

/* Weights and pixels in one type: f32, unless both are integers. */
static bool is_integer_conv(value a, value k)
{
    return !kind_is_float(a.type.kind) && !kind_is_float(k.type.kind);
}

/* A literal kernel beside a u32 image becomes one of u32 where it fits. */
static value fit_kernel(builder *b, value k, value a, span where)
{
    const content *c = k.image->content;
    if (a.type.kind != KIND_u32 || !c->elements)
        return k;
    for (uint32_t e = 0; e < element_count(b, c); e++)
        if (!literal_fits(b, c->elements[e], KIND_u32))
            return k;
    return lift(b, pixel_convert, &k, 1, KIND_u32, where);
}

/* Where conv(a, k)[stride * x] exists. */
static bool conv_domain(builder *b, const image *a, const content *k, const steps *stride, const steps *dilation, ref *lo, ref *hi,
                        span where)
{
    for (int n = 0; n < a->content->rank; n++) {
        lo[n] = a->content->lo[n];
        hi[n] = a->content->hi[n];
        if (n >= 2)
            continue;
        if (a->axis[n].mode == BORDER_none) {
            lo[n] = node_sub(b, lo[n], node_scale(b, k->lo[n], dilation->along[n]));
            hi[n] = node_sub(b, hi[n], node_scale(b, k->hi[n], dilation->along[n]));
        }
        lo[n] = ceil_div(b, lo[n], stride->along[n]);
        hi[n] = floor_div(b, hi[n], stride->along[n]);
        if (known_less_equal(b, lo[n], hi[n]) == 0) {
            fail(b, DIAG_E0305, where, "nothing is left: the image has %s pixels along %s, the kernel %s",
                 uniform_text(b, node_extent(b, a->content->lo[n], a->content->hi[n])), n == 0 ? "x" : "y",
                 uniform_text(b, node_extent(b, k->lo[n], k->hi[n])));
            diag_help(b->d, "say what is outside: conv(pad(a, edge), k)");
            return false;
        }
    }
    return true;
}

/* The sum over the taps as a FOLD_conv; pushes nothing, the coordinates at hand are those of the new stage. */
static value conv_fold(builder *b, const image *a, const image *k, const steps *stride, const steps *dilation, span where)
{
    tensor_pipe *p = b->pipe;
    uint32_t fold = tensor_fold_new(p, FOLD_conv, 2, 1);
    fold_opened(b, fold);
    ref kernel_at[2], index[TENSOR_MAX_RANK];
    for (int n = 0; n < 2; n++) {                           /* binder 0 is y, outermost */
        fold_at(p, fold)->lo[n] = k->content->lo[1 - n];
        fold_at(p, fold)->hi[n] = k->content->hi[1 - n];
        fold_at(p, fold)->binder_names[n] = n == 0 ? "j" : "i";
        kernel_at[1 - n] = tensor_binder(p, fold, n);
    }
    for (int n = 0; n < a->content->rank; n++) {
        index[n] = tensor_coord(p, n);
        if (n < 2)
            index[n] = node_add(b, node_scale(b, index[n], stride->along[n]), node_scale(b, kernel_at[n], dilation->along[n]));
    }
    value pair[2] = { image_read(b, k, kernel_at, NULL, true, where), image_read(b, a, index, NULL, true, where) };
    fold_closed(b);
    if (is_error(pair[0]) || is_error(pair[1]) ||
        !unify(b, is_integer_conv(pair[1], pair[0]) ? RULE_arithmetic : RULE_float, pair, 2, where))
        return error_value();
    type t = pair[0].type;
    bool floating = t.kind == KIND_f32;
    ref acc = tensor_acc(p, fold, 0, t), next;
    if (floating) {
        next = tensor_op3(p, OP_muladd, pair[0].node, pair[1].node, acc);
    } else {
        ref product = tensor_op2(p, OP_mul, pair[0].node, pair[1].node);
        warn_overflow(b, "this convolution", fold, product, where);
        next = tensor_op2(p, OP_add, acc, product);
    }
    ref init = tensor_splat(p, constant_of(b, (kind)t.kind, floating ? -0.0 : 0), t.lanes);
    fold_at(p, fold)->init[0] = init;
    fold_at(p, fold)->next[0] = next;
    return scalar_value(b, tensor_result(p, fold, 0));
}

static bool check_operands(builder *b, value a, value k, const argument *const *slots)
{
    if (is_error(a) || is_error(k))
        return false;
    if (!is_image(a) || a.image->content->rank < 2) {
        fail(b, DIAG_E0311, slots[0]->where, "conv works on images, not on %s", value_words(b, a));
        return false;
    }
    if (!is_image(k) || k.image->content->rank != 2) {
        fail(b, DIAG_E0311, slots[1]->where, "a kernel has two dimensions; this is %s", value_words(b, k));
        if (is_image(k))
            diag_help(b->d, "write [[1, 2, 1]] for a row and [[1], [2], [1]] for a column");
        return false;
    }
    if (content_uses_pixels(b, k.image->content)) {
        fail(b, DIAG_E0311, slots[1]->where, "a kernel can depend on parameters and sizes, but not on pixels");
        diag_help(b->d, "a reduction can: sum(i in -1..1, j in -1..1: p[x + i, y + j] * w[x + i, y + j])");
        return false;
    }
    return true;
}

value builtin_conv(builder *b, const expr *e)
{
    static const char *const names[] = { "a", "k", "stride", "dilation" };
    const argument *slots[4];
    steps stride, dilation;
    if (!bind_arguments(b, &e->call.args, names, 4, 2, slots, "conv", e->where))
        return error_value();
    if (slots[0]->is_function || slots[1]->is_function)
        return fail(b, DIAG_E0224, e->where, "a function can only be given to pad");
    value a = evaluate(b, slots[0]->value), k = evaluate(b, slots[1]->value);
    if (!check_operands(b, a, k, slots) || !read_steps(b, slots[2], "the stride", &stride) ||
        !read_steps(b, slots[3], "the dilation", &dilation))
        return error_value();
    k = fit_kernel(b, k, a, e->where);
    image kernel = { .content = k.image->content };
    ref lo[TENSOR_MAX_RANK], hi[TENSOR_MAX_RANK];
    if (!conv_domain(b, a.image, kernel.content, &stride, &dilation, lo, hi, e->where))
        return error_value();
    stage_begin(b, a.image->content->rank, lo, hi);
    content *c = stage_end(b, conv_fold(b, a.image, &kernel, &stride, &dilation, e->where), e->where);
    if (!c)
        return error_value();
    c->heavy = true;
    return content_value(b, c);
}
