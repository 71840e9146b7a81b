/* SPDX-License-Identifier: MIT
 * Uniform expressions in the language's spelling, and dispatches as lists of stages. */
#include "lowering/plan_text.h"

void type_text(text *out, type t)
{
    text_string(out, kind_get((enum kind)t.kind)->name);
    if (t.lanes > 1) text_printf(out, "x%d", t.lanes);
}

static const char *infix_of(int op)
{
    switch ((tensor_op)op) {
    case OP_add: return " + ";
    case OP_sub: return " - ";
    case OP_mul: return "*";
    case OP_div: return " / ";
    case OP_floordiv: return " // ";
    case OP_mod: return " % ";
    case OP_lt: return " < ";
    case OP_le: return " <= ";
    case OP_eq: return " == ";
    case OP_ne: return " != ";
    case OP_and: return " and ";
    case OP_or: return " or ";
    default: return NULL;
    }
}

static void operands_text(const tensor_pipe *p, ref r, const char *between, text *out)
{
    for (int k = 0; k < node_at(p, r)->n_args; k++) {
        if (k) text_string(out, between);
        expression_text(p, node_arg(p, r, k), out);
    }
}

static void operation_text(const tensor_pipe *p, ref r, text *out)
{
    const tensor_node *n = node_at(p, r);
    int64_t v;
    if (n->op == OP_add && node_is_const(p, node_arg(p, r, 1), &v) && v < 0) {
        expression_text(p, node_arg(p, r, 0), out);
        text_printf(out, " - %lld", (long long)-v);
        return;
    }
    if (n->op == OP_neg) { text_string(out, "-"); expression_text(p, node_arg(p, r, 0), out); return; }
    if (n->op == OP_select) {
        text_string(out, "(");
        expression_text(p, node_arg(p, r, 0), out);
        text_string(out, " ? ");
        expression_text(p, node_arg(p, r, 1), out);
        text_string(out, " : ");
        expression_text(p, node_arg(p, r, 2), out);
        text_string(out, ")");
        return;
    }
    const char *infix = infix_of(n->op);
    if (!infix) text_string(out, n->op == OP_cast ? kind_get((enum kind)n->type.kind)->name : op_get((tensor_op)n->op)->name);
    if (!infix || n->op != OP_add) text_string(out, "(");
    operands_text(p, r, infix ? infix : ", ", out);
    if (!infix || n->op != OP_add) text_string(out, ")");
}

void expression_text(const tensor_pipe *p, ref r, text *out)
{
    const tensor_node *n = node_at(p, r);
    int64_t v;
    float f;
    if (node_is_const(p, r, &v)) text_printf(out, "%lld", (long long)v);
    else if (node_is_f32(p, r, &f)) text_f32(out, f);
    else if (n->op == OP_dim) text_string(out, p->dims.items[n->payload].name);
    else if (n->op == OP_param) text_string(out, p->params.items[n->payload].name);
    else operation_text(p, r, out);
}

void range_text(const tensor_pipe *p, ref lo, ref hi, text *out)
{
    expression_text(p, lo, out);
    if (lo == hi) return;
    text_string(out, "..");
    expression_text(p, hi, out);
}

void dispatch_text(const tensor_pipe *p, const dispatch_plan *plan, text *out)
{
    text_printf(out, "dispatches 1 @%s\n", p->name);
    for (uint32_t k = 0; k < plan->dispatches.count; k++) {
        const dispatch *d = &plan->dispatches.items[k];
        text_printf(out, "dispatch %u {\n", k);
        for (uint32_t j = 0; j < d->stages.count; j++) {
            uint32_t stage = d->stages.items[j];
            text_printf(out, "  %%%s ", p->stages.items[stage].name);
            type_text(out, p->stages.items[stage].type);
            text_printf(out, " %s", plan->why[stage] == CUT_none ? "fused" : "stored");
            if (plan->why[stage] != CUT_none) text_printf(out, " ; %s", cut_text(plan->why[stage]));
            text_string(out, "\n");
        }
        text_string(out, "}\n");
    }
}
