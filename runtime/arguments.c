/* SPDX-License-Identifier: MIT
 * Values of a pipe's parameters: set by name, from text or from the generated header's struct, each checked against its type
 * and range as it is set. They are kept as the bits that tensor IR has, four words a parameter. */
#include "runtime/image_io.h"
#include "runtime/program.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef uint32_t row[TENSOR_MAX_LANES];

struct halo_arguments {
    const halo_pipe *pipe;
    bool            *given;          /* or has a default */
    row             *bits;
};

halo_arguments *halo_arguments_new(const halo_pipe *pipe)
{
    size_t n = pipe->signature.n_parameters;
    halo_arguments *arguments = calloc(1, sizeof *arguments + n * (sizeof(row) + sizeof(bool)));
    if (!arguments)
        return NULL;
    arguments->pipe = pipe;
    arguments->bits = (row *)(arguments + 1);
    arguments->given = (bool *)(arguments->bits + n);
    for (size_t i = 0; i < n; i++) {
        const tensor_param *p = &pipe->ir->params.items[i];
        arguments->given[i] = p->has_default;
        memcpy(arguments->bits[i], p->value, sizeof(row));
    }
    return arguments;
}

void halo_arguments_free(halo_arguments *arguments) { free(arguments); }

/* ---- checks ---------------------------------------------------------------------------------- */

/* A number as a person would write it; the caller frees. */
static void add_number(text *out, const halo_parameter *p, double value)
{
    bool real = p->kind == HALO_KIND_F32 || p->kind == HALO_KIND_F16;
    if (p->kind == HALO_KIND_BOOL)
        text_string(out, value != 0 ? "true" : "false");
    else if (real && value != rint(value))
        text_f32(out, (float)value);
    else
        text_printf(out, "%.0f", value);
}

static bool fail_range(const halo_parameter *p, double value, halo_message *error)
{
    text t = {0};
    text_printf(&t, "%s = ", p->name);
    add_number(&t, p, value);
    text_string(&t, " is outside its range ");
    add_number(&t, p, p->low);
    text_string(&t, p->half_open ? "..<" : "..");
    add_number(&t, p, p->high);
    message_fail(error, "%.*s", (int)t.count, t.failed ? "" : t.bytes);
    text_free(&t);
    return false;
}

/* The value is one of the type and inside the range: as bits. */
static bool check_value(const halo_parameter *p, double value, uint32_t *bits, halo_message *error)
{
    const kind_info *info = kind_get((kind)p->kind);
    if (p->kind == HALO_KIND_F32 || p->kind == HALO_KIND_F16) {
        float single = (float)value;
        if (isfinite(value) && !isfinite(single))
            return message_fail(error, "%s = %g is too large for %s", p->name, value, p->type);
        *bits = bits_of_scalar((kind)p->kind, (scalar){.f = p->kind == HALO_KIND_F16 ? f32_to_f16_and_back(single) : single});
        value = (double)single;
    } else {
        if (value != rint(value))
            return message_fail(error, "%s = %g has to be a whole number (it is %s)", p->name, value, p->type);
        if (!(value >= (double)info->lowest && value <= (double)info->highest))
            return message_fail(error, "%s = %.17g does not fit into %s: %lld..%lld", p->name, value, p->type,
                                (long long)info->lowest, (long long)info->highest);
        *bits = bits_of_scalar((kind)p->kind, (scalar){.i = (int64_t)value});
    }
    if (p->has_range && !(value >= p->low && (p->half_open ? value < p->high : value <= p->high)))
        return fail_range(p, value, error);
    if (isnan(value) && !p->has_range)
        return message_fail(error, "%s is not a number", p->name);
    return true;
}

static bool fail_unknown(const halo_pipe *pipe, const char *name, halo_message *error)
{
    const halo_signature *s = &pipe->signature;
    if (s->n_parameters == 0)
        return message_fail(error, "`%s` has no parameter `%s`: it has none", s->name, name);
    text t = {0};
    const char *near = NULL;
    const char **names = malloc(s->n_parameters * sizeof *names);
    for (size_t i = 0; i < s->n_parameters; i++) {
        text_printf(&t, "%s%s", i ? ", " : "", s->parameters[i].name);
        if (names)
            names[i] = s->parameters[i].name;
    }
    if (names)
        near = nearest_name(name, names, s->n_parameters);
    free(names);
    message_fail(error, "`%s` has no parameter `%s`%s%s%s; its parameters: %.*s", s->name, name, near ? ", did you mean `" : "",
                 near ? near : "", near ? "`?" : "", (int)t.count, t.failed ? "" : t.bytes);
    text_free(&t);
    return false;
}

static bool set_values(halo_arguments *a, size_t which, const double *values, size_t n_values, halo_message *error)
{
    const halo_parameter *p = &a->pipe->signature.parameters[which];
    if (n_values != 1 && n_values != (size_t)p->lanes)
        return message_fail(error, "%s is %s: it takes %d value%s, not %zu", p->name, p->type, p->lanes, p->lanes > 1 ? "s" : "",
                            n_values);
    row bits = {0};
    for (int32_t k = 0; k < p->lanes; k++)
        if (!check_value(p, values[n_values == 1 ? 0 : k], &bits[k], error))
            return false;
    memcpy(a->bits[which], bits, sizeof bits);
    a->given[which] = true;
    return true;
}

static bool find_parameter(const halo_pipe *pipe, const char *name, size_t *which, halo_message *error)
{
    for (*which = 0; *which < pipe->signature.n_parameters; (*which)++)
        if (strcmp(pipe->signature.parameters[*which].name, name) == 0)
            return true;
    return fail_unknown(pipe, name, error);
}

int halo_arguments_set(halo_arguments *arguments, const char *name, const double *values, size_t n_values, halo_message *error)
{
    size_t which;
    return find_parameter(arguments->pipe, name, &which, error) && set_values(arguments, which, values, n_values, error)
               ? HALO_OK : HALO_ERROR_PARAMETER;
}

/* ---- text ------------------------------------------------------------------------------------ */

/* Integers are read exactly, numbers with a point or an exponent as the nearest f32; no locale has a say. */
static bool read_number(const char *word, size_t n, double *value)
{
    if (n == 4 && memcmp(word, "true", 4) == 0)
        return *value = 1, true;
    if (n == 5 && memcmp(word, "false", 5) == 0)
        return *value = 0, true;
    bool negative = n > 0 && word[0] == '-';
    const char *at = word + negative, *end = word + n;
    int base = end - at > 2 && at[0] == '0' && (at[1] | 32) == 'x' ? 16 : 10;
    double whole = 0;
    const char *digits = at += base == 16 ? 2 : 0;
    for (; at < end; at++) {
        int c = *at | 32, digit = *at >= '0' && *at <= '9' ? *at - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : 99;
        if (digit >= base)
            break;
        whole = whole * base + digit;
    }
    if (at == end && at > digits && whole < 9e15) {
        *value = negative ? -whole : whole;
        return true;
    }
    float single;
    if (!parse_f32(word, n, &single))
        return false;
    *value = (double)single;
    return true;
}

static size_t trimmed(const char **start, const char *end)
{
    while (*start < end && (**start == ' ' || **start == '\t'))
        (*start)++;
    while (end > *start && (end[-1] == ' ' || end[-1] == '\t'))
        end--;
    return (size_t)(end - *start);
}

/* "1.5" or "(1, 2, 3)"; the number of values, 0 when it can't be read. */
static size_t read_values(const char *string, double *values)
{
    const char *at = string, *end;
    size_t n = trimmed(&at, string + strlen(string)), count = 0;
    end = at + n;
    if (n >= 2 && *at == '(' && end[-1] == ')')
        at++, end--;
    for (;;) {
        const char *comma = memchr(at, ',', (size_t)(end - at)), *word = at;
        size_t n_word = trimmed(&word, comma ? comma : end);
        if (count == TENSOR_MAX_LANES || !read_number(word, n_word, &values[count++]))
            return 0;
        if (!comma)
            return count;
        at = comma + 1;
    }
}

int halo_arguments_set_text(halo_arguments *arguments, const char *name, const char *text, halo_message *error)
{
    size_t which;
    double values[TENSOR_MAX_LANES];
    if (!find_parameter(arguments->pipe, name, &which, error))
        return HALO_ERROR_PARAMETER;
    size_t n = read_values(text, values);
    const halo_parameter *p = &arguments->pipe->signature.parameters[which];
    if (n == 0) {
        message_fail(error, "%s = %s is no %s", name, text, p->lanes > 1 ? "pixel such as (0.2, 0.7, 0.1)" :
                     p->kind == HALO_KIND_BOOL ? "true or false" : "number");
        return HALO_ERROR_PARAMETER;
    }
    return set_values(arguments, which, values, n, error) ? HALO_OK : HALO_ERROR_PARAMETER;
}

/* ---- the header's struct ----------------------------------------------------------------------- */

static double load_component(halo_kind kind, const char *at)
{
    union { uint8_t u8; int8_t i8; uint16_t u16; int16_t i16; uint32_t u32; int32_t i32; float f32; } v;
    memcpy(&v, at, (size_t)halo_kind_bytes(kind));
    switch (kind) {
    case HALO_KIND_BOOL: return v.u8 != 0;
    case HALO_KIND_U8:   return v.u8;
    case HALO_KIND_I8:   return v.i8;
    case HALO_KIND_U16:  return v.u16;
    case HALO_KIND_I16:  return v.i16;
    case HALO_KIND_U32:  return v.u32;
    case HALO_KIND_I32:  return v.i32;
    case HALO_KIND_F16:  return (double)f32_of_f16(v.u16);
    case HALO_KIND_F32:  return (double)v.f32;
    }
    return 0;
}

/* Members in the script's order, each at a multiple of its component's size: C's layout. All are set, or none. */
int halo_arguments_set_struct(halo_arguments *arguments, const void *params, halo_message *error)
{
    const halo_signature *s = &arguments->pipe->signature;
    size_t n_bytes = sizeof *arguments + s->n_parameters * (sizeof(row) + sizeof(bool)), at = 0;
    halo_arguments *changed = halo_arguments_new(arguments->pipe);
    if (!changed) {
        message_fail(error, "out of memory");
        return HALO_ERROR_MEMORY;
    }
    bool fits = true;
    for (size_t i = 0; i < s->n_parameters && fits; i++) {
        const halo_parameter *p = &s->parameters[i];
        size_t size = (size_t)halo_kind_bytes(p->kind);
        double values[TENSOR_MAX_LANES];
        at = (at + size - 1) / size * size;
        for (int32_t k = 0; k < p->lanes; k++, at += size)
            values[k] = load_component(p->kind, (const char *)params + at);
        fits = set_values(changed, i, values, (size_t)p->lanes, error);
    }
    if (fits)
        memcpy(arguments + 1, changed + 1, n_bytes - sizeof *arguments);
    halo_arguments_free(changed);
    return fits ? HALO_OK : HALO_ERROR_PARAMETER;
}

/* ---- for runs -------------------------------------------------------------------------------- */

bool arguments_bits(const halo_pipe *pipe, const halo_arguments *arguments, row *bits, halo_message *error)
{
    for (size_t i = 0; i < pipe->signature.n_parameters; i++) {
        const halo_parameter *p = &pipe->signature.parameters[i];
        if (arguments ? !arguments->given[i] : !p->has_default)
            return message_fail(error, "parameter `%s` (%s) has no default: it has to be given", p->name, p->type);
        memcpy(bits[i], arguments ? arguments->bits[i] : pipe->ir->params.items[i].value, sizeof(row));
    }
    return true;
}
