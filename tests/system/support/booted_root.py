"""A Debian of its own whose first process is systemd, over a root of scripts/other-nodes, which stays as it is.

    with BootedRoot("bookworm", folder) as node:
        node.say("dpkg", "--install", node.give(package))
        node.say("systemctl", "start", "wheelyard-registry")

It has mounts, processes, a host name and cgroups of its own, and the network of the test. Its kernel settings and devices are out of
its reach. Needs root. What it writes is in `folder`, also after its end: entered again, it starts from there.
"""

import itertools
import os
import subprocess
import time
from pathlib import Path

from support.farm import COMMAND_TIMEOUT_S, START_TIMEOUT_S
from support.other_root import NODES

# unshare gives it all of this and ends it with its parent. cgroup version 2 needs no controller for systemd to follow its services.
BOOT = """set -e
mount -t overlay overlay -o "lowerdir=$1,upperdir=$2/upper,workdir=$2/work" "$2/root"
cd "$2/root"
mount -t proc proc proc
mount --bind proc/sys proc/sys
mount -o remount,bind,ro proc/sys
mount -t sysfs -o ro sysfs sys
mount -t cgroup2 cgroup2 sys/fs/cgroup
mount -t tmpfs tmpfs run
mount -t tmpfs -o mode=1777 tmpfs tmp
mount -t tmpfs -o mode=755 tmpfs dev
mkdir dev/pts dev/shm
mount -t devpts -o newinstance,ptmxmode=0666,mode=620 devpts dev/pts
mount -t tmpfs -o mode=1777 tmpfs dev/shm
ln -s pts/ptmx dev/ptmx
ln -s /proc/self/fd dev/fd
for device in null zero full random urandom tty; do touch dev/$device; mount --bind /dev/$device dev/$device; done
exec env -i container=wheelyard PATH=/usr/sbin:/usr/bin chroot . /lib/systemd/systemd --log-target=console systemd.unit=multi-user.target
"""
NAMESPACES = ("--mount", "--pid", "--uts", "--ipc", "--cgroup")
_numbers = itertools.count()


def cgroup_folder() -> Path | None:
    """Where cgroups of version 2 are made on this machine."""
    for line in Path("/proc/mounts").read_text().splitlines():
        _, place, kind, options, *_ = line.split()
        if kind == "cgroup2" and "rw" in options.split(","):
            return Path(place)
    return None


def can_boot(*names: str) -> bool:
    return os.geteuid() == 0 and cgroup_folder() is not None and all((NODES / name / "lib/systemd/systemd").exists() for name in names)


class BootedRoot:
    def __init__(self, name: str, folder: Path):
        self.name = name
        self.folder = folder
        for part in ("upper", "work", "root"):
            (folder / part).mkdir(parents=True, exist_ok=True)
        self.log = folder / "console.log"

    def __enter__(self) -> "BootedRoot":
        self.cgroup = cgroup_folder() / f"wheelyard-{os.getpid()}-{next(_numbers)}"
        self.cgroup.mkdir()
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen(
                ["sh", "-c", 'echo $$ > "$1/cgroup.procs"; shift; exec "$@"', "sh", self.cgroup,
                 "unshare", *NAMESPACES, "--fork", "--kill-child", "sh", "-c", BOOT, "sh", NODES / self.name, self.folder],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        deadline = time.monotonic() + START_TIMEOUT_S
        while (state := self.state()) not in ("running", "degraded"):
            if self.process.poll() is not None or time.monotonic() > deadline:
                self.__exit__()
                raise AssertionError(f"{self.name}: {state}\n{self.log.read_text()}")
            time.sleep(0.1)  # until an outside process has done something: nothing announces it
        return self

    def __exit__(self, *_) -> None:
        self.process.kill()  # its child, the first process, dies with it, and with that one all others
        self.process.wait()
        deadline = time.monotonic() + START_TIMEOUT_S
        while self.cgroup.exists() and time.monotonic() < deadline:
            for path in sorted(self.cgroup.rglob("*"), reverse=True):
                if path.is_dir():
                    self._remove(path)
            self._remove(self.cgroup)

    @staticmethod
    def _remove(cgroup: Path) -> None:
        try:
            cgroup.rmdir()
        except OSError:
            time.sleep(0.05)  # its processes are still ending

    def state(self) -> str:
        try:
            return self.run("systemctl", "is-system-running").stdout.strip()
        except LookupError:
            return "no first process"

    def first_process(self) -> str:
        found = subprocess.run(["pgrep", "--parent", str(self.process.pid)], capture_output=True, text=True).stdout.split()
        if not found:
            raise LookupError(self.name)
        return found[0]

    def command(self, *words) -> list[str]:
        """It runs the words inside, as root, with nothing of this environment."""
        return ["nsenter", "--target", self.first_process(), *NAMESPACES, "--root", "/usr/bin/env", "-i", "--chdir=/", "HOME=/root",
                "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "LANG=C.UTF-8", "DEBIAN_FRONTEND=noninteractive", *map(str, words)]

    def run(self, *words, timeout: float = COMMAND_TIMEOUT_S) -> subprocess.CompletedProcess:
        return subprocess.run(self.command(*words), stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=timeout)

    def say(self, *words) -> str:
        done = self.run(*words)
        if done.returncode != 0:
            raise AssertionError(f"{words}: {done.returncode}\n{done.stdout}{done.stderr}")
        return done.stdout.strip()

    def shell(self, script: str) -> str:
        """Lines as a person types them; the first failure ends them."""
        return self.say("sh", "-ec", script)

    def give(self, path: Path) -> str:
        """Copies a file into its /root; its name there."""
        (self.folder / "upper/root").mkdir(mode=0o700, exist_ok=True)
        with open(path, "rb") as file:
            subprocess.run(self.command("sh", "-c", 'cat > "$0"', f"/root/{path.name}"), stdin=file, check=True)
        return f"/root/{path.name}"

    def files(self) -> set[str]:
        """Every path below the folders that packages write to."""
        return set(self.say("find", "/etc", "/usr", "/var", "-xdev", "-not", "-path", "/var/log/*").splitlines())
