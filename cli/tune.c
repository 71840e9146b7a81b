/* SPDX-License-Identifier: MIT
 * halo tune: the command line, pictures to measure with, and the file beside the script. The search is in tune_search.c. */
#include "cli/tune.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { OPT_PIPE = 1, OPT_SIZE, OPT_THREADS, OPT_SECONDS, OPT_CPU, OPT_QUIET };

static const option_row rows[] = {
    {OPT_PIPE, "pipe", 'p', "NAME", "which pipe, if the script has several"},
    {OPT_SIZE, "size", 0, "WxH", "of the pictures that are made up where none is given (1920x1080)"},
    {OPT_THREADS, "threads", 'j', "N", "threads that work (all processors)"},
    {OPT_SECONDS, "seconds", 0, "N", "how long to try (20)"},
    {OPT_CPU, "cpu", 0, "NAME", "the processor to make code for, which this machine has to run (this machine's)"},
    {OPT_QUIET, "quiet", 'q', NULL, "the result only, not each try"},
    {0}};

static void help(void)
{
    options_help(rows, "halo tune SCRIPT [PICTURE...] [NAME=VALUE...]",
                 "Measures other choices than the compiler's own (rows and vectors at once, column blocks, passes left out), and writes\n"
                 "those that are faster to SCRIPT.tune, which `halo run`, `build`, `show` and `explain` use for that pipe and processor.\n"
                 "No choice changes a bit of a result. Pictures, arrays and parameters are given as to `halo run`; what is left out is\n"
                 "made up. With nothing gained, no file is written.",
                 "  halo tune examples/unsharp.pipe photo.jpg sigma=2\n"
                 "  halo tune examples/unsharp.pipe --size 3840x2160 --threads 1 --cpu x86-64-v3\n");
}

/* ---- pictures -------------------------------------------------------------------------------- */

/* Extents: as declared; a name as before; else the size asked for, or what arrays commonly have. */
static void made_up_extents(const tuner *t, size_t which, int32_t *extent)
{
    const halo_input *input = &t->signature->inputs[which];
    const int32_t common[HALO_MAX_RANK + 1] = {1, 256, 0, 17, 8, 4};
    for (int d = 0; d < HALO_MAX_RANK; d++)
        extent[d] = d >= input->rank ? 1 : input->rank != 2 ? common[input->rank] : d == 0 ? t->width : t->height;
    for (int d = 0; d < input->rank; d++) {
        const char *name = input->extents[d];
        if (isdigit((unsigned char)name[0]))
            extent[d] = atoi(name);
        for (size_t i = 0; i < which && name[0] != '_'; i++)
            for (int k = 0; k < t->signature->inputs[i].rank; k++)
                if (strcmp(t->signature->inputs[i].extents[k], name) == 0)
                    extent[d] = t->in[i].extent[k];
    }
}

/* Slopes with noise on them: neither flat, where branches and look-ups are too easy, nor noise alone. */
static void fill(halo_picture *p, const halo_input *input)
{
    size_t n = (size_t)p->lanes;
    for (int d = 0; d < HALO_MAX_RANK; d++)
        n *= (size_t)p->image.extent[d];
    static const double fulls[] = {[HALO_KIND_BOOL] = 1, [HALO_KIND_U8] = 255, [HALO_KIND_I8] = 127, [HALO_KIND_U16] = 65535,
                                   [HALO_KIND_I16] = 32767, [HALO_KIND_U32] = 65535, [HALO_KIND_I32] = 32767, [HALO_KIND_F16] = 1,
                                   [HALO_KIND_F32] = 1};
    double low = input->has_range ? input->low : 0, high = input->has_range ? input->high : fulls[p->kind];
    size_t row = (size_t)(p->lanes * p->image.extent[0]);
    uint32_t noise = 1;
    for (size_t i = 0; i < n; i++) {
        noise = noise * 1664525u + 1013904223u;
        double v = low + (high - low) * (0.75 * (double)(i % row) / (double)row + 0.25 * (noise >> 8) / (1 << 24));
        switch (p->kind) {
        case HALO_KIND_F32: ((float *)p->image.data)[i] = (float)v; break;
        case HALO_KIND_F16: ((uint16_t *)p->image.data)[i] = (uint16_t)(0x3800 + (noise >> 24)); break;      /* 0.5 to 0.62 */
        case HALO_KIND_U16: case HALO_KIND_I16: ((uint16_t *)p->image.data)[i] = (uint16_t)(int)v; break;
        case HALO_KIND_U32: case HALO_KIND_I32: ((uint32_t *)p->image.data)[i] = (uint32_t)(int32_t)v; break;
        case HALO_KIND_BOOL: ((uint8_t *)p->image.data)[i] = v >= 0.5; break;
        default: ((uint8_t *)p->image.data)[i] = (uint8_t)(int)v;
        }
    }
}

static const char *given(const tuner *t, const char *name)
{
    for (size_t i = 0; i < t->n_assignments; i++)
        if (strcmp(t->assignments[i].name, name) == 0)
            return t->assignments[i].value;
    return NULL;
}

static int make_inputs(tuner *t)
{
    size_t next = 0;
    const halo_signature *s = t->signature;
    for (size_t i = 0; i < s->n_inputs; i++) {
        const halo_input *input = &s->inputs[i];
        const char *path = given(t, input->name);
        int32_t extent[HALO_MAX_RANK];
        int status = EXIT_FINE;
        if (!path && input->rank == 2 && next < t->pictures.count)
            path = t->pictures.items[next++];
        if (path) {
            status = load_input(t->report, path, input, &t->inputs[i], NULL);
        } else {
            made_up_extents(t, i, extent);
            if (halo_picture_new(&t->inputs[i], input->kind, input->lanes, input->rank, extent) != HALO_OK)
                return report_error(t->report, "no memory for a picture of %dx%d", t->width, t->height);
            fill(&t->inputs[i], input);
        }
        if (status != EXIT_FINE)
            return status;
        t->in[i] = t->inputs[i].image;
    }
    if (next < t->pictures.count)
        return report_usage(t->report, "`%s` takes fewer pictures than the %zu given", s->name, t->pictures.count);
    return EXIT_FINE;
}

static int set_parameters(tuner *t)
{
    const halo_signature *s = t->signature;
    for (size_t i = 0; i < t->n_assignments; i++) {
        halo_message error;
        bool is_input = false;
        for (size_t k = 0; k < s->n_inputs; k++)
            is_input = is_input || strcmp(s->inputs[k].name, t->assignments[i].name) == 0;
        if (!is_input && halo_arguments_set_text(t->arguments, t->assignments[i].name, t->assignments[i].value, &error) != HALO_OK)
            return report_error(t->report, "%s", error.text);
    }
    return EXIT_FINE;
}

/* ---- the file -------------------------------------------------------------------------------- */

static bool starts(const char *line, const char *with)
{
    size_t n = strlen(with);
    return strncmp(line, with, n) == 0 && (line[n] == ' ' || line[n] == '\n' || line[n] == '\0' || line[n] == '\r');
}

/* What the file has: the choices for this pipe and processor, or (`others`) all lines of other pipes and processors. */
static char *lines_of(const tuner *t, bool others)
{
    char *text = t->had ? t->had : "", *out = must(calloc(strlen(text) + 2, 1));
    size_t used = 0;
    bool in_pipe = false, ours = false;
    for (const char *line = text; *line;) {
        size_t n = strcspn(line, "\n");
        bool heads = strncmp(line, "pipe ", 5) == 0;
        in_pipe = in_pipe || heads;
        ours = heads ? starts(line, t->pipe_line) : ours;
        if (in_pipe && n > 0 && (others ? !ours : ours && !heads && line[0] != '#')) {
            memcpy(out + used, line, n);
            out[used + n] = '\n';
            used += n + 1;
        }
        line += n + (line[n] == '\n');
    }
    return out;
}

static int write_tuning(tuner *t, const char *lines, double before_ms, double after_ms)
{
    char *others = lines_of(t, true), measured[200];
    const int32_t *extent = t->in[0].extent;
    int n = snprintf(measured, sizeof measured, "measured ");
    if (t->signature->n_inputs)
        n += snprintf(measured + n, sizeof measured - (size_t)n, "%dx%d, ", extent[0], extent[1]);
    snprintf(measured + n, sizeof measured - (size_t)n, "%d thread%s: %.3g ms, before %.3g ms", t->n_threads,
             t->n_threads == 1 ? "" : "s", after_ms, before_ms);
    size_t room = strlen(others) + strlen(lines) + strlen(t->pipe_line) + sizeof measured + 256;
    char *text = must(malloc(room));
    n = snprintf(text, room, "halo tuning 1\n# By `halo tune`: choices that were faster. No bit of a result depends on them; any line may go.\n"
                             "%s%s %s\n%s", others, t->pipe_line, measured, lines);
    halo_message error;
    int status = halo_write_file(t->path, text, (size_t)n, &error) == HALO_OK ? EXIT_FINE : report_error(t->report, "%s", error.text);
    free(others);
    free(text);
    return status;
}

/* ---- the command ----------------------------------------------------------------------------- */

static int tune(tuner *t)
{
    if (t->had)
        t->had_lines = lines_of(t, false);
    char *lines = NULL;
    double before_ms, after_ms;
    int status = tune_search(t, &lines, &before_ms, &after_ms);
    if (status != EXIT_FINE)
        return status;
    if (!lines) {
        printf("nothing gained over %.3g ms in %d tries; %s\n", before_ms, t->n_tries,
               t->had_lines && t->had_lines[0] ? "what the file says for this pipe and processor gains nothing here" : "no file is written");
        return EXIT_FINE;
    }
    status = write_tuning(t, lines, before_ms, after_ms);
    if (status == EXIT_FINE)
        printf("%.3g ms became %.3g ms, %.2f times as fast, in %d tries; %s has:\n%s", before_ms, after_ms, before_ms / after_ms, t->n_tries,
               t->path, lines);
    free(lines);
    return status;
}

/* "pipe NAME cpu PROCESSOR" begins what `choices` says. */
static int find_pipe_line(tuner *t, halo_program *program)
{
    halo_message error;
    char *choices = halo_show(program, halo_program_pipe(program, 0), "choices", NULL, &error);
    if (!choices)
        return report_error(t->report, "%s", error.text[0] ? error.text : "out of memory");
    t->pipe_line = must(strndup(choices, strcspn(choices, "\n")));
    halo_free(choices);
    return EXIT_FINE;
}

static int prepare_and_tune(tuner *t)
{
    halo_program *program = open_script(t->report, t->script, &t->compile, false);
    if (!program)
        return EXIT_PROBLEM;
    int status = halo_program_pipe_count(program) == 0 ? report_error(t->report, "%s: the script has no pipe", t->script)
               : halo_program_pipe_count(program) > 1  ? report_several_pipes(t->report, t->script, program)
                                                       : find_pipe_line(t, program);
    if (status == EXIT_FINE) {
        halo_pipe *pipe = halo_program_pipe(program, 0);
        t->signature = halo_pipe_signature(pipe);
        t->arguments = must(halo_arguments_new(pipe));
        t->inputs = must(calloc(t->signature->n_inputs + 1, sizeof *t->inputs));
        t->in = must(calloc(t->signature->n_inputs + 1, sizeof *t->in));
        status = set_parameters(t);
    }
    if (status == EXIT_FINE)
        status = make_inputs(t);
    if (status == EXIT_FINE && t->n_threads != 1) {
        t->threads = must(halo_threads_new(t->n_threads));
        t->n_threads = halo_threads_count(t->threads);
    }
    if (status == EXIT_FINE && access(t->path, F_OK) == 0) {
        halo_message error;
        size_t n;
        t->had = halo_read_file(t->path, &n, &error);
        status = t->had ? EXIT_FINE : report_error(t->report, "%s", error.text);
    }
    if (status == EXIT_FINE)
        status = tune(t);
    for (size_t i = 0; t->inputs && i < t->signature->n_inputs; i++)
        halo_picture_release(&t->inputs[i]);
    free(t->inputs);
    free(t->in);
    free(t->pipe_line);
    free(t->had_lines);
    halo_free(t->had);
    halo_threads_free(t->threads);
    halo_arguments_free(t->arguments);
    halo_program_free(program);
    return status;
}

static bool parse_size(tuner *t, const char *text)
{
    char *x, *end;
    long width = strtol(text, &x, 10), height = *x == 'x' ? strtol(x + 1, &end, 10) : 0;
    if (*x != 'x' || *end || width < 1 || height < 1 || width > 1 << 16 || height > 1 << 16) {
        report_usage(t->report, "--size takes WIDTHxHEIGHT, such as 1920x1080, not `%s`", text);
        return false;
    }
    t->width = (int32_t)width;
    t->height = (int32_t)height;
    return true;
}

int command_tune(int argc, char **argv)
{
    report r = {0};
    tuner t = {.report = &r, .width = 1920, .height = 1080, .seconds = 20};
    options o;
    const char *value;
    int rest, id;
    options_begin(&o, rows, argc, argv, &r);
    while ((id = options_next(&o, &value, &rest)) != OPTION_END) {
        if (id == OPTION_HELP)
            return help(), EXIT_FINE;
        if (id == OPTION_BAD || (id == OPT_SIZE && !parse_size(&t, value)) ||
            (id == OPT_THREADS && !parse_count(&r, "--threads", value, 1, &t.n_threads)) ||
            (id == OPT_SECONDS && !parse_count(&r, "--seconds", value, 1, &t.seconds)))
            return EXIT_USAGE;
        if (id == OPT_PIPE)
            t.compile.pipe = value;
        if (id == OPT_CPU)
            t.cpu = value;
        r.quiet = r.quiet || id == OPT_QUIET;
    }
    if (rest == argc)
        return report_usage(&r, "tune which script? `halo tune --help` shows how");
    t.script = argv[rest++];
    for (; rest < argc; rest++) {
        size_t n = name_length(argv[rest]);
        if (n)
            add_assignment(&t.assignments, &t.n_assignments, argv[rest], n);
        else
            strings_add(&t.pictures, argv[rest]);
    }
    t.path = tuning_path(t.script);
    t.compile.cpus = t.cpu ? &t.cpu : NULL;
    t.compile.n_cpus = t.cpu != NULL;
    int status = prepare_and_tune(&t);
    for (size_t i = 0; i < t.n_assignments; i++)
        free(t.assignments[i].name);
    free(t.assignments);
    free(t.pictures.items);
    free(t.path);
    return status;
}
