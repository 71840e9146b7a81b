#!/usr/bin/env python3
"""Runs the commands that README.md and HACKING.md show, so that what they say stays true.

    tests/readme/run_readme.py --halo build/halo [--runtime build/embed_runtime]

Those that want a Vulkan device are left out, with a loud line, where there is none.

Commands are the indented lines that begin with build/halo, build/embed_runtime, cc, ./sharpen or `python3 -m`. Lines with shell
variables are left out. They run in a folder that looks like the repository after a build, with a small picture in.png and a script x.pipe.
"""
import argparse
import os
import subprocess
import sys
import tempfile

ROOT = os.path.abspath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
STARTS = ("build/halo ", "build/embed_runtime ", "cc ", "./sharpen ", "python3 -m ")


def commands(page):
    with open(os.path.join(ROOT, page), encoding="utf-8") as file:
        for line in file:
            text = line.strip().split("  #")[0].strip()
            if line.startswith("    ") and text.startswith(STARTS) and "$" not in text:
                yield text


def wants_device(command):
    return "--on vulkan" in command and " run " in command or command.endswith("halo devices")


def shell(command, folder):
    return subprocess.run(command, shell=True, cwd=folder, capture_output=True, text=True, timeout=120)


def prepare(folder, options):
    for name in ("examples", "tests", "runtime", "lang"):
        os.symlink(os.path.join(ROOT, name), os.path.join(folder, name))
    os.mkdir(os.path.join(folder, "build"))
    os.symlink(os.path.abspath(options.halo), os.path.join(folder, "build", "halo"))
    if options.runtime:
        os.symlink(os.path.abspath(options.runtime), os.path.join(folder, "build", "embed_runtime"))
    with open(os.path.join(folder, "x.pipe"), "w", encoding="ascii") as file:
        file.write("pipe x(src: image u8) -> image f32 { return conv(pad(src, edge), [[1, 2, 1]] / 4) }\n")
    with open(os.path.join(folder, "in.pgm"), "wb") as file:
        file.write(b"P5\n3 2\n255\n" + bytes(range(6)))
    return shell("build/halo run examples/scene.pipe width=24 height=16 -o depth=in.png", folder)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--halo", required=True)
    parser.add_argument("--runtime", help="the program made from embed_runtime.c")
    options = parser.parse_args()
    count, failures = 0, 0
    with tempfile.TemporaryDirectory() as folder:
        runs = [("preparation", prepare(folder, options))]
        has_device = shell("build/halo devices", folder).returncode == 0
        for page in ("README.md", "HACKING.md"):
            for command in commands(page):
                if wants_device(command) and not has_device:
                    print(f"*** no Vulkan device: SKIPPED {command}")
                elif options.runtime or not command.startswith("build/embed_runtime"):
                    runs.append((f"{page}: {command}", shell(command, folder)))
        for what, done in runs:
            count += 1
            if done.returncode != 0:
                failures += 1
                print(f"FAILED {what}\n{done.stderr.strip()}")
    print(f"{count} commands, {failures} failed")
    return 1 if failures or count < 10 else 0


if __name__ == "__main__":
    sys.exit(main())
