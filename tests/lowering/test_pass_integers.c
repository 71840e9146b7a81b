/* SPDX-License-Identifier: MIT
 * Reals that are whole numbers of a scale become those, with every bit kept, and others stay. Each case says how many f32 nodes
 * are left in the bodies: none where all of it can be whole. */
#include "support_pass.h"

#include "lowering/access.h"

static int count_reals(tensor_pipe *p)
{
    int n = 0;
    for (uint32_t s = 1; s < p->stages.count; s++) {
        ref_list nodes = { 0 };
        if (stage_at(p, s)->kind != STAGE_compute) continue;
        reached_nodes(p, p->memory, &stage_at(p, s)->body, 1, &nodes);
        for (uint32_t k = 0; k < nodes.count; k++) n += kind_is_float(node_type(p, nodes.items[k]).kind);
    }
    return n;
}

enum { ANY = -1, ALL = -2 };        /* f32 nodes left: some, as many as before (the pass changes nothing) */

typedef struct integer_case { const char *input, *stages, *output; int reals; } integer_case;

static const char *source_of(arena *memory, const integer_case *c)
{
    return arena_printf(memory, "pipeline 1 @t { param @gain f32 = 2.0 param @count i32 = 3 in 0..4 param @some f32 = 1.0 in 0..2\n"
                                "dim W = %%src[0] dim H = %%src[1] input %%src %s (0..W - 1, 0..H - 1)\n"
                                "table %%b f32 (-1..1) { 0.25, 0.5, 0.25 } table %%d f32 (-1..1) { -0.5, 0.0, 0.5 } table %%m f32 (-1..0) { -1.0, -0.5 }\n"
                                "table %%third f32 (-1..1) { 0.3, 0.4, 0.3 } %s output %%%s as \"out\" }", c->input, c->stages, c->output);
}

static void run_cases(const integer_case *cases, size_t n)
{
    static const uint32_t params[3][TENSOR_MAX_LANES] = { { 0x40200000 }, { 4 }, { 0x3fa00000 } };
    for (size_t k = 0; k < n; k++) {
        arena *memory = arena_new(NULL);
        const char *source = source_of(memory, &cases[k]);
        for (uint64_t seed = 0; seed < 3; seed++) expect_same_bits(source, PASS_integers, 11, 9, params, seed);
        tensor_pipe *p = after_pass(memory, source, PASS_integers);
        tensor_pipe *before = ir_from_text(memory, ir_numbered(memory, source));
        bool changed = pass_integers(before);
        if (changed != (cases[k].reals != ALL)) fail_msg("changed %d: %s", changed, source);
        if (cases[k].reals >= 0 && count_reals(p) != cases[k].reals) fail_msg("%d reals left:\n%s", count_reals(p), ir_text(memory, p));
        arena_free(memory);
    }
}

#define STAGE(name, type, lines) "stage %" name " " type " (0..W - 1, 0..H - 1) { " lines " }\n"
#define SOURCE "$s = load f32 %src (%x, %y) "
/* A convolution along x of `from`, by a table. */
#define CONV(type, table, reach, from, border) \
    "$c = fold conv (%i in -1.." reach ") acc " type " %acc = -0.0 { $w = load f32 %" table " (%i) $x = add i32 %x, %i\n" \
    "  $e = load f32 %" from " [" border ", none] ($x, %y) $n = fma f32 $w, $e, %acc next $n } "

/* Every rule for one node, on the way to an integer or a comparison. */
static void nodes(void **state)
{
    (void)state;
    static const integer_case cases[] = {
        { "u8",  STAGE("a", "u8", SOURCE "$h = mul f32 $s, 0.5 $r = cast u8 $h yield $r"), "a", 0 },             /* halves to even */
        { "i8",  STAGE("a", "i8", SOURCE "$h = div f32 $s, 8.0 $r = cast i8 $h yield $r"), "a", 0 },
        { "i8",  STAGE("a", "u8", SOURCE "$h = div f32 $s, -4.0 $r = cast u8 $h yield $r"), "a", 0 },            /* saturates */
        { "i8",  STAGE("a", "u8", SOURCE "$h = div f32 $s, 0.25 $r = cast u8 $h yield $r"), "a", 0 },
        { "u16", STAGE("a", "u16", SOURCE "$h = mul f32 $s, 0.5 $r = cast u16 $h yield $r"), "a", ALL },         /* 65535 + 1 doesn't fit */
        { "u16", STAGE("a", "u16", SOURCE "$m = min f32 $s, 65534.0 $h = mul f32 $m, 0.5 $r = cast u16 $h yield $r"), "a", 0 },
        { "i16", STAGE("a", "i8", SOURCE "$m = min f32 $s, 32766.0 $h = mul f32 $m, 0.5 $r = cast i8 $h yield $r"), "a", 0 },
        { "u16", STAGE("a", "u16", SOURCE "$h = mul f32 $s, 1.5 $r = cast u16 $h yield $r"), "a", ALL },         /* 17 bits */
        { "u8",  STAGE("a", "i32", SOURCE "$h = sub f32 10.0, $s $r = cast i32 $h yield $r"), "a", 0 },
        { "u8",  STAGE("a", "u32", SOURCE "$h = sub f32 10.0, $s $r = cast u32 $h yield $r"), "a", 0 },
        { "u8",  STAGE("a", "bool", SOURCE "$h = sub f32 10.0, $s $r = cast bool $h yield $r"), "a", 0 },
        { "u8",  STAGE("a", "bool", SOURCE "$h = mul f32 $s, 0.25 $r = lt bool $h, 20.5 yield $r"), "a", 0 },
        { "i16", STAGE("a", "bool", SOURCE "$h = abs f32 $s $r = lt bool $s, $h yield $r"), "a", ALL },          /* one needs a sign, the other all bits */
        { "u16", STAGE("a", "u16", SOURCE "$l = max f32 $s, 40000.0 $h = min f32 $l, 50000.0 $d = sub f32 $h, 32000.5 $r = cast u16 $d yield $r"), "a", ALL },
        { "u8",  STAGE("a", "bool", SOURCE "$h = mul f32 $s, 0.25 $r = lt bool $h, 20.3 yield $r"), "a", ALL },
        { "i8",  STAGE("a", "bool", SOURCE "$h = neg f32 $s $r = eq bool $h, $s yield $r"), "a", 0 },
        { "i8",  STAGE("a", "i16", SOURCE "$h = mul f32 $s, 0.125 $f = floor f32 $h $g = ceil f32 $h $t = trunc f32 $h $r = round f32 $h\n"
                                   "$p = muladd f32 $f, 4.0, $g $q = fma f32 $t, 16.0, $r $m = add f32 $p, $q $z = cast i16 $m yield $z"), "a", 0 },
        { "i8",  STAGE("a", "i16", SOURCE "$h = mul f32 $s, 0.125 $b = abs f32 $h $n = min f32 $b, 3.25 $o = max f32 $n, $s $q = lt bool $h, 1.0\n"
                                   "$t = select f32 $q, $o, $h $d = add f32 $t, $h $z = cast i16 $d yield $z"), "a", 0 },
        { "i8",  STAGE("a", "i16", SOURCE "$h = mul f32 $s, $s $z = cast i16 $h yield $z"), "a", 0 },
        { "i8",  STAGE("a", "i16", SOURCE "$k = cast f32 @count $h = mul f32 $s, $k $z = cast i16 $h yield $z"), "a", 0 },      /* 0..4 */
        { "i8",  STAGE("a", "i16", SOURCE "$h = mul f32 $s, @gain $z = cast i16 $h yield $z"), "a", ALL },       /* any f32 */
        { "i8",  STAGE("a", "i16", SOURCE "$h = div f32 $s, 3.0 $z = cast i16 $h yield $z"), "a", ALL },
        { "i16", STAGE("a", "i16", SOURCE "$h = mul f32 $s, 0.0009765625 $f = floor f32 $h $z = cast i16 $f yield $z"), "a", 0 },
        { "i16", STAGE("a", "i16", SOURCE "$h = mul f32 $s, 0.0009765625 $f = ceil f32 $h $z = cast i16 $f yield $z"), "a", ALL },       /* k + 1023 is too large */
        { "u8x3", STAGE("a", "u8x3", "$s = load f32x3 %src (%x, %y) $h = splat f32x3 0.5 $m = mul f32x3 $s, $h $r = cast u8x3 $m yield $r"), "a", 0 },
        { "u8x3", STAGE("a", "u8", "$s = load f32x3 %src (%x, %y) $p = comp f32 $s index=0 $q = comp f32 $s index=2 $v = vec f32x2 $p, $q $h = splat f32x2 0.5\n"
                                   "$m = mul f32x2 $v, $h $c = comp f32 $m index=1 $r = cast u8 $c yield $r"), "a", 0 },
        { "f32", STAGE("a", "u8", "$s = load f32 %src (%x, %y) $h = mul f32 $s, 0.5 $r = cast u8 $h yield $r"), "a", ALL },
        { "f16", STAGE("a", "u8", SOURCE "$h = mul f32 $s, 0.5 $r = cast u8 $h yield $r"), "a", ALL },
        { "u8",  STAGE("a", "f32", SOURCE "$h = mul f32 $s, 0.5 $r = add f32 $h, 1.0 yield $r"), "a", ALL },     /* f32 it must be, and no sum pays */
        { "u8",  STAGE("a", "f16", SOURCE "$h = mul f32 $s, 0.5 $r = cast f16 $h yield $r"), "a", ALL },
    };
    run_cases(cases, sizeof cases / sizeof *cases);
}

/* Values from outside: a load holds them only when they are of the stage's scale. */
static void borders(void **state)
{
    (void)state;
#define PADDED(value) STAGE("a", "i32", "$i = add i32 %x, 2 $s = load f32 %src [value " value ", edge] ($i, %y) $h = mul f32 $s, 0.5 $r = cast i32 $h yield $r")
    static const integer_case cases[] = {
        { "u8", PADDED("3.0"), "a", 0 },
        { "u8", PADDED("-300.0"), "a", 0 },
        { "u8", PADDED("-0.0"), "a", 0 },
        { "u8", PADDED("0.5"), "a", ALL },
        { "u8", PADDED("0.1"), "a", ALL },
        { "u8", PADDED("100000.0"), "a", ALL },
        { "u8", PADDED("f32(0x7fc00000)"), "a", ALL },
        { "u8", PADDED("f32(0x7f800000)"), "a", ALL },
        { "u8", PADDED("@gain"), "a", ALL },
        { "u8", STAGE("a", "i32", "$f = floor f32 @some $i = add i32 %x, 2 $s = load f32 %src [value $f, edge] ($i, %y)\n"
                                  "$t = mul f32 $s, 0.5 $r = cast i32 $t yield $r"), "a", ALL },                 /* whole, but not of whole numbers */
    };
    run_cases(cases, sizeof cases / sizeof *cases);
}

static void sums(void **state)
{
    (void)state;
    static const integer_case cases[] = {
        { "u8",  STAGE("a", "u8", CONV("f32", "b", "1", "src", "edge") "$r = cast u8 $c yield $r"), "a", 0 },
        { "i8",  STAGE("a", "i8", CONV("f32", "d", "1", "src", "reflect") "$r = cast i8 $c yield $r"), "a", 0 },
        { "u8",  STAGE("a", "u8", CONV("f32", "third", "1", "src", "edge") "$r = cast u8 $c yield $r"), "a", ALL },
        { "u16", STAGE("a", "u16", CONV("f32", "b", "1", "src", "edge") "$r = cast u16 $c yield $r"), "a", ALL },         /* 18 bits */
        { "u16", STAGE("mid", "u16", "$s = load i32 %src (%x, %y) $l = max i32 $s, 60000 $h = min i32 $l, 60100 $r = wrap u16 $h yield $r")
                 STAGE("a", "i32", CONV("f32", "d", "1", "mid", "edge") "$r = cast i32 $c yield $r"), "a", ALL },        /* small at the end only */
        /* f32 it must be: the sum is a stage of its own; -0 where the picture is 0 under weights that are all negative. */
        { "u8",  STAGE("a", "f32", CONV("f32", "b", "1", "src", "edge") "yield $c"), "a", 3 },
        { "u8",  STAGE("a", "f32", CONV("f32", "m", "0", "src", "edge") "yield $c"), "a", ALL },
        { "u8",  STAGE("a", "i32", CONV("f32", "m", "0", "src", "edge") "$r = cast i32 $c yield $r"), "a", 0 },
        { "u8",  STAGE("a", "f32", CONV("f32", "b", "1", "src", "edge") "$r = mul f32 $c, @gain yield $r"), "a", 5 },
        /* With a condition, of nothing, and a start that has a finer scale than the elements. */
        { "u8",  STAGE("a", "u8", "$c = fold loop (%i in 0..@count, %j in 0..1) acc f32 %acc = 0.0 { $t = lt bool %i, %x where $t\n"
                                  "$e = load f32 %src [edge, edge] (%i, %j) $h = mul f32 $e, 0.125 $n = add f32 $h, %acc next $n } $r = cast u8 $c yield $r"), "a", 0 },
        { "u8",  STAGE("a", "u8", "$c = fold loop (%i in 0..2) acc f32 %acc = 0.25 { $e = load f32 %src [edge, edge] (%i, %y) $n = add f32 %acc, $e next $n }\n"
                                  "$r = cast u8 $c yield $r"), "a", ALL },
        { "u8",  STAGE("a", "u8", "$c = fold loop (%i in 0..2) acc f32 %acc = 0.25 { $e = load f32 %src [edge, edge] (%i, %y) $h = mul f32 $e, 0.5 $g = mul f32 $h, 0.25\n"
                                  "$n = add f32 %acc, $g next $n } $r = cast u8 $c yield $r"), "a", 0 },
        { "u8",  STAGE("a", "u8", "$c = fold loop (%i in 0..9) acc f32 %acc = 0.0 { $e = load f32 %src [edge, edge] (%i, %y) $n = mul f32 %acc, $e next $n }\n"
                                  "$r = cast u8 $c yield $r"), "a", ALL },
        /* A sum of sums, and a sum that an unchanged sum reads for every element. */
        { "u8",  STAGE("a", "u8", "$c = fold loop (%j in 0..1) acc f32 %acc = 0.0 { $d = fold loop (%i in 0..1) acc f32 %in = 0.0 { $x = add i32 %x, %i $y = add i32 %y, %j\n"
                                  "$e = load f32 %src [edge, wrap] ($x, $y) $n = add f32 %in, $e next $n } $o = fma f32 $d, 0.25, %acc next $o } $r = cast u8 $c yield $r"), "a", 0 },
        { "u8",  STAGE("a", "u8", "$c = fold loop (%j in 0..1) acc f32 %acc = 0.0 { $d = fold loop (%i in 0..1) acc f32 %in = 0.0 { $x = add i32 %x, %i $y = add i32 %y, %j\n"
                                  "$e = load f32 %src [edge, wrap] ($x, $y) $n = add f32 %in, $e next $n } $o = fma f32 $d, @gain, %acc next $o } $r = cast u8 $c yield $r"), "a", ALL },
        { "u8",  STAGE("a", "i32", "$c = fold loop (%j in 0..1) acc f32 %acc = 0.0 { $y = add i32 %y, %j $e = load f32 %src [edge, wrap] (%x, $y) $h = mul f32 $e, 0.5\n"
                                   "$k = cast i32 $h $f = cast f32 $k $g = sqrt f32 $f $o = fma f32 $g, @gain, %acc next $o } $r = cast i32 $c yield $r"), "a", ANY },
    };
    run_cases(cases, sizeof cases / sizeof *cases);
}

/* Stages in between become whole with their readers, or stay. */
static void stages(void **state)
{
    (void)state;
#define MIDDLE STAGE("mid", "f32", CONV("f32", "b", "1", "src", "edge") "yield $c")
    static const integer_case cases[] = {
        { "u8", MIDDLE STAGE("a", "u8", CONV("f32", "b", "1", "mid", "edge") "$r = cast u8 $c yield $r"), "a", 0 },
        { "u8", MIDDLE STAGE("a", "u8", "$i = sub i32 %x, 3 $m = load f32 %mid [value 2.25, edge] ($i, %y) $r = cast u8 $m yield $r"), "a", 0 },
        { "u8", MIDDLE STAGE("a", "u8", "$i = sub i32 %x, 3 $m = load f32 %mid [value 2.125, edge] ($i, %y) $r = cast u8 $m yield $r"), "a", ANY },
        /* A reader that needs reals: two of them convert back, many don't. */
        { "u8", MIDDLE STAGE("a", "f32", "$m = load f32 %mid (%x, %y) $n = load f32 %mid [edge, none] (%y, %y) $o = mul f32 $n, @gain $t = lt bool $m, 9.5 $r = mul f32 $m, @gain\n"
                                     "$q = select f32 $t, $r, $o yield $q"), "a", 9 },
        { "u8", MIDDLE STAGE("a", "f32", CONV("f32", "third", "1", "mid", "edge") "yield $c"), "a", ANY },
        { "u8", STAGE("mid", "f32", SOURCE "$h = mul f32 $s, 0.5 yield $h") STAGE("a", "f32", CONV("f32", "third", "1", "mid", "edge") "yield $c"), "a", ALL },
        { "u8", STAGE("mid", "f32", SOURCE "$h = mul f32 $s, -0.5 yield $h") STAGE("a", "f32", "$m = load f32 %mid (%x, %y) $r = mul f32 $m, @gain yield $r"), "a", ALL },
        /* An output is what it is. */
        { "u8", MIDDLE STAGE("z", "u8", "$m = load f32 %mid (%x, %y) $r = cast u8 $m yield $r") "output %z as \"z\" ", "mid", 4 },
    };
    run_cases(cases, sizeof cases / sizeof *cases);
}

/* What is made of a convolution is one, so that the passes about those find it. */
static void convolutions_stay(void **state)
{
    (void)state;
    arena *memory = arena_new(NULL);
    static const integer_case c = { "u8", STAGE("a", "u8", CONV("f32", "b", "1", "src", "edge") "$r = cast u8 $c yield $r"), "a", 0 };
    tensor_pipe *p = after_pass(memory, source_of(memory, &c), PASS_integers);
    assert_int_equal(count_folds(p, FOLD_conv, 1), 1);
    assert_int_equal(count_op(p, OP_cast), 0);                       /* the range is known: no saturation */
    p = ir_from_text(memory, ir_numbered(memory, source_of(memory, &c)));
    assert_true(pass_integers(p));
    assert_int_equal(p->notes.count, 1);
    assert_string_equal(p->notes.items[0].text, "computed in whole numbers: its reals are those times 2^-2");
    arena_free(memory);
}

/* A body with reals has their wide lanes, so a sum of whole numbers keeps out of it. */
static void sums_stay_apart(void **state)
{
    (void)state;
    arena *memory = arena_new(NULL);
    static const pass_id passes[] = { PASS_integers, PASS_inline, PASS_clean };
    static const integer_case real = { "u8", MIDDLE STAGE("a", "f32", "$m = load f32 %mid (%x, %y) $r = mul f32 $m, @gain yield $r"), "a", ANY };
    static const integer_case whole = { "u8", MIDDLE STAGE("a", "u8", "$m = load f32 %mid (%x, %y) $r = cast u8 $m yield $r"), "a", 0 };
    assert_int_not_equal(find_stage(after_passes(memory, source_of(memory, &real), passes, 3), "mid"), 0);
    assert_int_equal(find_stage(after_passes(memory, source_of(memory, &whole), passes, 3), "mid"), 0);
    arena_free(memory);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(nodes), cmocka_unit_test(borders), cmocka_unit_test(sums), cmocka_unit_test(stages),
                                        cmocka_unit_test(convolutions_stay), cmocka_unit_test(sums_stay_apart) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
