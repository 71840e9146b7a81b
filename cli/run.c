/* SPDX-License-Identifier: MIT
 * halo run: the command line. */
#include "cli/run.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum { OPT_OUTPUT = 1, OPT_PIPE, OPT_THREADS, OPT_DEPTH, OPT_STRICT, OPT_NO_FMA, OPT_TIME, OPT_REPEAT, OPT_QUIET, OPT_INTERPRET, OPT_SKIP,
       OPT_TILE, OPT_STREAM, OPT_NO_TUNE, OPT_FORCE_BORDER, OPT_NO_FUSE, OPT_REPARSE, OPT_NO_VERIFY, OPT_BATCH, OPT_ON, OPT_DEVICE,
       OPT_MAX_WORKGROUPS, OPT_LIMITS, OPT_NO_NARROW, OPT_STAGING, OPT_VALIDATE };

static const option_row rows[] = {
    {OPT_OUTPUT, "output", 'o', "FILE", "where to: FILE, or OUTPUT=FILE for each of several, or DIR/ for many pictures"},
    {OPT_PIPE, "pipe", 'p', "NAME", "which pipe, if the script has several"},
    {OPT_THREADS, "threads", 'j', "N", "threads that work (all processors)"},
    {OPT_ON, "on", 0, "PLACE", "cpu, vulkan, or auto: on a graphics processor if there is one, and say which (cpu)"},
    {OPT_DEVICE, "device", 0, "N|NAME", "which Vulkan device, by number or a part of its name (`halo devices` lists them)"},
    {OPT_DEPTH, "depth", 'd', "8|16", "bits of f32 outputs in PNG, PGM and PPM files (8)"},
    {OPT_STRICT, "strict", 0, NULL, "contract no product with a sum, split no f32 kernel into two passes"},
    {OPT_NO_FMA, "no-fma", 0, NULL, "contract no product with a sum, but do split kernels"},
    {OPT_TIME, "time", 't', NULL, "say how long compiling and running took; -o may be left out"},
    {OPT_REPEAT, "repeat", 0, "N", "run N times and give the shortest time"},
    {OPT_QUIET, "quiet", 'q', NULL, "no notes, no progress bar"},
    {OPT_INTERPRET, "interpret", 0, "[=written]", "by the reference interpreter; =written: what the script says, in doubles"},
    {OPT_SKIP, "skip", 0, "PASS", "leave an exact pass out (`halo show --list` names them)"},
    {OPT_TILE, "tile", 0, "WxH", "column block and strip height, or a tile on Vulkan, if it fits; 0 leaves one to the compiler"},
    {OPT_STREAM, "stream", 0, "always|never", "store rows past the caches, or don't (chosen from sizes at run time)"},
    {OPT_NO_TUNE, "no-tune", 0, NULL, "without what `halo tune` found (SCRIPT.tune)"},
    {OPT_FORCE_BORDER, "force-border", 0, NULL, "every read goes through its border map (test switch)"},
    {OPT_NO_FUSE, "no-fuse", 0, NULL, "every stage is stored (test switch)"},
    {OPT_REPARSE, "reparse", 0, NULL, "reread the IR from its text after every pass (test switch)"},
    {OPT_NO_VERIFY, "no-verify", 0, NULL, "don't check the IR after every pass (for timing)"},
    {OPT_MAX_WORKGROUPS, "max-workgroups", 0, "N", "on Vulkan: no more in one dimension of a dispatch (test switch)"},
    {OPT_LIMITS, "vulkan-limits", 0, "minimum", "on Vulkan: small workgroups, as every device has them (test switch)"},
    {OPT_NO_NARROW, "no-narrow-storage", 0, NULL, "on Vulkan: 8 and 16-bit numbers are read and written by words (test switch)"},
    {OPT_STAGING, "staging", 0, NULL, "on Vulkan: pictures are copied to the device even if it shares memory (test switch)"},
    {OPT_VALIDATE, "validate", 0, NULL, "on Vulkan: what the validation layer says is an error (test switch)"},
    {OPT_BATCH, "batch", 0, "FILE", "each line of FILE (- is stdin) is the arguments of one run; prints ok or error: ... for each"},
    {0}};

static void help(void)
{
    options_help(rows, "halo run SCRIPT [PICTURE...] [NAME=VALUE...] -o OUT",
                 "Compiles a script and filters pictures. Pictures fill the image inputs in order, or by NAME=FILE; arrays are .npy or\n"
                 ".cube files. Other NAME=VALUE are parameters: numbers, true, false, or (0.2, 0.7, 0.1). With -o DIR/ each picture is\n"
                 "a run of its own. Reads PNG, JPEG, BMP, TGA, HDR, PGM, PPM, PFM; writes PNG, JPEG, PGM, PPM, PFM, HDR, npy.",
                 "  halo run examples/unsharp.pipe photo.jpg sigma=2 -o sharp.png\n"
                 "  halo run examples/unsharp.pipe holiday/*.jpg -o sharp/\n");
}

size_t name_length(const char *argument)
{
    size_t n = 0;
    while (isalnum((unsigned char)argument[n]) || argument[n] == '_')
        n++;
    return n > 0 && !isdigit((unsigned char)argument[0]) && argument[n] == '=' ? n : 0;
}

void add_assignment(assignment **list, size_t *count, const char *argument, size_t n_name)
{
    *list = must(realloc(*list, (*count + 1) * sizeof **list));
    (*list)[(*count)++] = n_name ? (assignment){must(strndup(argument, n_name)), argument + n_name + 1}
                                 : (assignment){NULL, argument};
}

static void free_line(run_line *line)
{
    for (size_t i = 0; i < line->n_assignments; i++)
        free(line->assignments[i].name);
    for (size_t i = 0; i < line->n_outputs; i++)
        free(line->outputs[i].name);
    free(line->assignments);
    free(line->outputs);
    free(line->pictures.items);
    free(line->skip.items);
}

static bool parse_interpret(run_line *line, const char *value)
{
    if (value && strcmp(value, "written") != 0) {
        report_usage(line->report, "--interpret takes nothing, or =written, not `%s`", value);
        return false;
    }
    line->compile.engine = value ? HALO_ENGINE_WRITTEN : HALO_ENGINE_INTERPRETER;
    return true;
}

static bool parse_depth(run_line *line, const char *value)
{
    line->depth = strcmp(value, "8") == 0 ? 8 : strcmp(value, "16") == 0 ? 16 : 0;
    if (line->depth == 0)
        report_usage(line->report, "--depth is 8 or 16, not `%s`", value);
    return line->depth != 0;
}

/* What Vulkan guarantees. */
static bool parse_limits(run_line *line, const char *value)
{
    if (strcmp(value, "minimum") != 0) {
        report_usage(line->report, "--vulkan-limits is minimum, not `%s`", value);
        return false;
    }
    line->device.most_invocations = 128;
    line->device.most_shared_bytes = 16384;
    return true;
}

static bool parse_option(run_line *line, int id, const char *value)
{
    report *r = line->report;
    halo_options *c = &line->compile;
    line->given |= (uint64_t)1 << id;
    switch (id) {
    case OPT_OUTPUT:       add_assignment(&line->outputs, &line->n_outputs, value, name_length(value)); return true;
    case OPT_PIPE:         c->pipe = value; return true;
    case OPT_THREADS:      return parse_count(r, "--threads", value, 1, &line->threads);
    case OPT_DEPTH:        return parse_depth(line, value);
    case OPT_STRICT:       c->strict = 1; return true;
    case OPT_NO_FMA:       c->no_fma = 1; return true;
    case OPT_TIME:         line->time = true; return true;
    case OPT_REPEAT:       return parse_count(r, "--repeat", value, 1, &line->repeat);
    case OPT_QUIET:        r->quiet = true; return true;
    case OPT_INTERPRET:    return parse_interpret(line, value);
    case OPT_SKIP:         strings_add(&line->skip, value); return true;
    case OPT_TILE:         return parse_tile(r, value, &c->tile_width, &c->tile_rows);
    case OPT_STREAM:       return parse_stream(r, value, &c->stream);
    case OPT_NO_TUNE:      line->no_tune = true; return true;
    case OPT_FORCE_BORDER: c->force_border = 1; return true;
    case OPT_NO_FUSE:      c->no_fuse = 1; return true;
    case OPT_REPARSE:      c->reparse = 1; return true;
    case OPT_NO_VERIFY:    c->no_verify = 1; return true;
    case OPT_ON:           return parse_on(r, value, true, &line->on);
    case OPT_DEVICE:       line->device.name = value; return true;
    case OPT_MAX_WORKGROUPS: return parse_count(r, "--max-workgroups", value, 1, &line->device.most_workgroups);
    case OPT_LIMITS:       return parse_limits(line, value);
    case OPT_NO_NARROW:    line->device.no_storage_8bit = line->device.no_storage_16bit = 1; return true;
    case OPT_STAGING:      line->device.staging = 1; return true;
    case OPT_VALIDATE:     line->validate = true; return true;
    }
    return false;
}

/* No option is taken and then left aside: what --on excludes is wrong usage. */
static bool check_options(const run_line *line)
{
    static const int of_cpu[] = {OPT_THREADS, OPT_STREAM, OPT_NO_TUNE, OPT_INTERPRET, 0},
                     of_vulkan[] = {OPT_DEVICE, OPT_MAX_WORKGROUPS, OPT_LIMITS, OPT_NO_NARROW, OPT_STAGING, OPT_VALIDATE, 0};
    switch (line->on) {
    case PLACE_CPU:    return check_places(line->report, rows, line->given, of_vulkan, "is for Vulkan: add --on vulkan");
    case PLACE_VULKAN: return check_places(line->report, rows, line->given, of_cpu,
                                           "is for the processor: leave it out, or --on vulkan");
    default:           return check_places(line->report, rows, line->given, (const int[]){OPT_INTERPRET, 0},
                                           "and --on auto don't go together");
    }
}

static int run_arguments(int argc, char **argv, report *r, kept_device *kept);

/* Options, then what is left: the script, pictures, assignments. An exit status, or -1 to go on. */
static int parse_line(run_line *line, int argc, char **argv)
{
    options o;
    const char *value, *batch = NULL;
    int rest, id;
    options_begin(&o, rows, argc, argv, line->report);
    while ((id = options_next(&o, &value, &rest)) != OPTION_END) {
        if (id == OPTION_HELP)
            return help(), EXIT_FINE;
        if (id == OPTION_BAD)
            return EXIT_USAGE;
        if (id == OPT_BATCH)
            batch = value;
        else if (!parse_option(line, id, value))
            return EXIT_USAGE;
    }
    if (batch && (line->report->capture || rest < argc || line->given))
        return report_usage(line->report, "--batch stands alone");
    if (batch)
        return run_batch(batch, run_arguments, line->kept);
    if (!check_options(line))
        return EXIT_USAGE;
    if (rest == argc)
        return report_usage(line->report, "run which script? `halo run --help` shows how");
    line->script = argv[rest++];
    for (; rest < argc; rest++) {
        size_t n = name_length(argv[rest]);
        if (n)
            add_assignment(&line->assignments, &line->n_assignments, argv[rest], n);
        else
            strings_add(&line->pictures, argv[rest]);
    }
    line->compile.skip = line->skip.items;
    line->compile.n_skip = line->skip.count;
    return -1;
}

static int run_arguments(int argc, char **argv, report *r, kept_device *kept)
{
    run_line line = {.report = r, .repeat = 1, .kept = kept};
    int status = parse_line(&line, argc, argv);
    if (status < 0)
        status = run_job(&line);
    free_line(&line);
    return status;
}

int command_run(int argc, char **argv)
{
    report r = {0};
    kept_device kept = {0};
    int status = run_arguments(argc, argv, &r, &kept);
    kept_device_close(&kept);
    int complaints = kept_device_complaints(&kept, &r);
    return status == EXIT_FINE ? complaints : status;
}
