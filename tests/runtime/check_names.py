#!/usr/bin/env python3
"""Fails unless the global names that a library defines are the functions of the public headers, all of them and no other.

    tests/runtime/check_names.py build/libhalo.so runtime/include/halo
"""

import os
import re
import subprocess
import sys


def declared(folder):
    names = set()
    for header in ("halo.h", "picture.h", "types.h"):
        with open(os.path.join(folder, header), encoding="utf-8") as file:
            text = re.sub(r"/\*.*?\*/", "", file.read(), flags=re.S)
        text = re.sub(r"typedef[^;{]*;", "", text)
        names |= set(re.findall(r"\b(halo_\w+)\(", text))
    return names


LINKER = {"__bss_start", "_edata", "_end"}          # in every shared library


def main():
    library, folder = sys.argv[1:]
    command = ["nm", "-D", "--defined-only", library] if library.endswith(".so") else ["nm", "-g", "--defined-only", library]
    lines = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
    found = {line.split()[-1] for line in lines if len(line.split()) == 3} - LINKER
    wanted = declared(folder)
    for name in sorted(found - wanted):
        print(f"{library} defines {name}, which no public header declares")
    for name in sorted(wanted - found):
        print(f"{library} lacks {name}")
    return 1 if found != wanted or not wanted else 0


if __name__ == "__main__":
    sys.exit(main())
