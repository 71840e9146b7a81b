/* The sum of both Sobel derivatives in 16-bit lanes, two rows a step; everything is inlined, only the borders are copied. */
#include "Halide.h"

using namespace Halide;

class Sobel : public Generator<Sobel> {
public:
    GeneratorParam<int> rows{"rows", 2}, strip{"strip", 64}, lanes{"lanes", 64};
    Input<Buffer<uint8_t>>  src{"src", 2};
    Output<Buffer<uint8_t>> out{"out", 2};

    void generate()
    {
        Var  x("x"), y("y");
        Func padded("padded"), wide("wide");
        padded(x, y) = BoundaryConditions::repeat_edge(src)(x, y);
        wide(x, y) = cast<int16_t>(padded(x, y));
        Func across("across"), down("down");
        across(x, y) = wide(x - 1, y) + 2 * wide(x, y) + wide(x + 1, y);
        down(x, y) = wide(x, y - 1) + 2 * wide(x, y) + wide(x, y + 1);
        out(x, y) = cast<uint8_t>(min(absd(across(x, y - 1), across(x, y + 1)) + absd(down(x - 1, y), down(x + 1, y)), 255));

        src.set_estimates({{0, 1536}, {0, 2560}});
        out.set_estimates({{0, 1536}, {0, 2560}});
        src.dim(0).set_min(0); src.dim(1).set_min(0);
        out.dim(0).set_min(0); out.dim(1).set_min(0);
        if (!auto_schedule) {
            Var strips("strips"), group("group"), row("row");
            out.split(y, strips, y, strip, TailStrategy::GuardWithIf).split(y, group, row, rows).reorder(row, x, group, strips)
                .unroll(row).vectorize(x, lanes).parallel(strips);
            padded.store_at(out, strips).compute_at(out, group).vectorize(x, 64);
        }
    }
};
HALIDE_REGISTER_GENERATOR(Sobel, sobel_u8)
