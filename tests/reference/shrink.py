"""Makes a failing random pipeline small.

    python3 -m tests.reference.shrink NUMBER --seed S --halo build/halo [--switch=...]
        [--way crash|interpret|compiled|reference]

Drops outputs and every line that nothing needs, tries smaller windows of text, as long as the failure stays. Prints
the script that is left. Ways to fail: the command (or only the interpreter) ends badly, compiled and
interpreted differ, interpreted and reference differ.
"""

import argparse
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

import differential  # noqa: E402
from reference.generate import pipelines  # noqa: E402

NAME = re.compile(r"\b[a-z]+_?\d+\b")


class Small:
    """A pipeline reduced to some of its lines and outputs."""

    def __init__(self, pipeline, lines, outputs):
        self.__dict__.update(pipeline.__dict__)
        self.lines, self.outputs = lines, outputs
        self.number, self.name = pipeline.number, pipeline.name
        self.whole = pipeline

    @property
    def script(self):
        saved = self.whole.lines, self.whole.outputs
        self.whole.lines, self.whole.outputs = self.lines, self.outputs
        text = self.whole.script
        self.whole.lines, self.whole.outputs = saved
        return text

    @property
    def output_names(self):
        return [f"o{k}" for k in range(len(self.outputs))]



def needed(lines, outputs):
    """The lines that the outputs depend on."""
    wanted, kept = {v.name for v in outputs}, []
    for line in reversed(lines):
        names = re.findall(r"\b[a-z]+_?\d+\b", line)
        target = re.match(r"\s*(?:@\w+(?:\([^)]*\))? )?(?:for k in [^{]*\{ *)?([a-z]+_?\d+)", line).group(1)
        if target in wanted:
            kept.append(line)
            wanted.update(names)
    return kept[::-1]


def failure(options, small, folder):
    """What goes wrong with a reduced pipeline, or None."""
    trial = differential.Trial(small, folder, options.switch, options.tuning)
    ways = ("interpret",) if options.way in ("reference", "interpret") else ("compiled", "interpret")
    for way in ways:
        try:
            done = subprocess.run([options.halo, "run"] + trial.arguments(way), capture_output=True, text=True,
                                  timeout=30)
        except subprocess.TimeoutExpired:
            return "hangs"
        if done.returncode != 0:
            return f"{way}: {done.returncode} {done.stderr.strip()[:600]}" if options.way in ("crash", "interpret") else None
    if options.way == "reference":
        return differential.reference_job(trial)
    if options.way != "compiled":
        return None
    found = None
    for a, b in zip(trial.outputs("compiled"), trial.outputs("interpret")):
        found = found or differential.first_difference(a, b)
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("number", type=int)
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--halo", required=True)
    parser.add_argument("--switch", action="append",
                        help="instead of the switches that the differential test gives")
    parser.add_argument("--way", choices=("crash", "interpret", "compiled", "reference"), default="crash")
    options = parser.parse_args()
    pipeline = next(p for p in pipelines(options.number + 1, options.seed) if p.number == options.number)
    passes, options.tuning = differential.exact_passes(options.halo), ""
    if options.switch is None:
        source = random.Random(f"{options.seed} {options.number} switches")
        options.switch = differential.random_switches(source, passes)
        options.tuning = differential.random_tuning(options.seed, pipeline, passes, differential.processor(options.halo))
    else:
        options.switch = [word for switch in options.switch for word in switch.split()]
    folder = tempfile.mkdtemp(prefix="halo-shrink-")
    best, reason = shrink(options, pipeline, folder)
    print(f"# {pipeline.size[0]}x{pipeline.size[1]} {[(p.name, p.contents) for p in pipeline.inputs]} "
          f"{ {k: v[1] for k, v in pipeline.params.items()} } {' '.join(options.switch)}")
    print(options.tuning, end="")
    print(best.script if best else "# no failure")
    print(f"# {reason}")
    shutil.rmtree(folder)


def shrink(options, pipeline, folder):
    """The smallest failing one among: each value alone, and the outputs with as many left out as can be."""
    best = reason = None
    for value in pipeline.pool:
        if value.source:
            continue
        small = Small(pipeline, needed(pipeline.lines, [value]), [value])
        found = failure(options, small, folder)
        if found and (best is None or len(small.lines) < len(best.lines)):
            best, reason = small, found
    outputs = list(pipeline.outputs)
    for value in pipeline.outputs if best is None else []:
        rest = [v for v in outputs if v is not value]
        found = rest and failure(options, Small(pipeline, needed(pipeline.lines, rest), rest), folder)
        if found:
            outputs, reason = rest, found
    if best is None:
        best = Small(pipeline, needed(pipeline.lines, outputs), outputs)
        reason = failure(options, best, folder)
    return (best, reason) if reason else (None, None)


if __name__ == "__main__":
    main()
