"""`scripts/test --pbs`, as far as it goes where there is no PBS: without one it says what is missing; pbs_test.py drives whatever PBS is on PATH by
the commands of its users, here by those of the one that answers with recordings. A sample of its cases; all of them with WHEELYARD_FULL=1."""

import os
import shutil
import subprocess
import sys
import tempfile
import unittest
import unittest.mock
from pathlib import Path

from support.case import main
from support.farm import ROOT
from support.full import IS_FULL
from support.pbs_client import SERVER_WORDS
from support.pbs_replay import PbsReplay

SUITE_LIMIT_S = 2400
SAMPLE = ("test_a_real_package_goes_from_want_to_page_through_the_batch_system", "test_a_job_that_is_killed_is_tried_again_in_its_own_tree",
          "test_a_server_that_is_down_is_no_failed_job", "test_a_foreign_job_that_spoils_the_list_hides_none_of_ours")


class PbsOnPathTest(unittest.TestCase):
    def setUp(self):
        self.folder = Path(tempfile.mkdtemp(prefix="wheelyard-pbs-path-"))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)

    def run_suite(self, path: str, *tests: str) -> subprocess.CompletedProcess:
        return subprocess.run([sys.executable, "-B", ROOT / "tests/system/pbs_test.py", *tests], capture_output=True, text=True,
                              timeout=SUITE_LIMIT_S, env={name: value for name, value in os.environ.items() if name not in SERVER_WORDS} |
                              {"WHEELYARD_PBS": "on-path", "PATH": path})

    def test_where_no_pbs_is_on_path_it_says_so_and_fails(self):
        programs = self.folder / "bin"
        programs.mkdir()
        for name in ("bash", "dirname"):
            (programs / name).symlink_to(shutil.which(name))
        for name in ("qsub", "qdel"):
            (programs / name).symlink_to(shutil.which("true"))
        done = subprocess.run([shutil.which("bash"), ROOT / "scripts/test", "--pbs"], capture_output=True, text=True, timeout=SUITE_LIMIT_S,
                              env={"PATH": str(programs)})
        self.assertEqual((done.returncode, done.stdout), (1, ""), done.stderr)
        self.assertIn("not on PATH: qstat qselect qsig qalter\n", done.stderr)
        done = self.run_suite(str(programs))
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn("not on PATH: qstat qselect qsig qalter\n", done.stderr)

    def test_the_callers_own_pbs_conf_does_not_reach_the_replay(self):
        batch = PbsReplay(self.folder / "batch")
        self.addCleanup(batch.__exit__)
        conf = self.folder / "pbs.conf"
        conf.write_text("PBS_EXEC=/opt/pbs\nPBS_SERVER=pbs.example.org\n")
        with unittest.mock.patch.dict(os.environ, {"PBS_CONF_FILE": str(conf)}):
            self.assertEqual(batch.jobs(), [])
            asked = subprocess.run([batch.programs / "qselect", "-x"], capture_output=True, text=True, timeout=SUITE_LIMIT_S)
        self.assertEqual((asked.returncode, asked.stdout, asked.stderr), (0, "", ""))

    def test_the_suite_passes_on_the_pbs_that_is_on_path(self):
        batch = PbsReplay(self.folder / "batch")
        self.addCleanup(batch.__exit__)
        done = self.run_suite(f"{batch.programs}:{os.environ['PATH']}", *(() if IS_FULL else [f"PbsTest.{name}" for name in SAMPLE]))
        print(done.stderr)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertRegex(done.stderr, r"\nOK\n")
        self.assertGreater(len(batch.jobs()), 0)
        self.assertEqual({job["state"] for job in batch.server.jobs()}, {"F"})


if __name__ == "__main__":
    main()
