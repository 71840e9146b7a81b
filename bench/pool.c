/* Threads as an application has them: they wait, look for work for a moment before they sleep, and the caller works too.
 * Halo takes its threads from the host, so this is the host's half of what is measured. */
#define _GNU_SOURCE
#include "bench/measure.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

enum { LOOKS = 2000 };   /* about 30 microseconds of looking before a thread sleeps */

struct pool {
    pthread_mutex_t lock;
    pthread_cond_t  wake, finished;
    void  (*task)(void *context, int32_t index);
    void   *context;
    int32_t next, count, running;
    atomic_bool waiting_work, all_done;   /* hints for those that look without the lock */
};

/* Takes tasks until there are none; called and left with the lock held. */
static void work(pool *p)
{
    while (p->next < p->count) {
        int32_t index = p->next++;
        if (p->next == p->count)
            p->waiting_work = false;
        p->running++;
        pthread_mutex_unlock(&p->lock);
        p->task(p->context, index);
        pthread_mutex_lock(&p->lock);
        if (--p->running == 0 && p->next == p->count) {
            p->all_done = true;
            pthread_cond_signal(&p->finished);
        }
    }
}

static void look(atomic_bool *until)
{
    for (int i = 0; i < LOOKS && !atomic_load_explicit(until, memory_order_relaxed); i++)
        __builtin_ia32_pause();
}

static void *worker(void *user)
{
    pool *p = user;
    pthread_mutex_lock(&p->lock);
    for (;;) {
        work(p);
        pthread_mutex_unlock(&p->lock);
        look(&p->waiting_work);
        pthread_mutex_lock(&p->lock);
        if (p->next == p->count)
            pthread_cond_wait(&p->wake, &p->lock);
    }
    return NULL;
}

pool *pool_new(int threads)
{
    pool *p = calloc(1, sizeof *p);
    if (p == NULL)
        return NULL;
    pthread_mutex_init(&p->lock, NULL);
    pthread_cond_init(&p->wake, NULL);
    pthread_cond_init(&p->finished, NULL);
    for (int i = 1; i < threads; i++) {
        pthread_t thread;
        if (pthread_create(&thread, NULL, worker, p) != 0)
            return NULL;
        pthread_detach(thread);
    }
    return p;
}

void pool_parallel_for(void *user, int32_t count, void (*task)(void *context, int32_t index), void *context)
{
    pool *p = user;
    if (count == 1) {
        task(context, 0);
        return;
    }
    pthread_mutex_lock(&p->lock);
    p->task = task;
    p->context = context;
    p->next = 0;
    p->count = count;
    p->all_done = false;
    p->waiting_work = true;
    pthread_cond_broadcast(&p->wake);
    work(p);
    if (p->running > 0) {
        pthread_mutex_unlock(&p->lock);
        look(&p->all_done);
        pthread_mutex_lock(&p->lock);
        while (p->running > 0)
            pthread_cond_wait(&p->finished, &p->lock);
    }
    pthread_mutex_unlock(&p->lock);
}
