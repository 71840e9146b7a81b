/* SPDX-License-Identifier: MIT
 * What the passes about convolutions share: recognising a convolution, factoring its kernel, splitting it. */
#ifndef HALO_LOWERING_SEPARATE_H
#define HALO_LOWERING_SEPARATE_H

#include "lowering/access.h"
#include "lowering/constant_stage.h"
#include "lowering/tensor.h"

/* The factors of next = a * b + acc, in any of the forms it is built in. */
bool conv_factors(const tensor_pipe *p, uint32_t fold, ref *a, ref *b);
/* The load under conversions and splats, or 0. */
ref  load_under(const tensor_pipe *p, ref r);

/* FOLD_conv over two binders whose element is one load:
 *   acc + kernel[c0 + p0 * binder, c1 + p1 * binder'] * source[.., a * coord(0) + d * x binder + uniform, .., f(y binder), ..] */
typedef struct convolution {
    tensor_pipe *pipe;
    depends     *all;
    uint32_t     stage, fold;          /* where it stands, and what */
    type         t;                    /* of the result */
    ref          weight, element;      /* the factors of the product */
    ref          weight_load, element_load;
    uint32_t     kernel;               /* the stage of the weights */
    int          x, y;                 /* the binders: x moves along coordinate 0 */
    int          x_dimension;          /* of the source: its index that x moves */
    linear       x_index;
    int32_t      step;                 /* coefficient of coordinate 0 in it */
    int          kernel_binder[2];     /* the binder that each dimension of the kernel follows */
    linear       kernel_index[2];
} convolution;

bool convolution_match(tensor_pipe *p, depends *all, uint32_t stage, uint32_t fold, convolution *out);

/* Is the split worth it, for these numbers of taps? For f32 the answer is part of a program's meaning and counts taps alone. For
 * integers the bits are the same either way, so writing and reading the middle counts too, as much as two taps: a Sobel
 * stays whole, a 3 x 3 binomial is split. */
static inline bool fewer_taps(const convolution *c, int64_t row, int64_t column, int64_t whole)
{
    int64_t step = c->step < 0 ? -(int64_t)c->step : c->step, middle = c->t.kind == KIND_f32 ? 1 : 3;
    return column * step + row + middle <= whole;
}

/* The weight of a tap as a product: expressions in coordinate 0, which stands for the binder's value. */
typedef struct factors { ref x, y; } factors;

/* By the kernel's values: exact, and only where fewer taps result. */
bool factor_constant(const convolution *c, const constant_stages *constant, factors *out);
/* By how the kernel is written: a product of something of its column and something of its row. */
bool factor_written(const convolution *c, factors *out);

/* Two stages for one: columns of taps first, into a new stage; then rows of it. The value of the second, to stand for the fold. */
ref  convolution_split(const convolution *c, const factors *f);

/* Splits every convolution of the pipe that `accepts` and that factors. */
bool separate_all(tensor_pipe *p, bool (*accepts)(const convolution *c));

#endif
