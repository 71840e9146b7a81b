/* Pull and push in Halide. As in Halide's own app every level on the way down is stored and the way up slides in strips;
 * what differs is that each level repeats its own edge, and that pixels of both parities are made in one step. */
#include "Halide.h"

using namespace Halide;

class Interpolate10 : public Generator<Interpolate10> {
public:
    GeneratorParam<int> strip{"strip", 64}, down_strip{"down_strip", 8};
    Input<Buffer<float>>  src{"src", 3};
    Output<Buffer<float>> out{"out", 3};

    void generate()
    {
        const int levels = 10;
        Var x("x"), y("y"), c("c");
        Expr width[levels], height[levels];
        Func known[levels], bounded[levels], across[levels], filled[levels], beside[levels], up_x[levels];

        width[0] = src.dim(0).extent(), height[0] = src.dim(1).extent();
        known[0](x, y, c) = select(c < 3, src(x, y, c) * src(x, y, 3), src(x, y, 3));
        for (int k = 1; k < levels; k++) {
            width[k] = (width[k - 1] + 1) / 2, height[k] = (height[k - 1] + 1) / 2;
            bounded[k] = edge(known[k - 1], width[k - 1], height[k - 1]);
            across[k](x, y, c) = 0.25f * bounded[k](2 * x - 1, y, c) + 0.5f * bounded[k](2 * x, y, c) + 0.25f * bounded[k](2 * x + 1, y, c);
            known[k](x, y, c) = 0.25f * across[k](x, 2 * y - 1, c) + 0.5f * across[k](x, 2 * y, c) + 0.25f * across[k](x, 2 * y + 1, c);
        }
        filled[levels - 1] = known[levels - 1];
        for (int k = levels - 2; k >= 0; k--) {
            beside[k] = edge(filled[k + 1], width[k + 1], height[k + 1]);
            up_x[k](x, y, c) = (beside[k](x / 2, y, c) + beside[k]((x + 1) / 2, y, c)) * 0.5f;
            Expr up = (up_x[k](x, y / 2, c) + up_x[k](x, (y + 1) / 2, c)) * 0.5f;
            filled[k](x, y, c) = known[k](x, y, c) + (1.0f - known[k](x, y, 3)) * up;
        }
        out(x, y, c) = filled[0](x, y, c) / filled[0](x, y, 3);

        src.dim(0).set_min(0).set_estimate(0, 1536); src.dim(1).set_min(0).set_estimate(0, 2560); src.dim(2).set_bounds(0, 4).set_estimate(0, 4);
        out.dim(0).set_min(0).set_estimate(0, 1536); out.dim(1).set_min(0).set_estimate(0, 2560); out.dim(2).set_bounds(0, 3).set_estimate(0, 3);
        if (auto_schedule) return;

        const int vec = natural_vector_size<float>();
        Var yo("yo"), yi("yi"), xp("xp");
        for (int k = 1; k < levels - 1; k++) {
            known[k].compute_root().reorder(x, c, y).split(y, yo, yi, down_strip).parallel(yo).vectorize(x, vec);
            if (k <= 5) across[k].compute_at(known[k], yo).vectorize(x, vec);
        }
        known[levels - 1].compute_root();
        known[0].clone_in(bounded[1]).compute_at(known[1], yo)
            .reorder(c, x, y).unroll(c).vectorize(x, vec);
        Func(out).bound(c, 0, 3).split(x, x, xp, 2, TailStrategy::RoundUp).split(y, yo, yi, strip).reorder(xp, c, x, yi, yo)
            .unroll(xp).unroll(c).vectorize(x, vec).parallel(yo);
        for (int k = 1; k < levels - 1; k++)
            filled[k].compute_at(out, yo).align_bounds(x, 2).split(x, x, xp, 2).reorder(xp, x).unroll(xp).vectorize(x, vec);
    }

private:
    static Func edge(Func f, Expr width, Expr height)
    {
        Var x, y, c;
        Func g;
        g(x, y, c) = f(clamp(likely(x), 0, width - 1), clamp(y, 0, height - 1), c);
        return g;
    }
};

HALIDE_REGISTER_GENERATOR(Interpolate10, interpolate10)
