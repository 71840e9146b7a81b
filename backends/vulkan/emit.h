/* SPDX-License-Identifier: MIT
 * Emission of one kernel. It is emitted twice: first to see which slots it takes, which decides where they stand, then for good. */
#ifndef HALO_BACKENDS_VULKAN_EMIT_H
#define HALO_BACKENDS_VULKAN_EMIT_H

#include "backends/vulkan/emit_ops.h"
#include "backends/vulkan/schedule.h"
#include "lowering/body.h"

/* Specialization constants (plan.h). */
enum { SPEC_invocations, SPEC_tile_width, SPEC_tile_height, SPEC_shared_words, SPEC_shared };

typedef struct lanes { spv_id id[TENSOR_MAX_LANES]; } lanes;

/* Along one axis: of the whole workgroup, in the stage's coordinates, both inclusive. */
typedef struct interval { spv_id lo, hi; } interval;

typedef struct emitter {
    spirv           *m;
    arena           *memory;
    vulkan_schedule *s;
    tensor_pipe     *pipe;
    vulkan_kernel   *k;
    bool             words;            /* 8 and 16-bit memory is read and stored by words */
    int              granule;          /* pixels that one invocation stores together */
    bool             mapped[2];        /* border maps are applied along the axis, in the region at hand */
    spv_id           zero;             /* a u32 0 that no compiler sees */
    spv_id           u32, boolean, f32;
    spv_id          *slots;            /* per slot of the kernel: loaded at the start */
    uint32_t         n_slots;          /* those that were loaded; others, in the first round, are 0 */
    interval       (*regions)[2];      /* per stage of the kernel */
    spv_id           inside[2];        /* nothing that is read lies outside along the axis */
    spv_id           coords[TENSOR_MAX_RANK];
    spv_buffer      *buffers;          /* per memory, and the arguments; variable 0: not used yet */
    body             body;             /* of the stages at hand */
    lanes           *values;           /* per number in the body */
} emitter;

/* emit_kernel.c. The first round: sets slots, bindings, needs, the granule. Then, with the slots where they belong, the words of the
 * kernel's module. */
void shader_kernel_probe(vulkan_schedule *s, vulkan_kernel *k, bool words);
const uint32_t *shader_kernel(vulkan_schedule *s, vulkan_kernel *k, bool words, uint32_t *n_words);

/* emit_regions.c: the intervals of all stages, and which axes are inside. */
void shader_regions(emitter *e, interval tile[2]);
/* The index that answers for `index`, for a border that maps. */
spv_id shader_border_map(emitter *e, border mode, spv_id index, spv_id lo, spv_id hi);

/* emit_body.c */
lanes shader_node(emitter *e, ref r);                       /* of a node that was emitted, is uniform or constant */
void  shader_scope(emitter *e, uint32_t scope, uint32_t from, uint32_t to);

/* emit_reads.c */
lanes shader_load(emitter *e, ref load);
spv_id shader_address(emitter *e, int memory, const spv_id *coords);      /* the pixel's first element */
void  shader_store(emitter *e, int memory, const spv_id *coords, lanes pixel);
/* Of a fused stage: 0, its width in workgroup memory; 1, its height; 2, where it begins. */
spv_id shader_shared_spec(emitter *e, int stage, int which);
void  shader_shared_store(emitter *e, int stage, spv_id x, spv_id y, lanes pixel);
/* The pixels that one invocation stores together, as whole words: begun, filled pixel by pixel in a loop, stored from coords on. */
typedef struct shader_run { int memory; int n_planes, n_words, pixel_bits; spv_id words[4 * TENSOR_MAX_LANES]; } shader_run;
void  shader_run_begin(emitter *e, shader_run *r);
void  shader_run_add(emitter *e, const shader_run *r, spv_id number, lanes pixel);
void  shader_run_store(emitter *e, const shader_run *r, const spv_id *coords, spv_id count);      /* count: of the pixels that exist */
bool  memory_by_words(const emitter *e, int memory);
/* A coordinate counted from the bounds' start. */
spv_id shader_from_lo(emitter *e, int memory, const spv_id *coords, int d);

/* emit_images.c: pixels of images of the device. */
lanes shader_image_load(emitter *e, int memory, const spv_id *coords);
void  shader_image_store(emitter *e, int memory, const spv_id *coords, lanes pixel);

/* emit_slots.c */
spv_id shader_slot(emitter *e, vplan_slot slot);
spv_id shader_uniform(emitter *e, ref r, int lane);         /* one lane in a register */
spv_id shader_bound(emitter *e, uint32_t stage, int d, bool hi);
spv_buffer shader_buffer(emitter *e, int memory);           /* -1: tables and arguments */
spv_image  shader_image(emitter *e, int memory);

static inline spv_id shader_i32(emitter *e, int32_t v) { return spirv_u32(e->m, (uint32_t)v); }
static inline spv_id shader_add(emitter *e, spv_id a, spv_id b) { return spirv_op2(e->m, SpvOpIAdd, e->u32, a, b); }
static inline spv_id shader_sub(emitter *e, spv_id a, spv_id b) { return spirv_op2(e->m, SpvOpISub, e->u32, a, b); }
static inline spv_id shader_mul(emitter *e, spv_id a, spv_id b) { return spirv_op2(e->m, SpvOpIMul, e->u32, a, b); }
static inline spv_id shader_less(emitter *e, spv_id a, spv_id b) { return spirv_op2(e->m, SpvOpSLessThan, e->boolean, a, b); }
static inline spv_id shader_at_most(emitter *e, spv_id a, spv_id b) { return spirv_op2(e->m, SpvOpSLessThanEqual, e->boolean, a, b); }
static inline spv_id shader_both(emitter *e, spv_id a, spv_id b) { return spirv_op2(e->m, SpvOpLogicalAnd, e->boolean, a, b); }
static inline spv_id shader_min(emitter *e, spv_id a, spv_id b) { return spirv_ext2(e->m, GLSLstd450SMin, e->u32, a, b); }
static inline spv_id shader_max(emitter *e, spv_id a, spv_id b) { return spirv_ext2(e->m, GLSLstd450SMax, e->u32, a, b); }
static inline spv_id shader_choose(emitter *e, spv_id c, spv_id a, spv_id b)
{
    return spirv_op3(e->m, SpvOpSelect, spirv_type_of(e->m, a), c, a, b);
}

#endif
