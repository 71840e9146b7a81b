/* Local Laplacian filters in Halide. The schedule is in essence that of Halide's own app: the pyramids of all grey values
 * are stored from level 1 on, with the values next to x, and the way up is made in strips. What differs is that each
 * level repeats its own edge. */
#include "Halide.h"

using namespace Halide;

class LocalLaplacian8 : public Generator<LocalLaplacian8> {
public:
    GeneratorParam<int> strip{"strip", 64}, vec{"vec", 8}, stored{"stored", 6};
    Input<Buffer<uint16_t>>  src{"src", 3};
    Output<Buffer<uint16_t>> out{"out", 3};

    void generate()
    {
        const int levels = 8, values = 8;
        const float alpha = 1.0f / 7;
        Var x("x"), y("y"), c("c"), k("k"), i("i");
        Expr width[levels], height[levels];
        width[0] = src.dim(0).extent(), height[0] = src.dim(1).extent();
        for (int j = 1; j < levels; j++) width[j] = (width[j - 1] + 1) / 2, height[j] = (height[j - 1] + 1) / 2;

        Func remap("remap"), real("real"), grey[levels], stack[levels], detail[levels], chosen[levels], sum[levels];
        Expr t = cast<float>(i) / 256.0f;
        remap(i) = alpha * t * exp(-t * t / 2.0f);
        real(x, y, c) = cast<float>(src(x, y, c)) / 65535.0f;
        grey[0](x, y) = 0.299f * real(x, y, 0) + 0.587f * real(x, y, 1) + 0.114f * real(x, y, 2);
        Expr place = clamp(cast<int>(grey[0](x, y) * (float)((values - 1) * 256)), 0, (values - 1) * 256);
        Expr value = cast<float>(k) / (float)(values - 1);
        stack[0](x, y, k) = (grey[0](x, y) - value) + value + remap(place - 256 * k);
        for (int j = 1; j < levels; j++) {
            grey[j](x, y) = down(grey[j - 1], width[j - 1], height[j - 1])(x, y);
            stack[j](x, y, k) = down(stack[j - 1], width[j - 1], height[j - 1])(x, y, k);
        }
        for (int j = 0; j < levels; j++) {
            detail[j](x, y, k) = j == levels - 1 ? stack[j](x, y, k)
                                                 : stack[j](x, y, k) - up(stack[j + 1], width[j + 1], height[j + 1])(x, y, k);
            Expr level = grey[j](x, y) * (float)(values - 1);
            Expr plane = clamp(cast<int>(level), 0, values - 2), part = level - cast<float>(plane);
            chosen[j](x, y) = (1.0f - part) * detail[j](x, y, plane) + part * detail[j](x, y, plane + 1);
        }
        sum[levels - 1](x, y) = chosen[levels - 1](x, y);
        for (int j = levels - 2; j >= 0; j--)
            sum[j](x, y) = up(sum[j + 1], width[j + 1], height[j + 1])(x, y) + chosen[j](x, y);
        Expr colour = sum[0](x, y) * (real(x, y, c) + 0.01f) / (grey[0](x, y) + 0.01f);
        out(x, y, c) = cast<uint16_t>(clamp(colour, 0.0f, 1.0f) * 65535.0f + 0.5f);

        src.dim(0).set_min(0).set_estimate(0, 1536); src.dim(1).set_min(0).set_estimate(0, 2560); src.dim(2).set_bounds(0, 3).set_estimate(0, 3);
        out.dim(0).set_min(0).set_estimate(0, 1536); out.dim(1).set_min(0).set_estimate(0, 2560); out.dim(2).set_bounds(0, 3).set_estimate(0, 3);
        if (auto_schedule) return;

        Var yo("yo"), yi("yi");
        remap.compute_root();
        grey[0].compute_root().parallel(y, 32).vectorize(x, vec);
        Func(out).reorder(c, x, y).split(y, yo, yi, strip).parallel(yo).vectorize(x, vec);
        sum[0].compute_at(out, yi).vectorize(x, vec);
        for (int j = 1; j < stored; j++) {
            grey[j].compute_root().parallel(y, 32).vectorize(x, vec);
            stack[j].compute_root().reorder_storage(x, k, y).reorder(k, y).parallel(y, 8).vectorize(x, vec);
            sum[j].compute_at(out, yo).vectorize(x, vec);
        }
        for (int j = stored; j < levels; j++) {
            grey[j].compute_root();
            stack[j].compute_root().parallel(k);
            sum[j].compute_root();
        }
    }

private:
    /* Only x is said to be likely inside: the clamps of y are done once a row. */
    static Func edge(Func f, Expr width, Expr height)
    {
        using Halide::_;
        Var x, y;
        Func g;
        g(x, y, _) = f(clamp(likely(x), 0, width - 1), clamp(y, 0, height - 1), _);
        return g;
    }

    static Func down(Func f, Expr width, Expr height)
    {
        using Halide::_;
        Var x, y;
        Func a = edge(f, width, height), across, both;
        across(x, y, _) = (a(2 * x - 1, y, _) + 3.0f * (a(2 * x, y, _) + a(2 * x + 1, y, _)) + a(2 * x + 2, y, _)) * 0.125f;
        both(x, y, _) = (across(x, 2 * y - 1, _) + 3.0f * (across(x, 2 * y, _) + across(x, 2 * y + 1, _)) + across(x, 2 * y + 2, _)) * 0.125f;
        return both;
    }

    static Func up(Func f, Expr width, Expr height)
    {
        using Halide::_;
        Var x, y;
        Func a = edge(f, width, height), across, both;
        across(x, y, _) = lerp(a((x + 1) / 2, y, _), a((x - 1) / 2, y, _), ((x % 2) * 2 + 1) / 4.0f);
        both(x, y, _) = lerp(across(x, (y + 1) / 2, _), across(x, (y - 1) / 2, _), ((y % 2) * 2 + 1) / 4.0f);
        return both;
    }
};

HALIDE_REGISTER_GENERATOR(LocalLaplacian8, local_laplacian8)
