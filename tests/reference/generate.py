"""Random pipelines: script text, pictures, parameters.

    python3 -m tests.reference.generate [--seed S] [COUNT]     prints pipelines

The same seed gives the same pipelines. A pipeline knows the size of its pictures while it is made, so
that every read, crop and stride is valid for it; the script itself never depends on the size.
"""

import argparse
import random

from .other_stages import OtherStages
from .plan import Deck, INTEGERS, Picture, SIGNED, TYPES, intersect
from .plain_stages import PlainStages
from .window_stages import WindowStages

CONTENTS = ("noise", "noise", "noise", "low", "high", "checker", "small", "ramp")
MOST_OUTPUTS = 4


class Pipeline(WindowStages, PlainStages, OtherStages):
    """One random pipeline under construction and after it."""

    def __init__(self, random, deck, number):
        self.random, self.number = random, number
        self.lines, self.functions, self.pool = [], [], []
        self.inputs, self.arrays, self.params, self.cells, self.plain = [], [], {}, [], []
        self.counter, self.work = 0, 0
        self.strict = self.random.random() < 0.05
        self.special = False
        self.size = self.random_size()
        for _ in range(self.random.choice((1, 1, 2))):
            self.add_input()
        for _ in range(self.random.choice((3, 4, 4))):
            self.window_stage(deck.cell())
            if self.random.random() < 0.35:
                self.plain_stage(*deck.plain_cell())
        self.outputs = self.pick_outputs()

    def random_size(self):
        kind = self.random.random()
        if kind < 0.1:
            return (1, 1)
        if kind < 0.2:
            line = self.random.randint(1, 24)
            return self.random.choice(((1, line), (line, 1)))
        if kind < 0.55:
            return (self.random.randint(1, 9), self.random.randint(1, 9))
        if kind < 0.7:  # around the widths of vectors
            return (self.random.choice((7, 8, 15, 16, 17, 31, 32, 33, 48, 63, 64, 65)), self.random.randint(1, 12))
        if kind < 0.93:
            return (self.random.randint(2, 36), self.random.randint(2, 20))
        return (self.random.randint(20, 70), self.random.randint(10, 50))

    # Values

    def fresh(self, letter="v"):
        self.counter += 1
        return f"{letter}{self.counter}"

    def emit(self, text):
        """Adds a line, sometimes with a hint, which never changes a result."""
        if not text.startswith("for") and "[0] =" not in text and self.random.random() < 0.025:
            text = self.random.choice(("@materialize ", "@inline ", "@tile(16, 8) ", "@tile(4, 3) ")) + text
        self.lines.append("    " + text)

    def add(self, name, base, lanes, domain, taps=1):
        value = Picture(name, base, lanes, domain)
        self.pool.append(value)
        self.work += value.pixels * lanes * taps
        return value

    def add_input(self):
        name = "ab"[len(self.inputs)]
        base = self.random.choice(TYPES)
        lanes = self.random.choice((1, 1, 1, 2, 3, 4))
        width, height = self.size if not self.inputs or self.random.random() < 0.7 else self.random_size()
        contents = self.random.choice(CONTENTS)
        if base in ("f16", "f32") and self.random.random() < 0.25:
            contents = "special"
            self.special = True
        limits = None
        if base in INTEGERS and base != "u32" and self.random.random() < 0.2:
            low = self.random.randint(0, 20) - (20 if base in SIGNED else 0)
            limits = (low, low + self.random.choice((1, 50, 100)))
        picture = Picture(name, base, lanes, [(0, width), (0, height)], source=True)
        picture.contents, picture.limits = contents, limits
        picture.seed = self.random.randrange(2**31)
        self.inputs.append(picture)
        self.pool.append(picture)

    def array_input(self, name, base):
        """An array of 16 elements as an input."""
        array = Picture(name, base, 1, [(0, 16)], source=True)
        array.contents, array.limits, array.seed = "noise", None, self.random.randrange(2**31)
        return array

    def source(self, fits=lambda v: True):
        """A value to work on: mostly the last ones, so that stages form chains."""
        candidates = [v for v in self.pool if fits(v)] or [v for v in self.inputs if fits(v)] or self.inputs
        if self.random.random() < 0.6:
            return candidates[-1]
        return self.random.choice(candidates)

    def as_type(self, value, base):
        """The value in another type, by a conversion that keeps its variety."""
        value.used = True
        if value.base == base:
            return value
        name = self.fresh("c")
        if value.base in INTEGERS and base in INTEGERS:
            convert = f"wrap_{base}({value.name})" if self.random.random() < 0.8 else f"{base}({value.name})"
        elif value.base in INTEGERS:
            convert = f"{base}({value.name} / {self.random.choice((16, 256, 3))})"
        elif base in INTEGERS:
            convert = f"{base}({value.name} * {self.random.choice((1, 16, 100))})"
        else:
            convert = f"{base}({value.name})"
        self.emit(f"{name} = {convert}")
        return self.add(name, base, value.lanes, value.domain)

    def parameter(self, kind, low, high):
        """A run-time parameter with a range; gives (name, value)."""
        name = self.fresh("r" if kind == "i32" else "t")
        if kind == "i32":
            value = self.random.randint(low, high)
            self.params[name] = (kind, str(value), f"{low}..{high}")
        else:
            value = self.random.choice((low, high, round(self.random.uniform(low, high), 3)))
            self.params[name] = (kind, repr(float(value)), f"{float(low)}..{float(high)}")
        return name, value

    # Outputs and text

    def pick_outputs(self):
        """Every value that nothing has used is an output; too many are joined."""
        loose = [v for v in self.pool if not v.used and not v.source]
        while len(loose) > MOST_OUTPUTS:
            first, second = loose.pop(0), loose.pop(0)
            loose.append(self.joined(first, second))
        extra = [v for v in self.pool if v.used and not v.source and v not in loose]
        if extra and len(loose) < MOST_OUTPUTS and self.random.random() < 0.4:
            loose.append(self.random.choice(extra))
        return loose

    def joined(self, first, second):
        """One value from two of any size and type: their common corner, added."""
        domain = [(0, min(a[1], b[1])) for a, b in zip(first.domain, second.domain)]
        parts = []
        for value in (first, second):
            value.used = True
            text = f"origin({value.name})"
            if value.lanes > 1:
                text += ".r"
            parts.append(f"f32({text})" if value.base in ("u32", "f16") else text)
        name = self.fresh("j")
        self.emit(f"{name} = f32({parts[0]}) + {parts[1]}")
        return self.add(name, "f32", 1, domain)

    def overlapping(self, value):
        """Another value that covers part of the same rectangle and has as many components."""
        found = [v for v in self.pool if v is not value and intersect(v.domain, value.domain)
                 and v.lanes in (1, value.lanes)]
        return self.random.choice(found) if found else None

    @property
    def name(self):
        return f"random{self.number}"

    @property
    def script(self):
        params = [f"{p.name}: image {p.type}" + (f" in {p.limits[0]}..{p.limits[1]}" if p.limits else "")
                  for p in self.inputs]
        params += [f"{a.name}: {a.type}[16]" for a in self.arrays]
        params += [f"{name}: {kind} in {limits}" for name, (kind, _, limits) in self.params.items()]
        named = [f"o{k}: image {v.type}" for k, v in enumerate(self.outputs)]
        results = f"({', '.join(named)})" if len(named) > 1 else f"image {self.outputs[0].type}"
        head = f"pipe {self.name}({', '.join(params)}) -> {results}"
        back = "    return " + ", ".join(v.name for v in self.outputs)
        strict = ["@strict"] if self.strict else []
        return "\n".join(self.functions + strict + [head + " {"] + self.lines + [back, "}"]) + "\n"

    @property
    def output_names(self):
        return [f"o{k}" for k in range(len(self.outputs))]


# Pictures

def pixel_values(picture):
    """The components of an input picture, one list per component."""
    source = random.Random(picture.seed)
    (_, width), (_, height) = picture.domain if len(picture.domain) == 2 else picture.domain + [(0, 1)]
    low, high = limits_of(picture.base)
    planes = []
    for lane in range(picture.lanes):
        def value(x, y):
            if picture.contents == "low":
                return low
            if picture.contents == "high":
                return high
            if picture.contents == "checker":
                return (low, high)[(x + y) & 1]
            if picture.contents == "ramp":
                return clamped(low + x * 3 + y * 7 + lane, low, high)
            if picture.contents == "small":
                return clamped(source.randint(-3, 9), low, high)
            if picture.contents == "special" and source.random() < 0.1:
                return source.choice((float("nan"), float("inf"), float("-inf"), -0.0, 1e-40, high * 1e4))
            return source.randint(low, high) if isinstance(low, int) else round(source.uniform(low, high), 4)
        planes.append([value(x, y) for y in range(height) for x in range(width)])
    if picture.base in ("f16", "f32"):
        planes = [[float(v) for v in plane] for plane in planes]
    return planes


def clamped(value, low, high):
    return min(max(value, low), high)


def limits_of(base):
    if base in ("f16", "f32"):
        return (-4.0, 4.0)
    bits = int(base[1:])
    return (-2**(bits - 1), 2**(bits - 1) - 1) if base in SIGNED else (0, 2**bits - 1)


def pipelines(count, seed):
    """`count` random pipelines."""
    deck = Deck(random.Random(seed))
    for number in range(count):
        yield Pipeline(random.Random(f"{seed} {number}"), deck, number)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("count", type=int, nargs="?", default=3)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    for pipeline in pipelines(options.count, options.seed):
        print(f"# size {pipeline.size}, parameters {pipeline.params}\n{pipeline.script}")


if __name__ == "__main__":
    main()
