#include "bench/plain.h"
#include "bench/plain_math.h"

/* A picture of integers. No borders: what is made from the outermost pixels is wrong, and cropped in the end. */
typedef struct plane { int width, height; int16_t *data; } plane;

static plane plane_new(int width, int height)
{
    return (plane){ width, height, calloc((size_t)width * (size_t)height, sizeof(int16_t)) };
}

static inline int at(plane p, int x, int y) { return p.data[(size_t)y * (size_t)p.width + (size_t)x]; }
static inline int16_t *set(plane p, int x, int y) { return &p.data[(size_t)y * (size_t)p.width + (size_t)x]; }
static inline int least(int a, int b) { return a < b ? a : b; }
static inline int most(int a, int b) { return a > b ? a : b; }
static inline int average(int a, int b) { return (a + b + 1) >> 1; }

static inline int guided(int a, int b, int green_a, int green_b, int green)
{
    return green - average(green_a, green_b) + average(a, b);
}

static plane suppress_hot_pixels(const halo_image *raw)
{
    plane calm = plane_new(raw->extent[0], raw->extent[1]);
    #pragma omp parallel for
    for (int y = 2; y < calm.height - 2; y++) {
        const uint16_t *above = row_of(raw, y - 2), *here = row_of(raw, y), *below = row_of(raw, y + 2);
        for (int x = 2; x < calm.width - 2; x++) {
            int brightest = most(most(here[x - 2], here[x + 2]), most(above[x], below[x]));
            *set(calm, x, y) = (int16_t)least(1023, least(here[x], brightest));
        }
    }
    return calm;
}

enum { G_GR, R_R, B_B, G_GB, G_R, G_B, PLANES };

static void make_greens(plane calm, plane *p)
{
    #pragma omp parallel for
    for (int y = 0; y < p[0].height; y++)
        for (int x = 0; x < p[0].width; x++) {
            *set(p[G_GR], x, y) = (int16_t)at(calm, 2 * x, 2 * y);
            *set(p[R_R], x, y) = (int16_t)at(calm, 2 * x + 1, 2 * y);
            *set(p[B_B], x, y) = (int16_t)at(calm, 2 * x, 2 * y + 1);
            *set(p[G_GB], x, y) = (int16_t)at(calm, 2 * x + 1, 2 * y + 1);
        }
    #pragma omp parallel for
    for (int y = 1; y < p[0].height - 1; y++)
        for (int x = 1; x < p[0].width - 1; x++) {
            int gr = at(p[G_GR], x, y), gb = at(p[G_GB], x, y);
            int right = at(p[G_GR], x + 1, y), above = at(p[G_GB], x, y - 1);
            int left = at(p[G_GB], x - 1, y), below = at(p[G_GR], x, y + 1);
            *set(p[G_R], x, y) = (int16_t)(abs(right - gr) < abs(above - gb) ? average(right, gr) : average(above, gb));
            *set(p[G_B], x, y) = (int16_t)(abs(left - gb) < abs(below - gr) ? average(left, gb) : average(below, gr));
        }
}

/* Colour `own` on the diagonals, at a place whose green is known: the way that changes less. */
static inline int diagonal(plane own, plane green, int x0, int x1, int y0, int y1, int here)
{
    int a = at(own, x0, y0), b = at(own, x1, y1), c = at(own, x1, y0), d = at(own, x0, y1);
    return abs(a - b) < abs(c - d) ? guided(a, b, at(green, x0, y0), at(green, x1, y1), here)
                                   : guided(c, d, at(green, x1, y0), at(green, x0, y1), here);
}

static inline void demosaic(const plane *p, int x, int y, int rgb[4][3])
{
    plane r = p[R_R], b = p[B_B], gr = p[G_R], gb = p[G_B];
    int green_r = at(p[G_GR], x, y), green_b = at(p[G_GB], x, y);
    rgb[0][0] = guided(at(r, x - 1, y), at(r, x, y), at(gr, x - 1, y), at(gr, x, y), green_r);
    rgb[0][1] = green_r;
    rgb[0][2] = guided(at(b, x, y), at(b, x, y - 1), at(gb, x, y), at(gb, x, y - 1), green_r);
    rgb[1][0] = at(r, x, y);
    rgb[1][1] = at(gr, x, y);
    rgb[1][2] = diagonal(b, gb, x, x + 1, y, y - 1, at(gr, x, y));
    rgb[2][0] = diagonal(r, gr, x, x - 1, y, y + 1, at(gb, x, y));
    rgb[2][1] = at(gb, x, y);
    rgb[2][2] = at(b, x, y);
    rgb[3][0] = guided(at(r, x, y), at(r, x, y + 1), at(gr, x, y), at(gr, x, y + 1), green_b);
    rgb[3][1] = green_b;
    rgb[3][2] = guided(at(b, x, y), at(b, x + 1, y), at(gb, x, y), at(gb, x + 1, y), green_b);
}

static void make_matrix(int m[3][4])
{
    static const float warm[3][4] = { { 1.6697f, -0.2693f, -0.4004f, -42.4346f }, { -0.3576f, 1.0615f, 1.5949f, -37.1158f },
                                      { -0.2175f, -1.8751f, 6.9640f, -26.6970f } };
    static const float cold[3][4] = { { 2.2997f, -0.4478f, 0.1706f, -39.0923f }, { -0.3826f, 1.5906f, -0.2080f, -25.4311f },
                                      { -0.0888f, -0.7344f, 2.2832f, -20.0826f } };
    float t = (1.0f / 3700.0f - 1.0f / 3200.0f) / (1.0f / 7000.0f - 1.0f / 3200.0f);
    for (int j = 0; j < 3; j++)
        for (int i = 0; i < 4; i++) m[j][i] = (int)(fmaf(cold[j][i], 1 - t, warm[j][i] * t) * 256.0f);
}

static void make_curve(uint8_t curve[1024])
{
    float b = 2 - plain_pow(2.0f, 50.0f / 100.0f), a = 2 - 2 * b;
    for (int i = 0; i < 1024; i++) {
        float g = plain_pow(plain_clamp((float)(i - 25) / (1023 - 25), 0, 1), 1.0f / 2.0f);
        float z = g > 0.5f ? 1 - fmaf(b, 1 - g, a * (1 - g) * (1 - g)) : fmaf(b, g, a * g * g);
        curve[i] = plain_u8(z * 255.0f);
    }
}

/* The toned picture on the sensor's places. */
static void make_toned(const plane *p, plane toned[3])
{
    int m[3][4];
    uint8_t curve[1024];
    make_matrix(m);
    make_curve(curve);
    #pragma omp parallel for
    for (int y = 3; y < p[0].height - 3; y++)
        for (int x = 3; x < p[0].width - 3; x++) {
            int rgb[4][3];
            demosaic(p, x, y, rgb);
            for (int k = 0; k < 4; k++)
                for (int c = 0; c < 3; c++) {
                    int v = (m[c][3] + m[c][0] * rgb[k][0] + m[c][1] * rgb[k][1] + m[c][2] * rgb[k][2]) >> 8;
                    *set(toned[c], 2 * x + k % 2, 2 * y + k / 2) = curve[clamp_index(v, 0, 1023)];
                }
        }
}

static inline int softened_down(plane p, int x, int y) { return average(average(at(p, x, y - 1), at(p, x, y + 1)), at(p, x, y)); }

static void sharpen(const plane toned[3], const halo_image *dst)
{
    #pragma omp parallel for
    for (int y = 0; y < dst->extent[1]; y++) {
        uint8_t *out = row_of(dst, y);
        for (int x = 0; x < dst->extent[0]; x++)
            for (int c = 0; c < 3; c++) {
                int u = x + 16, v = y + 12, here = at(toned[c], u, v);
                int sides = average(softened_down(toned[c], u - 1, v), softened_down(toned[c], u + 1, v));
                int soft = average(sides, softened_down(toned[c], u, v));
                out[3 * x + c] = (uint8_t)clamp_index(here + ((here - soft) * 32 >> 5), 0, 255);
            }
    }
}

void plain(const halo_image *images)
{
    plane calm = suppress_hot_pixels(&images[0]), p[PLANES], toned[3];
    for (int i = 0; i < PLANES; i++) p[i] = plane_new(calm.width / 2, calm.height / 2);
    for (int c = 0; c < 3; c++) toned[c] = plane_new(calm.width, calm.height);
    make_greens(calm, p);
    make_toned(p, toned);
    sharpen(toned, &images[1]);
    free(calm.data);
    for (int i = 0; i < PLANES; i++) free(p[i].data);
    for (int c = 0; c < 3; c++) free(toned[c].data);
}
