// SPDX-License-Identifier: MIT
// dilate5_u8: the largest of each column of five, then of five such columns.
#include "Halide.h"
using namespace Halide;

namespace {

class Dilate5 : public Generator<Dilate5> {
public:
    Input<Buffer<uint8_t>> src{"src", 2};
    Output<Buffer<uint8_t>> out{"out", 2};

    void generate() {
        Var x("x"), y("y");
        Func in = BoundaryConditions::repeat_edge(src);
        Func column("column");
        column(x, y) = max(max(in(x, y - 2), in(x, y - 1)), max(in(x, y), in(x, y + 1)), in(x, y + 2));
        out(x, y) = max(max(column(x - 2, y), column(x - 1, y)), max(column(x, y), column(x + 1, y)), column(x + 2, y));

        src.set_estimates({{0, 1536}, {0, 2560}});
        out.set_estimates({{0, 1536}, {0, 2560}});
        if (auto_schedule) return;

        const int vector = natural_vector_size<uint8_t>();
        Var strip("strip");
        out.split(y, strip, y, 32, TailStrategy::GuardWithIf).parallel(strip)
            .vectorize(x, vector, TailStrategy::GuardWithIf);
        column.compute_at(out, y).vectorize(x, vector);
    }
};

}

HALIDE_REGISTER_GENERATOR(Dilate5, dilate5_u8)
