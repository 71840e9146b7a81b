/* SPDX-License-Identifier: MIT
 * Define pass `fold_tables`: small stages of constants become tables, and reads of tables at constant indices their values.
 *
 * Why: kernels and curves are written as ordinary definitions; as tables their taps are literals to every pass and backend, and
 * no run computes them again. It stands after `separate`, which has to see that a kernel is w[i] * w[j] and not only
 * its rounded products. The values are the interpreter's, that is those of the defined IR: a product in a sum is contracted here as
 * `contract` will do it.
 * Requires `expand`, so that no host library has a say. Keeps outputs as they are. Breaks nothing. */
#include "lowering/constant_stage.h"
#include "lowering/pass.h"

static ref reload(rewriter *w, ref r, const ref *args)
{
    tensor_pipe *p = w->pipe;
    tensor_node n = *node_at(p, r);
    if (n.op != OP_load || stage_at(p, n.payload)->kind != STAGE_table) return 0;
    ref outside[TENSOR_MAX_RANK] = { 0 };
    int next = stage_at(p, n.payload)->rank;
    for (int d = 0; d < stage_at(p, n.payload)->rank; d++)
        if (n.border[d] == BORDER_value) outside[d] = args[next++];
    return tensor_load(p, n.payload, args, n.border, outside, n.type);
}

static bool is_output(const tensor_pipe *p, uint32_t stage)
{
    for (uint32_t k = 0; k < p->outputs.count; k++)
        if (p->outputs.items[k].stage == stage) return true;
    return false;
}

static bool become_table(tensor_pipe *p, uint32_t stage)
{
    const uint32_t *words = constant_words(p, stage);
    if (!words) return false;
    tensor_stage *s = stage_at(p, stage);
    s->kind = STAGE_table;
    s->words = words;
    s->body = 0;
    return true;
}

bool pass_fold_tables(tensor_pipe *p)
{
    constant_stages constant = constant_stages_of(p);
    rewriter w;
    rewriter_begin(&w, p, NULL, NULL);
    w.rebuild = reload;
    bool changed = false;
    for (uint32_t s = 1; s < p->stages.count; s++) {
        if (stage_at(p, s)->kind != STAGE_compute) continue;
        ref body = rewrite(&w, stage_at(p, s)->body);
        changed = changed || body != stage_at(p, s)->body;
        stage_at(p, s)->body = body;
        if (constant.known[s] && !is_output(p, s)) changed = become_table(p, s) || changed;
    }
    return changed;
}
