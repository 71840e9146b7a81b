// SPDX-License-Identifier: MIT
// bilateral4: 49 neighbours, unrolled, with Halide's quick exponential.
#include "Halide.h"
using namespace Halide;

namespace {

class Bilateral4 : public Generator<Bilateral4> {
public:
    Input<Buffer<float>> src{"src", 2};
    Output<Buffer<float>> out{"out", 2};

    void generate() {
        Var x("x"), y("y");
        Func in("in"), sums("sums");
        in(x, y) = BoundaryConditions::mirror_interior(src)(x, y);
        Expr weighted = 0.0f, total = 0.0f;
        for (int j = -4; j <= 4; j++) {
            for (int i = -4; i <= 4; i++) {
                if (i * i + j * j > 16) continue;
                Expr value = in(x + i, y + j), d = value - in(x, y);
                Expr weight = fast_exp(d * d * (-0.5f / (0.1f * 0.1f)) - (i * i + j * j) / 8.0f);
                weighted += weight * value;
                total += weight;
            }
        }
        out(x, y) = weighted / total;

        src.set_estimates({{0, 1536}, {0, 2560}});
        out.set_estimates({{0, 1536}, {0, 2560}});
        if (auto_schedule) return;

        const int vector = natural_vector_size<float>();
        Var strip("strip");
        out.split(y, strip, y, 64, TailStrategy::GuardWithIf).parallel(strip)
            .vectorize(x, vector, TailStrategy::ShiftInwards);
        in.store_at(out, strip).compute_at(out, y).vectorize(x, vector);
    }
};

}

HALIDE_REGISTER_GENERATOR(Bilateral4, bilateral4)
