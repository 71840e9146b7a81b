/* SPDX-License-Identifier: MIT
 * Where a trial's pictures lie, and what is in them. */
#include <string.h>

#include "backends/vulkan/plan.h"
#include "lowering/scalar.h"
#include "trial.h"

int64_t picture_pixels(const placed_picture *p)
{
    int64_t n = 1;
    for (int d = 0; d < p->rank; d++) n *= p->extent[d];
    return n;
}

void picture_coordinates(const placed_picture *p, int64_t pixel, int32_t at[TENSOR_MAX_RANK])
{
    for (int d = 0; d < p->rank; d++) {
        at[d] = (int32_t)(pixel % p->extent[d]);
        pixel /= p->extent[d];
    }
}

int64_t picture_byte(const placed_picture *p, int64_t pixel, int lane)
{
    int32_t at[TENSOR_MAX_RANK];
    int64_t byte = p->base;
    picture_coordinates(p, pixel, at);
    for (int d = 0; d < p->rank; d++) byte += p->stride[d] * at[d];
    if (p->layout == VPLAN_LAYOUT_planar) return byte + p->stride[p->rank] * lane;
    if (p->layout == VPLAN_LAYOUT_bgra && lane < 3) lane = 2 - lane;
    return byte + kind_bytes(p->t) * lane;
}

/* ---- placing ---------------------------------------------------------------------------------------------------- */

static void choose_layout(placed_picture *p, random_source *r)
{
    int wanted = random_below(r, 3);
    if (wanted == 1 && p->t.lanes > 1 && p->rank < TENSOR_MAX_RANK) p->layout = VPLAN_LAYOUT_planar;
    if (wanted == 2 && p->t.lanes > 2) p->layout = VPLAN_LAYOUT_bgra;
}

/* From the nearest axis to the farthest. */
static void order_axes(const placed_picture *p, random_source *r, bool mix, bool keep_first, int axes[TENSOR_MAX_RANK])
{
    for (int d = 0; d < p->n_axes; d++) axes[d] = d;
    for (int d = p->n_axes - 1; mix && d > keep_first; d--) {
        int other = keep_first + random_below(r, d + 1 - keep_first), kept = axes[d];
        axes[d] = axes[other];
        axes[other] = kept;
    }
}

static int64_t rounded_up(int64_t n, int64_t to) { return (n + to - 1) / to * to; }

static int32_t axis_extent(const placed_picture *p, int axis) { return axis < p->rank ? p->extent[axis] : p->t.lanes; }

/* Rows that are written by words begin at one. */
static void choose_strides(placed_picture *p, random_source *r, bool gaps, bool by_words)
{
    int axes[TENSOR_MAX_RANK];
    int64_t bytes = kind_bytes(p->t), pixel = bytes * (p->layout == VPLAN_LAYOUT_planar ? 1 : p->t.lanes), step = pixel;
    bool mix = gaps && random_below(r, 3) == 0, turn = gaps && random_below(r, 3) == 0;
    order_axes(p, r, mix, by_words, axes);
    for (int k = 0; k < p->n_axes; k++) {
        int d = axes[k];
        bool row = by_words && d == 0 && p->rank > 0;
        if (gaps && !row) step += bytes * (random_below(r, 2) ? random_below(r, 6) : 0);
        if (by_words && !row) step = rounded_up(step, 4);
        p->stride[d] = turn && !row && random_below(r, 2) ? -step : step;
        step *= axis_extent(p, d);
    }
}

void picture_place(placed_picture *p, random_source *r, const trial_choices *choices, int64_t *at)
{
    bool by_words = choices->words && p->output && kind_bytes(p->t) < 4;
    int64_t bytes = kind_bytes(p->t), unit = by_words ? 4 : bytes;
    if (choices->layouts) choose_layout(p, r);
    p->n_axes = p->rank + (p->layout == VPLAN_LAYOUT_planar);
    p->padded = by_words;
    choose_strides(p, r, choices->strides, by_words);
    p->first = p->base = rounded_up(*at, unit) + (choices->strides ? unit * random_below(r, 20) : 0);
    p->end = p->first + bytes * (p->layout == VPLAN_LAYOUT_planar ? 1 : p->t.lanes);
    for (int d = 0; d < p->n_axes; d++) {
        int64_t reach = p->stride[d] * (axis_extent(p, d) - 1);
        if (reach < 0) p->base -= reach;
        p->end += reach < 0 ? -reach : reach;
    }
    if (by_words) p->end = rounded_up(p->end, 4);
    *at = p->end + 64;
}

/* ---- contents ----------------------------------------------------------------------------------------------------- */

/* Mostly small numbers, so that sums differ from one another; in some pictures anything, NaN and infinities too. */
void picture_fill(placed_picture *p, random_source *r)
{
    int64_t count = picture_pixels(p) * p->t.lanes, bytes = kind_bytes(p->t);
    kind k = (kind)p->t.kind;
    int contents = random_below(r, 4);
    for (int64_t c = 0; c < count; c++) {
        int small = random_below(r, 256);
        uint32_t bits = k == KIND_bool ? (uint32_t)small % 2
                      : contents == 0 || (contents == 1 && small < 16) ? random_of_kind(r, k)
                      : kind_is_float(k) ? bits_of_scalar(k, (scalar){ .f = (float)(small - 64) / 16 })
                      : contents == 2 ? random_bits(r) : (uint32_t)small;
        if (k == KIND_f16) bits = f16_bits_of_f32(scalar_of_bits(KIND_f32, bits).f);
        memcpy(p->dense + c * bytes, &bits, (size_t)bytes);
    }
}
