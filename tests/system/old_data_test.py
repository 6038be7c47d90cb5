"""Programs of today with the data of an earlier version: nothing of it is lost, what was half done goes on to its end, and a program
refuses what a later version wrote, by name and with what to do. The data: tests/old_data."""

import http.client
import json
import shutil
import sqlite3
import subprocess
import tempfile
import time
from pathlib import Path

from support import old_data
from support.case import FarmCase, main
from support.farm import BIN, COMMAND_TIMEOUT_S
from support.old_data import OLD_URL, bearer
from support.site import PYTHON_VERSION

WAIT_S = 240
LEASES_ENDED = {"claimed": "queued"}  # they lasted for a minute


class OldDataCase(FarmCase):
    """One copy of the data for all tests of a class."""

    @classmethod
    def setUpClass(cls):
        cls.was = old_data.expected()
        cls.folder_of_data = Path(tempfile.mkdtemp(prefix="wheelyard-old-data-"))
        cls.addClassCleanup(shutil.rmtree, cls.folder_of_data, ignore_errors=True)
        old_data.unpack(cls.folder_of_data)
        cls.farm = old_data.farm_in(cls.folder_of_data)  # writes registry.toml again, for a port of its own
        cls.addClassCleanup(cls.farm.__exit__)
        cls.refused = old_data.put_printed_tables(cls.farm)

    def assert_kept(self, found, was, where: str = ""):
        """Each recorded member is there with its value; later versions may add members."""
        if isinstance(was, dict) and isinstance(found, dict):
            for name, value in was.items():
                self.assertIn(name, found, where)
                self.assert_kept(found[name], value, f"{where}/{name}")
        elif isinstance(was, list) and isinstance(found, list) and len(found) == len(was):
            for at, value in enumerate(was):
                self.assert_kept(found[at], value, f"{where}/{at}")
        elif where.endswith("/_last-serial"):  # a rule that a later version reads from the file is an event
            self.assertGreaterEqual(found, was, where)
        else:
            self.assertEqual(found, was, where)


class StoreTest(OldDataCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.farm.start()
        cls.everything = cls.was["tokens"]["everything"]

    def test_an_index_that_a_command_made_is_told_to_be_put_into_the_file(self):
        self.assert_failed(self.refused, "Commands of an earlier version made or changed indexes", "put the [[index]] tables")
        self.assertRegex(self.refused.stdout, rf'^\[\[index\]\]\nname = "{old_data.LATE}"\n')
        self.assertEqual(self.refused.stdout.count("[[index]]"), 1)  # the file has the others

    def test_every_page_and_file_is_served_as_it_was(self):
        deadline = time.monotonic() + WAIT_S  # the web UI comes after the start, one index after the other
        for path in (path for path, was in self.was["pages"]["people"].items() if isinstance(was, dict)):
            path = path.replace("/search.json", "/search.name=.json")  # the data has a search.json of its time
            while self.farm.get(path, headers=old_data.bearer(self.everything))[0] != 200:
                self.assertLess(time.monotonic(), deadline, path)
                time.sleep(0.05)  # nothing announces it
        found = old_data.look_at_pages(self.farm, self.everything)
        self.assertGreater(len(self.was["pages"]["files"]), 30)
        for part, was in self.was["pages"].items():
            self.assertEqual(sorted(found[part]), sorted(was))
            for path, page in was.items():
                now = found[part][path]
                if part == "json":
                    now, page = old_data.from_root(now, path), old_data.from_root(page, path)
                elif path.endswith("/search.json") and isinstance(page, dict):
                    # The files are others since, and have no project that offers no file.
                    page = {"projects": [project for project in page["projects"] if project[1]]}
                self.assert_kept(now, page, f"{part}{path}")

    def test_what_was_hidden_is_hidden(self):
        self.assertEqual(old_data.look_at_refusals(self.farm, list(self.was["hidden"])), self.was["hidden"])
        self.assertEqual({status for status in self.was["hidden"].values()}, {401, 404})

    def test_every_event_row_and_token_is_in_the_catalog(self):
        found = [json.dumps(line, sort_keys=True) for line in old_data.look_at_dump(self.farm)]
        rows = [json.loads(line) for line in found]
        self.assertGreater(len(self.was["dump"]), 40)
        for line in self.was["dump"]:
            line.pop("decided_by", None)  # of the list of indexes: the file decides
            if json.dumps(line, sort_keys=True) in found:
                continue
            close = [row for row in rows if row.items() >= {name: value for name, value in line.items() if not isinstance(value, dict)}.items()]
            self.assertEqual(len(close), 1, line)
            self.assert_kept(close[0], line)

    def test_tokens_work_or_are_refused_as_before(self):
        statuses = {who: old_data.ask_who(self.farm, self.was["tokens"][who]) for who in self.was["statuses"]}
        self.assertEqual(statuses, self.was["statuses"])
        self.assertEqual(statuses, {"reader": 200, "revoked": 401, "expired": 401})

    def test_tasks_logs_and_requests_are_as_they_were_and_leases_have_ended(self):
        found = old_data.look_at_tasks(self.farm, self.farm.folder / "anna.token")
        self.assertEqual({task["row"]["state"] for task in self.was["tasks"].values()},
                         {"queued", "claimed", "done", "failed", "cancelled", "awaits_approval"})
        for name, task in self.was["tasks"].items():
            state = task["row"]["state"]
            for part in ("row", "shown"):
                was = dict(task[part], state=LEASES_ENDED.get(state, state))
                was.pop("log_bytes")  # the log is that of its build
                if state == "claimed":  # its reason and times are those of the end
                    was = {key: value for key, value in was.items() if key not in ("changed", "reason", "lease_until")}
                self.assert_kept(found[name][part], was, name)
            self.assertEqual(found[name]["log"], task["log"])

    def test_what_an_upstream_supplied_is_served_without_it(self):
        self.assert_kept(old_data.look_at_upstream(self.farm), self.was["upstream"])

    def test_store_and_trees_are_whole(self):
        self.assert_ran(self.farm.run("wheelyard-registry", "verify", "-c", self.farm.config))
        for tree in ("public", "private"):
            self.assert_ran(self.farm.run("wheelyard-indexer", "check", "--to", self.farm.data / tree))
        self.assert_ran(self.farm.run("wheelyard-indexer", "check", "--to", self.farm.folder / "followed"))

    def test_event_logs_that_nothing_reads_any_more_are_gone(self):
        self.assertTrue(list(self.farm.data.glob("public/*/simple")))
        self.assertEqual(list(self.farm.data.glob("p*/*/events")), [])

    def test_a_backup_is_restored(self):
        self.assert_ran(self.farm.run("wheelyard-registry", "restore", self.farm.folder / "backup", self.folder / "data"))
        config = self.folder / "registry.toml"
        config.write_text(self.farm.config.read_text())
        self.assert_ran(self.farm.run("wheelyard-registry", "verify", "-c", config))

    def test_avail_wheels_lists_what_it_keeps_while_the_index_does_not_answer(self):
        done = old_data.list_wheels(self.farm)  # nothing listens at the old address
        self.assert_ran(done)
        self.assert_kept(json.loads(done.stdout), self.was["wheels"])

    def test_the_governor_reads_its_history(self):
        done = self.farm.run("wheelyard-governor", "history", "show", "--history", self.farm.folder / "governor/history")
        self.assert_ran(done)
        self.assertEqual(done.stdout, self.was["governor"])


class HalfDoneTest(OldDataCase):
    """An upload, and four attempts of two agents: each goes on where it was."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.farm.start()
        for name in cls.was["attempts"]:
            old_data.replace_everywhere(cls.farm.folder / name, cls.was["folder"], str(cls.folder_of_data))
            old_data.replace_everywhere(cls.farm.folder / name, OLD_URL, cls.farm.url)
            old_data.replace_everywhere(cls.farm.folder / name, cls.was["programs"] + "/", f"{BIN}/")  # scripts start the governor

    def test_a_resumable_upload_goes_on_from_the_byte_that_was_acknowledged(self):
        half = self.was["upload"]
        connection = http.client.HTTPConnection("127.0.0.1", self.farm.port, timeout=COMMAND_TIMEOUT_S)
        self.addCleanup(connection.close)
        connection.request("HEAD", half["address"], headers=bearer(self.was["tokens"]["author"]))
        answer = connection.getresponse()
        answer.read()
        self.assertEqual((answer.status, int(answer.headers["Upload-Offset"])), (204, half["offset"]))
        connection.request("PATCH", half["address"], bytes.fromhex(half["rest"]), bearer(self.was["tokens"]["author"]) | {
            "Upload-Offset": str(half["offset"]), "Content-Type": "application/octet-stream"})
        answer = connection.getresponse()
        self.assertEqual(answer.status, 200, answer.read())
        self.assertEqual(self.farm.files("yard-half")[half["filename"]]["hashes"]["sha256"], half["sha256"])

    def builder(self, site: str, command: str, *arguments: str) -> subprocess.CompletedProcess:
        return subprocess.run([BIN / "wheelyard-builder", command, "--site", self.farm.folder / site / "site.toml", *arguments],
                              env=self.farm.environment | {"PIP_INDEX_URL": f"{OLD_URL}/gone/simple/"}, capture_output=True, text=True,
                              timeout=COMMAND_TIMEOUT_S)

    def attempts(self, site: str) -> dict[str, dict]:
        done = self.builder(site, "status", "--json")
        self.assert_ran(done)
        return {attempt["id"]: attempt for attempt in json.loads(done.stdout)["attempts"]}

    def test_the_journal_is_read_and_what_is_half_done_ends_and_nothing_is_built_twice(self):
        if self.was["python"] != PYTHON_VERSION:
            self.skipTest(f"the agent of the data builds for Python {self.was['python']}; this machine has {PYTHON_VERSION}")
        states = {}
        for site, attempts in self.was["attempts"].items():
            found = self.attempts(site)
            for was in attempts:
                states[was["id"]] = was["state"]
                self.assert_kept(found[was["id"]], json.loads(json.dumps(was).replace(self.was["folder"], str(self.folder_of_data))))
        self.assertEqual(set(states.values()), {"done", "failed", "prepared", "submitting", "running", "uploading"})

        for site, attempts in self.was["attempts"].items():
            done = self.builder(site, "run")
            found = self.attempts(site)
            self.assertEqual(sorted(found), sorted(was["id"] for was in attempts), done.stdout + done.stderr)
            for was in attempts:
                now = found[was["id"]]
                self.assertEqual(now["state"], "failed" if was["state"] == "failed" else "done", f"{now}\n{done.stdout}\n{done.stderr}")
                if was["state"] not in ("prepared", "submitting"):  # their jobs had not begun
                    self.assertEqual(now["job"]["submits"], was["job"]["submits"])
                if was["state"] == "uploading":
                    self.assertEqual(now["wheel"]["sha256"], was["wheel"]["sha256"])
        for package in ("yard-pure", "yard-fast", "yard-waits", "yard-ended", "yard-prepared"):
            self.assertEqual(len(self.farm.files(package)), 1, package)
        task, = (task["row"] for task in self.was["tasks"].values() if task["row"]["package"] == "yard-claims")
        now = old_data.look_at_tasks(self.farm, self.farm.folder / "anna.token")[task["id"]]
        self.assertEqual((now["row"]["state"], now["shown"]["outcome"]["result"]), ("done", "done"))


class EnrolledTest(FarmCase):
    """An agent that had enrolled, with a task that it has claimed: it renews its token, and goes on."""

    @classmethod
    def setUpClass(cls):
        cls.folder_of_data = Path(tempfile.mkdtemp(prefix="wheelyard-old-data-"))
        cls.addClassCleanup(shutil.rmtree, cls.folder_of_data, ignore_errors=True)
        old_data.unpack(cls.folder_of_data, old_data.ENROLLED)
        cls.was = json.loads((cls.folder_of_data / "expected.json").read_text())
        cls.farm = old_data.farm_in(cls.folder_of_data)
        cls.addClassCleanup(cls.farm.__exit__)
        old_data.put_printed_tables(cls.farm)
        cls.farm.start()
        for old, new in ((cls.was["folder"], str(cls.folder_of_data)), (cls.was["url"], cls.farm.url), (cls.was["programs"] + "/", f"{BIN}/")):
            old_data.replace_everywhere(cls.farm.folder / "enrolled", old, new)

    def builder(self, *words: str) -> subprocess.CompletedProcess:
        return subprocess.run([BIN / "wheelyard-builder", *words, "--site", self.farm.folder / "enrolled/site.toml"], capture_output=True, text=True,
                              env=self.farm.environment | {"PIP_INDEX_URL": f"{OLD_URL}/gone/simple/"}, timeout=COMMAND_TIMEOUT_S)

    def test_it_renews_and_builds_what_it_had_claimed(self):
        if self.was["python"] != PYTHON_VERSION:
            self.skipTest(f"the agent of the data builds for Python {self.was['python']}; this machine has {PYTHON_VERSION}")
        done = self.builder("run")
        self.assert_ran(done)
        self.assertNotEqual((self.farm.folder / "enrolled/token").read_text().strip(), self.was["token"])
        for package in ("yard-asked", "yard-claims"):
            self.assertEqual(len(self.farm.files(package, old_data.STAGING)), 1, package + done.stdout + done.stderr)
        states = {task["row"]["package"]: task["row"]["state"] for task in old_data.look_at_tasks(self.farm, self.farm.folder / "anna.token").values()}
        self.assertEqual(states, {"yard-asked": "done", "yard-flop": "failed", "yard-claims": "done", "yard-next": "queued"})


class NewerDataTest(OldDataCase):
    """The same data with the number of a later version in each format: what a program says that is older than its data."""

    def copy(self, *parts: str) -> Path:
        for part in parts:
            source = self.farm.folder / part
            if source.is_dir():
                shutil.copytree(source, self.folder / part, symlinks=True)
            else:
                shutil.copyfile(source, self.folder / part)
        return self.folder

    def change(self, file: Path, old: str, new: str) -> str:
        """The file's text, in which `new` now stands."""
        text = file.read_text()
        self.assertIn(old, text)
        file.write_text(text.replace(old, new))
        return file.read_text()

    def assert_serve_refuses(self, database: str, name: str):
        config = self.copy("data", "registry.toml") / "registry.toml"
        with sqlite3.connect(self.folder / "data" / database) as changed:
            changed.execute("PRAGMA user_version = 999")
        changed.close()
        done = self.farm.run("wheelyard-registry", "serve", "-c", config, "--ready-file", self.folder / "ready", timeout=WAIT_S)
        self.assert_failed(done, f"The {name} was written by a newer program", "schema version 999")
        self.assertRegex(done.stderr, r"this program knows versions up to \d+: upgrade it")

    def test_a_newer_catalog_is_not_served(self):
        self.assert_serve_refuses("catalog.sqlite", "catalog")

    def test_a_newer_task_queue_is_not_served(self):
        self.assert_serve_refuses("tasks.sqlite", "task queue")

    def test_a_newer_published_tree_is_not_written(self):
        state = self.copy("data", "registry.toml") / "data/public/.wheelyard/published.json"
        migrated = self.farm.run("wheelyard-registry", "token", "list", "-c", self.folder / "registry.toml")
        self.assert_ran(migrated)
        text = self.change(state, "wheelyard.published/2", "wheelyard.published/3")
        done = self.farm.run("wheelyard-indexer", "publish", "--store", self.folder / "data", "--to", self.folder / "data/public")
        self.assert_failed(done, "Unsupported format of the tree's published.json", "wheelyard.published/3", "use the version that wrote it")
        self.assertEqual(state.read_text(), text)

    def test_a_newer_journal_starts_nothing(self):
        site = self.copy("site") / "site"
        file = sorted((site / "state/attempts").glob("*.json"))[0]
        text = self.change(file, "wheelyard.attempt/1", "wheelyard.attempt/2")
        before = sorted(path.name for path in (site / "state/attempts").iterdir())
        for command in ("status", "tick"):
            done = subprocess.run([BIN / "wheelyard-builder", command, "--site", site / "site.toml"], env=self.farm.environment,
                                  capture_output=True, text=True, timeout=COMMAND_TIMEOUT_S)
            self.assert_failed(done, "The format of a journal file is not wheelyard.attempt/1", "wheelyard.attempt/2", str(file),
                               "use the version of wheelyard-builder that wrote it")
        self.assertEqual(file.read_text(), text)
        self.assertEqual(sorted(path.name for path in (site / "state/attempts").iterdir()), before)

    def test_a_newer_history_is_left_as_it_is_and_the_build_runs(self):
        history = self.copy("governor") / "governor/history"
        text = self.change(history, "wheelyard.governor-history/1", "wheelyard.governor-history/2")
        (self.folder / "a.c").write_text("int a;\n")
        (self.folder / "Makefile").write_text("a.o:\n")
        done = self.farm.run("wheelyard-governor", "--history", history, "--", "make", cwd=self.folder)
        self.assert_ran(done, "The history was written by another version of the governor", "wheelyard.governor-history/2", "name another file")
        self.assertTrue((self.folder / "a.o").exists())
        self.assertEqual(history.read_text(), text)
        self.assertEqual(sorted(path.name for path in history.parent.iterdir() if not path.name.endswith(".lock")), ["history"])


if __name__ == "__main__":
    main()
