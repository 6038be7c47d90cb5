#!/usr/bin/env python3
"""`ctest -R layers-lanes`: scripts/test over stand-ins for what it calls. Alone it ends with what it did not run; with --land a lane that fails
leaves the other its results, all failures are named at the end, and the exit status is 1."""

import os
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
QUIET = "#!/bin/sh\n"
CALLED = ("scripts/install-deps", "scripts/prepare-clients", "scripts/fuzz", "scripts/tidy", "programs/cmake", "programs/mountpoint", "programs/git",
          "programs/clang-format-14")
# As ctest, it fails where FAILS_LANE says so.
CTEST = """#!/bin/sh
lane=${2##*/}
lane=${lane%-ubsan}
case "$*" in
*" -N "*) printf '  Test #1: system/browser\\n  Test #2: system/nginx\\n' && exit ;;
*"-R ^system/governor"*) lane=alone ;;
*"-L ^first$") lane=first ;;
*"-L ^checks$") lane=checks ;;
esac
sleep "$(printenv "SECONDS_$lane" || echo 0)"
if printenv "FAILS_$lane" >/dev/null; then
    printf '50%% tests passed, 1 tests failed out of 2\\n\\nTotal Test time (real) =   1.00 sec\\n\\nThe following tests FAILED:\\n'
    printf '\\t 7 - %s (Failed)\\nErrors while running CTest\\n' "$lane/broken"
    exit 8
fi
printf '100%% tests passed, 0 tests failed out of 2\\n\\nTotal Test time (real) =   1.00 sec\\n'
"""


class LanesTest(unittest.TestCase):
    def setUp(self):
        self.tree = Path(self.enterContext(tempfile.TemporaryDirectory(prefix="wheelyard-lanes-")))
        for name in CALLED:
            self.write(name, QUIET)
        self.write("programs/ctest", CTEST)
        (self.tree / "cmake").mkdir()
        shutil.copy(ROOT / "cmake/layers.cmake", self.tree / "cmake")
        for script in ("test", "help.sh"):
            shutil.copy(ROOT / "scripts" / script, self.tree / "scripts")

    def write(self, name: str, text: str):
        path = self.tree / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
        path.chmod(0o755)

    def run_script(self, *options: str, **environment: str) -> subprocess.CompletedProcess:
        return subprocess.run([self.tree / "scripts/test", *options], env=os.environ | {"PATH": f"{self.tree}/programs:{os.environ['PATH']}"} | environment,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=60)

    def named(self, done: subprocess.CompletedProcess) -> list[str]:
        return [line.strip() for line in done.stdout.splitlines() if line.startswith("test: FAILED") or line.endswith("(Failed)")]

    def summaries(self, done: subprocess.CompletedProcess) -> int:
        return done.stdout.rpartition("seconds per stage")[2].count("% tests passed")

    def test_it_ends_with_what_it_did_not_run(self):
        done = self.run_script()
        self.assertEqual((done.returncode, self.named(done), self.summaries(done)), (0, [], 1), done.stdout)
        self.assertNotIn("lane", done.stdout)
        self.assertIn("these 2 suites of tests/system:\n  browser nginx\n", done.stdout)
        self.assertRegex(done.stdout.splitlines()[-1], "^  All of it: scripts/test --land.")

    def test_a_failure_of_what_comes_first_ends_both(self):
        for options in ((), ("--land",)):
            for lane, stage in (("checks", "what reads the tree"), ("first", "tests first")):
                with self.subTest(options=options, stage=stage):
                    done = self.run_script(*options, **{f"FAILS_{lane}": "1"})
                    self.assertEqual((done.returncode, "lane" in done.stdout), (8, False), done.stdout)
                    self.assertIn(f'test: FAILED in stage "{stage}"', done.stdout.splitlines()[-1])

    def test_all_pass_and_the_summaries_are_the_last_lines(self):
        done = self.run_script("--land")
        self.assertEqual((done.returncode, self.named(done), self.summaries(done)), (0, [], 4), done.stdout)
        self.assertRegex(done.stdout.splitlines()[-1], "^Total Test time")

    def test_the_other_lane_goes_on_and_the_failed_one_is_named_with_its_tests(self):
        done = self.run_script("--land", FAILS_release="1", SECONDS_asan="0.5")
        self.assertEqual((done.returncode, self.summaries(done)), (1, 4), done.stdout)
        self.assertEqual(self.named(done)[-2:], ['test: FAILED in stage "tests release" of lane release', "7 - release/broken (Failed)"])

    def test_each_failure_is_named(self):
        self.write("scripts/fuzz", QUIET + "exit 3\n")
        done = self.run_script("--land", FAILS_release="1", FAILS_alone="1")
        self.assertEqual((done.returncode, self.summaries(done)), (1, 3), done.stdout)
        self.assertEqual(sorted(self.named(done)), sorted([
            'test: FAILED in stage "fuzz" of lane sanitizers',
            'test: FAILED in stage "tests release" of lane release', "7 - release/broken (Failed)", "7 - release/broken (Failed)",
            'test: FAILED in stage "tests alone" of lane alone', "7 - alone/broken (Failed)", "7 - alone/broken (Failed)"]))

    def test_before_the_tests_a_failure_ends_the_run(self):
        self.write("scripts/prepare-clients", QUIET + "exit 4\n")
        done = self.run_script("--land")
        self.assertEqual(done.returncode, 4, done.stdout)
        self.assertIn('test: FAILED in stage "clients"', done.stdout.splitlines()[-1])
        self.assertNotIn("lane", done.stdout)

    def test_what_the_place_lacks_is_said_first(self):
        self.write("scripts/install-deps", QUIET + "echo begun\nexit 3\n")
        self.write("programs/id", QUIET + "echo 0\n")
        self.tree.chmod(0o755)
        with self.subTest("a chroot"):
            self.write("programs/mountpoint", QUIET + "exit 1\n")
            done = self.run_script()
            self.assertLess(done.stdout.index("this is a chroot"), done.stdout.index("begun"))
        self.write("programs/mountpoint", QUIET)
        with self.subTest("a clone for its owner alone"):
            (self.tree / "scripts/test").chmod(0o700)
            done = self.run_script()
            self.assertLess(done.stdout.index("umask 022"), done.stdout.index("begun"))
            (self.tree / "scripts/test").chmod(0o755)
        with self.subTest("a path that PATH splits"):
            self.tree = Path(shutil.copytree(self.tree, self.tree / "a:b", symlinks=True))
            done = self.run_script()
            self.assertEqual((done.returncode, "begun" in done.stdout), (1, False), done.stdout)
            self.assertIn("a:b", done.stdout)


if __name__ == "__main__":
    unittest.main()
