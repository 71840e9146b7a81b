#!/usr/bin/env python3
"""Keeps lang/reference.md true.

* Each block marked ```pipe is a script that `halo check` finds nothing wrong with; one marked ```pipe fails E0301 has to
  give that error.
* A script that says `# src: 1 2 4` and `# gives: 15 21 27` is run on that row of grey pixels, and has to give that one.
* Every built-in function, every function of the prelude and every border is mentioned, and the bounds of the
  transcendental functions are those of lowering/expand.def.

Run one by hand: tests/run_reference.py --halo build/halo --line 123 (a line inside the block).
"""

import argparse
import json
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
BLOCK = re.compile(r"^```pipe(?: fails ([EW]\d{4}))?\n(.*?)^```$", re.MULTILINE | re.DOTALL)
SRC = re.compile(r"^# src:\s+(.*)$", re.MULTILINE)
GIVES = re.compile(r"^# gives:\s+(.*)$", re.MULTILINE)


def check(halo, script, expected):
    """What is wrong with the diagnostics of one script, or None."""
    run = subprocess.run([halo, "check", "--json", script], capture_output=True, timeout=60, check=False)
    try:
        diagnostics = json.loads(run.stdout)
    except ValueError:
        return f"exit status {run.returncode}: {run.stderr.decode('utf-8', 'replace')}"
    codes = [d["code"] for d in diagnostics]
    if expected and expected not in codes:
        return f"expected {expected}, found {codes or 'nothing'}"
    if not expected and codes:
        return "\n".join(f"line {d['line']} of the block: {d['code']}: {d['message']}" for d in diagnostics)
    return None


def write_pgm(path, pixels):
    path.write_bytes(b"P5\n%d 1\n255\n" % len(pixels) + bytes(pixels))


def read_pgm(path):
    fields = path.read_bytes().split(None, 4)
    if fields[0] != b"P5" or fields[3] != b"255":
        raise ValueError(f"{path} isn't a binary PGM of 8 bits")
    return list(fields[4])


def run_example(halo, script, folder, source, expected):
    """Runs a script on one row of pixels; what is wrong with the result, or None."""
    picture, result = folder / "in.pgm", folder / "out.pgm"
    write_pgm(picture, [int(v) for v in source.split()])
    run = subprocess.run([halo, "run", script, picture, "-o", result], capture_output=True, timeout=60, check=False)
    if run.returncode != 0:
        return f"exit status {run.returncode}: " + run.stderr.decode("utf-8", "replace")
    found = read_pgm(result)
    if found != [int(v) for v in expected.split()]:
        return f"gives {' '.join(map(str, found))}, expected {expected}"
    return None


def unmentioned(text):
    """Functions and borders that the manual doesn't name."""
    names = set()
    table = ROOT / "frontend" / "builtins.def"
    names.update(re.findall(r"^(?:PIXELS|WHOLE)\((\w+),", table.read_text(), re.MULTILINE))
    for script in (ROOT / "lang" / "prelude").glob("*.pipe"):
        names.update(re.findall(r"^(?:fn|const) (\w+)", script.read_text(), re.MULTILINE))
    names.update(re.findall(r"^BORDER\((\w+),", (ROOT / "lowering" / "border.def").read_text(), re.MULTILINE))
    names -= {"none", "value"}                      # borders of the IR alone
    return sorted(name for name in names if not re.search(rf"`[^`\n]*\b{name}\b[^`\n]*`", text))


def wrong_bounds(text):
    """Functions whose bound in the manual's table differs from the compiler's."""
    table = re.search(r"^\| `exp` \|.*\n.*\n.*$", text, re.MULTILINE)
    head, _, bounds = table.group(0).split("\n")
    stated = dict(zip(re.findall(r"`(\w+)`", head), re.findall(r"[\d.]+", bounds)))
    rows = re.findall(r"^EXPAND\((\w+),\s*\d, ([\d.]+),", (ROOT / "lowering" / "expand.def").read_text(), re.MULTILINE)
    return sorted(name for name, bound in rows if stated.get(name) != bound)


def check_block(halo, folder, expected, body):
    script = folder / "example.pipe"
    script.write_text(body)
    problem = check(halo, script, expected)
    source, gives = SRC.search(body), GIVES.search(body)
    if not problem and source and gives:
        problem = run_example(halo, script, folder, source.group(1), gives.group(1))
    return problem


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--halo", required=True, help="the command to test")
    parser.add_argument("--line", type=int, help="only the block with this line")
    options = parser.parse_args()
    text = (ROOT / "lang" / "reference.md").read_text()
    failed = count = 0
    with tempfile.TemporaryDirectory() as folder:
        for block in BLOCK.finditer(text):
            first = text.count("\n", 0, block.start()) + 1
            last = text.count("\n", 0, block.end()) + 1
            if options.line and not first <= options.line <= last:
                continue
            count += 1
            problem = check_block(options.halo, pathlib.Path(folder), block.group(1), block.group(2))
            if problem:
                failed += 1
                print(f"lang/reference.md:{first}: {problem}")
                print(f"    again: tests/run_reference.py --halo {options.halo} --line {first + 1}")
    missing = [] if options.line else unmentioned(text)
    if missing:
        print("lang/reference.md doesn't mention: " + " ".join(missing))
    wrong = [] if options.line else wrong_bounds(text)
    if wrong:
        print("lang/reference.md has other bounds than lowering/expand.def for: " + " ".join(wrong))
    print(f"{count - failed} of {count} examples are as the manual says")
    return 1 if failed or missing or wrong or not count else 0


if __name__ == "__main__":
    sys.exit(main())
