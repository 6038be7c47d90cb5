"""Every skip of a system test reaches the end of scripts/test, with its reason: of a test, of a class, of a subtest, of a whole program."""

import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from support.case import main
from support.farm import COMMAND_TIMEOUT_S

PROGRAM = """
import sys, unittest
sys.path[0] = {system!r}
from support import skips
if sys.argv[1:] == ["nowhere"]:
    skips.not_here("no nodes")
class Some(unittest.TestCase):
    @unittest.skip("never\\nhere")
    def test_one(self): pass
    def test_two(self):
        with self.subTest("inner"):
            self.skipTest("no MPI")
    def test_three(self): pass
@unittest.skipIf(True, "no Slurm")
class Others(unittest.TestCase):
    def test_four(self): pass
unittest.main()
"""


class SkipsTest(unittest.TestCase):
    def run_program(self, *arguments: str) -> tuple[int, list[str]]:
        with tempfile.TemporaryDirectory(prefix="wheelyard-skips-") as folder:
            program, skips = Path(folder, "demo_test.py"), Path(folder, "skips")
            program.write_text(PROGRAM.format(system=str(Path(__file__).parent)))
            done = subprocess.run([sys.executable, "-B", program, *arguments], env=os.environ | {"WHEELYARD_SKIPS": str(skips)},
                                  capture_output=True, timeout=COMMAND_TIMEOUT_S)
            return done.returncode, sorted(skips.read_text().splitlines())

    def test_a_skip_of_a_test_a_subtest_and_a_class_is_a_line_with_its_reason(self):
        self.assertEqual(self.run_program(), (0, ["system/demo\ttest_four\tno Slurm", "system/demo\ttest_one\tnever here",
                                                  "system/demo\ttest_two\tno MPI"]))

    def test_a_program_that_cannot_run_here_is_a_line_and_a_skip_of_ctest(self):
        self.assertEqual(self.run_program("nowhere"), (77, ["system/demo\tall\tno nodes"]))


if __name__ == "__main__":
    main()
