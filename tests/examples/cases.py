"""The cases of the examples: pictures, parameters and tolerances."""
import os
import random

import filters
from compare import Case
from files import write_cube
from scene import scene

EXAMPLES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "examples")
SIZES = [(61, 43), (16, 16), (5, 7), (1, 1), (1, 9), (130, 3)]


def picture(width, height, components, seed):
    """A smooth ramp with noise and a few bright and dark rectangles, so that edges, flats and texture all occur."""
    source = random.Random(seed)
    planes = []
    for c in range(components):
        plane = [[int(20 + 150 * (x + y + 13 * c) / (width + height + 13 * components)) + source.randrange(40)
                  for x in range(width)] for y in range(height)]
        planes.append(plane)
    for _ in range(4):
        x0, y0 = source.randrange(width), source.randrange(height)
        colour = [source.choice((0, 255, source.randrange(256))) for _ in range(components)]
        for y in range(y0, min(height, y0 + 1 + height // 4)):
            for x in range(x0, min(width, x0 + 1 + width // 4)):
                for c in range(components):
                    planes[c][y][x] = colour[c]
    return planes


def look(r, g, b):
    """The colour of entry (r, g, b) of the test's 5 x 5 x 5 table: a bend of each axis and some mixing."""
    def bend(v, power):
        return round((v / 4) ** power, 6)
    return bend(r, 0.8), round((bend(g, 1.1) + bend(b, 1.0)) / 2, 6), bend(b, 1.3)


def example(name, expected, width, height, params=None, tolerance=0.0, pictures=None, extra=None, outputs=None):
    pictures = pictures or {"src": 3}
    inputs = {key: picture(width, height, components, f"{name} {key} {width}x{height}")
              for key, components in pictures.items()}
    return Case(os.path.join(EXAMPLES, f"{name}.pipe"), expected, inputs, params, tolerance, extra=extra,
                outputs=outputs, name=f"{name} {width}x{height} {params or ''}".strip())


def small_radius(width, height):
    """The slow reference affords long filters on small pictures only; a long one there is the harder case anyway."""
    return 9 if width * height < 200 else 5


def cases(folder):
    cube = os.path.join(folder, "look.cube")
    write_cube(cube, 5, look)
    table = {"words": [f"lut={cube}"], "only_expected": ("size",)}
    for width, height in SIZES:
        yield example("blur", filters.blur, width, height)
        yield example("sep43", filters.sep43, width, height)
        yield example("unsharp", filters.unsharp, width, height, {"sigma": 1.5, "amount": 0.8}, 0.01)
        yield example("unsharp", filters.unsharp, width, height, {"sigma": 0.6, "amount": 3.0}, 0.02)
        yield example("sobel", filters.sobel, width, height, tolerance=0.001, outputs={"": "pgm"})
        yield example("harris", filters.harris, width, height, {"k": 0.05, "threshold": 0.002}, 2e-6, {"src": 1},
                      outputs={"corners": "pgm", "response": "pfm"})
        yield example("bokeh", filters.bokeh, width, height, {"radius": small_radius(width, height), "boost": 4.0}, 0.02,
                      {"src": 3, "depth": 1})
        yield example("pyramid", filters.pyramid, width, height, {}, 0.02, {"left": 3, "right": 3, "mask": 1})
        yield example("local_contrast", filters.local_contrast, width, height,
                      {"radius": 4, "amount": 2.0, "edge_contrast": 0.1}, 0.05)
        yield example("film_grain", filters.film_grain, width, height, {"strength": 12.0, "size": 0.7, "seed": 5}, 0.01)
        yield example("lens", filters.lens, width, height, {"k1": -0.1, "k2": 0.02}, 0.02)
        yield example("lens", filters.lens, width, height, {"k1": 0.3, "k2": 0.1}, 0.02)
        yield example("lut3d", filters.lut3d, width, height, {"amount": 0.75, "size": 5, "colour": look}, 0.01,
                      extra=table)
        yield example("vignette", filters.vignette, width, height, {"stops": 1.5, "start": 0.3}, 0.01)
        yield example("panorama", filters.panorama, width, height, {"sigma": 2.0}, 0.01)
    gradient = os.path.join(EXAMPLES, "gradient.pipe")
    for width, height in SIZES:
        yield Case(gradient, filters.gradient, params={"width": width, "height": height}, tolerance=0.001,
                   name=f"gradient {width}x{height}")
    yield Case(os.path.join(EXAMPLES, "scene.pipe"), scene, params={"width": 120, "height": 80, "seed": 7}, tolerance=0.5,
               outputs={"picture": "ppm", "depth": "pgm"})
