"""What the programs answer to a newcomer's first mistakes: no configuration, a misspelt command, the URL of a front page.

Each answer names the next step and nothing that leads elsewhere.
"""

from pathlib import Path

from support.case import FarmCase, main
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
