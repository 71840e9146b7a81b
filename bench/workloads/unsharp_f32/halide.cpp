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
        Expr width = src.dim(0).extent(), height = src.dim(1).extent();
        auto grey_of = [&](Func f, Expr yy) { return 0.299f * f(x, yy, 0) + 0.587f * f(x, yy, 1) + 0.114f * f(x, yy, 2); };
        RDom inside(0, width), beside(1, 3);
        if (auto_schedule)
            grey(x, y) = grey_of(BoundaryConditions::repeat_edge(src, {{0, width}, {0, height}, {Expr(), Expr()}}), y);
        else
            grey(x, y) = grey_of(src, clamp(y, 0, height - 1));
        float w[4];
        for (int i = 0; i < 4; i++)
            w[i] = (float)(std::exp(-i * i / 4.5) / (std::sqrt(2 * M_PI) * 1.5));
        auto columns = [&](Expr xx) {
            Expr sum = w[0] * grey(xx, y);
            for (int i = 1; i < 4; i++)
                sum += w[i] * (grey(xx, y - i) + grey(xx, y + i));
            return sum;
        };
        if (auto_schedule) {
            tall(x, y) = columns(x);
        } else {
            // Ends are copied, so that nothing but rows needs clamping.
            tall(x, y) = undef<float>();
            tall(inside, y) = columns(inside);
            tall(-beside, y) = tall(0, y);
            tall(width - 1 + beside, y) = tall(width - 1, y);
        }
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
            tall.compute_at(out, group).update(0).allow_race_conditions().vectorize(inside, 16).reorder(y, inside).unroll(y, rows);
        }
    }
};
HALIDE_REGISTER_GENERATOR(Unsharp, unsharp_f32)
