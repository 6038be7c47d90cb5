"""A system test that is ended from outside leaves nothing running: not its registry, not its cluster, not a job that waits for it;
killed, it leaves no daemon of the cluster, and a job that waits for it only for a quarter of an hour."""

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

from support.case import main
from support.farm import ROOT
from support.slurm_cluster import missing_programs

LIMIT_S = 720  # of a cluster's start, or of its end: each of their own steps may take four minutes
VICTIM = "SlurmTest.test_a_job_that_somebody_cancels_is_not_started_again_until_retry"


@unittest.skipIf(missing_programs(), f"no Slurm here: {' '.join(missing_programs())} missing")
class EndedTest(unittest.TestCase):
    def setUp(self):
        self.folder = Path(tempfile.mkdtemp(prefix="wheelyard-ended-"))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        self.addCleanup(self.kill_what_is_left)

    def wait(self, what: str, condition) -> None:
        deadline = time.monotonic() + LIMIT_S
        while not condition():
            self.assertLess(time.monotonic(), deadline, f"{what}: {self.left()}")
            time.sleep(0.1)  # until other programs have done something: nothing announces it

    def left(self) -> dict[int, str]:
        """The processes that know the folder, by their words or their environment."""
        found = {}
        for entry in Path("/proc").iterdir():
            try:
                words = (entry / "cmdline").read_bytes() if entry.name.isdigit() else b""
                if str(self.folder).encode() in words + (entry / "environ").read_bytes():
                    found[int(entry.name)] = words.replace(b"\0", b" ").decode(errors="replace")
            except OSError:
                continue  # it is gone, or no process
        return found

    def start_and_wait_for_its_build(self) -> subprocess.Popen:
        test = subprocess.Popen([sys.executable, "-B", ROOT / "tests/system/slurm_test.py", VICTIM], stdin=subprocess.DEVNULL,
                                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=os.environ | {"TMPDIR": str(self.folder)})
        self.addCleanup(lambda: (test.kill(), test.wait()))
        self.wait("a build at its gate", lambda: any("step 2" in steps.read_text() for steps in self.folder.glob("*/control/steps")))
        self.assertIn("slurmctld", str(self.left()))
        return test

    def test_by_a_signal_it_ends_its_job_its_cluster_and_its_registry(self):
        test = self.start_and_wait_for_its_build()
        test.terminate()
        said, _ = test.communicate(timeout=LIMIT_S)
        self.assertEqual(test.returncode, 1, said)
        self.assertIn("Ended: SIGTERM", said)
        self.wait("the end of all", lambda: not self.left())
        self.assertEqual(list(self.folder.glob("wheelyard-*")), [])

    def test_when_it_is_killed_its_daemons_end_and_its_build_with_the_gate(self):
        test = self.start_and_wait_for_its_build()
        test.kill()
        test.communicate(timeout=LIMIT_S)
        self.wait("the daemons' end", lambda: not any(name in words for words in self.left().values()
                                                      for name in ("munged", "slurmctld", "slurmd ")))
        for gate in self.folder.glob("*/control/gate"):
            gate.unlink()  # or in a quarter of an hour
        self.wait("the job's end", lambda: not any(str(self.folder) in words and "registry" not in words for words in self.left().values()))

    def kill_what_is_left(self) -> None:
        """Of a killed test: its registry, and what of Slurm reports the job's end to its controller, for an hour."""
        for pid in self.left():
            with contextlib.suppress(ProcessLookupError):  # it ended with another
                os.kill(pid, signal.SIGKILL)


if __name__ == "__main__":
    main()
