/* SPDX-License-Identifier: MIT
 * halo info: what the pipes of a script take and give, for people or as JSON. */
#include "cli/cli.h"

#include <math.h>
#include <string.h>

enum { OPT_JSON = 1, OPT_PIPE };
static const option_row rows[] = {
    {OPT_JSON, "json", 0, NULL, "as JSON"}, {OPT_PIPE, "pipe", 0, "NAME", "this pipe only"}, {0}};

static void help(void)
{
    options_help(rows, "halo info [--json] [--pipe NAME] SCRIPT",
                 "Lists inputs, parameters with their ranges and defaults, and outputs, with their documentation.",
                 "  halo info examples/unsharp.pipe\n");
}

/* Shortest digits that give the same f32 (all numbers here are f32 or whole), with a point in every locale. */
static void print_number(double value)
{
    char digits[40];
    if (fabs(value) < 1e9 && value == floor(value)) {              /* 480, not 4.8e+02 */
        printf("%.0f", value);
        return;
    }
    for (int precision = 1; precision <= 17; precision++) {
        snprintf(digits, sizeof digits, "%.*g", precision, value);
        double again;
        if (sscanf(digits, "%lf", &again) == 1 && (again == value || (float)again == (float)value))
            break;
    }
    char *comma = strchr(digits, ',');
    if (comma)
        *comma = '.';
    printf("%s", digits);
}

/* ---- for people ------------------------------------------------------------------------------ */

static void print_doc(const char *doc)
{
    for (const char *line = doc; line && *line;) {
        size_t n = strcspn(line, "\n");
        printf("      %.*s\n", (int)n, line);
        line += n + (line[n] == '\n');
    }
}

static void print_value(const halo_parameter *p)
{
    printf(p->lanes > 1 ? " = (" : " = ");
    for (int32_t k = 0; k < p->lanes; k++) {
        printf(k ? ", " : "");
        if (p->kind == HALO_KIND_BOOL)
            printf(p->value[k] != 0 ? "true" : "false");
        else
            print_number(p->value[k]);
    }
    printf(p->lanes > 1 ? ")" : "");
}

static void print_range(double low, double high, bool half_open)
{
    printf(" in ");
    print_number(low);
    printf(half_open ? "..<" : "..");
    print_number(high);
}

static void print_pipe(const halo_signature *s)
{
    printf("pipe %s%s\n", s->name, s->strict ? " (strict)" : "");
    print_doc(s->doc);
    for (size_t i = 0; i < s->n_inputs; i++) {
        const halo_input *in = &s->inputs[i];
        printf("  input      %s: %s", in->name, in->type);
        if (in->has_range)
            print_range(in->low, in->high, false);
        printf("\n");
        print_doc(in->doc);
    }
    for (size_t i = 0; i < s->n_parameters; i++) {
        const halo_parameter *p = &s->parameters[i];
        printf("  parameter  %s: %s", p->name, p->type);
        if (p->has_default)
            print_value(p);
        if (p->has_range)
            print_range(p->low, p->high, p->half_open);
        printf("\n");
        print_doc(p->doc);
    }
    for (size_t i = 0; i < s->n_outputs; i++) {
        printf("  output     %s: %s\n", s->outputs[i].name, s->outputs[i].type);
        print_doc(s->outputs[i].doc);
    }
}

/* ---- JSON ------------------------------------------------------------------------------------ */

static void json_text(const char *key, const char *text)
{
    printf("\"%s\": ", key);
    if (!text) {
        printf("null");
        return;
    }
    putchar('"');
    for (const unsigned char *c = (const unsigned char *)text; *c; c++)
        if (*c == '"' || *c == '\\')
            printf("\\%c", *c);
        else if (*c < 32)
            printf("\\u%04x", *c);
        else
            putchar(*c);
    putchar('"');
}

static void json_number(const char *key, double value)
{
    printf(", \"%s\": ", key);
    if (isfinite(value))
        print_number(value);
    else
        printf("null");
}

static void json_head(bool first, const char *name, const char *type, const char *doc, halo_kind kind, int32_t lanes)
{
    printf("%s\n      {", first ? "" : ",");
    json_text("name", name);
    printf(", ");
    json_text("type", type);
    printf(", ");
    json_text("kind", halo_kind_name(kind));
    printf(", \"lanes\": %d, ", lanes);
    json_text("doc", doc);
}

static void json_parameter(const halo_parameter *p, bool first)
{
    json_head(first, p->name, p->type, p->doc, p->kind, p->lanes);
    if (p->has_default) {
        printf(", \"default\": %s", p->lanes > 1 ? "[" : "");
        for (int32_t k = 0; k < p->lanes; k++) {
            printf(k ? ", " : "");
            if (p->kind == HALO_KIND_BOOL)
                printf(p->value[k] != 0 ? "true" : "false");
            else
                print_number(p->value[k]);
        }
        printf(p->lanes > 1 ? "]" : "");
    }
    if (p->has_range) {
        json_number("low", p->low);
        json_number("high", p->high);
        printf(", \"half_open\": %s", p->half_open ? "true" : "false");
    }
    printf("}");
}

static void json_pipe(const halo_signature *s, bool first)
{
    printf("%s\n  {", first ? "" : ",");
    json_text("name", s->name);
    printf(", ");
    json_text("doc", s->doc);
    printf(", \"strict\": %s,\n    \"inputs\": [", s->strict ? "true" : "false");
    for (size_t i = 0; i < s->n_inputs; i++) {
        const halo_input *in = &s->inputs[i];
        json_head(i == 0, in->name, in->type, in->doc, in->kind, in->lanes);
        printf(", \"rank\": %d, \"image\": %s, \"extents\": [", in->rank, in->is_image ? "true" : "false");
        for (int32_t d = 0; d < in->rank; d++)
            printf("%s\"%s\"", d ? ", " : "", in->extents[d]);
        printf("]");
        if (in->has_range) {
            json_number("low", in->low);
            json_number("high", in->high);
        }
        printf("}");
    }
    printf("],\n    \"parameters\": [");
    for (size_t i = 0; i < s->n_parameters; i++)
        json_parameter(&s->parameters[i], i == 0);
    printf("],\n    \"outputs\": [");
    for (size_t i = 0; i < s->n_outputs; i++) {
        const halo_output *out = &s->outputs[i];
        json_head(i == 0, out->name, out->type, out->doc, out->kind, out->lanes);
        printf(", \"rank\": %d, \"image\": %s}", out->rank, out->is_image ? "true" : "false");
    }
    printf("]}");
}

int command_info(int argc, char **argv)
{
    report r = {0};
    options o;
    halo_options compile = {.engine = HALO_ENGINE_NONE};
    const char *value;
    int rest, id;
    bool json = false;
    options_begin(&o, rows, argc, argv, &r);
    while ((id = options_next(&o, &value, &rest)) != OPTION_END) {
        if (id == OPTION_HELP)
            return help(), EXIT_FINE;
        if (id == OPTION_BAD)
            return EXIT_USAGE;
        json = json || id == OPT_JSON;
        compile.pipe = id == OPT_PIPE ? value : compile.pipe;
    }
    if (argc - rest != 1)
        return report_usage(&r, "info takes one script; `halo info --help` shows how");
    halo_program *program = open_script(&r, argv[rest], &compile, false);
    if (!program)
        return EXIT_PROBLEM;
    size_t n = halo_program_pipe_count(program);
    printf(json ? "[" : "");
    for (size_t i = 0; i < n; i++) {
        const halo_signature *s = halo_pipe_signature(halo_program_pipe(program, i));
        if (json)
            json_pipe(s, i == 0);
        else
            printf(i ? "\n" : ""), print_pipe(s);
    }
    printf(json ? "\n]\n" : "");
    halo_program_free(program);
    return EXIT_FINE;
}
