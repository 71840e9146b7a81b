/* SPDX-License-Identifier: MIT
 * Tuning: choices of the cost model that a measurement made better. schedule_shape.c and plan_write.c ask here once they have
 * chosen; what nothing asked for doesn't fit the script any more and is said. Everything that is chosen here keeps every bit. */
#include "backends/cpu/emit.h"

#include <assert.h>
#include <string.h>

#define CHOICE(word, operands, lowest, highest, meaning) enum { MOST_##word = highest };
#include "backends/cpu/choices.def"
#undef CHOICE
static_assert((int)MOST_rows == EMIT_MAX_ROWS && (int)MOST_vectors == EMIT_MAX_UNROLL, "what can be emitted");

enum { SHORT_CODE = 1200 };           /* vector nodes of a step: beyond that code is long and slow to compile */

/* The choices for this pipe and processor, or NULL. */
static const cpu_tuning *tuning_of(const cpu_schedule *s)
{
    for (int k = 0; k < s->options->n_tunings && s->target.cpu; k++) {
        const cpu_tuning *t = &s->options->tunings[k];
        if (strcmp(t->pipe, s->pipe->name) == 0 && strcmp(t->cpu, s->target.cpu) == 0) return t;
    }
    return NULL;
}

/* The choice for this name, else the one for all; marked as used. */
static const cpu_choice *find_choice(cpu_schedule *s, cpu_choice_kind kind, const char *name)
{
    const cpu_tuning *t = tuning_of(s);
    const cpu_choice *found = NULL;
    if (!t) return NULL;
    if (!s->choices_used) s->choices_used = ARENA_ARRAY(s->memory, bool, t->n_choices);
    for (int k = 0; k < t->n_choices; k++) {
        const cpu_choice *c = &t->choices[k];
        bool all = strcmp(c->name, "*") == 0;
        if (c->kind != kind || (!all && strcmp(c->name, name) != 0)) continue;
        s->choices_used[k] = true;
        if (!found || !all) found = c;
    }
    return found;
}

bool tuning_wants_planes(cpu_schedule *s, const cpu_stage *c)
{
    return find_choice(s, CHOICE_planes, stage_at(s->pipe, c->stage)->name) != NULL;
}

static int code_length(const cpu_schedule *s, const cpu_stage *c, int rows, int vectors)
{
    return c->vector_nodes * rows * vectors * (c->flat ? 1 : stage_at(s->pipe, c->stage)->type.lanes);
}

/* Lanes as many as fit, or half of that: others are for no machine, or were measured for another body. */
static bool lanes_fit(const cpu_stage *c, int lanes) { return lanes == c->most_lanes || (lanes > 1 && 2 * lanes == c->most_lanes); }

void tuning_shape(cpu_schedule *s, cpu_stage *c)
{
    const tensor_stage *t = stage_at(s->pipe, c->stage);
    const cpu_choice *lanes = c->phases ? NULL : find_choice(s, CHOICE_lanes, t->name);        /* phases are joined to rows in one way only */
    if (lanes && lanes_fit(c, lanes->value)) c->lanes = lanes->value;
    else if (lanes && lanes->name[0] != '*') s->choices_used[lanes - tuning_of(s)->choices] = false;
    const cpu_choice *rows = t->rank > 1 && !c->phases ? find_choice(s, CHOICE_rows, t->name) : NULL, *vectors = find_choice(s, CHOICE_vectors, t->name);
    if (rows && (rows->name[0] != '*' || code_length(s, c, rows->value, 1) <= SHORT_CODE)) c->group = rows->value;
    if (vectors && (vectors->name[0] != '*' || code_length(s, c, c->group, vectors->value) <= SHORT_CODE)) c->unroll = vectors->value;
    if (c->phases) c->phases->as->unroll = c->unroll;
}

void tuning_plan(cpu_schedule *s, int32_t *tile_width, int32_t *tile_rows, int32_t *stream)
{
    const cpu_choice *tile = find_choice(s, CHOICE_tile, ""), *past = find_choice(s, CHOICE_stream, "");
    if (tile && *tile_width == 0) *tile_width = tile->value;
    if (tile && *tile_rows == 0) *tile_rows = tile->rows;
    if (past && *stream == PLAN_STREAM_chosen) *stream = past->value;
}

void tuning_check(cpu_schedule *s, diags *d)
{
    const cpu_tuning *t = tuning_of(s);
    bool other_stages = s->options->no_fuse || s->options->force_border;       /* test switches make stages of their own */
    for (int k = 0; t && k < t->n_choices && !other_stages; k++) {
        const cpu_choice *c = &t->choices[k];
        if (c->name[0] == 0 || c->kind == CHOICE_skip || strcmp(c->name, "*") == 0 || (s->choices_used && s->choices_used[k])) continue;
        const char **names = ARENA_ARRAY(s->memory, const char *, s->pipe->stages.count);
        for (uint32_t j = 1; j < s->pipe->stages.count; j++) names[j - 1] = stage_at(s->pipe, j)->name;
        const char *near = nearest_name(c->name, names, s->pipe->stages.count - 1);
        diag_add(d, DIAG_W0702, c->where, "`%s` has no stage `%s` (any more) for which `%s` can be chosen", s->pipe->name, c->name, c->word);
        if (near && strcmp(near, c->name) != 0) diag_help(d, "did you mean `%s`?", near);
        diag_help(d, "run `halo tune` again, or delete the line; --no-tune leaves the file out");
    }
}

/* ---- what else could be chosen ------------------------------------------------------------------------------------------ */

static void stage_choices(cpu_schedule *s, const cpu_stage *c, text *out)
{
    static const int counts[] = { 1, 2, 4, 8 };
    const tensor_stage *t = stage_at(s->pipe, c->stage);
    if (c->flat && t->type.lanes > 1) text_printf(out, "planes %s\n", t->name);
    for (int lanes = c->most_lanes; !c->phases && lanes_fit(c, lanes); lanes /= 2) if (lanes != c->lanes) text_printf(out, "lanes %s %d\n", t->name, lanes);
    for (int k = 0; k < 4 && t->rank > 1 && !c->phases; k++)
        if (counts[k] != c->group && code_length(s, c, counts[k], c->unroll) <= SHORT_CODE) text_printf(out, "rows %s %d\n", t->name, counts[k]);
    for (int k = 0; k < 4; k++)
        if (counts[k] != c->unroll && code_length(s, c, c->group, counts[k]) <= SHORT_CODE) text_printf(out, "vectors %s %d\n", t->name, counts[k]);
}

void tuning_alternatives(cpu_schedule *s, text *out)
{
    static const char *const whole[] = { "tile 256x0", "tile 512x0", "tile 1024x0", "tile 2048x0", "tile 0x16", "tile 0x64", "stream always",
                                         "stream never", "rows * 1", "rows * 2", "rows * 4", "vectors * 1", "vectors * 2", "vectors * 4" };
    for (size_t k = 0; k < sizeof whole / sizeof *whole; k++) text_printf(out, "%s\n", whole[k]);
    for (uint32_t k = 0; k < s->sections.count; k++)
        for (uint32_t j = 0; j < s->sections.items[k].stages.count; j++) {
            const cpu_stage *c = &s->sections.items[k].stages.items[j];
            if (!c->loader && stage_at(s->pipe, c->stage)->rank > 1) stage_choices(s, c, out);
        }
}

void tuning_explain(cpu_schedule *s, text *out)
{
    const cpu_tuning *t = tuning_of(s);
    if (t) text_printf(out, "  tuned for %s%s%s:", t->cpu, t->measured[0] ? ", " : "", t->measured);
    for (int k = 0; t && k < t->n_choices; k++) text_printf(out, "%s %s", k ? "," : "", t->choices[k].line);
    if (t) text_string(out, t->n_choices ? "\n" : " nothing\n");
    for (int k = 0; k < s->options->n_tunings; k++) {
        const cpu_tuning *other = &s->options->tunings[k];
        if (other == t || strcmp(other->pipe, s->pipe->name) != 0) continue;
        text_printf(out, "  the choices for %s are not for %s\n", other->cpu, s->target.cpu);
    }
}

void tuning_json(cpu_schedule *s, text *out)
{
    const cpu_tuning *t = tuning_of(s);
    for (int k = 0; t && k < t->n_choices; k++) text_printf(out, "%s\"%s\"", k ? ", " : "", t->choices[k].line);
}
