/* SPDX-License-Identifier: MIT
 * The pool runs every index once, however many there are and whoever asks. */
#include "check.h"

#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

enum { MOST = 1000 };
typedef struct counts { atomic_int of[MOST]; } counts;

static void count(void *context, int32_t index)
{
    counts *c = context;
    atomic_fetch_add(&c->of[index], 1);
}

static void check_job(const halo_exec *exec, int32_t n)
{
    counts c = {0};
    exec->parallel_for(exec->user, n, count, &c);
    for (int32_t i = 0; i < MOST; i++)
        assert_int_equal(c.of[i], i < n);
}

static void test_every_index_once(void **state)
{
    (void)state;
    for (int32_t n_threads = 1; n_threads <= 5; n_threads++) {
        halo_threads *threads = halo_threads_new(n_threads);
        assert_non_null(threads);
        assert_int_equal(halo_threads_count(threads), n_threads);
        halo_exec exec = halo_threads_exec(threads);
        assert_int_equal(exec.workers, n_threads);
        for (int round = 0; round < 50; round++)
            for (int32_t n = 0; n < 9; n++)
                check_job(&exec, n);
        check_job(&exec, MOST);
        halo_threads_free(threads);
    }
}

static void *many_jobs(void *user)
{
    for (int i = 0; i < 100; i++)
        check_job(user, 1 + i % 7);
    return NULL;
}

static void test_callers_take_turns(void **state)
{
    (void)state;
    halo_threads *threads = halo_threads_new(3);
    halo_exec exec = halo_threads_exec(threads);
    pthread_t callers[4];
    for (int i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&callers[i], NULL, many_jobs, &exec), 0);
    for (int i = 0; i < 4; i++)
        pthread_join(callers[i], NULL);
    halo_threads_free(threads);
}

/* Two tasks that wait for each other's start need two threads at a time. */
static void meet(void *context, int32_t index)
{
    atomic_int *arrived = context;
    (void)index;
    atomic_fetch_add(arrived, 1);
    for (int i = 0; i < 20000 && atomic_load(arrived) < 2; i++)
        usleep(100);
}

static void test_at_the_same_time(void **state)
{
    (void)state;
    halo_threads *threads = halo_threads_new(2);
    halo_exec exec = halo_threads_exec(threads);
    atomic_int arrived = 0;
    exec.parallel_for(exec.user, 2, meet, &arrived);
    assert_int_equal(arrived, 2);
    halo_threads_free(threads);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_every_index_once), cmocka_unit_test(test_callers_take_turns),
                                       cmocka_unit_test(test_at_the_same_time)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
