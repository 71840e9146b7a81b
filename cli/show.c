/* SPDX-License-Identifier: MIT
 * halo show: any stage of a script, or of an IR file, as text. */
#include "cli/place.h"

#include <string.h>

enum { OPT_STAGE = 1, OPT_AFTER, OPT_PASS, OPT_LIST, OPT_EACH, OPT_PIPE, OPT_STRICT, OPT_NO_FMA, OPT_SKIP, OPT_TARGET, OPT_CPU, OPT_TILE, OPT_NO_TUNE,
       OPT_FORCE_BORDER, OPT_NO_FUSE, OPT_REPARSE, OPT_ON, OPT_LAYOUT };

static const option_row rows[] = {
    {OPT_STAGE, "stage", 's', "NAME", "ast, tensor, dispatch, kernel, llvm, asm, spirv, explain ... (tensor)"},
    {OPT_ON, "on", 0, "PLACE", "cpu or vulkan: on the way to the processor, or to Vulkan devices (cpu)"},
    {OPT_AFTER, "after", 0, "PASS", "the tensor IR after this pass, or after `written`: before any"},
    {OPT_PASS, "pass", 0, "NAME", "of an .ir file: run this pass alone"},
    {OPT_EACH, "each", 0, NULL, "the tensor IR after every pass that changes it"},
    {OPT_LIST, "list", 'l', NULL, "list stages and passes"},
    {OPT_PIPE, "pipe", 'p', "NAME", "which pipe, if the script has several"},
    {OPT_STRICT, "strict", 0, NULL, "contract no product with a sum, split no f32 kernel into two passes"},
    {OPT_NO_FMA, "no-fma", 0, NULL, "contract no product with a sum, but do split kernels"},
    {OPT_SKIP, "skip", 0, "PASS", "leave an exact pass out"},
    {OPT_TARGET, "target", 0, "TRIPLE", "for another machine"},
    {OPT_CPU, "cpu", 0, "A,B", "processors, the plainest first (this machine's)"},
    {OPT_TILE, "tile", 0, "WxH", "column block and strip height"},
    {OPT_LAYOUT, "layout", 0, "NAME=HOW", "how an input or output lies in memory, as `halo build` has it"},
    {OPT_NO_TUNE, "no-tune", 0, NULL, "without what `halo tune` found (SCRIPT.tune)"},
    {OPT_FORCE_BORDER, "force-border", 0, NULL, "every read goes through its border map"},
    {OPT_NO_FUSE, "no-fuse", 0, NULL, "every stage is stored"},
    {OPT_REPARSE, "reparse", 0, NULL, "reread the IR from its text after every pass"},
    {0}};

static void help(void)
{
    options_help(rows, "halo show SCRIPT [--stage NAME] [--after PASS]", "Prints a stage of a script (or of tensor IR in an .ir file) as text.",
                 "  halo show examples/blur.pipe --stage tensor --after separate > blur.ir\n"
                 "  halo show blur.ir --pass inline\n");
}

static int list(void)
{
    printf("stages (--stage):\n");
    for (size_t i = 0; halo_stage_at(i); i++)
        printf("  %-15s %s\n", halo_stage_at(i)[0], halo_stage_at(i)[1]);
    printf("\npasses over the tensor IR, in order (--after; exact ones can be left out with --skip):\n");
    for (size_t i = 0; halo_pass_at(i).name; i++)
        printf("  %-15s %-7s %s\n", halo_pass_at(i).name, halo_pass_at(i).kind, halo_pass_at(i).purpose);
    return EXIT_FINE;
}

typedef struct show_line {
    const char  *stage, *after, *pass;
    bool         list, each, help, no_tune;
    place_kind   on;
    uint64_t     given;
    halo_options compile;
    strings      skip, cpus, layouts;
} show_line;

static bool parse_option(show_line *line, int id, const char *value, report *r)
{
    halo_options *c = &line->compile;
    line->given |= id > 0 && id < 64 ? (uint64_t)1 << id : 0;
    switch (id) {
    case OPTION_HELP:      line->help = true; return true;
    case OPT_STAGE:        line->stage = value; return true;
    case OPT_ON:           return parse_on(r, value, false, &line->on);
    case OPT_AFTER:        line->after = value; return true;
    case OPT_PASS:         line->pass = value; return true;
    case OPT_EACH:         line->each = true; return true;
    case OPT_LIST:         line->list = true; return true;
    case OPT_PIPE:         c->pipe = value; return true;
    case OPT_STRICT:       c->strict = 1; return true;
    case OPT_NO_FMA:       c->no_fma = 1; return true;
    case OPT_SKIP:         strings_add(&line->skip, value); return true;
    case OPT_TARGET:       c->target = value; return true;
    case OPT_CPU:          strings_add_parts(&line->cpus, value); return true;
    case OPT_LAYOUT:       strings_add_parts(&line->layouts, value); return true;
    case OPT_TILE:         return parse_tile(r, value, &c->tile_width, &c->tile_rows);
    case OPT_NO_TUNE:      line->no_tune = true; return true;
    case OPT_FORCE_BORDER: c->force_border = 1; return true;
    case OPT_NO_FUSE:      c->no_fuse = 1; return true;
    case OPT_REPARSE:      c->reparse = 1; return true;
    }
    return false;
}

static bool check_options(report *r, const show_line *line)
{
    static const int of_cpu[] = {OPT_TARGET, OPT_CPU, OPT_NO_TUNE, 0};
    return line->on == PLACE_CPU || check_places(r, rows, line->given, of_cpu, "is for the processor: leave it out, or --on vulkan");
}

static int show(show_line *line, const char *path, report *r)
{
    halo_program *program = open_script(r, path, &line->compile, !line->no_tune && line->on == PLACE_CPU);
    if (!program)
        return EXIT_PROBLEM;
    size_t before = halo_program_diagnostic_count(program), n = halo_program_pipe_count(program);
    bool is_ast = line->stage && strcmp(line->stage, "ast") == 0;
    halo_message error;
    int status = EXIT_PROBLEM;
    char *text = NULL;
    if (n == 0 && !is_ast)
        report_error(r, "%s: the script has no pipe", path);
    else if (n > 1 && !is_ast)
        status = report_several_pipes(r, path, program);
    else {
        halo_pipe *pipe = halo_program_pipe(program, 0);
        text = line->pass ? halo_replay(program, pipe, line->pass, &error)
             : line->each ? halo_show_passes(program, pipe, &error)
                          : halo_show(program, pipe, line->stage ? line->stage : "tensor", line->after, &error);
        if (!text && error.text[0])
            status = report_usage(r, "%s", error.text);
    }
    if (text) {
        fputs(text, stdout);
        status = EXIT_FINE;
    }
    report_later(r, program, before);
    halo_free(text);
    halo_program_free(program);
    return status;
}

int command_show(int argc, char **argv)
{
    report r = {0};
    options o;
    show_line line = {.compile.engine = HALO_ENGINE_NONE};
    const char *value;
    int rest, id;
    options_begin(&o, rows, argc, argv, &r);
    while ((id = options_next(&o, &value, &rest)) != OPTION_END)
        if (id == OPTION_BAD || !parse_option(&line, id, value, &r))
            return EXIT_USAGE;
    if (line.help)
        return help(), EXIT_FINE;
    if (line.list)
        return list();
    if (!check_options(&r, &line))
        return EXIT_USAGE;
    line.compile.for_vulkan = line.on == PLACE_VULKAN;
    if (argc - rest != 1)
        return report_usage(&r, "show takes one script; `halo show --help` shows how");
    if (line.pass && !ends_with(argv[rest], ".ir"))
        return report_usage(&r, "--pass replays one pass on an .ir file; for a script use --after");
    line.compile.skip = line.skip.items;
    line.compile.n_skip = line.skip.count;
    line.compile.layouts = line.layouts.items;
    line.compile.n_layouts = line.layouts.count;
    line.compile.cpus = line.cpus.items;
    line.compile.n_cpus = line.cpus.count;
    return show(&line, argv[rest], &r);
}
