"""What the programs answer to a newcomer's first mistakes: no configuration, a misspelt word, the URL of a front page.

Each answer names the next step and nothing that leads elsewhere.
"""

import os
import pty
import re
import subprocess
from pathlib import Path

from support.case import FarmCase, main
from support.farm import BIN, COMMAND_TIMEOUT_S, INDEX, Farm
from support.few_programs import link_programs
from support.live_tree import paths_in
from support.package_index import FAST_C, PackageIndex, write_sdist
from support.site import Site
from support.terminal import read_all
from support.wheels import Wheel

SYSTEM_CONFIG = Path("/etc/wheelyard/registry.toml")


class FirstHourTest(FarmCase):
    def published(self, prefix: str) -> list[Path]:
        return [path for path in paths_in(self.farm.tree) if path.name.startswith(prefix) and path.suffix == ".whl"]

    def registry(self, *words: str, **environment: str):
        return self.farm.run("wheelyard-registry", *words, environment=self.farm.environment | environment, cwd=self.folder)

    def test_without_a_configuration_the_places_are_named_where_one_may_lie(self):
        if SYSTEM_CONFIG.exists():
            self.skipTest("this machine has a registry")
        for words in (["serve"], ["token", "list"], ["gc"], ["sbom", "main", "x.whl"], ["contains", "zlib"], ["audit-osv", "."]):
            self.assert_failed(self.registry(*words), "$WHEELYARD_REGISTRY_CONFIG", "./registry.toml", "wheelyard-registry init FOLDER")
        for words in (["explain", "debian12", "six"], ["yank", "debian12", "six", "--reason", "x"], ["task", "list"]):
            self.assert_failed(self.registry(*words), "wheelyard-registry init FOLDER", "--url URL names a remote registry")

    def test_the_default_configuration_is_that_of_every_command(self):
        for words in (["explain", "debian12", "six"], ["task", "list"], ["token", "list"], ["contains", "zlib"]):
            self.assert_ran(self.registry(*words, WHEELYARD_REGISTRY_CONFIG=str(self.farm.config)))

    def test_a_misspelt_command_is_answered_with_the_right_one_alone(self):
        for program, words, expected in (("wheelyard-registry", ["serv"], "serve"), ("wheelyard-registry", ["token", "crate"], "create"),
                                         ("wheelyard-builder", ["rnu"], "run"), ("wheelyard-indexer", ["publsh"], "publish")):
            done = self.farm.run(program, *words)
            self.assertEqual((done.returncode, done.stdout, done.stderr),
                             (2, "", f"{program}: There is no command `{words[-1]}`; did you mean `{expected}`?\n"
                                     f"Run `{' '.join([program, *words[:-1]])} --help` for what it takes.\n"))

    def test_a_misspelt_option_is_answered_with_the_nearest_one_of_its_command(self):
        for program, words, expected in (
                ("wheelyard-registry", ["token", "create", "--nmae", "me", "--index", "main"],
                 "There is no option `--nmae`; did you mean `--name`?"),
                ("wheelyard-builder", ["logs", "--site", "s.toml", "--folow", "x"], "There is no option `--folow`; did you mean `--follow`?"),
                ("wheelyard-indexer", ["publish", "--indx=main"], "There is no option `--indx`; did you mean `--index`?")):
            done = self.farm.run(program, *words)
            command = " ".join([program, *[word for word in words[:2] if word in ("token", "create", "logs", "publish")]])
            self.assertEqual((done.returncode, done.stdout, done.stderr),
                             (2, "", f"{program}: {expected}\nRun `{command} --help` for what it takes.\n"))

    def test_wrong_usage_names_the_program_and_the_command_that_explains_it(self):
        for program, words in (("wheelyard-registry", []), ("wheelyard-registry", ["token", "create"]), ("wheelyard-builder", ["logs"]),
                               ("wheelyard-builder", ["site"]), ("wheelyard-indexer", ["publish"])):
            done = self.farm.run(program, *words, cwd=self.folder)
            self.assertEqual((done.returncode, done.stdout), (2, ""))
            first, last = done.stderr.splitlines()[0], done.stderr.splitlines()[-1]
            self.assertTrue(first.startswith(f"{program}: "), done.stderr)
            self.assertEqual(last, f"Run `{' '.join([program, *words])} --help` for what it takes.")

    def test_a_registry_is_named_by_its_whole_url(self):
        token = self.folder / "token"
        token.write_text(self.token)
        self.assert_failed(self.registry("token", "list", "--url", f"127.0.0.1:{self.farm.port}", "--token-file", str(token)),
                           "begins with https:// or http://")

    def test_every_program_has_its_version_and_a_help_of_100_columns(self):
        for program, words in (("wheelyard-registry", ["import"]), ("wheelyard-builder", ["site", "init"]), ("wheelyard-builder", ["logs"]),
                               ("wheelyard-indexer", ["publish"]), ("wheelyard-governor", []), ("avail_wheels", [])):
            for option in ("-V", "--version"):
                self.assert_ran(self.farm.run(program, option), f"{program} ")
            for command in ([], words):
                done = self.farm.run(program, *command, "--help")
                self.assertEqual([line for line in done.stdout.splitlines() if len(line) > 100], [])
                self.assertEqual(done.returncode, 0)

    def test_the_site_file_is_the_shells_the_folders_or_the_last_that_was_written(self):
        with PackageIndex(self.folder / "sources") as sources:
            site = Site(self.farm, sources, self.farm.create_token(), {}, name="named")
            home, elsewhere = self.folder / "of-a-user", self.folder / "without-a-site"
            home.mkdir()
            elsewhere.mkdir()
            environment = site.environment | {"HOME": str(home)}
            environment.pop("XDG_CONFIG_HOME", None)
            builder = lambda folder, *words, **more: self.farm.run(  # noqa: E731
                "wheelyard-builder", *words, environment=environment | more, cwd=folder)
            self.assert_failed(builder(elsewhere, "plan"), "No site file is named", "--site", "WHEELYARD_BUILDER_SITE", "site init")
            self.assert_failed(builder(elsewhere, "plan", WHEELYARD_SITE="/x"), "WHEELYARD_SITE names the file of avail_wheels")
            written = builder(self.folder, "site", "init", "--yes", "--name", "last")
            self.assertIn(written.returncode, (0, 1), written.stderr)
            remembered = builder(elsewhere, "plan")
            self.assert_ran(remembered)
            self.assertIn(f"--site {self.folder}/site.toml, which the last `site init` wrote", remembered.stderr)
            here = builder(self.folder, "plan")
            self.assertEqual((here.returncode, here.stderr.count("site init")), (0, 0), here.stderr)
            other = builder(self.folder, "plan", WHEELYARD_BUILDER_SITE=str(site.file))
            self.assertNotEqual(other.stdout, here.stdout)

    def test_a_wheel_of_this_folder_is_imported_without_a_path_and_another_source_keeps_its_meaning(self):
        wheel = Wheel("yard-here").write(self.folder)
        words = ("import", "--config", self.farm.config, "debian12", wheel.name)
        nowhere = {"PIP_INDEX_URL": "http://127.0.0.1:9/simple/", "NO_PROXY": "*"}
        (self.folder / "elsewhere").mkdir()
        self.assert_failed(self.registry(*words, "--from", str(self.folder / "elsewhere"), **nowhere), "The folder has no such wheel")
        self.assert_ran(self.registry(*words, **nowhere), f"imported debian12/{wheel.name}")
        self.assert_failed(self.registry(*words[:4], "./MY-WHEEL.whl", **nowhere), "There is no such file", "./MY-WHEEL.whl")

    def test_a_command_prints_what_it_did_and_no_log_of_publishing(self):
        wheel = Wheel("yard-quiet").write(self.folder)
        for words in (["import", "debian12", wheel], ["yank", "debian12", wheel.name, "--reason", "x"], ["delete", "debian12", wheel.name, "--reason", "x"]):
            done = self.registry(*map(str, words), "-c", str(self.farm.config))
            self.assert_ran(done)
            self.assertEqual(done.stderr, "")

    def test_a_tick_that_has_nothing_to_do_gives_the_reason_on_a_terminal_and_nothing_to_cron(self):
        with PackageIndex(self.folder / "sources") as sources:
            write_sdist(sources.folder, "yard-held", "1.0")
            site = Site(self.farm, sources, self.farm.create_token(actions=("read",)), {"yard-held": "1.0"})
            self.assert_ran(site.builder("tick"))  # also says that the registry takes no status with this token
            to_cron = site.builder("tick")
            self.assertEqual((to_cron.returncode, to_cron.stdout, to_cron.stderr), (0, "", ""))
            reader, terminal = pty.openpty()
            subprocess.run(site.command("tick"), env=site.environment, stdout=terminal, timeout=COMMAND_TIMEOUT_S, check=True)
            os.close(terminal)
            shown = read_all(reader).decode()
            os.close(reader)
            self.assertIn("Nothing to do now: 1 held.", shown)
            self.assertIn("The token may not upload to index debian12", shown)

    def test_a_build_without_a_compiler_is_explained_and_not_repeated(self):
        few = self.folder / "few"
        link_programs(few, "cc", "c++", "gcc*", "g++*", "clang*", "*-linux-gnu-g*", "*-linux-gnu-cpp*", "c89*", "c99*")
        with PackageIndex(self.folder / "sources") as sources:
            write_sdist(sources.folder, "yard-fast", "1.0", c_source=FAST_C)
            site = Site(self.farm, sources, self.farm.create_token(), {"yard-fast": "1.0"}, name="bare")
            done = subprocess.run(site.command("run"), env=site.environment | {"PATH": str(few)}, capture_output=True, text=True,
                                  timeout=COMMAND_TIMEOUT_S)
            [attempt] = site.attempts()
            self.assertEqual((done.returncode, attempt["failure"]["cause"]), (1, "compiler.missing"), done.stdout + done.stderr)
            self.assertIn("build-essential", done.stdout + done.stderr)
            [command] = re.findall("^Once the cause is fixed: (.*)$", done.stdout, re.MULTILINE)
            again = subprocess.run(["sh", "-c", command], env=site.environment | {"PATH": f"{BIN}:/usr/bin:/bin"}, capture_output=True,
                                   text=True, timeout=COMMAND_TIMEOUT_S)
            self.assert_ran(again)
            done = site.builder("run")
            self.assert_ran(done, "1 have")
            self.assertNotIn("Once the cause", done.stdout)

    def test_a_wheel_without_its_extension_is_no_success_until_there_is_a_compiler(self):
        few = self.folder / "few-too"
        link_programs(few, "cc", "c++", "gcc*", "g++*", "clang*", "*-linux-gnu-g*", "*-linux-gnu-cpp*", "c89*", "c99*")
        with PackageIndex(self.folder / "sources") as sources:
            write_sdist(sources.folder, "yard-maybe", "1.0", c_source=FAST_C, optional=True)
            site = Site(self.farm, sources, self.farm.create_token(), {"yard-maybe": "1.0"}, name="maybe")
            without = lambda *words: subprocess.run(  # noqa: E731
                site.command(*words), env=site.environment | {"PATH": str(few)}, capture_output=True, text=True,
                timeout=COMMAND_TIMEOUT_S)
            done = without("run")
            [attempt] = site.attempts()
            self.assertEqual((done.returncode, attempt["failure"]["code"]), (1, "build.extension_missing"), done.stdout + done.stderr)
            self.assertIn("yard_maybe._fast", attempt["failure"]["first_error"])
            self.assertEqual(self.published("yard_maybe-"), [])
            self.assert_failed(without("site", "check"), "FAIL  C compiler cc", "submit nothing new until `site check`")
            self.assert_ran(site.builder("retry", f"yard-maybe-1.0-cp{site.python_version.replace('.', '')}"))
            self.assert_failed(site.builder("run"), "1 wanted", "No new jobs are started: `site check` failed at")
            self.assert_ran(site.builder("plan"), "As of 20", "the last tick began")
            site.builder("site", "check")  # with a compiler
            self.assert_ran(site.builder("run"), "1 have")
            [wheel] = self.published("yard_maybe-1.0-")
            self.assertNotIn("-none-any", wheel.name)

    def test_a_journal_notices_that_its_registry_was_replaced(self):
        with PackageIndex(self.folder / "sources") as sources:
            write_sdist(sources.folder, "yard-moved", "1.0")
            site = Site(self.farm, sources, self.farm.create_token(), {"yard-moved": "1.0"}, name="moved")
            self.assert_ran(site.builder("run"), "1 have")
            self.assertNotIn("another store", site.builder("plan").stdout)
            with Farm() as other:
                token = other.create_token()
                other.start()
                site.file.write_text(site.file.read_text().replace(self.farm.url, other.url))
                (site.folder / "token").write_text(token + "\n")
                self.assert_ran(site.builder("plan"), "1 given up", "the registry has another store", "name a new folder in [state]")
                self.assert_failed(site.builder("run"), "the registry has another store")
                self.assert_failed(site.builder("site", "check"), f"it knows another store than that of {other.url}")
                [wheel] = self.published("yard_moved-1.0-")
                self.assert_ran(other.run("wheelyard-registry", "import", INDEX, wheel, "-c", other.config))
                self.assert_ran(site.builder("run"), "1 have")
                self.assertNotIn("another store", site.builder("site", "check").stdout)

    def test_the_front_page_of_a_registry_is_no_index_with_its_links_as_packages(self):
        self.assert_ran(self.farm.run("wheelyard-registry", "import", "--config", self.farm.config, "debian12",
                                      Wheel("yard").write(self.folder)))
        for page in ("", "/", "/debian12", "/debian12/", "/mian/simple/"):
            for name in ([], ["yard"], ["y*"]):
                with self.subTest(page=page, name=name):
                    done = self.farm.run("avail_wheels", *name, "--index-url", self.farm.url + page)
                    self.assertEqual((done.returncode, done.stdout), (1, ""), done.stderr)
                    self.assertIn(f"the indexes there are {self.farm.simple_url()}", done.stderr)


if __name__ == "__main__":
    main()
