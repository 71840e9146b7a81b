/* SPDX-License-Identifier: MIT
 * Which convolutions are split, and that the two passes compute what they should: integers the same bits as before, f32 the
 * bits of a plain program that sums columns of taps first. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "support_pass.h"

/* ---- pipes with one convolution --------------------------------------------------------------------------- */

typedef struct conv_case {
    kind source, sum;
    int lanes;
    border mode[2];
    int step[2], dilation[2];
    bool strict;
} conv_case;

static const conv_case plain = { KIND_u8, KIND_f32, 1, { BORDER_edge, BORDER_reflect }, { 1, 1 }, { 1, 1 }, false };

static ref dim(tensor_pipe *p, int d) { return tensor_op2(p, OP_add, tensor_dim_node(p, (uint32_t)d), tensor_i32(p, -1)); }

static tensor_pipe *source_pipe(arena *memory, const conv_case *c)
{
    tensor_pipe *p = tensor_pipe_new(memory, "t");
    p->strict = c->strict;
    uint32_t src = tensor_stage_new(p, STAGE_input, "src", type_of(c->source, c->lanes), 2, (span){ 0 });
    p->n_inputs = 1;
    LIST_PUSH(memory, p->dims, ((tensor_dim){ "W", src, 0 }));
    LIST_PUSH(memory, p->dims, ((tensor_dim){ "H", src, 1 }));
    LIST_PUSH(memory, p->params, ((tensor_param){ .name = "r", .type = type_of(KIND_i32, 1), .has_default = true, .value = { 2 } }));
    for (int d = 0; d < 2; d++) {
        ref zero = tensor_i32(p, 0), last = dim(p, d);
        stage_at(p, src)->lo[d] = zero;
        stage_at(p, src)->hi[d] = last;
    }
    return p;
}

static ref splat_to(tensor_pipe *p, ref r, int lanes) { return node_type(p, r).lanes == lanes ? r : tensor_splat(p, r, lanes); }

/* out[x, y] = sum over the kernel's domain, rows outermost, as the language's conv is built. */
static void add_conv(tensor_pipe *p, const conv_case *c, uint32_t kernel)
{
    uint32_t fold = tensor_fold_new(p, FOLD_conv, 2, 1);
    type t = type_of(c->sum, c->lanes);
    ref at[2] = { tensor_binder(p, fold, 1), tensor_binder(p, fold, 0) }, index[2], outside[2];
    uint8_t border[2] = { (uint8_t)c->mode[0], (uint8_t)c->mode[1] };
    for (int d = 0; d < 2; d++) {
        index[d] = tensor_op2(p, OP_add, tensor_op2(p, OP_mul, tensor_coord(p, d), tensor_i32(p, c->step[d])),
                              tensor_op2(p, OP_mul, at[d], tensor_i32(p, c->dilation[d])));
        outside[d] = tensor_splat(p, kind_is_float(c->source) ? tensor_f32(p, 3) : tensor_const(p, c->source, 3), c->lanes);
    }
    ref element = tensor_cast(p, tensor_load(p, 1, index, border, outside, type_of(c->source, c->lanes)), c->sum);
    type of_weight = stage_at(p, kernel)->type;
    ref weight = splat_to(p, tensor_cast(p, tensor_load(p, kernel, at, NULL, NULL, of_weight), c->sum), c->lanes);
    ref acc = tensor_acc(p, fold, 0, t);
    ref next = c->sum == KIND_f32 ? tensor_op3(p, OP_muladd, weight, element, acc)
                                  : tensor_op2(p, OP_add, acc, tensor_op2(p, OP_mul, weight, element));
    ref init = tensor_splat(p, c->sum == KIND_f32 ? tensor_f32(p, -0.0f) : tensor_const(p, c->sum, 0), c->lanes);
    tensor_fold *f = fold_at(p, fold);
    for (int b = 0; b < 2; b++) {
        f->lo[b] = stage_at(p, kernel)->lo[1 - b];
        f->hi[b] = stage_at(p, kernel)->hi[1 - b];
        f->binder_names[b] = b ? "i" : "j";
    }
    f->init[0] = init;
    f->next[0] = next;
    ref body = tensor_result(p, fold, 0);
    uint32_t out = tensor_stage_new(p, STAGE_compute, "out", t, 2, (span){ 0 });
    for (int d = 0; d < 2; d++) {
        ref hi = tensor_op2(p, OP_floordiv, dim(p, d), tensor_i32(p, c->step[d]));
        stage_at(p, out)->lo[d] = tensor_i32(p, 0);
        stage_at(p, out)->hi[d] = hi;
    }
    stage_at(p, out)->body = body;
    LIST_PUSH(p->memory, p->outputs, ((tensor_output){ .name = "out", .stage = out, .is_image = true }));
}

typedef struct kernel { int width, height, lanes, x_lo, y_lo; float at[256]; } kernel;

static uint32_t add_table(tensor_pipe *p, const kernel *k, kind as)
{
    int32_t lo[2] = { k->x_lo, k->y_lo }, extent[2] = { k->width, k->height };
    uint32_t words[256];
    for (int i = 0; i < k->width * k->height * k->lanes; i++)
        words[i] = bits_of_scalar(as, kind_is_float(as) ? (scalar){ .f = k->at[i] } : (scalar){ .i = (int64_t)k->at[i] });
    return tensor_table_new(p, "k", type_of(as, k->lanes), 2, lo, extent, words, (span){ 0 });
}

/* w[i in lo..hi] = 1 / (2 + i * i + 0.3 * i), whose products are rounded. */
static ref vector_weight(tensor_pipe *p, ref i)
{
    ref x = tensor_cast(p, i, KIND_f32);
    ref bottom = tensor_op2(p, OP_add, tensor_op2(p, OP_mul, x, x), tensor_op2(p, OP_mul, x, tensor_f32(p, 0.3f)));
    return tensor_op2(p, OP_div, tensor_f32(p, 1), tensor_op2(p, OP_add, tensor_f32(p, 2), bottom));
}

static float vector_value(int i)
{
    float x = (float)i, square = x * x, slope = x * 0.3f;
    return 1 / (2 + (square + slope));
}

static uint32_t add_stage(tensor_pipe *p, const char *name, int rank, ref lo, ref hi, ref body)
{
    uint32_t s = tensor_stage_new(p, STAGE_compute, name, node_type(p, body), rank, (span){ 0 });
    for (int d = 0; d < rank; d++) {
        stage_at(p, s)->lo[d] = lo;
        stage_at(p, s)->hi[d] = hi;
    }
    stage_at(p, s)->body = body;
    return s;
}

/* k[i, j] = w[i] * w[j] / total: over -2..2, or over -r..r. `total` is 1. */
static uint32_t add_written(tensor_pipe *p, bool by_parameter)
{
    ref r = tensor_param_node(p, 0), lo = by_parameter ? tensor_op1(p, OP_neg, r) : tensor_i32(p, -2), hi = by_parameter ? r : tensor_i32(p, 2);
    uint32_t w = add_stage(p, "w", 1, lo, hi, vector_weight(p, tensor_coord(p, 0)));
    ref x = tensor_coord(p, 0), y = tensor_coord(p, 1);
    type one = type_of(KIND_f32, 1);
    ref product = tensor_op2(p, OP_mul, tensor_load(p, w, &x, NULL, NULL, one), tensor_load(p, w, &y, NULL, NULL, one));
    uint32_t total = add_stage(p, "total", 0, 0, 0, tensor_cast(p, tensor_op2(p, OP_max, tensor_i32(p, 1), tensor_op2(p, OP_min, r, tensor_i32(p, 1))), KIND_f32));
    uint32_t k = add_stage(p, "k0", 2, lo, hi, tensor_op2(p, OP_div, product, tensor_load(p, total, NULL, NULL, NULL, one)));
    ref turned[2] = { tensor_op1(p, OP_neg, x), y };                        /* k[i, j] = k0[-i, j] */
    return add_stage(p, "k", 2, lo, hi, tensor_load(p, k, turned, NULL, NULL, one));
}

/* ---- running ------------------------------------------------------------------------------------------------- */

enum { W = 11, H = 9 };

typedef struct picture { uint32_t at[W * H * 4]; uint8_t bytes[W * H * 16]; halo_image image; } picture;

static void random_picture(picture *q, const conv_case *c, uint64_t seed)
{
    random_source r = { seed };
    int bytes = kind_get(c->source)->n_bytes;
    for (int k = 0; k < W * H * c->lanes; k++) {
        scalar value = kind_is_float(c->source) ? (scalar){ .f = (float)(int32_t)random_bits(&r) * 0x1p-20f } : (scalar){ .i = random_bits(&r) };
        q->at[k] = bits_of_scalar(c->source, kind_is_float(c->source) ? value : wrap_evaluate(value, c->source));
        memcpy(q->bytes + k * bytes, &q->at[k], bytes);
    }
    q->image = image_of(q->bytes, (size_t)bytes * c->lanes, W, H);
}

static scalar pixel(const picture *q, const conv_case *c, int x, int y, int lane)
{
    int at[2] = { x, y }, size[2] = { W, H };
    for (int d = 0; d < 2; d++) {
        if (c->mode[d] == BORDER_value && (at[d] < 0 || at[d] >= size[d])) return c->sum == KIND_f32 ? (scalar){ .f = 3 } : (scalar){ .i = 3 };
        at[d] = (int)border_map(c->mode[d], at[d], 0, size[d] - 1);
    }
    return cast_evaluate(scalar_of_bits(c->source, q->at[(at[1] * W + at[0]) * c->lanes + lane]), c->source, c->sum);
}

/* Columns of taps into a number for every column that is read, then rows: both by fma, the first tap on -0. */
static float two_passes(const picture *q, const conv_case *c, int x, int y, int lane, const float *row, const float *column, const kernel *k)
{
    float sum = -0.0f;
    for (int i = 0; i < k->width; i++) {
        float middle = -0.0f;
        for (int j = 0; j < k->height; j++)
            middle = fmaf(column[j * k->lanes + (k->lanes > 1 ? lane : 0)],
                          pixel(q, c, c->step[0] * x + c->dilation[0] * (k->x_lo + i), c->step[1] * y + c->dilation[1] * (k->y_lo + j), lane).f, middle);
        sum = fmaf(row[i * k->lanes + (k->lanes > 1 ? lane : 0)], middle, sum);
    }
    return sum;
}

static void run_out(const tensor_pipe *p, const picture *q, const conv_case *c, void *out, const uint32_t (*params)[TENSOR_MAX_LANES])
{
    int w = (W - 1) / c->step[0] + 1, h = (H - 1) / c->step[1] + 1;
    halo_image output = image_of(out, 4 * (size_t)c->lanes, w, h);
    ir_run(p, &q->image, params, &output);
}

static void check_passes(tensor_pipe *p, const conv_case *c, const float *row, const float *column, const kernel *k,
                         const uint32_t (*params)[TENSOR_MAX_LANES])
{
    picture q;
    float out[W * H * 4];
    random_picture(&q, c, 77);
    run_out(p, &q, c, out, params);
    int w = (W - 1) / c->step[0] + 1, h = (H - 1) / c->step[1] + 1;
    for (int at = 0; at < w * h * c->lanes; at++) {
        float wanted = two_passes(&q, c, at / c->lanes % w, at / c->lanes / w, at % c->lanes, row, column, k);
        if (memcmp(&out[at], &wanted, 4)) fail_msg("component %d is %a, expected %a", at, out[at], wanted);
    }
}

/* The verified result of the pass, through text. */
static tensor_pipe *separated(tensor_pipe *p, pass_id pass)
{
    return after_pass(p->memory, ir_text(p->memory, p), pass);
}

/* ---- f32 ------------------------------------------------------------------------------------------------------ */

static void by_values(const conv_case *c, const kernel *k, const float *row, const float *column)
{
    arena *memory = arena_new(NULL);
    tensor_pipe *p = source_pipe(memory, c);
    add_conv(p, c, add_table(p, k, KIND_f32));
    p = separated(p, PASS_separate);
    assert_int_equal(count_folds(p, FOLD_conv, 2), 0);
    assert_int_equal(count_folds(p, FOLD_conv, 1), 2);
    check_passes(p, c, row, column, k, NULL);
    arena_free(memory);
}

static const kernel binomial = { 3, 3, 1, -1, -1, { 0.0625f, 0.125f, 0.0625f, 0.125f, 0.25f, 0.125f, 0.0625f, 0.125f, 0.0625f } };

static void exact_kernels_of_rank_one(void **state)
{
    (void)state;
    const float row[] = { 1, 2, 1 }, column[] = { 0.0625f, 0.125f, 0.0625f };
    by_values(&plain, &binomial, row, column);
    conv_case c = plain;
    for (int mode = BORDER_edge; mode <= BORDER_value; mode++) {
        c.mode[0] = (border)mode;
        c.mode[1] = (border)(BORDER_edge + (mode + 2) % 5);
        c.lanes = 1 + mode % 3;
        c.source = mode % 2 ? KIND_f32 : KIND_u8;
        by_values(&c, &binomial, row, column);
    }
    /* off centre, 4 x 3, a zero row of taps, negative and large weights */
    kernel k = { 4, 3, 1, -3, 0, { 0x3p60f, -0x6p60f, 0x9p60f, 0x3p60f, 0, 0, 0, 0, -0x2p60f, 0x4p60f, -0x6p60f, -0x2p60f } };
    const float whole[4] = { 1, -2, 3, 1 }, tall[3] = { 0x3p60f, 0, -0x2p60f };
    c = plain;
    c.source = KIND_f32;
    by_values(&c, &k, whole, tall);
}

static void strides_and_dilations(void **state)
{
    (void)state;
    kernel k = { 5, 4, 1, -1, -2, { 0 } };
    const float row[] = { 1, 3, 5, 3, 1 }, column[] = { 0.5f, 1, 0.25f, 3 };
    for (int i = 0; i < 20; i++) k.at[i] = row[i % 5] * column[i / 5];
    for (int sx = 1; sx <= 2; sx++)
        for (int sy = 1; sy <= 3; sy++)
            for (int d = 1; d <= 3; d++) {
                conv_case c = plain;
                c.source = KIND_f32;
                c.step[0] = sx, c.step[1] = sy, c.dilation[0] = d, c.dilation[1] = 4 - d;
                c.mode[0] = BORDER_wrap;
                by_values(&c, &k, row, column);
            }
}

static void each_component_its_own(void **state)
{
    (void)state;
    kernel k = { 3, 3, 2, -1, -1, { 0 } };
    const float row[] = { 1, 3, 2, 5, 1, -3 }, column[] = { 0.5f, 1, 0.25f, 2, 0.5f, 1 };
    for (int i = 0; i < 18; i++) k.at[i] = row[i / 2 % 3 * 2 + i % 2] * column[i / 6 * 2 + i % 2];
    conv_case c = plain;
    c.lanes = 2;
    by_values(&c, &k, row, column);
}

static void left_whole(void **state)
{
    (void)state;
    kernel rank_two = binomial, off_by_a_bit = binomial, cross = { 3, 3, 1, -1, -1, { 0, 1, 0, 1, 1, 1, 0, 1, 0 } };
    kernel line = { 9, 1, 1, 0, 0, { 1, 2, 3, 4, 5, 6, 7, 8, 9 } }, small = { 2, 2, 1, 0, 0, { 1, 1, 1, 1 } };
    kernel one_row = { 3, 3, 1, -1, -1, { 0, 0, 0, 1, 2, 1, 0, 0, 0 } };
    rank_two.at[0] = 0.125f;
    off_by_a_bit.at[4] = nextafterf(0.25f, 1);
    const kernel *const kernels[] = { &rank_two, &off_by_a_bit, &cross, &line, &small, &one_row };
    for (int i = 0; i < 6; i++) {
        arena *memory = arena_new(NULL);
        tensor_pipe *p = source_pipe(memory, &plain);
        add_conv(p, &plain, add_table(p, kernels[i], KIND_f32));
        p = separated(p, PASS_separate);
        if (count_folds(p, FOLD_conv, 2) != 1) fail_msg("kernel %d was split", i);
        arena_free(memory);
    }
    conv_case strict = plain, strided = plain;
    strict.strict = true;
    strided.step[0] = 4;                                 /* 4 * 3 + 3 products for 9 */
    for (int i = 0; i < 2; i++) {
        arena *memory = arena_new(NULL);
        tensor_pipe *p = source_pipe(memory, i ? &strided : &strict);
        add_conv(p, i ? &strided : &strict, i ? add_table(p, &binomial, KIND_f32) : add_written(p, false));
        assert_int_equal(count_folds(separated(p, PASS_separate), FOLD_conv, 2), 1);
        arena_free(memory);
    }
}

/* w[i] * w[j], whose rounded products have no rank: the two vectors are what counts. */
static void written_as_a_product(void **state)
{
    (void)state;
    for (int by_parameter = 0; by_parameter < 2; by_parameter++)
        for (uint32_t radius = 0; radius <= 3; radius++) {
            arena *memory = arena_new(NULL);
            conv_case c = plain;
            c.lanes = 1 + (int)radius % 2;
            tensor_pipe *p = source_pipe(memory, &c);
            add_conv(p, &c, add_written(p, by_parameter));
            const pass_id passes[] = { PASS_separate, PASS_fold_tables };
            p = after_passes(memory, ir_text(memory, p), passes, 2);
            assert_int_equal(count_folds(p, FOLD_conv, 1), 2);
            int r = by_parameter ? (int)radius : 2;
            kernel k = { 2 * r + 1, 2 * r + 1, 1, -r, -r, { 0 } };
            float row[7], column[7];
            for (int i = -r; i <= r; i++) row[i + r] = vector_value(-i), column[i + r] = vector_value(i);
            const uint32_t params[1][TENSOR_MAX_LANES] = { { radius } };
            check_passes(p, &c, row, column, &k, params);
            arena_free(memory);
        }
}

/* ---- integers --------------------------------------------------------------------------------------------------- */

static void check_integers(const conv_case *c, const kernel *k, kind of_weight, bool split)
{
    arena *memory = arena_new(NULL);
    tensor_pipe *p = source_pipe(memory, c);
    add_conv(p, c, add_table(p, k, of_weight));
    picture q;
    uint32_t before[W * H * 4], after[W * H * 4];
    int n = ((W - 1) / c->step[0] + 1) * ((H - 1) / c->step[1] + 1) * c->lanes;
    random_picture(&q, c, 5);
    run_out(p, &q, c, before, NULL);
    p = separated(p, PASS_separate_exact);
    assert_int_equal(count_folds(p, FOLD_conv, 1), split ? 2 : 0);
    run_out(p, &q, c, after, NULL);
    assert_memory_equal(before, after, (size_t)n * 4);
    arena_free(memory);
}

static void integers_wrap_alike(void **state)
{
    (void)state;
    kernel k = { 4, 3, 1, -2, -1, { 2, 4, -6, 2, 3, 6, -9, 3, 5, 10, -15, 5 } };
    kernel large = { 3, 3, 1, 0, 0, { 0 } }, not_whole = { 3, 3, 1, 0, 0, { 1, 2, 3, 2, 4, 6, 3, 6, 10 } };
    for (int i = 0; i < 9; i++) large.at[i] = (float)(((i % 3) + 1) * 20000) * (float)((i / 3 + 1) * 8192);
    conv_case c = plain;
    c.sum = KIND_i32;
    for (int mode = BORDER_edge; mode <= BORDER_value; mode++) {
        c.mode[0] = (border)mode;
        c.mode[1] = (border)(BORDER_edge + (mode + 3) % 5);
        c.lanes = mode % 4 + 1;
        c.source = mode % 2 ? KIND_u8 : KIND_i32;
        check_integers(&c, &k, KIND_i32, true);
        check_integers(&c, &k, KIND_i8, true);
        check_integers(&c, &not_whole, KIND_i32, false);
    }
    const kernel sobel = { 3, 3, 1, -1, -1, { -1, 0, 1, -2, 0, 2, -1, 0, 1 } }, smooth = { 3, 3, 1, -1, -1, { 1, 2, 1, 2, 4, 2, 1, 2, 1 } };
    check_integers(&c, &sobel, KIND_i32, false);             /* six taps: less than five and a stage between */
    check_integers(&c, &smooth, KIND_i32, true);
    c.source = c.sum = KIND_u32;
    check_integers(&c, &large, KIND_u32, true);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(exact_kernels_of_rank_one), cmocka_unit_test(strides_and_dilations), cmocka_unit_test(each_component_its_own),
        cmocka_unit_test(left_whole), cmocka_unit_test(written_as_a_product), cmocka_unit_test(integers_wrap_alike),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
