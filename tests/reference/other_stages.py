"""Random stages beyond windows and pointwise work: lists, functions, pipes, totals, kernels made at run time,
arrays of other ranks."""

from .plan import INTEGERS
from .window_stages import MODES, promoted

KERNEL_CALLS = ("gaussian(0.6)", "gaussian(1.1)", "box(3)", "box(2)", "sobel_x()", "laplacian()", "disk(1.5)")


class OtherStages:
    """The part of a pipeline that makes these stages."""

    def plain_list(self, source):
        levels = self.fresh("g")
        rounds = self.random.randint(1, 3)
        self.emit(f"{levels}[0] = {source.name}")
        mode = self.random.choice(("edge", "wrap", "reflect"))
        wide = "u32([[1, 2, 1]])" if source.base == "u32" else "[[1, 2, 1]]"
        step = f"conv(pad({levels}[k - 1], {mode}), {wide})"
        if source.base in ("f16", "f32"):
            self.emit(f"for k in 1..{rounds} {{ {levels}[k] = {step} / 4 }}")
            base = "f32"
        else:
            plus = "" if source.base == "u32" else " + k"
            self.emit(f"for k in 1..{rounds} {{ {levels}[k] = {step} // 4{plus} }}")
            base = promoted(source.base)
        self.simple(f"{levels}[{rounds}]", source, base, taps=4 * rounds)

    def plain_function(self, source):
        function = self.fresh("fn_")
        narrow = f"wrap_{source.base}" if source.base in INTEGERS else source.base
        if source.base != "u32" and self.random.random() < 0.5:
            self.functions.append(f"fn {function}(a, n = 2) = {narrow}(a * n + 1)")
            self.simple(f"{function}({source.name}, n: 3)", source, source.base)
        else:
            self.functions.append(f"fn {function}(a) {{\n    p = pad(a, reflect)\n    d[x, y] = p[x + 1, y - 1]\n"
                                  f"    return {narrow}(d + a)\n}}")
            self.simple(f"{function}({source.name})", source, source.base, taps=2)

    def plain_arg(self, source):
        padded, found = self.fresh("p"), self.fresh()
        lane = f".{'rgba'[source.lanes - 1]}" if source.lanes > 1 else ""
        self.emit(f"{padded} = pad({source.name}, {self.random.choice(('edge', 'wrap', 'reflect101'))})")
        kind = self.random.choice(("argmin", "argmax"))
        if self.random.random() < 0.5:
            self.emit(f"{found}[x, y] = {kind}(i in -2..1: {padded}[x + i, y]{lane})")
            self.add(found, "i32", 1, source.domain, 8)
        else:
            self.emit(f"{found}[x, y] = {kind}(j in -1..1, i in 0..2: {padded}[x + i, y + j]{lane})")
            self.add(found, "i32", 2, source.domain, 16)

    def plain_mean(self, source):
        """Totals of rows or columns, as a picture of one line."""
        line = self.fresh()
        (left, width), (top, height) = source.domain
        kind = self.random.choice(("mean", "sum", "max", "min"))
        base = "f32" if kind == "mean" else promoted(source.base) if kind == "sum" else source.base
        last = f"{source.name}.start(1) + {source.name}.height - 1"
        self.emit(f"{line}[x, y in 0..0] = {kind}(j in {source.name}.start(1)..{last}: {source.name}[x, j])")
        self.add(line, base, source.lanes, [(left, width), (0, 1)], height)

    def plain_whole(self, source):
        """A total of the whole picture, used by every pixel."""
        total, used = self.fresh("t"), self.fresh()
        kind = self.random.choice(("sum", "min", "max", "count", "mean", "any", "all", "argmin", "argmax"))
        lanes = 1 if kind.startswith("arg") or self.random.random() < 0.5 else source.lanes
        body = f"{source.name}[i, j]" + (".r" if source.lanes > lanes else "")
        if kind in ("count", "any", "all"):
            body = f"{source.name}[i, j]{'.r' if source.lanes > 1 else ''} > {self.random.choice((3, 100))}"
            lanes = 1
        places = self.random.choice((f"(i, j) in {source.name}",) * 2 + (self.rows_and_columns(source),))
        if self.random.random() < 0.3 and not (kind == "mean" and source.base in ("f16", "f32")):
            places += " where (i + j) % 3 != 1"
        self.emit(f"{total} = {kind}({places}: {body})")
        value = {"any": f"({total} ? 5.0 : 7.5)", "all": f"({total} ? 5.0 : 7.5)", "argmin": f"f32({total}.r + 2 * {total}.g)",
                 "argmax": f"f32({total}.r + 2 * {total}.g)"}.get(kind, f"f32({total})")
        operand = f"f32({source.name})"
        how = [f"{operand} - {value}", f"{operand} / (abs({value}) + 1)"]
        if source.lanes == 1 and lanes == 1:
            how.append(f"({operand} > {value} ? {operand} : 0.25)")
        self.emit(f"{used} = {self.random.choice(how)}")
        self.add(used, "f32", source.lanes, source.domain, 2)
        self.work += source.pixels * 60

    def rows_and_columns(self, source):
        """All of a picture by two variables, columns first: another order than `(i, j) in` has."""
        name = source.name
        return (f"i in {name}.start(0)..{name}.start(0) + {name}.width - 1, "
                f"j in {name}.start(1)..{name}.start(1) + {name}.height - 1")

    def plain_kernel_function(self, source):
        """A convolution with a kernel of the prelude."""
        kernel = self.random.choice(KERNEL_CALLS)
        if source.base == "u32":
            kernel = "u32(box(3) * 27)"
        mode = self.random.choice(("edge", "reflect", "reflect101", "wrap", "zero"))
        whole = kernel in ("sobel_x()", "laplacian()") and source.base in INTEGERS
        base = "u32" if source.base == "u32" else "i32" if whole else "f32"
        self.simple(f"conv(pad({source.name}, {mode}), {kernel})", source, base, taps=25)

    def plain_dilated(self, source):
        """A convolution whose taps stand apart."""
        kernel = "[[1, 2], [3, 1]]" if self.random.random() < 0.5 else "[[1, 3, 2]]"
        base = promoted(source.base)
        if base == "u32":
            kernel = f"u32({kernel})"
        steps = self.random.choice(("2", "3", "(1, 4)", "(3, 2)"))
        text = f"conv(pad({source.name}, {self.random.choice(MODES)}), {kernel}, dilation: {steps})"
        self.simple(text, source, base, taps=4)

    def plain_run_time_kernel(self, source):
        """A kernel whose values or extents depend on a parameter."""
        base = promoted(source.base)
        mode = self.random.choice(MODES + ("zero",))
        if base == "f32" and self.random.random() < 0.5:
            sigma, _ = self.parameter("f32", 0, 1.5)
            self.simple(f"conv(pad({source.name}, {mode}), gaussian({sigma}))", source, base, taps=80)
            return
        kernel = self.fresh("k")
        radius, value = self.parameter("i32", 0, 3)
        formula = "u32(i * i + j * j)" if base == "u32" else self.random.choice(("i * i - j", "(i + 4) * (j + 5)"))
        rows = self.random.choice((f"-{radius}..{radius}", "0..1"))
        self.emit(f"{kernel}[i in -{radius}..{radius}, j in {rows}] = {formula}")
        self.simple(f"conv(pad({source.name}, {mode}), {kernel})", source, base, taps=(2 * value + 1) ** 2)

    def plain_volume(self, source):
        """A picture of three dimensions, reduced along the third."""
        padded, cost = self.fresh("p"), self.fresh("v")
        lane = f".{'rgba'[0]}" if source.lanes > 1 else ""
        depth = self.random.randint(1, 4)
        self.emit(f"{padded} = pad({source.name}{lane}, {self.random.choice(MODES)})")
        self.emit(f"{cost}[x, y, z in 0..{depth}] = {padded}[x, y] - {padded}[x + z, y - z]")
        kind = self.random.choice(("argmin", "max", "sum", "median"))
        base = {"argmin": "i32", "sum": promoted(source.base)}.get(kind, promoted(source.base))
        result = self.fresh()
        self.emit(f"{result}[x, y] = {kind}(z in 0..{depth}: {cost}[x, y, z])")
        self.add(result, base, 1, source.domain, 3 * depth + 3)

    def plain_line(self, source):
        """Totals of columns as an array of one dimension, given back to every row."""
        line, result = self.fresh("v"), self.fresh()
        (_, _), (top, height) = source.domain
        self.emit(f"{line}[x] = max(j in {top}..{top + min(height, 3) - 1}: {source.name}[x, j])")
        self.emit(f"{result}[x, y] = {source.name}[x, y] - {line}[x]")
        self.add(result, promoted(source.base), source.lanes, source.domain, 5)

    def plain_array(self, source):
        """An array as an input, read at an index that is made to lie inside."""
        if not any(a.name == "table" for a in self.arrays):
            self.arrays.append(self.array_input("table", source.base))
        table = self.arrays[0]
        index = f"{source.name} % 16" if source.base in INTEGERS else f"i32(floor({source.name})) % 16"
        if source.base == "u32":
            index = f"clamp(i32({index}), 0, 15)"
        self.simple(f"table[{index}]", source, table.base)

    def plain_pipe(self, source):
        """A call of another pipe, whose picture starts at (0, 0)."""
        called = f"called{self.number}_{self.fresh('n')}"
        base = promoted(source.base)
        self.functions.append(f"pipe {called}(s: image {source.type}, n: i32 = 2) -> (big: image {base}"
                              f"{source.type[len(source.base):]}, same: image {source.type}) {{\n"
                              f"    p = pad(s, edge)\n    d[x, y] = max(i in 0..1: p[x + i, y])\n"
                              f"    return s + s, d\n}}")
        output = self.random.choice(("big", "same"))
        self.simple(f"{called}({source.name}).{output}", source, base if output == "big" else source.base,
                    domain=[(0, e) for _, e in source.domain], taps=3)

    def plain_border_picture(self, source):
        """A border function that reads another picture."""
        other = self.random.choice(self.inputs)
        other.used = True
        padded, result, back = self.fresh("p"), self.fresh(), self.fresh("p")
        lane = ".r" if other.lanes > 1 else ""
        convert = f"wrap_{source.base}" if source.base in INTEGERS else source.base
        value = f"{back}[x, y]{lane}"
        if other.base in ("f16", "f32") and source.base in INTEGERS:
            value = f"i32({value} * 4)"
        self.emit(f"{back} = pad({other.name}, wrap)")
        self.emit(f"{padded} = pad({source.name}, fn(x, y) = {convert}({value}))")
        self.emit(f"{result}[x, y] = max(i in -2..1, j in -1..1: {padded}[x + i, y + j])")
        self.add(result, source.base, source.lanes, source.domain, 12)

    def plain_rates(self, source):
        """One definition that reads the same picture at two rates and under two borders."""
        base, (first, half, second, result) = source.base, [self.fresh(n) for n in ("p", "v", "p", "v")]
        self.emit(f"{first} = pad(origin({source.name}), {self.random.choice(MODES)})")
        down, up = self.random.choice((("x, 2*y", "x, y // 2"), ("2*x, y", "x // 2, y"), ("2*x, 2*y", "x // 2, y // 2")))
        self.emit(f"{half}[x, y] = {first}[{down}]")
        self.emit(f"{second} = pad({half}, {self.random.choice(MODES + ('zero',))})")
        x, y = self.random.randint(-2, 2), self.random.randint(-3, 3)
        self.emit(f"{result}[x, y] = {first}[x + {x}, y + {y}] - {second}[{up}]".replace("+ -", "- "))
        self.add(result, promoted(base), source.lanes, [(0, e) for _, e in source.domain], 3)

    def plain_far(self, source):
        """Reads that lie far outside, of one picture under two borders."""
        first, second, result = self.fresh("p"), self.fresh("p"), self.fresh()
        self.emit(f"{first} = pad({source.name}, {self.random.choice(MODES + ('constant(1)',))})")
        self.emit(f"{second} = pad({source.name}, {self.random.choice(MODES)})")
        a, b, c, d = (self.random.choice((-60, -31, -17, -9, 0, 1, 8, 20, 33, 70)) for _ in "abcd")
        self.emit(f"{result}[x, y] = {first}[x + {a}, y + {b}] - {second}[x + {c}, y + {d}]".replace("+ -", "- "))
        self.add(result, promoted(source.base), source.lanes, source.domain, 2)

    def plain_coordinates(self, source):
        """A stage that uses its coordinates as values, read beside itself under a border."""
        stage, padded, result = self.fresh(), self.fresh("p"), self.fresh()
        base = promoted(source.base)
        value = {"u32": "wrap_u32(x + 3*y)", "i32": "3*x - y"}.get(base, "f32(x - 2*y)")
        self.emit(f"{stage}[x, y] = {source.name}[x, y] + {value}")
        self.emit(f"{padded} = pad({stage}, {self.random.choice(MODES)})")
        x, y = self.random.randint(-3, 3), self.random.randint(-3, 3)
        self.emit(f"{result}[x, y] = {padded}[x + {x}, y + {y}] - {padded}[x, y]".replace("+ -", "- "))
        self.add(result, base, source.lanes, source.domain, 3)

    def plain_mirror(self, source):
        """Mirrored, transposed and plain reads of one padded picture."""
        padded, result = self.fresh("p"), self.fresh()
        (left, width), (top, height) = source.domain
        self.emit(f"{padded} = pad({source.name}, {self.random.choice(MODES)})")
        place = self.random.choice((f"{padded}.width - 1 - x, y + 1", f"x, {padded}.height + 1 - y", "y, x",
                                    "5 - 2*x, y", "-x, -y"))
        self.emit(f"{result}[x in {left}..{left + width - 1}, y in {top}..{top + height - 1}] = "
                  f"{padded}[x, y] - {padded}[{place}]")
        self.add(result, promoted(source.base), source.lanes, source.domain, 2)
