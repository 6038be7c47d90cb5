"""A world for the governor's tests and benches: memory cgroups, hogs to compile, neighbours, and builds of them.

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
BIN = Path(os.environ.get("WHEELYARD_BIN", HERE.parents[2] / "build" / "dev" / "bin")).resolve()
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


class GovernedCase(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.tools = tempfile.TemporaryDirectory(prefix="governor-tools-")
        cls.hog = Path(cls.tools.name) / "hog"
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
