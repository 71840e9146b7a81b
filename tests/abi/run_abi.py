#!/usr/bin/env python3
"""Builds the libraries under test as a host would, with `halo build`, and the C programs of this folder that use them.

    tests/abi/run_abi.py --halo build/halo --libhalo build --folder DIR [--cc cc]

The programs, test_*, are then in DIR. They call pipes through a table that is made here from `halo info`.
"""
import argparse
import json
import os
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.join(HERE, "..", "..")
BYTES = {"bool": 1, "u8": 1, "i8": 1, "u16": 2, "i16": 2, "f16": 2, "u32": 4, "i32": 4, "f32": 4}

# Those that read pictures.
EXAMPLES = ("blur", "bokeh", "film_grain", "harris", "lens", "local_contrast", "lut3d", "panorama", "pyramid", "sep43", "sobel", "unsharp",
            "vignette")
LINK = {"test_memory": ("-Wl,--wrap=malloc,--wrap=free",)}


def run(*command):
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    if done.returncode != 0:
        sys.exit(f"FAILED {' '.join(command)}\n{done.stdout}{done.stderr}")
    return done.stdout


def image_type(image, layouts):
    extents = ", ".join(f'"{e}"' for e in image.get("extents", []))
    return (f'{{ LAYOUT_{layouts.get(image["name"], "interleaved")}, "{image["name"]}", "{image["kind"]}", {BYTES[image["kind"]]}, {image["lanes"]}, {image["rank"]}, '
            f'{{ {extents or "NULL"} }} }}')


def adapters(pipe):
    """Functions of one shape for all pipes: images as arrays of pointers."""
    name, has_params = pipe["name"], bool(pipe["parameters"])
    ins = [f"in[{k}]" for k in range(len(pipe["inputs"]))]
    params = ["params"] if has_params else []
    outs = [f"out[{k}]" for k in range(len(pipe["outputs"]))]
    needs = [f"needs[{k}]" for k in range(len(ins))]
    both = ", ".join(ins + params + outs)
    call_needs = f"{name}_needs({', '.join(ins + params + ['part'] + needs)})" if ins else "HALO_OK"
    unused = "    (void)in; (void)params;\n"
    return (f"static int {name}_run(images in, const void *params, images out, const halo_part *part, const halo_exec *exec)\n{{\n{unused}"
            f"    return part ? {name}_part({both}, part, exec) : {name}({both}, exec);\n}}\n"
            f"static int {name}_sizes(images in, const void *params, halo_image *const *out)\n{{\n{unused}"
            f"    return {name}_size({both});\n}}\n"
            f"static int {name}_wants(images in, const void *params, const halo_part *part, halo_part *const *needs)\n{{\n{unused}"
            f"    (void)part; (void)needs;\n    return {call_needs};\n}}\n")


def in_place(header, name):
    """The input whose memory the output may be, as the comment above the pipe's function says."""
    comment = header[:header.index(f"\nint {name}(")].rsplit("/*", 1)[1]
    said = re.search(r"output may be the memory of `(\w+)`", comment)
    return f'"{said[1]}"' if said else "NULL"


def table_row(script, pipe, header, layouts):
    name = pipe["name"]
    inputs, outputs = (", ".join(image_type(i, layouts) for i in pipe[which]) for which in ("inputs", "outputs"))
    params = f"&{name}_defaults" if pipe["parameters"] else "NULL"
    return (f'    {{ "{name}", "{os.path.abspath(script)}", {len(pipe["inputs"])}, {len(pipe["outputs"])}, {pipe["dispatches"]}, {{ {inputs or "{ 0 }"} }}, {{ {outputs} }}, {params}, {in_place(header, name)},\n'
            f"      {name}_run, {name}_sizes, {name}_wants, {name}_error }},\n")


def build(options, script, name, *switches):
    """A library and its header; returns what the header says."""
    header = os.path.join(options.folder, name + ".h")
    run(options.halo, "build", script, "-o", os.path.join(options.folder, name + ".a"), "--header", header, *switches, *options.switches.split())
    with open(header, encoding="ascii") as file:
        return file.read()


def signatures(options, script):
    """What halo info says of a script's pipes, and how many dispatches each has."""
    pipes = json.loads(run(options.halo, "info", "--json", script))
    explained = json.loads(run(options.halo, "explain", "--json", "--cpu", "x86-64-v3", script))
    explained = explained if isinstance(explained, list) else [explained]
    return [{**pipe, "dispatches": len(explain["dispatches"])} for pipe, explain in zip(pipes, explained, strict=True)]


def build_filters(options):
    """All libraries, and filters_table.c with one row a pipe. Returns the libraries' names."""
    libraries, functions, rows = [], [], []

    def add(script, name, pipes, layouts, *switches):
        header = build(options, script, name, *switches)
        libraries.append(name)
        functions.extend(adapters(pipe) for pipe in pipes)
        rows.extend(table_row(script, pipe, header, layouts) for pipe in pipes)

    examples = () if options.no_examples else EXAMPLES
    scripts = [os.path.join(HERE, "filters.pipe"), *(os.path.join(ROOT, "examples", name + ".pipe") for name in examples)]
    for script in scripts:
        add(script, os.path.splitext(os.path.basename(script))[0], signatures(options, script), {})
    script = os.path.join(HERE, "layouts.pipe")
    for pipe in signatures(options, script):
        layouts = dict(item.split("=") for item in pipe["doc"].split())
        switches = [word for image, layout in layouts.items() for word in ("--layout", f"{image}={layout}")]
        add(script, pipe["name"], [pipe], layouts, "--pipe", pipe["name"], *switches)
    with open(os.path.join(options.folder, "filters_table.c"), "w", encoding="ascii") as file:
        file.write('#include "support.h"\n' + "".join(f'#include "{name}.h"\n' for name in libraries) + "".join(functions))
        strict = "true" if "--strict" in options.switches else "false"
        file.write(f"const bool FILTERS_ARE_STRICT = {strict};\n")
        file.write("const filter FILTERS[] = {\n" + "".join(rows) + "};\n")
        file.write("const size_t N_FILTERS = sizeof FILTERS / sizeof *FILTERS;\n")
    return libraries


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--halo", required=True)
    parser.add_argument("--libhalo", required=True, help="folder with libhalo.so")
    parser.add_argument("--folder", required=True)
    parser.add_argument("--cc", default="cc")
    parser.add_argument("--only", nargs="+", metavar="TEST", help="these programs only")
    parser.add_argument("--no-examples", action="store_true", help="only the pipes of this folder")
    parser.add_argument("--switches", metavar="WORDS", default="", help="more switches for halo build")
    options = parser.parse_args()
    os.makedirs(options.folder, exist_ok=True)

    def made(name):
        return os.path.join(options.folder, name)

    libraries = build_filters(options)
    flags = ["-std=c17", "-D_GNU_SOURCE", "-Wall", "-Wextra", "-Werror", "-g", "-O1", "-ffp-contract=off", f"-I{HERE}",
             f"-I{options.folder}", f"-I{ROOT}/runtime/include"]
    for name in ("support", "filters_table"):
        source = made(name + ".c") if name.endswith("table") else os.path.join(HERE, name + ".c")
        run(options.cc, *flags, "-c", source, "-o", made(name + ".o"))
    for file in sorted(os.listdir(HERE)):
        name, ending = os.path.splitext(file)
        if ending != ".c" or not name.startswith("test_") or (options.only and name[5:] not in options.only):
            continue
        run(options.cc, *flags, os.path.join(HERE, file), made("support.o"), made("filters_table.o"),
            *(made(library + ".a") for library in libraries), *LINK.get(name, ()), f"-L{options.libhalo}", "-lhalo", f"-Wl,-rpath,{options.libhalo}", "-lcmocka", "-lm", "-lpthread", "-o", made(name))


if __name__ == "__main__":
    main()
