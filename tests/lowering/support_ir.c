/* SPDX-License-Identifier: MIT */
#include "support_ir.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static tensor_pipe *read_ir(arena *memory, const char *source, diags *d)
{
    diags_init(d, memory);
    return tensor_parse(memory, d, diags_add_source(d, "test.ir", source, strlen(source)));
}

static char *rendered(arena *memory, const diags *d)
{
    text out = { 0 };
    diags_render(d, &out);
    char *kept = arena_string(memory, out.bytes ? out.bytes : "", out.count);
    text_free(&out);
    return kept;
}

tensor_pipe *ir_from_text(arena *memory, const char *source)
{
    diags d;
    tensor_pipe *p = read_ir(memory, source, &d);
    if (!p) {
        fputs(rendered(memory, &d), stderr);                 /* cmocka would cut it short */
        fail();
    }
    return p;
}

char *ir_errors(arena *memory, const char *source)
{
    diags d;
    if (read_ir(memory, source, &d))
        fail_msg("this was read: %s", source);
    return rendered(memory, &d);
}

char *ir_text(arena *memory, const tensor_pipe *p)
{
    text out = { 0 };
    tensor_print(p, &out);
    assert_false(out.failed);
    char *kept = arena_string(memory, out.bytes, out.count);
    text_free(&out);
    return kept;
}

halo_image image_of(void *data, size_t pixel_bytes, int width, int height)
{
    return (halo_image){ .data = data, .extent = { width, height, 1, 1, 1 },
                         .stride = { (ptrdiff_t)pixel_bytes, (ptrdiff_t)pixel_bytes * width } };
}

void ir_run(const tensor_pipe *p, const halo_image *inputs, const uint32_t (*params)[TENSOR_MAX_LANES], const halo_image *outputs)
{
    text problem = { 0 };
    run_values values = { inputs, params };
    int code = interpret(p, &values, outputs, false, &problem);
    if (code != HALO_OK)
        fail_msg("code %d: %s", code, problem.bytes ? problem.bytes : "");
    text_free(&problem);
}

uint32_t random_bits(random_source *r)
{
    r->state = r->state * 6364136223846793005u + 1442695040888963407u;      /* Knuth's MMIX, upper half */
    return (uint32_t)(r->state >> 32);
}

int random_below(random_source *r, int n)
{
    return (int)((uint64_t)random_bits(r) * (uint32_t)n >> 32);
}

uint32_t random_of_kind(random_source *r, kind k)
{
    static const float reals[] = { 0.0f, -0.0f, 1.0f, -1.0f, 0.5f, 2.5f, 255.0f, 1e20f, -1e20f, INFINITY, -INFINITY, NAN, 1e-40f, 0.1f };
    static const int64_t wholes[] = { 0, 1, -1, 2, 31, 32, 127, 255, -128, INT32_MAX, INT32_MIN, 65535 };
    bool special = random_below(r, 2);
    scalar value;
    if (k == KIND_f16 || k == KIND_f32) {
        value.f = special ? reals[random_below(r, sizeof reals / sizeof *reals)]
                          : scalar_of_bits(KIND_f32, random_bits(r)).f;
        return bits_of_scalar(k, k == KIND_f16 ? (scalar){ .f = f32_to_f16_and_back(value.f) } : value);
    }
    value.i = special ? wholes[random_below(r, sizeof wholes / sizeof *wholes)] : (int64_t)random_bits(r);
    return bits_of_scalar(k, k == KIND_i64 ? (scalar){ .i = (int32_t)value.i } : wrap_evaluate(value, k));
}

bool same_bits(kind k, uint32_t a, uint32_t b)
{
    bool floating = kind_is_float(k);
    return a == b || (floating && isnan(scalar_of_bits(k, a).f) && isnan(scalar_of_bits(k, b).f));
}
