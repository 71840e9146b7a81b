/* A separable blur of interleaved pixels in Halide, f32 arithmetic, edges repeated. The best schedule found: a pixel's
 * components are fused with x, so that rows are flat lines; the columns' sums of a few rows at a time go into a padded
 * buffer, whose ends are copied, and the rows' sums read that without any clamping. */
#ifndef BENCH_HALIDE_GAUSSIAN_H
#define BENCH_HALIDE_GAUSSIAN_H
#include <cmath>
#include <vector>

#include "Halide.h"

/* 2 r + 1 weights that sum to 1. */
inline std::vector<float> gaussian_weights(int r, double sigma)
{
    std::vector<float> w;
    double total = 0;
    for (int i = -r; i <= r; i++)
        total += std::exp(-i * i / (2 * sigma * sigma));
    for (int i = -r; i <= r; i++)
        w.push_back((float)(std::exp(-i * i / (2 * sigma * sigma)) / total));
    return w;
}

/* `Weights` is the generator, and has a static weights(). */
template <typename Weights, typename T> class SeparableBlur : public Halide::Generator<Weights> {
public:
    using Base = Halide::Generator<Weights>;
    template <typename U> using Input = typename Base::template Input<U>;
    template <typename U> using Output = typename Base::template Output<U>;

    Halide::GeneratorParam<int> rows{"rows", 8}, strip{"strip", 64};
    Input<Halide::Buffer<T>>  src{"src", 3};
    Output<Halide::Buffer<T>> out{"out", 3};

    void generate()
    {
        using namespace Halide;
        Var x("x"), y("y"), c("c");
        std::vector<float> w = Weights::weights();
        const int r = (int)w.size() / 2;
        Expr width = src.dim(0).extent(), height = src.dim(1).extent();

        RDom inside;
        Func tall("tall"), total("total");
        if (this->auto_schedule) {
            Func padded = BoundaryConditions::repeat_edge(src);
            Expr columns = 0.0f, line = 0.0f;
            for (int j = -r; j <= r; j++) columns += w[j + r] * cast<float>(padded(x, y + j, c));
            tall(x, y, c) = columns;
            for (int i = -r; i <= r; i++) line += w[i + r] * tall(x + i, y, c);
            total(x, y, c) = line;
        } else {
            // f is an index into a row as a line of components, 3 * x + c.
            Var f("f");
            inside = RDom(0, 3 * width);
            RDom beside(0, 3 * r);
            tall(f, y) = undef<float>();
            Expr sum;
            for (int j = -r; j <= r; j++) {
                Expr term = w[j + r] * cast<float>(src(inside / 3, clamp(y + j, 0, height - 1), inside % 3));
                sum = sum.defined() ? sum + term : term;
            }
            tall(inside, y) = sum;
            tall(beside - 3 * r, y) = tall(beside % 3, y);
            tall(3 * width + beside, y) = tall(3 * width - 3 + beside % 3, y);

            Expr line;
            for (int i = -r; i <= r; i++) {
                Expr term = w[i + r] * tall(3 * (x + i) + c, y);
                line = line.defined() ? line + term : term;
            }
            total(x, y, c) = line;
        }
        out(x, y, c) = std::is_same<T, float>::value ? total(x, y, c) : cast<T>(round(clamp(total(x, y, c), 0.0f, 255.0f)));

        src.dim(0).set_estimate(0, 1536); src.dim(1).set_estimate(0, 2560); src.dim(2).set_estimate(0, 3);
        out.dim(0).set_estimate(0, 1536); out.dim(1).set_estimate(0, 2560); out.dim(2).set_estimate(0, 3);
        src.dim(0).set_min(0).set_stride(3); src.dim(1).set_min(0); src.dim(2).set_bounds(0, 3).set_stride(1);
        out.dim(0).set_min(0).set_stride(3); out.dim(1).set_min(0); out.dim(2).set_bounds(0, 3).set_stride(1);

        if (!this->auto_schedule) {
            const int vectors = r > 8 ? 4 : 2;
            Var flat("flat"), in_flat("in_flat"), piece("piece"), strips("strips"), group("group"), row("row");
            Func(out).bound(c, 0, 3).reorder(c, x, y).fuse(c, x, flat)
                .split(y, strips, y, strip, TailStrategy::GuardWithIf).split(y, group, row, rows)
                .split(flat, flat, in_flat, 16 * vectors).split(in_flat, piece, in_flat, 16)
                .vectorize(in_flat).unroll(piece).parallel(strips);
            tall.compute_at(out, group);
            tall.update(0).allow_race_conditions().vectorize(inside, 16).reorder(y, inside).unroll(y);
        }
    }
};
#endif
