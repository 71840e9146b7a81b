/* SPDX-License-Identifier: MIT
 * Modules that use all of the builder, as the validator takes them, and what must stand in them. */
#include <string.h>

#include "support_spirv.h"

static int set_up(void **state)
{
    *state = arena_new(NULL);
    return *state ? 0 : -1;
}

static int tear_down(void **state)
{
    arena_free(*state);
    return 0;
}

static int count(const char *text, const char *what)
{
    int n = 0;
    for (const char *at = text; (at = strstr(at, what)); at += strlen(what)) n++;
    return n;
}

static void nothing_is_a_module(void **state)
{
    const char *text = spirv_finish_valid(*state, spirv_new(*state, false));
    assert_non_null(strstr(text, "OpEntryPoint GLCompute"));
    assert_non_null(strstr(text, "\"main\""));
    assert_null(strstr(text, "OpName"));
    assert_null(strstr(text, "OpExtInstImport"));
}

static void the_validator_is_awake(void **state)
{
    spirv *m = spirv_new(*state, false);
    spirv_op2(m, SpvOpIAdd, spirv_type_u32(m), spirv_u32(m, 1), spirv_f32(m, 0));
    uint32_t n_words;
    const uint32_t *words = spirv_finish(m, &n_words);
    assert_non_null(spirv_problem(*state, words, n_words));
}

static void types_and_constants_are_made_once(void **state)
{
    spirv *m = spirv_new(*state, false);
    assert_int_equal(spirv_type_u32(m), spirv_type_u32(m));
    assert_int_equal(spirv_type_vector(m, spirv_type_f32(m), 4), spirv_type_vector(m, spirv_type_f32(m), 4));
    assert_int_not_equal(spirv_type_vector(m, spirv_type_f32(m), 4), spirv_type_vector(m, spirv_type_f32(m), 3));
    assert_int_equal(spirv_type_pointer(m, SpvStorageClassFunction, spirv_type_f32(m)),
                     spirv_type_pointer(m, SpvStorageClassFunction, spirv_type_f32(m)));
    assert_int_not_equal(spirv_f32(m, 0), spirv_f32(m, 0x80000000u));
    assert_int_not_equal(spirv_f32(m, 0x7fc00000u), spirv_f32(m, 0x7fc00001u));
    assert_int_not_equal(spirv_f32(m, 0), spirv_u32(m, 0));
    assert_int_equal(spirv_spec(m, 3, 7), spirv_spec(m, 3, 7));
    assert_int_not_equal(spirv_spec(m, 3, 7), spirv_spec(m, 4, 7));
    assert_int_equal(spirv_u64(m, 1ull << 40), spirv_u64(m, 1ull << 40));
    assert_int_equal(spirv_type_of(m, spirv_bool(m, true)), spirv_type_bool(m));
    assert_int_not_equal(spirv_bool(m, true), spirv_bool(m, false));
    /* Many, so that the table grows. */
    spv_id first[3000];
    for (uint32_t k = 0; k < 3000; k++) first[k] = spirv_u32(m, k * 2654435761u);
    for (uint32_t k = 0; k < 3000; k++) assert_int_equal(spirv_u32(m, k * 2654435761u), first[k]);
    const char *text = spirv_finish_valid(*state, m);
    assert_int_equal(count(text, "OpTypeInt 64 0"), 1);
    assert_int_equal(count(text, "OpCapability Int64"), 1);
}

static void every_decoration_of_buffers(void **state)
{
    spirv *m = spirv_new(*state, true);
    spv_buffer bytes = spirv_buffer(m, 0, 1, false, "bytes"), halves = spirv_buffer(m, 1, 2, false, "halves");
    spv_buffer words = spirv_buffer(m, 2, 4, true, "words"), out = spirv_buffer(m, 3, 1, false, "out");
    spv_buffer same = spirv_buffer(m, 3, 1, true, "out"), out_halves = spirv_buffer(m, 4, 2, true, "out_halves");
    assert_int_equal(out.variable, same.variable);
    spv_id at = spirv_built_in(m, SpvBuiltInLocalInvocationIndex, 0);
    spv_id sum = spirv_op2(m, SpvOpIAdd, spirv_type_u32(m), spirv_buffer_load(m, bytes, at), spirv_buffer_load(m, halves, at));
    spirv_buffer_store(m, words, at, spirv_op2(m, SpvOpIMul, spirv_type_u32(m), sum, spirv_buffer_load(m, words, at)));
    spirv_buffer_store(m, out, at, sum);
    spirv_buffer_store(m, out_halves, at, sum);
    const char *text = spirv_finish_valid(*state, m);
    assert_int_equal(count(text, "NonWritable"), 2);
    assert_int_equal(count(text, "Aliased"), 0);
    assert_int_equal(count(text, "OpCapability StorageBuffer8BitAccess"), 1);
    assert_int_equal(count(text, "OpCapability StorageBuffer16BitAccess"), 1);
    assert_int_equal(count(text, "OpCapability Int"), 0);
    assert_int_equal(count(text, "OpTypeRuntimeArray"), 3);
    assert_non_null(strstr(text, "\"out_halves\""));
}

static void one_memory_under_two_types_is_aliased(void **state)
{
    spirv *m = spirv_new(*state, false);
    spv_buffer a = spirv_buffer(m, 0, 1, false, "a"), b = spirv_buffer(m, 0, 4, true, "b");
    spirv_buffer_store(m, b, spirv_u32(m, 0), spirv_buffer_load(m, a, spirv_u32(m, 4)));
    assert_int_equal(count(spirv_finish_valid(*state, m), "Aliased"), 2);
}

static void images_are_read_without_samplers(void **state)
{
    spirv *m = spirv_new(*state, true);
    spv_image sampled = spirv_image(m, 0, SpvImageFormatUnknown, false, "sampled"), stored = spirv_image(m, 1, SpvImageFormatR8, false, "stored");
    spv_image out = spirv_image(m, 2, SpvImageFormatRgba32f, true, "out"), other = spirv_image(m, 3, SpvImageFormatUnknown, false, "other");
    assert_int_equal(spirv_image(m, 2, SpvImageFormatRgba32f, true, "out").handle, out.handle);
    spv_id x = spirv_built_in(m, SpvBuiltInGlobalInvocationId, 0), y = spirv_built_in(m, SpvBuiltInGlobalInvocationId, 1), texel[4];
    spirv_image_load(m, sampled, x, y, 2, texel);
    spirv_image_load(m, stored, y, x, 1, texel + 2);
    spirv_image_load(m, other, x, x, 1, texel + 3);
    spirv_image_store(m, out, x, y, texel);
    const char *text = spirv_finish_valid(*state, m);
    assert_int_equal(count(text, "OpImageFetch"), 2);
    assert_int_equal(count(text, "OpImageRead"), 1);
    assert_int_equal(count(text, "OpImageWrite"), 1);
    assert_int_equal(count(text, "OpTypeImage"), 3);
    assert_int_equal(count(text, "NonWritable"), 1);
    assert_int_equal(count(text, "NonReadable"), 1);
    assert_int_equal(count(text, "OpCapability StorageImageExtendedFormats"), 1);
    assert_int_equal(count(text, "OpCapability"), 2);
}

static void floats_are_not_contracted(void **state)
{
    spirv *m = spirv_new(*state, false);
    spv_buffer words = spirv_buffer(m, 0, 4, true, "words");
    spv_id f32 = spirv_type_f32(m), zero = spirv_u32(m, 0);
    spv_id a = spirv_op1(m, SpvOpBitcast, f32, spirv_buffer_load(m, words, zero));
    a = spirv_op2(m, SpvOpFAdd, f32, a, a);
    a = spirv_op2(m, SpvOpFSub, f32, a, spirv_f32(m, 0x3f800000u));
    a = spirv_op2(m, SpvOpFMul, f32, a, a);
    a = spirv_op2(m, SpvOpFDiv, f32, a, a);
    a = spirv_op1(m, SpvOpFNegate, f32, a);
    a = spirv_ext1(m, GLSLstd450Sqrt, f32, a);
    spv_id less = spirv_op2(m, SpvOpFOrdLessThan, spirv_type_bool(m), a, a);
    a = spirv_op3(m, SpvOpSelect, f32, less, a, spirv_ext2(m, GLSLstd450NMin, f32, a, a));
    spirv_buffer_store(m, words, zero, spirv_op1(m, SpvOpBitcast, spirv_type_u32(m), a));
    assert_int_equal(count(spirv_finish_valid(*state, m), "NoContraction"), 5);
}

/* Signedness is the operation's, not the type's. */
static void signed_operations_take_u32(void **state)
{
    spirv *m = spirv_new(*state, false);
    spv_buffer words = spirv_buffer(m, 0, 4, true, "words");
    spv_id u32 = spirv_type_u32(m), f32 = spirv_type_f32(m), u64 = spirv_type_u64(m), zero = spirv_u32(m, 0);
    spv_id a = spirv_buffer_load(m, words, zero), b = spirv_buffer_load(m, words, spirv_u32(m, 1));
    SpvOp ops[] = { SpvOpSDiv, SpvOpSRem, SpvOpShiftRightArithmetic };
    for (int k = 0; k < 3; k++) a = spirv_op2(m, ops[k], u32, a, b);
    a = spirv_op1(m, SpvOpSNegate, u32, a);
    a = spirv_ext2(m, GLSLstd450SMin, u32, a, b);
    a = spirv_ext2(m, GLSLstd450SMax, u32, a, b);
    a = spirv_ext1(m, GLSLstd450SAbs, u32, a);
    a = spirv_op1(m, SpvOpConvertFToS, u32, spirv_op1(m, SpvOpConvertSToF, f32, a));
    a = spirv_op1(m, SpvOpUConvert, u32, spirv_op1(m, SpvOpSConvert, u64, a));
    spv_id less = spirv_op2(m, SpvOpSLessThan, spirv_type_bool(m), a, b);
    spirv_buffer_store(m, words, zero, spirv_op3(m, SpvOpSelect, u32, less, a, b));
    spirv_finish_valid(*state, m);
}

static void control_flow_nests(void **state)
{
    spirv *m = spirv_new(*state, true);
    spv_buffer words = spirv_buffer(m, 0, 4, true, "words");
    spv_id u32 = spirv_type_u32(m), truth = spirv_type_bool(m), zero = spirv_u32(m, 0), one = spirv_u32(m, 1);
    spv_id size = spirv_workgroup_size(m, 0, 128);
    assert_int_equal(size, spirv_workgroup_size(m, 0, 128));
    spirv_shared_declare(m, spirv_spec(m, 3, 256));
    spv_id i = spirv_built_in(m, SpvBuiltInLocalInvocationId, 0), group = spirv_built_in(m, SpvBuiltInWorkgroupId, 1);
    assert_int_equal(group, spirv_built_in(m, SpvBuiltInWorkgroupId, 1));
    assert_int_equal(spirv_push_word(m, 5), spirv_push_word(m, 5));
    spirv_shared_store(m, i, spirv_op2(m, SpvOpIAdd, u32, group, spirv_push_word(m, 2)));
    spirv_barrier(m);
    spv_loop outer, inner;
    spv_if even, both;
    spv_id n = spirv_variable(m, u32, "n"), sum = spirv_variable(m, u32, "sum");
    spirv_store(m, n, zero);
    spirv_store(m, sum, zero);
    spirv_loop_begin(m, &outer, false);
    spirv_if(m, &both, spirv_op2(m, SpvOpULessThan, truth, spirv_load(m, n), i));          /* inside the condition */
    spirv_end_if(m, &both);
    spirv_loop_while(m, &outer, spirv_op2(m, SpvOpULessThan, truth, spirv_load(m, n), size));
    spirv_loop_begin(m, &inner, true);
    spirv_loop_while(m, &inner, spirv_op2(m, SpvOpULessThan, truth, spirv_load(m, sum), spirv_push_word(m, 5)));
    spv_id late = spirv_variable(m, u32, "late");
    spirv_store(m, late, spirv_shared_load(m, spirv_load(m, n)));
    spirv_if(m, &even, spirv_op2(m, SpvOpIEqual, truth, spirv_load(m, late), zero));
    spirv_store(m, sum, one);
    spirv_else(m, &even);
    spirv_store(m, sum, spirv_load(m, late));
    spirv_end_if(m, &even);
    spirv_loop_next(m, &inner);
    spirv_store(m, sum, spirv_op2(m, SpvOpIAdd, u32, spirv_load(m, sum), one));
    spirv_loop_end(m, &inner);
    spirv_loop_next(m, &outer);
    spirv_store(m, n, spirv_op2(m, SpvOpIAdd, u32, spirv_load(m, n), one));
    spirv_loop_end(m, &outer);
    spirv_buffer_store(m, words, i, spirv_load(m, sum));
    const char *text = spirv_finish_valid(*state, m);
    assert_int_equal(count(text, " DontUnroll"), 1);
    assert_int_equal(count(text, " Unroll"), 1);
    assert_int_equal(count(text, "BuiltIn WorkgroupSize"), 1);
    assert_non_null(strstr(text, "LocalSize 128 1 1"));
    assert_int_equal(count(text, "OpControlBarrier"), 1);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(nothing_is_a_module), TEST(the_validator_is_awake), TEST(types_and_constants_are_made_once),
            TEST(every_decoration_of_buffers),
        TEST(one_memory_under_two_types_is_aliased), TEST(images_are_read_without_samplers), TEST(floats_are_not_contracted), TEST(signed_operations_take_u32),
        TEST(control_flow_nests),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
