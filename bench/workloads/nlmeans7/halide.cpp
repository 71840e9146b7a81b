// SPDX-License-Identifier: MIT
// nlmeans7: the shape of Halide's nl_means with everything constant: per tile, for each row of displacements, differences,
// their columns, their patches, weights.
#include "Halide.h"
using namespace Halide;

namespace {

class NonLocalMeans : public Generator<NonLocalMeans> {
public:
    Input<Buffer<float>> src{"src", 3};
    Output<Buffer<float>> out{"out", 3};

    void generate() {
        Var x("x"), y("y"), c("c"), dx("dx"), dy("dy");
        Func in("in"), unlike("unlike"), column("column"), patch("patch"), weight("weight"), total("total");
        in(x, y, c) = BoundaryConditions::repeat_edge(src)(x, y, c);
        Expr square = 0.0f;
        for (int k = 0; k < 3; k++) {
            Expr d = in(x, y, k) - in(x + dx, y + dy, k);
            square += d * d;
        }
        unlike(x, y, dx, dy) = square;
        Expr down = 0.0f, across = 0.0f;
        for (int j = -3; j <= 3; j++) down += unlike(x, y + j, dx, dy);
        column(x, y, dx, dy) = down;
        for (int i = -3; i <= 3; i++) across += column(x + i, y, dx, dy);
        patch(x, y, dx, dy) = across;
        weight(x, y, dx, dy) = fast_exp(patch(x, y, dx, dy) * (-1.0f / (0.12f * 0.12f * 49.0f)));

        RDom s(-3, 7, -3, 7);
        Expr value = mux(c, {in(x + s.x, y + s.y, 0), in(x + s.x, y + s.y, 1), in(x + s.x, y + s.y, 2), 1.0f});
        total(x, y, c) += weight(x, y, s.x, s.y) * value;
        out(x, y, c) = clamp(total(x, y, c) / total(x, y, 3), 0.0f, 1.0f);

        out.dim(2).set_bounds(0, 3);
        src.dim(2).set_bounds(0, 3);
        src.set_estimates({{0, 1536}, {0, 2560}, {0, 3}});
        out.set_estimates({{0, 1536}, {0, 2560}, {0, 3}});
        if (auto_schedule) return;

        const int vector = natural_vector_size<float>();
        Var tx("tx"), ty("ty");
        out.reorder(c, x, y).unroll(c)
            .tile(x, y, tx, ty, x, y, 64, 32, TailStrategy::ShiftInwards).parallel(ty)
            .vectorize(x, vector);
        in.compute_at(out, tx).vectorize(x, vector);
        total.compute_at(out, tx).reorder(c, x, y).bound(c, 0, 4).unroll(c).vectorize(x, vector);
        total.update().reorder(c, x, y, s.x, s.y).unroll(c).vectorize(x, vector);
        weight.compute_at(total, y).vectorize(x, vector);
        unlike.compute_at(total, s.x).vectorize(x, vector);
        column.compute_at(total, y).vectorize(x, vector);
    }
};

}

HALIDE_REGISTER_GENERATOR(NonLocalMeans, nlmeans7)
