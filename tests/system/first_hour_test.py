"""What the programs answer to a newcomer's first mistakes: no configuration, a misspelt word, the URL of a front page.

Each answer names the next step and nothing that leads elsewhere.
"""

import os
import pty
import subprocess
from pathlib import Path

from support.case import FarmCase, main
from support.farm import COMMAND_TIMEOUT_S
from support.package_index import PackageIndex, write_sdist
from support.site import Site
from support.wheels import Wheel

SYSTEM_CONFIG = Path("/etc/wheelyard/registry.toml")


class FirstHourTest(FarmCase):
    def registry(self, *words: str, **environment: str):
        return self.farm.run("wheelyard-registry", *words, environment=self.farm.environment | environment, cwd=self.folder)

    def test_without_a_configuration_the_places_are_named_where_one_may_lie(self):
        if SYSTEM_CONFIG.exists():
            self.skipTest("this machine has a registry")
        for words in (["serve"], ["token", "list"], ["gc"]):
            self.assert_failed(self.registry(*words), "$WHEELYARD_REGISTRY_CONFIG", "./registry.toml", "wheelyard-registry init FOLDER")
        for words in (["explain", "debian12", "six"], ["yank", "debian12", "six", "--reason", "x"], ["task", "list"]):
            self.assert_failed(self.registry(*words), "wheelyard-registry init FOLDER", "--url URL names a remote registry")

    def test_the_default_configuration_is_that_of_every_command(self):
        for words in (["explain", "debian12", "six"], ["task", "list"], ["token", "list"]):
            self.assert_ran(self.registry(*words, WHEELYARD_REGISTRY_CONFIG=str(self.farm.config)))

    def test_a_misspelt_command_is_answered_with_the_right_one_alone(self):
        for program, words, expected in (("wheelyard-registry", ["serv"], "serve"), ("wheelyard-registry", ["token", "crate"], "create"),
                                         ("wheelyard-builder", ["rnu"], "run"), ("wheelyard-indexer", ["publsh"], "publish")):
            done = self.farm.run(program, *words)
            self.assertEqual((done.returncode, done.stdout, done.stderr),
                             (2, "", f"{program}: There is no command `{words[-1]}`; did you mean `{expected}`?\n"))

    def test_a_misspelt_option_is_answered_with_the_nearest_one_of_its_command(self):
        for program, words, expected in (
                ("wheelyard-registry", ["serve", "--confg", "x.toml"], "There is no option `--confg`; did you mean `--config`?"),
                ("wheelyard-registry", ["token", "create", "--nmae", "me", "--index", "main"],
                 "There is no option `--nmae`; did you mean `--name`?"),
                ("wheelyard-builder", ["logs", "--site", "s.toml", "--folow", "x"], "There is no option `--folow`; did you mean `--follow`?"),
                ("wheelyard-indexer", ["publish", "--indx=main"], "There is no option `--indx`; did you mean `--index`?")):
            done = self.farm.run(program, *words)
            self.assertEqual((done.returncode, done.stdout, done.stderr), (2, "", f"{program}: {expected}\n"))

    def test_a_wheel_of_this_folder_is_imported_without_a_path_and_another_source_keeps_its_meaning(self):
        wheel = Wheel("yard-here").write(self.folder)
        words = ("import", "--config", self.farm.config, "debian12", wheel.name)
        nowhere = {"PIP_INDEX_URL": "http://127.0.0.1:9/simple/", "NO_PROXY": "*"}
        (self.folder / "elsewhere").mkdir()
        self.assert_failed(self.registry(*words, "--from", str(self.folder / "elsewhere"), **nowhere), "The folder has no such wheel")
        self.assert_ran(self.registry(*words, **nowhere), f"imported debian12/{wheel.name}")

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
            shown = os.read(reader, 1 << 16).decode()
            os.close(reader)
            self.assertIn("Nothing to do now: 1 held.", shown)
            self.assertIn("The token may not upload to index debian12", shown)

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
