"""Evaluates statements: names, lists, compile-time `for`, and indexed definitions.

A definition without ranges is evaluated twice: first at no points at all, to learn what it reads and
from that its domain, then over that domain.
"""

from .arithmetic import widens
from .domains import Coordinate, Form, infer
from .errors import PipeError
from .scope import Frame, ListValue
from .values import Image, Type, Value, as_image, coordinates_of, count_of, fits, integer, type_named

LONGEST_UNROLL = 10000


class Statements:
    """The part of the evaluator that runs blocks."""

    def run_block(self, statements, scope):
        """Runs statements; gives the values of the `return` and their nodes."""
        for statement in statements:
            if statement.kind == "return":
                return [(self.evaluate(v, scope), v) for v in statement.values]
            try:
                getattr(self, "run_" + statement.kind)(statement, scope)
            except PipeError as error:
                raise error.locate(statement)
        return None

    def run_const(self, node, scope):
        value = self.value(node.value, scope)
        if not value.const:
            raise PipeError("a constant cannot depend on parameters or pixels", node)
        scope.define(node.name, value, node)

    def run_for(self, node, scope):
        low = self.constant(node.range.first, scope)
        high = self.constant(node.range.last, scope) - node.range.open
        for k in range(low, high + 1):
            self.rounds += 1
            if self.rounds > LONGEST_UNROLL:
                raise PipeError(f"more than {LONGEST_UNROLL} rounds of `for`", node)
            inner = scope.inner()
            inner.define(node.name, integer(k, True), node)
            if self.run_block(node.body, inner) is not None:
                raise PipeError("`return` inside a `for`", node)

    def run_define(self, node, scope):
        if not node.dims:
            value = self.stated(self.evaluate(node.value, scope), node.type, node)
            self.watch(value)
            scope.define(node.name, value, node)
            return
        index = self.list_index(node, scope)
        if index is None:
            value = self.definition(node, node.dims[0], scope)
            self.watch(value)
            scope.define(node.name, value, node)
            return
        value = self.definition(node, node.dims[1], scope) if len(node.dims) == 2 else \
            self.stated(self.evaluate(node.value, scope), node.type, node)
        owner = scope.owner
        holder = scope.find(node.name)
        if holder is None or holder.outermost:
            owner.names[node.name] = ListValue()
            holder = owner
        entries = holder.names[node.name]
        if not isinstance(entries, ListValue) or index in entries.items:
            raise PipeError(f"`{node.name}[{index}]` is defined twice", node)
        entries.items[index] = value

    def note_scale(self, magnitude):
        self.largest = max(self.largest, magnitude)

    def watch(self, value):
        """Keeps the largest magnitude among values that another evaluator may round otherwise."""
        if isinstance(value, Image) and value.inexact:
            for plane in value.planes:
                finite = [abs(v) for v in plane if v - v == 0]
                self.note_scale(max(finite, default=0.0))

    def list_index(self, node, scope):
        """The index if this defines a list element, None if the brackets name coordinates."""
        dims = node.dims[0]
        names = self.new_names(dims, scope)
        if names and (len(node.dims) == 2 or len(names) < len([d for d in dims])):
            raise PipeError("coordinates and list indices are mixed: write g[k][x, y] = ...", node)
        if names:
            return None
        if len(dims) != 1 or dims[0].range is not None:
            raise PipeError("left of `=` a name that is taken cannot be a coordinate", node)
        return self.constant(dims[0].value, scope)

    def new_names(self, dims, scope):
        """The dimensions that are names which mean nothing yet."""
        fresh = []
        for dim in dims:
            parts = dim.value.items if dim.value.kind == "tuple" else [dim.value]
            for part in parts:
                if part.kind == "name":
                    found = scope.find(part.name)
                    if found is None or found.outermost:
                        fresh.append(part.name)
        return fresh

    def definition(self, node, dims, scope):
        """An indexed definition as an image."""
        coordinates = []
        for dim in dims:
            coordinates += self.coordinates_of_dim(dim, scope)
        if all(c.range is not None for c in coordinates):
            domain = [(low, max(0, high - low + 1)) for low, high in (c.range for c in coordinates)]
        else:
            frame = Frame(0, [])
            inner = scope.inner(frame)
            for c in coordinates:
                inner.define(c.name, Value(Type("i32", 1), [[]], form=Form(c, 1), bounds=c.range), node)
            self.scalar_body(node, inner)
            domain = infer(coordinates, frame.reads)
        inner = scope.inner(Frame(count_of(domain)))
        fixed = all(c.fixed for c in coordinates)
        for c, column in zip(coordinates, coordinates_of(domain)):
            inner.define(c.name, Value(Type("i32", 1), [column], fixed), node)
        value = self.stated(self.scalar_body(node, inner), node.type, node)
        return as_image(value, domain, value.const)

    def scalar_body(self, node, scope):
        value = self.value(node.value, scope)
        if isinstance(value, Image):
            raise PipeError("the right side is an image: give it an index", node)
        return value

    def coordinates_of_dim(self, dim, scope):
        if dim.value.kind == "tuple":
            image = self.value(dim.range.first, scope) if dim.range and dim.range.last is None else None
            if not isinstance(image, Image) or image.rank != len(dim.value.items):
                raise PipeError("a tuple of coordinates takes the domain of an image", dim)
            return [Coordinate(part.name, (start, start + extent - 1))
                    for part, (start, extent) in zip(dim.value.items, image.domain)]
        if dim.range is None:
            return [Coordinate(dim.value.name)]
        if dim.range.last is None:
            image = self.value(dim.range.first, scope)
            if not isinstance(image, Image) or image.rank != 1:
                raise PipeError("a range is a..b or a..<b", dim)
            start, extent = image.domain[0]
            return [Coordinate(dim.value.name, (start, start + extent - 1))]
        ends = (self.value(dim.range.first, scope), self.value(dim.range.last, scope))
        return [Coordinate(dim.value.name, self.range_ends(dim.range, scope), all(e.const for e in ends))]

    # Stated types

    def stated(self, value, stated, node):
        """A value given where a type is stated: only the implicit conversions."""
        if stated is None:
            return value
        wanted = type_named(stated.name)
        if wanted is None:
            raise PipeError(f"there is no type `{stated.name}`", node)
        return self.implicit(value, wanted, node)

    def implicit(self, value, wanted, node):
        if not isinstance(value, (Value, Image)):
            raise PipeError(f"expected {wanted}", node)
        if value.type.lanes != wanted.lanes:
            raise PipeError(f"{value.type} is given where {wanted} is stated", node)
        literal = isinstance(value, Value) and value.literal and fits(value, wanted.base)
        if not widens(value.type.base, wanted.base) and not literal:
            raise PipeError(f"{value.type} does not become {wanted} by itself: write {wanted.base}(...)", node)
        return value.converted(wanted.base)
