#!/usr/bin/env python3
"""Random pipelines through compiled code, the interpreter and the Python evaluator.

    tests/differential.py COUNT --halo build/halo [--seed S] [--reference-share P] [--first K] [--interpreter-only]

Each pipeline runs compiled under one random switch and through `--interpret`, and the two have to agree bit for
bit (any NaN equals any NaN). A share of them also runs through the Python evaluator: the same bits, but for
f32 pipelines whose rounding isn't promised (separable kernels, exp and its like, long sums), which have to be near.
At the end a table says which combinations of operation, border, type and window were run; with 1000 pipelines or
more an empty cell is a failure. A failure prints the commands that repeat it and keeps its files.
"""

import argparse
import math
import multiprocessing
import os
import random
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)

from reference import files  # noqa: E402
from reference.arithmetic import f16, f32  # noqa: E402
from reference.errors import PipeError  # noqa: E402
from reference.generate import pipelines, pixel_values  # noqa: E402
from reference.plan import Coverage  # noqa: E402
from reference.script import Script  # noqa: E402
from reference.values import Image, Type  # noqa: E402

FULL_RUN = 1000
LINE_SECONDS = 60


# Making

def input_image(picture):
    planes = pixel_values(picture)
    if picture.base in ("f16", "f32"):
        rounded = f16 if picture.base == "f16" else f32
        planes = [[rounded(v) for v in plane] for plane in planes]
    return Image(picture.domain, Type(picture.base, picture.lanes), planes)


def exact_passes(halo):
    """The names of the passes that can be skipped, as `halo show --list` gives them."""
    done = subprocess.run([halo, "show", "--list"], capture_output=True, text=True)
    rows = [line.split() for line in done.stdout.split("\n")]
    return [row[0] for row in rows if len(row) > 1 and row[1] == "exact"]


def random_switches(source, passes):
    choices = [[], [], ["--threads", str(source.randint(1, 3))],
               ["--tile", f"{source.choice((0, 8, 16, 40))}x{source.choice((1, 2, 5, 8, 17))}"],
               ["--tile", f"{source.choice((0, 16))}x{source.choice((3, 8))}", "--threads", "3"],
               ["--stream", "always"], ["--stream", "always", "--threads", "2"], ["--force-border"], ["--no-fuse"], ["--strict"], ["--no-fma"], ["--reparse"]]
    if passes:
        choices += [["--skip", source.choice(passes)]] * 2
    return source.choice(choices)


def processor(halo):
    """This machine's, as tuning files name it."""
    with tempfile.NamedTemporaryFile("w", suffix=".pipe") as file:
        file.write("pipe p(a: image u8) -> image u8 { return a }\n")
        file.flush()
        done = subprocess.run([halo, "show", file.name, "--stage", "choices"], capture_output=True, text=True)
    return done.stdout.split()[3]


def random_tuning(seed, pipeline, passes, cpu):
    """The text of a tuning file for a pipeline, or "": a third have one."""
    source = random.Random(f"{seed} {pipeline.number} tuning")
    if source.random() > 1 / 3:
        return ""
    lines = [f"rows * {source.choice((1, 2, 3, 4, 8))}", f"vectors * {source.choice((1, 2, 3, 4, 8))}", "planes *",
             f"lanes * {source.choice((4, 8, 16, 32))}", f"stream {source.choice(('always', 'never'))}",
             f"tile {source.choice((0, 24))}x{source.choice((0, 2, 7))}"] + [f"skip {word}" for word in passes]
    return "\n".join(["halo tuning 1", f"pipe {pipeline.name} cpu {cpu}"] + source.sample(lines, source.randint(1, 5))) + "\n"


class Trial:
    """A pipeline with its files and commands."""

    def __init__(self, pipeline, folder, switches, tuning=""):
        self.pipeline, self.folder, self.switches = pipeline, folder, switches
        self.stem = os.path.join(folder, f"p{pipeline.number}")
        self.rounding = [s for s in ("--strict", "--no-fma") if s in switches]
        self.strict = "--strict" in switches
        with open(f"{self.stem}.pipe", "w", encoding="utf-8") as file:
            file.write(pipeline.script)
        if tuning:
            with open(f"{self.stem}.pipe.tune", "w", encoding="utf-8") as file:
                file.write(tuning)
        self.words = [f"{self.stem}.pipe", "--pipe", pipeline.name]
        for picture in pipeline.inputs + pipeline.arrays:
            path = f"{self.stem}_{picture.name}.npy"
            files.write_npy(path, input_image(picture))
            self.words.append(f"{picture.name}={path}")
        self.words += [f"{name}={text}" for name, (_, text, _) in pipeline.params.items()]

    def outputs(self, way):
        return [f"{self.stem}_{way}_{name}.npy" for name in self.pipeline.output_names]

    def arguments(self, way):
        """The words after `halo run`."""
        words = list(self.words)
        for name, path in zip(self.pipeline.output_names, self.outputs(way)):
            words += ["-o", path if len(self.pipeline.outputs) == 1 else f"{name}={path}"]
        if way == "interpret":
            return words + ["--interpret"] + self.rounding + ["--quiet"]
        return words + self.switches + ["--quiet"]


# Running

def run_batch(halo, lines, path):
    """Runs argument lists through `halo run --batch`, starting again after a line that ends the process.
    Gives one text per line: "ok" or what went wrong."""
    results = []
    while len(results) < len(lines):
        rest = lines[len(results):]
        with open(path, "w", encoding="utf-8") as file:
            file.write("".join(" ".join(shlex.quote(w) for w in line) + "\n" for line in rest))
        with open(path + ".out", "w+", encoding="utf-8", errors="replace") as out, \
                open(path + ".err", "w+", encoding="utf-8", errors="replace") as err:
            process = subprocess.Popen([halo, "run", "--batch", path], stdout=out, stderr=err)
            state = wait(process, out)
            out.seek(0)
            err.seek(0)
            answers = [line for line in out.read().split("\n") if line.startswith(("ok", "error"))]
            results += answers[:len(rest)]
            if len(answers) < len(rest):
                results.append(f"{state}: {err.read()[-600:].strip()}")
    return results


def wait(process, out):
    """Waits for a batch to end, or until it has been silent for too long."""
    size, since = -1, time.monotonic()
    while process.poll() is None:
        time.sleep(0.05)
        now = os.fstat(out.fileno()).st_size
        if now != size:
            size, since = now, time.monotonic()
        elif time.monotonic() - since > LINE_SECONDS:
            process.kill()
            process.wait()
            return "hangs"
    return f"the process ended with {process.returncode}"


def run_share(job):
    halo, share, path = job
    return run_batch(halo, share, path)


def run_all(halo, trials, folder, workers, ways):
    """Runs every trial both ways; gives {(number, way): answer}."""
    tasks = [(t.pipeline.number, way) for t in trials for way in ways]
    by_number = {t.pipeline.number: t for t in trials}
    jobs = []
    for worker in range(workers):
        mine = tasks[worker::workers]
        lines = [by_number[number].arguments(way) for number, way in mine]
        jobs.append((mine, (halo, lines, os.path.join(folder, f"batch{worker}"))))
    answers = {}
    with multiprocessing.Pool(workers) as pool:
        for (mine, _), found in zip(jobs, pool.map(run_share, [job for _, job in jobs], chunksize=1)):
            answers.update(zip(mine, found))
    return answers


# Comparing

def first_difference(first, second, near=None):
    """Where two .npy files differ, as text; None if they agree. `near` is an absolute tolerance."""
    with open(first, "rb") as a, open(second, "rb") as b:
        if a.read() == b.read():
            return None
    base, shape, left = files.read_npy_raw(first)
    other, other_shape, right = files.read_npy_raw(second)
    if (base, shape) != (other, other_shape):
        return f"{base} {shape} against {other} {other_shape}"
    return first_difference_of(left, right, shape, near)


def first_difference_of(left, right, shape, near=None):
    count, place = 0, None
    for k, (v, w) in enumerate(zip(left, right)):
        if v == w and not (near is None and v == 0 and math.copysign(1, v) != math.copysign(1, w)) or v != v and w != w:
            continue
        if near and abs(v - w) <= near:
            continue
        count += 1
        place = place or (k, v, w)
    if not count:
        return None
    k, v, w = place
    position = []
    for extent in reversed(shape):
        position.append(k % extent)
        k //= extent
    return f"{count} differ, first {v!r} against {w!r} at {tuple(reversed(position))} of {shape} (y, x, component)"


def check_reference(trial):
    """Compares the compiled outputs with the Python evaluator's; text of the difference, or None."""
    pipeline = trial.pipeline
    script = Script(text=pipeline.script, path=f"{trial.stem}.pipe", strict=trial.strict, no_fma="--no-fma" in trial.switches)
    inputs = {p.name: input_image(p) for p in pipeline.inputs + pipeline.arrays}
    try:
        results = script.run(inputs, {name: text for name, (_, text, _) in pipeline.params.items()}, pipeline.name)
    except PipeError as error:
        return f"the reference refuses it: {error}"
    for (name, image), path in zip(results.items(), trial.outputs("interpret")):
        if image.inexact == 2 or image.inexact and pipeline.special:
            continue
        found = near_image(image, path, script.evaluator.largest)
        if found:
            return f"output {name or 'o0'}: interpreted against reference: {found}"
    return None


def near_image(image, path, largest):
    base, shape, flat = files.read_npy_raw(path)
    expected_shape = tuple(e for _, e in reversed(image.domain)) + ((image.type.lanes,) if image.type.lanes > 1 else ())
    if (base, shape) != (image.type.base, expected_shape):
        return f"{base} {shape} against {image.type.base} {expected_shape}"
    expected = [v for pixel in zip(*image.planes) for v in pixel]
    tolerance = 0.0
    if image.inexact:
        scale = max([largest, 1.0] + [abs(v) for v in expected if v - v == 0])
        tolerance = {"f32": 1e-4 * scale, "f16": 2e-3 * scale}.get(base, 1.0)
    zeros_equal = [v + 0 if v == 0 else v for v in flat]
    return first_difference_of(zeros_equal, [v + 0 if v == 0 else v for v in expected], shape, tolerance or None)


def reference_job(trial):
    try:
        return check_reference(trial)
    except Exception as error:  # a mistake of the evaluator is a finding too
        return f"the reference fails: {type(error).__name__}: {error}"


def failures_of(trial, answers, ways):
    """What is wrong with a trial, without the reference."""
    number = trial.pipeline.number
    found = [f"{way}: {answers[number, way]}" for way in ways
             if not answers[number, way].startswith("ok")]
    if found or len(ways) < 2:
        return found
    for name, a, b in zip(trial.pipeline.output_names, trial.outputs("compiled"), trial.outputs("interpret")):
        difference = first_difference(a, b)
        if difference:
            found.append(f"output {name}: compiled against interpreted: {difference}")
    return found


def report(trial, reasons, options):
    print(f"FAILED pipeline {trial.pipeline.number} (seed {options.seed}), {trial.pipeline.size[0]}x"
          f"{trial.pipeline.size[1]}")
    for reason in reasons:
        print(f"  {reason}")
    for way in options.ways:
        print("  " + " ".join(shlex.quote(w) for w in [options.halo, "run"] + trial.arguments(way)))
    print(f"  python3 tests/differential.py --halo {options.halo} --seed {options.seed} --only {trial.pipeline.number}",
          flush=True)


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("count", type=int, nargs="?", help="how many pipelines")
    parser.add_argument("--count", type=int, dest="count_option", help="the same")
    parser.add_argument("--halo", required=True, help="the command to test")
    parser.add_argument("--seed", type=int, default=None)
    parser.add_argument("--first", type=int, default=0, help="leave out the pipelines before this one")
    parser.add_argument("--only", default="", help="these pipelines alone: 3,17,402")
    parser.add_argument("--reference-share", type=float, default=0.4, help="0..1, the share that Python runs too")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--interpreter-only", action="store_true", help="leave out compiled code")
    options = parser.parse_args()
    options.count = options.count_option or options.count or 100
    options.seed = random.randrange(2**31) if options.seed is None else options.seed
    options.only = {int(word) for word in options.only.split(",") if word}
    if options.only:
        options.first, options.count = 0, max(options.only) + 1
    options.ways = ("interpret",) if options.interpreter_only else ("compiled", "interpret")
    return options


def main():
    options = arguments()
    print(f"seed {options.seed}", flush=True)
    started = time.monotonic()
    folder = tempfile.mkdtemp(prefix="halo-differential-")
    passes, cpu = exact_passes(options.halo), processor(options.halo)
    coverage, trials = Coverage(), []
    for pipeline in pipelines(options.first + options.count, options.seed):
        if pipeline.number in options.only if options.only else pipeline.number >= options.first:
            coverage.add(pipeline)
            source = random.Random(f"{options.seed} {pipeline.number} switches")
            tuning = random_tuning(options.seed, pipeline, passes, cpu)
            trials.append(Trial(pipeline, folder, random_switches(source, passes), tuning))
    answers = run_all(options.halo, trials, folder, options.workers, options.ways)
    reasons = {t.pipeline.number: failures_of(t, answers, options.ways) for t in trials}
    source = random.Random(f"{options.seed} reference")
    shared = [t for t in trials if source.random() < options.reference_share
              and answers[t.pipeline.number, "interpret"].startswith("ok")]
    with multiprocessing.Pool(options.workers) as pool:
        for trial, difference in zip(shared, pool.map(reference_job, shared, chunksize=4)):
            if difference:
                reasons[trial.pipeline.number].append(difference)
    finish(options, trials, reasons, coverage, folder)
    failed = sum(1 for r in reasons.values() if r)
    missing = coverage.missing() if len(trials) >= FULL_RUN else []
    for cell in missing[:20]:
        print(f"FAILED: nothing covers {cell}")
    print(f"{len(trials)} pipelines, {len(shared)} of them also by the reference, {failed} failed, "
          f"{time.monotonic() - started:.0f} s")
    return 1 if failed or missing else 0


def finish(options, trials, reasons, coverage, folder):
    """Prints the table and the failures; keeps the files of failures."""
    print(coverage.table(), flush=True)
    failed = [t for t in trials if reasons[t.pipeline.number]]
    kept = {f"p{t.pipeline.number}" for t in failed}
    for name in os.listdir(folder):
        if re.split(r"[_.]", name)[0] not in kept:
            os.remove(os.path.join(folder, name))
    if not failed:
        shutil.rmtree(folder)
    for trial in failed:
        report(trial, reasons[trial.pipeline.number], options)
    if failed:
        print(f"files are kept in {folder}")


if __name__ == "__main__":
    sys.exit(main())
