/* Times one row of the bench in one process: the same pictures for all contenders, each a shared object with
 *     void contender_prepare(int threads);
 *     int  contender_run(const halo_image *images, const halo_exec *exec);     0 when fine
 * The first contender says what is right, the second is timed in turn with each of the others (A B A B ...).
 *
 *     measure machine THREADS
 *     measure row|row-used THREADS SECONDS FEWEST PICTURE... -- NAME:PATH:TOLERANCE:MARGIN...
 *
 * SECONDS and at least FEWEST pairs for each of the others; a name with a '-' before it is compared but not timed, one with
 * a '+' timed but not compared. row-used measures processor time over THREADS instead of time. Prints one JSON object. */
#include "bench/measure.h"

#include <dlfcn.h>
#include <malloc.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MAX_CONTENDERS = 12, MOST_PAIRS = 201, BATCHES = 4096 };

typedef struct contender {
    char   name[64], path[512];
    bool   timed, compared;
    double tolerance;
    int    margin;
    int  (*run)(const halo_image *images, const halo_exec *exec);
    int    code;
    bool   agrees, guards_hold;
    difference difference;
    double once;                          /* seconds of the first run, cold */
    double median, minimum, ratio;        /* ms; ratio: its time over Halo's, median of pairs */
    double halo_median, halo_minimum;
    int    pairs;
} contender;

typedef struct row {
    int        threads;
    bool       processor_time;            /* what the threads used, over their number, instead of what the clock says */
    double     seconds;
    int        fewest;
    picture    pictures[MAX_PICTURES];
    halo_image images[MAX_PICTURES];
    uint8_t   *right[MAX_PICTURES];
    int        n_pictures;
    contender  contenders[MAX_CONTENDERS];
    int        n_contenders;
    halo_exec  exec;
} row;

double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

double used(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static bool fail(const char *what, const char *which)
{
    fprintf(stderr, "measure: %s '%s'\n", what, which);
    return false;
}

/* --- What there is to measure --- */

static bool load_contender(row *r, const char *text)
{
    contender *c = &r->contenders[r->n_contenders];
    char       name[64];
    if (r->n_contenders == MAX_CONTENDERS)
        return fail("too many contenders at", text);
    if (sscanf(text, "%63[^:]:%511[^:]:%lf:%d", name, c->path, &c->tolerance, &c->margin) != 4)
        return fail("no contender", text);
    c->timed = name[0] != '-';
    c->compared = name[0] != '+';
    strcpy(c->name, name + (name[0] == '-' || name[0] == '+'));
    void *library = dlopen(c->path, RTLD_NOW | RTLD_LOCAL);
    if (library == NULL)
        return fail("cannot load", dlerror());
    void (*prepare)(int) = NULL;
    *(void **)&prepare = dlsym(library, "contender_prepare");
    *(void **)&c->run = dlsym(library, "contender_run");
    if (prepare == NULL || c->run == NULL)
        return fail("not a contender:", c->path);
    prepare(r->threads);
    r->n_contenders++;
    return true;
}

static bool read_row(row *r, int n, char **words)
{
    int i = 0;
    for (; i < n && strcmp(words[i], "--") != 0; i++) {
        picture *p = &r->pictures[r->n_pictures];
        if (r->n_pictures == MAX_PICTURES)
            return fail("too many pictures at", words[i]);
        if (!picture_parse(p, words[i]))
            return false;
        if (!picture_allocate(p, r->n_pictures))
            return fail("no memory for", words[i]);
        if (!p->output)
            picture_fill(p);
        r->images[r->n_pictures++] = picture_view(p);
    }
    for (i++; i < n; i++) {
        if (!load_contender(r, words[i]))
            return false;
    }
    return r->n_contenders >= 2 || fail("two contenders are needed, not", words[n - 1]);
}

/* --- Comparison --- */

/* Runs a contender once. What it is comes to stderr first, so that a crash has a name. */
static bool first_run(row *r, contender *c)
{
    for (int i = 0; i < r->n_pictures; i++) {
        if (r->pictures[i].output)
            picture_poison(&r->pictures[i]);
    }
    fprintf(stderr, "%s runs\n", c->name);
    double start = now();
    c->code = c->run(r->images, &r->exec);
    c->once = now() - start;
    c->guards_hold = true;
    for (int i = 0; i < r->n_pictures; i++)
        c->guards_hold &= picture_guards_hold(&r->pictures[i]);
    return c->code == 0 && c->guards_hold;
}

static bool keep_right(row *r)
{
    for (int i = 0; i < r->n_pictures; i++) {
        picture *p = &r->pictures[i];
        r->right[i] = malloc(p->bytes);
        if (r->right[i] == NULL)
            return fail("no memory for what is right of", p->name);
        memcpy(r->right[i], p->data, p->bytes);
    }
    return true;
}

/* Inputs are compared too, exactly: nobody may write there. */
static void compare(row *r, contender *c)
{
    c->agrees = true;
    for (int i = 0; i < r->n_pictures && c->compared; i++) {
        bool       output = r->pictures[i].output;
        difference d = picture_compare(&r->pictures[i], r->right[i], output ? c->tolerance : 0, output ? c->margin : 0);
        c->agrees &= d.count == 0;
        if (!(d.worst <= c->difference.worst) || d.count > c->difference.count)
            c->difference = d;
    }
}

/* --- Time --- */

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *values, int n)
{
    qsort(values, (size_t)n, sizeof *values, by_value);
    return n % 2 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
}

static double time_of(const row *r)
{
    return r->processor_time ? used() / r->threads : now();
}

/* Milliseconds of one call. Short calls are repeated, so that a clock's reading weighs nothing. */
static double timed(const row *r, const contender *c, int repeats)
{
    double start = time_of(r);
    for (int i = 0; i < repeats; i++)
        c->run(r->images, &r->exec);
    return (time_of(r) - start) * 1e3 / repeats;
}

static int repeats_of(double ms)
{
    double n = ms > 0 ? 1 / ms : BATCHES;
    return n < 1 ? 1 : n > BATCHES ? BATCHES : (int)n + 1;
}

static void time_pairs(const row *r, contender *halo, contender *other)
{
    static double a[MOST_PAIRS], b[MOST_PAIRS], ratio[MOST_PAIRS];
    double warm_a = timed(r, halo, 1);
    double warm_b = other == halo || other->once > 2 ? other->once * 1e3 : timed(r, other, 1);
    int    repeats_a = repeats_of(warm_a), repeats_b = repeats_of(warm_b), n = 0, fewest = other->once > 2 ? 1 : r->fewest;
    double start = now();
    while (n < MOST_PAIRS && (n < fewest || now() - start < r->seconds)) {
        a[n] = timed(r, halo, repeats_a);
        b[n] = other == halo ? a[n] : timed(r, other, repeats_b);
        ratio[n] = b[n] / a[n];
        n++;
    }
    other->pairs = n;
    other->ratio = median(ratio, n);
    other->median = median(b, n);
    other->halo_median = median(a, n);
    other->minimum = b[0];   /* median has sorted them */
    other->halo_minimum = a[0];
}

/* --- What comes out --- */

static void print_contender(const contender *c)
{
    printf("{\"name\":\"%s\",\"code\":%d,\"guards_hold\":%s,\"agrees\":%s,\"compared\":%s,\"worst\":%.6g,\"beyond\":%lld,"
           "\"at\":[%lld,%lld,%lld],\"value\":%.9g,\"right\":%.9g",
           c->name, c->code, c->guards_hold ? "true" : "false", c->agrees ? "true" : "false", c->compared ? "true" : "false",
           isfinite(c->difference.worst) ? c->difference.worst : 9e99, (long long)c->difference.count, (long long)c->difference.x,
           (long long)c->difference.y, (long long)c->difference.component,
           isfinite(c->difference.value) ? c->difference.value : 9e99,
           isfinite(c->difference.right) ? c->difference.right : 9e99);
    if (c->pairs > 0)
        printf(",\"ms\":%.6g,\"minimum\":%.6g,\"ratio\":%.6g,\"halo_ms\":%.6g,\"halo_minimum\":%.6g,\"pairs\":%d", c->median,
               c->minimum, c->ratio, c->halo_median, c->halo_minimum, c->pairs);
    printf("}");
}

static int measure_row(row *r)
{
    for (int i = 0; i < r->n_contenders; i++) {
        contender *c = &r->contenders[i];
        bool       ran = first_run(r, c);
        if (i == 0 && (!ran || !keep_right(r)))
            return fail(ran ? "no memory for" : "wrote outside the picture or failed:", c->name) ? 0 : 1;
        if (ran)
            compare(r, c);
    }
    contender *halo = &r->contenders[1];
    if (halo->code == 0 && halo->timed)
        time_pairs(r, halo, halo);
    for (int i = 0; i < r->n_contenders; i++) {
        contender *c = &r->contenders[i];
        if (c != halo && c->timed && c->code == 0 && halo->code == 0)
            time_pairs(r, halo, c);
    }
    printf("{\"contenders\":[");
    for (int i = 0; i < r->n_contenders; i++) {
        printf(i > 0 ? "," : "");
        print_contender(&r->contenders[i]);
    }
    printf("]}\n");
    return 0;
}

int main(int n, char **words)
{
    static row r;
    if (n == 3 && strcmp(words[1], "machine") == 0) {
        int threads = atoi(words[2]);
        printf("{\"copy\":%.6g,\"fma\":%.6g}\n", machine_copy_bandwidth(threads), machine_fma_peak(threads));
        return 0;
    }
    r.processor_time = n > 1 && strcmp(words[1], "row-used") == 0;
    if (n < 7 || (strcmp(words[1], "row") != 0 && !r.processor_time))
        return fail("usage: measure row THREADS SECONDS FEWEST PICTURE... -- CONTENDER..., not", n > 1 ? words[1] : "") ? 0 : 2;
    /* Memory that a call gives back stays with the process: nobody pays the kernel's page faults in every call. */
    mallopt(M_MMAP_MAX, 0);
    mallopt(M_TRIM_THRESHOLD, -1);
    r.threads = atoi(words[2]);
    r.seconds = atof(words[3]);
    r.fewest = atoi(words[4]);
    pool *threads = pool_new(r.threads);
    if (threads == NULL)
        return fail("cannot start threads:", words[2]) ? 0 : 1;
    r.exec = (halo_exec){.parallel_for = pool_parallel_for, .workers = r.threads, .user = threads};
    return read_row(&r, n - 5, words + 5) ? measure_row(&r) : 1;
}
