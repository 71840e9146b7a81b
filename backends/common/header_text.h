/* SPDX-License-Identifier: MIT
 * What the headers of generated libraries say alike, whatever the backend: comments, parameters, arguments, pictures. */
#ifndef HALO_BACKENDS_COMMON_HEADER_TEXT_H
#define HALO_BACKENDS_COMMON_HEADER_TEXT_H

#include "lowering/tensor.h"

/* The include guard's name for a file. */
void header_guard(text *out, const char *file_name);
/* Inputs, params, and outputs unless `output` is NULL, each after ", ": `image` and `output` are their types, up to the name. */
void header_arguments(text *out, const tensor_pipe *p, const char *image, const char *output);
/* `pattern` with every input's name. */
void header_inputs(text *out, const tensor_pipe *p, const char *pattern);
const char *header_output_name(const tensor_pipe *p, uint32_t which);
/* How a pipe's part of a header begins: NAME_params and NAME_defaults, once however many headers of one pipe are included, then a
 * comment that is left open: what it is, and " *   NAME: input, u8x3, 2 dimensions, LAYOUT" for every picture. `layout` says what
 * stands behind the comma; "": nothing. */
typedef const char *header_layout(const void *user, uint32_t position, type t);
void header_introduction(text *out, const tensor_pipe *p, header_layout *layout, const void *user);

#endif
