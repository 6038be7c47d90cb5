#!/usr/bin/env python3
"""`ctest -R docs-reports`: each row of tests/system/public_reports.tsv names a report once, clients, forms, what is right, and tests that
exist; a row that does not is detected."""

import importlib.machinery
import importlib.util
import re
import sys
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
ROWS = ROOT / "tests/system/public_reports.tsv"
CLIENTS = {"pip", "three pips", "pip 23", "uv", "poetry", "pex", "pipenv", "pdm", "twine", "HTTP"}
FORMS = {"server", "nginx", "http.server", "file", "S3", "upstream"}

sys.dont_write_bytecode = True
loader = importlib.machinery.SourceFileLoader("standards", str(ROOT / "scripts/generate-standards"))
standards = importlib.util.module_from_spec(importlib.util.spec_from_loader("standards", loader))
loader.exec_module(standards)


def complaints(text: str) -> list[str]:
    found, seen = [], set()
    for line in text.splitlines():
        if line.startswith("#"):
            continue
        cells = line.split("\t")
        if len(cells) != 6 or not all(cells):
            found.append(f"not six cells: {line[:60]}")
            continue
        report, hit, clients, forms, _, tests = cells
        if not re.fullmatch(r"[\w.-]+/[\w.-]+#\d+", report) or report in seen:
            found.append(f"{report}: not OWNER/NAME#NUMBER, or twice")
        seen.add(report)
        if not re.fullmatch(r"-|\d+\.\d+", hit):
            found.append(f"{report}: no hit of a query: {hit}")
        for known, named in ((CLIENTS, clients), (FORMS, forms)):
            found += [f"{report}: unknown: {name}" for name in named.split(", ") if name not in known]
        for test in tests.split("; "):
            try:
                standards.shown_by(ROOT, report, test)
            except standards.Malformed as problem:
                found.append(str(problem))
    return found


class ReportsTest(unittest.TestCase):
    def test_every_report_names_tests_that_exist(self):
        self.assertEqual(complaints(ROWS.read_text(encoding="utf-8")), [])

    def test_a_wrong_row_is_detected(self):
        test = "tests/docs/reports_test.py: test_a_wrong_row_is_detected"
        right = ["pypa/pip#1", "-", "pip, uv", "server", "this", test]
        self.assertEqual(complaints("\t".join(right)), [])
        for at, value in ((0, "pip#1"), (1, "first"), (2, "pip, conda"), (3, "gopher"), (4, ""), (5, test + "_not"), (5, "tests/docs/none.py: test_x")):
            wrong = right[:at] + [value] + right[at + 1:]
            self.assertEqual(len(complaints("\t".join(wrong))), 1, wrong)
        self.assertEqual(len(complaints("\t".join(right) + "\n" + "\t".join(right))), 1)


if __name__ == "__main__":
    unittest.main()
