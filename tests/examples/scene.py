"""The painted scene of examples/scene.pipe, in double precision."""
import colorsys
import math

from filters import white_noise
from grid import clamp, encode, lift, make, mix, smoothstep


def blend(a, b, t):
    return [mix(u, v, t) for u, v in zip(a, b)]


def disk(u, v, radius):
    return 1 - smoothstep(radius - 0.5, radius + 0.5, math.hypot(u, v))


def hills(u):
    return 158 + 14 * math.sin(u / 41) + 6 * math.sin(u / 17 + 1)


def lamp(u, v, seed):
    column, row = math.floor(u / 15), math.floor(v / 15)
    noise = [white_noise(column % 2 ** 32, row, seed + k) for k in range(6)]
    if noise[5] < 0.33:
        return [0.0, 0.0, 0.0]
    brightness = disk(u - 15 * column - 4 - 7 * noise[0], v - 15 * row - 4 - 7 * noise[1], 1 + 1.5 * noise[2])
    return [brightness * c for c in colorsys.hsv_to_rgb(0.55 * noise[3] * noise[4], 0.75, 1.0)]


def half_even(v):
    return round(v)


def table(u, v):
    plank = 400 * u / (v - 180) / 90
    seam = smoothstep(0.02, 0.05, abs(plank - half_even(plank)))
    tone = 0.6 + 0.4 * white_noise(half_even(plank + 0.5) % 2 ** 32, 3, 11)
    light = tone * (0.3 + 0.7 * seam) * smoothstep(200, 330, v)
    return [0.20 * light, 0.085 * light, 0.035 * light]


def ball(u, v):
    w = math.sqrt(max(1 - u * u - v * v, 0))
    shade = max(0.5 * u - 0.55 * v + 0.67 * w, 0)
    stripe = smoothstep(-0.05, 0.05, math.sin(8 * (math.atan2(u, w) + 0.4 * v)))
    gloss = max(0.28 * u - 0.31 * v + 0.91 * w, 0) ** 60
    return [c * (0.06 + shade) + gloss for c in blend((0.75, 0.05, 0.04), (0.85, 0.80, 0.70), stripe)]


def paint(u, v, seed):
    colour = blend((0.01, 0.02, 0.09), (0.60, 0.22, 0.10), smoothstep(20, 200, v))
    colour = blend(colour, (1.0, 0.95, 0.8), disk(u - 130, v - 56, 17))
    colour = blend(colour, (0.02, 0.015, 0.03), smoothstep(-0.5, 0.5, v - hills(u)))
    lit = smoothstep(0, 8, v - hills(u))
    colour = [c + l * lit for c, l in zip(colour, lamp(u, v, seed))]
    if v > 247:
        colour = blend(colour, table(u, v), smoothstep(-0.5, 0.5, v - 248))
    return blend(colour, ball(u / 62, (v - 220) / 62), disk(u, v - 220, 62))


def scene(_, p):
    width, height = p["width"], p["height"]
    unit = 320 / height

    def place(x, y):
        return (x + 0.5 - width / 2) * unit, (y + 0.5) * unit

    def depth(x, y):
        u, v = place(x, y)
        behind = 1.0 if v < 248 else 1 - smoothstep(248, 300, v)
        return behind * (1 - disk(u, v - 220, 62)) * 255
    light = make(width, height, lambda x, y: paint(*place(x, y), p["seed"]))
    return {"picture": [lift(lambda pixel, c=c: encode(clamp(pixel[c], 0.0, 4.0)) * 255, light) for c in range(3)],
            "depth": [make(width, height, depth)]}
