#!/usr/bin/env python3
"""Counts the test cases of one tree:  tools/test_summary.py build/release  prints  "PASSED FAILED SKIPPED".

ctest knows programs, GoogleTest knows cases: the cases are taken from GoogleTest's JSON in test-results/, and a program
without one (a check that is no GoogleTest, a crash) counts as one. Names of failed cases go to stderr.
"""

import json
import sys
import xml.etree.ElementTree as xml
from pathlib import Path


def count(tree):
    passed = skipped = 0
    failed = []
    for program in xml.parse(tree / "ctest.xml").getroot().iter("testcase"):
        name, ok = program.get("name"), program.get("status") == "run"
        if program.find("skipped") is not None:
            skipped += 1
            continue
        report = tree / "test-results" / f"{name}.json"
        failures = []
        try:
            cases = [case for suite in json.loads(report.read_text())["testsuites"] for case in suite["testsuite"]]
        except (OSError, ValueError):
            cases = []
            passed += ok
        for case in cases:
            if case.get("failures"):
                failures.append(f"{name}: {case['classname']}.{case['name']}")
            elif case.get("status") == "RUN" and case.get("result") == "COMPLETED":
                passed += 1
            else:
                skipped += 1
        # All cases passed and the program failed: a leak, or a crash on the way out.
        if not ok and not failures:
            failures.append(f"{name}: the program failed")
        failed += failures
    return passed, failed, skipped


def main():
    tree = Path(sys.argv[1])
    passed, failed, skipped = count(tree)
    for name in failed:
        print(f"FAILED in {tree.name}: {name}", file=sys.stderr)
    print(passed, len(failed), skipped)


if __name__ == "__main__":
    main()
