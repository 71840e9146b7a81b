"""Runs `halo run` on a script with given pictures and compares what it writes with exact expected values."""
import os
import subprocess

from files import read_npy, read_picture, write_picture


class Failure(Exception):
    pass


class Case:
    """One script, one set of pictures and parameters, and the function that knows the answer.

    tolerance is what the result may be away from the expected value, in units of the output: 0 where the arithmetic
    is exact. An 8-bit output is first allowed its half step of rounding; with tolerance 0 it must be the nearest
    integer, halves to even.
    """

    def __init__(self, script, expected, inputs=None, params=None, tolerance=0.0, pipe=None, name=None, extra=None,
                 outputs=None):
        self.script, self.expected, self.inputs, self.params = script, expected, inputs or {}, params or {}
        self.tolerance, self.pipe, self.extra = tolerance, pipe, extra or {}
        self.outputs = outputs or {"": "ppm"}
        self.name = name or os.path.splitext(os.path.basename(script))[0]


def write_inputs(case, folder):
    words = []
    for name, planes in case.inputs.items():
        real = any(isinstance(v, float) for v in planes[0][0])
        path = os.path.join(folder, f"{name}.{'pfm' if real else 'pgm' if len(planes) == 1 else 'ppm'}")
        write_picture(path, planes)
        words.append(f"{name}={path}")
    for name, value in case.params.items():
        if not callable(value) and name not in case.extra.get("only_expected", ()):
            words.append(f"{name}={value}")
    return words + case.extra.get("words", [])


def run(halo, case, folder, switches=()):
    command = [halo, "run", case.script] + write_inputs(case, folder) + list(switches)
    if case.pipe:
        command += ["--pipe", case.pipe]
    paths = {}
    for name, kind in case.outputs.items():
        paths[name] = os.path.join(folder, f"out_{name or 'result'}.{kind}")
        command += ["-o", f"{name}={paths[name]}" if name else paths[name]]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    if done.returncode != 0:
        raise Failure(f"exit status {done.returncode} of {' '.join(command)}\n{done.stderr}")
    return {name: read_any(path) for name, path in paths.items()}


def read_any(path):
    if not path.endswith(".npy"):
        return read_picture(path)
    shape, values = read_npy(path)
    height, width = shape[0], shape[1]
    components = shape[2] if len(shape) > 2 else 1
    return [[[values[(y * width + x) * components + c] for x in range(width)] for y in range(height)]
            for c in range(components)]


def wrong(actual, expected, tolerance, integer):
    """Whether one value is wrong."""
    if expected is None:
        return False
    if expected != expected:
        return actual == actual
    if integer:
        if tolerance == 0:
            return actual != min(max(round(expected), 0), 255)
        return abs(actual - min(max(expected, 0.0), 255.0)) > 0.5 + tolerance
    return not abs(actual - expected) <= tolerance * max(1.0, abs(expected))


def compare(actual, expected, tolerance, kind):
    """Raises with the first wrong pixel and how many there are."""
    shape = [(len(planes), len(planes[0]), len(planes[0][0])) for planes in (actual, expected)]
    if shape[0] != shape[1]:
        raise Failure(f"components, height, width are {shape[0]}, expected {shape[1]}")
    bad = [(x, y, c) for c, plane in enumerate(expected) for y, row in enumerate(plane) for x, v in enumerate(row)
           if wrong(actual[c][y][x], v, tolerance, kind in ("ppm", "pgm"))]
    if bad:
        x, y, c = bad[0]
        raise Failure(f"{len(bad)} values are wrong; the first at x={x} y={y} component {c}: "
                      f"{actual[c][y][x]}, expected {expected[c][y][x]:.9g} within {tolerance}")


def check(halo, case, folder, switches=()):
    actual = run(halo, case, folder, switches)
    expected = case.expected(case.inputs, case.params)
    for name, kind in case.outputs.items():
        try:
            compare(actual[name], expected[name], case.tolerance, kind)
        except Failure as failure:
            raise Failure(f"output {name or 'result'}: {failure}") from None
