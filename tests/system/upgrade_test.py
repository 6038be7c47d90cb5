"""Two versions of the programs: forward, back and beside each other, with data that each has written. One server, its agents, and two
nodes over PostgreSQL.

Label `full`. The earlier version is that of the Debian packages in WHEELYARD_OLDER_PACKAGES; without them both are this one, which is said.

    WHEELYARD_OLDER_PACKAGES=build/older python3 tests/system/upgrade_test.py
"""

import contextlib
import hashlib
import json
import shutil
import sys
import tempfile
import threading
import time
import unittest
from pathlib import Path

from support import older
from support.asker import Asker
from support.case import OwnFarmsCase, main
from support.clients import RawUpload, installed_value, pip_install
from support.farm import BIN, INDEX, Farm
from support.node_farm import Node, Nodes
from support.package_index import PackageIndex, write_sdist
from support.site import Site
from support.wheels import Wheel

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


class UpgradeCase(OwnFarmsCase):
    """What all of them look at: wheels, tokens, tasks and agents, whichever programs run."""

    def setUp(self):
        super().setUp()
        self.sources = self.enterContext(PackageIndex(self.folder / "sources"))
        self.wheels: list[Path] = []  # acknowledged
        self.number = 0

    def restart(self, farm: Farm, programs: Path) -> None:
        farm.stop()
        farm.programs = programs
        farm.start()

    def upload(self, farm: Farm, token: str) -> Path:
        self.number += 1
        wheel = Wheel("yard-kept", f"1.{self.number}", value=self.number).write(self.folder)
        RawUpload(farm, token, wheel).send_until_acknowledged()
        self.wheels.append(wheel)
        return wheel

    def assert_serves_all(self, *farms: Farm) -> None:
        for farm in farms:
            found = farm.files("yard-kept")
            self.assertEqual(set(found), {wheel.name for wheel in self.wheels})
            for wheel in self.wheels:
                self.assertEqual(found[wheel.name]["hashes"]["sha256"], hashlib.sha256(wheel.read_bytes()).hexdigest())
            target = Path(tempfile.mkdtemp(dir=self.folder))
            self.assert_ran(pip_install(farm, "pip-new", target, "yard-kept"))
            self.assertEqual(installed_value("pip-new", target, "yard_kept"), str(max(int(w.name.split("-")[1][2:]) for w in self.wheels)))

    def agent(self, farm: Farm, token: str, programs: Path, **more) -> Site:
        return Site(farm, self.sources, token, {}, registry='claim_tasks = "any"', programs=programs, **more)

    def assert_builds(self, farm: Farm, asker: Asker, site: Site, programs: Path, again: Path | None = None) -> None:
        """A task by these programs; `again`: those that end what these began."""
        self.number += 1
        package = f"yard-task-{self.number}"
        write_sdist(self.sources.folder, package, "1.0")
        task = asker.ask_for(package)
        site.programs = programs
        if again:
            self.assertEqual(site.builder("run", failpoint="journal.built").returncode, 137)
            site.programs = again
        self.assert_ran(site.builder("run"))
        said = asker.show(task)
        self.assertEqual((said["state"], said["attempts"]), ("done", 1), said)
        self.assertEqual(len(farm.files(package)), 1)
        self.assertIn(package.replace("-", "_"), asker.say("log", task))


class OneServer(UpgradeCase):
    def setUp(self):
        super().setUp()
        self.farm = self.enterContext(Farm())
        self.farm.programs = OLDER
        self.token = self.farm.create_token(actions=("upload", "build"), name="agent")
        self.asker = Asker(self.farm)
        self.farm.start()

    def copy_of_data(self, name: str) -> Farm:
        """What a stopped server left, in another folder."""
        shutil.copytree(self.farm.data, self.folder / name / "data", symlinks=True)
        return Farm(folder=self.folder / name)

    def hashes(self) -> dict[Path, str]:
        return {path: hashlib.sha256(path.read_bytes()).hexdigest() for path in sorted(self.farm.data.rglob("*"))
                if path.is_file() and not path.name.endswith(("-shm", "-wal", ".lock"))}

    def test_forward_and_back_by_the_backup_that_the_page_asks_for(self):
        site = self.agent(self.farm, self.token, OLDER)
        self.upload(self.farm, self.token)
        self.assert_builds(self.farm, self.asker, site, OLDER)
        waiting = self.asker.ask_for("yard-waits")
        before, backup = list(self.wheels), self.folder / "backup"
        self.assert_ran(self.farm.run("wheelyard-registry", "backup", backup, "-c", self.farm.config))

        self.restart(self.farm, BIN)
        self.assert_serves_all(self.farm)
        self.assertEqual(self.asker.show(waiting)["state"], "queued")
        self.upload(self.farm, self.token)
        self.assert_builds(self.farm, self.asker, site, OLDER, again=BIN)  # an older agent of a newer registry, replaced meanwhile
        self.assert_serves_all(self.farm)

        self.farm.stop()
        self.farm.programs = OLDER
        data = self.hashes()
        refused = self.farm.run("wheelyard-registry", "token", "list", "-c", self.farm.config)
        if older.FOLDER:
            self.assert_failed(refused, TOO_NEW)
            self.assert_failed(self.farm.run("wheelyard-registry", "serve", "-c", self.farm.config), TOO_NEW)
            self.assertEqual(self.hashes(), data)
        else:
            self.assert_ran(refused)
        newer = self.folder / "newer"
        self.farm.data.rename(newer)
        self.assert_ran(self.farm.run("wheelyard-registry", "restore", backup, self.farm.data))
        self.farm.start()
        after, self.wheels = self.wheels[len(before):], before
        self.assert_serves_all(self.farm)
        files = sorted((newer / "public" / INDEX / "files").rglob("*.whl"))
        self.assert_ran(self.farm.run("wheelyard-registry", "import", INDEX, *files, "-c", self.farm.config))
        self.wheels += after
        self.upload(self.farm, self.token)
        self.assert_serves_all(self.farm)
        self.assert_builds(self.farm, self.asker, site, BIN, again=OLDER)
        self.restart(self.farm, BIN)  # once more
        self.assert_serves_all(self.farm)
        self.assert_builds(self.farm, self.asker, site, BIN)
        self.farm.check_tree()

    def test_a_kill_in_the_middle_of_the_upgrade_leaves_what_one_of_both_serves(self):
        for _ in range(3):
            self.upload(self.farm, self.token)
        self.farm.stop()
        served = set()
        for number in range(KILLS):
            with self.copy_of_data(f"killed-{number}") as copy:
                if number == KILLS - 1:
                    copy.start()
                else:
                    copy.launch()
                    time.sleep(number * 0.01)  # where in its start it is killed
                copy.kill()
                copy.programs = OLDER
                try:
                    copy.start()
                except AssertionError as refusal:
                    self.assertIn(TOO_NEW, str(refusal))
                    served.add("newer")
                    copy.process.wait()
                    copy.process = None
                else:
                    served.add("older")
                    self.assert_serves_all(copy)
                    copy.stop()
                copy.programs = BIN
                copy.start()
                self.assert_serves_all(copy)
                copy.check_tree()
                self.assertEqual(copy.staging_leftovers(), [])
        self.assertEqual(served, {"older", "newer"} if older.FOLDER else {"older"})

    def test_agents_of_either_version_work_for_either_registry(self):
        site, other = (self.agent(self.farm, self.token, OLDER, name=name) for name in ("a", "b"))
        for registry in (OLDER, BIN):
            self.restart(self.farm, registry)
            for first, second in ((OLDER, OLDER), (OLDER, BIN), (BIN, OLDER), (BIN, BIN)):
                with self.subTest(registry=name_of(registry), began=name_of(first), ended=name_of(second)):
                    self.assert_builds(self.farm, self.asker, site, first, again=second)
            for programs in (BIN, OLDER):  # one after the other, as one goes back
                self.assert_builds(self.farm, self.asker, other, programs)


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
        """Each takes an upload, a yank, a token and its end, and a task, and both show it."""
        for node, other in ((self.a, self.b), (self.b, self.a)):
            with self.subTest(a=name_of(self.a.programs), b=name_of(self.b.programs), at=node.name, writer=self.settled()[0].name):
                wheel = self.upload(node, self.token)
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
        site = self.agent(self.a, self.token, OLDER)
        asked, ended, stop = [], [], threading.Event()

        def client(node: Node) -> None:
            number = 0
            while not stop.is_set():
                number += 1
                wheel = Wheel(f"in-flight-{node.name}", f"1.{number}").write(self.folder)
                asked.append(wheel.name)
                RawUpload(node, self.token, wheel).send_until_acknowledged(tries=2000)
                ended.append(wheel.name)
                time.sleep(0.05)  # as a client
        clients = [threading.Thread(target=client, args=(node,)) for node in (self.a, self.b)]
        for each in clients:
            each.start()
        try:
            self.both_work()
            for programs in (BIN, OLDER, BIN):
                writer, other = self.settled()
                for node in (other, writer):
                    self.restart(node, programs)
                    self.settled()
                    self.both_work()
                    for builds in (OLDER, BIN):
                        self.assert_builds(self.a, self.asker, site, builds)
        finally:
            stop.set()
            for each in clients:
                each.join()
        self.assertEqual(asked, ended)
        print(f"upgrade: {len(ended)} uploads by two clients meanwhile", file=sys.stderr)
        for node in (self.a, self.b):
            found = {name for project in ("in-flight-a", "in-flight-b") for name in node.files(project)}
            self.assertEqual(found, set(ended))
            node.check_tree()


if __name__ == "__main__":
    main()
