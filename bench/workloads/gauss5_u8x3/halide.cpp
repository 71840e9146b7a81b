/* Binomial blur of 5 x 5 pixels in 16 bits, where all of its sums fit. By hand: a pixel's components lie in one line with
 * its neighbours; a few rows of column sums at a time, with copied ends, so that sums along the row need no clamping. */
#include "Halide.h"

using namespace Halide;

struct Gauss : Generator<Gauss> {
    GeneratorParam<int> strip{"strip", 64}, rows{"rows", 8}, lanes{"lanes", 32};
    Input<Buffer<uint8_t>>  src{"src", 3};
    Output<Buffer<uint8_t>> out{"out", 3};

    static Expr binomial(const Expr &a, const Expr &b, const Expr &c, const Expr &d, const Expr &e)
    {
        return a + e + (b + d) * cast<uint16_t>(4) + c * cast<uint16_t>(6);
    }

    static Expr rounded(const Expr &sum) { return cast<uint8_t>((sum + cast<uint16_t>(128)) >> 8); }

    void generate()
    {
        if (auto_schedule)
            simple();
        else
            by_hand();
        src.dim(0).set_min(0).set_stride(3).set_estimate(0, 1536); src.dim(1).set_min(0).set_estimate(0, 2560);
        out.dim(0).set_min(0).set_stride(3).set_estimate(0, 1536); out.dim(1).set_min(0).set_estimate(0, 2560);
        src.dim(2).set_bounds(0, 3).set_stride(1).set_estimate(0, 3);
        out.dim(2).set_bounds(0, 3).set_stride(1).set_estimate(0, 3);
    }

    void simple()
    {
        Var  x("x"), y("y"), c("c");
        Func edged = BoundaryConditions::repeat_edge(src, {{0, src.width()}, {0, src.height()}}), tall("tall");
        auto in = [&](int j) { return cast<uint16_t>(edged(x, y + j, c)); };
        tall(x, y, c) = binomial(in(-2), in(-1), in(0), in(1), in(2));
        out(x, y, c) = rounded(binomial(tall(x - 2, y, c), tall(x - 1, y, c), tall(x, y, c), tall(x + 1, y, c), tall(x + 2, y, c)));
    }

    void by_hand()
    {
        Var  x("x"), y("y"), c("c"), f("f"), strips("strips"), groups("groups"), line("line");
        Func tall("tall");
        Expr width = src.dim(0).extent(), height = src.dim(1).extent();
        RDom inside(0, 3 * width), beside(0, 6);
        auto in = [&](int j) { return cast<uint16_t>(src(inside / 3, clamp(y + j, 0, height - 1), inside % 3)); };
        tall(f, y) = undef<uint16_t>();
        tall(inside + 32, y) = binomial(in(-2), in(-1), in(0), in(1), in(2));
        tall(26 + beside, y) = tall(32 + beside % 3, y);
        tall(32 + 3 * width + beside, y) = tall(29 + 3 * width + beside % 3, y);
        auto at = [&](int i) { return tall(32 + 3 * (x + i) + c, y); };
        out(x, y, c) = rounded(binomial(at(-2), at(-1), at(0), at(1), at(2)));

        Func(out).bound(c, 0, 3).reorder(c, x, y).fuse(c, x, line)
            .split(y, strips, y, strip).parallel(strips)
            .split(y, groups, y, rows).vectorize(line, lanes, TailStrategy::GuardWithIf);
        tall.compute_at(out, groups).align_bounds(f, 32);
        tall.update(0).allow_race_conditions().vectorize(inside, lanes, TailStrategy::GuardWithIf).reorder(y, inside).unroll(y);
        tall.update(1).unscheduled();
        tall.update(2).unscheduled();
    }
};
HALIDE_REGISTER_GENERATOR(Gauss, gauss5_u8x3)
