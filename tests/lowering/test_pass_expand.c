/* SPDX-License-Identifier: MIT
 * The elementary functions after `expand`: every error against the C library's double functions stays within the bound that
 * expand.def states, over a stride of all f32 bit patterns; special values are those of C99; nothing of class EXP is left. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "lowering/pass.h"
#include "lowering/tensor.h"

/* ---- one function of parameters, as a list of ops to run ----------------------------------------- */

typedef struct tape { arena *memory; tensor_pipe *pipe; ref root; ref *order; uint32_t count; scalar *values; } tape;

static void order_nodes(tape *t, bool *seen, ref r)
{
    if (seen[r]) return;
    seen[r] = true;
    for (int k = 0; k < node_at(t->pipe, r)->n_args; k++) order_nodes(t, seen, node_arg(t->pipe, r, k));
    t->order[t->count++] = r;
}

/* op(param 0, param 1), the second a constant where `y` says so; expanded. */
static tape tape_of(tensor_op op, const float *y)
{
    tape t = { .memory = arena_new(NULL) };
    tensor_pipe *p = t.pipe = tensor_pipe_new(t.memory, "function");
    for (int k = 0; k < 2; k++)
        LIST_PUSH(t.memory, p->params, ((tensor_param){ .name = k ? "y" : "x", .type = type_of(KIND_f32, 1) }));
    ref x = tensor_param_node(p, 0);
    ref call = op_get(op)->arity == 1 ? tensor_op1(p, op, x)
                                      : tensor_op2(p, op, x, y ? tensor_f32(p, *y) : tensor_param_node(p, 1));
    uint32_t s = tensor_stage_new(p, STAGE_compute, "value", type_of(KIND_f32, 1), 0, (span){ 0 });
    stage_at(p, s)->body = call;
    assert_true(pass_expand(p));
    assert_false(pass_expand(p));
    t.root = stage_at(p, s)->body;
    t.order = ARENA_ARRAY(t.memory, ref, p->nodes.count);
    t.values = ARENA_ARRAY(t.memory, scalar, p->nodes.count);
    order_nodes(&t, ARENA_ARRAY(t.memory, bool, p->nodes.count), t.root);
    return t;
}

static scalar step_value(const tape *t, ref r, const float *arguments)
{
    const tensor_node *n = node_at(t->pipe, r);
    scalar args[3] = { { 0 }, { 0 }, { 0 } };
    for (int k = 0; k < n->n_args; k++) args[k] = t->values[node_arg(t->pipe, r, k)];
    kind k = n->n_args ? node_type(t->pipe, node_arg(t->pipe, r, 0)).kind : (kind)n->type.kind;
    switch ((tensor_op)n->op) {
    case OP_const:   return scalar_of_bits(n->type.kind, n->payload);
    case OP_param:   return (scalar){ .f = arguments[n->payload] };
    case OP_cast:    return cast_evaluate(args[0], k, n->type.kind);
    case OP_bitcast: return scalar_of_bits(n->type.kind, bits_of_scalar(k, args[0]));
    case OP_select:  return args[0].i ? args[1] : args[2];
    default:
        assert_int_not_equal(op_get(n->op)->class, CLASS_EXP);
        assert_true(op_get(n->op)->class < CLASS_EXP && n->op != OP_fma && n->op != OP_muladd);
        return op_evaluate(n->op, k, args);
    }
}

static float run(const tape *t, float x, float y)
{
    float arguments[2] = { x, y };
    for (uint32_t k = 0; k < t->count; k++) t->values[t->order[k]] = step_value(t, t->order[k], arguments);
    return t->values[t->root].f;
}

/* ---- errors --------------------------------------------------------------------------------------- */

static float f32_of(uint32_t bits) { float f; memcpy(&f, &bits, sizeof f); return f; }

static double ulp_of(double exact)
{
    int exponent;
    if (fabs(exact) < 0x1p-126) return 0x1p-149;
    frexp(fmin(fabs(exact), 0x1p127), &exponent);
    return ldexp(1, exponent - 24);
}

/* In units of the last place; 1e30 for a NaN, infinity or sign that shouldn't be. Beyond f32's range, as if at its end. */
static double error_of(float got, double exact)
{
    if (isnan(exact) || isnan(got)) return isnan(exact) && isnan(got) ? 0 : 1e30;
    if (!!signbit(got) != !!signbit(exact)) return 1e30;
    if (isinf(exact)) return got == exact ? 0 : 1e30;
    double value = isinf(got) ? copysign(0x1p128, got) : got, clamped = fabs(exact) > 0x1p128 ? copysign(0x1p128, exact) : exact;
    return fabs(value - clamped) / ulp_of(clamped);
}

typedef struct function { tensor_op op; double bound; double (*one)(double); double (*two)(double, double); } function;
#define one_exp exp, NULL
#define one_exp2 exp2, NULL
#define one_log log, NULL
#define one_log2 log2, NULL
#define one_pow NULL, pow
#define one_sin sin, NULL
#define one_cos cos, NULL
#define one_tan tan, NULL
#define one_asin asin, NULL
#define one_acos acos, NULL
#define one_atan atan, NULL
#define one_atan2 NULL, atan2
#define one_sinh sinh, NULL
#define one_cosh cosh, NULL
#define one_tanh tanh, NULL
#define one_cbrt cbrt, NULL
static const function functions[] = {
#define EXPAND(op, arity, ulps, note) { OP_##op, ulps, one_##op },
#include "lowering/expand.def"
#undef EXPAND
};
enum { N_FUNCTIONS = sizeof functions / sizeof *functions };

/* Beyond 2^17 the bound of the trigonometric ones is on the angle. */
static bool is_large_angle(const function *f, float x)
{
    return (f->op == OP_sin || f->op == OP_cos || f->op == OP_tan) && fabsf(x) > 0x1p17f && !isinf(x);
}

static void check_one(const function *f, const tape *t, float x)
{
    float got = run(t, x, 0);
    double exact = f->one(x);
    if (is_large_angle(f, x)) {
        double off = f->op == OP_tan ? fabs(remainder(atan(got) - atan(exact), M_PI)) : fabs(got - exact);
        if (off <= 0x1p-22) return;
    } else if (error_of(got, exact) <= f->bound) {
        return;
    }
    fail_msg("%s(%a) = %a, exact %a: %g ulp, stated %g", op_get(f->op)->name, x, got, exact, error_of(got, exact), f->bound);
}

static void every_function_of_one(void **state)
{
    (void)state;
    for (int i = 0; i < N_FUNCTIONS; i++) {
        const function *f = &functions[i];
        if (!f->one) continue;
        tape t = tape_of(f->op, NULL);
        for (uint64_t bits = i; bits <= UINT32_MAX; bits += 65003) check_one(f, &t, f32_of((uint32_t)bits));
        for (uint32_t k = 0; k < 20000; k++) check_one(f, &t, (float)((int32_t)k - 10000) / 1024);      /* where people are */
        arena_free(t.memory);
    }
}

static uint32_t random_bits(uint64_t *seed)
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(*seed >> 32);
}

static void check_two(const function *f, const tape *t, float x, float y)
{
    float got = run(t, x, y);
    double error = error_of(got, f->two(x, y));
    if (error > f->bound)
        fail_msg("%s(%a, %a) = %a, exact %a: %g ulp, stated %g", op_get(f->op)->name, x, y, got, f->two(x, y), error, f->bound);
}

static const float specials[] = { 0.0f, -0.0f, 1, -1, 2, -2, 3, -3, 0.5f, -0.5f, INFINITY, -INFINITY, NAN, 0x1p-149f, -0x1p-149f,
    0x1.fffffep+127f, -0x1.fffffep+127f, 16777215, -16777215, 16777217, 1e30f, -1e30f, 0x1.fffffep-1f, 0x1.000002p+0f, 0x1p-126f };
enum { N_SPECIALS = sizeof specials / sizeof *specials };

static void every_function_of_two(void **state)
{
    (void)state;
    for (int i = 0; i < N_FUNCTIONS; i++) {
        const function *f = &functions[i];
        if (!f->two) continue;
        tape t = tape_of(f->op, NULL);
        uint64_t seed = 1;
        for (int a = 0; a < N_SPECIALS; a++)
            for (int b = 0; b < N_SPECIALS; b++) check_two(f, &t, specials[a], specials[b]);
        for (int k = 0; k < 40000; k++) {
            float x = f32_of(random_bits(&seed)), y = f32_of(random_bits(&seed));
            check_two(f, &t, x, y);
            check_two(f, &t, (float)((int32_t)random_bits(&seed) * 0x1p-30), (float)((int32_t)random_bits(&seed) * 0x1p-30));
            float base = fabsf(x), exponent = (float)(random_bits(&seed) * (277 * 0x1p-32) - 149);     /* all over the range of f32 */
            if (f->op == OP_pow) check_two(f, &t, base, (float)(exponent / log2(base)));
            base = (float)(1 + (int32_t)random_bits(&seed) * 0x1p-33);
            if (f->op == OP_pow) check_two(f, &t, base, (float)(exponent / log2(base)));
        }
        arena_free(t.memory);
    }
}

/* With a constant exponent much folds away; what is left has the same bits. */
static void constant_exponents(void **state)
{
    (void)state;
    static const float exponents[] = { 2.4f, 1 / 2.4f, 2.2f, -1, 1, 0, 3, -3, 0.5f, INFINITY, NAN };
    tape general = tape_of(OP_pow, NULL);
    for (size_t i = 0; i < sizeof exponents / sizeof *exponents; i++) {
        tape t = tape_of(OP_pow, &exponents[i]);
        assert_true(t.count < general.count);
        for (uint64_t bits = i; bits <= UINT32_MAX; bits += 300007) {
            float x = f32_of((uint32_t)bits), got = run(&t, x, 0), same = run(&general, x, exponents[i]);
            assert_true((isnan(got) && isnan(same)) || !memcmp(&got, &same, sizeof got));
        }
        for (int a = 0; a < N_SPECIALS; a++) assert_true(error_of(run(&t, specials[a], 0), pow(specials[a], exponents[i])) <= 2);
        arena_free(t.memory);
    }
    arena_free(general.memory);
}

/* A transfer curve runs this per component: it must not grow unnoticed. */
static void pow_stays_cheap(void **state)
{
    (void)state;
    float y = 2.4f;
    tape t = tape_of(OP_pow, &y);
    int n_ops = 0, n_div = 0;
    for (uint32_t k = 0; k < t.count; k++) {
        tensor_op op = node_at(t.pipe, t.order[k])->op;
        n_ops += op != OP_const && op != OP_param && op != OP_bitcast;
        n_div += op == OP_div;
    }
    if (n_ops > 92) fail_msg("%d ops", n_ops);
    assert_int_equal(n_div, 1);
    arena_free(t.memory);
}

static void exact_points(void **state)
{
    (void)state;
    static const struct { tensor_op op; float x, y, value; } points[] = {
        { OP_exp, 0, 0, 1 }, { OP_exp2, 0, 0, 1 }, { OP_exp2, 10, 0, 1024 }, { OP_exp2, -149, 0, 0x1p-149f }, { OP_log, 1, 0, 0 },
        { OP_log2, 8, 0, 3 }, { OP_log2, 0x1p-149f, 0, -149 }, { OP_sin, 0, 0, 0 }, { OP_cos, 0, 0, 1 }, { OP_cosh, 0, 0, 1 },
        { OP_pow, 1, 77.7f, 1 }, { OP_pow, 1.2345678f, 1, 1.2345678f }, { OP_pow, 4, 0.5f, 2 }, { OP_pow, -2, 3, -8 },
        { OP_cbrt, 0, 0, 0 }, { OP_atan, 1, 0, 0x1.921fb6p-1f }, { OP_atan2, 0, -1, 0x1.921fb6p+1f }, { OP_acos, 1, 0, 0 },
        { OP_asin, 1, 0, 0x1.921fb6p+0f }, { OP_tanh, 40, 0, 1 } };
    for (size_t i = 0; i < sizeof points / sizeof *points; i++) {
        tape t = tape_of(points[i].op, NULL);
        float got = run(&t, points[i].x, points[i].y);
        if (got != points[i].value) fail_msg("%s(%a, %a) = %a", op_get(points[i].op)->name, points[i].x, points[i].y, got);
        arena_free(t.memory);
    }
}

/* Constants fold to constants by the same ops, and pixels expand once for all lanes. */
static void constants_and_pixels(void **state)
{
    (void)state;
    arena *memory = arena_new(NULL);
    tensor_pipe *p = tensor_pipe_new(memory, "constants");
    uint32_t s = tensor_stage_new(p, STAGE_compute, "value", type_of(KIND_f32, 3), 0, (span){ 0 });
    ref components[3] = { tensor_f32(p, 0.25f), tensor_f32(p, 0.5f), tensor_f32(p, 0) };
    stage_at(p, s)->body = tensor_op2(p, OP_pow, tensor_vec(p, components, 3), tensor_splat(p, tensor_f32(p, 2.4f), 3));
    assert_true(pass_expand(p));
    tape t = tape_of(OP_pow, NULL);
    for (int lane = 0; lane < 3; lane++) {
        float value, x;
        assert_true(node_is_f32(p, components[lane], &x));
        assert_true(node_is_f32(p, tensor_comp(p, stage_at(p, s)->body, lane), &value));
        assert_true(value == run(&t, x, 2.4f));
    }
    arena_free(t.memory);
    arena_free(memory);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_function_of_one), cmocka_unit_test(every_function_of_two), cmocka_unit_test(constant_exponents),
        cmocka_unit_test(pow_stays_cheap), cmocka_unit_test(exact_points), cmocka_unit_test(constants_and_pixels),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
