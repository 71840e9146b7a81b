/* SPDX-License-Identifier: MIT
 * What builders simplify keeps every bit: random expressions over parameters and constants are built beside their values, which
 * op_evaluate gives one op at a time; then the built node, whatever is left of it, is evaluated. */
#include "support_ir.h"

enum { N_PARAMS = 3, N_SAMPLES = 4, N_TERMS = 60, N_ROUNDS = 400 };

typedef struct term { ref node; scalar value[N_SAMPLES][TENSOR_MAX_LANES]; } term;

typedef struct builder {
    random_source random;
    tensor_pipe *pipe;
    uint32_t params[N_SAMPLES][KIND_COUNT * N_PARAMS][TENSOR_MAX_LANES];
    term terms[N_TERMS];
    int n_terms;
} builder;

static type term_type(const builder *b, int t)
{
    return node_type(b->pipe, b->terms[t].node);
}

static void add_params(builder *b)
{
    for (int k = 0; k < KIND_COUNT * N_PARAMS; k++) {
        kind of = (kind)(k % KIND_COUNT);
        int lanes = k / KIND_COUNT == 2 ? 3 : 1;
        LIST_PUSH(b->pipe->memory, b->pipe->params, ((tensor_param){ .name = "p", .type = type_of(of, lanes) }));
        for (int s = 0; s < N_SAMPLES; s++)
            for (int lane = 0; lane < lanes; lane++)
                b->params[s][k][lane] = random_of_kind(&b->random, of);
    }
}

static term *new_term(builder *b, ref node)
{
    b->terms[b->n_terms].node = node;
    return &b->terms[b->n_terms++];
}

static void add_leaf(builder *b, kind of)
{
    int which = random_below(&b->random, 3);
    if (which < 2) {
        uint32_t p = (uint32_t)(of + KIND_COUNT * random_below(&b->random, N_PARAMS));
        term *t = new_term(b, tensor_param_node(b->pipe, p));
        for (int s = 0; s < N_SAMPLES; s++)
            for (int lane = 0; lane < node_type(b->pipe, t->node).lanes; lane++)
                t->value[s][lane] = scalar_of_bits(of, b->params[s][p][lane]);
        return;
    }
    uint32_t bits = random_of_kind(&b->random, of);
    int lanes = random_below(&b->random, 2) ? 3 : 1;
    term *t = new_term(b, tensor_splat(b->pipe, tensor_const(b->pipe, of, bits), lanes));
    for (int s = 0; s < N_SAMPLES; s++)
        for (int lane = 0; lane < lanes; lane++)
            t->value[s][lane] = scalar_of_bits(of, bits);
}

/* A term of this type, often one that was used before; -1 when there is none. */
static int pick(builder *b, type wanted)
{
    for (int tries = 0; tries < 40; tries++) {
        int t = random_below(&b->random, b->n_terms);
        if (type_equal(term_type(b, t), wanted))
            return t;
    }
    return -1;
}

static bool takes(op_class class, kind k)
{
    switch (class) {
    case CLASS_NUM: return k == KIND_i32 || k == KIND_u32 || k == KIND_i64 || k == KIND_f32;
    case CLASS_SEL: return true;
    case CLASS_INT: return k == KIND_i32 || k == KIND_u32;
    case CLASS_FLT: return k == KIND_f32;
    case CLASS_CMP: return k != KIND_i64;
    case CLASS_LOG: return k == KIND_bool;
    default:        return false;
    }
}

static void add_elementwise(builder *b, tensor_op op)
{
    int args[3] = { random_below(&b->random, b->n_terms) };
    type t = term_type(b, args[0]);
    if (!takes(op_get(op)->class, t.kind))
        return;
    for (int k = 1; k < op_get(op)->arity; k++)
        if ((args[k] = pick(b, t)) < 0)
            return;
    ref a = b->terms[args[0]].node, c = b->terms[args[1]].node, d = b->terms[args[2]].node;
    ref node = op_get(op)->arity == 1 ? tensor_op1(b->pipe, op, a)
             : op_get(op)->arity == 2 ? tensor_op2(b->pipe, op, a, c) : tensor_op3(b->pipe, op, a, c, d);
    term *out = new_term(b, node);
    tensor_op meant = op == OP_muladd && !b->pipe->strict ? OP_fma : op;
    for (int s = 0; s < N_SAMPLES; s++)
        for (int lane = 0; lane < t.lanes; lane++) {
            scalar values[3];
            for (int k = 0; k < op_get(op)->arity; k++)
                values[k] = b->terms[args[k]].value[s][lane];
            out->value[s][lane] = op_evaluate(meant, t.kind, values);
        }
}

static void add_conversion(builder *b)
{
    int from = random_below(&b->random, b->n_terms), how = random_below(&b->random, 3);
    type t = term_type(b, from);
    kind to = (kind)random_below(&b->random, KIND_COUNT);
    bool bits32 = kind_get(t.kind)->bits == 32 && kind_get(to)->bits == 32;
    if ((how == 1 && (kind_is_float(t.kind) || kind_is_float(to))) || (how == 2 && !bits32))
        return;
    ref a = b->terms[from].node;
    term *out = new_term(b, how == 0 ? tensor_cast(b->pipe, a, to) : how == 1 ? tensor_wrap(b->pipe, a, to) : tensor_bitcast(b->pipe, a, to));
    for (int s = 0; s < N_SAMPLES; s++)
        for (int lane = 0; lane < t.lanes; lane++) {
            scalar value = b->terms[from].value[s][lane];
            out->value[s][lane] = how == 0 ? cast_evaluate(value, t.kind, to) : how == 1 ? wrap_evaluate(value, to)
                                : scalar_of_bits(to, bits_of_scalar(t.kind, value));
            if (how == 2 && kind_is_float(t.kind) && value.f != value.f)
                out->value[s][lane] = scalar_of_bits(to, 0);          /* a NaN's payload is nobody's business */
        }
    for (int s = 0; how == 2 && s < N_SAMPLES; s++)
        for (int lane = 0; lane < t.lanes; lane++)
            if (kind_is_float(t.kind) && b->terms[from].value[s][lane].f != b->terms[from].value[s][lane].f)
                b->n_terms = (int)(out - b->terms);                   /* so such a term isn't kept */
}

static void add_select(builder *b)
{
    int yes = random_below(&b->random, b->n_terms);
    type t = term_type(b, yes);
    int no = pick(b, t), condition = pick(b, type_of(KIND_bool, random_below(&b->random, 2) ? t.lanes : 1));
    if (no < 0 || condition < 0)
        return;
    bool wide = term_type(b, condition).lanes == t.lanes;
    term *out = new_term(b, tensor_select(b->pipe, b->terms[condition].node, b->terms[yes].node, b->terms[no].node));
    for (int s = 0; s < N_SAMPLES; s++)
        for (int lane = 0; lane < t.lanes; lane++)
            out->value[s][lane] = b->terms[b->terms[condition].value[s][wide ? lane : 0].i ? yes : no].value[s][lane];
}

static void add_pixel(builder *b)
{
    int from = random_below(&b->random, b->n_terms);
    type t = term_type(b, from);
    if (t.lanes == 3) {
        int which = random_below(&b->random, 3);
        term *out = new_term(b, tensor_comp(b->pipe, b->terms[from].node, which));
        for (int s = 0; s < N_SAMPLES; s++)
            out->value[s][0] = b->terms[from].value[s][which];
        return;
    }
    int parts[3] = { from, pick(b, t), pick(b, t) };
    if (parts[1] < 0 || parts[2] < 0)
        return;
    ref components[3];
    for (int k = 0; k < 3; k++)
        components[k] = b->terms[parts[k]].node;
    term *out = new_term(b, tensor_vec(b->pipe, components, 3));
    for (int s = 0; s < N_SAMPLES; s++)
        for (int k = 0; k < 3; k++)
            out->value[s][k] = b->terms[parts[k]].value[s][0];
}

static void check_terms(builder *b)
{
    for (int t = 0; t < b->n_terms; t++) {
        type of = term_type(b, t);
        for (int s = 0; s < N_SAMPLES; s++) {
            run_values values = { NULL, b->params[s] };
            for (int lane = 0; lane < of.lanes; lane++) {
                scalar got = uniform_evaluate(b->pipe, tensor_comp(b->pipe, b->terms[t].node, lane), &values);
                scalar wanted = b->terms[t].value[s][lane];
                bool alike = kind_is_float(of.kind) ? same_bits(of.kind, bits_of_scalar(of.kind, got), bits_of_scalar(of.kind, wanted))
                                                    : got.i == wanted.i;
                if (!alike)
                    fail_msg("`%s` %s: %lld or %a, must be %lld or %a", op_get(node_at(b->pipe, b->terms[t].node)->op)->name,
                             kind_get(of.kind)->name, (long long)got.i, (double)got.f, (long long)wanted.i, (double)wanted.f);
            }
        }
    }
}

static void simplified_expressions_keep_their_bits(void **state)
{
    (void)state;
    int rows[OP_COUNT] = { 0 };
    for (int round = 0; round < N_ROUNDS; round++) {
        arena *memory = arena_new(NULL);
        builder b = { .random = { (uint64_t)round }, .pipe = tensor_pipe_new(memory, "t") };
        b.pipe->strict = round % 2;
        add_params(&b);
        for (int k = 0; k < KIND_COUNT; k++)
            add_leaf(&b, (kind)k);
        for (int k = 0; k < 10; k++)
            add_leaf(&b, (kind[]){ KIND_i32, KIND_f32, KIND_bool, KIND_u32 }[random_below(&b.random, 4)]);
        for (int tries = 0; b.n_terms < N_TERMS && tries < 1000; tries++) {
            tensor_op op = (tensor_op)(1 + random_below(&b.random, OP_exp - 1));
            int before = b.n_terms;
            switch (random_below(&b.random, 6)) {
            case 0:  add_conversion(&b); break;
            case 1:  add_select(&b); break;
            case 2:  add_pixel(&b); break;
            default: add_elementwise(&b, op); rows[op] += b.n_terms - before; break;
            }
        }
        check_terms(&b);
        arena_free(memory);
    }
    for (int op = 1; op < OP_exp; op++)
        if (rows[op] < 20)
            fail_msg("`%s` was tried %d times only", op_get((tensor_op)op)->name, rows[op]);
}

static ref param(tensor_pipe *p, kind k)
{
    LIST_PUSH(p->memory, p->params, ((tensor_param){ .name = "p", .type = type_of(k, 1) }));
    return tensor_param_node(p, p->params.count - 1);
}

static void what_is_simplified(void **state)
{
    (void)state;
    arena *memory = arena_new(NULL);
    tensor_pipe *p = tensor_pipe_new(memory, "t");
    ref x = param(p, KIND_i32), f = param(p, KIND_f32), u = param(p, KIND_u8), c = param(p, KIND_bool);
    assert_int_equal(tensor_op2(p, OP_add, x, tensor_i32(p, 0)), x);
    assert_int_equal(tensor_op2(p, OP_sub, x, x), tensor_i32(p, 0));
    assert_int_equal(tensor_op2(p, OP_add, tensor_op2(p, OP_add, x, tensor_i32(p, 3)), tensor_i32(p, -3)), x);
    assert_int_equal(tensor_op2(p, OP_sub, tensor_op2(p, OP_add, tensor_i32(p, 5), x), tensor_i32(p, 1)),
                     tensor_op2(p, OP_add, x, tensor_i32(p, 4)));
    assert_int_equal(tensor_op2(p, OP_mul, tensor_f32(p, 1), f), f);
    assert_int_equal(tensor_op2(p, OP_div, f, tensor_f32(p, 1)), f);
    assert_int_equal(tensor_op2(p, OP_max, x, x), x);
    assert_int_equal(tensor_select(p, tensor_op1(p, OP_not, c), x, tensor_i32(p, 9)), tensor_select(p, c, tensor_i32(p, 9), x));
    assert_int_equal(tensor_cast(p, tensor_cast(p, u, KIND_f32), KIND_u8), u);
    assert_int_equal(tensor_cast(p, tensor_cast(p, u, KIND_i32), KIND_f32), tensor_cast(p, u, KIND_f32));
    assert_int_equal(tensor_comp(p, tensor_splat(p, f, 3), 2), f);
    ref pixel = tensor_vec(p, (ref[]){ f, tensor_f32(p, 2) }, 2);
    assert_int_equal(tensor_vec(p, (ref[]){ tensor_comp(p, pixel, 0), tensor_comp(p, pixel, 1) }, 2), pixel);
    assert_int_equal(tensor_op1(p, OP_floor, tensor_cast(p, x, KIND_f32)), tensor_cast(p, x, KIND_f32));
    arena_free(memory);
}

static void what_must_stay(void **state)
{
    (void)state;
    arena *memory = arena_new(NULL);
    tensor_pipe *p = tensor_pipe_new(memory, "t");
    ref x = param(p, KIND_i32), f = param(p, KIND_f32);
    assert_int_not_equal(tensor_op2(p, OP_add, f, tensor_f32(p, 0)), f);             /* -0 + 0 is 0 */
    assert_int_equal(node_at(p, tensor_op2(p, OP_mul, f, tensor_f32(p, 0)))->op, OP_mul);
    assert_int_equal(node_at(p, tensor_op2(p, OP_sub, f, f))->op, OP_sub);
    assert_int_equal(node_at(p, tensor_op2(p, OP_eq, f, f))->op, OP_eq);
    assert_int_equal(node_at(p, tensor_op1(p, OP_exp, tensor_f32(p, 1)))->op, OP_exp);
    ref next = tensor_op2(p, OP_add, x, tensor_i32(p, 1));
    assert_int_equal(node_at(p, tensor_op2(p, OP_lt, x, next))->op, OP_lt);          /* not for the largest i32 */
    assert_int_equal(node_at(p, tensor_cast(p, tensor_cast(p, x, KIND_u8), KIND_i32))->op, OP_cast);
    assert_int_equal(node_at(p, tensor_wrap(p, tensor_wrap(p, x, KIND_i8), KIND_u16))->op, OP_wrap);
    assert_int_not_equal(tensor_wrap(p, tensor_wrap(p, x, KIND_i8), KIND_u16), tensor_wrap(p, x, KIND_u16));
    arena_free(memory);
}

static void constant_muladds_round_as_contract_will(void **state)
{
    (void)state;
    arena *memory = arena_new(NULL);
    for (int strict = 0; strict < 2; strict++) {
        tensor_pipe *p = tensor_pipe_new(memory, "t");
        p->strict = strict;
        const float x = 1 + 0x1p-12f;
        ref sum = tensor_op3(p, OP_muladd, tensor_f32(p, x), tensor_f32(p, x), tensor_f32(p, -(x * x)));
        assert_int_equal(sum, tensor_f32(p, strict ? 0 : 0x1p-24f));
    }
    arena_free(memory);
}

static void tables_at_constant_places(void **state)
{
    (void)state;
    arena *memory = arena_new(NULL);
    tensor_pipe *p = tensor_pipe_new(memory, "t");
    uint32_t words[] = { 1, 2, 3, 4, 5, 6 }, table;
    table = tensor_table_new(p, "k", type_of(KIND_u8, 1), 2, (int32_t[]){ -1, 0 }, (int32_t[]){ 3, 2 }, words, (span){ 0 });
    ref last = tensor_load(p, table, (ref[]){ tensor_i32(p, 1), tensor_i32(p, 1) }, NULL, NULL, type_of(KIND_f32, 1));
    assert_int_equal(last, tensor_f32(p, 6));
    uint8_t modes[] = { BORDER_edge, BORDER_value };
    ref nine = tensor_i32(p, 9), outside[] = { 0, nine };
    assert_int_equal(tensor_load(p, table, (ref[]){ tensor_i32(p, -5), tensor_i32(p, 1) }, modes, outside, type_of(KIND_i32, 1)), tensor_i32(p, 4));
    assert_int_equal(tensor_load(p, table, (ref[]){ tensor_i32(p, -5), tensor_i32(p, 2) }, modes, outside, type_of(KIND_i32, 1)), nine);
    arena_free(memory);
}

static void derived_names(void **state)
{
    (void)state;
    arena *memory = arena_new(NULL);
    tensor_pipe *p = tensor_pipe_new(memory, "t");
    const char *wanted[] = { "blur", "blur.1", "blur.2", "blur.3", "blue" };
    const char *asked[] = { "blur", "blur", "blur", "blur.1", "blue" };
    for (int k = 0; k < 5; k++) {
        uint32_t s = tensor_stage_new(p, STAGE_compute, asked[k], type_of(KIND_i32, 1), 0, (span){ 0 });
        assert_string_equal(stage_at(p, s)->name, wanted[k]);
    }
    arena_free(memory);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(simplified_expressions_keep_their_bits), cmocka_unit_test(what_is_simplified),
        cmocka_unit_test(what_must_stay), cmocka_unit_test(constant_muladds_round_as_contract_will),
        cmocka_unit_test(tables_at_constant_places), cmocka_unit_test(derived_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
