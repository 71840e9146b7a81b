/* SPDX-License-Identifier: MIT
 * Building a SPIR-V 1.3 module: one word buffer per section, types and constants interned, capabilities implied by use,
 * structured control flow. Knows SPIR-V, and nothing of pictures or tensor IR.
 *
 * One entry point, `main`, a compute shader; one function is open all the time, so that code is appended where the builder
 * stands. Integers have one type of 32 bits without a sign: what is signed is the operation. Values that change are variables
 * of Function storage; there is no phi. Every FAdd, FSub, FMul, FDiv and the like gets NoContraction by itself. */
#ifndef HALO_BACKENDS_VULKAN_SPIRV_H
#define HALO_BACKENDS_VULKAN_SPIRV_H

#include "lang/base.h"

#include <spirv/unified1/GLSL.std.450.h>
#include <spirv/unified1/spirv.h>

typedef uint32_t spv_id;
typedef struct spirv spirv;

/* Lives in `memory`. `debug`: keep names of values and lines of the source, for debuggers and people who read the module. */
spirv *spirv_new(arena *memory, bool debug);
/* Ends the function and gives the module's words; the builder is done with. */
const uint32_t *spirv_finish(spirv *m, uint32_t *n_words);
void spirv_name(spirv *m, spv_id id, const char *format, ...) __attribute__((format(printf, 3, 4)));
/* The code from here on comes from there; line 0: from nowhere. Names of files are compared as pointers. */
void spirv_line(spirv *m, const char *file, uint32_t line, uint32_t column);
void spirv_capability(spirv *m, SpvCapability capability);             /* once each */
void spirv_extension(spirv *m, const char *name);

/* ---- types: equal ones are the same id -------------------------------------------------------- */

spv_id spirv_type_void(spirv *m);
spv_id spirv_type_bool(spirv *m);
spv_id spirv_type_u32(spirv *m);
spv_id spirv_type_u64(spirv *m);                                       /* capability Int64 */
spv_id spirv_type_f32(spirv *m);
spv_id spirv_type_vector(spirv *m, spv_id element, int n);
spv_id spirv_type_pointer(spirv *m, SpvStorageClass storage, spv_id to);
/* The type of a value. */
spv_id spirv_type_of(const spirv *m, spv_id value);

/* ---- constants: equal bits are the same id ----------------------------------------------------- */

spv_id spirv_u32(spirv *m, uint32_t value);
spv_id spirv_u64(spirv *m, uint64_t value);
spv_id spirv_f32(spirv *m, uint32_t bits);
spv_id spirv_bool(spirv *m, bool value);
/* Whether a value is one of those of 32 bits, and its bits (bool: 0 or 1). */
bool spirv_is_constant(const spirv *m, spv_id value, uint32_t *bits);
/* A specialization constant of 32 bits; asked for again: the same. */
spv_id spirv_spec(spirv *m, uint32_t spec_id, uint32_t otherwise);

/* ---- what the module shares with its surroundings ------------------------------------------------ */

/* Storage buffer `binding` of set 0: an array without end of 1, 2 or 4-byte whole numbers (implies 8 and 16-bit storage). Asked for
 * again: the same. */
typedef struct spv_buffer { spv_id variable, element, element_pointer; int bytes; } spv_buffer;
spv_buffer spirv_buffer(spirv *m, uint32_t binding, int element_bytes, bool is_written, const char *name);
/* Element `index`, widened to 32 bits without a sign; or the low bits of a value to there. */
spv_id spirv_buffer_load(spirv *m, spv_buffer b, spv_id index);
void   spirv_buffer_store(spirv *m, spv_buffer b, spv_id index, spv_id value);

/* Image `binding` of set 0, of two dimensions and reals: in a format, a storage image that is either read or written; of unknown format,
 * a sampled image, which is read without a sampler. Asked for again: the same. */
typedef struct spv_image { spv_id handle; SpvImageFormat format; } spv_image;
spv_image spirv_image(spirv *m, uint32_t binding, SpvImageFormat format, bool is_written, const char *name);
/* Whether storage images of it need the capability StorageImageExtendedFormats, a feature of devices (implied by use). */
bool   spirv_format_is_extended(SpvImageFormat format);
/* The first n components of the pixel at (x, y), which has to lie inside; or all four to there. */
void   spirv_image_load(spirv *m, spv_image image, spv_id x, spv_id y, int n, spv_id *components);
void   spirv_image_store(spirv *m, spv_image image, spv_id x, spv_id y, const spv_id components[4]);

/* Push constants: a block of 32-bit words; its length is what was asked for. */
spv_id spirv_push_word(spirv *m, uint32_t which);                      /* loads */
/* Workgroup memory: one array of 32-bit words with a length that is a (specialization) constant. */
void   spirv_shared_declare(spirv *m, spv_id length);
spv_id spirv_shared_load(spirv *m, spv_id index);
void   spirv_shared_store(spirv *m, spv_id index, spv_id word);

/* The workgroup's shape: (x, 1, 1), x a specialization constant with this number (by a constant decorated WorkgroupSize). */
spv_id spirv_workgroup_size(spirv *m, uint32_t spec_id, uint32_t otherwise);
/* Component of a built-in vector of three (WorkgroupId, LocalInvocationId), loaded; or LocalInvocationIndex. */
spv_id spirv_built_in(spirv *m, SpvBuiltIn which, int component);
void   spirv_barrier(spirv *m);                                        /* execution and workgroup memory */

/* ---- code ------------------------------------------------------------------------------------------- */

/* An instruction with a result. */
spv_id spirv_op(spirv *m, SpvOp op, spv_id type, int n, const spv_id *operands);
spv_id spirv_op1(spirv *m, SpvOp op, spv_id type, spv_id a);
spv_id spirv_op2(spirv *m, SpvOp op, spv_id type, spv_id a, spv_id b);
spv_id spirv_op3(spirv *m, SpvOp op, spv_id type, spv_id a, spv_id b, spv_id c);
/* Of the GLSL.std.450 set. */
spv_id spirv_ext1(spirv *m, enum GLSLstd450 op, spv_id type, spv_id a);
spv_id spirv_ext2(spirv *m, enum GLSLstd450 op, spv_id type, spv_id a, spv_id b);
/* An instruction without one. */
void   spirv_do(spirv *m, SpvOp op, int n, const spv_id *operands);

/* Variables of the function. */
spv_id spirv_variable(spirv *m, spv_id type, const char *name);        /* gives the pointer */
spv_id spirv_load(spirv *m, spv_id variable);
void   spirv_store(spirv *m, spv_id variable, spv_id value);

/* if (condition) { ... } else { ... }; the else may be left out. */
typedef struct spv_if { spv_id otherwise, merge; bool has_else; } spv_if;
void spirv_if(spirv *m, spv_if *s, spv_id condition);
void spirv_else(spirv *m, spv_if *s);
void spirv_end_if(spirv *m, spv_if *s);

/* begin; code of the condition; while; body; next; what steps on; end. `unroll`: a hint to do so, else one not to. */
typedef struct spv_loop { spv_id header, body, next, merge; bool unroll; } spv_loop;
void spirv_loop_begin(spirv *m, spv_loop *s, bool unroll);
void spirv_loop_while(spirv *m, spv_loop *s, spv_id condition);
void spirv_loop_next(spirv *m, spv_loop *s);
void spirv_loop_end(spirv *m, spv_loop *s);

#endif
