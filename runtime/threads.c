/* SPDX-License-Identifier: MIT
 * A pool of threads behind halo_exec, for hosts that have none. The caller's thread works too. One job at a time: callers
 * from several threads take turns. */
#include "halo/halo.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>

struct halo_threads {
    pthread_mutex_t turn;            /* held by the caller whose job runs */
    pthread_mutex_t lock;            /* of what follows */
    pthread_cond_t  wake, finished;
    void  (*task)(void *context, int32_t index);
    void   *context;
    int32_t next, count, running;    /* of the job: the next index, how many, tasks that have not returned */
    bool    stop;
    int32_t n_threads;               /* started, the callers not counted */
    pthread_t threads[];
};

/* Takes indices of the job until there are none; called and left with the lock held. */
static void work(halo_threads *t)
{
    while (t->next < t->count) {
        int32_t index = t->next++;
        void (*task)(void *, int32_t) = t->task;
        void *context = t->context;
        t->running++;
        pthread_mutex_unlock(&t->lock);
        task(context, index);
        pthread_mutex_lock(&t->lock);
        if (--t->running == 0 && t->next >= t->count)
            pthread_cond_broadcast(&t->finished);
    }
}

static void *worker(void *user)
{
    halo_threads *t = user;
    pthread_mutex_lock(&t->lock);
    while (!t->stop) {
        work(t);
        if (!t->stop)
            pthread_cond_wait(&t->wake, &t->lock);
    }
    pthread_mutex_unlock(&t->lock);
    return NULL;
}

static void parallel_for(void *user, int32_t count, void (*task)(void *context, int32_t index), void *context)
{
    halo_threads *t = user;
    pthread_mutex_lock(&t->turn);
    pthread_mutex_lock(&t->lock);
    t->task = task;
    t->context = context;
    t->next = 0;
    t->count = count;
    if (count > 1)
        pthread_cond_broadcast(&t->wake);
    work(t);
    while (t->running > 0)
        pthread_cond_wait(&t->finished, &t->lock);
    t->count = 0;
    pthread_mutex_unlock(&t->lock);
    pthread_mutex_unlock(&t->turn);
}

halo_threads *halo_threads_new(int32_t n)
{
    enum { MOST = 1024 };
    if (n <= 0)
        n = (int32_t)sysconf(_SC_NPROCESSORS_ONLN);
    n = n < 1 ? 1 : n > MOST ? MOST : n;
    halo_threads *t = calloc(1, sizeof *t + (size_t)n * sizeof *t->threads);
    if (!t)
        return NULL;
    pthread_mutex_init(&t->turn, NULL);
    pthread_mutex_init(&t->lock, NULL);
    pthread_cond_init(&t->wake, NULL);
    pthread_cond_init(&t->finished, NULL);
    while (t->n_threads < n - 1) {
        if (pthread_create(&t->threads[t->n_threads], NULL, worker, t) != 0) {
            halo_threads_free(t);
            return NULL;
        }
        t->n_threads++;
    }
    return t;
}

void halo_threads_free(halo_threads *t)
{
    if (!t)
        return;
    pthread_mutex_lock(&t->lock);
    t->stop = true;
    pthread_cond_broadcast(&t->wake);
    pthread_mutex_unlock(&t->lock);
    for (int32_t i = 0; i < t->n_threads; i++)
        pthread_join(t->threads[i], NULL);
    pthread_cond_destroy(&t->finished);
    pthread_cond_destroy(&t->wake);
    pthread_mutex_destroy(&t->lock);
    pthread_mutex_destroy(&t->turn);
    free(t);
}

int32_t halo_threads_count(const halo_threads *t) { return t->n_threads + 1; }

halo_exec halo_threads_exec(halo_threads *t)
{
    return (halo_exec){.parallel_for = parallel_for, .workers = t->n_threads + 1, .user = t};
}
