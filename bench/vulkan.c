/* Times one script on a Vulkan device in three ways, in one process, on the same pictures:
 *     regions     as it is compiled: stages fused, and where a tile lies inside of the picture, no border is looked at
 *     clamps      fused, but every read goes through its border's map, wherever the tile lies
 *     stages      every stage is a dispatch of its own
 * Their times are the device's own, taken in turn (A B C A B C ...), so that what else the machine does falls on all of them.
 *
 *     vulkan DEVICE SCRIPT PIPE SECONDS FEWEST PICTURE...
 *
 * DEVICE "" leaves the choice to Halo. SECONDS and at least FEWEST rounds are timed. All outputs have to be, bit for bit, those of the
 * processor. Both compile with no_fma, the arithmetic that Vulkan has and in which kernels are still split. Prints one JSON object. */
#include "bench/measure.h"

#include "halo/halo.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MOST_ROUNDS = 201, N_WAYS = 3 };

typedef struct way {
    const char   *name;
    int           no_fuse, force_border;
    halo_program *program;
    halo_pipe    *pipe;
    double        compile, pipelines, first;       /* ms; first: of the first run by the clock, what the driver puts off until then included */
    bool          agrees;
    double        ms[MOST_ROUNDS], ratio[MOST_ROUNDS];
} way;

typedef struct row {
    halo_device *device;
    picture      pictures[MAX_PICTURES];
    halo_image   images[MAX_PICTURES];
    uint8_t     *right[MAX_PICTURES];
    int          n_pictures, n_inputs, rounds;
    way          ways[N_WAYS];
} row;

double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static bool fail(const char *what, const char *why)
{
    fprintf(stderr, "vulkan: %s: %s\n", what, why);
    return false;
}

static int compare_numbers(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *values, int n)
{
    qsort(values, (size_t)n, sizeof *values, compare_numbers);
    return n % 2 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
}

/* --- What there is to measure --- */

static bool read_pictures(row *r, int n, char **words)
{
    for (int i = 0; i < n; i++) {
        picture *p = &r->pictures[i];
        if (i == MAX_PICTURES || !picture_parse(p, words[i]) || !picture_allocate(p, i))
            return fail("no picture", words[i]);
        picture_fill(p);
        r->images[i] = picture_view(p);
        r->n_inputs += !p->output;
    }
    r->n_pictures = n;
    return true;
}

static halo_program *compiled(const char *script, const halo_options *options)
{
    halo_program *program = halo_compile_file(script, options);
    if (program && halo_program_ok(program))
        return program;
    char *why = program ? halo_program_messages(program) : NULL;
    fail(script, why ? why : "out of memory");
    halo_free(why);
    halo_program_free(program);
    return NULL;
}

static bool make_way(row *r, way *w, const char *script, const char *pipe)
{
    halo_options options = {.engine = HALO_ENGINE_VULKAN, .device = r->device, .no_fma = 1, .pipe = pipe, .no_fuse = w->no_fuse,
                            .force_border = w->force_border};
    double start = now();
    w->program = compiled(script, &options);
    w->compile = (now() - start) * 1e3;
    w->pipe = w->program ? halo_program_pipe(w->program, 0) : NULL;
    return w->pipe != NULL;
}

/* --- Running --- */

static void poison(row *r)
{
    for (int i = r->n_inputs; i < r->n_pictures; i++)
        picture_poison(&r->pictures[i]);
}

static bool run(row *r, const way *w, halo_times *times)
{
    halo_task   *task;
    halo_message error;
    int code = halo_run_begin(w->pipe, r->images, NULL, r->images + r->n_inputs, NULL, NULL, &task, &error);
    if (code == HALO_OK)
        code = halo_run_end(task, times, &error);
    return code == HALO_OK || fail(w->name, error.text);
}

/* What is right: the processor's. */
static bool keep_right(row *r, const char *script, const char *pipe)
{
    halo_options  options = {.engine = HALO_ENGINE_CPU, .no_fma = 1, .pipe = pipe};
    halo_program *program = compiled(script, &options);
    halo_message  error;
    if (!program)
        return false;
    poison(r);
    bool ran = halo_run(halo_program_pipe(program, 0), r->images, NULL, r->images + r->n_inputs, NULL, NULL, &error) == HALO_OK;
    halo_program_free(program);
    for (int i = r->n_inputs; ran && i < r->n_pictures; i++) {
        r->right[i] = malloc(r->pictures[i].bytes);
        if (!r->right[i])
            return fail(script, "out of memory");
        memcpy(r->right[i], r->pictures[i].data, r->pictures[i].bytes);
    }
    return ran || fail(script, error.text);
}

static bool first_run(row *r, way *w)
{
    halo_times times;
    poison(r);
    double start = now();
    if (!run(r, w, &times))
        return false;
    w->first = (now() - start) * 1e3;
    w->pipelines = times.pipelines;
    w->agrees = true;
    for (int i = r->n_inputs; i < r->n_pictures; i++)
        w->agrees &= picture_guards_hold(&r->pictures[i]) && picture_compare(&r->pictures[i], r->right[i], 0, 0).count == 0;
    return true;
}

static bool time_rounds(row *r, double seconds, int fewest)
{
    double start = now();
    for (r->rounds = 0; r->rounds < MOST_ROUNDS && (r->rounds < fewest || now() - start < seconds); r->rounds++)
        for (int k = 0; k < N_WAYS; k++) {
            halo_times times;
            way *w = &r->ways[k];
            if (!run(r, w, &times))
                return false;
            w->ms[r->rounds] = times.device;
            w->ratio[r->rounds] = times.device / r->ways[0].ms[r->rounds];
        }
    return true;
}

/* --- What comes out --- */

static bool print_way(way *w, int rounds)
{
    halo_message error;
    char *about = halo_show(w->program, w->pipe, "explain-json", NULL, &error);
    if (!about)
        return fail(w->name, error.text);
    printf("{\"name\":\"%s\",\"agrees\":%s,\"ms\":%.6g,\"ratio\":%.6g,\"compile_ms\":%.6g,\"pipelines_ms\":%.6g,\"first_ms\":%.6g,\"about\":%s}", w->name,
           w->agrees ? "true" : "false", median(w->ms, rounds), median(w->ratio, rounds), w->compile - w->pipelines, w->pipelines, w->first, about);
    halo_free(about);
    return true;
}

static int measure_row(row *r, const char *script, const char *pipe, double seconds, int fewest)
{
    if (!keep_right(r, script, pipe))
        return 1;
    for (int k = 0; k < N_WAYS; k++)
        if (!make_way(r, &r->ways[k], script, pipe) || !first_run(r, &r->ways[k]))
            return 1;
    if (!time_rounds(r, seconds, fewest))
        return 1;
    printf("{\"device\":\"%s\",\"rounds\":%d,\"ways\":[", halo_device_about(r->device)->name, r->rounds);
    for (int k = 0; k < N_WAYS; k++) {
        printf(k > 0 ? "," : "");
        if (!print_way(&r->ways[k], r->rounds))
            return 1;
    }
    printf("]}\n");
    return 0;
}

int main(int n, char **words)
{
    static row   r = {.ways = {{.name = "regions"}, {.name = "clamps", .force_border = 1}, {.name = "stages", .no_fuse = 1}}};
    halo_message error;
    if (n < 7)
        return fprintf(stderr, "vulkan DEVICE SCRIPT PIPE SECONDS FEWEST PICTURE...\n"), 2;
    halo_device_options options = {.name = words[1][0] ? words[1] : NULL};
    r.device = halo_device_open(&options, &error);
    if (!r.device)
        return fail("no device", error.text) ? 0 : 1;
    if (!read_pictures(&r, n - 6, words + 6))
        return 1;
    int status = measure_row(&r, words[2], words[3], atof(words[4]), atoi(words[5]));
    for (int k = 0; k < N_WAYS; k++)
        halo_program_free(r.ways[k].program);
    halo_device_close(r.device);
    return status;
}
