/* SPDX-License-Identifier: MIT
 * What the compiler tells the driver (driver.c) about one pipe, and what the driver hands to the row functions.
 *
 * A pipe becomes sections that run one after another. A section is a few stages that slide over the picture together: the
 * sinks store into memory, every other stage keeps only some rows in a circular line buffer. Generated code is one function
 * per stage that makes one row (or a group of rows) between two columns; which rows exist, where they lie, what border
 * answers a row above the picture, how strips are dealt to workers: all that is the driver's, plain C, the same for every
 * pipe, compiled once to assembly that stands in every generated object.
 *
 * Everything here is 32-bit words, so that the compiler can write a plan into an object as an array of constants. A *slot* is
 * the number of an i32 value that depends on sizes and parameters; the pipe's setup function computes all slots of a run. */
#ifndef HALO_BACKENDS_CPU_PLAN_H
#define HALO_BACKENDS_CPU_PLAN_H

#include "backends/common/driver_math.h"
#include "halo/abi.h"

enum { PLAN_ROLE_input, PLAN_ROLE_output, PLAN_ROLE_scratch };

/* By footprint and last cache, or, for tests: whenever rows are aligned; never. */
enum { PLAN_STREAM_chosen, PLAN_STREAM_always, PLAN_STREAM_never };
/* Bytes of operands for a byte that is read or stored where arithmetic begins to bind. */
enum { PLAN_STREAM_OPERANDS = 16 };

/* How an edge reads: whole rows at sliding y with affine x; whole rows with computed x; anywhere. */
enum { PLAN_EDGE_row, PLAN_EDGE_row_gather, PLAN_EDGE_anywhere };

/* Memory that outlives a section: a host's picture or an intermediate that is stored. */
typedef struct plan_memory {
    int32_t role, which;           /* input or output number */
    int32_t rank;
    int32_t component_bytes, lanes;
    int32_t planar;                /* components in planes (a host's third dimension), else side by side */
    int32_t lo[5], hi[5];          /* slots of the bounds; beyond the rank a slot that is 0 */
    int32_t may_alias;             /* output: input number whose memory it may be, or -1 */
} plan_memory;

/* What a stage reads from one producer under one view. Row indices: (p * y + c) // q for c in lo..hi; columns likewise. */
typedef struct plan_edge {
    int32_t kind;
    int32_t producer;              /* stage of the same section, or -1 */
    int32_t memory;                /* when producer is -1; -1: constants, which are no business of the driver */
    int32_t p_y, q_y, lo_y, hi_y, border_y;      /* lo, hi: slots */
    int32_t p_x, q_x, lo_x, hi_x, border_x;
} plan_edge;

typedef struct plan_stage {
    int32_t row_function;          /* one row */
    int32_t group_function;        /* `group` rows at once, when group > 1 */
    int32_t group;
    int32_t group_columns;         /* the group's function wants at least so many: it has no loop over single pixels */
    int32_t group_rows;            /* slot: no group when it is less than `group`; -1: always */
    int32_t memory;                /* where a sink stores; -1: a line buffer */
    int32_t rank;
    int32_t lo[5], hi[5];          /* slots of the domain */
    int32_t first_edge, n_edges;
    int32_t pixel_bytes;           /* bytes from pixel to pixel in a row of the line buffer */
    int32_t planes;                /* line buffer rows keep components in so many planes */
    int32_t slab;                  /* a row of the line is that of all outer coordinates, one after another: so many; else 1 */
    int32_t border_x;              /* what its line buffer's ends hold (value: by fill_x) */
    int32_t value_y;               /* rows above and below exist and are made by fill_y */
    int32_t ends_stay;             /* the border value along x is the same for all rows: a slot's ends are filled once */
    int32_t fill_x, fill_y;        /* functions that fill columns with the border value of an axis; -1: none */
    int32_t uniforms;              /* the first of the slots that its functions read */
    int32_t cost;                  /* slot: operations a pixel, for cancel, progress and the counter */
    int32_t operand_bytes;         /* of an operation on one component, as vectors have it */
    int32_t streams;               /* a sink whose functions have streaming stores */
    int32_t copies;                /* a line of copies of a memory's rows, which lie there as in the line (its one edge says how) */
} plan_stage;

/* The sinks are the last stages. */
typedef struct plan_section {
    int32_t first_stage, n_stages, n_sinks;
    int32_t tile_width, tile_rows; /* what @tile asks for; 0: chosen by the driver */
} plan_section;

typedef struct plan_header {
    int32_t n_inputs, n_outputs, n_memories, n_stages, n_edges, n_sections, n_slots, n_dims, n_functions;
    int32_t tile_width, tile_rows; /* for all sections, before @tile; 0: not given */
    int32_t stream;                /* PLAN_STREAM_: when sinks use streaming stores */
    int32_t has_params;
    /* words that follow: memories, stages, edges, sections, then 2 words a dim (input, dimension) */
} plan_header;

/* ---- what generated functions see -------------------------------------------------------------- */

/* Rows for one edge, or the rows to write. row[k] points at the pixel of column 0 (which may lie outside of the buffer). For
 * an edge that reads anywhere, `row` is its memory's haloi_view instead. */
typedef struct haloi_rows {
    char  **row;
    int64_t plane_bytes;
    int32_t first_column, last_column;       /* of the producer's domain */
    const char *ahead;                       /* column 0 of the memory's row that the next call reads first, or of any other */
    int64_t ahead_bytes;                     /* from there to the one after it */
} haloi_rows;

/* Memory for reads anywhere: the address of coordinate 0 on every axis. */
typedef struct haloi_view { char *data; int64_t stride[5]; int64_t plane_bytes; } haloi_view;

typedef struct haloi_frame {
    const int32_t    *slots;       /* from the stage's first on */
    const void       *params;
    const int32_t    *dims;
    const haloi_view *views;       /* one per memory */
    const haloi_rows *rows;        /* one per edge of the stage */
    const haloi_rows *destination;
    int64_t           no_overlap;  /* in place: a pixel must not be computed twice */
    int64_t           streaming;   /* whole vectors go past the caches: every row of the destination begins a cache line at x0 */
    int32_t           outer[3];    /* coordinates of dimensions 2, 3, 4 */
} haloi_frame;

typedef void (*haloi_row_function)(const haloi_frame *frame, int32_t y, int32_t x0, int32_t x1);
/* 0, or 1 + the number of the check that failed, or -1 - the number of the parameter out of range. */
typedef int32_t (*haloi_setup_function)(const haloi_frame *frame, int32_t *slots);

typedef struct haloi_code {
    const int32_t             *plan;
    const haloi_row_function  *functions;
    haloi_setup_function       setup;
    const void                *defaults;   /* the parameters' default struct; NULL when some parameter has none */
} haloi_code;

/* ---- the driver's entries ----------------------------------------------------------------------- */

/* *failed (may be NULL): number of the failed check, or -1 - parameter, else untouched. */
int haloi_run(const haloi_code *code, const halo_image *const *inputs, const void *params, const halo_image *const *outputs,
              const halo_part *part, const halo_exec *exec, int32_t *failed);
int haloi_size(const haloi_code *code, const halo_image *const *inputs, const void *params, halo_image *const *outputs, int32_t *failed);
int haloi_needs(const haloi_code *code, const halo_image *const *inputs, const void *params, const halo_part *part,
                halo_part *const *needs, int32_t *failed);
const char *haloi_error(int code);
int32_t haloi_processor_level(void);

#endif
