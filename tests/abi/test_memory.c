/* SPDX-License-Identifier: MIT
 * All memory comes from the host's allocate, aligned, on the calling thread, outside of parallel_for, and goes back; when it
 * runs out at any point the call says so and nothing has been written outside. Scratch doesn't grow with a picture's height. */
#include "support.h"

#include <pthread.h>

#include "bokeh.h"
#include "sep43.h"

/* ---- malloc is not called behind the host's back (linked with --wrap) ------------------------------------- */

void *__real_malloc(size_t bytes);
void  __real_free(void *memory);
void *__wrap_malloc(size_t bytes);
void  __wrap_free(void *memory);

static int c_library_calls;

void *__wrap_malloc(size_t bytes)
{
    c_library_calls++;
    return __real_malloc(bytes);
}

void __wrap_free(void *memory)
{
    c_library_calls++;
    __real_free(memory);
}

/* ---- a host that counts ------------------------------------------------------------------------------------ */

enum { MOST_BLOCKS = 256 };

typedef struct block { void *memory; size_t bytes; } block;

typedef struct heap {
    int       calls, fail_at, in_parallel, done, wrong;
    size_t    now, peak;
    block     blocks[MOST_BLOCKS];       /* those handed out and not yet given back */
    pthread_t caller;
} heap;

static void misuse(heap *h, bool wrong) { if (wrong) h->wrong++; }

static void *allocate(void *user, size_t bytes, size_t alignment)
{
    heap *h = user;
    misuse(h, h->in_parallel || !pthread_equal(h->caller, pthread_self()) || bytes == 0 || (alignment & (alignment - 1)) || alignment > 4096);
    if (++h->calls == h->fail_at) return NULL;
    void *memory = NULL;
    if (posix_memalign(&memory, alignment, bytes)) return NULL;
    memset(memory, POISON, bytes);
    for (int k = 0; k < MOST_BLOCKS; k++) {
        if (h->blocks[k].memory) continue;
        h->blocks[k] = (block){ memory, bytes };
        h->now += bytes;
        if (h->now > h->peak) h->peak = h->now;
        return memory;
    }
    h->wrong++;
    return NULL;
}

static void release(void *user, void *memory)
{
    heap *h = user;
    misuse(h, h->in_parallel || !pthread_equal(h->caller, pthread_self()));
    for (int k = 0; k < MOST_BLOCKS; k++) {
        if (h->blocks[k].memory != memory) continue;
        h->now -= h->blocks[k].bytes;
        h->blocks[k].memory = NULL;
        __real_free(memory);
        return;
    }
    h->wrong++;
}

static void in_parallel(void *user, int32_t count, void (*task)(void *context, int32_t index), void *context)
{
    heap *h = user;
    h->in_parallel = 1;
    on_small_stacks(NULL, count, task, context);
    h->in_parallel = 0;
}

static void done(void *user, float part)
{
    if (part == 1.0f) ((heap *)user)->done++;
}

static halo_exec exec_of(heap *h, int32_t workers)
{
    h->caller = pthread_self();
    return (halo_exec){ .parallel_for = workers > 1 ? in_parallel : NULL, .workers = workers, .allocate = allocate, .release = release,
                        .progress = done, .user = h };
}

static void all_is_back(const heap *h)
{
    assert_int_equal(h->wrong, 0);
    assert_int_equal(h->now, 0);
    for (int k = 0; k < MOST_BLOCKS; k++) assert_null(h->blocks[k].memory);
}

/* ---- running out -------------------------------------------------------------------------------------------- */

static void run_out(call *c, int32_t workers, int fail_at)
{
    heap h = { .fail_at = fail_at };
    halo_exec exec = exec_of(&h, workers);
    say_where("memory runs out", c, fail_at);
    int code = call_run(c, NULL, &exec);
    if (code != HALO_ERROR_MEMORY) fail_msg("%s, allocation %d failed: %s", c->filter->name, fail_at, c->filter->error(code));
    assert_int_equal(h.done, 0);
    all_is_back(&h);
    for (int k = 0; k < c->filter->n_outputs; k++) assert_true(picture_outside_is_poison(&c->out[k]));
    for (int k = 0; k < c->filter->n_inputs; k++) assert_true(picture_outside_is_poison(&c->in[k]));
}

static void each_allocation_fails(void **state)
{
    for (int32_t workers = 1; workers <= 3; workers += 2)
        for (placement where = PLACE_wide_ends; where <= PLACE_upward; where++) {
            call c;
            if (!call_begin(&c, *state, 33, 40, where)) continue;
            if (where == PLACE_upward) c.in[0].image.stride[0] = 0;      /* pixels that have to be packed */
            if (where == PLACE_upward) call_expect(&c);
            heap h = { 0 };
            halo_exec exec = exec_of(&h, workers);
            int before = c_library_calls;
            int code = call_run(&c, NULL, &exec);
            if (workers == 1) assert_int_equal(c_library_calls, before);     /* threads need memory of their own */
            assert_int_equal(code, HALO_OK);
            assert_int_equal(h.done, 1);
            all_is_back(&h);
            for (int k = 0; k < c.filter->n_outputs; k++) assert_true(picture_equal(&c.out[k], &c.expected[k]));
            for (int n = 1; n <= h.calls; n++) run_out(&c, workers, n);
            call_check(&c, NULL);                                           /* and all is well again */
            call_end(&c);
        }
}

/* A size that no memory holds. */
static void sizes_that_no_memory_holds(void **state)
{
    (void)state;
    call c;
    assert_true(call_begin(&c, find_filter("blur_reflect101"), 4, 4, PLACE_ends));
    halo_image *in = &c.in[0].image, *out = &c.out[0].image;
    in->extent[0] = out->extent[0] = 1 << 28;
    in->extent[1] = out->extent[1] = 1 << 28;
    in->stride[0] = in->stride[1] = 0;                 /* one pixel, and the output above it */
    if ((uintptr_t)in->data > (uintptr_t)out->data) {
        void *lower = out->data;
        out->data = in->data;
        in->data = lower;
    }
    out->stride[0] = 4;
    out->stride[1] = (ptrdiff_t)4 << 28;
    heap h = { 0 };
    halo_exec exec = exec_of(&h, 1);
    assert_int_equal(call_run(&c, NULL, &exec), HALO_ERROR_MEMORY);
    all_is_back(&h);
    in->extent[0] = in->extent[1] = out->extent[0] = out->extent[1] = 4;
    call_end(&c);
}

/* ---- scratch ---------------------------------------------------------------------------------------------------- */

typedef size_t peak_function(int32_t width, int32_t height, int32_t workers);

static image_type rgb = { LAYOUT_interleaved, "src", "u8", 1, 3, 2, { "_", "_" } }, grey = { LAYOUT_interleaved, "depth", "u8", 1, 1, 2, { "_", "_" } };

static size_t sep43_peak(int32_t width, int32_t height, int32_t workers)
{
    int32_t extent[5] = { width, height };
    picture in = picture_new(&rgb, extent, PLACE_ends), out = picture_new(&rgb, extent, PLACE_ends);
    heap h = { 0 };
    halo_exec exec = exec_of(&h, workers);
    assert_int_equal(sep43(&in.image, &out.image, &exec), HALO_OK);
    all_is_back(&h);
    picture_free(&in);
    picture_free(&out);
    return h.peak;
}

static size_t bokeh_peak(int32_t width, int32_t height, int32_t workers)
{
    int32_t extent[5] = { width, height };
    picture in = picture_new(&rgb, extent, PLACE_ends), depth = picture_new(&grey, extent, PLACE_ends), out = picture_new(&rgb, extent, PLACE_ends);
    heap h = { 0 };
    halo_exec exec = exec_of(&h, workers);
    assert_int_equal(bokeh(&in.image, &depth.image, &bokeh_defaults, &out.image, &exec), HALO_OK);
    all_is_back(&h);
    picture_free(&in);
    picture_free(&depth);
    picture_free(&out);
    return h.peak;
}

static size_t filter_peak(const char *name, int32_t width, int32_t height, int32_t workers)
{
    const filter *f = find_filter(name);
    call c = { .filter = f };
    int32_t extent[5] = { width, height };
    c.in[0] = picture_new(&f->inputs[0], extent, PLACE_ends);
    c.out[0] = picture_new(&f->outputs[0], extent, PLACE_ends);
    c.in_images[0] = &c.in[0].image;
    c.out_images[0] = &c.out[0].image;
    heap h = { 0 };
    halo_exec exec = exec_of(&h, workers);
    assert_int_equal(call_run(&c, NULL, &exec), HALO_OK);
    all_is_back(&h);
    call_end(&c);
    return h.peak;
}

static size_t chain_peak(int32_t width, int32_t height, int32_t workers) { return filter_peak("chain", width, height, workers); }
static size_t blur_peak(int32_t width, int32_t height, int32_t workers) { return filter_peak("blur_edge", width, height, workers); }
static size_t gauss_peak(int32_t width, int32_t height, int32_t workers) { return filter_peak("gauss", width, height, workers); }

static void scratch_does_not_grow_with_height(void **state)
{
    (void)state;
    static const struct { const char *name; peak_function *peak; } CASES[] = {
        { "chain", chain_peak }, { "blur_edge", blur_peak }, { "gauss", gauss_peak }, { "sep43", sep43_peak }, { "bokeh", bokeh_peak },
    };
    for (size_t k = 0; k < sizeof CASES / sizeof *CASES; k++)
        for (int32_t workers = 1; workers <= 2; workers++) {
            size_t low = CASES[k].peak(200, 400, workers), high = CASES[k].peak(200, 1600, workers), wide = CASES[k].peak(400, 400, workers);
            if (high > low) fail_msg("%s with %d workers: %zu bytes for 400 rows, %zu for 1600", CASES[k].name, workers, low, high);
            assert_true(wide > low);         /* the count counts something */
            assert_true(low < (size_t)workers * 400 * 200 * 12);      /* lines, not pictures */
        }
}

int main(void)
{
    catch_faults();
    assert_in_range(N_FILTERS, 1, MOST_FILTERS);
    struct CMUnitTest tests[2 + MOST_FILTERS] = { cmocka_unit_test(scratch_does_not_grow_with_height), cmocka_unit_test(sizes_that_no_memory_holds) };
    size_t n = 2;
    for (size_t k = 0; k < N_FILTERS; k++)
        tests[n++] = (struct CMUnitTest){ FILTERS[k].name, each_allocation_fails, NULL, NULL, (void *)(uintptr_t)&FILTERS[k] };
    return _cmocka_run_group_tests("memory", tests, n, NULL, NULL);
}
