/* Sharpen brightness, on planes. The schedule: strips; grey in a circular buffer; of a few rows at a time the columns' sums in
 * a buffer; then rows' sums, ratio and the three components in one loop. */
#include <cmath>

#include "Halide.h"

using namespace Halide;

class Unsharp : public Generator<Unsharp> {
public:
    GeneratorParam<int> rows{"rows", 4}, strip{"strip", 64};
    Input<Buffer<float>>  src{"src", 3};
    Output<Buffer<float>> out{"out", 3};

    void generate()
    {
        Var  x("x"), y("y"), c("c");
        Func grey("grey"), tall("tall"), ratio("ratio");
        Func padded = BoundaryConditions::repeat_edge(src, {{src.dim(0).min(), src.dim(0).extent()},
                                                            {src.dim(1).min(), src.dim(1).extent()}, {Expr(), Expr()}});
        grey(x, y) = 0.299f * padded(x, y, 0) + 0.587f * padded(x, y, 1) + 0.114f * padded(x, y, 2);
        float w[4];
        for (int i = 0; i < 4; i++)
            w[i] = (float)(std::exp(-i * i / 4.5) / (std::sqrt(2 * M_PI) * 1.5));
        Expr columns = w[0] * grey(x, y);
        for (int i = 1; i < 4; i++)
            columns += w[i] * (grey(x, y - i) + grey(x, y + i));
        tall(x, y) = columns;
        Expr line = w[0] * tall(x, y);
        for (int i = 1; i < 4; i++)
            line += w[i] * (tall(x - i, y) + tall(x + i, y));
        ratio(x, y) = (2 * grey(x, y) - line) / grey(x, y);
        out(x, y, c) = ratio(x, y) * src(x, y, c);

        src.set_estimates({{0, 1536}, {0, 2560}, {0, 3}});
        out.set_estimates({{0, 1536}, {0, 2560}, {0, 3}});
        src.dim(0).set_min(0); src.dim(1).set_min(0); src.dim(2).set_bounds(0, 3);
        out.dim(0).set_min(0); out.dim(1).set_min(0); out.dim(2).set_bounds(0, 3);
        if (!auto_schedule) {
            Var strips("strips"), group("group"), row("row");
            out.bound(c, 0, 3).split(y, strips, y, strip, TailStrategy::GuardWithIf).split(y, group, row, rows)
                .reorder(c, x, row, group, strips).vectorize(x, 16).unroll(c).parallel(strips);
            grey.store_at(out, strips).compute_at(out, group).vectorize(x, 16);
            tall.compute_at(out, group).vectorize(x, 16).reorder(y, x).unroll(y, rows);
        }
    }
};
HALIDE_REGISTER_GENERATOR(Unsharp, unsharp_f32)
