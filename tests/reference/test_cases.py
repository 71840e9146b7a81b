"""Runs every file of tests/cases through the evaluator."""

import glob
import os
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))

from case_file import differences, read_case  # noqa: E402
from reference.errors import PipeError  # noqa: E402
from reference.script import Script  # noqa: E402

CASES = os.path.join(os.path.dirname(HERE), "cases")


def run_reference(case, run, folder):
    """What the evaluator makes of one run of a case: None if that is right, else what is wrong."""
    for name, text in case.files.items():
        with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
            file.write(text)
    try:
        script = Script(os.path.join(folder, "script.pipe"), case.script, strict="--strict" in case.switches)
        results = script.run(run.inputs, run.params, run.pipe)
    except PipeError as error:
        if run.error is None:
            return str(error)
        line = run.error[1]
        return None if line in (None, error.line) else f"error at line {error.line}, expected {line}: {error}"
    if run.error is not None:
        return "no error"
    return first_difference(run, results)


def first_difference(run, results):
    for name, (expected, within) in run.outputs.items():
        actual = results[name] if name in results else next(iter(results.values()))
        found = differences(expected, within, actual)
        if found:
            return f"output {name}: {found}"
    return None


class Cases(unittest.TestCase):
    def test_cases(self):
        paths = sorted(glob.glob(os.path.join(CASES, "*.case")))
        self.assertTrue(paths)
        for path in paths:
            case = read_case(path)
            for number, run in enumerate(case.runs, 1):
                with self.subTest(case=os.path.basename(path), run=number), \
                        tempfile.TemporaryDirectory() as folder:
                    self.assertIsNone(run_reference(case, run, folder))


if __name__ == "__main__":
    unittest.main()
