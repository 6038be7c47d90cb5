"""The agent's suite with the portable programs inside other systems: Debian 11 and 13, Ubuntu 22.04 and 24.04, Debian 12 for aarch64 under
qemu, and roots of Debian 11 that say they are other distributions. The suite runs inside, with the system's own Python, pip and compiler, so
its support modules run on Python 3.9, too.

Label `full`: needs root, scripts/other-nodes, and what `scripts/package portable` made.

    WHEELYARD_PACKAGES=build/package python3 tests/system/portable_agent_test.py
"""

import os
import platform
import re
import shutil
import subprocess
import tempfile
import unittest
from dataclasses import dataclass
from pathlib import Path

from support.case import main
from support.farm import CLIENTS, ROOT
from support.foreign_programs import emulator, enable
from support.other_root import NODES
from support.packages import PACKAGES, tarball
from support.skips import not_here

SUITE_LIMIT_S = 3000
# The root below is never written to. User namespaces, and with them emulation, need "userxattr". The shell stays: as the first process it
# waits for orphans.
ENTER = """set -e
mount -t overlay overlay -o "userxattr,lowerdir=$1,upperdir=$2/upper,workdir=$2/work" "$2/root"
cd "$2/root"
mount -t proc proc proc
mount --rbind /dev dev
mount --rbind /sys sys
mount --rbind "$3" checkout
shift 3
/usr/sbin/chroot . /usr/bin/env -i HOME=/root PATH=/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin LANG=C.UTF-8 \
    WHEELYARD_BIN=/usr/local/bin WHEELYARD_CLIENTS=/clients "$@"
"""


@dataclass(frozen=True)
class System:
    """A root of scripts/other-nodes, and what of the suite runs there; all of it where no test is named."""

    name: str
    machine: str
    tests: tuple[str, ...] = ()
    says_it_is: str = ""  # in /etc/os-release, without /etc/debian_version

    def __str__(self) -> str:
        return f"{self.name} as {self.says_it_is}" if self.says_it_is else self.name

    @property
    def root(self) -> Path:
        return NODES / self.name

    @property
    def wheels(self) -> Path:
        own = NODES / f"{self.name}-wheels"  # of the build back ends, for an older Python
        return own if own.is_dir() else CLIENTS / "wheels"

    @property
    def can_run(self) -> bool:
        return self.root.is_dir() and tarball(self.machine) is not None and (self.machine == platform.machine() or emulator(self.machine) is not None)


# A wheel with C from want to pip, a failed build, and the line for cron.
FEW = ("test_from_sdists_to_pip_install", "test_the_line_for_cron_works_on_a_site_that_was_never_ticked",
       "test_a_wrong_token_is_reported_before_anything_is_built")
SYSTEMS = (System("bullseye", "x86_64"), System("trixie", "x86_64"),
           System("jammy", "x86_64", FEW), System("noble", "x86_64", FEW),
           # No mirror with packages of these is known to answer where this runs. Their glibc is 2.28, and 2.31 to 2.38; bullseye has 2.31.
           System("bullseye", "x86_64", FEW, "rhel 8"), System("bullseye", "x86_64", FEW, "sles 15"),
           System("bookworm-arm64", "aarch64", FEW))  # emulation takes some ten times as long


class PortableAgentTest(unittest.TestCase):
    def setUp(self):
        self.folder = Path(tempfile.mkdtemp(prefix="wheelyard-systems-"))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)

    def inside(self, system: System, *words: str) -> subprocess.CompletedProcess:
        """With mounts and processes of its own, and this machine's network: all that it starts ends with it."""
        folder = self.folder / str(system)
        namespaces, start = ["--mount", "--pid", "--fork", "--kill-child"], ""
        if system.machine != platform.machine():
            namespaces += ["--user", "--map-root-user"]
            start = enable(system.machine)
        return subprocess.run(["unshare", *namespaces, "sh", "-c", start + ENTER, "sh", system.root, folder, ROOT, *words], stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=SUITE_LIMIT_S)

    def set_up(self, system: System) -> None:
        """Installs the programs as the page on installing says, and makes the clients of the suite by the system's own Python."""
        folder = self.folder / str(system)
        for part in ("upper/usr/local", "upper/etc", "upper/clients", "upper/checkout", "work", "root"):
            (folder / part).mkdir(parents=True)
        subprocess.run(["tar", "-xf", tarball(system.machine), "-C", folder / "upper/usr/local", "--strip-components=1"], check=True)
        (folder / "upper/etc/hosts").write_text("127.0.0.1 localhost\n")
        shutil.copytree(system.wheels, folder / "upper/clients/wheels")
        if system.says_it_is:
            name, version = system.says_it_is.split()
            said = self.inside(system, "sh", "-ec", "rm -f /etc/debian_version /etc/os-release; "
                               f"printf 'ID={name}\\nVERSION_ID={version}\\n' >/etc/os-release")
            self.assertEqual(said.returncode, 0, said.stdout)
        made = self.inside(system, "sh", "-ec", "python3 -m venv /clients/pip-debian; touch /clients/.complete; wheelyard-builder --version; python3 -V")
        self.assertEqual(made.returncode, 0, made.stdout)
        print(f"{system}: {'; '.join(made.stdout.splitlines())}")

    def test_the_agents_suite_passes_inside_each_system(self):
        for system in SYSTEMS:
            with self.subTest(system=str(system)):
                if not system.can_run:
                    self.skipTest(f"no root {system.root}, no portable tarball for {system.machine}, or no emulator of it")
                self.set_up(system)
                names = [f"BuilderTest.{name}" for name in system.tests]
                done = self.inside(system, "python3", "-B", "/checkout/tests/system/builder_test.py", *names)
                self.assertEqual(done.returncode, 0, done.stdout)
                ran, = re.findall(r"^Ran \d+ tests? in .*", done.stdout, re.MULTILINE)
                print(f"{system}: {ran}", flush=True)


if __name__ == "__main__":
    if os.geteuid() != 0 or not any(system.can_run for system in SYSTEMS):
        not_here(f"{PACKAGES} has no portable tarball, or {NODES} no roots, or this is not root; scripts/package portable, scripts/other-nodes")
    main()
