"""Runs a script with the reference evaluator:

    python3 -m tests.reference SCRIPT [PICTURE...] [name=value...] -o OUT [-o output=OUT...]

Pictures fill the image inputs in order, or name=file; all else with `=` is a parameter.
"""

import argparse
import sys

from . import files
from .errors import PipeError
from .script import Script


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("script")
    parser.add_argument("words", nargs="*", help="pictures and name=value")
    parser.add_argument("-o", "--output", action="append", default=[])
    parser.add_argument("--pipe")
    parser.add_argument("--strict", action="store_true")
    parser.add_argument("--no-fma", action="store_true")
    options = parser.parse_args()
    try:
        run(options)
    except PipeError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


def run(options):
    script = Script(options.script, strict=options.strict, no_fma=options.no_fma)
    item = script.pipe(options.pipe)
    ranks = {p.name: len(p.type.extents or (0, 0)) for p in item.params if script.is_picture(p)}
    inputs, parameters, waiting = {}, {}, list(ranks)
    for word in options.words:
        name, equals, value = word.partition("=")
        if equals and name in ranks:
            inputs[name] = files.read(value, ranks[name])
            waiting.remove(name)
        elif equals:
            parameters[name] = value
        elif waiting:
            name = waiting.pop(0)
            inputs[name] = files.read(word, ranks[name])
        else:
            raise PipeError(f"no input is left for {word}")
    results = script.run(inputs, parameters, options.pipe)
    for word in options.output:
        name, equals, path = word.partition("=")
        if equals:
            files.write(path, results[name])
        else:
            files.write(word, next(iter(results.values())))


if __name__ == "__main__":
    sys.exit(main())
