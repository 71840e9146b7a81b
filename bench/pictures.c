/* Pictures of the bench: memory with guards, values that are the same in every run, and comparison. */
#include "bench/measure.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { GUARD = 16384, GUARD_BYTE = 0xC3, POISON_BYTE = 0xA5 };

static const struct { const char *name; size_t bytes; double top; } ELEMENTS[] = {
    [ELEMENT_u8] = {"u8", 1, 255},   [ELEMENT_i8] = {"i8", 1, 127},           [ELEMENT_u16] = {"u16", 2, 65535},
    [ELEMENT_i16] = {"i16", 2, 32767}, [ELEMENT_u32] = {"u32", 4, 4294967295.0}, [ELEMENT_i32] = {"i32", 4, 2147483647},
    [ELEMENT_f32] = {"f32", 4, 1},
};

static bool bad(const char *text, const char *what)
{
    fprintf(stderr, "measure: %s in picture '%s'\n", what, text);
    return false;
}

static bool parse_extent(picture *p, const char *text)
{
    for (p->rank = 0; p->rank < RANK; text++) {
        char *end;
        p->extent[p->rank++] = (int32_t)strtol(text, &end, 10);
        if (end == text || p->extent[p->rank - 1] < 1)
            return false;
        if (*end == '\0')
            return true;
        if (*end != 'x')
            return false;
        text = end;
    }
    return false;
}

bool picture_parse(picture *p, const char *text)
{
    char direction[8], type[8], layout[16], extent[64];
    *p = (picture){.values = "noise"};
    int found = sscanf(text, "%7[^:]:%63[^:]:%7[^:]:%d:%15[^:]:%63[^:]:%15s", direction, p->name, type, &p->components, layout,
                       extent, p->values);
    if (found < 6)
        return bad(text, "too few words");
    p->output = strcmp(direction, "out") == 0;
    p->planar = strcmp(layout, "planar") == 0;
    size_t e = 0;
    while (e < sizeof ELEMENTS / sizeof *ELEMENTS && strcmp(ELEMENTS[e].name, type) != 0)
        e++;
    if (e == sizeof ELEMENTS / sizeof *ELEMENTS)
        return bad(text, "unknown type");
    p->element = (element)e;
    if (p->components < 1 || p->components > 4 || !parse_extent(p, extent))
        return bad(text, "wrong components or extent");
    p->bytes = ELEMENTS[e].bytes * (size_t)p->components;
    for (int d = 0; d < p->rank; d++)
        p->bytes *= (size_t)p->extent[d];
    return true;
}

bool picture_allocate(picture *p, int number)
{
    size_t before = GUARD + (size_t)number * 1088;   /* 17 cache lines */
    size_t all = before + p->bytes + GUARD;
    if (posix_memalign((void **)&p->block, 4096, all) != 0)
        return false;
    p->data = p->block + before;
    memset(p->block, GUARD_BYTE, all);
    return true;
}

bool picture_guards_hold(const picture *p)
{
    for (int i = 1; i <= GUARD; i++) {
        if (p->data[-i] != GUARD_BYTE || p->data[p->bytes + (size_t)i - 1] != GUARD_BYTE)
            return false;
    }
    return true;
}

void picture_poison(picture *p)
{
    memset(p->data, POISON_BYTE, p->bytes);
}

halo_image picture_view(const picture *p)
{
    halo_image image = {.data = p->data, .extent = {1, 1, 1, 1, 1}};
    ptrdiff_t  element = (ptrdiff_t)ELEMENTS[p->element].bytes, step = p->planar ? element : element * p->components;
    for (int d = 0; d < p->rank; d++) {
        image.extent[d] = p->extent[d];
        image.stride[d] = step;
        step *= p->extent[d];
    }
    if (p->planar && p->rank < RANK) {
        image.extent[p->rank] = p->components;
        image.stride[p->rank] = step;
    }
    return image;
}

/* --- Values --- */

static uint32_t mixed(uint32_t a, uint32_t b, uint32_t c)
{
    uint32_t h = a * 0x9E3779B1u ^ b * 0x85EBCA77u ^ c * 0xC2B2AE3Du;
    h = (h ^ h >> 15) * 0x2C1B3C6Du;
    h = (h ^ h >> 12) * 0x297A2D39u;
    return h ^ h >> 15;
}

static double chance(uint32_t a, uint32_t b, uint32_t c)
{
    return mixed(a, b, c) / 4294967296.0;
}

/* A wave of straight lines between 0 and 1. */
static double wave(double t)
{
    t -= (double)(int64_t)t;
    return t < 0.5 ? 2 * t : 2 - 2 * t;
}

/* Slow gradients, patches with sharp edges, and a little noise, as photographs have them. */
static double photo(uint32_t x, uint32_t y, uint32_t plane)
{
    double gradient = 0.6 * wave(x * 0.0011 + plane * 0.21) * wave(y * 0.0017 + plane * 0.13);
    double patch = 0.3 * chance(x / 61, y / 43, plane);
    double noise = 0.08 * chance(x, y, plane + 100);
    return gradient + patch + noise;
}

static double value_at(const picture *p, uint32_t x, uint32_t y, uint32_t plane)
{
    switch (p->values[0]) {
    case 'p': return photo(x, y, plane);
    case 'd': return chance(x / 127, y / 95, plane);   /* depth */
    default:  return chance(x, y, plane);
    }
}

static void store(picture *p, size_t i, double v)
{
    switch (p->element) {
    case ELEMENT_u8:  ((uint8_t *)p->data)[i] = (uint8_t)v; break;
    case ELEMENT_i8:  ((int8_t *)p->data)[i] = (int8_t)v; break;
    case ELEMENT_u16: ((uint16_t *)p->data)[i] = (uint16_t)v; break;
    case ELEMENT_i16: ((int16_t *)p->data)[i] = (int16_t)v; break;
    case ELEMENT_u32: ((uint32_t *)p->data)[i] = (uint32_t)v; break;
    case ELEMENT_i32: ((int32_t *)p->data)[i] = (int32_t)v; break;
    case ELEMENT_f32: ((float *)p->data)[i] = (float)v; break;
    }
}

static double load(const picture *p, const uint8_t *data, size_t i)
{
    switch (p->element) {
    case ELEMENT_u8:  return data[i];
    case ELEMENT_i8:  return ((const int8_t *)data)[i];
    case ELEMENT_u16: return ((const uint16_t *)data)[i];
    case ELEMENT_i16: return ((const int16_t *)data)[i];
    case ELEMENT_u32: return ((const uint32_t *)data)[i];
    case ELEMENT_i32: return ((const int32_t *)data)[i];
    case ELEMENT_f32: return ((const float *)data)[i];
    }
    return 0;
}

/* Where an element lies: plane counts components and all dimensions beyond y. */
static void place(const picture *p, size_t i, uint32_t *x, uint32_t *y, uint32_t *plane)
{
    size_t components = (size_t)p->components, pixels = p->bytes / ELEMENTS[p->element].bytes / components;
    size_t component = p->planar ? i / pixels : i % components, pixel = p->planar ? i % pixels : i / components;
    size_t width = (size_t)p->extent[0], height = p->rank > 1 ? (size_t)p->extent[1] : 1;
    *x = (uint32_t)(pixel % width);
    *y = (uint32_t)(pixel / width % height);
    *plane = (uint32_t)(component + components * (pixel / width / height));
}

void picture_fill(picture *p)
{
    size_t n = p->bytes / ELEMENTS[p->element].bytes;
    double top = strcmp(p->values, "photo10") == 0 ? 1023 : ELEMENTS[p->element].top;
    double step = p->element == ELEMENT_f32 ? 0 : 1;   /* 1.0 is among the values of f32 only by rounding */
    for (size_t i = 0; i < n; i++) {
        uint32_t x, y, plane;
        place(p, i, &x, &y, &plane);
        store(p, i, value_at(p, x, y, plane) * (top + step));
    }
}

/* --- Comparison --- */

difference picture_compare(const picture *p, const uint8_t *right, double tolerance, int margin)
{
    difference d = {0};
    if (memcmp(p->data, right, p->bytes) == 0)
        return d;
    size_t   n = p->bytes / ELEMENTS[p->element].bytes, bytes = ELEMENTS[p->element].bytes;
    uint32_t width = (uint32_t)p->extent[0], height = p->rank > 1 ? (uint32_t)p->extent[1] : 1, rim = (uint32_t)margin;
    for (size_t i = 0; i < n; i++) {
        if (memcmp(p->data + i * bytes, right + i * bytes, bytes) == 0)
            continue;
        uint32_t x, y, plane;
        place(p, i, &x, &y, &plane);
        if (x < rim || x + rim >= width || y < rim || (height > 1 && y + rim >= height))
            continue;
        double a = load(p, p->data, i), b = load(p, right, i), far = fabs(a - b);
        if (p->element == ELEMENT_f32)
            far /= fmax(fabs(b), 1);
        if (!(far <= tolerance) || tolerance == 0)   /* a NaN is far from everything, -0 from 0 if bits count */
            d.count++;
        if (!(far <= d.worst) || d.worst == 0)
            d = (difference){far, d.count, x, y, plane, a, b};
    }
    return d;
}
