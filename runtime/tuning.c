/* SPDX-License-Identifier: MIT
 * Tuning files, which `halo tune` writes beside a script:
 *
 *   halo tuning 1
 *   pipe sharp cpu znver4 measured 1920x1080, 1 thread: 4.1 ms, before 5.2 ms
 *   skip inline
 *   rows * 4
 *   vectors blurred 2
 *
 * Lines of choices (backends/cpu/choices.def) under the pipe and the processor that they were measured for; # starts a comment.
 * What isn't understood is an error; what doesn't fit the script any more a warning, since no choice changes a bit. */
#include "runtime/program.h"

#include <stdlib.h>
#include <string.h>

typedef enum operands { OPERANDS_stage, OPERANDS_flag, OPERANDS_tile, OPERANDS_stream, OPERANDS_pass } operands;

static const struct { const char *word; operands operands; int32_t lowest, highest; const char *form; } kinds[N_CHOICES] = {
#define FORM_stage "STAGE NUMBER"
#define FORM_flag  "STAGE"
#define FORM_tile  "WIDTHxROWS"
#define FORM_stream "always|never"
#define FORM_pass  "PASS"
#define CHOICE(word, operands, lowest, highest, meaning) {#word, OPERANDS_##operands, lowest, highest, #word " " FORM_##operands},
#include "backends/cpu/choices.def"
#undef CHOICE
};

enum { MOST_WORDS = 5 };               /* words are cut behind the last that matters: what was measured stays one */

typedef struct line_reader {
    halo_program *program;
    uint32_t      source;
    const char   *text;
    const char   *words[MOST_WORDS];
    int           n_words;
    span          where;
    LIST(cpu_tuning) tunings;
    LIST(cpu_choice) choices;          /* of the last pipe */
} line_reader;

static void *not_understood(line_reader *r, const char *form)
{
    diag_add(&r->program->messages, DIAG_E0702, r->where, "this line of a tuning file isn't understood");
    diag_help(&r->program->messages, "write `%s`, or run `halo tune` again; --no-tune leaves the file out", form);
    return NULL;
}

/* The next line without comments, cut into words; false at the end. */
static bool next_line(line_reader *r, const char **at)
{
    arena *memory = r->program->memory;
    for (r->n_words = 0; **at && r->n_words == 0; *at += **at == '\n') {
        const char *start = *at, *end = start + strcspn(start, "#\r\n");
        *at += strcspn(start, "\n");
        while (end > start && end[-1] == ' ')
            end--;
        for (const char *word = start; (word += strspn(word, " \t")) < end;) {
            size_t n = r->n_words == MOST_WORDS - 1 ? (size_t)(end - word) : strcspn(word, " \t#\r\n");
            r->words[r->n_words++] = arena_string(memory, word, n);
            word += n;
        }
        r->where = (span){r->source, (uint32_t)(start - r->text), (uint32_t)(end - r->text)};
    }
    return r->n_words > 0;
}

static void end_pipe(line_reader *r)
{
    if (r->tunings.count == 0)
        return;
    cpu_tuning *last = &r->tunings.items[r->tunings.count - 1];
    last->choices = r->choices.items;
    last->n_choices = (int)r->choices.count;
    memset(&r->choices, 0, sizeof r->choices);
}

/* Letters, digits and what else names of stages, pipes, passes and processors have. */
static bool is_name(const char *word)
{
    return word[strspn(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-")] == '\0' || strcmp(word, "*") == 0;
}

static void read_pipe(line_reader *r)
{
    if (r->n_words < 4 || !is_name(r->words[1]) || !is_name(r->words[3]) || strcmp(r->words[2], "cpu") != 0) {
        not_understood(r, "pipe NAME cpu PROCESSOR");
        return;
    }
    end_pipe(r);
    LIST_PUSH(r->program->memory, r->tunings, ((cpu_tuning){r->words[1], r->words[3], r->n_words > 4 ? r->words[4] : "", r->where, NULL, 0}));
}

/* A whole number in low..high; what follows it is in *rest. */
static bool read_number(const char *text, int32_t low, int32_t high, int32_t *value, const char **rest)
{
    char *end;
    long number = strtol(text, &end, 10);
    *value = (int32_t)number;
    *rest = end;
    return end != text && number >= low && number <= high;
}

static bool read_stream(const char *word, int32_t *value)
{
    *value = strcmp(word, "always") == 0 ? CPU_STREAM_always : CPU_STREAM_never;
    return *value == CPU_STREAM_always || strcmp(word, "never") == 0;
}

static void read_choice(line_reader *r)
{
    int k = 0;
    while (k < N_CHOICES && strcmp(kinds[k].word, r->words[0]) != 0)
        k++;
    if (k == N_CHOICES) {
        const char *names[N_CHOICES];
        for (int i = 0; i < N_CHOICES; i++)
            names[i] = kinds[i].word;
        const char *near = nearest_name(r->words[0], names, N_CHOICES);
        not_understood(r, near ? near : "rows STAGE NUMBER");
        return;
    }
    cpu_choice c = {.kind = (cpu_choice_kind)k, .word = kinds[k].word, .name = "", .where = r->where};
    const char *rest = "";
    operands form = kinds[k].operands;
    bool good = r->n_words == (form == OPERANDS_stage ? 3 : 2) && r->tunings.count > 0 && is_name(r->words[1]);
    if (good && form == OPERANDS_stage)
        good = read_number(r->words[2], kinds[k].lowest, kinds[k].highest, &c.value, &rest) && !*rest;
    else if (good && form == OPERANDS_tile)
        good = read_number(r->words[1], 0, 1 << 30, &c.value, &rest) && *rest == 'x' && read_number(rest + 1, 0, 1 << 30, &c.rows, &rest) && !*rest;
    else if (good && form == OPERANDS_stream)
        good = read_stream(r->words[1], &c.value);
    if (!good) {
        not_understood(r, r->tunings.count == 0 ? "pipe NAME cpu PROCESSOR` before it, then `rows STAGE NUMBER" : kinds[k].form);
        return;
    }
    if (form != OPERANDS_tile && form != OPERANDS_stream)
        c.name = r->words[1];
    c.line = arena_string(r->program->memory, r->text + r->where.start, r->where.end - r->where.start);
    pass_id pass = form == OPERANDS_pass ? pass_find(c.name) : PASS_COUNT;
    if (form == OPERANDS_pass && (pass == PASS_COUNT || pass_get(pass)->kind != PASS_KIND_exact)) {
        diag_add(&r->program->messages, DIAG_W0702, r->where, "there is no exact pass `%s` (any more)", c.name);
        diag_help(&r->program->messages, "run `halo tune` again, or delete the line; --no-tune leaves the file out");
        return;
    }
    LIST_PUSH(r->program->memory, r->choices, c);
}

void tuning_read(halo_program *program)
{
    const halo_options *o = &program->options;
    if (!o->tuning)
        return;
    line_reader r = {.program = program};
    r.source = diags_add_source(&program->messages, o->tuning_name ? o->tuning_name : "tuning", o->tuning, strlen(o->tuning));
    r.text = program->messages.sources.items[r.source].text;
    const char *at = r.text;
    if (!next_line(&r, &at) || r.n_words != 3 || strcmp(r.words[0], "halo") || strcmp(r.words[1], "tuning") || strcmp(r.words[2], "1")) {
        diag_add(&program->messages, DIAG_E0702, r.where.source ? r.where : (span){r.source, 0, 0}, "this is no tuning file, or of another version");
        diag_help(&program->messages, "its first line is `halo tuning 1`; run `halo tune` again; --no-tune leaves the file out");
        return;
    }
    while (next_line(&r, &at))
        if (strcmp(r.words[0], "pipe") == 0)
            read_pipe(&r);
        else
            read_choice(&r);
    end_pipe(&r);
    program->tunings = r.tunings.items;
    program->n_tunings = (int)r.tunings.count;
}

void tuning_check_pipes(halo_program *program, const char *const *names, uint32_t n_names)
{
    for (int k = 0; k < program->n_tunings; k++) {
        const cpu_tuning *t = &program->tunings[k];
        bool known = !program->script;                         /* IR has one pipe, whatever its name */
        for (uint32_t i = 0; i < n_names; i++)
            known = known || strcmp(names[i], t->pipe) == 0;
        if (known)
            continue;
        const char *near = nearest_name(t->pipe, names, n_names);
        diag_add(&program->messages, DIAG_W0702, t->where, "the script has no pipe `%s` (any more)", t->pipe);
        if (near)
            diag_help(&program->messages, "did you mean `%s`?", near);
        diag_help(&program->messages, "run `halo tune` again, or delete the lines of that pipe; --no-tune leaves the file out");
    }
}

/* Whether the tuning of a pipe for one processor leaves a pass out. */
static bool skips(const halo_program *program, const char *pipe, const char *cpu, pass_id pass)
{
    for (int k = 0; k < program->n_tunings; k++) {
        const cpu_tuning *t = &program->tunings[k];
        for (int i = 0; i < t->n_choices && strcmp(t->pipe, pipe) == 0 && strcmp(t->cpu, cpu) == 0; i++)
            if (t->choices[i].kind == CHOICE_skip && pass_find(t->choices[i].name) == pass)
                return true;
    }
    return false;
}

const char *tuning_processor(const halo_program *program, size_t which, const char *cpu)
{
    const halo_options *o = &program->options;
    const char *name = which < o->n_cpus ? o->cpus[which] : cpu;
    return strcmp(name, "native") == 0 ? cpu_native_name(program->memory) : name;
}

void tuning_skips(halo_program *program, const char *pipe, const char *cpu, bool *skip)
{
    size_t n = program->options.n_cpus > 0 ? program->options.n_cpus : 1;
    for (int id = 0; id < PASS_COUNT && program->n_tunings > 0; id++) {
        bool all = pass_get((pass_id)id)->kind == PASS_KIND_exact;
        for (size_t k = 0; k < n && all; k++)
            all = skips(program, pipe, tuning_processor(program, k, cpu), (pass_id)id);
        skip[id] = skip[id] || all;
    }
}
