/* SPDX-License-Identifier: MIT
 * Sums over whole pictures come out in the order of lanes, rows and chunks, bit for bit as a plain program adds in that order. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "support_pass.h"

/* ---- the rule, written as a program ------------------------------------------------------------------ */

typedef struct picture { const float *at; int width, height; bool (*counts)(float value); } picture;

static float row_sum(const picture *p, int y)
{
    float lane[16];
    bool used[16] = { false };
    for (int x = 0; x < p->width; x++) {
        float value = p->at[y * p->width + x];
        if (p->counts && !p->counts(value)) continue;
        lane[x % 16] = used[x % 16] ? lane[x % 16] + value : value;
        used[x % 16] = true;
    }
    for (int half = 8; half >= 1; half /= 2)
        for (int l = 0; l < half; l++) {
            if (used[l] && used[l + half]) lane[l] += lane[l + half];
            else if (used[l + half]) lane[l] = lane[l + half];
            used[l] = used[l] || used[l + half];
        }
    return used[0] ? lane[0] : -0.0f;
}

static float picture_sum(const picture *p)
{
    if (p->width == 0 || p->height == 0) return 0;
    int n = (p->height + 63) / 64;
    float *chunk = malloc(sizeof *chunk * n);
    for (int y = 0; y < p->height; y++) chunk[y / 64] = y % 64 ? chunk[y / 64] + row_sum(p, y) : row_sum(p, y);
    for (; n > 1; n = (n + 1) / 2)
        for (int k = 0; k < n; k += 2) chunk[k / 2] = k + 1 < n ? chunk[k] + chunk[k + 1] : chunk[k];
    float sum = chunk[0];
    free(chunk);
    return 0.0f + sum;
}

/* ---- against the pass ------------------------------------------------------------------------------------ */

static char *sum_of(arena *memory, const char *where)
{
    return arena_printf(memory,
        "pipeline 1 @t { dim W = %%src[0] dim H = %%src[1] input %%src f32 (0..W - 1, 0..H - 1)\n"
        "stage %%out f32 (0..1) {\n"
        "  $sum = fold image_sum (%%x in 0..W - 1, %%y in 0..H - 1) acc f32 %%acc = 0.0 { $e = load f32 %%src (%%x, %%y) %s\n"
        "    $n = add f32 %%acc, $e next $n }\n"
        "  $twice = mul f32 $sum, 2.0 yield $twice }\n"
        "output %%out as \"out\" }", where);
}

static bool is_positive(float value) { return value > 0; }

static void check_size(int width, int height, bool (*counts)(float))
{
    arena *memory = arena_new(NULL);
    tensor_pipe *p = after_pass(memory, sum_of(memory, counts ? "$w = lt bool 0.0, $e where $w" : ""), PASS_order_sums);
    assert_int_equal(count_folds(p, FOLD_image_sum, 2), 0);
    random_source r = { (uint64_t)(width * 1000 + height) };
    float *in = malloc(sizeof *in * (width * height + 1)), out[2];
    for (int k = 0; k < width * height; k++) in[k] = (float)(int32_t)random_bits(&r) * 0x1p-20f;
    picture rule = { in, width, height, counts };
    halo_image input = image_of(in, 4, width, height), output = image_of(out, 4, 2, 1);
    ir_run(p, &input, NULL, &output);
    float wanted = 2 * picture_sum(&rule);
    if (memcmp(&out[0], &wanted, 4) || memcmp(&out[1], &wanted, 4)) fail_msg("%dx%d: %a, expected %a", width, height, out[0], wanted);
    free(in);
    arena_free(memory);
}

static void every_size(void **state)
{
    (void)state;
    static const int widths[] = { 0, 1, 2, 15, 16, 17, 33, 100 }, heights[] = { 0, 1, 2, 63, 64, 65, 129, 400 };
    for (int a = 0; a < 8; a++)
        for (int b = 0; b < 8; b++) {
            check_size(widths[a], heights[b], NULL);
            check_size(widths[a], heights[b], is_positive);
        }
    check_size(3, 64 * 70 + 1, NULL);                   /* more chunks than one node of the tree takes */
}

static void special_values(void **state)
{
    (void)state;
    arena *memory = arena_new(NULL);
    tensor_pipe *p = after_pass(memory, sum_of(memory, ""), PASS_order_sums);
    float in[40], out[2];
    halo_image input = image_of(in, 4, 20, 2), output = image_of(out, 4, 2, 1);
    for (int k = 0; k < 40; k++) in[k] = -0.0f;
    ir_run(p, &input, NULL, &output);
    assert_true(out[0] == 0);
    in[39] = INFINITY;
    ir_run(p, &input, NULL, &output);
    assert_true(out[0] == INFINITY);
    in[3] = NAN;
    ir_run(p, &input, NULL, &output);
    assert_true(out[0] != out[0]);
    arena_free(memory);
}

/* What depends on where it stands can't be one value for the picture: it stays a loop in the order written. */
static void a_sum_that_moves_stays_a_loop(void **state)
{
    (void)state;
    const char *source =
        "pipeline 1 @t { dim W = %src[0] dim H = %src[1] input %src f32 (0..W - 1, 0..H - 1)\n"
        "stage %out f32 (0..W - 1) {\n"
        "  $sum = fold image_sum (%i in 0..W - 1, %j in 0..H - 1) acc f32 %acc = 0.0 { $p = add i32 %i, %x\n"
        "    $e = load f32 %src [wrap, none] ($p, %j) $n = add f32 %acc, $e next $n } yield $sum }\n"
        "output %out as \"out\" }";
    arena *memory = arena_new(NULL);
    tensor_pipe *p = after_pass(memory, source, PASS_order_sums);
    assert_int_equal(count_folds(p, FOLD_image_sum, 2), 0);
    assert_int_equal(count_folds(p, FOLD_loop, 2), 1);
    float in[] = { 1, 1e8f, -1e8f, 3, 0.25f, 7 }, out[3];
    halo_image input = image_of(in, 4, 3, 2), output = image_of(out, 4, 3, 1);
    ir_run(p, &input, NULL, &output);
    for (int x = 0; x < 3; x++) {
        float wanted = 0;
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < 2; j++) wanted += in[j * 3 + (i + x) % 3];
        assert_true(out[x] == wanted);
    }
    arena_free(memory);
}

/* Pixels, an origin away from 0, and an element that is computed. */
static void pixels_and_origins(void **state)
{
    (void)state;
    const char *source =
        "pipeline 1 @t { dim W = %src[0] dim H = %src[1] input %src u8x2 (0..W - 1, 0..H - 1)\n"
        "stage %out f32x2 () { $zero = splat f32x2 0.0\n"
        "  $sum = fold image_sum (%i in -3..W - 1, %j in 2..H + 1) acc f32x2 %acc = $zero {\n"
        "    $e = load f32x2 %src [edge, reflect] (%i, %j) $s = sqrt f32x2 $e $n = add f32x2 %acc, $s next $n } yield $sum }\n"
        "output %out as \"out\" }";
    enum { W = 30, H = 70 };
    arena *memory = arena_new(NULL);
    tensor_pipe *p = after_pass(memory, source, PASS_order_sums);
    random_source r = { 3 };
    uint8_t in[W * H * 2];
    for (size_t k = 0; k < sizeof in; k++) in[k] = (uint8_t)random_bits(&r);
    float out[2], *lane = malloc(sizeof *lane * (W + 3) * H);
    halo_image input = image_of(in, 2, W, H), output = image_of(out, 8, 1, 1);
    ir_run(p, &input, NULL, &output);
    for (int c = 0; c < 2; c++) {
        for (int y = 0; y < H; y++)
            for (int x = 0; x < W + 3; x++) {
                int sx = x < 3 ? 0 : x - 3, sy = y + 2 < H ? y + 2 : 2 * H - 1 - (y + 2);
                lane[y * (W + 3) + x] = sqrtf(in[(sy * W + sx) * 2 + c]);
            }
        picture rule = { lane, W + 3, H, NULL };
        assert_true(out[c] == picture_sum(&rule));
    }
    free(lane);
    arena_free(memory);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_size), cmocka_unit_test(special_values), cmocka_unit_test(a_sum_that_moves_stays_a_loop),
        cmocka_unit_test(pixels_and_origins),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
