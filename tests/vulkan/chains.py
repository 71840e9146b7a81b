"""Random chains of small stages: what a tile's needs follow from.

Each stage reads earlier ones at indices like (3*x + 1) // 2, mirrored or at a fixed place, under any border, over
domains larger and smaller than what is read, of any rank. Kernels stay small, so that many fit into a second.
"""

import random

BORDERS = ("edge", "reflect", "reflect101", "wrap", "zero", "constant(7)")
STORED = ("u8", "i8", "u16", "i16", "i32", "u32", "f16", "f32", "bool")
INDICES = ("{v}", "{v} + {c}", "{v} + {c}", "{v} - {c}", "2*{v} + {c}", "2*{v} - {c}", "3*{v} + {c}", "{v} // 2", "({v} + {c}) // 2",
           "({v} - {c}) // 3", "(3*{v} + {c}) // 2", "(2*{v} - {c}) // 3", "{c} - {v}", "{c}", "clamp({v} + {c}, 0, 4)", "-({v} // 2)",
           "{v} % 3", "{v} + r", "2*{v} - r", "{w} - 1 - {v}", "{v} + {w} // 2", "min({v} + {c}, {w})")
DOMAINS = ("0..{w} - 1", "0..{w} - 1", "0..{w} - 1", "-2..{w} + 1", "0..{w} // 2", "0..2 * {w} - 1", "1..{w}", "0..{w} // 3 + 1", "-1..3",
           "0..(3 * {w}) // 2")


class Value:
    def __init__(self, name, base, lanes, rank):
        self.name, self.base, self.lanes, self.rank = name, base, lanes, rank


class Chain:
    """One random chain; has what differential.py wants of a pipeline."""

    def __init__(self, seed, number):
        self.random, self.number = random.Random(f"chain {seed} {number}"), number
        self.name = f"chain{number}"
        self.real = self.random.random() < 0.5
        self.lines, self.values = [], []
        self.size = (self.extent(), self.extent())
        self.input = Value("a", self.random.choice(STORED[:8]), self.random.choice((1, 1, 1, 2, 3, 4)), 2)
        self.values.append(self.input)
        self.radius = self.random.randint(-2, 6)
        for k in range(self.random.choice((1, 2, 2, 3, 3, 4))):
            self.stage(k)
        made = self.values[1:]
        self.outputs = [v for v in made[:-1] if self.random.random() < 0.25][:3] + [made[-1]]

    def extent(self):
        return self.random.choice((1, 1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 33, self.random.randint(1, 40)))

    def source(self):
        if self.random.random() < 0.7:
            return self.values[-1]
        return self.random.choice(self.values)

    def index(self, axis):
        text = self.random.choice(INDICES if self.random.random() < 0.6 else INDICES[:4])
        variable = "xyzuv"[axis]
        return text.format(v=variable, c=self.random.choice((0, 1, 1, 2, 3, 5, 9)), w=self.measure(axis))

    def measure(self, axis):
        return "a.width" if axis != 1 else "a.height"

    def read(self, padded, source, rank, moved=None):
        """One element, as a number of the chain's kind; `moved` is added to the first index."""
        indices = [self.index(d if d < rank else self.random.randrange(rank)) for d in range(source.rank)]
        if moved:
            indices[0] += " + " + moved
        lane = "." + "rgba"[self.random.randrange(source.lanes)] if source.lanes > 1 else ""
        element = f"{padded}[{', '.join(indices)}]{lane}"
        if source.base == "bool":
            element = f"({element} ? 3 : -2)"
        elif source.base == "u32":
            element = f"wrap_i32({element})"
        return f"f32({element})" if self.real else f"i32({element})"

    def pad(self, source):
        modes = BORDERS[:4] + ("constant(true)",) if source.base == "bool" else BORDERS
        if source.rank == 2 and self.random.random() < 0.3:
            return f"pad({source.name}, x: {self.random.choice(modes)}, y: {self.random.choice(modes)})"
        return f"pad({source.name}, {self.random.choice(modes)})"

    def element(self, k, source, rank):
        padded = f"p{k}_{self.random.randrange(10**6)}"
        self.lines.append(f"{padded} = {self.pad(source)}")
        if self.random.random() < 0.35:
            low, high = self.random.choice((("-1", "1"), ("0", "2"), ("-2", "r"), ("0", "r")))
            kind = self.random.choice(("max", "min", "sum"))
            return f"{kind}(i in {low}..{high}: {self.read(padded, source, rank, 'i')})"
        return self.read(padded, source, rank)

    def joined(self, a, b):
        if self.real:
            ways = ("({a} + {b})", "({a} - {b} * 0.5)", "max({a}, {b})", "min({a}, {b})", "({a} * {b})", "({a} > {b} ? {a} : {b} + x)",
                    "({a} * 0.0 + {b})", "abs({a} - {b})", "(x % 2 == 0 ? {a} : {b})")
        else:
            ways = ("({a} + {b})", "({a} - {b})", "max({a}, {b})", "min({a}, {b})", "({a} * {b})", "({a} > {b} ? {a} : {b} + x)",
                    "({a} * 65537 + {b})", "({a} // (abs({b}) + 1))", "bit_xor({a}, {b})", "({a} % 7 + {b})", "(x % 2 == 0 ? {a} : {b})")
        return self.random.choice(ways).format(a=a, b=b)

    def stored(self, text, base):
        if base == "bool":
            return f"{text} > 3"
        if self.real:
            return f"{base}({text})" if base != "u32" else f"wrap_u32(i32({text}))"
        return {"i32": text, "f32": f"f32({text})", "f16": f"f16({text} % 1000)"}.get(base, f"wrap_{base}({text})")

    def stage(self, k):
        name, rank = f"v{k}", self.random.choice((2, 2, 2, 2, 2, 1, 3, 4))
        base, lanes = self.random.choice(STORED), self.random.choice((1, 1, 1, 2, 3, 4))
        parts = []
        for _ in range(lanes):
            text = self.element(k, self.source(), rank)
            for _ in range(self.random.choice((0, 1, 1))):
                text = self.joined(text, self.element(k, self.source(), rank))
            parts.append(self.stored(text, base))
        domain = []
        for d in range(rank):
            span = self.random.choice(DOMAINS).format(w=self.measure(d)) if d < 2 else f"{self.random.randint(-1, 0)}..{self.random.randint(0, 2)}"
            domain.append(f"{'xyzuv'[d]} in {span}")
        hint = self.random.choice(("", "", "", "", "", "@materialize ", "@tile(5, 3) "))
        body = parts[0] if lanes == 1 else f"({', '.join(parts)})"
        self.lines.append(f"{hint}{name}[{', '.join(domain)}] = {body}")
        self.values.append(Value(name, base, lanes, rank))

    @staticmethod
    def type_of(value):
        base = value.base if value.lanes == 1 else f"{value.base}x{value.lanes}"
        return f"image {base}" if value.rank == 2 else f"{base}[{', '.join('_' * value.rank)}]"

    @property
    def script(self):
        named = [f"o{k}: {self.type_of(v)}" for k, v in enumerate(self.outputs)]
        results = f"({', '.join(named)})" if len(named) > 1 else self.type_of(self.outputs[0])
        back = ", ".join(v.name for v in self.outputs)
        lines = "".join(f"    {line}\n" for line in self.lines)
        return f"pipe {self.name}(a: {self.type_of(self.input)}, r: i32 in -3..9) -> {results} {{\n{lines}    return {back}\n}}\n"

    @property
    def words(self):
        """The inputs' sizes and the parameters, as trials.c reads them."""
        return [f"a={self.size[0]}x{self.size[1]}", f"r:{self.radius}"]


def chains(count, seed):
    for number in range(count):
        yield Chain(seed, number)
