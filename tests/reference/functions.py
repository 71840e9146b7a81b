"""Calls: conversions, pads and other image operations, functions of the script and the prelude, pipes."""

from . import images, operators
from .errors import PipeError
from .images import lift
from .reductions import KINDS
from .scope import Frame, Outputs, Scope
from .values import AXIS_MAPS, Border, Image, Type, Value, common_type, lanes_of, type_named

SIDES = ("left", "right", "top", "bottom")
DEEPEST_CALL = 60


class Functions:
    """The part of the evaluator that knows what a call means."""

    depth = 0

    def eval_call(self, node, scope):
        item = self.find_item(node.name, scope)
        if item is not None:
            return self.call_pipe(item, node, scope) if item.kind == "pipe" else self.call_function(item, node, scope)
        special = getattr(self, "call_" + node.name, None) if node.name in SPECIAL else None
        if special:
            return special(node, scope)
        args = self.plain_arguments(node, scope)
        wanted = type_named(node.name)
        if wanted:
            return self.conversion(wanted, args, node)
        if operators.is_scalar_function(node.name):
            if node.name in KINDS and len(args) == 1 and isinstance(args[0], Image) \
                    and args[0].type.base != "bool":
                raise PipeError(f"{node.name} of an image is written {node.name}((x, y) in a: a[x, y])", node)
            return lift(lambda *v: operators.call_scalar(node.name, list(v), node), args, node)
        raise PipeError(f"there is no function `{node.name}`", node)

    def find_item(self, name, scope):
        while scope.parent is not None and not hasattr(scope, "items"):
            scope = scope.parent
        return scope.items(name) if hasattr(scope, "items") else None

    def plain_arguments(self, node, scope):
        for arg in node.args:
            if arg.label or arg.value.kind == "lambda":
                raise PipeError(f"{node.name} takes no `{arg.label or 'fn'}`", node)
        return [self.value(arg.value, scope) for arg in node.args]

    def conversion(self, wanted, args, node):
        if len(args) != 1:
            raise PipeError(f"{wanted}(...) takes one value", node)

        def convert(v):
            converted = v.converted(wanted.base)
            if wanted.lanes == 1 or v.type.lanes == wanted.lanes:
                return operators.result_of(wanted.base, converted.comps, (v,), form=converted.form,
                                           bounds=converted.bounds)
            if v.type.lanes != 1:
                raise PipeError(f"{wanted}(...) of {v.type}", node)
            return operators.result_of(wanted.base, converted.comps * wanted.lanes, (v,))
        return lift(convert, args, node)

    # Arguments of image operations

    def arguments(self, node, scope, names, optional=()):
        """Values by name: positions first, then labels."""
        found = {}
        for position, arg in enumerate(node.args):
            name = arg.label or (names[position] if position < len(names) else None)
            if name not in names or name in found:
                raise PipeError(f"{node.name} takes {', '.join(names)}", node)
            found[name] = self.value(arg.value, scope)
        missing = [n for n in names if n not in found and n not in optional]
        if missing:
            raise PipeError(f"{node.name} needs {', '.join(missing)}", node)
        return found

    def image(self, value, node):
        if not isinstance(value, Image):
            raise PipeError(f"{node.name} wants an image", node)
        return value

    def number(self, value, node):
        if not isinstance(value, Value) or not value.uniform or value.type != Type("i32", 1) \
                and value.type.base not in ("u8", "i8", "u16", "i16", "u32"):
            raise PipeError(f"{node.name} wants a whole number that is the same everywhere", node)
        return value.number

    def call_crop(self, node, scope):
        args = self.arguments(node, scope, ("a", "x", "y", "w", "h"))
        numbers = [self.number(args[n], node) for n in ("x", "y", "w", "h")]
        return images.crop(self.image(args["a"], node), *numbers, node)

    def call_paste(self, node, scope):
        args = self.arguments(node, scope, ("a", "b", "x", "y"))
        return images.paste(self.image(args["a"], node), self.image(args["b"], node),
                            self.number(args["x"], node), self.number(args["y"], node), node)

    def call_concat(self, node, scope):
        args = self.arguments(node, scope, ("a", "b", "axis"))
        return images.concat(self.image(args["a"], node), self.image(args["b"], node),
                             self.number(args["axis"], node), node)

    def call_origin(self, node, scope):
        return images.origin(self.image(self.arguments(node, scope, ("a",))["a"], node))

    def call_flip(self, node, scope):
        return images.flip(self.image(self.arguments(node, scope, ("k",))["k"], node))

    def call_anchor(self, node, scope):
        args = self.arguments(node, scope, ("k", "x", "y"))
        return images.anchor(self.image(args["k"], node), self.number(args["x"], node), self.number(args["y"], node),
                             node)

    def call_conv(self, node, scope):
        args = self.arguments(node, scope, ("a", "k", "stride", "dilation"), ("stride", "dilation"))
        steps = [self.steps(args.get(name), node) for name in ("stride", "dilation")]
        image, kernel = self.image(args["a"], node), self.image(args["k"], node).bare()
        result = images.conv(image, kernel, *steps, not self.strict, self.fuses, node)
        if result.inexact:
            weights = max(sum(map(abs, plane)) for plane in kernel.planes)
            self.note_scale(weights * max((abs(v) for plane in image.planes for v in plane if v - v == 0), default=0))
        return result

    def steps(self, value, node):
        """A stride or dilation: one number for both axes, or a pair."""
        if value is None:
            return (1, 1)
        if not isinstance(value, Value) or value.type.base != "i32" or value.type.lanes > 2 or not value.uniform:
            raise PipeError("stride and dilation are one whole number or two", node)
        return (value.lane(0), value.lane(1))

    # Pads

    def call_pad(self, node, scope):
        image = self.image(self.value(node.args[0].value, scope), node)
        modes, sides, position = {}, {}, 0
        for arg in node.args[1:]:
            if arg.label and arg.label in "xyzwv":
                modes["xyzwv".index(arg.label)] = arg.value
            elif arg.label in SIDES:
                sides[arg.label] = self.whole_number(arg.value, scope, "pad")
            elif arg.label:
                raise PipeError(f"pad takes no `{arg.label}`", node)
            elif position == 0:
                modes.update({k: arg.value for k in range(image.rank)})
                position = 1
            elif position == 1:
                sides.update({s: self.whole_number(arg.value, scope, "pad") for s in SIDES})
                position = 2
            else:
                raise PipeError("pad takes an image, a mode and sizes", node)
        if not modes or max(modes) >= image.rank:
            raise PipeError("pad needs a mode for axes of the image", node)
        padded = self.with_borders(image, modes, scope, node)
        if not sides:
            return padded
        around = [(sides.get("left", 0), sides.get("right", 0)), (sides.get("top", 0), sides.get("bottom", 0))]
        return images.enlarge(padded, (around + [(0, 0)] * image.rank)[:image.rank])

    def with_borders(self, image, modes, scope, node):
        """The image with these modes; its type joins the types of the values that they supply."""
        supplied = {axis: self.supplied_value(mode, scope, image, node) for axis, mode in modes.items()}
        values = [v for v in supplied.values() if v is not None]
        base = common_type([images.base_of(image)] + values, node)
        lanes = lanes_of([images.base_of(image)] + values, node)
        borders = [None] * image.rank
        for axis, mode in modes.items():
            if mode.kind == "lambda":
                borders[axis] = Border(supply=self.custom(mode, base, lanes, scope))
            elif supplied[axis] is not None:
                borders[axis] = images.constant_border(supplied[axis], base, lanes)
            elif mode.kind == "name" and mode.name in AXIS_MAPS:
                borders[axis] = Border(AXIS_MAPS[mode.name])
            else:
                raise PipeError(f"there is no border mode `{getattr(mode, 'name', mode.kind)}`", node)
        return images.pad(image, borders, values)

    def supplied_value(self, mode, scope, image, node):
        """The value (for a custom border, a stand-in of its type) that a mode supplies, if it does."""
        if mode.kind == "name" and mode.name == "zero":
            return Value(Type("i32", 1), [0], True, True)
        if mode.kind == "call" and mode.name == "constant":
            value = self.plain_arguments(mode, scope)[0]
            if not isinstance(value, Value) or not value.uniform:
                raise PipeError("constant(...) wants one value", node)
            return value
        if mode.kind == "lambda":
            if len(mode.names) != image.rank:
                raise PipeError(f"this border function needs {image.rank} coordinates", node)
            return self.custom_body(mode, [[] for _ in mode.names], scope)
        return None

    def custom_body(self, mode, points, scope):
        inner = scope.inner(Frame(len(points[0])))
        for name, column in zip(mode.names, points):
            inner.define(name, Value(Type("i32", 1), [column]), mode)
        value = self.value(mode.value, inner)
        if isinstance(value, Image):
            raise PipeError("the border function gives an image: give it an index", mode)
        return value

    def custom(self, mode, base, lanes, scope):
        def supply(points):
            value = self.custom_body(mode, points, scope).converted(base)
            return [value.lane(k) for k in range(lanes)]
        return supply

    # Functions and pipes of scripts

    def bind(self, item, node, scope):
        """Argument values by parameter name; defaults are evaluated where the function is."""
        names = [p.name for p in item.params]
        given = {}
        for position, arg in enumerate(node.args):
            name = arg.label or (names[position] if position < len(names) else None)
            if name not in names or name in given:
                raise PipeError(f"{item.name} takes ({', '.join(names)})", node)
            given[name] = self.evaluate(arg.value, scope)
        inner = Scope(item.scope, scope.frame)
        for param in item.params:
            if param.name not in given and param.default is None:
                raise PipeError(f"{item.name} needs `{param.name}`", node)
            value = given[param.name] if param.name in given else self.evaluate(param.default, inner)
            value = self.stated(value, param.type, node) if item.kind == "function" else value
            inner.names[param.name] = self.without_literal(value)
        return inner

    def without_literal(self, value):
        """A name holds a value of a type, no literal."""
        if isinstance(value, Value) and value.literal:
            return Value(value.type, value.comps, value.const, False, value.form, value.bounds, value.inexact)
        return value

    def call_function(self, item, node, scope):
        if self.depth > DEEPEST_CALL:
            raise PipeError(f"`{item.name}` reaches itself", node)
        self.depth += 1
        try:
            inner = self.bind(item, node, scope)
            if item.value is not None:
                result = self.evaluate(item.value, inner)
            else:
                returned = self.run_block(item.body, inner)
                if not returned or len(returned) != 1:
                    raise PipeError(f"`{item.name}` has to return one value", node)
                result = returned[0][0]
        finally:
            self.depth -= 1
        return self.without_literal(self.stated(result, item.returns, node))

    def call_pipe(self, item, node, scope):
        """A pipe called from another: its images move to (0, 0) without pads, types are exact; what it gives
        starts at (0, 0)."""
        if self.depth > DEEPEST_CALL:
            raise PipeError(f"`{item.name}` reaches itself", node)
        self.depth += 1
        try:
            inner = self.bind(item, node, scope)
            for param in item.params:
                inner.names[param.name] = self.pipe_argument(param, inner, node)
            results = self.finish(item, self.run_block(item.body, inner), inner)
        finally:
            self.depth -= 1
        results = {name: images.origin(value) for name, value in results.items()}
        return results[item.outputs[0].name] if len(results) == 1 else Outputs(results)

    def pipe_argument(self, param, scope, node):
        value = scope.names[param.name]
        wanted = type_named(param.type.name)
        if isinstance(value, Image):
            if value.type != wanted:
                raise PipeError(f"`{param.name}` is {value.type}, the pipe wants {wanted}", node)
            value = images.origin(value).bare()
        else:
            value = self.implicit(value, wanted, node)
        return self.in_range(value, param, scope, node)

    def in_range(self, value, param, scope, node):
        """A picture is clamped to its stated range; a parameter has to lie in it."""
        if param.bounds is None:
            return value
        ends = [self.value(end, scope) for end in (param.bounds.first, param.bounds.last)]
        if isinstance(value, Image):
            low, high = [end.converted(value.type.base) for end in ends]
            return lift(lambda v: operators.call_clamp([v, low, high], node), [value], node)
        low, high = [end.converted(value.type.base).number for end in ends]
        for comp in value.comps:
            if not low <= comp <= high:
                raise PipeError(f"`{param.name}` = {comp} is outside {low}..{high}", param, "size")
        return value

    def check_extents(self, stated, value, scope, node):
        """The extents that an output's type states."""
        extents = stated.extents or [None, None]
        if len(extents) != value.rank:
            raise PipeError(f"{len(extents)} dimensions are stated, {value.rank} returned", node)
        for extent, (_, size) in zip(extents, value.domain):
            if extent is not None and not (extent.kind == "name" and extent.name == "_") \
                    and self.whole_number(extent, scope, "an extent") != size:
                raise PipeError("an output does not have the extents that are stated", node, "size")

    def finish(self, item, returned, scope):
        """The outputs of a pipe by name, converted to their types."""
        if not returned or len(returned) != len(item.outputs):
            raise PipeError(f"`{item.name}` has to return {len(item.outputs)} values", item)
        results = {}
        for output, (value, node) in zip(item.outputs, returned):
            value = self.stated(value, output.type, node)
            if not isinstance(value, Image):
                raise PipeError("an output has to be an image or array", node)
            if value.size == 0:
                raise PipeError("an output is empty", node, "size")
            self.check_extents(output.type, value, scope, node)
            results[output.name] = value.bare()
        return results


SPECIAL = ("pad", "crop", "paste", "concat", "origin", "flip", "anchor", "conv")
