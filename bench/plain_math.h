/* SPDX-License-Identifier: MIT
 * The elementary functions as Halo defines them (lowering/expand_*.c), for the right answers in plain C: the same sums,
 * products and bit operations in the same order. Everything is inlined and free of branches, so that gcc can
 * vectorise the loops around; to be compiled with -ffp-contract=off. */
#ifndef BENCH_PLAIN_MATH_H
#define BENCH_PLAIN_MATH_H
#include <math.h>
#include <stdint.h>
#include <string.h>

static inline int32_t plain_bits(float value) { int32_t bits; memcpy(&bits, &value, 4); return bits; }
static inline float plain_real(int32_t bits) { float value; memcpy(&value, &bits, 4); return value; }
static inline float plain_min(float a, float b) { return a < b ? a : b; }
static inline float plain_max(float a, float b) { return a > b ? a : b; }
static inline float plain_clamp(float v, float lo, float hi) { return plain_min(plain_max(v, lo), hi); }
/* u8(v): half to even, saturated; NaN is 0. */
static inline uint8_t plain_u8(float v) { return (uint8_t)plain_min(255.0f, rintf(plain_max(v, 0.0f))); }
static inline float plain_mix(float a, float b, float t) { return fmaf(b, t, a * (1 - t)); }

static inline float plain_power_of_two(int32_t bits)
{
    return plain_real((int32_t)((uint32_t)bits << 23) + (127 << 23));
}

static inline float plain_scaled(float p, int32_t bits)
{
    int32_t half = bits >> 1;
    return p * plain_power_of_two(half) * plain_power_of_two(bits - half);
}

static inline float plain_exp(float x)
{
    x = plain_min(90.0f, plain_max(-105.0f, x));
    float sum = x * 1.44269504f + 12582912.0f, n = sum - 12582912.0f;
    float r = x - n * 0.693359375f - n * -2.12194440e-4f;
    float p = 0.00138404546f;
    p = p * r + 0.00836935081f;
    p = p * r + 0.0416680835f;
    p = p * r + 0.166665152f;
    p = p * r + 0.49999994f;
    return plain_scaled(r + r * r * p + 1.0f, plain_bits(sum));
}

static inline float plain_exp2_near_zero(float r)
{
    float p = 1.41188793e-05f;
    p = p * r + 0.000154277586f;
    p = p * r + 0.00133381446f;
    p = p * r + 0.00961809792f;
    p = p * r + 0.0555040501f;
    p = p * r + 0.240226507f;
    p = p * r + 0.693147182f;
    return r * p + 1.0f;
}

static inline float plain_exp2(float x)
{
    x = plain_min(129.0f, plain_max(-151.0f, x));
    float sum = x + 12582912.0f;
    return plain_scaled(plain_exp2_near_zero(x - (sum - 12582912.0f)), plain_bits(sum));
}

static inline float plain_head(float value) { return plain_real(plain_bits(value) & ~0xfff); }

/* The rest of the way from log2 x in two parts to 2^(y log2 x). */
static inline float plain_exp2_of_product(float y, float log_hi, float log_lo)
{
    float y_hi = plain_head(y), y_lo = y - y_hi, l_hi = plain_head(log_hi), l_lo = log_hi - l_hi + log_lo;
    float hi = y_hi * l_hi, lo = y_lo * l_hi + y * l_lo, sum = hi + lo;
    float largest = 150 * fabsf(y);                                       /* a constant, as y is */
    if (largest > 151) sum = plain_min(129.0f, plain_max(-151.0f, sum));
    float shifted = sum + 12582912.0f, r = hi - (shifted - 12582912.0f) + lo;
    if (largest > 151) r = plain_min(1.0f, plain_max(-1.0f, r));
    float p = plain_exp2_near_zero(r);
    return largest > 125 ? plain_scaled(p, plain_bits(shifted)) : p * plain_power_of_two(plain_bits(shifted));
}

/* x ** y for a constant y > 0 that isn't whole. */
static inline float plain_pow(float x, float y)
{
    float a = fabsf(x);
    int tiny = a < 0x1p-126f;
    int32_t bits = plain_bits(tiny ? a * 0x1p24f : a) - 0x3f5db3d7;
    float m = plain_real((bits & 0x7fffff) + 0x3f5db3d7), k = (float)((bits >> 23) + (tiny ? -24 : 0));
    int upper = 1.22474487f < m;
    float b = upper ? 1.5f : 1.0f;

    float top = m - b, bottom = m + b, inverse = 1.0f / bottom;
    float s_hi = plain_head(top * inverse), bottom_hi = plain_head(bottom), bottom_lo = m - (bottom_hi - b);
    float s_lo = (top - s_hi * bottom_hi - s_hi * bottom_lo) * inverse;

    float s = s_hi + s_lo, square = s * s;
    float series = 0.418657094f;
    series = series * square + 0.577039063f;
    series = series * square + 0.961796761f;
    float tail = s * square * series, product = s_hi * 0x1.714p+1f;
    float low = s_hi * 0x1.47652cp-11f + s_lo * 2.88539008f + (upper ? 0x1.a39fbep-20f : 0.0f) + tail;
    float base = k + (upper ? 0x1.2b8p-1f : 0.0f), hi = base + product;

    float inside = plain_exp2_of_product(y, hi, product - (hi - base) + low);
    inside = x < 0.0f ? NAN : inside;
    return 0.0f < a && a < INFINITY ? inside : a;
}

/* sin and cos of |x| < 2^17: the angle less n quarter turns, in parts. */
static inline float plain_reduced(float a, int32_t *quadrant)
{
    float sum = a * 0.636619772f + 12582912.0f, n = sum - 12582912.0f;
    float r = a - n * 0x1.92p+0f - n * 0x1.f8p-12f - n * 0x1.a8p-19f;
    float part = n * 0x1.1p-26f, before = r;
    r = before - part;
    float lost = before - r - part;
    part = n * 0x1.0ap-34f, before = r;
    r = before - part;
    lost = lost + (before - r - part);
    *quadrant = plain_bits(sum);
    return r + (lost - n * 0x1.4611a6p-42f);
}

static inline float plain_sin_in_quadrant(float r, int32_t quadrant)
{
    float square = r * r;
    float sine = ((-0.00019518788f * square + 0.00833219197f) * square + -0.166666552f) * (r * square) + r;
    float cosine = ((2.44306702e-05f * square + -0.00138873013f) * square + 0.0416666456f) * (square * square);
    cosine = 1.0f - square * 0.5f + cosine;
    float value = quadrant & 1 ? cosine : sine;
    return quadrant & 2 ? -value : value;
}

static inline float plain_sin(float x)
{
    int32_t quadrant;
    float r = plain_reduced(fabsf(x), &quadrant), value = plain_sin_in_quadrant(r, quadrant);
    return plain_bits(x) < 0 ? -value : value;
}

static inline float plain_cos(float x)
{
    int32_t quadrant;
    float r = plain_reduced(fabsf(x), &quadrant);
    return plain_sin_in_quadrant(r, (int32_t)((uint32_t)quadrant + 1));
}

/* The prelude's. */
static inline float plain_srgb_to_linear(float v)
{
    return v <= 0.04045f ? v / 12.92f : plain_pow((v + 0.055f) / 1.055f, 2.4f);
}

static inline float plain_linear_to_srgb(float v)
{
    float p = plain_pow(v, 1 / 2.4f);
    return v <= 0.0031308f ? 12.92f * v : fmaf(0.055f, p - 1, p);
}

static inline float plain_luma(float r, float g, float b) { return fmaf(0.0722f, b - g, fmaf(0.2126f, r - g, g)); }
#endif
