/* SPDX-License-Identifier: MIT
 * The schedule as text: `dispatch` (which stages run together), `kernel` (how every stage's rows are made), `explain` (for
 * people: what was fused, buffered and cut, and why). */
#include "backends/cpu/module.h"
#include "lowering/plan_text.h"

#include <string.h>

bool single_text(tensor_pipe *p, const cpu_options *options, bool assembly, text *out, diags *d);

static const char *name_of(cpu_schedule *s, uint32_t stage) { return stage_at(s->pipe, stage)->name; }

/* ---- kernel --------------------------------------------------------------------------------------------------------------- */

static void edge_text(cpu_schedule *s, cpu_section *section, const cpu_edge *e, text *out)
{
    static const char *const KINDS[] = { "rows", "rows gathered", "anywhere" };
    text_printf(out, "    read %%%s %s", e->producer >= 0 ? name_of(s, section_stage(section, e->producer)->stage) : name_of(s, e->stage), KINDS[e->kind]);
    if (e->finds_rows) text_printf(out, " found by the code, y %s", border_name((border)e->border_y));
    else if (e->kind != READ_anywhere) {
        text_printf(out, " y (%d*y + ", e->p_y);
        range_text(s->pipe, e->lo_y, e->hi_y, out);
        text_printf(out, ")//%d %s", e->q_y, border_name((border)e->border_y));
    }
    if (e->kind == READ_row) {
        text_printf(out, " x (%d*x + ", e->p_x);
        range_text(s->pipe, e->lo_x, e->hi_x, out);
        text_printf(out, ")//%d %s", e->q_x, border_name((border)e->border_x));
    }
    text_printf(out, " from %s\n", e->producer >= 0 ? "line" : e->memory >= 0 ? "memory" : "constants");
}

static void stage_text(cpu_schedule *s, cpu_section *section, const cpu_stage *c, text *out)
{
    tensor_stage t = *stage_at(s->pipe, c->stage);
    text_printf(out, "  stage %%%s ", t.name);
    type_text(out, t.type);
    text_string(out, " (");
    for (int d = 0; d < t.rank; d++) { if (d) text_string(out, ", "); range_text(s->pipe, t.lo[d], t.hi[d], out); }
    text_printf(out, ") to %s %s", c->sink ? "memory" : "line", c->apart ? "flat to planes" : c->flat ? "flat" : "planes");
    if (c->planes > 1) text_printf(out, " slab=%d", c->planes);
    text_printf(out, " lanes=%d unroll=%d rows=%d operations=%.0f {\n", c->lanes, c->unroll, c->group, c->operations);
    if (!c->sink && c->border_x != BORDER_none) text_printf(out, "    ends %s\n", border_name((border)c->border_x));
    for (uint32_t k = 0; k < c->edges.count; k++) edge_text(s, section, &c->edges.items[k], out);
    text_string(out, "  }\n");
}

static void kernel_text(cpu_schedule *s, text *out)
{
    for (uint32_t k = 0; k < s->sections.count; k++) {
        cpu_section *section = &s->sections.items[k];
        text_printf(out, "kernel 1 @%s.%u {\n", s->pipe->name, k);
        for (uint32_t j = 0; j < section->stages.count; j++) stage_text(s, section, section_stage(section, (int)j), out);
        text_string(out, "}\n");
    }
}

/* ---- explain -------------------------------------------------------------------------------------------------------------- */

/* Does some load of this edge follow the column? */
static bool varies_along_row(cpu_schedule *s, const cpu_stage *c, int edge)
{
    for (uint32_t k = 0; k < c->loads.count; k++)
        if (c->loads.items[k].edge == edge && (depends_of(s->pipe, &s->all, c->loads.items[k].load)->coords & 1)) return true;
    return false;
}

static void explain_reads(cpu_schedule *s, cpu_section *section, const cpu_stage *c, text *out)
{
    for (uint32_t k = 0; k < c->edges.count; k++) {
        const cpu_edge *e = &c->edges.items[k];
        const char *from = name_of(s, e->producer >= 0 ? section_stage(section, e->producer)->stage : e->stage);
        text_printf(out, "      reads `%s`", from);
        if (e->kind == READ_anywhere) { text_string(out, e->memory < 0 ? ", a table of constants\n" : varies_along_row(s, c, (int)k) ? ", gathered anywhere\n" : ", one value for a whole row\n"); continue; }
        if (e->finds_rows) text_string(out, ", rows computed");
        else if (e->p_y) {
            text_string(out, ", rows ");
            range_text(s->pipe, e->lo_y, e->hi_y, out);
            if (e->q_y != 1) text_printf(out, " of %d*y, divided by %d", e->p_y, e->q_y);
            else if (e->p_y != 1) text_printf(out, " of %d*y", e->p_y);
        }
        if (e->kind == READ_row_gather) text_string(out, ", columns computed");
        else {
            text_string(out, ", columns ");
            range_text(s->pipe, e->lo_x, e->hi_x, out);
            if (e->q_x != 1) text_printf(out, " of %d*x, divided by %d", e->p_x, e->q_x);
            else if (e->p_x != 1) text_printf(out, " of %d*x", e->p_x);
        }
        if (e->border_x || e->border_y) text_printf(out, "; border x %s, y %s", border_name((border)e->border_x), border_name((border)e->border_y));
        text_string(out, "\n");
    }
}

enum { BULK_COLUMNS = 1919 };      /* an odd width, so that what doesn't fit a vector shows */

/* Columns that the vector loops make, of all. The last vector starts early enough to end with the row, except where pixels must
 * not be computed twice because the output may be the input. */
static double bulk_share(cpu_schedule *s, const cpu_stage *c)
{
    if (c->lanes == 1) return 0;
    bool in_place = c->sink && s->memories.items[c->memory].may_alias >= 0;
    int columns = BULK_COLUMNS * (c->flat ? stage_at(s->pipe, c->stage)->type.lanes : 1);
    return in_place ? (double)(columns - columns % c->lanes) / columns : 1;
}

static void explain_stage(cpu_schedule *s, cpu_section *section, const cpu_stage *c, text *out)
{
    tensor_stage t = *stage_at(s->pipe, c->stage);
    text_printf(out, "    `%s` (", t.name);
    type_text(out, t.type);
    text_string(out, c->sink ? "): stored" : c->loader ? c->copies ? "): rows copied for their border, of long ones the ends alone" : "): rows copied for their border" : "): kept in a line buffer");
    if (c->planes > 1) text_printf(out, " whose rows are slabs of %d, one for each of the outer coordinates", c->planes);
    cut_reason why = c->stage < s->n_memory_of ? s->plan.why[c->stage] : CUT_none;
    if (c->sink && why != CUT_none) text_printf(out, ", because %s", cut_text(why));
    if (c->sink && s->plan.because[c->stage]) text_printf(out, " (`%s`)", name_of(s, s->plan.because[c->stage]));
    text_printf(out, "\n      %d vector lanes, %d vector%s a step, %d row%s at once, %s; about %.0f operations a pixel; bulk share %.0f %% of %d columns\n",
                c->lanes, c->unroll, c->unroll == 1 ? "" : "s", c->group, c->group == 1 ? "" : "s",
                c->apart ? "components in one flat line, taken apart when stored" : c->flat && t.type.lanes > 1 ? "components in one flat line" : t.type.lanes > 1 ? "components in planes" : "one component",
                c->operations, 100 * bulk_share(s, c), BULK_COLUMNS);
    if (c->stream_bytes)
        text_printf(out, "      stored past the caches, %d bytes at a time, where %s and memory binds\n", c->stream_bytes,
                    s->memories.items[c->memory].role == MEMORY_scratch ? "it is more than the last cache holds"
                                                                        : "the dispatch reads and writes more than 3/8 of the last cache");
    if (c->phases)
        text_printf(out, "      even and odd %s are made apart\n", c->phases->columns == 1 ? "rows" : c->phases->rows == 1 ? "columns" : "columns and rows");
    explain_reads(s, section, c, out);
}

/* Tables that depend on sizes and parameters alone are made once per run and are no dispatches over a picture. */
static bool is_table(cpu_schedule *s, const cpu_section *section)
{
    return s->plan.why[section->stages.items[section->stages.count - 1].stage] == CUT_table;
}

static void explain_text(cpu_schedule *s, text *out)
{
    uint32_t n_tables = 0, number = 0;
    for (uint32_t k = 0; k < s->sections.count; k++) n_tables += is_table(s, &s->sections.items[k]);
    uint32_t n = s->sections.count - n_tables;
    text_printf(out, "%s: %u dispatch%s", s->pipe->name, n, n == 1 ? "" : "es");
    if (n_tables) text_printf(out, ", and %u table%s made once per run", n_tables, n_tables == 1 ? "" : "s");
    text_string(out, "\n");
    tuning_explain(s, out);
    for (uint32_t k = 0; k < s->sections.count; k++) {
        cpu_section *section = &s->sections.items[k];
        if (is_table(s, section)) text_string(out, "  table\n");
        else text_printf(out, "  dispatch %u: %u stage%s, %d stored\n", number++, section->stages.count, section->stages.count == 1 ? "" : "s", section->n_sinks);
        for (uint32_t j = 0; j < section->stages.count; j++) explain_stage(s, section, section_stage(section, (int)j), out);
    }
    for (uint32_t k = 0; k < s->pipe->notes.count; k++)
        text_printf(out, "  `%s` %s\n", s->pipe->notes.items[k].stage, s->pipe->notes.items[k].text);
}

/* What a stage reads, and how far: the halo. Bounds that depend on parameters are expressions. */
static void json_reads(cpu_schedule *s, cpu_section *section, const cpu_stage *c, text *out)
{
    static const char *const KINDS[] = { "rows", "gathered rows", "anywhere" };
    text_string(out, "[");
    for (uint32_t k = 0; k < c->edges.count; k++) {
        const cpu_edge *e = &c->edges.items[k];
        text_printf(out, "%s{\"from\": \"%s\", \"how\": \"%s\"", k ? ", " : "",
                    name_of(s, e->producer >= 0 ? section_stage(section, e->producer)->stage : e->stage), KINDS[e->kind]);
        if (e->kind != READ_anywhere && !e->finds_rows) {
            text_string(out, ", \"rows\": \"");
            range_text(s->pipe, e->lo_y, e->hi_y, out);
            text_printf(out, "\", \"border_y\": \"%s\"", border_name((border)e->border_y));
        }
        if (e->kind == READ_row) {
            text_string(out, ", \"columns\": \"");
            range_text(s->pipe, e->lo_x, e->hi_x, out);
            text_printf(out, "\", \"border_x\": \"%s\"", border_name((border)e->border_x));
        }
        text_string(out, "}");
    }
    text_string(out, "]");
}

static void json_section(cpu_schedule *s, cpu_section *section, text *out)
{
    text_string(out, "{\"stages\": [");
    for (uint32_t j = 0; j < section->stages.count; j++) {
        const cpu_stage *c = section_stage(section, (int)j);
        cut_reason why = c->sink ? s->plan.why[c->stage] : CUT_none;
        text_printf(out, "%s{\"name\": \"%s\", \"stored\": %s, \"why\": \"%s\", \"lanes\": %d, \"unroll\": %d, \"rows\": %d, \"flat\": %s, "
                         "\"streams\": %d, \"phases\": [%d, %d], \"operations\": %.0f, \"bulk_share\": %.4f, \"loader\": %s, \"reads\": ",
                    j ? ", " : "", name_of(s, c->stage), c->sink ? "true" : "false", c->sink ? cut_text(why) : "", c->lanes, c->unroll, c->group,
                    c->flat ? "true" : "false", c->stream_bytes, c->phases ? c->phases->columns : 1, c->phases ? c->phases->rows : 1, c->operations,
                    bulk_share(s, c), c->loader ? "true" : "false");
        json_reads(s, section, c, out);
        text_string(out, "}");
    }
    text_string(out, "]}");
}

static void explain_json(cpu_schedule *s, text *out)
{
    text_printf(out, "{\"pipe\": \"%s\", \"tuned\": [", s->pipe->name);
    tuning_json(s, out);
    text_string(out, "]");
    for (int tables = 0; tables < 2; tables++) {
        text_string(out, tables ? ", \"tables\": [" : ", \"dispatches\": [");
        bool first = true;
        for (uint32_t k = 0; k < s->sections.count; k++) {
            if (is_table(s, &s->sections.items[k]) != (tables == 1)) continue;
            if (!first) text_string(out, ", ");
            first = false;
            json_section(s, &s->sections.items[k], out);
        }
        text_string(out, "]");
    }
    text_string(out, ", \"notes\": [");
    for (uint32_t k = 0; k < s->pipe->notes.count; k++)
        text_printf(out, "%s{\"stage\": \"%s\", \"text\": \"%s\"}", k ? ", " : "", s->pipe->notes.items[k].stage, s->pipe->notes.items[k].text);
    text_string(out, "]}\n");
}

bool cpu_show(tensor_pipe *p, const cpu_options *options, cpu_text what, text *out, diags *d)
{
    if (what == CPU_TEXT_llvm || what == CPU_TEXT_asm) return single_text(p, options, what == CPU_TEXT_asm, out, d);
    cpu_machine machine;
    const char *cpu = options->n_cpus > 0 ? options->cpus[0] : "native";
    if (!cpu_machine_make(options->triple, cpu, !rounds_products(p), d, p->where, &machine)) return false;
    arena *memory = arena_scratch(p->memory);
    cpu_schedule *s = cpu_schedule_make(p, options, machine.target, memory);
    tuning_check(s, d);
    switch (what) {
    case CPU_TEXT_dispatch: dispatch_text(s->pipe, &s->plan, out); break;
    case CPU_TEXT_kernel:   kernel_text(s, out); break;
    case CPU_TEXT_explain_json: explain_json(s, out); break;
    case CPU_TEXT_choices:  tuning_alternatives(s, out); break;
    default: explain_text(s, out); break;
    }
    cpu_machine_free(&machine);
    arena_free(memory);
    return true;
}
