/* Resizing by a Lanczos filter in Halide, like Halide's own app: tables of weights for columns and rows; along y first when the
 * picture gets smaller, along x first when it gets larger. At the edges the window moves inside, which is another border
 * rule than ours, and cheaper. */
#ifndef BENCH_HALIDE_LANCZOS_H
#define BENCH_HALIDE_LANCZOS_H
#include "Halide.h"

template <typename Self, bool Larger> class Lanczos : public Halide::Generator<Self> {
public:
    using Base = Halide::Generator<Self>;
    template <typename U> using Input = typename Base::template Input<U>;
    template <typename U> using Output = typename Base::template Output<U>;

    Halide::GeneratorParam<int> tile_x{"tile_x", Larger ? 16 : 32}, tile_y{"tile_y", Larger ? 256 : 8};
    Input<Halide::Buffer<uint8_t>>  src{"src", 3};
    Output<Halide::Buffer<uint8_t>> out{"out", 3};

    Halide::Var x{"x"}, y{"y"}, c{"c"}, k{"k"};

    void generate()
    {
        using namespace Halide;
        table columns = make_table(src.dim(0).extent(), "x"), rows = make_table(src.dim(1).extent(), "y");
        Func real("real"), first("first"), second("second");
        RDom r(0, columns.taps), q(0, rows.taps);
        real(x, y, c) = cast<float>(src(x, y, c));
        if (Larger) {
            Expr across = 0.0f, both = 0.0f;         /* six taps, written out: there is no loop over them */
            for (int i = 0; i < 6; i++) across += columns.weight(x, i) * real(columns.begin(x) + i, y, c);
            first(x, y, c) = across;
            for (int j = 0; j < 6; j++) both += rows.weight(y, j) * first(x, rows.begin(y) + j, c);
            second(x, y, c) = both;
        } else {
            first(x, y, c) = sum(rows.weight(y, q) * real(x, q + rows.begin(y), c), "tall");
            second(x, y, c) = sum(columns.weight(x, r) * first(r + columns.begin(x), y, c), "both");
        }
        out(x, y, c) = cast<uint8_t>(round(clamp(second(x, y, c), 0.0f, 255.0f)));

        const int w = Larger ? 3072 : 768, h = Larger ? 5120 : 1280;
        src.dim(0).set_min(0).set_stride(3).set_estimate(0, 1536); src.dim(1).set_min(0).set_estimate(0, 2560);
        src.dim(2).set_bounds(0, 3).set_stride(1).set_estimate(0, 3);
        out.dim(0).set_min(0).set_stride(3).set_estimate(0, w); out.dim(1).set_min(0).set_estimate(0, h);
        out.dim(2).set_bounds(0, 3).set_stride(1).set_estimate(0, 3);
        if (this->auto_schedule) return;

        const int vec = this->template natural_vector_size<float>();
        Var xi("xi"), yi("yi");
        columns.weight.compute_root().reorder(k, x).vectorize(x, vec);
        columns.raw.compute_at(columns.weight, x).vectorize(x);
        columns.total.compute_at(columns.weight, x).vectorize(x);
        rows.weight.compute_root().reorder(k, x).vectorize(x, vec);
        rows.raw.compute_at(rows.weight, x).vectorize(x);
        rows.total.compute_at(rows.weight, x).vectorize(x);
        Func(out).bound(c, 0, 3).tile(x, y, xi, yi, tile_x, tile_y).reorder(c, xi, yi, x, y).unroll(c).parallel(y).vectorize(xi);
        if (Larger) {
            first.compute_at(out, x).store_in(MemoryType::Stack).vectorize(x);
            second.compute_at(out, xi).unroll(c);
        } else {
            first.compute_at(out, y).vectorize(x, vec);
            second.compute_at(out, xi).unroll(c);
        }
    }

private:
    struct table {
        Halide::Func raw, total, weight;
        Halide::Expr taps, scale, reach, from;
        Halide::Expr centre(Halide::Expr i) const { return (i + 0.5f) * scale - 0.5f; }
        Halide::Expr begin(Halide::Expr i) const
        {
            using namespace Halide;
            Expr first = cast<int>(strict_float(ceil(centre(i) - reach)));
            return clamp(first, 0, from - taps);
        }
    };

    static Halide::Expr sinc(Halide::Expr t)
    {
        Halide::Expr a = t * 3.14159265359f;
        return Halide::sin(a) / a;
    }

    table make_table(Halide::Expr from, const std::string &name)
    {
        using namespace Halide;
        Expr to = Larger ? from * 2 : from / 2, scale = cast<float>(from) / cast<float>(to);
        if (!this->auto_schedule) scale = strict_float(scale);    /* the automatic ones cannot fold it */
        Expr widened = Larger ? Expr(1.0f) : scale;
        table t = { Func("raw_" + name), Func("total_" + name), Func("weight_" + name), cast<int>(ceil(6.0f * widened)), scale,
                    3.0f * widened, from };
        Expr d = (k + t.begin(x) - t.centre(x)) / widened;
        t.raw(x, k) = select(d == 0.0f, 1.0f, d > 3 || d < -3, 0.0f, sinc(d) * sinc(d / 3.0f));
        RDom r(0, t.taps);
        t.total(x) = sum(t.raw(x, r), "sum_" + name);
        t.weight(x, k) = t.raw(x, k) / t.total(x);
        return t;
    }
};
#endif
