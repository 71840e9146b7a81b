/* SPDX-License-Identifier: MIT
 * Which f32 values are k * 2^-s with a k of 16 bits, computed from such values without a rounding, and where it pays to compute k.
 *
 * Each body is walked twice. Forwards: can this node be a whole number? Backwards, from what the stage yields: is it wanted as
 * one? A comparison or conversion to an integer takes k and is done (it absorbs it). Anything else that reads such a value needs
 * it converted back (it escapes), which pays when a sum lies behind it. A stage whose pixels can be whole numbers becomes one of
 * them as long as its readers take k, or convert few of them back; taking one back changes what its readers can do, so the walks
 * are repeated until nothing changes.
 *
 * 16 bits, because the gain is in twice the lanes; 32-bit products are slower than those of f32. */
#include <math.h>

#include "lowering/integers.h"
#include "lowering/tensor_build.h"

enum { MOST_ESCAPES = 2 };          /* loads of a stage that may convert back */

/* ---- what fits ------------------------------------------------------------------------------- */

static bool fits_between(double lo, double hi)
{
    return lo <= hi && ((lo >= 0 && hi <= 65535) || (lo >= -32768 && hi <= 32767));
}

/* k at this scale, and k + more. */
static bool fits_with(range a, int scale, double more)
{
    return a.scale != SCALE_NONE && !a.maybe_nan && a.scale <= scale && fits_between(ldexp(a.lo, scale), ldexp(a.hi, scale) + more);
}

static bool fits_at(range a, int scale)
{
    return fits_with(a, scale, 0);
}

/* With what rounding adds before it shifts: a half to nearest, up to one upwards, nothing downwards. */
static bool fits_to_step(tensor_op op, range a)
{
    double steps = op == OP_floor ? 0 : op == OP_round ? 0.5 : 1;
    return a.scale != SCALE_NONE && fits_with(a, a.scale, floor(ldexp(steps, a.scale)));
}

/* Both in one kind of 16 bits. */
static bool fit_together(range a, range b)
{
    int scale = a.scale > b.scale ? a.scale : b.scale;
    if (!fits_at(a, scale) || !fits_at(b, scale))
        return false;
    return fits_between(ldexp(fmin(a.lo, b.lo), scale), ldexp(fmax(a.hi, b.hi), scale));
}

bool integer_power_of_two(range divisor, int *exponent, bool *negative)
{
    bool is_power = divisor.lo == divisor.hi && !divisor.maybe_nan && fabs(frexp(divisor.lo, exponent)) == 0.5;
    *exponent -= 1;
    *negative = divisor.lo < 0;
    return is_power;
}

/* ---- which nodes can ------------------------------------------------------------------------- */

integer_fact *integer_fact_of(const integer_plan *plan, ref r)
{
    integer_stage *s = &plan->stages[plan->stage];
    uint32_t number = r < plan->n_nodes ? plan->number_of_node[r] : UINT32_MAX;
    return number < s->facts.count && s->facts.items[number].node == r ? &s->facts.items[number] : NULL;
}

static integer_fact *argument(const integer_plan *plan, const integer_fact *f, int k)
{
    return integer_fact_of(plan, node_arg(plan->pipe, f->node, k));
}

/* Every operand is a whole number at the node's scale. */
static bool operands_fit(const integer_plan *plan, const integer_fact *f, int from)
{
    int n = node_at(plan->pipe, f->node)->n_args;
    for (int k = from; k < n; k++) {
        const integer_fact *a = argument(plan, f, k);
        if (!a->is_integer || !fits_at(a->value, f->value.scale))
            return false;
    }
    return true;
}

static bool product_fits(const integer_fact *a, const integer_fact *b, int scale)
{
    if (!a->is_integer || !b->is_integer || a->value.scale + b->value.scale > scale)
        return false;
    double corner[4] = { a->value.lo * b->value.lo, a->value.lo * b->value.hi, a->value.hi * b->value.lo, a->value.hi * b->value.hi };
    double lo = fmin(fmin(corner[0], corner[1]), fmin(corner[2], corner[3])), hi = fmax(fmax(corner[0], corner[1]), fmax(corner[2], corner[3]));
    return fits_between(ldexp(lo, scale), ldexp(hi, scale));
}

/* A stage of whole numbers, or one that becomes one; where the outside is something else, that too. */
static bool load_fits(const integer_plan *plan, const integer_fact *f)
{
    const tensor_pipe *p = plan->pipe;
    uint32_t stage = node_at(p, f->node)->payload;
    const tensor_stage *s = stage_at(p, stage);
    range stored = stage_range(&plan->known, stage);
    bool real = s->type.kind == KIND_f32;
    if (real ? s->kind != STAGE_table && !plan->stages[stage].becomes_integer : !kind_is_integer(s->type.kind))
        return false;
    if (stored.scale != f->value.scale)
        return false;
    for (int d = 0; d < s->rank; d++) {
        ref outside = load_outside(p, f->node, d);
        if (outside && !integer_fact_of(plan, outside)->is_integer)
            return false;
    }
    return true;
}

/* acc + weight * element of one accumulator, whose partial sums fit too. */
static bool sum_fits(const integer_plan *plan, const integer_fact *f)
{
    const tensor_pipe *p = plan->pipe;
    uint32_t fold = node_at(p, f->node)->payload;
    const tensor_fold *of = fold_at(p, fold);
    if (of->n_accs != 1 || (of->form != FOLD_loop && of->form != FOLD_conv))
        return false;
    summand s = summand_of(p, fold, 0);
    if (!s.acc)
        return false;
    const integer_fact *init = integer_fact_of(plan, of->init[0]), *acc = integer_fact_of(plan, s.acc);
    const integer_fact *element = integer_fact_of(plan, s.element), *weight = s.weight ? integer_fact_of(plan, s.weight) : NULL;
    int scale = element->value.scale + (weight ? weight->value.scale : 0);
    return element->is_integer && (!weight || weight->is_integer) && init->is_integer && scale == f->value.scale
        && fits_at(init->value, scale) && fits_at(acc->value, scale);
}

static bool can_be_integer(const integer_plan *plan, const integer_fact *f)
{
    const tensor_node *n = node_at(plan->pipe, f->node);
    int exponent;
    bool negative;
    if (n->type.kind != KIND_f32 || f->value.scale == SCALE_NONE || !fits_at(f->value, f->value.scale))
        return false;
    switch ((tensor_op)n->op) {
    case OP_const:
        return true;
    case OP_splat: case OP_vec: case OP_add: case OP_sub: case OP_neg: case OP_abs:
        return operands_fit(plan, f, 0);
    case OP_comp:
        return argument(plan, f, 0)->is_integer && argument(plan, f, 0)->value.scale == f->value.scale;
    case OP_min: case OP_max:
        return operands_fit(plan, f, 0) && fit_together(argument(plan, f, 0)->value, argument(plan, f, 1)->value);
    case OP_select:
        return operands_fit(plan, f, 1);
    case OP_mul:
        return product_fits(argument(plan, f, 0), argument(plan, f, 1), f->value.scale);
    case OP_fma: case OP_muladd:
        return product_fits(argument(plan, f, 0), argument(plan, f, 1), f->value.scale)
            && argument(plan, f, 2)->is_integer && fits_at(argument(plan, f, 2)->value, f->value.scale);
    case OP_div:
        return argument(plan, f, 0)->is_integer && integer_power_of_two(argument(plan, f, 1)->value, &exponent, &negative);
    case OP_floor: case OP_ceil: case OP_trunc: case OP_round:
        return argument(plan, f, 0)->is_integer && fits_to_step((tensor_op)n->op, argument(plan, f, 0)->value);
    case OP_cast:
        return !kind_is_float(node_type(plan->pipe, node_arg(plan->pipe, f->node, 0)).kind);
    case OP_load:
        return load_fits(plan, f);
    case OP_result:
        return sum_fits(plan, f);
    default:
        return false;
    }
}

static bool absorbs(const integer_plan *plan, const integer_fact *f)
{
    const tensor_node *n = node_at(plan->pipe, f->node);
    if (n->uniform || n->n_args == 0 || node_type(plan->pipe, node_arg(plan->pipe, f->node, 0)).kind != KIND_f32)
        return false;
    const integer_fact *a = argument(plan, f, 0), *b = n->n_args > 1 ? argument(plan, f, 1) : NULL;
    if (n->op == OP_cast)
        return a->is_integer && n->type.kind != KIND_f16 && (n->type.kind == KIND_bool || fits_to_step(OP_round, a->value));
    return op_get(n->op)->class == CLASS_CMP && a->is_integer && b->is_integer && fit_together(a->value, b->value);
}

/* ---- forwards -------------------------------------------------------------------------------- */

static void look_at(const integer_plan *plan, integer_fact *f)
{
    const tensor_pipe *p = plan->pipe;
    const tensor_node *n = node_at(p, f->node);
    f->used = f->used_as_integer = f->escapes = f->has_sum = f->has_load = false;
    f->absorbs = absorbs(plan, f);
    f->is_integer = can_be_integer(plan, f);
    if (!f->is_integer)
        return;
    f->has_sum = n->op == OP_result;
    f->has_load = n->op == OP_load && stage_at(p, n->payload)->kind == STAGE_compute && stage_at(p, n->payload)->type.kind == KIND_f32;
    for (int k = n->op == OP_load ? n->n_args : 0; k < n->n_args; k++) {
        const integer_fact *a = argument(plan, f, k);
        f->has_sum = f->has_sum || (a->is_integer && a->has_sum);
        f->has_load = f->has_load || (a->is_integer && a->has_load);
    }
}

/* ---- backwards ------------------------------------------------------------------------------- */

static void use(const integer_plan *plan, ref r, bool as_integer)
{
    integer_fact *f = r ? integer_fact_of(plan, r) : NULL;
    if (f && as_integer)
        f->used_as_integer = true;
    else if (f)
        f->used = true;
}

static void use_fold(const integer_plan *plan, uint32_t fold, bool as_integer)
{
    const tensor_fold *f = fold_at(plan->pipe, fold);
    for (int b = 0; b < f->n_binders; b++) {
        use(plan, f->lo[b], false);
        use(plan, f->hi[b], false);
    }
    use(plan, f->where, false);
    for (int k = 0; k < f->n_accs; k++) {
        use(plan, f->init[k], as_integer);
        if (!as_integer)
            use(plan, f->next[k], false);
    }
    if (!as_integer)
        return;
    summand s = summand_of(plan->pipe, fold, 0);
    use(plan, s.element, true);
    use(plan, s.weight, true);
}

/* Its operands are used as it needs them. */
static void use_operands(const integer_plan *plan, const integer_fact *f, bool as_integer)
{
    const tensor_node *n = node_at(plan->pipe, f->node);
    int first = 0, end = as_integer ? n->n_args : 0;           /* those that are k */
    if (n->op == OP_result) {
        use_fold(plan, n->payload, as_integer);
        return;
    }
    if (as_integer && !f->absorbs)
        switch ((tensor_op)n->op) {
        case OP_load:   first = stage_at(plan->pipe, n->payload)->rank; break;
        case OP_select: first = 1; break;
        case OP_cast:   end = 0; break;
        case OP_div:    end = 1; break;
        default:        break;
        }
    for (int k = 0; k < n->n_args; k++)
        if (!(as_integer && n->op == OP_div && k == 1))
            use(plan, node_arg(plan->pipe, f->node, k), k >= first && k < end);
}

/* Computed as k where others want the f32: not in folds, so that it is converted once a pixel. */
static bool may_escape(const integer_plan *plan, const integer_fact *f)
{
    bool pays = f->has_sum || f->has_load;
    return f->is_integer && pays && !f->value.minus_zero && !f->in_fold && stage_at(plan->pipe, plan->stage)->rank > 0;
}

static void use_backwards(integer_plan *plan, integer_fact *f)
{
    const tensor_node *n = node_at(plan->pipe, f->node);
    if (f->used && may_escape(plan, f)) {
        f->escapes = f->used_as_integer = true;
        f->used = false;
    }
    if (f->used)
        use_operands(plan, f, f->absorbs);
    if (f->used_as_integer)
        use_operands(plan, f, true);
    if (n->op == OP_load && stage_at(plan->pipe, n->payload)->type.kind == KIND_f32) {
        integer_stage *s = &plan->stages[n->payload];
        s->escapes += f->used ? MOST_ESCAPES + 1 : f->escapes;
    }
}

/* ---- all stages ------------------------------------------------------------------------------ */

void integer_plan_enter(integer_plan *plan, uint32_t stage)
{
    const integer_stage *s = &plan->stages[stage];
    plan->stage = stage;
    for (uint32_t k = 0; k < s->facts.count; k++)
        plan->number_of_node[s->facts.items[k].node] = k;
}

static void gather_facts(integer_plan *plan, uint32_t stage)
{
    arena *memory = plan->pipe->memory;
    ranges *known = &plan->known;
    ranges_enter(known, stage);
    for (uint32_t k = 0; k < known->body.nodes.count; k++) {
        const body_node *b = &known->body.nodes.items[k];
        integer_fact f = { .node = b->node, .value = node_range(known, b->node), .in_fold = b->needs != NULL };
        LIST_PUSH(memory, plan->stages[stage].facts, f);
    }
}

static void look_forwards(integer_plan *plan)
{
    const tensor_pipe *p = plan->pipe;
    for (uint32_t s = 1; s < p->stages.count; s++) {
        integer_stage *stage = &plan->stages[s];
        stage->escapes = 0;
        integer_plan_enter(plan, s);
        for (uint32_t k = 0; k < stage->facts.count; k++)
            look_at(plan, &stage->facts.items[k]);
        if (stage->becomes_integer)
            stage->becomes_integer = integer_fact_of(plan, stage_at(p, s)->body)->is_integer;
    }
}

/* Whether a stage was taken back. */
static bool look_backwards(integer_plan *plan)
{
    const tensor_pipe *p = plan->pipe;
    bool taken_back = false;
    for (uint32_t s = p->stages.count; s-- > 1;) {
        integer_stage *stage = &plan->stages[s];
        if (stage_at(p, s)->kind != STAGE_compute)
            continue;
        if (stage->becomes_integer && stage->escapes > MOST_ESCAPES) {
            stage->becomes_integer = false;
            taken_back = true;
        }
        integer_plan_enter(plan, s);
        use(plan, stage_at(p, s)->body, stage->becomes_integer);
        for (uint32_t k = stage->facts.count; k-- > 0;)
            use_backwards(plan, &stage->facts.items[k]);
    }
    return taken_back;
}

static bool anything_used(const integer_plan *plan)
{
    for (uint32_t s = 1; s < plan->pipe->stages.count; s++)
        for (uint32_t k = 0; k < plan->stages[s].facts.count; k++)
            if (plan->stages[s].facts.items[k].used_as_integer)
                return true;
    return false;
}

bool integer_plan_make(integer_plan *plan, tensor_pipe *p)
{
    *plan = (integer_plan){ .pipe = p, .n_nodes = p->nodes.count };
    ranges_begin(&plan->known, p->memory, p);
    plan->stages = ARENA_ARRAY(p->memory, integer_stage, p->stages.count);
    plan->number_of_node = ARENA_ARRAY(p->memory, uint32_t, p->nodes.count);
    for (uint32_t s = 1; s < p->stages.count; s++) {
        const tensor_stage *stage = stage_at(p, s);
        if (stage->kind != STAGE_compute)
            continue;
        plan->stages[s].becomes_integer = stage->type.kind == KIND_f32 && stage->rank > 0 && !tensor_is_output(p, s);
        gather_facts(plan, s);
    }
    do
        look_forwards(plan);
    while (look_backwards(plan));
    return anything_used(plan);
}
