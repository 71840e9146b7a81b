/* SPDX-License-Identifier: MIT
 * Exact pass `narrow`: whole-number bodies are computed in 16 or 8 bits where that gives the same values, and stages keep
 * their pixels in the smallest kind that holds them.
 *
 * Why: a vector holds twice as many 16-bit lanes as 32-bit ones, and a body is as slow as its widest value. Sums of pixels are
 * promoted to i32 by the language, although most of them would do with less.
 * How: every value of a body gets `bits` low bits that are right. Sums, products, differences, shifts to the left and bit
 * operations need no more than the low bits of their operands, so nothing is asked of them. Comparisons, divisions, shifts to the
 * right and saturation look at the whole value: there the operands' ranges (ranges.h) must prove that the low bits, read as
 * signed or as unsigned, are the value. What stays on one row's worth of columns (weights, parameters) is computed as before
 * and cut down at the end. One value that can't be narrowed leaves the body as it is: lanes are chosen by the widest. A stage
 * whose readers look at its low bits only (demanded_bits.h) keeps no others.
 * Requires nothing; runs last, since it hides convolutions from nobody then. Keeps every bit. */
#include "lowering/access.h"
#include "lowering/demanded_bits.h"
#include "lowering/parity.h"
#include "lowering/pass.h"
#include "lowering/pass_rewrite.h"
#include "lowering/ranges.h"
#include "lowering/tensor_build.h"

typedef struct renamed_fold { uint32_t from, to; } renamed_fold;

typedef struct narrowing {
    tensor_pipe *pipe;
    ranges       ranges;
    depends      depends;
    int          bits;                  /* of the attempt at hand */
    bool         failed;
    const uint8_t *demanded;            /* per stage: low bits that its readers look at */
    bool        *cut;                   /* per stage: kept without its high bits, since nobody looks at them */
    uint8_t     *row_wide;              /* per node: 1 + whether it is the same for all columns; 0: not asked yet */
    uint32_t     n_nodes;               /* there were so many when the pass began: of newer ones nothing is known */
    LIST(renamed_fold) folds;
} narrowing;

/* ---- which kinds hold a value ---------------------------------------------------------------------------------- */

static kind unsigned_kind(int bits) { return bits == 8 ? KIND_u8 : KIND_u16; }
static kind signed_kind(int bits) { return bits == 8 ? KIND_i8 : KIND_i16; }

static bool is_wide(const narrowing *m, type t) { return kind_is_integer(t.kind) && kind_get((kind)t.kind)->bits > m->bits; }

static bool range_fits(range r, kind k)
{
    return r.scale == 0 && !r.maybe_nan && r.lo >= (double)kind_get(k)->lowest && r.hi <= (double)kind_get(k)->highest;
}

/* Nothing is known of nodes that were made since, or that no body of the stage reaches. */
static range range_of(const narrowing *m, ref r)
{
    if (r >= m->n_nodes || body_number(&m->ranges.body, r) == BODY_NONE) return kind_range((kind)node_type(m->pipe, r).kind);
    return node_range(&m->ranges, r);
}

static bool fits(const narrowing *m, ref r, kind k) { return range_fits(range_of(m, r), k); }

/* The kind whose reading of the low bits is the value; the unsigned one when there is none: then only the low bits count. */
static kind low_kind(const narrowing *m, ref r)
{
    return !fits(m, r, unsigned_kind(m->bits)) && fits(m, r, signed_kind(m->bits)) ? signed_kind(m->bits) : unsigned_kind(m->bits);
}

/* The kind in which all operands of `r` are whole values; fails when there is none. */
static kind common_kind(narrowing *m, ref r)
{
    kind both[2] = { unsigned_kind(m->bits), signed_kind(m->bits) };
    for (int k = 0; k < 2; k++) {
        bool all = true;
        for (int a = 0; a < node_at(m->pipe, r)->n_args; a++) all = all && fits(m, node_arg(m->pipe, r, a), both[k]);
        if (all) return both[k];
    }
    m->failed = true;
    return both[0];
}

/* ---- what isn't computed per column ----------------------------------------------------------------------------- */

static bool is_row_wide(narrowing *m, ref r)
{
    tensor_pipe *p = m->pipe;
    if (r < m->n_nodes && m->row_wide[r]) return m->row_wide[r] == 2;
    tensor_node n = *node_at(p, r);
    bool same = n.op != OP_acc && !(depends_of(p, &m->depends, r)->coords & 1);
    if (same && n.op == OP_result) same = !depend_is_open(depends_of(p, &m->depends, r));
    for (int k = 0; k < n.n_args && same; k++) same = is_row_wide(m, node_arg(p, r, k));
    if (r < m->n_nodes) m->row_wide[r] = same ? 2 : 1;
    return same;
}

/* ---- leaves ------------------------------------------------------------------------------------------------------ */

static ref narrow_load(narrowing *m, rewriter *w, ref r)
{
    tensor_pipe *p = m->pipe;
    tensor_node n = *node_at(p, r);
    kind stored = (kind)stage_at(p, n.payload)->type.kind, to = unsigned_kind(m->bits);
    bool cut = m->cut[n.payload];
    if (!(cut || fits(m, r, to)) || !kind_holds(to, stored)) to = signed_kind(m->bits);
    if (!(cut || fits(m, r, to)) || !kind_holds(to, stored)) { m->failed = true; return r; }
    int rank = stage_at(p, n.payload)->rank;
    ref index[TENSOR_MAX_RANK], outside[TENSOR_MAX_RANK] = { 0 };
    for (int k = 0; k < rank; k++) {
        index[k] = load_index(p, r, k);
        index_form form;
        index_form_of(p, &m->depends, 0, index[k], &form);
        if (form.kind == INDEX_data && (depends_of(p, &m->depends, index[k])->coords & 1)) m->failed = true;
    }
    for (int k = 0; k < rank && !m->failed; k++)
        if (n.border[k] == BORDER_value) {
            ref value = rewrite(w, load_outside(p, r, k));
            if (!m->failed) outside[k] = tensor_wrap(p, value, to);
        }
    if (m->failed) return r;
    return tensor_load(p, n.payload, index, n.border, outside, type_of(to, n.type.lanes));
}

static ref narrow_acc(narrowing *m, ref r)
{
    tensor_pipe *p = m->pipe;
    tensor_node n = *node_at(p, r);
    if (is_wide(m, n.type)) n.type.kind = low_kind(m, tensor_result(p, n.payload, n.index));
    for (uint32_t k = 0; k < m->folds.count; k++)
        if (m->folds.items[k].from == n.payload) return tensor_acc(p, m->folds.items[k].to, n.index, n.type);
    m->failed = true;
    return r;
}

/* ---- folds -------------------------------------------------------------------------------------------------------- */

static ref narrow_fold(narrowing *m, rewriter *w, ref r)
{
    tensor_pipe *p = m->pipe;
    tensor_node n = *node_at(p, r);
    tensor_fold f = *fold_at(p, n.payload), made = f;
    if (f.form == FOLD_median || f.form == FOLD_image_sum) { m->failed = true; return r; }
    for (uint32_t k = 0; k < m->folds.count; k++)
        if (m->folds.items[k].from == n.payload) return tensor_result(p, m->folds.items[k].to, n.index);
    uint32_t to = tensor_fold_new(p, (fold_form)f.form, f.n_binders, f.n_accs);
    LIST_PUSH(p->memory, m->folds, ((renamed_fold){ n.payload, to }));
    ref binders[TENSOR_MAX_BINDERS];
    for (int b = 0; b < f.n_binders; b++) binders[b] = tensor_binder(p, to, b);
    if (f.where) made.where = replace_binders(p, rewrite(w, f.where), n.payload, binders);
    for (int a = 0; a < f.n_accs && !m->failed; a++) {
        ref init = rewrite(w, f.init[a]), next = rewrite(w, f.next[a]);
        type t = node_type(p, f.init[a]);
        if (is_wide(m, t) && !m->failed) {
            kind k = low_kind(m, tensor_result(p, n.payload, a));
            init = tensor_wrap(p, init, k);
            next = tensor_wrap(p, next, k);
        }
        made.init[a] = replace_binders(p, init, n.payload, binders);
        made.next[a] = replace_binders(p, next, n.payload, binders);
    }
    if (m->failed) return r;
    *fold_at(p, to) = made;
    return tensor_result(p, to, n.index);
}

static ref narrow_leaf(rewriter *w, ref r)
{
    narrowing *m = w->user;
    tensor_node n = *node_at(m->pipe, r);
    if (m->failed) return r;
    if (is_row_wide(m, r)) return is_wide(m, n.type) ? tensor_wrap(m->pipe, r, low_kind(m, r)) : r;
    if (n.type.kind == KIND_bool && is_of_parity(m->pipe, r)) return r;         /* backends take columns of one remainder at a time */
    if (kind_is_float(n.type.kind) || n.op == OP_coord) m->failed = true;
    switch (n.op) {
    case OP_coord:  return r;
    case OP_result: return narrow_fold(m, w, r);
    case OP_acc:    return narrow_acc(m, r);
    case OP_load:   return is_wide(m, n.type) ? narrow_load(m, w, r) : r;
    default:        return 0;
    }
}

/* ---- operations --------------------------------------------------------------------------------------------------- */

static ref op_in(narrowing *m, ref r, const ref *args, kind k)
{
    tensor_pipe *p = m->pipe;
    tensor_node n = *node_at(p, r);
    ref a[3] = { 0 };
    for (int i = 0; i < n.n_args; i++) a[i] = tensor_wrap(p, args[i], k);
    return n.n_args == 1 ? tensor_op1(p, (tensor_op)n.op, a[0]) : tensor_op2(p, (tensor_op)n.op, a[0], a[1]);
}

/* Whole values in, so the right low bits out: of |-32768| and -32768 // -1, which don't fit, too. */
static ref whole_op(narrowing *m, ref r, const ref *args)
{
    kind k = common_kind(m, r);
    return m->failed ? r : op_in(m, r, args, k);
}

static ref narrow_op(narrowing *m, ref r, const ref *args)
{
    switch (node_at(m->pipe, r)->op) {
    case OP_mul:
        if (m->bits == 8) { m->failed = true; return r; }     /* there are no products of 8-bit lanes */
        return op_in(m, r, args, low_kind(m, r));
    case OP_add: case OP_sub: case OP_neg: case OP_bitand: case OP_bitor: case OP_bitxor:
        return op_in(m, r, args, low_kind(m, r));
    case OP_shl: {
        ref count = node_arg(m->pipe, r, 1);
        range c = range_of(m, count);
        m->failed = c.lo < 0 || c.hi > 31;
        return m->failed ? r : op_in(m, r, args, low_kind(m, r));
    }
    default:
        return whole_op(m, r, args);
    }
}

static ref narrow_conversion(narrowing *m, ref r, const ref *args)
{
    tensor_pipe *p = m->pipe;
    tensor_node n = *node_at(p, r);
    ref old = node_arg(p, r, 0);
    type from = node_type(p, old);
    kind to = (kind)n.type.kind;
    m->failed = kind_is_float(from.kind) || kind_is_float(to);
    if (m->failed || n.op == OP_bitcast) return args[0];
    if (is_wide(m, n.type)) {
        /* Widening, or between wide kinds: the low bits stay, unless the conversion saturates. */
        bool same = n.op == OP_wrap || kind_holds(to, (kind)from.kind) || range_fits(range_of(m, old), to);
        if (!same) m->failed = true;
        if (from.kind == KIND_bool) return tensor_cast(p, args[0], low_kind(m, r));
        return is_wide(m, from) ? args[0] : tensor_wrap(p, args[0], low_kind(m, r));
    }
    if (!is_wide(m, from)) return node_with_args(p, r, args);
    if (n.op == OP_wrap) return tensor_wrap(p, args[0], to);
    kind whole = common_kind(m, r);
    return m->failed ? r : tensor_cast(p, tensor_wrap(p, args[0], whole), to);
}

static ref narrow_structure(narrowing *m, ref r, const ref *args)
{
    tensor_pipe *p = m->pipe;
    tensor_node n = *node_at(p, r);
    kind k = low_kind(m, r);
    ref parts[TENSOR_MAX_LANES];
    switch (n.op) {
    case OP_select: return tensor_select(p, args[0], tensor_wrap(p, args[1], k), tensor_wrap(p, args[2], k));
    case OP_splat:  return tensor_splat(p, args[0], n.type.lanes);
    case OP_comp:   return tensor_comp(p, args[0], n.index);
    case OP_vec:
        for (int c = 0; c < n.n_args; c++) parts[c] = tensor_wrap(p, args[c], k);
        return tensor_vec(p, parts, n.n_args);
    default:        m->failed = true; return r;
    }
}

static ref narrow_node(rewriter *w, ref r, const ref *args)
{
    narrowing *m = w->user;
    tensor_pipe *p = m->pipe;
    tensor_node n = *node_at(p, r);
    if (m->failed) return r;
    if (n.n_args == 0) { m->failed = m->failed || is_wide(m, n.type); return r; }
    if (kind_is_float(n.type.kind)) { m->failed = true; return r; }
    switch (op_get(n.op)->class) {
    case CLASS_TYP: return narrow_conversion(m, r, args);
    case CLASS_STR: return is_wide(m, n.type) ? narrow_structure(m, r, args) : node_with_args(p, r, args);
    default:
        if (kind_is_float(node_type(p, node_arg(p, r, 0)).kind)) m->failed = true;
        if (m->failed) return r;
        return is_wide(m, node_type(p, node_arg(p, r, 0))) ? narrow_op(m, r, args) : node_with_args(p, r, args);
    }
}

/* ---- stages ---------------------------------------------------------------------------------------------------------- */

static int widest_bits(narrowing *m, ref body)
{
    ref_list nodes = { 0 };
    int most = 8;
    reached_nodes(m->pipe, m->pipe->memory, &body, 1, &nodes);
    for (uint32_t k = 0; k < nodes.count; k++) {
        type t = node_type(m->pipe, nodes.items[k]);
        if (kind_is_integer(t.kind) && kind_get((kind)t.kind)->bits > most && !is_row_wide(m, nodes.items[k]))
            most = kind_get((kind)t.kind)->bits;
    }
    return most;
}

/* The body in so many bits, or 0. */
static ref narrowed_body(narrowing *m, ref body, int bits)
{
    m->bits = bits;
    m->failed = false;
    m->folds.count = 0;
    rewriter w;
    rewriter_begin(&w, m->pipe, narrow_leaf, m);
    w.rebuild = narrow_node;
    ref now = rewrite(&w, body);
    return m->failed ? 0 : now;
}

/* The smallest kind for a stage's pixels. An output's kind is the script's. */
static kind stored_kind(narrowing *m, uint32_t stage)
{
    static const kind candidates[] = { KIND_u8, KIND_i8, KIND_u16, KIND_i16 };
    kind now = (kind)stage_at(m->pipe, stage)->type.kind;
    if (!kind_is_integer(now) || tensor_is_output(m->pipe, stage)) return now;
    for (uint32_t k = 0; k < sizeof candidates / sizeof *candidates; k++)
        if (kind_get(candidates[k])->bits < kind_get(now)->bits && range_fits(stage_range(&m->ranges, stage), candidates[k]) &&
            kind_holds(now, candidates[k]))
            return candidates[k];
    int bits = m->demanded[stage];
    if (bits == 0 || bits > 16 || bits >= kind_get(now)->bits) return now;
    m->cut[stage] = true;
    return bits <= 8 ? KIND_u8 : KIND_u16;
}

static bool narrow_stage(narrowing *m, uint32_t stage)
{
    tensor_pipe *p = m->pipe;
    tensor_stage s = *stage_at(p, stage);
    if (kind_is_float(s.type.kind)) return false;
    ranges_enter(&m->ranges, stage);
    kind store = stored_kind(m, stage);
    int now = widest_bits(m, s.body), bits = store == KIND_bool ? 8 : kind_get(store)->bits;
    ref body = 0;
    for (; !body && bits < now && bits <= 16; bits *= 2) body = narrowed_body(m, s.body, bits);
    if (!body && store == (kind)s.type.kind) return false;
    const char *lanes = body ? arena_printf(p->memory, "computed in %d bits: its values need no more", m->bits)
                             : arena_printf(p->memory, "kept as %s: its values need no more", kind_get(store)->name);
    tensor_note_add(p, stage, lanes);
    if (!body) body = s.body;
    if (store != KIND_bool) body = tensor_wrap(p, body, store);
    stage_at(p, stage)->type.kind = store;
    stage_at(p, stage)->body = body;
    return true;
}

bool pass_narrow(tensor_pipe *p)
{
    narrowing m = { .pipe = p };
    bool changed = false;
    ranges_begin(&m.ranges, p->memory, p);
    m.demanded = demanded_bits(p, p->memory);
    m.cut = ARENA_ARRAY(p->memory, bool, p->stages.count);
    m.n_nodes = p->nodes.count;
    m.row_wide = ARENA_ARRAY(p->memory, uint8_t, m.n_nodes);
    for (uint32_t s = 1; s < p->stages.count; s++)
        if (stage_at(p, s)->kind == STAGE_compute && stage_at(p, s)->rank > 0) changed = narrow_stage(&m, s) || changed;
    return changed;
}
