#!/usr/bin/env python3
"""The bulk loop of a blur has no branch but its own: no test per tap, per border, per pixel.

    tests/explain/check_assembly.py --halo build/halo

Reads `halo show --stage asm`: every innermost loop that has packed multiply-adds (packed adds, where the taps are whole numbers)
holds no jump and no call but what ends it.
Loops of little arithmetic also have streaming stores, as wide as their vectors. A resampled row is read by permutations.
"""
import argparse
import os
import re
import subprocess
import sys
import tempfile

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")

TAPS = "[[1, 2, 3, 2, 1], [2, 5, 6, 3, 2], [3, 7, 9, 7, 5], [1, 3, 5, 3, 1], [2, 1, 2, 4, 1]] / 83"
# Pipes and the packed multiply-adds that one of their loops has at least: taps but the first, which is a product.
SCRIPTS = {
    "grey": (f"pipe grey(src: image f32) -> image f32 {{ return conv(pad(src, edge), {TAPS}) }}", 24),
    "colour": (f"pipe colour(src: image u8x3) -> image u8x3 {{ return u8(conv(pad(src, edge), {TAPS})) }}", 24),
    "reflected": (f"pipe reflected(src: image u16) -> image f32 {{ return conv(pad(src, reflect), {TAPS}) }}", 24),
    "constant": (f"pipe constant(src: image f32x3) -> image f32x3 {{ return conv(pad(src, zero), {TAPS}) }}", 24),
    "mixed": (f"pipe mixed(src: image u8) -> image f32 {{ return conv(pad(src, x: wrap, y: reflect101), {TAPS}) }}", 24),
    "chain": (f"pipe chain(src: image u8x3) -> image f32x3 {{\n a = conv(pad(src, edge), {TAPS})\n"
              f" return conv(pad(a * a, edge), {TAPS})\n}}", 24),
}

# Whether a stored row can go past the caches: where memory binds.
STREAMS = {
    "light": ("pipe light(src: image f32x3) -> image f32x3 { return src * 1.5 + 0.25 }", True),
    "bytes": ("pipe bytes(src: image u8) -> image u8 { return max(src, 7) }", True),
    "narrow": ("pipe narrow(src: image f32) -> image u8 { return u8(src * 255) }", False),
    "heavy": (f"pipe heavy(src: image f32) -> image f32 {{ return conv(pad(src, edge), {TAPS}) }}", False),
}

# Rows that are resampled, their columns from a table, are not gathered alone: permutations of one vector and of two, on x86-64-v4.
RESAMPLED = "pipe resampled(src: image u8x3) -> image u8x3 { return u8(resize(src, src.width // 2, src.height // 2, lanczos)) }"
PERMUTATIONS = (re.compile(r"^\s+vpermps\s.*%zmm"), re.compile(r"^\s+vperm[it]2ps\s.*%zmm"))

LABEL = re.compile(r"^(\.?[\w.$]+):")
JUMP = re.compile(r"^\s+(j\w+)\s+(\.L\w+)")
STREAMING = re.compile(r"^\s+v?movnt")
CALL = re.compile(r"^\s+call\w*\s")
PACKED = re.compile(r"^\s+vfn?m(?:add|sub)\d+ps\s.*%[yz]mm")
WHOLE = re.compile(r"^\s+vpadd[wd]\s.*%[yz]mm")

failures = []


def expect(condition, what):
    if not condition:
        failures.append(what)
        print(f"FAILED {what}")


def innermost_loops(lines):
    """Lists of lines from a label to the last jump back to it, without a label that is jumped back to inside."""
    labels = {match[1]: k for k, line in enumerate(lines) if (match := LABEL.match(line))}
    ends = {}
    for k, line in enumerate(lines):
        match = JUMP.match(line)
        if match and labels.get(match[2], k) < k:
            ends[labels[match[2]]] = k
    for start, end in ends.items():
        if not any(start < other <= end for other in ends):
            yield lines[start:end + 1]


def branches(loop):
    """What changes the way through a loop, but for its own test: the jump back, or where that is unconditional, one way out."""
    inside = {match[1] for line in loop if (match := LABEL.match(line))}
    found = [line.strip() for line in loop[:-1] if JUMP.match(line) or CALL.match(line)]
    ways_out = [line for line in found if (match := JUMP.match("\t" + line)) and match[2] not in inside]
    if JUMP.match(loop[-1])[1] == "jmp" and ways_out:
        found.remove(ways_out[0])
    return found


def check(name, assembly, least, step):
    most = 0
    for loop in innermost_loops(assembly.splitlines()):
        packed = sum(bool(step.match(line)) for line in loop)
        if packed == 0:
            continue
        most = max(most, packed)
        # Whether to stream is asked around the stores alone; the last vector, which overlaps, never is: two jumps.
        allowed = 2 if any(STREAMING.match(line) for line in loop) else 0
        expect(len(branches(loop)) <= allowed, f"{name}: a bulk loop with {packed} steps of a sum has {branches(loop)}")
    expect(most >= least, f"{name}: the largest bulk loop has {most} packed steps of a sum, expected {least}")


def check_streams(name, assembly, streams):
    stores = [line for line in assembly.splitlines() if STREAMING.match(line)]
    wide = [line for line in stores if "%ymm" in line]
    expect(bool(stores) == streams and len(wide) == len(stores), f"{name}: streaming stores {stores}")


def assembly_of(options, folder, name, text, cpu="x86-64-v3"):
    path = os.path.join(folder, name + ".pipe")
    with open(path, "w", encoding="ascii") as file:
        file.write(text + "\n")
    return assembly_at(options, path, cpu)


def assembly_at(options, path, cpu="x86-64-v3"):
    done = subprocess.run([options.halo, "show", path, "--stage", "asm", "--cpu", cpu], capture_output=True, text=True, timeout=120)
    expect(done.returncode == 0, f"halo show {path}: {done.stderr}")
    return done.stdout


def self_check():
    """That a branch would be seen."""
    body = ["\tvfmadd231ps\t(%rax), %ymm1, %ymm2", "\tcmpq\t%rax, %rcx", "\tje\t.LBB0_9", "\tvaddps\t%ymm1, %ymm2, %ymm2"]
    lines = ["f:", ".LBB0_2:", *body, "\tjle\t.LBB0_2", ".LBB0_9:", "\tretq"]
    (loop,) = innermost_loops(lines)
    expect(branches(loop) == ["je\t.LBB0_9"] and sum(bool(PACKED.match(line)) for line in loop) == 1, "a branch in a loop is seen")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--halo", required=True)
    options = parser.parse_args()
    self_check()
    with tempfile.TemporaryDirectory() as folder:
        for name, (text, least) in SCRIPTS.items():
            check(name, assembly_of(options, folder, name, text), least, PACKED)
        # Two passes of five taps, in whole numbers.
        check("blur", assembly_at(options, os.path.join(ROOT, "examples", "blur.pipe")), 4, WHOLE)
        for name, (text, streams) in STREAMS.items():
            check_streams(name, assembly_of(options, folder, name, text), streams)
        resampled = assembly_of(options, folder, "resampled", RESAMPLED, "x86-64-v4").splitlines()
        for permutation in PERMUTATIONS:
            expect(any(permutation.match(line) for line in resampled), f"resampled: no {permutation.pattern}")
        # Weights of columns and rows differ in sizes alone, which are read from the frame: one function.
        tables = {match[1] for line in resampled if (match := re.match(r"^\S*\.(column|row)(?:_weight)?:", line))}
        expect(tables == {"column"}, f"resampled: functions for the weights of {sorted(tables)}")
    print(f"{len(failures)} failed" if failures else "all passed")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
