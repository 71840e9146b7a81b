/* SPDX-License-Identifier: MIT
 * The helper functions that the value columns of ops.def are written in. Whole numbers are int64_t whatever their kind, so
 * nothing here is undefined; the caller wraps the result to the kind. The real_* functions exist for float here; whoever
 * wants them for double (the interpreter run "as written") defines its own before including ops.def. */
#ifndef HALO_LOWERING_SCALAR_H
#define HALO_LOWERING_SCALAR_H

#include <math.h>
#include <stdint.h>

static inline int64_t wrap_add(int64_t a, int64_t b) { return (int64_t)((uint64_t)a + (uint64_t)b); }
static inline int64_t wrap_sub(int64_t a, int64_t b) { return (int64_t)((uint64_t)a - (uint64_t)b); }
static inline int64_t wrap_mul(int64_t a, int64_t b) { return (int64_t)((uint64_t)a * (uint64_t)b); }

static inline int64_t floor_div(int64_t a, int64_t b)
{
    if (b == 0)
        return 0;
    if (b == -1)
        return wrap_sub(0, a);               /* INT64_MIN / -1 would trap */
    return a / b - (a % b != 0 && (a % b < 0) != (b < 0));
}

static inline int64_t floor_mod(int64_t a, int64_t b)
{
    return b == 0 ? 0 : wrap_sub(a, wrap_mul(b, floor_div(a, b)));
}

static inline int64_t shift_left(int64_t a, int64_t by)
{
    return by < 0 || by > 31 ? 0 : (int64_t)((uint64_t)a << by);
}

static inline int64_t shift_right(int64_t a, int64_t by)
{
    return by < 0 || by > 31 ? (a < 0 ? -1 : 0) : a >> by;
}

/* f16 in memory. */
uint16_t f16_bits_of_f32(float a);
float    f32_of_f16_bits(uint16_t bits);

#endif
