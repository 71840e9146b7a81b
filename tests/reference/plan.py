"""What a random pipeline is made of: values with their rectangles, and the cells that a run has to cover.

A cell is one combination of window operation, border, type, off-centre window, two consumers and stride.
Pipelines take their cells from one shuffled deck, so that a run of the suite fills every one.
"""

import itertools

WINDOW_OPS = ("conv", "sum", "where", "minmax", "median", "gather")
BORDERS = ("none", "edge", "reflect", "reflect101", "wrap", "zero", "constant", "custom", "mixed")
TYPES = ("u8", "i8", "u16", "i16", "i32", "u32", "f16", "f32")
PLAIN_OPS = ("point", "table", "crop", "paste", "concat", "origin", "sized pad", "resample", "flip", "pixel", "halves", "list",
             "function", "arg", "mean", "whole", "kernel function", "dilated", "run time kernel", "volume", "line",
             "array", "pipe", "border picture", "rates", "far", "coordinates", "mirror")
INTEGERS = TYPES[:6]
SIGNED = ("i8", "i16", "i32")


class Picture:
    """A value of a pipeline: its name in the script, its type and the rectangle it covers."""

    def __init__(self, name, base, lanes, domain, source=False):
        self.name, self.base, self.lanes = name, base, lanes
        self.domain = domain  # (start, extent) for x and y
        self.source = source
        self.used = False

    @property
    def type(self):
        return self.base if self.lanes == 1 else f"{self.base}x{self.lanes}"

    @property
    def pixels(self):
        return self.domain[0][1] * self.domain[1][1]


def intersect(a, b):
    """The intersection of two rectangles, or None."""
    result = []
    for (s, e), (t, f) in zip(a, b):
        start, end = max(s, t), min(s + e, t + f)
        if end <= start:
            return None
        result.append((start, end - start))
    return result


def cells():
    """Every cell that makes sense."""
    return list(itertools.product(WINDOW_OPS, BORDERS, TYPES, (False, True), (False, True), (False, True)))


class Coverage:
    """Counts cells, and plain operations by type."""

    def __init__(self):
        self.counts = {cell: 0 for cell in cells()}
        self.plain = {(op, base): 0 for op in PLAIN_OPS for base in TYPES}

    def add(self, pipeline):
        for cell in pipeline.cells:
            self.counts[cell] += 1
        for cell in pipeline.plain:
            self.plain[cell] += 1

    def missing(self):
        return [c for c, n in self.counts.items() if not n] + [c for c, n in self.plain.items() if not n]

    def table(self):
        """Text: per operation and border the stages run, and how many of the 64 combinations of type,
        off-centre window, two consumers and stride they cover."""
        lines = ["stages by operation and border (combinations of type, off-centre, two consumers, stride; of 64)",
                 f"{'':10}" + "".join(f"{b:>12}" for b in BORDERS)]
        for op in WINDOW_OPS:
            row = []
            for border in BORDERS:
                counts = [n for c, n in self.counts.items() if c[0] == op and c[1] == border]
                row.append(f"{sum(counts)} ({sum(n > 0 for n in counts)})")
            lines.append(f"{op:10}" + "".join(f"{word:>12}" for word in row))
        lines += ["", "other operations by type", f"{'':16}" + "".join(f"{t:>7}" for t in TYPES)]
        for op in PLAIN_OPS:
            lines.append(f"{op:16}" + "".join(f"{self.plain[op, base]:>7}" for base in TYPES))
        return "\n".join(lines)


class Deck:
    """The cells in random order, dealt round and round; plain operations likewise."""

    def __init__(self, random):
        self.random, self.cells, self.plain = random, [], []

    def cell(self):
        if not self.cells:
            self.cells = cells()
            self.random.shuffle(self.cells)
        return self.cells.pop()

    def plain_cell(self):
        if not self.plain:
            self.plain = [(op, base) for op in PLAIN_OPS for base in TYPES]
            self.random.shuffle(self.plain)
        return self.plain.pop()
