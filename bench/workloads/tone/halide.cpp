// SPDX-License-Identifier: MIT
// tone: what happens to a component alone is a table of its 256 values; only the saturation mixes components.
#include "Halide.h"
using namespace Halide;

namespace {

class Tone : public Generator<Tone> {
public:
    Input<Buffer<uint8_t>> src{"src", 3};
    Output<Buffer<uint8_t>> out{"out", 3};

    static Expr filmic(Expr v) { return clamp(v * (2.51f * v + 0.03f) / (v * (2.43f * v + 0.59f) + 0.14f), 0.0f, 1.0f); }

    static Expr srgb_to_linear(Expr v) { return select(v <= 0.04045f, v / 12.92f, pow((v + 0.055f) / 1.055f, 2.4f)); }

    static Expr linear_to_srgb(Expr v) {
        return select(v <= 0.0031308f, 12.92f * v, 1.055f * pow(v, 1 / 2.4f) - 0.055f);
    }

    void generate() {
        Var x("x"), y("y"), c("c"), v("v");
        Func curve("curve");
        Expr light = srgb_to_linear(cast<float>(v) / 255.0f) * std::exp2(0.7f);
        curve(v) = (linear_to_srgb(filmic(light)) - 0.5f) * 1.15f + 0.5f;

        Expr display[3], p = 0.0f;
        for (int k = 0; k < 3; k++) display[k] = curve(cast<int>(src(x, y, k)));
        Expr grey = 0.2126f * display[0] + 0.7152f * display[1] + 0.0722f * display[2];
        p = mux(c, {display[0], display[1], display[2]});
        out(x, y, c) = cast<uint8_t>(clamp(round((grey + (p - grey) * 1.2f) * 255.0f), 0.0f, 255.0f));

        src.dim(0).set_stride(3).dim(2).set_stride(1).set_bounds(0, 3);
        out.dim(0).set_stride(3).dim(2).set_stride(1).set_bounds(0, 3);
        src.set_estimates({{0, 1536}, {0, 2560}, {0, 3}});
        out.set_estimates({{0, 1536}, {0, 2560}, {0, 3}});
        if (auto_schedule) return;

        const int vector = natural_vector_size<float>();
        Var strip("strip");
        curve.compute_root();
        out.reorder(c, x, y).unroll(c).split(y, strip, y, 32, TailStrategy::GuardWithIf).parallel(strip)
            .vectorize(x, vector, TailStrategy::ShiftInwards);
    }
};

}

HALIDE_REGISTER_GENERATOR(Tone, tone)
