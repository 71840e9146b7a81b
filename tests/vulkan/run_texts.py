#!/usr/bin/env python3
"""What `halo show --on vulkan` and `halo explain --on vulkan` say of a few scripts.

    tests/vulkan/run_texts.py --halo build/halo

* The kernel text of tests/vulkan/texts/*.pipe, and the SPIR-V of two of them, are what is written beside them (HALO_UPDATE=1
  rewrites). That the code computes the right pixels is for other tests; these show a reviewer what a change does to it.
* Rules: a chain of pads, stencils and pointwise stages is one dispatch, whatever the borders; `no fusion` is one per stage; a read
  that is never outside has one body, mirrors have four; every stage that is stored says why.
"""
import argparse
import glob
import json
import os
import subprocess
import sys
import tempfile

TEXTS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "texts")       # scripts are named from here: the SPIR-V says so
SPIRV = ("point", "bytes")
BORDERS = ("edge", "reflect", "reflect101", "zero")
STENCIL = "[[1, 2, 3], [4, 5, 6], [7, 8, 10]]"

failures = []


def expect(condition, what):
    if not condition:
        failures.append(what)
        print(f"FAILED {what}")


class Halo:
    def __init__(self, path):
        self.path = path

    def say(self, *words):
        run = subprocess.run([self.path, *words], cwd=TEXTS, capture_output=True, text=True, check=False)
        if run.returncode:
            raise RuntimeError(f"{' '.join(words)}: {run.stderr}")
        return run.stdout

    def kernels(self, script, *words):
        with tempfile.NamedTemporaryFile("w", suffix=".pipe", encoding="utf-8") as file:
            file.write(script)
            file.flush()
            return json.loads(self.say("explain", file.name, "--on", "vulkan", "--json", *words))["kernels"]


def check_texts(halo):
    for script in sorted(glob.glob("*.pipe", root_dir=TEXTS)):
        stem = script[:-len(".pipe")]
        for stage in ("kernel", "spirv")[:2 if stem in SPIRV else 1]:
            made, path = halo.say("show", script, "--on", "vulkan", "--stage", stage), os.path.join(TEXTS, f"{stem}.{stage}")
            if os.environ.get("HALO_UPDATE"):
                with open(path, "w", encoding="utf-8") as file:
                    file.write(made)
            with open(path, encoding="utf-8") as file:
                expect(file.read() == made, f"{os.path.basename(path)} is not what `halo show` prints (HALO_UPDATE=1 rewrites it)")


def chain(border, n_stages):
    """Stencils that are no products, so that none is split, each squared and brought back: nothing of it can be put together."""
    lines = ["a0 = src"]
    for k in range(1, n_stages + 1):
        lines.append(f"b{k} = conv(pad(a{k - 1}, {border}), {STENCIL}) / 46")
        lines.append(f"a{k} = b{k} * b{k}")
    return "pipe chain(src: image f32) -> image f32 {\n    " + "\n    ".join(lines) + f"\n    return a{n_stages}\n}}\n"


def check_fusion(halo):
    for border in BORDERS:
        for n_stages in (1, 2, 3):
            kernels = halo.kernels(chain(border, n_stages))
            expect(len(kernels) == 1, f"{n_stages} stencils with {border} are {len(kernels)} dispatches, not one")
            expect(kernels[0]["bodies"] >= 2, f"{n_stages} stencils with {border} have no body of their own for the bulk")
            expect(sum(s["stored"] for s in kernels[0]["stages"]) == 1, f"{border}: more is stored than the output")
            apart = halo.kernels(chain(border, n_stages), "--no-fuse")
            expect(len(apart) >= n_stages and all(len(k["stages"]) == 1 for k in apart), f"{border}: --no-fuse fuses")
    kernels = halo.kernels("pipe p(a: image u8x3) -> image u8x3 { return u8(min(255, 2 * i32(a))) }")
    expect(len(kernels) == 1 and kernels[0]["bodies"] == 1, "a pipe without borders has one body")


def check_parameters(halo):
    """How far a reader reaches may depend on a parameter, when its range says how far at most."""
    script = """pipe reach(src: image f32, r: i32 = 1 in 0..%s) -> image f32 {
    p = pad(src, edge)
    a[x in 0..src.width - 1, y in 0..src.height - 1] = max(i in -r..r: p[x + i, y])
    q = pad(a, reflect)
    b[x in 0..src.width - 1, y in 0..src.height - 1] = min(i in -r..r: q[x, y + i])
    return b
}
"""
    expect(len(halo.kernels(script % "4")) == 1, "a reach of at most 4 is not fused")
    expect(len(halo.kernels(script % "400")) == 2, "a reach of at most 400 is fused")


def check_bodies(halo):
    """Four bodies where maps cost divisions, two at clamped edges, one where a map is next to nothing beside the rest."""
    for border, bodies in (("edge", 2), ("zero", 2), ("reflect", 4), ("reflect101", 4)):
        kernel = halo.kernels(chain(border, 1))[0]
        expect(kernel["bodies"] == bodies, f"a stencil with {border} has {kernel['bodies']} bodies, not {bodies}")
    long = "pipe p(a: image f32) -> image f32 { n[x, y] = pad(a, edge)[x + 1, y]\n return pow(sin(a) + exp(n), cos(a)) }"
    expect(halo.kernels(long)[0]["bodies"] == 1, "one read through a border beside three powers has a bulk of its own")


def check_reasons(halo):
    wrapped = "pipe w(src: image f32) -> image f32 { a = conv(pad(src, edge), %s)\n return conv(pad(a * a, wrap), %s) }" % (STENCIL, STENCIL)
    for kernel in halo.kernels(wrapped):
        for stage in kernel["stages"]:
            expect(not stage["stored"] or stage["why"], f"`{stage['name']}` is stored, and nothing says why")
    expect(len(halo.kernels(wrapped)) == 2, "what a reader wraps around is stored")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--halo", required=True)
    halo = Halo(os.path.abspath(parser.parse_args().halo))
    check_texts(halo)
    check_fusion(halo)
    check_parameters(halo)
    check_bodies(halo)
    check_reasons(halo)
    print("the texts are as they should be" if not failures else f"{len(failures)} failed")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
