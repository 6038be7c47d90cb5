#!/usr/bin/env python3
"""The governor under cgroup version 2, with a Debian kernel in an emulated machine (label `full`: takes
minutes).

    scripts/install-deps --full; scripts/other-nodes        # once: the emulator, build/nodes/vmlinuz
    WHEELYARD_BIN=build/release/bin python3 tests/system/governor_v2_test.py

The machine has only version 2, with the memory controller and pressure stall information. It runs the tests
of limits and groups that otherwise run under this machine's kernel: memory.max above the build, a group per
compile, memory.peak, memory.events, memory.pressure, and the groups that a killed governor leaves.
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
from support.skips import not_here

HERE = Path(__file__).resolve().parent
KERNEL = Path(os.environ.get("WHEELYARD_NODES", HERE.parents[1] / "build" / "nodes")) / "vmlinuz"
TESTS = ("governor_groups_test.py", "governor_memory_test.py")
TIMEOUT_S = 1800
# Without hardware virtualization the machine is about ten times slower.
CAP_S = 240  # per step in the guest
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
            output = run_in_guest(KERNEL, root, commands, "psi=1 cgroup_no_v1=all", TIMEOUT_S)
        done = DONE.search(output)
        self.assertIsNotNone(done, "the machine ended before its tests")
        self.assertEqual(done.groups(), ("0", str(len(TESTS))))
        for skipped in ("no memory cgroup", "no memory.pressure", "using --memory instead"):
            self.assertNotIn(skipped, output)


if __name__ == "__main__":
    lacks = missing() or ("" if KERNEL.exists() else f"{KERNEL} does not exist") or ("a sanitizer build" if SANITIZED else "")
    if lacks:
        not_here(f"{lacks}; scripts/install-deps --full; scripts/other-nodes")
    unittest.main(verbosity=2)
