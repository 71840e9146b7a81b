/* SPDX-License-Identifier: MIT
 * What the ways of loading share: how an edge's pixels lie, indices inside the domain, border values, pointers to rows. */
#ifndef HALO_BACKENDS_CPU_EMIT_LOADS_H
#define HALO_BACKENDS_CPU_EMIT_LOADS_H

#include "backends/cpu/emit.h"

/* pixel_step: components from column to column (in flat bodies the column counts components already: 1). */
typedef struct storage { int kind, bytes; int lanes; int pixel_step; bool planes; bool bgra; } storage;
typedef struct axis_index { LLVMValueRef index, inside; } axis_index;     /* inside: NULL unless the mode is `value` */

static inline int component_place(const storage *s, int c) { return s->bgra && c < 3 ? 2 - c : c; }

/* emit_loads.c */
storage      emit_storage_of(emitter *e, const cpu_edge *edge);
LLVMValueRef emit_edge_field(emitter *e, int edge, size_t offset, LLVMTypeRef t);    /* of its haloi_rows */
LLVMValueRef emit_view_field(emitter *e, int edge, size_t offset, LLVMTypeRef t);    /* of the memory that an edge reads anywhere */
LLVMValueRef emit_row_pointer(emitter *e, const cpu_read *read, int row, int plane);
axis_index   emit_axis_index(emitter *e, ref load, int d, int u, int row, bool vector);
axis_index   emit_column_index(emitter *e, const cpu_read *read, int u, int row, bool vector);
void         emit_column_bounds(emitter *e, const cpu_read *read, LLVMValueRef *lo, LLVMValueRef *hi);      /* scalars; of rows with computed columns */
void         emit_row_gather(emitter *e, const cpu_read *read, LLVMValueRef *parts);                        /* all instances */
/* Puts the border values over what was loaded. */
LLVMValueRef emit_border_values(emitter *e, ref load, int rank, const axis_index *axes, LLVMValueRef v, int u, int row, int c, bool vector);
LLVMValueRef emit_gather(emitter *e, LLVMTypeRef element, int alignment, LLVMValueRef base, LLVMValueRef index);   /* index in elements */

/* emit_pixels.c: whole pixels gathered as one word each, all instances of a load (and of its neighbour); false: not such pixels */
bool         emit_pixels(emitter *e, const cpu_read *read, LLVMValueRef *parts);
LLVMValueRef emit_pixels_guard(emitter *e, const ref *bodies, uint32_t n);      /* does every such row that they read hold a word? NULL: none has to */

/* emit_near.c: all instances of a load whose columns lie near each other more often than not; false: not such a load */
bool         emit_near(emitter *e, const cpu_read *read, LLVMValueRef *parts);

#endif
