#!/usr/bin/env python3
"""Runs every file of tests/cases through `halo run`, compiled and interpreted, and through the Python evaluator.

    tests/run_cases.py --halo build/halo [--only WORD] [--on vulkan] [--switch=--no-fuse ...]

Exit status 1 if a case fails; each failure names the case, the way it was run and the first difference.
"""

import argparse
import glob
import os
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)

from case_file import differences, read_case  # noqa: E402
from reference import files  # noqa: E402
from reference.test_cases import run_reference  # noqa: E402

LOCATED = re.compile(r":(\d+):\d+: error\[(\w+)\]")


def command(options, case, run, folder, extra):
    """The words of `halo run` for one run of a case."""
    words = [options.halo, "run", os.path.join(folder, "script.pipe")]
    for name, image in run.inputs.items():
        path = os.path.join(folder, f"{name}.npy")
        files.write_npy(path, image)
        words.append(f"{name}={path}")
    words += [f"{name}={value}" for name, value in run.params.items()]
    for name in run.outputs:
        path = os.path.join(folder, f"out_{name}.npy")
        words += ["-o", path if len(run.outputs) == 1 else f"{name}={path}"]
    if not run.outputs:
        words += ["-o", os.path.join(folder, "out.npy")]
    if run.pipe:
        words += ["--pipe", run.pipe]
    return words + case.switches + extra


def run_halo(options, case, run, folder, extra):
    """What `halo run` makes of one run of a case: None if that is right, else what is wrong."""
    for name, text in list(case.files.items()) + [("script.pipe", case.script)]:
        with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
            file.write(text)
    done = subprocess.run(command(options, case, run, folder, extra), capture_output=True, text=True, timeout=60)
    if run.error is not None:
        return check_error(run, done)
    if done.returncode != 0:
        return f"exit status {done.returncode}: {short(done.stderr)}"
    for name, (expected, within) in run.outputs.items():
        actual = files.read_npy(os.path.join(folder, f"out_{name}.npy"), expected.rank)
        found = differences(expected, within, actual)
        if found:
            return f"output {name}: {found}"
    return None


def short(text):
    """The first lines of a message."""
    lines = text.strip().split("\n")
    return "\n".join(lines[:6]) + ("\n..." if len(lines) > 6 else "")


def check_error(run, done):
    code, line = run.error
    if done.returncode != 1:
        return f"exit status {done.returncode}, expected 1: {short(done.stderr)}"
    located = [(int(m.group(1)), m.group(2)) for m in LOCATED.finditer(done.stderr)]
    for found_line, found_code in located:
        if line in (None, found_line) and code in ("*", found_code):
            return None
    if code == "*" and line is None and done.stderr.strip():
        return None
    return f"expected {code} at line {line}: {short(done.stderr)}"


def ways(options):
    """The ways a case is run: (name, function of case, run and folder)."""
    if options.on == "vulkan":
        switches = ["--on", "vulkan", "--validate"] + options.switch
        yield "vulkan", lambda case, run, folder: run_halo(options, case, run, folder, switches)
        return
    yield "reference", run_reference
    for name, extra in (("compiled", []), ("streamed", ["--stream", "always"]), ("interpreted", ["--interpret"])):
        yield name, lambda case, run, folder, extra=extra: run_halo(options, case, run, folder, extra + options.switch)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--halo", required=True, help="the command to test")
    parser.add_argument("--only", default="", help="cases whose name contains this")
    parser.add_argument("--on", choices=("cpu", "vulkan"), default="cpu", help="vulkan: on a device alone")
    parser.add_argument("--switch", action="append", default=[], help="passed on to halo run")
    options = parser.parse_args()
    count = failures = 0
    for path in sorted(glob.glob(os.path.join(HERE, "cases", "*.case"))):
        name = os.path.basename(path)[:-len(".case")]
        if options.only not in name:
            continue
        case = read_case(path)
        if options.on == "vulkan" and case.contracted:
            continue
        for number, run in enumerate(case.runs, 1):
            for way, function in ways(options):
                count += 1
                with tempfile.TemporaryDirectory() as folder:
                    found = function(case, run, folder)
                if found:
                    failures += 1
                    print(f"FAILED {name}, run {number}, {way}: {found}", flush=True)
    print(f"{count} runs of cases, {failures} failed")
    return 1 if failures or not count else 0


if __name__ == "__main__":
    sys.exit(main())
