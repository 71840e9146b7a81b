// SPDX-License-Identifier: MIT
// lens: bilinear. The picture is packed to four bytes a pixel first, with a black rim, so that a neighbour is one load
// without a question.
#include "Halide.h"
using namespace Halide;

namespace {

class Lens : public Generator<Lens> {
public:
    Input<Buffer<uint8_t>> src{"src", 3};
    Output<Buffer<uint8_t>> out{"out", 3};

    void generate() {
        Var x("x"), y("y"), c("c");
        Func packed("packed"), black = BoundaryConditions::constant_exterior(src, 0);
        auto byte = [&](int k) { return cast<uint32_t>(black(x, y, k)) << (8 * k); };
        packed(x, y) = byte(0) | byte(1) | byte(2);

        Expr width = src.dim(0).extent(), height = src.dim(1).extent();
        Expr cx = (src.dim(0).extent() - 1) / 2.0f, cy = (src.dim(1).extent() - 1) / 2.0f;
        Expr dx = x - cx, dy = y - cy;
        Expr r2 = (dx * dx + dy * dy) * (1.0f / max(cx * cx + cy * cy, 0.25f));
        Expr stretch = 1.0f + r2 * (-0.1f + 0.02f * r2);
        Expr u = cx + dx * stretch, v = cy + dy * stretch;
        Expr left = cast<int>(floor(u)), top = cast<int>(floor(v));
        Expr across = u - left, down = v - top;
        left = clamp(left, -2, width), top = clamp(top, -2, height);
        auto in = [&](Expr x, Expr y, Expr c) {
            return cast<float>(cast<int>((packed(x, y) >> cast<uint32_t>(8 * c)) & 255));
        };
        auto mixed = [](Expr a, Expr b, Expr t) { return a + (b - a) * t; };
        Expr value = mixed(mixed(in(left, top, c), in(left + 1, top, c), across),
                           mixed(in(left, top + 1, c), in(left + 1, top + 1, c), across), down);
        out(x, y, c) = cast<uint8_t>(clamp(round(value), 0.0f, 255.0f));

        src.dim(0).set_stride(3).dim(2).set_stride(1).set_bounds(0, 3);
        out.dim(0).set_stride(3).dim(2).set_stride(1).set_bounds(0, 3);
        src.set_estimates({{0, 1536}, {0, 2560}, {0, 3}});
        out.set_estimates({{0, 1536}, {0, 2560}, {0, 3}});
        if (auto_schedule) return;

        const int vector = natural_vector_size<float>();
        Var strip("strip"), rows("rows");
        packed.compute_root().split(y, rows, y, 32, TailStrategy::GuardWithIf).parallel(rows).vectorize(x, vector);
        out.reorder(c, x, y).unroll(c).split(y, strip, y, 32, TailStrategy::GuardWithIf).parallel(strip)
            .vectorize(x, vector, TailStrategy::ShiftInwards);
    }
};

}

HALIDE_REGISTER_GENERATOR(Lens, lens)
