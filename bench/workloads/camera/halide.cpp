/* A camera's pipeline in Halide: the algorithm and in essence the schedule of Halide's own app. Strips of rows, two rows a
 * step, everything between the sensor and the picture in line buffers. Heights are whole strips. */
#include "Halide.h"

using namespace Halide;
using namespace Halide::ConciseCasts;

class Camera : public Generator<Camera> {
public:
    GeneratorParam<int> strip{"strip", 80}, wide{"wide", 2};
    Input<Buffer<uint16_t>> raw{"raw", 2};
    Output<Buffer<uint8_t>> out{"out", 3};

    Var x{"x"}, y{"y"}, c{"c"}, yi{"yi"}, yo{"yo"}, yii{"yii"}, xi{"xi"};

    void generate()
    {
        Func shifted("shifted"), calm("calm"), mosaic("mosaic");
        shifted(x, y) = raw(x + 16, y + 12);
        calm(x, y) = min(shifted(x, y), max(max(shifted(x - 2, y), shifted(x + 2, y)), max(shifted(x, y - 2), shifted(x, y + 2))));
        mosaic(x, y, c) = mux(c, { calm(2 * x, 2 * y), calm(2 * x + 1, 2 * y), calm(2 * x, 2 * y + 1), calm(2 * x + 1, 2 * y + 1) });
        Func rgb = demosaic(mosaic), fixed = corrected(rgb), curve = make_curve(), toned("toned");
        toned(x, y, c) = curve(clamp(fixed(x, y, c), 0, 1023));
        out(x, y, c) = sharpened(toned);

        raw.dim(0).set_min(0).set_estimate(0, 1568); raw.dim(1).set_min(0).set_estimate(0, 2584);
        out.dim(0).set_min(0).set_stride(3).set_estimate(0, 1536); out.dim(1).set_min(0).set_estimate(0, 2560);
        out.dim(2).set_bounds(0, 3).set_stride(1).set_estimate(0, 3);
        if (auto_schedule) return;

        const int vec = natural_vector_size(UInt(16)), step = wide * vec;
        curve.compute_root();
        Func(out).compute_root().bound(c, 0, 3).reorder(c, x, y).split(y, yi, yii, 2, TailStrategy::RoundUp)
            .split(yi, yo, yi, strip / 2).vectorize(x, step, TailStrategy::RoundUp).unroll(c).parallel(yo);
        calm.compute_at(out, yi).store_at(out, yo).prefetch(raw, y, y, 2).fold_storage(y, 4)
            .tile(x, y, x, y, xi, yi, step, 2).vectorize(xi).unroll(yi);
        mosaic.compute_at(out, yi).store_at(out, yo).fold_storage(y, 4).reorder(c, x, y)
            .vectorize(x, step, TailStrategy::RoundUp).unroll(c);
        toned.compute_at(out, yi).store_at(out, yo).reorder(c, x, y).tile(x, y, x, y, xi, yi, step, 2, TailStrategy::RoundUp)
            .vectorize(xi).unroll(yi).unroll(c);
        fixed.compute_at(toned, x).reorder(c, x, y).vectorize(x).unroll(c);
        for (Func f : { green_r, green_b })
            f.compute_at(out, yi).store_at(out, yo).vectorize(x, step, TailStrategy::RoundUp).fold_storage(y, 4);
        green_b.compute_with(green_r, x, { { x, LoopAlignStrategy::AlignStart }, { y, LoopAlignStrategy::AlignStart } });
        rgb.compute_at(toned, x).vectorize(x).unroll(y).reorder(c, x, y).unroll(c);
        out.bound(x, 0, out.width() / step * step).bound(y, 0, out.height() / strip * strip);
    }

private:
    Func green_r{"green_r"}, green_b{"green_b"};

    static Expr average(Expr a, Expr b)
    {
        Type wider = a.type().with_bits(a.type().bits() * 2);
        return cast(a.type(), (cast(wider, a) + b + 1) / 2);
    }

    static Expr guided(Expr a, Expr b, Expr green_at_a, Expr green_at_b, Expr green)
    {
        return green - average(green_at_a, green_at_b) + average(a, b);
    }

    static Expr smoother(Expr a, Expr b, Expr of_a_b, Expr c, Expr d, Expr of_c_d)
    {
        return select(absd(a, b) < absd(c, d), of_a_b, of_c_d);
    }

    /* Of `own` at the ends of the two diagonals. */
    Expr diagonal(Func own, Func green, Expr x1, Expr y1, Expr here)
    {
        Expr a = own(x, y), b = own(x1, y1), d = own(x1, y), e = own(x, y1);
        return smoother(a, b, guided(a, b, green(x, y), green(x1, y1), here), d, e, guided(d, e, green(x1, y), green(x, y1), here));
    }

    Func interleaved(Func upper_left, Func upper_right, Func lower_left, Func lower_right)
    {
        Func upper, lower, both;
        upper(x, y) = select(x % 2 == 0, upper_left(x / 2, y), upper_right(x / 2, y));
        lower(x, y) = select(x % 2 == 0, lower_left(x / 2, y), lower_right(x / 2, y));
        both(x, y) = select(y % 2 == 0, upper(x, y / 2), lower(x, y / 2));
        return both;
    }

    Func demosaic(Func mosaic)
    {
        Func g_gr, r, b, g_gb, r_gr, b_gr, r_gb, b_gb, r_b, b_r, rgb("rgb");
        g_gr(x, y) = mosaic(x, y, 0);
        r(x, y) = mosaic(x, y, 1);
        b(x, y) = mosaic(x, y, 2);
        g_gb(x, y) = mosaic(x, y, 3);
        green_r(x, y) = smoother(g_gr(x + 1, y), g_gr(x, y), average(g_gr(x + 1, y), g_gr(x, y)),
                                 g_gb(x, y - 1), g_gb(x, y), average(g_gb(x, y - 1), g_gb(x, y)));
        green_b(x, y) = smoother(g_gb(x - 1, y), g_gb(x, y), average(g_gb(x - 1, y), g_gb(x, y)),
                                 g_gr(x, y + 1), g_gr(x, y), average(g_gr(x, y + 1), g_gr(x, y)));
        r_gr(x, y) = guided(r(x - 1, y), r(x, y), green_r(x, y), green_r(x - 1, y), g_gr(x, y));
        b_gr(x, y) = guided(b(x, y), b(x, y - 1), green_b(x, y), green_b(x, y - 1), g_gr(x, y));
        r_gb(x, y) = guided(r(x, y), r(x, y + 1), green_r(x, y), green_r(x, y + 1), g_gb(x, y));
        b_gb(x, y) = guided(b(x, y), b(x + 1, y), green_b(x, y), green_b(x + 1, y), g_gb(x, y));
        r_b(x, y) = diagonal(r, green_r, x - 1, y + 1, green_b(x, y));
        b_r(x, y) = diagonal(b, green_b, x + 1, y - 1, green_r(x, y));
        Func red = interleaved(r_gr, r, r_b, r_gb), green = interleaved(g_gr, green_r, green_b, g_gb);
        Func blue = interleaved(b_gr, b_r, b, b_gb);
        /* Sums may have wrapped below 0: signed from here on. */
        rgb(x, y, c) = cast<int16_t>(mux(c, { red(x, y), green(x, y), blue(x, y) }));
        return rgb;
    }

    Func corrected(Func rgb)
    {
        const float warm[3][4] = { { 1.6697f, -0.2693f, -0.4004f, -42.4346f }, { -0.3576f, 1.0615f, 1.5949f, -37.1158f },
                                   { -0.2175f, -1.8751f, 6.9640f, -26.6970f } };
        const float cold[3][4] = { { 2.2997f, -0.4478f, 0.1706f, -39.0923f }, { -0.3826f, 1.5906f, -0.2080f, -25.4311f },
                                   { -0.0888f, -0.7344f, 2.2832f, -20.0826f } };
        const float t = (1.0f / 3700 - 1.0f / 3200) / (1.0f / 7000 - 1.0f / 3200);
        Expr rows[3];
        for (int j = 0; j < 3; j++) {
            int m[4];
            for (int i = 0; i < 4; i++) m[i] = (int)((warm[j][i] * t + cold[j][i] * (1 - t)) * 256.0f);
            rows[j] = i16((m[3] + m[0] * i32(rgb(x, y, 0)) + m[1] * i32(rgb(x, y, 1)) + m[2] * i32(rgb(x, y, 2))) / 256);
        }
        Func f("fixed");
        f(x, y, c) = mux(c, { rows[0], rows[1], rows[2] });
        return f;
    }

    Func make_curve()
    {
        Func curve("curve");
        const float b = 2 - powf(2.0f, 0.5f), a = 2 - 2 * b;
        Expr light = clamp(cast<float>(x - 25) / 998.0f, 0.0f, 1.0f), g = pow(light, 0.5f);
        Expr z = select(g > 0.5f, 1.0f - (a * (1.0f - g) * (1.0f - g) + b * (1.0f - g)), a * g * g + b * g);
        curve(x) = cast<uint8_t>(round(clamp(z * 255.0f, 0.0f, 255.0f)));
        return curve;
    }

    Expr sharpened(Func toned)
    {
        Func down("down"), soft("soft");
        down(x, y, c) = average(average(toned(x, y - 1, c), toned(x, y + 1, c)), toned(x, y, c));
        soft(x, y, c) = average(average(down(x - 1, y, c), down(x + 1, y, c)), down(x, y, c));
        Expr mask = i16(toned(x, y, c)) - i16(soft(x, y, c));
        return u8_sat(i16(toned(x, y, c)) + mask * i16(32) / i16(32));
    }
};

HALIDE_REGISTER_GENERATOR(Camera, camera)
