// SPDX-License-Identifier: MIT
// bokeh16: linear light from a table; all four filters of a column at once, then the four of a row, back in registers.
#include "Halide.h"
#include <cmath>
using namespace Halide;

namespace {

const int radius = 16, taps = 2 * radius + 1;

// A component of the disk: its filters along y, and those along x for their results.
struct Component {
    double a, b, real_part, imaginary_part;
    double column[2][taps], row[2][taps], mass;

    Component(double a, double b, double real_part, double imaginary_part)
        : a(a), b(b), real_part(real_part), imaginary_part(imaginary_part) {
        double c = 0, d = 0;
        for (int i = 0; i < taps; i++) {
            double t = 1.2 * (i - radius) / radius, real = std::exp(-a * t * t) * std::cos(b * t * t);
            double imaginary = std::exp(-a * t * t) * std::sin(b * t * t);
            column[0][i] = real, column[1][i] = imaginary;
            row[0][i] = real_part * real + imaginary_part * imaginary;
            row[1][i] = imaginary_part * real - real_part * imaginary;
            c += real, d += imaginary;
        }
        mass = real_part * (c * c - d * d) + imaginary_part * (2 * c * d);
    }
};

class Bokeh16 : public Generator<Bokeh16> {
public:
    Input<Buffer<uint8_t>> src{"src", 3};
    Input<Buffer<float>> depth{"depth", 2};
    Output<Buffer<uint8_t>> out{"out", 3};

    void generate() {
        const Component components[2] = {{0.886528, 5.268909, 0.411259, -0.548794}, {1.960518, 1.558213, 0.513282, 4.561110}};
        Var x("x"), y("y"), c("c"), v("v");
        Func linear("linear"), in("in"), light("light"), bright("bright"), column("column"), result("result");

        Expr encoded = cast<float>(v) / 255.0f;
        linear(v) = select(encoded <= 0.04045f, encoded / 12.92f, pow((encoded + 0.055f) / 1.055f, 2.4f));
        in(x, y, c) = BoundaryConditions::repeat_edge(src)(x, y, c);
        light(x, y, c) = linear(cast<int>(in(x, y, c)));
        Expr luma = 0.2126f * light(x, y, 0) + 0.7152f * light(x, y, 1) + 0.0722f * light(x, y, 2);
        Expr t = clamp((luma - 0.6f) / 0.4f, 0.0f, 1.0f);
        bright(x, y, c) = light(x, y, c) * (1.0f + 4.0f * t * t * (3.0f - 2.0f * t));

        std::vector<Expr> sums(4, 0.0f);
        for (int j = 0; j < taps; j++)
            for (int k = 0; k < 4; k++)
                sums[k] += (float)components[k / 2].column[k % 2][j] * bright(x, y + j - radius, c);
        column(x, y, c) = Tuple(sums);
        Expr blurred = 0.0f;
        float scale = (float)(1 / (components[0].mass + components[1].mass));
        for (int k = 0; k < 4; k++)
            for (int i = 0; i < taps; i++)
                blurred += scale * (float)components[k / 2].row[k % 2][i] * column(x + i - radius, y, c)[k];
        result(x, y, c) = blurred;
        Expr focus = linear(cast<int>(src(x, y, c)));
        Expr mixed = focus + (result(x, y, c) - focus) * depth(x, y);
        Expr display = select(mixed <= 0.0031308f, 12.92f * mixed, 1.055f * fast_pow(max(mixed, 0.0031308f), 1 / 2.4f) - 0.055f);
        out(x, y, c) = cast<uint8_t>(clamp(round(display * 255.0f), 0.0f, 255.0f));

        src.dim(0).set_stride(3).dim(2).set_stride(1).set_bounds(0, 3);
        out.dim(0).set_stride(3).dim(2).set_stride(1).set_bounds(0, 3);
        src.set_estimates({{0, 1536}, {0, 2560}, {0, 3}});
        depth.set_estimates({{0, 1536}, {0, 2560}});
        out.set_estimates({{0, 1536}, {0, 2560}, {0, 3}});
        if (auto_schedule) return;

        const int vector = natural_vector_size<float>();
        Var strip("strip"), xo("xo");
        linear.compute_root();
        out.reorder(c, x, y).unroll(c).split(y, strip, y, 128, TailStrategy::GuardWithIf).parallel(strip)
            .vectorize(x, vector, TailStrategy::ShiftInwards);
        light.compute_at(bright, x).vectorize(x, vector).unroll(c);
        bright.store_at(out, strip).compute_at(out, y).reorder(c, x, y).bound(c, 0, 3).unroll(c).vectorize(x, vector);
        column.compute_at(out, y).vectorize(x, vector).unroll(x, 2);
        result.compute_at(out, y).vectorize(x, vector).unroll(x, 4);
    }
};

}

HALIDE_REGISTER_GENERATOR(Bokeh16, bokeh16)
