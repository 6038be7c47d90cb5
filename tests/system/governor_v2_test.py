#!/usr/bin/env python3
"""The governor under cgroup version 2, by a kernel of Debian's in an emulated machine (label `full`: minutes).

    scripts/install-deps --full; scripts/other-nodes        # once: the emulator, build/nodes/vmlinuz
    WHEELYARD_BIN=build/release/bin python3 tests/system/governor_v2_test.py

The machine's only hierarchy is version 2, with the memory controller and with pressure stall information. In it run the
tests of limits and groups that elsewhere run under this machine's own kernel: the limit from memory.max above the build, a
group for each compile, memory.peak, memory.events, memory.pressure, and what a killed governor leaves.
"""

import os
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from support.governed import GOVERNOR, SANITIZED
from support.guest import DONE, Root, missing, run_in_guest

HERE = Path(__file__).resolve().parent
KERNEL = Path(os.environ.get("WHEELYARD_NODES", HERE.parents[1] / "build" / "nodes")) / "vmlinuz"
TESTS = ("governor_groups_test.py", "governor_memory_test.py")
TIMEOUT_S = 1800
# Without hardware's help a machine is ten times as slow.
CAP_S = 240  # of one step in there
SLOWER = 10


class GovernorVersion2(unittest.TestCase):
    def test_limits_groups_kills_and_pressure_of_version_2(self):
        with tempfile.TemporaryDirectory(prefix="governor-v2-") as name:
            hog = Path(name) / "hog"
            subprocess.run(["cc", "-O2", "-static", "-o", hog, HERE / "support" / "hog.c"], check=True)
            root = Root()
            root.add_file("/usr/bin/wheelyard-governor", GOVERNOR)
            root.add_file("/usr/bin/hog", hog)
            for program in ("sh", "ninja", "env", "true"):
                root.add_program(f"/usr/bin/{program}", shutil.which(program))
            root.add_file("/bin/sh", Path(shutil.which("sh")).resolve())
            root.add_tree("/wheelyard/tests/system", HERE)
            setting = ["env", "WHEELYARD_BIN=/usr/bin", "WHEELYARD_HOG=/usr/bin/hog", f"WHEELYARD_CAP_S={CAP_S}",
                       f"WHEELYARD_SLOWER={SLOWER}", "WHEELYARD_GUEST=1"]
            python = str(Path(sys.executable).resolve())
            commands = [[*setting, python, "-B", f"/wheelyard/tests/system/{test}"] for test in TESTS]
            said = run_in_guest(KERNEL, root, commands, "psi=1 cgroup_no_v1=all", TIMEOUT_S)
        done = DONE.search(said)
        self.assertIsNotNone(done, "the machine ended before its tests")
        self.assertEqual(done.groups(), ("0", str(len(TESTS))))
        for skipped in ("no memory cgroup", "no memory.pressure", "--memory stands in"):
            self.assertNotIn(skipped, said)


if __name__ == "__main__":
    lacks = missing() or ("" if KERNEL.exists() else f"there is no {KERNEL}") or ("a sanitizer's program" if SANITIZED else "")
    if lacks:
        print(f"Not run: {lacks}; scripts/install-deps --full; scripts/other-nodes")
        sys.exit(77)
    unittest.main(verbosity=2)
