"""What happens to files after their upload, with the real programs: commands beside a running server, seen over HTTP; and
every command killed at every call that changes the disk.
"""

import hashlib
import json
import os
import re
import shutil
import sqlite3
import subprocess
import tempfile
import unittest
from collections import Counter
from pathlib import Path

from support.case import FarmCase, main
from support.clients import RawUpload, installed_value, pip_install
from support.farm import BIN, COMMAND_TIMEOUT_S, INDEX, Farm
from support.wheels import Wheel, sha256_of

STABLE = "stable"
# A sanitizer's leak check cannot run under strace.
WITHOUT_LEAK_CHECK = {"ASAN_OPTIONS": os.environ.get("ASAN_OPTIONS", "") + ":detect_leaks=0"}
# Calls that change what is on the disk, ours and SQLite's; which of two twins a libc uses does not matter.
OWN_CALLS = ("fsync", "fdatasync", "rename", "renameat", "renameat2", "link", "linkat", "unlink", "unlinkat", "rmdir", "mkdir",
              "mkdirat", "chmod", "fchmod", "ftruncate")
ALL_CALLS = (*OWN_CALLS, "pwrite64")  # most of them SQLite's: one command is enough for those
LONG_AGO = 1_000_000_000  # 2001


class LifecycleTest(FarmCase):
    indexes = (INDEX, STABLE)

    def upload(self, project: str, version: str = "1.0", value: int = 1) -> Path:
        wheel = Wheel(project, version, value=value).write(self.folder)
        self.assertEqual(RawUpload(self.farm, self.token, wheel).send()[0], 200)
        return wheel

    def command(self, *words: str) -> subprocess.CompletedProcess:
        return self.farm.run("wheelyard-registry", *words, "--config", self.farm.config)

    def act(self, *words: str) -> str:
        done = self.command(*words)
        self.assert_ran(done)
        return done.stdout

    def page(self, project: str, index: str = INDEX) -> dict:
        status, _, body = self.farm.get(f"/{index}/simple/{project}/index.json")
        self.assertEqual(status, 200)
        return json.loads(body)

    def names(self, project: str, index: str = INDEX) -> list[str]:
        return [entry["filename"] for entry in self.page(project, index)["files"]]

    def status_of(self, wheel: Path, index: str = INDEX, suffix: str = "") -> int:
        sha256 = sha256_of(wheel)
        return self.farm.get(f"/{index}/files/{sha256[:2]}/{sha256}/{wheel.name}{suffix}")[0]

    def test_a_yanked_file_is_taken_by_nobody_who_does_not_ask_for_it(self):
        self.upload("yanked", "1.0", value=10)
        newer = self.upload("yanked", "1.1", value=11)
        self.act("yank", INDEX, newer.name, "--reason", "wrong <results>")
        entry = self.page("yanked")["files"][1]
        self.assertEqual((entry["filename"], entry["yanked"]), (newer.name, "wrong <results>"))
        self.assert_ran(pip_install(self.farm, "pip-new", self.folder / "any", "yanked"))
        self.assertEqual(installed_value("pip-new", self.folder / "any", "yanked"), "10")
        self.assert_ran(pip_install(self.farm, "pip-new", self.folder / "exact", "yanked==1.1"), "wrong <results>")
        self.assertEqual(installed_value("pip-new", self.folder / "exact", "yanked"), "11")
        self.act("unyank", INDEX, newer.name)
        self.assertFalse(self.page("yanked")["files"][1]["yanked"])
        self.farm.check_tree()

    def test_a_deleted_file_is_gone_and_its_name_is_never_used_again(self):
        kept = self.upload("deleted", "1.0")
        gone = self.upload("deleted", "1.1")
        self.act("delete", INDEX, gone.name, "--reason", "built from the wrong tag")
        self.assertEqual(self.names("deleted"), [kept.name])
        self.assertEqual((self.status_of(gone), self.status_of(gone, suffix=".metadata"), self.status_of(kept)), (404, 404, 200))
        for value in (1, 2):  # the same bytes and others
            again = Wheel("deleted", "1.1", value=value).write(self.folder)
            self.assert_refused(RawUpload(self.farm, self.token, again), 400, "upload.name_was_deleted", "previously used")
        self.assertIn("it was so already", self.act("delete", INDEX, gone.name, "--reason", "again"))
        self.assert_failed(self.command("delete", INDEX, "nothing-1.0-py3-none-any.whl", "--reason", "x"), "no such file")
        self.farm.check_tree()

    def test_a_quarantined_file_is_neither_shown_nor_served_until_it_is_released(self):
        wheel = self.upload("suspect")
        self.act("quarantine", INDEX, wheel.name, "--reason", "looks odd")
        self.assertEqual(self.names("suspect"), [])
        self.assertEqual((self.status_of(wheel), self.status_of(wheel, suffix=".metadata")), (404, 404))
        other = Wheel("suspect", value=2).write(self.folder)
        self.assert_refused(RawUpload(self.farm, self.token, other), 409, "upload.name_taken")
        self.act("release", INDEX, wheel.name, "--reason", "looked through it")
        self.assertEqual(self.names("suspect"), [other.name])
        self.assertEqual(self.farm.files("suspect")[wheel.name]["size"] > 0, True)
        self.farm.check_tree()

    def test_a_projects_status_has_its_effects_on_uploads_pages_and_files(self):
        wheel = self.upload("settled", "1.0")
        for status, takes_uploads, offers in (("archived", False, True), ("quarantined", False, False),
                                              ("deprecated", True, True), ("active", True, True)):
            with self.subTest(status=status):
                self.act("status", INDEX, "Settled", status, "--reason", "see seven")
                page = self.page("settled")
                self.assertEqual(page["project-status"], {"status": status, "reason": "see seven"})
                self.assertEqual(wheel.name in self.names("settled"), offers)
                self.assertEqual(self.status_of(wheel), 200 if offers else 404)
                version = {"archived": "2.0", "quarantined": "2.1", "deprecated": "2.2", "active": "2.3"}[status]
                upload = RawUpload(self.farm, self.token, Wheel("settled", version).write(self.folder))
                if takes_uploads:
                    self.assertEqual(upload.send()[0], 200)
                else:
                    self.assert_refused(upload, 403, "upload.project_closed", "settled")
        self.farm.check_tree()

    def test_a_promoted_file_is_in_both_indexes_without_a_copy(self):
        wheel = self.upload("promoted")
        self.act("promote", INDEX, wheel.name, "--to", STABLE)
        self.assertEqual(self.names("promoted", STABLE), [wheel.name])
        sha256 = sha256_of(wheel)
        paths = [self.farm.tree / index / "files" / sha256[:2] / sha256 / wheel.name for index in (INDEX, STABLE)]
        self.assertEqual(paths[0].stat().st_ino, paths[1].stat().st_ino)
        self.act("delete", INDEX, wheel.name, "--reason", "it is in stable")
        self.assertEqual((self.status_of(wheel), self.status_of(wheel, STABLE)), (404, 200))
        self.assert_failed(self.command("promote", INDEX, wheel.name, "--to", "nowhere"), "no index of this name")

    def test_a_command_does_over_http_what_it_does_on_the_data_folder(self):
        wheel = self.upload("remote")
        token_file = self.folder / "token"
        made = self.act("token", "create", "--name", "releaser", "--index", "*", "--action", "*", "--json")
        token_file.write_text(json.loads(made)["token"])

        def remote(*words: str) -> subprocess.CompletedProcess:
            return self.farm.run("wheelyard-registry", *words, "--url", self.farm.url, "--token-file", token_file)

        self.assert_ran(remote("yank", INDEX, wheel.name, "--reason", "slow"), "done, serial")
        self.assertEqual(self.page("remote")["files"][0]["yanked"], "slow")
        self.assert_ran(remote("yank", INDEX, wheel.name, "--reason", "slow"), "it was so already")
        self.assert_ran(remote("promote", INDEX, wheel.name, "--to", STABLE))
        self.assertEqual(self.names("remote", STABLE), [wheel.name])
        self.assert_ran(remote("status", INDEX, "remote", "archived", "--reason", "over"))
        self.assert_ran(remote("delete", INDEX, wheel.name, "--reason", "wrong"))
        self.assertEqual((self.names("remote"), self.status_of(wheel), self.status_of(wheel, STABLE)), ([], 404, 200))
        self.assert_failed(remote("yank", INDEX, wheel.name, "--reason", "slow"), "no such file")
        self.assert_ran(remote("gc", "--dry-run"), "would remove 0 blobs")
        kinds = [json.loads(line)["kind"] for line in self.act("audit", "--project", "remote", "--json").splitlines()]
        self.assertEqual(kinds, ["file_added", "file_yanked", "file_promoted", "project_status_changed", "file_deleted"])
        lines = [json.loads(line) for line in self.act("audit", "--project", "remote", "--json").splitlines()]
        self.assertEqual({line["actor"] for line in lines[1:]}, {"releaser"})
        self.assertNotIn(token_file.read_text(), self.farm.log.read_text())

    def test_retention_keeps_the_newest_of_each_series_and_what_is_pinned(self):
        wheels = {version: self.upload("nightly", version) for version in ("1.0", "1.0.1", "1.0.2", "1.1")}
        self.act("pin", INDEX, wheels["1.0"].name)
        self.assertIn("would delete 1 files", self.act("retain", INDEX, "--project", "nightly", "--keep", "1", "--dry-run"))
        self.assertEqual(len(self.names("nightly")), 4)
        self.act("retain", INDEX, "--project", "nightly", "--keep", "1")
        self.assertEqual(self.names("nightly"), [wheels[version].name for version in ("1.0", "1.0.2", "1.1")])
        self.assert_failed(self.command("delete", INDEX, wheels["1.0"].name, "--reason", "x"), "pinned")

    def test_the_audit_log_says_who_did_what_and_why(self):
        wheel = self.upload("audited")
        self.act("yank", INDEX, wheel.name, "--reason", "slow")
        lines = [json.loads(line) for line in self.act("audit", "--project", "Audited", "--json").splitlines()]
        self.assertEqual([(line["kind"], line["reason"]) for line in lines], [("file_added", ""), ("file_yanked", "slow")])
        self.assertEqual(lines[0]["actor"], "tests")
        self.assertRegex(lines[1]["actor"], r"^local:\w+$")
        self.assertIn("file_yanked", self.act("audit", "--filename", wheel.name))

    def test_flipped_bits_are_isolated_and_put_right_from_a_backup_that_was_made_while_serving(self):
        good = self.upload("healthy")
        bad = self.upload("flipped")
        backup = self.folder / "backup"
        self.act("backup", str(backup))
        blob = self.farm.data / "blobs" / "sha256" / sha256_of(bad)[:2] / sha256_of(bad)
        blob.chmod(0o644)
        with open(blob, "r+b") as file:
            file.seek(100)
            byte = file.read(1)
            file.seek(100)
            file.write(bytes([byte[0] ^ 1]))
        done = self.command("verify", "--json")
        self.assertEqual(done.returncode, 1)
        report = json.loads(done.stdout)
        self.assertEqual([(fault["code"], fault["subject"]) for fault in report["faults"]], [("damaged", sha256_of(bad))])
        self.assertEqual((self.names("flipped"), self.status_of(bad), self.status_of(good)), ([], 404, 200))
        self.farm.check_tree()
        self.assert_failed(self.command("release", INDEX, bad.name, "--reason", "?"), "missing or damaged")
        shutil.copy(backup / "blobs" / "sha256" / blob.parent.name / blob.name, blob)
        self.act("release", INDEX, bad.name, "--reason", "restored")
        self.assertEqual(self.status_of(bad), 200)
        self.assertIn("0 faults", self.act("verify", "--quiet"))

        (self.folder / "second").mkdir()
        second = Farm(self.indexes, folder=self.folder / "second")
        self.addCleanup(second.__exit__)
        self.assert_ran(self.farm.run("wheelyard-registry", "restore", backup, second.data))
        second.start()
        self.assertEqual(second.files("flipped")[bad.name]["hashes"]["sha256"], sha256_of(bad))
        second.check_tree()


class KilledCommandsTest(unittest.TestCase):
    """Each command is traced once; then, for each call that changes the disk, one is killed as it enters exactly that call."""

    @classmethod
    def setUpClass(cls):
        if shutil.which("strace") is None:
            raise AssertionError("strace is not installed: scripts/install-deps --test")
        # In memory where there is such a folder: what a disk takes for hundreds of fsyncs is not the question here.
        folder = Path(tempfile.mkdtemp(prefix="wheelyard-kills-", dir="/dev/shm" if os.access("/dev/shm", os.W_OK) else None))
        cls.addClassCleanup(shutil.rmtree, folder, ignore_errors=True)
        cls.farm = Farm((INDEX, STABLE), folder=folder)
        cls.addClassCleanup(cls.farm.__exit__)
        token = cls.farm.create_token()
        cls.farm.start()
        wheels = cls.farm.folder / "wheels"
        cls.kept = Wheel("six", "1.0").write(wheels)
        cls.target = Wheel("six", "1.1").write(wheels)
        for wheel in (cls.kept, cls.target):
            assert RawUpload(cls.farm, token, wheel).send()[0] == 200
        cls.farm.stop()
        cls.orphans = [hashlib.sha256(text).hexdigest() for text in (b"one", b"two")]
        for text, sha256 in zip((b"one", b"two"), cls.orphans):
            path = cls.farm.data / "blobs" / "sha256" / sha256[:2] / sha256
            path.parent.mkdir(exist_ok=True)
            path.write_bytes(text)
            os.utime(path, (LONG_AGO, LONG_AGO))
        cls.saved = cls.farm.folder / "saved"
        shutil.copytree(cls.farm.data, cls.saved)

    def put_back(self):
        shutil.rmtree(self.farm.data)
        shutil.copytree(self.saved, self.farm.data)  # with the times of files

    def run_command(self, words: tuple[str, ...], *strace: str) -> subprocess.CompletedProcess:
        wrapper = ["strace", "-f", "-qq", *strace] if strace else []
        return subprocess.run([*wrapper, BIN / "wheelyard-registry", *words, "--config", self.farm.config],
                              env=self.farm.environment | WITHOUT_LEAK_CHECK, capture_output=True, text=True,
                              timeout=COMMAND_TIMEOUT_S)

    def steps_of(self, words: tuple[str, ...], calls: tuple[str, ...]) -> list[tuple[str, int]]:
        """(call, its number among the calls of this name), in the order in which they happen."""
        self.put_back()
        log = self.farm.folder / "strace.log"
        done = self.run_command(words, "-o", str(log), "-e", "trace=" + ",".join(calls))
        self.assertEqual(done.returncode, 0, done.stderr)
        counted: Counter = Counter()
        steps = []
        for match in re.finditer(r"^\d+\s+(\w+)\(", log.read_text(), re.MULTILINE):
            counted[match[1]] += 1
            steps.append((match[1], counted[match[1]]))
        return steps

    def rows(self) -> dict[tuple[str, str], tuple[str, str, int]]:
        """What the catalog says: (index, filename) → (sha256, METADATA's sha256, yanked)."""
        with sqlite3.connect(self.farm.data / "catalog.sqlite") as catalog:
            rows = catalog.execute("SELECT index_name, filename, sha256, metadata_sha256, yanked FROM file").fetchall()
        catalog.close()
        return {(row[0], row[1]): row[2:] for row in rows}

    def shown(self, index: str) -> dict[str, dict]:
        """What a reader of the tree sees; every link must lead to the bytes that it promises."""
        page = self.farm.tree / index / "simple" / "six" / "index.json"
        if not page.exists():
            return {}
        files = {entry["filename"]: entry for entry in json.loads(page.read_text())["files"]}
        for entry in files.values():
            self.assertEqual(sha256_of(page.parent / entry["url"]), entry["hashes"]["sha256"])
        return files

    def assert_old_or_new(self, is_new) -> bool:
        """Catalog and tree are each wholly old or wholly new, the tree never ahead; every row has its bytes. True: all new."""
        rows = self.rows()
        for sha256, metadata, _ in rows.values():
            for blob in (sha256, metadata):
                self.assertEqual(sha256_of(self.farm.data / "blobs" / "sha256" / blob[:2] / blob), blob)
        catalog_is_new = is_new(rows, None)
        tree_is_new = is_new(None, self.shown)
        self.assertFalse(tree_is_new and not catalog_is_new, "the pages show what no catalog holds")
        return catalog_is_new and tree_is_new

    def kill_everywhere(self, words: tuple[str, ...], is_new, calls: tuple[str, ...] = OWN_CALLS):
        steps = self.steps_of(words, calls)
        self.assertTrue(self.assert_old_or_new(is_new), "the traced command changed nothing")
        self.assertTrue({call for call, _ in steps} & {"fsync", "fdatasync"}, steps)
        old = new = 0
        for call, number in steps:
            with self.subTest(call=call, number=number):
                self.put_back()
                killed = self.run_command(words, "-o", "/dev/null", "-e", f"trace={call}",
                                          "-e", f"inject={call}:signal=KILL:when={number}")
                self.assertNotEqual(killed.returncode, 0, "this run did not come to the step that the traced one took")
                if self.assert_old_or_new(is_new):
                    new += 1
                else:
                    old += 1
                again = self.run_command(words)
                self.assertEqual(again.returncode, 0, again.stderr)
                self.assertTrue(self.assert_old_or_new(is_new))
                leftovers = [path for path in self.farm.tree.rglob("*.aside.*")] + list((self.farm.data / "staging").iterdir())
                self.assertEqual(leftovers, [])
        self.farm.check_tree()
        print(f"({words[0]}: {len(steps)} steps, {old} left the old state or a part of the way, {new} the new one)", end=" ",
              flush=True)

    def test_yank(self):
        def is_new(rows, shown):
            if rows is not None:
                return rows[INDEX, self.target.name][2] == 1
            return shown(INDEX)[self.target.name]["yanked"] == "slow"
        self.kill_everywhere(("yank", INDEX, self.target.name, "--reason", "slow"), is_new)

    def test_delete(self):
        def is_new(rows, shown):
            if rows is not None:
                return (INDEX, self.target.name) not in rows
            sha256 = sha256_of(self.target)
            return (self.target.name not in shown(INDEX)
                    and not (self.farm.tree / INDEX / "files" / sha256[:2] / sha256).exists())
        self.kill_everywhere(("delete", INDEX, self.target.name, "--reason", "wrong"), is_new, ALL_CALLS)

    def test_promote(self):
        def is_new(rows, shown):
            if rows is not None:
                return (STABLE, self.target.name) in rows
            return self.target.name in shown(STABLE)
        self.kill_everywhere(("promote", INDEX, self.target.name, "--to", STABLE), is_new)

    def test_gc(self):
        def is_new(rows, shown):
            if shown is not None:
                self.assertEqual(len(shown(INDEX)), 2)
            return self.collected()
        self.kill_everywhere(("gc", "--grace", "1h"), is_new)

    def collected(self) -> bool:
        return not any((self.farm.data / "blobs" / "sha256" / sha256[:2] / sha256).exists() for sha256 in self.orphans)


if __name__ == "__main__":
    main()
