// SPDX-License-Identifier: MIT
// median3_u8: sorted columns, then the middle of the largest least, the middle middle and the least largest.
#include "Halide.h"
using namespace Halide;

namespace {

class Median3 : public Generator<Median3> {
public:
    Input<Buffer<uint8_t>> src{"src", 2};
    Output<Buffer<uint8_t>> out{"out", 2};

    static Expr middle(Expr a, Expr b, Expr c) { return max(min(a, b), min(max(a, b), c)); }

    void generate() {
        Var x("x"), y("y");
        Func in = BoundaryConditions::repeat_edge(src);
        Func low("low"), mid("mid"), high("high");
        low(x, y) = min(in(x, y - 1), in(x, y), in(x, y + 1));
        mid(x, y) = middle(in(x, y - 1), in(x, y), in(x, y + 1));
        high(x, y) = max(in(x, y - 1), in(x, y), in(x, y + 1));
        out(x, y) = middle(max(low(x - 1, y), low(x, y), low(x + 1, y)),
                           middle(mid(x - 1, y), mid(x, y), mid(x + 1, y)),
                           min(high(x - 1, y), high(x, y), high(x + 1, y)));

        src.set_estimates({{0, 1536}, {0, 2560}});
        out.set_estimates({{0, 1536}, {0, 2560}});
        if (auto_schedule) return;

        const int vector = natural_vector_size<uint8_t>();
        Var strip("strip"), yi("yi");
        out.split(y, strip, y, 32, TailStrategy::GuardWithIf).parallel(strip)
            .vectorize(x, vector, TailStrategy::GuardWithIf);
        (void)yi;
    }
};

}

HALIDE_REGISTER_GENERATOR(Median3, median3_u8)
