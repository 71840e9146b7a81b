/* SPDX-License-Identifier: MIT
 * Random pipes on a Vulkan device, held bit for bit against the interpreter, whatever a trial switches (trial.h).
 *
 *     vulkan_trials random FIRST COUNT      random tensor IR, of seeds FIRST ...
 *     vulkan_trials scripts FILE            lines of SEED SCRIPT PIPE input=WxH ... parameter:value ...
 *
 * A line may ask for several trials (SEED..LAST); a script's name counts from the file's folder. `#` starts a comment.
 *
 * A failure says which of the switches it needs, and how it is repeated. One process and one device for all: they cost more to
 * start than a trial takes. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "runtime/program.h"
#include "support_pipe.h"
#include "trial.h"

enum { MOST_PARAMETERS = 64, MOST_WORDS = 64, LINE_BYTES = 4096 };

typedef struct counts { int run, refused, failed; } counts;

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void report(test_device *d, const trial *t, const trial_choices *choices, const char *why, const char *repeat)
{
    text all = { 0 }, least = { 0 }, ir = { 0 };
    trial_choices needed = trial_blame(d, t, choices);
    trial_print_choices(choices, &all);
    trial_print_choices(&needed, &least);
    tensor_print(t->pipe, &ir);
    printf("%.*s\nFAILED %s\n  %s\n  with %.*s\n  needs %.*s\n", (int)ir.count, ir.bytes, repeat, why, (int)all.count, all.bytes,
           (int)least.count, least.bytes);
    fflush(stdout);
    text_free(&all);
    text_free(&least);
    text_free(&ir);
}

static void judge(test_device *d, const trial *t, const char *repeat, counts *n)
{
    text why = { 0 };
    trial_choices choices = trial_choose(t);
    double started = seconds();
    trial_result result = trial_run(d, t, &choices, &why);
    if (getenv("HALO_TRIALS_LOUD")) fprintf(stderr, "%s: %.2f s\n", repeat, seconds() - started);
    n->run++;
    n->refused += result == TRIAL_refused;
    n->failed += result == TRIAL_wrong;
    text_add(&why, "", 1);
    if (result == TRIAL_wrong) report(d, t, &choices, why.bytes, repeat);
    text_free(&why);
}

/* ---- random tensor IR --------------------------------------------------------------------------------------------- */

static void try_random(test_device *d, uint64_t seed, counts *n)
{
    arena *memory = arena_new(NULL);
    diags messages;
    diags_init(&messages, memory);
    pass_options passes = { .stop_after = PASS_COUNT };
    tensor_pipe *p = random_pipe(memory, seed);
    p->strict = true;
    vulkan_skips(passes.skip);
    if (!passes_run(&p, &passes, &messages)) {
        printf("FAILED: random %llu: the passes\n", (unsigned long long)seed);
        n->failed++;
    } else {
        int width, height;
        random_pipe_size(seed, &width, &height);
        int32_t extents[1][TENSOR_MAX_RANK] = { { width, height, 1, 1, 1 } };
        trial t = { .pipe = p, .seed = seed, .extents = extents };
        judge(d, &t, arena_printf(memory, "vulkan_trials random %llu 1", (unsigned long long)seed), n);
    }
    arena_free(memory);
}

/* ---- scripts -------------------------------------------------------------------------------------------------------- */

typedef struct line { uint64_t seed, last; const char *script, *pipe; char *words[MOST_WORDS]; int n_words; } line;

static bool read_line(char *text, line *out)
{
    char *at = NULL;
    *out = (line){ 0 };
    for (char *word = strtok_r(text, " \n", &at); word && out->n_words < MOST_WORDS; word = strtok_r(NULL, " \n", &at))
        out->words[out->n_words++] = word;
    if (out->n_words < 3 || out->words[0][0] == '#') return false;
    char *end;
    out->seed = out->last = strtoull(out->words[0], &end, 10);
    if (strncmp(end, "..", 2) == 0) out->last = strtoull(end + 2, NULL, 10);
    out->script = out->words[1];
    out->pipe = out->words[2];
    return true;
}

static bool read_extents(const halo_signature *s, const line *l, int32_t (*extents)[TENSOR_MAX_RANK])
{
    for (size_t k = 0; k < s->n_inputs; k++) {
        size_t length = strlen(s->inputs[k].name);
        const char *at = NULL;
        for (int w = 3; w < l->n_words; w++)
            if (strncmp(l->words[w], s->inputs[k].name, length) == 0 && l->words[w][length] == '=') at = l->words[w] + length;
        for (int d = 0; d < TENSOR_MAX_RANK; d++) {
            extents[k][d] = 1;
            if (d >= s->inputs[k].rank) continue;
            if (!at || !*at) return false;
            extents[k][d] = (int32_t)strtol(at + 1, (char **)&at, 10);
        }
    }
    return true;
}

static bool read_parameters(halo_pipe *pipe, const line *l, uint32_t (*bits)[TENSOR_MAX_LANES])
{
    halo_message error = { 0 };
    halo_arguments *arguments = halo_arguments_new(pipe);
    bool good = arguments != NULL;
    for (int w = 3; w < l->n_words && good; w++) {
        char *colon = strchr(l->words[w], ':');
        if (!colon) continue;
        *colon = 0;
        good = halo_arguments_set_text(arguments, l->words[w], colon + 1, &error) == HALO_OK;
        *colon = ':';
    }
    good = good && arguments_bits(pipe, arguments, bits, &error);
    halo_arguments_free(arguments);
    if (!good) printf("%s\n", error.text);
    return good;
}

static bool try_program(test_device *d, halo_program *program, const line *l, const char *repeat, counts *n)
{
    int32_t extents[TRIAL_MOST_PICTURES][TENSOR_MAX_RANK];
    uint32_t bits[MOST_PARAMETERS][TENSOR_MAX_LANES] = { { 0 } };
    halo_pipe *pipe = halo_program_find_pipe(program, l->pipe);
    if (!pipe || !read_extents(halo_pipe_signature(pipe), l, extents) || !read_parameters(pipe, l, bits)) return false;
    tensor_pipe *ir = pipe->ir;
    if (!program_run_passes(program, &ir, NULL, "native")) return false;
    for (uint64_t seed = l->seed; seed <= l->last; seed++) {
        char with_seed[LINE_BYTES + 128];
        trial t = { .pipe = ir, .seed = seed, .extents = extents, .params = bits };
        snprintf(with_seed, sizeof with_seed, "vulkan_trials scripts, with the line: %llu%s", (unsigned long long)seed, repeat);
        judge(d, &t, with_seed, n);
    }
    return true;
}

/* `folder` ends with a slash, or is empty. */
static void try_script(test_device *d, char *text, const char *folder, counts *n)
{
    line l;
    char repeat[LINE_BYTES], path[LINE_BYTES + LINE_BYTES];
    snprintf(repeat, sizeof repeat, "%s", text + strcspn(text, " \n"));
    repeat[strcspn(repeat, "\n")] = 0;
    if (!read_line(text, &l)) return;
    snprintf(path, sizeof path, "%s%s", l.script[0] == '/' ? "" : folder, l.script);
    halo_options options = { .engine = HALO_ENGINE_NONE, .for_vulkan = 1, .pipe = l.pipe };
    halo_program *program = halo_compile_file(path, &options);
    if (!halo_program_ok(program) || !try_program(d, program, &l, repeat, n)) {
        char *messages = halo_program_messages(program);
        printf("FAILED%s\n%s\n", repeat, messages);
        halo_free(messages);
        n->failed++;
    }
    halo_program_free(program);
}

static bool try_scripts(test_device *d, const char *path, counts *n)
{
    static char text[LINE_BYTES], folder[LINE_BYTES];
    const char *slash = strrchr(path, '/');
    snprintf(folder, sizeof folder, "%.*s", slash ? (int)(slash + 1 - path) : 0, path);
    FILE *file = fopen(path, "r");
    if (!file) {
        printf("FAILED: %s can't be read\n", path);
        return false;
    }
    while (fgets(text, sizeof text, file)) try_script(d, text, folder, n);
    fclose(file);
    return true;
}

int main(int argc, char **argv)
{
    test_device d;
    counts n = { 0 };
    double started = seconds();
    bool random = argc == 4 && strcmp(argv[1], "random") == 0, scripts = argc == 3 && strcmp(argv[1], "scripts") == 0;
    if (!random && !scripts) {
        fprintf(stderr, "vulkan_trials random FIRST COUNT, or vulkan_trials scripts FILE\n");
        return 2;
    }
    if (!test_device_open(&d)) return 0;
    uint64_t first = random ? strtoull(argv[2], NULL, 10) : 0, count = random ? strtoull(argv[3], NULL, 10) : 0;
    for (uint64_t seed = first; seed < first + count; seed++) try_random(&d, seed, &n);
    if (scripts && !try_scripts(&d, argv[2], &n)) n.failed++;
    test_device_close(&d);
    printf("%d trials on Vulkan, %d refused, %d failed, %.0f s\n", n.run, n.refused, n.failed, seconds() - started);
    return n.failed > 0 || n.run == 0 || n.refused * 5 > n.run + 5;
}
