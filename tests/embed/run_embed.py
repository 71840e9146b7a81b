#!/usr/bin/env python3
"""Builds and runs the programs of examples/embed_*.c as a host would: the ahead-of-time one under ASan, UBSan and TSan, that for
Vulkan under ASan, UBSan and the validation layer, any message of which is a failure.

    tests/embed/run_embed.py --halo build/halo [--runtime build/embed_runtime] [--cc cc] [--cxx c++]

Expects the bytes that `halo run` writes, error texts where something is wrong, and no file after a cancel.
"""
import argparse
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.join(HERE, "..", "..")
sys.path.insert(0, os.path.join(HERE, "..", "examples"))

from cases import picture              # noqa: E402
from files import write_picture        # noqa: E402

failures = []


def run(*command, **environment):
    return subprocess.run(command, capture_output=True, text=True, timeout=300, env={**os.environ, **environment})


def expect(condition, what, done=None):
    if not condition:
        failures.append(what)
        print(f"FAILED {what}")
        if done is not None:
            print(f"  exit status {done.returncode}\n{done.stdout}{done.stderr}")


def content(path):
    if not os.path.exists(path):
        return None
    with open(path, "rb") as file:
        return file.read()


def compile_aot(options, folder, name, *switches):
    program = os.path.join(folder, name)
    done = run(options.cc, "-std=c17", "-D_POSIX_C_SOURCE=200809L", "-Wall", "-Wextra", "-Werror", "-g", "-O1", *switches,
               "-I", folder, "-o", program, os.path.join(ROOT, "examples", "embed_aot.c"),
               os.path.join(folder, "unsharp.a"), "-lpthread")
    expect(done.returncode == 0, f"{name} compiles", done)
    return program if done.returncode == 0 else None


def check_aot(program, name, source, expected, folder):
    out = os.path.join(folder, f"{name}.ppm")
    done = run(program, source, out, "2.0", "1.5")
    expect(done.returncode == 0 and content(out) == expected, f"{name} writes what halo run writes", done)
    expect("100 %" in done.stderr, f"{name} reports progress to the end", done)

    stopped = os.path.join(folder, f"{name}_stopped.ppm")
    done = run(program, source, stopped, "2.0", "1.5", "0.01")
    expect(done.returncode == 1 and "stopped" in done.stderr and not os.path.exists(stopped),
           f"{name} stops when it is cancelled", done)

    done = run(program, source, stopped, "99")
    expect(done.returncode == 1 and "parameter" in done.stderr, f"{name} says that a parameter is out of range", done)


def aot(options, folder):
    source, wanted = os.path.join(folder, "source.ppm"), os.path.join(folder, "wanted.ppm")
    write_picture(source, picture(640, 480, 3, "embed"))
    script = os.path.join(ROOT, "examples", "unsharp.pipe")
    done = run(options.halo, "run", script, source, "sigma=2.0", "amount=1.5", "-o", wanted)
    expect(done.returncode == 0, "halo run examples/unsharp.pipe", done)
    done = run(options.halo, "build", script, "-o", os.path.join(folder, "unsharp.a"), "--header",
               os.path.join(folder, "unsharp.h"))
    expect(done.returncode == 0, "halo build examples/unsharp.pipe", done)
    if failures:
        return
    for name, switches in (("aot_address", ("-fsanitize=address,undefined", "-fno-sanitize-recover=all")),
                           ("aot_thread", ("-fsanitize=thread",))):
        program = compile_aot(options, folder, name, *switches)
        if program:
            check_aot(program, name, source, content(wanted), folder)
    header = os.path.join(folder, "unsharp.h")
    for compiler, language, standard in ((options.cc, "c", "c99"), (options.cxx, "c++", "c++11")):
        done = run(compiler, f"-std={standard}", "-pedantic", "-Wall", "-Wextra", "-Werror", "-x", language,
                   "-fsyntax-only", header)
        expect(done.returncode == 0, f"the header compiles as {standard}", done)


def check_vulkan(program, name, source, expected, folder, submissions):
    """The layer writes what it has to say to stdout."""
    out = os.path.join(folder, f"{name}_{submissions}.ppm")
    done = run(program, source, out, "2.0", "1.5", submissions, ASAN_OPTIONS="detect_leaks=0", VK_INSTANCE_LAYERS="VK_LAYER_KHRONOS_validation",
               VK_LAYER_ENABLES="VK_VALIDATION_FEATURE_ENABLE_SYNCHRONIZATION_VALIDATION_EXT")
    expect(done.returncode == 0 and content(out) == expected, f"{name} writes what halo run writes, in {submissions} submissions", done)
    expect(not done.stdout and "Validation" not in done.stderr, f"{name} is no business of the validation layer", done)
    expect("ms on the device" in done.stderr, f"{name} measures", done)


def vulkan(options, folder):
    source, wanted = os.path.join(folder, "v.ppm"), os.path.join(folder, "v_wanted.ppm")
    write_picture(source, picture(215, 133, 3, "embed"))
    script, header = os.path.join(ROOT, "examples", "unsharp.pipe"), os.path.join(folder, "unsharp_vulkan.h")
    done = run(options.halo, "run", script, source, "sigma=2.0", "amount=1.5", "--strict", "-o", wanted)
    expect(done.returncode == 0, "halo run --strict examples/unsharp.pipe", done)
    done = run(options.halo, "build", script, "--vulkan", "-o", os.path.join(folder, "unsharp_vulkan.a"), "--header", header)
    expect(done.returncode == 0, "halo build --vulkan examples/unsharp.pipe", done)
    for compiler, language, standard in ((options.cc, "c", "c99"), (options.cxx, "c++", "c++11")):
        done = run(compiler, f"-std={standard}", "-pedantic", "-Wall", "-Wextra", "-Werror", "-x", language, "-fsyntax-only", header)
        expect(done.returncode == 0, f"the header for Vulkan compiles as {standard}", done)
    program = os.path.join(folder, "sharpen_vulkan")
    done = run(options.cc, "-std=c17", "-Wall", "-Wextra", "-Werror", "-g", "-O1", "-fsanitize=address,undefined", "-fno-sanitize-recover=all",
               "-I", folder, "-o", program, os.path.join(ROOT, "examples", "embed_vulkan.c"), os.path.join(folder, "unsharp_vulkan.a"), "-lvulkan")
    expect(done.returncode == 0, "embed_vulkan compiles", done)
    if failures:
        return
    if run(options.halo, "devices").returncode != 0:
        print("*** no Vulkan device: embed_vulkan was only compiled, its run is SKIPPED")
        return
    for submissions in ("1", "7"):
        check_vulkan(program, "embed_vulkan", source, content(wanted), folder, submissions)
    done = run(program, source, os.path.join(folder, "no.ppm"), "99", ASAN_OPTIONS="detect_leaks=0")
    expect(done.returncode == 1 and "parameter" in done.stderr, "embed_vulkan says that a parameter is out of range", done)


def runtime(options, folder):
    source, wanted, out = (os.path.join(folder, name) for name in ("r.ppm", "r_wanted.ppm", "r_out.ppm"))
    write_picture(source, picture(61, 43, 3, "embed"))
    script = os.path.join(ROOT, "examples", "vignette.pipe")
    done = run(options.halo, "run", script, source, "stops=2", "-o", wanted)
    expect(done.returncode == 0, "halo run examples/vignette.pipe", done)
    done = run(options.runtime, script, source, out, "stops=2")
    expect(done.returncode == 0 and content(out) == content(wanted) is not None,
           "the run-time program writes what halo run writes", done)
    wrong = os.path.join(folder, "wrong.pipe")
    with open(wrong, "w", encoding="ascii") as file:
        file.write("pipe wrong(src: image u8) -> image u8\n{\n    return scr\n}\n")
    done = run(options.runtime, wrong, source, out)
    expect(done.returncode == 1 and "wrong.pipe:3:12" in done.stderr and "src" in done.stderr,
           "the run-time program shows the diagnostics", done)
    done = run(options.runtime, script, source, out, "stops=99")
    expect(done.returncode == 1 and "stops" in done.stderr, "the run-time program names a parameter out of range", done)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--halo", required=True)
    parser.add_argument("--runtime", help="the program made from embed_runtime.c")
    parser.add_argument("--cc", default="cc")
    parser.add_argument("--cxx", default="c++")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        aot(options, folder)
        if options.runtime:
            runtime(options, folder)
        vulkan(options, folder)
    print(f"{len(failures)} failed" if failures else "all passed")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
