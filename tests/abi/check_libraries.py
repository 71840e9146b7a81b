#!/usr/bin/env python3
"""What a generated library is made of: its symbols, its headers in C and C++, several processors, strict, Vulkan.

    tests/abi/check_libraries.py --halo build/halo [--cc cc] [--cxx c++]
"""
import argparse
import json
import os
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.join(HERE, "..", "..")
EXAMPLES = ("blur", "bokeh", "lens", "lut3d", "sep43")
# All that an object may ask of its host's C library.
ALLOWED = {"malloc", "free", "memcpy", "memset", "memmove"}
SUFFIXES = {"", "_part", "_needs", "_size", "_error", "_defaults"}
VULKAN_SUFFIXES = {"_vulkan_" + s for s in ("create", "destroy", "missing", "size", "needs", "inputs", "record", "record_part", "error")} | {"_defaults"}

failures = []


def expect(condition, what, done=None):
    if not condition:
        failures.append(what)
        print(f"FAILED {what}")
        if done is not None:
            print(f"  exit status {done.returncode}\n{done.stdout}{done.stderr}")


def run(*command):
    return subprocess.run(command, capture_output=True, text=True, timeout=120)


class Workshop:
    """A folder to build in."""

    def __init__(self, options, folder):
        self.options, self.folder = options, folder

    def path(self, name):
        return os.path.join(self.folder, name)

    def write(self, name, text):
        with open(self.path(name), "w", encoding="ascii") as file:
            file.write(text)
        return self.path(name)

    def build(self, script, name, *switches):
        done = run(self.options.halo, "build", script, "-o", self.path(name + ".o"), "--header", self.path(name + ".h"), *switches)
        expect(done.returncode == 0, f"halo build {' '.join([os.path.basename(script), *switches])}", done)
        return done.returncode == 0

    def compile(self, language, standard, source, *more):
        compiler = self.options.cxx if language == "c++" else self.options.cc
        return run(compiler, "-x", language, f"-std={standard}", "-pedantic", "-Wall", "-Wextra", "-Werror", f"-I{self.folder}", source,
                   "-x", "none", *more)


def example(name):
    return os.path.join(ROOT, "examples", name + ".pipe")


def symbols(path):
    undefined, defined = set(), set()
    for line in run("nm", path).stdout.splitlines():
        kind, name = line.split()[-2:]
        if kind in "Uwv":
            undefined.add(name)
        elif kind.isupper():
            defined.add(name)
    return undefined, defined


def writable_bytes(path):
    """Bytes of sections that a process could write to: a library keeps no state."""
    total = 0
    for line in run("size", "-A", path).stdout.splitlines():
        words = line.split()
        if len(words) == 3 and re.match(r"\.t?(data|bss)", words[0]) and not words[0].startswith(".data.rel.ro"):
            total += int(words[1])
    return total


def check_symbols(shop, name, pipes, what, suffixes=frozenset(SUFFIXES)):
    undefined, defined = symbols(shop.path(name + ".o"))
    expect(undefined <= ALLOWED, f"{what} depends on {sorted(undefined - ALLOWED)}")
    strange = {s for s in defined if not any(s == pipe + suffix for pipe in pipes for suffix in suffixes)}
    expect(not strange, f"{what} exports {sorted(strange)}")
    for pipe in pipes:
        expect({pipe + s for s in suffixes - {"_defaults", "_needs", "_vulkan_inputs"}} <= defined, f"{what} exports the functions of {pipe}")
    expect(writable_bytes(shop.path(name + ".o")) == 0, f"{what} has writable data")


def pipes_of(script):
    with open(script, encoding="utf-8") as file:
        return re.findall(r"^pipe (\w+)", file.read(), re.MULTILINE)


def libraries(shop):
    """Processors with and without instructions for rounding, f16 and FMA; run-time bounds, gathers and tables inside."""
    for name in EXAMPLES:
        if shop.build(example(name), name):
            check_symbols(shop, name, [name], name)
    filters = os.path.join(HERE, "filters.pipe")
    for cpu, switches in (("native", ()), ("x86-64-v2", ("--strict",)), ("x86-64", ("--strict",))):
        if shop.build(filters, "filters", "--cpu", cpu, *switches):
            check_symbols(shop, "filters", pipes_of(filters), f"filters for {cpu}")
    for cpu in ("x86-64-v2", "x86-64"):
        if shop.build(example("unsharp"), "unsharp", "--cpu", cpu, "--strict"):
            check_symbols(shop, "unsharp", ["unsharp"], f"unsharp for {cpu}")


def headers(shop):
    for name in ("blur", "unsharp"):
        shop.build(example(name), name)
    shop.build(os.path.join(HERE, "filters.pipe"), "filters")
    text = '#include "filters.h"\n#include "blur.h"\n#include "unsharp.h"\n#include "blur.h"\n' \
           "int main(void) { return unsharp_defaults.sigma == 1.5f && blur_error(HALO_OK) ? HALO_OK : 1; }\n"
    for language, standard in (("c", "c99"), ("c", "c17"), ("c++", "c++11"), ("c++", "c++17")):
        done = shop.compile(language, standard, shop.write("together." + language, text), shop.path("blur.o"), shop.path("unsharp.o"),
                            shop.path("filters.o"), "-o", shop.path("together"))
        expect(done.returncode == 0, f"three headers and their objects together as {standard}", done)
        if done.returncode == 0:
            expect(run(shop.path("together")).returncode == 0, f"the program of three objects runs ({standard})")
        for name in ("filters", "blur"):
            done = shop.compile(language, standard, shop.write("alone." + language, f'#include "{name}.h"\nint main(void) {{ return 0; }}\n'),
                                "-fsyntax-only")
            expect(done.returncode == 0, f"{name}.h alone as {standard}", done)


BODIES = r"""
#include <stdio.h>
#include <string.h>
#include "one.h"
#include "several.h"
int main(void)
{
    static unsigned char in[64 * 48 * 3], a[sizeof in], b[sizeof in];
    for (unsigned k = 0; k < sizeof in; k++) in[k] = (unsigned char)(k * k >> 5);
    halo_image src = {in, {64, 48, 1, 1, 1}, {3, 192, 0, 0, 0}}, one = src, other = src;
    one.data = a;
    other.data = b;
    if (one_blur(&src, &one, NULL) || several_blur(&src, &other, NULL)) return 2;
    return memcmp(a, b, sizeof a) != 0;
}
"""


def processors(shop):
    """Several bodies behind one entry give the bytes of one."""
    with open(example("blur"), encoding="utf-8") as file:
        text = file.read()
    one, several = (shop.write(name + ".pipe", text.replace("pipe blur", f"pipe {name}_blur")) for name in ("one", "several"))
    shop.build(one, "one", "--cpu", "x86-64-v3")
    shop.build(several, "several", "--cpu", "x86-64-v3,x86-64-v4,native")
    check_symbols(shop, "several", ["several_blur"], "a library for three processors")
    one_size, several_size = (os.path.getsize(shop.path(name + ".o")) for name in ("one", "several"))
    expect(several_size > 1.1 * one_size, f"three bodies take more than one: {several_size} and {one_size} bytes")
    done = shop.compile("c", "c99", shop.write("bodies.c", BODIES), shop.path("one.o"), shop.path("several.o"), "-o", shop.path("bodies"))
    expect(done.returncode == 0, "a program with both compiles", done)
    if done.returncode == 0:
        expect(run(shop.path("bodies")).returncode == 0, "several bodies give the bytes of one")
    done = run(shop.options.halo, "build", one, "-o", shop.path("no.o"), "--cpu", "native,x86-64-v3")
    expect(done.returncode == 1 and "plainest" in done.stderr and not os.path.exists(shop.path("no.o")), "the plainest processor comes first", done)


def strict(shop):
    """Without FMA a library would need emulation, or have other bits: an error, with the way out."""
    for cpu in ("x86-64", "x86-64-v2", "x86-64-v3,x86-64-v2", "x86-64-v2,x86-64-v3"):
        done = run(shop.options.halo, "build", example("blur"), "-o", shop.path("no.o"), "--cpu", cpu)
        expect(done.returncode == 1 and "--strict" in done.stderr and "x86-64-v3" in done.stderr and not os.path.exists(shop.path("no.o")),
               f"--cpu {cpu} without --strict is refused with the way out", done)


def targets(shop):
    """Other systems whose objects are ELF; for all others an error of ours."""
    shop.build(example("blur"), "blur", "--target", "x86_64-unknown-freebsd")
    for target in ("x86_64-apple-darwin", "x86_64-pc-windows-msvc", "aarch64-unknown-linux-gnu", "nonsense"):
        done = run(shop.options.halo, "build", example("blur"), "-o", shop.path("no.o"), "--target", target)
        expect(done.returncode == 1 and "E0560" in done.stderr and "x86_64-unknown-linux-gnu" in done.stderr and not os.path.exists(shop.path("no.o")),
               f"--target {target} is refused with one that works", done)


# Both libraries of every pipe in one program, each asked for a function; that the defaults are one object is seen by their place.
BESIDE = """#include "{0}.h"
#include "{0}_vulkan.h"
#include <stdio.h>
int main(void)
{{
    static halo_vulkan_device nothing;
{1}
    return 0;
}}
"""


def guarded(path, guard):
    with open(path, encoding="ascii") as file:
        text = file.read()
    return text[text.index(f"#ifndef {guard}"):text.rindex("#endif\n#endif")]


def vulkan(shop):
    """Vulkan libraries: their symbols, and headers beside those for the processor."""
    include = os.path.join(ROOT, "runtime", "include", "halo")
    for script in (example("unsharp"), os.path.join(HERE, "filters.pipe")):
        name, pipes = os.path.splitext(os.path.basename(script))[0], pipes_of(script)
        if not shop.build(script, name) or not shop.build(script, name + "_vulkan", "--vulkan"):
            continue
        check_symbols(shop, name + "_vulkan", pipes, f"{name} for Vulkan", frozenset(VULKAN_SUFFIXES))
        with open(shop.path(name + "_vulkan.h"), encoding="ascii") as file:
            header = file.read()
        for text in (guarded(os.path.join(include, "abi.h"), "HALO_ABI_1"), guarded(os.path.join(include, "vulkan_abi.h"), "HALO_VULKAN_ABI_1")):
            expect(text in header, f"{name}_vulkan.h has the words of the public headers")
        calls = "\n".join(f'    if (!{pipe}_vulkan_missing(&nothing) || !*{pipe}_error(HALO_OK) || !*{pipe}_vulkan_error(HALO_OK)) return puts("{pipe}");'
                          for pipe in pipes)
        for language, standard in (("c", "c99"), ("c", "c17"), ("c++", "c++11"), ("c++", "c++17")):
            done = shop.compile(language, standard, shop.write("beside." + language, BESIDE.format(name, calls)), shop.path(name + ".o"),
                                shop.path(name + "_vulkan.o"), "-o", shop.path("beside"))
            expect(done.returncode == 0, f"{name} for the processor and for Vulkan in one program ({standard})", done)
        done = run(shop.path("beside"))
        expect(done.returncode == 0, f"a device that can do nothing lacks something for every pipe of {name}", done)


def modules(shop):
    """The bare modules and what is said of them."""
    for name in ("blur", "unsharp", "pyramid"):
        done = run(shop.options.halo, "build", example(name), "-o", shop.path(name + ".spv"), "--json", shop.path(name + ".json"))
        expect(done.returncode == 0, f"halo build {name}.pipe -o {name}.spv --json", done)
        if done.returncode != 0:
            continue
        with open(shop.path(name + ".json"), encoding="ascii") as file:
            said = json.load(file)
        made = sorted(f for f in os.listdir(shop.folder) if f.startswith(name + ".") and f.endswith(".spv"))
        expect(sorted(kernel["spirv"] for kernel in said["kernels"]) == made, f"{name}.json names the modules that there are: {made}")
        expect(len(made) == 1 or f"{name}.1.spv" in made, f"several modules of {name} are numbered")
        for kernel in said["kernels"]:
            with open(shop.path(kernel["spirv"]), "rb") as file:
                expect(file.read(8) == b"\x03\x02\x23\x07\x00\x03\x01\x00", f"{kernel['spirv']} is SPIR-V 1.3")
            words = 5 + (len(kernel["slots"]) if kernel["slots_in"] == "push_constants" else 0)
            expect(kernel["push_constants"]["bytes"] == 4 * words <= 128, f"push constants of {kernel['spirv']} have room everywhere")
            expect([b["binding"] for b in kernel["bindings"]] == list(range(len(kernel["bindings"]))), f"bindings of {kernel['spirv']}")
            values = [slot["value"] for slot in kernel["slots"] if "value" in slot]
            expect(all(0 <= v < len(said["values"]) for v in values), f"values of {kernel['spirv']}")
        for k, value in enumerate(said["values"]):
            expect(all(arg < k for arg in value.get("args", ())), f"value {k} of {name} is made of earlier ones")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--halo", required=True)
    parser.add_argument("--cc", default="cc")
    parser.add_argument("--cxx", default="c++")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        shop = Workshop(options, folder)
        for part in (libraries, headers, processors, strict, targets, vulkan, modules):
            part(shop)
    print(f"{len(failures)} failed" if failures else "all passed")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
