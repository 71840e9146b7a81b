"""The cases of the prelude's functions: each against its formula in double precision, from textbook or standard library."""
import colorsys
import functools
import math
import os
import random
from fractions import Fraction

from compare import Case
from cases import SIZES, picture
from filters import hash_of, white_noise
from grid import (box_blur, clamp, correlate, correlate_lines, decode, edge, encode, gaussian, gaussian_blur, lift, luma,
                  make, mix, reflect101, size, smoothstep, wrap)
from filters import SOBEL_X, SOBEL_Y, down, up

PRELUDE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "prelude")


def real_picture(width, height, components, seed):
    """Multiples of 1/256 over 0..1, which f32 holds exactly; 0 and 1 are always among them."""
    return [[[v / 256 + (v == 255) / 256 for v in row] for row in plane]
            for plane in picture(width, height, components, seed)]


def prelude(script, pipe, expected, inputs, params=None, tolerance=0.0, outputs=None, extra=None):
    return Case(os.path.join(PRELUDE, f"{script}.pipe"), expected, inputs, params, tolerance, pipe=pipe,
                name=f"prelude {script} {pipe} {params or ''}".strip(), outputs=outputs or {"": "pfm"}, extra=extra)


def kernel_plane(weights):
    """{(i, j): weight} as a plane."""
    xs, ys = sorted({i for i, _ in weights}), sorted({j for _, j in weights})
    return [[float(weights[i, j]) for i in xs] for j in ys]


def outer(column, row):
    return {(i, j): a * b for i, a in row.items() for j, b in column.items()}


def disk(r):
    n = math.floor(r)
    inside = {(i, j): i * i + j * j <= r * r for i in range(-n, n + 1) for j in range(-n, n + 1)}
    return {at: kept / sum(inside.values()) for at, kept in inside.items()}


def transposed(weights):
    return {(j, i): w for (i, j), w in weights.items()}


def kernels():
    for sigma in (0.0, 0.05, 0.1, 0.11, 0.5, 1.0, 1.5, 3.0, 10.0):
        line, one = gaussian(sigma), {0: 1.0}
        params = {"sigma": sigma}
        yield prelude("kernels", "gaussian_kernel", lambda i, p, k=outer(line, line): {"": [kernel_plane(k)]}, {}, params, 1e-6)
        yield prelude("kernels", "gaussian_x_kernel", lambda i, p, k=outer(one, line): {"": [kernel_plane(k)]}, {}, params, 1e-6)
        yield prelude("kernels", "gaussian_y_kernel", lambda i, p, k=outer(line, one): {"": [kernel_plane(k)]}, {}, params, 1e-6)
    line = gaussian(1.5)
    yield prelude("kernels", "gaussian_constant", lambda i, p: {"": [kernel_plane(outer(line, line))]}, {}, {}, 1e-6)
    for n in (1, 2, 3, 8):
        yield prelude("kernels", "box_kernel", lambda i, p, n=n: {"": [make(n, n, lambda x, y: 1 / (n * n))]}, {}, {"n": n}, 1e-7)
    for r in (0.0, 1.0, 1.5, 4.0):
        yield prelude("kernels", "disk_kernel", lambda i, p, r=r: {"": [kernel_plane(disk(r))]}, {}, {"r": r}, 1e-7)

    scharr = {(-1, -1): -3, (1, -1): 3, (-1, 0): -10, (1, 0): 10, (-1, 1): -3, (1, 1): 3}
    prewitt = {(i, j): i for i in (-1, 0, 1) for j in (-1, 0, 1)}
    four = {(0, 0): -4, (1, 0): 1, (-1, 0): 1, (0, 1): 1, (0, -1): 1}
    eight = {(i, j): 1 if (i, j) != (0, 0) else -8 for i in (-1, 0, 1) for j in (-1, 0, 1)}
    all_kernels = {"sobel_x": SOBEL_X, "sobel_y": SOBEL_Y, "scharr_x": scharr, "scharr_y": transposed(scharr),
                   "prewitt_x": prewitt, "prewitt_y": transposed(prewitt), "four": four, "eight": eight}

    def derivatives(inputs, _):
        return {name: [correlate(inputs["src"][0], k, reflect101, reflect101)] for name, k in all_kernels.items()}
    for width, height in SIZES:
        yield prelude("kernels", "derivatives", derivatives, {"src": picture(width, height, 1, "derivatives")},
                      outputs={name: "pfm" for name in all_kernels})


def pixelwise(function):
    """The expected pictures of a function from the components of a pixel to a number or a tuple."""
    def expected(inputs, p):
        pixels = lift(lambda *v: function(*v, **p), *(plane for planes in inputs.values() for plane in planes))
        if isinstance(pixels[0][0], tuple):
            return {"": [lift(lambda v, c=c: v[c], pixels) for c in range(len(pixels[0][0]))]}
        return {"": [pixels]}
    return expected


def componentwise(function):
    return pixelwise(lambda *v: tuple(function(u) for u in v))


def oklab(r, g, b):
    l = math.cbrt(0.4122214708 * r + 0.5363325363 * g + 0.0514459929 * b)
    m = math.cbrt(0.2119034982 * r + 0.6806995451 * g + 0.1073969566 * b)
    s = math.cbrt(0.0883024619 * r + 0.2817188376 * g + 0.6299787005 * b)
    return (0.2104542553 * l + 0.7936177850 * m - 0.0040720468 * s, 1.9779984951 * l - 2.4285922050 * m + 0.4505937099 * s,
            0.0259040371 * l + 0.7827717662 * m - 0.8086757660 * s)


def ycbcr(r, g, b):
    y = luma(r, g, b)
    return y, 0.5 + (b - y) / (2 * (1 - 0.0722)), 0.5 + (r - y) / (2 * (1 - 0.2126))


def from_ycbcr(y, cb, cr):
    r, b = y + 2 * (1 - 0.2126) * (cr - 0.5), y + 2 * (1 - 0.0722) * (cb - 0.5)
    return r, (y - 0.2126 * r - 0.0722 * b) / 0.7152, b


def converted_back(inverse):
    """The picture that `inverse` sends to the source must come out as the source: tests a function by its inverse."""
    def prepare(planes):
        pixels = lift(inverse, *planes)
        return [lift(lambda v, c=c: float(v[c]), pixels) for c in range(3)]
    return prepare


def colour():
    for width, height in ((61, 43), (1, 1)):
        src = real_picture(width, height, 3, "colour")
        corners = [[[float(n >> c & 1) for n in range(8)]] for c in range(3)]   # the corners of the colour cube
        for planes in (src, corners):
            inputs = {"src": planes}
            yield prelude("colour", "decode", componentwise(decode), inputs, {}, 1e-6)
            yield prelude("colour", "encode", componentwise(encode), inputs, {}, 1e-6)
            yield prelude("colour", "luminance", pixelwise(luma), inputs, {}, 1e-6)
            yield prelude("colour", "to_grey", pixelwise(lambda *v: (luma(*v),) * 3), inputs, {}, 1e-6)
            yield prelude("colour", "to_hsv", pixelwise(colorsys.rgb_to_hsv), inputs, {}, 1e-6)
            yield prelude("colour", "from_hsv", pixelwise(colorsys.hsv_to_rgb), inputs, {}, 2e-6)
            yield prelude("colour", "to_ycbcr", pixelwise(ycbcr), inputs, {}, 1e-6)
            yield prelude("colour", "from_ycbcr", pixelwise(from_ycbcr), inputs, {}, 1e-6)
            yield prelude("colour", "to_oklab", pixelwise(oklab), inputs, {}, 3e-6)
            lab = converted_back(oklab)(planes)
            yield prelude("colour", "from_oklab", lambda i, p, planes=planes: {"": planes}, {"src": lab}, {}, 1e-5)
    # 0 and 1, and greys as luminance, come out exactly.
    ends = [[[0.0, 1.0]]] * 3
    for pipe in ("decode", "encode", "to_grey"):
        yield prelude("colour", pipe, lambda i, p: {"": ends}, {"src": ends})
    greys = [[[v / 256 for v in range(257)]]] * 3
    yield prelude("colour", "luminance", lambda i, p: {"": greys[:1]}, {"src": greys})


def window(plane, offsets, choose):
    """choose() of the pixels of the window that are inside the picture: what is outside never counts."""
    width, height = size(plane)
    return make(width, height, lambda x, y: choose([plane[y + j][x + i] for i, j in offsets
                                                    if 0 <= x + i < width and 0 <= y + j < height]))


def square(r):
    return [(i, j) for j in range(-r, r + 1) for i in range(-r, r + 1)]


def round_window(r):
    return [(i, j) for i, j in square(math.floor(r)) if i * i + j * j <= r * r]


def opened(plane, offsets):
    return window(window(plane, offsets, min), offsets, max)


def closed(plane, offsets):
    return window(window(plane, offsets, max), offsets, min)


def squares(inputs, p):
    w = square(p["r"])
    src = inputs["src"]
    return {"dilated": [window(v, w, max) for v in src], "eroded": [window(v, w, min) for v in src],
            "opened": [opened(v, w) for v in src], "closed": [closed(v, w) for v in src]}


def negative_squares(inputs, _):
    plane = lift(lambda v: v - 2, inputs["src"][0])
    return {"dilated": [window(plane, square(1), max)], "eroded": [window(plane, square(1), min)]}


def disks(inputs, p):
    w = round_window(p["r"])
    return {"dilated": [window(inputs["src"][0], w, max)], "eroded": [window(inputs["src"][0], w, min)]}


def differences(inputs, _):
    plane, w = inputs["src"][0], square(1)
    return {"gradient": [lift(lambda a, b: a - b, window(plane, w, max), window(plane, w, min))],
            "white": [lift(lambda a, b: a - b, plane, opened(plane, w))],
            "black": [lift(lambda a, b: a - b, closed(plane, w), plane)]}


def rank(inputs, p):
    """Lower middle of the square, edges repeated."""
    def median(plane):
        width, height = size(plane)
        return make(width, height, lambda x, y: sorted(
            plane[edge(y + j, height)][edge(x + i, width)] for i, j in square(p["r"]))[len(square(p["r"])) // 2])
    return {"": [median(plane) for plane in inputs["src"]]}


def filters():
    for width, height in SIZES:
        grey, rgb = picture(width, height, 1, "filters"), picture(width, height, 3, "filters")
        real = real_picture(width, height, 1, "filters")
        for sigma in (0.05, 0.7, 2.0):
            p, one, line = {"sigma": sigma}, {0: 1.0}, gaussian(sigma)
            yield prelude("filters", "gauss", lambda i, p: {"": [gaussian_blur(i["src"][0], p["sigma"])]}, {"src": real}, p, 2e-6)
            yield prelude("filters", "gauss_x", lambda i, p, k=(one, line): {"": [correlate_lines(i["src"][0], *k)]}, {"src": real}, p, 2e-6)
            yield prelude("filters", "gauss_y", lambda i, p, k=(line, one): {"": [correlate_lines(i["src"][0], *k)]}, {"src": real}, p, 2e-6)
            yield prelude("filters", "detail", lambda i, p: {"": [
                lift(lambda a, b: a - b, i["src"][0], gaussian_blur(i["src"][0], p["sigma"]))]}, {"src": real}, p, 2e-6)
        yield prelude("filters", "sharper", lambda i, p: {"": [
            lift(lambda a, b: a + p["amount"] * (a - b), i["src"][0], gaussian_blur(i["src"][0], p["sigma"]))]},
            {"src": real}, {"sigma": 1.0, "amount": 2.0}, 4e-6)
        for n in (1, 2, 3, 9):
            yield prelude("filters", "mean", lambda i, p: {"": [box_blur(v, p["n"]) for v in i["src"]]}, {"src": rgb}, {"n": n}, 2e-6)
        for r in (0.0, 1.5, 4.0):
            yield prelude("filters", "round_mean", lambda i, p: {"": [correlate(i["src"][0], disk(p["r"]))]}, {"src": grey}, {"r": r}, 2e-6)
            yield prelude("filters", "disks", disks, {"src": grey}, {"r": r}, outputs={"dilated": "pgm", "eroded": "pgm"})
        for r in (0, 1, 3):
            yield prelude("filters", "squares", squares, {"src": rgb}, {"r": r},
                          outputs={name: "ppm" for name in ("dilated", "eroded", "opened", "closed")})
        yield prelude("filters", "negative_squares", negative_squares, {"src": real}, outputs={"dilated": "pfm", "eroded": "pfm"})
        yield prelude("filters", "differences", differences, {"src": grey},
                      outputs={name: "pfm" for name in ("gradient", "white", "black")})
        for r in (0, 1, 2):
            yield prelude("filters", "rank", rank, {"src": rgb}, {"r": r}, outputs={"": "ppm"})


def alpha():
    def multiplied(i, _):
        return {"colour": [lift(lambda v, a: v * a, plane, i["alpha"][0]) for plane in i["src"]], "kept": i["alpha"]}

    def divided(i, _):
        return {"colour": [lift(lambda v, a: v / a if a else 0.0, plane, i["alpha"][0]) for plane in i["src"]], "kept": i["alpha"]}

    def covered(i, _):
        a = i["alpha"][0]
        colour = [lift(lambda v, a, under=under: v * a + under * (1 - a), plane, a) for plane, under in zip(i["src"], (0.25, 0.5, 0.75))]
        return {"colour": colour, "kept": [lift(lambda a: 1.0, a)]}
    src, cover = real_picture(61, 43, 3, "alpha"), real_picture(61, 43, 1, "alpha")
    cover[0][0][0] = 0.0
    outputs = {"colour": "pfm", "kept": "pfm"}
    for pipe, expected in (("multiplied", multiplied), ("divided", divided), ("covered", covered)):
        yield prelude("alpha", pipe, expected, {"src": src, "alpha": cover}, {}, 1e-6, outputs)
    # Red that nothing shows beside white that covers: the blur must not let the red out.
    red_white = [[[1.0, 1.0, 1.0, 1.0]], [[0.0, 0.0, 1.0, 1.0]], [[0.0, 0.0, 1.0, 1.0]]]
    visible = [[0, 255, 255, 255]]
    yield prelude("alpha", "blurred", lambda i, p: {"colour": [visible] * 3, "kept": [[[0, 85, 170, 255]]]},
                  {"src": red_white, "alpha": [[[0.0, 0.0, 1.0, 1.0]]]}, {}, 0.001, {"colour": "ppm", "kept": "pgm"})
    yield prelude("alpha", "blurred", lambda i, p: {"colour": [[[0, 0, 0]]] * 3, "kept": [[[0, 0, 0]]]},
                  {"src": [[[1.0, 0.5, 0.25]]] * 3, "alpha": [[[0.0, 0.0, 0.0]]]}, {}, 0.0, {"colour": "ppm", "kept": "pgm"})


def keys_cubic(t):
    t = abs(t)
    if t >= 2:
        return 0.0
    return 1.5 * t ** 3 - 2.5 * t ** 2 + 1 if t < 1 else -0.5 * t ** 3 + 2.5 * t ** 2 - 4 * t + 2


def sinc(t):
    return 1.0 if t == 0 else math.sin(math.pi * t) / (math.pi * t)


SHAPES = {"linear": (1, lambda t: max(0.0, 1 - abs(t))), "cubic": (2, keys_cubic),
          "lanczos": (3, lambda t: sinc(t) * sinc(t / 3) if abs(t) < 3 else 0.0)}


@functools.lru_cache(maxsize=None)
def weights(shape, old, new):
    """For every new pixel {old pixel: weight}, from the position of its centre as an exact fraction."""
    table = []
    for t in range(new):
        row = {}
        if shape == "area":
            start, end = Fraction(t * old, new), Fraction((t + 1) * old, new)
            for k in range(math.floor(start), math.ceil(end)):
                row[k] = float((min(end, k + 1) - max(start, k)) / (end - start))
        else:
            reach, function = SHAPES[shape]
            scale = max(Fraction(old, new), Fraction(1))
            centre = (Fraction(2 * t + 1, 2) * old) / new - Fraction(1, 2)
            for k in range(math.floor(centre - reach * scale), math.ceil(centre + reach * scale) + 1):
                w = function(float((k - centre) / scale))
                row[edge(k, old)] = row.get(edge(k, old), 0.0) + w
        total = sum(row.values())
        table.append({k: w / total for k, w in row.items()})
    return table


def resized(plane, shape, width, height):
    w, h = size(plane)
    rows, columns = weights(shape, h, height), weights(shape, w, width)
    tall = [[sum(k * plane[y][x] for y, k in rows[t].items()) for x in range(w)] for t in range(height)]
    return [[sum(k * row[x] for x, k in columns[t].items()) for t in range(width)] for row in tall]


def resample():
    def by(shape):
        return lambda i, p: {"": [resized(plane, shape, p["width"], p["height"]) for plane in i["src"]]}

    def by_nearest(i, p):
        def nearest(plane):
            w, h = size(plane)
            return make(p["width"], p["height"], lambda x, y: plane[(2 * y + 1) * h // (2 * p["height"])]
                        [(2 * x + 1) * w // (2 * p["width"])])
        return {"": [nearest(plane) for plane in i["src"]]}

    def shifted(i, p):
        inner = [row[1:-1] for row in i["src"][0][1:-1]]
        return {"": [resized(inner, "linear", p["width"], p["height"])]}
    for width, height in ((61, 43), (5, 7), (1, 1), (1, 9), (4, 3)):
        one, three = real_picture(width, height, 1, "resample"), real_picture(width, height, 3, "resample")
        for new_width, new_height in ((width, height), (2 * width, 3 * height), (17, 11), (1, 1), (40, 1), (100, 20)):
            p = {"width": new_width, "height": new_height}
            yield prelude("resample", "by_nearest", by_nearest, {"src": picture(width, height, 3, "resample")}, p, outputs={"": "ppm"})
            yield prelude("resample", "by_default", by("linear"), {"src": one}, p, 3e-6)
            yield prelude("resample", "by_linear", by("linear"), {"src": three}, p, 3e-6)
            yield prelude("resample", "by_cubic", by("cubic"), {"src": one}, p, 3e-6)
            yield prelude("resample", "by_lanczos", by("lanczos"), {"src": one}, p, 5e-6)
            yield prelude("resample", "by_area", by("area"), {"src": three}, p, 3e-6)
            if min(width, height) > 2:
                yield prelude("resample", "shifted", shifted, {"src": one}, p, 3e-6)
        yield prelude("resample", "half", lambda i, p: {"": [down(i["src"][0])]}, {"src": one}, {}, 1e-6)
        for new_width in (2 * width - 1, 2 * width):
            yield prelude("resample", "twice", lambda i, p: {"": [up(i["src"][0], p["width"], p["height"])]}, {"src": one},
                          {"width": new_width, "height": 2 * height}, 1e-6)

        def moved(i, p):
            plane, (w, h) = i["src"][0], size(i["src"][0])
            u, v = math.floor(p["u"]), math.floor(p["v"])
            a, b = p["u"] - u, p["v"] - v

            def at(x, y):
                return plane[wrap(y, h)][wrap(x, w)]
            return {"": [make(w, h, lambda x, y: mix(mix(at(x + u, y + v), at(x + u + 1, y + v), a),
                                                     mix(at(x + u, y + v + 1), at(x + u + 1, y + v + 1), a), b))]}
        for u, v in ((0.0, 0.0), (0.25, -0.5), (-7.75, 12.0)):
            yield prelude("resample", "moved", moved, {"src": one}, {"u": u, "v": v}, 1e-6)


def tone():
    src, other = real_picture(61, 43, 1, "tone"), real_picture(61, 43, 1, "other")
    rgb, inputs = real_picture(61, 43, 3, "tone"), {"src": src}
    for t in (0.0, 0.25, 1.0):
        yield prelude("tone", "mixed", pixelwise(lambda a, b, t: mix(a, b, t)), {"src": src, "other": other}, {"t": t},
                      0.0 if t in (0, 1) else 1e-6)
    yield prelude("tone", "stepped", pixelwise(lambda v: float(v >= 0.5)), inputs)
    yield prelude("tone", "smooth", pixelwise(lambda v: smoothstep(0.25, 0.75, v)), inputs, {}, 1e-6)
    for gamma in (0.5, 1.0, 2.2):
        yield prelude("tone", "levelled", pixelwise(
            lambda v, gamma: 0.5 * clamp((v - 0.125) / 0.625, 0.0, 1.0) ** (1 / gamma)), inputs, {"gamma": gamma}, 1e-6)
    yield prelude("tone", "exposed", pixelwise(lambda v, stops: v * 2 ** stops), inputs, {"stops": 1.5}, 1e-6)
    yield prelude("tone", "contrasted", pixelwise(lambda v: (v - 0.5) * 1.5 + 0.5), inputs, {}, 1e-6)
    for amount in (0.0, 1.0, 1.75):
        yield prelude("tone", "saturated", pixelwise(
            lambda r, g, b, amount: tuple(luma(r, g, b) + (v - luma(r, g, b)) * amount for v in (r, g, b))),
            {"src": rgb}, {"amount": amount}, 1e-6)
    yield prelude("tone", "mapped", pixelwise(lambda v: v / (1 + v)), inputs, {}, 1e-6)
    yield prelude("tone", "inverted", pixelwise(lambda v: 1 - v), inputs)
    yield prelude("tone", "posters", pixelwise(lambda v: round(v * 4) / 4), inputs)
    yield prelude("tone", "circle", pixelwise(lambda v: v * math.pi), inputs, {}, 1e-6)


def noise():
    for seed in (0, 5, -1):
        p = {"width": 31, "height": 7, "seed": seed}

        def grid(value):
            return lambda i, p: {"": [make(p["width"], p["height"], lambda x, y: value((x - 3) % 2 ** 32, y, p["seed"]))]}

        def normal(x, y, seed):
            return (sum(hash_of(x, y, seed).to_bytes(4, "little")) - 510) / math.sqrt(4 * (256 ** 2 - 1) / 12)
        yield prelude("noise", "hashed", grid(hash_of), {}, p, outputs={"": "npy"})
        yield prelude("noise", "white", grid(white_noise), {}, p)
        yield prelude("noise", "normal", grid(normal), {}, p, 1e-6)


def cases(_):
    for group in (kernels, colour, filters, alpha, resample, tone, noise):
        yield from group()
