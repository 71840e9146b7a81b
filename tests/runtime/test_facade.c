/* SPDX-License-Identifier: MIT
 * halo.h as a host uses it: compiling, diagnostics, signatures, parameters, sizes, runs, texts and libraries. */
#include "check.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>

static const char script[] =
    "## Adds and scales.\n"
    "pipe grade(src: image u8,\n"
    "           ## Added first.\n"
    "           offset: i32 = 3 in -10..10,\n"
    "           gain: f32 = 1 in 0..<4,\n"
    "           flip: bool = false,\n"
    "           weights: f32x3 = (1, 2, 3)) -> (all: image u8, first: f32[_])\n"
    "{\n"
    "    all[x in 0..<src.width, y] = u8((src[flip ? src.width - 1 - x : x, y] + offset) * gain)\n"
    "    first[x in 0..<src.width] = weights.r + weights.g * f32(src[x, 0])\n"
    "    return all, first\n"
    "}\n";

static halo_program *compile(const char *text, const halo_options *options)
{
    halo_program *program = halo_compile_text("test.pipe", text, strlen(text), options);
    assert_non_null(program);
    if (!halo_program_ok(program)) {
        char *messages = halo_program_messages(program);
        fail_msg("%s", messages);
    }
    return program;
}

static void test_signature(void **state)
{
    (void)state;
    halo_options options = {.engine = HALO_ENGINE_NONE};
    halo_program *program = compile(script, &options);
    assert_int_equal(halo_program_pipe_count(program), 1);
    assert_null(halo_program_pipe(program, 1));
    halo_pipe *pipe = halo_program_find_pipe(program, "grade");
    assert_ptr_equal(pipe, halo_program_pipe(program, 0));
    const halo_signature *s = halo_pipe_signature(pipe);
    assert_string_equal(s->doc, "Adds and scales.");
    assert_int_equal(s->n_inputs, 1);
    assert_string_equal(s->inputs[0].type, "image u8");
    assert_int_equal(s->n_parameters, 4);
    assert_string_equal(s->parameters[0].name, "offset");
    assert_string_equal(s->parameters[0].doc, "Added first.");
    assert_true(s->parameters[0].kind == HALO_KIND_I32 && s->parameters[0].value[0] == 3 && s->parameters[0].low == -10);
    assert_true(s->parameters[1].half_open && s->parameters[1].high == 4);
    assert_true(s->parameters[2].kind == HALO_KIND_BOOL && s->parameters[2].has_default && !s->parameters[2].has_range);
    assert_true(s->parameters[3].lanes == 3 && s->parameters[3].value[2] == 3);
    assert_int_equal(s->n_outputs, 2);
    assert_string_equal(s->outputs[1].name, "first");
    assert_true(s->outputs[1].kind == HALO_KIND_F32 && s->outputs[1].rank == 1);
    halo_program_free(program);
}

/* The script by hand. */
static void check_run(halo_pipe *pipe, const halo_arguments *arguments, int offset, float gain, int flip, float red, float green)
{
    enum { W = 5, H = 3 };
    uint8_t in[H][W], out[H][W];
    float first[W];
    for (int i = 0; i < W * H; i++)
        in[i / W][i % W] = (uint8_t)(i * 17);
    halo_image src = {in, {W, H, 1, 1, 1}, {1, W}};
    halo_image outputs[2] = {{0}, {0}};
    halo_message error;
    assert_int_equal(halo_size(pipe, &src, arguments, outputs, &error), HALO_OK);
    assert_true(outputs[0].extent[0] == W && outputs[0].extent[1] == H && outputs[0].extent[2] == 1);
    assert_true(outputs[0].stride[0] == 1 && outputs[0].stride[1] == W && outputs[1].stride[0] == 4 && outputs[1].extent[0] == W);
    outputs[0].data = out;
    outputs[1].data = first;
    if (halo_run(pipe, &src, arguments, outputs, NULL, NULL, &error) != HALO_OK)
        fail_msg("%s", error.text);
    for (int y = 0; y < H; y++)
        for (int x = 0; x < W; x++) {
            float v = (float)(in[y][flip ? W - 1 - x : x] + offset) * gain;
            assert_int_equal(out[y][x], v < 0 ? 0 : v > 255 ? 255 : (int)v);
        }
    for (int x = 0; x < W; x++)
        assert_true(first[x] == red + green * (float)in[0][x]);
}

typedef struct grade_params { int32_t offset; float gain; uint8_t flip; float weights[3]; } grade_params;

static void check_engine(halo_engine engine)
{
    halo_options options = {.engine = engine};
    halo_program *program = compile(script, &options);
    halo_pipe *pipe = halo_program_pipe(program, 0);
    halo_arguments *a = halo_arguments_new(pipe);
    halo_message error;
    check_run(pipe, NULL, 3, 1, 0, 1, 2);
    check_run(pipe, a, 3, 1, 0, 1, 2);
    assert_int_equal(halo_arguments_set_text(a, "offset", "-10", &error), HALO_OK);
    assert_int_equal(halo_arguments_set_text(a, "gain", "3.0", &error), HALO_OK);
    assert_int_equal(halo_arguments_set_text(a, "flip", "true", &error), HALO_OK);
    assert_int_equal(halo_arguments_set(a, "weights", (double[]){0.5, 4, 0}, 3, &error), HALO_OK);
    check_run(pipe, a, -10, 3, 1, 0.5f, 4);
    grade_params params = {7, 2, 0, {8, 16, 32}};
    assert_int_equal(halo_arguments_set_struct(a, &params, &error), HALO_OK);
    check_run(pipe, a, 7, 2, 0, 8, 16);
    params.gain = 4;                                       /* 4 is excluded; nothing changes */
    params.offset = 1;
    assert_int_equal(halo_arguments_set_struct(a, &params, &error), HALO_ERROR_PARAMETER);
    check_run(pipe, a, 7, 2, 0, 8, 16);
    halo_arguments_free(a);
    halo_program_free(program);
}

static void test_compiled(void **state)
{
    (void)state;
    check_engine(HALO_ENGINE_CPU);
}

static void test_interpreted(void **state)
{
    (void)state;
    check_engine(HALO_ENGINE_INTERPRETER);
    check_engine(HALO_ENGINE_WRITTEN);
}

static void expect_argument(halo_arguments *a, const char *name, const char *value, const char *words)
{
    halo_message error = {""};
    int code = halo_arguments_set_text(a, name, value, &error);
    if (words ? code == HALO_OK || !strstr(error.text, words) : code != HALO_OK)
        fail_msg("%s = %s: %d `%s`", name, value, code, error.text);
}

static void test_arguments(void **state)
{
    (void)state;
    halo_options options = {.engine = HALO_ENGINE_NONE};
    halo_program *program = compile(script, &options);
    halo_arguments *a = halo_arguments_new(halo_program_pipe(program, 0));
    expect_argument(a, "gain", "0", NULL);
    expect_argument(a, "gain", "3.9999", NULL);
    expect_argument(a, "gain", "4", "gain = 4 is outside its range 0..<4");
    expect_argument(a, "gain", "-0.5", "gain = -0.5 is outside its range 0..<4");
    expect_argument(a, "gain", "fast", "no number");
    expect_argument(a, "gain", "1 2", "no number");
    expect_argument(a, "gain", "(1, 2)", "1 value");
    expect_argument(a, "gain", "", "no number");
    expect_argument(a, "gian", "1", "did you mean `gain`?");
    expect_argument(a, "quality", "1", "offset, gain, flip, weights");
    expect_argument(a, "offset", "10", NULL);
    expect_argument(a, "offset", "0x0A", NULL);
    expect_argument(a, "offset", "11", "-10..10");
    expect_argument(a, "offset", "1.5", "whole number");
    expect_argument(a, "offset", "99999999999", "does not fit");
    expect_argument(a, "flip", "0", NULL);
    expect_argument(a, "flip", "2", "does not fit");
    expect_argument(a, "flip", "maybe", "true or false");
    expect_argument(a, "weights", "(0.1, 0.2, 0.3)", NULL);
    expect_argument(a, "weights", " 1,2 , 3 ", NULL);
    expect_argument(a, "weights", "5", NULL);
    expect_argument(a, "weights", "(1, 2)", "3 values");
    expect_argument(a, "weights", "(1, 2, 3, 4, 5)", "no pixel");
    halo_arguments_free(a);
    halo_program_free(program);
}

static void test_diagnostics(void **state)
{
    (void)state;
    static const char wrong[] = "pipe p(src: image u8) -> image u8\n{\n    return sorce\n}\n";
    halo_program *program = halo_compile_text("wrong.pipe", wrong, strlen(wrong), NULL);
    assert_non_null(program);
    assert_false(halo_program_ok(program));
    assert_int_equal(halo_program_pipe_count(program), 0);
    assert_null(halo_program_pipe(program, 0));
    assert_int_equal(halo_program_diagnostic_count(program), 1);
    halo_diagnostic d = halo_program_diagnostic(program, 0);
    assert_int_equal(d.severity, HALO_SEVERITY_ERROR);
    assert_string_equal(d.file, "wrong.pipe");
    assert_true(d.line == 3 && d.column == 12 && d.end_line == 3 && d.end_column == 17);
    assert_true(strncmp(d.code, "E02", 3) == 0 && strstr(d.message, "sorce"));
    char *text = halo_program_messages(program), *json = halo_program_messages_json(program);
    assert_non_null(strstr(text, "wrong.pipe:3:12: error[E02"));
    assert_non_null(strstr(text, "src"));
    assert_non_null(strstr(json, "\"line\": 3, \"column\": 12"));
    halo_free(text);
    halo_free(json);
    d = halo_program_diagnostic(program, 1);
    assert_string_equal(d.message, "");
    halo_program_free(program);
    program = halo_compile_file("no/such.pipe", NULL);
    assert_false(halo_program_ok(program));
    text = halo_program_messages(program);
    assert_non_null(strstr(text, "no/such.pipe: No such file"));
    halo_free(text);
    halo_program_free(program);
}

static const char *find_import(void *user, const char *from, const char *path, const char **name, size_t *n_bytes)
{
    static const char text[] = "fn twice(v) = v * 2\n";
    assert_string_equal(from, "test.pipe");
    ++*(int *)user;
    if (strcmp(path, "more.pipe") != 0)
        return NULL;
    *name = "more.pipe";
    *n_bytes = sizeof text - 1;
    return text;
}

static void test_imports(void **state)
{
    (void)state;
    int asked = 0;
    halo_options options = {.engine = HALO_ENGINE_NONE, .import = find_import, .import_user = &asked};
    halo_program_free(compile("import \"more.pipe\"\npipe p(a: image u8) -> image u8 { return u8(twice(a)) }\n", &options));
    assert_int_equal(asked, 1);
    static const char missing[] = "import \"less.pipe\"\npipe p(a: image u8) -> image u8 { return a }\n";
    halo_program *program = halo_compile_text("test.pipe", missing, strlen(missing), &options);
    assert_false(halo_program_ok(program));
    assert_int_equal(halo_program_diagnostic(program, 0).line, 1);
    halo_program_free(program);
}

static void test_images_that_do_not_fit(void **state)
{
    (void)state;
    halo_program *program = compile("pipe p(a: image u8, t: u8[4]) -> image u8 { b = crop(a, 0, 0, 3, 1)\n return u8(b + t[0]) }\n", NULL);
    halo_pipe *pipe = halo_program_pipe(program, 0);
    uint8_t data[64] = {0};
    halo_image in[2] = {{data, {3, 1, 1, 1, 1}, {1, 3}}, {data, {4, 1, 1, 1, 1}, {1}}}, out = {data + 32, {3, 1, 1, 1, 1}, {1, 3}};
    halo_message error;
    assert_int_equal(halo_run(pipe, in, NULL, &out, NULL, NULL, &error), HALO_OK);
    out.extent[0] = 2;
    assert_int_equal(halo_run(pipe, in, NULL, &out, NULL, NULL, &error), HALO_ERROR_SIZE);
    assert_non_null(strstr(error.text, "has to be 3 x 1, not 2 x 1"));
    out.extent[0] = 3;
    in[1].extent[0] = 5;
    assert_int_equal(halo_run(pipe, in, NULL, &out, NULL, NULL, &error), HALO_ERROR_SIZE);
    assert_non_null(strstr(error.text, "`t` is u8[4]"));
    in[1].extent[0] = 4;
    in[0].extent[0] = 2;                                   /* the crop no longer fits: said at its line, with the sizes */
    assert_int_equal(halo_run(pipe, in, NULL, &out, NULL, NULL, &error), HALO_ERROR_SIZE);
    assert_non_null(strstr(error.text, "test.pipe:1:"));
    assert_non_null(strstr(error.text, "`a` is 2 x 1"));
    in[0].extent[0] = 0;
    assert_int_equal(halo_size(pipe, in, NULL, &out, &error), HALO_ERROR_SIZE);
    assert_non_null(strstr(error.text, "`a` is empty"));
    in[0].extent[0] = 3;
    in[0].data = NULL;
    assert_int_equal(halo_run(pipe, in, NULL, &out, NULL, NULL, &error), HALO_ERROR_NULL);
    halo_program_free(program);
}

static void test_texts(void **state)
{
    (void)state;
    halo_options options = {.engine = HALO_ENGINE_NONE};
    halo_program *program = compile("pipe p(a: image u8) -> image f32 { b = conv(pad(a, edge), [[1, 2, 1]] / 4)\n return b * 2 }\n", &options);
    halo_pipe *pipe = halo_program_pipe(program, 0);
    halo_message error;
    halo_options vulkan = {.engine = HALO_ENGINE_NONE, .for_vulkan = 1};
    halo_program *for_vulkan = compile("pipe p(a: image u8) -> image f32 { b = conv(pad(a, edge), [[1, 2, 1]] / 4)\n return b * 2 }\n", &vulkan);
    for (size_t i = 0; halo_stage_at(i); i++) {
        const char *stage = halo_stage_at(i)[0];
        bool of_cpu = strcmp(stage, "llvm") == 0 || strcmp(stage, "asm") == 0 || strcmp(stage, "choices") == 0;
        char *text = halo_show(program, pipe, stage, NULL, &error);
        if (strcmp(stage, "spirv") == 0 ? text != NULL || !strstr(error.text, "of Vulkan") : !text || !text[0])
            fail_msg("%s: %s", stage, error.text);
        halo_free(text);
        text = halo_show(for_vulkan, halo_program_pipe(for_vulkan, 0), stage, NULL, &error);
        if (of_cpu ? text != NULL || !strstr(error.text, "of the processor") : !text || !text[0])
            fail_msg("%s for Vulkan: %s", stage, error.text);
        halo_free(text);
    }
    halo_program_free(for_vulkan);
    assert_null(halo_show(program, pipe, "tensr", NULL, &error));
    assert_non_null(strstr(error.text, "did you mean `tensor`?"));
    assert_null(halo_show(program, pipe, "tensor", "inlin", &error));
    assert_non_null(strstr(error.text, "did you mean `inline`?"));
    assert_null(halo_show(program, pipe, "asm", "inline", &error));
    char *written = halo_show(program, pipe, "tensor", "written", &error), *last = halo_show(program, pipe, "tensor", NULL, &error);
    assert_non_null(written);
    assert_string_not_equal(written, last);
    /* IR from text is the same program: printing it again gives the text, and one pass can be replayed. */
    halo_program *again = halo_compile_ir("p.ir", written, strlen(written), &options);
    assert_true(halo_program_ok(again));
    char *same = halo_show(again, halo_program_pipe(again, 0), "tensor", "written", &error);
    assert_string_equal(same, written);
    char *replayed = halo_replay(again, halo_program_pipe(again, 0), "clean", &error);
    assert_non_null(replayed);
    halo_program_free(again);
    halo_free(replayed);
    halo_free(same);
    halo_free(written);
    halo_free(last);
    halo_program_free(program);
}

static void test_library(void **state)
{
    (void)state;
    halo_options options = {.engine = HALO_ENGINE_NONE};
    halo_program *program = compile("pipe p(a: image u8) -> image u8 { return a }\npipe q(a: image u8, k: f32 = 1) -> image f32 { return a * k }\n", &options);
    halo_message error;
    size_t n_bytes;
    void *object = halo_build_object(program, NULL, &n_bytes, &error);
    if (!object)
        fail_msg("%s", halo_program_messages(program));
    assert_true(n_bytes > 64 && memcmp(object, "\x7F" "ELF", 4) == 0);
    halo_free(object);
    char *header = halo_build_header(program, NULL, "pq.h", &error);
    assert_non_null(strstr(header, "int p("));
    assert_non_null(strstr(header, "q_params"));
    halo_free(header);
    char *assembly = halo_build_text(program, halo_program_pipe(program, 0), "asm", &error);
    assert_non_null(strstr(assembly, ".globl\tp\n"));
    assert_null(strstr(assembly, ".globl\tq\n"));
    halo_free(assembly);
    halo_program_free(program);
}

static void test_format(void **state)
{
    (void)state;
    static const char loose[] = "pipe  p( a:image u8)->image u8 {\nreturn   a\n}\n", wrong[] = "pipe (";
    char *messages, *text = halo_format("x.pipe", loose, strlen(loose), &messages);
    assert_non_null(text);
    assert_null(messages);
    char *again = halo_format("x.pipe", text, strlen(text), NULL);
    assert_string_equal(text, again);
    assert_string_not_equal(text, loose);
    halo_free(text);
    halo_free(again);
    assert_null(halo_format("x.pipe", wrong, strlen(wrong), &messages));
    assert_non_null(strstr(messages, "x.pipe:1:"));
    halo_free(messages);
}

static void test_options(void **state)
{
    (void)state;
    static const char *const unknown[] = {"inlne"}, *const define[] = {"contract"}, *const layout[] = {"a=diagonal"};
    static const char text[] = "pipe p(a: image u8) -> image u8 { return a }\n";
    halo_options bad[] = {{.skip = unknown, .n_skip = 1}, {.skip = define, .n_skip = 1}, {.pipe = "q"}, {.layouts = layout, .n_layouts = 1}};
    static const char *const codes[] = {"E0550", "E0551", "E0550", "E0552"};
    for (size_t i = 0; i < 4; i++) {
        halo_program *program = halo_compile_text("test.pipe", text, strlen(text), &bad[i]);
        assert_false(halo_program_ok(program));
        assert_string_equal(halo_program_diagnostic(program, 0).code, codes[i]);
        halo_program_free(program);
    }
    assert_false(halo_program_ok(NULL));
    halo_program_free(NULL);
}

static void *run_many(void *user)
{
    for (int i = 0; i < 20; i++)
        check_run(user, NULL, 3, 1, 0, 1, 2);
    return NULL;
}

static void test_threads_share_a_pipe(void **state)
{
    (void)state;
    halo_program *program = compile(script, NULL);
    pthread_t threads[4];
    for (int i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, run_many, halo_program_pipe(program, 0)), 0);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    halo_program_free(program);
}

static void test_parts(void **state)
{
    (void)state;
    halo_program *program = compile("pipe p(a: image u8) -> image u8 { return u8(conv(pad(a, edge), [[1, 1, 1]] / 4)) }\n", NULL);
    halo_pipe *pipe = halo_program_pipe(program, 0);
    uint8_t in[40], whole[40], piece[40];
    for (int i = 0; i < 40; i++)
        in[i] = (uint8_t)(i * 5), piece[i] = 99;
    halo_image src = {in, {10, 4, 1, 1, 1}, {1, 10}}, all = {whole, {10, 4, 1, 1, 1}, {1, 10}}, out = {piece, {10, 4, 1, 1, 1}, {1, 10}};
    halo_part part = {{7, 1}, {3, 2, 1, 1, 1}}, needs;
    halo_message error;
    assert_int_equal(halo_run(pipe, &src, NULL, &all, NULL, NULL, &error), HALO_OK);
    if (halo_run(pipe, &src, NULL, &out, &part, NULL, &error) != HALO_OK)
        fail_msg("%s", error.text);
    for (int i = 0; i < 40; i++) {
        int inside = i % 10 >= 7 && i / 10 >= 1 && i / 10 <= 2;
        assert_int_equal(piece[i], inside ? whole[i] : 99);
    }
    assert_int_equal(halo_needs(pipe, &src, NULL, &part, &needs, &error), HALO_OK);
    assert_true(needs.start[0] <= 6 && needs.start[0] + needs.extent[0] == 10 && needs.start[1] <= 1 && needs.extent[1] >= 2);
    halo_program_free(program);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_signature), cmocka_unit_test(test_compiled), cmocka_unit_test(test_interpreted),
        cmocka_unit_test(test_arguments), cmocka_unit_test(test_diagnostics), cmocka_unit_test(test_imports),
        cmocka_unit_test(test_images_that_do_not_fit), cmocka_unit_test(test_texts), cmocka_unit_test(test_library),
        cmocka_unit_test(test_format), cmocka_unit_test(test_options), cmocka_unit_test(test_threads_share_a_pipe),
        cmocka_unit_test(test_parts)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
