/* SPDX-License-Identifier: MIT
 * The host's threads: parallel_for is called at most once a dispatch with no more tasks than workers; how many there are, in
 * which order and on which threads they run changes no bit, and neither does the host's floating-point mode, which is the
 * host's again afterwards. A task's stack stays under 16 KiB. */
#include "support.h"

#include <fenv.h>
#include <pthread.h>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

static const int32_t SIZES[][2] = { { 70, 50 }, { 9, 131 } };

typedef void for_each(void *user, int32_t count, void (*task)(void *context, int32_t index), void *context);

typedef struct host { for_each *run; int calls, most; } host;

static void count_calls(void *user, int32_t count, void (*task)(void *context, int32_t index), void *context)
{
    host *h = user;
    h->calls++;
    if (count > h->most) h->most = count;
    h->run(NULL, count, task, context);
}

static void forward(void *user, int32_t count, void (*task)(void *context, int32_t index), void *context)
{
    (void)user;
    for (int32_t k = 0; k < count; k++) task(context, k);
}

typedef struct job { void (*task)(void *context, int32_t index); void *context; int32_t count; } job;

static void *all_tasks(void *data)
{
    job *j = data;
    forward(NULL, j->count, j->task, j->context);
    return NULL;
}

static void on_another_thread(void *user, int32_t count, void (*task)(void *context, int32_t index), void *context)
{
    (void)user;
    pthread_t thread;
    job j = { task, context, count };
    assert_int_equal(pthread_create(&thread, NULL, all_tasks, &j), 0);
    pthread_join(thread, NULL);
}

static void any_threads(void **state)
{
    static for_each *const WAYS[] = { forward, backward, on_another_thread, on_small_stacks };
    for (size_t s = 0; s < sizeof SIZES / sizeof *SIZES; s++) {
        call c;
        if (!call_begin(&c, *state, SIZES[s][0], SIZES[s][1], PLACE_wide_ends)) continue;
        for (size_t way = 0; way < sizeof WAYS / sizeof *WAYS; way++)
            for (int32_t workers = 1; workers <= 5; workers++) {
                host h = { .run = WAYS[way] };
                halo_exec exec = { .parallel_for = count_calls, .workers = workers, .user = &h };
                say_where("threads", &c, (int)(10 * way) + workers);
                call_check(&c, &exec);
                assert_in_range(h.calls, 0, c.filter->n_dispatches);
                assert_in_range(h.most, 0, workers);
                if (workers > 1 && c.filter->n_dispatches == 1 && SIZES[s][1] > 100) assert_int_equal(h.calls, 1);
            }
        call_end(&c);
    }
}

/* ---- several calls at a time ----------------------------------------------------------------------------- */

typedef struct caller { call *calls; size_t n_calls, first; int wrong; } caller;

static void *call_all(void *data)
{
    caller *a = data;
    for (size_t k = 0; k < a->n_calls; k++) {
        call *from = &a->calls[(a->first + k) % a->n_calls], own = *from;
        for (int o = 0; o < own.filter->n_outputs; o++) {
            own.out[o] = picture_new(&from->out[o].type, from->out[o].image.extent, PLACE_ends);
            own.out_images[o] = &own.out[o].image;
        }
        if (call_run(&own, NULL, NULL) != HALO_OK) a->wrong++;
        for (int o = 0; o < own.filter->n_outputs; o++) {
            if (!picture_equal(&own.out[o], &own.expected[o])) a->wrong++;
            picture_free(&own.out[o]);
        }
    }
    return NULL;
}

/* All pipes from four threads at a time, reading the same inputs: a library keeps no state. */
static void calls_at_a_time(void **state)
{
    (void)state;
    call calls[MOST_FILTERS];
    size_t n = 0;
    for (size_t k = 0; k < N_FILTERS; k++) n += call_begin(&calls[n], &FILTERS[k], 33, 27, PLACE_ends);
    pthread_t threads[4];
    caller callers[4];
    for (size_t t = 0; t < 4; t++) {
        callers[t] = (caller){ calls, n, t % 2, 0 };
        assert_int_equal(pthread_create(&threads[t], NULL, call_all, &callers[t]), 0);
    }
    for (size_t t = 0; t < 4; t++) {
        pthread_join(threads[t], NULL);
        assert_int_equal(callers[t].wrong, 0);
    }
    for (size_t k = 0; k < n; k++) call_end(&calls[k]);
}

/* 0 workers stand for 8. */
static void default_workers(void **state)
{
    (void)state;
    call c;
    host h = { .run = forward };
    halo_exec exec = { .parallel_for = count_calls, .user = &h };
    assert_true(call_begin(&c, find_filter("blur_edge"), 20, 400, PLACE_ends));
    call_check(&c, &exec);
    assert_in_range(h.most, 2, 8);
    exec.workers = -3;
    call_check(&c, &exec);
    call_end(&c);
}

/* ---- floating-point modes ------------------------------------------------------------------------------ */

#if defined(__x86_64__)
/* Flush to zero, denormals are zero, rounding up; then rounding down with every exception trapped. */
static const uint32_t MODES[] = { 0x9fc0 | 0x4000, 0x2000 };

static uint32_t current_mode;

static void in_mode(void *user, int32_t count, void (*task)(void *context, int32_t index), void *context)
{
    (void)user;
    for (int32_t k = 0; k < count; k++) {
        _mm_setcsr(current_mode);
        task(context, k);
        assert_int_equal(_mm_getcsr(), current_mode);
    }
}

static void float_modes(void **state)
{
    call c;
    uint32_t usual = _mm_getcsr();
    if (!call_begin(&c, *state, 33, 27, PLACE_ends)) return;
    for (int variant = 0; variant < 4; variant++) {
        halo_exec exec = { .parallel_for = in_mode, .workers = 3 };
        for (int k = 0; k < c.filter->n_outputs; k++) picture_poison(&c.out[k]);
        say_where("floating-point modes", &c, variant);
        current_mode = MODES[variant / 2];
        _mm_setcsr(current_mode);
        int code = call_run(&c, NULL, variant & 1 ? &exec : NULL);
        uint32_t after = _mm_getcsr();
        _mm_setcsr(usual);
        assert_int_equal(code, HALO_OK);
        assert_int_equal(after, current_mode);
        for (int k = 0; k < c.filter->n_outputs; k++) assert_true(picture_equal(&c.out[k], &c.expected[k]));
    }
    call_end(&c);
}
#else
static void float_modes(void **state) { (void)state; }
#endif

int main(void)
{
    catch_faults();
    assert_in_range(N_FILTERS, 1, MOST_FILTERS);
    struct CMUnitTest tests[2 + 2 * MOST_FILTERS] = { cmocka_unit_test(default_workers), cmocka_unit_test(calls_at_a_time) };
    size_t n = 2;
    for (size_t k = 0; k < N_FILTERS; k++) {
        tests[n++] = (struct CMUnitTest){ FILTERS[k].name, any_threads, NULL, NULL, (void *)(uintptr_t)&FILTERS[k] };
        tests[n++] = (struct CMUnitTest){ FILTERS[k].name, float_modes, NULL, NULL, (void *)(uintptr_t)&FILTERS[k] };
    }
    return _cmocka_run_group_tests("threads", tests, n, NULL, NULL);
}
