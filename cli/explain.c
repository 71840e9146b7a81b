/* SPDX-License-Identifier: MIT
 * halo explain: per dispatch, what was fused, inlined, separated and buffered, and why. */
#include "cli/place.h"

enum { OPT_JSON = 1, OPT_PIPE, OPT_STRICT, OPT_NO_FMA, OPT_SKIP, OPT_TILE, OPT_NO_TUNE, OPT_NO_FUSE, OPT_CPU, OPT_ON };
static const option_row rows[] = {
    {OPT_JSON, "json", 0, NULL, "as JSON"},
    {OPT_PIPE, "pipe", 'p', "NAME", "this pipe only"},
    {OPT_ON, "on", 0, "PLACE", "cpu or vulkan: for the processor, or for Vulkan devices (cpu)"},
    {OPT_STRICT, "strict", 0, NULL, "contract no product with a sum, split no f32 kernel into two passes"},
    {OPT_NO_FMA, "no-fma", 0, NULL, "contract no product with a sum, but do split kernels"},
    {OPT_SKIP, "skip", 0, "PASS", "leave an exact pass out"},
    {OPT_TILE, "tile", 0, "WxH", "column block and strip height"},
    {OPT_NO_TUNE, "no-tune", 0, NULL, "without what `halo tune` found (SCRIPT.tune)"},
    {OPT_NO_FUSE, "no-fuse", 0, NULL, "every stage is stored"},
    {OPT_CPU, "cpu", 0, "A,B", "processors, the plainest first (this machine's)"},
    {0}};

static void help(void)
{
    options_help(rows, "halo explain [--json] SCRIPT",
                 "Says, for every dispatch, which stages it fuses, what was inlined, separated and buffered, and why there is a cut.",
                 "  halo explain examples/bokeh.pipe\n");
}

static int explain(report *r, const char *path, const halo_options *compile, bool tuned, bool json)
{
    halo_program *program = open_script(r, path, compile, tuned);
    if (!program)
        return EXIT_PROBLEM;
    size_t before = halo_program_diagnostic_count(program);
    int status = EXIT_FINE;
    size_t n = halo_program_pipe_count(program);
    if (n == 0)
        status = report_error(r, "%s: the script has no pipe", path);
    printf(json && n > 1 ? "[" : "");
    for (size_t i = 0; i < n && status == EXIT_FINE; i++) {
        halo_message error;
        char *text = halo_show(program, halo_program_pipe(program, i), json ? "explain-json" : "explain", NULL, &error);
        printf(i == 0 ? "" : json ? "," : "\n");
        if (text) {
            fputs(text, stdout);
        } else {
            status = error.text[0] ? report_error(r, "%s", error.text) : EXIT_PROBLEM;
        }
        halo_free(text);
    }
    printf(json && n > 1 ? "]\n" : "");
    report_later(r, program, before);
    halo_program_free(program);
    return status;
}

static bool check_options(report *r, uint64_t given, place_kind on)
{
    static const int of_cpu[] = {OPT_CPU, OPT_NO_TUNE, 0};
    return on == PLACE_CPU || check_places(r, rows, given, of_cpu, "is for the processor: leave it out, or --on vulkan");
}

int command_explain(int argc, char **argv)
{
    report r = {0};
    options o;
    halo_options compile = {.engine = HALO_ENGINE_NONE};
    strings skip = {0}, cpus = {0};
    const char *value;
    int rest, id;
    bool json = false, tuned = true;
    place_kind on = PLACE_CPU;
    uint64_t given = 0;
    options_begin(&o, rows, argc, argv, &r);
    while ((id = options_next(&o, &value, &rest)) != OPTION_END) {
        given |= id > 0 && id < 64 ? (uint64_t)1 << id : 0;
        switch (id) {
        case OPTION_HELP: return help(), EXIT_FINE;
        case OPTION_BAD:  return EXIT_USAGE;
        case OPT_JSON:    json = true; break;
        case OPT_PIPE:    compile.pipe = value; break;
        case OPT_STRICT:  compile.strict = 1; break;
        case OPT_NO_FMA:  compile.no_fma = 1; break;
        case OPT_SKIP:    strings_add(&skip, value); break;
        case OPT_NO_FUSE: compile.no_fuse = 1; break;
        case OPT_NO_TUNE: tuned = false; break;
        case OPT_CPU:     strings_add_parts(&cpus, value); break;
        case OPT_ON:
            if (!parse_on(&r, value, false, &on))
                return EXIT_USAGE;
            break;
        case OPT_TILE:
            if (!parse_tile(&r, value, &compile.tile_width, &compile.tile_rows))
                return EXIT_USAGE;
            break;
        }
    }
    if (!check_options(&r, given, on))
        return EXIT_USAGE;
    compile.for_vulkan = on == PLACE_VULKAN;
    if (argc - rest != 1)
        return report_usage(&r, "explain takes one script; `halo explain --help` shows how");
    compile.skip = skip.items;
    compile.n_skip = skip.count;
    compile.cpus = cpus.items;
    compile.n_cpus = cpus.count;
    return explain(&r, argv[rest], &compile, tuned && on == PLACE_CPU, json);
}
