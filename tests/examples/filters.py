"""What each example must come to, computed independently of Halo: from the example's description, in double precision
or exact integers.

A function takes the input pictures (a dictionary of planes with values 0..255) and the parameters, and gives a
dictionary of output planes. Values of 8-bit outputs are neither rounded nor clamped: the runner does that, and so
sees how close a value is to the next step. None means that both answers are right there.
"""
import math

from grid import (box_blur, clamp, correlate, correlate_lines, decode, edge, encode, gaussian, gaussian_blur, lift, luma,
                  make, mix, size, smoothstep, wrap)

SOBEL_X = {(-1, -1): -1, (1, -1): 1, (-1, 0): -2, (1, 0): 2, (-1, 1): -1, (1, 1): 1}
SOBEL_Y = {(j, i): w for (i, j), w in SOBEL_X.items()}
BINOMIAL = {-2: 1, -1: 4, 0: 6, 1: 4, 2: 1}


def linear(planes):
    return [lift(lambda v: decode(v / 255), plane) for plane in planes]


def encoded(planes):
    return [lift(lambda v: encode(v) * 255, plane) for plane in planes]


def blur(inputs, _):
    weights = {(i, j): a * b for i, a in BINOMIAL.items() for j, b in BINOMIAL.items()}
    return {"": [lift(lambda v: v / 256, correlate(plane, weights)) for plane in inputs["src"]]}


def unsharp(inputs, p):
    planes = linear(inputs["src"])
    blurred = [gaussian_blur(plane, p["sigma"]) for plane in planes]
    sharp = [lift(lambda v, b: v + p["amount"] * (v - b), plane, b) for plane, b in zip(planes, blurred)]
    return {"": encoded(sharp)}


def sobel(inputs, _):
    grey = lift(luma, *inputs["src"])
    return {"": [lift(lambda x, y: math.hypot(x, y) / 4, correlate(grey, SOBEL_X), correlate(grey, SOBEL_Y))]}


def harris(inputs, p):
    grey = inputs["src"][0]
    gx, gy = correlate(grey, SOBEL_X), correlate(grey, SOBEL_Y)
    ones = {(i, j): 1 for i in (-1, 0, 1) for j in (-1, 0, 1)}

    def summed(a, b):
        return lift(lambda v: v / (9 * 1020 ** 2), correlate(lift(lambda u, v: u * v, a, b), ones))
    a, b, c = summed(gx, gx), summed(gy, gy), summed(gx, gy)
    response = lift(lambda a, b, c: a * b - c * c - p["k"] * (a + b) ** 2, a, b, c)
    width, height = size(grey)

    def corner(x, y):
        here = response[y][x]
        around = max(response[edge(y + j, height)][edge(x + i, width)] for i in (-1, 0, 1) for j in (-1, 0, 1)
                     if (edge(x + i, width), edge(y + j, height)) != (x, y)) if width * height > 1 else -math.inf
        if min(abs(here - around), abs(here - p["threshold"])) < 1e-6:
            return None
        return 255 if here > p["threshold"] and here > around else 0
    return {"corners": [make(width, height, corner)], "response": [response]}


def q16_taps():
    """43 Gaussian taps of sigma 7, times 65536; the rounding error goes to the middle."""
    raw = {i: math.exp(-i * i / 98) for i in range(-21, 22)}
    total = sum(raw.values())
    taps = {i: round(65536 * w / total) for i, w in raw.items()}
    taps[0] += 65536 - sum(taps.values())
    return taps


def sep43(inputs, _):
    taps = q16_taps()

    def shifted(plane):
        return lift(lambda v: (v + 32768) >> 16, plane)
    out = []
    for plane in inputs["src"]:
        tall = shifted(correlate(plane, {(0, j): w for j, w in taps.items()}))
        out.append(shifted(correlate(tall, {(i, 0): w for i, w in taps.items()})))
    return {"": out}


def bokeh(inputs, p):
    """The complex arithmetic as the idea has it: filter with the complex wave along y, then x, then weigh the parts."""
    radius = p["radius"]
    planes = linear(inputs["src"])
    grey = lift(luma, *planes)
    bright = [lift(lambda v, y: v * (1 + p["boost"] * smoothstep(0.6, 1, y)), plane, grey) for plane in planes]
    components = [(0.886528, 5.268909, 0.411259, -0.548794), (1.960518, 1.558213, 0.513282, 4.561110)]
    waves = []
    for a, b, real, imaginary in components:
        line = {}
        for i in range(-radius, radius + 1):
            t = 1.2 * i / radius
            line[i] = math.exp(-a * t * t) * complex(math.cos(b * t * t), math.sin(b * t * t))
        waves.append((line, real, imaginary))
    total = sum(real * (u * v).real + imaginary * (u * v).imag
                for line, real, imaginary in waves for u in line.values() for v in line.values())
    out = []
    for plane, sharp in zip(bright, planes):
        parts = [(correlate_lines(plane, line, line), real, imaginary) for line, real, imaginary in waves]
        blurred = lift(lambda *z: sum(real * v.real + imaginary * v.imag for v, (_, real, imaginary) in zip(z, parts))
                       / total, *(part[0] for part in parts))
        out.append(lift(lambda s, b, d: mix(s, b, d / 255), sharp, blurred, inputs["depth"][0]))
    return {"": encoded(out)}


def down(plane):
    width, height = size(plane)
    taps = {-1: 1 / 8, 0: 3 / 8, 1: 3 / 8, 2: 1 / 8}
    full = correlate_lines(plane, taps, taps)
    return make((width + 1) // 2, (height + 1) // 2, lambda x, y: full[2 * y][2 * x])


def up(plane, width, height):
    """A pixel lies a quarter of a coarse pixel from the nearer coarse centre and three quarters from the next."""
    w, h = size(plane)

    def parts(v):
        return ((v // 2, 0.75), (v // 2 + (1 if v % 2 else -1), 0.25))
    return make(width, height, lambda x, y: sum(wx * wy * plane[edge(j, h)][edge(i, w)]
                                                for j, wy in parts(y) for i, wx in parts(x)))


def pyramid(inputs, _):
    levels = 5

    def laplacian(plane):
        gauss = [plane]
        for _ in range(levels - 1):
            gauss.append(down(gauss[-1]))
        bands = [lift(lambda a, b: a - b, fine, up(coarse, *size(fine))) for fine, coarse in zip(gauss, gauss[1:])]
        return bands + [gauss[-1]]
    masks = [lift(lambda v: v / 255, inputs["mask"][0])]
    for _ in range(levels - 1):
        masks.append(down(masks[-1]))
    out = []
    for left, right in zip(linear(inputs["left"]), linear(inputs["right"])):
        bands = [lift(mix, b, a, m) for a, b, m in zip(laplacian(left), laplacian(right), masks)]
        joined = bands.pop()
        while bands:
            band = bands.pop()
            joined = lift(lambda a, b: a + b, band, up(joined, *size(band)))
        out.append(joined)
    return {"": encoded(out)}


def local_contrast(inputs, p):
    rgb = [lift(lambda v: v / 255, plane) for plane in inputs["src"]]
    y = lift(luma, *rgb)
    n = 2 * p["radius"] + 1
    m = box_blur(y, n)
    variance = lift(lambda s, m: max(s - m * m, 0.0), box_blur(lift(lambda v: v * v, y), n), m)
    slope = lift(lambda v: v / (v + p["edge_contrast"] ** 2), variance)
    offset = lift(lambda m, s: m - s * m, m, slope)
    base = lift(lambda s, o, y: s * y + o, box_blur(slope, n), box_blur(offset, n), y)
    return {"": [lift(lambda v, y, b: (v + (p["amount"] - 1) * (y - b)) * 255, plane, y, base) for plane in rgb]}


def mix_bits(v):
    v = ((v ^ v >> 16) * 0x7feb352d) % 2 ** 32
    v = ((v ^ v >> 15) * 0x846ca68b) % 2 ** 32
    return v ^ v >> 16


def hash_of(x, y, seed):
    return mix_bits((x + mix_bits((y + mix_bits(seed % 2 ** 32)) % 2 ** 32)) % 2 ** 32)


def white_noise(x, y, seed):
    return (hash_of(x, y, seed) >> 8) / 2 ** 24


def film_grain(inputs, p):
    width, height = size(inputs["src"][0])

    def normal(x, y):
        total = sum(hash_of(x, y, p["seed"]).to_bytes(4, "little"))
        return (total - 510) / math.sqrt(4 * (256 ** 2 - 1) / 12)
    line = gaussian(p["size"])
    energy = sum(w * w for w in line.values())     # of one axis: the root of both axes' is this itself
    grain = lift(lambda v: v / energy, correlate_lines(make(width, height, normal), line, line))
    tone = lift(lambda r, g, b: luma(r, g, b) / 255, *inputs["src"])
    return {"": [lift(lambda v, t, n: v + p["strength"] * 4 * t * (1 - t) * n, plane, tone, grain)
                 for plane in inputs["src"]]}


def lens(inputs, p):
    width, height = size(inputs["src"][0])
    cx, cy = (width - 1) / 2, (height - 1) / 2
    corner = max(cx * cx + cy * cy, 0.25)

    def warped(plane):
        def at(x, y):
            return plane[y][x] if 0 <= x < width and 0 <= y < height else 0

        def value(x, y):
            r2 = ((x - cx) ** 2 + (y - cy) ** 2) / corner
            stretch = 1 + p["k1"] * r2 + p["k2"] * r2 * r2
            u, v = cx + (x - cx) * stretch, cy + (y - cy) * stretch
            i, j = math.floor(u), math.floor(v)
            return mix(mix(at(i, j), at(i + 1, j), u - i), mix(at(i, j + 1), at(i + 1, j + 1), u - i), v - j)
        return make(width, height, value)
    return {"": [warped(plane) for plane in inputs["src"]]}


def lut3d(inputs, p):
    """p["colour"](r, g, b) is the table's entry, as the .cube file has it; p["size"] its size."""
    last = p["size"] - 1
    width, height = size(inputs["src"][0])

    def graded(x, y):
        rgb = [plane[y][x] / 255 for plane in inputs["src"]]
        low = [min(int(v * last), last) for v in rgb]
        out = [0.0, 0.0, 0.0]
        for corner in range(8):
            weight, index = 1.0, []
            for axis in range(3):
                far = corner >> axis & 1
                part = rgb[axis] * last - low[axis]
                weight *= part if far else 1 - part
                index.append(min(low[axis] + far, last))
            out = [o + weight * v for o, v in zip(out, p["colour"](*index))]
        return [mix(v, o, p["amount"]) * 255 for v, o in zip(rgb, out)]
    pixels = make(width, height, graded)
    return {"": [lift(lambda pixel, c=c: pixel[c], pixels) for c in range(3)]}


def vignette(inputs, p):
    width, height = size(inputs["src"][0])
    cx, cy = (width - 1) / 2, (height - 1) / 2
    corner = max(math.hypot(cx, cy), 0.5)
    light = make(width, height, lambda x, y: 2 ** (-p["stops"] * smoothstep(p["start"], 1,
                                                                           math.hypot(x - cx, y - cy) / corner)))
    return {"": encoded([lift(lambda v, l: v * l, plane, light) for plane in linear(inputs["src"])])}


def panorama(inputs, p):
    return {"": encoded([gaussian_blur(plane, p["sigma"], border_x=wrap) for plane in linear(inputs["src"])])}


def gradient(_, p):
    width, height = p["width"], p["height"]
    return {"": [make(width, height, lambda x, y: 255 * x / width), make(width, height, lambda x, y: 255 * y / height),
                 make(width, height, lambda x, y: 255 * (x + y) / (width + height))]}
