"""Another distribution's root as a login node of its own: commands that run inside it, and a site whose agent does.

    root = OtherRoot("trixie")              # of scripts/other-nodes
    OtherSite(farm, sources, token, {"yard-fast": "1.0"}, index="trixie", python_version=root.python_version, python=PYTHON, root=root)

The farm's folder lies inside the root. Each command has mounts of its own (/proc, /dev), which go with it and with what it started; the
network is this machine's, so that loopback leads to the farm and the sources.

    root = OtherRoot("trixie-riscv64", "riscv64")   # its programs run in an emulator; the agent natively, with this machine's libraries
"""

import os
import platform
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from support.farm import BIN, COMMAND_TIMEOUT_S, ROOT
from support.foreign_programs import emulator, enable
from support.site import Site

NODES = Path(os.environ.get("WHEELYARD_NODES", ROOT / "build" / "nodes")).resolve()
PROGRAMS = ("wheelyard-builder", "wheelyard-governor")
ENTER = 'mount -t proc proc "$0/proc" && mount --rbind /dev "$0/dev" && exec /usr/sbin/chroot "$0" "$@"'
OWN_LIBRARIES = """for folder in /lib64 /usr/lib/x86_64-linux-gnu; do mkdir -p "$0$folder" && mount --bind "$folder" "$0$folder" || exit; done
"""


class OtherRoot:
    def __init__(self, name: str, machine: str = platform.machine()):
        self.folder = NODES / name
        self.machine = machine
        self.is_foreign = machine != platform.machine()

    @property
    def can_run(self) -> bool:
        return self.folder.is_dir() and (not self.is_foreign or platform.machine() == "x86_64" and emulator(self.machine) is not None)

    def seen(self, path: Path) -> str:
        """How it is called inside."""
        return "/" + str(path.relative_to(self.folder))

    def command(self, *words) -> list[str]:
        namespaces, enter = ["--mount"], ENTER
        if self.is_foreign:
            namespaces += ["--user", "--map-root-user", "--pid", "--fork", "--kill-child"]
            enter = enable(self.machine) + OWN_LIBRARIES + ENTER
        return ["unshare", *namespaces, "sh", "-c", enter, str(self.folder), *map(str, words)]

    def run(self, *words, environment: dict[str, str] | None = None, timeout: float = COMMAND_TIMEOUT_S) -> subprocess.CompletedProcess:
        return subprocess.run(self.command(*words), env=environment, capture_output=True, text=True, timeout=timeout)

    def say(self, *words, environment: dict[str, str] | None = None) -> str:
        done = self.run(*words, environment=environment)
        if done.returncode != 0:
            raise AssertionError(f"{done.args}: {done.returncode}\n{done.stdout}{done.stderr}")
        return done.stdout.strip()


@dataclass
class OtherSite(Site):
    """Its agent is this build's program inside the root, with the root's own libraries."""

    root: OtherRoot | None = None

    def __post_init__(self):
        super().__post_init__()
        self.programs = self.folder / "bin"
        self.programs.mkdir()
        for name in PROGRAMS:
            shutil.copy2(BIN / name, self.programs)

    @property
    def environment(self) -> dict[str, str]:
        home = self.root.seen(self.farm.folder / "home")
        return super().environment | {"HOME": home, "TMPDIR": home}

    def command(self, command: str, *arguments: str) -> list[str]:
        return self.root.command(self.root.seen(self.programs / "wheelyard-builder"), command, "--site", self.root.seen(self.file), *arguments)
