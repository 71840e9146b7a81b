// SPDX-License-Identifier: MIT
// lut3d: trilinear look-up. The places of the table are shared by the three components.
#include "Halide.h"
using namespace Halide;

namespace {

class Lut3d : public Generator<Lut3d> {
public:
    Input<Buffer<uint8_t>> src{"src", 3};
    Input<Buffer<float>> lut{"lut", 4};
    Output<Buffer<uint8_t>> out{"out", 3};

    void generate() {
        const int size = 33;
        Var x("x"), y("y"), c("c"), v("v");
        auto mixed = [](Expr a, Expr b, Expr t) { return a + (b - a) * t; };

        Expr at[3], t[3];
        for (int k = 0; k < 3; k++) {
            Expr place = cast<float>(src(x, y, k)) * ((size - 1) / 255.0f);
            at[k] = min(cast<int>(place), size - 2);
            t[k] = place - at[k];
        }
        auto entry = [&](int r, int g, int b) { return lut(at[0] + r, at[1] + g, at[2] + b, c); };
        auto plane = [&](int b) {
            return mixed(mixed(entry(0, 0, b), entry(1, 0, b), t[0]), mixed(entry(0, 1, b), entry(1, 1, b), t[0]), t[1]);
        };
        out(x, y, c) = cast<uint8_t>(clamp(round(mixed(plane(0), plane(1), t[2]) * 255.0f), 0.0f, 255.0f));

        src.dim(0).set_stride(3).dim(2).set_stride(1).set_bounds(0, 3);
        out.dim(0).set_stride(3).dim(2).set_stride(1).set_bounds(0, 3);
        lut.dim(0).set_bounds(0, size).set_stride(3);
        lut.dim(1).set_bounds(0, size).set_stride(3 * size);
        lut.dim(2).set_bounds(0, size).set_stride(3 * size * size);
        lut.dim(3).set_bounds(0, 3).set_stride(1);
        src.set_estimates({{0, 1536}, {0, 2560}, {0, 3}});
        lut.set_estimates({{0, size}, {0, size}, {0, size}, {0, 3}});
        out.set_estimates({{0, 1536}, {0, 2560}, {0, 3}});
        if (auto_schedule) return;

        const int vector = natural_vector_size<float>();
        Var strip("strip");
        out.reorder(c, x, y).unroll(c).split(y, strip, y, 32, TailStrategy::GuardWithIf).parallel(strip)
            .vectorize(x, vector, TailStrategy::ShiftInwards);
    }
};

}

HALIDE_REGISTER_GENERATOR(Lut3d, lut3d)
