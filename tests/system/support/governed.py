"""Support for the governor's tests and benches: memory cgroups, hogs to compile, memory-hungry neighbours,
and builds.

As root with a writable memory controller (version 1, or version 2 at its root), limits are real cgroups.
Elsewhere --memory replaces them and a message says so. Every cgroup and process created here is removed
again.
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

from support.farm import without_spaces

HERE = Path(__file__).resolve().parent
BIN = Path(os.environ.get("WHEELYARD_BIN", HERE.parents[2] / "build" / "dev" / "bin")).resolve()
GOVERNOR = without_spaces(BIN, "wheelyard-governor") / "wheelyard-governor"
MIB = 1 << 20
CAP_S = int(os.environ.get("WHEELYARD_CAP_S", 60))
SLOWER = int(os.environ.get("WHEELYARD_SLOWER", 1))  # factor for the duration of compiles that others must overlap
HOG = os.environ.get("WHEELYARD_HOG")  # the compiled hog.c, for machines without a compiler
# A sanitizer makes launchers fifty times larger, so tight limits would test the sanitizer.
SANITIZED = GOVERNOR.exists() and b"__asan_init" in GOVERNOR.read_bytes()


def own_memory_group() -> tuple[Path, int] | None:
    """Our group of the memory controller and its version, or None if no children with limits can be made in
    it.
    """
    for line in Path("/proc/self/cgroup").read_text().splitlines():
        _, controllers, path = line.split(":", 2)
        if "memory" in controllers.split(","):
            folder, version = Path("/sys/fs/cgroup/memory") / path.lstrip("/"), 1
            limits = (folder / "memory.limit_in_bytes").exists()
        elif not controllers:
            folder, version = Path("/sys/fs/cgroup") / path.lstrip("/"), 2
            enabled = folder / "cgroup.subtree_control"
            limits = enabled.exists() and "memory" in enabled.read_text().split()
        else:
            continue
        if limits and os.access(folder, os.W_OK) and os.geteuid() == 0:
            return folder, version
    return None


class MemoryGroup:
    """A child cgroup with a limit. In version 2, processes enter its children, since a group with processes
    cannot enable controllers for its children.
    """

    def __init__(self, parent: Path, version: int, limit_bytes: int):
        self.version = version
        self.folder = parent / f"wheelyard-governor-test-{os.getpid()}-{time.monotonic_ns()}"
        self.folder.mkdir()
        self.build = self.others = self.folder  # where the build and other processes enter
        self.set_limit(limit_bytes)
        if version == 2:
            (self.folder / "cgroup.subtree_control").write_text("+memory")
            self.build, self.others = self.folder / "build", self.folder / "others"
            self.build.mkdir()
            self.others.mkdir()

    def set_limit(self, limit_bytes: int) -> None:
        (self.folder / ("memory.limit_in_bytes" if self.version == 1 else "memory.max")).write_text(str(limit_bytes))

    def peak_bytes(self) -> int:
        """The peak of all processes, page cache included."""
        return int((self.folder / ("memory.max_usage_in_bytes" if self.version == 1 else "memory.peak")).read_text())

    def groups_below(self) -> list[Path]:
        """The groups that a governor created."""
        return [path for path in self.build.rglob("*") if path.is_dir()]

    def remove(self) -> None:
        deadline = time.monotonic() + 240
        while True:
            below = sorted((path for path in self.folder.rglob("*") if path.is_dir()), reverse=True)
            try:
                for one in [*below, self.folder]:
                    for pid in (one / "cgroup.procs").read_text().split():
                        with contextlib.suppress(ProcessLookupError):
                            os.kill(int(pid), signal.SIGKILL)
                    one.rmdir()
                return
            except OSError:
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.02)


@contextlib.contextmanager
def memory_group(limit_bytes: int):
    """A MemoryGroup, or None if none can be created."""
    parent = own_memory_group()
    if parent is None:
        print("no writable memory cgroup here: using --memory instead", file=sys.stderr)
        yield None
        return
    group = MemoryGroup(*parent, limit_bytes)
    try:
        yield group
    finally:
        group.remove()


def entering(group: MemoryGroup | None, command: list) -> list[str]:
    """`command` with a shell that enters the group first."""
    if group is None:
        return list(map(str, command))
    return ["sh", "-c", f'echo $$ > {group.build}/cgroup.procs && exec "$@"', "sh", *map(str, command)]


def kernel_kills() -> int:
    """OOM kills on the machine since it started, in any group."""
    for line in Path("/proc/vmstat").read_text().splitlines():
        if line.startswith("oom_kill "):
            return int(line.split()[1])
    return 0


def mount_namespace() -> list[str] | None:
    """A command prefix that allows private mounts, or None if that is not permitted."""
    ways = (["unshare", "--mount"], ["unshare", "--user", "--map-root-user", "--mount"])
    return next((way for way in ways if subprocess.run([*way, "mount", "-t", "tmpfs", "wheelyard", "/mnt"],
                                                       capture_output=True).returncode == 0), None)


# A neighbour under the same limit: four processes, since the OOM killer would choose a single large one
# first. They allocate memory up to a size, or without bound, and keep it until the process PID is gone.
# Arguments: PID MIB.
NEIGHBOUR = """
import os, sys, time
pid, max_mib, held = sys.argv[1], int(sys.argv[2]) // 4, []
os.fork()
os.fork()
def is_alive():
    try:
        return open(f"/proc/{pid}/stat").read().rsplit(")", 1)[1].split()[0] not in "ZX"
    except OSError:
        return False
while is_alive():
    if len(held) < max_mib:
        held.append(b"x" * (1 << 20))
    else:
        time.sleep(0.01)
"""


class GovernedCase(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.tools = tempfile.TemporaryDirectory(prefix="governor-tools-")
        cls.hog = Path(cls.tools.name) / "hog"
        if HOG:
            shutil.copy(HOG, cls.hog)
        else:
            subprocess.run(["cc", "-O2", "-static", "-o", cls.hog, HERE / "hog.c"], check=True)

    @classmethod
    def tearDownClass(cls):
        cls.tools.cleanup()

    def setUp(self):
        self.folder = Path(tempfile.mkdtemp(prefix="governor-test-"))
        self.addCleanup(shutil.rmtree, self.folder, True)
        self.environment = {name: value for name, value in os.environ.items() if not name.startswith("SLURM_")}
        self.environment |= {"XDG_CACHE_HOME": str(self.folder / "cache"), "TMPDIR": str(self.folder)}

    def sources(self, rows: list[str]) -> None:
        """Writes s0.c … with these contents, and a build.ninja that "compiles" them."""
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

    def logged_outputs(self) -> int:
        """The number of outputs in ninja's log."""
        with contextlib.suppress(OSError):
            return sum(".o\t" in line for line in (self.folder / ".ninja_log").read_text().splitlines())
        return 0

    def run_in(self, group: MemoryGroup | None, command: list, timeout: float = CAP_S, **options) -> subprocess.CompletedProcess:
        return subprocess.run(entering(group, command), cwd=self.folder, env=self.environment, capture_output=True, text=True,
                              timeout=timeout, **options)

    def governed(self, group: MemoryGroup | None, limit: int, command: list, *options: str, timeout: float = CAP_S) -> tuple:
        memory = [] if group else ["--memory", str(limit)]
        result = self.run_in(group, [GOVERNOR, *memory, "--json", "summary.json", "--progress", "0", *options, "--",
                                     *command], timeout=timeout)
        return result, self.summary()

    def start(self, command: list, *options: str, group: MemoryGroup | None = None) -> subprocess.Popen:
        return subprocess.Popen(entering(group, [GOVERNOR, "--json", "summary.json", "--progress", "0", *options, "--", *command]),
                                cwd=self.folder, env=self.environment, text=True, stdout=subprocess.PIPE,
                                stderr=subprocess.STDOUT, start_new_session=True)

    def record_history(self, count: int, ms: int = 5) -> None:
        """Runs a build after which the history has s0.c … as small, and as this long."""
        self.sources([f"2 {ms} 0"] * count)
        self.assertEqual(self.governed(None, 1 << 30, ["ninja"])[0].returncode, 0)
        self.clean()
        for log in self.folder.glob(".ninja_*"):
            log.unlink()

    def neighbour(self, group: MemoryGroup | None, pid: int, mib: int) -> subprocess.Popen:
        enter = f"echo $$ > {group.others}/cgroup.procs && " if group else ""
        return subprocess.Popen(["sh", "-c", f'{enter}exec "$@"', "sh", sys.executable, "-c", NEIGHBOUR, str(pid), str(mib)])

    def broker_of(self, build: subprocess.Popen) -> int:
        return [pid for pid in self.children(build.pid, "wheelyard-governor") if self.parent(pid) == build.pid][0]

    def trigger_oom_kill(self, group: MemoryGroup, build: subprocess.Popen, victim: int) -> None:
        """Exhausts the group's memory so that the kernel kills `victim`. The broker, which would prevent it,
        is stopped until then.
        """
        broker, kills = self.broker_of(build), kernel_kills()
        os.kill(broker, signal.SIGSTOP)
        Path(f"/proc/{victim}/oom_score_adj").write_text("1000")
        self.neighbour(group, victim, 1 << 20).wait(timeout=CAP_S)
        self.assertGreater(kernel_kills(), kills)
        with contextlib.suppress(ProcessLookupError):
            os.kill(broker, signal.SIGCONT)

    def kill_one_of_two(self, group: MemoryGroup, victim: str, ms: int = 5, word: str = "driver") -> None:
        """Has the kernel kill the driver or the front end of a compile that the history has as this long;
        checks that it is retried. `word`: "silent" is a driver that says nothing about its front end.
        """
        self.record_history(2, ms)
        self.sources([f"40 50000 0 {word}", "2 5 0"])
        build = self.start(["ninja", "-j8"], "--cores", "2", group=group)
        self.wait_until(lambda: self.objects() == 1, "the other's object")
        self.wait_until(lambda: len(self.hogs_of(build.pid, "s0.c")) == 2, "driver and front end")
        hogs = self.hogs_of(build.pid, "s0.c")
        driver = next(pid for pid in hogs if self.parent(pid) not in hogs)
        front_end = next(pid for pid in hogs if pid != driver)
        (self.folder / "s0.c").write_text("40 10 0")
        self.trigger_oom_kill(group, build, driver if victim == "driver" else front_end)
        text, _ = build.communicate(timeout=CAP_S)
        summary = self.summary()
        self.assertEqual((build.returncode, self.objects(), summary["failed"]), (0, 2, 0), text)
        self.assertEqual((summary["oom_kills"], summary["unexplained"]), (1, 0), text)
        self.assertNotIn("FAILED", text)
        self.assertNotIn("Killed signal", text)  # a retried try leaves no output
        self.wait_until(lambda: self.is_gone(front_end), "the end of the killed driver's front end")

    def summary(self) -> dict:
        return json.loads((self.folder / "summary.json").read_text())

    @staticmethod
    def program(path: Path, text: str) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        path.chmod(0o755)

    def tool(self, name: str, text: str) -> None:
        """Creates a program of that name, first on PATH."""
        tools = self.folder / "tools"
        self.program(tools / name, text)
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

    @staticmethod
    def command_line(pid: int) -> str:
        """The process's words, each ended by a NUL; empty if it is gone."""
        with contextlib.suppress(OSError):
            return os.fsdecode(Path(f"/proc/{pid}/cmdline").read_bytes())
        return ""

    def hogs_of(self, pid: int, source: str) -> list[int]:
        return [hog for hog in self.children(pid, "hog") if source in self.command_line(hog)]

    def asking(self, pid: int, shim: str) -> list[int]:
        """The launchers below `pid` that were called by this shim and are connected to the broker."""
        found = []
        for launcher in self.children(pid, shim):
            with contextlib.suppress(OSError):
                if os.readlink(f"/proc/{launcher}/exe") == os.path.realpath(GOVERNOR) and any(
                        os.readlink(fd).startswith("socket:") for fd in Path(f"/proc/{launcher}/fd").iterdir()):
                    found.append(launcher)
        return found

    @staticmethod
    def is_gone(pid: int) -> bool:
        """Whether the process has ended, reaped or not."""
        try:
            return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] in "ZX"
        except OSError:
            return True

    @staticmethod
    def is_stopped(pid: int) -> bool:
        with contextlib.suppress(OSError):
            return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] == "T"
        return False

    @staticmethod
    def parent(pid: int) -> int:
        """0 if the process is gone."""
        with contextlib.suppress(OSError):
            return int(Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[1])
        return 0
