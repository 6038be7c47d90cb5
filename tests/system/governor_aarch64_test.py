#!/usr/bin/env python3
"""The launcher's way before libc on aarch64: its program, cross-built, in an emulator; broker and compilers are this machine's (label `full`).

    scripts/install-deps --full; scripts/other-nodes        # once: build/nodes/

An emulator makes a fork of what should share its parent's memory, so what a failed start leaves there is not seen here.
"""

import os
import subprocess
import sys
import unittest
from pathlib import Path

NODES = Path(os.environ.get("WHEELYARD_NODES", Path(__file__).resolve().parents[2] / "build" / "nodes"))
PROGRAM = NODES / "wheelyard-governor-aarch64"
if not PROGRAM.exists():
    print(f"skipped: no {PROGRAM}; scripts/other-nodes makes it")
    sys.exit(77)
os.environ["WHEELYARD_LAUNCHER"] = f"/usr/bin/qemu-aarch64-static {PROGRAM}"

from governor_early_test import LAUNCH, EarlyLauncher  # noqa: E402
from support.governed import CAP_S, GOVERNOR, GovernedCase  # noqa: E402

# Those whose launchers are LAUNCH's.
SAME = ("test_the_compiler_gets_what_it_would_get_without_us", "test_large_output_comes_whole",
        "test_a_compiler_that_is_not_there_or_no_program_says_so", "test_a_parent_that_ignores_its_childrens_ends",
        "test_long_command_lines_and_environments_go_the_other_way_to_the_same_end")


class Aarch64(GovernedCase):
    def compile(self, row: str) -> subprocess.CompletedProcess:
        self.sources([row])
        environment = self.environment | {"QEMU_STRACE": "1"}
        return subprocess.run([GOVERNOR, "--quiet", "--", *LAUNCH, self.hog, "-c", "s0.c"], cwd=self.folder, env=environment,
                              capture_output=True, text=True, timeout=CAP_S)

    def test_libc_is_started_for_what_ends_badly_alone(self):
        good, bad = self.compile("2 5 0"), self.compile("2 5 7")
        self.assertEqual((good.returncode, good.stdout), (0, "out of s0.c\n"))
        self.assertNotIn(" brk(", good.stderr)  # libc's first call
        self.assertEqual((bad.returncode, bad.stdout), (7, "out of s0.c\n"))
        self.assertIn(" brk(", bad.stderr)


def load_tests(loader, _tests, _pattern):
    return unittest.TestSuite([*map(EarlyLauncher, SAME), *loader.loadTestsFromTestCase(Aarch64)])


if __name__ == "__main__":
    unittest.main()
