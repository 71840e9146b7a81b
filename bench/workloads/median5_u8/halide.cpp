// SPDX-License-Identifier: MIT
// median5_u8: columns of five are put in order, and pairs of such columns merged. Two neighbours share four columns, of which
// only the six middle ones of twenty values count; each neighbour adds its own fifth column (after Adams, "Fast median
// filters using separable sorting networks", 2021).
#include "bench/halide_rows.h"
using namespace Halide;

namespace {

using Values = std::vector<Expr>;

void order(Expr &a, Expr &b)
{
    Expr low = min(a, b), high = max(a, b);
    a = low, b = high;
}

// Batcher's merging of two lists in order.
Values merged(const Values &a, const Values &b)
{
    if (a.empty() || b.empty()) return a.empty() ? b : a;
    if (a.size() == 1 && b.size() == 1) return {min(a[0], b[0]), max(a[0], b[0])};
    Values halves[2][2];
    for (size_t i = 0; i < a.size(); i++) halves[i % 2][0].push_back(a[i]);
    for (size_t i = 0; i < b.size(); i++) halves[i % 2][1].push_back(b[i]);
    Values even = merged(halves[0][0], halves[0][1]), odd = merged(halves[1][0], halves[1][1]);
    Values all{even[0]};
    for (size_t i = 0; i < odd.size() || i + 1 < even.size(); i++) {
        if (i < odd.size() && i + 1 < even.size()) {
            Expr low = odd[i], high = even[i + 1];
            order(low, high);
            all.push_back(low), all.push_back(high);
        } else {
            all.push_back(i < odd.size() ? odd[i] : even[i + 1]);
        }
    }
    return all;
}

Values sorted(Values v)
{
    static const int network[9][2] = {{0, 3}, {1, 4}, {0, 2}, {1, 3}, {0, 1}, {2, 4}, {1, 2}, {3, 4}, {2, 3}};
    for (auto &pair : network) order(v[pair[0]], v[pair[1]]);
    return v;
}

// The sixth of six and five values in order.
Expr middle(const Values &six, const Values &five)
{
    Expr least = six[5];
    for (int i = 0; i < 5; i++) least = min(least, max(six[i], five[4 - i]));
    return least;
}

Values list(FuncRef at, int n)
{
    Values v;
    for (int i = 0; i < n; i++) v.push_back(at[i]);
    return v;
}

class Median5 : public Generator<Median5> {
public:
    Input<Buffer<uint8_t>> src{"src", 2};
    Output<Buffer<uint8_t>> out{"out", 2};

    void generate() {
        Var x("x"), y("y");
        Func pair("pair"), quad("quad"), twin("twin");
        RepeatedRows columns("column", x, y, src, 4, auto_schedule, [&](const RepeatedRows::Picture &in, Expr x) {
            Values five;
            for (int j = -2; j <= 2; j++) five.push_back(in(x, y + j));
            return Tuple(sorted(five));
        });
        Func &column = columns.rows;
        pair(x, y) = Tuple(merged(list(column(2 * x - 1, y), 5), list(column(2 * x, y), 5)));
        Values twenty = merged(list(pair(x, y), 10), list(pair(x + 1, y), 10));
        quad(x, y) = Tuple(Values(twenty.begin() + 7, twenty.begin() + 13));
        twin(x, y) = {middle(list(quad(x, y), 6), list(column(2 * x - 2, y), 5)),
                      middle(list(quad(x, y), 6), list(column(2 * x + 3, y), 5))};
        out(x, y) = select(x % 2 == 0, twin(x / 2, y)[0], twin(x / 2, y)[1]);

        src.set_estimates({{0, 1536}, {0, 2560}});
        out.set_estimates({{0, 1536}, {0, 2560}});
        if (auto_schedule) return;

        const int vector = natural_vector_size<uint8_t>();
        Var strip("strip"), xo("xo");
        out.align_bounds(x, 2)
            .split(y, strip, y, 64, TailStrategy::GuardWithIf).parallel(strip)
            .split(x, xo, x, 2 * vector, TailStrategy::ShiftInwards).vectorize(x);
        column.compute_at(out, y);
        columns.vectorize(vector);
        pair.compute_at(out, y).vectorize(x, vector);
        twin.compute_at(out, xo).vectorize(x, vector);
    }
};

}

HALIDE_REGISTER_GENERATOR(Median5, median5_u8)
