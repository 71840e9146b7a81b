/* SPDX-License-Identifier: MIT
 * The schedule of a pipe on Vulkan: its kernels, which stages live in workgroup memory, and how far every read reaches.
 *
 * A workgroup makes one tile of the sinks. What it needs of a fused stage is an interval per axis that follows the tile:
 *     from (p * first + low) / q  to  (p * last + high) / q
 * with p, q, low and high known when the script is compiled, so that the room it takes in workgroup memory is known when the
 * pipeline is made. Reads that don't follow the tile like this cut: the stage is stored. */
#ifndef HALO_BACKENDS_VULKAN_SCHEDULE_H
#define HALO_BACKENDS_VULKAN_SCHEDULE_H

#include "backends/vulkan/values.h"
#include "backends/vulkan/vulkan.h"
#include "lowering/dispatch.h"
#include "lowering/prepare.h"

/* Why a stage of a dispatch is stored, where lowering would have it fused. `explain` prints the text. */
#define VULKAN_CUTS(X)                                                                              \
    X(none,     "in workgroup memory")                                                              \
    X(readers,  "its readers are in several kernels")                                               \
    X(gather,   "a reader's column index doesn't follow the tile")                                  \
    X(rank,     "a reader has other outer dimensions")                                              \
    X(wrap,     "a reader wraps around, so that the first pixels need the last")                    \
    X(borders,  "its readers see different borders on one axis")                                    \
    X(reach,    "how far its readers reach depends on sizes or parameters")                         \
    X(far,      "its readers reach beyond it by what isn't known when compiling")                   \
    X(slopes,   "its readers advance at different speeds")                                          \
    X(room,     "a tile of it doesn't fit into 16 KiB of workgroup memory beside the others")       \
    X(work,     "tiles would compute it several times over")

#define X(name, text) VULKAN_CUT_##name,
typedef enum vulkan_cut { VULKAN_CUTS(X) VULKAN_CUT_COUNT } vulkan_cut;
#undef X
const char *vulkan_cut_text(vulkan_cut why);

typedef struct vulkan_memory {
    int      role, which;           /* VPLAN_ROLE_; input or output number */
    uint32_t stage;
    int      layout;                /* VPLAN_LAYOUT_ */
    int      pixel_words;           /* in workgroup or scratch memory */
} vulkan_memory;

/* How the loads of one reader with one slope and border reach into one producer along one axis. */
typedef struct vulkan_reach {
    int      reader;                /* among the kernel's stages */
    int      producer;              /* likewise: workgroup memory; -1: stored */
    uint32_t stage;                 /* the producer's */
    int      axis;                  /* 0, 1 */
    int32_t  p, q;
    ref      lo, hi;                /* uniform */
    uint8_t  border;
} vulkan_reach;

/* Along one axis, relative to the tile. */
typedef struct vulkan_span { int64_t p, q, low, high; } vulkan_span;

typedef struct vulkan_stage {
    uint32_t    stage;
    bool        sink;
    int         memory;             /* of a sink */
    int         depth;              /* pass between barriers in which it is made */
    int         last_depth;         /* in which it is read last */
    int         words;              /* a pixel, in workgroup memory */
    vulkan_span span[2];
} vulkan_stage;

typedef struct vulkan_kernel {
    LIST(vulkan_stage) stages;      /* producers first, sinks last */
    int      n_sinks, n_depths;     /* depths of the stages that are not sinks */
    LIST(vulkan_reach) reaches;
    int      variants;              /* 1: one body; 2: bulk and border; 4: bulk, rows, columns, corners */
    bool     mapped[2];             /* some read has a border along the axis */
    LIST(vplan_slot)    slots;
    LIST(vplan_binding) bindings;
    bool     in_buffer;
    int      granule;               /* pixels that one invocation stores together, by words */
    int      needs;                 /* VPLAN_NEEDS_ */
    int32_t  iterations;            /* value */
    const uint32_t *code[2];        /* with 8 and 16-bit storage; by words */
    uint32_t n_code[2];
} vulkan_kernel;

typedef struct vulkan_schedule {
    arena         *memory;
    tensor_pipe   *pipe;            /* the private copy */
    depends        all;
    stage_loads    loads;
    const vulkan_options *options;
    const diags   *d;               /* knows the sources: for lines of the script */
    dispatch_plan  plan;
    LIST(vulkan_memory) memories;
    int           *memory_of;       /* per stage: memory number or -1 */
    vulkan_cut    *cut;             /* per stage: why a fused stage is stored after all */
    uint32_t      *cut_by;          /* per stage: the reader */
    LIST(vulkan_kernel) kernels;
    LIST(uint8_t)  follows;         /* per node: bit d is set for a load whose index on axis d follows the tile */
    vulkan_values  values;
    LIST(uint32_t) table_words;     /* the tables of constants that kernels read, one after another */
    int32_t       *table_at;        /* per stage: where its words begin; -1: no kernel reads it (or only entries that are known) */
} vulkan_schedule;

/* Everything lives in `memory`. The pipe must be verified and through the passes. */
vulkan_schedule *vulkan_schedule_make(tensor_pipe *p, const vulkan_options *options, const diags *d, arena *memory);

/* kernels.c: which stages of the dispatches go together; reach.c: how far. */
void vulkan_form_kernels(vulkan_schedule *s);
/* Whether the load of a kernel's stage `reader` can be served from workgroup memory. */
vulkan_cut vulkan_load_tiles(vulkan_schedule *s, uint32_t reader, ref load);
void vulkan_find_reaches(vulkan_schedule *s, vulkan_kernel *k);
/* The interval of a fused stage from those of its readers; false: why not. */
vulkan_cut vulkan_span_of(vulkan_schedule *s, const vulkan_kernel *k, int producer, vulkan_span span[2]);

/* Where the words of a table begin in the arguments, which it joins when first asked for. */
int32_t vulkan_table(vulkan_schedule *s, uint32_t stage);

int vulkan_pixel_words(type t);
static inline int64_t vulkan_most_pixels(const vulkan_span *s, int64_t tile) { return (s->p * (tile - 1) + s->high - s->low) / s->q + 1; }

#endif
