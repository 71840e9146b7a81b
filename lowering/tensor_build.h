/* SPDX-License-Identifier: MIT
 * Between the files that build the tensor IR: the raw node maker and the simplifier that the public builders ask first. */
#ifndef HALO_LOWERING_TENSOR_BUILD_H
#define HALO_LOWERING_TENSOR_BUILD_H

#include "lowering/tensor.h"

/* The hash-consed node with these parts, no questions asked (`n_args`, `first_arg` and `uniform` are filled in). */
ref node_make(tensor_pipe *p, tensor_node node, const ref *args, int n_args);

/* A simpler equal of `op` on `args` (op of class NUM SEL INT FLT CMP LOG EXP), or 0. Keeps every bit but NaNs' payloads. */
ref simplify_op(tensor_pipe *p, tensor_op op, const ref *args);
/* The same for cast, wrap and bitcast to `to`, and for select. */
ref simplify_conversion(tensor_pipe *p, tensor_op op, ref a, kind to);
ref simplify_select(tensor_pipe *p, ref condition, ref yes, ref no);
/* The pixel of a table at constant indices, or 0. */
ref simplify_load(tensor_pipe *p, uint32_t stage, const ref *index, const uint8_t *border, const ref *outside, type t);

/* Ops of this class take operands of kind `k`. */
bool class_takes(op_class class, kind k);

/* The bits of component `lane` when it is a constant, through splat and vec. */
bool lane_bits(const tensor_pipe *p, ref r, int lane, uint32_t *bits);
/* Every value of `from` is one of `into`. */
bool kind_holds(kind into, kind from);

#endif
