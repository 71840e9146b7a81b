#!/usr/bin/env python3
"""Rules of the architecture that a compiler doesn't enforce.

* Includes run one way: lang <- frontend -> lowering <- backends, all of them <- runtime <- cli, examples.
* Backends know bodies, not names: no operation of the language occurs in backends/.
* Library code never exits and never prints.
"""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
SHARED = ("lang/base.h", "lang/diag.h")
# What a layer may include: a folder, or one header.
ALLOWED = {
    "lang": ("lang/",),
    "frontend": ("frontend/", "lang/", "lowering/"),
    "lowering": ("lowering/", "halo/abi.h", *SHARED),    # the interpreter takes pictures as compiled code does
    "backends": ("backends/", "lowering/", "halo/abi.h", "halo/vulkan_abi.h", *SHARED),
    "runtime": ("runtime/", "backends/", "frontend/", "lowering/", "lang/", "halo/"),
    "cli": ("cli/", "halo/"),
}
INCLUDE = re.compile(r'^\s*#\s*include\s+(?:"([^"]+)"|<(halo/[^>]+)>)', re.MULTILINE)
COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.DOTALL)
STRING = re.compile(r'"(?:[^"\\\n]|\\.)*"')
OPERATION = re.compile(r"\b(conv|sum|median)\b")
IMPURE = re.compile(r"(?<![\w.>])(exit|_exit|printf|puts|putchar|perror|fprintf)\s*\(")
GENERATED = ("grammar.h",)                              # by Lemon, beside lang/


def sources(folder):
    return sorted(p for p in (ROOT / folder).rglob("*") if p.suffix in (".c", ".h", ".def", ".re", ".y"))


def ours(name):
    return (ROOT / name).exists() or name.startswith("halo/")


def line_of(text, position):
    return text.count("\n", 0, position) + 1


def problems_of(layer, path):
    text = path.read_text(encoding="utf-8")
    place = path.relative_to(ROOT)
    for match in INCLUDE.finditer(text):
        name = match.group(1) or match.group(2)
        beside = "/" not in name and ((path.parent / name).exists() or name in GENERATED)
        if not beside and not name.startswith(ALLOWED[layer]) and ours(name):
            yield f"{place}:{line_of(text, match.start())}: {layer}/ may not include {name}"
    blank = lambda match: re.sub(r"[^\n]", " ", match.group(0))
    code = STRING.sub(blank, COMMENT.sub(blank, text))
    if layer == "backends":
        for match in OPERATION.finditer(COMMENT.sub(blank, text)):
            yield f"{place}:{line_of(text, match.start())}: a backend names the operation `{match.group(1)}`"
    if layer != "cli":
        for match in IMPURE.finditer(code):
            yield f"{place}:{line_of(text, match.start())}: a library calls {match.group(1)}"


def main():
    problems = [p for layer in ALLOWED for path in sources(layer) for p in problems_of(layer, path)]
    print("\n".join(problems) if problems else "the layers are as they should be")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
