#!/usr/bin/env python3
"""Checks that `halo check` reports what each script of tests/errors expects, and nothing else.

A script says so in comments, one for each diagnostic: `# expect: E0103 at 6`, with the line in that script;
`# expect: E0204 in other.pipe at 3` when it is in a file that is imported. A script may say how it is checked:
`# options: --pipe a`. Run one by hand: tests/run_errors.py --halo build/halo tests/errors/syntax_brackets.pipe
"""

import argparse
import json
import pathlib
import re
import subprocess
import sys

EXPECT = re.compile(r"^\s*#\s*expect:\s*([EW]\d{4})(?:\s+in\s+(\S+))?\s+at\s+(\d+)\s*$", re.MULTILINE)
OPTIONS = re.compile(r"^\s*#\s*options:\s*(.*)$", re.MULTILINE)


def describe(diagnostic):
    return "{code} in {file} at {line}".format(**diagnostic)


def expected_of(script, text):
    found = []
    for code, other, line in EXPECT.findall(text):
        found.append(f"{code} in {other or script.name} at {line}")
    return sorted(found)


def check(halo, script):
    """What is wrong with one script's diagnostics, as lines of text."""
    text = script.read_bytes().decode("latin-1")
    expected = expected_of(script, text)
    if not expected:
        return ["it expects nothing: add `# expect: CODE at LINE`"]
    options = OPTIONS.search(text)
    command = [halo, "check", "--json", *(options.group(1).split() if options else []), str(script)]
    run = subprocess.run(command, capture_output=True, timeout=60, check=False)
    try:
        diagnostics = json.loads(run.stdout.decode("utf-8"))
    except ValueError as error:
        return [f"exit status {run.returncode}, and its output isn't JSON: {error}",
                run.stdout.decode("utf-8", "replace")[:500], run.stderr.decode("utf-8", "replace")[:500]]
    found, messages = [], {}
    for diagnostic in diagnostics:
        diagnostic["file"] = pathlib.Path(diagnostic["file"] or "-").name
        found.append(describe(diagnostic))
        messages[found[-1]] = diagnostic["message"]
    problems = []
    for line in sorted(set(expected) | set(found)):
        missing = expected.count(line) - found.count(line)
        if missing > 0:
            problems.append(f"missing: {line}")
        elif missing < 0:
            problems.append(f"unexpected: {line}: {messages[line]}")
    status = 1 if any(d["severity"] == "error" for d in diagnostics) else 0
    if run.returncode != status:
        problems.append(f"exit status {run.returncode}, expected {status}")
    return problems


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--halo", required=True, help="the command to test")
    parser.add_argument("scripts", nargs="*", type=pathlib.Path, help="default: all of tests/errors")
    options = parser.parse_args()
    folder = pathlib.Path(__file__).resolve().parent / "errors"
    scripts = options.scripts or sorted(folder.glob("*.pipe"))
    failed = 0
    for script in scripts:
        problems = check(options.halo, script)
        if problems:
            failed += 1
            print(f"{script.name}:")
            for problem in problems:
                print(f"    {problem}")
            print(f"    again: tests/run_errors.py --halo {options.halo} {script}")
    print(f"{len(scripts) - failed} of {len(scripts)} scripts give the diagnostics they expect")
    return 1 if failed or not scripts else 0


if __name__ == "__main__":
    sys.exit(main())
