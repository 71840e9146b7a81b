/* A blend of Laplacian pyramids in Halide: both pictures' and the mask's levels from 1 on are stored on the way down, the way up
 * is made in strips; level 0 is converted again where it is read. Clamps of y are done once a row and only x is said
 * to be likely inside. */
#include "Halide.h"

using namespace Halide;

class Blend8 : public Generator<Blend8> {
public:
    GeneratorParam<int> strip{"strip", 64}, down_strip{"down_strip", 16}, inlined{"inlined", 4};
    Input<Buffer<uint8_t>>  left{"left", 3}, right{"right", 3}, mask{"mask", 2};
    Output<Buffer<uint8_t>> out{"out", 3};

    Var x{"x"}, y{"y"}, c{"c"}, yo{"yo"}, yi{"yi"}, xp{"xp"};
    enum { LEVELS = 8 };
    Expr width[LEVELS], height[LEVELS];

    void generate()
    {
        const int vec = natural_vector_size<float>();
        width[0] = left.dim(0).extent(), height[0] = left.dim(1).extent();
        for (int k = 1; k < LEVELS; k++) width[k] = (width[k - 1] + 1) / 2, height[k] = (height[k - 1] + 1) / 2;

        Func a[LEVELS], b[LEVELS], m[LEVELS], joined[LEVELS], tall[3][LEVELS];
        a[0](x, y, c) = cast<float>(left(x, y, c)) / 255.0f;
        b[0](x, y, c) = cast<float>(right(x, y, c)) / 255.0f;
        m[0](x, y) = cast<float>(mask(x, y)) / 255.0f;
        for (int k = 1; k < LEVELS; k++)
            for (Func *levels : { a, b, m }) down(levels, k, vec);
        joined[LEVELS - 1](x, y, c) = lerp(b[LEVELS - 1](x, y, c), a[LEVELS - 1](x, y, c), m[LEVELS - 1](x, y));
        for (int k = LEVELS - 2; k >= 0; k--) {
            Func up_a = up(a, k, tall[0][k]), up_b = up(b, k, tall[1][k]), up_joined = up(joined, k, tall[2][k]);
            Expr detail_a = a[k](x, y, c) - up_a(x, y, c), detail_b = b[k](x, y, c) - up_b(x, y, c), t = m[k](x, y);
            joined[k](x, y, c) = detail_b * (1.0f - t) + detail_a * t + up_joined(x, y, c);
        }
        out(x, y, c) = cast<uint8_t>(round(clamp(joined[0](x, y, c) * 255.0f, 0.0f, 255.0f)));

        estimates(left), estimates(right);
        mask.dim(0).set_min(0).set_estimate(0, 1536); mask.dim(1).set_min(0).set_estimate(0, 2560);
        out.dim(0).set_min(0).set_stride(3).set_estimate(0, 1536); out.dim(1).set_min(0).set_estimate(0, 2560);
        out.dim(2).set_bounds(0, 3).set_stride(1).set_estimate(0, 3);
        if (auto_schedule) return;

        Func(out).bound(c, 0, 3).split(y, yo, yi, strip).reorder(c, x, yi, yo).unroll(c).vectorize(x, vec).parallel(yo);
        a[0].compute_at(out, yi).reorder(c, x, y).unroll(c).vectorize(x, vec);
        b[0].compute_at(out, yi).reorder(c, x, y).unroll(c).vectorize(x, vec);
        for (int k = 0; k < LEVELS - 1; k++) {
            if (k > 0) joined[k].compute_at(out, yo);
            else joined[k].compute_at(out, yi);
            joined[k].align_bounds(x, 2).split(x, x, xp, 2).reorder(xp, x).unroll(xp).vectorize(x, vec);
            for (int i = 0; i < 3; i++) {
                if (k == 0) tall[i][k].compute_at(out, yi).reorder(x, c, y).vectorize(x, vec);
                else if (k < inlined) tall[i][k].compute_at(joined[k], y).reorder(x, c, y).vectorize(x, vec);
            }
        }
        joined[LEVELS - 1].compute_root();
    }

private:
    template <typename Picture> void estimates(Picture &picture)
    {
        picture.dim(0).set_min(0).set_stride(3).set_estimate(0, 1536);
        picture.dim(1).set_min(0).set_estimate(0, 2560);
        picture.dim(2).set_bounds(0, 3).set_stride(1).set_estimate(0, 3);
    }

    /* A mask has no c. */
    static std::vector<Expr> place(Func f, Expr u, Expr v, Expr w)
    {
        return f.dimensions() == 3 ? std::vector<Expr>{ u, v, w } : std::vector<Expr>{ u, v };
    }

    Func edge(Func f, int k)
    {
        Func g;
        g(f.args()) = f(place(f, clamp(likely(x), 0, width[k] - 1), clamp(y, 0, height[k] - 1), c));
        return g;
    }

    void down(Func *levels, int k, int vec)
    {
        const float weights[] = { 0.125f, 0.375f, 0.375f, 0.125f };
        Func e = edge(levels[k - 1], k - 1), across;
        Expr sum = 0.0f, total = 0.0f;
        for (int i = 0; i < 4; i++) sum += weights[i] * e(place(e, 2 * x - 1 + i, y, c));
        across(e.args()) = sum;
        for (int j = 0; j < 4; j++) total += weights[j] * across(place(e, x, 2 * y - 1 + j, c));
        levels[k](e.args()) = total;
        if (auto_schedule) return;
        bool colours = levels[0].dimensions() == 3;
        if (k < 5) {
            levels[k].compute_root().split(y, yo, yi, down_strip).parallel(yo).vectorize(x, vec);
            if (colours) levels[k].reorder(x, c, yi, yo);
            across.compute_at(levels[k], yo).vectorize(x, vec);
            if (colours && k == 1)
                levels[0].clone_in(e).compute_at(levels[k], yo).reorder(c, x, y).bound(c, 0, 3).unroll(c).vectorize(x, vec);
        } else {
            levels[k].compute_root().vectorize(x, 8);
        }
    }

    Func up(Func *levels, int k, Func &tall)
    {
        Func e = edge(levels[k + 1], k + 1), both;
        tall(x, y, c) = select(y % 2 == 0, 0.25f * e(x, (y - 1) / 2, c) + 0.75f * e(x, (y + 1) / 2, c),
                               0.75f * e(x, (y - 1) / 2, c) + 0.25f * e(x, (y + 1) / 2, c));
        both(x, y, c) = select(x % 2 == 0, 0.25f * tall((x - 1) / 2, y, c) + 0.75f * tall((x + 1) / 2, y, c),
                               0.75f * tall((x - 1) / 2, y, c) + 0.25f * tall((x + 1) / 2, y, c));
        return both;
    }
};

HALIDE_REGISTER_GENERATOR(Blend8, blend8)
