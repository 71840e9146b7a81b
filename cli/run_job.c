/* SPDX-License-Identifier: MIT
 * halo run, after its command line is read: compile once, match files and values to the pipe's inputs, parameters and
 * outputs, and run once, or once for every picture. */
#include "cli/run.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct job {
    const run_line *line;
    report         *report;
    halo_program   *program;
    halo_pipe      *pipe;
    const halo_signature *signature;
    halo_arguments *arguments;
    halo_threads   *threads;
    halo_picture   *named;          /* per input: given by name, converted; empty: filled by a picture of each run */
    bool           *is_named;
    const char    **paths;          /* per output, NULL: not written */
    const char     *folder;         /* -o DIR/, or NULL */
    bool            on_device;
    double          compile_ms, open_ms;         /* open: a device */
} job;

/* ---- names ----------------------------------------------------------------------------------- */

/* "a, b, c", cut where `room` ends; "none". */
static void list_names(char *out, size_t room, const char *const *names, size_t n)
{
    size_t used = 0;
    snprintf(out, room, "none");
    for (size_t i = 0; i < n && used < room; i++)
        used += (size_t)snprintf(out + used, room - used, "%s%s", i ? ", " : "", names[i]);
}

static int find_name(const char *name, const char *const *names, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(names[i], name) == 0)
            return (int)i;
    return -1;
}

static const char **input_and_parameter_names(const job *j)
{
    const halo_signature *s = j->signature;
    const char **names = must(malloc((s->n_inputs + s->n_parameters + 1) * sizeof *names));
    for (size_t i = 0; i < s->n_inputs; i++)
        names[i] = s->inputs[i].name;
    for (size_t i = 0; i < s->n_parameters; i++)
        names[s->n_inputs + i] = s->parameters[i].name;
    return names;
}

static int unknown_name(const job *j, const char *name, const char *const *names)
{
    const halo_signature *s = j->signature;
    char inputs[400], parameters[400];
    list_names(inputs, sizeof inputs, names, s->n_inputs);
    list_names(parameters, sizeof parameters, names + s->n_inputs, s->n_parameters);
    const char *near = halo_nearest_name(name, names, s->n_inputs + s->n_parameters);
    return report_usage(j->report, "`%s` has no input or parameter `%s`%s%s%s; inputs: %s; parameters: %s", s->name, name,
                        near ? ", did you mean `" : "", near ? near : "", near ? "`?" : "", inputs, parameters);
}

/* ---- reading --------------------------------------------------------------------------------- */

int load_input(report *r, const char *path, const halo_input *input, halo_picture *to, halo_metadata **metadata)
{
    halo_picture read;
    halo_message error, note;
    if (halo_picture_read(path, &read, &error) != HALO_OK)
        return report_error(r, "%s", error.text);
    int status = EXIT_FINE;
    if (halo_picture_convert(&read, input->kind, input->lanes, input->rank, to, &note, &error) != HALO_OK)
        status = report_error(r, "%s: %s (input `%s` is %s)", path, error.text, input->name, input->type);
    else if (note.text[0])
        report_note(r, "%s: %s (input `%s` is %s)", path, note.text, input->name, input->type);
    if (status == EXIT_FINE && metadata && !*metadata) {
        *metadata = read.metadata;
        read.metadata = NULL;
    }
    halo_picture_release(&read);
    return status;
}

static int assign(job *j, const assignment *a, const char *const *names)
{
    const halo_signature *s = j->signature;
    int which = find_name(a->name, names, s->n_inputs + s->n_parameters);
    if (which < 0)
        return unknown_name(j, a->name, names);
    if ((size_t)which < s->n_inputs) {
        if (j->is_named[which])
            return report_usage(j->report, "input `%s` is given twice", a->name);
        j->is_named[which] = true;
        return load_input(j->report, a->value, &s->inputs[which], &j->named[which], NULL);
    }
    for (const assignment *before = j->line->assignments; before < a; before++)
        if (strcmp(before->name, a->name) == 0)
            return report_usage(j->report, "parameter `%s` is given twice", a->name);
    halo_message error;
    if (halo_arguments_set_text(j->arguments, a->name, a->value, &error) != HALO_OK)
        return report_error(j->report, "%s", error.text);
    return EXIT_FINE;
}

static int assign_all(job *j)
{
    const char **names = input_and_parameter_names(j);
    int status = EXIT_FINE;
    for (size_t i = 0; i < j->line->n_assignments && status == EXIT_FINE; i++)
        status = assign(j, &j->line->assignments[i], names);
    free(names);
    return status;
}

/* ---- outputs --------------------------------------------------------------------------------- */

static bool is_folder(const char *path)
{
    struct stat about;
    return ends_with(path, "/") || (stat(path, &about) == 0 && S_ISDIR(about.st_mode));
}

static int check_ending(const job *j, const char *path, const halo_output *o)
{
    if (halo_picture_can_write(path, o->kind, o->lanes, o->rank))
        return EXIT_FINE;
    if (halo_picture_can_write(path, HALO_KIND_U8, 3, 2) || halo_picture_can_write(path, HALO_KIND_U8, 1, 2))
        return report_usage(j->report, "%s can't hold output `%s` (%s); .npy can", path, o->name, o->type);
    return report_usage(j->report, "%s: the name has to end in one of %s", path, halo_picture_writable());
}

static int unknown_output(const job *j, const char *name, const char *const *names, const char *all)
{
    const char *near = halo_nearest_name(name, names, j->signature->n_outputs);
    return report_usage(j->report, "`%s` has no output `%s`%s%s%s; outputs: %s", j->signature->name, name,
                        near ? ", did you mean `" : "", near ? near : "", near ? "`?" : "", all);
}

static bool is_path_taken(const job *j, const char *path)
{
    for (size_t i = 0; i < j->signature->n_outputs; i++)
        if (j->paths[i] && strcmp(j->paths[i], path) == 0)
            return true;
    return false;
}

static int choose_outputs(job *j)
{
    const run_line *line = j->line;
    const halo_signature *s = j->signature;
    const char **names = must(malloc((s->n_outputs + 1) * sizeof *names));
    char all[400];
    for (size_t i = 0; i < s->n_outputs; i++)
        names[i] = s->outputs[i].name;
    list_names(all, sizeof all, names, s->n_outputs);
    int status = EXIT_FINE;
    for (size_t i = 0; i < line->n_outputs && status == EXIT_FINE; i++) {
        const assignment *o = &line->outputs[i];
        int which = o->name ? find_name(o->name, names, s->n_outputs) : 0;
        if (!o->name && is_folder(o->value) && !j->folder)
            j->folder = o->value;
        else if (!o->name && s->n_outputs > 1)
            status = report_usage(j->report, "`%s` has several outputs (%s): write -o NAME=FILE for each", s->name, all);
        else if (which < 0)
            status = unknown_output(j, o->name, names, all);
        else if (j->paths[which] || j->folder)
            status = report_usage(j->report, "output `%s` is given twice", names[which]);
        else if (is_path_taken(j, o->value))
            status = report_usage(j->report, "%s: two outputs can't go to one file", o->value);
        else
            status = check_ending(j, j->paths[which] = o->value, &s->outputs[which]);
    }
    free(names);
    if (status == EXIT_FINE && line->n_outputs == 0 && !line->time)
        status = report_usage(j->report, "where to? -o FILE");
    return status;
}

/* "DIR/stem.png", with the output's name when there are several; the picture's own ending where it can be written. */
static char *path_in_folder(const job *j, const char *picture, const halo_output *o)
{
    const char *slash = picture ? strrchr(picture, '/') : NULL, *base = slash ? slash + 1 : picture ? picture : j->signature->name;
    const char *dot = strrchr(base, '.');
    int n_stem = dot && dot > base ? (int)(dot - base) : (int)strlen(base);
    const char *ending = dot && dot > base && halo_picture_can_write(dot, o->kind, o->lanes, o->rank) ? dot
                         : halo_picture_can_write(".png", o->kind, o->lanes, o->rank) ? ".png" : ".npy";
    bool several = j->signature->n_outputs > 1;
    size_t room = strlen(j->folder) + strlen(base) + strlen(o->name) + strlen(ending) + 4;
    char *path = must(malloc(room));
    snprintf(path, room, "%s%s%.*s%s%s%s", j->folder, ends_with(j->folder, "/") ? "" : "/", n_stem, base, several ? "-" : "",
             several ? o->name : "", ending);
    return path;
}

static bool same_file(const char *a, const char *b)
{
    struct stat about_a, about_b;
    return stat(a, &about_a) == 0 && stat(b, &about_b) == 0 && about_a.st_dev == about_b.st_dev && about_a.st_ino == about_b.st_ino;
}

static int write_output(const job *j, const char *path, const halo_picture *picture, const halo_metadata *metadata)
{
    halo_write_options options = {.depth = j->line->depth, .metadata = metadata};
    halo_message error, note;
    if (halo_picture_write(path, picture, &options, &note, &error) != HALO_OK)
        return report_error(j->report, "%s", error.text);
    if (note.text[0])
        report_note(j->report, "%s: %s", path, note.text);
    return EXIT_FINE;
}

static int write_outputs(const job *j, const halo_picture *outputs, const char *const *pictures, size_t n_pictures,
                         const halo_metadata *metadata)
{
    int status = EXIT_FINE;
    for (size_t i = 0; i < j->signature->n_outputs && status == EXIT_FINE; i++) {
        char *made = j->folder ? path_in_folder(j, n_pictures ? pictures[0] : NULL, &j->signature->outputs[i]) : NULL;
        const char *path = made ? made : j->paths[i];
        if (made && n_pictures && same_file(made, pictures[0]))
            status = report_error(j->report, "%s: this would overwrite the picture itself: choose another folder", made);
        else if (path)
            status = write_output(j, path, &outputs[i], metadata);
        free(made);
    }
    return status;
}

/* ---- one run --------------------------------------------------------------------------------- */

typedef struct run_images {
    halo_picture  *inputs, *outputs;         /* pictures of this run */
    halo_image    *in, *out;
    halo_metadata *metadata;                 /* of its first picture */
    const char *const *pictures;             /* their names */
    size_t         n_pictures;
    halo_task     *task;                     /* under way */
    halo_times     times;
    double         run_ms;
} run_images;

static int load_inputs(const job *j, run_images *m)
{
    size_t next = 0;
    for (size_t i = 0; i < j->signature->n_inputs; i++) {
        if (j->is_named[i]) {
            m->in[i] = j->named[i].image;
            continue;
        }
        int status = load_input(j->report, m->pictures[next++], &j->signature->inputs[i], &m->inputs[i], &m->metadata);
        if (status != EXIT_FINE)
            return status;
        m->in[i] = m->inputs[i].image;
    }
    return EXIT_FINE;
}

/* What a run said: lines that name their place in the script stand as they are. */
static int report_run(const job *j, const halo_message *error)
{
    if (!strstr(error->text, ": error["))
        return report_error(j->report, "%s", error->text);
    report_text(j->report, error->text);
    report_text(j->report, "\n");
    return EXIT_PROBLEM;
}

static int make_outputs(const job *j, run_images *m)
{
    halo_message error;
    if (halo_size(j->pipe, m->in, j->arguments, m->out, &error) != HALO_OK)
        return report_run(j, &error);
    for (size_t i = 0; i < j->signature->n_outputs; i++) {
        const halo_output *o = &j->signature->outputs[i];
        if (halo_picture_new(&m->outputs[i], o->kind, o->lanes, o->rank, m->out[i].extent) != HALO_OK)
            return report_error(j->report, "out of memory for output `%s`", o->name);
        m->out[i] = m->outputs[i].image;
    }
    return EXIT_FINE;
}

static int begin(const job *j, run_images *m)
{
    halo_exec exec = j->threads ? halo_threads_exec(j->threads) : (halo_exec){.workers = 1};
    halo_message error;
    double start = now_ms();
    int code = halo_run_begin(j->pipe, m->in, j->arguments, m->out, NULL, &exec, &m->task, &error);
    m->run_ms = now_ms() - start;
    return code == HALO_OK ? EXIT_FINE : report_run(j, &error);
}

static int end(const job *j, run_images *m)
{
    halo_message error;
    double start = now_ms();
    int code = halo_run_end(m->task, &m->times, &error);
    m->task = NULL;
    m->run_ms += now_ms() - start;
    return code == HALO_OK ? EXIT_FINE : report_run(j, &error);
}

/* All repetitions but the last are done here; the shortest counts. */
static int compute(const job *j, run_images *m)
{
    double best = 0;
    halo_times times = {0};
    int status = begin(j, m);
    for (int32_t k = 1; k < j->line->repeat && status == EXIT_FINE; k++) {
        status = end(j, m);
        if (k == 1 || m->run_ms < best) {
            best = m->run_ms;
            times = m->times;
        }
        status = status == EXIT_FINE ? begin(j, m) : status;
    }
    if (j->line->repeat == 1 || status != EXIT_FINE)
        return status;
    status = end(j, m);
    if (best < m->run_ms) {
        m->run_ms = best;
        m->times = times;
    }
    return status;
}

static void print_times(const job *j, const run_images *m)
{
    double megapixels = 1e-6;
    for (int d = 0; d < HALO_MAX_RANK; d++)
        megapixels *= m->out[0].extent[d];
    if (j->on_device)
        fprintf(stderr, "open %.1f ms, ", j->open_ms);
    fprintf(stderr, "compile %.1f ms, ", j->compile_ms);
    if (j->on_device)
        fprintf(stderr, "pipelines %.1f ms of it, upload %.2f ms, device %.2f ms, download %.2f ms, ", m->times.pipelines,
                m->times.upload, m->times.device, m->times.download);
    fprintf(stderr, "run %.2f ms, %.1f Mpixel/s\n", m->run_ms, megapixels / (m->run_ms > 0 ? m->run_ms : 1e-6) * 1e3);
}

/* Reads the pictures, one for each input that isn't named, and starts the run. */
static int start_run(const job *j, run_images *m, const char *const *pictures, size_t n_pictures)
{
    const halo_signature *s = j->signature;
    *m = (run_images){.inputs = must(calloc(s->n_inputs + 1, sizeof(halo_picture))),
                      .outputs = must(calloc(s->n_outputs + 1, sizeof(halo_picture))),
                      .in = must(calloc(s->n_inputs + 1, sizeof(halo_image))),
                      .out = must(calloc(s->n_outputs + 1, sizeof(halo_image))),
                      .pictures = pictures, .n_pictures = n_pictures};
    int status = load_inputs(j, m);
    if (status == EXIT_FINE)
        status = make_outputs(j, m);
    return status == EXIT_FINE ? compute(j, m) : status;
}

/* Waits for it, if it was started well, and writes what came out. */
static int finish_run(const job *j, run_images *m, int status)
{
    const halo_signature *s = j->signature;
    if (m->task) {
        int ended = end(j, m);
        status = status == EXIT_FINE ? ended : status;
    }
    if (status == EXIT_FINE)
        status = write_outputs(j, m->outputs, m->pictures, m->n_pictures, m->metadata);
    if (status == EXIT_FINE && j->line->time)
        print_times(j, m);
    for (size_t i = 0; i < s->n_inputs; i++)
        halo_picture_release(&m->inputs[i]);
    for (size_t i = 0; i < s->n_outputs; i++)
        halo_picture_release(&m->outputs[i]);
    halo_picture with_metadata = {.metadata = m->metadata};
    halo_picture_release(&with_metadata);
    free(m->inputs);
    free(m->outputs);
    free(m->in);
    free(m->out);
    return status;
}

static int run_once(const job *j, const char *const *pictures, size_t n_pictures)
{
    run_images m;
    return finish_run(j, &m, start_run(j, &m, pictures, n_pictures));
}

/* ---- many runs ------------------------------------------------------------------------------- */

static void show_progress(size_t done, size_t count, const char *name)
{
    enum { WIDTH = 30 };
    int filled = (int)(done * WIDTH / count);
    fprintf(stderr, "\r[%.*s%*s] %zu/%zu %.40s\x1b[K", filled, "##############################", WIDTH - filled, "", done, count, name);
    if (done == count)
        fprintf(stderr, "\r\x1b[K");
}

/* Two pictures of one name would write one file. */
static bool is_repeated(const job *j, size_t which, char **previous)
{
    char *path = path_in_folder(j, j->line->pictures.items[which], &j->signature->outputs[0]);
    bool repeated = false;
    for (size_t i = 0; i < which && !repeated; i++)
        repeated = strcmp(previous[i], path) == 0;
    previous[which] = path;
    if (repeated)
        report_error(j->report, "%s: %s was written for another picture of that name", j->line->pictures.items[which], path);
    return repeated;
}

/* A device works on one picture while the host reads the next and writes the last. */
static int run_overlapped(const job *j, char **paths, bool bar)
{
    const strings *pictures = &j->line->pictures;
    run_images m[2];
    int started[2], status = EXIT_FINE;
    bool under_way = false;
    for (size_t i = 0; i <= pictures->count; i++) {
        bool starts = i < pictures->count && !is_repeated(j, i, paths);
        if (bar && i < pictures->count)
            show_progress(i, pictures->count, pictures->items[i]);
        if (starts)
            started[i % 2] = start_run(j, &m[i % 2], &pictures->items[i], 1);
        if (under_way && finish_run(j, &m[(i + 1) % 2], started[(i + 1) % 2]) != EXIT_FINE)
            status = EXIT_PROBLEM;
        if (!starts && i < pictures->count)
            status = EXIT_PROBLEM;
        under_way = starts;
    }
    return status;
}

static int run_in_turn(const job *j, char **paths, bool bar)
{
    const strings *pictures = &j->line->pictures;
    int status = EXIT_FINE;
    for (size_t i = 0; i < pictures->count; i++) {
        if (bar)
            show_progress(i, pictures->count, pictures->items[i]);
        if (is_repeated(j, i, paths) || run_once(j, &pictures->items[i], 1) != EXIT_FINE)
            status = EXIT_PROBLEM;
    }
    return status;
}

static int run_each(const job *j)
{
    const strings *pictures = &j->line->pictures;
    bool bar = j->report->bar = isatty(STDERR_FILENO) && !j->report->quiet && !j->report->capture && pictures->count > 1;
    char **paths = must(calloc(pictures->count, sizeof *paths));
    int status = j->on_device ? run_overlapped(j, paths, bar) : run_in_turn(j, paths, bar);
    if (bar)
        show_progress(pictures->count, pictures->count, "");
    j->report->bar = false;
    for (size_t i = 0; i < pictures->count; i++)
        free(paths[i]);
    free(paths);
    return status;
}

/* Pictures match the inputs that have no name=file; with -o DIR/ and one such input there may be any number. */
static int match_pictures(job *j)
{
    const halo_signature *s = j->signature;
    size_t n = j->line->pictures.count, open = 0;
    const char *names[16] = {0};
    char all[400];
    for (size_t i = 0; i < s->n_inputs; i++)
        if (!j->is_named[i]) {
            if (!s->inputs[i].is_image && s->inputs[i].rank != 2)
                return report_usage(j->report, "input `%s` is %s: give it as %s=FILE.npy", s->inputs[i].name, s->inputs[i].type,
                                    s->inputs[i].name);
            if (open < 16)
                names[open] = s->inputs[i].name;
            open++;
        }
    list_names(all, sizeof all, names, open < 16 ? open : 16);
    if (j->folder && mkdir(j->folder, 0777) != 0 && errno != EEXIST)
        return report_error(j->report, "%s: %s", j->folder, strerror(errno));
    if (j->folder && open == 1 && n > 0)
        return run_each(j);
    if (n > 1 && open == 1)
        return report_usage(j->report, "%zu pictures for one input: -o DIR/ runs each of them", n);
    if (n < open)
        return report_usage(j->report, "`%s` wants %zu picture%s (%s), %zu given", s->name, open, open > 1 ? "s" : "", all, n);
    if (n > open)
        return report_usage(j->report, "`%s` takes %zu picture%s, %zu given; %s is too many", s->name, open, open == 1 ? "" : "s", n,
                            j->line->pictures.items[open]);
    return run_once(j, j->line->pictures.items, n);
}

/* ---- the job --------------------------------------------------------------------------------- */

static int choose_pipe(job *j)
{
    size_t n = halo_program_pipe_count(j->program);
    if (n == 1) {
        j->pipe = halo_program_pipe(j->program, 0);
        j->signature = halo_pipe_signature(j->pipe);
        return EXIT_FINE;
    }
    if (n == 0)
        return report_error(j->report, "%s: the script has no pipe to run", j->line->script);
    return report_several_pipes(j->report, j->line->script, j->program);
}

static int prepare(job *j)
{
    int status = choose_pipe(j);
    if (status != EXIT_FINE)
        return status;
    j->arguments = must(halo_arguments_new(j->pipe));
    j->named = must(calloc(j->signature->n_inputs + 1, sizeof *j->named));
    j->is_named = must(calloc(j->signature->n_inputs + 1, sizeof *j->is_named));
    j->paths = must(calloc(j->signature->n_outputs + 1, sizeof *j->paths));
    status = choose_outputs(j);
    if (status == EXIT_FINE)
        status = assign_all(j);
    if (status == EXIT_FINE && j->line->compile.engine == HALO_ENGINE_CPU && !j->on_device && j->line->threads != 1)
        j->threads = halo_threads_new(j->line->threads);
    return status;
}

int run_job(const run_line *line)
{
    job j = {.line = line, .report = line->report};
    double start = now_ms();
    j.program = open_in_place(line, &j.on_device);
    j.open_ms = line->kept->open_ms;
    line->kept->open_ms = 0;
    j.compile_ms = now_ms() - start - j.open_ms;
    if (!j.program)
        return EXIT_PROBLEM;
    int status = prepare(&j);
    if (status == EXIT_FINE)
        status = match_pictures(&j);
    for (size_t i = 0; j.named && i < j.signature->n_inputs; i++)
        halo_picture_release(&j.named[i]);
    halo_threads_free(j.threads);
    halo_arguments_free(j.arguments);
    free(j.named);
    free(j.is_named);
    free(j.paths);
    halo_program_free(j.program);
    return status == EXIT_FINE ? kept_device_complaints(line->kept, line->report) : status;
}
