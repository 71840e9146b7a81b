/* SPDX-License-Identifier: MIT
 * What the headers of generated libraries say alike, whatever the backend: comments, parameters, arguments, pictures. */
#ifndef HALO_BACKENDS_COMMON_HEADER_TEXT_H
#define HALO_BACKENDS_COMMON_HEADER_TEXT_H

#include "lowering/tensor.h"

/* The include guard's name for a file. */
void header_guard(text *out, const char *file_name);
/* Text inside a comment: nothing in it ends the comment or looks like the start of another. */
void header_comment(text *out, const char *indent, const char *doc);
/* NAME_params and NAME_defaults, once however many headers of one pipe are included; nothing when there are no parameters. */
void header_params(text *out, const tensor_pipe *p);
/* Inputs, params, and outputs unless `output` is NULL, each after ", ": `image` and `output` are their types, up to the name. */
void header_arguments(text *out, const tensor_pipe *p, const char *image, const char *output);
/* `pattern` with every input's name. */
void header_inputs(text *out, const tensor_pipe *p, const char *pattern);
const char *header_output_name(const tensor_pipe *p, uint32_t which);
/* " *   NAME: input, u8x3, 2 dimensions, LAYOUT" for every picture. `layout` says what stands behind the comma; "": nothing. */
void header_images(text *out, const tensor_pipe *p, const char *(*layout)(const void *user, uint32_t position, type t),
                   const void *user);

#endif
