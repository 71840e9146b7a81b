"""Evaluates expressions.

An expression is evaluated for all points of a definition at once: a component is a list with one
element per point.
"""

from . import images, operators
from . import reductions as reduce_kinds
from .arithmetic import FLOATS, INTEGERS, apply, f32, is_list
from .domains import Form
from .errors import PipeError
from .functions import Functions
from .images import lift
from .scope import Frame, ListValue, Outputs
from .statements import Statements
from .values import (Image, Type, Value, as_field, as_image, common_type, coordinates_of, count_of, integer,
                    intersection)

SWIZZLES = {**{c: k for k, c in enumerate("rgba")}, **{c: k for k, c in enumerate("xyzw")}}

LARGEST_EXTENT = 1 << 28


def largest_of(value):
    """The largest finite magnitude among a value's components."""
    lists = [c if is_list(c) else [c] for c in value.comps]
    return max((abs(v) for comp in lists for v in comp if v - v == 0), default=0.0)


class Evaluator(Statements, Functions):
    """Evaluates nodes; statements, calls and pads are in the base classes."""

    def __init__(self, strict=False, no_fma=False):
        self.strict, self.no_fma = strict, no_fma
        self.rounds = 0
        self.largest = 0.0  # of what is added up or comes out where rounding isn't promised: the scale of tolerances

    @property
    def fuses(self):
        """Is a product contracted with what is added to it?"""
        return not self.strict and not self.no_fma

    def evaluate(self, node, scope):
        try:
            return getattr(self, "eval_" + node.kind)(node, scope)
        except PipeError as error:
            raise error.locate(node)

    def value(self, node, scope):
        """A Value or Image, nothing else."""
        found = self.evaluate(node, scope)
        if not isinstance(found, (Value, Image)):
            raise PipeError("this is a list or the result of a pipe; take one element of it", node)
        return found

    def unasked(self, node, scope):
        """A condition: what it reads asks nothing of the domain."""
        frame = scope.frame
        reads = frame and frame.reads
        if frame:
            frame.reads = None
        try:
            return self.value(node, scope)
        finally:
            if frame:
                frame.reads = reads

    def whole_number(self, node, scope, what):
        """A uniform integer."""
        found = self.value(node, scope)
        if (not isinstance(found, Value) or found.type.lanes != 1 or found.type.base not in INTEGERS
                or not found.uniform):
            raise PipeError(f"{what} wants a whole number that is the same everywhere", node)
        return found.number

    def constant(self, node, scope):
        found = self.value(node, scope)
        if not isinstance(found, Value) or not found.const or found.type != Type("i32", 1) \
                or not found.uniform:
            raise PipeError("this has to be a constant whole number", node)
        return found.number

    # Leaves

    def eval_number(self, node, scope):
        text = node.text.lower()
        if text.startswith("0x"):
            return self.integer_literal(int(text, 16), node)
        if any(c in text for c in ".e"):
            return Value(Type("f32", 1), [f32(float(text))], True, True)
        return self.integer_literal(int(text), node)

    def integer_literal(self, value, node):
        if value > INTEGERS["u32"][1]:
            raise PipeError(f"{value} is too large for u32", node)
        return Value(Type("i32" if value <= INTEGERS["i32"][1] else "u32", 1), [value], True, True)

    def eval_name(self, node, scope):
        if node.name in ("true", "false") and scope.find(node.name) is None:
            return Value(Type("bool", 1), [node.name == "true"], True)
        return scope.look_up(node.name, node)

    def eval_string(self, node, scope):
        raise PipeError("a string is no value", node)

    def eval_tuple(self, node, scope):
        items = [self.value(item, scope) for item in node.items]

        def pixel(*values):
            base = common_type(values, node)
            comps = [c for v in values for c in v.converted(base).comps]
            if len(comps) > 4:
                raise PipeError("a pixel has at most four components", node)
            return operators.result_of(base, comps, values, literal=all(v.literal for v in values))
        return lift(pixel, items, node)

    def eval_array(self, node, scope):
        nested = [item.kind == "array" for item in node.items]
        if any(nested) and not all(nested):
            raise PipeError("rows and values are mixed", node)
        rows = [row.items for row in node.items] if all(nested) else [node.items]
        if len({len(row) for row in rows}) > 1 or not rows[0]:
            raise PipeError("the rows of a kernel have different lengths", node)
        values = [self.value(item, scope) for row in rows for item in row]
        if any(not isinstance(v, Value) or not v.uniform for v in values):
            raise PipeError("an element of a kernel depends on pixels", node)
        base = common_type(values, node)
        lanes = max(v.type.lanes for v in values)
        planes = [[v.converted(base).lane(k) for v in values] for k in range(lanes)]
        return images.kernel_literal(rows, Type(base, lanes), planes, all(v.const for v in values),
                                     operators.doubt(values), 2 if all(nested) else 1)

    # Operators

    def eval_unary(self, node, scope):
        value = self.value(node.value, scope)
        if node.operator == "not":
            def invert(v):
                if v.type.base != "bool":
                    raise PipeError(f"`not` wants bool, not {v.type}", node)
                return operators.result_of("bool", [apply(lambda c: not c, c) for c in v.comps], (v,))
            return lift(invert, [value], node)
        if isinstance(value, Value) and value.literal and value.type.base == "u32" and value.number == 2**31:
            return operators.negate_literal(value)
        return lift(lambda v: operators.negate(v, node), [value], node)

    def eval_binary(self, node, scope):
        if node.operator in ("+", "-"):
            for product, other, first in ((node.right, node.left, False), (node.left, node.right, True)):
                if self.fuses and product.kind == "binary" and product.operator == "*":
                    return self.sum_with_product(node, product, other, first, scope)
        operands = [self.value(node.left, scope), self.value(node.right, scope)]
        return lift(lambda x, y: operators.binary(node.operator, x, y, node), operands, node)

    def sum_with_product(self, node, product, other, first, scope):
        """a*b + c: contracted if the product is an f32."""
        addend = None if first else self.value(other, scope)
        factors = [self.value(product.left, scope), self.value(product.right, scope)]
        addend = self.value(other, scope) if first else addend

        def combined(x, y, z):
            fused = operators.fused_sum(node.operator, first, (x, y), z, node)
            if fused is not None:
                return fused
            inner = operators.binary("*", x, y, product)
            pair = (inner, z) if first else (z, inner)
            return operators.binary(node.operator, *pair, node)
        return lift(combined, factors + [addend], node)

    def eval_choose(self, node, scope):
        condition = self.unasked(node.condition, scope)
        if isinstance(condition, Value) and condition.const and condition.uniform \
                and condition.type == Type("bool", 1):
            return self.value(node.then if condition.number else node.other, scope)
        operands = [condition, self.value(node.then, scope), self.value(node.other, scope)]
        return lift(lambda c, x, y: operators.choose(c, x, y, node), operands, node)

    # Parts of values

    def eval_member(self, node, scope):
        owner = self.evaluate(node.value, scope)
        if isinstance(owner, Outputs):
            if node.name not in owner.values:
                raise PipeError(f"the pipe has no output `{node.name}`", node)
            return owner.values[node.name]
        if isinstance(owner, Image) and node.name in ("width", "height"):
            axis = ("width", "height").index(node.name)
            if axis >= owner.rank:
                raise PipeError(f"an array of one dimension has no {node.name}", node)
            return integer(owner.domain[axis][1], owner.const)
        if not isinstance(owner, (Image, Value)) or any(c not in SWIZZLES for c in node.name) or len(node.name) > 4:
            raise PipeError(f"there is no `.{node.name}` here", node)

        def swizzle(v):
            lanes = [SWIZZLES[c] for c in node.name]
            if max(lanes) >= v.type.lanes or v.type.lanes == 1:
                raise PipeError(f"{v.type} has no `.{node.name}`", node)
            return operators.result_of(v.type.base, [v.comps[k] for k in lanes], (v,))
        return lift(swizzle, [owner], node)

    def eval_method(self, node, scope):
        owner = self.value(node.value, scope)
        if not isinstance(owner, Image) or node.name not in ("extent", "start") or len(node.args) != 1:
            raise PipeError(f"there is no `.{node.name}(...)` here", node)
        axis = self.whole_number(node.args[0], scope, node.name)
        if not 0 <= axis < owner.rank:
            raise PipeError(f"dimension {axis} of an image with {owner.rank}", node)
        return integer(owner.domain[axis][node.name == "extent"], owner.const)

    def eval_index(self, node, scope):
        owner = self.evaluate(node.value, scope)
        if isinstance(owner, ListValue):
            index = self.constant(node.items[0], scope)
            if len(node.items) != 1 or index not in owner.items:
                raise PipeError(f"the list has no element {index}", node)
            return owner.items[index]
        if not isinstance(owner, Image):
            raise PipeError("only images, arrays and lists take an index", node)
        items = [self.value(item, scope) for item in node.items]
        if len(items) != owner.rank:
            raise PipeError(f"{len(items)} indices for {owner.rank} dimensions", node)
        for item in items:
            if item.type.base not in INTEGERS:
                raise PipeError(f"an index wants a whole number, not {item.type}: i32(...)", node)
        pictures = [i for i in items if isinstance(i, Image)]
        if not pictures:
            return self.read(owner, items, scope.frame, node)
        domain = intersection([i.domain for i in pictures], node)
        fields = [as_field(i, domain) if isinstance(i, Image) else i for i in items]
        return as_image(self.read(owner, fields, Frame(count_of(domain)), node), domain, False)

    def read(self, image, indices, frame, node):
        """The pixels of an image at an index; a pixel as index reads component by component."""
        lanes = max(i.type.lanes for i in indices)
        if lanes > 1:
            if image.type.lanes not in (1, lanes):
                raise PipeError(f"an index of {lanes} components into {image.type}", node)
            parts = [self.read(image, [Value(Type(i.type.base, 1), [i.lane(k)]) for i in indices], frame, node)
                     for k in range(lanes)]
            comps = [p.lane(k) for k, p in enumerate(parts)]
            return operators.result_of(image.type.base, comps, parts)
        if frame is not None and frame.reads is not None:
            frame.reads.append((image, indices, node))
        inexact = 2 if any(i.inexact for i in indices) else image.inexact
        if all(i.uniform for i in indices):
            planes = image.fetch([[i.number] for i in indices], node)
            return Value(image.type, [p[0] for p in planes], image.const and all(i.const for i in indices),
                         inexact=inexact)
        count = next(len(i.comps[0]) for i in indices if not i.uniform)
        lists = [i.comps[0] if is_list(i.comps[0]) else [i.comps[0]] * count for i in indices]
        return Value(image.type, image.fetch(lists, node), image.const and all(i.const for i in indices),
                     inexact=inexact)

    # Reductions

    def eval_reduce(self, node, scope):
        if node.name not in reduce_kinds.KINDS:
            raise PipeError(f"`{node.name}` is no reduction", node)
        node.names = [n for b in node.binders for n in self.binder_names(b)]
        self.refuse_scatter(node, scope)
        whole = self.whole_picture(node, scope)
        state = {"accumulator": None, "count": 0, "inexact": 0, "whole": whole, "skipped": 0, "largest": 0.0}
        self.reduce_over(node, 0, scope, [], state)
        accumulator = state["accumulator"] or self.accumulator_for_nothing(node, scope)
        result = accumulator.result()
        result.const = state.get("const", False)
        self.note_scale(state["count"] * state["largest"])
        long_sum = node.name in ("sum", "mean") and state["count"] > 8 and result.type.base == "f32"
        places = node.name in ("argmin", "argmax")
        result.inexact = max(2 if places and state["inexact"] else 0, state["inexact"],
                             int(long_sum and not self.strict))
        return result

    def refuse_scatter(self, node, scope):
        where = node.where
        if where is None or where.kind != "binary" or where.operator != "==":
            return
        for side in (where.left, where.right):
            found = scope.find(side.name) if side.kind == "name" else None
            if found and isinstance(found.names[side.name], Value) and found.frame is not None \
                    and (found.names[side.name].form or not found.names[side.name].uniform) \
                    and side.name not in node.names and self.reads_pixels(where):
                raise PipeError("`where d == e` with a dimension of the definition (a scatter) is not done yet", node)

    def reads_pixels(self, node):
        if node.kind == "index":
            return True
        return any(self.reads_pixels(part) for part in (getattr(node, "left", None), getattr(node, "right", None))
                   if part is not None)

    def binder_names(self, binder):
        target = binder.target
        parts = target.items if target.kind == "tuple" else [target]
        if any(p.kind != "name" for p in parts):
            raise PipeError("a binder is a name or a tuple of names", binder)
        return [p.name for p in parts]

    def whole_picture(self, node, scope):
        """The width of the picture if the reduction is over a whole one, else None."""
        if len(node.binders) != 1 or node.binders[0].range.last is not None:
            return None
        image = self.value(node.binders[0].range.first, scope)
        return image.domain[0][1] if isinstance(image, Image) else None

    def reduce_over(self, node, level, scope, position, state):
        """Runs through the binders from `level` on, the last one fastest."""
        if level == len(node.binders):
            self.reduce_element(node, scope, position, state)
            return
        binder = node.binders[level]
        names = self.binder_names(binder)
        for point in self.binder_points(binder, len(names), scope):
            inner = scope.inner()
            for name, number in zip(names, point):
                inner.define(name, Value(Type("i32", 1), [number], self.const_range(binder), form=Form(bound=number)),
                             binder)
            self.reduce_over(node, level + 1, inner, position + list(point), state)

    def const_range(self, binder):
        return binder.range.last is not None and getattr(binder, "const", False)

    def binder_points(self, binder, count, scope):
        bounds = binder.range
        if bounds.last is None:
            image = self.value(bounds.first, scope)
            if not isinstance(image, Image) or image.rank != count:
                raise PipeError("a binder runs over a range, or over an image with a name per dimension", binder)
            return list(zip(*coordinates_of(image.domain)))
        ends = [self.value(bounds.first, scope), self.value(bounds.last, scope)]
        binder.const = all(isinstance(v, Value) and v.const for v in ends)
        low, high = self.range_ends(bounds, scope)
        return [(k,) for k in range(low, high + 1)]

    def range_ends(self, bounds, scope):
        low = self.whole_number(bounds.first, scope, "a range")
        high = self.whole_number(bounds.last, scope, "a range") - (1 if bounds.open else 0)
        if high - low >= LARGEST_EXTENT:
            raise PipeError(f"{low}..{high} is too large", bounds.first, "size")
        return low, high

    def reduce_element(self, node, scope, position, state):
        mask = None
        if node.where is not None:
            condition = self.unasked(node.where, scope)
            if not isinstance(condition, Value) or condition.type != Type("bool", 1):
                raise PipeError("`where` wants one bool", node.where)
            mask = condition.comps[0]
            state["inexact"] = max(state["inexact"], condition.inexact)
            inferring = scope.frame is not None and scope.frame.reads is not None
            if not is_list(mask):
                if not mask and not inferring:
                    if state["whole"]:
                        self.leave_out(state)
                    return
                mask = None if mask else False
        body = self.value(node.body, scope)
        if isinstance(body, Image):
            raise PipeError("the body of a reduction is an image: give it an index", node)
        self.add_element(node, body, mask, position, state)

    def add_element(self, node, body, mask, position, state):
        if state["accumulator"] is None:
            state["const"] = True
            if state["whole"] and node.name in ("sum", "mean") and body.type.base in FLOATS:
                state["accumulator"] = reduce_kinds.PictureSum(state["whole"], body.type.lanes, node.name == "mean")
                for _ in range(state["skipped"]):
                    state["accumulator"].leave_out()
            else:
                state["accumulator"] = reduce_kinds.KINDS[node.name](body.type, node)
        state["count"] += 1
        state["inexact"] = max(state["inexact"], operators.doubt([body]))
        state["const"] &= body.const and mask is None
        if node.name in ("sum", "mean") and body.type.base in FLOATS:
            state["largest"] = max(state["largest"], largest_of(body))
        accumulator = state["accumulator"]
        if mask is False and isinstance(accumulator, reduce_kinds.PictureSum):
            accumulator.leave_out()
        else:
            accumulator.add(body, mask, position)

    def leave_out(self, state):
        """An element of a whole picture that `where` leaves out still takes its place among the lanes."""
        if state["accumulator"] is None:
            state["skipped"] += 1
        elif isinstance(state["accumulator"], reduce_kinds.PictureSum):
            state["accumulator"].leave_out()

    def accumulator_for_nothing(self, node, scope):
        """No element at all: the body is looked at without points, for its type."""
        inner = scope.inner(Frame(0))
        for name in node.names:
            inner.names[name] = Value(Type("i32", 1), [[]])
        body = self.value(node.body, self.emptied(inner))
        return reduce_kinds.KINDS[node.name](body.type, node)

    def emptied(self, scope):
        """A scope in which the coordinates in progress have no points."""
        outer = scope.parent
        while outer is not None and outer.frame is not None:
            for name, value in outer.names.items():
                if isinstance(value, Value) and name not in scope.names:
                    comps = [[] if is_list(c) else c for c in value.comps]
                    scope.names[name] = Value(value.type, comps)
            outer = outer.parent
        return scope
