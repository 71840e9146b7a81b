/* SPDX-License-Identifier: MIT
 * One rewriter led over every expression of a pipe, for the passes that replace nodes wherever they stand. */
#include "lowering/pass_rewrite.h"

static bool replace(rewriter *w, ref *root)
{
    ref now = rewrite(w, *root);
    bool changed = now != *root;
    *root = now;
    return changed;
}

bool rewrite_bodies(rewriter *w)
{
    bool changed = false;
    for (uint32_t s = 1; s < w->pipe->stages.count; s++) {
        ref body = stage_at(w->pipe, s)->body;
        changed = replace(w, &body) || changed;
        stage_at(w->pipe, s)->body = body;
    }
    return changed;
}

bool rewrite_everything(rewriter *w)
{
    tensor_pipe *p = w->pipe;
    bool changed = rewrite_bodies(w);
    for (uint32_t s = 1; s < p->stages.count; s++) {
        for (int d = 0; d < stage_at(p, s)->rank; d++) {
            ref lo = stage_at(p, s)->lo[d], hi = stage_at(p, s)->hi[d];
            changed = replace(w, &lo) || changed;
            changed = replace(w, &hi) || changed;
            stage_at(p, s)->lo[d] = lo;
            stage_at(p, s)->hi[d] = hi;
        }
    }
    for (uint32_t i = 0; i < p->checks.count; i++) {
        ref condition = p->checks.items[i].condition;
        changed = replace(w, &condition) || changed;
        p->checks.items[i].condition = condition;
    }
    return changed;
}
