"""Arithmetic on planes in double precision, the slow and obvious way: the tests' own idea of what the filters are.

Nothing here is shared with the compiler: borders are index functions, a filter is the sum over its window as the
definition has it.
"""
import math


def edge(i, n):
    return min(max(i, 0), n - 1)


def wrap(i, n):
    return i % n


def reflect(i, n):
    m = i % (2 * n)
    return m if m < n else 2 * n - 1 - m


def reflect101(i, n):
    if n == 1:
        return 0
    m = i % (2 * (n - 1))
    return m if m < n else 2 * (n - 1) - m


def size(plane):
    return len(plane[0]), len(plane)


def make(width, height, value):
    """The plane of value(x, y)."""
    return [[value(x, y) for x in range(width)] for y in range(height)]


def lift(function, *planes):
    """function applied pixel by pixel."""
    width, height = size(planes[0])
    return make(width, height, lambda x, y: function(*(plane[y][x] for plane in planes)))


def correlate(plane, weights, border_x=edge, border_y=edge):
    """weights is {(i, j): weight}; out[x, y] = sum of weight * plane[x + i, y + j]."""
    width, height = size(plane)
    taps = list(weights.items())

    def value(x, y):
        return sum(w * plane[border_y(y + j, height)][border_x(x + i, width)] for (i, j), w in taps)
    return make(width, height, value)


def correlate_lines(plane, column, row, border_x=edge, border_y=edge):
    """Two passes, first {j: weight} along y, then {i: weight} along x."""
    tall = correlate(plane, {(0, j): w for j, w in column.items()}, border_x, border_y)
    return correlate(tall, {(i, 0): w for i, w in row.items()}, border_x, border_y)


def gaussian(sigma):
    """Weights of a line: exp(-i^2 / 2 sigma^2) over radius ceil(4 sigma), summing to one."""
    if sigma < 0.1:
        return {0: 1.0}
    radius = math.ceil(4 * sigma)
    weights = {i: math.exp(-i * i / (2 * sigma * sigma)) for i in range(-radius, radius + 1)}
    total = sum(weights.values())
    return {i: w / total for i, w in weights.items()}


def gaussian_blur(plane, sigma, border_x=edge, border_y=edge):
    line = gaussian(sigma)
    return correlate_lines(plane, line, line, border_x, border_y)


def box_blur(plane, n):
    line = {i: 1 / n for i in range(-(n // 2), n - n // 2)}
    return correlate_lines(plane, line, line)


def clamp(v, lo, hi):
    return min(max(v, lo), hi)


def smoothstep(lo, hi, v):
    t = clamp((v - lo) / (hi - lo), 0.0, 1.0)
    return t * t * (3 - 2 * t)


def mix(a, b, t):
    return a + (b - a) * t


def decode(v):
    """sRGB 0..1 to linear."""
    return v / 12.92 if v <= 0.04045 else ((v + 0.055) / 1.055) ** 2.4


def encode(v):
    """Linear to sRGB 0..1."""
    return 12.92 * v if v <= 0.0031308 else 1.055 * v ** (1 / 2.4) - 0.055


def luma(r, g, b):
    return 0.2126 * r + 0.7152 * g + 0.0722 * b
