"""Skipped tests with their reasons, for the end of scripts/test: "system/sites<TAB>TEST<TAB>REASON", appended to the file that WHEELYARD_SKIPS
names. ctest itself shows no skip inside an entry that passes."""

import os
import sys
import unittest
from pathlib import Path


def record(test: str, reason: str) -> None:
    file = os.environ.get("WHEELYARD_SKIPS")
    if file:
        entry = Path(sys.argv[0]).name.removesuffix(".py").removesuffix("_test")
        with open(file, "a") as lines:  # one write: other entries append at the same time
            lines.write(f"system/{entry}\t{test}\t{' '.join(reason.split())}\n")


def record_all() -> None:
    """Every runner of unittest reports through this method."""
    plain = unittest.TestResult.addSkip

    def add_skip(result: unittest.TestResult, test, reason: str) -> None:
        record(str(test).split()[0], reason)
        plain(result, test, reason)
    unittest.TestResult.addSkip = add_skip


def not_here(reason: str) -> None:
    """Ends a test program that cannot run here at all, as ctest's SKIP_RETURN_CODE says."""
    print(f"Not run: {reason}")
    record("all", reason)
    sys.exit(77)
