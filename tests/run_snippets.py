#!/usr/bin/env python3
"""Short scripts that try one rule each, through compiled code, the interpreter and the Python evaluator, which have
to agree: on the bits, or on refusing the script.

    tests/run_snippets.py --halo build/halo

tests/snippets/snippets.txt holds them, separated by `---`. The first line is the type of the output, or `raw` where
the whole script follows; the pipe's inputs are a: image u8, f: image f32, p: image u8x3.
"""

import argparse
import os
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)

from differential import first_difference, near_image, run_batch  # noqa: E402
from reference import files  # noqa: E402
from reference.arithmetic import round_list  # noqa: E402
from reference.errors import PipeError  # noqa: E402
from reference.script import Script  # noqa: E402
from reference.values import Image, Type  # noqa: E402

PICTURES = {
    "a": Image([(0, 4), (0, 3)], Type("u8", 1), [[1, 2, 4, 8, 16, 32, 64, 128, 255, 0, 7, 9]]),
    "f": Image([(0, 4), (0, 3)], Type("f32", 1),
               [round_list([0.5, -1.25, 3.0, 0.1, 2.0, -0.0, 7.5, 1e-3, 9.0, -4.5, 0.3, 100.0])]),
    "p": Image([(0, 2), (0, 2)], Type("u8", 3), [[1, 2, 3, 4], [10, 20, 30, 40], [100, 200, 250, 255]]),
}
WAYS = {"compiled": [], "interpret": ["--interpret"]}


class Snippet:
    """A snippet with its files."""

    def __init__(self, number, text, folder):
        head, _, body = text.partition("\n")
        self.number, self.text, self.stem = number, text, os.path.join(folder, f"s{number}")
        self.script = body + "\n" if head == "raw" else \
            f"pipe t(a: image u8, f: image f32, p: image u8x3) -> {head} {{\n{body}\n}}\n"
        self.inputs = [name for name in PICTURES if f"{name}: image" in self.script]
        with open(self.stem + ".pipe", "w", encoding="utf-8") as file:
            file.write(self.script)

    def arguments(self, way, folder):
        pictures = [f"{name}={os.path.join(folder, name)}.npy" for name in self.inputs]
        return [self.stem + ".pipe", "--pipe", "t", "--quiet", "-o", f"{self.stem}_{way}.npy"] + pictures + WAYS[way]

    def reference(self):
        """The output and the scale of its tolerance, or the error."""
        try:
            script = Script(text=self.script)
            return script.run({name: PICTURES[name] for name in self.inputs}, {}, "t"), script.evaluator.largest
        except PipeError as error:
            return error, 0.0

    def failure(self, answers):
        """What the three disagree about, or None."""
        results, largest = self.reference()
        accepted = {way: answer.startswith("ok") for way, answer in answers.items()}
        if isinstance(results, PipeError):
            refused = all(answer.startswith("error") for answer in answers.values())
            return None if refused else f"the reference refuses it ({results}), halo: {answers}"
        if not all(accepted.values()):
            return f"the reference accepts it, halo: {answers}"
        found = first_difference(f"{self.stem}_compiled.npy", f"{self.stem}_interpret.npy")
        if found:
            return f"compiled against interpreted: {found}"
        image = next(iter(results.values()))
        return near_image(image, f"{self.stem}_interpret.npy", largest) if image.inexact < 2 else None


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--halo", required=True, help="the command to test")
    options = parser.parse_args()
    with open(os.path.join(HERE, "snippets", "snippets.txt"), encoding="utf-8") as file:
        texts = file.read().rstrip("\n").split("\n---\n")
    failures = 0
    with tempfile.TemporaryDirectory() as folder:
        for name, image in PICTURES.items():
            files.write_npy(os.path.join(folder, f"{name}.npy"), image)
        snippets = [Snippet(number, text, folder) for number, text in enumerate(texts)]
        answers = {way: run_batch(options.halo, [s.arguments(way, folder) for s in snippets],
                                  os.path.join(folder, f"batch_{way}")) for way in WAYS}
        for k, snippet in enumerate(snippets):
            found = snippet.failure({way: answers[way][k] for way in WAYS})
            if found:
                failures += 1
                print(f"FAILED\n{snippet.text}\n  {found}", flush=True)
    print(f"{len(snippets)} snippets, {failures} failed")
    return 1 if failures or not snippets else 0


if __name__ == "__main__":
    sys.exit(main())
