#include "bench/plain.h"
#include "bench/plain_math.h"
#include "bench/plain_pyramid.h"

enum { LEVELS = 8 };

static plane component(const halo_image *image, int c, int components)
{
    plane p = plane_new(image->extent[0], image->extent[1]);
    #pragma omp parallel for
    for (int y = 0; y < p.height; y++) {
        const uint8_t *in = row_of(image, y);
        float *out = pyramid_row(p, y);
        for (int x = 0; x < p.width; x++) out[x] = (float)in[components * x + c] / 255.0f;
    }
    return p;
}

static void pyramid(plane *levels, plane first)
{
    levels[0] = first;
    for (int k = 1; k < LEVELS; k++) levels[k] = plane_down(levels[k - 1]);
}

static void join_detail(plane joined, const plane *a, const plane *b, const plane *m, plane coarser, int k)
{
    #pragma omp parallel for
    for (int y = 0; y < a[k].height; y++) {
        float *out = pyramid_row(joined, y);
        const float *pa = pyramid_row(a[k], y), *pb = pyramid_row(b[k], y), *pm = pyramid_row(m[k], y);
        for (int x = 0; x < a[k].width; x++) {
            float detail_a = pa[x] - plane_up_at(a[k + 1], x, y), detail_b = pb[x] - plane_up_at(b[k + 1], x, y);
            out[x] = plain_mix(detail_b, detail_a, pm[x]) + plane_up_at(coarser, x, y);
        }
    }
}

void plain(const halo_image *images)
{
    plane a[LEVELS], b[LEVELS], m[LEVELS];
    pyramid(m, component(&images[2], 0, 1));
    for (int c = 0; c < 3; c++) {
        pyramid(a, component(&images[0], c, 3));
        pyramid(b, component(&images[1], c, 3));
        plane joined = plane_new(a[LEVELS - 1].width, a[LEVELS - 1].height);
        for (size_t i = 0; i < (size_t)joined.width * (size_t)joined.height; i++)
            joined.data[i] = plain_mix(b[LEVELS - 1].data[i], a[LEVELS - 1].data[i], m[LEVELS - 1].data[i]);
        for (int k = LEVELS - 2; k >= 0; k--) {
            plane finer = plane_new(a[k].width, a[k].height);
            join_detail(finer, a, b, m, joined, k);
            free(joined.data);
            joined = finer;
        }
        #pragma omp parallel for
        for (int y = 0; y < joined.height; y++) {
            uint8_t *out = row_of(&images[3], y);
            const float *in = pyramid_row(joined, y);
            for (int x = 0; x < joined.width; x++) out[3 * x + c] = plain_u8(in[x] * 255.0f);
        }
        free(joined.data);
        for (int k = 0; k < LEVELS; k++) { free(a[k].data); free(b[k].data); }
    }
    for (int k = 0; k < LEVELS; k++) free(m[k].data);
}
