/* SPDX-License-Identifier: MIT
 * What an index reads: how it follows the coordinates of the stage that reads, and how far it reaches. */
#ifndef HALO_LOWERING_ACCESS_H
#define HALO_LOWERING_ACCESS_H

#include "lowering/tensor.h"

enum { DEPEND_MAX_OPEN = 5 };

/* What every node of a pipe depends on; made anew when nodes were added (they only refer backwards, so it grows). */
typedef struct depend {
    uint8_t  coords;        /* bit d: coordinate d of the stage at hand */
    bool     loads;         /* some load */
    uint8_t  n_open;        /* folds of which a binder or accumulator is still open */
    uint32_t open[DEPEND_MAX_OPEN];   /* which; deeper nests than this count as open for ever, which is safe */
} depend;

typedef struct depends { depend *items; uint32_t count, capacity; } depends;
const depend *depends_of(tensor_pipe *p, depends *all, ref r);

static inline bool depend_is_open(const depend *d) { return d->n_open != 0; }

static inline bool depend_on_fold(const depend *d, uint32_t fold)
{
    for (int k = 0; k < d->n_open; k++) if (d->open[k] == fold) return true;
    return false;
}

typedef enum index_kind {
    INDEX_fixed,        /* no coordinate: the same for the whole stage but for open binders (rest, lo, hi are set when known) */
    INDEX_affine,       /* (p * coord(dimension) + rest) // q, p and q positive */
    INDEX_data          /* anything else: flips, transposed sums of coordinates, indices that are read */
} index_kind;

typedef struct index_form {
    index_kind kind;
    int        dimension;
    int32_t    p, q;
    ref        rest;            /* without coordinates (within a slab: but for the outer ones) */
    bool       bounded;         /* lo and hi are known */
    ref        lo, hi;          /* uniform bounds of rest over all binders */
} index_form;

/* slab: the stage whose body the index stands in when its rows are slabs (dispatch.h), else 0. */
void index_form_of(tensor_pipe *p, depends *all, uint32_t slab, ref index, index_form *out);

/* Uniform bounds of an i32 expression over its open binders and constant tables; false when there are none. */
bool uniform_bounds(tensor_pipe *p, depends *all, ref r, ref *lo, ref *hi);

/* Calls visit(user, load) once for every load that is reached from `root`, through folds too. */
void for_each_load(tensor_pipe *p, ref root, void (*visit)(void *user, ref load), void *user);
/* All nodes reached from `root` in an order in which arguments come first; the list lives in `memory`. */
typedef LIST(ref) ref_list;
void reached_nodes(tensor_pipe *p, arena *memory, const ref *roots, uint32_t n_roots, ref_list *out);

/* The loads of each stage's body, found when first asked for and again once the body has changed: passes that ask who reads a
 * stage, for every stage, would walk every body that often. */
typedef struct stage_loads { struct { ref body; ref_list loads; } *of; uint32_t count; } stage_loads;
const ref_list *loads_of_stage(tensor_pipe *p, stage_loads *all, uint32_t stage);
bool stage_reads(tensor_pipe *p, stage_loads *all, uint32_t reader, uint32_t stage);

/* True when hi - lo of the two is a constant >= 0 (or both are equal): "a <= b for every size". */
bool always_le(tensor_pipe *p, ref a, ref b);

#endif
