"""A workload as the harness sees it: its files, pictures and tolerances, read from workload.json and checked."""

import ast
import json
import pathlib

WORKLOADS = pathlib.Path(__file__).resolve().parent / 'workloads'
TYPES = {'u8': 1, 'i8': 1, 'u16': 2, 'i16': 2, 'u32': 4, 'i32': 4, 'f32': 4}
VALUES = ('photo', 'photo10', 'noise', 'depth')


class Wrong(Exception):
    """workload.json says something that cannot be."""


def evaluate(expression, width, height):
    """An integer expression of W and H."""
    if isinstance(expression, int):
        return expression
    tree = ast.parse(expression, mode='eval')
    allowed = (ast.Expression, ast.BinOp, ast.UnaryOp, ast.operator, ast.unaryop, ast.Constant, ast.Name, ast.Load)
    if not all(isinstance(node, allowed) for node in ast.walk(tree)):
        raise Wrong(f"an extent is an expression of W and H, not '{expression}'")
    return int(eval(compile(tree, 'extent', 'eval'), {'__builtins__': {}}, {'W': width, 'H': height}))


class Picture:
    def __init__(self, words, output):
        self.output = output
        self.name = words['name']
        self.type = words['type']
        self.components = words.get('components', 1)
        self.planar = words.get('layout', 'interleaved') == 'planar' and self.components > 1
        self.extent = words['extent']
        self.values = words.get('values', 'noise')
        if self.type not in TYPES:
            raise Wrong(f"type '{self.type}' is none of {', '.join(TYPES)}")
        if self.values not in VALUES:
            raise Wrong(f"values '{self.values}' is none of {', '.join(VALUES)}")

    def extents(self, width, height):
        return [evaluate(e, width, height) for e in self.extent]

    def bytes(self, width, height):
        total = TYPES[self.type] * self.components
        for e in self.extents(width, height):
            total *= e
        return total

    def word(self, width, height):
        """As the measuring program reads it."""
        layout = 'planar' if self.planar else 'interleaved'
        extent = 'x'.join(str(e) for e in self.extents(width, height))
        direction = 'out' if self.output else 'in'
        return f'{direction}:{self.name}:{self.type}:{self.components}:{layout}:{extent}:{self.values}'


class Workload:
    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.name = self.pipe = self.folder.name
        self.defines = []
        try:
            words = json.loads(self.file('workload.json').read_text())
            self.pictures = [Picture(p, False) for p in words['inputs']] + [Picture(p, True) for p in words['outputs']]
            self.operations_per_pixel = words['operations_per_pixel']
        except (OSError, ValueError, KeyError, Wrong) as error:
            raise Wrong(f'{self.name}/workload.json: {error!r}') from None
        n = len(words['inputs'])
        self.halo_inputs, self.halo_outputs = list(range(n)), list(range(n, len(self.pictures)))
        integers = all(p.type != 'f32' for p in self.pictures if p.output)
        usual = 1 if integers else 1e-4
        self.tolerance = {peer: words.get(f'{peer}_tolerance', usual) for peer in ('halide', 'opencv')}
        self.margin = {peer: words.get(f'{peer}_margin', 0) for peer in ('halide', 'opencv')}
        if any(t > usual for t in self.tolerance.values()) and 'because' not in words:
            raise Wrong(f'{self.name}/workload.json: a larger tolerance needs a "because"')

    @property
    def script(self):
        return self.file(f'{self.name}.pipe')

    def file(self, name):
        return self.folder / name

    def bytes(self, width, height):
        """What has to move at least: every picture once."""
        moved = [self.pictures[i] for i in self.halo_inputs + self.halo_outputs]
        return sum(p.bytes(width, height) for p in moved)

    def operations(self, width, height):
        pixels = 0
        for p in self.pictures:
            if p.output:
                here = 1
                for e in p.extents(width, height):
                    here *= e
                pixels = max(pixels, here)
        return pixels * self.operations_per_pixel


def names():
    return sorted(folder.name for folder in WORKLOADS.iterdir() if (folder / 'workload.json').exists())


def load(name):
    return Workload(WORKLOADS / name)
