#!/usr/bin/env python3
"""Random pipelines on a Vulkan device against the interpreter, bit for bit (trials.c).

    tests/vulkan/differential.py COUNT --trials build/vulkan_trials [--seed S] [--first K] [--only 3,17] [--scripts | --ir]

Half of them are scripts, as tests/differential.py makes them, and half random tensor IR. All run in one process: a
device costs more to open than a pipeline takes. A failure prints what repeats it, and keeps the scripts.
"""

import argparse
import os
import random
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))

from reference.generate import pipelines  # noqa: E402

SEEDS_APART = 1000000


def line_of(pipeline, folder, seed):
    """A line of trials.c for a pipeline."""
    path = os.path.join(folder, f"p{pipeline.number}.pipe")
    with open(path, "w", encoding="utf-8") as file:
        file.write(pipeline.script)
    sizes = [f"{p.name}={'x'.join(str(extent) for _, extent in p.domain)}" for p in pipeline.inputs + pipeline.arrays]
    values = [f"{name}:{text}" for name, (_, text, _) in pipeline.params.items()]
    return " ".join([str(seed * SEEDS_APART + pipeline.number), path, pipeline.name] + sizes + values) + "\n"


def wanted(options):
    """The random scripts that were asked for."""
    for pipeline in pipelines(options.first + options.count, options.seed):
        if pipeline.number in options.only if options.only else pipeline.number >= options.first:
            yield pipeline


def run_scripts(options, folder):
    path = os.path.join(folder, "trials.txt")
    with open(path, "w", encoding="utf-8") as file:
        for pipeline in wanted(options):
            file.write(line_of(pipeline, folder, options.seed))
    return subprocess.run([options.trials, "scripts", path], check=False).returncode


def run_ir(options):
    first = options.seed * SEEDS_APART + options.first
    return subprocess.run([options.trials, "random", str(first), str(options.count)], check=False).returncode


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("count", type=int, nargs="?", default=100, help="how many pipelines")
    parser.add_argument("--trials", required=True, help="the program of trials.c")
    parser.add_argument("--seed", type=int, default=None)
    parser.add_argument("--first", type=int, default=0, help="leave out the pipelines before this one")
    parser.add_argument("--only", default="", help="these scripts alone: 3,17,402")
    parser.add_argument("--scripts", action="store_true", help="scripts alone")
    parser.add_argument("--ir", action="store_true", help="tensor IR alone")
    options = parser.parse_args()
    options.seed = random.randrange(2**31) if options.seed is None else options.seed
    options.only = {int(word) for word in options.only.split(",") if word}
    options.scripts = options.scripts or bool(options.only)
    if options.only:
        options.first, options.count = 0, max(options.only) + 1
    if not options.scripts and not options.ir:
        options.count = (options.count + 1) // 2
    return options


def main():
    options = arguments()
    print(f"seed {options.seed}", flush=True)
    folder = tempfile.mkdtemp(prefix="halo-vulkan-")
    failed = 0
    if not options.ir:
        failed |= run_scripts(options, folder)
    if not options.scripts:
        failed |= run_ir(options)
    if failed:
        print(f"the scripts are in {folder}")
    else:
        shutil.rmtree(folder)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
