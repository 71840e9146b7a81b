/* SPDX-License-Identifier: MIT
 * Narrow lanes: which bodies get them, which mustn't, and that every bit stays, at the ends of the ranges above all. */
#include "support_pass.h"

#include "lowering/access.h"

#define HEAD(type) "pipeline 1 @t { dim W = %src[0] dim H = %src[1] input %src " type " (0..W - 1, 0..H - 1)\n"
#define OUT(type) "stage %out " type " (0..W - 1, 0..H - 1) { "
#define END "yield $out } output %out as \"out\" }"
#define PIXEL(type) "$a = load " type " %src [edge, edge] (%x, %y) $x = add i32 %x, 1 $b = load " type " %src [edge, edge] ($x, %y) "

typedef struct sample { const char *source; int bits; } sample;          /* bits: of the widest whole number left in %out's values */

/* bits 32: the body has to stay as it is. */
static const sample samples[] = {
    /* 0..510: 16 bits; its average 8 after 16. */
    { HEAD("u8") OUT("u8") PIXEL("i32") "$s = add i32 $a, $b $t = add i32 $s, 1 $out8 = floordiv i32 $t, 2 $out = cast u8 $out8 " END, 16 },
    /* The low bits of a product need no range; its shift to the right does. */
    { HEAD("u16") OUT("u16") PIXEL("i32") "$s = mul i32 $a, $b $out = wrap u16 $s " END, 16 },
    { HEAD("u16") OUT("u16") PIXEL("i32") "$s = mul i32 $a, $b $h = shr i32 $s, 4 $out = wrap u16 $h " END, 32 },
    { HEAD("u16") OUT("u16") PIXEL("i32") "$s = add i32 $a, $b $out = cast u16 $s " END, 32 },
    { HEAD("u16") OUT("u8") PIXEL("i32") "$s = sub i32 $a, $b $out = wrap u8 $s " END, 16 },
    /* -255..255, then its absolute value. */
    { HEAD("u8") OUT("u8") PIXEL("i32") "$s = sub i32 $a, $b $t = abs i32 $s $out = cast u8 $t " END, 16 },
    /* |-32768| is 32768. */
    { HEAD("i16") OUT("u16") PIXEL("i32") "$t = abs i32 $a $out = cast u16 $t " END, 16 },
    /* -32768 // -1 is 32768: its low bits are right, but whoever looks at the whole of it needs more. */
    { HEAD("i16") OUT("u16") PIXEL("i32") "$t = floordiv i32 $a, -1 $out = wrap u16 $t " END, 16 },
    { HEAD("i16") OUT("u16") PIXEL("i32") "$t = floordiv i32 $a, -1 $out = cast u16 $t " END, 32 },
    /* -(-32768) doesn't fit as a signed number, and -1 not as an unsigned one. */
    { HEAD("i16") OUT("u16") PIXEL("i32") "$t = neg i32 $a $out = cast u16 $t " END, 32 },
    /* Signed against unsigned. */
    { HEAD("u16") OUT("u8") PIXEL("i32") "$t = sub i32 $a, 70000 $c = lt bool $t, $b $out = select u8 $c, u8(1), u8(7) " END, 32 },
    { HEAD("i16") OUT("u8") PIXEL("i32") "$c = lt bool $a, $b $out = select u8 $c, u8(1), u8(7) " END, 16 },
    /* Through f32 nothing is narrowed. */
    { HEAD("u8") OUT("u8") PIXEL("i32") "$s = add i32 $a, $b $f = cast f32 $s $g = mul f32 $f, 0.3 $out = cast u8 $g " END, 32 },
    /* Sums over a fold; a maximum that starts below all. */
    { HEAD("u8") OUT("u8") "$s = fold loop (%i in -2..2) acc i32 %acc = 0 { $x = add i32 %x, %i $e = load i32 %src [edge, edge] ($x, %y) $n = add i32 %acc, $e next $n } "
      "$t = floordiv i32 $s, 5 $out = cast u8 $t " END, 16 },
    { HEAD("i16") OUT("i16") "$s = fold loop (%i in -2..2) acc i32 %acc = -32768 { $x = add i32 %x, %i $e = load i32 %src [edge, edge] ($x, %y) $n = max i32 %acc, $e next $n } "
      "$out = cast i16 $s " END, 16 },
    /* Counting in 8 bits what a condition lets through. */
    { HEAD("u8") OUT("u8") "$s = fold loop (%i in -2..2) acc i32 %acc = 0 { $x = add i32 %x, %i $e = load i32 %src [edge, edge] ($x, %y) $c = lt bool 100, $e where $c "
      "$n = add i32 %acc, 1 next $n } $out = cast u8 $s " END, 8 },
    /* Values outside take part in the range. */
    { HEAD("u8") OUT("u16") "$x = add i32 %x, 3 $a = load i32 %src [value 70000, edge] ($x, %y) $out = cast u16 $a " END, 32 },
    { HEAD("u8") OUT("u16") "$x = add i32 %x, 3 $a = load i32 %src [value 65535, edge] ($x, %y) $out = cast u16 $a " END, 16 },
    { HEAD("u16x3") OUT("u16x3") "$x = add i32 %x, 1 $a = load i32x3 %src [edge, edge] ($x, %y) $r = comp i32 $a index=0 $g = comp i32 $a index=1 $m = min i32 $r, $g "
      "$v = vec i32x3 $m, $g, $r $out = cast u16x3 $v " END, 16 },
};

static int widest_operation(const tensor_pipe *p)
{
    int most = 0;
    uint32_t stage = find_stage(p, "out");
    depends all = { 0 };
    ref_list nodes = { 0 };
    reached_nodes((tensor_pipe *)(uintptr_t)p, p->memory, &stage_at(p, stage)->body, 1, &nodes);
    for (uint32_t k = 0; k < nodes.count; k++) {
        ref r = nodes.items[k];
        const tensor_node n = *node_at(p, r);
        if (!kind_is_integer(n.type.kind) || n.op == OP_coord || !depends_of((tensor_pipe *)(uintptr_t)p, &all, r)->loads) continue;
        if (kind_get((kind)n.type.kind)->bits > most) most = kind_get((kind)n.type.kind)->bits;
    }
    return most;
}

static void lanes_are_as_narrow_as_proved(void **state)
{
    (void)state;
    arena *memory = arena_new(NULL);
    for (uint32_t k = 0; k < sizeof samples / sizeof *samples; k++) {
        tensor_pipe *p = after_pass(memory, samples[k].source, PASS_narrow);
        if (widest_operation(p) != samples[k].bits) fail_msg("sample %u has %d bits, not %d", k, widest_operation(p), samples[k].bits);
    }
    arena_free(memory);
}

static void every_bit_stays(void **state)
{
    (void)state;
    for (uint32_t k = 0; k < sizeof samples / sizeof *samples; k++)
        for (uint64_t seed = 0; seed < 20; seed++) expect_same_bits(samples[k].source, PASS_narrow, 9, 5, NULL, seed);
}

/* A stage between is kept in what its values need; the script's output never changes. */
static void stages_are_kept_small(void **state)
{
    (void)state;
    arena *memory = arena_new(NULL);
    tensor_pipe *p = after_pass(memory, HEAD("u8") "stage %mid i32 (0..W - 1, 0..H - 1) { " PIXEL("i32") "$m = sub i32 $a, $b yield $m } "
                                OUT("i32") "$out = load i32 %mid [edge, edge] (%x, %y) " END, PASS_narrow);
    assert_int_equal(stage_at(p, find_stage(p, "mid"))->type.kind, KIND_i16);
    assert_int_equal(stage_at(p, find_stage(p, "out"))->type.kind, KIND_i32);
    arena_free(memory);
}

/* %mid has up to 32 bits: of its products and their sums, in a loop too, the low 16 are enough when the reader wraps; not when it
 * looks at their sign, or divides. */
static void nobody_looks_at_high_bits(void **state)
{
    (void)state;
    static const struct { const char *reader; kind kept; } readers[] = {
        { "$s = add i32 $a, $b $out = wrap u16 $s ", KIND_u16 },
        { "$s = fold loop (%i in -2..2) acc i32 %acc = 3 { $u = add i32 %x, %i $e = load i32 %mid [edge, edge] ($u, %y) $n = add i32 %acc, $e next $n } $out = wrap u16 $s ", KIND_u16 },
        { "$s = fold loop (%i in -2..2) acc i32 %acc = 3 { $u = add i32 %x, %i $e = load i32 %mid [edge, edge] ($u, %y) $n = max i32 %acc, $e next $n } $out = wrap u16 $s ", KIND_i32 },
        { "$c = lt bool $a, $b $s = select i32 $c, $a, $b $out = wrap u16 $s ", KIND_i32 },
        { "$s = floordiv i32 $a, 3 $out = wrap u16 $s ", KIND_i32 },
        { "$s = shr i32 $a, 1 $out = wrap u16 $s ", KIND_i32 },
        { "$s = shl i32 $a, 1 $out = wrap u16 $s ", KIND_u16 },
        { "$s = add i32 $a, $b $out = cast u16 $s ", KIND_i32 },
    };
    arena *memory = arena_new(NULL);
    for (uint32_t k = 0; k < sizeof readers / sizeof *readers; k++) {
        const char *before = HEAD("u16") "stage %mid i32 (0..W - 1, 0..H - 1) { " PIXEL("i32") "$m = mul i32 $a, $b $n = add i32 $m, $a yield $n } "
            OUT("u16") "$a = load i32 %mid [edge, value 70000] (%x, %y) $x = add i32 %x, 1 $b = load i32 %mid [edge, edge] ($x, %y) ";
        const char *source = arena_printf(memory, "%s%s" "%s", before, readers[k].reader, END);
        tensor_pipe *p = after_pass(memory, source, PASS_narrow);
        if (stage_at(p, find_stage(p, "mid"))->type.kind != readers[k].kept) fail_msg("reader %u", k);
        for (uint64_t seed = 0; seed < 10; seed++) expect_same_bits(source, PASS_narrow, 9, 5, NULL, seed);
    }
    arena_free(memory);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(lanes_are_as_narrow_as_proved), cmocka_unit_test(every_bit_stays), cmocka_unit_test(stages_are_kept_small), cmocka_unit_test(nobody_looks_at_high_bits) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
