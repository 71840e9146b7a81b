/* SPDX-License-Identifier: MIT
 * Random tensor IR through the CPU backend: the same bits as the interpreter's on the same IR, whatever the test switches.
 * `backends_test_random_pipes FIRST COUNT` tries other seeds. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backends/cpu/cpu.h"
#include "lowering/pass.h"
#include "support_pipe.h"

static uint64_t first_seed = 0, n_seeds = 60;

static cpu_options options_of(uint64_t seed)
{
    random_source r = { seed + 1000 };
    cpu_options options = { .no_fuse = random_below(&r, 4) == 0, .force_border = random_below(&r, 4) == 0 };
    options.stream = random_below(&r, 2) ? CPU_STREAM_always : CPU_STREAM_chosen;
    if (random_below(&r, 2)) {
        options.tile_width = 1 + random_below(&r, 6);
        options.tile_rows = 1 + random_below(&r, 6);
    }
    return options;
}

static void fail_with(uint64_t seed, const char *what, diags *d)
{
    text out = { 0 };
    diags_render(d, &out);
    text_add(&out, "", 1);
    fail_msg("seed %llu: %s\n%s", (unsigned long long)seed, what, out.bytes);
}

static int run_code(const void *code, const halo_image *inputs, const halo_image *outputs)
{
    int32_t failed;
    return cpu_run(code, inputs, NULL, outputs, NULL, NULL, &failed);
}

static void compare(arena *memory, uint64_t seed)
{
    static _Alignas(8) uint8_t wanted[RANDOM_PIPE_BYTES], got[RANDOM_PIPE_BYTES];
    diags d;
    diags_init(&d, memory);
    tensor_pipe *p = random_pipe(memory, seed);
    pass_options passes = { .stop_after = PASS_COUNT };
    if (!passes_run(&p, &passes, &d))
        fail_with(seed, "the passes failed", &d);
    char *printed = ir_text(memory, p);
    memset(wanted, 0, sizeof wanted);
    memset(got, 0, sizeof got);
    random_pipe_run(p, seed, wanted);
    uint32_t n_outputs = p->outputs.count;
    cpu_options options = options_of(seed);
    cpu_code *code = cpu_load(p, &options, &d);
    if (!code)
        fail_with(seed, "no code", &d);
    assert_int_equal(p->outputs.count, n_outputs);
    random_pipe_run_by(p, seed, got, run_code, code);
    cpu_unload(code);
    for (int k = 0; k < RANDOM_PIPE_BYTES; k++)
        if (wanted[k] != got[k]) {
            fputs(printed, stderr);
            fail_msg("seed %llu (no_fuse %d, force_border %d, stream %d, tile %dx%d): byte %d is %02x, the interpreter has %02x", (unsigned long long)seed,
                     options.no_fuse, options.force_border, options.stream, options.tile_width, options.tile_rows, k, got[k], wanted[k]);
        }
}

static void code_computes_what_the_interpreter_does(void **state)
{
    (void)state;
    for (uint64_t seed = first_seed; seed < first_seed + n_seeds; seed++) {
        arena *memory = arena_new(NULL);
        compare(memory, seed);
        arena_free(memory);
    }
}

int main(int argc, char **argv)
{
    if (argc == 3) {
        first_seed = strtoull(argv[1], NULL, 10);
        n_seeds = strtoull(argv[2], NULL, 10);
    }
    const struct CMUnitTest tests[] = { cmocka_unit_test(code_computes_what_the_interpreter_does) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
