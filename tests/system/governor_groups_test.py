#!/usr/bin/env python3
"""A cgroup per compile with a real kernel: version 1 on machines that have it, version 2 in
governor_v2_test.py's guest.
"""

import contextlib
import os
import signal
import sys
import unittest
from pathlib import Path

from support.governed import CAP_S, GOVERNOR, MIB, SANITIZED, GovernedCase, MemoryGroup, memory_group, own_memory_group

LONG_MS = 1500  # compiles of a second or more get a group


@unittest.skipIf(SANITIZED, "a sanitizer's launchers are too heavy for tight limits")
class GovernorGroups(GovernedCase):
    def setUp(self):
        super().setUp()
        if own_memory_group() is None:
            self.skipTest("no memory cgroup is writable here")

    @staticmethod
    def group_of(pid: int, group: MemoryGroup) -> Path:
        """The process's memory group, as a folder."""
        for line in Path(f"/proc/{pid}/cgroup").read_text().splitlines():
            _, controllers, path = line.split(":", 2)
            if ("memory" in controllers.split(",")) if group.version == 1 else not controllers:
                mount = Path("/sys/fs/cgroup/memory" if group.version == 1 else "/sys/fs/cgroup")
                return mount / path.lstrip("/")
        raise AssertionError(f"{pid} is in no memory group")

    def both_hogs(self, build) -> list[int]:
        return self.wait_until(lambda: len(hogs := self.hogs_of(build.pid, ".c")) == 2 and hogs, "both compiles")  # no --version

    def test_each_long_compile_has_a_group_below_the_limit_and_all_are_removed(self):
        self.record_history(2, LONG_MS)
        self.sources([f"40 {2 * LONG_MS} 0", f"30 {2 * LONG_MS} 0"])
        with memory_group(600 * MIB) as group:
            build = self.start(["ninja"], "--cores", "2", group=group)
            theirs = [self.group_of(pid, group) for pid in self.both_hogs(build)]
            text, _ = build.communicate(timeout=CAP_S)
            summary, left = self.summary(), group.groups_below()
            again = self.run_in(group, ["true"])  # version 2: a group with enabled controllers would accept no process
            self.assertEqual(len(set(theirs)), 2)
            for one in theirs:
                self.assertEqual(one.parent, group.build / f"wheelyard-governor.{build.pid}")
            self.assertEqual((build.returncode, summary["failed"], left, again.returncode), (0, 0, [], 0), text)
            self.assertEqual((summary["limit"], summary["limit_bytes"]), (f"cgroup {group.folder}", 600 * MIB))
        self.assertIn("each long one in its own cgroup", text)

    def test_a_short_peak_of_two_processes_between_two_samples_is_measured(self):
        self.record_history(1, LONG_MS)
        self.sources(["90 60 0 pair"])
        with memory_group(600 * MIB) as group:
            result, summary = self.governed(group, 0, ["ninja"])
        self.assertEqual(result.returncode, 0, result.stderr)
        peak = summary["worst"][0]["peak_bytes"] / MIB
        print(f"a peak of 2 × 90 MiB for 30 ms: {peak:.1f} MiB", file=sys.stderr)
        self.assertTrue(165 < peak < 200, peak)  # one process alone has 90

    def test_a_compile_killed_by_the_kernel_in_its_own_group_is_retried(self):
        for victim, word in (("front end", "driver"), ("driver", "driver"), ("front end", "silent")):
            with self.subTest(victim, word=word), memory_group(600 * MIB) as group:
                self.kill_one_of_two(group, victim, LONG_MS, word)

    def test_memory_pressure_in_the_builds_group_stops_the_youngest_until_it_ends(self):
        with memory_group(600 * MIB) as group:
            if group.version != 2 or not (group.build / "memory.pressure").exists():
                self.skipTest("no memory.pressure here: it needs version 2 and a kernel with PSI enabled")
            self.record_history(2, LONG_MS)
            self.sources(["100 4000 0"] * 2)
            build = self.start(["ninja"], "--cores", "2", group=group)
            hogs = self.both_hogs(build)
            theirs = [self.group_of(pid, group) for pid in hogs]
            for one in theirs:  # throttles both
                (one / "memory.high").write_text(str(4 * MIB))
            self.wait_until(lambda: any(self.is_stopped(pid) for pid in hogs), "one of them stopped")
            self.assertFalse(all(self.is_stopped(pid) for pid in hogs))
            for one in theirs:
                (one / "memory.high").write_text("max")
            text, _ = build.communicate(timeout=CAP_S)
        summary = self.summary()
        self.assertEqual((build.returncode, self.objects(), summary["failed"], summary["killed"]), (0, 2, 0, 0), text)
        self.assertGreater(summary["stopped"], 0)

    def test_groups_left_by_a_killed_governor_are_removed_by_the_next(self):
        self.record_history(2, LONG_MS)
        self.sources(["5 50000 0"] * 2)
        with memory_group(600 * MIB) as group:
            build = self.start(["ninja"], "--cores", "2", group=group)
            hogs = self.both_hogs(build)
            tree = [build.pid, *self.children(build.pid, "wheelyard-governor"), *self.children(build.pid, "ninja")]
            for pid in tree:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            build.communicate(timeout=CAP_S)
            for pid in hogs:
                self.wait_until(lambda: not Path(f"/proc/{pid}").exists(), "the compilers' end")
            left = group.groups_below()
            if group.version == 2:  # a group with enabled controllers accepts no process: the next build uses a sibling
                group.build /= "next"
                group.build.mkdir()
            self.sources(["5 10 0"] * 2)
            result, summary = self.governed(group, 0, [GOVERNOR, "launch", "--", self.hog, "-c", "s0.c"])
            self.assertEqual((result.returncode, summary["compiles"]), (0, 1), result.stderr)
            self.assertGreaterEqual(len(left), 3, left)  # the build's and two compiles'
            self.assertEqual([one for one in left if one.exists()], [])


if __name__ == "__main__":
    unittest.main(verbosity=2)
