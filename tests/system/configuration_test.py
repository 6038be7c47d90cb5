"""Programs report a mistake in a configuration with file, line, column and the most similar valid word. What else is a mistake:
tests/io/toml_test.cpp, tests/builder/site and tests/registry/config."""

from support.case import OwnFarmsCase, main
from support.farm import Farm
from support.package_index import PackageIndex
from support.site import Site


class ConfigurationTest(OwnFarmsCase):
    def setUp(self):
        super().setUp()
        self.farm = self.enterContext(Farm())

    def assert_reported(self, done, file, changed: str, *words: str):
        self.assertNotEqual(done.returncode, 0, done.stdout)
        lines = file.read_text().splitlines()
        line = next(number for number, text in enumerate(lines, 1) if changed in text)
        self.assertRegex(done.stderr, rf"{file.name}:{line}:\d+")
        for word in words:
            self.assertIn(word, done.stderr)

    def test_a_mistake_in_a_site_file_is_reported_with_its_place_and_what_was_expected(self):
        site = Site(self.farm, PackageIndex(self.folder / "none"), "wy_0_0", {"packaging": "24.2"})
        right = site.file.read_text()
        self.assertIn("max_jobs = 2", right)
        site.file.write_text(right.replace("max_jobs = 2", "max_job = 2"))
        for command in ("plan", "tick", "run"):
            self.assert_reported(site.builder(command), site.file, "max_job = 2", "max_job", "max_jobs")

    def test_a_missing_site_file_is_reported(self):
        done = self.farm.run("wheelyard-builder", "plan", "--site", self.folder / "site.toml")
        self.assert_failed(done, str(self.folder / "site.toml"))

    def test_a_mistake_in_a_registry_configuration_is_reported(self):
        right = self.farm.config.read_text()
        self.assertIn("listen =", right)
        self.farm.config.write_text(right.replace("listen =", "listne =", 1))
        done = self.farm.run("wheelyard-registry", "serve", "--config", self.farm.config)
        self.assert_reported(done, self.farm.config, "listne =", "listne", "listen")


if __name__ == "__main__":
    main()
