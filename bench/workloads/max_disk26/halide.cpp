// SPDX-License-Identifier: MIT
// max_disk26: the shape of Halide's max_filter: tables of the largest of 1, 2, 4 ... 32 pixels down a column, from which two
// overlapping entries give any run of the disk's columns.
#include "Halide.h"
#include <cmath>
using namespace Halide;

namespace {

class MaxDisk : public Generator<MaxDisk> {
public:
    Input<Buffer<float>> src{"src", 3};
    Output<Buffer<float>> out{"out", 3};

    void generate() {
        const int radius = 26, slices = 6;
        Var x("x"), y("y"), c("c"), t("t");
        Func in("in"), power[slices];
        in(x, y, c) = BoundaryConditions::repeat_edge(src)(x, y, c);
        power[0] = in;
        for (int k = 1; k < slices; k++) {
            power[k] = Func("power" + std::to_string(1 << k));
            power[k](x, y, c) = max(power[k - 1](x, y, c), power[k - 1](x, y + (1 << (k - 1)), c));
        }
        Expr largest;
        std::vector<Func> runs;
        std::map<int, Func> run_of;
        for (int i = -radius; i <= radius; i++) {
            int reach = (int)std::sqrt((float)(radius * radius - i * i));
            if (!run_of.count(reach)) {
                int length = 2 * reach + 1, k = 0;
                while (2 << k <= length) k++;
                Func run("run" + std::to_string(reach));
                run(x, y, c) = max(power[k](x, y - reach, c), power[k](x, y + reach + 1 - (1 << k), c));
                runs.push_back(run);
                run_of[reach] = run;
            }
            Expr here = run_of[reach](x + i, y, c);
            largest = largest.defined() ? max(largest, here) : here;
        }
        out(x, y, c) = largest;

        out.dim(2).set_bounds(0, 3);
        src.dim(2).set_bounds(0, 3);
        src.set_estimates({{0, 1536}, {0, 2560}, {0, 3}});
        out.set_estimates({{0, 1536}, {0, 2560}, {0, 3}});
        if (auto_schedule) return;

        const int vector = natural_vector_size<float>();
        Var tx("tx"), strip("strip");
        out.split(x, tx, x, 256, TailStrategy::ShiftInwards).split(y, strip, y, 128, TailStrategy::GuardWithIf)
            .reorder(x, y, tx, strip, c).parallel(strip).parallel(c).vectorize(x, vector);
        in.store_at(out, tx).compute_at(out, y).vectorize(x, vector);
        for (int k = 1; k < slices; k++) power[k].store_at(out, tx).compute_at(out, y).vectorize(x, vector);
        for (Func &run : runs) run.compute_at(out, y).vectorize(x, vector);
    }
};

}

HALIDE_REGISTER_GENERATOR(MaxDisk, max_disk26)
