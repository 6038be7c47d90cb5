"""The disk fails, fills, writes less than asked, or the process dies, at any call that changes the disk: the old state or the new
one is there, the command or the server says what happened, and the same request again gets to the end.

Each operation runs once to record its calls (support/disk.py, SQLite's calls included), then again for each of
them and for each way to break it. In every run a sample, chosen by a seed; with WHEELYARD_FULL=1 (scripts/test --full) all of it.
"""

import hashlib
import http.client
import json
import os
import shutil
import sqlite3
import subprocess
import tempfile
import time
import unittest
from collections import Counter
from pathlib import Path
from typing import Callable, NamedTuple

from support.case import main
from support.clients import RawUpload
from support.disk import CATALOGUES, SYNCS, Call, Disk, copy_file
from support.farm import BIN, COMMAND_TIMEOUT_S, INDEX, Farm
from support.faults import EIO, FULL_DISK, KILL, SHORT, arm, breaks_of, say
from support.wheels import Wheel, sha256_of

PROGRAM = (BIN / "wheelyard-registry").read_bytes()
SANITIZED = b"__asan_init" in PROGRAM or b"__tsan_init" in PROGRAM
IN_MEMORY = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None  # the fsyncs of a real disk are not the question here
STABLE = "stable"
LONG_AGO = 1_000_000_000  # 2001
DEATH_TIMEOUT_S = 60
CALL_TIMEOUT_S = 10  # of a try
PATIENCE_S = 240
TRIES = 50  # until nothing else comes between: a start on an idle machine opens the catalog late once in twenty times


class BrokenCase(unittest.TestCase):
    def setUp(self):
        if SANITIZED:
            self.skipTest("a sanitizer does not run under another preloaded library; the release build's tests run this")
        self.folder = Path(tempfile.mkdtemp(prefix="wheelyard-faults-", dir=IN_MEMORY))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)


def catalogue_of(tree: Path) -> dict[str, str]:
    """What avail_wheels reads: file name → its `yanked` field, of a base as small as these (there is no delta then). It is whole,
    whenever it is looked at, or not there yet."""
    file = tree / INDEX / "simple" / "catalogue.txt"
    if not file.exists():
        return {}
    head, _, rest = file.read_bytes().partition(b"\n")
    fields = head.split(b"\t")
    assert fields[0] == b"wheelyard.catalogue/1" and sum(map(int, fields[7:10])) == len(rest), head
    directory_bytes, lines_bytes = map(int, fields[7:9])
    lines = rest[directory_bytes:directory_bytes + lines_bytes].decode().splitlines()
    return {name: yanked for name, yanked, *_ in (line.split("\t") for line in lines)}


def unfinished_in(tree: Path) -> list[str]:
    """Files of wheel list writers other than the record of their progress and locks."""
    return [path.name for path in (tree / ".wheelyard" / "catalogues").iterdir() if path.name != "state.json" and "lock" not in path.name]


class ServerCase(BrokenCase):
    part = ""  # of what the disk counts

    def setUp(self):
        super().setUp()
        self.farm = self.enterContext(Farm(folder=self.folder, settings="io_threads = 1\nupload_threads = 1\npage_wait_s = 3"))
        self.token = self.farm.create_token()
        self.disk = Disk(self.folder / "notes", self.farm.data, part=self.part)
        self.farm.start(environment=self.disk.environment)
        self.before = self.wheel("before")
        self.assertEqual(RawUpload(self.farm, self.token, self.before).send()[0], 200)

    def wheel(self, project: str) -> Path:
        return Wheel(project).write(self.folder / "wheels")

    def assert_served(self, wheel: Path):
        sha256 = sha256_of(wheel)
        self.assertEqual(self.farm.files(wheel.name.partition("-")[0])[wheel.name]["hashes"]["sha256"], sha256)
        status, _, body = self.farm.get(f"/{INDEX}/files/{sha256[:2]}/{sha256}/{wheel.name}")
        self.assertEqual((status, hashlib.sha256(body).hexdigest()), (200, sha256))

    def send(self, wheel: Path) -> tuple[int, dict]:
        """(0, {}): the server went away."""
        try:
            return RawUpload(self.farm, self.token, wheel).send()
        except (ConnectionError, http.client.HTTPException):
            return 0, {}


class UploadTest(ServerCase):
    def setUp(self):
        super().setUp()
        self.farm.stop()
        self.saved = self.folder / "saved"
        shutil.copytree(self.farm.data, self.saved, symlinks=True)

    def begin_anew(self):
        """A server on what was there before: how many calls an upload makes depends on its hash (is its folder there?) and on what
        the catalog has (81 to 155 were counted), so a call's number means the same call only from the same state on."""
        self.farm.kill()
        shutil.rmtree(self.farm.data)
        shutil.copytree(self.saved, self.farm.data, symlinks=True)
        self.disk.repair()
        self.farm.start(environment=self.disk.environment)
        self.disk.repair()  # the count begins with the upload

    def is_disturbed(self) -> bool:
        """By the thread that writes wheel lists: it opens the catalog some time after the start."""
        return any((call.name, call.path) == ("create", "catalog.sqlite-wal") for call in self.disk.calls())

    def watch(self, wheel: Path) -> list[Call]:
        for _ in range(TRIES):
            self.begin_anew()
            self.assertEqual(self.send(wheel)[0], 200)
            if not self.is_disturbed():
                return self.disk.calls()
        self.fail("the catalog was opened during every upload")

    def send_broken(self, wheel: Path, way: str, at: int) -> tuple[int, dict]:
        for _ in range(TRIES):
            self.begin_anew()
            arm(self.disk, way, at)
            answer = self.send(wheel)
            deadline = time.monotonic() + CALL_TIMEOUT_S
            while not self.disk.has_broken and time.monotonic() < deadline:
                time.sleep(0.005)  # the call may be one that follows the answer
            if way == KILL and self.disk.has_broken:
                self.farm.process.wait(DEATH_TIMEOUT_S)
            met = self.disk.has_broken and not self.is_disturbed()
            self.disk.repair()
            if met:
                return answer
        self.fail("no upload came to the call that the watched one made")

    @staticmethod
    def expected(way: str) -> tuple[int, ...]:
        return {KILL: (0, 200), EIO: (200, 500, 503), FULL_DISK: (200, 503, 507), SHORT: (200,)}[way]

    def test_a_full_disk_that_only_the_fsync_of_a_commit_meets_is_507(self):
        wheel = self.wheel("watched")
        syncs = [call for call in self.watch(wheel) if call.name in SYNCS and call.path == "catalog.sqlite-wal"]
        self.assertTrue(syncs)
        for way, expected in ((FULL_DISK, (507, "upload.disk_full")), (EIO, (500, "upload.failed"))):
            for call in syncs:
                with self.subTest(way=way, number=call.number):
                    status, problem = self.send_broken(wheel, way, call.number)
                    self.assertEqual((status, problem.get("code")), expected, problem)
                    self.assertEqual(self.send(wheel)[0], 200)
                    self.assert_served(wheel)

    def test_an_upload_is_answered_and_its_retry_converges(self):
        wheel = self.wheel("watched")
        calls = self.watch(wheel)
        broken = breaks_of(calls, (KILL, EIO, FULL_DISK, SHORT))
        outcomes: Counter = Counter()
        for way, at in broken:
            with self.subTest(way=way, call=calls[at - 1].name, path=calls[at - 1].path):
                status, problem = self.send_broken(wheel, way, at)
                self.assertIn(status, self.expected(way), problem)
                if way == KILL:
                    self.farm.kill()
                    self.farm.start(environment=self.disk.environment)
                if status == 200:
                    self.assert_served(wheel)
                elif status != 0:
                    self.assertTrue(problem["advice"], problem)
                outcomes[f"answered {status}" if status else "not answered"] += 1
                self.assert_served(self.before)
                self.assertEqual(self.farm.staging_leftovers() if way == KILL else [], [])
                self.assertEqual(self.send(wheel)[0], 200)
                self.assert_served(wheel)
                if way == EIO and calls[at - 1].name == "unlink":  # what could not be removed goes with the next start
                    self.farm.stop()
                    self.farm.start(environment=self.disk.environment)
                leftovers = [*self.farm.tree.rglob("*.tmp.*"), *(self.farm.data / "staging").iterdir()]
                self.assertEqual(leftovers, [])
                self.farm.check_tree()
        say("upload", calls, broken, outcomes)


class CatalogueTest(ServerCase):
    """It is written behind the answers, on a thread of its own: no upload waits for it or fails by it, and it catches up."""

    part = CATALOGUES

    def wait_until_it_shows(self, names: set[str]) -> None:
        """… and its writer has come to its end."""
        deadline = time.monotonic() + PATIENCE_S
        state, lock = (self.farm.tree / ".wheelyard/catalogues" / name for name in ("state.json", "lock"))
        catalogue = self.farm.tree / INDEX / "simple/catalogue.txt"
        while set(catalogue_of(self.farm.tree)) != names or lock.exists() or (
                json.loads(state.read_text())["shown"][INDEX] != int(catalogue.read_text().split("\t")[1])):
            self.assertLess(time.monotonic(), deadline, self.farm.log.read_text()[-2000:])
            time.sleep(0.02)  # until another process has done something: nothing announces it

    def test_no_upload_fails_by_it_and_it_catches_up(self):
        names = {self.before.name}
        self.wait_until_it_shows(names)
        self.disk.repair()
        watched = self.wheel("watched")
        self.assertEqual(self.send(watched)[0], 200)
        names.add(watched.name)
        self.wait_until_it_shows(names)
        calls = self.disk.calls()
        broken = breaks_of(calls, (KILL, EIO, FULL_DISK, SHORT))
        outcomes: Counter = Counter()
        has_waited = False
        for number, (way, at) in enumerate(broken):
            with self.subTest(way=way, call=calls[at - 1].name, path=calls[at - 1].path):
                wheel = self.wheel(f"c{number}")
                arm(self.disk, way, at)
                status, problem = self.send(wheel)
                self.assertIn(status, (0, 200) if way == KILL else (200,), problem)
                deadline = time.monotonic() + PATIENCE_S
                while not self.disk.has_broken:
                    self.assertLess(time.monotonic(), deadline, "this upload did not come to the call that the watched one made")
                    time.sleep(0.005)
                if way == KILL:
                    self.farm.process.wait(DEATH_TIMEOUT_S)
                found = set(catalogue_of(self.farm.tree))
                self.assertIn(found, (names, names | {wheel.name}))
                outcomes["as before" if found == names else "written"] += 1
                names.add(wheel.name)
                self.disk.repair()
                if way == KILL:
                    self.farm.kill()
                elif has_waited:  # for the writer's own next try, once: it takes seconds; a start tries at once
                    self.farm.stop()
                if way == KILL or has_waited:
                    self.farm.start(environment=self.disk.environment)
                has_waited = has_waited or way in (EIO, FULL_DISK)
                self.wait_until_it_shows(names)
                self.assertEqual(unfinished_in(self.farm.tree), [])
                self.assert_served(wheel)
        say("upload, its catalogue", calls, broken, outcomes)


class Operation(NamedTuple):
    words: tuple[str, ...]
    is_new: Callable[["CommandTest"], bool]
    statuses: tuple[int, ...] = (0,)  # of a run that nothing breaks


class CommandTest(BrokenCase):
    def setUp(self):
        super().setUp()
        (self.folder / "farm").mkdir()
        self.farm = self.enterContext(Farm((INDEX, STABLE), folder=self.folder / "farm"))
        self.token = self.farm.create_token()
        self.farm.start()
        self.kept = Wheel("six", "1.0").write(self.folder / "wheels")
        self.target = Wheel("six", "1.0.1").write(self.folder / "wheels")
        for wheel in (self.kept, self.target):
            self.assertEqual(RawUpload(self.farm, self.token, wheel).send()[0], 200)
        self.farm.stop()
        self.backup = self.farm.data / "other" / "backup"  # below the folder whose calls are watched
        self.restored = self.farm.data / "other" / "restored"

    def blob(self, sha256: str) -> Path:
        return self.farm.data / "blobs" / "sha256" / sha256[:2] / sha256

    def run_command(self, words: tuple[str, ...], environment: dict[str, str] | None = None) -> subprocess.CompletedProcess:
        config = () if words[0] == "restore" else ("--config", self.farm.config)
        return subprocess.run([BIN / "wheelyard-registry", *map(str, words), *config],
                              env=self.farm.environment | (environment or {}), capture_output=True, text=True,
                              timeout=COMMAND_TIMEOUT_S)

    def act(self, *words: str):
        done = self.run_command(words)
        self.assertEqual(done.returncode, 0, done.stderr)

    def rows(self, data: Path | None = None) -> dict[tuple[str, str], sqlite3.Row]:
        with sqlite3.connect((data or self.farm.data) / "catalog.sqlite") as catalog:
            catalog.row_factory = sqlite3.Row
            rows = {(row["index_name"], row["filename"]): row for row in catalog.execute("SELECT * FROM file")}
        catalog.close()
        return rows

    def shown(self, index: str = INDEX) -> dict[str, dict]:
        """What a reader of the tree sees; every link must lead to the bytes that it promises."""
        page = self.farm.tree / index / "simple" / "six" / "index.json"
        if not page.exists():
            return {}
        files = {entry["filename"]: entry for entry in json.loads(page.read_text())["files"]}
        for entry in files.values():
            self.assertEqual(sha256_of(page.parent / entry["url"]), entry["hashes"]["sha256"])
        return files

    def old_or_new(self, catalog_is_new: bool, tree_is_new: bool) -> bool:
        self.assertFalse(tree_is_new and not catalog_is_new, "the pages show what no catalog holds")
        return catalog_is_new and tree_is_new

    def assert_bytes_are_there(self, damaged: str = ""):
        for row in self.rows().values():
            for sha256 in (row["sha256"], row["metadata_sha256"]):
                if sha256 != damaged:
                    self.assertEqual(sha256_of(self.blob(sha256)), sha256)

    def check(self, operation: Operation, damaged: str = ""):
        saved = self.folder / "saved"
        shutil.copytree(self.farm.data, saved, symlinks=True, copy_function=copy_file)
        notes = self.folder / "notes"
        disk = Disk(notes, self.farm.data)
        done = self.run_command(operation.words, disk.environment)
        self.assertIn(done.returncode, operation.statuses, done.stderr)
        self.assertTrue(operation.is_new(self), "the watched command changed nothing")
        calls = disk.calls()
        broken = breaks_of(calls, (KILL, EIO, FULL_DISK, SHORT))
        outcomes: Counter = Counter()
        for way, at in broken:
            with self.subTest(way=way, call=calls[at - 1].name, path=calls[at - 1].path):
                shutil.rmtree(self.farm.data)
                shutil.copytree(saved, self.farm.data, symlinks=True)  # with the times of files
                arm(disk, way, at)
                done = self.run_command(operation.words, disk.environment)
                self.assertTrue(disk.has_broken, "this run did not come to the call that the watched one made")
                if way == SHORT:
                    self.assertIn(done.returncode, operation.statuses, done.stderr)
                if way in (EIO, FULL_DISK) and done.returncode == 1:
                    self.assertIn("wheelyard-registry: ", done.stderr)
                self.assertIn(done.returncode, (-9,) if way == KILL else (0, 1), done.stderr)
                self.assert_bytes_are_there(damaged)
                is_new = operation.is_new(self)
                if done.returncode == 0:
                    self.assertTrue(is_new, "it said that it was done")
                outcomes["left the new state" if is_new else "the old one, or part of the way"] += 1
                again = self.run_command(operation.words)
                self.assertTrue(again.returncode in operation.statuses or (operation.words[0] == "restore" and is_new), again.stderr)
                self.assertTrue(operation.is_new(self))
                leftovers = [*self.farm.tree.rglob("*.tmp.*"), *(self.farm.data / "staging").iterdir()]
                self.assertEqual(leftovers, [])
        say(operation.words[0], calls, broken, outcomes)

    def is_yanked(self) -> bool:
        return self.old_or_new(self.rows()[INDEX, self.target.name]["yanked"] == 1,
                               self.shown()[self.target.name]["yanked"] == "slow")

    def test_yank(self):
        self.check(Operation(("yank", INDEX, self.target.name, "--reason", "slow"), CommandTest.is_yanked))

    def test_yank_after_a_crash(self):
        """The last rows are only in SQLite's log; the next process has to apply it."""
        last = Wheel("six", "1.0.2").write(self.folder / "wheels")
        self.farm.start()
        self.assertEqual(RawUpload(self.farm, self.token, last).send()[0], 200)
        self.farm.kill()

        def is_new(self):
            self.assertIn((INDEX, last.name), self.rows(), "an acknowledged file is gone")
            return self.is_yanked()
        self.check(Operation(("yank", INDEX, self.target.name, "--reason", "slow"), is_new))

    def test_the_catalogue_of_a_yank(self):
        """No promise of the command's hangs on it; the old one is there or the new one, and the next command ends it."""
        words = ("yank", INDEX, self.target.name, "--reason", "slow")
        old = {self.kept.name: "", self.target.name: ""}
        new = old | {self.target.name: "yslow"}
        self.assertEqual(catalogue_of(self.farm.tree), old)
        saved = self.folder / "saved"
        shutil.copytree(self.farm.data, saved, symlinks=True)
        disk = Disk(self.folder / "notes", self.farm.data, part=CATALOGUES)
        self.assertEqual(self.run_command(words, disk.environment).returncode, 0)
        self.assertEqual(catalogue_of(self.farm.tree), new)
        calls = disk.calls()
        broken = breaks_of(calls, (KILL, EIO, FULL_DISK, SHORT))
        outcomes: Counter = Counter()
        for way, at in broken:
            with self.subTest(way=way, call=calls[at - 1].name, path=calls[at - 1].path):
                shutil.rmtree(self.farm.data)
                shutil.copytree(saved, self.farm.data, symlinks=True)
                arm(disk, way, at)
                done = self.run_command(words, disk.environment)
                self.assertTrue(disk.has_broken, "this run did not come to the call that the watched one made")
                self.assertEqual(done.returncode, -9 if way == KILL else 0, done.stderr)
                self.assertEqual(self.shown()[self.target.name]["yanked"], "slow")
                found = catalogue_of(self.farm.tree)
                self.assertIn(found, (old, new))
                outcomes["left the new state" if found == new else "the old one"] += 1
                if way in (EIO, FULL_DISK) and found == old:
                    self.assertIn("catalogue.failed", done.stdout + done.stderr)
                self.act(*words)
                self.assertEqual(catalogue_of(self.farm.tree), new)
                self.assertEqual(unfinished_in(self.farm.tree), [])
        say("yank, its catalogue", calls, broken, outcomes)

    def is_deleted(self) -> bool:
        sha256 = sha256_of(self.target)
        is_gone = not (self.farm.tree / INDEX / "files" / sha256[:2] / sha256).exists()
        return self.old_or_new((INDEX, self.target.name) not in self.rows(), self.target.name not in self.shown() and is_gone)

    def test_delete(self):
        self.check(Operation(("delete", INDEX, self.target.name, "--reason", "wrong"), CommandTest.is_deleted))

    def test_retain(self):
        self.target, self.kept = self.kept, self.target  # the older one goes
        self.check(Operation(("retain", INDEX, "--keep", "1"), CommandTest.is_deleted))

    def test_promote(self):
        def is_new(self):
            return self.old_or_new((STABLE, self.target.name) in self.rows(), self.target.name in self.shown(STABLE))
        self.check(Operation(("promote", INDEX, self.target.name, "--to", STABLE), is_new))

    def test_gc(self):
        orphans = [self.blob(hashlib.sha256(text).hexdigest()) for text in (b"one", b"two")]
        for text, path in zip((b"one", b"two"), orphans):
            path.parent.mkdir(exist_ok=True)
            path.write_bytes(text)
            os.utime(path, (LONG_AGO, LONG_AGO))

        def is_new(self):
            self.assertEqual(len(self.shown()), 2)
            return not any(path.exists() for path in orphans)
        self.check(Operation(("gc", "--grace", "1h"), is_new))

    def test_verify(self):
        damaged = sha256_of(self.target)
        blob = self.blob(damaged)
        blob.chmod(0o644)
        with open(blob, "r+b") as file:
            file.seek(100)
            file.write(b"\xff\x00")
        tree_file = self.farm.tree / INDEX / "files" / damaged[:2] / damaged / self.target.name
        self.assertEqual(tree_file.stat().st_ino, blob.stat().st_ino)

        def is_new(self):
            is_quarantined = self.rows()[INDEX, self.target.name]["state"] == "quarantined"
            is_hidden = not tree_file.exists()
            self.assertTrue(is_quarantined or not is_hidden)
            self.assertTrue(blob.exists())
            return is_quarantined and is_hidden
        # A run that goes on behind the damaged blob finds nothing.
        self.check(Operation(("verify", "--quiet"), is_new, statuses=(0, 1)), damaged)

    def test_backup(self):
        def is_new(self):
            if not (self.backup / "catalog.sqlite").exists():
                return False
            self.assertEqual(set(self.rows(self.backup)), set(self.rows()))
            for row in self.rows(self.backup).values():
                for sha256 in (row["sha256"], row["metadata_sha256"]):
                    self.assertEqual(sha256_of(self.backup / "blobs" / "sha256" / sha256[:2] / sha256), sha256)
            return (self.backup / "backup.json").exists()
        self.check(Operation(("backup", self.backup), is_new))

    def test_restore(self):
        self.act("backup", self.backup)

        def is_new(self):
            if not (self.restored / "catalog.sqlite").exists():
                return False
            for row in self.rows(self.restored).values():
                for sha256 in (row["sha256"], row["metadata_sha256"]):
                    self.assertEqual(sha256_of(self.restored / "blobs" / "sha256" / sha256[:2] / sha256), sha256)
            return set(self.rows(self.restored)) == set(self.rows())
        self.check(Operation(("restore", self.backup, self.restored), is_new))

    def test_migrate(self):
        for name in ("catalog.sqlite", "catalog.sqlite-wal", "catalog.sqlite-shm"):
            (self.farm.data / name).unlink(missing_ok=True)
        for name in ("public", "blobs"):  # they are the former catalog's
            shutil.rmtree(self.farm.data / name)
        (self.farm.data / "catalog.sqlite").touch()  # a database of version 0: before the first step

        def is_new(self):
            with sqlite3.connect(self.farm.data / "catalog.sqlite") as catalog:
                version = catalog.execute("PRAGMA user_version").fetchone()[0]
                tables = {row[0] for row in catalog.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")}
            catalog.close()
            self.assertEqual({"blob", "event", "file", "token"} <= tables, version > 0, "half a step")
            self.assertEqual(bool(tables), version > 0, "half a step")
            return version > 0
        self.assert_bytes_are_there = lambda damaged="": None  # a new catalog has no files
        self.check(Operation(("gc", "--dry-run"), is_new))


if __name__ == "__main__":
    main()
