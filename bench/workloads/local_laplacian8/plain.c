#include "bench/plain.h"
#include "bench/plain_math.h"
#include "bench/plain_pyramid.h"

enum { LEVELS = 8, VALUES = 8, STEPS = 256 * (VALUES - 1) };

static plane grey_of(const halo_image *src)
{
    plane grey = plane_new(src->extent[0], src->extent[1]);
    #pragma omp parallel for
    for (int y = 0; y < grey.height; y++) {
        const uint16_t *r = plane_row(src, y, 0), *g = plane_row(src, y, 1), *b = plane_row(src, y, 2);
        float *out = pyramid_row(grey, y);
        for (int x = 0; x < grey.width; x++) {
            float sum = fmaf(0.587f, (float)g[x] / 65535.0f, 0.299f * ((float)r[x] / 65535.0f));
            out[x] = fmaf(0.114f, (float)b[x] / 65535.0f, sum);
        }
    }
    return grey;
}

/* The picture with its contrast enhanced around value k of 0..7. */
static plane enhanced_around(plane grey, int k, const float *remap)
{
    const float value = (float)k / (VALUES - 1);
    plane p = plane_new(grey.width, grey.height);
    #pragma omp parallel for
    for (int y = 0; y < grey.height; y++) {
        const float *in = pyramid_row(grey, y);
        float *out = pyramid_row(p, y);
        for (int x = 0; x < grey.width; x++) {
            int place = clamp_index((int)(in[x] * (VALUES - 1) * 256), 0, STEPS);
            out[x] = in[x] - value + value + remap[STEPS + place - 256 * k];
        }
    }
    return p;
}

static void pyramid(plane *levels, plane first)
{
    levels[0] = first;
    for (int j = 1; j < LEVELS; j++) levels[j] = plane_down(levels[j - 1]);
}

/* What the stack of planes has at (x, y) over its next coarser level; the coarsest level has itself. */
static float detail_at(plane stack[VALUES][LEVELS], int k, int j, int x, int y)
{
    float here = pyramid_row(stack[k][j], y)[x];
    return j == LEVELS - 1 ? here : here - plane_up_at(stack[k][j + 1], x, y);
}

static plane chosen_detail(plane grey, plane stack[VALUES][LEVELS], int j)
{
    plane p = plane_new(grey.width, grey.height);
    #pragma omp parallel for
    for (int y = 0; y < p.height; y++) {
        const float *in = pyramid_row(grey, y);
        float *out = pyramid_row(p, y);
        for (int x = 0; x < p.width; x++) {
            float level = in[x] * (VALUES - 1);
            int k = clamp_index((int)level, 0, VALUES - 2);
            out[x] = plain_mix(detail_at(stack, k, j, x, y), detail_at(stack, k + 1, j, x, y), level - (float)k);
        }
    }
    return p;
}

static uint16_t to_u16(float v) { return (uint16_t)plain_min(65535.0f, rintf(plain_max(v, 0.0f))); }

static void colour(const halo_image *src, const halo_image *dst, plane grey, plane out)
{
    #pragma omp parallel for
    for (int y = 0; y < grey.height; y++) {
        const float *pg = pyramid_row(grey, y), *po = pyramid_row(out, y);
        for (int c = 0; c < 3; c++) {
            const uint16_t *in = plane_row(src, y, c);
            uint16_t *to = plane_row(dst, y, c);
            for (int x = 0; x < grey.width; x++)
                to[x] = to_u16(po[x] * ((float)in[x] / 65535.0f + 0.01f) / (pg[x] + 0.01f) * 65535.0f);
        }
    }
}

void plain(const halo_image *images)
{
    float remap[2 * STEPS + 1];
    for (int i = -STEPS; i <= STEPS; i++) {
        float t = (float)i / 256.0f;
        remap[STEPS + i] = 1.0f / 7.0f * t * plain_exp(-t * t / 2.0f);
    }
    plane grey[LEVELS], stack[VALUES][LEVELS];
    pyramid(grey, grey_of(&images[0]));
    for (int k = 0; k < VALUES; k++) pyramid(stack[k], enhanced_around(grey[0], k, remap));

    plane out = chosen_detail(grey[LEVELS - 1], stack, LEVELS - 1);
    for (int j = LEVELS - 2; j >= 0; j--) {
        plane finer = chosen_detail(grey[j], stack, j);
        #pragma omp parallel for
        for (int y = 0; y < finer.height; y++) {
            float *row = pyramid_row(finer, y);
            for (int x = 0; x < finer.width; x++) row[x] = plane_up_at(out, x, y) + row[x];
        }
        free(out.data);
        out = finer;
    }
    colour(&images[0], &images[1], grey[0], out);
    free(out.data);
    for (int j = 0; j < LEVELS; j++) {
        free(grey[j].data);
        for (int k = 0; k < VALUES; k++) free(stack[k][j].data);
    }
}
