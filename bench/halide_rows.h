// SPDX-License-Identifier: MIT
// For Halide generators: rows in a line buffer with their ends repeated. repeat_edge clamps the column of every read, and in the
// first and last vector of each row Halide then gathers one element at a time from every tap; here a row is made inside
// the picture only, and a few elements are copied beyond its ends.
//
// The automatic schedulers get repeat_edge, which they can fuse.
#pragma once
#include <functional>
#include "Halide.h"

class RepeatedRows {
public:
    // A pixel of the picture; rows may lie outside of it, columns not.
    using Picture = std::function<Halide::Expr(Halide::Expr x, Halide::Expr y)>;

    // rows(x, y) = value(in, x), for x from -reach to width - 1 + reach.
    template <typename Input>
    RepeatedRows(const std::string &name, Halide::Var x, Halide::Var y, Input &src, int reach, bool automatic,
                 const std::function<Halide::Tuple(const Picture &in, Halide::Expr x)> &value)
        : rows(name), made(!automatic) {
        using namespace Halide;
        if (automatic) {
            Func in = BoundaryConditions::repeat_edge(src);
            define(x, y, value([=](Expr x, Expr y) { return in(x, y); }, x));
            return;
        }
        Expr width = src.dim(0).extent(), height = src.dim(1).extent();
        Picture in = [&](Expr x, Expr y) { return src(x, clamp(y, 0, height - 1)); };
        inside = RDom(0, width, name + "_inside"), ends = RDom(0, reach, name + "_ends");
        std::vector<Expr> nothing;
        Tuple some = value(in, inside);
        for (size_t i = 0; i < some.size(); i++) nothing.push_back(undef(some[i].type()));
        define(x, y, Tuple(nothing));
        define(inside, y, some);
        define(ends - reach, y, at(0, y, some.size()));
        define(width + ends, y, at(width - 1, y, some.size()));
    }

    // To be called when `rows` has its place (compute_at).
    void vectorize(int vector) {
        if (!made) return;
        rows.update(0).vectorize(inside, vector);
        rows.update(1).unroll(ends);
        rows.update(2).unroll(ends);
    }

    Halide::Func rows;

private:
    bool made;
    Halide::RDom inside, ends;

    void define(Halide::Expr x, Halide::Expr y, const Halide::Tuple &value) {
        if (value.size() == 1) rows(x, y) = value[0];
        else rows(x, y) = value;
    }

    Halide::Tuple at(Halide::Expr x, Halide::Expr y, size_t n) {
        std::vector<Halide::Expr> values;
        for (size_t i = 0; i < n; i++) values.push_back(n == 1 ? (Halide::Expr)rows(x, y) : rows(x, y)[i]);
        return Halide::Tuple(values);
    }
};
