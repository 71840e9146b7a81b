/* SPDX-License-Identifier: MIT
 * Cancelling and progress: `cancelled` is asked about once per millisecond of work, a yes ends the call with HALO_CANCELLED;
 * progress never falls, says 1 once, last, on the calling thread, and only when all is done. */
#include "support.h"

#include <pthread.h>
#include <time.h>

/* ---- a host that watches ---------------------------------------------------------------------------------- */

typedef struct watch {
    int       asked, cancel_at;          /* questions; the one that is answered yes (0: none) */
    int       reports, ones, wrong;
    float     last;
    double    asked_at, longest;         /* this thread's seconds of work between two questions */
    pthread_t caller;
    pthread_mutex_t lock;
} watch;

static double worked(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int cancelled(void *user)
{
    watch *w = user;
    pthread_mutex_lock(&w->lock);
    double now = worked();
    if (w->asked && now - w->asked_at > w->longest) w->longest = now - w->asked_at;
    w->asked_at = now;
    int answer = w->cancel_at && ++w->asked >= w->cancel_at;
    if (!w->cancel_at) w->asked++;
    pthread_mutex_unlock(&w->lock);
    return answer;
}

static void progress(void *user, float done)
{
    watch *w = user;
    pthread_mutex_lock(&w->lock);
    if (!(done >= w->last && done > 0 && done <= 1)) w->wrong++;
    if (w->ones) w->wrong++;             /* 1 is the last */
    if (done == 1 && !pthread_equal(w->caller, pthread_self())) w->wrong++;
    w->ones += done == 1;
    w->last = done;
    w->reports++;
    pthread_mutex_unlock(&w->lock);
}

static halo_exec exec_of(watch *w, int32_t workers)
{
    pthread_mutex_init(&w->lock, NULL);
    w->caller = pthread_self();
    return (halo_exec){ .parallel_for = workers > 1 ? on_small_stacks : NULL, .workers = workers, .cancelled = cancelled, .progress = progress, .user = w };
}

/* ---- small pictures: every question in turn ------------------------------------------------------------------ */

static void each_question_is_answered_yes(void **state)
{
    call c;
    if (!call_begin(&c, *state, 33, 60, PLACE_wide_ends)) return;
    for (int32_t workers = 1; workers <= 3; workers += 2) {
        watch all = { 0 };
        halo_exec exec = exec_of(&all, workers);
        say_where("progress", &c, workers);
        call_check(&c, &exec);
        assert_int_equal(all.wrong, 0);
        assert_int_equal(all.ones, 1);
        assert_true(all.asked >= 1);
        if (workers > 1) exec.parallel_for = backward;         /* tasks in turn: the same questions each time */
        all.asked = all.ones = all.last = 0;
        call_check(&c, &exec);
        for (int n = 1; n <= all.asked && n < 20; n++) {
            watch some = { .cancel_at = n };
            exec = exec_of(&some, workers);
            if (workers > 1) exec.parallel_for = backward;
            for (int k = 0; k < c.filter->n_outputs; k++) picture_poison(&c.out[k]);
            assert_int_equal(call_run(&c, NULL, &exec), HALO_CANCELLED);
            assert_int_equal(some.wrong, 0);
            assert_int_equal(some.ones, 0);
            assert_int_equal(some.asked, n);                       /* nobody asks after a yes */
            for (int k = 0; k < c.filter->n_outputs; k++) assert_true(picture_outside_is_poison(&c.out[k]));
        }
    }
    call_end(&c);
}

/* ---- large ones: how often ------------------------------------------------------------------------------------ */

static halo_image dense_image(const image_type *type, const int32_t *extent, size_t *bytes)
{
    halo_image image = { 0 };
    ptrdiff_t stride = type->bytes * type->lanes;
    for (int d = 0; d < 5; d++) {
        image.extent[d] = d < type->rank ? extent[d] : 1;
        image.stride[d] = stride;
        stride *= image.extent[d];
    }
    *bytes = (size_t)stride;
    image.data = calloc(*bytes, 1);
    assert_non_null(image.data);
    return image;
}

/* Runs on pictures of nothing; the seconds that it took. */
static double run_large(const filter *f, int32_t width, int32_t height, const void *params, const halo_exec *exec, int *code)
{
    halo_image in[MOST_IMAGES], out[MOST_IMAGES] = { 0 }, *outs[MOST_IMAGES] = { out, out + 1, out + 2, out + 3, out + 4, out + 5 };
    const halo_image *in_images[MOST_IMAGES] = { in, in + 1, in + 2, in + 3, in + 4, in + 5 }, *out_images[MOST_IMAGES] = { out, out + 1, out + 2, out + 3, out + 4, out + 5 };
    size_t bytes;
    for (int k = 0; k < f->n_inputs; k++) {
        int32_t extent[5];
        input_extents(&f->inputs[k], width, height, extent);
        in[k] = dense_image(&f->inputs[k], extent, &bytes);
    }
    assert_int_equal(f->size(in_images, params, outs), HALO_OK);
    for (int k = 0; k < f->n_outputs; k++) {
        out[k] = dense_image(&f->outputs[k], out[k].extent, &bytes);
        memset(out[k].data, 1, bytes);       /* pages are there before the clock starts */
    }
    double start = worked();
    *code = f->run(in_images, params, out_images, NULL, exec);
    double seconds = worked() - start;
    for (int k = 0; k < f->n_inputs; k++) free(in[k].data);
    for (int k = 0; k < f->n_outputs; k++) free(out[k].data);
    return seconds;
}

#include "filters.h"

/* Pages that are touched for the first time, and an estimate that is off, stretch a millisecond; ten of them are too many. */
static void asked_often_enough(void **state)
{
    (void)state;
    static const gauss_params WIDE = { 9 };
    static const dilation_params LARGE = { 9 };
    static const windows_params FAR_AWAY = { 40 };
    static const resized_params BIG = { 900, 900 };
    static const struct { const char *name; int32_t width, height; const void *params; } CASES[] = {
        { "blur_edge", 2000, 700, NULL }, { "blur_reflect101", 2000, 700, NULL }, { "chain", 1500, 500, NULL }, { "median5", 700, 300, NULL },
        { "gauss", 900, 300, &WIDE }, { "gauss", 200000, 2, &WIDE }, { "dilation", 900, 400, &LARGE }, { "warp", 1500, 500, NULL },
        { "resized", 300, 300, &BIG }, { "curve", 1500, 700, NULL }, { "tone", 3000, 900, NULL }, { "normalized", 2000, 1500, NULL },
        { "normalized", 12000, 800, NULL }, { "windows", 400, 200, &FAR_AWAY }, { "two_levels", 1000, 600, NULL }, { "transposed", 1500, 1500, NULL }, { "blur_edge", 1000000, 2, NULL },
    };
    int late = 0;
    for (size_t k = 0; k < sizeof CASES / sizeof *CASES; k++) {
        watch w = { 0 };
        halo_exec exec = exec_of(&w, 1);
        int code;
        double seconds = run_large(find_filter(CASES[k].name), CASES[k].width, CASES[k].height, CASES[k].params, &exec, &code);
        assert_int_equal(code, HALO_OK);
        assert_int_equal(w.wrong, 0);
        assert_int_equal(w.ones, 1);
        bool good = w.longest < 0.010 && w.asked >= seconds * 1000 / 8 && w.reports >= w.asked / 4;
        print_message("%s %d x %d: %.1f ms, asked %d times, %.2f ms at most between, %d reports%s\n", CASES[k].name, CASES[k].width, CASES[k].height,
                      1e3 * seconds, w.asked, 1e3 * w.longest, w.reports, good ? "" : "  TOO SELDOM");
        late += !good;
    }
    assert_int_equal(late, 0);
}

/* A yes in the middle ends the call long before its end. */
static void ends_soon(void **state)
{
    (void)state;
    static const gauss_params WIDE = { 9 };
    watch all = { 0 }, some = { .cancel_at = 4 };
    halo_exec exec = exec_of(&all, 1);
    int code;
    double whole = run_large(find_filter("gauss"), 900, 300, &WIDE, &exec, &code);
    exec = exec_of(&some, 1);
    double part = run_large(find_filter("gauss"), 900, 300, &WIDE, &exec, &code);
    assert_int_equal(code, HALO_CANCELLED);
    assert_true(part < whole / 2);
    assert_true(some.last < 0.5f);
}

int main(void)
{
    catch_faults();
    assert_in_range(N_FILTERS, 1, MOST_FILTERS);
    struct CMUnitTest tests[2 + MOST_FILTERS] = { cmocka_unit_test(asked_often_enough), cmocka_unit_test(ends_soon) };
    size_t n = 2;
    for (size_t k = 0; k < N_FILTERS; k++)
        tests[n++] = (struct CMUnitTest){ FILTERS[k].name, each_question_is_answered_yes, NULL, NULL, (void *)(uintptr_t)&FILTERS[k] };
    return _cmocka_run_group_tests("progress", tests, n, NULL, NULL);
}
