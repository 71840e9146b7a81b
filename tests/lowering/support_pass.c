/* SPDX-License-Identifier: MIT */
#include "support_pass.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lowering/body.h"

enum { MAX_NAMES = 256 };

/* A name gets the next number where it is defined; a stage begins again at 0. */
char *ir_numbered(arena *memory, const char *source)
{
    char *out = arena_alloc(memory, 2 * strlen(source) + 1), *to = out, names[MAX_NAMES][32];
    int n_names = 0;
    while (*source) {
        if (strncmp(source, "stage %", 7) == 0) n_names = 0;
        if (*source != '$') {
            *to++ = *source++;
            continue;
        }
        size_t length = 1 + strspn(source + 1, "abcdefghijklmnopqrstuvwxyz_0123456789");
        int k = n_names - 1;
        while (k >= 0 && (strlen(names[k]) != length || strncmp(names[k], source, length))) k--;
        /* the first of `$a, $b = fold` is defined there too */
        const char *rest = source + length;
        while (rest[0] == ',' && rest[1] == ' ' && rest[2] == '$') rest += 3 + strspn(rest + 3, "abcdefghijklmnopqrstuvwxyz_0123456789");
        if (strncmp(rest, " =", 2) == 0 && (rest == source + length || strncmp(rest, " = fold", 7) == 0)) {
            k = n_names++;
            assert_true(k < MAX_NAMES && length < sizeof names[0]);
            memcpy(names[k], source, length);
            names[k][length] = 0;
        }
        if (k < 0) fail_msg("no value %.*s", (int)length, source);
        to += snprintf(to, 12, "%%%d", k);
        source += length;
    }
    return out;
}

tensor_pipe *after_passes(arena *memory, const char *source, const pass_id *passes, int n)
{
    tensor_pipe *p = ir_from_text(memory, ir_numbered(memory, source));
    for (int k = 0; k < n; k++) {
        pass_get(passes[k])->run(p);
        text problems = { 0 };
        if (!tensor_verify(p, &problems)) {
            text_add(&problems, "", 1);
            fail_msg("after %s:\n%s\n%s", pass_get(passes[k])->name, problems.bytes, ir_text(memory, p));
        }
        text_free(&problems);
        p = ir_from_text(memory, ir_text(memory, p));
    }
    return p;
}

tensor_pipe *after_pass(arena *memory, const char *source, pass_id pass) { return after_passes(memory, source, &pass, 1); }

/* ---- the same bits ----------------------------------------------------------------------------------- */

static void *random_pixels(random_source *r, type t, size_t count)
{
    int bytes = kind_get(t.kind)->n_bytes;
    char *data = malloc(count * t.lanes * bytes + 1);
    for (size_t k = 0; k < count * t.lanes; k++) {
        uint32_t bits = random_of_kind(r, t.kind);
        if (t.kind == KIND_f16) {                                   /* in memory as half: any 16 bits will do */
            bits = random_bits(r);
        }
        memcpy(data + k * bytes, &bits, bytes);
    }
    return data;
}

static halo_image output_image(const tensor_pipe *p, uint32_t stage, const run_values *values, size_t *n_bytes)
{
    int32_t lo[TENSOR_MAX_RANK], extent[TENSOR_MAX_RANK];
    type t = stage_at(p, stage)->type;
    halo_image image = { 0 };
    size_t bytes = (size_t)kind_get(t.kind)->n_bytes * t.lanes;
    stage_bounds(p, stage, values, lo, extent);
    for (int d = 0; d < TENSOR_MAX_RANK; d++) {
        image.extent[d] = extent[d];
        image.stride[d] = (ptrdiff_t)bytes;
        bytes *= (size_t)extent[d];
    }
    image.data = calloc(1, bytes + 1);
    *n_bytes = bytes;
    return image;
}

static float half_value(uint16_t bits)
{
    _Float16 h;
    memcpy(&h, &bits, sizeof h);
    return (float)h;
}

static void compare(const tensor_pipe *p, uint32_t stage, const void *before, const void *after, size_t n_bytes)
{
    kind k = stage_at(p, stage)->type.kind;
    size_t bytes = kind_get(k)->n_bytes;
    for (size_t at = 0; at < n_bytes; at += bytes) {
        uint32_t a = 0, b = 0;
        memcpy(&a, (const char *)before + at, bytes);
        memcpy(&b, (const char *)after + at, bytes);
        if (a == b) continue;
        if (k == KIND_f16 && half_value((uint16_t)a) != half_value((uint16_t)a) && half_value((uint16_t)b) != half_value((uint16_t)b)) continue;
        if (k != KIND_f16 && same_bits(k, a, b)) continue;
        fail_msg("output %s, component %zu: 0x%x before, 0x%x after", stage_at(p, stage)->name, at / bytes, a, b);
    }
}

void expect_same_bits(const char *source, pass_id pass, int width, int height, const uint32_t (*params)[TENSOR_MAX_LANES], uint64_t seed)
{
    arena *memory = arena_new(NULL);
    tensor_pipe *before = ir_from_text(memory, ir_numbered(memory, source)), *after = after_pass(memory, source, pass);
    random_source r = { seed };
    type t = stage_at(before, 1)->type;
    void *pixels = random_pixels(&r, t, (size_t)width * height);
    halo_image input = image_of(pixels, (size_t)kind_get(t.kind)->n_bytes * t.lanes, width, height);
    run_values values = { &input, params };
    halo_image first[8], second[8];
    size_t n_bytes[8];
    for (uint32_t k = 0; k < before->outputs.count; k++) {
        first[k] = output_image(before, before->outputs.items[k].stage, &values, &n_bytes[k]);
        second[k] = output_image(after, after->outputs.items[k].stage, &values, &n_bytes[k]);
    }
    ir_run(before, &input, params, first);
    ir_run(after, &input, params, second);
    for (uint32_t k = 0; k < before->outputs.count; k++) {
        compare(before, before->outputs.items[k].stage, first[k].data, second[k].data, n_bytes[k]);
        free(first[k].data);
        free(second[k].data);
    }
    free(pixels);
    arena_free(memory);
}

/* ---- what is left --------------------------------------------------------------------------------------- */

static int count_nodes(const tensor_pipe *p, bool (*matches)(const tensor_pipe *p, const tensor_node *n, int a, int b), int a, int b)
{
    arena *memory = arena_new(NULL);
    body reached;
    int count = 0;
    body_begin(&reached, memory, p);
    for (uint32_t s = 1; s < p->stages.count; s++) {
        if (stage_at(p, s)->kind != STAGE_compute) continue;
        body_clear(&reached);
        body_add(&reached, stage_at(p, s)->body);
        for (uint32_t k = 0; k < reached.nodes.count; k++) count += matches(p, node_at(p, reached.nodes.items[k].node), a, b);
    }
    arena_free(memory);
    return count;
}

static bool is_fold(const tensor_pipe *p, const tensor_node *n, int form, int n_binders)
{
    return n->op == OP_result && fold_at(p, n->payload)->form == form && fold_at(p, n->payload)->n_binders == n_binders;
}

static bool is_op(const tensor_pipe *p, const tensor_node *n, int op, int unused)
{
    (void)p, (void)unused;
    return n->op == op;
}

int count_folds(const tensor_pipe *p, fold_form form, int n_binders) { return count_nodes(p, is_fold, form, n_binders); }
int count_op(const tensor_pipe *p, tensor_op op) { return count_nodes(p, is_op, op, 0); }

uint32_t find_stage(const tensor_pipe *p, const char *name)
{
    for (uint32_t s = 1; s < p->stages.count; s++)
        if (strcmp(stage_at(p, s)->name, name) == 0) return s;
    return 0;
}
