"""Random stages that read a window of their source, one for every cell of the plan."""

from .plan import SIGNED, intersect

MODES = ("edge", "reflect", "reflect101", "wrap")


class Window:
    """Offsets and strides per axis, and the rectangle that reading them gives."""

    def __init__(self, low, high, stride, domain):
        self.low, self.high, self.stride, self.domain = low, high, stride, domain

    @property
    def taps(self):
        return (self.high[0] - self.low[0] + 1) * (self.high[1] - self.low[1] + 1)


class WindowStages:
    """The part of a pipeline that makes window stages."""

    def window_stage(self, cell):
        op, border, base, aside, two, strided = cell
        source = self.as_type(self.source(), base)
        source.used = True
        padded = border != "none"
        window = self.window(source, padded, aside, strided, op)
        if window is None:  # no multiple of the stride lies in it: move it to (0, 0)
            name = self.fresh("g")
            self.emit(f"{name} = origin({source.name})")
            source = self.add(name, base, source.lanes, [(0, e) for _, e in source.domain])
            source.used = True
            window = self.window(source, padded, aside, strided, op)
        name = self.fresh("p") if padded else source.name
        supplied = self.pad_line(name, source, border) if padded else None
        read = supplied or source.base
        result = getattr(self, "stage_" + op)(name, source, read, window, padded)
        if two:
            self.second_consumer(name, source, read, result, padded)
        self.cells.append(cell)

    # Borders

    def pad_line(self, name, source, border):
        """Emits the pad; gives the type of its reads where that isn't the source's."""
        mode, base = border, None
        if border == "constant":
            mode, base = self.constant_mode(source)
        elif border == "custom":
            mode, base = self.custom_mode(source)
        elif border == "mixed":
            x, y = self.random.sample(MODES + ("zero",), 2)
            mode = f"x: {x}, y: {y}"
        self.emit(f"{name} = pad({source.name}, {mode})")
        return base

    def constant_mode(self, source):
        if source.base in ("u8", "i8", "u16", "i16") and self.random.random() < 0.3:
            return "constant(-300)", joined_type(source.base, -300)
        if source.base in ("f16", "f32"):
            value = self.random.choice(("0.5", "-2.0", "1"))
            return f"constant({value})", "f32" if "." in value else None
        return f"constant({self.random.choice((0, 1, 100))})", None

    def custom_mode(self, source):
        """A border function of the coordinates, in the source's type or a wider one."""
        text = self.random.choice(("x + 3*y", "7*x - y", "bit_and(x*x + y, 63)"))
        if source.base == "f32":
            return f"fn(x, y) = ({text}) / 8", None
        if source.base == "f16":
            return f"fn(x, y) = f16(({text}) / 8)", None
        if source.base == "i32" or source.base != "u32" and self.random.random() < 0.3:
            return f"fn(x, y) = {text}", "i32"
        return f"fn(x, y) = wrap_{source.base}({text})", None

    # Windows

    def window(self, source, padded, aside, strided, op):
        """Random offsets that give at least one pixel; None if there are none."""
        for _ in range(40):
            stride = (self.random.choice((1, 2, 3)), self.random.choice((1, 2, 3))) if strided else (1, 1)
            if strided and stride == (1, 1):
                continue
            reaches = self.reaches(op)
            low, high = zip(*(self.offsets(source.domain[axis][1], padded, aside, reaches[axis]) for axis in (0, 1)))
            if aside and all(a == -b for a, b in zip(low, high)):
                continue
            domain = window_domain(source.domain, low, high, stride, padded)
            if domain:
                return Window(low, high, stride, domain)
        return None

    def reaches(self, op):
        """How far a window goes along x and y: mostly a little, sometimes far along one axis."""
        if op == "median":
            return self.random.choice(((0, 0), (1, 1), (1, 0), (0, 1), (2, 2), (0, 3)))
        if self.random.random() < 0.1:
            far = self.random.randint(4, 9)
            return self.random.choice(((far, 0), (0, far)))
        return [self.random.choice((0, 1, 1, 2, 3)) for _ in "xy"]

    def offsets(self, extent, padded, aside, reach):
        """The lowest and highest offset along an axis."""
        if not aside:
            while not padded and 2 * reach + 1 > extent:
                reach -= 1
            return -reach, reach
        width = reach + 1 if padded else min(reach + 1, extent)
        low = self.random.randint(-4 - reach // 2, 3)
        return low, low + width - 1

    def reads(self, name, window, axis_names=("i", "j"), extra=("", "")):
        """The text of a read of `name` inside the window."""
        parts = []
        for axis, coordinate in enumerate(("x", "y")):
            stride = window.stride[axis]
            scaled = coordinate if stride == 1 else f"{stride}*{coordinate}"
            parts.append(scaled + (f" + {axis_names[axis]}" if axis_names[axis] else "") + extra[axis])
        return f"{name}[{', '.join(parts)}]"

    def binders(self, window):
        """The binders over a window; sometimes with a radius that is a parameter."""
        ranges = []
        for axis, variable in enumerate(("i", "j")):
            low, high = window.low[axis], window.high[axis]
            ranges.append(f"{variable} in {low}..{high}")
        if self.random.random() < 0.5:
            ranges.reverse()
        return ", ".join(ranges)

    def radius_binders(self, window):
        """Binders -r..r with a run-time r, when the window is centred and padded reads allow any."""
        name, value = self.parameter("i32", 0, 3)
        window.low, window.high = (-value, -value), (value, value)
        return f"i in -{name}..{name}, j in -{name}..{name}", name

    # Operations

    def stage_conv(self, name, source, read, window, padded):
        kernel, base = self.kernel(read, window, source.lanes)
        steps = "" if window.stride == (1, 1) else f", stride: ({window.stride[0]}, {window.stride[1]})"
        result = self.fresh()
        self.emit(f"{result} = conv({name}, {kernel}{steps})")
        return self.add(result, base, source.lanes, window.domain, window.taps)

    def kernel(self, read, window, lanes):
        """A kernel with taps exactly at the window's offsets; gives (text, type of the convolution)."""
        width, height = [h - l + 1 for l, h in zip(window.low, window.high)]
        unsigned = read == "u32"
        form = self.random.random()
        floating = read in ("f16", "f32")
        huge = not floating and form > 0.25 and self.random.random() < 0.15

        def tap():
            low = 0 if unsigned else -3
            if huge:
                return str(self.random.choice((0, 1, 255, 30000, 65536, 100 - 400 * (not unsigned))))
            if floating and form < 0.4:
                return str(self.random.choice((0.5, -0.25, 0.3, 1.5, 0.125, 0)))
            return str(self.random.randint(low, 5))

        def element():
            if lanes > 1 and form > 0.85:
                return "(" + ", ".join(tap() for _ in range(lanes)) + ")"
            return tap()
        if form < 0.25:  # an outer product
            column = [self.random.randint(0 if unsigned else -2, 4) for _ in range(height)]
            row = [self.random.randint(1, 3) for _ in range(width)]
            rows = [[str(c * r) for r in row] for c in column]
        else:
            rows = [[element() for _ in range(width)] for _ in range(height)]
        text = "[" + ", ".join("[" + ", ".join(row) + "]" for row in rows) + "]"
        if unsigned:
            text = f"u32({text})"
        elif self.random.random() < 0.2:
            text, floating = f"{text} / {self.random.choice((16, 4, 3))}", True
        origin = (-window.low[0], -window.low[1])
        inside = 0 <= origin[0] < width and 0 <= origin[1] < height
        if inside:
            if origin != (width // 2, height // 2):
                text = f"anchor({text}, {origin[0]}, {origin[1]})"
            return text, "f32" if floating else "u32" if unsigned else "i32"
        return self.defined_kernel(text, window), "f32" if floating else "u32" if unsigned else "i32"

    def defined_kernel(self, text, window):
        """A kernel whose taps lie beside its origin: an indexed definition shifts a literal."""
        width, height = [h - l + 1 for l, h in zip(window.low, window.high)]
        literal, shifted = self.fresh("k"), self.fresh("k")
        dx, dy = window.low[0] + width // 2, window.low[1] + height // 2
        self.emit(f"{literal} = {text}")
        self.emit(f"{shifted}[i in {window.low[0]}..{window.high[0]}, j in {window.low[1]}..{window.high[1]}] = "
                  f"{literal}[i - {dx}, j - {dy}]".replace("- -", "+ "))
        return shifted

    def stage_sum(self, name, source, read, window, padded):
        weights = self.random.choice(("", "", " * (i + 2*j)", " * (i*i - j)", " * 3"))
        floating = read in ("f16", "f32")
        if read == "u32":
            weights = self.random.choice(("", " * 3"))
        elif floating:
            weights = self.random.choice(("", " * 0.3", " * (i + 2*j)", " * (0.25*i - 1)"))
        binders = self.binders(window)
        kind = "sum"
        if self.random.random() < 0.1 and not floating:
            kind, weights = "mean", ""
        result = self.fresh()
        self.emit(f"{result}[x, y] = {kind}({binders}: {self.reads(name, window)}{weights})")
        base = "f32" if floating or kind == "mean" else "u32" if read == "u32" else "i32"
        return self.add(result, base, source.lanes, window.domain, window.taps)

    def stage_where(self, name, source, read, window, padded):
        """A reduction over part of a window: a run-time disk, or where pixels say so."""
        centred = all(l == -h for l, h in zip(window.low, window.high))
        body = self.reads(name, window)
        if padded and centred and self.random.random() < 0.5:
            binders, radius = self.radius_binders(window)
            where = f"i*i + j*j <= {radius}*{radius}"
        else:
            binders = self.binders(window)
            where = self.random.choice(("(i + j) % 2 == 0", "i != 1 or j > 0",
                                        f"{body}{'.g' if source.lanes > 1 else ''} > 1"))
        kind = self.random.choice(("sum", "min", "max", "count", "mean"))
        if kind == "mean" and read in ("f16", "f32") and self.special:
            kind = "max"
        result = self.fresh()
        base = {"sum": promoted(read), "mean": "f32", "count": "i32"}.get(kind, read)
        lanes = source.lanes
        if kind == "count":
            body, lanes = f"{body}{'.r' if source.lanes > 1 else ''} > 2", 1
        self.emit(f"{result}[x, y] = {kind}({binders} where {where}: {body})")
        return self.add(result, base, lanes, window.domain, window.taps * 2)

    def stage_minmax(self, name, source, read, window, padded):
        kind = self.random.choice(("min", "max"))
        result = self.fresh()
        self.emit(f"{result}[x, y] = {kind}({self.binders(window)}: {self.reads(name, window)})")
        return self.add(result, read, source.lanes, window.domain, window.taps)

    def stage_median(self, name, source, read, window, padded):
        result = self.fresh()
        self.emit(f"{result}[x, y] = median({self.binders(window)}: {self.reads(name, window)})")
        return self.add(result, read, source.lanes, window.domain, window.taps * 3)

    def stage_gather(self, name, source, read, window, padded):
        """A read whose place depends on pixels, by up to the window's size."""
        spread = [h - l + 1 for l, h in zip(window.low, window.high)]
        picture, guide = self.guide()
        steps = [f"{guide[axis]} % {spread[axis]} + {window.low[axis]}".replace("+ -", "- ") for axis in (0, 1)]
        result = self.fresh()
        if padded:
            place = self.reads(name, window, ("", ""), (f" + {steps[0]}", f" + {steps[1]}"))
        else:
            parts = []
            for axis, coordinate in enumerate("xy"):
                start = f"{name}.start({axis})"
                index = f"{window.stride[axis]}*{coordinate} + {steps[axis]}"
                parts.append(f"clamp({index}, {start}, {start} + {name}.extent({axis}) - 1)")
            place = f"{name}[{', '.join(parts)}]"
        ranges = [f"{c} in {s}..{s + e - 1}" for c, (s, e) in zip("xy", window.domain)]
        domain = window.domain
        inferred = intersect(domain, picture.domain)
        if padded and inferred and self.random.random() < 0.5:
            ranges, domain = ["x", "y"], inferred
        self.emit(f"{result}[{', '.join(ranges)}] = {place}")
        return self.add(result, read, source.lanes, domain, 3)

    def guide(self):
        """A picture, and two whole-number expressions in x and y from it."""
        picture = self.random.choice(self.inputs)
        picture.used = True
        guide = self.fresh("q")
        lane = ".r" if picture.lanes > 1 else ""
        whole = f"i32({picture.name}{lane} * 3)" if picture.base in ("f16", "f32") else \
            f"wrap_i32({picture.name}{lane})"
        self.emit(f"{guide} = pad({whole}, wrap)")
        return picture, (f"{guide}[x, y]", f"{guide}[x + 1, y + 2]")

    # Two consumers

    def second_consumer(self, name, source, read, result, padded):
        """Something else that reads the same stage, elsewhere; added to the first where the two overlap."""
        window = self.window(source, padded, self.random.random() < 0.5, False, "sum")
        if window is None:
            return
        second = self.fresh()
        if self.random.random() < 0.5:
            self.emit(f"{second}[x, y] = max({self.binders(window)}: {self.reads(name, window)})")
            value = self.add(second, read, source.lanes, window.domain, window.taps)
        else:
            value = self.stage_conv(name, source, read, window, padded)
        shared = intersect(result.domain, value.domain)
        if shared and result.lanes in (1, value.lanes) and result.base == value.base and self.random.random() < 0.7:
            total = self.fresh()
            operator = "-" if self.random.random() < 0.3 else "+"
            self.emit(f"{total} = {result.name} {operator} {value.name}")
            result.used = value.used = True
            self.add(total, promoted(value.base), value.lanes, shared)


def promoted(base):
    return "f32" if base in ("f16", "f32") else "u32" if base == "u32" else "i32"


def joined_type(base, value):
    """The type of reads of a `base` picture with a constant border of this whole number."""
    bits = int(base[1:])
    low, high = (-2**(bits - 1), 2**(bits - 1) - 1) if base in SIGNED else (0, 2**bits - 1)
    return None if low <= value <= high else "i32"


def window_domain(domain, low, high, stride, padded):
    """Where stride * x + offset exists for every offset of the window; None if nowhere."""
    result = []
    for (start, extent), l, h, s in zip(domain, low, high, stride):
        first, last = start, start + extent - 1
        if not padded:
            first, last = first - l, last - h
        first, last = -(-first // s), last // s
        if last < first:
            return None
        result.append((first, last - first + 1))
    return result
