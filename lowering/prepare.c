/* SPDX-License-Identifier: MIT
 * A backend's private copy of a pipe, and outputs that are stages of their own. */
#include "lowering/prepare.h"

#include <string.h>

#include "lowering/tensor_names.h"

tensor_pipe *tensor_clone(const tensor_pipe *p, arena *memory)
{
    tensor_pipe *c = ARENA_NEW(memory, tensor_pipe);
    *c = *p;
    c->memory = memory;
#define CLONE_LIST(list) \
    (c->list.items = arena_copy(memory, p->list.items, sizeof *p->list.items * p->list.count), c->list.capacity = c->list.count)
    CLONE_LIST(nodes);
    CLONE_LIST(args);
    CLONE_LIST(folds);
    CLONE_LIST(stages);
    CLONE_LIST(params);
    CLONE_LIST(dims);
    CLONE_LIST(outputs);
    CLONE_LIST(checks);
    CLONE_LIST(notes);
#undef CLONE_LIST
    c->buckets = arena_copy(memory, p->buckets, sizeof *p->buckets * p->n_buckets);
    if (p->names) {
        c->names = arena_copy(memory, p->names, sizeof *p->names);
        c->names->entries = arena_copy(memory, p->names->entries, sizeof *p->names->entries * p->names->capacity);
    }
    return c;
}

typedef struct reader_search { tensor_pipe *pipe; uint32_t stage; bool found; } reader_search;

static void search_reader(void *user, ref load)
{
    reader_search *c = user;
    if (node_at(c->pipe, load)->payload == c->stage) c->found = true;
}

static bool has_readers(tensor_pipe *p, uint32_t stage)
{
    reader_search c = { p, stage, false };
    for (uint32_t r = stage + 1; r < p->stages.count && !c.found; r++)
        if (stage_at(p, r)->kind == STAGE_compute) for_each_load(p, stage_at(p, r)->body, search_reader, &c);
    return c.found;
}

static uint32_t identity_stage(tensor_pipe *p, uint32_t of, const char *suffix)
{
    tensor_stage original = *stage_at(p, of);
    char *name = arena_printf(p->memory, "%s.%s", original.name, suffix);
    uint32_t copy = tensor_stage_new(p, STAGE_compute, tensor_unique_name(p, name), original.type, original.rank, original.where);
    ref index[TENSOR_MAX_RANK] = { 0 };
    for (int d = 0; d < original.rank; d++) index[d] = tensor_coord(p, d);
    ref body = tensor_load(p, of, index, NULL, NULL, original.type);
    tensor_stage *s = stage_at(p, copy);
    memcpy(s->lo, original.lo, sizeof s->lo);
    memcpy(s->hi, original.hi, sizeof s->hi);
    s->body = body;
    return copy;
}

void separate_outputs(tensor_pipe *p)
{
    for (uint32_t k = 0; k < p->outputs.count; k++) {
        uint32_t stage = p->outputs.items[k].stage;
        bool shared = stage_at(p, stage)->kind != STAGE_compute || has_readers(p, stage);
        for (uint32_t j = 0; j < k; j++) if (p->outputs.items[j].stage == stage) shared = true;
        if (!shared) continue;
        uint32_t copy = identity_stage(p, stage, "out");
        p->outputs.items[k].stage = copy;
    }
}
