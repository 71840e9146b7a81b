/* SPDX-License-Identifier: MIT
 * IR text: what is printed reads back as the same text and the same values, for random pipes; broken texts give errors. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "support_ir.h"

/* ---- random pipes ------------------------------------------------------------------------------ */

enum { MAX_POOL = 64, WIDTH = 5, HEIGHT = 4 };

typedef struct builder {
    random_source random;
    tensor_pipe *pipe;
    ref pool[MAX_POOL];                   /* what the expression at hand may use */
    int n_pool;
    int depth;
} builder;

static int below(builder *b, int n) { return random_below(&b->random, n); }

static void keep(builder *b, ref r)
{
    if (b->n_pool < MAX_POOL)
        b->pool[b->n_pool++] = r;
}

/* Something of this type from the pool, or a constant. */
static ref pick(builder *b, type wanted)
{
    for (int tries = 0; tries < 20 && b->n_pool; tries++) {
        ref r = b->pool[below(b, b->n_pool)];
        if (type_equal(node_type(b->pipe, r), wanted))
            return r;
    }
    return tensor_splat(b->pipe, tensor_const(b->pipe, wanted.kind, random_of_kind(&b->random, wanted.kind)), wanted.lanes);
}

static void add_op(builder *b)
{
    tensor_op op = (tensor_op)(1 + below(b, OP_cast - 1));
    const op_info *info = op_get(op);
    static const kind nums[] = { KIND_i32, KIND_f32, KIND_u32 };
    kind k = info->class == CLASS_LOG ? KIND_bool : info->class == CLASS_FLT || info->class == CLASS_EXP ? KIND_f32
           : info->class == CLASS_INT ? (below(b, 2) ? KIND_i32 : KIND_u32) : nums[below(b, 3)];
    type t = type_of(k, below(b, 3) ? 1 : 2);
    ref x = pick(b, t), y = pick(b, t), z = pick(b, t);
    keep(b, info->arity == 1 ? tensor_op1(b->pipe, op, x) : info->arity == 2 ? tensor_op2(b->pipe, op, x, y) : tensor_op3(b->pipe, op, x, y, z));
}

static void add_structure(builder *b)
{
    static const kind kinds[] = { KIND_i32, KIND_f32, KIND_bool, KIND_u8, KIND_u32, KIND_i64, KIND_f16 };
    kind k = kinds[below(b, 3)];
    ref x = pick(b, type_of(k, 1)), y = pick(b, type_of(k, 1)), pair = pick(b, type_of(k, 2));
    switch (below(b, 5)) {
    case 0:  keep(b, tensor_vec(b->pipe, (ref[]){ x, y }, 2)); break;
    case 1:  keep(b, tensor_comp(b->pipe, pair, below(b, 2))); break;
    case 2:  keep(b, tensor_splat(b->pipe, x, 2)); break;
    case 3:  keep(b, tensor_select(b->pipe, pick(b, type_of(KIND_bool, below(b, 2) ? 1 : 2)), pair, pick(b, type_of(k, 2)))); break;
    default: keep(b, tensor_cast(b->pipe, x, kinds[below(b, 7)])); break;
    }
}

static ref small_index(builder *b)
{
    ref any = pick(b, type_of(KIND_i32, 1)), offset = tensor_i32(b->pipe, below(b, 9) - 4);
    return tensor_op2(b->pipe, OP_add, below(b, 2) ? any : tensor_coord(b->pipe, below(b, 2)), offset);
}

static void add_load(builder *b, uint32_t before)
{
    uint32_t s = 1 + (uint32_t)below(b, (int)before - 1);
    const tensor_stage *stage = stage_at(b->pipe, s);
    type t = type_of(below(b, 2) ? KIND_f32 : stage->type.kind, stage->type.lanes);
    int rank = stage->rank;
    uint8_t modes[TENSOR_MAX_RANK];
    ref index[TENSOR_MAX_RANK], outside[TENSOR_MAX_RANK];
    for (int k = 0; k < rank; k++) {
        modes[k] = (uint8_t)(BORDER_edge + below(b, BORDER_COUNT - 1));
        index[k] = small_index(b);
        outside[k] = pick(b, t);
    }
    keep(b, tensor_load(b->pipe, s, index, modes, outside, t));
}

static void add_nodes(builder *b, uint32_t before, int count);

static ref uniform_bound(builder *b, int low)
{
    ref dim = tensor_dim_node(b->pipe, (uint32_t)below(b, 2));
    ref bounded = tensor_op2(b->pipe, OP_min, tensor_op2(b->pipe, OP_sub, dim, tensor_i32(b->pipe, below(b, 4))), tensor_i32(b->pipe, 3));
    return below(b, 2) ? tensor_i32(b->pipe, low + below(b, 3)) : bounded;
}

static void add_fold(builder *b, uint32_t before)
{
    static const kind kinds[] = { KIND_i32, KIND_f32 };
    bool median = below(b, 4) == 0;
    int n_binders = 1 + below(b, 2), n_accs = median ? 1 : 1 + below(b, 2), old_pool = b->n_pool;
    uint32_t f = tensor_fold_new(b->pipe, median ? FOLD_median : FOLD_loop, n_binders, n_accs);
    tensor_fold fold = *fold_at(b->pipe, f);
    b->depth++;
    for (int k = 0; k < n_binders; k++) {
        fold.lo[k] = tensor_i32(b->pipe, below(b, 3) - 1);
        fold.hi[k] = uniform_bound(b, 0);
        fold.binder_names[k] = below(b, 2) ? "i" : below(b, 2) ? "dx" : NULL;
        keep(b, tensor_binder(b->pipe, f, k));
    }
    type types[2];
    for (int k = 0; k < n_accs; k++) {
        types[k] = type_of(kinds[below(b, 2)], 1 + below(b, 2));
        b->n_pool -= n_binders;                         /* an initial value doesn't know the binders */
        fold.init[k] = pick(b, types[k]);
        b->n_pool += n_binders;
    }
    int inside = b->n_pool;
    add_nodes(b, before, 2);
    fold.where = below(b, 2) ? pick(b, type_of(KIND_bool, 1)) : 0;
    b->n_pool = inside;
    for (int k = 0; !median && k < n_accs; k++)
        keep(b, tensor_acc(b->pipe, f, k, types[k]));
    add_nodes(b, before, 4);
    for (int k = 0; k < n_accs; k++)
        fold.next[k] = pick(b, types[k]);
    *fold_at(b->pipe, f) = fold;
    b->n_pool = old_pool;
    b->depth--;
    keep(b, tensor_result(b->pipe, f, below(b, n_accs)));
    keep(b, tensor_result(b->pipe, f, n_accs - 1));
}

static void add_nodes(builder *b, uint32_t before, int count)
{
    for (int k = 0; k < count; k++) {
        int what = below(b, 12);
        if (what == 0 && b->depth < 3)
            add_fold(b, before);
        else if (what < 4)
            add_structure(b);
        else if (what < 6)
            add_load(b, before);
        else
            add_op(b);
    }
}

static void add_stage(builder *b)
{
    static const kind kinds[] = { KIND_i32, KIND_f32, KIND_u8, KIND_f16, KIND_bool, KIND_u32, KIND_i16 };
    uint32_t before = b->pipe->stages.count;
    b->n_pool = 0;
    for (int k = 0; k < 2; k++) {
        keep(b, tensor_coord(b->pipe, k));
        keep(b, tensor_dim_node(b->pipe, (uint32_t)k));
        keep(b, tensor_param_node(b->pipe, (uint32_t)k));
    }
    add_nodes(b, before, 12);
    type t = type_of(below(b, 2) ? KIND_f32 : KIND_i32, 1 + below(b, 2));
    ref body = pick(b, t);
    type stored = type_of(below(b, 2) ? (kind)t.kind : kinds[below(b, 7)], t.lanes);
    body = tensor_cast(b->pipe, body, stored.kind);
    uint32_t s = tensor_stage_new(b->pipe, STAGE_compute, below(b, 2) ? "blur" : "edges", stored, 2, (span){ 0 });
    ref hi[2], one = tensor_i32(b->pipe, -1);
    for (int k = 0; k < 2; k++)
        hi[k] = tensor_op2(b->pipe, OP_add, tensor_dim_node(b->pipe, (uint32_t)k), one);
    tensor_stage *stage = stage_at(b->pipe, s);
    stage->lo[0] = stage->lo[1] = tensor_i32(b->pipe, 0);
    stage = stage_at(b->pipe, s);
    memcpy(stage->hi, hi, sizeof hi);
    stage->body = body;
    stage->materialize = below(b, 3) == 0;
    stage->inline_hint = below(b, 3) == 0;
    stage->tile_width = stage->tile_height = below(b, 3) == 0 ? 16 : 0;
    LIST_PUSH(b->pipe->memory, b->pipe->outputs,
              ((tensor_output){ .name = stage_at(b->pipe, s)->name, .stage = s, .is_image = below(b, 2), .doc = below(b, 2) ? "a \"doc\"\nof two" : NULL }));
}

static tensor_pipe *random_pipe(arena *memory, uint64_t seed)
{
    builder b = { .random = { seed }, .pipe = tensor_pipe_new(memory, "random") };
    tensor_pipe *p = b.pipe;
    p->strict = below(&b, 2);
    LIST_PUSH(memory, p->params, ((tensor_param){ .name = "radius", .type = type_of(KIND_i32, 1), .has_default = true, .value = { 2 },
                                                  .has_range = true, .half_open = true, .lo = 0, .hi = 4294967295.0 }));
    LIST_PUSH(memory, p->params, ((tensor_param){ .name = "gain", .doc = "How \\ much.", .type = type_of(KIND_f32, 2), .has_default = true,
                                                  .value = { 0x3dcccccd, 0xff800000 }, .has_range = true, .lo = -INFINITY, .hi = 0.3 }));
    uint32_t s = tensor_stage_new(p, STAGE_input, "src", type_of(KIND_u8, 2), 2, (span){ 0 });
    p->n_inputs = 1;
    stage_at(p, s)->is_image = true;
    stage_at(p, s)->has_range = true;
    stage_at(p, s)->range_hi = 200;
    for (int k = 0; k < 2; k++) {
        LIST_PUSH(memory, p->dims, ((tensor_dim){ .name = k ? NULL : "W", .stage = s, .dimension = (uint8_t)k }));
        ref lo = tensor_i32(p, 0), hi = tensor_op2(p, OP_sub, tensor_dim_node(p, (uint32_t)k), tensor_i32(p, 1));
        stage_at(p, s)->lo[k] = lo;
        stage_at(p, s)->hi[k] = hi;
    }
    uint32_t words[6];
    kind k = (kind[]){ KIND_f32, KIND_i8, KIND_f16 }[below(&b, 3)];
    for (int w = 0; w < 6; w++)
        words[w] = random_of_kind(&b.random, k);
    tensor_table_new(p, "taps", type_of(k, 1), 2, (int32_t[]){ -1, 0 }, (int32_t[]){ 3, 2 }, words, (span){ 0 });
    ref narrow = tensor_op2(p, OP_lt, tensor_f32(p, 0.5f), tensor_comp(p, tensor_param_node(p, 1), 0));
    LIST_PUSH(memory, p->checks, ((tensor_check){ tensor_op1(p, OP_not, narrow), true, DIAG_E0301, { 0 }, "too \"wide\"" }));
    for (int n = 1 + below(&b, 4); n > 0; n--)
        add_stage(&b);
    return p;
}

/* ---- what must hold ---------------------------------------------------------------------------- */

/* All outputs one after another. */
static void run_all(const tensor_pipe *p, uint8_t *out, size_t room)
{
    uint8_t in[WIDTH * HEIGHT * 2];
    for (size_t k = 0; k < sizeof in; k++)
        in[k] = (uint8_t)(k * 41);
    halo_image input = image_of(in, 2, WIDTH, HEIGHT), outputs[8];
    size_t at = 0;
    for (uint32_t k = 0; k < p->outputs.count; k++) {
        type t = stage_at(p, p->outputs.items[k].stage)->type;
        size_t bytes = (size_t)kind_get(t.kind)->n_bytes * t.lanes;
        outputs[k] = image_of(out + at, bytes, WIDTH, HEIGHT);
        at += bytes * WIDTH * HEIGHT;
    }
    assert_true(at <= room);
    ir_run(p, &input, NULL, outputs);
}

static void random_pipes_read_back(void **state)
{
    (void)state;
    static uint8_t first[8192], second[8192];
    for (uint64_t seed = 0; seed < 300; seed++) {
        arena *memory = arena_new(NULL);
        tensor_pipe *p = random_pipe(memory, seed);
        text problems = { 0 };
        if (!tensor_verify(p, &problems))
            fail_msg("seed %u: %s", (unsigned)seed, problems.bytes);
        char *printed = ir_text(memory, p);
        tensor_pipe *again = ir_from_text(memory, printed);
        char *reprinted = ir_text(memory, again);
        if (strcmp(printed, reprinted) != 0)
            fail_msg("seed %u:\n%s\nand then\n%s", (unsigned)seed, printed, reprinted);
        memset(first, 0, sizeof first);
        memset(second, 0, sizeof second);
        run_all(p, first, sizeof first);
        run_all(again, second, sizeof second);
        if (memcmp(first, second, sizeof first) != 0)
            fail_msg("seed %u: other values after reading\n%s", (unsigned)seed, printed);
        arena_free(memory);
    }
}

static const char everything[] =
    "pipeline 1 @all strict doc \"Says \\\"all\\\".\" {\n"
    "  param @sigma f32 = 1.5 in 0.25..<8\n"
    "  param @tint u8x3 = 1, 2, 255 doc \"Colour.\"\n"
    "  dim W = %src[0]\n"
    "  dim H = %src[1]\n"
    "  input %src u16x3 (0..W - 1, 0..H - 1) image in 0..1023 doc \"Raw.\"\n"
    "  table %taps f32 (-1..1) {\n"
    "    0.25, 0x7fc00000, -0.0\n"
    "  }\n"
    "  stage %a f32 (-2..(W + H) * 2 - floordiv(W, 2), sub(H, 1)..min(W - H, cast.i32(@sigma)) + -2147483648) materialize inline tile 64 16 {\n"
    "    %0 = cast i32x3 @tint\n"
    "    %1, _ = fold conv (%i in -1..1, %x.1 in 0..W - 1) acc i32x3 %acc = %0, f32 %acc.1 = f32(0x7f800000) {\n"
    "      %2 = lt bool %i, %x.1\n"
    "      where %2\n"
    "      %3 = load i32x3 %src [reflect101, value %0] (%x, %i)\n"
    "      %4 = add i32x3 %acc, %3\n"
    "      %5 = load f32 %taps (%i)\n"
    "      %6 = muladd f32 %5, 0.1, %acc.1\n"
    "      next %4, %6\n"
    "    }\n"
    "    %7 = comp i32 %1 index=2\n"
    "    %8 = cast f32 %7\n"
    "    yield %8\n"
    "  }\n"
    "  stage %a.1 bool () {\n"
    "    yield bool(1)\n"
    "  }\n"
    "  check parameter E0301 and(lt(@sigma, 9.0), eq(comp.1(@tint), u8(3))) \"no\\nway \\x07\"\n"
    "  output %a as \"a\"\n"
    "  output %a.1 as \"b\" image doc \"B\"\n"
    "}\n";

static void the_canonical_text_is_kept(void **state)
{
    (void)state;
    arena *memory = arena_new(NULL);
    char *source = arena_string(memory, everything, sizeof everything - 1), *at = strstr(source, "fold conv");
    memcpy(at, "fold loop", 9);                       /* a conv has one accumulator */
    assert_string_equal(ir_text(memory, ir_from_text(memory, source)), source);
    arena_free(memory);
}

static void comments_and_blanks_mean_nothing(void **state)
{
    (void)state;
    arena *memory = arena_new(NULL);
    tensor_pipe *p = ir_from_text(memory, "; hello\npipeline 1 @t{stage %a i32(0..3)\n;x\n{%0=add i32 %x,1;y\nyield %0}output %a as\"a\"}");
    assert_string_equal(ir_text(memory, p), "pipeline 1 @t {\n  stage %a i32 (0..3) {\n    %0 = add i32 %x, 1\n    yield %0\n  }\n  output %a as \"a\"\n}\n");
    arena_free(memory);
}

static void nodes_stay_as_written(void **state)
{
    (void)state;
    arena *memory = arena_new(NULL);
    const char *source = "pipeline 1 @t {\n  stage %a i32 (0..3) {\n    %0 = add i32 %x, 0\n    %1 = mul i32 %0, 1\n    yield %1\n  }\n  output %a as \"a\"\n}\n";
    assert_string_equal(ir_text(memory, ir_from_text(memory, source)), source);
    arena_free(memory);
}

static void errors_say_where_and_what(void **state)
{
    (void)state;
    arena *memory = arena_new(NULL);
    const struct { const char *source, *says; } rows[] = {
        { "pipeline 2 @t {}", "test.ir:1:12: error[E0902]: this reads version 1" },
        { "pipeline 1 @t { stage %a i32 (0..W) { yield 1 } }", "test.ir:1:34: error[E0902]: there is no extent `W`" },
        { "pipeline 1 @t { stage %a i32 () { %0 = frob i32 1\n yield %0 } }", "error[E0902]: there is no op `frob`" },
        { "pipeline 1 @t { stage %a i32 () { %0 = add i32 1, %1 yield %0 } }", "test.ir:1:51: error[E0902]: this isn't defined above" },
        { "pipeline 1 @t { stage %a i32 () { %3 = add i32 1, 2 yield %3 } }", "the next number is %0" },
        { "pipeline 1 @t { stage %a i32 () { yield 1 } stage %a i32 () { yield 1 } }", "two stages are called `a`" },
        { "pipeline 1 @t { stage %a u8 () { yield u8(256) } }", "256 is not a value of u8" },
        { "pipeline 1 @t { stage %a i32 () { %0 = load i32 %a () yield %0 } }", "loads from `a`, which isn't before this stage" },
        { "pipeline 1 @t { stage %a i32 () { %0 = load i32 %b () yield %0 } }", "there is no stage `b` above" },
        { "pipeline 1 @t { table %k u8 (0..2) { 1, 2 } }", "the table has 2 words, its bounds hold 3" },
        { "pipeline 1 @t { output \"k", "no token starts with this" },
        { "pipeline 1 @t { stage %a i32 () { yield 1 }", "expected param, dim, input" },
        { "pipeline 1 @t { stage %a i32 () { yield %i } }", "no coordinate, binder or accumulator `i`" },
        { "pipeline 1 @t { dim W = %a[0] stage %a i32 () { yield 1 } }", "an extent is a dimension of an input" },
        { "pipeline 1 @t { stage %a i32 (neg.3(1)..2) { yield 1 } }", "no op is called so with 1 operands" },
        { "pipeline 1 @t { } x", "expected the end" },
        { "pipeline 1 @t { stage %a i32 () { %0, %1 = fold loop (%i in 0..1) acc i32 %acc = 0 { next %i } yield %0 } }", "a fold gives a result for each" },
        { "pipeline 1 @t { stage %a f32 () { %0 = add f32 1, 2.0 yield %0 } }", "error[E0903]" },
    };
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        char *errors = ir_errors(memory, rows[k].source);
        if (!strstr(errors, rows[k].says))
            fail_msg("%s\ngave\n%s", rows[k].source, errors);
    }
    char deep[4096] = "pipeline 1 @t { stage %a i32 (";
    memset(deep + strlen(deep), '(', 4000);
    assert_non_null(strstr(ir_errors(memory, deep), "nested too deeply"));
    arena_free(memory);
}

/* Nothing but a diagnostic may come of a damaged text; when it still reads, it must still print the same twice. */
static void damaged_texts(void **state)
{
    (void)state;
    random_source r = { 77 };
    for (int round = 0; round < 6000; round++) {
        arena *memory = arena_new(NULL);
        char *source = round % 3 ? arena_string(memory, everything, sizeof everything - 1) : ir_text(memory, random_pipe(memory, (uint64_t)round % 40));
        int n = (int)strlen(source);
        for (int damage = 1 + random_below(&r, 3); damage > 0; damage--) {
            int at = random_below(&r, n), from = random_below(&r, n), count = random_below(&r, 12);
            if (random_below(&r, 2))
                source[at] = "%@0123456789.,(){}[]=ifxu\" -"[random_below(&r, 28)];
            else if (at + count < n && from + count < n)
                memmove(source + at, source + from, (size_t)count);
        }
        diags d;
        diags_init(&d, memory);
        tensor_pipe *p = tensor_parse(memory, &d, diags_add_source(&d, "damaged.ir", source, (size_t)n));
        assert_true((p == NULL) == (d.n_errors > 0));
        if (p) {
            char *printed = ir_text(memory, p);
            assert_string_equal(ir_text(memory, ir_from_text(memory, printed)), printed);
        }
        arena_free(memory);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_canonical_text_is_kept), cmocka_unit_test(random_pipes_read_back),
        cmocka_unit_test(comments_and_blanks_mean_nothing), cmocka_unit_test(nodes_stay_as_written),
        cmocka_unit_test(errors_say_where_and_what), cmocka_unit_test(damaged_texts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
