#!/usr/bin/env python3
"""Checks every example, and every function of the prelude, against pictures computed independently in Python.

    tests/run_examples.py --halo build/halo [--only WORD] [--no-prelude] [--on vulkan] [--switch=--strict ...]

Exit status 1 if a case fails; each failure names the case and its first wrong pixel.
"""
import argparse
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "examples"))

import cases            # noqa: E402
import prelude_cases    # noqa: E402
from compare import Failure, check    # noqa: E402
from files import read_picture        # noqa: E402


def untested_scripts(tested):
    """Examples without a case: an example that nothing checks is a failure too."""
    scripts = {name for name in os.listdir(cases.EXAMPLES) if name.endswith(".pipe")}
    return sorted(scripts - {os.path.basename(script) for script in tested})


def stale_pictures(halo, folder):
    """examples/pictures holds what examples/scene.pipe paints; the README's command uses it."""
    copy = os.path.join(folder, "copy.pipe")
    with open(copy, "w", encoding="ascii") as file:
        file.write("pipe colours(src: image u8x3) -> image u8x3 { return src }\npipe greys(src: image u8) -> image u8 { return src }\n")
    painted = {"picture": os.path.join(folder, "picture.ppm"), "depth": os.path.join(folder, "depth.pgm")}
    commands = [[os.path.join(cases.EXAMPLES, "scene.pipe")] + [word for name, path in painted.items() for word in ("-o", f"{name}={path}")]]
    stored = {"picture": os.path.join(folder, "stored.ppm"), "depth": os.path.join(folder, "stored.pgm")}
    for name, pipe, file in (("picture", "colours", "scene.png"), ("depth", "greys", "depth.png")):
        commands.append([copy, "--pipe", pipe, os.path.join(cases.EXAMPLES, "pictures", file), "-o", stored[name]])
    for command in commands:
        if subprocess.run([halo, "run", *command], check=False).returncode != 0:
            return ["the pictures could not be made"]
    return [f"examples/pictures: {name} is not what scene.pipe paints" for name in painted
            if read_picture(painted[name]) != read_picture(stored[name])]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--halo", required=True, help="the command to test")
    parser.add_argument("--only", default="", help="cases whose name contains this")
    parser.add_argument("--switch", action="append", default=[], help="passed on to halo run")
    parser.add_argument("--no-prelude", action="store_true", help="the examples alone")
    parser.add_argument("--on", choices=("cpu", "vulkan"), default="cpu", help="where scripts run")
    options = parser.parse_args()
    if options.on == "vulkan":
        if subprocess.run([options.halo, "devices"], capture_output=True, check=False).returncode != 0:
            print("SKIPPED: there is no Vulkan device (Debian: mesa-vulkan-drivers)")
            return 0
        options.switch += ["--on", "vulkan"]
    count, failures, tested = 0, 0, set()
    with tempfile.TemporaryDirectory() as folder:
        for case in list(cases.cases(folder)) + ([] if options.no_prelude else list(prelude_cases.cases(folder))):
            tested.add(case.script)
            if options.only not in case.name:
                continue
            count += 1
            try:
                check(options.halo, case, folder, options.switch)
            except Failure as failure:
                failures += 1
                print(f"FAILED {case.name}: {failure}", flush=True)
        problems = [f"examples/{script}: no case checks it" for script in untested_scripts(tested)]
        problems += stale_pictures(options.halo, folder)
    for problem in problems:
        failures += 1
        print(f"FAILED {problem}")
    print(f"{count} cases, {failures} failed")
    return 1 if failures or not count else 0


if __name__ == "__main__":
    sys.exit(main())
