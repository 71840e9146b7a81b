/* 43 taps in Q16, down the columns of a few rows at a time, then along the rows. All sums are whole numbers below 2^24, so that
 * f32 holds them exactly, and a fused multiply-add does in one step what integers do in two. */
#include "Halide.h"

using namespace Halide;

class Sep43 : public Generator<Sep43> {
public:
    GeneratorParam<int> rows{"rows", 8}, strip{"strip", 64};
    Input<Buffer<uint8_t>>  src{"src", 2};
    Output<Buffer<uint8_t>> out{"out", 2};

    void generate()
    {
        static const int w[43] = {42, 63, 94, 137, 196, 275, 377, 507, 667, 861, 1089, 1349, 1638, 1948, 2270, 2592, 2900, 3179,
                                  3414, 3593, 3705, 3744, 3705, 3593, 3414, 3179, 2900, 2592, 2270, 1948, 1638, 1349, 1089, 861,
                                  667, 507, 377, 275, 196, 137, 94, 63, 42};
        const int r = 21;
        Var  x("x"), y("y");
        Func padded = BoundaryConditions::repeat_edge(src), tall("tall"), wide("wide");
        wide(x, y) = cast<float>(padded(x, y));
        Expr columns = 32768.0f, line = 32768.0f;
        for (int j = -r; j <= r; j++)
            columns += (float)w[j + r] * wide(x, y + j);
        tall(x, y) = floor(columns * (1 / 65536.0f));
        for (int i = -r; i <= r; i++)
            line += (float)w[i + r] * tall(x + i, y);
        out(x, y) = cast<uint8_t>(clamp(cast<int>(line) >> 16, 0, 255));

        src.set_estimates({{0, 1536}, {0, 2560}});
        out.set_estimates({{0, 1536}, {0, 2560}});
        src.dim(0).set_min(0); src.dim(1).set_min(0);
        out.dim(0).set_min(0); out.dim(1).set_min(0);
        if (!auto_schedule) {
            Var strips("strips"), group("group"), row("row"), xi("xi"), piece("piece");
            out.split(y, strips, y, strip, TailStrategy::GuardWithIf).split(y, group, row, rows)
                .split(x, x, xi, 64).split(xi, piece, xi, 16).vectorize(xi).unroll(piece).parallel(strips);
            wide.store_at(out, strips).compute_at(out, group).vectorize(x, 16);
            tall.compute_at(out, group).vectorize(x, 16).reorder(y, x).unroll(y, rows);
        }
    }
};
HALIDE_REGISTER_GENERATOR(Sep43, sep43_u8)
