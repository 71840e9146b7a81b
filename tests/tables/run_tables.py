#!/usr/bin/env python3
"""Look-ups in tables and gathers of pixels, compiled for several processors, have the interpreter's bits.

    tests/tables/run_tables.py --halo build/halo [--only WORD]

Each script is built as a shared library for each processor that this machine can be, loaded here and run on pictures of
several sizes. A picture's last row ends where a page begins that may not be read, and its first row begins where such a
page ends. `halo run --interpret` says what is right.
"""
import argparse
import ctypes
import mmap
import os
import random
import re
import struct
import subprocess
import sys
import tempfile

SIZES = [(1, 1), (2, 3), (3, 1), (17, 3), (67, 9), (200, 3)]
PAGE = mmap.PAGESIZE
BYTES = {"u8": 1, "i8": 1, "u16": 2, "i16": 2, "f16": 2, "f32": 4, "i32": 4}
WAVE = "fn wave(v) = clamp(v * (2.51 * v + 0.03) / (v * (2.43 * v + 0.59) + 0.14), 0, 1) ** (1 / 2.4)\n"

# name, script, words that `explain` must say; table: from the script's own words.
SCRIPTS = [
    ("bytes", WAVE + "pipe p(src: image u8) -> image u8 { return u8(wave(src / 255) * 255) }", "a table of constants"),
    ("flat", WAVE + "pipe p(src: image u8x3) -> image u8x3 { return u8(wave(src / 255) * 255) }", "a table of constants"),
    ("flat_f32", WAVE + "pipe p(src: image u8x4) -> image f32x4 { return wave(src / 255) }", "a table of constants"),
    ("mixed", WAVE + "pipe p(src: image u8x3) -> image u8x3 { a = wave(src / 255)\n return u8((a + dot(a, (0.3, 0.6, 0.1))) * 127) }",
     "a table of constants"),
    ("words", WAVE + "pipe p(src: image u8) -> image u16 { return u16(wave(src / 255) * 65535) }", "a table of constants"),
    ("wholes", "pipe p(src: image u8) -> image i32 { v = i32(src)\n return v * v // 7 % 1000 * (v // 3) % 577 - v * v % 41 }", "a table of constants"),
    ("negative", WAVE + "pipe p(src: image i8) -> image f32 { return wave(abs(src / 127)) + src }", "a table of constants"),
    ("parameter", WAVE + "pipe p(src: image u8x3, gain: f32 = 1.3 in 0..9) -> image u8x3 { return u8(wave(src / 255 * gain) * 255) }",
     "made once per run"),
    ("parameter_f32", WAVE + "pipe p(src: image u8x2, gain: f32 = 1.3 in 0..9) -> image f32x2 { return wave(src / 255 * gain) }",
     "made once per run"),
    ("parameter_words", WAVE + "pipe p(src: image u8, gain: f32 = 1.3 in 0..9) -> image i16 { return i16(wave(src / 255 * gain) * 30000) }",
     "made once per run"),
    ("blurred", WAVE + "pipe p(src: image u8x3) -> image u8x3 { a = wave(src / 255)\n"
     " b = conv(pad(a, reflect101), [[1, 2, 1], [2, 4, 2], [1, 2, 1]] / 16)\n return u8(mix(a, b, 0.7) * 255) }", "a table of constants"),
    ("two", WAVE + "pipe p(src: image u8, other: image u8) -> image u8 { return u8((wave(src / 255) + wave(other / 255)) * 127) }",
     "a table of constants"),
    ("twice", WAVE + "pipe p(src: image u8) -> image u8x2 { a = wave(src / 255)\n return u8((wave(a) * 255, (a + 1) * 100)) }",
     "a table of constants"),
    ("channel", WAVE + "pipe p(src: image u8x3) -> image u8x3 { return u8((wave(src.g / 255), src.r / 255, src.b / 255) * 255) }",
     "a table of constants"),
    ("written_10bit", "pipe p(raw: image u16 in 0..1023) -> image u8 { curve[i in 0..1023] = u8(sqrt(i / 1023) * 255)\n return curve[raw] }", ""),
    ("written_600", "pipe p(raw: image u16 in 0..599, by: i32 = 3) -> image u8 { curve[i in 0..599] = u8((i * by) // 8)\n return curve[raw] }", ""),
    ("written_40", "pipe p(src: image u8) -> image u16 { curve[i in -20..19] = u16(i * i)\n q = pad(curve, edge)\n return q[i32(src) // 5 - 22] }", ""),
    ("written_f16", "pipe p(src: image u8) -> image f32 { curve[i in 0..255] = f16(sqrt(i) * 1.7)\n return f32(curve[src]) }", ""),
    ("written_bool", "pipe p(src: image u8) -> image u8 { odd[i in 0..255] = i % 3 == 1\n return odd[src] ? 7 : src }", ""),
]

failures = []

# Two neighbours of a row each time, at places that go beyond all four sides; with rows that slide and rows that don't.
TURNED = "warped[(x, y) in src] = sample_linear(q, x * 0.93 + y * 0.21 - 1.3, y * 1.07 - x * 0.13 + 0.7)"
SKEWED = "warped[(x, y) in src] = q[i32(floor(x * 1.3)) - 3, y] * 2 + q[i32(floor(x * 1.3)) - 2, y]"
SINGLE = "warped[(x, y) in src] = q[i32(floor(y * 3.1 + x * 0.7)) - 3, i32(floor(x * 0.3 - y * 0.2)) - 1]"


MOST_BORDERS = (("u8", 3), ("u16", 3), ("f32", 1))


def gathers():
    for kind, lanes in (("u8", 1), ("u8", 2), ("u8", 3), ("u8", 4), ("i8", 3), ("u16", 1), ("u16", 2), ("u16", 3), ("u16", 4), ("f16", 3),
                        ("f32", 1), ("f32", 2), ("f32", 3), ("f32", 4)):
        pixel, real = (kind, "f32") if lanes == 1 else (f"{kind}x{lanes}", f"f32x{lanes}")
        often = (kind, lanes) in MOST_BORDERS
        for border in ("zero", "edge", "reflect101", "wrap") if often else ("zero", "edge"):
            for name, body in (("turned", TURNED), ("skewed", SKEWED), ("single", SINGLE)) if often and border == "zero" else (("turned", TURNED),):
                yield (f"{name}_{pixel}_{border}", f"pipe p(src: image {pixel}) -> image {real} {{ q = pad(src, {border})\n {body}\n return f32(warped) }}", "")
    yield ("turned_constant", f"pipe p(src: image u8x3) -> image f32x3 {{ q = pad(src, constant((1, 20, 250)))\n {TURNED}\n return warped }}", "")
    yield ("turned_axes", f"pipe p(src: image u8x3) -> image f32x3 {{ q = pad(src, x: zero, y: edge)\n {TURNED}\n return warped }}", "")


class Image(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("extent", ctypes.c_int32 * 5), ("stride", ctypes.c_ssize_t * 5)]


def expect(condition, what):
    if not condition:
        failures.append(what)
        print(f"FAILED {what}")


def run(*words):
    done = subprocess.run(words, capture_output=True, text=True, timeout=120)
    expect(done.returncode == 0, f"{' '.join(words)}: {done.stderr.strip()}")
    return done.stdout if done.returncode == 0 else None


class Guarded:
    """Memory of n bytes right before (or behind) a page that can't be touched."""

    def __init__(self, n, at_end):
        pages = (n + PAGE - 1) // PAGE + 2
        self.map = mmap.mmap(-1, pages * PAGE)
        start = ctypes.addressof(ctypes.c_char.from_buffer(self.map))
        libc = ctypes.CDLL(None, use_errno=True)
        for page in (0, pages - 1):
            if libc.mprotect(ctypes.c_void_p(start + page * PAGE), ctypes.c_size_t(PAGE), 0) != 0:
                raise OSError("mprotect")
        self.address = start + (pages - 1) * PAGE - n if at_end else start + PAGE
        self.n = n

    def write(self, data):
        ctypes.memmove(self.address, data, self.n)

    def read(self):
        return ctypes.string_at(self.address, self.n)


def declared(script):
    """(name, kind, lanes) of the pipe's pictures; the result comes last."""
    found = re.findall(r"(\w+): image (\w+?)(?:x(\d))?[ ,)]", script) + [("out",) + re.search(r"-> image (\w+?)(?:x(\d))? ", script).groups()]
    return [(name, kind, int(lanes or 1)) for name, kind, lanes in found]


def picture(kind, lanes, size, limit, random_numbers):
    n = size[0] * size[1] * lanes
    if kind in ("u8", "i8"):
        return bytes(random_numbers.randrange(256) for _ in range(n))
    if kind == "f32":
        return struct.pack(f"<{n}f", *(random_numbers.uniform(-2, 2) for _ in range(n)))
    if kind == "f16":
        return struct.pack(f"<{n}e", *(random_numbers.uniform(-2, 2) for _ in range(n)))
    if kind == "u16":
        return b"".join(random_numbers.randrange(limit + 1).to_bytes(2, "little") for _ in range(n))
    raise ValueError(kind)


def call(library, pictures, size, at_end):
    """The bytes of the last picture, which is the result."""
    images, memory = [], []
    for kind, lanes, data in pictures:
        pixel = BYTES[kind] * lanes
        block = Guarded(size[0] * size[1] * pixel, at_end)
        if data is not None:
            block.write(data)
        images.append(Image(block.address, (ctypes.c_int32 * 5)(*size, 1, 1, 1), (ctypes.c_ssize_t * 5)(pixel, pixel * size[0], 0, 0, 0)))
        memory.append(block)
    words = [ctypes.byref(i) for i in images]
    if hasattr(library, "p_defaults"):
        words.insert(len(words) - 1, ctypes.byref(ctypes.c_char.in_dll(library, "p_defaults")))
    code = library.p(*words, None)
    return memory[-1].read() if code == 0 else code


def processors(all_of_them):
    """Those of the list that this machine can be, with the switches they need."""
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        flags = re.search(r"^flags\s*:(.*)$", file.read(), re.MULTILINE).group(1).split()
    known = [("x86-64-v2", ["--strict"]), ("native", [])]
    if "avx2" in flags and "fma" in flags:
        known.append(("x86-64-v3", []))
    if "avx512bw" in flags and "avx512vl" in flags:
        known.append(("x86-64-v4", []))
    if "avx512vbmi" in flags:
        known.append(("icelake-server", []))
    return known if all_of_them else known[1:3]


def write_npy(path, kind, lanes, size, data):
    """Axes reversed, components last."""
    code = {"u8": "|u1", "i8": "|i1", "u16": "<u2", "i16": "<i2", "i32": "<i4", "f16": "<f2", "f32": "<f4"}[kind]
    shape = (size[1], size[0]) + ((lanes,) if lanes > 1 else ())
    header = f"{{'descr': '{code}', 'fortran_order': False, 'shape': {shape}, }}"
    header += " " * (-(len(header) + 11) % 64) + "\n"
    with open(path, "wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header.encode() + data)


def interpreted(halo, script, strict, size, pictures, folder):
    words = [halo, "run", script, "--interpret"] + strict
    for name, kind, lanes, data in pictures[:-1]:
        path = os.path.join(folder, f"{name}.npy")
        write_npy(path, kind, lanes, size, data)
        words.append(f"{name}={path}")
    out = os.path.join(folder, "out.npy")
    if run(*words, "-o", out) is None:
        return None
    with open(out, "rb") as file:
        whole = file.read()
    name, kind, lanes, _ = pictures[-1]
    return whole[len(whole) - size[0] * size[1] * BYTES[kind] * lanes:]


def check(halo, name, script, says, all_of_them, folder):
    path = os.path.join(folder, "p.pipe")
    with open(path, "w", encoding="utf-8") as file:
        file.write(script + "\n")
    explained = run(halo, "explain", path)
    expect(explained is not None and says in explained, f"{name}: explain doesn't say \"{says}\"")
    limit = int((re.search(r"u16 in 0\.\.(\d+)", script) or [0, "65535"])[1])
    made = declared(script)
    random_numbers = random.Random(name)
    inputs = {size: [picture(kind, lanes, size, limit, random_numbers) for _, kind, lanes in made[:-1]] for size in SIZES}
    right = {}
    for cpu, switches in processors(all_of_them):
        strict = "--strict" in switches
        library_path = os.path.join(folder, f"{name}.{cpu}.so")
        if run(halo, "build", path, "-o", library_path, "--cpu", cpu, *switches) is None:
            continue
        library = ctypes.CDLL(library_path)
        for size in SIZES:
            pictures = list(zip(*zip(*made), inputs[size] + [None]))
            if (strict, size) not in right:
                right[strict, size] = interpreted(halo, path, ["--strict"] if strict else [], size, pictures, folder)
            for at_end in (False, True):
                got = call(library, [p[1:] for p in pictures], size, at_end)
                expect(got == right[strict, size], f"{name} {cpu} {size[0]}x{size[1]} at_end={at_end}: other bits than the interpreter's")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--halo", required=True)
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    for name, script, says in SCRIPTS + list(gathers()):
        if options.only in name:
            all_of_them = "_" not in name or "u8x3" in name
            with tempfile.TemporaryDirectory() as folder:
                check(options.halo, name, script, says, all_of_them, folder)
    print(f"{len(failures)} failed" if failures else "all passed")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
