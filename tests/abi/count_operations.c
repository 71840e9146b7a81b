/* SPDX-License-Identifier: MIT
 * What strips and line buffers compute twice, counted: the driver runs on a picture of 3840 x 2160 with row functions that
 * only count the pixels they are asked for. The yardstick is the defined IR with every stage stored, each pixel made once. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "backends/cpu/driver_regions.h"
#include "runtime/program.h"

enum { WIDTH = 3840, HEIGHT = 2160, MOST_FUNCTIONS = 256 };

static int64_t counted[MOST_FUNCTIONS];      /* pixels a row, by function */

#define COUNT(n) static void count_##n(const haloi_frame *frame, int32_t y, int32_t x0, int32_t x1) \
    { (void)frame; (void)y; counted[0x##n] += x1 - x0; }
#define ROW(F, h) F(h##0) F(h##1) F(h##2) F(h##3) F(h##4) F(h##5) F(h##6) F(h##7) F(h##8) F(h##9) F(h##a) F(h##b) F(h##c) F(h##d) F(h##e) F(h##f)
#define ALL(F) ROW(F, 0) ROW(F, 1) ROW(F, 2) ROW(F, 3) ROW(F, 4) ROW(F, 5) ROW(F, 6) ROW(F, 7) ROW(F, 8) ROW(F, 9) ROW(F, a) ROW(F, b) \
    ROW(F, c) ROW(F, d) ROW(F, e) ROW(F, f)
#define NAME(n) count_##n,
ALL(COUNT)
static const haloi_row_function COUNTERS[MOST_FUNCTIONS] = { ALL(NAME) };

/* Tasks one after another: the first takes all strips. */
static void in_turn(void *user, int32_t count, void (*task)(void *context, int32_t index), void *context)
{
    (void)user;
    for (int32_t k = 0; k < count; k++) task(context, k);
}

/* A stage's operations for the pixels that were counted. What only carries pixels (a loader, a copy for a second border)
 * costs one each, which the yardstick doesn't count. */
static double operations(const plan_view *plan, const int32_t *slots, bool with_copies)
{
    double total = 0;
    for (int k = 0; k < plan->header->n_stages; k++) {
        const plan_stage *s = &plan->stages[k];
        int64_t pixels = counted[s->row_function] + (s->group > 1 ? s->group * counted[s->group_function] : 0);
        if (slots[s->cost] > 1 || with_copies) total += (double)pixels * slots[s->cost];
        if (with_copies && s->fill_x >= 0) total += (double)counted[s->fill_x];
        if (with_copies && s->fill_y >= 0) total += (double)counted[s->fill_y];
    }
    return total;
}

/* The slots of a run, as the driver has them made. */
static int32_t *slots_of(const haloi_code *code)
{
    plan_view plan = plan_open(code->plan);
    int32_t *slots = calloc((size_t)plan.header->n_slots, sizeof *slots), dims[64];
    assert_in_range(plan.header->n_dims, 0, 64);
    for (int k = 0; k < plan.header->n_dims; k++) dims[k] = plan.dims[2 * k + 1] == 0 ? WIDTH : HEIGHT;
    haloi_frame frame = { .slots = slots, .params = code->defaults, .dims = dims };
    assert_int_equal(code->setup(&frame, slots), 0);
    return slots;
}

static double count(const cpu_code *compiled, int32_t workers, bool with_copies)
{
    const haloi_code *code = cpu_code_entry(compiled);
    plan_view plan = plan_open(code->plan);
    haloi_code counting = *code;
    const plan_header *h = plan.header;
    assert_in_range(h->n_functions, 1, MOST_FUNCTIONS);
    counting.functions = COUNTERS;
    memset(counted, 0, sizeof counted);
    static char nowhere[2];                   /* pictures' pixels are not looked at */
    halo_image in[4], out[4];
    const halo_image *ins[4] = { in, in + 1, in + 2, in + 3 }, *outs[4] = { out, out + 1, out + 2, out + 3 };
    for (int k = 0; k < h->n_memories; k++) {
        const plan_memory *m = &plan.memories[k];
        if (m->role == PLAN_ROLE_scratch) continue;
        int64_t pixel = (int64_t)m->component_bytes * m->lanes;
        halo_image image = { nowhere, { WIDTH, HEIGHT, 1, 1, 1 }, { pixel, pixel * WIDTH } };
        if (m->role == PLAN_ROLE_output) image.data = (char *)((uintptr_t)1 << 45) + ((ptrdiff_t)m->which << 40);
        *(m->role == PLAN_ROLE_output ? &out[m->which] : &in[m->which]) = image;
    }
    halo_exec exec = { .parallel_for = in_turn, .workers = workers };
    assert_int_equal(haloi_run(&counting, ins, NULL, outs, NULL, &exec, NULL), HALO_OK);
    int32_t *slots = slots_of(code);
    double total = operations(&plan, slots, with_copies);
    free(slots);
    return total;
}

static char *path_of(const char *name)
{
    static char path[512];
    snprintf(path, sizeof path, "%s/%s", SOURCES, name);
    return path;
}

static halo_program *compile(const char *name, const char *pipe, halo_engine engine, int32_t tile_rows)
{
    halo_program *program = halo_compile_file(path_of(name), &(halo_options){ .engine = engine, .pipe = pipe, .tile_rows = tile_rows });
    if (!halo_program_ok(program)) fail_msg("%s", halo_program_messages(program));
    return program;
}

typedef struct script { const char *file, *pipe; } script;

static void little_is_computed_twice(void **state)
{
    const script *s = *state;
    halo_program *compiled = compile(s->file, s->pipe, HALO_ENGINE_CPU, 0), *defined = compile(s->file, s->pipe, HALO_ENGINE_INTERPRETER, 0);
    diags d = { 0 };
    cpu_code *stored = cpu_load(halo_program_pipe(defined, 0)->ir, &(cpu_options){ .no_fuse = true }, &d);
    assert_non_null(stored);
    double needed = count(stored, 1, false);
    assert_true(needed > (double)WIDTH * HEIGHT);
    for (int32_t workers = 1; workers <= 2; workers++) {
        double done = count(halo_program_pipe(compiled, 0)->code, workers, true);
        print_message("%s, %d worker%s: %.1f operations a pixel, %.1f needed: factor %.3f\n", s->pipe, workers, workers > 1 ? "s" : "",
                      done / WIDTH / HEIGHT, needed / WIDTH / HEIGHT, done / needed);
        assert_true(done <= 1.1 * needed);
        assert_true(done > 0.5 * needed);         /* exact passes don't halve it: else the counter counts nothing */
    }
    cpu_unload(stored);
    halo_program_free(compiled);
    halo_program_free(defined);
}

/* That the counter would notice: strips of four rows compute many rows again. */
static void flat_strips_cost(void **state)
{
    (void)state;
    halo_program *tall = compile("tests/abi/filters.pipe", "chain", HALO_ENGINE_CPU, HEIGHT);
    halo_program *flat = compile("tests/abi/filters.pipe", "chain", HALO_ENGINE_CPU, 4);
    assert_true(count(halo_program_pipe(flat, 0)->code, 1, true) > 1.3 * count(halo_program_pipe(tall, 0)->code, 1, true));
    halo_program_free(tall);
    halo_program_free(flat);
}

int main(void)
{
    static const script SCRIPTS[] = {
        { "tests/abi/filters.pipe", "chain" }, { "tests/abi/filters.pipe", "blur_edge" }, { "examples/sep43.pipe", "sep43" },
        { "examples/bokeh.pipe", "bokeh" }, { "examples/unsharp.pipe", "unsharp" }, { "examples/harris.pipe", "harris" },
    };
    struct CMUnitTest tests[1 + sizeof SCRIPTS / sizeof *SCRIPTS] = { cmocka_unit_test(flat_strips_cost) };
    size_t n = 1;
    for (size_t k = 0; k < sizeof SCRIPTS / sizeof *SCRIPTS; k++)
        tests[n++] = (struct CMUnitTest){ SCRIPTS[k].pipe, little_is_computed_twice, NULL, NULL, (void *)(uintptr_t)&SCRIPTS[k] };
    return _cmocka_run_group_tests("operations", tests, n, NULL, NULL);
}
