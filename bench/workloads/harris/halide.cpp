/* Corners, on planes. As in Halide's app the derivatives slide down strips together; here grey does too. */
#include "Halide.h"

using namespace Halide;

class Harris : public Generator<Harris> {
public:
    GeneratorParam<int> strip{"strip", 64};
    Input<Buffer<float>>  src{"src", 3};
    Output<Buffer<float>> out{"out", 2};

    void generate()
    {
        Var  x("x"), y("y");
        Func grey("grey"), gx("gx"), gy("gy"), xx("xx"), yy("yy"), xy("xy");
        grey(x, y) = 0.299f * src(x, y, 0) + 0.587f * src(x, y, 1) + 0.114f * src(x, y, 2);
        const float k = 1 / 12.0f;
        gx(x, y) = k * (grey(x + 1, y - 1) - grey(x - 1, y - 1)) + 2 * k * (grey(x + 1, y) - grey(x - 1, y)) +
                   k * (grey(x + 1, y + 1) - grey(x - 1, y + 1));
        gy(x, y) = k * (grey(x - 1, y + 1) - grey(x - 1, y - 1)) + 2 * k * (grey(x, y + 1) - grey(x, y - 1)) +
                   k * (grey(x + 1, y + 1) - grey(x + 1, y - 1));
        xx(x, y) = gx(x, y - 1) * gx(x, y - 1) + gx(x, y) * gx(x, y) + gx(x, y + 1) * gx(x, y + 1);
        yy(x, y) = gy(x, y - 1) * gy(x, y - 1) + gy(x, y) * gy(x, y) + gy(x, y + 1) * gy(x, y + 1);
        xy(x, y) = gx(x, y - 1) * gy(x, y - 1) + gx(x, y) * gy(x, y) + gx(x, y + 1) * gy(x, y + 1);
        Expr a = xx(x + 1, y + 2) + xx(x + 2, y + 2) + xx(x + 3, y + 2);
        Expr b = yy(x + 1, y + 2) + yy(x + 2, y + 2) + yy(x + 3, y + 2);
        Expr d = xy(x + 1, y + 2) + xy(x + 2, y + 2) + xy(x + 3, y + 2);
        out(x, y) = a * b - d * d - 0.04f * (a + b) * (a + b);

        src.set_estimates({{0, 1536}, {0, 2560}, {0, 3}});
        out.set_estimates({{0, 1532}, {0, 2556}});
        out.dim(0).set_min(0); out.dim(1).set_min(0);
        src.dim(0).set_min(0); src.dim(1).set_min(0); src.dim(2).set_bounds(0, 3);
        if (!auto_schedule) {
            Var strips("strips");
            out.split(y, strips, y, strip, TailStrategy::GuardWithIf).vectorize(x, 16).parallel(strips);
            gx.store_at(out, strips).compute_at(out, y).vectorize(x, 16);
            gy.store_at(out, strips).compute_at(out, y).vectorize(x, 16).compute_with(gx, x);
            grey.store_at(out, strips).compute_at(out, y).vectorize(x, 16);
        }
    }
};
HALIDE_REGISTER_GENERATOR(Harris, harris)
