/* SPDX-License-Identifier: MIT
 * f16 by whole-number arithmetic: the same bits with any compiler and processor. Needs no library, for the drivers that stand in
 * generated objects. */
#ifndef HALO_LOWERING_HALF_H
#define HALO_LOWERING_HALF_H

#include <stdint.h>

static inline uint32_t float_bits(float a)
{
    union { float a; uint32_t bits; } same = { a };
    return same.bits;
}

static inline float float_of_bits(uint32_t bits)
{
    union { uint32_t bits; float a; } same = { bits };
    return same.a;
}

/* To the nearest value that f16 has, ties to even. */
static inline float half_rounded(float a)
{
    uint32_t bits = float_bits(a), sign = bits & 0x80000000u, magnitude = bits & 0x7fffffffu;
    if (magnitude > 0x7f800000u)
        return a;                                            /* NaN */
    if (magnitude >= 0x477ff000u)
        return float_of_bits(sign | 0x7f800000u);            /* 65520 and more round to infinity */
    /* f16 keeps 10 bits after the first one; below 2^-14 it keeps the multiples of 2^-24 instead. */
    uint32_t exponent = magnitude >> 23;
    if (exponent < 102)
        return float_of_bits(sign);                          /* below 2^-25 */
    if (magnitude == 0x33000000u)
        return float_of_bits(sign);                          /* 2^-25 is a tie, and 0 is even */
    uint32_t dropped = exponent >= 113 ? 13 : 126 - exponent;
    if (dropped > 23)
        return float_of_bits(sign | 0x33800000u);            /* above 2^-25, below 2^-24: rounds up to 2^-24 */
    uint32_t half = 1u << (dropped - 1), odd = (magnitude >> dropped) & 1;
    if (dropped == 23)
        odd = 1;                                             /* the only bit kept is the hidden one */
    uint32_t rounded = magnitude + half - 1 + odd;
    return float_of_bits(sign | (rounded >> dropped << dropped));
}

static inline uint16_t half_of_float(float a)
{
    uint32_t bits = float_bits(half_rounded(a)), sign = bits >> 16 & 0x8000u, magnitude = bits & 0x7fffffffu;
    if (magnitude > 0x7f800000u)
        return (uint16_t)(sign | 0x7e00u);
    if (magnitude == 0x7f800000u)
        return (uint16_t)(sign | 0x7c00u);
    if (magnitude >= 0x38800000u)
        return (uint16_t)(sign | ((magnitude - 0x38000000u) >> 13));
    if (magnitude == 0)
        return (uint16_t)sign;
    return (uint16_t)(sign | ((magnitude & 0x7fffffu) | 0x800000u) >> (126 - (magnitude >> 23)));
}

static inline float float_of_half(uint16_t bits)
{
    uint32_t sign = (uint32_t)(bits & 0x8000u) << 16, exponent = bits >> 10 & 31, fraction = bits & 1023u;
    if (exponent == 31)
        return float_of_bits(sign | 0x7f800000u | fraction << 13);
    if (exponent)
        return float_of_bits(sign | (exponent + 112) << 23 | fraction << 13);
    float magnitude = (float)fraction * 0x1p-24f;
    return sign ? -magnitude : magnitude;
}

#endif
