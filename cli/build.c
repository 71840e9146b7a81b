/* SPDX-License-Identifier: MIT
 * halo build: scripts to libraries, objects, headers and text. */
#include "cli/archive.h"
#include "cli/place.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { OPT_OUTPUT = 1, OPT_HEADER, OPT_TARGET, OPT_CPU, OPT_STRICT, OPT_NO_FMA, OPT_LAYOUT, OPT_PIPE, OPT_SKIP, OPT_TILE, OPT_STREAM, OPT_NO_TUNE,
       OPT_NO_FUSE, OPT_FORCE_BORDER, OPT_VULKAN, OPT_JSON };

static const option_row rows[] = {
    {OPT_OUTPUT, "output", 'o', "FILE", "by its ending: .a .so .o a library, .h its header, .ll .s the code as text, .spv bare modules"},
    {OPT_HEADER, "header", 0, "FILE", "write the C and C++ header too"},
    {OPT_VULKAN, "vulkan", 0, NULL, "for Vulkan: functions that record commands into an app's own command buffers, SPIR-V inside"},
    {OPT_JSON, "json", 0, "FILE", "with -o FILE.spv: what running the modules takes"},
    {OPT_TARGET, "target", 0, "TRIPLE", "for another machine (this one's)"},
    {OPT_CPU, "cpu", 0, "A,B", "processors, the plainest first; several: the entry asks which it runs on (x86-64-v3)"},
    {OPT_STRICT, "strict", 0, NULL, "contract no product with a sum, split no f32 kernel into two passes"},
    {OPT_NO_FMA, "no-fma", 0, NULL, "contract no product with a sum, but do split kernels"},
    {OPT_LAYOUT, "layout", 0, "NAME=planar|bgra", "how an input or output lies in memory (interleaved); for Vulkan also image, sampled"},
    {OPT_PIPE, "pipe", 'p', "NAME", "this pipe only"},
    {OPT_SKIP, "skip", 0, "PASS", "leave an exact pass out"},
    {OPT_TILE, "tile", 0, "WxH", "column block and strip height; on Vulkan the tile of a workgroup"},
    {OPT_STREAM, "stream", 0, "always|never", "store rows past the caches, or don't (chosen from sizes at run time)"},
    {OPT_NO_TUNE, "no-tune", 0, NULL, "without what `halo tune` found (SCRIPT.tune)"},
    {OPT_NO_FUSE, "no-fuse", 0, NULL, "every stage is stored (test switch)"},
    {OPT_FORCE_BORDER, "force-border", 0, NULL, "every read goes through its border map (test switch)"},
    {0}};

static void help(void)
{
    options_help(rows, "halo build SCRIPT -o FILE [--header FILE]",
                 "Compiles all pipes of a script to a library that depends on nothing, and its C header.",
                 "  halo build examples/unsharp.pipe -o libunsharp.a --header unsharp.h\n"
                 "  cc app.c libunsharp.a\n"
                 "  halo build examples/unsharp.pipe --vulkan -o libunsharp_vulkan.a --header unsharp_vulkan.h\n"
                 "  halo build examples/unsharp.pipe -o unsharp.spv --json unsharp.json\n");
}

typedef struct build_line {
    const char  *output, *header, *json;
    bool         help, no_tune;
    uint64_t     given;              /* a bit per option */
    halo_options compile;
    strings      cpus, layouts, skip;
} build_line;

static bool parse_option(build_line *line, int id, const char *value, report *r)
{
    halo_options *c = &line->compile;
    if (id == OPTION_HELP)
        return line->help = true;
    line->given |= (uint64_t)1 << id;
    switch (id) {
    case OPT_VULKAN:       c->for_vulkan = 1; return true;
    case OPT_JSON:         line->json = value; return true;
    case OPT_OUTPUT:       line->output = value; return true;
    case OPT_HEADER:       line->header = value; return true;
    case OPT_TARGET:       c->target = value; return true;
    case OPT_CPU:          strings_add_parts(&line->cpus, value); return true;
    case OPT_STRICT:       c->strict = 1; return true;
    case OPT_NO_FMA:       c->no_fma = 1; return true;
    case OPT_LAYOUT:       strings_add_parts(&line->layouts, value); return true;
    case OPT_PIPE:         c->pipe = value; return true;
    case OPT_SKIP:         strings_add(&line->skip, value); return true;
    case OPT_TILE:         return parse_tile(r, value, &c->tile_width, &c->tile_rows);
    case OPT_STREAM:       return parse_stream(r, value, &c->stream);
    case OPT_NO_TUNE:      line->no_tune = true; return true;
    case OPT_NO_FUSE:      c->no_fuse = 1; return true;
    case OPT_FORCE_BORDER: c->force_border = 1; return true;
    }
    return false;
}

/* ---- shared libraries ------------------------------------------------------------------------ */

/* Runs `cc -shared -o TO FROM`; false was reported. */
static bool link_shared(report *r, const char *from, const char *to)
{
    pid_t child = fork();
    if (child == 0) {
        execlp("cc", "cc", "-shared", "-o", to, from, (char *)NULL);
        _exit(errno == ENOENT ? 127 : 126);
    }
    int status;
    if (child < 0 || waitpid(child, &status, 0) != child) {
        report_error(r, "cc could not be started: %s", strerror(errno));
        return false;
    }
    if (WIFEXITED(status) && WEXITSTATUS(status) == 127)
        report_error(r, "a .so is linked by `cc`, and there is none on this machine: install a C compiler, or build a .a or .o");
    else if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
        report_error(r, "cc could not link %s", to);
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

/* Object and library are made in a folder of their own; the library takes its name when it is whole. */
static int write_shared(report *r, const char *path, const void *object, size_t n_bytes)
{
    halo_message error;
    const char *base = getenv("TMPDIR");
    char folder[512], from[sizeof folder + 16], to[sizeof folder + 16];
    snprintf(folder, sizeof folder, "%s/halo-XXXXXX", base && *base ? base : P_tmpdir);
    if (!mkdtemp(folder))
        return report_error(r, "no temporary folder: %s", strerror(errno));
    snprintf(from, sizeof from, "%s/halo.o", folder);
    snprintf(to, sizeof to, "%s/halo.so", folder);
    int status = EXIT_PROBLEM;
    if (halo_write_file(from, object, n_bytes, &error) != HALO_OK)
        report_error(r, "%s", error.text);
    else if (link_shared(r, from, to)) {
        size_t n_library;
        void *library = halo_read_file(to, &n_library, &error);
        bool done = library && halo_write_file(path, library, n_library, &error) == HALO_OK;
        status = done ? EXIT_FINE : report_error(r, "%s", error.text);
        halo_free(library);
        if (done && chmod(path, 0755) != 0)
            status = report_error(r, "%s: %s", path, strerror(errno));
    }
    unlink(from);
    unlink(to);
    rmdir(folder);
    return status;
}

/* ---- files ----------------------------------------------------------------------------------- */

static int write_file(report *r, const char *path, const void *bytes, size_t n_bytes)
{
    halo_message error;
    return halo_write_file(path, bytes, n_bytes, &error) == HALO_OK ? EXIT_FINE : report_error(r, "%s", error.text);
}

/* Diagnostics are shown in the end. */
static int report_failure(report *r, const halo_message *error)
{
    return error->text[0] ? report_error(r, "%s", error->text) : EXIT_PROBLEM;
}

static int write_header(report *r, halo_program *program, const char *path)
{
    halo_message error;
    const char *slash = strrchr(path, '/');
    char *text = halo_build_header(program, NULL, slash ? slash + 1 : path, &error);
    if (!text)
        return report_failure(r, &error);
    int status = write_file(r, path, text, strlen(text));
    halo_free(text);
    return status;
}

static int write_text(report *r, halo_program *program, const char *path, const char *stage)
{
    halo_message error;
    char *text = halo_build_text(program, NULL, stage, &error);
    if (!text)
        return report_failure(r, &error);
    int status = write_file(r, path, text, strlen(text));
    halo_free(text);
    return status;
}

static int write_library(report *r, halo_program *program, const char *path)
{
    halo_message error;
    size_t n_bytes, n_archive;
    void *object = halo_build_object(program, NULL, &n_bytes, &error);
    if (!object)
        return report_failure(r, &error);
    int status;
    if (ends_with(path, ".so")) {
        status = write_shared(r, path, object, n_bytes);
    } else if (ends_with(path, ".a")) {
        void *archive = archive_of_object(object, n_bytes, &n_archive);
        status = archive ? write_file(r, path, archive, n_archive)
                         : report_error(r, "%s: a .a is made for 64-bit ELF targets only; build a .o", path);
        free(archive);
    } else {
        status = write_file(r, path, object, n_bytes);
    }
    halo_free(object);
    return status;
}

/* x.spv for one kernel; for several x.1.spv, x.2.spv ... */
static int write_modules(report *r, halo_program *program, const char *path)
{
    halo_message error;
    size_t n_bytes, n_second, stem = strlen(path) - strlen(".spv");
    char *module = halo_build_spirv(program, NULL, 0, &n_bytes, &error);
    char *second = module ? halo_build_spirv(program, NULL, 1, &n_second, &error) : NULL;
    if (!second)
        return halo_free(module), report_failure(r, &error);
    int status = EXIT_FINE;
    for (size_t k = 0; status == EXIT_FINE && n_bytes > 0; k++) {
        char *name = must(malloc(strlen(path) + 32));
        sprintf(name, n_second > 0 ? "%.*s.%zu.spv" : "%.*s.spv", (int)stem, path, k + 1);
        status = write_file(r, name, module, n_bytes);
        free(name);
        halo_free(module);
        module = halo_build_spirv(program, NULL, k + 1, &n_bytes, &error);
        if (!module)
            status = report_failure(r, &error);
    }
    halo_free(module);
    halo_free(second);
    return status;
}

static int write_json(report *r, halo_program *program, const char *path, const char *module)
{
    halo_message error;
    const char *slash = strrchr(module, '/');
    char *text = halo_build_spirv_json(program, NULL, slash ? slash + 1 : module, &error);
    if (!text)
        return report_failure(r, &error);
    int status = write_file(r, path, text, strlen(text));
    halo_free(text);
    return status;
}

static int write_output(report *r, halo_program *program, const char *path)
{
    if (ends_with(path, ".h"))
        return write_header(r, program, path);
    if (ends_with(path, ".ll") || ends_with(path, ".s"))
        return write_text(r, program, path, ends_with(path, ".s") ? "asm" : "llvm");
    return ends_with(path, ".spv") ? write_modules(r, program, path) : write_library(r, program, path);
}

static int build(report *r, const build_line *line, const char *script)
{
    halo_program *program = open_script(r, script, &line->compile, !line->no_tune && !line->compile.for_vulkan);
    if (!program)
        return EXIT_PROBLEM;
    size_t before = halo_program_diagnostic_count(program);
    int status = EXIT_FINE;
    if (halo_program_pipe_count(program) == 0)
        status = report_error(r, "%s: the script has no pipe to build", script);
    else if (line->output)
        status = write_output(r, program, line->output);
    if (status == EXIT_FINE && line->header)
        status = write_header(r, program, line->header);
    if (status == EXIT_FINE && line->json)
        status = write_json(r, program, line->json, line->output);
    report_later(r, program, before);
    halo_program_free(program);
    return status;
}

static bool check_output(report *r, const char *path)
{
    static const char *const endings[] = {".a", ".so", ".o", ".h", ".ll", ".s", ".spv"};
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++)
        if (ends_with(path, endings[i]))
            return true;
    report_usage(r, "%s: the name has to end in .a .so .o .h .ll .s or .spv", path);
    return false;
}

/* Options that don't go together. */
static bool check_line(report *r, build_line *line)
{
    static const int of_processors[] = {OPT_CPU, OPT_STREAM, OPT_NO_TUNE, 0};
    const char *out = line->output;
    bool modules = out && ends_with(out, ".spv");
    if (!out && !line->header)
        return report_usage(r, "where to? -o FILE.a"), false;
    if (out && !check_output(r, out))
        return false;
    if (line->json && !modules)
        return report_usage(r, "--json describes SPIR-V: add -o FILE.spv"), false;
    if (modules && line->header)
        return report_usage(r, "a header goes with a library: add --vulkan -o FILE.a, or leave it out"), false;
    line->compile.for_vulkan |= modules;
    if (!line->compile.for_vulkan)
        return true;
    if (out && (ends_with(out, ".ll") || ends_with(out, ".s")))
        return report_usage(r, "%s: Vulkan's code is SPIR-V: -o FILE.spv, or `halo show --stage spirv --on vulkan` for its text", out), false;
    return check_places(r, rows, line->given, of_processors, "is for the processor: leave it out, or build without --vulkan");
}

int command_build(int argc, char **argv)
{
    report r = {0};
    options o;
    build_line line = {.compile.engine = HALO_ENGINE_NONE};
    const char *value;
    int rest, id;
    options_begin(&o, rows, argc, argv, &r);
    while ((id = options_next(&o, &value, &rest)) != OPTION_END)
        if (id == OPTION_BAD || !parse_option(&line, id, value, &r))
            return EXIT_USAGE;
    if (line.help)
        return help(), EXIT_FINE;
    if (argc - rest != 1)
        return report_usage(&r, "build takes one script; `halo build --help` shows how");
    if (!check_line(&r, &line))
        return EXIT_USAGE;
    line.compile.cpus = line.cpus.items;
    line.compile.n_cpus = line.cpus.count;
    line.compile.layouts = line.layouts.items;
    line.compile.n_layouts = line.layouts.count;
    line.compile.skip = line.skip.items;
    line.compile.n_skip = line.skip.count;
    return build(&r, &line, argv[rest]);
}
