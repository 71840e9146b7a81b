#!/usr/bin/env python3
"""Tests of the command: help, messages, exit statuses, files.

    tests/cli/run_cli.py --halo build/halo [--cc cc] [TEST...]      TEST as in test_run.Names.test_unknown
"""

import argparse
import os
import sys
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)

import support  # noqa: E402


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--halo", required=True, help="the command to test")
    parser.add_argument("--cc", default="cc", help="a C compiler")
    parser.add_argument("tests", nargs="*")
    options = parser.parse_args()
    support.HALO = os.path.abspath(options.halo)
    support.CC = options.cc
    loader = unittest.TestLoader()
    suite = loader.loadTestsFromNames(options.tests) if options.tests else loader.discover(HERE)
    result = unittest.TextTestRunner(verbosity=1).run(suite)
    return 0 if result.wasSuccessful() and result.testsRun > 0 else 1


if __name__ == "__main__":
    sys.exit(main())
