/* Thirds along the row, then down the columns, all in 16 bits. Strips of rows in parallel; in each, the rows of thirds slide
 * through a buffer of four, and the loops are cut where the border's clamps end. */
#include "Halide.h"

using namespace Halide;

struct Blur : Generator<Blur> {
    GeneratorParam<int> strip{"strip", 64}, lanes{"lanes", 32};
    Input<Buffer<uint16_t>>  src{"src", 2};
    Output<Buffer<uint16_t>> out{"out", 2};

    void generate()
    {
        Var  x("x"), y("y"), strips("strips");
        Func edged = BoundaryConditions::repeat_edge(src), third("third");
        third(x, y) = (edged(x - 1, y) + edged(x, y) + edged(x + 1, y)) / cast<uint16_t>(3);
        out(x, y) = (third(x, y - 1) + third(x, y) + third(x, y + 1)) / cast<uint16_t>(3);

        src.dim(0).set_min(0).set_estimate(0, 1536); src.dim(1).set_min(0).set_estimate(0, 2560);
        out.dim(0).set_min(0).set_estimate(0, 1536); out.dim(1).set_min(0).set_estimate(0, 2560);

        if (!auto_schedule) {
            out.split(y, strips, y, strip).parallel(strips).vectorize(x, lanes);
            third.store_at(out, strips).compute_at(out, y).fold_storage(y, 4).vectorize(x, lanes, TailStrategy::RoundUp);
        }
    }
};
HALIDE_REGISTER_GENERATOR(Blur, blur3_u16)
