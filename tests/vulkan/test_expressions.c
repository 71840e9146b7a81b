/* SPDX-License-Identifier: MIT
 * Ops upon ops, as the compilers of drivers see them: what is right alone can be wrong beside another (a < b ? a : b taken for a
 * minimum, not (a < b) for a >= b, |x| for x where x seems positive). Random expressions, simplified as tensor IR is, against the
 * interpreter's values bit for bit. */
#include <stdio.h>
#include <string.h>

#include "support_bench.h"

#include "lowering/scalar.h"
#include "lowering/tensor_build.h"

enum { N_STEPS = 300, N_SEEDS = 4, N_RECENT = 30, MOST_NODES = 4000 };

static const kind KINDS[] = { KIND_f32, KIND_f32, KIND_f32, KIND_bool, KIND_i32, KIND_u32, KIND_u8, KIND_i16, KIND_f16 };
enum { N_KINDS = sizeof KINDS / sizeof *KINDS };

/* `values`: per node, one for each operand. `is_same`: all alike, so a compiler may know it; what it makes of a zero that it
 * knows is its own affair (emit_ops.h), and tensor IR has few that aren't literals. */
typedef struct writer { bench *b; tensor_pipe *pipe; uint64_t random; scalar **values; bool *is_same; uint32_t n_done; } writer;

static uint32_t below(writer *w, uint32_t n)
{
    return (uint32_t)(next_random(&w->random) % n);
}

static kind kind_of(const tensor_pipe *p, ref r)
{
    return (kind)node_type(p, r).kind;
}

static scalar value_of(const bench *b, const tensor_pipe *p, ref r, scalar *const *values, int j)
{
    const tensor_node *n = node_at(p, r);
    scalar args[3];
    for (int a = 0; a < n->n_args; a++) args[a] = values[node_arg(p, r, a)][j];
    kind k = (kind)n->type.kind, from = n->n_args ? kind_of(p, node_arg(p, r, n->op == OP_select)) : k;
    switch (n->op) {
    case OP_const:  return scalar_of_bits(k, n->payload);
    case OP_param:  return b->o->values[n->payload][j];
    case OP_cast:   return cast_evaluate(args[0], from, k);
    case OP_wrap:   return wrap_evaluate(args[0], k);
    case OP_bitcast: return scalar_of_bits(k, bits_of_scalar(from, args[0]));
    case OP_select: return args[0].i ? args[1] : args[2];
    default:        return op_evaluate((tensor_op)n->op, from, args);
    }
}

static void evaluate(writer *w)
{
    for (; w->n_done < w->pipe->nodes.count; w->n_done++) {
        ref r = w->n_done;
        assert_true(r < MOST_NODES);
        scalar *values = w->values[r] = ARENA_ARRAY(w->b->memory, scalar, N_OPERANDS);
        w->is_same[r] = true;
        for (int j = 0; j < N_OPERANDS; j++) {
            values[j] = value_of(w->b, w->pipe, r, w->values, j);
            if (bits_of_value(kind_of(w->pipe, r), values[j]) != bits_of_value(kind_of(w->pipe, r), values[0])) w->is_same[r] =
                false;
        }
    }
}

static ref literal(writer *w, kind k)
{
    static const float reals[] = { 0, -0.0f, 1, -1, 0.5f, 2, 255, 1e-3f };
    scalar value = k == KIND_bool ? (scalar){ .i = below(w, 2) } : kind_is_float(k) ? (scalar){ .f = reals[below(w, 8)] } :
        wrap_evaluate((scalar){ .i = (int64_t)below(w, 40) - 8 }, k);
    if (k == KIND_f16) value.f = f32_to_f16_and_back(value.f);
    return tensor_const(w->pipe, k, bits_of_scalar(k, value));
}

/* A node of the kind, mostly one of those made last. */
static ref some(writer *w, kind k)
{
    uint32_t count = w->pipe->nodes.count;
    if (below(w, 8) == 0) return literal(w, k);
    for (int tries = 0; tries < 60; tries++) {
        ref r = count - 1 - below(w, tries < 30 && count > N_RECENT ? N_RECENT : count - 1);
        if (r && r < w->n_done && kind_of(w->pipe, r) == k && !w->is_same[r]) return r;
    }
    ref real = tensor_param_node(w->pipe, below(w, 3));
    return tensor_cast(w->pipe, real, k);
}

/* fma is long, and in whole numbers anyway. */
static bool is_wanted(tensor_op op, kind k)
{
    op_class c = op_get(op)->class;
    return c <= CLASS_LOG && op != OP_fma && class_takes(c, k);
}

static void write_step(writer *w)
{
    kind k = KINDS[below(w, N_KINDS)];
    uint32_t what = below(w, 8);
    if (what == 0) {
        ref condition = some(w, KIND_bool), yes = some(w, k), no = some(w, k);
        bool is_hollow = node_at(w->pipe, no)->op == OP_cast && node_arg(w->pipe, no, 0) == condition;      /* a zero again */
        if (!is_hollow) tensor_select(w->pipe, condition, yes, no);
    } else if (what == 1) {
        tensor_cast(w->pipe, some(w, KINDS[below(w, N_KINDS)]), k);
    } else {
        tensor_op op;
        do op = (tensor_op)(1 + below(w, OP_COUNT - 1)); while (!is_wanted(op, k));
        ref a = some(w, k), b = some(w, k), c = some(w, k);
        int arity = op_get(op)->arity;
        if (arity == 1) tensor_op1(w->pipe, op, a);
        else if (arity == 2) tensor_op2(w->pipe, op, a, b);
        else tensor_op3(w->pipe, op, a, b, c);
    }
}

static void write_pipe(writer *w)
{
    arena *memory = w->b->memory;
    w->pipe = tensor_pipe_new(memory, "expressions");
    w->pipe->strict = true;
    w->values = ARENA_ARRAY(memory, scalar *, MOST_NODES);
    w->is_same = ARENA_ARRAY(memory, bool, MOST_NODES);
    w->n_done = 1;
    for (int k = 0; k < 3; k++) {
        tensor_param real = { .name = "operand", .type = type_of(KIND_f32, 1) };
        LIST_PUSH(memory, w->pipe->params, real);
        tensor_param_node(w->pipe, (uint32_t)k);
    }
    evaluate(w);
    for (int k = 0; k < N_STEPS; k++) {
        write_step(w);
        evaluate(w);
    }
}

/* ---- their code --------------------------------------------------------------------------- */

static spv_id code_of(bench *b, const tensor_pipe *p, ref r, const spv_id *ids)
{
    const tensor_node *n = node_at(p, r);
    spv_id args[3];
    for (int a = 0; a < n->n_args; a++) args[a] = ids[node_arg(p, r, a)];
    kind k = (kind)n->type.kind, from = n->n_args ? kind_of(p, node_arg(p, r, n->op == OP_select)) : k;
    switch (n->op) {
    case OP_const:  return shader_hidden(b->m, b->zero, shader_constant(b->m, k, n->payload));
    case OP_param:  return b->args[n->payload];
    case OP_cast:   return shader_cast(b->m, args[0], from, k);
    case OP_wrap:   return shader_wrap(b->m, args[0], from, k);
    case OP_bitcast: return shader_bitcast(b->m, args[0], from, k);
    case OP_select: return spirv_op3(b->m, SpvOpSelect, shader_kind_type(b->m, k), args[0], args[1], args[2]);
    default:        return shader_op(b->m, b->zero, (tensor_op)n->op, from, args);
    }
}

static const char *text_of(bench *b, const tensor_pipe *p, ref r, int depth)
{
    const tensor_node *n = node_at(p, r);
    if (n->op == OP_const) return arena_printf(b->memory, "0x%x", n->payload);
    if (n->op == OP_param) return arena_printf(b->memory, "%c", 'a' + (int)n->payload);
    if (depth == 0) return "..";
    const char *text = arena_printf(b->memory, "%s.%s(", op_get((tensor_op)n->op)->name, kind_get((kind)n->type.kind)->name);
    for (int a = 0; a < n->n_args; a++)
        text = arena_printf(b->memory, "%s%s%s", text, a ? ", " : "", text_of(b, p, node_arg(p, r, a), depth - 1));
    return arena_printf(b->memory, "%s)", text);
}

/* What nothing else uses is looked at; the rest stays inside, where compilers are free. */
static void run_expressions(fixture *f, uint64_t seed)
{
    arena *memory = arena_new(NULL);
    bench *b = bench_new(f, memory, KIND_f32, seed);
    writer w = { .b = b, .random = seed };
    write_pipe(&w);
    const tensor_pipe *p = w.pipe;
    uint32_t count = p->nodes.count;
    spv_id *ids = ARENA_ARRAY(memory, spv_id, count);
    bool *is_used = ARENA_ARRAY(memory, bool, count);
    for (ref r = 1; r < count; r++) {
        ids[r] = code_of(b, p, r, ids);
        for (int a = 0; a < node_at(p, r)->n_args; a++) is_used[node_arg(p, r, a)] = true;
    }
    for (ref r = 1; r < count; r++) {
        if (is_used[r] || node_at(p, r)->n_args == 0) continue;
        uint64_t *wanted = bench_add(b, kind_of(p, r), ids[r], text_of(b, p, r, 3));
        for (int j = 0; j < N_OPERANDS; j++) wanted[j] = bits_of_value(kind_of(p, r), w.values[r][j]);
    }
    bench_run(b);
    arena_free(memory);
}

static void ops_upon_ops(void **state)
{
    fixture *f = *state;
    if (!f->is_open) skip();
    for (uint64_t seed = 1; seed <= N_SEEDS; seed++) run_expressions(f, seed);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(ops_upon_ops) };
    return cmocka_run_group_tests(tests, open_device, close_device);
}
