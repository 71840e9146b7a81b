/* SPDX-License-Identifier: MIT
 * Kernels that are written as a product: k[i, j] = f(i) * g(j), perhaps over or times something common. The two vectors are what
 * the script means; the kernel's own values are their rounded products, so its values can't show the rank, and with
 * a parameter there are no values yet. */
#include "lowering/separate.h"

/* In coordinates 0 and 1 of the kernel; 0 is a factor that isn't there. */
typedef struct product { ref x, y; } product;

enum { MAX_DEPTH = 64 };

static ref times(tensor_pipe *p, ref a, ref b) { return a == 0 ? b : b == 0 ? a : tensor_op2(p, OP_mul, a, b); }

static bool factor(tensor_pipe *p, depends *all, ref r, int depth, product *out);

/* A product of two, a quotient by what is the same for all, a sign, a splat. */
static bool factor_op(tensor_pipe *p, depends *all, ref r, int depth, product *out)
{
    tensor_node n = *node_at(p, r);
    product a, b;
    if (!factor(p, all, node_arg(p, r, 0), depth, &a)) return false;
    ref *part = a.x ? &a.x : &a.y;
    switch ((tensor_op)n.op) {
    case OP_mul:
        if (!factor(p, all, node_arg(p, r, 1), depth, &b)) return false;
        *out = (product){ times(p, a.x, b.x), times(p, a.y, b.y) };
        return true;
    case OP_div: {
        ref by = node_arg(p, r, 1);
        if (depends_of(p, all, by)->coords) return false;
        *part = tensor_op2(p, OP_div, *part, by);
        break;
    }
    case OP_neg:
        *part = tensor_op1(p, OP_neg, *part);
        break;
    default:                                                    /* splat */
        if (a.x) a.x = tensor_splat(p, a.x, n.type.lanes);
        if (a.y) a.y = tensor_splat(p, a.y, n.type.lanes);
    }
    *out = a;
    return true;
}

/* A kernel that is another one moved, cropped or turned: look into that one. */
static bool factor_read(tensor_pipe *p, depends *all, ref r, int depth, product *out)
{
    tensor_node n = *node_at(p, r);
    const tensor_stage *s = stage_at(p, n.payload);
    if (s->kind != STAGE_compute || s->rank == 0 || !type_equal(s->type, n.type)) return false;
    ref index[TENSOR_MAX_RANK], body = s->body;
    for (int d = 0; d < s->rank; d++) {
        if (n.border[d] != BORDER_none) return false;
        index[d] = load_index(p, r, d);
    }
    return factor(p, all, tensor_substitute(p, body, index), depth, out);
}

static bool factor(tensor_pipe *p, depends *all, ref r, int depth, product *out)
{
    depend d = *depends_of(p, all, r);
    *out = (product){ 0, 0 };
    if (depend_is_open(&d) || depth == MAX_DEPTH) return false;
    if ((d.coords & ~1) == 0) out->x = r;
    else if (d.coords == 2) out->y = r;
    if (out->x || out->y) return true;
    switch ((tensor_op)node_at(p, r)->op) {
    case OP_mul: case OP_div: case OP_neg: case OP_splat: return factor_op(p, all, r, depth + 1, out);
    case OP_load: return factor_read(p, all, r, depth + 1, out);
    default: return false;
    }
}

/* ---- as vectors ------------------------------------------------------------------------------------------ */

/* One value of the factor along dimension d of the kernel, at the binder's value (coordinate 0 of the result). What is more than
 * a mere read becomes a stage, to be computed once. */
static ref vector_of(const convolution *c, ref part, int d)
{
    tensor_pipe *p = c->pipe;
    ref here = tensor_coord(p, 0), moved[2] = { here, here };
    part = tensor_substitute(p, part, moved);
    if (node_at(p, part)->op != OP_load && depends_of(p, c->all, part)->coords) {
        const tensor_stage *kernel = stage_at(p, c->kernel);
        ref lo = kernel->lo[d], hi = kernel->hi[d];
        type t = node_type(p, part);
        uint32_t s = tensor_stage_new(p, STAGE_compute, tensor_unique_name(p, kernel->name), t, 1, kernel->where);
        stage_at(p, s)->lo[0] = lo;
        stage_at(p, s)->hi[0] = hi;
        stage_at(p, s)->body = part;
        part = tensor_load(p, s, &here, NULL, NULL, t);
    }
    linear form = c->kernel_index[d];
    form.terms[0].atom = here;
    ref index = linear_build(p, &form);
    return tensor_substitute(p, part, &index);
}

/* Fewer taps, where their number is known; else wherever both ways may have more than one. */
static bool pays(const convolution *c)
{
    const tensor_fold *f = fold_at(c->pipe, c->fold);
    int64_t lo, hi, count[2] = { -1, -1 };
    for (int b = 0; b < 2; b++)
        if (node_is_const(c->pipe, f->lo[b], &lo) && node_is_const(c->pipe, f->hi[b], &hi)) count[b] = hi - lo + 1;
    if (count[0] >= 0 && count[1] >= 0) return fewer_taps(c, count[c->x], count[c->y], count[0] * count[1]);
    return count[0] != 1 && count[1] != 1;
}

bool factor_written(const convolution *c, factors *out)
{
    tensor_pipe *p = c->pipe;
    const tensor_stage *kernel = stage_at(p, c->kernel);
    product parts;
    ref bare = node_at(p, c->weight)->op == OP_splat ? node_arg(p, c->weight, 0) : c->weight;
    if (bare != c->weight_load || !type_equal(node_type(p, bare), kernel->type)) return false;     /* converted: not the product */
    if (kernel->kind != STAGE_compute || kernel->type.kind != c->t.kind || !pays(c)) return false;
    if (!factor(p, c->all, kernel->body, 0, &parts) || !parts.x || !parts.y) return false;
    ref along[2];
    along[0] = vector_of(c, parts.x, 0);
    along[1] = vector_of(c, parts.y, 1);
    out->x = along[c->kernel_binder[0] == c->x ? 0 : 1];
    out->y = along[c->kernel_binder[0] == c->x ? 1 : 0];
    return true;
}
