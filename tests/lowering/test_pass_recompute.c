/* SPDX-License-Identifier: MIT
 * Which stages are computed again: cheap ones on inputs whose readers advance at different speeds, or wait for a smaller level. */
#include "support_pass.h"

#include "lowering/access.h"

#define HEAD "pipeline 1 @t { dim W = %src[0] dim H = %src[1] input %src u8 (0..W - 1, 0..H - 1)\n"
#define CHEAP "stage %a f32 (0..W - 1, 0..H - 1) { $v = load f32 %src (%x, %y) $w = div f32 $v, 255.0 yield $w }\n"
#define DEAR "stage %a f32 (0..W - 1, 0..H - 1) { $v = load f32 %src (%x, %y) $w = div f32 $v, 255.0 $q = sqrt f32 $w $r = sqrt f32 $q $s = sqrt f32 $r $t = sqrt f32 $s $u = sqrt f32 $t yield $u }\n"
#define HALF "stage %h f32 (0..floordiv(W - 1, 2), 0..floordiv(H - 1, 2)) { $x = mul i32 %x, 2 $y = mul i32 %y, 2 $b = load f32 %a [edge, value 0.5] ($x, $y) yield $b }\n"
#define BOTH "stage %out f32 (0..W - 1, 0..H - 1) { $d = load f32 %a (%x, %y) $x2 = floordiv i32 %x, 2 $y2 = floordiv i32 %y, 2 $e = load f32 %h ($x2, $y2) $o = sub f32 $d, $e yield $o }\n"
#define ROWS "stage %out f32 (0..W - 1, 0..H - 1) { $d = load f32 %a (%x, %y) $y2 = add i32 %y, 1 $e = load f32 %a [edge, edge] (%x, $y2) $o = sub f32 $d, $e yield $o }\n"
#define END "output %out as \"out\" }"

typedef struct sample { const char *source; int readers_of_src; } sample;

static const sample samples[] = {
    { HEAD CHEAP HALF BOTH END, 2 },           /* a pyramid: the large level would wait for the small one */
    { HEAD DEAR HALF BOTH END, 1 },            /* too much to do twice */
    { HEAD CHEAP ROWS END, 1 },                /* one reader shares its rows with itself */
};

static int readers_of(const tensor_pipe *p, const char *name)
{
    int count = 0;
    for (uint32_t s = 1; s < p->stages.count; s++)
        if (stage_at(p, s)->kind == STAGE_compute) {
            ref_list nodes = { 0 };
            reached_nodes((tensor_pipe *)(uintptr_t)p, p->memory, &stage_at(p, s)->body, 1, &nodes);
            bool reads = false;
            for (uint32_t k = 0; k < nodes.count; k++)
                reads = reads || (node_at(p, nodes.items[k])->op == OP_load && node_at(p, nodes.items[k])->payload == find_stage(p, name));
            count += reads;
        }
    return count;
}

static void copies_are_made_where_they_pay(void **state)
{
    (void)state;
    arena *memory = arena_new(NULL);
    for (uint32_t k = 0; k < sizeof samples / sizeof *samples; k++)
        assert_int_equal(readers_of(after_pass(memory, samples[k].source, PASS_recompute), "src"), samples[k].readers_of_src);
    arena_free(memory);
}

static void every_bit_stays(void **state)
{
    (void)state;
    for (uint32_t k = 0; k < sizeof samples / sizeof *samples; k++)
        for (uint64_t seed = 0; seed < 10; seed++) expect_same_bits(samples[k].source, PASS_recompute, 9, 6, NULL, seed);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(copies_are_made_where_they_pay), cmocka_unit_test(every_bit_stays) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
