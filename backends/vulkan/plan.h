/* SPDX-License-Identifier: MIT
 * What the compiler tells the driver (driver.c) about one pipe: the uniform values of a run as a little program, the memories,
 * and the kernels with their tiles, bindings and slots.
 *
 * A pipe becomes kernels that run one after another, each one dispatch. A kernel is a few fused stages: the sinks store into
 * memory, every other stage lives in workgroup memory for the tile at hand. What a kernel is told about sizes, parameters and
 * strides are *slots*: 32-bit words that stand in its push constants, or, where those are too few, in the arguments part of the
 * scratch buffer, which the driver fills by vkCmdUpdateBuffer. Which tile is at hand stands in the push constants always.
 *
 * Everything here is 32-bit words, so that the compiler can write a plan into an object as an array of constants. The driver is
 * plain C, the same for every pipe: compiled into Halo, and once more to assembly that stands in every generated object. */
#ifndef HALO_BACKENDS_VULKAN_PLAN_H
#define HALO_BACKENDS_VULKAN_PLAN_H

#include "halo/vulkan_abi.h"

/* ---- values: what is known when a run is set up ------------------------------------------------- */

/* One instruction of the uniform program; instruction k makes value k, of kind `kind`. One component each: nodes of several lanes
 * were taken apart. `op` is a tensor_op (lowering/ops.def): the NUM, SEL, INT, FLT, CMP, LOG and TYP ones, select, const (a: bits),
 * param (a: which, b: lane), dim (a: which). `from`: the kind of the operands of comparisons, cast, wrap and bitcast. Semantics to
 * the bit: op_evaluate, cast_evaluate, wrap_evaluate of lowering/scalar.c. */
typedef struct vplan_instruction { int32_t op, kind, from; int32_t a, b, c; } vplan_instruction;

/* ---- memories --------------------------------------------------------------------------------------- */

enum { VPLAN_ROLE_input, VPLAN_ROLE_output, VPLAN_ROLE_scratch };
#define VPLAN_LAYOUTS(X) X(interleaved) X(planar) X(bgra) X(image) X(sampled)
#define X(name) VPLAN_LAYOUT_##name,
enum { VPLAN_LAYOUTS(X) VPLAN_LAYOUT_COUNT };
#undef X

/* Inputs first, then outputs, then scratch. Scratch memory is dense, and a pixel there is `pixel_words` words. */
typedef struct vplan_memory {
    int32_t role, which;            /* input or output number */
    int32_t rank, layout;
    int32_t component_bytes, lanes; /* of the host's picture */
    int32_t pixel_words;            /* scratch: words a pixel */
    int32_t lo[5], hi[5];           /* values: the bounds; beyond the rank a value that is 0 */
} vplan_memory;

/* ---- kernels ---------------------------------------------------------------------------------------- */

/* Push constants of every kernel: words 0 to 4, then, unless `in_buffer`, its slots. */
enum { VPLAN_PUSH_zero,             /* 0: what the shader needs a zero for that no compiler sees */
       VPLAN_PUSH_tile_x, VPLAN_PUSH_tile_y, VPLAN_PUSH_tile_z,      /* added to the workgroup's id */
       VPLAN_PUSH_arguments,        /* in_buffer: word number of slot 0 in the arguments buffer */
       VPLAN_PUSH_slots, VPLAN_PUSH_MOST = 32 };

typedef enum vplan_slot_kind {
    VPLAN_SLOT_value,       /* value `which` */
    VPLAN_SLOT_rect_lo,     /* dimension `d` of what this dispatch makes, in the stage's coordinates, both inclusive. `which` -1: all */
    VPLAN_SLOT_rect_hi,     /* sinks together, which the tiles cover; else sink `which` of the kernel, which stores nothing outside
                             * (of two sinks, one may be wanted in a larger part) */
    VPLAN_SLOT_offset,      /* memory `which`: its element number of the pixel at index 0 of its bounds (coordinates lo), from the start
                             * of what is bound, modulo 2^32: a part binds what it takes, which may begin far from there. Elements are
                             * components; bytes, when the memory is read by words; words for scratch */
    VPLAN_SLOT_stride,      /* the same unit: from pixel to pixel along dimension `d`, modulo 2^32 */
    VPLAN_SLOT_component    /* the same: from component to component (planar pictures; else a constant that needs no slot) */
} vplan_slot_kind;
typedef struct vplan_slot { int32_t kind, which, d; } vplan_slot;

/* What is bound are the pixels that the rectangle takes, no more: a kernel reads nothing for pixels of a tile that lie outside of
 * it. Where values lie outside of a picture the nearest pixel is read and dropped, so it is among them; memory without pixels has
 * a place in scratch for that, and strides of 0. Sums of offset and strides * (index - lo) are taken modulo 2^32; of
 * pixels that are bound they are below 2^31. */

/* A stage of a kernel in workgroup memory: pixels [0, w) x [0, h) of `words` words, plane by plane of words. The most that a tile
 * of tw x th can need of it: w = (p_x * (tw - 1) + reach_x) / q_x + 1, and so h. Stages with overlapping lives (first..last, numbers
 * of passes between barriers) must not overlap. Specialization constants 4 + 3k: w, h, and where it begins. */
typedef struct vplan_shared {
    int32_t words;
    int32_t p_x, q_x, reach_x, p_y, q_y, reach_y;
    int32_t first_pass, last_pass;
    int32_t iterations;             /* value: of loops, for one pixel; the loop over pixels itself isn't counted */
} vplan_shared;

enum { VPLAN_SHARED_MOST = 64 };      /* of one kernel */

/* What a kernel reads and writes; binding k of its set. Binding numbers are dense, from 0. -1 is the arguments buffer (tables
 * and slots). */
typedef struct vplan_binding { int32_t memory; int32_t is_written; } vplan_binding;
enum { VPLAN_BINDINGS_MOST = 96 };    /* of one kernel */

/* How a sink (or anything fused below it) reads a stored memory, for the rectangle that a part needs of it: along x and y
 * (p * i + lo..hi) // q of the kernel's rectangle, then through the border (numbers of border.def); the other dimensions whole;
 * `anywhere`: all of it. */
typedef struct vplan_read {
    int32_t memory, anywhere;
    int32_t p_x, q_x, lo_x, hi_x, border_x;       /* lo, hi: values */
    int32_t p_y, q_y, lo_y, hi_y, border_y;
} vplan_read;

/* Specialization constants: 0 invocations, 1 tile width, 2 tile height, 3 words of workgroup memory (at least 1), then
 * vplan_shared's. */
typedef struct vplan_kernel {
    int32_t first_slot, n_slots, in_buffer;       /* in_buffer: slots stand in the arguments buffer, which is then bound */
    int32_t first_shared, n_shared;
    int32_t first_binding, n_bindings;
    int32_t first_read, n_reads;
    int32_t first_sink, n_sinks;                  /* in the list of sinks: memories */
    int32_t rank;                                 /* of the sinks, whose bounds are all alike: those of the first sink's memory */
    int32_t tile_width, tile_height;              /* asked for by the script or an option, or 0 */
    int32_t granule;                              /* by words: pixels that one invocation stores together, which divide a tile's width */
    int32_t iterations;                           /* value: loop iterations for one pixel of all sinks, as vplan_shared's */
    int32_t first_code, n_code_words;             /* SPIR-V of the module with 8/16-bit storage */
    int32_t first_word_code, n_word_code_words;   /* and of that which reads and writes by words; the same where nothing is narrow */
    int32_t needs;                                /* VPLAN_NEEDS_ */
} vplan_kernel;
/* 8bit, 16bit: of the first module. */
enum { VPLAN_NEEDS_int64 = 1, VPLAN_NEEDS_8bit = 2, VPLAN_NEEDS_16bit = 4, VPLAN_NEEDS_image_extended = 8 };

/* A parameter: where it lies in the params struct, its range. A check of the script: value, code. */
typedef struct vplan_param {
    int32_t offset, kind, lanes, has_range, half_open;
    int32_t lo[2], hi[2];           /* doubles, the low word first */
} vplan_param;
typedef struct vplan_check { int32_t value, is_parameter; } vplan_check;      /* in the order of the pipe's checks */

typedef struct vplan_header {
    int32_t n_inputs, n_outputs, n_memories, n_kernels, n_instructions, n_slots, n_shared, n_bindings, n_reads, n_sinks, n_params;
    int32_t n_checks, n_dims;
    int32_t n_table_words;          /* constants at the start of the arguments buffer */
    int32_t params_bytes;
    /* words that follow: memories, kernels, instructions, slots, shared, bindings, reads, sinks (memory numbers), params, checks, dims
     * (input, dimension), table words */
} vplan_header;

typedef struct haloi_vulkan_code {
    const int32_t  *plan;
    const uint32_t *spirv;          /* of all kernels, one after another */
    const void     *defaults;       /* the parameters' default struct; NULL when some parameter has none */
} haloi_vulkan_code;

/* ---- the driver's entries ----------------------------------------------------------------------------- */

typedef struct haloi_vulkan haloi_vulkan;

int  haloi_vulkan_create(const haloi_vulkan_code *code, VkDevice device, PFN_vkGetDeviceProcAddr loader,
                         const halo_vulkan_device *about, VkPipelineCache cache, haloi_vulkan **out);
void haloi_vulkan_destroy(haloi_vulkan *v);
/* Why create said HALO_VULKAN_ERROR_FEATURE: "shaderInt64", "maxPerStageDescriptorStorageBuffers"; NULL: nothing is missing. */
const char *haloi_vulkan_missing(const haloi_vulkan_code *code, const halo_vulkan_device *about);
/* *failed (may be NULL) as for the CPU (backends/cpu/plan.h): number of the failed check, or -1 - parameter. Only extents are read of
 * `inputs`, but to record. */
int  haloi_vulkan_size(const haloi_vulkan_code *code, const halo_vulkan_image *const *inputs, const void *params,
                       halo_vulkan_image *const *outputs, int32_t *failed);
int  haloi_vulkan_needs(const haloi_vulkan *v, const halo_vulkan_image *const *inputs, const void *params, const halo_part *part,
                        halo_vulkan_needs *needs, int32_t *failed);
/* Which pixels of each input a part of the outputs takes; extent 0: none. */
int  haloi_vulkan_inputs(const haloi_vulkan *v, const halo_vulkan_image *const *inputs, const void *params, const halo_part *part,
                         halo_part *const *parts, int32_t *failed);
int  haloi_vulkan_record(const haloi_vulkan *v, VkCommandBuffer commands, const halo_vulkan_image *const *inputs, const void *params,
                         const halo_vulkan_image *const *outputs, const halo_part *part, const halo_vulkan_slice *slice,
                         const halo_vulkan_resources *resources, int32_t *failed);
/* The tile of kernel `which` that this device was given: width, height, invocations, words of workgroup memory. */
void haloi_vulkan_shape(const haloi_vulkan *v, int32_t which, int32_t shape[4]);
const char *haloi_vulkan_error(int code);

#endif
