/* SPDX-License-Identifier: MIT
 * Emission of row functions through LLVM's C API. One emitter per function.
 *
 * Every node of a stage's body has a value per *instance*: `unroll` vectors of columns times `group` rows, and per component
 * (one when the row is flat). What does not depend on the column is a scalar per row; what depends on no loop either is put
 * into the entry block. A memo keeps what was emitted; leaving a loop forgets what was emitted inside. */
#ifndef HALO_BACKENDS_CPU_EMIT_H
#define HALO_BACKENDS_CPU_EMIT_H

#include <llvm-c/Core.h>

#include "backends/cpu/plan.h"
#include "backends/cpu/schedule.h"

enum { EMIT_MAX_ROWS = 8, EMIT_MAX_UNROLL = 8 };

typedef struct emitted_function { const char *signature; LLVMValueRef function; } emitted_function;

/* What all functions of a module share. */
typedef struct emit_module {
    cpu_schedule  *schedule;
    arena         *memory;
    LLVMContextRef context;
    LLVMModuleRef  module;
    LLVMValueRef  *tables;            /* per stage: the global of a table, made when first used */
    uint32_t       n_tables;
    const int32_t *param_offsets;     /* bytes into the params struct */
    LIST(emitted_function) emitted;   /* row functions by signature */
} emit_module;

typedef struct node_value {
    LLVMValueRef *parts;              /* [instance * components + component] */
    uint32_t scope;                   /* 0: not emitted; 1: entry; 2: the column loop; 3 and more: loops of folds */
    bool     varies;                  /* along the row: instances are unroll x rows; else one per row */
} node_value;

typedef struct splat_entry { LLVMValueRef scalar, vector; int lanes; } splat_entry;
/* What was read from the frame in the entry block: of an edge's table entry `number` its pointer (in a plane), a field at an
 * offset, the distance of a plane, a field of its view; a row to write; a register of a table's plane; or what load `number` reads
 * for row `edge` of the group. */
typedef enum entry_kind { ENTRY_row, ENTRY_moved_row, ENTRY_field, ENTRY_plane, ENTRY_view, ENTRY_destination, ENTRY_lookup } entry_kind;
typedef struct row_entry { entry_kind kind; int edge; int32_t number; int plane; LLVMValueRef value; } row_entry;

/* Columns that a vector of lanes reads (emit_near.c): where lane 0 does (i64), how far from there the others do, and whether all lie
 * within one vector, or two, from there. */
typedef struct near_columns { LLVMValueRef varying, first, offsets, within[2]; } near_columns;

typedef struct row_store { LLVMValueRef at, value; int element_bytes; } row_store;

typedef struct emitter {
    emit_module    *m;
    tensor_pipe    *pipe;
    depends        *all;
    cpu_stage      *stage;            /* NULL in setup */
    LLVMBuilderRef  builder;
    LLVMValueRef    function, frame, y;
    LLVMBasicBlockRef entry;          /* kept open; hoisted code without loops is appended */
    LLVMBasicBlockRef prologue;       /* the end of what runs after it: hoisted folds; NULL in setup, which hoists nothing */
    bool              in_prologue;
    LLVMValueRef    x;                /* i64 column (component, when flat) of the body at hand */
    int  lanes, unroll, group;        /* of the body at hand; lanes 1 is the scalar body */
    bool flat;
    bool reads;                       /* the stage's own body: the frame has its rows */
    int  flat_lanes;                  /* components a pixel, when flat, else 1 */
    uint32_t scope;
    uint32_t open_folds[16]; int n_open_folds;
    node_value *values;               /* per node */
    uint32_t    n_values;
    LIST(ref)   scoped;               /* nodes that were emitted at scope >= 2, newest last */
    uint16_t   *slot_of;              /* per node: 1 + the number among the stage's uniforms, or 0 */
    uint8_t    *varying, *looping;    /* per node: 1 + whether it changes along the row, holds a fold; 0: not asked yet */
    LIST(splat_entry) splats;
    LIST(row_entry)   rows;
    LIST(near_columns) near;
    LIST(row_store)   stores;         /* of the body at hand, not written yet */
} emitter;

static inline LLVMContextRef emit_context(emitter *e) { return e->m->context; }

/* emit_types.c */
LLVMTypeRef emit_kind_type(LLVMContextRef c, int kind);               /* a value in registers */
LLVMTypeRef emit_memory_type(LLVMContextRef c, int kind);             /* in memory: bool is a byte, f16 its bits */
LLVMTypeRef emit_vector_type(LLVMTypeRef element, int lanes);         /* lanes 1: the element */
LLVMValueRef emit_i32(emitter *e, int32_t v);
LLVMValueRef emit_i64(emitter *e, int64_t v);
LLVMValueRef emit_splat(emitter *e, LLVMValueRef scalar);             /* to the body's lanes, in the entry block where possible */
void emit_take_apart(emitter *e, LLVMValueRef *line, int n, LLVMValueRef *out);       /* the other way: 2 to 4 vectors, end to end, into as many */
LLVMValueRef emit_interleave(emitter *e, LLVMValueRef *parts, int n); /* 2 to 4 vectors: the first lanes of all, then the second lanes ... */
LLVMValueRef emit_iota(emitter *e, int first);                        /* <first, first + 1, ...> i32 */
LLVMValueRef emit_intrinsic(emitter *e, const char *name, LLVMValueRef *args, int n_args);   /* overloaded by the first argument */
/* emit_expand.c: what the processor has no instruction for */
LLVMValueRef emit_expanded(emitter *e, const char *intrinsic, LLVMValueRef v);      /* NULL: as it is */
LLVMValueRef emit_half_to_float(emitter *e, LLVMValueRef half);
LLVMValueRef emit_float_to_half(emitter *e, LLVMValueRef v);
LLVMValueRef emit_from_memory(emitter *e, LLVMValueRef v, int kind);
LLVMValueRef emit_to_memory(emitter *e, LLVMValueRef v, int kind);
LLVMValueRef emit_field(emitter *e, LLVMValueRef base, size_t offset, LLVMTypeRef t, const char *name);   /* a load at base + offset */
LLVMValueRef emit_byte_offset(emitter *e, LLVMValueRef pointer, LLVMValueRef offset_i64);
LLVMValueRef emit_frame_field(emitter *e, size_t offset, LLVMTypeRef t, const char *name);

/* emit_ops.c */
LLVMValueRef emit_op(emitter *e, tensor_op op, int kind, LLVMValueRef *args);
LLVMValueRef emit_cast(emitter *e, LLVMValueRef v, int from, int to);
LLVMValueRef emit_constant(emitter *e, int kind, uint32_t bits);

/* emit_nodes.c */
node_value  *emit_node(emitter *e, ref r);
LLVMValueRef emit_scalar(emitter *e, ref r, int row);                 /* of a node that doesn't vary */
LLVMValueRef emit_part(emitter *e, ref r, int u, int row, int component, bool as_vector);
bool emit_fold_varies(emitter *e, uint32_t fold);
bool emit_varies(emitter *e, ref r);
int  emit_components(const emitter *e, ref r);
void emit_remember(emitter *e, ref r, LLVMValueRef *parts, int count, bool varies);   /* an outside-made value of a node */
void emit_forget(emitter *e, uint32_t scope);                         /* drops all of `scope` and deeper */
LLVMBasicBlockRef emit_hoist_begin(emitter *e);                       /* positions at the entry's end; returns where to go back */
void emit_hoist_end(emitter *e, LLVMBasicBlockRef back);
LLVMValueRef emit_known_entry(const emitter *e, entry_kind kind, int edge, int32_t number, int plane);   /* or NULL */
LLVMValueRef emit_keep_entry(emitter *e, row_entry entry);                                          /* gives its value */

/* emit_scale.c: a product with a power of two in one instruction, or NULL */
LLVMValueRef emit_scaled(emitter *e, ref r, int u, int row, int component, bool vector);

/* emit_loads.c */
void emit_load(emitter *e, ref r, node_value *out);
void emit_ahead(emitter *e);                                          /* asks for what the next rows read at the columns of a step */
LLVMValueRef emit_table_word(emitter *e, const tensor_stage *table, int64_t k);     /* entry k of a table of constants, as it lies in memory */
bool emit_computes_index(emitter *e, ref load, int d);              /* as a number: it isn't only a part of an address */
/* emit_lookup.c: all instances of a load from a small table; false when it isn't one */
bool emit_lookup(emitter *e, const cpu_read *read, LLVMValueRef *parts);
/* emit_folds.c */
void emit_fold(emitter *e, uint32_t fold);

/* emit_signature.c: equal text, equal function */
char *emit_signature(emit_module *m, cpu_stage *stage, ref body, int group, int unroll);

/* emit_row.c: functions of the module; a stage whose rows are made like another's gets the other's function */
LLVMValueRef emit_row_function(emit_module *m, cpu_stage *stage, int group, const char *name);
LLVMValueRef emit_fill_function(emit_module *m, cpu_stage *stage, ref value, const char *name);
LLVMValueRef emit_setup_function(emit_module *m, const char *name);

#endif
