/* SPDX-License-Identifier: MIT
 * bilateral4: 49 neighbours, each weighted by its distance and by how far its value is away. */
#include "bench/plain.h"

static int reflected(int i, int n)
{
    while (i < 0 || i >= n) i = n == 1 ? 0 : i < 0 ? -i : 2 * n - 2 - i;
    return i;
}

/* Row y with four pixels more at each end. */
static void load_row(const halo_image *a, int y, float *row)
{
    const float *in = row_of(a, reflected(y, a->extent[1]));
    for (int x = -4; x < a->extent[0] + 4; x++) row[x + 4] = in[reflected(x, a->extent[0])];
}

void plain(const halo_image *images)
{
    int width = images[0].extent[0], height = images[0].extent[1];
#pragma omp parallel for
    for (int y = 0; y < height; y++) {
        float row[width + 8], middle[width + 8], total[width], weighted[width];
        float *out = row_of(&images[1], y);
        load_row(images, y, middle);
        memset(total, 0, sizeof total);
        memset(weighted, 0, sizeof weighted);
        for (int j = -4; j <= 4; j++) {
            load_row(images, y + j, row);
            for (int i = -4; i <= 4; i++) {
                if (i * i + j * j > 16) continue;
                float place = plain_exp((i * i + j * j) / -8.0f);
                for (int x = 0; x < width; x++) {
                    float value = row[x + 4 + i], d = value - middle[x + 4];
                    float weight = place * plain_exp(d * d * (-0.5f / (0.1f * 0.1f)));
                    weighted[x] += weight * value;
                    total[x] += weight;
                }
            }
        }
        for (int x = 0; x < width; x++) out[x] = weighted[x] / total[x];
    }
}
