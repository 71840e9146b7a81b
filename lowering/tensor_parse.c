/* SPDX-License-Identifier: MIT
 * Reads IR text: the pipe and its stages. Nodes are made as written, not simplified, so that printing gives the text back and a
 * test can hold what a builder would fold away. What is read is verified; the first syntax error ends the reading. */
#include "lowering/tensor_parse.h"

#include <stdlib.h>
#include <string.h>

#include "lowering/tensor_build.h"
#include "lowering/tensor_names.h"

/* ---- tokens ---------------------------------------------------------------------------------- */

void parse_error(parser *p, const char *format, ...)
{
    if (p->failed)
        return;
    p->failed = true;
    va_list args;
    va_start(args, format);
    const char *message = arena_vprintf(p->memory, format, args);
    va_end(args);
    diag_add(p->d, DIAG_E0902, (span){ p->source, p->token.start, p->token.end }, "%s", message);
}

void parse_advance(parser *p)
{
    p->token = tensor_lex(p->memory, p->text, p->n_bytes, p->token.end);
    if (p->token.kind == TOKEN_bad)
        parse_error(p, "no token starts with this");
}

bool parse_at(const parser *p, const char *text)
{
    token_kind k = p->token.kind;
    return !p->failed && (k == TOKEN_name || k == TOKEN_punctuation || k == TOKEN_range || k == TOKEN_half_open) &&
           strcmp(p->token.text, text) == 0;
}

bool parse_accept(parser *p, const char *text)
{
    if (!parse_at(p, text))
        return false;
    parse_advance(p);
    return true;
}

void parse_expect(parser *p, const char *text)
{
    if (!parse_accept(p, text))
        parse_error(p, "expected `%s`", text);
}

bool parse_enter(parser *p)
{
    enum { MAX_DEPTH = 200 };
    if (++p->depth > MAX_DEPTH)
        parse_error(p, "nested too deeply");
    return !p->failed;
}

const char *parse_word(parser *p, token_kind k, const char *what)
{
    if (p->failed || p->token.kind != k) {
        parse_error(p, "expected %s", what);
        return "";
    }
    const char *word = p->token.text;
    parse_advance(p);
    return word;
}

/* ---- numbers and types ------------------------------------------------------------------------- */

int64_t parse_integer(parser *p)
{
    bool negative = parse_accept(p, "-");
    const char *digits = p->token.kind == TOKEN_number ? p->token.text : "";
    char *end = NULL;
    long long value = strtoll(digits, &end, 10);
    if (*end || end == digits) {
        parse_error(p, "expected a whole number");
        return 0;
    }
    parse_advance(p);
    return negative ? -value : value;
}

/* Also `0x7fc00000`: the bits. */
uint32_t parse_bits(parser *p, kind k)
{
    if (!kind_is_float(k)) {
        int64_t value = parse_integer(p);
        if (k != KIND_i64 && (value < kind_get(k)->lowest || value > kind_get(k)->highest))
            parse_error(p, "%lld is not a value of %s", (long long)value, kind_get(k)->name);
        return (uint32_t)value;
    }
    bool negative = parse_accept(p, "-");
    const char *number = parse_word(p, TOKEN_number, "a number");
    float value = 0;
    if (strncmp(number, "0x", 2) == 0)
        return (uint32_t)strtoul(number, NULL, 16);
    if (!p->failed && !parse_f32(number, strlen(number), &value))
        parse_error(p, "not an f32");
    return bits_of_scalar(k, (scalar){ .f = negative ? -value : value });
}

static double parse_real(parser *p)
{
    bool negative = parse_accept(p, "-");
    const char *number = parse_word(p, TOKEN_number, "a number");
    double value = 0;
    float narrow = 0;
    if (strncmp(number, "0x", 2) == 0) {
        uint64_t bits = strtoull(number, NULL, 16);
        memcpy(&value, &bits, sizeof value);
    } else if (!strchr(number, '.')) {
        value = (double)strtoll(number, NULL, 10);
    } else if (parse_f32(number, strlen(number), &narrow)) {
        value = (double)narrow;
    } else {
        parse_error(p, "not a number");
    }
    return negative ? -value : value;
}

static bool parse_range(parser *p, double *lo, double *hi)
{
    *lo = parse_real(p);
    bool half_open = parse_accept(p, "..<");
    if (!half_open)
        parse_expect(p, "..");
    *hi = parse_real(p);
    return half_open;
}

type parse_type(parser *p)
{
    const char *word = parse_word(p, TOKEN_name, "a type");
    size_t n = strlen(word);
    int lanes = 1;
    if (n > 2 && word[n - 2] == 'x' && word[n - 1] >= '2' && word[n - 1] <= '4') {
        lanes = word[n - 1] - '0';
        n -= 2;
    }
    kind k = kind_find(arena_string(p->memory, word, n));
    if (k == KIND_COUNT) {
        parse_error(p, "there is no type `%s`", word);
        k = KIND_i32;
    }
    return type_of(k, lanes);
}

uint32_t parse_stage_name(parser *p)
{
    token at = p->token;
    const char *name = parse_word(p, TOKEN_value, "a stage");
    uint32_t s = tensor_stage_named(p->pipe, name);
    if (s)
        return s;
    p->token = at;
    parse_error(p, "there is no stage `%s` above", name);
    return 0;
}

/* ---- the parts of a pipe ------------------------------------------------------------------------- */

static const char *parse_doc(parser *p)
{
    return parse_accept(p, "doc") ? parse_word(p, TOKEN_string, "a string") : NULL;
}

static void parse_param(parser *p)
{
    tensor_param param = { .name = parse_word(p, TOKEN_param, "a parameter's name") };
    param.type = parse_type(p);
    param.has_default = parse_accept(p, "=");
    for (int lane = 0; param.has_default && lane < param.type.lanes; lane++) {
        if (lane)
            parse_expect(p, ",");
        param.value[lane] = parse_bits(p, param.type.kind);
    }
    param.has_range = parse_accept(p, "in");
    if (param.has_range)
        param.half_open = parse_range(p, &param.lo, &param.hi);
    param.doc = parse_doc(p);
    LIST_PUSH(p->memory, p->pipe->params, param);
}

typedef LIST(token) token_list;

/* The input stands further down: its name is kept until then. */
static void parse_dim(parser *p, token_list *sources)
{
    tensor_dim dim = { .name = parse_word(p, TOKEN_name, "the extent's name") };
    parse_expect(p, "=");
    LIST_PUSH(p->memory, *sources, p->token);
    parse_word(p, TOKEN_value, "an input");
    parse_expect(p, "[");
    dim.dimension = (uint8_t)parse_integer(p);
    parse_expect(p, "]");
    LIST_PUSH(p->memory, p->pipe->dims, dim);
}

static void resolve_dims(parser *p, const token_list *sources)
{
    for (uint32_t k = 0; k < sources->count && !p->failed; k++) {
        token after = p->token;
        p->token = sources->items[k];
        uint32_t stage = parse_stage_name(p);
        p->pipe->dims.items[k].stage = stage;
        if (stage > p->pipe->n_inputs)
            parse_error(p, "an extent is a dimension of an input");
        p->token = after;
    }
}

static void parse_bounds(parser *p, ref lo[TENSOR_MAX_RANK], ref hi[TENSOR_MAX_RANK], int *rank)
{
    *rank = 0;
    parse_expect(p, "(");
    while (!p->failed && !parse_at(p, ")")) {
        if (*rank == TENSOR_MAX_RANK) {
            parse_error(p, "more than %d dimensions", TENSOR_MAX_RANK);
            return;
        }
        if (*rank)
            parse_expect(p, ",");
        lo[*rank] = parse_uniform(p);
        parse_expect(p, "..");
        hi[*rank] = parse_uniform(p);
        ++*rank;
    }
    parse_expect(p, ")");
}

static void parse_table_words(parser *p, uint32_t s)
{
    LIST(uint32_t) words = { 0 };
    parse_expect(p, "{");
    while (!p->failed && !parse_at(p, "}")) {
        if (words.count)
            parse_expect(p, ",");
        LIST_PUSH(p->memory, words, parse_bits(p, stage_at(p->pipe, s)->type.kind));
    }
    parse_expect(p, "}");
    const tensor_stage *stage = stage_at(p->pipe, s);
    int64_t wanted = stage->type.lanes, lo, hi;
    for (int k = 0; k < stage->rank; k++)
        if (node_is_const(p->pipe, stage->lo[k], &lo) && node_is_const(p->pipe, stage->hi[k], &hi))
            wanted *= hi < lo ? 0 : hi - lo + 1;
    if (wanted != (int64_t)words.count)
        parse_error(p, "the table has %u words, its bounds hold %lld", words.count, (long long)wanted);
    stage_at(p->pipe, s)->words = words.items;
}

static void parse_input_tail(parser *p, tensor_stage *stage)
{
    stage->is_image = parse_accept(p, "image");
    stage->has_range = parse_accept(p, "in");
    if (stage->has_range)
        parse_range(p, &stage->range_lo, &stage->range_hi);
    stage->doc = parse_doc(p);
}

static void parse_hints(parser *p, tensor_stage *stage)
{
    stage->materialize = parse_accept(p, "materialize");
    stage->inline_hint = parse_accept(p, "inline");
    if (parse_accept(p, "tile")) {
        stage->tile_width = (int32_t)parse_integer(p);
        stage->tile_height = (int32_t)parse_integer(p);
    }
}

static void parse_stage(parser *p, stage_kind k)
{
    token at = p->token;
    const char *name = parse_word(p, TOKEN_value, "the stage's name");
    type t = parse_type(p);
    ref lo[TENSOR_MAX_RANK] = { 0 }, hi[TENSOR_MAX_RANK] = { 0 };
    int rank;
    parse_bounds(p, lo, hi, &rank);
    if (p->failed)
        return;
    if (tensor_stage_named(p->pipe, name)) {
        p->token = at;
        parse_error(p, "two stages are called `%s`", name);
        return;
    }
    uint32_t s = tensor_stage_new(p->pipe, k, name, t, rank, (span){ p->source, at.start, at.end });
    memcpy(stage_at(p->pipe, s)->lo, lo, sizeof lo);
    memcpy(stage_at(p->pipe, s)->hi, hi, sizeof hi);
    if (k == STAGE_input) {
        p->pipe->n_inputs++;
        parse_input_tail(p, stage_at(p->pipe, s));
    } else if (k == STAGE_table) {
        parse_table_words(p, s);
    } else {
        parse_hints(p, stage_at(p->pipe, s));
        ref body = parse_body(p);
        stage_at(p->pipe, s)->body = body;
    }
}

static void parse_check(parser *p)
{
    tensor_check check = { .is_parameter = parse_accept(p, "parameter"), .code = DIAG_COUNT };
    check.where = (span){ p->source, p->token.start, p->token.end };
    if (!check.is_parameter)
        parse_expect(p, "size");
    for (int code = 0; code < DIAG_COUNT; code++)
        if (parse_at(p, diag_code_name((diag_code)code)))
            check.code = (diag_code)code;
    if (check.code == DIAG_COUNT)
        parse_error(p, "expected a diagnostic's code");
    parse_advance(p);
    check.condition = parse_uniform(p);
    check.message = parse_word(p, TOKEN_string, "the message");
    LIST_PUSH(p->memory, p->pipe->checks, check);
}

static void parse_output(parser *p)
{
    tensor_output output = { .stage = parse_stage_name(p) };
    parse_expect(p, "as");
    output.name = parse_word(p, TOKEN_string, "the output's name");
    output.is_image = parse_accept(p, "image");
    output.doc = parse_doc(p);
    LIST_PUSH(p->memory, p->pipe->outputs, output);
}

static void parse_line(parser *p, token_list *dim_sources)
{
    if (parse_accept(p, "param"))
        parse_param(p);
    else if (parse_accept(p, "dim"))
        parse_dim(p, dim_sources);
    else if (parse_accept(p, "input"))
        parse_stage(p, STAGE_input);
    else if (parse_accept(p, "table"))
        parse_stage(p, STAGE_table);
    else if (parse_accept(p, "stage"))
        parse_stage(p, STAGE_compute);
    else if (parse_accept(p, "check"))
        parse_check(p);
    else if (parse_accept(p, "output"))
        parse_output(p);
    else
        parse_error(p, "expected param, dim, input, table, stage, check, output or `}`");
}

static void parse_pipe(parser *p)
{
    token_list dim_sources = { 0 };
    parse_advance(p);
    parse_expect(p, "pipeline");
    if (parse_integer(p) != 1)
        parse_error(p, "this reads version 1 of the pipeline text");
    p->pipe->name = parse_word(p, TOKEN_param, "the pipe's name");
    p->pipe->strict = parse_accept(p, "strict");
    p->pipe->no_fma = parse_accept(p, "no_fma");
    p->pipe->doc = parse_doc(p);
    parse_expect(p, "{");
    while (!p->failed && !parse_at(p, "}"))
        parse_line(p, &dim_sources);
    parse_expect(p, "}");
    if (!p->failed && p->token.kind != TOKEN_end)
        parse_error(p, "expected the end after the pipe");
    resolve_dims(p, &dim_sources);
}

tensor_pipe *tensor_parse(arena *memory, diags *d, uint32_t source_index)
{
    const source *from = &d->sources.items[source_index];
    parser p = { .memory = memory, .d = d, .source = source_index, .text = from->text, .n_bytes = from->n_bytes };
    p.pipe = tensor_pipe_new(memory, "");
    p.pipe->where = (span){ source_index, 0, 0 };
    parse_pipe(&p);
    if (p.failed)
        return NULL;
    text problems = { 0 };
    if (tensor_verify(p.pipe, &problems))
        return p.pipe;
    text_add(&problems, "", 1);
    diag_add(d, DIAG_E0903, p.pipe->where, "the IR of `%s` isn't sound", p.pipe->name);
    diag_note(d, "%s", problems.failed ? "out of memory" : problems.bytes);
    text_free(&problems);
    return NULL;
}
