"""A mistake in a configuration is reported with file, line, column, what was expected, and the most similar valid word."""

from support.case import FarmCase, main
from support.farm import Farm
from support.package_index import PackageIndex
from support.site import Site

# (the mistake, text in the correct file, its replacement, what must be reported)
WRONG_SITES = [
    ("an unknown key", "max_jobs = 2", "max_job = 2", ["max_job", "max_jobs"]),
    ("an unknown table", "[scheduler]", "[schedular]", ["schedular", "scheduler"]),
    ("a wrong type", "max_jobs = 2", 'max_jobs = "two"', ["max_jobs", "integer"]),
    ("a number out of range", "max_jobs = 2", "max_jobs = 0", ["max_jobs", "1"]),
    ("no such choice", 'kind = "local"', 'kind = "locale"', ["locale", "local"]),
    ("broken TOML", "config_version = 1", "config_version = ", ["expected value"]),
]
WRONG_REGISTRIES = [
    ("an unknown key", "listen =", "listne =", ["listne", "listen"]),
    ("a wrong type", 'directory = "data"', "directory = 7", ["directory", "expected a path"]),
    ("an index name that cannot be one", 'name = "debian12"', 'name = "../etc"', ["lower-case letters"]),
]


class ConfigurationTest(FarmCase):
    @classmethod
    def setUpClass(cls):
        pass

    def setUp(self):
        super().setUp()
        self.farm = Farm()
        self.addCleanup(self.farm.__exit__)

    def assert_reported(self, done, file, changed: str, phrases: list[str]):
        self.assertNotEqual(done.returncode, 0, done.stdout)
        lines = file.read_text().splitlines()
        line = next(number for number, text in enumerate(lines, 1) if changed.splitlines()[0] in text)
        self.assertRegex(done.stderr, rf"{file.name}:{line}:\d+")
        for phrase in phrases:
            self.assertIn(phrase, done.stderr)

    def test_a_mistake_in_a_site_file_is_reported_with_its_place_and_what_was_expected(self):
        site = Site(self.farm, PackageIndex(self.folder / "none"), "wy_0_0", {"packaging": "24.2"})
        right = site.file.read_text()
        for what, old, new, phrases in WRONG_SITES:
            with self.subTest(what):
                self.assertIn(old, right)
                site.file.write_text(right.replace(old, new, 1))
                for command in ("plan", "tick", "run"):
                    self.assert_reported(site.builder(command), site.file, new, phrases)

    def test_all_mistakes_of_a_site_are_reported_at_once(self):
        site = Site(self.farm, PackageIndex(self.folder / "none"), "wy_0_0", {"packaging": "24.2"})
        site.file.write_text(site.file.read_text().replace("max_jobs = 2", "max_job = 2")
                             .replace('name = "debian12"', "name = 5"))
        done = site.builder("plan")
        self.assert_failed(done, "max_job", "name")

    def test_a_missing_site_file_is_reported(self):
        done = self.farm.run("wheelyard-builder", "plan", "--site", self.folder / "site.toml")
        self.assert_failed(done, str(self.folder / "site.toml"))

    def test_a_mistake_in_a_registry_configuration_is_reported(self):
        right = self.farm.config.read_text()
        for what, old, new, phrases in WRONG_REGISTRIES:
            with self.subTest(what):
                self.assertIn(old, right)
                self.farm.config.write_text(right.replace(old, new, 1))
                done = self.farm.run("wheelyard-registry", "serve", "--config", self.farm.config)
                self.assert_reported(done, self.farm.config, new, phrases)


if __name__ == "__main__":
    main()
