/* SPDX-License-Identifier: MIT
 * Is this IR sound? Records every problem and goes on; the result is the whole IR with the problems as comments under the lines
 * they are about. Operand types follow from ops.def's classes, structural ops have a short switch. References are checked
 * first: with a broken one nothing can be walked or printed. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lowering/body.h"
#include "lowering/tensor.h"
#include "lowering/tensor_build.h"
#include "lowering/tensor_text.h"

typedef struct verifier {
    const tensor_pipe *pipe;
    arena *memory;
    body body;
    uint32_t stage;                       /* whose body is being looked at; 0: bounds and checks */
    LIST(tensor_remark) remarks;
    bool *reached;                        /* nodes, while references are checked */
    LIST(ref) to_visit;
} verifier;

__attribute__((format(printf, 3, 4)))
static void remark(verifier *v, ref node, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    const char *message = arena_vprintf(v->memory, format, args);
    va_end(args);
    const tensor_node *n = node_at(v->pipe, node);
    if (n->n_args == 0 && n->op != OP_load && n->op != OP_result)
        node = 0;                         /* a leaf has no line of its own: told under the stage */
    LIST_PUSH(v->memory, v->remarks, ((tensor_remark){ v->stage, node, message }));
}

static const char *type_name(verifier *v, type t)
{
    const char *name = t.kind < KIND_COUNT ? kind_get(t.kind)->name : "?";
    return t.lanes == 1 ? name : arena_printf(v->memory, "%sx%d", name, t.lanes);
}

static bool is_i32(const tensor_pipe *p, ref r)
{
    return type_equal(node_type(p, r), type_of(KIND_i32, 1));
}

/* ---- references -------------------------------------------------------------------------------- */

static uint32_t n_payloads(const tensor_pipe *p, tensor_op op)
{
    switch (op) {
    case OP_param: return p->params.count;
    case OP_dim:   return p->dims.count;
    case OP_load:  return p->stages.count;
    case OP_binder: case OP_acc: case OP_result: return p->folds.count;
    default:       return UINT32_MAX;
    }
}

/* Notes `r` for the walk; a reference that can't be followed is a problem of `of`. */
static void reach(verifier *v, ref r, bool optional, const char *what, const char *of)
{
    if (r == 0 && optional)
        return;
    if (r == 0 || r >= v->pipe->nodes.count)
        remark(v, 0, "%s of %s is missing", what, of);
    else if (!v->reached[r])
        LIST_PUSH(v->memory, v->to_visit, r);
}

static void check_node_references(verifier *v, ref r)
{
    const tensor_pipe *p = v->pipe;
    const tensor_node *n = node_at(p, r);
    uint32_t first = n->op == OP_param || n->op == OP_dim ? 0 : 1;
    if (n->op == OP_none || n->op >= OP_COUNT || n->type.kind >= KIND_COUNT || n->type.lanes < 1 || n->type.lanes > TENSOR_MAX_LANES) {
        remark(v, 0, "node %u has no op or no type", r);
        return;
    }
    if (n->op != OP_const && n_payloads(p, n->op) != UINT32_MAX && (n->payload < first || n->payload >= n_payloads(p, n->op)))
        remark(v, 0, "node %u (%s) refers to number %u, which doesn't exist", r, op_get(n->op)->name, n->payload);
    if ((size_t)n->first_arg + n->n_args > p->args.count) {
        remark(v, 0, "node %u (%s) has arguments that don't exist", r, op_get(n->op)->name);
        return;
    }
    for (int k = 0; k < n->n_args; k++) {
        if (node_arg(p, r, k) == 0 || node_arg(p, r, k) >= r)
            remark(v, 0, "argument %d of node %u (%s) is not an earlier node", k, r, op_get(n->op)->name);
        else
            reach(v, node_arg(p, r, k), false, "", "");
    }
}

static void check_fold_references(verifier *v, uint32_t f)
{
    const tensor_fold *fold = fold_at(v->pipe, f);
    const char *name = arena_printf(v->memory, "fold %u", f);
    if (fold->n_binders > TENSOR_MAX_BINDERS || fold->n_accs < 1 || fold->n_accs > TENSOR_MAX_ACCS || fold->form > FOLD_median) {
        remark(v, 0, "%s is malformed", name);
        return;
    }
    for (int k = 0; k < fold->n_binders; k++) {
        reach(v, fold->lo[k], false, "a lower bound", name);
        reach(v, fold->hi[k], false, "an upper bound", name);
    }
    reach(v, fold->where, true, "the condition", name);
    for (int k = 0; k < fold->n_accs; k++) {
        reach(v, fold->init[k], false, "an initial value", name);
        reach(v, fold->next[k], false, "a next value", name);
    }
}

static void reach_stages(verifier *v)
{
    const tensor_pipe *p = v->pipe;
    for (uint32_t s = 1; s < p->stages.count; s++) {
        const tensor_stage *stage = stage_at(p, s);
        if (stage->kind > STAGE_compute || stage->rank > TENSOR_MAX_RANK) {
            remark(v, 0, "stage %u is malformed", s);
            continue;
        }
        for (int k = 0; k < stage->rank; k++) {
            reach(v, stage->lo[k], false, "a lower bound", stage->name);
            reach(v, stage->hi[k], false, "an upper bound", stage->name);
        }
        reach(v, stage->body, stage->kind != STAGE_compute, "the body", stage->name);
    }
    for (uint32_t k = 0; k < p->checks.count; k++)
        reach(v, p->checks.items[k].condition, false, "the condition", "a check");
}

/* Only of what can be reached: passes leave nodes behind that speak of stages which are gone. */
static void check_references(verifier *v)
{
    const tensor_pipe *p = v->pipe;
    bool *seen_folds = ARENA_ARRAY(v->memory, bool, p->folds.count);
    v->reached = ARENA_ARRAY(v->memory, bool, p->nodes.count);
    reach_stages(v);
    while (v->to_visit.count) {
        ref r = v->to_visit.items[--v->to_visit.count];
        if (v->reached[r])
            continue;
        v->reached[r] = true;
        check_node_references(v, r);
        const tensor_node *n = node_at(p, r);
        bool of_fold = n->op == OP_result || n->op == OP_acc || n->op == OP_binder;
        if (!of_fold || n->payload >= p->folds.count || seen_folds[n->payload])
            continue;
        seen_folds[n->payload] = true;
        check_fold_references(v, n->payload);
    }
}

/* ---- nodes ----------------------------------------------------------------------------------- */

static bool count_is(verifier *v, ref r, int n_args)
{
    if (node_at(v->pipe, r)->n_args == n_args)
        return true;
    remark(v, r, "takes %d operands, has %d", n_args, node_at(v->pipe, r)->n_args);
    return false;
}

static void expect_type(verifier *v, ref r, type wanted, const char *what, type is)
{
    if (!type_equal(wanted, is))
        remark(v, r, "%s is %s, must be %s", what, type_name(v, is), type_name(v, wanted));
}

static void check_elementwise(verifier *v, ref r)
{
    const tensor_node *n = node_at(v->pipe, r);
    const op_info *info = op_get(n->op);
    if (!count_is(v, r, info->arity))
        return;
    type t = node_type(v->pipe, node_arg(v->pipe, r, 0));
    if (!class_takes(info->class, t.kind))
        remark(v, r, "`%s` doesn't take %s", info->name, type_name(v, t));
    for (int k = 1; k < n->n_args; k++)
        expect_type(v, r, t, "an operand", node_type(v->pipe, node_arg(v->pipe, r, k)));
    expect_type(v, r, info->class == CLASS_CMP ? type_of(KIND_bool, t.lanes) : t, "the result", n->type);
}

static void check_conversion(verifier *v, ref r)
{
    const tensor_node *n = node_at(v->pipe, r);
    if (!count_is(v, r, 1))
        return;
    type from = node_type(v->pipe, node_arg(v->pipe, r, 0));
    if (from.lanes != n->type.lanes)
        remark(v, r, "a conversion keeps the lanes");
    if (n->op == OP_wrap && (kind_is_float(from.kind) || kind_is_float(n->type.kind)))
        remark(v, r, "`wrap` is for whole numbers");
    if (n->op == OP_bitcast && (kind_get(from.kind)->bits != 32 || kind_get(n->type.kind)->bits != 32))
        remark(v, r, "`bitcast` is between i32, u32 and f32");
}

static void check_load(verifier *v, ref r)
{
    const tensor_pipe *p = v->pipe;
    const tensor_node *n = node_at(p, r);
    const tensor_stage *source = stage_at(p, n->payload);
    int n_args = source->rank;
    if (n->payload >= v->stage)
        remark(v, r, "loads from `%s`, which isn't before this stage", source->name);
    for (int k = 0; k < TENSOR_MAX_RANK; k++) {
        if (n->border[k] >= BORDER_COUNT || (k >= source->rank && n->border[k] != BORDER_none))
            remark(v, r, "has a border mode where `%s` has no axis", source->name);
        n_args += k < source->rank && n->border[k] == BORDER_value;
    }
    if (!count_is(v, r, n_args))
        return;
    for (int k = 0; k < n_args; k++) {
        bool index = k < source->rank;
        expect_type(v, r, index ? type_of(KIND_i32, 1) : n->type, index ? "an index" : "an outside value",
                    node_type(p, node_arg(p, r, k)));
    }
    kind stored = source->type.kind;
    if (n->type.lanes != source->type.lanes || !(kind_holds(n->type.kind, stored) || n->type.kind == KIND_f32))
        remark(v, r, "%s can't hold the %s of `%s`", type_name(v, n->type), type_name(v, source->type), source->name);
}

static void check_const(verifier *v, ref r)
{
    const tensor_node *n = node_at(v->pipe, r);
    kind k = n->type.kind;
    if (n->type.lanes != 1)
        remark(v, r, "a constant has one lane");
    if (!kind_is_float(k) && k != KIND_i64 && bits_of_scalar(k, wrap_evaluate((scalar){ .i = n->payload }, k)) != n->payload)
        remark(v, r, "the constant isn't a value of %s", kind_get(k)->name);
}

static void check_pixel(verifier *v, ref r)
{
    const tensor_pipe *p = v->pipe;
    const tensor_node *n = node_at(p, r);
    if (n->op == OP_vec) {
        if (n->n_args < 2 || !count_is(v, r, n->type.lanes))
            return;
    } else if (!count_is(v, r, n->op == OP_select ? 3 : 1)) {
        return;
    }
    type first = node_type(p, node_arg(p, r, 0));
    if (n->op == OP_select) {
        expect_type(v, r, type_of(KIND_bool, n->type.lanes), "the condition", first);
        for (int k = 1; k < 3; k++)
            expect_type(v, r, n->type, "an operand", node_type(p, node_arg(p, r, k)));
    } else if (n->op == OP_comp) {
        expect_type(v, r, type_of(first.kind, 1), "the result", n->type);
        if (n->index >= first.lanes)
            remark(v, r, "there is no component %d in %s", n->index, type_name(v, first));
    } else {
        for (int k = 0; k < n->n_args; k++)
            expect_type(v, r, type_of(n->type.kind, 1), "a component", node_type(p, node_arg(p, r, k)));
    }
}

static void check_leaf(verifier *v, ref r)
{
    const tensor_pipe *p = v->pipe;
    const tensor_node *n = node_at(p, r);
    switch (n->op) {
    case OP_param: expect_type(v, r, p->params.items[n->payload].type, "the parameter", n->type); break;
    case OP_dim:   expect_type(v, r, type_of(KIND_i32, 1), "an extent", n->type); break;
    case OP_coord:
        if (v->stage && n->index >= stage_at(p, v->stage)->rank)
            remark(v, r, "the stage has no dimension %d", n->index);
        break;
    case OP_binder:
    case OP_acc:
        if (body_fold_scope(&v->body, n->payload) == BODY_NONE)
            remark(v, r, "%s %d of fold %u outside its fold", op_get(n->op)->name, n->index, n->payload);
        else if (n->index >= (n->op == OP_acc ? fold_at(p, n->payload)->n_accs : fold_at(p, n->payload)->n_binders))
            remark(v, r, "the fold has no %s %d", op_get(n->op)->name, n->index);
        else if (n->op == OP_acc)
            expect_type(v, r, node_type(p, fold_at(p, n->payload)->init[n->index]), "the accumulator", n->type);
        break;
    case OP_result:
        if (n->index >= fold_at(p, n->payload)->n_accs)
            remark(v, r, "the fold has no result %d", n->index);
        else
            expect_type(v, r, node_type(p, fold_at(p, n->payload)->init[n->index]), "the result", n->type);
        break;
    default:
        break;
    }
}

static void check_node(verifier *v, ref r)
{
    const tensor_node *n = node_at(v->pipe, r);
    switch (op_get(n->op)->class) {
    case CLASS_TYP: check_conversion(v, r); return;
    case CLASS_STR: break;
    default:        check_elementwise(v, r); return;
    }
    switch (n->op) {
    case OP_load:  check_load(v, r); break;
    case OP_const: check_const(v, r); break;
    case OP_select: case OP_splat: case OP_vec: case OP_comp: check_pixel(v, r); break;
    default:       check_leaf(v, r); break;
    }
}

/* ---- folds ----------------------------------------------------------------------------------- */

static bool needs_scope(const verifier *v, ref r, uint32_t scope)
{
    const scope_set *needs = v->body.nodes.items[body_number(&v->body, r)].needs;
    for (uint32_t k = 0; needs && k < needs->n; k++)
        if (needs->items[k] == scope)
            return true;
    return false;
}

/* Where the fold's acc stands in its scope, or BODY_NONE. */
static uint32_t acc_position(const verifier *v, const body_scope *scope)
{
    for (uint32_t k = 0; k < scope->nodes.count; k++)
        if (node_at(v->pipe, v->body.nodes.items[scope->nodes.items[k]].node)->op == OP_acc)
            return k;
    return BODY_NONE;
}

static void check_fold(verifier *v, uint32_t scope_number)
{
    const tensor_pipe *p = v->pipe;
    const body_scope *scope = &v->body.scopes.items[scope_number];
    const tensor_fold *fold = fold_at(p, scope->fold);
    ref at = 0;                                       /* where to write remarks: the fold's first result */
    for (int k = TENSOR_MAX_ACCS; k-- > 0;)
        if (scope->results[k] != BODY_NONE)
            at = v->body.nodes.items[scope->results[k]].node;
    for (int k = 0; k < fold->n_binders; k++)
        if (!node_is_uniform(p, fold->lo[k]) || !node_is_uniform(p, fold->hi[k]) || !is_i32(p, fold->lo[k]) || !is_i32(p, fold->hi[k]))
            remark(v, at, "the bounds of binder %d must be uniform i32", k);
    if (fold->where)
        expect_type(v, at, type_of(KIND_bool, 1), "`where`", node_type(p, fold->where));
    for (int k = 0; k < fold->n_accs; k++) {
        expect_type(v, at, node_type(p, fold->init[k]), "the next value", node_type(p, fold->next[k]));
        if (needs_scope(v, fold->init[k], scope_number))
            remark(v, at, "an initial value depends on the fold's own binders");
    }
    uint32_t acc = acc_position(v, scope);
    if (acc < scope->n_where)
        remark(v, at, "`where` depends on an accumulator");
    if (fold->form == FOLD_median && acc != BODY_NONE)
        remark(v, at, "a median's elements depend on its accumulator");
    if (fold->form != FOLD_loop && fold->n_accs != 1)
        remark(v, at, "this form of fold has one accumulator");
    if (fold->form == FOLD_image_sum && (fold->n_binders != 2 || node_type(p, fold->init[0]).kind != KIND_f32))
        remark(v, at, "an image sum runs over x and y and totals f32");
}

/* ---- stages and the pipe ------------------------------------------------------------------------ */

static void check_body(verifier *v, ref root)
{
    body_clear(&v->body);
    body_add(&v->body, root);
    for (uint32_t k = 0; k < v->body.nodes.count; k++)
        check_node(v, v->body.nodes.items[k].node);
    for (uint32_t s = 1; s < v->body.scopes.count; s++)
        check_fold(v, s);
    const scope_set *needs = v->body.nodes.items[body_number(&v->body, root)].needs;
    if (needs)
        remark(v, root, "uses a binder or accumulator of fold %u outside it", v->body.scopes.items[needs->items[0]].fold);
}

/* At pipe level (no stage at hand) with the problem told at stage `stage`. */
static void check_uniform(verifier *v, ref r, type wanted, const char *what)
{
    if (!node_is_uniform(v->pipe, r) || !type_equal(node_type(v->pipe, r), wanted)) {
        remark(v, 0, "%s must be uniform %s", what, type_name(v, wanted));
        return;
    }
    uint32_t before = v->remarks.count;
    check_body(v, r);
    for (; before < v->remarks.count; before++)       /* told under the stage's line: the nodes have none of their own */
        v->remarks.items[before].node = 0;
}

static void check_table(verifier *v, const tensor_stage *s)
{
    int64_t lo, hi, n_words = s->type.lanes;
    for (int k = 0; k < s->rank; k++) {
        if (!node_is_const(v->pipe, s->lo[k], &lo) || !node_is_const(v->pipe, s->hi[k], &hi)) {
            remark(v, 0, "a table's bounds must be constants");
            return;
        }
        n_words *= hi < lo ? 0 : hi - lo + 1;
    }
    if (n_words && !s->words)
        remark(v, 0, "a table without words");
}

static void check_stage(verifier *v, uint32_t number)
{
    const tensor_stage *s = stage_at(v->pipe, number);
    v->stage = number;
    if ((s->kind == STAGE_input) != (number <= v->pipe->n_inputs))
        remark(v, 0, "inputs come first");
    for (int k = 0; k < s->rank; k++) {
        check_uniform(v, s->lo[k], type_of(KIND_i32, 1), "a lower bound");
        check_uniform(v, s->hi[k], type_of(KIND_i32, 1), "an upper bound");
    }
    if (s->kind == STAGE_table)
        check_table(v, s);
    if (s->kind != STAGE_compute)
        return;
    check_body(v, s->body);
    if (!type_equal(node_type(v->pipe, s->body), s->type))
        remark(v, 0, "the body is %s, the stage %s", type_name(v, node_type(v->pipe, s->body)), type_name(v, s->type));
}

static int compare_names(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static void check_names(verifier *v, const char **names, uint32_t count, const char *what)
{
    qsort(names, count, sizeof *names, compare_names);
    for (uint32_t k = 1; k < count; k++)
        if (strcmp(names[k - 1], names[k]) == 0)
            remark(v, 0, "two %s are called `%s`", what, names[k]);
}

static void check_pipe(verifier *v)
{
    const tensor_pipe *p = v->pipe;
    for (uint32_t s = 1; s < p->stages.count; s++)
        check_stage(v, s);
    v->stage = 0;
    const char **names = ARENA_ARRAY(v->memory, const char *, p->stages.count + p->outputs.count);
    for (uint32_t s = 1; s < p->stages.count; s++)
        names[s - 1] = stage_at(p, s)->name;
    check_names(v, names, p->stages.count - 1, "stages");
    for (uint32_t k = 0; k < p->outputs.count; k++) {
        names[k] = p->outputs.items[k].name;
        if (p->outputs.items[k].stage == 0 || p->outputs.items[k].stage >= p->stages.count)
            remark(v, 0, "output `%s` has no stage", names[k]);
    }
    check_names(v, names, p->outputs.count, "outputs");
    for (uint32_t k = 0; k < p->dims.count; k++) {
        const tensor_dim *dim = &p->dims.items[k];
        if (dim->stage == 0 || dim->stage > p->n_inputs || dim->dimension >= stage_at(p, dim->stage)->rank)
            remark(v, 0, "extent `%s` isn't a dimension of an input", dim->name ? dim->name : "n");
    }
    for (uint32_t k = 0; k < p->checks.count; k++)
        check_uniform(v, p->checks.items[k].condition, type_of(KIND_bool, 1), "a check's condition");
}

static void report(verifier *v, bool printable, text *problems)
{
    if (!problems || v->remarks.count == 0)
        return;
    if (printable)
        tensor_print_remarks(v->pipe, v->remarks.items, v->remarks.count, problems);
    for (uint32_t k = 0; !printable && k < v->remarks.count; k++)
        text_printf(problems, "; error E0901: %s\n", v->remarks.items[k].message);
}

bool tensor_verify(const tensor_pipe *p, text *problems)
{
    jmp_buf no_memory;
    verifier v = { .pipe = p, .memory = arena_new(NULL) };
    arena *memory = v.memory;
    if (!memory || setjmp(no_memory)) {
        if (problems)
            text_string(problems, "; error E0901: out of memory\n");
        arena_free(memory);
        return false;
    }
    arena_set_failure(memory, &no_memory);
    check_references(&v);
    bool printable = v.remarks.count == 0;
    if (printable) {
        body_begin(&v.body, memory, p);
        check_pipe(&v);
    }
    report(&v, printable, problems);
    bool sound = v.remarks.count == 0;
    arena_free(memory);
    return sound;
}
