/* SPDX-License-Identifier: MIT
 * Where definitions are defined, for pictures of 10 x 7: the rules of the language's page "Domains", one row each. */
#include "tests/frontend/lowered.h"

#include <stdio.h>
#include <string.h>

/* src, deep: u8 and u16 pictures; p: src padded by edge; n = 2 a parameter. */
static const struct { const char *definition, *domain; } rows[] = {
    /* unpadded: the whole index is inside */
    { "q[x, y] = src[x, y]", "0..9 0..6" },
    { "q[x, y] = src[x + 1, y] - src[x - 1, y]", "1..8 0..6" },
    { "q[x, y] = src[2*x, 2*y]", "0..4 0..3" },
    { "q[x, y] = src[2*x + 1, y]", "0..4 0..6" },
    { "q[x, y] = src[3*x - 1, y]", "1..3 0..6" },
    { "q[x, y] = src[x // 2, y]", "0..19 0..6" },
    { "q[x, y] = src[(x + 1) // 3, y]", "-1..28 0..6" },
    { "q[x, y] = src[2*(x // 2), y]", "0..9 0..6" },
    { "q[x, y] = src[src.width - 1 - x, y]", "0..9 0..6" },
    { "q[x, y] = src[3 - x, y]", "-6..3 0..6" },
    { "q[x, y] = src[m*x + 1, y]", "0..2 0..6" },
    { "q[x, y] = src[(x + m) // m, y]", "-3..26 0..6" },
    { "q[x, y] = src[y, x]", "0..6 0..9" },
    { "q[x, y] = sum(i in -2..1: src[x + i, y])", "2..8 0..6" },
    { "q[x, y] = sum(i in -n..n, j in 0..n: src[x + i, y + 2*j])", "2..7 0..2" },
    { "q[x, y, z in 0..<4] = src[x, y] - src[x + z, y]", "0..6 0..6 0..3" },
    { "q[x, y] = src[x + src[x, y] % 2, y]", "0..8 0..6" },
    { "q[x, y] = src[x + clamp(i32(deep[x, y]), -1, 2), y]", "1..7 0..6" },
    /* padded: the coordinate's own part is inside */
    { "q[x, y] = p[x + 100, y]", "0..9 0..6" },
    { "q[x, y] = p[2*x + 1, 2*y - 3]", "0..4 0..3" },
    { "q[x, y] = sum(i in -9..9: p[2*x + i - 3, y])", "0..4 0..6" },
    { "q[x, y] = p[x + src[x, y], y]", "0..9 0..6" },
    { "q[x, y] = p[p.width - 1 - x, y]", "0..9 0..6" },
    { "q[x, y] = sum(i in -2..2: p[7 + i - x, y])", "-2..7 0..6" },
    { "q[x, y] = p[(x - 1) // 2, y // 3 + 5]", "0..19 0..20" },
    { "q[x, y] = p[7 - (x + 1) // 2, y]", "-5..14 0..6" },
    { "q[x, y] = p[(5 - x) // 2, y]", "-14..5 0..6" },
    { "q[x, y] = p[x // m, y]", "0..29 0..6" },
    { "q[x, y] = p[m*x + 2, y]", "0..3 0..6" },
    { "q[x in 0..20, y] = p[x - 100, y]", "0..20 0..6" },
    { "q[x, y] = p[src[x, y], y + x] + src[x, y]", "0..9 0..6" },
    /* conditions and where don't ask; both branches do */
    { "q[x, y] = src[x + 1, y] > 3 ? p[x, y] : p[x, y]", "" },
    { "q[x, y] = src[x, y] > 3 ? src[x + 1, y] : src[x, y + 1]", "0..8 0..5" },
    { "q[x, y] = sum(i in -1..1 where src[clamp(x + i, 0, 9), y] > 3: p[x + i, y])", "0..9 0..6" },
    /* stated ranges */
    { "q[(x, y) in src] = 1", "0..9 0..6" },
    { "q[x in 2..<5, y in 3..3] = x", "2..4 3..3" },
    { "q[i in 0..n] = i", "0..2" },
    { "q[i in tab] = i", "0..2" },
    /* convolutions, pads, views */
    { "q = conv(src, [[1, 1, 1], [1, 1, 1], [1, 1, 1]])", "1..8 1..5" },
    { "q = conv(src, [[1, 1]])", "1..9 0..6" },
    { "q = conv(p, [[1, 1]])", "0..9 0..6" },
    { "q = conv(src, [[1, 1, 1]], dilation: 3)", "3..6 0..6" },
    { "q = conv(src, [[1, 1, 1]], stride: 2)", "1..4 0..3" },
    { "q = conv(src, anchor([[1, 2, 3, 4]], 0, 0), stride: (2, 1))", "0..3 0..6" },
    { "q = conv(pad(src, x: edge), [[1, 1, 1], [1, 1, 1], [1, 1, 1]])", "0..9 1..5" },
    { "q = pad(src, edge, 2) + 0", "-2..11 -2..8" },
    { "q = pad(src, edge, left: 4, top: 1) + 0", "-4..9 -1..6" },
    { "q = crop(src, 2, 3, 4, 2) + 0", "0..3 0..1" },
    { "q = concat(src, src, 1) + 0", "0..9 0..13" },
    { "q = paste(pad(src, edge, 1), src, 3, 3) + 0", "0..11 0..8" },
    { "q = origin(conv(src, [[1, 1, 1]])) + 0", "0..7 0..6" },
    { "q = flip(conv(src, [[1, 1, 1]])) + 0", "-8..-1 -6..0" },
    { "q = conv(src, [[1, 1, 1]]) + conv(src, [[1], [1], [1]])", "1..8 1..5" },
    { "q = tab[src // 100] + 0", "0..9 0..6" },
};

static void definitions_have_their_domains(void **state)
{
    (void)state;
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        char text[1024];
        snprintf(text, sizeof text,
                 "pipe domains(src: image u8, deep: image u16, n: i32 = 2 in 0..4, m: i32 = 3 in 1..4) -> image u8 {\n    p = pad(src, edge)\n    tab = [1, 2, 3]\n"
                 "    %s\n    return src\n}\n",
                 rows[k].definition);
        lowered l;
        lower_script(&l, text, NULL);
        if (l.d.items.count > 0)
            print_message("%s: %s\n", rows[k].definition, l.d.items.items[0].message);
        if (rows[k].domain[0] == 0)
            assert_null(l.pipe);
        else if (strcmp(stage_domain(&l, "q"), rows[k].domain) != 0)
            fail_msg("%s: %s, and should be %s", rows[k].definition, stage_domain(&l, "q"), rows[k].domain);
        lowered_free(&l);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(definitions_have_their_domains) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
