/* SPDX-License-Identifier: MIT */
#include "tests/frontend/lowered.h"

#include <stdlib.h>
#include <string.h>

static const char *find_file(void *user, const char *from, const char *path, const char **name, size_t *n_bytes)
{
    lowered *l = user;
    (void)from;
    l->n_lookups++;
    for (const file_text *f = l->files; f && f->name; f++)
        if (strcmp(f->name, path) == 0) {
            *name = f->name;
            *n_bytes = strlen(f->text);
            return f->text;
        }
    return NULL;
}

void lower_script(lowered *l, const char *text, const file_text *files)
{
    *l = (lowered){ .memory = arena_new(NULL), .files = files };
    diags_init(&l->d, l->memory);
    l->script = script_load(l->memory, interner_new(l->memory), &l->d, "test.pipe", text, strlen(text), find_file, l);
    script_check(l->script);
    for (uint32_t k = 0; k < script_pipe_count(l->script); k++) {
        tensor_pipe *pipe = script_lower(l->script, k);
        if (k == 0)
            l->pipe = pipe;
    }
}

void lowered_free(lowered *l)
{
    arena_free(l->memory);
}

static const char *kept(lowered *l, text *t)
{
    const char *copy = arena_string(l->memory, t->bytes ? t->bytes : "", t->count);
    text_free(t);
    return copy;
}

const char *codes(lowered *l)
{
    text out = { 0 };
    for (uint32_t k = 0; k < l->d.items.count; k++) {
        uint32_t line = 0, column = 0;
        diag_position(&l->d, l->d.items.items[k].where, &line, &column);
        text_printf(&out, "%s%s@%u", k ? " " : "", diag_code_name(l->d.items.items[k].code), line);
    }
    return kept(l, &out);
}

void assert_codes(const char *text, const char *expected)
{
    lowered l;
    lower_script(&l, text, NULL);
    assert_string_equal(codes(&l), expected);
    lowered_free(&l);
}

const tensor_stage *stage_named(const lowered *l, const char *name)
{
    for (uint32_t k = 1; l->pipe && k < l->pipe->stages.count; k++)
        if (strcmp(l->pipe->stages.items[k].name, name) == 0)
            return &l->pipe->stages.items[k];
    text out = { 0 };
    diags_render(&l->d, &out);
    fail_msg("there is no stage %s\n%s", name, out.bytes ? out.bytes : "");
    return NULL;
}

const char *stage_type(lowered *l, const char *name)
{
    const tensor_stage *s = stage_named(l, name);
    const char *kind = kind_get((enum kind)s->type.kind)->name;
    return s->type.lanes == 1 ? kind : arena_printf(l->memory, "%sx%d", kind, s->type.lanes);
}

const char *stage_domain(lowered *l, const char *name)
{
    halo_image inputs[8] = { 0 };
    uint32_t params[8][TENSOR_MAX_LANES] = { 0 };
    text out = { 0 };
    for (int k = 0; k < 8; k++)
        inputs[k] = (halo_image){ .extent = { 10, 7, 1, 1, 1 } };
    for (uint32_t k = 0; k < l->pipe->params.count && k < 8; k++)
        memcpy(params[k], l->pipe->params.items[k].value, sizeof params[k]);
    const run_values values = { inputs, (const uint32_t(*)[TENSOR_MAX_LANES])params };
    const tensor_stage *s = stage_named(l, name);
    for (int k = 0; k < s->rank; k++)
        text_printf(&out, "%s%lld..%lld", k ? " " : "", (long long)uniform_evaluate(l->pipe, s->lo[k], &values).i,
                    (long long)uniform_evaluate(l->pipe, s->hi[k], &values).i);
    return kept(l, &out);
}

/* ---- counting ------------------------------------------------------------------------------------------------------------- */

typedef struct counter { const tensor_pipe *pipe; bool *seen; tensor_op op; int count; } counter;

static void count_from(counter *c, ref node)
{
    if (node == 0 || c->seen[node])
        return;
    c->seen[node] = true;
    const tensor_node *n = node_at(c->pipe, node);
    c->count += n->op == c->op;
    for (int k = 0; k < n->n_args; k++)
        count_from(c, node_arg(c->pipe, node, k));
    if (n->op != OP_result)
        return;
    const tensor_fold *f = fold_at(c->pipe, n->payload);
    count_from(c, f->where);
    for (int k = 0; k < f->n_accs; k++)
        count_from(c, f->next[k]);
}

int count_ops(const lowered *l, const char *name, tensor_op op)
{
    counter c = { .pipe = l->pipe, .op = op };
    c.seen = calloc(l->pipe->nodes.count, sizeof *c.seen);
    count_from(&c, stage_named(l, name)->body);
    free(c.seen);
    return c.count;
}
