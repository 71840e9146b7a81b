// SPDX-License-Identifier: MIT
// lut3d: trilinear look-up. Entries are padded to four components, so that each of the eight around a colour is one load;
// places in the table are found for a row at a time.
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

        Func table("table"), place("place"), graded("graded");
        table(c, x, y, v) = lut(x, y, v, min(c, 2));
        Expr exact = cast<float>(src(x, y, c)) * ((size - 1) / 255.0f), whole = min(cast<int>(exact), size - 2);
        place(x, y, c) = Tuple(whole, exact - whole);
        auto at = [&](int k) { return unsafe_promise_clamped(place(x, y, k)[0], 0, size - 2); };
        auto entry = [&](int r, int g, int b) { return table(c, at(0) + r, at(1) + g, at(2) + b); };
        auto plane = [&](int b) {
            Expr t = place(x, y, 0)[1];
            return mixed(mixed(entry(0, 0, b), entry(1, 0, b), t), mixed(entry(0, 1, b), entry(1, 1, b), t), place(x, y, 1)[1]);
        };
        graded(c, x, y) = mixed(plane(0), plane(1), place(x, y, 2)[1]);
        out(x, y, c) = cast<uint8_t>(clamp(round(graded(c, x, y) * 255.0f), 0.0f, 255.0f));

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
        table.compute_root().bound(c, 0, 4).vectorize(c);
        place.compute_at(out, y).vectorize(x, vector).reorder(c, x).unroll(c);
        graded.compute_at(out, y).bound(c, 0, 4).vectorize(c).unroll(x, 4);
    }
};

}

HALIDE_REGISTER_GENERATOR(Lut3d, lut3d)
