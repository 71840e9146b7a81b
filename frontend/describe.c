/* SPDX-License-Identifier: MIT
 * Uniform expressions in the words of a script, for messages: "src.width - 1". */
#include <string.h>

#include "frontend/builder.h"

static void say(builder *b, ref r, text *out, int depth);

static void say_dim(builder *b, uint32_t which, text *out)
{
    const tensor_dim *d = &b->pipe->dims.items[which];
    const char *input = stage_at(b->pipe, d->stage)->name;
    if (!strchr(d->name, '.'))
        text_string(out, d->name);
    else if (d->dimension < 2)
        text_printf(out, "%s.%s", input, d->dimension == 0 ? "width" : "height");
    else
        text_printf(out, "%s.extent(%d)", input, d->dimension);
}

static void say_call(builder *b, ref r, text *out, int depth)
{
    const tensor_node n = *node_at(b->pipe, r);
    text_printf(out, "%s(", n.op == OP_cast ? kind_get((kind)n.type.kind)->name : op_get((tensor_op)n.op)->name);
    for (int k = 0; k < n.n_args; k++) {
        if (k)
            text_string(out, ", ");
        say(b, node_arg(b->pipe, r, k), out, depth - 1);
    }
    text_string(out, ")");
}

static void say_atom(builder *b, ref r, text *out, int depth)
{
    const tensor_node n = *node_at(b->pipe, r);
    int64_t whole;
    float f;
    if (node_is_const(b->pipe, r, &whole))
        text_printf(out, "%lld", (long long)whole);
    else if (node_is_f32(b->pipe, r, &f))
        text_f32(out, f);
    else if (n.op == OP_dim)
        say_dim(b, n.payload, out);
    else if (n.op == OP_param)
        text_string(out, b->pipe->params.items[n.payload].name);
    else if (n.op == OP_coord && b->at && n.index < b->at->count && b->at->names[n.index])
        text_string(out, b->at->names[n.index]);
    else if (depth <= 0 || n.n_args == 0)
        text_string(out, "...");
    else if (n.op == OP_floordiv || n.op == OP_mod) {
        bool simple = node_at(b->pipe, node_arg(b->pipe, r, 0))->n_args == 0;
        text_string(out, simple ? "" : "(");
        say(b, node_arg(b->pipe, r, 0), out, depth - 1);
        text_printf(out, "%s %s ", simple ? "" : ")", n.op == OP_mod ? "%" : "//");
        say(b, node_arg(b->pipe, r, 1), out, depth - 1);
    } else
        say_call(b, r, out, depth);
}

static void say(builder *b, ref r, text *out, int depth)
{
    linear form;
    if (node_type(b->pipe, r).kind != KIND_i32 || node_type(b->pipe, r).lanes != 1 || !linear_of(b->pipe, r, &form)) {
        say_atom(b, r, out, depth);
        return;
    }
    bool first = true;
    for (int k = 0; k < form.n_terms; k++) {
        long long c = form.terms[k].coefficient;
        text_string(out, first ? (c < 0 ? "-" : "") : c < 0 ? " - " : " + ");
        if (c != 1 && c != -1)
            text_printf(out, "%lld*", c < 0 ? -c : c);
        say_atom(b, form.terms[k].atom, out, depth);
        first = false;
    }
    long long c = form.constant;
    if (first)
        text_printf(out, "%lld", c);
    else if (c)
        text_printf(out, " %c %lld", c < 0 ? '-' : '+', c < 0 ? -c : c);
}

const char *uniform_text(builder *b, ref r)
{
    text out = { 0 };
    say(b, r, &out, 4);
    const char *words = out.bytes ? arena_copy(b->memory, out.bytes, out.count + 1) : "";
    text_free(&out);
    return words;
}
