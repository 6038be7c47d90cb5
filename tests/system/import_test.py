"""`wheelyard-registry import`: a real wheel of the Python Package Index from an index and from a folder into a running farm, its hash
held against what was said; what cannot be proven is refused before anything is kept."""

import json
import os
import signal
import subprocess
import threading
import time
from pathlib import Path

from support.case import FarmCase, main
from support.farm import BIN, CLIENTS, COMMAND_TIMEOUT_S, INDEX
from support.package_index import PackageIndex
from support.wheels import Wheel, sha256_of


class ImportTest(FarmCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.sources = cls.enterClassContext(PackageIndex(cls.farm.folder / "sources"))
        [cls.real] = (CLIENTS / "wheels").glob("packaging-*.whl")

    def run_import(self, *words: str, source: str = "", environment: dict | None = None):
        place = ("--from", source) if source else ()
        return self.farm.run("wheelyard-registry", "import", "-c", self.farm.config, INDEX, *words, *place,
                             environment=self.farm.environment | (environment or {}))

    def made(self, name: str, **more) -> Wheel:
        """A wheel of a test's own in the sources."""
        wheel = Wheel(name, **more)
        wheel.write(self.sources.folder)
        return wheel

    def test_a_real_wheel_comes_from_the_index_that_pip_takes_and_a_second_time_nothing_is_fetched(self):
        done = self.run_import(self.real.name, "--json", environment=self.sources.pip_environment)
        self.assert_ran(done)
        [wheel] = json.loads(done.stdout)["wheels"]
        self.assertEqual((wheel["sha256"], wheel["size"], wheel["state"], wheel["already_there"]),
                         (sha256_of(self.real), self.real.stat().st_size, "active", False))
        self.assertEqual((wheel["facts"]["elf_files"], wheel["facts"]["machines"]), (0, []))
        self.assertEqual(self.farm.files("packaging")[self.real.name]["hashes"], {"sha256": sha256_of(self.real)})
        downloads = self.sources.downloads.count(self.real.name)
        again = self.run_import(self.real.name, environment=self.sources.pip_environment)
        self.assert_ran(again, "there already")
        self.assertEqual(self.sources.downloads.count(self.real.name), downloads)
        report = self.farm.run("wheelyard-registry", "audit", "-c", self.farm.config, "--project", "packaging")
        self.assert_ran(report, self.real.name)

    def test_pip_installs_what_was_imported_through_the_running_server(self):
        wheel = self.made("yard-taken")
        self.assert_ran(self.run_import(wheel.filename, "--facts", source=self.sources.url), "imported debian12/")
        done = self.farm.run(CLIENTS / "pip-new" / "bin" / "python", "-m", "pip", "install", "--index-url",
                             self.farm.simple_url(), "--target", str(self.folder / "into"), "yard-taken")
        self.assert_ran(done)
        self.assertTrue((self.folder / "into" / "yard_taken" / "__init__.py").exists())
        self.farm.check_tree()

    def test_a_folder_as_it_is_goes_into_a_store_that_init_just_made(self):
        fresh = self.folder / "fresh"
        self.assert_ran(self.farm.run("wheelyard-registry", "init", fresh))
        config = fresh / "registry.toml"
        config.write_text(config.read_text().replace("127.0.0.1:8080", "127.0.0.1:0"))
        for project in ("yard_one", "yard_two"):
            Wheel(project).write(self.folder / "dist")
        (self.folder / "nothing").mkdir()
        without_pip = self.farm.environment | {"PATH": str(self.folder / "nothing")}
        self.assert_failed(self.farm.run("wheelyard-registry", "import", "main", self.folder / "nothing", "-c", config,
                                         environment=without_pip), "The folder contains no wheels", "folders inside it are not read")
        done = self.farm.run("wheelyard-registry", "import", "main", self.folder / "dist", "-c", config, environment=without_pip)
        self.assert_ran(done, "imported main/yard_one", "imported main/yard_two")
        self.assertTrue((fresh / "data/public/main/simple/yard-two/index.html").exists())
        self.assert_ran(self.farm.run("wheelyard-registry", "serve", "--check", "-c", config), "the configuration is good: 1 index")

    def test_what_is_no_wheel_in_a_folder_is_named_and_the_rest_is_imported(self):
        folder = self.folder / "mixed"
        good, last = Wheel("yard_before"), Wheel("yard_zlast")
        for wheel in (good, last):
            wheel.write(folder)
        (folder / "yard_empty-1.0-py3-none-any.whl").write_bytes(b"")
        (folder / "yard_dangling-1.0-py3-none-any.whl").symlink_to("nowhere")
        (folder / "yard_zeros-1.0-py3-none-any.whl").symlink_to("/dev/zero")
        os.mkfifo(folder / "yard_fifo-1.0-py3-none-any.whl")
        with (folder / "yard_huge-1.0-py3-none-any.whl").open("wb") as huge:
            huge.truncate(2**40)  # reading a TiB of zeros would take longer than the command may
        (folder / "-rf-1.0-py3-none-any.whl").write_bytes(b"x")
        (folder / "yard_esc\x1b[2J-1.0-py3-none-any.whl").write_bytes(b"x")
        bad = 7
        done = self.run_import(str(folder), "--json")
        self.assert_failed(done, f"Some wheels were not imported: `{bad} of {bad + 2}`", "-rf-1.0", "yard_zeros-1.0")
        answer = json.loads(done.stdout)
        self.assertEqual([wheel["filename"] for wheel in answer["wheels"]], [good.filename, last.filename])
        self.assertEqual(len(answer["not_imported"]), bad)
        self.assertEqual({Path(one["wheel"]).name: one["code"] for one in answer["not_imported"]} | {
            "yard_huge-1.0-py3-none-any.whl": "upload.too_large", "yard_fifo-1.0-py3-none-any.whl": "file.not_regular",
            "yard_zeros-1.0-py3-none-any.whl": "file.not_regular"},
            {Path(one["wheel"]).name: one["code"] for one in answer["not_imported"]})

    def test_a_folder_needs_the_hash_and_holds_it_against_the_bytes(self):
        wheel = Wheel("yard-folder")
        path = wheel.write(self.folder)
        self.assert_failed(self.run_import(path.name, source=str(self.folder)), "#sha256=")
        wrong = f"{path.name}#sha256={'0' * 64}"
        self.assert_failed(self.run_import(wrong, source=str(self.folder)), "a different SHA-256", sha256_of(path))
        self.assertEqual(self.farm.files("yard-folder"), {})
        self.assert_ran(self.run_import(f"{path.name}#sha256={sha256_of(path)}", source=str(self.folder)), "imported")
        self.assertIn(path.name, self.farm.files("yard-folder"))

    def test_an_index_whose_pages_lie_in_a_folder_is_one_that_pip_reads_and_import_too(self):
        tree = self.folder / "my wheels"
        for number, (host, way) in enumerate([("", "named"), ("localhost", "named"), ("", "pip's")]):
            with self.subTest(host=host, way=way):
                wheel = Wheel(f"yard-filed{number}")
                path = wheel.write(tree)
                page = tree / "simple" / f"yard-filed{number}" / "index.html"
                page.parent.mkdir(parents=True)
                page.write_text(f'<a href="../../{path.name}#sha256={sha256_of(path)}">{path.name}</a>')
                url = f"file://{host}" + (tree / "simple").as_uri().removeprefix("file://") + "/"
                done = (self.run_import(path.name, source=url) if way == "named" else
                        self.run_import(path.name, environment={"PIP_INDEX_URL": url}))
                self.assert_ran(done, "imported debian12/")
                self.assertEqual(self.farm.files(f"yard-filed{number}")[path.name]["hashes"], {"sha256": sha256_of(path)})
        self.assert_failed(self.run_import("yard_other-1.0-py3-none-any.whl", source=url), "no such project", "file:///")

    def test_an_index_that_sends_other_bytes_than_it_says_is_not_believed(self):
        wheel = self.made("yard-swapped")
        answer = self.sources.answer
        self.addCleanup(setattr, self.sources, "answer", answer)
        self.sources.answer = lambda path: ((200, "application/octet-stream", b"x") if path.startswith("/files/") else answer(path))
        self.assert_failed(self.run_import(wheel.filename, source=self.sources.url), "a different SHA-256")
        self.assertEqual(self.farm.files("yard-swapped"), {})
        self.assertEqual(self.farm.staging_leftovers() + list(self.farm.data.glob("import-*")), [])

    def launch_stalled_import(self, filename: str, *before_it: str) -> subprocess.Popen:
        """An import that waits for bytes which do not come; its folder is there."""
        answer, released = self.sources.answer, threading.Event()

        def stall(path: str):
            if path.startswith("/files/") and path.endswith(filename):
                released.wait()
            return answer(path)
        self.sources.answer = stall
        self.sources.server.handle_error = lambda *_: None  # whom it answers at last was killed
        self.addCleanup(setattr, self.sources, "answer", answer)
        self.addCleanup(released.set)
        before = self.import_folders()
        process = subprocess.Popen([BIN / "wheelyard-registry", "import", "-c", self.farm.config, INDEX, *before_it, filename, "--from",
                                    self.sources.url], env=self.farm.environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        deadline = time.monotonic() + COMMAND_TIMEOUT_S
        while self.import_folders() == before:
            self.assertIsNone(process.poll())
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.02)  # until another process has done something: nothing announces it
        return process

    def import_folders(self) -> set[Path]:
        return set(self.farm.data.glob("import-*"))

    def test_what_a_killed_import_left_goes_with_the_next_import_or_start_and_a_living_ones_stays(self):
        self.made("yard-stalled")
        self.made("yard-killed")
        other = self.made("yard-other")
        living = self.launch_stalled_import("yard_stalled-1.0-py3-none-any.whl")
        [folder] = self.import_folders()
        for clean in (lambda: self.assert_ran(self.run_import(other.filename, source=self.sources.url)),
                      lambda: (self.farm.stop(), self.farm.start())):
            killed = self.launch_stalled_import("yard_killed-1.0-py3-none-any.whl")
            killed.kill()
            killed.wait()
            self.assertEqual(len(self.import_folders()), 2)
            clean()
            self.assertEqual(self.import_folders(), {folder})
        living.kill()
        living.wait()
        self.assert_ran(self.run_import(other.filename, source=self.sources.url), "there already")
        self.assertEqual(self.import_folders(), set())

    def test_an_import_that_is_stopped_leaves_whole_files_and_the_same_command_goes_on(self):
        for number, stop in enumerate((signal.SIGINT, signal.SIGTERM, signal.SIGKILL)):
            project, folder = f"yard-stopped-{number}", self.folder / str(number)
            wheels = {path.name: path for path in (Wheel(project, version=f"1.{n}").write(folder) for n in range(120))}
            command = [BIN / "wheelyard-registry", "import", "-c", self.farm.config, INDEX, folder]
            # It cannot end before the signal: the pipe takes the lines of half of them.
            with subprocess.Popen(command, stdout=subprocess.PIPE, bufsize=0, pipesize=4096, env=self.farm.environment) as process:
                process.stdout.readline()
                process.send_signal(stop)
                process.stdout.read()
            self.assertEqual(process.returncode, -stop)
            before = self.farm.files(project)
            for name, entry in before.items():
                self.assertEqual(self.farm.get(f"/{INDEX}" + entry["url"].removeprefix("../.."))[2], wheels[name].read_bytes())
            done = self.farm.run(*command)
            self.assert_ran(done, "there already")
            self.assertEqual(set(self.farm.files(project)), set(wheels))
            self.assertEqual((self.farm.staging_leftovers(), self.import_folders()), ([], set()))
        self.farm.check_tree()

    def test_what_an_import_committed_is_shown_by_the_running_server_while_the_import_goes_on(self):
        shown = self.made("yard-shown")
        self.made("yard-stalled")
        stalled = self.launch_stalled_import("yard_stalled-1.0-py3-none-any.whl", shown.filename)
        deadline = time.monotonic() + COMMAND_TIMEOUT_S
        while not self.farm.files("yard-shown"):
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.02)  # until another process has done something: nothing announces it
        self.assertIsNone(stalled.poll())

    def test_a_wheel_that_lies_is_refused_as_at_an_upload_and_the_others_stay(self):
        good, liar = self.made("yard-good"), self.made("yard-liar", metadata_name="other")
        done = self.run_import(good.filename, liar.filename, source=self.sources.url)
        self.assert_failed(done, "not imported: ", "yard_liar", "1 of 2")
        self.assertIn(good.filename, self.farm.files("yard-good"))
        self.assertEqual(self.farm.files("yard-liar"), {})

    def test_a_mirror_imports_and_publishes_what_check_only_warns_of(self):
        wheel = Wheel("Yard-Foreign")
        wheel.write(self.folder)
        data = (self.folder / wheel.filename).read_bytes()
        comment = b"zip-rs"  # as maturin 0.9 wrote it
        foreign = self.folder / wheel.filename.replace("yard_foreign", "Yard_Foreign")
        foreign.write_bytes(data[:-2] + len(comment).to_bytes(2, "little") + comment)
        config = self.folder / "mirror.toml"
        config.write_text('config_version = 1\n[store]\ndirectory = "mirror"\n[[index]]\nname = "mirror"\n')
        named = f"{foreign.name}#sha256={sha256_of(foreign)}"

        def run(*words):
            return self.farm.run("wheelyard-registry", *words, environment=self.farm.environment)
        self.assert_ran(run("token", "create", "--name", "importer", "--index", "mirror", "-c", config))  # makes the store
        self.assert_failed(run("import", "-c", config, "mirror", named, "--from", self.folder), "zip.comment")
        config.write_text(config.read_text() + '[index.policy]\npreset = "mirror"\n')
        checked = run("check", foreign, "--policy", "mirror")
        self.assert_ran(checked, "accepted", "filename.not_normalized", "zip.comment")
        self.assert_ran(run("import", "-c", config, "mirror", named, "--from", self.folder), "imported mirror/")
        page = next(self.folder.glob("mirror/**/simple/yard-foreign/index.html")).read_text()
        self.assertIn(foreign.name, page)

    def test_a_name_that_is_taken_keeps_its_bytes(self):
        wheel = self.made("yard-taken-name")
        self.assert_ran(self.run_import(wheel.filename, source=self.sources.url))
        self.made("yard-taken-name", value=2)
        self.assert_failed(self.run_import(wheel.filename, source=self.sources.url), "never changes its bytes")

    def test_what_verify_found_damaged_is_repaired_by_an_import_of_the_same_file(self):
        wheel = self.made("yard-damaged")
        self.assert_ran(self.run_import(wheel.filename, source=self.sources.url))
        sha256 = sha256_of(self.sources.folder / wheel.filename)
        blob = self.farm.data / "blobs" / "sha256" / sha256[:2] / sha256
        blob.chmod(0o644)
        with open(blob, "r+b") as file:
            file.write(b"?")
        self.assertEqual(self.farm.run("wheelyard-registry", "verify", "--restart", "-c", self.farm.config).returncode, 1)
        self.assertEqual(self.farm.files("yard-damaged"), {})
        self.assert_ran(self.run_import(wheel.filename, source=self.sources.url), "there already")
        self.assertEqual(self.farm.files("yard-damaged")[wheel.filename]["hashes"], {"sha256": sha256})
        self.assert_ran(self.farm.run("wheelyard-registry", "verify", "--restart", "-c", self.farm.config))

    def test_an_unknown_name_is_reported_with_similar_ones(self):
        wheel = self.made("yard-near")
        self.assert_failed(self.run_import(wheel.filename.replace("1.0", "1.1"), source=self.sources.url), "did you mean", wheel.filename)
        self.assert_failed(self.run_import("yard_nowhere-1.0-py3-none-any.whl", source=self.sources.url), "no such project")
        self.assert_failed(self.run_import("torch.tar.gz", source=self.sources.url), "torch.tar.gz")
        done = self.farm.run("wheelyard-registry", "import", "-c", self.farm.config, "nowhere", wheel.filename, "--from", self.sources.url)
        self.assert_failed(done, "nowhere", INDEX)


if __name__ == "__main__":
    main()
