"""Our Debian packages on Debian 12 and on Debian 13, each in a root of its own in which systemd runs: installed, started as the unit
says, upgraded with data, removed, purged.

Label `full`: needs root, scripts/other-nodes, and what `scripts/package deb` made. The older version of an upgrade is the package itself
under a lower number, or the one of the folder WHEELYARD_OLDER_PACKAGES.

    WHEELYARD_PACKAGES=build/package python3 tests/system/deb_packages_test.py
"""

import re
import shutil
import tempfile
import unittest
from pathlib import Path
from types import SimpleNamespace
from urllib.parse import urljoin

from support.booted_root import BootedRoot, can_boot
from support.case import main
from support.clients import RawUpload
from support.deb_registry import PORT, UNIT, URL, fetched, install, package, set_up, wait_until_ready
from support.island import move_to_island
from support.older import as_older
from support.packages import PACKAGES
from support.skips import not_here
from support.wheels import Wheel

NAMES = ("wheelyard-registry", "wheelyard-agent", "avail-wheels")
MAX_EXPOSURE = 3.0  # of `systemd-analyze security`: 0 is best, 10 is a service without any protection


class Packages:
    """The tests of one release; each has a root of its own, as `scripts/other-nodes` made it."""

    root: str

    def setUp(self):
        self.folder = Path(tempfile.mkdtemp(prefix="wheelyard-debs-"))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        self.node = self.enterContext(BootedRoot(self.root, self.folder / "node"))

    def assert_serves(self, wheel: Path):
        wait_until_ready(self.node)
        page = f"/main/simple/{wheel.name.split('-')[0].replace('_', '-')}/"
        link = re.search(r'href="([^"#]+)', fetched(page).decode())[1]
        self.assertEqual(fetched(urljoin(page, link)), wheel.read_bytes())

    def assert_stopped(self):
        self.assertIsNone(fetched("/readyz"))

    def with_a_wheel(self) -> Path:
        """Sets the registry up, as the page says, and uploads."""
        token = set_up(self.node)
        wheel = Wheel("yard-kept").write(self.folder)
        self.assertEqual(RawUpload(SimpleNamespace(port=PORT), token, wheel, index="main").send()[0], 200)
        self.assert_serves(wheel)
        return wheel

    def property(self, name: str) -> str:
        return self.node.say("systemctl", "show", UNIT, "--property", name, "--value")

    def test_installed_it_starts_nothing_and_what_the_page_says_makes_a_server_of_its_own_user(self):
        install(self.node, package("wheelyard-registry"))
        self.assertEqual(self.property("ActiveState"), "inactive")
        self.assertEqual(self.node.say("stat", "--format", "%U %G %a", "/etc/wheelyard", "/var/lib/wheelyard").splitlines(),
                         ["root wheelyard 750", "wheelyard wheelyard 711"])
        wheel = self.with_a_wheel()
        self.assertEqual(self.node.say("stat", "--format", "%U", "/proc/" + self.property("MainPID")), "wheelyard")
        self.node.say("systemctl", "reload", UNIT)
        self.node.shell("systemctl restart wheelyard-registry")
        self.assert_serves(wheel)

    def test_a_start_without_a_configuration_fails_names_init_and_is_not_repeated(self):
        install(self.node, package("wheelyard-registry"))
        self.assertNotEqual(self.node.run("systemctl", "start", UNIT).returncode, 0)
        self.assertEqual((self.property("ActiveState"), self.property("NRestarts")), ("failed", "0"))
        self.assertIn("wheelyard-registry init /etc/wheelyard", self.node.say("journalctl", "--no-pager", "--unit", UNIT))

    def test_commands_of_root_before_the_first_start_and_beside_the_server_leave_nothing_that_it_cannot_read(self):
        install(self.node, package("wheelyard-registry"))
        self.node.shell("wheelyard-registry init /etc/wheelyard; wheelyard-registry token create --name early --index main; "
                        "rm /etc/wheelyard/registry.toml")
        wheel = self.with_a_wheel()
        other = Wheel("yard-imported").write(self.folder)
        self.node.give(other)
        self.node.shell(f"cd /root; wheelyard-registry import main ./{other.name}; wheelyard-registry verify -q; wheelyard-registry gc")
        self.assertEqual(self.node.say("find", "/var/lib/wheelyard", "-not", "-user", "wheelyard"), "")
        self.node.shell("systemctl restart wheelyard-registry")
        self.assert_serves(wheel)
        self.assert_serves(other)

    def test_the_agents_of_its_version_are_in_the_index_tools_after_the_first_start(self):
        install(self.node, package("wheelyard-registry"))
        set_up(self.node)
        self.node.shell(f"python3 -m venv /tmp/v; /tmp/v/bin/pip install -q --index-url {URL}/tools/simple/ wheelyard")
        version = self.node.say("dpkg-query", "--show", "--showformat", "${Version}", "wheelyard-registry")
        self.assertIn(version, self.node.say("/tmp/v/bin/wheelyard-builder", "--version"))
        self.node.say("/tmp/v/bin/avail_wheels", "-V")

    def test_the_unit_is_valid_and_protects_what_the_server_does_not_need(self):
        install(self.node, package("wheelyard-registry"))
        self.assertEqual(self.node.say("systemd-analyze", "verify", "--man=no", UNIT), "")
        self.node.say("systemd-analyze", "security", "--no-pager", f"--threshold={int(MAX_EXPOSURE * 10)}", UNIT)

    def test_an_upgrade_keeps_the_configuration_and_the_store_and_starts_the_new_server(self):
        install(self.node, as_older("wheelyard-registry", self.folder))
        wheel = self.with_a_wheel()
        before = self.property("MainPID")
        config = self.node.say("sha256sum", "/etc/wheelyard/registry.toml")
        install(self.node, package("wheelyard-registry"))
        self.assertNotEqual(self.property("MainPID"), before)
        self.assertEqual(self.node.say("sha256sum", "/etc/wheelyard/registry.toml"), config)
        self.assert_serves(wheel)
        self.node.say("wheelyard-registry", "verify", "-q")

    def test_a_removal_keeps_configuration_and_store_and_a_purge_deletes_both(self):
        before = self.node.files()
        install(self.node, package("wheelyard-registry"))
        wheel = self.with_a_wheel()
        self.node.say("dpkg", "--remove", "wheelyard-registry")
        self.assert_stopped()
        self.node.shell("test -e /etc/wheelyard/registry.toml; test -e /var/lib/wheelyard/catalog.sqlite; test ! -e /usr/bin/wheelyard-registry")
        install(self.node, package("wheelyard-registry"))
        self.node.say("systemctl", "start", UNIT)
        self.assert_serves(wheel)
        self.node.say("dpkg", "--purge", "wheelyard-registry")
        self.assert_stopped()
        # The user stays, as Debian's policy recommends: a later file of its number is nobody else's.
        left = {path for path in self.node.files() - before if not path.startswith(("/var/lib/dpkg", "/var/lib/systemd", "/var/log"))}
        self.assertEqual({path for path in left if "wheelyard" in path}, set())

    def test_agent_and_avail_wheels_start_have_a_manual_and_leave_nothing_behind(self):
        before = self.node.files()
        install(self.node, package("wheelyard-agent"), package("avail-wheels"))
        for program in ("wheelyard-builder", "wheelyard-governor"):
            self.assertIn(program, self.node.say(program, "--version"))
        self.node.say("avail_wheels", "-V")
        self.node.shell("test -s /usr/share/wheelyard/site-configs/debian12/site.toml; "
                        f"cd /root; wheelyard-builder site init --yes --registry {URL} --index main || true; test -s site.toml")
        install(self.node, as_older("wheelyard-agent", self.folder), as_older("avail-wheels", self.folder))
        install(self.node, package("wheelyard-agent"), package("avail-wheels"))
        self.node.say("dpkg", "--purge", "wheelyard-agent", "avail-wheels")
        left = {path for path in self.node.files() - before if "wheelyard" in path or "avail" in path}
        self.assertEqual(left, set())


class Debian12(Packages, unittest.TestCase):
    root = "bookworm"


class Debian13(Packages, unittest.TestCase):
    root = "trixie"


if __name__ == "__main__":
    if not can_boot("bookworm", "trixie") or not all(map(package, NAMES)):
        not_here(f"{PACKAGES} has no Debian packages, or scripts/other-nodes made no roots, or this is not root; scripts/package deb")
    move_to_island()
    main()
