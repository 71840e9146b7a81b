#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Where the coefficients of lowering/expand_polynomials.def come from: weighted minimax fits (Remez's exchange) in
50-digit decimals, rounded to f32 one coefficient at a time, lowest degree first, the others fitted again around
what was rounded. Prints the table; `--check FILE` compares it with the one that is there.

Each row fits g(x), what is left of a function after its leading terms were taken off exactly, so that the leading
terms stay exact in f32; the weight turns an error of g into a relative error of the function."""

import struct
import sys
from decimal import Decimal as D, getcontext

getcontext().prec = 50


def series(term, x):
    """The sum of term(k) until it no longer counts."""
    total, k = D(0), 0
    while True:
        t = term(k)
        total += t
        if k > 4 and abs(t) < D(10) ** -48:
            return total
        k += 1


def factorial(n):
    return D(1) if n < 2 else n * factorial(n - 1)


LN2 = D(2).ln()
exp_rest = lambda n: lambda x: series(lambda k: x ** k / factorial(k + n), x)        # (e^x - first n terms) / x^n
atanh_rest = lambda z: series(lambda k: z ** k / (2 * k + 3), z)                     # (atanh(s) - s) / s^3, z = s^2
sin_rest = lambda z: series(lambda k: (-1) ** (k + 1) * z ** k / factorial(2 * k + 3), z)
cos_rest = lambda z: series(lambda k: (-1) ** k * z ** k / factorial(2 * k + 4), z)
sinh_rest = lambda z: series(lambda k: z ** k / factorial(2 * k + 3), z)


def log_rest(f):
    """(log(1 + f) - f + f^2/2) / f^3"""
    if abs(f) < D("0.01"):
        return series(lambda k: (-f) ** k / (k + 3), f)
    return ((1 + f).ln() - f + f * f / 2) / f ** 3


def atan_of(a):
    """Halve the angle until the series is short."""
    n = 0
    while abs(a) > D("0.05"):
        a, n = a / (1 + (1 + a * a).sqrt()), n + 1
    return 2 ** n * series(lambda k: (-1) ** k * a ** (2 * k + 1) / (2 * k + 1), a)


def atan_rest(z):
    if z < D("0.001"):
        return series(lambda k: (-1) ** (k + 1) * z ** k / (2 * k + 3), z)
    a = z.sqrt()
    return (atan_of(a) - a) / (a * z)


def asin_rest(z):
    if z < D("0.001"):
        def term(k):
            return factorial(2 * k + 2) * z ** k / (D(4) ** (k + 1) * factorial(k + 1) ** 2 * (2 * k + 3))
        return series(term, z)
    s = z.sqrt()
    return (atan_of(s / (1 - z).sqrt()) - s) / (s * z)


def tanh_rest(z):
    if z < D("0.0001"):
        return D(-1) / 3 + 2 * z / 15 - 17 * z * z / 315 + 62 * z ** 3 / 2835 - 1382 * z ** 4 / 155925
    x = z.sqrt()
    e = (2 * x).exp()
    return ((e - 1) / (e + 1) - x) / (x * z)


# name: g, weight(x) with |error of g| * weight = relative error of the function, from, to, degree
FITS = [
    ("exp2", "2^r = 1 + r * P(r)", lambda x: (exp_rest(1)(x * LN2)) * LN2, lambda x: abs(x) / (x * LN2).exp(), "-0.5", "0.5", 6),
    ("exp", "e^r = 1 + r + r^2 * P(r)", exp_rest(2), lambda x: x * x / x.exp(), "-0.347", "0.347", 4),
    ("log", "log(1 + f) = f - f^2/2 + f^3 * P(f)", log_rest, lambda f: abs(f ** 3 / (1 + f).ln()) if f else D(0), "-0.2929", "0.4143", 8),
    ("pow_log", "2/log 2 * atanh(s) = 2/log 2 * s + s^3 * P(s^2)", lambda z: 2 / LN2 * atanh_rest(z), lambda z: z * LN2 / 2, "0", "0.01022", 2),
    ("sin", "sin(r) = r + r^3 * P(r^2)", sin_rest, lambda z: z, "0", "0.6169", 2),
    ("cos", "cos(r) = 1 - r^2/2 + r^4 * P(r^2)", cos_rest, lambda z: z * z, "0", "0.6169", 2),
    ("asin", "asin(s) = s + s^3 * P(s^2)", asin_rest, lambda z: z, "0", "0.25", 4),
    ("atan", "atan(a) = a + a^3 * P(a^2)", atan_rest, lambda z: z / (1 - z * D("0.2146")), "0", "1", 7),
    ("sinh", "sinh(x) = x + x^3 * P(x^2)", sinh_rest, lambda z: z, "0", "1", 2),
    ("tanh", "tanh(x) = x + x^3 * P(x^2)", tanh_rest, lambda z: z * (1 + z / 3), "0", "0.391", 4),
]


def f32(x):
    return struct.unpack("f", struct.pack("f", float(x)))[0]


def solve(rows):
    """Gaussian elimination; each row is coefficients and the right-hand side."""
    n = len(rows)
    for c in range(n):
        best = max(range(c, n), key=lambda r: abs(rows[r][c]))
        rows[c], rows[best] = rows[best], rows[c]
        rows[c] = [v / rows[c][c] for v in rows[c]]
        for r in range(n):
            if r != c and rows[r][c]:
                m = rows[r][c]
                rows[r] = [a - m * b for a, b in zip(rows[r], rows[c])]
    return [row[n] for row in rows]


def remez(samples, first, n):
    """Coefficients of x^first ... x^(first+n-1) that fit samples (x, g, weight), and the largest weighted error."""
    count = len(samples)
    points = [samples[round((count - 1) * (1 - D(str(__import__("math").cos(3.14159265358979 * k / n)))) / 2)] for k in range(n + 1)]
    for _ in range(30):
        rows = [[x ** (first + k) for k in range(n)] + [D((-1) ** i) / w, g] for i, (x, g, w) in enumerate(points)]
        *c, level = solve(rows)
        errors = [w * (sum(c[k] * x ** (first + k) for k in range(n)) - g) for x, g, w in samples]
        # one extremum for every run of equal signs; keep the n + 1 neighbours that contain the largest
        runs, i = [], 0
        while i < count:
            j = i
            while j < count and (errors[j] >= 0) == (errors[i] >= 0):
                j += 1
            runs.append(max(range(i, j), key=lambda k: abs(errors[k])))
            i = j
        while len(runs) > n + 1:
            runs.pop(0 if abs(errors[runs[0]]) < abs(errors[runs[-1]]) else -1)
        largest = max(abs(e) for e in errors)
        if len(runs) < n + 1 or largest <= abs(level) * D("1.0005"):
            break
        points = [samples[k] for k in runs]
    return c, largest


def fit(g, weight, a, b, degree):
    a, b, count = D(a), D(b), 400
    xs = [a + (b - a) * k / count for k in range(count + 1)]
    samples = [(x, g(x), weight(x)) for x in xs if weight(x) > 0]
    fixed = []
    for k in range(degree + 1):
        c, _ = remez(samples, k, degree + 1 - k)
        value = f32(c[0])
        fixed.append(value)
        samples = [(x, y - D(value) * x ** k, w) for x, y, w in samples]
    return fixed, max(abs(y) * w for x, y, w in samples)


def table():
    lines = []
    for name, form, g, weight, a, b, degree in FITS:
        c, error = fit(g, weight, a, b, degree)
        numbers = ", ".join(f"{float(v):.9g}f" if "." in f"{v:.9g}" or "e" in f"{v:.9g}" else f"{v:.9g}.0f" for v in c)
        bits = (error.ln() / LN2).to_integral_value()
        lines.append(f"POLYNOMIAL({name}, {degree + 1}, {numbers})    /* {form}; relative error 2^{bits} */")
    return lines


if __name__ == "__main__":
    rows = table()
    if len(sys.argv) > 2 and sys.argv[1] == "--check":
        there = [line.strip() for line in open(sys.argv[2]) if line.startswith("POLYNOMIAL(")]
        if there != rows:
            sys.exit("the table differs from what this script computes:\n" + "\n".join(rows))
    else:
        print("\n".join(rows))
