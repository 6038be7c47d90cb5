#!/usr/bin/env python3
"""Builds of memory hogs under wheelyard-governor: tight limits, OOM kills, neighbours, and what the build
tool sees.
"""

import contextlib
import os
import re
import subprocess
import sys
import time
import unittest
from pathlib import Path

from support.governed import (CAP_S, MIB, SANITIZED, SLOWER, GovernedCase, kernel_kills, memory_group,
                              own_memory_group)


class GovernorMemory(GovernedCase):
    @unittest.skipIf(SANITIZED, "a sanitizer's launchers are too heavy for tight limits")
    def test_a_build_whose_j2_dies_finishes_at_j64(self):
        limit = 240 * MIB
        rows = [f"{120 + number % 5 * 8} 250 0" for number in range(8)] + [f"{10 + number} 60 0" for number in range(24)]
        self.sources(rows)
        with memory_group(limit) as group:
            if group:
                plain = self.run_in(group, ["ninja", "-j2"])
                self.assertNotEqual(plain.returncode, 0, "the limit is not tight enough to prove anything")
                self.clean()
                for log in self.folder.glob(".ninja_*"):
                    log.unlink()
            before = kernel_kills()
            for build in ("first", "second"):
                self.clean()
                result, summary = self.governed(group, limit, ["ninja", "-j64"], "--cores", "8")
                self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
                self.assertEqual(self.objects(), len(rows))
                self.assertEqual(result.stdout.count("FAILED"), 0)
                self.assertEqual(summary["failed"], 0)
                for number in range(len(rows)):  # a killed try leaves no output
                    self.assertEqual(result.stdout.count(f"out of s{number}.c\n"), 1)
                    self.assertEqual(result.stdout.count(f"err of s{number}.c\n"), 1)
                print(f"{build} build: {summary['wall_s']} s, killed {summary['killed']}, oom {summary['oom_kills']}, "
                      f"high water {summary['high_water_bytes'] / MIB:.0f} MiB of {limit // MIB}", file=sys.stderr)
                self.assertLess(summary["high_water_bytes"], limit)
                if build == "second":
                    self.assertEqual(summary["known"], len(rows))
                    self.assertEqual((summary["killed"], summary["oom_kills"]), (0, 0))
                    self.assertLess(summary["prediction_error_median"], 0.05)
            print(f"kernel's oom_kill: {kernel_kills() - before}", file=sys.stderr)

    def finishes_although_history_is_wrong(self, limit: int, rows: list[str]) -> tuple[dict, int]:
        """The first build records all compiles as small; in the second they are as in `rows`."""
        self.sources(["1 2 0"] * len(rows))
        result, _ = self.governed(None, 1 << 30, ["ninja"])
        self.assertEqual(result.returncode, 0, result.stderr)
        self.clean()
        self.sources(rows)
        with memory_group(limit) as group:
            before = kernel_kills()
            result, summary = self.governed(group, limit, ["ninja", "-j64"], "--cores", "8")
            kernel = kernel_kills() - before
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        self.assertEqual((self.objects(), summary["failed"]), (len(rows), 0))
        for number in range(len(rows)):
            self.assertEqual(result.stdout.count(f"out of s{number}.c\n"), 1)
        print(f"{summary['wall_s']} s, stopped {summary['stopped']}, killed {summary['killed']}, killed by the "
              f"kernel {summary['oom_kills']} (it counts {kernel}), unexplained {summary['unexplained']}, "
              f"high water {summary['high_water_bytes'] / MIB:.0f} MiB of {limit // MIB}", file=sys.stderr)
        return summary, kernel

    @unittest.skipIf(SANITIZED, "a sanitizer's launchers are too heavy for tight limits")
    def test_compiles_that_exceed_their_prediction_are_stopped_or_killed_and_retried(self):
        summary, _ = self.finishes_although_history_is_wrong(240 * MIB, [f"{70 + number} 1500 0" for number in range(8)])
        self.assertGreater(summary["stopped"] + summary["killed"], 0)

    @unittest.skipIf(SANITIZED, "a sanitizer's launchers are too heavy for tight limits")
    def test_compiles_killed_by_the_kernel_are_retried_and_the_build_tool_sees_nothing(self):
        if own_memory_group() is None:
            self.skipTest("no memory cgroup is writable here, so the kernel would kill nothing")
        # They grow faster than the broker samples, and any two are too many: a busy machine starts them late. If
        # the broker is faster anyway, the kernel counts nothing.
        summary, kernel = self.finishes_although_history_is_wrong(200 * MIB, [f"{120 + number} 60 0" for number in range(8)])
        self.assertLessEqual(summary["oom_kills"], kernel)
        self.assertGreater(summary["oom_kills"] + summary["killed"] + summary["stopped"], 0)

    def test_a_compile_that_cannot_fit_fails_and_names_file_need_and_limit(self):
        limit = 120 * MIB
        self.sources(["400 400 0", "10 10 0"])
        with memory_group(limit) as group:
            result, summary = self.governed(group, limit, ["ninja", "-k0", "-j4"])
        text = result.stdout + result.stderr
        self.assertEqual(result.returncode, 1, text)
        self.assertEqual(summary["could_not_fit"], 1, text)
        self.assertIn("s0.c does not fit", text)
        self.assertIn("120 MiB", text)
        self.assertTrue((self.folder / "s1.o").exists())

    @unittest.skipIf(SANITIZED, "a sanitizer's launchers are too heavy for tight limits")
    def test_a_compile_is_retried_if_the_kernel_kills_its_driver_or_front_end(self):
        if own_memory_group() is None:
            self.skipTest("no memory cgroup is writable here")
        for victim, word in (("front end", "driver"), ("driver", "driver"), ("front end", "silent")):
            with self.subTest(victim, word=word), memory_group(600 * MIB) as group:
                self.kill_one_of_two(group, victim, word=word)

    @unittest.skipIf(SANITIZED, "a sanitizer's launchers are too heavy for tight limits")
    def test_a_launcher_killed_by_the_kernel_fails_only_its_compile(self):
        if own_memory_group() is None:
            self.skipTest("no memory cgroup is writable here")
        self.record_history(3)
        self.sources(["5 50000 0", "5 10 0", "5 10 0"])
        with memory_group(600 * MIB) as group:
            build = self.start(["ninja", "-k0", "-j8"], "--cores", "3", group=group)
            self.wait_until(lambda: self.objects() == 2, "two objects")
            hog = self.wait_until(lambda: self.hogs_of(build.pid, "s0.c"), "the long compile")[0]
            self.trigger_oom_kill(group, build, self.parent(hog))
            text, _ = build.communicate(timeout=CAP_S)
        self.assertEqual((build.returncode, self.objects()), (1, 2), text)
        self.assertEqual(self.summary()["lost"], 1)
        self.wait_until(lambda: not Path(f"/proc/{hog}").exists(), "the orphaned compiler's end")
        (self.folder / "s0.c").write_text("5 10 0")
        result, summary = self.governed(None, 1 << 30, ["ninja"])
        self.assertEqual((result.returncode, summary["compiles"]), (0, 1), result.stdout)

    @unittest.skipIf(SANITIZED, "a sanitizer's launchers are too heavy for tight limits")
    def test_a_broker_killed_by_the_kernel_does_not_stop_the_build(self):
        if own_memory_group() is None:
            self.skipTest("no memory cgroup is writable here")
        self.sources(["5 500 0"] * 12)  # so that the last ten still run when two are seen
        with memory_group(600 * MIB) as group:
            build = self.start(["ninja", "-j8"], "--cores", "2", group=group)
            self.wait_until(lambda: self.objects() >= 2, "two objects")
            self.trigger_oom_kill(group, build, self.broker_of(build))
            text, _ = build.communicate(timeout=CAP_S)
            left = group.groups_below()
        self.assertEqual((build.returncode, self.objects(), left), (0, 12, []), text)
        self.assertIn("the broker was killed", text)

    @unittest.skipIf(SANITIZED, "a sanitizer's launchers are too heavy for tight limits")
    def test_a_neighbour_under_the_same_limit_slows_the_build_and_fails_nothing(self):
        if own_memory_group() is None:
            self.skipTest("no memory cgroup is writable here")
        self.record_history(4)
        self.sources([f"60 {max(5000, 1500 * SLOWER)} 0"] * 4)  # the neighbour has to start meanwhile
        with memory_group(340 * MIB) as group:
            build = self.start(["ninja"], "--cores", "4", group=group)
            self.wait_until(lambda: len(self.children(build.pid, "hog")) == 4, "all four compiles")
            neighbour = self.neighbour(group, build.pid, 180)
            text, _ = build.communicate(timeout=CAP_S)
            neighbour.wait(timeout=CAP_S)
        summary = self.summary()
        self.assertEqual((build.returncode, self.objects(), summary["failed"]), (0, 4, 0), text)
        self.assertGreater(summary["stopped"] + summary["killed"] + summary["oom_kills"], 0, text)

    @unittest.skipUnless(os.environ.get("WHEELYARD_GUEST"), "it fills a machine's memory, so only in governor_v2_test.py's guest")
    def test_a_neighbour_that_fills_the_machines_memory_slows_the_build_and_fails_nothing(self):
        self.record_history(4)
        self.sources([f"60 {4000 * SLOWER} 0"] * 4)
        free = int(re.search(r"MemAvailable: +(\d+) kB", Path("/proc/meminfo").read_text())[1]) >> 10
        build = self.start(["ninja"], "--cores", "4")
        hogs = self.wait_until(lambda: len(found := self.children(build.pid, "hog")) == 4 and found, "all four compiles")
        with subprocess.Popen(["sh", "-c", "read line"], stdin=subprocess.PIPE) as until:  # the neighbour lives as long
            neighbour = self.neighbour(None, until.pid, free - 140)
            self.wait_until(lambda: any(self.is_gone(pid) or self.is_stopped(pid) for pid in hogs), "a compile stopped or killed")
        neighbour.wait(timeout=CAP_S)
        text, _ = build.communicate(timeout=CAP_S)
        summary = self.summary()
        self.assertEqual((build.returncode, self.objects(), summary["failed"]), (0, 4, 0), text)
        self.assertEqual(summary["limit"], "free memory")
        self.assertGreater(summary["stopped"] + summary["killed"] + summary["oom_kills"], 0, text)

    @unittest.skipIf(SANITIZED, "a sanitizer's launchers are too heavy for tight limits")
    def test_a_limit_that_is_lowered_during_the_build_is_respected(self):
        if own_memory_group() is None:
            self.skipTest("no memory cgroup is writable here")
        self.sources(["30 600 0"] * 16)
        with memory_group(800 * MIB) as group:
            build = self.start(["ninja", "-j16"], "--cores", "4", group=group)
            self.wait_until(lambda: self.objects() >= 2, "two objects")
            deadline = time.monotonic() + CAP_S
            while True:  # version 1 refuses a limit below the present use
                with contextlib.suppress(OSError):
                    group.set_limit(110 * MIB)
                    break
                self.assertLess(time.monotonic(), deadline)
            text, _ = build.communicate(timeout=CAP_S)
        self.assertEqual((build.returncode, self.objects()), (0, 16), text)
        summary = self.summary()
        self.assertEqual((summary["failed"], summary["limit_bytes"]), (0, 110 * MIB))


if __name__ == "__main__":
    unittest.main(verbosity=2)
