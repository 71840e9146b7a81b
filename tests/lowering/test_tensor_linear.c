/* SPDX-License-Identifier: MIT
 * Linear forms: equal to what they were made from, for random expressions and values; what is and isn't a constant apart. */
#include <string.h>

#include "support_ir.h"

enum { N_PARAMS = 6 };

static tensor_pipe *new_pipe(arena *memory)
{
    tensor_pipe *p = tensor_pipe_new(memory, "t");
    for (int k = 0; k < N_PARAMS; k++)
        LIST_PUSH(memory, p->params, ((tensor_param){ .name = "p", .type = type_of(KIND_i32, 1) }));
    return p;
}

static int32_t value_of(const tensor_pipe *p, ref r, const uint32_t (*params)[TENSOR_MAX_LANES])
{
    run_values values = { NULL, params };
    return (int32_t)uniform_evaluate(p, r, &values).i;
}

static ref random_sum(random_source *r, tensor_pipe *p, int depth)
{
    int what = depth == 0 ? random_below(r, 2) : random_below(r, 9);
    if (what == 0)
        return tensor_param_node(p, (uint32_t)random_below(r, N_PARAMS));
    if (what == 1)
        return tensor_const(p, KIND_i32, random_of_kind(r, KIND_i32));
    ref a = random_sum(r, p, depth - 1), b = random_sum(r, p, depth - 1);
    static const tensor_op ops[] = { OP_add, OP_sub, OP_add, OP_mul, OP_shl, OP_neg, OP_floordiv };
    tensor_op op = ops[what - 2];
    return op == OP_neg ? tensor_op1(p, op, a) : tensor_op2(p, op, a, b);
}

static void forms_keep_the_value(void **state)
{
    (void)state;
    random_source r = { 5 };
    for (int round = 0; round < 3000; round++) {
        arena *memory = arena_new(NULL);
        tensor_pipe *p = new_pipe(memory);
        ref sum = random_sum(&r, p, 4);
        linear form;
        linear_of(p, sum, &form);
        ref built = linear_build(p, &form);
        for (int k = 1; k < form.n_terms; k++)
            assert_true(form.terms[k - 1].atom < form.terms[k].atom && form.terms[k].coefficient != 0);
        for (int sample = 0; sample < 3; sample++) {
            uint32_t params[N_PARAMS][TENSOR_MAX_LANES];
            for (int k = 0; k < N_PARAMS; k++)
                params[k][0] = random_of_kind(&r, KIND_i32);
            assert_int_equal(value_of(p, built, params), value_of(p, sum, params));
            ref normal = tensor_normalize(p, sum);
            assert_int_equal(value_of(p, normal, params), value_of(p, sum, params));
        }
        assert_int_equal(tensor_normalize(p, built), tensor_normalize(p, tensor_normalize(p, built)));
        arena_free(memory);
    }
}

static void differences(void **state)
{
    (void)state;
    arena *memory = arena_new(NULL);
    tensor_pipe *p = new_pipe(memory);
    ref x = tensor_param_node(p, 0), y = tensor_param_node(p, 1), two = tensor_i32(p, 2), three = tensor_i32(p, 3);
    ref a = tensor_op2(p, OP_add, tensor_op2(p, OP_mul, two, tensor_op2(p, OP_add, x, y)), three);      /* 2 (x + y) + 3 */
    ref b = tensor_op2(p, OP_sub, tensor_op2(p, OP_add, tensor_op2(p, OP_mul, y, two), x), tensor_op1(p, OP_neg, x));
    int32_t difference;
    assert_true(linear_difference(p, a, b, &difference));
    assert_int_equal(difference, 3);
    assert_false(linear_difference(p, a, x, &difference));
    assert_true(linear_difference(p, x, x, &difference));
    assert_int_equal(difference, 0);
    ref far = tensor_op2(p, OP_add, x, tensor_i32(p, INT32_MIN));
    assert_true(linear_difference(p, far, x, &difference));
    assert_int_equal(difference, INT32_MIN);
    arena_free(memory);
}

static void more_terms_than_there_is_room_for(void **state)
{
    (void)state;
    arena *memory = arena_new(NULL);
    tensor_pipe *p = tensor_pipe_new(memory, "t");
    ref sum = tensor_i32(p, 7), doubled;
    for (uint32_t k = 0; k < 40; k++) {
        LIST_PUSH(memory, p->params, ((tensor_param){ .name = "p", .type = type_of(KIND_i32, 1) }));
        sum = tensor_op2(p, OP_add, sum, tensor_param_node(p, k));
    }
    linear form;
    assert_false(linear_of(p, sum, &form));
    assert_int_equal(form.n_terms, 1);
    assert_int_equal(form.terms[0].atom, sum);
    assert_int_equal(tensor_normalize(p, sum), sum);
    doubled = tensor_param_node(p, 0);
    for (int k = 0; k < 60; k++)
        doubled = tensor_op2(p, OP_add, doubled, doubled);      /* a tree of 2^60 terms */
    assert_false(linear_of(p, doubled, &form));
    tensor_normalize(p, doubled);
    arena_free(memory);
}

static void near_extrema(void **state)
{
    (void)state;
    arena *memory = arena_new(NULL);
    tensor_pipe *p = new_pipe(memory);
    ref x = tensor_param_node(p, 0), y = tensor_param_node(p, 1), less = tensor_op2(p, OP_add, x, tensor_i32(p, -3));
    ref more = tensor_op2(p, OP_add, x, tensor_i32(p, 4));
    assert_int_equal(tensor_normalize(p, tensor_op2(p, OP_min, x, less)), less);
    assert_int_equal(tensor_normalize(p, tensor_op2(p, OP_max, less, x)), x);
    assert_int_equal(tensor_normalize(p, tensor_op2(p, OP_max, x, more)), more);
    assert_int_equal(tensor_normalize(p, tensor_op2(p, OP_min, more, less)), less);
    assert_int_equal(node_at(p, tensor_normalize(p, tensor_op2(p, OP_max, x, y)))->op, OP_max);
    ref inner = tensor_op2(p, OP_floordiv, tensor_op2(p, OP_min, x, less), tensor_i32(p, 2));
    assert_int_equal(tensor_normalize(p, inner), tensor_op2(p, OP_floordiv, less, tensor_i32(p, 2)));
    ref coord = tensor_coord(p, 0), right = tensor_op2(p, OP_add, coord, tensor_i32(p, 1));
    assert_int_equal(node_at(p, tensor_normalize(p, tensor_op2(p, OP_min, coord, right)))->op, OP_min);      /* may wrap */
    arena_free(memory);
}

/* min(min(x, y), x - 3) and the like: every bound once, the nearest. */
static void chains_of_extrema(void **state)
{
    (void)state;
    arena *memory = arena_new(NULL);
    tensor_pipe *p = new_pipe(memory);
    ref x = tensor_param_node(p, 0), y = tensor_param_node(p, 1), one = tensor_i32(p, 1);
    ref less = tensor_op2(p, OP_add, x, tensor_i32(p, -3)), both = tensor_op2(p, OP_min, x, y);
    assert_int_equal(tensor_op2(p, OP_min, both, y), both);
    assert_int_equal(tensor_op2(p, OP_min, x, both), both);
    assert_int_not_equal(tensor_op2(p, OP_max, x, both), both);
    assert_int_equal(tensor_normalize(p, tensor_op2(p, OP_min, both, tensor_op2(p, OP_add, both, one))), both);
    assert_int_equal(tensor_normalize(p, tensor_op2(p, OP_min, both, less)), tensor_op2(p, OP_min, less, y));
    ref higher = tensor_op2(p, OP_max, tensor_op2(p, OP_max, less, y), tensor_op2(p, OP_add, tensor_op2(p, OP_max, y, x), one));
    assert_int_equal(tensor_normalize(p, higher), tensor_op2(p, OP_max, tensor_op2(p, OP_add, x, one), tensor_op2(p, OP_add, y, one)));
    arena_free(memory);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(forms_keep_the_value), cmocka_unit_test(differences),
        cmocka_unit_test(more_terms_than_there_is_room_for), cmocka_unit_test(near_extrema), cmocka_unit_test(chains_of_extrema),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
