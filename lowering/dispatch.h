/* SPDX-License-Identifier: MIT
 * Dispatches: which stages belong together. Lowering forms the largest legal groups from access patterns alone; a backend may
 * cut a group further, which never changes a bit. */
#ifndef HALO_LOWERING_DISPATCH_H
#define HALO_LOWERING_DISPATCH_H

#include "lowering/access.h"

/* Why a stage is stored in memory instead of being fused into its readers. `explain` prints the text. */
#define CUT_REASONS(X)                                                                                        \
    X(none,        "fused into its readers")                                                                  \
    X(output,      "it is an output")                                                                         \
    X(hint,        "@materialize asks for it")                                                                \
    X(table,       "it depends on sizes and parameters alone: computed once per run")                         \
    X(anywhere,    "a reader's row index doesn't slide (a flip, a transposition or an index that is read)")   \
    X(wrap,        "a reader wraps around its rows, so that the first row needs the last")                    \
    X(rank,        "a reader has other outer dimensions")                                                     \
    X(slopes,      "its readers advance at different speeds")                                                 \
    X(readers,     "its readers are in dispatches that can't be one")                                         \
    X(border,      "a reader's border value differs from pixel to pixel")                                     \
    X(depth,       "the dispatch would hold too many stages")                                                 \
    X(fusion_off,  "fusion is switched off")

#define X(name, text) CUT_##name,
typedef enum cut_reason { CUT_REASONS(X) CUT_COUNT } cut_reason;
#undef X
const char *cut_text(cut_reason why);

typedef struct dispatch {
    LIST(uint32_t) stages;          /* compute stages in topological order */
    LIST(uint32_t) sinks;           /* those that are stored; all have the same domain */
} dispatch;

typedef struct dispatch_plan {
    LIST(dispatch) dispatches;      /* in the order in which they run */
    uint32_t   *of_stage;           /* per stage: its dispatch, or UINT32_MAX */
    cut_reason *why;                /* per stage: none when it is fused, else why it is stored */
    uint32_t   *because;            /* per stage: the reader that made the cut, or 0 */
    double     *slope;              /* per stage: its rows per row of its dispatch's sinks */
} dispatch_plan;

enum { DISPATCH_MAX_STAGES = 48, SLAB_MAX_PLANES = 128 };

void form_dispatches(tensor_pipe *p, depends *all, bool fuse, arena *memory, dispatch_plan *out);

/* A stage of more dimensions than two in a dispatch whose sinks have two: a row of it is a *slab*, the rows of all its outer
 * coordinates, made together. */
static inline uint32_t slab_of(const tensor_pipe *p, uint32_t stage, uint32_t sink)
{
    return p->stages.items[stage].rank > 2 && p->stages.items[sink].rank <= 2 ? stage : 0;
}
/* Rows in a slab of the stage; 0 when that depends on sizes and parameters, or is too many. */
int slab_planes(const tensor_pipe *p, uint32_t stage);

/* Reads of a producer by the body of a reader in a dispatch of `sink` that a sliding line of rows can serve. Why not, else CUT_none. */
cut_reason load_slides(tensor_pipe *p, depends *all, uint32_t reader, ref load, uint32_t sink);

#endif
