/* SPDX-License-Identifier: MIT
 * Memory runs out at every allocation of the library in turn (the linker sends them here): functions return NULL or an
 * error, and nothing crashes. What LLVM allocates for itself is not ours to fail. */
#include "check.h"

static long calls, fail_from, fail_count;      /* calls fail_from..fail_from+fail_count-1 fail; 0: none */

void *__real_malloc(size_t n);
void *__real_calloc(size_t n, size_t size);
void *__real_realloc(void *p, size_t n);

static int fails(void)
{
    calls++;
    return fail_from > 0 && calls >= fail_from && calls < fail_from + fail_count;
}

void *__wrap_malloc(size_t n) { return fails() ? NULL : __real_malloc(n); }
void *__wrap_calloc(size_t n, size_t size) { return fails() ? NULL : __real_calloc(n, size); }
void *__wrap_realloc(void *p, size_t n) { return fails() ? NULL : __real_realloc(p, n); }

static const char script[] =
    "pipe p(src: image u8x3, sigma: f32 = 1.5 in 0..4) -> (out: image u8x3, most: image f32)\n"
    "{\n"
    "    a = conv(pad(srgb_to_linear(src / 255), edge), gaussian(sigma))\n"
    "    m[x, y] = max(i in -1..1, j in -1..1: pad(a, reflect)[x + i, y + j].r)\n"
    "    return u8(linear_to_srgb(a) * 255), m\n"
    "}\n";

/* One of everything; errors are fine, crashes are not. Returns whether all of it worked. */
static int use_engine(halo_engine engine)
{
    halo_options options = {.engine = engine};
    halo_message error;
    uint8_t pixels[27] = {0}, result[27];
    float most[9];
    halo_image src = {pixels, {3, 3, 1, 1, 1}, {3, 9}}, out[2] = {{0}, {0}};
    halo_program *program = halo_compile_text("p.pipe", script, sizeof script - 1, &options);
    halo_pipe *pipe = halo_program_pipe(program, 0);
    halo_arguments *arguments = pipe ? halo_arguments_new(pipe) : NULL;
    int done = 0;
    if (arguments && halo_arguments_set_text(arguments, "sigma", "2", &error) == HALO_OK &&
        halo_arguments_set_text(arguments, "sgma", "2", &error) != HALO_OK &&
        halo_size(pipe, &src, arguments, out, &error) == HALO_OK) {
        out[0].data = result;
        out[1].data = most;
        done = engine == HALO_ENGINE_NONE || halo_run(pipe, &src, arguments, out, NULL, NULL, &error) == HALO_OK;
    }
    char *text = pipe ? halo_show(program, pipe, "tensor", NULL, &error) : NULL, *messages = halo_program_messages(program);
    done = done && text && messages;
    halo_free(text);
    halo_free(messages);
    halo_arguments_free(arguments);
    halo_program_free(program);
    return done;
}

static int use_pictures(void)
{
    static const char ppm[] = "P6 2 2 255\nabcdefghijkl";
    static const char *const names[] = {"x.png", "x.jpg", "x.npy", "x.pfm", "x.hdr", "x.ppm"};
    halo_picture p, q = {0}, back = {0};
    halo_message error, note;
    void *bytes = NULL;
    size_t n_bytes = 0;
    if (halo_picture_decode("x.ppm", ppm, sizeof ppm - 1, &p, &error) != HALO_OK)
        return 0;
    int done = halo_picture_convert(&p, HALO_KIND_F32, 4, 2, &q, &note, &error) == HALO_OK;
    for (size_t i = 0; i < sizeof names / sizeof *names && done; i++) {
        done = halo_picture_encode(names[i], &q, NULL, &bytes, &n_bytes, &note, &error) == HALO_OK &&
               halo_picture_decode(names[i], bytes, n_bytes, &back, &error) == HALO_OK;
        halo_picture_release(&back);
        halo_free(bytes);
        bytes = NULL;
    }
    halo_picture_release(&q);
    halo_picture_release(&p);
    return done;
}

static int use_none(void) { return use_engine(HALO_ENGINE_NONE); }
static int use_interpreter(void) { return use_engine(HALO_ENGINE_INTERPRETER); }
static int use_cpu(void) { return use_engine(HALO_ENGINE_CPU); }

static int use_wrong_script(void)
{
    static const char wrong[] = "pipe p(a: image u8) -> image u8 { return b[x + 1, y] }\npipe q(";
    halo_program *program = halo_compile_text("p.pipe", wrong, sizeof wrong - 1, NULL);
    char *messages = halo_program_messages(program), *json = halo_program_messages_json(program);
    int done = program && messages && json && !halo_program_ok(program);
    halo_free(messages);
    halo_free(json);
    halo_program_free(program);
    return done;
}

/* Fails each allocation alone, and each with all that follow. */
static void exhaust(int (*use)(void), long step)
{
    calls = fail_from = 0;
    assert_true(use());
    long n = calls;
    assert_true(n > 3);
    for (long k = 1; k <= n; k += step)
        for (int forever = 0; forever < 2; forever++) {
            calls = 0;
            fail_from = k;
            fail_count = forever ? 1L << 40 : 1;
            int worked = use();
            if (forever && worked)
                fail_msg("it worked without memory from allocation %ld of %ld on", k, n);
        }
    fail_from = 0;
    assert_true(use());
}

static void test_pictures(void **state) { (void)state; exhaust(use_pictures, 1); }
static void test_wrong_script(void **state) { (void)state; exhaust(use_wrong_script, 1); }
static void test_compiling(void **state) { (void)state; exhaust(use_none, 3); }
static void test_interpreter(void **state) { (void)state; exhaust(use_interpreter, 7); }
static void test_machine_code(void **state) { (void)state; exhaust(use_cpu, 29); }

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_pictures), cmocka_unit_test(test_wrong_script),
                                       cmocka_unit_test(test_compiling), cmocka_unit_test(test_interpreter), cmocka_unit_test(test_machine_code)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
