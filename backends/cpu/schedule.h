/* SPDX-License-Identifier: MIT
 * The schedule of a pipe on the CPU: its sections, the stages in them (with the row loaders and copies that borders need), how
 * every load reads, and how each row function is shaped. Made from a private copy of the pipe; emission only reads it. */
#ifndef HALO_BACKENDS_CPU_SCHEDULE_H
#define HALO_BACKENDS_CPU_SCHEDULE_H

#include "backends/cpu/cpu.h"
#include "lowering/dispatch.h"
#include "lowering/prepare.h"

typedef enum memory_role { MEMORY_input, MEMORY_output, MEMORY_scratch } memory_role;

typedef struct cpu_memory {
    memory_role role;
    int         which;              /* input or output number */
    uint32_t    stage;
    bool        planar, bgra;
    int         may_alias;          /* input number or -1 */
} cpu_memory;

typedef enum read_kind { READ_row, READ_row_gather, READ_anywhere } read_kind;

/* What one stage reads from one producer under one view with one pair of slopes. */
typedef struct cpu_edge {
    read_kind kind;
    int       producer;             /* position in the section, or -1 */
    int       memory;               /* when producer is -1: memory number, or -1 for a table of constants */
    uint32_t  stage;                /* the producer's stage */
    bool      slab;                 /* whose rows are slabs */
    bool      finds_rows;           /* of memory, by row numbers that are computed: the code finds the rows, the driver has no part in it */
    uint8_t   border_x, border_y;
    int32_t   p_x, q_x, p_y, q_y;   /* columns: (p_x * x + c) // q_x (row); rows: (p_y * y + c) // q_y */
    ref       lo_x, hi_x, lo_y, hi_y;
    bool      ahead;                /* the row function asks for the memory's rows that its next call reads first */
} cpu_edge;

/* Does the code look at the bounds of the stage that it reads, not only the driver? */
static inline bool edge_uses_bounds(const cpu_edge *e, int d)
{
    if (d >= 2) return true;
    if (e->kind == READ_row && (d ? e->border_y : e->border_x) == BORDER_none) return false;
    return e->kind == READ_anywhere || e->finds_rows;
}

/* One load of a stage's body. */
typedef struct cpu_read {
    ref load;
    int edge;                       /* in the stage's edges */
    ref rest_x, rest_y;             /* the part of the index that is added, without coordinates */
} cpu_read;

/* Pixels that are made differently by turns: bodies for each remainder of the column by `columns` and of the row by `rows` (1 or
 * 2), in columns of their own: the column of a body stands for columns * itself + its remainder. */
typedef struct cpu_phases {
    int  columns, rows;
    ref  body[4];                   /* of row remainder r and column remainder c: [r * columns + c] */
    struct cpu_stage *as;           /* how the bodies read, in their columns, and the shape of their loops */
} cpu_phases;

typedef struct cpu_stage {
    uint32_t stage;
    bool     sink;
    int      memory;                /* of a sink */
    bool     loader;                /* made by the scheduler: copies rows of a memory, borders included */
    bool     copies;                /* a loader whose rows lie in its memory as in its line: readers take them there, but for the ends */
    bool     flat;                  /* pixels are one line of components; x counts components */
    bool     apart;                 /* flat, but its readers want components in planes: taken apart when they are stored */
    int      lanes, most_lanes;     /* vector lanes of the bulk loop; as many as fit */
    int      unroll;                /* vectors a step */
    int      group;                 /* rows at once */
    int      planes;                /* a row is a slab of so many rows, one for each of its outer coordinates; else 1 */
    int      stream_bytes;          /* of a sink: a streaming store's size and alignment; 0: it has none */
    uint8_t  border_x;              /* what the line's ends hold */
    ref      value_x, value_y;      /* border values of its line, or 0 */
    double   operations;            /* a pixel */
    int      vector_nodes;          /* of the body: what its code is long by */
    LIST(uint32_t) skewed;          /* folds whose first binder walks down the rows that a group shares (emit_folds.c) */
    ref      group_rows;            /* uniform: a group of more rows than this can't be made at once; 0: no limit */
    LIST(cpu_edge) edges;
    LIST(cpu_read) loads;
    cpu_phases *phases;             /* or NULL */
    LIST(ref) uniforms;             /* numbers that its rows find in slots of their own, one after another */
} cpu_stage;

typedef struct cpu_section {
    LIST(cpu_stage) stages;         /* producers first, sinks last */
    int n_sinks;
    uint32_t dispatch;
} cpu_section;

typedef struct cpu_target {
    int  vector_bytes;
    bool fma, f16c, rounding, byte_permutes;     /* byte_permutes: AVX-512 VBMI */
    const char *cpu;                /* its name, or NULL: what is tuned for a processor is for none */
} cpu_target;

typedef struct cpu_schedule {
    arena         *memory;
    tensor_pipe   *pipe;            /* the private copy */
    depends        all;
    const cpu_options *options;
    cpu_target     target;
    dispatch_plan  plan;
    LIST(cpu_memory)  memories;
    int           *memory_of;       /* per stage of the copy: memory number or -1 */
    uint32_t       n_memory_of;
    LIST(cpu_section) sections;
    bool          *choices_used;    /* per choice of the tuning, or NULL */
    LIST(ref)      slots;           /* uniform i32 values that the driver asks for; slot 0 is 0 */
} cpu_schedule;

/* Everything lives in `memory`. The pipe must be verified and through the passes. */
cpu_schedule *cpu_schedule_make(tensor_pipe *p, const cpu_options *options, cpu_target target, arena *memory);

int schedule_slot(cpu_schedule *s, ref uniform);


/* schedule_reads.c: loaders, copies for borders, edges and loads of one section. */
void schedule_reads(cpu_schedule *s, cpu_section *section);
/* phases.c: the phases of a stage whose reads are settled, or NULL. */
cpu_phases *phases_make(cpu_schedule *s, const cpu_stage *c);
/* schedule_shape.c: flat or planar, lanes, groups, unrolling, costs; once the reads of all sections are settled. */
void schedule_shapes(cpu_schedule *s);

/* tuning.c: choices that were measured and take the place of those of schedule_shape.c and the driver. */
bool tuning_wants_planes(cpu_schedule *s, const cpu_stage *c);
void tuning_shape(cpu_schedule *s, cpu_stage *c);
void tuning_plan(cpu_schedule *s, int32_t *tile_width, int32_t *tile_rows, int32_t *stream);       /* what the driver is left to choose */
void tuning_check(cpu_schedule *s, diags *d);                               /* warns of choices that fit no stage */
void tuning_alternatives(cpu_schedule *s, text *out);                       /* lines of a tuning file */
void tuning_explain(cpu_schedule *s, text *out);
void tuning_json(cpu_schedule *s, text *out);                               /* the lines, as strings */
/* uniforms.c: last, when all else is settled */
void schedule_uniforms(cpu_schedule *s);

/* work.c */
double node_operations(const tensor_node *n);
bool   node_is_per_pixel(tensor_pipe *p, depends *all, ref r);        /* done for each column, and more than an index */
/* What is computed for the expressions: all that is reached but for the indices of rows, which are parts of addresses. */
void   computed_nodes(cpu_schedule *s, const cpu_stage *c, const ref *roots, uint32_t n_roots, ref_list *out);
ref    stage_work(cpu_schedule *s, const cpu_stage *c);               /* a uniform i32: operations a pixel, with loops as long as they are */

static inline uint32_t section_sink(const cpu_section *c) { return c->stages.items[c->stages.count - 1].stage; }
/* Pixels that a group's function wants in a row, at least: whole vectors then reach its end, and a loop over single pixels, which
 * would be most of its code, is left to the function of one row. 0: any number; so where pixels are gathered, which vectors can't
 * do in pictures too narrow or too large for it (emit_pixels.c). */
static inline int group_columns(const cpu_stage *c, int lanes_a_pixel)
{
    if (c->group == 1 || c->lanes == 1 || c->phases) return 0;
    for (uint32_t k = 0; k < c->edges.count; k++) if (c->edges.items[k].kind != READ_row && c->edges.items[k].memory >= 0) return 0;
    return c->flat && !c->apart ? (c->lanes + lanes_a_pixel - 1) / lanes_a_pixel : c->lanes;
}

static inline cpu_stage *section_stage(cpu_section *c, int k) { return &c->stages.items[k]; }

#endif
