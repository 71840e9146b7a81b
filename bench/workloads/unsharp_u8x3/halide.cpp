/* Sharpen brightness; the colours follow. The schedule is that of unsharp_f32; loads and stores of pixels are shuffled. */
#include <cmath>

#include "Halide.h"

using namespace Halide;

class Unsharp : public Generator<Unsharp> {
public:
    GeneratorParam<int> rows{"rows", 4}, strip{"strip", 64}, lanes{"lanes", 16};
    Input<Buffer<uint8_t>>  src{"src", 3};
    Output<Buffer<uint8_t>> out{"out", 3};

    void generate()
    {
        Var  x("x"), y("y"), c("c");
        Func grey("grey"), tall("tall"), detail("detail");
        Expr width = src.dim(0).extent(), height = src.dim(1).extent();
        auto grey_of = [&](Func f, Expr yy) {
            return 0.299f * cast<float>(f(x, yy, 0)) + 0.587f * cast<float>(f(x, yy, 1)) + 0.114f * cast<float>(f(x, yy, 2));
        };
        RDom inside(0, width), beside(1, 3);
        if (auto_schedule)
            grey(x, y) = grey_of(BoundaryConditions::repeat_edge(src, {{0, width}, {0, height}, {Expr(), Expr()}}), y);
        else
            grey(x, y) = grey_of(src, clamp(y, 0, height - 1));
        float w[4], total = 0;
        for (int i = 0; i < 4; i++)
            total += (w[i] = (float)std::exp(-i * i / 4.5)) * (i == 0 ? 1 : 2);
        auto columns = [&](Expr xx) {
            Expr sum = w[0] / total * grey(xx, y);
            for (int i = 1; i < 4; i++)
                sum += w[i] / total * (grey(xx, y - i) + grey(xx, y + i));
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
        Expr line = w[0] / total * tall(x, y);
        for (int i = 1; i < 4; i++)
            line += w[i] / total * (tall(x - i, y) + tall(x + i, y));
        detail(x, y) = 0.8f * (grey(x, y) - line);
        out(x, y, c) = cast<uint8_t>(clamp(round(cast<float>(src(x, y, c)) + detail(x, y)), 0.0f, 255.0f));

        src.set_estimates({{0, 1536}, {0, 2560}, {0, 3}});
        out.set_estimates({{0, 1536}, {0, 2560}, {0, 3}});
        src.dim(0).set_min(0).set_stride(3); src.dim(1).set_min(0); src.dim(2).set_bounds(0, 3).set_stride(1);
        out.dim(0).set_min(0).set_stride(3); out.dim(1).set_min(0); out.dim(2).set_bounds(0, 3).set_stride(1);
        if (!auto_schedule) {
            Var strips("strips"), group("group"), row("row");
            out.bound(c, 0, 3).split(y, strips, y, strip, TailStrategy::GuardWithIf).split(y, group, row, rows)
                .reorder(c, x, row, group, strips).vectorize(x, lanes).unroll(c).parallel(strips);
            detail.compute_at(out, row).vectorize(x, 16);
            grey.store_at(out, strips).compute_at(out, group).vectorize(x, lanes);
            tall.compute_at(out, group).update(0).allow_race_conditions().vectorize(inside, 16).reorder(y, inside).unroll(y, rows);
        }
    }
};
HALIDE_REGISTER_GENERATOR(Unsharp, unsharp_u8x3)
