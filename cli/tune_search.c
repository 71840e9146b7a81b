/* SPDX-License-Identifier: MIT
 * The search of halo tune: one choice after the other takes the place of the one before, and stays when it is faster. Both are
 * run in turns, A B A B, and the median of their ratios counts: other work on the machine disturbs both alike. Every result is
 * compared with the compiler's own, bit by bit, before its time counts. */
#include "cli/tune.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { PAIRS = 7, WINS = 5, FINAL_PAIRS = 11 };
/* Shares of the time: what isn't noise, what won't win any more; and what a clock can tell. */
static const double GAIN = 0.97, HOPELESS = 1.3, SHORTEST_MS = 1;

/* One set of choices, compiled. */
typedef struct variant {
    char         *lines;
    halo_program *program;
    halo_pipe    *pipe;
    halo_picture *outputs;
    halo_image   *out;
} variant;

typedef struct search { tuner *t; double deadline; int repeat; variant own, best; } search;

/* ---- variants -------------------------------------------------------------------------------- */

static void release(const tuner *t, variant *v)
{
    for (size_t i = 0; v->outputs && i < t->signature->n_outputs; i++)
        halo_picture_release(&v->outputs[i]);
    halo_program_free(v->program);
    free(v->outputs);
    free(v->out);
    free(v->lines);
    *v = (variant){0};
}

static bool run(const tuner *t, const variant *v, halo_message *error)
{
    halo_exec exec = t->threads ? halo_threads_exec(t->threads) : (halo_exec){.workers = 1};
    return halo_run(v->pipe, t->in, t->arguments, v->out, NULL, &exec, error) == HALO_OK;
}

/* Takes `lines`. Compiled and run once; false: with the reason in *error, or "" when the choices don't fit. */
static bool make(const tuner *t, char *lines, variant *v, halo_message *error)
{
    *v = (variant){.lines = lines};
    error->text[0] = '\0';
    char *text = must(malloc(strlen(lines) + strlen(t->pipe_line) + 64));
    sprintf(text, "halo tuning 1\n%s\n%s", t->pipe_line, lines);
    halo_options o = t->compile;
    o.tuning = text;
    o.no_verify = 1;
    v->program = must(halo_compile_file(t->script, &o));
    free(text);
    v->pipe = halo_program_pipe(v->program, 0);
    for (size_t i = 0; i < halo_program_diagnostic_count(v->program); i++)
        if (strcmp(halo_program_diagnostic(v->program, i).code, "W0702") == 0)
            v->pipe = NULL;
    if (!v->pipe)
        return false;
    size_t n = t->signature->n_outputs;
    v->outputs = must(calloc(n + 1, sizeof *v->outputs));
    v->out = must(calloc(n + 1, sizeof *v->out));
    if (halo_size(v->pipe, t->in, t->arguments, v->out, error) != HALO_OK)
        return false;
    for (size_t i = 0; i < n; i++) {
        const halo_output *o = &t->signature->outputs[i];
        if (halo_picture_new(&v->outputs[i], o->kind, o->lanes, o->rank, v->out[i].extent) != HALO_OK)
            return snprintf(error->text, sizeof error->text, "out of memory"), false;
        v->out[i] = v->outputs[i].image;
    }
    return run(t, v, error);
}

static bool is_nan(const void *bytes, halo_kind kind)
{
    uint16_t half;
    float real;
    memcpy(&half, bytes, sizeof half);
    if (kind == HALO_KIND_F16)
        return (half & 0x7FFF) > 0x7C00;
    memcpy(&real, bytes, sizeof real);
    return isnan(real);
}

/* The same bits; of a NaN it doesn't matter which. */
static bool same_results(const tuner *t, const variant *a, const variant *b)
{
    for (size_t i = 0; i < t->signature->n_outputs; i++) {
        const halo_picture *p = &a->outputs[i], *q = &b->outputs[i];
        size_t bytes = (size_t)halo_kind_bytes(p->kind), n = (size_t)p->lanes;
        for (int d = 0; d < HALO_MAX_RANK; d++)
            n *= (size_t)p->image.extent[d];
        const char *x = p->image.data, *y = q->image.data;
        if (memcmp(x, y, n * bytes) == 0)
            continue;
        if (p->kind < HALO_KIND_F16)
            return false;
        for (size_t k = 0; k < n * bytes; k += bytes)
            if (memcmp(x + k, y + k, bytes) != 0 && !(is_nan(x + k, p->kind) && is_nan(y + k, p->kind)))
                return false;
    }
    return true;
}

/* ---- measuring ------------------------------------------------------------------------------- */

/* The shorter of two goes, per run. */
static double measure(const search *s, const variant *v)
{
    double shortest = INFINITY;
    halo_message error;
    for (int go = 0; go < 2; go++) {
        double start = now_ms();
        for (int k = 0; k < s->repeat; k++)
            run(s->t, v, &error);
        shortest = fmin(shortest, (now_ms() - start) / s->repeat);
    }
    return shortest;
}

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The median of b's times in a's; goes by itself once it is clear that b doesn't win, or the time is over. *wins: clear ones. */
static double compare(const search *s, const variant *a, const variant *b, int pairs, int *wins)
{
    double ratios[FINAL_PAIRS];
    int n = 0;
    for (*wins = 0; n < pairs;) {
        double of_a = measure(s, a);
        ratios[n] = measure(s, b) / of_a;
        *wins += ratios[n++] < GAIN;
        if (n - *wins > pairs - pairs * WINS / PAIRS || ratios[0] > HOPELESS || (pairs == PAIRS && now_ms() > s->deadline))
            break;
    }
    qsort(ratios, (size_t)n, sizeof *ratios, by_size);
    return ratios[n / 2];
}

/* ---- the search ------------------------------------------------------------------------------ */

/* The lines with this one in place of the one of the same choice: the same words but for a number at the end. */
static char *with_line(const char *lines, const char *line)
{
    const char *last = strrchr(line, ' ') + 1;
    bool number = (*last >= '0' && *last <= '9') || strncmp(line, "stream ", 7) == 0;
    size_t n_key = number ? (size_t)(last - line) : strlen(line) + 1, used = 0;
    char *out = must(malloc(strlen(lines) + strlen(line) + 2));
    for (const char *at = lines; *at;) {
        size_t n = strcspn(at, "\n") + 1;
        if (number ? strncmp(at, line, n_key) != 0 : n != n_key || strncmp(at, line, n - 1) != 0) {
            memcpy(out + used, at, n);
            used += n;
        }
        at += n;
    }
    sprintf(out + used, "%s\n", line);
    return out;
}

/* Tries one set of choices against the best; `what` is its name. An exit status. */
static int try(search *s, char *lines, const char *what, bool *gained)
{
    tuner *t = s->t;
    variant v;
    halo_message error;
    t->n_tries++;
    bool good = make(t, lines, &v, &error);
    if (good && !same_results(t, &s->own, &v)) {
        release(t, &v);
        return report_error(t->report, "a fault of the compiler: `%s` changes the result of `%s`; please report it", what, t->signature->name);
    }
    int wins = 0;
    double ratio = good ? compare(s, &s->best, &v, PAIRS, &wins) : 0;
    bool better = good && wins >= WINS && ratio < GAIN;
    if (!t->report->quiet && good)
        printf("  %-32s %5.1f %% of the time%s\n", what, 100 * ratio, better ? ", kept" : "");
    fflush(stdout);
    if (better) {
        release(t, &s->best);
        s->best = v;
        *gained = true;
    } else {
        release(t, &v);
    }
    return EXIT_FINE;
}

/* Every choice that the best one leaves open, in turn. */
static int try_all(search *s, bool *gained)
{
    halo_message error;
    int status = EXIT_FINE;
    char *all = halo_show(s->best.program, s->best.pipe, "choices", NULL, &error), *line = all + strcspn(all ? all : "", "\n");
    if (!all)
        return report_error(s->t->report, "%s", error.text);
    while (*line && *++line && status == EXIT_FINE && now_ms() < s->deadline) {
        size_t n = strcspn(line, "\n");
        char *one = must(strndup(line, n)), *lines = with_line(s->best.lines, one);
        if (strcmp(lines, s->best.lines) == 0)
            free(lines);
        else
            status = try(s, lines, one, gained);
        free(one);
        line += n;
    }
    halo_free(all);
    return status;
}

static int begin(search *s)
{
    halo_message error;
    tuner *t = s->t;
    if (!make(t, must(strdup("")), &s->own, &error) || !make(t, must(strdup("")), &s->best, &error))
        return report_error(t->report, "%s%s", error.text, t->pictures.count < t->signature->n_inputs ? "; give pictures, arrays and parameters that fit" : "");
    s->repeat = 1;
    double once = measure(s, &s->own);
    s->repeat = once < SHORTEST_MS ? (int)ceil(SHORTEST_MS / fmax(once, 1e-3)) : 1;
    return EXIT_FINE;
}

int tune_search(tuner *t, char **lines, double *before_ms, double *after_ms)
{
    search s = {.t = t, .deadline = now_ms() + 1e3 * t->seconds};
    int status = begin(&s), wins = 0;
    bool gained = true;
    if (status == EXIT_FINE && t->had_lines && t->had_lines[0])
        status = try(&s, must(strdup(t->had_lines)), "what the file says", &gained);
    while (status == EXIT_FINE && gained && now_ms() < s.deadline) {
        gained = false;
        status = try_all(&s, &gained);
    }
    if (status == EXIT_FINE) {
        double ratio = s.best.lines[0] ? compare(&s, &s.own, &s.best, FINAL_PAIRS, &wins) : 1;
        *before_ms = measure(&s, &s.own);
        *after_ms = *before_ms * ratio;
        *lines = ratio < GAIN && wins > FINAL_PAIRS / 2 ? must(strdup(s.best.lines)) : NULL;
    }
    release(t, &s.own);
    release(t, &s.best);
    return status;
}
