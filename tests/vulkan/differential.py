#!/usr/bin/env python3
"""Random pipelines on a Vulkan device against the interpreter, bit for bit (trials.c).

    tests/vulkan/differential.py COUNT --trials build/vulkan_trials [--seed S] [--first K] [--only 3,17] [--kind scripts|chains|ir]

A third of them are scripts, as tests/differential.py makes them, a third chains of small stages (chains.py), and a third
random tensor IR. All run in one process: a device costs more to open than a pipeline takes. A failure prints what repeats
it, and keeps the scripts.
"""

import argparse
import os
import random
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.dirname(HERE)]

from chains import chains  # noqa: E402
from reference.generate import pipelines  # noqa: E402

SEEDS_APART = 1000000


KINDS = ("scripts", "chains", "ir")


def words_of(pipeline):
    """The sizes and parameters, as trials.c reads them."""
    sizes = [f"{p.name}={'x'.join(str(extent) for _, extent in p.domain)}" for p in pipeline.inputs + pipeline.arrays]
    return sizes + [f"{name}:{text}" for name, (_, text, _) in pipeline.params.items()]


def write_line(file, folder, pipeline, seed, words):
    path = os.path.join(folder, f"{pipeline.name}.pipe")
    with open(path, "w", encoding="utf-8") as script:
        script.write(pipeline.script)
    file.write(" ".join([str(seed * SEEDS_APART + pipeline.number), path, pipeline.name] + words) + "\n")


def wanted(options, made):
    """Those of the pipelines that were asked for."""
    for pipeline in made(options.first + options.count, options.seed):
        if pipeline.number in options.only if options.only else pipeline.number >= options.first:
            yield pipeline


def run_scripts(options, folder, kind):
    path = os.path.join(folder, f"{kind}.trials")
    with open(path, "w", encoding="utf-8") as file:
        for pipeline in wanted(options, pipelines if kind == "scripts" else chains):
            write_line(file, folder, pipeline, options.seed, words_of(pipeline) if kind == "scripts" else pipeline.words)
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
    parser.add_argument("--only", default="", help="these alone, of the kind: 3,17,402")
    parser.add_argument("--kind", choices=KINDS, help="only such pipelines")
    options = parser.parse_args()
    options.seed = random.randrange(2**31) if options.seed is None else options.seed
    options.only = {int(word) for word in options.only.split(",") if word}
    if options.only:
        options.first, options.count = 0, max(options.only) + 1
    options.kinds = [options.kind] if options.kind else KINDS
    options.count = -(-options.count // len(options.kinds))
    return options


def main():
    options = arguments()
    print(f"seed {options.seed}", flush=True)
    folder = tempfile.mkdtemp(prefix="halo-vulkan-")
    failed = 0
    for kind in options.kinds:
        failed |= run_ir(options) if kind == "ir" else run_scripts(options, folder, kind)
    if failed:
        print(f"the scripts are in {folder}")
    else:
        shutil.rmtree(folder)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
