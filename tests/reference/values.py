"""Values: types, pixels, fields of pixels, images over a rectangle, and their borders."""

from collections import namedtuple

from .arithmetic import FLOATS, INTEGERS, SCALARS, apply, common, convert, is_list
from .errors import PipeError

OUTSIDE = None  # what an axis map gives where the border supplies a value


class Type(namedtuple("Type", "base lanes")):
    """A scalar (one lane) or pixel type."""

    def __str__(self):
        return self.base if self.lanes == 1 else f"{self.base}x{self.lanes}"


def type_named(name, node=None):
    """The type that a word such as `u8` or `f32x3` names; None if it names none."""
    base, _, lanes = name.partition("x")
    if base in SCALARS and not lanes:
        return Type(base, 1)
    if base in SCALARS and lanes in ("2", "3", "4"):
        return Type(base, int(lanes))
    return None


class Value:
    """A scalar or pixel. Each component is a number, or a list with one element per point of the
    definition that is being evaluated. `form` tells how an index depends on the coordinates,
    `bounds` what an integer is known to lie in, `inexact` how far another evaluator's result may lie
    (see operators.doubt)."""

    __slots__ = ("type", "comps", "const", "literal", "form", "bounds", "inexact")

    def __init__(self, type, comps, const=False, literal=False, form=None, bounds=None, inexact=0):
        self.type, self.comps, self.const, self.literal = type, comps, const, literal
        self.form, self.bounds, self.inexact = form, bounds, inexact

    @property
    def uniform(self):
        return not any(map(is_list, self.comps))

    @property
    def number(self):
        """The value of a uniform scalar."""
        return self.comps[0]

    def lane(self, index):
        """A component; a scalar spreads over components."""
        return self.comps[0] if self.type.lanes == 1 else self.comps[index]

    def converted(self, base):
        if base == self.type.base:
            return self
        comps = [convert(c, self.type.base, base) for c in self.comps]
        keep = base in INTEGERS and self.type.base in INTEGERS
        return Value(Type(base, self.type.lanes), comps, self.const, False, self.form if keep else None,
                     self.bounds if keep else None, self.inexact)


def integer(value, const=False, literal=False):
    return Value(Type("i32", 1), [value], const, literal)


def range_of(value):
    """The range an integer is known to lie in."""
    if value.bounds:
        return value.bounds
    if value.type.base == "bool":
        return (0, 1)
    if value.type.base not in INTEGERS:
        return None
    if value.uniform and value.type.lanes == 1:
        return (value.number, value.number)
    return INTEGERS[value.type.base] if value.type.base not in ("i32", "u32") else None


# Axis maps: index to index inside 0..n-1

def edge(i, n):
    return min(max(i, 0), n - 1)


def reflect(i, n):
    m = i % (2 * n)
    return m if m < n else 2 * n - 1 - m


def reflect101(i, n):
    if n == 1:
        return 0
    m = i % (2 * (n - 1))
    return m if m < n else 2 * (n - 1) - m


def wrap_around(i, n):
    return i % n


AXIS_MAPS = {"edge": edge, "replicate": edge, "clamp": edge, "reflect": reflect, "symmetric": reflect,
             "reflect101": reflect101, "wrap": wrap_around}


class Border:
    """How one axis answers reads outside: an axis map, or a value supplied by `supply`
    (coordinate lists of the outside points to components)."""

    def __init__(self, axis_map=None, supply=None):
        self.axis_map = axis_map
        self.supply = supply


class Image:
    """Pixels over a rectangle: `domain` has (start, extent) per dimension, `planes` one flat list per
    component with x fastest, `borders` a Border or None per dimension."""

    def __init__(self, domain, type, planes, borders=None, const=False, inexact=0):
        self.domain = [tuple(d) for d in domain]
        self.type, self.planes = type, planes
        self.borders = borders or [None] * len(self.domain)
        self.const, self.inexact = const, inexact

    @property
    def rank(self):
        return len(self.domain)

    @property
    def padded(self):
        return any(self.borders)

    @property
    def size(self):
        return count_of(self.domain)

    def bare(self, **changes):
        """The same pixels without a pad."""
        fields = dict(domain=self.domain, type=self.type, planes=self.planes, const=self.const,
                      inexact=self.inexact)
        fields.update(changes)
        return Image(**fields)

    def converted(self, base):
        planes = [convert(p, self.type.base, base) for p in self.planes]
        return Image(self.domain, Type(base, self.type.lanes), planes, self.borders, self.const, self.inexact)

    def mapped(self, indices, axis, node):
        """Offsets from the start of an axis; OUTSIDE where its border supplies a value."""
        start, extent = self.domain[axis]
        if not indices:
            return indices
        low, high = min(indices), max(indices)
        if low >= start and high < start + extent:
            return [i - start for i in indices] if start else indices
        border = self.borders[axis]
        if border is None:
            worst = low if low < start else high
            raise PipeError(f"a read at {worst} on axis {axis} is outside {start}..{start + extent - 1}",
                            node, "size")
        if border.axis_map is None:
            return [i - start if start <= i < start + extent else OUTSIDE for i in indices]
        if extent == 0:
            raise PipeError("a border of an empty image", node, "size")
        table = {i: border.axis_map(i - start, extent) for i in set(indices)}
        return [table[i] for i in indices]

    def fetch(self, indices, node=None):
        """Components at points given as one coordinate list per dimension."""
        offsets, outside = [0] * len(indices[0]), {}
        stride = 1
        for axis, coordinates in enumerate(indices):
            column = self.mapped(coordinates, axis, node)
            if OUTSIDE in column:
                for point, index in enumerate(column):
                    if index is OUTSIDE:
                        outside.setdefault(point, axis)
                column = [0 if index is OUTSIDE else index for index in column]
            if stride == 1:
                offsets = column
            else:
                offsets = [o + stride * c for o, c in zip(offsets, column)]
            stride *= self.domain[axis][1]
        if not outside:
            return [[plane[o] for o in offsets] for plane in self.planes]
        return self.fetch_with_supplied(indices, offsets, outside)

    def fetch_with_supplied(self, indices, offsets, outside):
        filler = [0.0 if self.type.base in FLOATS else 0]
        planes = [plane or filler for plane in self.planes]
        result = [[plane[0 if p in outside else o] for p, o in enumerate(offsets)] for plane in planes]
        for axis in set(outside.values()):
            points = [p for p, first in outside.items() if first == axis]
            supplied = self.borders[axis].supply([[c[p] for p in points] for c in indices])
            for plane, column in zip(result, supplied):
                for position, p in enumerate(points):
                    plane[p] = column[position] if is_list(column) else column
        return result


def count_of(domain):
    total = 1
    for _, extent in domain:
        total *= extent
    return total


def coordinates_of(domain):
    """One list per dimension with the coordinate of every point, x fastest."""
    total, repeat, lists = count_of(domain), 1, []
    for start, extent in domain:
        line = [v for v in range(start, start + extent) for _ in range(repeat)]
        repeat *= extent
        lists.append(line * (total // repeat) if repeat else [])
    return lists


def intersection(domains, node):
    """The intersection of rectangles of equal rank; an empty one has extent 0."""
    if len({len(d) for d in domains}) > 1:
        raise PipeError("images of different rank are combined", node)
    result = []
    for axis in zip(*domains):
        start = max(s for s, _ in axis)
        result.append((start, max(0, min(s + e for s, e in axis) - start)))
    return result


def as_field(image, domain):
    """The pixels of an image over a rectangle inside its domain, as a Value."""
    planes = image.planes
    if list(domain) != image.domain:
        planes = image.fetch(coordinates_of(domain))
    return Value(image.type, planes, image.const, inexact=image.inexact)


def as_image(value, domain, const=None):
    """A field over a rectangle as an image."""
    count = count_of(domain)
    planes = [c if is_list(c) else [c] * count for c in value.comps]
    return Image(domain, value.type, planes, const=value.const if const is None else const,
                 inexact=value.inexact)


def fits(literal, base):
    """Whether a literal's values lie in an integer type; a float type takes any."""
    if base in INTEGERS:
        return all(INTEGERS[base][0] <= c <= INTEGERS[base][1] for c in literal.comps)
    return base in FLOATS


def common_type(values, node, selecting=True):
    """The common type of values. Integer literals take the others' type where they fit."""
    literals = [v for v in values if v.literal and v.type.base in INTEGERS]
    others = [v for v in values if v not in literals] or literals
    base = others[0].type.base
    for value in others[1:] + [v for v in literals if v not in others]:
        if value in literals and fits(value, base) and (selecting or base == "u32"):
            continue
        joined = common(base, value.type.base)
        if joined is None:
            raise PipeError(f"{base} and {value.type.base} have no common type: write i32(...) or u32(...)", node)
        base = joined
    return base


def lanes_of(values, node):
    """The number of components of a result; scalars spread."""
    lanes = {v.type.lanes for v in values} - {1}
    if len(lanes) > 1:
        raise PipeError(f"pixels of {sorted(lanes)} components are combined", node)
    return lanes.pop() if lanes else 1


def by_lane(function, values, node):
    """Calls `function` once per component of the result with that component of each value."""
    return [function(*[v.lane(i) for v in values]) for i in range(lanes_of(values, node))]


def select(condition, then, other):
    return apply(lambda c, a, b: a if c else b, condition, then, other)
