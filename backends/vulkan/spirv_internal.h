/* SPDX-License-Identifier: MIT
 * What the files of the module builder share. */
#ifndef HALO_BACKENDS_VULKAN_SPIRV_INTERNAL_H
#define HALO_BACKENDS_VULKAN_SPIRV_INTERNAL_H

#include "backends/vulkan/spirv.h"

typedef LIST(uint32_t) spv_words;

/* What is known of an id: the type of a value (0: it has none); of a pointer type or a vector type, what is inside; whether it is a
 * constant of 32 bits, and they. */
typedef struct spv_about { spv_id type, inside; bool is_constant; uint32_t bits; } spv_about;

/* A type or constant: op, type and operands stand in `keys`. id 0: free. */
typedef struct spv_interned { uint32_t hash, first, n; spv_id id; } spv_interned;

typedef struct spv_spec_constant { uint32_t spec_id; spv_id id; } spv_spec_constant;
typedef struct spv_bound_buffer { spv_buffer buffer; uint32_t binding; bool is_written; } spv_bound_buffer;
typedef struct spv_bound_image { spv_image image; uint32_t binding; } spv_bound_image;
/* `parts`: its components as loaded at the start of the function. */
typedef struct spv_input { SpvBuiltIn which; spv_id variable, value, parts[3]; } spv_input;

typedef struct spv_file { const char *name; spv_id id; } spv_file;

struct spirv {
    arena *memory;
    bool   debug;
    LIST(spv_about) ids;                     /* by id; ids.items[0] is none */

    /* The sections in the order of the format. `first_block`: variables of the function; `loads`: what is loaded once, at its start. */
    spv_words capabilities, extensions, strings, names, decorations, globals, first_block, loads, body;

    spv_interned *interned;                  /* open addressing, a power of two */
    uint32_t      n_interned, interned_capacity;
    spv_words     keys;

    LIST(spv_spec_constant) specs;
    LIST(spv_bound_buffer)  buffers;
    LIST(spv_bound_image)   images;
    LIST(spv_input)         inputs;
    LIST(const char *)      extension_names;
    LIST(spv_file)          files;           /* sources of lines */
    spv_id   line_file;                      /* where the code at hand comes from; 0: unknown */
    uint32_t line[2];                        /* line, column */
    LIST(spv_id)            push_words;      /* loaded values by number; 0: not asked for */
    spv_id block_of[3];                      /* by element bytes: 0: 1, 1: 2, 2: 4 */

    spv_id main, main_label, glsl, push_block, shared, shared_element, workgroup_size;
    uint32_t workgroup_otherwise;
};

spv_id spirv_new_id(spirv *m, spv_id type);
/* One instruction into a section. */
void   spirv_put(spirv *m, spv_words *section, SpvOp op, int n, const uint32_t *operands);
/* One with a type and a result. */
spv_id spirv_put_result(spirv *m, spv_words *section, SpvOp op, spv_id type, int n, const uint32_t *operands);
/* A type (type 0) or constant; equal ones are made once. */
spv_id spirv_interned(spirv *m, SpvOp op, spv_id type, int n, const uint32_t *operands);
void   spirv_decorate(spirv *m, spv_id id, SpvDecoration decoration, int n, const uint32_t *operands);
/* A variable of the module. */
spv_id spirv_global(spirv *m, SpvStorageClass storage, spv_id type);
/* An instruction whose operands end in a string. */
void   spirv_put_string(spirv *m, spv_words *section, SpvOp op, int n, const uint32_t *operands, const char *string,
                        int n_after, const uint32_t *after);
/* Says again where the code comes from: a block ends what was said. */
void   spirv_repeat_line(spirv *m);
/* The push constants' block, now that its length is known. */
void   spirv_finish_push(spirv *m);
void   spirv_finish_buffers(spirv *m);

#define SPIRV_COUNT(array) ((int)(sizeof(array) / sizeof *(array)))

#endif
