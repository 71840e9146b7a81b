"""Domain inference: how an index depends on the coordinates, and what a read asks of them.

An index is followed symbolically as scale * base + rest, where base is a coordinate, a floor division
of such a form by a constant, or nothing. `bound` is the part that comes from reduction variables, and
`spread` the range of data-dependent terms and of other coordinates; `beside` says that there is another
coordinate.
"""

from .errors import PipeError
from .values import range_of


class Division:
    """The base `form // divisor`, with divisor > 0."""

    def __init__(self, form, divisor):
        self.form, self.divisor = form, divisor

    def __eq__(self, other):
        return self is other


class Form:
    """scale * base + rest + bound + something within spread (None: unknown)."""

    def __init__(self, base=None, scale=0, rest=0, bound=0, spread=(0, 0), beside=False):
        self.base, self.scale, self.rest, self.bound = base, scale, rest, bound
        self.spread, self.beside = spread, beside

    def scaled(self, factor):
        base = self.base if factor else None
        return Form(base, self.scale * factor if base else 0, self.rest * factor, self.bound * factor,
                    scale_range(self.spread, factor), self.beside)


class Coordinate:
    """A dimension of the definition that is being evaluated; `range` when the script gives one, `fixed` when
    that is constant."""

    def __init__(self, name, range=None, fixed=False):
        self.name, self.range, self.fixed = name, range, fixed


def form_of(value):
    """The form of a value: what it was built with, a constant, or a data-dependent term."""
    if value.form:
        return value.form
    if value.uniform:
        return Form(rest=value.number if isinstance(value.number, int) else 0)
    return Form(spread=range_of(value))


def whole_range(form):
    """The range of a form over everything that is known; None if a coordinate without range is in it."""
    spread = form.spread
    if form.base is not None:
        spread = add_ranges(spread, scale_range(base_range(form.base), form.scale))
    return spread and (spread[0] + form.rest + form.bound, spread[1] + form.rest + form.bound)


def base_range(base):
    if isinstance(base, Coordinate):
        return base.range
    inner = whole_range(base.form)
    return inner and (inner[0] // base.divisor, inner[1] // base.divisor)


def scale_range(span, factor):
    return span and tuple(sorted(factor * s for s in span))


def add_ranges(a, b):
    return (a[0] + b[0], a[1] + b[1]) if a and b else None


def add_forms(a, b):
    spread = add_ranges(a.spread, b.spread)
    rest, bound, beside = a.rest + b.rest, a.bound + b.bound, a.beside or b.beside
    if a.base is None or b.base is None or a.base == b.base:
        base, scale = (a.base or b.base), a.scale + b.scale
        return Form(base if scale else None, scale, rest, bound, spread, beside)
    # Beside another coordinate: one that has a range of its own becomes part of the spread.
    keep, fold = (b, a) if base_range(a.base) else (a, b)
    folded = scale_range(base_range(fold.base), fold.scale)
    if base_range(keep.base):
        both = add_ranges(folded, scale_range(base_range(keep.base), keep.scale))
        return Form(None, 0, rest, bound, add_ranges(spread, both), True)
    return Form(keep.base if folded else None, keep.scale if folded else 0, rest, bound,
                add_ranges(spread, folded), True)


def combine(operator, left, right):
    """The form of `left operator right` for integers; None when it is not of the shape."""
    a, b = form_of(left), form_of(right)
    if operator == "+":
        return add_forms(a, b)
    if operator == "-":
        return add_forms(a, b.scaled(-1))
    if operator == "*":
        if right.uniform and isinstance(right.number, int):
            return scaled_by(a, right)
        if left.uniform and isinstance(left.number, int):
            return scaled_by(b, left)
    if operator == "//" and right.uniform and isinstance(right.number, int) and right.number > 0:
        return Form(Division(a, right.number), 1) if a.base is not None else None
    return None


def scaled_by(form, value):
    """A form times a constant; a product with a reduction variable belongs to the reduction."""
    if form.base is None and value.form and value.form.bound:
        return Form(bound=(form.rest + form.bound) * value.number)
    return form.scaled(value.number)


# What a read asks

def asked(form, low, high, padded):
    """What a read with this index, of an image that covers low..high, asks of a coordinate:
    (coordinate, lowest, highest), or None if it asks nothing."""
    if form.base is None or form.scale == 0:
        return None
    if padded and form.beside:
        return None
    negative = is_negative(form)
    while True:
        if not padded:
            if form.spread is None:
                return "unknown"
            low -= form.rest + form.bound + form.spread[0]
            high -= form.rest + form.bound + form.spread[1]
        elif negative:
            low, high = low - form.rest, high - form.rest
        if form.scale > 0:
            low, high = -(-low // form.scale), high // form.scale
        else:
            low, high = -(high // -form.scale), -low // -form.scale
        if isinstance(form.base, Coordinate):
            return form.base, low, high
        low, high = low * form.base.divisor, high * form.base.divisor + form.base.divisor - 1
        form = form.base.form
        if form.base is None:
            return None


def is_negative(form):
    negative = form.scale < 0
    while isinstance(form.base, Division):
        form = form.base.form
        negative ^= form.scale < 0
    return negative


def infer(coordinates, reads):
    """The ranges of the coordinates without one, from the reads: (image, index values, node)."""
    limits = {}
    for image, indices, node in reads:
        for axis, index in enumerate(indices):
            start, extent = image.domain[axis]
            padded = image.borders[axis] is not None
            answer = asked(form_of(index), start, start + extent - 1, padded)
            if answer == "unknown":
                raise PipeError("this index of an unpadded image can be anything: pad the image or give a range", node)
            if answer is None or answer[0].range is not None:
                continue
            coordinate, low, high = answer
            old = limits.get(coordinate.name)
            limits[coordinate.name] = (max(low, old[0]), min(high, old[1])) if old else (low, high)
    domain = []
    for coordinate in coordinates:
        if coordinate.range is not None:
            low, high = coordinate.range
        elif coordinate.name in limits:
            low, high = limits[coordinate.name]
        else:
            raise PipeError(f"nothing says how far `{coordinate.name}` goes: give a range, "
                            f"`{coordinate.name} in 0..<n`", reads[0][2] if reads else None)
        domain.append((low, max(0, high - low + 1)))
    return domain
