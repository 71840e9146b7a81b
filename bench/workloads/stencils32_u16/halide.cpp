/* 32 filters of 5 x 5 pixels in 16-bit lanes, each as two passes of five taps, which is exact modulo 2^16. Groups of stages
 * slide together down wide tiles; a group's last stage is stored. */
#include "Halide.h"

using namespace Halide;

class Stencils : public Generator<Stencils> {
public:
    GeneratorParam<int> group_size{"group_size", 11}, tiles_x{"tiles_x", 4}, tiles_y{"tiles_y", 4};
    Input<Buffer<uint16_t>>  src{"src", 2};
    Output<Buffer<uint16_t>> out{"out", 2};

    void generate()
    {
        const int         stages = 32;
        Var               x("x"), y("y");
        std::vector<Func> stage = {BoundaryConditions::repeat_edge(src)}, column = {Func()};
        for (int s = 1; s <= stages; s++) {
            Func f("stage" + std::to_string(s)), v("column" + std::to_string(s)), p = stage.back();
            Expr down = cast<uint16_t>(0), sum = cast<uint16_t>(0);
            for (int j = 1; j <= 5; j++)
                down += cast<uint16_t>(j) * p(x, y + j - 3);
            v(x, y) = down;
            for (int i = 1; i <= 5; i++)
                sum += cast<uint16_t>(i) * v(x + i - 3, y);
            f(x, y) = sum;
            stage.push_back(f);
            column.push_back(v);
        }
        out(x, y) = stage.back()(x, y);

        src.set_estimates({{0, 1536}, {0, 2560}});
        out.set_estimates({{0, 1536}, {0, 2560}});
        out.dim(0).set_min(0); out.dim(1).set_min(0);
        src.dim(0).set_min(0); src.dim(1).set_min(0);
        if (!auto_schedule) {
            const int lanes = natural_vector_size<uint16_t>();
            for (int last = stages; last > 0; last -= group_size) {
                Func root = last == stages ? Func(out) : stage[last];
                Var  xo("xo"), yo("yo"), xi("xi"), yi("yi"), tile("tile");
                int  more = 4 * (stages - last);
                root.compute_root()
                    .tile(x, y, xo, yo, xi, yi, (1536 + more + tiles_x - 1) / tiles_x, (2560 + more + tiles_y - 1) / tiles_y)
                    .fuse(xo, yo, tile).parallel(tile).vectorize(xi, lanes);
                for (int s = std::max(1, last - group_size + 1); s <= last; s++) {
                    if (s < last)
                        stage[s].store_at(root, tile).compute_at(root, yi).vectorize(x, lanes);
                    column[s].compute_at(s < last ? stage[s] : root, s < last ? y : yi).vectorize(x, lanes);
                }
            }
        }
    }
};
HALIDE_REGISTER_GENERATOR(Stencils, stencils32_u16)
