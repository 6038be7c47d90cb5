#!/usr/bin/env python3
"""Builds of memory hogs under wheelyard-governor: tight limits, kills, crashes, and what the build tool sees of them.

Where this runs as root with the version 1 memory controller writable, limits are real cgroups; elsewhere --memory stands
in, which is said. Every cgroup and process made here is removed again.
"""

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

HERE = Path(__file__).resolve().parent
BIN = Path(os.environ.get("WHEELYARD_BIN", HERE.parents[1] / "build" / "dev" / "bin")).resolve()
GOVERNOR = BIN / "wheelyard-governor"
MIB = 1 << 20
CAP_S = 60
# A sanitizer's launchers are fifty times as heavy, so tight limits prove nothing about ours.
SANITIZED = GOVERNOR.exists() and b"__asan_init" in GOVERNOR.read_bytes()


def own_memory_group() -> Path | None:
    """Our group of the version 1 memory controller, if children can be made in it."""
    for line in Path("/proc/self/cgroup").read_text().splitlines():
        _, controllers, path = line.split(":", 2)
        folder = Path("/sys/fs/cgroup/memory") / path.lstrip("/")
        if "memory" in controllers.split(",") and os.access(folder, os.W_OK) and os.geteuid() == 0:
            if (folder / "memory.limit_in_bytes").exists():
                return folder
    return None


@contextlib.contextmanager
def memory_group(limit_bytes: int):
    """A child cgroup with the limit, or None where none can be made."""
    parent = own_memory_group()
    if parent is None:
        print("no writable memory cgroup here: --memory stands in", file=sys.stderr)
        yield None
        return
    folder = parent / f"wheelyard-governor-test-{os.getpid()}-{time.monotonic_ns()}"
    folder.mkdir()
    try:
        (folder / "memory.limit_in_bytes").write_text(str(limit_bytes))
        yield folder
    finally:
        deadline = time.monotonic() + 10
        while True:
            # A governor that was killed leaves its groups below.
            below = sorted((path for path in folder.rglob("*") if path.is_dir()), reverse=True)
            try:
                for one in [*below, folder]:
                    for pid in (one / "cgroup.procs").read_text().split():
                        with contextlib.suppress(ProcessLookupError):
                            os.kill(int(pid), signal.SIGKILL)
                    one.rmdir()
                break
            except OSError:
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.02)


def kernel_kills() -> int:
    """The kernel's kills for memory since the machine started, in whatever group."""
    for line in Path("/proc/vmstat").read_text().splitlines():
        if line.startswith("oom_kill "):
            return int(line.split()[1])
    return 0


# A neighbour under the same limit: four processes, since of one large one the kernel would think first. They take memory
# until a process is gone, or to a size and keep it until then. Arguments: PID MIB.
NEIGHBOUR = """
import os, sys, time
pid, most, held = sys.argv[1], int(sys.argv[2]) // 4, []
os.fork()
os.fork()
def there():
    try:
        return open(f"/proc/{pid}/stat").read().rsplit(")", 1)[1].split()[0] not in "ZX"
    except OSError:
        return False
while there():
    if len(held) < most:
        held.append(b"x" * (1 << 20))
    else:
        time.sleep(0.01)
"""


class Governor(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.tools = tempfile.TemporaryDirectory(prefix="governor-tools-")
        cls.hog = Path(cls.tools.name) / "hog"
        subprocess.run(["cc", "-O2", "-static", "-o", cls.hog, HERE / "support" / "hog.c"], check=True)

    @classmethod
    def tearDownClass(cls):
        cls.tools.cleanup()

    def setUp(self):
        self.folder = Path(tempfile.mkdtemp(prefix="governor-test-"))
        self.addCleanup(shutil.rmtree, self.folder, True)
        self.environment = {name: value for name, value in os.environ.items() if not name.startswith("SLURM_")}
        self.environment |= {"XDG_CACHE_HOME": str(self.folder / "cache"), "TMPDIR": str(self.folder)}

    def sources(self, rows: list[str]) -> None:
        """s0.c … with these contents, and a build.ninja that "compiles" them."""
        lines = [f"rule cc\n  command = {GOVERNOR} launch -- {self.hog} -c $in -o $out\n"]
        for number, row in enumerate(rows):
            (self.folder / f"s{number}.c").write_text(row)
            lines.append(f"build s{number}.o: cc s{number}.c\n")
        (self.folder / "build.ninja").write_text("".join(lines))

    def clean(self) -> None:
        for path in self.folder.glob("*.o"):
            path.unlink()

    def objects(self) -> int:
        return len(list(self.folder.glob("*.o")))

    def noted(self) -> int:
        """Outputs that ninja's own log holds."""
        with contextlib.suppress(OSError):
            return sum(".o\t" in line for line in (self.folder / ".ninja_log").read_text().splitlines())
        return 0

    def run_in(self, group: Path | None, command: list, **options) -> subprocess.CompletedProcess:
        enter = f"echo $$ > {group}/cgroup.procs && " if group else ""
        return subprocess.run(["sh", "-c", f'{enter}exec "$@"', "sh", *map(str, command)], cwd=self.folder,
                              env=self.environment, capture_output=True, text=True, timeout=CAP_S, **options)

    def governed(self, group: Path | None, limit: int, command: list, *options: str) -> tuple:
        memory = [] if group else ["--memory", str(limit)]
        result = self.run_in(group, [GOVERNOR, *memory, "--json", "summary.json", "--progress", "0", *options, "--",
                                     *command])
        summary = json.loads((self.folder / "summary.json").read_text())
        return result, summary

    def start(self, command: list, *options: str, group: Path | None = None) -> subprocess.Popen:
        enter = ["sh", "-c", f'echo $$ > {group}/cgroup.procs && exec "$@"', "sh"] if group else []
        return subprocess.Popen([*enter, GOVERNOR, "--json", "summary.json", "--progress", "0", *options, "--",
                                 *map(str, command)], cwd=self.folder, env=self.environment, text=True,
                                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True)

    def teach(self, count: int) -> None:
        """A build from which history knows s0.c … as small and short."""
        self.sources(["2 5 0"] * count)
        self.assertEqual(self.governed(None, 1 << 30, ["ninja"])[0].returncode, 0)
        self.clean()
        for log in self.folder.glob(".ninja_*"):
            log.unlink()

    def neighbour(self, group: Path, pid: int, mib: int) -> subprocess.Popen:
        return subprocess.Popen(["sh", "-c", f'echo $$ > {group}/cgroup.procs && exec "$@"', "sh", sys.executable, "-c",
                                 NEIGHBOUR, str(pid), str(mib)])

    def broker_of(self, build: subprocess.Popen) -> int:
        return [pid for pid in self.children(build.pid, "wheelyard-governor") if self.parent(pid) == build.pid][0]

    def let_the_kernel_kill(self, group: Path, build: subprocess.Popen, victim: int) -> None:
        """Memory ends in the group, and the kernel chooses `victim`; the broker, who would prevent it, looks away."""
        broker, kills = self.broker_of(build), kernel_kills()
        os.kill(broker, signal.SIGSTOP)
        Path(f"/proc/{victim}/oom_score_adj").write_text("1000")
        self.neighbour(group, victim, 1 << 20).wait(timeout=CAP_S)
        self.assertGreater(kernel_kills(), kills)
        with contextlib.suppress(ProcessLookupError):
            os.kill(broker, signal.SIGCONT)

    def tool(self, name: str, text: str) -> None:
        """A program of that name, first on PATH."""
        tools = self.folder / "tools"
        tools.mkdir(exist_ok=True)
        (tools / name).write_text(text)
        (tools / name).chmod(0o755)
        if not self.environment["PATH"].startswith(f"{tools}:"):
            self.environment["PATH"] = f"{tools}:{self.environment['PATH']}"

    def wait_until(self, condition, what: str):
        deadline = time.monotonic() + CAP_S
        while time.monotonic() < deadline:
            if found := condition():
                return found
            time.sleep(0.005)
        self.fail(f"never: {what}")

    def children(self, pid: int, name: str) -> list[int]:
        """All descendants of `pid` whose program is `name`."""
        found, todo = [], [pid]
        while todo:
            one = todo.pop()
            with contextlib.suppress(OSError):
                todo += map(int, Path(f"/proc/{one}/task/{one}/children").read_text().split())
                if Path(f"/proc/{one}/comm").read_text().strip() == name[:15]:
                    found.append(one)
        return found

    def hogs_of(self, pid: int, source: str) -> list[int]:
        found = []
        for hog in self.children(pid, "hog"):
            with contextlib.suppress(OSError):
                if source.encode() in Path(f"/proc/{hog}/cmdline").read_bytes():
                    found.append(hog)
        return found

    @staticmethod
    def is_gone(pid: int) -> bool:
        """Ended, reaped or not."""
        try:
            return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] in "ZX"
        except OSError:
            return True

    @staticmethod
    def parent(pid: int) -> int:
        """0 when it is gone."""
        with contextlib.suppress(OSError):
            return int(Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[1])
        return 0

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
                for number in range(len(rows)):  # of a try that was killed nothing is seen
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
        """The first build teaches that all are small; then they are as in `rows`."""
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
        print(f"{summary['wall_s']} s, stopped {summary['stopped']}, killed {summary['killed']}, seen killed by the "
              f"kernel {summary['oom_kills']} (it counts {kernel}), unexplained {summary['unexplained']}, "
              f"high water {summary['high_water_bytes'] / MIB:.0f} MiB of {limit // MIB}", file=sys.stderr)
        return summary, kernel

    @unittest.skipIf(SANITIZED, "a sanitizer's launchers are too heavy for tight limits")
    def test_compiles_that_grow_past_what_was_expected_are_stopped_or_killed_and_run_again(self):
        summary, _ = self.finishes_although_history_is_wrong(240 * MIB, [f"{70 + number} 1500 0" for number in range(8)])
        self.assertGreater(summary["stopped"] + summary["killed"], 0)

    @unittest.skipIf(SANITIZED, "a sanitizer's launchers are too heavy for tight limits")
    def test_what_the_kernel_kills_runs_again_and_the_build_tool_sees_nothing(self):
        # They grow faster than anyone looks. Should we be faster after all, the kernel has nothing to count.
        summary, kernel = self.finishes_although_history_is_wrong(200 * MIB, [f"{90 + number} 4 0" for number in range(8)])
        if own_memory_group():
            self.assertLessEqual(summary["oom_kills"], kernel)
        self.assertGreater(summary["oom_kills"] + summary["killed"], 0)

    def test_a_compile_that_cannot_fit_fails_with_file_need_and_limit(self):
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

    def test_exit_codes_and_both_streams_pass_through(self):
        self.sources(["1 1 7"])
        result = self.run_in(None, [GOVERNOR, "--quiet", "--", GOVERNOR, "launch", "--", self.hog, "-c", "s0.c"])
        self.assertEqual((result.returncode, result.stdout, result.stderr), (7, "out of s0.c\n", "err of s0.c\n"))

    def test_a_real_crash_fails_with_its_signal_and_is_not_retried(self):
        self.sources([f"1 1 {1000 + signal.SIGSEGV}"])
        result, summary = self.governed(None, 1 << 30, [GOVERNOR, "launch", "--", self.hog, "-c", "s0.c"], "--quiet")
        self.assertEqual(result.returncode, 128 + signal.SIGSEGV)
        self.assertEqual((summary["failed"], summary["unexplained"]), (1, 0))

    def test_signal_9_without_pressure_is_tried_once_more_alone_and_then_fails(self):
        self.sources([f"1 1 {1000 + signal.SIGKILL}"])
        result, summary = self.governed(None, 1 << 30, [GOVERNOR, "launch", "--", self.hog, "-c", "s0.c"])
        self.assertEqual(result.returncode, 128 + signal.SIGKILL)
        self.assertEqual((summary["failed"], summary["unexplained"]), (1, 1))

    def test_spaces_and_response_files_reach_the_compiler_unchanged(self):
        (self.folder / "a b.c").write_text("int f(void) { return 1; }\n")
        (self.folder / "words.rsp").write_text('-c "a b.c" -DX="1 2" -o "a b.o"\n')
        result, summary = self.governed(None, 1 << 30, ["cc", "@words.rsp"])
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertTrue((self.folder / "a b.o").exists())
        self.assertEqual([row["source"] for row in summary["worst"]], ["a b.c"])

    def test_a_killed_broker_does_not_stop_the_build(self):
        self.sources(["5 150 0"] * 12)
        build = self.start(["ninja", "-j8"], "--cores", "2")
        self.wait_until(lambda: self.objects() >= 2, "two objects")
        broker = [pid for pid in self.children(build.pid, "wheelyard-governor") if self.parent(pid) == build.pid]
        self.assertEqual(len(broker), 1)
        os.kill(broker[0], signal.SIGKILL)
        text, _ = build.communicate(timeout=CAP_S)
        self.assertEqual(build.returncode, 0, text)
        self.assertEqual(self.objects(), 12)
        self.assertIn("the broker was killed", text)

    def test_a_killed_launcher_frees_its_reservation_and_its_compiler_ends(self):
        self.sources(["5 20000 0", "5 10 0", "5 10 0"])
        build = self.start(["ninja", "-k0", "-j8"], "--cores", "1")
        # The largest comes first only when known; so wait for whichever holds the only core for long.
        hog = self.wait_until(lambda: self.children(build.pid, "hog") if self.objects() == 2 or
                              self.stuck(build.pid) else None, "the long compile")[0]
        os.kill(self.parent(hog), signal.SIGKILL)
        text, _ = build.communicate(timeout=CAP_S)
        self.assertEqual(build.returncode, 1, text)
        self.assertEqual(self.objects(), 2, text)
        self.wait_until(lambda: not Path(f"/proc/{hog}").exists(), "the orphaned compiler's end")
        self.assertEqual(json.loads((self.folder / "summary.json").read_text())["lost"], 1)

    def stuck(self, pid: int) -> bool:
        return bool(self.hogs_of(pid, "s0.c"))

    def test_a_term_ends_build_and_compilers_and_the_rest_builds_later(self):
        self.sources(["5 10 0"] * 3 + ["5 20000 0"])
        build = self.start(["ninja", "-j8"], "--cores", "4")
        # Ninja notes an output after it is there: what it has not noted yet would rightly be built once more.
        self.wait_until(lambda: self.noted() == 3, "the three short ones")
        hogs = self.wait_until(lambda: self.children(build.pid, "hog"), "the long one")
        os.kill(build.pid, signal.SIGTERM)
        text, _ = build.communicate(timeout=CAP_S)
        self.assertNotEqual(build.returncode, 0, text)
        self.wait_until(lambda: not Path(f"/proc/{hogs[0]}").exists(), "the compiler's end")
        self.assertFalse((self.folder / "s3.o").exists())
        (self.folder / "s3.c").write_text("5 10 0")
        result, summary = self.governed(None, 1 << 30, ["ninja", "-j8"])
        self.assertEqual((result.returncode, self.objects()), (0, 4), result.stdout)
        self.assertEqual(summary["compiles"], 1)

    def test_a_compile_that_forks_and_leaves_ends_when_it_ends(self):
        self.sources(["5 10 0 fork"])  # what it leaves behind would outlast the cap on this run
        result, summary = self.governed(None, 1 << 30, [GOVERNOR, "launch", "--", self.hog, "-c", "s0.c"])
        self.assertEqual((result.returncode, summary["compiles"]), (0, 1))

    def test_a_broken_history_is_set_aside_and_the_build_runs(self):
        (self.folder / "history").write_bytes(b"\x00garbage\n" * 100)
        self.sources(["2 2 0"])
        result, summary = self.governed(None, 1 << 30, ["ninja", "-j2"], "--history", "history")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("set aside", result.stderr)
        self.assertTrue((self.folder / "history.broken").exists())
        shown = self.run_in(None, [GOVERNOR, "history", "show", "--history", "history"])
        self.assertIn("s0.c", shown.stdout)

    def test_a_full_disk_costs_the_history_and_not_the_build(self):
        self.sources(["2 2 0"])
        result, _ = self.governed(None, 1 << 30, ["ninja", "-j2"], "--history", "/dev/full/history")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("the history cannot be", result.stderr)

    def test_a_cmake_build_is_governed_links_included(self):
        (self.folder / "CMakeLists.txt").write_text(
            "cmake_minimum_required(VERSION 3.21)\nproject(x C)\nadd_executable(x x.c y.c)\n")
        (self.folder / "x.c").write_text("int y(void);\nint main(void) { return y(); }\n")
        (self.folder / "y.c").write_text("int y(void) { return 0; }\n")
        result, _ = self.governed(None, 1 << 30, ["sh", "-c", "cmake -G Ninja -S . -B b && cmake --build b"])
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        shown = self.run_in(None, [GOVERNOR, "history", "show"]).stdout
        for line in ("c        x.c", "c        y.c", "link     x"):
            self.assertIn(line, shown)

    def test_make_and_scripts_are_governed_by_the_links_on_path(self):
        (self.folder / "Makefile").write_text("all: a.o b.o\n%.o: %.c\n\tcc -c $< -o $@\n")
        for name in "ab":
            (self.folder / f"{name}.c").write_text("int x;\n")
        result, summary = self.governed(None, 1 << 30, ["make", "-j4"])
        self.assertEqual((result.returncode, summary["compiles"]), (0, 2), result.stderr)
        # Without the governor a link only runs what it stands for.
        link = self.folder / "cache/wheelyard/governor/shims/cc"
        self.assertTrue(link.is_symlink())
        self.clean()
        self.assertEqual(self.run_in(None, [link, "-c", "a.c"]).returncode, 0)
        self.assertTrue((self.folder / "a.o").exists())

    def test_a_compiler_that_calls_a_compiler_is_one_compile(self):
        tools = self.folder / "tools"
        tools.mkdir()
        (tools / "nvcc").write_text("#!/bin/sh\nexec cc -x c -c k.cu -o k.o\n")
        (tools / "nvcc").chmod(0o755)
        (self.folder / "k.cu").write_text("int x;\n")
        self.environment["PATH"] = f"{tools}:{self.environment['PATH']}"
        result, summary = self.governed(None, 1 << 30, ["nvcc", "-c", "k.cu", "-o", "k.o"], "--cores", "1")
        self.assertEqual((result.returncode, summary["compiles"]), (0, 1), result.stderr)
        self.assertTrue((self.folder / "k.o").exists())

    def test_what_the_kernel_kills_of_a_compile_runs_again_driver_or_front_end(self):
        if own_memory_group() is None:
            self.skipTest("no memory cgroup is writable here")
        for victim in ("front end", "driver"):
            with self.subTest(victim), memory_group(600 * MIB) as group:
                self.teach(2)
                self.sources(["40 50000 0 driver", "2 5 0"])
                build = self.start(["ninja", "-j8"], "--cores", "2", group=group)
                self.wait_until(lambda: self.objects() == 1, "the other's object")
                self.wait_until(lambda: len(self.hogs_of(build.pid, "s0.c")) == 2, "driver and front end")
                hogs = self.hogs_of(build.pid, "s0.c")
                driver = next(pid for pid in hogs if self.parent(pid) not in hogs)
                front_end = next(pid for pid in hogs if pid != driver)
                (self.folder / "s0.c").write_text("40 10 0")
                self.let_the_kernel_kill(group, build, driver if victim == "driver" else front_end)
                text, _ = build.communicate(timeout=CAP_S)
                summary = json.loads((self.folder / "summary.json").read_text())
                self.assertEqual((build.returncode, self.objects(), summary["failed"]), (0, 2, 0), text)
                self.assertEqual((summary["oom_kills"], summary["unexplained"]), (1, 0), text)
                self.assertNotIn("FAILED", text)
                self.assertNotIn("Killed signal", text)  # of a try that runs again nothing is seen
                self.wait_until(lambda: self.is_gone(front_end), "the end of the killed driver's front end")

    def test_a_launcher_killed_by_the_kernel_costs_its_compile_and_nothing_else(self):
        if own_memory_group() is None:
            self.skipTest("no memory cgroup is writable here")
        self.teach(3)
        self.sources(["5 50000 0", "5 10 0", "5 10 0"])
        with memory_group(600 * MIB) as group:
            build = self.start(["ninja", "-k0", "-j8"], "--cores", "3", group=group)
            self.wait_until(lambda: self.objects() == 2, "two objects")
            hog = self.wait_until(lambda: self.hogs_of(build.pid, "s0.c"), "the long one")[0]
            self.let_the_kernel_kill(group, build, self.parent(hog))
            text, _ = build.communicate(timeout=CAP_S)
        self.assertEqual((build.returncode, self.objects()), (1, 2), text)
        self.assertEqual(json.loads((self.folder / "summary.json").read_text())["lost"], 1)
        self.wait_until(lambda: not Path(f"/proc/{hog}").exists(), "the orphaned compiler's end")
        (self.folder / "s0.c").write_text("5 10 0")
        result, summary = self.governed(None, 1 << 30, ["ninja"])
        self.assertEqual((result.returncode, summary["compiles"]), (0, 1), result.stdout)

    def test_a_broker_killed_by_the_kernel_does_not_stop_the_build(self):
        if own_memory_group() is None:
            self.skipTest("no memory cgroup is writable here")
        self.sources(["5 150 0"] * 12)
        with memory_group(600 * MIB) as group:
            build = self.start(["ninja", "-j8"], "--cores", "2", group=group)
            self.wait_until(lambda: self.objects() >= 2, "two objects")
            self.let_the_kernel_kill(group, build, self.broker_of(build))
            text, _ = build.communicate(timeout=CAP_S)
            left = [path for path in group.rglob("*") if path.is_dir()]
        self.assertEqual((build.returncode, self.objects(), left), (0, 12, []), text)
        self.assertIn("the broker was killed", text)

    @unittest.skipIf(SANITIZED, "a sanitizer's launchers are too heavy for tight limits")
    def test_a_neighbour_that_eats_the_memory_slows_the_build_and_fails_nothing(self):
        if own_memory_group() is None:
            self.skipTest("no memory cgroup is writable here")
        self.teach(4)
        self.sources(["60 1500 0"] * 4)
        with memory_group(340 * MIB) as group:
            build = self.start(["ninja"], "--cores", "4", group=group)
            self.wait_until(lambda: len(self.children(build.pid, "hog")) == 4, "all four")
            neighbour = self.neighbour(group, build.pid, 180)
            text, _ = build.communicate(timeout=CAP_S)
            neighbour.wait(timeout=CAP_S)
        summary = json.loads((self.folder / "summary.json").read_text())
        self.assertEqual((build.returncode, self.objects(), summary["failed"]), (0, 4, 0), text)
        self.assertGreater(summary["stopped"] + summary["killed"] + summary["oom_kills"], 0, text)

    def test_another_compiler_of_the_same_name_is_not_taken_for_the_known_one(self):
        self.sources(["3 5 0"] * 3)
        for version, known in (("12", 0), ("12", 3), ("13", 0)):
            self.tool("gcc", f'#!/bin/sh\n[ "$1" = --version ] && echo "gcc {version}" && exit\nexec {self.hog} "$@"\n')
            os.utime(self.folder / "tools/gcc", (int(version), int(version)))
            command = "for n in 0 1 2; do gcc -c s$n.c -o s$n.o || exit; done"
            result, summary = self.governed(None, 1 << 30, ["sh", "-c", command])
            self.assertEqual((result.returncode, summary["compiles"], summary["known"]), (0, 3, known), result.stderr)

    def test_a_compiler_cache_stays_in_front_of_the_compiler_and_its_hits_teach_nothing(self):
        self.tool("ccache", f'#!/bin/sh\nlast=$(basename "$3")\nif [ -e {self.folder}/$last.hit ]; then : > "$5"; exit; fi\n'
                  f': > {self.folder}/$last.hit\nexec "$@"\n')
        (self.folder / "s0.c").write_text("60 20 0")
        for wall in ("miss", "hit"):
            result, summary = self.governed(None, 1 << 30, ["sh", "-c",
                                            '$0 launch -- ccache $1 -c s0.c -o s0.o', GOVERNOR, self.hog], "--history", "h")
            self.assertEqual((result.returncode, summary["compiles"]), (0, 1), result.stderr)
            self.assertEqual(len(summary["worst"]), 1 if wall == "miss" else 0)
        peak, runs = (self.folder / "h").read_text().splitlines()[1].split("\t")[1:5:3]
        self.assertGreater(int(peak), 60 << 10)
        self.assertEqual(runs, "1")
        self.environment["CMAKE_C_COMPILER_LAUNCHER"] = "ccache"
        result, _ = self.governed(None, 1 << 30, ["sh", "-c", "echo $CMAKE_C_COMPILER_LAUNCHER $CMAKE_CXX_COMPILER_LAUNCHER"])
        self.assertEqual(result.stdout, f"{GOVERNOR};launch;--;ccache {GOVERNOR};launch;--\n")

    def test_wrappers_of_clusters_are_governed_by_name(self):
        wrappers = {"cc": ("c", "c"), "CC": ("cpp", "c++"), "ftn": ("f90", "fortran"), "nvcc": ("cu", "cuda"),
                    "hipcc": ("cpp", "hip"), "x86_64-conda-linux-gnu-g++": ("cpp", "c++")}
        commands = []
        for name, (suffix, _) in wrappers.items():
            self.tool(name, f'#!/bin/sh\nexec {self.hog} "$@"\n')
            (self.folder / f"{name}.{suffix}").write_text("2 1 0")
            commands.append(f"{name} -c {name}.{suffix} -o {name}.o")
        result, summary = self.governed(None, 1 << 30, ["sh", "-c", " && ".join(commands)])
        self.assertEqual((result.returncode, summary["compiles"]), (0, len(wrappers)), result.stderr)
        shown = self.run_in(None, [GOVERNOR, "history", "show"]).stdout.splitlines()
        for name, (suffix, language) in wrappers.items():
            self.assertIn([language, f"{name}.{suffix}"], [line.split()[-2:] for line in shown])

    def test_output_passes_byte_for_byte_whatever_the_bytes(self):
        bytes_out = bytes(range(256)) * 3000
        (self.folder / "bytes").write_bytes(bytes_out)
        self.tool("gcc", "#!/bin/sh\ncat bytes\ntac -s a bytes >&2\nexit 41\n")
        plain = subprocess.run([self.folder / "tools/gcc", "-c", "x.c"], cwd=self.folder, capture_output=True)
        self.assertEqual(plain.stdout, bytes_out)
        for command in (["gcc", "-c", "x.c"], [GOVERNOR, "launch", "--", self.folder / "tools/gcc", "-c", "x.c"]):
            result = subprocess.run([GOVERNOR, "--quiet", "--", *command], cwd=self.folder, env=self.environment,
                                    capture_output=True, timeout=CAP_S)
            self.assertEqual(result.returncode, 41)
            self.assertTrue(result.stdout == plain.stdout, "stdout differs")
            self.assertTrue(result.stderr.startswith(plain.stderr), "stderr differs")
            self.assertTrue(result.stderr == plain.stderr, result.stderr[len(plain.stderr):][:300])

    @unittest.skipIf(SANITIZED, "a sanitizer's launchers are too heavy for tight limits")
    def test_a_limit_that_is_lowered_while_running_is_kept(self):
        if own_memory_group() is None:
            self.skipTest("no memory cgroup is writable here")
        self.sources(["30 600 0"] * 16)
        with memory_group(800 * MIB) as group:
            build = subprocess.Popen(
                ["sh", "-c", f'echo $$ > {group}/cgroup.procs && exec "$@"', "sh", GOVERNOR, "--json", "summary.json",
                 "--progress", "0", "--cores", "4", "--", "ninja", "-j16"], cwd=self.folder, env=self.environment,
                text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
            self.wait_until(lambda: self.objects() >= 2, "two objects")
            deadline = time.monotonic() + CAP_S
            while True:  # the kernel refuses a limit below what is used at the moment
                with contextlib.suppress(OSError):
                    (group / "memory.limit_in_bytes").write_text(str(110 * MIB))
                    break
                self.assertLess(time.monotonic(), deadline)
            text, _ = build.communicate(timeout=CAP_S)
        self.assertEqual((build.returncode, self.objects()), (0, 16), text)
        summary = json.loads((self.folder / "summary.json").read_text())
        self.assertEqual((summary["failed"], summary["limit_bytes"]), (0, 110 * MIB))

    def test_thousand_tiny_compiles_and_what_they_cost(self):
        count = 1000
        lines = ["rule t\n  command = $launch " + str(self.hog) + " -c t.c\n"]
        lines += [f"build t{number}: t\n" for number in range(count)]
        (self.folder / "t.c").write_text("0 0 0")
        (self.folder / "build.ninja").write_text("".join(lines))

        def cpu_s() -> float:  # of all processes that ended below us
            now = os.times()
            return now.children_user + now.children_system

        begun, cpu_begun = time.monotonic(), cpu_s()
        self.run_in(None, ["ninja", "-j4"], check=True)
        plain, cpu_plain = time.monotonic() - begun, cpu_s() - cpu_begun
        (self.folder / "build.ninja").write_text(f"launch = {GOVERNOR} launch --\n" + "".join(lines))
        cpu_begun = cpu_s()
        result, summary = self.governed(None, 1 << 34, ["ninja"])
        cpu_governed = cpu_s() - cpu_begun
        self.assertEqual((result.returncode, summary["compiles"]), (0, count), result.stdout[-2000:])
        print(f"{count} compiles: plain {plain:.2f} s, governed {summary['wall_s']:.2f} s, "
              f"{(summary['wall_s'] - plain) / count * 1000:.2f} ms each on {summary['cores']} cores; CPU "
              f"{(cpu_governed - cpu_plain) / count * 1000:.2f} ms each; "
              f"waiting at most {summary['most_waiting']}", file=sys.stderr)
        self.assertGreater(summary["most_waiting"], 100)


if __name__ == "__main__":
    unittest.main(verbosity=2)
