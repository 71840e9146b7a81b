"""Random stages without a window cell: pointwise arithmetic, pixels, tables, views, resampling."""

import re

from .plan import INTEGERS, intersect
from .window_stages import promoted

class PlainStages:
    """The part of a pipeline that makes all other stages."""

    def plain_stage(self, op, base):
        source = self.as_type(self.source(), base)
        source.used = True
        getattr(self, "plain_" + op.replace(" ", "_"))(source)
        self.plain.append((op, base))

    def simple(self, text, source, base, lanes=None, domain=None, taps=1):
        name = self.fresh()
        self.emit(f"{name} = {text}")
        return self.add(name, base, lanes or source.lanes, domain or source.domain, taps)

    # Pointwise arithmetic

    def plain_point(self, source):
        """An expression of the source and, where there is one, another value that overlaps it."""
        other = self.overlapping(source) if self.random.random() < 0.6 else None
        if other and (other.base == "u32") != (source.base == "u32"):
            other = None
        names = [source.name] + ([other.name] if other else [])
        if source.base == "u32":
            text, base = f"{source.name} + {self.unsigned(names, 2)}", "u32"
        elif source.base in INTEGERS and (other is None or other.base in INTEGERS):
            text, base = f"{source.name} + {self.whole(names, 3)}", "i32"
        else:
            text, base = f"f32({source.name}) + {self.real(names, 3)}", "f32"
        domain = source.domain
        if other and re.search(rf"\b{other.name}\b", text):
            other.used = True
            domain = intersect(source.domain, other.domain)
        self.simple(text, source, base, domain=domain)

    def unsigned(self, names, depth):
        if depth == 0 or self.random.random() < 0.2:
            return self.random.choice(names)
        a, b = self.unsigned(names, depth - 1), self.unsigned(names, depth - 1)
        return self.random.choice((f"({a} + {b})", f"({a} * {b})", f"({a} - {b})", f"bit_xor({a}, {b})",
                                   f"({a} * 0x9E3779B1)", f"shift_right({a}, 3)", f"shift_left({a}, 2)", f"({a} // 7)",
                                   f"({a} % {b})", f"max({a}, {b})", f"bit_and({a}, 0xFFFF)", f"abs({a})"))

    def whole(self, names, depth):
        """An integer expression."""
        if depth == 0 or self.random.random() < 0.15:
            return self.random.choice(names)
        a, b = self.whole(names, depth - 1), self.whole(names, depth - 1)
        number = self.random.choice((2, 3, 7, 16, 255))
        return self.random.choice((
            f"({a} + {b})", f"({a} - {b})", f"({a} * {b})", f"({a} + {number})", f"({a} // {number})",
            f"({a} % {number})", f"({a} // {b})", f"({a} % {b})", f"(-{a})", f"abs({a})", f"min({a}, {b})",
            f"max({a}, {number})", f"clamp({a}, -{number}, {number})", f"({a} > {b} ? {a} : {b} - 1)",
            f"({a} == {number} ? {number} : {b})", f"({a} ** 2)", f"i16({a})", f"u8({a})", f"wrap_u8({a})",
            f"i32(round({a} / {number}))", f"sign({a})", f"({a} > 3) + ({b} <= 5)"))

    def real(self, names, depth):
        """An f32 expression without operations that make much of a small difference."""
        if depth == 0 or self.random.random() < 0.15:
            return f"f32({self.random.choice(names)})"
        a, b = self.real(names, depth - 1), self.real(names, depth - 1)
        number = self.random.choice(("0.5", "0.3", "-1.25", "2", "3.0"))
        choices = [f"({a} + {b})", f"({a} - {b})", f"({a} * {number})", f"({a} * {number} + {b})",
                   f"({b} - {a} * {number})", f"({a} * {a} - {b} * {number})", f"({a} / {number})", f"abs({a})",
                   f"(-{a})", f"({a} ** 2)", f"sqrt(abs({a}))", f"fma({a}, {number}, {b})", f"fract({a})",
                   f"floor({a})", f"({a} > {b} ? {a} : {b} * {number})", f"round({a} * 4)", f"({a} % 1.5)",
                   f"({a} // {number})", f"({a} / {b})", f"f32(f16({a}))"]
        choices += [f"min({a}, {b})", f"max({a}, {number})", f"clamp({a}, -1.0, {number.strip('-')})"]
        if self.random.random() < 0.1:
            choices = [f"exp(-abs({a}))", f"sin({a} / 64)", f"atan2({a}, {b})", f"log2(abs({a}) + 1)", f"tanh({a})"]
        return self.random.choice(choices)

    def plain_halves(self, source):
        """Reals that are whole numbers of halves, eighths ...: nothing is rounded before the last conversion."""
        if source.base not in ("u8", "i8", "u16", "i16"):
            return self.simple(f"f32({source.name}) * 0.5", source, "f32")
        other = self.overlapping(source) if self.random.random() < 0.5 else None
        if other and other.base not in ("u8", "i8", "u16", "i16"):
            other = None
        text = self.halves([source.name] + ([other.name] if other else []), 3)
        domain = source.domain
        if other and re.search(rf"\b{other.name}\b", text):
            other.used = True
            domain = intersect(source.domain, other.domain)
        base = self.random.choice(("u8", "i8", "u16", "i16", "i32", "f32", "bool"))
        text = f"({source.name} * 0.5 + {text})"
        if base == "bool":
            return self.simple(f"({text} < 20.25 ? {source.name} : 3)", source, source.base, domain=domain)
        self.simple(f"{base}({text})", source, base, domain=domain)

    def halves(self, names, depth):
        if depth == 0 or self.random.random() < 0.15:
            return f"f32({self.random.choice(names)})"
        a, b = self.halves(names, depth - 1), self.halves(names, depth - 1)
        number = self.random.choice(("2", "4", "0.5", "-2", "8.0"))
        return self.random.choice((
            f"({a} + {b})", f"({a} - {b})", f"({a} / {number})", f"({a} * {number})", f"({a} + {number})",
            f"abs({a})", f"(-{a})", f"min({a}, {b})", f"max({a}, {number})", f"floor({a})", f"ceil({a} / 4)",
            f"trunc({a} / 8)", f"round({a} / 2)", f"({a} / 2 < {b} ? {a} : {number})",
            f"clamp({a} / 2, -{number.strip('-')}, 100)", f"({a} / 16 * {number} + {b} / 4)"))

    def plain_pixel(self, source):
        """Swizzles and pixels put together."""
        if source.lanes == 1:
            lanes = self.random.randint(2, 4)
            parts = [source.name] + [self.random.choice((source.name, f"{source.name}", "1"))
                                     for _ in range(lanes - 1)]
            self.simple("(" + ", ".join(parts) + ")", source, source.base, lanes)
            return
        letters = "rgba"[:source.lanes]
        if self.random.random() < 0.5:
            count = self.random.randint(2, 4)
            text = f"{source.name}." + "".join(self.random.choice(letters) for _ in range(count))
            self.simple(text, source, source.base, count)
        else:
            text = f"{source.name}.{self.random.choice(letters)} + {source.name}.{self.random.choice(letters)}"
            self.simple(text, source, promoted(source.base), 1)

    def plain_table(self, source):
        """A look-up in a table that the script makes; the index is inside by its type or by a clamp."""
        table = self.fresh("k")
        whole = source.base in INTEGERS and source.base not in ("i32", "u32")
        low, high = (-128, 127) if source.base == "i8" else (0, 255)
        formula = self.random.choice(("i * i", "255 - i", "i * 3 % 17", "i / 2"))
        self.emit(f"{table}[i in {low}..{high}] = {formula}")
        index = source.name
        if source.base in ("f16", "f32"):
            index = f"clamp(i32({index} * 20), 0, 255)"
        elif source.base == "u32":
            index = f"bit_and({index}, 255)"
            index = f"clamp(i32({index}), 0, 255)"
        elif source.base not in ("u8", "i8") or not whole:
            index = f"clamp({index}, 0, 255)"
        self.simple(f"{table}[{index}]", source, "f32" if "/" in formula else "i32")

    # Views

    def plain_crop(self, source):
        (left, width), (top, height) = source.domain
        w, h = self.random.randint(1, width), self.random.randint(1, height)
        x, y = left + self.random.randint(0, width - w), top + self.random.randint(0, height - h)
        text = source.name
        if self.random.random() < 0.3:
            text = f"pad({text}, {self.random.choice(('edge', 'reflect101', 'wrap'))})"
            x, y = x - 2, y + 1
        self.simple(f"crop({text}, {x}, {y}, {w}, {h})", source, source.base, domain=[(0, w), (0, h)])

    def plain_origin(self, source):
        self.simple(f"origin({source.name})", source, source.base, domain=[(0, e) for _, e in source.domain])

    def plain_paste(self, source):
        (_, width), (_, height) = source.domain
        small = self.fresh()
        w, h = self.random.randint(1, width), self.random.randint(1, height)
        self.emit(f"{small} = crop({source.name}, {source.domain[0][0]}, {source.domain[1][0]}, {w}, {h})")
        x, y = self.random.randint(0, width - w), self.random.randint(0, height - h)
        self.simple(f"paste(origin({source.name}), {small}, {x}, {y})", source, source.base,
                    domain=[(0, width), (0, height)])

    def plain_concat(self, source):
        axis = self.random.randint(0, 1)
        domain = [(0, e) for _, e in source.domain]
        domain[axis] = (0, 2 * domain[axis][1])
        second = self.random.choice((source.name, f"{source.base}({source.name})"))
        self.simple(f"concat({source.name}, {second}, {axis})", source, source.base, domain=domain)

    def plain_sized_pad(self, source):
        mode = self.random.choice(("edge", "reflect", "reflect101", "wrap", "zero", "constant(1)"))
        (left, width), (top, height) = source.domain
        if self.random.random() < 0.5:
            self.simple(f"pad({source.name}, {mode}, 2)", source, source.base,
                        domain=[(left - 2, width + 4), (top - 2, height + 4)])
        else:
            self.simple(f"pad({source.name}, {mode}, left: 3, bottom: 1)", source, source.base,
                        domain=[(left - 3, width + 3), (top, height + 1)])

    def plain_resample(self, source):
        """Rows and columns taken by a whole-number formula."""
        moved, (x, y) = self.fresh(), [(s, e) for s, e in source.domain]
        if self.random.random() < 0.5:  # twice the size
            self.emit(f"{moved}[x, y] = {source.name}[x // 2, y // 2]")
            domain = [(2 * s, 2 * e) for s, e in (x, y)]
        elif self.random.random() < 0.5 and min(e for _, e in (x, y)) > 1:  # twice the size, by turns
            self.emit(f"{moved}[x, y] = {self.by_turns(source.name)}")
            domain = [(2 * s + 1, 2 * e - 2) for s, e in (x, y)]
        else:
            factor, plus = self.random.choice(((2, 0), (2, 1), (3, 1)))
            domain = [(-((plus - s) // factor), (s + e - 1 - plus) // factor) for s, e in (x, y)]
            domain = [(low, high - low + 1) for low, high in domain]
            if min(e for _, e in domain) < 1:
                factor, plus, domain = 1, 1, [(s - 1, e) for s, e in (x, y)]
            self.emit(f"{moved}[x, y] = {source.name}[{factor}*x + {plus}, {factor}*y + {plus}]")
        self.add(moved, source.base, source.lanes, domain)

    def by_turns(self, name):
        """Pixels that depend on whether column and row are even, from between the neighbours at half the size."""
        here, right, below, corner = (f"{name}[{x}, {y}]" for y in ("(y - 1) // 2", "(y + 1) // 2") for x in ("(x - 1) // 2", "(x + 1) // 2"))
        middle = f"max({here}, {corner})"
        return self.random.choice((
            f"x % 2 == 0 ? {middle} : min({right}, {below})",
            f"y % 2 == 0 ? (x % 2 == 0 ? {here} : {middle}) : (x % 2 == 0 ? {below} : {corner})",
            f"(x + y) % 2 == 1 ? {right} : min({middle}, {below})",
            f"(y + 1) % 2 == 0 ? {middle} : min({below}, {corner})",
            f"(3*x + 1) % 2 == 0 and y % 2 == 1 ? {corner} : {middle}"))

    def plain_flip(self, source):
        """The picture turned round along an axis, or transposed."""
        moved = self.fresh()
        (left, width), (top, height) = source.domain
        kind = self.random.choice(("x", "y", "transpose"))
        if kind == "transpose":
            self.emit(f"{moved}[x, y] = {source.name}[y, x]")
            self.add(moved, source.base, source.lanes, [(top, height), (left, width)])
            return
        index = ("{0} - x, y" if kind == "x" else "x, {0} - y").format(
            f"{source.name}.{'width' if kind == 'x' else 'height'} - 1")
        self.emit(f"{moved}[x, y] = {source.name}[{index}]")
        domain = [(-left, width), (top, height)] if kind == "x" else [(left, width), (-top, height)]
        self.add(moved, source.base, source.lanes, domain)
