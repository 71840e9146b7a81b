"""Reductions: one accumulator per kind, fed with whole lists, one element of the reduction at a time.

An accumulator gets `add(value, mask, position)`: the body's value for one setting of the binders, a
list of bools (or None) saying where `where` holds, and the binders' values.
"""

import operator

from . import arithmetic as a
from .errors import PipeError
from .values import Type, Value, select

CHUNK_ROWS, LANES = 64, 16


class Accumulator:
    """Totals by component, started by the first element."""

    def __init__(self, value_type, node):
        self.node = node
        self.type = value_type
        self.totals = self.start()

    def start(self):
        return [self.identity()] * self.type.lanes

    def add(self, value, mask, position):
        for k, comp in enumerate(value.comps):
            new = self.step(self.totals[k], comp)
            self.totals[k] = new if mask is None else select(mask, new, self.totals[k])

    def result(self):
        return Value(self.type, self.totals)


class Sum(Accumulator):
    """Sum in the promoted type. Nothing is contracted: the `+` is not written."""

    def __init__(self, value_type, node):
        self.source = value_type.base
        super().__init__(Type(a.promoted(value_type.base), value_type.lanes), node)

    def identity(self):
        return 0.0 if self.type.base == "f32" else 0

    def step(self, total, comp):
        return a.arithmetic(operator.add, self.type.base, total, a.convert(comp, self.source, self.type.base))


class Product(Sum):
    def identity(self):
        return 1.0 if self.type.base == "f32" else 1

    def step(self, total, comp):
        return a.arithmetic(operator.mul, self.type.base, total, a.convert(comp, self.source, self.type.base))


def cleaned(comp, identity):
    """An element of an f32 min or max: NaN is the identity, -0 is +0."""
    return a.apply(lambda v: identity if v != v else 0.0 if v == 0 else v, comp)


class Extreme(Accumulator):
    def step(self, total, comp):
        if self.type.base in a.FLOATS:
            comp = cleaned(comp, self.identity())
        return a.apply(self.pick, total, comp)


class Smallest(Extreme):
    pick = staticmethod(min)

    def identity(self):
        return a.highest(self.type.base)


class Largest(Extreme):
    pick = staticmethod(max)

    def identity(self):
        return a.lowest(self.type.base)


class Every(Accumulator):
    pick = staticmethod(lambda x, y: x and y)

    def identity(self):
        return True

    def step(self, total, comp):
        if self.type.base != "bool":
            raise PipeError(f"{self.node.name} wants bool", self.node)
        return a.apply(self.pick, total, comp)


class Some(Every):
    pick = staticmethod(lambda x, y: x or y)

    def identity(self):
        return False


class Count(Accumulator):
    """How many elements there are, or for a bool body how many are true."""

    def __init__(self, value_type, node):
        self.source = value_type.base
        super().__init__(Type("i32", value_type.lanes if self.source == "bool" else 1), node)

    def identity(self):
        return 0

    def add(self, value, mask, position):
        for k in range(self.type.lanes):
            one = a.apply(int, value.comps[k]) if self.source == "bool" else 1
            new = a.apply(operator.add, self.totals[k], one)
            self.totals[k] = new if mask is None else select(mask, new, self.totals[k])


class Mean(Accumulator):
    """The total, of integers without wrapping, divided by the number of elements."""

    def __init__(self, value_type, node):
        self.source = value_type.base
        super().__init__(Type("f32", value_type.lanes), node)
        self.count = 0

    def identity(self):
        return 0.0 if self.source in a.FLOATS else 0

    def step(self, total, comp):
        new = a.apply(operator.add, total, comp)
        return a.settle(new, "f32") if self.source in a.FLOATS else new

    def add(self, value, mask, position):
        super().add(value, mask, position)
        self.count = a.apply(operator.add, self.count, 1 if mask is None else a.apply(int, mask))

    def result(self):
        def divided(total, count):
            return 0.0 if count == 0 else a.f32(a.f32(total) / count)
        return Value(self.type, [a.apply(divided, t, self.count) for t in self.totals])


class Median(Accumulator):
    """Gathers all elements; the lower middle one. NaN sorts last."""

    def __init__(self, value_type, node):
        super().__init__(value_type, node)
        self.elements = [[] for _ in range(value_type.lanes)]

    def identity(self):
        return 0.0 if self.type.base in a.FLOATS else 0

    def add(self, value, mask, position):
        for gathered, comp in zip(self.elements, value.comps):
            if self.type.base in a.FLOATS:
                comp = cleaned(comp, a.NAN)
            gathered.append(comp if mask is None else select(mask, comp, None))

    def result(self):
        def middle(*values):
            present = sorted((v for v in values if v is not None), key=lambda v: (v != v, v))
            return present[(len(present) - 1) // 2] if present else self.identity()
        return Value(self.type, [a.apply(middle, *g) if g else self.identity() for g in self.elements])


class Position(Accumulator):
    """The binders' values at the first smallest or largest element."""

    def __init__(self, value_type, node):
        if value_type.lanes != 1:
            raise PipeError(f"{node.name} wants one component", node)
        self.source = value_type.base
        super().__init__(value_type, node)
        self.best, self.found = None, None

    def identity(self):
        return 0

    def add(self, value, mask, position):
        comp = value.comps[0]
        if self.source in a.FLOATS:
            comp = cleaned(comp, self.worst(self.source))
        if self.best is None:
            self.best, self.found = None, [0] * len(position)
        allowed = True if mask is None else mask
        better = a.apply(lambda new, old, may: may and (old is None or self.beats(new, old)), comp, self.best,
                         allowed)
        self.best = select(better, comp, self.best)
        self.found = [select(better, p, old) for p, old in zip(position, self.found)]

    def result(self):
        found = self.found or [0] * len(self.node.names)
        return Value(Type("i32", len(found)), found)


class Lowest(Position):
    worst = staticmethod(a.highest)
    beats = staticmethod(operator.lt)


class Highest(Position):
    worst = staticmethod(a.lowest)
    beats = staticmethod(operator.gt)


KINDS = {"sum": Sum, "prod": Product, "min": Smallest, "max": Largest, "argmin": Lowest, "argmax": Highest,
         "any": Some, "all": Every, "count": Count, "mean": Mean, "median": Median}


def plus(x, y):
    return a.arithmetic(operator.add, "f32", x, y)


class PictureLine:
    """The f32 sum of one component over a whole picture: 16 lanes per row added 8-4-2-1, rows in order
    within chunks of 64, chunks pairwise."""

    def __init__(self, width):
        self.width, self.rows, self.lanes, self.column = width, [], [0.0] * LANES, 0

    def add(self, value, mask=None):
        """Adds an element; None is one that `where` leaves out, which still takes its place."""
        lane = self.column % LANES
        if value is not None:
            total = plus(self.lanes[lane], value)
            self.lanes[lane] = total if mask is None else select(mask, total, self.lanes[lane])
        self.column += 1
        if self.column == self.width:
            lanes, half = self.lanes, LANES // 2
            while half:
                lanes = [plus(lanes[k], lanes[k + half]) for k in range(half)]
                half //= 2
            self.rows.append(lanes[0])
            self.lanes, self.column = [0.0] * LANES, 0

    def result(self):
        chunks = []
        for first in range(0, len(self.rows), CHUNK_ROWS):
            total = 0.0
            for row in self.rows[first:first + CHUNK_ROWS]:
                total = plus(total, row)
            chunks.append(total)
        while len(chunks) > 1:
            paired = [plus(x, y) for x, y in zip(chunks[::2], chunks[1::2])]
            chunks = paired + chunks[len(chunks) & ~1:]
        return chunks[0] if chunks else 0.0


class PictureSum:
    """The f32 sum or mean over a whole picture, component by component."""

    def __init__(self, width, lanes, mean):
        self.lines = [PictureLine(width) for _ in range(lanes)]
        self.mean, self.count = mean, 0

    def leave_out(self):
        for line in self.lines:
            line.add(None)

    def add(self, value, mask, position):
        for k, line in enumerate(self.lines):
            line.add(value.comps[k], mask)
        self.count = a.apply(operator.add, self.count, 1 if mask is None else a.apply(int, mask))

    def result(self):
        totals = [line.result() for line in self.lines]
        if self.mean:
            totals = [a.apply(lambda t, n: a.f32(t / n) if n else 0.0, t, self.count) for t in totals]
        return Value(Type("f32", len(totals)), totals)
