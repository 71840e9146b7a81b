/* SPDX-License-Identifier: MIT
 * The types of expressions, one row each: promotion, common types, literals, selections, conversions. The rows come from the
 * rules of the language, not from what the compiler does. */
#include "tests/frontend/lowered.h"

#include <stdio.h>
#include <string.h>

/* a: u8, b: i8, c: u16, d: i16, e: u32, f: i32, g: f16, h: f32 are values at one pixel; v: u8x3, w: f32x3, t: bool. */
static const char *const prologue =
    "pipe types(ia: image u8, ib: image i8, ic: image u16, id: image i16, ie: image u32, ii: image i32, ig: image f16, ih: image f32)"
    " -> image u8 {\n";

static const struct { const char *expression, *type; } rows[] = {
    /* arithmetic promotes to i32; u32 stays */
    { "a + a", "i32" }, { "a - b", "i32" }, { "c * d", "i32" }, { "e + e", "u32" }, { "a + e", "u32" }, { "f + a", "i32" },
    { "-a", "i32" }, { "abs(b)", "i32" }, { "t + t", "i32" }, { "t + a", "i32" }, { "t * e", "u32" },
    { "a / a", "f32" }, { "f / f", "f32" }, { "a // a", "i32" }, { "a % a", "i32" }, { "e // 2", "u32" }, { "h // 2", "f32" },
    { "g + g", "f32" }, { "g * a", "f32" }, { "h + f", "f32" }, { "a ** 2", "i32" }, { "h ** 2", "f32" }, { "f ** h", "f32" },
    { "e ** 2", "u32" }, { "a ** -1", "f32" },
    /* literals */
    { "1 + 1", "i32" }, { "3000000000", "u32" }, { "e + 1", "u32" }, { "1 + e", "u32" }, { "e + 4000000000", "u32" },
    { "a + 1", "i32" }, { "h + 1", "f32" }, { "-2147483648", "i32" },
    /* selections take the common type, and literals the other one's */
    { "t ? a : a", "u8" }, { "t ? a : c", "u16" }, { "t ? b : d", "i16" }, { "t ? a : b", "i32" }, { "t ? a : h", "f32" },
    { "t ? g : g", "f16" }, { "t ? g : a", "f32" }, { "t ? a : 255", "u8" }, { "t ? a : 256", "i32" }, { "t ? a : -1", "i32" },
    { "t ? b : -1", "i8" }, { "t ? e : 1", "u32" }, { "t ? 1 : 2", "i32" }, { "t ? a : 1.0", "f32" },
    { "max(a, a)", "u8" }, { "min(a, 0)", "u8" }, { "clamp(c, 0, 1023)", "u16" }, { "clamp(a, -1, 300)", "i32" },
    { "max(h, 0)", "f32" }, { "max(g, g)", "f16" }, { "(a, a, a)", "u8x3" }, { "(a, 0)", "u8x2" }, { "(a, 0.5)", "f32x2" },
    { "(v, a)", "u8x4" },
    /* pixels */
    { "v + 1", "i32x3" }, { "v * w", "f32x3" }, { "v.r", "u8" }, { "v.bgr", "u8x3" }, { "w.xy", "f32x2" }, { "v > 3", "boolx3" },
    { "any(v > 3)", "bool" }, { "v > w ? v : 0", "u8x3" }, { "dot(v, v)", "i32" }, { "dot(w, v)", "f32" }, { "length(v)", "f32" },
    { "normalize(v)", "f32x3" }, { "cross(v, v)", "i32x3" }, { "max(v, (0, 0, 0))", "u8x3" },
    /* conditions */
    { "a < h", "bool" }, { "t and not t", "bool" }, { "a == b", "bool" }, { "true", "bool" },
    /* functions and conversions */
    { "floor(a)", "f32" }, { "sqrt(f)", "f32" }, { "sign(a)", "i32" }, { "sign(h)", "f32" }, { "u8(h)", "u8" }, { "f16(a)", "f16" },
    { "u8(w)", "u8x3" }, { "f32x3(a)", "f32x3" }, { "wrap_u8(f)", "u8" }, { "wrap_i16(h)", "i16" }, { "bit_and(a, 15)", "i32" },
    { "bit_xor(e, 0x846ca68b)", "u32" }, { "shift_left(e, f)", "u32" }, { "shift_right(a, 1)", "i32" }, { "bool(a)", "bool" },
    /* reductions */
    { "sum(i in 0..1: a)", "i32" }, { "sum(i in 0..1: e)", "u32" }, { "sum(i in 0..1: g)", "f32" }, { "prod(i in 0..1: v)", "i32x3" },
    { "max(i in 0..1: a)", "u8" }, { "min(i in 0..1: v)", "u8x3" }, { "median(i in 0..1: c)", "u16" }, { "mean(i in 0..1: a)", "f32" },
    { "argmin(i in 0..1: a)", "i32" }, { "argmax(i in 0..1, j in 0..1: h)", "i32x2" }, { "count(i in 0..1: t)", "i32" },
    { "any(i in 0..1: t)", "bool" }, { "all(i in 0..1: v > 3)", "boolx3" }, { "mean(i in 0..1: v)", "f32x3" },
    /* pads supply values of their own type */
    { "pad(ia, zero)[x + 1, y]", "u8" }, { "pad(ia, constant(9))[x + 1, y]", "u8" }, { "pad(ia, constant(-1))[x + 1, y]", "i32" },
    { "pad(ia, constant(0.5))[x + 1, y]", "f32" }, { "pad(ia, fn(p, q) = p)[x + 1, y]", "i32" }, { "pad(ia, edge)[x + 1, y]", "u8" },
    { "pad(ia, constant((1, 2, 3)))[x + 1, y]", "u8x3" },
    /* convolutions */
    { "conv(ia, [[1, 2]])[x, y]", "i32" }, { "conv(ie, [[1, 2]])[x, y]", "u32" }, { "conv(ia, [[1, 2]] / 3)[x, y]", "f32" },
    { "conv(ih, [[1, 2]])[x, y]", "f32" }, { "conv(ia, [[(1, 2, 3)]])[x, y]", "i32x3" }, { "conv(ig, [[1]])[x, y]", "f32" },
};

static void expressions_have_their_types(void **state)
{
    (void)state;
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        char text[2048];
        snprintf(text, sizeof text,
                 "%s    q[x in 2..3, y in 2..3] = value(ia[x, y], ib[x, y], ic[x, y], id[x, y], ie[x, y], ii[x, y], ig[x, y], ih[x, y],"
                 " ia, ie, ih, ig, x, y)\n    return ia\n}\n"
                 "fn value(a, b, c, d, e, f, g, h, ia, ie, ih, ig, x, y) {\n    v = (a, a, a)\n    w = (h, h, h)\n    t = a > 3\n"
                 "    return %s\n}\n",
                 prologue, rows[k].expression);
        lowered l;
        lower_script(&l, text, NULL);
        if (l.d.items.count > 0)
            print_message("%s: %s\n", rows[k].expression, l.d.items.items[0].message);
        const char *type = stage_type(&l, "q");
        if (strcmp(type, rows[k].type) != 0)
            fail_msg("%s is %s, and should be %s", rows[k].expression, type, rows[k].type);
        lowered_free(&l);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(expressions_have_their_types) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
