"""Two versions of the programs: forward, back and beside each other, with data that each has written. One server, its agents, and two
nodes over PostgreSQL.

Label `full`. The earlier version is that of the Debian packages in WHEELYARD_OLDER_PACKAGES; without them both are this one, which is said.

    WHEELYARD_OLDER_PACKAGES=build/older python3 tests/system/upgrade_test.py
"""

import platform
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time
import unittest
from pathlib import Path
from types import SimpleNamespace
from urllib.parse import urljoin

from support import older
from support.asker import Asker
from support.booted_root import BootedRoot, can_boot
from support.case import OwnFarmsCase, main
from support.clients import RawUpload, installed_value, pip_install
from support.deb_registry import PORT, TOKEN, UNIT, fetched, package, wait_until_ready
from support.farm import BIN, INDEX, ROOT, Farm
from support.island import move_to_island
from support.node_farm import Node, Nodes
from support.package_index import PackageIndex, write_sdist
from support.packages import PACKAGES, tarball
from support.site import Site
from support.wheels import Wheel, sha256_of

LEASE_S, PATIENCE_S = 4, 60
KILLS = 12
TOO_NEW = "was written by a newer program"


def setUpModule():
    global OLDER
    folder = Path(tempfile.mkdtemp(prefix="wheelyard-older-"))
    unittest.addModuleCleanup(shutil.rmtree, folder, ignore_errors=True)
    OLDER = older.programs(folder)
    print(f"upgrade: the earlier programs are those of {older.FOLDER}" if older.FOLDER else f"upgrade: {older.WHY_SAME}", file=sys.stderr)


def name_of(programs: Path) -> str:
    return "newer" if programs == BIN else "older"


def commands(page: str, heading: str) -> list[list[str]]:
    """The blocks of commands of a chapter."""
    text = (ROOT / "docs/how-to" / page).read_text().partition(f"\n## {heading}\n")[2].partition("\n## ")[0]
    return [re.sub("^    ", "", block, flags=re.MULTILINE).splitlines() for block in
            re.findall(r"(?<=```sh\n)(?:.*\n)*?(?=```)|(?<=\n\n)(?:    \S.*\n)+", text)]


class UpgradeCase(OwnFarmsCase):
    """Wheels, tokens, tasks and agents are as they were, whichever programs run."""

    def setUp(self):
        super().setUp()
        self.sources = self.enterContext(PackageIndex(self.folder / "sources"))
        self.wheels: list[Path] = []  # acknowledged
        self.number = 0

    def restart(self, farm: Farm, programs: Path) -> None:
        farm.stop()
        farm.programs = programs
        farm.start()

    def upload(self, farm: Farm) -> Path:
        self.number += 1
        wheel = Wheel("yard-kept", f"1.{self.number}", value=self.number).write(self.folder)
        RawUpload(farm, self.token, wheel).send_until_acknowledged()
        self.wheels.append(wheel)
        return wheel

    def assert_serves_all(self, *farms: Farm) -> None:
        for farm in farms:
            found = {name: entry["hashes"]["sha256"] for name, entry in farm.files("yard-kept").items()}
            self.assertEqual(found, {wheel.name: sha256_of(wheel) for wheel in self.wheels})
            target = Path(tempfile.mkdtemp(dir=self.folder))
            self.assert_ran(pip_install(farm, "pip-new", target, "yard-kept"))
            self.assertEqual(installed_value("pip-new", target, "yard_kept"), self.wheels[-1].name.split("-")[1][2:])

    def agent(self, farm: Farm, name: str = "site") -> Site:
        return Site(farm, self.sources, self.token, {}, registry='claim_tasks = "any"', name=name)

    def assert_builds(self, site: Site, programs: Path, again: Path | None = None) -> None:
        """A task by these programs; `again`: those that end what these began."""
        self.number += 1
        package = f"yard-task-{self.number}"
        write_sdist(self.sources.folder, package, "1.0")
        task = self.asker.ask_for(package)
        site.programs = programs
        if again:
            self.assertEqual(site.builder("run", failpoint="journal.built").returncode, 137)
            site.programs = again
        self.assert_ran(site.builder("run"))
        said = self.asker.show(task)
        self.assertEqual((said["state"], said["attempts"]), ("done", 1), said)
        self.assertEqual(len(site.farm.files(package)), 1)
        self.assertIn(package.replace("-", "_"), self.asker.say("log", task))


class OneServer(UpgradeCase):
    def setUp(self):
        super().setUp()
        self.farm = self.enterContext(Farm())
        self.farm.programs = OLDER
        self.token = self.farm.create_token(actions=("upload", "build"), name="agent")
        self.asker = Asker(self.farm)
        self.farm.start()

    def command(self, *words) -> subprocess.CompletedProcess:
        return self.farm.run("wheelyard-registry", *words)

    def test_forward_and_back_by_a_backup(self):
        site, backup, newer = self.agent(self.farm), self.folder / "backup", self.folder / "newer"
        before = [self.upload(self.farm)]
        self.assert_builds(site, OLDER)
        waiting = self.asker.ask_for("yard-waits")
        self.assert_ran(self.command("backup", backup, "-c", self.farm.config))

        self.restart(self.farm, BIN)
        self.assert_serves_all(self.farm)
        self.assertEqual(self.asker.show(waiting)["state"], "queued")
        after = [self.upload(self.farm)]
        self.assert_builds(site, OLDER, again=BIN)
        self.assert_serves_all(self.farm)
        self.assert_ran(self.command("backup", self.folder / "newer-backup", "-c", self.farm.config))

        self.farm.stop()
        self.farm.programs = OLDER
        if older.FOLDER:
            catalog = sha256_of(self.farm.data / "catalog.sqlite")
            for words in (("token", "list"), ("serve",)):
                self.assert_failed(self.command(*words, "-c", self.farm.config), TOO_NEW)
            self.assertEqual(sha256_of(self.farm.data / "catalog.sqlite"), catalog)
            self.assert_failed(self.command("restore", self.folder / "newer-backup", self.folder / "refused"), TOO_NEW)
            self.assertFalse((self.folder / "refused/catalog.sqlite").exists())
        self.farm.data.rename(newer)
        self.assert_ran(self.command("restore", backup, self.farm.data))
        self.farm.start()
        self.wheels = before
        self.assert_serves_all(self.farm)
        self.assert_ran(self.command("import", INDEX, *(newer / "public" / INDEX / "files").rglob("*.whl"), "-c", self.farm.config))
        self.wheels = before + after
        self.assert_serves_all(self.farm)
        self.assert_builds(site, BIN, again=OLDER)
        self.restart(self.farm, BIN)
        self.upload(self.farm)
        self.assert_serves_all(self.farm)
        self.assert_builds(site, BIN)
        self.farm.check_tree()

    def test_a_kill_in_the_middle_of_the_upgrade_leaves_what_one_of_both_serves(self):
        self.upload(self.farm)
        self.farm.stop()
        served = set()
        for number in range(KILLS):
            shutil.copytree(self.farm.data, self.folder / f"{number}" / "data", symlinks=True)
            with Farm(folder=self.folder / f"{number}") as copy:
                if number == KILLS - 1:
                    copy.start()
                else:
                    copy.launch()
                    time.sleep(number * 0.01)  # where in its start it is killed
                copy.kill()
                copy.programs = OLDER
                try:
                    copy.start()
                    served.add("older")
                    self.assert_serves_all(copy)
                    copy.stop()
                except AssertionError as refusal:
                    self.assertIn(TOO_NEW, str(refusal))
                    served.add("newer")
                    copy.kill()
                copy.programs = BIN
                copy.start()
                self.assert_serves_all(copy)
                copy.check_tree()
                self.assertEqual(copy.staging_leftovers(), [])
        self.assertEqual(served, {"older", "newer"} if older.FOLDER else {"older"})

    def test_agents_trees_and_lists_of_either_version_work_for_either_registry(self):
        site, other = self.agent(self.farm, "a"), self.agent(self.farm, "b")
        for registry in (OLDER, BIN):
            self.restart(self.farm, registry)
            for first, second in ((OLDER, BIN), (BIN, OLDER)):
                with self.subTest(registry=name_of(registry), began=name_of(first), ended=name_of(second)):
                    self.assert_builds(site, first, again=second)
                    self.assert_builds(other, first)
                    self.upload(self.farm)
                    self.farm.programs = first  # of commands
                    self.assertLessEqual({wheel.name for wheel in self.wheels}, {path.name for path in self.farm.tree.rglob("*.whl")})
                    self.assert_ran(self.farm.run("wheelyard-indexer", "check", "--to", self.farm.tree))
                    listed = self.farm.run("avail_wheels", "yard-kept", "--all", "--json", "--index-url", self.farm.simple_url())
                    self.assert_ran(listed, self.wheels[0].name)  # what they keep for each other is a minute old
                    self.farm.programs = registry


class TwoNodes(UpgradeCase):
    def setUp(self):
        super().setUp()
        self.nodes = Nodes("a", "b", lease_s=LEASE_S)
        self.addCleanup(self.nodes.remove)
        self.a, self.b = self.nodes["a"], self.nodes["b"]
        for node in (self.a, self.b):
            node.programs = OLDER
        self.a.start()
        self.token = self.a.create_token(actions=("upload", "build", "yank", "token"), name="agent")
        self.asker = Asker(self.a)
        self.b.start()
        self.settled()

    def settled(self) -> tuple[Node, Node]:
        """The node that writes, and the other one."""
        for node in (self.a, self.b):
            node.wait(node.may_answer, PATIENCE_S, "serving")
        self.a.wait(lambda: self.a.is_writer() or self.b.is_writer(), PATIENCE_S, "a writer")
        self.b.wait(lambda: all(node.metric("node_knows_writer") == 1 for node in (self.a, self.b)), PATIENCE_S, "known")
        return (self.a, self.b) if self.a.is_writer() else (self.b, self.a)

    def both_work(self) -> None:
        """Each takes an upload, a yank, a token and its end, and both show it."""
        for node, other in ((self.a, self.b), (self.b, self.a)):
            with self.subTest(a=name_of(self.a.programs), b=name_of(self.b.programs), at=node.name, writer=self.settled()[0].name):
                wheel = self.upload(node)
                self.assert_serves_all(self.a, self.b)
                done = node.run("wheelyard-registry", "yank", INDEX, wheel.name, "--reason", "wrong", "-c", node.config)
                self.assert_ran(done)
                self.assertEqual(other.files("yard-kept")[wheel.name]["yanked"], "wrong")
                self.assert_ran(other.run("wheelyard-registry", "unyank", INDEX, wheel.name, "-c", other.config))
                token = node.create_token(name=f"short-{self.number}")
                self.assertEqual(RawUpload(other, token, wheel).send()[0], 200)
                self.assert_ran(other.run("wheelyard-registry", "token", "revoke", token.rsplit("_", 1)[0], "-c", other.config))
                self.assertEqual(RawUpload(node, token, wheel).send()[0], 403)

    def test_one_by_one_forward_and_back_while_clients_go_on(self):
        site = self.agent(self.a)
        ended, stop, turn = set(), threading.Event(), threading.Lock()

        def client(node: Node) -> None:
            while not stop.wait(0.2):  # as a client
                with turn:
                    wheel = Wheel("in-flight", f"1.{len(ended)}").write(self.folder)
                    RawUpload(node, self.token, wheel).send_until_acknowledged()
                    ended.add(wheel.name)
        clients = [threading.Thread(target=client, args=(node,)) for node in (self.a, self.b)]
        for each in clients:
            each.start()
        try:
            self.both_work()
            for programs, others in ((BIN, OLDER), (OLDER, BIN), (BIN, OLDER)):
                writer, other = self.settled()
                for number in range(3):  # one that is killed while it starts leaves what either goes on with
                    other.stop()
                    other.programs = programs
                    other.launch()
                    time.sleep(number * 0.05)
                    other.kill()
                    self.restart(other, others)
                    self.settled()
                for node in (other, writer):
                    node.stop()
                    if programs == OLDER:  # as the page says of going back
                        shutil.rmtree(node.tree)
                    self.restart(node, programs)
                    self.both_work()
                    self.assert_builds(site, BIN if node is other else OLDER)
                with turn:
                    for node in (self.a, self.b):
                        self.assertEqual(set(node.files("in-flight")), ended)
                        node.check_tree()
            self.assertTrue(all(each.is_alive() for each in clients))  # none has given up
        finally:
            stop.set()
            for each in clients:
                each.join()
        print(f"upgrade: {len(ended)} uploads by two clients meanwhile", file=sys.stderr)


class Installed:
    """As root types what the pages say, in a Debian of its own."""
    root = "bookworm"

    def setUp(self):
        if not can_boot(self.root) or not self.present():
            self.skipTest(f"{PACKAGES} has no packages, or scripts/other-nodes made no root {self.root}, or this is not root")
        self.folder = Path(tempfile.mkdtemp(prefix="wheelyard-upgraded-"))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        self.node = self.enterContext(BootedRoot(self.root, self.folder / "node"))
        self.node.shell("echo 'APT::Get::Assume-Yes \"true\";' >/etc/apt/apt.conf.d/yes")

    def type(self, lines: list[str], package: Path) -> str:
        """With the package in place of the example's."""
        self.node.give(package)
        self.node.shell("systemctl reset-failed")  # a person types more slowly, and units of the past had a limit of starts
        return self.node.shell("cd /root\n" + re.sub(r"wheelyard(-registry_[\d.]+_amd64\.deb|-[\d.]+-portable\S*)", package.name, "\n".join(lines)))

    def upload(self, token: str) -> None:
        wheel = Wheel("yard-kept", f"1.{len(self.kept)}").write(self.folder)
        RawUpload(SimpleNamespace(port=PORT), token, wheel, index="main").send_until_acknowledged()
        self.kept.append(wheel.name)

    def assert_serves(self, names: list[str]) -> None:
        wait_until_ready(self.node)
        links = re.findall(r'href="([^"#]+/([^"#/]+))#', fetched("/main/simple/yard-kept/").decode())
        self.assertEqual([name for _, name in links], names)
        for link, name in links:
            self.assertEqual(fetched(urljoin("/main/simple/yard-kept/", link)), (self.folder / name).read_bytes())

    def test_upgraded_and_back_as_the_pages_say(self):
        first, second, self.kept = self.earlier(), self.present(), []
        upgrade, back, take_the_backup = self.lines()
        self.type(self.install(), first)
        wait_until_ready(self.node)
        token = self.node.shell(TOKEN)
        self.upload(token)
        self.type(upgrade, second)
        self.assert_serves(self.kept)
        self.upload(token)
        self.type(back, first)
        if older.FOLDER:
            self.assertIn(TOO_NEW, self.node.shell(f"sleep 3; journalctl --no-pager --unit {UNIT} --since -3s"))
            self.type(back, second)  # the newer one has lost nothing
            self.assert_serves(self.kept)
            self.type(back, first)
        stop, move, make, restore, start, bring = take_the_backup
        self.type([stop, move, make, restore], first)
        self.node.shell("chown -R wheelyard: /var/lib/wheelyard" if older.FOLDER else "test -z \"$(find /var/lib/wheelyard -not -user wheelyard)\"")
        self.type([start], first)
        self.assert_serves(self.kept[:1])
        self.type([bring], first)
        self.assert_serves(self.kept)
        self.upload(token)
        self.type(upgrade, second)
        self.assert_serves(self.kept)
        self.node.say("wheelyard-registry", "verify", "-q")


class OfDebian(Installed):
    def present(self) -> Path | None:
        return package("wheelyard-registry")

    def earlier(self) -> Path:
        return older.as_older("wheelyard-registry", self.folder)

    def install(self) -> list[str]:
        return commands("install.md", "Install a registry")[0]

    def lines(self) -> tuple[list[str], ...]:
        return commands("run-a-registry.md", "Upgrade it")[0], *commands("run-a-registry.md", "Go back to the older version")


class Debian12(OfDebian, unittest.TestCase):
    pass


class Debian13(OfDebian, unittest.TestCase):
    root = "trixie"


class Tarball(Installed, unittest.TestCase):
    def present(self) -> Path | None:
        return tarball(platform.machine())

    def earlier(self) -> Path:
        return older.newest(self.present().name)

    def install(self) -> list[str]:
        return commands("install.md", "Install a registry")[1]

    def lines(self) -> tuple[list[str], ...]:
        upgrade = commands("run-a-registry.md", "Upgrade it")[1]
        back, take_the_backup = commands("run-a-registry.md", "Go back to the older version")
        return upgrade, [*upgrade[1:]], take_the_backup


if __name__ == "__main__":
    if can_boot("bookworm"):
        move_to_island()
    main()
