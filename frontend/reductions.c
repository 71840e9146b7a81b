/* SPDX-License-Identifier: MIT
 * Reductions: sum(i in -2..2 where c: e) and its kin become folds.
 *
 * A reduction that needs no coordinate is worth computing once, so it becomes a stage of rank 0. The element order is the
 * one written, the last binder fastest; over an image it is row by row. */
#include <string.h>

#include "frontend/builder.h"

typedef struct reduction reduction;

typedef struct reduction_kind {
    const char *name;
    value     (*build)(builder *b, reduction *r);
} reduction_kind;

struct reduction {
    const expr *e;
    uint32_t    fold;
    int         n_binders, n_names;
    ref         named[TENSOR_MAX_BINDERS];     /* the binders in the order of their names */
    uint32_t    first_read;                    /* reads recorded from here on are inside of this reduction */
    bool        over_image;                    /* all binders are one image's coordinates: an order of its own for f32 sums */
    value       element;
    bool        has_where;
};

const char *const *reduction_names(int *count)
{
    static const char *const names[] = { "sum", "prod", "min", "max", "argmin", "argmax", "any", "all", "count", "mean", "median" };
    *count = sizeof names / sizeof *names;
    return names;
}

/* ---- building the loops ---------------------------------------------------------------------------------------------- */

static ref same_lanes(builder *b, ref one, int lanes)
{
    return tensor_splat(b->pipe, one, lanes);
}

static ref constant_like(builder *b, type t, double v)
{
    return same_lanes(b, constant_of(b, (kind)t.kind, v), t.lanes);
}

/* The least or greatest value of a type. */
static ref identity_of(builder *b, type t, bool greatest)
{
    const kind_info *info = kind_get((kind)t.kind);
    if (kind_is_float(t.kind))
        return constant_like(b, t, greatest ? 1.0 / 0.0 : -1.0 / 0.0);
    return constant_like(b, t, (double)(greatest ? info->highest : info->lowest));
}

static ref add_acc(builder *b, reduction *r, int which, ref init)
{
    tensor_fold *f = fold_at(b->pipe, r->fold);
    f->n_accs = (uint8_t)(which + 1);
    f->init[which] = init;
    return tensor_acc(b->pipe, r->fold, which, node_type(b->pipe, init));
}

static void set_next(builder *b, reduction *r, int which, ref next)
{
    fold_at(b->pipe, r->fold)->next[which] = next;
}

static value simple_loop(builder *b, reduction *r, tensor_op op, ref init, ref element)
{
    ref acc = add_acc(b, r, 0, init);
    set_next(b, r, 0, tensor_op2(b->pipe, op, acc, element));
    return scalar_value(b, tensor_result(b->pipe, r->fold, 0));
}

static bool promote_element(builder *b, reduction *r)
{
    return unify(b, RULE_arithmetic, &r->element, 1, r->e->reduce.value->where);
}

/* ---- a whole image's sum ------------------------------------------------------------------------------------------- */

static ref swap_binders(rewriter *w, ref node)
{
    const tensor_node n = *node_at(w->pipe, node);
    uint32_t fold = *(uint32_t *)w->user;
    return n.op == OP_binder && n.payload == fold ? tensor_binder(w->pipe, fold, 1 - n.index) : 0;
}

static ref rename_binders(builder *b, rewriter *w, ref node)
{
    ref renamed = rewrite(w, node);
    node_renamed(b, node, renamed);
    return renamed;
}

/* The order of a whole image's sum is fixed by a pass that wants x as the first variable. Done before the loop has a result:
 * parts of a node are older than the node. */
static void x_first(builder *b, reduction *r)
{
    tensor_pipe *p = b->pipe;
    rewriter w;
    rewriter_begin(&w, p, swap_binders, &r->fold);
    r->element = scalar_value(b, rename_binders(b, &w, r->element.node));
    tensor_fold f = *fold_at(p, r->fold);
    f.form = FOLD_image_sum;
    f.where = f.where ? rename_binders(b, &w, f.where) : 0;
    for (uint32_t n = r->first_read; n < b->at->reads.count; n++)
        for (int k = 0; k < b->at->reads.items[n].image->content->rank; k++)
            b->at->reads.items[n].index[k] = rewrite(&w, b->at->reads.items[n].index[k]);
    for (int k = 0; k < 2; k++) {
        f.lo[k] = fold_at(p, r->fold)->lo[1 - k];
        f.hi[k] = fold_at(p, r->fold)->hi[1 - k];
        f.binder_names[k] = fold_at(p, r->fold)->binder_names[1 - k];
    }
    *fold_at(p, r->fold) = f;
}

static value build_sum(builder *b, reduction *r)
{
    if (!promote_element(b, r))
        return error_value();
    if (r->over_image && r->element.type.kind == KIND_f32)
        x_first(b, r);
    warn_overflow(b, "this sum", r->fold, r->element.node, r->e->where);
    return simple_loop(b, r, OP_add, constant_like(b, r->element.type, 0), r->element.node);
}

static value build_prod(builder *b, reduction *r)
{
    if (!promote_element(b, r))
        return error_value();
    return simple_loop(b, r, OP_mul, constant_like(b, r->element.type, 1), r->element.node);
}

static value build_extreme(builder *b, reduction *r)
{
    bool least = r->e->reduce.name[1] == 'i';
    if (r->element.type.kind == KIND_bool)
        return fail(b, DIAG_E0406, r->e->reduce.value->where, "%s compares numbers, not conditions; any and all are for those",
                    r->e->reduce.name);
    ref identity = identity_of(b, r->element.type, least);
    return simple_loop(b, r, least ? OP_min : OP_max, identity, clean_float(b, r->element.node, identity));
}

static value build_logic(builder *b, reduction *r)
{
    bool any = r->e->reduce.name[1] == 'n';
    if (!unify(b, RULE_bool, &r->element, 1, r->e->reduce.value->where))
        return error_value();
    return simple_loop(b, r, any ? OP_or : OP_and, constant_like(b, r->element.type, any ? 0 : 1), r->element.node);
}

/* How many elements there are; of conditions, how many hold. */
static value build_count(builder *b, reduction *r)
{
    if (r->element.type.kind != KIND_bool)
        r->element = scalar_value(b, tensor_i32(b->pipe, 1));
    return build_sum(b, r);
}

/* The first least or greatest element: its binders' values, in the order of their names. */
static value build_position(builder *b, reduction *r)
{
    tensor_pipe *p = b->pipe;
    bool least = r->e->reduce.name[4] == 'i';
    if (r->element.type.lanes != 1 || r->element.type.kind == KIND_bool)
        return fail(b, DIAG_E0406, r->e->reduce.value->where, "%s compares single numbers, not %s", r->e->reduce.name,
                    type_name(b, r->element.type));
    if (r->n_names > TENSOR_MAX_LANES)
        return fail(b, DIAG_E0402, r->e->where, "%s gives a pixel of at most %d components", r->e->reduce.name, TENSOR_MAX_LANES);
    ref identity = identity_of(b, r->element.type, least), element = clean_float(b, r->element.node, identity);
    ref best = add_acc(b, r, 0, identity), found = add_acc(b, r, 1, tensor_bool(p, false));
    ref better = least ? tensor_op2(p, OP_lt, element, best) : tensor_op2(p, OP_lt, best, element);
    ref take = tensor_op2(p, OP_or, tensor_op1(p, OP_not, found), better);
    set_next(b, r, 0, tensor_select(p, take, element, best));
    set_next(b, r, 1, tensor_bool(p, true));
    ref results[TENSOR_MAX_LANES];
    for (int k = 0; k < r->n_names; k++) {
        ref place = add_acc(b, r, 2 + k, tensor_i32(p, 0));
        set_next(b, r, 2 + k, tensor_select(p, take, r->named[k], place));
    }
    for (int k = 0; k < r->n_names; k++)
        results[k] = tensor_result(p, r->fold, 2 + k);
    return scalar_value(b, tensor_vec(p, results, r->n_names));
}

/* How many elements the loop has: known beforehand without `where`. */
static ref uniform_count(builder *b, const reduction *r)
{
    tensor_pipe *p = b->pipe;
    ref count = tensor_i32(p, 1), zero = tensor_i32(p, 0);
    for (int k = 0; k < r->n_binders; k++) {
        ref extent = node_extent(b, fold_at(p, r->fold)->lo[k], fold_at(p, r->fold)->hi[k]);
        count = tensor_op2(p, OP_mul, count, normal(b, tensor_op2(p, OP_max, extent, zero)));
    }
    return count;
}

static value build_mean(builder *b, reduction *r)
{
    tensor_pipe *p = b->pipe;
    int lanes = r->element.type.lanes;
    if (!promote_element(b, r))
        return error_value();
    bool floating = r->element.type.kind == KIND_f32;
    bool own_order = floating && r->over_image && !r->has_where;
    if (own_order)
        x_first(b, r);
    ref element = floating ? r->element.node : tensor_cast(p, r->element.node, KIND_i64);
    ref total = add_acc(b, r, 0, same_lanes(b, constant_of(b, floating ? KIND_f32 : KIND_i64, 0), lanes));
    set_next(b, r, 0, tensor_op2(p, OP_add, total, element));
    ref count;
    if (r->has_where) {
        ref n = add_acc(b, r, 1, tensor_i32(p, 0));
        set_next(b, r, 1, tensor_op2(p, OP_add, n, tensor_i32(p, 1)));
        count = tensor_result(p, r->fold, 1);
    } else {
        count = uniform_count(b, r);
    }
    ref sum = tensor_result(p, r->fold, 0);
    ref divided = tensor_op2(p, OP_div, floating ? sum : tensor_cast(p, sum, KIND_f32),
                             same_lanes(b, tensor_cast(p, count, KIND_f32), lanes));
    ref none = tensor_op2(p, OP_eq, count, tensor_i32(p, 0));
    return scalar_value(b, tensor_select(p, none, constant_like(b, type_of(KIND_f32, lanes), 0), divided));
}

static value build_median(builder *b, reduction *r)
{
    if (r->element.type.kind == KIND_bool)
        return fail(b, DIAG_E0406, r->e->reduce.value->where, "median is for numbers, not for conditions");
    fold_at(b->pipe, r->fold)->form = FOLD_median;
    add_acc(b, r, 0, constant_like(b, r->element.type, 0));
    set_next(b, r, 0, r->element.node);
    return scalar_value(b, tensor_result(b->pipe, r->fold, 0));
}

static const reduction_kind kinds[] = {
    { "sum", build_sum }, { "prod", build_prod }, { "min", build_extreme }, { "max", build_extreme },
    { "argmin", build_position }, { "argmax", build_position }, { "any", build_logic }, { "all", build_logic },
    { "count", build_count }, { "mean", build_mean }, { "median", build_median },
};

static const reduction_kind *find_reduction(const char *name)
{
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
        if (strcmp(kinds[k].name, name) == 0)
            return &kinds[k];
    return NULL;
}

/* ---- binders ------------------------------------------------------------------------------------------------------------ */

typedef struct binder_ranges {
    const char *names[TENSOR_MAX_BINDERS];
    ref lo[TENSOR_MAX_BINDERS], hi[TENSOR_MAX_BINDERS];
    int order[TENSOR_MAX_BINDERS];             /* place in the loop nest, outermost 0 */
    int count;
} binder_ranges;

/* `(x, y) in src`: row by row, so the first dimension is the fastest. */
static bool image_binder(builder *b, const binder *from, binder_ranges *all)
{
    value v = evaluate(b, from->over.first);
    int n = (int)from->names.count;
    if (is_error(v))
        return false;
    if (!is_image(v) || v.image->content->rank != n) {
        fail(b, DIAG_E0303, from->where, "%s is no range for %d name%s", value_words(b, v), n, n == 1 ? "" : "s");
        diag_help(b->d, n == 1 ? "a range is a..b or a..<b" : "(x, y) in src takes the domain of an image");
        return false;
    }
    for (int k = 0; k < n; k++) {
        all->names[all->count + k] = from->names.items[k];
        all->lo[all->count + k] = v.image->content->lo[k];
        all->hi[all->count + k] = v.image->content->hi[k];
        all->order[all->count + k] = all->count + n - 1 - k;
    }
    all->count += n;
    return true;
}

static bool collect_binders(builder *b, const expr *e, binder_ranges *all)
{
    for (uint32_t k = 0; k < e->reduce.binders.count; k++) {
        const binder *from = &e->reduce.binders.items[k];
        if (all->count + (int)from->names.count > TENSOR_MAX_BINDERS) {
            fail(b, DIAG_E0207, from->where, "a reduction has at most %d variables", TENSOR_MAX_BINDERS);
            return false;
        }
        if (!from->over.last) {
            if (!image_binder(b, from, all))
                return false;
            continue;
        }
        if (from->names.count != 1) {
            fail(b, DIAG_E0303, from->where, "%u names need an image to run over: (x, y) in src", from->names.count);
            return false;
        }
        all->names[all->count] = from->names.items[0];
        all->order[all->count] = all->count;
        if (!evaluate_range(b, &from->over, "the range of a reduction", &all->lo[all->count], &all->hi[all->count]))
            return false;
        all->count++;
    }
    return true;
}

static bool open_fold(builder *b, reduction *r)
{
    binder_ranges all = { 0 };
    if (!collect_binders(b, r->e, &all))
        return false;
    tensor_pipe *p = b->pipe;
    r->n_binders = r->n_names = all.count;
    r->fold = tensor_fold_new(p, FOLD_loop, all.count, 1);
    for (int k = 0; k < all.count; k++) {
        fold_at(p, r->fold)->lo[all.order[k]] = all.lo[k];
        fold_at(p, r->fold)->hi[all.order[k]] = all.hi[k];
        fold_at(p, r->fold)->binder_names[all.order[k]] = all.names[k];
        check_extent(b, all.lo[k], all.hi[k], r->e->where);
    }
    fold_opened(b, r->fold);
    scope_push(b, false);
    bool good = true;
    for (int k = 0; k < all.count; k++) {
        r->named[k] = tensor_binder(p, r->fold, all.order[k]);
        good = scope_define(b, b->scope, all.names[k], SYMBOL_value, scalar_value(b, r->named[k]), r->e->where) && good;
    }
    r->over_image = r->e->reduce.binders.count == 1 && !r->e->reduce.binders.items[0].over.last && all.count == 2;
    return good;
}

/* ---- where ------------------------------------------------------------------------------------------------------------------- */

static bool has_read(const expr *e)
{
    e = strip_parens(e);
    switch (e->kind) {
    case EXPR_INDEX: return true;
    case EXPR_UNARY: return has_read(e->unary.operand);
    case EXPR_BINARY: return has_read(e->binary.left) || has_read(e->binary.right);
    case EXPR_MEMBER: return has_read(e->member.object);
    case EXPR_CALL:
        for (uint32_t k = 0; k < e->call.args.count; k++)
            if (has_read(e->call.args.items[k].value))
                return true;
        return false;
    default: return false;
    }
}

static bool is_dimension(builder *b, const expr *e)
{
    e = strip_parens(e);
    const symbol *y = e->kind == EXPR_NAME ? scope_find(b, e->name) : NULL;
    return y && y->kind == SYMBOL_coordinate;
}

/* `where d == e` with d a dimension on the left of the definition and e made of pixels: a scatter. */
static const expr *find_scatter(builder *b, const expr *e)
{
    e = strip_parens(e);
    if (e->kind != EXPR_BINARY)
        return NULL;
    if (e->binary.op == BINARY_AND) {
        const expr *left = find_scatter(b, e->binary.left);
        return left ? left : find_scatter(b, e->binary.right);
    }
    bool scatters = e->binary.op == BINARY_EQ && ((is_dimension(b, e->binary.left) && has_read(e->binary.right)) ||
                                                  (is_dimension(b, e->binary.right) && has_read(e->binary.left)));
    return scatters ? e : NULL;
}

static bool evaluate_where(builder *b, reduction *r)
{
    const expr *e = r->e->reduce.where;
    if (!e)
        return true;
    const expr *scatter = find_scatter(b, e);
    if (scatter) {
        fail(b, DIAG_E0223, scatter->where, "this sorts pixels into bins (a scatter), which isn't supported yet");
        diag_note(b->d, "`where d == e` with a dimension d of the definition is how a histogram is written");
        return false;
    }
    value v = evaluate_condition(b, e);
    if (is_error(v))
        return false;
    if (!is_scalar(v) || v.type.kind != KIND_bool || v.type.lanes != 1) {
        fail(b, DIAG_E0404, e->where, "`where` needs one condition (bool), not %s", value_words(b, v));
        if (is_scalar(v) && v.type.kind == KIND_bool)
            diag_help(b->d, "any(...) or all(...) make one of the components");
        return false;
    }
    fold_at(b->pipe, r->fold)->where = v.node;
    r->has_where = true;
    return true;
}

/* ---- all together ---------------------------------------------------------------------------------------------------------------- */

/* What is the same for all pixels is computed once per run: a stage without dimensions. */
static value once_per_run(builder *b, value v, span where)
{
    content *c = content_new(b, 0, v.type, where);
    c->body = v.node;
    content_stage(b, c);
    return scalar_value(b, c->body);
}

static value reduce(builder *b, reduction *r, const reduction_kind *kind)
{
    const expr *e = r->e;
    bool good = open_fold(b, r);
    if (!r->fold)
        return error_value();
    good = good && evaluate_where(b, r);
    r->element = good ? evaluate_scalar(b, e->reduce.value, "what a reduction goes through") : error_value();
    value v = is_error(r->element) ? error_value() : kind->build(b, r);
    fold_closed(b);
    scope_pop(b);
    if (is_error(v))
        return v;
    return node_is_closed(b, v.node) ? once_per_run(b, v, e->where) : v;
}

value evaluate_reduction(builder *b, const expr *e)
{
    const reduction_kind *kind = find_reduction(e->reduce.name);
    if (!kind) {
        int n;
        const char *const *names = reduction_names(&n);
        value v = fail(b, DIAG_E0202, e->reduce.name_where, "there is no reduction named `%s`", e->reduce.name);
        const char *near = nearest_name(e->reduce.name, names, (size_t)n);
        if (near)
            diag_help(b->d, "did you mean `%s`?", near);
        else
            diag_note(b->d, "there are sum prod min max argmin argmax any all count mean median");
        return v;
    }
    reduction r = { .e = e, .first_read = b->at->reads.count };
    return reduce(b, &r, kind);
}
