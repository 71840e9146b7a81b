// SPDX-License-Identifier: MIT
// median3_u8: sorted columns, then the middle of the largest least, the middle middle and the least largest.
#include "bench/halide_rows.h"
using namespace Halide;

namespace {

class Median3 : public Generator<Median3> {
public:
    Input<Buffer<uint8_t>> src{"src", 2};
    Output<Buffer<uint8_t>> out{"out", 2};

    static Expr middle(Expr a, Expr b, Expr c) { return max(min(a, b), min(max(a, b), c)); }

    void generate() {
        Var x("x"), y("y");
        RepeatedRows padded("padded", x, y, src, 1, auto_schedule,
                            [&](const RepeatedRows::Picture &in, Expr x) { return Tuple(in(x, y)); });
        Func &in = padded.rows;
        std::vector<Expr> low, mid, high;
        for (int i = -1; i <= 1; i++) {
            Expr a = in(x + i, y - 1), b = in(x + i, y), c = in(x + i, y + 1);
            low.push_back(min(a, b, c)), mid.push_back(middle(a, b, c)), high.push_back(max(a, b, c));
        }
        out(x, y) = middle(max(low[0], low[1], low[2]), middle(mid[0], mid[1], mid[2]), min(high[0], high[1], high[2]));

        src.set_estimates({{0, 1536}, {0, 2560}});
        out.set_estimates({{0, 1536}, {0, 2560}});
        if (auto_schedule) return;

        const int vector = natural_vector_size<uint8_t>();
        Var strip("strip");
        out.split(y, strip, y, 64, TailStrategy::GuardWithIf).parallel(strip)
            .vectorize(x, vector, TailStrategy::ShiftInwards);
        in.store_at(out, strip).compute_at(out, y);
        padded.vectorize(vector);
    }
};

}

HALIDE_REGISTER_GENERATOR(Median3, median3_u8)
