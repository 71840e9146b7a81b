"""Reads the .case files of tests/cases: see the README there."""

import math
import re
from types import SimpleNamespace

from reference.arithmetic import f16, f32
from reference.values import Image, Type, count_of, type_named

HEADER = re.compile(r"^\[(\w+)\s*([^\]]*)\]\s*$")
PICTURE = re.compile(r"^(\w+)=(\w+) ([0-9x]+)(?: within (\S+))?$")


def numbers(words, type, count):
    """`count` numbers of a scalar type from a section's words."""
    if words and words[0] == "fill":
        words = [words[1]] * count
    elif words and words[0] == "ramp":
        words = [int(words[1]) + k for k in range(count)]
    elif words and words[0] == "delta":
        words = ["0"] * (count // 2) + [words[1]] + ["0"] * (count - count // 2 - 1)
    if len(words) != count:
        raise ValueError(f"{len(words)} numbers, expected {count}")
    if type.base in ("f16", "f32"):
        rounded = f16 if type.base == "f16" else f32
        return [rounded(float(w)) for w in words]
    return [bool(int(w)) if type.base == "bool" else int(w) for w in words]


def picture(argument, words):
    """(name, Image, tolerance) of an input or output section."""
    match = PICTURE.match(argument)
    if not match:
        raise ValueError(f"not NAME=TYPE SIZE: {argument!r}")
    name, type_word, size, within = match.groups()
    type = type_named(type_word)
    domain = [(0, int(e)) for e in size.split("x")]
    flat = numbers(words, type, count_of(domain) * type.lanes)
    planes = [flat[k::type.lanes] for k in range(type.lanes)]
    return name, Image(domain, Type(*type), planes), float(within) if within else 0.0


def sections(text):
    """(kind, argument, lines) of each section."""
    found = []
    for line in text.split("\n"):
        match = HEADER.match(line)
        if match and match.group(1) in KINDS:
            found.append((match.group(1), match.group(2).strip(), []))
        elif found:
            found[-1][2].append(line)
    return found


KINDS = ("script", "file", "switch", "contracted", "run", "input", "param", "pipe", "output", "error")


def new_run():
    return SimpleNamespace(inputs={}, params={}, pipe=None, outputs={}, error=None)


def read_case(path):
    """A case: script, files, switches and runs."""
    with open(path, encoding="utf-8") as file:
        text = file.read()
    case = SimpleNamespace(path=path, script=None, files={}, switches=[], contracted=False, runs=[new_run()])
    for kind, argument, lines in sections(text):
        words = " ".join(lines).split()
        run = case.runs[-1]
        if kind == "script":
            case.script = "\n".join(lines).rstrip("\n") + "\n"
        elif kind == "file":
            case.files[argument] = "\n".join(lines).rstrip("\n") + "\n"
        elif kind == "switch":
            case.switches.append(argument)
        elif kind == "contracted":
            case.contracted = True
        elif kind == "run":
            if run.outputs or run.error:
                case.runs.append(new_run())
        elif kind == "param":
            run.params.update(w.split("=", 1) for w in words)
        elif kind == "pipe":
            run.pipe = argument
        elif kind == "error":
            code, _, line = argument.partition(" line ")
            run.error = (code, int(line) if line else None)
        else:
            name, image, within = picture(argument, words)
            if kind == "input":
                run.inputs[name] = image
            else:
                run.outputs[name] = (image, within)
    if case.script is None or not all(r.outputs or r.error for r in case.runs):
        raise ValueError(f"{path}: a case needs a script, and outputs or an error for each run")
    return case


def differences(expected, within, actual):
    """The first difference between two images as text, or None. Any NaN equals any NaN, -0 equals 0."""
    if actual.type != expected.type:
        return f"type {actual.type}, expected {expected.type}"
    extents = [[e for _, e in image.domain] for image in (actual, expected)]
    if extents[0] != extents[1]:
        return f"size {extents[0]}, expected {extents[1]}"
    for lane, (p, q) in enumerate(zip(actual.planes, expected.planes)):
        for k, (v, w) in enumerate(zip(p, q)):
            same = v == w or v != v and w != w
            if not same and not (within and math.isfinite(v) and abs(v - w) <= within):
                width = extents[0][0]
                return f"component {lane} at ({k % width}, {k // width}) is {v}, expected {w}"
    return None
