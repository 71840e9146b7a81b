// SPDX-License-Identifier: MIT
// dilate5_u8: the largest of each column of five, then of five such columns.
#include "bench/halide_rows.h"
using namespace Halide;

namespace {

class Dilate5 : public Generator<Dilate5> {
public:
    Input<Buffer<uint8_t>> src{"src", 2};
    Output<Buffer<uint8_t>> out{"out", 2};

    void generate() {
        Var x("x"), y("y");
        RepeatedRows column("column", x, y, src, 2, auto_schedule, [&](const RepeatedRows::Picture &in, Expr x) {
            auto row = [&](int j) { return in(x, y + j); };
            return Tuple(max(max(row(-2), row(-1)), max(row(0), row(1)), row(2)));
        });
        Func &c = column.rows;
        out(x, y) = max(max(c(x - 2, y), c(x - 1, y)), max(c(x, y), c(x + 1, y)), c(x + 2, y));

        src.set_estimates({{0, 1536}, {0, 2560}});
        out.set_estimates({{0, 1536}, {0, 2560}});
        if (auto_schedule) return;

        const int vector = natural_vector_size<uint8_t>();
        Var strip("strip");
        out.split(y, strip, y, 64, TailStrategy::GuardWithIf).parallel(strip)
            .vectorize(x, vector, TailStrategy::ShiftInwards);
        c.compute_at(out, y);
        column.vectorize(vector);
    }
};

}

HALIDE_REGISTER_GENERATOR(Dilate5, dilate5_u8)
