"""What happens to files after their upload, with the real programs: commands beside a running server, seen over HTTP. (Disks
that fail under them, and kills: disk_faults_test.py.)
"""

import json
import shutil
import subprocess
from pathlib import Path

from support.case import FarmCase, main
from support.clients import RawUpload, installed_value, pip_install
from support.farm import INDEX, Farm
from support.unmounted import check_unmounted_store
from support.wheels import Wheel, sha256_of

STABLE = "stable"


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

    def test_a_deleted_file_is_gone_and_the_others_stay(self):
        kept = self.upload("deleted", "1.0")
        gone = self.upload("deleted", "1.1")
        self.act("delete", INDEX, gone.name, "--reason", "built from the wrong tag")
        self.assertEqual(self.names("deleted"), [kept.name])
        self.assertEqual((self.status_of(gone), self.status_of(gone, suffix=".metadata"), self.status_of(kept)), (404, 404, 200))
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

    def test_a_set_is_installable_from_staging_and_then_promoted_as_one_change(self):
        torch = Wheel("set-torch", "2.4").write(self.folder)
        needs = ("Requires-Dist: set-torch==2.4",)
        others = [Wheel(name, "2.4", metadata_lines=needs).write(self.folder) for name in ("set-audio", "set-vision")]
        wheels = [torch, *others]
        for wheel in wheels:
            self.assertEqual(RawUpload(self.farm, self.token, wheel).send()[0], 200)
        names = [wheel.name for wheel in wheels]
        staged = pip_install(self.farm, "pip-new", self.folder / "staged", "set-vision", "set-audio", "set-torch")
        self.assert_ran(staged)
        self.assert_failed(self.command("promote", INDEX, *names, "set_nothing-1-py3-none-any.whl", "--to", STABLE), "set_nothing", "no such file")
        self.assertEqual([len(self.farm.files(name, STABLE)) for name in ("set-torch", "set-audio", "set-vision")], [0, 0, 0])
        token_file = self.folder / "token"
        token_file.write_text(json.loads(self.act("token", "create", "--name", "sets", "--index", "*", "--action", "promote", "--json"))["token"])
        done = self.farm.run("wheelyard-registry", "promote", INDEX, *names, "--to", STABLE, "--json", "--url", self.farm.url, "--token-file",
                             token_file)
        self.assert_ran(done)
        self.assertEqual([file["filename"] for file in json.loads(done.stdout)["files"]], names)
        promoted = pip_install(self.farm, "pip-new", self.folder / "users", "set-vision", "set-audio", "set-torch", index=STABLE)
        self.assert_ran(promoted)
        events = [json.loads(line) for line in self.act("audit", "--index", STABLE, "--json").splitlines()]
        self.assertEqual([event["filename"] for event in events if event["filename"] in names], names[::-1])
        self.farm.check_tree()

    def test_a_command_does_over_http_what_it_does_on_the_data_folder(self):
        wheel = self.upload("remote")
        token_file = self.folder / "token"
        made = self.act("token", "create", "--name", "releaser", "--index", "*", "--action", "*", "--json")
        token_file.write_text(json.loads(made)["token"])

        def remote(*words: str) -> subprocess.CompletedProcess:
            return self.farm.run("wheelyard-registry", *words, "--url", self.farm.url, "--token-file", token_file)

        self.assert_ran(remote("yank", INDEX, wheel.name, "--reason", "slow"), "done, serial")
        self.assertEqual(self.page("remote")["files"][0]["yanked"], "slow")
        self.assert_ran(remote("promote", INDEX, wheel.name, "--to", STABLE))
        self.assertEqual(self.names("remote", STABLE), [wheel.name])
        self.assert_ran(remote("status", INDEX, "remote", "archived", "--reason", "over"))
        self.assert_ran(remote("delete", INDEX, wheel.name, "--reason", "wrong"))
        self.assertEqual((self.names("remote"), self.status_of(wheel), self.status_of(wheel, STABLE)), ([], 404, 200))
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

    def test_the_audit_log_says_who_did_what_and_why(self):
        wheel = self.upload("audited")
        self.act("yank", INDEX, wheel.name, "--reason", "slow")
        lines = [json.loads(line) for line in self.act("audit", "--project", "Audited", "--json").splitlines()]
        self.assertEqual([(line["kind"], line["reason"]) for line in lines], [("file_added", ""), ("file_yanked", "slow")])
        self.assertEqual(lines[0]["actor"], "tests")
        self.assertRegex(lines[1]["actor"], r"^local:\w+$")
        self.assertIn("file_yanked", self.act("audit", "--filename", wheel.name))

    def test_flipped_bits_are_hidden_and_put_right_from_a_backup_that_was_made_while_serving(self):
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
        self.assertIn("0 faults", self.act("verify", "--quiet"))
        self.assertEqual(self.status_of(bad), 200)

        (self.folder / "second").mkdir()
        second = self.enterContext(Farm(self.indexes, folder=self.folder / "second"))
        self.assert_ran(self.farm.run("wheelyard-registry", "restore", backup, second.data))
        second.start()
        self.assertEqual(second.files("flipped")[bad.name]["hashes"]["sha256"], sha256_of(bad))
        second.check_tree()

    def test_a_server_with_yesterdays_catalog_lists_what_is_lost_and_takes_uploads(self):
        with Farm() as farm:
            token = farm.create_token()
            kept, lost, newer = (Wheel("days", version).write(self.folder) for version in ("1.0", "2.0", "3.0"))
            farm.start()
            self.assertEqual(RawUpload(farm, token, kept).send()[0], 200)
            farm.stop()
            shutil.copy(farm.data / "catalog.sqlite", self.folder / "yesterday")
            farm.start()
            self.assertEqual(RawUpload(farm, token, lost).send()[0], 200)
            farm.stop()
            farm.start()  # each start notes in the store how far the catalog is
            farm.stop()
            for file in farm.data.glob("catalog.sqlite*"):
                file.unlink()
            shutil.copy(self.folder / "yesterday", farm.data / "catalog.sqlite")
            farm.start()
            self.assertEqual((farm.data / "lost-files.tsv").read_text(), f"{INDEX}\t{sha256_of(lost)}\t{lost.name}\n")
            self.assertEqual(RawUpload(farm, token, newer).send()[0], 200)
            self.assertIn(b"a newer or another copy of this catalog", farm.get("/readyz")[2])
            self.assertEqual(set(farm.files("days")), {kept.name, newer.name})
            farm.wait_for_late_pages()
            self.assert_ran(farm.run("wheelyard-indexer", "check", "--to", farm.tree, "--store", farm.data, "--repair"))
            gc = "wheelyard-registry", "gc", "-c", farm.config
            self.assert_failed(farm.run(*gc), "another history")
            self.assert_ran(farm.run("wheelyard-registry", "store", "adopt", "-c", farm.config))
            self.assert_ran(farm.run(*gc))
            farm.stop()  # a running server looks every minute
            farm.start()
            self.assertEqual(farm.get("/readyz")[0], 200)

    def test_a_second_registry_in_one_folder_of_wheels_is_refused_and_takes_nothing(self):
        wheel = self.upload("owned")
        with Farm() as other:
            other.data.mkdir()
            (other.data / "blobs").symlink_to(self.farm.data / "blobs")
            for command in ("serve", "gc", "verify"):
                self.assert_failed(other.run("wheelyard-registry", command, "-c", other.config), "another registry's", "store adopt")
        self.assertEqual(self.status_of(wheel), 200)

    def test_a_server_whose_folder_of_wheels_is_not_mounted_is_refused_and_leaves_it_empty(self):
        with Farm() as farm:
            token = farm.create_token()
            farm.start()
            check_unmounted_store(self, farm, token)


if __name__ == "__main__":
    main()
