"""Tests of the evaluator itself: what the case files do not reach, each value worked out by hand."""

import math
import os
import random
import sys
import unittest
from fractions import Fraction

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

from reference import arithmetic  # noqa: E402
from reference.errors import PipeError  # noqa: E402
from reference.generate import pipelines, pixel_values  # noqa: E402
from reference.plan import Coverage, cells  # noqa: E402
from reference.script import Script  # noqa: E402
from reference.syntax import parse  # noqa: E402
from reference.values import AXIS_MAPS, Image, Type  # noqa: E402


def picture(rows, base="u8"):
    return Image([(0, len(rows[0])), (0, len(rows))], Type(base, 1), [[v for row in rows for v in row]])


def run(body, source=None, output="image i32", **parameters):
    """The first output of a pipe with this body and one input `a`."""
    source = source or picture([[1, 2, 4, 8]])
    script = Script(text=f"pipe t(a: image {source.type}) -> {output} {{\n{body}\n}}\n")
    return next(iter(script.run({"a": source}, parameters).values()))


def exact_fma(a, b, c):
    """a*b + c by rational arithmetic, rounded once to single precision."""
    exact = Fraction(a) * Fraction(b) + Fraction(c)
    if exact == 0:
        return 0.0
    low = arithmetic.f32(float(exact))
    candidates = {low, neighbour(low, math.inf), neighbour(low, -math.inf)}
    best = min(abs(Fraction(v) - exact) for v in candidates)
    nearest = [v for v in candidates if abs(Fraction(v) - exact) == best]
    return nearest[0] if len(nearest) == 1 else next(v for v in nearest if is_even(v))


def neighbour(value, direction):
    return arithmetic.f32(value + math.copysign(2.0 ** (math.frexp(value)[1] - 24), direction))


def is_even(value):
    return int(math.frexp(value)[0] * 2**24) % 2 == 0


class Arithmetic(unittest.TestCase):
    def test_fused_is_rounded_once(self):
        source = random.Random(7)
        for _ in range(3000):
            a, b = (arithmetic.f32(source.uniform(-2, 2)) for _ in range(2))
            c = arithmetic.f32(-a * b + source.choice((0, 1e-9, 1e-6, 0.5)) * source.uniform(-1, 1))
            self.assertEqual(arithmetic.fused(a, b, c), exact_fma(a, b, c), (a, b, c))
            self.assertEqual(arithmetic.fma([a], b, [c]), [exact_fma(a, b, c)])

    def test_a_double_sum_would_round_twice(self):
        a, b, c = 1 + 2.0**-12, 1 + 2.0**-12, arithmetic.f32(2.0**-60)
        self.assertEqual(arithmetic.fused(a, b, c), exact_fma(a, b, c))

    def test_conversions(self):
        to_u8 = arithmetic.converter("f32", "u8")
        self.assertEqual([to_u8(v) for v in (0.5, 1.5, 2.5, -1.0, 255.5, math.nan, math.inf)],
                         [0, 2, 2, 0, 255, 0, 255])
        self.assertEqual(arithmetic.converter("u32", "i32")(2**32 - 1), 2**31 - 1)
        self.assertEqual(arithmetic.converter("i32", "f32")(2**24 + 1), 2.0**24)

    def test_common_types(self):
        table = {("u8", "u16"): "u16", ("i8", "i16"): "i16", ("u8", "i8"): "i32", ("u16", "i16"): "i32",
                 ("u32", "i32"): None, ("f16", "f16"): "f16", ("f16", "f32"): "f32", ("i32", "f16"): "f32"}
        for (a, b), expected in table.items():
            self.assertEqual(arithmetic.common(a, b), expected)
            self.assertEqual(arithmetic.common(b, a), expected)

    def test_borders_by_stepping(self):
        """The closed formulas against walking one step at a time."""
        def walk(mode, i, n):
            position, step = 0, 1
            for _ in range(abs(i)):
                ahead = position + step
                if 0 <= ahead < n:
                    position = ahead
                elif mode == "edge":
                    continue
                elif mode == "wrap":
                    position = ahead % n
                elif mode == "reflect":
                    step = -step
                else:
                    step = -step
                    position = position + step if n > 1 else 0
            return position
        for n in range(1, 7):
            for i in range(0, 25):
                for mode in ("edge", "wrap", "reflect", "reflect101"):
                    self.assertEqual(AXIS_MAPS[mode](i, n), walk(mode, i, n), (mode, i, n))
                self.assertEqual(AXIS_MAPS["wrap"](-i, n), (n - i % n) % n)
                self.assertEqual(AXIS_MAPS["reflect"](-1 - i, n), AXIS_MAPS["reflect"](i, n))
                self.assertEqual(AXIS_MAPS["reflect101"](-i, n), AXIS_MAPS["reflect101"](i, n))


class Domains(unittest.TestCase):
    def domain(self, body, source=None):
        return run(body, source).domain[0]

    def test_floor_division_and_offsets(self):
        self.assertEqual(self.domain("d[x, y] = a[(x + 1) // 2, y] + 0\n return d"), (-1, 8))
        self.assertEqual(self.domain("d[x, y] = a[x // 2 - 1, y] + 0\n return d"), (2, 8))
        self.assertEqual(self.domain("d[x, y] = a[3*x + 2, y] + 0\n return d"), (0, 1))
        self.assertEqual(self.domain("d[x, y] = a[2*(x - 1), y] + 0\n return d"), (1, 2))

    def test_reflected_padded_reads_keep_their_offset(self):
        self.assertEqual(self.domain("p = pad(a, edge)\n d[x, y] = p[5 - x, y] + 0\n return d"), (2, 4))
        self.assertEqual(self.domain("p = pad(a, edge)\n d[x, y] = sum(i in 0..3: p[5 - x + i, y])\n return d"), (2, 4))

    def test_a_coordinate_with_a_range_beside(self):
        self.assertEqual(self.domain("d[x, y, z in 0..2] = a[x + z, y]\n e[x, y] = d[x, y, 0] + 0\n return e"), (0, 2))

    def test_reads_in_called_functions_count(self):
        text = ("fn beside(p, x, y) = p[x + 1, y]\npipe t(a: image u8) -> image u8 {\n"
                " d[x, y] = beside(a, x, y)\n return d\n}\n")
        result = next(iter(Script(text=text).run({"a": picture([[1, 2, 4]])}).values()))
        self.assertEqual((result.domain[0], result.planes), ((-1, 3), [[1, 2, 4]]))

    def test_bounds_of_reductions_may_depend_on_outer_binders(self):
        self.assertEqual(run("d[x in 0..0, y] = sum(i in 0..3, j in 0..i: a[x + j, y])\n return d").planes,
                         [[1 + 3 + 7 + 15]])


class Refusals(unittest.TestCase):
    def test_errors(self):
        for body in ("return a / 2", "return b", "d[x, y] = a[x - 1, y]\n return d[0, 0, 0]",
                     "p = pad(a, mirror)\n return p", "return i32(a) ? a : a", "return conv(a, [[1, 2], [3]])",
                     "g[0] = a\n return g[1]", "return crop(a, 0, 0, 5, 1)", "return concat(a, pad(a, edge, 1), 0)",
                     "d[x, y] = a[f32(x), y]\n return d", "a = 3\n return a"):
            with self.assertRaises(PipeError, msg=body):
                run(body)

    def test_lines(self):
        with self.assertRaises(PipeError) as caught:
            run("b = a +\n  a\nreturn c")
        self.assertEqual(caught.exception.line, 4)

    def test_syntax(self):
        for text in ("pipe", "fn f(a = a", "pipe t() -> image u8 { return 1..2 }", "const a = $", "", "# nothing"):
            with self.assertRaises(PipeError, msg=text):
                parse(text)


class Generator(unittest.TestCase):
    def test_same_seed_same_pipelines(self):
        first, second = ([p.script for p in pipelines(5, 3)] for _ in range(2))
        self.assertEqual(first, second)

    def test_a_full_run_covers_every_cell(self):
        coverage = Coverage()
        for pipeline in pipelines(1000, 1):
            coverage.add(pipeline)
        self.assertEqual(coverage.missing(), [])
        self.assertEqual(len(cells()), 3456)

    def test_an_empty_cell_is_seen(self):
        coverage = Coverage()
        for pipeline in pipelines(10, 1):
            coverage.add(pipeline)
        self.assertTrue(coverage.missing())

    def test_pipelines_are_valid_and_have_the_planned_size(self):
        for pipeline in pipelines(40, 11):
            inputs = {p.name: Image(p.domain, Type(p.base, p.lanes), pixel_values(p))
                      for p in pipeline.inputs + pipeline.arrays}
            results = Script(text=pipeline.script).run(inputs, {n: v[1] for n, v in pipeline.params.items()},
                                                            pipeline.name)
            for image, planned in zip(results.values(), pipeline.outputs):
                self.assertEqual([e for _, e in image.domain], [e for _, e in planned.domain])


if __name__ == "__main__":
    unittest.main()
