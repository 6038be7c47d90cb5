"""The README's four starts, each from nothing and by its own lines: a look at the tarball, an operator's registry, the staff's agent,
a researcher. Each has a Debian 12 of its own, without a compiler, in which systemd runs; the staff's is a Debian 13 with one, without
which the agent begins no build. Their seconds are printed.

Label `full`: needs root and scripts/other-nodes. The packages are those of scripts/package; where it did not run, the programs of this
build packed likewise, and then the operator's start also needs debhelper.

    python3 tests/system/starts_test.py
"""

import platform
import re
import shutil
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

from support.booted_root import NODES, BootedRoot, can_boot
from support.case import main
from support.deb_registry import URL, fetched, wait_until_ready
from support.documents import README, blocks, commands
from support.farm import BIN, COMMAND_TIMEOUT_S, ROOT
from support.island import move_to_island
from support.package_index import PackageIndex, write_sdist
from support.packages import made, tarball
from support.skips import not_here
from support.wheels import Wheel

SERVER, CLUSTER = "bookworm", "trixie"
# It says by its status whether a person has something to fill in.
MAY_FAIL = ("wheelyard-builder site init",)
# What the real one does to its table.
CRONTAB = '#!/bin/sh\ncase "$1" in -l) cat ~/table 2>/dev/null ;; -) cat >~/new && mv ~/new ~/table ;; esac\n'
LIMIT_S = 3 * COMMAND_TIMEOUT_S  # of all commands of a start
LAST_LINE = "wheelyard-registry serve"  # of what wheelyard-try prints


class Packages:
    """The files that a reader has."""

    def __init__(self, folder: Path):
        self.tarball, self.deb, self.wheels = tarball(platform.machine()), made("wheelyard-registry_*.deb"), None
        if not (self.tarball and self.deb):
            self.pack(folder)

    def pack(self, folder: Path) -> None:
        """As scripts/package does, but the programs need this Debian's libraries, and the wheels say so."""
        programs = folder / "programs"
        programs.mkdir()
        sys.path.insert(0, str(ROOT / "packaging"))
        import contents
        import debian
        import tarball as portable
        import wheels
        from programs import PROGRAMS
        for name in PROGRAMS:
            subprocess.run(["strip", "-o", programs / name, BIN / name], check=True)
        contents.write_manual(programs)
        self.tarball = portable.write(platform.machine(), programs, False, folder, preset=0)
        wheels.TAGS = ("linux",)
        wheels.write(platform.machine(), programs, False, folder)
        if shutil.which("dh"):
            self.deb = next(path for path in map(Path, debian.write(programs, folder)) if path.name.startswith("wheelyard-registry_"))


def block(title: str) -> list[str]:
    """The commands of the README below a title, with the addresses of this test."""
    return [command.replace("https://farm.example", URL) for command in blocks(README, f"**{title}**")[0]]


class StartsTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = Path(tempfile.mkdtemp(prefix="wheelyard-starts-"))
        cls.addClassCleanup(shutil.rmtree, cls.folder, ignore_errors=True)
        cls.packages = Packages(cls.folder)
        cls.sources = cls.enterClassContext(PackageIndex(cls.folder / "sources"))
        write_sdist(cls.sources.folder, "markupsafe", "3.0.2", value=7)
        write_sdist(cls.sources.folder, "packaging", "24.2", value=7)  # of a machine without a compiler

    def root(self, name: str, system: str = SERVER) -> BootedRoot:
        """A Debian whose pip reaches an index, with a user."""
        node = self.enterContext(BootedRoot(system, self.folder / name))
        node.shell(f"useradd --create-home anna; printf '[global]\\nindex-url = {self.sources.url}\\n' >/etc/pip.conf")
        return node

    def give(self, node: BootedRoot, *paths: Path) -> None:
        for path in paths:
            node.shell(f"install -o anna -m 600 {node.give(path)} /home/anna/{path.name}")

    def typed(self, node: BootedRoot, who: str, commands: list[str], user: str = "anna") -> str:
        """All that the commands print, as in one shell of the user."""
        script = "cd\n" + "".join(f'{command}\necho "@ $? {number}"\n' for number, command in enumerate(commands))
        begun = time.monotonic()
        done = subprocess.run(node.command("runuser", "-l", user, "-c", script), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, timeout=LIMIT_S)
        print(f"{who}: {time.monotonic() - begun:.1f} s, {len(commands)} commands", flush=True)
        statuses = {int(number): int(status) for status, number in re.findall(r"^@ (\d+) (\d+)$", done.stdout, re.MULTILINE)}
        for number, command in enumerate(commands):
            allowed = (0, 1) if command.startswith(MAY_FAIL) else (0,)
            self.assertIn(statuses.get(number), allowed, f"{command}\n{done.stdout}")
        return done.stdout

    def test_a_look_needs_the_tarball_and_neither_root_nor_compiler(self):
        node = self.root("look")
        self.assertNotEqual(node.run("sh", "-c", "command -v cc || command -v gcc").returncode, 0)
        self.give(node, self.packages.tarball)
        [line] = [command for command in commands(README) if command.endswith("wheelyard-try")]
        unpack, look = line.split(" && ")
        begun = time.monotonic()
        process = subprocess.Popen(node.command("runuser", "-l", "anna", "-c", f"cd; {unpack} && exec {look}"), stdin=subprocess.DEVNULL,
                                   stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        said = []
        for line in process.stdout:
            said.append(line)
            if line.strip().startswith(LAST_LINE):
                break
        print(f"look: {time.monotonic() - begun:.1f} s, 2 commands", flush=True)
        text = "".join(said)
        self.assertRegex(text, r"(?m)^packaging +24\.2 ", text)
        [page] = re.findall(rf"Look at {URL}(\S+) in a browser", text)
        self.assertIn(b"pip install --index-url https://THIS-SERVER/main/simple/ packaging==24.2", fetched(page))
        cd, *steps = [line.strip() for line in said if line.startswith("  ")][-4:-1]
        self.typed(node, "look, its next steps", [cd, *steps])

    def test_an_operator_then_the_staff_of_a_cluster_then_a_researcher(self):
        if not self.packages.deb:
            self.skipTest("there is no Debian package, and no debhelper to make it; scripts/package deb, or scripts/install-deps --package")
        server = self.root("server")
        wheel = Wheel("yard-own").write(self.folder)
        server.give(wheel)
        server.give(self.packages.deb)
        commands = [re.sub(r"\./wheelyard-registry_\S+\.deb", f"./{self.packages.deb.name}", command.replace("./MY-WHEEL.whl", f"./{wheel.name}"))
                    for command in block("Put up a registry for my site")]
        self.typed(server, "operator", commands, user="root")
        wait_until_ready(server)
        self.assertIn(b"yard_own-1.0", fetched("/main/simple/yard-own/"))

        cluster = self.root("cluster", CLUSTER)
        token = self.folder / "my-agent.token"
        token.write_text(server.say("cat", "/root/my-agent.token") + "\n")
        self.give(cluster, token)
        cluster.shell(f"cat >/usr/local/bin/crontab <<'END'\n{CRONTAB}END\nchmod +x /usr/local/bin/crontab")
        said = self.typed(cluster, "staff with an agent", block("Run an agent on my cluster"))
        self.assertIn("1 have", said)
        line = cluster.say("grep", "-v", "^#", "/home/anna/table").splitlines()[-1]
        tick = cluster.run("runuser", "-u", "anna", "--", "env", "-i", "HOME=/home/anna", "sh", "-c", line.split(None, 5)[5])
        self.assertEqual((tick.returncode, tick.stderr), (0, ""), f"{line}\n{tick.stdout}")

        laptop = self.root("researcher")
        said = self.typed(laptop, "researcher", [command.replace("MY-PACKAGE", "markupsafe") for command in block("Find and install wheels")])
        self.assertRegex(said, r"(?m)^markupsafe +3\.0\.2 .* yes")
        self.assertEqual(laptop.say("/home/anna/my-project/bin/python", "-c", "import markupsafe; print(markupsafe.value)"), "7")


if __name__ == "__main__":
    if not can_boot(SERVER, CLUSTER):
        not_here(f"{NODES} has no roots {SERVER} and {CLUSTER} with systemd, or this is not root; scripts/other-nodes")
    move_to_island()
    main()
