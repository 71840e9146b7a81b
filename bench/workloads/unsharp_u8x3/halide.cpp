/* Sharpen brightness; the colours follow. The schedule is that of unsharp_f32; loads and stores of pixels are shuffled. */
#include <cmath>

#include "Halide.h"

using namespace Halide;

class Unsharp : public Generator<Unsharp> {
public:
    GeneratorParam<int> rows{"rows", 4}, strip{"strip", 64}, lanes{"lanes", 32};
    Input<Buffer<uint8_t>>  src{"src", 3};
    Output<Buffer<uint8_t>> out{"out", 3};

    void generate()
    {
        Var  x("x"), y("y"), c("c");
        Func grey("grey"), tall("tall"), detail("detail");
        Func padded = BoundaryConditions::repeat_edge(src, {{src.dim(0).min(), src.dim(0).extent()},
                                                            {src.dim(1).min(), src.dim(1).extent()}, {Expr(), Expr()}});
        grey(x, y) = 0.299f * cast<float>(padded(x, y, 0)) + 0.587f * cast<float>(padded(x, y, 1)) +
                     0.114f * cast<float>(padded(x, y, 2));
        float w[4], total = 0;
        for (int i = 0; i < 4; i++)
            total += (w[i] = (float)std::exp(-i * i / 4.5)) * (i == 0 ? 1 : 2);
        Expr columns = w[0] / total * grey(x, y);
        for (int i = 1; i < 4; i++)
            columns += w[i] / total * (grey(x, y - i) + grey(x, y + i));
        tall(x, y) = columns;
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
            tall.compute_at(out, group).vectorize(x, 16).reorder(y, x).unroll(y, rows);
        }
    }
};
HALIDE_REGISTER_GENERATOR(Unsharp, unsharp_u8x3)
