#!/usr/bin/env python3
"""What `halo explain` must say of every example and every function of the prelude.

    tests/explain/run_explain.py --halo build/halo

No stage may have a scalar bulk loop; each line that describes one states its vector lanes and the share of the bulk;
and chains of pads, convolutions and pixelwise stages, however long, are one dispatch beside the tables that depend on
sizes and parameters alone.
"""
import argparse
import json
import os
import re
import subprocess
import sys

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")

# Dispatches that go over pictures. scene paints two pictures that have nothing in common; film_grain adds up a kernel
# of unknown size in the order that sums over whole images have, rows and chunks first.
DISPATCHES = {"blur": 1, "bokeh": 1, "film_grain": 3, "gradient": 1, "harris": 1, "lens": 1, "local_contrast": 1, "lut3d": 1,
              "panorama": 1, "pyramid": 1, "scene": 2, "sep43": 1, "sobel": 1, "unsharp": 1, "vignette": 1}
# What scripts elsewhere have to be: slabs of rows for stages of more dimensions than their readers, no memory in between.
OTHERS = {"bench/workloads/nlmeans7/nlmeans7.pipe": 1}
# Stages that ask whether columns and rows are even: made by halves of a row, in 16 bits where that does.
PHASES = {"bench/workloads/camera/camera.pipe": {"rgb": ([2, 2], 32)}}
TABLE = "it depends on sizes and parameters alone: computed once per run"

failures = []


def expect(condition, what):
    if not condition:
        failures.append(what)
        print(f"FAILED {what}")


def halo(options, *words):
    done = subprocess.run([options.halo, *words], capture_output=True, text=True, timeout=120)
    expect(done.returncode == 0, f"halo {' '.join(words)}: {done.stderr.strip()}")
    return done.stdout if done.returncode == 0 else ""


def scripts(folder):
    for name in sorted(os.listdir(os.path.join(ROOT, folder))):
        if name.endswith(".pipe"):
            yield os.path.splitext(name)[0], os.path.join(ROOT, folder, name)


def pipes(path):
    """The names of the pipes that the file itself has."""
    with open(path, encoding="utf-8") as file:
        return re.findall(r"^pipe (\w+)", file.read(), re.MULTILINE)


def check_lanes(where, described):
    for dispatch in described["dispatches"]:
        for stage in dispatch["stages"]:
            # Eight f32 fill a vector of x86-64-v3.
            expect(stage["lanes"] >= 8, f"{where}: stage {stage['name']} has {stage['lanes']} vector lanes")


def check_text(where, text):
    stages = re.findall(r"^    `", text, re.MULTILINE)
    stated = re.findall(r"(\d+) vector lanes.* bulk share (\d+) %", text)
    expect(len(stages) == len(stated) > 0, f"{where}: {len(stages)} stages, but {len(stated)} say lanes and bulk share")
    expect(all(int(share) >= 90 for _, share in stated), f"{where}: a stage has less than 90 % bulk")


def picture_dispatches(described):
    return sum(any(stage["why"] != TABLE for stage in dispatch["stages"]) for dispatch in described["dispatches"])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--halo", required=True)
    options = parser.parse_args()
    counted = set()
    for folder in ("examples", "tests/prelude"):
        for name, path in scripts(folder):
            for pipe in pipes(path):
                where = f"{folder}/{name}.pipe, {pipe}"
                described = halo(options, "explain", "--json", "--cpu", "x86-64-v3", "--pipe", pipe, path)
                if not described:
                    continue
                described = json.loads(described)
                check_lanes(where, described)
                check_text(where, halo(options, "explain", "--cpu", "x86-64-v3", "--pipe", pipe, path))
                if folder == "examples":
                    counted.add(name)
                    count = picture_dispatches(described)
                    expect(count == DISPATCHES.get(name), f"{where}: {count} dispatches over pictures, expected {DISPATCHES.get(name)}")
    for path, wanted in OTHERS.items():
        described = halo(options, "explain", "--json", os.path.join(ROOT, path))
        count = picture_dispatches(json.loads(described)) if described else 0
        expect(count == wanted, f"{path}: {count} dispatches over pictures, expected {wanted}")
    for path, wanted in PHASES.items():
        described = halo(options, "explain", "--json", "--cpu", "x86-64-v4", os.path.join(ROOT, path))
        stages = [stage for dispatch in json.loads(described)["dispatches"] for stage in dispatch["stages"]] if described else []
        found = {stage["name"]: (stage["phases"], stage["lanes"]) for stage in stages if stage["phases"] != [1, 1]}
        expect(found == wanted, f"{path}: stages by phases are {found}, expected {wanted}")
    expect(counted == set(DISPATCHES), f"these examples are not as listed: {sorted(counted ^ set(DISPATCHES))}")
    print(f"{len(failures)} failed" if failures else "all passed")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
