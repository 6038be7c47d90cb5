"""A fix reaches its users: the registry's package of a version, and that of its rebuild, as root installs them on Debian 12 one after the
other, and the agents that the server then hands out. The packages are made of a source tarball, with the programs of this build.

Label `full`: needs root, scripts/other-nodes, `scripts/install-deps --package`.
"""

import platform
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from support.booted_root import BootedRoot, can_boot
from support.case import main
from support.deb_registry import URL, set_up, wait_until_ready
from support.farm import BIN, ROOT
from support.island import move_to_island
from support.packages import set_rebuild, stand_ins, unpacked
from support.skips import not_here

LIMIT_S = 1800
ROOT_NAME = "bookworm"


class RebuildTest(unittest.TestCase):
    def setUp(self):
        self.folder = Path(tempfile.mkdtemp(prefix="wheelyard-rebuild-"))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        self.tree = unpacked(self.folder / "tree")
        self.static = self.folder / "static"
        self.static.mkdir()
        stand_ins(self.static)

    def registry(self, rebuild: int) -> Path:
        set_rebuild(self.tree, rebuild)
        for kind, programs in (("wheels", self.static), ("deb", BIN)):
            made = subprocess.run([sys.executable, "-B", self.tree / "packaging/package.py", kind, "--machine", platform.machine(), "--programs", programs],
                                  capture_output=True, text=True, timeout=LIMIT_S)
            self.assertEqual(made.returncode, 0, made.stdout + made.stderr)
        return max(self.tree.glob("build/package/wheelyard-registry_*.deb"), key=lambda path: path.stat().st_mtime)

    def test_the_server_and_its_agents_are_those_of_the_rebuild(self):
        released, rebuilt = self.registry(0), self.registry(1)
        version = released.name.split("_")[1]
        self.assertEqual(rebuilt.name.split("_")[1], f"{version}.post1")
        page = (ROOT / "docs/how-to/release.md").read_text()
        typed = re.search(r"^apt install \./build/package/wheelyard-registry_\S+$", page, re.MULTILINE)[0]
        node = self.enterContext(BootedRoot(ROOT_NAME, self.folder / "node"))
        node.shell("echo 'APT::Get::Assume-Yes \"true\";' >/etc/apt/apt.conf.d/yes; mkdir -p /root/build/package")
        for package, words in ((released, ""), (rebuilt, "--upgrade")):
            node.give(package)
            node.shell(f"cp /root/{package.name} /root/build/package/; cd /root; " + re.sub(r"wheelyard-registry_\S+", package.name, typed))
            if package == released:
                set_up(node)
                node.shell("python3 -m venv /tmp/agent")
            wait_until_ready(node)
            node.shell(f"/tmp/agent/bin/pip install -q --no-cache-dir {words} --index-url {URL}/tools/simple/ wheelyard")
            expected = package.name.split("_")[1]
            self.assertEqual(node.say("dpkg-query", "--show", "--showformat", "${Version}", "wheelyard-registry"), expected)
            self.assertEqual(node.say("/tmp/agent/bin/pip", "freeze").split(), [f"avail-wheels=={expected}", f"wheelyard=={expected}"])


if __name__ == "__main__":
    if not can_boot(ROOT_NAME) or not shutil.which("dpkg-buildpackage") or not shutil.which("lintian"):
        not_here("scripts/other-nodes made no roots, `scripts/install-deps --package` did not run, or this is not root")
    move_to_island()
    main()
